/* SPDX-License-Identifier: Apache-2.0 */
/*
 * up.c: `kc up`: a whole plane in one process.
 *
 *     kubectl ── HTTPS, HTTP ──▶ API server ──▶ ROOT/store
 *                                    ▲ door: no socket, as the administrator
 *                       one client, one cache, one manager
 *                       ├─ reconcilers (the hub)
 *                       ├─ controllers
 *                       └─ a node: pods, as processes in ROOT/pods
 *     a network service, for the reconciler `network`: ROOT/networks
 *
 * One manager for all: so there is one informer for each kind, and one order in which all of it
 * stops. It needs no lease, since nobody else can open the store, unless the config file wants one.
 *
 * Start: what people can have got wrong is looked at first; then the server, then definitions and
 * initial objects, for which caches would wait; then reconcilers and controllers. Ready is when
 * caches are synced, the node has reported, and hooks are known. Stop: the other way round.
 */
#include "up.h"

#include "hub.h"
#include "initial.h"
#include "signals.h"
#include "verb.h"

#include "embed/around.h"
#include "kc/controllers.h"
#include "kc/file.h"

/* ---- starting ---- */

static int open_app(kc__up *up, kc_error *err)
{
    const kc__up_options *o = up->options;
    up->config_file =
        o->config ? kc_app_config_load(o->config, err) : kc_app_config_parse(KC_STR(""), err);
    if (!up->config_file)
        return -1;
    kc__up_own_settings(up);
    const char *nowhere = o->config ? NULL : "";
    up->app = kc_app_new(&(kc_app_opts){
        .name = "kc",
        .config = &up->config,
        .names = o->without[KC__UP_HUB] ? "" : o->reconcilers,
        .metrics_address = o->metrics_address ? o->metrics_address : nowhere,
        .health_address = o->health_address ? o->health_address : nowhere,
        .leave_signals = true,
        .log = up->log,
        .metrics = up->metrics,
    });
    if (kc_app_with_linked(up->app, err) < 0 || kc__load_plugins(up->app, o->plugins, err) < 0)
        return -1;
    return kc_app_choose(up->app, err);
}

static int open_plane(kc__up *up, kc_error *err)
{
    return kc__plane_open(&up->plane, &up->options->server, up->log, up->metrics, err);
}

/* The server's warnings (of kinds that are deprecated) are for those who type, not for a garbage
 * collector that watches everything. */
static int open_door(kc__up *up, kc_error *err)
{
    kc_log *log = up->options->server.verbosity ? up->log : NULL;
    up->door = kc__embed_around(up->plane.server, NULL);
    up->client = kc_client_new(&(kc_client_opts){.transport = kc_embed_transport(up->door, NULL),
                                                 .user_agent = "kc-up",
                                                 .field_manager = "kc",
                                                 .log = log,
                                                 .metrics = up->metrics},
                               err);
    return up->client ? 0 : -1;
}

static int load_initial(kc__up *up, kc_error *err)
{
    if (up->options->without[KC__UP_INITIAL])
        return 0;
    return kc__initial_load(up->client, kc__manifests, kc__n_manifests, up->log, err);
}

static int prepare_reconcilers(kc__up *up, kc_error *err)
{
    kc_app_with_client(up->app, up->client);
    if (kc_app_prepare_run(up->app, err) < 0) {
        kc_autofree char *why = kc_strdup(kc_error_text(err));
        if (kc_is_not_found(err) && up->options->without[KC__UP_INITIAL])
            kc_error_set(err, KC_NOT_FOUND, "%s, or leave out the hub too: --without=hub,initial",
                         why);
        return -1;
    }
    up->manager = kc_app_manager(up->app);
    return 0;
}

/* Where processes are: absolute, for they change folders. */
static int find_pods_folder(kc__up *up, kc_error *err)
{
    const char *given = up->options->controllers.pods.folder;
    if (given) {
        up->pods_folder = kc_strdup(given);
        return 0;
    }
    kc_autofree char *root = realpath(up->options->server.root, NULL);
    if (!root)
        return kc_error_set(err, KC_INTERNAL, "cannot find %s", up->options->server.root);
    up->pods_folder = kc_asprintf("%s/pods", root);
    return 0;
}

static int prepare_controllers(kc__up *up, kc_error *err)
{
    kc_controllers_opts opts = up->options->controllers;
    if (find_pods_folder(up, err) < 0)
        return -1;
    if (up->plane.secure_url &&
        kc_file_read(kc__plane_authority(&up->plane), KC_FILE_MAX, &up->root_ca, err) < 0)
        return -1;
    opts.root_ca = kc_buf_cstr(&up->root_ca);
    opts.pods.folder = up->pods_folder;
    return kc_controllers_add(up->manager, &opts, err);
}

static void stop_manager(kc_cancel_hook *hook)
{
    kc__up_say_stopping();
    kc_manager_stop(kc_container_of(hook, kc__up, hook)->manager);
}

static int start_manager(kc__up *up, kc_error *err)
{
    up->hook.fire = stop_manager;
    if (!kc_cancel_hang(up->stop, &up->hook))
        kc_manager_stop(up->manager);
    return kc_manager_start(up->manager, err);
}

static int await_ready(kc__up *up, kc_error *err)
{
    return kc__up_await_nodes(up, err) < 0 ? -1 : kc__up_await_checks(up, err);
}

static int start(kc__up *up, kc_error *err)
{
    static int (*const steps[])(kc__up *up, kc_error *err) = {
        open_app,
        open_plane,
        open_door,
        load_initial,
        kc__up_start_networks,
        prepare_reconcilers,
        prepare_controllers,
        start_manager,
        await_ready,
    };
    for (size_t i = 0; i < KC_COUNT(steps); i++)
        if (steps[i](up, err) < 0)
            return -1;
    return 0;
}

/* ---- running and stopping ---- */

static void stop(kc__up *up)
{
    if (up->manager)
        kc_cancel_unhang(up->stop, &up->hook);
    kc_app_free(up->app);
    kc__up_stop_networks(up);
    kc_client_unref(up->client);
    kc_embed_stop(up->door);
    kc__plane_close(&up->plane);
    kc_app_config_free(up->config_file);
    kc_buf_done(&up->root_ca);
    free(up->pods_folder);
}

static int run(kc__up *up, kc_error *err)
{
    if (start(up, err) < 0)
        return -1;
    if (!kc_cancel_fired(up->stop))
        kc__up_say_ready(up);
    return kc_manager_wait(up->manager, err);
}

static kc_log *make_log(const kc__apiserver_options *o)
{
    return kc_log_new(&(kc_log_opts){.level = o->verbosity ? KC_LOG_INFO : KC_LOG_WARN,
                                     .verbosity = o->verbosity,
                                     .format = o->log_format});
}

static int up(const kc__up_options *options)
{
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_cancel) *stopping = kc_cancel_new(NULL);
    kc_auto(kc__stopper) *stopper = kc__stopper_new(stopping, true, &err);
    kc_auto(kc_log) *log = make_log(&options->server);
    kc_auto(kc_metrics) *metrics = kc_metrics_new();
    kc__up up = {.options = options,
                 .stop = stopping,
                 .began = kc_clock_now(kc_clock_real()),
                 .log = log,
                 .metrics = metrics};
    const int failed = stopper ? run(&up, &err) : -1;
    if (failed)
        fprintf(stderr, "kc up: %s\n", kc_error_text(&err));
    stop(&up);
    if (!failed)
        kc__up_say_stopped(options);
    return failed ? 1 : 0;
}

int kc_verb_up(int argc, char **argv)
{
    kc_scoped(kc_error) err = {0};
    kc__up_options options;
    const int parsed = kc_flags_parse(&kc_up_flags, argc, argv, &options, &err);
    if (parsed > 0) {
        kc_flags_help(&kc_up_flags, stdout);
        return 0;
    }
    if (parsed < 0 || kc__up_options_check(&options, &err) < 0)
        return kc_called_wrongly("up", &err);
    return up(&options);
}
