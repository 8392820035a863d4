/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ref.h: a thread-safe reference count.
 *
 * A counted type has a member `kc_ref refs;`, starts with kc_ref_init (count 1), and offers T_ref
 * and T_unref:
 *
 *     kc_thing *kc_thing_unref(kc_thing *t)
 *     {
 *         if (t && kc_ref_drop(&t->refs))
 *             free(t);
 *         return NULL;
 *     }
 */
#ifndef KC_REF_H
#define KC_REF_H

#include <assert.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct kc_ref {
    _Atomic uint32_t n;
} kc_ref;

static inline void kc_ref_init(kc_ref *ref)
{
    atomic_init(&ref->n, 1);
}

static inline void kc_ref_add(kc_ref *ref)
{
    uint32_t before = atomic_fetch_add_explicit(&ref->n, 1, memory_order_relaxed);
    assert(before > 0 && before < UINT32_MAX / 2);
    (void)before;
}

/* True when this was the last reference: all changes by other threads are visible, and the object
 * may be freed. */
static inline bool kc_ref_drop(kc_ref *ref)
{
    uint32_t before = atomic_fetch_sub_explicit(&ref->n, 1, memory_order_acq_rel);
    assert(before > 0);
    return before == 1;
}

/* For tests and for "am I the only owner"; never decide to free by it. */
static inline uint32_t kc_ref_count(const kc_ref *ref)
{
    return atomic_load_explicit(&ref->n, memory_order_acquire);
}

#endif
