/* SPDX-License-Identifier: Apache-2.0 */
/*
 * up.c: `kc up` runs a complete control plane in one process.
 *
 *     kubectl ── HTTPS, HTTP ──▶ API server ──▶ ROOT/store
 *                                    ▲ in-process transport
 *                       one client, one cache, one manager
 *                       ├─ reconcilers (the hub)
 *                       ├─ controllers
 *                       ├─ a node: pods, as processes in ROOT/pods
 *                       └─ the directory of --manifests
 *     a network service, for the reconciler `network`: ROOT/networks
 *
 * Identities: the cache reads as system:kube-controller-manager; reconcilers act as
 * system:kubecontroller:hub; each controller, the scheduler and the node act as the user of
 * Kubernetes that they correspond to (kc_controllers_opts). Roles of every cluster limit all of
 * them. Files of the operator (initial objects, --manifests) are loaded as the administrator.
 *
 * One manager runs everything: there is one informer per kind and one shutdown order. It needs no
 * lease, because no other process can open the store, unless the config file asks for one.
 *
 * Start: flags and config are checked first; then the server starts, then definitions and initial
 * objects are loaded, for which caches would wait; then reconcilers and controllers start. The
 * process is ready when caches are synced, the node has reported and webhooks are registered. Stop:
 * the reverse order.
 *
 * Crashes: a reconcile of a plugin may crash without ending the process (crash recovery); a crash
 * of a linked reconciler or a controller ends it. ROOT/crashes records which reconciles crashed
 * (kc/crash_journal.h), and their keys are quarantined at the next start. If former processes
 * crashed repeatedly soon after their start, this one starts in safe mode: the API server only, so
 * that the cause can be changed.
 */
#include "up.h"
#include "account_tokens.h"

#include "command.h"
#include "hidden_paths.h"
#include "hub.h"
#include "initial.h"
#include "signals.h"
#include "trust.h"

#include "embed/wrap_server.h"
#include "kc/controllers.h"
#include "kc/file.h"

#include <unistd.h>

/* ---- crashes of earlier processes ---- */

static void try_journal(kc__cli_up *up, kc_error *why)
{
    kc_autofree char *dir = kc_asprintf("%s/crashes", up->options->server.root);
    up->crash_journal = kc_crash_journal_open(dir, up->log, why);
}

/* A missing journal does not prevent the start. */
static int open_journal(kc__cli_up *up, kc_error *err)
{
    kc_scoped(kc_error) why = {0};
    (void)err;
    if (!up->crash_journal)
        try_journal(up, &why);
    if (!up->crash_journal)
        kc_log_warn(up->log, "crash journal unavailable; quarantine does not survive a restart",
                    kc_kv("err", &why));
    return 0;
}

/* Runs before plugins are loaded. Creates no directory: wrong flags must not leave one. */
static int check_crash_loop(kc__cli_up *up, kc_error *err)
{
    (void)err;
    if (access(up->options->server.root, W_OK) < 0)
        return 0;
    try_journal(up, NULL);
    up->safe = kc_crash_journal_is_crash_loop(up->crash_journal);
    if (up->safe)
        kc__cli_up_print_security();
    return 0;
}

/* ---- starting ---- */

/* The files of the server are checked with it. */
static int check_files_of_up(kc__cli_up *up, kc_error *err)
{
    return kc__cli_check_secret_files(&kc__cli_up_secrets, up->options, up->log, err);
}

static int open_app(kc__cli_up *up, kc_error *err)
{
    const kc__cli_up_options *o = up->options;
    up->config_file =
        o->config ? kc_app_config_load(o->config, err) : kc_app_config_parse(KC_STR(""), err);
    if (!up->config_file)
        return kc_error_result(err);
    kc__cli_up_own_settings(up);
    const char *nowhere = o->config ? NULL : "";
    up->app = kc_app_new(&(kc_app_opts){
        .name = "kc",
        .config = &up->config,
        .names = up->safe || o->without[KC__CLI_UP_HUB] ? "" : o->reconcilers,
        .metrics_address = o->metrics_address ? o->metrics_address : nowhere,
        .health_address = o->health_address ? o->health_address : nowhere,
        .no_local_trust = o->server.localhost_off,
        .no_signal_handlers = true,
        .plugin_crash_recovery = true,
        .log = up->log,
        .metrics = up->metrics,
    });
    if (kc_app_add_linked(up->app, err) < 0 ||
        kc__cli_load_plugins(up->app, up->safe ? NULL : o->plugins, err) < 0)
        return kc_error_result(err);
    return kc_app_select(up->app, err);
}

static int open_plane(kc__cli_up *up, kc_error *err)
{
    up->plane.stop = up->stop;
    return kc__cli_plane_open(&up->plane, &up->options->server, up->log, up->metrics, err);
}

/* The garbage collector watches deprecated kinds too: the server's warnings about them are logged
 * with -v only. */
static kc_client *client_of_user(kc__cli_up *up, const kc_client_user *user, kc_metrics *metrics,
                                 kc_error *err)
{
    kc_log *log = up->options->server.verbosity ? up->log : NULL;
    return kc_client_new(
        &(kc_client_opts){.transport = kc_embedded_server_transport(up->door, user),
                          .user_agent = "kc-up",
                          .field_manager = "kc",
                          .log = log,
                          .metrics = metrics},
        err);
}

static int open_door(kc__cli_up *up, kc_error *err)
{
    static const kc_client_user reader = {"system:kube-controller-manager", NULL};
    up->door = kc__embed_wrap_server(up->plane.server, NULL);
    up->admin = client_of_user(up, NULL, NULL, err);
    up->client = up->admin ? client_of_user(up, &reader, up->metrics, err) : NULL;
    return up->client ? 0 : kc_error_result(err);
}

static int load_initial(kc__cli_up *up, kc_error *err)
{
    if (up->options->without[KC__CLI_UP_INITIAL])
        return 0;
    return kc__cli_initial_load(up->admin, kc__cli_manifests, kc__cli_n_manifests, up->log, err);
}

static int prepare_reconcilers(kc__cli_up *up, kc_error *err)
{
    static const kc_client_user hub = {"system:kubecontroller:hub", NULL};
    kc_app_set_client(up->app, up->client);
    kc_app_set_user(up->app, &hub);
    kc_app_set_crash_journal(up->app, up->crash_journal);
    if (kc_app_prepare_run(up->app, err) < 0) {
        kc_autofree char *why = kc_strdup(kc_error_text(err));
        if (kc_is_not_found(err) && up->options->without[KC__CLI_UP_INITIAL])
            kc_error_set(err, KC_NOT_FOUND, "%s, or exclude the hub too: --without=hub,initial",
                         why);
        return kc_error_result(err);
    }
    up->manager = kc_app_manager(up->app);
    return 0;
}

/* Absolute, because the processes of pods change directories. */
static int find_pods_dir(kc__cli_up *up, kc_error *err)
{
    const char *given = up->options->controllers.pods.dir;
    if (given) {
        up->pods_dir = kc_strdup(given);
        return 0;
    }
    kc_autofree char *root = realpath(up->options->server.root, NULL);
    if (!root)
        return kc_error_set(err, KC_INTERNAL, "cannot find %s", up->options->server.root);
    up->pods_dir = kc_asprintf("%s/pods", root);
    return 0;
}

static void hide_credentials(const kc__cli_up *up, kc__cli_hidden_paths *hidden)
{
    kc__cli_hidden_paths_add_server(hidden, &up->options->server);
    kc__cli_hidden_paths_add_files(hidden, &kc__cli_up_secrets, up->options);
    kc_vec_each (&up->plane.named_files, path)
        kc__cli_hidden_paths_add(hidden, *path);
    kc__cli_hidden_paths_add(hidden, up->plane.kubeconfig);
    kc__cli_hidden_paths_add(hidden, up->networks_token_file);
    kc__cli_hidden_paths_add_usual(hidden);
}

static int prepare_controllers(kc__cli_up *up, kc_error *err)
{
    kc_controllers_opts opts = up->options->controllers;
    kc_scoped(kc__cli_hidden_paths) hidden = {0};
    if (up->safe)
        return 0;
    if (find_pods_dir(up, err) < 0)
        return kc_error_result(err);
    if (up->plane.secure_url &&
        kc_file_read(kc__cli_plane_authority(&up->plane), KC_FILE_MAX, &up->root_ca, err) < 0)
        return kc_error_result(err);
    opts.own_identities = true;
    if (kc__cli_signer_open(&up->signer, &up->options->signing, up->plane.certs.ca_cert,
                            up->plane.certs.ca_key, err) < 0)
        return kc_error_result(err);
    opts.root_ca = kc_buf_cstr(&up->root_ca);
    opts.certificate_signer = up->signer.ca ? &up->signer.signer : NULL;
    opts.sign_account_token = kc__cli_sign_account_token;
    opts.sign_account_token_user = up->plane.accounts;
    opts.pods.dir = up->pods_dir;
    opts.pods.api_server = up->plane.secure_url;
    hide_credentials(up, &hidden);
    opts.pods.hidden = kc__cli_hidden_paths_end(&hidden);
    if (!opts.pods.client_ca_file)
        opts.pods.client_ca_file = up->plane.certs.node_client_ca_cert;
    return kc_controllers_add(up->manager, &opts, err);
}

static void stop_manager(kc_cancel_hook *hook)
{
    kc__cli_up_print_stopping();
    kc_manager_stop(kc_container_of(hook, kc__cli_up, hook)->manager);
}

static int start_manager(kc__cli_up *up, kc_error *err)
{
    up->hook.fire = stop_manager;
    if (!kc_cancel_add_hook(up->stop, &up->hook))
        kc_manager_stop(up->manager);
    return kc_manager_start(up->manager, err);
}

static int await_ready(kc__cli_up *up, kc_error *err)
{
    if (up->safe)
        return 0;
    return kc__cli_up_await_nodes(up, err) < 0 ? kc_error_result(err)
                                               : kc__cli_up_await_checks(up, err);
}

static int cli_up_start(kc__cli_up *up, kc_error *err)
{
    static int (*const steps[])(kc__cli_up *up, kc_error *err) = {
        kc__cli_up_check_manifests,
        check_files_of_up,
        check_crash_loop,
        open_app,
        open_plane,
        open_journal,
        open_door,
        load_initial,
        kc__cli_up_start_networks,
        prepare_reconcilers,
        prepare_controllers,
        kc__cli_up_add_manifests,
        start_manager,
        await_ready,
    };
    for (size_t i = 0; i < KC_COUNT(steps); i++)
        if (steps[i](up, err) < 0)
            return kc_error_result(err);
    return 0;
}

/* ---- running and stopping ---- */

static void cli_up_stop(kc__cli_up *up)
{
    if (up->manager)
        kc_cancel_remove_hook(up->stop, &up->hook);
    kc_app_free(up->app);
    kc__manifests_free(up->manifests);
    kc__cli_up_stop_networks(up);
    kc_client_unref(up->client);
    kc_client_unref(up->admin);
    kc_embedded_server_stop(up->door);
    kc__cli_plane_close(&up->plane);
    kc_app_config_free(up->config_file);
    kc_crash_journal_close(up->crash_journal);
    kc_buf_done(&up->root_ca);
    kc__cli_signer_done(&up->signer);
    free(up->pods_dir);
}

static void welcome(const kc__cli_up *up)
{
    kc__cli_up_print_ready(up);
    kc__cli_up_admin_password(up);
}

static int cli_up_run(kc__cli_up *up, kc_error *err)
{
    if (cli_up_start(up, err) < 0)
        return kc_error_result(err);
    if (!kc_cancel_fired(up->stop))
        welcome(up);
    if (kc_manager_wait(up->manager, err) < 0)
        return kc_error_result(err);
    return kc__cli_plane_check(&up->plane, err);
}

static kc_log *make_log(const kc__cli_apiserver_options *o)
{
    return kc_log_new(&(kc_log_opts){.level = o->verbosity ? KC_LOG_INFO : KC_LOG_WARN,
                                     .verbosity = o->verbosity,
                                     .format = o->log_format});
}

static int up(const kc__cli_up_options *options)
{
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_cancel) *stopping = kc_cancel_new(NULL);
    kc_auto(kc__cli_stop_signal) *stopper = kc__cli_stop_signal_new(stopping, true, &err);
    kc_auto(kc_log) *log = make_log(&options->server);
    kc_auto(kc_metrics) *metrics = kc_metrics_new();
    kc__cli_up up = {.options = options,
                     .stop = stopping,
                     .began = kc_clock_now(kc_clock_real()),
                     .log = log,
                     .metrics = metrics};
    const int failed = stopper ? cli_up_run(&up, &err) : -1;
    if (failed)
        fprintf(stderr, "kc up: %s\n", kc_error_text(&err));
    cli_up_stop(&up);
    if (!failed)
        kc__cli_up_print_stopped(options);
    return failed ? 1 : 0;
}

int kc__cli_command_up(int argc, char **argv)
{
    kc_scoped(kc_error) err = {0};
    kc__cli_up_options options;
    const int parsed = kc__cli_flags_parse(&kc__cli_up_flags, argc, argv, &options, &err);
    if (parsed > 0) {
        kc__cli_flags_help(&kc__cli_up_flags, stdout);
        return 0;
    }
    if (parsed < 0 || kc__cli_up_options_check(&options, &err) < 0)
        return kc__cli_usage_error("up", &err);
    return up(&options);
}
