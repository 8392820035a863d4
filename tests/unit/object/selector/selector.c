/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "kc/selector.h"

#define VALUE_RULE                                                                              \
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or " \
    "'.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or "          \
    "'my_value',  or '12345', regex used for validation is "                                    \
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"

static kc_selector *selector_of(const char *text)
{
    kc_scoped(kc_error) err = {0};
    kc_selector *selector = kc_selector_parse(kc_cstr(text), &err);
    if (!selector)
        fail_msg("%s: %s", text, kc_error_text(&err));
    return selector;
}

static void assert_text(const kc_selector *selector, const char *expected)
{
    kc_scoped(kc_buf) text = {0};
    kc_selector_write(&text, selector);
    assert_str(kc_buf_str(&text), expected);
}

static void assert_prints(const char *text, const char *expected)
{
    kc_auto(kc_selector) *selector = selector_of(text);
    assert_text(selector, expected);
    kc_auto(kc_selector) *again = selector_of(expected);
    assert_text(again, expected);
}

static void assert_refused(const char *text, const char *message)
{
    kc_scoped(kc_error) err = {0};
    assert_null(kc_selector_parse(kc_cstr(text), &err));
    assert_int_equal(err.reason, KC_BAD_REQUEST);
    assert_string_equal(kc_error_text(&err), message);
    assert_null(kc_selector_parse(kc_cstr(text), NULL));
}

/* All ways to match must agree. */
static bool matches(const kc_selector *selector, const char *labels)
{
    kc_scoped(kc_buf) json = {0};
    KC_VEC(kc_label) list = {0};
    kc_auto(kc_view) *view = view_of(labels);
    kc_value_each_member (kc_view_root(view), key, value)
        if (kc_value_type(value) == KC_JSON_STRING)
            kc_vec_push(&list, (kc_label){key, kc_value_as_str(value)});
    kc_json_write(&json, kc_view_root(view));
    bool matched = kc_selector_match_value(selector, kc_view_root(view));
    assert_int_equal(kc_selector_match_json(selector, kc_buf_str(&json)), matched);
    assert_int_equal(kc_selector_match_labels(selector, list.items, list.n), matched);
    kc_vec_done(&list);
    return matched;
}

static void assert_matches(const char *text, const char *labels)
{
    kc_auto(kc_selector) *selector = selector_of(text);
    if (!matches(selector, labels))
        fail_msg("%s should match %s", text, labels);
}

static void assert_no_match(const char *text, const char *labels)
{
    kc_auto(kc_selector) *selector = selector_of(text);
    if (matches(selector, labels))
        fail_msg("%s should not match %s", text, labels);
}

static kc_selector *from_object(const char *json, kc_error *err)
{
    kc_auto(kc_view) *view = view_of(json);
    return kc_selector_of(kc_view_root(view), err);
}

static void assert_object_prints(const char *json, const char *expected)
{
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_selector) *selector = from_object(json, &err);
    if (!selector)
        fail_msg("%s: %s", json, kc_error_text(&err));
    assert_text(selector, expected);
}

static void assert_object_refused(const char *json, const char *message)
{
    kc_scoped(kc_error) err = {0};
    assert_null(from_object(json, &err));
    assert_int_equal(err.reason, KC_BAD_REQUEST);
    assert_string_equal(kc_error_text(&err), message);
}

static void equality_requires_the_value(void **state)
{
    (void)state;
    assert_matches("a=b", "{'x':'y','a':'b'}");
    assert_matches("a==b", "{'a':'b'}");
    assert_no_match("a=b", "{'a':'c'}");
    assert_no_match("a=b", "{}");
    assert_matches("a=", "{'a':''}");
    assert_no_match("a=", "{}");
    assert_no_match("a=b,a=c", "{'a':'b'}");
}

static void inequality_holds_without_the_label(void **state)
{
    (void)state;
    assert_matches("a!=b", "{}");
    assert_matches("a!=b", "{'a':'c'}");
    assert_no_match("a!=b", "{'a':'b'}");
    assert_matches("a notin (b,c)", "{'x':'b'}");
    assert_no_match("a notin (b,c)", "{'a':'c'}");
    assert_no_match("a notin ()", "{'a':''}");
}

static void set_matches_any_of_its_values(void **state)
{
    (void)state;
    assert_matches("a in (x,y,z)", "{'a':'z'}");
    assert_no_match("a in (x,y,z)", "{'a':'w'}");
    assert_no_match("a in (x,y,z)", "{}");
    assert_matches("a in (v9,v8,v7,v6,v5,v4,v3,v2,v1,v0)", "{'a':'v7'}");
    assert_no_match("a in (v9,v8,v7,v6,v5,v4,v3,v2,v1,v0)", "{'a':'v77'}");
}

static void existence_checks_only_the_key(void **state)
{
    (void)state;
    assert_matches("a", "{'a':''}");
    assert_no_match("a", "{'b':'a'}");
    assert_matches("!a", "{'b':'a'}");
    assert_no_match("!a", "{'a':''}");
    assert_no_match("a,!a", "{'a':''}");
}

static void greater_and_less_compare_integers(void **state)
{
    (void)state;
    assert_matches("a>5", "{'a':'6'}");
    assert_no_match("a>5", "{'a':'5'}");
    assert_matches("a>9", "{'a':'10'}");
    assert_matches("a<5", "{'a':'-7'}");
    assert_matches("a<5", "{'a':'+4'}");
    assert_no_match("a<5", "{'a':'x'}");
    assert_no_match("a<5", "{'a':'+-4'}");
    assert_no_match("a<5", "{}");
    assert_matches("a>9223372036854775806", "{'a':'9223372036854775807'}");
    assert_no_match("a>5", "{'a':'9223372036854775808'}");
}

static void all_requirements_must_hold(void **state)
{
    (void)state;
    const char *pod = "{'app':'web','tier':'front','n':'3','x/y':'z'}";
    assert_matches("app=web,tier in (front,back),n>2,n<4,!gone,x/y!=q", pod);
    assert_no_match("app=web,tier in (front,back),n>3", pod);
    assert_no_match("app=web,missing", pod);
    /* More requirements than the linear search handles. */
    assert_matches("app,tier,n,x/y,!a,!b,!c,!d,!e,!f,!g", pod);
    assert_no_match("app,tier,n,x/y,!a,!b,!c,!d,!e,!f,!tier", pod);
    assert_no_match("app,tier,n,x/y,z,!b,!c,!d,!e,!f,!g", pod);
}

static void empty_text_matches_everything(void **state)
{
    (void)state;
    kc_auto(kc_selector) *all = selector_of(" \t");
    assert_true(kc_selector_is_everything(all));
    assert_false(kc_selector_is_nothing(all));
    assert_true(matches(all, "{}"));
    assert_true(kc_selector_is_everything(NULL));
    assert_true(matches(NULL, "{'a':'b'}"));
    assert_text(all, "");
}

static void objects_are_matched_without_parsing(void **state)
{
    (void)state;
    kc_auto(kc_object) *pod = object_of("{'metadata':{'labels':{'a':'b','c':'d'},'name':'x'}}");
    kc_auto(kc_object) *bare = object_of("{'metadata':{'name':'x'}}");
    kc_auto(kc_object) *odd = object_of("{'metadata':{'labels':{'a':5,'q\\\"':'b','c':'d\\n'}}}");
    kc_auto(kc_selector) *selector = selector_of("a=b,c"), *none = selector_of("!a,c!=d");
    assert_true(kc_selector_match(selector, pod));
    assert_false(kc_selector_match(selector, bare));
    assert_false(kc_selector_match(none, pod));
    assert_true(kc_selector_match(none, bare));
    /* A number is not a label; text with escapes equals no valid value. */
    assert_false(kc_selector_match(selector, odd));
    assert_true(kc_selector_match(none, odd));
}

static void text_is_canonical(void **state)
{
    (void)state;
    assert_prints("b, a ,c = d", "a,b,c=d");
    assert_prints("x in (c,a,b,a)", "x in (a,b,c)");
    assert_prints("x notin ( )", "x notin ()");
    assert_prints("x in (a,,b)", "x in (,a,b)");
    assert_prints("x in (,)", "x in ()");
    assert_prints("a==b,a!=c,!d,e>1,f<2", "a==b,a!=c,!d,e>1,f<2");
    assert_prints("b,a,a=x,a!=y", "a,a=x,a!=y,b");
    assert_prints("in in (in,notin),notin=in", "in in (in,notin),notin=in");
    assert_prints("a,b=,c==", "a,b=,c==");
}

static void syntax_errors_match_kubernetes_messages(void **state)
{
    (void)state;
#define UNABLE "unable to parse requirement: "
    assert_refused("a b", UNABLE "found 'b', expected: in, notin, =, ==, !=, gt, lt");
    assert_refused("a=b c", "found 'c', expected: ',' or 'end of string'");
    assert_refused("a in (b", UNABLE "found '', expected: ',' or ')'");
    assert_refused("a in b", UNABLE "found 'b' expected: '('");
    assert_refused("a in (", UNABLE "found '', expected: ',', ')' or identifier");
    assert_refused("a in (,,)", UNABLE "found ')', expected: ',', or identifier");
    assert_refused("!a=b", "found '=', expected: ',' or 'end of string'");
    assert_refused("a===b", UNABLE "found '=', expected: identifier");
    assert_refused("!", UNABLE "found '', expected: identifier");
    assert_refused(",a", "found ',', expected: !, identifier, or 'end of string'");
    assert_refused("a,", "found '', expected: identifier after ','");
    assert_refused("a,,b", "found ',', expected: identifier after ','");
}

static void keys_and_values_are_validated(void **state)
{
    (void)state;
    assert_refused("a=b_", UNABLE "values[0][a]: Invalid value: \"b_\": " VALUE_RULE);
    assert_refused("a in (_,b,c.)",
                   UNABLE "[values[0][a]: Invalid value: \"_\": " VALUE_RULE
                          ", values[2][a]: Invalid value: \"c.\": " VALUE_RULE "]");
    assert_refused("/b=d", UNABLE "<nil>: Invalid value: \"/b\": prefix part must be non-empty");
    assert_refused("UP/b", UNABLE
                   "<nil>: Invalid value: \"UP/b\": prefix part a lowercase RFC 1123 subdomain "
                   "must consist of lower case alphanumeric characters, '-' or '.', and must start "
                   "and end with an alphanumeric character (e.g. 'example.com', regex used for "
                   "validation is "
                   "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')");
    assert_refused("a/b/c", UNABLE
                   "<nil>: Invalid value: \"a/b/c\": a qualified name must consist of alphanumeric "
                   "characters, '-', '_' or '.', and must start and end with an alphanumeric "
                   "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
                   "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS "
                   "subdomain prefix and '/' (e.g. 'example.com/MyName')");
    assert_refused("x>a", UNABLE "values[0]: Invalid value: \"a\": for 'Gt', 'Lt' operators, the "
                                 "value must be an integer");
    char longest[65] = {0};
    memset(longest, 'a', 63);
    assert_prints(longest, longest);
    longest[63] = 'a';
    kc_scoped(kc_error) err = {0};
    assert_null(kc_selector_parse(kc_cstr(longest), &err));
    assert_error(&err, KC_BAD_REQUEST, "name part must be no more than 63 characters");
}

static void long_text_and_nul_bytes_fail(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    kc_scoped(kc_buf) text = {0};
    assert_null(kc_selector_parse(KC_STR("a\0b"), &err));
    assert_error(&err, KC_BAD_REQUEST, "NUL");
    for (size_t i = 0; i <= KC_SELECTOR_MAX_BYTES; i++)
        kc_buf_putc(&text, 'a');
    assert_null(kc_selector_parse(kc_buf_str(&text), &err));
    assert_error(&err, KC_BAD_REQUEST, "at most 1048576 bytes");
}

static void label_selector_combines_labels_and_expressions(void **state)
{
    (void)state;
    assert_object_prints("{'matchLabels':{'b':'c','a':'d'}}", "a=d,b=c");
    assert_object_prints("{'matchLabels':{'b':'c'},'matchExpressions':["
                         "{'key':'a','operator':'In','values':['z','y']},"
                         "{'key':'c','operator':'NotIn','values':['x']},"
                         "{'key':'d','operator':'Exists'},"
                         "{'key':'e','operator':'DoesNotExist','values':null}]}",
                         "a in (y,z),b=c,c notin (x),d,!e");
    assert_object_prints("{'matchLabels':{'a':null}}", "a=");
}

static void empty_label_selector_selects_everything_and_null_nothing(void **state)
{
    (void)state;
    kc_auto(kc_selector) *empty = from_object("{}", NULL);
    kc_auto(kc_selector) *lists = from_object("{'matchLabels':{},'matchExpressions':[]}", NULL);
    kc_auto(kc_selector) *null = from_object("null", NULL), *absent = kc_selector_of(NULL, NULL);
    assert_true(kc_selector_is_everything(empty));
    assert_true(kc_selector_is_everything(lists));
    assert_true(matches(empty, "{'a':'b'}"));
    assert_true(kc_selector_is_nothing(null));
    assert_true(kc_selector_is_nothing(absent));
    assert_false(kc_selector_is_everything(null));
    assert_false(matches(null, "{'a':'b'}"));
    assert_false(matches(null, "{}"));
    assert_text(null, "");
}

static void invalid_label_selector_fails(void **state)
{
    (void)state;
    assert_object_refused("{'matchExpressions':[{'key':'a','operator':'Foo'}]}",
                          "\"Foo\" is not a valid label selector operator");
    assert_object_refused(
        "{'matchExpressions':[{'key':'a','operator':'In'}]}",
        "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty");
    assert_object_refused("{'matchExpressions':[{'key':'a','operator':'Exists','values':['b']}]}",
                          "values: Invalid value: [\"b\"]: values set must be empty for exists and "
                          "does not exist");
    assert_object_refused("{'matchLabels':{'a':'d_'}}",
                          "values[0][a]: Invalid value: \"d_\": " VALUE_RULE);
    assert_object_refused("{'matchLabels':{'a':1}}",
                          "each value in matchLabels of a label selector must be of type string, "
                          "not integer");
    assert_object_refused("[]", "the object of a label selector must be of type object, not array");
    assert_object_refused("{'matchExpressions':{}}",
                          "matchExpressions of a label selector must be of type array, not object");
}

static void exact_requirement_is_found(void **state)
{
    (void)state;
    kc_auto(kc_selector) *s = selector_of("a=x,b in (y),c in (p,q),d!=z,e");
    kc_str value = KC_STR("untouched");
    assert_false(kc_selector_exact(s, KC_STR("c"), &value));
    assert_false(kc_selector_exact(s, KC_STR("d"), &value));
    assert_false(kc_selector_exact(s, KC_STR("e"), &value));
    assert_false(kc_selector_exact(s, KC_STR("zzz"), &value));
    assert_false(kc_selector_exact(NULL, KC_STR("a"), &value));
    assert_str(value, "untouched");
    assert_true(kc_selector_exact(s, KC_STR("a"), &value));
    assert_str(value, "x");
    assert_true(kc_selector_exact(s, KC_STR("b"), &value));
    assert_str(value, "y");
}

static void selector_is_created_from_requirements(void **state)
{
    (void)state;
    kc_str values[] = {KC_STR_INIT("y"), KC_STR_INIT("x")};
    kc_requirement list[] = {{KC_STR("b"), KC_SELECT_IN, values, 2, 0},
                             {KC_STR("a"), KC_SELECT_EXISTS, NULL, 0, 0}};
    kc_auto(kc_selector) *selector = kc_selector_new(list, 2, NULL);
    assert_text(selector, "a,b in (x,y)");
    size_t n;
    const kc_requirement *back = kc_selector_requirements(selector, &n);
    assert_int_equal(n, 2);
    assert_str(back[1].key, "b");
    assert_str(back[1].values[0], "x");

    kc_scoped(kc_error) err = {0};
    list[1].op = KC_SELECT_EQUALS;
    assert_null(kc_selector_new(list, 2, &err));
    assert_error(&err, KC_BAD_REQUEST, "exact-match compatibility requires one single value");
}

/* Would take minutes if labels or values were compared pairwise. */
static void long_selectors_and_labels_match_in_linear_time(void **state)
{
    (void)state;
    kc_scoped(kc_buf) text = {0};
    kc_scoped(kc_buf) labels = {0};
    kc_buf_putc(&labels, '{');
    for (int i = 0; i < 60000; i++) {
        kc_buf_printf(&text, "%s!k%d", i ? "," : "", i);
        kc_buf_printf(&labels, "%s\"l%d\":\"v\"", i ? "," : "", i);
    }
    kc_buf_puts(&text, ",l9 in (");
    for (int i = 0; i < 60000; i++)
        kc_buf_printf(&text, "v%d,", i);
    kc_buf_puts(&text, "v)");
    kc_buf_puts(&labels, "}");
    kc_auto(kc_selector) *selector = selector_of(kc_buf_cstr(&text));
    assert_true(kc_selector_match_json(selector, kc_buf_str(&labels)));
}

TESTS(equality_requires_the_value, inequality_holds_without_the_label,
      set_matches_any_of_its_values, existence_checks_only_the_key,
      greater_and_less_compare_integers, all_requirements_must_hold, empty_text_matches_everything,
      objects_are_matched_without_parsing, text_is_canonical,
      syntax_errors_match_kubernetes_messages, keys_and_values_are_validated,
      long_text_and_nul_bytes_fail, label_selector_combines_labels_and_expressions,
      empty_label_selector_selects_everything_and_null_nothing, invalid_label_selector_fails,
      exact_requirement_is_found, selector_is_created_from_requirements,
      long_selectors_and_labels_match_in_linear_time)
