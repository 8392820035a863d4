/* SPDX-License-Identifier: Apache-2.0 */
/*
 * webhook_endpoint.c: the endpoint of a webhook: a URL, or a Service.
 *
 * This server has no Service network: cluster IPs are not routed. So it chooses a ready endpoint
 * from the EndpointSlices of the Service, as Kubernetes does when configured so. The certificate
 * must still be that of the Service: NAME.NAMESPACE.svc.
 */
#include "apiserver/webhook/webhook_endpoint.h"

#include "apiserver/kinds/key_layout.h"
#include "kc/ascii.h"
#include "kc/view.h"
#include "object/gofmt/go_url.h"

/* What the resolution of one endpoint reads and writes. */
typedef struct endpoint_resolution {
    kc__store *store;
    kc_arena *arena;
    const kc__hook_target *target;
    int64_t seconds;
} endpoint_resolution;

/* ---- URLs ---- */

static bool is_near(kc_str host)
{
    kc_str name = host;
    if (kc_str_starts(host, KC_STR("[")))
        return kc_str_starts(host, KC_STR("[::1]"));
    name = kc_str_cut(&name, ':');
    return kc_str_eq_nocase(name, KC_STR("localhost")) || kc_str_starts(name, KC_STR("127."));
}

/* HOST:PORT; https has port 443. */
static const char *server_of(kc_arena *arena, kc_str host)
{
    kc_str port = {0};
    kc__go_url_split_port(host, &port);
    return kc_arena_printf(arena, "%.*s%s", KC_ARG(host), port.n ? "" : ":443");
}

static void at_url(const endpoint_resolution *r, kc__hook_endpoint *ret)
{
    kc__go_url parts = {0}; /* The stored URL is valid. */
    kc_scoped(kc_buf) url = {0};
    kc__go_url_parse(kc_cstr(r->target->url), KC__GO_URL_REFERENCE, &parts, NULL);
    kc_buf_puts(&url, "https://");
    kc_buf_append(&url, parts.host);
    kc__hook_path_clean(&url, parts.path, true);
    *ret = (kc__hook_endpoint){.url = kc_arena_printf(r->arena, "%s?timeout=%llds",
                                                      kc_buf_cstr(&url), (long long)r->seconds),
                               .server = server_of(r->arena, parts.host),
                               .near = is_near(parts.host)};
}

/* ---- services ---- */

/* The name of a Service's port; NULL: the Service has no such port. */
static const char *port_name(const endpoint_resolution *r, const kc_object *service)
{
    kc_auto(kc_view) *view = kc_view_of(service);
    kc_value_each_item (kc_value_nested(kc_view_root(view), "spec.ports"), item)
        if (kc_value_as_i64_or(kc_value_get(item, "port"), 0) == r->target->port)
            return kc_arena_printf(r->arena, "%.*s",
                                   KC_ARG(kc_value_as_str(kc_value_get(item, "name"))));
    return NULL;
}

static const char *address_in(kc_arena *arena, const kc_value *slice, const char *name)
{
    int64_t port = 0;
    kc_value_each_item (kc_value_get(slice, "ports"), item)
        if (kc_str_is(kc_value_as_str(kc_value_get(item, "name")), name))
            port = kc_value_as_i64_or(kc_value_get(item, "port"), 0);
    kc_value_each_item (kc_value_get(slice, "endpoints"), endpoint) {
        const kc_str address = kc_value_as_str(kc_value_at(kc_value_get(endpoint, "addresses"), 0));
        const bool six = kc_str_find(address, ':') >= 0;
        if (port && !kc_str_empty(address) &&
            kc_value_as_bool(kc_value_nested(endpoint, "conditions.ready"), true))
            return kc_arena_printf(arena, "%s%.*s%s:%lld", six ? "[" : "", KC_ARG(address),
                                   six ? "]" : "", (long long)port);
    }
    return NULL;
}

/* A ready endpoint, in any EndpointSlice of the Service. Linear in the slices of the namespace. */
static const char *find_endpoint(const endpoint_resolution *r, const char *port)
{
    const char *found = NULL;
    const char *prefix = kc_arena_printf(r->arena, "%.*s/", KC_ARG(r->target->service_ns));
    kc__watch_cache *slices = kc__store_watch_cache(
        r->store, kc__resource_key_builtin_prefix("discovery.k8s.io", "endpointslices"));
    kc_auto(kc__cow_snapshot) *all = kc__watch_cache_snapshot(slices, NULL);
    kc__cow_iter at = kc__cow_iter_start(all, &(kc__cow_range){.prefix = kc_cstr(prefix)});
    while (!found && kc__cow_iter_next(&at)) {
        kc_auto(kc_view) *view = kc_view_of(at.object);
        const kc_value *labels = kc_value_nested(kc_view_root(view), "metadata.labels");
        if (kc_str_eq(kc_value_as_str(kc_value_get(labels, "kubernetes.io/service-name")),
                      r->target->service))
            found = address_in(r->arena, kc_view_root(view), port);
    }
    return found;
}

/* "https://NAME.NAMESPACE.svc:443/path?timeout=10s" */
static const char *service_url(const endpoint_resolution *r)
{
    const kc__hook_target *t = r->target;
    kc_scoped(kc_buf) path = {0};
    kc__hook_path_clean(&path, t->path, false);
    return kc_arena_printf(r->arena, "https://%.*s.%.*s.svc:%lld%s?timeout=%llds",
                           KC_ARG(t->service), KC_ARG(t->service_ns), (long long)t->port,
                           kc_buf_cstr(&path), (long long)r->seconds);
}

static int at_service(const endpoint_resolution *r, kc__hook_endpoint *ret, kc_error *err)
{
    const kc__hook_target *t = r->target;
    const char *url = service_url(r);
    const char *key =
        kc_arena_printf(r->arena, "%.*s/%.*s", KC_ARG(t->service_ns), KC_ARG(t->service));
    kc__watch_cache *services =
        kc__store_watch_cache(r->store, kc__resource_key_builtin_prefix("", "services"));
    kc_auto(kc_object) *service = kc__watch_cache_get(services, kc_cstr(key));
    if (!service)
        return kc_error_set(err, KC_SERVICE_UNAVAILABLE, "Post \"%s\": service \"%.*s\" not found",
                            url, KC_ARG(t->service));
    const char *port = port_name(r, service);
    if (!port)
        return kc_error_set(err, KC_SERVICE_UNAVAILABLE,
                            "Post \"%s\": no service port %lld found for service \"%.*s\"", url,
                            (long long)t->port, KC_ARG(t->service));
    const char *endpoint = find_endpoint(r, port);
    if (!endpoint)
        return kc_error_set(err, KC_SERVICE_UNAVAILABLE,
                            "Post \"%s\": no endpoints available for service \"%.*s\"", url,
                            KC_ARG(t->service));
    *ret = (kc__hook_endpoint){.url = url,
                               .connect_to = endpoint,
                               .server = kc_arena_printf(r->arena, "%.*s.%.*s.svc:%lld",
                                                         KC_ARG(t->service), KC_ARG(t->service_ns),
                                                         (long long)t->port)};
    return 0;
}

int kc__hook_endpoint_resolve(kc__store *store, const kc__hook_target *target, int64_t seconds,
                              kc_arena *arena, kc__hook_endpoint *ret, kc_error *err)
{
    const endpoint_resolution r = {
        .store = store, .arena = arena, .target = target, .seconds = seconds};
    if (!target->url)
        return at_service(&r, ret, err);
    at_url(&r, ret);
    return 0;
}
