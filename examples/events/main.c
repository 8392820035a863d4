/* SPDX-License-Identifier: Apache-2.0 */
/*
 * events: records Events, which kubectl describe and kubectl get events show. A ConfigMap above a
 * size gets a warning.
 *
 *     kubectl create configmap heavy --from-file=/etc/services
 *     kubectl describe configmap heavy
 */
#include "kc/controller.h"
#include "kc/kinds.h"

enum { LARGE = 4096 };

static kc_result reconcile(kc_context *ctx, const kc_request *req, kc_error *err)
{
    kc_auto(kc_object) *map = kc_client_get(ctx->client, &kc_kind_config_map, req->key, NULL, err);
    if (!map)
        return kc_done_if_not_found(err);

    size_t bytes = kc_object_json(map).n;
    if (bytes > LARGE)
        kc_recorder_event(ctx->recorder, map, KC_EVENT_TYPE_WARNING, "TooLarge",
                          "%zu bytes are more than %d", bytes, LARGE);
    else
        kc_recorder_event(ctx->recorder, map, KC_EVENT_TYPE_NORMAL, "Weighed", "%zu bytes", bytes);
    return kc_done();
}

int main(void)
{
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_manager) *manager = kc_manager_new(&(kc_manager_opts){.name = "scales"}, &err);
    kc_controller_opts scales = {.kind = &kc_kind_config_map, .reconcile = reconcile};
    if (!kc_controller_new(manager, &scales, &err) || kc_manager_run(manager, &err) < 0)
        return kc_manager_exit(&err);
    return 0;
}
