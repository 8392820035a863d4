/* SPDX-License-Identifier: Apache-2.0 */
/*
 * volume_rules.c: what is checked in the volumes of a pod. A volume has one source; the table of
 * sources stands in the order in which Kubernetes looks for them, so that of several it is the same
 * ones that are refused.
 *
 * To check another source: its rules, at its line.
 */
#include "apiserver/kinds/pod_rules.h"

void kc__check_path(const kc__place *path, bool relative)
{
    kc_str rest = kc__text(path);
    if (relative && rest.n && rest.p[0] == '/')
        kc__wrong(path, KC_FIELD_INVALID, "must be a relative path");
    while (rest.p) {
        if (!kc_str_is(kc_str_cut(&rest, '/'), ".."))
            continue;
        kc__wrong(path, KC_FIELD_INVALID, "must not contain '..'");
        return;
    }
}

static void check_path_in_volume(const kc__place *path)
{
    kc__check_path(path, true);
    kc_str text = kc__text(path);
    if (kc_str_starts(text, KC_STR("..")) && !kc_str_starts(text, KC_STR("../")))
        kc__wrong(path, KC_FIELD_INVALID, "must not start with '..'");
}

static void check_mode(const kc__place *mode)
{
    if (mode->value && (kc__number(mode) < 0 || kc__number(mode) > 0777))
        kc__wrong(mode, KC_FIELD_INVALID,
                  "must be a number between 0 and 0777 (octal), both inclusive");
}

static const kc__rule key_to_path_[] = {
    {"key", .required = ""},
    {"path", .required = ""},
    {"path", .code = check_path_in_volume},
    {"mode", .code = check_mode},
};
static const kc__rules key_to_path = KC__RULES(key_to_path_);

/* ---- references to fields of the pod ---- */

void kc__check_field_ref(const kc__place *ref, const char *const *paths)
{
    kc__place version = kc__member(ref, "apiVersion"), path = kc__member(ref, "fieldPath");
    kc_str text = kc__text(&path);
    if (!kc__there(&version)) {
        kc__wrong(&version, KC_FIELD_REQUIRED, NULL);
        return;
    }
    if (!text.n) {
        kc__wrong(&path, KC_FIELD_REQUIRED, NULL);
        return;
    }
    if (kc_str_starts(text, KC_STR("metadata.labels['")) ||
        kc_str_starts(text, KC_STR("metadata.annotations['")))
        return;
    for (size_t i = 0; paths[i]; i++)
        if (kc_str_is(text, paths[i]))
            return;
    static const char *const known[] = {"metadata.annotations",
                                        "metadata.labels",
                                        "metadata.name",
                                        "metadata.namespace",
                                        "metadata.uid",
                                        "spec.nodeName",
                                        "status.hostIP",
                                        "spec.serviceAccountName",
                                        "status.hostIPs",
                                        "status.podIP",
                                        "status.podIPs",
                                        "spec.restartPolicy",
                                        "spec.host",
                                        NULL};
    for (size_t i = 0; known[i]; i++) {
        if (kc_str_is(text, known[i])) {
            kc__not_supported(&path, paths);
            return;
        }
    }
    kc__wrong(&path, KC_FIELD_INVALID,
              "error converting fieldPath: field label not supported: %.*s", KC_ARG(text));
}

void kc__check_resource_field_ref(const kc__place *ref, bool in_volume)
{
    static const char *const known[] = {"limits.cpu",
                                        "limits.ephemeral-storage",
                                        "limits.memory",
                                        "requests.cpu",
                                        "requests.ephemeral-storage",
                                        "requests.memory",
                                        NULL};
    kc__place name = kc__member(ref, "containerName"), resource = kc__member(ref, "resource");
    kc_str text = kc__text(&resource);
    bool found = kc_str_starts(text, KC_STR("limits.hugepages-")) ||
                 kc_str_starts(text, KC_STR("requests.hugepages-"));
    for (size_t i = 0; known[i]; i++)
        found = found || kc_str_is(text, known[i]);
    if (in_volume && !kc__there(&name))
        kc__wrong(&name, KC_FIELD_REQUIRED, NULL);
    else if (!text.n)
        kc__wrong(&resource, KC_FIELD_REQUIRED, NULL);
    else if (!found)
        kc__not_supported(&resource, known);
}

static void check_downward_file(const kc__place *file)
{
    static const char *const paths[] = {"metadata.annotations", "metadata.labels", "metadata.name",
                                        "metadata.namespace",   "metadata.uid",    NULL};
    kc__place field = kc__member(file, "fieldRef"), resource = kc__member(file, "resourceFieldRef");
    if (field.value) {
        kc__check_field_ref(&field, paths);
        if (resource.value)
            kc__wrong_as(file, KC_FIELD_INVALID, "\"resource\"",
                         "fieldRef and resourceFieldRef can not be specified simultaneously");
    } else if (resource.value) {
        kc__check_resource_field_ref(&resource, true);
    } else {
        kc__wrong(file, KC_FIELD_REQUIRED, "one of fieldRef and resourceFieldRef is required");
    }
}

static const kc__rule downward_file_[] = {
    {"path", .required = ""},
    {"path", .code = check_path_in_volume},
    {.code = check_downward_file},
    {"mode", .code = check_mode},
};
static const kc__rules downward_file = KC__RULES(downward_file_);

/* ---- sources ---- */

static void check_size_limit(const kc__place *limit)
{
    if (kc_str_starts(kc__text(limit), KC_STR("-")))
        kc__wrong(limit, KC_FIELD_FORBIDDEN, "SizeLimit field must be a valid resource quantity");
}

static const char *const host_path_types[] = {
    "",     "BlockDevice",  "CharDevice", "Directory", "DirectoryOrCreate",
    "File", "FileOrCreate", "Socket",     NULL};

static void check_steps(const kc__place *path)
{
    kc__check_path(path, false);
}

static void check_absolute(const kc__place *path)
{
    kc_str text = kc__text(path);
    if (!text.n || text.p[0] != '/')
        kc__wrong(path, KC_FIELD_INVALID, "must be an absolute path");
}

static const kc__rule empty_dir_[] = {{"sizeLimit", .code = check_size_limit}};
static const kc__rule host_path_[] = {
    {"path", .required = "", .code = check_steps},
    {"type", .one_of = host_path_types},
};
static const kc__rule secret_[] = {
    {"secretName", .required = ""},
    {"defaultMode", .code = check_mode},
    {"items", .of = &key_to_path},
};
static const kc__rule config_map_[] = {
    {"name", .required = ""},
    {"defaultMode", .code = check_mode},
    {"items", .of = &key_to_path},
};
static const kc__rule nfs_[] = {
    {"server", .required = ""},
    {"path", .required = ""},
    {"path", .code = check_absolute},
};
static const kc__rule claim_[] = {{"claimName", .required = ""}};
static const kc__rule downward_[] = {
    {"defaultMode", .code = check_mode},
    {"items", .of = &downward_file},
};
static const kc__rule csi_[] = {{"driver", .required = ""}};
static const kc__rule template_[] = {{"spec", .required = ""}};
static const kc__rules template = KC__RULES(template_);
static const kc__rule ephemeral_[] = {
    {"volumeClaimTemplate", .required = "", .of = &template},
};
static const kc__rule token_[] = {{"path", .required = ""}};
static const kc__rule projected_secret_[] = {
    {"name", .required = ""},
    {"items", .of = &key_to_path},
};
static const kc__rule projected_downward_[] = {{"items", .of = &downward_file}};

static const kc__rules empty_dir = KC__RULES(empty_dir_), host_path = KC__RULES(host_path_),
                       secret = KC__RULES(secret_), config_map = KC__RULES(config_map_),
                       nfs = KC__RULES(nfs_), claim = KC__RULES(claim_),
                       downward = KC__RULES(downward_), csi = KC__RULES(csi_),
                       ephemeral = KC__RULES(ephemeral_), token = KC__RULES(token_),
                       projected_secret = KC__RULES(projected_secret_),
                       projected_downward = KC__RULES(projected_downward_);

/* One of several members, in the order in which they are looked for. */
typedef struct choice {
    const char *name;
    const kc__rules *rules; /* NULL: anything. */
} choice;

static size_t check_choices(const kc__place *place, const choice *choices, size_t n,
                            const char *more)
{
    size_t found = 0;
    for (size_t i = 0; i < n; i++) {
        kc__place one = kc__member(place, choices[i].name);
        if (!one.value)
            continue;
        if (found++)
            kc__wrong(&one, KC_FIELD_FORBIDDEN, "%s", more);
        else if (choices[i].rules)
            kc__rules_check(choices[i].rules, &one);
    }
    return found;
}

static void check_projections(const kc__place *volume)
{
    static const choice sources[] = {
        {"secret", &projected_secret},        {"configMap", &projected_secret},
        {"downwardAPI", &projected_downward}, {"serviceAccountToken", &token},
        {"clusterTrustBundle", NULL},         {"podCertificate", NULL}};
    kc__place list = kc__member(volume, "sources");
    size_t i = 0;
    kc_items (list.value, value) {
        kc__place item = kc__item(&list, value, i++);
        if (!check_choices(&item, sources, KC_COUNT(sources),
                           "may not specify more than 1 volume type"))
            kc__wrong(&item, KC_FIELD_REQUIRED, NULL);
    }
}

static const kc__rule projected_[] = {
    {"defaultMode", .code = check_mode},
    {.code = check_projections},
};
static const kc__rules projected = KC__RULES(projected_);

static const choice sources[] = {
    {"emptyDir", &empty_dir},
    {"hostPath", &host_path},
    {"gitRepo", NULL},
    {"gcePersistentDisk", NULL},
    {"awsElasticBlockStore", NULL},
    {"secret", &secret},
    {"nfs", &nfs},
    {"iscsi", NULL},
    {"glusterfs", NULL},
    {"flocker", NULL},
    {"persistentVolumeClaim", &claim},
    {"rbd", NULL},
    {"cinder", NULL},
    {"cephfs", NULL},
    {"quobyte", NULL},
    {"downwardAPI", &downward},
    {"fc", NULL},
    {"flexVolume", NULL},
    {"configMap", &config_map},
    {"azureFile", NULL},
    {"vsphereVolume", NULL},
    {"photonPersistentDisk", NULL},
    {"portworxVolume", NULL},
    {"azureDisk", NULL},
    {"storageos", NULL},
    {"scaleIO", NULL},
    {"projected", &projected},
    {"csi", &csi},
    {"ephemeral", &ephemeral},
    {"image", NULL},
};

static void check_volume(const kc__place *volume, const kc_map *others)
{
    kc__place name = kc__member(volume, "name");
    if (!check_choices(volume, sources, KC_COUNT(sources),
                       "may not specify more than 1 volume type"))
        kc__wrong(volume, KC_FIELD_REQUIRED, "must specify a volume type");
    kc__check_needed_name(&name, KC_NAME_DNS_LABEL);
    if (kc_map_get(others, kc__text(&name)))
        kc__wrong(&name, KC_FIELD_DUPLICATE, NULL);
}

void kc__check_volumes(const kc__place *volumes, kc_map *ret_volumes)
{
    size_t i = 0;
    kc_items (volumes->value, value) {
        kc__place volume = kc__item(volumes, value, i++);
        size_t before = volumes->errors->list.n + volumes->errors->dropped;
        check_volume(&volume, ret_volumes);
        if (volumes->errors->list.n + volumes->errors->dropped == before)
            kc_map_put(ret_volumes, kc__text_in(&volume, "name"), (void *)value);
    }
}
