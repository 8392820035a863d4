/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strategic_patch.h: strategic merge patches: merge patches that know which lists are really maps.
 *
 *     {"spec": {"containers": [{"name": "web", "image": "nginx:2"}]}}
 *
 * changes one container of a pod and keeps the others, because the schema says that containers are
 * merged by `name`. Directives in a patch say more:
 *
 *     "$patch": "replace"                     in an object: it replaces the old one; in an element
 *                                             of a list: the other elements are the new list
 *     "$patch": "delete"                      in an object: it becomes {}; in an element: the
 *                                             elements with its key are removed
 *     "$retainKeys": ["name", "emptyDir"]     members of the object not named here are removed
 *     "$setElementOrder/containers": […]      the order of the merged list (elements by their key)
 *     "$deleteFromPrimitiveList/finalizers": […]   values to be removed from a list of values
 *
 * Semantics and messages are those of Kubernetes' strategicpatch package. Errors are
 * KC_BAD_REQUEST, and KC_INVALID for lists of lists. What is different, and why:
 *
 *   - numbers are one type (there 1 and 1.0 are not equal, and a list may not hold both);
 *   - $deleteFromPrimitiveList must be a list of values (there null removes the whole field);
 *   - making a patch leaves out what did not change, even in fields that are replaced as a whole,
 *     and notices a changed order of values;
 *   - $setElementOrder for an empty list is no error, and what it does not name stays behind what
 *     it names.
 *
 * As there, directives deeper inside a part that is taken over as a whole (a new element, a
 * replaced value) are not looked for, and stay in it.
 */
#ifndef KC_STRATEGIC_PATCH_H
#define KC_STRATEGIC_PATCH_H

#include "kc/edit.h"
#include "kc/schema.h"

/*
 * What a schema says about one field. Strategies are those of x-kubernetes-patch-strategy, the key
 * that of x-kubernetes-patch-merge-key.
 */
typedef struct kc_patch_field {
    const void *object;  /* Describes the field's value where that is an object, and */
    const void *element; /* its elements where it is a list. Either may be NULL where it is not. */
    kc_str merge_key;    /* Of a list of objects. */
    bool merge;          /* "merge": the list is merged. */
    bool replace;        /* "replace": the value is replaced as a whole. */
    bool retain_keys;    /* "retainKeys": patches made say which members remain. */
} kc_patch_field;

/*
 * Where strategies come from: any kind of schema that can answer one question. Nodes of the schema
 * are opaque here; a node describes an object. For a structural schema see kc_patch_schema_of.
 *
 * For objects whose members are not described, answer true with `object` the node itself: they are
 * then merged as a merge patch would, and lists in them replaced.
 */
typedef struct kc_patch_schema {
    /* About the member `name` of what `node` describes, into *ret, which is zeroed. False when it
     * has none of this name: then the member can be added, replaced and removed, not merged. */
    bool (*field)(const void *node, kc_str name, kc_patch_field *ret);
    const void *root; /* Describes the objects that are patched. */
} kc_patch_schema;

/* By x-kubernetes-patch-strategy and x-kubernetes-patch-merge-key of a compiled schema, which must
 * live as long as the result. */
kc_patch_schema kc_patch_schema_of(const kc_schema *schema);

/* Of pods, and of a pod's template: what is at spec.template of a deployment. For who has no schema
 * at hand. */
extern const kc_patch_schema kc_patch_schema_pod;

/*
 * Merges the patch into the edit's tree, whose root must be an object. 0, or negative: then the
 * tree is half patched and the edit is to be thrown away. New members come last, in the patch's
 * order. Takes time in proportion to patch and object, times the logarithm of their lists' lengths.
 */
int kc_strategic_patch_apply(kc_edit *edit, const kc_value *patch, const kc_patch_schema *schema,
                             kc_error *err);

typedef struct kc_strategic_patch_opts {
    /* As in merge_patch.h. */
    const char *const *unchanged;
    /* Three-way: fail with KC_CONFLICT when the patch changes what has also been changed, in
     * another way, from original to current. By default the patch wins. */
    bool refuse_conflicts;
} kc_strategic_patch_opts;

/*
 * Two-way: an edit whose root is the patch that turns `from` into `to`, {} when they are equal.
 * NULL is taken as an empty object, as opts may be. The caller frees the result. NULL on error.
 */
kc_edit *kc_strategic_patch_make(const kc_value *from, const kc_value *to,
                                 const kc_patch_schema *schema, const kc_strategic_patch_opts *opts,
                                 kc_error *err);

/*
 * Three-way: what turns `current` into `modified`, except that only that is removed which
 * `original` (what was applied last) had and `modified` lacks.
 */
kc_edit *kc_strategic_patch_make3(const kc_value *original, const kc_value *modified,
                                  const kc_value *current, const kc_patch_schema *schema,
                                  const kc_strategic_patch_opts *opts, kc_error *err);

#endif
