/* SPDX-License-Identifier: Apache-2.0 */
/*
 * columns_slice.c: columns of EndpointSlices, RuntimeClasses and CSINodes.
 */
#include "apiserver/printing/columns_internal.h"

/* How many are written out; of the others their number. */
#define SHOWN 3

/* A list under way: "a,b,c + 2 more...". */
typedef struct listing {
    kc_buf text;
    size_t n;
} listing;

static void add(listing *list, kc_str text)
{
    if (list->n++ >= SHOWN)
        return;
    kc_buf_puts(&list->text, list->n > 1 ? "," : "");
    kc_buf_append(&list->text, text);
}

static void put(kc_buf *out, listing *list)
{
    if (list->n > SHOWN)
        kc_buf_printf(&list->text, " + %zu more...", list->n - SHOWN);
    kc__cell_put_text(out, list->n ? kc_buf_str(&list->text) : KC_STR("<unset>"));
    kc_buf_done(&list->text);
}

static void cell_ports(kc_buf *out, kc__row *row)
{
    listing list = {0};
    kc_items (kc__row_at(row, "ports"), port) {
        int64_t number;
        kc_scoped(kc_buf) text = {0};
        kc_str name = kc_as_str(kc_get(port, "name"));
        if (kc_as_i64(kc_get(port, "port"), &number))
            kc_buf_printf(&text, "%lld", (long long)number);
        else
            kc_buf_append(&text, name.p ? name : KC_STR("*"));
        add(&list, kc_buf_str(&text));
    }
    put(out, &list);
}

static void cell_endpoints(kc_buf *out, kc__row *row)
{
    listing list = {0};
    kc_items (kc__row_at(row, "endpoints"), endpoint)
        kc_items (kc_get(endpoint, "addresses"), address)
            add(&list, kc_as_str(address));
    put(out, &list);
}

static const kc__column endpoint_slice[] = {
    KC__NAME_COLUMN,
    KC__PATH_COLUMN("AddressType", "addressType", "", "What its addresses are."),
    KC__TEXT_COLUMN("Ports", cell_ports, "The ports that answer."),
    KC__TEXT_COLUMN("Endpoints", cell_endpoints, "The addresses that answer."),
    KC__AGE_COLUMN,
};
const kc__columns kc__endpoint_slice_columns = KC__COLUMNS(endpoint_slice);

static const kc__column runtime_class[] = {
    KC__NAME_COLUMN,
    KC__PATH_COLUMN("Handler", "handler", "", "What runs its containers."),
    KC__AGE_COLUMN,
};
const kc__columns kc__runtime_class_columns = KC__COLUMNS(runtime_class);

static const kc__column csi_node[] = {
    KC__NAME_COLUMN,
    KC__COUNT_COLUMN("Drivers", "integer", "spec.drivers", "How many drivers it has."),
    KC__AGE_COLUMN,
};
const kc__columns kc__csi_node_columns = KC__COLUMNS(csi_node);
