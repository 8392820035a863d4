/* SPDX-License-Identifier: Apache-2.0 */
/*
 * evict.c: closes connections when there are too many, so that a new client can connect while
 * thousands of idle connections are open.
 *
 * The acceptor starts a round when the number of connections is within a margin of the limit, when
 * it has reached the limit, and when the process has no descriptor left. In a round every loop
 * closes its part of a PART-th of all connections. The owner of the server starts rounds when
 * memory is short: each closes an IDLE_PART-th, because many are needed to free much. A round ends
 * with the first stage of the table that finds any:
 *
 *     unauthenticated for a second or more
 *     authenticated, without an open request for half a minute
 *     unauthenticated                                             only if there is no room at all
 *     authenticated, without an open request                      likewise
 *
 * So a client that is just authenticating, or pauses between requests, is evicted last.
 *
 * Threads: a round is counted under the group's mutex; the loop that ends a stage starts the next.
 */
#include "http/server/shard.h"

enum { PART = 64, IDLE_PART = 8, MARGIN_PART = 16, MAX_MARGIN = 256 };

static const struct evict_stage {
    bool authenticated;
    int64_t idle_for;
    bool when_full; /* Only if there is no room at all. */
} stages[] = {
    {false, KC_SECOND, false},
    {true, 30 * KC_SECOND, false},
    {false, 0, true},
    {true, 0, true},
};

bool kc__shard_group_is_tight(kc__shard_group *group)
{
    size_t margin = KC_MIN(group->max_open / MARGIN_PART, (size_t)MAX_MARGIN);
    bool tight = false;
    kc_locked (&group->mutex)
        tight = margin && group->open + margin >= group->max_open;
    return tight;
}

/* Requires the mutex. */
static void begin_stage(kc__shard_group *group, size_t stage)
{
    group->stage = stage;
    group->evicted = 0;
    group->evicting = group->n_shards;
}

static void post_all(kc__shard_group *group)
{
    for (size_t i = 0; i < group->n_shards; i++)
        kc__shard_post_evict(group->shards[i]);
}

static void begin_round(kc__shard_group *group, size_t part, bool full)
{
    bool begins = false;
    kc_locked (&group->mutex) {
        begins = !group->evicting && !group->closed;
        group->full = full || (group->full && !begins);
        if (begins) {
            group->part = part;
            begin_stage(group, 0);
        }
    }
    if (begins)
        post_all(group);
}

void kc__shard_group_evict(kc__shard_group *group, bool full)
{
    begin_round(group, PART, full);
}

void kc__shard_group_evict_idle(kc__shard_group *group)
{
    begin_round(group, IDLE_PART, false);
}

void kc__shard_group_close(kc__shard_group *group)
{
    kc_locked (&group->mutex)
        group->closed = true;
}

/* Requires the mutex. */
static bool has_next_stage(const kc__shard_group *group)
{
    size_t next = group->stage + 1;
    return next < KC_COUNT(stages) && (group->full || !stages[next].when_full);
}

/* Records the result of a shard. Returns true if it was the last of a stage that found nothing
 * and there is another stage. */
static bool note(kc__shard_group *group, size_t evicted)
{
    bool next = false;
    kc_locked (&group->mutex) {
        group->evicted += evicted;
        next = group->evicting == 1 && !group->evicted && has_next_stage(group);
        if (next)
            begin_stage(group, group->stage + 1);
        else
            group->evicting--;
        kc_cond_broadcast(&group->changed);
    }
    return next;
}

void kc__shard_group_evict_local(kc__shard_group *group, kc__transport_context *context)
{
    struct evict_stage stage = {0};
    size_t want = 0;
    kc_locked (&group->mutex) {
        stage = stages[group->stage];
        want = group->open / group->part / group->n_shards + 1;
    }
    size_t evicted =
        kc__transport_context_evict(context, stage.authenticated, stage.idle_for, want);
    kc_counter_add(stage.authenticated ? group->evicted_idle : group->evicted_unauthenticated,
                   (double)evicted);
    if (note(group, evicted))
        post_all(group);
}
