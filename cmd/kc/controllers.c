/* SPDX-License-Identifier: Apache-2.0 */
/*
 * controllers.c: `kc controllers`: the controllers of a plane, as a program of their own, against
 * any server a kubeconfig names. Several copies elect a leader; nodes run in each of them.
 */
#include "controllers_options.h"
#include "verb.h"

#include "kc/kubeconfig.h"
#include "kc/log.h"

#include <stddef.h>

typedef struct options {
    const char *kubeconfig, *context, *server;
    bool leader_elect, list;
    const char *lease_namespace;
    kc_controllers_opts controllers;
    const char *metrics_address, *health_address;
    int verbosity;
    kc_log_format log_format;
} options;

#define FIELD(name) .offset = offsetof(options, name)
#define SERVER      "Server"
#define CHOICE      "Controllers"
#define WATCHING    "Watching it"

static const kc_flag flags[] = {
    {"kubeconfig", .argument = "FILE", .group = SERVER, FIELD(kubeconfig), .parse = kc_flag_text,
     .values = "FILE", .help = "where the server is; defaults to kubectl's"},
    {"context", .argument = "NAME", .group = SERVER, FIELD(context), .parse = kc_flag_text,
     .help = "which context of it; defaults to its current one"},
    {"server", 's', .argument = "URL", .group = SERVER, FIELD(server), .parse = kc_flag_text,
     .help = "another address of the server: http://127.0.0.1:6080"},
    {"leader-elect", .initial = "true", .group = SERVER, FIELD(leader_elect),
     .parse = kc_flag_switch, .help = "of several copies, only one works at a time"},
    {"leader-elect-namespace", .argument = "NAME", .initial = "kube-system", .group = SERVER,
     FIELD(lease_namespace), .parse = kc_flag_text, .help = "where the lease for that is"},

    {"list", .group = CHOICE, FIELD(list), .parse = kc_flag_switch,
     .help = "print which there are, and end"},
};

static const kc_flag watching_flags[] = {
    {"metrics-bind-address", .argument = "ADDRESS", .group = WATCHING, FIELD(metrics_address),
     .parse = kc_flag_text, .help = "where /metrics is: 127.0.0.1:18001; defaults to nowhere"},
    {"health-probe-bind-address", .argument = "ADDRESS", .group = WATCHING, FIELD(health_address),
     .parse = kc_flag_text,
     .help = "where /healthz, /readyz and /debug/queue are: 127.0.0.1:18002; defaults to nowhere"},
    {"v", 'v', .argument = "N", .initial = "0", .group = WATCHING, FIELD(verbosity),
     .parse = kc_flag_verbosity, .values = "0 1 2 3 4 5 6 7 8 9 10",
     .help = "how much to log, from 0 to 10"},
    {"log-format", .argument = "FORMAT", .initial = "console", .group = WATCHING, FIELD(log_format),
     .parse = kc_flag_log_format, .values = "console json", .help = "console, for people, or json"},
};
static const kc_flag_set watching_part = {KC_FLAGS(watching_flags)};

static const kc_flag_part parts[] = {{&kc__controllers_part, offsetof(options, controllers)},
                                     {&watching_part}};

const kc_flag_set kc_controllers_flags = {
    .verb = "controllers",
    .synopsis = "Runs the controllers of a plane against any server of the Kubernetes API: garbage "
                "collection,\nnamespaces, deployments, a scheduler, and nodes that run pods.",
    .examples = "  kc controllers -s http://127.0.0.1:6080 --pods=process --pods-folder=/tmp/pods\n"
                "  kc controllers --pods=simulate --simulated-nodes=100\n"
                "  kc controllers --kubeconfig=site.yaml --controllers='*,-scheduler'\n",
    KC_FLAGS(flags),
    KC_FLAG_PARTS(parts),
    .size = sizeof(options),
};

static int list_them(void)
{
    for (size_t i = 0; kc_controllers_name(i); i++)
        printf("%-17s %s\n", kc_controllers_name(i), kc_controllers_summary(i));
    return 0;
}

static kc_config *load_config(const options *o, kc_error *err)
{
    return kc_config_load(
        &(kc_config_opts){.path = o->kubeconfig, .context = o->context, .server = o->server}, err);
}

static kc_manager *make_manager(const options *o, const kc_config *config, kc_log *log,
                                kc_error *err)
{
    return kc_manager_new(
        &(kc_manager_opts){
            .name = "kc-controllers",
            .config = config,
            .log = log,
            .metrics_address = o->metrics_address,
            .health_address = o->health_address,
            .election = {.name = o->leader_elect ? "kc-controllers" : NULL,
                         .ns = o->lease_namespace,
                         .release = true},
        },
        err);
}

static int run(const options *o, kc_error *err)
{
    kc_auto(kc_config) *config = load_config(o, err);
    if (!config)
        return -1;
    kc_auto(kc_log) *log =
        kc_log_new(&(kc_log_opts){.verbosity = o->verbosity, .format = o->log_format});
    kc_scoped(kc_buf) root_ca = {0};
    kc_auto(kc_manager) *manager = make_manager(o, config, log, err);
    if (!manager || kc_config_authority(config, &root_ca, err) < 0)
        return -1;
    kc_controllers_opts opts = o->controllers;
    opts.root_ca = kc_buf_cstr(&root_ca);
    if (kc_controllers_add(manager, &opts, err) < 0)
        return -1;
    return kc_manager_run(manager, err);
}

int kc_verb_controllers(int argc, char **argv)
{
    kc_scoped(kc_error) err = {0};
    options o;
    const int parsed = kc_flags_parse(&kc_controllers_flags, argc, argv, &o, &err);
    if (parsed < 0)
        return kc_called_wrongly("controllers", &err);
    if (parsed == 1) {
        kc_flags_help(&kc_controllers_flags, stdout);
        return 0;
    }
    if (o.list)
        return list_them();
    if (run(&o, &err) == 0)
        return 0;
    fprintf(stderr, "kc controllers: %s\n", kc_error_text(&err));
    return 1;
}
