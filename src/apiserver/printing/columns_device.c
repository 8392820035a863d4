/* SPDX-License-Identifier: Apache-2.0 */
/*
 * columns_device.c: columns of the newest kinds: device claims and slices, IPAddresses and
 * ServiceCIDRs, VolumeAttributesClasses, APIServices.
 */
#include "apiserver/printing/columns_internal.h"
#include "kc/meta.h"

/* ---- resource.k8s.io ---- */

static void cell_state(kc_buf *out, kc__print_row *row)
{
    bool going = !kc_str_empty(kc_object_deletion_timestamp(row->object));
    bool allocated = kc__print_row_at(row, "status.allocation") != NULL;
    bool reserved = allocated && kc_value_len(kc__print_row_at(row, "status.reservedFor")) > 0;
    kc_scoped(kc_buf) text = {0};
    kc_buf_puts(&text, going ? "deleted" : allocated ? "" : "pending");
    if (allocated)
        kc_buf_printf(&text, "%sallocated%s", going ? "," : "", reserved ? ",reserved" : "");
    kc__print_cell_put_text(out, kc_buf_str(&text));
}

static const kc__print_column resource_claim[] = {
    KC__PRINT_NAME_COLUMN,
    KC__PRINT_TEXT_COLUMN("State", cell_state,
                          "A summary of the current state (allocated, pending, reserved, etc.)."),
    KC__PRINT_AGE_COLUMN,
};
const kc__print_columns kc__print_resource_claim_columns = KC__PRINT_COLUMNS(resource_claim);

static const kc__print_column resource_slice[] = {
    KC__PRINT_NAME_COLUMN,
    KC__PRINT_PATH_COLUMN("Node", "spec.nodeName", "", "Node that has the devices."),
    KC__PRINT_PATH_COLUMN("Driver", "spec.driver", "", "Driver of the devices."),
    KC__PRINT_PATH_COLUMN("Pool", "spec.pool.name", "", "Pool of the devices."),
    KC__PRINT_AGE_COLUMN,
};
const kc__print_columns kc__print_resource_slice_columns = KC__PRINT_COLUMNS(resource_slice);

/* ---- networking.k8s.io ---- */

static void cell_parent(kc_buf *out, kc__print_row *row)
{
    const kc_value *parent = kc__print_row_at(row, "spec.parentRef");
    const char *group = kc_value_as_cstr(kc_value_get(parent, "group"), "");
    const char *ns = kc_value_as_cstr(kc_value_get(parent, "namespace"), "");
    kc_scoped(kc_buf) text = {0};
    kc_buf_printf(&text, "%s%s%s%s%s/%s", kc_value_as_cstr(kc_value_get(parent, "resource"), ""),
                  *group ? "." : "", group, *ns ? "/" : "", ns,
                  kc_value_as_cstr(kc_value_get(parent, "name"), ""));
    kc__print_cell_put_text(out, parent ? kc_buf_str(&text) : KC_STR("<none>"));
}

static const kc__print_column ip_address[] = {
    KC__PRINT_NAME_COLUMN,
    KC__PRINT_TEXT_COLUMN("ParentRef", cell_parent, "Object that owns the address."),
};
const kc__print_columns kc__print_ip_address_columns = KC__PRINT_COLUMNS(ip_address);

static void cell_cidrs(kc_buf *out, kc__print_row *row)
{
    kc_scoped(kc_buf) text = {0};
    kc_value_each_item (kc__print_row_at(row, "spec.cidrs"), cidr)
        kc_buf_printf(&text, "%s%.*s", text.n ? "," : "", KC_ARG(kc_value_as_str(cidr)));
    kc__print_cell_put_text(out, kc_buf_str(&text));
}

static const kc__print_column service_cidr[] = {
    KC__PRINT_NAME_COLUMN,
    KC__PRINT_TEXT_COLUMN("CIDRs", cell_cidrs, "Networks of the cluster addresses."),
    KC__PRINT_AGE_COLUMN,
};
const kc__print_columns kc__print_service_cidr_columns = KC__PRINT_COLUMNS(service_cidr);

/* ---- storage.k8s.io ---- */

static const kc__print_column attributes_class[] = {
    KC__PRINT_NAME_COLUMN,
    KC__PRINT_PATH_COLUMN("DriverName", "driverName", "", "CSI driver of the class."),
    KC__PRINT_AGE_COLUMN,
};
const kc__print_columns kc__print_attributes_class_columns = KC__PRINT_COLUMNS(attributes_class);

/* ---- apiregistration.k8s.io ---- */

static void cell_service(kc_buf *out, kc__print_row *row)
{
    const kc_value *service = kc__print_row_at(row, "spec.service");
    kc_scoped(kc_buf) text = {0};
    kc_buf_printf(&text, "%s/%s", kc_value_as_cstr(kc_value_get(service, "namespace"), ""),
                  kc_value_as_cstr(kc_value_get(service, "name"), ""));
    kc__print_cell_put_text(out, service ? kc_buf_str(&text) : KC_STR("Local"));
}

/* "True", or "False (Reason)". */
static void cell_available(kc_buf *out, kc__print_row *row)
{
    kc_scoped(kc_buf) text = {0};
    kc_buf_puts(&text, "Unknown");
    kc_value_each_item (kc__print_row_at(row, "status.conditions"), condition) {
        if (!kc_str_is(kc_value_as_str(kc_value_get(condition, "type")), "Available"))
            continue;
        const char *status = kc_value_as_cstr(kc_value_get(condition, "status"), "");
        kc_buf_clear(&text);
        kc_buf_puts(&text, status);
        const char *reason = kc_value_as_cstr(kc_value_get(condition, "reason"), "");
        if (strcmp(status, "True") != 0 && *reason)
            kc_buf_printf(&text, " (%s)", reason);
    }
    kc__print_cell_put_text(out, kc_buf_str(&text));
}

static const kc__print_column api_service[] = {
    KC__PRINT_NAME_COLUMN,
    KC__PRINT_TEXT_COLUMN("Service", cell_service,
                          "The reference to the service that hosts this API endpoint."),
    KC__PRINT_TEXT_COLUMN("Available", cell_available, "Whether this service is available."),
    KC__PRINT_AGE_COLUMN,
};
const kc__print_columns kc__print_api_service_columns = KC__PRINT_COLUMNS(api_service);
