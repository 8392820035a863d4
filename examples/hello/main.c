/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hello: a first controller. Each ConfigMap with the label `greet` gets a greeting.
 *
 *     kubectl create configmap card
 *     kubectl label configmap card greet=world
 *     kubectl get configmap card -o yaml                  data: greeting: Hello, world!
 */
#include "kc/controller.h"
#include "kc/create_or_update.h"
#include "kc/kinds.h"

static int write_greeting(kc_edit *card, void *whom, kc_error *err)
{
    (void)err;
    kc_autofree char *text = kc_asprintf("Hello, %.*s!", KC_ARG(*(const kc_str *)whom));
    kc_edit_set_nested(card, "data.greeting", kc_node_str(card, kc_cstr(text)));
    return 0;
}

static kc_result reconcile(kc_context *ctx, const kc_request *req, kc_error *err)
{
    kc_auto(kc_object) *card = kc_client_get(ctx->client, &kc_kind_config_map, req->key, NULL, err);
    if (!card)
        return kc_done_if_not_found(err); /* Deleted: nothing left to do. */

    kc_scoped(kc_arena) arena = {0};
    kc_str whom = kc_object_label(card, KC_STR("greet"), &arena);
    if (!whom.p)
        return kc_done(); /* No greeting requested. */
    int written = kc_create_or_update(ctx->client, &kc_kind_config_map, req->key, write_greeting,
                                      &whom, NULL, err);
    if (written < 0)
        return kc_retry(err); /* Retried with backoff. */
    if (written != KC_OPERATION_UNCHANGED)
        kc_log_info(ctx->log, "greeted", kc_kv("whom", whom));
    return kc_done();
}

int main(void)
{
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_manager) *manager = kc_manager_new(NULL, &err);
    kc_controller_opts greeter = {.kind = &kc_kind_config_map, .reconcile = reconcile};
    if (!kc_controller_new(manager, &greeter, &err) || kc_manager_run(manager, &err) < 0)
        return kc_manager_exit(&err);
    return 0;
}
