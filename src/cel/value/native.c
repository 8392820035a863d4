/* SPDX-License-Identifier: Apache-2.0 */
/*
 * native.c: what becomes of a value that cel-go converts to a Go value and back.
 *
 * cel-go does so with the content of an optional that a variable holds or that a branch of ?:
 * yields. The conversion loses what the Go value does not say:
 *
 *     a list or map of a schema     its types: timestamps are strings again, sets are lists
 *     an optional                   itself: its content remains, or null
 *     a type                        becomes its name
 *     an address, a quantity, …     becomes an error
 */
#include "cel/library/library_internal.h"

/* The element of a slice of Go values as a value. */
static kc_cel_value element_of_slice(kc__cel_eval *ev, kc_cel_value list, size_t i)
{
    kc_cel_value go = kc__cel_go_element(ev, list, i);
    return go.kind == KC_CEL_DYN ? kc__cel_read_json(ev, go.json.json, &kc__cel_type_dyn)
                                 : kc__cel_through_native(ev, go);
}

/* A sum and a list of a schema are converted with their elements; another list keeps its own. */
static kc_cel_value convert_list(kc__cel_eval *ev, kc_cel_value list)
{
    if (list.form == KC__CEL_JSON)
        return kc__cel_container(ev, KC_CEL_LIST, list.json.json, &kc__cel_type_list_dyn);
    if (list.form == KC__CEL_OWN && !list.list->type)
        return list;
    size_t n = kc__cel_list_len(list);
    kc__cel_list *converted = kc__cel_list_new(ev, n);
    for (size_t i = 0; i < n && converted; i++)
        if (!kc__cel_list_append(ev, converted, element_of_slice(ev, list, i)))
            converted = NULL;
    if (!converted)
        return kc__cel_error_const(ev->why);
    converted->slice = KC__CEL_SLICE_ANY;
    return kc__cel_list_value(converted);
}

static kc_cel_value convert_constructed(kc__cel_eval *ev, const kc__cel_map *object)
{
    kc__cel_map *map = kc__cel_map_new(ev, object->n);
    for (size_t i = 0; i < object->n && map; i++)
        if (!kc__cel_map_put(ev, map, object->entries[i].key,
                             kc__cel_through_native(ev, object->entries[i].value)))
            map = NULL;
    return map ? kc__cel_map_value(map) : kc__cel_error_const(ev->why);
}

static kc_cel_value convert_map(kc__cel_eval *ev, kc_cel_value map)
{
    if (map.form == KC__CEL_OWN && map.map->type)
        return convert_constructed(ev, map.map);
    if (map.form != KC__CEL_JSON)
        return map;
    return kc__cel_container(ev, KC_CEL_MAP, map.json.json, &kc__cel_type_map_dyn);
}

static kc_cel_value convert_opaque(kc__cel_eval *ev, kc_cel_value v)
{
    if (!v.opaque.type->equal) /* The authorizer and its parts are no Go values. */
        return kc__cel_no_such_overload();
    if (!v.opaque.type->go_name)
        return v;
    kc_scoped(kc_buf) text = {0};
    v.opaque.type->write(v.opaque.data, &text);
    return kc__cel_error(ev, "unsupported conversion to ref.Val: (%s)%s", v.opaque.type->go_name,
                         kc_buf_cstr(&text));
}

kc_cel_value kc__cel_through_native(kc__cel_eval *ev, kc_cel_value v)
{
    switch ((kc_cel_kind)v.kind) {
    case KC_CEL_OPTIONAL: return v.inner ? kc__cel_through_native(ev, *v.inner) : kc_cel_null();
    case KC_CEL_TYPE: return kc__cel_text(kc_cstr(v.type->name));
    case KC_CEL_LIST: return convert_list(ev, v);
    case KC_CEL_MAP:
    case KC_CEL_OBJECT: return convert_map(ev, v);
    case KC_CEL_OPAQUE: return convert_opaque(ev, v);
    default: return v;
    }
}
