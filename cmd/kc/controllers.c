/* SPDX-License-Identifier: Apache-2.0 */
/*
 * controllers.c: `kc controllers`: the controllers of a plane, as a program of their own, against
 * any server a kubeconfig names. Several copies elect a leader; nodes run in each of them.
 */
#include "verb.h"

#include "kc/controllers.h"
#include "kc/kubeconfig.h"
#include "kc/log.h"
#include "kc/quantity.h"

#include <stddef.h>

typedef struct options {
    const char *kubeconfig, *context, *server;
    const char *names;
    int workers;
    bool leader_elect, list;
    const char *lease_namespace;
    kc_pods_opts pods;
    int64_t node_grace;
    int ended_pods;
    const char *metrics_address, *health_address;
    int verbosity;
    kc_log_format log_format;
} options;

#define FIELD(name) .offset = offsetof(options, name)
#define SERVER      "Server"
#define CHOICE      "Controllers"
#define PODS        "Pods"
#define WATCHING    "Watching it"

static int parse_count(const char *text, void *ret, kc_error *err)
{
    char *end;
    const long n = strtol(text, &end, 10);
    if (end == text || *end || n < 1 || n > 100000)
        return kc_error_set(err, KC_INVALID, "\"%s\" is not a number from 1 to 100000", text);
    *(int *)ret = (int)n;
    return 0;
}

/* An amount as resources are written: "500m", "16Gi"; in units of `milli` thousandths or whole. */
static int parse_amount(const char *text, bool milli, int64_t *ret, kc_error *err)
{
    kc_quantity amount;
    if (kc_quantity_parse(kc_cstr(text), &amount, NULL) < 0 || kc_quantity_sign(amount) <= 0)
        return kc_error_set(err, KC_INVALID, "\"%s\" is no amount, such as 500m, 4 or 16Gi", text);
    *ret = milli ? kc_quantity_milli_value(amount) : kc_quantity_value(amount);
    return 0;
}

static int parse_cpu(const char *text, void *ret, kc_error *err)
{
    return parse_amount(text, true, ret, err);
}

static int parse_bytes(const char *text, void *ret, kc_error *err)
{
    return parse_amount(text, false, ret, err);
}

static int parse_pods(const char *text, void *ret, kc_error *err)
{
    static const char *const modes[] = {"none", "simulate", "process"};
    for (size_t i = 0; i < KC_COUNT(modes); i++)
        if (!strcmp(text, modes[i])) {
            *(kc_pods_mode *)ret = (kc_pods_mode)i;
            return 0;
        }
    return kc_error_set(err, KC_INVALID, "\"%s\" is neither none, simulate nor process", text);
}

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

    {"controllers", .argument = "NAMES", .initial = "*", .group = CHOICE, FIELD(names),
     .parse = kc_flag_text,
     .help = "which, with commas between them: '*' is all, '-name' not this one"},
    {"list", .group = CHOICE, FIELD(list), .parse = kc_flag_switch,
     .help = "print which there are, and end"},
    {"workers", .argument = "N", .initial = "5", .group = CHOICE, FIELD(workers),
     .parse = parse_count, .help = "how many objects a controller works on at the same time"},
    {"node-monitor-grace-period", .argument = "DURATION", .initial = "40s", .group = CHOICE,
     FIELD(node_grace), .parse = kc_flag_duration,
     .help = "a node that has not been heard of for so long is lost"},
    {"terminated-pod-gc-threshold", .argument = "N", .initial = "12500", .group = CHOICE,
     FIELD(ended_pods), .parse = parse_count,
     .help = "pods that have ended are kept up to this number"},

    {"pods", .argument = "HOW", .initial = "none", .group = PODS, FIELD(pods.mode),
     .parse = parse_pods, .values = "none simulate process",
     .help = "run pods on a node of our own: simulated, or as processes of this machine"},
    {"node-name", .argument = "NAME", .group = PODS, FIELD(pods.node), .parse = kc_flag_text,
     .help = "what the node is called; defaults to this machine's name"},
    {"node-cpu", .argument = "QUANTITY", .group = PODS, FIELD(pods.node_cpu), .parse = parse_cpu,
     .help = "how much of it a node has; defaults to this machine's, of simulated ones to 256"},
    {"node-memory", .argument = "QUANTITY", .group = PODS, FIELD(pods.node_memory),
     .parse = parse_bytes,
     .help = "the same; defaults to this machine's, of simulated ones to 1Ti"},
    {"node-pods", .argument = "N", .group = PODS, FIELD(pods.node_pods), .parse = parse_count,
     .help = "how many pods a node takes; defaults to 110, simulated ones to 1000"},
    {"pods-address", .argument = "ADDRESS", .initial = "127.0.0.1:0", .group = PODS,
     FIELD(pods.address), .parse = kc_flag_text,
     .help = "where the API server reaches the node for logs: an address of this machine, and a "
             "port; 0 is any that is free"},
    {"simulated-nodes", .argument = "N", .initial = "1", .group = PODS, FIELD(pods.nodes),
     .parse = parse_count, .help = "how many nodes to simulate"},
    {"simulated-start", .argument = "DURATION", .group = PODS, FIELD(pods.start_delay),
     .parse = kc_flag_duration, .help = "how long a simulated container takes to start"},
    {"simulated-stop", .argument = "DURATION", .group = PODS, FIELD(pods.stop_delay),
     .parse = kc_flag_duration, .help = "how long it takes to stop"},
    {"pods-folder", .argument = "FOLDER", .group = PODS, FIELD(pods.folder), .parse = kc_flag_text,
     .values = "FOLDER", .help = "where processes have their volumes and logs; required for them"},
    {"pods-image", .argument = "FOLDER", .initial = "/", .group = PODS, FIELD(pods.image),
     .parse = kc_flag_text, .values = "FOLDER",
     .help = "the file system of all images; nothing is ever pulled"},
    {"pods-user", .argument = "USER", .group = PODS, FIELD(pods.user), .parse = kc_flag_text,
     .help = "whom processes run as; defaults to nobody"},
    {"pods-allow-root", .group = PODS, FIELD(pods.allow_root), .parse = kc_flag_switch,
     .help = "pods may say whom they run as, root included"},

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

const kc_flag_set kc_controllers_flags = {
    .verb = "controllers",
    .synopsis = "Runs the controllers of a plane against any server of the Kubernetes API: garbage "
                "collection,\nnamespaces, deployments, a scheduler, and nodes that run pods.",
    .examples = "  kc controllers -s http://127.0.0.1:6080 --pods=process --pods-folder=/tmp/pods\n"
                "  kc controllers --pods=simulate --simulated-nodes=100\n"
                "  kc controllers --kubeconfig=site.yaml --controllers='*,-scheduler'\n",
    KC_FLAGS(flags),
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
    kc_controllers_opts opts = {.names = o->names,
                                .workers = o->workers,
                                .node_grace = o->node_grace,
                                .ended_pods = o->ended_pods,
                                .root_ca = kc_buf_cstr(&root_ca),
                                .pods = o->pods};
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
