/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crd_type_tables.c: the fields of a CustomResourceDefinition, and of the schemas in it.
 *
 * The published definitions, from which the tables of the other kinds are made, do not have it: it
 * comes from a server of its own in Kubernetes. So these are written by hand, in the same form, in
 * the order of the Go structs. Protobuf numbers are left out: in JSON some of its values are no
 * messages (items, additionalProperties, default), and its clients write JSON.
 *
 * The metadata is that of all kinds, but a constant cannot refer to what is in another table by
 * its place, so it stands here once more; a test compares both.
 *
 * For one more field: a line at its place, and its number in the order by name below, which a test
 * checks as well.
 */
#include "apiserver/crd/crd_tables_internal.h"

/* v1.TypeMeta */
static const kc__field type_meta_fields[] = {
    {.name = KC_STR_INIT("kind"), OF(STRING, SINGLE, KC__OMIT_EMPTY, "string")},
    {.name = KC_STR_INIT("apiVersion"), OF(STRING, SINGLE, KC__OMIT_EMPTY, "string")},
};
static const uint16_t type_meta_order[] = {1, 0};

/* v1.OwnerReference */
static const kc__field owner_fields[] = {
    {.name = KC_STR_INIT("apiVersion"), OF(STRING, SINGLE, 0, "string")},
    {.name = KC_STR_INIT("kind"), OF(STRING, SINGLE, 0, "string")},
    {.name = KC_STR_INIT("name"), OF(STRING, SINGLE, 0, "string")},
    {.name = KC_STR_INIT("uid"), OF(STRING, SINGLE, 0, "types.UID")},
    {.name = KC_STR_INIT("controller"), OF(BOOL, SINGLE, KC__OMIT_EMPTY | KC__POINTER, "bool")},
    {.name = KC_STR_INIT("blockOwnerDeletion"),
     OF(BOOL, SINGLE, KC__OMIT_EMPTY | KC__POINTER, "bool")},
};
static const uint16_t owner_order[] = {0, 5, 4, 1, 2, 3};

/* v1.ManagedFieldsEntry */
static const kc__field managed_fields[] = {
    {.name = KC_STR_INIT("manager"), OF(STRING, SINGLE, KC__OMIT_EMPTY, "string")},
    {.name = KC_STR_INIT("operation"),
     OF(STRING, SINGLE, KC__OMIT_EMPTY, "v1.ManagedFieldsOperationType")},
    {.name = KC_STR_INIT("apiVersion"), OF(STRING, SINGLE, KC__OMIT_EMPTY, "string")},
    {.name = KC_STR_INIT("time"), OF(TIME, SINGLE, KC__OMIT_EMPTY | KC__POINTER, "v1.Time")},
    {.name = KC_STR_INIT("fieldsType"), OF(STRING, SINGLE, KC__OMIT_EMPTY, "string")},
    {.name = KC_STR_INIT("fieldsV1"),
     OF(FIELDS_V1, SINGLE, KC__OMIT_EMPTY | KC__POINTER, "v1.FieldsV1")},
    {.name = KC_STR_INIT("subresource"), OF(STRING, SINGLE, KC__OMIT_EMPTY, "string")},
};
static const uint16_t managed_order[] = {2, 4, 5, 0, 1, 6, 3};

/* v1.ObjectMeta */
static const kc__field object_meta_fields[] = {
    {.name = KC_STR_INIT("name"), OF(STRING, SINGLE, KC__OMIT_EMPTY, "string")},
    {.name = KC_STR_INIT("generateName"), OF(STRING, SINGLE, KC__OMIT_EMPTY, "string")},
    {.name = KC_STR_INIT("namespace"), OF(STRING, SINGLE, KC__OMIT_EMPTY, "string")},
    {.name = KC_STR_INIT("selfLink"), OF(STRING, SINGLE, KC__OMIT_EMPTY, "string")},
    {.name = KC_STR_INIT("uid"), OF(STRING, SINGLE, KC__OMIT_EMPTY, "types.UID")},
    {.name = KC_STR_INIT("resourceVersion"), OF(STRING, SINGLE, KC__OMIT_EMPTY, "string")},
    {.name = KC_STR_INIT("generation"), OF(INT64, SINGLE, KC__OMIT_EMPTY, "int64")},
    {.name = KC_STR_INIT("creationTimestamp"),
     OF(TIME, SINGLE, KC__OMIT_EMPTY | KC__OMIT_ZERO, "v1.Time")},
    {.name = KC_STR_INIT("deletionTimestamp"),
     OF(TIME, SINGLE, KC__OMIT_EMPTY | KC__POINTER, "v1.Time")},
    {.name = KC_STR_INIT("deletionGracePeriodSeconds"),
     OF(INT64, SINGLE, KC__OMIT_EMPTY | KC__POINTER, "int64")},
    {.name = KC_STR_INIT("labels"), OF(STRING, MAPPED, KC__OMIT_EMPTY, "map[string]string")},
    {.name = KC_STR_INIT("annotations"), OF(STRING, MAPPED, KC__OMIT_EMPTY, "map[string]string")},
    {.name = KC_STR_INIT("ownerReferences"),
     OF(MESSAGE, REPEATED, KC__OMIT_EMPTY | KC__PATCH_MERGES | KC__LIST_IS_MAP,
        "[]v1.OwnerReference"),
     .message = TYPE(OWNER),
     .merge_key = "uid",
     .list_keys = "uid"},
    {.name = KC_STR_INIT("finalizers"),
     OF(STRING, REPEATED, KC__OMIT_EMPTY | KC__PATCH_MERGES | KC__LIST_IS_SET, "[]string")},
    {.name = KC_STR_INIT("managedFields"),
     OF(MESSAGE, REPEATED, KC__OMIT_EMPTY | KC__LIST_IS_ATOMIC, "[]v1.ManagedFieldsEntry"),
     .message = TYPE(MANAGED)},
};
static const uint16_t object_meta_order[] = {11, 7, 9, 8, 13, 1, 6, 10, 14, 0, 2, 12, 5, 3, 4};

/* v1.CustomResourceDefinition */
static const kc__field crd_fields[] = {
    {OF(MESSAGE, SINGLE, KC__INLINE, "v1.TypeMeta"), .message = TYPE(TYPE_META)},
    {.name = KC_STR_INIT("metadata"),
     OF(MESSAGE, SINGLE, KC__OMIT_EMPTY, "v1.ObjectMeta"),
     .message = TYPE(OBJECT_META)},
    {.name = KC_STR_INIT("spec"),
     OF(MESSAGE, SINGLE, 0, "v1.CustomResourceDefinitionSpec"),
     .message = TYPE(SPEC)},
    {.name = KC_STR_INIT("status"),
     OF(MESSAGE, SINGLE, KC__OMIT_EMPTY, "v1.CustomResourceDefinitionStatus"),
     .message = TYPE(STATUS)},
};
static const uint16_t crd_order[] = {0, 1, 2, 3};

/* v1.CustomResourceDefinitionList */
static const kc__field list_fields[] = {
    {OF(MESSAGE, SINGLE, KC__INLINE, "v1.TypeMeta"), .message = TYPE(TYPE_META)},
    {.name = KC_STR_INIT("metadata"), OF(RAW, SINGLE, 0, "v1.ListMeta")},
    {.name = KC_STR_INIT("items"),
     OF(MESSAGE, REPEATED, KC__REQUIRED, "[]v1.CustomResourceDefinition"),
     .message = TYPE(CRD)},
};
static const uint16_t list_order[] = {0, 2, 1};

/* v1.CustomResourceDefinitionSpec */
static const kc__field spec_fields[] = {
    {.name = KC_STR_INIT("group"), OF(STRING, SINGLE, 0, "string")},
    {.name = KC_STR_INIT("names"),
     OF(MESSAGE, SINGLE, 0, "v1.CustomResourceDefinitionNames"),
     .message = TYPE(NAMES)},
    {.name = KC_STR_INIT("scope"), OF(STRING, SINGLE, 0, "v1.ResourceScope")},
    {.name = KC_STR_INIT("versions"),
     OF(MESSAGE, REPEATED, 0, "[]v1.CustomResourceDefinitionVersion"),
     .message = TYPE(VERSION)},
    {.name = KC_STR_INIT("conversion"),
     OF(MESSAGE, SINGLE, KC__OMIT_EMPTY | KC__POINTER, "v1.CustomResourceConversion"),
     .message = TYPE(CONVERSION)},
    {.name = KC_STR_INIT("preserveUnknownFields"), OF(BOOL, SINGLE, KC__OMIT_EMPTY, "bool")},
};
static const uint16_t spec_order[] = {4, 0, 1, 5, 2, 3};

/* v1.CustomResourceConversion */
static const kc__field conversion_fields[] = {
    {.name = KC_STR_INIT("strategy"), OF(STRING, SINGLE, 0, "v1.ConversionStrategyType")},
    {.name = KC_STR_INIT("webhook"),
     OF(MESSAGE, SINGLE, KC__OMIT_EMPTY | KC__POINTER, "v1.WebhookConversion"),
     .message = TYPE(WEBHOOK)},
};
static const uint16_t conversion_order[] = {0, 1};

/* v1.WebhookConversion */
static const kc__field webhook_fields[] = {
    {.name = KC_STR_INIT("clientConfig"),
     OF(MESSAGE, SINGLE, KC__OMIT_EMPTY | KC__POINTER, "v1.WebhookClientConfig"),
     .message = TYPE(CLIENT)},
    {.name = KC_STR_INIT("conversionReviewVersions"), OF(STRING, REPEATED, 0, "[]string")},
};
static const uint16_t webhook_order[] = {0, 1};

/* v1.WebhookClientConfig */
static const kc__field client_fields[] = {
    {.name = KC_STR_INIT("url"), OF(STRING, SINGLE, KC__OMIT_EMPTY | KC__POINTER, "string")},
    {.name = KC_STR_INIT("service"),
     OF(MESSAGE, SINGLE, KC__OMIT_EMPTY | KC__POINTER, "v1.ServiceReference"),
     .message = TYPE(SERVICE)},
    {.name = KC_STR_INIT("caBundle"), OF(BYTES, SINGLE, KC__OMIT_EMPTY, "[]uint8")},
};
static const uint16_t client_order[] = {2, 1, 0};

/* v1.ServiceReference */
static const kc__field service_fields[] = {
    {.name = KC_STR_INIT("namespace"), OF(STRING, SINGLE, 0, "string")},
    {.name = KC_STR_INIT("name"), OF(STRING, SINGLE, 0, "string")},
    {.name = KC_STR_INIT("path"), OF(STRING, SINGLE, KC__OMIT_EMPTY | KC__POINTER, "string")},
    {.name = KC_STR_INIT("port"), OF(INT32, SINGLE, KC__OMIT_EMPTY | KC__POINTER, "int32")},
};
static const uint16_t service_order[] = {1, 0, 2, 3};

/* v1.CustomResourceDefinitionVersion */
static const kc__field version_fields[] = {
    {.name = KC_STR_INIT("name"), OF(STRING, SINGLE, 0, "string")},
    {.name = KC_STR_INIT("served"), OF(BOOL, SINGLE, 0, "bool")},
    {.name = KC_STR_INIT("storage"), OF(BOOL, SINGLE, 0, "bool")},
    {.name = KC_STR_INIT("deprecated"), OF(BOOL, SINGLE, KC__OMIT_EMPTY, "bool")},
    {.name = KC_STR_INIT("deprecationWarning"),
     OF(STRING, SINGLE, KC__OMIT_EMPTY | KC__POINTER, "string")},
    {.name = KC_STR_INIT("schema"),
     OF(MESSAGE, SINGLE, KC__OMIT_EMPTY | KC__POINTER, "v1.CustomResourceValidation"),
     .message = TYPE(VALIDATION)},
    {.name = KC_STR_INIT("subresources"),
     OF(MESSAGE, SINGLE, KC__OMIT_EMPTY | KC__POINTER, "v1.CustomResourceSubresources"),
     .message = TYPE(SUBRESOURCES)},
    {.name = KC_STR_INIT("additionalPrinterColumns"),
     OF(MESSAGE, REPEATED, KC__OMIT_EMPTY, "[]v1.CustomResourceColumnDefinition"),
     .message = TYPE(COLUMN)},
    {.name = KC_STR_INIT("selectableFields"),
     OF(MESSAGE, REPEATED, KC__OMIT_EMPTY, "[]v1.SelectableField"),
     .message = TYPE(SELECTABLE)},
};
static const uint16_t version_order[] = {7, 3, 4, 0, 5, 8, 1, 2, 6};

/* v1.SelectableField */
static const kc__field selectable_fields[] = {
    {.name = KC_STR_INIT("jsonPath"), OF(STRING, SINGLE, 0, "string")},
};
static const uint16_t selectable_order[] = {0};

/* v1.CustomResourceColumnDefinition */
static const kc__field column_fields[] = {
    {.name = KC_STR_INIT("name"), OF(STRING, SINGLE, 0, "string")},
    {.name = KC_STR_INIT("type"), OF(STRING, SINGLE, 0, "string")},
    {.name = KC_STR_INIT("format"), OF(STRING, SINGLE, KC__OMIT_EMPTY, "string")},
    {.name = KC_STR_INIT("description"), OF(STRING, SINGLE, KC__OMIT_EMPTY, "string")},
    {.name = KC_STR_INIT("priority"), OF(INT32, SINGLE, KC__OMIT_EMPTY, "int32")},
    {.name = KC_STR_INIT("jsonPath"), OF(STRING, SINGLE, 0, "string")},
};
static const uint16_t column_order[] = {3, 2, 5, 0, 4, 1};

/* v1.CustomResourceDefinitionNames */
static const kc__field names_fields[] = {
    {.name = KC_STR_INIT("plural"), OF(STRING, SINGLE, 0, "string")},
    {.name = KC_STR_INIT("singular"), OF(STRING, SINGLE, KC__OMIT_EMPTY, "string")},
    {.name = KC_STR_INIT("shortNames"), OF(STRING, REPEATED, KC__OMIT_EMPTY, "[]string")},
    {.name = KC_STR_INIT("kind"), OF(STRING, SINGLE, 0, "string")},
    {.name = KC_STR_INIT("listKind"), OF(STRING, SINGLE, KC__OMIT_EMPTY, "string")},
    {.name = KC_STR_INIT("categories"), OF(STRING, REPEATED, KC__OMIT_EMPTY, "[]string")},
};
static const uint16_t names_order[] = {5, 3, 4, 0, 2, 1};

/* v1.CustomResourceDefinitionStatus */
static const kc__field status_fields[] = {
    {.name = KC_STR_INIT("conditions"),
     OF(MESSAGE, REPEATED, KC__LIST_IS_MAP, "[]v1.CustomResourceDefinitionCondition"),
     .message = TYPE(CONDITION),
     .list_keys = "type"},
    {.name = KC_STR_INIT("acceptedNames"),
     OF(MESSAGE, SINGLE, 0, "v1.CustomResourceDefinitionNames"),
     .message = TYPE(NAMES)},
    {.name = KC_STR_INIT("storedVersions"), OF(STRING, REPEATED, 0, "[]string")},
};
static const uint16_t status_order[] = {1, 0, 2};

/* v1.CustomResourceDefinitionCondition */
static const kc__field condition_fields[] = {
    {.name = KC_STR_INIT("type"),
     OF(STRING, SINGLE, 0, "v1.CustomResourceDefinitionConditionType")},
    {.name = KC_STR_INIT("status"), OF(STRING, SINGLE, 0, "v1.ConditionStatus")},
    {.name = KC_STR_INIT("lastTransitionTime"), OF(TIME, SINGLE, KC__OMIT_EMPTY, "v1.Time")},
    {.name = KC_STR_INIT("reason"), OF(STRING, SINGLE, KC__OMIT_EMPTY, "string")},
    {.name = KC_STR_INIT("message"), OF(STRING, SINGLE, KC__OMIT_EMPTY, "string")},
};
static const uint16_t condition_order[] = {2, 4, 3, 1, 0};

/* v1.CustomResourceValidation */
static const kc__field validation_fields[] = {
    {.name = KC_STR_INIT("openAPIV3Schema"),
     OF(MESSAGE, SINGLE, KC__OMIT_EMPTY | KC__POINTER, "v1.JSONSchemaProps"),
     .message = TYPE(SCHEMA)},
};
static const uint16_t validation_order[] = {0};

/* v1.CustomResourceSubresources */
static const kc__field subresources_fields[] = {
    {.name = KC_STR_INIT("status"),
     OF(MESSAGE, SINGLE, KC__OMIT_EMPTY | KC__POINTER, "v1.CustomResourceSubresourceStatus"),
     .message = TYPE(SUB_STATUS)},
    {.name = KC_STR_INIT("scale"),
     OF(MESSAGE, SINGLE, KC__OMIT_EMPTY | KC__POINTER, "v1.CustomResourceSubresourceScale"),
     .message = TYPE(SUB_SCALE)},
};
static const uint16_t subresources_order[] = {1, 0};

/* v1.CustomResourceSubresourceScale */
static const kc__field sub_scale_fields[] = {
    {.name = KC_STR_INIT("specReplicasPath"), OF(STRING, SINGLE, 0, "string")},
    {.name = KC_STR_INIT("statusReplicasPath"), OF(STRING, SINGLE, 0, "string")},
    {.name = KC_STR_INIT("labelSelectorPath"),
     OF(STRING, SINGLE, KC__OMIT_EMPTY | KC__POINTER, "string")},
};
static const uint16_t sub_scale_order[] = {2, 0, 1};

/* v1.JSONSchemaProps */
static const kc__field schema_fields[] = {
    {.name = KC_STR_INIT("id"), OF(STRING, SINGLE, KC__OMIT_EMPTY, "string")},
    {.name = KC_STR_INIT("$schema"), OF(STRING, SINGLE, KC__OMIT_EMPTY, "v1.JSONSchemaURL")},
    {.name = KC_STR_INIT("$ref"), OF(STRING, SINGLE, KC__OMIT_EMPTY | KC__POINTER, "string")},
    {.name = KC_STR_INIT("description"), OF(STRING, SINGLE, KC__OMIT_EMPTY, "string")},
    {.name = KC_STR_INIT("type"), OF(STRING, SINGLE, KC__OMIT_EMPTY, "string")},
    {.name = KC_STR_INIT("format"), OF(STRING, SINGLE, KC__OMIT_EMPTY, "string")},
    {.name = KC_STR_INIT("title"), OF(STRING, SINGLE, KC__OMIT_EMPTY, "string")},
    {.name = KC_STR_INIT("default"), OF(ANY, SINGLE, KC__OMIT_EMPTY | KC__POINTER, "v1.JSON")},
    {.name = KC_STR_INIT("maximum"), OF(DOUBLE, SINGLE, KC__OMIT_EMPTY | KC__POINTER, "float64")},
    {.name = KC_STR_INIT("exclusiveMaximum"), OF(BOOL, SINGLE, KC__OMIT_EMPTY, "bool")},
    {.name = KC_STR_INIT("minimum"), OF(DOUBLE, SINGLE, KC__OMIT_EMPTY | KC__POINTER, "float64")},
    {.name = KC_STR_INIT("exclusiveMinimum"), OF(BOOL, SINGLE, KC__OMIT_EMPTY, "bool")},
    {.name = KC_STR_INIT("maxLength"), OF(INT64, SINGLE, KC__OMIT_EMPTY | KC__POINTER, "int64")},
    {.name = KC_STR_INIT("minLength"), OF(INT64, SINGLE, KC__OMIT_EMPTY | KC__POINTER, "int64")},
    {.name = KC_STR_INIT("pattern"), OF(STRING, SINGLE, KC__OMIT_EMPTY, "string")},
    {.name = KC_STR_INIT("maxItems"), OF(INT64, SINGLE, KC__OMIT_EMPTY | KC__POINTER, "int64")},
    {.name = KC_STR_INIT("minItems"), OF(INT64, SINGLE, KC__OMIT_EMPTY | KC__POINTER, "int64")},
    {.name = KC_STR_INIT("uniqueItems"), OF(BOOL, SINGLE, KC__OMIT_EMPTY, "bool")},
    {.name = KC_STR_INIT("multipleOf"),
     OF(DOUBLE, SINGLE, KC__OMIT_EMPTY | KC__POINTER, "float64")},
    {.name = KC_STR_INIT("enum"), OF(ANY, REPEATED, KC__OMIT_EMPTY, "[]v1.JSON")},
    {.name = KC_STR_INIT("maxProperties"),
     OF(INT64, SINGLE, KC__OMIT_EMPTY | KC__POINTER, "int64")},
    {.name = KC_STR_INIT("minProperties"),
     OF(INT64, SINGLE, KC__OMIT_EMPTY | KC__POINTER, "int64")},
    {.name = KC_STR_INIT("required"), OF(STRING, REPEATED, KC__OMIT_EMPTY, "[]string")},
    {.name = KC_STR_INIT("items"),
     OF(EITHER, SINGLE, KC__OMIT_EMPTY | KC__POINTER, "v1.JSONSchemaPropsOrArray"),
     .message = TYPE(SCHEMA)},
    {.name = KC_STR_INIT("allOf"),
     OF(MESSAGE, REPEATED, KC__OMIT_EMPTY, "[]v1.JSONSchemaProps"),
     .message = TYPE(SCHEMA)},
    {.name = KC_STR_INIT("oneOf"),
     OF(MESSAGE, REPEATED, KC__OMIT_EMPTY, "[]v1.JSONSchemaProps"),
     .message = TYPE(SCHEMA)},
    {.name = KC_STR_INIT("anyOf"),
     OF(MESSAGE, REPEATED, KC__OMIT_EMPTY, "[]v1.JSONSchemaProps"),
     .message = TYPE(SCHEMA)},
    {.name = KC_STR_INIT("not"),
     OF(MESSAGE, SINGLE, KC__OMIT_EMPTY | KC__POINTER, "v1.JSONSchemaProps"),
     .message = TYPE(SCHEMA)},
    {.name = KC_STR_INIT("properties"),
     OF(MESSAGE, MAPPED, KC__OMIT_EMPTY, "map[string]v1.JSONSchemaProps"),
     .message = TYPE(SCHEMA)},
    {.name = KC_STR_INIT("additionalProperties"),
     OF(EITHER, SINGLE, KC__OMIT_EMPTY | KC__POINTER, "v1.JSONSchemaPropsOrBool"),
     .message = TYPE(SCHEMA)},
    {.name = KC_STR_INIT("patternProperties"),
     OF(MESSAGE, MAPPED, KC__OMIT_EMPTY, "map[string]v1.JSONSchemaProps"),
     .message = TYPE(SCHEMA)},
    {.name = KC_STR_INIT("dependencies"),
     OF(EITHER, MAPPED, KC__OMIT_EMPTY, "v1.JSONSchemaDependencies"),
     .message = TYPE(SCHEMA)},
    {.name = KC_STR_INIT("additionalItems"),
     OF(EITHER, SINGLE, KC__OMIT_EMPTY | KC__POINTER, "v1.JSONSchemaPropsOrBool"),
     .message = TYPE(SCHEMA)},
    {.name = KC_STR_INIT("definitions"),
     OF(MESSAGE, MAPPED, KC__OMIT_EMPTY, "v1.JSONSchemaDefinitions"),
     .message = TYPE(SCHEMA)},
    {.name = KC_STR_INIT("externalDocs"),
     OF(MESSAGE, SINGLE, KC__OMIT_EMPTY | KC__POINTER, "v1.ExternalDocumentation"),
     .message = TYPE(DOCS)},
    {.name = KC_STR_INIT("example"), OF(ANY, SINGLE, KC__OMIT_EMPTY | KC__POINTER, "v1.JSON")},
    {.name = KC_STR_INIT("nullable"), OF(BOOL, SINGLE, KC__OMIT_EMPTY, "bool")},
    {.name = KC_STR_INIT("x-kubernetes-preserve-unknown-fields"),
     OF(BOOL, SINGLE, KC__OMIT_EMPTY | KC__POINTER, "bool")},
    {.name = KC_STR_INIT("x-kubernetes-embedded-resource"),
     OF(BOOL, SINGLE, KC__OMIT_EMPTY, "bool")},
    {.name = KC_STR_INIT("x-kubernetes-int-or-string"), OF(BOOL, SINGLE, KC__OMIT_EMPTY, "bool")},
    {.name = KC_STR_INIT("x-kubernetes-list-map-keys"),
     OF(STRING, REPEATED, KC__OMIT_EMPTY, "[]string")},
    {.name = KC_STR_INIT("x-kubernetes-list-type"),
     OF(STRING, SINGLE, KC__OMIT_EMPTY | KC__POINTER, "string")},
    {.name = KC_STR_INIT("x-kubernetes-map-type"),
     OF(STRING, SINGLE, KC__OMIT_EMPTY | KC__POINTER, "string")},
    {.name = KC_STR_INIT("x-kubernetes-validations"),
     OF(MESSAGE, REPEATED, KC__OMIT_EMPTY | KC__PATCH_MERGES | KC__LIST_IS_MAP,
        "v1.ValidationRules"),
     .message = TYPE(RULE),
     .merge_key = "rule",
     .list_keys = "rule"},
};
static const uint16_t schema_order[] = {2,  1,  32, 29, 24, 26, 7,  33, 31, 3,  19, 35, 9,  11, 34,
                                        5,  0,  23, 15, 12, 20, 8,  16, 13, 21, 10, 18, 27, 36, 25,
                                        14, 30, 28, 22, 6,  4,  17, 38, 39, 40, 41, 42, 37, 43};

/* v1.ExternalDocumentation */
static const kc__field docs_fields[] = {
    {.name = KC_STR_INIT("description"), OF(STRING, SINGLE, KC__OMIT_EMPTY, "string")},
    {.name = KC_STR_INIT("url"), OF(STRING, SINGLE, KC__OMIT_EMPTY, "string")},
};
static const uint16_t docs_order[] = {0, 1};

/* v1.ValidationRule */
static const kc__field rule_fields[] = {
    {.name = KC_STR_INIT("rule"), OF(STRING, SINGLE, 0, "string")},
    {.name = KC_STR_INIT("message"), OF(STRING, SINGLE, KC__OMIT_EMPTY, "string")},
    {.name = KC_STR_INIT("messageExpression"), OF(STRING, SINGLE, KC__OMIT_EMPTY, "string")},
    {.name = KC_STR_INIT("reason"),
     OF(STRING, SINGLE, KC__OMIT_EMPTY | KC__POINTER, "v1.FieldValueErrorReason")},
    {.name = KC_STR_INIT("fieldPath"), OF(STRING, SINGLE, KC__OMIT_EMPTY, "string")},
    {.name = KC_STR_INIT("optionalOldSelf"),
     OF(BOOL, SINGLE, KC__OMIT_EMPTY | KC__POINTER, "bool")},
};
static const uint16_t rule_order[] = {4, 1, 2, 5, 3, 0};

const kc__message kc__crd_types[KC__N_CRD_TYPES] = {
    [KC__T_TYPE_META] = {.name = KC_STR_INIT("io.k8s.apimachinery.pkg.apis.meta.v1.TypeMeta"),
                         .go_name = "v1.TypeMeta",
                         .fields = type_meta_fields,
                         .n_fields = KC_COUNT(type_meta_fields),
                         .by_name = type_meta_order,
                         .by_number = type_meta_order},
    [KC__T_OWNER] = {.name = KC_STR_INIT("io.k8s.apimachinery.pkg.apis.meta.v1.OwnerReference"),
                     .go_name = "v1.OwnerReference",
                     .fields = owner_fields,
                     .n_fields = KC_COUNT(owner_fields),
                     .by_name = owner_order,
                     .by_number = owner_order},
    [KC__T_MANAGED] = {.name =
                           KC_STR_INIT("io.k8s.apimachinery.pkg.apis.meta.v1.ManagedFieldsEntry"),
                       .go_name = "v1.ManagedFieldsEntry",
                       .fields = managed_fields,
                       .n_fields = KC_COUNT(managed_fields),
                       .by_name = managed_order,
                       .by_number = managed_order},
    [KC__T_OBJECT_META] = {.name = KC_STR_INIT("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"),
                           .go_name = "v1.ObjectMeta",
                           .fields = object_meta_fields,
                           .n_fields = KC_COUNT(object_meta_fields),
                           .by_name = object_meta_order,
                           .by_number = object_meta_order},
    [KC__T_CRD] =
        {.name = KC_STR_INIT(
             "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition"),
         .go_name = "v1.CustomResourceDefinition",
         .fields = crd_fields,
         .n_fields = KC_COUNT(crd_fields),
         .by_name = crd_order,
         .by_number = crd_order},
    [KC__T_CRD_LIST] =
        {.name = KC_STR_INIT(
             "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionList"),
         .go_name = "v1.CustomResourceDefinitionList",
         .fields = list_fields,
         .n_fields = KC_COUNT(list_fields),
         .by_name = list_order,
         .by_number = list_order},
    [KC__T_SPEC] =
        {.name = KC_STR_INIT(
             "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionSpec"),
         .go_name = "v1.CustomResourceDefinitionSpec",
         .fields = spec_fields,
         .n_fields = KC_COUNT(spec_fields),
         .by_name = spec_order,
         .by_number = spec_order},
    [KC__T_CONVERSION] =
        {.name = KC_STR_INIT(
             "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceConversion"),
         .go_name = "v1.CustomResourceConversion",
         .fields = conversion_fields,
         .n_fields = KC_COUNT(conversion_fields),
         .by_name = conversion_order,
         .by_number = conversion_order},
    [KC__T_WEBHOOK] =
        {.name = KC_STR_INIT(
             "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.WebhookConversion"),
         .go_name = "v1.WebhookConversion",
         .fields = webhook_fields,
         .n_fields = KC_COUNT(webhook_fields),
         .by_name = webhook_order,
         .by_number = webhook_order},
    [KC__T_CLIENT] =
        {.name = KC_STR_INIT(
             "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.WebhookClientConfig"),
         .go_name = "v1.WebhookClientConfig",
         .fields = client_fields,
         .n_fields = KC_COUNT(client_fields),
         .by_name = client_order,
         .by_number = client_order},
    [KC__T_SERVICE] =
        {.name = KC_STR_INIT(
             "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.ServiceReference"),
         .go_name = "v1.ServiceReference",
         .fields = service_fields,
         .n_fields = KC_COUNT(service_fields),
         .by_name = service_order,
         .by_number = service_order},
    [KC__T_VERSION] =
        {.name = KC_STR_INIT(
             "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionVersion"),
         .go_name = "v1.CustomResourceDefinitionVersion",
         .fields = version_fields,
         .n_fields = KC_COUNT(version_fields),
         .by_name = version_order,
         .by_number = version_order},
    [KC__T_SELECTABLE] =
        {.name = KC_STR_INIT(
             "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.SelectableField"),
         .go_name = "v1.SelectableField",
         .fields = selectable_fields,
         .n_fields = KC_COUNT(selectable_fields),
         .by_name = selectable_order,
         .by_number = selectable_order},
    [KC__T_COLUMN] =
        {.name = KC_STR_INIT(
             "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceColumnDefinition"),
         .go_name = "v1.CustomResourceColumnDefinition",
         .fields = column_fields,
         .n_fields = KC_COUNT(column_fields),
         .by_name = column_order,
         .by_number = column_order},
    [KC__T_NAMES] =
        {.name = KC_STR_INIT(
             "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionNames"),
         .go_name = "v1.CustomResourceDefinitionNames",
         .fields = names_fields,
         .n_fields = KC_COUNT(names_fields),
         .by_name = names_order,
         .by_number = names_order},
    [KC__T_STATUS] =
        {.name = KC_STR_INIT(
             "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionStatus"),
         .go_name = "v1.CustomResourceDefinitionStatus",
         .fields = status_fields,
         .n_fields = KC_COUNT(status_fields),
         .by_name = status_order,
         .by_number = status_order},
    [KC__T_CONDITION] =
        {.name = KC_STR_INIT(
             "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionCondition"),
         .go_name = "v1.CustomResourceDefinitionCondition",
         .fields = condition_fields,
         .n_fields = KC_COUNT(condition_fields),
         .by_name = condition_order,
         .by_number = condition_order},
    [KC__T_VALIDATION] =
        {.name = KC_STR_INIT(
             "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceValidation"),
         .go_name = "v1.CustomResourceValidation",
         .fields = validation_fields,
         .n_fields = KC_COUNT(validation_fields),
         .by_name = validation_order,
         .by_number = validation_order},
    [KC__T_SUBRESOURCES] =
        {.name = KC_STR_INIT(
             "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceSubresources"),
         .go_name = "v1.CustomResourceSubresources",
         .fields = subresources_fields,
         .n_fields = KC_COUNT(subresources_fields),
         .by_name = subresources_order,
         .by_number = subresources_order},
    [KC__T_SUB_STATUS] =
        {.name = KC_STR_INIT(
             "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceSubresourceStatus"),
         .go_name = "v1.CustomResourceSubresourceStatus"},
    [KC__T_SUB_SCALE] =
        {.name = KC_STR_INIT(
             "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceSubresourceScale"),
         .go_name = "v1.CustomResourceSubresourceScale",
         .fields = sub_scale_fields,
         .n_fields = KC_COUNT(sub_scale_fields),
         .by_name = sub_scale_order,
         .by_number = sub_scale_order},
    [KC__T_SCHEMA] =
        {.name = KC_STR_INIT(
             "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps"),
         .go_name = "v1.JSONSchemaProps",
         .fields = schema_fields,
         .n_fields = KC_COUNT(schema_fields),
         .by_name = schema_order,
         .by_number = schema_order},
    [KC__T_DOCS] =
        {.name = KC_STR_INIT(
             "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.ExternalDocumentation"),
         .go_name = "v1.ExternalDocumentation",
         .fields = docs_fields,
         .n_fields = KC_COUNT(docs_fields),
         .by_name = docs_order,
         .by_number = docs_order},
    [KC__T_RULE] = {.name = KC_STR_INIT(
                        "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.ValidationRule"),
                    .go_name = "v1.ValidationRule",
                    .fields = rule_fields,
                    .n_fields = KC_COUNT(rule_fields),
                    .by_name = rule_order,
                    .by_number = rule_order},
};

const kc__message *const kc__crd_type = TYPE(CRD);
const kc__message *const kc__crd_list_type = TYPE(CRD_LIST);
const kc__message *const kc__crd_names_type = TYPE(NAMES);
const kc__message *const kc__object_meta_type = TYPE(OBJECT_META);
