/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rules_check.c: checks the rules of a definition before it is stored.
 *
 * Every rule must compile, and its estimated cost, multiplied by the number of places in an object
 * where it may apply, must stay within a limit; so must the sum of all rules. Rules whose schema is
 * invalid at or below their place are not checked: their errors would be misleading.
 */
#include "cel/rules/rules_internal.h"

#include "object/gofmt/go_json.h"
#include "object/gofmt/go_quote.h"

#include <stdio.h>

enum { MOST_EXPENSIVE = 4 };

typedef struct expensive_rule {
    char *path;
    uint64_t cost;
} expensive_rule;

typedef struct rules_check {
    const kc_cel_rules_check_opts *opts;
    kc_field_errors *errors;
    size_t last_error; /* Errors about keywords are in [opts->first_error, last_error). */
    uint64_t total;
    expensive_rule expensive[MOST_EXPENSIVE + 1];
    size_t n_expensive;
} rules_check;

/* ---- texts ---- */

/* A rule as Go prints its internal struct. */
static void write_go_rule(kc_buf *out, const kc_value *rule)
{
    static const struct {
        const char *json, *go, *zero;
    } fields[] = {
        {"rule", "Rule", "\"\""},
        {"message", "Message", "\"\""},
        {"messageExpression", "MessageExpression", "\"\""},
        {"reason", "Reason", "null"},
        {"fieldPath", "FieldPath", "\"\""},
        {"optionalOldSelf", "OptionalOldSelf", "null"},
    };
    for (size_t i = 0; i < KC_COUNT(fields); i++) {
        const kc_value *value = kc_value_get(rule, fields[i].json);
        kc_buf_printf(out, "%c\"%s\":", i ? ',' : '{', fields[i].go);
        if (value && kc_value_type(value) != KC_JSON_NULL)
            kc__go_json(out, value);
        else
            kc_buf_puts(out, fields[i].zero);
    }
    kc_buf_putc(out, '}');
}

static void write_cost_error(kc_buf *out, const char *what, uint64_t cost, uint64_t limit)
{
    double factor = (double)cost / (double)limit;
    char text[64] = "more than 100x";
    if (factor < 1.5)
        snprintf(text, sizeof(text), "%fx", factor);
    else if (factor <= 100)
        snprintf(text, sizeof(text), "%.1fx", factor);
    kc_buf_printf(
        out,
        "%s exceeds budget by factor of %s (try simplifying the rule, or adding maxItems, "
        "maxProperties, and maxLength where arrays, maps, and strings are declared)",
        what, text);
}

/* ---- errors ---- */

static void add_rule_error(rules_check *c, const kc__cel_rule_place *at, size_t i,
                           const char *member, kc_field_error_type type, kc_str value,
                           const char *detail)
{
    kc_scoped(kc_buf) field = {0};
    kc_buf_printf(&field, "%s.x-kubernetes-validations[%zu].%s", at->path, i, member);
    kc_field_errors_add(c->errors, type, kc_buf_cstr(&field), value, "%s", detail);
}

/* An error that shows the whole rule. */
static void add_invalid_rule(rules_check *c, const kc__cel_rule_place *at, size_t i,
                             const kc_value *json, const char *member, const char *detail)
{
    kc_scoped(kc_buf) shown = {0};
    write_go_rule(&shown, json);
    add_rule_error(c, at, i, member, KC_FIELD_INVALID, kc_buf_str(&shown), detail);
}

static bool is_below(const char *field, const char *path)
{
    size_t n = strlen(path);
    return strncmp(field, path, n) == 0 && (field[n] == '\0' || field[n] == '.' || field[n] == '[');
}

static bool has_no_errors_below(const char *path, void *user)
{
    const rules_check *c = user;
    for (size_t i = c->opts->first_error; i < c->last_error; i++)
        if (is_below(c->errors->list.items[i].field, path))
            return false;
    return true;
}

/* ---- costs ---- */

static uint64_t add_costs(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

/* Keeps the most expensive ones, the most expensive first. */
static void observe_cost(rules_check *c, const kc__cel_rule_place *at, size_t i, const char *member,
                         uint64_t cost)
{
    c->total = add_costs(c->total, cost);
    if (cost < KC_CEL_RULES_COST_MAX / 100)
        return;
    size_t to = c->n_expensive;
    while (to > 0 && c->expensive[to - 1].cost < cost)
        to--;
    memmove(&c->expensive[to + 1], &c->expensive[to],
            (c->n_expensive - to) * sizeof(*c->expensive));
    c->expensive[to] = (expensive_rule){
        kc_asprintf("%s.x-kubernetes-validations[%zu].%s", at->path, i, member), cost};
    if (c->n_expensive < MOST_EXPENSIVE)
        c->n_expensive++;
    else
        free(c->expensive[MOST_EXPENSIVE].path);
}

static void limit_cost(rules_check *c, const kc__cel_rule_place *at, size_t i, const char *member,
                       const char *what, uint64_t cost)
{
    if (!c->opts->ignores_rule_costs && cost > KC_CEL_RULE_COST_MAX) {
        kc_scoped(kc_buf) detail = {0};
        write_cost_error(&detail, what, cost, KC_CEL_RULE_COST_MAX);
        add_rule_error(c, at, i, member, KC_FIELD_FORBIDDEN, (kc_str){0}, kc_buf_cstr(&detail));
    }
    observe_cost(c, at, i, member, cost);
}

/* The cost of one evaluation times the number of values in an object. */
static uint64_t cost_of(const kc__cel_rule_place *at, const kc_cel_program *program)
{
    uint64_t cost = program ? kc_cel_program_cost(program).max : 0, product;
    uint64_t count = at->bounded ? at->count : kc_cel_type_max_count(at->node->type);
    return __builtin_mul_overflow(cost, count, &product) ? UINT64_MAX : product;
}

/* ---- rules ---- */

static void check_old_self(rules_check *c, const kc__cel_rule_place *at, size_t i,
                           const kc_value *json)
{
    const kc__cel_schema_rule *rule = &at->node->rules[i];
    const kc_value *optional = kc_value_get(json, "optionalOldSelf");
    if (rule->uses_old && at->no_old_self.n) {
        kc_scoped(kc_buf) shown = {0}, detail = {0};
        kc__go_quote(&shown, kc_value_as_str(kc_value_get(json, "rule")));
        kc_buf_printf(&detail,
                      "oldSelf cannot be used on the uncorrelatable portion of the schema within "
                      "%.*s",
                      KC_ARG(at->no_old_self));
        add_rule_error(c, at, i, "rule", KC_FIELD_INVALID, kc_buf_str(&shown),
                       kc_buf_cstr(&detail));
    } else if (!rule->uses_old && kc_value_type(optional) == KC_JSON_BOOL) {
        add_rule_error(c, at, i, "optionalOldSelf", KC_FIELD_INVALID,
                       kc_value_as_bool(optional, false) ? KC_STR("true") : KC_STR("false"),
                       "may not be set if oldSelf is not used in rule");
    }
}

static void check_compiled_rule(rules_check *c, const kc__cel_rule_place *at, size_t i,
                                const kc_value *json)
{
    const kc__cel_schema_rule *rule = &at->node->rules[i];
    limit_cost(c, at, i, "rule", "estimated rule cost", cost_of(at, rule->program));
    if (rule->error)
        add_invalid_rule(c, at, i, json, "rule", rule->error);
    if (rule->message_error)
        add_invalid_rule(c, at, i, json, "messageExpression", rule->message_error);
    else if (rule->message)
        limit_cost(c, at, i, "messageExpression", "estimated messageExpression cost",
                   kc_cel_program_cost(rule->message).max);
    check_old_self(c, at, i, json);
}

static void check_place(const kc__cel_rule_place *at, void *user)
{
    rules_check *c = user;
    size_t i = 0;
    if (at->node->has_no_type) {
        kc_scoped(kc_buf) field = {0};
        kc_buf_printf(&field, "%s.x-kubernetes-validations", at->path);
        kc_field_errors_add(c->errors, KC_FIELD_INTERNAL, kc_buf_cstr(&field), (kc_str){0},
                            "internal error: failed to construct type information for "
                            "x-kubernetes-validations rules: unable to convert structural schema "
                            "to CEL declarations");
        return;
    }
    kc_value_each_item (kc_value_get(at->json, "x-kubernetes-validations"), json)
        check_compiled_rule(c, at, i++, json);
}

static void check_total(rules_check *c, const char *base)
{
    if (c->total <= KC_CEL_RULES_COST_MAX)
        return;
    kc_scoped(kc_buf) detail = {0};
    for (size_t i = 0; i < c->n_expensive; i++)
        kc_field_errors_add(c->errors, KC_FIELD_FORBIDDEN, c->expensive[i].path, (kc_str){0},
                            "contributed to estimated rule cost total exceeding cost limit for "
                            "entire OpenAPIv3 schema");
    write_cost_error(&detail,
                     "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 "
                     "schema",
                     c->total, KC_CEL_RULES_COST_MAX);
    kc_field_errors_add(c->errors, KC_FIELD_FORBIDDEN, base, (kc_str){0}, "%s",
                        kc_buf_cstr(&detail));
}

bool kc_cel_rules_check(const kc_value *openapi, const kc_schema *schema,
                        const kc_cel_rules_check_opts *opts, kc_field_errors *errors)
{
    kc_cel_rules_check_opts none = {.first_error = errors->list.n};
    size_t before = errors->list.n + errors->dropped;
    rules_check c = {.opts = opts ? opts : &none, .errors = errors, .last_error = errors->list.n};
    const char *base = c.opts->base ? c.opts->base : "spec.validation.openAPIV3Schema";
    kc_auto(kc_cel_rules) *rules = kc__cel_rules_new();
    kc__cel_rule_compiler compiler = {.rules = rules,
                                      .stored_rules = c.opts->stored_rules,
                                      .stored_messages = c.opts->stored_messages};
    kc__cel_rule_visitor visitor = {
        .accepts = has_no_errors_below, .visit = check_place, .user = &c};
    kc__cel_rules_build(&compiler, openapi, schema,
                        &(kc__cel_rule_build_opts){.base = base, .visitor = &visitor});
    kc__cel_rule_compiler_done(&compiler);
    check_total(&c, base);
    for (size_t i = 0; i < c.n_expensive; i++)
        free(c.expensive[i].path);
    return errors->list.n + errors->dropped == before;
}
