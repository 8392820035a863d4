/* SPDX-License-Identifier: Apache-2.0 */
/*
 * website.c: keeps a ConfigMap with the page of each Website. The Website owns it: the controller
 * recreates a deleted one and restores a changed one, and reports in the Website's status.
 */
#include "website.h"

#include "kc/conditions.h"
#include "kc/create_or_update.h"
#include "kc/kinds.h"
#include "kc/view.h"

const kc_kind website_kind = {
    .group = "example.com",
    .version = "v1",
    .kind = "Website",
    .plural = "websites",
    .singular = "website",
    .namespaced = true,
};

/* The state of one reconcile. */
typedef struct site {
    kc_context *ctx;
    const kc_object *object;
    kc_key page;
} site;

/* Sets our fields of the page and leaves the others unchanged. */
static int fill_page(kc_edit *page, void *user, kc_error *err)
{
    const site *s = user;
    kc_auto(kc_view) *view = kc_view_of(s->object);
    kc_str title = kc_value_as_str(kc_value_nested(kc_view_root(view), "spec.title"));
    kc_str text = kc_value_as_str(kc_value_nested(kc_view_root(view), "spec.text"));
    kc_autofree char *html =
        kc_asprintf("<title>%.*s</title><p>%.*s</p>", KC_ARG(title), KC_ARG(text));
    kc_edit_set_nested(page, "data.html", kc_node_str(page, kc_cstr(html)));

    kc_owner owner = kc_owner_of(s->object, true);
    return kc_edit_set_controller(page, &owner, err);
}

static int fill_status(kc_edit *website, void *user, kc_error *err)
{
    (void)err;
    const site *s = user;
    kc_edit_set_nested(website, "status.page", kc_node_str(website, s->page.name));
    kc_condition_set(website, s->ctx->clock,
                     &(kc_condition){.type = KC_STR("Ready"),
                                     .status = KC_STR("True"),
                                     .reason = KC_STR("PageWritten"),
                                     .observed_generation = kc_object_generation(s->object)});
    return 0;
}

static kc_result reconcile(kc_context *ctx, const kc_request *req, kc_error *err)
{
    kc_auto(kc_object) *website = kc_client_get(ctx->client, &website_kind, req->key, NULL, err);
    if (!website)
        return kc_done_if_not_found(err); /* The page is deleted with its owner: see fill_page. */

    kc_autofree char *name = kc_asprintf("%.*s-page", KC_ARG(req->key.name));
    site s = {ctx, website, {req->key.ns, kc_cstr(name)}};
    if (kc_create_or_update(ctx->client, &kc_kind_config_map, s.page, fill_page, &s, NULL, err) < 0)
        return kc_retry(err);
    if (kc_mutate_status(ctx->client, website, fill_status, &s, NULL, err) < 0)
        return kc_retry(err);
    return kc_done();
}

int website_setup(kc_manager *manager, kc_error *err)
{
    kc_controller_opts opts = {
        .kind = &website_kind,
        .owns = KC_KINDS(&kc_kind_config_map),
        .reconcile = reconcile,
        .workers = 2,
    };
    return kc_controller_new(manager, &opts, err) ? 0 : kc_error_result(err);
}
