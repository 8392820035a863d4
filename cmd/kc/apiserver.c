/* SPDX-License-Identifier: Apache-2.0 */
/*
 * apiserver.c: `kc apiserver`: starts a server (plane.c) and waits for a signal (signals.c). The
 * first one drains it, and it exits 0 when the last request was answered or the grace is over.
 */
#include "plane.h"
#include "signals.h"
#include "verb.h"

static void say_what_to_try(const kc__plane *p)
{
    const bool both = p->secure_url && p->insecure_url;
    printf("kc: serving the API on %s%s%s; everything is kept in %s\n",
           p->secure_url ? p->secure_url : "", both ? " and " : "",
           p->insecure_url ? p->insecure_url : "", p->options->root);
    if (p->kubeconfig)
        printf("    try: kubectl --kubeconfig %s get namespaces\n", p->kubeconfig);
    else
        printf("    try: kubectl -s %s get namespaces\n", p->insecure_url);
    fflush(stdout);
}

static void run(kc__plane *plane, kc_cancel *stop)
{
    say_what_to_try(plane);
    kc_cancel_sleep_until(stop, kc_clock_real(), KC_FOREVER);
    kc_log_info(plane->log, "stopping; another signal stops at once");
}

static int serve(const kc__apiserver_options *options)
{
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_cancel) *stop = kc_cancel_new(NULL);
    kc_auto(kc__stopper) *stopper = kc__stopper_new(stop, false, &err);
    kc_auto(kc_log) *log =
        kc_log_new(&(kc_log_opts){.verbosity = options->verbosity, .format = options->log_format});
    kc_auto(kc_metrics) *metrics = kc_metrics_new();
    kc__plane plane = {0};
    const bool serves = stopper && kc__plane_open(&plane, options, log, metrics, &err) == 0;
    if (serves)
        run(&plane, stop);
    else
        fprintf(stderr, "kc apiserver: %s\n", kc_error_text(&err));
    kc__plane_close(&plane);
    return serves ? 0 : 1;
}

int kc_verb_apiserver(int argc, char **argv)
{
    kc_scoped(kc_error) err = {0};
    kc__apiserver_options options;
    const int parsed = kc_flags_parse(&kc_apiserver_flags, argc, argv, &options, &err);
    if (parsed > 0) {
        kc_flags_help(&kc_apiserver_flags, stdout);
        return 0;
    }
    if (parsed < 0 || kc__apiserver_options_check(&options, &err) < 0)
        return kc_called_wrongly("apiserver", &err);
    return serve(&options);
}
