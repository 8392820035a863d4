/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crd_type_tables.c: the fields of a CustomResourceDefinition, and of the schemas in it.
 *
 * The tables of the other kinds are generated from the published API definitions, which do not
 * include CRDs: in Kubernetes a separate server defines them. So these tables are written by hand,
 * in the same form, in the order of the Go structs. A field has its name, its protobuf number, its
 * kind, its shape, its markers and its Go type; some fields are messages in protobuf but not
 * objects in JSON (items, additionalProperties, default).
 *
 * ObjectMeta is that of all kinds, but a constant cannot refer to an element of another table by
 * its index, so it is repeated here; a test compares both.
 *
 * To add a field: add a row at its position, and its index in the two orders below, by name and by
 * number, which a test checks as well.
 */
#include "apiserver/kinds/apiextensions/crd_tables_internal.h"

#define META    "io.k8s.apimachinery.pkg.apis.meta."
#define PACKAGE "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions."

/* v1.TypeMeta */
static const kc__type_field type_meta_fields[] = {
    {FIELD("kind", 0, STRING, SINGLE, KC__OMIT_EMPTY, "string")},
    {FIELD("apiVersion", 0, STRING, SINGLE, KC__OMIT_EMPTY, "string")},
};
static const uint16_t type_meta_order[] = {1, 0};
static const uint16_t type_meta_numbers[] = {0, 1};

/* v1.OwnerReference */
static const kc__type_field owner_fields[] = {
    {FIELD("apiVersion", 5, STRING, SINGLE, 0, "string")},
    {FIELD("kind", 1, STRING, SINGLE, 0, "string")},
    {FIELD("name", 3, STRING, SINGLE, 0, "string")},
    {FIELD("uid", 4, STRING, SINGLE, 0, "types.UID")},
    {FIELD("controller", 6, BOOL, SINGLE, KC__OMIT_EMPTY | KC__POINTER, "bool")},
    {FIELD("blockOwnerDeletion", 7, BOOL, SINGLE, KC__OMIT_EMPTY | KC__POINTER, "bool")},
};
static const uint16_t owner_order[] = {0, 5, 4, 1, 2, 3};
static const uint16_t owner_numbers[] = {1, 2, 3, 0, 4, 5};

/* v1.ManagedFieldsEntry */
static const kc__type_field managed_fields[] = {
    {FIELD("manager", 1, STRING, SINGLE, KC__OMIT_EMPTY, "string")},
    {FIELD("operation", 2, STRING, SINGLE, KC__OMIT_EMPTY, "v1.ManagedFieldsOperationType")},
    {FIELD("apiVersion", 3, STRING, SINGLE, KC__OMIT_EMPTY, "string")},
    {FIELD("time", 4, TIME, SINGLE, KC__OMIT_EMPTY | KC__POINTER, "v1.Time")},
    {FIELD("fieldsType", 6, STRING, SINGLE, KC__OMIT_EMPTY, "string")},
    {FIELD("fieldsV1", 7, FIELDS_V1, SINGLE, KC__OMIT_EMPTY | KC__POINTER, "v1.FieldsV1")},
    {FIELD("subresource", 8, STRING, SINGLE, KC__OMIT_EMPTY, "string")},
};
static const uint16_t managed_order[] = {2, 4, 5, 0, 1, 6, 3};
static const uint16_t managed_numbers[] = {0, 1, 2, 3, 4, 5, 6};

/* v1.ObjectMeta */
static const kc__type_field object_meta_fields[] = {
    {FIELD("name", 1, STRING, SINGLE, KC__OMIT_EMPTY, "string")},
    {FIELD("generateName", 2, STRING, SINGLE, KC__OMIT_EMPTY, "string")},
    {FIELD("namespace", 3, STRING, SINGLE, KC__OMIT_EMPTY, "string")},
    {FIELD("selfLink", 4, STRING, SINGLE, KC__OMIT_EMPTY, "string")},
    {FIELD("uid", 5, STRING, SINGLE, KC__OMIT_EMPTY, "types.UID")},
    {FIELD("resourceVersion", 6, STRING, SINGLE, KC__OMIT_EMPTY, "string")},
    {FIELD("generation", 7, INT64, SINGLE, KC__OMIT_EMPTY, "int64")},
    {FIELD("creationTimestamp", 8, TIME, SINGLE, KC__OMIT_EMPTY | KC__OMIT_ZERO, "v1.Time")},
    {FIELD("deletionTimestamp", 9, TIME, SINGLE, KC__OMIT_EMPTY | KC__POINTER, "v1.Time")},
    {FIELD("deletionGracePeriodSeconds", 10, INT64, SINGLE, KC__OMIT_EMPTY | KC__POINTER, "int64")},
    {FIELD("labels", 11, STRING, MAPPED, KC__OMIT_EMPTY, "map[string]string")},
    {FIELD("annotations", 12, STRING, MAPPED, KC__OMIT_EMPTY, "map[string]string")},
    {FIELD("ownerReferences", 13, MESSAGE, REPEATED,
           KC__OMIT_EMPTY | KC__PATCH_MERGES | KC__LIST_IS_MAP, "[]v1.OwnerReference"),
     .message = TYPE(OWNER), .merge_key = "uid", .list_keys = "uid"},
    {FIELD("finalizers", 14, STRING, REPEATED, KC__OMIT_EMPTY | KC__PATCH_MERGES | KC__LIST_IS_SET,
           "[]string")},
    {FIELD("managedFields", 17, MESSAGE, REPEATED, KC__OMIT_EMPTY | KC__LIST_IS_ATOMIC,
           "[]v1.ManagedFieldsEntry"),
     .message = TYPE(MANAGED)},
};
static const uint16_t object_meta_order[] = {11, 7, 9, 8, 13, 1, 6, 10, 14, 0, 2, 12, 5, 3, 4};
static const uint16_t object_meta_numbers[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14};

/* v1.CustomResourceDefinition */
static const kc__type_field crd_fields[] = {
    {OF(MESSAGE, SINGLE, KC__INLINE, "v1.TypeMeta"), .message = TYPE(TYPE_META)},
    {FIELD("metadata", 1, MESSAGE, SINGLE, KC__OMIT_EMPTY, "v1.ObjectMeta"),
     .message = TYPE(OBJECT_META)},
    {FIELD("spec", 2, MESSAGE, SINGLE, 0, "v1.CustomResourceDefinitionSpec"),
     .message = TYPE(SPEC)},
    {FIELD("status", 3, MESSAGE, SINGLE, KC__OMIT_EMPTY, "v1.CustomResourceDefinitionStatus"),
     .message = TYPE(STATUS)},
};
static const uint16_t crd_order[] = {0, 1, 2, 3};
static const uint16_t crd_numbers[] = {0, 1, 2, 3};

/* v1.CustomResourceDefinitionList */
static const kc__type_field list_fields[] = {
    {OF(MESSAGE, SINGLE, KC__INLINE, "v1.TypeMeta"), .message = TYPE(TYPE_META)},
    {FIELD("metadata", 1, RAW, SINGLE, 0, "v1.ListMeta")},
    {FIELD("items", 2, MESSAGE, REPEATED, KC__REQUIRED, "[]v1.CustomResourceDefinition"),
     .message = TYPE(CRD)},
};
static const uint16_t list_order[] = {0, 2, 1};
static const uint16_t list_numbers[] = {0, 1, 2};

/* v1.CustomResourceDefinitionSpec */
static const kc__type_field spec_fields[] = {
    {FIELD("group", 1, STRING, SINGLE, 0, "string")},
    {FIELD("names", 3, MESSAGE, SINGLE, 0, "v1.CustomResourceDefinitionNames"),
     .message = TYPE(NAMES)},
    {FIELD("scope", 4, STRING, SINGLE, 0, "v1.ResourceScope")},
    {FIELD("versions", 7, MESSAGE, REPEATED, 0, "[]v1.CustomResourceDefinitionVersion"),
     .message = TYPE(VERSION)},
    {FIELD("conversion", 9, MESSAGE, SINGLE, KC__OMIT_EMPTY | KC__POINTER,
           "v1.CustomResourceConversion"),
     .message = TYPE(CONVERSION)},
    {FIELD("preserveUnknownFields", 10, BOOL, SINGLE, KC__OMIT_EMPTY, "bool")},
};
static const uint16_t spec_order[] = {4, 0, 1, 5, 2, 3};
static const uint16_t spec_numbers[] = {0, 1, 2, 3, 4, 5};

/* v1.CustomResourceConversion */
static const kc__type_field conversion_fields[] = {
    {FIELD("strategy", 1, STRING, SINGLE, 0, "v1.ConversionStrategyType")},
    {FIELD("webhook", 2, MESSAGE, SINGLE, KC__OMIT_EMPTY | KC__POINTER, "v1.WebhookConversion"),
     .message = TYPE(WEBHOOK)},
};
static const uint16_t conversion_order[] = {0, 1};
static const uint16_t conversion_numbers[] = {0, 1};

/* v1.WebhookConversion */
static const kc__type_field webhook_fields[] = {
    {FIELD("clientConfig", 2, MESSAGE, SINGLE, KC__OMIT_EMPTY | KC__POINTER,
           "v1.WebhookClientConfig"),
     .message = TYPE(CLIENT)},
    {FIELD("conversionReviewVersions", 3, STRING, REPEATED, 0, "[]string")},
};
static const uint16_t webhook_order[] = {0, 1};
static const uint16_t webhook_numbers[] = {0, 1};

/* v1.WebhookClientConfig */
static const kc__type_field client_fields[] = {
    {FIELD("url", 3, STRING, SINGLE, KC__OMIT_EMPTY | KC__POINTER, "string")},
    {FIELD("service", 1, MESSAGE, SINGLE, KC__OMIT_EMPTY | KC__POINTER, "v1.ServiceReference"),
     .message = TYPE(SERVICE)},
    {FIELD("caBundle", 2, BYTES, SINGLE, KC__OMIT_EMPTY, "[]uint8")},
};
static const uint16_t client_order[] = {2, 1, 0};
static const uint16_t client_numbers[] = {1, 2, 0};

/* v1.ServiceReference */
static const kc__type_field service_fields[] = {
    {FIELD("namespace", 1, STRING, SINGLE, 0, "string")},
    {FIELD("name", 2, STRING, SINGLE, 0, "string")},
    {FIELD("path", 3, STRING, SINGLE, KC__OMIT_EMPTY | KC__POINTER, "string")},
    {FIELD("port", 4, INT32, SINGLE, KC__OMIT_EMPTY | KC__POINTER, "int32")},
};
static const uint16_t service_order[] = {1, 0, 2, 3};
static const uint16_t service_numbers[] = {0, 1, 2, 3};

/* v1.CustomResourceDefinitionVersion */
static const kc__type_field version_fields[] = {
    {FIELD("name", 1, STRING, SINGLE, 0, "string")},
    {FIELD("served", 2, BOOL, SINGLE, 0, "bool")},
    {FIELD("storage", 3, BOOL, SINGLE, 0, "bool")},
    {FIELD("deprecated", 7, BOOL, SINGLE, KC__OMIT_EMPTY, "bool")},
    {FIELD("deprecationWarning", 8, STRING, SINGLE, KC__OMIT_EMPTY | KC__POINTER, "string")},
    {FIELD("schema", 4, MESSAGE, SINGLE, KC__OMIT_EMPTY | KC__POINTER,
           "v1.CustomResourceValidation"),
     .message = TYPE(VALIDATION)},
    {FIELD("subresources", 5, MESSAGE, SINGLE, KC__OMIT_EMPTY | KC__POINTER,
           "v1.CustomResourceSubresources"),
     .message = TYPE(SUBRESOURCES)},
    {FIELD("additionalPrinterColumns", 6, MESSAGE, REPEATED, KC__OMIT_EMPTY,
           "[]v1.CustomResourceColumnDefinition"),
     .message = TYPE(COLUMN)},
    {FIELD("selectableFields", 9, MESSAGE, REPEATED, KC__OMIT_EMPTY, "[]v1.SelectableField"),
     .message = TYPE(SELECTABLE)},
};
static const uint16_t version_order[] = {7, 3, 4, 0, 5, 8, 1, 2, 6};
static const uint16_t version_numbers[] = {0, 1, 2, 5, 6, 7, 3, 4, 8};

/* v1.SelectableField */
static const kc__type_field selectable_fields[] = {
    {FIELD("jsonPath", 1, STRING, SINGLE, 0, "string")},
};
static const uint16_t selectable_order[] = {0};
static const uint16_t selectable_numbers[] = {0};

/* v1.CustomResourceColumnDefinition */
static const kc__type_field column_fields[] = {
    {FIELD("name", 1, STRING, SINGLE, 0, "string")},
    {FIELD("type", 2, STRING, SINGLE, 0, "string")},
    {FIELD("format", 3, STRING, SINGLE, KC__OMIT_EMPTY, "string")},
    {FIELD("description", 4, STRING, SINGLE, KC__OMIT_EMPTY, "string")},
    {FIELD("priority", 5, INT32, SINGLE, KC__OMIT_EMPTY, "int32")},
    {FIELD("jsonPath", 6, STRING, SINGLE, 0, "string")},
};
static const uint16_t column_order[] = {3, 2, 5, 0, 4, 1};
static const uint16_t column_numbers[] = {0, 1, 2, 3, 4, 5};

/* v1.CustomResourceDefinitionNames */
static const kc__type_field names_fields[] = {
    {FIELD("plural", 1, STRING, SINGLE, 0, "string")},
    {FIELD("singular", 2, STRING, SINGLE, KC__OMIT_EMPTY, "string")},
    {FIELD("shortNames", 3, STRING, REPEATED, KC__OMIT_EMPTY, "[]string")},
    {FIELD("kind", 4, STRING, SINGLE, 0, "string")},
    {FIELD("listKind", 5, STRING, SINGLE, KC__OMIT_EMPTY, "string")},
    {FIELD("categories", 6, STRING, REPEATED, KC__OMIT_EMPTY, "[]string")},
};
static const uint16_t names_order[] = {5, 3, 4, 0, 2, 1};
static const uint16_t names_numbers[] = {0, 1, 2, 3, 4, 5};

/* v1.CustomResourceDefinitionStatus */
static const kc__type_field status_fields[] = {
    {FIELD("conditions", 1, MESSAGE, REPEATED, KC__LIST_IS_MAP,
           "[]v1.CustomResourceDefinitionCondition"),
     .message = TYPE(CONDITION), .list_keys = "type"},
    {FIELD("acceptedNames", 2, MESSAGE, SINGLE, 0, "v1.CustomResourceDefinitionNames"),
     .message = TYPE(NAMES)},
    {FIELD("storedVersions", 3, STRING, REPEATED, 0, "[]string")},
};
static const uint16_t status_order[] = {1, 0, 2};
static const uint16_t status_numbers[] = {0, 1, 2};

/* v1.CustomResourceDefinitionCondition */
static const kc__type_field condition_fields[] = {
    {FIELD("type", 1, STRING, SINGLE, 0, "v1.CustomResourceDefinitionConditionType")},
    {FIELD("status", 2, STRING, SINGLE, 0, "v1.ConditionStatus")},
    {FIELD("lastTransitionTime", 3, TIME, SINGLE, KC__OMIT_EMPTY, "v1.Time")},
    {FIELD("reason", 4, STRING, SINGLE, KC__OMIT_EMPTY, "string")},
    {FIELD("message", 5, STRING, SINGLE, KC__OMIT_EMPTY, "string")},
};
static const uint16_t condition_order[] = {2, 4, 3, 1, 0};
static const uint16_t condition_numbers[] = {0, 1, 2, 3, 4};

/* v1.CustomResourceValidation */
static const kc__type_field validation_fields[] = {
    {FIELD("openAPIV3Schema", 1, MESSAGE, SINGLE, KC__OMIT_EMPTY | KC__POINTER,
           "v1.JSONSchemaProps"),
     .message = TYPE(SCHEMA)},
};
static const uint16_t validation_order[] = {0};
static const uint16_t validation_numbers[] = {0};

/* v1.CustomResourceSubresources */
static const kc__type_field subresources_fields[] = {
    {FIELD("status", 1, MESSAGE, SINGLE, KC__OMIT_EMPTY | KC__POINTER,
           "v1.CustomResourceSubresourceStatus"),
     .message = TYPE(SUB_STATUS)},
    {FIELD("scale", 2, MESSAGE, SINGLE, KC__OMIT_EMPTY | KC__POINTER,
           "v1.CustomResourceSubresourceScale"),
     .message = TYPE(SUB_SCALE)},
};
static const uint16_t subresources_order[] = {1, 0};
static const uint16_t subresources_numbers[] = {0, 1};

/* v1.CustomResourceSubresourceScale */
static const kc__type_field sub_scale_fields[] = {
    {FIELD("specReplicasPath", 1, STRING, SINGLE, 0, "string")},
    {FIELD("statusReplicasPath", 2, STRING, SINGLE, 0, "string")},
    {FIELD("labelSelectorPath", 3, STRING, SINGLE, KC__OMIT_EMPTY | KC__POINTER, "string")},
};
static const uint16_t sub_scale_order[] = {2, 0, 1};
static const uint16_t sub_scale_numbers[] = {0, 1, 2};

/* v1.JSONSchemaProps */
static const kc__type_field schema_fields[] = {
    {FIELD("id", 1, STRING, SINGLE, KC__OMIT_EMPTY, "string")},
    {FIELD("$schema", 2, STRING, SINGLE, KC__OMIT_EMPTY, "v1.JSONSchemaURL")},
    {FIELD("$ref", 3, STRING, SINGLE, KC__OMIT_EMPTY | KC__POINTER, "string")},
    {FIELD("description", 4, STRING, SINGLE, KC__OMIT_EMPTY, "string")},
    {FIELD("type", 5, STRING, SINGLE, KC__OMIT_EMPTY, "string")},
    {FIELD("format", 6, STRING, SINGLE, KC__OMIT_EMPTY, "string")},
    {FIELD("title", 7, STRING, SINGLE, KC__OMIT_EMPTY, "string")},
    {FIELD("default", 8, ANY, SINGLE, KC__OMIT_EMPTY | KC__POINTER, "v1.JSON")},
    {FIELD("maximum", 9, DOUBLE, SINGLE, KC__OMIT_EMPTY | KC__POINTER, "float64")},
    {FIELD("exclusiveMaximum", 10, BOOL, SINGLE, KC__OMIT_EMPTY, "bool")},
    {FIELD("minimum", 11, DOUBLE, SINGLE, KC__OMIT_EMPTY | KC__POINTER, "float64")},
    {FIELD("exclusiveMinimum", 12, BOOL, SINGLE, KC__OMIT_EMPTY, "bool")},
    {FIELD("maxLength", 13, INT64, SINGLE, KC__OMIT_EMPTY | KC__POINTER, "int64")},
    {FIELD("minLength", 14, INT64, SINGLE, KC__OMIT_EMPTY | KC__POINTER, "int64")},
    {FIELD("pattern", 15, STRING, SINGLE, KC__OMIT_EMPTY, "string")},
    {FIELD("maxItems", 16, INT64, SINGLE, KC__OMIT_EMPTY | KC__POINTER, "int64")},
    {FIELD("minItems", 17, INT64, SINGLE, KC__OMIT_EMPTY | KC__POINTER, "int64")},
    {FIELD("uniqueItems", 18, BOOL, SINGLE, KC__OMIT_EMPTY, "bool")},
    {FIELD("multipleOf", 19, DOUBLE, SINGLE, KC__OMIT_EMPTY | KC__POINTER, "float64")},
    {FIELD("enum", 20, ANY, REPEATED, KC__OMIT_EMPTY, "[]v1.JSON")},
    {FIELD("maxProperties", 21, INT64, SINGLE, KC__OMIT_EMPTY | KC__POINTER, "int64")},
    {FIELD("minProperties", 22, INT64, SINGLE, KC__OMIT_EMPTY | KC__POINTER, "int64")},
    {FIELD("required", 23, STRING, REPEATED, KC__OMIT_EMPTY, "[]string")},
    {FIELD("items", 24, EITHER, SINGLE, KC__OMIT_EMPTY | KC__POINTER, "v1.JSONSchemaPropsOrArray"),
     .message = TYPE(SCHEMA)},
    {FIELD("allOf", 25, MESSAGE, REPEATED, KC__OMIT_EMPTY, "[]v1.JSONSchemaProps"),
     .message = TYPE(SCHEMA)},
    {FIELD("oneOf", 26, MESSAGE, REPEATED, KC__OMIT_EMPTY, "[]v1.JSONSchemaProps"),
     .message = TYPE(SCHEMA)},
    {FIELD("anyOf", 27, MESSAGE, REPEATED, KC__OMIT_EMPTY, "[]v1.JSONSchemaProps"),
     .message = TYPE(SCHEMA)},
    {FIELD("not", 28, MESSAGE, SINGLE, KC__OMIT_EMPTY | KC__POINTER, "v1.JSONSchemaProps"),
     .message = TYPE(SCHEMA)},
    {FIELD("properties", 29, MESSAGE, MAPPED, KC__OMIT_EMPTY, "map[string]v1.JSONSchemaProps"),
     .message = TYPE(SCHEMA)},
    {FIELD("additionalProperties", 30, EITHER, SINGLE, KC__OMIT_EMPTY | KC__POINTER,
           "v1.JSONSchemaPropsOrBool"),
     .message = TYPE(SCHEMA)},
    {FIELD("patternProperties", 31, MESSAGE, MAPPED, KC__OMIT_EMPTY,
           "map[string]v1.JSONSchemaProps"),
     .message = TYPE(SCHEMA)},
    {FIELD("dependencies", 32, EITHER, MAPPED, KC__OMIT_EMPTY, "v1.JSONSchemaDependencies"),
     .message = TYPE(SCHEMA)},
    {FIELD("additionalItems", 33, EITHER, SINGLE, KC__OMIT_EMPTY | KC__POINTER,
           "v1.JSONSchemaPropsOrBool"),
     .message = TYPE(SCHEMA)},
    {FIELD("definitions", 34, MESSAGE, MAPPED, KC__OMIT_EMPTY, "v1.JSONSchemaDefinitions"),
     .message = TYPE(SCHEMA)},
    {FIELD("externalDocs", 35, MESSAGE, SINGLE, KC__OMIT_EMPTY | KC__POINTER,
           "v1.ExternalDocumentation"),
     .message = TYPE(DOCS)},
    {FIELD("example", 36, ANY, SINGLE, KC__OMIT_EMPTY | KC__POINTER, "v1.JSON")},
    {FIELD("nullable", 37, BOOL, SINGLE, KC__OMIT_EMPTY, "bool")},
    {FIELD("x-kubernetes-preserve-unknown-fields", 38, BOOL, SINGLE, KC__OMIT_EMPTY | KC__POINTER,
           "bool")},
    {FIELD("x-kubernetes-embedded-resource", 39, BOOL, SINGLE, KC__OMIT_EMPTY, "bool")},
    {FIELD("x-kubernetes-int-or-string", 40, BOOL, SINGLE, KC__OMIT_EMPTY, "bool")},
    {FIELD("x-kubernetes-list-map-keys", 41, STRING, REPEATED, KC__OMIT_EMPTY, "[]string")},
    {FIELD("x-kubernetes-list-type", 42, STRING, SINGLE, KC__OMIT_EMPTY | KC__POINTER, "string")},
    {FIELD("x-kubernetes-map-type", 43, STRING, SINGLE, KC__OMIT_EMPTY | KC__POINTER, "string")},
    {FIELD("x-kubernetes-validations", 44, MESSAGE, REPEATED,
           KC__OMIT_EMPTY | KC__PATCH_MERGES | KC__LIST_IS_MAP, "v1.ValidationRules"),
     .message = TYPE(RULE), .merge_key = "rule", .list_keys = "rule"},
};
static const uint16_t schema_order[] = {2,  1,  32, 29, 24, 26, 7,  33, 31, 3,  19, 35, 9,  11, 34,
                                        5,  0,  23, 15, 12, 20, 8,  16, 13, 21, 10, 18, 27, 36, 25,
                                        14, 30, 28, 22, 6,  4,  17, 38, 39, 40, 41, 42, 37, 43};
static const uint16_t schema_numbers[] = {
    0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
    22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43};

/* v1.ExternalDocumentation */
static const kc__type_field docs_fields[] = {
    {FIELD("description", 1, STRING, SINGLE, KC__OMIT_EMPTY, "string")},
    {FIELD("url", 2, STRING, SINGLE, KC__OMIT_EMPTY, "string")},
};
static const uint16_t docs_order[] = {0, 1};
static const uint16_t docs_numbers[] = {0, 1};

/* v1.ValidationRule */
static const kc__type_field rule_fields[] = {
    {FIELD("rule", 1, STRING, SINGLE, 0, "string")},
    {FIELD("message", 2, STRING, SINGLE, KC__OMIT_EMPTY, "string")},
    {FIELD("messageExpression", 3, STRING, SINGLE, KC__OMIT_EMPTY, "string")},
    {FIELD("reason", 4, STRING, SINGLE, KC__OMIT_EMPTY | KC__POINTER, "v1.FieldValueErrorReason")},
    {FIELD("fieldPath", 5, STRING, SINGLE, KC__OMIT_EMPTY, "string")},
    {FIELD("optionalOldSelf", 6, BOOL, SINGLE, KC__OMIT_EMPTY | KC__POINTER, "bool")},
};
static const uint16_t rule_order[] = {4, 1, 2, 5, 3, 0};
static const uint16_t rule_numbers[] = {0, 1, 2, 3, 4, 5};

const kc__type_message kc__crd_types[KC__N_CRD_TYPES] = {
    [KC__T_TYPE_META] = MESSAGE_OF(META, "v1", "TypeMeta", type_meta),
    [KC__T_OWNER] = MESSAGE_OF(META, "v1", "OwnerReference", owner),
    [KC__T_MANAGED] = MESSAGE_OF(META, "v1", "ManagedFieldsEntry", managed),
    [KC__T_OBJECT_META] = MESSAGE_OF(META, "v1", "ObjectMeta", object_meta),
    [KC__T_CRD] = MESSAGE_OF(PACKAGE, "v1", "CustomResourceDefinition", crd),
    [KC__T_CRD_LIST] = MESSAGE_OF(PACKAGE, "v1", "CustomResourceDefinitionList", list),
    [KC__T_SPEC] = MESSAGE_OF(PACKAGE, "v1", "CustomResourceDefinitionSpec", spec),
    [KC__T_CONVERSION] = MESSAGE_OF(PACKAGE, "v1", "CustomResourceConversion", conversion),
    [KC__T_WEBHOOK] = MESSAGE_OF(PACKAGE, "v1", "WebhookConversion", webhook),
    [KC__T_CLIENT] = MESSAGE_OF(PACKAGE, "v1", "WebhookClientConfig", client),
    [KC__T_SERVICE] = MESSAGE_OF(PACKAGE, "v1", "ServiceReference", service),
    [KC__T_VERSION] = MESSAGE_OF(PACKAGE, "v1", "CustomResourceDefinitionVersion", version),
    [KC__T_SELECTABLE] = MESSAGE_OF(PACKAGE, "v1", "SelectableField", selectable),
    [KC__T_COLUMN] = MESSAGE_OF(PACKAGE, "v1", "CustomResourceColumnDefinition", column),
    [KC__T_NAMES] = MESSAGE_OF(PACKAGE, "v1", "CustomResourceDefinitionNames", names),
    [KC__T_STATUS] = MESSAGE_OF(PACKAGE, "v1", "CustomResourceDefinitionStatus", status),
    [KC__T_CONDITION] = MESSAGE_OF(PACKAGE, "v1", "CustomResourceDefinitionCondition", condition),
    [KC__T_VALIDATION] = MESSAGE_OF(PACKAGE, "v1", "CustomResourceValidation", validation),
    [KC__T_SUBRESOURCES] = MESSAGE_OF(PACKAGE, "v1", "CustomResourceSubresources", subresources),
    [KC__T_SUB_STATUS] = {.name = KC_STR_INIT(PACKAGE "v1.CustomResourceSubresourceStatus"),
                          .go_name = "v1.CustomResourceSubresourceStatus"},
    [KC__T_SUB_SCALE] = MESSAGE_OF(PACKAGE, "v1", "CustomResourceSubresourceScale", sub_scale),
    [KC__T_SCHEMA] = MESSAGE_OF(PACKAGE, "v1", "JSONSchemaProps", schema),
    [KC__T_DOCS] = MESSAGE_OF(PACKAGE, "v1", "ExternalDocumentation", docs),
    [KC__T_RULE] = MESSAGE_OF(PACKAGE, "v1", "ValidationRule", rule),
};

const kc__type_message *const kc__crd_type = TYPE(CRD);
const kc__type_message *const kc__crd_list_type = TYPE(CRD_LIST);
const kc__type_message *const kc__crd_names_type = TYPE(NAMES);
const kc__type_message *const kc__crd_object_meta_type = TYPE(OBJECT_META);
