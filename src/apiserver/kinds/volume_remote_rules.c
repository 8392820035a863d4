/* SPDX-License-Identifier: Apache-2.0 */
/*
 * volume_remote_rules.c: what is checked in sources of volumes that are elsewhere: disks of clouds,
 * file systems and blocks over a network. Pods have them, and PersistentVolumes.
 *
 * To check another: its rules, and a line at the end.
 */
#include "apiserver/kinds/pod_rules.h"
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

static void check_initiator(const kc__place *name)
{
    kc_str text = kc__text(name), rest = text;
    bool iqn = kc_str_starts(text, KC_STR("iqn")), eui = kc_str_starts(text, KC_STR("eui"));
    bool naa = kc_str_starts(text, KC_STR("naa"));
    kc_str_cut(&rest, '.');
    if (!name->value)
        return;
    if (!iqn && !eui && !naa)
        kc__wrong(name, KC_FIELD_INVALID, "must be valid format starting with iqn, eui, or naa");
    else if ((iqn && !is_iqn(text)) || (eui && (rest.n != 16 || !is_hex(rest))) ||
             (naa && (rest.n != 32 || !is_hex(rest))))
        kc__wrong(name, KC_FIELD_INVALID, "must be valid format");
}

static void check_chap(const kc__place *iscsi)
{
    kc__place secret = kc__member(iscsi, "secretRef");
    if ((kc__true_in(iscsi, "chapAuthDiscovery") || kc__true_in(iscsi, "chapAuthSession")) &&
        !secret.value)
        kc__wrong(&secret, KC_FIELD_REQUIRED, NULL);
}

static void check_initiator_name(const kc__place *iscsi)
{
    kc__place name = kc__member(iscsi, "initiatorname");
    name.value = kc_get(iscsi->value, "initiatorName");
    check_initiator(&name);
}

static const kc__rule iscsi_[] = {
    {"targetPortal", .required = ""},
    {"iqn", .required = "", .code = check_initiator},
    {"lun", .high = 255},
    {.code = check_chap},
    {.code = check_initiator_name},
};

/* ---- fibre channel, files of Azure, Quobyte, Flocker ---- */

static void check_fibre(const kc__place *fc)
{
    kc__place names = kc__member(fc, "targetWWNs"), lun = kc__member(fc, "lun");
    bool ids = kc_len(kc_get(fc->value, "wwids"));
    if (!kc__there(&names) && !ids)
        kc__wrong(&names, KC_FIELD_REQUIRED,
                  "must specify either targetWWNs or wwids, but not both");
    if (kc__there(&names) && ids)
        kc__wrong(&names, KC_FIELD_INVALID,
                  "targetWWNs and wwids can not be specified simultaneously");
    if (kc__there(&names) && !lun.value)
        kc__wrong(&lun, KC_FIELD_REQUIRED, "lun is required if targetWWNs is specified");
    else if (kc__there(&names))
        kc__check_between(&lun, 0, 255);
}

static void check_disk_uri(const kc__place *disk)
{
    static const char *const managed[] = {"/subscriptions/{sub-id}/resourcegroups/{group-name}/"
                                          "providers/microsoft.compute/disks/{disk-id}",
                                          NULL};
    static const char *const blob[] = {
        "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd", NULL};
    kc__place uri = kc__member(disk, "diskURI"), kind = kc__member(disk, "kind");
    bool is_managed = kc__text_is(&kind, "Managed");
    if (kind.value && is_managed && !kc_str_starts(kc__text(&uri), KC_STR("/subscriptions/")))
        kc__not_supported(&uri, managed);
    else if (kind.value && !is_managed && !kc_str_starts(kc__text(&uri), KC_STR("https://")))
        kc__not_supported(&uri, blob);
}

static void check_registry(const kc__place *quobyte)
{
    static const char pairs[] = "must be a host:port pair or multiple pairs separated by commas";
    kc__place registry = kc__member(quobyte, "registry"), tenant = kc__member(quobyte, "tenant");
    kc_str rest = kc__text(&registry);
    if (!rest.n) {
        kc__wrong(&registry, KC_FIELD_REQUIRED, pairs);
        return;
    }
    if (kc__text(&tenant).n >= 65) {
        kc__wrong(&tenant, KC_FIELD_REQUIRED,
                  "must be a UUID and may not exceed a length of 64 characters");
        return;
    }
    while (rest.p)
        if (kc_str_find(kc_str_cut(&rest, ','), ':') < 0)
            kc__wrong(&registry, KC_FIELD_INVALID, pairs);
}

static void check_dataset(const kc__place *flocker)
{
    kc__place name = kc__member(flocker, "datasetName"), id = kc__member(flocker, "datasetUUID");
    if (!kc__there(&name) && !kc__there(&id))
        kc__wrong(flocker, KC_FIELD_REQUIRED, "one of datasetName and datasetUUID is required");
    if (kc__there(&name) && kc__there(&id))
        kc__wrong_text(flocker, KC_FIELD_INVALID, KC_STR("resource"),
                       "datasetName and datasetUUID can not be specified simultaneously");
    if (kc_str_find(kc__text(&name), '/') >= 0)
        kc__wrong(&name, KC_FIELD_INVALID, "must not contain '/'");
}

/* ---- the rest ---- */

static const char *const caching[] = {"None", "ReadOnly", "ReadWrite", NULL};
static const char *const disk_kinds[] = {"Dedicated", "Managed", "Shared", NULL};

/* None is 0; Kubernetes says the range of the others. */
static void check_partition(const kc__place *partition)
{
    if (kc__number(partition) < 0 || kc__number(partition) > 255)
        kc__wrong(partition, KC_FIELD_INVALID, "must be between 1 and 255, inclusive");
}

static void check_directory(const kc__place *directory)
{
    if (kc__there(directory))
        kc__check_path(directory, true);
}

static void check_absolute(const kc__place *path)
{
    kc_str text = kc__text(path);
    if (!text.n || text.p[0] != '/')
        kc__wrong(path, KC_FIELD_INVALID, "must be an absolute path");
}

static const kc__rule git_repo_[] = {
    {"repository", .required = ""},
    {"directory", .code = check_directory},
};
static const kc__rule gce_[] = {{"pdName", .required = ""}, {"partition", .code = check_partition}};
static const kc__rule aws_[] = {{"volumeID", .required = ""},
                                {"partition", .code = check_partition}};
static const kc__rule nfs_[] = {
    {"server", .required = ""},
    {"path", .required = ""},
    {"path", .code = check_absolute},
};
static const kc__rule gluster_[] = {{"endpoints", .required = ""}, {"path", .required = ""}};
static const kc__rule flocker_[] = {{.code = check_dataset}};
static const kc__rule rbd_[] = {{"monitors", .required = ""}, {"image", .required = ""}};
static const kc__rule volume_id_[] = {{"volumeID", .required = ""}};
static const kc__rule cephfs_[] = {{"monitors", .required = ""}};
static const kc__rule quobyte_[] = {{.code = check_registry}, {"volume", .required = ""}};
static const kc__rule fc_[] = {{.code = check_fibre}};
static const kc__rule driver_[] = {{"driver", .required = ""}};
static const kc__rule azure_file_[] = {{"secretName", .required = ""},
                                       {"shareName", .required = ""}};
static const kc__rule vsphere_[] = {{"volumePath", .required = ""}};
static const kc__rule photon_[] = {{"pdID", .required = ""}};
static const kc__rule azure_disk_[] = {
    {"diskName", .required = ""},   {"diskURI", .required = ""}, {"cachingMode", .one_of = caching},
    {"kind", .one_of = disk_kinds}, {.code = check_disk_uri},
};
static const kc__rule storage_os_[] = {{"volumeName", .required = ""}};
static const kc__rule scale_io_[] = {
    {"gateway", .required = ""}, {"system", .required = ""}, {"volumeName", .required = ""}};

static const struct {
    const char *name;
    kc__rules rules;
} sources[] = {
    {"gitRepo", KC__RULES(git_repo_)},
    {"gcePersistentDisk", KC__RULES(gce_)},
    {"awsElasticBlockStore", KC__RULES(aws_)},
    {"nfs", KC__RULES(nfs_)},
    {"iscsi", KC__RULES(iscsi_)},
    {"glusterfs", KC__RULES(gluster_)},
    {"flocker", KC__RULES(flocker_)},
    {"rbd", KC__RULES(rbd_)},
    {"cinder", KC__RULES(volume_id_)},
    {"cephfs", KC__RULES(cephfs_)},
    {"quobyte", KC__RULES(quobyte_)},
    {"fc", KC__RULES(fc_)},
    {"flexVolume", KC__RULES(driver_)},
    {"azureFile", KC__RULES(azure_file_)},
    {"vsphereVolume", KC__RULES(vsphere_)},
    {"photonPersistentDisk", KC__RULES(photon_)},
    {"portworxVolume", KC__RULES(volume_id_)},
    {"azureDisk", KC__RULES(azure_disk_)},
    {"storageos", KC__RULES(storage_os_)},
    {"scaleIO", KC__RULES(scale_io_)},
};

const kc__rules *kc__remote_volume_rules(const char *source)
{
    for (size_t i = 0; i < KC_COUNT(sources); i++)
        if (!strcmp(sources[i].name, source))
            return &sources[i].rules;
    return NULL;
}
