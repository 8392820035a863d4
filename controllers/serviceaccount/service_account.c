/* SPDX-License-Identifier: Apache-2.0 */
/*
 * service_account.c: keeps a ServiceAccount `default` in every active namespace, which pods use if
 * they name no other. The controller recreates it after a deletion and never changes an existing
 * one: its secrets, pull secrets and labels belong to users.
 */
#include "internal.h"

#include "common/per_namespace.h"

#include "kc/kinds.h"

static int leave_as_it_is(kc_edit *edit, void *user, kc_error *err)
{
    (void)edit;
    (void)user;
    (void)err;
    return 0;
}

int kc__serviceaccount_setup(kc_manager *manager, const kc_controllers_opts *opts, kc_error *err)
{
    static const kc__common_per_namespace what = {.controller = "serviceaccount",
                                                  .identity = KC__COMMON_SERVICE_ACCOUNT,
                                                  .kind = &kc_kind_service_account,
                                                  .name = "default",
                                                  .fill = leave_as_it_is};
    return kc__common_per_namespace_setup(manager, &what, opts, err);
}
