/* SPDX-License-Identifier: Apache-2.0 */
/*
 * types_markers.c: schemas of a CRD, back to comments and markers.
 *
 * The other way round of schema_markers.c and crd_markers.c: what they set, this reads. Values are
 * written as JSON wherever a marker takes it, so that nothing has to be guessed when it is read
 * again.
 *
 * To add one: a row of `rows`.
 */
#include "generate/types_internal.h"

#include "kc/json.h"

#define V "kubebuilder:validation:"

/* ---- schemas ---- */

typedef enum form {
    AS_JSON,   /* Minimum=3 */
    AS_LIST,   /* Enum={"a","b"} */
    AS_FLAG,   /* nullable, if it is true */
    AS_WORD,   /* listType=map */
    AS_PATTERN /* Pattern=`^a$` */
} form;

static const struct row {
    const char *keyword, *marker;
    form form;
    bool of_types; /* Also of types, and of items, under kubebuilder:validation:items:. */
} rows[] = {
    {"maximum", V "Maximum", AS_JSON, true},
    {"minimum", V "Minimum", AS_JSON, true},
    {"exclusiveMaximum", V "ExclusiveMaximum", AS_JSON, true},
    {"exclusiveMinimum", V "ExclusiveMinimum", AS_JSON, true},
    {"multipleOf", V "MultipleOf", AS_JSON, true},
    {"maxLength", V "MaxLength", AS_JSON, true},
    {"minLength", V "MinLength", AS_JSON, true},
    {"pattern", V "Pattern", AS_PATTERN, true},
    {"maxItems", V "MaxItems", AS_JSON, true},
    {"minItems", V "MinItems", AS_JSON, true},
    {"uniqueItems", V "UniqueItems", AS_JSON, true},
    {"maxProperties", V "MaxProperties", AS_JSON, true},
    {"minProperties", V "MinProperties", AS_JSON, true},
    {"enum", V "Enum", AS_LIST, true},
    {"default", "default", AS_JSON, false},
    {"title", "kubebuilder:title", AS_JSON, false},
    {"nullable", "nullable", AS_FLAG, false},
    {"x-kubernetes-list-type", "listType", AS_WORD, false},
    {"x-kubernetes-embedded-resource", V "EmbeddedResource", AS_FLAG, false},
};

static void begin(kc_buf *out, const char *indent, const char *marker, bool of_items)
{
    const bool items = of_items && !strncmp(marker, V, sizeof(V) - 1);
    kc_buf_printf(out, "%s/// +%s%s", indent, items ? V "items:" : "",
                  items ? marker + sizeof(V) - 1 : marker);
}

static void put_text(kc_buf *out, kc_str text)
{
    if (kc_str_find(text, '`') < 0 && kc_str_find(text, '\n') < 0)
        kc_buf_printf(out, "`%.*s`", KC_ARG(text));
    else
        kc_json_quote(out, text);
}

static void put_list(kc_buf *out, const kc_value *values)
{
    const char *comma = "{";
    kc_items (values, value) {
        kc_buf_puts(out, comma);
        kc_json_write(out, value);
        comma = ",";
    }
    kc_buf_putc(out, '}');
}

static void put_row(kc_buf *out, const char *indent, const struct row *row, const kc_value *value,
                    bool of_items)
{
    if (row->form == AS_FLAG && !kc_as_bool(value, false))
        return;
    begin(out, indent, row->marker, of_items);
    kc_buf_puts(out, row->form == AS_FLAG ? "" : "=");
    if (row->form == AS_JSON)
        kc_json_write(out, value);
    else if (row->form == AS_LIST)
        put_list(out, value);
    else if (row->form == AS_WORD)
        kc_buf_append(out, kc_as_str(value));
    else if (row->form == AS_PATTERN)
        put_text(out, kc_as_str(value));
    kc_buf_putc(out, '\n');
}

static void put_rules(kc_buf *out, const char *indent, const kc_value *rules, bool of_items)
{
    static const char *const args[] = {"rule",   "message",   "messageExpression",
                                       "reason", "fieldPath", "optionalOldSelf"};
    kc_items (rules, rule) {
        const char *before = ":";
        begin(out, indent, V "XValidation", of_items);
        for (size_t i = 0; i < KC_COUNT(args); i++) {
            const kc_value *value = kc_get(rule, args[i]);
            if (!value)
                continue;
            kc_buf_printf(out, "%s%s=", before, args[i]);
            kc_json_write(out, value);
            before = ",";
        }
        kc_buf_putc(out, '\n');
    }
}

/* Formats that follow from the C type. */
static bool is_implied(kc_str format)
{
    return kc_str_is(format, "int32") || kc_str_is(format, "int64") ||
           kc_str_is(format, "date-time") || kc_str_is(format, "byte");
}

static void put_map_type(kc_buf *out, const char *indent, const kc_value *schema)
{
    const kc_str type = kc_as_str(kc_get(schema, "x-kubernetes-map-type"));
    if (type.n)
        kc_buf_printf(out, "%s/// +%s=%.*s\n", indent,
                      kc_get(schema, "properties") ? "structType" : "mapType", KC_ARG(type));
}

bool kc__types_is_quantity(const kc_value *schema)
{
    return kc_as_bool(kc_get(schema, "x-kubernetes-int-or-string"), false) &&
           kc_str_contains(kc_as_str(kc_get(schema, "pattern")), KC_STR("[numkMGTPE]"));
}

/* What only fields are told. */
static void mark_field(kc_buf *out, const char *indent, const kc_value *schema)
{
    const kc_value *example = kc_get(schema, "example");
    kc_items (kc_get(schema, "x-kubernetes-list-map-keys"), key)
        kc_buf_printf(out, "%s/// +listMapKey=%.*s\n", indent, KC_ARG(kc_as_str(key)));
    if (!example || kc_type_of(example) == KC_OBJECT || kc_type_of(example) == KC_ARRAY)
        return;
    kc_buf_printf(out, "%s/// +kubebuilder:example=", indent);
    kc_json_write(out, example);
    kc_buf_putc(out, '\n');
}

void kc__types_mark(kc_buf *out, const char *indent, const kc_value *schema, kc__types_place place)
{
    const kc_str format = kc_as_str(kc_get(schema, "format"));
    const bool of_items = place == KC__TYPES_ITEMS;
    for (size_t i = 0; i < KC_COUNT(rows); i++) {
        const kc_value *value = kc_get(schema, rows[i].keyword);
        if (value && (rows[i].of_types || place == KC__TYPES_FIELD) &&
            !(rows[i].form == AS_PATTERN && kc__types_is_quantity(schema)))
            put_row(out, indent, &rows[i], value, of_items);
    }
    if (format.n && !is_implied(format)) {
        begin(out, indent, V "Format", of_items);
        kc_buf_printf(out, "=%.*s\n", KC_ARG(format));
    }
    put_rules(out, indent, kc_get(schema, "x-kubernetes-validations"), of_items);
    if (!of_items)
        put_map_type(out, indent, schema);
    if (place == KC__TYPES_FIELD)
        mark_field(out, indent, schema);
}

void kc__types_describe(kc_buf *out, const char *indent, const kc_value *schema)
{
    kc_str rest = kc_as_str(kc_get(schema, "description"));
    while (rest.n) {
        kc_str line = kc_str_cut(&rest, '\n');
        while (line.n && line.p[line.n - 1] == ' ')
            line.n--;
        /* A line that begins with '+' would be read as a marker. */
        const bool plus = kc_str_starts(kc_str_trim(line), KC_STR("+"));
        kc_buf_printf(out, "%s///%s%s%.*s\n", indent, line.n ? " " : "", plus ? "\\" : "",
                      KC_ARG(line));
    }
}

/* ---- kinds ---- */

/* `name=value` of a marker, if there is a value. */
static void put_arg(kc_buf *out, const char **before, const char *name, const kc_value *value)
{
    if (!value)
        return;
    kc_buf_printf(out, "%s%s=", *before, name);
    if (kc_type_of(value) == KC_ARRAY)
        put_list(out, value);
    else
        kc_json_write(out, value);
    *before = ",";
}

static void mark_resource(kc_buf *out, const kc_value *spec)
{
    const kc_value *names = kc_get(spec, "names");
    const char *before = ":";
    kc_buf_puts(out, "/// +kubebuilder:resource");
    put_arg(out, &before, "path", kc_get(names, "plural"));
    put_arg(out, &before, "shortName", kc_get(names, "shortNames"));
    put_arg(out, &before, "categories", kc_get(names, "categories"));
    put_arg(out, &before, "singular", kc_get(names, "singular"));
    put_arg(out, &before, "scope", kc_get(spec, "scope"));
    kc_buf_putc(out, '\n');
}

static void mark_columns(kc_buf *out, const kc_value *version)
{
    static const char *const args[][2] = {{"name", "name"},         {"type", "type"},
                                          {"JSONPath", "jsonPath"}, {"format", "format"},
                                          {"priority", "priority"}, {"description", "description"}};
    kc_items (kc_get(version, "additionalPrinterColumns"), column) {
        const char *before = ":";
        kc_buf_puts(out, "/// +kubebuilder:printcolumn");
        for (size_t i = 0; i < KC_COUNT(args); i++)
            put_arg(out, &before, args[i][0], kc_get(column, args[i][1]));
        kc_buf_putc(out, '\n');
    }
}

static void mark_subresources(kc_buf *out, const kc_value *version)
{
    const kc_value *scale = kc_dig(version, "subresources.scale");
    const char *before = ":";
    if (kc_dig(version, "subresources.status"))
        kc_buf_puts(out, "/// +kubebuilder:subresource:status\n");
    if (!scale)
        return;
    kc_buf_puts(out, "/// +kubebuilder:subresource:scale");
    put_arg(out, &before, "specpath", kc_get(scale, "specReplicasPath"));
    put_arg(out, &before, "statuspath", kc_get(scale, "statusReplicasPath"));
    put_arg(out, &before, "selectorpath", kc_get(scale, "labelSelectorPath"));
    kc_buf_putc(out, '\n');
}

void kc__types_mark_kind(kc_buf *out, const kc_value *crd, const kc_value *version)
{
    const kc_value *spec = kc_get(crd, "spec");
    const kc_value *warning = kc_get(version, "deprecationWarning");
    const char *before = ":";
    kc_buf_puts(out, "/// +kubebuilder:object:root=true\n");
    mark_resource(out, spec);
    mark_subresources(out, version);
    mark_columns(out, version);
    if (kc_len(kc_get(spec, "versions")) > 1 && kc_as_bool(kc_get(version, "storage"), false))
        kc_buf_puts(out, "/// +kubebuilder:storageversion\n");
    if (!kc_as_bool(kc_get(version, "served"), true))
        kc_buf_puts(out, "/// +kubebuilder:unservedversion\n");
    if (kc_as_bool(kc_get(version, "deprecated"), false)) {
        kc_buf_puts(out, "/// +kubebuilder:deprecatedversion");
        put_arg(out, &before, "warning", warning);
        kc_buf_putc(out, '\n');
    }
    kc_items (kc_get(version, "selectableFields"), field) {
        before = ":";
        kc_buf_puts(out, "/// +kubebuilder:selectablefield");
        put_arg(out, &before, "JSONPath", kc_get(field, "jsonPath"));
        kc_buf_putc(out, '\n');
    }
}
