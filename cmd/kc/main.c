/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c: the command. Finds the verb and runs it.
 *
 * A verb is a row of `verbs` and a function kc_verb_NAME(argc, argv) in a file of its own, NAME.c.
 * It gets the arguments from its own name on and returns the exit code: 0 done, 1 failed, 2 called
 * wrongly.
 */
#include "kc/str.h"

#include <stdio.h>

static int print_help(int argc, char **argv);
static int print_version(int argc, char **argv);

static const struct verb {
    const char *name, *summary;
    int (*run)(int argc, char **argv);
} verbs[] = {
    {"help", "what kc can do", print_help},
    {"version", "the version of this binary", print_version},
};

static int print_version(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    puts("kc " KC_VERSION);
    return 0;
}

static int print_help(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    puts("kc: a Kubernetes-style control plane in one small binary\n"
         "\n"
         "Usage: kc VERB [FLAGS]\n");
    for (size_t i = 0; i < KC_COUNT(verbs); i++)
        printf("  %-10s %s\n", verbs[i].name, verbs[i].summary);
    puts("\n"
         "Examples:\n"
         "  kc version\n"
         "\n"
         "The API server (kc apiserver), the whole plane in one process (kc up) and the tools for "
         "writing\n"
         "controllers are to come; what is there now is the foundation they stand on: see "
         "README.md.");
    return 0;
}

static int unknown_verb(const char *name)
{
    const char *names[KC_COUNT(verbs)];
    for (size_t i = 0; i < KC_COUNT(verbs); i++)
        names[i] = verbs[i].name;
    const char *nearest = kc_str_nearest(kc_cstr(name), names, KC_COUNT(names));
    fprintf(stderr, "kc: there is no verb '%s'", name);
    if (nearest)
        fprintf(stderr, "; did you mean '%s'?", nearest);
    fprintf(stderr, " ('kc help' lists them)\n");
    return 2;
}

int main(int argc, char **argv)
{
    if (argc < 2 || !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
        return print_help(argc, argv);
    if (!strcmp(argv[1], "--version"))
        return print_version(argc, argv);
    for (size_t i = 0; i < KC_COUNT(verbs); i++)
        if (!strcmp(argv[1], verbs[i].name))
            return verbs[i].run(argc - 1, argv + 1);
    return unknown_verb(argv[1]);
}
