/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crd_beta_tables.c: the fields of a v1beta1 CustomResourceDefinition, where they differ from those
 * of v1. crd_type_tables.c explains the form of these tables. Types that are the same in both
 * versions (names, status, schemas, subresources) are those of v1.
 *
 * crd_beta.c describes how the fields map to v1.
 */
#include "apiserver/kinds/apiextensions/crd_tables_internal.h"

#define PACKAGE "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions."

enum { CRD, CRD_LIST, SPEC, CONVERSION, VERSION, COLUMN, N_TYPES };

static const kc__type_message types[N_TYPES];

/* v1beta1.CustomResourceDefinition */
static const kc__type_field crd_fields[] = {
    {OF(MESSAGE, SINGLE, KC__INLINE, "v1.TypeMeta"), .message = TYPE(TYPE_META)},
    {FIELD("metadata", 1, MESSAGE, SINGLE, KC__OMIT_EMPTY, "v1.ObjectMeta"),
     .message = TYPE(OBJECT_META)},
    {FIELD("spec", 2, MESSAGE, SINGLE, 0, "v1beta1.CustomResourceDefinitionSpec"),
     .message = &types[SPEC]},
    {FIELD("status", 3, MESSAGE, SINGLE, KC__OMIT_EMPTY, "v1beta1.CustomResourceDefinitionStatus"),
     .message = TYPE(STATUS)},
};
static const uint16_t crd_order[] = {0, 1, 2, 3};
static const uint16_t crd_numbers[] = {0, 1, 2, 3};

/* v1beta1.CustomResourceDefinitionList */
static const kc__type_field list_fields[] = {
    {OF(MESSAGE, SINGLE, KC__INLINE, "v1.TypeMeta"), .message = TYPE(TYPE_META)},
    {FIELD("metadata", 1, RAW, SINGLE, 0, "v1.ListMeta")},
    {FIELD("items", 2, MESSAGE, REPEATED, KC__REQUIRED, "[]v1beta1.CustomResourceDefinition"),
     .message = &types[CRD]},
};
static const uint16_t list_order[] = {0, 2, 1};
static const uint16_t list_numbers[] = {0, 1, 2};

/* v1beta1.CustomResourceDefinitionSpec */
static const kc__type_field spec_fields[] = {
    {FIELD("group", 1, STRING, SINGLE, 0, "string")},
    {FIELD("version", 2, STRING, SINGLE, KC__OMIT_EMPTY, "string")},
    {FIELD("names", 3, MESSAGE, SINGLE, 0, "v1beta1.CustomResourceDefinitionNames"),
     .message = TYPE(NAMES)},
    {FIELD("scope", 4, STRING, SINGLE, 0, "v1beta1.ResourceScope")},
    {FIELD("validation", 5, MESSAGE, SINGLE, KC__OMIT_EMPTY | KC__POINTER,
           "v1beta1.CustomResourceValidation"),
     .message = TYPE(VALIDATION)},
    {FIELD("subresources", 6, MESSAGE, SINGLE, KC__OMIT_EMPTY | KC__POINTER,
           "v1beta1.CustomResourceSubresources"),
     .message = TYPE(SUBRESOURCES)},
    {FIELD("versions", 7, MESSAGE, REPEATED, KC__OMIT_EMPTY,
           "[]v1beta1.CustomResourceDefinitionVersion"),
     .message = &types[VERSION]},
    {FIELD("additionalPrinterColumns", 8, MESSAGE, REPEATED, KC__OMIT_EMPTY,
           "[]v1beta1.CustomResourceColumnDefinition"),
     .message = &types[COLUMN]},
    {FIELD("selectableFields", 11, MESSAGE, REPEATED, KC__OMIT_EMPTY, "[]v1beta1.SelectableField"),
     .message = TYPE(SELECTABLE)},
    {FIELD("conversion", 9, MESSAGE, SINGLE, KC__OMIT_EMPTY | KC__POINTER,
           "v1beta1.CustomResourceConversion"),
     .message = &types[CONVERSION]},
    {FIELD("preserveUnknownFields", 10, BOOL, SINGLE, KC__OMIT_EMPTY | KC__POINTER, "bool")},
};
static const uint16_t spec_order[] = {7, 9, 0, 2, 10, 3, 8, 5, 4, 1, 6};
static const uint16_t spec_numbers[] = {0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 8};

/* v1beta1.CustomResourceConversion */
static const kc__type_field conversion_fields[] = {
    {FIELD("strategy", 1, STRING, SINGLE, 0, "v1beta1.ConversionStrategyType")},
    {FIELD("webhookClientConfig", 2, MESSAGE, SINGLE, KC__OMIT_EMPTY | KC__POINTER,
           "v1beta1.WebhookClientConfig"),
     .message = TYPE(CLIENT)},
    {FIELD("conversionReviewVersions", 3, STRING, REPEATED, KC__OMIT_EMPTY, "[]string")},
};
static const uint16_t conversion_order[] = {2, 0, 1};
static const uint16_t conversion_numbers[] = {0, 1, 2};

/* v1beta1.CustomResourceDefinitionVersion */
static const kc__type_field version_fields[] = {
    {FIELD("name", 1, STRING, SINGLE, 0, "string")},
    {FIELD("served", 2, BOOL, SINGLE, 0, "bool")},
    {FIELD("storage", 3, BOOL, SINGLE, 0, "bool")},
    {FIELD("deprecated", 7, BOOL, SINGLE, KC__OMIT_EMPTY, "bool")},
    {FIELD("deprecationWarning", 8, STRING, SINGLE, KC__OMIT_EMPTY | KC__POINTER, "string")},
    {FIELD("schema", 4, MESSAGE, SINGLE, KC__OMIT_EMPTY | KC__POINTER,
           "v1beta1.CustomResourceValidation"),
     .message = TYPE(VALIDATION)},
    {FIELD("subresources", 5, MESSAGE, SINGLE, KC__OMIT_EMPTY | KC__POINTER,
           "v1beta1.CustomResourceSubresources"),
     .message = TYPE(SUBRESOURCES)},
    {FIELD("additionalPrinterColumns", 6, MESSAGE, REPEATED, KC__OMIT_EMPTY,
           "[]v1beta1.CustomResourceColumnDefinition"),
     .message = &types[COLUMN]},
    {FIELD("selectableFields", 9, MESSAGE, REPEATED, KC__OMIT_EMPTY, "[]v1beta1.SelectableField"),
     .message = TYPE(SELECTABLE)},
};
static const uint16_t version_order[] = {7, 3, 4, 0, 5, 8, 1, 2, 6};
static const uint16_t version_numbers[] = {0, 1, 2, 5, 6, 7, 3, 4, 8};

/* v1beta1.CustomResourceColumnDefinition */
static const kc__type_field column_fields[] = {
    {FIELD("name", 1, STRING, SINGLE, 0, "string")},
    {FIELD("type", 2, STRING, SINGLE, 0, "string")},
    {FIELD("format", 3, STRING, SINGLE, KC__OMIT_EMPTY, "string")},
    {FIELD("description", 4, STRING, SINGLE, KC__OMIT_EMPTY, "string")},
    {FIELD("priority", 5, INT32, SINGLE, KC__OMIT_EMPTY, "int32")},
    {FIELD("JSONPath", 6, STRING, SINGLE, 0, "string")},
};
static const uint16_t column_order[] = {5, 3, 2, 0, 4, 1};
static const uint16_t column_numbers[] = {0, 1, 2, 3, 4, 5};

static const kc__type_message types[N_TYPES] = {
    [CRD] = MESSAGE_OF(PACKAGE, "v1beta1", "CustomResourceDefinition", crd),
    [CRD_LIST] = MESSAGE_OF(PACKAGE, "v1beta1", "CustomResourceDefinitionList", list),
    [SPEC] = MESSAGE_OF(PACKAGE, "v1beta1", "CustomResourceDefinitionSpec", spec),
    [CONVERSION] = MESSAGE_OF(PACKAGE, "v1beta1", "CustomResourceConversion", conversion),
    [VERSION] = MESSAGE_OF(PACKAGE, "v1beta1", "CustomResourceDefinitionVersion", version),
    [COLUMN] = MESSAGE_OF(PACKAGE, "v1beta1", "CustomResourceColumnDefinition", column),
};

const kc__type_message *const kc__crd_beta_type = &types[CRD];
const kc__type_message *const kc__crd_beta_list_type = &types[CRD_LIST];
