/* SPDX-License-Identifier: Apache-2.0 */
/*
 * controllers.c: `kc controllers` runs the built-in controllers and the scheduler as a separate
 * process, against the API server of a kubeconfig. Replicas elect a leader; each replica runs its
 * nodes.
 */
#include "account_tokens.h"
#include "certificate_signer.h"
#include "command.h"
#include "controllers_options.h"
#include "hidden_paths.h"
#include "localhost_users.h"
#include "trust.h"

#include "kc/kubeconfig.h"
#include "kc/log.h"

#include <stddef.h>

typedef struct cli_controllers_options {
    const char *kubeconfig, *context, *server;
    bool leader_elect, list;
    const char *lease_namespace;
    const char *account_key_file; /* Private key of service-account tokens; NULL: none. */
    kc_controllers_opts controllers;
    kc__cli_signing_options signing;
    const char *metrics_address, *health_address;
    int verbosity;
    kc_log_format log_format;
} cli_controllers_options;

#define FIELD(name)   .offset = offsetof(cli_controllers_options, name)
#define SERVER        "API server"
#define CONTROLLERS   "Controllers"
#define OBSERVABILITY "Observability"

static const kc__cli_flag flags[] = {
    {"kubeconfig", .argument = "FILE", .group = SERVER, FIELD(kubeconfig),
     .parse = kc__cli_flag_text, .values = "FILE",
     .help = "kubeconfig file; defaults to the one that kubectl uses"},
    {"context", .argument = "NAME", .group = SERVER, FIELD(context), .parse = kc__cli_flag_text,
     .help = "context of the kubeconfig; defaults to its current context"},
    {"server", 's', .argument = "URL", .group = SERVER, FIELD(server), .parse = kc__cli_flag_text,
     .help = "address of the API server, such as http://127.0.0.1:6080; overrides the kubeconfig"},
    {"leader-elect", .initial = "true", .group = SERVER, FIELD(leader_elect),
     .parse = kc__cli_flag_switch,
     .help = "elect a leader: of several replicas only the leader runs controllers"},
    {"leader-elect-namespace", .argument = "NAME", .initial = "kube-system", .group = SERVER,
     FIELD(lease_namespace), .parse = kc__cli_flag_text,
     .help = "namespace of the Lease for leader election"},

    {"service-account-private-key-file", .argument = "FILE", .group = CONTROLLERS,
     FIELD(account_key_file), .parse = kc__cli_flag_text, .values = "FILE",
     .help = "private key that signs tokens for Secrets of the type "
             "kubernetes.io/service-account-token, PEM: sa.key in the server's --cert-dir; without "
             "it such Secrets are not filled"},
    {"list", .group = CONTROLLERS, FIELD(list), .parse = kc__cli_flag_switch,
     .help = "print the controllers and exit"},
};

static const kc__cli_flag observability_flags[] = {
    {"metrics-bind-address", .argument = "ADDRESS", .group = OBSERVABILITY, FIELD(metrics_address),
     .parse = kc__cli_flag_text,
     .help = "address and port of /metrics, such as 127.0.0.1:18001; not served by default"},
    {"health-probe-bind-address", .argument = "ADDRESS", .group = OBSERVABILITY,
     FIELD(health_address), .parse = kc__cli_flag_text,
     .help = "address and port of /healthz, /readyz and /debug/queue, such as 127.0.0.1:18002; not "
             "served by default",
     .details = "/healthz and /readyz need no authentication. The other pages, and /metrics, "
                "accept loopback clients that run as root or as this process's user, and bearer "
                "tokens that the API server accepts (TokenReview) for the path "
                "(SubjectAccessReview). Requests from web pages and proxies are refused. Where "
                "pods run as processes of the same user, loopback clients need a token too."},
    {"v", 'v', .argument = "N", .initial = "0", .group = OBSERVABILITY, FIELD(verbosity),
     .choices = kc__cli_flag_verbosities, .help = "log verbosity"},
    {"log-format", .argument = "FORMAT", .initial = "console", .group = OBSERVABILITY,
     FIELD(log_format), .choices = kc__cli_flag_log_formats, .help = "log format"},
};
static const kc__cli_flag_set observability_part = {KC__CLI_FLAGS(observability_flags)};

static const kc__cli_flag_part parts[] = {
    {&kc__cli_controllers_part, offsetof(cli_controllers_options, controllers)},
    {&kc__cli_signing_part, offsetof(cli_controllers_options, signing)},
    {&observability_part}};

const kc__cli_flag_set kc__cli_controllers_flags = {
    .verb = "controllers",
    .synopsis = "Runs the built-in controllers against any server of the Kubernetes API: garbage "
                "collector,\nnamespaces, service accounts, deployments, replica sets, scheduler, "
                "node lifecycle; and nodes\nthat run pods.",
    .examples = "  # Pods as processes of this machine\n"
                "  kc controllers -s http://127.0.0.1:6080 --pods=process --pods-dir=/tmp/pods\n"
                "\n"
                "  # 100 simulated nodes\n"
                "  kc controllers --pods=simulate --simulated-nodes=100\n"
                "\n"
                "  # All controllers except the scheduler\n"
                "  kc controllers --kubeconfig=site.yaml --controllers='*,-scheduler'\n",
    KC__CLI_FLAGS(flags),
    KC__CLI_FLAG_PARTS(parts),
    .size = sizeof(cli_controllers_options),
};

static const kc__cli_secret_file secrets[] = {
    {"--kubeconfig", offsetof(cli_controllers_options, kubeconfig), KC__CLI_SECRET_KUBECONFIG},
    {"--service-account-private-key-file", offsetof(cli_controllers_options, account_key_file),
     KC__CLI_SECRET},
    {"--cluster-signing-key-file", offsetof(cli_controllers_options, signing.key_file),
     KC__CLI_SECRET},
};

const kc__cli_secret_files kc__cli_controllers_secrets = {secrets, KC_COUNT(secrets)};

static int print_controllers(void)
{
    for (size_t i = 0; kc_controllers_name(i); i++)
        printf("%-17s %s\n", kc_controllers_name(i), kc_controllers_summary(i));
    return 0;
}

static kc_config *load_config(const cli_controllers_options *o, kc_error *err)
{
    return kc_config_load(
        &(kc_config_opts){.path = o->kubeconfig, .context = o->context, .server = o->server}, err);
}

static kc_manager *cli_controllers_make_manager(const cli_controllers_options *o,
                                                const kc_config *config, kc_log *log, kc_error *err)
{
    return kc_manager_new(
        &(kc_manager_opts){
            .name = "kc-controllers",
            .config = config,
            .log = log,
            .metrics_address = o->metrics_address,
            .health_address = o->health_address,
            .no_local_trust = kc__cli_pods_share_users(&o->controllers.pods) != NULL,
            .election = {.name = o->leader_elect ? "kc-controllers" : NULL,
                         .ns = o->lease_namespace,
                         .release = true},
        },
        err);
}

static int add_controllers(const cli_controllers_options *o, const kc_config *config,
                           kc__sa_tokens *accounts, const kc__cli_signer *signer,
                           kc_manager *manager, kc_error *err)
{
    kc_scoped(kc_buf) root_ca = {0};
    kc_scoped(kc__cli_hidden_paths) hidden = {0};
    if (kc_config_authority(config, &root_ca, err) < 0)
        return kc_error_result(err);
    kc__cli_hidden_paths_add_files(&hidden, &kc__cli_controllers_secrets, o);
    kc__cli_hidden_paths_add_client(&hidden, config);
    kc__cli_hidden_paths_add_usual(&hidden);
    kc_controllers_opts opts = o->controllers;
    opts.root_ca = kc_buf_cstr(&root_ca);
    opts.sign_account_token = accounts ? kc__cli_sign_account_token : NULL;
    opts.sign_account_token_user = accounts;
    opts.certificate_signer = signer->ca ? &signer->signer : NULL;
    opts.pods.api_server = config->server;
    opts.pods.hidden = kc__cli_hidden_paths_end(&hidden);
    return kc_controllers_add(manager, &opts, err);
}

/* The process cannot see the flags of the API server. */
static void warn_of_shared_users(const cli_controllers_options *o, kc_log *log)
{
    const char *why = kc__cli_pods_share_users(&o->controllers.pods);
    if (why)
        kc_log_warn(log,
                    "pods can run as a user that an API server of this machine may trust on "
                    "loopback; they are administrators of one with --authn-allow-localhost",
                    kc_kv("reason", why));
}

static int cli_controllers_run(const cli_controllers_options *o, kc_error *err)
{
    kc_auto(kc_config) *config = load_config(o, err);
    if (!config)
        return kc_error_result(err);
    kc_auto(kc_log) *log =
        kc_log_new(&(kc_log_opts){.verbosity = o->verbosity, .format = o->log_format});
    if (kc__cli_check_secret_files(&kc__cli_controllers_secrets, o, log, err) < 0)
        return kc_error_result(err);
    warn_of_shared_users(o, log);
    kc_auto(kc__sa_tokens) *accounts = NULL;
    if (o->account_key_file && !(accounts = kc__cli_account_tokens_read(o->account_key_file, err)))
        return kc_error_wrap(err, "--service-account-private-key-file");
    kc_scoped(kc__cli_signer) signer = {0};
    if (kc__cli_signer_open(&signer, &o->signing, NULL, NULL, err) < 0)
        return kc_error_result(err);
    kc_auto(kc_manager) *manager = cli_controllers_make_manager(o, config, log, err);
    if (!manager || add_controllers(o, config, accounts, &signer, manager, err) < 0)
        return kc_error_result(err);
    return kc_manager_run(manager, err);
}

int kc__cli_command_controllers(int argc, char **argv)
{
    kc_scoped(kc_error) err = {0};
    cli_controllers_options o;
    const int parsed = kc__cli_flags_parse(&kc__cli_controllers_flags, argc, argv, &o, &err);
    if (parsed < 0)
        return kc__cli_usage_error("controllers", &err);
    if (parsed == 1) {
        kc__cli_flags_help(&kc__cli_controllers_flags, stdout);
        return 0;
    }
    if (o.list)
        return print_controllers();
    if (cli_controllers_run(&o, &err) == 0)
        return 0;
    fprintf(stderr, "kc controllers: %s\n", kc_error_text(&err));
    return 1;
}
