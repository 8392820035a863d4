/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crd_beta_tables.c: the fields of a CustomResourceDefinition of v1beta1, where they differ from
 * those of v1 (crd_type_tables.c, where the form of these tables is explained). What is the same in
 * both (names, status, schemas, subresources) is that of v1.
 *
 * What its fields mean in v1 stands in crd_beta.c.
 */
#include "apiserver/crd/crd_tables_internal.h"

#define PACKAGE "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1beta1."

enum { CRD, CRD_LIST, SPEC, CONVERSION, VERSION, COLUMN, N_TYPES };

static const kc__message types[N_TYPES];

/* v1beta1.CustomResourceDefinition */
static const kc__field crd_fields[] = {
    {OF(MESSAGE, SINGLE, KC__INLINE, "v1.TypeMeta"), .message = TYPE(TYPE_META)},
    {.name = KC_STR_INIT("metadata"),
     OF(MESSAGE, SINGLE, KC__OMIT_EMPTY, "v1.ObjectMeta"),
     .message = TYPE(OBJECT_META)},
    {.name = KC_STR_INIT("spec"),
     OF(MESSAGE, SINGLE, 0, "v1beta1.CustomResourceDefinitionSpec"),
     .message = &types[SPEC]},
    {.name = KC_STR_INIT("status"),
     OF(MESSAGE, SINGLE, KC__OMIT_EMPTY, "v1beta1.CustomResourceDefinitionStatus"),
     .message = TYPE(STATUS)},
};
static const uint16_t crd_order[] = {0, 1, 2, 3};

/* v1beta1.CustomResourceDefinitionList */
static const kc__field list_fields[] = {
    {OF(MESSAGE, SINGLE, KC__INLINE, "v1.TypeMeta"), .message = TYPE(TYPE_META)},
    {.name = KC_STR_INIT("metadata"), OF(RAW, SINGLE, 0, "v1.ListMeta")},
    {.name = KC_STR_INIT("items"),
     OF(MESSAGE, REPEATED, KC__REQUIRED, "[]v1beta1.CustomResourceDefinition"),
     .message = &types[CRD]},
};
static const uint16_t list_order[] = {0, 2, 1};

/* v1beta1.CustomResourceDefinitionSpec */
static const kc__field spec_fields[] = {
    {.name = KC_STR_INIT("group"), OF(STRING, SINGLE, 0, "string")},
    {.name = KC_STR_INIT("version"), OF(STRING, SINGLE, KC__OMIT_EMPTY, "string")},
    {.name = KC_STR_INIT("names"),
     OF(MESSAGE, SINGLE, 0, "v1beta1.CustomResourceDefinitionNames"),
     .message = TYPE(NAMES)},
    {.name = KC_STR_INIT("scope"), OF(STRING, SINGLE, 0, "v1beta1.ResourceScope")},
    {.name = KC_STR_INIT("validation"),
     OF(MESSAGE, SINGLE, KC__OMIT_EMPTY | KC__POINTER, "v1beta1.CustomResourceValidation"),
     .message = TYPE(VALIDATION)},
    {.name = KC_STR_INIT("subresources"),
     OF(MESSAGE, SINGLE, KC__OMIT_EMPTY | KC__POINTER, "v1beta1.CustomResourceSubresources"),
     .message = TYPE(SUBRESOURCES)},
    {.name = KC_STR_INIT("versions"),
     OF(MESSAGE, REPEATED, KC__OMIT_EMPTY, "[]v1beta1.CustomResourceDefinitionVersion"),
     .message = &types[VERSION]},
    {.name = KC_STR_INIT("additionalPrinterColumns"),
     OF(MESSAGE, REPEATED, KC__OMIT_EMPTY, "[]v1beta1.CustomResourceColumnDefinition"),
     .message = &types[COLUMN]},
    {.name = KC_STR_INIT("selectableFields"),
     OF(MESSAGE, REPEATED, KC__OMIT_EMPTY, "[]v1beta1.SelectableField"),
     .message = TYPE(SELECTABLE)},
    {.name = KC_STR_INIT("conversion"),
     OF(MESSAGE, SINGLE, KC__OMIT_EMPTY | KC__POINTER, "v1beta1.CustomResourceConversion"),
     .message = &types[CONVERSION]},
    {.name = KC_STR_INIT("preserveUnknownFields"),
     OF(BOOL, SINGLE, KC__OMIT_EMPTY | KC__POINTER, "bool")},
};
static const uint16_t spec_order[] = {7, 9, 0, 2, 10, 3, 8, 5, 4, 1, 6};

/* v1beta1.CustomResourceConversion */
static const kc__field conversion_fields[] = {
    {.name = KC_STR_INIT("strategy"), OF(STRING, SINGLE, 0, "v1beta1.ConversionStrategyType")},
    {.name = KC_STR_INIT("webhookClientConfig"),
     OF(MESSAGE, SINGLE, KC__OMIT_EMPTY | KC__POINTER, "v1beta1.WebhookClientConfig"),
     .message = TYPE(CLIENT)},
    {.name = KC_STR_INIT("conversionReviewVersions"),
     OF(STRING, REPEATED, KC__OMIT_EMPTY, "[]string")},
};
static const uint16_t conversion_order[] = {2, 0, 1};

/* v1beta1.CustomResourceDefinitionVersion */
static const kc__field version_fields[] = {
    {.name = KC_STR_INIT("name"), OF(STRING, SINGLE, 0, "string")},
    {.name = KC_STR_INIT("served"), OF(BOOL, SINGLE, 0, "bool")},
    {.name = KC_STR_INIT("storage"), OF(BOOL, SINGLE, 0, "bool")},
    {.name = KC_STR_INIT("deprecated"), OF(BOOL, SINGLE, KC__OMIT_EMPTY, "bool")},
    {.name = KC_STR_INIT("deprecationWarning"),
     OF(STRING, SINGLE, KC__OMIT_EMPTY | KC__POINTER, "string")},
    {.name = KC_STR_INIT("schema"),
     OF(MESSAGE, SINGLE, KC__OMIT_EMPTY | KC__POINTER, "v1beta1.CustomResourceValidation"),
     .message = TYPE(VALIDATION)},
    {.name = KC_STR_INIT("subresources"),
     OF(MESSAGE, SINGLE, KC__OMIT_EMPTY | KC__POINTER, "v1beta1.CustomResourceSubresources"),
     .message = TYPE(SUBRESOURCES)},
    {.name = KC_STR_INIT("additionalPrinterColumns"),
     OF(MESSAGE, REPEATED, KC__OMIT_EMPTY, "[]v1beta1.CustomResourceColumnDefinition"),
     .message = &types[COLUMN]},
    {.name = KC_STR_INIT("selectableFields"),
     OF(MESSAGE, REPEATED, KC__OMIT_EMPTY, "[]v1beta1.SelectableField"),
     .message = TYPE(SELECTABLE)},
};
static const uint16_t version_order[] = {7, 3, 4, 0, 5, 8, 1, 2, 6};

/* v1beta1.CustomResourceColumnDefinition */
static const kc__field column_fields[] = {
    {.name = KC_STR_INIT("name"), OF(STRING, SINGLE, 0, "string")},
    {.name = KC_STR_INIT("type"), OF(STRING, SINGLE, 0, "string")},
    {.name = KC_STR_INIT("format"), OF(STRING, SINGLE, KC__OMIT_EMPTY, "string")},
    {.name = KC_STR_INIT("description"), OF(STRING, SINGLE, KC__OMIT_EMPTY, "string")},
    {.name = KC_STR_INIT("priority"), OF(INT32, SINGLE, KC__OMIT_EMPTY, "int32")},
    {.name = KC_STR_INIT("JSONPath"), OF(STRING, SINGLE, 0, "string")},
};
static const uint16_t column_order[] = {5, 3, 2, 0, 4, 1};

#define MESSAGE_OF(kind, of)            \
    {.name = KC_STR_INIT(PACKAGE kind), \
     .go_name = "v1beta1." kind,        \
     .fields = of##_fields,             \
     .n_fields = KC_COUNT(of##_fields), \
     .by_name = of##_order,             \
     .by_number = of##_order}

static const kc__message types[N_TYPES] = {
    [CRD] = MESSAGE_OF("CustomResourceDefinition", crd),
    [CRD_LIST] = MESSAGE_OF("CustomResourceDefinitionList", list),
    [SPEC] = MESSAGE_OF("CustomResourceDefinitionSpec", spec),
    [CONVERSION] = MESSAGE_OF("CustomResourceConversion", conversion),
    [VERSION] = MESSAGE_OF("CustomResourceDefinitionVersion", version),
    [COLUMN] = MESSAGE_OF("CustomResourceColumnDefinition", column),
};

const kc__message *const kc__crd_beta_type = &types[CRD];
const kc__message *const kc__crd_beta_list_type = &types[CRD_LIST];
