/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_expiry.c: deletes expired Events, and the oldest Events of a namespace that has too many.
 *
 *     expired   not written for `ttl` (kube-apiserver's --event-ttl, where etcd's leases do it):
 *               creationTimestamp, which the server sets, or a later lastTimestamp or
 *               series.lastObservedTime, which clients set when it happens again. A time in the
 *               future is ignored.
 *     too many  above 90 % of a limit: the oldest by resourceVersion are deleted, down to 80 %. At
 *               100 %, a create is rejected with 429 (kc__admission_event_quota).
 *
 * A shared storage deletes expired Events itself (kc__event_expiry_ttl), by the time of their last
 * write.
 *
 * A sweep walks a snapshot on one loop, a few thousand Events at a time, and deletes with a
 * compare-and-swap: an Event that is written meanwhile stays. The timer runs only while there are
 * Events; creating one starts it. Everything belongs to the first loop, except
 * `kc__event_expiry_admits`.
 */
#include "apiserver/background/event_expiry.h"

#include "kc/time.h"
#include "kc/vec.h"
#include "kc/view.h"

enum {
    SLICE = 4000,       /* Events examined before the loop serves others. */
    MAX_DELETES = 2000, /* Deletions in progress at a time. */
    SWEEPS = 60,        /* Sweeps per ttl. */
};
#define DEFAULT_TTL       KC_HOUR
#define DEFAULT_NAMESPACE ((size_t)20000)
#define DEFAULT_TOTAL     ((size_t)60000)
#define RECHECK_AFTER     (100 * KC_MILLISECOND) /* While deletions are in progress. */

struct kc__event_expiry {
    kc__rest_api *api;
    kc__watch_cache *cache;
    kc__event_expiry_limits limits;
    int64_t interval;
    kc_counter *expired, *trimmed, *refused;
    kc__loop_timer timer;
    kc__loop_task wake;
    _Atomic bool armed;  /* The timer runs, or is about to. */
    _Atomic bool urgent; /* A limit is near. */
    _Atomic bool posted; /* `wake` is posted to the loop. */
    bool stopped;
    char *after; /* Where the sweep for expired Events continues; NULL: at the beginning. */
    size_t deleting;
};

/* A deletion in progress. */
typedef struct deletion {
    kc__store_write write;
    kc__event_expiry *expiry;
    char key[];
} deletion;

/* ---- deleting ---- */

static void deleted(kc__store_write *write)
{
    deletion *d = kc_container_of(write, deletion, write);
    d->expiry->deleting--;
    kc_object_unref(write->result);
    kc_error_done(&write->error);
    free(d);
}

static void delete_event(kc__event_expiry *e, kc_str key, const kc_object *object)
{
    deletion *d = kc_calloc(1, sizeof(*d) + key.n);
    memcpy(d->key, key.p, key.n);
    d->expiry = e;
    d->write = (kc__store_write){.cache = e->cache,
                                 .verb = KC__STORAGE_DELETE,
                                 .key = kc_str_of(d->key, key.n),
                                 .expected = kc_object_revision(object),
                                 .loop = e->timer.loop,
                                 .done = deleted};
    e->deleting++;
    kc__store_submit(e->api->store, &d->write);
}

/* ---- expired Events ---- */

static void later_of(kc_time *at, kc_str text, kc_time now)
{
    kc_time time;
    if (text.n &&
        (kc_time_parse(text, &time, NULL) == 0 || kc_time_parse_micro(text, &time, NULL) == 0) &&
        time <= now)
        *at = KC_MAX(*at, time);
}

/* Most Events are young, and need not be parsed. */
static bool is_old(const kc__event_expiry *e, const kc_object *event, kc_time now)
{
    kc_time at = 0;
    later_of(&at, kc_object_creation_timestamp(event), now);
    if (now - at < e->limits.ttl)
        return false;
    kc_auto(kc_view) *view = kc_view_of(event);
    const kc_value *root = kc_view_root(view);
    later_of(&at, kc_value_as_str(kc_value_get(root, "lastTimestamp")), now);
    later_of(&at, kc_value_as_str(kc_value_get(kc_value_get(root, "series"), "lastObservedTime")),
             now);
    return now - at >= e->limits.ttl;
}

/* Sweeps one slice. True at the end of the snapshot. */
static bool sweep_old(kc__event_expiry *e, const kc__cow_snapshot *all)
{
    const kc_time now = kc_clock_wall(e->api->clock);
    kc__cow_iter it = kc__cow_iter_start(all, &(kc__cow_range){.after = kc_cstr(e->after)});
    int seen = 0;
    while (kc__cow_iter_next(&it)) {
        if (is_old(e, it.object, now)) {
            kc_counter_inc(e->expired);
            delete_event(e, it.key, it.object);
        }
        if (++seen < SLICE && e->deleting < MAX_DELETES)
            continue;
        free(e->after);
        e->after = kc_str_dup(it.key);
        return false;
    }
    free(e->after);
    e->after = NULL;
    return true;
}

/* ---- limits ---- */

typedef struct expiry_candidate {
    uint64_t revision;
    kc_str key;
    const kc_object *object;
} expiry_candidate;

static int by_revision(const void *a, const void *b)
{
    const uint64_t x = ((const expiry_candidate *)a)->revision,
                   y = ((const expiry_candidate *)b)->revision;
    return x < y ? -1 : x > y;
}

/* Deletes the oldest Events under a prefix, down to 80 % of `limit`. */
static void trim_events(kc__event_expiry *e, const kc__cow_snapshot *all, kc_str prefix,
                        size_t limit)
{
    KC_VEC(expiry_candidate) found = {0};
    kc__cow_iter it = kc__cow_iter_start(all, &(kc__cow_range){.prefix = prefix});
    while (kc__cow_iter_next(&it))
        kc_vec_push(&found, ((expiry_candidate){kc_object_revision(it.object), it.key, it.object}));
    kc_vec_sort(&found, by_revision);
    const size_t rest = limit - limit / 5, n = found.n > rest ? found.n - rest : 0;
    for (size_t i = 0; i < n && e->deleting < MAX_DELETES; i++) {
        kc_counter_inc(e->trimmed);
        delete_event(e, found.items[i].key, found.items[i].object);
    }
    kc_vec_done(&found);
}

static bool is_near(size_t n, size_t limit)
{
    return n >= limit - limit / 10;
}

/* Trims namespace by namespace, without walking their Events. */
static void trim_namespaces(kc__event_expiry *e, const kc__cow_snapshot *all)
{
    kc_scoped(kc_buf) from = {0};
    for (;;) {
        kc__cow_iter it = kc__cow_iter_start(all, &(kc__cow_range){.from = kc_buf_str(&from)});
        if (!kc__cow_iter_next(&it))
            return;
        const kc_str ns = kc_str_sub(it.key, 0, (size_t)(kc_str_find(it.key, '/') + 1));
        if (is_near(kc__cow_snapshot_count_in(all, &(kc__cow_range){.prefix = ns}),
                    e->limits.max_namespace))
            trim_events(e, all, ns, e->limits.max_namespace);
        kc_buf_clear(&from);
        kc_buf_append(&from, kc_str_sub(ns, 0, ns.n - 1));
        kc_buf_putc(&from, '/' + 1);
    }
}

static void sweep_many(kc__event_expiry *e, const kc__cow_snapshot *all)
{
    trim_namespaces(e, all);
    if (is_near(kc__cow_snapshot_count(all) - KC_MIN(e->deleting, kc__cow_snapshot_count(all)),
                e->limits.max_total))
        trim_events(e, all, (kc_str){0}, e->limits.max_total);
}

/* ---- timer ---- */

static void start_timer(kc__event_expiry *e, int64_t after)
{
    kc__loop_timer_start(&e->timer, kc_clock_deadline(e->api->clock, after));
}

static void event_expiry_due(kc__loop_timer *timer)
{
    kc__event_expiry *e = kc_container_of(timer, kc__event_expiry, timer);
    if (e->deleting) { /* Otherwise an Event would be counted and deleted twice. */
        start_timer(e, RECHECK_AFTER);
        return;
    }
    uint64_t revision;
    kc_auto(kc__cow_snapshot) *all = kc__watch_cache_snapshot(e->cache, &revision);
    if (atomic_exchange(&e->urgent, false))
        sweep_many(e, all);
    const bool complete = kc__store_is_shared(kc__watch_cache_store(e->cache)) || sweep_old(e, all);
    if (kc__cow_snapshot_count(all) == 0)
        atomic_store(&e->armed, false);
    else
        start_timer(e, complete && !e->deleting ? e->interval : complete ? RECHECK_AFTER : 0);
}

static void wake_up(kc__loop_task *task)
{
    kc__event_expiry *e = kc_container_of(task, kc__event_expiry, wake);
    atomic_store(&e->posted, false);
    if (!e->stopped)
        start_timer(e, atomic_load(&e->urgent) ? 0 : e->interval);
}

int64_t kc__event_expiry_ttl(const kc__event_expiry *e, const kc__watch_cache *cache)
{
    if (!e || cache != e->cache || !kc__store_is_shared(kc__watch_cache_store(cache)))
        return 0;
    return KC_MAX(e->limits.ttl / KC_SECOND, 1);
}

bool kc__event_expiry_admits(kc__event_expiry *e, kc_str ns)
{
    kc_scoped(kc_buf) prefix = {0};
    uint64_t revision;
    kc_buf_append(&prefix, ns);
    kc_buf_putc(&prefix, '/');
    kc_auto(kc__cow_snapshot) *all = kc__watch_cache_snapshot(e->cache, &revision);
    const size_t total = kc__cow_snapshot_count(all);
    const size_t own =
        kc__cow_snapshot_count_in(all, &(kc__cow_range){.prefix = kc_buf_str(&prefix)});
    const bool near = is_near(total, e->limits.max_total) || is_near(own, e->limits.max_namespace);
    const bool becomes_urgent = near && !atomic_exchange(&e->urgent, true);
    const bool wakes = !atomic_exchange(&e->armed, true) || becomes_urgent;
    if (wakes && !atomic_exchange(&e->posted, true))
        kc__loop_post(e->timer.loop, &e->wake);
    if (total < e->limits.max_total && own < e->limits.max_namespace)
        return true;
    kc_counter_inc(e->refused);
    return false;
}

/* ---- start and stop ---- */

static kc_counter *count_expiring_event(kc__rest_api *api, const char *why)
{
    return kc_metric_counter(
        kc_metrics_counter(
            api->metrics,
            &(kc_metric_opts){.name = "kc_events_removed_total",
                              .help =
                                  "Events deleted by age (ttl) or by quota, or rejected by quota.",
                              .labels = {{"reason", KC_LABEL_VALUES("ttl", "quota", "refused")}}},
            NULL),
        kc_cstr(why));
}

static kc__watch_cache *find_cache(kc__rest_api *api)
{
    size_t n;
    kc__rest_catalog *held = NULL;
    const kc__rest_catalog *now = kc__rest_catalog_slot_current(api->catalog_slot, &held);
    const kc__resource *events =
        kc__registry_find(now->kinds, KC_STR(""), KC_STR("v1"), KC_STR("events"));
    kc__watch_cache *cache = now->served[events - kc__registry_resources(now->kinds, &n)].cache;
    kc__rest_catalog_unref(held);
    return cache;
}

kc__event_expiry *kc__event_expiry_start(kc__rest_api *api, const kc__event_expiry_limits *limits)
{
    kc__event_expiry *e = kc_new(kc__event_expiry);
    e->api = api;
    e->cache = find_cache(api);
    e->limits = *limits;
    kc__event_expiry_limits *l = &e->limits;
    l->ttl = l->ttl ? l->ttl : DEFAULT_TTL;
    l->max_namespace = l->max_namespace ? l->max_namespace : DEFAULT_NAMESPACE;
    l->max_total = l->max_total ? l->max_total : DEFAULT_TOTAL;
    e->interval = KC_MAX(l->ttl / SWEEPS, KC_SECOND / 10);
    e->expired = count_expiring_event(api, "ttl");
    e->trimmed = count_expiring_event(api, "quota");
    e->refused = count_expiring_event(api, "refused");
    e->timer = (kc__loop_timer){.loop = api->contexts[0].loop, .fire = event_expiry_due};
    e->wake = (kc__loop_task){.run = wake_up};
    atomic_store(&e->urgent, true);
    atomic_store(&e->armed, true);
    atomic_store(&e->posted, true);
    kc__loop_post(e->timer.loop, &e->wake); /* For the Events that are already stored. */
    return e;
}

static void end_event_expiry(void *user)
{
    kc__event_expiry *e = user;
    e->stopped = true;
    kc__loop_timer_stop(&e->timer);
}

void kc__event_expiry_stop(kc__event_expiry *e)
{
    kc__loop_call(e->timer.loop, end_event_expiry, e);
}

kc__event_expiry *kc__event_expiry_free(kc__event_expiry *e)
{
    if (!e)
        return NULL;
    free(e->after);
    free(e);
    return NULL;
}
