/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parser.c: the grammar, by recursive descent.
 *
 *     expr     = or [ "?" or ":" expr ]
 *     or       = and { "||" and }
 *     and      = relation { "&&" relation }
 *     relation = calc { ("<" | "==" | "in" | …) calc }
 *     calc     = unary { ("+" | "*" | …) unary }
 *     unary    = { "!" } member | { "-" } member
 *     member   = primary { "." ident [ "(" args ")" ] | "[" expr "]" }
 *
 * Chains of && and || become balanced trees, so their depth is logarithmic. The position of a node
 * is that of its operator or opening bracket, as in cel-go: messages point there.
 *
 * A syntax error ends the parse: a function returns NULL after it has reported one. Errors that do
 * not confuse the parser, such as a literal out of range, leave an unspecified node and the parse
 * continues. The texts are those of cel-go's generated parser in the common cases.
 *
 * Members and what they begin with are in parser_primary.c.
 *
 * Depth is limited per rule as cel-go limits it: each nested rule and each element of a chain
 * counts.
 */
#include "cel/syntax/parser_internal.h"

#include <stdio.h>

/* ---- tokens ---- */

void kc__cel_advance(kc__cel_parser *p)
{
    p->token = kc__cel_lex(p->s, &p->at);
}

kc__cel_token kc__cel_peek(kc__cel_parser *p)
{
    kc_cel_errors none = {0};
    kc__cel_source quiet = *p->s;
    quiet.errors = &none;
    uint32_t at = p->at;
    kc__cel_token token = kc__cel_lex(&quiet, &at);
    kc_cel_errors_done(&none);
    return token;
}

bool kc__cel_is_op(const kc__cel_token *token, const char *text)
{
    return token->kind == KC__CEL_T_OPERATOR && kc_str_is(token->text, text);
}

bool kc__cel_at_op(const kc__cel_parser *p, const char *text)
{
    return kc__cel_is_op(&p->token, text);
}

/* Consumes an operator if it is next. */
bool kc__cel_take_op(kc__cel_parser *p, const char *text, uint32_t *ret_at)
{
    if (!kc__cel_at_op(p, text))
        return false;
    if (ret_at)
        *ret_at = p->token.at;
    kc__cel_advance(p);
    return true;
}

/* ---- errors ---- */

static const char expression_start[] =
    "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, "
    "BYTES, IDENTIFIER}";

bool kc__cel_starts_expression(const kc__cel_token *token)
{
    static const char *const operators[] = {"[", "{", "(", ".", "-", "!"};
    for (size_t i = 0; i < KC_COUNT(operators); i++)
        if (kc__cel_is_op(token, operators[i]))
            return true;
    return token->kind != KC__CEL_T_END && token->kind != KC__CEL_T_OPERATOR &&
           token->kind != KC__CEL_T_IN && token->kind != KC__CEL_T_ESCAPED_IDENT;
}

/* Reports the current token where one of `expected` should be. `follows` says whether the next
 * token is one of them, so that the current one is superfluous. Returns NULL. */
void *kc__cel_fail_token(kc__cel_parser *p, const char *expected, bool follows)
{
    kc__cel_report(p->s, p->token.at, "Syntax error: %s input '%.*s' expecting %s",
                   follows ? "extraneous" : "mismatched", KC_ARG(p->token.text), expected);
    return NULL;
}

kc__cel_expr *kc__cel_fail_expression(kc__cel_parser *p)
{
    kc__cel_token next = kc__cel_peek(p);
    return kc__cel_fail_token(p, expression_start, kc__cel_starts_expression(&next));
}

/* Consumes an operator, or reports its absence. `expected` names what may come, the operator among
 * it; where that is the operator alone, and what follows fits, the operator is missing. */
bool kc__cel_expect_one_of(kc__cel_parser *p, const char *text, const char *expected)
{
    if (kc__cel_take_op(p, text, NULL))
        return true;
    kc__cel_token next = kc__cel_peek(p);
    bool alone = strlen(expected) == strlen(text) + 2;
    bool fits = p->token.kind == KC__CEL_T_END
                    ? *text == ')' || *text == ']'
                    : *text == ':' && kc__cel_starts_expression(&p->token);
    if (!kc__cel_is_op(&next, text) && alone && fits)
        kc__cel_report(p->s, p->token.at, "Syntax error: missing '%s' at '%.*s'", text,
                       KC_ARG(p->token.text));
    else
        kc__cel_fail_token(p, expected, kc__cel_is_op(&next, text));
    return false;
}

bool kc__cel_expect_op(kc__cel_parser *p, const char *text)
{
    char expected[8];
    snprintf(expected, sizeof(expected), "'%s'", text);
    return kc__cel_expect_one_of(p, text, expected);
}

kc__cel_expr *kc__cel_fail_semantic(kc__cel_parser *p, uint32_t at, const char *message)
{
    kc__cel_report(p->s, at, "%s", message);
    return kc__cel_new_expr(p->s, KC__CEL_UNSPECIFIED, at);
}

/* Counts one more level of a rule; the caller restores p->depth when it returns. */
bool kc__cel_deeper(kc__cel_parser *p, enum kc__cel_rule rule)
{
    if (p->s->n_nodes > p->s->max_nodes)
        return false;
    if (++p->depth[rule] <= KC_CEL_DEPTH_MAX)
        return true;
    kc__cel_report(p->s, KC__CEL_NOWHERE, "expression recursion limit exceeded: %d",
                   KC_CEL_DEPTH_MAX);
    return false;
}

/* ---- operators ---- */

static kc__cel_expr *parse_prefixed(kc__cel_parser *p, const char *op, const char *function)
{
    uint32_t first = p->token.at;
    size_t n = 0;
    while (kc__cel_take_op(p, op, NULL))
        n++;
    kc__cel_expr *operand = kc__cel_parse_member(p);
    if (!operand || n % 2 == 0)
        return operand;
    return kc__cel_call(p->s, first, function, operand);
}

static kc__cel_expr *parse_unary(kc__cel_parser *p)
{
    if (kc__cel_at_op(p, "!"))
        return parse_prefixed(p, "!", KC__CEL_OP_NOT);
    if (!kc__cel_at_op(p, "-"))
        return kc__cel_parse_member(p);
    kc__cel_token next = kc__cel_peek(p);
    bool number = next.kind == KC__CEL_T_INT || next.kind == KC__CEL_T_FLOAT;
    return number ? kc__cel_parse_member(p) : parse_prefixed(p, "-", KC__CEL_OP_NEGATE);
}

typedef struct operator_row {
    const char *text, *function;
} operator_row;

static const operator_row products[] = {
    {"*", KC__CEL_OP_MULTIPLY}, {"/", KC__CEL_OP_DIVIDE}, {"%", KC__CEL_OP_MODULO}, {0}};
static const operator_row sums[] = {{"+", KC__CEL_OP_ADD}, {"-", KC__CEL_OP_SUBTRACT}, {0}};
static const operator_row relations[] = {{"<", KC__CEL_OP_LESS},
                                         {"<=", KC__CEL_OP_LESS_EQUAL},
                                         {">", KC__CEL_OP_GREATER},
                                         {">=", KC__CEL_OP_GREATER_EQUAL},
                                         {"==", KC__CEL_OP_EQUAL},
                                         {"!=", KC__CEL_OP_NOT_EQUAL},
                                         {0}};

static const char *operator_function(const kc__cel_parser *p, const operator_row *rows)
{
    for (; rows->text; rows++)
        if (kc__cel_at_op(p, rows->text))
            return rows->function;
    return NULL;
}

/* operand { operator operand }, grouped from the left. Each operator is one level of the rule. */
static kc__cel_expr *parse_chain(kc__cel_parser *p, enum kc__cel_rule rule,
                                 const operator_row *rows,
                                 kc__cel_expr *(*parse_operand)(kc__cel_parser *))
{
    unsigned depth = p->depth[rule];
    kc__cel_expr *left = parse_operand(p);
    while (left) {
        const char *function = operator_function(p, rows);
        if (!function && rows == relations && p->token.kind == KC__CEL_T_IN)
            function = KC__CEL_OP_IN;
        if (!function)
            break;
        uint32_t at = p->token.at;
        kc__cel_advance(p);
        kc__cel_expr *right = kc__cel_deeper(p, rule) ? parse_operand(p) : NULL;
        left = right ? kc__cel_call(p->s, at, function, left, right) : NULL;
    }
    p->depth[rule] = depth;
    return left;
}

static kc__cel_expr *parse_product(kc__cel_parser *p)
{
    return parse_chain(p, KC__CEL_RULE_CALC, products, parse_unary);
}

static kc__cel_expr *parse_sum(kc__cel_parser *p)
{
    unsigned depth = p->depth[KC__CEL_RULE_CALC];
    kc__cel_expr *sum = kc__cel_deeper(p, KC__CEL_RULE_CALC)
                            ? parse_chain(p, KC__CEL_RULE_CALC, sums, parse_product)
                            : NULL;
    p->depth[KC__CEL_RULE_CALC] = depth;
    return sum;
}

static kc__cel_expr *parse_relation(kc__cel_parser *p)
{
    unsigned depth = p->depth[KC__CEL_RULE_RELATION];
    kc__cel_expr *relation = kc__cel_deeper(p, KC__CEL_RULE_RELATION)
                                 ? parse_chain(p, KC__CEL_RULE_RELATION, relations, parse_sum)
                                 : NULL;
    p->depth[KC__CEL_RULE_RELATION] = depth;
    return relation;
}

/* ---- logic ---- */

typedef struct logic_chain {
    const char *function;
    kc__cel_expr_vec terms;
    KC_VEC(uint32_t) ops;
} logic_chain;

static kc__cel_expr *balance(kc__cel_parser *p, const logic_chain *c, size_t lo, size_t hi)
{
    size_t mid = (lo + hi + 1) / 2;
    kc__cel_expr *left = mid == lo ? c->terms.items[mid] : balance(p, c, lo, mid - 1);
    kc__cel_expr *right = mid == hi ? c->terms.items[mid + 1] : balance(p, c, mid + 1, hi);
    return kc__cel_call(p->s, c->ops.items[mid], c->function, left, right);
}

static kc__cel_expr *parse_logic(kc__cel_parser *p, const char *op, const char *function,
                                 kc__cel_expr *(*parse_term)(kc__cel_parser *))
{
    kc__cel_expr *term = parse_term(p), *result = term;
    if (!term || !kc__cel_at_op(p, op))
        return term;
    logic_chain chain = {.function = function};
    kc_vec_push(&chain.terms, term);
    uint32_t at;
    while (term && kc__cel_take_op(p, op, &at)) {
        kc_vec_push(&chain.ops, at);
        term = parse_term(p);
        kc_vec_push(&chain.terms, term);
    }
    result = term ? balance(p, &chain, 0, chain.ops.n - 1) : NULL;
    kc_vec_done(&chain.terms);
    kc_vec_done(&chain.ops);
    return result;
}

static kc__cel_expr *parse_and(kc__cel_parser *p)
{
    return parse_logic(p, "&&", KC__CEL_OP_AND, parse_relation);
}

static kc__cel_expr *parse_or(kc__cel_parser *p)
{
    return parse_logic(p, "||", KC__CEL_OP_OR, parse_and);
}

static kc__cel_expr *parse_conditional(kc__cel_parser *p)
{
    kc__cel_expr *condition = parse_or(p);
    uint32_t at;
    if (!condition || !kc__cel_take_op(p, "?", &at))
        return condition;
    kc__cel_expr *if_true = parse_or(p);
    if (!if_true || !kc__cel_expect_op(p, ":"))
        return NULL;
    kc__cel_expr *if_false = kc__cel_parse_expr(p);
    if (!if_false)
        return NULL;
    return kc__cel_call(p->s, at, KC__CEL_OP_CONDITIONAL, condition, if_true, if_false);
}

kc__cel_expr *kc__cel_parse_expr(kc__cel_parser *p)
{
    unsigned depth = p->depth[KC__CEL_RULE_EXPR];
    kc__cel_expr *expr = kc__cel_deeper(p, KC__CEL_RULE_EXPR) ? parse_conditional(p) : NULL;
    p->depth[KC__CEL_RULE_EXPR] = depth;
    return expr;
}

static size_t count_runes(kc_str text)
{
    size_t n = 0;
    for (size_t i = 0; i < text.n; i++)
        n += ((unsigned char)text.p[i] & 0xC0) != 0x80;
    return n;
}

/* Reads the remaining tokens, so that every token that is none is reported. */
static void drain_tokens(kc__cel_parser *p)
{
    while (p->token.kind != KC__CEL_T_END)
        kc__cel_advance(p);
}

kc__cel_expr *kc__cel_parse(const kc_cel_env *env, kc__cel_source *source)
{
    size_t runes = count_runes(source->text);
    if (runes > KC_CEL_EXPRESSION_MAX) {
        kc__cel_report(source, KC__CEL_NOWHERE,
                       "expression code point size exceeds limit: size: %zu, limit %d", runes,
                       KC_CEL_EXPRESSION_MAX);
        return NULL;
    }
    kc__cel_parser p = {.env = env, .s = source};
    kc__cel_advance(&p);
    kc__cel_expr *expr = kc__cel_parse_expr(&p);
    if (expr && p.token.kind != KC__CEL_T_END) {
        kc__cel_token next = kc__cel_peek(&p);
        kc__cel_fail_token(&p, "<EOF>", next.kind == KC__CEL_T_END);
    }
    drain_tokens(&p);
    return kc__cel_failed(source) ? NULL : expr;
}
