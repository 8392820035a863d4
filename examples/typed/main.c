/* SPDX-License-Identifier: Apache-2.0 */
/*
 * typed: a kind as a C struct. robot_types.h is written by hand; zz_generated.h, zz_generated.c and
 * example.com_robots.yaml are generated from it:
 *
 *     kc generate object examples/typed && kc generate crd examples/typed -o examples/typed
 *     kubectl apply -f examples/typed/example.com_robots.yaml
 *     example_typed &
 *     kubectl apply -f examples/typed/robot.yaml && kubectl get robots
 */
#include "zz_generated.h"

#include "kc/controller.h"

/* Builds robots; a real controller would wait for their arms. */
static kc_result reconcile(kc_context *ctx, const kc_request *req, kc_error *err)
{
    kc_auto(robot) *r = robot_get(ctx->client, req->key, err);
    if (!r)
        return kc_done_if_not_found(err);

    int32_t wanted = *r->spec.arms; /* Never NULL: the server sets its default. */
    if (r->status.phase == ROBOT_PHASE_BUILT && r->status.arms == wanted)
        return kc_done();
    r->status.phase = ROBOT_PHASE_BUILT;
    r->status.arms = wanted;
    if (robot_update_status(ctx->client, r, err) < 0)
        return kc_retry(err);
    kc_log_info(ctx->log, "built", kc_kv("nickname", r->spec.nickname), kc_kv("arms", wanted));
    return kc_done();
}

int main(void)
{
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_manager) *manager = kc_manager_new(NULL, &err);
    kc_controller_opts builder = {.kind = &robot_kind, .reconcile = reconcile};
    if (!manager || !kc_controller_new(manager, &builder, &err) ||
        kc_manager_run(manager, &err) < 0)
        return kc_manager_exit(&err);
    return 0;
}
