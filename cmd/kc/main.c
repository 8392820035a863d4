/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c: the command. Finds the verb and runs it.
 *
 * To add a verb: a row of kc_verbs, a function kc_verb_NAME(argc, argv) in a file of its own,
 * NAME.c, and, if it has flags, their table (flags.h) and a man page, docs/man/kc-NAME.8.
 */
#include "verb.h"

static int print_help(int argc, char **argv);
static int print_version(int argc, char **argv);

const kc_verb kc_verbs[] = {
    {"alpha", "a project anew, as this kc would make it", kc_verb_alpha, &kc_alpha_flags,
     .words = "generate"},
    {"apiserver", "the API server alone", kc_verb_apiserver, &kc_apiserver_flags},
    {"completion", "a script that completes kc's arguments: bash, zsh or fish", kc_verb_completion,
     .words = "bash zsh fish"},
    {"controllers", "the controllers of a plane, against any server", kc_verb_controllers,
     &kc_controllers_flags},
    {"create", "a kind with its controller, or webhooks, for a project", kc_verb_create,
     &kc_create_flags, .words = "api webhook"},
    {"edit", "the settings of a project", kc_verb_edit, &kc_edit_flags},
    {"generate", "code, CRDs, roles and samples from headers of API types", kc_verb_generate,
     &kc_generate_flags, .words = "object crd rbac webhook sample types all"},
    {"help", "what kc can do", print_help},
    {"hub", "every reconciler, in one process", kc_verb_hub, &kc_hub_flags},
    {"init", "a new project, for controllers", kc_verb_init, &kc_init_flags},
    {"networks", "a small network service, for the reconciler network", kc_verb_networks,
     &kc_networks_flags},
    {"run", "one reconciler", kc_verb_run, &kc_run_flags},
    {"up", "a whole plane, in one process", kc_verb_up, &kc_up_flags},
    {"version", "the version of this binary", print_version},
};
const size_t kc_n_verbs = KC_COUNT(kc_verbs);

static int print_version(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    puts("kc " KC_VERSION);
    return 0;
}

static int unknown_verb(const char *name)
{
    const char *names[KC_COUNT(kc_verbs)];
    for (size_t i = 0; i < KC_COUNT(kc_verbs); i++)
        names[i] = kc_verbs[i].name;
    const char *nearest = kc_str_nearest(kc_cstr(name), names, KC_COUNT(names));
    fprintf(stderr, "kc: there is no verb '%s'", name);
    if (nearest)
        fprintf(stderr, "; did you mean '%s'?", nearest);
    fprintf(stderr, " ('kc help' lists them)\n");
    return 2;
}

static const kc_verb *find(const char *name)
{
    for (size_t i = 0; i < KC_COUNT(kc_verbs); i++)
        if (!strcmp(name, kc_verbs[i].name))
            return &kc_verbs[i];
    return NULL;
}

/* "kc help VERB" is "kc VERB --help". */
static int print_help(int argc, char **argv)
{
    if (argc == 2 && argv[1][0] != '-') {
        const kc_verb *verb = find(argv[1]);
        if (!verb)
            return unknown_verb(argv[1]);
        if (verb->flags)
            kc_flags_help(verb->flags, stdout);
        else
            printf("kc %s%s%s: %s\n", verb->name, verb->words ? " " : "",
                   verb->words ? verb->words : "", verb->summary);
        return 0;
    }
    puts("kc: a Kubernetes-style control plane in one small binary\n"
         "\n"
         "Usage: kc VERB [FLAGS]\n");
    for (size_t i = 0; i < KC_COUNT(kc_verbs); i++)
        printf("  %-12s %s\n", kc_verbs[i].name, kc_verbs[i].summary);
    puts("\n"
         "Examples:\n"
         "  kc up                                     a whole plane, kept in ./data\n"
         "  kc apiserver --file-rootpath=/tmp/kc      start an API server\n"
         "  kc apiserver --help                       all its flags\n"
         "  kc controllers --pods=simulate            deployments, a scheduler, nodes\n"
         "  kc hub --list                             which reconcilers there are\n"
         "  kc init --domain example.io               a project for controllers\n"
         "  kc generate crd api                       write CRDs of the types in api/\n"
         "  source <(kc completion bash)              complete arguments in this shell");
    return 0;
}

int kc_called_wrongly(const char *verb, const kc_error *err)
{
    fprintf(stderr, "kc %s: %s\n", verb, kc_error_text(err));
    return 2;
}

int main(int argc, char **argv)
{
    if (argc < 2 || !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
        return print_help(1, argv);
    if (!strcmp(argv[1], "--version"))
        return print_version(argc, argv);
    const kc_verb *verb = find(argv[1]);
    return verb ? verb->run(argc - 1, argv + 1) : unknown_verb(argv[1]);
}
