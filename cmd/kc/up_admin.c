/* SPDX-License-Identifier: Apache-2.0 */
/*
 * up_admin.c: the password of the administrator. If the User "admin" exists and has no password,
 * `kc up` gives it a random one: at its first start, that is. A terminal shows it once. Anything
 * else that standard output may be is a log, which others read and which is kept, so the password
 * goes into a file of mode 0600 beside the store.
 *
 * This runs after the control plane is ready: the hash takes a quarter of a second. A failure does
 * not end the process: `kc user passwd admin` sets a password at any time.
 */
#include "up.h"

#include "colour.h"
#include "password_prompt.h"
#include "people_client.h"

#include "kc/file.h"

#include <stdio.h>
#include <unistd.h>

#define ADMIN "admin"

static bool lacks_password(const kc_object *user)
{
    kc_auto(kc_view) *view = kc_view_of(user);
    const kc_value *spec = kc_value_get(kc_view_root(view), "spec");
    return !kc_value_get(spec, "credentialsRef") &&
           !kc_value_as_bool(kc_value_get(spec, "disabled"), false);
}

static int set_admin_password(const kc__cli_up *up, kc_str password, kc_error *err)
{
    const kc__cli_people_member members[] = {{"username", KC_STR(ADMIN)}, {"password", password}};
    return kc__cli_people_post(up->admin, "/people/password", members, KC_COUNT(members), NULL,
                               err);
}

static int show_password(const kc__cli_up *up, kc_str password, kc_error *err)
{
    if (set_admin_password(up, password, err) < 0)
        return kc_error_result(err);
    printf("\nThe password of the user " ADMIN ", which is not shown again: %s%.*s%s\n"
           "    kc login --username=" ADMIN "\n",
           kc__cli_colour(STDOUT_FILENO, KC__CLI_BOLD), KC_ARG(password),
           kc__cli_colour(STDOUT_FILENO, KC__CLI_PLAIN));
    return 0;
}

/* Writes the file first: if setting the password came first and the file failed, the user admin
 * would have a password that no file contains. */
static int keep_password(const kc__cli_up *up, kc_str password, kc_error *err)
{
    kc_scoped(kc_buf) text = {0};
    kc_autofree char *path = kc_asprintf("%s/admin.password", up->options->server.root);
    kc_buf_printf(&text, "%.*s\n", KC_ARG(password));
    int status = kc_file_write(path, 0600, kc_buf_str(&text), err);
    kc_buf_wipe(&text);
    if (status == 0 && (status = set_admin_password(up, password, err)) < 0)
        kc_file_remove(path, NULL);
    if (status == 0)
        printf("\nThe password of the user " ADMIN " is in %s\n", path);
    return status;
}

static int create_admin_password(const kc__cli_up *up, kc_error *err)
{
    kc_buf password = {0};
    kc_scoped(kc_error) failed = {0};
    kc_auto(kc_object) *user = kc_client_get(up->admin, &kc__cli_kind_user, KC_KEY("", ADMIN),
                                             &(kc_get_opts){.live = true}, &failed);
    if (!user)
        return kc_is_not_found(&failed) ? 0 : kc_error_move(err, &failed);
    if (!lacks_password(user))
        return 0;
    int status = kc__cli_password_random(&password, err);
    if (status == 0)
        status = isatty(STDOUT_FILENO) ? show_password(up, kc_buf_str(&password), err)
                                       : keep_password(up, kc_buf_str(&password), err);
    kc_buf_wipe(&password);
    return status;
}

void kc__cli_up_admin_password(const kc__cli_up *up)
{
    kc_scoped(kc_error) err = {0};
    if (!up->safe && create_admin_password(up, &err) < 0)
        kc_log_warn(up->log, "no password for the user " ADMIN, kc_kv("err", &err));
    fflush(stdout);
}
