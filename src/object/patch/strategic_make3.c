/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strategic_make3.c: three-way strategic merge patches, as in `kubectl apply`.
 *
 *     original   the last applied state     {"a": 1, "b": 1}
 *     modified   the state to apply         {"a": 2}
 *     current    the server's state         {"a": 1, "b": 1, "c": 1}
 *     patch                                 {"b": null, "a": 2}          c is not ours
 *
 * The patch is the difference from current to modified without removals, merged into the removals
 * of the difference from original to modified. strategic_apply.c merges one patch into another,
 * with `of_patches`. A conflict is a member that the patch changes and that changed differently
 * between original and current (strategic_conflict.c).
 */
#include "object/patch/strategic_internal.h"

typedef struct inputs {
    const kc_value *original, *modified, *current;
} inputs;

static kc_node *merge_both(kc__strategic_patcher *s, const inputs *in)
{
    const void *root = s->schema->root;
    kc_node *changes = kc__strategic_diff(s, in->current, in->modified, root,
                                          KC__STRATEGIC_WANT_CHANGES | KC__STRATEGIC_WANT_ORDER);
    if (!changes)
        return NULL;
    kc_node *removals = kc__strategic_diff(s, in->original, in->modified, root,
                                           KC__STRATEGIC_WANT_REMOVALS | KC__STRATEGIC_WANT_ORDER);
    if (!removals)
        return NULL;
    kc_auto(kc_view) *view = kc__patch_node_view(changes);
    s->of_patches = true;
    return kc__strategic_object(s, removals, kc_view_root(view), root);
}

static int strategic_make3_conflict(kc__strategic_patcher *s, const kc_value *patch,
                                    const kc_value *changed)
{
    kc_scoped(kc_buf) ours = {.limit = 4096};
    kc_scoped(kc_buf) theirs = {.limit = 4096};
    kc_json_write_pretty(&ours, patch);
    kc_json_write_pretty(&theirs, changed);
    return kc_error_set(s->err, KC_CONFLICT,
                        "patch:\n%s\nconflicts with changes made from original to current:\n%s\n",
                        kc_buf_cstr(&ours), kc_buf_cstr(&theirs));
}

static int check_conflicts(kc__strategic_patcher *s, const inputs *in, const kc_node *patch)
{
    const void *root = s->schema->root;
    kc_node *changed = kc__strategic_diff(s, in->original, in->current, root,
                                          KC__STRATEGIC_WANT_CHANGES | KC__STRATEGIC_WANT_REMOVALS);
    if (!changed)
        return kc_error_result(s->err);
    kc_auto(kc_view) *ours = kc__patch_node_view(patch);
    kc_auto(kc_view) *theirs = kc__patch_node_view(changed);
    int found = kc__strategic_conflict(s, kc_view_root(ours), kc_view_root(theirs), root);
    return found > 0 ? strategic_make3_conflict(s, kc_view_root(ours), kc_view_root(theirs))
                     : found;
}

static kc_node *strategic_make3_make(kc__strategic_patcher *s, const inputs *in,
                                     const kc_strategic_patch_opts *opts)
{
    kc_node *patch = merge_both(s, in);
    if (!patch || kc__patch_check_unchanged(patch, opts->unchanged, s->err) < 0)
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
        if (all[i] && kc_value_type(all[i]) != KC_JSON_OBJECT) {
            kc_error_set(err, KC_BAD_REQUEST, "invalid JSON document");
            return NULL;
        }
    }
    kc_auto(kc_edit) *edit = kc_edit_new();
    kc__strategic_patcher s = {.edit = edit, .schema = schema, .err = err};
    kc_node *patch = strategic_make3_make(&s, &in, opts ? opts : &defaults);
    kc_arena_done(&s.scratch);
    if (!patch)
        return NULL;
    kc_edit_set_root(edit, patch);
    return kc_take(edit);
}
