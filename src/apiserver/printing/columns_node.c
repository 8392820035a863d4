/* SPDX-License-Identifier: Apache-2.0 */
/*
 * columns_node.c: columns of Nodes.
 */
#include "apiserver/printing/columns_internal.h"
#include "kc/vec.h"

static void node_cell_status(kc_buf *out, kc__print_row *row)
{
    const char *ready = "Unknown";
    kc_value_each_item (kc__print_row_at(row, "status.conditions"), item)
        if (kc_str_is(kc_value_as_str(kc_value_get(item, "type")), "Ready"))
            ready = kc_str_is(kc_value_as_str(kc_value_get(item, "status")), "True") ? "Ready"
                                                                                     : "NotReady";
    bool closed = kc_value_as_bool(kc__print_row_at(row, "spec.unschedulable"), false);
    kc_buf_printf(out, "\"%s%s\"", ready, closed ? ",SchedulingDisabled" : "");
}

/* Roles are labels: node-role.kubernetes.io/NAME, or kubernetes.io/role=NAME. */
static void cell_roles(kc_buf *out, kc__print_row *row)
{
    static const kc_str prefix = KC_STR_INIT("node-role.kubernetes.io/");
    kc_scoped(kc_buf) text = {0};
    KC_VEC(kc_str) roles = {0};
    kc_value_each_member (kc__print_row_at(row, "metadata.labels"), key, value) {
        if (kc_str_starts(key, prefix) && key.n > prefix.n)
            kc_vec_push(&roles, kc_str_sub(key, prefix.n, key.n));
        else if (kc_str_is(key, "kubernetes.io/role") && kc_value_as_str(value).n)
            kc_vec_push(&roles, kc_value_as_str(value));
    }
    if (roles.n)
        qsort(roles.items, roles.n, sizeof(roles.items[0]), kc_str_compare);
    for (size_t i = 0; i < roles.n; i++)
        if (!i || !kc_str_eq(roles.items[i], roles.items[i - 1]))
            kc_buf_printf(&text, "%s%.*s", i ? "," : "", KC_ARG(roles.items[i]));
    kc_vec_done(&roles);
    kc__print_cell_put_text(out, text.n ? kc_buf_str(&text) : KC_STR("<none>"));
}

static void put_address(kc_buf *out, kc__print_row *row, const char *type)
{
    kc_value_each_item (kc__print_row_at(row, "status.addresses"), item) {
        if (!kc_str_is(kc_value_as_str(kc_value_get(item, "type")), type))
            continue;
        kc__print_cell_put_text(out, kc_value_as_str(kc_value_get(item, "address")));
        return;
    }
    kc__print_cell_put_text(out, KC_STR("<none>"));
}

static void cell_internal(kc_buf *out, kc__print_row *row)
{
    put_address(out, row, "InternalIP");
}

static void cell_external(kc_buf *out, kc__print_row *row)
{
    put_address(out, row, "ExternalIP");
}

static const kc__print_column node[] = {
    KC__PRINT_NAME_COLUMN,
    KC__PRINT_TEXT_COLUMN("Status", node_cell_status, "The status of the node"),
    KC__PRINT_TEXT_COLUMN("Roles", cell_roles, "The roles of the node"),
    KC__PRINT_AGE_COLUMN,
    KC__PRINT_PATH_COLUMN("Version", "status.nodeInfo.kubeletVersion", "",
                          "Kubelet version of the node."),
    KC__PRINT_WIDE_COLUMN("Internal-IP", cell_internal, "Internal IP address of the node."),
    KC__PRINT_WIDE_COLUMN("External-IP", cell_external, "External IP address of the node."),
    KC__PRINT_WIDE_PATH_COLUMN("OS-Image", "status.nodeInfo.osImage", "<unknown>",
                               "Operating system image of the node."),
    KC__PRINT_WIDE_PATH_COLUMN("Kernel-Version", "status.nodeInfo.kernelVersion", "<unknown>",
                               "Kernel version of the node."),
    KC__PRINT_WIDE_PATH_COLUMN("Container-Runtime", "status.nodeInfo.containerRuntimeVersion",
                               "<unknown>", "Container runtime and version of the node."),
};
const kc__print_columns kc__print_node_columns = KC__PRINT_COLUMNS(node);
