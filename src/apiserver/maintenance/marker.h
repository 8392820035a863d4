/* SPDX-License-Identifier: Apache-2.0 */
/* marker.h: stores, reads and removes the marker of a store that is being filled
 * (storage/stored_marker.h), and empties a store that an interrupted command left. */
#ifndef KC_APISERVER_MAINTENANCE_MARKER_H
#define KC_APISERVER_MAINTENANCE_MARKER_H

#include "apiserver/storage/stored_marker.h"

/* Appends the marker's value to `value`, to which *ret_marker points. The operation is empty if the
 * store has no marker. */
int kc__maintenance_marker_get(kc__storage *storage, kc_buf *value, kc__storage_marker *ret_marker,
                               kc_error *err);
/* Fails if the store has a marker: it is incomplete. */
int kc__maintenance_require_complete(kc__storage *storage, kc_error *err);

/*
 * Prepares a store to be filled by `operation` from a source at `revision`: stores the marker and
 * raises the revision of the store to at least `raised`. A store that an interrupted run of the
 * operation left is emptied, unless its marker names the same revision and `ret_after` is not NULL:
 * it then gets the key to continue after. KC_CONFLICT if the store has other keys.
 */
int kc__maintenance_begin_fill(kc__storage *storage, const char *operation, uint64_t revision,
                               uint64_t raised, kc_buf *ret_after, kc_error *err);
/* Removes the marker, and all history: earlier revisions are then expired. */
int kc__maintenance_end_fill(kc__storage *storage, kc_error *err);

/* Why a backend refused an operation: sets the error, and returns it. */
int kc__maintenance_refused(const kc__storage_op *op, kc_error *err);
/* Commits puts and deletions of different keys, all of which must be stored. In a shared backend
 * each is stored on its own, in any order. */
int kc__maintenance_commit(kc__storage *storage, const kc__storage_op *ops, size_t n_ops,
                           kc_error *err);

#endif
