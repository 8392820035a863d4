/* SPDX-License-Identifier: Apache-2.0 */
/*
 * leader: one of several copies of a program works, the others wait for their turn. Start it twice,
 * stop the one that leads, and see the other take over.
 *
 *     KUBECONFIG=… leader & KUBECONFIG=… leader
 *
 * With outlive_leadership a copy that loses the lease (it could not renew it in time, or somebody
 * took it) stops its controllers, stays, and stands again. Its writes were refused from the moment
 * the lease was not surely its own.
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

/* Runs only while we lead; what is in KC_GROUP_OTHERS (the default) runs in every copy. */
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
                     .duration = 3 * KC_SECOND, /* Short, for looking at. Defaults to 15 s. */
                     .renew = 2 * KC_SECOND,
                     .retry = KC_SECOND / 2,
                     .release =
                         true}, /* Give it back when stopped, so that the next one need not wait. */
        .outlive_leadership = true,
    };
    kc_auto(kc_manager) *manager = kc_manager_new(&opts, &err);
    kc_controller_opts watcher = {.kind = &kc_kind_config_map, .reconcile = reconcile};
    kc_runnable leading = {.name = "leading", .group = KC_GROUP_LEADER, .run = lead};
    if (!kc_controller_new(manager, &watcher, &err) ||
        kc_manager_add(manager, &leading, &err) < 0 || kc_manager_run(manager, &err) < 0)
        return kc_manager_exit(&err);
    return 0;
}
