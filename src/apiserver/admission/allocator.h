/* SPDX-License-Identifier: Apache-2.0 */
/*
 * allocator.h: numbers of a range, of which nobody has one that somebody else has: addresses of
 * Services, ports of nodes.
 *
 * What is stored decides. The allocator only remembers who took a number last, and asks, when
 * somebody else wants that number, whether the one still holds it. So nothing has to tell it that
 * an object went or a write failed, and after a restart it needs only a look at what is there:
 *
 *     take 5 for default/web ─▶ under way ──(write ended: settle)──▶ web's as long as web says so
 *                                                                    (`holds`), then free
 *
 * Any thread; a lock is held for a look-up, and for one call of `holds` on a collision.
 */
#ifndef KC_APISERVER_ALLOCATOR_H
#define KC_APISERVER_ALLOCATOR_H

#include "kc/mem.h"
#include "kc/rand.h"
#include "kc/str.h"

typedef struct kc__allocator kc__allocator;

typedef struct kc__allocator_opts {
    uint32_t first, last; /* The range, both included. */
    uint32_t draw_from;   /* Numbers below are only given to who asks for them. */
    /* Whether what is stored as `owner` has this number. Must not call the allocator. */
    bool (*holds)(uint32_t number, kc_str owner, void *user);
    void *user;
} kc__allocator_opts;

typedef enum kc__allocation {
    KC__ALLOCATED,
    KC__TAKEN,        /* Somebody else has it. */
    KC__OUT_OF_RANGE, /* It is none of these numbers. */
    KC__EXHAUSTED,    /* All are taken. */
} kc__allocation;

kc__allocator *kc__allocator_new(const kc__allocator_opts *opts);
kc__allocator *kc__allocator_free(kc__allocator *allocator);
KC_AUTO_DEFINE(kc__allocator, kc__allocator_free)

/* Gives the number to `owner` (which is copied); again, if it has it. Until it is settled, nobody
 * else gets it. */
kc__allocation kc__allocator_take(kc__allocator *allocator, uint32_t number, kc_str owner);
/* Gives a free number. */
kc__allocation kc__allocator_draw(kc__allocator *allocator, kc_rand *rand, kc_str owner,
                                  uint32_t *ret_number);
/* The owner's write has ended, one way or the other: from now on what is stored counts. */
void kc__allocator_settle(kc__allocator *allocator, uint32_t number);

#endif
