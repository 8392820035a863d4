/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strategic_make.c: the difference of two objects, as a strategic merge patch.
 *
 *     from    {"replicas": 1, "paused": true, "ports": [{"port": 80}, {"port": 81}]}
 *     to      {"replicas": 2, "ports": [{"port": 80, "name": "http"}]}
 *     patch   {"replicas": 2,
 *              "$setElementOrder/ports": [{"port": 80}],
 *              "ports": [{"name": "http", "port": 80}, {"port": 81, "$patch": "delete"}],
 *              "paused": null}
 *
 * Members are matched by name and compared; objects are compared member by member again, unless the
 * schema wants them replaced; lists are the business of strategic_make_list.c. `want` says which
 * parts of the difference are needed: three-way patches are put together from partial ones.
 */
#include "object/strategic_internal.h"

static kc_node *copy(kc__smp *s, const kc_value *value)
{
    return kc_node_copy(s->edit, value);
}

/* Both are objects. */
static int diff_objects(kc__smp *s, kc_node *patch, kc_str name, const kc_value *from,
                        const kc_value *to, const kc_patch_field *field, unsigned want)
{
    if (field->replace) {
        if ((want & KC__WANT_CHANGES) && !kc_value_equal(from, to, NULL))
            kc_node_add(s->edit, patch, name, copy(s, to));
        return 0;
    }
    want = field->retain_keys ? want | KC__WANT_KEYS : want & ~(unsigned)KC__WANT_KEYS;
    kc_node *part = kc__smp_diff(s, from, to, field->object, want);
    if (!part)
        return -(int)KC_BAD_REQUEST;
    if (kc_node_len(part))
        kc_node_add(s->edit, patch, name, part);
    return 0;
}

/* Both are containers of one type. */
static int diff_containers(kc__smp *s, kc_node *patch, kc_str name, const kc_value *from,
                           const kc_value *to, const void *node, unsigned want)
{
    kc_patch_field field;
    if (!kc__smp_knows(s, node, name, &field)) /* What did not change may be unknown. */
        return kc_value_equal(from, to, NULL) ? 0 : kc__smp_field(s, node, name, &field);
    return kc_type_of(to) == KC_OBJECT ? diff_objects(s, patch, name, from, to, &field, want)
                                       : kc__smp_diff_list(s, patch, name, from, to, &field, want);
}

/* A directive that stands in both objects, which therefore are patches themselves. */
static int diff_directive(kc__smp *s, kc_node *patch, const kc_value *from, const kc_value *to)
{
    if (kc_type_of(from) != KC_STRING || kc_type_of(to) != KC_STRING)
        return kc_error_set(s->err, KC_BAD_REQUEST, "invalid value for special key: " KC__PATCH);
    if (!kc_value_equal(from, to, NULL))
        kc_node_add(s->edit, patch, KC_STR(KC__PATCH), copy(s, to));
    return 0;
}

static int diff_member(kc__smp *s, kc_node *patch, kc_str name, const kc_value *from,
                       const kc_value *to, const void *node, unsigned want)
{
    kc_type type = kc_type_of(to);
    if (from && kc_str_is(name, KC__PATCH))
        return diff_directive(s, patch, from, to);
    if (kc_type_of(from) == type && (type == KC_OBJECT || type == KC_ARRAY))
        return diff_containers(s, patch, name, from, to, node, want);
    if ((want & KC__WANT_CHANGES) && !(from && kc_value_equal(from, to, NULL)))
        kc_node_add(s->edit, patch, name, copy(s, to));
    return 0;
}

/* Nulls for members that are gone. Says whether one of them had a value. */
static bool add_removals(kc__smp *s, kc_node *patch, const kc_value *from, const kc_value *to,
                         unsigned want)
{
    bool any = false;
    kc__members in_to = {.object = to};
    kc_members (from, name, value) {
        if (kc__members_find(&in_to, name))
            continue;
        any = any || kc_type_of(value) != KC_NULL;
        if (want & KC__WANT_REMOVALS)
            kc_node_add(s->edit, patch, name, kc_node_null(s->edit));
    }
    kc__members_done(&in_to);
    return any;
}

/* "$retainKeys": the names of all members that have a value, sorted. */
static void add_retain_keys(kc__smp *s, kc_node *patch, const kc_value *to)
{
    kc__keys names = {0};
    kc_members (to, name, value)
        if (kc_type_of(value) != KC_NULL)
            kc_vec_push(&names, name);
    kc_vec_sort(&names, kc_str_compare);
    kc_node *list = kc_node_array(s->edit);
    kc_vec_each (&names, name)
        kc_node_append(list, kc_node_str(s->edit, *name));
    if (names.n)
        kc_node_add(s->edit, patch, KC_STR(KC__RETAIN_KEYS), list);
    kc_vec_done(&names);
}

kc_node *kc__smp_diff(kc__smp *s, const kc_value *from, const kc_value *to, const void *node,
                      unsigned want)
{
    kc_node *patch = kc_node_object(s->edit);
    kc__members in_from = {.object = from};
    int failed = 0;
    kc_members (to, name, value) {
        failed = diff_member(s, patch, name, kc__members_find(&in_from, name), value, node, want);
        if (failed < 0)
            break;
    }
    kc__members_done(&in_from);
    if (failed < 0)
        return NULL;
    bool any_removed = add_removals(s, patch, from, to, want);
    if ((want & KC__WANT_KEYS) && (kc_node_len(patch) || any_removed))
        add_retain_keys(s, patch, to);
    return patch;
}

static int check_input(const kc_value *value, kc_error *err)
{
    if (!value || kc_type_of(value) == KC_OBJECT)
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
    kc__smp s = {.edit = edit, .schema = schema, .err = err};
    kc_node *patch = kc__smp_diff(&s, from, to, schema->root,
                                  KC__WANT_CHANGES | KC__WANT_REMOVALS | KC__WANT_ORDER);
    kc_arena_done(&s.scratch);
    if (!patch || kc__check_unchanged(patch, opts ? opts->unchanged : NULL, err) < 0)
        return NULL;
    kc_edit_set_root(edit, patch);
    return kc_take(edit);
}
