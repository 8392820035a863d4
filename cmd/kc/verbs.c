/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verbs.c: the table of verbs, and the verbs `help` and `version`.
 *
 * To add a verb: a row of kc__cli_verbs, a function kc__cli_command_NAME(argc, argv) and a table of
 * flags (flags.h) in a file of its own, NAME.c, and a man page, docs/man/kc-NAME.8, with the two
 * marker lines between which scripts/man writes the flags.
 */
#include "command.h"

const kc__cli_command kc__cli_verbs[] = {
    {"alpha", "scaffold a project again, as this version of kc would", kc__cli_command_alpha,
     &kc__cli_alpha_flags},
    {"apiserver", "run the API server only", kc__cli_command_apiserver, &kc__cli_apiserver_flags},
    {"apply-dir", "apply a directory of manifests, once or after each change",
     kc__cli_command_apply_dir, &kc__cli_apply_dir_flags},
    {"cel", "evaluate an expression of the Common Expression Language", kc__cli_command_cel,
     &kc__cli_cel_flags},
    {"certs", "list, renew and create the certificates of API servers", kc__cli_command_certs,
     &kc__cli_certs_flags},
    {"completion", "print a shell completion script: bash, zsh or fish", kc__cli_command_completion,
     &kc__cli_completion_flags},
    {"controllers", "run the built-in controllers, the scheduler and nodes",
     kc__cli_command_controllers, &kc__cli_controllers_flags},
    {"create", "add a kind or webhooks to a project", kc__cli_command_create,
     &kc__cli_create_flags},
    {"edit", "change the settings of a project", kc__cli_command_edit, &kc__cli_edit_flags},
    {"generate", "generate code, CRDs, roles and samples from headers of API types",
     kc__cli_command_generate, &kc__cli_generate_flags},
    {"help", "print the commands, or the help of one", kc__cli_verb_help, &kc__cli_help_flags},
    {"hub", "run all reconcilers in one process", kc__cli_command_hub, &kc__cli_hub_flags},
    {"init", "create a controller project", kc__cli_command_init, &kc__cli_init_flags},
    {"login", "log in with a password and write the kubeconfig", kc__cli_command_login,
     &kc__cli_login_flags},
    {"logout", "end the session of kc login", kc__cli_command_logout, &kc__cli_logout_flags},
    {"networks", "run a small network service for the reconciler 'network'",
     kc__cli_command_networks, &kc__cli_networks_flags},
    {"run", "run one reconciler", kc__cli_command_run, &kc__cli_run_flags},
    {"store", "maintain stored objects: back up, restore, check, export, import, migrate, rewrite",
     kc__cli_command_store, &kc__cli_store_flags},
    {"token", "print a temporary token of a user", kc__cli_command_token, &kc__cli_token_flags},
    {"up", "run a complete control plane in one process", kc__cli_command_up, &kc__cli_up_flags},
    {"user", "manage the users that log in with a password", kc__cli_command_user,
     &kc__cli_user_flags},
    {"version", "print the version", kc__cli_verb_version, &kc__cli_version_flags},
};
const size_t kc__cli_n_verbs = KC_COUNT(kc__cli_verbs);

static int unknown_verb(const char *name)
{
    const char *names[KC_COUNT(kc__cli_verbs)];
    for (size_t i = 0; i < KC_COUNT(kc__cli_verbs); i++)
        names[i] = kc__cli_verbs[i].name;
    const char *nearest = kc_str_nearest(kc_cstr(name), names, KC_COUNT(names));
    fprintf(stderr, "kc: unknown command '%s'", name);
    if (nearest)
        fprintf(stderr, "; did you mean '%s'?", nearest);
    fprintf(stderr, " ('kc help' lists the commands)\n");
    return 2;
}

static const kc__cli_command *find_verb(const char *name)
{
    for (size_t i = 0; i < KC_COUNT(kc__cli_verbs); i++)
        if (!strcmp(name, kc__cli_verbs[i].name))
            return &kc__cli_verbs[i];
    return NULL;
}

int kc__cli_usage_error(const char *verb, const kc_error *err)
{
    fprintf(stderr, "kc %s: %s\n", verb, kc_error_text(err));
    return 2;
}

/* ---- version ---- */

const kc__cli_flag_set kc__cli_version_flags = {
    .verb = "version",
    .synopsis = "Prints the version of kc.",
    .examples = "  kc version\n",
};

int kc__cli_verb_version(int argc, char **argv)
{
    kc_scoped(kc_error) err = {0};
    char none[1];
    const int parsed = kc__cli_flags_parse(&kc__cli_version_flags, argc, argv, none, &err);
    if (parsed < 0)
        return kc__cli_usage_error("version", &err);
    if (parsed > 0)
        kc__cli_flags_help(&kc__cli_version_flags, stdout);
    else
        puts("kc " KC_VERSION);
    return 0;
}

/* ---- help ---- */

typedef struct help_options {
    kc__cli_flag_operands operands;
    bool mdoc;
} help_options;

static const kc__cli_flag help_flags[] = {
    {"mdoc", .parse = kc__cli_flag_switch, .offset = offsetof(help_options, mdoc),
     .help = "print the flags of COMMAND as mdoc(7) sections, for its man page"},
};

const kc__cli_flag_set kc__cli_help_flags = {
    .verb = "help",
    .operands = "[COMMAND]",
    .operands_at = offsetof(help_options, operands),
    .synopsis = "Prints the list of commands, or the help of one. 'kc help COMMAND' is 'kc COMMAND "
                "--help'.",
    .examples = "  kc help\n"
                "  kc help apiserver\n",
    KC__CLI_FLAGS(help_flags),
    .size = sizeof(help_options),
};

static void print_overview(void)
{
    puts("kc: a Kubernetes-style control plane in one small binary\n"
         "\n"
         "Usage: kc COMMAND [FLAGS]\n"
         "\n"
         "Commands:");
    for (size_t i = 0; i < KC_COUNT(kc__cli_verbs); i++)
        printf("  %-12s %s\n", kc__cli_verbs[i].name, kc__cli_verbs[i].summary);
    puts("\n"
         "'kc COMMAND --help' prints the flags of a command.\n"
         "\n"
         "Examples:\n"
         "  kc up                                     # a complete control plane, data in ./data\n"
         "  kc apiserver --file-rootpath=/tmp/kc      # an API server\n"
         "  kc controllers --pods=simulate            # controllers, scheduler, a simulated node\n"
         "  kc apply-dir manifests --watch            # keep a server in step with a directory\n"
         "  kc hub --list                             # list the reconcilers\n"
         "  kc init --domain example.io               # create a controller project\n"
         "  kc generate crd api                       # CRDs of the types in api/\n"
         "  source <(kc completion bash)              # complete arguments in this shell");
}

int kc__cli_verb_help(int argc, char **argv)
{
    kc_scoped(kc_error) err = {0};
    help_options o;
    const int parsed = kc__cli_flags_parse(&kc__cli_help_flags, argc, argv, &o, &err);
    if (parsed < 0)
        return kc__cli_usage_error("help", &err);
    if (parsed > 0)
        kc__cli_flags_help(&kc__cli_help_flags, stdout);
    else if (!o.operands.n)
        print_overview();
    if (parsed > 0 || !o.operands.n)
        return 0;
    const kc__cli_command *verb = find_verb(o.operands.items[0]);
    if (!verb)
        return unknown_verb(o.operands.items[0]);
    if (o.mdoc)
        kc__cli_flags_mdoc(verb->flags, stdout);
    else
        kc__cli_flags_help(verb->flags, stdout);
    return 0;
}

int kc__cli_run_verb(int argc, char **argv)
{
    char *no_arguments[] = {argv[0], NULL};
    if (argc < 2 || !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
        return kc__cli_verb_help(1, no_arguments);
    if (!strcmp(argv[1], "--version"))
        return kc__cli_verb_version(1, no_arguments);
    const kc__cli_command *verb = find_verb(argv[1]);
    return verb ? verb->run(argc - 1, argv + 1) : unknown_verb(argv[1]);
}
