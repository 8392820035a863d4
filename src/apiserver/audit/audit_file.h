/* SPDX-License-Identifier: Apache-2.0 */
/* audit_file.h: the audit log: a file that is rotated, or standard output. */
#ifndef KC_APISERVER_AUDIT_FILE_H
#define KC_APISERVER_AUDIT_FILE_H

#include "apiserver/audit/audit_sink.h"

typedef struct kc__audit_file_opts {
    const char *path;       /* "-": standard output. */
    unsigned max_megabytes; /* Size at which it is rotated. Defaults to 100. */
    unsigned max_backups;   /* Rotated files that are kept. Defaults to all. */
    unsigned max_days;      /* Age up to which they are kept. Defaults to forever. */
    bool compress;          /* Rotated files, with gzip. */
    const kc_clock *clock;  /* Defaults to the system clock. */
} kc__audit_file_opts;

/* Creates the file (mode 0600) and its directory (0700) if missing. NULL on error. */
kc__audit_output *kc__audit_file_new(const kc__audit_file_opts *opts, kc_error *err);

#endif
