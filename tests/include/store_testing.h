/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_testing.h: a store in a temporary folder, loops to be called back on, and writing as a call
 * that returns when it is done.
 */
#ifndef KC_STORE_TESTING_H
#define KC_STORE_TESTING_H

#include "testing.h"

#include "apiserver/storage/storage_file.h"
#include "apiserver/store/watch.h"
#include "kc/rand.h"
#include "kc/thread.h"

#include <dirent.h>
#include <stdio.h>
#include <unistd.h>

#define PODS KC_STR("/registry//pods/")
#define MAPS KC_STR("/registry//configmaps/")

enum { STAGE_LOOPS = 3 };

typedef struct stage {
    char *folder;
    kc_storage_opts storage_opts;
    const kc_storage_backend *backend;
    kc_storage *storage; /* The store's. */
    kc__store_opts opts;
    kc__store *store;
    kc__loop *loops[STAGE_LOOPS];
    kc__cache *pods, *maps;
} stage;

static KC_UNUSED void stage_close(stage *s)
{
    s->store = kc__store_close(s->store);
}

static KC_UNUSED void stage_open(stage *s)
{
    kc_scoped(kc_error) err = {0};
    if (kc_storage_open(s->backend, &s->storage_opts, &s->storage, &err) < 0)
        fail_msg("%s", kc_error_text(&err));
    s->opts.storage = s->storage;
    s->store = kc__store_open(&s->opts, &err);
    if (!s->store)
        fail_msg("%s", kc_error_text(&err));
    s->pods = kc__store_cache(s->store, PODS);
    s->maps = kc__store_cache(s->store, MAPS);
}

static KC_UNUSED void stage_reopen(stage *s)
{
    stage_close(s);
    stage_open(s);
}

/* In a folder that is there. Not opened yet. */
static stage *stage_make_in(const char *folder)
{
    stage *s = kc_new(stage);
    s->folder = kc_strdup(folder);
    s->storage_opts.location = s->folder;
    s->backend = &kc_storage_file;
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

/* All but the folder. */
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

/* ---- running something on a loop, and waiting for it ---- */

typedef struct visit {
    kc__task task;
    void (*run)(void *user);
    void *user;
    kc_latch done;
} visit;

static KC_UNUSED void visit_run(kc__task *task)
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

/* Until everything posted so far has run. */
static KC_UNUSED void settle(kc__loop *loop)
{
    on_loop(loop, nothing, NULL);
}

/* ---- writing ---- */

/* A write somebody waits for. */
typedef struct attempt {
    kc__write write;
    kc_latch *done; /* Apart, since an attempt is returned by value. */
} attempt;

static KC_UNUSED void attempt_done(attempt *a)
{
    kc_object_unref(a->write.result);
    kc_error_done(&a->write.error);
    kc_object_unref(a->write.object);
    kc_latch_done(a->done);
    free(a->done);
}

static KC_UNUSED void on_attempt_done(kc__write *write)
{
    kc_latch_count_down(kc_container_of(write, attempt, write)->done);
}

/* Submits a->write. */
static KC_UNUSED void attempt_submit(stage *s, attempt *a)
{
    a->write.loop = s->loops[0];
    a->write.done = on_attempt_done;
    a->done = kc_new(kc_latch);
    kc_latch_init(a->done);
    kc_latch_add(a->done, 1);
    kc__store_submit(s->store, &a->write);
}

/* `value` NULL: a deletion. */
static KC_UNUSED void attempt_start(stage *s, attempt *a, kc__cache *cache, const char *key,
                                    uint64_t expected, const char *value)
{
    char json[256];
    snprintf(json, sizeof(json), "{'metadata':{'name':'%s'},'data':'%s'}", key, value ? value : "");
    a->write = (kc__write){
        .cache = cache,
        .verb = value ? KC_STORAGE_PUT : KC_STORAGE_DELETE,
        .key = kc_cstr(key),
        .expected = expected,
        .object = value ? object_of(json) : NULL,
    };
    attempt_submit(s, a);
}

static KC_UNUSED attempt try_write(stage *s, kc__cache *cache, const char *key, uint64_t expected,
                                   const char *value)
{
    attempt a;
    attempt_start(s, &a, cache, key, expected, value);
    kc_latch_wait(a.done);
    return a;
}

/* Must succeed. Gives the revision. */
static KC_UNUSED uint64_t put(stage *s, const char *key, const char *value)
{
    kc_scoped(attempt) a = try_write(s, s->pods, key, KC_STORAGE_ANY, value);
    assert_string_equal(kc_error_text(&a.write.error), "no error");
    assert_int_equal(a.write.outcome, KC_STORAGE_STORED);
    return a.write.revision;
}

static KC_UNUSED uint64_t drop(stage *s, const char *key)
{
    return put(s, key, NULL);
}

/* Until the committer is through with what it does after a batch: a write that changes nothing. */
static KC_UNUSED void quiesce(stage *s)
{
    kc_scoped(attempt) a = try_write(s, s->pods, "nobody", 999999, NULL);
    assert_int_equal(a.write.outcome, KC_STORAGE_CONFLICT);
}

/* ---- reading ---- */

/* "key=data@revision " of all, in order. */
static KC_UNUSED void describe(const kc_cow_snapshot *snapshot, kc_buf *out)
{
    kc_cow_iter it = kc_cow_iter_start(snapshot, NULL);
    while (kc_cow_iter_next(&it)) {
        kc_auto(kc_view) *view = kc_view_of(it.object);
        kc_buf_printf(out, "%.*s=%.*s@%llu ", KC_ARG(it.key),
                      KC_ARG(kc_as_str(kc_get(kc_view_root(view), "data"))),
                      (unsigned long long)kc_object_revision(it.object));
    }
}

static KC_UNUSED void expect_state(const kc_cow_snapshot *snapshot, const char *text)
{
    kc_scoped(kc_buf) out = {0};
    describe(snapshot, &out);
    assert_string_equal(kc_buf_cstr(&out), text);
}

static KC_UNUSED void expect_now(kc__cache *cache, const char *text)
{
    kc_auto(kc_cow_snapshot) *now = kc__cache_snapshot(cache, NULL);
    expect_state(now, text);
}

static KC_UNUSED void expect_at(kc__cache *cache, uint64_t revision, const char *text)
{
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_cow_snapshot) *then = kc__cache_snapshot_at(cache, revision, &err);
    if (!then)
        fail_msg("%s", kc_error_text(&err));
    expect_state(then, text);
}

#endif
