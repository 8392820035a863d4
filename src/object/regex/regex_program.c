/* SPDX-License-Identifier: Apache-2.0 */
/*
 * regex_program.c: translates a tree into a program, and computes the classes of code points.
 *
 * Every node becomes instructions that continue at a given instruction, so the translation runs
 * from the end of the pattern to its begin and needs no list of jumps to patch; only a loop patches
 * its own split. Counted repetitions are expanded: x{2,4} is xx(x(x)?)?. Instruction 0 is the
 * match.
 *
 * The recursion is as deep as the tree, which the parser limits.
 */
#include "object/regex/regex_internal.h"

typedef struct program_builder {
    KC_VEC(kc__regex_inst) insts;
    KC_VEC(kc__regex_range) ranges;
    size_t max;
    bool full;
} program_builder;

static uint32_t emit(program_builder *b, kc__regex_inst inst)
{
    if (b->insts.n >= b->max || b->ranges.n >= b->max * 8) {
        b->full = true;
        return 0;
    }
    kc_vec_push(&b->insts, inst);
    return (uint32_t)(b->insts.n - 1);
}

static uint32_t emit_split(program_builder *b, uint32_t body, uint32_t other, bool prefer_other)
{
    return emit(b, (kc__regex_inst){.code = KC__REGEX_I_SPLIT,
                                    .next = prefer_other ? other : body,
                                    .arg = prefer_other ? body : other});
}

static uint32_t emit_node(program_builder *b, const kc__regex_node *node, uint32_t next);

static uint32_t emit_set(program_builder *b, const kc__regex_node *node, uint32_t next)
{
    uint32_t first = (uint32_t)b->ranges.n;
    for (size_t i = 0; i < node->n_ranges; i++)
        kc_vec_push(&b->ranges, node->ranges[i]);
    return emit(b, (kc__regex_inst){.code = KC__REGEX_I_SET,
                                    .n = (uint32_t)node->n_ranges & 0x1FFFFFFF,
                                    .next = next,
                                    .arg = first});
}

/* True if a node matches the empty text. */
static bool matches_empty(const kc__regex_node *node)
{
    switch (node->op) {
    case KC__REGEX_SET: return false;
    case KC__REGEX_GROUP: return matches_empty(node->sub);
    case KC__REGEX_REPEAT: return !node->min || matches_empty(node->sub);
    case KC__REGEX_ALTERNATE:
        for (size_t i = 0; i < node->n_subs; i++)
            if (matches_empty(node->subs[i]))
                return true;
        return false;
    case KC__REGEX_CONCAT:
        for (size_t i = 0; i < node->n_subs; i++)
            if (!matches_empty(node->subs[i]))
                return false;
        return true;
    default: return true; /* An assertion, or nothing. */
    }
}

/* The split of a loop over x: one way is x and back, the other onward. */
static uint32_t emit_loop(program_builder *b, const kc__regex_node *node, uint32_t next)
{
    uint32_t split = emit_split(b, 0, next, node->lazy);
    uint32_t body = emit_node(b, node->sub, split);
    if (b->full)
        return 0;
    if (node->lazy)
        b->insts.items[split].arg = body;
    else
        b->insts.items[split].next = body;
    return split;
}

/* x+: the loop, entered at x. */
static uint32_t emit_plus(program_builder *b, const kc__regex_node *node, uint32_t next)
{
    uint32_t split = emit_loop(b, node, next);
    if (b->full)
        return 0;
    return node->lazy ? b->insts.items[split].arg : b->insts.items[split].next;
}

/* x*: the loop. As in Go, it is (x+)? if x matches the empty text: the order of preference is that
 * of a first x. */
static uint32_t emit_star(program_builder *b, const kc__regex_node *node, uint32_t next)
{
    if (!matches_empty(node->sub))
        return emit_loop(b, node, next);
    uint32_t plus = emit_plus(b, node, next);
    return b->full ? 0 : emit_split(b, plus, next, node->lazy);
}

static uint32_t emit_repeat(program_builder *b, const kc__regex_node *node, uint32_t next)
{
    int copies = node->min;
    if (node->max < 0 && node->min > 0) {
        next = emit_plus(b, node, next);
        copies--; /* The loop has one. */
    } else if (node->max < 0) {
        next = emit_star(b, node, next);
    } else {
        uint32_t end = next;
        for (int i = node->min; i < node->max && !b->full; i++)
            next = emit_split(b, emit_node(b, node->sub, next), end, node->lazy);
    }
    for (int i = 0; i < copies && !b->full; i++)
        next = emit_node(b, node->sub, next);
    return next;
}

static uint32_t emit_group(program_builder *b, const kc__regex_node *node, uint32_t next)
{
    kc__regex_inst save = {.code = KC__REGEX_I_SAVE, .next = next, .arg = 2 * node->group + 1};
    save.next = emit_node(b, node->sub, emit(b, save));
    save.arg = 2 * node->group;
    return emit(b, save);
}

static uint32_t emit_alternatives(program_builder *b, const kc__regex_node *node, uint32_t next)
{
    uint32_t rest = emit_node(b, node->subs[node->n_subs - 1], next);
    for (size_t i = node->n_subs - 1; i-- > 0 && !b->full;)
        rest = emit_split(b, emit_node(b, node->subs[i], next), rest, false);
    return rest;
}

static uint32_t emit_node(program_builder *b, const kc__regex_node *node, uint32_t next)
{
    if (b->full)
        return 0;
    switch (node->op) {
    case KC__REGEX_EMPTY: return next;
    case KC__REGEX_SET: return emit_set(b, node, next);
    case KC__REGEX_GROUP: return emit_group(b, node, next);
    case KC__REGEX_REPEAT: return emit_repeat(b, node, next);
    case KC__REGEX_ALTERNATE: return emit_alternatives(b, node, next);
    case KC__REGEX_CONCAT:
        for (size_t i = node->n_subs; i-- > 0;)
            next = emit_node(b, node->subs[i], next);
        return next;
    default:
        return emit(b, (kc__regex_inst){.code = KC__REGEX_I_ASSERT,
                                        .next = next,
                                        .arg = 1u << (node->op - KC__REGEX_BEGIN_LINE)});
    }
}

/* ---- classes ---- */

static int compare_bounds(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static bool has_assertion_beyond_text(const kc__regex *re)
{
    for (uint32_t i = 0; i < re->n_insts; i++)
        if (re->insts[i].code == KC__REGEX_I_ASSERT &&
            !(re->insts[i].arg & (KC__REGEX_AT_BEGIN_TEXT | KC__REGEX_AT_END_TEXT)))
            return true;
    return false;
}

/* Every range begins a class and ends one. Assertions about lines and words tell more code points
 * apart. */
static void find_classes(kc__regex *re)
{
    static const uint32_t kinds[] = {'\n',    '\n' + 1, '0',     '9' + 1, 'A',
                                     'Z' + 1, '_',      '_' + 1, 'a',     'z' + 1};
    KC_VEC(uint32_t) bounds = {0};
    kc_vec_push(&bounds, 0);
    for (uint32_t i = 0; i < re->n_ranges; i++) {
        kc_vec_push(&bounds, re->ranges[i].lo);
        if (re->ranges[i].hi < KC__REGEX_RUNE_MAX)
            kc_vec_push(&bounds, re->ranges[i].hi + 1);
    }
    for (size_t i = 0; i < KC_COUNT(kinds) && has_assertion_beyond_text(re); i++)
        kc_vec_push(&bounds, kinds[i]);
    kc_vec_sort(&bounds, compare_bounds);
    uint32_t n = 0;
    kc_vec_each (&bounds, bound) {
        if (!n || bounds.items[n - 1] != *bound)
            bounds.items[n++] = *bound;
    }
    re->bounds = kc_reallocarray(bounds.items, n, sizeof(*re->bounds));
    re->n_bounds = n;
    for (uint32_t code = 0, class = 0; code < 128; code++) {
        while (class + 1 < n && re->bounds[class + 1] <= code)
            class ++;
        re->ascii[code] = (uint8_t)class;
    }
}

/* True if every way to a match begins with the begin of the text. */
static bool is_anchored(const kc__regex_node *node)
{
    switch (node->op) {
    case KC__REGEX_BEGIN_TEXT: return true;
    case KC__REGEX_GROUP: return is_anchored(node->sub);
    case KC__REGEX_CONCAT: return is_anchored(node->subs[0]);
    case KC__REGEX_REPEAT: return node->min > 0 && is_anchored(node->sub);
    case KC__REGEX_ALTERNATE:
        for (size_t i = 0; i < node->n_subs; i++)
            if (!is_anchored(node->subs[i]))
                return false;
        return true;
    default: return false;
    }
}

bool kc__regex_program(kc__regex *re, const kc__regex_tree *tree, size_t max_program, kc_buf *why)
{
    program_builder b = {.max = max_program};
    uint32_t match = emit(&b, (kc__regex_inst){.code = KC__REGEX_I_MATCH});
    uint32_t end = emit(&b, (kc__regex_inst){.code = KC__REGEX_I_SAVE, .next = match, .arg = 1});
    re->start = emit_node(&b, tree->root, end);
    re->insts = kc_reallocarray(b.insts.items, b.insts.n, sizeof(*b.insts.items));
    re->n_insts = (uint32_t)b.insts.n;
    re->ranges = kc_reallocarray(b.ranges.items, KC_MAX(b.ranges.n, 1), sizeof(*b.ranges.items));
    re->n_ranges = (uint32_t)b.ranges.n;
    re->groups = tree->groups;
    if (b.full) {
        kc_buf_puts(why, "error parsing regexp: expression too large");
        return false;
    }
    re->anchored = is_anchored(tree->root);
    find_classes(re);
    return true;
}

/* ---- accessors for matchers ---- */

kc__regex_kind kc__regex_kind_of(uint32_t code)
{
    bool word = (code >= 'a' && code <= 'z') || (code >= 'A' && code <= 'Z') ||
                (code >= '0' && code <= '9') || code == '_';
    return word           ? KC__REGEX_KIND_WORD
           : code == '\n' ? KC__REGEX_KIND_NEWLINE
                          : KC__REGEX_KIND_OTHER;
}

unsigned kc__regex_context(kc__regex_kind before, kc__regex_kind after)
{
    unsigned context = 0;
    if (before == KC__REGEX_KIND_TEXT_BEGIN)
        context |= KC__REGEX_AT_BEGIN_TEXT | KC__REGEX_AT_BEGIN_LINE;
    if (before == KC__REGEX_KIND_NEWLINE)
        context |= KC__REGEX_AT_BEGIN_LINE;
    if (after == KC__REGEX_KIND_TEXT_END)
        context |= KC__REGEX_AT_END_TEXT | KC__REGEX_AT_END_LINE;
    if (after == KC__REGEX_KIND_NEWLINE)
        context |= KC__REGEX_AT_END_LINE;
    bool boundary = (before == KC__REGEX_KIND_WORD) != (after == KC__REGEX_KIND_WORD);
    return context | (boundary ? KC__REGEX_AT_WORD_BOUNDARY : KC__REGEX_AT_NO_WORD_BOUNDARY);
}

bool kc__regex_inst_takes(const kc__regex *re, const kc__regex_inst *inst, uint32_t code)
{
    const kc__regex_range *ranges = re->ranges + inst->arg;
    uint32_t lo = 0, hi = inst->n;
    while (lo < hi) {
        uint32_t mid = (lo + hi) / 2;
        if (code > ranges[mid].hi)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < inst->n && code >= ranges[lo].lo;
}
