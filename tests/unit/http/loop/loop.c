/* SPDX-License-Identifier: Apache-2.0 */
/* The event loop: tasks from its own and other threads, timers in real and virtual time. */
#include "testing.h"

#include "http/loop/loop.h"
#include "kc/sim.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

typedef struct note {
    kc__loop_task task;
    struct board *board;
    int number;
} note;

typedef struct board {
    kc__loop *loop;
    kc_latch left; /* Of what is awaited. */
    int seen[1000];
    size_t n;
    bool mine;
} board;

static void board_start(board *b, const kc_clock *clock, size_t awaited)
{
    kc_scoped(kc_error) err = {0};
    *b = (board){0};
    kc_latch_init(&b->left);
    kc_latch_add(&b->left, awaited);
    b->loop = kc__loop_start("test", clock, &err);
    if (!b->loop)
        fail_msg("%s", kc_error_text(&err));
}

static void board_await(board *b)
{
    if (!kc_latch_wait_until(&b->left, kc_clock_real(),
                             kc_clock_deadline(kc_clock_real(), 20 * KC_SECOND)))
        fail_msg("timed out");
}

static void board_done(board *b)
{
    kc__loop_stop(b->loop);
    kc_latch_done(&b->left);
}

static void write_down(kc__loop_task *task)
{
    note *n = kc_container_of(task, note, task);
    n->board->seen[n->board->n++] = n->number;
    n->board->mine = kc__loop_is_current(n->board->loop);
    kc_latch_count_down(&n->board->left);
}

static void tasks_run_in_order_on_the_loop_thread(void **state)
{
    (void)state;
    enum { NOTES = 1000 };
    static note notes[NOTES];
    kc_scoped(board) b;
    board_start(&b, NULL, NOTES);
    for (int i = 0; i < NOTES; i++) {
        notes[i] = (note){{.run = write_down}, &b, i};
        kc__loop_post(b.loop, &notes[i].task);
    }
    board_await(&b);
    for (int i = 0; i < NOTES; i++)
        assert_int_equal(b.seen[i], i);
    assert_true(b.mine);
    assert_false(kc__loop_is_current(b.loop));
}

typedef struct poster {
    board *board;
    note notes[200];
} poster;

static void post_all(void *user)
{
    poster *p = user;
    for (size_t i = 0; i < KC_COUNT(p->notes); i++)
        kc__loop_post(p->board->loop, &p->notes[i].task);
}

static void tasks_of_each_thread_keep_their_order(void **state)
{
    (void)state;
    enum { THREADS = 4, EACH = 200 };
    static poster posters[THREADS];
    kc_thread *threads[THREADS];
    kc_scoped(board) b;
    board_start(&b, NULL, (size_t)THREADS * EACH);
    for (int t = 0; t < THREADS; t++) {
        posters[t].board = &b;
        for (int i = 0; i < EACH; i++)
            posters[t].notes[i] = (note){{.run = write_down}, &b, t * EACH + i};
        threads[t] = kc_thread_start("poster", post_all, &posters[t], NULL);
    }
    for (int t = 0; t < THREADS; t++)
        kc_thread_join(threads[t]);
    board_await(&b);
    int last[THREADS] = {-1, -1, -1, -1};
    for (size_t i = 0; i < b.n; i++) {
        int t = b.seen[i] / EACH;
        assert_true(b.seen[i] % EACH == last[t] + 1);
        last[t]++;
    }
}

static void note_thread(void *user)
{
    board *b = user;
    b->mine = kc__loop_is_current(b->loop);
    b->n++;
}

static void call_returns_after_its_function_has_run_on_the_loop(void **state)
{
    (void)state;
    kc_scoped(board) b;
    board_start(&b, NULL, 1);
    note first = {.task.run = write_down, .board = &b, .number = 1};
    kc__loop_post(b.loop, &first.task);
    kc__loop_call(b.loop, note_thread, &b);
    assert_true(b.mine);
    assert_int_equal(b.n, 2);
    board_await(&b);
}

static void post_itself_again(kc__loop_task *task)
{
    note *n = kc_container_of(task, note, task);
    write_down(task);
    if (n->number++ < 99)
        kc__loop_post(n->board->loop, task);
}

static void task_may_post_itself_again(void **state)
{
    (void)state;
    kc_scoped(board) b;
    board_start(&b, NULL, 100);
    note n = {{.run = post_itself_again}, &b, 0};
    kc__loop_post(b.loop, &n.task);
    board_await(&b);
    assert_int_equal(b.n, 100);
}

static void posted_tasks_run_before_the_loop_ends(void **state)
{
    (void)state;
    kc_scoped(board) b;
    board_start(&b, NULL, 100);
    note n = {{.run = post_itself_again}, &b, 0};
    kc__loop_post(b.loop, &n.task);
    b.loop = kc__loop_stop(b.loop);
    assert_int_equal(b.n, 100);
}

/* ---- timers ---- */

typedef struct alarm_clock {
    kc__loop_timer timer;
    kc__loop_task task;
    board *board;
    int64_t deadline;
    int number;
} alarm_clock;

static void record_alarm(kc__loop_timer *timer)
{
    alarm_clock *a = kc_container_of(timer, alarm_clock, timer);
    a->board->seen[a->board->n++] = a->number;
    kc_latch_count_down(&a->board->left);
}

static void set_alarm(kc__loop_task *task)
{
    alarm_clock *a = kc_container_of(task, alarm_clock, task);
    kc__loop_timer_start(&a->timer, a->deadline);
}

static void stop_alarm(kc__loop_task *task)
{
    kc__loop_timer_stop(&kc_container_of(task, alarm_clock, task)->timer);
}

static alarm_clock alarm_at(board *b, int number, int64_t deadline)
{
    return (alarm_clock){
        {.loop = b->loop, .fire = record_alarm}, {.run = set_alarm}, b, deadline, number};
}

static void timers_fire_in_order_of_deadlines(void **state)
{
    (void)state;
    kc_scoped(board) b;
    board_start(&b, NULL, 3);
    int64_t now = kc_clock_now(kc_clock_real());
    alarm_clock alarms[] = {
        alarm_at(&b, 3, now + 30 * KC_MILLISECOND),
        alarm_at(&b, 1, now + 10 * KC_MILLISECOND),
        alarm_at(&b, 2, now + 20 * KC_MILLISECOND),
    };
    for (size_t i = 0; i < KC_COUNT(alarms); i++)
        kc__loop_post(b.loop, &alarms[i].task);
    board_await(&b);
    assert_true(kc_clock_now(kc_clock_real()) >= now + 30 * KC_MILLISECOND);
    for (int i = 0; i < 3; i++)
        assert_int_equal(b.seen[i], i + 1);
}

static void timers_follow_virtual_time(void **state)
{
    (void)state;
    kc_auto(kc_clock) *clock = kc_clock_virtual_new(0);
    kc_scoped(board) b;
    board_start(&b, clock, 1);
    int64_t start = kc_clock_now(clock);
    alarm_clock soon = alarm_at(&b, 1, start + KC_HOUR);
    alarm_clock never = alarm_at(&b, 2, start + 2 * KC_HOUR);
    kc__loop_post(b.loop, &soon.task);
    kc__loop_post(b.loop, &never.task);
    kc_clock_advance(clock, KC_HOUR);
    board_await(&b);
    assert_int_equal(b.n, 1);
    never.task.run = stop_alarm;
    kc__loop_post(b.loop, &never.task);
    b.loop = kc__loop_stop(b.loop);
    assert_int_equal(b.n, 1);
}

static void move_alarm(kc__loop_task *task)
{
    alarm_clock *a = kc_container_of(task, alarm_clock, task);
    kc__loop_timer_start(&a->timer, a->deadline + 1000 * KC_HOUR);
    kc__loop_timer_start(&a->timer, a->deadline - KC_HOUR);
}

static void timer_can_be_moved(void **state)
{
    (void)state;
    kc_auto(kc_clock) *clock = kc_clock_virtual_new(0);
    kc_scoped(board) b;
    board_start(&b, clock, 2);
    int64_t start = kc_clock_now(clock);
    alarm_clock moved = alarm_at(&b, 1, start + 3 * KC_HOUR);
    alarm_clock other = alarm_at(&b, 2, start + 2 * KC_HOUR + 1);
    moved.task.run = move_alarm;
    kc__loop_post(b.loop, &other.task);
    kc__loop_post(b.loop, &moved.task);
    kc_clock_advance(clock, 3 * KC_HOUR);
    board_await(&b);
    assert_int_equal(b.seen[0], 1);
    assert_int_equal(b.seen[1], 2);
}

/* ---- the rest ---- */

typedef struct date_reader {
    kc__loop_task task;
    kc__loop *loop;
    kc_latch done;
    char text[40];
} date_reader;

static void read_date(kc__loop_task *task)
{
    date_reader *a = kc_container_of(task, date_reader, task);
    kc_str date = kc__loop_date(a->loop);
    memcpy(a->text, date.p, date.n);
    kc_latch_count_down(&a->done);
}

static void date_follows_the_clock(void **state)
{
    (void)state;
    kc_auto(kc_clock) *clock = kc_clock_virtual_new(784111777 * KC_SECOND);
    date_reader a = {.task.run = read_date, .loop = kc__loop_start("test", clock, NULL)};
    static const char *const expected[] = {"Sun, 06 Nov 1994 08:49:37 GMT",
                                           "Sun, 06 Nov 1994 08:49:38 GMT"};
    kc_latch_init(&a.done);
    for (int i = 0; i < 2; i++) {
        kc_latch_add(&a.done, 1);
        kc__loop_post(a.loop, &a.task);
        kc_latch_wait(&a.done);
        assert_string_equal(a.text, expected[i]);
        kc_clock_advance(clock, KC_SECOND);
    }
    assert_ptr_equal(kc__loop_clock(a.loop), clock);
    kc__loop_stop(a.loop);
    kc_latch_done(&a.done);
}

static void simulated_tasks_and_timers_run_in_simulated_time(void **state)
{
    (void)state;
    kc_auto(kc_sim) *sim = kc_sim_new(1, 0);
    const kc_clock *clock = kc_sim_clock(sim);
    kc_sim_enter(sim);
    board b;
    board_start(&b, clock, 3);
    int64_t start = kc_clock_now(clock);
    note first = {{.run = write_down}, &b, 1};
    alarm_clock later = alarm_at(&b, 3, start + KC_HOUR),
                sooner = alarm_at(&b, 2, start + KC_MINUTE);
    kc__loop_post(b.loop, &later.task);
    kc__loop_post(b.loop, &sooner.task);
    kc__loop_post(b.loop, &first.task);
    kc_latch_wait(&b.left);
    assert_int_equal(kc_clock_now(clock), start + KC_HOUR);
    for (int i = 0; i < 3; i++)
        assert_int_equal(b.seen[i], i + 1);
    board_done(&b);
    kc_sim_leave(sim);
}

static void stop_after_a_while(void *user)
{
    kc_clock_sleep(kc_clock_real(), 50 * KC_MILLISECOND);
    kc__loop_stop(user);
}

/* Calls with a timeout are not restarted, so an interrupted one fails with EINTR. */
static void end_of_a_loop_does_not_interrupt_the_thread_that_started_it(void **state)
{
    (void)state;
    const struct timeval timeout = {.tv_usec = 500 * 1000};
    int ends[2];
    char byte;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
    kc__loop *loop = kc__loop_start("test", NULL, NULL);
    assert_non_null(loop);
    kc_thread *other = kc_thread_start("stops", stop_after_a_while, loop, NULL);
    const ssize_t n = recv(ends[0], &byte, 1, 0);
    const int why = errno;
    kc_thread_join(other);
    close(ends[0]);
    close(ends[1]);
    assert_int_equal(n, -1);
    assert_int_equal(why, EAGAIN);
}

TESTS(tasks_run_in_order_on_the_loop_thread, call_returns_after_its_function_has_run_on_the_loop,
      tasks_of_each_thread_keep_their_order, task_may_post_itself_again,
      posted_tasks_run_before_the_loop_ends, timers_fire_in_order_of_deadlines,
      timers_follow_virtual_time, timer_can_be_moved, date_follows_the_clock,
      simulated_tasks_and_timers_run_in_simulated_time,
      end_of_a_loop_does_not_interrupt_the_thread_that_started_it)
