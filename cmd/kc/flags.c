/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flags.c: parses the command line according to a verb's table of flags.
 *
 * Defaults pass through the same parsers as typed values, so the default that help shows is the
 * one that applies. Values of closed sets are matched against the table's choices here; a parser
 * sees accepted values only. Errors name the flag, the value and what is accepted.
 *
 * To add a flag to a verb: a row of its table; then run scripts/man, which updates the man page.
 */
#include "flags.h"

#include "kc/buf.h"
#include "kc/vec.h"

typedef KC_VEC(const char *) flag_names;

static void *cli_flags_field_of(const kc__cli_flag *flag, void *options)
{
    return (char *)options + flag->offset;
}

/* ---- rows of a set ---- */

static kc__cli_flag with_changes(const kc__cli_flag_set *set, kc__cli_flag flag)
{
    for (size_t i = 0; i < set->n_changes; i++) {
        const kc__cli_flag_change *change = &set->changes[i];
        if (strcmp(change->name, flag.name) != 0)
            continue;
        flag.initial = change->initial ? change->initial : flag.initial;
        flag.help = change->help ? change->help : flag.help;
        flag.details = change->details ? change->details : flag.details;
    }
    return flag;
}

bool kc__cli_flag_at(const kc__cli_flag_set *set, size_t i, kc__cli_flag *ret)
{
    if (i < set->n_flags) {
        *ret = set->flags[i];
        return true;
    }
    i -= set->n_flags;
    for (size_t k = 0; k < set->n_parts; k++) {
        const kc__cli_flag_part *part = &set->parts[k];
        if (i < part->set->n_flags) {
            *ret = with_changes(set, part->set->flags[i]);
            ret->offset += part->at;
            ret->given += ret->given ? part->at : 0;
            return true;
        }
        i -= part->set->n_flags;
    }
    return false;
}

static bool find_flag(const kc__cli_flag_set *set, kc_str name, kc__cli_flag *ret)
{
    for (size_t i = 0; kc__cli_flag_at(set, i, ret); i++)
        if (kc_str_is(name, ret->name))
            return true;
    return false;
}

static bool find_letter(const kc__cli_flag_set *set, char letter, kc__cli_flag *ret)
{
    for (size_t i = 0; kc__cli_flag_at(set, i, ret); i++)
        if (letter && ret->letter == letter)
            return true;
    return false;
}

/* ---- errors ---- */

/* Appends "; did you mean '--pods'?" if a name is similar to the typed one. */
static void append_nearest(kc_buf *out, kc_str typed, const flag_names *names, const char *dashes)
{
    const char *nearest = kc_str_nearest(typed, names->items, names->n);
    if (nearest)
        kc_buf_printf(out, "; did you mean '%s%s'?", dashes, nearest);
}

static int unknown_flag(const kc__cli_flag_set *set, const char *typed, kc_str name, kc_error *err)
{
    flag_names names = {0};
    kc_scoped(kc_buf) text = {0};
    kc__cli_flag flag;
    for (size_t i = 0; kc__cli_flag_at(set, i, &flag); i++)
        kc_vec_push(&names, flag.name);
    kc_vec_push(&names, "help");
    append_nearest(&text, name, &names, "--");
    if (!text.n)
        kc_buf_printf(&text, "; 'kc %s --help' lists the flags", set->verb);
    kc_vec_done(&names);
    return kc_error_set(err, KC_INVALID, "unknown flag '%.*s'%s", (int)strcspn(typed, "="), typed,
                        kc_buf_cstr(&text));
}

/* Sets "must be one of none, simulate, process", and names the nearest of them. */
static int unknown_choice(const char *what, kc_str typed, const flag_names *names, kc_error *err)
{
    kc_scoped(kc_buf) text = {0};
    kc_buf_puts(&text, names->n > 1 ? "one of " : "");
    for (size_t i = 0; i < names->n; i++)
        kc_buf_printf(&text, "%s%s", i ? ", " : "", names->items[i]);
    append_nearest(&text, typed, names, "");
    return kc_error_set(err, KC_INVALID, "%s '%.*s': must be %s", what, KC_ARG(typed),
                        kc_buf_cstr(&text));
}

int kc__cli_flag_invalid(const char *text, const char *accepted, kc_error *err)
{
    return kc_error_set(err, KC_INVALID, "invalid value '%s': must be %s", text, accepted);
}

/* ---- closed sets ---- */

const char *kc__cli_flag_choice_at(const kc__cli_flag *flag, size_t i)
{
    if (flag->choice_name)
        return flag->choice_name(i);
    return flag->choices ? flag->choices[i].name : NULL;
}

const kc__cli_flag_choice *kc__cli_flag_choose(const kc__cli_flag_choice *choices, const char *noun,
                                               const char *text, kc_error *err)
{
    flag_names names = {0};
    kc_scoped(kc_buf) what = {0};
    for (const kc__cli_flag_choice *row = choices; row->name; row++) {
        if (!strcmp(row->name, text)) {
            kc_vec_done(&names);
            return row;
        }
        kc_vec_push(&names, row->name);
    }
    kc_buf_printf(&what, "unknown %s", noun);
    unknown_choice(kc_buf_cstr(&what), kc_cstr(text), &names, err);
    kc_vec_done(&names);
    return NULL;
}

static int check_choice(const kc__cli_flag *flag, kc_str typed, kc_error *err)
{
    flag_names names = {0};
    const char *name;
    bool known = false;
    for (size_t i = 0; (name = kc__cli_flag_choice_at(flag, i)); i++) {
        kc_vec_push(&names, name);
        known = known || kc_str_is(typed, name);
    }
    const int failed = known ? 0 : unknown_choice("invalid value", typed, &names, err);
    kc_vec_done(&names);
    return failed;
}

/* A list in the syntax of kc_select_names: "a,b", "*,-c". */
static int check_list(const kc__cli_flag *flag, const char *text, kc_error *err)
{
    kc_str rest = kc_cstr(*text ? text : NULL);
    while (rest.p) {
        kc_str word = kc_str_trim(kc_str_cut(&rest, ','));
        if (kc_str_starts(word, KC_STR("-")))
            word = kc_str_sub(word, 1, word.n);
        const int failed = kc_str_is(word, "*") ? 0 : check_choice(flag, word, err);
        if (failed)
            return failed;
    }
    return 0;
}

static void store_choice(const kc__cli_flag *flag, const char *text, void *field)
{
    for (const kc__cli_flag_choice *row = flag->choices; row->name; row++)
        if (!strcmp(row->name, text))
            *(int *)field = row->value;
}

/* ---- parsing ---- */

/* The command line and the position of the parser. */
typedef struct cli_flags_reader {
    const kc__cli_flag_set *set;
    char **argv;
    int argc, at;
    void *options;
    bool flags_ended; /* By "--": all that follows are operands. */
} cli_flags_reader;

static int parse_value(const kc__cli_flag *flag, const char *value, void *field, kc_error *err)
{
    int failed = 0;
    if (flag->is_list)
        failed = check_list(flag, value, err);
    else if (kc__cli_flag_choice_at(flag, 0))
        failed = check_choice(flag, kc_cstr(value), err);
    if (failed)
        return failed;
    if (flag->parse)
        return flag->parse(value, field, err);
    store_choice(flag, value, field);
    return 0;
}

static int set_value(const cli_flags_reader *r, const kc__cli_flag *flag, const char *value,
                     kc_error *err)
{
    if (parse_value(flag, value, cli_flags_field_of(flag, r->options), err) < 0)
        return kc_error_wrap(err, "--%s", flag->name);
    if (flag->given)
        *(bool *)((char *)r->options + flag->given) = true;
    return 0;
}

/* `value` is the part after '=' or the short flag in the same argument, or NULL. */
static int take_value(cli_flags_reader *r, const kc__cli_flag *flag, const char *value,
                      kc_error *err)
{
    if (!value && !flag->argument)
        return set_value(r, flag, "true", err);
    if (!value && r->at + 1 >= r->argc)
        return kc_error_set(err, KC_INVALID, "--%s needs a value: --%s=%s", flag->name, flag->name,
                            flag->argument);
    return set_value(r, flag, value ? value : r->argv[++r->at], err);
}

static int take_long(cli_flags_reader *r, const char *typed, kc_error *err)
{
    const char *equals = strchr(typed, '=');
    const char *name = typed + 2;
    const kc_str text = kc_str_of(name, equals ? (size_t)(equals - name) : strlen(name));
    kc__cli_flag flag;
    if (!find_flag(r->set, text, &flag))
        return unknown_flag(r->set, typed, text, err);
    return take_value(r, &flag, equals ? equals + 1 : NULL, err);
}

static int take_short(cli_flags_reader *r, const char *typed, kc_error *err)
{
    kc__cli_flag flag;
    const char *rest = typed + 2;
    if (!find_letter(r->set, typed[1], &flag) || (!flag.argument && *rest && *rest != '='))
        return unknown_flag(r->set, typed, kc_str_of(typed + 1, strcspn(typed + 1, "=")), err);
    if (*rest == '=')
        rest++;
    else if (!*rest)
        rest = NULL;
    return take_value(r, &flag, rest, err);
}

/* The verb takes no operands. "--switch false" is a likely cause. */
static int unexpected_argument(const cli_flags_reader *r, kc_error *err)
{
    const char *typed = r->argv[r->at];
    const char *before = r->argv[r->at - 1];
    kc__cli_flag flag;
    if (r->at > 1 && !strncmp(before, "--", 2) && find_flag(r->set, kc_cstr(before + 2), &flag) &&
        !flag.argument)
        return kc_error_set(err, KC_INVALID, "unexpected argument '%s'; did you mean --%s=%s?",
                            typed, flag.name, typed);
    return kc_error_set(err, KC_INVALID, "unexpected argument '%s': 'kc %s' takes flags only",
                        typed, r->set->verb);
}

static int take_operand(const cli_flags_reader *r, kc_error *err)
{
    if (!r->set->operands)
        return unexpected_argument(r, err);
    kc__cli_flag_operands *operands =
        (kc__cli_flag_operands *)((char *)r->options + r->set->operands_at);
    if (operands->n == KC_COUNT(operands->items))
        return kc_error_set(err, KC_INVALID, "too many arguments: at most %zu",
                            KC_COUNT(operands->items));
    operands->items[operands->n++] = r->argv[r->at];
    return 0;
}

static bool is_help(const char *typed)
{
    return !strcmp(typed, "--help") || !strcmp(typed, "-h");
}

static void cli_flags_set_defaults(const cli_flags_reader *r)
{
    kc__cli_flag flag;
    for (size_t i = 0; kc__cli_flag_at(r->set, i, &flag); i++)
        if (flag.initial &&
            parse_value(&flag, flag.initial, cli_flags_field_of(&flag, r->options), NULL) < 0)
            abort(); /* The table is wrong. */
}

/* 0: done; 1: help was requested. */
static int take_argument(cli_flags_reader *r, kc_error *err)
{
    const char *typed = r->argv[r->at];
    if (r->flags_ended || typed[0] != '-' || !typed[1])
        return take_operand(r, err);
    if (is_help(typed))
        return 1;
    if (typed[1] != '-')
        return take_short(r, typed, err);
    if (typed[2])
        return take_long(r, typed, err);
    r->flags_ended = true;
    return 0;
}

int kc__cli_flags_parse(const kc__cli_flag_set *set, int argc, char **argv, void *ret_options,
                        kc_error *err)
{
    cli_flags_reader r = {set, argv, argc, 1, ret_options, false};
    memset(ret_options, 0, set->size);
    cli_flags_set_defaults(&r);
    for (; r.at < argc; r.at++) {
        const int result = take_argument(&r, err);
        if (result)
            return result;
    }
    return 0;
}
