/* SPDX-License-Identifier: Apache-2.0 */
/*
 * up_say.c: what `kc up` prints: where it is, and what to try.
 *
 * What is offered works as it is typed: each row of `tries` says what it needs, and the first
 * FEW that have it are shown.
 *
 * To add a command: a row.
 */
#include "up.h"

#include <stdio.h>
#include <unistd.h>

enum { FEW = 5 };

#define BOLD  "\033[1m"
#define FAINT "\033[2m"
#define GREEN "\033[32m"
#define PLAIN "\033[0m"

/* A colour, or nothing where there are none. */
static const char *in(const char *colour)
{
    const char *no = getenv("NO_COLOR"), *terminal = getenv("TERM");
    const bool dumb = terminal && !strcmp(terminal, "dumb");
    return isatty(STDOUT_FILENO) && !(no && *no) && !dumb ? colour : "";
}

/* ---- what to try ---- */

typedef struct
try {
    const char *command, *comment;
    const char *reconciler; /* Is enabled. */
    const char *file;       /* Is there. */
    bool runs_pods;
    bool controls; /* The controllers are on. */
}
try;

static const try tries[] = {
    {"kubectl apply -f manifests/robot/cr.yaml", "a robot, which owns a deployment", "robot",
     "manifests/robot/cr.yaml"},
    {"kubectl get deployment robot-one", "2/2", "robot", "manifests/robot/cr.yaml", true, true},
    {"kubectl apply -f manifests/at/cr.yaml", "a command, to be run at a time", "at",
     "manifests/at/cr.yaml"},
    {"kubectl logs at-one-pod", "YAY", "at", "manifests/at/cr.yaml", true, true},
    {"kubectl get nodes -o wide", "this machine", .runs_pods = true},
    {"kubectl create deployment web --image=any --replicas=2 -- sleep 600", "pods are processes",
     .runs_pods = true, .controls = true},
    {"kubectl get pods -o wide", "", .runs_pods = true},
    {"kubectl api-resources", "every kind there is"},
    {"kubectl get namespaces", ""},
    {"kubectl create configmap first --from-literal=greeting=hello", ""},
    {"kubectl get configmap first -o yaml", ""},
    {"kubectl get --raw /readyz?verbose", ""},
};

static bool is_enabled(const kc__up *up, const char *reconciler)
{
    const kc_app_entry *entry = kc_app_find(up->app, reconciler, NULL);
    return entry && entry->enabled;
}

static bool works(const kc__up *up, const try *t)
{
    const kc__up_options *o = up->options;
    return (!t->reconciler || is_enabled(up, t->reconciler)) &&
           (!t->file || access(t->file, R_OK) == 0) &&
           (!t->runs_pods || o->controllers.pods.mode != KC_PODS_NONE) &&
           (!t->controls || !o->without[KC__UP_CONTROLLERS]);
}

static void say_tries(const kc__up *up)
{
    int said = 0;
    for (size_t i = 0; i < KC_COUNT(tries) && said < FEW; i++) {
        if (!works(up, &tries[i]))
            continue;
        said++;
        printf("    %-45s%s%s%s%s\n", tries[i].command, in(FAINT), *tries[i].comment ? "  # " : "",
               tries[i].comment, in(PLAIN));
    }
}

/* ---- where it is ---- */

static void say_line(const char *what, const char *text, const char *more)
{
    printf("    %s%-12s%s %s%s\n", in(FAINT), what, in(PLAIN), text, more);
}

static void say_addresses(const kc__up *up)
{
    const kc__plane *p = &up->plane;
    const bool open = up->options->server.allow_localhost;
    if (p->secure_url)
        say_line("API", p->secure_url, "");
    if (p->insecure_url)
        say_line(p->secure_url ? "" : "API", p->insecure_url,
                 open ? "  (from this machine, without a token)" : "");
}

static void say_reconcilers(const kc__up *up)
{
    kc_scoped(kc_buf) names = {0};
    const kc_app_entry *entry;
    for (size_t i = 0; (entry = kc_app_at(up->app, i)); i++)
        if (entry->enabled)
            kc_buf_printf(&names, "%s%s", names.n ? ", " : "", entry->name);
    if (names.n)
        say_line("reconcilers", kc_buf_cstr(&names), "");
}

static void say_pods(const kc__up *up)
{
    static const char *const how[] = {
        [KC_PODS_SIMULATE] = "simulated", [KC_PODS_PROCESS] = "processes of this machine"};
    const kc_pods_mode mode = up->options->controllers.pods.mode;
    if (mode != KC_PODS_NONE)
        say_line("pods", how[mode], "");
}

static void say_how_to_reach(const kc__up *up)
{
    kc_autofree char *path = up->plane.kubeconfig ? realpath(up->plane.kubeconfig, NULL) : NULL;
    if (path)
        printf("    %sexport KUBECONFIG=%s%s\n", in(BOLD), path, in(PLAIN));
    else
        printf("    %salias kubectl='kubectl -s %s'%s\n", in(BOLD), up->plane.insecure_url,
               in(PLAIN));
}

void kc__up_say_ready(const kc__up *up)
{
    const int64_t took = kc_clock_now(kc_clock_real()) - up->began;
    printf("%skc is up%s, ready after %.2f s\n\n", in(GREEN BOLD), in(PLAIN),
           (double)took / (double)KC_SECOND);
    say_addresses(up);
    say_line("data", up->options->server.root, "");
    say_reconcilers(up);
    say_pods(up);
    printf("\nIn another terminal:\n\n");
    say_how_to_reach(up);
    say_tries(up);
    printf("\nCtrl-C stops it.\n");
    fflush(stdout);
}

void kc__up_say_stopping(void)
{
    printf("kc is stopping; another Ctrl-C ends it at once\n");
    fflush(stdout);
}

void kc__up_say_stopped(const kc__up_options *options)
{
    printf("kc has stopped; everything is kept in %s\n", options->server.root);
}
