/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store.c: durable creates of ConfigMaps of 1 KB through the store, one at a time and 64 at a time,
 * beside a program that only appends the same bytes to a file and syncs it; and what 53,000 of them
 * take in memory once loaded.
 */
#include "bench.h"

#include "apiserver/storage/file/file_backend.h"
#include "apiserver/store/store.h"
#include "kc/thread.h"

#include <assert.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BYTES = 1024, MANY = 64, OBJECTS = 53000 };

typedef struct setup {
    char folder[64];
    kc__loop *loop;
    kc__store *store;
    kc__watch_cache *cache;
    kc_object *object;
    size_t started; /* On the loop's thread. */
    size_t wanted;
    kc_latch done;
} setup;

typedef struct submitter {
    kc__store_write write;
    setup *s;
    char key[32];
} submitter;

/* ---- the store ---- */

static void begin(submitter *x)
{
    setup *s = x->s;
    int n = snprintf(x->key, sizeof(x->key), "default/web-%08zu", s->started++);
    x->write = (kc__store_write){.cache = s->cache,
                                 .key = kc_str_of(x->key, (size_t)n),
                                 .expected = KC__STORAGE_ABSENT,
                                 .object = s->object,
                                 .loop = s->loop,
                                 .done = x->write.done};
    kc__store_submit(s->store, &x->write);
}

static void on_done(kc__store_write *write)
{
    submitter *x = kc_container_of(write, submitter, write);
    assert(write->outcome == KC__STORAGE_STORED);
    kc_object_unref(write->result);
    if (x->s->started < x->s->wanted)
        begin(x);
    else
        kc_latch_count_down(&x->s->done);
}

typedef struct kick {
    kc__loop_task task;
    submitter *submitters;
    size_t n;
} kick;

static void begin_all(kc__loop_task *task)
{
    kick *k = kc_container_of(task, kick, task);
    for (size_t i = 0; i < k->n; i++)
        begin(&k->submitters[i]);
}

/* `times` objects more, by `n` submitters that each wait for one before the next. */
static void create(setup *s, size_t times, size_t n)
{
    kc_autofree submitter *submitters = kc_calloc(n, sizeof(*submitters));
    for (size_t i = 0; i < n; i++)
        submitters[i] = (submitter){.s = s, .write.done = on_done};
    s->wanted = s->started + KC_MAX(times, n);
    kc_latch_add(&s->done, n);
    kick k = {.task = {.run = begin_all}, .submitters = submitters, .n = n};
    kc__loop_post(s->loop, &k.task);
    kc_latch_wait(&s->done);
}

static void create_one_by_one(void *input, size_t times)
{
    create(input, times, 1);
}

static void create_many(void *input, size_t times)
{
    create(input, times * MANY, MANY);
}

/* ---- the peer ---- */

static void append_and_sync(const setup *s, size_t times, size_t bytes)
{
    char path[128];
    kc_autofree char *block = kc_calloc(1, bytes);
    snprintf(path, sizeof(path), "%s/peer", s->folder);
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    while (times--)
        if (write(fd, block, bytes) < 0 || fdatasync(fd) < 0)
            abort();
    close(fd);
}

static void append_one(void *input, size_t times)
{
    append_and_sync(input, times, BYTES);
}

static void append_many(void *input, size_t times)
{
    append_and_sync(input, times, (size_t)BYTES * MANY);
}

/* ---- setting up ---- */

static void open_store(setup *s)
{
    kc__storage *storage = NULL;
    kc_scoped(kc_error) err = {0};
    if (kc__storage_open(&kc__storage_file_backend, &(kc__storage_opts){.location = s->folder},
                         &storage, &err))
        abort();
    s->store = kc__store_open(&(kc__store_opts){.storage = storage}, &err);
    s->cache = kc__store_watch_cache(s->store, KC_STR("/registry/configmaps/"));
}

static void make_folder(setup *s)
{
    *s = (setup){.folder = "bench-store-XXXXXX"};
    if (!mkdtemp(s->folder))
        abort();
}

static void set_up(setup *s, const char *folder)
{
    *s = (setup){0};
    snprintf(s->folder, sizeof(s->folder), "%s", folder);
    kc_scoped(kc_buf) json = {0};
    sample_config_map(&json, BYTES);
    s->object = kc_object_parse(kc_buf_str(&json), NULL, NULL);
    kc_latch_init(&s->done);
    s->loop = kc__loop_start("bench", NULL, NULL);
    open_store(s);
}

static void remove_folder(const char *folder)
{
    DIR *dir = opendir(folder);
    for (const struct dirent *entry; dir && (entry = readdir(dir));)
        unlinkat(dirfd(dir), entry->d_name, 0);
    closedir(dir);
    rmdir(folder);
}

static void tear_down(setup *s)
{
    kc__store_close(s->store);
    kc__loop_stop(s->loop);
    kc_latch_done(&s->done);
    kc_object_unref(s->object);
    remove_folder(s->folder);
}

/* ---- memory ---- */

/* What the objects take in memory, and what their text alone would. */
static void report_memory(const setup *s, const char *how, double took)
{
    kc_auto(kc__cow_snapshot) *now = kc__watch_cache_snapshot(s->cache, NULL);
    assert(kc__cow_snapshot_count(now) == OBJECTS);
    double json = 0;
    kc__cow_iter it = kc__cow_iter_start(now, NULL);
    while (kc__cow_iter_next(&it))
        json += (double)kc_object_json(it.object).n;
    printf("store: %d objects of %.0f bytes, %s: %.1f MB resident\n", OBJECTS, json / OBJECTS, how,
           took / 1e6);
    kc_autofree char *what = kc_asprintf("resident memory %s, to the objects' JSON", how);
    bench_at_most(what, took / json, 1.5);
}

/* In a process of its own, so that what it needs to write is not counted for the next. */
static void fill(const char *folder)
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        setup s;
        const double before = bench_resident();
        set_up(&s, folder);
        create(&s, OBJECTS, MANY);
        report_memory(&s, "after writing", bench_resident() - before);
        kc__store_close(s.store);
        const int failed = bench_result();
        fflush(stdout);
        _exit(failed);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (status)
        bench_at_most("failed processes that write", 1, 0);
}

static double seconds(void)
{
    return (double)kc_clock_now(kc_clock_real()) / 1e9;
}

static void measure_memory(void)
{
    setup s = {0};
    make_folder(&s);
    fill(s.folder);
    const double before = bench_resident(), start = seconds();
    open_store(&s);
    printf("store: loaded in %.0f ms\n", (seconds() - start) * 1e3);
    report_memory(&s, "after loading with history", bench_resident() - before);
    kc__store_close(s.store);
    remove_folder(s.folder);
}

int main(void)
{
    measure_memory();
    setup s, made;
    make_folder(&made);
    set_up(&s, made.folder);
    contestant one[] = {{"create, one at a time", create_one_by_one},
                        {"append 1 KB and sync", append_one}};
    contestant many[] = {{"create 64 at a time", create_many},
                         {"append 64 KB and sync", append_many}};
    bench_run("store: one writer", one, KC_COUNT(one), &s);
    bench_run("store: 64 writers", many, KC_COUNT(many), &s);
    printf("  %.0f/s with one writer, %.0f/s with 64\n", 1e9 / one[0].ns, MANY * 1e9 / many[0].ns);
    bench_at_least("creates by one writer, to append and sync", one[1].ns / one[0].ns, 0.5);
    bench_at_least("creates by 64 writers, to append and sync", many[1].ns / many[0].ns, 0.25);
    tear_down(&s);
    return bench_result();
}
