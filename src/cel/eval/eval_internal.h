/* SPDX-License-Identifier: Apache-2.0 */
/*
 * eval_internal.h: programs and their evaluation.
 *
 * A program is a tree of steps in one arena, planned from the checked expression (plan.c) and
 * walked by the evaluator (eval.c). Identifiers are slots, overloads are resolved, constants are
 * folded where cel-go folds them, because that shows in costs.
 */
#ifndef KC_CEL_EVAL_INTERNAL_H
#define KC_CEL_EVAL_INTERNAL_H

#include "cel/library/env_internal.h"
#include "cel/library/zone_internal.h"
#include "object/regex/regex.h"

typedef enum kc__cel_step_kind {
    KC__CEL_S_CONST,
    KC__CEL_S_ATTR, /* A root and qualifiers: a.b[c]. */
    KC__CEL_S_CALL,
    KC__CEL_S_AND,
    KC__CEL_S_OR,
    KC__CEL_S_CONDITIONAL,
    KC__CEL_S_EQUAL,
    KC__CEL_S_NOT_EQUAL,
    KC__CEL_S_OR_OPTIONAL, /* a.or(b) */
    KC__CEL_S_OR_VALUE,    /* a.orValue(b) */
    KC__CEL_S_IN_SET,      /* x in a list of constants. */
    KC__CEL_S_LIST,
    KC__CEL_S_MAP,
    KC__CEL_S_FOLD,
} kc__cel_step_kind;

typedef struct kc__cel_step kc__cel_step;

typedef enum kc__cel_qualifier_kind {
    KC__CEL_Q_FIELD, /* A constant key or index. */
    KC__CEL_Q_INDEX, /* A computed one. */
} kc__cel_qualifier_kind;

typedef struct kc__cel_qualifier {
    kc__cel_qualifier_kind kind;
    bool optional;
    bool test_only; /* The last one of has(). */
    kc_cel_value key;
    const kc__cel_step *index;
} kc__cel_qualifier;

typedef enum kc__cel_root { KC__CEL_R_VARIABLE, KC__CEL_R_LOCAL, KC__CEL_R_STEP } kc__cel_root;

struct kc__cel_step {
    kc__cel_step_kind kind;
    union {
        kc_cel_value constant;
        struct {
            kc__cel_root root;
            int slot;
            const kc__cel_step *operand;
            const kc__cel_qualifier *qualifiers;
            size_t n;
            bool is_test;
        } attr;
        struct {
            kc_str function;
            const kc__cel_overload *const *overloads; /* To choose from; more than one with dyn. */
            size_t n_overloads;
            /* Of an operator: the overloads that the checker excluded. It may have decided on a
             * type for a value that has another one. */
            const kc__cel_overload *const *others;
            size_t n_others;
            const kc__cel_step *const *args;
            size_t n_args;
            const kc__regex *regex; /* Of a constant pattern. */
            /* An argument that fails ends the call before the others are evaluated, and a call that
             * did not evaluate all costs nothing: cel-go's calls with many arguments. */
            bool stops_early;
        } call;
        struct {
            const kc__cel_step *a, *b, *c;
        } op;
        struct {
            const kc__cel_step *operand;
            kc__cel_map *set;
        } in_set;
        struct {
            const kc__cel_step *const *items;
            const bool *optional;
            size_t n;
        } list;
        struct {
            const kc__cel_step *const *keys, *const *values;
            const bool *optional;
            size_t n;
            const kc_cel_type *type; /* Of a constructed object; NULL of a map. */
        } map;
        struct {
            const kc__cel_step *range, *init, *condition, *step, *result;
            int var, var2, accu; /* Slots; var2 is -1 with one variable. */
        } fold;
    };
};

typedef struct kc__cel_regex_entry {
    kc__regex *regex;
    struct kc__cel_regex_entry *next;
} kc__cel_regex_entry;

struct kc_cel_program {
    kc_arena arena;
    const kc__cel_step *root;
    const kc_cel_type *type;
    size_t n_variables, n_locals;
    uint64_t
        used; /* Bits of the variables that the program reads; the last stands for further ones. */
    kc_cel_cost cost;
    kc__cel_regex_entry *regexes; /* To free. */
};

/* A local variable. An accumulator is computed when it is first read. */
typedef struct kc__cel_slot {
    kc_cel_value value;
    const kc__cel_step *pending;
    bool owned; /* A list or map that only the fold has, and may be changed in place. */
} kc__cel_slot;

struct kc__cel_eval {
    const kc_cel_value *variables;
    kc__cel_slot *locals;
    kc_arena *arena;
    size_t bytes, max_bytes;
    uint64_t cost, budget;
    bool stopped;                  /* A limit is exceeded: nothing absorbs this error. */
    bool panicked;                 /* No limit, but a failure of which cel-go panics. */
    const char *why;               /* Which. */
    const kc__regex *regex;        /* Of the call in progress, when its pattern is constant. */
    uint64_t regex_steps;          /* Left for regular expressions. */
    uint64_t seed;                 /* Of hashes. */
    kc__cel_zone *zones;           /* That the evaluation has read. */
    struct kc__cel_index *indexes; /* Of large JSON containers (value/json.c). */
    uint32_t n_readings;           /* Of JSON containers so far. */
};

/* Charges units of cost. */
static inline void kc__cel_charge(kc__cel_eval *ev, uint64_t cost)
{
    ev->cost += cost;
    if (ev->cost > ev->budget && !ev->stopped) {
        ev->stopped = true;
        ev->why = "operation cancelled: actual cost limit exceeded";
    }
}

/* Stops an evaluation whose regular expressions take too long: their cost does not depend on the
 * size of the program that a short pattern may become. */
static inline void kc__cel_check_regex_steps(kc__cel_eval *ev)
{
    if (ev->regex_steps || ev->stopped)
        return;
    ev->stopped = true;
    ev->why = "operation cancelled: actual cost limit exceeded";
}

/*
 * Compiles a pattern that an evaluation computed, and takes steps for it: a short pattern with
 * counted repetitions or classes of Unicode takes milliseconds. NULL with `why`, or with
 * ev->stopped when too few steps are left.
 */
kc__regex *kc__cel_compile_pattern(kc__cel_eval *ev, kc_str pattern, kc_buf *why);

kc_cel_value kc__cel_run(kc__cel_eval *ev, const kc__cel_step *step);

static inline bool kc__cel_is_json_container(kc_cel_value v)
{
    return (v.kind == KC_CEL_LIST || v.kind == KC_CEL_MAP || v.kind == KC_CEL_OBJECT) &&
           v.form == KC__CEL_JSON;
}

/* A variable that holds JSON without a schema: each reference to it is another reading. */
static inline kc_cel_value kc__cel_unread(kc_cel_value v)
{
    if (kc__cel_is_json_container(v) && !v.json.type->declared)
        v.reading = 0;
    return v;
}

enum { KC__CEL_PLAN_MAX = 64 << 20 }; /* Bytes of constants. */

/* Plans a checked tree and sets the type of the program. False with a message when a constant part
 * fails. */
bool kc__cel_plan(kc_cel_program *program, const kc__cel_expr *root, kc_buf *why);
/* The seed of hashes in an evaluation of the program. */
static inline uint64_t kc__cel_seed(const kc_cel_program *program)
{
    return (uint64_t)(uintptr_t)program * 0x9E3779B97F4A7C15u;
}

/* Estimates the cost of a checked tree. */
kc_cel_cost kc__cel_estimate_cost(kc__cel_expr *root, const kc__cel_scope *scope);

#endif
