/* SPDX-License-Identifier: Apache-2.0 */
/*
 * columns.c: which resource has which columns.
 *
 * By the name under which a resource is stored, so that all versions of it, and events of both
 * groups, share a line. What has no line has a name and an age.
 *
 * To give a kind columns of its own: a kc__columns in a file of its family (columns_core.c), its
 * name in columns_internal.h, a line in the table below, at its place.
 */
#include "apiserver/printing/columns_internal.h"

static const kc__column name_and_age[] = {KC__NAME_COLUMN, KC__AGE_COLUMN};
static const kc__columns usual = {.list = name_and_age, .n = KC_COUNT(name_and_age)};

/* What Kubernetes itself has no columns for. */
static const kc__column name_and_time[] = {
    KC__NAME_COLUMN,
    {.name = "Created At",
     .type = "date",
     .description = KC__CREATED_TEXT,
     .cell = kc__cell_created},
};
static const kc__columns plain = {
    .list = name_and_time, .n = KC_COUNT(name_and_time), .null_when_empty = true};

/* Sorted by name. */
static const struct columns_line {
    const char *storage;
    const kc__columns *columns;
} lines[] = {
    {"apiextensions.k8s.io/customresourcedefinitions", &plain},
    {"coordination.k8s.io/leases", &kc__lease_columns},
    {"core/configmaps", &kc__config_map_columns},
    {"core/events", &kc__event_columns},
    {"core/limitranges", &plain},
    {"core/namespaces", &kc__namespace_columns},
    {"core/secrets", &kc__secret_columns},
    {"core/serviceaccounts", &kc__service_account_columns},
    {"rbac.authorization.k8s.io/clusterroles", &plain},
    {"rbac.authorization.k8s.io/roles", &plain},
    {"storage.k8s.io/csistoragecapacities", &plain},
};

static int compare(const void *storage, const void *line)
{
    return strcmp(storage, ((const struct columns_line *)line)->storage);
}

const kc__columns *kc__columns_of(const kc__resource *resource)
{
    if (resource->columns)
        return resource->columns;
    if (!resource->storage)
        return &usual;
    const struct columns_line *line =
        bsearch(resource->storage, lines, KC_COUNT(lines), sizeof(lines[0]), compare);
    return line ? line->columns : &usual;
}
