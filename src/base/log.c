/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log.c: loggers and their output.
 *
 *     kc_log "manager"            ──┐
 *     kc_log "manager.queue" kind=… ├──▶ sink: level, format, clock, fd or function
 *     kc_log "store"              ──┘
 *
 * A logger is a name and its bound fields, which are formatted once, when it is created; it is
 * immutable and needs no lock. Loggers from the same kc_log_new share a reference-counted sink.
 * Level and verbosity are atomic, so the check before each message is two loads.
 *
 * A line is formatted without a lock, then written with one write(2) under the sink's mutex. That
 * lock is held across I/O on purpose: it only guards the order of lines on one output, and a thread
 * that finds it taken would have to wait for that output anyway. When an output accepts only part
 * of a line (a full disk, a non-blocking pipe), the rest is dropped and the next line starts with a
 * newline, so that no two lines run together.
 */
#include "kc/log.h"

#include "base/log_internal.h"
#include "kc/ref.h"
#include "kc/thread.h"

#include <errno.h>
#include <unistd.h>

typedef struct log_sink {
    kc_ref refs;
    _Atomic int level, verbosity;
    const kc__log_formatter *formatter;
    bool colour, caller;
    const kc_clock *clock;
    int fd;
    void (*write)(kc_str line, void *user); /* NULL: to fd. */
    void *user;
    kc_mutex mutex; /* Guards torn and the output. Innermost lock. */
    bool torn;      /* The last line was not written completely. */
} log_sink;

struct kc_log {
    log_sink *sink;
    char *name;   /* NULL: none. */
    kc_buf bound; /* Fields, formatted. */
};

static bool wants_colour(const kc_log_opts *opts, int fd)
{
    if (opts->format != KC_LOG_CONSOLE || opts->colour == KC_LOG_COLOUR_NEVER)
        return false;
    if (opts->colour == KC_LOG_COLOUR_ALWAYS)
        return true;
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
    return !opts->write && isatty(fd) && !(no_color && *no_color) &&
           !(term && strcmp(term, "dumb") == 0);
}

kc_log *kc_log_new(const kc_log_opts *opts)
{
    static const kc_log_opts defaults = {0};
    static const kc__log_formatter *const formatters[] = {
        [KC_LOG_CONSOLE] = &kc__log_console,
        [KC_LOG_JSON] = &kc__log_json,
    };
    opts = opts ? opts : &defaults;
    log_sink *out = kc_new(log_sink);
    kc_ref_init(&out->refs);
    kc_mutex_init(&out->mutex);
    out->formatter = formatters[opts->format];
    out->fd = opts->fd ? opts->fd : STDERR_FILENO;
    out->write = opts->write;
    out->user = opts->user;
    out->caller = opts->caller;
    out->colour = wants_colour(opts, out->fd);
    out->clock = opts->clock ? opts->clock : kc_clock_real();
    kc_log *log = kc_new(kc_log);
    log->sink = out;
    kc_log_set_level(log, opts->level, opts->verbosity);
    return log;
}

kc_log *kc_log_free(kc_log *log)
{
    if (!log)
        return NULL;
    if (kc_ref_drop(&log->sink->refs)) {
        kc_mutex_done(&log->sink->mutex);
        free(log->sink);
    }
    free(log->name);
    kc_buf_done(&log->bound);
    free(log);
    return NULL;
}

static char *join_names(const char *parent, const char *name)
{
    if (parent && name)
        return kc_asprintf("%s.%s", parent, name);
    return parent || name ? kc_strdup(parent ? parent : name) : NULL;
}

kc_log *kc__log_child(const kc_log *parent, const char *name, const kc_field *fields)
{
    if (!parent)
        return NULL;
    kc_log *log = kc_new(kc_log);
    log->sink = parent->sink;
    kc_ref_add(&log->sink->refs);
    log->name = join_names(parent->name, name);
    kc_buf_append(&log->bound, kc_buf_str(&parent->bound));
    log->sink->formatter->fields(&log->bound, fields, log->sink->colour);
    return log;
}

void kc__log_set_fields(kc_log *child, const kc_log *parent, const kc_field *fields)
{
    if (!child)
        return;
    child->bound.n = parent->bound.n;
    child->sink->formatter->fields(&child->bound, fields, child->sink->colour);
}

void kc_log_set_level(kc_log *log, kc_log_level level, int verbosity)
{
    if (!log)
        return;
    atomic_store(&log->sink->level, level);
    atomic_store(&log->sink->verbosity, KC_MIN(KC_MAX(verbosity, 0), KC_LOG_MAX_V));
}

bool kc_log_on(const kc_log *log, kc_log_level level)
{
    return log && (int)level <= atomic_load_explicit(&log->sink->level, memory_order_relaxed);
}

bool kc_log_v(const kc_log *log, int verbosity)
{
    return kc_log_on(log, KC_LOG_INFO) &&
           verbosity <= atomic_load_explicit(&log->sink->verbosity, memory_order_relaxed);
}

/* One write except in rare cases: a signal, or an output that accepts part of a line. Returns the
 * number of bytes written. */
static size_t write_all(int fd, kc_str text)
{
    size_t written = 0;
    while (written < text.n) {
        ssize_t n = write(fd, text.p + written, text.n - written);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            break;
        written += (size_t)n;
    }
    return written;
}

static void write_line(log_sink *out, kc_str text)
{
    size_t written = write_all(out->fd, text);
    if (written)
        out->torn = written < text.n;
}

/* `text` starts with a newline, which is written only after a torn line. */
static void put_out(log_sink *out, kc_str text)
{
    kc_str line = kc_str_sub(text, 1, text.n);
    int errno_before = errno;
    kc_locked (&out->mutex) {
        if (out->write)
            out->write(line, out->user);
        else
            write_line(out, out->torn ? text : line);
    }
    errno = errno_before;
}

void kc__log_write(const kc_log *log, kc_log_level level, int v, const char *msg, const char *file,
                   int line, const kc_field *fields)
{
    log_sink *out = log->sink;
    kc_scoped(kc_buf) text = {0};
    kc_buf_putc(&text, '\n');
    out->formatter->line(&text,
                         &(kc__log_record){.wall = kc_clock_wall(out->clock),
                                           .level = level,
                                           .v = v,
                                           .name = log->name,
                                           .msg = msg,
                                           .file = out->caller ? file : NULL,
                                           .line = line,
                                           .bound = kc_buf_str(&log->bound),
                                           .fields = fields},
                         out->colour);
    put_out(out, kc_buf_str(&text));
}

bool kc_log_level_from(kc_str text, kc_log_level *ret)
{
    for (int level = KC_LOG_ERROR; level <= KC_LOG_DEBUG; level++)
        if (kc_str_is(text, kc__log_level_text((kc_log_level)level))) {
            *ret = (kc_log_level)level;
            return true;
        }
    return false;
}

bool kc_log_format_from(kc_str text, kc_log_format *ret)
{
    bool json = kc_str_is(text, "json");
    if (!json && !kc_str_is(text, "console") && !kc_str_is(text, "text"))
        return false;
    *ret = json ? KC_LOG_JSON : KC_LOG_CONSOLE;
    return true;
}
