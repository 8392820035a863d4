/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "kc/codec.h"
#include "kc/yaml.h"

/* The only document in `yaml` is `json`, where quotes may be written as '. */
static void assert_reads(const char *yaml, const char *json)
{
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_view) *view = kc_yaml_parse(kc_cstr(yaml), NULL, &err);
    if (!view)
        fail_msg("%s: %s", yaml, kc_error_text(&err));
    kc_auto(kc_view) *expected = view_of(json);
    kc_scoped(kc_buf) text = {0};
    kc_json_write(&text, kc_view_root(expected));
    assert_value_json(kc_view_root(view), kc_buf_cstr(&text));
}

static void assert_refuses(const char *yaml, const char *why)
{
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_view) *view = kc_yaml_parse(kc_cstr(yaml), NULL, &err);
    if (view)
        fail_msg("%s: was accepted", yaml);
    assert_error(&err, KC_BAD_REQUEST, why);
}

typedef struct table_row {
    const char *yaml, *json;
} table_row;

static void assert_table(const table_row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++)
        assert_reads(rows[i].yaml, rows[i].json);
}

static void manifest_is_parsed_to_object(void **state)
{
    (void)state;
    assert_reads("apiVersion: v1\n"
                 "kind: Pod # not a Job\n"
                 "metadata:\n"
                 "  name: web\n"
                 "  labels: {app: web, \"tier\": '1'}\n"
                 "spec:\n"
                 "  containers:\n"
                 "  - name: c\n"
                 "    image: nginx:1.25\n"
                 "    ports: [{containerPort: 80}]\n",
                 "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'web','labels':"
                 "{'app':'web','tier':'1'}},'spec':{'containers':[{'name':'c','image':"
                 "'nginx:1.25','ports':[{'containerPort':80}]}]}}");
}

static void words_have_yaml_1_1_types(void **state)
{
    (void)state;
    const char *yes[] = {"y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"};
    const char *no[] = {"n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"};
    const char *null[] = {"", "~", "null", "Null", "NULL"};
    for (size_t i = 0; i < KC_COUNT(yes); i++)
        assert_reads(yes[i], "true");
    for (size_t i = 0; i < KC_COUNT(no); i++)
        assert_reads(no[i], "false");
    for (size_t i = 0; i < KC_COUNT(null); i++)
        assert_reads(null[i], "null");
    assert_reads("[yEs, nO, tRUE, nULL, t, yess, None]",
                 "['yEs','nO','tRUE','nULL','t','yess','None']");
}

static void integers_are_parsed_in_four_bases(void **state)
{
    (void)state;
    static const table_row rows[] = {
        {"12", "12"},
        {"-12", "-12"},
        {"+12", "12"},
        {"0", "0"},
        {"-0", "0"},
        {"0x1F", "31"},
        {"-0x1f", "-31"},
        {"0X1F", "31"},
        {"017", "15"},
        {"0o17", "15"},
        {"0O17", "15"},
        {"0b101", "5"},
        {"-0b101", "-5"},
        {"0b-11", "-3"},
        {"1_000_000", "1000000"},
        {"0x_1F", "31"},
        {"1_", "1"},
        {"9223372036854775807", "9223372036854775807"},
        {"-9223372036854775808", "-9223372036854775808"},
        {"18446744073709551615", "18446744073709551615"},
        {"08", "8"},
        {"0x", "'0x'"},
        {"_1", "'_1'"},
        {"1a", "'1a'"},
        {"0xFFFFFFFFFFFFFFFFF", "'0xFFFFFFFFFFFFFFFFF'"},
        {"1:30", "'1:30'"},
    };
    assert_table(rows, KC_COUNT(rows));
    assert_reads("[-]", "['-']");
}

static void fractions_are_parsed_as_in_go(void **state)
{
    (void)state;
    static const table_row rows[] = {
        {"1.5", "1.5"},    {".5", "0.5"},        {"-.5", "-0.5"},      {"+.5", "0.5"},
        {"1.", "1"},       {"1e3", "1000"},      {"1.E+3", "1000"},    {"1.5e-9", "1.5e-9"},
        {"1_0.5", "10.5"}, {".5_0", "0.5"},      {"1e999", "'1e999'"}, {".", "'.'"},
        {".e5", "'.e5'"},  {"1.5.2", "'1.5.2'"}, {"1e", "'1e'"},       {"._5", "'._5'"},
    };
    assert_table(rows, KC_COUNT(rows));
    kc_auto(kc_view) *view = kc_yaml_parse(KC_STR("1e20"), NULL, NULL);
    assert_int_equal(kc_value_type(kc_view_root(view)), KC_JSON_FLOAT);
}

static void numbers_beyond_json_range_fail(void **state)
{
    (void)state;
    assert_refuses("a: 18446744073709551616", "line 1, column 4: the number does not fit 64 bits");
    assert_refuses("a: -9223372036854775809", "64 bits");
    assert_refuses("a: .inf", "line 1, column 4: infinity");
    assert_refuses("a: -.INF", "infinity");
    assert_refuses("a: .nan", "NaN");
}

static void quoted_text_and_dates_are_strings(void **state)
{
    (void)state;
    assert_reads("['12', \"yes\", '', \"~\", '0x1']", "['12','yes','','~','0x1']");
    assert_reads("[2001-01-01, 2001-01-01T10:11:12Z]", "['2001-01-01','2001-01-01T10:11:12Z']");
    kc_auto(kc_view) *view = kc_yaml_parse(KC_STR("'it''s'"), NULL, NULL);
    assert_str(kc_value_as_str(kc_view_root(view)), "it's");
    assert_reads("\"\\x41\\u00e9\\U0001F600\\t\\0\\/\"", "'A\\u00e9\\ud83d\\ude00\\t\\u0000/'");
    assert_reads("\"folded\n  text\\\n  here\n\n  and there\"", "'folded texthere\\nand there'");
}

static void tags_determine_type(void **state)
{
    (void)state;
    static const table_row rows[] = {
        {"!!str 12", "'12'"},
        {"!!str", "''"},
        {"!!int '12'", "12"},
        {"!!float 3", "3"},
        {"!!float '1.5'", "1.5"},
        {"!!bool 'yes'", "true"},
        {"!!null ''", "null"},
        {"!!timestamp 2001-01-01", "'2001-01-01'"},
        {"!!binary aGVsbG8=", "'hello'"},
        {"!!binary |\n  aGVs\n  bG8=\n", "'hello'"},
        {"!!binary ''", "''"},
        {"!!binary /w==", "'\\ufffd'"},
        {"!<tag:yaml.org,2002:int> 12", "12"},
        {"! 12", "'12'"},
        {"! '12'", "'12'"},
        {"!own 12", "'12'"},
        {"!own {a: 1}", "{'a':1}"},
        {"!!set [1]", "[1]"},
        {"%TAG !e! tag:yaml.org,2002:\n---\n!e!int '12'", "12"},
    };
    assert_table(rows, KC_COUNT(rows));
    assert_refuses("a: !!int x", "line 1, column 4: 'x' is not an integer");
    assert_refuses("a: !!bool 1", "is not a boolean");
    assert_refuses("a: !!null x", "is not null");
    assert_refuses("a: !!float x", "is not a number");
    assert_refuses("a: !!timestamp 2001-02-29", "is not a timestamp");
    assert_refuses("a: !!binary aGVsbG8", "base64");
    assert_refuses("a: !!binary a=b=", "base64");
    assert_refuses("a: !x!y z", "no %TAG line declares");
}

static void block_scalars_keep_and_fold_lines(void **state)
{
    (void)state;
    assert_reads("a: |\n  x\n   y\n\n  z\n", "{'a':'x\\n y\\n\\nz\\n'}");
    assert_reads("a: |-\n  x\nb: |+\n  y\n\n", "{'a':'x','b':'y\\n\\n'}");
    assert_reads("a: |2\n   x\n", "{'a':' x\\n'}");
    assert_reads("a: >\n  x\n  y\n\n  z\n", "{'a':'x y\\nz\\n'}");
    assert_reads("a: |\n  12\n", "{'a':'12\\n'}");
}

static void keys_become_strings(void **state)
{
    (void)state;
    assert_reads("{1: a, 0x10: b, 1.5: c, yes: d, 2001-01-01: e, 1e10: f, 'x': g, .inf: h}",
                 "{'1':'a','16':'b','1.5':'c','true':'d','2001-01-01':'e','1e+10':'f','x':'g',"
                 "'.inf':'h'}");
    assert_reads("? long\n: 1\n? b\n", "{'long':1,'b':null}");
    assert_refuses("~: 1", "line 1, column 1: null cannot be a key");
    assert_refuses("? [a]\n: 1", "line 1, column 3: an object or a list cannot be a key");
    assert_refuses("a: {{ .Values.x }}", "must be quoted");
    assert_refuses("18446744073709551615: 1", "too large for a key");
}

static void aliases_yield_value_of_anchor(void **state)
{
    (void)state;
    assert_reads("a: &x {b: [1, y]}\nc: *x\nd: [*x]",
                 "{'a':{'b':[1,true]},'c':{'b':[1,true]},'d':[{'b':[1,true]}]}");
    assert_reads("a: &x 1\nb: *x\nc: &x 2\nd: *x", "{'a':1,'b':1,'c':2,'d':2}");
    assert_reads("&k key: *k", "{'key':'key'}");
    assert_reads("a: &k 0x10\n*k : b", "{'a':16,'16':'b'}");
    assert_reads("&k 1.5: *k", "{'1.5':1.5}");
}

static void alias_without_earlier_anchor_fails(void **state)
{
    (void)state;
    assert_refuses("a: *x", "line 1, column 4: unknown anchor 'x'");
    assert_refuses("a: &defaults 1\nb: *defalts",
                   "line 2, column 4: unknown anchor 'defalts'; did you mean 'defaults'?");
    assert_refuses("a: *x\nb: &x 1", "unknown anchor");
    assert_refuses("--- &x 1\n--- *x", "line 2, column 5: unknown anchor");
    assert_refuses("a: &x [1, {b: *x}]", "line 1, column 15: the value of the anchor 'x' contains "
                                         "itself");
    assert_refuses("a: &x {<<: *x}", "contains itself");
    assert_refuses("a: &x {b: 1}\n*x : 2", "line 2, column 1: an object or a list cannot be a key");
}

static void merge_keys_add_members(void **state)
{
    (void)state;
    assert_reads("w: &x {a: 1, b: 2}\nx: {<<: *x, b: 3, c: 4}",
                 "{'w':{'a':1,'b':2},'x':{'a':1,'b':3,'c':4}}");
    assert_reads("<<: {a: {b: [1]}}\nc: 1", "{'a':{'b':[1]},'c':1}");
    assert_reads("{<<: [{a: 1, b: 1}, {b: 2, c: 2}]}", "{'c':2,'a':1,'b':1}");
    assert_reads("u: &u {a: 1}\nv: &v {<<: *u, b: 2}\nw: {<<: *v}",
                 "{'u':{'a':1},'v':{'a':1,'b':2},'w':{'a':1,'b':2}}");
    assert_reads("{<<: {a: 1}, <<: {b: 2}}", "{'a':1,'b':2}");
    assert_reads("{<<: {}}", "{}");
    assert_reads("{<<: []}", "{}");
    assert_reads("{<<: &m {a: 1}, b: *m}", "{'a':1,'b':{'a':1}}");
}

static void merge_key_overrides_the_keys_above_it(void **state)
{
    (void)state;
    assert_reads("a: 1\n<<: {a: 2}", "{'a':2}");
    assert_reads("<<: {a: 2}\na: 1", "{'a':1}");
}

static void quoted_merge_key_is_ordinary_key(void **state)
{
    (void)state;
    assert_reads("{'<<': {a: 1}}", "{'<<':{'a':1}}");
    assert_reads("{a: <<}", "{'a':'<<'}");
    assert_reads("{!!merge '<<': {a: 1}}", "{'a':1}");
}

static void merge_key_accepts_only_objects(void **state)
{
    (void)state;
    assert_refuses("<<: text", "line 1, column 5: a merge key (<<) takes an object");
    assert_refuses("<<:", "a merge key");
    assert_refuses("<<: [1]", "line 1, column 6: a merge key");
    assert_refuses("<<: [[{a: 1}]]", "a merge key");
    assert_refuses("x: &x [{a: 1}]\ny: {<<: *x}", "line 2, column 9: a merge key");
}

static void duplicates_are_reported_with_their_paths(void **state)
{
    (void)state;
    kc_scoped(kc_paths) duplicates = {0};
    kc_auto(kc_view) *view = kc_yaml_parse(
        KC_STR(
            "spec:\n  replicas: 1\n  list:\n  - {a: 1, 'a': 2}\n  replicas: 2\n1: x\n\"1\": z\n"),
        &(kc_json_opts){.duplicates = &duplicates}, NULL);
    assert_non_null(view);
    assert_value_json(kc_view_root(view),
                      "{\"spec\":{\"list\":[{\"a\":2}],\"replicas\":2},\"1\":\"z\"}");
    assert_int_equal(duplicates.n, 3);
    assert_string_equal(duplicates.items[0], "1");
    assert_string_equal(duplicates.items[1], "spec.replicas");
    assert_string_equal(duplicates.items[2], "spec.list[0].a");
}

static void merged_member_is_not_a_duplicate(void **state)
{
    (void)state;
    kc_scoped(kc_paths) duplicates = {0};
    kc_auto(kc_view) *view =
        kc_yaml_parse(KC_STR("{<<: {a: 1, b: 1}, a: 2, c: 3, <<: {b: 4}, c: 5}"),
                      &(kc_json_opts){.duplicates = &duplicates}, NULL);
    assert_value_json(kc_view_root(view), "{\"a\":2,\"b\":4,\"c\":5}");
    assert_int_equal(duplicates.n, 1);
    assert_string_equal(duplicates.items[0], "c");
}

static void byte_order_mark_and_crlf_are_accepted(void **state)
{
    (void)state;
    assert_reads("\xEF\xBB\xBF"
                 "a: 1\r\nb: |\r\n  x\r\n  y\r\n",
                 "{'a':1,'b':'x\\ny\\n'}");
}

static void invalid_text_fails_with_position(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    assert_null(kc_yaml_parse(KC_STR("a: 1\nb: \0"), NULL, &err));
    assert_error(&err, KC_BAD_REQUEST, "line 2, column 4: NUL bytes");
    assert_refuses("a: \xff", "line 1, column 4: the text is not UTF-8");
    assert_refuses("a: \xed\xa0\x80", "not UTF-8");
    assert_refuses("\xc3\xa9: \x01", "line 1, column 4: the control character 0x01");
    assert_refuses("a: \xc2\x81", "line 1, column 4: control characters");
    assert_refuses("a: \"\\ud83d\"", "the escape names no character");
    assert_refuses("a: \"\\uD83D\\uDE00\"", "the escape names no character");
}

static void errors_have_clear_messages(void **state)
{
    (void)state;
    static const table_row rows[] = {
        {"a:\n\tb: 1", "line 2, column 1: a tab is used for indentation"},
        {"a:\n  b: 1\n c: 2", "line 3, column 2: expected a key; check the indentation of the "
                              "object that starts on line 1"},
        {"a: b: c", "line 1, column 5: a ':' is not allowed here"},
        {"a:\n- b\nc", "line 3, column 1: missing ': ' after this key"},
        {"a: \"x\nb: 1", "the text ends inside the quotes that open on line 1"},
        {"a: [1, 2\nb: 3", "expected ',' or ']' in the list that starts on line 1"},
        {"a: {b: 1", "expected ',' or '}' in the object that starts on line 1"},
        {"a: @x", "line 1, column 4: a value cannot start with '@'; quote it"},
        {"a: \"\\d\"", "unknown escape"},
        {"a: - b", "line 1, column 4: a list item is not allowed here"},
        {"a: *", "quote text that starts with '&' or '*'"},
        {"a: 1\n---\n%YAML 3.0\n", "line 3"},
        {"%YAML 3.0\n---\na: 1\n", "only YAML 1.1 and 1.2"},
    };
    for (size_t i = 0; i < KC_COUNT(rows); i++)
        assert_refuses(rows[i].yaml, rows[i].json);
}

static void depth_beyond_limit_fails(void **state)
{
    (void)state;
    kc_scoped(kc_buf) text = {0};
    for (unsigned i = 0; i < KC_JSON_MAX_DEPTH; i++)
        kc_buf_putc(&text, '[');
    for (unsigned i = 0; i < KC_JSON_MAX_DEPTH; i++)
        kc_buf_putc(&text, ']');
    kc_auto(kc_view) *deepest = kc_yaml_parse(kc_buf_str(&text), NULL, NULL);
    assert_non_null(deepest);
    text.n /= 2;
    kc_buf_puts(&text, "[");
    assert_refuses(kc_buf_cstr(&text), "nested too deeply");

    kc_scoped(kc_error) err = {0};
    assert_null(kc_yaml_parse(KC_STR("a:\n- b: 1"), &(kc_json_opts){.max_depth = 2}, &err));
    assert_error(&err, KC_BAD_REQUEST,
                 "line 2, column 3: objects and arrays are nested too deeply");
    assert_null(
        kc_yaml_parse(KC_STR("a: &x [[]]\nb: [*x]"), &(kc_json_opts){.max_depth = 3}, &err));
    assert_error(&err, KC_BAD_REQUEST,
                 "line 2, column 5: objects and arrays are nested too deeply");
}

static void size_beyond_limit_fails(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    assert_null(kc_yaml_parse(KC_STR("a: 1"), &(kc_json_opts){.max_bytes = 3}, &err));
    assert_error(&err, KC_TOO_LARGE, "the text has 4 bytes: limit is 3");
}

static void expansion_bomb_fails(void **state)
{
    (void)state;
    kc_scoped(kc_buf) text = {0};
    kc_buf_puts(&text, "a0: &a0 [lol,lol,lol,lol,lol,lol,lol,lol,lol]\n");
    for (int level = 1; level < 10; level++) {
        kc_buf_printf(&text, "a%d: &a%d [", level, level);
        for (int i = 0; i < 9; i++)
            kc_buf_printf(&text, "%s*a%d", i ? "," : "", level - 1);
        kc_buf_puts(&text, "]\n");
    }
    assert_refuses(kc_buf_cstr(&text), "anchors, aliases and merge keys copy more than");
}

static void expansion_bomb_of_merges_fails(void **state)
{
    (void)state;
    kc_scoped(kc_buf) text = {0};
    kc_buf_puts(&text, "a0: &a0 {k: [0,0,0,0,0,0,0,0]}\n");
    for (int level = 1; level < 30; level++)
        kc_buf_printf(&text, "a%d: &a%d {<<: *a%d, x%d: *a%d, y%d: *a%d}\n", level, level,
                      level - 1, level, level - 1, level, level - 1);
    assert_refuses(kc_buf_cstr(&text), "anchors, aliases and merge keys copy more than");
}

static void anchors_and_directives_beyond_limits_fail(void **state)
{
    (void)state;
    kc_scoped(kc_buf) text = {0};
    for (unsigned i = 0; i <= KC_YAML_MAX_ANCHORS; i++)
        kc_buf_printf(&text, "- &a%u x\n", i);
    assert_refuses(kc_buf_cstr(&text), "line 10001, column 3: more than 10000 anchors");
    kc_buf_clear(&text);
    for (unsigned i = 0; i <= KC_YAML_MAX_TAG_DIRECTIVES; i++)
        kc_buf_printf(&text, "%%TAG !a%u! x\n", i);
    assert_refuses(kc_buf_cstr(&text), "line 17, column 1: more than 16 %TAG directives");
}

static void long_text_in_deep_brackets_fails(void **state)
{
    (void)state;
    kc_scoped(kc_buf) text = {0};
    for (int i = 0; i < 500; i++)
        kc_buf_putc(&text, '[');
    for (int i = 0; i < 100000; i++)
        kc_buf_puts(&text, "a,");
    assert_refuses(kc_buf_cstr(&text), "too much text inside too many");
}

static void long_object_with_merge_key_is_parsed(void **state)
{
    (void)state;
    kc_scoped(kc_buf) text = {0};
    for (int i = 0; i < 100000; i++)
        kc_buf_printf(&text, "k%d: v\n", i);
    kc_buf_puts(&text, "<<: {k7: w}\n");
    kc_auto(kc_view) *view = kc_yaml_parse(kc_buf_str(&text), NULL, NULL);
    assert_int_equal(kc_value_len(kc_view_root(view)), 100000);
    assert_str(kc_value_as_str(kc_value_get(kc_view_root(view), "k7")), "w");
}

TESTS(manifest_is_parsed_to_object, words_have_yaml_1_1_types, integers_are_parsed_in_four_bases,
      fractions_are_parsed_as_in_go, numbers_beyond_json_range_fail,
      quoted_text_and_dates_are_strings, tags_determine_type, block_scalars_keep_and_fold_lines,
      keys_become_strings, aliases_yield_value_of_anchor, alias_without_earlier_anchor_fails,
      merge_keys_add_members, merge_key_overrides_the_keys_above_it,
      quoted_merge_key_is_ordinary_key, merge_key_accepts_only_objects,
      duplicates_are_reported_with_their_paths, merged_member_is_not_a_duplicate,
      byte_order_mark_and_crlf_are_accepted, invalid_text_fails_with_position,
      errors_have_clear_messages, depth_beyond_limit_fails, size_beyond_limit_fails,
      expansion_bomb_fails, expansion_bomb_of_merges_fails,
      anchors_and_directives_beyond_limits_fail, long_text_in_deep_brackets_fails,
      long_object_with_merge_key_is_parsed)
