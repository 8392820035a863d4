/* SPDX-License-Identifier: Apache-2.0 */
/*
 * regex_pike.c: finds the position of a match and of its groups.
 *
 * Threads of the program advance in step through the text, ordered by preference, each with the
 * bounds of its groups (Pike's algorithm). A thread that reaches the match ends all threads of
 * lower preference; threads of higher preference continue and may replace the match. At most one
 * thread is at an instruction, so a step costs at most the size of the program.
 */
#include "object/regex/regex_internal.h"

typedef struct pike_list {
    uint32_t *dense, *sparse, n;
    ptrdiff_t *bounds; /* Per entry of `dense`. */
} pike_list;

/* An instruction to visit, or, with `restore` set, a bound to set back. */
typedef struct pike_frame {
    uint32_t pc;
    bool restore;
    ptrdiff_t bound;
} pike_frame;

typedef struct pike {
    const kc__regex *re;
    size_t n_bounds; /* Per thread: 2 * spans. */
    pike_list now, next;
    pike_frame *stack;
    ptrdiff_t *thread; /* Bounds of the thread that is added. */
    ptrdiff_t *found;  /* Bounds of the best match so far. */
    bool matched;
} pike;

static bool pike_list_init(pike_list *list, kc_arena *arena, uint32_t n, size_t n_bounds)
{
    list->dense = kc_arena_calloc(arena, n, sizeof(*list->dense));
    list->sparse = kc_arena_calloc(arena, n, sizeof(*list->sparse));
    list->bounds = kc_arena_alloc(arena, n * n_bounds * sizeof(*list->bounds));
    return list->dense && list->sparse && list->bounds;
}

static bool pike_list_has(const pike_list *list, uint32_t pc)
{
    uint32_t at = list->sparse[pc];
    return at < list->n && list->dense[at] == pc;
}

static void pike_list_add(pike *k, pike_list *list, uint32_t pc)
{
    list->sparse[pc] = list->n;
    list->dense[list->n] = pc;
    memcpy(list->bounds + list->n * k->n_bounds, k->thread, k->n_bounds * sizeof(*k->thread));
    list->n++;
}

/* Adds the thread at `start`, and those it splits into, in the order of preference. */
static void add_thread(pike *k, pike_list *list, uint32_t start, ptrdiff_t at, unsigned context)
{
    size_t depth = 0;
    k->stack[depth++] = (pike_frame){.pc = start};
    while (depth) {
        pike_frame frame = k->stack[--depth];
        if (frame.restore) {
            k->thread[frame.pc] = frame.bound;
            continue;
        }
        if (pike_list_has(list, frame.pc))
            continue;
        const kc__regex_inst *inst = &k->re->insts[frame.pc];
        pike_list_add(k, list, frame.pc);
        if (inst->code == KC__REGEX_I_SET || inst->code == KC__REGEX_I_MATCH ||
            (inst->code == KC__REGEX_I_ASSERT && !(context & inst->arg)))
            continue;
        if (inst->code == KC__REGEX_I_SPLIT)
            k->stack[depth++] = (pike_frame){.pc = inst->arg};
        if (inst->code == KC__REGEX_I_SAVE && inst->arg < k->n_bounds) {
            k->stack[depth++] = (pike_frame){inst->arg, true, k->thread[inst->arg]};
            k->thread[inst->arg] = at;
        }
        k->stack[depth++] = (pike_frame){.pc = inst->next};
    }
}

static void take_match(pike *k, const ptrdiff_t *bounds, ptrdiff_t at)
{
    memcpy(k->found, bounds, k->n_bounds * sizeof(*bounds));
    k->found[1] = at;
    k->matched = true;
}

/* Advances all threads over a code point. `context` is that behind it, at `to`. */
static void pike_step(pike *k, uint32_t code, ptrdiff_t at, ptrdiff_t to, unsigned context)
{
    k->next.n = 0;
    for (uint32_t i = 0; i < k->now.n; i++) {
        const kc__regex_inst *inst = &k->re->insts[k->now.dense[i]];
        const ptrdiff_t *bounds = k->now.bounds + i * k->n_bounds;
        if (inst->code == KC__REGEX_I_MATCH) {
            take_match(k, bounds, at);
            break;
        }
        if (inst->code != KC__REGEX_I_SET || to == at || !kc__regex_inst_takes(k->re, inst, code))
            continue;
        memcpy(k->thread, bounds, k->n_bounds * sizeof(*bounds));
        add_thread(k, &k->next, inst->next, to, context);
    }
    pike_list swap = k->now;
    k->now = k->next;
    k->next = swap;
}

static kc__regex_kind kind_at(kc_str text, size_t at, uint32_t *ret_code, size_t *ret_length)
{
    *ret_length = 0;
    if (at >= text.n)
        return KC__REGEX_KIND_TEXT_END;
    *ret_code = kc__regex_decode(text, at, ret_length);
    return kc__regex_kind_of(*ret_code);
}

/* The kind of the code point before `at`. */
static kc__regex_kind kind_before(kc_str text, size_t at)
{
    if (!at)
        return KC__REGEX_KIND_TEXT_BEGIN;
    /* Kinds differ for ASCII only. */
    unsigned char c = (unsigned char)text.p[at - 1];
    return c < 128 ? kc__regex_kind_of(c) : KC__REGEX_KIND_OTHER;
}

/* False when the steps are exceeded. */
static bool pike_run(pike *k, kc_str text, size_t at, uint64_t *steps)
{
    uint32_t code = 0, next_code = 0;
    size_t length, next_length;
    kc__regex_kind after = kind_at(text, at, &code, &length);
    unsigned context = kc__regex_context(kind_before(text, at), after);
    for (;;) {
        bool may_begin = !k->matched && (!k->re->anchored || at == 0);
        if (may_begin) {
            for (size_t i = 0; i < k->n_bounds; i++)
                k->thread[i] = -1;
            k->thread[0] = (ptrdiff_t)at;
            add_thread(k, &k->now, k->re->start, (ptrdiff_t)at, context);
        }
        if (!k->now.n && (k->matched || k->re->anchored))
            return true;
        if (!kc__regex_spend(steps, k->now.n + 1))
            return false;
        size_t to = at + length;
        kc__regex_kind before = after;
        after = kind_at(text, to, &next_code, &next_length);
        context = kc__regex_context(before, after);
        pike_step(k, code, (ptrdiff_t)at, (ptrdiff_t)to, context);
        if (!length)
            return true;
        at = to;
        code = next_code;
        length = next_length;
    }
}

bool kc__regex_find(const kc__regex *re, kc_str text, size_t from, kc_arena *scratch,
                    kc__regex_span *spans, size_t n, uint64_t *steps)
{
    pike k = {.re = re, .n_bounds = 2 * n};
    k.stack = kc_arena_calloc(scratch, 2 * (size_t)re->n_insts + 1, sizeof(*k.stack));
    k.thread = kc_arena_calloc(scratch, k.n_bounds, sizeof(*k.thread));
    k.found = kc_arena_calloc(scratch, k.n_bounds, sizeof(*k.found));
    if (!k.stack || !k.thread || !k.found ||
        !pike_list_init(&k.now, scratch, re->n_insts, k.n_bounds) ||
        !pike_list_init(&k.next, scratch, re->n_insts, k.n_bounds))
        return false;
    if (!pike_run(&k, text, from, steps))
        return false;
    for (size_t i = 0; i < n && k.matched; i++)
        spans[i] = (kc__regex_span){k.found[2 * i], k.found[2 * i + 1]};
    return k.matched;
}
