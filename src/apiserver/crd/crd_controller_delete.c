/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crd_controller_delete.c: deletes a CRD and its objects.
 *
 *     Pending ─▶ InProgress ─ objects deleted; those with finalizers marked ─▶ no object left
 *             ─▶ Completed, and the finalizer removed; with the last finalizer the CRD
 *
 * Each step is a write; the next step follows when it is stored. While objects are left, the
 * controller counts them again after a delay and deletes a few hundred at a time. No object is left
 * when none is stored and no create is in flight, which the gate tells (kinds/create_gate.h).
 *
 * A CRD in one of the server's own groups is deleted the same way, but never touches keys below the
 * prefix of a built-in resource.
 */
#include "apiserver/crd/crd_controller_internal.h"
#include "apiserver/kinds/apiextensions/crd_internal.h"
#include "apiserver/kinds/apiextensions/crd_status.h"
#include "apiserver/kinds/apiextensions/crd_type.h"
#include "apiserver/kinds/create_gate.h"
#include "apiserver/kinds/key_layout.h"
#include "kc/meta.h"

enum { DELETES_PER_ROUND = 500 };

/* How long the controller waits before it counts the remaining objects again. */
#define RECOUNT_AFTER (50 * KC_MILLISECOND)

/* ---- objects ---- */

static void delete_object(kc__crd_entry *e, kc__watch_cache *cache, kc_str key,
                          const kc_object *object)
{
    kc__crd_controller *c = e->controller;
    /* No client can remove a finalizer of a group that is not served. */
    bool stays = kc_object_finalizers_json(object).n > 2 &&
                 !kc__resource_key_group_is_builtin(kc_cstr(e->group));
    if (stays && !kc_str_empty(kc_object_deletion_timestamp(object)))
        return;
    kc_object *marked = stays ? c->opts.mark_deleted(object, kc_clock_wall(c->opts.clock)) : NULL;
    if (stays && !marked)
        return;
    kc__crd_write *w = kc_new(kc__crd_write);
    w->cache = kc__watch_cache_ref(cache);
    w->key = kc_str_dup(key);
    w->verb = stays ? KC__STORAGE_PUT : KC__STORAGE_DELETE;
    w->object = marked;
    w->expected = kc_object_revision(object);
    kc__crd_controller_submit(c, w);
}

/* Closes the gate, and returns whether no create is in flight. Call it before counting objects. */
static bool close_gate(kc__crd_entry *e)
{
    if (!e->compiled)
        return true;
    kc__resource_create_gate_close(kc__crd_gate(e->compiled));
    return kc__resource_create_gate_is_empty(kc__crd_gate(e->compiled));
}

/* The cache of the CRD's objects, with a reference; NULL if their prefix is that of a built-in
 * resource. */
static kc__watch_cache *cache_of_objects(kc__crd_entry *e, const kc_value *root)
{
    const kc_value *names = kc_value_get(kc_value_get(root, "spec"), "names");
    kc_scoped(kc_buf) prefix = {0};
    kc__resource_key_custom_prefix(&prefix, kc_cstr(e->group),
                                   kc_value_as_str(kc_value_get(names, "plural")));
    if (kc__resource_key_prefix_is_builtin(kc_buf_str(&prefix)))
        return NULL;
    return kc__store_watch_cache_ref(e->controller->opts.store, kc_buf_str(&prefix));
}

/* Deletes some of the objects; returns true if none is left. */
static bool delete_objects(kc__crd_entry *e, const kc_value *root)
{
    kc__crd_controller *c = e->controller;
    kc_auto(kc__watch_cache) *cache = cache_of_objects(e, root);
    if (!cache)
        return true;
    bool busy = c->in_flight_objects > 0, creating = !close_gate(e);
    uint64_t revision;
    size_t n = 0;
    kc__cow_snapshot *snapshot = kc__watch_cache_snapshot(cache, &revision);
    kc__cow_iter at = kc__cow_iter_start(snapshot, &(kc__cow_range){0});
    while (kc__cow_iter_next(&at))
        if (n++ < DELETES_PER_ROUND && !busy)
            delete_object(e, cache, at.key, at.object);
    kc__cow_snapshot_unref(snapshot);
    c->seen = KC_MAX(c->seen, revision);
    return n == 0 && !creating;
}

/* ---- steps ---- */

static bool objects_are_being_deleted(const kc_value *root)
{
    return kc_str_is(
        kc_value_as_str(kc_value_get(kc__crd_condition(root, "Terminating"), "reason")),
        "InstanceDeletionInProgress");
}

/* Stops serving the CRD before a client can see that it is gone. */
static void withdraw_crd(kc__crd_entry *e)
{
    e->controller->changed |= e->compiled != NULL;
    kc__crd_entry_replace(e, NULL);
    free(e->facts);
    e->facts = NULL;
}

static void write_step(kc__crd_entry *e, const kc_object *object, kc__crd_deletion step)
{
    kc_auto(kc_edit) *edit = kc_edit_of(object);
    kc__crd_set_deletion(edit, step, NULL, kc_clock_wall(e->controller->opts.clock));
    kc_auto(kc_object) *next = kc__crd_freeze(edit, NULL);
    if (!next)
        return;
    kc__crd_controller_put(e, object, next);
    if (kc_object_finalizers_json(next).n > 2)
        return;
    e->controller->writes.items[e->controller->writes.n - 1]->verb = KC__STORAGE_DELETE;
    withdraw_crd(e);
}

void kc__crd_entry_delete(kc__crd_entry *e, const kc_object *object)
{
    kc_auto(kc_view) *view = kc_view_of(object);
    const kc_value *root = kc_view_root(view);
    if (!kc_object_has_finalizer(object, KC_STR(KC__CRD_FINALIZER)))
        return;
    if (!kc__crd_is_established(root) && !kc__crd_group_is_builtin(root))
        write_step(e, object, KC__CRD_DELETION_UNUSED);
    else if (!objects_are_being_deleted(root))
        write_step(e, object, KC__CRD_DELETION_RUNNING);
    else if (delete_objects(e, root))
        write_step(e, object, KC__CRD_DELETION_DONE);
    else
        kc__crd_controller_wake(e->controller, RECOUNT_AFTER);
}
