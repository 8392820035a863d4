/* SPDX-License-Identifier: Apache-2.0 */
/*
 * columns_slice.c: columns of EndpointSlices, RuntimeClasses and CSINodes.
 */
#include "apiserver/printing/columns_internal.h"

/* Maximum number of items shown; the others are counted. */
#define SHOWN 3

/* A list in progress: "a,b,c + 2 more...". */
typedef struct slice_listing {
    kc_buf text;
    size_t n;
} slice_listing;

static void append_slice_item(slice_listing *list, kc_str text)
{
    if (list->n++ >= SHOWN)
        return;
    kc_buf_puts(&list->text, list->n > 1 ? "," : "");
    kc_buf_append(&list->text, text);
}

static void put(kc_buf *out, slice_listing *list)
{
    if (list->n > SHOWN)
        kc_buf_printf(&list->text, " + %zu more...", list->n - SHOWN);
    kc__print_cell_put_text(out, list->n ? kc_buf_str(&list->text) : KC_STR("<unset>"));
    kc_buf_done(&list->text);
}

static void cell_ports(kc_buf *out, kc__print_row *row)
{
    slice_listing list = {0};
    kc_value_each_item (kc__print_row_at(row, "ports"), port) {
        int64_t number;
        kc_scoped(kc_buf) text = {0};
        kc_str name = kc_value_as_str(kc_value_get(port, "name"));
        if (kc_value_as_i64(kc_value_get(port, "port"), &number))
            kc_buf_printf(&text, "%lld", (long long)number);
        else
            kc_buf_append(&text, name.p ? name : KC_STR("*"));
        append_slice_item(&list, kc_buf_str(&text));
    }
    put(out, &list);
}

static void cell_endpoints(kc_buf *out, kc__print_row *row)
{
    slice_listing list = {0};
    kc_value_each_item (kc__print_row_at(row, "endpoints"), endpoint)
        kc_value_each_item (kc_value_get(endpoint, "addresses"), address)
            append_slice_item(&list, kc_value_as_str(address));
    put(out, &list);
}

static const kc__print_column endpoint_slice[] = {
    KC__PRINT_NAME_COLUMN,
    KC__PRINT_PATH_COLUMN("AddressType", "addressType", "", "Address type of the endpoints."),
    KC__PRINT_TEXT_COLUMN("Ports", cell_ports, "Ports of the endpoints."),
    KC__PRINT_TEXT_COLUMN("Endpoints", cell_endpoints, "Addresses of the endpoints."),
    KC__PRINT_AGE_COLUMN,
};
const kc__print_columns kc__print_endpoint_slice_columns = KC__PRINT_COLUMNS(endpoint_slice);

static const kc__print_column runtime_class[] = {
    KC__PRINT_NAME_COLUMN,
    KC__PRINT_PATH_COLUMN("Handler", "handler", "", "Container runtime handler of the class."),
    KC__PRINT_AGE_COLUMN,
};
const kc__print_columns kc__print_runtime_class_columns = KC__PRINT_COLUMNS(runtime_class);

static const kc__print_column csi_node[] = {
    KC__PRINT_NAME_COLUMN,
    KC__PRINT_COUNT_COLUMN("Drivers", "integer", "spec.drivers",
                           "Drivers indicates the number of CSI drivers registered on the node"),
    KC__PRINT_AGE_COLUMN,
};
const kc__print_columns kc__print_csi_node_columns = KC__PRINT_COLUMNS(csi_node);
