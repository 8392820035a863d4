/* SPDX-License-Identifier: Apache-2.0 */
/*
 * list_splitter.h: splits the JSON of a list into its items while the bytes arrive.
 *
 *     kc_scoped(kc__stream_splitter) cutter = {.kind = kind, .each = keep, .user = &items};
 *     while ((n = kc_http_response_read(r, chunk, sizeof(chunk), err)) > 0)
 *         if (kc__stream_splitter_feed(&cutter, kc_str_of(chunk, n), err) < 0)
 *             …
 *     if (!(list = kc__stream_splitter_end(&cutter, err)))
 *
 * A server sends a list of 100,000 objects as one text. The splitter makes each item an object as
 * soon as its last byte has arrived, and buffers only the bytes of one item and the list without
 * its items. Servers omit apiVersion and kind from the items of a list; the splitter adds them.
 */
#ifndef KC_CLIENT_STREAM_LIST_SPLITTER_H
#define KC_CLIENT_STREAM_LIST_SPLITTER_H

#include "client/stream/json_walk.h"
#include "kc/client.h"

/* Limit of everything but the items. */
#define KC__STREAM_SPLITTER_MAX_REST ((size_t)1 << 20)

/* Set the first three fields; zero the others. */
typedef struct kc__stream_splitter {
    const kc_kind
        *kind; /* Applies to items that do not state their kind. NULL: items stay unchanged. */
    kc_each_object_fn *each;
    void *user;
    size_t max_item; /* Defaults to KC_JSON_MAX_BYTES. */

    kc__stream_walk list; /* Over the members of the list. */
    enum {
        KC__STREAM_SPLITTER_REST,
        KC__STREAM_SPLITTER_AT_ITEM,
        KC__STREAM_SPLITTER_IN_ITEM,
        KC__STREAM_SPLITTER_AT_COMMA
    } state;
    kc_buf rest;          /* The list with "items":[]. */
    bool first;           /* No item has been read: ']' is allowed. */
    kc__stream_walk walk; /* Over the members of the item. */
    bool has_kind, has_api_version;
    kc_buf item;   /* The item so far, after space for `prefix`. */
    kc_buf prefix; /* {"kind":"Pod","apiVersion":"v1" */
} kc__stream_splitter;

void kc__stream_splitter_done(kc__stream_splitter *cutter);

/* Calls `each` for each complete item. Errors are final: that of `each`, KC_TOO_LARGE beyond a
 * limit, KC_INTERNAL if the text is not a list. */
int kc__stream_splitter_feed(kc__stream_splitter *cutter, kc_str bytes, kc_error *err);
/* After the last byte: returns the list without its items (resourceVersion, continue, …). Owned
 * by the caller. */
kc_object *kc__stream_splitter_end(kc__stream_splitter *cutter, kc_error *err);

/* Appends {"kind":"Pod","apiVersion":"v1" */
void kc__stream_kind_prefix(kc_buf *out, const kc_kind *kind);
/* Parses an object and adds apiVersion and kind if it lacks them. */
kc_object *kc__stream_object_of_kind(kc_str json, const kc_kind *kind, kc_error *err);

#endif
