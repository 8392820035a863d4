/* SPDX-License-Identifier: Apache-2.0 */
/*
 * function_internal.h: functions as tables.
 *
 * A library is a const table of overloads: name, identifier, signature, implementation, and costs
 * where they are not 1. The checker chooses overloads by signature, the evaluator calls the
 * implementation, the estimation of costs and the evaluator call the cost functions.
 *
 * To add a function, add rows to the table of its library. To add a library, add its
 * table to `libraries` in env.c, with the feature that enables it.
 */
#ifndef KC_CEL_FUNCTION_INTERNAL_H
#define KC_CEL_FUNCTION_INTERNAL_H

#include "cel/type/type_internal.h"
#include "cel/value/value_internal.h"

/* What an environment may have, in the order of Kubernetes' versions. */
typedef enum kc__cel_feature {
    KC__CEL_ALWAYS,
    KC__CEL_AUTHORIZER_27,
    KC__CEL_OPTIONALS, /* 1.28, as are comparisons of mixed numbers. */
    KC__CEL_QUANTITY_28,
    KC__CEL_STRINGS_29, /* 1.29: string.format, sets, checks of constant arguments. */
    KC__CEL_NET_30,
    KC__CEL_FORMATS_31,    /* Selectors of the authorizer, too. */
    KC__CEL_TWO_VARIABLES, /* 1.32 */
    KC__CEL_SEMVER_33,
    KC__CEL_LISTS_34, /* 1.34: ext.Lists */
    KC__CEL_BIND,     /* cel.bind, only on demand. */
    KC__CEL_PATCHES,  /* Types and functions of mutating policies, only on demand. */
} kc__cel_feature;

typedef struct kc__cel_eval kc__cel_eval;

/* The result for arguments that fit the signature; an error value on failure. */
typedef kc_cel_value (*kc__cel_impl)(kc__cel_eval *ev, const kc_cel_value *args, size_t n);

/* The cost of a call that took place. */
typedef uint64_t (*kc__cel_actual_cost)(const kc_cel_value *args, size_t n, kc_cel_value result);

/*
 * The estimated cost of a call without that of its arguments, which come with the target first. The
 * size of the result, when it has one, goes to *ret_size, which is unknown otherwise.
 */
typedef struct kc__cel_estimate_args {
    const kc_cel_cost *sizes;
    const struct kc__cel_expr *const *exprs;
    size_t n;
    kc_cel_kind element_kind; /* Of the elements of a list as the first argument, or KC_CEL_DYN. */
    bool has_elements;        /* The first argument has a type with parameters. */
    kc_cel_cost element_size;
} kc__cel_estimate_args;

typedef struct kc__cel_estimate {
    kc_cel_cost cost, size;
    bool has_size;
} kc__cel_estimate;

typedef kc__cel_estimate (*kc__cel_estimator)(const kc__cel_estimate_args *args);

enum { KC__CEL_ARGS_MAX = 4 };

struct kc__cel_overload {
    const char *function, *id;
    bool member;
    bool non_strict; /* Is called with errors, too. */
    bool dispatched; /* cel-go chooses among its overloads by their arguments: see kc__cel_step. */
    bool checks_arguments; /* One implementation for all overloads, which any value may reach. */
    bool takes_pattern;    /* The second argument is a regular expression. */
    bool costs_by_name; /* `actual` counts even if the checker could not decide on one overload. */
    /* 1 + the argument that cel-go's cost function takes for a list, or an int, without a check: it
     * panics where the argument is another value, such as an error. */
    uint8_t costs_list, costs_int;
    const kc_cel_type *result;
    const kc_cel_type *args[KC__CEL_ARGS_MAX]; /* The target first; NULL behind the last. */
    kc__cel_impl impl;
    kc__cel_actual_cost actual; /* Defaults to 1. */
    kc__cel_estimator estimate; /* Defaults to 1. */
};

typedef struct kc__cel_library {
    const struct kc__cel_overload *overloads;
    size_t n;
    kc__cel_feature feature;
} kc__cel_library;

/* Seconds of the first and last second of the years 1 to 9999. */
#define KC__CEL_TIME_MIN INT64_C(-62135596800)
#define KC__CEL_TIME_MAX INT64_C(253402300799)

extern const kc__cel_library kc__cel_library_operators, kc__cel_library_compare,
    kc__cel_library_convert, kc__cel_library_text, kc__cel_library_time, kc__cel_library_optional,
    kc__cel_library_two_variables, kc__cel_library_strings, kc__cel_library_strings_29,
    kc__cel_library_join, kc__cel_library_lists, kc__cel_library_regex, kc__cel_library_quantity,
    kc__cel_library_sets, kc__cel_library_net, kc__cel_library_semver, kc__cel_library_lists_34,
    kc__cel_library_url, kc__cel_library_formats, kc__cel_library_authorizer,
    kc__cel_library_authorizer_31, kc__cel_library_patch;

extern const kc_cel_type kc__cel_type_quantity, kc__cel_type_ip, kc__cel_type_cidr,
    kc__cel_type_semver, kc__cel_type_url, kc__cel_type_format, kc__cel_type_authorizer;

/* Types that an expression may name: int, list, kubernetes.Quantity. */
typedef struct kc__cel_named_type {
    const kc_cel_type *type;
    kc__cel_feature feature;
} kc__cel_named_type;
extern const kc__cel_named_type kc__cel_named_types[];
extern const size_t kc__cel_n_named_types;

size_t kc__cel_overload_arity(const struct kc__cel_overload *overload);
/* True if a value may be passed where the signature says `type`. As in cel-go, the first element
 * stands for all elements of a list. */
bool kc__cel_value_fits(kc__cel_eval *ev, const kc_cel_value *value, const kc_cel_type *type);

/* ---- arithmetic of costs and sizes, which saturates (cost/range.c) ---- */

#define KC__CEL_STRING_FACTOR 0.1
#define KC__CEL_REGEX_FACTOR  0.25

/* size * factor, rounded up. */
uint64_t kc__cel_cost_factor(uint64_t size, double factor);
kc_cel_cost kc__cel_range(uint64_t min, uint64_t max);
kc_cel_cost kc__cel_range_add(kc_cel_cost a, kc_cel_cost b);
kc_cel_cost kc__cel_range_multiply(kc_cel_cost a, kc_cel_cost b);
kc_cel_cost kc__cel_range_factor(kc_cel_cost a, double factor);
kc_cel_cost kc__cel_range_union(kc_cel_cost a, kc_cel_cost b);

/* The size of an argument times a factor: the cost of reading it. */
kc__cel_estimate kc__cel_estimate_traversal(kc_cel_cost size);
kc__cel_estimate kc__cel_estimate_cost_only(kc_cel_cost cost);
/* Of ==, < and similar: the smaller of both sizes. */
kc__cel_estimate kc__cel_estimate_comparison(const kc__cel_estimate_args *args);
/* The cost of matching a text of a size against a pattern of a size. */
kc_cel_cost kc__cel_estimate_match(kc_cel_cost text, kc_cel_cost pattern);

#endif
