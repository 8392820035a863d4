/* SPDX-License-Identifier: Apache-2.0 */
/*
 * list.h: a range of one version of a resource: what a LIST answers, and what a watch begins with
 * and a deletecollection goes over.
 */
#ifndef KC_APISERVER_LIST_H
#define KC_APISERVER_LIST_H

#include "apiserver/printing/table.h"
#include "apiserver/rest/selection.h"

/* Which version, and where in it a list begins. */
typedef struct kc__page {
    kc_cow_snapshot *snapshot;
    uint64_t revision; /* What the list says it is. */
    kc_str from;       /* The first key, whole; empty: the beginning. The arena's. */
} kc__page;

/* The version the options ask for: the newest, exactly one, one not older than. Fails with 410 for
 * what is forgotten and 504 for what is to come. */
kc__verdict kc__page_find(kc__call *call, const kc__selection *selection, kc__page *ret);

/* What a list says of the rest when its page ends with the object at `at`: how to go on, and where
 * nothing is left out how much there is. The token is the arena's. */
void kc__page_end(kc__call *call, const kc__selection *selection, kc_cow_snapshot *snapshot,
                  const kc_cow_iter *at, kc__list_meta *meta);

/* Whether the limit counts: a list of any version ("0") comes whole, as Kubernetes' cache gives it.
 */
static inline bool kc__page_is_limited(const kc__options *options)
{
    return options->limit > 0 && !kc_str_is(options->resource_version, "0");
}

/* 504: a version that is still to come. */
kc__verdict kc__fail_too_large(kc__call *call, uint64_t wanted, uint64_t is);
/* The same as an error alone. */
void kc__too_large(kc_error *err, uint64_t wanted, uint64_t is);

/* A resource version of a request: KC_BAD_REQUEST when it is none. Empty is 0. */
int kc__parse_version(kc_str text, uint64_t *ret, kc_error *err);

#endif
