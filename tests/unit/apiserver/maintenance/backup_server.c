/* SPDX-License-Identifier: Apache-2.0 */
/* A backup through the socket of a process that has the store open, while it commits. */
#include "maintenance_testing.h"

#include "apiserver/maintenance/backup_socket.h"
#include "apiserver/maintenance/restore.h"
#include "apiserver/storage/stored_record.h"
#include "kc/thread.h"

#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>

typedef struct writing {
    kc__storage *storage;
    atomic_bool stop;
} writing;

/* Two keys that change together in each commit. */
static void write_pairs(void *user)
{
    writing *w = user;
    for (int i = 0; !atomic_load(&w->stop); i++) {
        char value[32];
        snprintf(value, sizeof(value), "{\"n\":%d}", i);
        const kc__storage_op ops[] = {
            {.key = KC_STR(MAPS "a"), .expected = KC__STORAGE_ANY, .value = kc_cstr(value)},
            {.key = KC_STR(MAPS "z"),
             .expected = KC__STORAGE_ANY,
             .value = kc_cstr(value),
             .joined = true},
        };
        kc__storage_result results[2];
        assert_int_equal(kc__storage_commit(w->storage, ops, 2, results, NULL, NULL), 0);
    }
}

static int note_ends(const kc__storage_entry *entry, void *user)
{
    kc_buf *values = user;
    if (kc_str_is(entry->key, MAPS "a") || kc_str_is(entry->key, MAPS "z"))
        kc_buf_append(&values[kc_str_is(entry->key, MAPS "z")], entry->value);
    return 0;
}

static void backup_beside_writes_shows_one_revision(void **state)
{
    (void)state;
    kc_auto(scratch) *dir = scratch_new();
    kc_autofree char *path = scratch_path(dir, "backup");
    writing w = {.storage = file_store(dir, "store")};
    put_many(w.storage, 3000);
    kc__maintenance_backup_server *server =
        kc__maintenance_backup_server_start(w.storage, dir->dir, NULL, NULL);
    assert_non_null(server);
    kc_thread *writer = kc_thread_start("writer", write_pairs, &w, NULL);
    for (int i = 0; i < 5; i++) {
        kc_scoped(kc_error) err = {0};
        kc__maintenance_backup_header header;
        kc_buf values[2] = {{0}, {0}};
        if (kc__maintenance_backup_running(dir->dir, path, &header, &err) < 0)
            fail_msg("%s", kc_error_text(&err));
        assert_true(header.entries >= 3000);
        FILE *in = fopen(path, "re");
        assert_int_equal(kc__maintenance_backup_read(in, note_ends, values, &header, NULL), 0);
        fclose(in);
        assert_string_equal(kc_buf_cstr(&values[0]), kc_buf_cstr(&values[1]));
        kc_buf_done(&values[0]);
        kc_buf_done(&values[1]);
    }
    atomic_store(&w.stop, true);
    kc_thread_join(writer);
    kc__maintenance_backup_server_stop(server);
    kc__storage_close(w.storage);
}

static void socket_has_mode_0600_and_is_removed_with_the_server(void **state)
{
    (void)state;
    kc_auto(scratch) *dir = scratch_new();
    kc_auto(kc__storage) *storage = memory_store();
    kc_autofree char *path = scratch_path(dir, "backup.sock");
    struct stat st;
    scratch_write(dir, "backup.sock", "left by a killed server");
    kc__maintenance_backup_server *server =
        kc__maintenance_backup_server_start(storage, dir->dir, NULL, NULL);
    assert_non_null(server);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    kc__maintenance_backup_server_stop(server);
    assert_int_equal(access(path, F_OK), -1);
}

static void backup_without_a_server_says_so(void **state)
{
    (void)state;
    kc_auto(scratch) *dir = scratch_new();
    kc_scoped(kc_error) err = {0};
    kc__maintenance_backup_header header;
    kc_autofree char *path = scratch_path(dir, "backup");
    assert_true(kc__maintenance_backup_running(dir->dir, path, &header, &err) < 0);
    assert_error(&err, KC_NOT_FOUND, "its server does not answer on");
    assert_int_equal(access(path, F_OK), -1);
}

static void client_that_reads_nothing_does_not_delay_the_stop(void **state)
{
    (void)state;
    kc_auto(scratch) *dir = scratch_new();
    kc_auto(kc__storage) *storage = memory_store();
    put_many(storage, 20000);
    kc__maintenance_backup_server *server =
        kc__maintenance_backup_server_start(storage, dir->dir, NULL, NULL);
    const int client = kc__maintenance_backup_socket(dir->dir, false);
    assert_true(client >= 0);
    const int64_t before = kc_clock_now(kc_clock_real());
    kc__maintenance_backup_server_stop(server);
    assert_true(kc_clock_now(kc_clock_real()) - before < 20 * KC_SECOND);
    close(client);
}

static void data_directory_with_a_long_name_has_a_socket(void **state)
{
    (void)state;
    kc_auto(scratch) *dir = scratch_new();
    kc_auto(kc__storage) *storage = memory_store();
    char name[150];
    memset(name, 'd', sizeof(name) - 1);
    name[sizeof(name) - 1] = 0;
    kc_autofree char *root = scratch_path(dir, name), *path = scratch_path(dir, "backup");
    kc__maintenance_backup_header header;
    assert_int_equal(kc_dir_create(root, 0700, NULL), 0);
    put_map(storage, "a");
    kc__maintenance_backup_server *server =
        kc__maintenance_backup_server_start(storage, root, NULL, NULL);
    assert_non_null(server);
    assert_int_equal(kc__maintenance_backup_running(root, path, &header, NULL), 0);
    assert_int_equal(header.entries, 1);
    kc__maintenance_backup_server_stop(server);
}

typedef struct backup_client {
    const char *root, *path;
    pthread_t id;
    atomic_bool began;
    int result;
} backup_client;

static void run_backup(void *user)
{
    backup_client *c = user;
    kc__maintenance_backup_header header;
    c->id = pthread_self();
    atomic_store(&c->began, true);
    c->result = kc__maintenance_backup_running(c->root, c->path, &header, NULL);
}

static void ignore_signal(int number)
{
    (void)number;
}

static void interrupted_backup_continues(void **state)
{
    (void)state;
    kc_auto(scratch) *dir = scratch_new();
    kc_autofree char *path = scratch_path(dir, "backup");
    backup_client c = {.root = dir->dir, .path = path, .result = -1};
    const struct sigaction action = {.sa_handler = ignore_signal}; /* Without SA_RESTART. */
    struct sigaction before;
    char revision[sizeof(uint64_t)];
    kc_scoped(kc_buf) answer = {0};
    kc__storage_put_u64(revision, 1);
    kc_buf_append(&answer, kc_str_of(revision, sizeof(revision)));
    kc__maintenance_entry_write(&answer, &(kc__storage_entry){0});
    const int listener = kc__maintenance_backup_socket(dir->dir, true);
    assert_int_equal(listen(listener, 1), 0);
    sigaction(SIGUSR1, &action, &before);
    kc_thread *thread = kc_thread_start("backup", run_backup, &c, NULL);
    const int server = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    assert_true(server >= 0 && atomic_load(&c.began));
    for (int i = 0; i < 20; i++) {
        pthread_kill(c.id, SIGUSR1);
        kc_clock_sleep(kc_clock_real(), 5 * KC_MILLISECOND);
    }
    assert_int_equal(send(server, answer.p, answer.n, MSG_NOSIGNAL), (ssize_t)answer.n);
    kc_thread_join(thread);
    sigaction(SIGUSR1, &before, NULL);
    close(server);
    close(listener);
    assert_int_equal(c.result, 0);
}

TESTS(backup_beside_writes_shows_one_revision, socket_has_mode_0600_and_is_removed_with_the_server,
      backup_without_a_server_says_so, client_that_reads_nothing_does_not_delay_the_stop,
      data_directory_with_a_long_name_has_a_socket, interrupted_backup_continues)
