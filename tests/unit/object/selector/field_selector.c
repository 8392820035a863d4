/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "kc/field_selector.h"

static kc_field_selector *selector_of(const char *text)
{
    kc_scoped(kc_error) err = {0};
    kc_field_selector *selector = kc_field_selector_parse(kc_cstr(text), &err);
    if (!selector)
        fail_msg("%s: %s", text, kc_error_text(&err));
    return selector;
}

static void assert_text(const kc_field_selector *selector, const char *expected)
{
    kc_scoped(kc_buf) text = {0};
    kc_field_selector_write(&text, selector);
    assert_str(kc_buf_str(&text), expected);
}

static void assert_prints(const char *text, const char *expected)
{
    kc_auto(kc_field_selector) *selector = selector_of(text);
    assert_text(selector, expected);
    kc_auto(kc_field_selector) *again = selector_of(expected);
    assert_text(again, expected);
}

static void assert_refused(const char *text, const char *message)
{
    kc_scoped(kc_error) err = {0};
    assert_null(kc_field_selector_parse(kc_cstr(text), &err));
    assert_int_equal(err.reason, KC_BAD_REQUEST);
    assert_string_equal(kc_error_text(&err), message);
}

static kc_fields *pod_fields(void)
{
    static const kc_field_def defs[] = {
        {.field = "status.phase"},
        {.field = "spec.hostNetwork", .otherwise = "false"},
        {.field = "spec.priority"},
        {.field = "image", .path = "spec.containers[0].image"},
    };
    kc_fields *fields = kc_fields_new(defs, KC_COUNT(defs), NULL);
    assert_non_null(fields);
    return fields;
}

static const char pod[] = "{'metadata':{'name':'web','namespace':'prod'},'status':{'phase':'Run'},"
                          "'spec':{'priority':10,'containers':[{'image':'a:1'}]}}";

static bool matches(const char *text)
{
    kc_auto(kc_field_selector) *selector = selector_of(text);
    kc_auto(kc_fields) *fields = pod_fields();
    kc_auto(kc_object) *object = object_of(pod);
    kc_auto(kc_view) *view = view_of(pod);
    bool matched = kc_field_selector_match_value(selector, fields, kc_view_root(view));
    assert_int_equal(kc_field_selector_match_object(selector, fields, object), matched);
    return matched;
}

static void terms_are_sorted_and_printed_with_one_sign(void **state)
{
    (void)state;
    assert_prints("status.phase!=Running,metadata.name==web",
                  "metadata.name=web,status.phase!=Running");
    assert_prints(",b=2,,a=1,", "a=1,b=2");
    assert_prints("a= b ", "a= b ");
    assert_prints("a=", "a=");
    assert_prints("", "");
}

static void escapes_are_decoded(void **state)
{
    (void)state;
    kc_auto(kc_field_selector) *s = selector_of("a=x\\,y\\=z\\\\,b!=\\,");
    size_t n;
    const kc_field_requirement *list = kc_field_selector_requirements(s, &n);
    assert_int_equal(n, 2);
    assert_str(list[0].field, "a");
    assert_str(list[0].value, "x,y=z\\");
    assert_false(list[0].negated);
    assert_str(list[1].value, ",");
    assert_true(list[1].negated);
    assert_text(s, "a=x\\,y\\=z\\\\,b!=\\,");
}

static void invalid_selector_fails_with_message_of_kubernetes(void **state)
{
    (void)state;
    assert_refused("a=1,b", "invalid selector: 'a=1,b'; can't understand 'b'");
    assert_refused("a=b=c", "invalid field selector: unescaped character in value: 61");
    assert_refused("a=\\x", "invalid field selector: invalid escape sequence: \\x");
    assert_refused("a=\\é", "invalid field selector: invalid escape sequence: \\é");
    assert_refused("a=b\\", "invalid field selector: invalid escape sequence: \\");
    kc_scoped(kc_buf) text = {0};
    for (size_t i = 0; i <= KC_FIELD_SELECTOR_MAX_BYTES; i++)
        kc_buf_putc(&text, ',');
    assert_refused(kc_buf_cstr(&text), "a field selector may have at most 1048576 bytes");
}

static void empty_selector_selects_everything(void **state)
{
    (void)state;
    kc_auto(kc_field_selector) *empty = selector_of(""), *sign = selector_of("=");
    assert_true(kc_field_selector_is_everything(empty));
    assert_true(kc_field_selector_is_everything(sign));
    assert_true(kc_field_selector_is_everything(NULL));
    assert_true(kc_field_selector_match_value(empty, NULL, NULL));
    assert_true(kc_field_selector_match_value(NULL, NULL, NULL));
}

static void exact_requirement_is_found(void **state)
{
    (void)state;
    kc_auto(kc_field_selector) *s = selector_of("metadata.name!=x,metadata.name=web,a!=b");
    kc_str value = KC_STR("untouched");
    assert_false(kc_field_selector_exact(s, KC_STR("a"), &value));
    assert_false(kc_field_selector_exact(s, KC_STR("b"), &value));
    assert_false(kc_field_selector_exact(NULL, KC_STR("b"), &value));
    assert_str(value, "untouched");
    assert_true(kc_field_selector_exact(s, KC_STR("metadata.name"), &value));
    assert_str(value, "web");
}

static void field_values_are_found_by_path(void **state)
{
    (void)state;
    assert_true(matches("metadata.name=web,metadata.namespace=prod"));
    assert_false(matches("metadata.name=db"));
    assert_true(matches("status.phase=Run,metadata.name!=db"));
    assert_false(matches("status.phase!=Run"));
    assert_true(matches("image=a:1"));
    assert_true(matches("spec.priority=10"));
    assert_false(matches("spec.priority=1"));
}

static void absent_field_has_its_default(void **state)
{
    (void)state;
    assert_true(matches("spec.hostNetwork=false"));
    assert_false(matches("spec.hostNetwork=true"));
    kc_auto(kc_fields) *fields = pod_fields();
    kc_auto(kc_view) *view = view_of("{'spec':{'hostNetwork':true,'priority':null},'status':[]}");
    kc_scoped(kc_buf) scratch = {0};
    const kc_value *root = kc_view_root(view);
    assert_str(kc_fields_value(fields, root, KC_STR("spec.hostNetwork"), &scratch), "true");
    assert_str(kc_fields_value(fields, root, KC_STR("spec.priority"), &scratch), "");
    assert_str(kc_fields_value(fields, root, KC_STR("status.phase"), &scratch), "");
    assert_str(kc_fields_value(fields, root, KC_STR("unknown"), &scratch), "");
}

static void fields_outside_of_table_fail(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_fields) *fields = pod_fields();
    kc_auto(kc_field_selector) *good = selector_of("metadata.namespace=a,status.phase!=b");
    kc_auto(kc_field_selector) *bad = selector_of("metadata.name=a,spec.nope=b");
    assert_int_equal(kc_fields_check(fields, good, &err), 0);
    assert_int_equal(kc_fields_check(fields, NULL, &err), 0);
    assert_true(kc_fields_check(fields, bad, &err) < 0);
    assert_int_equal(err.code, 400);
    assert_string_equal(kc_error_text(&err), "field label not supported: spec.nope");
}

static void table_with_invalid_path_fails(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    kc_field_def def = {.field = "x", .path = "a..b"};
    assert_null(kc_fields_new(&def, 1, &err));
    assert_error(&err, KC_BAD_REQUEST, "selectable field x: path 'a..b'");
}

static int rename_nodes(kc_str field, kc_str value, kc_str *ret_field, kc_str *ret_value,
                        kc_error *err, void *user)
{
    (void)value;
    ++*(int *)user;
    if (kc_str_is(field, "spec.host"))
        *ret_field = KC_STR("spec.nodeName");
    if (kc_str_is(field, "any"))
        *ret_field = *ret_value = (kc_str){0};
    if (kc_str_is(field, "bad"))
        return kc_error_set(err, KC_BAD_REQUEST, "field label not supported: %.*s", KC_ARG(field));
    return 0;
}

static void transformation_renames_drops_and_rejects(void **state)
{
    (void)state;
    int calls = 0;
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_field_selector) *s = selector_of("spec.host!=n1,any=thing,a=b");
    kc_auto(kc_field_selector) *changed =
        kc_field_selector_transform(s, rename_nodes, &calls, &err);
    assert_text(changed, "a=b,spec.nodeName!=n1");
    assert_int_equal(calls, 3);
    kc_auto(kc_field_selector) *bad = selector_of("bad=1");
    assert_null(kc_field_selector_transform(bad, rename_nodes, &calls, &err));
    assert_error(&err, KC_BAD_REQUEST, "field label not supported: bad");
}

static kc_str field_of_a_pod(kc_str field, void *user)
{
    (void)user;
    return kc_str_is(field, "kind") ? KC_STR("Pod") : KC_STR("");
}

static void values_may_come_from_a_callback(void **state)
{
    (void)state;
    kc_auto(kc_field_selector) *yes = selector_of("kind=Pod,none="), *no = selector_of("kind!=Pod");
    assert_true(kc_field_selector_match(yes, field_of_a_pod, NULL));
    assert_false(kc_field_selector_match(no, field_of_a_pod, NULL));
}

TESTS(terms_are_sorted_and_printed_with_one_sign, escapes_are_decoded,
      invalid_selector_fails_with_message_of_kubernetes, empty_selector_selects_everything,
      exact_requirement_is_found, field_values_are_found_by_path, absent_field_has_its_default,
      fields_outside_of_table_fail, table_with_invalid_path_fails,
      transformation_renames_drops_and_rejects, values_may_come_from_a_callback)
