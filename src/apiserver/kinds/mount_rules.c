/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mount_rules.c: what of a pod's volumes a container has, as folders (volumeMounts) and as blocks
 * (volumeDevices). A volume is one of both, and no path is used twice.
 */
#include "apiserver/kinds/pod_rules.h"

static const char *const propagations[] = {"Bidirectional", "HostToContainer", "None", NULL};
static const char *const read_only[] = {"Disabled", "Enabled", "IfPossible", NULL};

/* Names and paths of the other list. */
typedef struct others {
    kc_map names, paths;
} others;

static void gather(const kc_value *list, const char *path, others *ret)
{
    kc_items (list, item) {
        kc_map_put(&ret->names, kc_as_str(kc_get(item, "name")), (void *)item);
        kc_map_put(&ret->paths, kc_as_str(kc_get(item, path)), (void *)item);
    }
}

static void others_done(others *o)
{
    kc_map_done(&o->names);
    kc_map_done(&o->paths);
}

static void check_overlap(const kc__place *name, const kc__place *path, const others *o,
                          const char *what)
{
    if (kc_map_get(&o->names, kc__text(name)))
        kc__wrong(name, KC_FIELD_INVALID, "must not already exist in %s", what);
    if (kc_map_get(&o->paths, kc__text(path)))
        kc__wrong(path, KC_FIELD_INVALID, "must not already exist as a path in %s", what);
}

/* ---- folders ---- */

/* Kubernetes leaves out the index of what follows. */
static kc__place without_index(const kc__place *mounts, const kc__place *mount, const char *name)
{
    kc__place member = kc__member(mount, name);
    member.up = mounts;
    return member;
}

static void check_sub_paths(const kc__place *mounts, const kc__place *mount)
{
    kc__place path = without_index(mounts, mount, "subPath");
    kc__place expr = without_index(mounts, mount, "subPathExpr");
    kc__place own = kc__member(mount, "subPathExpr");
    if (kc__there(&path))
        kc__check_path(&path, true);
    if (!kc__there(&expr))
        return;
    if (kc__there(&path))
        kc__wrong(&own, KC_FIELD_INVALID, "subPathExpr and subPath are mutually exclusive");
    kc__check_path(&expr, true);
}

static void check_propagation(const kc__place *propagation, const kc__place *container)
{
    const kc_value *context = kc_get(container->value, "securityContext");
    if (!propagation->value)
        return;
    kc__check_one_of(propagation, propagations);
    if (kc__text_is(propagation, "Bidirectional") &&
        !kc_as_bool(kc_get(context, "privileged"), false))
        kc__wrong(propagation, KC_FIELD_FORBIDDEN,
                  "Bidirectional mount propagation is available only to privileged containers");
}

static void check_recursive(const kc__place *mode, const kc__place *mount)
{
    kc_str propagation = kc__text_in(mount, "mountPropagation");
    if (!mode->value)
        return;
    kc__check_one_of(mode, read_only);
    if (!kc__text_is(mode, "Enabled") && !kc__text_is(mode, "IfPossible"))
        return;
    if (!kc__true_in(mount, "readOnly"))
        kc__wrong(mode, KC_FIELD_FORBIDDEN, "may only be specified when readOnly is true");
    if (propagation.n && !kc_str_is(propagation, "None"))
        kc__wrong(mode, KC_FIELD_FORBIDDEN,
                  "may only be specified when mountPropagation is None or not specified");
}

static void check_mount_options(const kc__place *mounts, const kc__place *mount)
{
    kc__place propagation = without_index(mounts, mount, "mountPropagation");
    kc__place mode = without_index(mounts, mount, "recursiveReadOnly");
    check_sub_paths(mounts, mount);
    check_propagation(&propagation, mounts->up);
    check_recursive(&mode, mount);
}

static void check_folders(const kc__place *mounts, const kc_map *volumes, const others *devices)
{
    kc_scoped(kc_map) seen = {0};
    size_t i = 0;
    kc_items (mounts->value, value) {
        kc__place mount = kc__item(mounts, value, i++);
        kc__place name = kc__member(&mount, "name"), path = kc__member(&mount, "mountPath");
        if (!kc__there(&name))
            kc__wrong(&name, KC_FIELD_REQUIRED, NULL);
        if (!kc_map_get(volumes, kc__text(&name)))
            kc__wrong(&name, KC_FIELD_NOT_FOUND, NULL);
        if (!kc__there(&path))
            kc__wrong(&path, KC_FIELD_REQUIRED, NULL);
        if (kc_map_put(&seen, kc__text(&path), (void *)value))
            kc__wrong(&path, KC_FIELD_INVALID, "must be unique");
        check_overlap(&name, &path, devices, "volumeDevices");
        check_mount_options(mounts, &mount);
    }
}

/* ---- blocks ---- */

static void check_device_name(const kc__place *name, const kc_map *volumes, kc_map *seen)
{
    const kc_value *volume = kc_map_get(volumes, kc__text(name));
    if (!kc__there(name))
        kc__wrong(name, KC_FIELD_REQUIRED, NULL);
    else if (kc_map_put(seen, kc__text(name), seen))
        kc__wrong(name, KC_FIELD_INVALID, "must be unique");
    if (!volume)
        kc__wrong(name, KC_FIELD_NOT_FOUND, NULL);
    else if (!kc_get(volume, "persistentVolumeClaim") && !kc_get(volume, "ephemeral"))
        kc__wrong(name, KC_FIELD_INVALID,
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

static void check_device_path(const kc__place *path, kc_map *seen)
{
    if (!kc__there(path))
        kc__wrong(path, KC_FIELD_REQUIRED, NULL);
    if (kc_map_get(seen, kc__text(path)))
        kc__wrong(path, KC_FIELD_INVALID, "must be unique");
    if (steps_back(kc__text(path)))
        kc__wrong(path, KC_FIELD_INVALID, "can not contain backsteps ('..')");
    else
        kc_map_put(seen, kc__text(path), seen);
}

static void check_blocks(const kc__place *devices, const kc_map *volumes, const others *mounts)
{
    kc_scoped(kc_map) names = {0}, paths = {0};
    size_t i = 0;
    kc_items (devices->value, value) {
        kc__place device = kc__item(devices, value, i++);
        kc__place name = kc__member(&device, "name"), path = kc__member(&device, "devicePath");
        check_device_name(&name, volumes, &names);
        check_device_path(&path, &paths);
        check_overlap(&name, &path, mounts, "volumeMounts");
    }
}

void kc__check_mounts(const kc__place *container, const kc_map *volumes)
{
    kc__place mounts = kc__member(container, "volumeMounts");
    kc__place devices = kc__member(container, "volumeDevices");
    others folders = {0}, blocks = {0};
    gather(mounts.value, "mountPath", &folders);
    gather(devices.value, "devicePath", &blocks);
    check_folders(&mounts, volumes, &blocks);
    check_blocks(&devices, volumes, &folders);
    others_done(&folders);
    others_done(&blocks);
}
