/* SPDX-License-Identifier: Apache-2.0 */
/*
 * up_print.c: the output of `kc up`: addresses, parts, and commands to try.
 *
 * Each printed command can be run unchanged: a row of `offers` names its requirements, and the
 * first FEW rows whose requirements are met are printed.
 *
 * To add a command: a row of `offers`.
 */
#include "colour.h"
#include "up.h"

#include <stdio.h>
#include <unistd.h>

enum { FEW = 5 };

static const char *up_colour(const char *colour)
{
    return kc__cli_colour(STDOUT_FILENO, colour);
}

/* ---- commands to try ---- */

typedef struct cli_up_print_offer {
    const char *command, *comment;
    /* Requirements: */
    const char *reconciler; /* this reconciler is enabled, */
    const char *file;       /* this file exists, */
    bool control;           /* controllers run, */
    bool pods, processes;   /* pods run; as processes, */
    bool initial;           /* initial objects were loaded. */
} cli_up_print_offer;

#define ROBOT "manifests/robot/cr.yaml"
#define AT    "manifests/at/cr.yaml"

static const cli_up_print_offer offers[] = {
    {"kubectl apply -f " ROBOT, "a Robot, which owns a Deployment", "robot", ROBOT},
    {"kubectl get deployment robot-one", "2/2", "robot", ROBOT, .control = true, .pods = true},
    {"kubectl apply -f " AT, "a command that runs at a given time", "at", AT},
    {"kubectl logs at-one-pod", "YAY", "at", AT, .control = true, .processes = true},
    {"kubectl get users,teams,catalogs", "initial objects", .initial = true},
    {"kubectl get nodes -o wide", "", .pods = true},
    {"kubectl create deployment web --image=any --replicas=2 -- sleep 600", "", .control = true,
     .pods = true},
    {"kubectl get pods -o wide", "", .pods = true},
    {"kubectl api-resources", "all kinds"},
    {"kubectl get namespaces", ""},
    {"kubectl create configmap first --from-literal=greeting=hello", ""},
    {"kubectl get configmap first -o yaml", ""},
    {"kubectl get --raw /readyz?verbose", ""},
};

static bool is_enabled(const kc__cli_up *up, const char *reconciler)
{
    const kc_app_entry *entry = kc_app_find(up->app, reconciler, NULL);
    return entry && entry->enabled;
}

static bool works(const kc__cli_up *up, const cli_up_print_offer *o)
{
    const kc__cli_up_options *options = up->options;
    const kc_pods_mode mode = options->controllers.pods.mode;
    return (!o->reconciler || is_enabled(up, o->reconciler)) &&
           (!o->file || access(o->file, R_OK) == 0) &&
           (!o->control || !options->without[KC__CLI_UP_CONTROLLERS]) &&
           (!o->pods || mode != KC_PODS_NONE) && (!o->processes || mode == KC_PODS_PROCESS) &&
           (!o->initial || !options->without[KC__CLI_UP_INITIAL]);
}

static void print_offers(const kc__cli_up *up)
{
    int printed = 0;
    for (size_t i = 0; i < KC_COUNT(offers) && printed < FEW; i++) {
        const cli_up_print_offer *o = &offers[i];
        if (!works(up, o))
            continue;
        printed++;
        if (*o->comment)
            printf("    %-45s  %s# %s%s\n", o->command, up_colour(KC__CLI_FAINT), o->comment,
                   up_colour(KC__CLI_PLAIN));
        else
            printf("    %s\n", o->command);
    }
}

/* ---- addresses and parts ---- */

static void print_line(const char *what, const char *text, const char *more)
{
    printf("    %s%-12s%s %s%s\n", up_colour(KC__CLI_FAINT), what, up_colour(KC__CLI_PLAIN), text,
           more);
}

static void print_addresses(const kc__cli_up *up)
{
    const kc__cli_plane *p = &up->plane;
    const bool wanted = up->options->server.allow_localhost;
    const char *off = wanted ? up->options->server.localhost_off : NULL;
    const bool open = wanted && !off;
    if (p->secure_url)
        print_line("API", p->secure_url, "");
    if (p->insecure_url)
        print_line(p->secure_url ? "" : "API", p->insecure_url,
                   open ? "  (no credentials: loopback clients of your user and root)" : "");
    if (off)
        print_line("", "loopback clients need credentials: ", off);
}

static void print_reconcilers(const kc__cli_up *up)
{
    kc_scoped(kc_buf) names = {0};
    const kc_app_entry *entry;
    for (size_t i = 0; (entry = kc_app_entry_at(up->app, i)); i++)
        if (entry->enabled)
            kc_buf_printf(&names, "%s%s", names.n ? ", " : "", entry->name);
    if (names.n)
        print_line("reconcilers", kc_buf_cstr(&names), "");
}

static void print_pods(const kc__cli_up *up)
{
    static const char *const how[] = {
        [KC_PODS_SIMULATE] = "simulated", [KC_PODS_PROCESS] = "processes of this machine"};
    const kc__cli_up_options *o = up->options;
    const kc_pods_opts *pods = &o->controllers.pods;
    const char *more = "";
    if (o->pods_need_root)
        more =
            ", because kc does not run as root: pods would share its user and could read its keys; "
            "--unsafe-pods-can-read-credentials runs them as processes";
    else if (pods->mode == KC_PODS_PROCESS && geteuid() != 0)
        more =
            ", as your user: they can read the keys, kubeconfigs and store of this control plane";
    else if (pods->mode == KC_PODS_PROCESS && pods->allow_root)
        more = ", which may run as root";
    if (pods->mode != KC_PODS_NONE)
        print_line("pods", how[pods->mode], more);
}

/* Quoted, if needed, so that a shell reads one word. */
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

static void print_how_to_reach(const kc__cli_up *up)
{
    kc_autofree char *path = up->plane.kubeconfig ? realpath(up->plane.kubeconfig, NULL) : NULL;
    kc_autofree char *word = path ? shell_word(path) : NULL;
    if (word)
        printf("    %sexport KUBECONFIG=%s%s\n", up_colour(KC__CLI_BOLD), word,
               up_colour(KC__CLI_PLAIN));
    else
        printf("    %salias kubectl='kubectl -s %s'%s\n", up_colour(KC__CLI_BOLD),
               up->plane.insecure_url, up_colour(KC__CLI_PLAIN));
}

void kc__cli_up_print_ready(const kc__cli_up *up)
{
    const int64_t took = kc_clock_now(kc_clock_real()) - up->began;
    printf("%skc is up%s, ready after %.2f s\n\n", up_colour(KC__CLI_GREEN KC__CLI_BOLD),
           up_colour(KC__CLI_PLAIN), (double)took / (double)KC_SECOND);
    print_addresses(up);
    print_line("data", up->options->server.root, "");
    print_reconcilers(up);
    if (up->networks) {
        kc_autofree char *token = kc_asprintf("/v1/networks  (token: %s)", up->networks_token_file);
        print_line("networks", up->networks_url, token);
    }
    print_pods(up);
    if (up->manifests)
        print_line("manifests", up->options->manifests.dir,
                   "  (apply set kube-system/" KC__CLI_UP_APPLY_SET ")");
    printf("\nIn another terminal:\n\n");
    print_how_to_reach(up);
    print_offers(up);
    printf("\nCtrl-C stops it.\n");
    fflush(stdout);
}

void kc__cli_up_print_stopping(void)
{
    printf("kc is stopping; press Ctrl-C again to exit at once\n");
    fflush(stdout);
}

void kc__cli_up_print_stopped(const kc__cli_up_options *options)
{
    printf("kc has stopped; data is in %s\n", options->server.root);
}

void kc__cli_up_print_security(void)
{
    fprintf(stderr,
            "kc up: safe mode: previous starts crashed, so only the API server runs. Change or "
            "delete the object that\ncauses it (see crashes/quarantine.json in --file-rootpath and "
            "the log of the last start), stop with\nCtrl-C and start again.\n");
}
