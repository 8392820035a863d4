/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fail.c: the errors of the REST layer. Clients compare reasons and details; users and scripts
 * compare messages. So all three are exactly those of Kubernetes.
 */
#include "apiserver/call/call.h"

#include <stdarg.h>

kc__rest_verdict kc__rest_fail(kc__rest_call *call, kc_reason reason, const char *fmt, ...)
{
    kc_scoped(kc_buf) text = {0};
    va_list args;
    va_start(args, fmt);
    kc_buf_vprintf(&text, fmt, args);
    va_end(args);
    kc_error_set(&call->error, reason, "%s", kc_buf_cstr(&text));
    return KC__REST_FAIL;
}

/* "deployments.apps", or "pods" for the core group. */
static const char *resource_text(const kc__rest_call *call)
{
    const kc__resource *r = call->resource;
    return *r->group ? kc_arena_printf(call->arena, "%s.%s", r->plural, r->group) : r->plural;
}

static kc__rest_verdict about(kc__rest_call *call, kc_str name)
{
    kc_error_about(&call->error, kc_cstr(call->resource->group), kc_cstr(call->resource->plural),
                   name);
    return KC__REST_FAIL;
}

kc__rest_verdict kc__rest_fail_not_found(kc__rest_call *call, kc_str name)
{
    kc__rest_fail(call, KC_NOT_FOUND, "%s \"%.*s\" not found", resource_text(call), KC_ARG(name));
    return about(call, name);
}

kc__rest_verdict kc__rest_fail_exists(kc__rest_call *call, kc_str name, bool being_deleted)
{
    kc__rest_fail(call, KC_ALREADY_EXISTS, "%s%s \"%.*s\" already exists",
                  being_deleted ? "object is being deleted: " : "", resource_text(call),
                  KC_ARG(name));
    return about(call, name);
}

kc__rest_verdict kc__rest_fail_modified(kc__rest_call *call, kc_str name)
{
    kc__rest_fail(
        call, KC_CONFLICT,
        "Operation cannot be fulfilled on %s \"%.*s\": the object has been modified; please "
        "apply your changes to the latest version and try again",
        resource_text(call), KC_ARG(name));
    return about(call, name);
}

kc__rest_verdict kc__rest_fail_precondition(kc__rest_call *call, kc_str name, const char *what,
                                            kc_str wanted, kc_str is)
{
    kc__rest_fail(
        call, KC_CONFLICT,
        "Operation cannot be fulfilled on %s \"%.*s\": StorageError: invalid object, Code: 4, "
        "Key: %s%.*s, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: "
        "%s in precondition: %.*s, %s in object meta: %.*s",
        resource_text(call), KC_ARG(name), call->resource->key_prefix, KC_ARG(call->key), what,
        KC_ARG(wanted), what, KC_ARG(is));
    return about(call, name);
}

kc__rest_verdict kc__rest_fail_timeout(kc__rest_call *call)
{
    kc_error_done(&call->error);
    return kc__rest_fail(
        call, KC_TIMEOUT,
        "Timeout: request did not complete within requested timeout - context deadline "
        "exceeded");
}

kc__rest_verdict kc__rest_fail_generic(kc__rest_call *call, kc_reason reason)
{
    static const struct {
        kc_reason reason;
        const char *text;
    } texts[] = {
        {KC_NOT_FOUND, "the server could not find the requested resource"},
        {KC_METHOD_NOT_ALLOWED, "the server does not allow this method on the requested resource"},
        {KC_UNSUPPORTED_MEDIA_TYPE, "415: Unsupported Media Type"},
    };
    call->bare_details = true;
    for (size_t i = 0; i < KC_COUNT(texts); i++)
        if (texts[i].reason == reason)
            return kc__rest_fail(call, reason, "%s", texts[i].text);
    return kc__rest_fail(call, reason, "unknown");
}

kc__rest_verdict kc__rest_fail_not_acceptable(kc__rest_call *call)
{
    /* Lists and watches share a route, which offers the media types of both. */
    bool streams = call->verb && (call->verb->bit & (KC__VERB_LIST | KC__VERB_WATCH));
    call->bare_details = true;
    return kc__rest_fail(call, KC_NOT_ACCEPTABLE,
                         "406: Not Acceptable\n\nAvailable representations: " KC__REST_MEDIA_TYPES
                         "%s",
                         streams ? ", " KC__REST_WATCH_MEDIA_TYPES : "");
}

kc__rest_verdict kc__rest_fail_invalid(kc__rest_call *call, kc_str name,
                                       const kc_field_errors *errors)
{
    const kc__resource *resource = call->resource;
    /* Validation errors are about the stored version; for Events that is the core group's. */
    bool core = resource->storage && kc_str_starts(kc_cstr(resource->storage), KC_STR("core/"));
    kc_field_errors_to_error(errors, core ? KC_STR("") : kc_cstr(resource->group),
                             kc_cstr(resource->kind), name, &call->error);
    return KC__REST_FAIL;
}

kc__rest_verdict kc__rest_fail_terminating(kc__rest_call *call, kc_str name)
{
    const kc__resource *r = call->resource;
    kc__rest_fail(
        call, KC_FORBIDDEN,
        "%s.%s \"%.*s\" is forbidden: create not allowed while custom resource definition is "
        "terminating",
        r->plural, r->group, KC_ARG(name));
    kc_error_about(&call->error, kc_cstr(r->group), kc_cstr(r->plural), name);
    return KC__REST_FAIL;
}
