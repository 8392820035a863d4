/* SPDX-License-Identifier: Apache-2.0 */
/* process.h: runs a program and takes what it prints. */
#ifndef KC_CLIENT_PROCESS_H
#define KC_CLIENT_PROCESS_H

#include "kc/buf.h"
#include "kc/error.h"

typedef struct kc__process {
    const char *command;     /* With a '/' a file, else looked for in $PATH. */
    const char *const *args; /* Behind the command's name; ends with NULL; may be NULL. */
    const char *const *env;  /* Added to ours, the last of a name counts; both as for args. */
    bool terminal;           /* Gets our standard input; else nothing to read. */
    int64_t timeout;         /* In real time. */
    size_t max_output;
    int stop_fd; /* Ends it when this can be read. -1: none. */
} kc__process;

/*
 * Blocks until it has ended. Its standard error is ours; what it printed is appended to `out`.
 * *ret_status is the exit code, 128 + the number of the signal that ended it, or -1 if it was never
 * run. KC_NOT_FOUND: there is no such program; KC_TIMEOUT: it took too long, or was stopped;
 * KC_TOO_LARGE: it printed too much; KC_UNAUTHORIZED: it failed.
 */
int kc__process_run(const kc__process *process, kc_buf *out, int *ret_status, kc_error *err);

#endif
