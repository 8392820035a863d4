/* SPDX-License-Identifier: Apache-2.0 */
/*
 * list_conversion.c: converts the objects of a page before it is rendered, in batches.
 *
 * A list fails if one object cannot be converted, so all conversions come before the first byte of
 * the response; a watch converts the first objects of its initial state before it begins, and the
 * others while it is read. Conversions that are kept cost a lookup each. Metadata-only lists need
 * none: the garbage collector and the deletion of namespaces do not depend on webhooks.
 */
#include "apiserver/call/call_conversion.h"
#include "apiserver/kinds/resource_ops.h"
#include "apiserver/verbs/list.h"

/* Without selectors, objects after the end of the page are not examined. */
static size_t most_examined(const kc__rest_call *call, const kc__rest_selection *selection)
{
    const bool cut =
        kc__rest_page_is_limited(&call->options) && kc__rest_selection_is_everything(selection);
    return cut ? (size_t)call->options.limit : SIZE_MAX;
}

/* A list that Kubernetes serves from its cache, not from etcd. */
static bool is_cached_list(const kc__rest_call *call, const kc__rest_selection *selection)
{
    const kc__rest_options *o = &call->options;
    const bool limited = o->limit > 0 && kc__rest_selection_is_everything(selection);
    return call->verb == &kc__rest_verb_list && !limited && kc_str_empty(o->continue_token) &&
           o->match != KC__REST_MATCH_EXACT;
}

kc__rest_verdict kc__rest_fail_unconverted(kc__rest_call *call)
{
    const kc__resource *r = call->resource;
    kc_scoped(kc_error) why = {0};
    if (call->error.reason != KC_UNKNOWN || r->ops->is_converting(r))
        return KC__REST_FAIL;
    kc_error_move(&why, &call->error);
    kc__rest_fail(call, KC_TOO_MANY_REQUESTS,
                  "storage is (re)initializing: failed to list %s/%s, Kind=%s: %s", r->group,
                  r->version, r->kind, kc_error_text(&why));
    call->error.retry_after_seconds = 1;
    return KC__REST_FAIL;
}

kc__rest_verdict kc__rest_convert_page(kc__rest_call *call, kc__rest_selection *selection,
                                       const kc__rest_page *page)
{
    kc__remote_conversion *job = NULL;
    if (call->form.as == KC__REST_AS_PARTIAL || !kc__remote_may_be_needed(call->resource))
        return KC__REST_NEXT;
    if (!selection->converted) {
        size_t left = most_examined(call, selection);
        kc__cow_iter at = kc__rest_selection_start(selection, page->snapshot, page->from);
        for (; left && kc__cow_iter_next(&at); left--)
            kc__rest_convert_collect(call, call->resource, at.object, &job);
        selection->converted = true;
    }
    kc__rest_verdict verdict = kc__rest_convert_job(call, job);
    return verdict == KC__REST_FAIL && is_cached_list(call, selection)
               ? kc__rest_fail_unconverted(call)
               : verdict;
}

static bool begins_with_state(const kc__rest_options *o)
{
    return o->initial_events == KC__REST_YES ||
           (o->initial_events == KC__REST_UNSET &&
            (kc_str_empty(o->resource_version) || kc_str_is(o->resource_version, "0")));
}

kc__rest_verdict kc__rest_convert_first(kc__rest_call *call)
{
    enum { FIRST = 100 };
    kc__remote_conversion *job = NULL;
    if (!begins_with_state(&call->options) || call->form.as == KC__REST_AS_PARTIAL ||
        !kc__remote_may_be_needed(call->resource))
        return KC__REST_NEXT;
    if (!kc__rest_conversion_is_pending(call)) {
        kc_auto(kc__cow_snapshot) *now = kc__watch_cache_snapshot(call->served->cache, NULL);
        kc__cow_iter at = kc__cow_iter_start(now, &(kc__cow_range){.prefix = call->key});
        for (size_t left = FIRST; left && kc__cow_iter_next(&at); left--)
            kc__rest_convert_collect(call, call->resource, at.object, &job);
    }
    kc__rest_verdict verdict = kc__rest_convert_job(call, job);
    return verdict == KC__REST_FAIL ? kc__rest_fail_unconverted(call) : verdict;
}
