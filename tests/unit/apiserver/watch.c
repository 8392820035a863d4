/* SPDX-License-Identifier: Apache-2.0 */
/* Watchers through their header: which events they get, when they are told, and how they end. */
#include "store_testing.h"

/* Somebody who watches on a loop and writes down what comes. All but the first two fields belong to
 * the loop's thread. */
typedef struct viewer {
    kc__loop *loop;
    kc__watch_opts opts;
    kc__watcher *watcher;
    kc_buf text;
    kc__watch_state state; /* Of the last call. */
    bool asleep;           /* Takes nothing when it is told. */
    int told;
    uint64_t revision;
} viewer;

static void take_all(void *user)
{
    viewer *v = user;
    kc__event *event = NULL;
    while ((v->state = kc__watch_next(v->watcher, &event)) == KC__WATCH_EVENT) {
        kc_buf_printf(&v->text, "%c %s@%llu ", "AMD"[event->type], event -> key,
                      (unsigned long long)event -> revision);
        assert_int_equal(kc_object_revision(event->object), event->revision);
        assert_int_equal(!event->previous, event->type == KC__ADDED);
        assert_true(kc__watch_revision(v->watcher) >= event->revision);
        kc__event_unref(event);
    }
}

static void on_ready(void *user)
{
    viewer *v = user;
    v->told++;
    if (!v->asleep)
        take_all(v);
}

static void start_here(void *user)
{
    viewer *v = user;
    v->watcher = kc__watch_start(&v->opts);
    take_all(v);
}

static void stop_here(void *user)
{
    viewer *v = user;
    v->watcher = kc__watch_stop(v->watcher);
}

static void viewer_start(stage *s, viewer *v, size_t loop, uint64_t since)
{
    v->loop = s->loops[loop];
    v->opts.cache = v->opts.cache ? v->opts.cache : s->pods;
    v->opts.loop = v->loop;
    v->opts.since = since;
    v->opts.ready = on_ready;
    v->opts.user = v;
    on_loop(v->loop, start_here, v);
}

static void viewer_done(viewer *v)
{
    if (v->loop)
        on_loop(v->loop, stop_here, v);
    kc_buf_done(&v->text);
}

/* What came since the last time, when everything committed so far has come. */
static void expect_seen(viewer *v, const char *text)
{
    settle(v->loop);
    assert_string_equal(kc_buf_cstr(&v->text), text);
    kc_buf_clear(&v->text);
}

static void read_revision(void *user)
{
    viewer *v = user;
    v->revision = kc__watch_revision(v->watcher);
}

static uint64_t revision_of(viewer *v)
{
    on_loop(v->loop, read_revision, v);
    return v->revision;
}

/* ---- what comes ---- */

static void a_watcher_sees_what_was_and_what_comes(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    put(s, "n/a", "1");
    put(s, "n/a", "2");
    kc_scoped(viewer) all = {0}, late = {0};
    viewer_start(s, &all, 0, 1);
    viewer_start(s, &late, 1, 2);
    drop(s, "n/a");
    put(s, "n/a", "3");
    expect_seen(&all, "A n/a@2 M n/a@3 D n/a@4 A n/a@5 ");
    expect_seen(&late, "M n/a@3 D n/a@4 A n/a@5 ");
    assert_null(kc__watch_stop(NULL));
}

static void a_revision_to_come_is_waited_for(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    put(s, "a", "1");
    kc_scoped(viewer) v = {0};
    viewer_start(s, &v, 0, 4);
    assert_int_equal(v.state, KC__WATCH_EMPTY);
    put(s, "a", "2");
    put(s, "a", "3");
    put(s, "a", "4");
    put(s, "a", "5");
    expect_seen(&v, "M a@5 M a@6 ");
}

static void a_watcher_gets_only_what_it_asked_for(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    static const char *const keys[] = {"n/a", "n/b", "nn/a", "n", "m/a"};
    for (int round = 0; round < 2; round++) {
        const uint64_t since = kc__store_revision(s->store);
        kc_scoped(viewer) ns = {.opts.prefix = KC_STR("n/")}, one = {.opts.key = KC_STR("n/a")};
        kc_scoped(viewer) odd = {.opts.prefix = KC_STR("n")}, other = {.opts.cache = s->maps};
        kc_scoped(viewer) both = {.opts = {.prefix = KC_STR("m/"), .key = KC_STR("n/b")}};
        viewer *viewers[] = {&ns, &one, &odd, &other, &both};
        if (round == 0) /* Live in the first round, from the ring in the second. */
            for (size_t i = 0; i < KC_COUNT(viewers); i++)
                viewer_start(s, viewers[i], i % 2, since);
        for (size_t i = 0; i < KC_COUNT(keys); i++)
            put(s, keys[i], "1");
        if (round == 1)
            for (size_t i = 0; i < KC_COUNT(viewers); i++)
                viewer_start(s, viewers[i], i % 2, since);
        expect_seen(&ns, round ? "M n/a@7 M n/b@8 " : "A n/a@2 A n/b@3 ");
        expect_seen(&one, round ? "M n/a@7 " : "A n/a@2 ");
        expect_seen(&odd,
                    round ? "M n/a@7 M n/b@8 M nn/a@9 M n@10 " : "A n/a@2 A n/b@3 A nn/a@4 A n@5 ");
        expect_seen(&other, "");
        expect_seen(&both, round ? "M n/b@8 " : "A n/b@3 ");
    }
}

static void an_owner_is_told_once_until_it_has_taken_everything(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    kc_scoped(viewer) v = {.asleep = true};
    viewer_start(s, &v, 1, 1);
    put(s, "a", "1");
    put(s, "a", "2");
    settle(v.loop);
    assert_int_equal(v.told, 1);
    on_loop(v.loop, take_all, &v);
    expect_seen(&v, "A a@2 M a@3 ");
    put(s, "a", "3");
    settle(v.loop);
    assert_int_equal(v.told, 2);
}

static void events_go_on_across_a_restart(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    put(s, "n/a", "1");
    put(s, "n/a", "2");
    put(s, "n/b", "1");
    drop(s, "n/a");
    stage_reopen(s);
    kc_scoped(viewer) v = {0};
    viewer_start(s, &v, 2, 1);
    put(s, "n/a", "3");
    expect_seen(&v, "A n/a@2 M n/a@3 A n/b@4 D n/a@5 A n/a@6 ");
}

static void a_watch_of_a_resource_without_objects_waits_for_the_first(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    put(s, "a", "1");
    kc__cache *fresh = kc__store_cache(s->store, KC_STR("/registry/g/fresh/"));
    kc_scoped(viewer) v = {.opts.cache = fresh};
    viewer_start(s, &v, 0, 1);
    kc_scoped(attempt) a = try_write(s, fresh, "x", KC_STORAGE_ABSENT, "1");
    expect_seen(&v, "A x@3 ");
}

/* ---- how it ends ---- */

static void what_is_no_longer_kept_has_expired(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_make();
    s->opts.event_bytes = 2000;
    stage_open(s);
    for (int i = 0; i < 50; i++)
        put(s, "a", "x");
    quiesce(s);
    const uint64_t oldest = kc__cache_oldest(s->pods);
    kc_scoped(viewer) late = {0}, fits = {0};
    viewer_start(s, &late, 0, oldest - 1);
    assert_int_equal(late.state, KC__WATCH_EXPIRED);
    viewer_start(s, &fits, 0, oldest);
    assert_int_equal(fits.state, KC__WATCH_EMPTY);
}

static void a_watcher_that_is_behind_and_too_slow_expires(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_make();
    s->opts.event_bytes = 60000;
    stage_open(s);
    for (int i = 0; i < 100; i++)
        put(s, "a", "x");
    kc__event *event = NULL;
    kc__watch_opts opts = {.cache = s->pods, .loop = s->loops[0], .since = 1};
    /* Nothing else runs on the loop, so this thread may stand in for it. */
    kc_auto(kc__watcher) *w = kc__watch_start(&opts);
    assert_int_equal(kc__watch_next(w, &event), KC__WATCH_EVENT);
    assert_int_equal(event->revision, 2);
    kc__event_unref(event);
    assert_int_equal(kc__watch_revision(w), 2);
    for (int i = 0; i < 1000; i++)
        put(s, "a", "x");
    size_t n = 0;
    kc__watch_state last;
    for (; (last = kc__watch_next(w, &event)) == KC__WATCH_EVENT; n++)
        kc__event_unref(event);
    assert_int_equal(last, KC__WATCH_EXPIRED);
    assert_true(n < 100);
    assert_int_equal(kc__watch_revision(w), 2 + n);
}

static void one_that_does_not_keep_up_is_dropped_and_nobody_else(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    kc_scoped(viewer) slow = {.asleep = true, .opts.max_queued = 10}, quick = {0};
    kc_scoped(viewer) fat = {.asleep = true, .opts.max_bytes = 1};
    viewer_start(s, &slow, 0, 1);
    viewer_start(s, &quick, 0, 1);
    viewer_start(s, &fat, 0, 1);
    for (int i = 0; i < 10; i++)
        put(s, "a", "x");
    on_loop(slow.loop, take_all, &slow);
    assert_int_equal(slow.state, KC__WATCH_EMPTY);
    on_loop(fat.loop, take_all, &fat);
    assert_int_equal(fat.state, KC__WATCH_LAGGED);
    assert_int_equal(revision_of(&fat), 1);
    for (int i = 0; i < 11; i++)
        put(s, "a", "x");
    assert_int_equal(revision_of(&slow), 11);
    on_loop(slow.loop, take_all, &slow);
    assert_int_equal(slow.state, KC__WATCH_LAGGED);
    kc_buf_clear(&quick.text);
    put(s, "b", "x");
    expect_seen(&quick, "A b@23 ");
    assert_int_equal(revision_of(&slow), 11);
}

static void one_event_always_fits(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    kc_scoped(viewer) v = {.opts.max_bytes = 1};
    viewer_start(s, &v, 0, 1);
    put(s, "a", "x");
    settle(v.loop);
    put(s, "a", "y");
    expect_seen(&v, "A a@2 M a@3 ");
}

/* ---- bookmarks ---- */

static void a_bookmark_grows_with_the_whole_store(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    kc_scoped(viewer) idle = {.opts.prefix = KC_STR("quiet/")}, other = {.opts.cache = s->maps};
    viewer_start(s, &idle, 0, 1);
    viewer_start(s, &other, 1, 1);
    for (int i = 0; i < 5; i++)
        put(s, "busy/a", "x");
    settle(idle.loop);
    assert_int_equal(revision_of(&idle), 6);
    assert_int_equal(revision_of(&other), 6);
    assert_int_equal(other.told, 0);
}

static void a_bookmark_does_not_claim_what_is_still_queued(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    kc_scoped(viewer) v = {.asleep = true, .opts.key = KC_STR("a")};
    viewer_start(s, &v, 0, 1);
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
    kc__task task;
    viewer *v;
    uint64_t revision;
    kc_latch entered, leave, left;
} blocker;

static void block(kc__task *task)
{
    blocker *b = kc_container_of(task, blocker, task);
    kc_latch_count_down(&b->entered);
    kc_latch_wait(&b->leave);
    b->revision = kc__watch_revision(b->v->watcher);
    kc_latch_count_down(&b->left);
}

static void a_bookmark_does_not_claim_what_is_on_its_way(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    kc_scoped(viewer) v = {0};
    viewer_start(s, &v, 1, 1);
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

/* ---- owners that start and stop others when they are told ---- */

typedef struct fickle {
    viewer *victim;
    kc__watcher *mine;
} fickle;

static void stop_the_other(void *user)
{
    fickle *f = user;
    kc__event *event = NULL;
    while (kc__watch_next(f->mine, &event) == KC__WATCH_EVENT)
        kc__event_unref(event);
    f->victim->watcher = kc__watch_stop(f->victim->watcher);
}

static fickle *fickle_of;

static void start_fickle(void *user)
{
    kc__event *event;
    fickle_of->mine = kc__watch_start(&(kc__watch_opts){.cache = fickle_of->victim->opts.cache,
                                                        .loop = fickle_of->victim->loop,
                                                        .since = 1,
                                                        .ready = stop_the_other,
                                                        .user = fickle_of});
    assert_int_equal(kc__watch_next(fickle_of->mine, &event), KC__WATCH_EMPTY);
    (void)user;
}

static void stop_fickle(void *user)
{
    kc__watch_stop(fickle_of->mine);
    (void)user;
}

static void an_owner_may_stop_another_watcher_when_it_is_told(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    kc_scoped(viewer) v = {.loop = s->loops[0], .opts.cache = s->pods};
    fickle f = {.victim = &v};
    fickle_of = &f;
    on_loop(v.loop, start_fickle, NULL);
    viewer_start(s, &v, 0, 1);
    put(s, "a", "x");
    expect_seen(&v, "");
    on_loop(v.loop, stop_fickle, NULL);
}

TESTS(a_watcher_sees_what_was_and_what_comes, a_revision_to_come_is_waited_for,
      a_watcher_gets_only_what_it_asked_for, an_owner_is_told_once_until_it_has_taken_everything,
      events_go_on_across_a_restart, a_watch_of_a_resource_without_objects_waits_for_the_first,
      what_is_no_longer_kept_has_expired, a_watcher_that_is_behind_and_too_slow_expires,
      one_that_does_not_keep_up_is_dropped_and_nobody_else, one_event_always_fits,
      a_bookmark_grows_with_the_whole_store, a_bookmark_does_not_claim_what_is_still_queued,
      a_bookmark_does_not_claim_what_is_on_its_way,
      an_owner_may_stop_another_watcher_when_it_is_told)
