/* SPDX-License-Identifier: Apache-2.0 */
/*
 * etcd_commit.c: groups of operations as transactions of etcd.
 *
 *     if    the mod revision of each key is the expected one
 *     then  put and delete
 *     else  read the mod revisions, to tell which expectation failed
 *
 * All changes of a transaction have one revision.
 */
#include "apiserver/storage/etcd/etcd_internal.h"

/* ---- the request ---- */

/* The messages of one operation. */
typedef struct etcd_op {
    kc__etcd_put_request put;
    kc__etcd_delete_range_request delete_range;
    kc__etcd_range_request read;
} etcd_op;

/* The arrays of a transaction, an element for each operation. */
typedef struct etcd_txn {
    kc__etcd_compare *compares;
    kc__etcd_request_op *success, *failure;
    etcd_op *ops;
    size_t n_compares;
} etcd_txn;

/* A deletion without expectation needs a key that exists. */
static void add_compare(etcd_txn *t, const kc__storage_op *op, kc_str key)
{
    const bool exists = op->expected == KC__STORAGE_ANY;
    if (exists && op->verb == KC__STORAGE_PUT)
        return;
    t->compares[t->n_compares++] =
        (kc__etcd_compare){.target = KC__ETCD_COMPARE_MOD,
                           .result = exists ? KC__ETCD_GREATER : KC__ETCD_EQUAL,
                           .key = key,
                           .mod_revision = exists ? 0 : (int64_t)op->expected};
}

static void add_op(etcd_txn *t, size_t i, const kc__storage_op *op, kc_str key, int64_t lease)
{
    etcd_op *to = &t->ops[i];
    add_compare(t, op, key);
    to->read = (kc__etcd_range_request){.key = key, .keys_only = true};
    t->failure[i].range = &to->read;
    if (op->verb == KC__STORAGE_DELETE) {
        to->delete_range = (kc__etcd_delete_range_request){.key = key};
        t->success[i].delete_range = &to->delete_range;
    } else {
        to->put =
            (kc__etcd_put_request){.key = key, .value = op->value, .lease = op->ttl ? lease : 0};
        t->success[i].put = &to->put;
    }
}

/* The request points into the arena, which is empty. */
static kc__etcd_request txn_of(const kc__storage_etcd *s, const kc__storage_op *ops, size_t n,
                               int64_t lease, kc_arena *arena)
{
    arena->first = KC__ETCD_SMALL_ARENA;
    etcd_txn t = {.compares = kc_arena_calloc(arena, n, sizeof(kc__etcd_compare)),
                  .success = kc_arena_calloc(arena, n, sizeof(kc__etcd_request_op)),
                  .failure = kc_arena_calloc(arena, n, sizeof(kc__etcd_request_op)),
                  .ops = kc_arena_calloc(arena, n, sizeof(etcd_op))};
    for (size_t i = 0; i < n; i++)
        add_op(&t, i, &ops[i], kc__storage_etcd_key(s, ops[i].key, arena), lease);
    return (kc__etcd_request){.method = KC__ETCD_TXN,
                              .txn = {.compare = {t.compares, t.n_compares},
                                      .success = {t.success, n},
                                      .failure = {t.failure, n}}};
}

/* ---- the response ---- */

static bool is_as_expected(const kc__storage_op *op, uint64_t revision)
{
    if (op->expected == KC__STORAGE_ANY)
        return op->verb == KC__STORAGE_PUT || revision;
    return op->expected == revision;
}

static uint64_t revision_in(const kc__etcd_txn_response *response, size_t i)
{
    const kc__etcd_range_response *read =
        i < response->responses.n ? response->responses.items[i].range : NULL;
    return read && read->kvs.n ? (uint64_t)read->kvs.items[0].mod_revision : 0;
}

/* The first operation whose expectation failed conflicts; the others are skipped. */
static void set_conflict(const kc__etcd_txn_response *response, const kc__storage_op *ops, size_t n,
                         kc__storage_result *results)
{
    bool found = false;
    for (size_t i = 0; i < n; i++) {
        const uint64_t revision = revision_in(response, i);
        const bool conflicts = !found && !is_as_expected(&ops[i], revision);
        results[i] =
            (kc__storage_result){.outcome = conflicts ? KC__STORAGE_CONFLICT : KC__STORAGE_SKIPPED,
                                 .revision = conflicts ? revision : 0};
        found |= conflicts;
    }
}

static void set_all(kc__storage_result *results, size_t n, kc__storage_result result)
{
    for (size_t i = 0; i < n; i++)
        results[i] = result;
}

/* Sets the results, or the error: KC_SERVICE_UNAVAILABLE if nothing was stored. */
static int take_reply(const kc__etcd_reply *reply, const kc__storage_op *ops, size_t n,
                      kc__storage_result *results, kc_error *err)
{
    if (reply->code == KC__ETCD_TOO_LARGE) {
        set_all(results, n, (kc__storage_result){.outcome = KC__STORAGE_REFUSED});
        return 0;
    }
    if (reply->code != KC__ETCD_OK)
        return kc_error_set(err, reply->unknown_outcome ? KC_TIMEOUT : KC_SERVICE_UNAVAILABLE,
                            "etcd: %s", kc_error_text(&reply->err));
    if (reply->txn->succeeded)
        set_all(results, n,
                (kc__storage_result){.outcome = KC__STORAGE_STORED,
                                     .revision = (uint64_t)reply->revision});
    else
        set_conflict(reply->txn, ops, n, results);
    return 0;
}

/* ---- the functions of the contract ---- */

static void submission_decided(kc__etcd_reply *arrived, void *user)
{
    kc_auto(kc__etcd_reply) *reply = arrived;
    kc__storage_submission *submission = user;
    submission->revision = (uint64_t)reply->revision;
    take_reply(reply, submission->ops, submission->n_ops, submission->results, &submission->error);
    submission->done(submission);
}

/* A submission with a lease, which may have ended. */
typedef struct leased_submission {
    kc__storage_etcd *s;
    kc__storage_submission *submission;
    int64_t lease;
} leased_submission;

/* Every attempt has a new lease, so they end. */
static void leased_decided(kc__etcd_reply *arrived, void *user)
{
    const leased_submission leased = *(leased_submission *)user;
    free(user);
    if (arrived->code != KC__ETCD_LEASE_NOT_FOUND) {
        submission_decided(arrived, leased.submission);
        return;
    }
    kc__etcd_reply_free(arrived);
    kc__storage_etcd_lease_lost(leased.s, leased.lease);
    kc__storage_etcd_submit(&leased.s->base, leased.submission);
}

int64_t kc__storage_etcd_ttl(const kc__storage_op *ops, size_t n)
{
    int64_t ttl = 0;
    for (size_t i = 0; i < n; i++)
        ttl = KC_MAX(ttl, ops[i].ttl);
    return ttl;
}

void kc__storage_etcd_send(kc__storage_etcd *s, kc__storage_submission *submission, int64_t lease)
{
    kc_scoped(kc_arena) arena = {0};
    const kc__etcd_request request = txn_of(s, submission->ops, submission->n_ops, lease, &arena);
    if (!lease) {
        kc__etcd_call_start(s->client, &request, submission_decided, submission);
        return;
    }
    leased_submission *leased = kc_new(leased_submission);
    *leased = (leased_submission){s, submission, lease};
    kc__etcd_call_start(s->client, &request, leased_decided, leased);
}

void kc__storage_etcd_submit(kc__storage *storage, kc__storage_submission *submission)
{
    kc__storage_etcd *s = kc__storage_etcd_of(storage);
    const int64_t ttl = kc__storage_etcd_ttl(submission->ops, submission->n_ops);
    const int64_t lease = ttl ? kc__storage_etcd_lease_for(s, ttl, submission) : 0;
    if (!ttl || lease)
        kc__storage_etcd_send(s, submission, lease);
}

/* Refuses a group that violates the limits of a store. */
static bool is_refused(const kc__storage_op *ops, size_t n, kc__storage_result *results)
{
    const bool whole = n > 1 && kc__storage_group_problem(ops, n);
    size_t bad = 0;
    while (bad < n && !kc__storage_op_problem(&ops[bad]))
        bad++;
    if (!whole && bad == n)
        return false;
    set_all(results, n,
            (kc__storage_result){.outcome = whole ? KC__STORAGE_REFUSED : KC__STORAGE_SKIPPED});
    if (!whole)
        results[bad].outcome = KC__STORAGE_REFUSED;
    return true;
}

/* Commits a group; NULL on error. A lease that has ended is replaced once. */
static kc__etcd_reply *commit_group(kc__storage_etcd *s, const kc__storage_op *ops, size_t n,
                                    kc_error *err)
{
    const int64_t ttl = kc__storage_etcd_ttl(ops, n);
    for (bool again = false;; again = true) {
        kc_scoped(kc_arena) arena = {0};
        int64_t lease = 0;
        if (ttl && kc__storage_etcd_lease_now(s, ttl, &lease, err) < 0)
            return NULL;
        const kc__etcd_request request = txn_of(s, ops, n, lease, &arena);
        kc_auto(kc__etcd_reply) *reply = kc__etcd_call(s->client, &request);
        if (reply->code != KC__ETCD_LEASE_NOT_FOUND || again)
            return kc_take(reply);
        kc__storage_etcd_lease_lost(s, lease);
    }
}

/* Group after group: etcd has no batches. */
int kc__storage_etcd_commit(kc__storage *storage, const kc__storage_op *ops, size_t n_ops,
                            kc__storage_result *ret_results, uint64_t *ret_revision, kc_error *err)
{
    kc__storage_etcd *s = kc__storage_etcd_of(storage);
    uint64_t revision = 0;
    for (size_t at = 0, n; at < n_ops; at += n) {
        n = kc__storage_group_size(&ops[at], n_ops - at);
        if (is_refused(&ops[at], n, &ret_results[at]))
            continue;
        kc_auto(kc__etcd_reply) *reply = commit_group(s, &ops[at], n, err);
        if (!reply || take_reply(reply, &ops[at], n, &ret_results[at], err) < 0)
            return kc_error_result(err);
        revision = (uint64_t)reply->revision;
    }
    if (ret_revision && revision)
        *ret_revision = revision;
    return 0;
}
