/* SPDX-License-Identifier: Apache-2.0 */
/*
 * apply_config.c: derives apply configurations from the types of a package.
 *
 * An apply configuration has the fields of its struct, and each of them can be left out:
 *
 *     int32_t replicas;              int32_t *replicas;              NULL: not set
 *     char *name;                    const char *name;               NULL: not set; "" is sent
 *     robot_spec spec;         ──▶   robot_spec_apply_config *spec;
 *     arm *arms; size_t n_arms;      arm_apply_config *arms; size_t n_arms;
 *     kc_object_meta metadata;       kc_object_meta metadata;        what is empty is not sent
 *
 * It is a type of the model, like any other: the writer of tables needs no cases for it. Defaults,
 * markers and documentation are left out: the server sets defaults, and the struct has the rest.
 *
 * Two packages that use a type of a third each declare its configuration. A macro of the same name
 * as the type prevents that a program with both headers declares it twice.
 */
#include "generate/write/apply_config.h"

#include "kc/map.h"

/* The types of one package while they are derived. */
typedef struct config_deriver {
    kc_arena *arena;
    kc_map configs; /* From the C name of a struct to its kc__gen_type. */
    kc__gen_type_list all;
} config_deriver;

static const kc__gen_type *derive_config(config_deriver *d, const kc__gen_type *type);

/* ---- fields ---- */

static bool is_metadata(const kc__gen_field *field)
{
    return field->base == KC__GEN_STRUCT && kc_str_is(field->type->c_name, "kc_object_meta");
}

/* Metadata and owner references have no values that could be left out; conditions have a
 * configuration in api.h. */
static const kc__gen_type *config_of_sdk_type(config_deriver *d, const kc__gen_type *type)
{
    if (!kc_str_is(type->c_name, "kc_status_condition"))
        return type;
    kc__gen_type *config = kc_arena_new(d->arena, kc__gen_type);
    config->c_name = KC_STR("kc_status_condition" KC__GEN_APPLY_CONFIG);
    config->base = KC__GEN_STRUCT;
    config->from_sdk = true;
    return config;
}

/* Whether 0 is a value of the type: only a pointer to it can be left out. */
static bool zero_is_a_value(const kc__gen_field *field)
{
    switch (field->base) {
    case KC__GEN_STRING:
    case KC__GEN_BYTES:
    case KC__GEN_QUANTITY:
    case KC__GEN_TIME:
    case KC__GEN_MICRO_TIME:
    case KC__GEN_RAW: return false;
    default: return true;
    }
}

/* The type of values and items. */
static void set_config_type(config_deriver *d, kc__gen_field *field)
{
    if (field->base == KC__GEN_STRUCT)
        field->type = derive_config(d, field->type);
    if (field->base != KC__GEN_INNER)
        return;
    kc__gen_field *inner = kc_arena_new(d->arena, kc__gen_field);
    *inner = *field->inner;
    inner->markers = (kc__gen_markers){0};
    inner->optional = true;
    set_config_type(d, inner);
    field->inner = inner;
}

static kc__gen_field derive_field(config_deriver *d, const kc__gen_field *original)
{
    kc__gen_field field = kc__gen_flat(original, d->arena);
    field.markers = (kc__gen_markers){0};
    field.doc = (kc_str){0};
    field.optional = true;
    set_config_type(d, &field);
    if (field.is_inline || (field.shape == KC__GEN_VALUE && is_metadata(&field)))
        return field;
    if (field.shape == KC__GEN_VALUE && zero_is_a_value(&field))
        field.shape = KC__GEN_POINTER;
    field.if_set = field.shape != KC__GEN_POINTER;
    return field;
}

/* ---- types ---- */

static const kc__gen_type *derive_config(config_deriver *d, const kc__gen_type *type)
{
    if (type->from_sdk)
        return config_of_sdk_type(d, type);
    kc__gen_type *config = kc_map_get(&d->configs, type->c_name);
    if (config)
        return config;
    config = kc_arena_new(d->arena, kc__gen_type);
    kc_map_put(&d->configs, type->c_name, config); /* Types may contain themselves. */
    *config = *type;
    config->c_name =
        kc_cstr(kc_arena_printf(d->arena, "%.*s" KC__GEN_APPLY_CONFIG, KC_ARG(type->c_name)));
    config->markers = (kc__gen_markers){0};
    config->doc = type->c_name; /* For the comment of the declaration. */
    kc__gen_field *fields = kc_arena_calloc(d->arena, type->n_fields + 1, sizeof(*fields));
    for (size_t i = 0; i < type->n_fields; i++)
        fields[i] = derive_field(d, &type->fields[i]);
    config->fields = fields;
    kc_vec_push(&d->all, config);
    return config;
}

/* ---- order ---- */

/* The struct that a field contains whole: inline, or as the value of a map. Others are behind
 * pointers. */
static const kc__gen_type *contained_struct(const kc__gen_field *field)
{
    const kc__gen_field *last = field;
    while (last->inner)
        last = last->inner;
    const bool whole = last->is_inline || (last->shape == KC__GEN_MAP && !last->pointers);
    return whole && last->base == KC__GEN_STRUCT && !last->type->from_sdk ? last->type : NULL;
}

static void add_in_order(kc_map *added, const kc__gen_type *type, kc__gen_type_list *ret)
{
    if (kc_map_put(added, type->c_name, ret))
        return;
    for (size_t i = 0; i < type->n_fields; i++) {
        const kc__gen_type *contained = contained_struct(&type->fields[i]);
        if (contained)
            add_in_order(added, contained, ret);
    }
    kc_vec_push(ret, type);
}

void kc__gen_apply_configs(const kc__gen_package *package, kc_arena *arena, kc__gen_type_list *ret)
{
    config_deriver d = {.arena = arena};
    kc_scoped(kc_map) added = {0};
    for (size_t i = 0; i < package->n_types; i++)
        if (package->types[i]->is_root)
            derive_config(&d, package->types[i]);
    kc_vec_each (&d.all, type)
        add_in_order(&added, *type, ret);
    kc_vec_done(&d.all);
    kc_map_done(&d.configs);
}

/* ---- declarations in C ---- */

static const char *const c_types[] = {
    [KC__GEN_BOOL] = "bool",
    [KC__GEN_INT32] = "int32_t",
    [KC__GEN_INT64] = "int64_t",
    [KC__GEN_UINT32] = "uint32_t",
    [KC__GEN_UINT64] = "uint64_t",
    [KC__GEN_FLOAT32] = "float",
    [KC__GEN_FLOAT64] = "double",
    [KC__GEN_STRING] = "const char *",
    [KC__GEN_BYTES] = "kc_bytes",
    [KC__GEN_INT_OR_STRING] = "kc_int_or_string",
    [KC__GEN_QUANTITY] = "kc_quantity_text",
    [KC__GEN_TIME] = "kc_timestamp",
    [KC__GEN_MICRO_TIME] = "kc_micro_timestamp",
    [KC__GEN_DURATION] = "kc_duration_field",
    [KC__GEN_RAW] = "kc_raw",
};

static void put_collection(kc_buf *out, const kc__gen_field *field);

/* The type of a value, or of an item of a list or map. */
static void put_c_type(kc_buf *out, const kc__gen_field *field)
{
    if (field->base == KC__GEN_INNER)
        put_collection(out, field->inner);
    else if (field->base == KC__GEN_STRUCT || field->base == KC__GEN_ENUM)
        kc_buf_append(out, field->type->c_name);
    else
        kc_buf_puts(out, c_types[field->base]);
    kc_buf_puts(out, field->pointers ? " *" : "");
}

static void put_collection(kc_buf *out, const kc__gen_field *field)
{
    if (field->shape == KC__GEN_MAP && field->base == KC__GEN_STRING) {
        kc_buf_puts(out, "kc_string_map");
        return;
    }
    kc_buf_puts(out, field->shape == KC__GEN_MAP ? "KC_MAP_OF(" : "KC_LIST_OF(");
    put_c_type(out, field);
    kc_buf_putc(out, ')');
}

/* A list has a count beside it, or, as KC_LIST_OF, in it. */
static bool has_count_beside(const kc__gen_field *field)
{
    return field->shape == KC__GEN_LIST && kc_str_find(field->count, '.') < 0;
}

static void put_c_member(kc_buf *out, const kc__gen_field *field)
{
    const bool beside = has_count_beside(field);
    kc_buf_puts(out, "    ");
    if (field->shape == KC__GEN_MAP || (field->shape == KC__GEN_LIST && !beside))
        put_collection(out, field);
    else
        put_c_type(out, field);
    const bool star = out->p[out->n - 1] == '*';
    kc_buf_puts(out, star ? "" : " ");
    kc_buf_puts(out, beside || field->shape == KC__GEN_POINTER ? "*" : "");
    kc_buf_printf(out, "%.*s;\n", KC_ARG(field->c_name));
    if (beside)
        kc_buf_printf(out, "    size_t %.*s;\n", KC_ARG(field->count));
}

static void put_c_struct(kc_buf *out, const kc__gen_type *type)
{
    const kc_str name = type->c_name;
    kc_buf_printf(out, "#ifndef %.*s\n#define %.*s %.*s\n", KC_ARG(name), KC_ARG(name),
                  KC_ARG(name));
    kc_buf_printf(out, "/* As %.*s; what is not set is not sent. */\n", KC_ARG(type->doc));
    kc_buf_printf(out, "struct %.*s {\n", KC_ARG(name));
    for (size_t i = 0; i < type->n_fields; i++)
        put_c_member(out, &type->fields[i]);
    kc_buf_puts(out, "};\n#endif\n");
}

void kc__gen_apply_config_declare(const kc__gen_type_list *configs, kc_buf *out)
{
    kc_vec_each (configs, type)
        kc_buf_printf(out, "typedef struct %.*s %.*s;\n", KC_ARG((*type)->c_name),
                      KC_ARG((*type)->c_name));
    kc_vec_each (configs, type)
        put_c_struct(out, *type);
}
