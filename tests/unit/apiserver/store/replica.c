/* SPDX-License-Identifier: Apache-2.0 */
/* Two stores over one shared storage: what one writes, the other shows. */
#include "shared_storage.h"
#include "store_testing.h"

enum { SERVERS = 2 };

typedef struct plane {
    shared_storage all;
    stage *servers[SERVERS];
} plane;

/* Any prefix but that of other programs. */
static const void *kind_of_prefix(kc_str prefix)
{
    return kc_str_is(prefix, "/registry/masterleases/") ? NULL : "kind";
}

/* Decodes JSON, or "raw:TEXT"; a text with a question mark has fields that the object lacks. */
static kc_object *decode_raw(const void *kind, kc_str value, bool *ret_lossy, kc_error *err)
{
    char json[64];
    (void)kind;
    if (kc_str_starts(value, KC_STR("{")))
        return kc_object_parse(value, NULL, err);
    *ret_lossy = kc_str_find(value, '?') >= 0;
    if (!kc_str_starts(value, KC_STR("raw:"))) {
        kc_error_set(err, KC_INVALID, "no object");
        return NULL;
    }
    snprintf(json, sizeof(json), "{'data':'%.*s'}", KC_ARG(kc_str_sub(value, 4, value.n)));
    return object_of(json);
}

/* The JSON, or "raw:TEXT?" if it replaces such a value. */
static int encode_raw(const void *kind, const kc_object *object, kc_str older, kc_buf *out,
                      kc_error *err)
{
    (void)kind;
    (void)err;
    if (older.n)
        kc_buf_puts(out, "raw:kept?");
    else
        kc_buf_append(out, kc_object_json(object));
    return 0;
}

static const kc__store_format raw_format = {
    .kind_of = kind_of_prefix, .decode = decode_raw, .encode = encode_raw};

static stage *open_server(plane *p)
{
    stage *s = kc_new(stage);
    s->opts.format = &raw_format;
    kc_scoped(kc_error) err = {0};
    for (int i = 0; i < STAGE_LOOPS; i++)
        s->loops[i] = kc__loop_start("test", NULL, NULL);
    s->folder = kc_strdup("");
    s->opts.storage = s->storage = shared_open(&p->all);
    s->store = kc__store_open(&s->opts, &err);
    if (!s->store)
        fail_msg("%s", kc_error_text(&err));
    s->pods = kc__store_watch_cache(s->store, PODS);
    s->maps = kc__store_watch_cache(s->store, MAPS);
    return s;
}

static plane *plane_new(void)
{
    plane *p = kc_new(plane);
    shared_storage_init(&p->all);
    for (size_t i = 0; i < SERVERS; i++)
        p->servers[i] = open_server(p);
    return p;
}

static plane *plane_free(plane *p)
{
    for (size_t i = 0; i < SERVERS; i++)
        if (p->servers[i])
            stage_leave(p->servers[i]);
    shared_storage_done(&p->all);
    free(p);
    return NULL;
}
KC_AUTO_DEFINE(plane, plane_free)

/* ---- syncing ---- */

typedef struct reader {
    kc__store_sync sync;
    kc_latch done;
} reader;

static void on_synced(kc__store_sync *sync)
{
    kc_latch_count_down(&kc_container_of(sync, reader, sync)->done);
}

static void start_sync(stage *s, reader *r)
{
    *r = (reader){.sync = {.loop = s->loops[1], .done = on_synced}};
    kc_latch_init(&r->done);
    kc_latch_add(&r->done, 1);
    kc__store_sync_start(s->store, &r->sync);
}

static void finish_sync(reader *r)
{
    kc_latch_wait(&r->done);
    kc_latch_done(&r->done);
}

static void sync_now(stage *s)
{
    reader r;
    start_sync(s, &r);
    finish_sync(&r);
    assert_string_equal(kc_error_text(&r.sync.error), "no error");
}

/* ---- health ---- */

static void set_down(plane *p, bool down)
{
    kc_locked (&p->all.mutex)
        p->all.down = down;
}

static bool is_healthy(stage *s)
{
    kc_clock_sleep(kc_clock_real(), 5 * KC_MILLISECOND);
    return kc__store_health(s->store, NULL) == 0;
}

static void await_health(stage *s, bool healthy)
{
    const int64_t end = kc_clock_deadline(kc_clock_real(), 30 * KC_SECOND);
    while (is_healthy(s) != healthy && kc_clock_now(kc_clock_real()) < end) {
    }
    assert_int_equal(is_healthy(s), healthy);
}

/* ---- writes ---- */

static void acknowledged_write_is_read_from_the_same_server(void **state)
{
    (void)state;
    kc_auto(plane) *p = plane_new();
    assert_int_equal(put(p->servers[0], "a", "1"), 2);
    expect_now(p->servers[0]->pods, "a=1@2 ");
}

static void synced_read_shows_writes_of_another_server(void **state)
{
    (void)state;
    kc_auto(plane) *p = plane_new();
    put(p->servers[0], "a", "1");
    put(p->servers[0], "b", "1");
    drop(p->servers[0], "a");
    sync_now(p->servers[1]);
    expect_now(p->servers[1]->pods, "b=1@3 ");
}

static void write_waits_until_its_server_shows_it(void **state)
{
    (void)state;
    kc_auto(plane) *p = plane_new();
    stage *s = p->servers[0];
    shared_hold(s->storage, true);
    attempt a;
    attempt_start(s, &a, s->pods, "a", KC__STORAGE_ABSENT, "1");
    assert_false(kc_latch_wait_until(a.done, kc_clock_real(),
                                     kc_clock_deadline(kc_clock_real(), 50 * KC_MILLISECOND)));
    expect_now(s->pods, "");
    shared_hold(s->storage, false);
    kc_latch_wait(a.done);
    assert_int_equal(a.write.outcome, KC__STORAGE_STORED);
    assert_int_equal(kc_object_revision(a.write.result), 2);
    expect_now(s->pods, "a=1@2 ");
    attempt_done(&a);
}

static void create_of_object_of_another_server_conflicts(void **state)
{
    (void)state;
    kc_auto(plane) *p = plane_new();
    put(p->servers[0], "a", "1");
    kc_scoped(attempt) a =
        try_write(p->servers[1], p->servers[1]->pods, "a", KC__STORAGE_ABSENT, "2");
    assert_int_equal(a.write.outcome, KC__STORAGE_CONFLICT);
    assert_int_equal(kc_object_revision(a.write.result), 2);
}

static void create_after_deletion_by_another_server_succeeds(void **state)
{
    (void)state;
    kc_auto(plane) *p = plane_new();
    stage *behind = p->servers[1];
    put(p->servers[0], "a", "1");
    sync_now(behind);
    shared_hold(behind->storage, true);
    drop(p->servers[0], "a");
    attempt a;
    attempt_start(behind, &a, behind->pods, "a", KC__STORAGE_ABSENT, "2");
    shared_hold(behind->storage, false);
    kc_latch_wait(a.done);
    assert_int_equal(a.write.outcome, KC__STORAGE_STORED);
    attempt_done(&a);
    expect_now(behind->pods, "a=2@4 ");
}

static void update_of_older_revision_conflicts_with_the_current_object(void **state)
{
    (void)state;
    kc_auto(plane) *p = plane_new();
    const uint64_t first = put(p->servers[0], "a", "1");
    const uint64_t second = put(p->servers[0], "a", "2");
    kc_scoped(attempt) a = try_write(p->servers[1], p->servers[1]->pods, "a", first, "3");
    assert_int_equal(a.write.outcome, KC__STORAGE_CONFLICT);
    assert_int_equal(kc_object_revision(a.write.result), second);
}

static void deletion_returns_the_last_state(void **state)
{
    (void)state;
    kc_auto(plane) *p = plane_new();
    put(p->servers[0], "a", "1");
    kc_scoped(attempt) a =
        try_write(p->servers[1], p->servers[1]->pods, "a", KC__STORAGE_ANY, NULL);
    assert_int_equal(a.write.outcome, KC__STORAGE_STORED);
    kc_auto(kc_view) *view = kc_view_of(a.write.result);
    assert_string_equal(kc_object_name(a.write.result).p ? "named" : "", "named");
    assert_true(kc_str_is(kc_value_as_str(kc_value_get(kc_view_root(view), "data")), "1"));
    assert_int_equal(kc_object_revision(a.write.result), 3);
}

static void write_to_a_storage_that_is_down_is_refused(void **state)
{
    (void)state;
    kc_auto(plane) *p = plane_new();
    stage *s = p->servers[0];
    kc_scoped(kc_error) err = {0};
    set_down(p, true);
    kc_scoped(attempt) a = try_write(s, s->pods, "a", KC__STORAGE_ANY, "1");
    assert_int_equal(a.write.outcome, KC__STORAGE_REFUSED);
    assert_error(&a.write.error, KC_SERVICE_UNAVAILABLE, "down");
    assert_true(kc__store_health(s->store, &err) < 0);
    set_down(p, false);
    put(s, "a", "1");
    await_health(s, true);
}

static void health_of_an_idle_store_follows_the_storage(void **state)
{
    (void)state;
    kc_auto(plane) *p = plane_new();
    assert_true(is_healthy(p->servers[0]));
    set_down(p, true);
    await_health(p->servers[0], false);
    set_down(p, false);
    await_health(p->servers[0], true);
}

static void object_too_large_for_the_storage_is_refused_and_the_store_stays_healthy(void **state)
{
    (void)state;
    kc_auto(plane) *p = plane_new();
    stage *s = p->servers[0];
    kc_locked (&p->all.mutex)
        p->all.refusing = true;
    kc_scoped(attempt) a = try_write(s, s->pods, "a", KC__STORAGE_ANY, "1");
    assert_int_equal(a.write.outcome, KC__STORAGE_REFUSED);
    assert_error(&a.write.error, KC_TOO_LARGE, "too large");
    assert_int_equal(kc__store_health(s->store, NULL), 0);
}

static uint64_t revision_in_storage(plane *p)
{
    uint64_t revision = 0;
    kc_locked (&p->all.mutex)
        revision = shared_revision(&p->all);
    return revision;
}

static void deletion_returns_its_object_although_another_server_has_created_it_again(void **state)
{
    (void)state;
    kc_auto(plane) *p = plane_new();
    stage *behind = p->servers[1];
    const uint64_t first = put(p->servers[0], "a", "old");
    sync_now(behind);
    shared_hold(behind->storage, true);
    attempt a;
    attempt_start(behind, &a, behind->pods, "a", first, NULL);
    while (revision_in_storage(p) == first)
        kc_clock_sleep(kc_clock_real(), KC_MILLISECOND);
    put(p->servers[0], "a", "new");
    shared_hold(behind->storage, false);
    kc_latch_wait(a.done);
    assert_int_equal(a.write.outcome, KC__STORAGE_STORED);
    kc_auto(kc_view) *view = kc_view_of(a.write.result);
    assert_true(kc_str_is(kc_value_as_str(kc_value_get(kc_view_root(view), "data")), "old"));
    assert_int_equal(kc_object_revision(a.write.result), first + 1);
    attempt_done(&a);
}

static void group_is_stored_as_a_whole_or_not_at_all(void **state)
{
    (void)state;
    kc_auto(plane) *p = plane_new();
    stage *s = p->servers[0];
    put(p->servers[1], "b", "1");
    attempt a[2] = {attempt_of(s->pods, "a", KC__STORAGE_ABSENT, "1"),
                    attempt_of(s->pods, "b", KC__STORAGE_ABSENT, "2")};
    kc__store_write *writes[2] = {&a[0].write, &a[1].write};
    attempt_arm(s, &a[0]);
    attempt_arm(s, &a[1]);
    kc__store_submit_group(s->store, writes, 2);
    kc_latch_wait(a[0].done);
    kc_latch_wait(a[1].done);
    assert_int_equal(a[0].write.outcome, KC__STORAGE_SKIPPED);
    assert_int_equal(a[1].write.outcome, KC__STORAGE_CONFLICT);
    expect_now(s->pods, "b=1@2 ");
    attempt_done(&a[0]);
    attempt_done(&a[1]);
}

/* ---- rebased writes of several servers to one object ---- */

enum { COUNTERS = 8, COUNTS = 50 };

typedef struct counter {
    kc__store_write write;
    stage *s;
    kc_object *object;
    int left;
    kc_latch *done;
} counter;

static uint64_t count_of(const kc_object *object)
{
    kc_auto(kc_view) *view = kc_view_of(object);
    uint64_t n = 0;
    kc_str_to_u64(kc_value_as_str(kc_value_get(kc_view_root(view), "data")), &n);
    return n;
}

static bool add_one(kc__store_write *write, const kc_object *current)
{
    counter *c = kc_container_of(write, counter, write);
    char json[64];
    snprintf(json, sizeof(json), "{'data':'%llu'}", (unsigned long long)count_of(current) + 1);
    kc_object_unref(c->object);
    write->object = c->object = object_of(json);
    return true;
}

static void count_next(counter *c);

static void on_counted(kc__store_write *write)
{
    counter *c = kc_container_of(write, counter, write);
    c->left -= write->outcome == KC__STORAGE_STORED;
    kc_object_unref(write->result);
    kc_error_done(&write->error);
    if (c->left)
        count_next(c);
    else
        kc_latch_count_down(c->done);
}

static void count_next(counter *c)
{
    kc_auto(kc_object) *current = kc__watch_cache_get(c->s->pods, KC_STR("n"));
    c->write = (kc__store_write){.cache = c->s->pods,
                                 .key = KC_STR("n"),
                                 .expected = kc_object_revision(current),
                                 .loop = c->s->loops[0],
                                 .done = on_counted,
                                 .rebase = add_one};
    add_one(&c->write, current);
    kc__store_submit(c->s->store, &c->write);
}

static void rebased_writes_of_several_servers_lose_nothing(void **state)
{
    (void)state;
    kc_auto(plane) *p = plane_new();
    counter counters[COUNTERS] = {0};
    kc_latch done;
    put(p->servers[0], "n", "0");
    sync_now(p->servers[1]);
    kc_latch_init(&done);
    kc_latch_add(&done, COUNTERS);
    for (size_t i = 0; i < COUNTERS; i++) {
        counters[i] = (counter){.s = p->servers[i % SERVERS], .left = COUNTS, .done = &done};
        count_next(&counters[i]);
    }
    kc_latch_wait(&done);
    kc_latch_done(&done);
    sync_now(p->servers[0]);
    kc_auto(kc_object) *last = kc__watch_cache_get(p->servers[0]->pods, KC_STR("n"));
    assert_int_equal(count_of(last), COUNTERS * COUNTS);
    for (size_t i = 0; i < COUNTERS; i++)
        kc_object_unref(counters[i].object);
}

/* ---- synced reads ---- */

static void sync_waits_until_the_server_has_caught_up(void **state)
{
    (void)state;
    kc_auto(plane) *p = plane_new();
    stage *behind = p->servers[1];
    shared_hold(behind->storage, true);
    put(p->servers[0], "a", "1");
    reader r;
    start_sync(behind, &r);
    assert_false(kc_latch_wait_until(&r.done, kc_clock_real(),
                                     kc_clock_deadline(kc_clock_real(), 50 * KC_MILLISECOND)));
    shared_hold(behind->storage, false);
    finish_sync(&r);
    assert_int_equal(r.sync.error.reason, 0);
    expect_now(behind->pods, "a=1@2 ");
}

static void many_readers_share_a_question(void **state)
{
    (void)state;
    enum { READERS = 200 };
    kc_auto(plane) *p = plane_new();
    reader *readers = kc_calloc(READERS, sizeof(*readers));
    for (size_t i = 0; i < READERS; i++)
        start_sync(p->servers[0], &readers[i]);
    for (size_t i = 0; i < READERS; i++)
        finish_sync(&readers[i]);
    assert_true(p->all.queries < READERS / 2);
    free(readers);
}

/* A reader that counts in a variable of its loop. */
typedef struct counted_reader {
    reader reader;
    size_t *completed;
} counted_reader;

static void count_synced(kc__store_sync *sync)
{
    (*kc_container_of(sync, counted_reader, reader.sync)->completed)++;
    on_synced(sync);
}

static void every_reader_is_completed_once_on_its_loop(void **state)
{
    (void)state;
    enum { READERS = 200 };
    kc_auto(plane) *p = plane_new();
    stage *behind = p->servers[1];
    size_t completed[2] = {0};
    counted_reader *readers = kc_calloc(READERS, sizeof(*readers));
    shared_hold(behind->storage, true);
    put(p->servers[0], "a", "1");
    for (size_t i = 0; i < READERS; i++) {
        counted_reader *r = &readers[i];
        r->completed = &completed[i % 2];
        r->reader.sync = (kc__store_sync){.loop = behind->loops[i % 2], .done = count_synced};
        kc_latch_init(&r->reader.done);
        kc_latch_add(&r->reader.done, 1);
        kc__store_sync_start(behind->store, &r->reader.sync);
    }
    shared_hold(behind->storage, false);
    for (size_t i = 0; i < READERS; i++)
        finish_sync(&readers[i].reader);
    assert_int_equal(completed[0], READERS / 2);
    assert_int_equal(completed[1], READERS / 2);
    expect_now(behind->pods, "a=1@2 ");
    free(readers);
}

typedef struct racing_writer {
    stage *server;
    _Atomic uint64_t acknowledged;
} racing_writer;

static void write_many(void *user)
{
    racing_writer *w = user;
    for (int i = 0; i < 300; i++)
        atomic_store(&w->acknowledged, put(w->server, "a", "1"));
}

static void synced_read_is_never_older_than_an_acknowledged_write(void **state)
{
    (void)state;
    kc_auto(plane) *p = plane_new();
    racing_writer w = {.server = p->servers[0]};
    kc_thread *thread = kc_thread_start("writer", write_many, &w, NULL);
    while (atomic_load(&w.acknowledged) < 300) {
        const uint64_t before = atomic_load(&w.acknowledged);
        sync_now(p->servers[1]);
        assert_true(kc__store_revision(p->servers[1]->store) >= before);
    }
    kc_thread_join(thread);
}

static void sync_fails_when_the_storage_is_down(void **state)
{
    (void)state;
    kc_auto(plane) *p = plane_new();
    set_down(p, true);
    reader r;
    start_sync(p->servers[0], &r);
    finish_sync(&r);
    assert_error(&r.sync.error, KC_SERVICE_UNAVAILABLE, "down");
    kc_error_done(&r.sync.error);
}

/* ---- watches ---- */

typedef struct watching {
    stage *s;
    kc__store_watcher *watcher;
    kc_buf text;
    kc__store_watch_result last;
    uint64_t since;
} watching;

static void on_ready(void *user)
{
    (void)user;
}

static void start_watching(void *user)
{
    watching *w = user;
    w->watcher = kc__store_watch_start(&(kc__store_watch_opts){.cache = w->s->pods,
                                                               .loop = w->s->loops[0],
                                                               .since = w->since,
                                                               .ready = on_ready,
                                                               .user = w});
}

static void take_events(void *user)
{
    watching *w = user;
    kc__store_event *event = NULL;
    while ((w->last = kc__store_watch_next(w->watcher, &event)) == KC__STORE_WATCH_EVENT) {
        kc_buf_printf(&w->text, "%s %.*s@%llu ",
                      (const char *[]){"ADDED", "MODIFIED", "DELETED"}[event->type],
                      KC_ARG(kc_str_of(event->key, event->key_length)),
                      (unsigned long long)event->revision);
        kc__store_event_unref(event);
    }
}

static void stop_watching(void *user)
{
    watching *w = user;
    w->watcher = kc__store_watch_stop(w->watcher);
    kc_buf_done(&w->text);
}

static void watch_shows_the_writes_of_all_servers_in_order(void **state)
{
    (void)state;
    kc_auto(plane) *p = plane_new();
    watching w = {.s = p->servers[1], .since = 1};
    on_loop(w.s->loops[0], start_watching, &w);
    put(p->servers[0], "a", "1");
    put(p->servers[1], "a", "2");
    drop(p->servers[0], "a");
    sync_now(p->servers[1]);
    settle(w.s->loops[0]);
    on_loop(w.s->loops[0], take_events, &w);
    assert_string_equal(kc_buf_cstr(&w.text), "ADDED a@2 MODIFIED a@3 DELETED a@4 ");
    on_loop(w.s->loops[0], stop_watching, &w);
}

static void watch_resumes_on_another_server(void **state)
{
    (void)state;
    kc_auto(plane) *p = plane_new();
    put(p->servers[0], "a", "1");
    put(p->servers[0], "a", "2");
    sync_now(p->servers[1]);
    watching w = {.s = p->servers[1], .since = 2};
    on_loop(w.s->loops[0], start_watching, &w);
    on_loop(w.s->loops[0], take_events, &w);
    assert_string_equal(kc_buf_cstr(&w.text), "MODIFIED a@3 ");
    on_loop(w.s->loops[0], stop_watching, &w);
}

static void lost_events_reload_the_store_and_expire_its_watches(void **state)
{
    (void)state;
    kc_auto(plane) *p = plane_new();
    stage *behind = p->servers[1];
    put(p->servers[0], "kept", "1");
    put(p->servers[0], "gone", "1");
    sync_now(behind);
    watching w = {.s = behind, .since = kc__store_revision(behind->store)};
    on_loop(behind->loops[0], start_watching, &w);
    on_loop(behind->loops[0], take_events, &w);
    shared_hold(behind->storage, true);
    drop(p->servers[0], "gone");
    const uint64_t last = put(p->servers[0], "new", "1");
    assert_int_equal(kc__storage_compact(p->all.inner, last, NULL), 0);
    put(p->servers[0], "newer", "1");
    shared_hold(behind->storage, false);
    sync_now(behind);
    expect_now(behind->pods, "kept=1@2 new=1@5 newer=1@6 ");
    settle(behind->loops[0]);
    on_loop(behind->loops[0], take_events, &w);
    assert_string_equal(kc_buf_cstr(&w.text), "");
    assert_int_equal(w.last, KC__STORE_WATCH_EXPIRED);
    on_loop(behind->loops[0], stop_watching, &w);
    put(behind, "after", "1");
    expect_now(behind->pods, "after=1@7 kept=1@2 new=1@5 newer=1@6 ");
}

static void store_raw(plane *p, const char *key, const char *value)
{
    const kc__storage_op op = {.verb = KC__STORAGE_PUT,
                               .key = kc_cstr(key),
                               .expected = KC__STORAGE_ANY,
                               .value = kc_cstr(value)};
    kc__storage_result result = {0};
    kc_locked (&p->all.mutex) {
        assert_int_equal(kc__storage_commit(p->all.inner, &op, 1, &result, NULL, NULL), 0);
        shared_wake_all(&p->all);
    }
}

static void values_of_other_programs_are_decoded_or_left_out(void **state)
{
    (void)state;
    kc_auto(plane) *p = plane_new();
    store_raw(p, "/registry/pods/decoded", "raw:1");
    store_raw(p, "/registry/pods/strange", "?");
    store_raw(p, "/elsewhere", "?");
    put(p->servers[0], "own", "1");
    expect_now(p->servers[0]->pods, "decoded=1@2 own=1@5 ");
    stage_leave(p->servers[1]);
    p->servers[1] = open_server(p);
    expect_now(p->servers[1]->pods, "decoded=1@2 own=1@5 ");
    kc_scoped(kc_error) err = {0};
    assert_true(kc__watch_cache_check_readable(p->servers[1]->pods, KC_STR("strange"), &err) < 0);
}

static void unreadable_object_is_reported_until_it_is_replaced(void **state)
{
    (void)state;
    kc_auto(plane) *p = plane_new();
    kc__watch_cache *pods = p->servers[0]->pods;
    put(p->servers[0], "a", "1");
    store_raw(p, "/registry/pods/a", "?");
    put(p->servers[0], "b", "1");
    kc_scoped(kc_error) err = {0};
    assert_true(kc__watch_cache_check_readable(pods, KC_STR("a"), &err) < 0);
    assert_true(kc__watch_cache_check_all_readable(pods, KC_STR(""), NULL) < 0);
    expect_now(pods, "b=1@4 ");
    store_raw(p, "/registry/pods/a", "raw:2");
    put(p->servers[0], "b", "2");
    assert_int_equal(kc__watch_cache_check_readable(pods, KC_STR("a"), NULL), 0);
    assert_int_equal(kc__watch_cache_check_all_readable(pods, KC_STR(""), NULL), 0);
    expect_now(pods, "a=2@5 b=2@6 ");
}

static void data_of_other_programs_is_not_reported(void **state)
{
    (void)state;
    kc_auto(plane) *p = plane_new();
    store_raw(p, "/registry/masterleases/10.0.0.1", "?");
    put(p->servers[0], "b", "1");
    kc__watch_cache *leases =
        kc__store_watch_cache(p->servers[0]->store, KC_STR("/registry/masterleases/"));
    assert_int_equal(kc__watch_cache_check_all_readable(leases, KC_STR(""), NULL), 0);
}

/* The format of this test shows what `encode` got by the text of the object. */
static void write_of_a_lossy_value_passes_the_older_one(void **state)
{
    (void)state;
    kc_auto(plane) *p = plane_new();
    store_raw(p, "/registry/pods/a", "raw:1?");
    sync_now(p->servers[0]);
    expect_now(p->servers[0]->pods, "a=1?@2 ");
    put(p->servers[0], "a", "2");
    expect_now(p->servers[0]->pods, "a=kept?@3 ");
    put(p->servers[0], "a", "3");
    expect_now(p->servers[0]->pods, "a=kept?@4 ");
    sync_now(p->servers[1]);
    expect_now(p->servers[1]->pods, "a=kept?@4 ");
    put(p->servers[1], "a", NULL);
    sync_now(p->servers[0]);
    put(p->servers[0], "a", "4");
    expect_now(p->servers[0]->pods, "a=4@6 ");
}

static void restarted_server_shows_everything(void **state)
{
    (void)state;
    kc_auto(plane) *p = plane_new();
    put(p->servers[0], "a", "1");
    stage_leave(p->servers[1]);
    p->servers[1] = NULL;
    put(p->servers[0], "b", "1");
    p->servers[1] = open_server(p);
    expect_now(p->servers[1]->pods, "a=1@2 b=1@3 ");
    put(p->servers[0], "c", "1");
    sync_now(p->servers[1]);
    expect_now(p->servers[1]->pods, "a=1@2 b=1@3 c=1@4 ");
}

TESTS(acknowledged_write_is_read_from_the_same_server, synced_read_shows_writes_of_another_server,
      write_waits_until_its_server_shows_it, create_of_object_of_another_server_conflicts,
      create_after_deletion_by_another_server_succeeds,
      update_of_older_revision_conflicts_with_the_current_object, deletion_returns_the_last_state,
      write_to_a_storage_that_is_down_is_refused, health_of_an_idle_store_follows_the_storage,
      object_too_large_for_the_storage_is_refused_and_the_store_stays_healthy,
      deletion_returns_its_object_although_another_server_has_created_it_again,
      group_is_stored_as_a_whole_or_not_at_all, rebased_writes_of_several_servers_lose_nothing,
      sync_waits_until_the_server_has_caught_up, many_readers_share_a_question,
      every_reader_is_completed_once_on_its_loop,
      synced_read_is_never_older_than_an_acknowledged_write, sync_fails_when_the_storage_is_down,
      watch_shows_the_writes_of_all_servers_in_order, watch_resumes_on_another_server,
      lost_events_reload_the_store_and_expire_its_watches, restarted_server_shows_everything,
      values_of_other_programs_are_decoded_or_left_out,
      unreadable_object_is_reported_until_it_is_replaced, data_of_other_programs_is_not_reported,
      write_of_a_lossy_value_passes_the_older_one)
