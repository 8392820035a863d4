/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strategic_make3.c: three-way strategic merge patches, as `kubectl apply` makes them.
 *
 *     original   what was applied last      {"a": 1, "b": 1}
 *     modified   what is to be applied      {"a": 2}
 *     current    what the server has        {"a": 1, "b": 1, "c": 1}
 *     patch                                 {"b": null, "a": 2}          c is not ours
 *
 * The patch is the difference from current to modified without removals, merged into the removals
 * of the difference from original to modified. Merging one patch into another is what
 * strategic_apply.c does with `of_patches`. A conflict is a member that the patch changes and that
 * has changed in another way from original to current (strategic_conflict.c).
 */
#include "object/strategic_internal.h"

typedef struct inputs {
    const kc_value *original, *modified, *current;
} inputs;

static kc_node *merge_both(kc__smp *s, const inputs *in)
{
    const void *root = s->schema->root;
    kc_node *changes =
        kc__smp_diff(s, in->current, in->modified, root, KC__WANT_CHANGES | KC__WANT_ORDER);
    if (!changes)
        return NULL;
    kc_node *removals =
        kc__smp_diff(s, in->original, in->modified, root, KC__WANT_REMOVALS | KC__WANT_ORDER);
    if (!removals)
        return NULL;
    kc_auto(kc_view) *view = kc__view_of_node(changes);
    s->of_patches = true;
    return kc__smp_object(s, removals, kc_view_root(view), root);
}

static int conflict(kc__smp *s, const kc_value *patch, const kc_value *changed)
{
    kc_scoped(kc_buf) ours = {.limit = 4096};
    kc_scoped(kc_buf) theirs = {.limit = 4096};
    kc_json_write_pretty(&ours, patch);
    kc_json_write_pretty(&theirs, changed);
    return kc_error_set(s->err, KC_CONFLICT,
                        "patch:\n%s\nconflicts with changes made from original to current:\n%s\n",
                        kc_buf_cstr(&ours), kc_buf_cstr(&theirs));
}

static int check_conflicts(kc__smp *s, const inputs *in, const kc_node *patch)
{
    const void *root = s->schema->root;
    kc_node *changed =
        kc__smp_diff(s, in->original, in->current, root, KC__WANT_CHANGES | KC__WANT_REMOVALS);
    if (!changed)
        return -(int)KC_BAD_REQUEST;
    kc_auto(kc_view) *ours = kc__view_of_node(patch);
    kc_auto(kc_view) *theirs = kc__view_of_node(changed);
    int found = kc__smp_conflict(s, kc_view_root(ours), kc_view_root(theirs), root);
    return found > 0 ? conflict(s, kc_view_root(ours), kc_view_root(theirs)) : found;
}

static kc_node *make(kc__smp *s, const inputs *in, const kc_strategic_patch_opts *opts)
{
    kc_node *patch = merge_both(s, in);
    if (!patch || kc__check_unchanged(patch, opts->unchanged, s->err) < 0)
        return NULL;
    if (opts->refuse_conflicts && check_conflicts(s, in, patch) < 0)
        return NULL;
    return patch;
}

kc_edit *kc_strategic_patch_make3(const kc_value *original, const kc_value *modified,
                                  const kc_value *current, const kc_patch_schema *schema,
                                  const kc_strategic_patch_opts *opts, kc_error *err)
{
    static const kc_strategic_patch_opts defaults;
    inputs in = {original, modified, current};
    const kc_value *all[] = {original, modified, current};
    for (size_t i = 0; i < KC_COUNT(all); i++) {
        if (all[i] && kc_type_of(all[i]) != KC_OBJECT) {
            kc_error_set(err, KC_BAD_REQUEST, "invalid JSON document");
            return NULL;
        }
    }
    kc_auto(kc_edit) *edit = kc_edit_new();
    kc__smp s = {.edit = edit, .schema = schema, .err = err};
    kc_node *patch = make(&s, &in, opts ? opts : &defaults);
    kc_arena_done(&s.scratch);
    if (!patch)
        return NULL;
    kc_edit_set_root(edit, patch);
    return kc_take(edit);
}
