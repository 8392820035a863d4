/* SPDX-License-Identifier: Apache-2.0 */
/*
 * encryption_reload.c: the thread that reads the configuration again.
 *
 * The thread compares the hash of the file once per interval. A file that cannot be read, or whose
 * content is invalid, changes nothing: the previous configuration stays in use, the readiness check
 * fails and a metric counts, until a later attempt succeeds. Attempts after a failure come sooner.
 */
#include "apiserver/storage/encryption/encryption_internal.h"

#define RETRY (5 * KC_SECOND)

/* Waits for the next attempt. False: the object is being freed. */
static bool await_attempt(kc__encryption *e)
{
    bool stopping;
    kc_locked (&e->lock) {
        const int64_t wait = e->healthy ? e->opts.interval : KC_MIN(e->opts.interval, RETRY);
        const int64_t deadline = kc_clock_deadline(e->opts.clock, wait);
        while (!e->stopping && kc_cond_wait_until(&e->stop, &e->lock, e->opts.clock, deadline)) {
        }
        stopping = e->stopping;
    }
    return !stopping;
}

static void set_healthy(kc__encryption *e, bool healthy)
{
    kc_locked (&e->lock)
        e->healthy = healthy;
}

/* Replaces the configuration and drops the reference to the previous one. */
static void apply_config(kc__encryption *e, kc__encryption_config *now)
{
    kc__encryption_config *before = NULL;
    kc_locked (&e->lock) {
        before = e->current;
        e->current = now;
        e->healthy = true;
        if (e->changed) /* Under the lock: kc__encryption_on_change waits for it. */
            e->changed(before, now, e->user);
    }
    kc__encryption_count_reload(e, false, now->hash, before->hash);
    kc_log_info(e->opts.log, "loaded new encryption configuration", kc_kv("file", e->path),
                kc_kv("hash", (const char *)now->hash));
    kc__encryption_config_unref(before);
}

static void attempt_reload(kc__encryption *e)
{
    kc_scoped(kc_error) err = {0};
    kc_auto(kc__encryption_config) *current = kc__encryption_current(e);
    kc__encryption_config *next = kc__encryption_config_read(e->path, current->hash, &err);
    if (err.reason) {
        set_healthy(e, false);
        kc__encryption_count_reload(e, true, NULL, NULL);
        kc_log_error(e->opts.log,
                     "cannot reload the encryption configuration; the previous one "
                     "stays in use",
                     kc_kv("file", e->path), kc_kv("err", &err));
        return;
    }
    if (next)
        apply_config(e, next);
    else
        set_healthy(e, true);
}

void kc__encryption_reload_run(void *encryption)
{
    while (await_attempt(encryption))
        attempt_reload(encryption);
}
