/* SPDX-License-Identifier: Apache-2.0 */
/*
 * leader: leader election: one of several processes is active, the others wait. Start it twice,
 * stop the leader, and see the other take over.
 *
 *     KUBECONFIG=… leader & KUBECONFIG=… leader
 *
 * With restart_on_lost_lease a process that loses the lease (it could not renew it in time, or
 * another process took it) stops its controllers and re-enters the election. Fencing refuses its
 * writes from the moment at which it may have lost the lease.
 */
#include "kc/controller.h"
#include "kc/kinds.h"

#include <stdio.h>

static kc_result reconcile(kc_context *ctx, const kc_request *req, kc_error *err)
{
    (void)ctx;
    (void)err;
    printf("the leader sees %.*s\n", KC_ARG(req->key.name));
    return kc_done();
}

/* Runs only while this process is the leader; KC_RUNNABLE_OTHERS (the default) run in every
 * process. */
static int lead(kc_cancel *stop, void *user, kc_error *err)
{
    (void)user;
    (void)err;
    printf("leads\n");
    kc_cancel_sleep_until(stop, kc_clock_real(), KC_FOREVER);
    printf("leads no more\n");
    return 0;
}

int main(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    kc_scoped(kc_error) err = {0};
    kc_manager_opts opts = {
        .election = {.name = "leader.example.com",
                     .ns = "default",
                     .duration = 3 * KC_SECOND, /* Short, for demonstration. Defaults to 15 s. */
                     .renew = 2 * KC_SECOND,
                     .retry = KC_SECOND / 2,
                     .release = true}, /* Releases the lease at shutdown, so that the next leader
                                        * need not wait. */
        .restart_on_lost_lease = true,
    };
    kc_auto(kc_manager) *manager = kc_manager_new(&opts, &err);
    kc_controller_opts watcher = {.kind = &kc_kind_config_map, .reconcile = reconcile};
    kc_runnable leading = {.name = "leading", .group = KC_RUNNABLE_LEADER, .run = lead};
    if (!kc_controller_new(manager, &watcher, &err) ||
        kc_manager_add(manager, &leading, &err) < 0 || kc_manager_run(manager, &err) < 0)
        return kc_manager_exit(&err);
    return 0;
}
