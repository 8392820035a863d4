/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue_testing.h: a queue in virtual time, and assertions about the next key.
 */
#ifndef KC_QUEUE_TESTING_H
#define KC_QUEUE_TESTING_H

#include "kc/queue.h"

#include "kc/thread.h"
#include "testing.h"

#include <stdio.h>

typedef struct fixture {
    kc_clock *clock;
    kc_queue *queue;
} fixture;

static KC_UNUSED fixture begin(kc_queue_opts opts)
{
    fixture f = {.clock = kc_clock_virtual_new(0)};
    opts.clock = f.clock;
    f.queue = kc_queue_new(&opts);
    return f;
}

static KC_UNUSED void fixture_done(fixture *f)
{
    kc_queue_free(f->queue);
    kc_clock_free(f->clock);
}

static KC_UNUSED void add(const fixture *f, const char *name)
{
    kc_queue_add(f->queue, KC_KEY("ns", name));
}

static KC_UNUSED void add_with(const fixture *f, const char *name, kc_queue_add_opts opts)
{
    kc_queue_add_with(f->queue, KC_KEY("ns", name), &opts);
}

/* Takes the next key, which must be this one. */
#define assert_next(f, text, item)                         \
    do {                                                   \
        assert_true(kc_queue_try_get((f)->queue, (item))); \
        assert_str((item)->key.name, text);                \
    } while (0)

/* Likewise, and marks it as done. */
#define assert_comes(f, text)              \
    do {                                   \
        kc_queue_item item_;               \
        assert_next(f, text, &item_);      \
        kc_queue_done((f)->queue, &item_); \
    } while (0)

#define assert_nothing(f)                                   \
    do {                                                    \
        kc_queue_item item_;                                \
        assert_false(kc_queue_try_get((f)->queue, &item_)); \
    } while (0)

#endif
