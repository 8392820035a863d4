/* SPDX-License-Identifier: Apache-2.0 */
/*
 * audit_file.c: writes audit events to a file and rotates it, as kube-apiserver does (lumberjack):
 *
 *     audit.log                              the current file
 *     audit-2026-01-02T03-04-05.678.log      rotated at that time (UTC)
 *     audit-2026-01-02T03-04-05.678.log.gz   and compressed
 *
 * One write per delivery, in append mode, so that lines of a crashed process end at an event. A
 * file that was removed or renamed by another program is noticed by its inode and created again.
 * After a write of a part (full disk) the rest is lost and the next line begins with a newline, so
 * that no two events share a line. Runs on the sink's thread.
 */
#include "apiserver/audit/audit_file.h"

#include "kc/file.h"
#include "kc/time.h"
#include "kc/vec.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum { DEFAULT_MEGABYTES = 100, STAMP = 23 }; /* "2026-01-02T03-04-05.678" */

typedef struct audit_file {
    kc__audit_output output;
    const kc_clock *clock;
    char *path, *dir, *stem, *suffix; /* dir/stem + suffix */
    size_t max_bytes;
    unsigned max_backups, max_days;
    bool compress;
    int fd;
    ino_t inode;
    size_t size;
    bool torn; /* The last write stored only a part. */
} audit_file;

static int file_error(const char *what, const char *path, kc_error *err)
{
    const int code = errno;
    return kc_error_set(err, code == ENOSPC ? KC_SERVICE_UNAVAILABLE : KC_INTERNAL,
                        "cannot %s %s: %s", what, path, strerror(code));
}

/* ---- the current file ---- */

static int open_log(audit_file *f, kc_error *err)
{
    struct stat st;
    f->fd = open(f->path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (f->fd < 0 || fstat(f->fd, &st) < 0)
        return file_error("open", f->path, err);
    f->inode = st.st_ino;
    f->size = (size_t)st.st_size;
    return 0;
}

static void close_log(audit_file *f)
{
    if (f->fd > STDERR_FILENO)
        close(f->fd);
    f->fd = -1;
}

/* Opens the file again if another program has moved it away. */
static int follow_path(audit_file *f, kc_error *err)
{
    struct stat st;
    if (f->fd >= 0 && stat(f->path, &st) == 0 && st.st_ino == f->inode)
        return 0;
    close_log(f);
    return open_log(f, err);
}

static int write_all(audit_file *f, kc_str bytes, kc_error *err)
{
    size_t done = 0;
    while (done < bytes.n) {
        const ssize_t n = write(f->fd, bytes.p + done, bytes.n - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            f->torn = f->torn || done > 0;
            return file_error("write to", f->path, err);
        }
        done += (size_t)n;
        f->size += (size_t)n;
    }
    return 0;
}

/* ---- rotation ---- */

static char *backup_name(const audit_file *f)
{
    char text[KC_TIME_TEXT];
    kc_str stamp = kc_time_print_micro(kc_clock_wall(f->clock), text);
    stamp.n = STAMP;
    for (size_t i = 0; i < stamp.n; i++)
        if (text[i] == ':')
            text[i] = '-';
    return kc_asprintf("%s/%s-%.*s%s", f->dir, f->stem, KC_ARG(stamp), f->suffix);
}

static int compress_to(const char *from, gzFile to)
{
    char bytes[32 << 10];
    const int fd = open(from, O_RDONLY | O_CLOEXEC);
    ssize_t n = -1;
    while (fd >= 0 && (n = read(fd, bytes, sizeof(bytes))) > 0)
        if (gzwrite(to, bytes, (unsigned)n) != n)
            n = -1;
    if (fd >= 0)
        close(fd);
    return n == 0 ? 0 : -1;
}

/* A failure leaves the file as it is. */
static void compress_backup(const char *path)
{
    kc_autofree char *target = kc_asprintf("%s.gz", path);
    const int fd = open(target, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    gzFile out = fd >= 0 ? gzdopen(fd, "wb") : NULL;
    if (!out) {
        if (fd >= 0)
            close(fd);
        return;
    }
    const int failed = compress_to(path, out);
    if (gzclose(out) == Z_OK && !failed)
        unlink(path);
    else
        unlink(target);
}

/* Whether a name is that of a rotated file, without the suffix ".gz". */
static bool is_backup(const audit_file *f, kc_str name)
{
    const size_t stem = strlen(f->stem), suffix = strlen(f->suffix);
    if (kc_str_ends(name, KC_STR(".gz")))
        name.n -= 3;
    return name.n == stem + 1 + STAMP + suffix && kc_str_starts(name, kc_cstr(f->stem)) &&
           name.p[stem] == '-' && kc_str_ends(name, kc_cstr(f->suffix)) &&
           name.p[stem + 1 + 10] == 'T';
}

typedef KC_VEC(char *) file_names;

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)b, *(char *const *)a);
}

/* Newest first: the names contain the time. */
static void list_backups(const audit_file *f, file_names *ret)
{
    DIR *dir = opendir(f->dir);
    for (const struct dirent *entry; dir && (entry = readdir(dir));)
        if (is_backup(f, kc_cstr(entry->d_name)))
            kc_vec_push(ret, kc_strdup(entry->d_name));
    if (dir)
        closedir(dir);
    if (ret->n)
        qsort(ret->items, ret->n, sizeof(*ret->items), compare_names);
}

static bool is_too_old_file(const audit_file *f, const char *name)
{
    kc_time time;
    char text[KC_TIME_TEXT] = {0};
    const char *stamp = name + strlen(f->stem) + 1;
    snprintf(text, sizeof(text), "%.10sT%.2s:%.2s:%.2sZ", stamp, stamp + 11, stamp + 14,
             stamp + 17);
    if (!f->max_days || kc_time_parse(kc_cstr(text), &time, NULL) < 0)
        return false;
    return kc_clock_wall(f->clock) - time > (int64_t)f->max_days * 24 * KC_HOUR;
}

static void remove_old_files(const audit_file *f)
{
    file_names names = {0};
    list_backups(f, &names);
    for (size_t i = 0; i < names.n; i++) {
        kc_autofree char *path = kc_asprintf("%s/%s", f->dir, names.items[i]);
        if ((f->max_backups && i >= f->max_backups) || is_too_old_file(f, names.items[i]))
            unlink(path);
        else if (f->compress && !kc_str_ends(kc_cstr(path), KC_STR(".gz")))
            compress_backup(path);
        free(names.items[i]);
    }
    kc_vec_done(&names);
}

static int rotate_log(audit_file *f, kc_error *err)
{
    kc_autofree char *backup = backup_name(f);
    close_log(f);
    if (rename(f->path, backup) < 0 && errno != ENOENT)
        return file_error("rotate", f->path, err);
    if (open_log(f, err) < 0)
        return kc_error_result(err);
    remove_old_files(f);
    return 0;
}

/* ---- the output ---- */

static int deliver_to_file(kc__audit_output *output, const kc__audit_events *events, kc_error *err)
{
    audit_file *f = kc_container_of(output, audit_file, output);
    const kc_str bytes = kc_str_of(events->bytes, events->ends[events->n - 1]);
    if (f->dir) {
        if (follow_path(f, err) < 0)
            return kc_error_result(err);
        if (f->size && f->size + bytes.n > f->max_bytes && rotate_log(f, err) < 0)
            return kc_error_result(err);
    }
    if (f->torn && write_all(f, KC_STR("\n"), err) < 0)
        return kc_error_result(err);
    f->torn = false;
    return write_all(f, bytes, err);
}

static void free_file(kc__audit_output *output)
{
    audit_file *f = kc_container_of(output, audit_file, output);
    close_log(f);
    free(f->path);
    free(f->dir);
    free(f->stem);
    free(f->suffix);
    free(f);
}

/* "/var/log/audit.log": directory "/var/log", stem "audit", suffix ".log". */
static void split_path(audit_file *f)
{
    const char *slash = strrchr(f->path, '/'), *base = slash ? slash + 1 : f->path,
               *dot = strrchr(base, '.');
    f->dir =
        slash ? kc_strndup(f->path, KC_MAX((size_t)(slash - f->path), (size_t)1)) : kc_strdup(".");
    f->stem = dot ? kc_strndup(base, (size_t)(dot - base)) : kc_strdup(base);
    f->suffix = kc_strdup(dot ? dot : "");
}

kc__audit_output *kc__audit_file_new(const kc__audit_file_opts *opts, kc_error *err)
{
    audit_file *f = kc_new(audit_file);
    const bool standard = !strcmp(opts->path, "-");
    f->output = (kc__audit_output){.plugin = "log", .deliver = deliver_to_file, .free = free_file};
    f->clock = opts->clock ? opts->clock : kc_clock_real();
    f->path = kc_strdup(standard ? "standard output" : opts->path);
    f->max_bytes = (size_t)(opts->max_megabytes ? opts->max_megabytes : DEFAULT_MEGABYTES) << 20;
    f->max_backups = opts->max_backups;
    f->max_days = opts->max_days;
    f->compress = opts->compress;
    f->fd = standard ? STDOUT_FILENO : -1;
    if (!standard)
        split_path(f);
    if (standard || (kc_dir_create(f->dir, 0700, err) == 0 && open_log(f, err) == 0))
        return &f->output;
    free_file(&f->output);
    return NULL;
}
