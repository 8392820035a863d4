/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_migrate.c: stores of layout 1, opened by the current file backend. The result must equal a
 * store that got the same changes under the new keys, revisions included.
 */
#include "apiserver/storage/file/file_backend.h"
#include "apiserver/storage/stored_journal.h"
#include "layout_1.h"
#include "testing.h"

#include "kc/buf.h"
#include "kc/mem.h"

#include <errno.h>
#include <lmdb.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

/* ---- kill at the n-th write ---- */

static long writes_left = -1; /* -1: it lives. */

static void die_at_chosen_write(void)
{
    if (writes_left >= 0 && writes_left-- == 0)
        kill(getpid(), SIGKILL);
}

/* These stand before those of libc, for LMDB as well. */
ssize_t pwrite(int fd, const void *bytes, size_t n, off_t at)
{
    die_at_chosen_write();
    return syscall(SYS_pwrite64, fd, bytes, n, at);
}

ssize_t pwrite64(int fd, const void *bytes, size_t n, off64_t at)
{
    die_at_chosen_write();
    return syscall(SYS_pwrite64, fd, bytes, n, at);
}

ssize_t writev(int fd, const struct iovec *parts, int n)
{
    die_at_chosen_write();
    return syscall(SYS_writev, fd, parts, n);
}

int fdatasync(int fd)
{
    die_at_chosen_write();
    return (int)syscall(SYS_fdatasync, fd);
}

int ftruncate(int fd, off_t size)
{
    die_at_chosen_write();
    return (int)syscall(SYS_ftruncate, fd, size);
}

int ftruncate64(int fd, off64_t size)
{
    die_at_chosen_write();
    return (int)syscall(SYS_ftruncate, fd, size);
}

/* ---- two stores: one with old keys, one with new ---- */

#define LONG_NAME                                                                                  \
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn" \
    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"
#define LONGER LONG_NAME LONG_NAME LONG_NAME

static const struct change {
    const char *old_key, *new_key;
    char value; /* Repeated; 0: it is deleted. */
    size_t n;
} changes[] = {
    {"/registry/core/namespaces/default", "/registry/namespaces/default", 'n', 10},
    {"/registry/core/pods/default/a", "/registry/pods/default/a", 'a', 100},
    {"/registry/core/pods/default/b", "/registry/pods/default/b", 'b', 9000},
    {"/registry/core/services/default/a", "/registry/services/specs/default/a", 's', 10},
    {"/registry/core/endpoints/default/a", "/registry/services/endpoints/default/a", 'e', 10},
    {"/registry/core/nodes/n1", "/registry/minions/n1", 'm', 10},
    {"/registry/core/pods/default/a", "/registry/pods/default/a", 'A', 200},
    {"/registry/core/pods/" LONG_NAME "/" LONGER, "/registry/pods/" LONG_NAME "/" LONGER, 'l', 10},
    {"/registry/example.com/robots/default/r2", "/registry/example.com/robots/default/r2", 'r', 10},
    {"/registry/rbac.authorization.k8s.io/clusterroles/admin", "/registry/clusterroles/admin", 'c',
     10},
    {"/registry/rbac.authorization.k8s.io/widgets/w",
     "/registry/rbac.authorization.k8s.io/widgets/w", 'w', 10},
    {"/registry/apiextensions.k8s.io/customresourcedefinitions/robots.example.com",
     "/registry/apiextensions.k8s.io/customresourcedefinitions/robots.example.com", 'd', 10},
    {"/registry/networking.k8s.io/ingresses/default/i", "/registry/ingress/default/i", 'i', 10},
    {"/registry/core/pods/default/b", "/registry/pods/default/b", 0, 0},
    {"/registry/core/events/default/e", "/registry/events/default/e", 'E', 20000},
    {"/registry/core/pods/default/a", "/registry/pods/default/a", 'Z', 50},
    {"/registry/core/services/default/a", "/registry/services/specs/default/a", 0, 0},
    {"/registry/core/services/default/a", "/registry/services/specs/default/a", 'S', 30},
    {"something/else", "something/else", 'x', 10},
    {"/registry/core/pods/" LONG_NAME "/" LONGER, "/registry/pods/" LONG_NAME "/" LONGER, 'L', 20},
};

typedef struct stage {
    char old[32], twin[32]; /* Folders. */
    kc__storage_opts opts;
    kc__storage_file_opts file;
} stage;

static kc__storage *opened(const stage *s, const char *folder)
{
    kc_scoped(kc_error) err = {0};
    kc__storage *storage = NULL;
    kc__storage_opts opts = s->opts;
    opts.location = folder;
    opts.file = &s->file;
    if (kc__storage_open(&kc__storage_file_backend, &opts, &storage, &err) < 0)
        fail_msg("%s", kc_error_text(&err));
    return storage;
}

static void put(kc__storage *storage, const char *key, kc_str value)
{
    const kc__storage_op op = {value.n ? KC__STORAGE_PUT : KC__STORAGE_DELETE, kc_cstr(key),
                               KC__STORAGE_ANY, value};
    kc__storage_result result = {0};
    assert_int_equal(kc__storage_commit(storage, &op, 1, &result, NULL, NULL), 0);
    assert_int_equal(result.outcome, KC__STORAGE_STORED);
}

static void make_change(kc__storage *storage, const struct change *c, bool old)
{
    kc_autofree char *value = kc_calloc(1, c->n + 1);
    memset(value, c->value, c->n);
    put(storage, old ? c->old_key : c->new_key, kc_str_of(value, c->n));
}

/* All changes in one batch, which is synced once; each has a revision of its own. */
static void fill(const stage *s, const char *folder, bool old)
{
    kc_auto(kc__storage) *storage = opened(s, folder);
    kc__storage_op ops[KC_COUNT(changes)];
    kc__storage_result results[KC_COUNT(changes)];
    char *values[KC_COUNT(changes)];
    for (size_t i = 0; i < KC_COUNT(changes); i++) {
        const struct change *c = &changes[i];
        values[i] = kc_calloc(1, c->n + 1);
        memset(values[i], c->value, c->n);
        ops[i] = (kc__storage_op){c->value ? KC__STORAGE_PUT : KC__STORAGE_DELETE,
                                  kc_cstr(old ? c->old_key : c->new_key), KC__STORAGE_ANY,
                                  kc_str_of(values[i], c->n)};
    }
    assert_int_equal(kc__storage_commit(storage, ops, KC_COUNT(ops), results, NULL, NULL), 0);
    assert_int_equal(kc__storage_compact(storage, 5, NULL), 0);
    for (size_t i = 0; i < KC_COUNT(changes); i++)
        free(values[i]);
}

static void new_folder(char folder[32])
{
    strcpy(folder, "/tmp/kc-migration-XXXXXX");
    assert_non_null(mkdtemp(folder));
}

static stage *stage_new(void)
{
    stage *s = kc_new(stage);
    s->file.first_bytes = 256 << 10;
    new_folder(s->old);
    new_folder(s->twin);
    fill(s, s->old, true);
    fill(s, s->twin, false);
    assert_true(layout_set_version(s->old, 3, 1));
    return s;
}

static void remove_folder(const char *folder)
{
    static const char *const names[] = {
        "data.mdb",         "lock.mdb",          "owner",
        "journal",          "data.mdb.layout-1", "data.mdb.layout-1.part",
        "data.mdb.layout-2"};
    for (size_t i = 0; i < KC_COUNT(names); i++) {
        kc_autofree char *path = kc_asprintf("%s/%s", folder, names[i]);
        unlink(path);
    }
    rmdir(folder);
}

static void stage_free(stage *s)
{
    remove_folder(s->old);
    remove_folder(s->twin);
    free(s);
}
KC_AUTO_DEFINE(stage, stage_free)

/* ---- contents of a store ---- */

static void show_value(kc_buf *out, kc_str value)
{
    kc_buf_printf(out, "%c*%zu ", value.n ? value.p[0] : '-', value.n);
}

static int show_entry(const kc__storage_entry *entry, void *user)
{
    kc_buf_printf(user, "%.*s@%llu=", KC_ARG(entry->key), (unsigned long long)entry->revision);
    show_value(user, entry->value);
    return 0;
}

static int show_event(const kc__storage_event *event, void *user)
{
    kc_buf_printf(user, "\n%llu %d %.*s ", (unsigned long long)event->revision, event->verb,
                  KC_ARG(event->key));
    show_value(user, event->value);
    kc_buf_printf(user, "was %llu ", (unsigned long long)event->previous_revision);
    show_value(user, event->previous_value);
    return 0;
}

/* Everything: live keys, revisions, history. */
static char *content_of(kc__storage *storage)
{
    kc_buf out = {0};
    kc__storage_state state = {0};
    assert_int_equal(kc__storage_load(storage, show_entry, &out, &state, NULL), 0);
    kc_buf_printf(&out, "revision %llu compacted %llu", (unsigned long long)state.revision,
                  (unsigned long long)state.compacted);
    assert_int_equal(kc__storage_history(storage, state.compacted, show_event, &out, NULL), 0);
    return kc_buf_take(&out);
}

static void assert_migrated(const stage *s)
{
    kc_auto(kc__storage) *old = opened(s, s->old), *twin = opened(s, s->twin);
    kc_autofree char *have = content_of(old), *want = content_of(twin);
    assert_string_equal(have, want);
}

/* The layout version that a store names; `ret_marked`: its migration is under way. */
static int layout_of(const char *folder, bool *ret_marked)
{
    MDB_env *env;
    MDB_txn *txn;
    MDB_dbi db;
    MDB_val state = {5, (void *)"state"}, mark = {9, (void *)"migration"}, data;
    assert_int_equal(mdb_env_create(&env), 0);
    assert_int_equal(mdb_env_set_maxdbs(env, 3), 0);
    assert_int_equal(mdb_env_open(env, folder, MDB_RDONLY | MDB_NOLOCK, 0600), 0);
    assert_int_equal(mdb_txn_begin(env, NULL, MDB_RDONLY, &txn), 0);
    assert_int_equal(mdb_dbi_open(txn, "state", 0, &db), 0);
    assert_int_equal(mdb_get(txn, db, &state, &data), 0);
    const int version = ((const char *)data.mv_data)[7];
    *ret_marked = mdb_get(txn, db, &mark, &data) == 0;
    mdb_txn_abort(txn);
    mdb_env_close(env);
    return version;
}

static void assert_layout(const stage *s, int version)
{
    bool marked;
    assert_int_equal(layout_of(s->old, &marked), version);
    assert_false(marked);
}

static void expect_refusal(const stage *s, kc_reason reason, const char *part)
{
    kc_scoped(kc_error) err = {0};
    kc__storage *storage = NULL;
    kc__storage_opts opts = s->opts;
    opts.location = s->old;
    opts.file = &s->file;
    assert_true(kc__storage_open(&kc__storage_file_backend, &opts, &storage, &err) < 0);
    assert_error(&err, reason, part);
}

/* ---- files ---- */

static void read_file(const stage *s, const char *name, kc_buf *out)
{
    kc_autofree char *path = kc_asprintf("%s/%s", s->old, name);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    const off_t size = lseek(fd, 0, SEEK_END);
    assert_int_equal(pread(fd, kc_buf_reserve(out, (size_t)size), (size_t)size, 0), size);
    out->n = (size_t)size;
    close(fd);
}

/* The copy that a migration makes first. */
static void assert_copy(const stage *s, const char *name, kc_str expected)
{
    struct stat st;
    kc_scoped(kc_buf) copy = {0};
    kc_autofree char *path = kc_asprintf("%s/%s", s->old, name);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    read_file(s, name, &copy);
    assert_int_equal(copy.n, expected.n);
    assert_memory_equal(copy.p, expected.p, expected.n);
}

static void write_data(const stage *s, kc_str bytes)
{
    kc_autofree char *path = kc_asprintf("%s/data.mdb", s->old);
    const int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
    assert_int_equal(pwrite(fd, bytes.p, bytes.n, 0), bytes.n);
    close(fd);
}

/* ---- migrating ---- */

static void opened_store_of_layout_1_has_the_new_keys(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    assert_migrated(s);
    assert_migrated(s);
    assert_layout(s, 3);
}

static void revisions_continue_after_migration(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    kc_auto(kc__storage) *old = opened(s, s->old), *twin = opened(s, s->twin);
    for (size_t i = 0; i < 3; i++) {
        make_change(old, &changes[i], false);
        make_change(twin, &changes[i], false);
    }
    assert_int_equal(kc__storage_compact(old, KC_COUNT(changes), NULL), 0);
    assert_int_equal(kc__storage_compact(twin, KC_COUNT(changes), NULL), 0);
    kc_autofree char *have = content_of(old), *want = content_of(twin);
    assert_string_equal(have, want);
}

static void migration_in_many_steps_gives_the_same_store(void **state)
{
    (void)state;
    for (size_t step = 1; step < 40000; step *= 6) {
        kc_auto(stage) *s = stage_new();
        s->file.migration_step = step;
        assert_migrated(s);
    }
}

static void migration_grows_the_map_when_needed(void **state)
{
    (void)state;
    kc_auto(stage) *s = kc_new(stage);
    kc_autofree char *value = kc_calloc(1, 700000);
    memset(value, 'v', 700000);
    s->file.first_bytes = 1 << 20;
    new_folder(s->old);
    new_folder(s->twin);
    kc__storage *old = opened(s, s->old), *twin = opened(s, s->twin);
    put(old, "/registry/core/pods/default/a", kc_str_of(value, 700000));
    put(twin, "/registry/pods/default/a", kc_str_of(value, 700000));
    kc__storage_close(old);
    kc__storage_close(twin);
    assert_true(layout_set_version(s->old, 3, 1));
    s->opts.max_bytes = 1 << 20;
    expect_refusal(s, KC_SERVICE_UNAVAILABLE, "the size limit of the store is reached");
    assert_layout(s, 1); /* As it was. */
    s->opts.max_bytes = 0;
    assert_migrated(s);
}

/* Writes a change to the redo only, as a power cut could leave it. */
static void write_redo(const stage *s, uint64_t base, const struct change *c)
{
    kc_autofree char *path = kc_asprintf("%s/data.mdb", s->old), *value = kc_calloc(1, c->n);
    memset(value, c->value, c->n);
    const kc__storage_record record = {
        .wall = 1, .key = kc_cstr(c->old_key), .value = kc_str_of(value, c->n)};
    const size_t size = kc__storage_record_size(&record);
    const size_t n = KC__STORAGE_JOURNAL_HEADER + KC__STORAGE_JOURNAL_PREFIX + size;
    kc_autofree char *bytes = kc_calloc(1, n);
    kc__storage_put_u64(bytes + KC__STORAGE_JOURNAL_HEADER, size);
    kc__storage_record_write(&record, base + 1,
                             bytes + KC__STORAGE_JOURNAL_HEADER + KC__STORAGE_JOURNAL_PREFIX);
    kc__storage_journal_seal(bytes, n, base, 0);
    const int fd = open(path, O_RDWR | O_CLOEXEC);
    const off_t end = lseek(fd, 0, SEEK_END);
    assert_int_equal(ftruncate(fd, end + (2 << 20)), 0);
    assert_int_equal(pwrite(fd, bytes, n, end), n);
    close(fd);
}

static void redo_of_layout_1_is_applied_before_migration(void **state)
{
    (void)state;
    kc_auto(stage) *s = kc_new(stage);
    new_folder(s->old);
    new_folder(s->twin);
    kc__storage *old = opened(s, s->old), *twin = opened(s, s->twin);
    for (size_t i = 0; i < 2; i++)
        make_change(old, &changes[i], true);
    kc__storage_close(old);
    write_redo(s, 3, &changes[2]);
    assert_true(layout_set_version(s->old, 3, 1));
    for (size_t i = 0; i < 3; i++)
        make_change(twin, &changes[i], false);
    kc__storage_close(twin);
    assert_migrated(s);
}

static void store_is_copied_before_its_layout_is_migrated(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    kc_scoped(kc_buf) layout_1 = {0};
    read_file(s, "data.mdb", &layout_1);
    assert_migrated(s);
    assert_copy(s, "data.mdb.layout-1", kc_buf_str(&layout_1));
    assert_migrated(s); /* Neither copied again nor removed. */
    assert_copy(s, "data.mdb.layout-1", kc_buf_str(&layout_1));
    write_data(s, kc_buf_str(&layout_1)); /* The way back, and again. */
    assert_layout(s, 1);
    assert_migrated(s);
}

static void store_of_layout_2_gets_a_journal_and_keeps_its_keys(void **state)
{
    (void)state;
    kc_auto(stage) *s = kc_new(stage);
    new_folder(s->old);
    new_folder(s->twin);
    fill(s, s->old, false);
    fill(s, s->twin, false);
    kc_autofree char *journal = kc_asprintf("%s/journal", s->old);
    assert_int_equal(unlink(journal), 0);
    assert_true(layout_set_version(s->old, 3, 2));
    assert_migrated(s);
    assert_layout(s, 3);
    assert_int_equal(access(journal, F_OK), 0);
}

/* ---- refusing ---- */

static void damaged_store_is_refused_and_keeps_its_layout(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    kc_autofree char *path = kc_asprintf("%s/data.mdb", s->old), *zs = kc_calloc(1, 50);
    char bytes[1 << 18];
    memset(zs, 'Z', 50);
    const int fd = open(path, O_RDWR | O_CLOEXEC);
    const ssize_t n = pread(fd, bytes, sizeof(bytes), 0);
    for (char *at = bytes; (at = memmem(at, (size_t)(bytes + n - at), zs, 50)); at++)
        at[10] ^= 1;
    assert_int_equal(pwrite(fd, bytes, (size_t)n, 0), n);
    close(fd);
    s->file.migration_step = 1;
    expect_refusal(s, KC_STORE_READ_ERROR, "the file is damaged");
    assert_layout(s, 1);
}

static void two_objects_with_the_same_new_key_are_refused(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    assert_true(layout_set_version(s->old, 1, 3));
    kc__storage *storage = opened(s, s->old);
    put(storage, "/registry/minions/n1", KC_STR("another"));
    kc__storage_close(storage);
    assert_true(layout_set_version(s->old, 3, 1));
    expect_refusal(s, KC_STORE_READ_ERROR, "two objects would have the same key");
    assert_layout(s, 1);
}

/* ---- crashing ---- */

/* True when the child came to the end. */
static bool die_at_write(const stage *s, long n)
{
    int status = 0;
    const pid_t child = fork();
    if (child == 0) {
        kc__storage *storage = NULL;
        kc__storage_opts opts = s->opts;
        opts.location = s->old;
        opts.file = &s->file;
        writes_left = n;
        const int failed = kc__storage_open(&kc__storage_file_backend, &opts, &storage, NULL);
        _exit(failed ? 1 : 0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFSIGNALED(status)) {
        assert_int_equal(WTERMSIG(status), SIGKILL);
        return false;
    }
    assert_int_equal(WEXITSTATUS(status), 0);
    return true;
}

/* An older program refuses what is half done. Returns whether it is. */
static bool assert_half_done_is_refused_by_layout_1(const stage *s)
{
    bool marked;
    const int version = layout_of(s->old, &marked);
    assert_true(version == 3 || (version == 1 && !marked));
    return marked;
}

/* Whether anything was written to the store. */
static bool is_migrating(const stage *s)
{
    bool marked;
    return layout_of(s->old, &marked) != 1;
}

static void remove_copy(const stage *s)
{
    kc_autofree char *path = kc_asprintf("%s/data.mdb.layout-1", s->old);
    assert_true(unlink(path) == 0 || errno == ENOENT);
}

static void kill_at_every_write_of_a_migration(size_t step, long at_least)
{
    long n = 0, half_done = 0;
    kc_auto(stage) *s = stage_new();
    kc_scoped(kc_buf) layout_1 = {0};
    read_file(s, "data.mdb", &layout_1);
    s->file.migration_step = step;
    for (bool finished = false; !finished; n++) {
        write_data(s, kc_buf_str(&layout_1));
        remove_copy(s);
        finished = die_at_write(s, n);
        half_done += assert_half_done_is_refused_by_layout_1(s);
        if (is_migrating(s))
            assert_copy(s, "data.mdb.layout-1", kc_buf_str(&layout_1));
        if (!finished)
            die_at_write(s, n / 2 + 1); /* Once more, while it goes on. */
        assert_migrated(s);
    }
    assert_true(n > at_least);
    assert_int_equal(half_done > 0, step > 0);
}

static void migration_killed_at_any_write_is_completed_by_next_start(void **state)
{
    (void)state;
    kill_at_every_write_of_a_migration(0, 3);
}

static void stepwise_migration_killed_at_any_write_is_completed_by_next_start(void **state)
{
    (void)state;
    kill_at_every_write_of_a_migration(400, 20);
}

TESTS(opened_store_of_layout_1_has_the_new_keys, revisions_continue_after_migration,
      migration_in_many_steps_gives_the_same_store, migration_grows_the_map_when_needed,
      redo_of_layout_1_is_applied_before_migration, store_is_copied_before_its_layout_is_migrated,
      store_of_layout_2_gets_a_journal_and_keeps_its_keys,
      damaged_store_is_refused_and_keeps_its_layout, two_objects_with_the_same_new_key_are_refused,
      migration_killed_at_any_write_is_completed_by_next_start,
      stepwise_migration_killed_at_any_write_is_completed_by_next_start)
