/* SPDX-License-Identifier: Apache-2.0 */
/*
 * completion.c: `kc completion SHELL`: a script for a shell, written from the tables of verbs and
 * flags, so a new flag is completed as soon as it is there.
 *
 * What a flag offers stands in its `values`: words, or FILE or FOLDER for names on disk.
 *
 * To add a shell: a row of `shells` and its writer.
 */
#include "verb.h"

typedef enum offer { OFFER_NOTHING, OFFER_WORDS, OFFER_FILES, OFFER_FOLDERS } offer;

static offer offer_of(const kc_flag *flag)
{
    if (!flag->argument || !flag->values)
        return OFFER_NOTHING;
    if (!strcmp(flag->values, "FILE"))
        return OFFER_FILES;
    return strcmp(flag->values, "FOLDER") != 0 ? OFFER_WORDS : OFFER_FOLDERS;
}

/* Text with a backslash before each of `special`, and quotes closed around single ones. */
static void put_escaped(const char *text, const char *special)
{
    for (; *text; text++) {
        if (*text == '\'')
            fputs("'\\'", stdout);
        else if (strchr(special, *text))
            putchar('\\');
        putchar(*text);
    }
}

/* ---- bash ---- */

static void bash_values(const kc_flag_set *set)
{
    kc_flag flag;
    for (size_t i = 0; kc_flag_at(set, i, &flag); i++) {
        if (!flag.argument)
            continue;
        printf("                --%s", flag.name);
        if (flag.letter)
            printf(" | -%c", flag.letter);
        putchar(')');
        switch (offer_of(&flag)) {
        case OFFER_WORDS: printf(" words='%s' ;;\n", flag.values); break;
        case OFFER_FILES: puts(" action='file' ;;"); break;
        case OFFER_FOLDERS: puts(" action='directory' ;;"); break;
        case OFFER_NOTHING: puts(" words='' ;;"); break;
        }
    }
}

static void bash_verb(const kc_verb *verb)
{
    if (!verb->flags) {
        printf("        %s) words='%s' ;;\n", verb->name, verb->words ? verb->words : "");
        return;
    }
    printf("        %s)\n            case $flag in\n", verb->name);
    bash_values(verb->flags);
    fputs("                *) words='", stdout);
    kc_flag flag;
    for (size_t i = 0; kc_flag_at(verb->flags, i, &flag); i++)
        printf("--%s ", flag.name);
    printf("--help%s%s' ;;\n            esac ;;\n", verb->words ? " " : "",
           verb->words ? verb->words : "");
}

static void write_bash(void)
{
    puts(
        "# Completes the arguments of kc. To load it: source <(kc completion bash)\n"
        "_kc() {\n"
        "    local cur=${COMP_WORDS[COMP_CWORD]} flag=${COMP_WORDS[COMP_CWORD - 1]} words='' action=''\n"
        "    # \"--flag=value\" is three words to bash.\n"
        "    if [[ $cur == '=' ]]; then\n"
        "        cur=''\n"
        "    elif [[ $flag == '=' ]]; then\n"
        "        flag=${COMP_WORDS[COMP_CWORD - 2]}\n"
        "    fi\n"
        "    if ((COMP_CWORD == 1)); then");
    fputs("        words='", stdout);
    for (size_t i = 0; i < kc_n_verbs; i++)
        printf("%s%s", i ? " " : "", kc_verbs[i].name);
    puts("'\n    else\n        case ${COMP_WORDS[1]} in");
    for (size_t i = 0; i < kc_n_verbs; i++)
        bash_verb(&kc_verbs[i]);
    puts("        esac\n"
         "    fi\n"
         "    if [[ $action ]]; then\n"
         "        compopt -o filenames\n"
         "        mapfile -t COMPREPLY < <(compgen -A \"$action\" -- \"$cur\")\n"
         "    else\n"
         "        mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
         "    fi\n"
         "}\n"
         "complete -F _kc kc");
}

/* ---- zsh ---- */

static void zsh_flag(const kc_flag *flag)
{
    const char *const special = "[]:";
    printf(" \\\n                '--%s%s[", flag->name, flag->argument ? "=" : "");
    put_escaped(flag->help, special);
    putchar(']');
    if (flag->argument)
        printf(":%s:", flag->argument);
    switch (offer_of(flag)) {
    case OFFER_WORDS: printf("(%s)", flag->values); break;
    case OFFER_FILES: fputs("_files", stdout); break;
    case OFFER_FOLDERS: fputs("_files -/", stdout); break;
    case OFFER_NOTHING: break;
    }
    putchar('\'');
}

static void zsh_verb(const kc_verb *verb)
{
    if (!verb->flags && !verb->words)
        return;
    printf("        %s)\n            ", verb->name);
    if (!verb->flags)
        printf("compadd -- %s", verb->words);
    else
        fputs("_arguments '--help[this text]'", stdout);
    if (verb->flags && verb->words)
        printf(" \\\n                '1:what:(%s)' '*:path:_files'", verb->words);
    kc_flag flag;
    for (size_t i = 0; verb->flags && kc_flag_at(verb->flags, i, &flag); i++)
        zsh_flag(&flag);
    puts(" ;;");
}

static void write_zsh(void)
{
    puts("#compdef kc\n"
         "# Completes the arguments of kc. To load it: source <(kc completion zsh)\n"
         "_kc() {\n"
         "    local -a verbs=(");
    for (size_t i = 0; i < kc_n_verbs; i++) {
        printf("        '%s:", kc_verbs[i].name);
        put_escaped(kc_verbs[i].summary, ":");
        puts("'");
    }
    puts("    )\n"
         "    if ((CURRENT == 2)); then\n"
         "        _describe verb verbs\n"
         "        return\n"
         "    fi\n"
         "    local verb=${words[2]}\n"
         "    shift words\n"
         "    ((CURRENT--))\n"
         "    case $verb in");
    for (size_t i = 0; i < kc_n_verbs; i++)
        zsh_verb(&kc_verbs[i]);
    puts("    esac\n"
         "}\n"
         "compdef _kc kc");
}

/* ---- fish ---- */

static void fish_flag(const char *verb, const kc_flag *flag)
{
    printf("complete -c kc -n '__fish_seen_subcommand_from %s' -l %s", verb, flag->name);
    if (flag->letter && strlen(flag->name) > 1)
        printf(" -s %c", flag->letter);
    switch (offer_of(flag)) {
    case OFFER_WORDS: printf(" -x -a '%s'", flag->values); break;
    case OFFER_FILES: fputs(" -r -F", stdout); break;
    case OFFER_FOLDERS: fputs(" -x -a '(__fish_complete_directories)'", stdout); break;
    case OFFER_NOTHING: fputs(flag->argument ? " -x" : "", stdout); break;
    }
    fputs(" -d '", stdout);
    put_escaped(flag->help, "");
    puts("'");
}

static void fish_verb(const kc_verb *verb)
{
    printf("complete -c kc -n __fish_use_subcommand -a %s -d '", verb->name);
    put_escaped(verb->summary, "");
    puts("'");
    if (verb->words)
        printf("complete -c kc -n '__fish_seen_subcommand_from %s' -a '%s'\n", verb->name,
               verb->words);
    kc_flag flag;
    for (size_t i = 0; verb->flags && kc_flag_at(verb->flags, i, &flag); i++)
        fish_flag(verb->name, &flag);
}

static void write_fish(void)
{
    puts("# Completes the arguments of kc. To load it: kc completion fish | source\n"
         "complete -c kc -f");
    for (size_t i = 0; i < kc_n_verbs; i++)
        fish_verb(&kc_verbs[i]);
}

/* ---- the verb ---- */

static const struct shell {
    const char *name;
    void (*write)(void);
} shells[] = {
    {"bash", write_bash},
    {"zsh", write_zsh},
    {"fish", write_fish},
};

int kc_verb_completion(int argc, char **argv)
{
    kc_scoped(kc_error) err = {0};
    for (size_t i = 0; argc == 2 && i < KC_COUNT(shells); i++) {
        if (!strcmp(argv[1], shells[i].name)) {
            shells[i].write();
            return 0;
        }
    }
    if (argc == 2 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
        puts("Writes a script that completes kc's arguments.\n"
             "\n"
             "Usage: kc completion bash|zsh|fish\n"
             "\n"
             "Examples:\n"
             "  source <(kc completion bash)\n"
             "  source <(kc completion zsh)\n"
             "  kc completion fish | source");
        return 0;
    }
    kc_error_set(&err, KC_INVALID, "name one shell: bash, zsh or fish");
    return kc_called_wrongly("completion", &err);
}
