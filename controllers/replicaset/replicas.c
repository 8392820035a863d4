/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replicas.c: the pods of a set.
 *
 * Those it controls and those nobody controls are looked up by index, so that a set costs what it
 * has, not what the namespace has. Of the ones that are active, orphans that match are adopted, own
 * ones that no longer match released (common/adoption.h).
 *
 * In doubt (doubts.c) the list comes from the server: by the set's selector, laid over what the
 * cache has. Doubt ends when both have the same pods, and the same of them are being deleted.
 */
#include "replicaset/replica_set.h"

#include "common/adoption.h"
#include "common/indexes.h"

/* ---- from the cache ---- */

static void append(kc_objects *to, kc_objects *from)
{
    if (!from->n)
        return;
    to->items = kc_reallocarray(to->items, to->n + from->n, sizeof(*to->items));
    memcpy(to->items + to->n, from->items, from->n * sizeof(*from->items));
    to->n += from->n;
    from->n = 0;
}

static int list_at(kc__rs_call *call, const char *value, kc_error *err)
{
    kc_scoped(kc_objects) list = {0};
    const kc_list_opts which = {.index = KC__BY_CONTROLLER, .value = value};
    if (kc_client_list(call->ctx->client, &kc_kind_pod, &which, &list, err) < 0)
        return -1;
    append(&call->pods, &list);
    return 0;
}

static int list_cached(kc__rs_call *call, kc_error *err)
{
    kc_scoped(kc_buf) orphans = {0};
    kc_buf_printf(&orphans, "%s%s", KC__ORPHANS_OF, call->rs->metadata.ns);
    return list_at(call, call->rs->metadata.uid, err) < 0 ||
                   list_at(call, kc_buf_cstr(&orphans), err) < 0
               ? -1
               : 0;
}

/* ---- from the server ---- */

static int list_live(kc__rs_call *call, kc_objects *ret, kc_error *err)
{
    kc_scoped(kc_buf) labels = {0};
    kc_selector_write(&labels, call->selector);
    return kc_client_list(
        call->ctx->client, &kc_kind_pod,
        &(kc_list_opts){.ns = call->rs->metadata.ns, .labels = kc_buf_cstr(&labels), .live = true},
        ret, err);
}

static bool same_to_us(const kc_object *a, const kc_object *b)
{
    return a && b && kc_object_being_deleted(a) == kc_object_being_deleted(b);
}

/* What the cache has and the server does not is gone; what only the server has is added. The
 * selector leaves out what is to be released: that stays. True if there was no difference. */
static bool lay_over(kc__rs_call *call, kc_objects *live)
{
    bool same = true;
    size_t kept = 0;
    kc_scoped(kc_map) by_uid = {0};
    for (size_t i = 0; i < live->n; i++)
        kc_map_put(&by_uid, kc_object_uid(live->items[i]), live->items[i]);
    for (size_t i = 0; i < call->pods.n; i++) {
        kc_object *cached = call->pods.items[i];
        const kc_object *there = kc_map_get(&by_uid, kc_object_uid(cached));
        const bool listed = kc_selector_match(call->selector, cached);
        same = same && (!listed || same_to_us(cached, there));
        if (listed || there)
            kc_object_unref(cached);
        else
            call->pods.items[kept++] = cached;
        same = same && (listed || !there);
        if (there)
            kc_map_remove(&by_uid, kc_object_uid(there));
    }
    kc_map_each (&by_uid, unknown)
        same = same && !kc_object_controlled_by(unknown->value, kc_object_uid(call->object));
    call->pods.n = kept;
    append(&call->pods, live);
    return same;
}

static int resolve_doubt(kc__rs_call *call, kc_error *err)
{
    kc_scoped(kc_objects) live = {0};
    if (list_live(call, &live, err) < 0)
        return -1;
    if (lay_over(call, &live))
        kc__doubts_remove(&call->controller->doubts, kc_object_key(call->object));
    return 0;
}

/* ---- claiming ---- */

/* All are tried; the first failure is the call's. */
static int claim_all(kc__rs_call *call, kc_error *err)
{
    kc_scoped(kc_error) first = {0};
    kc_scoped(kc__claims) claims = {.client = call->ctx->client,
                                    .owner = call->object,
                                    .owner_kind = &kc_kind_replica_set,
                                    .selector = call->selector};
    call->active = kc_calloc(KC_MAX(call->pods.n, (size_t)1), sizeof(*call->active));
    for (size_t i = 0; i < call->pods.n; i++) {
        const kc_object *pod = call->pods.items[i];
        const kc__pod_state state = kc__pod_state_of(pod);
        bool ours = false;
        if (!kc__pod_is_active(&state))
            continue;
        kc_scoped(kc_error) why = {0};
        if (kc__claim(&claims, &kc_kind_pod, pod, &ours, &why) < 0 && !first.reason)
            kc_error_move(&first, &why);
        if (ours)
            call->active[call->n_active++] = (kc__replica){pod, state};
    }
    return first.reason ? kc_error_move(err, &first) : 0;
}

int kc__rs_find_replicas(kc__rs_call *call, kc_error *err)
{
    if (list_cached(call, err) < 0)
        return -1;
    if (kc__doubts_has(&call->controller->doubts, kc_object_key(call->object)) &&
        resolve_doubt(call, err) < 0)
        return -1;
    return claim_all(call, err);
}
