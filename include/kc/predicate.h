/* SPDX-License-Identifier: Apache-2.0 */
/*
 * predicate.h: filters the changes that trigger a reconcile.
 *
 *     const kc_controller_opts opts = {
 *         .kind = &robot_kind, .reconcile = reconcile,
 *         .predicate = kc_predicate_or(kc_predicate_generation_changed(),
 *                                      kc_predicate_labels_changed()),
 *     };
 *
 * A predicate decides for each type of change. Comparing predicates filter only updates and accept
 * all other changes, so they also drop resyncs, as in controller-runtime. Predicates compose; the
 * receiver takes ownership. Any thread may evaluate one.
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

/* A custom function. */
kc_predicate *kc_predicate_new(kc_predicate_fn *fn, void *user);
/* metadata.generation has changed: the spec, not the status. */
kc_predicate *kc_predicate_generation_changed(void);
/* The resourceVersion has changed: drops only resyncs. */
kc_predicate *kc_predicate_version_changed(void);
kc_predicate *kc_predicate_labels_changed(void);
kc_predicate *kc_predicate_annotations_changed(void);
/* The object (of an update, the new one) matches a label selector, for every type of change. NULL
 * when it does not parse. */
kc_predicate *kc_predicate_label_selector(const char *selector, kc_error *err);
/* All, or any, of a list. Both take ownership of their arguments and skip NULLs; with no other
 * argument the result is NULL. */
#define kc_predicate_and(...) kc__predicate_all(KC__PREDICATE_LIST(__VA_ARGS__))
#define kc_predicate_or(...)  kc__predicate_any(KC__PREDICATE_LIST(__VA_ARGS__))
/* Takes ownership; the argument must not be NULL. */
kc_predicate *kc_predicate_not(kc_predicate *predicate);

/* NULL accepts all changes. */
bool kc_predicate_matches(const kc_predicate *predicate, kc_change_type type,
                          const kc_change *change);
/* NULL is allowed; returns NULL. */
kc_predicate *kc_predicate_free(kc_predicate *predicate);
KC_AUTO_DEFINE(kc_predicate, kc_predicate_free)

/* ---- implementation of the macros ---- */

#define KC__PREDICATE_LIST(...)      \
    (kc_predicate *[]){__VA_ARGS__}, \
        sizeof((kc_predicate *[]){__VA_ARGS__}) / sizeof(kc_predicate *)

kc_predicate *kc__predicate_all(kc_predicate **list, size_t n);
kc_predicate *kc__predicate_any(kc_predicate **list, size_t n);

#endif
