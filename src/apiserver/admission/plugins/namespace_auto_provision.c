/* SPDX-License-Identifier: Apache-2.0 */
/*
 * namespace_auto_provision.c: implements the admission plugin NamespaceAutoProvision. The server
 * itself creates the namespace (call/loopback.h), so policies and webhooks admit it, and the
 * request waits. A request that another one overtakes finds the namespace, as if it had created
 * it. Dry runs create nothing, and NamespaceLifecycle then rejects them.
 */
#include "apiserver/admission/plugins/namespace_auto_provision.h"

#include "apiserver/admission/chain/plugin_request.h"
#include "apiserver/call/loopback.h"
#include "kc/json.h"

/* In the arena of the call. */
typedef struct kc__admission_provision {
    bool done;
    const char *failure; /* NULL: the namespace exists. */
} kc__admission_provision;

static void namespace_created(const kc_error *error, void *user)
{
    kc__rest_call *call = user;
    call->provision->done = true;
    if (error && error->reason != KC_ALREADY_EXISTS)
        call->provision->failure = kc_arena_printf(call->arena, "%s", kc_error_text(error));
    kc__rest_call_resume(call, KC__REST_ON_LOOP);
}

static kc__rest_verdict create_namespace(kc__rest_call *call)
{
    kc_scoped(kc_buf) json = {0};
    if (call->on_worker)
        return KC__REST_ON_LOOP;
    call->provision = kc_arena_new(call->arena, kc__admission_provision);
    kc_buf_puts(&json, "{\"kind\":\"Namespace\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":");
    kc_json_quote(&json, call->info.ns);
    kc_buf_puts(&json, "}}");
    kc__rest_loopback_post(call, KC_STR("/api/v1/namespaces"), kc_buf_str(&json), namespace_created,
                           call);
    return KC__REST_PENDING;
}

kc__rest_verdict kc__admission_auto_provision(kc__rest_call *call)
{
    if (call->current || call->options.dry_run || !call->resource->namespaced || !call->info.ns.n ||
        !kc__admission_writes_object(call))
        return KC__REST_NEXT;
    if (!call->provision) {
        kc_auto(kc_object) *space = kc__watch_cache_get(call->api->namespaces, call->info.ns);
        return space ? KC__REST_NEXT : create_namespace(call);
    }
    if (!call->provision->done)
        return KC__REST_PENDING;
    return call->provision->failure ? kc__admission_forbid(call, "%s", call->provision->failure)
                                    : KC__REST_NEXT;
}

/* A Binding or an Eviction is about a pod, which a missing namespace does not have: the namespace
 * is not created, but NamespaceLifecycle leaves the answer to the search for the pod. */
kc__rest_verdict kc__admission_auto_provision_body(kc__rest_call *call)
{
    if (!call->provision && !call->options.dry_run) {
        call->provision = kc_arena_new(call->arena, kc__admission_provision);
        call->provision->done = true;
    }
    return KC__REST_NEXT;
}
