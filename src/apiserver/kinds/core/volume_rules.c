/* SPDX-License-Identifier: Apache-2.0 */
/*
 * volume_rules.c: validates the volumes of a pod. A volume has one source. The table of sources is
 * in the order in which Kubernetes checks them, so that of several sources the same ones are
 * rejected.
 *
 * To add a source: add its rules at its row, or in volume_remote_rules.c.
 */
#include "apiserver/kinds/core/pod_rules.h"
#include "kc/ascii.h"
#include "kc/metadata_validation.h"

void kc__validate_path(const kc__location *path, bool relative)
{
    kc_str rest = kc__location_text(path);
    if (relative && rest.n && rest.p[0] == '/')
        kc__location_error(path, KC_FIELD_INVALID, "must be a relative path");
    while (rest.p) {
        if (!kc_str_is(kc_str_cut(&rest, '/'), ".."))
            continue;
        kc__location_error(path, KC_FIELD_INVALID, "must not contain '..'");
        return;
    }
}

static void check_path_in_volume(const kc__location *path)
{
    kc__validate_path(path, true);
    kc_str text = kc__location_text(path);
    if (kc_str_starts(text, KC_STR("..")) && !kc_str_starts(text, KC_STR("../")))
        kc__location_error(path, KC_FIELD_INVALID, "must not start with '..'");
}

static void check_mode(const kc__location *mode)
{
    if (mode->value && (kc__location_number(mode) < 0 || kc__location_number(mode) > 0777))
        kc__location_error(mode, KC_FIELD_INVALID,
                           "must be a number between 0 and 0777 (octal), both inclusive");
}

static const kc__validate_rule key_to_path_[] = {
    {"key", .required = ""},
    {"path", .required = ""},
    {"path", .code = check_path_in_volume},
    {"mode", .code = check_mode},
};
static const kc__validate_rule_table key_to_path = KC__VALIDATE_RULES(key_to_path_);

/* ---- downward API files ---- */

static void check_downward_file(const kc__location *file)
{
    static const char *const paths[] = {"metadata.annotations", "metadata.labels", "metadata.name",
                                        "metadata.namespace",   "metadata.uid",    NULL};
    kc__location field = kc__location_member(file, "fieldRef"),
                 resource = kc__location_member(file, "resourceFieldRef");
    if (field.value) {
        kc__validate_field_ref(&field, paths);
        if (resource.value)
            kc__location_error_json(
                file, KC_FIELD_INVALID, "\"resource\"",
                "fieldRef and resourceFieldRef can not be specified simultaneously");
    } else if (resource.value) {
        kc__validate_resource_field_ref(&resource, true);
    } else {
        kc__location_error(file, KC_FIELD_REQUIRED,
                           "one of fieldRef and resourceFieldRef is required");
    }
}

static const kc__validate_rule downward_file_[] = {
    {"path", .required = ""},
    {"path", .code = check_path_in_volume},
    {.code = check_downward_file},
    {"mode", .code = check_mode},
};
static const kc__validate_rule_table downward_file = KC__VALIDATE_RULES(downward_file_);

/* Kubernetes reports the path without the list and the index. */
static void check_downward_files(const kc__location *source)
{
    kc_value_each_item (kc_value_get(source->value, "items"), value) {
        kc__location file = *source;
        file.value = value;
        kc__validate_by_rules(&downward_file, &file);
    }
}

/* ---- sources ---- */

static void check_size_limit(const kc__location *limit)
{
    if (kc_str_starts(kc__location_text(limit), KC_STR("-")))
        kc__location_error(limit, KC_FIELD_FORBIDDEN,
                           "SizeLimit field must be a valid resource quantity");
}

static const char *const host_path_types[] = {
    "",     "BlockDevice",  "CharDevice", "Directory", "DirectoryOrCreate",
    "File", "FileOrCreate", "Socket",     NULL};

static void check_steps(const kc__location *path)
{
    kc__validate_path(path, false);
}

void kc__validate_driver_name(const kc__location *driver)
{
    kc_str text = kc__location_text(driver);
    char lower[64];
    if (!text.n)
        kc__location_error(driver, KC_FIELD_REQUIRED, NULL);
    if (text.n >= sizeof(lower)) {
        kc__location_error(driver, KC_FIELD_TOO_LONG, "may not be more than 63 bytes");
        return;
    }
    for (size_t i = 0; i < text.n; i++)
        lower[i] = kc_lower(text.p[i]);
    const char *messages[KC_NAME_MESSAGES];
    size_t n = kc_name_check(KC_NAME_DNS_SUBDOMAIN, (kc_str){lower, text.n}, messages);
    for (size_t i = 0; i < n; i++)
        kc__location_error(driver, KC_FIELD_INVALID, "%s", messages[i]);
}

void kc__validate_driver(const kc__location *source)
{
    kc__location driver = kc__location_member(source, "driver");
    kc__validate_driver_name(&driver);
}

static void check_publish_secret(const kc__location *source)
{
    kc__location secret = kc__location_member(source, "nodePublishSecretRef");
    kc__location name = kc__location_member(&secret, "name"),
                 shown = kc__location_member(source, "name");
    shown.value = name.value;
    if (secret.value && !kc__location_is_set(&name))
        kc__location_error(&name, KC_FIELD_REQUIRED, NULL);
    else if (secret.value)
        kc__validate_name(&shown, KC_NAME_DNS_SUBDOMAIN);
}

/* Only metadata that is copied to the claim may be set. */
static void check_template_metadata(const kc__location *metadata)
{
    kc__location labels = kc__location_member(metadata, "labels");
    kc__location annotations = kc__location_member(metadata, "annotations");
    if (annotations.value)
        kc_validate_annotations(annotations.errors, kc__location_path(&annotations),
                                annotations.value);
    kc__validate_labels(&labels);
    kc_value_each_member (metadata->value, name, value) {
        kc__location member = kc__location_entry(metadata, name, value);
        if (kc_str_is(name, "labels") || kc_str_is(name, "annotations") ||
            !kc__location_is_set(&member))
            continue;
        kc__location shown = member;
        shown.name = name.p; /* NUL-terminated, like all strings of a view. */
        kc__location_error(&shown, KC_FIELD_FORBIDDEN, "cannot be set");
    }
}

static void check_claim_template(const kc__location *template)
{
    kc__location metadata = kc__location_member(template, "metadata"),
                 spec = kc__location_member(template, "spec");
    if (!template->value) {
        kc__location_error(template, KC_FIELD_REQUIRED, NULL);
        return;
    }
    check_template_metadata(&metadata);
    kc__validate_claim_spec(&spec);
}

static void check_expiration(const kc__location *token)
{
    kc__location seconds = kc__location_member(token, "expirationSeconds");
    if (kc__location_number(&seconds) < 600)
        kc__location_error(&seconds, KC_FIELD_INVALID,
                           "may not specify a duration less than 10 minutes");
    if (kc__location_number(&seconds) > (int64_t)1 << 32)
        kc__location_error(&seconds, KC_FIELD_INVALID,
                           "may not specify a duration larger than 2^32 seconds");
}

static const kc__validate_rule empty_dir_[] = {{"sizeLimit", .code = check_size_limit}};
static const kc__validate_rule host_path_[] = {
    {"path", .required = "", .code = check_steps},
    {"type", .one_of = host_path_types},
};
static const kc__validate_rule secret_[] = {
    {"secretName", .required = ""},
    {"defaultMode", .code = check_mode},
    {"items", .of = &key_to_path},
};
static const kc__validate_rule config_map_[] = {
    {"name", .required = ""},
    {"defaultMode", .code = check_mode},
    {"items", .of = &key_to_path},
};
static const kc__validate_rule claim_[] = {{"claimName", .required = ""}};
static const kc__validate_rule downward_[] = {
    {"defaultMode", .code = check_mode},
    {.code = check_downward_files},
};
static const kc__validate_rule csi_[] = {{.code = kc__validate_driver},
                                         {.code = check_publish_secret}};
static const kc__validate_rule ephemeral_[] = {
    {"volumeClaimTemplate", .code = check_claim_template},
};
static const kc__validate_rule token_[] = {{.code = check_expiration}};
static const kc__validate_rule projected_secret_[] = {
    {"name", .required = ""},
    {"items", .of = &key_to_path},
};
static const kc__validate_rule projected_downward_[] = {{.code = check_downward_files}};

static const kc__validate_rule_table empty_dir = KC__VALIDATE_RULES(empty_dir_),
                                     host_path = KC__VALIDATE_RULES(host_path_),
                                     secret = KC__VALIDATE_RULES(secret_),
                                     config_map = KC__VALIDATE_RULES(config_map_),
                                     claim = KC__VALIDATE_RULES(claim_),
                                     downward = KC__VALIDATE_RULES(downward_),
                                     csi = KC__VALIDATE_RULES(csi_),
                                     ephemeral = KC__VALIDATE_RULES(ephemeral_),
                                     token = KC__VALIDATE_RULES(token_),
                                     projected_secret = KC__VALIDATE_RULES(projected_secret_),
                                     projected_downward = KC__VALIDATE_RULES(projected_downward_);

/* ---- projected volumes: files from several sources in one directory ---- */

/* Every file needs a path of its own; the error names the source. */
static void check_distinct(const kc__location *volume, const kc__location *source, kc_map *paths)
{
    kc_str name = kc__location_member_text(source, "name");
    kc_value_each_item (kc_value_get(source->value, "items"), item) {
        kc_str path = kc_value_as_str(kc_value_get(item, "path"));
        if (path.n && kc_map_put(paths, path, paths))
            kc__location_error_text(volume, KC_FIELD_INVALID, source->name[0] == 'd' ? path : name,
                                    "conflicting duplicate paths");
    }
}

/* Kubernetes reports the path of a token for the volume, not for the source. */
static void check_token_path(const kc__location *volume, const kc__location *source)
{
    kc__location path = kc__location_member(volume, "path");
    path.value = kc__location_member(source, "path").value;
    if (!kc__location_is_set(&path))
        kc__location_error(&path, KC_FIELD_REQUIRED, NULL);
    else
        check_path_in_volume(&path);
}

static void check_projection(const kc__location *volume, const kc__location *item, kc_map *paths)
{
    static const struct {
        const char *name;
        const kc__validate_rule_table *rules;
    } projections[] = {{"secret", &projected_secret},
                       {"configMap", &projected_secret},
                       {"downwardAPI", &projected_downward},
                       {"serviceAccountToken", &token}};
    size_t found = 0;
    for (size_t i = 0; i < KC_COUNT(projections); i++) {
        kc__location source = kc__location_member(item, projections[i].name);
        if (!source.value)
            continue;
        found++;
        kc__validate_by_rules(projections[i].rules, &source);
        check_distinct(volume, &source, paths);
        if (projections[i].rules == &token)
            check_token_path(volume, &source);
    }
    if (found > 1)
        kc__location_error(item, KC_FIELD_FORBIDDEN,
                           "may not specify more than 1 volume type per source");
}

static void check_projections(const kc__location *volume)
{
    kc__location list = kc__location_member(volume, "sources");
    kc_scoped(kc_map) paths = {0};
    size_t i = 0;
    kc_value_each_item (list.value, value) {
        kc__location item = kc__location_item(&list, value, i++);
        check_projection(volume, &item, &paths);
    }
}

static const kc__validate_rule projected_[] = {
    {"defaultMode", .code = check_mode},
    {.code = check_projections},
};
static const kc__validate_rule_table projected = KC__VALIDATE_RULES(projected_);

/* ---- volumes ---- */

/* In the order in which they are checked; those without rules are in volume_remote_rules.c. */
static const struct {
    const char *name;
    const kc__validate_rule_table *rules;
    const char *shown; /* Name in Kubernetes' errors, if it differs. */
} sources[] = {
    {.name = "emptyDir", .rules = &empty_dir},
    {.name = "hostPath", .rules = &host_path},
    {.name = "gitRepo"},
    {.name = "gcePersistentDisk", .shown = "persistentDisk"},
    {.name = "awsElasticBlockStore"},
    {.name = "secret", .rules = &secret},
    {.name = "nfs"},
    {.name = "iscsi"},
    {.name = "glusterfs"},
    {.name = "flocker"},
    {.name = "persistentVolumeClaim", .rules = &claim},
    {.name = "rbd"},
    {.name = "cinder"},
    {.name = "cephfs"},
    {.name = "quobyte"},
    {.name = "downwardAPI", .rules = &downward},
    {.name = "fc"},
    {.name = "flexVolume"},
    {.name = "configMap", .rules = &config_map},
    {.name = "azureFile"},
    {.name = "vsphereVolume"},
    {.name = "photonPersistentDisk"},
    {.name = "portworxVolume"},
    {.name = "azureDisk"},
    {.name = "storageos"},
    {.name = "scaleIO"},
    {.name = "projected", .rules = &projected},
    {.name = "csi", .rules = &csi},
    {.name = "ephemeral", .rules = &ephemeral},
    {.name = "image"},
};

static size_t check_volume_sources(const kc__location *volume)
{
    size_t found = 0;
    for (size_t i = 0; i < KC_COUNT(sources); i++) {
        kc__location one = kc__location_member(volume, sources[i].name);
        const kc__validate_rule_table *rules =
            sources[i].rules ? sources[i].rules : kc__validate_remote_volume_rules(sources[i].name);
        if (!one.value)
            continue;
        if (sources[i].shown)
            one.name = sources[i].shown;
        if (found++)
            kc__location_error(&one, KC_FIELD_FORBIDDEN, "may not specify more than 1 volume type");
        else if (rules)
            kc__validate_by_rules(rules, &one);
    }
    return found;
}

static void check_volume(const kc__location *volume, const kc_map *others)
{
    kc__location name = kc__location_member(volume, "name");
    if (!check_volume_sources(volume))
        kc__location_error(volume, KC_FIELD_REQUIRED, "must specify a volume type");
    kc__validate_needed_name(&name, KC_NAME_DNS_LABEL);
    if (kc_map_get(others, kc__location_text(&name)))
        kc__location_error(&name, KC_FIELD_DUPLICATE, NULL);
}

void kc__validate_volumes(const kc__location *volumes, kc_map *ret_volumes)
{
    size_t i = 0;
    kc_value_each_item (volumes->value, value) {
        kc__location volume = kc__location_item(volumes, value, i++);
        size_t before = volumes->errors->list.n + volumes->errors->dropped;
        check_volume(&volume, ret_volumes);
        if (volumes->errors->list.n + volumes->errors->dropped == before)
            kc_map_put(ret_volumes, kc__location_member_text(&volume, "name"), (void *)value);
    }
}
