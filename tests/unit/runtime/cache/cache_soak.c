/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several clients write at random while the transport fails at random; meanwhile each reads its own
 * writes, and another thread lists; at the end cache, event handler and server agree exactly.
 *
 * KC_SOAK_EVENTS sets the number of writes (defaults to some thousand; a million is the long form),
 * and KC_SOAK_SEED the seed.
 */
#include "plane.h"
#include "thread_testing.h"

#include "kc/map.h"
#include "kc/meta.h"

#include <stdio.h>

enum { WRITERS = 3, NAMES = 60 };

typedef struct writer {
    plane *p;
    int number;
    kc_rand rand;
    _Atomic size_t left;
    bool exists[NAMES];
    uint64_t last;
    _Atomic bool done;
    kc_thread *thread;
} writer;

static unsigned long long setting(const char *name, unsigned long long otherwise)
{
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 10) : otherwise;
}

/* ---- writes and read-back ---- */

static uint64_t seen_revision(plane *p, const char *name)
{
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_object) *found =
        kc_client_get(p->cached, &kc_kind_config_map, KC_KEY("default", name), NULL, &err);
    if (!found && !kc_is_not_found(&err))
        fail_msg("%s", kc_error_text(&err));
    return found ? kc_object_revision(found) : 0;
}

static void write_one(writer *w)
{
    const size_t which = kc_rand_below(&w->rand, NAMES);
    char name[32], value[32];
    snprintf(name, sizeof(name), "w%d-%zu", w->number, which);
    snprintf(value, sizeof(value), "v%zu", w->left);
    if (w->exists[which] && kc_rand_below(&w->rand, 3) == 0) {
        erase(w->p->cached, "default", name);
        w->exists[which] = false;
        assert_int_equal(seen_revision(w->p, name), 0);
        return;
    }
    w->last = w->exists[which] ? update(w->p->cached, "default", name, value)
                               : create(w->p->cached, "default", name, "", value);
    w->exists[which] = true;
    assert_int_equal(seen_revision(w->p, name), w->last); /* This test is the only writer. */
}

static void write_all(void *user)
{
    writer *w = user;
    for (; w->left; w->left--)
        write_one(w);
    w->done = true;
}

/* ---- concurrent lists ---- */

typedef struct lister {
    plane *p;
    _Atomic bool stop;
    kc_thread *thread;
} lister;

/* Each list is of one moment: no name is in it twice. */
static void check_list(plane *p, const kc_list_opts *opts)
{
    kc_object_list list = {0};
    kc_scoped(kc_map) names = {0};
    assert_true(kc_cache_list(p->cache, &kc_kind_config_map, opts, &list, NULL) == 0);
    for (size_t i = 0; i < list.n; i++)
        assert_true(!kc_map_put(&names, kc_object_name(list.items[i]), list.items[i]));
    assert_true(list.n <= WRITERS * NAMES);
    kc_object_list_done(&list);
}

static void list_on(void *user)
{
    lister *l = user;
    while (!l->stop) {
        check_list(l->p, NULL);
        check_list(l->p, &(kc_list_opts){.ns = "default"});
        kc_clock_sleep(kc_clock_real(), KC_MILLISECOND);
    }
}

/* ---- journal of an event handler ---- */

static kc_object *mirror_get(const kc_map *mirror, const kc_object *object)
{
    return kc_map_get(mirror, kc_object_name(object));
}

/* Keys are slices of the objects that are kept under them. */
static void on_added(const kc_change *change, void *mirror)
{
    assert_true(!mirror_get(mirror, change->object));
    kc_map_put(mirror, kc_object_name(change->object), kc_object_ref(change->object));
}

static void on_updated(const kc_change *change, void *user)
{
    kc_map *mirror = user;
    kc_object *old = mirror_get(mirror, change->object);
    assert_true(old == change->old);
    assert_true(kc_object_revision(old) <= kc_object_revision(change->object));
    kc_map_put(mirror, kc_object_name(change->object), kc_object_ref(change->object));
    kc_object_unref(old);
}

static void on_deleted(const kc_change *change, void *mirror)
{
    kc_object *old = kc_map_remove(mirror, kc_object_name(change->object));
    assert_true(old);
    kc_object_unref(old);
}

static const kc_event_handler_ops MIRROR = {
    .added = on_added, .updated = on_updated, .deleted = on_deleted};

/* ---- faults ---- */

#define EXPIRED                                                                        \
    "{\"kind\":\"Status\",\"status\":\"Failure\",\"reason\":\"Expired\",\"code\":410," \
    "\"message\":\"too old\"}"
#define BUSY                                                                      \
    "{\"kind\":\"Status\",\"status\":\"Failure\",\"reason\":\"TooManyRequests\"," \
    "\"code\":429,\"message\":\"slow down\"}"

static void inject_faults(plane *p, kc_rand *rand)
{
    switch (kc_rand_below(rand, 9)) {
    case 0: faulty_end_watches(p->faults, true); break;
    case 1: faulty_end_watches(p->faults, false); break;
    case 2: faulty_respond(p->faults, "watch=true", 1, 410, EXPIRED); break;
    case 3: faulty_respond(p->faults, "watch=true", 2, 429, BUSY); break;
    case 4: faulty_respond(p->faults, "GET /api/v1/configmaps", 3, 0, NULL); break;
    case 5:
        faulty_cut(p->faults, "GET /api/v1/configmaps?", 1, 1 + kc_rand_below(rand, 20000));
        break;
    case 6: faulty_drop_events(p->faults, "BOOKMARK"); break;
    case 7: faulty_freeze(p->faults, true); break;
    default:
        faulty_heal(p->faults);
        faulty_freeze(p->faults, false);
        faulty_drop_events(p->faults, NULL);
    }
}

static bool all_done(const writer *writers)
{
    for (int i = 0; i < WRITERS; i++)
        if (!writers[i].done)
            return false;
    return true;
}

static size_t n_left(const writer *writers)
{
    size_t n = 0;
    for (int i = 0; i < WRITERS; i++)
        n += writers[i].left;
    return n;
}

/*
 * Until the writers are done. Time passes in leaps, so that waits are short, but only with the
 * writes, or when all threads wait: on a slow machine no request takes longer than its timeout.
 */
static void inject_faults_until_done(plane *p, const writer *writers, kc_rand *rand)
{
    for (size_t before = 0, now; !all_done(writers); before = now) {
        kc_clock_sleep(kc_clock_real(), KC_MILLISECOND);
        now = n_left(writers);
        if (now == before && !other_threads_wait())
            continue;
        kc_clock_advance(p->clock, 100 * KC_MILLISECOND);
        if (kc_rand_below(rand, 10) == 0)
            inject_faults(p, rand);
    }
    faulty_heal(p->faults);
    faulty_freeze(p->faults, false);
    faulty_drop_events(p->faults, NULL);
}

/* ---- agreement ---- */

static void check_agreement(plane *p, const kc_map *mirror)
{
    kc_object_list at_server = {0}, in_cache = {0};
    kc_scoped(kc_map) cached = {0};
    assert_int_equal(kc_client_list(p->client, &kc_kind_config_map, NULL, &at_server, NULL), 0);
    assert_int_equal(kc_cache_list(p->cache, &kc_kind_config_map, NULL, &in_cache, NULL), 0);
    assert_int_equal(in_cache.n, at_server.n);
    assert_int_equal(mirror->n, at_server.n);
    for (size_t i = 0; i < in_cache.n; i++)
        kc_map_put(&cached, kc_object_name(in_cache.items[i]), in_cache.items[i]);
    for (size_t i = 0; i < at_server.n; i++) {
        kc_auto(kc_object) *server =
            kc_transform_strip_managed_fields(kc_object_ref(at_server.items[i]), NULL);
        const kc_object *here = mirror_get(&cached, server), *notified = mirror_get(mirror, server);
        assert_non_null(here);
        assert_true(kc_str_eq(kc_object_json(here), kc_object_json(server)));
        assert_ptr_equal(here, notified);
    }
    kc_object_list_done(&at_server);
    kc_object_list_done(&in_cache);
}

static void soak(const kc_cache_opts *opts, uint64_t seed, size_t events)
{
    kc_rand rand;
    kc_rand_seed(&rand, seed);
    plane *p = plane_virtual(opts);
    kc_scoped(kc_map) mirror = {0};
    kc_informer *informer = kc_cache_informer(p->cache, &kc_kind_config_map, NULL);
    kc_event_handler *l = kc_informer_add_handler(informer, &MIRROR, &mirror, 0);
    kc_cache_start(p->cache, NULL);
    eventually(kc_informer_has_synced(informer));
    lister reads = {.p = p};
    reads.thread = kc_thread_start("lister", list_on, &reads, NULL);
    writer writers[WRITERS];
    for (int i = 0; i < WRITERS; i++) {
        writers[i] =
            (writer){.p = p, .number = i, .rand = kc_rand_split(&rand), .left = events / WRITERS};
        writers[i].thread = kc_thread_start("writer", write_all, &writers[i], NULL);
    }
    inject_faults_until_done(p, writers, &rand);
    for (int i = 0; i < WRITERS; i++)
        kc_thread_join(writers[i].thread);
    reads.stop = true;
    kc_thread_join(reads.thread);
    const uint64_t last = create(p->client, "default", "last", "", "v");
    eventually(kc_informer_revision(informer) >= last);
    kc_event_handler_remove(l);
    check_agreement(p, &mirror);
    kc_map_each (&mirror, entry)
        kc_object_unref(entry->value);
    kc_informer_release(informer);
    plane_free(p);
}

static void cache_equals_server_after_faults(void **state)
{
    (void)state;
    soak(NULL, setting("KC_SOAK_SEED", 1), setting("KC_SOAK_EVENTS", 3000));
}

static void cache_with_plain_lists_equals_server_after_faults(void **state)
{
    (void)state;
    soak(&(kc_cache_opts){.plain_lists = true}, setting("KC_SOAK_SEED", 2),
         setting("KC_SOAK_EVENTS", 3000));
}

TESTS(cache_equals_server_after_faults, cache_with_plain_lists_equals_server_after_faults)
