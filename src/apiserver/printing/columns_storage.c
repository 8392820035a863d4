/* SPDX-License-Identifier: Apache-2.0 */
/*
 * columns_storage.c: columns of PersistentVolumes, PersistentVolumeClaims and StorageClasses.
 */
#include "apiserver/printing/columns_internal.h"
#include "kc/meta.h"

/* "RWO,ROX", in the order of this table. */
static void put_modes(kc_buf *out, const kc_value *modes)
{
    static const char *const known[][2] = {{"ReadWriteOnce", "RWO"},
                                           {"ReadOnlyMany", "ROX"},
                                           {"ReadWriteMany", "RWX"},
                                           {"ReadWriteOncePod", "RWOP"}};
    kc_scoped(kc_buf) text = {0};
    for (size_t i = 0; i < KC_COUNT(known); i++) {
        bool has = false;
        kc_value_each_item (modes, item)
            has = has || kc_str_is(kc_value_as_str(item), known[i][0]);
        if (has)
            kc_buf_printf(&text, "%s%s", text.n ? "," : "", known[i][1]);
    }
    kc__print_cell_put_text(out, kc_buf_str(&text));
}

/* The deprecated annotation takes precedence over the field. */
static void put_class(kc_buf *out, kc__print_row *row)
{
    const kc_value *annotations = kc__print_row_at(row, "metadata.annotations");
    const kc_value *old = kc_value_get(annotations, "volume.beta.kubernetes.io/storage-class");
    kc__print_cell_put_text(
        out, kc_value_as_str(old ? old : kc__print_row_at(row, "spec.storageClassName")));
}

static void cell_class(kc_buf *out, kc__print_row *row)
{
    put_class(out, row);
}

static void cell_phase(kc_buf *out, kc__print_row *row)
{
    bool going = !kc_str_empty(kc_object_deletion_timestamp(row->object));
    kc__print_cell_put_text(out, going ? KC_STR("Terminating")
                                       : kc_value_as_str(kc__print_row_at(row, "status.phase")));
}

/* ---- PersistentVolume ---- */

static void cell_capacity(kc_buf *out, kc__print_row *row)
{
    kc__print_cell_put_text(
        out, kc_cstr(kc_value_as_cstr(kc__print_row_at(row, "spec.capacity.storage"), "0")));
}

static void cell_modes(kc_buf *out, kc__print_row *row)
{
    put_modes(out, kc__print_row_at(row, "spec.accessModes"));
}

static void cell_claim(kc_buf *out, kc__print_row *row)
{
    const kc_value *ref = kc__print_row_at(row, "spec.claimRef");
    kc_scoped(kc_buf) text = {0};
    if (ref)
        kc_buf_printf(&text, "%s/%s", kc_value_as_cstr(kc_value_get(ref, "namespace"), ""),
                      kc_value_as_cstr(kc_value_get(ref, "name"), ""));
    kc__print_cell_put_text(out, kc_buf_str(&text));
}

#define ATTRIBUTES                                                                              \
    KC__PRINT_PATH_COLUMN("VolumeAttributesClass", "spec.volumeAttributesClassName", "<unset>", \
                          "VolumeAttributesClass of the volume or claim.")
#define MODE                                                               \
    KC__PRINT_WIDE_PATH_COLUMN("VolumeMode", "spec.volumeMode", "<unset>", \
                               "Volume mode: Filesystem or Block.")

static const kc__print_column volume[] = {
    KC__PRINT_NAME_COLUMN,
    KC__PRINT_TEXT_COLUMN("Capacity", cell_capacity, "Capacity of the volume."),
    KC__PRINT_TEXT_COLUMN("Access Modes", cell_modes, "Access modes of the volume."),
    KC__PRINT_PATH_COLUMN("Reclaim Policy", "spec.persistentVolumeReclaimPolicy", "",
                          "Reclaim policy of the volume."),
    KC__PRINT_TEXT_COLUMN("Status", cell_phase, "Phase of the volume."),
    KC__PRINT_TEXT_COLUMN("Claim", cell_claim, "Claim to which the volume is bound."),
    KC__PRINT_TEXT_COLUMN("StorageClass", cell_class, "StorageClass of the volume or claim."),
    ATTRIBUTES,
    KC__PRINT_PATH_COLUMN("Reason", "status.reason", "", "Reason of the phase Failed."),
    KC__PRINT_AGE_COLUMN,
    MODE,
};
const kc__print_columns kc__print_volume_columns = KC__PRINT_COLUMNS(volume);

/* ---- PersistentVolumeClaim: the actual values, once it is bound ---- */

static bool has_volume(kc__print_row *row)
{
    return kc_value_as_str(kc__print_row_at(row, "spec.volumeName")).n > 0;
}

static void cell_claimed(kc_buf *out, kc__print_row *row)
{
    const char *size = kc_value_as_cstr(kc__print_row_at(row, "status.capacity.storage"), "0");
    kc__print_cell_put_text(out, kc_cstr(has_volume(row) ? size : ""));
}

static void cell_claimed_modes(kc_buf *out, kc__print_row *row)
{
    put_modes(out, has_volume(row) ? kc__print_row_at(row, "status.accessModes") : NULL);
}

static const kc__print_column claim[] = {
    KC__PRINT_NAME_COLUMN,
    KC__PRINT_TEXT_COLUMN("Status", cell_phase, "Phase of the claim."),
    KC__PRINT_PATH_COLUMN("Volume", "spec.volumeName", "", "Volume to which the claim is bound."),
    KC__PRINT_TEXT_COLUMN("Capacity", cell_claimed, "Capacity of the bound volume."),
    KC__PRINT_TEXT_COLUMN("Access Modes", cell_claimed_modes, "Access modes of the volume."),
    KC__PRINT_TEXT_COLUMN("StorageClass", cell_class, "StorageClass of the volume or claim."),
    ATTRIBUTES,
    KC__PRINT_AGE_COLUMN,
    MODE,
};
const kc__print_columns kc__print_claim_columns = KC__PRINT_COLUMNS(claim);

/* ---- StorageClass ---- */

static void cell_class_name(kc_buf *out, kc__print_row *row)
{
    static const char *const marks[] = {"storageclass.kubernetes.io/is-default-class",
                                        "storageclass.beta.kubernetes.io/is-default-class"};
    kc_scoped(kc_buf) text = {0};
    bool chosen = false;
    for (size_t i = 0; i < KC_COUNT(marks); i++)
        chosen = chosen || kc_object_annotation_is(row->object, kc_cstr(marks[i]), KC_STR("true"));
    kc_buf_printf(&text, "%.*s%s", KC_ARG(kc_object_name(row->object)), chosen ? " (default)" : "");
    kc__print_cell_put_text(out, kc_buf_str(&text));
}

static void cell_expands(kc_buf *out, kc__print_row *row)
{
    bool expands = kc_value_as_bool(kc__print_row_at(row, "allowVolumeExpansion"), false);
    kc_buf_puts(out, expands ? "true" : "false");
}

static const kc__print_column storage_class[] = {
    {.name = "Name",
     .type = "string",
     .format = "name",
     .description = KC__PRINT_NAME_TEXT,
     .cell = cell_class_name},
    KC__PRINT_PATH_COLUMN("Provisioner", "provisioner", "", "Provisioner of the volumes."),
    KC__PRINT_PATH_COLUMN("ReclaimPolicy", "reclaimPolicy", "Delete",
                          "Reclaim policy of the volumes."),
    KC__PRINT_PATH_COLUMN("VolumeBindingMode", "volumeBindingMode", "Immediate",
                          "When volumes are provisioned and bound."),
    KC__PRINT_TEXT_COLUMN("AllowVolumeExpansion", cell_expands, "Whether volumes can be expanded."),
    KC__PRINT_AGE_COLUMN,
};
const kc__print_columns kc__print_storage_class_columns = KC__PRINT_COLUMNS(storage_class);
