/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_watch.c: reloads configuration files when they change.
 *
 * Each poll compares the state of all files: device, inode, size, and the times of
 * the last change of contents and inode. This finds files that were written in place, files that
 * were replaced by a rename, and links that lead elsewhere now (as Kubernetes mounts Secrets), on
 * every file system. inotify would need a watch for each directory on the way.
 *
 *     state ─▶ as loaded? ─▶ yes: nothing to do, unless a failed reload is due again
 *                 └─▶ no ─▶ as in the last comparison? ─▶ no: wait, the writer may not be done
 *                                   └─▶ yes ─▶ reload
 *
 * A reload that fails leaves the previous contents in effect. The watch logs the error and counts
 * it; it reloads again when the files change again, and once a minute, because the cause may be
 * outside the file.
 */
#include "base/file_watch.h"

#include <sys/stat.h>

typedef struct file_state {
    bool exists;
    dev_t device;
    ino_t inode;
    off_t size;
    struct timespec modified, changed;
} file_state;

typedef struct watched_files {
    kc__file_watch_entry entry; /* Its strings belong to this struct. */
    char *name;
    char *paths[KC__FILE_WATCH_PATHS];
    size_t n_paths;
    file_state loaded[KC__FILE_WATCH_PATHS]; /* When the files were read. */
    file_state seen[KC__FILE_WATCH_PATHS];   /* In the last comparison. */
    int64_t retry_at;                        /* 0: the last reload succeeded. */
    kc_counter *succeeded, *failed;
} watched_files;

struct kc__file_watch {
    const kc_clock *clock;
    kc_log *log;
    kc_metric *reloads;
    watched_files files[KC__FILE_WATCH_ENTRIES];
    size_t n;
};

/* ---- states ---- */

static file_state state_of_file(const char *path)
{
    struct stat s;
    if (stat(path, &s) < 0)
        return (file_state){0};
    return (file_state){true, s.st_dev, s.st_ino, s.st_size, s.st_mtim, s.st_ctim};
}

static bool same_time(struct timespec a, struct timespec b)
{
    return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

static bool same_state(const file_state *a, const file_state *b)
{
    return a->exists == b->exists && a->device == b->device && a->inode == b->inode &&
           a->size == b->size && same_time(a->modified, b->modified) &&
           same_time(a->changed, b->changed);
}

static bool same_states(const watched_files *f, const file_state *a, const file_state *b)
{
    for (size_t i = 0; i < f->n_paths; i++)
        if (!same_state(&a[i], &b[i]))
            return false;
    return true;
}

static void read_states(const watched_files *f, file_state *ret)
{
    for (size_t i = 0; i < f->n_paths; i++)
        ret[i] = state_of_file(f->paths[i]);
}

/* ---- reloading ---- */

static void reload_files(kc__file_watch *watch, watched_files *f)
{
    kc_scoped(kc_error) err = {0};
    memcpy(f->loaded, f->seen, sizeof(f->loaded));
    if (f->entry.reload(f->entry.user, &err) < 0) {
        f->retry_at = kc_clock_deadline(watch->clock, KC__FILE_WATCH_RETRY);
        kc_counter_inc(f->failed);
        kc_log_error(watch->log, "reload failed; the previous contents stay in effect",
                     kc_kv("flag", f->name), kc_kv("err", &err));
        return;
    }
    f->retry_at = 0;
    kc_counter_inc(f->succeeded);
    kc_log_info(watch->log, "reloaded changed files", kc_kv("flag", f->name));
}

static void compare_files(kc__file_watch *watch, watched_files *f)
{
    file_state now[KC__FILE_WATCH_PATHS] = {0};
    read_states(f, now);
    const bool settled = same_states(f, now, f->seen);
    memcpy(f->seen, now, sizeof(now));
    const bool due = f->retry_at && kc_clock_now(watch->clock) >= f->retry_at;
    if (settled && (due || !same_states(f, now, f->loaded)))
        reload_files(watch, f);
}

void kc__file_watch_poll(void *user)
{
    kc__file_watch *watch = user;
    for (size_t i = 0; i < watch->n; i++)
        compare_files(watch, &watch->files[i]);
}

/* ---- making and freeing ---- */

kc__file_watch *kc__file_watch_new(const kc__file_watch_opts *opts)
{
    kc__file_watch *watch = kc_new(kc__file_watch);
    watch->clock = opts->clock ? opts->clock : kc_clock_real();
    watch->log = opts->log;
    if (opts->metrics)
        watch->reloads = kc_metrics_counter(
            opts->metrics,
            &(kc_metric_opts){.name = "kc_file_reloads_total",
                              .help = "Reloads of changed configuration files, by flag and result.",
                              .labels = {{"flag", .max_values = KC__FILE_WATCH_ENTRIES},
                                         {"result", KC_LABEL_VALUES("success", "failure")}}},
            NULL);
    return watch;
}

void kc__file_watch_add(kc__file_watch *watch, const kc__file_watch_entry *entry)
{
    if (watch->n == KC__FILE_WATCH_ENTRIES || !entry->paths[0])
        return;
    watched_files *f = &watch->files[watch->n++];
    *f = (watched_files){.entry = *entry, .name = kc_strdup(entry->name)};
    while (f->n_paths < KC__FILE_WATCH_PATHS && entry->paths[f->n_paths]) {
        f->paths[f->n_paths] = kc_strdup(entry->paths[f->n_paths]);
        f->n_paths++;
    }
    f->succeeded = kc_metric_counter(watch->reloads, kc_cstr(f->name), KC_STR("success"));
    f->failed = kc_metric_counter(watch->reloads, kc_cstr(f->name), KC_STR("failure"));
    read_states(f, f->loaded);
    memcpy(f->seen, f->loaded, sizeof(f->seen));
}

kc__file_watch *kc__file_watch_free(kc__file_watch *watch)
{
    if (!watch)
        return NULL;
    for (size_t i = 0; i < watch->n; i++) {
        free(watch->files[i].name);
        for (size_t j = 0; j < watch->files[i].n_paths; j++)
            free(watch->files[i].paths[j]);
    }
    free(watch);
    return NULL;
}
