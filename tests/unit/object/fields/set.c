/* SPDX-License-Identifier: Apache-2.0 */
/*
 * set.c: sets of fields: FieldsV1, order, algebra, paths as messages show them. In JSON of this
 * file ' stands for ".
 */
#include "object/fields/fields_set.h"
#include "testing.h"

static kc_arena arena;

static char *quoted(const char *text)
{
    char *copy = kc_arena_strndup(&arena, text, strlen(text));
    for (char *p = copy; *p; p++)
        if (*p == '\'')
            *p = '"';
    return copy;
}

static const kc__fields_set *set_of(const char *json)
{
    const kc__fields_set *set = NULL;
    kc_scoped(kc_error) err = {0};
    if (kc__fields_v1_read(&arena, kc_cstr(quoted(json)), &set, NULL, &err) < 0)
        fail_msg("%s: %s", json, kc_error_text(&err));
    return set;
}

#define assert_set(set, json) check_set(set, json, __FILE__, __LINE__)
static void check_set(const kc__fields_set *set, const char *json, const char *file, int line)
{
    kc_scoped(kc_buf) text = {0};
    kc__fields_v1_write(&text, set);
    kc__assert_str(kc_buf_str(&text), quoted(json), file, line);
}

static bool add_line(const kc__fields_path *path, void *user)
{
    kc_buf *out = user;
    kc__fields_path_print(out, path);
    kc_buf_putc(out, '\n');
    return true;
}

#define assert_paths(json, lines)                            \
    do {                                                     \
        kc_scoped(kc_buf) text_ = {0};                       \
        kc__fields_set_each(set_of(json), add_line, &text_); \
        assert_str(kc_buf_str(&text_), lines);               \
    } while (0)

static void fields_v1_is_written_sorted_and_compact(void **state)
{
    (void)state;
    assert_set(set_of("{'f:b':{},'f:a':{'f:y':{},'.':{}}}"), "{'f:a':{'.':{},'f:y':{}},'f:b':{}}");
    assert_set(set_of(" { 'f:a' : null , 'f:b' : { } } "), "{'f:a':{},'f:b':{}}");
    assert_set(set_of("{}"), "{}");
    assert_set(set_of("null"), "{}");
}

static void elements_are_sorted_by_kind_then_value(void **state)
{
    (void)state;
    assert_set(
        set_of(
            "{'i:10':{},'i:2':{},'v:true':{},'v:\\'x\\'':{},'v:10':{},'v:9':{},'k:{\\'a\\':1}':{},'f:z':{}}"),
        "{'f:z':{},'k:{\\'a\\':1}':{},'v:9':{},'v:10':{},'v:\\'x\\'':{},'v:true':{},'i:2':{},'i:10':{}}");
    assert_set(set_of("{'k:{\\'b\\':1,\\'a\\':\\'x\\'}':{},'k:{\\'a\\':\\'x\\'}':{}}"),
               "{'k:{\\'a\\':\\'x\\'}':{},'k:{\\'a\\':\\'x\\',\\'b\\':1}':{}}");
    assert_set(set_of("{'f:longer-nameX':{},'f:longer-name':{},'f:longer-nam':{}}"),
               "{'f:longer-nam':{},'f:longer-name':{},'f:longer-nameX':{}}");
    assert_set(
        set_of(
            "{'k:{\\'n\\':\\'stage-9\\'}':{},'k:{\\'n\\':\\'stage-10b\\'}':{},'k:{\\'n\\':"
            "\\'stage-1\\'}':{},'k:{\\'n\\':\\'stage-10\\'}':{},'k:{\\'n\\':\\'stage-10a\\'}':{},"
            "'k:{\\'n\\':\\'é\\'}':{},'k:{\\'n\\':\\'\\'}':{}}"),
        "{'k:{\\'n\\':\\'\\'}':{},'k:{\\'n\\':\\'stage-1\\'}':{},'k:{\\'n\\':\\'stage-10\\'}':"
        "{},'k:{\\'n\\':\\'stage-10a\\'}':{},'k:{\\'n\\':\\'stage-10b\\'}':{},'k:{\\'n\\':"
        "\\'stage-9\\'}':{},'k:{\\'n\\':\\'é\\'}':{}}");
}

static void set_that_entries_share_is_written_below_each(void **state)
{
    (void)state;
    kc_scoped(kc__fields_builder) builder = {.arena = &arena};
    kc__fields_builder_add(&builder, kc__fields_name(KC_STR("x")), true, NULL);
    const kc__fields_set *shared = kc__fields_builder_close(&builder, 0);
    kc__fields_builder_add(&builder, kc__fields_name(KC_STR("a")), true, shared);
    kc__fields_builder_add(&builder, kc__fields_name(KC_STR("b")), false, shared);
    kc__fields_builder_add(&builder, kc__fields_name(KC_STR("c")), true, NULL);
    kc__fields_builder_add(&builder, kc__fields_name(KC_STR("d")), false, shared);
    kc__fields_builder_add(&builder, kc__fields_name(KC_STR("e")), true, shared);
    assert_set(kc__fields_builder_close(&builder, 0),
               "{'f:a':{'.':{},'f:x':{}},'f:b':{'f:x':{}},'f:c':{},'f:d':{'f:x':{}},"
               "'f:e':{'.':{},'f:x':{}}}");
}

static void members_of_unknown_kinds_are_ignored(void **state)
{
    (void)state;
    assert_set(set_of("{'f:a':{},'x:later':{'any':[1,{'thing':'}'}]},'f:b':{'y:only':{}}}"),
               "{'f:a':{},'f:b':{}}");
}

static void equal_members_are_united_and_the_last_child_counts(void **state)
{
    (void)state;
    assert_set(set_of("{'f:a':{'f:x':{}},'f:a':{'f:y':{}},'f:a':{}}"), "{'f:a':{'.':{},'f:y':{}}}");
    assert_set(set_of("{'v:1':{},'v:1.0':{}}"), "{'v:1':{}}");
}

static void invalid_fields_v1_is_refused(void **state)
{
    (void)state;
    static const char *const wrong[] = {"",
                                        "[]",
                                        "{",
                                        "{'f:a'}",
                                        "{'f:a':1}",
                                        "{'a':{}}",
                                        "{'a:':",
                                        "{'i:x':{}}",
                                        "{'v:':{}}",
                                        "{'k:1':{}}",
                                        "{'f:a':{}}}",
                                        "{'f':{}}",
                                        "{'f:a':{},}",
                                        "{'noColon':{}}"};
    for (size_t i = 0; i < KC_COUNT(wrong); i++) {
        const kc__fields_set *set;
        kc_scoped(kc_error) err = {0};
        if (kc__fields_v1_read(&arena, kc_cstr(quoted(wrong[i])), &set, NULL, &err) == 0)
            fail_msg("accepted: %s", wrong[i]);
        assert_int_equal(err.reason, KC_BAD_REQUEST);
    }
}

static void depth_beyond_the_limit_is_refused(void **state)
{
    (void)state;
    kc_scoped(kc_buf) text = {0};
    const kc__fields_set *set;
    for (unsigned i = 0; i <= KC_JSON_MAX_DEPTH; i++)
        kc_buf_puts(&text, "{\"f:a\":");
    kc_scoped(kc_error) err = {0};
    assert_true(kc__fields_v1_read(&arena, kc_buf_str(&text), &set, NULL, &err) < 0);
    assert_error(&err, KC_BAD_REQUEST, "exceeded max depth");
}

static void canonical_text_is_recognized(void **state)
{
    (void)state;
    static const struct {
        const char *json;
        bool canonical;
    } cases[] = {{"{'f:a':{'.':{},'f:x':{}},'k:{\\'n\\':80}':{}}", true},
                 {"{}", true},
                 {"{'f:b':{},'f:a':{}}", false},
                 {"{'f:a':{'f:x':{},'.':{}}}", false},
                 {"{'f:a':{'.':{}}}", false},
                 {"{'f:a':null}", false},
                 {"{'x:a':{}}", false},
                 {"{ 'f:a':{}}", false},
                 {"{'k:{\\'n\\':80.0}':{}}", false},
                 {"{'v:\\'<\\'':{}}", false}};
    for (size_t i = 0; i < KC_COUNT(cases); i++) {
        const kc__fields_set *set;
        bool canonical = !cases[i].canonical;
        assert_int_equal(
            kc__fields_v1_read(&arena, kc_cstr(quoted(cases[i].json)), &set, &canonical, NULL), 0);
        if (canonical != cases[i].canonical)
            fail_msg("%s", cases[i].json);
    }
}

static void values_in_names_are_escaped_as_upstream_does(void **state)
{
    (void)state;
    assert_set(set_of("{'v:\\'a<b>&\\'':{},'f:a<b':{}}"),
               "{'f:a<b':{},'v:\\'a\\\\u003cb\\\\u003e\\\\u0026\\'':{}}");
    assert_set(set_of("{'v:1e-7':{},'v:1e21':{},'v:9007199254740993':{}}"),
               "{'v:1e-07':{},'v:9007199254740992':{},'v:1e+21':{}}");
}

static void paths_are_printed_members_first(void **state)
{
    (void)state;
    assert_paths(
        "{'f:spec':{'f:containers':{'k:{\\'name\\':\\'x\\'}':{'.':{},'f:image':{}}},'f:z':{}},'f:a':{}}",
        ".a\n.spec.z\n.spec.containers[name=\"x\"]\n.spec.containers[name=\"x\"].image\n");
    assert_paths("{'k:{\\'b\\':true,\\'a\\':1.5}':{},'v:\\'q\\\\\\'\\'':{},'i:3':{}}",
                 "[a=1.5,b=true]\n[=\"q\\\"\"]\n[3]\n");
}

static void algebra_works_path_by_path(void **state)
{
    (void)state;
    const kc__fields_set *a = set_of("{'f:a':{'.':{},'f:x':{},'f:y':{}},'f:b':{}}");
    const kc__fields_set *b = set_of("{'f:a':{'f:x':{}},'f:b':{'f:z':{}},'f:c':{}}");
    assert_set(kc__fields_set_union(&arena, a, b),
               "{'f:a':{'.':{},'f:x':{},'f:y':{}},'f:b':{'.':{},'f:z':{}},'f:c':{}}");
    assert_set(kc__fields_set_intersection(&arena, a, b), "{'f:a':{'f:x':{}}}");
    assert_set(kc__fields_set_difference(&arena, a, b), "{'f:a':{'.':{},'f:y':{}},'f:b':{}}");
    assert_set(kc__fields_set_difference(&arena, b, a), "{'f:b':{'f:z':{}},'f:c':{}}");
    assert_set(kc__fields_set_difference_below(&arena, b, a), "{'f:c':{}}");
    assert_set(kc__fields_set_leaves(&arena, a), "{'f:a':{'f:x':{},'f:y':{}},'f:b':{}}");
    assert_false(kc__fields_set_within(b, a));
    assert_true(kc__fields_set_within(set_of("{'f:a':{'f:y':{}}}"), a));
    assert_int_equal(kc__fields_set_count(a), 4);
}

static void unchanged_results_are_the_operand_itself(void **state)
{
    (void)state;
    const kc__fields_set *a = set_of("{'f:a':{'f:x':{}},'f:b':{}}"), *b = set_of("{'f:z':{}}");
    assert_ptr_equal(kc__fields_set_difference(&arena, a, b), a);
    assert_ptr_equal(kc__fields_set_difference_below(&arena, a, b), a);
    assert_ptr_equal(kc__fields_set_union(&arena, a, set_of("{'f:a':{'f:x':{}}}")), a);
    assert_ptr_equal(kc__fields_set_union(&arena, a, NULL), a);
    assert_null(kc__fields_set_intersection(&arena, a, b));
}

static void many_sets_unite_to_the_same_set_in_any_order(void **state)
{
    (void)state;
    enum { N = 37 };
    const kc__fields_set *sets[N], *expected = NULL;
    for (int i = 0; i < N; i++) {
        sets[i] = set_of(kc_arena_printf(&arena, "{'f:%d':{},'f:x':{'f:%d':{}}}", i * 7 % N, i));
        expected = kc__fields_set_union(&arena, expected, sets[i]);
    }
    assert_true(kc__fields_set_equal(kc__fields_set_union_all(&arena, sets, N), expected));
    assert_null(kc__fields_set_union_all(&arena, sets, 0));
}

static void patterns_keep_matching_paths_and_all_below_them(void **state)
{
    (void)state;
    static const char *const patterns[] = {"spec.containers.*.resources",
                                           "spec.containers.*.policy"};
    const kc__fields_set *set = set_of(
        "{'f:metadata':{'f:labels':{}},'f:spec':{'.':{},'f:replicas':{},'f:containers':{'k:{\\'name\\':\\'x\\'}':"
        "{'.':{},'f:image':{},'f:resources':{'f:limits':{'f:cpu':{}}}},'k:{\\'name\\':\\'y\\'}':{'f:image':{}}}}}");
    assert_set(
        kc__fields_set_only(&arena, set, patterns, 2),
        "{'f:spec':{'.':{},'f:containers':{'k:{\\'name\\':\\'x\\'}':{'.':{},'f:resources':{'f:limits':{'f:cpu':{}}}}}}}");
    assert_null(kc__fields_set_only(&arena, set, patterns, 0));
}

static void a_set_of_a_path_has_only_that_path(void **state)
{
    (void)state;
    kc__fields_element path[] = {kc__fields_name(KC_STR("spec")), kc__fields_index(-1)};
    const kc__fields_set *set = kc__fields_set_of_path(&arena, path, 2);
    assert_set(set, "{'f:spec':{'i:-1':{}}}");
    assert_true(kc__fields_set_has(set, path, 2));
    assert_false(kc__fields_set_has(set, path, 1));
    assert_false(kc__fields_set_has(set, path, 0));
}

/* A client chooses the order and the number of members. */
static void a_large_unsorted_level_is_sorted(void **state)
{
    (void)state;
    enum { N = 20000 };
    kc_scoped(kc__fields_builder) builder = {.arena = &arena};
    for (uint32_t i = 0; i < N; i++)
        kc__fields_builder_add(&builder, kc__fields_index((int64_t)(i * 7919 % N)), true, NULL);
    const kc__fields_set *set = kc__fields_builder_close(&builder, 0);
    assert_int_equal(set->n, N);
    for (uint32_t i = 1; i < N; i++)
        assert_true(kc__fields_element_cmp(&set->entries[i - 1].element, &set->entries[i].element) <
                    0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {KC__EACH(
        cmocka_unit_test, fields_v1_is_written_sorted_and_compact,
        elements_are_sorted_by_kind_then_value, set_that_entries_share_is_written_below_each,
        members_of_unknown_kinds_are_ignored, equal_members_are_united_and_the_last_child_counts,
        invalid_fields_v1_is_refused, depth_beyond_the_limit_is_refused,
        canonical_text_is_recognized, values_in_names_are_escaped_as_upstream_does,
        paths_are_printed_members_first, algebra_works_path_by_path,
        unchanged_results_are_the_operand_itself, many_sets_unite_to_the_same_set_in_any_order,
        patterns_keep_matching_paths_and_all_below_them, a_set_of_a_path_has_only_that_path,
        a_large_unsorted_level_is_sorted)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    kc_arena_done(&arena);
    return failed;
}
