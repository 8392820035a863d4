/* SPDX-License-Identifier: Apache-2.0 */
/*
 * map: a change of one object that concerns others. Websites name a theme, which is a ConfigMap;
 * when a theme changes, all Websites that name it are to be painted again. An index of the cache
 * finds them.
 *
 *     kubectl apply -f examples/website.yaml -f examples/home.yaml
 *     kubectl create configmap dark --from-literal=colour=black
 */
#include "kc/controller.h"
#include "kc/kinds.h"
#include "kc/view.h"

#include <stdio.h>

static const kc_kind website_kind = {
    .group = "example.com",
    .version = "v1",
    .kind = "Website",
    .plural = "websites",
    .singular = "website",
    .namespaced = true,
};

/* Which Websites a ConfigMap concerns: those of its namespace whose spec.theme is its name. A look
 * into the index of the cache, so it costs no request and no walk over all of them. */
static void websites_of_theme(const kc_object *theme, kc_enqueuer *to, void *cache)
{
    kc_scoped(kc_objects) websites = {0};
    kc_autofree char *ns = kc_str_dup(kc_object_namespace(theme));
    kc_autofree char *name = kc_str_dup(kc_object_name(theme));
    kc_list_opts which = {.ns = ns, .index = "spec.theme", .value = name};
    if (kc_cache_list(cache, &website_kind, &which, &websites, NULL) < 0)
        return;
    for (size_t i = 0; i < websites.n; i++)
        kc_enqueue(to, kc_object_key(websites.items[i]));
}

static kc_result reconcile(kc_context *ctx, const kc_request *req, kc_error *err)
{
    kc_auto(kc_object) *website = kc_client_get(ctx->client, &website_kind, req->key, NULL, err);
    if (!website)
        return kc_done_if_not_found(err);

    kc_auto(kc_view) *view = kc_view_of(website);
    kc_key key = {req->key.ns, kc_as_str(kc_dig(kc_view_root(view), "spec.theme"))};
    kc_auto(kc_object) *theme = kc_client_get(ctx->client, &kc_kind_config_map, key, NULL, err);
    if (!theme && !kc_is_not_found(err))
        return kc_retry(err);
    if (!theme) /* It may come later; then we are called again. No need to ask now and then. */
        return printf("%.*s waits for its theme\n", KC_ARG(req->key.name)),
               kc_done_if_not_found(err);

    kc_auto(kc_view) *colours = kc_view_of(theme);
    printf("%.*s is painted %s\n", KC_ARG(req->key.name),
           kc_as_cstr(kc_dig(kc_view_root(colours), "data.colour"), "grey"));
    return kc_done();
}

static int setup(kc_manager *manager, kc_error *err)
{
    kc_cache *cache = kc_manager_cache(manager);
    if (kc_cache_index_path(cache, &website_kind, "spec.theme", err) < 0)
        return -1;
    kc_controller_opts painter = {
        .kind = &website_kind,
        .kind_predicate = kc_predicate_generation(), /* Not for changes of the status. */
        .watches =
            KC_WATCHES({.kind = &kc_kind_config_map, .map = websites_of_theme, .map_user = cache}),
        .reconcile = reconcile,
    };
    return kc_controller_new(manager, &painter, err) ? 0 : -1;
}

int main(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_manager) *manager = kc_manager_new(NULL, &err);
    if (!manager || setup(manager, &err) < 0 || kc_manager_run(manager, &err) < 0)
        return kc_manager_exit(&err);
    return 0;
}
