/* SPDX-License-Identifier: Apache-2.0 */
/*
 * volume_remote_rules.c: validates remote volume sources: cloud disks, network file systems and
 * network block devices. Pods and PersistentVolumes use them.
 *
 * To add a source: add its rules, and a row at the end.
 */
#include "apiserver/kinds/core/pod_rules.h"
#include "kc/ascii.h"

/* ---- iSCSI ---- */

static bool is_hex(kc_str text)
{
    for (size_t i = 0; i < text.n; i++)
        if (!kc_is_digit(text.p[i]) && !(text.p[i] >= 'A' && text.p[i] <= 'F'))
            return false;
    return true;
}

/* iqn.2001-04.com.example:storage */
static bool is_iqn(kc_str text)
{
    static const char digits[] = "0000-00";
    kc_str rest = text;
    kc_str_cut(&rest, '.');
    if (!kc_str_starts(text, KC_STR("iqn.")) || rest.n < sizeof(digits) + 1)
        return false;
    for (size_t i = 0; digits[i]; i++)
        if (digits[i] == '-' ? rest.p[i] != '-' : !kc_is_digit(rest.p[i]))
            return false;
    return rest.p[sizeof(digits) - 1] == '.';
}

static void check_initiator(const kc__location *name)
{
    kc_str text = kc__location_text(name), rest = text;
    bool iqn = kc_str_starts(text, KC_STR("iqn")), eui = kc_str_starts(text, KC_STR("eui"));
    bool naa = kc_str_starts(text, KC_STR("naa"));
    kc_str_cut(&rest, '.');
    if (!name->value)
        return;
    if (!iqn && !eui && !naa)
        kc__location_error(name, KC_FIELD_INVALID,
                           "must be valid format starting with iqn, eui, or naa");
    else if ((iqn && !is_iqn(text)) || (eui && (rest.n != 16 || !is_hex(rest))) ||
             (naa && (rest.n != 32 || !is_hex(rest))))
        kc__location_error(name, KC_FIELD_INVALID, "must be valid format");
}

static void check_chap(const kc__location *iscsi)
{
    kc__location secret = kc__location_member(iscsi, "secretRef");
    if ((kc__location_member_is_true(iscsi, "chapAuthDiscovery") ||
         kc__location_member_is_true(iscsi, "chapAuthSession")) &&
        !secret.value)
        kc__location_error(&secret, KC_FIELD_REQUIRED, NULL);
}

static void check_initiator_name(const kc__location *iscsi)
{
    kc__location name = kc__location_member(iscsi, "initiatorname");
    name.value = kc_value_get(iscsi->value, "initiatorName");
    check_initiator(&name);
}

static const kc__validate_rule iscsi_[] = {
    {"targetPortal", .required = ""},
    {"iqn", .required = "", .code = check_initiator},
    {"lun", .high = 255},
    {.code = check_chap},
    {.code = check_initiator_name},
};

/* ---- Fibre Channel, Azure File, Quobyte, Flocker ---- */

static void check_fibre(const kc__location *fc)
{
    kc__location names = kc__location_member(fc, "targetWWNs"),
                 lun = kc__location_member(fc, "lun");
    bool ids = kc_value_len(kc_value_get(fc->value, "wwids"));
    if (!kc__location_is_set(&names) && !ids)
        kc__location_error(&names, KC_FIELD_REQUIRED,
                           "must specify either targetWWNs or wwids, but not both");
    if (kc__location_is_set(&names) && ids)
        kc__location_error(&names, KC_FIELD_INVALID,
                           "targetWWNs and wwids can not be specified simultaneously");
    if (kc__location_is_set(&names) && !lun.value)
        kc__location_error(&lun, KC_FIELD_REQUIRED, "lun is required if targetWWNs is specified");
    else if (kc__location_is_set(&names))
        kc__validate_between(&lun, 0, 255);
}

static void check_disk_uri(const kc__location *disk)
{
    static const char *const managed[] = {"/subscriptions/{sub-id}/resourcegroups/{group-name}/"
                                          "providers/microsoft.compute/disks/{disk-id}",
                                          NULL};
    static const char *const blob[] = {
        "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd", NULL};
    kc__location uri = kc__location_member(disk, "diskURI"),
                 kind = kc__location_member(disk, "kind");
    bool is_managed = kc__location_text_is(&kind, "Managed");
    if (kind.value && is_managed &&
        !kc_str_starts(kc__location_text(&uri), KC_STR("/subscriptions/")))
        kc__location_not_supported(&uri, managed);
    else if (kind.value && !is_managed &&
             !kc_str_starts(kc__location_text(&uri), KC_STR("https://")))
        kc__location_not_supported(&uri, blob);
}

static void check_registry(const kc__location *quobyte)
{
    static const char pairs[] = "must be a host:port pair or multiple pairs separated by commas";
    kc__location registry = kc__location_member(quobyte, "registry"),
                 tenant = kc__location_member(quobyte, "tenant");
    kc_str rest = kc__location_text(&registry);
    if (!rest.n) {
        kc__location_error(&registry, KC_FIELD_REQUIRED, pairs);
        return;
    }
    if (kc__location_text(&tenant).n >= 65) {
        kc__location_error(&tenant, KC_FIELD_REQUIRED,
                           "must be a UUID and may not exceed a length of 64 characters");
        return;
    }
    while (rest.p)
        if (kc_str_find(kc_str_cut(&rest, ','), ':') < 0)
            kc__location_error(&registry, KC_FIELD_INVALID, pairs);
}

static void check_dataset(const kc__location *flocker)
{
    kc__location name = kc__location_member(flocker, "datasetName"),
                 id = kc__location_member(flocker, "datasetUUID");
    if (!kc__location_is_set(&name) && !kc__location_is_set(&id))
        kc__location_error(flocker, KC_FIELD_REQUIRED,
                           "one of datasetName and datasetUUID is required");
    if (kc__location_is_set(&name) && kc__location_is_set(&id))
        kc__location_error_text(flocker, KC_FIELD_INVALID, KC_STR("resource"),
                                "datasetName and datasetUUID can not be specified simultaneously");
    if (kc_str_find(kc__location_text(&name), '/') >= 0)
        kc__location_error(&name, KC_FIELD_INVALID, "must not contain '/'");
}

/* ---- other sources ---- */

static const char *const caching[] = {"None", "ReadOnly", "ReadWrite", NULL};
static const char *const disk_kinds[] = {"Dedicated", "Managed", "Shared", NULL};

/* 0 means no partition, although the error message gives the range 1 to 255. */
static void check_partition(const kc__location *partition)
{
    if (kc__location_number(partition) < 0 || kc__location_number(partition) > 255)
        kc__location_error(partition, KC_FIELD_INVALID, "must be between 1 and 255, inclusive");
}

static void check_directory(const kc__location *directory)
{
    if (kc__location_is_set(directory))
        kc__validate_path(directory, true);
}

static void check_absolute(const kc__location *path)
{
    kc_str text = kc__location_text(path);
    if (!text.n || text.p[0] != '/')
        kc__location_error(path, KC_FIELD_INVALID, "must be an absolute path");
}

static const kc__validate_rule git_repo_[] = {
    {"repository", .required = ""},
    {"directory", .code = check_directory},
};
static const kc__validate_rule gce_[] = {{"pdName", .required = ""},
                                         {"partition", .code = check_partition}};
static const kc__validate_rule aws_[] = {{"volumeID", .required = ""},
                                         {"partition", .code = check_partition}};
static const kc__validate_rule nfs_[] = {
    {"server", .required = ""},
    {"path", .required = ""},
    {"path", .code = check_absolute},
};
static const kc__validate_rule gluster_[] = {{"endpoints", .required = ""},
                                             {"path", .required = ""}};
static const kc__validate_rule flocker_[] = {{.code = check_dataset}};
static const kc__validate_rule rbd_[] = {{"monitors", .required = ""}, {"image", .required = ""}};
static const kc__validate_rule volume_id_[] = {{"volumeID", .required = ""}};
static const kc__validate_rule cephfs_[] = {{"monitors", .required = ""}};
static const kc__validate_rule quobyte_[] = {{.code = check_registry}, {"volume", .required = ""}};
static const kc__validate_rule fc_[] = {{.code = check_fibre}};
static const kc__validate_rule driver_[] = {{"driver", .required = ""}};
static const kc__validate_rule azure_file_[] = {{"secretName", .required = ""},
                                                {"shareName", .required = ""}};
static const kc__validate_rule vsphere_[] = {{"volumePath", .required = ""}};
static const kc__validate_rule photon_[] = {{"pdID", .required = ""}};
static const kc__validate_rule azure_disk_[] = {
    {"diskName", .required = ""},   {"diskURI", .required = ""}, {"cachingMode", .one_of = caching},
    {"kind", .one_of = disk_kinds}, {.code = check_disk_uri},
};
static const kc__validate_rule storage_os_[] = {{"volumeName", .required = ""}};
static const kc__validate_rule scale_io_[] = {
    {"gateway", .required = ""}, {"system", .required = ""}, {"volumeName", .required = ""}};

static const struct {
    const char *name;
    kc__validate_rule_table rules;
} sources[] = {
    {"gitRepo", KC__VALIDATE_RULES(git_repo_)},
    {"gcePersistentDisk", KC__VALIDATE_RULES(gce_)},
    {"awsElasticBlockStore", KC__VALIDATE_RULES(aws_)},
    {"nfs", KC__VALIDATE_RULES(nfs_)},
    {"iscsi", KC__VALIDATE_RULES(iscsi_)},
    {"glusterfs", KC__VALIDATE_RULES(gluster_)},
    {"flocker", KC__VALIDATE_RULES(flocker_)},
    {"rbd", KC__VALIDATE_RULES(rbd_)},
    {"cinder", KC__VALIDATE_RULES(volume_id_)},
    {"cephfs", KC__VALIDATE_RULES(cephfs_)},
    {"quobyte", KC__VALIDATE_RULES(quobyte_)},
    {"fc", KC__VALIDATE_RULES(fc_)},
    {"flexVolume", KC__VALIDATE_RULES(driver_)},
    {"azureFile", KC__VALIDATE_RULES(azure_file_)},
    {"vsphereVolume", KC__VALIDATE_RULES(vsphere_)},
    {"photonPersistentDisk", KC__VALIDATE_RULES(photon_)},
    {"portworxVolume", KC__VALIDATE_RULES(volume_id_)},
    {"azureDisk", KC__VALIDATE_RULES(azure_disk_)},
    {"storageos", KC__VALIDATE_RULES(storage_os_)},
    {"scaleIO", KC__VALIDATE_RULES(scale_io_)},
};

const kc__validate_rule_table *kc__validate_remote_volume_rules(const char *source)
{
    for (size_t i = 0; i < KC_COUNT(sources); i++)
        if (!strcmp(sources[i].name, source))
            return &sources[i].rules;
    return NULL;
}
