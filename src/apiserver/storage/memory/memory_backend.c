/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_backend.c: a store in memory: a log of changes, and for each live key the change that set
 * its value.
 *
 *     live   a ─▶ 4, c ─▶ 6                     a map; a list sorts it
 *     log    3 put b   4 put a   5 delete b   6 put c        history, from compacted + 1 on
 *                      │ was 2    │ was 3
 *
 * A change is reference-counted: by the log, by the map, and by the change that replaced it while
 * that one is in the log. So a value is stored once and freed with its last use.
 *
 * A batch allocates everything before it changes anything, so it is stored as a whole or not at
 * all, even when memory is short.
 *
 * One mutex guards everything. Walks hold it during their callbacks, which the contract allows: a
 * commit waits for them.
 */
#include "apiserver/storage/memory/memory_backend.h"

#include "apiserver/storage/storage_group.h"
#include "apiserver/storage/storage_watch.h"

#include "kc/map.h"
#include "kc/ref.h"
#include "kc/thread.h"
#include "kc/vec.h"

#define HISTORY_AGE   (5 * KC_MINUTE)
#define HISTORY_BYTES (UINT64_C(256) << 20)
/* Approximate cost of a change besides its key and value. */
#define OVERHEAD 128

typedef struct memory_change {
    kc_ref refs;
    kc__storage_verb verb;
    uint64_t revision;
    int64_t wall;
    struct memory_change *previous; /* The change it replaced, while it is in the log. */
    kc_str key, value;
} memory_change;

struct kc__storage_memory {
    kc_mutex mutex; /* Guards everything; taken last. */
    bool in_use;
    kc__storage_state state;
    kc_map live;                 /* Key to its memory_change. */
    KC_VEC(memory_change *) log; /* In revision order; the first `head` elements are NULL. */
    size_t head;
    uint64_t history_bytes, live_bytes;
};

typedef struct store {
    kc__storage base;
    kc__storage_memory *memory;
    bool owns;
    kc__storage_opts opts;
    kc__storage_watches watches; /* Guarded by the memory's mutex. */
} store;

/* ---- changes ---- */

static size_t weight(const memory_change *c)
{
    return OVERHEAD + c->key.n + c->value.n;
}

static memory_change *change_new(const kc__storage_op *op)
{
    const kc_str value = op->verb == KC__STORAGE_PUT ? op->value : (kc_str){0};
    const size_t size = sizeof(memory_change) + op->key.n + value.n;
    memory_change *c =
        kc_try_alloc(size, sizeof(memory_change) + KC__STORAGE_MAX_KEY + KC__STORAGE_MAX_VALUE);
    if (!c)
        return NULL;
    char *text = (char *)(c + 1);
    *c = (memory_change){.verb = op->verb,
                         .key = kc_str_of(text, op->key.n),
                         .value = kc_str_of(text + op->key.n, value.n)};
    kc_ref_init(&c->refs);
    memcpy(text, op->key.p, op->key.n);
    if (value.n)
        memcpy(text + op->key.n, value.p, value.n);
    return c;
}

static memory_change *change_ref(memory_change *c)
{
    if (c)
        kc_ref_add(&c->refs);
    return c;
}

/* A change in the log references the one it replaced, a change outside none: recursion ends after
 * one step. */
static void change_unref(memory_change *c)
{
    if (c && kc_ref_drop(&c->refs))
        free(c);
}

/* ---- the log ---- */

static void drop_oldest(kc__storage_memory *m)
{
    memory_change *oldest = m->log.items[m->head];
    m->log.items[m->head++] = NULL;
    m->state.compacted = oldest->revision;
    m->history_bytes -= weight(oldest);
    change_unref(oldest->previous);
    oldest->previous = NULL;
    change_unref(oldest);
    if (m->head < m->log.n - m->head)
        return;
    m->log.n -= m->head;
    memmove(m->log.items, m->log.items + m->head, m->log.n * sizeof(*m->log.items));
    m->head = 0;
}

static bool is_too_much(const store *s)
{
    const kc__storage_memory *m = s->memory;
    const uint64_t events = m->log.n - m->head;
    if (!events)
        return false;
    const int64_t age = kc_clock_wall(s->opts.clock) - m->log.items[m->head]->wall;
    return m->history_bytes > s->opts.history_bytes || age > s->opts.history_age ||
           (s->opts.history_events && events > s->opts.history_events);
}

/* ---- committing ---- */

/* A batch in progress. */
typedef struct memory_batch {
    store *s;
    const kc__storage_op *ops;
    memory_change **made; /* One per operation. */
} memory_batch;

static int run_memory_op(void *user, const kc__storage_op *op, kc__storage_result *ret_result)
{
    const memory_batch *b = user;
    const store *s = b->s;
    kc__storage_memory *m = s->memory;
    memory_change *current = kc_map_get(&m->live, op->key);
    const uint64_t revision = current ? current->revision : 0;
    if ((op->expected != KC__STORAGE_ANY && op->expected != revision) ||
        (op->verb == KC__STORAGE_DELETE && !current)) {
        *ret_result = (kc__storage_result){.outcome = KC__STORAGE_CONFLICT, .revision = revision};
        return 0;
    }
    memory_change *c = kc_take(b->made[op - b->ops]);
    c->revision = ++m->state.revision;
    c->wall = kc_clock_wall(s->opts.clock);
    c->previous = current; /* Takes over the map's reference. */
    if (current)
        m->live_bytes -= weight(current);
    if (op->verb == KC__STORAGE_PUT) {
        kc_map_put(&m->live, c->key, change_ref(c));
        m->live_bytes += weight(c);
    } else {
        kc_map_remove(&m->live, op->key);
    }
    kc_vec_push(&m->log, c);
    m->history_bytes += weight(c);
    *ret_result = (kc__storage_result){.outcome = KC__STORAGE_STORED, .revision = c->revision};
    return 0;
}

static void undo_change(kc__storage_memory *m)
{
    memory_change *c = kc_vec_pop(&m->log);
    m->state.revision--;
    m->history_bytes -= weight(c);
    if (c->verb == KC__STORAGE_PUT) {
        change_unref(kc_map_remove(&m->live, c->key));
        m->live_bytes -= weight(c);
    }
    if (c->previous) { /* Returns the map's reference. */
        kc_map_put(&m->live, c->previous->key, c->previous);
        m->live_bytes += weight(c->previous);
    }
    change_unref(c);
}

static void undo_memory_ops(void *user, size_t n)
{
    while (n-- > 0)
        undo_change(((memory_batch *)user)->s->memory);
}

static void free_changes(memory_change **made, size_t n)
{
    for (size_t i = 0; i < n; i++)
        change_unref(made[i]);
    free(made);
}

/* Allocates everything that the batch may store; NULL if out of memory. */
static memory_change **prepare_memory_commit(const store *s, const kc__storage_op *ops,
                                             size_t n_ops)
{
    const kc__storage_memory *m = s->memory;
    memory_change **made = kc_calloc(n_ops, sizeof(memory_change *));
    uint64_t bytes = m->live_bytes + m->history_bytes;
    for (size_t i = 0; i < n_ops; i++) {
        if (kc__storage_op_problem(&ops[i]))
            continue;
        made[i] = change_new(&ops[i]);
        bytes += made[i] ? weight(made[i]) : 0;
        if (!made[i] || (s->opts.max_bytes && bytes > s->opts.max_bytes)) {
            free_changes(made, n_ops);
            return NULL;
        }
    }
    return made;
}

static int commit_locked(store *s, const kc__storage_op *ops, size_t n_ops,
                         kc__storage_result *ret_results, uint64_t *ret_revision, kc_error *err)
{
    static const kc__storage_group_ops with = {.run = run_memory_op, .undo = undo_memory_ops};
    memory_change **made = prepare_memory_commit(s, ops, n_ops);
    if (!made)
        return kc_error_set(err, KC_SERVICE_UNAVAILABLE,
                            "cannot write to memory: the size limit of the store is reached");
    const uint64_t before = s->memory->state.revision;
    kc__storage_run_groups(ops, n_ops, ret_results, &with,
                           &(memory_batch){.s = s, .ops = ops, .made = made});
    while (is_too_much(s))
        drop_oldest(s->memory);
    free_changes(made, n_ops);
    if (ret_revision)
        *ret_revision = s->memory->state.revision;
    if (s->memory->state.revision != before)
        kc__storage_watches_tell(&s->watches, s->memory->state.revision);
    return 0;
}

static int memory_commit(kc__storage *storage, const kc__storage_op *ops, size_t n_ops,
                         kc__storage_result *ret_results, uint64_t *ret_revision, kc_error *err)
{
    store *s = kc_container_of(storage, store, base);
    int r = 0;
    kc_locked (&s->memory->mutex)
        r = commit_locked(s, ops, n_ops, ret_results, ret_revision, err);
    return r;
}

static int memory_compact(kc__storage *storage, uint64_t revision, kc_error *err)
{
    kc__storage_memory *m = kc_container_of(storage, store, base)->memory;
    int r = 0;
    kc_locked (&m->mutex) {
        if (revision > m->state.revision)
            r = kc_error_set(err, KC_BAD_REQUEST,
                             "cannot compact up to revision %llu: the latest is %llu",
                             (unsigned long long)revision, (unsigned long long)m->state.revision);
        while (r == 0 && m->state.compacted < revision)
            drop_oldest(m);
    }
    return r;
}

static int memory_advance(kc__storage *storage, uint64_t revision, kc_error *err)
{
    kc__storage_memory *m = kc_container_of(storage, store, base)->memory;
    (void)err;
    kc_locked (&m->mutex) {
        while (revision > m->state.revision && m->head < m->log.n)
            drop_oldest(m);
        if (revision > m->state.revision)
            m->state.revision = m->state.compacted = revision;
    }
    return 0;
}

/* ---- reading ---- */

static int memory_expired(uint64_t revision, uint64_t compacted, kc_error *err)
{
    return kc_error_set(err, KC_EXPIRED,
                        "revision %llu is too old: history is kept since revision %llu",
                        (unsigned long long)revision, (unsigned long long)compacted);
}

static int memory_get(kc__storage *storage, kc_str key, kc_buf *ret_value, uint64_t *ret_revision,
                      kc_error *err)
{
    kc__storage_memory *m = kc_container_of(storage, store, base)->memory;
    (void)err;
    kc_locked (&m->mutex) {
        const memory_change *c = kc_map_get(&m->live, key);
        *ret_revision = c ? c->revision : 0;
        if (c && ret_value)
            kc_buf_append(ret_value, c->value);
    }
    return 0;
}

typedef KC_VEC(const memory_change *) change_list;

static int by_key(const void *a, const void *b)
{
    return kc_str_cmp((*(const memory_change *const *)a)->key,
                      (*(const memory_change *const *)b)->key);
}

static bool is_listed_memory_key(const kc__storage_list_opts *opts, kc_str key)
{
    return kc_str_starts(key, opts->prefix) && (!opts->after.n || kc_str_cmp(key, opts->after) > 0);
}

/* Collects the values that were live at a revision: the current ones that are not newer, and what
 * the first later change of each key replaced. */
static void collect_at(const kc__storage_memory *m, const kc__storage_list_opts *opts,
                       uint64_t revision, change_list *out)
{
    kc_scoped(kc_map) changed = {0};
    for (size_t i = m->log.n; i > m->head && m->log.items[i - 1]->revision > revision; i--)
        kc_map_put(&changed, m->log.items[i - 1]->key, m->log.items[i - 1]);
    kc_map_each (&changed, entry) {
        const memory_change *was = ((const memory_change *)entry->value)->previous;
        if (was && is_listed_memory_key(opts, was->key))
            kc_vec_push(out, was);
    }
    kc_map_each (&m->live, entry)
        if (is_listed_memory_key(opts, entry->key) && !kc_map_get(&changed, entry->key))
            kc_vec_push(out, entry->value);
    kc_vec_sort(out, by_key);
}

static int list_locked(const kc__storage_memory *m, const kc__storage_list_opts *opts,
                       kc__storage_entry_fn *each, void *user, kc__storage_state *ret_state,
                       kc_error *err)
{
    const uint64_t revision = opts->revision ? opts->revision : m->state.revision;
    if (revision > m->state.revision)
        return kc_error_set(err, KC_BAD_REQUEST, "cannot list revision %llu: the latest is %llu",
                            (unsigned long long)revision, (unsigned long long)m->state.revision);
    if (revision < m->state.compacted)
        return memory_expired(revision, m->state.compacted, err);
    change_list found = {0};
    int stopped = 0;
    collect_at(m, opts, revision, &found);
    const size_t n = opts->limit ? KC_MIN(found.n, opts->limit) : found.n;
    for (size_t i = 0; each && i < n && !stopped; i++) {
        const memory_change *c = found.items[i];
        stopped = each(&(kc__storage_entry){c->key, c->value, c->revision}, user);
    }
    if (!stopped && ret_state)
        *ret_state = (kc__storage_state){revision, m->state.compacted, .more = n < found.n};
    kc_vec_done(&found);
    return stopped;
}

static int memory_list(kc__storage *storage, const kc__storage_list_opts *opts,
                       kc__storage_entry_fn *each, void *user, kc__storage_state *ret_state,
                       kc_error *err)
{
    kc__storage_memory *m = kc_container_of(storage, store, base)->memory;
    int r = 0;
    kc_locked (&m->mutex)
        r = list_locked(m, opts, each, user, ret_state, err);
    return r;
}

static int memory_progress(kc__storage *storage, kc__storage_state *ret_state, kc_error *err)
{
    kc__storage_memory *m = kc_container_of(storage, store, base)->memory;
    (void)err;
    kc_locked (&m->mutex)
        *ret_state = m->state;
    return 0;
}

/* ---- watching ---- */

static int walk_log(void *user_memory, uint64_t since, kc__storage_event_fn *each, void *user,
                    kc_error *err)
{
    const kc__storage_memory *m = user_memory;
    int r = 0;
    if (since < m->state.compacted)
        return memory_expired(since, m->state.compacted, err);
    /* The log has exactly one change per revision after `compacted`. */
    const uint64_t skip = KC_MIN(since - m->state.compacted, (uint64_t)(m->log.n - m->head));
    for (size_t i = m->head + (size_t)skip; i < m->log.n && r == 0; i++) {
        const memory_change *c = m->log.items[i], *was = c->previous;
        r = each(&(kc__storage_event){.verb = c->verb,
                                      .revision = c->revision,
                                      .key = c->key,
                                      .value = c->value,
                                      .previous_revision = was ? was->revision : 0,
                                      .previous_value = was ? was->value : (kc_str){0}},
                 user);
    }
    return r;
}

static int memory_watch(kc__storage *storage, const kc__storage_watch_opts *opts,
                        kc__storage_watch **ret_watch, kc_error *err)
{
    store *s = kc_container_of(storage, store, base);
    int r = 0;
    kc_locked (&s->memory->mutex)
        r = kc__storage_watches_add(&s->watches, opts, s->memory->state.revision, ret_watch, err);
    return r;
}

static void memory_unwatch(kc__storage *storage, kc__storage_watch *watch)
{
    store *s = kc_container_of(storage, store, base);
    kc_locked (&s->memory->mutex)
        kc__storage_watches_remove(watch);
}

/* ---- opening ---- */

kc__storage_memory *kc__storage_memory_new(void)
{
    kc__storage_memory *m = kc_new(kc__storage_memory);
    kc_mutex_init(&m->mutex);
    m->state = (kc__storage_state){.revision = KC__STORAGE_FIRST, .compacted = KC__STORAGE_FIRST};
    return m;
}

kc__storage_memory *kc__storage_memory_free(kc__storage_memory *m)
{
    if (!m)
        return NULL;
    for (size_t i = m->head; i < m->log.n; i++) {
        change_unref(m->log.items[i]->previous);
        m->log.items[i]->previous = NULL;
        change_unref(m->log.items[i]);
    }
    kc_map_each (&m->live, entry)
        change_unref(entry->value);
    kc_vec_done(&m->log);
    kc_map_done(&m->live);
    kc_mutex_done(&m->mutex);
    free(m);
    return NULL;
}

static int memory_open(const kc__storage_opts *opts, kc__storage **ret_storage, kc_error *err)
{
    if (opts->existing && !opts->memory)
        return kc_error_set(err, KC_NOT_FOUND, "there is no store in memory");
    kc__storage_memory *memory = opts->memory ? opts->memory : kc__storage_memory_new();
    bool taken = false;
    kc_locked (&memory->mutex) {
        taken = memory->in_use;
        memory->in_use = true;
    }
    if (taken)
        return kc_error_set(err, KC_CONFLICT, "the memory is in use by another store");
    store *s = kc_new(store);
    *s = (store){.base.backend = &kc__storage_memory_backend,
                 .memory = memory,
                 .owns = !opts->memory,
                 .opts = *opts};
    s->opts.clock = opts->clock ? opts->clock : kc_clock_real();
    s->opts.history_age = opts->history_age ? opts->history_age : HISTORY_AGE;
    s->opts.history_bytes = opts->history_bytes ? opts->history_bytes : HISTORY_BYTES;
    kc__storage_watches_init(&s->watches, walk_log, memory);
    *ret_storage = &s->base;
    return 0;
}

static void memory_close(kc__storage *storage)
{
    store *s = kc_container_of(storage, store, base);
    kc_locked (&s->memory->mutex)
        s->memory->in_use = false;
    if (s->owns)
        kc__storage_memory_free(s->memory);
    free(s);
}

const kc__storage_backend kc__storage_memory_backend = {
    .name = "memory",
    .exclusive = true,
    .open = memory_open,
    .get = memory_get,
    .list = memory_list,
    .commit = memory_commit,
    .watch = memory_watch,
    .unwatch = memory_unwatch,
    .compact = memory_compact,
    .advance = memory_advance,
    .progress = memory_progress,
    .close = memory_close,
};
