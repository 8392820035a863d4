/* SPDX-License-Identifier: Apache-2.0 */
/*
 * completion.c: `kc completion SHELL` prints a completion script, written from the tables of verbs
 * and flags.
 *
 * A flag with a closed set completes to its choices; another flag to its `values`: words, or FILE
 * or DIR for paths.
 *
 * To add a shell: a writer, a row of `shells` and one of `writers`.
 */
#include "command.h"

#include "kc/buf.h"

typedef enum cli_completion_offer {
    OFFER_NOTHING,
    OFFER_WORDS,
    OFFER_FILES,
    OFFER_FOLDERS
} cli_completion_offer;

static cli_completion_offer offer_of(const kc__cli_flag *flag)
{
    if (kc__cli_flag_choice_at(flag, 0))
        return OFFER_WORDS;
    if (!flag->argument || !flag->values)
        return OFFER_NOTHING;
    if (!strcmp(flag->values, "FILE"))
        return OFFER_FILES;
    return strcmp(flag->values, "DIR") != 0 ? OFFER_WORDS : OFFER_FOLDERS;
}

/* Words, separated by spaces. */
static void put_words(const kc__cli_flag *flag)
{
    const char *name;
    if (!kc__cli_flag_choice_at(flag, 0))
        fputs(flag->values, stdout);
    for (size_t i = 0; (name = kc__cli_flag_choice_at(flag, i)); i++)
        printf("%s%s", i ? " " : "", name);
}

static void put_commands(const kc__cli_flag_set *set)
{
    for (const kc__cli_flag_choice *row = set->commands; row && row->name; row++)
        printf("%s%s", row > set->commands ? " " : "", row->name);
}

/* Escapes each character of `special` with a backslash, and closes the quotes around single
 * quotes. */
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

static void bash_values(const kc__cli_flag_set *set)
{
    kc__cli_flag flag;
    for (size_t i = 0; kc__cli_flag_at(set, i, &flag); i++) {
        if (!flag.argument)
            continue;
        printf("                --%s", flag.name);
        if (flag.letter)
            printf(" | -%c", flag.letter);
        putchar(')');
        switch (offer_of(&flag)) {
        case OFFER_WORDS:
            fputs(" words='", stdout);
            put_words(&flag);
            puts("' ;;");
            break;
        case OFFER_FILES: puts(" action='file' ;;"); break;
        case OFFER_FOLDERS: puts(" action='directory' ;;"); break;
        case OFFER_NOTHING: puts(" words='' ;;"); break;
        }
    }
}

static void bash_verb(const kc__cli_command *verb)
{
    printf("        %s)\n            case $flag in\n", verb->name);
    bash_values(verb->flags);
    fputs("                *) words='", stdout);
    kc__cli_flag flag;
    for (size_t i = 0; kc__cli_flag_at(verb->flags, i, &flag); i++)
        printf("--%s ", flag.name);
    fputs("--help ", stdout);
    put_commands(verb->flags);
    fputs("'", stdout);
    if (verb->flags->operand_is_dir)
        fputs("; [[ $cur == -* ]] || action='directory'", stdout);
    puts(" ;;\n            esac ;;");
}

static void write_bash(void)
{
    puts(
        "# Completes the arguments of kc. Load it with: source <(kc completion bash)\n"
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
    for (size_t i = 0; i < kc__cli_n_verbs; i++)
        printf("%s%s", i ? " " : "", kc__cli_verbs[i].name);
    puts("'\n    else\n        case ${COMP_WORDS[1]} in");
    for (size_t i = 0; i < kc__cli_n_verbs; i++)
        bash_verb(&kc__cli_verbs[i]);
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

static void zsh_flag(const kc__cli_flag *flag)
{
    const char *const special = "[]:";
    printf(" \\\n                '--%s%s[", flag->name, flag->argument ? "=" : "");
    put_escaped(flag->help, special);
    putchar(']');
    if (flag->argument)
        printf(":%s:", flag->argument);
    switch (offer_of(flag)) {
    case OFFER_WORDS:
        putchar('(');
        put_words(flag);
        putchar(')');
        break;
    case OFFER_FILES: fputs("_files", stdout); break;
    case OFFER_FOLDERS: fputs("_files -/", stdout); break;
    case OFFER_NOTHING: break;
    }
    putchar('\'');
}

static void zsh_verb(const kc__cli_command *verb)
{
    kc__cli_flag flag;
    printf("        %s)\n            _arguments '--help[print help]'", verb->name);
    if (verb->flags->commands) {
        fputs(" \\\n                '1:command:(", stdout);
        put_commands(verb->flags);
        fputs(")' '*:path:_files'", stdout);
    }
    if (verb->flags->operand_is_dir)
        fputs(" \\\n                '1:directory:_files -/'", stdout);
    for (size_t i = 0; kc__cli_flag_at(verb->flags, i, &flag); i++)
        zsh_flag(&flag);
    puts(" ;;");
}

static void write_zsh(void)
{
    puts("#compdef kc\n"
         "# Completes the arguments of kc. Load it with: source <(kc completion zsh)\n"
         "_kc() {\n"
         "    local -a verbs=(");
    for (size_t i = 0; i < kc__cli_n_verbs; i++) {
        printf("        '%s:", kc__cli_verbs[i].name);
        put_escaped(kc__cli_verbs[i].summary, ":");
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
    for (size_t i = 0; i < kc__cli_n_verbs; i++)
        zsh_verb(&kc__cli_verbs[i]);
    puts("    esac\n"
         "}\n"
         "compdef _kc kc");
}

/* ---- fish ---- */

static void fish_flag(const char *verb, const kc__cli_flag *flag)
{
    printf("complete -c kc -n '__fish_seen_subcommand_from %s' -l %s", verb, flag->name);
    if (flag->letter && strlen(flag->name) > 1)
        printf(" -s %c", flag->letter);
    switch (offer_of(flag)) {
    case OFFER_WORDS:
        fputs(" -x -a '", stdout);
        put_words(flag);
        putchar('\'');
        break;
    case OFFER_FILES: fputs(" -r -F", stdout); break;
    case OFFER_FOLDERS: fputs(" -x -a '(__fish_complete_directories)'", stdout); break;
    case OFFER_NOTHING: fputs(flag->argument ? " -x" : "", stdout); break;
    }
    fputs(" -d '", stdout);
    put_escaped(flag->help, "");
    puts("'");
}

static void fish_verb(const kc__cli_command *verb)
{
    printf("complete -c kc -n __fish_use_subcommand -a %s -d '", verb->name);
    put_escaped(verb->summary, "");
    puts("'");
    if (verb->flags->commands) {
        printf("complete -c kc -n '__fish_seen_subcommand_from %s' -a '", verb->name);
        put_commands(verb->flags);
        puts("'");
    }
    if (verb->flags->operand_is_dir)
        printf("complete -c kc -n '__fish_seen_subcommand_from %s' -a "
               "'(__fish_complete_directories)'\n",
               verb->name);
    kc__cli_flag flag;
    for (size_t i = 0; kc__cli_flag_at(verb->flags, i, &flag); i++)
        fish_flag(verb->name, &flag);
}

static void write_fish(void)
{
    puts("# Completes the arguments of kc. Load it with: kc completion fish | source\n"
         "complete -c kc -f");
    for (size_t i = 0; i < kc__cli_n_verbs; i++)
        fish_verb(&kc__cli_verbs[i]);
}

/* ---- the verb ---- */

typedef enum shell { BASH, ZSH, FISH } shell;

static void (*const writers[])(void) = {
    [BASH] = write_bash, [ZSH] = write_zsh, [FISH] = write_fish};

static const kc__cli_flag_choice shells[] = {
    {"bash", BASH, "load it with: source <(kc completion bash)"},
    {"zsh", ZSH, "load it with: source <(kc completion zsh)"},
    {"fish", FISH, "load it with: kc completion fish | source"},
    {NULL},
};

const kc__cli_flag_set kc__cli_completion_flags = {
    .verb = "completion",
    .operands = "bash|zsh|fish",
    .commands = shells,
    .synopsis = "Prints a shell script that completes the arguments of kc.",
    .examples = "  source <(kc completion bash)\n"
                "  kc completion fish | source\n",
    .size = sizeof(kc__cli_flag_operands),
};

int kc__cli_command_completion(int argc, char **argv)
{
    kc_scoped(kc_error) err = {0};
    kc__cli_flag_operands given;
    const int parsed = kc__cli_flags_parse(&kc__cli_completion_flags, argc, argv, &given, &err);
    if (parsed > 0) {
        kc__cli_flags_help(&kc__cli_completion_flags, stdout);
        return 0;
    }
    if (parsed == 0 && given.n != 1)
        kc_error_set(&err, KC_INVALID, "expected one shell: bash, zsh or fish");
    const kc__cli_flag_choice *chosen =
        parsed == 0 && given.n == 1 ? kc__cli_flag_choose(shells, "shell", given.items[0], &err)
                                    : NULL;
    if (!chosen)
        return kc__cli_usage_error("completion", &err);
    writers[chosen->value]();
    return 0;
}
