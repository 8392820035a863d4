/* SPDX-License-Identifier: Apache-2.0 */
/*
 * types_markers.c: converts schemas of a CRD to C types, comments and markers.
 *
 * The inverse of schema_markers.c. Values are written as JSON wherever a marker accepts it, so that
 * reading them back is unambiguous. What has no marker, or none at this place, is lost and reported
 * (kc__gen_types_unrepresentable).
 *
 * To add a marker: a row of `rows`.
 */
#include "generate/types/types_internal.h"

#include "kc/ascii.h"
#include "kc/json.h"

#define V "kubebuilder:validation:"

static bool is_type(const kc_value *schema, const char *type)
{
    return kc_str_is(kc_value_as_str(kc_value_get(schema, "type")), type);
}

static bool gen_types_markers_is_set(const kc_value *schema, const char *keyword)
{
    return kc_value_as_bool(kc_value_get(schema, keyword), false);
}

/* ---- schema types ---- */

static bool is_int_or_string(const kc_value *schema)
{
    return gen_types_markers_is_set(schema, "x-kubernetes-int-or-string");
}

/* A value that may be a number is a quantity: its pattern is implied. */
static bool is_quantity(const kc_value *schema)
{
    return is_int_or_string(schema) && kc_value_get(schema, "anyOf") &&
           kc_str_contains(kc_value_as_str(kc_value_get(schema, "pattern")), KC_STR("[numkMGTPE]"));
}

kc__gen_types_form kc__gen_types_form_of(const kc_value *schema)
{
    if (is_int_or_string(schema) || is_type(schema, "string") || is_type(schema, "integer") ||
        is_type(schema, "number") || is_type(schema, "boolean"))
        return KC__GEN_TYPES_ONE;
    if (is_type(schema, "array") && kc_value_type(kc_value_get(schema, "items")) == KC_JSON_OBJECT)
        return KC__GEN_TYPES_LIST;
    if (is_type(schema, "object") && kc_value_len(kc_value_get(schema, "properties")))
        return KC__GEN_TYPES_STRUCT;
    if (is_type(schema, "object") &&
        kc_value_type(kc_value_get(schema, "additionalProperties")) == KC_JSON_OBJECT)
        return KC__GEN_TYPES_MAP;
    return KC__GEN_TYPES_RAW;
}

bool kc__gen_types_is_condition(const kc_value *schema)
{
    static const char text[] =
        "Condition contains details for one aspect of the current state of this API Resource.";
    const kc_value *properties = kc_value_get(schema, "properties");
    const kc_value *length = kc_value_get(kc_value_get(properties, "type"), "maxLength");
    return kc_str_is(kc_value_as_str(kc_value_get(schema, "description")), text) &&
           kc_value_len(properties) == 6 && kc_value_len(kc_value_get(schema, "required")) == 5 &&
           kc_value_as_i64_or(length, 0) == 316 && kc_value_get(properties, "observedGeneration");
}

const char *kc__gen_types_value(const kc_value *schema)
{
    const kc_str format = kc_value_as_str(kc_value_get(schema, "format"));
    if (is_int_or_string(schema))
        return is_quantity(schema) ? "kc_quantity_text" : "kc_int_or_string";
    if (is_type(schema, "string"))
        return kc_str_is(format, "byte")        ? "kc_bytes"
               : kc_str_is(format, "date-time") ? "kc_timestamp"
                                                : "char *";
    if (is_type(schema, "integer"))
        return kc_str_is(format, "int32") ? "int32_t" : "int64_t";
    if (is_type(schema, "number"))
        return "double";
    return is_type(schema, "boolean") ? "bool" : "kc_raw";
}

/* ---- values ---- */

static void gen_types_markers_put_text(kc_buf *out, kc_str text)
{
    bool plain = true;
    for (size_t i = 0; i < text.n; i++)
        plain &= text.p[i] != '`' && (unsigned char)text.p[i] >= ' ';
    if (plain)
        kc_buf_printf(out, "`%.*s`", KC_ARG(text));
    else
        kc_json_quote(out, text);
}

/* A string that is unambiguous without quotes. */
static bool gen_types_markers_is_word(const kc_value *value)
{
    static const char *const others[] = {"true", "false", "null", NULL};
    const kc_str text = kc_value_as_str(value);
    for (size_t i = 0; i < text.n; i++)
        if (!kc_is_alnum(text.p[i]) && (i == 0 || !strchr("-_.", text.p[i])))
            return false;
    return text.n && !kc_is_digit(text.p[0]) && !kc_str_is_any(text, others);
}

void kc__gen_types_put_value(kc_buf *out, const kc_value *value)
{
    if (gen_types_markers_is_word(value))
        kc_buf_append(out, kc_value_as_str(value));
    else
        kc_json_write(out, value);
}

void kc__gen_types_put_list(kc_buf *out, const kc_value *values)
{
    bool words = kc_value_len(values) > 0;
    const char *comma = "";
    kc_value_each_item (values, value)
        words &= gen_types_markers_is_word(value);
    kc_buf_puts(out, words ? "" : "{");
    kc_value_each_item (values, value) {
        kc_buf_puts(out, comma);
        if (words)
            kc_buf_append(out, kc_value_as_str(value));
        else
            kc_json_write(out, value);
        comma = words ? ";" : ",";
    }
    kc_buf_puts(out, words ? "" : "}");
}

/* Whether markers of any type can express it: lists have items of one type. */
static bool has_notation(const kc_value *value)
{
    if (kc_value_type(value) == KC_JSON_ARRAY && !kc_value_len(value))
        return false;
    kc_value_each_item (value, item)
        if (kc_value_type(item) != kc_value_type(kc_value_at(value, 0)) || !has_notation(item))
            return false;
    kc_value_each_member (value, name, member) {
        (void)name;
        if (!has_notation(member))
            return false;
    }
    return kc_value_type(value) != KC_JSON_NULL;
}

/* A value in marker syntax: lists and maps both have braces. */
static void put_any(kc_buf *out, const kc_value *value)
{
    const char *comma = "";
    if (kc_value_type(value) != KC_JSON_OBJECT && kc_value_type(value) != KC_JSON_ARRAY) {
        kc_json_write(out, value);
        return;
    }
    kc_buf_putc(out, '{');
    kc_value_each_member (value, name, member) {
        kc_buf_puts(out, comma);
        kc_json_quote(out, name);
        kc_buf_puts(out, ": ");
        put_any(out, member);
        comma = ", ";
    }
    kc_value_each_item (value, item) {
        kc_buf_puts(out, comma);
        put_any(out, item);
        comma = ", ";
    }
    kc_buf_putc(out, '}');
}

/* ---- markers ---- */

typedef enum notation {
    AS_JSON,    /* Minimum=3 */
    AS_LIST,    /* Enum={"a","b"} */
    AS_ANY,     /* example={"a": {1,2}} */
    AS_FLAG,    /* nullable, if it is true */
    AS_WORD,    /* listType=map */
    AS_EACH,    /* listMapKey=name, once for each */
    AS_PATTERN, /* Pattern=`^a$` */
    AS_DOCS,    /* externalDocs:url="…" */
    AS_RULES,   /* XValidation:rule="…", once for each */
} notation;

enum {
    F = KC__GEN_TYPES_FIELD,
    FT = F | KC__GEN_TYPES_TYPE,
    IT = KC__GEN_TYPES_ITEMS | KC__GEN_TYPES_TYPE,
    FIT = F | IT
};

static const struct gen_types_markers_row {
    const char *keyword, *marker;
    notation notation;
    int places; /* Items have only those under kubebuilder:validation:. */
} rows[] = {
    {"maximum", V "Maximum", AS_JSON, FIT},
    {"minimum", V "Minimum", AS_JSON, FIT},
    {"exclusiveMaximum", V "ExclusiveMaximum", AS_JSON, FIT},
    {"exclusiveMinimum", V "ExclusiveMinimum", AS_JSON, FIT},
    {"multipleOf", V "MultipleOf", AS_JSON, FIT},
    {"maxLength", V "MaxLength", AS_JSON, FIT},
    {"minLength", V "MinLength", AS_JSON, FIT},
    {"pattern", V "Pattern", AS_PATTERN, FIT},
    {"maxItems", V "MaxItems", AS_JSON, FIT},
    {"minItems", V "MinItems", AS_JSON, FIT},
    {"uniqueItems", V "UniqueItems", AS_JSON, FIT},
    {"maxProperties", V "MaxProperties", AS_JSON, FIT},
    {"minProperties", V "MinProperties", AS_JSON, FIT},
    {"enum", V "Enum", AS_LIST, FIT},
    {"default", "default", AS_JSON, F},
    {"example", "kubebuilder:example", AS_ANY, F},
    {"title", "kubebuilder:title", AS_JSON, FT},
    {"externalDocs", "kubebuilder:externalDocs", AS_DOCS, FT},
    {"nullable", "nullable", AS_FLAG, F},
    {"x-kubernetes-list-type", "listType", AS_WORD, FT},
    {"x-kubernetes-list-map-keys", "listMapKey", AS_EACH, FT},
    {"x-kubernetes-embedded-resource", V "EmbeddedResource", AS_FLAG, F},
    {"x-kubernetes-embedded-resource", V "XEmbeddedResource", AS_FLAG, IT},
    {"x-kubernetes-validations", V "XValidation", AS_RULES, FIT},
};

static void gen_types_markers_begin(kc_buf *out, const char *indent, const char *marker,
                                    kc__gen_types_position place)
{
    const bool items = place == KC__GEN_TYPES_ITEMS && !strncmp(marker, V, sizeof(V) - 1);
    kc_buf_printf(out, "%s/// +%s%s", indent, items ? V "items:" : "",
                  items ? marker + sizeof(V) - 1 : marker);
}

/* name=value,name=value of an object's members. */
static void put_args(kc_buf *out, const kc_value *object, const char *const *names)
{
    const char *before = ":";
    for (; *names; names++) {
        const kc_value *value = kc_value_get(object, *names);
        if (!value)
            continue;
        kc_buf_printf(out, "%s%s=", before, *names);
        kc_json_write(out, value);
        before = ",";
    }
}

static void gen_types_markers_put_value(kc_buf *out, notation how, const kc_value *value)
{
    static const char *const docs[] = {"url", "description", NULL};
    static const char *const rule[] = {
        "rule", "message", "messageExpression", "reason", "fieldPath", "optionalOldSelf", NULL};
    if (how != AS_FLAG && how != AS_DOCS && how != AS_RULES)
        kc_buf_putc(out, '=');
    switch (how) {
    case AS_JSON: kc_json_write(out, value); break;
    case AS_LIST: kc__gen_types_put_list(out, value); break;
    case AS_ANY: put_any(out, value); break;
    case AS_WORD:
    case AS_EACH: kc__gen_types_put_value(out, value); break;
    case AS_PATTERN: gen_types_markers_put_text(out, kc_value_as_str(value)); break;
    case AS_DOCS: put_args(out, value, docs); break;
    case AS_RULES: put_args(out, value, rule); break;
    default: break;
    }
    kc_buf_putc(out, '\n');
}

static void put_row(kc_buf *out, const char *indent, const struct gen_types_markers_row *row,
                    const kc_value *value, kc__gen_types_position place)
{
    if ((row->notation == AS_FLAG && !kc_value_as_bool(value, false)) ||
        (row->notation == AS_ANY && !has_notation(value)))
        return;
    if (row->notation == AS_EACH || row->notation == AS_RULES) {
        kc_value_each_item (value, item) {
            gen_types_markers_begin(out, indent, row->marker, place);
            gen_types_markers_put_value(out, row->notation, item);
        }
        return;
    }
    gen_types_markers_begin(out, indent, row->marker, place);
    gen_types_markers_put_value(out, row->notation, value);
}

static void put_flag(kc_buf *out, const char *indent, kc__gen_types_position place,
                     const char *marker)
{
    gen_types_markers_begin(out, indent, marker, place);
    kc_buf_putc(out, '\n');
}

/* A marker with a value of the schema, or "" if it has none. */
static void put_word(kc_buf *out, const char *indent, kc__gen_types_position place,
                     const char *marker, const kc_value *word)
{
    gen_types_markers_begin(out, indent, marker, place);
    kc_buf_putc(out, '=');
    if (word)
        kc__gen_types_put_value(out, word);
    else
        kc_buf_puts(out, "\"\"");
    kc_buf_putc(out, '\n');
}

/* A format that follows from the C type needs no marker; removing one does. */
static void mark_format(kc_buf *out, const char *indent, const kc_value *schema,
                        kc__gen_types_position place)
{
    const kc_str format = kc_value_as_str(kc_value_get(schema, "format"));
    const bool is_integer = is_type(schema, "integer"), is_text = is_type(schema, "string");
    if (is_int_or_string(schema) || (!is_integer && !format.n) ||
        (is_integer && (kc_str_is(format, "int32") || kc_str_is(format, "int64"))) ||
        (is_text && (kc_str_is(format, "date-time") || kc_str_is(format, "byte"))))
        return;
    put_word(out, indent, place, V "Format", kc_value_get(schema, "format"));
}

/* Differences to kc_raw, which allows anything. */
static void mark_raw(kc_buf *out, const char *indent, const kc_value *schema,
                     kc__gen_types_position place)
{
    const kc_value *type = kc_value_get(schema, "type");
    if (!gen_types_markers_is_set(schema, "x-kubernetes-preserve-unknown-fields") &&
        place == KC__GEN_TYPES_FIELD)
        put_flag(out, indent, place, V "Schemaless");
    if (kc_value_as_str(type).n)
        put_word(out, indent, place, V "Type", type);
}

static void mark_form(kc_buf *out, const char *indent, const kc_value *schema,
                      kc__gen_types_position place)
{
    const kc__gen_types_form form = kc__gen_types_form_of(schema);
    const kc_value *map_type = kc_value_get(schema, "x-kubernetes-map-type");
    if (form == KC__GEN_TYPES_RAW)
        mark_raw(out, indent, schema, place);
    else if (gen_types_markers_is_set(schema, "x-kubernetes-preserve-unknown-fields"))
        put_flag(out, indent, place,
                 place == KC__GEN_TYPES_ITEMS ? V "XPreserveUnknownFields"
                                              : "kubebuilder:pruning:PreserveUnknownFields");
    if (is_int_or_string(schema) && !kc_value_get(schema, "anyOf") &&
        place == KC__GEN_TYPES_FIELD) {
        put_flag(out, indent, place, V "Schemaless");
        put_flag(out, indent, place, V "XIntOrString");
    }
    if (kc_value_as_str(map_type).n && place != KC__GEN_TYPES_ITEMS)
        put_word(out, indent, place, form == KC__GEN_TYPES_STRUCT ? "structType" : "mapType",
                 map_type);
}

void kc__gen_types_mark_limits(kc_buf *out, const char *indent, const kc_value *schema,
                               kc__gen_types_position place)
{
    for (size_t i = 0; i < KC_COUNT(rows); i++) {
        const kc_value *value = kc_value_get(schema, rows[i].keyword);
        if (value && (rows[i].places & place) &&
            !(rows[i].notation == AS_PATTERN && is_quantity(schema)))
            put_row(out, indent, &rows[i], value, place);
    }
}

void kc__gen_types_mark(kc_buf *out, const char *indent, const kc_value *schema,
                        kc__gen_types_position place)
{
    kc__gen_types_mark_limits(out, indent, schema, place);
    mark_format(out, indent, schema, place);
    mark_form(out, indent, schema, place);
}

/* One line of a comment, with everything removed that would end it or make it special. A line that
 * starts with '+' would be read as a marker, one that ends with '\\' continues in the next. */
static void put_comment(kc_buf *out, const char *indent, kc_str line)
{
    while (line.n && strchr(" \\", line.p[line.n - 1]))
        line.n--;
    const bool plus = kc_str_starts(kc_str_trim(line), KC_STR("+"));
    kc_buf_printf(out, "%s///%s%s", indent, line.n ? " " : "", plus ? "\\" : "");
    for (size_t i = 0; i < line.n; i++)
        kc_buf_putc(out, (unsigned char)line.p[i] < ' ' && line.p[i] != '\t' ? ' ' : line.p[i]);
    kc_buf_putc(out, '\n');
}

void kc__gen_types_describe(kc_buf *out, const char *indent, const kc_value *schema)
{
    kc_str rest = kc_value_as_str(kc_value_get(schema, "description"));
    while (rest.n)
        put_comment(out, indent, kc_str_cut(&rest, '\n'));
}

/* ---- what cannot be expressed ---- */

/* Whether a keyword has a row for this place. */
static bool has_row(kc_str keyword, int places)
{
    for (size_t i = 0; i < KC_COUNT(rows); i++)
        if (kc_str_is(keyword, rows[i].keyword) && (rows[i].places & places))
            return true;
    return false;
}

const kc_value *kc__gen_types_both(const kc_value *schema)
{
    const kc_value *parts = kc_value_get(schema, "allOf");
    const kc__gen_types_form form = kc__gen_types_form_of(schema);
    if (kc_value_len(parts) != 2 || is_int_or_string(schema) || form == KC__GEN_TYPES_RAW ||
        form == KC__GEN_TYPES_STRUCT)
        return NULL;
    kc_value_each_item (parts, part)
        kc_value_each_member (part, keyword, value) {
            (void)value;
            if (!has_row(keyword, KC__GEN_TYPES_ITEMS))
                return NULL;
        }
    return parts;
}

/* Keywords without a marker: the C type, the comment or mark_form expresses them. */
static const char *const other_markers[] = {
    "type",
    "format",
    "description",
    "properties",
    "items",
    "required",
    "x-kubernetes-map-type",
    "x-kubernetes-preserve-unknown-fields",
    "x-kubernetes-int-or-string",
    NULL,
};

static bool is_marked(const kc_value *schema, kc_str keyword, kc__gen_types_position place)
{
    if (kc_str_is(keyword, "additionalProperties"))
        return kc__gen_types_form_of(schema) == KC__GEN_TYPES_MAP;
    if (kc_str_is(keyword, "anyOf"))
        return is_int_or_string(schema) && kc_value_len(kc_value_get(schema, "anyOf")) == 2;
    if (kc_str_is(keyword, "example") && !has_notation(kc_value_get(schema, "example")))
        return false;
    if (kc_str_is(keyword, "allOf"))
        return place == KC__GEN_TYPES_FIELD && kc__gen_types_both(schema);
    return kc_str_is_any(keyword, other_markers) || has_row(keyword, (int)place);
}

void kc__gen_types_unrepresentable(kc_buf *out, const kc_value *schema,
                                   kc__gen_types_position place)
{
    kc_value_each_member (schema, keyword, value) {
        (void)value;
        if (is_marked(schema, keyword, place))
            continue;
        kc_buf_puts(out, out->n ? ", " : "");
        for (size_t i = 0; i < keyword.n; i++)
            kc_buf_putc(out, kc_is_alnum(keyword.p[i]) ? keyword.p[i] : '-');
    }
    /* Only at a field can a marker restrict kc_raw. */
    if (place != KC__GEN_TYPES_FIELD && kc__gen_types_form_of(schema) == KC__GEN_TYPES_RAW &&
        !gen_types_markers_is_set(schema, "x-kubernetes-preserve-unknown-fields"))
        kc_buf_printf(out, "%sthat unknown fields are dropped", out->n ? ", " : "");
}
