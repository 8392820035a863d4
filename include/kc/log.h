/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log.h: structured logging: a constant message and typed fields.
 *
 *     kc_log_info(log, "pod bound", kc_kv("pod", name), kc_kv("node", node),
 *                 kc_kv_duration("took", took));
 *     kc_log_error(log, "list failed", kc_kv("kind", "Pod"), kc_kv("err", err));
 *     kc_log_verbose(log, 4, "cache hit", kc_kv("key", key));
 *
 * Output is text (coloured on a terminal) or one JSON object per line:
 *
 *   2025-11-17T08:30:00.123Z INFO  scheduler    pod bound      pod=web-1 node=n3 took=1.5ms
 *   {"ts":"2025-11-17T08:30:00.123Z","level":"info","logger":"scheduler","msg":"pod bound",…}
 *
 * There is no global logger: the command creates one and passes it down; child loggers add a name
 * and fields. A NULL logger writes nothing. The fields of a suppressed message are not evaluated.
 *
 * A record is always one line: control characters and invalid UTF-8 are escaped, values above
 * KC_LOG_MAX_VALUE bytes are truncated. Each line is one write. Thread-safe; blocks as long as its
 * output does.
 */
#ifndef KC_LOG_H
#define KC_LOG_H

#include "kc/clock.h"
#include "kc/error.h"

#define KC_LOG_MAX_VALUE ((size_t)8192)
#define KC_LOG_MAX_V     10

typedef struct kc_log kc_log;

typedef enum kc_log_level {
    KC_LOG_ERROR = -2,
    KC_LOG_WARN = -1,
    KC_LOG_INFO = 0,
    KC_LOG_DEBUG = 1,
} kc_log_level;

typedef enum kc_log_format { KC_LOG_CONSOLE, KC_LOG_JSON } kc_log_format;

typedef enum kc_log_colour {
    KC_LOG_COLOUR_AUTO, /* If the output is a terminal and NO_COLOR is not set. */
    KC_LOG_COLOUR_NEVER,
    KC_LOG_COLOUR_ALWAYS,
} kc_log_colour;

typedef struct kc_log_opts {
    kc_log_level level;    /* More detailed messages are dropped. Defaults to info. */
    int verbosity;         /* -v, from 0 to KC_LOG_MAX_V. Defaults to 0. */
    kc_log_format format;  /* Defaults to console. */
    kc_log_colour colour;  /* Of console. Defaults to auto. */
    bool caller;           /* Adds file and line. Defaults to no. */
    const kc_clock *clock; /* Defaults to the real one. */
    int fd;                /* The caller keeps ownership. Defaults to standard error. */
    /* Receives each line, with its newline, instead of fd. One call at a time; must not log. */
    void (*write)(kc_str line, void *user);
    void *user;
} kc_log_opts;

/* A new logger; opts may be NULL. The caller frees it. */
kc_log *kc_log_new(const kc_log_opts *opts);
/* NULL is allowed; returns NULL. Children are independent of it; the order of freeing does not
 * matter. */
kc_log *kc_log_free(kc_log *log);
KC_AUTO_DEFINE(kc_log, kc_log_free)

/*
 * A logger with a name (appended to the parent's: "manager.queue"; NULL for the same name) and
 * fields for all its messages, after those of the parent. The caller frees it. NULL for a NULL
 * parent.
 *
 *     kc_auto(kc_log) *log = kc_log_child(parent, "queue", kc_kv("kind", kind));
 */
#define kc_log_child(parent, ...) KC__LOG_CHILD(parent, __VA_ARGS__, )

/*
 * Replaces a child's own fields and reuses its memory: for a worker that logs about one object
 * after the other. `parent` is the logger it was created from. No other thread may use the child
 * meanwhile. NULL is allowed.
 */
#define kc_log_set_fields(child, parent, ...) \
    kc__log_set_fields(child, parent, (const kc_field[]){__VA_ARGS__, {0}})

/* For the logger and all loggers from the same kc_log_new. */
void kc_log_set_level(kc_log *log, kc_log_level level, int verbosity);

/* True if a message of this level would be written. */
bool kc_log_on(const kc_log *log, kc_log_level level);
/* The same for an info message of a verbosity: if (kc_log_v(log, 6)) dump(…); */
bool kc_log_v(const kc_log *log, int verbosity);

/* kc_log_info(log, message, fields…) */
#define kc_log_error(log, ...) KC__LOG(log, KC_LOG_ERROR, 0, __VA_ARGS__, )
#define kc_log_warn(log, ...)  KC__LOG(log, KC_LOG_WARN, 0, __VA_ARGS__, )
#define kc_log_info(log, ...)  KC__LOG(log, KC_LOG_INFO, 0, __VA_ARGS__, )
#define kc_log_debug(log, ...) KC__LOG(log, KC_LOG_DEBUG, 0, __VA_ARGS__, )
/* kc_log_verbose(log, verbosity, message, fields…): info, if -v is at least that. */
#define kc_log_verbose(log, v, ...) KC__LOG(log, KC_LOG_INFO, v, __VA_ARGS__, )

/* ---- fields ---- */

typedef enum kc_field_type {
    KC_FIELD_NULL,
    KC_FIELD_STR,
    KC_FIELD_INT,
    KC_FIELD_UINT,
    KC_FIELD_DOUBLE,
    KC_FIELD_BOOL,
    KC_FIELD_DURATION,
} kc_field_type;

/* Borrows the key and the string for the duration of the call it is passed to. */
typedef struct kc_field {
    const char *key;
    kc_field_type type;
    union {
        kc_str str;
        int64_t i;
        uint64_t u;
        double d;
        bool b;
    };
} kc_field;

/* A field typed by its value: string (char *, NULL too), kc_str, kc_error * (its message), bool (a
 * variable: the literal true is an int), any integer, double. */
#define kc_kv(key, value)                    \
    _Generic((value),                        \
        char *: kc__log_kv_text,             \
        const char *: kc__log_kv_text,       \
        kc_str: kc__log_kv_str,              \
        kc_error *: kc__log_kv_error,        \
        const kc_error *: kc__log_kv_error,  \
        bool: kc__log_kv_bool,               \
        float: kc__log_kv_double,            \
        double: kc__log_kv_double,           \
        unsigned char: kc__log_kv_uint,      \
        unsigned short: kc__log_kv_uint,     \
        unsigned: kc__log_kv_uint,           \
        unsigned long: kc__log_kv_uint,      \
        unsigned long long: kc__log_kv_uint, \
        default: kc__log_kv_int)(key, value)

/* Nanoseconds, written as "1.5s". */
static inline kc_field kc_kv_duration(const char *key, int64_t ns)
{
    return (kc_field){.key = key, .type = KC_FIELD_DURATION, .i = ns};
}

/* ---- parsing of options ---- */

/* Parse "error", "warn", "info", "debug"; "console" ("text"), "json". False for any other text. */
bool kc_log_level_from(kc_str text, kc_log_level *ret);
bool kc_log_format_from(kc_str text, kc_log_format *ret);

/* ---- implementation of the macros ---- */

/* The trailing comma of the callers allows `...` to be empty; a field without a key ends the list.
 */
#define KC__LOG(log, level, v, msg, ...)                           \
    do {                                                           \
        const kc_log *log_ = (log);                                \
        if ((v) ? kc_log_v(log_, v) : kc_log_on(log_, level))      \
            kc__log_write(log_, level, v, msg, __FILE__, __LINE__, \
                          (const kc_field[]){__VA_ARGS__{0}});     \
    } while (0)

#define KC__LOG_CHILD(parent, name, ...) \
    kc__log_child(parent, name, (const kc_field[]){__VA_ARGS__{0}})

void kc__log_write(const kc_log *log, kc_log_level level, int v, const char *msg, const char *file,
                   int line, const kc_field *fields);
kc_log *kc__log_child(const kc_log *parent, const char *name, const kc_field *fields);
void kc__log_set_fields(kc_log *child, const kc_log *parent, const kc_field *fields);

static inline kc_field kc__log_kv_str(const char *key, kc_str value)
{
    return (kc_field){.key = key, .type = KC_FIELD_STR, .str = value};
}

static inline kc_field kc__log_kv_text(const char *key, const char *value)
{
    return value ? kc__log_kv_str(key, kc_cstr(value))
                 : (kc_field){.key = key, .type = KC_FIELD_NULL};
}

static inline kc_field kc__log_kv_error(const char *key, const kc_error *err)
{
    return kc__log_kv_text(key, err && err->reason ? kc_error_text(err) : NULL);
}

static inline kc_field kc__log_kv_bool(const char *key, bool value)
{
    return (kc_field){.key = key, .type = KC_FIELD_BOOL, .b = value};
}

static inline kc_field kc__log_kv_int(const char *key, int64_t value)
{
    return (kc_field){.key = key, .type = KC_FIELD_INT, .i = value};
}

static inline kc_field kc__log_kv_uint(const char *key, uint64_t value)
{
    return (kc_field){.key = key, .type = KC_FIELD_UINT, .u = value};
}

static inline kc_field kc__log_kv_double(const char *key, double value)
{
    return (kc_field){.key = key, .type = KC_FIELD_DOUBLE, .d = value};
}

#endif
