/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parser_primary.c: members and primary expressions: literals, lists, maps, structs, names, calls,
 * fields and indexes.
 */
#include "cel/syntax/parser_internal.h"

#include "kc/ascii.h"

#include <math.h>

typedef KC_VEC(kc__cel_entry) entry_vec;

/* Where arguments may be absent, and where an index may be optional. */
static const char arguments_start[] =
    "{'[', '{', '(', ')', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, "
    "STRING, BYTES, IDENTIFIER}";
static const char index_start[] =
    "{'[', '{', '(', '.', '-', '!', '?', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, "
    "STRING, BYTES, IDENTIFIER}";

/* ---- literals ---- */

static bool digits_to_u64(kc_str digits, uint64_t *ret)
{
    bool hex = digits.n > 2 && digits.p[1] == 'x';
    uint64_t n = 0;
    for (size_t i = hex ? 2 : 0; i < digits.n; i++) {
        uint64_t base = hex ? 16 : 10, digit = (uint64_t)kc_hex_value(digits.p[i]);
        if (n > (UINT64_MAX - digit) / base)
            return false;
        n = n * base + digit;
    }
    *ret = n;
    return true;
}

static kc__cel_expr *int_expr(kc__cel_parser *p, kc_str digits, bool negative, uint32_t at)
{
    uint64_t n;
    if (!digits_to_u64(digits, &n) || n > (uint64_t)INT64_MAX + negative)
        return kc__cel_fail_semantic(p, at, "invalid int literal");
    return kc__cel_new_literal(p->s, at, kc_cel_of_int((int64_t)(negative ? 0 - n : n)));
}

static kc__cel_expr *uint_expr(kc__cel_parser *p, kc_str digits, uint32_t at)
{
    kc_cel_value value = {.kind = KC_CEL_UINT};
    if (!digits_to_u64(kc_str_sub(digits, 0, digits.n - 1), &value.natural))
        return kc__cel_fail_semantic(p, at, "invalid uint literal");
    return kc__cel_new_literal(p->s, at, value);
}

static kc__cel_expr *float_expr(kc__cel_parser *p, kc_str digits, bool negative, uint32_t at)
{
    kc_autofree char *text = kc_str_dup(digits);
    double number = strtod(text, NULL);
    if (isinf(number))
        return kc__cel_fail_semantic(p, at, "invalid double literal");
    kc_cel_value value = {.kind = KC_CEL_DOUBLE, .number = negative ? -number : number};
    return kc__cel_new_literal(p->s, at, value);
}

static kc__cel_expr *string_expr(kc__cel_parser *p, kc__cel_token token)
{
    bool bytes = token.kind == KC__CEL_T_BYTES;
    kc_cel_value value = {.kind = bytes ? KC_CEL_BYTES : KC_CEL_STRING};
    const char *why = NULL;
    if (!kc__cel_unescape(p->s->arena, token.text, bytes, &value.text, &why))
        return kc__cel_fail_semantic(p, token.at, why);
    return kc__cel_new_literal(p->s, token.at, value);
}

/* A literal at the current token; `sign` is the position of a minus before a number. */
static kc__cel_expr *parse_literal_token(kc__cel_parser *p, const uint32_t *sign)
{
    kc__cel_token token = p->token;
    uint32_t at = sign ? *sign : token.at;
    kc__cel_advance(p);
    switch (token.kind) {
    case KC__CEL_T_INT: return int_expr(p, token.text, sign, at);
    case KC__CEL_T_UINT: return uint_expr(p, token.text, at);
    case KC__CEL_T_FLOAT: return float_expr(p, token.text, sign, at);
    case KC__CEL_T_STRING:
    case KC__CEL_T_BYTES: return string_expr(p, token);
    case KC__CEL_T_TRUE:
    case KC__CEL_T_FALSE:
        return kc__cel_new_literal(p->s, at, kc_cel_of_bool(token.kind == KC__CEL_T_TRUE));
    default: return kc__cel_new_literal(p->s, at, kc_cel_null());
    }
}

/* ---- lists of expressions ---- */

/* Arguments up to the closing parenthesis, which is consumed. */
static bool parse_args(kc__cel_parser *p, kc__cel_expr_vec *args)
{
    if (kc__cel_take_op(p, ")", NULL))
        return true;
    if (!kc__cel_starts_expression(&p->token)) {
        kc__cel_token next = kc__cel_peek(p);
        return kc__cel_fail_token(p, arguments_start,
                                  kc__cel_starts_expression(&next) || kc__cel_is_op(&next, ")"));
    }
    do {
        kc__cel_expr *arg = kc__cel_parse_expr(p);
        if (!arg)
            return false;
        kc_vec_push(args, arg);
    } while (kc__cel_take_op(p, ",", NULL));
    return kc__cel_expect_op(p, ")");
}

static kc__cel_expr **keep_exprs(kc__cel_parser *p, const kc__cel_expr_vec *exprs)
{
    kc__cel_expr **kept = kc_arena_alloc(p->s->arena, (exprs->n + 1) * sizeof(*kept));
    if (exprs->n)
        memcpy(kept, exprs->items, exprs->n * sizeof(*kept));
    return kept;
}

/* Consumes the question mark of an optional element. */
static bool take_optional(kc__cel_parser *p)
{
    uint32_t at;
    if (!kc__cel_take_op(p, "?", &at))
        return false;
    if (!kc__cel_env_has(p->env, KC__CEL_OPTIONALS))
        kc__cel_report(p->s, at, "unsupported syntax '?'");
    return true;
}

static bool parse_items(kc__cel_parser *p, kc__cel_expr_vec *items, kc_buf *optional)
{
    bool comma = false;
    while (!kc__cel_at_op(p, "]") && !kc__cel_at_op(p, ",") &&
           !(comma && p->token.kind == KC__CEL_T_END)) {
        kc_buf_putc(optional, take_optional(p));
        kc__cel_expr *item = kc__cel_parse_expr(p);
        if (!item)
            return false;
        kc_vec_push(items, item);
        comma = kc__cel_take_op(p, ",", NULL);
        if (!comma)
            break;
    }
    if (!items->n)
        comma = kc__cel_take_op(p, ",", NULL);
    return comma ? kc__cel_expect_op(p, "]") : kc__cel_expect_one_of(p, "]", "{']', ','}");
}

static kc__cel_expr *parse_list(kc__cel_parser *p)
{
    kc__cel_expr *list = kc__cel_new_expr(p->s, KC__CEL_LIST, p->token.at);
    kc__cel_expr_vec items = {0};
    kc_scoped(kc_buf) optional = {0};
    kc__cel_advance(p);
    bool ok = parse_items(p, &items, &optional);
    list->list.items = keep_exprs(p, &items);
    list->list.n = items.n;
    if (memchr(optional.p ? optional.p : "", 1, optional.n))
        list->list.optional = (bool *)kc_arena_strndup(p->s->arena, optional.p, optional.n);
    kc_vec_done(&items);
    return ok ? list : NULL;
}

static void keep_entries(kc__cel_parser *p, kc__cel_expr *map, entry_vec *entries)
{
    map->map.entries = kc_arena_alloc(p->s->arena, (entries->n + 1) * sizeof(*map->map.entries));
    if (entries->n)
        memcpy(map->map.entries, entries->items, entries->n * sizeof(*entries->items));
    map->map.n = entries->n;
    kc_vec_done(entries);
}

static bool parse_map_entry(kc__cel_parser *p, kc__cel_entry *entry)
{
    entry->optional = take_optional(p);
    entry->key = kc__cel_parse_expr(p);
    if (!entry->key)
        return false;
    entry->at = p->token.at;
    if (!kc__cel_expect_op(p, ":"))
        return false;
    entry->value = kc__cel_parse_expr(p);
    return entry->value != NULL;
}

/* Reports a token behind a dot that is no name. */
static void *fail_name(kc__cel_parser *p)
{
    bool word = p->token.kind == KC__CEL_T_TRUE || p->token.kind == KC__CEL_T_FALSE ||
                p->token.kind == KC__CEL_T_NULL;
    if (word)
        return kc__cel_fail_token(p, "IDENTIFIER", false);
    kc_str text = p->token.kind == KC__CEL_T_END ? KC_STR("") : p->token.text;
    kc__cel_report(p->s, p->token.at, "Syntax error: no viable alternative at input '.%.*s'",
                   KC_ARG(text));
    return NULL;
}

/* The name of a field at the current token. */
static bool parse_field_name(kc__cel_parser *p, kc_str *ret)
{
    if (p->token.kind == KC__CEL_T_ESCAPED_IDENT) {
        kc__cel_report(p->s, p->token.at, "unsupported syntax: '`'");
        *ret = kc_str_sub(p->token.text, 1, p->token.text.n - 1);
    } else if (p->token.kind == KC__CEL_T_IDENT) {
        *ret = p->token.text;
    } else {
        fail_name(p);
        return false;
    }
    *ret = kc_arena_str(p->s->arena, *ret);
    kc__cel_advance(p);
    return true;
}

static bool parse_struct_entry(kc__cel_parser *p, kc__cel_entry *entry, bool first)
{
    entry->optional = take_optional(p);
    if (!entry->optional && p->token.kind != KC__CEL_T_IDENT &&
        p->token.kind != KC__CEL_T_ESCAPED_IDENT) {
        kc__cel_fail_token(p,
                           first ? "{'}', ',', '?', IDENTIFIER, ESC_IDENTIFIER}"
                                 : "{'}', '?', IDENTIFIER, ESC_IDENTIFIER}",
                           false);
        return false;
    }
    if (!parse_field_name(p, &entry->field))
        return false;
    entry->at = p->token.at;
    if (!kc__cel_expect_op(p, ":"))
        return false;
    entry->value = kc__cel_parse_expr(p);
    return entry->value != NULL;
}

/* The entries of a map or, with a type name, of a struct, at the opening brace. */
static kc__cel_expr *parse_braces_expr(kc__cel_parser *p, const kc_str *type_name)
{
    kc__cel_expr *map =
        kc__cel_new_expr(p->s, type_name ? KC__CEL_STRUCT : KC__CEL_MAP, p->token.at);
    if (type_name)
        map->map.type_name = kc_arena_str(p->s->arena, *type_name);
    entry_vec entries = {0};
    bool ok = true, comma = false;
    kc__cel_advance(p);
    while (ok && !kc__cel_at_op(p, "}") && !kc__cel_at_op(p, ",")) {
        kc__cel_entry entry = {0};
        ok = type_name ? parse_struct_entry(p, &entry, !entries.n) : parse_map_entry(p, &entry);
        kc_vec_push(&entries, entry);
        comma = ok && kc__cel_take_op(p, ",", NULL);
        if (!comma)
            break;
    }
    if (!entries.n)
        comma = kc__cel_take_op(p, ",", NULL);
    ok = ok && (comma ? kc__cel_expect_op(p, "}") : kc__cel_expect_one_of(p, "}", "{'}', ','}"));
    keep_entries(p, map, &entries);
    return ok ? map : NULL;
}

/* ---- calls ---- */

static kc__cel_expr *make_call(kc__cel_parser *p, uint32_t at, kc_str function,
                               kc__cel_expr *target, const kc__cel_expr_vec *args)
{
    kc__cel_expr *expanded = NULL, **kept = keep_exprs(p, args);
    if (kc__cel_expand_macro(p->env, p->s, at, function, target, kept, args->n, &expanded))
        return expanded ? expanded : kc__cel_new_expr(p->s, KC__CEL_UNSPECIFIED, p->s->last_at);
    kc__cel_expr *call = kc__cel_new_expr(p->s, KC__CEL_CALL, at);
    call->call.function = kc_arena_str(p->s->arena, function);
    call->call.target = target;
    call->call.args = kept;
    call->call.n_args = args->n;
    return call;
}

/* The arguments at an opening parenthesis, and the call. */
static kc__cel_expr *parse_call(kc__cel_parser *p, kc_str function, kc__cel_expr *target)
{
    uint32_t at = p->token.at;
    kc__cel_expr_vec args = {0};
    kc__cel_advance(p);
    kc__cel_expr *call = parse_args(p, &args) ? make_call(p, at, function, target, &args) : NULL;
    kc_vec_done(&args);
    return call;
}

static bool is_reserved(kc_str name)
{
    static const char *const reserved[] = {
        "as",  "break", "const",   "continue",  "else",   "for", "function", "if",    "import",
        "let", "loop",  "package", "namespace", "return", "var", "void",     "while", NULL};
    return kc_str_is_any(name, reserved);
}

/* ---- primary expressions ---- */

/* An identifier, a call of a global function, or a struct of a qualified type name. */
static kc__cel_expr *parse_name(kc__cel_parser *p)
{
    uint32_t start = p->token.at;
    bool dotted = kc__cel_take_op(p, ".", NULL);
    if (p->token.kind != KC__CEL_T_IDENT)
        return fail_name(p);
    kc__cel_token token = p->token;
    kc_str name = token.text;
    if (dotted) /* The dot is part of the name, without the space that may follow it. */
        name = kc_cstr(kc_arena_printf(p->s->arena, ".%.*s", KC_ARG(token.text)));
    kc__cel_advance(p);
    if (kc__cel_at_op(p, "{") && !is_reserved(token.text))
        return parse_braces_expr(p, &name);
    kc__cel_expr *call = NULL;
    if (kc__cel_at_op(p, "(") && !(call = parse_call(p, name, NULL)))
        return NULL;
    if (is_reserved(token.text)) {
        kc__cel_report(p->s, start, "reserved identifier: %.*s", KC_ARG(token.text));
        return kc__cel_new_expr(p->s, KC__CEL_UNSPECIFIED, start);
    }
    return call ? call : kc__cel_new_ident(p->s, token.at, kc_arena_str(p->s->arena, name));
}

static kc__cel_expr *parse_parenthesized(kc__cel_parser *p)
{
    kc__cel_advance(p);
    kc__cel_expr *expr = kc__cel_parse_expr(p);
    return expr && kc__cel_expect_op(p, ")") ? expr : NULL;
}

static kc__cel_expr *parse_primary(kc__cel_parser *p)
{
    if (!kc__cel_starts_expression(&p->token))
        return kc__cel_fail_expression(p);
    if (p->token.kind == KC__CEL_T_IDENT || kc__cel_at_op(p, "."))
        return parse_name(p);
    if (p->token.kind != KC__CEL_T_OPERATOR)
        return parse_literal_token(p, NULL);
    if (kc__cel_at_op(p, "("))
        return parse_parenthesized(p);
    if (kc__cel_at_op(p, "["))
        return parse_list(p);
    if (kc__cel_at_op(p, "{"))
        return parse_braces_expr(p, NULL);
    uint32_t sign;
    if (kc__cel_take_op(p, "-", &sign) &&
        (p->token.kind == KC__CEL_T_INT || p->token.kind == KC__CEL_T_FLOAT))
        return parse_literal_token(p, &sign);
    return kc__cel_fail_expression(p);
}

/* ---- members ---- */

/* The dotted name of a chain of selects of identifiers; false for any other expression. */
static bool qualified_name(const kc__cel_expr *expr, kc_buf *out)
{
    if (expr->kind == KC__CEL_IDENT) {
        kc_buf_append(out, expr->ident.name);
        return true;
    }
    if (expr->kind != KC__CEL_SELECT || expr->select.test_only ||
        !qualified_name(expr->select.operand, out))
        return false;
    kc_buf_putc(out, '.');
    kc_buf_append(out, expr->select.field);
    return true;
}

static kc__cel_expr *parse_optional_select(kc__cel_parser *p, kc__cel_expr *operand, uint32_t at)
{
    uint32_t field_at = p->token.at;
    kc_str field;
    if (!parse_field_name(p, &field))
        return NULL;
    if (!kc__cel_env_has(p->env, KC__CEL_OPTIONALS))
        return kc__cel_fail_semantic(p, at, "unsupported syntax '.?'");
    return kc__cel_call(p->s, at, KC__CEL_OP_OPT_SELECT, operand,
                        kc__cel_new_literal(p->s, field_at, kc_cel_of_str(field)));
}

/* What follows a dot: a field, a call, or the rest of the type name of a struct. */
static kc__cel_expr *parse_select(kc__cel_parser *p, kc__cel_expr *operand)
{
    uint32_t at = p->token.at;
    kc__cel_advance(p);
    if (kc__cel_take_op(p, "?", NULL))
        return parse_optional_select(p, operand, at);
    bool simple = p->token.kind == KC__CEL_T_IDENT;
    if (p->token.kind == KC__CEL_T_IN) { /* cel-go continues with the operator: self in … */
        fail_name(p);
        return operand;
    }
    kc_str field;
    if (!parse_field_name(p, &field))
        return NULL;
    if (simple && kc__cel_at_op(p, "("))
        return parse_call(p, field, operand);
    kc__cel_expr *select = kc__cel_new_select(p->s, at, operand, field);
    kc_scoped(kc_buf) name = {0};
    if (!kc__cel_at_op(p, "{") || !qualified_name(select, &name))
        return select;
    kc_str type_name = kc_buf_str(&name);
    return parse_braces_expr(p, &type_name);
}

static kc__cel_expr *parse_index(kc__cel_parser *p, kc__cel_expr *operand)
{
    uint32_t at = p->token.at;
    kc__cel_advance(p);
    bool optional = kc__cel_take_op(p, "?", NULL);
    if (!optional && !kc__cel_starts_expression(&p->token)) {
        kc__cel_token next = kc__cel_peek(p);
        return kc__cel_fail_token(p, index_start, kc__cel_starts_expression(&next));
    }
    kc__cel_expr *index = kc__cel_parse_expr(p);
    if (!index || !kc__cel_expect_op(p, "]"))
        return NULL;
    if (optional && !kc__cel_env_has(p->env, KC__CEL_OPTIONALS))
        return kc__cel_fail_semantic(p, at, "unsupported syntax '[?'");
    return kc__cel_call(p->s, at, optional ? KC__CEL_OP_OPT_INDEX : KC__CEL_OP_INDEX, operand,
                        index);
}

kc__cel_expr *kc__cel_parse_member(kc__cel_parser *p)
{
    unsigned depth = p->depth[KC__CEL_RULE_MEMBER];
    kc__cel_expr *expr = kc__cel_deeper(p, KC__CEL_RULE_MEMBER) ? parse_primary(p) : NULL;
    while (expr && (kc__cel_at_op(p, ".") || kc__cel_at_op(p, "["))) {
        if (!kc__cel_deeper(p, KC__CEL_RULE_MEMBER))
            expr = NULL;
        else
            expr = kc__cel_at_op(p, ".") ? parse_select(p, expr) : parse_index(p, expr);
    }
    p->depth[KC__CEL_RULE_MEMBER] = depth;
    return expr;
}
