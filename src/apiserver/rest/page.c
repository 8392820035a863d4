/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page.c: which version of a resource a list reads.
 *
 *     resourceVersion   match          limit   reads
 *     ""                –              any     the newest
 *     "0"               –              any     the newest, all of it: the limit does not count
 *     N                 Exact          any     exactly N
 *     N                 NotOlderThan   any     the newest, if it has reached N
 *     N                 –              no      the same
 *     N                 –              yes     exactly N
 *     (continue)        –              any     that of the first page; the newest when it says -1
 *
 * The newest is always consistent: the cache shows every write that anybody was told of.
 */
#include "apiserver/rest/list.h"
#include "apiserver/rest/page_token.h"

static const char expired_text[] =
    "The provided continue parameter is too old to display a consistent list result. You can start a "
    "new list without the continue parameter, or use the continue token in this response to retrieve "
    "the remainder of the results. Continuing with the provided token results in an inconsistent "
    "list - objects that were created, modified, or deleted between the time the first chunk was "
    "returned and now may show up in the list.";

int kc__parse_version(kc_str text, uint64_t *ret, kc_error *err)
{
    uint64_t version = 0;
    if (!kc_str_empty(text) && !kc_str_to_u64(text, &version)) {
        kc_scoped(kc_buf) quoted = {0};
        kc_json_quote(&quoted, text);
        return kc_error_set(err, KC_BAD_REQUEST,
                            "resourceVersion: Invalid value: %s: strconv.ParseUint: parsing %s: "
                            "invalid syntax",
                            kc_buf_cstr(&quoted), kc_buf_cstr(&quoted));
    }
    *ret = version;
    return 0;
}

void kc__too_large(kc_error *err, uint64_t wanted, uint64_t is)
{
    kc_error_set(err, KC_TIMEOUT, "Timeout: Too large resource version: %llu, current: %llu",
                 (unsigned long long)wanted, (unsigned long long)is);
    kc_error_add_cause(err, "ResourceVersionTooLarge", (kc_str){0},
                       KC_STR("Too large resource version"));
    err->retry_after_seconds = 1;
}

kc__verdict kc__fail_too_large(kc__call *call, uint64_t wanted, uint64_t is)
{
    kc__too_large(&call->error, wanted, is);
    return KC__FAIL;
}

static kc__verdict newest(kc__call *call, uint64_t at_least, kc__page *ret)
{
    ret->snapshot = kc__cache_snapshot(call->served->cache, &ret->revision);
    if (ret->revision >= at_least)
        return KC__NEXT;
    ret->snapshot = kc_cow_snapshot_unref(ret->snapshot);
    return kc__fail_too_large(call, at_least, ret->revision);
}

static kc__verdict exactly(kc__call *call, uint64_t revision, kc__page *ret)
{
    uint64_t now = kc__store_revision(call->api->store);
    kc_scoped(kc_error) err = {0};
    ret->revision = revision;
    ret->snapshot = kc__cache_snapshot_at(call->served->cache, revision, &err);
    if (ret->snapshot)
        return KC__NEXT;
    if (err.reason != KC_EXPIRED)
        return kc__fail_too_large(call, revision, now);
    return kc__fail(call, KC_EXPIRED, "The resourceVersion for the provided list is too old.");
}

/* ---- pages after the first ---- */

static kc_str whole_key(kc__call *call, const kc__selection *selection, kc_str start)
{
    return kc_cstr(
        kc_arena_printf(call->arena, "%.*s%.*s", KC_ARG(selection->prefix), KC_ARG(start)));
}

static kc__verdict go_on(kc__call *call, const kc__selection *selection, kc__page *ret)
{
    kc__page_token token;
    const kc__options *o = &call->options;
    if (!kc_str_empty(o->resource_version) && !kc_str_is(o->resource_version, "0"))
        return kc__fail(call, KC_BAD_REQUEST,
                        "specifying resource version is not allowed when using continue");
    if (kc__page_token_parse(o->continue_token, call->arena, &token, &call->error) < 0)
        return KC__FAIL;
    /* A key ends with NUL when it means "after": as a slice it keeps it. */
    ret->from = whole_key(call, selection, token.start);
    ret->from.n = selection->prefix.n + token.start.n;
    if (token.revision < 0)
        return newest(call, 0, ret);
    kc__verdict verdict = exactly(call, (uint64_t)token.revision, ret);
    if (verdict == KC__FAIL && call->error.reason == KC_EXPIRED) {
        kc__fail(call, KC_EXPIRED, "%s", expired_text);
        call->continue_token = kc__page_token_from(token.start, KC__PAGE_TOKEN_NOW, call->arena);
    }
    return verdict;
}

kc__verdict kc__page_find(kc__call *call, const kc__selection *selection, kc__page *ret)
{
    const kc__options *o = &call->options;
    uint64_t version;
    if (!kc_str_empty(o->continue_token))
        return go_on(call, selection, ret);
    if (kc__parse_version(o->resource_version, &version, &call->error) < 0) {
        kc_error_wrap(&call->error, "invalid resource version");
        return KC__FAIL;
    }
    bool exact = o->match == KC__MATCH_EXACT || (o->match == KC__MATCH_UNSET && o->limit > 0);
    return version && exact ? exactly(call, version, ret) : newest(call, version, ret);
}

void kc__page_end(kc__call *call, const kc__selection *selection, kc_cow_snapshot *snapshot,
                  const kc_cow_iter *at, kc__list_meta *meta)
{
    if (!at->left)
        return;
    kc_str last = kc_str_sub(at->key, selection->prefix.n, at->key.n);
    meta->continue_token = kc__page_token_after(last, (int64_t)meta->revision, call->arena);
    if (kc__selection_is_everything(selection))
        meta->remaining = at->left;
    kc__cache_keep(call->served->cache, meta->revision, snapshot);
}
