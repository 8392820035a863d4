/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manifests_watch.c: waits for changes of a directory tree, by inotify.
 *
 *     tree ──▶ one watch per directory, and one of the parent of the root ──▶ filter ──▶ debounce
 *
 * The parent is watched because the root itself may be replaced: a deployment tool swaps a link, or
 * a missing directory returns. A change counts if it concerns a manifest, a subdirectory, a link to
 * one, or a name that starts with ".." (the kubelet replaces the files of a volume by renaming
 * "..data").
 *
 * Editors and copy programs write a file in several steps. The debounce waits until the changes
 * end; a file that was modified and not closed yet counts as open, and the sync does not read it:
 * half of a manifest can be valid YAML. truncate(2) modifies without a close, so a file counts as
 * open for a limited time.
 *
 * When the queue of the kernel overflows, or inotify is not available, nothing is lost but time: a
 * sync reads the whole tree, and the periodic resync comes anyway.
 */
#include "runtime/manifests/manifests_internal.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#define TREE_EVENTS                                                                     \
    (IN_CREATE | IN_CLOSE_WRITE | IN_MODIFY | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE | \
     IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR | IN_EXCL_UNLINK)
#define PARENT_EVENTS (IN_CREATE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE | IN_ONLYDIR)

/* A watched directory of the tree. */
typedef struct watch_directory {
    int wd;
    char *path;
    bool visited; /* By the current sync. */
} watch_directory;

/* A file that was modified and not closed. */
typedef struct watch_open_file {
    int64_t modified; /* Time of the last modification. */
    char path[];
} watch_open_file;

struct kc__manifests_watch {
    kc_log *log;
    char *dir, *parent, *name; /* The root; its parent and its name there; NULL: not watched. */
    int inotify;               /* -1: not available. */
    int parent_wd;
    bool warned;
    KC_VEC(watch_directory) directories;
    kc_map open; /* Path to watch_open_file. */
    int wake;    /* eventfd: `stop` fired. */
    kc_cancel_hook hook;
};

/* ---- directories ---- */

static void watch_unavailable(kc__manifests_watch *w, const char *what, int number)
{
    if (!w->warned)
        kc_log_warn(w->log, "cannot watch the manifests; changes are found by the resync only",
                    kc_kv("dir", w->dir), kc_kv("call", what), kc_kv("err", strerror(number)));
    w->warned = true;
}

/* "." and "/" have no name in a parent. */
static void split_root(kc__manifests_watch *w)
{
    const char *slash = strrchr(w->dir, '/'), *name = slash ? slash + 1 : w->dir;
    if (!*name || !strcmp(name, ".") || !strcmp(name, ".."))
        return;
    w->name = kc_strdup(name);
    w->parent = slash == w->dir ? kc_strdup("/")
                : slash         ? kc_strndup(w->dir, (size_t)(slash - w->dir))
                                : kc_strdup(".");
}

kc__manifests_watch *kc__manifests_watch_new(const char *dir, kc_log *log, kc_error *err)
{
    const int wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (wake < 0) {
        kc_error_set(err, KC_INTERNAL, "eventfd: %s", strerror(errno));
        return NULL;
    }
    kc__manifests_watch *w = kc_new(kc__manifests_watch);
    w->log = log;
    w->dir = kc_strdup(dir);
    w->parent_wd = -1;
    w->wake = wake;
    split_root(w);
    w->inotify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (w->inotify < 0)
        watch_unavailable(w, "inotify_init1", errno);
    return w;
}

static void forget_open_files(kc__manifests_watch *w)
{
    kc_map_each (&w->open, entry)
        free(entry->value);
    kc_map_clear(&w->open);
}

kc__manifests_watch *kc__manifests_watch_free(kc__manifests_watch *w)
{
    if (!w)
        return NULL;
    kc_vec_each (&w->directories, d)
        free(d->path);
    kc_vec_done(&w->directories);
    forget_open_files(w);
    kc_map_done(&w->open);
    if (w->inotify >= 0)
        close(w->inotify);
    close(w->wake);
    free(w->dir);
    free(w->parent);
    free(w->name);
    free(w);
    return NULL;
}

static watch_directory *directory_of(const kc__manifests_watch *w, int wd)
{
    kc_vec_each (&w->directories, d)
        if (d->wd == wd)
            return d;
    return NULL;
}

/* The parent may be missing now and exist later, so each sync tries. */
void kc__manifests_watch_begin(kc__manifests_watch *w)
{
    if (!w || w->inotify < 0)
        return;
    kc_vec_each (&w->directories, d)
        d->visited = false;
    if (w->parent)
        w->parent_wd = inotify_add_watch(w->inotify, w->parent, PARENT_EVENTS | IN_MASK_ADD);
}

/* The kernel returns the same descriptor for the same directory, also under another path. */
void kc__manifests_watch_visit(kc__manifests_watch *w, const char *path)
{
    if (!w || w->inotify < 0)
        return;
    const int wd = inotify_add_watch(w->inotify, path, TREE_EVENTS);
    if (wd < 0) {
        if (errno != ENOENT && errno != ENOTDIR && errno != EACCES)
            watch_unavailable(w, "inotify_add_watch", errno);
        return;
    }
    watch_directory *d = directory_of(w, wd);
    if (!d) {
        d = kc_vec_add(&w->directories);
        d->wd = wd;
    }
    free(d->path);
    d->path = kc_strdup(path);
    d->visited = true;
}

void kc__manifests_watch_end(kc__manifests_watch *w)
{
    if (!w || w->inotify < 0)
        return;
    for (size_t i = w->directories.n; i-- > 0;) {
        watch_directory *d = &w->directories.items[i];
        if (d->visited)
            continue;
        if (d->wd != w->parent_wd)
            inotify_rm_watch(w->inotify, d->wd);
        free(d->path);
        kc_vec_remove(&w->directories, i);
    }
}

/* ---- open files ---- */

static void file_modified(kc__manifests_watch *w, const char *path, int64_t now)
{
    watch_open_file *f = kc_map_get(&w->open, kc_cstr(path));
    if (!f) {
        const size_t n = strlen(path) + 1;
        if (w->open.n >= KC_APPLY_MAX_FILES)
            return;
        f = kc_alloc(sizeof *f + n);
        memcpy(f->path, path, n);
        kc_map_put(&w->open, kc_cstr(f->path), f);
    }
    f->modified = now;
}

static void file_closed(kc__manifests_watch *w, const char *path)
{
    free(kc_map_remove(&w->open, kc_cstr(path)));
}

bool kc__manifests_watch_is_open(kc__manifests_watch *w, const char *path, int64_t now)
{
    const watch_open_file *f = w ? kc_map_get(&w->open, kc_cstr(path)) : NULL;
    if (!f)
        return false;
    if (now - f->modified < KC__MANIFESTS_WRITE_TIMEOUT)
        return true;
    file_closed(w, path);
    return false;
}

/* ---- events ---- */

static bool is_link_or_directory(const char *path)
{
    struct stat at;
    return lstat(path, &at) == 0 && (S_ISLNK(at.st_mode) || S_ISDIR(at.st_mode));
}

static bool is_watched(const kc__manifests_watch *w, const char *path)
{
    kc_vec_each (&w->directories, d)
        if (!strcmp(d->path, path))
            return true;
    return false;
}

/* Whether an event of a directory of the tree may change the manifests. */
static bool tree_event_counts(kc__manifests_watch *w, const watch_directory *d,
                              const struct inotify_event *e, int64_t now)
{
    if (!e->len)
        return !(e->mask & IN_IGNORED);
    const bool manifest = kc__apply_tree_is_manifest(e->name);
    if (e->name[0] == '.' && e->name[1] != '.')
        return false;
    kc_autofree char *path = kc_asprintf("%s/%s", d->path, e->name);
    if (manifest && e->mask & IN_MODIFY)
        file_modified(w, path, now);
    if (e->mask & (IN_CLOSE_WRITE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO))
        file_closed(w, path);
    if (manifest || e->mask & IN_ISDIR)
        return true;
    if (e->mask & (IN_CREATE | IN_MOVED_TO))
        return is_link_or_directory(path);
    return e->mask & (IN_DELETE | IN_MOVED_FROM) && (e->name[0] == '.' || is_watched(w, path));
}

static bool event_counts(kc__manifests_watch *w, const struct inotify_event *e, int64_t now)
{
    if (e->mask & IN_Q_OVERFLOW) {
        forget_open_files(w);
        return true;
    }
    if (e->wd == w->parent_wd && w->name && e->len && !strcmp(e->name, w->name))
        return true;
    const watch_directory *d = directory_of(w, e->wd);
    return d && tree_event_counts(w, d, e, now);
}

/* Reads all queued events; true if one counts. */
static bool read_events(kc__manifests_watch *w)
{
    _Alignas(struct inotify_event) char bytes[16 * (sizeof(struct inotify_event) + NAME_MAX + 1)];
    const int64_t now = kc_clock_now(kc_clock_real());
    bool counts = false;
    for (ssize_t n; (n = read(w->inotify, bytes, sizeof bytes)) > 0;)
        for (ssize_t at = 0; at < n;) {
            const struct inotify_event *e = (const void *)(bytes + at);
            counts = event_counts(w, e, now) || counts;
            at += (ssize_t)(sizeof *e + e->len);
        }
    return counts;
}

/* ---- waiting ---- */

static void wake_watch(kc_cancel_hook *hook)
{
    const uint64_t one = 1;
    const kc__manifests_watch *w = kc_container_of(hook, kc__manifests_watch, hook);
    if (write(w->wake, &one, sizeof one) < 0)
        return; /* The counter is full: the descriptor is readable already. */
}

static int milliseconds_until(int64_t deadline)
{
    if (deadline == KC_FOREVER)
        return -1;
    const int64_t left = deadline - kc_clock_now(kc_clock_real());
    return left <= 0 ? 0 : (int)KC_MIN((left + KC_MILLISECOND - 1) / KC_MILLISECOND, INT_MAX);
}

/* Waits for any event, or `stop`. */
static kc__manifests_wakeup watch_poll(kc__manifests_watch *w, kc_cancel *stop, int64_t deadline)
{
    struct pollfd fds[2] = {{.fd = w->wake, .events = POLLIN},
                            {.fd = w->inotify, .events = POLLIN}};
    const int n = poll(fds, 2, milliseconds_until(deadline));
    if (kc_cancel_fired(stop))
        return KC__MANIFESTS_STOPPED;
    if (n > 0 && fds[1].revents && read_events(w))
        return KC__MANIFESTS_CHANGED;
    return KC__MANIFESTS_TIMEOUT;
}

static kc__manifests_wakeup watch_debounced(kc__manifests_watch *w, kc_cancel *stop,
                                            int64_t debounce, int64_t deadline)
{
    const kc_clock *clock = kc_clock_real();
    kc__manifests_wakeup why;
    do
        why = watch_poll(w, stop, deadline);
    while (why == KC__MANIFESTS_TIMEOUT && kc_clock_now(clock) < deadline);
    if (why != KC__MANIFESTS_CHANGED)
        return why;
    const int64_t latest = kc_clock_deadline(clock, KC_MAX(debounce, KC__MANIFESTS_MAX_DELAY));
    int64_t quiet = kc_clock_deadline(clock, debounce);
    while (kc_clock_now(clock) < KC_MIN(quiet, latest)) {
        why = watch_poll(w, stop, KC_MIN(quiet, latest));
        if (why == KC__MANIFESTS_STOPPED)
            return why;
        if (why == KC__MANIFESTS_CHANGED)
            quiet = kc_clock_deadline(clock, debounce);
    }
    return KC__MANIFESTS_CHANGED;
}

kc__manifests_wakeup kc__manifests_watch_wait(kc__manifests_watch *w, kc_cancel *stop,
                                              int64_t debounce, int64_t deadline)
{
    w->hook.fire = wake_watch;
    if (!kc_cancel_add_hook(stop, &w->hook))
        return KC__MANIFESTS_STOPPED;
    const kc__manifests_wakeup why = watch_debounced(w, stop, debounce, deadline);
    kc_cancel_remove_hook(stop, &w->hook);
    return why;
}
