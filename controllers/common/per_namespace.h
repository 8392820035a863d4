/* SPDX-License-Identifier: Apache-2.0 */
/*
 * per_namespace.h: keeps an object with a fixed name in every active namespace: creates it,
 * recreates it after a deletion, and restores it after a change.
 *
 *     static const kc__common_per_namespace what = {.controller = "serviceaccount",
 *                                            .identity = KC__COMMON_SERVICE_ACCOUNT,
 *                                            .kind = &kc_kind_service_account,
 *                                            .name = "default",
 *                                            .fill = leave_as_it_is};
 *     return kc__common_per_namespace_setup(manager, &what, opts, err);
 */
#ifndef KC_CONTROLLERS_PER_NAMESPACE_H
#define KC_CONTROLLERS_PER_NAMESPACE_H

#include "common/identities.h"

#include "kc/controller.h"
#include "kc/create_or_update.h"

typedef struct kc__common_per_namespace {
    const char *controller; /* Name of the controller. */
    kc__common_identity_id identity;
    const kc_kind *kind;
    const char *name;   /* Name of the object. */
    kc_mutate_fn *fill; /* Sets the required content of the object. */
    void *user;         /* Passed to fill and synced. */
    /* Called after each sync with its duration; `err` is not set on success. May be NULL. */
    void (*synced)(void *user, int64_t took, const kc_error *err);
} kc__common_per_namespace;

/* `what` is copied; its pointers must stay valid as long as the manager. */
int kc__common_per_namespace_setup(kc_manager *manager, const kc__common_per_namespace *what,
                                   const kc_controllers_opts *opts, kc_error *err);

#endif
