/* SPDX-License-Identifier: Apache-2.0 */
/*
 * volume_defaults.c: defaults of volumes, in pods and as PersistentVolumes, and of claims.
 */
#include "apiserver/kinds/defaults.h"
#include "apiserver/kinds/image.h"

static const kc__default field_ref[] = {{.field = "apiVersion", .json = "\"v1\""}};
const kc__defaults kc__field_ref_defaults = KC__DEFAULTS(field_ref);

static const kc__default downward_item[] = {{.field = "fieldRef", .of = &kc__field_ref_defaults}};
static const kc__defaults downward_items = KC__DEFAULTS(downward_item);

static const kc__default mode[] = {{.field = "defaultMode", .json = "420"}};
static const kc__defaults with_mode = KC__DEFAULTS(mode);

static const kc__default downward[] = {
    {.field = "defaultMode", .json = "420"},
    {.field = "items", .of = &downward_items},
};
static const kc__defaults downward_volume = KC__DEFAULTS(downward);

static const kc__default projected_downward_[] = {{.field = "items", .of = &downward_items}};
static const kc__defaults projected_downward = KC__DEFAULTS(projected_downward_);
static const kc__default token[] = {{.field = "expirationSeconds", .json = "3600"}};
static const kc__defaults projected_token = KC__DEFAULTS(token);

static const kc__default source[] = {
    {.field = "downwardAPI", .of = &projected_downward},
    {.field = "serviceAccountToken", .of = &projected_token},
};
static const kc__defaults projected_sources = KC__DEFAULTS(source);

static const kc__default projected[] = {
    {.field = "defaultMode", .json = "420"},
    {.field = "sources", .of = &projected_sources},
};
static const kc__defaults projected_volume = KC__DEFAULTS(projected);

static const kc__default host_path[] = {{.field = "type", .json = "\"\""}};
static const kc__defaults host_path_volume = KC__DEFAULTS(host_path);

static const kc__default iscsi[] = {{.field = "iscsiInterface", .json = "\"default\""}};
static const kc__defaults iscsi_volume = KC__DEFAULTS(iscsi);

static const kc__default rbd[] = {
    {.field = "pool", .json = "\"rbd\""},
    {.field = "user", .json = "\"admin\""},
    {.field = "keyring", .json = "\"/etc/ceph/keyring\""},
};
static const kc__defaults rbd_volume = KC__DEFAULTS(rbd);

static const kc__default azure_disk[] = {
    {.field = "cachingMode", .json = "\"ReadWrite\""},
    {.field = "fsType", .json = "\"ext4\""},
    {.field = "readOnly", .json = "false"},
    {.field = "kind", .json = "\"Shared\""},
};
static const kc__defaults azure_disk_volume = KC__DEFAULTS(azure_disk);

static const kc__default scale_io[] = {
    {.field = "storageMode", .json = "\"ThinProvisioned\""},
    {.field = "fsType", .json = "\"xfs\""},
};
static const kc__defaults scale_io_volume = KC__DEFAULTS(scale_io);

/* ---- claims ---- */

static const kc__default claim_spec[] = {{.field = "volumeMode", .json = "\"Filesystem\""}};
const kc__defaults kc__claim_spec_defaults = KC__DEFAULTS(claim_spec);

static const kc__default pending[] = {{.field = "phase", .json = "\"Pending\""}};
static const kc__defaults pending_status = KC__DEFAULTS(pending);

static const kc__default claim[] = {
    {.field = "spec", .of = &kc__claim_spec_defaults},
    {.field = "status", .of = &pending_status},
};
const kc__defaults kc__claim_defaults = KC__DEFAULTS(claim);

static const kc__default ephemeral_template_[] = {
    {.field = "spec", .of = &kc__claim_spec_defaults}};
static const kc__defaults ephemeral_template = KC__DEFAULTS(ephemeral_template_);
static const kc__default ephemeral[] = {
    {.field = "volumeClaimTemplate", .of = &ephemeral_template}};
static const kc__defaults ephemeral_volume = KC__DEFAULTS(ephemeral);

/* ---- volumes ---- */

/* One that says nothing but its name is an empty folder. */
static void choose_source(kc_edit *edit, kc_node *volume)
{
    bool any = false;
    kc_node_members (volume, name, value)
        any = any || (!kc_str_is(name, "name") && kc_node_type(value) != KC_NULL);
    if (!any)
        kc__default_set(edit, volume, "emptyDir", "{}");
    kc_node *image = kc_node_get(volume, KC_STR("image"));
    if (image)
        kc__default_set(edit, image, "pullPolicy",
                        kc__image_is_latest(kc__node_text(image, "reference"))
                            ? "\"Always\""
                            : "\"IfNotPresent\"");
}

static const kc__default volume[] = {
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
const kc__defaults kc__volume_defaults = {
    .list = volume, .n = KC_COUNT(volume), .code = choose_source};

static const kc__default persistent_spec[] = {
    {.field = "persistentVolumeReclaimPolicy", .json = "\"Retain\""},
    {.field = "volumeMode", .json = "\"Filesystem\""},
    {.field = "hostPath", .of = &host_path_volume},
    {.field = "iscsi", .of = &iscsi_volume},
    {.field = "rbd", .of = &rbd_volume},
    {.field = "azureDisk", .of = &azure_disk_volume},
    {.field = "scaleIO", .of = &scale_io_volume},
};
const kc__defaults kc__persistent_volume_spec_defaults = KC__DEFAULTS(persistent_spec);
