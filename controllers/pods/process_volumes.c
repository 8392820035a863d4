/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_volumes.c: the volumes of pods, under dir/pods/UID/.volumes.
 *
 * An emptyDir is a world-writable directory, or a tmpfs if one can be mounted. The files of a
 * ConfigMap, Secret, downwardAPI or projected volume change atomically for all readers: they are in
 * a directory of their own, to which one symlink points (as in the kubelet):
 *
 *     ..2026_01_02_03_04_05.000000007/app.conf
 *     ..data -> ..2026_01_02_03_04_05.000000007        renamed over the old link: the switch
 *     app.conf -> ..data/app.conf
 *
 * Containers mount them read-only: only this file writes to them.
 *
 * To support another volume type: a branch in prepare_volume, and its source in process_mounts.c.
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

bool kc__process_volume_is_filled(const kc_volume *v)
{
    return v->config_map || v->secret || v->projected.json || v->downward_api.json;
}

static int open_volumes(kc__process_runtime *rt, kc_str uid, bool make, kc_error *err)
{
    const int pod = kc__process_pod_dir(rt, uid, make, err);
    if (pod < 0)
        return pod;
    const int volumes = kc__process_dir_open(pod, ".volumes", make ? 0700 : 0, err);
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

/* In memory if permitted; else on disk, which is slower and not limited. */
static void mount_memory(kc__process_runtime *rt, const kc_pod *pod, const kc_volume *v,
                         int volumes)
{
    kc_quantity limit;
    char options[96] = "mode=0777,nr_inodes=100k";
    kc_autofree char *path =
        kc_asprintf("%s/pods/%s/.volumes/%s", rt->dir, pod->metadata.uid, v->name);
    if (is_mount(volumes, v->name))
        return;
    if (v->empty_dir->size_limit.text &&
        kc_quantity_parse(kc_cstr(v->empty_dir->size_limit.text), &limit, NULL) == 0 &&
        kc_quantity_sign(limit) > 0)
        snprintf(options, sizeof(options), "mode=0777,nr_inodes=100k,size=%lld",
                 (long long)kc_quantity_value(limit));
    if (mount("tmpfs", path, "tmpfs", MS_NOSUID | MS_NODEV, options) < 0)
        kc_log_info(rt->log, "cannot mount tmpfs for an emptyDir with medium Memory; using disk",
                    kc_kv("volume", (const char *)v->name), kc_kv("err", strerrordesc_np(errno)));
}

static int prepare_empty_dir(kc__process_runtime *rt, const kc_pod *pod, const kc_volume *v,
                             int volumes, kc_error *err)
{
    const bool there = faccessat(volumes, v->name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
    int fd = kc__process_dir_open(volumes, v->name, 0700, err);
    if (fd < 0)
        return fd;
    if (v->empty_dir->medium && strcmp(v->empty_dir->medium, "Memory") == 0) {
        close(fd);
        mount_memory(rt, pod, v, volumes);
        fd = kc__process_dir_open(volumes, v->name, 0, err);
    }
    const kc_pod_security_context *c = pod->spec.security_context;
    const bool group = c && c->fs_group && rt->allow_root && rt->isolation.root;
    if (fd >= 0 && !there && group && fchown(fd, (uid_t)-1, (gid_t)*c->fs_group) < 0)
        kc_log_debug(rt->log, "failed to set the group of a volume");
    if (fd >= 0 && !there)
        fchmod(fd, group ? 02777 : 0777);
    if (fd >= 0)
        close(fd);
    return fd < 0 ? kc_error_result(err) : 0;
}

/* ---- hostPath ---- */

/* Also creates parent directories. */
static int make_dirs(const char *path)
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
        return kc_error_set(err, KC_INVALID, "hostPath requires --pods-allow-root");
    if (!v->host_path->path || v->host_path->path[0] != '/')
        return kc_error_set(err, KC_INVALID, "hostPath \"%s\" is not an absolute path",
                            v->host_path->path);
    if ((strcmp(type, "DirectoryOrCreate") == 0 && make_dirs(v->host_path->path) < 0) ||
        (strcmp(type, "FileOrCreate") == 0 && make_empty_file(v->host_path->path) < 0))
        return kc__process_errno_set(err, "create hostPath %s", v->host_path->path);
    if (stat(v->host_path->path, &st) < 0)
        return kc__process_errno_set(err, "hostPath %s", v->host_path->path);
    const bool is_dir = strncmp(type, "Directory", 9) == 0, file = strncmp(type, "File", 4) == 0;
    if ((is_dir && !S_ISDIR(st.st_mode)) || (file && !S_ISREG(st.st_mode)))
        return kc_error_set(err, KC_INVALID, "hostPath type check failed: %s is not a %s",
                            v->host_path->path, is_dir ? "directory" : "file");
    return 0;
}

/* ---- volumes of a pod ---- */

static int prepare_volume(kc__process_runtime *rt, const kc_pod *pod, const kc_volume *v,
                          int volumes, kc_error *err)
{
    if (!v->name || !kc__process_file_name_ok(kc_cstr(v->name)))
        return kc_error_set(err, KC_INVALID, "invalid volume name");
    if (v->empty_dir)
        return prepare_empty_dir(rt, pod, v, volumes, err);
    if (v->host_path)
        return check_host_path(rt, v, err);
    if (!kc__process_volume_is_filled(v))
        return kc_error_set(err, KC_INVALID, "unsupported volume type");
    const int fd = kc__process_dir_open(volumes, v->name, 0755, err);
    if (fd < 0)
        return fd;
    fchmod(fd, 0755);
    close(fd);
    return 0;
}

int kc__process_volumes_prepare(kc__process_runtime *rt, const kc_pod *pod, kc_error *err)
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

void kc__process_volumes_unmount(kc__process_runtime *rt, const char *uid)
{
    const int volumes = open_volumes(rt, kc_cstr(uid), false, NULL);
    kc__process_names names = {0};
    if (volumes >= 0)
        kc__process_dir_names(volumes, &names, NULL);
    kc_vec_each (&names, name) {
        kc_autofree char *path = kc_asprintf("%s/pods/%s/.volumes/%s", rt->dir, uid, *name);
        if (is_mount(volumes, *name) && umount2(path, MNT_DETACH | UMOUNT_NOFOLLOW) < 0)
            kc_log_warn(rt->log, "failed to unmount volume", kc_kv("path", (const char *)path),
                        kc_kv("err", strerrordesc_np(errno)));
    }
    kc__process_names_done(&names);
    if (volumes >= 0)
        close(volumes);
}

/* ---- generated files ---- */

/* The directory of a path in the new data, created part by part. */
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
        const int next = kc__process_dir_open(at, name, 0755, err);
        if (next >= 0)
            fchmod(next, 0755);
        close(at);
        at = next;
        path = rest;
    }
    return at;
}

/* Owned by the container's user: mode 0400 must be readable for it. */
static int write_file(kc__process_runtime *rt, int data, const kc__pod_volume_file *file,
                      kc__process_identity who, kc_error *err)
{
    kc_autofree char *name = NULL;
    const int parent_fd = open_above(data, kc_cstr(file->path), &name, err);
    if (parent_fd < 0)
        return kc_error_result(err);
    const int fd = openat(parent_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    int done = 0;
    if (fd < 0 || kc__process_write_whole(fd, file->bytes) < 0 ||
        (rt->isolation.root && fchown(fd, who.uid, who.group) < 0) ||
        fchmod(fd, (mode_t)(file->mode ? file->mode & 07777 : 0644)) < 0)
        done = kc__process_errno_set(err, "write %s", file->path);
    if (fd >= 0)
        close(fd);
    close(parent_fd);
    return done;
}

/* Names and modes, one per line: the content of the volume. Kept beside it, because containers see
 * everything inside. */
static void list_files(const kc__pod_volume_file *files, size_t n, kc_buf *out)
{
    for (size_t i = 0; i < n; i++)
        kc_buf_printf(out, "%o %s\n", (unsigned)files[i].mode, files[i].path);
}

static void list_name(const kc_volume *volume, char ret[280])
{
    snprintf(ret, 280, ".%.253s.files", volume->name);
}

/* Whether the volume has exactly these files. */
static bool process_volumes_is_same(int volumes, int fd, const kc_volume *volume,
                                    const kc__pod_volume_file *files, size_t n)
{
    kc_scoped(kc_buf) list = {0}, old = {0};
    char name[280];
    list_name(volume, name);
    list_files(files, n, &list);
    if (!kc__process_file_bytes(volumes, name, list.n + 1, false, &old) ||
        !kc_str_eq(kc_buf_str(&list), kc_buf_str(&old)))
        return false;
    for (size_t i = 0; i < n; i++) {
        kc_scoped(kc_buf) bytes = {0};
        kc_autofree char *path = kc_asprintf("..data/%s", files[i].path);
        if (!kc__process_file_bytes(fd, path, files[i].bytes.n + 1, false, &bytes) ||
            !kc_str_eq(kc_buf_str(&bytes), files[i].bytes))
            return false;
    }
    return true;
}

/* The first part of a path: the visible entry in the volume. */
static kc_str first_part(const char *path)
{
    kc_str rest = kc_cstr(path);
    return kc_str_cut(&rest, '/');
}

static int link_files(int volume, const kc__pod_volume_file *files, size_t n, kc_error *err)
{
    for (size_t i = 0; i < n; i++) {
        const kc_str part = first_part(files[i].path);
        kc_autofree char *name = kc_str_dup(part);
        kc_autofree char *to = kc_asprintf("..data/%s", name);
        if (symlinkat(to, volume, name) < 0 && errno != EEXIST)
            return kc__process_errno_set(err, "link %s", name);
    }
    return 0;
}

/* Removes links and data of earlier files. */
static void remove_others(int volume, const char *data, const kc__pod_volume_file *files, size_t n)
{
    kc_scoped(kc_map) keep = {0};
    kc__process_names names = {0};
    for (size_t i = 0; i < n; i++)
        kc_map_put(&keep, first_part(files[i].path), (void *)&files[i]);
    kc_map_put(&keep, KC_STR("..data"), (void *)data);
    kc_map_put(&keep, kc_cstr(data), (void *)data);
    kc__process_dir_names(volume, &names, NULL);
    kc_vec_each (&names, name)
        if (!kc_map_get(&keep, kc_cstr(*name)) && unlinkat(volume, *name, 0) < 0)
            kc__process_dir_remove(volume, *name, NULL);
    kc__process_names_done(&names);
}

static int check_files(const kc__pod_volume_file *files, size_t n, kc_error *err)
{
    size_t bytes = 0;
    if (n > MAX_FILES)
        return kc_error_set(err, KC_INVALID, "more than %d files", MAX_FILES);
    for (size_t i = 0; i < n; i++) {
        if (!kc__process_file_path_ok(files[i].path) ||
            kc_str_starts(kc_cstr(files[i].path), KC_STR("..")))
            return kc_error_set(err, KC_INVALID, "\"%s\" is not a valid file path in a volume",
                                files[i].path);
        bytes += files[i].bytes.n;
        if (bytes > MAX_BYTES)
            return kc_error_set(err, KC_INVALID, "the files are larger than %zu bytes in total",
                                MAX_BYTES);
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

static int process_volumes_write_all(kc__process_runtime *rt, int volume, const char *name,
                                     kc__process_identity who, const kc__pod_volume_file *files,
                                     size_t n, kc_error *err)
{
    kc__process_dir_remove(volume, name, NULL);
    const int data = kc__process_dir_open(volume, name, 0755, err);
    if (data < 0)
        return kc_error_result(err);
    fchmod(data, 0755);
    int done = 0;
    for (size_t i = 0; i < n && done == 0; i++)
        done = write_file(rt, data, &files[i], who, err);
    close(data);
    if (done < 0)
        kc__process_dir_remove(volume, name, NULL);
    return done;
}

static int process_volumes_replace(kc__process_runtime *rt, int volume, kc__process_identity who,
                                   const kc__pod_volume_file *files, size_t n, kc_error *err)
{
    char name[64];
    data_name(rt, name);
    if (process_volumes_write_all(rt, volume, name, who, files, n, err) < 0)
        return kc_error_result(err);
    unlinkat(volume, "..data_tmp", 0);
    if (symlinkat(name, volume, "..data_tmp") < 0 ||
        renameat(volume, "..data_tmp", volume, "..data") < 0)
        return kc__process_errno_set(err, "replace the volume's files");
    if (link_files(volume, files, n, err) < 0)
        return kc_error_result(err);
    remove_others(volume, name, files, n);
    return 0;
}

static int process_volumes_fill(kc__process_runtime *rt, const kc_pod *pod, const kc_volume *volume,
                                int volumes, const kc__pod_volume_file *files, size_t n,
                                kc_error *err)
{
    kc_scoped(kc_buf) list = {0};
    char name[280];
    kc__process_identity who;
    if (kc__process_identity_of_pod(rt, pod, &who, err) < 0)
        return kc_error_result(err);
    const int fd = kc__process_dir_open(volumes, volume->name, 0755, err);
    if (fd < 0)
        return kc_error_result(err);
    int done = 0;
    if (!process_volumes_is_same(volumes, fd, volume, files, n)) {
        list_name(volume, name);
        list_files(files, n, &list);
        unlinkat(volumes, name, 0); /* An interrupted update is repeated. */
        done = process_volumes_replace(rt, fd, who, files, n, err);
        if (done == 0)
            done = kc__process_file_replace(volumes, name, kc_buf_str(&list), err);
    }
    close(fd);
    return done;
}

int kc__process_volume_fill(kc__process_runtime *rt, const kc_pod *pod, const kc_volume *volume,
                            const kc__pod_volume_file *files, size_t n, kc_error *err)
{
    if (check_files(files, n, err) < 0)
        return kc_error_wrap(err, "volume %s", volume->name);
    if (!kc__process_file_name_ok(kc_cstr(volume->name)))
        return kc_error_set(err, KC_INVALID, "\"%s\" is not a valid volume name", volume->name);
    const int volumes = open_volumes(rt, kc_cstr(pod->metadata.uid), true, err);
    const int done =
        volumes < 0 ? -1 : process_volumes_fill(rt, pod, volume, volumes, files, n, err);
    if (volumes >= 0)
        close(volumes);
    return done < 0 ? kc_error_wrap(err, "volume %s", volume->name) : 0;
}
