/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_log_writer.c: writes the output of containers to log files in the CRI format:
 *
 *     2026-01-02T03:04:05.123456789Z stdout F a line
 *     2026-01-02T03:04:05.123456789Z stderr P the beginning of a very long line…
 *
 * A line longer than KC__PROCESS_LOG_MAX_LINE is written in parts: P, P, F. A last line without
 * newline is an F too. A file that reaches KC__PROCESS_LOG_MAX_BYTES becomes N.log.1, N.log.1
 * becomes N.log.2, and the oldest is deleted. If the disk is full, output is dropped and the
 * container keeps running.
 *
 * Used only by the loop's thread.
 */
#include "pods/process_internal.h"

#include "kc/time.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static void file_name(int attempt, int age, char ret[48])
{
    if (age == 0)
        snprintf(ret, 48, "%d.log", attempt);
    else
        snprintf(ret, 48, "%d.log.%d", attempt, age);
}

void kc__process_log_file_open(kc__process_log_file *log, int dir_fd, int attempt)
{
    char name[48];
    struct stat st = {0};
    file_name(attempt, 0, name);
    *log = (kc__process_log_file){.dir_fd = dir_fd, .attempt = attempt};
    log->fd = openat(dir_fd, name, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (log->fd >= 0 && fstat(log->fd, &st) == 0)
        log->size = st.st_size;
}

void kc__process_log_file_close(kc__process_log_file *log)
{
    if (log->fd >= 0)
        close(log->fd);
    log->fd = -1;
}

static void rotate(kc__process_log_file *log)
{
    char from[48], to[48];
    for (int age = KC__PROCESS_LOG_MAX_FILES - 2; age >= 0; age--) {
        file_name(log->attempt, age, from);
        file_name(log->attempt, age + 1, to);
        renameat(log->dir_fd, from, log->dir_fd, to);
    }
    kc__process_log_file_close(log);
    kc__process_log_file_open(log, log->dir_fd, log->attempt);
}

static void write_out(kc__process_runtime *rt, kc__process_log_file *log, kc_str text)
{
    while (text.n > 0) {
        const ssize_t n = log->fd < 0 ? -1 : write(log->fd, text.p, text.n);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            if (!log->failed)
                kc_log_warn(rt->log, "failed to write container log; output is lost",
                            kc_kv("err", log->fd < 0 ? "no file" : strerrordesc_np(errno)));
            log->failed = true;
            return;
        }
        log->size += n;
        text = kc_str_sub(text, (size_t)n, text.n);
    }
    log->failed = false;
}

static void process_log_writer_put_line(kc_buf *out, const char *stamp, const char *stream,
                                        char tag, kc_str text)
{
    kc_buf_printf(out, "%s %s %c ", stamp, stream, tag);
    kc_buf_append(out, text);
    kc_buf_putc(out, '\n');
}

/* Writes source->line in parts while it is too long. */
static void put_parts(kc_buf *out, const char *stamp, kc__process_source *source)
{
    size_t at = 0;
    while (source->line.n - at > KC__PROCESS_LOG_MAX_LINE) {
        process_log_writer_put_line(out, stamp, source->stream, 'P',
                                    kc_str_of(source->line.p + at, KC__PROCESS_LOG_MAX_LINE));
        at += KC__PROCESS_LOG_MAX_LINE;
        source->cut = true;
    }
    if (at) {
        memmove(source->line.p, source->line.p + at, source->line.n - at);
        source->line.n -= at;
    }
}

static void put_end(kc_buf *out, const char *stamp, kc__process_source *source)
{
    process_log_writer_put_line(out, stamp, source->stream, 'F', kc_buf_str(&source->line));
    kc_buf_clear(&source->line);
    source->cut = false;
}

static void stamp_of(kc_time now, char ret[48])
{
    char text[KC_TIME_TEXT];
    const kc_str seconds = kc_time_print(now, text);
    snprintf(ret, 48, "%.*s.%09lldZ", (int)seconds.n - 1, seconds.p, (long long)(now % KC_SECOND));
}

void kc__process_log_file_take(kc__process_runtime *rt, kc__process_log_file *log,
                               kc__process_source *source, kc_str bytes, bool end)
{
    kc_scoped(kc_buf) out = {0};
    char stamp[48];
    stamp_of(kc_clock_wall(rt->clock), stamp);
    while (bytes.n > 0) {
        kc_str rest = bytes;
        const kc_str line = kc_str_cut(&rest, '\n');
        kc_buf_append(&source->line, line);
        put_parts(&out, stamp, source);
        if (rest.p)
            put_end(&out, stamp, source);
        bytes = rest;
    }
    if (end && (source->line.n || source->cut))
        put_end(&out, stamp, source);
    write_out(rt, log, kc_buf_str(&out));
    if (log->size >= KC__PROCESS_LOG_MAX_BYTES)
        rotate(log);
}
