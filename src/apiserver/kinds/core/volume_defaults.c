/* SPDX-License-Identifier: Apache-2.0 */
/*
 * volume_defaults.c: defaults of volumes in pods, of PersistentVolumes, and of claims.
 */
#include "apiserver/kinds/core/image.h"
#include "apiserver/kinds/defaults.h"

static const kc__defaults_entry field_ref[] = {{.field = "apiVersion", .json = "\"v1\""}};
const kc__defaults kc__defaults_field_ref = KC__DEFAULTS(field_ref);

static const kc__defaults_entry downward_item[] = {
    {.field = "fieldRef", .of = &kc__defaults_field_ref}};
static const kc__defaults downward_items = KC__DEFAULTS(downward_item);

static const kc__defaults_entry mode[] = {{.field = "defaultMode", .json = "420"}};
static const kc__defaults with_mode = KC__DEFAULTS(mode);

static const kc__defaults_entry downward[] = {
    {.field = "defaultMode", .json = "420"},
    {.field = "items", .of = &downward_items},
};
static const kc__defaults downward_volume = KC__DEFAULTS(downward);

static const kc__defaults_entry projected_downward_[] = {{.field = "items", .of = &downward_items}};
static const kc__defaults projected_downward = KC__DEFAULTS(projected_downward_);
static const kc__defaults_entry token[] = {{.field = "expirationSeconds", .json = "3600"}};
static const kc__defaults projected_token = KC__DEFAULTS(token);

static const kc__defaults_entry source[] = {
    {.field = "downwardAPI", .of = &projected_downward},
    {.field = "serviceAccountToken", .of = &projected_token},
};
static const kc__defaults projected_sources = KC__DEFAULTS(source);

static const kc__defaults_entry projected[] = {
    {.field = "defaultMode", .json = "420"},
    {.field = "sources", .of = &projected_sources},
};
static const kc__defaults projected_volume = KC__DEFAULTS(projected);

static const kc__defaults_entry host_path[] = {{.field = "type", .json = "\"\""}};
static const kc__defaults host_path_volume = KC__DEFAULTS(host_path);

static const kc__defaults_entry iscsi[] = {{.field = "iscsiInterface", .json = "\"default\""}};
static const kc__defaults iscsi_volume = KC__DEFAULTS(iscsi);

static const kc__defaults_entry rbd[] = {
    {.field = "pool", .json = "\"rbd\""},
    {.field = "user", .json = "\"admin\""},
    {.field = "keyring", .json = "\"/etc/ceph/keyring\""},
};
static const kc__defaults rbd_volume = KC__DEFAULTS(rbd);

static const kc__defaults_entry azure_disk[] = {
    {.field = "cachingMode", .json = "\"ReadWrite\""},
    {.field = "fsType", .json = "\"ext4\""},
    {.field = "readOnly", .json = "false"},
    {.field = "kind", .json = "\"Shared\""},
};
static const kc__defaults azure_disk_volume = KC__DEFAULTS(azure_disk);

static const kc__defaults_entry scale_io[] = {
    {.field = "storageMode", .json = "\"ThinProvisioned\""},
    {.field = "fsType", .json = "\"xfs\""},
};
static const kc__defaults scale_io_volume = KC__DEFAULTS(scale_io);

/* ---- claims ---- */

static const kc__defaults_entry claim_spec[] = {{.field = "volumeMode", .json = "\"Filesystem\""}};
const kc__defaults kc__defaults_claim_spec = KC__DEFAULTS(claim_spec);

static const kc__defaults_entry pending[] = {{.field = "phase", .json = "\"Pending\""}};
static const kc__defaults pending_status = KC__DEFAULTS(pending);

static const kc__defaults_entry claim[] = {
    {.field = "spec", .of = &kc__defaults_claim_spec},
    {.field = "status", .of = &pending_status},
};
const kc__defaults kc__defaults_claim = KC__DEFAULTS(claim);

static const kc__defaults_entry ephemeral_template_[] = {
    {.field = "spec", .of = &kc__defaults_claim_spec}};
static const kc__defaults ephemeral_template = KC__DEFAULTS(ephemeral_template_);
static const kc__defaults_entry ephemeral[] = {
    {.field = "volumeClaimTemplate", .of = &ephemeral_template}};
static const kc__defaults ephemeral_volume = KC__DEFAULTS(ephemeral);

/* ---- volumes ---- */

/* A volume without a source is an emptyDir. */
static void choose_source(kc_edit *edit, kc_node *volume)
{
    bool any = false;
    kc_node_each_member (volume, name, value)
        any = any || (!kc_str_is(name, "name") && kc_node_type(value) != KC_JSON_NULL);
    if (!any)
        kc__defaults_set(edit, volume, "emptyDir", "{}");
    kc_node *image = kc_node_get(volume, KC_STR("image"));
    if (image)
        kc__defaults_set(edit, image, "pullPolicy",
                         kc__image_is_latest(kc__defaults_node_text(image, "reference"))
                             ? "\"Always\""
                             : "\"IfNotPresent\"");
}

static const kc__defaults_entry volume[] = {
    {.field = "secret", .of = &with_mode},
    {.field = "configMap", .of = &with_mode},
    {.field = "downwardAPI", .of = &downward_volume},
    {.field = "projected", .of = &projected_volume},
    {.field = "hostPath", .of = &host_path_volume},
    {.field = "iscsi", .of = &iscsi_volume},
    {.field = "rbd", .of = &rbd_volume},
    {.field = "azureDisk", .of = &azure_disk_volume},
    {.field = "scaleIO", .of = &scale_io_volume},
    {.field = "ephemeral", .of = &ephemeral_volume},
};
const kc__defaults kc__defaults_volume = {
    .list = volume, .n = KC_COUNT(volume), .code = choose_source};

static const kc__defaults_entry persistent_spec[] = {
    {.field = "persistentVolumeReclaimPolicy", .json = "\"Retain\""},
    {.field = "volumeMode", .json = "\"Filesystem\""},
    {.field = "hostPath", .of = &host_path_volume},
    {.field = "iscsi", .of = &iscsi_volume},
    {.field = "rbd", .of = &rbd_volume},
    {.field = "azureDisk", .of = &azure_disk_volume},
    {.field = "scaleIO", .of = &scale_io_volume},
};
const kc__defaults kc__defaults_persistent_volume_spec = KC__DEFAULTS(persistent_spec);
