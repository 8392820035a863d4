/* SPDX-License-Identifier: Apache-2.0 */
/*
 * regex_internal.h: what the files of src/object/regex share.
 *
 *     pattern ─ regex_parse.c ─▶ tree ─ regex_program.c ─▶ program ─┬─ regex_dfa.c:  match or not
 *                  regex_class.c, regex_unicode.c                   └─ regex_pike.c: positions
 *
 * The program is a nondeterministic automaton over code points. Code points that no instruction
 * tells apart form a class (program->bounds), so an automaton state has one transition per class,
 * not per code point.
 */
#ifndef KC_REGEX_INTERNAL_H
#define KC_REGEX_INTERNAL_H

#include "kc/vec.h"
#include "object/regex/regex.h"

enum { KC__REGEX_RUNE_MAX = 0x10FFFF, KC__REGEX_RUNE_ERROR = 0xFFFD };

/* ---- sets of code points (regex_class.c) ---- */

typedef struct kc__regex_range {
    uint32_t lo, hi; /* Both are part of the range. */
} kc__regex_range;

typedef KC_VEC(kc__regex_range) kc__regex_set;

void kc__regex_set_add(kc__regex_set *set, uint32_t lo, uint32_t hi);
/* Adds the range and everything that differs from a member in case only. */
void kc__regex_set_add_folded(kc__regex_set *set, uint32_t lo, uint32_t hi);
/* Adds the complement of a set that is in normal form. */
void kc__regex_set_add_negated(kc__regex_set *set, const kc__regex_range *ranges, size_t n);
/* Sorts and merges the ranges: the normal form. */
void kc__regex_set_normalize(kc__regex_set *set);
void kc__regex_set_negate(kc__regex_set *set);

/* Adds \d, \s, \w and their complements D, S, W; false for another letter. */
bool kc__regex_set_add_perl(kc__regex_set *set, char letter, bool fold);
/* Adds [:name:] or [:^name:], given the text between the brackets and colons. */
bool kc__regex_set_add_posix(kc__regex_set *set, kc_str name, bool fold);
/* Adds a category or script by its name in Go: "L", "Lu", "Greek", "Any". */
bool kc__regex_set_add_property(kc__regex_set *set, kc_str name, bool negated, bool fold);

/* ---- Unicode (regex_unicode.c) ---- */

/* The next code point that differs in case only; a cycle. The code point itself when there is no
 * other. */
uint32_t kc__regex_fold_next(uint32_t code);
/* Adds a category or script by its name in Go: "L", "Lu", "Greek". False when there is none. */
bool kc__regex_property_add(kc__regex_set *set, kc_str name);

/* ---- the tree (regex_parse.c) ---- */

typedef enum kc__regex_op {
    KC__REGEX_EMPTY,
    KC__REGEX_SET,        /* One code point of a set. */
    KC__REGEX_BEGIN_LINE, /* The assertions, in the order of the bits of a context. */
    KC__REGEX_END_LINE,
    KC__REGEX_BEGIN_TEXT,
    KC__REGEX_END_TEXT,
    KC__REGEX_WORD_BOUNDARY,
    KC__REGEX_NO_WORD_BOUNDARY,
    KC__REGEX_GROUP,
    KC__REGEX_REPEAT,
    KC__REGEX_CONCAT,
    KC__REGEX_ALTERNATE,
} kc__regex_op;

typedef struct kc__regex_node {
    kc__regex_op op;
    bool lazy;                     /* Of a repetition. */
    int min, max;                  /* Of a repetition; max is -1 without a bound. */
    unsigned group;                /* Number of a group, from 1. */
    unsigned height;               /* Of the tree below. */
    const kc__regex_range *ranges; /* Of a set, in normal form. */
    size_t n_ranges;
    struct kc__regex_node **subs; /* Of a concatenation or an alternation. */
    struct kc__regex_node *sub;   /* Of a group or a repetition. */
    size_t n_subs;
} kc__regex_node;

typedef struct kc__regex_tree {
    kc_arena arena;
    kc__regex_node *root;
    unsigned groups;
} kc__regex_tree;

/* False with Go's message in `why`. The caller releases the arena in either case. */
bool kc__regex_parse(kc_str pattern, kc__regex_tree *tree, kc_buf *why);

/* ---- the program (regex_program.c) ---- */

typedef enum kc__regex_code {
    KC__REGEX_I_SET,    /* Consumes a code point of ranges[arg .. arg + n). */
    KC__REGEX_I_SPLIT,  /* Continues at `next`, then, with lower preference, at `arg`. */
    KC__REGEX_I_ASSERT, /* Continues when the context has the bits of `arg`. */
    KC__REGEX_I_SAVE,   /* Stores the position as bound `arg`: 2 * group, or + 1 at its end. */
    KC__REGEX_I_MATCH,
} kc__regex_code;

typedef struct kc__regex_inst {
    uint32_t code : 3, n : 29;
    uint32_t next, arg;
} kc__regex_inst;

/* What holds between two code points, as bits: see KC__REGEX_BEGIN_LINE. */
enum {
    KC__REGEX_AT_BEGIN_LINE = 1,
    KC__REGEX_AT_END_LINE = 2,
    KC__REGEX_AT_BEGIN_TEXT = 4,
    KC__REGEX_AT_END_TEXT = 8,
    KC__REGEX_AT_WORD_BOUNDARY = 16,
    KC__REGEX_AT_NO_WORD_BOUNDARY = 32,
};

/* A code point for the purpose of assertions. */
typedef enum kc__regex_kind {
    KC__REGEX_KIND_TEXT_BEGIN,
    KC__REGEX_KIND_TEXT_END = KC__REGEX_KIND_TEXT_BEGIN,
    KC__REGEX_KIND_OTHER,
    KC__REGEX_KIND_WORD,
    KC__REGEX_KIND_NEWLINE,
} kc__regex_kind;

typedef struct kc__regex_dfa kc__regex_dfa;

struct kc__regex {
    kc__regex_inst *insts;
    uint32_t n_insts, start;
    kc__regex_range *ranges;
    uint32_t n_ranges;
    uint32_t *bounds; /* First code point of each class, ascending; bounds[0] is 0. */
    uint32_t n_bounds;
    uint8_t ascii[128]; /* Class of each ASCII character; they are in the first 128 classes. */
    unsigned groups;
    bool anchored; /* A match can only begin at the begin of the text. */
    size_t max_cache;
    kc__regex_dfa *dfa;
};

/* False with a message when the program would exceed the limit. */
bool kc__regex_program(kc__regex *re, const kc__regex_tree *tree, size_t max_program, kc_buf *why);

static inline uint32_t kc__regex_class_of(const kc__regex *re, uint32_t code)
{
    if (code < 128)
        return re->ascii[code];
    uint32_t lo = 0, hi = re->n_bounds;
    while (hi - lo > 1) {
        uint32_t mid = (lo + hi) / 2;
        if (re->bounds[mid] <= code)
            lo = mid;
        else
            hi = mid;
    }
    return lo;
}

kc__regex_kind kc__regex_kind_of(uint32_t code);
/* The context between two code points. */
unsigned kc__regex_context(kc__regex_kind before, kc__regex_kind after);
bool kc__regex_inst_takes(const kc__regex *re, const kc__regex_inst *inst, uint32_t code);

/* The code point at `at`, which is before the end, and its length. */
uint32_t kc__regex_decode(kc_str text, size_t at, size_t *ret_length);

/* ---- matching (regex_dfa.c, regex_pike.c) ---- */

/* Creates the empty cache of an expression and sets re->dfa. */
kc__regex_dfa *kc__regex_dfa_new(kc__regex *re);
kc__regex_dfa *kc__regex_dfa_free(kc__regex_dfa *dfa);
size_t kc__regex_dfa_memory(kc__regex_dfa *dfa);
bool kc__regex_dfa_match(const kc__regex *re, kc_str text, uint64_t *steps);

/* Takes steps; false when there are not enough. */
static inline bool kc__regex_spend(uint64_t *steps, uint64_t n)
{
    if (!steps)
        return true;
    bool enough = *steps > n;
    *steps = enough ? *steps - n : 0;
    return enough;
}

#endif
