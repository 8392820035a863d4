/* SPDX-License-Identifier: Apache-2.0 */
/*
 * up_options.c: the flags of `kc up`: those of `kc apiserver`, those of `kc controllers` about
 * controllers and pods, and its own.
 *
 * Other defaults, since it is one person's plane on one machine: it keeps its things in ./data,
 * pods run as processes, and this machine's programs need no credentials. Nobody else is let in
 * without, which are the rules of `kc apiserver`.
 *
 * To add a part that can be left out: a name in `part_names`, its place in kc__up_part.
 */
#include "up_options.h"

#include "verb.h"

#include "kc/choose.h"
#include "kc/controllers.h"

#include <stddef.h>

#define FIELD(name) .offset = offsetof(kc__up_options, name)
#define PARTS       "Parts"
#define RECONCILERS "Reconcilers"
#define WATCHING    "Watching it"

static const char *const part_names[KC__UP_PARTS] = {
    [KC__UP_HUB] = "hub",         [KC__UP_CONTROLLERS] = "controllers",  [KC__UP_PODS] = "pods",
    [KC__UP_INITIAL] = "initial", [KC__UP_NETWORKS] = "network-service",
};

static int parse_parts(const char *text, void *ret, kc_error *err)
{
    return kc_choose(text, "part", part_names, KC__UP_PARTS, ret, err);
}

static const kc_flag flags[] = {
    {"without", .argument = "PARTS", .group = PARTS, FIELD(without), .parse = parse_parts,
     .values = "hub controllers pods initial network-service",
     .help = "what not to start, with commas between them: 'hub' (reconcilers), 'controllers', "
             "'pods' (the node), 'initial' (definitions and objects that come with kc), "
             "'network-service'"},

    {"reconcilers", .argument = "NAMES", .group = RECONCILERS, FIELD(reconcilers),
     .parse = kc_flag_text,
     .help = "which, with commas between them: '*' is all, '-name' not this one; defaults to the "
             "config file's ('kc hub --list' shows them)"},
    {"config", 'c', .argument = "FILE", .group = RECONCILERS, FIELD(config), .parse = kc_flag_text,
     .values = "FILE", .help = "the config file, as 'kc hub' takes it"},
    {"plugin", .argument = "FILES", .group = RECONCILERS, FIELD(plugins), .parse = kc_flag_text,
     .values = "FILE", .help = "shared objects with further reconcilers, ':' between them"},
    {"network-service", .argument = "URL", .group = RECONCILERS, FIELD(network_service),
     .parse = kc_flag_text,
     .help = "where the network service is that 'network' keeps in step; defaults to the config "
             "file's, then to one of our own"},
    {"network-service-bind-address", .argument = "ADDRESS", .initial = "127.0.0.1:0",
     .group = RECONCILERS, FIELD(network_service_address), .parse = kc_flag_text,
     .help = "where our own is, for this machine; port 0 is any that is free"},

    {"metrics-bind-address", .argument = "ADDRESS", .group = WATCHING, FIELD(metrics_address),
     .parse = kc_flag_text,
     .help = "where /metrics of reconcilers and controllers is too: 127.0.0.1:18001; '' is "
             "nowhere; defaults to the config file's if there is one"},
    {"health-probe-bind-address", .argument = "ADDRESS", .group = WATCHING, FIELD(health_address),
     .parse = kc_flag_text,
     .help = "where their /healthz, /readyz and /debug/queue are; defaults as the other one"},
};

static const kc_flag_part parts[] = {
    {&kc_apiserver_flags, offsetof(kc__up_options, server)},
    {&kc__controllers_part, offsetof(kc__up_options, controllers)},
};

static const kc_flag_change changes[] = {
    {"file-rootpath", "./data",
     "everything is kept in this folder, which is made if it is not there"},
    {"authn-allow-localhost", "true", NULL},
    {"v", NULL, "how much to log, from 0, only what is wrong, to 10"},
    {"controllers", NULL,
     "which of the plane's own, with commas between them: '*' is all, '-name' not this one ('kc "
     "controllers --list' shows them)"},
    {"pods", "process", NULL},
    {"pods-stand-in", "true", NULL},
    {"pods-folder", NULL,
     "where processes have their volumes and logs; defaults to the folder pods in "
     "--file-rootpath"},
};

const kc_flag_set kc_up_flags = {
    .verb = "up",
    .synopsis = "Runs a whole plane in one process: the API server, controllers, a node whose pods "
                "are processes of\nthis machine, and every reconciler. Ctrl-C stops it; the next "
                "start finds everything as it was.",
    .examples = "  kc up\n"
                "  kubectl -s http://127.0.0.1:6080 get nodes\n"
                "\n"
                "  kc up --file-rootpath=/tmp/kc --reconcilers='*,-banana'\n"
                "  kc up --pods=simulate --simulated-nodes=100\n"
                "  kc up --without=hub,pods\n",
    KC_FLAGS(flags),
    KC_FLAG_PARTS(parts),
    KC_FLAG_CHANGES(changes),
    .size = sizeof(kc__up_options),
};

/* Pods are a controller among the others. */
static void settle_pods(kc__up_options *o)
{
    if (o->without[KC__UP_PODS])
        o->controllers.pods.mode = KC_PODS_NONE;
    if (o->without[KC__UP_CONTROLLERS])
        o->controllers.names = "pods";
    if (o->controllers.pods.folder && !*o->controllers.pods.folder)
        o->controllers.pods.folder = NULL;
}

/* Before anything is made for them. */
static int check_controllers(const kc__up_options *o, kc_error *err)
{
    enum { MAX = 64 };
    const char *names[MAX];
    bool chosen[MAX];
    size_t n = 0;
    while (n < MAX && kc_controllers_name(n)) {
        names[n] = kc_controllers_name(n);
        n++;
    }
    return kc_choose(o->controllers.names, "controller", names, n, chosen, err) < 0
               ? kc_error_wrap(err, "--controllers")
               : 0;
}

int kc__up_options_check(kc__up_options *o, kc_error *err)
{
    settle_pods(o);
    return check_controllers(o, err) < 0 ? -1 : kc__apiserver_options_check(&o->server, err);
}
