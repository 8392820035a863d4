/* SPDX-License-Identifier: Apache-2.0 */
/*
 * definition_end.c: how a definition goes.
 *
 *     Pending ─▶ InProgress ─ its objects are deleted, those with finalizers marked ─▶ none left
 *             ─▶ Completed, and the finalizer goes; with the last finalizer the definition
 *
 * Each step is a write, seen again when it is stored. While objects are left, they are counted
 * again after a moment; a few hundred are deleted at a time. None is left when none is stored and
 * none is on its way there, which the gate tells (crd/crd_gate.h).
 */
#include "apiserver/crd/crd_gate.h"
#include "apiserver/crd/crd_status.h"
#include "apiserver/crd/crd_type.h"
#include "apiserver/rest/definitions_internal.h"
#include "apiserver/rest/metadata.h"
#include "kc/meta.h"

enum { AT_ONCE = 500 };
#define LOOK_AGAIN (50 * KC_MILLISECOND)

static void look_again(kc__crds *all)
{
    kc__timer_start(&all->timer, kc_clock_deadline(all->api->clock, LOOK_AGAIN));
}

/* ---- its objects ---- */

static kc_object *marked(kc__crds *all, const kc_object *object)
{
    kc_scoped(kc_arena) arena = {0};
    char now[KC_TIME_TEXT];
    kc__metadata m;
    kc__metadata_of(object, &arena, &m);
    m.deleted = kc_time_print(kc_clock_wall(all->api->clock), now);
    m.has_grace = true;
    m.grace_seconds = 0;
    m.generation += m.generation > 0;
    return kc__metadata_apply(object, &m, NULL);
}

static void delete_object(kc__crds *all, kc__cache *cache, kc_str key, const kc_object *object)
{
    bool stays = kc_object_finalizers_json(object).n > 2;
    if (stays && !kc_str_empty(kc_object_deletion_timestamp(object)))
        return;
    kc__crd_write *w = kc_new(kc__crd_write);
    w->cache = cache;
    w->key = kc_str_dup(key);
    w->verb = stays ? KC_STORAGE_PUT : KC_STORAGE_DELETE;
    w->object = stays ? marked(all, object) : NULL;
    w->expected = kc_object_revision(object);
    kc__crds_submit(all, w);
}

/* Nobody creates one any more, nor is about to. Asked before they are counted. */
static bool is_closed(kc__crd_entry *d)
{
    if (!d->compiled)
        return true;
    kc__gate_close(kc__crd_gate(d->compiled));
    return kc__gate_is_empty(kc__crd_gate(d->compiled));
}

/* True when none is left. */
static bool delete_objects(kc__crd_entry *d, const kc_value *root)
{
    kc__crds *all = d->all;
    kc_str plural = kc_as_str(kc_get(kc_get(kc_get(root, "spec"), "names"), "plural"));
    kc_autofree char *prefix = kc_asprintf("/registry/%s/%.*s/", d->group, KC_ARG(plural));
    kc__cache *cache = kc__store_cache(all->api->store, kc_cstr(prefix));
    bool busy = all->in_flight_objects > 0, creating = !is_closed(d);
    uint64_t revision;
    size_t n = 0;
    kc_cow_snapshot *snapshot = kc__cache_snapshot(cache, &revision);
    kc_cow_iter at = kc_cow_iter_start(snapshot, &(kc_cow_range){0});
    while (kc_cow_iter_next(&at))
        if (n++ < AT_ONCE && !busy)
            delete_object(all, cache, at.key, at.object);
    kc_cow_snapshot_unref(snapshot);
    all->seen = KC_MAX(all->seen, revision);
    return n == 0 && !creating;
}

/* ---- steps ---- */

static bool has_reason(const kc_value *root, const char *reason)
{
    kc_items (kc_get(kc_get(root, "status"), "conditions"), condition)
        if (kc_str_is(kc_as_str(kc_get(condition, "type")), "Terminating"))
            return kc_str_is(kc_as_str(kc_get(condition, "reason")), reason);
    return false;
}

/* What goes is no longer served when anybody can see that it went. */
static void withdraw(kc__crd_entry *d)
{
    d->all->changed |= d->compiled != NULL;
    kc__crd_replace(d, NULL);
    free(d->facts);
    d->facts = NULL;
}

static void step(kc__crd_entry *d, const kc_object *object, kc__crd_deletion how)
{
    kc_auto(kc_edit) *edit = kc_edit_of(object);
    kc__crd_set_deletion(edit, how, NULL, kc_clock_wall(d->all->api->clock));
    kc_auto(kc_object) *next = kc__crd_freeze(edit, NULL);
    if (!next)
        return;
    kc__crd_put(d, object, next);
    if (kc_object_finalizers_json(next).n > 2)
        return;
    d->all->writes.items[d->all->writes.n - 1]->verb = KC_STORAGE_DELETE;
    withdraw(d);
}

void kc__crd_end(kc__crd_entry *d, const kc_object *object)
{
    kc_auto(kc_view) *view = kc_view_of(object);
    const kc_value *root = kc_view_root(view);
    if (!kc_object_has_finalizer(object, KC_STR(KC__CRD_FINALIZER)))
        return;
    if (!kc__crd_is_established(root))
        step(d, object, KC__CRD_DELETION_UNUSED);
    else if (!has_reason(root, "InstanceDeletionInProgress"))
        step(d, object, KC__CRD_DELETION_RUNNING);
    else if (delete_objects(d, root))
        step(d, object, KC__CRD_DELETION_DONE);
    else
        look_again(d->all);
}
