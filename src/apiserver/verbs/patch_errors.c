/* SPDX-License-Identifier: Apache-2.0 */
/*
 * patch_errors.c: the text of a patched object in an error, and the words of Go's converter.
 *
 * Go's patch library holds an object as a map of names to text, and parses the text of a member
 * only if the patch concerns it. Maps are printed with sorted names, other text as it was. So the
 * names are sorted along the paths of a patch, and elsewhere they are in the order of the Go
 * struct:
 *
 *     {"spec":{"replicas":"x"}}  ─▶  {"apiVersion":…,"kind":…,"metadata":{"name":…,"namespace":…},
 *                                     "spec":{…,"replicas":"x",…,"template":{"metadata":…}}}
 *
 * The paths are an object, `touched`: of a merge patch the patch itself; of a JSON patch an object
 * that has the containers of all operations.
 */
#include "apiserver/verbs/patch_errors.h"

#include "apiserver/codec/api_types.h"
#include "kc/edit.h"
#include "kc/json.h"
#include "kc/view.h"
#include "object/gofmt/go_json.h"
#include "object/gofmt/go_text.h"
#include "object/model/value_members.h"

#include <stdio.h>

/* ---- the patched object ---- */

static void write_touched(kc_buf *out, const kc_value *value, const kc_value *touched, bool merges);

static void write_as_it_was(kc_buf *out, const kc_value *value)
{
    kc_scoped(kc_buf) text = {0};
    kc_json_write(&text, value);
    kc__go_json_escape(out, kc_buf_str(&text));
}

static void write_touched_object(kc_buf *out, const kc_value *object, const kc_value *touched,
                                 bool merges)
{
    kc__value_named_vec members = {0};
    kc__value_members_sorted(object, &members);
    kc_buf_putc(out, '{');
    kc_vec_each (&members, m) {
        kc_scoped(kc_buf) name = {0};
        kc_buf_puts(out, m == members.items ? "" : ",");
        kc_json_quote(&name, m->name);
        kc__go_json_escape(out, kc_buf_str(&name));
        kc_buf_putc(out, ':');
        write_touched(out, m->value, kc_value_get_str(touched, m->name), merges);
    }
    kc_buf_putc(out, '}');
    kc_vec_done(&members);
}

/* Operations name items by their index. */
static void write_touched_array(kc_buf *out, const kc_value *array, const kc_value *touched)
{
    size_t i = 0;
    char index[24];
    kc_buf_putc(out, '[');
    kc_value_each_item (array, item) {
        snprintf(index, sizeof(index), "%zu", i);
        kc_buf_puts(out, i++ ? "," : "");
        write_touched(out, item, kc_value_get(touched, index), false);
    }
    kc_buf_putc(out, ']');
}

/* What a merge patch adds is printed from maps; what an operation adds is text. */
static void write_touched(kc_buf *out, const kc_value *value, const kc_value *touched, bool merges)
{
    const kc_json_type type = kc_value_type(value);
    const bool is_inside = kc_value_type(touched) == KC_JSON_OBJECT;
    if (type == KC_JSON_OBJECT && is_inside)
        write_touched_object(out, value, touched, merges);
    else if (type == KC_JSON_ARRAY && is_inside && !merges)
        write_touched_array(out, value, touched);
    else if (merges && touched)
        kc__go_json(out, value);
    else
        write_as_it_was(out, value);
}

/* ---- the paths of a JSON patch ---- */

/* A part of a JSON pointer, "~1" for "/" and "~0" for "~". */
static void unescape_part(kc_buf *out, kc_str part)
{
    for (size_t i = 0; i < part.n; i++) {
        const bool escape = part.p[i] == '~' && i + 1 < part.n;
        if (!escape)
            kc_buf_putc(out, part.p[i]);
        else
            kc_buf_putc(out, part.p[++i] == '1' ? '/' : '~');
    }
}

/* Adds the containers of a path. */
static void touch_path(kc_edit *edit, kc_str path)
{
    kc_node *at = kc_edit_root(edit);
    kc_str_cut(&path, '/');
    while (path.p) {
        kc_scoped(kc_buf) name = {0};
        unescape_part(&name, kc_str_cut(&path, '/'));
        if (path.p)
            at = kc_node_ensure_object(edit, at, kc_buf_str(&name));
    }
}

static kc_view *paths_of_operations(kc_str patch)
{
    kc_auto(kc_view) *operations = kc_view_parse(patch, NULL, NULL);
    kc_auto(kc_edit) *edit = kc_edit_new();
    kc_value_each_item (kc_view_root(operations), operation) {
        touch_path(edit, kc_value_as_str(kc_value_get(operation, "path")));
        touch_path(edit, kc_value_as_str(kc_value_get(operation, "from")));
    }
    return kc_edit_view(edit, NULL);
}

void kc__rest_patch_result_text(kc_buf *out, const kc__rest_patch_result *result)
{
    const bool merges = result->kind != KC__REST_JSON_PATCH;
    kc_auto(kc_view) *patched = kc_view_of(result->patched),
                     *touched = merges ? kc_view_parse(result->patch, NULL, NULL)
                                       : paths_of_operations(result->patch);
    if (result->kind == KC__REST_STRATEGIC_PATCH)
        kc__go_text(out, kc_view_root(touched));
    else if (result->is_map)
        kc__go_json(out, kc_view_root(patched));
    else
        write_touched(out, kc_view_root(patched), kc_view_root(touched), merges);
}

/* ---- conversion from a map ---- */

/* A message of Go's JSON decoder, taken apart: "json: cannot unmarshal SOURCE into Go struct field
 * KIND.PATH of type TYPE". */
typedef struct type_mismatch {
    kc_str source, path, type;
} type_mismatch;

static bool cut_text(kc_str *rest, const char *mark, kc_str *ret)
{
    const char *at = memmem(rest->p, rest->n, mark, strlen(mark));
    if (!at)
        return false;
    *ret = kc_str_sub(*rest, 0, (size_t)(at - rest->p));
    *rest = kc_str_sub(*rest, ret->n + strlen(mark), rest->n);
    return true;
}

static bool parse_mismatch(const char *why, type_mismatch *ret)
{
    kc_str rest = kc_cstr(why), before;
    if (!cut_text(&rest, "json: cannot unmarshal ", &before) || before.n ||
        !cut_text(&rest, " into Go struct field ", &ret->source) ||
        !cut_text(&rest, " of type ", &ret->path))
        return false;
    kc_str_cut(&ret->path, '.');
    ret->type = rest;
    return true;
}

/* The value at a path without indexes; in lists that of the first item that has one. */
static const kc_value *value_at_path(const kc_value *value, kc_str path)
{
    if (!path.p || !value)
        return value;
    kc_value_each_item (value, item) {
        const kc_value *found = value_at_path(item, path);
        if (found)
            return found;
    }
    const kc_str name = kc_str_cut(&path, '.');
    return value_at_path(kc_value_get_str(value, name), path);
}

/* The kind of a value in Go. */
static const char *go_kind(const type_mismatch *m, const kc_object *patched)
{
    if (kc_str_is(m->source, "string") || kc_str_is(m->source, "bool"))
        return kc_str_is(m->source, "string") ? "string" : "bool";
    if (kc_str_is(m->source, "object") || kc_str_is(m->source, "array"))
        return kc_str_is(m->source, "object") ? "map" : "slice";
    if (kc_str_find(m->source, '.') >= 0)
        return "float64";
    kc_auto(kc_view) *view = kc_view_of(patched);
    const kc_value *value = value_at_path(kc_view_root(view), m->path);
    return kc_value_type(value) == KC_JSON_FLOAT ? "float64" : "int64";
}

static bool is_number_type(kc_str type)
{
    return kc_str_is(type, "int32") || kc_str_is(type, "int64") || kc_str_is(type, "float64") ||
           kc_str_is(type, "uint16") || kc_str_is(type, "int");
}

/* Types with a name are structs or texts. */
static bool is_struct_type(kc_str type)
{
    for (size_t i = 0; i < kc__type_n_messages; i++)
        if (kc_str_is(type, kc__type_messages[i]->go_name))
            return true;
    return false;
}

static const char *convert_error(kc_arena *arena, const type_mismatch *m, const char *kind)
{
    const bool is_number = is_number_type(m->type), is_bool = kc_str_is(m->type, "bool");
    if (kc_str_starts(m->type, KC_STR("map[")))
        return kc_arena_printf(arena, "cannot restore map from %s", kind);
    if (kc_str_starts(m->type, KC_STR("[]")))
        return kc_arena_printf(arena, "cannot restore slice from %s", kind);
    if (is_struct_type(m->type))
        return kc_arena_printf(arena, "cannot restore struct from: %s", kind);
    if (!strcmp(kind, "int64") && !is_bool)
        return kc_arena_printf(arena, "cannot convert int64 to %.*s", KC_ARG(m->type));
    if (!strcmp(kind, "float64") && is_number)
        return kc_arena_printf(arena, "cannot convert float64 to %.*s", KC_ARG(m->type));
    if (is_number || is_bool)
        return kc_arena_printf(arena, "unrecognized type: %.*s", KC_ARG(m->type));
    return "unrecognized type: string";
}

const char *kc__rest_patch_result_error(kc_arena *arena, const kc__rest_patch_result *result,
                                        const char *why)
{
    type_mismatch m;
    if (result->kind != KC__REST_STRATEGIC_PATCH || !parse_mismatch(why, &m))
        return why;
    return convert_error(arena, &m, go_kind(&m, result->patched));
}
