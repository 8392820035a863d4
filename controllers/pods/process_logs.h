/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_logs.h: the logs of containers, for those who serve them.
 *
 *     kc_auto(kc__logs) *logs = kc__logs_open(folder, uid, KC_STR("web"), KC__LATEST,
 *                                             &(kc__logs_opts){.follow = true}, err);
 *     while ((more = kc__logs_read(logs, &out, err)) != KC__LOGS_END) {
 *         if (more == KC__LOGS_WAIT && !kc_cancel_sleep_until(…))
 *             break;
 *         …
 *     }
 *
 * Over files alone: it needs nothing of the process that writes them, and may read while they are
 * written and rotated. One reader is for one thread at a time.
 */
#ifndef KC_CONTROLLERS_PODS_PROCESS_LOGS_H
#define KC_CONTROLLERS_PODS_PROCESS_LOGS_H

#include "pods/runtime.h"

typedef struct kc__logs kc__logs;

/* Zero is the default in all of them. */
typedef struct kc__logs_opts {
    bool previous;             /* The attempt before. */
    bool follow;               /* Wait for what is written, until the container has ended. */
    bool timestamps;           /* Before each line. */
    const int64_t *tail_lines; /* Only the last so many. Defaults to all. */
    kc_time since;             /* Not what is older. Defaults to all. */
    int64_t limit_bytes;       /* Stop after so many. Defaults to no limit. */
} kc__logs_opts;

typedef enum kc__logs_more {
    KC__LOGS_END,  /* There is no more. */
    KC__LOGS_MORE, /* Call again. */
    KC__LOGS_WAIT, /* Nothing now, but the container runs: call again in a moment. */
} kc__logs_more;

/* `folder` is that of the runtime's options, `attempt` may be KC__LATEST. NULL with KC_NOT_FOUND if
 * there is no such attempt. opts may be NULL; they are copied. */
kc__logs *kc__logs_open(const char *folder, kc_str pod_uid, kc_str container, int attempt,
                        const kc__logs_opts *opts, kc_error *err);
/* NULL is allowed; returns NULL. */
kc__logs *kc__logs_close(kc__logs *logs);
KC_AUTO_DEFINE(kc__logs, kc__logs_close)

/* Appends what comes next, some hundred kilobytes at most. */
kc__logs_more kc__logs_read(kc__logs *logs, kc_buf *out);

/* The end of an attempt's log, by the descriptor of the container's folder: so many lines and bytes
 * at most. */
void kc__logs_tail(int folder, int attempt, int64_t lines, size_t bytes, kc_buf *out);

#endif
