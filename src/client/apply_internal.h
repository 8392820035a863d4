/* SPDX-License-Identifier: Apache-2.0 */
/* apply_internal.h: an application under way: what was read, and how new kinds are waited for. */
#ifndef KC_CLIENT_APPLY_INTERNAL_H
#define KC_CLIENT_APPLY_INTERNAL_H

#include "kc/apply.h"

typedef enum kc__apply_turn {
    KC__APPLY_DEFINITIONS,
    KC__APPLY_NAMESPACES,
    KC__APPLY_OTHERS,
    KC__APPLY_TURNS
} kc__apply_turn;

typedef struct kc__apply_item {
    kc_object *object;
    const char *source; /* Borrowed from who reads; may be NULL. */
    size_t document;
    kc__apply_turn turn;
} kc__apply_item;

typedef KC_VEC(kc__apply_item) kc__apply_items;

void kc__apply_items_done(kc__apply_items *items);
/* Puts "source: document N: " before the message, parts that are not known left out. */
int kc__apply_where(kc_error *err, const char *source, size_t document);

/* Appends the objects of a text, lists taken apart. The source's name must live as long as they. */
int kc__apply_read(kc__apply_items *items, const kc_apply_source *source, kc_error *err);

/* ---- kinds that come ---- */

/* Each waits at most `timeout`, asking again after a millisecond, two, four, … a tenth of a second.
 */

/* The kind of an object, waited for if the server has its definition. */
const kc_kind *kc__apply_kind(kc_client *client, kc_gvk gvk, int64_t timeout, kc_error *err);
/* Until what a definition, as the server answered it, defines is served. KC_CONFLICT at once when
 * its names are another's. */
int kc__apply_await_definition(kc_client *client, const kc_object *definition, int64_t timeout,
                               kc_error *err);

#endif
