/* SPDX-License-Identifier: Apache-2.0 */
/*
 * selection.h: which objects of a resource a list, a watch or a deletecollection is about: a range
 * of keys, and selectors.
 */
#ifndef KC_APISERVER_SELECTION_H
#define KC_APISERVER_SELECTION_H

#include "apiserver/rest/call.h"

typedef struct kc__selection {
    kc_str prefix; /* Of keys: "", "default/". */
    kc_str key;    /* Where the selectors leave only one: "default/web". Empty: any. */
    kc_selector *labels;
    kc_field_selector *fields;
    const kc_fields *table; /* What the fields mean; the resource's. */
    const struct kc__custom
        *shown_by;          /* Fields are those of what it shows. NULL: of what is stored. */
    kc__snapshot *snapshot; /* Holds the resource, also for who renders what is selected. */
} kc__selection;

/* From the call's options, whose selectors it takes over. Its texts are malloc'd: it may outlive
 * the call. */
kc__verdict kc__selection_take(kc__call *call, kc__selection *ret);
void kc__selection_done(kc__selection *selection);

bool kc__selection_matches(const kc__selection *selection, const kc_object *object);
/* Walks what is selected of a snapshot, from a key on (empty: from the beginning). */
kc_cow_iter kc__selection_start(const kc__selection *selection, const kc_cow_snapshot *snapshot,
                                kc_str from);
/* To the next object; false at the end. */
bool kc__selection_next(const kc__selection *selection, kc_cow_iter *at);
/* Nothing but the range restricts it. */
bool kc__selection_is_everything(const kc__selection *selection);

#endif
