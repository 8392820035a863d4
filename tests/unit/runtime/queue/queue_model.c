/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The queue compared with a model that is too simple to be wrong: an array of keys that is searched
 * for each get, with the behaviour of controller-runtime's queue. Both execute the same random
 * operations in virtual time and must always return the same key.
 */
#include "kc/queue.h"

#include "testing.h"

#include <stdio.h>

enum { KEYS = 24, HELD = 6, STEPS = 60000 };

typedef struct modelled {
    bool waits, locked;
    int priority;
    uint64_t number;
    bool delayed;
    int64_t ready_at;
    size_t causes;
} modelled;

typedef struct model {
    modelled keys[KEYS];
    uint64_t next_number;
} model;

/* Those whose time has come, in the order of their times. */
static void model_time_passes(model *m, int64_t now)
{
    for (;;) {
        modelled *due = NULL;
        for (int i = 0; i < KEYS; i++) {
            modelled *k = &m->keys[i];
            if (!k->waits || !k->delayed || k->ready_at > now)
                continue;
            bool first = !due || k->ready_at < due->ready_at ||
                         (k->ready_at == due->ready_at &&
                          (k->priority > due->priority ||
                           (k->priority == due->priority && k->number < due->number)));
            due = first ? k : due;
        }
        if (!due)
            return;
        due->delayed = false;
        due->number = m->next_number++;
    }
}

static void model_add(model *m, int i, int priority, int64_t after, int64_t now)
{
    modelled *k = &m->keys[i];
    if (!k->waits) {
        bool locked = k->locked;
        *k = (modelled){.waits = true,
                        .locked = locked,
                        .priority = priority,
                        .number = m->next_number++,
                        .delayed = after > 0,
                        .ready_at = now + after,
                        .causes = 1};
        return;
    }
    k->causes++;
    if (priority > k->priority) {
        k->priority = priority;
        k->number = m->next_number++;
    }
    if (after <= 0)
        k->delayed = false;
    else if (k->delayed && now + after < k->ready_at)
        k->ready_at = now + after;
}

/* -1 when there is none. */
static int model_get(model *m)
{
    int best = -1;
    for (int i = 0; i < KEYS; i++) {
        const modelled *k = &m->keys[i], *b = best < 0 ? NULL : &m->keys[best];
        if (!k->waits || k->delayed || k->locked)
            continue;
        if (!b || k->priority > b->priority ||
            (k->priority == b->priority && k->number < b->number))
            best = i;
    }
    if (best >= 0) {
        m->keys[best].waits = false;
        m->keys[best].locked = true;
    }
    return best;
}

static kc_queue_counts model_count(const model *m)
{
    kc_queue_counts counts = {0};
    for (int i = 0; i < KEYS; i++) {
        counts.ready += m->keys[i].waits && !m->keys[i].delayed;
        counts.delayed += m->keys[i].waits && m->keys[i].delayed;
        counts.processing += m->keys[i].locked;
    }
    return counts;
}

/* ---- combinations ---- */

typedef struct both {
    model model;
    kc_queue *queue;
    kc_clock *clock;
    kc_rand rand;
    kc_queue_item held[HELD];
    int held_keys[HELD];
    size_t n_held;
} both;

static int key_number(kc_key key)
{
    return (key.name.p[1] - '0') * 10 + key.name.p[2] - '0';
}

static void add(both *b)
{
    static const int priorities[] = {0, 0, 0, KC_PRIORITY_LOW, 1, 7};
    static const int64_t delays[] = {0, 0, 0, 1, 5, 5, 20, -3};
    int i = (int)kc_rand_below(&b->rand, KEYS);
    int priority = priorities[kc_rand_below(&b->rand, KC_COUNT(priorities))];
    int64_t after = delays[kc_rand_below(&b->rand, KC_COUNT(delays))];
    char name[8];
    snprintf(name, sizeof(name), "k%02d", i);
    model_add(&b->model, i, priority, after, kc_clock_now(b->clock));
    kc_queue_add_with(b->queue, KC_KEY("ns", name),
                      &(kc_queue_add_opts){.priority = priority, .after = after});
}

static void get(both *b)
{
    if (b->n_held == HELD)
        return;
    kc_queue_item *item = &b->held[b->n_held];
    int want = model_get(&b->model);
    bool got = kc_queue_try_get(b->queue, item);
    assert_int_equal(got, want >= 0);
    if (!got)
        return;
    const modelled *k = &b->model.keys[want];
    assert_int_equal(key_number(item->key), want);
    assert_int_equal(item->priority, k->priority);
    assert_int_equal(item->n_causes + item->more_causes, k->causes);
    b->held_keys[b->n_held++] = want;
}

static void finish_item(both *b)
{
    if (!b->n_held)
        return;
    size_t at = kc_rand_below(&b->rand, b->n_held--);
    b->model.keys[b->held_keys[at]].locked = false;
    kc_queue_done(b->queue, &b->held[at]);
    b->held[at] = b->held[b->n_held];
    b->held_keys[at] = b->held_keys[b->n_held];
}

static void advance_time(both *b)
{
    kc_clock_advance(b->clock, (int64_t)kc_rand_below(&b->rand, 4));
    model_time_passes(&b->model, kc_clock_now(b->clock));
}

static void compare_counts(both *b)
{
    kc_queue_counts want = model_count(&b->model), got = kc_queue_count(b->queue);
    assert_int_equal(got.ready, want.ready);
    assert_int_equal(got.delayed, want.delayed);
    assert_int_equal(got.processing, want.processing);
}

static void play(uint64_t seed)
{
    static void (*const steps[])(both *b) = {add, add,         add,         get,
                                             get, finish_item, finish_item, advance_time};
    both b = {.clock = kc_clock_virtual_new(0)};
    b.queue = kc_queue_new(&(kc_queue_opts){.clock = b.clock});
    kc_rand_seed(&b.rand, seed);
    for (int i = 0; i < STEPS; i++) {
        steps[kc_rand_below(&b.rand, KC_COUNT(steps))](&b);
        if (i % 16 == 0)
            compare_counts(&b);
    }
    while (b.n_held)
        finish_item(&b);
    kc_queue_free(b.queue);
    kc_clock_free(b.clock);
}

static void random_operations_match_the_model(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 8; seed++)
        play(seed);
}

TESTS(random_operations_match_the_model)
