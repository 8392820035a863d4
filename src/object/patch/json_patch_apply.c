/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_patch_apply.c: executes the operations of a JSON patch, one function each. They find and
 * change targets with json_patch_target.c; this file has the semantics of each operation, and the
 * limits.
 *
 * The bytes of copies are limited, and so is the whole document if the caller sets a limit: `size`
 * grows with everything that is added; when it reaches the limit, the document is measured to
 * account for removals. So no operation runs on a document that is too large. Depth is limited,
 * too, because copying and writing recurse and a few operations can nest a document in itself; so a
 * value is measured before it is added, copied or moved, and `steps_left` limits the measuring.
 */
#include "base/work.h"
#include "object/patch/json_patch_internal.h"
#include "object/patch/patch_internal.h"

/* Nodes that may be visited for measuring, by all operations together. */
enum { MOST_STEPS = 20 * 1000 * 1000 };

/* ---- limits ---- */

/* Adds the approximate bytes of a node's text to *bytes. False when it is deeper than `levels` or
 * exceeds the steps left. */
static bool json_patch_apply_measure(kc__patch_applier *a, const kc_node *node, size_t levels,
                                     size_t *bytes)
{
    kc_json_type type = kc_node_type(node);
    if (!a->steps_left)
        return false;
    a->steps_left--;
    *bytes += type == KC_JSON_STRING ? kc_node_as_str(node).n + 3 : 2;
    if (type != KC_JSON_ARRAY && type != KC_JSON_OBJECT)
        return true;
    if (!levels)
        return false;
    kc_node_each_item (node, item)
        if (!json_patch_apply_measure(a, item, levels - 1, bytes))
            return false;
    kc_node_each_member (node, name, value) {
        *bytes += name.n + 3;
        if (!json_patch_apply_measure(a, value, levels - 1, bytes))
            return false;
    }
    return true;
}

/* Checks that a node may be placed at `depth`; *ret_bytes is its approximate size. */
static int check_fits(kc__patch_applier *a, const kc_node *node, size_t depth, size_t *ret_bytes)
{
    size_t levels = depth < KC_JSON_MAX_DEPTH ? KC_JSON_MAX_DEPTH - depth : 0;
    *ret_bytes = 0;
    if (json_patch_apply_measure(a, node, levels, ret_bytes))
        return 0;
    return kc_error_set(a->err, KC_INVALID, "%s",
                        a->steps_left ? "objects and arrays are nested too deeply"
                                      : "the patch copies and moves too much");
}

static int json_patch_apply_too_large(kc__patch_applier *a)
{
    return kc_error_set(a->err, KC_TOO_LARGE, "the patched document exceeds the limit of %zu bytes",
                        a->max_size);
}

/* Measures the document; false when it exceeds the limits. */
static bool measure_document(kc__patch_applier *a)
{
    a->size = 0;
    return json_patch_apply_measure(a, kc_edit_root(a->edit), KC_JSON_MAX_DEPTH, &a->size);
}

/* Counts bytes that are about to be added. */
static int check_growth(kc__patch_applier *a, size_t bytes)
{
    if (!a->max_size)
        return 0;
    if (a->size + bytes > a->max_size && (!measure_document(a) || a->size + bytes > a->max_size))
        return json_patch_apply_too_large(a);
    a->size += bytes;
    return 0;
}

static int check_copy(kc__patch_applier *a, const kc_node *node, size_t depth)
{
    size_t bytes;
    int failed = check_fits(a, node, depth, &bytes);
    if (failed < 0)
        return failed;
    a->copied += bytes;
    if (a->copied <= a->max_copy_bytes)
        return check_growth(a, bytes);
    return kc_error_set(a->err, KC_INVALID,
                        "Unable to complete the copy, the accumulated size increase of copy is "
                        "%zu, exceeding the limit %zu",
                        a->copied, a->max_copy_bytes);
}

/* The operation's value as a node for that depth. */
static int value_node(kc__patch_applier *a, size_t depth, kc_node **ret)
{
    size_t bytes;
    kc_node *node =
        a->op->value ? kc_node_from_value(a->edit, a->op->value) : kc_node_null(a->edit);
    int failed = check_fits(a, node, depth, &bytes);
    if (failed == 0)
        failed = check_growth(a, bytes);
    if (failed == 0)
        *ret = node;
    return failed;
}

/* ---- operations ---- */

static int apply_add(kc__patch_applier *a)
{
    kc__patch_target p;
    kc_node *value;
    if (!kc__patch_find_target(a, a->op->path, &p))
        return kc_error_set(
            a->err, KC_INVALID,
            "add operation does not apply: doc is missing path: \"%.*s\": missing value",
            KC_ARG(kc__patch_shown_pointer(a->op->path)));
    int failed = value_node(a, p.depth, &value);
    if (failed == 0)
        failed = kc__patch_add_at(a, &p, value);
    return failed < 0 ? kc_error_wrap(a->err, "error in add for path: '%.*s'",
                                      KC_ARG(kc__patch_shown_pointer(a->op->path)))
                      : 0;
}

static int apply_remove(kc__patch_applier *a)
{
    kc__patch_target p;
    if (!kc__patch_find_target(a, a->op->path, &p) || !p.container)
        return kc_error_set(
            a->err, KC_INVALID,
            "remove operation does not apply: doc is missing path: \"%.*s\": missing value",
            KC_ARG(kc__patch_shown_pointer(a->op->path)));
    if (kc__patch_remove_at(a, &p) < 0)
        return kc_error_wrap(a->err, "error in remove for path: '%.*s'",
                             KC_ARG(kc__patch_shown_pointer(a->op->path)));
    return 0;
}

static int apply_replace(kc__patch_applier *a)
{
    kc__patch_target p;
    kc_node *value;
    if (!kc__patch_find_target(a, a->op->path, &p))
        return kc_error_set(
            a->err, KC_INVALID,
            "replace operation does not apply: doc is missing path: %.*s: missing value",
            KC_ARG(kc__patch_shown_pointer(a->op->path)));
    int failed = value_node(a, p.depth, &value);
    if (failed < 0)
        return kc_error_wrap(a->err, "error in replace for path: '%.*s'",
                             KC_ARG(kc__patch_shown_pointer(a->op->path)));
    if (kc__patch_replace_at(a, &p, value) < 0)
        return kc_error_set(
            a->err, KC_INVALID,
            "replace operation does not apply: doc is missing key: %.*s: missing value",
            KC_ARG(kc__patch_shown_pointer(a->op->path)));
    return 0;
}

/* Removes the value at `from` from the tree and returns it. */
static int take_from(kc__patch_applier *a, kc_node **ret)
{
    kc__patch_target p;
    if (!kc__patch_find_target(a, a->op->from, &p) || !p.container)
        return kc_error_set(
            a->err, KC_INVALID,
            "move operation does not apply: doc is missing from path: %.*s: missing value",
            KC_ARG(kc__patch_shown_pointer(a->op->from)));
    if (kc__patch_get_at(a, &p, ret) < 0 || kc__patch_remove_at(a, &p) < 0)
        return kc_error_wrap(a->err, "error in move for path: '%.*s'",
                             KC_ARG(kc__patch_shown_pointer(a->op->from)));
    return 0;
}

static int apply_move(kc__patch_applier *a)
{
    kc__patch_target p;
    kc_node *value = NULL;
    size_t bytes;
    int failed = take_from(a, &value);
    if (failed < 0)
        return failed;
    if (!kc__patch_find_target(a, a->op->path, &p))
        return kc_error_set(
            a->err, KC_INVALID,
            "move operation does not apply: doc is missing destination path: %.*s: missing value",
            KC_ARG(kc__patch_shown_pointer(a->op->path)));
    failed = check_fits(a, value, p.depth, &bytes);
    if (failed == 0)
        failed = kc__patch_add_at(a, &p, value);
    return failed < 0 ? kc_error_wrap(a->err, "error in move for path: '%.*s'",
                                      KC_ARG(kc__patch_shown_pointer(a->op->path)))
                      : 0;
}

static int apply_copy(kc__patch_applier *a)
{
    kc__patch_target p;
    kc_node *value = NULL;
    if (!kc__patch_find_target(a, a->op->from, &p))
        return kc_error_set(
            a->err, KC_INVALID,
            "copy operation does not apply: doc is missing from path: %.*s: missing value",
            KC_ARG(kc__patch_shown_pointer(a->op->from)));
    if (kc__patch_get_at(a, &p, &value) < 0)
        return kc_error_wrap(a->err, "error in copy for from: '%.*s'",
                             KC_ARG(kc__patch_shown_pointer(a->op->from)));
    if (!kc__patch_find_target(a, a->op->path, &p))
        return kc_error_set(
            a->err, KC_INVALID,
            "copy operation does not apply: doc is missing destination path: %.*s: missing value",
            KC_ARG(kc__patch_shown_pointer(a->op->path)));
    int failed = check_copy(a, value, p.depth);
    if (failed < 0)
        return failed;
    failed = kc__patch_add_at(a, &p, value ? kc_node_clone(a->edit, value) : kc_node_null(a->edit));
    return failed < 0 ? kc_error_wrap(a->err, "error while adding value during copy") : 0;
}

static int apply_test(kc__patch_applier *a)
{
    kc__patch_target p;
    kc_node *value = NULL;
    if (!kc__patch_find_target(a, a->op->path, &p))
        return kc_error_set(a->err, KC_INVALID,
                            "test operation does not apply: is missing path: %.*s: missing value",
                            KC_ARG(kc__patch_shown_pointer(a->op->path)));
    if (kc__patch_get_at(a, &p, &value) < 0)
        return kc_error_wrap(a->err, "error in test for path: '%.*s'",
                             KC_ARG(kc__patch_shown_pointer(a->op->path)));
    bool wants_null = kc_value_type(a->op->value) <= KC_JSON_NULL,
         is_null = kc_node_type(value) <= KC_JSON_NULL;
    if (wants_null ? is_null : !is_null && kc__patch_node_equals(value, a->op->value))
        return 0;
    return kc_error_set(a->err, KC_INVALID, "testing value %.*s failed: test failed",
                        KC_ARG(kc__patch_shown_pointer(a->op->path)));
}

static int (*const kinds[])(kc__patch_applier *a) = {
    [KC__PATCH_OP_ADD] = apply_add,         [KC__PATCH_OP_REMOVE] = apply_remove,
    [KC__PATCH_OP_REPLACE] = apply_replace, [KC__PATCH_OP_MOVE] = apply_move,
    [KC__PATCH_OP_COPY] = apply_copy,       [KC__PATCH_OP_TEST] = apply_test,
};

int kc_json_patch_apply(const kc_json_patch *patch, kc_edit *edit, kc_error *err)
{
    kc_scoped(kc_error) unseen = {
        0}; /* The result is -reason without an error of the caller, too. */
    kc__patch_applier a = {.edit = edit,
                           .max_copy_bytes = patch->max_copy_bytes,
                           .max_size = patch->max_result_bytes,
                           .steps_left = MOST_STEPS,
                           .err = err ? err : &unseen};
    int failed = a.max_size && (!measure_document(&a) || a.size > a.max_size)
                     ? json_patch_apply_too_large(&a)
                     : 0;
    for (size_t i = 0; i < patch->ops.n && failed == 0; i++) {
        a.op = &patch->ops.items[i];
        failed = kc__work_is_over() ? kc__work_fail(a.err) : kinds[a.op->kind](&a);
        if (failed < 0)
            failed = kc_error_wrap(a.err, "operation %zu", i);
    }
    kc__patch_applier_done(&a);
    return failed;
}
