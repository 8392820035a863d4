/* SPDX-License-Identifier: Apache-2.0 */
/* apply_internal.h: state of an apply operation: the objects that were read, and how new kinds
 * are awaited. */
#ifndef KC_CLIENT_APPLY_INTERNAL_H
#define KC_CLIENT_APPLY_INTERNAL_H

#include "kc/apply.h"

typedef enum kc__apply_pass {
    KC__APPLY_DEFINITIONS,
    KC__APPLY_NAMESPACES,
    KC__APPLY_OTHERS,
    KC__APPLY_PASSES
} kc__apply_pass;

typedef struct kc__apply_item {
    kc_object *object;
    const char *source;    /* Borrowed from the caller; may be NULL. */
    size_t document, line; /* Both from 1; the line is the first of the document. */
    kc__apply_pass turn;
} kc__apply_item;

typedef KC_VEC(kc__apply_item) kc__apply_items;

void kc__apply_items_done(kc__apply_items *items);
/* Prefixes the message with "source: line N: "; unknown parts (NULL, 0) are omitted. */
int kc__apply_error_add_source(kc_error *err, const char *source, size_t line);

/* When objects of a kind are applied. */
kc__apply_pass kc__apply_pass_of(kc_gvk gvk);

/* Appends the objects of a text and expands lists into their items. The name of the source must
 * outlive the items. */
int kc__apply_read(kc__apply_items *items, const kc_apply_source *source, kc_error *err);

/* Applies the objects as kc_apply_sources does. */
int kc__apply_items_run(kc_client *client, const kc__apply_items *items, const kc_apply_opts *opts,
                        kc_error *err);

/* ---- waiting for kinds ---- */

/* Each function waits at most `timeout` and polls after 1 ms, 2 ms, 4 ms, … up to 100 ms. */

/* Returns the kind of an object. Waits until it is served if the server has its CRD. */
const kc_kind *kc__apply_kind(kc_client *client, kc_gvk gvk, int64_t timeout, kc_error *err);
/* Waits until the resource of a CRD is served. `definition` is the CRD as returned by the
 * server. Fails at once with KC_CONFLICT if the names of the CRD are already taken. */
int kc__apply_await_definition(kc_client *client, const kc_object *definition, int64_t timeout,
                               kc_error *err);

#endif
