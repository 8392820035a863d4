/* SPDX-License-Identifier: Apache-2.0 */
/*
 * evict.c: an Eviction deletes a pod if its PodDisruptionBudget allows a disruption. `kubectl
 * drain` creates Evictions, and retries after a 429.
 *
 *     CHECK ──▶ DECREMENT ──▶ REPORT ──▶ DELETE ──▶ answered
 *       └────────────────────▶┘
 *
 * CHECK decides whether the budget applies: it does not for a pod that is not running, or for an
 * unhealthy pod while enough others are healthy. DECREMENT takes one disruption from the budget's
 * status and records the pod there. REPORT sets the pod's condition DisruptionTarget. DELETE
 * deletes the pod as a DELETE request would. Each step but the first is a separate write that
 * watchers see; the call returns to `proposed` after each, and a write that lost a conflict is
 * repeated on the stored state.
 *
 * If the budget was skipped because of the pod's state, the decision relies on that state
 * (`relies`): if the pod changes, CHECK runs again. A client that sent a resourceVersion of the pod
 * gets the conflict instead. A disruption from DECREMENT is not returned when a later step fails:
 * the PodDisruptionBudget controller recomputes the status.
 */
#include "apiserver/audit/audit.h"
#include "apiserver/kinds/conditions.h"
#include "apiserver/request/decode.h"
#include "apiserver/request/write.h"
#include "apiserver/verbs/deletion.h"

/* Evictions that the PodDisruptionBudget controller has not processed yet: above this number it is
 * taken to be down. */
enum { MAX_DISRUPTED = 2000 };

struct kc__rest_eviction {
    enum { CHECK, DECREMENT, REPORT, DELETE } step;
    bool relies;   /* The decision relies on the pod at revision `seen`. */
    uint64_t seen; /* Revision of the pod. */
    /* The call's resource while it is about the pod. */
    const kc__resource *pods;
    const kc__rest_served_resource *served;
    kc_str key;
    kc_str budget; /* Its name. */
};

/* ---- decoding the Eviction ---- */

static kc__rest_verdict check_ignore(kc__rest_call *call, const kc_value *options)
{
    const char *name = "ignoreStoreReadErrorWithClusterBreakingPotential";
    kc_scoped(kc_field_errors) errors = {0};
    if (!kc_value_as_bool(kc_value_get(options, name), false))
        return KC__REST_NEXT;
    kc_field_errors_add(
        &errors, KC_FIELD_INVALID, "deleteOptions.ignoreStoreReadErrorWithClusterBreakingPotential",
        KC_STR("true"), "can not be set for pod eviction, try after removing the option");
    kc_field_errors_to_error(&errors, KC_STR("policy"), KC_STR("Eviction"), call->info.name,
                             &call->error);
    return KC__REST_FAIL;
}

/* dryRun may be in the query or in the body; if in both, the values must be equal. */
static kc__rest_verdict check_dry_run(kc__rest_call *call, const kc_value *options)
{
    kc_scoped(kc_buf) body_values = {0};
    size_t n = 0;
    kc_value_each_item (kc_value_get(options, "dryRun"), item)
        kc_buf_printf(&body_values, "%s%.*s", n++ ? " " : "", KC_ARG(kc_value_as_str(item)));
    if (!call->options.dry_run || !n || kc_str_is(kc_buf_str(&body_values), "All"))
        return KC__REST_NEXT;
    return kc__rest_fail(call, KC_UNKNOWN,
                         "Non-matching dry-run options in request and content: [All] and [%s]",
                         kc_buf_cstr(&body_values));
}

static kc__rest_verdict read_options(kc__rest_call *call)
{
    kc_auto(kc_view) *view = kc_view_of(call->subresource_body);
    const kc_value *delete_options = kc_value_get(kc_view_root(view), "deleteOptions");
    if (!delete_options)
        return KC__REST_NEXT;
    bool dry = call->options.dry_run;
    if (check_ignore(call, delete_options) != KC__REST_NEXT ||
        check_dry_run(call, delete_options) != KC__REST_NEXT)
        return KC__REST_FAIL;
    kc_auto(kc_edit) *edit = kc_edit_of_value(delete_options);
    kc_auto(kc_object) *options = kc_edit_freeze(edit, &call->error);
    if (!options || kc__rest_options_read_delete(&call->query, options, call->arena, &call->options,
                                                 &call->error) < 0)
        return KC__REST_FAIL;
    call->options.dry_run = dry || call->options.dry_run;
    return KC__REST_NEXT;
}

/* Mutating admission may have changed the Eviction. */
static kc__rest_verdict check_eviction(kc__rest_call *call)
{
    if (!kc_str_eq(kc_object_name(call->subresource_body), call->info.name))
        return kc__rest_fail(call, KC_BAD_REQUEST,
                             "name in URL does not match name in Eviction object");
    return read_options(call);
}

static kc__rest_verdict decode_evict(kc__rest_call *call)
{
    const kc__rest_verdict verdict = kc__rest_decode_subresource(call);
    if (verdict != KC__REST_NEXT)
        return verdict;
    kc__audit_request_object(call, call->subresource_body);
    call->skip_validation = true;
    call->eviction = kc_arena_calloc(call->arena, 1, sizeof(*call->eviction));
    call->eviction->pods = call->resource;
    call->eviction->served = call->served;
    call->eviction->key = call->key;
    kc__rest_metadata m = {.ns = kc_object_namespace(call->subresource_body)};
    return kc__rest_check_namespace(call, &m);
}

/* ---- switching between pod and budget ---- */

static void turn_to(kc__rest_call *call, const kc__resource *resource,
                    const kc__rest_served_resource *served, kc_str key)
{
    call->resource = resource;
    call->served = served;
    call->key = key;
    call->current = kc_object_unref(call->current);
}

static void turn_to_pod(kc__rest_call *call)
{
    const struct kc__rest_eviction *e = call->eviction;
    turn_to(call, e->pods, e->served, e->key);
}

static const kc__resource *budgets(const kc__rest_call *call)
{
    return kc__registry_find(call->catalog->kinds, KC_STR("policy"), KC_STR("v1"),
                             KC_STR("poddisruptionbudgets"));
}

static const kc__rest_served_resource *served_by(const kc__rest_call *call,
                                                 const kc__resource *resource)
{
    size_t n;
    return &call->catalog->served[resource - kc__registry_resources(call->catalog->kinds, &n)];
}

static void turn_to_budget(kc__rest_call *call)
{
    const kc__resource *r = budgets(call);
    turn_to(call, r, served_by(call, r),
            kc_cstr(kc_arena_printf(call->arena, "%.*s/%.*s", KC_ARG(call->info.ns),
                                    KC_ARG(call->eviction->budget))));
}

/* ---- CHECK ---- */

static kc_str phase_of(const kc_value *pod)
{
    return kc_value_as_str(kc_value_get(kc_value_get(pod, "status"), "phase"));
}

static bool is_over(const kc__rest_call *call, const kc_value *pod)
{
    kc_str phase = phase_of(pod);
    return kc_str_is(phase, "Succeeded") || kc_str_is(phase, "Failed") ||
           !kc_str_empty(kc_object_deletion_timestamp(call->current));
}

static bool guards(const kc_object *budget, const kc_object *pod)
{
    kc_auto(kc_view) *view = kc_view_of(budget);
    kc_auto(kc_selector) *selector =
        kc_selector_of(kc_value_get(kc_value_get(kc_view_root(view), "spec"), "selector"), NULL);
    return selector && kc_selector_match(selector, pod);
}

/* Finds the budgets of the pod's namespace that select it: their number, and the first. Linear in
 * the budgets of the namespace. */
static size_t find_budgets(kc__rest_call *call, kc_object **ret)
{
    uint64_t revision;
    size_t n = 0;
    const char *prefix = kc_arena_printf(call->arena, "%.*s/", KC_ARG(call->info.ns));
    kc_auto(kc__cow_snapshot) *all =
        kc__watch_cache_snapshot(served_by(call, budgets(call))->cache, &revision);
    kc__cow_iter it = kc__cow_iter_start(all, &(kc__cow_range){.prefix = kc_cstr(prefix)});
    while (kc__cow_iter_next(&it))
        if (guards(it.object, call->current) && !n++)
            *ret = kc_object_ref(it.object);
    return n;
}

/* An unready pod may be evicted while enough others are healthy, or always if the policy is
 * AlwaysAllow. */
static bool may_go_unready(const kc_value *pod, const kc_value *budget)
{
    const kc_value *status = kc_value_get(budget, "status");
    int64_t needs = kc_value_as_i64_or(kc_value_get(status, "desiredHealthy"), 0);
    int64_t has = kc_value_as_i64_or(kc_value_get(status, "currentHealthy"), 0);
    kc_str policy =
        kc_value_as_str(kc_value_get(kc_value_get(budget, "spec"), "unhealthyPodEvictionPolicy"));
    if (kc__condition_has_true(pod, "Ready"))
        return false;
    return kc_str_is(policy, "AlwaysAllow") || (needs > 0 && has >= needs);
}

static kc__rest_verdict find_budget(kc__rest_call *call, const kc_value *pod)
{
    struct kc__rest_eviction *e = call->eviction;
    kc_auto(kc_object) *budget = NULL;
    size_t n = find_budgets(call, &budget);
    e->step = REPORT;
    if (n > 1)
        return kc__rest_fail(call, KC_UNKNOWN,
                             "This pod has more than one PodDisruptionBudget, which the eviction "
                             "subresource does not support.");
    if (!n)
        return KC__REST_PROPOSE;
    kc_auto(kc_view) *view = kc_view_of(budget);
    if (may_go_unready(pod, kc_view_root(view))) {
        e->relies = true;
        return KC__REST_PROPOSE;
    }
    e->budget = kc_arena_str(call->arena, kc_object_name(budget));
    e->step = DECREMENT;
    turn_to_budget(call);
    return KC__REST_PROPOSE;
}

static kc__rest_verdict load_evicted_pod(kc__rest_call *call)
{
    struct kc__rest_eviction *e = call->eviction;
    kc_auto(kc_view) *view = kc_view_of(call->current);
    const kc_value *pod = kc_view_root(view);
    e->seen = kc_object_revision(call->current);
    e->relies = false;
    if (!is_over(call, pod) && !kc_str_is(phase_of(pod), "Pending"))
        return find_budget(call, pod);
    e->relies = !is_over(call, pod);
    e->step = REPORT;
    return KC__REST_PROPOSE;
}

/* ---- DECREMENT ---- */

static kc__rest_verdict not_now(kc__rest_call *call, int seconds, const char *why)
{
    kc__rest_fail(call, KC_TOO_MANY_REQUESTS,
                  "Cannot evict pod as it would violate the pod's disruption budget.");
    call->error.retry_after_seconds = seconds;
    kc_error_add_cause(&call->error, "DisruptionBudget", (kc_str){0}, kc_cstr(why));
    return KC__REST_FAIL;
}

static kc__rest_verdict forbidden(kc__rest_call *call, const char *why)
{
    kc_str name = call->eviction->budget;
    kc__rest_fail(call, KC_FORBIDDEN, "poddisruptionbudget.policy \"%.*s\" is forbidden: %s",
                  KC_ARG(name), why);
    kc_error_about(&call->error, KC_STR("policy"), KC_STR("poddisruptionbudget"), name);
    return KC__REST_FAIL;
}

static kc__rest_verdict check_budget(kc__rest_call *call)
{
    kc_auto(kc_view) *view = kc_view_of(call->current);
    const kc_value *status = kc_value_get(kc_view_root(view), "status");
    kc_str name = call->eviction->budget;
    int64_t allowed = kc_value_as_i64_or(kc_value_get(status, "disruptionsAllowed"), 0);
    if (kc_value_as_i64_or(kc_value_get(status, "observedGeneration"), 0) <
        kc_object_generation(call->current))
        return not_now(call, 10,
                       kc_arena_printf(call->arena,
                                       "The disruption budget %.*s is still being processed by the "
                                       "server.",
                                       KC_ARG(name)));
    if (allowed < 0)
        return forbidden(call, "pdb disruptions allowed is negative");
    if (kc_value_len(kc_value_get(status, "disruptedPods")) > MAX_DISRUPTED)
        return forbidden(call,
                         "DisruptedPods map too big - too many evictions not confirmed by PDB "
                         "controller");
    if (allowed > 0)
        return KC__REST_NEXT;
    return not_now(
        call, 0,
        kc_arena_printf(call->arena,
                        "The disruption budget %.*s needs %lld healthy pods and has %lld currently",
                        KC_ARG(name),
                        (long long)kc_value_as_i64_or(kc_value_get(status, "desiredHealthy"), 0),
                        (long long)kc_value_as_i64_or(kc_value_get(status, "currentHealthy"), 0)));
}

static void take_one(kc_edit *edit, kc__rest_call *call)
{
    char now[KC_TIME_TEXT];
    int64_t allowed = 0, observed = 0;
    kc_node *root = kc_edit_root(edit);
    kc_node *status = kc_node_ensure_object(edit, root, KC_STR("status"));
    kc_node *pods = kc_node_ensure_object(edit, status, KC_STR("disruptedPods"));
    kc__rest_call_now(call, now);
    kc_node_as_i64(kc_node_get(status, KC_STR("disruptionsAllowed")), &allowed);
    kc_node_as_i64(kc_node_get(status, KC_STR("observedGeneration")), &observed);
    kc_node_set(edit, status, KC_STR("disruptionsAllowed"), kc_node_i64(edit, allowed - 1));
    kc_node_set(edit, pods, call->info.name, kc_node_str(edit, kc_cstr(now)));
    if (allowed > 1)
        return;
    kc_node *condition = kc__condition_new(edit, "DisruptionAllowed", "False", "InsufficientPods");
    kc_node_set(edit, condition, KC_STR("observedGeneration"), kc_node_i64(edit, observed));
    kc__condition_put(edit, root, condition, kc_cstr(now));
}

static kc__rest_verdict take_disruption(kc__rest_call *call)
{
    kc__rest_verdict verdict = check_budget(call);
    if (verdict != KC__REST_NEXT) {
        turn_to_pod(call); /* The request was about the pod. */
        return verdict;
    }
    if (call->options.dry_run) {
        call->eviction->step = REPORT;
        turn_to_pod(call);
        return KC__REST_PROPOSE;
    }
    call->proposed = kc_object_ref(call->current);
    return kc__rest_edit_object(call, &call->proposed, take_one) < 0 ? KC__REST_FAIL
                                                                     : KC__REST_NEXT;
}

/* ---- REPORT and DELETE ---- */

/* Whether the pod has changed since the decision. */
static bool must_replan(const kc__rest_call *call)
{
    const struct kc__rest_eviction *e = call->eviction;
    return e->relies && !call->options.precondition_version.p &&
           kc_object_revision(call->current) != e->seen;
}

static void add_condition(kc_edit *edit, kc__rest_call *call)
{
    char now[KC_TIME_TEXT];
    kc_node *condition =
        kc__condition_new(edit, "DisruptionTarget", "True", "EvictionByEvictionAPI");
    kc_node_set(edit, condition, KC_STR("message"),
                kc_node_str(edit, KC_STR("Eviction API: evicting")));
    kc__condition_put(edit, kc_edit_root(edit), condition, kc__rest_call_now(call, now));
}

static kc__rest_verdict report_eviction(kc__rest_call *call)
{
    if (call->options.dry_run) {
        call->eviction->step = DELETE;
        return KC__REST_PROPOSE;
    }
    call->proposed = kc_object_ref(call->current);
    return kc__rest_edit_object(call, &call->proposed, add_condition) < 0 ? KC__REST_FAIL
                                                                          : KC__REST_NEXT;
}

static kc__rest_verdict delete_it(kc__rest_call *call)
{
    kc__rest_deletion plan;
    if (kc__rest_deletion_plan(call, call->current, &plan) < 0)
        return KC__REST_FAIL;
    call->proposed = plan.object;
    call->removes = plan.removes;
    call->more_writes = plan.more_writes;
    return KC__REST_NEXT;
}

/* ---- the verb ---- */

static kc__rest_verdict propose_for_pod(kc__rest_call *call)
{
    struct kc__rest_eviction *e = call->eviction;
    if (e->step == CHECK)
        return load_evicted_pod(call);
    if (must_replan(call)) {
        e->step = CHECK;
        return KC__REST_PROPOSE;
    }
    if (kc__rest_deletion_check(call, call->current) != KC__REST_NEXT)
        return KC__REST_FAIL;
    return e->step == REPORT ? report_eviction(call) : delete_it(call);
}

static kc__rest_verdict propose_evict(kc__rest_call *call)
{
    call->proposed = kc_object_unref(call->proposed);
    call->removes = call->more_writes = false;
    bool budget = call->eviction->step == DECREMENT;
    if (!kc__rest_load_current(call))
        return kc__rest_fail_not_found(call, budget ? call->eviction->budget : call->info.name);
    return budget ? take_disruption(call) : propose_for_pod(call);
}

/* A step is done: continue with the next. */
static kc__rest_verdict respond_evict(kc__rest_call *call)
{
    struct kc__rest_eviction *e = call->eviction;
    switch (e->step) {
    case DECREMENT: turn_to_pod(call); break;
    case REPORT:
        e->seen = kc_object_revision(call->current);
        kc__rest_deletion_resume(call);
        break;
    default:
        if (!call->more_writes)
            return kc__rest_respond_success(call, 201);
        e->seen = kc_object_revision(call->current);
        kc__rest_deletion_resume(call);
        return KC__REST_PROPOSE;
    }
    e->step++;
    return KC__REST_PROPOSE;
}

const kc__rest_verb kc__rest_verb_evict = {
    .name = "create",
    .bit = KC__VERB_CREATE,
    .mutates = true,
    .replaces_object = true,
    .decode = decode_evict,
    .check_body = check_eviction,
    .propose = propose_evict,
    .respond = respond_evict,
};
