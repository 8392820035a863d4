/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "kc/ref.h"
#include "kc/thread.h"

static void last_drop_returns_true(void **state)
{
    (void)state;
    kc_ref ref;
    kc_ref_init(&ref);
    assert_int_equal(kc_ref_count(&ref), 1);
    kc_ref_add(&ref);
    assert_int_equal(kc_ref_count(&ref), 2);
    assert_false(kc_ref_drop(&ref));
    assert_true(kc_ref_drop(&ref));
}

typedef struct shared {
    kc_ref refs;
    int written; /* Not atomic: the freeing thread must see the writes of the others. */
    kc_mutex mutex;
    _Atomic int *freed;
} shared;

static void shared_unref(shared *s, int expected)
{
    if (!kc_ref_drop(&s->refs))
        return;
    assert_int_equal(s->written, expected);
    atomic_fetch_add(s->freed, 1);
    kc_mutex_done(&s->mutex);
    free(s);
}

enum { THREADS = 4, ROUNDS = 5000 };

static void use_and_drop(void *user)
{
    shared *s = user;
    for (int i = 0; i < ROUNDS; i++) {
        kc_ref_add(&s->refs);
        assert_false(kc_ref_drop(&s->refs));
    }
    kc_locked (&s->mutex)
        s->written++;
    shared_unref(s, THREADS);
}

static void threads_that_share_an_object_free_it_once(void **state)
{
    (void)state;
    _Atomic int freed = 0;
    shared *s = kc_new(shared);
    kc_ref_init(&s->refs);
    kc_mutex_init(&s->mutex);
    s->freed = &freed;
    kc_thread *threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        kc_ref_add(&s->refs);
        threads[i] = kc_thread_start("user", use_and_drop, s, NULL);
        assert_non_null(threads[i]);
    }
    shared_unref(s, THREADS);
    for (int i = 0; i < THREADS; i++)
        kc_thread_join(threads[i]);
    assert_int_equal(freed, 1);
}

TESTS(last_drop_returns_true, threads_that_share_an_object_free_it_once)
