/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_volumes.c: the volumes of pods, under folder/pods/UID/.volumes.
 *
 * An emptyDir is a folder that all may write to, or a tmpfs where we may mount one. The files of a
 * ConfigMap, a Secret, a downwardAPI or a projection change all at once, for whoever has them open
 * or looks: they lie in a folder of their own, which one symlink points to (as the kubelet does):
 *
 *     ..2026_01_02_03_04_05.000000007/app.conf
 *     ..data -> ..2026_01_02_03_04_05.000000007        renamed over the old one: this is the change
 *     app.conf -> ..data/app.conf
 *
 * Containers have them read-only: nothing in them is anybody's but ours.
 *
 * To support another kind of volume: a branch in prepare_volume, and where it is, in
 * process_mounts.c.
 */
#include "pods/process_internal.h"

#include "kc/quantity.h"
#include "kc/time.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_FILES 10000
#define MAX_BYTES ((size_t)64 << 20)

bool kc__volume_is_filled(const kc_volume *v)
{
    return v->config_map || v->secret || v->projected.json || v->downward_api.json;
}

static int open_volumes(kc__process_runtime *rt, kc_str uid, bool make, kc_error *err)
{
    const int pod = kc__pod_folder(rt, uid, make, err);
    if (pod < 0)
        return pod;
    const int volumes = kc__folder_open(pod, ".volumes", make ? 0700 : 0, err);
    close(pod);
    return volumes;
}

/* ---- emptyDir ---- */

static bool is_mount(int at, const char *name)
{
    struct stat here, below;
    return fstat(at, &here) == 0 && fstatat(at, name, &below, AT_SYMLINK_NOFOLLOW) == 0 &&
           here.st_dev != below.st_dev;
}

/* In memory, where we may; else on disk, which is slower and not limited. */
static void mount_memory(kc__process_runtime *rt, const kc_pod *pod, const kc_volume *v,
                         int volumes)
{
    kc_quantity limit;
    char options[96] = "mode=0777,nr_inodes=100k";
    kc_autofree char *path =
        kc_asprintf("%s/pods/%s/.volumes/%s", rt->folder, pod->metadata.uid, v->name);
    if (is_mount(volumes, v->name))
        return;
    if (v->empty_dir->size_limit.text &&
        kc_quantity_parse(kc_cstr(v->empty_dir->size_limit.text), &limit, NULL) == 0 &&
        kc_quantity_sign(limit) > 0)
        snprintf(options, sizeof(options), "mode=0777,nr_inodes=100k,size=%lld",
                 (long long)kc_quantity_value(limit));
    if (mount("tmpfs", path, "tmpfs", MS_NOSUID | MS_NODEV, options) < 0)
        kc_log_info(rt->log, "an emptyDir of memory is on disk",
                    kc_kv("volume", (const char *)v->name), kc_kv("err", strerrordesc_np(errno)));
}

static int prepare_empty_dir(kc__process_runtime *rt, const kc_pod *pod, const kc_volume *v,
                             int volumes, kc_error *err)
{
    const bool there = faccessat(volumes, v->name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
    int fd = kc__folder_open(volumes, v->name, 0700, err);
    if (fd < 0)
        return fd;
    if (v->empty_dir->medium && strcmp(v->empty_dir->medium, "Memory") == 0) {
        close(fd);
        mount_memory(rt, pod, v, volumes);
        fd = kc__folder_open(volumes, v->name, 0, err);
    }
    const kc_pod_security_context *c = pod->spec.security_context;
    const bool group = c && c->fs_group && rt->allow_root && rt->isolation.root;
    if (fd >= 0 && !there && group && fchown(fd, (uid_t)-1, (gid_t)*c->fs_group) < 0)
        kc_log_debug(rt->log, "cannot set a volume's group");
    if (fd >= 0 && !there)
        fchmod(fd, group ? 02777 : 0777);
    if (fd >= 0)
        close(fd);
    return fd < 0 ? -1 : 0;
}

/* ---- hostPath ---- */

/* With the folders above it. */
static int make_folders(const char *path)
{
    kc_autofree char *part = kc_strdup(path);
    for (char *c = part + 1;; c++) {
        if (*c && *c != '/')
            continue;
        const char was = *c;
        *c = '\0';
        if (mkdir(part, 0755) < 0 && errno != EEXIST)
            return -1;
        *c = was;
        if (!was)
            return 0;
    }
}

static int make_empty_file(const char *path)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0644);
    if (fd >= 0)
        close(fd);
    return fd < 0 ? -1 : 0;
}

static int check_host_path(kc__process_runtime *rt, const kc_volume *v, kc_error *err)
{
    const char *type = v->host_path->type ? v->host_path->type : "";
    struct stat st;
    if (!rt->allow_root)
        return kc_error_set(err, KC_INVALID, "hostPath needs a node that allows root");
    if (!v->host_path->path || v->host_path->path[0] != '/')
        return kc_error_set(err, KC_INVALID, "hostPath \"%s\" is not absolute", v->host_path->path);
    if ((strcmp(type, "DirectoryOrCreate") == 0 && make_folders(v->host_path->path) < 0) ||
        (strcmp(type, "FileOrCreate") == 0 && make_empty_file(v->host_path->path) < 0))
        return kc__errno_set(err, "make hostPath %s", v->host_path->path);
    if (stat(v->host_path->path, &st) < 0)
        return kc__errno_set(err, "hostPath %s", v->host_path->path);
    const bool folder = strncmp(type, "Directory", 9) == 0, file = strncmp(type, "File", 4) == 0;
    if ((folder && !S_ISDIR(st.st_mode)) || (file && !S_ISREG(st.st_mode)))
        return kc_error_set(err, KC_INVALID, "hostPath type check failed: %s is not a %s",
                            v->host_path->path, folder ? "directory" : "file");
    return 0;
}

/* ---- all of a pod's ---- */

static int prepare_volume(kc__process_runtime *rt, const kc_pod *pod, const kc_volume *v,
                          int volumes, kc_error *err)
{
    if (!v->name || !kc__file_name_ok(kc_cstr(v->name)))
        return kc_error_set(err, KC_INVALID, "this is no name of a volume");
    if (v->empty_dir)
        return prepare_empty_dir(rt, pod, v, volumes, err);
    if (v->host_path)
        return check_host_path(rt, v, err);
    if (!kc__volume_is_filled(v))
        return kc_error_set(err, KC_INVALID, "this node has no volumes of its kind");
    const int fd = kc__folder_open(volumes, v->name, 0755, err);
    if (fd < 0)
        return fd;
    fchmod(fd, 0755);
    close(fd);
    return 0;
}

int kc__volumes_prepare(kc__process_runtime *rt, const kc_pod *pod, kc_error *err)
{
    const int volumes = open_volumes(rt, kc_cstr(pod->metadata.uid), true, err);
    if (volumes < 0)
        return volumes;
    int done = 0;
    for (size_t i = 0; i < pod->spec.n_volumes && done == 0; i++) {
        done = prepare_volume(rt, pod, &pod->spec.volumes[i], volumes, err);
        if (done < 0)
            done = kc_error_wrap(err, "volume %s", pod->spec.volumes[i].name);
    }
    close(volumes);
    return done;
}

void kc__volumes_unmount(kc__process_runtime *rt, const char *uid)
{
    const int volumes = open_volumes(rt, kc_cstr(uid), false, NULL);
    kc__names names = {0};
    if (volumes >= 0)
        kc__folder_names(volumes, &names, NULL);
    kc_vec_each (&names, name) {
        kc_autofree char *path = kc_asprintf("%s/pods/%s/.volumes/%s", rt->folder, uid, *name);
        if (is_mount(volumes, *name) && umount2(path, MNT_DETACH | UMOUNT_NOFOLLOW) < 0)
            kc_log_warn(rt->log, "cannot unmount a volume", kc_kv("path", (const char *)path),
                        kc_kv("err", strerrordesc_np(errno)));
    }
    kc__names_done(&names);
    if (volumes >= 0)
        close(volumes);
}

/* ---- files that are given ---- */

/* The folder of a path in the new data, made part by part. */
static int open_above(int data, kc_str path, char **ret_name, kc_error *err)
{
    int at = dup(data);
    while (at >= 0) {
        kc_str rest = path;
        const kc_str part = kc_str_cut(&rest, '/');
        if (!rest.p) {
            *ret_name = kc_str_dup(part);
            break;
        }
        kc_autofree char *name = kc_str_dup(part);
        const int next = kc__folder_open(at, name, 0755, err);
        if (next >= 0)
            fchmod(next, 0755);
        close(at);
        at = next;
        path = rest;
    }
    return at;
}

/* The user that containers run as owns them: a mode of 0400 is for them to read. */
static int write_file(kc__process_runtime *rt, int data, const kc__volume_file *file,
                      kc__identity who, kc_error *err)
{
    kc_autofree char *name = NULL;
    const int folder = open_above(data, kc_cstr(file->path), &name, err);
    if (folder < 0)
        return -1;
    const int fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    int done = 0;
    if (fd < 0 || kc__write_whole(fd, file->bytes) < 0 ||
        (rt->isolation.root && fchown(fd, who.uid, who.group) < 0) ||
        fchmod(fd, (mode_t)(file->mode ? file->mode & 07777 : 0644)) < 0)
        done = kc__errno_set(err, "write %s", file->path);
    if (fd >= 0)
        close(fd);
    close(folder);
    return done;
}

/* Names and modes, one a line: what the volume has. Beside it, for containers see what is in it. */
static void list_files(const kc__volume_file *files, size_t n, kc_buf *out)
{
    for (size_t i = 0; i < n; i++)
        kc_buf_printf(out, "%o %s\n", (unsigned)files[i].mode, files[i].path);
}

static void list_name(const kc_volume *volume, char ret[280])
{
    snprintf(ret, 280, ".%.253s.files", volume->name);
}

/* Whether the volume has exactly these files already. */
static bool is_same(int volumes, int fd, const kc_volume *volume, const kc__volume_file *files,
                    size_t n)
{
    kc_scoped(kc_buf) list = {0}, old = {0};
    char name[280];
    list_name(volume, name);
    list_files(files, n, &list);
    if (!kc__file_bytes(volumes, name, list.n + 1, false, &old) ||
        !kc_str_eq(kc_buf_str(&list), kc_buf_str(&old)))
        return false;
    for (size_t i = 0; i < n; i++) {
        kc_scoped(kc_buf) bytes = {0};
        kc_autofree char *path = kc_asprintf("..data/%s", files[i].path);
        if (!kc__file_bytes(fd, path, files[i].bytes.n + 1, false, &bytes) ||
            !kc_str_eq(kc_buf_str(&bytes), files[i].bytes))
            return false;
    }
    return true;
}

/* The first part of a path: what is seen in the volume itself. */
static kc_str first_part(const char *path)
{
    kc_str rest = kc_cstr(path);
    return kc_str_cut(&rest, '/');
}

static int link_files(int volume, const kc__volume_file *files, size_t n, kc_error *err)
{
    for (size_t i = 0; i < n; i++) {
        const kc_str part = first_part(files[i].path);
        kc_autofree char *name = kc_str_dup(part);
        kc_autofree char *to = kc_asprintf("..data/%s", name);
        if (symlinkat(to, volume, name) < 0 && errno != EEXIST)
            return kc__errno_set(err, "link %s", name);
    }
    return 0;
}

/* Links and data that are not of these files any more. */
static void remove_others(int volume, const char *data, const kc__volume_file *files, size_t n)
{
    kc_scoped(kc_map) keep = {0};
    kc__names names = {0};
    for (size_t i = 0; i < n; i++)
        kc_map_put(&keep, first_part(files[i].path), (void *)&files[i]);
    kc_map_put(&keep, KC_STR("..data"), (void *)data);
    kc_map_put(&keep, kc_cstr(data), (void *)data);
    kc__folder_names(volume, &names, NULL);
    kc_vec_each (&names, name)
        if (!kc_map_get(&keep, kc_cstr(*name)) && unlinkat(volume, *name, 0) < 0)
            kc__folder_remove(volume, *name, NULL);
    kc__names_done(&names);
}

static int check_files(const kc__volume_file *files, size_t n, kc_error *err)
{
    size_t bytes = 0;
    if (n > MAX_FILES)
        return kc_error_set(err, KC_INVALID, "more than %d files", MAX_FILES);
    for (size_t i = 0; i < n; i++) {
        if (!kc__file_path_ok(files[i].path) || kc_str_starts(kc_cstr(files[i].path), KC_STR("..")))
            return kc_error_set(err, KC_INVALID, "\"%s\" is no path of a file in a volume",
                                files[i].path);
        bytes += files[i].bytes.n;
        if (bytes > MAX_BYTES)
            return kc_error_set(err, KC_INVALID, "its files have more than %zu bytes", MAX_BYTES);
    }
    return 0;
}

static void data_name(kc__process_runtime *rt, char ret[64])
{
    const kc_time now = kc_clock_wall(rt->clock);
    char text[KC_TIME_TEXT];
    kc_str seconds = kc_time_print(now, text);
    snprintf(ret, 64, "..%.*s.%09lld", (int)seconds.n - 1, seconds.p, (long long)(now % KC_SECOND));
    for (char *c = ret; *c; c++)
        if (*c == '-' || *c == ':' || *c == 'T')
            *c = '_';
}

static int write_all(kc__process_runtime *rt, int volume, const char *name, kc__identity who,
                     const kc__volume_file *files, size_t n, kc_error *err)
{
    kc__folder_remove(volume, name, NULL);
    const int data = kc__folder_open(volume, name, 0755, err);
    if (data < 0)
        return -1;
    fchmod(data, 0755);
    int done = 0;
    for (size_t i = 0; i < n && done == 0; i++)
        done = write_file(rt, data, &files[i], who, err);
    close(data);
    if (done < 0)
        kc__folder_remove(volume, name, NULL);
    return done;
}

static int replace(kc__process_runtime *rt, int volume, kc__identity who,
                   const kc__volume_file *files, size_t n, kc_error *err)
{
    char name[64];
    data_name(rt, name);
    if (write_all(rt, volume, name, who, files, n, err) < 0)
        return -1;
    unlinkat(volume, "..data_tmp", 0);
    if (symlinkat(name, volume, "..data_tmp") < 0 ||
        renameat(volume, "..data_tmp", volume, "..data") < 0)
        return kc__errno_set(err, "replace the files");
    if (link_files(volume, files, n, err) < 0)
        return -1;
    remove_others(volume, name, files, n);
    return 0;
}

/* Of the pod, for a volume is not one container's. */
static kc__identity owner_of(const kc__process_runtime *rt, const kc_pod *pod)
{
    const kc_pod_security_context *c = pod->spec.security_context;
    kc__identity who = rt->user;
    if (c && rt->allow_root && c->run_as_user)
        who.uid = (uid_t)*c->run_as_user;
    if (c && rt->allow_root && c->fs_group)
        who.group = (gid_t)*c->fs_group;
    return who;
}

static int fill(kc__process_runtime *rt, const kc_pod *pod, const kc_volume *volume, int volumes,
                const kc__volume_file *files, size_t n, kc_error *err)
{
    kc_scoped(kc_buf) list = {0};
    char name[280];
    const int fd = kc__folder_open(volumes, volume->name, 0755, err);
    if (fd < 0)
        return -1;
    int done = 0;
    if (!is_same(volumes, fd, volume, files, n)) {
        list_name(volume, name);
        list_files(files, n, &list);
        unlinkat(volumes, name, 0); /* Whoever is interrupted here does it again. */
        done = replace(rt, fd, owner_of(rt, pod), files, n, err);
        if (done == 0)
            done = kc__file_replace(volumes, name, kc_buf_str(&list), err);
    }
    close(fd);
    return done;
}

int kc__volume_fill(kc__process_runtime *rt, const kc_pod *pod, const kc_volume *volume,
                    const kc__volume_file *files, size_t n, kc_error *err)
{
    if (check_files(files, n, err) < 0)
        return kc_error_wrap(err, "volume %s", volume->name);
    if (!kc__file_name_ok(kc_cstr(volume->name)))
        return kc_error_set(err, KC_INVALID, "\"%s\" is no name of a volume", volume->name);
    const int volumes = open_volumes(rt, kc_cstr(pod->metadata.uid), true, err);
    const int done = volumes < 0 ? -1 : fill(rt, pod, volume, volumes, files, n, err);
    if (volumes >= 0)
        close(volumes);
    return done < 0 ? kc_error_wrap(err, "volume %s", volume->name) : 0;
}
