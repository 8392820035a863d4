/* SPDX-License-Identifier: Apache-2.0 */
/*
 * make.c: builds schemas from types of the model.
 *
 * A type's schema is built once; a field of that type gets the type's schema merged with the
 * field's markers (schema.c). CRDs have no references, so a recursive type has no schema: the error
 * is reported at the field that closes the cycle.
 *
 * Names and texts of built-in fields (apiVersion, kind, quantities, times) are those that
 * Kubernetes publishes.
 */
#include "generate/schema/make.h"

#include "kc/json.h"

#define V "kubebuilder:validation:"

static kc__gen_schema *schema_of_type(kc__gen_schema_maker *maker, const kc__gen_type *type,
                                      kc__gen_at used_at);

void kc__gen_schema_maker_done(kc__gen_schema_maker *maker)
{
    kc_map_done(&maker->done);
    kc_map_done(&maker->under_way);
}

/* ---- values ---- */

#define QUANTITY_PATTERN                                                                        \
    "^(\\\\+|-)?(([0-9]+(\\\\.[0-9]*)?)|(\\\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\\\+|-)?" \
    "(([0-9]+(\\\\.[0-9]*)?)|(\\\\.[0-9]+))))?$"

static const struct value {
    const char *type, *format; /* As JSON; NULL: none. */
    bool is_named;             /* A named type in Go: the field's markers are merged with it. */
} values[] = {
    [KC__GEN_BOOL] = {"\"boolean\""},
    [KC__GEN_INT32] = {"\"integer\"", "\"int32\""},
    [KC__GEN_INT64] = {"\"integer\"", "\"int64\""},
    [KC__GEN_UINT32] = {"\"integer\"", "\"int32\""},
    [KC__GEN_UINT64] = {"\"integer\"", "\"int64\""},
    [KC__GEN_FLOAT32] = {"\"number\""},
    [KC__GEN_FLOAT64] = {"\"number\""},
    [KC__GEN_STRING] = {"\"string\""},
    [KC__GEN_ENUM] = {"\"string\""},
    [KC__GEN_BYTES] = {"\"string\"", "\"byte\""},
    [KC__GEN_INT_OR_STRING] = {.is_named = true},
    [KC__GEN_QUANTITY] = {.is_named = true},
    [KC__GEN_TIME] = {"\"string\"", "\"date-time\"", true},
    [KC__GEN_MICRO_TIME] = {"\"string\"", "\"date-time\"", true},
    [KC__GEN_DURATION] = {"\"string\"", .is_named = true},
    [KC__GEN_RAW] = {.is_named = true},
    [KC__GEN_STRUCT] = {"\"object\""},
    [KC__GEN_INNER] = {0},
};

static void set(kc__gen_schema *schema, kc__gen_schema_piece piece, const char *json)
{
    if (json)
        schema->pieces[piece] = kc_cstr(json);
}

static kc__gen_schema *schema_of_value(kc__gen_schema_maker *maker, kc__gen_base base,
                                       kc__gen_at at)
{
    kc__gen_schema *schema = kc__gen_schema_new(maker->arena);
    set(schema, KC__GEN_SCHEMA_TYPE, values[base].type);
    set(schema, KC__GEN_SCHEMA_FORMAT, values[base].format);
    if (base == KC__GEN_INT_OR_STRING || base == KC__GEN_QUANTITY) {
        set(schema, KC__GEN_SCHEMA_ANY_OF, "[{\"type\":\"integer\"},{\"type\":\"string\"}]");
        set(schema, KC__GEN_SCHEMA_INT_OR_STRING, "true");
    }
    if (base == KC__GEN_QUANTITY)
        set(schema, KC__GEN_SCHEMA_PATTERN, "\"" QUANTITY_PATTERN "\"");
    if (base == KC__GEN_RAW)
        set(schema, KC__GEN_SCHEMA_PRESERVE_UNKNOWN, "true");
    if ((base == KC__GEN_FLOAT32 || base == KC__GEN_FLOAT64) && !maker->allow_dangerous_types)
        kc__gen_schema_maker_fail(maker, at,
                                  "floating-point numbers are not portable between languages; "
                                  "use char * or kc_quantity_text, or pass "
                                  "--allow-dangerous-types");
    return schema;
}

/* ---- fields ---- */

static bool gen_schema_make_has(const kc__gen_field *field, const char *name)
{
    return kc__gen_marker_find(&field->markers, name) != NULL;
}

static kc__gen_schema *schema_of_collection(kc__gen_schema_maker *maker,
                                            const kc__gen_field *field);

/* One value of a field, to which `apply` applies the markers. */
static kc__gen_schema *schema_of_one(kc__gen_schema_maker *maker, const kc__gen_field *field,
                                     bool is_item)
{
    void (*const apply)(kc__gen_schema_maker *, const kc__gen_markers *, kc__gen_schema *,
                        const kc__gen_schema *) =
        is_item ? kc__gen_schema_apply_items : kc__gen_schema_apply;
    const bool named = field->type || values[field->base].is_named;
    kc__gen_schema *type = field->type    ? schema_of_type(maker, field->type, field->at)
                           : field->inner ? schema_of_collection(maker, field->inner)
                                          : schema_of_value(maker, field->base, field->at);
    kc__gen_schema *own = named ? kc__gen_schema_new(maker->arena) : type;
    kc__gen_schema *both = type;
    if (!is_item && field->doc.n)
        kc__gen_schema_set_text(own, KC__GEN_SCHEMA_DESCRIPTION, field->doc, maker->arena);
    if (field->base == KC__GEN_RAW && !type->pieces[KC__GEN_SCHEMA_TYPE].p &&
        (gen_schema_make_has(field, V "EmbeddedResource") ||
         gen_schema_make_has(field, V "XEmbeddedResource")))
        set(own, KC__GEN_SCHEMA_TYPE, "\"object\"");
    apply(maker, &field->markers, own, named ? type : NULL);
    if (named && !kc__gen_schema_combine(type, own, &both, maker->arena))
        kc__gen_schema_maker_fail(maker, field->at, "%.*s: its marker contradicts its type",
                                  KC_ARG(field->c_name));
    return both;
}

static kc__gen_schema *schema_of_collection(kc__gen_schema_maker *maker, const kc__gen_field *field)
{
    kc__gen_schema *schema = kc__gen_schema_new(maker->arena);
    const bool list = field->shape == KC__GEN_LIST;
    set(schema, KC__GEN_SCHEMA_TYPE, list ? "\"array\"" : "\"object\"");
    kc__gen_field item = *field;
    item.doc = (kc_str){0};
    if (!list)
        item.markers = (kc__gen_markers){0};
    kc__gen_schema *inside = schema_of_one(maker, &item, true);
    if (list)
        schema->items = inside;
    else
        schema->values = inside;
    if (field->doc.n)
        kc__gen_schema_set_text(schema, KC__GEN_SCHEMA_DESCRIPTION, field->doc, maker->arena);
    kc__gen_schema_apply(maker, &field->markers, schema, NULL);
    return schema;
}

static kc__gen_schema *schema_of_field(kc__gen_schema_maker *maker, const kc__gen_field *field)
{
    if (gen_schema_make_has(field, V "Schemaless")) {
        kc__gen_schema *schema = kc__gen_schema_new(maker->arena);
        if (field->doc.n)
            kc__gen_schema_set_text(schema, KC__GEN_SCHEMA_DESCRIPTION, field->doc, maker->arena);
        kc__gen_schema_apply(maker, &field->markers, schema, NULL);
        return schema;
    }
    if (field->shape == KC__GEN_LIST || field->shape == KC__GEN_MAP)
        return schema_of_collection(maker, field);
    return schema_of_one(maker, field, false);
}

/* ---- oneOf markers ---- */

static const char *const one_ofs[] = {V "AtMostOneOf", V "ExactlyOneOf", V "AtLeastOneOf"};

static const kc__gen_field *find_field(const kc__gen_type *type, kc_str name)
{
    for (size_t i = 0; i < type->n_fields; i++)
        if (kc_str_eq(type->fields[i].json_name, name) && !type->fields[i].is_inline)
            return &type->fields[i];
    return NULL;
}

static bool has_inlined(const kc__gen_type *type)
{
    for (size_t i = 0; i < type->n_fields; i++)
        if (type->fields[i].is_inline)
            return true;
    return false;
}

static void check_one_of(kc__gen_schema_maker *maker, const kc__gen_type *type,
                         const kc__gen_marker *marker)
{
    kc_auto(kc_view) *view = kc_view_parse(kc__gen_marker_json(marker, ""), NULL, NULL);
    kc_value_each_item (kc_view_root(view), item) {
        const kc_str name = kc_value_as_str(item);
        const kc__gen_field *field = find_field(type, name);
        if (kc_str_find(name, '.') >= 0)
            kc__gen_schema_maker_fail(maker, marker->at,
                                      "'+%.*s' cannot refer to nested fields: %.*s",
                                      KC_ARG(marker->name), KC_ARG(name));
        else if (!field && !has_inlined(type))
            kc__gen_schema_maker_fail(maker, marker->at, "'+%.*s': unknown field '%.*s'",
                                      KC_ARG(marker->name), KC_ARG(name));
        else if (field && !field->optional)
            kc__gen_schema_maker_fail(
                maker, field->at,
                "%.*s is required but named by '+%.*s'; make it a pointer or add +optional",
                KC_ARG(field->c_name), KC_ARG(marker->name));
    }
}

static void check_one_ofs(kc__gen_schema_maker *maker, const kc__gen_type *type)
{
    for (size_t i = 0; i < type->markers.n; i++)
        for (size_t k = 0; k < KC_COUNT(one_ofs); k++)
            if (kc_str_is(type->markers.items[i].name, one_ofs[k]))
                check_one_of(maker, type, &type->markers.items[i]);
}

/* ---- structs ---- */

/* The server skips a field's rule when the field is absent; it evaluates the parent's. */
static void keep_immutable(kc__gen_schema_maker *maker, const kc__gen_field *field,
                           kc__gen_schema *schema)
{
    if (!gen_schema_make_has(field, "k8s:immutable") || !field->optional)
        return;
    const kc_str name = field->json_name;
    kc_autofree char *rule =
        kc_asprintf("!has(oldSelf.%.*s) || has(self.%.*s)", KC_ARG(name), KC_ARG(name));
    kc_autofree char *message = kc_asprintf("field %.*s is immutable once set", KC_ARG(name));
    kc__gen_schema_add_rule(schema,
                            kc__gen_schema_rule(maker->arena, kc_cstr(rule), kc_cstr(message)),
                            field->at, maker->arena);
}

static void gen_schema_make_add_field(kc__gen_schema_maker *maker, const kc__gen_field *field,
                                      kc__gen_schema *schema)
{
    kc__gen_schema *property = schema_of_field(maker, field);
    kc__gen_schema_add_property(schema, field->json_name, property, maker->arena);
    if (!field->optional)
        kc__gen_schema_require(schema, field->json_name, maker->arena);
    keep_immutable(maker, field, schema);
}

static void add_inlined(kc__gen_schema_maker *maker, const kc__gen_type *type,
                        kc__gen_schema *schema)
{
    for (size_t i = 0; i < type->n_fields; i++) {
        const kc__gen_field *field = &type->fields[i];
        if (field->is_inline &&
            !kc__gen_schema_merge_into(schema, schema_of_field(maker, field), maker->arena))
            kc__gen_schema_maker_fail(maker, field->at,
                                      "%.*s cannot be inline: it contradicts %.*s",
                                      KC_ARG(field->c_name), KC_ARG(type->c_name));
    }
}

/* Embedded metadata has no schema of its own: the server knows it, unless it prunes it. */
static void add_meta(kc__gen_schema_maker *maker, kc__gen_schema *schema)
{
    static const char *const texts[] = {"name", "namespace"}, *const maps[] = {"annotations",
                                                                               "labels"};
    for (size_t i = 0; i < 2; i++) {
        kc__gen_schema *map = schema_of_value(maker, KC__GEN_STRUCT, (kc__gen_at){0});
        map->values = schema_of_value(maker, KC__GEN_STRING, (kc__gen_at){0});
        kc__gen_schema_add_property(schema, kc_cstr(maps[i]), map, maker->arena);
        kc__gen_schema_add_property(schema, kc_cstr(texts[i]), map->values, maker->arena);
    }
    kc__gen_schema *finalizers = kc__gen_schema_new(maker->arena);
    set(finalizers, KC__GEN_SCHEMA_TYPE, "\"array\"");
    finalizers->items = schema_of_value(maker, KC__GEN_STRING, (kc__gen_at){0});
    kc__gen_schema_add_property(schema, KC_STR("finalizers"), finalizers, maker->arena);
}

static void fill_struct(kc__gen_schema_maker *maker, const kc__gen_type *type,
                        kc__gen_schema *schema)
{
    if (type->from_sdk && kc_str_is(type->c_name, "kc_object_meta")) {
        if (maker->embedded_object_meta)
            add_meta(maker, schema);
        return;
    }
    for (size_t i = 0; i < type->n_fields; i++)
        if (!type->fields[i].is_inline)
            gen_schema_make_add_field(maker, &type->fields[i], schema);
    check_one_ofs(maker, type);
}

/* ---- enums ---- */

static void fill_enum(kc__gen_schema_maker *maker, const kc__gen_type *type, kc__gen_schema *schema)
{
    kc_scoped(kc_buf) json = {0};
    KC_VEC(kc_str) texts = {0};
    for (size_t i = 0; i < type->n_values; i++)
        if (type->values[i].text.n)
            kc_vec_push(&texts, type->values[i].text);
    if (kc__gen_marker_find(&type->markers, "k8s:enum"))
        kc_vec_sort(&texts, kc_str_compare);
    kc_buf_putc(&json, '[');
    kc_vec_each (&texts, text) {
        kc_buf_puts(&json, text == texts.items ? "" : ",");
        kc_json_quote(&json, *text);
    }
    kc_buf_putc(&json, ']');
    kc_vec_done(&texts);
    kc__gen_schema_set_json(schema, KC__GEN_SCHEMA_ENUM, kc_buf_str(&json), maker->arena);
}

/* ---- types ---- */

/* The address of a type as a key. */
static kc_str gen_schema_make_key_of(kc__gen_schema_maker *maker, const kc__gen_type *type)
{
    return kc_arena_str(maker->arena, kc_str_of((const char *)&type, sizeof(type)));
}

/* A typedef of a list or map: its markers apply like those of a field, also to items. */
static kc__gen_schema *make_collection(kc__gen_schema_maker *maker, const kc__gen_type *type)
{
    kc__gen_field field = *type->inner;
    field.doc = type->doc;
    field.markers = type->markers;
    return schema_of_collection(maker, &field);
}

/* A second typedef: the first one's schema merged with its markers, as for a field. */
static kc__gen_schema *make_second(kc__gen_schema_maker *maker, const kc__gen_type *type)
{
    const kc__gen_schema *first = schema_of_type(maker, type->second_of, type->at);
    const kc__gen_markers markers = {type->markers.items + type->n_inherited,
                                     type->markers.n - type->n_inherited};
    kc__gen_schema *own = kc__gen_schema_new(maker->arena), *both = own;
    if (type->doc.n)
        kc__gen_schema_set_text(own, KC__GEN_SCHEMA_DESCRIPTION, type->doc, maker->arena);
    kc__gen_schema_apply(maker, &markers, own, first);
    check_one_ofs(maker, type);
    if (!kc__gen_schema_combine(first, own, &both, maker->arena))
        kc__gen_schema_maker_fail(maker, type->at, "%.*s has another type than %.*s",
                                  KC_ARG(type->c_name), KC_ARG(type->second_of->c_name));
    return both;
}

static kc__gen_schema *make_type(kc__gen_schema_maker *maker, const kc__gen_type *type)
{
    if (type->second_of)
        return make_second(maker, type);

    if (type->base != KC__GEN_ENUM && kc__gen_marker_find(&type->markers, "k8s:enum"))
        kc__gen_schema_maker_fail(maker, type->at,
                                  "'+k8s:enum' applies to an enum, which %.*s "
                                  "is not",
                                  KC_ARG(type->c_name));
    if (type->base == KC__GEN_INNER)
        return make_collection(maker, type);
    kc__gen_schema *schema = schema_of_value(maker, type->base, type->at);
    if (type->base == KC__GEN_STRUCT)
        fill_struct(maker, type, schema);
    if (type->base == KC__GEN_ENUM)
        fill_enum(maker, type, schema);
    if (type->doc.n)
        kc__gen_schema_set_text(schema, KC__GEN_SCHEMA_DESCRIPTION, type->doc, maker->arena);
    kc__gen_schema_apply(maker, &type->markers, schema, NULL);
    if (type->base == KC__GEN_STRUCT)
        add_inlined(maker, type, schema);
    return schema;
}

static kc__gen_schema *schema_of_type(kc__gen_schema_maker *maker, const kc__gen_type *type,
                                      kc__gen_at used_at)
{
    const kc_str key = gen_schema_make_key_of(maker, type);
    kc__gen_schema *schema = kc_map_get(&maker->done, key);
    if (schema)
        return schema;
    if (kc_map_get(&maker->under_way, key)) {
        kc__gen_schema_maker_fail(
            maker, used_at,
            "%.*s is recursive, which a CRD cannot express; mark this field with "
            "+kubebuilder:validation:Schemaless, +kubebuilder:validation:Type=object (or array) "
            "and +kubebuilder:pruning:PreserveUnknownFields",
            KC_ARG(type->c_name));
        return kc__gen_schema_new(maker->arena);
    }
    kc_map_put(&maker->under_way, key, (void *)type);
    schema = make_type(maker, type);
    kc_map_remove(&maker->under_way, key);
    kc_map_put(&maker->done, key, schema);
    return schema;
}

/* ---- kinds ---- */

#define CONVENTIONS \
    "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md"

static const struct type_meta {
    const char *name, *description;
} type_meta[] = {
    {"apiVersion", "APIVersion defines the versioned schema of this representation of an object.\n"
                   "Servers should convert recognized schemas to the latest internal value, and\n"
                   "may reject unrecognized values.\n"
                   "More info: " CONVENTIONS "#resources"},
    {"kind", "Kind is a string value representing the REST resource this object represents.\n"
             "Servers may infer this from the endpoint the client submits requests to.\n"
             "Cannot be updated.\n"
             "In CamelCase.\n"
             "More info: " CONVENTIONS "#types-kinds"},
};

kc__gen_schema *kc__gen_schema_of_kind(kc__gen_schema_maker *maker, const kc__gen_type *type)
{
    /* A copy: the kind may also be the type of a field. */
    kc__gen_schema *schema = kc__gen_schema_new(maker->arena);
    const kc__gen_schema nothing = {0};
    kc__gen_schema_combine(schema_of_type(maker, type, type->at), &nothing, &schema, maker->arena);
    for (size_t i = 0; i < KC_COUNT(type_meta); i++) {
        kc__gen_schema *text = schema_of_value(maker, KC__GEN_STRING, type->at);
        kc__gen_schema_set_text(text, KC__GEN_SCHEMA_DESCRIPTION, kc_cstr(type_meta[i].description),
                                maker->arena);
        if (!find_field(type, kc_cstr(type_meta[i].name)))
            kc__gen_schema_add_property(schema, kc_cstr(type_meta[i].name), text, maker->arena);
    }
    for (size_t i = 0; i < schema->n_properties; i++)
        if (kc_str_is(schema->properties[i].name, "metadata"))
            schema->properties[i].schema = schema_of_value(maker, KC__GEN_STRUCT, type->at);
    return schema;
}
