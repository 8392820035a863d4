/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flags.c: reads the command line by a verb's table of flags.
 *
 * Defaults go through the same parsers as what is typed, so a table cannot say one thing in its
 * help and do another. Errors are whole sentences that name the flag as it was typed.
 *
 * To add a flag to a verb: a row of its table, a line in its man page.
 */
#include "flags.h"

#include "kc/buf.h"
#include "kc/vec.h"

static void *field_of(const kc_flag *flag, void *options)
{
    return (char *)options + flag->offset;
}

/* ---- finding ---- */

static kc_flag as_changed(const kc_flag_set *set, kc_flag flag)
{
    for (size_t i = 0; i < set->n_changes; i++) {
        const kc_flag_change *change = &set->changes[i];
        if (strcmp(change->name, flag.name) != 0)
            continue;
        flag.initial = change->initial ? change->initial : flag.initial;
        flag.help = change->help ? change->help : flag.help;
    }
    return flag;
}

bool kc_flag_at(const kc_flag_set *set, size_t i, kc_flag *ret)
{
    if (i < set->n_flags) {
        *ret = set->flags[i];
        return true;
    }
    i -= set->n_flags;
    for (const kc_flag_part *part = set->parts; part < set->parts + set->n_parts; part++) {
        if (i < part->set->n_flags) {
            *ret = as_changed(set, part->set->flags[i]);
            ret->offset += part->at;
            return true;
        }
        i -= part->set->n_flags;
    }
    return false;
}

static bool find(const kc_flag_set *set, kc_str name, kc_flag *ret)
{
    for (size_t i = 0; kc_flag_at(set, i, ret); i++)
        if (kc_str_is(name, ret->name))
            return true;
    return false;
}

static bool find_letter(const kc_flag_set *set, char letter, kc_flag *ret)
{
    for (size_t i = 0; kc_flag_at(set, i, ret); i++)
        if (letter && ret->letter == letter)
            return true;
    return false;
}

static int unknown(const kc_flag_set *set, const char *typed, kc_str name, kc_error *err)
{
    KC_VEC(const char *) names = {0};
    kc_flag flag;
    for (size_t i = 0; kc_flag_at(set, i, &flag); i++)
        kc_vec_push(&names, flag.name);
    kc_vec_push(&names, "help");
    const char *nearest = kc_str_nearest(name, names.items, names.n);
    kc_vec_done(&names);
    const int shown = (int)strcspn(typed, "=");
    if (nearest)
        return kc_error_set(err, KC_INVALID, "there is no flag '%.*s'; did you mean '--%s'?", shown,
                            typed, nearest);
    return kc_error_set(err, KC_INVALID,
                        "there is no flag '%.*s' ('kc %s --help' lists those there are)", shown,
                        typed, set->verb);
}

/* ---- reading ---- */

/* The command line as it is read. */
typedef struct reader {
    const kc_flag_set *set;
    char **argv;
    int argc, at;
    void *options;
} reader;

static int set_value(const reader *r, const kc_flag *flag, const char *value, kc_error *err)
{
    if (flag->parse(value, field_of(flag, r->options), err) < 0)
        return kc_error_wrap(err, "--%s", flag->name);
    return 0;
}

/* `value` is what stood in the same argument, or NULL. */
static int take_value(reader *r, const kc_flag *flag, const char *value, kc_error *err)
{
    if (!value && !flag->argument)
        return set_value(r, flag, "true", err);
    if (!value && r->at + 1 >= r->argc)
        return kc_error_set(err, KC_INVALID, "--%s needs a value: --%s=%s", flag->name, flag->name,
                            flag->argument);
    return set_value(r, flag, value ? value : r->argv[++r->at], err);
}

static int take_long(reader *r, const char *typed, kc_error *err)
{
    const char *equals = strchr(typed, '=');
    const char *name = typed + 2;
    const kc_str text = kc_str_of(name, equals ? (size_t)(equals - name) : strlen(name));
    kc_flag flag;
    if (!find(r->set, text, &flag))
        return unknown(r->set, typed, text, err);
    return take_value(r, &flag, equals ? equals + 1 : NULL, err);
}

static int take_short(reader *r, const char *typed, kc_error *err)
{
    kc_flag flag;
    const char *rest = typed + 2;
    if (!find_letter(r->set, typed[1], &flag) || (!flag.argument && *rest && *rest != '='))
        return unknown(r->set, typed, kc_str_of(typed + 1, strcspn(typed + 1, "=")), err);
    if (*rest == '=')
        rest++;
    else if (!*rest)
        rest = NULL;
    return take_value(r, &flag, rest, err);
}

/* What is left is no flag; perhaps somebody wrote "--switch false". */
static int stray(const reader *r, kc_error *err)
{
    const char *typed = r->argv[r->at];
    const char *before = r->argv[r->at - 1];
    kc_flag flag;
    if (r->at > 1 && !strncmp(before, "--", 2) && find(r->set, kc_cstr(before + 2), &flag) &&
        !flag.argument)
        return kc_error_set(err, KC_INVALID, "'%s' is no flag; for a switch write --%s=%s", typed,
                            flag.name, typed);
    return kc_error_set(err, KC_INVALID, "'%s' is no flag, and 'kc %s' takes nothing else", typed,
                        r->set->verb);
}

/* An argument that is no flag. */
static int take_operand(const reader *r, kc_error *err)
{
    if (!r->set->operands)
        return stray(r, err);
    kc_flag_operands *operands = (kc_flag_operands *)((char *)r->options + r->set->operands_at);
    if (operands->n == KC_COUNT(operands->items))
        return kc_error_set(err, KC_INVALID, "there are more than %zu arguments",
                            KC_COUNT(operands->items));
    operands->items[operands->n++] = r->argv[r->at];
    return 0;
}

static bool asks_for_help(const char *typed)
{
    return !strcmp(typed, "--help") || !strcmp(typed, "-h");
}

static void set_defaults(const reader *r)
{
    kc_flag flag;
    for (size_t i = 0; kc_flag_at(r->set, i, &flag); i++)
        if (flag.initial && flag.parse(flag.initial, field_of(&flag, r->options), NULL) < 0)
            abort(); /* Our own table is wrong. */
}

int kc_flags_parse(const kc_flag_set *set, int argc, char **argv, void *ret_options, kc_error *err)
{
    reader r = {set, argv, argc, 1, ret_options};
    memset(ret_options, 0, set->size);
    set_defaults(&r);
    for (; r.at < argc; r.at++) {
        const char *typed = argv[r.at];
        int failed;
        if (asks_for_help(typed))
            return 1;
        if (!strcmp(typed, "--") && r.at + 1 == argc)
            break;
        if (typed[0] != '-' || !typed[1] || !strcmp(typed, "--"))
            failed = take_operand(&r, err);
        else
            failed = typed[1] == '-' ? take_long(&r, typed, err) : take_short(&r, typed, err);
        if (failed)
            return failed;
    }
    return 0;
}

/* ---- help ---- */

enum { HELP_INDENT = 6, HELP_WIDTH = 96 };

/* Words of `text`, broken into lines. */
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

static void print_flag(FILE *out, const kc_flag *flag)
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
}

void kc_flags_help(const kc_flag_set *set, FILE *out)
{
    const char *group = "";
    fprintf(out, "%s\n\nUsage: kc %s%s%s [FLAGS]\n", set->synopsis, set->verb,
            set->operands ? " " : "", set->operands ? set->operands : "");
    kc_flag flag;
    for (size_t i = 0; kc_flag_at(set, i, &flag); i++) {
        if (flag.group && strcmp(flag.group, group) != 0)
            fprintf(out, "\n%s:\n", group = flag.group);
        print_flag(out, &flag);
    }
    fputs("\n  -h, --help\n      this text\n", out);
    if (set->examples)
        fprintf(out, "\nExamples:\n%s", set->examples);
}
