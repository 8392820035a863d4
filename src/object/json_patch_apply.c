/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_patch_apply.c: carrying out the operations of a JSON patch, one function each. They find
 * places and work there (json_patch_place.c); here is what makes them different, and their limits.
 *
 * Copies are bounded in bytes. Depth must be bounded too, because copying and writing recurse and a
 * few operations can nest a document in itself; so what is added, copied or moved is measured
 * first, and measuring is bounded by `steps_left`.
 */
#include "object/json_patch_internal.h"
#include "object/patch_internal.h"

/* Nodes that may be looked at for measuring, all operations together. */
enum { MOST_STEPS = 20 * 1000 * 1000 };

/* Limits. */

/* Adds about the bytes of a node's text to *bytes. False when it is deeper than `levels` or has
 * more nodes than may still be looked at. */
static bool measure(kc__applier *a, const kc_node *node, size_t levels, size_t *bytes)
{
    kc_type type = kc_node_type(node);
    if (!a->steps_left)
        return false;
    a->steps_left--;
    *bytes += type == KC_STRING ? kc_node_as_str(node).n + 3 : 2;
    if (type != KC_ARRAY && type != KC_OBJECT)
        return true;
    if (!levels)
        return false;
    kc_node_items (node, item)
        if (!measure(a, item, levels - 1, bytes))
            return false;
    kc_node_members (node, name, value) {
        *bytes += name.n + 3;
        if (!measure(a, value, levels - 1, bytes))
            return false;
    }
    return true;
}

/* Whether a node may be put `depth` levels down; *ret_bytes is about its size. */
static int check_fits(kc__applier *a, const kc_node *node, size_t depth, size_t *ret_bytes)
{
    size_t levels = depth < KC_JSON_MAX_DEPTH ? KC_JSON_MAX_DEPTH - depth : 0;
    *ret_bytes = 0;
    if (measure(a, node, levels, ret_bytes))
        return 0;
    return kc_error_set(a->err, KC_INVALID, "%s",
                        a->steps_left ? "objects and arrays are nested too deeply"
                                      : "the patch copies and moves too much");
}

static int check_copy(kc__applier *a, const kc_node *node, size_t depth)
{
    size_t bytes;
    int failed = check_fits(a, node, depth, &bytes);
    if (failed < 0)
        return failed;
    a->copied += bytes;
    if (a->copied <= a->max_copy_bytes)
        return 0;
    return kc_error_set(a->err, KC_INVALID,
                        "Unable to complete the copy, the accumulated size increase of copy is "
                        "%zu, exceeding the limit %zu",
                        a->copied, a->max_copy_bytes);
}

/* The operation's value, as a node for a place that deep. */
static int value_node(kc__applier *a, size_t depth, kc_node **ret)
{
    size_t bytes;
    kc_node *node = a->op->value ? kc_node_copy(a->edit, a->op->value) : kc_node_null(a->edit);
    int failed = check_fits(a, node, depth, &bytes);
    if (failed == 0)
        *ret = node;
    return failed;
}

/* The operations. */

static int apply_add(kc__applier *a)
{
    kc__place p;
    kc_node *value;
    if (!kc__find_place(a, a->op->path, &p))
        return kc_error_set(
            a->err, KC_INVALID,
            "add operation does not apply: doc is missing path: \"%.*s\": missing value",
            KC_ARG(kc__shown(a->op->path)));
    int failed = value_node(a, p.depth, &value);
    if (failed == 0)
        failed = kc__add_at(a, &p, value);
    return failed < 0 ? kc_error_wrap(a->err, "error in add for path: '%.*s'",
                                      KC_ARG(kc__shown(a->op->path)))
                      : 0;
}

static int apply_remove(kc__applier *a)
{
    kc__place p;
    if (!kc__find_place(a, a->op->path, &p) || !p.container)
        return kc_error_set(
            a->err, KC_INVALID,
            "remove operation does not apply: doc is missing path: \"%.*s\": missing value",
            KC_ARG(kc__shown(a->op->path)));
    if (kc__remove_at(a, &p) < 0)
        return kc_error_wrap(a->err, "error in remove for path: '%.*s'",
                             KC_ARG(kc__shown(a->op->path)));
    return 0;
}

static int apply_replace(kc__applier *a)
{
    kc__place p;
    kc_node *value;
    if (!kc__find_place(a, a->op->path, &p))
        return kc_error_set(
            a->err, KC_INVALID,
            "replace operation does not apply: doc is missing path: %.*s: missing value",
            KC_ARG(kc__shown(a->op->path)));
    int failed = value_node(a, p.depth, &value);
    if (failed < 0)
        return kc_error_wrap(a->err, "error in replace for path: '%.*s'",
                             KC_ARG(kc__shown(a->op->path)));
    if (kc__replace_at(a, &p, value) < 0)
        return kc_error_set(
            a->err, KC_INVALID,
            "replace operation does not apply: doc is missing key: %.*s: missing value",
            KC_ARG(kc__shown(a->op->path)));
    return 0;
}

/* Takes the value at `from` out of the tree. */
static int take_from(kc__applier *a, kc_node **ret)
{
    kc__place p;
    if (!kc__find_place(a, a->op->from, &p) || !p.container)
        return kc_error_set(
            a->err, KC_INVALID,
            "move operation does not apply: doc is missing from path: %.*s: missing value",
            KC_ARG(kc__shown(a->op->from)));
    if (kc__get_at(a, &p, ret) < 0 || kc__remove_at(a, &p) < 0)
        return kc_error_wrap(a->err, "error in move for path: '%.*s'",
                             KC_ARG(kc__shown(a->op->from)));
    return 0;
}

static int apply_move(kc__applier *a)
{
    kc__place p;
    kc_node *value = NULL;
    size_t bytes;
    int failed = take_from(a, &value);
    if (failed < 0)
        return failed;
    if (!kc__find_place(a, a->op->path, &p))
        return kc_error_set(
            a->err, KC_INVALID,
            "move operation does not apply: doc is missing destination path: %.*s: missing value",
            KC_ARG(kc__shown(a->op->path)));
    failed = check_fits(a, value, p.depth, &bytes);
    if (failed == 0)
        failed = kc__add_at(a, &p, value);
    return failed < 0 ? kc_error_wrap(a->err, "error in move for path: '%.*s'",
                                      KC_ARG(kc__shown(a->op->path)))
                      : 0;
}

static int apply_copy(kc__applier *a)
{
    kc__place p;
    kc_node *value = NULL;
    if (!kc__find_place(a, a->op->from, &p))
        return kc_error_set(
            a->err, KC_INVALID,
            "copy operation does not apply: doc is missing from path: %.*s: missing value",
            KC_ARG(kc__shown(a->op->from)));
    if (kc__get_at(a, &p, &value) < 0)
        return kc_error_wrap(a->err, "error in copy for from: '%.*s'",
                             KC_ARG(kc__shown(a->op->from)));
    if (!kc__find_place(a, a->op->path, &p))
        return kc_error_set(
            a->err, KC_INVALID,
            "copy operation does not apply: doc is missing destination path: %.*s: missing value",
            KC_ARG(kc__shown(a->op->path)));
    int failed = check_copy(a, value, p.depth);
    if (failed < 0)
        return failed;
    failed = kc__add_at(a, &p, value ? kc_node_clone(a->edit, value) : kc_node_null(a->edit));
    return failed < 0 ? kc_error_wrap(a->err, "error while adding value during copy") : 0;
}

static int apply_test(kc__applier *a)
{
    kc__place p;
    kc_node *value = NULL;
    if (!kc__find_place(a, a->op->path, &p))
        return kc_error_set(a->err, KC_INVALID,
                            "test operation does not apply: is missing path: %.*s: missing value",
                            KC_ARG(kc__shown(a->op->path)));
    if (kc__get_at(a, &p, &value) < 0)
        return kc_error_wrap(a->err, "error in test for path: '%.*s'",
                             KC_ARG(kc__shown(a->op->path)));
    bool wants_null = kc_type_of(a->op->value) <= KC_NULL, is_null = kc_node_type(value) <= KC_NULL;
    if (wants_null ? is_null : !is_null && kc__same_node(value, a->op->value))
        return 0;
    return kc_error_set(a->err, KC_INVALID, "testing value %.*s failed: test failed",
                        KC_ARG(kc__shown(a->op->path)));
}

static int (*const kinds[])(kc__applier *a) = {
    [KC__OP_ADD] = apply_add,   [KC__OP_REMOVE] = apply_remove, [KC__OP_REPLACE] = apply_replace,
    [KC__OP_MOVE] = apply_move, [KC__OP_COPY] = apply_copy,     [KC__OP_TEST] = apply_test,
};

int kc_json_patch_apply(const kc_json_patch *patch, kc_edit *edit, kc_error *err)
{
    kc__applier a = {.edit = edit,
                     .max_copy_bytes = patch->max_copy_bytes,
                     .steps_left = MOST_STEPS,
                     .err = err};
    int failed = 0;
    for (size_t i = 0; i < patch->ops.n && failed == 0; i++) {
        a.op = &patch->ops.items[i];
        failed = kinds[a.op->kind](&a);
        if (failed < 0)
            kc_error_wrap(err, "operation %zu", i);
    }
    kc__applier_done(&a);
    return failed < 0 ? -(int)KC_INVALID : 0;
}
