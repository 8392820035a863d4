/* SPDX-License-Identifier: Apache-2.0 */
/*
 * etcd_compactor.c: drops old history of etcd, once per interval for all servers together.
 *
 * As kube-apiserver does, so that both can share an etcd: the version of the key `compact_rev_key`
 * is a logical clock. In each interval every server tries to advance it by one, on the condition
 * that it has the value that this server saw last. One succeeds, and compacts up to the revision
 * that was the latest one interval ago; the others adopt the new value. So history reaches back
 * between one and two intervals.
 */
#include "apiserver/storage/etcd/etcd_internal.h"

#define COMPACT_KEY "compact_rev_key"

/* Advances the clock, or reads it if another server has. */
static kc__etcd_reply *advance_clock(const kc__storage_etcd *s)
{
    const kc_str key = KC_STR(COMPACT_KEY);
    kc_scoped(kc_buf) value = {0};
    kc_buf_printf(&value, "%lld", (long long)s->compactor.revision);
    kc__etcd_compare compare = {.target = KC__ETCD_COMPARE_VERSION,
                                .result = KC__ETCD_EQUAL,
                                .key = key,
                                .version = s->compactor.clock};
    const kc__etcd_put_request put = {.key = key, .value = kc_buf_str(&value)};
    const kc__etcd_range_request range = {.key = key};
    kc__etcd_request_op success = {.put = &put}, failure = {.range = &range};
    return kc__etcd_call(s->client, &(kc__etcd_request){.method = KC__ETCD_TXN,
                                                        .txn = {.compare = {&compare, 1},
                                                                .success = {&success, 1},
                                                                .failure = {&failure, 1}}});
}

/* The clock as another server has set it. */
static int64_t clock_in(const kc__etcd_txn_response *response)
{
    const kc__etcd_range_response *read =
        response->responses.n ? response->responses.items[0].range : NULL;
    return read && read->kvs.n ? read->kvs.items[0].version : 0;
}

static void compact(const kc__storage_etcd *s, int64_t revision)
{
    kc_auto(kc__etcd_reply) *reply =
        kc__etcd_call(s->client, &(kc__etcd_request){.method = KC__ETCD_COMPACT,
                                                     .compact = {.revision = revision}});
    if (reply->code == KC__ETCD_OK)
        kc_log_debug(s->log, "compacted etcd", kc_kv("revision", (uint64_t)revision));
    else if (reply->code != KC__ETCD_COMPACTED)
        kc_log_warn(s->log, "compaction of etcd failed", kc_kv("err", &reply->err));
}

void kc__storage_etcd_run_compactor(void *user)
{
    kc__storage_etcd *s = user;
    kc__storage_etcd_compactor *c = &s->compactor;
    kc_auto(kc__etcd_reply) *reply = advance_clock(s);
    if (reply->code != KC__ETCD_OK) {
        kc_log_warn(s->log, "compaction of etcd failed", kc_kv("err", &reply->err));
        return;
    }
    if (!reply->txn->succeeded) {
        c->clock = clock_in(reply->txn);
    } else {
        c->clock++;
        if (c->revision)
            compact(s, c->revision);
    }
    c->revision = reply->revision;
}
