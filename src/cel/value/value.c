/* SPDX-License-Identifier: Apache-2.0 */
/* value.c: values: construction, types, sizes, and memory of an evaluation. */
#include "cel/eval/eval_internal.h"

kc_cel_value kc_cel_of_json(const kc_value *json, const kc_cel_type *type)
{
    return (kc_cel_value){.kind = KC_CEL_DYN, .json = {json, type}};
}

kc_cel_value kc_cel_of_bool(bool value)
{
    return kc__cel_bool(value);
}

kc_cel_value kc_cel_of_int(int64_t value)
{
    return kc__cel_int(value);
}

kc_cel_value kc_cel_of_str(kc_str text)
{
    return kc__cel_text(text);
}

kc_cel_value kc_cel_null(void)
{
    return (kc_cel_value){.kind = KC_CEL_NULL};
}

kc_cel_value kc_cel_of_optional(const kc_cel_value *inner)
{
    return (kc_cel_value){.kind = KC_CEL_OPTIONAL, .inner = inner};
}

kc_cel_value kc_cel_of_lookup(const kc_cel_lookup *lookup)
{
    return (kc_cel_value){.kind = KC_CEL_OBJECT, .form = KC__CEL_LOOKUP, .lookup = lookup};
}

kc_cel_value kc_cel_of_error(kc_str message)
{
    return (kc_cel_value){.kind = KC_CEL_ERROR, .text = message};
}

void *kc__cel_alloc(kc__cel_eval *ev, size_t size)
{
    if (size > ev->max_bytes - ev->bytes) {
        ev->stopped = true;
        ev->why = "operation cancelled: memory limit exceeded";
        return NULL;
    }
    ev->bytes += size;
    return kc_arena_alloc(ev->arena, size);
}

kc_cel_value kc__cel_error_const(const char *message)
{
    return (kc_cel_value){.kind = KC_CEL_ERROR, .text = kc_cstr(message)};
}

kc_cel_value kc__cel_no_such_overload(void)
{
    return kc__cel_error_const("no such overload");
}

kc_cel_value kc__cel_error(kc__cel_eval *ev, const char *fmt, ...)
{
    kc_scoped(kc_buf) message = {0};
    va_list args;
    va_start(args, fmt);
    kc_buf_vprintf(&message, fmt, args);
    va_end(args);
    return kc__cel_copy_text(ev, KC_CEL_ERROR, kc_buf_str(&message));
}

kc_cel_value kc__cel_panic(kc__cel_eval *ev, const char *fmt, ...)
{
    kc_scoped(kc_buf) message = {0};
    va_list args;
    kc_buf_puts(&message, "internal error: ");
    va_start(args, fmt);
    kc_buf_vprintf(&message, fmt, args);
    va_end(args);
    if (!ev->stopped)
        ev->why = kc_arena_strndup(ev->arena, message.p, message.n);
    ev->stopped = ev->panicked = true;
    return kc__cel_error_const(ev->why);
}

kc_cel_value kc__cel_copy_text(kc__cel_eval *ev, kc_cel_kind kind, kc_str text)
{
    char *copy = kc__cel_alloc(ev, text.n);
    if (!copy)
        return kc__cel_error_const(ev->why);
    if (text.n)
        memcpy(copy, text.p, text.n);
    return (kc_cel_value){.kind = (uint8_t)kind, .text = kc_str_of(copy, text.n)};
}

kc_cel_value kc__cel_optional_of(kc__cel_eval *ev, kc_cel_value inner)
{
    kc_cel_value *copy = kc__cel_alloc(ev, sizeof(*copy));
    if (!copy)
        return kc__cel_error_const(ev->why);
    *copy = inner;
    return (kc_cel_value){.kind = KC_CEL_OPTIONAL, .inner = copy};
}

const kc_cel_type *kc__cel_type_of_value(kc_cel_value v)
{
    switch ((kc_cel_kind)v.kind) {
    case KC_CEL_LIST: return &kc__cel_type_list_dyn;
    case KC_CEL_OBJECT:
    case KC_CEL_MAP:
        return v.form == KC__CEL_OWN && v.map->type ? v.map->type : &kc__cel_type_map_dyn;
    case KC_CEL_OPAQUE: return v.opaque.type;
    default: return kc_cel_type_basic((kc_cel_kind)v.kind);
    }
}

size_t kc__cel_runes(kc_str text)
{
    size_t n = 0;
    for (size_t i = 0; i < text.n; i++)
        n += ((unsigned char)text.p[i] & 0xC0) != 0x80;
    return n;
}

uint64_t kc__cel_size(kc_cel_value v)
{
    switch ((kc_cel_kind)v.kind) {
    case KC_CEL_STRING: return kc__cel_runes(v.text);
    case KC_CEL_BYTES: return v.text.n;
    case KC_CEL_LIST: return kc__cel_list_len(v);
    case KC_CEL_OBJECT:
    case KC_CEL_MAP: return kc__cel_map_len(v);
    case KC_CEL_OPTIONAL: return v.inner ? kc__cel_size(*v.inner) : 1;
    case KC_CEL_OPAQUE: return v.opaque.type->size ? v.opaque.type->size(v.opaque.data) : 1;
    default: return 1;
    }
}

size_t kc__cel_overload_arity(const kc__cel_overload *overload)
{
    size_t n = 0;
    while (n < KC__CEL_ARGS_MAX && overload->args[n])
        n++;
    return n;
}

static bool first_element_fits(kc__cel_eval *ev, kc_cel_value list, const kc_cel_type *type)
{
    if (type->kind == KC_CEL_DYN || type->kind == KC_CEL_PARAM || !kc__cel_list_len(list))
        return true;
    kc_cel_value first = kc__cel_list_at(ev, list, 0);
    return kc__cel_value_fits(ev, &first, type);
}

bool kc__cel_value_fits(kc__cel_eval *ev, const kc_cel_value *value, const kc_cel_type *type)
{
    switch (type->kind) {
    case KC_CEL_DYN:
    case KC_CEL_PARAM: return true;
    case KC_CEL_LIST:
        return value->kind == KC_CEL_LIST &&
               (!type->n_params || first_element_fits(ev, *value, type->params[0]));
    case KC_CEL_MAP: return value->kind == KC_CEL_MAP || value->kind == KC_CEL_OBJECT;
    case KC_CEL_OPAQUE: return value->kind == KC_CEL_OPAQUE && value->opaque.type == type;
    default: return value->kind == type->kind;
    }
}

static const char *go_type_of_container(kc_cel_value v)
{
    if (v.kind != KC_CEL_LIST)
        return v.form == KC__CEL_JSON && v.json.type->declared ? "*common.unstructuredMap"
                                                               : "*types.baseMap";
    const kc_cel_type *type = kc__cel_list_declared_type(v);
    if (!type)
        return v.form == KC__CEL_CONCAT ? "*types.concatList" : "*types.baseList";
    return type->list_type == KC_LIST_SET   ? "*common.unstructuredSetList"
           : type->list_type == KC_LIST_MAP ? "*common.unstructuredMapList"
                                            : "*common.unstructuredList";
}

/* Go's names of the types that Kubernetes adds. */
static const char *go_type_of_opaque(const char *name)
{
    static const char *const names[][2] = {
        {"net.IP", "cel.IP"},
        {"net.CIDR", "cel.CIDR"},
        {"kubernetes.Quantity", "cel.Quantity"},
        {"kubernetes.URL", "cel.URL"},
        {"kubernetes.Semver", "cel.Semver"},
        {"kubernetes.NamedFormat", "cel.Format"},
    };
    for (size_t i = 0; i < KC_COUNT(names); i++)
        if (strcmp(name, names[i][0]) == 0)
            return names[i][1];
    return name;
}

const char *kc__cel_go_native_type(kc_cel_value v)
{
    bool container = v.kind == KC_CEL_LIST || v.kind == KC_CEL_MAP;
    if (v.kind == KC_CEL_NULL)
        return "<nil>";
    if (!container || v.form != KC__CEL_JSON || v.json.type->declared)
        return kc__cel_go_type(v);
    return v.kind == KC_CEL_LIST ? "[]interface {}" : "map[string]interface {}";
}

const char *kc__cel_go_type(kc_cel_value v)
{
    static const char *const names[] = {[KC_CEL_NULL] = "types.Null",
                                        [KC_CEL_BOOL] = "types.Bool",
                                        [KC_CEL_INT] = "types.Int",
                                        [KC_CEL_UINT] = "types.Uint",
                                        [KC_CEL_DOUBLE] = "types.Double",
                                        [KC_CEL_STRING] = "types.String",
                                        [KC_CEL_BYTES] = "types.Bytes",
                                        [KC_CEL_TIMESTAMP] = "types.Timestamp",
                                        [KC_CEL_DURATION] = "types.Duration",
                                        [KC_CEL_TYPE] = "*types.Type",
                                        [KC_CEL_OPTIONAL] = "*types.Optional",
                                        [KC_CEL_ERROR] = "*types.Err"};
    if (v.kind == KC_CEL_LIST || v.kind == KC_CEL_MAP || v.kind == KC_CEL_OBJECT)
        return go_type_of_container(v);
    const char *name = v.kind < KC_COUNT(names) ? names[v.kind] : NULL;
    return name ? name : go_type_of_opaque(kc__cel_type_of_value(v)->name);
}

bool kc__cel_is_qualifier(kc_cel_value key)
{
    return key.kind >= KC_CEL_BOOL && key.kind <= KC_CEL_STRING;
}
