/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan.c: plans the steps of a checked expression.
 *
 * Chains of selects and indexes become one attribute. Constant lists and maps, conversions of
 * constants, `in` with a constant list and `matches` with a constant pattern are prepared, as
 * cel-go does it with its optimizer on: prepared parts cost nothing at run time, so the plan must
 * agree.
 */
#include "cel/eval/eval_internal.h"

typedef struct planner {
    kc_cel_program *program;
    kc__cel_eval *ev;                    /* Evaluates constants, in the program's arena. */
    const kc__cel_regex_entry *compiled; /* Regular expressions of the first pass. */
    kc_buf *why;
} planner;

static kc__cel_step *plan(planner *p, const kc__cel_expr *e);

static kc__cel_step *new_step(planner *p, kc__cel_step_kind kind)
{
    kc__cel_step *step = kc_arena_new(&p->program->arena, kc__cel_step);
    step->kind = kind;
    return step;
}

static void *plan_alloc(planner *p, size_t n, size_t size)
{
    return kc_arena_calloc(&p->program->arena, KC_MAX(n, 1), size);
}

/* The message of a constant part that fails. */
static kc__cel_step *fail_plan(planner *p, kc_str message)
{
    kc_buf_append(p->why, message);
    return NULL;
}

static kc__cel_step *const_step(planner *p, kc_cel_value value)
{
    kc__cel_step *step = new_step(p, KC__CEL_S_CONST);
    if (value.kind == KC_CEL_STRING || value.kind == KC_CEL_BYTES)
        value.text = kc_arena_str(&p->program->arena, value.text);
    step->constant = value;
    return step;
}

/* ---- attributes ---- */

static kc__cel_step *plan_ident(planner *p, const kc__cel_expr *e)
{
    /* cel-go takes every name of the type type for the name of a type, variables too. */
    bool is_variable = !e->ident.names_type && e->type->kind == KC_CEL_TYPE;
    if (e->ident.has_no_value || is_variable) {
        kc_buf_printf(p->why, "reference to undefined type: %.*s", KC_ARG(e->ident.name));
        return NULL;
    }
    if (e->ident.names_type)
        return const_step(p, (kc_cel_value){.kind = KC_CEL_TYPE, .type = e->ident.names_type});
    kc__cel_step *step = new_step(p, KC__CEL_S_ATTR);
    bool local = e->ident.local >= 0;
    step->attr.root = local ? KC__CEL_R_LOCAL : KC__CEL_R_VARIABLE;
    step->attr.slot = local ? e->ident.local : e->ident.variable;
    return step;
}

/* The operand as an attribute to which a qualifier can be added. */
static kc__cel_step *as_attr(planner *p, kc__cel_step *operand)
{
    if (operand->kind == KC__CEL_S_ATTR && !operand->attr.is_test)
        return operand;
    kc__cel_step *step = new_step(p, KC__CEL_S_ATTR);
    step->attr.root = KC__CEL_R_STEP;
    step->attr.operand = operand;
    return step;
}

static kc__cel_step *add_qualifier(planner *p, kc__cel_step *operand, kc__cel_qualifier q)
{
    kc__cel_step *step = as_attr(p, operand);
    kc__cel_qualifier *all = plan_alloc(p, step->attr.n + 1, sizeof(*all));
    if (step->attr.n)
        memcpy(all, step->attr.qualifiers, step->attr.n * sizeof(*all));
    all[step->attr.n++] = q;
    step->attr.qualifiers = all;
    step->attr.is_test = q.test_only;
    return step;
}

static kc__cel_step *plan_select(planner *p, const kc__cel_expr *e)
{
    kc__cel_step *operand = plan(p, e->select.operand);
    if (!operand)
        return NULL;
    kc_str field = kc_arena_str(&p->program->arena, e->select.field);
    return add_qualifier(p, operand,
                         (kc__cel_qualifier){.kind = KC__CEL_Q_FIELD,
                                             .test_only = e->select.test_only,
                                             .key = kc__cel_text(field)});
}

static kc__cel_step *plan_index(planner *p, const kc__cel_expr *e, bool optional)
{
    kc__cel_step *operand = plan(p, e->call.args[0]), *index = plan(p, e->call.args[1]);
    if (!operand || !index)
        return NULL;
    kc__cel_qualifier q = {.kind = KC__CEL_Q_INDEX, .optional = optional, .index = index};
    if (index->kind == KC__CEL_S_CONST) {
        if (!kc__cel_is_qualifier(index->constant)) {
            kc_buf_printf(p->why, "invalid qualifier type: %s", kc__cel_go_type(index->constant));
            return NULL;
        }
        q.kind = KC__CEL_Q_FIELD;
        q.key = index->constant;
    }
    return add_qualifier(p, operand, q);
}

/* ---- lists and maps ---- */

static bool all_constant(const kc__cel_step *const *steps, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (steps[i]->kind != KC__CEL_S_CONST)
            return false;
    return true;
}

/* Replaces a step without variables by its value, which may be an error. */
static kc__cel_step *fold_step(planner *p, const kc__cel_step *step)
{
    return const_step(p, kc__cel_run(p->ev, step));
}

static kc__cel_step *plan_list(planner *p, const kc__cel_expr *e)
{
    kc__cel_step *step = new_step(p, KC__CEL_S_LIST);
    const kc__cel_step **items = plan_alloc(p, e->list.n, sizeof(*items));
    for (size_t i = 0; i < e->list.n; i++)
        if (!(items[i] = plan(p, e->list.items[i])))
            return NULL;
    step->list.items = items;
    step->list.n = e->list.n;
    if (e->list.optional) {
        bool *optional = plan_alloc(p, e->list.n, sizeof(*optional));
        memcpy(optional, e->list.optional, e->list.n * sizeof(*optional));
        step->list.optional = optional;
    }
    return all_constant(items, e->list.n) ? fold_step(p, step) : step;
}

/* The entries of a map, or the fields of an object, whose keys are their names. */
static kc__cel_step *plan_entries(planner *p, const kc__cel_expr *e, bool fields)
{
    kc__cel_step *step = new_step(p, KC__CEL_S_MAP);
    size_t n = e->map.n;
    const kc__cel_step **keys = plan_alloc(p, n, sizeof(*keys));
    const kc__cel_step **values = plan_alloc(p, n, sizeof(*values));
    bool *optional = plan_alloc(p, n, sizeof(*optional));
    for (size_t i = 0; i < n; i++) {
        keys[i] = fields ? const_step(p, kc__cel_text(e->map.entries[i].field))
                         : plan(p, e->map.entries[i].key);
        values[i] = keys[i] ? plan(p, e->map.entries[i].value) : NULL;
        if (!values[i])
            return NULL;
        optional[i] = e->map.entries[i].optional;
    }
    step->map.keys = keys;
    step->map.values = values;
    step->map.optional = optional;
    step->map.n = n;
    return step;
}

static kc__cel_step *plan_map(planner *p, const kc__cel_expr *e)
{
    kc__cel_step *step = plan_entries(p, e, false);
    if (!step || !all_constant(step->map.keys, step->map.n) ||
        !all_constant(step->map.values, step->map.n))
        return step;
    return fold_step(p, step);
}

/* An object of a type that the compilation made, or that is static. */
static const kc_cel_type *keep_object_type(planner *p, const kc_cel_type *type)
{
    kc_cel_type *copy = plan_alloc(p, 1, sizeof(*copy));
    *copy = *type;
    copy->name = kc_arena_strndup(&p->program->arena, type->name, strlen(type->name));
    return copy;
}

static kc__cel_step *plan_struct(planner *p, const kc__cel_expr *e)
{
    kc__cel_step *step = plan_entries(p, e, true);
    if (step)
        step->map.type = e->type->kind == KC_CEL_OBJECT ? keep_object_type(p, e->type) : e->type;
    return step;
}

/* ---- calls ---- */

static kc__cel_step *plan_operator(planner *p, const kc__cel_expr *e, kc__cel_step_kind kind)
{
    kc__cel_step *step = new_step(p, kind);
    const kc__cel_step **to[] = {&step->op.a, &step->op.b, &step->op.c};
    for (size_t i = 0; i < e->call.n_args; i++)
        if (!(*to[i] = plan(p, e->call.args[i])))
            return NULL;
    return step;
}

static bool is_conversion(kc_str function)
{
    static const char *const conversions[] = {"bool", "bytes", "double", "duration",
                                              "dyn",  "int",   "string", "timestamp",
                                              "type", "uint",  NULL};
    return kc_str_is_any(function, conversions);
}

/* x in a list of constants: a lookup in a set, unless an element is not a scalar. */
static kc__cel_step *plan_membership(planner *p, const kc__cel_step *call)
{
    kc_cel_value list = call->call.args[1]->constant, item;
    kc__cel_iter iter;
    if (!kc__cel_iter_begin(p->ev, list, &iter))
        return NULL;
    if (!kc__cel_list_len(list))
        return const_step(p, kc__cel_bool(false));
    kc__cel_map *set = kc__cel_values_new(p->ev, kc__cel_list_len(list));
    while (set && kc__cel_iter_next(p->ev, &iter, &item, NULL)) {
        if (item.kind < KC_CEL_BOOL || item.kind > KC_CEL_STRING)
            return NULL;
        kc__cel_map_put(p->ev, set, item, item);
    }
    kc__cel_step *step = new_step(p, KC__CEL_S_IN_SET);
    step->in_set.operand = call->call.args[0];
    step->in_set.set = set;
    return set ? step : NULL;
}

static bool keep_regex(planner *p, kc__cel_step *step, kc_str pattern)
{
    if (p->compiled) { /* By the first pass, in the same order. */
        step->call.regex = p->compiled->regex;
        step->call.stops_early = true;
        p->compiled = p->compiled->next;
        return true;
    }
    kc_scoped(kc_buf) why = {0};
    kc__regex *regex = kc__regex_compile(pattern, NULL, &why);
    if (!regex) {
        kc_buf_append(p->why, kc_buf_str(&why));
        return false;
    }
    kc__cel_regex_entry *entry = kc_new(kc__cel_regex_entry);
    entry->regex = regex;
    kc__cel_regex_entry **end = &p->program->regexes;
    while (*end)
        end = &(*end)->next;
    *end = entry;
    step->call.regex = regex;
    step->call.stops_early = true;
    return true;
}

/* Prepares what can be prepared of a planned call. NULL when a constant part fails. */
static kc__cel_step *prepare_call(planner *p, kc__cel_step *step)
{
    const kc__cel_overload *overload = step->call.overloads[0];
    const kc__cel_step *const *args = step->call.args;
    size_t n = step->call.n_args;
    if (n == 1 && is_conversion(step->call.function) && args[0]->kind == KC__CEL_S_CONST) {
        kc__cel_step *folded = fold_step(p, step);
        if (kc__cel_is_error(folded->constant))
            return fail_plan(p, folded->constant.text);
        return folded;
    }
    if (step->call.n_overloads == 1 && strcmp(overload->id, "in_list") == 0 &&
        args[1]->kind == KC__CEL_S_CONST) {
        kc__cel_step *membership = plan_membership(p, step);
        return membership ? membership : step;
    }
    step->call.stops_early = n > 2 || (step->call.n_overloads > 1 && overload->dispatched) ||
                             strcmp(overload->id, "string_format") == 0;
    bool pattern = overload->takes_pattern && n >= 2 && args[1]->kind == KC__CEL_S_CONST &&
                   args[1]->constant.kind == KC_CEL_STRING;
    return !pattern || keep_regex(p, step, args[1]->constant.text) ? step : NULL;
}

/* or and orValue of optionals do not evaluate an alternative that is not needed. */
static kc__cel_step *plan_or_else(planner *p, const kc__cel_expr *e)
{
    const kc__cel_overload *overload = e->call.overloads[0];
    bool value = strcmp(overload->id, "optional_orValue_value") == 0;
    if (!value && strcmp(overload->id, "optional_or_optional") != 0)
        return NULL;
    kc__cel_step *step = new_step(p, value ? KC__CEL_S_OR_VALUE : KC__CEL_S_OR_OPTIONAL);
    step->op.a = plan(p, e->call.target);
    step->op.b = step->op.a ? plan(p, e->call.args[0]) : NULL;
    return step;
}

static bool is_or_else(const kc__cel_expr *e)
{
    return e->call.target && e->call.n_args == 1 &&
           (kc_str_is(e->call.function, "or") || kc_str_is(e->call.function, "orValue"));
}

static bool is_in_overloads(const kc__cel_overload *overload, const kc__cel_overload *const *all,
                            size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (all[i] == overload)
            return true;
    return false;
}

/* True if cel-go has one implementation for all overloads of a function, which looks at the values
 * alone. */
static bool has_one_implementation(kc_str function)
{
    return kc_str_starts(function, KC_STR("_")) || kc_str_is(function, KC__CEL_OP_NEGATE) ||
           kc_str_is(function, KC__CEL_OP_IN) || kc_str_is(function, "size") ||
           kc_str_is(function, "matches");
}

/* The other overloads of an operator with this many arguments. */
static void plan_others(planner *p, kc__cel_step *step, const kc__cel_expr *e)
{
    if (!has_one_implementation(step->call.function))
        return;
    const kc__cel_overload **others = plan_alloc(p, e->call.n_declared, sizeof(*others));
    for (size_t i = 0; i < e->call.n_declared; i++)
        if (kc__cel_overload_arity(e->call.declared[i]) == step->call.n_args &&
            !is_in_overloads(e->call.declared[i], step->call.overloads, step->call.n_overloads))
            others[step->call.n_others++] = e->call.declared[i];
    step->call.others = others;
}

static kc__cel_step *plan_function(planner *p, const kc__cel_expr *e)
{
    kc__cel_step *step = new_step(p, KC__CEL_S_CALL);
    size_t offset = e->call.target != NULL, n = e->call.n_args + offset;
    const kc__cel_step **args = plan_alloc(p, n, sizeof(*args));
    if (offset && !(args[0] = plan(p, e->call.target)))
        return NULL;
    for (size_t i = offset; i < n; i++)
        if (!(args[i] = plan(p, e->call.args[i - offset])))
            return NULL;
    const kc__cel_overload **overloads = plan_alloc(p, e->call.n_overloads, sizeof(*overloads));
    memcpy(overloads, e->call.overloads, e->call.n_overloads * sizeof(*overloads));
    step->call.function = kc_cstr(overloads[0]->function);
    step->call.overloads = overloads;
    step->call.n_overloads = e->call.n_overloads;
    step->call.args = args;
    step->call.n_args = n;
    plan_others(p, step, e);
    return prepare_call(p, step);
}

static kc__cel_step *plan_call(planner *p, const kc__cel_expr *e)
{
    static const struct {
        const char *function;
        kc__cel_step_kind kind;
    } operators[] = {
        {KC__CEL_OP_AND, KC__CEL_S_AND},
        {KC__CEL_OP_OR, KC__CEL_S_OR},
        {KC__CEL_OP_CONDITIONAL, KC__CEL_S_CONDITIONAL},
        {KC__CEL_OP_EQUAL, KC__CEL_S_EQUAL},
        {KC__CEL_OP_NOT_EQUAL, KC__CEL_S_NOT_EQUAL},
    };
    for (size_t i = 0; i < KC_COUNT(operators); i++)
        if (kc_str_is(e->call.function, operators[i].function))
            return plan_operator(p, e, operators[i].kind);
    if (kc_str_is(e->call.function, KC__CEL_OP_INDEX))
        return plan_index(p, e, false);
    if (kc_str_is(e->call.function, KC__CEL_OP_OPT_INDEX) ||
        kc_str_is(e->call.function, KC__CEL_OP_OPT_SELECT))
        return plan_index(p, e, true);
    if (is_or_else(e)) {
        kc__cel_step *step = plan_or_else(p, e);
        return step && step->op.b ? step : NULL;
    }
    return plan_function(p, e);
}

static kc__cel_step *plan_fold(planner *p, const kc__cel_expr *e)
{
    kc__cel_step *step = new_step(p, KC__CEL_S_FOLD);
    step->fold.var = e->fold.var_local;
    step->fold.var2 = e->fold.var2.n ? e->fold.var2_local : -1;
    step->fold.accu = e->fold.accu_local;
    bool ok =
        (step->fold.range = plan(p, e->fold.range)) && (step->fold.init = plan(p, e->fold.init)) &&
        (step->fold.condition = plan(p, e->fold.condition)) &&
        (step->fold.step = plan(p, e->fold.step)) && (step->fold.result = plan(p, e->fold.result));
    return ok ? step : NULL;
}

static kc__cel_step *plan(planner *p, const kc__cel_expr *e)
{
    switch (e->kind) {
    case KC__CEL_LITERAL: return const_step(p, e->literal);
    case KC__CEL_IDENT: return plan_ident(p, e);
    case KC__CEL_SELECT: return plan_select(p, e);
    case KC__CEL_CALL: return plan_call(p, e);
    case KC__CEL_LIST: return plan_list(p, e);
    case KC__CEL_MAP: return plan_map(p, e);
    case KC__CEL_STRUCT: return plan_struct(p, e);
    case KC__CEL_FOLD: return plan_fold(p, e);
    default: return fail_plan(p, KC_STR("unsupported expression"));
    }
}

/* A copy of a type of the compilation that lives as long as the program. Object types of a registry
 * are kept. */
static const kc_cel_type *keep_type(kc_arena *arena, const kc_cel_type *type)
{
    if (!type->n_params && !type->is_open)
        return type;
    kc_cel_type *copy = kc_arena_alloc(arena, sizeof(*copy));
    *copy = *type;
    copy->name = kc_arena_strndup(arena, type->name, strlen(type->name));
    for (unsigned i = 0; i < type->n_params; i++)
        copy->params[i] = keep_type(arena, type->params[i]);
    return copy;
}

static bool plan_pass(kc_cel_program *program, const kc__cel_expr *root,
                      const kc__cel_regex_entry *compiled, kc_buf *why)
{
    kc__cel_eval ev = {.arena = &program->arena,
                       .max_bytes = KC__CEL_PLAN_MAX,
                       .budget = UINT64_MAX,
                       .regex_steps = KC_CEL_REGEX_STEPS_MAX,
                       .seed = kc__cel_seed(program)};
    planner p = {.program = program, .ev = &ev, .compiled = compiled, .why = why};
    program->type = keep_type(&program->arena, root->type);
    program->root = plan(&p, root);
    if (ev.stopped)
        kc_buf_puts(why, ev.why);
    return program->root && !ev.stopped;
}

/*
 * The first pass shows how much memory the plan takes; the second fills an arena of that size. A
 * program lives long and there are many, so it must not keep a half empty chunk.
 */
bool kc__cel_plan(kc_cel_program *program, const kc__cel_expr *root, kc_buf *why)
{
    if (!plan_pass(program, root, NULL, why))
        return false;
    size_t size = program->arena.used;
    kc_arena_done(&program->arena);
    program->arena = (kc_arena){.first = size};
    return plan_pass(program, root, program->regexes, why);
}
