/* SPDX-License-Identifier: Apache-2.0 */
/*
 * field_defs.c: the compiled selectable fields of a kind: a map from a field's name to its path. To
 * add a field to a kind, add a row to that kind's kc_field_def table.
 */
#include "kc/arena.h"
#include "kc/field_selector.h"
#include "kc/map.h"
#include "kc/path.h"

typedef struct field_defs_field {
    kc_path *path;
    kc_str otherwise;
} field_defs_field;

struct kc_fields {
    kc_arena arena;
    kc_map by_name; /* field * */
};

static int field_defs_add(kc_fields *fields, const kc_field_def *def, kc_error *err)
{
    kc_path *path = kc_path_parse(kc_cstr(def->path ? def->path : def->field), err);
    if (!path)
        return kc_error_wrap(err, "selectable field %s", def->field);
    field_defs_field *entry = kc_arena_new(&fields->arena, field_defs_field);
    entry->path = path;
    entry->otherwise = kc_arena_str(&fields->arena, kc_cstr(def->otherwise));
    field_defs_field *old =
        kc_map_put(&fields->by_name, kc_arena_str(&fields->arena, kc_cstr(def->field)), entry);
    if (old)
        kc_path_free(old->path);
    return 0;
}

kc_fields *kc_fields_new(const kc_field_def *defs, size_t n, kc_error *err)
{
    static const kc_field_def always[] = {{.field = "metadata.name"},
                                          {.field = "metadata.namespace"}};
    kc_auto(kc_fields) *fields = kc_new(kc_fields);
    for (size_t i = 0; i < KC_COUNT(always); i++)
        if (field_defs_add(fields, &always[i], err) < 0)
            return NULL;
    for (size_t i = 0; i < n; i++)
        if (field_defs_add(fields, &defs[i], err) < 0)
            return NULL;
    return kc_take(fields);
}

kc_fields *kc_fields_free(kc_fields *fields)
{
    if (!fields)
        return NULL;
    kc_map_each (&fields->by_name, entry)
        kc_path_free(((field_defs_field *)entry->value)->path);
    kc_map_done(&fields->by_name);
    kc_arena_done(&fields->arena);
    free(fields);
    return NULL;
}

bool kc_fields_has(const kc_fields *fields, kc_str name)
{
    return kc_map_get(&fields->by_name, name) != NULL;
}

int kc_fields_check(const kc_fields *fields, const kc_field_selector *selector, kc_error *err)
{
    size_t n;
    const kc_field_requirement *list = kc_field_selector_requirements(selector, &n);
    for (size_t i = 0; i < n; i++)
        if (!kc_fields_has(fields, list[i].field))
            return kc_error_set(err, KC_BAD_REQUEST, "field label not supported: %.*s",
                                KC_ARG(list[i].field));
    return 0;
}

kc_str kc_fields_value(const kc_fields *fields, const kc_value *root, kc_str name, kc_buf *scratch)
{
    const field_defs_field *f = kc_map_get(&fields->by_name, name);
    const kc_value *value = f ? kc_path_get(f->path, root) : NULL;
    switch (kc_value_type(value)) {
    case KC_JSON_STRING: return kc_value_as_str(value);
    case KC_JSON_BOOL: return kc_value_as_bool(value, false) ? KC_STR("true") : KC_STR("false");
    case KC_JSON_INT:
    case KC_JSON_FLOAT:
        kc_buf_clear(scratch);
        kc_json_write(scratch, value);
        return kc_buf_str(scratch);
    default: return f ? f->otherwise : KC_STR("");
    }
}

/* The source of one object's field values. */
typedef struct field_defs_source {
    const kc_fields *fields;
    const kc_value *root;
    const kc_object *object; /* If set, root is parsed from it when a field needs it. */
    kc_view *view;
    kc_buf scratch;
} field_defs_source;

static void field_defs_source_done(field_defs_source *s)
{
    kc_view_free(s->view);
    kc_buf_done(&s->scratch);
}

static kc_str field_defs_value_of(kc_str name, void *user)
{
    field_defs_source *s = user;
    if (s->object && kc_str_is(name, "metadata.name"))
        return kc_object_name(s->object);
    if (s->object && kc_str_is(name, "metadata.namespace"))
        return kc_object_namespace(s->object);
    if (s->object && !s->view) {
        s->view = kc_view_of(s->object);
        s->root = kc_view_root(s->view);
    }
    return kc_fields_value(s->fields, s->root, name, &s->scratch);
}

bool kc_field_selector_match_value(const kc_field_selector *selector, const kc_fields *fields,
                                   const kc_value *root)
{
    kc_scoped(field_defs_source) s = {.fields = fields, .root = root};
    return kc_field_selector_match(selector, field_defs_value_of, &s);
}

bool kc_field_selector_match_object(const kc_field_selector *selector, const kc_fields *fields,
                                    const kc_object *object)
{
    kc_scoped(field_defs_source) s = {.fields = fields, .object = object};
    return kc_field_selector_match(selector, field_defs_value_of, &s);
}
