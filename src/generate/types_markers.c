/* SPDX-License-Identifier: Apache-2.0 */
/*
 * types_markers.c: schemas of a CRD, back to C types, comments and markers.
 *
 * The other way round of schema_markers.c: what it sets, this reads. Values are written as JSON
 * wherever a marker takes it, so that nothing has to be guessed when it is read again. What has no
 * marker, or none at the place in question, is lost, and said to be (kc__types_lost).
 *
 * To add one: a row of `rows`.
 */
#include "generate/types_internal.h"

#include "kc/ascii.h"
#include "kc/json.h"

#define V "kubebuilder:validation:"

static bool is_type(const kc_value *schema, const char *type)
{
    return kc_str_is(kc_as_str(kc_get(schema, "type")), type);
}

static bool is_set(const kc_value *schema, const char *keyword)
{
    return kc_as_bool(kc_get(schema, keyword), false);
}

/* ---- what a schema is ---- */

static bool is_int_or_string(const kc_value *schema)
{
    return is_set(schema, "x-kubernetes-int-or-string");
}

/* A value that may be a number is a quantity: its pattern is theirs. */
static bool is_quantity(const kc_value *schema)
{
    return is_int_or_string(schema) && kc_get(schema, "anyOf") &&
           kc_str_contains(kc_as_str(kc_get(schema, "pattern")), KC_STR("[numkMGTPE]"));
}

kc__types_form kc__types_form_of(const kc_value *schema)
{
    if (is_int_or_string(schema) || is_type(schema, "string") || is_type(schema, "integer") ||
        is_type(schema, "number") || is_type(schema, "boolean"))
        return KC__TYPES_ONE;
    if (is_type(schema, "array") && kc_type_of(kc_get(schema, "items")) == KC_OBJECT)
        return KC__TYPES_LIST;
    if (is_type(schema, "object") && kc_len(kc_get(schema, "properties")))
        return KC__TYPES_STRUCT;
    if (is_type(schema, "object") &&
        kc_type_of(kc_get(schema, "additionalProperties")) == KC_OBJECT)
        return KC__TYPES_MAP;
    return KC__TYPES_RAW;
}

bool kc__types_is_condition(const kc_value *schema)
{
    static const char text[] =
        "Condition contains details for one aspect of the current state of this API Resource.";
    const kc_value *properties = kc_get(schema, "properties");
    const kc_value *length = kc_get(kc_get(properties, "type"), "maxLength");
    return kc_str_is(kc_as_str(kc_get(schema, "description")), text) && kc_len(properties) == 6 &&
           kc_len(kc_get(schema, "required")) == 5 && kc_as_i64_or(length, 0) == 316 &&
           kc_get(properties, "observedGeneration");
}

const char *kc__types_value(const kc_value *schema)
{
    const kc_str format = kc_as_str(kc_get(schema, "format"));
    if (is_int_or_string(schema))
        return is_quantity(schema) ? "kc_quantity_text" : "kc_int_or_text";
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

static void put_text(kc_buf *out, kc_str text)
{
    bool plain = true;
    for (size_t i = 0; i < text.n; i++)
        plain &= text.p[i] != '`' && (unsigned char)text.p[i] >= ' ';
    if (plain)
        kc_buf_printf(out, "`%.*s`", KC_ARG(text));
    else
        kc_json_quote(out, text);
}

/* A text that needs no quotes: it can be taken for nothing else. */
static bool is_word(const kc_value *value)
{
    static const char *const others[] = {"true", "false", "null", NULL};
    const kc_str text = kc_as_str(value);
    for (size_t i = 0; i < text.n; i++)
        if (!kc_is_alnum(text.p[i]) && (i == 0 || !strchr("-_.", text.p[i])))
            return false;
    return text.n && !kc_is_digit(text.p[0]) && !kc_str_is_any(text, others);
}

void kc__types_put_value(kc_buf *out, const kc_value *value)
{
    if (is_word(value))
        kc_buf_append(out, kc_as_str(value));
    else
        kc_json_write(out, value);
}

void kc__types_put_list(kc_buf *out, const kc_value *values)
{
    bool words = kc_len(values) > 0;
    const char *comma = "";
    kc_items (values, value)
        words &= is_word(value);
    kc_buf_puts(out, words ? "" : "{");
    kc_items (values, value) {
        kc_buf_puts(out, comma);
        if (words)
            kc_buf_append(out, kc_as_str(value));
        else
            kc_json_write(out, value);
        comma = words ? ";" : ",";
    }
    kc_buf_puts(out, words ? "" : "}");
}

/* Whether markers that take anything have a notation for it: lists have items of one type. */
static bool has_notation(const kc_value *value)
{
    if (kc_type_of(value) == KC_ARRAY && !kc_len(value))
        return false;
    kc_items (value, item)
        if (kc_type_of(item) != kc_type_of(kc_at(value, 0)) || !has_notation(item))
            return false;
    kc_members (value, name, member) {
        (void)name;
        if (!has_notation(member))
            return false;
    }
    return kc_type_of(value) != KC_NULL;
}

/* A value as these write it: lists and maps both have braces. */
static void put_any(kc_buf *out, const kc_value *value)
{
    const char *comma = "";
    if (kc_type_of(value) != KC_OBJECT && kc_type_of(value) != KC_ARRAY) {
        kc_json_write(out, value);
        return;
    }
    kc_buf_putc(out, '{');
    kc_members (value, name, member) {
        kc_buf_puts(out, comma);
        kc_json_quote(out, name);
        kc_buf_puts(out, ": ");
        put_any(out, member);
        comma = ", ";
    }
    kc_items (value, item) {
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
    F = KC__TYPES_FIELD,
    FT = F | KC__TYPES_TYPE,
    IT = KC__TYPES_ITEMS | KC__TYPES_TYPE,
    FIT = F | IT
};

static const struct row {
    const char *keyword, *marker;
    notation notation;
    int places; /* Of items only those under kubebuilder:validation:. */
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

static void begin(kc_buf *out, const char *indent, const char *marker, kc__types_place place)
{
    const bool items = place == KC__TYPES_ITEMS && !strncmp(marker, V, sizeof(V) - 1);
    kc_buf_printf(out, "%s/// +%s%s", indent, items ? V "items:" : "",
                  items ? marker + sizeof(V) - 1 : marker);
}

/* name=value,name=value of what an object has. */
static void put_args(kc_buf *out, const kc_value *object, const char *const *names)
{
    const char *before = ":";
    for (; *names; names++) {
        const kc_value *value = kc_get(object, *names);
        if (!value)
            continue;
        kc_buf_printf(out, "%s%s=", before, *names);
        kc_json_write(out, value);
        before = ",";
    }
}

static void put_value(kc_buf *out, notation how, const kc_value *value)
{
    static const char *const docs[] = {"url", "description", NULL};
    static const char *const rule[] = {
        "rule", "message", "messageExpression", "reason", "fieldPath", "optionalOldSelf", NULL};
    if (how != AS_FLAG && how != AS_DOCS && how != AS_RULES)
        kc_buf_putc(out, '=');
    switch (how) {
    case AS_JSON: kc_json_write(out, value); break;
    case AS_LIST: kc__types_put_list(out, value); break;
    case AS_ANY: put_any(out, value); break;
    case AS_WORD:
    case AS_EACH: kc__types_put_value(out, value); break;
    case AS_PATTERN: put_text(out, kc_as_str(value)); break;
    case AS_DOCS: put_args(out, value, docs); break;
    case AS_RULES: put_args(out, value, rule); break;
    default: break;
    }
    kc_buf_putc(out, '\n');
}

static void put_row(kc_buf *out, const char *indent, const struct row *row, const kc_value *value,
                    kc__types_place place)
{
    if ((row->notation == AS_FLAG && !kc_as_bool(value, false)) ||
        (row->notation == AS_ANY && !has_notation(value)))
        return;
    if (row->notation == AS_EACH || row->notation == AS_RULES) {
        kc_items (value, item) {
            begin(out, indent, row->marker, place);
            put_value(out, row->notation, item);
        }
        return;
    }
    begin(out, indent, row->marker, place);
    put_value(out, row->notation, value);
}

static void put_flag(kc_buf *out, const char *indent, kc__types_place place, const char *marker)
{
    begin(out, indent, marker, place);
    kc_buf_putc(out, '\n');
}

/* A marker with a word of the schema, or "" where it has none. */
static void put_word(kc_buf *out, const char *indent, kc__types_place place, const char *marker,
                     const kc_value *word)
{
    begin(out, indent, marker, place);
    kc_buf_putc(out, '=');
    if (word)
        kc__types_put_value(out, word);
    else
        kc_buf_puts(out, "\"\"");
    kc_buf_putc(out, '\n');
}

/* A format that follows from the C type needs no marker; one that follows and is not wanted does.
 */
static void mark_format(kc_buf *out, const char *indent, const kc_value *schema,
                        kc__types_place place)
{
    const kc_str format = kc_as_str(kc_get(schema, "format"));
    const bool is_integer = is_type(schema, "integer"), is_text = is_type(schema, "string");
    if (is_int_or_string(schema) || (!is_integer && !format.n) ||
        (is_integer && (kc_str_is(format, "int32") || kc_str_is(format, "int64"))) ||
        (is_text && (kc_str_is(format, "date-time") || kc_str_is(format, "byte"))))
        return;
    put_word(out, indent, place, V "Format", kc_get(schema, "format"));
}

/* What kc_raw, which is anything, says too much or too little of. */
static void mark_raw(kc_buf *out, const char *indent, const kc_value *schema, kc__types_place place)
{
    const kc_value *type = kc_get(schema, "type");
    if (!is_set(schema, "x-kubernetes-preserve-unknown-fields") && place == KC__TYPES_FIELD)
        put_flag(out, indent, place, V "Schemaless");
    if (kc_as_str(type).n)
        put_word(out, indent, place, V "Type", type);
}

static void mark_form(kc_buf *out, const char *indent, const kc_value *schema,
                      kc__types_place place)
{
    const kc__types_form form = kc__types_form_of(schema);
    const kc_value *map_type = kc_get(schema, "x-kubernetes-map-type");
    if (form == KC__TYPES_RAW)
        mark_raw(out, indent, schema, place);
    else if (is_set(schema, "x-kubernetes-preserve-unknown-fields"))
        put_flag(out, indent, place,
                 place == KC__TYPES_ITEMS ? V "XPreserveUnknownFields"
                                          : "kubebuilder:pruning:PreserveUnknownFields");
    if (is_int_or_string(schema) && !kc_get(schema, "anyOf") && place == KC__TYPES_FIELD) {
        put_flag(out, indent, place, V "Schemaless");
        put_flag(out, indent, place, V "XIntOrString");
    }
    if (kc_as_str(map_type).n && place != KC__TYPES_ITEMS)
        put_word(out, indent, place, form == KC__TYPES_STRUCT ? "structType" : "mapType", map_type);
}

void kc__types_mark_limits(kc_buf *out, const char *indent, const kc_value *schema,
                           kc__types_place place)
{
    for (size_t i = 0; i < KC_COUNT(rows); i++) {
        const kc_value *value = kc_get(schema, rows[i].keyword);
        if (value && (rows[i].places & place) &&
            !(rows[i].notation == AS_PATTERN && is_quantity(schema)))
            put_row(out, indent, &rows[i], value, place);
    }
}

void kc__types_mark(kc_buf *out, const char *indent, const kc_value *schema, kc__types_place place)
{
    kc__types_mark_limits(out, indent, schema, place);
    mark_format(out, indent, schema, place);
    mark_form(out, indent, schema, place);
}

/* One line of a comment: what would end it, or make more of it than a comment, is taken out. A line
 * that begins with '+' would be read as a marker, one that ends with '\\' goes on in the next. */
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

void kc__types_describe(kc_buf *out, const char *indent, const kc_value *schema)
{
    kc_str rest = kc_as_str(kc_get(schema, "description"));
    while (rest.n)
        put_comment(out, indent, kc_str_cut(&rest, '\n'));
}

/* ---- what cannot be said ---- */

/* Whether this place has a row for a keyword. */
static bool has_row(kc_str keyword, int places)
{
    for (size_t i = 0; i < KC_COUNT(rows); i++)
        if (kc_str_is(keyword, rows[i].keyword) && (rows[i].places & places))
            return true;
    return false;
}

const kc_value *kc__types_both(const kc_value *schema)
{
    const kc_value *parts = kc_get(schema, "allOf");
    const kc__types_form form = kc__types_form_of(schema);
    if (kc_len(parts) != 2 || is_int_or_string(schema) || form == KC__TYPES_RAW ||
        form == KC__TYPES_STRUCT)
        return NULL;
    kc_items (parts, part)
        kc_members (part, keyword, value) {
            (void)value;
            if (!has_row(keyword, KC__TYPES_ITEMS))
                return NULL;
        }
    return parts;
}

/* Keywords that are no marker's: the C type or the comment says them, or mark_form. */
static const char *const said_otherwise[] = {
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

static bool is_said(const kc_value *schema, kc_str keyword, kc__types_place place)
{
    if (kc_str_is(keyword, "additionalProperties"))
        return kc__types_form_of(schema) == KC__TYPES_MAP;
    if (kc_str_is(keyword, "anyOf"))
        return is_int_or_string(schema) && kc_len(kc_get(schema, "anyOf")) == 2;
    if (kc_str_is(keyword, "example") && !has_notation(kc_get(schema, "example")))
        return false;
    if (kc_str_is(keyword, "allOf"))
        return place == KC__TYPES_FIELD && kc__types_both(schema);
    return kc_str_is_any(keyword, said_otherwise) || has_row(keyword, (int)place);
}

void kc__types_lost(kc_buf *out, const kc_value *schema, kc__types_place place)
{
    kc_members (schema, keyword, value) {
        (void)value;
        if (is_said(schema, keyword, place))
            continue;
        kc_buf_puts(out, out->n ? ", " : "");
        for (size_t i = 0; i < keyword.n; i++)
            kc_buf_putc(out, kc_is_alnum(keyword.p[i]) ? keyword.p[i] : '-');
    }
    /* Only at a field a marker makes less of kc_raw than anything. */
    if (place != KC__TYPES_FIELD && kc__types_form_of(schema) == KC__TYPES_RAW &&
        !is_set(schema, "x-kubernetes-preserve-unknown-fields"))
        kc_buf_printf(out, "%sthat unknown fields are dropped", out->n ? ", " : "");
}
