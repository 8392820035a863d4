/* SPDX-License-Identifier: Apache-2.0 */
/*
 * regex_dfa.c: decides whether a text matches, with a deterministic automaton that is built while
 * it is used.
 *
 * A state is a set of instructions that the program may be at, and the kind of the code point just
 * consumed. The instructions are those before assertions are followed: which assertions hold is
 * known only with the next code point, so a transition first follows jumps and assertions, then
 * consumes. One additional transition stands for the end of the text.
 *
 *     state ──class of the next code point──▶ state     (found in the cache, or computed and added)
 *
 * Threads share the states. A transition is published atomically after the state it leads to is
 * complete; readers take no lock. States are never removed while the expression lives, so a reader
 * needs no protection; when the cache is full, the match continues without it (simulate), still in
 * linear time.
 */
#include "kc/thread.h"
#include "object/regex/regex_internal.h"

typedef struct dfa_state {
    struct dfa_state *next_in_bucket;
    uint32_t n_pcs;
    kc__regex_kind before;
    uint32_t *pcs;                    /* Sorted; behind the transitions. NULL for final states. */
    _Atomic(struct dfa_state *) to[]; /* One per class, and one for the end of the text. */
} dfa_state;

/* A set of instructions with constant-time insertion. */
typedef struct pc_set {
    uint32_t *dense, *sparse, n;
} pc_set;

/* Working memory of one transition. */
typedef struct dfa_scratch {
    pc_set visited, reached;
    uint32_t *stack;
} dfa_scratch;

enum { N_BUCKETS = 16 };

struct kc__regex_dfa {
    kc_mutex lock; /* Guards buckets, memory and full. Innermost lock. */
    dfa_state *buckets[N_BUCKETS];
    size_t memory;
    bool full;
    dfa_state *start;
    bool tracks_kinds; /* The program asserts more than the ends of the text. */
};

/* Final states of every automaton. They have no transitions and are never written. */
static dfa_state matched_state, dead_state;

/* ---- sets of instructions ---- */

static bool pc_set_add(pc_set *set, uint32_t pc)
{
    uint32_t at = set->sparse[pc];
    if (at < set->n && set->dense[at] == pc)
        return false;
    set->sparse[pc] = set->n;
    set->dense[set->n++] = pc;
    return true;
}

/* Working memory in one block. `sparse` is read before it is written: any content would do, but not
 * for a sanitizer. */
static dfa_scratch *dfa_scratch_new(size_t n)
{
    dfa_scratch *s = kc_calloc(1, sizeof(*s) + (6 * n + 1) * sizeof(uint32_t));
    uint32_t *words = (uint32_t *)(s + 1);
    s->visited = (pc_set){.dense = words, .sparse = words + n};
    s->reached = (pc_set){.dense = words + 2 * n, .sparse = words + 3 * n};
    s->stack = words + 4 * n;
    return s;
}

/* Adds every instruction reachable without consuming. True when the match is one of them. */
static bool follow_jumps(const kc__regex *re, dfa_scratch *s, const uint32_t *pcs, uint32_t n,
                         unsigned context)
{
    s->visited.n = 0;
    for (uint32_t i = 0; i < n; i++) {
        size_t depth = 0;
        s->stack[depth++] = pcs[i];
        while (depth) {
            uint32_t pc = s->stack[--depth];
            const kc__regex_inst *inst = &re->insts[pc];
            if (!pc_set_add(&s->visited, pc))
                continue;
            if (inst->code == KC__REGEX_I_MATCH)
                return true;
            if (inst->code == KC__REGEX_I_SET ||
                (inst->code == KC__REGEX_I_ASSERT && !(context & inst->arg)))
                continue;
            if (inst->code == KC__REGEX_I_SPLIT)
                s->stack[depth++] = inst->arg;
            s->stack[depth++] = inst->next;
        }
    }
    return false;
}

/* Consumes a code point: fills `reached`. */
static void consume(const kc__regex *re, dfa_scratch *s, uint32_t code)
{
    s->reached.n = 0;
    for (uint32_t i = 0; i < s->visited.n; i++) {
        const kc__regex_inst *inst = &re->insts[s->visited.dense[i]];
        if (inst->code == KC__REGEX_I_SET && kc__regex_inst_takes(re, inst, code))
            pc_set_add(&s->reached, inst->next);
    }
    if (!re->anchored)
        pc_set_add(&s->reached, re->start);
}

/* ---- states ---- */

static int compare_pcs(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static uint64_t hash_state(const uint32_t *pcs, uint32_t n, kc__regex_kind before)
{
    return kc_str_hash(kc_str_of((const char *)pcs, n * sizeof(*pcs)), before);
}

static dfa_state *create_state(const kc__regex *re, const uint32_t *pcs, uint32_t n,
                               kc__regex_kind before)
{
    size_t transitions = (size_t)re->n_bounds + 1;
    size_t size = sizeof(dfa_state) + transitions * sizeof(dfa_state *) + n * sizeof(uint32_t);
    kc__regex_dfa *dfa = re->dfa;
    if (dfa->memory + size > re->max_cache)
        return NULL;
    dfa->memory += size;
    dfa_state *state = kc_calloc(1, size);
    state->n_pcs = n;
    state->before = before;
    state->pcs = (uint32_t *)(state->to + transitions);
    memcpy(state->pcs, pcs, n * sizeof(*pcs));
    return state;
}

/* The state with these instructions, created if need be. NULL when the cache is full. `pcs` is
 * sorted in place. */
static dfa_state *find_state(const kc__regex *re, uint32_t *pcs, uint32_t n, kc__regex_kind before)
{
    kc__regex_dfa *dfa = re->dfa;
    if (!n)
        return &dead_state;
    qsort(pcs, n, sizeof(*pcs), compare_pcs);
    dfa_state **bucket = &dfa->buckets[hash_state(pcs, n, before) % N_BUCKETS];
    for (dfa_state *s = *bucket; s; s = s->next_in_bucket)
        if (s->n_pcs == n && s->before == before && !memcmp(s->pcs, pcs, n * sizeof(*pcs)))
            return s;
    dfa_state *state = create_state(re, pcs, n, before);
    if (!state)
        return NULL;
    state->next_in_bucket = *bucket;
    return *bucket = state;
}

static kc__regex_kind kind_of_class(const kc__regex *re, uint32_t class)
{
    return class == re->n_bounds ? KC__REGEX_KIND_TEXT_END : kc__regex_kind_of(re->bounds[class]);
}

/* Computes and publishes a transition. NULL when the cache is full. */
static dfa_state *add_transition(const kc__regex *re, dfa_state *from, uint32_t class)
{
    kc__regex_dfa *dfa = re->dfa;
    kc_locked (&dfa->lock) {
        dfa_state *to = atomic_load_explicit(&from->to[class], memory_order_relaxed);
        if (to || dfa->full)
            return to;
        kc_autofree dfa_scratch *s = dfa_scratch_new(re->n_insts);
        kc__regex_kind kind = kind_of_class(re, class);
        if (follow_jumps(re, s, from->pcs, from->n_pcs, kc__regex_context(from->before, kind))) {
            to = &matched_state;
        } else if (class == re->n_bounds) {
            to = &dead_state;
        } else {
            consume(re, s, re->bounds[class]);
            to = find_state(re, s->reached.dense, s->reached.n,
                            dfa->tracks_kinds ? kind : KC__REGEX_KIND_OTHER);
        }
        dfa->full = !to;
        if (to)
            atomic_store_explicit(&from->to[class], to, memory_order_release);
        return to;
    }
    return NULL;
}

/* ---- matching ---- */

/* Continues a match from a state without the cache. False as well when the steps are exceeded. */
static bool simulate(const kc__regex *re, const dfa_state *from, kc_str text, size_t at,
                     uint64_t *steps)
{
    kc_autofree dfa_scratch *s = dfa_scratch_new(re->n_insts);
    memcpy(s->reached.dense, from->pcs, from->n_pcs * sizeof(*from->pcs));
    s->reached.n = from->n_pcs;
    kc__regex_kind before = from->before;
    bool matches = false;
    for (;;) {
        size_t length = 0;
        uint32_t code = at < text.n ? kc__regex_decode(text, at, &length) : 0;
        kc__regex_kind after = at < text.n ? kc__regex_kind_of(code) : KC__REGEX_KIND_TEXT_END;
        matches =
            follow_jumps(re, s, s->reached.dense, s->reached.n, kc__regex_context(before, after));
        if (matches || at >= text.n || !kc__regex_spend(steps, s->visited.n))
            break;
        consume(re, s, code);
        if (!s->reached.n)
            break;
        before = after;
        at += length;
    }
    return matches;
}

static bool is_final(const dfa_state *state)
{
    return !state->pcs;
}

/* Follows known transitions over ASCII characters from *at on. Returns the state at the first
 * character that needs more: another one, a new transition, or a transition to a final state. */
static dfa_state *follow_known(const kc__regex *re, dfa_state *state, kc_str text, size_t *at)
{
    size_t i = *at;
    for (; i < text.n && (unsigned char)text.p[i] < 128; i++) {
        const uint32_t class = re->ascii[(unsigned char)text.p[i]];
        dfa_state *to = atomic_load_explicit(&state->to[class], memory_order_acquire);
        if (!to || is_final(to))
            break;
        state = to;
    }
    *at = i;
    return state;
}

bool kc__regex_dfa_match(const kc__regex *re, kc_str text, uint64_t *steps)
{
    kc__regex_dfa *dfa = re->dfa;
    dfa_state *state = dfa->start;
    for (size_t at = 0; at <= text.n;) {
        state = follow_known(re, state, text, &at);
        size_t length = 1;
        uint32_t class = re->n_bounds;
        if (at < text.n) {
            unsigned char c = (unsigned char)text.p[at];
            class = c < 128 ? re->ascii[c]
                            : kc__regex_class_of(re, kc__regex_decode(text, at, &length));
        }
        dfa_state *to = atomic_load_explicit(&state->to[class], memory_order_acquire);
        if (!to)
            to = add_transition(re, state, class);
        if (!to)
            return simulate(re, state, text, at, steps);
        if (is_final(to))
            return to == &matched_state;
        state = to;
        at += length;
    }
    return false;
}

kc__regex_dfa *kc__regex_dfa_new(kc__regex *re)
{
    kc__regex_dfa *dfa = kc_new(kc__regex_dfa);
    kc_mutex_init(&dfa->lock);
    re->dfa = dfa;
    for (uint32_t i = 0; i < re->n_insts; i++)
        dfa->tracks_kinds |=
            re->insts[i].code == KC__REGEX_I_ASSERT &&
            !(re->insts[i].arg & (KC__REGEX_AT_BEGIN_TEXT | KC__REGEX_AT_END_TEXT));
    size_t limit = re->max_cache;
    re->max_cache = SIZE_MAX; /* The first state always fits. */
    dfa->start = create_state(re, &re->start, 1, KC__REGEX_KIND_TEXT_BEGIN);
    re->max_cache = limit;
    return dfa;
}

kc__regex_dfa *kc__regex_dfa_free(kc__regex_dfa *dfa)
{
    if (!dfa)
        return NULL;
    for (size_t i = 0; i < N_BUCKETS; i++) {
        for (dfa_state *s = dfa->buckets[i], *next; s; s = next) {
            next = s->next_in_bucket;
            free(s);
        }
    }
    free(dfa->start);
    kc_mutex_done(&dfa->lock);
    free(dfa);
    return NULL;
}

size_t kc__regex_dfa_memory(kc__regex_dfa *dfa)
{
    size_t memory = sizeof(*dfa);
    kc_locked (&dfa->lock) {
        memory += dfa->memory;
    }
    return memory;
}
