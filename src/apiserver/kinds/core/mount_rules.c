/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mount_rules.c: validates the volume mounts of a container: as directories (volumeMounts) and as
 * block devices (volumeDevices). A volume is used in only one of these ways, and no path is used
 * twice.
 */
#include "apiserver/kinds/core/pod_rules.h"

static const char *const propagations[] = {"Bidirectional", "HostToContainer", "None", NULL};
static const char *const read_only[] = {"Disabled", "Enabled", "IfPossible", NULL};

/* Names and paths of the other list. */
typedef struct others {
    kc_map names, paths;
} others;

static void gather(const kc_value *list, const char *path, others *ret)
{
    kc_value_each_item (list, item) {
        kc_map_put(&ret->names, kc_value_as_str(kc_value_get(item, "name")), (void *)item);
        kc_map_put(&ret->paths, kc_value_as_str(kc_value_get(item, path)), (void *)item);
    }
}

static void others_done(others *o)
{
    kc_map_done(&o->names);
    kc_map_done(&o->paths);
}

static void check_overlap(const kc__location *name, const kc__location *path, const others *o,
                          const char *what)
{
    if (kc_map_get(&o->names, kc__location_text(name)))
        kc__location_error(name, KC_FIELD_INVALID, "must not already exist in %s", what);
    if (kc_map_get(&o->paths, kc__location_text(path)))
        kc__location_error(path, KC_FIELD_INVALID, "must not already exist as a path in %s", what);
}

/* ---- volumeMounts ---- */

/* Kubernetes reports these members without the index. */
static kc__location without_index(const kc__location *mounts, const kc__location *mount,
                                  const char *name)
{
    kc__location member = kc__location_member(mount, name);
    member.up = mounts;
    return member;
}

static void check_sub_paths(const kc__location *mounts, const kc__location *mount)
{
    kc__location path = without_index(mounts, mount, "subPath");
    kc__location expr = without_index(mounts, mount, "subPathExpr");
    kc__location own = kc__location_member(mount, "subPathExpr");
    if (kc__location_is_set(&path))
        kc__validate_path(&path, true);
    if (!kc__location_is_set(&expr))
        return;
    if (kc__location_is_set(&path))
        kc__location_error(&own, KC_FIELD_INVALID,
                           "subPathExpr and subPath are mutually exclusive");
    kc__validate_path(&expr, true);
}

static void check_propagation(const kc__location *propagation, const kc__location *container)
{
    const kc_value *context = kc_value_get(container->value, "securityContext");
    if (!propagation->value)
        return;
    kc__validate_one_of(propagation, propagations);
    if (kc__location_text_is(propagation, "Bidirectional") &&
        !kc_value_as_bool(kc_value_get(context, "privileged"), false))
        kc__location_error(
            propagation, KC_FIELD_FORBIDDEN,
            "Bidirectional mount propagation is available only to privileged containers");
}

static void check_recursive(const kc__location *mode, const kc__location *mount)
{
    kc_str propagation = kc__location_member_text(mount, "mountPropagation");
    if (!mode->value)
        return;
    kc__validate_one_of(mode, read_only);
    if (!kc__location_text_is(mode, "Enabled") && !kc__location_text_is(mode, "IfPossible"))
        return;
    if (!kc__location_member_is_true(mount, "readOnly"))
        kc__location_error(mode, KC_FIELD_FORBIDDEN, "may only be specified when readOnly is true");
    if (propagation.n && !kc_str_is(propagation, "None"))
        kc__location_error(mode, KC_FIELD_FORBIDDEN,
                           "may only be specified when mountPropagation is None or not specified");
}

static void check_mount_options(const kc__location *mounts, const kc__location *mount)
{
    kc__location propagation = without_index(mounts, mount, "mountPropagation");
    kc__location mode = without_index(mounts, mount, "recursiveReadOnly");
    check_sub_paths(mounts, mount);
    check_propagation(&propagation, mounts->up);
    check_recursive(&mode, mount);
}

static void check_mount_dirs(const kc__location *mounts, const kc_map *volumes,
                             const others *devices)
{
    kc_scoped(kc_map) seen = {0};
    size_t i = 0;
    kc_value_each_item (mounts->value, value) {
        kc__location mount = kc__location_item(mounts, value, i++);
        kc__location name = kc__location_member(&mount, "name"),
                     path = kc__location_member(&mount, "mountPath");
        if (!kc__location_is_set(&name))
            kc__location_error(&name, KC_FIELD_REQUIRED, NULL);
        if (!kc_map_get(volumes, kc__location_text(&name)))
            kc__location_error(&name, KC_FIELD_NOT_FOUND, NULL);
        if (!kc__location_is_set(&path))
            kc__location_error(&path, KC_FIELD_REQUIRED, NULL);
        if (kc_map_put(&seen, kc__location_text(&path), (void *)value))
            kc__location_error(&path, KC_FIELD_INVALID, "must be unique");
        check_overlap(&name, &path, devices, "volumeDevices");
        check_mount_options(mounts, &mount);
    }
}

/* ---- volumeDevices ---- */

static void check_device_name(const kc__location *name, const kc_map *volumes, kc_map *seen)
{
    const kc_value *volume = kc_map_get(volumes, kc__location_text(name));
    if (!kc__location_is_set(name))
        kc__location_error(name, KC_FIELD_REQUIRED, NULL);
    else if (kc_map_put(seen, kc__location_text(name), seen))
        kc__location_error(name, KC_FIELD_INVALID, "must be unique");
    if (!volume)
        kc__location_error(name, KC_FIELD_NOT_FOUND, NULL);
    else if (!kc_value_get(volume, "persistentVolumeClaim") && !kc_value_get(volume, "ephemeral"))
        kc__location_error(
            name, KC_FIELD_INVALID,
            "can only use volume source type of PersistentVolumeClaim or Ephemeral for block "
            "mode");
}

static bool steps_back(kc_str path)
{
    while (path.p)
        if (kc_str_is(kc_str_cut(&path, '/'), ".."))
            return true;
    return false;
}

static void check_device_path(const kc__location *path, kc_map *seen)
{
    if (!kc__location_is_set(path))
        kc__location_error(path, KC_FIELD_REQUIRED, NULL);
    if (kc_map_get(seen, kc__location_text(path)))
        kc__location_error(path, KC_FIELD_INVALID, "must be unique");
    if (steps_back(kc__location_text(path)))
        kc__location_error(path, KC_FIELD_INVALID, "can not contain backsteps ('..')");
    else
        kc_map_put(seen, kc__location_text(path), seen);
}

static void check_blocks(const kc__location *devices, const kc_map *volumes, const others *mounts)
{
    kc_scoped(kc_map) names = {0}, paths = {0};
    size_t i = 0;
    kc_value_each_item (devices->value, value) {
        kc__location device = kc__location_item(devices, value, i++);
        kc__location name = kc__location_member(&device, "name"),
                     path = kc__location_member(&device, "devicePath");
        check_device_name(&name, volumes, &names);
        check_device_path(&path, &paths);
        check_overlap(&name, &path, mounts, "volumeMounts");
    }
}

void kc__validate_mounts(const kc__location *container, const kc_map *volumes)
{
    kc__location mounts = kc__location_member(container, "volumeMounts");
    kc__location devices = kc__location_member(container, "volumeDevices");
    others folders = {0}, blocks = {0};
    gather(mounts.value, "mountPath", &folders);
    gather(devices.value, "devicePath", &blocks);
    check_mount_dirs(&mounts, volumes, &blocks);
    check_blocks(&devices, volumes, &folders);
    others_done(&folders);
    others_done(&blocks);
}
