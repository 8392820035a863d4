/* SPDX-License-Identifier: Apache-2.0 */
/*
 * controllers_options.c: the flags about controllers and pods that `kc controllers` and `kc up`
 * share.
 *
 * To add one: a row here, and a paragraph in docs/man/kc-controllers.8 and docs/man/kc-up.8.
 */
#include "controllers_options.h"

#include "kc/quantity.h"

#include <stddef.h>

#define FIELD(name) .offset = offsetof(kc_controllers_opts, name)
#define CHOICE      "Controllers"
#define PODS        "Pods"

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
    {"controllers", .argument = "NAMES", .initial = "*", .group = CHOICE, FIELD(names),
     .parse = kc_flag_text,
     .help = "which, with commas between them: '*' is all, '-name' not this one"},
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
    {"pods-stand-in", .group = PODS, FIELD(pods.stand_in), .parse = kc_flag_switch,
     .help = "where a container says no command, a process stands in that only waits to be "
             "stopped; without it such a container is refused"},
};

const kc_flag_set kc__controllers_part = {KC_FLAGS(flags), .size = sizeof(kc_controllers_opts)};
