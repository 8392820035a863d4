/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "kc/jsonpath.h"

static const char nodes[] =
    "{'kind':'List','items':["
    "{'kind':'None','metadata':{'name':'127.0.0.1','labels':{'kubernetes.io/hostname':'h1'}},"
    "'status':{'capacity':{'cpu':'4'},'ready':true,'addresses':[{'type':'Legacy','address':'127.0."
    "0.1'}]}},"
    "{'kind':'None','metadata':{'name':'127.0.0.2','labels':{'kubernetes.io/hostname':'h2'}},"
    "'status':{'capacity':{'cpu':'8'},'ready':false,'addresses':["
    "{'type':'Legacy','address':'127.0.0.2'},{'type':'another','address':'127.0.0.3'}]}}],"
    "'users':[{'name':'myself','user':{}},{'name':'e2e','user':{'username':'admin','password':"
    "'secret'}}]}";

static const char numbers[] = "{'n':[10,11,12,13,14,15],'v':[{'x':4,'id':'a'},{'x':-2,'id':'b'},"
                              "{'x':8.5,'id':'c','z':null}]}";

static kc_jsonpath *path_of(const char *text)
{
    kc_scoped(kc_error) err = {0};
    kc_jsonpath *path = kc_jsonpath_parse(kc_cstr(text), NULL, &err);
    if (!path)
        fail_msg("%s: %s", text, kc_error_text(&err));
    return path;
}

static void check(const char *json, const char *text, bool allow_missing, const char *expected)
{
    kc_scoped(kc_error) err = {0};
    kc_scoped(kc_buf) out = {0};
    kc_auto(kc_view) *view = view_of(json);
    kc_auto(kc_jsonpath) *path = path_of(text);
    kc_jsonpath_opts opts = {.allow_missing = allow_missing};
    if (kc_jsonpath_print(path, kc_view_root(view), &opts, &out, &err) < 0)
        fail_msg("%s: %s", text, kc_error_text(&err));
    assert_int_equal(err.reason, KC_OK);
    assert_str(kc_buf_str(&out), expected);
}

static void assert_prints(const char *json, const char *text, const char *expected)
{
    check(json, text, false, expected);
}

static void assert_fails(const char *json, const char *text, const char *why)
{
    kc_scoped(kc_error) err = {0};
    kc_scoped(kc_buf) out = {0};
    kc_auto(kc_view) *view = view_of(json);
    kc_auto(kc_jsonpath) *path = path_of(text);
    kc_buf_puts(&out, "before");
    assert_true(kc_jsonpath_print(path, kc_view_root(view), NULL, &out, &err) < 0);
    assert_int_equal(err.reason, KC_BAD_REQUEST);
    assert_string_equal(kc_error_text(&err), why);
    assert_str(kc_buf_str(&out), "before");
}

static void assert_refused(const char *text, const char *why)
{
    kc_scoped(kc_error) err = {0};
    assert_null(kc_jsonpath_parse(kc_cstr(text), NULL, &err));
    assert_int_equal(err.reason, KC_BAD_REQUEST);
    assert_string_equal(kc_error_text(&err), why);
}

static void names_find_members(void **state)
{
    (void)state;
    assert_prints(nodes, "{.kind}", "List");
    assert_prints(nodes, "{$.items[0].metadata.name}", "127.0.0.1");
    assert_prints(nodes, "{@['items'][0]['metadata.name']}", "127.0.0.1");
    assert_prints(nodes, "{.items[0].metadata.labels.kubernetes\\.io/hostname}", "h1");
    assert_prints(nodes, "{.items[0].metadata.labels['kubernetes\\.io/hostname']}", "h1");
    assert_prints("{'a':{'b':2}}", "{.a .b}", "2");
    assert_prints("{'a':1}", "{}", "{\"a\":1}");
}

static void text_outside_braces_is_kept(void **state)
{
    (void)state;
    assert_prints(nodes, "hello jsonpath", "hello jsonpath");
    assert_prints(nodes, "kind: {.kind}!", "kind: List!");
    assert_prints(nodes, "a}b", "a}b");
    assert_prints(nodes, "", "");
}

static void quoted_text_uses_go_escapes(void **state)
{
    (void)state;
    assert_prints("{}", "{\"{\"}{'}'}", "{}");
    assert_prints("{}", "{\"a\\tb\\n\"}{'it\\'s'}", "a\tb\nit's");
    assert_prints("{}", "{\"\\u00e9\\x41\\101\\U0001F600\"}", "éAA😀");
    assert_refused("{\"\\q\"}", "unquote string \"\\q\" error invalid syntax");
    assert_refused("{\"\\'\"}", "unquote string \"\\'\" error invalid syntax");
    assert_refused("{\"abc}", "unterminated quoted string");
}

static void literals_print_as_values(void **state)
{
    (void)state;
    assert_prints("{}", "{5} {-5} {+5} {5.} {1.50} {true} {false}", "5 -5 5 5 1.5 true false");
    assert_refused("{1.2.3}", "cannot parse number 1.2.3");
    assert_refused("{-}", "cannot parse number -");
}

static void indexes_and_slices_select_items(void **state)
{
    (void)state;
    assert_prints(numbers, "{.n[0]} {.n[-1]} {.n[-6]}", "10 15 10");
    assert_prints(numbers, "{.n[1:3]}", "11 12");
    assert_prints(numbers, "{.n[:2]}|{.n[4:]}|{.n[-2:]}|{.n[0:-4]}", "10 11|14 15|14 15|10 11");
    assert_prints(numbers, "{.n[::2]}|{.n[1:6:3]}|{.n[1:4:9]}", "10 12 14|11 14|11");
    assert_prints(numbers, "{.n[*]}", "10 11 12 13 14 15");
    assert_prints(numbers, "{.n[0:0]}{.n[9:9]}", "");
    assert_prints(numbers, "{.n[]}", "10");
    assert_prints("{'a':null}", "{.a[0]}", "");
}

static void indexes_beyond_end_fail(void **state)
{
    (void)state;
    assert_fails(numbers, "{.n[6]}", "array index out of bounds: index 6, length 6");
    assert_fails(numbers, "{.n[-7]}", "array index out of bounds: index -1, length 6");
    assert_fails(numbers, "{.n[0:9]}", "array index out of bounds: index 8, length 6");
    assert_fails(numbers, "{.n[3:1]}", "starting index 3 is greater than ending index 1");
    assert_fails(numbers, "{.n[0:6:0]}", "step must be > 0");
    assert_fails(numbers, "{.n[0:6:-1]}", "step must be > 0");
    assert_fails(numbers, "{.n[9223372036854775807]}",
                 "array index out of bounds: index 9223372036854775807, length 6");
    assert_fails(nodes, "{.items[0].status[0]}", "map[string]interface {} is not array or slice");
    assert_refused("{.n[99999999999999999999]}",
                   "array index 99999999999999999999 is not a number");
    assert_refused("{.n[-]}", "array index - is not a number");
    assert_refused("{.n[x]}", "invalid array index x");
    assert_refused("{.n[1:2:3:4]}", "invalid array index 1:2:3:4");
    assert_refused("{.n[0}", "unterminated array");
}

static void unions_concatenate_results(void **state)
{
    (void)state;
    assert_prints(numbers, "{.n[0,2,-1]}", "10 12 15");
    assert_prints(numbers, "{.n[0:2, 5]}", "10 11 15");
    assert_prints(nodes, "{.items[*]['metadata.name', 'status.capacity']}",
                  "127.0.0.1 127.0.0.2 {\"cpu\":\"4\"} {\"cpu\":\"8\"}");
    assert_prints("{'a':1,'b':2}", "{['b','a']}", "2 1");
    assert_refused("{['a',x]}", "invalid array index x");
}

static void wildcards_return_all_values_in_order(void **state)
{
    (void)state;
    assert_prints("{'z':1,'a':2}", "{.*}", "1 2");
    assert_prints(nodes, "{.items[*].status.addresses[*].address}",
                  "127.0.0.1 127.0.0.2 127.0.0.3");
    assert_prints("{'a':{'z':'x','b':null}}", "{.a.*}", "x null");
    assert_prints("{'a':'text'}", "{.a.*}", "");
}

static void recursive_descent_finds_members_at_any_depth(void **state)
{
    (void)state;
    assert_prints(nodes, "{..name}", "127.0.0.1 127.0.0.2 myself e2e");
    assert_prints(nodes, "{..addresses[0].address}", "127.0.0.1 127.0.0.2");
    assert_prints("[1,2,3]", "{..}", "[1,2,3]");
    assert_prints("{'a':'xy','e':[],'n':5}", "{..}", "{\"a\":\"xy\",\"e\":[],\"n\":5} xy");
    assert_prints(nodes, "{...cpu}", "4 8");
    assert_refused("{....cpu}", "invalid multiple recursive descent");
}

static void filters_compare_values(void **state)
{
    (void)state;
    assert_prints(nodes, "{.users[?(@.name==\"e2e\")].user.password}", "secret");
    assert_prints(nodes, "{.users[?(@.name!='e2e')].name}", "myself");
    assert_prints(nodes, "{.items[?(@.status.ready==true)].metadata.name}", "127.0.0.1");
    assert_prints(nodes, "{.items[?(@..ready==false)].metadata.name}", "127.0.0.2");
    assert_prints(numbers, "{.v[?(@.x<4)].id}{.v[?(@.x<=4)].id}", "ba b");
    assert_prints(numbers, "{.v[?(@.x>4)].id}{.v[?(@.x>=4.0)].id}", "ca c");
    assert_prints(numbers, "{.v[?(@.x==8.5)].id}{.v[?(@.x==-2)].id}", "cb");
    assert_prints(numbers, "{.n[?(@>13)]}", "14 15");
    assert_prints("{'l':[{'a':1,'b':1},{'a':1,'b':2}]}", "{.l[?(@.a==@.b)].b}", "1");
    assert_prints("{'l':[{'n':'a)b'},{'n':'c'}]}", "{.l[?(@.n=='a)b')].n}", "a)b");
    assert_prints("{'l':[{'n':'b'},{'n':'c'}]}", "{.l[?(@.n>='c')].n}", "c");
}

static void filters_test_existence(void **state)
{
    (void)state;
    assert_prints(numbers, "{.v[?(@.z)].id}", "c");
    assert_prints("{'l':[{'a':[1]},{'a':[1,2]}]}", "{.l[?(@.a[1])].a[0]}", "1");
    assert_prints("{'l':[{'a':{'b':1}},{'c':1}]}", "{.l[?(@.a.b)].a.b}", "1");
}

static void incomparable_values_fail(void **state)
{
    (void)state;
    assert_fails(nodes, "{.users[?(@.name==5)]}", "incompatible types for comparison");
    assert_fails(nodes, "{.users[?(@.user==5)]}", "invalid type for comparison");
    assert_fails(nodes, "{.items[?(@.status.ready<true)]}", "invalid type for comparison");
    assert_fails(nodes, "{.users[?(@.name<>'x')]}", "unrecognized filter operator <>");
    assert_fails(nodes, "{.users[?(@.name==Ready)]}", "unrecognized identifier Ready");
    assert_fails(nodes, "{.users[?(@.*=='x')]}", "can only compare one element at a time");
    assert_fails(nodes, "{.kind[?(@.x)]}", "string is not array or slice and cannot be filtered");
    assert_fails(nodes, "{.users[?(@.nope=='x')]}", "nope is not found");
    check(nodes, "{.users[?(@.nope=='x')].name}", true, "");
    assert_refused("{.a[?(@.b==1}", "unterminated filter");
    assert_refused("{.a[?(@.b==1)}", "unclosed array expect ]");
    assert_refused("{.a[?(=1)]}", "unrecognized character in action: U+003D '='");
}

static void missing_member_fails_unless_allowed(void **state)
{
    (void)state;
    assert_fails(nodes, "{.nope}", "nope is not found");
    assert_fails(nodes, "{.kind.nope}", "nope is not found");
    check(nodes, "<{.nope.a[0]}>", true, "<>");
    /* It suffices that one of several has it. */
    assert_prints("{'l':[{'a':1},{'b':2}]}", "{.l[*].b}", "2");
}

static void ranges_repeat_their_body(void **state)
{
    (void)state;
    assert_prints(nodes, "{range .items[*]}{.metadata.name}, {end}{.kind}",
                  "127.0.0.1, 127.0.0.2, List");
    assert_prints(nodes, "{range .items[*]}[{.metadata.name}, {.status.capacity}] {end}",
                  "[127.0.0.1, {\"cpu\":\"4\"}] [127.0.0.2, {\"cpu\":\"8\"}] ");
    assert_prints(nodes,
                  "{range .items[*]}{.metadata.name}:{range .status.addresses[*]}{.type},{end};"
                  "{range .status.addresses[*]}{.address}{\"\\n\"}{end}{end}.",
                  "127.0.0.1:Legacy,;127.0.0.1\n127.0.0.2:Legacy,another,;127.0.0.2\n127.0.0.3\n.");
    assert_prints(nodes, "{range .users[?(@.name=='e2e')]}{@.user.username}{end}", "admin");
    assert_prints("{'a':[]}", "({range .a[*]}{.x[0].y}{range .z}{end}{end})", "()");
}

static void unterminated_range_extends_to_end(void **state)
{
    (void)state;
    /* And then once more, outside, as in kubectl. */
    check("{'a':[{'b':1},{'b':2}]}", "{range .a[*]}{.b};", true, "1;2;;");
    check("{'a':[{'b':[3]}]}", "{range .a[*]}{range .b[*]}{@}{end}x", true, "3xx");
}

static void ranges_must_be_balanced_and_not_too_deep(void **state)
{
    (void)state;
    kc_scoped(kc_buf) text = {0};
    assert_refused("{range .a}{end}{end}", "not in range, nothing to end");
    assert_refused("{range range .a}{end}", "only one range or end is allowed in a pair of braces");
    assert_refused("{.a[?(range)]}", "range is not allowed in brackets");
    for (unsigned i = 0; i <= KC_JSONPATH_MAX_RANGES; i++)
        kc_buf_puts(&text, "{range @}");
    assert_refused(kc_buf_cstr(&text), "ranges can nest at most 32 deep");
}

static void unknown_characters_fail(void **state)
{
    (void)state;
    assert_refused("{.a", "unclosed action");
    assert_refused("{.a\n}", "unclosed action");
    assert_refused("{#}", "unrecognized character in action: U+0023 '#'");
    assert_refused("{\t}", "unrecognized character in action: U+0009");
    assert_refused("{.a,.b}", "unrecognized character in action: U+002C ','");
    assert_fails("{}", "{hello}", "unrecognized identifier hello");
}

static void values_print_as_in_go(void **state)
{
    (void)state;
    assert_prints("{'z':'<&>','a':[1,null,{'y':1,'b':2}]}", "{@}",
                  "{\"a\":[1,null,{\"b\":2,\"y\":1}],\"z\":\"\\u003c\\u0026\\u003e\"}");
    assert_prints("['\\u2028','\\u2029',' ','é']", "{@}", "[\"\\u2028\",\"\\u2029\",\" \",\"é\"]");
    assert_prints("{'a':null,'b':true}", "{.a}{.b}", "nulltrue");
    assert_prints("[1234567.5,123456.5,0.0001,0.00001,100000.0,1000000.0,1e21,2.0]", "{[*]}",
                  "1.2345675e+06 123456.5 0.0001 1e-05 100000 1e+06 1e+21 2");
    assert_prints("['<a> \\\"b\\\"']", "{[0]}", "<a> \"b\"");
}

static void braces_of_columns_are_optional(void **state)
{
    (void)state;
    static const char *const texts[] = {".users[1].name", "{.users[1].name}",
                                        ".users[?(@.name==\"e2e\")].name"};
    kc_auto(kc_view) *view = view_of(nodes);
    for (size_t i = 0; i < KC_COUNT(texts); i++) {
        kc_scoped(kc_values) values = {0};
        kc_auto(kc_jsonpath) *path =
            kc_jsonpath_parse(kc_cstr(texts[i]), &(kc_jsonpath_parse_opts){.bare = true}, NULL);
        assert_int_equal(kc_jsonpath_find(path, kc_view_root(view), NULL, &values, NULL), 0);
        assert_int_equal(values.n, 1);
        assert_value_json(values.items[0], "'e2e'");
    }
}

static void found_values_belong_to_document(void **state)
{
    (void)state;
    kc_scoped(kc_values) values = {0};
    kc_auto(kc_view) *view = view_of("{'a':[{'b':1},{'b':2}]}");
    kc_auto(kc_jsonpath) *path = path_of("n: {.a[*].b}{5}"), *missing = path_of("{.a[0]}{.z}");
    assert_int_equal(kc_jsonpath_find(path, kc_view_root(view), NULL, &values, NULL), 0);
    assert_int_equal(values.n, 4);
    assert_value_json(values.items[0], "'n: '");
    assert_ptr_equal(values.items[1],
                     kc_value_get(kc_value_at(kc_value_get(kc_view_root(view), "a"), 0), "b"));
    assert_value_json(values.items[3], "5");
    assert_true(kc_jsonpath_find(missing, kc_view_root(view), NULL, &values, NULL) < 0);
    assert_int_equal(values.n, 4);
}

static void limit_fails(const char *text, kc_jsonpath_opts opts, const char *why)
{
    kc_scoped(kc_error) err = {0};
    kc_scoped(kc_buf) out = {0};
    kc_auto(kc_view) *view = view_of("[[[1,2],[3,4]],[[5,6],[7,8]]]");
    kc_auto(kc_jsonpath) *path = path_of(text);
    assert_true(kc_jsonpath_print(path, kc_view_root(view), &opts, &out, &err) < 0);
    assert_string_equal(kc_error_text(&err), why);
    assert_int_equal(out.n, 0);
}

static void work_and_results_beyond_limits_fail(void **state)
{
    (void)state;
    const char *steps = "the template visits more than 20 values";
    limit_fails("{..}{..}{..}", (kc_jsonpath_opts){.max_steps = 20}, steps);
    limit_fails("{[?(@..[0]..[0])]}", (kc_jsonpath_opts){.max_steps = 20}, steps);
    limit_fails("{range @}{range @}{range @}{range @}{range @}{range @}",
                (kc_jsonpath_opts){.max_steps = 20}, steps);
    limit_fails("{...*...*}", (kc_jsonpath_opts){.max_results = 9},
                "the template finds more than 9 values");
    limit_fails("{..}", (kc_jsonpath_opts){.max_bytes = 30},
                "the result would be larger than 30 bytes");
    kc_scoped(kc_buf) text = {0};
    for (size_t i = 0; i <= KC_JSONPATH_MAX_BYTES; i++)
        kc_buf_putc(&text, 'a');
    assert_refused(kc_buf_cstr(&text), "a JSONPath template may have at most 65536 bytes");
}

TESTS(names_find_members, text_outside_braces_is_kept, quoted_text_uses_go_escapes,
      literals_print_as_values, indexes_and_slices_select_items, indexes_beyond_end_fail,
      unions_concatenate_results, wildcards_return_all_values_in_order,
      recursive_descent_finds_members_at_any_depth, filters_compare_values, filters_test_existence,
      incomparable_values_fail, missing_member_fails_unless_allowed, ranges_repeat_their_body,
      unterminated_range_extends_to_end, ranges_must_be_balanced_and_not_too_deep,
      unknown_characters_fail, values_print_as_in_go, braces_of_columns_are_optional,
      found_values_belong_to_document, work_and_results_beyond_limits_fail)
