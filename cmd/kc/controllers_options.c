/* SPDX-License-Identifier: Apache-2.0 */
/*
 * controllers_options.c: the flags about controllers and pods that `kc controllers` and `kc up`
 * share.
 *
 * To add a flag: a row here; then run scripts/man.
 */
#include "controllers_options.h"

#include "kc/quantity.h"

#include <stddef.h>

#define FIELD(name) .offset = offsetof(kc_controllers_opts, name)
#define CONTROLLERS "Controllers"
#define PODS        "Pods"
#define MAX_UIDS    (1 << 24)

static int parse_count(const char *text, void *ret, kc_error *err)
{
    int64_t n;
    if (!kc_str_to_i64(kc_cstr(text), &n) || n < 1 || n > 100000)
        return kc__cli_flag_invalid(text, "an integer from 1 to 100000", err);
    *(int *)ret = (int)n;
    return 0;
}

static int parse_cpu(const char *text, void *ret, kc_error *err)
{
    kc_quantity cpus;
    if (kc_quantity_parse(kc_cstr(text), &cpus, NULL) < 0 || kc_quantity_sign(cpus) <= 0)
        return kc__cli_flag_invalid(text, "a quantity of CPUs above 0, such as 500m or 4", err);
    *(int64_t *)ret = kc_quantity_milli_value(cpus);
    return 0;
}

static int parse_bytes(const char *text, void *ret, kc_error *err)
{
    kc_quantity bytes;
    if (kc_quantity_parse(kc_cstr(text), &bytes, NULL) < 0 || kc_quantity_sign(bytes) <= 0)
        return kc__cli_flag_invalid(text, "a quantity of bytes above 0, such as 512Mi or 16Gi",
                                    err);
    *(int64_t *)ret = kc_quantity_value(bytes);
    return 0;
}

static const kc__cli_flag_choice pod_modes[] = {
    {"none", KC_PODS_NONE, "no node"},
    {"simulate", KC_PODS_SIMULATE, "simulated nodes: pods change their phase, no process runs"},
    {"process", KC_PODS_PROCESS, "one node, this machine: containers are processes; requires root"},
    {"auto", KC_PODS_AUTO, "process if kc runs as root, otherwise simulate"},
    {NULL},
};

/* BASE:COUNT. The pod runtime checks the range against the machine's accounts. */
static int parse_uids(const char *text, void *ret, kc_error *err)
{
    kc_str rest = kc_cstr(text);
    uint64_t base, count;
    const bool ok = kc_str_to_u64(kc_str_cut(&rest, ':'), &base) && rest.p &&
                    kc_str_to_u64(rest, &count) && base > 0 && count > 0 && count <= MAX_UIDS &&
                    base + count <= UINT32_MAX;
    if (!ok)
        return kc__cli_flag_invalid(
            text, "a range BASE:COUNT of at most 16777216 uids, such as 2000000000:65536", err);
    *(kc_uid_range *)ret = (kc_uid_range){(uint32_t)base, (uint32_t)count};
    return 0;
}
_Static_assert(KC_PODS_UID_BASE == 2000000000 && KC_PODS_UID_COUNT == 65536 && MAX_UIDS == 16777216,
               "the texts of --pod-uid-range name these numbers");

static const kc__cli_flag flags[] = {
    {"controllers", .argument = "NAMES", .initial = "*", .group = CONTROLLERS, FIELD(names),
     .choice_name = kc_controllers_name, .is_list = true, .parse = kc__cli_flag_text,
     .help = "comma-separated list of controllers to run; '*' selects all, '-NAME' excludes one"},
    {"workers", .argument = "N", .initial = "5", .group = CONTROLLERS, FIELD(workers),
     .parse = parse_count, .help = "number of objects that a controller reconciles concurrently"},
    {"node-monitor-grace-period", .argument = "DURATION", .initial = "40s", .group = CONTROLLERS,
     FIELD(node_grace), .parse = kc__cli_flag_duration,
     .help = "time without a heartbeat after which a node becomes NotReady"},
    {"terminated-pod-gc-threshold", .argument = "N", .initial = "12500", .group = CONTROLLERS,
     FIELD(ended_pods), .parse = parse_count,
     .help = "number of terminated pods to keep; the oldest are deleted first"},

    {"pods", .argument = "MODE", .initial = "none", .group = PODS, FIELD(pods.mode),
     .choices = pod_modes, .help = "mode in which this process runs pods",
     .details = "Processes require root, because each pod gets a uid of its own."},
    {"node-name", .argument = "NAME", .group = PODS, FIELD(pods.node), .parse = kc__cli_flag_text,
     .help = "name of the node; defaults to the host name",
     .details = "The host name is lower-cased, with dashes for characters that a node name cannot "
                "have. Simulated nodes are named NAME-0, NAME-1 and so on."},
    {"node-cpu", .argument = "QUANTITY", .group = PODS, FIELD(pods.node_cpu), .parse = parse_cpu,
     .help = "CPU capacity of the node; defaults to this machine's, of a simulated node to 256"},
    {"node-memory", .argument = "QUANTITY", .group = PODS, FIELD(pods.node_memory),
     .parse = parse_bytes,
     .help = "memory capacity of the node; defaults to this machine's, of a simulated node to 1Ti"},
    {"node-pods", .argument = "N", .group = PODS, FIELD(pods.node_pods), .parse = parse_count,
     .help = "maximum number of pods on the node; defaults to 110, of a simulated node to 1000"},
    {"pods-address", .argument = "ADDRESS", .initial = "127.0.0.1:0", .group = PODS,
     FIELD(pods.address), .parse = kc__cli_flag_text,
     .help = "IP address and port at which the API server reaches the node for logs; port 0 "
             "selects a free one"},
    {"node-client-ca-file", .argument = "FILE", .group = PODS, FIELD(pods.client_ca_file),
     .parse = kc__cli_flag_text, .values = "FILE",
     .help = "certificate authority (PEM) for the API server's client certificate: "
             "node-client-ca.crt in the server's --cert-dir; without it the node serves no logs",
     .details = "The node serves logs to no other client. It reloads the file every minute."},
    {"simulated-nodes", .argument = "N", .initial = "1", .group = PODS, FIELD(pods.nodes),
     .parse = parse_count, .help = "number of simulated nodes"},
    {"simulated-start", .argument = "DURATION", .group = PODS, FIELD(pods.start_delay),
     .parse = kc__cli_flag_duration,
     .help = "time that a simulated container takes to start; defaults to none"},
    {"simulated-stop", .argument = "DURATION", .group = PODS, FIELD(pods.stop_delay),
     .parse = kc__cli_flag_duration,
     .help = "time that a simulated container takes to stop; defaults to none"},
    {"pods-dir", .argument = "DIR", .group = PODS, FIELD(pods.dir), .parse = kc__cli_flag_text,
     .values = "DIR",
     .help = "directory for volumes and logs of pods; required for --pods=process"},
    {"pods-image", .argument = "DIR", .initial = "/", .group = PODS, FIELD(pods.image),
     .parse = kc__cli_flag_text, .values = "DIR",
     .help = "root file system of all containers; images are never pulled"},
    {"pod-uid-range", .argument = "BASE:COUNT", .group = PODS, FIELD(pods.uids),
     .parse = parse_uids,
     .help = "uids for pods, one per pod; the range must contain no account of the machine; "
             "defaults to 2000000000:65536",
     .details = "A pod runs with the gid of the same number. A uid is reused when no file of its "
                "former pod is left."},
    {"pods-allow-root", .group = PODS, FIELD(pods.allow_root), .parse = kc__cli_flag_switch,
     .help = "allow pods to set runAsUser, root included, and to use hostPath",
     .details = "Directories that hold credentials of the control plane stay hidden."},
    {"unsafe-pods-can-read-credentials", .group = PODS, FIELD(pods.unsafe_can_read_credentials),
     .parse = kc__cli_flag_switch,
     .help = "allow --pods=process where pods can read keys, tokens, kubeconfigs and the store: "
             "required if kc does not run as root, because pods then share its user",
     .details =
         "Also required where the machine allows no mount namespaces and other users can "
         "read one of these files. Do not use it beside an API server that trusts this user on "
         "loopback (--authn-allow-localhost): its pods would be administrators there. 'kc up' "
         "disables that trust; 'kc controllers' cannot do so for a server that runs apart, and "
         "warns."},
    {"pods-placeholder", .group = PODS, FIELD(pods.placeholder), .parse = kc__cli_flag_switch,
     .help = "run a placeholder process for a container without a command; otherwise such a "
             "container is refused",
     .details = "There is no image whose entry point could run instead."},
};

const kc__cli_flag_set kc__cli_controllers_part = {KC__CLI_FLAGS(flags),
                                                   .size = sizeof(kc_controllers_opts)};
