/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quota_check.c: compares a write with the quotas of its namespace, in the order of kube-apiserver,
 * which decides which of several reasons is reported:
 *
 *     each quota that matches: amounts that containers must state, usage known
 *     usage of the object, minus that of the old one
 *     limited resources and scopes have a quota
 *     each quota that matches: used + delta ≤ hard
 *
 * A write never reduces usage: the quota controller does that, when the object is stored.
 */
#include "apiserver/admission/quota/quota_check.h"

void kc__quota_deltas_done(kc__quota_deltas *deltas)
{
    kc_vec_each (deltas, delta)
        kc_quota_amounts_done(&delta->amounts);
    kc_vec_done(deltas);
}

typedef KC_VEC(kc_str) quota_names;
typedef KC_VEC(kc_quota_scope) quota_scopes;

/* ---- which writes count ---- */

static bool is_resource(const kc__quota_request *request, const char *group, const char *plural)
{
    return kc_str_is(request->resource.plural, plural) && kc_str_is(request->resource.group, group);
}

static bool handles_pod(const kc__quota_request *request)
{
    if (kc_str_is(request->subresource, "resize"))
        return request->old;
    return !request->subresource.n &&
           (!request->old || kc_quota_pod_is_terminating(request->old) !=
                                 kc_quota_pod_is_terminating(request->object));
}

bool kc__quota_handles(const kc__quota_request *request)
{
    const bool whole = !request->subresource.n;
    if (is_resource(request, "", "pods"))
        return handles_pod(request);
    if (is_resource(request, "", "persistentvolumeclaims"))
        return whole || kc_str_is(request->subresource, "status");
    if (is_resource(request, "", "services") ||
        is_resource(request, "resource.k8s.io", "resourceclaims"))
        return whole;
    return whole && !request->old;
}

/* ---- amounts ---- */

static bool is_listed_name(const quota_names *names, kc_str name)
{
    kc_vec_each (names, it)
        if (kc_str_eq(*it, name))
            return true;
    return false;
}

static void add_name(quota_names *names, kc_str name)
{
    if (!is_listed_name(names, name))
        kc_vec_push(names, name);
}

static void join_names(kc_buf *out, quota_names *names)
{
    kc_vec_sort(names, kc_str_compare);
    kc_vec_each (names, name)
        kc_buf_printf(out, "%s%.*s", name == names->items ? "" : ",", KC_ARG(*name));
}

bool kc__quota_add(const kc_value *quota, const kc_quota_amounts *delta, bool checked,
                   kc_quota_amounts *ret_used)
{
    const kc_value *status = kc_value_get(quota, "status"), *hard = kc_value_get(status, "hard");
    kc_quota_amount used, limit;
    kc_quota_amounts_read(ret_used, kc_value_get(status, "used"));
    kc_quota_amounts_add_all(ret_used, delta);
    kc_map_each (&delta->summed, entry)
        if (checked && kc_quota_amount_of(ret_used, entry->key, &used) &&
            kc_quota_amount_read(kc_value_get_str(hard, entry->key), &limit) &&
            kc_quantity_cmp(used.value, limit.value) > 0)
            return false;
    return true;
}

/* Names in `hard` that the usage with the delta exceeds. */
static void find_exceeded(const kc_value *hard, const kc_quota_amounts *used,
                          const kc_quota_amounts *delta, quota_names *ret)
{
    kc_quota_amount amount, limit;
    kc_map_each (&delta->summed, entry)
        if (kc_quota_amount_of(used, entry->key, &amount) &&
            kc_quota_amount_read(kc_value_get_str(hard, entry->key), &limit) &&
            kc_quantity_cmp(amount.value, limit.value) > 0)
            kc_vec_push(ret, entry->key);
}

static void print_exceeded(const kc_value *quota, const kc_quota_amounts *used,
                           const kc_quota_amounts *delta, kc_buf *why)
{
    const kc_value *status = kc_value_get(quota, "status");
    const kc_quota_amounts before = {.written = kc_value_get(status, "used")},
                           hard = {.written = kc_value_get(status, "hard")};
    quota_names names = {0};
    find_exceeded(hard.written, used, delta, &names);
    kc_buf_printf(why, "exceeded quota: %.*s, requested: ",
                  KC_ARG(kc_value_as_str(kc_value_nested(quota, "metadata.name"))));
    kc_quota_amounts_print(why, delta, names.items, names.n);
    kc_buf_puts(why, ", used: ");
    kc_quota_amounts_print(why, &before, names.items, names.n);
    kc_buf_puts(why, ", limited: ");
    kc_quota_amounts_print(why, &hard, names.items, names.n);
    kc_vec_done(&names);
}

/* ---- one check ---- */

typedef struct quota_check {
    const kc__quota_request *request;
    const kc_value *const *quotas;
    kc_quota_amounts usage, old_usage;
    KC_VEC(size_t) matching;        /* Indexes of the quotas that apply. */
    quota_names restricted;         /* Names that they limit. */
    quota_scopes restricted_scopes; /* Scopes of all quotas that the object is in. */
    kc_buf *why;
} quota_check;

static void quota_check_done(quota_check *check)
{
    kc_quota_amounts_done(&check->usage);
    kc_quota_amounts_done(&check->old_usage);
    kc_vec_done(&check->matching);
    kc_vec_done(&check->restricted);
    kc_vec_done(&check->restricted_scopes);
}

static kc_str quota_name(const kc_value *quota)
{
    return kc_value_as_str(kc_value_nested(quota, "metadata.name"));
}

static void note_scopes(quota_check *check, const kc_value *quota)
{
    const kc__quota_request *request = check->request;
    kc_quota_scope scope;
    for (size_t at = 0; kc_quota_scope_next(quota, &at, &scope);)
        if (kc_quota_scope_matches(&request->resource, &scope, request->object))
            kc_vec_push(&check->restricted_scopes, scope);
}

/* The names in status.hard that the resource tracks. */
static void find_tracked(const quota_check *check, const kc_value *quota, quota_names *ret)
{
    kc_value_each_member (kc_value_nested(quota, "status.hard"), name, value) {
        (void)value;
        if (kc_quota_tracks(&check->request->resource, name))
            kc_vec_push(ret, name);
    }
}

static bool has_usage(const kc_value *quota, const quota_names *tracked)
{
    const kc_value *used = kc_value_nested(quota, "status.used");
    kc_vec_each (tracked, name)
        if (!kc_value_get_str(used, *name))
            return false;
    return true;
}

static kc__quota_verdict check_constraints(quota_check *check, const kc_value *quota,
                                           quota_names *tracked)
{
    const kc__quota_request *request = check->request;
    const kc_str name = quota_name(quota);
    kc_scoped(kc_buf) missing = {0};
    kc_quota_missing_amounts(&request->resource, request->object, tracked->items, tracked->n,
                             &missing);
    if (missing.n) {
        kc_buf_printf(check->why, "failed quota: %.*s: %s", KC_ARG(name), kc_buf_cstr(&missing));
        return KC__QUOTA_FORBIDDEN;
    }
    if (!has_usage(quota, tracked)) {
        kc_buf_printf(check->why, "status unknown for quota: %.*s, resources: ", KC_ARG(name));
        join_names(check->why, tracked);
        return KC__QUOTA_FORBIDDEN;
    }
    return KC__QUOTA_FITS;
}

static kc__quota_verdict match_quota(quota_check *check, size_t i)
{
    const kc_value *quota = check->quotas[i];
    quota_names tracked = {0};
    note_scopes(check, quota);
    if (!kc_quota_matches(&check->request->resource, quota, check->request->object))
        return KC__QUOTA_FITS;
    find_tracked(check, quota, &tracked);
    const kc__quota_verdict verdict = check_constraints(check, quota, &tracked);
    kc_vec_push(&check->matching, i);
    kc_vec_each (&tracked, name)
        add_name(&check->restricted, *name);
    kc_vec_done(&tracked);
    return verdict;
}

/* ---- usage ---- */

static kc__quota_verdict measure_usage(quota_check *check)
{
    const kc__quota_request *request = check->request;
    quota_names negative = {0};
    kc_quota_usage(&request->resource, request->object, request->now, &check->usage);
    if (request->old)
        kc_quota_usage(&request->resource, request->old, request->now, &check->old_usage);
    kc_map_each (&check->usage.summed, entry)
        if (kc_quantity_sign(((const kc_quota_amount *)entry->value)->value) < 0)
            kc_vec_push(&negative, entry->key);
    const bool is_negative = negative.n > 0;
    if (is_negative) {
        kc_buf_puts(check->why, "quota usage is negative for resource(s): ");
        join_names(check->why, &negative);
    }
    kc_vec_done(&negative);
    return is_negative ? KC__QUOTA_FORBIDDEN : KC__QUOTA_FITS;
}

/* What the write adds, without zeros. `changed`: only the difference to the old object counts. The
 * amounts are independent of the check. */
static void find_delta(const quota_check *check, bool changed, kc_quota_amounts *ret)
{
    kc_quota_amount less;
    kc_map_each (&check->usage.summed, entry) {
        const kc_quota_amount *amount = entry->value;
        const kc_str name = kc_arena_str(&ret->arena, entry->key);
        kc_quota_amounts_set(
            ret, name, &(kc_quota_amount){amount->value, kc_arena_str(&ret->arena, amount->text)});
        if (changed && kc_quota_amount_of(&check->old_usage, name, &less))
            kc_quota_amounts_subtract(ret, name, &less);
    }
    kc_map_each (&ret->summed, entry)
        if (kc_quantity_sign(((const kc_quota_amount *)entry->value)->value) == 0)
            kc_map_remove(&ret->summed, entry->key);
}

/* Removes amounts that the quota does not limit. */
static void keep_limited(const kc_value *quota, kc_quota_amounts *delta)
{
    const kc_value *hard = kc_value_nested(quota, "status.hard");
    kc_map_each (&delta->summed, entry)
        if (!kc_value_get_str(hard, entry->key))
            kc_map_remove(&delta->summed, entry->key);
}

/* The delta of the i-th matching quota: an object that was not in its scopes before is new to it.
 */
static void find_quota_delta(const quota_check *check, size_t i, kc_quota_amounts *ret)
{
    const kc__quota_request *request = check->request;
    const kc_value *quota = check->quotas[i];
    find_delta(check, request->old && kc_quota_matches(&request->resource, quota, request->old),
               ret);
}

/* Whether the write adds to any matching quota; without one, whether it adds anything. */
static bool adds_usage(const quota_check *check)
{
    bool adds = false;
    kc_vec_each (&check->matching, i) {
        kc_scoped(kc_quota_amounts) delta = {0};
        find_quota_delta(check, *i, &delta);
        adds = adds || delta.summed.n;
    }
    if (!check->matching.n) {
        kc_scoped(kc_quota_amounts) delta = {0};
        find_delta(check, check->request->old, &delta);
        adds = delta.summed.n;
    }
    return adds;
}

/* ---- limited resources ---- */

static bool contains_any(kc_str name, const kc_value *parts)
{
    kc_value_each_item (parts, part)
        if (kc_str_contains(name, kc_value_as_str(part)))
            return true;
    return false;
}

static bool is_limited_resource(const quota_check *check, const kc_value *limited)
{
    const kc_str group = kc_value_as_str(kc_value_get(limited, "apiGroup")),
                 plural = kc_value_as_str(kc_value_get(limited, "resource"));
    return kc_str_eq(plural, check->request->resource.plural) &&
           kc_str_eq(group, check->request->resource.group);
}

/* Names that the object uses and that need a quota, but have none. */
static void find_uncovered(const quota_check *check, quota_names *ret)
{
    kc_value_each_item (check->request->limited, limited) {
        if (!is_limited_resource(check, limited))
            continue;
        kc_map_each (&check->usage.summed, entry) {
            const kc_quota_amount *amount = entry->value;
            if (kc_quantity_sign(amount->value) > 0 &&
                contains_any(entry->key, kc_value_get(limited, "matchContains")) &&
                !is_listed_name(&check->restricted, entry->key))
                add_name(ret, entry->key);
        }
    }
}

static bool is_covered_scope(const quota_check *check, kc_str name)
{
    kc_vec_each (&check->restricted_scopes, scope)
        if (kc_str_eq(scope->name, name))
            return true;
    return false;
}

/* As Go prints the struct: "{PriorityClass In [a b]}". */
static void print_scope(kc_buf *out, const kc_quota_scope *scope)
{
    bool first = true;
    kc_buf_printf(out, "{%.*s %.*s [", KC_ARG(scope->name), KC_ARG(scope->operator));
    kc_value_each_item (scope->values, value) {
        kc_buf_printf(out, "%s%.*s", first ? "" : " ", KC_ARG(kc_value_as_str(value)));
        first = false;
    }
    kc_buf_puts(out, "]}");
}

/* Appends the limited scopes that the object is in and that no quota covers. */
static void print_uncovered_scopes(const quota_check *check, kc_buf *out)
{
    const kc__quota_request *request = check->request;
    kc_value_each_item (request->limited, limited) {
        kc_value_each_item (kc_value_get(limited, "matchScopes"), expression) {
            const kc_quota_scope scope = kc_quota_scope_of(expression);
            if (!kc_quota_scope_matches(&request->resource, &scope, request->object) ||
                is_covered_scope(check, scope.name))
                continue;
            kc_buf_puts(out, out->n ? " " : "");
            print_scope(out, &scope);
        }
    }
}

static kc__quota_verdict check_limited_resources(quota_check *check)
{
    quota_names uncovered = {0};
    kc_scoped(kc_buf) scopes = {0};
    find_uncovered(check, &uncovered);
    const bool is_uncovered = uncovered.n > 0;
    if (is_uncovered) {
        kc_buf_puts(check->why, "insufficient quota to consume: ");
        join_names(check->why, &uncovered);
    }
    kc_vec_done(&uncovered);
    if (is_uncovered)
        return KC__QUOTA_FORBIDDEN;
    print_uncovered_scopes(check, &scopes);
    if (!scopes.n)
        return KC__QUOTA_FITS;
    kc_buf_printf(check->why, "insufficient quota to match these scopes: [%s]",
                  kc_buf_cstr(&scopes));
    return KC__QUOTA_ERROR;
}

/* ---- the whole check ---- */

static kc__quota_verdict charge_matching(quota_check *check, kc__quota_deltas *ret)
{
    const bool checked = !kc_str_is(check->request->subresource, "status");
    kc_vec_each (&check->matching, i) {
        const kc_value *quota = check->quotas[*i];
        kc__quota_delta delta = {.index = *i};
        kc_scoped(kc_quota_amounts) used = {0};
        find_quota_delta(check, *i, &delta.amounts);
        keep_limited(quota, &delta.amounts);
        const bool fits = kc__quota_add(quota, &delta.amounts, checked, &used);
        if (!fits)
            print_exceeded(quota, &used, &delta.amounts, check->why);
        if (fits && delta.amounts.summed.n)
            kc_vec_push(ret, delta);
        else
            kc_quota_amounts_done(&delta.amounts);
        if (!fits)
            return KC__QUOTA_FORBIDDEN;
    }
    return KC__QUOTA_FITS;
}

kc__quota_verdict kc__quota_check(const kc__quota_request *request, const kc_value *const *quotas,
                                  size_t n_quotas, kc__quota_deltas *ret_deltas, kc_buf *why)
{
    kc_scoped(quota_check) check = {.request = request, .quotas = quotas, .why = why};
    kc__quota_verdict verdict = KC__QUOTA_FITS;
    for (size_t i = 0; i < n_quotas && verdict == KC__QUOTA_FITS; i++)
        verdict = match_quota(&check, i);
    if (verdict == KC__QUOTA_FITS)
        verdict = measure_usage(&check);
    if (verdict != KC__QUOTA_FITS || !adds_usage(&check))
        return verdict;
    verdict = check_limited_resources(&check);
    return verdict == KC__QUOTA_FITS ? charge_matching(&check, ret_deltas) : verdict;
}
