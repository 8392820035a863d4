/* SPDX-License-Identifier: Apache-2.0 */
/*
 * service_endpoints.c: see service_endpoints.h. service_endpoint_objects.c makes the objects.
 *
 * A thread of its own refreshes the lease, because a refresh must not be late. It looks every
 * second whether a lease was added or has expired, so a server that was killed leaves the list a
 * second after its lease. A write that fails or conflicts is made again a second later; errors are
 * logged when they begin.
 */
#include "apiserver/background/service_endpoints.h"

#include "apiserver/background/bootstrap_owners.h"
#include "apiserver/background/bootstrap_writes.h"
#include "apiserver/background/service_endpoint_objects.h"
#include "apiserver/kinds/key_layout.h"
#include "base/periodic.h"

#define LEASES        KC_STR("/registry/masterleases/")
#define LOOK_EVERY    KC_SECOND
#define REFRESH_EVERY (10 * KC_SECOND)
enum { LEASE_SECONDS = 15 };

struct kc__service_endpoints {
    kc__rest_api *api;
    kc__service_endpoint own;
    kc__watch_cache *leases, *endpoints, *slices;
    kc__periodic *thread;
    kc_rand rand;
    int64_t refresh_at; /* When the lease is refreshed next. */
    int64_t generation; /* Of the lease; counts refreshes, as kube-apiserver does. */
    uint64_t compared;  /* The change counter of the leases before the last comparison. */
    bool failing;       /* The last round failed. */
    bool leaving;       /* The server stops. */
};

/* ---- leases ---- */

static int refresh_lease(kc__service_endpoints *e, kc_error *err)
{
    kc__bootstrap_writes writes;
    kc__bootstrap_writes_init(&writes, e->api);
    kc__bootstrap_writes_put_for(&writes, e->leases, kc_cstr(e->own.address),
                                 kc__service_endpoint_lease(e->own.address, ++e->generation),
                                 LEASE_SECONDS);
    return kc__bootstrap_writes_wait(&writes, err);
}

static int remove_lease(kc__service_endpoints *e, kc_error *err)
{
    kc__bootstrap_writes writes;
    kc__bootstrap_writes_init(&writes, e->api);
    kc__bootstrap_writes_delete(&writes, e->leases, kc_cstr(e->own.address), KC__STORAGE_ANY);
    return kc__bootstrap_writes_wait(&writes, err);
}

/* The addresses of the servers that run, in the order of their text. */
static void list_servers(kc__service_endpoints *e, kc__service_endpoint_list *ret)
{
    uint64_t revision;
    kc_auto(kc__cow_snapshot) *all = kc__watch_cache_snapshot(e->leases, &revision);
    kc__cow_iter it = kc__cow_iter_start(all, NULL);
    if (!kc__store_is_shared(e->api->store)) {
        if (!e->leaving)
            kc__service_endpoint_list_add(ret, kc_cstr(e->own.address));
        return;
    }
    while (kc__cow_iter_next(&it))
        kc__service_endpoint_list_add(ret, it.key);
}

/* ---- objects ---- */

static int write_endpoint_object(kc__service_endpoints *e, kc__watch_cache *cache,
                                 const kc_object *before, kc_object *object, kc_error *err)
{
    kc__bootstrap_writes writes;
    kc__bootstrap_writes_init(&writes, e->api);
    kc__bootstrap_writes_put(&writes, cache, KC_STR(KC__SERVICE_ENDPOINT_KEY),
                             kc__bootstrap_own(e->api, before, object),
                             before ? kc_object_revision(before) : KC__STORAGE_ABSENT);
    return kc__bootstrap_writes_wait(&writes, err);
}

static kc__service_endpoint_new new_object(kc__service_endpoints *e)
{
    return (kc__service_endpoint_new){.now = kc_clock_wall(e->api->clock), .rand = &e->rand};
}

static int compare_endpoints(kc__service_endpoints *e, kc_error *err)
{
    kc_scoped(kc__service_endpoint_list) servers = {0};
    const kc__service_endpoint_new new = new_object(e);
    list_servers(e, &servers);
    if (!servers.n && !e->leaving)
        return 0;
    kc_auto(kc_object) *stored =
        kc__watch_cache_get(e->endpoints, KC_STR(KC__SERVICE_ENDPOINT_KEY));
    kc_object *object = kc__service_endpoint_endpoints(&servers, e->own.port, stored, &new);
    return object ? write_endpoint_object(e, e->endpoints, stored, object, err) : 0;
}

static int compare_slice(kc__service_endpoints *e, kc_error *err)
{
    const kc__service_endpoint_new new = new_object(e);
    kc_auto(kc_object) *endpoints =
        kc__watch_cache_get(e->endpoints, KC_STR(KC__SERVICE_ENDPOINT_KEY));
    kc_auto(kc_object) *stored = kc__watch_cache_get(e->slices, KC_STR(KC__SERVICE_ENDPOINT_KEY));
    kc_object *object = endpoints ? kc__service_endpoint_slice(endpoints, stored, &new) : NULL;
    return object ? write_endpoint_object(e, e->slices, stored, object, err) : 0;
}

static int compare_objects(kc__service_endpoints *e, kc_error *err)
{
    return compare_endpoints(e, err) < 0 ? kc_error_result(err) : compare_slice(e, err);
}

/* ---- the thread ---- */

static int run_endpoints_round(kc__service_endpoints *e, kc_error *err)
{
    const uint64_t changed = kc__watch_cache_changed_at(e->leases);
    const bool due = kc_clock_now(e->api->clock) >= e->refresh_at;
    if (!due && !e->failing && changed == e->compared)
        return 0;
    if (due && kc__store_is_shared(e->api->store) && refresh_lease(e, err) < 0)
        return kc_error_result(err);
    if (due)
        e->refresh_at = kc_clock_deadline(e->api->clock, REFRESH_EVERY);
    e->compared = changed;
    return compare_objects(e, err);
}

static void look_at_endpoints(void *user)
{
    kc__service_endpoints *e = user;
    kc_scoped(kc_error) err = {0};
    const bool failed = run_endpoints_round(e, &err) < 0;
    if (failed && !e->failing)
        kc_log_error(e->api->log, "cannot update the endpoints of the Service kubernetes",
                     kc_kv("err", &err));
    e->failing = failed;
}

static kc__service_endpoints *endpoints_free(kc__service_endpoints *e)
{
    kc__periodic_free(e->thread);
    free(e);
    return NULL;
}

static kc__watch_cache *endpoints_cache(kc__rest_api *api, const char *group, const char *plural)
{
    return kc__store_watch_cache(api->store, kc__resource_key_builtin_prefix(group, plural));
}

kc__service_endpoints *kc__service_endpoints_start(kc__rest_api *api,
                                                   const kc__service_endpoint *endpoint,
                                                   kc_error *err)
{
    kc__service_endpoints *e = kc_new(kc__service_endpoints);
    e->api = api;
    e->own = *endpoint;
    e->leases = kc__store_watch_cache(api->store, LEASES);
    e->endpoints = endpoints_cache(api, "", "endpoints");
    e->slices = endpoints_cache(api, "discovery.k8s.io", "endpointslices");
    e->rand = kc_rand_split(&api->contexts[0].rand);
    e->thread = kc__periodic_new(api->clock);
    look_at_endpoints(e);
    kc__periodic_add(e->thread, LOOK_EVERY, look_at_endpoints, e);
    if (kc__periodic_start(e->thread, "endpoints", err) < 0)
        return endpoints_free(e);
    return e;
}

kc__service_endpoints *kc__service_endpoints_stop(kc__service_endpoints *e)
{
    kc_scoped(kc_error) err = {0};
    if (!e)
        return NULL;
    e->thread = kc__periodic_free(e->thread);
    e->leaving = true;
    if ((kc__store_is_shared(e->api->store) && remove_lease(e, &err) < 0) ||
        compare_objects(e, &err) < 0)
        kc_log_warn(e->api->log, "cannot remove the endpoint of this server",
                    kc_kv("address", e->own.address), kc_kv("err", &err));
    return endpoints_free(e);
}
