/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quota_controller.h: the files of the quota controller and their calls:
 *
 *     discovery ──▶ quota_monitors.c ── deletions ──▶ queue of quotas
 *                                                        │
 *     server ◀── status ── resource_quota.c ◀────────────┘
 *                    └── lists ── quota_usage.c
 */
#ifndef KC_CONTROLLERS_RESOURCEQUOTA_H
#define KC_CONTROLLERS_RESOURCEQUOTA_H

#include "kc/cache.h"
#include "kc/quota.h"
#include "kc/reconcile.h"
#include "kc/source.h"

extern const kc_kind kc__rq_kind; /* ResourceQuota */

typedef struct kc__rq kc__rq;

/* An informer of a resource whose deletions free quota. */
typedef struct kc__rq_monitor {
    kc__rq *rq;
    const kc_kind *kind;
    kc_quota_resource resource;
    kc_informer *informer;
    kc_event_handler *handler;
} kc__rq_monitor;

struct kc__rq {
    kc_cache *cache;
    const kc_clock *clock;
    kc_mutex mutex; /* Guards the rest. Holders take only the locks of the queue and the cache. */
    KC_VEC(kc__rq_monitor *) monitors; /* Changed only by kc__rq_monitor_resources. */
    bool discovered;
    kc_queue *queue; /* Of quotas; NULL while no worker runs. */
};

/* ---- quota_monitors.c ---- */

/* Discovers resources and starts and stops monitors. A reconciler; it ignores its key. */
kc_result kc__rq_monitor_resources(kc_context *ctx, const kc_request *request, kc_error *err);
/* Whether the server's resources are known. */
bool kc__rq_has_discovered(kc__rq *rq);
void kc__rq_stop_monitors(kc__rq *rq);

/* ---- quota_usage.c ---- */

/*
 * The usage of a quota: lists the objects of its namespace at the server and sums what they use.
 * Names that no served resource tracks are missing. `ret` is zeroed; its names live as long as the
 * view of the quota. Negative with an error if a list fails.
 */
int kc__rq_usage(kc__rq *rq, kc_client *client, kc_str ns, const kc_value *quota,
                 kc_quota_amounts *ret, kc_error *err);

#endif
