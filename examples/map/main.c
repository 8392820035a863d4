/* SPDX-License-Identifier: Apache-2.0 */
/*
 * map: maps a changed object to other objects. Websites name a theme, which is a ConfigMap; when a
 * theme changes, all Websites that name it are reconciled. A cache index finds them.
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

/* Maps a ConfigMap to Websites: those of its namespace whose spec.theme is its name. The lookup
 * uses the cache index, so it costs no request and no scan. */
static void websites_of_theme(const kc_object *theme, kc_enqueuer *to, void *cache)
{
    kc_scoped(kc_object_list) websites = {0};
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
    kc_key key = {req->key.ns, kc_value_as_str(kc_value_nested(kc_view_root(view), "spec.theme"))};
    kc_auto(kc_object) *theme = kc_client_get(ctx->client, &kc_kind_config_map, key, NULL, err);
    if (!theme && !kc_is_not_found(err))
        return kc_retry(err);
    if (!theme) /* It may be created later, which queues the key again. There is no need to poll. */
        return printf("%.*s waits for its theme\n", KC_ARG(req->key.name)),
               kc_done_if_not_found(err);

    kc_auto(kc_view) *colours = kc_view_of(theme);
    printf("%.*s is painted %s\n", KC_ARG(req->key.name),
           kc_value_as_cstr(kc_value_nested(kc_view_root(colours), "data.colour"), "grey"));
    return kc_done();
}

static int setup(kc_manager *manager, kc_error *err)
{
    kc_cache *cache = kc_manager_cache(manager);
    if (kc_cache_add_path_index(cache, &website_kind, "spec.theme", err) < 0)
        return kc_error_result(err);
    kc_controller_opts painter = {
        .kind = &website_kind,
        .kind_predicate = kc_predicate_generation_changed(), /* Not for changes of the status. */
        .watches =
            KC_WATCHES({.kind = &kc_kind_config_map, .map = websites_of_theme, .map_user = cache}),
        .reconcile = reconcile,
    };
    return kc_controller_new(manager, &painter, err) ? 0 : kc_error_result(err);
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
