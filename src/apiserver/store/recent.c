/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recent.c: the order of all events in all rings, oldest first, so that the rings share their
 * limits of bytes and age: a busy resource shortens the history of a quiet one no more than
 * necessary, and no resource reserves a share that it does not use.
 *
 *     rings    pods │ 7  8  10 │   configmaps │ 9 │
 *     runs     pods x 2 │ configmaps x 1 │ pods x 1       7 8, then 9, then 10
 *
 * The events themselves are in the rings; the runs only record which ring drops next, because the
 * oldest event of all is the oldest of its ring. The events of a batch have the same time, so a
 * batch of one resource is one run. Used by the committer only.
 */
#include "apiserver/store/store_internal.h"

enum { FEWEST = 256 };

void kc__store_recent_done(kc__store_recent *recent)
{
    free(recent->runs);
}

static kc__store_recent_run *run_at(const kc__store_recent *recent, size_t i)
{
    return &recent->runs[(recent->first + i) & (recent->room - 1)];
}

static void resize_runs(kc__store_recent *recent, size_t room)
{
    kc__store_recent_run *runs = kc_reallocarray(NULL, room, sizeof(*runs));
    for (size_t i = 0; i < recent->n_runs; i++)
        runs[i] = *run_at(recent, i);
    free(recent->runs);
    recent->runs = runs;
    recent->first = 0;
    recent->room = room;
}

static void begin_run(kc__store_recent *recent, kc__watch_cache *cache, int64_t now)
{
    if (recent->n_runs == recent->room)
        resize_runs(recent, KC_MAX(recent->room * 2, FEWEST));
    *run_at(recent, recent->n_runs++) = (kc__store_recent_run){.cache = cache, .since = now};
    recent->bytes += sizeof(kc__store_recent_run);
}

static void end_oldest_run(kc__store_recent *recent)
{
    recent->bytes -= sizeof(kc__store_recent_run);
    recent->first = (recent->first + 1) & (recent->room - 1);
    recent->n_runs--;
    if (recent->room > FEWEST && recent->n_runs < recent->room / 8)
        resize_runs(recent, recent->room / 4);
}

static size_t bytes_of_event(const kc__store_event *event)
{
    return kc__store_event_weight(event) + sizeof(kc__store_event *);
}

void kc__store_recent_add(kc__store_recent *recent, kc__watch_cache *cache,
                          const kc__store_event *event, int64_t now)
{
    const kc__store_recent_run *last = recent->n_runs ? run_at(recent, recent->n_runs - 1) : NULL;
    if (!last || last->cache != cache || last->since != now)
        begin_run(recent, cache, now);
    run_at(recent, recent->n_runs - 1)->n++;
    recent->n++;
    recent->bytes += bytes_of_event(event);
    kc__store_ring_push(&cache->ring, event);
}

static void drop_oldest(kc__store_recent *recent)
{
    kc__store_recent_run *run = run_at(recent, 0);
    kc_auto(kc__store_event) *event = kc__store_ring_drop(&run->cache->ring);
    kc__store_holds_forget(run->cache, event);
    recent->bytes -= bytes_of_event(event);
    recent->n--;
    if (--run->n == 0)
        end_oldest_run(recent);
}

static bool exceeds_limits(const kc__store_recent *recent, int64_t now, const kc__store_opts *opts)
{
    const int64_t age = now - run_at(recent, 0)->since;
    return recent->bytes > opts->event_bytes || age > opts->event_age ||
           (recent->bytes > opts->settled_bytes && age > opts->settle_age);
}

void kc__store_recent_trim(kc__store_recent *recent, int64_t now, const kc__store_opts *opts)
{
    while (recent->n && exceeds_limits(recent, now, opts))
        drop_oldest(recent);
}

void kc__store_recent_clear(kc__store_recent *recent)
{
    while (recent->n)
        drop_oldest(recent);
}
