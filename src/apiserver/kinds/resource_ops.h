/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resource_ops.h: the operations on objects of a resource, and the wire conventions of its API,
 * independent of the origin of the resource. There are two implementations:
 *
 *     kc__builtin_resource_ops   kinds/builtin_ops.c   types and strategies compiled in
 *     kc__custom_resource_ops    crd/custom_ops.c      the schema of a CustomResourceDefinition
 *
 * kc__resource.ops is one of them and never NULL after registration (registry.h). Code above calls
 * through it and does not check which one it is:
 *
 *     kc_object *stored = resource->ops->to_stored(resource, object, err);
 *
 * Order of a write (request/phases.c):
 *
 *     decode ─▶ default_ ─▶ field ownership ─▶ mutating admission ─▶ prepare_create or
 *     prepare_update ─▶ check_type ─▶ validate, warn ─▶ validating admission ─▶ to_stored
 *
 * Differences between single resources are data and fields of kc__resource: columns, selectable
 * fields, schema. Differences that exist because Kubernetes serves built-in resources from
 * kube-apiserver and custom resources from apiextensions-apiserver, which word some responses
 * differently, are members of this struct, each under its own name.
 *
 * To add an operation: add a member here with its contract, and an implementation in both files. An
 * operation may be NULL only where its contract says so. Prefer properties (bool, text) to
 * functions where a constant is enough.
 *
 * Every operation depends only on its arguments, may be called from any thread, and does not block.
 * Operations that return an object return a new reference, to the same object when nothing changes;
 * NULL is an error.
 */
#ifndef KC_APISERVER_RESOURCE_OPS_H
#define KC_APISERVER_RESOURCE_OPS_H

#include "apiserver/kinds/draft.h"
#include "apiserver/kinds/resource.h"
#include "kc/edit.h"
#include "kc/field_error.h"
#include "kc/json.h"
#include "kc/object.h"

struct kc__scale_values;            /* scale_values.h */
struct kc__resource_topology;       /* topology.h */
struct kc__resource_topology_cache; /* topology.h */
struct kc__remote_converted;        /* remote_conversion.h */
struct kc__remote_conversion;       /* remote_conversion.h */

/* The input of decode besides the object. The zero value: an object from inside the server. */
typedef struct kc__resource_decode_source {
    kc_str text;  /* The JSON that the client sent. Defaults to the object's own text. */
    bool is_json; /* `text` is the unmodified body, which may contain duplicate fields. */
    const kc_paths *duplicate; /* Duplicate fields of a body in another encoding. */
    bool report_strict_errors; /* Collect strict decoding errors. */
    bool patched;              /* The object is the result of a patch, not a request body. */
    /* The object is the result of an apply: nulls that the schema does not allow stay, and so does
     * the metadata of embedded resources as it was merged. */
    bool applied;
    /* Receives a view of the decoded object without managedFields, if decoding has made one. NULL:
     * not needed. */
    kc_view **ret_view;
} kc__resource_decode_source;

/* An object to validate, and the object it replaces. */
typedef struct kc__resource_change {
    const kc_value *object;
    const kc_value *old;     /* NULL: the object is new. */
    const char *part;        /* The subresource of the change: "status". NULL: the whole object. */
    const char *subresource; /* The same, but also set for scale. */
    bool invalid;            /* For `warn`: validation found errors. */
    kc_paths *warnings;      /* For `validate`: receives its warnings. May be NULL. */
    /* For `validate`: set on an event loop. A validation that would take long stops and sets
     * *ret_unfinished; the caller repeats it on a worker thread. */
    bool *ret_unfinished;
} kc__resource_change;

typedef struct kc__resource_ops {
    /* ---- properties ---- */

    /* Writes edit objects in the version of the request and convert to the stored form at the
     * end. False: defaulting converts, and the later phases see the stored form. */
    bool edits_served_form;
    /* `decode` checks apiVersion and kind. False: the caller checks them before. */
    bool decode_checks_kind;
    /* The resource supports strategic merge patch. */
    bool has_strategic_patch;
    /* Error message for a patch of an unknown media type; NULL: the generic message of 415. */
    const char *unknown_patch_error;
    /* `managedFields: []` keeps the owners; `[{}]` clears them. False: both clear them. */
    bool ignores_empty_owners;
    /* `decode` keeps empty lists and maps, `check_type` makes null of those that Kubernetes'
     * storage returns as nil. */
    bool stores_empty_as_null;
    /* The Go scheme named in errors about a subresource body, and whether a body of any other
     * kind is reported as not registered in that scheme. */
    const char *body_scheme;
    bool body_scheme_is_closed;

    /* ---- decode ---- */

    /* Gives *object the type of the resource's version: drops unknown fields and checks values.
     * Replaces *object. Adds the strict decoding errors to `strict_errors`, also on failure;
     * `strict_errors` may be NULL. Returns 0, or negative with the error message of Kubernetes'
     * decoder. */
    int (*decode)(const kc__resource *resource, kc_object **object,
                  const kc__resource_decode_source *source, kc_paths *strict_errors, kc_error *err);

    /* ---- the draft ---- */

    /* Sets absent fields to their defaults. Without edits_served_form the draft has the stored
     * form afterwards. Returns 0 or negative. */
    int (*default_)(const kc__resource *resource, kc__draft *draft, kc_error *err);
    /* Sets and clears the fields that the server controls in an object that is created. The
     * metadata is complete by then. Returns 0 or negative. */
    int (*prepare_create)(const kc__resource *resource, kc__draft *draft, kc_error *err);
    /* The same for an update of `old`: fields that the request may not change are taken from
     * `old`. `part` names the subresource; NULL: none, or scale. Returns 0 or negative. */
    int (*prepare_update)(const kc__resource *resource, kc__draft *draft, const kc_object *old,
                          const char *part, kc_error *err);
    /* Gives an edited object its type: ordered, complete, checked (kc__draft_freeze). */
    kc_object *(*check_type)(const kc__resource *resource, const kc_object *object, kc_error *err);
    /* Whether a change increments metadata.generation. `part` as above. */
    bool (*grows_generation)(const kc__resource *resource, const kc_object *object,
                             const kc_object *old, const char *part);

    /* ---- validation ---- */

    void (*validate)(const kc__resource *resource, const kc__resource_change *change,
                     kc_field_errors *errors);
    void (*warn)(const kc__resource *resource, const kc__resource_change *change,
                 kc_paths *warnings);

    /* ---- storage ---- */

    /* Convert to the stored form, and from the stored form to the resource's version. */
    kc_object *(*to_stored)(const kc__resource *resource, const kc_object *object, kc_error *err);
    kc_object *(*from_stored)(const kc__resource *resource, const kc_object *stored, kc_error *err);
    /* from_stored parses and changes objects (defaults, pruning): readers inspect the result,
     * and convert long objects on a worker thread. False: stored bytes are served unchanged,
     * except where kc__convert_is_needed is true. */
    bool transforms_on_read;
    /* Kubernetes stores the metadata of an applied custom object as it was merged, and coerces it
     * to an ObjectMeta when it reads the object. The next three are NULL for other resources.
     *
     * Writes the members of merged metadata that ObjectMeta drops or changes as a JSON object, or
     * nothing. */
    void (*find_merged_metadata)(const kc_value *metadata, kc_buf *out);
    /* The stored form with these members, except those that a later phase has changed. */
    kc_object *(*with_merged_metadata)(const kc_object *stored, kc_str members, kc_error *err);
    /* A stored object whose metadata is coerced, for readers of metadata. Never NULL. */
    kc_object *(*coerce_metadata)(const kc_object *stored);

    /* ---- field ownership ---- */

    /* The topology of the resource's version; never NULL. Topologies of built-in kinds are in
     * `cache`, which outlives the result. */
    const struct kc__resource_topology *(*topology)(const kc__resource *resource,
                                                    struct kc__resource_topology_cache *cache);
    /* True if the next call of `topology` or `to_version` may take more than a millisecond. NULL:
     * never. Any thread. */
    bool (*topology_is_slow)(const kc__resource *resource);
    /* Converts an object of any version of the kind to another one, served or not, with the
     * topology of that version. NULL without an error: there is no such version. */
    kc_object *(*to_version)(const kc__resource *resource, const kc_object *object,
                             kc_str api_version, struct kc__resource_topology_cache *cache,
                             const struct kc__resource_topology **ret_topology, kc_error *err);
    /* The path of the spec replicas in a version of the kind, ".spec.replicas"; empty if the
     * version has no scale subresource. False: there is no such version. */
    bool (*replicas_path)(const kc__resource *resource, kc_str api_version, kc_str *ret_path);

    /* ---- conversion by a webhook (remote_conversion.h); NULL: never ---- */

    /* Whether only a webhook can convert the object to the resource's version, or to the storage
     * version; `object` NULL: whether this is so for any object. from_stored then returns the kept
     * conversion, and fails if there is none; to_stored fails. */
    bool (*is_converted_remotely)(const kc__resource *resource, const kc_object *object,
                                  bool to_storage);
    /* Pins the kept conversion of a stored object; NULL: none is kept. */
    struct kc__remote_converted *(*pin_converted)(const kc__resource *resource,
                                                  const kc_object *stored);
    /* Starts a job. Any thread. */
    void (*convert_remotely)(struct kc__remote_conversion *job);
    /* Whether the webhook has converted an object, or there was none when the CRD changed. */
    bool (*is_converting)(const kc__resource *resource);

    /* ---- the CRD of the resource ---- */

    /* Whether the CRD is being deleted, so that creates are rejected. NULL: never. */
    bool (*is_terminating)(const kc__resource *resource);
    /* Returns the gate that a create passes before it reaches the store (create_gate.h). NULL:
     * none. */
    struct kc__resource_create_gate *(*create_gate)(const kc__resource *resource);
    /* Whether the resource of two catalogs serves its objects in the same way; if not, watches of
     * the resource end. NULL: the resource never changes while the server runs. */
    bool (*serves_alike)(const kc__resource *a, const kc__resource *b);

    /* ---- scale subresource ---- */

    /* Reads the replica counts of an object in the resource's version. `text` is a buffer for
     * the selector; the result may point into it or into the object. If the object has no spec
     * replicas, the count is 0, or the call fails with KC_INTERNAL if `required`.
     * KC_BAD_REQUEST: a value has the wrong type. Returns 0 or negative. */
    int (*read_scale)(const kc__resource *resource, const kc_value *object, bool required,
                      kc_buf *text, struct kc__scale_values *ret, kc_error *err);
    /* Sets the spec replicas. Returns 0 or negative. */
    int (*write_scale)(const kc__resource *resource, kc_edit *edit, int64_t replicas,
                       kc_error *err);
    /* Whether a Scale from a client is validated (replicas, metadata, uid) before it is applied. */
    bool validates_scale;
    /* The error message for a Scale that cannot be decoded. NULL: the decoder's message. */
    const char *scale_decode_error;

    /* ---- paths and verbs ---- */

    /* An unknown path below the group returns "404 page not found" as plain text, not a Status. */
    bool unknown_path_is_plain_text;
    /* An unknown subresource returns NotFound for the object, not for the path. */
    bool unknown_subresource_names_object;
    /* Path segments after a subresource are ignored, not rejected. */
    bool ignores_path_suffix;
    /* Sets the error for a verb that a subresource does not support. NULL: the generic error. */
    void (*set_verb_error)(const kc__resource *resource, const char *verb, kc_error *err);

    /* ---- lists and selectors ---- */

    bool list_items_have_kind;    /* Items of a list have kind and apiVersion. */
    bool list_has_empty_continue; /* The last page has "continue":"". */
    /* Sets the error for a field selector with an unknown field, for a resource without
     * selectable fields of its own. */
    void (*set_field_error)(kc_str field, kc_error *err);

    /* ---- discovery ---- */

    /* The order of the verbs, as bit numbers of the verbs in resource.h. */
    unsigned char verb_order[KC__N_VERBS];
    /* Aggregated discovery includes group and version in a responseKind even if they equal those
     * of the enclosing list. */
    bool discovery_names_group;
} kc__resource_ops;

extern const kc__resource_ops kc__builtin_resource_ops; /* kinds/builtin_ops.c */

/* Whether a resource is served in the same way as the same resource of another catalog. `b` may be
 * NULL: the other catalog does not have the resource. */
static inline bool kc__resource_serves_alike(const kc__resource *a, const kc__resource *b)
{
    return b && a->ops == b->ops && (!a->ops->serves_alike || a->ops->serves_alike(a, b));
}

#endif
