/* SPDX-License-Identifier: Apache-2.0 */
/*
 * list.h: a range of one snapshot of a resource: the contents of a LIST response, the initial state
 * of a watch, the objects of a deletecollection.
 */
#ifndef KC_APISERVER_LIST_H
#define KC_APISERVER_LIST_H

#include "apiserver/printing/table.h"
#include "apiserver/request/revision.h"
#include "apiserver/verbs/selection.h"

/* The snapshot that a list reads, and the key at which it begins. */
typedef struct kc__rest_page {
    kc__cow_snapshot *snapshot;
    uint64_t revision; /* The resourceVersion of the list. */
    kc_str from;       /* The first key, complete; empty: the beginning. Allocated in the arena. */
} kc__rest_page;

/* Finds the snapshot that the options ask for: the newest, an exact revision, or one not older than
 * a revision. Fails with 410 for a compacted revision and 504 for a future one. */
kc__rest_verdict kc__rest_page_find(kc__rest_call *call, const kc__rest_selection *selection,
                                    kc__rest_page *ret);

/* Sets the list metadata of a page that ends with the object at `at`: the continue token and, if no
 * selector filters the list, remainingItemCount. The token is allocated in the arena. */
void kc__rest_page_end(kc__rest_call *call, const kc__rest_selection *selection,
                       kc__cow_snapshot *snapshot, const kc__cow_iter *at,
                       kc__print_list_meta *meta);

/* Waits until the conversion webhook of the resource, if any, has converted the objects of a page:
 * all that its selectors examine, or as many as the limit allows. The pins stay with the call.
 * KC__REST_NEXT, _PENDING, _ON_LOOP, or _FAIL: one object cannot be converted. */
kc__rest_verdict kc__rest_convert_page(kc__rest_call *call, kc__rest_selection *selection,
                                       const kc__rest_page *page);

/* The same for the first objects of a watch that begins with the current state. */
kc__rest_verdict kc__rest_convert_first(kc__rest_call *call);
/* Replaces the error of a conversion by that of a cache which Kubernetes has not filled yet, if the
 * webhook has not converted anything since the CRD changed. Returns KC__REST_FAIL. */
kc__rest_verdict kc__rest_fail_unconverted(kc__rest_call *call);

/* Whether the limit applies: a list of resourceVersion "0" ignores it, as Kubernetes' watch cache
 * does. */
static inline bool kc__rest_page_is_limited(const kc__rest_options *options)
{
    return options->limit > 0 && !kc_str_is(options->resource_version, "0");
}

#endif
