/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_logs.c: reads logs. See process_logs.h; process_log_writer.c writes them.
 *
 * The log of an attempt is N.log.4 … N.log.1, N.log, oldest first. The writer may rename them at
 * any time, so the reader identifies a file by its inode: at the end of a file it looks up its
 * current name and opens the next younger one. Files only grow until their first rename.
 *
 * All output is in the files once the state says that the container has exited: so the reader reads
 * the state first, then the end of the file.
 */
#include "pods/process_logs.h"
#include "pods/process_internal.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHUNK ((size_t)64 << 10)

struct kc__process_logs {
    int dir_fd; /* The container's directory. */
    int attempt;
    kc__process_logs_opts opts;
    int fd; /* -1: none yet. */
    ino_t inode;
    off_t at;
    kc_buf pending;  /* Read, without a complete line yet. */
    bool in_line;    /* The last part was not the end of a line. */
    int64_t written; /* Bytes returned. */
};

static int open_age(const kc__process_logs *logs, int age)
{
    char name[48];
    snprintf(name, sizeof(name), age ? "%d.log.%d" : "%d.log", logs->attempt, age);
    return openat(logs->dir_fd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
}

static void use(kc__process_logs *logs, int fd, off_t at)
{
    struct stat st = {0};
    if (logs->fd >= 0)
        close(logs->fd);
    fstat(fd, &st);
    logs->fd = fd;
    logs->inode = st.st_ino;
    logs->at = at;
}

/* ---- start position ---- */

static bool ends_line(kc_str raw)
{
    /* "TIME STREAM TAG text" */
    kc_str_cut(&raw, ' ');
    kc_str_cut(&raw, ' ');
    return raw.n > 0 && raw.p[0] == 'F';
}

/* The offset of the line that is *lines before the end of a file; *lines becomes the number of
 * lines missing. */
static off_t seek_back(int fd, int64_t *lines)
{
    struct stat st = {0};
    fstat(fd, &st);
    size_t n = (size_t)st.st_size;
    const char *text = n ? mmap(NULL, n, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    if (text == MAP_FAILED)
        return 0;
    off_t found = 0;
    for (size_t end = n; end > 0 && !found;) {
        const char *before = end > 1 ? memrchr(text, '\n', end - 1) : NULL;
        const size_t begin = before ? (size_t)(before - text) + 1 : 0;
        if (ends_line(kc_str_of(text + begin, end - begin)) && (*lines)-- == 0)
            found = (off_t)end;
        end = begin;
    }
    munmap((void *)text, n);
    if (found)
        *lines = 0;
    return found;
}

/* From the youngest file back, until there are enough lines. */
static void begin_at_tail(kc__process_logs *logs, int64_t lines)
{
    for (int age = 0; age < KC__PROCESS_LOG_MAX_FILES; age++) {
        const int fd = open_age(logs, age);
        if (fd < 0)
            break;
        const off_t at = seek_back(fd, &lines);
        use(logs, fd, at);
        if (at > 0)
            break;
    }
}

static void begin_at_oldest(kc__process_logs *logs)
{
    for (int age = KC__PROCESS_LOG_MAX_FILES - 1; age >= 0 && logs->fd < 0; age--) {
        const int fd = open_age(logs, age);
        if (fd >= 0)
            use(logs, fd, 0);
    }
}

static void process_logs_begin(kc__process_logs *logs)
{
    if (logs->opts.tail_lines && *logs->opts.tail_lines >= 0)
        begin_at_tail(logs, *logs->opts.tail_lines);
    else
        begin_at_oldest(logs);
}

/* ---- open ---- */

static int open_dir(const char *dir, kc_str uid, kc_str container)
{
    if (!kc__process_file_name_ok(uid) || !kc__process_file_name_ok(container))
        return -1;
    kc_autofree char *path = kc_asprintf("%s/pods/%.*s/%.*s", dir, KC_ARG(uid), KC_ARG(container));
    return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static kc__process_logs *new_logs(int dir_fd, int attempt, const kc__process_logs_opts *opts)
{
    kc__process_logs *logs = kc_new(kc__process_logs);
    logs->dir_fd = dir_fd;
    logs->fd = -1;
    logs->attempt = attempt;
    if (opts)
        logs->opts = *opts;
    process_logs_begin(logs);
    logs->opts.tail_lines = NULL;
    return logs;
}

kc__process_logs *kc__process_logs_open(const char *dir, kc_str uid, kc_str container, int attempt,
                                        const kc__process_logs_opts *opts, kc_error *err)
{
    const int fd = open_dir(dir, uid, container);
    if (fd >= 0 && attempt == KC__POD_LATEST_ATTEMPT)
        attempt = kc__process_proc_state_latest(fd);
    if (opts && opts->previous)
        attempt--;
    kc__process_proc_state state;
    if (fd >= 0 && attempt >= 0 && kc__process_proc_state_read(fd, attempt, &state))
        return new_logs(fd, attempt, opts);
    if (fd >= 0)
        close(fd);
    kc_error_set(err, KC_NOT_FOUND, "no %slog found for container %.*s",
                 opts && opts->previous ? "previous " : "", KC_ARG(container));
    return NULL;
}

kc__process_logs *kc__process_logs_close(kc__process_logs *logs)
{
    if (!logs)
        return NULL;
    if (logs->fd >= 0)
        close(logs->fd);
    close(logs->dir_fd);
    kc_buf_done(&logs->pending);
    free(logs);
    return NULL;
}

/* ---- read ---- */

static void process_logs_put(kc__process_logs *logs, kc_str text, kc_buf *out)
{
    if (logs->opts.limit_bytes > 0)
        text = kc_str_sub(text, 0, (size_t)(logs->opts.limit_bytes - logs->written));
    kc_buf_append(out, text);
    logs->written += (int64_t)text.n;
}

static bool is_full(const kc__process_logs *logs)
{
    return logs->opts.limit_bytes > 0 && logs->written >= logs->opts.limit_bytes;
}

/* Formats one line of a file, without newline. Skips lines in another format. */
static void process_logs_put_line(kc__process_logs *logs, kc_str raw, kc_buf *out)
{
    const kc_str stamp = kc_str_cut(&raw, ' ');
    kc_str_cut(&raw, ' ');
    const kc_str tag = kc_str_cut(&raw, ' ');
    kc_time at;
    if (tag.n != 1 || !raw.p)
        return;
    if (logs->opts.since && (kc_time_parse(stamp, &at, NULL) < 0 || at < logs->opts.since))
        return;
    if (logs->opts.timestamps && !logs->in_line) {
        process_logs_put(logs, stamp, out);
        process_logs_put(logs, KC_STR(" "), out);
    }
    process_logs_put(logs, raw, out);
    logs->in_line = tag.p[0] == 'P';
    if (!logs->in_line)
        process_logs_put(logs, KC_STR("\n"), out);
}

static void put_lines(kc__process_logs *logs, kc_buf *out)
{
    kc_str rest = kc_buf_str(&logs->pending);
    while (!is_full(logs)) {
        kc_str after = rest;
        const kc_str line = kc_str_cut(&after, '\n');
        if (!after.p)
            break;
        process_logs_put_line(logs, line, out);
        rest = after;
    }
    if (rest.n)
        memmove(logs->pending.p, rest.p, rest.n);
    logs->pending.n = rest.n;
}

/* The next younger file; -1: the current one is the youngest. */
static int open_younger(const kc__process_logs *logs)
{
    struct stat st;
    int ours = KC__PROCESS_LOG_MAX_FILES;
    for (int age = 0; age < KC__PROCESS_LOG_MAX_FILES && ours == KC__PROCESS_LOG_MAX_FILES; age++) {
        const int fd = open_age(logs, age);
        if (fd >= 0 && fstat(fd, &st) == 0 && st.st_ino == logs->inode)
            ours = age;
        if (fd >= 0)
            close(fd);
    }
    for (int age = ours - 1; age >= 0; age--) {
        const int fd = open_age(logs, age);
        if (fd >= 0)
            return fd;
    }
    return -1;
}

static bool read_chunk(kc__process_logs *logs)
{
    char *to = kc_buf_reserve(&logs->pending, CHUNK);
    const ssize_t n = logs->fd < 0 ? 0 : pread(logs->fd, to, CHUNK, logs->at);
    if (n <= 0)
        return false;
    logs->pending.n += (size_t)n;
    logs->at += n;
    return true;
}

/* Reads more of the current or the next file. Once there is a younger file, the current one does
 * not grow any more, and only then is its end final. */
static bool read_on(kc__process_logs *logs)
{
    if (logs->fd < 0 || read_chunk(logs))
        return logs->fd >= 0;
    const int younger = open_younger(logs);
    if (younger < 0)
        return false;
    if (read_chunk(logs))
        close(younger);
    else
        use(logs, younger, 0);
    return true;
}

static bool process_logs_has_ended(const kc__process_logs *logs)
{
    kc__process_proc_state state;
    return !kc__process_proc_state_read(logs->dir_fd, logs->attempt, &state) ||
           state.report.phase == KC__POD_CONTAINER_ENDED;
}

kc__process_logs_more kc__process_logs_read(kc__process_logs *logs, kc_buf *out)
{
    if (is_full(logs))
        return KC__PROCESS_LOGS_END;
    const bool last = !logs->opts.follow || process_logs_has_ended(logs);
    if (logs->fd < 0)
        begin_at_oldest(logs);
    if (read_on(logs)) {
        put_lines(logs, out);
        return KC__PROCESS_LOGS_MORE;
    }
    return last ? KC__PROCESS_LOGS_END : KC__PROCESS_LOGS_WAIT;
}

void kc__process_logs_tail(int dir_fd, int attempt, int64_t lines, size_t bytes, kc_buf *out)
{
    kc_scoped(kc_buf) text = {0};
    kc__process_logs_opts opts = {.tail_lines = &lines};
    const int fd = dup(dir_fd);
    if (fd < 0)
        return;
    kc_auto(kc__process_logs) *logs = new_logs(fd, attempt, &opts);
    while (kc__process_logs_read(logs, &text) != KC__PROCESS_LOGS_END)
        if (text.n > 2 * bytes) {
            memmove(text.p, text.p + text.n - bytes, bytes);
            text.n = bytes;
        }
    const kc_str all = kc_buf_str(&text);
    kc_buf_append(out, kc_str_sub(all, all.n - KC_MIN(all.n, bytes), all.n));
}
