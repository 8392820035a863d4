/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strategic_make.c: creates the difference of two objects as a strategic merge patch.
 *
 *     from    {"replicas": 1, "paused": true, "ports": [{"port": 80}, {"port": 81}]}
 *     to      {"replicas": 2, "ports": [{"port": 80, "name": "http"}]}
 *     patch   {"replicas": 2,
 *              "$setElementOrder/ports": [{"port": 80}],
 *              "ports": [{"name": "http", "port": 80}, {"port": 81, "$patch": "delete"}],
 *              "paused": null}
 *
 * Members are matched by name and compared; objects recursively, unless the schema replaces them;
 * strategic_make_list.c compares lists. `want` selects the parts of the difference: three-way
 * patches are composed of partial ones.
 */
#include "object/patch/strategic_internal.h"

static kc_node *strategic_make_copy(kc__strategic_patcher *s, const kc_value *value)
{
    return kc_node_from_value(s->edit, value);
}

/* Both are objects. */
static int strategic_make_diff_objects(kc__strategic_patcher *s, kc_node *patch, kc_str name,
                                       const kc_value *from, const kc_value *to,
                                       const kc_patch_field *field, unsigned want)
{
    if (field->replace) {
        if ((want & KC__STRATEGIC_WANT_CHANGES) && !kc_value_equal(from, to, NULL))
            kc_node_add(s->edit, patch, name, strategic_make_copy(s, to));
        return 0;
    }
    want = field->retain_keys ? want | KC__STRATEGIC_WANT_KEYS
                              : want & ~(unsigned)KC__STRATEGIC_WANT_KEYS;
    kc_node *part = kc__strategic_diff(s, from, to, field->object, want);
    if (!part)
        return kc_error_result(s->err);
    if (kc_node_len(part))
        kc_node_add(s->edit, patch, name, part);
    return 0;
}

/* Both are containers of one type. */
static int diff_containers(kc__strategic_patcher *s, kc_node *patch, kc_str name,
                           const kc_value *from, const kc_value *to, const void *node,
                           unsigned want)
{
    kc_patch_field field;
    if (!kc__strategic_knows(s, node, name,
                             &field)) /* An unchanged member may be unknown to the schema. */
        return kc_value_equal(from, to, NULL) ? 0 : kc__strategic_field(s, node, name, &field);
    return kc_value_type(to) == KC_JSON_OBJECT
               ? strategic_make_diff_objects(s, patch, name, from, to, &field, want)
               : kc__strategic_diff_list(s, patch, name, from, to, &field, want);
}

/* A directive in both objects, which therefore are patches themselves. */
static int diff_directive(kc__strategic_patcher *s, kc_node *patch, const kc_value *from,
                          const kc_value *to)
{
    if (kc_value_type(from) != KC_JSON_STRING || kc_value_type(to) != KC_JSON_STRING)
        return kc_error_set(s->err, KC_BAD_REQUEST,
                            "invalid value for special key: " KC__STRATEGIC_PATCH);
    if (!kc_value_equal(from, to, NULL))
        kc_node_add(s->edit, patch, KC_STR(KC__STRATEGIC_PATCH), strategic_make_copy(s, to));
    return 0;
}

static int diff_member(kc__strategic_patcher *s, kc_node *patch, kc_str name, const kc_value *from,
                       const kc_value *to, const void *node, unsigned want)
{
    kc_json_type type = kc_value_type(to);
    if (from && kc_str_is(name, KC__STRATEGIC_PATCH))
        return diff_directive(s, patch, from, to);
    if (kc_value_type(from) == type && (type == KC_JSON_OBJECT || type == KC_JSON_ARRAY))
        return diff_containers(s, patch, name, from, to, node, want);
    if ((want & KC__STRATEGIC_WANT_CHANGES) && !(from && kc_value_equal(from, to, NULL)))
        kc_node_add(s->edit, patch, name, strategic_make_copy(s, to));
    return 0;
}

/* Adds nulls for removed members. Returns whether one of them had a value. */
static bool add_removals(kc__strategic_patcher *s, kc_node *patch, const kc_value *from,
                         const kc_value *to, unsigned want)
{
    bool any = false;
    kc__value_members in_to = {.object = to};
    kc_value_each_member (from, name, value) {
        if (kc__value_members_find(&in_to, name))
            continue;
        any = any || kc_value_type(value) != KC_JSON_NULL;
        if (want & KC__STRATEGIC_WANT_REMOVALS)
            kc_node_add(s->edit, patch, name, kc_node_null(s->edit));
    }
    kc__value_members_done(&in_to);
    return any;
}

/* "$retainKeys": the names of all members with a value, sorted. */
static void add_retain_keys(kc__strategic_patcher *s, kc_node *patch, const kc_value *to)
{
    kc__strategic_key_vec names = {0};
    kc_value_each_member (to, name, value)
        if (kc_value_type(value) != KC_JSON_NULL)
            kc_vec_push(&names, name);
    kc_vec_sort(&names, kc_str_compare);
    kc_node *list = kc_node_array(s->edit);
    kc_vec_each (&names, name)
        kc_node_append(list, kc_node_str(s->edit, *name));
    if (names.n)
        kc_node_add(s->edit, patch, KC_STR(KC__STRATEGIC_RETAIN_KEYS), list);
    kc_vec_done(&names);
}

kc_node *kc__strategic_diff(kc__strategic_patcher *s, const kc_value *from, const kc_value *to,
                            const void *node, unsigned want)
{
    kc_node *patch = kc_node_object(s->edit);
    kc__value_members in_from = {.object = from};
    int failed = 0;
    kc_value_each_member (to, name, value) {
        failed =
            diff_member(s, patch, name, kc__value_members_find(&in_from, name), value, node, want);
        if (failed < 0)
            break;
    }
    kc__value_members_done(&in_from);
    if (failed < 0)
        return NULL;
    bool any_removed = add_removals(s, patch, from, to, want);
    if ((want & KC__STRATEGIC_WANT_KEYS) && (kc_node_len(patch) || any_removed))
        add_retain_keys(s, patch, to);
    return patch;
}

static int check_input(const kc_value *value, kc_error *err)
{
    if (!value || kc_value_type(value) == KC_JSON_OBJECT)
        return 0;
    return kc_error_set(err, KC_BAD_REQUEST, "invalid JSON document");
}

kc_edit *kc_strategic_patch_make(const kc_value *from, const kc_value *to,
                                 const kc_patch_schema *schema, const kc_strategic_patch_opts *opts,
                                 kc_error *err)
{
    if (check_input(from, err) < 0 || check_input(to, err) < 0)
        return NULL;
    kc_auto(kc_edit) *edit = kc_edit_new();
    kc__strategic_patcher s = {.edit = edit, .schema = schema, .err = err};
    kc_node *patch = kc__strategic_diff(&s, from, to, schema->root,
                                        KC__STRATEGIC_WANT_CHANGES | KC__STRATEGIC_WANT_REMOVALS |
                                            KC__STRATEGIC_WANT_ORDER);
    kc_arena_done(&s.scratch);
    if (!patch || kc__patch_check_unchanged(patch, opts ? opts->unchanged : NULL, err) < 0)
        return NULL;
    kc_edit_set_root(edit, patch);
    return kc_take(edit);
}
