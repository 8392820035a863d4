/* SPDX-License-Identifier: Apache-2.0 */
/*
 * estimate.c: the estimated cost of an expression: what it costs at least and at most.
 *
 * A walk over the checked tree adds the costs that the evaluator would charge. What depends on the
 * size of a value needs bounds: of literals they are known; of a path through declared types
 * (self.items[0].name) they come from the schema; of results of functions from the function. A fold
 * costs its step times the size of its range.
 *
 * The rules are cel-go's and Kubernetes', because limits refuse rules by them. Two of them look odd
 * but count: a select or index on a value without a path begins a new path at the root, and the
 * values of objects and numbers have size 0 on a path but 1 elsewhere.
 */
#include "cel/eval/eval_internal.h"

typedef struct local_size {
    kc_str name;
    kc__cel_path path;
    bool has_size;
    kc_cel_cost size;
    kc__cel_entry_size entry_size;
} local_size;

typedef struct estimator {
    KC_VEC(local_size) locals;
    const kc_cel_type *root; /* Declared type of the variable, or NULL. */
} estimator;

static kc_cel_cost estimate_expr(estimator *c, kc__cel_expr *e);

static kc_cel_cost fixed(uint64_t cost)
{
    return kc__cel_range(cost, cost);
}

static const kc_cel_cost unknown = {0, UINT64_MAX};

/* ---- sizes ---- */

static const local_size *find_local(const estimator *c, const kc__cel_expr *e)
{
    for (size_t i = c->locals.n; i-- > 0 && e->kind == KC__CEL_IDENT;)
        if (kc_str_eq(c->locals.items[i].name, e->ident.name))
            return &c->locals.items[i];
    return NULL;
}

static kc__cel_path path_of(const estimator *c, const kc__cel_expr *e)
{
    const local_size *local = find_local(c, e);
    return local ? local->path : e->path;
}

/* The path one step further. A step from nowhere begins at the root. */
static kc__cel_path extend_path(const estimator *c, kc__cel_path path, const kc_cel_type *to)
{
    if (!path.known)
        return (kc__cel_path){.known = true, .type = c->root};
    return (kc__cel_path){.known = true, .type = path.type ? to : NULL};
}

static const kc_cel_type *element_of(const kc_cel_type *type)
{
    bool container = type && (type->kind == KC_CEL_LIST || type->kind == KC_CEL_MAP);
    return container ? type->params[type->n_params - 1] : NULL;
}

static bool literal_size(const kc__cel_expr *e, kc_cel_cost *ret)
{
    switch (e->kind) {
    case KC__CEL_LITERAL: *ret = fixed(kc__cel_size(e->literal)); return true;
    case KC__CEL_LIST: *ret = fixed(e->list.n); return true;
    case KC__CEL_MAP: *ret = fixed(e->map.n); return true;
    default: return false;
    }
}

static bool is_scalar_type(const kc_cel_type *type)
{
    switch (type->kind) {
    case KC_CEL_BOOL:
    case KC_CEL_DOUBLE:
    case KC_CEL_DURATION:
    case KC_CEL_INT:
    case KC_CEL_TIMESTAMP:
    case KC_CEL_UINT: return true;
    case KC_CEL_OPTIONAL: return type->n_params && is_scalar_type(type->params[0]);
    default: return false;
    }
}

static bool size_of_path(kc__cel_path path, kc_cel_cost *ret)
{
    if (!path.known || !path.type || !path.type->declared)
        return false;
    *ret = kc__cel_range(0, path.type->max_elements);
    return true;
}

static bool size_of_expr(const estimator *c, kc__cel_expr *e, kc_cel_cost *ret)
{
    const local_size *local;
    if (e->has_size) {
        *ret = e->size;
        return true;
    }
    if (literal_size(e, ret))
        return true;
    if (size_of_path(path_of(c, e), ret)) {
        e->has_size = true;
        e->size = *ret;
        return true;
    }
    if (is_scalar_type(e->type)) {
        *ret = fixed(1);
        return true;
    }
    local = find_local(c, e);
    if (!local || !local->has_size)
        return false;
    *ret = local->size;
    return true;
}

static kc_cel_cost size_or_unknown(const estimator *c, kc__cel_expr *e)
{
    kc_cel_cost size;
    return size_of_expr(c, e, &size) ? size : unknown;
}

static kc__cel_entry_size entry_size_of(const estimator *c, const kc__cel_expr *e)
{
    if (e->entry_size.known)
        return e->entry_size;
    const local_size *local = find_local(c, e);
    return local ? local->entry_size : (kc__cel_entry_size){0};
}

static kc__cel_entry_size union_entries(kc__cel_entry_size a, kc__cel_entry_size b)
{
    if (!a.known || !b.known)
        return (kc__cel_entry_size){0};
    return (kc__cel_entry_size){true, a.container, kc__cel_range_union(a.key, b.key),
                                kc__cel_range_union(a.value, b.value)};
}

static void set_size(kc__cel_expr *e, bool known, kc_cel_cost size)
{
    if (!known)
        return;
    e->has_size = true;
    e->size = size;
}

/* ---- calls ---- */

enum { MOST_ARGS = KC__CEL_ARGS_MAX + 1 };

typedef struct call_parts {
    kc__cel_expr *args[MOST_ARGS]; /* The target first. */
    kc_cel_cost costs[MOST_ARGS], sizes[MOST_ARGS];
    size_t n;
    kc_cel_cost sum;
} call_parts;

static void add_part(estimator *c, call_parts *parts, kc__cel_expr *arg)
{
    if (parts->n == MOST_ARGS)
        return;
    parts->args[parts->n] = arg;
    parts->costs[parts->n] = estimate_expr(c, arg);
    parts->sizes[parts->n] = size_or_unknown(c, arg);
    parts->sum = kc__cel_range_add(parts->sum, parts->costs[parts->n]);
    parts->n++;
}

static kc__cel_estimate estimate_condition(estimator *c, kc__cel_expr *e, const call_parts *p)
{
    e->entry_size = union_entries(entry_size_of(c, p->args[1]), entry_size_of(c, p->args[2]));
    return (kc__cel_estimate){
        .cost = kc__cel_range_add(p->costs[0], kc__cel_range_union(p->costs[1], p->costs[2])),
        .has_size = true,
        .size = kc__cel_range_union(p->sizes[1], p->sizes[2])};
}

static kc__cel_estimate estimate_logic(const call_parts *p)
{
    kc_cel_cost both = kc__cel_range_add(p->costs[0], p->costs[1]);
    return kc__cel_estimate_cost_only(kc__cel_range(p->costs[0].min, both.max));
}

/* The elements of a list as the first argument, for functions over lists. */
static void describe_elements(const estimator *c, const call_parts *p, kc__cel_estimate_args *args)
{
    args->element_kind = KC_CEL_DYN;
    args->element_size = unknown;
    if (!p->n || !p->args[0]->type->n_params)
        return;
    const kc_cel_type *element = p->args[0]->type->params[0];
    args->has_elements = true;
    args->element_kind = element->kind;
    kc__cel_path path = path_of(c, p->args[0]);
    if (path.known)
        size_of_path(extend_path(c, path, element_of(path.type)), &args->element_size);
}

/* a == b of a type of Kubernetes' libraries, as Kubernetes estimates it: 1, or more for those that
 * hold a text. False for other types. */
static bool estimate_opaque_equality(const call_parts *p, kc__cel_estimate *ret)
{
    enum { MAX_FORMAT_SIZE = 64 };
    const kc_cel_type *type = p->args[0]->type;
    if (type->kind != KC_CEL_OPAQUE || type != p->args[1]->type)
        return false;
    uint64_t max = 1;
    if (type == &kc__cel_type_format)
        max = kc__cel_cost_factor(MAX_FORMAT_SIZE, KC__CEL_STRING_FACTOR);
    else if (type == &kc__cel_type_url)
        max =
            p->args[1]->has_size ? kc__cel_cost_factor(p->sizes[1].max, KC__CEL_STRING_FACTOR) : 1;
    *ret = kc__cel_estimate_cost_only(kc__cel_range(1, max));
    return true;
}

static kc__cel_estimate estimate_overload(estimator *c, kc__cel_expr *e,
                                          const kc__cel_overload *overload, const call_parts *p)
{
    if (strcmp(overload->id, "conditional") == 0)
        return estimate_condition(c, e, p);
    if (strcmp(overload->id, "logical_and") == 0 || strcmp(overload->id, "logical_or") == 0)
        return estimate_logic(p);
    kc__cel_estimate estimate = kc__cel_estimate_cost_only(fixed(1));
    bool equality = strcmp(overload->id, "equals") == 0;
    if (overload->estimate && !(equality && estimate_opaque_equality(p, &estimate))) {
        kc__cel_estimate_args args = {
            .sizes = p->sizes, .exprs = (const kc__cel_expr *const *)p->args, .n = p->n};
        describe_elements(c, p, &args);
        estimate = overload->estimate(&args);
    }
    if (strcmp(overload->function, KC__CEL_OP_ADD) == 0 && p->n == 2) {
        kc__cel_entry_size entries =
            union_entries(entry_size_of(c, p->args[0]), entry_size_of(c, p->args[1]));
        if (entries.known)
            e->entry_size = entries;
    }
    estimate.cost = kc__cel_range_add(estimate.cost, p->sum);
    return estimate;
}

/* dyn(x) costs 1 and has the sizes of x. */
static kc_cel_cost estimate_dyn(estimator *c, kc__cel_expr *e)
{
    kc__cel_expr *arg = e->call.args[0];
    kc_cel_cost cost = estimate_expr(c, arg), size;
    if (size_of_expr(c, arg, &size))
        set_size(e, true, size);
    e->entry_size = entry_size_of(c, arg);
    return kc__cel_range_add(fixed(1), cost);
}

/* The size and path of an element, for an overload that is an index. */
static bool index_result(estimator *c, kc__cel_expr *e, const kc__cel_overload *overload,
                         const call_parts *p, bool *ret_has_size, kc_cel_cost *ret_size)
{
    bool list = strcmp(overload->id, "index_list") == 0;
    if (!list && strcmp(overload->id, "index_map") != 0)
        return false;
    kc__cel_entry_size entries = entry_size_of(c, p->args[0]);
    *ret_has_size = entries.known;
    *ret_size = entries.value;
    kc__cel_path path = path_of(c, p->args[0]);
    e->path = extend_path(c, path, element_of(path.type));
    return true;
}

static kc_cel_cost estimate_call(estimator *c, kc__cel_expr *e)
{
    if (kc_str_is(e->call.function, "dyn") && e->call.n_args == 1 && !e->call.target)
        return estimate_dyn(c, e);
    call_parts parts = {0};
    if (e->call.target)
        add_part(c, &parts, e->call.target);
    for (size_t i = 0; i < e->call.n_args; i++)
        add_part(c, &parts, e->call.args[i]);
    kc_cel_cost cost = {UINT64_MAX, 0}, size = {0};
    bool has_size = false;
    for (size_t i = 0; i < e->call.n_overloads; i++) {
        kc__cel_estimate estimate = estimate_overload(c, e, e->call.overloads[i], &parts);
        cost = kc__cel_range_union(cost, estimate.cost);
        if (estimate.has_size) {
            size = has_size ? kc__cel_range_union(size, estimate.size) : estimate.size;
            has_size = true;
        }
        index_result(c, e, e->call.overloads[i], &parts, &has_size, &size);
        if (!has_size)
            has_size = size_of_expr(c, e, &size);
    }
    set_size(e, has_size, size);
    /* a.?b is no overload: a select that cel-go counts as a call. */
    return e->call.n_overloads ? cost : kc__cel_range_add(fixed(1), parts.sum);
}

/* ---- other nodes ---- */

static kc_cel_cost estimate_ident(estimator *c, kc__cel_expr *e)
{
    const local_size *local = find_local(c, e);
    if (local)
        e->path = local->path;
    else
        e->path = (kc__cel_path){.known = true, .type = c->root};
    return fixed(1);
}

static kc_cel_cost estimate_select(estimator *c, kc__cel_expr *e)
{
    kc__cel_expr *operand = e->select.operand;
    kc_cel_cost cost = estimate_expr(c, operand);
    if (e->select.test_only)
        return cost;
    if (operand->type->kind == KC_CEL_MAP || operand->type->kind == KC_CEL_OBJECT)
        cost = kc__cel_range_add(cost, fixed(1));
    kc__cel_path path = path_of(c, operand);
    const kc__cel_field *field = path.type && path.type->kind == KC_CEL_OBJECT
                                     ? kc__cel_type_field(path.type, e->select.field)
                                     : NULL;
    e->path = extend_path(c, path, field ? field->type : NULL);
    return cost;
}

static kc_cel_cost estimate_list(estimator *c, kc__cel_expr *e)
{
    kc_cel_cost cost = fixed(10), item = {e->list.n ? UINT64_MAX : 0, 0};
    for (size_t i = 0; i < e->list.n; i++) {
        cost = kc__cel_range_add(cost, estimate_expr(c, e->list.items[i]));
        item = kc__cel_range_union(item, size_or_unknown(c, e->list.items[i]));
    }
    e->entry_size = (kc__cel_entry_size){true, KC_CEL_LIST, fixed(1), item};
    return cost;
}

static kc_cel_cost estimate_map(estimator *c, kc__cel_expr *e)
{
    kc_cel_cost cost = fixed(30), none = {e->map.n ? UINT64_MAX : 0, 0}, key = none, value = none;
    for (size_t i = 0; i < e->map.n; i++) {
        kc__cel_entry *entry = &e->map.entries[i];
        cost = kc__cel_range_add(cost, estimate_expr(c, entry->key));
        cost = kc__cel_range_add(cost, estimate_expr(c, entry->value));
        key = kc__cel_range_union(key, size_or_unknown(c, entry->key));
        value = kc__cel_range_union(value, size_or_unknown(c, entry->value));
    }
    e->entry_size = (kc__cel_entry_size){true, KC_CEL_MAP, key, value};
    return cost;
}

static kc_cel_cost estimate_struct(estimator *c, kc__cel_expr *e)
{
    kc_cel_cost cost = fixed(40);
    for (size_t i = 0; i < e->map.n; i++)
        cost = kc__cel_range_add(cost, estimate_expr(c, e->map.entries[i].value));
    return cost;
}

/* ---- folds ---- */

static void push_accumulator(estimator *c, const kc__cel_expr *fold)
{
    local_size local = {.name = fold->fold.accu, .path = path_of(c, fold->fold.init)};
    local.entry_size = entry_size_of(c, fold->fold.init);
    local.has_size = size_of_expr(c, fold->fold.init, &local.size);
    kc_vec_push(&c->locals, local);
}

/* A variable of a fold: the keys or positions of its range, or the values. */
static void push_variable(estimator *c, const kc__cel_expr *fold, kc_str name, bool keys)
{
    const kc__cel_expr *range = fold->fold.range;
    kc__cel_entry_size entries = entry_size_of(c, range);
    kc_cel_kind container = entries.known ? entries.container : range->type->kind;
    kc__cel_path path = path_of(c, range);
    /* Keys are strings without a bound of their own; positions have no place in a type. */
    const kc_cel_type *to = element_of(path.type);
    static const kc_cel_type key_type = {.kind = KC_CEL_STRING, .name = "string", .declared = true};
    if (keys)
        to = container == KC_CEL_LIST || !to || path.type->kind != KC_CEL_MAP ? NULL : &key_type;
    kc_vec_push(&c->locals, (local_size){.name = name,
                                         .path = extend_path(c, path, to),
                                         .has_size = entries.known,
                                         .size = keys ? entries.key : entries.value});
}

static void push_variables(estimator *c, const kc__cel_expr *fold)
{
    kc__cel_entry_size entries = entry_size_of(c, fold->fold.range);
    kc_cel_kind container = entries.known ? entries.container : fold->fold.range->type->kind;
    bool two = fold->fold.var2.n > 0;
    push_variable(c, fold, fold->fold.var, two || container != KC_CEL_LIST);
    if (two)
        push_variable(c, fold, fold->fold.var2, false);
}

static bool is_bind(const kc__cel_expr *e)
{
    const kc__cel_expr *condition = e->fold.condition;
    return e->fold.range->kind == KC__CEL_LIST && !e->fold.range->list.n &&
           condition->kind == KC__CEL_LITERAL && condition->literal.kind == KC_CEL_BOOL &&
           !condition->literal.boolean;
}

static kc_cel_cost estimate_bind(estimator *c, kc__cel_expr *e)
{
    kc_cel_cost cost = estimate_expr(c, e->fold.range), size;
    cost = kc__cel_range_add(cost, estimate_expr(c, e->fold.init));
    push_accumulator(c, e);
    cost = kc__cel_range_add(cost, estimate_expr(c, e->fold.result));
    (void)kc_vec_pop(&c->locals);
    if (size_of_expr(c, e->fold.result, &size))
        set_size(e, true, size);
    e->entry_size = entry_size_of(c, e->fold.result);
    return cost;
}

static kc_cel_cost estimate_fold(estimator *c, kc__cel_expr *e)
{
    size_t n_locals = c->locals.n;
    kc_cel_cost cost = estimate_expr(c, e->fold.range), size;
    cost = kc__cel_range_add(cost, estimate_expr(c, e->fold.init));
    push_accumulator(c, e);
    push_variables(c, e);
    kc_cel_cost loop = estimate_expr(c, e->fold.condition);
    loop = kc__cel_range_add(loop, estimate_expr(c, e->fold.step));
    c->locals.n = n_locals + 1;
    cost = kc__cel_range_add(cost, estimate_expr(c, e->fold.result));
    c->locals.n = n_locals;
    kc_cel_cost count = size_or_unknown(c, e->fold.range);
    cost = kc__cel_range_add(cost, kc__cel_range_multiply(count, loop));
    if (e->fold.init->kind == KC__CEL_LITERAL) {
        set_size(e, size_of_expr(c, e->fold.init, &size), size);
    } else if (e->fold.init->kind == KC__CEL_LIST || e->fold.init->kind == KC__CEL_MAP) {
        set_size(e, true, count);
        kc__cel_entry_size entries = entry_size_of(c, e->fold.step);
        if (entries.known)
            e->entry_size = entries;
    }
    return cost;
}

static kc_cel_cost estimate_expr(estimator *c, kc__cel_expr *e)
{
    switch (e->kind) {
    case KC__CEL_IDENT: return estimate_ident(c, e);
    case KC__CEL_SELECT: return estimate_select(c, e);
    case KC__CEL_CALL: return estimate_call(c, e);
    case KC__CEL_LIST: return estimate_list(c, e);
    case KC__CEL_MAP: return estimate_map(c, e);
    case KC__CEL_STRUCT: return estimate_struct(c, e);
    case KC__CEL_FOLD: return is_bind(e) ? estimate_bind(c, e) : estimate_fold(c, e);
    default: return fixed(0);
    }
}

kc_cel_cost kc__cel_estimate_cost(kc__cel_expr *root, const kc__cel_scope *scope)
{
    estimator c = {0};
    for (size_t i = 0; i < scope->n_variables && !c.root; i++)
        if (scope->variables[i].type->declared)
            c.root = scope->variables[i].type;
    kc_cel_cost cost = estimate_expr(&c, root);
    kc_vec_done(&c.locals);
    return cost;
}
