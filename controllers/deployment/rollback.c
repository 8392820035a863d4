/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rollback.c: the deprecated rollback: an annotation names a revision, and the controller restores
 * its template. (kubectl writes the template itself, which needs only current.c.)
 */
#include "deployment/deployment.h"

#include "common/template.h"

bool kc__rollout_back_to(const kc__rollout *r, int64_t *ret_revision)
{
    const char *text =
        kc__rollout_annotation_get(&r->d->metadata.annotations, KC__ROLLOUT_ROLLBACK);
    return text && *text && kc_str_to_i64(kc_cstr(text), ret_revision);
}

/* The second-highest revision. */
static int64_t last_revision(const kc__rollout *r)
{
    int64_t newest = 0, second = 0, revision;
    kc_vec_each (&r->sets, set) {
        if (!kc__rollout_set_revision(*set, &revision))
            continue;
        if (revision >= newest) {
            second = newest;
            newest = revision;
        } else if (revision > second) {
            second = revision;
        }
    }
    return second;
}

static const kc_replica_set *find_revision(const kc__rollout *r, int64_t wanted)
{
    int64_t revision;
    kc_vec_each (&r->sets, set)
        if (kc__rollout_set_revision(*set, &revision) && revision == wanted)
            return *set;
    return NULL;
}

static int end_rollback(kc__rollout *r, kc_error *err)
{
    kc__rollout_annotation_remove(&r->d->metadata.annotations, KC__ROLLOUT_ROLLBACK);
    return kc_deployment_update(r->ctx->client, r->d, err);
}

static int warn_and_end(kc__rollout *r, const char *reason, const char *message, kc_error *err)
{
    kc_recorder_event(r->ctx->recorder, r->d->metadata.origin, KC_EVENT_TYPE_WARNING, reason, "%s",
                      message);
    return end_rollback(r, err);
}

/* Restores the annotations that the Deployment had at that revision. */
static void take_annotations(kc__rollout *r, const kc_replica_set *set)
{
    kc_string_map *to = &r->d->metadata.annotations;
    const kc_string_map *from = &set->metadata.annotations;
    for (size_t i = to->n; i-- > 0;)
        if (kc__rollout_annotation_is_copied(to->items[i].key))
            to->items[i] = to->items[--to->n];
    for (size_t i = 0; i < from->n; i++)
        if (kc__rollout_annotation_is_copied(from->items[i].key))
            kc__rollout_annotation_put(to, from->items[i].key, from->items[i].value,
                                       r->d->metadata.arena);
}

static int take_template(kc__rollout *r, const kc_replica_set *set, kc_error *err)
{
    kc_auto(kc_view) *view = kc_view_parse(kc_cstr(set->spec.template.json), NULL, err);
    if (!view)
        return kc_error_result(err);
    kc_auto(kc_edit) *edit = kc_edit_of_value(kc_view_root(view));
    kc_edit_remove_label(edit, KC_STR(KC__COMMON_HASH_LABEL));
    kc_scoped(kc_buf) text = {0};
    kc_node_write(&text, kc_edit_root(edit));
    r->d->spec.template.json = kc_arena_strndup(r->d->metadata.arena, text.p, text.n);
    take_annotations(r, set);
    return end_rollback(r, err);
}

int kc__rollout_back(kc__rollout *r, int64_t revision, kc_error *err)
{
    if (kc__rollout_sync_current(r, true, err) < 0 || kc__rollout_record_event(r, err) < 0)
        return kc_error_result(err);
    if (revision == 0 && (revision = last_revision(r)) == 0)
        return warn_and_end(r, "DeploymentRollbackRevisionNotFound",
                            "Unable to find last revision.", err);
    const kc_replica_set *set = find_revision(r, revision);
    if (!set)
        return warn_and_end(r, "DeploymentRollbackRevisionNotFound",
                            "Unable to find the revision to rollback to.", err);
    if (set == r->current) {
        const char *same = kc_arena_printf(
            r->d->metadata.arena,
            "The rollback revision contains the same template as current deployment \"%s\"",
            r->d->metadata.name);
        return warn_and_end(r, "DeploymentRollbackTemplateUnchanged", same, err);
    }
    if (take_template(r, set, err) < 0)
        return kc_error_result(err);
    kc_recorder_event(r->ctx->recorder, r->d->metadata.origin, KC_EVENT_TYPE_NORMAL,
                      "DeploymentRollback", "Rolled back deployment \"%s\" to revision %lld",
                      r->d->metadata.name, (long long)revision);
    return 0;
}
