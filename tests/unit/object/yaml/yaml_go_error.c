/* SPDX-License-Identifier: Apache-2.0 */
/* yaml_go_error.c: the words of Kubernetes' YAML decoder. */
#include "object/yaml/yaml_go_error.h"

#include "testing.h"

static void assert_go_error(const char *yaml, const char *text)
{
    kc_scoped(kc_buf) out = {0};
    kc__yaml_go_error(&out, kc_cstr(yaml));
    assert_string_equal(kc_buf_cstr(&out), text);
}

static void syntax_error_has_line_of_go_library(void **state)
{
    (void)state;
    assert_go_error("a: [", "yaml: line 1: did not find expected node content");
    assert_go_error("{a: b", "yaml: line 1: did not find expected ',' or '}'");
    assert_go_error("a: b\nc:\n\td: e\n",
                    "yaml: line 3: found character that cannot start any token");
    assert_go_error("a: b: c\n", "yaml: mapping values are not allowed in this context");
    assert_go_error("a:\n  b: 1\n c: 2\n", "yaml: line 2: did not find expected key");
    assert_go_error("a: \"x", "yaml: found unexpected end of stream");
}

static void alias_errors_name_the_anchor(void **state)
{
    (void)state;
    assert_go_error("a: *nowhere\n", "yaml: unknown anchor 'nowhere' referenced");
    assert_go_error("a: &x\n  b: *x\n", "yaml: anchor 'x' value contains itself");
    /* The syntax of the whole document is checked first. */
    assert_go_error("a: &x\n  b: *x\nc: [\n", "yaml: line 3: did not find expected node content");
}

static void collection_as_key_is_printed_in_go_syntax(void **state)
{
    (void)state;
    assert_go_error("? [a, b]\n: c\n", "yaml: invalid map key: []interface {}{\"a\", \"b\"}");
    assert_go_error(
        "a: {{ value }}\n",
        "yaml: invalid map key: map[interface {}]interface {}{\"value\":interface {}(nil)}");
    assert_go_error("? [1, true, 1.5, ~]\n: c\n",
                    "yaml: invalid map key: []interface {}{1, true, 1.5, interface {}(nil)}");
}

static void null_as_key_is_printed_with_its_value(void **state)
{
    (void)state;
    assert_go_error("null: d\n",
                    "unsupported map key of type: %!s(<nil>), key: <nil>, value: \"d\"");
    assert_go_error("~: \n", "unsupported map key of type: %!s(<nil>), key: <nil>, value: <nil>");
    assert_go_error("a: .inf\n~: 1\n",
                    "unsupported map key of type: %!s(<nil>), key: <nil>, value: 1");
}

static void numbers_that_json_lacks_are_named(void **state)
{
    (void)state;
    assert_go_error("a: .inf\n", "json: unsupported value: +Inf");
    assert_go_error("a: [1, -.inf]\n", "json: unsupported value: -Inf");
    assert_go_error("a: .nan\n", "json: unsupported value: NaN");
}

static void merge_of_a_scalar_is_an_error(void **state)
{
    (void)state;
    assert_go_error("<<: 1\n", "yaml: map merge requires map or sequence of maps as the value");
    assert_go_error("<<: [1]\n", "yaml: map merge requires map or sequence of maps as the value");
}

static void tag_that_does_not_fit_is_an_error(void **state)
{
    (void)state;
    assert_go_error("a: !!int x\n", "yaml: cannot decode !!str `x` as a !!int");
    assert_go_error("a: !!bool 1.5\n", "yaml: cannot decode !!float `1.5` as a !!bool");
}

static void valid_text_has_no_error(void **state)
{
    (void)state;
    assert_go_error("", "");
    assert_go_error("a: &x {b: [1, ~]}\nc: *x\n---\nd: [\n", "");
}

TESTS(syntax_error_has_line_of_go_library, alias_errors_name_the_anchor,
      collection_as_key_is_printed_in_go_syntax, null_as_key_is_printed_with_its_value,
      numbers_that_json_lacks_are_named, merge_of_a_scalar_is_an_error,
      tag_that_does_not_fit_is_an_error, valid_text_has_no_error)
