/* SPDX-License-Identifier: Apache-2.0 */
/* exec_process.h: runs a program and captures its output. */
#ifndef KC_KUBECONFIG_EXEC_PROCESS_H
#define KC_KUBECONFIG_EXEC_PROCESS_H

#include "kc/buf.h"
#include "kc/error.h"

typedef struct kc__exec_process {
    const char *command;     /* A file name if it contains '/', otherwise searched in $PATH. */
    const char *const *args; /* Arguments after the command name; NULL-terminated; may be NULL. */
    const char *const *env;  /* Added to our environment; the last entry of a name wins.
                                NULL-terminated; may be NULL. */
    bool terminal;           /* Inherits our standard input; otherwise standard input is empty. */
    int64_t timeout;         /* In real time. */
    size_t max_output;
    int stop_fd; /* Terminates the program when this becomes readable. -1: none. */
} kc__exec_process;

/*
 * Blocks until the program has exited. Its standard error is ours; its standard output is appended
 * to `out`. *ret_status is the exit code, 128 + the number of the terminating signal, or -1 if the
 * program did not start. KC_NOT_FOUND: no such program; KC_TIMEOUT: the timeout expired or stop_fd
 * fired; KC_TOO_LARGE: too much output; KC_UNAUTHORIZED: the program failed.
 */
int kc__exec_process_run(const kc__exec_process *process, kc_buf *out, int *ret_status,
                         kc_error *err);

#endif
