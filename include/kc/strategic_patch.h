/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strategic_patch.h: strategic merge patches: merge patches that merge some lists by key.
 *
 *   {"spec": {"containers": [{"name": "web", "image": "nginx:2"}]}}
 *
 * changes one container of a pod and keeps the others, because the schema says that containers are
 * merged by `name`. Directives in a patch:
 *
 *   "$patch": "replace"                     in an object: it replaces the old one; in an element
 *                                           of a list: the other elements are the new list
 *   "$patch": "delete"                      in an object: it becomes {}; in an element: removes
 *                                           the elements with its key
 *   "$retainKeys": ["name", "emptyDir"]     removes members of the object not listed here
 *   "$setElementOrder/containers": […]      the order of the merged list (elements by their key)
 *   "$deleteFromPrimitiveList/finalizers": […]   values to remove from a list of values
 *
 * Semantics and messages are those of Kubernetes' strategicpatch package. Errors are
 * KC_BAD_REQUEST, and KC_INVALID for lists of lists. Differences from Kubernetes:
 *
 *   - numbers are one type (in Kubernetes 1 and 1.0 differ, and a list may not contain both);
 *   - $deleteFromPrimitiveList must be a list of values (in Kubernetes null removes the whole
 * field);
 *   - a created patch leaves out unchanged members, even in fields that are replaced as a whole,
 * and detects a changed order of values;
 *   - $setElementOrder for an empty list is no error, and elements that it does not list stay
 * behind those that it lists.
 *
 * As in Kubernetes, directives deeper inside a part that is taken as a whole (a new element, a
 * replaced value) are not interpreted and stay in it.
 */
#ifndef KC_STRATEGIC_PATCH_H
#define KC_STRATEGIC_PATCH_H

#include "kc/edit.h"
#include "kc/schema.h"

/*
 * The schema of one field. Strategies are those of x-kubernetes-patch-strategy, the key that of
 * x-kubernetes-patch-merge-key.
 */
typedef struct kc_patch_field {
    const void *object;  /* Schema node of the value if it is an object, and */
    const void *element; /* of its elements if it is a list. NULL if not applicable. */
    kc_str merge_key;    /* For a list of objects. */
    bool merge;          /* "merge": the list is merged. */
    bool replace;        /* "replace": the value is replaced as a whole. */
    bool retain_keys;    /* "retainKeys": created patches list the remaining members. */
} kc_patch_field;

/*
 * A source of strategies: any schema that implements one lookup. Schema nodes are opaque here; a
 * node describes an object. For a structural schema see kc_patch_schema_of.
 *
 * For objects whose members are not described, return true with `object` set to the node itself:
 * they are then merged as by a merge patch, and lists in them replaced.
 */
typedef struct kc_patch_schema {
    /* Describes the member `name` of the object that `node` describes, in *ret, which is zeroed.
     * False when there is no such member: it can then be added, replaced and removed, not merged.
     */
    bool (*field)(const void *node, kc_str name, kc_patch_field *ret);
    const void *root; /* Describes the patched objects. */
} kc_patch_schema;

/* From x-kubernetes-patch-strategy and x-kubernetes-patch-merge-key of a compiled schema, which
 * must live as long as the result. */
kc_patch_schema kc_patch_schema_of(const kc_schema *schema);

/* For pods, and for pod templates: the value of spec.template of a deployment. For callers without
 * a schema. */
extern const kc_patch_schema kc_patch_schema_pod;

/*
 * Merges the patch into the edit's tree, whose root must be an object. On error the tree is partly
 * patched: discard the edit. New members come last, in the patch's order. Time is proportional to
 * the sizes of patch and object, times the logarithm of their lists' lengths.
 */
int kc_strategic_patch_apply(kc_edit *edit, const kc_value *patch, const kc_patch_schema *schema,
                             kc_error *err);

typedef struct kc_strategic_patch_opts {
    /* As in merge_patch.h. */
    const char *const *unchanged;
    /* Three-way: fail with KC_CONFLICT when the patch changes a value that also changed
     * differently between original and current. By default the patch wins. */
    bool refuse_conflicts;
} kc_strategic_patch_opts;

/*
 * Two-way: an edit whose root is the patch that turns `from` into `to`, {} when they are equal.
 * NULL counts as an empty object; opts may be NULL. The caller frees the result. NULL on error.
 */
kc_edit *kc_strategic_patch_make(const kc_value *from, const kc_value *to,
                                 const kc_patch_schema *schema, const kc_strategic_patch_opts *opts,
                                 kc_error *err);

/*
 * Three-way: the patch that turns `current` into `modified`, but removes only what `original` (the
 * last applied state) contains and `modified` lacks.
 */
kc_edit *kc_strategic_patch_make3(const kc_value *original, const kc_value *modified,
                                  const kc_value *current, const kc_patch_schema *schema,
                                  const kc_strategic_patch_opts *opts, kc_error *err);

#endif
