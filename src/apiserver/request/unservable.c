/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unservable.c: converts stored objects for clients, and reports those that cannot be converted: a
 * counter (apiserver_unservable_object_reads_total), a log line with the key, a warning in list
 * responses. The log line and the warning need a resource that records such objects.
 */
#include "apiserver/request/unservable.h"

#include "apiserver/kinds/conversion.h"
#include "apiserver/kinds/unservable_set.h"
#include "apiserver/request/request_metrics.h"

static void report(kc__rest_api *api, const kc__resource *resource, const kc_object *stored,
                   const kc_error *err)
{
    kc_str ns = kc_object_namespace(stored), name = kc_object_name(stored);
    kc_counter_inc(api->counts->unservable);
    if (resource->unservable && kc__resource_unservable_set_add(resource->unservable, ns, name))
        kc_log_error(api->log, "stored object cannot be served",
                     kc_kv("resource", resource->plural), kc_kv("group", resource->group),
                     kc_kv("namespace", ns), kc_kv("name", name), kc_kv("err", err));
}

kc_object *kc__rest_show_stored(kc__rest_api *api, const kc__resource *resource,
                                const kc_object *stored, kc_error *err)
{
    kc_scoped(kc_error) own = {0};
    kc_object *shown = kc__convert_from_stored(resource, stored, &own);
    if (shown)
        return shown;
    report(api, resource, stored, &own);
    kc_error_move(err, &own);
    return NULL;
}

void kc__rest_warn_unservable(kc__rest_call *call)
{
    const kc__resource *r = call->resource;
    if (!r->unservable || call->form.as != KC__REST_AS_OBJECT)
        return;
    size_t n = kc__resource_unservable_set_count(r->unservable);
    if (n)
        kc__rest_warn(
            call,
            kc_cstr(kc_arena_printf(
                call->arena, "%s.%s: at least %zu stored object%s cannot be served and %s left out",
                r->plural, r->group, n, n == 1 ? "" : "s", n == 1 ? "is" : "are")));
}
