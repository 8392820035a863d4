/* SPDX-License-Identifier: Apache-2.0 */
/*
 * per_namespace.h: an object of one name that every active namespace has: made with it, made again
 * when it was deleted, put right when somebody changed it.
 *
 *     static const kc__per_namespace what = {.controller = "serviceaccount",
 *                                            .kind = &kc_kind_service_account,
 *                                            .name = "default",
 *                                            .fill = leave_as_it_is};
 *     return kc__per_namespace_setup(manager, &what, opts->workers, err);
 */
#ifndef KC_CONTROLLERS_PER_NAMESPACE_H
#define KC_CONTROLLERS_PER_NAMESPACE_H

#include "kc/controller.h"
#include "kc/create_or_update.h"

typedef struct kc__per_namespace {
    const char *controller; /* Its name. */
    const kc_kind *kind;
    const char *name;   /* The object's. */
    kc_mutate_fn *fill; /* Sets what the object must have. */
    void *user;         /* Of fill and synced. */
    /* After each try: how long it took; `err` is not set when it went well. May be NULL. */
    void (*synced)(void *user, int64_t took, const kc_error *err);
} kc__per_namespace;

/* `what` is copied; what it points to lives as long as the manager. */
int kc__per_namespace_setup(kc_manager *manager, const kc__per_namespace *what, int workers,
                            kc_error *err);

#endif
