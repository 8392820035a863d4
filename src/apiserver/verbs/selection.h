/* SPDX-License-Identifier: Apache-2.0 */
/*
 * selection.h: the objects of a resource that a list, a watch or a deletecollection selects: a
 * range of keys, and selectors.
 */
#ifndef KC_APISERVER_SELECTION_H
#define KC_APISERVER_SELECTION_H

#include "apiserver/request/phases.h"

typedef struct kc__rest_selection {
    kc_str prefix; /* Prefix of the keys: "", "default/". */
    kc_str key;    /* The only possible key: "default/web". Empty: any. */
    kc_selector *labels;
    kc_field_selector *fields;
    const kc_fields *table;      /* The selectable fields of the resource. */
    const kc__resource *read_as; /* Fields are read from the object in the version of this
                                    resource. NULL: from the stored object. */
    bool hides_reserved;       /* Without the Secrets of people (kc__rest_is_reserved_namespace). */
    bool reads_labels;         /* Labels too: a conversion webhook may change them. */
    bool converted;            /* kc__rest_convert_page has collected the objects to convert. */
    kc__rest_catalog *catalog; /* Keeps the resource alive, also for the renderer of the
                                   selected objects. */
} kc__rest_selection;

/* Makes a selection from the call's options, and takes over their selectors. Its strings are
 * malloc'd: it may outlive the call. */
kc__rest_verdict kc__rest_selection_take(kc__rest_call *call, kc__rest_selection *ret);
void kc__rest_selection_done(kc__rest_selection *selection);

bool kc__rest_selection_matches(const kc__rest_selection *selection, const kc_object *object);
/* Iterates over the selected objects of a snapshot, from a key on (empty: from the beginning). */
kc__cow_iter kc__rest_selection_start(const kc__rest_selection *selection,
                                      const kc__cow_snapshot *snapshot, kc_str from);
/* Moves to the next object; false at the end. */
bool kc__rest_selection_next(const kc__rest_selection *selection, kc__cow_iter *at);
/* Whether the object at `at` is selected. */
bool kc__rest_selection_has(const kc__rest_selection *selection, const kc__cow_iter *at);
/* Approximate memory of its selectors. */
size_t kc__rest_selection_bytes(const kc__rest_selection *selection);
/* The same with a budget: each object that is examined costs kc__rest_selection_cost. False with a
 * budget of 0: there may be more objects; continue from here later. */
bool kc__rest_selection_next_within(const kc__rest_selection *selection, kc__cow_iter *at,
                                    size_t *budget);
/* The cost of examining an object: 1, and 1 more for each KiB. */
size_t kc__rest_selection_cost(const kc_object *object);
/* The budget of a loop before other connections are served: about a millisecond. */
#define KC__REST_SELECTION_SLICE 1024
/* Whether only the key range restricts the selection. */
bool kc__rest_selection_is_everything(const kc__rest_selection *selection);

#endif
