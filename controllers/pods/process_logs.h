/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_logs.h: reads the logs of containers, for the node server.
 *
 *     kc_auto(kc__process_logs) *logs = kc__process_logs_open(dir, uid, KC_STR("web"),
 *                                         KC__POD_LATEST_ATTEMPT,
 *                                         &(kc__process_logs_opts){.follow = true}, err);
 *     while ((more = kc__process_logs_read(logs, &out, err)) != KC__PROCESS_LOGS_END) {
 *         if (more == KC__PROCESS_LOGS_WAIT && !kc_cancel_sleep_until(…))
 *             break;
 *         …
 *     }
 *
 * It uses only the files, which may be written and rotated while it reads. A reader must not be
 * used by several threads at a time.
 */
#ifndef KC_CONTROLLERS_PODS_PROCESS_LOGS_H
#define KC_CONTROLLERS_PODS_PROCESS_LOGS_H

#include "pods/runtime.h"

typedef struct kc__process_logs kc__process_logs;

/* Zero is the default in all of them. */
typedef struct kc__process_logs_opts {
    bool previous;             /* The previous attempt. */
    bool follow;               /* Wait for more output until the container has exited. */
    bool timestamps;           /* Prefix each line with its time. */
    const int64_t *tail_lines; /* Number of last lines. Defaults to all. */
    kc_time since;             /* Skip older lines. Defaults to none. */
    int64_t limit_bytes;       /* Maximum number of bytes. Defaults to no limit. */
} kc__process_logs_opts;

typedef enum kc__process_logs_more {
    KC__PROCESS_LOGS_END,  /* End of the log. */
    KC__PROCESS_LOGS_MORE, /* Call again. */
    KC__PROCESS_LOGS_WAIT, /* No output now, but the container is running: call again after a
                            * pause. */
} kc__process_logs_more;

/* `dir_fd` is that of the runtime's options; `attempt` may be KC__POD_LATEST_ATTEMPT. NULL with
 * KC_NOT_FOUND if the attempt does not exist. opts may be NULL; they are copied. */
kc__process_logs *kc__process_logs_open(const char *dir, kc_str pod_uid, kc_str container,
                                        int attempt, const kc__process_logs_opts *opts,
                                        kc_error *err);
/* NULL is allowed; returns NULL. */
kc__process_logs *kc__process_logs_close(kc__process_logs *logs);
KC_AUTO_DEFINE(kc__process_logs, kc__process_logs_close)

/* Appends the next part, at most some hundred kilobytes. */
kc__process_logs_more kc__process_logs_read(kc__process_logs *logs, kc_buf *out);

/* The end of an attempt's log, by the descriptor of the container's directory: at most so many
 * lines and bytes. */
void kc__process_logs_tail(int dir_fd, int attempt, int64_t lines, size_t bytes, kc_buf *out);

#endif
