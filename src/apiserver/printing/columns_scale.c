/* SPDX-License-Identifier: Apache-2.0 */
/*
 * columns_scale.c: the columns of a Scale.
 *
 * kube-apiserver prints the Scale of built-in resources, apiextensions-apiserver that of custom
 * resources; only the latter declares a format for the name and a type for the age.
 */
#include "apiserver/printing/columns_internal.h"

#define REPLICA_COLUMNS                                                                           \
    KC__PRINT_COUNT_COLUMN("Desired", "integer", "spec.replicas", "Desired number of replicas."), \
        KC__PRINT_COUNT_COLUMN("Available", "integer", "status.replicas",                         \
                               "Observed number of replicas.")

static const kc__print_column builtin_list[] = {
    {.name = "Name",
     .type = "string",
     .description = KC__PRINT_NAME_TEXT,
     .cell = kc__print_cell_name},
    REPLICA_COLUMNS,
    KC__PRINT_AGE_COLUMN,
};
static const kc__print_column custom_list[] = {
    KC__PRINT_NAME_COLUMN,
    REPLICA_COLUMNS,
    {.name = "Age",
     .type = "date",
     .description = KC__PRINT_CREATED_TEXT,
     .cell = kc__print_cell_age},
};
static const kc__print_columns builtin_scale_columns = KC__PRINT_COLUMNS(builtin_list);
const kc__print_columns kc__print_custom_scale_columns = KC__PRINT_COLUMNS(custom_list);

const kc__print_columns *kc__print_scale_columns(const kc__resource *resource)
{
    return resource->scale_columns ? resource->scale_columns : &builtin_scale_columns;
}
