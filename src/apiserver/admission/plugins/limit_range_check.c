/* SPDX-License-Identifier: Apache-2.0 */
/*
 * limit_range_check.c: compares amounts of resources with the constraints of a LimitRange. An item
 * of a LimitRange constrains each container, the pod as a whole (kc/quota.h) or a claim; each of
 * its members `min`, `max` and `maxLimitRequestRatio` constrains several resources.
 *
 * Amounts are compared in thousandths if all of them fit, else in units, as Kubernetes does. A
 * violation is reported once, however many containers have it; at most MAX_VIOLATIONS are reported.
 *
 * To add a constraint: a function of type constraint_fn and a row of `pod_constraints`.
 */
#include "apiserver/admission/plugins/limit_range_check.h"

#include "base/work.h"
#include "kc/arena.h"
#include "kc/quota.h"

enum { MAX_VIOLATIONS = 100 };
#define MAX_MILLI_VALUE (INT64_MAX / 1000)

/* Violations found so far, each once. */
typedef struct violations {
    kc_arena arena;
    kc_map texts;
} violations;

static void violations_done(violations *v)
{
    kc_map_done(&v->texts);
    kc_arena_done(&v->arena);
}

static void add_violation(violations *v, const char *text)
{
    if (v->texts.n < MAX_VIOLATIONS)
        kc_map_put(&v->texts, kc_cstr(text), (void *)text);
}

/* One violation as it is, several as Go prints a list of errors: "[a, b]". */
static void print_violations(const violations *v, kc_buf *out)
{
    size_t i = 0;
    kc_buf_puts(out, v->texts.n > 1 ? "[" : "");
    kc_map_each (&v->texts, entry)
        kc_buf_printf(out, "%s%.*s", i++ ? ", " : "", KC_ARG(entry->key));
    kc_buf_puts(out, v->texts.n > 1 ? "]" : "");
}

/* ---- one constraint ---- */

/* A constraint of one resource, and what the object requests of it. */
typedef struct constraint {
    kc_str type, resource; /* "Container", "cpu" */
    kc_quota_amount enforced, request, limit;
    bool has_request, has_limit;
    int64_t enforced_value, request_value, limit_value; /* In units that can be compared. */
} constraint;

/* The text of a violation; NULL: none. */
typedef const char *constraint_fn(const constraint *c, kc_arena *arena);

static void make_comparable(constraint *c)
{
    c->request_value = kc_quantity_value(c->request.value);
    c->limit_value = kc_quantity_value(c->limit.value);
    c->enforced_value = kc_quantity_value(c->enforced.value);
    if (c->request_value > MAX_MILLI_VALUE || c->limit_value > MAX_MILLI_VALUE ||
        c->enforced_value > MAX_MILLI_VALUE)
        return;
    c->request_value = kc_quantity_milli_value(c->request.value);
    c->limit_value = kc_quantity_milli_value(c->limit.value);
    c->enforced_value = kc_quantity_milli_value(c->enforced.value);
}

static const char *usage_text(kc_arena *arena, const constraint *c, const char *bound,
                              const char *part, kc_str is)
{
    return kc_arena_printf(arena, "%s %.*s usage per %.*s is %.*s, but %s is %.*s", bound,
                           KC_ARG(c->resource), KC_ARG(c->type), KC_ARG(c->enforced.text), part,
                           KC_ARG(is));
}

static const char *missing_text(kc_arena *arena, const constraint *c, const char *bound,
                                const char *part)
{
    return kc_arena_printf(arena, "%s %.*s usage per %.*s is %.*s.  No %s is specified", bound,
                           KC_ARG(c->resource), KC_ARG(c->type), KC_ARG(c->enforced.text), part);
}

static const char *check_min(const constraint *c, kc_arena *arena)
{
    if (!c->has_request)
        return missing_text(arena, c, "minimum", "request");
    if (c->request_value < c->enforced_value)
        return usage_text(arena, c, "minimum", "request", c->request.text);
    if (c->has_limit && c->limit_value < c->enforced_value)
        return usage_text(arena, c, "minimum", "limit", c->limit.text);
    return NULL;
}

static const char *check_max(const constraint *c, kc_arena *arena)
{
    if (!c->has_limit)
        return missing_text(arena, c, "maximum", "limit");
    if (c->limit_value > c->enforced_value)
        return usage_text(arena, c, "maximum", "limit", c->limit.text);
    if (c->has_request && c->request_value > c->enforced_value)
        return usage_text(arena, c, "maximum", "request", c->request.text);
    return NULL;
}

/* Claims have no limits: the maximum applies to the request. */
static const char *check_max_request(const constraint *c, kc_arena *arena)
{
    if (!c->has_request)
        return missing_text(arena, c, "maximum", "request");
    if (c->request_value > c->enforced_value)
        return usage_text(arena, c, "maximum", "request", c->request.text);
    return NULL;
}

static const char *ratio_text(kc_arena *arena, const constraint *c, const char *rest)
{
    return kc_arena_printf(arena, "%.*s max limit to request ratio per %.*s is %.*s, but %s",
                           KC_ARG(c->resource), KC_ARG(c->type), KC_ARG(c->enforced.text), rest);
}

static const char *check_ratio(const constraint *c, kc_arena *arena)
{
    if (!c->has_request || !c->request_value)
        return ratio_text(arena, c, "no request is specified or request is 0");
    if (!c->has_limit || !c->limit_value)
        return ratio_text(arena, c, "no limit is specified or limit is 0");
    const double ratio = (double)c->limit_value / (double)c->request_value;
    const bool milli = kc_quantity_value(c->enforced.value) <= MAX_MILLI_VALUE;
    const double max = milli ? (double)kc_quantity_milli_value(c->enforced.value)
                             : (double)kc_quantity_value(c->enforced.value);
    if ((milli ? ratio * 1000 : ratio) <= max)
        return NULL;
    return ratio_text(arena, c, kc_arena_printf(arena, "provided ratio is %f", ratio));
}

/* ---- the constraints of one item ---- */

typedef struct constraint_row {
    const char *member; /* Of the item. */
    constraint_fn *check;
} constraint_row;

static const constraint_row pod_constraints[] = {
    {"min", check_min}, {"max", check_max}, {"maxLimitRequestRatio", check_ratio}, {NULL, NULL}};
static const constraint_row claim_constraints[] = {
    {"min", check_min}, {"max", check_max_request}, {NULL, NULL}};

static void check_item(const kc_value *item, const constraint_row *rows,
                       const kc_quota_amounts *requests, const kc_quota_amounts *limits,
                       violations *v)
{
    for (const constraint_row *row = rows; row->member; row++) {
        kc_value_each_member (kc_value_get(item, row->member), name, amount) {
            constraint c = {.type = kc_value_as_str(kc_value_get(item, "type")), .resource = name};
            if (kc__work_is_over() || !kc_quota_amount_read(amount, &c.enforced))
                return;
            c.has_request = kc_quota_amount_of(requests, name, &c.request);
            c.has_limit = kc_quota_amount_of(limits, name, &c.limit);
            make_comparable(&c);
            const char *text = row->check(&c, &v->arena);
            if (text)
                add_violation(v, text);
        }
    }
}

static void check_containers(const kc_value *item, const kc_value *containers, violations *v)
{
    kc_value_each_item (containers, container) {
        const kc_value *resources = kc_value_get(container, "resources");
        const kc_quota_amounts requests = {.written = kc_value_get(resources, "requests")},
                               limits = {.written = kc_value_get(resources, "limits")};
        check_item(item, pod_constraints, &requests, &limits, v);
    }
}

static void check_pod_total(const kc_value *item, const kc_value *pod, violations *v)
{
    kc_scoped(kc_quota_amounts) requests = {0};
    kc_scoped(kc_quota_amounts) limits = {0};
    kc_quota_pod_amounts(pod, "requests", KC_QUOTA_POD_SPEC, &requests);
    kc_quota_pod_amounts(pod, "limits", KC_QUOTA_POD_SPEC, &limits);
    check_item(item, pod_constraints, &requests, &limits, v);
}

void kc__admission_limit_range_check_pod(const kc_value *range, const kc_value *pod, kc_buf *out)
{
    kc_scoped(violations) v = {0};
    const kc_value *spec = kc_value_get(pod, "spec");
    kc_value_each_item (kc_value_nested(range, "spec.limits"), item) {
        const kc_str type = kc_value_as_str(kc_value_get(item, "type"));
        if (kc_str_is(type, "Container")) {
            check_containers(item, kc_value_get(spec, "containers"), &v);
            check_containers(item, kc_value_get(spec, "initContainers"), &v);
        } else if (kc_str_is(type, "Pod")) {
            check_pod_total(item, pod, &v);
        }
    }
    print_violations(&v, out);
}

void kc__admission_limit_range_check_claim(const kc_value *range, const kc_value *claim,
                                           kc_buf *out)
{
    kc_scoped(violations) v = {0};
    const kc_quota_amounts requests = {.written =
                                           kc_value_nested(claim, "spec.resources.requests")},
                           limits = {0};
    kc_value_each_item (kc_value_nested(range, "spec.limits"), item)
        if (kc_str_is(kc_value_as_str(kc_value_get(item, "type")), "PersistentVolumeClaim"))
            check_item(item, claim_constraints, &requests, &limits, &v);
    print_violations(&v, out);
}
