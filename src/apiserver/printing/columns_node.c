/* SPDX-License-Identifier: Apache-2.0 */
/*
 * columns_node.c: columns of Nodes.
 */
#include "apiserver/printing/columns_internal.h"
#include "kc/vec.h"

static void cell_status(kc_buf *out, kc__row *row)
{
    const char *ready = "Unknown";
    kc_items (kc__row_at(row, "status.conditions"), item)
        if (kc_str_is(kc_as_str(kc_get(item, "type")), "Ready"))
            ready = kc_str_is(kc_as_str(kc_get(item, "status")), "True") ? "Ready" : "NotReady";
    bool closed = kc_as_bool(kc__row_at(row, "spec.unschedulable"), false);
    kc_buf_printf(out, "\"%s%s\"", ready, closed ? ",SchedulingDisabled" : "");
}

/* Roles are labels: node-role.kubernetes.io/NAME, or kubernetes.io/role=NAME. */
static void cell_roles(kc_buf *out, kc__row *row)
{
    static const kc_str prefix = KC_STR_INIT("node-role.kubernetes.io/");
    kc_scoped(kc_buf) text = {0};
    KC_VEC(kc_str) roles = {0};
    kc_members (kc__row_at(row, "metadata.labels"), key, value) {
        if (kc_str_starts(key, prefix) && key.n > prefix.n)
            kc_vec_push(&roles, kc_str_sub(key, prefix.n, key.n));
        else if (kc_str_is(key, "kubernetes.io/role") && kc_as_str(value).n)
            kc_vec_push(&roles, kc_as_str(value));
    }
    if (roles.n)
        qsort(roles.items, roles.n, sizeof(roles.items[0]), kc_str_compare);
    for (size_t i = 0; i < roles.n; i++)
        if (!i || !kc_str_eq(roles.items[i], roles.items[i - 1]))
            kc_buf_printf(&text, "%s%.*s", i ? "," : "", KC_ARG(roles.items[i]));
    kc_vec_done(&roles);
    kc__cell_put_text(out, text.n ? kc_buf_str(&text) : KC_STR("<none>"));
}

static void put_address(kc_buf *out, kc__row *row, const char *type)
{
    kc_items (kc__row_at(row, "status.addresses"), item) {
        if (!kc_str_is(kc_as_str(kc_get(item, "type")), type))
            continue;
        kc__cell_put_text(out, kc_as_str(kc_get(item, "address")));
        return;
    }
    kc__cell_put_text(out, KC_STR("<none>"));
}

static void cell_internal(kc_buf *out, kc__row *row)
{
    put_address(out, row, "InternalIP");
}

static void cell_external(kc_buf *out, kc__row *row)
{
    put_address(out, row, "ExternalIP");
}

static const kc__column node[] = {
    KC__NAME_COLUMN,
    KC__TEXT_COLUMN("Status", cell_status, "Whether it takes pods."),
    KC__TEXT_COLUMN("Roles", cell_roles, "What it is for."),
    KC__AGE_COLUMN,
    KC__PATH_COLUMN("Version", "status.nodeInfo.kubeletVersion", "", "The version of its agent."),
    KC__WIDE_COLUMN("Internal-IP", cell_internal, "Its address inside the cluster."),
    KC__WIDE_COLUMN("External-IP", cell_external, "Its address outside the cluster."),
    KC__WIDE_PATH_COLUMN("OS-Image", "status.nodeInfo.osImage", "<unknown>", "Its system."),
    KC__WIDE_PATH_COLUMN("Kernel-Version", "status.nodeInfo.kernelVersion", "<unknown>",
                         "The version of its kernel."),
    KC__WIDE_PATH_COLUMN("Container-Runtime", "status.nodeInfo.containerRuntimeVersion",
                         "<unknown>", "What runs its containers."),
};
const kc__columns kc__node_columns = KC__COLUMNS(node);
