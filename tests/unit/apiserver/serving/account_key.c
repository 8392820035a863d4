/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/serving/account_key.h"

#include "testing.h"

#include "apiserver/jose/jose_key.h"
#include "kc/file.h"
#include "kc/thread.h"

#include <dirent.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* An empty directory; removed with everything in it. */
typedef struct folder {
    char path[64];
} folder;

static folder *folder_new(void)
{
    folder *f = kc_new(folder);
    snprintf(f->path, sizeof(f->path), "/tmp/kc-account-key-XXXXXX");
    assert_non_null(mkdtemp(f->path));
    return f;
}

static size_t folder_count(const folder *f, bool removes)
{
    size_t n = 0;
    DIR *dir = opendir(f->path);
    for (struct dirent *entry; (entry = readdir(dir));) {
        if (entry->d_name[0] == '.')
            continue;
        n++;
        kc_autofree char *path = kc_asprintf("%s/%s", f->path, entry->d_name);
        if (removes)
            unlink(path);
    }
    closedir(dir);
    return n;
}

static folder *folder_free(folder *f)
{
    folder_count(f, true);
    rmdir(f->path);
    free(f);
    return NULL;
}
KC_AUTO_DEFINE(folder, folder_free)

static void first_start_creates_a_private_key_with_mode_0600(void **state)
{
    struct stat file;
    kc_scoped(kc__jose_keys) keys = {0};
    (void)state;
    kc_auto(folder) *f = folder_new();
    kc_autofree char *path = kc__serving_account_key_prepare(f->path, NULL, NULL);
    assert_non_null(path);
    assert_int_equal(stat(path, &file), 0);
    assert_int_equal(file.st_mode & 0777, 0600);
    assert_int_equal(kc__jose_keys_read(path, &keys, NULL), 0);
    assert_true(keys.items[0]->is_private);
    assert_int_equal(keys.items[0]->algorithm, KC__JOSE_ES256);
    assert_int_equal(folder_count(f, false), 1);
}

static void existing_key_is_kept(void **state)
{
    kc_scoped(kc_buf) before = {0}, after = {0};
    (void)state;
    kc_auto(folder) *f = folder_new();
    kc_autofree char *path = kc__serving_account_key_prepare(f->path, NULL, NULL);
    assert_int_equal(kc_file_read(path, KC_FILE_MAX, &before, NULL), 0);
    kc_autofree char *again = kc__serving_account_key_prepare(f->path, NULL, NULL);
    assert_int_equal(kc_file_read(again, KC_FILE_MAX, &after, NULL), 0);
    assert_true(kc_str_eq(kc_buf_str(&before), kc_buf_str(&after)));
}

typedef struct starting_server {
    const folder *f;
    kc_buf key;
} starting_server;

static void start_server(void *user)
{
    starting_server *s = user;
    kc_autofree char *path = kc__serving_account_key_prepare(s->f->path, NULL, NULL);
    if (path)
        kc_file_read(path, KC_FILE_MAX, &s->key, NULL);
}

static void servers_that_start_together_use_the_same_key(void **state)
{
    (void)state;
    for (int round = 0; round < 20; round++) {
        kc_auto(folder) *f = folder_new();
        starting_server servers[3] = {{f}, {f}, {f}};
        kc_thread *threads[KC_COUNT(servers)];
        for (size_t i = 0; i < KC_COUNT(servers); i++)
            threads[i] = kc_thread_start("server", start_server, &servers[i], NULL);
        for (size_t i = 0; i < KC_COUNT(servers); i++)
            kc_thread_join(threads[i]);
        for (size_t i = 0; i < KC_COUNT(servers); i++) {
            assert_true(servers[i].key.n > 0);
            assert_true(kc_str_eq(kc_buf_str(&servers[0].key), kc_buf_str(&servers[i].key)));
        }
        for (size_t i = 0; i < KC_COUNT(servers); i++)
            kc_buf_done(&servers[i].key);
    }
}

static void directory_that_cannot_be_written_is_an_error(void **state)
{
    kc_scoped(kc_error) err = {0};
    (void)state;
    assert_null(kc__serving_account_key_prepare("/nonexistent/certs", NULL, &err));
    assert_contains(kc_error_text(&err), "service account key");
}

TESTS(first_start_creates_a_private_key_with_mode_0600, existing_key_is_kept,
      servers_that_start_together_use_the_same_key, directory_that_cannot_be_written_is_an_error)
