/* SPDX-License-Identifier: Apache-2.0 */
/*
 * storage_memory.c: a store in memory: a log of changes, and for each key the change that made its
 * value.
 *
 *     live   a ─▶ 4, c ─▶ 6                     a map; it is sorted only where somebody loads it
 *     log    3 put b   4 put a   5 delete b   6 put c        history, from compacted + 1 on
 *                      │ was 2    │ was 3
 *
 * A change is counted: by the log, by the map, and by the change that replaced it, for as long as
 * that is in the log. So a value is kept once, and goes away with the last who can ask for it.
 *
 * A batch allocates everything before it changes anything: it is stored as a whole or not at all,
 * also when memory is short.
 *
 * One mutex guards all of it. Walks hold it through their callbacks, which the contract allows: a
 * commit waits for them.
 */
#include "apiserver/storage/storage_memory.h"

#include "kc/map.h"
#include "kc/ref.h"
#include "kc/thread.h"
#include "kc/vec.h"

#define HISTORY_AGE   (5 * KC_MINUTE)
#define HISTORY_BYTES (UINT64_C(256) << 20)
/* What a change costs besides its texts, about. */
#define OVERHEAD 128

typedef struct change {
    kc_ref refs;
    kc_storage_verb verb;
    uint64_t revision;
    int64_t wall;
    struct change *previous; /* What it replaced, while it is in the log. */
    kc_str key, value;
} change;

struct kc__memory {
    kc_mutex mutex; /* Guards everything; taken last. */
    bool in_use;
    kc_storage_state state;
    kc_map live;          /* Of change. */
    KC_VEC(change *) log; /* In the order of revisions; the first `head` are NULL. */
    size_t head;
    uint64_t history_bytes, live_bytes;
};

typedef struct store {
    kc_storage base;
    kc__memory *memory;
    bool owns;
    kc_storage_opts opts;
} store;

/* ---- changes ---- */

static size_t weight(const change *c)
{
    return OVERHEAD + c->key.n + c->value.n;
}

static change *change_new(const kc_storage_op *op)
{
    const kc_str value = op->verb == KC_STORAGE_PUT ? op->value : (kc_str){0};
    const size_t size = sizeof(change) + op->key.n + value.n;
    change *c = kc_try_alloc(size, sizeof(change) + KC_STORAGE_MAX_KEY + KC_STORAGE_MAX_VALUE);
    if (!c)
        return NULL;
    char *text = (char *)(c + 1);
    *c = (change){.verb = op->verb,
                  .key = kc_str_of(text, op->key.n),
                  .value = kc_str_of(text + op->key.n, value.n)};
    kc_ref_init(&c->refs);
    memcpy(text, op->key.p, op->key.n);
    if (value.n)
        memcpy(text + op->key.n, value.p, value.n);
    return c;
}

static change *change_ref(change *c)
{
    if (c)
        kc_ref_add(&c->refs);
    return c;
}

/* In the log it holds the one it replaced, outside of it none: this ends after one step. */
static void change_unref(change *c)
{
    if (c && kc_ref_drop(&c->refs))
        free(c);
}

/* ---- the log ---- */

static void drop_oldest(kc__memory *m)
{
    change *oldest = m->log.items[m->head];
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
    const kc__memory *m = s->memory;
    const uint64_t events = m->log.n - m->head;
    if (!events)
        return false;
    const int64_t age = kc_clock_wall(s->opts.clock) - m->log.items[m->head]->wall;
    return m->history_bytes > s->opts.history_bytes || age > s->opts.history_age ||
           (s->opts.history_events && events > s->opts.history_events);
}

/* ---- committing ---- */

static kc_storage_result run(store *s, const kc_storage_op *op, change **made)
{
    kc__memory *m = s->memory;
    if (kc_storage_op_problem(op))
        return (kc_storage_result){.outcome = KC_STORAGE_REFUSED};
    change *current = kc_map_get(&m->live, op->key);
    const uint64_t revision = current ? current->revision : 0;
    if ((op->expected != KC_STORAGE_ANY && op->expected != revision) ||
        (op->verb == KC_STORAGE_DELETE && !current))
        return (kc_storage_result){.outcome = KC_STORAGE_CONFLICT, .revision = revision};
    change *c = kc_take(*made);
    c->revision = ++m->state.revision;
    c->wall = kc_clock_wall(s->opts.clock);
    c->previous = current; /* Takes over the map's reference. */
    if (current)
        m->live_bytes -= weight(current);
    if (op->verb == KC_STORAGE_PUT) {
        kc_map_put(&m->live, c->key, change_ref(c));
        m->live_bytes += weight(c);
    } else {
        kc_map_remove(&m->live, op->key);
    }
    kc_vec_push(&m->log, c);
    m->history_bytes += weight(c);
    return (kc_storage_result){.outcome = KC_STORAGE_STORED, .revision = c->revision};
}

static void free_changes(change **made, size_t n)
{
    for (size_t i = 0; i < n; i++)
        change_unref(made[i]);
    free(made);
}

/* All that the batch could store, before anything is; NULL when there is no room. */
static change **prepare(const store *s, const kc_storage_op *ops, size_t n_ops)
{
    const kc__memory *m = s->memory;
    change **made = kc_calloc(n_ops, sizeof(change *));
    uint64_t bytes = m->live_bytes + m->history_bytes;
    for (size_t i = 0; i < n_ops; i++) {
        if (kc_storage_op_problem(&ops[i]))
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

static int commit_locked(store *s, const kc_storage_op *ops, size_t n_ops,
                         kc_storage_result *ret_results, uint64_t *ret_revision, kc_error *err)
{
    change **made = prepare(s, ops, n_ops);
    if (!made)
        return kc_error_set(err, KC_SERVICE_UNAVAILABLE,
                            "cannot write to memory: it has reached the size it may grow to");
    for (size_t i = 0; i < n_ops; i++)
        ret_results[i] = run(s, &ops[i], &made[i]);
    while (is_too_much(s))
        drop_oldest(s->memory);
    free_changes(made, n_ops);
    if (ret_revision)
        *ret_revision = s->memory->state.revision;
    return 0;
}

static int memory_commit(kc_storage *storage, const kc_storage_op *ops, size_t n_ops,
                         kc_storage_result *ret_results, uint64_t *ret_revision, kc_error *err)
{
    store *s = kc_container_of(storage, store, base);
    int r = 0;
    kc_locked (&s->memory->mutex)
        r = commit_locked(s, ops, n_ops, ret_results, ret_revision, err);
    return r;
}

static int memory_compact(kc_storage *storage, uint64_t revision, kc_error *err)
{
    kc__memory *m = kc_container_of(storage, store, base)->memory;
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

/* ---- walking ---- */

static int by_key(const void *a, const void *b)
{
    return kc_str_cmp((*(change *const *)a)->key, (*(change *const *)b)->key);
}

static int walk_live(const kc__memory *m, kc_storage_entry_fn *each, void *user)
{
    size_t n = 0;
    int r = 0;
    kc_autofree change **sorted = kc_calloc(m->live.n, sizeof(change *));
    kc_map_each (&m->live, entry)
        sorted[n++] = entry->value;
    if (n)
        qsort(sorted, n, sizeof(change *), by_key);
    for (size_t i = 0; i < n && r == 0; i++)
        r = each(&(kc_storage_entry){sorted[i]->key, sorted[i]->value, sorted[i]->revision}, user);
    return r;
}

static int memory_load(kc_storage *storage, kc_storage_entry_fn *each, void *user,
                       kc_storage_state *ret_state, kc_error *err)
{
    kc__memory *m = kc_container_of(storage, store, base)->memory;
    int r = 0;
    (void)err;
    kc_locked (&m->mutex) {
        r = each ? walk_live(m, each, user) : 0;
        if (r == 0 && ret_state)
            *ret_state = m->state;
    }
    return r;
}

static int walk_log(const kc__memory *m, uint64_t since, kc_storage_event_fn *each, void *user)
{
    int r = 0;
    /* The log has one change for each revision after `compacted`. */
    const uint64_t skip = KC_MIN(since - m->state.compacted, (uint64_t)(m->log.n - m->head));
    for (size_t i = m->head + (size_t)skip; i < m->log.n && r == 0; i++) {
        const change *c = m->log.items[i], *was = c->previous;
        r = each(&(kc_storage_event){.verb = c->verb,
                                     .revision = c->revision,
                                     .key = c->key,
                                     .value = c->value,
                                     .previous_revision = was ? was->revision : 0,
                                     .previous_value = was ? was->value : (kc_str){0}},
                 user);
    }
    return r;
}

static int memory_history(kc_storage *storage, uint64_t since, kc_storage_event_fn *each,
                          void *user, kc_error *err)
{
    kc__memory *m = kc_container_of(storage, store, base)->memory;
    int r = 0;
    kc_locked (&m->mutex) {
        if (since < m->state.compacted)
            r = kc_error_set(err, KC_EXPIRED,
                             "revision %llu is too old: history is kept since revision %llu",
                             (unsigned long long)since, (unsigned long long)m->state.compacted);
        else
            r = walk_log(m, since, each, user);
    }
    return r;
}

/* ---- opening ---- */

kc__memory *kc__memory_new(void)
{
    kc__memory *m = kc_new(kc__memory);
    kc_mutex_init(&m->mutex);
    m->state = (kc_storage_state){KC_STORAGE_FIRST, KC_STORAGE_FIRST};
    return m;
}

kc__memory *kc__memory_free(kc__memory *m)
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

static int memory_open(const kc_storage_opts *opts, kc_storage **ret_storage, kc_error *err)
{
    kc__memory *memory = opts->memory ? opts->memory : kc__memory_new();
    bool taken = false;
    kc_locked (&memory->mutex) {
        taken = memory->in_use;
        memory->in_use = true;
    }
    if (taken)
        return kc_error_set(err, KC_CONFLICT, "the memory is in use by another store");
    store *s = kc_new(store);
    *s = (store){
        .base.backend = &kc_storage_memory, .memory = memory, .owns = !opts->memory, .opts = *opts};
    s->opts.clock = opts->clock ? opts->clock : kc_clock_real();
    s->opts.history_age = opts->history_age ? opts->history_age : HISTORY_AGE;
    s->opts.history_bytes = opts->history_bytes ? opts->history_bytes : HISTORY_BYTES;
    *ret_storage = &s->base;
    return 0;
}

static void memory_close(kc_storage *storage)
{
    store *s = kc_container_of(storage, store, base);
    kc_locked (&s->memory->mutex)
        s->memory->in_use = false;
    if (s->owns)
        kc__memory_free(s->memory);
    free(s);
}

const kc_storage_backend kc_storage_memory = {
    .name = "memory",
    .open = memory_open,
    .load = memory_load,
    .commit = memory_commit,
    .history = memory_history,
    .compact = memory_compact,
    .close = memory_close,
};
