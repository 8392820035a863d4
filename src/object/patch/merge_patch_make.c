/* SPDX-License-Identifier: Apache-2.0 */
/*
 * merge_patch_make.c: creates JSON merge patches, two-way and three-way.
 *
 * Two-way, the difference of two objects:
 *
 *     {"a": 1, "b": {"x": 1, "y": 1}}
 *     {"b": {"x": 2, "y": 1}, "c": 3}          {"b": {"x": 2}, "c": 3, "a": null}
 *
 * Three-way combines two differences: the additions and changes from current to modified, and the
 * removals from original to modified. Additions and changes concern members of `modified`, removals
 * concern others, so they never contradict each other, and the first is merged over the second.
 */
#include "object/patch/patch_internal.h"

#include "kc/merge_patch.h"

/* The content of a difference. */
typedef enum merge_patch_make_want { EVERYTHING, CHANGES, REMOVALS } merge_patch_make_want;

typedef struct merge_patch_make_maker {
    kc_edit *edit;
    merge_patch_make_want want;
} merge_patch_make_maker;

static kc_node *diff(merge_patch_make_maker *m, const kc_value *from, const kc_value *to);

/*
 * A new value as part of a patch, or NULL when nothing of it is wanted. Null members in it remove
 * nothing: a two-way patch keeps them, and a three-way patch counts them as removals.
 */
static kc_node *new_value(merge_patch_make_maker *m, const kc_value *value)
{
    if (m->want == EVERYTHING)
        return kc_node_from_value(m->edit, value);
    if (kc_value_type(value) == KC_JSON_NULL)
        return m->want == REMOVALS ? kc_node_null(m->edit) : NULL;
    if (kc_value_type(value) != KC_JSON_OBJECT || !kc_value_len(value))
        return m->want == CHANGES ? kc_node_from_value(m->edit, value) : NULL;
    kc_node *part = kc_node_object(m->edit);
    kc_value_each_member (value, name, member) {
        kc_node *wanted = new_value(m, member);
        if (wanted)
            kc_node_add(m->edit, part, name, wanted);
    }
    return kc_node_len(part) ? part : NULL;
}

/* The patch for one member, or NULL. */
static kc_node *diff_member(merge_patch_make_maker *m, const kc_value *from, const kc_value *to)
{
    if (!from)
        return new_value(m, to);
    if (kc_value_type(from) == KC_JSON_OBJECT && kc_value_type(to) == KC_JSON_OBJECT) {
        kc_node *part = diff(m, from, to);
        return kc_node_len(part) ? part : NULL;
    }
    return kc_value_equal(from, to, NULL) ? NULL : new_value(m, to);
}

static void add_removals(merge_patch_make_maker *m, kc_node *patch, const kc_value *from,
                         const kc_value *to)
{
    kc__value_members in_to = {.object = to};
    kc_value_each_member (from, name, value) {
        (void)value;
        if (!kc__value_members_find(&in_to, name))
            kc_node_add(m->edit, patch, name, kc_node_null(m->edit));
    }
    kc__value_members_done(&in_to);
}

static kc_node *diff(merge_patch_make_maker *m, const kc_value *from, const kc_value *to)
{
    kc_node *patch = kc_node_object(m->edit);
    kc__value_members in_from = {.object = from};
    kc_value_each_member (to, name, value) {
        kc_node *part = diff_member(m, kc__value_members_find(&in_from, name), value);
        if (part)
            kc_node_add(m->edit, patch, name, part);
    }
    kc__value_members_done(&in_from);
    if (m->want != CHANGES)
        add_removals(m, patch, from, to);
    return patch;
}

static int merge_patch_make_check_object(const kc_value *value, kc_error *err)
{
    if (!value || kc_value_type(value) == KC_JSON_OBJECT)
        return 0;
    return kc_error_set(err, KC_BAD_REQUEST, "Invalid JSON Document: it must be an object");
}

static kc_edit *checked(kc_edit *made, const kc_merge_patch_opts *opts, kc_error *err)
{
    kc_auto(kc_edit) *edit = made;
    if (kc__patch_check_unchanged(kc_edit_root(edit), opts ? opts->unchanged : NULL, err) < 0)
        return NULL;
    return kc_take(edit);
}

kc_edit *kc_merge_patch_make(const kc_value *from, const kc_value *to,
                             const kc_merge_patch_opts *opts, kc_error *err)
{
    if (merge_patch_make_check_object(from, err) < 0 || merge_patch_make_check_object(to, err) < 0)
        return NULL;
    merge_patch_make_maker m = {.edit = kc_edit_new(), .want = EVERYTHING};
    kc_edit_set_root(m.edit, diff(&m, from, to));
    return checked(m.edit, opts, err);
}

kc_edit *kc_merge_patch_make3(const kc_value *original, const kc_value *modified,
                              const kc_value *current, const kc_merge_patch_opts *opts,
                              kc_error *err)
{
    if (merge_patch_make_check_object(original, err) < 0 ||
        merge_patch_make_check_object(modified, err) < 0 ||
        merge_patch_make_check_object(current, err) < 0)
        return NULL;
    merge_patch_make_maker m = {.edit = kc_edit_new(), .want = REMOVALS};
    kc_edit_set_root(m.edit, diff(&m, original, modified));
    m.want = CHANGES;
    kc_auto(kc_view) *changes = kc__patch_node_view(diff(&m, current, modified));
    kc_merge_patch_apply(m.edit, kc_view_root(changes));
    return checked(m.edit, opts, err);
}
