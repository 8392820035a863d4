/* SPDX-License-Identifier: Apache-2.0 */
/*
 * merge_patch_make.c: making JSON merge patches, two-way and three-way.
 *
 * Two-way, the difference of two objects:
 *
 *     {"a": 1, "b": {"x": 1, "y": 1}}
 *     {"b": {"x": 2, "y": 1}, "c": 3}          {"b": {"x": 2}, "c": 3, "a": null}
 *
 * Three-way is made of two differences: of the one from current to modified what adds and changes,
 * of the one from original to modified what removes. Both speak of the members of `modified`, so
 * they never contradict each other and the first is merged over the second.
 */
#include "object/patch_internal.h"

#include "kc/merge_patch.h"

/* What a difference holds. */
typedef enum want { EVERYTHING, CHANGES, REMOVALS } want;

typedef struct maker {
    kc_edit *edit;
    want want;
} maker;

static kc_node *diff(maker *m, const kc_value *from, const kc_value *to);

/*
 * A new value as part of a patch, or NULL when nothing of it is wanted. Null members in it remove
 * nothing that was there: they are kept in a two-way patch as they came, and count as removals in a
 * three-way one.
 */
static kc_node *new_value(maker *m, const kc_value *value)
{
    if (m->want == EVERYTHING)
        return kc_node_copy(m->edit, value);
    if (kc_type_of(value) == KC_NULL)
        return m->want == REMOVALS ? kc_node_null(m->edit) : NULL;
    if (kc_type_of(value) != KC_OBJECT || !kc_len(value))
        return m->want == CHANGES ? kc_node_copy(m->edit, value) : NULL;
    kc_node *part = kc_node_object(m->edit);
    kc_members (value, name, member) {
        kc_node *wanted = new_value(m, member);
        if (wanted)
            kc_node_add(m->edit, part, name, wanted);
    }
    return kc_node_len(part) ? part : NULL;
}

/* The patch for one member, or NULL. */
static kc_node *diff_member(maker *m, const kc_value *from, const kc_value *to)
{
    if (!from)
        return new_value(m, to);
    if (kc_type_of(from) == KC_OBJECT && kc_type_of(to) == KC_OBJECT) {
        kc_node *part = diff(m, from, to);
        return kc_node_len(part) ? part : NULL;
    }
    return kc_value_equal(from, to, NULL) ? NULL : new_value(m, to);
}

static void add_removals(maker *m, kc_node *patch, const kc_value *from, const kc_value *to)
{
    kc__members in_to = {.object = to};
    kc_members (from, name, value) {
        (void)value;
        if (!kc__members_find(&in_to, name))
            kc_node_add(m->edit, patch, name, kc_node_null(m->edit));
    }
    kc__members_done(&in_to);
}

static kc_node *diff(maker *m, const kc_value *from, const kc_value *to)
{
    kc_node *patch = kc_node_object(m->edit);
    kc__members in_from = {.object = from};
    kc_members (to, name, value) {
        kc_node *part = diff_member(m, kc__members_find(&in_from, name), value);
        if (part)
            kc_node_add(m->edit, patch, name, part);
    }
    kc__members_done(&in_from);
    if (m->want != CHANGES)
        add_removals(m, patch, from, to);
    return patch;
}

static int check_object(const kc_value *value, kc_error *err)
{
    if (!value || kc_type_of(value) == KC_OBJECT)
        return 0;
    return kc_error_set(err, KC_BAD_REQUEST, "Invalid JSON Document: it must be an object");
}

static kc_edit *checked(kc_edit *made, const kc_merge_patch_opts *opts, kc_error *err)
{
    kc_auto(kc_edit) *edit = made;
    if (kc__check_unchanged(kc_edit_root(edit), opts ? opts->unchanged : NULL, err) < 0)
        return NULL;
    return kc_take(edit);
}

kc_edit *kc_merge_patch_make(const kc_value *from, const kc_value *to,
                             const kc_merge_patch_opts *opts, kc_error *err)
{
    if (check_object(from, err) < 0 || check_object(to, err) < 0)
        return NULL;
    maker m = {.edit = kc_edit_new(), .want = EVERYTHING};
    kc_edit_set_root(m.edit, diff(&m, from, to));
    return checked(m.edit, opts, err);
}

kc_edit *kc_merge_patch_make3(const kc_value *original, const kc_value *modified,
                              const kc_value *current, const kc_merge_patch_opts *opts,
                              kc_error *err)
{
    if (check_object(original, err) < 0 || check_object(modified, err) < 0 ||
        check_object(current, err) < 0)
        return NULL;
    maker m = {.edit = kc_edit_new(), .want = REMOVALS};
    kc_edit_set_root(m.edit, diff(&m, original, modified));
    m.want = CHANGES;
    kc_auto(kc_view) *changes = kc__view_of_node(diff(&m, current, modified));
    kc_merge_patch_apply(m.edit, kc_view_root(changes));
    return checked(m.edit, opts, err);
}
