/* SPDX-License-Identifier: Apache-2.0 */
/*
 * annotations.c: annotations of Deployments and their ReplicaSets.
 *
 * A ReplicaSet carries the revision of its template, which `kubectl rollout history` shows: a
 * number that grows with each rollout. A template that comes back (an undo) gets a new revision;
 * its earlier revisions are kept in the revision-history annotation. A ReplicaSet also records the
 * desired and the maximum number of replicas at its last resize, which proportional scaling needs
 * (resize.c). All other annotations of a Deployment are copied to its current ReplicaSet.
 */
#include "deployment/deployment.h"

#include <stdio.h>

#define HISTORY "deployment.kubernetes.io/revision-history"
#define WANTED  "deployment.kubernetes.io/desired-replicas"
#define MOST    "deployment.kubernetes.io/max-replicas"

enum { HISTORY_MAX = 2000 /* Maximum length in characters. */ };

static const char *const own[] = {"kubectl.kubernetes.io/last-applied-configuration",
                                  KC__ROLLOUT_REVISION,
                                  HISTORY,
                                  WANTED,
                                  MOST,
                                  KC__ROLLOUT_ROLLBACK,
                                  NULL};

/* ---- single annotations ---- */

static kc_string_pair *deployment_annotations_find(const kc_string_map *map, const char *key)
{
    for (size_t i = 0; i < map->n; i++)
        if (strcmp(map->items[i].key, key) == 0)
            return &map->items[i];
    return NULL;
}

const char *kc__rollout_annotation_get(const kc_string_map *annotations, const char *key)
{
    const kc_string_pair *pair = deployment_annotations_find(annotations, key);
    return pair ? pair->value : NULL;
}

static char *deployment_annotations_copy(kc_arena *arena, const char *text)
{
    return kc_arena_strndup(arena, text, strlen(text));
}

bool kc__rollout_annotation_put(kc_string_map *annotations, const char *key, const char *value,
                                kc_arena *arena)
{
    kc_string_pair *pair = deployment_annotations_find(annotations, key);
    if (pair && strcmp(pair->value, value) == 0)
        return false;
    if (!pair) {
        kc_string_pair *more = kc_arena_calloc(arena, annotations->n + 1, sizeof(*more));
        if (annotations->n)
            memcpy(more, annotations->items, annotations->n * sizeof(*more));
        annotations->items = more;
        pair = &more[annotations->n++];
        pair->key = deployment_annotations_copy(arena, key);
    }
    pair->value = deployment_annotations_copy(arena, value);
    return true;
}

void kc__rollout_annotation_remove(kc_string_map *annotations, const char *key)
{
    kc_string_pair *pair = deployment_annotations_find(annotations, key);
    if (pair)
        *pair = annotations->items[--annotations->n];
}

bool kc__rollout_annotation_is_copied(const char *key)
{
    return !kc_str_is_any(kc_cstr(key), own);
}

/* ---- revisions ---- */

bool kc__rollout_set_revision(const kc_replica_set *set, int64_t *ret)
{
    const char *text = kc__rollout_annotation_get(&set->metadata.annotations, KC__ROLLOUT_REVISION);
    *ret = 0;
    return !text || kc_str_to_i64(kc_cstr(text), ret);
}

int64_t kc__rollout_sets_revision(const kc__rollout_sets *sets)
{
    int64_t newest = 0, revision;
    kc_vec_each (sets, set)
        if (kc__rollout_set_revision(*set, &revision))
            newest = KC_MAX(newest, revision);
    return newest;
}

/* The oldest revisions are dropped when there is no room. */
static void add_to_history(kc_replica_set *set, const char *revision, kc_arena *arena)
{
    const char *before = kc__rollout_annotation_get(&set->metadata.annotations, HISTORY);
    kc_str kept = kc_cstr(before ? before : "");
    const size_t more = strlen(revision) + 1;
    while (kept.n && kept.n + more > HISTORY_MAX)
        kc_str_cut(&kept, ',');
    const char *text =
        kept.n ? kc_arena_printf(arena, "%.*s,%s", KC_ARG(kept), revision) : revision;
    kc__rollout_annotation_put(&set->metadata.annotations, HISTORY, text, arena);
}

bool kc__rollout_set_annotate_revision(const kc__rollout *r, kc_replica_set *set, int64_t revision)
{
    bool changed = false;
    int64_t before;
    kc_arena *arena = r->d->metadata.arena;
    kc_string_map *notes = &set->metadata.annotations;
    const kc_string_map *from = &r->d->metadata.annotations;
    for (size_t i = 0; i < from->n; i++)
        if (kc__rollout_annotation_is_copied(from->items[i].key))
            changed |=
                kc__rollout_annotation_put(notes, from->items[i].key, from->items[i].value, arena);
    if (!kc__rollout_set_revision(set, &before))
        return false;
    if (before >= revision)
        return changed;
    const char *own_one = kc__rollout_annotation_get(notes, KC__ROLLOUT_REVISION);
    if (own_one)
        add_to_history(set, deployment_annotations_copy(arena, own_one), arena);
    char text[24];
    snprintf(text, sizeof(text), "%lld", (long long)revision);
    return kc__rollout_annotation_put(notes, KC__ROLLOUT_REVISION, text, arena) || changed;
}

/* ---- sizes ---- */

bool kc__rollout_set_annotate_sizes(const kc__rollout *r, kc_replica_set *set)
{
    char wanted[16], most[16];
    kc_arena *arena = r->d->metadata.arena;
    snprintf(wanted, sizeof(wanted), "%d", kc__rollout_desired(r));
    snprintf(most, sizeof(most), "%d", kc__rollout_desired(r) + kc__rollout_surge(r));
    bool changed = kc__rollout_annotation_put(&set->metadata.annotations, WANTED, wanted, arena);
    return kc__rollout_annotation_put(&set->metadata.annotations, MOST, most, arena) || changed;
}

static bool number_in(const kc_replica_set *set, const char *key, int32_t *ret)
{
    uint64_t number;
    const char *text = kc__rollout_annotation_get(&set->metadata.annotations, key);
    if (!text || !kc_str_to_u64(kc_cstr(text), &number) || number > INT32_MAX)
        return false;
    *ret = (int32_t)number;
    return true;
}

bool kc__rollout_set_annotated_desired(const kc_replica_set *set, int32_t *ret)
{
    return number_in(set, WANTED, ret);
}

bool kc__rollout_set_annotated_max(const kc_replica_set *set, int32_t *ret)
{
    return number_in(set, MOST, ret);
}
