/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page.c: which revision of a resource a list reads.
 *
 *     resourceVersion   match          limit   reads
 *     ""                –              any     the newest
 *     "0"               –              any     the newest; the limit is ignored
 *     N                 Exact          any     exactly N
 *     N                 NotOlderThan   any     the newest, if it has reached N
 *     N                 –              no      the same
 *     N                 –              yes     exactly N
 *     (continue)        –              any     that of the first page; the newest if it is -1
 *
 * The newest is always consistent: the cache contains every acknowledged write.
 *
 * A list fails if an object in its namespace cannot be decrypted, as in Kubernetes: a list without
 * it would look as if the object had been deleted.
 */
#include "apiserver/request/page_token.h"
#include "apiserver/verbs/list.h"

static const char expired_text[] =
    "The provided continue parameter is too old to display a consistent list result. You can start a "
    "new list without the continue parameter, or use the continue token in this response to retrieve "
    "the remainder of the results. Continuing with the provided token results in an inconsistent "
    "list - objects that were created, modified, or deleted between the time the first chunk was "
    "returned and now may show up in the list.";

static kc__rest_verdict newest(kc__rest_call *call, uint64_t at_least, kc__rest_page *ret)
{
    ret->snapshot = kc__watch_cache_snapshot(call->served->cache, &ret->revision);
    if (ret->revision >= at_least)
        return KC__REST_NEXT;
    ret->snapshot = kc__cow_snapshot_unref(ret->snapshot);
    return kc__rest_fail_future_revision(call, at_least, ret->revision);
}

static kc__rest_verdict exactly(kc__rest_call *call, uint64_t revision, kc__rest_page *ret)
{
    uint64_t now = kc__watch_cache_revision(call->served->cache);
    kc_scoped(kc_error) err = {0};
    ret->revision = revision;
    ret->snapshot = kc__watch_cache_snapshot_at(call->served->cache, revision, &err);
    if (ret->snapshot)
        return KC__REST_NEXT;
    if (err.reason != KC_EXPIRED)
        return kc__rest_fail_future_revision(call, revision, now);
    return kc__rest_fail(call, KC_EXPIRED, "The resourceVersion for the provided list is too old.");
}

/* ---- pages after the first ---- */

static kc_str whole_key(kc__rest_call *call, const kc__rest_selection *selection, kc_str start)
{
    return kc_cstr(
        kc_arena_printf(call->arena, "%.*s%.*s", KC_ARG(selection->prefix), KC_ARG(start)));
}

static kc__rest_verdict continue_page(kc__rest_call *call, const kc__rest_selection *selection,
                                      kc__rest_page *ret)
{
    kc__rest_page_token token;
    const kc__rest_options *o = &call->options;
    if (!kc_str_empty(o->resource_version) && !kc_str_is(o->resource_version, "0"))
        return kc__rest_fail(call, KC_BAD_REQUEST,
                             "specifying resource version is not allowed when using continue");
    if (kc__rest_page_token_parse(o->continue_token, call->arena, &token, &call->error) < 0)
        return KC__REST_FAIL;
    /* A key that means "after" ends with NUL, which is part of the slice. */
    ret->from = whole_key(call, selection, token.start);
    ret->from.n = selection->prefix.n + token.start.n;
    if (token.revision < 0)
        return newest(call, 0, ret);
    kc__rest_verdict verdict = exactly(call, (uint64_t)token.revision, ret);
    if (verdict == KC__REST_FAIL && call->error.reason == KC_EXPIRED) {
        kc__rest_fail(call, KC_EXPIRED, "%s", expired_text);
        call->continue_token =
            kc__rest_page_token_from(token.start, KC__REST_PAGE_TOKEN_NOW, call->arena);
    }
    return verdict;
}

kc__rest_verdict kc__rest_page_find(kc__rest_call *call, const kc__rest_selection *selection,
                                    kc__rest_page *ret)
{
    const kc__rest_options *o = &call->options;
    uint64_t version;
    if (kc__watch_cache_check_all_readable(call->served->cache, selection->prefix, &call->error) <
        0)
        return KC__REST_FAIL;
    if (!kc_str_empty(o->continue_token))
        return continue_page(call, selection, ret);
    if (kc__rest_parse_revision(o->resource_version, &version, &call->error) < 0) {
        kc_error_wrap(&call->error, "invalid resource version");
        return KC__REST_FAIL;
    }
    bool exact =
        o->match == KC__REST_MATCH_EXACT || (o->match == KC__REST_MATCH_UNSET && o->limit > 0);
    return version && exact ? exactly(call, version, ret) : newest(call, version, ret);
}

void kc__rest_page_end(kc__rest_call *call, const kc__rest_selection *selection,
                       kc__cow_snapshot *snapshot, const kc__cow_iter *at,
                       kc__print_list_meta *meta)
{
    if (!at->left)
        return;
    kc_str last = kc_str_sub(at->key, selection->prefix.n, at->key.n);
    meta->continue_token = kc__rest_page_token_after(last, (int64_t)meta->revision, call->arena);
    if (kc__rest_selection_is_everything(selection))
        meta->remaining = at->left;
    kc__watch_cache_keep(call->served->cache, meta->revision, snapshot);
}
