/* SPDX-License-Identifier: Apache-2.0 */
/*
 * draft.h: the object that a write is building, from the decoded body to the prepared object.
 *
 *     decoded object ─ kc__draft_set ─▶ draft ─ kc__draft_edit: defaulting, admission, prepare ─▶
 *                                          kc__draft_freeze: one new object, type-checked once
 *
 * A draft holds its contents either as an object (bytes) or as a tree, never both. The first edit
 * opens the tree; every later edit uses the same tree; freezing closes it. A write that edits
 * nothing but metadata keeps the bytes and never builds a tree (call/metadata.h splices metadata
 * into bytes).
 *
 * metadata.managedFields is never part of the tree. It is often as long as the rest of the object,
 * the server itself writes it (request/own.c), and nothing edits it: while the tree is open, the
 * draft keeps its text apart, and freezing splices the text into the object after the type check.
 *
 * While the tree is open, members may stand in any order and optional members may be empty: the
 * type check of kc__draft_freeze puts them in order and drops what Go would not write. Code that
 * edits a draft must not rely on either.
 *
 * A draft belongs to one request and is used by one thread at a time. The zero value is empty.
 */
#ifndef KC_APISERVER_DRAFT_H
#define KC_APISERVER_DRAFT_H

#include "apiserver/kinds/resource.h"
#include "kc/arena.h"
#include "kc/buf.h"
#include "kc/edit.h"
#include "kc/object.h"

typedef struct kc__draft {
    kc_object *object;     /* The contents as bytes; NULL while the tree is open. */
    kc_view *view;         /* Of `object`, without managedFields; NULL if not parsed. */
    kc_edit *edit;         /* The contents as a tree; NULL while it is closed. */
    kc_buf managed_fields; /* Of the contents, while the tree is open; empty for none. */
} kc__draft;

/* Replaces the contents. The draft takes its own reference to the object. */
void kc__draft_set(kc__draft *draft, const kc_object *object);
/* The same with a view of the object without managedFields, which the draft takes over. NULL: none.
 */
void kc__draft_set_parsed(kc__draft *draft, const kc_object *object, kc_view *view);
/* The same, but takes over the caller's reference. */
void kc__draft_give(kc__draft *draft, kc_object *object);
bool kc__draft_is_empty(const kc__draft *draft);
/* Whether the contents are a tree now, so that an edit costs no parsing. */
bool kc__draft_is_open(const kc__draft *draft);

/* Returns the tree, which has no metadata.managedFields; opens it if it is closed. Not for an empty
 * draft. The tree lives until the draft is frozen, replaced or released. */
kc_edit *kc__draft_edit(kc__draft *draft);
/* The contents without metadata.managedFields, parsed at most once for the same contents: setting
 * managedFields or metadata keeps the view. Not for a draft that is empty or open. Lives until the
 * draft is changed. */
const kc_value *kc__draft_value(kc__draft *draft);
/* Replaces the metadata of a draft that is not open: `metadata` is canonical JSON without
 * managedFields, which are `managed`, or empty for none. */
int kc__draft_set_metadata(kc__draft *draft, kc_str metadata, kc_str managed,
                           kc_error *err) KC_MUST_CHECK;
/* Replaces metadata.managedFields by a canonical JSON array; removes it if the text is empty. The
 * text is copied. Not for an empty draft. */
void kc__draft_set_managed_fields(kc__draft *draft, kc_str json);

/*
 * Returns the contents as an object of the resource's type. Closes the tree: freezes it and checks
 * its types. A draft that is not open costs nothing. The draft keeps ownership of the object. NULL
 * on error (wrong type, too large); the draft then keeps its contents.
 */
const kc_object *kc__draft_freeze(kc__draft *draft, const kc__resource *resource, kc_error *err);

/* Returns metadata.name, or metadata.generateName if the object has no name yet, for messages.
 * The result lives as long as `arena`. */
kc_str kc__draft_name(const kc__draft *draft, kc_arena *arena);
/* Returns metadata.resourceVersion; empty if there is none. Lives as long as the contents. */
kc_str kc__draft_resource_version(const kc__draft *draft);

/* Moves the contents of a draft that is not open to the caller: the object and, if it was parsed,
 * its view. The draft is empty afterwards. */
kc_object *kc__draft_take(kc__draft *draft, kc_view **ret_view);

/* Releases the contents. The draft is empty afterwards. */
void kc__draft_clear(kc__draft *draft);

#endif
