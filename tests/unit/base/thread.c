/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "kc/thread.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 4, ROUNDS = 2000 };

static kc_thread *start(void (*fn)(void *user), void *user)
{
    kc_thread *thread = kc_thread_start("test", fn, user, NULL);
    assert_non_null(thread);
    return thread;
}

/* ---- threads ---- */

static void note_own_name(void *user)
{
    pthread_getname_np(pthread_self(), user, 16);
}

static void thread_has_its_name(void **state)
{
    (void)state;
    char name[16] = "";
    kc_thread_join(kc_thread_start("a-name-that-is-too-long", note_own_name, name, NULL));
    assert_string_equal(name, "a-name-that-is-");
    assert_null(kc_thread_join(NULL));
}

/* ---- mutexes ---- */

typedef struct counter {
    kc_mutex mutex;
    long n;
} counter;

static void count_up(void *user)
{
    counter *c = user;
    for (int i = 0; i < ROUNDS; i++)
        kc_locked (&c->mutex)
            c->n++;
}

static void mutex_excludes_threads(void **state)
{
    (void)state;
    counter c = {.n = 0};
    kc_mutex_init(&c.mutex);
    kc_thread *threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        threads[i] = start(count_up, &c);
    for (int i = 0; i < THREADS; i++)
        kc_thread_join(threads[i]);
    assert_int_equal(c.n, THREADS * ROUNDS);
    kc_mutex_done(&c.mutex);
}

static int leave_early(kc_mutex *mutex, int how)
{
    kc_locked (mutex) {
        if (how == 0)
            return 1;
        if (how == 1)
            break;
        if (how == 2)
            continue;
        if (how == 3)
            goto out;
    }
    return 2;
out:
    return 3;
}

static void locked_block_unlocks_on_every_exit(void **state)
{
    (void)state;
    kc_mutex mutex, other;
    kc_mutex_init(&mutex);
    kc_mutex_init(&other);
    static const int expected[] = {1, 2, 2, 3, 2};
    for (int how = 0; how < 5; how++) {
        assert_int_equal(leave_early(&mutex, how), expected[how]);
        kc_locked (&mutex)
            kc_locked (&other)
                assert_int_equal(pthread_mutex_trylock(&mutex.native), EBUSY);
    }
    kc_mutex_done(&other);
    kc_mutex_done(&mutex);
}

static void lock_twice(kc_mutex *mutex)
{
    kc_mutex_lock(mutex);
    kc_mutex_lock(mutex);
}

static void unlock_unlocked(kc_mutex *mutex)
{
    kc_mutex_unlock(mutex);
}

static void free_locked(kc_mutex *mutex)
{
    kc_mutex_lock(mutex);
    kc_mutex_done(mutex);
}

static void misuse_of_a_mutex_ends_the_process(void **state)
{
    (void)state;
    void (*const misuses[])(kc_mutex *) = {lock_twice, unlock_unlocked, free_locked};
    for (size_t i = 0; i < KC_COUNT(misuses); i++) {
        pid_t child = fork();
        if (child == 0) {
            kc_mutex mutex;
            close(STDERR_FILENO);
            signal(SIGABRT, SIG_DFL);
            kc_mutex_init(&mutex);
            misuses[i](&mutex);
            _exit(0);
        }
        int status = 0;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status));
        assert_int_equal(WTERMSIG(status), SIGABRT);
    }
}

/* ---- condition variables, in real time ---- */

typedef struct mailbox {
    kc_mutex mutex;
    kc_cond changed;
    const kc_clock *clock;
    int letters, taken;
} mailbox;

static void take_letters(void *user)
{
    mailbox *box = user;
    for (int i = 0; i < ROUNDS; i++)
        kc_locked (&box->mutex) {
            while (box->letters == 0)
                kc_cond_wait_until(&box->changed, &box->mutex, box->clock, KC_FOREVER);
            box->letters--;
            box->taken++;
        }
}

static void mailbox_init(mailbox *box, const kc_clock *clock)
{
    *box = (mailbox){.clock = clock};
    kc_mutex_init(&box->mutex);
    kc_cond_init(&box->changed);
}

static void mailbox_done(mailbox *box)
{
    kc_cond_done(&box->changed);
    kc_mutex_done(&box->mutex);
}

/* Every letter wakes one reader; if one signal were lost, the readers would wait forever. */
static void post_to_readers(const kc_clock *clock)
{
    mailbox box;
    mailbox_init(&box, clock);
    kc_thread *readers[THREADS];
    for (int i = 0; i < THREADS; i++)
        readers[i] = start(take_letters, &box);
    for (int i = 0; i < THREADS * ROUNDS; i++) {
        kc_locked (&box.mutex)
            box.letters++;
        kc_cond_signal(&box.changed);
    }
    for (int i = 0; i < THREADS; i++)
        kc_thread_join(readers[i]);
    assert_int_equal(box.taken, THREADS * ROUNDS);
    mailbox_done(&box);
}

static void no_signal_is_lost_in_real_time(void **state)
{
    (void)state;
    post_to_readers(kc_clock_real());
}

static void no_signal_is_lost_in_virtual_time(void **state)
{
    (void)state;
    kc_auto(kc_clock) *clock = kc_clock_virtual_new(0);
    post_to_readers(clock);
    assert_int_equal(kc_clock_waiters(clock), 0);
}

static void wait_with_past_deadline_returns_at_once(void **state)
{
    (void)state;
    kc_auto(kc_clock) *frozen = kc_clock_virtual_new(0);
    const kc_clock *clocks[] = {kc_clock_real(), frozen};
    for (size_t i = 0; i < KC_COUNT(clocks); i++) {
        mailbox box;
        mailbox_init(&box, clocks[i]);
        kc_locked (&box.mutex) {
            int64_t now = kc_clock_now(clocks[i]);
            assert_false(kc_cond_wait_until(&box.changed, &box.mutex, clocks[i], now));
            assert_false(kc_cond_wait_until(&box.changed, &box.mutex, clocks[i], INT64_MIN));
        }
        mailbox_done(&box);
    }
}

/* ---- latches ---- */

static void count_down(void *user)
{
    kc_latch_count_down(user);
}

static void latch_opens_when_all_are_done(void **state)
{
    (void)state;
    kc_thread *threads[THREADS];
    for (int round = 0; round < 50; round++) {
        kc_latch *latch = kc_new(kc_latch);
        kc_latch_init(latch);
        kc_latch_add(latch, THREADS);
        for (int i = 0; i < THREADS; i++)
            threads[i] = start(count_down, latch);
        kc_latch_wait(latch);
        kc_latch_done(latch);
        free(latch);
        for (int i = 0; i < THREADS; i++)
            kc_thread_join(threads[i]);
    }
}

static void latch_at_zero_is_open_and_reusable(void **state)
{
    (void)state;
    kc_auto(kc_clock) *clock = kc_clock_virtual_new(0);
    kc_latch latch;
    kc_latch_init(&latch);
    kc_latch_wait(&latch);
    kc_latch_add(&latch, 1);
    assert_false(kc_latch_wait_until(&latch, clock, kc_clock_now(clock)));
    kc_latch_count_down(&latch);
    assert_true(kc_latch_wait_until(&latch, clock, kc_clock_now(clock)));
    kc_latch_done(&latch);
}

TESTS(thread_has_its_name, mutex_excludes_threads, locked_block_unlocks_on_every_exit,
      misuse_of_a_mutex_ends_the_process, no_signal_is_lost_in_real_time,
      no_signal_is_lost_in_virtual_time, wait_with_past_deadline_returns_at_once,
      latch_opens_when_all_are_done, latch_at_zero_is_open_and_reusable)
