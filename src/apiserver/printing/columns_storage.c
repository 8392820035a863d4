/* SPDX-License-Identifier: Apache-2.0 */
/*
 * columns_storage.c: columns of PersistentVolumes, PersistentVolumeClaims and StorageClasses.
 */
#include "apiserver/printing/columns_internal.h"
#include "kc/meta.h"

/* "RWO,ROX" in the order of this table. */
static void put_modes(kc_buf *out, const kc_value *modes)
{
    static const char *const known[][2] = {{"ReadWriteOnce", "RWO"},
                                           {"ReadOnlyMany", "ROX"},
                                           {"ReadWriteMany", "RWX"},
                                           {"ReadWriteOncePod", "RWOP"}};
    kc_scoped(kc_buf) text = {0};
    for (size_t i = 0; i < KC_COUNT(known); i++) {
        bool has = false;
        kc_items (modes, item)
            has = has || kc_str_is(kc_as_str(item), known[i][0]);
        if (has)
            kc_buf_printf(&text, "%s%s", text.n ? "," : "", known[i][1]);
    }
    kc__cell_put_text(out, kc_buf_str(&text));
}

/* An older annotation counts before the field. */
static void put_class(kc_buf *out, kc__row *row)
{
    const kc_value *annotations = kc__row_at(row, "metadata.annotations");
    const kc_value *old = kc_get(annotations, "volume.beta.kubernetes.io/storage-class");
    kc__cell_put_text(out, kc_as_str(old ? old : kc__row_at(row, "spec.storageClassName")));
}

static void cell_class(kc_buf *out, kc__row *row)
{
    put_class(out, row);
}

static void cell_phase(kc_buf *out, kc__row *row)
{
    bool going = !kc_str_empty(kc_object_deletion_timestamp(row->object));
    kc__cell_put_text(out,
                      going ? KC_STR("Terminating") : kc_as_str(kc__row_at(row, "status.phase")));
}

/* ---- PersistentVolume ---- */

static void cell_capacity(kc_buf *out, kc__row *row)
{
    kc__cell_put_text(out, kc_cstr(kc_as_cstr(kc__row_at(row, "spec.capacity.storage"), "0")));
}

static void cell_modes(kc_buf *out, kc__row *row)
{
    put_modes(out, kc__row_at(row, "spec.accessModes"));
}

static void cell_claim(kc_buf *out, kc__row *row)
{
    const kc_value *ref = kc__row_at(row, "spec.claimRef");
    kc_scoped(kc_buf) text = {0};
    if (ref)
        kc_buf_printf(&text, "%s/%s", kc_as_cstr(kc_get(ref, "namespace"), ""),
                      kc_as_cstr(kc_get(ref, "name"), ""));
    kc__cell_put_text(out, kc_buf_str(&text));
}

#define ATTRIBUTES                                                                        \
    KC__PATH_COLUMN("VolumeAttributesClass", "spec.volumeAttributesClassName", "<unset>", \
                    "Its class of attributes.")
#define MODE \
    KC__WIDE_PATH_COLUMN("VolumeMode", "spec.volumeMode", "<unset>", "Files, or a block device.")

static const kc__column volume[] = {
    KC__NAME_COLUMN,
    KC__TEXT_COLUMN("Capacity", cell_capacity, "How much it holds."),
    KC__TEXT_COLUMN("Access Modes", cell_modes, "How it can be mounted."),
    KC__PATH_COLUMN("Reclaim Policy", "spec.persistentVolumeReclaimPolicy", "",
                    "What becomes of it after its claim."),
    KC__TEXT_COLUMN("Status", cell_phase, "Whether it is taken."),
    KC__TEXT_COLUMN("Claim", cell_claim, "By which claim."),
    KC__TEXT_COLUMN("StorageClass", cell_class, "Its class."),
    ATTRIBUTES,
    KC__PATH_COLUMN("Reason", "status.reason", "", "Why it failed."),
    KC__AGE_COLUMN,
    MODE,
};
const kc__columns kc__volume_columns = KC__COLUMNS(volume);

/* ---- PersistentVolumeClaim: what it got, once it has a volume ---- */

static bool has_volume(kc__row *row)
{
    return kc_as_str(kc__row_at(row, "spec.volumeName")).n > 0;
}

static void cell_claimed(kc_buf *out, kc__row *row)
{
    const char *size = kc_as_cstr(kc__row_at(row, "status.capacity.storage"), "0");
    kc__cell_put_text(out, kc_cstr(has_volume(row) ? size : ""));
}

static void cell_claimed_modes(kc_buf *out, kc__row *row)
{
    put_modes(out, has_volume(row) ? kc__row_at(row, "status.accessModes") : NULL);
}

static const kc__column claim[] = {
    KC__NAME_COLUMN,
    KC__TEXT_COLUMN("Status", cell_phase, "Whether it has a volume."),
    KC__PATH_COLUMN("Volume", "spec.volumeName", "", "Which one."),
    KC__TEXT_COLUMN("Capacity", cell_claimed, "How much that holds."),
    KC__TEXT_COLUMN("Access Modes", cell_claimed_modes, "How it can be mounted."),
    KC__TEXT_COLUMN("StorageClass", cell_class, "Its class."),
    ATTRIBUTES,
    KC__AGE_COLUMN,
    MODE,
};
const kc__columns kc__claim_columns = KC__COLUMNS(claim);

/* ---- StorageClass ---- */

static void cell_class_name(kc_buf *out, kc__row *row)
{
    static const char *const marks[] = {"storageclass.kubernetes.io/is-default-class",
                                        "storageclass.beta.kubernetes.io/is-default-class"};
    kc_scoped(kc_buf) text = {0};
    bool chosen = false;
    for (size_t i = 0; i < KC_COUNT(marks); i++)
        chosen = chosen || kc_object_annotation_is(row->object, kc_cstr(marks[i]), KC_STR("true"));
    kc_buf_printf(&text, "%.*s%s", KC_ARG(kc_object_name(row->object)), chosen ? " (default)" : "");
    kc__cell_put_text(out, kc_buf_str(&text));
}

static void cell_expands(kc_buf *out, kc__row *row)
{
    bool expands = kc_as_bool(kc__row_at(row, "allowVolumeExpansion"), false);
    kc_buf_puts(out, expands ? "true" : "false");
}

static const kc__column storage_class[] = {
    {.name = "Name",
     .type = "string",
     .format = "name",
     .description = KC__NAME_TEXT,
     .cell = cell_class_name},
    KC__PATH_COLUMN("Provisioner", "provisioner", "", "Who makes volumes."),
    KC__PATH_COLUMN("ReclaimPolicy", "reclaimPolicy", "Delete",
                    "What becomes of them after their claims."),
    KC__PATH_COLUMN("VolumeBindingMode", "volumeBindingMode", "Immediate", "When they are made."),
    KC__TEXT_COLUMN("AllowVolumeExpansion", cell_expands, "Whether they can grow."),
    KC__AGE_COLUMN,
};
const kc__columns kc__storage_class_columns = KC__COLUMNS(storage_class);
