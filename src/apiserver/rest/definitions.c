/* SPDX-License-Identifier: Apache-2.0 */
/*
 * definitions.c: the controller of CustomResourceDefinitions.
 *
 *     a definition changed ─▶ its status ─▶ compiled ─▶ a new snapshot is served ─▶ status stored
 *
 * All of it runs on one loop. A watch of the definitions says that something changed; what there is
 * to do is seen from the cache, so a change that comes while others are at work is not lost. What
 * is to be served is served before anybody can read that it is established.
 *
 * A name belongs to who had it first. Those that did not get theirs are asked again with every
 * change. A definition that is being deleted takes its objects along (definition_end.c).
 */
#include "apiserver/rest/definitions.h"

#include "apiserver/crd/crd_gate.h"
#include "apiserver/crd/crd_status.h"
#include "apiserver/crd/crd_type.h"
#include "apiserver/rest/definitions_internal.h"
#include "kc/thread.h"

/* After the store failed. */
#define RETRY_AFTER KC_SECOND

typedef struct taken_names {
    char *group;
    kc__crd_names names;
} taken_names;

/* ---- one definition ---- */

static void entry_free(kc__crd_entry *d)
{
    kc__crd_replace(d, NULL);
    kc_view_free(d->names);
    free(d->group);
    free(d->facts);
    free(d->name);
    free(d);
}

static kc__crd_entry *entry_of(kc__crds *all, const kc_object *object)
{
    kc__crd_entry *d = kc_map_get(&all->entries, kc_object_name(object));
    if (d)
        return d;
    d = kc_new(kc__crd_entry);
    d->all = all;
    d->name = kc_str_dup(kc_object_name(object));
    kc_map_put(&all->entries, kc_cstr(d->name), d);
    return d;
}

/* What decides about how it is served, but for the spec's own text, which has a number. */
static char *facts_of(const kc_object *object, const kc_value *root)
{
    kc_scoped(kc_buf) out = {0};
    kc_buf_printf(&out, "%lld %d %d ", (long long)kc_object_generation(object),
                  kc__crd_is_established(root), kc__crd_is_terminating(root));
    kc_buf_append(&out, kc_object_uid(object));
    kc_json_write(&out, kc_get(kc_get(root, "status"), "acceptedNames"));
    return kc_buf_take(&out);
}

static void take_names(kc__crd_entry *d, const kc_value *root)
{
    kc_scoped(kc_buf) out = {0};
    const kc_value *names = kc_get(kc_get(root, "status"), "acceptedNames");
    kc_buf_puts(&out, "{\"status\":{\"acceptedNames\":");
    if (names)
        kc_json_write(&out, names);
    else
        kc_buf_puts(&out, "{}");
    kc_buf_puts(&out, "}}");
    kc_view_free(d->names);
    d->names = kc_view_parse(kc_buf_str(&out), NULL, NULL);
    free(d->group);
    d->group = kc_str_dup(kc_as_str(kc_get(kc_get(root, "spec"), "group")));
}

/* Nothing is created through what nobody knows any more. */
static void close_gate(const kc__crd *before, const kc__crd *now)
{
    if (!now || kc__crd_gate(now) != kc__crd_gate(before))
        kc__gate_close(kc__crd_gate(before));
}

void kc__crd_replace(kc__crd_entry *d, kc__crd *compiled)
{
    kc__crd *before = d->compiled;
    d->compiled = compiled;
    if (!before)
        return;
    close_gate(before, compiled);
    d->all->withdrawn |= !compiled || !kc__crd_serves_alike(before, compiled);
    kc__crd_unref(before);
}

/* Serves it as `object` says. */
static void serve(kc__crd_entry *d, const kc_object *object)
{
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_view) *view = kc_view_of(object);
    const kc_value *root = kc_view_root(view);
    kc_autofree char *facts = facts_of(object, root);
    take_names(d, root);
    if (d->facts && !strcmp(d->facts, facts))
        return;
    kc__crd_replace(d, kc__crd_is_established(root) ? kc__crd_compile(object, d->compiled, &err)
                                                    : NULL);
    if (err.reason)
        kc_log_error(d->all->api->log, "a custom resource is not served", kc_kv("err", &err));
    free(d->facts);
    d->facts = kc_take(facts);
    d->all->changed = true;
}

/* ---- its status ---- */

/* The names that are taken in a group: collected once for a round in which somebody asks. What
 * becomes free in a round is so in the next. */
static kc__crd_names *names_of_group(kc__crds *all, kc_str group)
{
    taken_names *t = kc_map_get(&all->taken, group);
    if (t)
        return &t->names;
    t = kc_new(taken_names);
    t->group = kc_str_dup(group);
    kc_map_put(&all->taken, kc_cstr(t->group), t);
    return &t->names;
}

static void add_names(const kc__crd_entry *d)
{
    if (d->names)
        kc__crd_names_add(names_of_group(d->all, kc_cstr(d->group)), kc_view_root(d->names));
}

static void collect_names(kc__crds *all)
{
    if (all->collected)
        return;
    all->collected = true;
    kc_map_each (&all->entries, at)
        add_names(at->value);
}

static void forget_names(kc__crds *all)
{
    kc_map_each (&all->taken, at) {
        taken_names *t = at->value;
        kc__crd_names_done(&t->names);
        free(t->group);
        free(t);
    }
    kc_map_done(&all->taken);
    all->taken = (kc_map){0};
    all->collected = false;
}

/* The definition with its status of now; NULL: that is what it has. */
static kc_object *with_status(kc__crd_entry *d, const kc_object *object)
{
    kc_auto(kc_view) *view = kc_view_of(object);
    const kc_value *root = kc_view_root(view);
    collect_names(d->all);
    const kc__crd_names *taken =
        names_of_group(d->all, kc_as_str(kc_get(kc_get(root, "spec"), "group")));
    kc_auto(kc_edit) *edit = kc_edit_of(object);
    if (!kc__crd_update_status(edit, root, taken, kc_clock_wall(d->all->api->clock)))
        return NULL;
    return kc__crd_freeze(edit, NULL);
}

static bool names_are_accepted(const kc_object *object)
{
    kc_auto(kc_view) *view = kc_view_of(object);
    kc_items (kc_get(kc_get(kc_view_root(view), "status"), "conditions"), condition)
        if (kc_str_is(kc_as_str(kc_get(condition, "type")), "NamesAccepted"))
            return kc_str_is(kc_as_str(kc_get(condition, "status")), "True");
    return false;
}

static void look_at(kc__crds *all, const kc_object *object)
{
    kc__crd_entry *d = entry_of(all, object);
    bool dying = !kc_str_empty(kc_object_deletion_timestamp(object));
    if (d->writing || (d->revision == kc_object_revision(object) && !d->waits && !dying))
        return;
    d->revision = kc_object_revision(object);
    if (dying) {
        serve(d, object);
        kc__crd_end(d, object);
        return;
    }
    kc_auto(kc_object) *next = with_status(d, object);
    serve(d, next ? next : object);
    add_names(d);
    d->waits = !names_are_accepted(next ? next : object);
    if (next)
        kc__crd_put(d, object, next);
}

/* ---- writing ---- */

void kc__crd_put(kc__crd_entry *d, const kc_object *old, const kc_object *next)
{
    kc__crd_write *w = kc_new(kc__crd_write);
    w->cache = d->all->api->definitions;
    w->key = kc_str_dup(kc_cstr(d->name));
    w->object = kc_object_ref(next);
    w->expected = kc_object_revision(old);
    w->verb = KC_STORAGE_PUT;
    d->writing = true;
    w->definition = d;
    kc_vec_push(&d->all->writes, w);
}

/* Where somebody was faster, or the store failed, it is looked at again. */
static void settle(kc__crd_write *w)
{
    if (!w->definition) {
        w->all->in_flight_objects--;
        return;
    }
    w->definition->writing = false;
    if (w->write.outcome != KC_STORAGE_STORED || w->write.error.reason)
        w->definition->revision = 0;
}

static void written(kc__write *write)
{
    kc__crd_write *w = kc_container_of(write, kc__crd_write, write);
    kc__crds *all = w->all;
    int64_t delay = write->error.reason ? RETRY_AFTER : 0;
    settle(w);
    if (write->error.reason)
        kc_log_error(all->api->log, "what belongs to a definition could not be written",
                     kc_kv("err", &write->error));
    kc_object_unref(write->result);
    kc_error_done(&write->error);
    kc_object_unref(w->object);
    free(w->key);
    free(w);
    if (!all->stopped)
        kc__timer_start(&all->timer, kc_clock_deadline(all->api->clock, delay));
}

void kc__crds_submit(kc__crds *all, kc__crd_write *w)
{
    w->all = all;
    w->write = (kc__write){.cache = w->cache,
                           .verb = w->verb,
                           .key = kc_cstr(w->key),
                           .expected = w->expected,
                           .object = w->object,
                           .loop = all->api->lanes[0].loop,
                           .done = written};
    all->in_flight_objects += !w->definition;
    kc__store_submit(all->api->store, &w->write);
}

/* ---- all of them ---- */

static void forget_gone(kc__crds *all)
{
    KC_VEC(kc__crd_entry *) gone = {0};
    kc_map_each (&all->entries, at) {
        kc__crd_entry *d = at->value;
        if (d->seen != all->round && !d->writing)
            kc_vec_push(&gone, d);
    }
    for (size_t i = 0; i < gone.n; i++) {
        all->changed |= gone.items[i]->compiled != NULL;
        kc_map_remove(&all->entries, kc_cstr(gone.items[i]->name));
        entry_free(gone.items[i]);
    }
    kc_vec_done(&gone);
}

static void publish(kc__crds *all)
{
    kc_scoped(kc_error) err = {0};
    KC_VEC(const kc__resource_set *) sets = {0};
    kc_map_each (&all->entries, at) {
        const kc__crd_entry *d = at->value;
        if (d->compiled)
            kc_vec_push(&sets, kc__crd_resources(d->compiled));
    }
    kc__snapshot *next = kc__snapshot_new(all->api->store, sets.items, sets.n, &err);
    if (next) {
        kc__snapshots_replace(all->api->snapshots, next);
        if (all->withdrawn)
            kc__watches_renew(all->api, all->seen);
        all->withdrawn = false;
    } else {
        kc_log_error(all->api->log, "custom resources are not served", kc_kv("err", &err));
    }
    all->changed = false;
    kc_vec_done(&sets);
}

static void sync_all(kc__crds *all)
{
    uint64_t revision;
    kc_cow_snapshot *snapshot = kc__cache_snapshot(all->api->definitions, &revision);
    kc_cow_iter at = kc_cow_iter_start(snapshot, &(kc_cow_range){0});
    all->round++;
    all->seen = KC_MAX(all->seen, revision);
    while (kc_cow_iter_next(&at))
        entry_of(all, at.object)->seen = all->round;
    forget_gone(all); /* First: their names are free. */
    at = kc_cow_iter_start(snapshot, &(kc_cow_range){0});
    while (kc_cow_iter_next(&at))
        look_at(all, at.object);
    kc_cow_snapshot_unref(snapshot);
    forget_names(all);
    if (all->changed)
        publish(all);
    for (size_t i = 0; i < all->writes.n; i++)
        kc__crds_submit(all, all->writes.items[i]);
    all->writes.n = 0;
}

/* ---- waking up ---- */

static void events_came(void *user);

static void watch(kc__crds *all)
{
    uint64_t revision;
    kc_cow_snapshot_unref(kc__cache_snapshot(all->api->definitions, &revision));
    kc__watch_stop(all->watcher);
    all->watcher = kc__watch_start(&(kc__watch_opts){.cache = all->api->definitions,
                                                     .loop = all->api->lanes[0].loop,
                                                     .since = revision,
                                                     .ready = events_came,
                                                     .user = all});
}

/* The watch is a bell: what it says is not looked at. */
static void empty_watch(kc__crds *all)
{
    for (;;) {
        kc_auto(kc__event) *event = NULL;
        kc__watch_state state = kc__watch_next(all->watcher, &event);
        if (state == KC__WATCH_EMPTY)
            return;
        if (state != KC__WATCH_EVENT)
            watch(all);
    }
}

static void due(kc__timer *timer)
{
    kc__crds *all = kc_container_of(timer, kc__crds, timer);
    empty_watch(all);
    sync_all(all);
}

/* Not from within the hub, which goes on with its watchers. */
static void events_came(void *user)
{
    kc__crds *all = user;
    kc__timer_start(&all->timer, kc_clock_deadline(all->api->clock, 0));
}

/* ---- starting and stopping ---- */

typedef struct errand {
    kc__task task;
    kc__crds *all;
    kc_latch latch;
} errand;

static void begin(kc__task *task)
{
    errand *e = kc_container_of(task, errand, task);
    watch(e->all);
    empty_watch(e->all);
    sync_all(e->all);
    kc_latch_count_down(&e->latch);
}

static void end(kc__task *task)
{
    errand *e = kc_container_of(task, errand, task);
    e->all->stopped = true;
    kc__timer_stop(&e->all->timer);
    e->all->watcher = kc__watch_stop(e->all->watcher);
    kc_latch_count_down(&e->latch);
}

static void run(kc__crds *all, void (*what)(kc__task *task))
{
    errand e = {.task.run = what, .all = all};
    kc_latch_init(&e.latch);
    kc_latch_add(&e.latch, 1);
    kc__loop_post(all->api->lanes[0].loop, &e.task);
    kc_latch_wait(&e.latch);
    kc_latch_done(&e.latch);
}

kc__crds *kc__crds_start(kc__api *api)
{
    kc__crds *all = kc_new(kc__crds);
    all->api = api;
    all->timer = (kc__timer){.loop = api->lanes[0].loop, .fire = due};
    run(all, begin);
    return all;
}

void kc__crds_stop(kc__crds *definitions)
{
    run(definitions, end);
}

kc__crds *kc__crds_free(kc__crds *definitions)
{
    if (!definitions)
        return NULL;
    kc_map_each (&definitions->entries, at)
        entry_free(at->value);
    kc_map_done(&definitions->entries);
    kc_vec_done(&definitions->writes);
    free(definitions);
    return NULL;
}
