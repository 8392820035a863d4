/* SPDX-License-Identifier: Apache-2.0 */
/*
 * up_say.c: what `kc up` prints: where it is, and what to try.
 *
 * What is offered works as it is typed: each row of `offers` says what it needs, and the first
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

typedef struct offer {
    const char *command, *comment;
    const char *reconciler; /* Is enabled. */
    const char *file;       /* Is there. */
    bool control;           /* Controllers are on. */
    bool pods, processes;   /* Pods run; as processes. */
    bool initial;           /* Initial objects are there. */
} offer;

#define ROBOT "manifests/robot/cr.yaml"
#define AT    "manifests/at/cr.yaml"

static const offer offers[] = {
    {"kubectl apply -f " ROBOT, "a robot, which owns a deployment", "robot", ROBOT},
    {"kubectl get deployment robot-one", "2/2", "robot", ROBOT, .control = true, .pods = true},
    {"kubectl apply -f " AT, "a command, to be run at a time", "at", AT},
    {"kubectl logs at-one-pod", "YAY", "at", AT, .control = true, .processes = true},
    {"kubectl get users,teams,catalogs", "initial objects", .initial = true},
    {"kubectl get nodes -o wide", "", .pods = true},
    {"kubectl create deployment web --image=any --replicas=2 -- sleep 600", "", .control = true,
     .pods = true},
    {"kubectl get pods -o wide", "", .pods = true},
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

static bool works(const kc__up *up, const offer *o)
{
    const kc__up_options *options = up->options;
    const kc_pods_mode mode = options->controllers.pods.mode;
    return (!o->reconciler || is_enabled(up, o->reconciler)) &&
           (!o->file || access(o->file, R_OK) == 0) &&
           (!o->control || !options->without[KC__UP_CONTROLLERS]) &&
           (!o->pods || mode != KC_PODS_NONE) && (!o->processes || mode == KC_PODS_PROCESS) &&
           (!o->initial || !options->without[KC__UP_INITIAL]);
}

static void say_offers(const kc__up *up)
{
    int said = 0;
    for (size_t i = 0; i < KC_COUNT(offers) && said < FEW; i++) {
        const offer *o = &offers[i];
        if (!works(up, o))
            continue;
        said++;
        if (*o->comment)
            printf("    %-45s  %s# %s%s\n", o->command, in(FAINT), o->comment, in(PLAIN));
        else
            printf("    %s\n", o->command);
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

/* As a shell reads it as one word. */
static char *shell_word(const char *text)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "/._-+,:@%=";
    kc_buf word = {0};
    if (text[strspn(text, plain)] == '\0')
        return kc_strdup(text);
    kc_buf_putc(&word, '\'');
    for (const char *p = text; *p; p++) {
        if (*p == '\'')
            kc_buf_puts(&word, "'\\'");
        kc_buf_putc(&word, *p);
    }
    kc_buf_putc(&word, '\'');
    return kc_buf_take(&word);
}

static void say_how_to_reach(const kc__up *up)
{
    kc_autofree char *path = up->plane.kubeconfig ? realpath(up->plane.kubeconfig, NULL) : NULL;
    kc_autofree char *word = path ? shell_word(path) : NULL;
    if (word)
        printf("    %sexport KUBECONFIG=%s%s\n", in(BOLD), word, in(PLAIN));
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
    if (up->networks)
        say_line("networks", up->networks_url, "/v1/networks");
    say_pods(up);
    printf("\nIn another terminal:\n\n");
    say_how_to_reach(up);
    say_offers(up);
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
