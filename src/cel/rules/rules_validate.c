/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rules_validate.c: evaluates the rules of a schema for one object.
 *
 * The walk visits the parts of the object for which the tree has nodes: the rules of a value first,
 * then those of its parts. The cost of every evaluation is taken from the budget of the object;
 * when the budget is exceeded, or one evaluation exceeds its own limit, the walk ends with an
 * error.
 *
 * Rules with oldSelf run only for values that replace another one, unless oldSelf is optional. A
 * broken rule without oldSelf is forgiven if its value is unchanged (ratcheting), or, for a value
 * without counterpart, if the nearest value around it that has one is unchanged.
 *
 * Each evaluation uses the arena of the walk from its start, so memory does not grow with the
 * number of rules.
 */
#include "cel/rules/rules_internal.h"

#include "base/work.h"
#include "object/gofmt/go_quote.h"
#include "object/schema/schema_internal.h"

#include <stdarg.h>

enum {
    MESSAGE_MAX = 5 * 1024, /* Bytes of an evaluated messageExpression. */
    STEPS_OF_COST = 20, /* Steps of regular expressions that take as long as one unit of cost. */
};

typedef struct rules_run {
    const kc_cel_rules_opts *opts;
    kc_field_errors *errors;
    kc_arena arena;
    int64_t budget; /* Negative: exceeded. */
    uint64_t spent;
    uint64_t regex_steps;
    bool unfinished;
} rules_run;

/* A value of the walk. */
typedef struct rules_at {
    const kc__cel_rule_node *node;
    const kc_value *value, *old; /* old: NULL if the value replaces none. */
    kc__cel_correlated *nearest; /* The value, or what is around it, with a counterpart. */
    const kc__schema_path_frame *path;
} rules_at;

/* ---- errors ---- */

static void write_rule_field(const rules_run *r, const rules_at *at, kc_str more, kc_buf *out)
{
    kc_scoped(kc_buf) path = {0};
    const char *base = r->opts->base ? r->opts->base : "";
    kc__schema_path_write(&path, at->path, KC__SCHEMA_PATH_FIELD);
    kc_buf_puts(out, base);
    if (out->n && path.n && path.p[0] != '[')
        kc_buf_putc(out, '.');
    kc_buf_append(out, kc_buf_str(&path));
    if (out->n && more.n)
        kc_buf_putc(out, '.');
    kc_buf_append(out, more);
    if (!out->n)
        kc_buf_puts(out, "<nil>");
}

/* Adds an error about the value, which errors show by its type. */
static void add_value_error(rules_run *r, const rules_at *at, const char *fmt, ...) KC_PRINTF(3, 4);
static void add_value_error(rules_run *r, const rules_at *at, const char *fmt, ...)
{
    kc_scoped(kc_buf) field = {0}, detail = {0};
    va_list args;
    va_start(args, fmt);
    kc_buf_vprintf(&detail, fmt, args);
    va_end(args);
    write_rule_field(r, at, (kc_str){0}, &field);
    kc_field_errors_add(r->errors, KC_FIELD_INVALID, kc_buf_cstr(&field), at->node->type_name, "%s",
                        kc_buf_cstr(&detail));
}

static void fail_budget(rules_run *r, const rules_at *at)
{
    add_value_error(r, at,
                    "validation failed due to running out of cost budget, no further validation "
                    "rules will be run");
    r->budget = -1;
}

/* Adds the error of a broken rule, or a warning if the value is unchanged. */
static void add_broken_rule(rules_run *r, const rules_at *at, const kc__cel_schema_rule *rule,
                            kc_field_error_type type, kc_str detail)
{
    kc_scoped(kc_buf) field = {0};
    bool forgiven = r->opts->ratchets && !rule->uses_old && kc__cel_is_unchanged(at->nearest);
    kc_scoped(kc_field_errors) warning = {0};
    write_rule_field(r, at, rule->field, &field);
    if (type == KC_FIELD_DUPLICATE)
        detail = (kc_str){0};
    kc_field_errors_add(forgiven ? &warning : r->errors, type, kc_buf_cstr(&field),
                        at->node->type_name, "%.*s", KC_ARG(detail));
    if (forgiven && r->opts->warnings)
        kc_vec_push(r->opts->warnings,
                    kc_asprintf("%s: %s", warning.list.items[0].field, warning.list.items[0].body));
}

/* ---- evaluation ---- */

/* Evaluates a program; the cost goes to *ret_cost. False: the walk stops, because the caller wanted
 * it to. */
static bool evaluate_rule(rules_run *r, const kc_cel_program *program,
                          const kc_cel_value *variables, kc_cel_value *ret, uint64_t *ret_cost,
                          kc_error *err)
{
    kc_cel_eval_opts opts = {
        .arena = &r->arena, .ret_cost = ret_cost, .regex_steps = &r->regex_steps};
    const uint64_t stop_at = r->opts->stop_at;
    kc_arena_clear(&r->arena);
    if (stop_at)
        opts.budget = KC_MIN(stop_at - KC_MIN(r->spent, stop_at) + 1, KC_CEL_COST_MAX);
    kc_cel_evaluate(program, variables, &opts, ret, err);
    r->spent += *ret_cost;
    r->unfinished = (stop_at && err->reason == KC_TOO_LARGE) || kc__work_is_over();
    return !r->unfinished;
}

static void report_failure(rules_run *r, const rules_at *at, const kc__cel_schema_rule *rule,
                           const kc_error *err)
{
    const char *why = kc_error_text(err);
    kc_str name = rule->name;
    if (err->reason == KC_TOO_LARGE) {
        add_value_error(r, at,
                        "'%s': no further validation rules will be run due to call cost exceeds "
                        "limit for rule: %.*s",
                        why, KC_ARG(name));
        r->budget = -1;
    } else if (kc_str_starts(kc_cstr(why), KC_STR("no such overload"))) {
        add_value_error(r, at,
                        "'%s': call arguments did not match a supported operator, function or "
                        "macro signature for rule: %.*s",
                        why, KC_ARG(name));
    } else {
        add_value_error(r, at, "%s evaluating rule: %.*s", why, KC_ARG(name));
    }
}

/* ---- messages ---- */

static bool is_usable_message(kc_str message)
{
    return message.n && message.n <= MESSAGE_MAX && kc_str_find(message, '\n') < 0;
}

/* The error of a messageExpression that ends the walk. */
static void fail_message(rules_run *r, const rules_at *at, const kc__cel_schema_rule *rule,
                         const char *why, bool quotes_source)
{
    kc_scoped(kc_buf) detail = {0};
    kc_buf_puts(&detail, why);
    if (quotes_source)
        kc__go_quote(&detail, rule->message_source);
    add_broken_rule(r, at, rule, KC_FIELD_INVALID, kc_buf_str(&detail));
    r->budget = -1;
}

/* A messageExpression that fails, or returns no usable text, leaves the message of the rule. */
static void report_with_expression(rules_run *r, const rules_at *at,
                                   const kc__cel_schema_rule *rule, const kc_cel_value *variables)
{
    kc_scoped(kc_error) err = {0};
    uint64_t cost = 0;
    kc_cel_value result = {0};
    if (!evaluate_rule(r, rule->message, variables, &result, &cost, &err))
        return;
    if (cost > (uint64_t)r->budget) {
        fail_message(r, at, rule,
                     "messageExpression evaluation failed due to running out of cost budget, no "
                     "further validation rules will be run",
                     false);
        return;
    }
    if (err.reason == KC_TOO_LARGE) {
        fail_message(r, at, rule,
                     "no further validation rules will be run due to call cost exceeds limit for "
                     "messageExpression: ",
                     true);
        return;
    }
    r->budget -= (int64_t)cost;
    kc_str message = result.kind == KC_CEL_STRING ? kc_str_trim(result.text) : (kc_str){0};
    add_broken_rule(r, at, rule, rule->reason, is_usable_message(message) ? message : rule->text);
}

/* ---- the rules of a value ---- */

/* The variables of the rules of a value: oldSelf as it is, and as an optional value. */
typedef struct rule_variables {
    kc_cel_value plain[KC__CEL_RULE_VARIABLES], optional[KC__CEL_RULE_VARIABLES];
    kc_cel_value old;
} rule_variables;

static void bind_variables(const rules_at *at, rule_variables *v)
{
    kc_cel_value self = kc_cel_of_json(at->value, at->node->type);
    bool has_old = at->old && at->node->uses_old;
    v->old = has_old ? kc_cel_of_json(at->old, at->node->type)
                     : kc_cel_of_error(KC_STR("no such attribute(s): oldSelf"));
    v->plain[KC__CEL_SELF] = v->optional[KC__CEL_SELF] = self;
    v->plain[KC__CEL_OLD_SELF] = v->old;
    v->optional[KC__CEL_OLD_SELF] = kc_cel_of_optional(has_old ? &v->old : NULL);
}

static bool run_rule(rules_run *r, const rules_at *at, const kc__cel_schema_rule *rule,
                     const rule_variables *v)
{
    kc_scoped(kc_error) err = {0};
    uint64_t cost = 0;
    kc_cel_value result = {0};
    const kc_cel_value *variables = rule->optional_old ? v->optional : v->plain;
    if (rule->error) {
        add_value_error(r, at, "rule compile error: %s", rule->error);
        return true;
    }
    if (!rule->program || (rule->uses_old && !at->old && !rule->optional_old))
        return true;
    if (!evaluate_rule(r, rule->program, variables, &result, &cost, &err))
        return false;
    if (cost > (uint64_t)r->budget) {
        fail_budget(r, at);
        return false;
    }
    r->budget -= (int64_t)cost;
    if (err.reason)
        report_failure(r, at, rule, &err);
    else if (!kc_cel_is_true(result) && rule->message)
        report_with_expression(r, at, rule, v->plain);
    else if (!kc_cel_is_true(result))
        add_broken_rule(r, at, rule, rule->reason, rule->text);
    return r->budget >= 0 && !r->unfinished;
}

/* False: the walk ends. */
static bool run_rules(rules_run *r, const rules_at *at)
{
    const kc__cel_rule_node *node = at->node;
    rule_variables v;
    if (node->has_no_type)
        add_value_error(r, at,
                        "rule compiler initialization error: failed to convert to declType for "
                        "CEL validation rules");
    if (!node->n_rules)
        return true;
    if (r->budget <= 0) {
        fail_budget(r, at);
        return false;
    }
    bind_variables(at, &v);
    for (size_t i = 0; i < node->n_rules; i++)
        if (!run_rule(r, at, &node->rules[i], &v))
            return false;
    return true;
}

/* ---- the walk ---- */

static bool validate_value(rules_run *r, const rules_at *at);

/* Visits a part. `old` is its counterpart, or NULL; `forgets` excludes it from ratcheting. */
static bool validate_part(rules_run *r, const rules_at *at, const kc__cel_rule_node *node,
                          const kc_value *value, const kc_value *old,
                          const kc__schema_path_frame *path, bool forgets)
{
    bool has_old = kc_value_type(old) != KC_JSON_ABSENT && kc_value_type(old) != KC_JSON_NULL;
    kc__cel_correlated own = {.value = value, .old = old, .schema = node->schema};
    rules_at part = {.node = node,
                     .value = value,
                     .old = has_old ? old : NULL,
                     .nearest = forgets   ? NULL
                                : has_old ? &own
                                          : at->nearest,
                     .path = path};
    return validate_value(r, &part);
}

static const kc__cel_rule_node *field_node(const kc__cel_rule_node *node, kc_str name)
{
    size_t lo = 0, hi = node->n_fields;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        int order = kc_str_cmp(name, node->fields[mid].name);
        if (order == 0)
            return node->fields[mid].node;
        if (order < 0)
            hi = mid;
        else
            lo = mid + 1;
    }
    return NULL;
}

/* apiVersion and kind of the object are never ratcheted: both versions are converted to one. */
static bool is_type_meta(const rules_at *at, kc_str name)
{
    return !at->path && (kc_str_is(name, "apiVersion") || kc_str_is(name, "kind"));
}

static bool validate_members(rules_run *r, const rules_at *at)
{
    const kc__cel_rule_node *node = at->node;
    kc__cel_old_parts parts;
    bool going = true;
    kc__cel_old_object(&parts, at->old);
    kc_value_each_member (at->value, name, value) {
        const kc__cel_rule_node *child = field_node(node, name);
        kc__schema_path_frame path = {.parent = at->path,
                                      .name = name.p,
                                      .n = name.n,
                                      .step = child ? KC__SCHEMA_STEP_PROPERTY
                                                    : KC__SCHEMA_STEP_ADDITIONAL};
        child = child ? child : node->additional;
        if (child && going)
            going = validate_part(r, at, child, value, kc__cel_old_member(&parts, name), &path,
                                  is_type_meta(at, name));
    }
    kc__cel_old_parts_done(&parts);
    return going;
}

static bool validate_items(rules_run *r, const rules_at *at)
{
    kc__schema_path_frame path = {.parent = at->path, .step = KC__SCHEMA_STEP_INDEX};
    kc__cel_old_parts parts;
    bool going = true;
    if (!at->node->items)
        return true;
    kc__cel_old_list(&parts, at->old, at->node->schema);
    kc_value_each_item (at->value, item) {
        if (going)
            going = validate_part(r, at, at->node->items, item, kc__cel_old_item(&parts, item),
                                  &path, false);
        path.n++;
    }
    kc__cel_old_parts_done(&parts);
    return going;
}

/* False: the walk ends. A null breaks no rule. */
static bool validate_value(rules_run *r, const rules_at *at)
{
    kc_json_type type = kc_value_type(at->value);
    if (type == KC_JSON_NULL || type == KC_JSON_ABSENT)
        return true;
    if (!run_rules(r, at))
        return false;
    if (type == KC_JSON_ARRAY)
        return validate_items(r, at);
    bool has_parts = at->node->n_fields || at->node->additional;
    return type != KC_JSON_OBJECT || !has_parts || validate_members(r, at);
}

kc_cel_rules_result kc_cel_rules_validate(const kc_cel_rules *rules, const kc_value *value,
                                          const kc_cel_rules_opts *opts, kc_field_errors *errors)
{
    kc_cel_rules_opts none = {0};
    size_t before = errors->list.n + errors->dropped;
    rules_run r = {.opts = opts ? opts : &none, .errors = errors};
    r.budget = r.opts->budget ? *r.opts->budget : KC_CEL_OBJECT_COST_MAX;
    r.regex_steps = r.opts->stop_at ? r.opts->stop_at * STEPS_OF_COST : KC_CEL_REGEX_STEPS_MAX;
    if (!rules || !rules->root)
        return KC_CEL_RULES_VALID;
    rules_at at = {.node = rules->root};
    validate_part(&r, &at, rules->root, value, r.opts->old, NULL, false);
    kc_arena_done(&r.arena);
    if (r.opts->budget)
        *r.opts->budget = r.budget;
    if (r.unfinished)
        return KC_CEL_RULES_UNFINISHED;
    bool valid = errors->list.n + errors->dropped == before;
    return valid ? KC_CEL_RULES_VALID : KC_CEL_RULES_INVALID;
}
