/* SPDX-License-Identifier: Apache-2.0 */
/*
 * validate.c: the phase that validates the prepared object by the rules of its resource
 * (kinds/resource_ops.h), and collects warnings about it. A validation that takes long (CEL rules,
 * the schemas of a CRD) stops on the loop and runs again on a worker thread.
 */
#include "apiserver/kinds/resource_ops.h"
#include "apiserver/request/scale.h"
#include "apiserver/request/write.h"
#include "kc/arena.h"
#include "object/fields/fields_managed.h"

const char *kc__rest_part_of(const kc__rest_call *call)
{
    return call->subresource && !kc__rest_is_scale(call) ? call->subresource->name : NULL;
}

bool kc__rest_writes_status(const kc__rest_call *call)
{
    return call->api->unrestricted_update && !call->subresource && !kc__rest_is_own_request(call) &&
           kc__resource_find_subresource(call->resource, KC_STR("status"));
}

/* The rules of the status, for an update that writes it together with the object. */
static void validate_status(kc__rest_call *call, const kc__resource_change *change,
                            kc_field_errors *errors)
{
    kc__resource_change status = *change;
    status.part = status.subresource = "status";
    status.warnings = NULL;
    call->resource->ops->validate(call->resource, &status, errors);
}

/* Warnings are added once per request, however often the write is retried. */
static void collect_warnings(kc__rest_call *call, const kc__resource_change *change,
                             kc_paths *warnings)
{
    if (call->tries)
        return;
    call->resource->ops->warn(call->resource, change, warnings);
    for (size_t i = 0; i < warnings->n; i++)
        kc__rest_warn(call, kc_arena_str(call->arena, kc_cstr(warnings->items[i])));
}

/* The object to validate: with managedFields only if they are not the server's own work. Lives as
 * long as the call. */
static const kc_value *value_to_validate(kc__rest_call *call)
{
    bool all = call->client_managed_fields || call->admission_patched;
    if (all || !call->proposed_view) {
        kc_view_free(call->proposed_view);
        call->proposed_view = all ? kc_view_of(call->proposed) : kc__fields_view_of(call->proposed);
    }
    return kc_view_root(call->proposed_view);
}

kc__rest_verdict kc__rest_phase_validated(kc__rest_call *call)
{
    if (call->skip_validation)
        return KC__REST_NEXT;
    bool unfinished = false;
    kc_scoped(kc_field_errors) errors = {0};
    kc_scoped(kc_paths) warnings = {0};
    /* No rule reads the owners of the old object. */
    if (call->current && !call->current_view)
        call->current_view = kc__fields_view_of(call->current);
    kc__resource_change change = {
        .object = value_to_validate(call),
        .old = call->current ? kc_view_root(call->current_view) : NULL,
        .part = kc__rest_part_of(call),
        .subresource = call->subresource ? call->subresource->name : NULL,
        .warnings = &warnings,
        .ret_unfinished = call->heavy ? NULL : &unfinished,
    };
    call->resource->ops->validate(call->resource, &change, &errors);
    if (kc__rest_writes_status(call) && call->current && !unfinished)
        validate_status(call, &change, &errors);
    if (unfinished) {
        call->heavy = true;
        return KC__REST_ON_WORKER;
    }
    change.invalid = errors.list.n > 0;
    collect_warnings(call, &change, &warnings);
    if (!change.invalid)
        return KC__REST_NEXT;
    return kc__rest_fail_invalid(call, kc_object_name(call->proposed), &errors);
}
