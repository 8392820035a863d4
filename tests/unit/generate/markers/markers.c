/* SPDX-License-Identifier: Apache-2.0 */
/* The grammar of markers: names, arguments, values, and what is refused. */
#include "testing.h"

#include "generate/markers/markers.h"

static const kc__gen_at here = {"x.h", 7, 5};

/* ---- values ---- */

static const struct value_row {
    const char *line, *json;
} values[] = {
    {"+kubebuilder:default=hello", "\"hello\""},
    {"+kubebuilder:default=hello big world", "\"hello big world\""},
    {"+kubebuilder:default=\"a, b; \\\"c\\\" \\u00e9\"", "\"a, b; \\\"c\\\" é\""},
    {"+kubebuilder:default=`a\\b \"c\"`", "\"a\\\\b \\\"c\\\"\""},
    {"+kubebuilder:default=''", "\"''\""},
    {"+kubebuilder:default=\"\"", "\"\""},
    {"+kubebuilder:default=true", "true"},
    {"+kubebuilder:default=truely", "\"truely\""},
    {"+kubebuilder:default=10", "10"},
    {"+kubebuilder:default=-10", "-10"},
    {"+kubebuilder:default=0.50", "0.5"},
    {"+kubebuilder:default=1e3", "1000"},
    {"+kubebuilder:default=-", "\"-\""},
    {"+kubebuilder:default=100Mi", "\"100Mi\""},
    {"+kubebuilder:default=2024-01-15", "\"2024-01-15\""},
    {"+kubebuilder:default=087bdd", "\"087bdd\""},
    {"+kubebuilder:default=http://example.io:80/x", "\"http://example.io:80/x\""},
    {"+kubebuilder:default={}", "{}"},
    {"+kubebuilder:default={a,b}", "[\"a\",\"b\"]"},
    {"+kubebuilder:default={a,1}", "[\"a\",\"1\"]"},
    {"+kubebuilder:default={1,2}", "[1,2]"},
    {"+kubebuilder:default={ 1.5 , 2 }", "[1.5,2]"},
    {"+kubebuilder:default={{1,2},{3}}", "[[1,2],[3]]"},
    {"+kubebuilder:default=a;b", "[\"a\",\"b\"]"},
    {"+kubebuilder:default=1;2", "[1,2]"},
    {"+kubebuilder:default={foo: \"baz\", bar: true}", "{\"foo\":\"baz\",\"bar\":true}"},
    {"+kubebuilder:default={\"a b\":{1,2},c:{d:-1}}", "{\"a b\":[1,2],\"c\":{\"d\":-1}}"},
    {"+kubebuilder:default={{nested: {foo: \"baz\"}},{nested: {foo: \"qux\"}}}",
     "[{\"nested\":{\"foo\":\"baz\"}},{\"nested\":{\"foo\":\"qux\"}}]"},
    {"+default={\"b\": [1, 2.50], \"a\": null}", "{\"b\":[1,2.5],\"a\":null}"},
    {"+default=ref(X)", ""},
    {"+kubebuilder:validation:Enum=a;1;true;\"x;y\"", "[\"a\",1,true,\"x;y\"]"},
    {"+kubebuilder:validation:Enum={a,b}", "[\"a\",\"b\"]"},
    {"+kubebuilder:validation:Pattern=^[a-z]+(-[a-z]+)*$", "\"^[a-z]+(-[a-z]+)*$\""},
    {"+kubebuilder:validation:Maximum=-0.5", "-0.5"},
    {"+kubebuilder:validation:items:Minimum=3", "3"},
    {"+kc:json=,inline", "\",inline\""},
};

static void values_are_parsed_by_type(void **state)
{
    (void)state;
    for (size_t i = 0; i < KC_COUNT(values); i++) {
        kc_scoped(kc_arena) arena = {0};
        kc_scoped(kc_error) err = {0};
        kc__gen_marker marker;
        const int read = kc__gen_marker_parse(kc_cstr(values[i].line), here, KC__GEN_SCOPE_FIELD,
                                              &arena, &marker, &err);
        if (read != 1)
            fail_msg("%s: %s", values[i].line, kc_error_text(&err));
        assert_str(kc__gen_marker_json(&marker, ""), values[i].json);
    }
}

static void arguments_are_found_by_name(void **state)
{
    (void)state;
    kc_scoped(kc_arena) arena = {0};
    kc__gen_marker m;
    const char *line = " +kubebuilder:rbac:groups=\"\";apps,resources=pods/status;\"x\", "
                       "verbs={get, list},namespace=here ";
    assert_int_equal(kc__gen_marker_parse(kc_cstr(line), here, KC__GEN_SCOPE_ANY, &arena, &m, NULL),
                     1);
    assert_str(m.name, "kubebuilder:rbac");
    assert_int_equal(m.n_args, 4);
    assert_str(kc__gen_marker_json(&m, "groups"), "[\"\",\"apps\"]");
    assert_str(kc__gen_marker_json(&m, "resources"), "[\"pods/status\",\"x\"]");
    assert_str(kc__gen_marker_json(&m, "verbs"), "[\"get\",\"list\"]");
    assert_str(kc__gen_marker_arg(&m, "namespace"), "here");
    assert_null(kc__gen_marker_arg(&m, "roleName").p);
    assert_int_equal(m.at.line, 7);
}

static void quoted_arguments_are_marked(void **state)
{
    (void)state;
    kc_scoped(kc_arena) arena = {0};
    kc__gen_marker m;
    const char *line = "+kubebuilder:printcolumn:name=\"The Name\",type=string,JSONPath=`.x`";
    assert_int_equal(
        kc__gen_marker_parse(kc_cstr(line), here, KC__GEN_SCOPE_TYPE, &arena, &m, NULL), 1);
    assert_str(kc__gen_marker_arg(&m, "name"), "The Name");
    assert_true(m.args[0].quoted);
    assert_false(m.args[1].quoted);
    assert_str(m.text, "name=\"The Name\",type=string,JSONPath=`.x`");
}

/* ---- errors ---- */

static const struct error_row {
    kc__gen_marker_scope scope;
    const char *line, *error;
} errors[] = {
    {KC__GEN_SCOPE_FIELD, "+kubebuilder:validation:Maximun=1",
     "x.h:7:5: unknown marker '+kubebuilder:validation:Maximun'; did you mean "
     "'+kubebuilder:validation:Maximum'?"},
    {KC__GEN_SCOPE_FIELD, "+kubebuilder:validation:items:MaxLenght=1",
     "did you mean '+kubebuilder:validation:items:MaxLength'?"},
    {KC__GEN_SCOPE_FIELD, "+kubebuilder:validation:nullable", "did you mean '+nullable'?"},
    {KC__GEN_SCOPE_FIELD, "+optinal", "unknown marker '+optinal'; did you mean '+optional'?"},
    {KC__GEN_SCOPE_FIELD, "+kubebuilder:qqqqqqqqqqqq",
     "unknown marker '+kubebuilder:qqqqqqqqqqqq'"},
    {KC__GEN_SCOPE_TYPE, "+kubebuilder:printcolum:name=x",
     "did you mean '+kubebuilder:printcolumn'?"},
    {KC__GEN_SCOPE_TYPE, "+kubebuilder:default=1",
     "'+kubebuilder:default' applies to a field, not to a type"},
    {KC__GEN_SCOPE_FIELD, "+kubebuilder:resource:path=x",
     "'+kubebuilder:resource' applies to a type, not to a field"},
    {KC__GEN_SCOPE_FIELD, "+groupName=x",
     "applies to a package (a comment of groupversion_info.h), not to"},
    {KC__GEN_SCOPE_PACKAGE, "+listType=map",
     "'+listType' applies to a field or a type, and none follows it"},
    {KC__GEN_SCOPE_FIELD, "+kubebuilder:validation:Maximum=many",
     "'+kubebuilder:validation:Maximum': expected a number, not 'many'"},
    {KC__GEN_SCOPE_FIELD, "+kubebuilder:validation:Maximum", "requires a value"},
    {KC__GEN_SCOPE_FIELD, "+kubebuilder:validation:Maximum=", "requires a value"},
    {KC__GEN_SCOPE_FIELD, "+kubebuilder:validation:MaxLength=1.5", "expected an integer"},
    {KC__GEN_SCOPE_FIELD, "+kubebuilder:validation:MaxLength=99999999999999999999", "is too large"},
    {KC__GEN_SCOPE_FIELD, "+kubebuilder:validation:UniqueItems=yes",
     "expected true or false, not 'yes'"},
    {KC__GEN_SCOPE_FIELD, "+kubebuilder:validation:Maximum=1 2",
     "unexpected text after its value: '2'"},
    {KC__GEN_SCOPE_FIELD, "+nullable=true", "'+nullable' takes no value"},
    {KC__GEN_SCOPE_FIELD, "+kubebuilder:default=\"open", "has no closing quote"},
    {KC__GEN_SCOPE_FIELD, "+kubebuilder:default=\"\\q\"", "has an unknown escape"},
    {KC__GEN_SCOPE_FIELD, "+kubebuilder:default={a,b", "expected '}' at the end"},
    {KC__GEN_SCOPE_FIELD, "+kubebuilder:default={a:1", "expected '}' at the end"},
    {KC__GEN_SCOPE_FIELD, "+kubebuilder:default={1,x}", "expected an integer, not 'x'"},
    {KC__GEN_SCOPE_FIELD, "+default={a}", "not valid JSON"},
    {KC__GEN_SCOPE_TYPE, "+kubebuilder:printcolumn:nam=x",
     "has no argument 'nam'; did you mean 'name'?"},
    {KC__GEN_SCOPE_TYPE, "+kubebuilder:printcolumn:name=x,type=string",
     "requires the argument 'JSONPath'"},
    {KC__GEN_SCOPE_TYPE, "+kubebuilder:printcolumn:name=x,name=y", "has 'name' twice"},
    {KC__GEN_SCOPE_TYPE, "+kubebuilder:printcolumn:name=x type=y", "requires the argument 'type'"},
    {KC__GEN_SCOPE_TYPE, "+kubebuilder:printcolumn:name=\"x\" type=y",
     "expected ',' before 'type=y'"},
    {KC__GEN_SCOPE_FIELD, "+optional +kubebuilder:validation:Minimum=0",
     "a marker needs a line of its own"},
    {KC__GEN_SCOPE_FIELD, "+optional +nullable", "a marker needs a line of its own"},
    {KC__GEN_SCOPE_TYPE, "+kubebuilder:resource:zzz=x",
     "has no argument 'zzz'; arguments: path, shortName, categories, singular, scope"},
};

static void unknown_marker_is_reported_with_suggestion(void **state)
{
    (void)state;
    for (size_t i = 0; i < KC_COUNT(errors); i++) {
        kc_scoped(kc_arena) arena = {0};
        kc_scoped(kc_error) err = {0};
        kc__gen_marker marker;
        assert_true(kc__gen_marker_parse(kc_cstr(errors[i].line), here, errors[i].scope, &arena,
                                         &marker, &err) < 0);
        assert_error(&err, KC_INVALID, errors[i].error);
    }
}

static void foreign_markers_are_ignored(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "+genclient",           "+k8s:openapi-gen=true",         "+operator-sdk:csv=x", "+union",
        "+patchStrategy=merge", "+kubebuilder:scaffold:imports", "+ a list item",       "+",
    };
    for (size_t i = 0; i < KC_COUNT(lines); i++) {
        kc_scoped(kc_arena) arena = {0};
        kc__gen_marker marker;
        assert_int_equal(kc__gen_marker_parse(kc_cstr(lines[i]), here, KC__GEN_SCOPE_FIELD, &arena,
                                              &marker, NULL),
                         0);
    }
}

static void nesting_is_limited(void **state)
{
    (void)state;
    kc_scoped(kc_arena) arena = {0};
    kc_scoped(kc_error) err = {0};
    kc_scoped(kc_buf) line = {0};
    kc__gen_marker marker;
    kc_buf_puts(&line, "+kubebuilder:default=");
    for (int i = 0; i < 100; i++)
        kc_buf_puts(&line, "{a:");
    assert_true(kc__gen_marker_parse(kc_buf_str(&line), here, KC__GEN_SCOPE_FIELD, &arena, &marker,
                                     &err) < 0);
    assert_error(&err, KC_INVALID, "nested more than");
}

static void at_most_twenty_errors_are_collected(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    for (unsigned i = 1; i <= 30; i++)
        kc__gen_error(&err, (kc__gen_at){"x.h", i, 1}, "wrong");
    assert_contains(kc_error_text(&err), "x.h:1:1: wrong\nx.h:2:1: wrong\n");
    assert_contains(kc_error_text(&err), "x.h:20:1: wrong");
    assert_null(strstr(kc_error_text(&err), "x.h:21"));
}

TESTS(values_are_parsed_by_type, arguments_are_found_by_name, quoted_arguments_are_marked,
      unknown_marker_is_reported_with_suggestion, foreign_markers_are_ignored, nesting_is_limited,
      at_most_twenty_errors_are_collected)
