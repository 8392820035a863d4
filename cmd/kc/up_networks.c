/* SPDX-License-Identifier: Apache-2.0 */
/*
 * up_networks.c: the built-in network service of `kc up`, which the reconciler `network`
 * synchronizes.
 *
 * It runs if that reconciler is enabled and neither a flag nor the config file names another
 * service. The config is checked before anything starts, but the port is known only once the
 * service listens: so the service's URL is an additional setting after the file's, added before
 * reconcilers are set up.
 */
#include "up.h"

#include "reconcilers/network/service/token.h"

#define RECONCILER "network"
#define SETTING    "service"
#define TOKEN_FILE "token-file"

enum { OWN_SETTINGS = 2 };

static bool is_setting(const kc_app_config_setting *s, const char *name)
{
    return !strcmp(s->reconciler, RECONCILER) && !strcmp(s->name, name);
}

static void add_setting(kc__cli_up *up, const char *name, const char *value)
{
    size_t n = 0;
    while (up->settings[n].reconciler)
        n++;
    up->settings[n] =
        (kc_app_config_setting){.reconciler = RECONCILER, .name = name, .value = value};
}

void kc__cli_up_own_settings(kc__cli_up *up)
{
    const kc_app_config_setting *file_settings = up->config_file->settings;
    const char *flag = up->options->network_service;
    const char *token_file = up->options->network_service_token_file;
    size_t n = 0, kept = 0;
    while (file_settings[n].reconciler)
        n++;
    up->settings = kc_calloc(n + OWN_SETTINGS + 1, sizeof(*up->settings));
    for (size_t i = 0; i < n; i++) {
        const bool replaced = flag && is_setting(&file_settings[i], SETTING); /* The flag wins. */
        const bool other_token =
            is_setting(&file_settings[i], TOKEN_FILE) && (token_file || !*file_settings[i].value);
        if (!replaced && !other_token)
            up->settings[kept++] = file_settings[i];
    }
    if (flag)
        add_setting(up, SETTING, flag);
    if (token_file)
        add_setting(up, TOKEN_FILE, token_file);
    up->config = *up->config_file;
    up->config.settings = up->settings;
}

static bool has_setting(const kc__cli_up *up, const char *name)
{
    for (const kc_app_config_setting *s = up->settings; s->reconciler; s++)
        if (is_setting(s, name))
            return true;
    return false;
}

static bool is_needed(const kc__cli_up *up)
{
    const kc_app_entry *entry = kc_app_find(up->app, RECONCILER, NULL);
    if (has_setting(up, SETTING))
        return false;
    return entry && entry->enabled && !up->options->without[KC__CLI_UP_NETWORKS];
}

/* ROOT/networks.token, unless a flag or the config file names another file. */
static char *token_file_of(const kc__cli_up *up)
{
    for (const kc_app_config_setting *s = up->settings; s->reconciler; s++)
        if (is_setting(s, TOKEN_FILE))
            return kc_strdup(s->value);
    return kc_asprintf("%s/networks.token", up->options->server.root);
}

static int start_service(kc__cli_up *up, kc_error *err)
{
    kc_autofree char *file = kc_asprintf("%s/networks", up->options->server.root);
    kc_autofree char *token = kc__network_token_ensure(up->networks_token_file, err);
    if (!token)
        return kc_error_result(err);
    up->networks = kc__network_service_start(
        &(kc__network_service_opts){.file = file,
                                    .address = up->options->network_service_address,
                                    .token = token,
                                    .log = up->log},
        err);
    return up->networks ? 0 : kc_error_result(err);
}

int kc__cli_up_start_networks(kc__cli_up *up, kc_error *err)
{
    if (!is_needed(up))
        return 0;
    up->networks_token_file = token_file_of(up);
    if (start_service(up, err) < 0)
        return kc_error_wrap(err, "network service");
    const char *address = up->options->network_service_address;
    const char *port = strrchr(address, ':');
    up->networks_url = kc_asprintf("http://%.*s:%d", (int)(port ? port - address : 0), address,
                                   kc__network_service_port(up->networks));
    add_setting(up, SETTING, up->networks_url);
    if (!has_setting(up, TOKEN_FILE))
        add_setting(up, TOKEN_FILE, up->networks_token_file);
    return 0;
}

void kc__cli_up_stop_networks(kc__cli_up *up)
{
    kc__network_service_stop(up->networks);
    free(up->networks_url);
    free(up->networks_token_file);
    free(up->settings);
}
