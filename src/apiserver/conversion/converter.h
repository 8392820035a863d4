/* SPDX-License-Identifier: Apache-2.0 */
/*
 * converter.h: calls the conversion webhooks of CRDs and keeps the converted objects.
 *
 *     requests, watches ── job (kinds/remote_conversion.h) ──▶ converter's loop
 *                                       │ kept? running? ──▶ batches ──▶ webhooks
 *     their loops ◀── results, pins ────┴── checked, coerced, kept ◀────────┘
 *
 * The converter has a loop of its own: writing reviews, and reading and checking responses, delays
 * no connection. Each revision of an object is converted once for each version: a job that needs an
 * object that is being converted waits for that conversion.
 */
#ifndef KC_APISERVER_CONVERTER_H
#define KC_APISERVER_CONVERTER_H

#include "apiserver/crd/crd_conversion.h"
#include "apiserver/governor/governor.h"
#include "apiserver/store/store.h"
#include "apiserver/webhook/webhook_error.h"
#include "kc/log.h"
#include "kc/rand.h"

/* Default budget of kept conversions, in bytes. */
#define KC__CONVERTER_KEPT_BYTES ((size_t)64 << 20)
/* Timeout of one call, as in Kubernetes. */
#define KC__CONVERTER_TIMEOUT (30 * KC_SECOND)

enum {
    KC__CONVERTER_BATCH_OBJECTS = 100,      /* Maximum number of objects in one review. */
    KC__CONVERTER_BATCH_BYTES = 256 * 1024, /* A review ends with the object that exceeds it. */
    KC__CONVERTER_CALLS = 64,               /* Calls in progress, of all CRDs. */
    KC__CONVERTER_CALLS_PER_CRD = 16,       /* The same of one CRD. */
    KC__CONVERTER_RESPONSE_BASE = 1 << 20,  /* A response may have this many bytes, … */
    KC__CONVERTER_RESPONSE_FACTOR = 8,      /* … and this many times those of the request. */
};

typedef struct kc__converter kc__converter;

/* Borrowed members must outlive the converter. */
typedef struct kc__converter_opts {
    kc__store *store;
    const kc_clock *clock;
    kc_log *log; /* May be NULL. */
    kc_metrics *metrics;
    kc__memory_account *memory; /* May be NULL. */
    kc_rand rand;
    size_t kept_bytes;             /* Defaults to KC__CONVERTER_KEPT_BYTES. */
    kc__http_client_send_fn *send; /* For tests. Defaults to kc__http_client_send. */
} kc__converter_opts;

/* Starts the converter's loop. NULL on error. */
kc__converter *kc__converter_start(const kc__converter_opts *opts, kc_error *err);
/* The interface for compiled CRDs. */
kc__crd_converter *kc__converter_interface(kc__converter *converter);
/* Calls end at this time at the latest (monotonic, real clock). Any thread; does not block. */
void kc__converter_end_by(kc__converter *converter, int64_t deadline);
/* Aborts all calls, which fails all jobs. The loops of jobs must still run. Blocks; not from a
 * loop's thread. */
void kc__converter_stop(kc__converter *converter);
/* No conversion may be pinned. NULL is allowed; returns NULL. */
kc__converter *kc__converter_free(kc__converter *converter);

/* Drops all kept conversions that are not in use: memory is short. Any thread. */
void kc__converter_shed(kc__converter *converter);

#endif
