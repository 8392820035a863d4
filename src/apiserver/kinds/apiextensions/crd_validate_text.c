/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crd_validate_text.c: formats the versions of a CRD as Kubernetes shows them in an error about all
 * versions: its internal structs as Go prints them, with Go's names and every field.
 *
 *     [{"Name":"v1","Served":true,"Storage":false,"Deprecated":false,"DeprecationWarning":null, …
 *
 * Parts that all versions share are null there. Tables list the fields of each struct and the text
 * of an absent field.
 */
#include "apiserver/kinds/apiextensions/crd_validate_internal.h"
#include "object/gofmt/go_json.h"

typedef void crd_text_writer(kc_buf *out, const kc_value *value);

/* A field: its name in JSON and in Go, and the function that writes it. */
typedef struct crd_text_field {
    const char *json, *go;
    crd_text_writer *write; /* NULL: as JSON. */
    const char *zero;       /* Text of an absent field. */
} crd_text_field;

static void write_struct(kc_buf *out, const kc_value *value, const crd_text_field *fields, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const kc_value *member = kc_value_get(value, fields[i].json);
        kc_buf_printf(out, "%c\"%s\":", i ? ',' : '{', fields[i].go);
        if (!member || kc_value_type(member) == KC_JSON_NULL)
            kc_buf_puts(out, fields[i].zero);
        else if (fields[i].write)
            fields[i].write(out, member);
        else
            kc__go_json(out, member);
    }
    kc_buf_putc(out, '}');
}

static void write_crd_list(kc_buf *out, const kc_value *list, crd_text_writer *write)
{
    size_t i = 0;
    kc_buf_putc(out, '[');
    kc_value_each_item (list, item) {
        kc_buf_puts(out, i++ ? "," : "");
        write(out, item);
    }
    kc_buf_putc(out, ']');
}

/* ---- schemas ---- */

static void write_schema(kc_buf *out, const kc_value *schema);

static void write_schemas(kc_buf *out, const kc_value *list)
{
    write_crd_list(out, list, write_schema);
}

static void write_schema_map(kc_buf *out, const kc_value *map)
{
    size_t i = 0;
    kc_buf_putc(out, '{');
    kc_value_each_member (map, name, schema) {
        kc_buf_puts(out, i++ ? "," : "");
        kc_json_quote(out, name);
        kc_buf_putc(out, ':');
        write_schema(out, schema);
    }
    kc_buf_putc(out, '}');
}

static void write_items(kc_buf *out, const kc_value *items)
{
    bool many = kc_value_type(items) == KC_JSON_ARRAY;
    kc_buf_puts(out, "{\"Schema\":");
    if (many)
        kc_buf_puts(out, "null");
    else
        write_schema(out, items);
    kc_buf_puts(out, ",\"JSONSchemas\":");
    if (many)
        write_schemas(out, items);
    else
        kc_buf_puts(out, "null");
    kc_buf_putc(out, '}');
}

static void write_additional(kc_buf *out, const kc_value *value)
{
    bool is_schema = kc_value_type(value) == KC_JSON_OBJECT;
    kc_buf_printf(out, "{\"Allows\":%s,\"Schema\":",
                  is_schema || kc_value_as_bool(value, false) ? "true" : "false");
    if (is_schema)
        write_schema(out, value);
    else
        kc_buf_puts(out, "null");
    kc_buf_putc(out, '}');
}

static void write_docs(kc_buf *out, const kc_value *docs)
{
    static const crd_text_field fields[] = {{"description", "Description", NULL, "\"\""},
                                            {"url", "URL", NULL, "\"\""}};
    write_struct(out, docs, fields, KC_COUNT(fields));
}

static void write_rule(kc_buf *out, const kc_value *rule)
{
    static const crd_text_field fields[] = {
        {"rule", "Rule", NULL, "\"\""},
        {"message", "Message", NULL, "\"\""},
        {"messageExpression", "MessageExpression", NULL, "\"\""},
        {"reason", "Reason", NULL, "null"},
        {"fieldPath", "FieldPath", NULL, "\"\""},
        {"optionalOldSelf", "OptionalOldSelf", NULL, "null"},
    };
    write_struct(out, rule, fields, KC_COUNT(fields));
}

static void write_rules(kc_buf *out, const kc_value *rules)
{
    write_crd_list(out, rules, write_rule);
}

static void write_schema(kc_buf *out, const kc_value *schema)
{
    static const crd_text_field fields[] = {
        {"id", "ID", NULL, "\"\""},
        {"$schema", "Schema", NULL, "\"\""},
        {"$ref", "Ref", NULL, "null"},
        {"description", "Description", NULL, "\"\""},
        {"type", "Type", NULL, "\"\""},
        {"nullable", "Nullable", NULL, "false"},
        {"format", "Format", NULL, "\"\""},
        {"title", "Title", NULL, "\"\""},
        {"default", "Default", NULL, "null"},
        {"maximum", "Maximum", NULL, "null"},
        {"exclusiveMaximum", "ExclusiveMaximum", NULL, "false"},
        {"minimum", "Minimum", NULL, "null"},
        {"exclusiveMinimum", "ExclusiveMinimum", NULL, "false"},
        {"maxLength", "MaxLength", NULL, "null"},
        {"minLength", "MinLength", NULL, "null"},
        {"pattern", "Pattern", NULL, "\"\""},
        {"maxItems", "MaxItems", NULL, "null"},
        {"minItems", "MinItems", NULL, "null"},
        {"uniqueItems", "UniqueItems", NULL, "false"},
        {"multipleOf", "MultipleOf", NULL, "null"},
        {"enum", "Enum", NULL, "null"},
        {"maxProperties", "MaxProperties", NULL, "null"},
        {"minProperties", "MinProperties", NULL, "null"},
        {"required", "Required", NULL, "null"},
        {"items", "Items", write_items, "null"},
        {"allOf", "AllOf", write_schemas, "null"},
        {"oneOf", "OneOf", write_schemas, "null"},
        {"anyOf", "AnyOf", write_schemas, "null"},
        {"not", "Not", write_schema, "null"},
        {"properties", "Properties", write_schema_map, "null"},
        {"additionalProperties", "AdditionalProperties", write_additional, "null"},
        {"patternProperties", "PatternProperties", write_schema_map, "null"},
        {"dependencies", "Dependencies", NULL, "null"},
        {"additionalItems", "AdditionalItems", write_additional, "null"},
        {"definitions", "Definitions", write_schema_map, "null"},
        {"externalDocs", "ExternalDocs", write_docs, "null"},
        {"example", "Example", NULL, "null"},
        {"x-kubernetes-preserve-unknown-fields", "XPreserveUnknownFields", NULL, "null"},
        {"x-kubernetes-embedded-resource", "XEmbeddedResource", NULL, "false"},
        {"x-kubernetes-int-or-string", "XIntOrString", NULL, "false"},
        {"x-kubernetes-list-map-keys", "XListMapKeys", NULL, "null"},
        {"x-kubernetes-list-type", "XListType", NULL, "null"},
        {"x-kubernetes-map-type", "XMapType", NULL, "null"},
        {"x-kubernetes-validations", "XValidations", write_rules, "null"},
    };
    write_struct(out, schema, fields, KC_COUNT(fields));
}

/* ---- the other parts ---- */

static void write_validation(kc_buf *out, const kc_value *value)
{
    static const crd_text_field fields[] = {
        {"openAPIV3Schema", "OpenAPIV3Schema", write_schema, "null"}};
    write_struct(out, value, fields, KC_COUNT(fields));
}

static void write_scale(kc_buf *out, const kc_value *scale)
{
    static const crd_text_field fields[] = {
        {"specReplicasPath", "SpecReplicasPath", NULL, "\"\""},
        {"statusReplicasPath", "StatusReplicasPath", NULL, "\"\""},
        {"labelSelectorPath", "LabelSelectorPath", NULL, "null"},
    };
    write_struct(out, scale, fields, KC_COUNT(fields));
}

static void write_subresources(kc_buf *out, const kc_value *value)
{
    static const crd_text_field fields[] = {{"status", "Status", NULL, "null"},
                                            {"scale", "Scale", write_scale, "null"}};
    write_struct(out, value, fields, KC_COUNT(fields));
}

static void write_column(kc_buf *out, const kc_value *column)
{
    static const crd_text_field fields[] = {
        {"name", "Name", NULL, "\"\""},      {"type", "Type", NULL, "\"\""},
        {"format", "Format", NULL, "\"\""},  {"description", "Description", NULL, "\"\""},
        {"priority", "Priority", NULL, "0"}, {"jsonPath", "JSONPath", NULL, "\"\""},
    };
    write_struct(out, column, fields, KC_COUNT(fields));
}

static void write_columns(kc_buf *out, const kc_value *columns)
{
    write_crd_list(out, columns, write_column);
}

static void write_crd_field(kc_buf *out, const kc_value *field)
{
    static const crd_text_field fields[] = {{"jsonPath", "JSONPath", NULL, "\"\""}};
    write_struct(out, field, fields, KC_COUNT(fields));
}

static void write_crd_fields(kc_buf *out, const kc_value *fields)
{
    write_crd_list(out, fields, write_crd_field);
}

void kc__crd_write_versions(kc_buf *out, const kc_value *versions, const bool *shared)
{
    enum { FIRST_PART = 5 };
    static const size_t parts[] = {KC__CRD_SHARED_SCHEMA, KC__CRD_SHARED_SUBRESOURCES,
                                   KC__CRD_SHARED_COLUMNS, KC__CRD_SHARED_FIELDS};
    crd_text_field fields[] = {
        {"name", "Name", NULL, "\"\""},
        {"served", "Served", NULL, "false"},
        {"storage", "Storage", NULL, "false"},
        {"deprecated", "Deprecated", NULL, "false"},
        {"deprecationWarning", "DeprecationWarning", NULL, "null"},
        {"schema", "Schema", write_validation, "null"},
        {"subresources", "Subresources", write_subresources, "null"},
        {"additionalPrinterColumns", "AdditionalPrinterColumns", write_columns, "null"},
        {"selectableFields", "SelectableFields", write_crd_fields, "null"},
    };
    for (size_t i = 0; i < KC_COUNT(parts); i++)
        if (shared[parts[i]])
            fields[FIRST_PART + i].json = ""; /* No such member, so the part is shown as absent. */
    size_t i = 0;
    if (kc_value_type(versions) != KC_JSON_ARRAY) {
        kc_buf_puts(out, "null");
        return;
    }
    kc_buf_putc(out, '[');
    kc_value_each_item (versions, version) {
        kc_buf_puts(out, i++ ? "," : "");
        write_struct(out, version, fields, KC_COUNT(fields));
    }
    kc_buf_putc(out, ']');
}
