/* SPDX-License-Identifier: Apache-2.0 */
/*
 * audit_options.c: the flags of the audit log, with the names and defaults of kube-apiserver, and
 * the sinks that they describe.
 */
#include "audit_options.h"

#include "apiserver/audit/audit_file.h"

#include <stddef.h>
#include <stdlib.h>

#define FIELD(name) .offset = offsetof(kc__cli_audit_options, name)
#define AUDIT       "Audit"

static const kc__cli_flag_choice modes[] = {
    {"batch", KC__AUDIT_BATCH, "buffer events and deliver them asynchronously"},
    {"blocking", KC__AUDIT_BLOCKING, "requests wait until their first event is delivered"},
    {"blocking-strict", KC__AUDIT_BLOCKING_STRICT,
     "the same, and requests fail if it cannot be delivered"},
    {NULL}};

static const kc__cli_flag_choice formats[] = {
    {"legacy", 1, "a line of text"}, {"json", 0, "a line of JSON"}, {NULL}};

static const kc__cli_flag_choice versions[] = {{"audit.k8s.io/v1", 0, NULL}, {NULL}};

/* A rate: more than 0. */
static int parse_rate(const char *text, void *ret, kc_error *err)
{
    char *end = NULL;
    const double rate = strtod(text, &end);
    if (end == text || *end || !(rate > 0) || rate > 1e9)
        return kc__cli_flag_invalid(text, "a number above 0", err);
    *(double *)ret = rate;
    return 0;
}

static const kc__cli_flag flags[] = {
    {"audit-policy-file", .argument = "FILE", .group = AUDIT, FIELD(policy_file),
     .parse = kc__cli_flag_text, .values = "FILE",
     .help = "audit policy (audit.k8s.io/v1): rules that set the audit level of each request",
     .details = "Without it nothing is recorded. The levels Request and RequestResponse record "
                "bodies, those of Secrets and tokens included: exclude these resources, or record "
                "them at the level Metadata."},
    {"audit-log-path", .argument = "FILE", .group = AUDIT, FIELD(log_path),
     .parse = kc__cli_flag_text, .values = "FILE",
     .help = "file of the audit log; - is standard output"},
    {"audit-log-maxage", .argument = "DAYS", .initial = "0", .group = AUDIT, FIELD(log_max_age),
     .parse = kc__cli_flag_limit, .help = "maximum age of rotated files; 0 keeps them forever"},
    {"audit-log-maxbackup", .argument = "N", .initial = "0", .group = AUDIT, FIELD(log_max_backup),
     .parse = kc__cli_flag_limit, .help = "maximum number of rotated files; 0 keeps all"},
    {"audit-log-maxsize", .argument = "MEGABYTES", .initial = "0", .group = AUDIT,
     FIELD(log_max_size), .parse = kc__cli_flag_limit,
     .help = "maximum size of the file before it is rotated; 0 selects 100"},
    {"audit-log-compress", .initial = "false", .group = AUDIT, FIELD(log_compress),
     .parse = kc__cli_flag_switch, .help = "compress rotated files with gzip"},
    {"audit-log-format", .argument = "FORMAT", .initial = "json", .group = AUDIT, FIELD(log_legacy),
     .choices = formats, .help = "format of the audit log"},
    {"audit-log-mode", .argument = "MODE", .initial = "blocking", .group = AUDIT, FIELD(log.mode),
     .choices = modes, .help = "mode of delivery"},
    {"audit-log-version", .argument = "VERSION", .initial = "audit.k8s.io/v1", .group = AUDIT,
     FIELD(log.version), .choices = versions, .parse = kc__cli_flag_text,
     .help = "API version of the events"},
    {"audit-log-batch-buffer-size", .argument = "N", .initial = "10000", .group = AUDIT,
     FIELD(log.buffer_size), .parse = kc__cli_flag_count,
     .help = "maximum number of buffered events; beyond it events are lost"},
    {"audit-log-batch-max-size", .argument = "N", .initial = "1", .group = AUDIT,
     FIELD(log.batch_size), .parse = kc__cli_flag_count,
     .help = "maximum number of events of a batch, in the mode batch"},
    {"audit-log-batch-max-wait", .argument = "DURATION", .initial = "0", .group = AUDIT,
     FIELD(log.batch_wait), .parse = kc__cli_flag_interval,
     .help = "maximum time that a batch waits for more events, in the mode batch"},
    {"audit-log-batch-throttle-enable", .initial = "false", .group = AUDIT, FIELD(log.throttle),
     .parse = kc__cli_flag_switch, .help = "limit the rate of batches, in the mode batch"},
    {"audit-log-batch-throttle-qps", .argument = "RATE", .initial = "10", .group = AUDIT,
     FIELD(log.throttle_qps), .parse = parse_rate, .help = "average number of batches per second"},
    {"audit-log-batch-throttle-burst", .argument = "N", .initial = "15", .group = AUDIT,
     FIELD(log.throttle_burst), .parse = kc__cli_flag_count,
     .help = "number of batches that may be sent at once after a pause"},
    {"audit-log-truncate-enabled", .initial = "false", .group = AUDIT, FIELD(log.truncate),
     .parse = kc__cli_flag_switch, .help = "truncate large events, and split large batches"},
    {"audit-log-truncate-max-batch-size", .argument = "BYTES", .initial = "10485760",
     .group = AUDIT, FIELD(log.max_batch_bytes), .parse = kc__cli_flag_bytes,
     .help = "maximum size of a batch"},
    {"audit-log-truncate-max-event-size", .argument = "BYTES", .initial = "102400", .group = AUDIT,
     FIELD(log.max_event_bytes), .parse = kc__cli_flag_bytes,
     .help = "maximum size of an event; a larger one is recorded without bodies, or not at all"},

    {"audit-webhook-config-file", .argument = "FILE", .group = AUDIT, FIELD(webhook_file),
     .parse = kc__cli_flag_text, .values = "FILE",
     .help = "kubeconfig file with the address and credentials of a server that receives the "
             "events"},
    {"audit-webhook-initial-backoff", .argument = "DURATION", .initial = "10s", .group = AUDIT,
     FIELD(webhook_backoff), .parse = kc__cli_flag_duration,
     .help = "delay before the first retry of a delivery"},
    {"audit-webhook-mode", .argument = "MODE", .initial = "batch", .group = AUDIT,
     FIELD(webhook.mode), .choices = modes, .help = "mode of delivery"},
    {"audit-webhook-version", .argument = "VERSION", .initial = "audit.k8s.io/v1", .group = AUDIT,
     FIELD(webhook.version), .choices = versions, .parse = kc__cli_flag_text,
     .help = "API version of the events"},
    {"audit-webhook-batch-buffer-size", .argument = "N", .initial = "10000", .group = AUDIT,
     FIELD(webhook.buffer_size), .parse = kc__cli_flag_count,
     .help = "maximum number of buffered events; beyond it events are lost"},
    {"audit-webhook-batch-max-size", .argument = "N", .initial = "400", .group = AUDIT,
     FIELD(webhook.batch_size), .parse = kc__cli_flag_count,
     .help = "maximum number of events of a batch, in the mode batch"},
    {"audit-webhook-batch-max-wait", .argument = "DURATION", .initial = "30s", .group = AUDIT,
     FIELD(webhook.batch_wait), .parse = kc__cli_flag_interval,
     .help = "maximum time that a batch waits for more events, in the mode batch"},
    {"audit-webhook-batch-throttle-enable", .initial = "true", .group = AUDIT,
     FIELD(webhook.throttle), .parse = kc__cli_flag_switch,
     .help = "limit the rate of batches, in the mode batch"},
    {"audit-webhook-batch-throttle-qps", .argument = "RATE", .initial = "10", .group = AUDIT,
     FIELD(webhook.throttle_qps), .parse = parse_rate,
     .help = "average number of batches per second"},
    {"audit-webhook-batch-throttle-burst", .argument = "N", .initial = "15", .group = AUDIT,
     FIELD(webhook.throttle_burst), .parse = kc__cli_flag_count,
     .help = "number of batches that may be sent at once after a pause"},
    {"audit-webhook-truncate-enabled", .initial = "false", .group = AUDIT, FIELD(webhook.truncate),
     .parse = kc__cli_flag_switch, .help = "truncate large events, and split large batches"},
    {"audit-webhook-truncate-max-batch-size", .argument = "BYTES", .initial = "10485760",
     .group = AUDIT, FIELD(webhook.max_batch_bytes), .parse = kc__cli_flag_bytes,
     .help = "maximum size of a batch"},
    {"audit-webhook-truncate-max-event-size", .argument = "BYTES", .initial = "102400",
     .group = AUDIT, FIELD(webhook.max_event_bytes), .parse = kc__cli_flag_bytes,
     .help = "maximum size of an event; a larger one is recorded without bodies, or not at all"},
};

const kc__cli_flag_set kc__cli_audit_flags = {KC__CLI_FLAGS(flags),
                                              .size = sizeof(kc__cli_audit_options)};

static int check_sink(const kc__cli_audit_sink_options *o, const char *name, kc_error *err)
{
    if (o->max_batch_bytes < o->max_event_bytes)
        return kc_error_set(err, KC_INVALID,
                            "invalid audit truncate %s max batch size %zu, must be greater than "
                            "max event size (%zu)",
                            name, o->max_batch_bytes, o->max_event_bytes);
    return 0;
}

int kc__cli_audit_options_check(kc__cli_audit_options *o, kc_error *err)
{
    const char **texts[] = {&o->policy_file, &o->log_path, &o->webhook_file};
    for (size_t i = 0; i < KC_COUNT(texts); i++)
        if (*texts[i] && !**texts[i])
            *texts[i] = NULL;
    if (o->log_path && check_sink(&o->log, "log", err) < 0)
        return kc_error_result(err);
    return o->webhook_file ? check_sink(&o->webhook, "webhook", err) : 0;
}

/* Batches of the log have no limit: one write takes what is buffered. */
static kc__audit_sink_opts sink_opts(const kc__cli_audit_sink_options *o, kc__audit_output *output,
                                     kc_log *log)
{
    const bool batch = o->mode == KC__AUDIT_BATCH;
    return (kc__audit_sink_opts){.mode = (kc__audit_mode)o->mode,
                                 .buffer_events = o->buffer_size,
                                 .batch_events = o->batch_size > 1 ? o->batch_size : 0,
                                 .batch_wait = o->batch_wait,
                                 .throttle_qps = batch && o->throttle ? o->throttle_qps : 0,
                                 .throttle_burst = (double)o->throttle_burst,
                                 .truncate = o->truncate,
                                 .max_event_bytes = o->max_event_bytes,
                                 .max_batch_bytes = o->max_batch_bytes,
                                 .output = output,
                                 .log = log};
}

static int add_log(kc__audit *audit, const kc__cli_audit_options *o, kc_log *log, kc_error *err)
{
    kc__audit_output *output =
        kc__audit_file_new(&(kc__audit_file_opts){.path = o->log_path,
                                                  .max_megabytes = (unsigned)o->log_max_size,
                                                  .max_backups = (unsigned)o->log_max_backup,
                                                  .max_days = (unsigned)o->log_max_age,
                                                  .compress = o->log_compress},
                           err);
    if (!output)
        return kc_error_wrap(err, "--audit-log-path");
    const kc__audit_sink_opts opts = sink_opts(&o->log, output, log);
    return kc__audit_add_sink(audit, &opts, o->log_legacy, err);
}

static int add_webhook(kc__audit *audit, const kc__cli_audit_options *o, kc_log *log, kc_error *err)
{
    kc__audit_output *output = kc__cli_audit_webhook_new(o->webhook_file, o->webhook_backoff, err);
    if (!output)
        return kc_error_wrap(err, "--audit-webhook-config-file");
    const kc__audit_sink_opts opts = sink_opts(&o->webhook, output, log);
    return kc__audit_add_sink(audit, &opts, false, err);
}

kc__audit *kc__cli_audit_open(const kc__cli_audit_options *o, kc_metrics *metrics, kc_log *log,
                              kc_error *err)
{
    if (!o->log_path && !o->webhook_file)
        return NULL;
    if (!o->policy_file) {
        kc_log_warn(log, "no audit policy file provided, no events will be recorded",
                    kc_kv("flag", "--audit-policy-file"));
        return NULL;
    }
    kc_auto(kc__audit) *audit = kc__audit_new(o->policy_file, metrics, log, err);
    if (!audit || (o->log_path && add_log(audit, o, log, err) < 0) ||
        (o->webhook_file && add_webhook(audit, o, log, err) < 0))
        return NULL;
    return kc_take(audit);
}
