/* SPDX-License-Identifier: Apache-2.0 */
/*
 * policy_activation.c: the variables of expressions, and evaluation within Kubernetes' budgets.
 *
 * What policies share is made once for all of them: objects are parsed, and `request` and the
 * namespace, when an expression reads them first. Variables of a policy are evaluated when an
 * expression reads them, once per activation; their cost counts for the expression that reads them
 * first.
 *
 * On an event loop the sum of costs is limited, with a charge for each expression and for bytes
 * that are parsed. Evaluation has no side effects, so a worker thread simply starts over.
 */
#include "apiserver/admission/policies/policy_activation.h"

#include "apiserver/admission/chain/admission_review.h"
#include "apiserver/admission/chain/object_versions.h"

enum {
    LOOP_BUDGET = 10000, /* Units of cost on an event loop; about 0.3 ms. */
    LOOP_BYTES = 1 << 20,
    MAX_BYTES = 16 << 20,   /* Memory of an expression. */
    MAX_KEPT = 4 << 20,     /* Of the values of all variables of a policy. */
    EXPRESSION_CHARGE = 10, /* An expression that costs nothing takes time, too. */
    BYTES_PER_UNIT = 32,    /* Of JSON that is parsed. */
    MAX_VARIABLE_DEPTH = 64,
};

#define OUT_OF_BUDGET                                                                           \
    "validation failed due to running out of cost budget, no further validation rules will be " \
    "run"

struct kc__admission_known {
    kc_cel_value value;
    enum { VARIABLE_UNKNOWN, VARIABLE_IN_PROGRESS, VARIABLE_KNOWN } state;
};

/* ---- the request ---- */

static void set_resource_check(kc__admission_evaluation *ev)
{
    const kc__admission_attributes *about = ev->about;
    ev->resource_check = (kc_cel_resource_check){
        .authorizer = &ev->authorizer,
        .check = {.group = kc_cstr(about->resource->group),
                  .resource = kc_cstr(about->resource->plural),
                  .subresource = kc_cstr(about->subresource ? about->subresource->name : ""),
                  .ns = about->ns,
                  .name = about->name}};
}

/* A request that is not on a worker can move to one, unless its verb waits on the loop. */
static bool may_move_to_worker(const kc__rest_call *call)
{
    return call->api->offload && !call->on_worker && !call->verb->on_loop;
}

void kc__admission_evaluation_init(kc__admission_evaluation *ev, kc__rest_call *call,
                                   const kc__admission_attributes *about)
{
    const bool is_namespace =
        !*about->resource->group && !strcmp(about->resource->plural, "namespaces");
    *ev = (kc__admission_evaluation){
        .call = call,
        .about = about,
        .has_space = !kc_str_empty(about->ns) && !is_namespace,
        .authorizer = {.check = kc__admission_authorizer_check, .user = ev},
        .loop_budget = may_move_to_worker(call) ? LOOP_BUDGET : UINT64_MAX,
    };
    set_resource_check(ev);
}

static void forget_version(kc__admission_evaluation *ev)
{
    for (size_t i = 0; i < KC_COUNT(ev->objects); i++) {
        ev->objects[i] = kc_view_free(ev->objects[i]);
        ev->shown[i] = kc_object_unref(ev->shown[i]);
        ev->requests[i] = kc_view_free(ev->requests[i]);
        ev->bound[i] = 0;
    }
    kc__admission_conditions_forget(ev);
}

void kc__admission_evaluation_done(kc__admission_evaluation *ev)
{
    forget_version(ev);
    kc_view_free(ev->space);
    kc__admission_evaluation_clear(ev);
    kc_vec_done(&ev->kept);
    kc_arena_done(&ev->arena);
    kc_arena_done(&ev->scratch);
}

void kc__admission_evaluation_clear(kc__admission_evaluation *ev)
{
    kc_vec_each (&ev->kept, arena)
        kc_arena_done(arena);
    ev->kept.n = 0;
    ev->kept_bytes = 0;
    kc_arena_clear(&ev->arena);
    kc_arena_clear(&ev->scratch);
}

kc__rest_verdict kc__admission_evaluation_show(kc__admission_evaluation *ev, const kc__resource *as,
                                               kc_error *err)
{
    const kc_object *objects[] = {ev->about->object, ev->about->old};
    kc__rest_verdict verdict = KC__REST_NEXT;
    if (as == ev->as)
        return verdict;
    forget_version(ev);
    ev->as = NULL;
    for (size_t i = 0; i < KC_COUNT(objects) && verdict == KC__REST_NEXT; i++)
        verdict =
            kc__admission_versions_get(ev->call, ev->about, objects[i], as, &ev->shown[i], err);
    if (verdict == KC__REST_NEXT)
        ev->as = as;
    return verdict;
}

void kc__admission_evaluation_replace(kc__admission_evaluation *ev, kc_object *object)
{
    ev->objects[0] = kc_view_free(ev->objects[0]);
    kc_object_unref(ev->shown[0]);
    ev->shown[0] = object;
    for (size_t i = 0; i < KC_COUNT(ev->bound); i++)
        ev->bound[i] &= ~(1U << KC__EXPRESSION_OBJECT);
    kc__admission_conditions_forget(ev);
}

bool kc__admission_evaluation_charge(kc__admission_evaluation *ev, uint64_t units)
{
    if (ev->loop_budget == UINT64_MAX)
        return true;
    if (units > ev->loop_budget) {
        ev->must_offload = true;
        ev->loop_budget = 0;
        return false;
    }
    ev->loop_budget -= units;
    return true;
}

/* ---- values ---- */

static kc_view *parse_shown(kc__admission_evaluation *ev, const kc_object *object)
{
    kc__admission_evaluation_charge(ev, kc_object_json(object).n / BYTES_PER_UNIT);
    return kc_view_of(object);
}

static kc_cel_value object_value(kc__admission_evaluation *ev, size_t which)
{
    if (!ev->shown[which])
        return kc_cel_null();
    if (!ev->objects[which])
        ev->objects[which] = parse_shown(ev, ev->shown[which]);
    return kc_cel_of_json(kc_view_root(ev->objects[which]), kc_cel_type_basic(KC_CEL_DYN));
}

static kc_cel_value request_value(kc__admission_evaluation *ev, bool for_conditions)
{
    kc_view **view = &ev->requests[for_conditions];
    if (!*view) {
        kc_scoped(kc_buf) text = {0};
        const kc__admission_review review = {.about = ev->about,
                                             .as = ev->as,
                                             .resource =
                                                 for_conditions ? ev->about->resource : NULL};
        kc__admission_review_write(&text, &review);
        *view = kc_view_parse(kc_buf_str(&text), NULL, NULL);
    }
    const kc_value *request = *view ? kc_value_get(kc_view_root(*view), "request") : NULL;
    return kc_cel_of_json(request, kc_cel_type_basic(KC_CEL_DYN));
}

static kc_cel_value space_value(kc__admission_evaluation *ev)
{
    if (!ev->has_space || !ev->about->space)
        return kc_cel_null();
    if (!ev->space)
        ev->space = parse_shown(ev, ev->about->space);
    return kc_cel_of_json(kc_view_root(ev->space), kc_cel_type_basic(KC_CEL_DYN));
}

static kc_cel_value params_value(const kc_value *params)
{
    return params ? kc_cel_of_json(params, kc_cel_type_basic(KC_CEL_DYN)) : kc_cel_null();
}

static void bind_authorizer(kc__admission_evaluation *ev, kc_cel_value *values, bool without)
{
    values[KC__EXPRESSION_AUTHORIZER] =
        without ? kc_cel_of_error(KC_STR("no such attribute(s): authorizer"))
                : kc_cel_of_authorizer(&ev->authorizer);
    values[KC__EXPRESSION_REQUEST_RESOURCE] =
        without ? kc_cel_of_error(KC_STR("no such attribute(s): authorizer.requestResource"))
                : kc_cel_of_resource_check(&ev->resource_check);
}

static kc_cel_value shared_value(kc__admission_evaluation *ev, size_t slot, bool for_conditions)
{
    switch (slot) {
    case KC__EXPRESSION_OBJECT: return object_value(ev, 0);
    case KC__EXPRESSION_OLD_OBJECT: return object_value(ev, 1);
    case KC__EXPRESSION_REQUEST: return request_value(ev, for_conditions);
    case KC__EXPRESSION_NAMESPACE: return for_conditions ? kc_cel_null() : space_value(ev);
    default: return kc_cel_null();
    }
}

/* The values of these slots, which all policies share. A slot that no expression reads is not
 * bound: reading an object parses it. */
static kc_cel_value *bind_shared(kc__admission_evaluation *ev, unsigned uses, bool for_conditions)
{
    const unsigned missing = uses & ~ev->bound[for_conditions];
    kc_cel_value *values = ev->values[for_conditions];
    for (size_t i = 0; missing >> i; i++)
        if (missing >> i & 1)
            values[i] = shared_value(ev, i, for_conditions);
    ev->bound[for_conditions] |= missing;
    return values;
}

kc_cel_value kc__admission_evaluation_value(kc__admission_evaluation *ev, size_t slot,
                                            bool for_conditions)
{
    return bind_shared(ev, 1U << slot, for_conditions)[slot];
}

static kc_cel_value get_variable(kc_str name, bool *ret_found, void *user);

static void bind_variables(kc__admission_activation *a)
{
    const size_t n = a->policy ? a->policy->n_variables : 0;
    a->known = n ? kc_arena_calloc(&a->ev->arena, n, sizeof(*a->known)) : NULL;
    a->lookup = (kc_cel_lookup){.get = get_variable, .user = a, .n_fields = n};
    a->values[KC__EXPRESSION_VARIABLES] = kc_cel_of_lookup(&a->lookup);
}

void kc__admission_activate(kc__admission_activation *a, kc__admission_evaluation *ev,
                            const kc__admission_activation_opts *opts)
{
    const unsigned uses = opts->policy ? opts->policy->uses : opts->uses;
    *a = (kc__admission_activation){.ev = ev, .policy = opts->policy};
    a->values = bind_shared(ev, uses, opts->for_conditions);
    a->values[KC__EXPRESSION_PARAMS] = params_value(opts->params);
    bind_authorizer(ev, a->values, opts->without_authorizer);
    bind_variables(a);
}

/* ---- evaluation ---- */

/* Evaluates one program. Its cost is limited by that of one expression, by what is left of the
 * budget, and on a loop by what the loop may spend. */
static int run_program(kc__admission_activation *a, const kc_cel_program *program, kc_arena *arena,
                       int64_t left, uint64_t *ret_cost, kc_cel_value *ret, kc_error *err)
{
    kc__admission_evaluation *ev = a->ev;
    const bool on_loop = ev->loop_budget != UINT64_MAX;
    uint64_t limit = KC_MIN(KC_CEL_COST_MAX, (uint64_t)KC_MAX(left, 0) + 1);
    if (on_loop)
        limit = KC_MAX(KC_MIN(limit, ev->loop_budget), 1);
    const int result =
        kc_cel_evaluate(program, a->values,
                        &(kc_cel_eval_opts){.arena = arena,
                                            .budget = limit,
                                            .max_bytes = on_loop ? LOOP_BYTES : MAX_BYTES,
                                            .ret_cost = ret_cost},
                        ret, err);
    kc__admission_evaluation_charge(ev, *ret_cost + EXPRESSION_CHARGE);
    if (on_loop && result < 0 && err->reason == KC_TOO_LARGE)
        ev->must_offload = true;
    return result;
}

static kc_cel_value variable_error(kc__admission_activation *a, kc_str name, const char *what,
                                   const char *why)
{
    return kc_cel_of_error(kc_cstr(kc_arena_printf(
        &a->ev->arena, "composited variable \"%.*s\" fails to %s: %s", KC_ARG(name), what, why)));
}

/* Keeps the value of a variable, and frees what its evaluation left behind, if it can. */
static kc_cel_value keep_variable(kc__admission_evaluation *ev, kc_cel_value value, kc_arena *arena)
{
    switch (value.kind) {
    case KC_CEL_STRING:
    case KC_CEL_BYTES:
        ev->kept_bytes += value.text.n;
        value.text = kc_arena_str(&ev->arena, value.text);
        break;
    case KC_CEL_NULL:
    case KC_CEL_BOOL:
    case KC_CEL_INT:
    case KC_CEL_UINT:
    case KC_CEL_DOUBLE:
    case KC_CEL_TIMESTAMP:
    case KC_CEL_DURATION: break;
    default:
        ev->kept_bytes += arena->used;
        kc_vec_push(&ev->kept, *arena);
        *arena = (kc_arena){0};
        break;
    }
    return value;
}

static kc_cel_value evaluate_variable(kc__admission_activation *a,
                                      const kc__admission_variable *variable)
{
    kc_scoped(kc_error) err = {0};
    kc_scoped(kc_arena) arena = {0};
    kc_cel_value value;
    uint64_t cost = 0;
    if (!variable->expression.program)
        return variable_error(a, variable->name, "compile", variable->expression.error);
    if (a->depth >= MAX_VARIABLE_DEPTH)
        return variable_error(a, variable->name, "evaluate", "variables are nested too deeply");
    a->depth++;
    const int result = run_program(a, variable->expression.program, &arena,
                                   a->budget - (int64_t)a->variables_cost, &cost, &value, &err);
    a->depth--;
    a->variables_cost += cost;
    if (result < 0)
        return variable_error(a, variable->name, "evaluate", kc_error_text(&err));
    value = keep_variable(a->ev, value, &arena);
    if (a->ev->kept_bytes > MAX_KEPT)
        return variable_error(a, variable->name, "evaluate", "memory limit of variables exceeded");
    return value;
}

static kc_cel_value get_variable(kc_str name, bool *ret_found, void *user)
{
    kc__admission_activation *a = user;
    const kc__admission_variable *variable =
        a->policy ? kc_map_get(&a->policy->variable_of, name) : NULL;
    *ret_found = variable != NULL;
    if (!variable)
        return kc_cel_null();
    struct kc__admission_known *known = &a->known[variable - a->policy->variables];
    if (known->state == VARIABLE_IN_PROGRESS)
        return variable_error(a, name, "evaluate", "the variable refers to itself");
    if (known->state == VARIABLE_UNKNOWN) {
        known->state = VARIABLE_IN_PROGRESS;
        known->value = evaluate_variable(a, variable);
        known->state = VARIABLE_KNOWN;
    }
    return known->value;
}

static kc_str compile_error(kc__admission_activation *a, const kc__admission_expression *expression)
{
    return kc_cstr(kc_arena_printf(&a->ev->arena, "compilation error: %s", expression->error));
}

kc__admission_evaluated kc__admission_evaluate(kc__admission_activation *a,
                                               const kc__admission_expression *expression,
                                               int64_t *budget, kc__admission_outcome *ret)
{
    kc_scoped(kc_error) err = {0};
    uint64_t cost = 0;
    *ret = (kc__admission_outcome){.value = kc_cel_null()};
    if (!expression->program) {
        ret->error = compile_error(a, expression);
        return KC__ADMISSION_EVALUATION_FAILED;
    }
    a->budget = *budget;
    a->variables_cost = 0;
    kc_arena_clear(&a->ev->scratch);
    const int result =
        run_program(a, expression->program, &a->ev->scratch, *budget, &cost, &ret->value, &err);
    if (a->ev->must_offload)
        return KC__ADMISSION_MUST_OFFLOAD;
    if (a->variables_cost + cost > (uint64_t)*budget) {
        ret->error = KC_STR(OUT_OF_BUDGET);
        return KC__ADMISSION_OUT_OF_BUDGET;
    }
    *budget -= (int64_t)(a->variables_cost + cost);
    if (result == 0)
        return KC__ADMISSION_EVALUATED;
    ret->error = kc_cstr(kc_arena_printf(&a->ev->arena, "expression '%.*s' resulted in error: %s",
                                         KC_ARG(expression->text), kc_error_text(&err)));
    return KC__ADMISSION_EVALUATION_FAILED;
}
