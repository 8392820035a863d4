/* SPDX-License-Identifier: Apache-2.0 */
/*
 * volume_rules.c: what is checked in the volumes of a pod. A volume has one source; the table of
 * sources stands in the order in which Kubernetes looks for them, so that of several it is the same
 * ones that are refused.
 *
 * To check another source: its rules, at its line, or in volume_remote_rules.c.
 */
#include "apiserver/kinds/pod_rules.h"
#include "kc/ascii.h"
#include "kc/metadata_validation.h"

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

/* ---- fields of the pod as files ---- */

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

/* Kubernetes names neither the list nor the index. */
static void check_downward_files(const kc__place *source)
{
    kc_items (kc_get(source->value, "items"), value) {
        kc__place file = *source;
        file.value = value;
        kc__rules_check(&downward_file, &file);
    }
}

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

void kc__check_driver_name(const kc__place *driver)
{
    kc_str text = kc__text(driver);
    char lower[64];
    if (!text.n)
        kc__wrong(driver, KC_FIELD_REQUIRED, NULL);
    if (text.n >= sizeof(lower)) {
        kc__wrong(driver, KC_FIELD_TOO_LONG, "may not be more than 63 bytes");
        return;
    }
    for (size_t i = 0; i < text.n; i++)
        lower[i] = kc_lower(text.p[i]);
    const char *messages[KC_NAME_MESSAGES];
    size_t n = kc_name_check(KC_NAME_DNS_SUBDOMAIN, (kc_str){lower, text.n}, messages);
    for (size_t i = 0; i < n; i++)
        kc__wrong(driver, KC_FIELD_INVALID, "%s", messages[i]);
}

void kc__check_driver(const kc__place *source)
{
    kc__place driver = kc__member(source, "driver");
    kc__check_driver_name(&driver);
}

static void check_publish_secret(const kc__place *source)
{
    kc__place secret = kc__member(source, "nodePublishSecretRef");
    kc__place name = kc__member(&secret, "name"), shown = kc__member(source, "name");
    shown.value = name.value;
    if (secret.value && !kc__there(&name))
        kc__wrong(&name, KC_FIELD_REQUIRED, NULL);
    else if (secret.value)
        kc__check_name(&shown, KC_NAME_DNS_SUBDOMAIN);
}

/* Only what is copied into a claim may be there. */
static void check_template_metadata(const kc__place *metadata)
{
    kc__place labels = kc__member(metadata, "labels");
    kc__place annotations = kc__member(metadata, "annotations");
    if (annotations.value)
        kc_validate_annotations(annotations.errors, kc__place_path(&annotations),
                                annotations.value);
    kc__check_labels(&labels);
    kc_members (metadata->value, name, value) {
        kc__place member = kc__entry(metadata, name, value);
        if (kc_str_is(name, "labels") || kc_str_is(name, "annotations") || !kc__there(&member))
            continue;
        kc__place shown =
            kc__member(metadata, kc_arena_printf(&metadata->errors->arena, "%.*s", KC_ARG(name)));
        kc__wrong(&shown, KC_FIELD_FORBIDDEN, "cannot be set");
    }
}

static void check_claim_template(const kc__place *template)
{
    kc__place metadata = kc__member(template, "metadata"), spec = kc__member(template, "spec");
    if (!template->value) {
        kc__wrong(template, KC_FIELD_REQUIRED, NULL);
        return;
    }
    check_template_metadata(&metadata);
    kc__check_claim_spec(&spec);
}

static void check_expiration(const kc__place *token)
{
    kc__place seconds = kc__member(token, "expirationSeconds");
    if (kc__number(&seconds) < 600)
        kc__wrong(&seconds, KC_FIELD_INVALID, "may not specify a duration less than 10 minutes");
    if (kc__number(&seconds) > (int64_t)1 << 32)
        kc__wrong(&seconds, KC_FIELD_INVALID,
                  "may not specify a duration larger than 2^32 seconds");
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
static const kc__rule claim_[] = {{"claimName", .required = ""}};
static const kc__rule downward_[] = {
    {"defaultMode", .code = check_mode},
    {.code = check_downward_files},
};
static const kc__rule csi_[] = {{.code = kc__check_driver}, {.code = check_publish_secret}};
static const kc__rule ephemeral_[] = {
    {"volumeClaimTemplate", .code = check_claim_template},
};
static const kc__rule token_[] = {{.code = check_expiration}};
static const kc__rule projected_secret_[] = {
    {"name", .required = ""},
    {"items", .of = &key_to_path},
};
static const kc__rule projected_downward_[] = {{.code = check_downward_files}};

static const kc__rules empty_dir = KC__RULES(empty_dir_), host_path = KC__RULES(host_path_),
                       secret = KC__RULES(secret_), config_map = KC__RULES(config_map_),
                       claim = KC__RULES(claim_), downward = KC__RULES(downward_),
                       csi = KC__RULES(csi_), ephemeral = KC__RULES(ephemeral_),
                       token = KC__RULES(token_), projected_secret = KC__RULES(projected_secret_),
                       projected_downward = KC__RULES(projected_downward_);

/* ---- projections: files from several sources in one folder ---- */

/* Every file has a path of its own; the error names the source it comes from. */
static void check_distinct(const kc__place *volume, const kc__place *source, kc_map *paths)
{
    kc_str name = kc__text_in(source, "name");
    kc_items (kc_get(source->value, "items"), item) {
        kc_str path = kc_as_str(kc_get(item, "path"));
        if (path.n && kc_map_put(paths, path, paths))
            kc__wrong_text(volume, KC_FIELD_INVALID, source->name[0] == 'd' ? path : name,
                           "conflicting duplicate paths");
    }
}

/* Kubernetes has the path of a token in the volume, not in the source. */
static void check_token_path(const kc__place *volume, const kc__place *source)
{
    kc__place path = kc__member(volume, "path");
    path.value = kc__member(source, "path").value;
    if (!kc__there(&path))
        kc__wrong(&path, KC_FIELD_REQUIRED, NULL);
    else
        check_path_in_volume(&path);
}

static void check_projection(const kc__place *volume, const kc__place *item, kc_map *paths)
{
    static const struct {
        const char *name;
        const kc__rules *rules;
    } projections[] = {{"secret", &projected_secret},
                       {"configMap", &projected_secret},
                       {"downwardAPI", &projected_downward},
                       {"serviceAccountToken", &token}};
    size_t found = 0;
    for (size_t i = 0; i < KC_COUNT(projections); i++) {
        kc__place source = kc__member(item, projections[i].name);
        if (!source.value)
            continue;
        found++;
        kc__rules_check(projections[i].rules, &source);
        check_distinct(volume, &source, paths);
        if (projections[i].rules == &token)
            check_token_path(volume, &source);
    }
    if (found > 1)
        kc__wrong(item, KC_FIELD_FORBIDDEN, "may not specify more than 1 volume type per source");
}

static void check_projections(const kc__place *volume)
{
    kc__place list = kc__member(volume, "sources");
    kc_scoped(kc_map) paths = {0};
    size_t i = 0;
    kc_items (list.value, value) {
        kc__place item = kc__item(&list, value, i++);
        check_projection(volume, &item, &paths);
    }
}

static const kc__rule projected_[] = {
    {"defaultMode", .code = check_mode},
    {.code = check_projections},
};
static const kc__rules projected = KC__RULES(projected_);

/* ---- volumes ---- */

/* In the order in which they are looked for; those without rules are in volume_remote_rules.c. */
static const struct {
    const char *name;
    const kc__rules *rules;
    const char *shown; /* What Kubernetes calls it in errors, where it is something else. */
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

static size_t check_sources(const kc__place *volume)
{
    size_t found = 0;
    for (size_t i = 0; i < KC_COUNT(sources); i++) {
        kc__place one = kc__member(volume, sources[i].name);
        const kc__rules *rules =
            sources[i].rules ? sources[i].rules : kc__remote_volume_rules(sources[i].name);
        if (!one.value)
            continue;
        if (sources[i].shown)
            one.name = sources[i].shown;
        if (found++)
            kc__wrong(&one, KC_FIELD_FORBIDDEN, "may not specify more than 1 volume type");
        else if (rules)
            kc__rules_check(rules, &one);
    }
    return found;
}

static void check_volume(const kc__place *volume, const kc_map *others)
{
    kc__place name = kc__member(volume, "name");
    if (!check_sources(volume))
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
