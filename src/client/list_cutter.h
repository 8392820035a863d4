/* SPDX-License-Identifier: Apache-2.0 */
/*
 * list_cutter.h: a list's JSON, cut into its items while its bytes come.
 *
 *     kc_scoped(kc__cutter) cutter = {.kind = kind, .each = keep, .user = &items};
 *     while ((n = kc_http_read(r, chunk, sizeof(chunk), err)) > 0)
 *         if (kc__cutter_feed(&cutter, kc_str_of(chunk, n), err) < 0)
 *             …
 *     if (!(list = kc__cutter_end(&cutter, err)))
 *
 * A server sends a list of 100,000 objects as one text. Here each is an object as soon as its last
 * byte has come, and no more is held than one item's bytes and the list without its items. Servers
 * leave apiVersion and kind out of the items of a list: they are put back.
 */
#ifndef KC_CLIENT_LIST_CUTTER_H
#define KC_CLIENT_LIST_CUTTER_H

#include "client/json_walk.h"
#include "kc/client.h"

/* Of everything but the items. */
#define KC__CUTTER_MAX_REST ((size_t)1 << 20)

/* Zeroed but for the first three. */
typedef struct kc__cutter {
    const kc_kind *kind; /* Of items that do not say. NULL: they stay as they are. */
    kc_each_object *each;
    void *user;
    size_t max_item; /* Defaults to KC_JSON_MAX_BYTES. */

    kc__walk list; /* Over the list's own members. */
    enum { KC__CUTTER_REST, KC__CUTTER_AT_ITEM, KC__CUTTER_IN_ITEM, KC__CUTTER_AT_COMMA } state;
    kc_buf rest;   /* The list with "items":[]. */
    bool first;    /* No item has been read: ']' may come. */
    kc__walk walk; /* Over the item's members. */
    bool has_kind, has_api_version;
    kc_buf item;   /* The item so far, behind room for `prefix`. */
    kc_buf prefix; /* {"kind":"Pod","apiVersion":"v1" */
} kc__cutter;

void kc__cutter_done(kc__cutter *cutter);

/* Gives each item that is complete. An error ends it: what `each` said, KC_TOO_LARGE beyond a
 * limit, KC_INTERNAL for what is no list. */
int kc__cutter_feed(kc__cutter *cutter, kc_str bytes, kc_error *err);
/* After the last byte: the list without its items (resourceVersion, continue, …). The caller's. */
kc_object *kc__cutter_end(kc__cutter *cutter, kc_error *err);

/* Appends {"kind":"Pod","apiVersion":"v1" */
void kc__kind_prefix(kc_buf *out, const kc_kind *kind);
/* An object of its text, with apiVersion and kind put in where it lacks them. */
kc_object *kc__object_of_kind(kc_str json, const kc_kind *kind, kc_error *err);

#endif
