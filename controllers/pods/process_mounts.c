/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_mounts.c: builds a container's root, as steps for the child.
 *
 * The image root is the operator's directory, often the host's own root, and must not be changed.
 * Yet a mountPath need not exist in it: so a directory that lacks one is replaced, in the
 * container's view, by a small tmpfs in which all its entries are bind-mounted again (a mirror) and
 * which can have one more entry. The root itself is always a mirror:
 *
 *     /       tmpfs; etc is the image's etc, usr the image's usr, bin a link to usr/bin
 *     /etc    tmpfs, mirrored, if a volume is mounted at /etc/app
 *     /dev    tmpfs: null, zero, full, random, urandom, tty, pts, shm
 *     /proc   of the pid namespace
 *     /sys    the host's, read-only
 *     /tmp    a directory of the container, also /var/tmp
 *
 * The runtime's directory and all paths with credentials are covered (process_hidden.c).
 *
 * Mirrors are built from the top down, before anything is mounted in them. Volumes are mounted in
 * order of the length of their paths, so that nested ones come later.
 *
 * To give containers one more mount: a row in base_mounts, or a step in kc__process_mounts_base.
 */
#include "pods/process_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MAX_MIRRORED 4096 /* Entries of one directory. */
#define MAX_MOUNTS   256  /* Volume mounts of one container. */

/* A volume mount of the pod: its target and source. */
typedef struct process_mounts_wanted {
    const char *path; /* As written, normalised. */
    const char *target;
    const char *source, *beneath;
    bool file;
    int flags;
} process_mounts_wanted;

typedef struct plan {
    kc__process_runtime *rt;
    kc__process_launch *launch;
    bool read_only;
    KC_VEC(const char *) mirrors; /* Path in the image, below the root. */
    KC_VEC(process_mounts_wanted) wanted;
} plan;

static void process_mounts_step(kc__process_launch *l, kc__process_mount_step step)
{
    kc_vec_push(&l->mounts, step);
}

static bool process_mounts_is_below(const char *path, const char *dir)
{
    const size_t n = strlen(dir);
    return strncmp(path, dir, n) == 0 && (path[n] == '/' || path[n] == '\0');
}

/* ---- mirrors ---- */

/* Converts a path of the image to one of the host. */
static const char *in_image(const kc__process_runtime *rt, kc__process_launch *l, const char *path)
{
    return kc_arena_printf(&l->arena, "%s%s", strcmp(rt->image, "/") == 0 ? "" : rt->image, path);
}

static void mirror_entry(plan *p, int dir_fd, const char *path, const char *name)
{
    kc__process_launch *l = p->launch;
    struct stat st;
    char link[PATH_MAX];
    if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return;
    const char *target = kc_arena_printf(&l->arena, "%s/%s", path[1] ? path : "", name);
    if (S_ISLNK(st.st_mode)) {
        const ssize_t n = readlinkat(dir_fd, name, link, sizeof(link));
        if (n > 0)
            process_mounts_step(l, (kc__process_mount_step){
                                       .kind = KC__PROCESS_MOUNT_LINK,
                                       .target = target,
                                       .source = kc_arena_strndup(&l->arena, link, (size_t)n)});
        return;
    }
    process_mounts_step(l, (kc__process_mount_step){.kind = S_ISDIR(st.st_mode)
                                                                ? KC__PROCESS_MOUNT_DIR
                                                                : KC__PROCESS_MOUNT_FILE,
                                                    .target = target});
    process_mounts_step(
        l, (kc__process_mount_step){.kind = KC__PROCESS_MOUNT_TREE,
                                    .target = target,
                                    .source = in_image(p->rt, l, target),
                                    .flags = p->read_only ? KC__PROCESS_MOUNT_READ_ONLY : 0});
}

/* Directories of which every container has its own. */
static bool is_replaced(const char *path, const char *name)
{
    static const char *const names[] = {"proc", "sys", "dev", "tmp", NULL};
    return !path[1] && kc_str_is_any(kc_cstr(name), names);
}

static int mirror(plan *p, const char *path, kc_error *err)
{
    struct open_how how = {.flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC,
                           .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
    const int dir_fd = (int)syscall(SYS_openat2, p->rt->image_fd, path, &how, sizeof(how));
    kc__process_names names = {0};
    if (dir_fd < 0 || kc__process_dir_names(dir_fd, &names, err) < 0)
        return kc__process_errno_set(err, "list %s of the image root", path);
    int done = 0;
    if (names.n > MAX_MIRRORED)
        done = kc_error_set(err, KC_INVALID,
                            "mountPath in %s does not exist in the image root, and that "
                            "directory has more than %d entries: create the mount point in the "
                            "image",
                            path, MAX_MIRRORED);
    else
        kc_vec_each (&names, name)
            if (!is_replaced(path, *name))
                mirror_entry(p, dir_fd, path, *name);
    kc__process_names_done(&names);
    close(dir_fd);
    return done;
}

static int by_length(const void *a, const void *b)
{
    const size_t x = strlen(*(const char *const *)a), y = strlen(*(const char *const *)b);
    return (x > y) - (x < y);
}

static int mirror_all(plan *p, kc_error *err)
{
    kc_vec_sort(&p->mirrors, by_length);
    kc_vec_each (&p->mirrors, path) {
        process_mounts_step(p->launch, (kc__process_mount_step){.kind = KC__PROCESS_MOUNT_NEW,
                                                                .source = "tmpfs",
                                                                .target = *path,
                                                                .options = "mode=755,size=1m",
                                                                .flags = KC__PROCESS_MOUNT_NO_DEV});
        if (mirror(p, *path, err) < 0)
            return kc_error_result(err);
    }
    return 0;
}

static void want_mirror(plan *p, const char *path)
{
    kc_vec_each (&p->mirrors, known)
        if (strcmp(*known, path) == 0)
            return;
    kc_vec_push(&p->mirrors, path);
}

/* ---- mount points ---- */

static bool process_mounts_is_own(const plan *p, const char *path, size_t before)
{
    static const char *const own[] = {"/proc", "/sys", "/dev", "/tmp"};
    for (size_t i = 0; i < KC_COUNT(own); i++)
        if (process_mounts_is_below(path, own[i]))
            return true;
    for (size_t i = 0; i < before; i++)
        if (process_mounts_is_below(path, p->wanted.items[i].path))
            return true;
    return false;
}

/* A path of the image with symlinks resolved; NULL: it does not exist. */
static const char *process_mounts_resolve(plan *p, const char *path)
{
    struct open_how how = {.flags = O_PATH | O_CLOEXEC,
                           .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
    const int fd = (int)syscall(SYS_openat2, p->rt->image_fd, path, &how, sizeof(how));
    if (fd < 0)
        return NULL;
    char name[64], text[PATH_MAX];
    snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
    const ssize_t n = readlink(name, text, sizeof(text) - 1);
    close(fd);
    if (n <= 0)
        return NULL;
    text[n] = '\0';
    const size_t skip = strcmp(p->rt->image, "/") == 0 ? 0 : strlen(p->rt->image);
    if (strncmp(text, p->rt->image, skip) != 0)
        return NULL;
    return text[skip] ? kc_arena_strndup(&p->launch->arena, text + skip, (size_t)n - skip) : "/";
}

/* Finds the mount point of w and the directory that must be mirrored for it. */
static int process_mounts_locate(plan *p, size_t at, kc_error *err)
{
    process_mounts_wanted *w = &p->wanted.items[at];
    w->target = w->path;
    if (process_mounts_is_own(p, w->path, at))
        return 0;
    size_t n = strlen(w->path);
    const char *there = process_mounts_resolve(p, w->path);
    while (!there) {
        while (n > 1 && w->path[n - 1] != '/')
            n--;
        n -= n > 1;
        there = n <= 1 ? "/"
                       : process_mounts_resolve(p, kc_arena_strndup(&p->launch->arena, w->path, n));
        n = n <= 1 ? 0 : n;
    }
    if (w->path[n])
        w->target = kc_arena_printf(&p->launch->arena, "%s%s", there[1] ? there : "", w->path + n);
    else
        w->target = there;
    if (w->path[n] && there[1] && !process_mounts_is_own(p, there, at))
        want_mirror(p, there);
    if (!w->target[1])
        return kc_error_set(err, KC_INVALID, "nothing can be mounted at \"/\"");
    return 0;
}

/* ---- mounts of every container ---- */

static void add_dir_mount(kc__process_launch *l, const char *target)
{
    process_mounts_step(l,
                        (kc__process_mount_step){.kind = KC__PROCESS_MOUNT_DIR, .target = target});
}

static const struct {
    const char *target, *type, *options;
    int flags;
} base_mounts[] = {
    {"/proc", "proc", NULL, KC__PROCESS_MOUNT_NO_DEV},
    {"/dev", "tmpfs", "mode=755,size=64k", KC__PROCESS_MOUNT_NO_DEV},
    {"/dev/pts", "devpts", "newinstance,ptmxmode=0666,mode=0620", KC__PROCESS_MOUNT_OPTIONAL},
    {"/dev/shm", "tmpfs", "mode=1777,size=64m", KC__PROCESS_MOUNT_NO_DEV},
};

static const struct {
    const char *path, *to;
} links[] = {
    {"/dev/fd", "/proc/self/fd"},       {"/dev/stdin", "/proc/self/fd/0"},
    {"/dev/stdout", "/proc/self/fd/1"}, {"/dev/stderr", "/proc/self/fd/2"},
    {"/dev/ptmx", "pts/ptmx"},
};

static void add_devices(kc__process_launch *l)
{
    static const char *const devices[] = {"/dev/null",   "/dev/zero",    "/dev/full",
                                          "/dev/random", "/dev/urandom", "/dev/tty"};
    for (size_t i = 0; i < KC_COUNT(devices); i++) {
        if (access(devices[i], F_OK) < 0)
            continue;
        process_mounts_step(
            l, (kc__process_mount_step){.kind = KC__PROCESS_MOUNT_FILE, .target = devices[i]});
        process_mounts_step(l, (kc__process_mount_step){.kind = KC__PROCESS_MOUNT_TREE,
                                                        .source = devices[i],
                                                        .target = devices[i],
                                                        .flags = KC__PROCESS_MOUNT_ONE});
    }
    for (size_t i = 0; i < KC_COUNT(links); i++)
        process_mounts_step(l, (kc__process_mount_step){.kind = KC__PROCESS_MOUNT_LINK,
                                                        .source = links[i].to,
                                                        .target = links[i].path});
}

/* A hidden path as one of the image; NULL: the image does not have it, or another mount replaces
 * it. */
static const char *hidden_in_image(const plan *p, size_t at)
{
    const char *path = p->rt->hidden.items[at];
    const size_t skip = strcmp(p->rt->image, "/") == 0 ? 0 : strlen(p->rt->image);
    if (skip && !process_mounts_is_below(path, p->rt->image))
        return NULL;
    for (size_t i = 0; i < at; i++)
        if (process_mounts_is_below(path, p->rt->hidden.items[i]))
            return NULL;
    path += skip;
    return !path[0] || !path[1] || process_mounts_is_own(p, path, 0) ? NULL : path;
}

/* Covers hidden paths (process_hidden.c). */
static void hide_all(plan *p)
{
    kc__process_launch *l = p->launch;
    struct stat st;
    for (size_t i = 0; i < p->rt->hidden.n; i++) {
        const char *path = hidden_in_image(p, i);
        if (!path || lstat(p->rt->hidden.items[i], &st) < 0)
            continue;
        const char *target = kc_arena_printf(&l->arena, "%s", path);
        if (S_ISDIR(st.st_mode))
            process_mounts_step(l, (kc__process_mount_step){.kind = KC__PROCESS_MOUNT_NEW,
                                                            .source = "tmpfs",
                                                            .target = target,
                                                            .options = "mode=000,size=4k",
                                                            .flags = KC__PROCESS_MOUNT_READ_ONLY |
                                                                     KC__PROCESS_MOUNT_NO_DEV});
        else
            process_mounts_step(l, (kc__process_mount_step){.kind = KC__PROCESS_MOUNT_TREE,
                                                            .source = p->rt->empty_file,
                                                            .target = target,
                                                            .flags = KC__PROCESS_MOUNT_READ_ONLY |
                                                                     KC__PROCESS_MOUNT_NO_DEV});
    }
}

static void add_scratch(plan *p, const char *scratch)
{
    kc__process_launch *l = p->launch;
    add_dir_mount(l, "/tmp");
    process_mounts_step(l, (kc__process_mount_step){.kind = KC__PROCESS_MOUNT_TREE,
                                                    .source = scratch,
                                                    .target = "/tmp",
                                                    .flags = KC__PROCESS_MOUNT_NO_DEV});
    const char *var = process_mounts_resolve(p, "/var/tmp");
    if (var && !process_mounts_is_below(var, "/tmp"))
        process_mounts_step(l, (kc__process_mount_step){.kind = KC__PROCESS_MOUNT_TREE,
                                                        .source = scratch,
                                                        .target = var,
                                                        .flags = KC__PROCESS_MOUNT_NO_DEV});
}

static int plan_base(plan *p, const char *scratch, kc_error *err)
{
    kc__process_launch *l = p->launch;
    if (mirror(p, "/", err) < 0 || mirror_all(p, err) < 0)
        return kc_error_result(err);
    for (size_t i = 0; i < KC_COUNT(base_mounts); i++) {
        add_dir_mount(l, base_mounts[i].target);
        process_mounts_step(l, (kc__process_mount_step){.kind = KC__PROCESS_MOUNT_NEW,
                                                        .source = base_mounts[i].type,
                                                        .target = base_mounts[i].target,
                                                        .options = base_mounts[i].options,
                                                        .flags = base_mounts[i].flags});
    }
    add_devices(l);
    add_dir_mount(l, "/sys");
    process_mounts_step(l, (kc__process_mount_step){.kind = KC__PROCESS_MOUNT_TREE,
                                                    .source = "/sys",
                                                    .target = "/sys",
                                                    .flags = KC__PROCESS_MOUNT_READ_ONLY |
                                                             KC__PROCESS_MOUNT_OPTIONAL});
    hide_all(p);
    add_scratch(p, scratch);
    return 0;
}

static void plan_done(plan *p)
{
    kc_vec_done(&p->mirrors);
    kc_vec_done(&p->wanted);
}

int kc__process_mounts_base(kc__process_runtime *rt, const char *scratch, bool read_only,
                            kc__process_launch *l, kc_error *err)
{
    __attribute__((cleanup(plan_done))) plan p = {.rt = rt, .launch = l, .read_only = read_only};
    return plan_base(&p, scratch, err);
}

/* ---- volumes ---- */

/* "/a//b/" as "/a/b"; NULL: not absolute, "/" or with "..". */
static const char *clean(kc__process_launch *l, const char *path)
{
    kc_scoped(kc_buf) out = {0};
    if (!path || path[0] != '/' || strlen(path) >= 2048)
        return NULL;
    for (kc_str rest = kc_cstr(path); rest.p;) {
        const kc_str part = kc_str_cut(&rest, '/');
        if (kc_str_is(part, ".."))
            return NULL;
        if (part.n && !kc_str_is(part, "."))
            kc_buf_printf(&out, "/%.*s", KC_ARG(part));
    }
    return out.n ? kc_arena_strndup(&l->arena, out.p, out.n) : NULL;
}

static const kc_volume *volume_named(const kc_pod *pod, const char *name)
{
    for (size_t i = 0; i < pod->spec.n_volumes; i++)
        if (strcmp(pod->spec.volumes[i].name, name) == 0)
            return &pod->spec.volumes[i];
    return NULL;
}

static int open_beneath(const char *base, const char *path, int *ret_base)
{
    struct open_how how = {.flags = O_PATH | O_CLOEXEC,
                           .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};
    *ret_base = open(base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return *ret_base < 0 ? -1 : (int)syscall(SYS_openat2, *ret_base, path, &how, sizeof(how));
}

/* Creates the directories of a subPath one by one; none may be a symlink. */
static int make_beneath(int base, const char *path, kc_error *err)
{
    int at = dup(base);
    if (at < 0)
        return kc__process_errno_set(err, "subPath %s", path);
    for (kc_str rest = kc_cstr(path); rest.p && at >= 0;) {
        kc_autofree char *part = kc_str_dup(kc_str_cut(&rest, '/'));
        const bool made = mkdirat(at, part, 0777) == 0;
        const int next = kc__process_dir_open(at, part, 0, err);
        if (next >= 0 && made)
            fchmod(next, 0777); /* Independent of our umask. */
        close(at);
        at = next;
    }
    return at;
}

/* Whether the subPath is a file; creates a directory if it does not exist and `make` is set. */
static int resolve_beneath(process_mounts_wanted *w, bool make, kc_error *err)
{
    int base;
    int fd = open_beneath(w->source, w->beneath, &base);
    if (fd < 0 && errno == ENOENT && make && base >= 0)
        fd = make_beneath(base, w->beneath, err);
    else if (fd < 0)
        kc__process_errno_set(err, "subPath %s", w->beneath);
    struct stat st = {0};
    if (fd >= 0 && fstat(fd, &st) == 0)
        w->file = !S_ISDIR(st.st_mode);
    if (base >= 0)
        close(base);
    if (fd >= 0)
        close(fd);
    return fd < 0 ? kc_error_result(err) : 0;
}

static int find_host_path(const kc__process_runtime *rt, process_mounts_wanted *w,
                          const kc_volume *volume, kc__process_launch *l, kc_error *err)
{
    kc_autofree char *real = realpath(volume->host_path->path, NULL);
    struct stat st;
    if (!real || stat(real, &st) < 0)
        return kc__process_errno_set(err, "hostPath %s", volume->host_path->path);
    if (kc__process_hidden_overlaps(rt, real))
        return kc_error_set(err, KC_INVALID,
                            "hostPath %s would expose the server's credentials, which are "
                            "hidden from pods",
                            volume->host_path->path);
    w->source = kc_arena_printf(&l->arena, "%s", real);
    w->file = !S_ISDIR(st.st_mode);
    return 0;
}

static int want_volume(plan *p, const kc_pod *pod, const kc_volume_mount *mount, kc_error *err)
{
    kc__process_launch *l = p->launch;
    const kc_volume *volume = volume_named(pod, mount->name);
    const bool filled = volume && kc__process_volume_is_filled(volume);
    process_mounts_wanted w = {.path = clean(l, mount->mount_path),
                               .flags =
                                   KC__PROCESS_MOUNT_NO_DEV |
                                   (mount->read_only || filled ? KC__PROCESS_MOUNT_READ_ONLY : 0)};
    if (!volume)
        return kc_error_set(err, KC_INVALID, "volume \"%s\" not found", mount->name);
    if (!w.path)
        return kc_error_set(err, KC_INVALID, "mountPath \"%s\" is not an absolute path below /",
                            mount->mount_path);
    if (volume->host_path && find_host_path(p->rt, &w, volume, l, err) < 0)
        return kc_error_result(err);
    if (!volume->host_path)
        w.source = kc_arena_printf(&l->arena, "%s/pods/%s/.volumes/%s", p->rt->dir,
                                   pod->metadata.uid, volume->name);
    if (mount->sub_path && mount->sub_path[0]) {
        if (!kc__process_file_path_ok(mount->sub_path))
            return kc_error_set(err, KC_INVALID, "subPath \"%s\" is not a path inside the volume",
                                mount->sub_path);
        w.beneath = kc_arena_printf(&l->arena, "%s", mount->sub_path);
        if (resolve_beneath(&w, !filled && !mount->read_only, err) < 0)
            return kc_error_result(err);
    }
    kc_vec_push(&p->wanted, w);
    return 0;
}

static int want_message(plan *p, const kc_pod *pod, const kc_container *c, int attempt,
                        kc_error *err)
{
    kc__process_launch *l = p->launch;
    const char *path = c->termination_message_path && c->termination_message_path[0]
                           ? c->termination_message_path
                           : "/dev/termination-log";
    process_mounts_wanted w = {
        .path = clean(l, path), .file = true, .flags = KC__PROCESS_MOUNT_NO_DEV};
    if (!w.path)
        return kc_error_set(err, KC_INVALID,
                            "terminationMessagePath \"%s\" is not an absolute path below /", path);
    w.source = kc_arena_printf(&l->arena, "%s/pods/%s/%s/%d.message", p->rt->dir, pod->metadata.uid,
                               c->name, attempt);
    kc_vec_push(&p->wanted, w);
    return 0;
}

/* Containers use the host network and therefore its resolver files, unless the pod mounts something
 * there itself. */
static void want_resolver(plan *p)
{
    static const char *const files[] = {"/etc/resolv.conf", "/etc/hosts"};
    if (strcmp(p->rt->image, "/") == 0)
        return;
    const size_t n = p->wanted.n;
    for (size_t i = 0; i < KC_COUNT(files); i++) {
        kc_autofree char *real = realpath(files[i], NULL);
        bool taken = !real;
        for (size_t k = 0; k < n; k++)
            taken = taken || process_mounts_is_below(files[i], p->wanted.items[k].path);
        if (!taken)
            kc_vec_push(&p->wanted,
                        (process_mounts_wanted){
                            .path = files[i],
                            .source = kc_arena_printf(&p->launch->arena, "%s", real),
                            .file = true,
                            .flags = KC__PROCESS_MOUNT_READ_ONLY | KC__PROCESS_MOUNT_NO_DEV});
    }
}

/* Stability does not matter: validation refuses equal paths. */
static int by_path_length(const void *a, const void *b)
{
    return by_length(&((const process_mounts_wanted *)a)->path,
                     &((const process_mounts_wanted *)b)->path);
}

static int want_all(plan *p, const kc_pod *pod, const kc_container *c, int attempt, kc_error *err)
{
    if (c->n_volume_mounts > MAX_MOUNTS)
        return kc_error_set(err, KC_INVALID, "more than %d volume mounts", MAX_MOUNTS);
    for (size_t i = 0; i < c->n_volume_mounts; i++)
        if (want_volume(p, pod, &c->volume_mounts[i], err) < 0)
            return kc_error_wrap(err, "container %s: volume %s", c->name, c->volume_mounts[i].name);
    if (want_message(p, pod, c, attempt, err) < 0)
        return kc_error_wrap(err, "container %s", c->name);
    want_resolver(p);
    kc_vec_sort(&p->wanted, by_path_length);
    for (size_t i = 0; i < p->wanted.n; i++)
        if (process_mounts_locate(p, i, err) < 0)
            return kc_error_wrap(err, "container %s", c->name);
    return 0;
}

static void add_wanted(kc__process_launch *l, const process_mounts_wanted *w)
{
    process_mounts_step(l, (kc__process_mount_step){.kind = w->file ? KC__PROCESS_MOUNT_FILE
                                                                    : KC__PROCESS_MOUNT_DIR,
                                                    .target = w->target});
    process_mounts_step(l, (kc__process_mount_step){.kind = KC__PROCESS_MOUNT_TREE,
                                                    .source = w->source,
                                                    .beneath = w->beneath,
                                                    .target = w->target,
                                                    .flags = w->flags});
}

int kc__process_mounts_plan(kc__process_runtime *rt, const kc_pod *pod,
                            const kc_container *container, int attempt, kc__process_launch *l,
                            kc_error *err)
{
    const kc_security_context *context = container->security_context;
    const bool read_only =
        context && context->read_only_root_filesystem && *context->read_only_root_filesystem;
    __attribute__((cleanup(plan_done))) plan p = {.rt = rt, .launch = l, .read_only = read_only};
    const char *scratch = kc_arena_printf(&l->arena, "%s/pods/%s/%s/%d.tmp", rt->dir,
                                          pod->metadata.uid, container->name, attempt);
    if (want_all(&p, pod, container, attempt, err) < 0 || plan_base(&p, scratch, err) < 0)
        return kc_error_result(err);
    kc_vec_each (&p.wanted, w)
        add_wanted(l, w);
    if (!read_only)
        return 0;
    kc_vec_each (&p.mirrors, path)
        process_mounts_step(
            l, (kc__process_mount_step){.kind = KC__PROCESS_MOUNT_SEAL, .target = *path});
    process_mounts_step(l, (kc__process_mount_step){.kind = KC__PROCESS_MOUNT_SEAL, .target = "/"});
    return 0;
}
