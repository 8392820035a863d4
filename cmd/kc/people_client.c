/* SPDX-License-Identifier: Apache-2.0 */
/*
 * people_client.c: see people_client.h. The bodies contain passwords, so they are wiped after use,
 * and error messages never quote them.
 */
#include "people_client.h"

#include "kc/json.h"
#include "kc/view.h"

#include <stddef.h>

enum { MAX_TRIES = 5 };

#define FIELD(name) .offset = offsetof(kc__cli_server_options, name)
#define SERVER      "API server"

static const kc__cli_flag server_flags[] = {
    {"kubeconfig", .argument = "FILE", .group = SERVER, FIELD(kubeconfig),
     .parse = kc__cli_flag_text, .values = "FILE",
     .help = "kubeconfig file; defaults to the one that kubectl uses"},
    {"context", .argument = "NAME", .group = SERVER, FIELD(context), .parse = kc__cli_flag_text,
     .help = "context of the kubeconfig; defaults to its current context"},
    {"server", 's', .argument = "URL", .group = SERVER, FIELD(server), .parse = kc__cli_flag_text,
     .help = "address of the API server; overrides the kubeconfig"},
};

const kc__cli_flag_set kc__cli_server_flags = {
    .verb = "server",
    KC__CLI_FLAGS(server_flags),
    .size = sizeof(kc__cli_server_options),
};

const kc_kind kc__cli_kind_user = {.group = "platform.kubecontroller.io",
                                   .version = "v1",
                                   .kind = "User",
                                   .plural = "users",
                                   .singular = "user"};

kc_client *kc__cli_people_client(const kc__cli_server_options *o, kc_error *err)
{
    kc_auto(kc_config) *config = kc_config_load(
        &(kc_config_opts){.path = o->kubeconfig, .context = o->context, .server = o->server}, err);
    return config ? kc_client_new(&(kc_client_opts){.config = config, .user_agent = "kc"}, err)
                  : NULL;
}

static void write_members(kc_buf *out, const kc__cli_people_member *members, size_t n)
{
    kc_buf_putc(out, '{');
    for (size_t i = 0; i < n; i++) {
        kc_buf_printf(out, "%s\"%s\":", i ? "," : "", members[i].name);
        if (members[i].text.p)
            kc_json_quote(out, members[i].text);
        else if (members[i].is_true)
            kc_buf_puts(out, "true");
        else
            kc_buf_printf(out, "%lld", (long long)members[i].number);
    }
    kc_buf_putc(out, '}');
}

/* The server computes two hashes at a time; a moment later there is room. */
static int post_patiently(kc_client *client, const char *path, kc_str body, kc_buf *answer,
                          kc_error *err)
{
    for (int i = 1;; i++) {
        kc_scoped(kc_error) failed = {0};
        kc_buf_clear(answer);
        if (kc_client_raw(client, "POST", kc_cstr(path), KC_STR("application/json"), body, answer,
                          &failed) == 0)
            return 0;
        if (failed.reason != KC_TOO_MANY_REQUESTS || failed.retry_after_seconds > 2 ||
            i == MAX_TRIES)
            return kc_error_move(err, &failed);
        kc_clock_sleep(kc_clock_real(), i * KC_SECOND / 2);
    }
}

int kc__cli_people_post(kc_client *client, const char *path, const kc__cli_people_member *members,
                        size_t n, kc_view **ret, kc_error *err)
{
    kc_buf body = {0}, answer = {0};
    write_members(&body, members, n);
    int status = post_patiently(client, path, kc_buf_str(&body), &answer, err);
    kc_buf_wipe(&body);
    if (status == 0 && ret) {
        *ret = kc_view_parse(kc_buf_str(&answer), NULL, err);
        status = *ret ? 0 : kc_error_result(err);
    }
    kc_buf_wipe(&answer);
    return status;
}
