/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Watchers through their header: which events they get, when their owner is notified, and how they
 * end.
 */
#include "store_testing.h"

/* Watches on a loop and records the events. All but the first two fields belong to the loop's
 * thread. */
typedef struct observer {
    kc__loop *loop;
    kc__store_watch_opts opts;
    kc__store_watcher *watcher;
    kc_buf text;
    kc__store_watch_result state; /* Of the last call. */
    bool ignores_events;          /* Does not read when it is notified. */
    int notified;
    uint64_t revision;
} observer;

static void take_all(void *user)
{
    observer *v = user;
    kc__store_event *event = NULL;
    while ((v->state = kc__store_watch_next(v->watcher, &event)) == KC__STORE_WATCH_EVENT) {
        kc_buf_printf(&v->text, "%c %s@%llu ", "AMD"[event->type], event -> key,
                      (unsigned long long)event -> revision);
        assert_int_equal(kc_object_revision(event->object), event->revision);
        assert_int_equal(!event->previous, event->type == KC__STORE_ADDED);
        assert_true(kc__store_watch_revision(v->watcher) >= event->revision);
        kc__store_event_unref(event);
    }
}

static void on_ready(void *user)
{
    observer *v = user;
    v->notified++;
    if (!v->ignores_events)
        take_all(v);
}

static void start_here(void *user)
{
    observer *v = user;
    v->watcher = kc__store_watch_start(&v->opts);
    take_all(v);
}

static void stop_here(void *user)
{
    observer *v = user;
    v->watcher = kc__store_watch_stop(v->watcher);
}

static void observer_start(stage *s, observer *v, size_t loop, uint64_t since)
{
    v->loop = s->loops[loop];
    v->opts.cache = v->opts.cache ? v->opts.cache : s->pods;
    v->opts.loop = v->loop;
    v->opts.since = since;
    v->opts.ready = on_ready;
    v->opts.user = v;
    on_loop(v->loop, start_here, v);
}

static void observer_done(observer *v)
{
    if (v->loop)
        on_loop(v->loop, stop_here, v);
    kc_buf_done(&v->text);
}

/* What came since the last time, when everything committed so far has come. */
static void expect_seen(observer *v, const char *text)
{
    settle(v->loop);
    assert_string_equal(kc_buf_cstr(&v->text), text);
    kc_buf_clear(&v->text);
}

static void read_revision(void *user)
{
    observer *v = user;
    v->revision = kc__store_watch_revision(v->watcher);
}

static uint64_t revision_of(observer *v)
{
    on_loop(v->loop, read_revision, v);
    return v->revision;
}

/* ---- delivered events ---- */

static void watcher_gets_past_and_later_events(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    put(s, "n/a", "1");
    put(s, "n/a", "2");
    kc_scoped(observer) all = {0}, late = {0};
    observer_start(s, &all, 0, 1);
    observer_start(s, &late, 1, 2);
    drop(s, "n/a");
    put(s, "n/a", "3");
    expect_seen(&all, "A n/a@2 M n/a@3 D n/a@4 A n/a@5 ");
    expect_seen(&late, "M n/a@3 D n/a@4 A n/a@5 ");
    assert_null(kc__store_watch_stop(NULL));
}

static void watch_from_future_revision_waits_for_it(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    put(s, "a", "1");
    kc_scoped(observer) v = {0};
    observer_start(s, &v, 0, 4);
    assert_int_equal(v.state, KC__STORE_WATCH_EMPTY);
    put(s, "a", "2");
    put(s, "a", "3");
    put(s, "a", "4");
    put(s, "a", "5");
    expect_seen(&v, "M a@5 M a@6 ");
}

static void watcher_gets_events_of_its_key_filter_only(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    static const char *const keys[] = {"n/a", "n/b", "nn/a", "n", "m/a"};
    for (int round = 0; round < 2; round++) {
        const uint64_t since = kc__store_revision(s->store);
        kc_scoped(observer) ns = {.opts.prefix = KC_STR("n/")}, one = {.opts.key = KC_STR("n/a")};
        kc_scoped(observer) odd = {.opts.prefix = KC_STR("n")}, other = {.opts.cache = s->maps};
        kc_scoped(observer) both = {.opts = {.prefix = KC_STR("m/"), .key = KC_STR("n/b")}};
        observer *observers[] = {&ns, &one, &odd, &other, &both};
        if (round == 0) /* Live in the first round, from the ring in the second. */
            for (size_t i = 0; i < KC_COUNT(observers); i++)
                observer_start(s, observers[i], i % 2, since);
        for (size_t i = 0; i < KC_COUNT(keys); i++)
            put(s, keys[i], "1");
        if (round == 1)
            for (size_t i = 0; i < KC_COUNT(observers); i++)
                observer_start(s, observers[i], i % 2, since);
        expect_seen(&ns, round ? "M n/a@7 M n/b@8 " : "A n/a@2 A n/b@3 ");
        expect_seen(&one, round ? "M n/a@7 " : "A n/a@2 ");
        expect_seen(&odd,
                    round ? "M n/a@7 M n/b@8 M nn/a@9 M n@10 " : "A n/a@2 A n/b@3 A nn/a@4 A n@5 ");
        expect_seen(&other, "");
        expect_seen(&both, round ? "M n/b@8 " : "A n/b@3 ");
    }
}

static void owner_is_notified_once_until_the_queue_is_empty(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    kc_scoped(observer) v = {.ignores_events = true};
    observer_start(s, &v, 1, 1);
    put(s, "a", "1");
    put(s, "a", "2");
    settle(v.loop);
    assert_int_equal(v.notified, 1);
    on_loop(v.loop, take_all, &v);
    expect_seen(&v, "A a@2 M a@3 ");
    put(s, "a", "3");
    settle(v.loop);
    assert_int_equal(v.notified, 2);
}

static void watch_resumes_across_restart(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    put(s, "n/a", "1");
    put(s, "n/a", "2");
    put(s, "n/b", "1");
    drop(s, "n/a");
    stage_reopen(s);
    kc_scoped(observer) v = {0};
    observer_start(s, &v, 2, 1);
    put(s, "n/a", "3");
    expect_seen(&v, "A n/a@2 M n/a@3 A n/b@4 D n/a@5 A n/a@6 ");
}

static void watch_of_empty_resource_gets_its_first_object(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    put(s, "a", "1");
    kc__watch_cache *fresh = kc__store_watch_cache(s->store, KC_STR("/registry/fresh/"));
    kc_scoped(observer) v = {.opts.cache = fresh};
    observer_start(s, &v, 0, 1);
    kc_scoped(attempt) a = try_write(s, fresh, "x", KC__STORAGE_ABSENT, "1");
    expect_seen(&v, "A x@3 ");
}

/* ---- termination ---- */

static void watch_from_dropped_revision_is_expired(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_make();
    s->opts.event_bytes = 2000;
    stage_open(s);
    for (int i = 0; i < 50; i++)
        put(s, "a", "x");
    quiesce(s);
    const uint64_t oldest = kc__watch_cache_oldest(s->pods);
    kc_scoped(observer) late = {0}, fits = {0};
    observer_start(s, &late, 0, oldest - 1);
    assert_int_equal(late.state, KC__STORE_WATCH_EXPIRED);
    observer_start(s, &fits, 0, oldest);
    assert_int_equal(fits.state, KC__STORE_WATCH_EMPTY);
}

static void lagging_watcher_expires_when_the_ring_drops_its_events(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_make();
    s->opts.event_bytes = 60000;
    stage_open(s);
    for (int i = 0; i < 100; i++)
        put(s, "a", "x");
    kc__store_event *event = NULL;
    kc__store_watch_opts opts = {.cache = s->pods, .loop = s->loops[0], .since = 1};
    /* Nothing else runs on the loop, so this thread may stand in for it. */
    kc_auto(kc__store_watcher) *w = kc__store_watch_start(&opts);
    assert_int_equal(kc__store_watch_next(w, &event), KC__STORE_WATCH_EVENT);
    assert_int_equal(event->revision, 2);
    kc__store_event_unref(event);
    assert_int_equal(kc__store_watch_revision(w), 2);
    for (int i = 0; i < 1000; i++)
        put(s, "a", "x");
    size_t n = 0;
    kc__store_watch_result last;
    for (; (last = kc__store_watch_next(w, &event)) == KC__STORE_WATCH_EVENT; n++)
        kc__store_event_unref(event);
    assert_int_equal(last, KC__STORE_WATCH_EXPIRED);
    assert_true(n < 100);
    assert_int_equal(kc__store_watch_revision(w), 2 + n);
}

static void slow_watcher_reads_the_ring_and_others_continue(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    kc_scoped(observer) slow = {.ignores_events = true, .opts.max_queued = 10}, quick = {0};
    kc_scoped(observer) fat = {.ignores_events = true, .opts.max_bytes = 1};
    observer_start(s, &slow, 0, 1);
    observer_start(s, &quick, 0, 1);
    observer_start(s, &fat, 0, 1);
    for (int i = 0; i < 10; i++)
        put(s, "a", "x");
    on_loop(slow.loop, take_all, &slow);
    assert_int_equal(slow.state, KC__STORE_WATCH_EMPTY);
    assert_int_equal(revision_of(&fat), 1);
    on_loop(fat.loop, take_all, &fat);
    assert_int_equal(fat.state, KC__STORE_WATCH_EMPTY);
    assert_string_equal(kc_buf_cstr(&fat.text), kc_buf_cstr(&slow.text));
    for (int i = 0; i < 11; i++)
        put(s, "a", "x");
    assert_int_equal(revision_of(&slow), 11);
    on_loop(slow.loop, take_all, &slow);
    assert_int_equal(slow.state, KC__STORE_WATCH_EMPTY);
    kc_buf_clear(&quick.text);
    put(s, "b", "x");
    expect_seen(&quick, "A b@23 ");
    kc_buf_clear(&slow.text);
    on_loop(slow.loop, take_all, &slow);
    expect_seen(&slow, "A b@23 ");
}

static void single_event_beyond_the_byte_limit_is_delivered(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    kc_scoped(observer) v = {.opts.max_bytes = 1};
    observer_start(s, &v, 0, 1);
    put(s, "a", "x");
    settle(v.loop);
    put(s, "a", "y");
    expect_seen(&v, "A a@2 M a@3 ");
}

/* ---- bookmarks ---- */

static void bookmark_revision_follows_the_whole_store(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    kc_scoped(observer) idle = {.opts.prefix = KC_STR("quiet/")}, other = {.opts.cache = s->maps};
    observer_start(s, &idle, 0, 1);
    observer_start(s, &other, 1, 1);
    for (int i = 0; i < 5; i++)
        put(s, "busy/a", "x");
    settle(idle.loop);
    assert_int_equal(revision_of(&idle), 6);
    assert_int_equal(revision_of(&other), 6);
    assert_int_equal(other.notified, 0);
}

static void bookmark_revision_excludes_queued_events(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    kc_scoped(observer) v = {.ignores_events = true, .opts.key = KC_STR("a")};
    observer_start(s, &v, 0, 1);
    put(s, "b", "x");
    put(s, "a", "x");
    put(s, "b", "x");
    settle(v.loop);
    assert_int_equal(revision_of(&v), 2);
    on_loop(v.loop, take_all, &v);
    assert_int_equal(revision_of(&v), 4);
}

/* Holds the loop while a delivery waits behind. */
typedef struct blocker {
    kc__loop_task task;
    observer *v;
    uint64_t revision;
    kc_latch entered, leave, left;
} blocker;

static void block(kc__loop_task *task)
{
    blocker *b = kc_container_of(task, blocker, task);
    kc_latch_count_down(&b->entered);
    kc_latch_wait(&b->leave);
    b->revision = kc__store_watch_revision(b->v->watcher);
    kc_latch_count_down(&b->left);
}

static void bookmark_revision_excludes_events_in_delivery(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    kc_scoped(observer) v = {0};
    observer_start(s, &v, 1, 1);
    put(s, "a", "x");
    settle(v.loop);
    blocker b = {.task = {.run = block}, .v = &v};
    kc_latch *const latches[] = {&b.entered, &b.leave, &b.left};
    for (size_t i = 0; i < KC_COUNT(latches); i++) {
        kc_latch_init(latches[i]);
        kc_latch_add(latches[i], 1);
    }
    kc__loop_post(v.loop, &b.task);
    kc_latch_wait(&b.entered);
    put(s, "a", "y");
    kc_latch_count_down(&b.leave);
    kc_latch_wait(&b.left);
    assert_int_equal(b.revision, 2);
    settle(v.loop);
    assert_int_equal(revision_of(&v), 3);
    for (size_t i = 0; i < KC_COUNT(latches); i++)
        kc_latch_done(latches[i]);
}

/* ---- owners that start and stop others in their callback ---- */

typedef struct stopper {
    observer *victim;
    kc__store_watcher *mine;
} stopper;

static void stop_other_watcher(void *user)
{
    stopper *f = user;
    kc__store_event *event = NULL;
    while (kc__store_watch_next(f->mine, &event) == KC__STORE_WATCH_EVENT)
        kc__store_event_unref(event);
    f->victim->watcher = kc__store_watch_stop(f->victim->watcher);
}

static stopper *stopper_of;

static void start_stopper(void *user)
{
    kc__store_event *event;
    stopper_of->mine =
        kc__store_watch_start(&(kc__store_watch_opts){.cache = stopper_of->victim->opts.cache,
                                                      .loop = stopper_of->victim->loop,
                                                      .since = 1,
                                                      .ready = stop_other_watcher,
                                                      .user = stopper_of});
    assert_int_equal(kc__store_watch_next(stopper_of->mine, &event), KC__STORE_WATCH_EMPTY);
    (void)user;
}

static void stop_stopper(void *user)
{
    kc__store_watch_stop(stopper_of->mine);
    (void)user;
}

static void owner_may_stop_another_watcher_in_its_callback(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    kc_scoped(observer) v = {.loop = s->loops[0], .opts.cache = s->pods};
    stopper f = {.victim = &v};
    stopper_of = &f;
    on_loop(v.loop, start_stopper, NULL);
    observer_start(s, &v, 0, 1);
    put(s, "a", "x");
    expect_seen(&v, "");
    on_loop(v.loop, stop_stopper, NULL);
}

/* ---- many watchers of a loop ---- */

enum { CROWD = 100 };
/* All fields but the first two belong to the loop's thread. */
typedef struct crowd {
    kc__loop *loop;
    kc__watch_cache *cache;
    kc__store_watcher *watchers[CROWD];
    size_t next;            /* Index of the watcher that is woken next. */
    kc__loop_task between;  /* Posted when the first watcher is woken. */
    size_t woken_before_it; /* Watchers that were woken when it ran. */
    bool all_in_order;
} crowd;

static void run_between(kc__loop_task *task)
{
    crowd *c = kc_container_of(task, crowd, between);
    c->woken_before_it = c->next;
}

static void wake_one_of_crowd(void *user)
{
    crowd *c = user;
    kc__store_event *event = NULL;
    if (c->next == 0)
        kc__loop_post(c->loop, &c->between);
    c->all_in_order = c->all_in_order &&
                      kc__store_watch_next(c->watchers[c->next], &event) == KC__STORE_WATCH_EVENT;
    c->next++;
    kc__store_event_unref(event);
}

static void start_crowd(void *user)
{
    crowd *c = user;
    kc__store_event *event;
    for (size_t i = 0; i < CROWD; i++) {
        c->watchers[i] = kc__store_watch_start(&(kc__store_watch_opts){
            .cache = c->cache, .loop = c->loop, .since = 1, .ready = wake_one_of_crowd, .user = c});
        assert_int_equal(kc__store_watch_next(c->watchers[i], &event), KC__STORE_WATCH_EMPTY);
    }
}

static void stop_crowd(void *user)
{
    crowd *c = user;
    for (size_t i = 0; i < CROWD; i++)
        kc__store_watch_stop(c->watchers[i]);
}

static void many_watchers_are_woken_in_steps_and_other_tasks_run_between(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    crowd c = {
        .loop = s->loops[0], .cache = s->pods, .between.run = run_between, .all_in_order = true};
    on_loop(c.loop, start_crowd, &c);
    put(s, "a", "x");
    for (int i = 0; i < 20; i++)
        settle(c.loop);
    on_loop(c.loop, stop_crowd, &c);
    assert_true(c.all_in_order);
    assert_int_equal(c.next, CROWD);
    assert_in_range(c.woken_before_it, 1, CROWD - 1);
}

TESTS(many_watchers_are_woken_in_steps_and_other_tasks_run_between,
      watcher_gets_past_and_later_events, watch_from_future_revision_waits_for_it,
      watcher_gets_events_of_its_key_filter_only, owner_is_notified_once_until_the_queue_is_empty,
      watch_resumes_across_restart, watch_of_empty_resource_gets_its_first_object,
      watch_from_dropped_revision_is_expired,
      lagging_watcher_expires_when_the_ring_drops_its_events,
      slow_watcher_reads_the_ring_and_others_continue,
      single_event_beyond_the_byte_limit_is_delivered, bookmark_revision_follows_the_whole_store,
      bookmark_revision_excludes_queued_events, bookmark_revision_excludes_events_in_delivery,
      owner_may_stop_another_watcher_in_its_callback)
