/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/storage/file/file_backend.h"

#include "kc/mem.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char *new_location(void)
{
    char folder[] = "/tmp/kc-storage-XXXXXX";
    if (!mkdtemp(folder))
        abort();
    return kc_asprintf("%s/store", folder);
}

static void remove_files(const char *folder)
{
    DIR *dir = opendir(folder);
    for (const struct dirent *entry; dir && (entry = readdir(dir));)
        unlinkat(dirfd(dir), entry->d_name, 0);
    if (dir)
        closedir(dir);
    rmdir(folder);
}

static void remove_location(const char *location)
{
    remove_files(location);
    kc_autofree char *parent = kc_strndup(location, (size_t)(strrchr(location, '/') - location));
    rmdir(parent);
}

#define STORAGE_BACKEND kc__storage_file_backend
#include "storage_contract.h"

#include "kc/thread.h"

#include <lmdb.h>

/* ---- helpers ---- */

static char *path_in(const stage *s, const char *name)
{
    return kc_asprintf("%s/%s", s->location, name);
}

static void expect_refusal(stage *s, kc_reason reason, const char *part)
{
    kc_scoped(kc_error) err = {0};
    kc__storage *storage = NULL;
    assert_true(kc__storage_open(&kc__storage_file_backend, &s->opts, &storage, &err) < 0);
    assert_null(storage);
    assert_error(&err, reason, part);
}

static void read_all(const char *path, kc_buf *out)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    for (size_t n = 1; n > 0; out->n += n)
        n = fread(kc_buf_reserve(out, 65536), 1, 65536, f);
    fclose(f);
}

static void write_all(const char *path, kc_str bytes)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes.p, 1, bytes.n, f), bytes.n);
    fclose(f);
}

/* Opening is refused and leaves data.mdb as it was. */
static void expect_refusal_without_change(stage *s, kc_reason reason, const char *part)
{
    kc_scoped(kc_buf) before = {0}, after = {0};
    kc_autofree char *data = path_in(s, "data.mdb");
    read_all(data, &before);
    expect_refusal(s, reason, part);
    expect_refusal(s, reason, part); /* The refused one holds no lock. */
    read_all(data, &after);
    assert_true(kc_str_eq(kc_buf_str(&before), kc_buf_str(&after)));
}

static void assert_child_succeeds(pid_t child)
{
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* ---- the folder ---- */

static void directory_and_file_are_private(void **state)
{
    (void)state;
    kc_auto(stage) *s = NEW_STAGE(0);
    struct stat st;
    assert_int_equal(stat(s->location, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0700);
    kc_autofree char *data = path_in(s, "data.mdb");
    assert_int_equal(stat(data, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
}

static void invalid_directory_is_refused(void **state)
{
    (void)state;
    kc_auto(stage) *s = NEW_STAGE(0);
    s->opts.location = "/nowhere/at/all";
    expect_refusal(s, KC_INTERNAL, "cannot create the directory /nowhere/at/all: No such file");
    s->opts.location = "";
    expect_refusal(s, KC_INVALID, "requires a directory");
    kc_autofree char *data = path_in(s, "data.mdb");
    s->opts.location = data;
    expect_refusal(s, KC_INVALID, "is not a directory");
}

static void second_open_in_the_process_is_refused(void **state)
{
    (void)state;
    kc_auto(stage) *s = NEW_STAGE(0);
    char text[64];
    snprintf(text, sizeof(text), "is in use by process %ld", (long)getpid());
    expect_refusal(s, KC_CONFLICT, text);
    put(s, "a", "1");
    assert_live(stage_reopen(s), "a=1@2 revision 2");
}

static void second_open_by_another_process_is_refused(void **state)
{
    (void)state;
    kc_auto(stage) *s = NEW_STAGE(0);
    char text[64];
    snprintf(text, sizeof(text), "is in use by process %ld", (long)getpid());
    const pid_t child = fork();
    if (child == 0) {
        kc_error err = {0};
        kc__storage *storage = NULL;
        const int failed = kc__storage_open(&kc__storage_file_backend, &s->opts, &storage, &err);
        _exit(failed == -KC_CONFLICT && strstr(kc_error_text(&err), text) ? 0 : 1);
    }
    assert_child_succeeds(child);
}

/* ---- files that are not ours, or no longer whole ---- */

static void foreign_file_is_refused_and_unchanged(void **state)
{
    (void)state;
    kc_auto(stage) *s = NEW_STAGE(0);
    s->storage = kc__storage_close(s->storage);
    kc_autofree char *data = path_in(s, "data.mdb");
    write_all(data, KC_STR("Dear diary,\n"));
    expect_refusal_without_change(s, KC_INVALID, "is not a store of this program");
    char zeros[20000] = {0};
    write_all(data, kc_str_of(zeros, sizeof(zeros)));
    expect_refusal_without_change(s, KC_INVALID, "is not a store of this program");
}

/* An LMDB of another program: with a key, and as long as its map. */
static void make_foreign_lmdb(const char *folder, const char *database, kc_str bytes)
{
    MDB_env *env;
    MDB_txn *txn;
    MDB_dbi db;
    MDB_val key = {5, (void *)"state"}, value = {bytes.n, (void *)bytes.p};
    assert_int_equal(mdb_env_create(&env), 0);
    assert_int_equal(mdb_env_set_mapsize(env, 1 << 20), 0);
    assert_int_equal(mdb_env_set_maxdbs(env, 1), 0);
    assert_int_equal(mdb_env_open(env, folder, 0, 0600), 0);
    assert_int_equal(mdb_txn_begin(env, NULL, 0, &txn), 0);
    assert_int_equal(mdb_dbi_open(txn, database, database ? MDB_CREATE : 0, &db), 0);
    assert_int_equal(mdb_put(txn, db, &key, &value, 0), 0);
    assert_int_equal(mdb_txn_commit(txn), 0);
    mdb_env_close(env);
    kc_autofree char *data = kc_asprintf("%s/data.mdb", folder);
    assert_int_equal(truncate(data, 1 << 20), 0);
}

static void expect_refusal_of_lmdb(const char *database, kc_str bytes, const char *part)
{
    kc_auto(stage) *s = NEW_STAGE(0);
    s->storage = kc__storage_close(s->storage);
    remove_files(s->location);
    assert_int_equal(mkdir(s->location, 0700), 0);
    make_foreign_lmdb(s->location, database, bytes);
    expect_refusal_without_change(s, KC_INVALID, part);
}

static void lmdb_of_another_program_is_refused_and_unchanged(void **state)
{
    (void)state;
    expect_refusal_of_lmdb(NULL, KC_STR("x"), "is not a store of this program");
    expect_refusal_of_lmdb("other", KC_STR("x"), "is not a store of this program");
    expect_refusal_of_lmdb("state", KC_STR("Ohio"), "is not a store of this program");
    expect_refusal_of_lmdb("state", kc_str_of("KCST\0\0\0\0", 8), "is not a store of this program");
}

static void newer_layout_is_refused_and_unchanged(void **state)
{
    (void)state;
    expect_refusal_of_lmdb("state", kc_str_of("KCST\0\0\0\x07 what is new", 20),
                           "has layout 7, and this program supports layouts up to 3");
}

static void truncated_file_is_refused_and_unchanged(void **state)
{
    (void)state;
    kc_auto(stage) *s = NEW_STAGE(0);
    put(s, "a", "1");
    s->storage = kc__storage_close(s->storage);
    kc_autofree char *data = path_in(s, "data.mdb");
    assert_int_equal(truncate(data, 12288), 0);
    expect_refusal_without_change(s, KC_STORE_READ_ERROR, "it was truncated");
}

static void flipped_bit_in_a_value_is_detected(void **state)
{
    (void)state;
    kc_auto(stage) *s = NEW_STAGE(0);
    kc_scoped(kc_buf) bytes = {0};
    kc_scoped(kc_error) err = {0};
    put(s, "a", "the needle");
    s->storage = kc__storage_close(s->storage);
    kc_autofree char *data = path_in(s, "data.mdb");
    read_all(data, &bytes);
    char *needle = memmem(bytes.p, bytes.n, "the needle", 10);
    assert_non_null(needle);
    needle[4] ^= 1;
    write_all(data, kc_buf_str(&bytes));
    stage_open(s);
    assert_true(kc__storage_load(s->storage, NULL, NULL, NULL, &err) < 0);
    assert_error(&err, KC_STORE_READ_ERROR, "the file is damaged");
    assert_true(kc__storage_history(s->storage, 1, print_event, &bytes, NULL) < 0);
}

static void interrupted_first_start_is_completed(void **state)
{
    (void)state;
    kc_auto(stage) *s = NEW_STAGE(0);
    s->storage = kc__storage_close(s->storage);
    remove_files(s->location);
    assert_int_equal(mkdir(s->location, 0700), 0);
    /* LMDB has written its two header pages; we have written nothing. */
    MDB_env *env;
    assert_int_equal(mdb_env_create(&env), 0);
    assert_int_equal(mdb_env_open(env, s->location, 0, 0600), 0);
    mdb_env_close(env);
    stage_open(s);
    put(s, "a", "1");
    assert_live(stage_reopen(s), "a=1@2 revision 2");
}

/* ---- size ---- */

static void store_grows_beyond_its_first_size(void **state)
{
    (void)state;
    kc_auto(stage) *s = NEW_STAGE(.file = &(kc__storage_file_opts){.first_bytes = 128 << 10});
    kc_autofree char *value = kc_calloc(1, 100001);
    memset(value, 'v', 100000);
    char key[16];
    for (int i = 0; i < 100; i++) {
        snprintf(key, sizeof(key), "key-%03d", i);
        put(s, key, value);
    }
    kc__storage_state after = {0};
    kc_str expected = kc_cstr(value);
    stage_reopen(s);
    assert_int_equal(kc__storage_load(s->storage, check_bytes, &expected, &after, NULL), 0);
    assert_int_equal(after.revision, 101);
}

static void commit_beyond_max_bytes_fails_until_space_is_freed(void **state)
{
    (void)state;
    kc_auto(stage) *s =
        NEW_STAGE(.file = &(kc__storage_file_opts){.first_bytes = 128 << 10}, .max_bytes = 1 << 20);
    kc_scoped(kc_error) err = {0};
    kc_autofree char *value = kc_calloc(1, 100001);
    memset(value, 'v', 100000);
    kc__storage_op op = put_op(KC_STR("a"), KC__STORAGE_ANY, kc_cstr(value));
    kc__storage_result result = {.revision = 77};
    uint64_t latest = 1;
    while (kc__storage_commit(s->storage, &op, 1, &result, NULL, &err) == 0)
        assert_int_equal(result.revision, ++latest);
    assert_in_range(latest, 3, 11);
    assert_error(&err, KC_SERVICE_UNAVAILABLE, "the size limit of the store is reached");
    assert_int_equal(result.revision, latest);
    assert_int_equal(kc__storage_compact(s->storage, latest, NULL), 0);
    assert_int_equal(put(s, "a", "small"), latest + 1);
}

/* The same pages are used again and again: history does not make the file grow for ever. */
static void compaction_frees_space(void **state)
{
    (void)state;
    kc_auto(stage) *s = NEW_STAGE(.file = &(kc__storage_file_opts){.first_bytes = 128 << 10},
                                  .max_bytes = 1 << 20, .history_events = 2);
    kc_autofree char *value = kc_calloc(1, 100001);
    memset(value, 'v', 100000);
    for (int i = 0; i < 100; i++)
        put(s, "a", value);
    assert_int_equal(compacted(s), 99);
}

static blkcnt_t blocks_of(const stage *s, const char *name)
{
    struct stat st;
    kc_autofree char *path = path_in(s, name);
    assert_int_equal(stat(path, &st), 0);
    return st.st_blocks;
}

static void commit_reuses_allocated_disk_blocks(void **state)
{
    (void)state;
    kc_auto(stage) *s = NEW_STAGE(.file = &(kc__storage_file_opts){.first_bytes = 4 << 20});
    kc_autofree char *value = kc_calloc(1, 1001), *large = kc_calloc(1, 20001);
    memset(value, 'v', 1000);
    memset(large, 'v', 20000);
    for (int i = 0; i < 260; i++) /* Once through the journal. */
        put(s, "a", value);
    const blkcnt_t before = blocks_of(s, "data.mdb"), journal = blocks_of(s, "journal");
    for (int i = 0; i < 300; i++)
        put(s, "c", value);
    assert_int_equal(blocks_of(s, "data.mdb"), before);
    assert_int_equal(blocks_of(s, "journal"), journal);
    for (int i = 0; i < 300; i++) /* The map grows. */
        put(s, "d", large);
    assert_true(blocks_of(s, "data.mdb") > before);
    assert_int_equal(blocks_of(s, "journal"), journal);
}

/* In the child: the disk is full for a while. */
static int write_on_full_disk(stage *s)
{
    struct rlimit limit;
    kc_error err = {0};
    kc__storage_result result = {0};
    kc__storage_op op = put_op(KC_STR("a"), KC__STORAGE_ANY, KC_STR("small"));
    kc_autofree char *value = kc_calloc(1, 2000000);
    stage_open(s);
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &limit);
    const rlim_t before = limit.rlim_cur;
    limit.rlim_cur = 200000;
    setrlimit(RLIMIT_FSIZE, &limit);
    for (size_t n = 2000000; n > 200000; n /= 2) {
        op.value = kc_str_of(value, n);
        if (kc__storage_commit(s->storage, &op, 1, &result, NULL, &err) != -KC_SERVICE_UNAVAILABLE)
            return 1;
    }
    if (kc__storage_load(s->storage, NULL, NULL, NULL, &err) < 0)
        return 2;
    limit.rlim_cur = before;
    setrlimit(RLIMIT_FSIZE, &limit);
    if (kc__storage_commit(s->storage, &op, 1, &result, NULL, &err) < 0)
        return 3;
    kc_error_done(&err);
    s->storage = kc__storage_close(s->storage);
    return result.outcome == KC__STORAGE_STORED && result.revision == 3 ? 0 : 4;
}

static void commit_on_full_disk_fails_until_space_is_freed(void **state)
{
    (void)state;
    kc_auto(stage) *s = NEW_STAGE(.file = &(kc__storage_file_opts){.first_bytes = 4 << 20});
    put(s, "a", "1");
    s->storage = kc__storage_close(s->storage);
    const pid_t child = fork();
    if (child == 0)
        _exit(write_on_full_disk(s));
    assert_child_succeeds(child);
    kc__storage_state after = {0};
    stage_open(s);
    assert_int_equal(kc__storage_load(s->storage, NULL, NULL, &after, NULL), 0);
    assert_int_equal(after.revision, 3);
}

/* ---- crashes ---- */

#define CRASH_ROUNDS 6
#define CRASH_KEYS   8
#define CRASH_BATCH  5

/* What the child says it was promised, after each operation of a batch that was stored. */
typedef struct promise {
    int key; /* Deleted when `revision` is that of a deletion. */
    int verb;
    uint64_t revision;
} promise;

static kc__storage_op crash_op(unsigned i, char key[8], char value[3000])
{
    snprintf(key, 8, "key-%u", i % CRASH_KEYS);
    memset(value, 'a' + (int)(i % 26), 3000);
    return (kc__storage_op){.verb = i % 3 == 0 ? KC__STORAGE_DELETE : KC__STORAGE_PUT,
                            .key = kc_cstr(key),
                            .expected = KC__STORAGE_ANY,
                            .value = kc_str_of(value, 100 + i * 37 % 2900)};
}

/* Commits until it is killed, and tells each batch in one write. */
static void commit_until_killed(stage *s, int out)
{
    static char keys[CRASH_BATCH][8], values[CRASH_BATCH][3000];
    kc__storage_op ops[CRASH_BATCH];
    kc__storage_result results[CRASH_BATCH];
    stage_open(s);
    for (unsigned i = 0;; i += CRASH_BATCH) {
        promise promises[CRASH_BATCH];
        size_t n = 0;
        for (unsigned j = 0; j < CRASH_BATCH; j++)
            ops[j] = crash_op(i + j, keys[j], values[j]);
        if (kc__storage_commit(s->storage, ops, CRASH_BATCH, results, NULL, NULL) < 0)
            _exit(1);
        for (unsigned j = 0; j < CRASH_BATCH; j++)
            if (results[j].outcome == KC__STORAGE_STORED)
                promises[n++] = (promise){.key = (int)((i + j) % CRASH_KEYS),
                                          .verb = (int)ops[j].verb,
                                          .revision = results[j].revision};
        if (n && write(out, promises, n * sizeof(*promises)) < 0)
            _exit(1);
    }
}

typedef struct crash_check {
    promise last[CRASH_KEYS]; /* Of each key. */
    uint64_t highest;         /* Revision that was promised. */
    uint64_t found[CRASH_KEYS];
    uint64_t changed[CRASH_KEYS]; /* After `highest`, by a batch whose promise was not heard. */
} crash_check;

/* Reads promises until the child is dead; kills it after `wanted` of them. */
static void read_acknowledgements(crash_check *check, int in, pid_t child, size_t wanted)
{
    promise p;
    for (size_t n = 0; read(in, &p, sizeof(p)) == (ssize_t)sizeof(p); n++) {
        if (n == wanted)
            kill(child, SIGKILL);
        assert_true(p.revision > check->highest);
        check->highest = p.revision;
        check->last[p.key] = p;
    }
}

static int note_found(const kc__storage_entry *entry, void *user)
{
    crash_check *check = user;
    check->found[entry->key.p[4] - '0'] = entry->revision;
    return 0;
}

static int note_changed(const kc__storage_event *event, void *user)
{
    crash_check *check = user;
    check->changed[event->key.p[4] - '0'] = event->revision;
    return 0;
}

static void check_after_crash(stage *s, crash_check *check)
{
    kc__storage_state after = {0};
    memset(check->found, 0, sizeof(check->found));
    memset(check->changed, 0, sizeof(check->changed));
    stage_open(s);
    assert_int_equal(kc__storage_load(s->storage, note_found, check, &after, NULL), 0);
    assert_true(after.revision >= check->highest);
    assert_true(after.revision <= check->highest + CRASH_BATCH);
    assert_int_equal(kc__storage_history(s->storage, check->highest, note_changed, check, NULL), 0);
    for (int key = 0; key < CRASH_KEYS; key++) {
        const promise *last = &check->last[key];
        if (check->changed[key])
            continue;
        assert_int_equal(check->found[key], last->verb == KC__STORAGE_PUT ? last->revision : 0);
    }
}

/* What the unheard batch did is what holds from now on. */
static void accept_unacknowledged(stage *s, crash_check *check)
{
    kc__storage_state after = {0};
    assert_int_equal(kc__storage_load(s->storage, NULL, NULL, &after, NULL), 0);
    for (int key = 0; key < CRASH_KEYS; key++)
        if (check->changed[key])
            check->last[key] =
                (promise){.key = key,
                          .verb = check->found[key] ? KC__STORAGE_PUT : KC__STORAGE_DELETE,
                          .revision = check->changed[key]};
    check->highest = after.revision;
    s->storage = kc__storage_close(s->storage);
}

static void acknowledged_commits_survive_kill(void **state)
{
    (void)state;
    kc_auto(stage) *s = NEW_STAGE(.file = &(kc__storage_file_opts){.first_bytes = 128 << 10},
                                  .history_events = 200);
    crash_check check = {.highest = KC__STORAGE_FIRST};
    s->storage = kc__storage_close(s->storage);
    for (size_t round = 0; round < CRASH_ROUNDS; round++) {
        int pipes[2];
        assert_int_equal(pipe(pipes), 0);
        const pid_t child = fork();
        if (child == 0)
            commit_until_killed(s, pipes[1]);
        close(pipes[1]);
        read_acknowledgements(&check, pipes[0], child, 20 + round * 31);
        close(pipes[0]);
        int status = 0;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        check_after_crash(s, &check);
        accept_unacknowledged(s, &check);
    }
    assert_true(check.highest > 200);
}

/* ---- threads ---- */

typedef struct reading {
    stage *stage;
    atomic_bool stop;
    atomic_size_t walks;
} reading;

/* Revisions follow one another without a gap. */
static int check_next(const kc__storage_event *event, void *user)
{
    uint64_t *last = user;
    assert_int_equal(event->revision, *last + 1);
    *last = event->revision;
    return 0;
}

static int sum_revisions(const kc__storage_entry *entry, void *user)
{
    *(uint64_t *)user = KC_MAX(*(uint64_t *)user, entry->revision);
    return 0;
}

static void read_on(void *user)
{
    reading *r = user;
    while (!atomic_load(&r->stop)) {
        kc__storage_state now = {0};
        uint64_t highest = 1;
        assert_int_equal(kc__storage_load(r->stage->storage, sum_revisions, &highest, &now, NULL),
                         0);
        assert_int_equal(highest, now.revision);
        uint64_t last = now.compacted;
        kc_scoped(kc_error) err = {0};
        const int failed = kc__storage_history(r->stage->storage, last, check_next, &last, &err);
        assert_true(failed == 0 || kc_error_has_reason(&err, KC_EXPIRED));
        atomic_fetch_add(&r->walks, 1);
    }
}

static void readers_continue_while_the_map_grows(void **state)
{
    (void)state;
    kc_auto(stage) *s =
        NEW_STAGE(.file = &(kc__storage_file_opts){.first_bytes = 128 << 10}, .history_events = 20);
    reading r = {.stage = s};
    kc_thread *threads[2];
    kc_autofree char *value = kc_calloc(1, 50001);
    memset(value, 'v', 50000);
    for (size_t i = 0; i < KC_COUNT(threads); i++)
        threads[i] = kc_thread_start("reader", read_on, &r, NULL);
    char key[16];
    for (int i = 0; i < 100; i++) {
        snprintf(key, sizeof(key), "key-%d", i % 50);
        put(s, key, value);
    }
    while (atomic_load(&r.walks) < 4)
        put(s, "key-0", value);
    atomic_store(&r.stop, true);
    for (size_t i = 0; i < KC_COUNT(threads); i++)
        kc_thread_join(threads[i]);
}

static void symlinks_in_place_of_a_store_are_refused(void **state)
{
    (void)state;
    static const char *const names[] = {"data.mdb", "lock.mdb", "owner", "journal"};
    kc_scoped(kc_error) err = {0};
    kc__storage *storage = NULL;
    char folder[] = "/tmp/kc-links-XXXXXX";
    assert_non_null(mkdtemp(folder));
    kc_autofree char *link = kc_asprintf("%s/store", folder);
    const kc__storage_opts opts = {.location = link};
    assert_int_equal(symlink("/tmp", link), 0);
    assert_true(kc__storage_open(&kc__storage_file_backend, &opts, &storage, &err) < 0);
    assert_error(&err, KC_INVALID, "is a symbolic link");
    assert_int_equal(unlink(link), 0);
    assert_int_equal(mkdir(link, 0700), 0);
    for (size_t i = 0; i < KC_COUNT(names); i++) {
        kc_autofree char *path = kc_asprintf("%s/%s", link, names[i]);
        assert_int_equal(symlink("/tmp/kc-elsewhere", path), 0);
        assert_true(kc__storage_open(&kc__storage_file_backend, &opts, &storage, &err) < 0);
        assert_error(&err, KC_INVALID, "is a symbolic link");
        assert_int_equal(access("/tmp/kc-elsewhere", F_OK), -1);
        assert_int_equal(unlink(path), 0);
    }
    rmdir(link);
    rmdir(folder);
}

/* Whatever was stored before fills the limit; see file_reserve.c. */
static void deletes_succeed_when_puts_exceed_the_limit(void **state)
{
    (void)state;
    kc_auto(stage) *s =
        NEW_STAGE(.file = &(kc__storage_file_opts){.first_bytes = 128 << 10}, .max_bytes = 4 << 20);
    kc_scoped(kc_error) err = {0};
    char key[16], value[3001];
    kc__storage_result result;
    int n = 0;
    memset(value, 'v', 3000);
    value[3000] = '\0';
    for (int failed = 0; !failed; n += !failed) {
        snprintf(key, sizeof(key), "k%05d", n);
        const kc__storage_op op = put_op(kc_cstr(key), KC__STORAGE_ABSENT, kc_cstr(value));
        failed = kc__storage_commit(s->storage, &op, 1, &result, NULL, &err);
    }
    assert_int_equal(err.reason, KC_SERVICE_UNAVAILABLE);
    for (int i = 0; i < n; i++) {
        snprintf(key, sizeof(key), "k%05d", i);
        const kc__storage_op op = {
            .verb = KC__STORAGE_DELETE, .key = kc_cstr(key), .expected = KC__STORAGE_ANY};
        assert_int_equal(kc__storage_commit(s->storage, &op, 1, &result, NULL, &err), 0);
        assert_int_equal(result.outcome, KC__STORAGE_STORED);
    }
    put(s, "again", value); /* History went, and its pages are free. */
}

TESTS(symlinks_in_place_of_a_store_are_refused, deletes_succeed_when_puts_exceed_the_limit,
      STORAGE_CONTRACT, directory_and_file_are_private, invalid_directory_is_refused,
      second_open_in_the_process_is_refused, second_open_by_another_process_is_refused,
      foreign_file_is_refused_and_unchanged, lmdb_of_another_program_is_refused_and_unchanged,
      newer_layout_is_refused_and_unchanged, truncated_file_is_refused_and_unchanged,
      flipped_bit_in_a_value_is_detected, interrupted_first_start_is_completed,
      store_grows_beyond_its_first_size, commit_beyond_max_bytes_fails_until_space_is_freed,
      compaction_frees_space, commit_reuses_allocated_disk_blocks,
      commit_on_full_disk_fails_until_space_is_freed, acknowledged_commits_survive_kill,
      readers_continue_while_the_map_grows)
