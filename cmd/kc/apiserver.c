/* SPDX-License-Identifier: Apache-2.0 */
/*
 * apiserver.c: `kc apiserver` starts a server (plane.c) and waits for a signal (signals.c). The
 * first signal drains the server; it exits with 0 after the last response or the grace period.
 */
#include "command.h"
#include "plane.h"
#include "signals.h"

static void print_addresses(const kc__cli_plane *p)
{
    const bool both = p->secure_url && p->insecure_url;
    printf("kc: serving the API on %s%s%s; data in %s\n", p->secure_url ? p->secure_url : "",
           both ? " and " : "", p->insecure_url ? p->insecure_url : "", p->options->root);
    if (p->kubeconfig)
        printf("    try: kubectl --kubeconfig %s get namespaces\n", p->kubeconfig);
    else
        printf("    try: kubectl -s %s get namespaces\n", p->insecure_url);
    fflush(stdout);
}

static void cli_apiserver_run(kc__cli_plane *plane, kc_cancel *stop)
{
    print_addresses(plane);
    kc_cancel_sleep_until(stop, kc_clock_real(), KC_FOREVER);
    kc_log_info(plane->log, "stopping; a second signal exits at once");
}

static int cli_apiserver_serve(const kc__cli_apiserver_options *options)
{
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_cancel) *stop = kc_cancel_new(NULL);
    kc_auto(kc__cli_stop_signal) *stopper = kc__cli_stop_signal_new(stop, false, &err);
    kc_auto(kc_log) *log =
        kc_log_new(&(kc_log_opts){.verbosity = options->verbosity, .format = options->log_format});
    kc_auto(kc_metrics) *metrics = kc_metrics_new();
    kc__cli_plane plane = {.stop = stop};
    int failed =
        stopper ? kc__cli_plane_open(&plane, options, log, metrics, &err) : kc_error_result(&err);
    if (!failed) {
        cli_apiserver_run(&plane, stop);
        failed = kc__cli_plane_check(&plane, &err);
    }
    if (failed)
        fprintf(stderr, "kc apiserver: %s\n", kc_error_text(&err));
    kc__cli_plane_close(&plane);
    return failed ? 1 : 0;
}

int kc__cli_command_apiserver(int argc, char **argv)
{
    kc_scoped(kc_error) err = {0};
    kc__cli_apiserver_options options;
    const int parsed = kc__cli_flags_parse(&kc__cli_apiserver_flags, argc, argv, &options, &err);
    if (parsed > 0) {
        kc__cli_flags_help(&kc__cli_apiserver_flags, stdout);
        return 0;
    }
    if (parsed < 0 || kc__cli_apiserver_options_check(&options, &err) < 0)
        return kc__cli_usage_error("apiserver", &err);
    return cli_apiserver_serve(&options);
}
