/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hook_place.c: where a webhook is: at a URL, or behind a Service.
 *
 * There is no network of Services here that would take a connection to one's address to whoever
 * stands behind it. So an endpoint that is ready is chosen from its EndpointSlices, as Kubernetes
 * does where it is told to; its certificate must be the Service's all the same:
 * NAME.NAMESPACE.svc.
 */
#include "apiserver/admission/hook_place.h"

#include "kc/ascii.h"
#include "kc/view.h"

/* ---- URLs ---- */

static kc_str host_of(kc_str url)
{
    kc_str rest = kc_str_sub(url, sizeof("https://") - 1, url.n);
    return kc_str_cut(&rest, '/');
}

static bool is_near(kc_str host)
{
    kc_str name = host;
    if (kc_str_starts(host, KC_STR("[")))
        return kc_str_starts(host, KC_STR("[::1]"));
    name = kc_str_cut(&name, ':');
    return kc_str_eq_nocase(name, KC_STR("localhost")) || kc_str_starts(name, KC_STR("127."));
}

static void at_url(kc__call *call, const kc__hook *hook, int64_t seconds, kc__hook_place *ret)
{
    const kc_str url = kc_cstr(hook->url), host = host_of(url);
    const bool bare = host.n + sizeof("https://") - 1 == url.n;
    *ret = (kc__hook_place){.url = kc_arena_printf(call->arena, "%s%s?timeout=%llds", hook->url,
                                                   bare ? "/" : "", (long long)seconds),
                            .near = is_near(host)};
}

/* ---- services ---- */

/* The name of a Service's port; NULL: it has no such port. */
static const char *port_name(kc__call *call, const kc_object *service, int64_t port)
{
    kc_auto(kc_view) *view = kc_view_of(service);
    kc_items (kc_dig(kc_view_root(view), "spec.ports"), item)
        if (kc_as_i64_or(kc_get(item, "port"), 0) == port)
            return kc_arena_printf(call->arena, "%.*s", KC_ARG(kc_as_str(kc_get(item, "name"))));
    return NULL;
}

static const char *address_in(kc__call *call, const kc_value *slice, const char *name)
{
    int64_t port = 0;
    kc_items (kc_get(slice, "ports"), item)
        if (kc_str_is(kc_as_str(kc_get(item, "name")), name))
            port = kc_as_i64_or(kc_get(item, "port"), 0);
    kc_items (kc_get(slice, "endpoints"), endpoint) {
        const kc_str address = kc_as_str(kc_at(kc_get(endpoint, "addresses"), 0));
        const bool six = kc_str_find(address, ':') >= 0;
        if (port && !kc_str_empty(address) &&
            kc_as_bool(kc_dig(endpoint, "conditions.ready"), true))
            return kc_arena_printf(call->arena, "%s%.*s%s:%lld", six ? "[" : "", KC_ARG(address),
                                   six ? "]" : "", (long long)port);
    }
    return NULL;
}

/* Somebody who is ready, in any of the Service's slices. Linear in those of the namespace. */
static const char *find_endpoint(kc__call *call, const kc__hook *hook, const char *port)
{
    const char *found = NULL;
    const char *prefix = kc_arena_printf(call->arena, "%.*s/", KC_ARG(hook->service_ns));
    kc__cache *slices =
        kc__store_cache(call->api->store, KC_STR("/registry/discovery.k8s.io/endpointslices/"));
    kc_auto(kc_cow_snapshot) *all = kc__cache_snapshot(slices, NULL);
    kc_cow_iter at = kc_cow_iter_start(all, &(kc_cow_range){.prefix = kc_cstr(prefix)});
    while (!found && kc_cow_iter_next(&at)) {
        kc_auto(kc_view) *view = kc_view_of(at.object);
        const kc_value *labels = kc_dig(kc_view_root(view), "metadata.labels");
        if (kc_str_eq(kc_as_str(kc_get(labels, "kubernetes.io/service-name")), hook->service))
            found = address_in(call, kc_view_root(view), port);
    }
    return found;
}

static int at_service(kc__call *call, const kc__hook *hook, int64_t seconds, kc__hook_place *ret,
                      kc_error *err)
{
    const char *url = kc_arena_printf(
        call->arena, "https://%.*s.%.*s.svc:%lld%s%.*s?timeout=%llds", KC_ARG(hook->service),
        KC_ARG(hook->service_ns), (long long)hook->port,
        kc_str_starts(hook->path, KC_STR("/")) ? "" : "/", KC_ARG(hook->path), (long long)seconds);
    const char *key =
        kc_arena_printf(call->arena, "%.*s/%.*s", KC_ARG(hook->service_ns), KC_ARG(hook->service));
    kc__cache *services = kc__store_cache(call->api->store, KC_STR("/registry/core/services/"));
    kc_auto(kc_object) *service = kc__cache_get(services, kc_cstr(key));
    if (!service)
        return kc_error_set(err, KC_SERVICE_UNAVAILABLE, "Post \"%s\": service \"%.*s\" not found",
                            url, KC_ARG(hook->service));
    const char *port = port_name(call, service, hook->port);
    if (!port)
        return kc_error_set(err, KC_SERVICE_UNAVAILABLE,
                            "Post \"%s\": no service port %lld found for service \"%.*s\"", url,
                            (long long)hook->port, KC_ARG(hook->service));
    const char *endpoint = find_endpoint(call, hook, port);
    if (!endpoint)
        return kc_error_set(err, KC_SERVICE_UNAVAILABLE,
                            "Post \"%s\": no endpoints available for service \"%.*s\"", url,
                            KC_ARG(hook->service));
    *ret = (kc__hook_place){.url = url, .connect_to = endpoint};
    return 0;
}

int kc__hook_place_find(kc__call *call, const kc__hook *hook, int64_t seconds, kc__hook_place *ret,
                        kc_error *err)
{
    if (!hook->url)
        return at_service(call, hook, seconds, ret, err);
    at_url(call, hook, seconds, ret);
    return 0;
}
