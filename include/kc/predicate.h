/* SPDX-License-Identifier: Apache-2.0 */
/*
 * predicate.h: which changes are worth a reconcile.
 *
 *     .predicate = kc_predicate_or(kc_predicate_generation(), kc_predicate_labels())
 *
 * A predicate answers for each kind of change. Those that compare act on updates only and let all
 * else pass, so they also swallow resyncs, as in controller-runtime. They are built of each other,
 * and owned by whoever they were given to. Any thread may ask one.
 */
#ifndef KC_PREDICATE_H
#define KC_PREDICATE_H

#include "kc/cache.h"

typedef enum kc_change_type {
    KC_CHANGE_CREATE,
    KC_CHANGE_UPDATE,
    KC_CHANGE_DELETE,
    KC_CHANGE_GENERIC,
} kc_change_type;

typedef struct kc_predicate kc_predicate;
typedef bool kc_predicate_fn(kc_change_type type, const kc_change *change, void *user);

/* A function of one's own. */
kc_predicate *kc_predicate_new(kc_predicate_fn *fn, void *user);
/* metadata.generation has changed: the spec, not the status. */
kc_predicate *kc_predicate_generation(void);
/* Anything has changed: only resyncs are swallowed. */
kc_predicate *kc_predicate_resource_version(void);
kc_predicate *kc_predicate_labels(void);
kc_predicate *kc_predicate_annotations(void);
/* The object (of an update, the new one) matches a label selector, in every kind of change. NULL
 * when it does not parse. */
kc_predicate *kc_predicate_selector(const char *selector, kc_error *err);
/* All, or any, of a list. Both take over what they are given; NULLs are left out, and of nothing
 * NULL is made. */
#define kc_predicate_and(...) kc__predicate_all(KC__PREDICATES(__VA_ARGS__))
#define kc_predicate_or(...)  kc__predicate_any(KC__PREDICATES(__VA_ARGS__))
/* Takes it over; it must not be NULL. */
kc_predicate *kc_predicate_not(kc_predicate *predicate);

/* NULL lets everything pass. */
bool kc_predicate_passes(const kc_predicate *predicate, kc_change_type type,
                         const kc_change *change);
/* NULL is allowed; returns NULL. */
kc_predicate *kc_predicate_free(kc_predicate *predicate);
KC_AUTO_DEFINE(kc_predicate, kc_predicate_free)

/* ---- behind the macros ---- */

#define KC__PREDICATES(...)          \
    (kc_predicate *[]){__VA_ARGS__}, \
        sizeof((kc_predicate *[]){__VA_ARGS__}) / sizeof(kc_predicate *)

kc_predicate *kc__predicate_all(kc_predicate **list, size_t n);
kc_predicate *kc__predicate_any(kc_predicate **list, size_t n);

#endif
