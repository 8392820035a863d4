/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hooks.h: the admission webhooks of a server: which there are, how they are reached, what is
 * counted about them.
 *
 *     kc_auto(kc__hook_set) *set = kc__hooks_now(api->hooks);
 *     if (!set)
 *         return KC__NEXT;                                        nobody is to be asked
 */
#ifndef KC_APISERVER_HOOKS_H
#define KC_APISERVER_HOOKS_H

#include "apiserver/admission/hook.h"
#include "apiserver/store/store.h"
#include "http/ask.h"
#include "kc/metrics.h"
#include "kc/thread.h"

typedef struct kc__hooks {
    kc__asker *asker;
    kc_metric *durations, *rejections, *failed_open, *requests;
    kc__cache *mutating, *validating; /* The stored configurations. */

    /* What `set` was made of, and whether there is anything in it. Written under the mutex. */
    _Atomic uint64_t mutating_seen, validating_seen;
    _Atomic bool any;
    kc_mutex mutex; /* Guards `set`. */
    kc__hook_set *set;
} kc__hooks;

/* NULL on error. */
kc__hooks *kc__hooks_new(kc__store *store, kc_metrics *metrics, kc_error *err);
/* NULL is allowed; returns NULL. */
kc__hooks *kc__hooks_free(kc__hooks *hooks);

/* All that are configured at this moment, or NULL where there are none. What was stored before the
 * call is in it. Costs a few loads while nothing is configured. The caller drops the reference. Any
 * thread. */
kc__hook_set *kc__hooks_now(kc__hooks *hooks);

/* How a question ended. */
typedef enum kc__hook_result {
    KC__HOOK_ALLOWED,
    KC__HOOK_DENIED,  /* By the hook. */
    KC__HOOK_FAILED,  /* It could not be asked, or did not answer as it should. */
    KC__HOOK_REFUSED, /* By ourselves, whatever its failure policy is. */
} kc__hook_result;

/* Counts one; `code` is the HTTP status that goes with it. */
void kc__hooks_count(const kc__hooks *hooks, const kc__hook *hook, const char *operation,
                     kc__hook_result result, int code, int64_t took);

#endif
