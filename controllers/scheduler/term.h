/* SPDX-License-Identifier: Apache-2.0 */
/*
 * term.h: which other pods something is about: those of some namespaces whose labels match, in one
 * domain of a topology. Terms come from affinity, anti-affinity and spread constraints.
 *
 * All replicas of a workload have the same terms, so terms are kept once, by their text, and
 * counted. One thread uses a table and its terms.
 */
#ifndef KC_SCHEDULER_TERM_H
#define KC_SCHEDULER_TERM_H

#include "api/core_v1/zz_generated.h"
#include "kc/map.h"
#include "kc/selector.h"

typedef struct kc__term {
    size_t refs;
    char *text;   /* Says all of it: two terms with one text are one. */
    char *key;    /* The label of nodes that names their domain. */
    char **names; /* Of namespaces. */
    size_t n_names;
    kc_selector *namespaces; /* Also those whose labels match; NULL: no others. */
    kc_selector *selector;   /* Of labels; "nothing" where none was given. */
    char *owner;             /* Instead: pods that the object with this uid controls. */
    bool staying;            /* Pods that are being deleted do not count. */
    struct kc__terms *table;
} kc__term;

typedef struct kc__terms {
    kc_map by_text;
} kc__terms;
/* All terms have been released. */
void kc__terms_done(kc__terms *terms);

/* A pod, as far as terms look at it. */
typedef struct kc__labelled {
    const kc_object *pod;
    const kc_object *ns; /* Its namespace; NULL: not known. */
    kc_str owner;        /* The uid of its controller. */
    bool leaving;        /* It is being deleted. */
} kc__labelled;

/* A reference to the term of an affinity of `pod`; NULL on error: a selector that is none. */
kc__term *kc__term_of_affinity(kc__terms *terms, const kc_pod *pod,
                               const kc_pod_affinity_term *from, kc_error *err);
kc__term *kc__term_of_spread(kc__terms *terms, const kc_pod *pod, const kc_topology_spread *from,
                             kc_error *err);
/* All pods of the pod's namespace that the same object controls. */
kc__term *kc__term_of_owner(kc__terms *terms, kc_str ns, kc_str owner, const char *key);
kc__term *kc__term_ref(kc__term *term);
/* NULL is allowed; returns NULL. */
kc__term *kc__term_unref(kc__term *term);

bool kc__term_matches(const kc__term *term, const kc__labelled *pod);
/* A label that all pods that match must have, with its value: what to look them up by. Appends
 * "key=value"; false when there is none such. */
bool kc__term_anchor(const kc__term *term, kc_buf *ret);
/* The same text for a label, and for an owner. */
void kc__anchor_of_label(kc_buf *out, kc_str key, kc_str value);
void kc__anchor_of_owner(kc_buf *out, kc_str uid);

/* A LabelSelector as a selector; "nothing" for NULL. `also` are added to it. NULL on error. */
kc_selector *kc__selector_of(const kc_label_selector *from, const kc_requirement *also,
                             size_t n_also, kc_error *err);
/* Requirements of nodes; an empty list selects everything. NULL on error. */
kc_selector *kc__selector_of_rules(const kc_selector_requirement *rules, size_t n, kc_error *err);

#endif
