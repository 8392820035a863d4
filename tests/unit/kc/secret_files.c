/* SPDX-License-Identifier: Apache-2.0 */
/* Files with secrets: every flag that names one hides it from pods, and its mode is checked. */
#include "command.h"
#include "hidden_paths.h"
#include "testing.h"
#include "trust.h"
#include "up_options.h"

#include "kc/file.h"

#include <sys/stat.h>
#include <unistd.h>

/* ---- a data directory ---- */

typedef struct place {
    char root[64], file[100];
} place;

static void begin(place *p)
{
    snprintf(p->root, sizeof(p->root), "/tmp/kc-secret-XXXXXX");
    assert_non_null(mkdtemp(p->root));
    snprintf(p->file, sizeof(p->file), "%s/file", p->root);
    assert_int_equal(kc_file_write(p->file, 0600, KC_STR("x"), NULL), 0);
}

static char *inside(const place *p, const char *name)
{
    return kc_asprintf("%s/%s", p->root, name);
}

static void place_done(place *p)
{
    static const char *const names[] = {"file",  "token", "key",
                                        "store", "certs", "encryption.yaml"};
    for (size_t i = 0; i < KC_COUNT(names); i++) {
        kc_autofree char *path = inside(p, names[i]);
        remove(path);
    }
    rmdir(p->root);
}

/* ---- tables ---- */

static bool contains(const kc__cli_hidden_paths *paths, const char *path)
{
    kc_vec_each (paths, item)
        if (!strcmp(*item, path))
            return true;
    return false;
}

/* Sets the file of one row. */
static void set_file(void *options, const kc__cli_secret_file *file, const char *path)
{
    *(const char **)((char *)options + file->offset) = path;
}

static void check_table(const kc__cli_secret_files *files, size_t size)
{
    for (size_t i = 0; i < files->n; i++) {
        kc_scoped(place) p;
        kc_scoped(kc_error) err = {0};
        kc_scoped(kc__cli_hidden_paths) paths = {0};
        kc_autofree void *options = kc_calloc(1, size);
        begin(&p);
        set_file(options, &files->items[i], p.file);
        kc__cli_hidden_paths_add_files(&paths, files, options);
        assert_true(contains(&paths, p.file));
        assert_int_equal(kc__cli_check_secret_files(files, options, NULL, &err), 0);
        assert_int_equal(chmod(p.file, 0602), 0);
        assert_true(kc__cli_check_secret_files(files, options, NULL, &err) < 0);
        assert_error(&err, KC_FORBIDDEN, files->items[i].flag);
    }
}

static void file_of_each_row_is_hidden_and_refused_if_others_can_write(void **state)
{
    (void)state;
    enum { ROOM = 4096 }; /* The options of `kc controllers` are private to it. */
    check_table(&kc__cli_apiserver_secrets, sizeof(kc__cli_apiserver_options));
    check_table(&kc__cli_up_secrets, sizeof(kc__cli_up_options));
    assert_true(kc__cli_controllers_flags.size < ROOM);
    check_table(&kc__cli_controllers_secrets, ROOM);
}

static const kc__cli_secret_file *row_of(const kc__cli_secret_files *files, const char *flag)
{
    for (size_t i = 0; i < files->n; i++)
        if (!strcmp(files->items[i].flag + 2, flag))
            return &files->items[i];
    return NULL;
}

static bool names_a_secret(const kc__cli_flag *flag)
{
    static const char *const words[] = {"key",
                                        "token",
                                        "webhook-config",
                                        "kubeconfig",
                                        "encryption",
                                        "admission-control-config",
                                        "authorization-config"};
    /* Public keys, which are hidden apart. */
    if (!flag->argument || strcmp(flag->argument, "FILE") != 0 ||
        !strcmp(flag->name, "service-account-key-file"))
        return false;
    for (size_t i = 0; i < KC_COUNT(words); i++)
        if (strstr(flag->name, words[i]))
            return true;
    return false;
}

static void check_rows(const kc__cli_flag_set *set, const kc__cli_secret_files *files,
                       const kc__cli_secret_files *more)
{
    kc__cli_flag flag;
    size_t found = 0;
    for (size_t i = 0; kc__cli_flag_at(set, i, &flag); i++) {
        if (!names_a_secret(&flag))
            continue;
        found++;
        if (!row_of(files, flag.name) && !(more && row_of(more, flag.name)))
            fail_msg("--%s of kc %s is in no table of secret files", flag.name, set->verb);
    }
    assert_true(found >= files->n - 1); /* One may have a name of its own. */
}

static void each_flag_that_names_a_secret_has_a_row(void **state)
{
    (void)state;
    check_rows(&kc__cli_apiserver_flags, &kc__cli_apiserver_secrets, NULL);
    check_rows(&kc__cli_up_flags, &kc__cli_up_secrets, &kc__cli_apiserver_secrets);
    check_rows(&kc__cli_controllers_flags, &kc__cli_controllers_secrets, NULL);
}

static void row_is_at_the_field_of_its_flag(void **state)
{
    (void)state;
    for (size_t i = 0; i < kc__cli_apiserver_secrets.n; i++) {
        const kc__cli_secret_file *file = &kc__cli_apiserver_secrets.items[i];
        kc_scoped(kc_error) err = {0};
        kc_autofree char *argument = kc_asprintf("%s=/secret", file->flag);
        char verb[] = "apiserver", *argv[] = {verb, argument};
        kc__cli_apiserver_options options;
        assert_int_equal(kc__cli_flags_parse(&kc__cli_apiserver_flags, 2, argv, &options, &err), 0);
        assert_string_equal(kc__cli_secret_path(file, &options), "/secret");
    }
}

static void files_that_a_kubeconfig_names_are_hidden(void **state)
{
    (void)state;
    kc_scoped(place) p;
    kc_scoped(kc__cli_hidden_paths) paths = {0};
    begin(&p);
    kc_autofree char *key = inside(&p, "key"), *token = inside(&p, "token");
    static const char text[] = "apiVersion: v1\n"
                               "kind: Config\n"
                               "users:\n"
                               "- name: a\n"
                               "  user: {client-certificate: cert, client-key: key}\n"
                               "- name: b\n"
                               "  user: {tokenFile: token}\n";
    assert_int_equal(kc_file_write(p.file, 0600, kc_cstr(text), NULL), 0);
    kc__cli_hidden_paths_add_kubeconfig(&paths, p.file);
    assert_true(contains(&paths, p.file) && contains(&paths, key) && contains(&paths, token));
}

/* ---- directories ---- */

static int check_modes(const place *p, kc_error *err)
{
    return kc__cli_check_file_modes(&(kc__cli_apiserver_options){.root = p->root}, NULL, err);
}

static void refuse(const place *p, const char *text)
{
    kc_scoped(kc_error) err = {0};
    assert_true(check_modes(p, &err) < 0);
    assert_error(&err, KC_FORBIDDEN, text);
}

static void directory_in_which_others_can_create_files_is_refused(void **state)
{
    (void)state;
    static const char *const names[] = {"store", "certs"};
    kc_scoped(place) p;
    begin(&p);
    for (size_t i = 0; i < KC_COUNT(names); i++) {
        kc_autofree char *path = inside(&p, names[i]);
        assert_int_equal(mkdir(path, 0700), 0);
        assert_int_equal(check_modes(&p, NULL), 0);
        assert_int_equal(chmod(path, 01777), 0);
        refuse(&p, path);
        assert_int_equal(chmod(path, 0700), 0);
    }
    assert_int_equal(chmod(p.root, 01777), 0);
    refuse(&p, "other users can write to the directory");
}

static void store_and_keys_of_another_user_are_refused(void **state)
{
    (void)state;
    static const char *const names[] = {"store", "certs", "encryption.yaml"};
    kc_scoped(place) p;
    if (geteuid() != 0)
        skip();
    begin(&p);
    for (size_t i = 0; i < KC_COUNT(names); i++) {
        kc_autofree char *path = inside(&p, names[i]);
        assert_int_equal(kc_file_write(path, 0600, KC_STR("x"), NULL), 0);
        assert_int_equal(check_modes(&p, NULL), 0);
        assert_int_equal(chown(path, 12345, 12345), 0);
        refuse(&p, "belongs to a user other than root");
        assert_int_equal(unlink(path), 0);
    }
    assert_int_equal(chown(p.root, 12345, 12345), 0);
    assert_int_equal(check_modes(&p, NULL), 0); /* A warning. */
}

TESTS(file_of_each_row_is_hidden_and_refused_if_others_can_write,
      each_flag_that_names_a_secret_has_a_row, row_is_at_the_field_of_its_flag,
      files_that_a_kubeconfig_names_are_hidden,
      directory_in_which_others_can_create_files_is_refused,
      store_and_keys_of_another_user_are_refused)
