/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metadata: watches objects without their contents. Every Secret should have the label `team`; a
 * controller that checks that does not need the data. Only metadata is requested, sent and cached.
 *
 *     kubectl create secret generic door --from-literal=code=1234
 *     kubectl label secret door team=facilities
 */
#include "kc/controller.h"
#include "kc/kinds.h"
#include "kc/view.h"

#include <stdio.h>

static kc_result reconcile(kc_context *ctx, const kc_request *req, kc_error *err)
{
    kc_auto(kc_object) *secret = kc_client_get(ctx->client, &kc_kind_secret, req->key,
                                               &(kc_get_opts){.metadata_only = true}, err);
    if (!secret)
        return kc_done_if_not_found(err);

    kc_auto(kc_view) *view = kc_view_of(secret);
    const char *contents = kc_value_get(kc_view_root(view), "data") ? "known" : "unknown";
    kc_scoped(kc_arena) arena = {0};
    kc_str team = kc_object_label(secret, KC_STR("team"), &arena);
    if (team.p)
        printf("%.*s is of team %.*s, contents %s\n", KC_ARG(req->key.name), KC_ARG(team),
               contents);
    else
        printf("%.*s has no owner, contents %s\n", KC_ARG(req->key.name), contents);
    return kc_done();
}

int main(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_manager) *manager = kc_manager_new(NULL, &err);
    kc_controller_opts auditor = {
        .name = "auditor",
        .watches = KC_WATCHES({.kind = &kc_kind_secret,
                               .metadata_only = true,
                               .predicate = kc_predicate_labels_changed()}),
        .reconcile = reconcile,
    };
    if (!kc_controller_new(manager, &auditor, &err) || kc_manager_run(manager, &err) < 0)
        return kc_manager_exit(&err);
    return 0;
}
