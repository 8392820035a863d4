/* SPDX-License-Identifier: Apache-2.0 */
/*
 * current.c: the ReplicaSet of the Deployment's current template.
 *
 * Its name is the Deployment's name and a hash of the template. A ReplicaSet with that name and
 * another owner or template is a hash collision: the Deployment counts it in status.collisionCount,
 * which changes the next hash. If the response to a create was lost, the next attempt finds the
 * ReplicaSet by its name, with the same template and owner.
 *
 * Its revision is one more than that of all others. When a template comes back (an undo), its
 * ReplicaSet still exists and gets the next revision.
 */
#include "deployment/deployment.h"

#include "common/refusals.h"
#include "common/template.h"

#include "kc/json.h"

enum { NAME_MAX_BYTES = 253 };

/* ---- an existing ReplicaSet ---- */

static int keep_revision(kc__rollout *r, kc_error *err)
{
    kc_replica_set *set = r->current;
    const int64_t revision = kc__rollout_sets_revision(&r->old) + 1;
    const bool noted = kc__rollout_set_annotate_revision(r, set, revision);
    if (noted || set->spec.min_ready_seconds != r->d->spec.min_ready_seconds) {
        set->spec.min_ready_seconds = r->d->spec.min_ready_seconds;
        if (kc_replica_set_update(r->ctx->client, set, err) < 0)
            return kc_error_result(err);
    }
    const char *of_set =
        kc__rollout_annotation_get(&set->metadata.annotations, KC__ROLLOUT_REVISION);
    if (kc__rollout_annotation_put(&r->d->metadata.annotations, KC__ROLLOUT_REVISION,
                                   of_set ? of_set : "", r->d->metadata.arena))
        r->status_pending = true;
    if (kc__rollout_has_deadline(r->d) && !kc__rollout_progress(r->d)) {
        kc__rollout_set_progress(r, "True", "FoundNewReplicaSet", "Found new replica set \"%s\"",
                                 set->metadata.name);
        r->status_pending = true;
    }
    return 0;
}

/* ---- creating a ReplicaSet ---- */

static void set_name(const kc__rollout *r, kc_str hash, kc_replica_set *draft)
{
    const size_t most = NAME_MAX_BYTES - 1 - hash.n;
    const kc_str base = kc_str_sub(kc_cstr(r->d->metadata.name), 0, most);
    draft->metadata.name =
        kc_arena_printf(r->d->metadata.arena, "%.*s-%.*s", KC_ARG(base), KC_ARG(hash));
}

static char *deployment_current_written(kc_arena *arena, kc_edit *edit)
{
    kc_scoped(kc_buf) text = {0};
    kc_node_write(&text, kc_edit_root(edit));
    return kc_arena_strndup(arena, text.p, text.n);
}

static void copy_labels(const kc_value *labels, kc_arena *arena, kc_string_map *ret)
{
    ret->items =
        kc_arena_calloc(arena, KC_MAX(kc_value_len(labels), (size_t)1), sizeof(*ret->items));
    kc_value_each_member (labels, key, value) {
        const kc_str text = kc_value_as_str(value);
        ret->items[ret->n++] = (kc_string_pair){kc_arena_strndup(arena, key.p, key.n),
                                                kc_arena_strndup(arena, text.p, text.n)};
    }
}

/* Adds the hash to the template's labels, the selector and the ReplicaSet's labels. */
static int set_template(const kc__rollout *r, kc_str hash, kc_replica_set *draft, kc_error *err)
{
    kc_arena *arena = r->d->metadata.arena;
    kc_auto(kc_view) *template = kc_view_parse(kc_cstr(r->d->spec.template.json), NULL, err);
    kc_auto(kc_view) *selector =
        template ? kc_view_parse(kc_cstr(r->d->spec.selector.json), NULL, err) : NULL;
    if (!selector)
        return kc_error_result(err);
    kc_auto(kc_edit) *labelled = kc_edit_of_value(kc_view_root(template));
    kc_edit_set_label(labelled, KC_STR(KC__COMMON_HASH_LABEL), hash);
    draft->spec.template.json = deployment_current_written(arena, labelled);
    kc_auto(kc_edit) *narrowed = kc_edit_of_value(kc_view_root(selector));
    kc_edit_set_nested(narrowed, "matchLabels." KC__COMMON_HASH_LABEL, kc_node_str(narrowed, hash));
    draft->spec.selector.json = deployment_current_written(arena, narrowed);
    kc_auto(kc_view) *view = kc_edit_view(labelled, err);
    if (view)
        copy_labels(kc_value_nested(kc_view_root(view), "metadata.labels"), arena,
                    &draft->metadata.labels);
    return view ? 0 : kc_error_result(err);
}

static kc_replica_set *draft_set(kc__rollout *r, kc_error *err)
{
    char hash[KC__COMMON_HASH_TEXT];
    kc_arena *arena = r->d->metadata.arena;
    kc_replica_set *draft = kc_arena_new(arena, kc_replica_set);
    const int32_t *collisions = r->d->status.collision_count;
    const kc_str name =
        kc__common_template_hash(kc_cstr(r->template), collisions ? *collisions : -1, hash);
    draft->metadata.ns = r->d->metadata.ns;
    set_name(r, name, draft);
    if (set_template(r, name, draft, err) < 0 ||
        kc_deployment_set_controller(&draft->metadata, r->d, arena, err) < 0)
        return NULL;
    draft->spec.min_ready_seconds = r->d->spec.min_ready_seconds;
    draft->spec.replicas = kc_arena_new(arena, int32_t);
    *draft->spec.replicas = kc__rollout_new_size(r);
    kc__rollout_set_annotate_revision(r, draft, kc__rollout_sets_revision(&r->old) + 1);
    kc__rollout_set_annotate_sizes(r, draft);
    return draft;
}

/* ---- results of a create ---- */

/* The name exists: an earlier attempt created it, or it is a collision. */
static kc_replica_set *check_name_collision(kc__rollout *r, const kc_replica_set *draft,
                                            kc_error *err)
{
    kc_auto(kc_object) *object = kc_client_get(r->ctx->client, &kc_kind_replica_set,
                                               KC_KEY(draft->metadata.ns, draft->metadata.name),
                                               &(kc_get_opts){.live = true}, err);
    kc_auto(kc_replica_set) *set = object ? kc_replica_set_of(object, err) : NULL;
    if (!set)
        return NULL;
    kc_autofree char *text = kc__common_template_text(kc_cstr(set->spec.template.json));
    if (kc_object_controlled_by(object, kc_cstr(r->d->metadata.uid)) &&
        strcmp(text, r->template) == 0)
        return kc_take(set);
    int32_t *count = kc_arena_new(r->d->metadata.arena, int32_t);
    *count = (r->d->status.collision_count ? *r->d->status.collision_count : 0) + 1;
    r->d->status.collision_count = count;
    if (kc__rollout_write_status(r, err) == 0)
        kc_error_set(err, KC_ALREADY_EXISTS, "replicasets.apps \"%s\" already exists",
                     draft->metadata.name);
    return NULL;
}

static void deployment_current_report_failure(kc__rollout *r, const kc_replica_set *draft,
                                              const kc_error *why)
{
    if (kc__common_namespace_is_terminating(why))
        return;
    kc_recorder_event(r->ctx->recorder, r->d->metadata.origin, KC_EVENT_TYPE_WARNING,
                      "ReplicaSetCreateError", "Failed to create new replica set \"%s\": %s",
                      draft->metadata.name, kc_error_text(why));
    if (!kc__rollout_has_deadline(r->d))
        return;
    kc__rollout_set_progress(r, "False", "ReplicaSetCreateError",
                             "Failed to create new replica set \"%s\": %s", draft->metadata.name,
                             kc_error_text(why));
    kc__rollout_write_status(r, NULL);
}

static void report_success(kc__rollout *r, bool new)
{
    const kc_replica_set *set = r->current;
    const char *revision =
        kc__rollout_annotation_get(&set->metadata.annotations, KC__ROLLOUT_REVISION);
    if (kc__rollout_annotation_put(&r->d->metadata.annotations, KC__ROLLOUT_REVISION,
                                   revision ? revision : "", r->d->metadata.arena))
        r->status_pending = true;
    if (new && kc__rollout_set_size(set) > 0)
        kc_recorder_event(r->ctx->recorder, r->d->metadata.origin, KC_EVENT_TYPE_NORMAL,
                          "ScalingReplicaSet", "Scaled up replica set %s from 0 to %d",
                          set->metadata.name, kc__rollout_set_size(set));
    if (new && kc__rollout_has_deadline(r->d)) {
        kc__rollout_set_progress(r, "True", "NewReplicaSetCreated",
                                 "Created new replica set \"%s\"", set->metadata.name);
        r->status_pending = true;
    }
}

static int make_current(kc__rollout *r, kc_error *err)
{
    kc_scoped(kc_error) why = {0};
    const kc_replica_set *draft = draft_set(r, err);
    kc_auto(kc_object) *wanted = draft ? kc_replica_set_object(draft, err) : NULL;
    if (!wanted)
        return kc_error_result(err);
    kc_auto(kc_object) *made = kc_client_create(r->ctx->client, wanted, NULL, &why);
    const bool taken = !made && kc_is_already_exists(&why);
    if (!made && !taken) {
        deployment_current_report_failure(r, draft, &why);
        return kc_error_move(err, &why);
    }
    kc_replica_set *set = made ? kc_replica_set_of(made, err) : check_name_collision(r, draft, err);
    if (!set)
        return kc_error_result(err);
    kc__rollout_add_current(r, set);
    report_success(r, made != NULL);
    return 0;
}

int kc__rollout_sync_current(kc__rollout *r, bool make, kc_error *err)
{
    if (r->current)
        return keep_revision(r, err);
    return make ? make_current(r, err) : 0;
}
