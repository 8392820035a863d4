/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c: a first controller, to measure its size: it labels ConfigMaps. All of
 * the runtime comes with it (cache, queue, manager, election, events, metrics, client).
 */
#include "kc/controller.h"
#include "kc/kinds.h"

static kc_result reconcile(kc_context *ctx, const kc_request *request, kc_error *err)
{
    const kc_str patch = KC_STR("{\"metadata\":{\"labels\":{\"seen\":\"yes\"}}}");
    kc_auto(kc_object) *map =
        kc_client_get(ctx->client, &kc_kind_config_map, request->key, NULL, err);
    if (!map)
        return kc_is_not_found(err) ? kc_done() : kc_retry(err);
    kc_auto(kc_object) *now = kc_client_patch(ctx->client, &kc_kind_config_map, request->key,
                                              KC_PATCH_MERGE, patch, NULL, err);
    return now ? kc_done() : kc_retry(err);
}

int main(void)
{
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_manager) *manager =
        kc_manager_new(&(kc_manager_opts){.name = "small", .health_address = "127.0.0.1:0"}, &err);
    if (!manager ||
        !kc_controller_new(
            manager, &(kc_controller_opts){.kind = &kc_kind_config_map, .reconcile = reconcile},
            &err) ||
        kc_manager_run(manager, &err) < 0)
        return kc_manager_exit(&err);
    return 0;
}
