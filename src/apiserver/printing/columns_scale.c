/* SPDX-License-Identifier: Apache-2.0 */
/*
 * columns_scale.c: columns of a Scale. Those of custom resources are shown by Kubernetes' other
 * server, which knows what a name and a date are.
 */
#include "apiserver/printing/columns_internal.h"

#define COUNTS                                                                           \
    KC__COUNT_COLUMN("Desired", "integer", "spec.replicas", "How many there shall be."), \
        KC__COUNT_COLUMN("Available", "integer", "status.replicas", "How many there are.")

static const kc__column built_in[] = {
    {.name = "Name", .type = "string", .description = KC__NAME_TEXT, .cell = kc__cell_name},
    COUNTS,
    KC__AGE_COLUMN,
};
static const kc__column custom[] = {
    KC__NAME_COLUMN,
    COUNTS,
    {.name = "Age", .type = "date", .description = KC__CREATED_TEXT, .cell = kc__cell_age},
};
static const kc__columns of_built_in = KC__COLUMNS(built_in), of_custom = KC__COLUMNS(custom);

const kc__columns *kc__scale_columns(const kc__resource *resource)
{
    return resource->custom ? &of_custom : &of_built_in;
}
