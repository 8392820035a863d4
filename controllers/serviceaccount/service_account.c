/* SPDX-License-Identifier: Apache-2.0 */
/*
 * service_account.c: a ServiceAccount `default` in every active namespace, which pods that name
 * none run as. It is made again when it was deleted; what else is in it is its users' business
 * (secrets, pull secrets, labels), so nothing of it is ever changed.
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

int kc__service_account_setup(kc_manager *manager, const kc_controllers_opts *opts, kc_error *err)
{
    static const kc__per_namespace what = {.controller = "serviceaccount",
                                           .kind = &kc_kind_service_account,
                                           .name = "default",
                                           .fill = leave_as_it_is};
    return kc__per_namespace_setup(manager, &what, opts->workers, err);
}
