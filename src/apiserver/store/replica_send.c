/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replica_send.c: sends writes to a shared storage and completes them.
 *
 *     submitted ─▶ waiting: another group of this server writes one of its keys
 *               ─▶ sent ─▶ decided at revision R ─▶ settling: the trees are behind R ─▶ done
 *
 * The storage compares the expected revisions, so the trees may be behind: only a conflict that no
 * later state can undo is decided here (the object has a newer revision than expected). Every other
 * outcome is reported when the trees show its reason. A conflict can then be rebased or retried on
 * the object that caused it, instead of spinning on an old one.
 *
 * Groups of this server that write the same key run one after the other. Otherwise many writers of
 * one object (a quota, an allocator) would conflict with each other again and again.
 */
#include "apiserver/store/replica_internal.h"

/* A rebased write that conflicts this often has lost against other servers: the conflict stays. */
enum { MAX_ATTEMPTS = 16 };

/* First chunk of a group's arena: enough for one write, and among the sizes that the C library
 * keeps for each thread. */
enum { SMALL_ARENA = 960 };

/* ---- groups ---- */

static kc__store_replica_group *group_new(kc__store *store, kc__store_write **writes, size_t n)
{
    kc__store_replica_group *g = kc_new(kc__store_replica_group);
    g->store = store;
    g->n = n;
    g->arena.first = SMALL_ARENA;
    g->writes = kc_arena_alloc(&g->arena, n * sizeof(kc__store_write *));
    memcpy(g->writes, writes, n * sizeof(kc__store_write *));
    g->ops = kc_arena_calloc(&g->arena, n, sizeof(kc__storage_op));
    g->deleted = kc_arena_calloc(&g->arena, n, sizeof(kc_object *));
    g->submission.results = kc_arena_calloc(&g->arena, n, sizeof(kc__storage_result));
    for (size_t i = 0; i < n; i++) {
        writes[i]->result = NULL;
        writes[i]->error = (kc_error){0};
        g->ops[i].key =
            kc_arena_join(&g->arena, writes[i]->cache->prefix, writes[i]->key, (kc_str){0});
    }
    return g;
}

static void group_free(kc__store_replica_group *g)
{
    for (size_t i = 0; i < g->n; i++)
        kc_object_unref(g->deleted[i]);
    kc_error_done(&g->submission.error);
    kc__encryption_config_unref(g->encryption);
    kc_arena_done(&g->arena);
    free(g);
}

/* Passes the writes of the group to their loops, and the keys to the groups that wait. */
static void finish_group(kc__store_replica *r, kc__store_replica_group *g, uint64_t revision)
{
    for (size_t i = 0; i < g->n; i++) {
        g->writes[i]->revision = revision;
        kc_vec_push(&r->batch.writes, g->writes[i]);
        if (g->started)
            kc_map_remove(&r->sent, g->ops[i].key);
    }
    group_free(g);
}

static void refuse_write(kc__store_write *write, const kc_error *err)
{
    write->outcome = KC__STORAGE_REFUSED;
    kc__store_error_copy(&write->error, err);
}

/* ---- sending ---- */

static int set_value(kc__store_replica_group *g, size_t i, kc_error *err)
{
    const kc__store_write *write = g->writes[i];
    kc__encryption *encryption = g->store->opts.encryption;
    kc_scoped(kc_buf) encoded = {0};
    kc_scoped(kc_buf) sealed = {0};
    kc_str plain;
    if (write->verb == KC__STORAGE_DELETE)
        return 0;
    if (kc__store_value_write(write->cache, write->key, write->object, &encoded, &plain, err) < 0)
        return kc_error_result(err);
    if (!encryption) {
        g->ops[i].value = encoded.n ? kc_arena_str(&g->arena, plain) : plain;
        return 0;
    }
    kc_scoped(kc_buf) room = {0};
    if (kc__encryption_seal(encryption, g->encryption, write->cache->resource,
                            kc__storage_outside_key(g->store->storage, g->ops[i].key, &room), plain,
                            &sealed, err) < 0)
        return kc_error_result(err);
    g->ops[i].value = kc_arena_str(&g->arena, kc_buf_str(&sealed));
    return 0;
}

static int check_op(const kc__storage_op *op, kc_str key, kc_error *err)
{
    const char *problem = key.n ? kc__storage_op_problem(op) : "the key is empty";
    return problem
               ? kc_error_set(err, KC_INVALID, "cannot store \"%.*s\": %s", KC_ARG(key), problem)
               : 0;
}

/* Fills in the operations. Returns the index of the write that cannot be stored, or `n`. */
static size_t prepare_ops(kc__store_replica_group *g, kc_error *err)
{
    kc__encryption_config_unref(g->encryption);
    g->encryption =
        g->store->opts.encryption ? kc__encryption_current(g->store->opts.encryption) : NULL;
    for (size_t i = 0; i < g->n; i++) {
        const kc__store_write *write = g->writes[i];
        kc__storage_op *op = &g->ops[i];
        *op = (kc__storage_op){.verb = write->verb,
                               .key = op->key,
                               .expected = write->expected,
                               .ttl = write->ttl,
                               .joined = i > 0};
        if (set_value(g, i, err) < 0 || check_op(op, write->key, err) < 0)
            return i;
    }
    return g->n;
}

/* The others of the group are skipped. */
static void skip_others(const kc__store_replica_group *g, size_t failed)
{
    for (size_t i = 0; i < g->n; i++)
        if (i != failed)
            g->writes[i]->outcome = KC__STORAGE_SKIPPED;
}

/* Its events will arrive, and wake the thread. With store.queue locked. */
static bool is_announced(const kc__store_replica *r, const kc__storage_submission *submission)
{
    return !submission->error.reason && submission->results[0].outcome == KC__STORAGE_STORED &&
           submission->revision > r->inbox.complete;
}

/* On the storage's thread. */
static void group_decided(kc__storage_submission *submission)
{
    kc__store_replica_group *g = kc_container_of(submission, kc__store_replica_group, submission);
    kc__store_replica *r = g->store->replica;
    kc_locked (&g->store->queue) {
        kc_dlist_push(&r->inbox.decided, &g->link);
        if (!is_announced(r, submission))
            kc__store_replica_wake(r);
    }
}

static void submit_group(kc__store_replica *r, kc__store_replica_group *g)
{
    kc_scoped(kc_error) err = {0};
    const size_t failed = prepare_ops(g, &err);
    const char *problem =
        failed == g->n && g->n > 1 ? kc__storage_group_problem(g->ops, g->n) : NULL;
    if (problem)
        kc_error_set(&err, KC_INVALID, "cannot store \"%.*s\": %s", KC_ARG(g->writes[0]->key),
                     problem);
    if (failed < g->n || problem) {
        for (size_t i = 0; problem && i < g->n; i++)
            refuse_write(g->writes[i], &err);
        if (!problem) {
            refuse_write(g->writes[failed], &err);
            skip_others(g, failed);
        }
        finish_group(r, g, kc__store_revision(r->store));
        return;
    }
    g->attempts++;
    r->in_flight++;
    g->submission.ops = g->ops;
    g->submission.n_ops = g->n;
    g->submission.done = group_decided;
    kc__storage_submit(r->store->storage, &g->submission);
}

static void conflict_write(const kc__store_replica *r, kc__store_write *write)
{
    const kc_object *current = kc__cow_tree_get(write->cache->tree, write->key);
    kc_counter_inc(r->store->metrics.conflicts);
    write->outcome = KC__STORAGE_CONFLICT;
    write->result = current ? kc_object_ref(current) : NULL;
}

/* Lets a write that was made from an older state of the object adapt to the current one. */
static bool rebase_write(kc__store_write *write)
{
    const kc_object *current = kc__cow_tree_get(write->cache->tree, write->key);
    if (!write->rebase || !current || !write->rebase(write, current))
        return false;
    write->expected = kc_object_revision(current);
    return true;
}

/* The object is newer than expected, and revisions never come back. */
static bool is_outdated(const kc__store_write *write)
{
    const kc_object *current = kc__cow_tree_get(write->cache->tree, write->key);
    return write->expected != KC__STORAGE_ABSENT && write->expected != KC__STORAGE_ANY && current &&
           kc_object_revision(current) > write->expected;
}

static bool is_busy(const kc__store_replica *r, const kc__store_replica_group *g)
{
    for (size_t i = 0; i < g->n; i++)
        if (kc_map_get(&r->sent, g->ops[i].key))
            return true;
    return false;
}

/* No group of this server writes its keys now. */
static void start_group(kc__store_replica *r, kc__store_replica_group *g)
{
    for (size_t i = 0; i < g->n; i++)
        if (is_outdated(g->writes[i]) && !rebase_write(g->writes[i])) {
            conflict_write(r, g->writes[i]);
            skip_others(g, i);
            finish_group(r, g, kc__store_revision(r->store));
            return;
        }
    for (size_t i = 0; i < g->n; i++)
        kc_map_put(&r->sent, g->ops[i].key, g);
    g->started = true;
    submit_group(r, g);
}

static void start_waiting(kc__store_replica *r)
{
    kc_dlist still;
    kc_dlist_link *link;
    kc_dlist_init(&still);
    while ((link = kc_dlist_pop(&r->waiting))) {
        kc__store_replica_group *g = kc_container_of(link, kc__store_replica_group, link);
        if (is_busy(r, g))
            kc_dlist_push(&still, link);
        else
            start_group(r, g);
    }
    kc_dlist_splice(&r->waiting, &still);
}

void kc__store_replica_send(kc__store_replica *r)
{
    kc__store_batch *batch = &r->batch;
    const size_t n_writes = batch->writes.n;
    for (size_t at = 0, n; at < n_writes; at += n) {
        for (n = 1; at + n < n_writes && batch->writes.items[at + n]->joined;)
            n++;
        kc__store_replica_group *g = group_new(r->store, &batch->writes.items[at], n);
        kc_dlist_push(&r->waiting, &g->link);
    }
    kc_vec_clear(&batch->writes);
    start_waiting(r);
}

/* The group of this server that writes a key now, and the index of its operation; NULL: none. */
static kc__store_replica_group *sent_group(const kc__store_replica *r, kc_str key, size_t *ret_i)
{
    kc__store_replica_group *g = kc_map_get(&r->sent, key);
    for (size_t i = 0; g && i < g->n; i++)
        if (kc_str_eq(g->ops[i].key, key))
            *ret_i = i;
    return g;
}

static bool is_sealed_otherwise(const kc__store_replica_group *g, size_t i)
{
    if (!g->encryption)
        return false;
    kc_auto(kc__encryption_config) *now = kc__encryption_current(g->store->opts.encryption);
    return now != g->encryption &&
           !kc__encryption_same_writer(g->encryption, now, g->writes[i]->cache->resource);
}

const kc__store_write *kc__store_replica_sent_write(const kc__store_replica *r, kc_str key,
                                                    kc_str value, bool *ret_stale)
{
    size_t i = 0;
    const kc__store_replica_group *g = sent_group(r, key, &i);
    if (!g || g->ops[i].verb != KC__STORAGE_PUT || !kc_str_eq(g->ops[i].value, value))
        return NULL;
    *ret_stale = is_sealed_otherwise(g, i);
    return g->writes[i];
}

void kc__store_replica_deleted(kc__store_replica *r, kc_str key, const kc_object *object)
{
    size_t i = 0;
    kc__store_replica_group *g = sent_group(r, key, &i);
    if (!g)
        return;
    kc_object_unref(g->deleted[i]);
    g->deleted[i] = kc_object_ref(object);
}

/* ---- completing ---- */

static void refuse_group(kc__store_replica *r, kc__store_replica_group *g, const kc_error *err)
{
    for (size_t i = 0; i < g->n; i++)
        refuse_write(g->writes[i], err);
    finish_group(r, g, kc__store_revision(r->store));
}

/* The storage failed. */
static void fail_group(kc__store_replica *r, kc__store_replica_group *g)
{
    kc_counter_inc(r->store->metrics.failures);
    kc__store_set_health(r->store, &g->submission.error);
    refuse_group(r, g, &g->submission.error);
}

/* The storage has refused this group, and works: a client's object is too large for it. */
static void refuse_large_group(kc__store_replica *r, kc__store_replica_group *g)
{
    kc_scoped(kc_error) err = {0};
    kc_error_set(&err, KC_TOO_LARGE, "etcdserver: request is too large");
    refuse_group(r, g, &err);
}

static size_t find_conflict(const kc__store_replica_group *g)
{
    for (size_t i = 0; i < g->n; i++)
        if (g->submission.results[i].outcome == KC__STORAGE_CONFLICT)
            return i;
    return g->n;
}

/* Adapts the writes whose object has changed. False: one cannot be adapted. */
static bool rebase_group(kc__store_replica_group *g)
{
    bool any = false;
    for (size_t i = 0; i < g->n; i++) {
        if (g->submission.results[i].outcome != KC__STORAGE_CONFLICT)
            continue;
        if (!rebase_write(g->writes[i]))
            return false;
        any = true;
    }
    return any && g->attempts < MAX_ATTEMPTS;
}

/* The object as the response shows it. Of a deletion: the caller's, or the last state. An object
 * that was never in the tree (it cannot be read) has none. */
static kc_object *result_of(const kc__store_replica_group *g, size_t i)
{
    const kc__store_write *write = g->writes[i];
    const uint64_t revision = g->submission.results[i].revision;
    const kc_object *current = kc__cow_tree_get(write->cache->tree, write->key);
    if (write->verb == KC__STORAGE_PUT && current && kc_object_revision(current) == revision)
        return kc_object_ref(current);
    const kc_object *shown = write->object ? write->object : g->deleted[i];
    return shown ? kc_object_with_revision(shown, revision) : NULL;
}

static void settle_group(kc__store_replica *r, kc__store_replica_group *g)
{
    const size_t conflict = find_conflict(g);
    if (conflict < g->n && rebase_group(g)) {
        submit_group(r, g);
        return;
    }
    if (conflict < g->n) {
        conflict_write(r, g->writes[conflict]);
        skip_others(g, conflict);
    }
    for (size_t i = 0; conflict == g->n && i < g->n; i++) {
        g->writes[i]->outcome = KC__STORAGE_STORED;
        g->writes[i]->result = result_of(g, i);
    }
    finish_group(r, g, g->submission.revision);
}

static bool is_refused(const kc__store_replica_group *g)
{
    for (size_t i = 0; i < g->n; i++)
        if (g->submission.results[i].outcome == KC__STORAGE_REFUSED)
            return true;
    return false;
}

static void take_decided(kc__store_replica *r)
{
    kc_dlist_link *link;
    bool decided = false;
    while ((link = kc_dlist_pop(&r->taken_inbox.decided))) {
        kc__store_replica_group *g = kc_container_of(link, kc__store_replica_group, link);
        r->in_flight--;
        if (g->submission.error.reason) {
            fail_group(r, g);
        } else if (is_refused(g)) {
            refuse_large_group(r, g);
        } else {
            kc_dlist_push(&r->settling, link);
            kc__store_replica_want(r, g->submission.revision);
            decided = true;
        }
    }
    if (decided)
        kc__store_set_health(r->store, NULL);
}

void kc__store_replica_settle(kc__store_replica *r)
{
    const uint64_t revision = kc__store_revision(r->store);
    const size_t finished = r->batch.writes.n;
    take_decided(r);
    kc_dlist later;
    kc_dlist_link *link;
    kc_dlist_init(&later);
    while ((link = kc_dlist_pop(&r->settling))) {
        kc__store_replica_group *g = kc_container_of(link, kc__store_replica_group, link);
        if (g->submission.revision > revision)
            kc_dlist_push(&later, link);
        else
            settle_group(r, g);
    }
    kc_dlist_splice(&r->settling, &later);
    if (r->batch.writes.n > finished)
        start_waiting(r);
}
