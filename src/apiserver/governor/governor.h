/* SPDX-License-Identifier: Apache-2.0 */
/*
 * governor.h: keeps the server within its memory limits.
 *
 *     loops ── kc__memory_add ──▶ accounts, one for each loop ─┐
 *     /proc/self/statm, every 250 ms under load ──────────────┴─▶ level: ok, soft, hard
 *                                                                  │
 *     kc__governor_admit: may this request begin? ◀────────────────┤
 *     opts.evict: close idle connections ◀── soft, hard ───────────┤
 *     opts.shed: cancel responses in progress ◀── hard ────────────┘
 *
 * Above the soft limit expensive requests are rejected (429, Retry-After) and freed memory is
 * returned to the operating system; idle connections are closed. Above the hard limit the largest
 * responses in progress are cancelled as well. memory_state.h makes the decisions; this module has
 * the readings, the accounts and the thread that takes the readings.
 *
 * Without a real clock (simulation) there is no thread, and the process's memory is not read: the
 * level depends on the counted memory alone, so it is the same in each run.
 */
#ifndef KC_APISERVER_GOVERNOR_H
#define KC_APISERVER_GOVERNOR_H

#include "apiserver/governor/memory_state.h"
#include "kc/clock.h"
#include "kc/error.h"
#include "kc/log.h"
#include "kc/metrics.h"

#include <stdatomic.h>

/* Categories of memory; the second column is the metric's label. */
#define KC__MEMORY_CATEGORIES(X)                                              \
    X(REQUESTS, "requests")   /* Bodies and the objects made from them. */    \
    X(RESPONSES, "responses") /* Responses that clients have not read yet. */ \
    X(WATCHES, "watches")     /* Selectors and queues. */                     \
    X(SNAPSHOTS, "snapshots") /* Old snapshots that lists and pages hold. */  \
    X(CACHES, "caches")       /* OpenAPI documents, compiled schemas. */

typedef enum kc__memory_category {
#define KC__MEMORY_ENUM(name, label) KC__MEMORY_##name,
    KC__MEMORY_CATEGORIES(KC__MEMORY_ENUM)
#undef KC__MEMORY_ENUM
        KC__N_MEMORY
} kc__memory_category;

/* The counters of one loop, or of one other thread; on a cache line of its own. */
typedef struct kc__memory_account {
    _Alignas(64) _Atomic int64_t bytes[KC__N_MEMORY];
} kc__memory_account;

/* Negative: released. Any thread; cheapest on the account's own. NULL counts nothing. */
static inline void kc__memory_add(kc__memory_account *account, kc__memory_category category,
                                  int64_t bytes)
{
    if (account && bytes)
        atomic_fetch_add_explicit(&account->bytes[category], bytes, memory_order_relaxed);
}

typedef struct kc__governor kc__governor;

typedef struct kc__governor_opts {
    size_t soft, hard;               /* Default to 50 % and 75 % of the available memory. */
    size_t accounts;                 /* Number of accounts. Defaults to 1. */
    const kc_clock *clock;           /* Defaults to the real clock. */
    int64_t interval;                /* Between readings under load. Defaults to 250 ms. */
    int64_t idle_interval;           /* The same of an idle server. Defaults to 2 s. */
    bool (*read)(size_t *ret_bytes); /* Defaults to kc__memory_resident. */
    /* Called above the hard limit, on the governor's thread: cancel responses that hold about this
     * many bytes. May be NULL. */
    void (*shed)(size_t bytes, void *user);
    /* Called above the soft limit, likewise: close what is idle. May be NULL. */
    void (*evict)(void *user);
    void *user;
    kc_log *log;
    kc_metrics *metrics;
} kc__governor_opts;

/* Starts the thread that takes readings. NULL on error. */
kc__governor *kc__governor_start(const kc__governor_opts *opts, kc_error *err);
/* Ends the thread; `shed` and `evict` no longer run when it returns. NULL is allowed. Blocks. */
void kc__governor_stop(kc__governor *governor);
/* After kc__governor_stop. NULL is allowed; returns NULL. */
kc__governor *kc__governor_free(kc__governor *governor);

kc__memory_account *kc__governor_account(kc__governor *governor, size_t i);

/* The current readings, limits and counters. Any thread. */
kc__memory_state kc__governor_state(kc__governor *governor);
kc__memory_level kc__governor_level(kc__governor *governor);
int64_t kc__governor_counted(const kc__governor *governor, kc__memory_category category);

/* A request has arrived, or its body is complete: the next reading follows within the interval of
 * load. Costs a load while the server is busy. Any thread. */
void kc__governor_note_request(kc__governor *governor);
/* Whether a request may begin; KC_TOO_MANY_REQUESTS with a Retry-After if not. Any thread. */
int kc__governor_admit(kc__governor *governor, const kc__governor_request_traits *traits,
                       kc_error *err);
/* Counts cancelled responses in the metrics; `kind` is "list", "watch" or "object". */
void kc__governor_cancelled(kc__governor *governor, kc_str kind, size_t n);

/* Takes a reading now, and acts on it as the thread would. For tests. */
void kc__governor_tick(kc__governor *governor);

#endif
