/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_testing.h: a store in a temporary directory, loops for its callbacks, and blocking writes.
 */
#ifndef KC_STORE_TESTING_H
#define KC_STORE_TESTING_H

#include "testing.h"

#include "apiserver/storage/file/file_backend.h"
#include "apiserver/store/watch.h"
#include "kc/rand.h"
#include "kc/thread.h"

#include <dirent.h>
#include <stdio.h>
#include <unistd.h>

#define PODS KC_STR("/registry/pods/")
#define MAPS KC_STR("/registry/configmaps/")

enum { STAGE_LOOPS = 3 };

typedef struct stage {
    char *folder;
    kc__storage_opts storage_opts;
    const kc__storage_backend *backend;
    kc__storage *storage; /* Owned by the store. */
    kc__store_opts opts;
    kc__store *store;
    kc__loop *loops[STAGE_LOOPS];
    kc__watch_cache *pods, *maps;
} stage;

static KC_UNUSED void stage_close(stage *s)
{
    s->store = kc__store_close(s->store);
}

static KC_UNUSED void stage_open(stage *s)
{
    kc_scoped(kc_error) err = {0};
    if (kc__storage_open(s->backend, &s->storage_opts, &s->storage, &err) < 0)
        fail_msg("%s", kc_error_text(&err));
    s->opts.storage = s->storage;
    s->store = kc__store_open(&s->opts, &err);
    if (!s->store)
        fail_msg("%s", kc_error_text(&err));
    s->pods = kc__store_watch_cache(s->store, PODS);
    s->maps = kc__store_watch_cache(s->store, MAPS);
}

static KC_UNUSED void stage_reopen(stage *s)
{
    stage_close(s);
    stage_open(s);
}

/* In an existing directory. Not opened yet. */
static stage *stage_make_in(const char *folder)
{
    stage *s = kc_new(stage);
    s->folder = kc_strdup(folder);
    s->storage_opts.location = s->folder;
    s->backend = &kc__storage_file_backend;
    for (int i = 0; i < STAGE_LOOPS; i++)
        s->loops[i] = kc__loop_start("test", NULL, NULL);
    return s;
}

static KC_UNUSED stage *stage_make(void)
{
    char folder[] = "/tmp/kc-store-XXXXXX";
    if (!mkdtemp(folder))
        abort();
    return stage_make_in(folder);
}

static KC_UNUSED stage *stage_new(void)
{
    stage *s = stage_make();
    stage_open(s);
    return s;
}

/* Frees everything but the directory. */
static void stage_leave(stage *s)
{
    kc__store_close(s->store);
    for (int i = 0; i < STAGE_LOOPS; i++)
        kc__loop_stop(s->loops[i]);
    free(s->folder);
    free(s);
}

static KC_UNUSED stage *stage_free(stage *s)
{
    s->store = kc__store_close(s->store);
    DIR *dir = opendir(s->folder);
    for (const struct dirent *entry; dir && (entry = readdir(dir));)
        unlinkat(dirfd(dir), entry->d_name, 0);
    if (dir)
        closedir(dir);
    rmdir(s->folder);
    stage_leave(s);
    return NULL;
}
KC_AUTO_DEFINE(stage, stage_free)

/* ---- running a function on a loop, and waiting for it ---- */

typedef struct visit {
    kc__loop_task task;
    void (*run)(void *user);
    void *user;
    kc_latch done;
} visit;

static KC_UNUSED void visit_run(kc__loop_task *task)
{
    visit *v = kc_container_of(task, visit, task);
    v->run(v->user);
    kc_latch_count_down(&v->done);
}

static KC_UNUSED void on_loop(kc__loop *loop, void (*run)(void *user), void *user)
{
    visit v = {.task = {.run = visit_run}, .run = run, .user = user};
    kc_latch_init(&v.done);
    kc_latch_add(&v.done, 1);
    kc__loop_post(loop, &v.task);
    kc_latch_wait(&v.done);
    kc_latch_done(&v.done);
}

static KC_UNUSED void nothing(void *user)
{
    (void)user;
}

/* Waits until everything posted so far has run. */
static KC_UNUSED void settle(kc__loop *loop)
{
    on_loop(loop, nothing, NULL);
}

/* ---- writing ---- */

/* A write that a test waits for. */
typedef struct attempt {
    kc__store_write write;
    kc_latch *done; /* Allocated separately, because an attempt is returned by value. */
} attempt;

static KC_UNUSED void attempt_done(attempt *a)
{
    kc_object_unref(a->write.result);
    kc_error_done(&a->write.error);
    kc_object_unref(a->write.object);
    kc_latch_done(a->done);
    free(a->done);
}

static KC_UNUSED void on_attempt_done(kc__store_write *write)
{
    kc_latch_count_down(kc_container_of(write, attempt, write)->done);
}

/* Makes a->write ready to be submitted. */
static KC_UNUSED void attempt_arm(stage *s, attempt *a)
{
    a->write.loop = s->loops[0];
    a->write.done = on_attempt_done;
    a->done = kc_new(kc_latch);
    kc_latch_init(a->done);
    kc_latch_add(a->done, 1);
}

/* Submits a->write. */
static KC_UNUSED void attempt_submit(stage *s, attempt *a)
{
    attempt_arm(s, a);
    kc__store_submit(s->store, &a->write);
}

/* `value` NULL: a deletion. Borrows the key. */
static KC_UNUSED attempt attempt_of(kc__watch_cache *cache, const char *key, uint64_t expected,
                                    const char *value)
{
    char json[256];
    snprintf(json, sizeof(json), "{'metadata':{'name':'%s'},'data':'%s'}", key, value ? value : "");
    return (attempt){.write = {
                         .cache = cache,
                         .verb = value ? KC__STORAGE_PUT : KC__STORAGE_DELETE,
                         .key = kc_cstr(key),
                         .expected = expected,
                         .object = value ? object_of(json) : NULL,
                     }};
}

static KC_UNUSED void attempt_start(stage *s, attempt *a, kc__watch_cache *cache, const char *key,
                                    uint64_t expected, const char *value)
{
    *a = attempt_of(cache, key, expected, value);
    attempt_submit(s, a);
}

static KC_UNUSED attempt try_write(stage *s, kc__watch_cache *cache, const char *key,
                                   uint64_t expected, const char *value)
{
    attempt a;
    attempt_start(s, &a, cache, key, expected, value);
    kc_latch_wait(a.done);
    return a;
}

/* Must succeed. Returns the revision. */
static KC_UNUSED uint64_t put(stage *s, const char *key, const char *value)
{
    kc_scoped(attempt) a = try_write(s, s->pods, key, KC__STORAGE_ANY, value);
    assert_string_equal(kc_error_text(&a.write.error), "no error");
    assert_int_equal(a.write.outcome, KC__STORAGE_STORED);
    return a.write.revision;
}

static KC_UNUSED uint64_t drop(stage *s, const char *key)
{
    return put(s, key, NULL);
}

/* Waits until the committer has finished its work after a batch, with a write that changes
 * nothing. */
static KC_UNUSED void quiesce(stage *s)
{
    kc_scoped(attempt) a = try_write(s, s->pods, "nobody", 999999, NULL);
    assert_int_equal(a.write.outcome, KC__STORAGE_CONFLICT);
}

/* ---- reading ---- */

/* "key=data@revision " for each object, in order. */
static KC_UNUSED void describe(const kc__cow_snapshot *snapshot, kc_buf *out)
{
    kc__cow_iter it = kc__cow_iter_start(snapshot, NULL);
    while (kc__cow_iter_next(&it)) {
        kc_auto(kc_view) *view = kc_view_of(it.object);
        kc_buf_printf(out, "%.*s=%.*s@%llu ", KC_ARG(it.key),
                      KC_ARG(kc_value_as_str(kc_value_get(kc_view_root(view), "data"))),
                      (unsigned long long)kc_object_revision(it.object));
    }
}

static KC_UNUSED void expect_state(const kc__cow_snapshot *snapshot, const char *text)
{
    kc_scoped(kc_buf) out = {0};
    describe(snapshot, &out);
    assert_string_equal(kc_buf_cstr(&out), text);
}

static KC_UNUSED void expect_now(kc__watch_cache *cache, const char *text)
{
    kc_auto(kc__cow_snapshot) *now = kc__watch_cache_snapshot(cache, NULL);
    expect_state(now, text);
}

static KC_UNUSED void expect_at(kc__watch_cache *cache, uint64_t revision, const char *text)
{
    kc_scoped(kc_error) err = {0};
    kc_auto(kc__cow_snapshot) *then = kc__watch_cache_snapshot_at(cache, revision, &err);
    if (!then)
        fail_msg("%s", kc_error_text(&err));
    expect_state(then, text);
}

#endif
