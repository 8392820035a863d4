/* SPDX-License-Identifier: Apache-2.0 */
/*
 * evict.c: an Eviction deletes a pod if its PodDisruptionBudget can spare one: what `kubectl drain`
 * asks for, and asks again later when it is told 429.
 *
 *     LOOK ──▶ TAKE ──▶ TELL ──▶ DELETE ──▶ answered
 *       └──────────────▶┘
 *
 * LOOK finds out whether the budget has a say: not about a pod that is not running, or that does
 * not count as healthy while enough others do. TAKE takes one disruption from the budget's status
 * and notes the pod there. TELL gives the pod the condition DisruptionTarget. DELETE deletes it as
 * any DELETE would. Each but the first is a write of its own, seen by watchers; the call comes back
 * to `proposed` after each, and a write that lost against somebody else is made again from what is
 * stored then.
 *
 * Where the budget was not asked because of the pod's state, that state is what the decision rests
 * on (`relies`): if the pod changes, it is looked at anew. Who named a version of the pod is told
 * of the conflict instead. What TAKE took is not given back when a later step fails: the controller
 * of budgets counts anew.
 */
#include "apiserver/kinds/conditions.h"
#include "apiserver/rest/decode.h"
#include "apiserver/rest/deletion.h"
#include "apiserver/rest/write.h"

/* Evictions that the controller of budgets has not seen yet: beyond this it does not run. */
enum { MAX_DISRUPTED = 2000 };

struct kc__eviction {
    enum { LOOK, TAKE, TELL, DELETE } step;
    bool relies;   /* On the pod being as it was at `seen`. */
    uint64_t seen; /* Revision of the pod. */
    /* What the call is about while it is about the pod. */
    const kc__resource *pods;
    const kc__served *served;
    kc_str key;
    kc_str budget; /* Its name. */
};

/* ---- what was sent ---- */

static kc__verdict check_ignore(kc__call *call, const kc_value *options)
{
    const char *name = "ignoreStoreReadErrorWithClusterBreakingPotential";
    kc_scoped(kc_field_errors) errors = {0};
    if (!kc_as_bool(kc_get(options, name), false))
        return KC__NEXT;
    kc_field_errors_add(
        &errors, KC_FIELD_INVALID, "deleteOptions.ignoreStoreReadErrorWithClusterBreakingPotential",
        KC_STR("true"), "can not be set for pod eviction, try after removing the option");
    kc_field_errors_to_error(&errors, KC_STR("policy"), KC_STR("Eviction"), call->info.name,
                             &call->error);
    return KC__FAIL;
}

/* A dry run may be asked for in either place, and in both only in the same words. */
static kc__verdict check_dry_run(kc__call *call, const kc_value *options)
{
    kc_scoped(kc_buf) given = {0};
    size_t n = 0;
    kc_items (kc_get(options, "dryRun"), item)
        kc_buf_printf(&given, "%s%.*s", n++ ? " " : "", KC_ARG(kc_as_str(item)));
    if (!call->options.dry_run || !n || kc_str_is(kc_buf_str(&given), "All"))
        return KC__NEXT;
    return kc__fail(call, KC_UNKNOWN,
                    "Non-matching dry-run options in request and content: [All] and [%s]",
                    kc_buf_cstr(&given));
}

static kc__verdict read_options(kc__call *call)
{
    kc_auto(kc_view) *view = kc_view_of(call->sent);
    const kc_value *given = kc_get(kc_view_root(view), "deleteOptions");
    if (!given)
        return KC__NEXT;
    bool dry = call->options.dry_run;
    if (check_ignore(call, given) != KC__NEXT || check_dry_run(call, given) != KC__NEXT)
        return KC__FAIL;
    kc_auto(kc_edit) *edit = kc_edit_of_value(given);
    kc_auto(kc_object) *options = kc_edit_freeze(edit, &call->error);
    if (!options || kc__options_read_delete(&call->query, options, call->arena, &call->options,
                                            &call->error) < 0)
        return KC__FAIL;
    call->options.dry_run = dry || call->options.dry_run;
    return KC__NEXT;
}

static kc__verdict check_name(kc__call *call)
{
    kc__metadata m = {.ns = kc_object_namespace(call->sent)};
    kc__verdict verdict = kc__check_namespace(call, &m);
    if (verdict == KC__NEXT && !kc_str_eq(kc_object_name(call->sent), call->info.name))
        return kc__fail(call, KC_BAD_REQUEST, "name in URL does not match name in Eviction object");
    return verdict;
}

static kc__verdict decode(kc__call *call)
{
    if (kc__options_read_write(&call->query, "CreateOptions", &call->options, &call->error) < 0)
        return KC__FAIL;
    kc__verdict verdict = kc__decode_body(call);
    if (verdict != KC__NEXT)
        return verdict;
    call->sent = kc_take(call->given);
    call->skip_validation = true;
    call->eviction = kc_arena_calloc(call->arena, 1, sizeof(*call->eviction));
    call->eviction->pods = call->resource;
    call->eviction->served = call->served;
    call->eviction->key = call->key;
    verdict = check_name(call);
    return verdict == KC__NEXT ? read_options(call) : verdict;
}

/* ---- whom the call is about ---- */

static void turn_to(kc__call *call, const kc__resource *resource, const kc__served *served,
                    kc_str key)
{
    call->resource = resource;
    call->served = served;
    call->key = key;
    call->current = kc_object_unref(call->current);
}

static void turn_to_pod(kc__call *call)
{
    const struct kc__eviction *e = call->eviction;
    turn_to(call, e->pods, e->served, e->key);
}

static const kc__resource *budgets(const kc__call *call)
{
    return kc__kinds_find(call->snapshot->kinds, KC_STR("policy"), KC_STR("v1"),
                          KC_STR("poddisruptionbudgets"));
}

static const kc__served *served_by(const kc__call *call, const kc__resource *resource)
{
    size_t n;
    return &call->snapshot->served[resource - kc__kinds_resources(call->snapshot->kinds, &n)];
}

static void turn_to_budget(kc__call *call)
{
    const kc__resource *r = budgets(call);
    turn_to(call, r, served_by(call, r),
            kc_cstr(kc_arena_printf(call->arena, "%.*s/%.*s", KC_ARG(call->info.ns),
                                    KC_ARG(call->eviction->budget))));
}

/* ---- LOOK ---- */

static kc_str phase_of(const kc_value *pod)
{
    return kc_as_str(kc_get(kc_get(pod, "status"), "phase"));
}

static bool is_over(const kc__call *call, const kc_value *pod)
{
    kc_str phase = phase_of(pod);
    return kc_str_is(phase, "Succeeded") || kc_str_is(phase, "Failed") ||
           !kc_str_empty(kc_object_deletion_timestamp(call->current));
}

static bool guards(const kc_object *budget, const kc_object *pod)
{
    kc_auto(kc_view) *view = kc_view_of(budget);
    kc_auto(kc_selector) *selector =
        kc_selector_of(kc_get(kc_get(kc_view_root(view), "spec"), "selector"), NULL);
    return selector && kc_selector_match(selector, pod);
}

/* The budgets of the pod's namespace that select it: how many, and the first. Linear in those of
 * the namespace. */
static size_t find_budgets(kc__call *call, kc_object **ret)
{
    uint64_t revision;
    size_t n = 0;
    const char *prefix = kc_arena_printf(call->arena, "%.*s/", KC_ARG(call->info.ns));
    kc_auto(kc_cow_snapshot) *all =
        kc__cache_snapshot(served_by(call, budgets(call))->cache, &revision);
    kc_cow_iter it = kc_cow_iter_start(all, &(kc_cow_range){.prefix = kc_cstr(prefix)});
    while (kc_cow_iter_next(&it))
        if (guards(it.object, call->current) && !n++)
            *ret = kc_object_ref(it.object);
    return n;
}

/* A pod that is not ready may go while enough others are, or whenever the budget says so. */
static bool may_go_unready(const kc_value *pod, const kc_value *budget)
{
    const kc_value *status = kc_get(budget, "status");
    int64_t needs = kc_as_i64_or(kc_get(status, "desiredHealthy"), 0);
    int64_t has = kc_as_i64_or(kc_get(status, "currentHealthy"), 0);
    kc_str policy = kc_as_str(kc_get(kc_get(budget, "spec"), "unhealthyPodEvictionPolicy"));
    if (kc__has_condition(pod, "Ready"))
        return false;
    return kc_str_is(policy, "AlwaysAllow") || (needs > 0 && has >= needs);
}

static kc__verdict ask_budget(kc__call *call, const kc_value *pod)
{
    struct kc__eviction *e = call->eviction;
    kc_auto(kc_object) *budget = NULL;
    size_t n = find_budgets(call, &budget);
    e->step = TELL;
    if (n > 1)
        return kc__fail(call, KC_UNKNOWN,
                        "This pod has more than one PodDisruptionBudget, which the eviction "
                        "subresource does not support.");
    if (!n)
        return KC__PROPOSE;
    kc_auto(kc_view) *view = kc_view_of(budget);
    if (may_go_unready(pod, kc_view_root(view))) {
        e->relies = true;
        return KC__PROPOSE;
    }
    e->budget = kc_arena_str(call->arena, kc_object_name(budget));
    e->step = TAKE;
    turn_to_budget(call);
    return KC__PROPOSE;
}

static kc__verdict look(kc__call *call)
{
    struct kc__eviction *e = call->eviction;
    kc_auto(kc_view) *view = kc_view_of(call->current);
    const kc_value *pod = kc_view_root(view);
    e->seen = kc_object_revision(call->current);
    e->relies = false;
    if (!is_over(call, pod) && !kc_str_is(phase_of(pod), "Pending"))
        return ask_budget(call, pod);
    e->relies = !is_over(call, pod);
    e->step = TELL;
    return KC__PROPOSE;
}

/* ---- TAKE ---- */

static kc__verdict not_now(kc__call *call, int seconds, const char *why)
{
    kc__fail(call, KC_TOO_MANY_REQUESTS,
             "Cannot evict pod as it would violate the pod's disruption budget.");
    call->error.retry_after_seconds = seconds;
    kc_error_add_cause(&call->error, "DisruptionBudget", (kc_str){0}, kc_cstr(why));
    return KC__FAIL;
}

static kc__verdict forbidden(kc__call *call, const char *why)
{
    kc_str name = call->eviction->budget;
    kc__fail(call, KC_FORBIDDEN, "poddisruptionbudget.policy \"%.*s\" is forbidden: %s",
             KC_ARG(name), why);
    kc_error_about(&call->error, KC_STR("policy"), KC_STR("poddisruptionbudget"), name);
    return KC__FAIL;
}

static kc__verdict check_budget(kc__call *call)
{
    kc_auto(kc_view) *view = kc_view_of(call->current);
    const kc_value *status = kc_get(kc_view_root(view), "status");
    kc_str name = call->eviction->budget;
    int64_t allowed = kc_as_i64_or(kc_get(status, "disruptionsAllowed"), 0);
    if (kc_as_i64_or(kc_get(status, "observedGeneration"), 0) < kc_object_generation(call->current))
        return not_now(call, 10,
                       kc_arena_printf(call->arena,
                                       "The disruption budget %.*s is still being processed by the "
                                       "server.",
                                       KC_ARG(name)));
    if (allowed < 0)
        return forbidden(call, "pdb disruptions allowed is negative");
    if (kc_len(kc_get(status, "disruptedPods")) > MAX_DISRUPTED)
        return forbidden(call,
                         "DisruptedPods map too big - too many evictions not confirmed by PDB "
                         "controller");
    if (allowed > 0)
        return KC__NEXT;
    return not_now(
        call, 0,
        kc_arena_printf(call->arena,
                        "The disruption budget %.*s needs %lld healthy pods and has %lld currently",
                        KC_ARG(name), (long long)kc_as_i64_or(kc_get(status, "desiredHealthy"), 0),
                        (long long)kc_as_i64_or(kc_get(status, "currentHealthy"), 0)));
}

static void take_one(kc_edit *edit, kc__call *call)
{
    char now[KC_TIME_TEXT];
    int64_t allowed = 0, observed = 0;
    kc_node *root = kc_edit_root(edit);
    kc_node *status = kc_node_need_object(edit, root, KC_STR("status"));
    kc_node *pods = kc_node_need_object(edit, status, KC_STR("disruptedPods"));
    kc__call_now(call, now);
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

static kc__verdict take(kc__call *call)
{
    kc__verdict verdict = check_budget(call);
    if (verdict != KC__NEXT) {
        turn_to_pod(call); /* The request was about it. */
        return verdict;
    }
    if (call->options.dry_run) {
        call->eviction->step = TELL;
        turn_to_pod(call);
        return KC__PROPOSE;
    }
    call->proposed = kc_object_ref(call->current);
    return kc__reshape(call, &call->proposed, take_one) < 0 ? KC__FAIL : KC__NEXT;
}

/* ---- TELL and DELETE ---- */

/* The pod is no longer what the decision was made about. */
static bool must_look_again(const kc__call *call)
{
    const struct kc__eviction *e = call->eviction;
    return e->relies && !call->options.precondition_version.p &&
           kc_object_revision(call->current) != e->seen;
}

static void add_condition(kc_edit *edit, kc__call *call)
{
    char now[KC_TIME_TEXT];
    kc_node *condition =
        kc__condition_new(edit, "DisruptionTarget", "True", "EvictionByEvictionAPI");
    kc_node_set(edit, condition, KC_STR("message"),
                kc_node_str(edit, KC_STR("Eviction API: evicting")));
    kc__condition_put(edit, kc_edit_root(edit), condition, kc__call_now(call, now));
}

static kc__verdict tell(kc__call *call)
{
    if (call->options.dry_run) {
        call->eviction->step = DELETE;
        return KC__PROPOSE;
    }
    call->proposed = kc_object_ref(call->current);
    return kc__reshape(call, &call->proposed, add_condition) < 0 ? KC__FAIL : KC__NEXT;
}

static kc__verdict delete_it(kc__call *call)
{
    kc__deletion plan;
    if (kc__deletion_plan(call, call->current, &plan) < 0)
        return KC__FAIL;
    call->proposed = plan.object;
    call->removes = plan.removes;
    call->again = plan.again;
    return KC__NEXT;
}

/* ---- the verb ---- */

static kc__verdict propose_for_pod(kc__call *call)
{
    struct kc__eviction *e = call->eviction;
    if (e->step == LOOK)
        return look(call);
    if (must_look_again(call)) {
        e->step = LOOK;
        return KC__PROPOSE;
    }
    if (kc__deletion_check(call, call->current) != KC__NEXT)
        return KC__FAIL;
    return e->step == TELL ? tell(call) : delete_it(call);
}

static kc__verdict propose(kc__call *call)
{
    call->proposed = kc_object_unref(call->proposed);
    call->removes = call->again = false;
    bool budget = call->eviction->step == TAKE;
    if (!kc__load_current(call))
        return kc__fail_not_found(call, budget ? call->eviction->budget : call->info.name);
    return budget ? take(call) : propose_for_pod(call);
}

/* A step is done: on to the next. */
static kc__verdict answer(kc__call *call)
{
    struct kc__eviction *e = call->eviction;
    switch (e->step) {
    case TAKE: turn_to_pod(call); break;
    case TELL:
        e->seen = kc_object_revision(call->current);
        kc__deletion_go_on(call);
        break;
    default:
        if (!call->again)
            return kc__answer_success(call, 201);
        e->seen = kc_object_revision(call->current);
        kc__deletion_go_on(call);
        return KC__PROPOSE;
    }
    e->step++;
    return KC__PROPOSE;
}

const kc__verb kc__verb_evict = {
    .name = "create",
    .bit = KC__CREATE,
    .mutates = true,
    .stands_in = true,
    .decode = decode,
    .propose = propose,
    .answer = answer,
};
