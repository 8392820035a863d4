/* SPDX-License-Identifier: Apache-2.0 */
/*
 * term.h: terms select other pods: by namespaces and labels, within one topology domain. They come
 * from affinity, anti-affinity and spread constraints.
 *
 * All replicas of a workload have the same terms, so terms are shared by text and
 * reference-counted. One thread uses a table and its terms.
 */
#ifndef KC_SCHEDULER_TERM_H
#define KC_SCHEDULER_TERM_H

#include "api/core_v1/zz_generated.h"
#include "kc/map.h"
#include "kc/selector.h"

typedef struct kc__sched_term {
    size_t refs;
    char *text;   /* Identifies the term: equal texts are one term. */
    char *key;    /* Topology key: the label of nodes that names their domain. */
    char **names; /* Names of namespaces. */
    size_t n_names;
    kc_selector *namespaces; /* Selects more namespaces by label; NULL: none. */
    kc_selector *selector;   /* Label selector; "nothing" if none was given. */
    char *owner;             /* If set, instead: pods whose controller has this uid. */
    bool staying;            /* Terminating pods do not count. */
    struct kc__sched_terms *table;
} kc__sched_term;

typedef struct kc__sched_terms {
    kc_map by_text;
} kc__sched_terms;
/* All terms must have been released. */
void kc__sched_terms_done(kc__sched_terms *terms);

/* The fields of a pod that terms match. */
typedef struct kc__sched_labelled {
    const kc_object *pod;
    const kc_object *ns; /* Its namespace; NULL: unknown. */
    kc_str owner;        /* The uid of its controller. */
    bool leaving;        /* The pod is terminating. */
} kc__sched_labelled;

/* A reference to the term of an affinity of `pod`; NULL on error: invalid selector. */
kc__sched_term *kc__sched_term_of_affinity(kc__sched_terms *terms, const kc_pod *pod,
                                           const kc_pod_affinity_term *from, kc_error *err);
kc__sched_term *kc__sched_term_of_spread(kc__sched_terms *terms, const kc_pod *pod,
                                         const kc_topology_spread *from, kc_error *err);
/* Selects all pods in the pod's namespace with the same controller. */
kc__sched_term *kc__sched_term_of_owner(kc__sched_terms *terms, kc_str ns, kc_str owner,
                                        const char *key);
kc__sched_term *kc__sched_term_ref(kc__sched_term *term);
/* NULL is allowed; returns NULL. */
kc__sched_term *kc__sched_term_unref(kc__sched_term *term);

bool kc__sched_term_matches(const kc__sched_term *term, const kc__sched_labelled *pod);
/* A label with a value that all matching pods must have, as lookup key. Appends "key=value"; false
 * if there is none. */
bool kc__sched_term_anchor(const kc__sched_term *term, kc_buf *ret);
/* The same lookup key for a label, and for an owner. */
void kc__sched_anchor_of_label(kc_buf *out, kc_str key, kc_str value);
void kc__sched_anchor_of_owner(kc_buf *out, kc_str uid);

/* Converts a LabelSelector; NULL selects nothing. Adds `also` to it. NULL on error. */
kc_selector *kc__sched_selector_of(const kc_label_selector *from, const kc_requirement *also,
                                   size_t n_also, kc_error *err);
/* Converts node selector requirements; an empty list selects everything. NULL on error. */
kc_selector *kc__sched_selector_of_rules(const kc_selector_requirement *rules, size_t n,
                                         kc_error *err);

#endif
