/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_patch.c: parses a JSON patch: a list of operations becomes a list of kc__patch_op, validated
 * once, so that applying it (json_patch_apply.c) only finds errors that depend on the document.
 *
 *     {"op": "add", "path": "/spec/ports/-", "value": {"port": 80}}
 *
 * A patch is immutable after parsing, so threads may share it.
 */
#include "object/patch/json_patch_internal.h"

enum { MOST_UNKNOWN = 100 };

static const struct {
    const char *name;
    bool has_from;
} kinds[] = {
#define KIND_ROW(name, text, has_from) [KC__PATCH_OP_##name] = {text, has_from},
    KC__PATCH_OPS(KIND_ROW)
#undef KIND_ROW
};

kc_json_patch *kc_json_patch_free(kc_json_patch *patch)
{
    if (!patch)
        return NULL;
    kc_view_free(patch->view);
    kc_vec_done(&patch->ops);
    free(patch);
    return NULL;
}

size_t kc_json_patch_len(const kc_json_patch *patch)
{
    return patch ? patch->ops.n : 0;
}

/* A member that must be a string if it exists; null counts as absent, and *ret is then empty with
 * p == NULL. */
static int read_string(const kc_value *operation, const char *name, kc_str *ret, kc_error *err)
{
    const kc_value *value = kc_value_get(operation, name);
    kc_json_type type = kc_value_type(value);
    if (type != KC_JSON_STRING && type != KC_JSON_NULL && type != KC_JSON_ABSENT)
        return kc_error_set(err, KC_BAD_REQUEST, "%s must be a string, not of type %s", name,
                            kc_json_type_name(type));
    *ret = kc_value_as_str(value);
    return 0;
}

static int read_kind(const kc_value *operation, kc__patch_op_kind *ret, kc_error *err)
{
    kc_str name;
    int failed = read_string(operation, "op", &name, err);
    if (failed < 0)
        return failed;
    for (size_t i = 0; i < KC__N_OPS; i++) {
        if (kc_str_is(name, kinds[i].name)) {
            *ret = (kc__patch_op_kind)i;
            return 0;
        }
    }
    return kc_error_set(err, KC_INVALID, "Unexpected kind: %.*s",
                        KC_ARG(kc__patch_shown_pointer(name.p ? name : KC_STR("unknown"))));
}

static int read_pointer(const kc_value *operation, const char *kind, const char *name, kc_str *ret,
                        kc_error *err)
{
    int failed = read_string(operation, name, ret, err);
    if (failed < 0)
        return failed;
    if (!ret->p)
        return kc_error_set(err, KC_INVALID, "%s operation failed to decode %s: missing value",
                            kind, name);
    if (ret->n && ret->p[0] != '/')
        return kc_error_set(err, KC_INVALID,
                            "%s operation does not apply: %s must begin with '/': \"%.*s\"", kind,
                            name, KC_ARG(kc__patch_shown_pointer(*ret)));
    return 0;
}

static int read_operation(const kc_value *operation, kc__patch_op *op, kc_error *err)
{
    if (kc_value_type(operation) != KC_JSON_OBJECT)
        return kc_error_set(err, KC_BAD_REQUEST, "it must be an object, not of type %s",
                            kc_json_type_name(kc_value_type(operation)));
    int failed = read_kind(operation, &op->kind, err);
    if (failed < 0)
        return failed;
    const char *kind = kinds[op->kind].name;
    failed = read_pointer(operation, kind, "path", &op->path, err);
    if (failed == 0 && kinds[op->kind].has_from)
        failed = read_pointer(operation, kind, "from", &op->from, err);
    op->value = kc_value_get(operation, "value");
    return failed;
}

static void report_unknown(const kc_value *operation, size_t index, kc_paths *unknown)
{
    kc_value_each_member (operation, name, value) {
        (void)value;
        if (!kc_str_is(name, "op") && !kc_str_is(name, "path") && !kc_str_is(name, "from") &&
            !kc_str_is(name, "value") && unknown->n < MOST_UNKNOWN)
            kc_vec_push(unknown, kc_asprintf("[%zu].%.*s", index, KC_ARG(name)));
    }
}

static int read_operations(kc_json_patch *patch, const kc_value *operations, kc_paths *unknown,
                           kc_error *err)
{
    kc_value_each_item (operations, operation) {
        size_t index = patch->ops.n;
        kc__patch_op *op = kc_vec_add(&patch->ops);
        if (read_operation(operation, op, err) < 0)
            return kc_error_wrap(err, "operation %zu", index);
        if (unknown)
            report_unknown(operation, index, unknown);
    }
    return 0;
}

kc_json_patch *kc_json_patch_of(const kc_value *operations, const kc_json_patch_opts *opts,
                                kc_error *err)
{
    static const kc_json_patch_opts defaults;
    opts = opts ? opts : &defaults;
    size_t most = opts->max_operations ? opts->max_operations : KC_JSON_PATCH_MAX_OPERATIONS;
    kc_json_type type = kc_value_type(operations);
    if (type != KC_JSON_ARRAY && type != KC_JSON_NULL) {
        kc_error_set(err, KC_BAD_REQUEST,
                     "a JSON patch must be a list of operations, not of type %s",
                     kc_json_type_name(type));
        return NULL;
    }
    if (kc_value_len(operations) > most) {
        kc_error_set(err, KC_TOO_LARGE,
                     "The allowed maximum operations in a JSON patch is %zu, got %zu", most,
                     kc_value_len(operations));
        return NULL;
    }
    kc_auto(kc_json_patch) *patch = kc_new(kc_json_patch);
    patch->max_copy_bytes =
        opts->max_copy_bytes ? opts->max_copy_bytes : KC_JSON_PATCH_MAX_COPY_BYTES;
    patch->max_result_bytes = opts->max_result_bytes;
    if (read_operations(patch, operations, opts->unknown, err) < 0)
        return NULL;
    return kc_take(patch);
}

kc_json_patch *kc_json_patch_parse(kc_str json, const kc_json_patch_opts *opts, kc_error *err)
{
    kc_auto(kc_view) *view = kc_view_parse(json, opts ? &opts->json : NULL, err);
    if (!view)
        return NULL;
    kc_json_patch *patch = kc_json_patch_of(kc_view_root(view), opts, err);
    if (patch)
        patch->view = kc_take(view);
    return patch;
}
