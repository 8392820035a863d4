/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_mounts.c: what a container's root is made of, as steps for the child.
 *
 * The image is the operator's folder, often the machine's own root, and is not to be changed. Yet a
 * mountPath need not be there: so a folder that lacks one is replaced, in the container's view, by
 * a small tmpfs in which everything that was in it is mounted again ("mirrored"), and which can
 * have one entry more. The root itself always is such a mirror:
 *
 *     /            tmpfs                      / etc -> image/etc, usr -> image/usr, bin ->
 * "usr/bin" /etc         tmpfs, mirrored,           if some volume is mounted at /etc/app /etc/app
 * the volume /dev         tmpfs: null, zero, full, random, urandom, tty, pts, shm /proc        of
 * the pid namespace /sys         the machine's, read-only /tmp         a folder of the container's
 * own, and /var/tmp FOLDER       ours, hidden: other pods' volumes and logs are in it
 *
 * Mirrors are made from the top down, before anything is mounted in them. Volumes are mounted in
 * the order of their paths' lengths, so that those inside of others come later.
 *
 * To give containers one more mount: a row in base_mounts, or a step in kc__mounts_base.
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

#define MAX_MIRRORED 4096 /* Entries of one folder. */
#define MAX_MOUNTS   256  /* Volume mounts of one container. */

/* A mount of the pod's: where it is to be, and from where. */
typedef struct wanted {
    const char *path; /* As written, cleaned. */
    const char *target;
    const char *source, *beneath;
    bool file;
    int flags;
} wanted;

typedef struct plan {
    kc__process_runtime *rt;
    kc__launch *launch;
    bool read_only;
    KC_VEC(const char *) mirrors; /* In the image, besides the root. */
    KC_VEC(wanted) wanted;
} plan;

static void step(kc__launch *l, kc__mount_step step)
{
    kc_vec_push(&l->mounts, step);
}

static bool is_below(const char *path, const char *folder)
{
    const size_t n = strlen(folder);
    return strncmp(path, folder, n) == 0 && (path[n] == '/' || path[n] == '\0');
}

/* ---- mirrors ---- */

/* A path of the image as one of ours. */
static const char *in_image(const kc__process_runtime *rt, kc__launch *l, const char *path)
{
    return kc_arena_printf(&l->arena, "%s%s", strcmp(rt->image, "/") == 0 ? "" : rt->image, path);
}

static void mirror_entry(plan *p, int folder, const char *path, const char *name)
{
    kc__launch *l = p->launch;
    struct stat st;
    char link[PATH_MAX];
    if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return;
    const char *target = kc_arena_printf(&l->arena, "%s/%s", path[1] ? path : "", name);
    if (S_ISLNK(st.st_mode)) {
        const ssize_t n = readlinkat(folder, name, link, sizeof(link));
        if (n > 0)
            step(l, (kc__mount_step){.kind = KC__MOUNT_LINK,
                                     .target = target,
                                     .source = kc_arena_strndup(&l->arena, link, (size_t)n)});
        return;
    }
    step(l, (kc__mount_step){.kind = S_ISDIR(st.st_mode) ? KC__MOUNT_FOLDER : KC__MOUNT_FILE,
                             .target = target});
    step(l, (kc__mount_step){.kind = KC__MOUNT_TREE,
                             .target = target,
                             .source = in_image(p->rt, l, target),
                             .flags = p->read_only ? KC__MOUNT_READ_ONLY : 0});
}

/* Those that a container has its own of. */
static bool is_replaced(const char *path, const char *name)
{
    static const char *const names[] = {"proc", "sys", "dev", "tmp", NULL};
    return !path[1] && kc_str_is_any(kc_cstr(name), names);
}

static int mirror(plan *p, const char *path, kc_error *err)
{
    struct open_how how = {.flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC,
                           .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
    const int folder = (int)syscall(SYS_openat2, p->rt->image_fd, path, &how, sizeof(how));
    kc__names names = {0};
    if (folder < 0 || kc__folder_names(folder, &names, err) < 0)
        return kc__errno_set(err, "list %s of the image", path);
    int done = 0;
    if (names.n > MAX_MIRRORED)
        done = kc_error_set(err, KC_INVALID,
                            "a mountPath in %s is not in the image, and that folder has more than "
                            "%d entries: make it there",
                            path, MAX_MIRRORED);
    else
        kc_vec_each (&names, name)
            if (!is_replaced(path, *name))
                mirror_entry(p, folder, path, *name);
    kc__names_done(&names);
    close(folder);
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
        step(p->launch, (kc__mount_step){.kind = KC__MOUNT_NEW,
                                         .source = "tmpfs",
                                         .target = *path,
                                         .options = "mode=755,size=1m",
                                         .flags = KC__MOUNT_NO_DEV});
        if (mirror(p, *path, err) < 0)
            return -1;
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

/* ---- where a mount goes ---- */

static bool is_own(const plan *p, const char *path, size_t before)
{
    static const char *const own[] = {"/proc", "/sys", "/dev", "/tmp"};
    for (size_t i = 0; i < KC_COUNT(own); i++)
        if (is_below(path, own[i]))
            return true;
    for (size_t i = 0; i < before; i++)
        if (is_below(path, p->wanted.items[i].path))
            return true;
    return false;
}

/* What a path of the image is called when its symlinks are followed; NULL: it is not there. */
static const char *resolve(plan *p, const char *path)
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

/* Finds where w is mounted, and which folder must be mirrored for it. */
static int locate(plan *p, size_t at, kc_error *err)
{
    wanted *w = &p->wanted.items[at];
    w->target = w->path;
    if (is_own(p, w->path, at))
        return 0;
    size_t n = strlen(w->path);
    const char *there = resolve(p, w->path);
    while (!there) {
        while (n > 1 && w->path[n - 1] != '/')
            n--;
        n -= n > 1;
        there = n <= 1 ? "/" : resolve(p, kc_arena_strndup(&p->launch->arena, w->path, n));
        n = n <= 1 ? 0 : n;
    }
    if (w->path[n])
        w->target = kc_arena_printf(&p->launch->arena, "%s%s", there[1] ? there : "", w->path + n);
    else
        w->target = there;
    if (w->path[n] && there[1] && !is_own(p, there, at))
        want_mirror(p, there);
    if (!w->target[1])
        return kc_error_set(err, KC_INVALID, "nothing can be mounted at \"/\"");
    return 0;
}

/* ---- what every container has ---- */

static void add_folder(kc__launch *l, const char *target)
{
    step(l, (kc__mount_step){.kind = KC__MOUNT_FOLDER, .target = target});
}

static const struct {
    const char *target, *type, *options;
    int flags;
} base_mounts[] = {
    {"/proc", "proc", NULL, KC__MOUNT_NO_DEV},
    {"/dev", "tmpfs", "mode=755,size=64k", KC__MOUNT_NO_DEV},
    {"/dev/pts", "devpts", "newinstance,ptmxmode=0666,mode=0620", KC__MOUNT_OPTIONAL},
    {"/dev/shm", "tmpfs", "mode=1777,size=64m", KC__MOUNT_NO_DEV},
};

static const struct {
    const char *path, *to;
} links[] = {
    {"/dev/fd", "/proc/self/fd"},       {"/dev/stdin", "/proc/self/fd/0"},
    {"/dev/stdout", "/proc/self/fd/1"}, {"/dev/stderr", "/proc/self/fd/2"},
    {"/dev/ptmx", "pts/ptmx"},
};

static void add_devices(kc__launch *l)
{
    static const char *const devices[] = {"/dev/null",   "/dev/zero",    "/dev/full",
                                          "/dev/random", "/dev/urandom", "/dev/tty"};
    for (size_t i = 0; i < KC_COUNT(devices); i++) {
        if (access(devices[i], F_OK) < 0)
            continue;
        step(l, (kc__mount_step){.kind = KC__MOUNT_FILE, .target = devices[i]});
        step(l, (kc__mount_step){.kind = KC__MOUNT_TREE,
                                 .source = devices[i],
                                 .target = devices[i],
                                 .flags = KC__MOUNT_ONE});
    }
    for (size_t i = 0; i < KC_COUNT(links); i++)
        step(l, (kc__mount_step){
                    .kind = KC__MOUNT_LINK, .source = links[i].to, .target = links[i].path});
}

/* Our folder, where the image has it: what is in it is not for containers. */
static void hide_folder(plan *p)
{
    const size_t skip = strcmp(p->rt->image, "/") == 0 ? 0 : strlen(p->rt->image);
    if (skip && !is_below(p->rt->folder, p->rt->image))
        return;
    const char *path = p->rt->folder + skip;
    if (is_own(p, path, 0))
        return;
    step(p->launch, (kc__mount_step){.kind = KC__MOUNT_NEW,
                                     .source = "tmpfs",
                                     .target = kc_arena_printf(&p->launch->arena, "%s", path),
                                     .options = "mode=000,size=4k",
                                     .flags = KC__MOUNT_READ_ONLY | KC__MOUNT_NO_DEV});
}

static void add_scratch(plan *p, const char *scratch)
{
    kc__launch *l = p->launch;
    add_folder(l, "/tmp");
    step(l, (kc__mount_step){.kind = KC__MOUNT_TREE,
                             .source = scratch,
                             .target = "/tmp",
                             .flags = KC__MOUNT_NO_DEV});
    const char *var = resolve(p, "/var/tmp");
    if (var && !is_below(var, "/tmp"))
        step(l, (kc__mount_step){.kind = KC__MOUNT_TREE,
                                 .source = scratch,
                                 .target = var,
                                 .flags = KC__MOUNT_NO_DEV});
}

static int plan_base(plan *p, const char *scratch, kc_error *err)
{
    kc__launch *l = p->launch;
    if (mirror(p, "/", err) < 0 || mirror_all(p, err) < 0)
        return -1;
    for (size_t i = 0; i < KC_COUNT(base_mounts); i++) {
        add_folder(l, base_mounts[i].target);
        step(l, (kc__mount_step){.kind = KC__MOUNT_NEW,
                                 .source = base_mounts[i].type,
                                 .target = base_mounts[i].target,
                                 .options = base_mounts[i].options,
                                 .flags = base_mounts[i].flags});
    }
    add_devices(l);
    add_folder(l, "/sys");
    step(l, (kc__mount_step){.kind = KC__MOUNT_TREE,
                             .source = "/sys",
                             .target = "/sys",
                             .flags = KC__MOUNT_READ_ONLY | KC__MOUNT_OPTIONAL});
    hide_folder(p);
    add_scratch(p, scratch);
    return 0;
}

static void plan_done(plan *p)
{
    kc_vec_done(&p->mirrors);
    kc_vec_done(&p->wanted);
}

int kc__mounts_base(kc__process_runtime *rt, const char *scratch, bool read_only, kc__launch *l,
                    kc_error *err)
{
    __attribute__((cleanup(plan_done))) plan p = {.rt = rt, .launch = l, .read_only = read_only};
    return plan_base(&p, scratch, err);
}

/* ---- volumes ---- */

/* "/a//b/" as "/a/b"; NULL: not absolute, "/" or with "..". */
static const char *clean(kc__launch *l, const char *path)
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

/* Makes the folders of a subPath, part by part, none of which may be a symlink. */
static int make_beneath(int base, const char *path, kc_error *err)
{
    int at = dup(base);
    for (kc_str rest = kc_cstr(path); rest.p && at >= 0;) {
        kc_autofree char *part = kc_str_dup(kc_str_cut(&rest, '/'));
        const bool made = mkdirat(at, part, 0777) == 0;
        const int next = kc__folder_open(at, part, 0, err);
        if (next >= 0 && made)
            fchmod(next, 0777); /* Whatever our umask says. */
        close(at);
        at = next;
    }
    return at;
}

/* Whether the subPath is a file; makes a folder of it if there is nothing and `make`. */
static int look_beneath(wanted *w, bool make, kc_error *err)
{
    int base;
    int fd = open_beneath(w->source, w->beneath, &base);
    if (fd < 0 && errno == ENOENT && make && base >= 0)
        fd = make_beneath(base, w->beneath, err);
    else if (fd < 0)
        kc__errno_set(err, "subPath %s", w->beneath);
    struct stat st = {0};
    if (fd >= 0 && fstat(fd, &st) == 0)
        w->file = !S_ISDIR(st.st_mode);
    if (base >= 0)
        close(base);
    if (fd >= 0)
        close(fd);
    return fd < 0 ? -1 : 0;
}

static int find_host_path(wanted *w, const kc_volume *volume, kc__launch *l, kc_error *err)
{
    kc_autofree char *real = realpath(volume->host_path->path, NULL);
    struct stat st;
    if (!real || stat(real, &st) < 0)
        return kc__errno_set(err, "hostPath %s", volume->host_path->path);
    w->source = kc_arena_printf(&l->arena, "%s", real);
    w->file = !S_ISDIR(st.st_mode);
    return 0;
}

static int want_volume(plan *p, const kc_pod *pod, const kc_volume_mount *mount, kc_error *err)
{
    kc__launch *l = p->launch;
    const kc_volume *volume = volume_named(pod, mount->name);
    const bool filled = volume && kc__volume_is_filled(volume);
    wanted w = {.path = clean(l, mount->mount_path),
                .flags = KC__MOUNT_NO_DEV | (mount->read_only || filled ? KC__MOUNT_READ_ONLY : 0)};
    if (!volume)
        return kc_error_set(err, KC_INVALID, "there is no volume \"%s\"", mount->name);
    if (!w.path)
        return kc_error_set(err, KC_INVALID, "mountPath \"%s\" is no absolute path below /",
                            mount->mount_path);
    if (volume->host_path && find_host_path(&w, volume, l, err) < 0)
        return -1;
    if (!volume->host_path)
        w.source = kc_arena_printf(&l->arena, "%s/pods/%s/.volumes/%s", p->rt->folder,
                                   pod->metadata.uid, volume->name);
    if (mount->sub_path && mount->sub_path[0]) {
        if (!kc__file_path_ok(mount->sub_path))
            return kc_error_set(err, KC_INVALID, "subPath \"%s\" is no path below the volume",
                                mount->sub_path);
        w.beneath = kc_arena_printf(&l->arena, "%s", mount->sub_path);
        if (look_beneath(&w, !filled && !mount->read_only, err) < 0)
            return -1;
    }
    kc_vec_push(&p->wanted, w);
    return 0;
}

static int want_message(plan *p, const kc_pod *pod, const kc_container *c, int attempt,
                        kc_error *err)
{
    kc__launch *l = p->launch;
    const char *path = c->termination_message_path && c->termination_message_path[0]
                           ? c->termination_message_path
                           : "/dev/termination-log";
    wanted w = {.path = clean(l, path), .file = true, .flags = KC__MOUNT_NO_DEV};
    if (!w.path)
        return kc_error_set(err, KC_INVALID,
                            "terminationMessagePath \"%s\" is no absolute path below /", path);
    w.source = kc_arena_printf(&l->arena, "%s/pods/%s/%s/%d.message", p->rt->folder,
                               pod->metadata.uid, c->name, attempt);
    kc_vec_push(&p->wanted, w);
    return 0;
}

/* The network is the machine's: so names are resolved as it does. Not where the pod mounts
 * something there itself. */
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
            taken = taken || is_below(files[i], p->wanted.items[k].path);
        if (!taken)
            kc_vec_push(&p->wanted,
                        (wanted){.path = files[i],
                                 .source = kc_arena_printf(&p->launch->arena, "%s", real),
                                 .file = true,
                                 .flags = KC__MOUNT_READ_ONLY | KC__MOUNT_NO_DEV});
    }
}

/* Stable in effect: equal paths are refused by validation. */
static int by_path_length(const void *a, const void *b)
{
    return by_length(&((const wanted *)a)->path, &((const wanted *)b)->path);
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
        if (locate(p, i, err) < 0)
            return kc_error_wrap(err, "container %s", c->name);
    return 0;
}

static void add_wanted(kc__launch *l, const wanted *w)
{
    step(l, (kc__mount_step){.kind = w->file ? KC__MOUNT_FILE : KC__MOUNT_FOLDER,
                             .target = w->target});
    step(l, (kc__mount_step){.kind = KC__MOUNT_TREE,
                             .source = w->source,
                             .beneath = w->beneath,
                             .target = w->target,
                             .flags = w->flags});
}

int kc__mounts_plan(kc__process_runtime *rt, const kc_pod *pod, const kc_container *container,
                    int attempt, kc__launch *l, kc_error *err)
{
    const kc_security_context *context = container->security_context;
    const bool read_only =
        context && context->read_only_root_filesystem && *context->read_only_root_filesystem;
    __attribute__((cleanup(plan_done))) plan p = {.rt = rt, .launch = l, .read_only = read_only};
    const char *scratch = kc_arena_printf(&l->arena, "%s/pods/%s/%s/%d.tmp", rt->folder,
                                          pod->metadata.uid, container->name, attempt);
    if (want_all(&p, pod, container, attempt, err) < 0 || plan_base(&p, scratch, err) < 0)
        return -1;
    kc_vec_each (&p.wanted, w)
        add_wanted(l, w);
    if (!read_only)
        return 0;
    kc_vec_each (&p.mirrors, path)
        step(l, (kc__mount_step){.kind = KC__MOUNT_SEAL, .target = *path});
    step(l, (kc__mount_step){.kind = KC__MOUNT_SEAL, .target = "/"});
    return 0;
}
