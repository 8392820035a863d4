/* SPDX-License-Identifier: Apache-2.0 */
/*
 * authorizer.c: authorizer.group("apps").resource("deployments").check("create").allowed().
 *
 * An expression builds the attributes of a check step by step; check() asks the authorizer that the
 * caller has bound to a variable (kc_cel_of_authorizer). Whether the answer is real is the business
 * of that authorizer. A check costs 350000, so that two fit into the budget of an expression.
 */
#include "cel/library/library_internal.h"

#include "kc/names.h"

const kc_cel_type kc__cel_type_authorizer =
    KC__CEL_OPAQUE("kubernetes.authorization.Authorizer", NULL, NULL);
static const kc_cel_type path_check_type =
    KC__CEL_OPAQUE("kubernetes.authorization.PathCheck", NULL, NULL);
static const kc_cel_type group_check_type =
    KC__CEL_OPAQUE("kubernetes.authorization.GroupCheck", NULL, NULL);
static const kc_cel_type resource_check_type =
    KC__CEL_OPAQUE("kubernetes.authorization.ResourceCheck", NULL, NULL);
static const kc_cel_type decision_type =
    KC__CEL_OPAQUE("kubernetes.authorization.Decision", NULL, NULL);

/* The attributes collected so far; the data of every type but the decision. */
typedef kc_cel_resource_check authorizer_step;

kc_cel_value kc_cel_of_authorizer(const kc_cel_authorizer *authorizer)
{
    return (kc_cel_value){.kind = KC_CEL_OPAQUE, .opaque = {&kc__cel_type_authorizer, authorizer}};
}

const kc_cel_type *kc_cel_type_authorizer(void)
{
    return &kc__cel_type_authorizer;
}

kc_cel_value kc_cel_of_resource_check(const kc_cel_resource_check *check)
{
    return (kc_cel_value){.kind = KC_CEL_OPAQUE, .opaque = {&resource_check_type, check}};
}

const kc_cel_type *kc_cel_type_resource_check(void)
{
    return &resource_check_type;
}

/* The step that a value stands for; an authorizer has no attributes yet, unless it is that of a
 * service account. */
static authorizer_step step_of(kc_cel_value v)
{
    const kc_cel_authorizer *authorizer = v.opaque.data;
    if (v.opaque.type != &kc__cel_type_authorizer || v.form == KC__CEL_OWN)
        return *(const authorizer_step *)v.opaque.data;
    return (authorizer_step){.authorizer = authorizer};
}

static kc_cel_value step_value(kc__cel_eval *ev, const kc_cel_type *type, authorizer_step step)
{
    return kc__cel_opaque(ev, type, &step, sizeof(step));
}

/* A function that sets one attribute. */
#define ATTRIBUTE(name, field, result_type)          \
    KC__CEL_FUNCTION(name)                           \
    {                                                \
        authorizer_step step = step_of(a[0]);        \
        step.check.field = a[1].text;                \
        return step_value(ev, &(result_type), step); \
    }
ATTRIBUTE(authorizer_group, group, group_check_type)
ATTRIBUTE(resource_subresource, subresource, resource_check_type)
ATTRIBUTE(resource_namespace, ns, resource_check_type)
ATTRIBUTE(resource_name, name, resource_check_type)
ATTRIBUTE(resource_field_selector, field_selector, resource_check_type)
ATTRIBUTE(resource_label_selector, label_selector, resource_check_type)

KC__CEL_FUNCTION(authorizer_path)
{
    authorizer_step step = step_of(a[0]);
    step.check.path = a[1].text;
    return kc_str_trim(a[1].text).n ? step_value(ev, &path_check_type, step)
                                    : kc__cel_error_const("path must not be empty");
}

KC__CEL_FUNCTION(group_resource)
{
    authorizer_step step = step_of(a[0]);
    step.check.resource = a[1].text;
    return kc_str_trim(a[1].text).n ? step_value(ev, &resource_check_type, step)
                                    : kc__cel_error_const("resource must not be empty");
}

/* The checks that follow are about a service account instead of the user of the request. */
KC__CEL_FUNCTION(authorizer_service_account)
{
    if (!kc_name_valid(KC_NAME_DNS_SUBDOMAIN, a[2].text))
        return kc__cel_error_const("Invalid service account name");
    if (!kc_name_valid(KC_NAME_DNS_LABEL, a[1].text))
        return kc__cel_error_const("Invalid service account namespace");
    authorizer_step step = step_of(a[0]);
    step.check.service_account_ns = a[1].text;
    step.check.service_account = a[2].text;
    kc_cel_value account = step_value(ev, &kc__cel_type_authorizer, step);
    account.form = KC__CEL_OWN;
    return account;
}

KC__CEL_FUNCTION(check_verb)
{
    authorizer_step step = step_of(a[0]);
    kc_cel_decision decision = {0};
    step.check.verb = a[1].text;
    step.authorizer->check(&step.check, &decision, step.authorizer->user);
    decision.reason = kc__cel_copy_text(ev, KC_CEL_STRING, decision.reason).text;
    decision.error = kc__cel_copy_text(ev, KC_CEL_STRING, decision.error).text;
    return kc__cel_opaque(ev, &decision_type, &decision, sizeof(decision));
}

static const kc_cel_decision *decision_of(kc_cel_value v)
{
    return v.opaque.data;
}

KC__CEL_FUNCTION(decision_allowed)
{
    return kc__cel_bool(decision_of(a[0])->allowed);
}

KC__CEL_FUNCTION(decision_errored)
{
    return kc__cel_bool(decision_of(a[0])->error.n > 0);
}

KC__CEL_FUNCTION(decision_error)
{
    return kc__cel_text(decision_of(a[0])->error);
}

KC__CEL_FUNCTION(decision_reason)
{
    return kc__cel_text(decision_of(a[0])->reason);
}

static uint64_t check_cost(const kc_cel_value *a, size_t n, kc_cel_value result)
{
    (void)a, (void)n, (void)result;
    return 350000;
}

static kc__cel_estimate estimate_check(const kc__cel_estimate_args *args)
{
    (void)args;
    return kc__cel_estimate_cost_only(kc__cel_range(350000, 350000));
}

#define SETTER(function, id, impl, result, target) \
    KC__CEL_ROW(function, id, true, impl, NULL, NULL, &(result), &(target), T_STRING)
#define READER(function, id, impl, result) \
    KC__CEL_ROW(function, id, true, impl, NULL, NULL, result, &decision_type)

static const kc__cel_overload overloads[] = {
    SETTER("path", "authorizer_path", authorizer_path, path_check_type, kc__cel_type_authorizer),
    SETTER("group", "authorizer_group", authorizer_group, group_check_type,
           kc__cel_type_authorizer),
    KC__CEL_ROW("serviceAccount", "authorizer_serviceaccount", true, authorizer_service_account,
                NULL, NULL, &kc__cel_type_authorizer, &kc__cel_type_authorizer, T_STRING, T_STRING),
    SETTER("resource", "groupcheck_resource", group_resource, resource_check_type,
           group_check_type),
    SETTER("subresource", "resourcecheck_subresource", resource_subresource, resource_check_type,
           resource_check_type),
    SETTER("namespace", "resourcecheck_namespace", resource_namespace, resource_check_type,
           resource_check_type),
    SETTER("name", "resourcecheck_name", resource_name, resource_check_type, resource_check_type),
    KC__CEL_ROW("check", "pathcheck_check", true, check_verb, check_cost, estimate_check,
                &decision_type, &path_check_type, T_STRING),
    KC__CEL_ROW("check", "resourcecheck_check", true, check_verb, check_cost, estimate_check,
                &decision_type, &resource_check_type, T_STRING),
    READER("allowed", "decision_allowed", decision_allowed, T_BOOL),
    READER("errored", "decision_errored", decision_errored, T_BOOL),
    READER("error", "decision_error", decision_error, T_STRING),
    READER("reason", "decision_reason", decision_reason, T_STRING),
};

static const kc__cel_overload overloads_31[] = {
    SETTER("fieldSelector", "authorizer_fieldselector", resource_field_selector,
           resource_check_type, resource_check_type),
    SETTER("labelSelector", "authorizer_labelselector", resource_label_selector,
           resource_check_type, resource_check_type),
};

const kc__cel_library kc__cel_library_authorizer = {overloads, KC_COUNT(overloads),
                                                    KC__CEL_AUTHORIZER_27};
const kc__cel_library kc__cel_library_authorizer_31 = {overloads_31, KC_COUNT(overloads_31),
                                                       KC__CEL_FORMATS_31};
