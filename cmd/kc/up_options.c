/* SPDX-License-Identifier: Apache-2.0 */
/*
 * up_options.c: the flags of `kc up`: its own, those of `kc apiserver`, and those of `kc
 * controllers` about controllers and pods.
 *
 * Some defaults differ, because `kc up` serves one person on one machine: data goes to ./data, pods
 * run as processes if kc runs as root, and loopback clients need no credentials. Where a pod may
 * run as a trusted user, loopback clients need credentials as with `kc apiserver`.
 *
 * To add a part that --without excludes: a value of kc__cli_up_part, a row of `part_choices`.
 */
#include "up_options.h"

#include "command.h"

#include "kc/controllers.h"
#include "kc/select_names.h"

#include <stddef.h>
#include <unistd.h>

#define FIELD(name)   .offset = offsetof(kc__cli_up_options, name)
#define PARTS         "Parts"
#define MANIFESTS     "Manifests"
#define RECONCILERS   "Reconcilers"
#define OBSERVABILITY "Observability"

/* In the order of kc__cli_up_part. */
static const kc__cli_flag_choice part_choices[KC__CLI_UP_PARTS + 1] = {
    [KC__CLI_UP_HUB] = {"hub", KC__CLI_UP_HUB, "all reconcilers"},
    [KC__CLI_UP_CONTROLLERS] = {"controllers", KC__CLI_UP_CONTROLLERS, "built-in controllers"},
    [KC__CLI_UP_PODS] = {"pods", KC__CLI_UP_PODS, "the node"},
    [KC__CLI_UP_INITIAL] = {"initial", KC__CLI_UP_INITIAL,
                            "definitions and objects that come with kc"},
    [KC__CLI_UP_NETWORKS] = {"network-service", KC__CLI_UP_NETWORKS,
                             "the built-in network service"},
};

static int parse_parts(const char *text, void *ret, kc_error *err)
{
    const char *names[KC__CLI_UP_PARTS];
    for (size_t i = 0; i < KC__CLI_UP_PARTS; i++)
        names[i] = part_choices[i].name;
    return kc_select_names(text, "part", names, KC__CLI_UP_PARTS, ret, err);
}

static const kc__cli_flag flags[] = {
    {"without", .argument = "PARTS", .group = PARTS, FIELD(without), .choices = part_choices,
     .is_list = true, .parse = parse_parts, .help = "comma-separated list of parts not to start"},

    {"manifests", .argument = "DIR", .group = MANIFESTS, FIELD(manifests.dir),
     .parse = kc__cli_flag_text, .values = "DIR",
     .help = "directory of manifests to apply, again after each change, by server-side apply; "
             "subdirectories included",
     .details = "Files named *.yaml, *.yml and *.json count, unless their names start with a dot. "
                "Objects that leave the directory are deleted, but nothing is deleted while a file "
                "is invalid or an object is refused. Errors are Events of the ConfigMap "
                "kc-manifests in kube-system, the parent of the apply set. kc-apply-dir(8) "
                "describes the rules."},
    {"manifests-prune", .initial = "true", .group = MANIFESTS, FIELD(manifests.prune),
     .parse = kc__cli_flag_switch, .help = "delete objects that left the directory of manifests"},
    {"manifests-resync", .argument = "DURATION", .initial = "10m0s", .group = MANIFESTS,
     FIELD(manifests.resync), .parse = kc__cli_flag_resync,
     .help = "interval at which objects of the manifests that were changed on the server are "
             "restored; at least 1m"},

    {"reconcilers", .argument = "NAMES", .group = RECONCILERS, FIELD(reconcilers),
     .parse = kc__cli_flag_text,
     .help = "comma-separated list of reconcilers to run ('kc hub --list' prints them); '*' "
             "selects all, '-NAME' excludes one; defaults to the config file's list"},
    {"config", 'c', .argument = "FILE", .group = RECONCILERS, FIELD(config),
     .parse = kc__cli_flag_text, .values = "FILE", .help = "config file, as for 'kc hub'",
     .details = "Its kubeconfig and log settings are ignored."},
    {"plugin", .argument = "FILES", .group = RECONCILERS, FIELD(plugins),
     .parse = kc__cli_flag_text, .values = "FILE",
     .help = "colon-separated list of shared objects with further reconcilers",
     .details = "The files and the directories above them must belong to root or to the user that "
                "runs kc, and no other user may write to them."},
    {"network-service", .argument = "URL", .group = RECONCILERS, FIELD(network_service),
     .parse = kc__cli_flag_text,
     .help = "network service for the reconciler 'network'; defaults to the config file's, then "
             "to a built-in one"},
    {"network-service-bind-address", .argument = "ADDRESS", .initial = "127.0.0.1:0",
     .group = RECONCILERS, FIELD(network_service_address), .parse = kc__cli_flag_text,
     .help = "address and port of the built-in network service; port 0 selects a free one"},
    {"network-service-token-file", .argument = "FILE", .group = RECONCILERS,
     FIELD(network_service_token_file), .parse = kc__cli_flag_text, .values = "FILE",
     .help = "bearer token file of the network service; defaults to the config file's, then, for "
             "the built-in one, to networks.token in --file-rootpath, which is created with mode "
             "0600"},

    {"metrics-bind-address", .argument = "ADDRESS", .group = OBSERVABILITY, FIELD(metrics_address),
     .parse = kc__cli_flag_text,
     .help = "further address and port of /metrics, such as 127.0.0.1:18001; 0 disables it; "
             "defaults to the config file's, if there is one"},
    {"health-probe-bind-address", .argument = "ADDRESS", .group = OBSERVABILITY,
     FIELD(health_address), .parse = kc__cli_flag_text,
     .help = "address and port of /healthz, /readyz and /debug/queue of the reconcilers and "
             "controllers; 0 disables it; defaults to the config file's, if there is one"},
};

static const kc__cli_flag_part parts[] = {
    {&kc__cli_apiserver_flags, offsetof(kc__cli_up_options, server)},
    {&kc__cli_authn_part,
     offsetof(kc__cli_up_options, server) + offsetof(kc__cli_apiserver_options, authn)},
    {&kc__cli_audit_flags, offsetof(kc__cli_up_options, server.audit)},
    {&kc__cli_etcd_flags, offsetof(kc__cli_up_options, server.etcd)},
    {&kc__cli_service_flags, offsetof(kc__cli_up_options, server.services)},
    {&kc__cli_authz_part,
     offsetof(kc__cli_up_options, server) + offsetof(kc__cli_apiserver_options, authz)},
    {&kc__cli_controllers_part, offsetof(kc__cli_up_options, controllers)},
    {&kc__cli_signing_part, offsetof(kc__cli_up_options, signing)},
};

static const kc__cli_flag_change changes[] = {
    {"file-rootpath", "./data",
     "directory for all data of the control plane; created with mode 0700 if missing", NULL},
    {"encryption-provider-config", NULL,
     "encryption of stored objects: an EncryptionConfiguration of apiserver.config.k8s.io/v1; "
     "defaults to encryption.yaml in --file-rootpath, which is created with a key for Secrets",
     NULL},
    {"authn-allow-localhost", "true", NULL,
     "It has no effect where a pod can run as a trusted user: if pods are processes and kc does "
     "not run as root, or with --pods-allow-root. Standard output says so; use admin.kubeconfig "
     "then."},
    {"v", NULL, "log verbosity; 0 logs warnings and errors only, 6 and more log each request",
     NULL},
    {"pods", "auto", NULL, NULL},
    {"pods-placeholder", "true", NULL, NULL},
    {"node-client-ca-file", NULL,
     "certificate authority (PEM) for the API server's client certificate; defaults to the one "
     "that this process creates",
     NULL},
    {"pods-dir", NULL,
     "directory for volumes and logs of pods; defaults to pods in --file-rootpath", NULL},
};

const kc__cli_flag_set kc__cli_up_flags = {
    .verb = "up",
    .synopsis = "Runs a complete control plane in one process: API server, built-in controllers, "
                "all reconcilers, and\na node whose pods are processes of this machine (simulated "
                "unless kc runs as root). Ctrl-C stops it;\nthe next start resumes from the same "
                "data.",
    .examples = "  # Data in ./data\n"
                "  kc up\n"
                "  kubectl -s http://127.0.0.1:6080 get nodes\n"
                "\n"
                "  # Another directory, all reconcilers except one\n"
                "  kc up --file-rootpath=/tmp/kc --reconcilers='*,-banana'\n"
                "\n"
                "  # 100 simulated nodes\n"
                "  kc up --pods=simulate --simulated-nodes=100\n"
                "\n"
                "  # API server and built-in controllers only\n"
                "  kc up --without=hub,pods\n"
                "\n"
                "  # An appliance: apply the manifests of a directory and follow their changes\n"
                "  kc up --manifests=/etc/kc/manifests\n",
    KC__CLI_FLAGS(flags),
    KC__CLI_FLAG_PARTS(parts),
    KC__CLI_FLAG_CHANGES(changes),
    .size = sizeof(kc__cli_up_options),
};

/* Excludes pods and controllers as --without says, and resolves --pods=auto. */
static void settle_pods(kc__cli_up_options *o)
{
    if (o->without[KC__CLI_UP_PODS])
        o->controllers.pods.mode = KC_PODS_NONE;
    o->pods_need_root = o->controllers.pods.mode == KC_PODS_AUTO;
    o->controllers.pods.mode = kc_pods_resolve_mode(&o->controllers.pods);
    o->pods_need_root = o->pods_need_root && o->controllers.pods.mode == KC_PODS_SIMULATE;
    if (o->without[KC__CLI_UP_CONTROLLERS])
        o->controllers.names = "pods";
    if (o->controllers.pods.dir && !*o->controllers.pods.dir)
        o->controllers.pods.dir = NULL;
}

/* Disables loopback trust, which relies on uids, if a pod can have the same uid. */
static void settle_localhost(kc__cli_up_options *o)
{
    o->server.pod_uids = o->controllers.pods.uids;
    o->server.localhost_off = kc__cli_pods_share_users(&o->controllers.pods);
}

static int check_localhost(const kc__cli_up_options *o, kc_error *err)
{
    const kc__cli_apiserver_options *s = &o->server;
    const bool has_tokens = s->token_file && *s->token_file;
    if (!s->localhost_off || !s->allow_localhost || s->secure_port || has_tokens || s->anonymous)
        return 0;
    return kc_error_set(err, KC_INVALID,
                        "%s disables --authn-allow-localhost; with --secure-port=0 and without "
                        "--token-auth-file no client could authenticate",
                        o->controllers.pods.allow_root ? "--pods-allow-root"
                                                       : "--unsafe-pods-can-read-credentials");
}

int kc__cli_up_options_check(kc__cli_up_options *o, kc_error *err)
{
    settle_pods(o);
    settle_localhost(o);
    o->server.encryption_create = true;
    if (kc_pods_check_user(&o->controllers.pods, err) < 0 || check_localhost(o, err) < 0)
        return kc_error_result(err);
    return kc__cli_apiserver_options_check(&o->server, err);
}
