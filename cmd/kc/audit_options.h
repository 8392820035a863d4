/* SPDX-License-Identifier: Apache-2.0 */
/* audit_options.h: the flags of the audit log, and opening it. */
#ifndef KC_CMD_AUDIT_OPTIONS_H
#define KC_CMD_AUDIT_OPTIONS_H

#include "flags.h"

#include "apiserver/audit/audit.h"

/* The flags that the log and the webhook share. */
typedef struct kc__cli_audit_sink_options {
    int mode; /* kc__audit_mode */
    const char *version;
    size_t buffer_size, batch_size;
    int64_t batch_wait;
    bool throttle;
    double throttle_qps;
    size_t throttle_burst;
    bool truncate;
    size_t max_batch_bytes, max_event_bytes;
} kc__cli_audit_sink_options;

typedef struct kc__cli_audit_options {
    const char *policy_file;
    const char *log_path;
    size_t log_max_age, log_max_backup, log_max_size;
    bool log_compress;
    int log_legacy; /* 1: the format legacy. */
    const char *webhook_file;
    int64_t webhook_backoff;
    kc__cli_audit_sink_options log, webhook;
} kc__cli_audit_options;

/* A part of the flags of `kc apiserver` and `kc up`. */
extern const kc__cli_flag_set kc__cli_audit_flags;

/* Refuses contradicting flags (KC_INVALID). */
int kc__cli_audit_options_check(kc__cli_audit_options *options, kc_error *err);

/* Opens the audit log; NULL without an error if no sink is configured, or no policy. Blocks. */
kc__audit *kc__cli_audit_open(const kc__cli_audit_options *options, kc_metrics *metrics,
                              kc_log *log, kc_error *err);

/* ---- audit_webhook.c ---- */

/* The output of --audit-webhook-config-file. NULL on error. */
kc__audit_output *kc__cli_audit_webhook_new(const char *kubeconfig, int64_t initial_backoff,
                                            kc_error *err);

#endif
