/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stored_marker.h: the key that marks a store as incomplete while `kc store restore` or `kc store
 * migrate` fills it.
 *
 *     /kc/incomplete    "migrate\n1204\n/registry/pods/default/web"
 *                        operation, revision of the source, last copied key
 *
 * The key is outside of the keys of objects. It is stored before the first object and removed after
 * the last one, so a store that an interrupted operation left behind has it: a server refuses the
 * store, and the same command continues or starts again.
 */
#ifndef KC_APISERVER_STORED_MARKER_H
#define KC_APISERVER_STORED_MARKER_H

#include "apiserver/storage/storage.h"

#define KC__STORAGE_MARKER_KEY "/kc/incomplete"

/* Borrows its strings. An operation that is empty: the store is complete. */
typedef struct kc__storage_marker {
    kc_str operation;  /* "restore", "migrate" */
    uint64_t revision; /* Of the source. */
    kc_str after;      /* The last key that is complete; empty: none. */
} kc__storage_marker;

bool kc__storage_marker_is_key(kc_str key);
/* Appends the stored form. */
void kc__storage_marker_write(kc_buf *out, const kc__storage_marker *marker);
/* Decodes a stored form; the marker points into it. Returns false if it is not one. */
bool kc__storage_marker_read(kc_str value, kc__storage_marker *ret_marker);
/* Sets the error of a store that has a marker with this value; the message names the command that
 * completes it. Returns -KC_STORE_READ_ERROR. */
int kc__storage_marker_refuse(kc_str value, kc_error *err);

#endif
