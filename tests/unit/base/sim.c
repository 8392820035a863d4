/* SPDX-License-Identifier: Apache-2.0 */
/* sim.c: threads that take turns, virtual time, and reproducible runs. */
#include "testing.h"

#include "kc/buf.h"
#include "kc/cancel.h"
#include "kc/sim.h"

/* What the threads of a run recorded, in order. */
typedef struct journal {
    kc_sim *sim;
    kc_mutex mutex;
    kc_cond more;
    kc_buf text;
    int turn, left;
} journal;

static void open_journal(journal *d, uint64_t seed)
{
    *d = (journal){.sim = kc_sim_new(seed, 0)};
    kc_mutex_init(&d->mutex);
    kc_cond_init(&d->more);
    kc_sim_enter(d->sim);
}

static void close_journal(journal *d)
{
    kc_sim_leave(d->sim);
    kc_cond_done(&d->more);
    kc_mutex_done(&d->mutex);
    kc_buf_done(&d->text);
    kc_sim_free(d->sim);
}

typedef struct writer {
    journal *journal;
    char letter;
} writer;

static void write_letters(void *user)
{
    const writer *w = user;
    for (int i = 0; i < 20; i++)
        kc_locked (&w->journal->mutex)
            kc_buf_putc(&w->journal->text, w->letter);
}

static char *letters_of_a_run(uint64_t seed)
{
    journal d;
    open_journal(&d, seed);
    writer writers[3] = {{&d, 'a'}, {&d, 'b'}, {&d, 'c'}};
    kc_thread *threads[3];
    for (int i = 0; i < 3; i++)
        threads[i] = kc_thread_start("writer", write_letters, &writers[i], NULL);
    for (int i = 0; i < 3; i++)
        kc_thread_join(threads[i]);
    char *text = kc_strndup(d.text.p, d.text.n);
    close_journal(&d);
    return text;
}

static void same_seed_repeats_run(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        kc_autofree char *first = letters_of_a_run(seed), *again = letters_of_a_run(seed);
        assert_int_equal(strlen(first), 60);
        assert_string_equal(first, again);
    }
}

static void different_seeds_differ(void **state)
{
    (void)state;
    kc_autofree char *first = letters_of_a_run(1);
    size_t same = 0;
    for (uint64_t seed = 2; seed <= 10; seed++) {
        kc_autofree char *other = letters_of_a_run(seed);
        same += strcmp(first, other) == 0;
    }
    assert_int_equal(same, 0);
}

static void note_the_time(void *user)
{
    journal *d = user;
    const kc_clock *clock = kc_sim_clock(d->sim);
    for (int i = 0; i < 3; i++) {
        kc_clock_sleep(clock, 10 * KC_SECOND);
        kc_locked (&d->mutex)
            kc_buf_printf(&d->text, "%d ", (int)(kc_clock_wall(clock) / KC_SECOND));
    }
}

static void time_jumps_when_all_threads_wait(void **state)
{
    (void)state;
    journal d;
    open_journal(&d, 3);
    kc_thread *thread = kc_thread_start("clock", note_the_time, &d, NULL);
    kc_thread_join(thread);
    assert_str(kc_buf_str(&d.text), "10 20 30 ");
    assert_int_equal(kc_clock_wall(kc_sim_clock(d.sim)), 30 * KC_SECOND);
    close_journal(&d);
}

static void run_for_stops_at_its_end(void **state)
{
    (void)state;
    journal d;
    open_journal(&d, 3);
    kc_thread *thread = kc_thread_start("clock", note_the_time, &d, NULL);
    kc_sim_settle(d.sim);
    assert_int_equal(d.text.n, 0);
    kc_sim_run_for(d.sim, 25 * KC_SECOND);
    assert_str(kc_buf_str(&d.text), "10 20 ");
    assert_int_equal(kc_clock_wall(kc_sim_clock(d.sim)), 25 * KC_SECOND);
    kc_thread_join(thread);
    close_journal(&d);
}

static void wait_for_a_minute(void *user)
{
    journal *d = user;
    const kc_clock *clock = kc_sim_clock(d->sim);
    int64_t deadline = kc_clock_deadline(clock, KC_MINUTE);
    kc_locked (&d->mutex) {
        while (d->turn == 0 && kc_cond_wait_until(&d->more, &d->mutex, clock, deadline))
            ;
        kc_buf_puts(&d->text, d->turn ? "woken" : "late");
    }
}

static void wait_ends_at_its_deadline(void **state)
{
    (void)state;
    journal d;
    open_journal(&d, 5);
    kc_thread *thread = kc_thread_start("waits", wait_for_a_minute, &d, NULL);
    kc_thread_join(thread);
    assert_str(kc_buf_str(&d.text), "late");
    assert_int_equal(kc_clock_wall(kc_sim_clock(d.sim)), KC_MINUTE);
    close_journal(&d);
}

static void signal_ends_a_wait_before_time_moves(void **state)
{
    (void)state;
    journal d;
    open_journal(&d, 5);
    kc_thread *thread = kc_thread_start("waits", wait_for_a_minute, &d, NULL);
    kc_sim_settle(d.sim);
    kc_locked (&d.mutex) {
        d.turn = 1;
        kc_cond_signal(&d.more);
    }
    kc_thread_join(thread);
    assert_str(kc_buf_str(&d.text), "woken");
    assert_int_equal(kc_clock_wall(kc_sim_clock(d.sim)), 0);
    close_journal(&d);
}

static void pass_the_ball(void *user)
{
    journal *d = user;
    kc_locked (&d->mutex)
        while (d->left > 0) {
            d->left--;
            kc_cond_broadcast(&d->more);
            kc_cond_wait_until(&d->more, &d->mutex, kc_sim_clock(d->sim),
                               kc_clock_deadline(kc_sim_clock(d->sim), KC_SECOND));
        }
}

static void thousands_of_turns_complete(void **state)
{
    (void)state;
    journal d;
    open_journal(&d, 11);
    d.left = 5000;
    kc_thread *threads[4];
    for (int i = 0; i < 4; i++)
        threads[i] = kc_thread_start("player", pass_the_ball, &d, NULL);
    for (int i = 0; i < 4; i++)
        kc_thread_join(threads[i]);
    assert_int_equal(d.left, 0);
    assert_true(kc_sim_choices(d.sim) > 5000);
    close_journal(&d);
}

static void generators_repeat_in_order(void **state)
{
    (void)state;
    kc_auto(kc_sim) *one = kc_sim_new(9, 0), *two = kc_sim_new(9, 0);
    kc_rand a = kc_sim_rand(one), b = kc_sim_rand(two);
    assert_true(kc_rand_u64(&a) == kc_rand_u64(&b));
    kc_rand c = kc_sim_rand(one);
    assert_true(kc_rand_u64(&a) != kc_rand_u64(&c));
}

static void current_is_null_outside_of_simulation(void **state)
{
    (void)state;
    assert_null(kc_sim_current());
    kc_auto(kc_sim) *sim = kc_sim_new(1, 0);
    kc_sim_enter(sim);
    assert_ptr_equal(kc_sim_current(), sim);
    kc_sim_leave(sim);
    assert_null(kc_sim_current());
}

TESTS(same_seed_repeats_run, different_seeds_differ, time_jumps_when_all_threads_wait,
      run_for_stops_at_its_end, wait_ends_at_its_deadline, signal_ends_a_wait_before_time_moves,
      thousands_of_turns_complete, generators_repeat_in_order,
      current_is_null_outside_of_simulation)
