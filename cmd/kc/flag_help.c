/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flag_help.c: prints a table of flags: as --help, and as the mdoc(7) sections that scripts/man
 * puts into the man pages.
 *
 * Both print a flag's values from its choices, so neither can list a value that the parser
 * refuses.
 */
#include "flags.h"

#include "kc/ascii.h"
#include "kc/buf.h"

/* ---- --help ---- */

enum { HELP_INDENT = 6, HELP_WIDTH = 96 };

/* Breaks `text` into lines of at most HELP_WIDTH columns. */
static void print_wrapped(FILE *out, const char *text)
{
    size_t column = 0;
    for (kc_str rest = kc_cstr(text); rest.p;) {
        const kc_str word = kc_str_cut(&rest, ' ');
        if (column && column + 1 + word.n > HELP_WIDTH) {
            fputc('\n', out);
            column = 0;
        }
        if (column)
            column += (size_t)fprintf(out, " %.*s", KC_ARG(word));
        else
            column = (size_t)fprintf(out, "%*s%.*s", HELP_INDENT, "", KC_ARG(word));
    }
    fputc('\n', out);
}

static void print_names(FILE *out, const kc__cli_flag *flag)
{
    kc_scoped(kc_buf) text = {0};
    const char *name;
    for (size_t i = 0; (name = kc__cli_flag_choice_at(flag, i)); i++)
        kc_buf_printf(&text, "%s%s", i ? ", " : "Values: ", name);
    if (text.n)
        print_wrapped(out, kc_buf_cstr(&text));
}

/* One row per choice. */
static void print_choices(FILE *out, const kc__cli_flag_choice *choices, int indent)
{
    int width = 0;
    for (const kc__cli_flag_choice *row = choices; row->name; row++)
        width = KC_MAX(width, (int)strlen(row->name));
    for (const kc__cli_flag_choice *row = choices; row->name; row++)
        fprintf(out, "%*s%-*s  %s\n", indent, "", width, row->name, row->help);
}

static bool explains_choices(const kc__cli_flag *flag)
{
    return flag->choices && flag->choices[0].help;
}

static void print_flag(FILE *out, const kc__cli_flag *flag)
{
    fputs("  ", out);
    if (flag->letter)
        fprintf(out, "-%c, ", flag->letter);
    fprintf(out, "--%s", flag->name);
    if (flag->argument)
        fprintf(out, "=%s", flag->argument);
    if (flag->initial && *flag->initial)
        fprintf(out, " (default %s)", flag->initial);
    fputc('\n', out);
    print_wrapped(out, flag->help);
    if (explains_choices(flag))
        print_choices(out, flag->choices, HELP_INDENT + 2);
    else
        print_names(out, flag);
}

void kc__cli_flags_help(const kc__cli_flag_set *set, FILE *out)
{
    const char *group = "";
    kc__cli_flag flag;
    fprintf(out, "%s\n\nUsage: kc %s%s%s [FLAGS]\n", set->synopsis, set->verb,
            set->operands ? " " : "", set->operands ? set->operands : "");
    if (set->commands) {
        fputs("\nCommands:\n", out);
        print_choices(out, set->commands, 2);
    }
    if (kc__cli_flag_at(set, 0, &flag) && !flag.group)
        fputs("\nFlags:\n", out);
    for (size_t i = 0; kc__cli_flag_at(set, i, &flag); i++) {
        if (flag.group && strcmp(flag.group, group) != 0)
            fprintf(out, "\n%s:\n", group = flag.group);
        print_flag(out, &flag);
    }
    fputs("\n  -h, --help\n      print this help\n", out);
    if (set->examples)
        fprintf(out, "\nExamples:\n%s", set->examples);
}

/* ---- mdoc ---- */

/* One sentence per line, as mdoc requires; the dash of a flag is escaped, because it is not a
 * hyphen. */
static void print_sentences(FILE *out, const char *text)
{
    bool begins = true;
    for (const char *p = text; *p; p++) {
        if (begins) {
            if (*p == '.' || *p == '\'')
                fputs("\\&", out);
            fputc(*p >= 'a' && *p <= 'z' ? *p - 'a' + 'A' : *p, out);
            begins = false;
        } else if (*p == '.' && p[1] == ' ') {
            fputs(".\n", out);
            p++;
            begins = true;
        } else if (*p == '-' && (p[1] == '-' || p[-1] == '-')) {
            fputs("\\-", out);
        } else if (*p == '\\') {
            fputs("\\e", out);
        } else {
            fputc(*p, out);
        }
    }
}

static void print_lower(FILE *out, const char *text)
{
    for (; *text; text++)
        fputc(kc_lower(*text), out);
}

static void mdoc_values(FILE *out, const kc__cli_flag *flag)
{
    const char *name;
    if (explains_choices(flag)) {
        fputs(".Bl -tag -width network-service -compact\n", out);
        for (const kc__cli_flag_choice *row = flag->choices; row->name; row++) {
            fprintf(out, ".It Cm %s\n", row->name);
            print_sentences(out, row->help);
            fputs(".\n", out);
        }
        fputs(".El\n", out);
    } else if (kc__cli_flag_choice_at(flag, 0)) {
        fputs("Values:\n", out);
        for (size_t i = 0; (name = kc__cli_flag_choice_at(flag, i)); i++)
            fprintf(out, ".Cm %s %s\n", name, kc__cli_flag_choice_at(flag, i + 1) ? "," : ".");
    }
}

static void mdoc_flag(FILE *out, const kc__cli_flag *flag)
{
    fputs(".It ", out);
    if (flag->letter)
        fprintf(out, "Fl %c , ", flag->letter);
    fprintf(out, "Fl -%s", flag->name);
    if (flag->argument) {
        fputs(" Ns = Ns Ar ", out);
        print_lower(out, flag->argument);
    }
    fputc('\n', out);
    print_sentences(out, flag->help);
    fputs(".\n", out);
    mdoc_values(out, flag);
    if (flag->details) {
        print_sentences(out, flag->details);
        fputc('\n', out);
    }
    if (flag->initial && *flag->initial)
        fprintf(out, "Default: %s.\n", flag->initial);
}

void kc__cli_flags_mdoc(const kc__cli_flag_set *set, FILE *out)
{
    const char *group = NULL;
    kc__cli_flag flag;
    for (size_t i = 0; kc__cli_flag_at(set, i, &flag); i++) {
        const char *of = flag.group ? flag.group : "Flags";
        if (!group || strcmp(of, group) != 0) {
            fprintf(out, "%s.Ss %s\n.Bl -tag -width Ds\n", group ? ".El\n" : "", of);
            group = of;
        }
        mdoc_flag(out, &flag);
    }
    if (group)
        fputs(".El\n", out);
}
