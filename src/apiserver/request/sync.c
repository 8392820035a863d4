/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sync.c: phase `synced`: over a storage that other servers write to as well, waits until the
 * caches show what the request may rely on.
 *
 *     GET, LIST, WATCH   resourceVersion ""    every write that was acknowledged before
 *                        resourceVersion N     the same, if the caches have not reached N
 *                        resourceVersion "0"   nothing: whatever the caches show
 *                        continue              every write: another server may have made the token
 *     UPDATE, PATCH, …      every write, so that "not found" and "conflict" are true
 *     CREATE                nothing: the storage decides; every write, if the caches do not show
 *                           its namespace
 *
 * A list of an exact revision that the recent events do not reach is read from the storage: another
 * server may have made the continue token (store/storage_read.c).
 *
 * A call that waits does not count as a request in flight: it needs no processor, and one answer of
 * the storage serves all that wait. So a burst of readers is served as it is over an exclusive
 * storage, instead of being rejected with 429.
 *
 * Over an exclusive storage the caches always show every acknowledged write, and the phase does
 * nothing.
 */
#include "apiserver/request/page_token.h"
#include "apiserver/request/phases.h"
#include "apiserver/request/revision.h"

typedef struct call_sync {
    kc__store_sync sync;
    kc__store_storage_read storage_read;
    kc__rest_call *call;
    _Atomic size_t *counted; /* Where the call counts when it goes on; NULL: nowhere. */
} call_sync;

static bool has_query(const kc__rest_call *call, kc_str name, kc_str *ret)
{
    *ret = (kc_str){0};
    kc__query_get(&call->query, name, ret);
    return !kc_str_empty(*ret);
}

static bool reads_latest(const kc__rest_call *call)
{
    kc_str text;
    uint64_t revision = 0;
    if (has_query(call, KC_STR("continue"), &text))
        return true;
    if (!has_query(call, KC_STR("resourceVersion"), &text))
        return true;
    return kc__rest_parse_revision(text, &revision, NULL) == 0 &&
           revision > kc__watch_cache_revision(call->served->cache);
}

static bool is_shared(const kc__rest_call *call)
{
    return call->verb && call->served && call->served->cache &&
           kc__store_is_shared(kc__watch_cache_store(call->served->cache));
}

/* Another server may have created it a moment ago. */
static bool lacks_namespace(const kc__rest_call *call)
{
    if (kc_str_empty(call->info.ns))
        return false;
    kc_auto(kc_object) *ns = kc__watch_cache_get(call->api->namespaces, call->info.ns);
    return !ns;
}

/* The store that is to catch up. A namespace is never in another one than the first. */
static kc__store *store_to_sync(const kc__rest_call *call)
{
    return call->verb == &kc__rest_verb_create ? call->api->store
                                               : kc__watch_cache_store(call->served->cache);
}

static bool needs_sync(const kc__rest_call *call)
{
    if (call->verb == &kc__rest_verb_create)
        return lacks_namespace(call);
    if (call->verb->mutates)
        return call->verb != &kc__review_verb;
    return reads_latest(call);
}

/* ---- requests in flight ---- */

static void stop_counting(call_sync *s)
{
    s->counted = kc_take(s->call->counted);
    if (s->counted)
        atomic_fetch_sub_explicit(s->counted, 1, memory_order_relaxed);
}

static void count_again(const call_sync *s)
{
    if (s->counted)
        atomic_fetch_add_explicit(s->counted, 1, memory_order_relaxed);
    s->call->counted = s->counted;
}

static void fail_call(kc__rest_call *call, kc_error *err)
{
    kc_error_move(&call->error, err);
    kc__rest_call_resume(call, KC__REST_FAIL);
}

/* ---- lists of an older revision ---- */

/* The revision of a list that reads exactly one (verbs/page.c); 0: it does not, or is invalid. */
static uint64_t exact_revision(const kc__rest_call *call)
{
    kc__rest_page_token token;
    kc_str text, match, limit;
    uint64_t revision = 0;
    if (call->verb != &kc__rest_verb_list)
        return 0;
    if (has_query(call, KC_STR("continue"), &text))
        return kc__rest_page_token_parse(text, call->arena, &token, NULL) == 0 && token.revision > 0
                   ? (uint64_t)token.revision
                   : 0;
    const bool matches = has_query(call, KC_STR("resourceVersionMatch"), &match);
    const bool exact = matches ? kc_str_is(match, "Exact")
                               : has_query(call, KC_STR("limit"), &limit) && !kc_str_is(limit, "0");
    if (!exact || !has_query(call, KC_STR("resourceVersion"), &text) ||
        kc__rest_parse_revision(text, &revision, NULL) < 0)
        return 0;
    return revision;
}

/* A revision that the storage has dropped, too, is reported by the list itself. */
static void older_state_is_read(kc__store_storage_read *read)
{
    kc__rest_call *call = kc_container_of(read, call_sync, storage_read)->call;
    if (read->error.reason && read->error.reason != KC_EXPIRED) {
        fail_call(call, &read->error);
        return;
    }
    kc_error_done(&read->error);
    kc__rest_call_resume(call, KC__REST_NEXT);
}

/* Returns false if there is nothing to read. */
static bool read_older(call_sync *s)
{
    const uint64_t revision = exact_revision(s->call);
    kc__watch_cache *cache = s->call->served->cache;
    if (!revision || kc__watch_cache_reaches(cache, revision))
        return false;
    s->storage_read = (kc__store_storage_read){.cache = cache,
                                               .revision = revision,
                                               .loop = s->call->x->loop,
                                               .done = older_state_is_read};
    kc__store_storage_read_start(&s->storage_read);
    return true;
}

/* ---- the phase ---- */

static void call_synced(kc__store_sync *sync)
{
    call_sync *s = kc_container_of(sync, call_sync, sync);
    count_again(s);
    if (sync->error.reason)
        fail_call(s->call, &sync->error);
    else if (!read_older(s))
        kc__rest_call_resume(s->call, KC__REST_NEXT);
}

kc__rest_verdict kc__rest_phase_synced(kc__rest_call *call)
{
    if (!is_shared(call))
        return KC__REST_NEXT;
    call_sync *s = kc_arena_new(call->arena, call_sync);
    s->call = call;
    if (!needs_sync(call))
        return read_older(s) ? KC__REST_PENDING : KC__REST_NEXT;
    stop_counting(s);
    s->sync = (kc__store_sync){.loop = call->x->loop, .done = call_synced};
    kc__store_sync_start(store_to_sync(call), &s->sync);
    return KC__REST_PENDING;
}
