/* SPDX-License-Identifier: Apache-2.0 */
/*
 * finalizer: cleans up external state before an object is deleted. Each Website has an entry in a
 * register (here: printed lines); its deletion first removes the entry.
 *
 *     kubectl apply -f examples/website.yaml -f examples/home.yaml
 *     kubectl delete website home
 */
#include "kc/controller.h"
#include "kc/finalizer.h"

#include <stdio.h>

static const kc_kind website_kind = {
    .group = "example.com",
    .version = "v1",
    .kind = "Website",
    .plural = "websites",
    .singular = "website",
    .namespaced = true,
};

static const char FINALIZER[] = "example.com/register";

/* May be called again after a failure or a crash: it must be idempotent. */
static int strike_out(kc_client *client, const kc_object *website, void *user, kc_error *err)
{
    (void)client;
    (void)user;
    if (kc_object_has_annotation(website, KC_STR("example.com/keep")))
        return kc_error_set(err, KC_CONFLICT, "it is to be kept");
    printf("register: %.*s is struck out\n", KC_ARG(kc_object_name(website)));
    return 0;
}

static kc_result reconcile(kc_context *ctx, const kc_request *req, kc_error *err)
{
    kc_auto(kc_object) *website = kc_client_get(ctx->client, &website_kind, req->key, NULL, err);
    if (!website)
        return kc_done_if_not_found(err);

    switch (kc_finalizer_step(ctx->client, &website, FINALIZER, strike_out, NULL, err)) {
    case KC_FINALIZER_FAILED:
        printf("register: %.*s cannot go: %s\n", KC_ARG(req->key.name), kc_error_text(err));
        return kc_retry(err);
    case KC_FINALIZER_GONE:
        return kc_done(); /* The cleanup is done, and nothing must be created any more. */
    case KC_FINALIZER_HELD: break;
    }
    printf("register: %.*s has an entry\n", KC_ARG(req->key.name));
    return kc_done();
}

int main(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_manager) *manager = kc_manager_new(NULL, &err);
    kc_controller_opts registrar = {.kind = &website_kind, .reconcile = reconcile};
    if (!kc_controller_new(manager, &registrar, &err) || kc_manager_run(manager, &err) < 0)
        return kc_manager_exit(&err);
    return 0;
}
