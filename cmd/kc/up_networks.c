/* SPDX-License-Identifier: Apache-2.0 */
/*
 * up_networks.c: the network service of `kc up`, which the reconciler `network` keeps in step.
 *
 * It is there if that reconciler is and nobody has said where another service is, by a flag or in
 * the config file. Which port it gets is known only when it serves, and what the config says is
 * looked at before anything is started: so our own setting is one more row behind the file's, whose
 * value is filled in before reconcilers are set up.
 */
#include "up.h"

#define RECONCILER "network"
#define SETTING    "service"

static bool is_ours(const kc_app_config_setting *s)
{
    return !strcmp(s->reconciler, RECONCILER) && !strcmp(s->name, SETTING);
}

void kc__up_own_settings(kc__up *up)
{
    const kc_app_config_setting *said = up->config_file->settings;
    const char *flag = up->options->network_service;
    size_t n = 0, kept = 0;
    while (said[n].reconciler)
        n++;
    up->settings = kc_calloc(n + 2, sizeof(*up->settings));
    for (size_t i = 0; i < n; i++)
        if (!flag || !is_ours(&said[i])) /* The flag goes first. */
            up->settings[kept++] = said[i];
    if (flag)
        up->settings[kept] =
            (kc_app_config_setting){.reconciler = RECONCILER, .name = SETTING, .value = flag};
    up->config = *up->config_file;
    up->config.settings = up->settings;
}

static bool is_needed(const kc__up *up)
{
    const kc_app_entry *entry = kc_app_find(up->app, RECONCILER, NULL);
    for (const kc_app_config_setting *s = up->settings; s->reconciler; s++)
        if (is_ours(s))
            return false;
    return entry && entry->enabled && !up->options->without[KC__UP_NETWORKS];
}

int kc__up_start_networks(kc__up *up, kc_error *err)
{
    if (!is_needed(up))
        return 0;
    kc_autofree char *file = kc_asprintf("%s/networks", up->options->server.root);
    up->networks = kc__network_service_start(
        &(kc__network_service_opts){
            .file = file, .address = up->options->network_service_address, .log = up->log},
        err);
    if (!up->networks)
        return kc_error_wrap(err, "the network service");
    const char *address = up->options->network_service_address;
    const char *port = strrchr(address, ':');
    up->networks_url = kc_asprintf("http://%.*s:%d", (int)(port ? port - address : 0), address,
                                   kc__network_service_port(up->networks));
    size_t n = 0;
    while (up->settings[n].reconciler)
        n++;
    up->settings[n] = (kc_app_config_setting){
        .reconciler = RECONCILER, .name = SETTING, .value = up->networks_url};
    return 0;
}

void kc__up_stop_networks(kc__up *up)
{
    kc__network_service_stop(up->networks);
    free(up->networks_url);
    free(up->settings);
}
