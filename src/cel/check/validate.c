/* SPDX-License-Identifier: Apache-2.0 */
/*
 * validate.c: checks that Kubernetes makes after the type check.
 *
 * Durations, timestamps and patterns that are literals must be valid; so must the arguments of a
 * format that is a literal. The elements of a list or map literal must have one type, except for
 * arguments of format.
 *
 * As cel-go, the check of matches looks at the first argument: the pattern of
 * text.matches(pattern), but the text of matches(text, pattern).
 */
#include "cel/eval/eval_internal.h"

static bool valid_duration(kc__cel_eval *ev, kc_cel_value v)
{
    return v.kind == KC_CEL_STRING && !kc__cel_is_error(kc__cel_parse_duration(ev, v.text));
}

static bool valid_timestamp(kc__cel_eval *ev, kc_cel_value v)
{
    if (v.kind == KC_CEL_INT)
        return v.integer >= KC__CEL_TIME_MIN && v.integer <= KC__CEL_TIME_MAX;
    return v.kind == KC_CEL_STRING && !kc__cel_is_error(kc__cel_parse_timestamp(ev, v.text, false));
}

static bool valid_pattern(kc__cel_eval *ev, kc_cel_value v)
{
    kc_scoped(kc_buf) why = {0};
    (void)ev;
    kc__regex *regex = v.kind == KC_CEL_STRING ? kc__regex_compile(v.text, NULL, &why) : NULL;
    bool valid = regex != NULL;
    kc__regex_free(regex);
    return valid;
}

static const struct argument_check {
    const char *function;
    bool (*valid)(kc__cel_eval *ev, kc_cel_value v);
} checks[] = {
    {"duration", valid_duration},
    {"timestamp", valid_timestamp},
    {"matches", valid_pattern},
};

static void validate_call(kc__cel_source *s, kc__cel_eval *ev, const kc__cel_expr *e)
{
    if (!e->call.n_args || e->call.args[0]->kind != KC__CEL_LITERAL)
        return;
    for (size_t i = 0; i < KC_COUNT(checks); i++)
        if (kc_str_is(e->call.function, checks[i].function) &&
            !checks[i].valid(ev, e->call.args[0]->literal))
            kc__cel_report(s, e->call.args[0]->at, "invalid %s argument", checks[i].function);
}

/* ---- format ---- */

static bool kind_is_one_of(kc_cel_kind kind, const char *letters)
{
    static const char kinds[] = {
        [KC_CEL_BOOL] = 'b',   [KC_CEL_INT] = 'i',   [KC_CEL_UINT] = 'u', [KC_CEL_DOUBLE] = 'd',
        [KC_CEL_STRING] = 's', [KC_CEL_BYTES] = 'y', [KC_CEL_TYPE] = 0};
    return kind == KC_CEL_DYN ||
           ((size_t)kind < sizeof(kinds) && kinds[kind] && strchr(letters, kinds[kind]));
}

static const struct format_clause_check {
    char clause;
    const char *kinds, *message;
} clause_checks[] = {
    {'d', "iu", "decimal clause can only be used on integers"},
    {'f', "ds", "fixed-point clause can only be used on doubles"},
    {'e', "ds", "scientific clause can only be used on doubles"},
    {'b', "iub", "only integers and bools can be formatted as binary"},
    {'x', "iusy", "only integers, byte buffers, and strings can be formatted as hex"},
    {'X', "iusy", "only integers, byte buffers, and strings can be formatted as hex"},
    {'o', "iu", "octal clause can only be used on integers"},
};

static bool is_printable_type(const kc_cel_type *type)
{
    switch (type->kind) {
    case KC_CEL_OBJECT:
    case KC_CEL_OPAQUE:
    case KC_CEL_OPTIONAL: return false;
    default: return true;
    }
}

/* The first part of an argument that %s cannot print; NULL: none. Literals are inspected. */
static const kc__cel_expr *find_unprintable(const kc__cel_expr *arg)
{
    const kc__cel_expr *found = is_printable_type(arg->type) ? NULL : arg;
    for (size_t i = 0; !found && arg->kind == KC__CEL_LIST && i < arg->list.n; i++)
        found = find_unprintable(arg->list.items[i]);
    for (size_t i = 0; !found && arg->kind == KC__CEL_MAP && i < arg->map.n; i++) {
        found = find_unprintable(arg->map.entries[i].key);
        found = found ? found : find_unprintable(arg->map.entries[i].value);
    }
    return found;
}

static bool validate_clause(kc__cel_source *s, char clause, const kc__cel_expr *arg)
{
    const kc__cel_expr *bad = clause == 's' ? find_unprintable(arg) : NULL;
    if (bad) {
        kc__cel_report(s, bad->at,
                       "error during formatting: string clause can only be used on strings, bools, "
                       "bytes, ints, doubles, maps, lists, types, durations, and timestamps, was "
                       "given %s",
                       bad->type->name);
        return false;
    }
    for (size_t i = 0; i < KC_COUNT(clause_checks); i++) {
        const struct format_clause_check *check = &clause_checks[i];
        if (check->clause != clause || kind_is_one_of(arg->type->kind, check->kinds))
            continue;
        kc__cel_report(s, arg->at, "error during formatting: %s, was given %s", check->message,
                       arg->type->name);
        return false;
    }
    return true;
}

/* Moves behind a precision such as ".3" at *at. False when it is invalid. */
static bool skip_precision(kc__cel_source *s, const kc__cel_expr *e, kc_str format, size_t *at)
{
    size_t i = *at;
    if (format.p[i] != '.')
        return true;
    while (++i < format.n && format.p[i] >= '0' && format.p[i] <= '9')
        continue;
    if (i < format.n && i > *at + 1) {
        *at = i;
        return true;
    }
    kc__cel_report(s, e->at, "could not parse formatting clause: error while parsing precision: %s",
                   i >= format.n ? "could not find end of precision specifier"
                                 : "error while converting precision to integer: strconv.Atoi: "
                                   "parsing \"\": invalid syntax");
    return false;
}

/* The clauses of a literal format against the arguments of a list literal. */
static void validate_format(kc__cel_source *s, const kc__cel_expr *e)
{
    kc_str format = e->call.target->literal.text;
    const kc__cel_expr *list = e->call.args[0];
    size_t used = 0;
    for (size_t i = 0; i < format.n; i++) {
        if (format.p[i] != '%')
            continue;
        if (++i < format.n && format.p[i] == '%')
            continue;
        if (i >= format.n || used >= list->list.n) {
            kc__cel_report(s, e->at,
                           i >= format.n ? "unexpected end of string" : "index %zu out of range",
                           used);
            return;
        }
        if (!skip_precision(s, e, format, &i))
            return;
        if (!strchr("sdfebxXo", format.p[i]) || !format.p[i]) {
            kc__cel_report(s, e->at,
                           "could not parse formatting clause: unrecognized formatting clause "
                           "\"%c\"",
                           format.p[i]);
            return;
        }
        if (!validate_clause(s, format.p[i], list->list.items[used++]))
            return;
    }
    if (list->list.n > used)
        kc__cel_report(s, e->at,
                       "too many arguments supplied to string.format (expected %zu, got %zu)", used,
                       list->list.n);
}

static bool is_format(const kc__cel_expr *e)
{
    return e->call.target && kc_str_is(e->call.function, "format") && e->call.n_args == 1;
}

static bool is_literal_format(const kc__cel_expr *e)
{
    return is_format(e) && e->call.target->kind == KC__CEL_LITERAL &&
           e->call.target->literal.kind == KC_CEL_STRING && e->call.args[0]->kind == KC__CEL_LIST;
}

/* ---- elements of one type ---- */

typedef struct constant_check {
    kc__cel_source *s;
    kc__cel_eval *ev;
    bool mixed_literals; /* Lists and maps may mix types. */
    bool only_formats;   /* The second walk. */
} constant_check;

static const kc_cel_type *element_type_of(const kc__cel_expr *e, bool optional)
{
    return optional && e->type->n_params ? e->type->params[0] : e->type;
}

static bool same_type(constant_check *v, const kc_cel_type *expected, const kc__cel_expr *e,
                      bool optional)
{
    const kc_cel_type *found = element_type_of(e, optional);
    if (kc__cel_type_equal(expected, found))
        return true;
    kc_scoped(kc_buf) want = {0}, have = {0};
    kc_cel_type_write(expected, &want);
    kc_cel_type_write(found, &have);
    kc__cel_report(v->s, e->at, "expected type '%s' but found '%s'", kc_buf_cstr(&want),
                   kc_buf_cstr(&have));
    return false;
}

static void validate_list(constant_check *v, const kc__cel_expr *e)
{
    const bool *optional = e->list.optional;
    for (size_t i = 1; i < e->list.n; i++)
        if (!same_type(v, element_type_of(e->list.items[0], optional && optional[0]),
                       e->list.items[i], optional && optional[i]))
            return;
}

static void validate_map(constant_check *v, const kc__cel_expr *e)
{
    for (size_t i = 1; i < e->map.n; i++) {
        const kc__cel_entry *first = &e->map.entries[0], *entry = &e->map.entries[i];
        same_type(v, first->key->type, entry->key, false);
        same_type(v, element_type_of(first->value, first->optional), entry->value, entry->optional);
    }
}

/* ---- the tree ---- */

static void validate_expr(constant_check *v, const kc__cel_expr *e);

static void validate_arguments(constant_check *v, const kc__cel_expr *e)
{
    bool mixed = v->mixed_literals;
    v->mixed_literals |= kc_str_is(e->call.function, "format");
    if (e->call.target)
        validate_expr(v, e->call.target);
    for (size_t i = 0; i < e->call.n_args; i++)
        validate_expr(v, e->call.args[i]);
    v->mixed_literals = mixed;
}

static void validate_elements(constant_check *v, const kc__cel_expr *e)
{
    if (e->kind == KC__CEL_LIST) {
        if (!v->mixed_literals)
            validate_list(v, e);
        for (size_t i = 0; i < e->list.n; i++)
            validate_expr(v, e->list.items[i]);
        return;
    }
    if (!v->mixed_literals && e->kind == KC__CEL_MAP)
        validate_map(v, e);
    for (size_t i = 0; i < e->map.n; i++) {
        if (e->map.entries[i].key)
            validate_expr(v, e->map.entries[i].key);
        validate_expr(v, e->map.entries[i].value);
    }
}

static void validate_expr(constant_check *v, const kc__cel_expr *e)
{
    switch (e->kind) {
    case KC__CEL_SELECT: validate_expr(v, e->select.operand); break;
    case KC__CEL_CALL:
        if (!v->only_formats)
            validate_call(v->s, v->ev, e);
        validate_arguments(v, e);
        if (v->only_formats && is_literal_format(e))
            validate_format(v->s, e);
        break;
    case KC__CEL_LIST:
    case KC__CEL_MAP:
    case KC__CEL_STRUCT: validate_elements(v, e); break;
    case KC__CEL_FOLD:
        validate_expr(v, e->fold.range);
        validate_expr(v, e->fold.init);
        validate_expr(v, e->fold.condition);
        validate_expr(v, e->fold.step);
        validate_expr(v, e->fold.result);
        break;
    default: break;
    }
}

bool kc__cel_validate(const kc_cel_env *env, kc__cel_source *source, const kc__cel_expr *root)
{
    if (env->heterogeneous_literals)
        return true;
    kc__cel_eval ev = {.arena = source->arena, .max_bytes = SIZE_MAX, .budget = UINT64_MAX};
    constant_check v = {.s = source, .ev = &ev};
    validate_expr(&v, root);
    v.only_formats = v.mixed_literals = true; /* cel-go validates formats last. */
    validate_expr(&v, root);
    return !kc__cel_failed(source);
}
