/* SPDX-License-Identifier: Apache-2.0 */
/*
 * go_value.c: elements that Kubernetes keeps as Go values and reads by a schema.
 *
 * A list of a schema is a slice of Go values ([]interface{}) to Kubernetes. x + y appends the Go
 * value of each element of y to the slice of x, and the schema of x reads all of them again when
 * they are used. What fits the schema becomes a value of its type; what does not is an error in its
 * place:
 *
 *     self.names + ['a']               'a', a string
 *     self.times + self.times          errors: the Go value of a timestamp is a time, not a text
 *     self.matrix + [[1]]              an error: a list of an expression is no []interface{}
 *     self.matrix + [[1] + [2]]        [1, 2]: the Go value of a sum is one
 *
 * A Go value is a kc_cel_value here: KC_CEL_DYN is JSON as it was decoded, with nil as NULL, and
 * any other kind is the Go value of that value. A sum stays lazy: KC__CEL_CONCAT with the type of
 * the schema.
 */
#include "cel/eval/eval_internal.h"

static kc_cel_value go_json(const kc_value *json)
{
    return (kc_cel_value){.kind = KC_CEL_DYN, .json = {json, &kc__cel_type_dyn}};
}

bool kc__cel_go_is_nil(kc_cel_value go)
{
    if (go.kind != KC_CEL_DYN)
        return false;
    kc_json_type type = kc_value_type(go.json.json);
    return type == KC_JSON_NULL || type == KC_JSON_ABSENT;
}

kc_cel_value kc__cel_go_value(kc_cel_value v)
{
    while (v.kind == KC_CEL_OPTIONAL) {
        if (!v.inner)
            return go_json(NULL);
        v = *v.inner;
    }
    return v.kind == KC_CEL_TYPE ? kc__cel_text(kc_cstr(v.type->name)) : v;
}

/* ---- slices ---- */

/* The Go type of the slice behind a list. */
static const char *go_slice_type(kc_cel_value list)
{
    if (list.form != KC__CEL_OWN || list.list->type || list.list->slice == KC__CEL_SLICE_ANY)
        return "[]interface {}";
    return list.list->slice == KC__CEL_SLICE_STRING ? "[]string" : "[]ref.Val";
}

static bool is_slice_of_any(kc_cel_value list)
{
    return strcmp(go_slice_type(list), "[]interface {}") == 0;
}

kc_cel_value kc__cel_go_element(kc__cel_eval *ev, kc_cel_value list, size_t index)
{
    while (list.form == KC__CEL_CONCAT && list.list->type) {
        size_t n_left = kc__cel_list_len(list.list->left);
        bool left = index < n_left;
        index -= left ? 0 : n_left;
        if (!left && !list.list->is_view)
            return kc__cel_go_value(kc__cel_list_at(ev, list.list->right, index));
        list = left ? list.list->left : list.list->right;
    }
    if (list.form == KC__CEL_JSON)
        return go_json(kc__cel_json_at(ev, list.json.json, index));
    if (list.form == KC__CEL_OWN && list.list->type)
        return list.list->items[index];
    return kc__cel_go_value(kc__cel_list_at(ev, list, index));
}

/* ---- types of Go ---- */

static const char *go_type_of_json(const kc_value *json)
{
    switch (kc_value_type(json)) {
    case KC_JSON_BOOL: return "bool";
    case KC_JSON_INT: return "int64";
    case KC_JSON_FLOAT: return "float64";
    case KC_JSON_STRING: return "string";
    case KC_JSON_ARRAY: return "[]interface {}";
    default: return "map[string]interface {}";
    }
}

const char *kc__cel_go_value_type(kc_cel_value go)
{
    static const char *const names[] = {
        [KC_CEL_NULL] = "structpb.NullValue",
        [KC_CEL_BOOL] = "bool",
        [KC_CEL_INT] = "int64",
        [KC_CEL_UINT] = "uint64",
        [KC_CEL_DOUBLE] = "float64",
        [KC_CEL_STRING] = "string",
        [KC_CEL_BYTES] = "[]uint8",
        [KC_CEL_TIMESTAMP] = "time.Time",
        [KC_CEL_DURATION] = "time.Duration",
        [KC_CEL_ERROR] = "*errors.errorString",
    };
    switch ((kc_cel_kind)go.kind) {
    case KC_CEL_DYN: return go_type_of_json(go.json.json);
    case KC_CEL_LIST: return go_slice_type(go);
    case KC_CEL_MAP:
    case KC_CEL_OBJECT:
        return go.form == KC__CEL_JSON ? "map[string]interface {}" : "map[ref.Val]ref.Val";
    case KC_CEL_OPAQUE:
        return go.opaque.type->go_name ? go.opaque.type->go_name : kc__cel_go_type(go);
    default: return go.kind < KC_COUNT(names) && names[go.kind] ? names[go.kind] : "<nil>";
    }
}

/* ---- reading by a schema ---- */

static kc_cel_value misfit(kc__cel_eval *ev, const char *expected, kc_cel_value go)
{
    return kc__cel_error(ev, "invalid data, expected %s, got %s", expected,
                         kc__cel_go_value_type(go));
}

/* The slice of a list, read by another type. */
static kc_cel_value view_slice(kc__cel_eval *ev, kc_cel_value list, const kc_cel_type *type)
{
    if (list.form == KC__CEL_JSON)
        return kc__cel_container(ev, KC_CEL_LIST, list.json.json, type);
    kc__cel_list *view = kc__cel_list_new(ev, 0);
    if (!view)
        return kc__cel_error_const(ev->why);
    view->left = (kc_cel_value){.kind = KC_CEL_LIST, .form = KC__CEL_JSON, .json = {NULL, type}};
    view->right = list;
    view->n = kc__cel_list_len(list);
    view->type = type;
    view->is_view = true;
    return (kc_cel_value){.kind = KC_CEL_LIST, .form = KC__CEL_CONCAT, .list = view};
}

static kc_cel_value read_container(kc__cel_eval *ev, kc_cel_value go, const kc_cel_type *type)
{
    if (type->kind == KC_CEL_LIST) {
        if (go.kind == KC_CEL_LIST && is_slice_of_any(go))
            return view_slice(ev, go, type);
        return kc__cel_error_const(
            "invalid data, expected an array for the provided schema with type=array");
    }
    if ((go.kind != KC_CEL_MAP && go.kind != KC_CEL_OBJECT) || go.form != KC__CEL_JSON)
        return kc__cel_error_const(
            "invalid data, expected a map for the provided schema with type=object");
    return kc__cel_container(ev, type->kind, go.json.json, type);
}

kc_cel_value kc__cel_read_go(kc__cel_eval *ev, kc_cel_value go, const kc_cel_type *type)
{
    if (go.kind == KC_CEL_DYN)
        return kc__cel_read_json(ev, go.json.json, type);
    switch (type->kind) {
    case KC_CEL_BOOL: return go.kind == KC_CEL_BOOL ? go : misfit(ev, "bool", go);
    case KC_CEL_INT: return go.kind == KC_CEL_INT ? go : misfit(ev, "int", go);
    case KC_CEL_DOUBLE:
        if (go.kind == KC_CEL_INT)
            return kc__cel_double((double)go.integer);
        return go.kind == KC_CEL_DOUBLE ? go : misfit(ev, "float", go);
    case KC_CEL_LIST:
    case KC_CEL_MAP:
    case KC_CEL_OBJECT: return read_container(ev, go, type);
    case KC_CEL_DYN:
        if (!type->declared || go.kind == KC_CEL_INT || go.kind == KC_CEL_STRING)
            return go;
        return kc__cel_error_const(KC__CEL_NOT_INT_OR_STRING);
    default:
        return go.kind == KC_CEL_STRING ? kc__cel_read_text(ev, go.text, type)
                                        : misfit(ev, "string", go);
    }
}
