/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fields_managed.h: metadata.managedFields: its entries, and what writes do to them.
 *
 *     kc_scoped(kc__fields_managed) managed = {.arena = arena};
 *     kc_auto(kc_view) *view = kc__fields_managed_take(&managed, live, err);
 *     kc__fields_managed_apply(&managed, &request, &value, err);
 *     kc__fields_managed_write(&out, &managed);
 *
 * The live and the new object are passed without metadata.managedFields. The rules are those of
 * apimachinery's managedfields: the time of an entry changes only with its object; metadata that
 * every object has gets no owner; at most KC__FIELDS_MAX_UPDATERS entries of updates are kept,
 * older ones become one entry, "ancient-changes".
 *
 * The text of a set that a write does not change is written as it was read. Not thread-safe; text
 * that was read must live as long as the managed fields.
 */
#ifndef KC_FIELDS_MANAGED_H
#define KC_FIELDS_MANAGED_H

#include "kc/edit.h"
#include "kc/object.h"
#include "object/fields/fields_updater.h"

/* Entries of operation Update of one object. */
enum { KC__FIELDS_MAX_UPDATERS = 10 };
/* Text of the conflicts of one apply, after which they are counted but not listed. */
enum { KC__FIELDS_MAX_CONFLICT_BYTES = 1024 * 1024 };

/* An entry of metadata.managedFields. */
typedef struct kc__fields_owner {
    kc_str id; /* The identifier that upstream builds: the entry as JSON without time and fields. */
    kc_str manager, subresource, version;
    bool applied;
    kc_str time; /* As in the object; empty for none. */
    int64_t seconds;
    const kc__fields_set *set;
    kc_str text;                       /* FieldsV1 as it was read … */
    const kc__fields_set *set_of_text; /* … and what it parsed to. */
} kc__fields_owner;

typedef struct kc__fields_managed {
    kc_arena *arena;
    KC_VEC(kc__fields_owner) owners;
} kc__fields_managed;

void kc__fields_managed_done(kc__fields_managed *managed);

/*
 * Parses the JSON text of metadata.managedFields, which must be canonical; an empty text has no
 * entries. Of entries with the same identifier the last counts. Fails with KC_BAD_REQUEST and
 * upstream's messages; `managed` then has no entries.
 */
int kc__fields_managed_read(kc__fields_managed *managed, kc_str json, kc_error *err) KC_MUST_CHECK;
/*
 * The entries of an object, and a view of the object without metadata.managedFields: one pass over
 * the text. The object must live as long as the managed fields; the caller frees the view. NULL
 * when the entries are not valid.
 */
kc_view *kc__fields_managed_take(kc__fields_managed *managed, const kc_object *object,
                                 kc_error *err);
/* A view of an object without metadata.managedFields. The caller frees it. */
kc_view *kc__fields_view_of(const kc_object *object);
/* The value of an edit's tree without metadata.managedFields. Allocated in the arena; shares the
 * strings of the tree, which must live as long. */
const kc_value *kc__fields_value_of_tree(kc_arena *arena, const kc_node *root);
/* True when managedFields of a request mean: forget all owners. These are [] and [{}]. */
bool kc__fields_managed_is_reset(kc_str json);
/* Appends the entries as a JSON array, sorted as upstream does. Call only if there are some. */
void kc__fields_managed_write(kc_buf *out, kc__fields_managed *managed);

/* What a write needs to know. */
typedef struct kc__fields_request {
    const kc__fields_updater *updater;
    kc__fields_typed live; /* Without managedFields; of the version of the request. An empty object
                            * (as the kind's decoder makes it) for a creation. */
    kc__fields_typed object; /* Of an update: the new object. Of an apply: the configuration. */
    kc_str manager;          /* Defaults to "unknown". */
    kc_str subresource;      /* Defaults to none. */
    kc_str now;              /* RFC 3339, UTC, seconds. */
    bool force;              /* Of an apply. */
    /* Of an apply: fields that it takes from other managers without force. Defaults to none. */
    const kc__fields_set *(*allowed)(kc_arena *arena, void *user);
    void *user; /* Of allowed. */
} kc__fields_request;

/* Updates the entries for a write other than apply. Negative when a conversion fails. */
int kc__fields_managed_update(kc__fields_managed *managed, const kc__fields_request *request,
                              kc_error *err) KC_MUST_CHECK;
/*
 * Applies a configuration. *ret_value is the new object, allocated in the arena, or NULL when it
 * equals the live one. Conflicts are an error: KC_CONFLICT with upstream's message and one cause
 * per field; the entries are then unchanged. If all conflicts are about allowed fields, the apply
 * is forced; if some are, the error lists the others. `allowed` is called once there are
 * conflicts.
 */
int kc__fields_managed_apply(kc__fields_managed *managed, const kc__fields_request *request,
                             const kc_value **ret_value, kc_error *err) KC_MUST_CHECK;
/* Before the first apply to an object without entries: gives all fields of the live object to the
 * manager "before-first-apply". `empty` is an empty object of the kind. */
int kc__fields_managed_begin(kc__fields_managed *managed, const kc__fields_request *request,
                             const kc_value *empty, kc_error *err) KC_MUST_CHECK;

/*
 * The fields of `object` that `manager` applied through `subresource` (empty for none), as an apply
 * configuration with apiVersion, kind, name and namespace; without fields if the manager applied
 * none. The caller owns the result. NULL with KC_INVALID when the object does not match its type,
 * or has none of the manager's fields.
 */
kc_object *kc__fields_extract_applied(const kc__fields_type *type, const kc_object *object,
                                      kc_str manager, kc_str subresource, kc_error *err);

#endif
