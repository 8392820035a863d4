/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fail.c: the errors of the REST layer, in Kubernetes' words. Clients compare reasons and details;
 * people (and scripts) compare messages, so those are exact too.
 */
#include "apiserver/rest/call.h"

#include <stdarg.h>

kc__verdict kc__fail(kc__call *call, kc_reason reason, const char *fmt, ...)
{
    kc_scoped(kc_buf) text = {0};
    va_list args;
    va_start(args, fmt);
    kc_buf_vprintf(&text, fmt, args);
    va_end(args);
    kc_error_set(&call->error, reason, "%s", kc_buf_cstr(&text));
    return KC__FAIL;
}

/* "deployments.apps", or "pods" of the core group. */
static const char *resource_text(const kc__call *call)
{
    const kc__resource *r = call->resource;
    return *r->group ? kc_arena_printf(call->arena, "%s.%s", r->plural, r->group) : r->plural;
}

static kc__verdict about(kc__call *call, kc_str name)
{
    kc_error_about(&call->error, kc_cstr(call->resource->group), kc_cstr(call->resource->plural),
                   name);
    return KC__FAIL;
}

kc__verdict kc__fail_not_found(kc__call *call, kc_str name)
{
    kc__fail(call, KC_NOT_FOUND, "%s \"%.*s\" not found", resource_text(call), KC_ARG(name));
    return about(call, name);
}

kc__verdict kc__fail_exists(kc__call *call, kc_str name, bool being_deleted)
{
    kc__fail(call, KC_ALREADY_EXISTS, "%s%s \"%.*s\" already exists",
             being_deleted ? "object is being deleted: " : "", resource_text(call), KC_ARG(name));
    return about(call, name);
}

kc__verdict kc__fail_modified(kc__call *call, kc_str name)
{
    kc__fail(call, KC_CONFLICT,
             "Operation cannot be fulfilled on %s \"%.*s\": the object has been modified; please "
             "apply your changes to the latest version and try again",
             resource_text(call), KC_ARG(name));
    return about(call, name);
}

/* Where Kubernetes stores a resource, which its message names: mostly by the plural. */
static const char *stored_as(const kc__call *call)
{
    static const struct {
        const char *plural, *stored;
    } others[] = {
        {"endpoints", "services/endpoints"},
        {"ingresses", "ingress"},
        {"nodes", "minions"},
        {"replicationcontrollers", "controllers"},
        {"services", "services/specs"},
    };
    const kc__resource *r = call->resource;
    if (r->custom || !strcmp(r->group, "apiextensions.k8s.io"))
        return kc_arena_printf(call->arena, "%s/%s", r->group, r->plural);
    for (size_t i = 0; i < KC_COUNT(others); i++)
        if (!strcmp(r->plural, others[i].plural))
            return others[i].stored;
    return r->plural;
}

kc__verdict kc__fail_precondition(kc__call *call, kc_str name, const char *what, kc_str wanted,
                                  kc_str is)
{
    kc__fail(call, KC_CONFLICT,
             "Operation cannot be fulfilled on %s \"%.*s\": StorageError: invalid object, Code: 4, "
             "Key: /registry/%s/%.*s, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: "
             "%s in precondition: %.*s, %s in object meta: %.*s",
             resource_text(call), KC_ARG(name), stored_as(call), KC_ARG(call->key), what,
             KC_ARG(wanted), what, KC_ARG(is));
    return about(call, name);
}

kc__verdict kc__fail_generic(kc__call *call, kc_reason reason)
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
            return kc__fail(call, reason, "%s", texts[i].text);
    return kc__fail(call, reason, "unknown");
}

kc__verdict kc__fail_not_acceptable(kc__call *call)
{
    /* Lists and watches are one route, and offer what both have. */
    bool streams = call->verb == &kc__verb_list || call->verb == &kc__verb_watch;
    call->bare_details = true;
    return kc__fail(call, KC_NOT_ACCEPTABLE,
                    "406: Not Acceptable\n\nAvailable representations: " KC__ACCEPTED "%s",
                    streams ? ", " KC__WATCH_TYPES : "");
}

kc__verdict kc__fail_invalid(kc__call *call, kc_str name, const kc_field_errors *errors)
{
    const kc__resource *resource = call->resource;
    /* What is checked is what is stored, which for Events is the core group's. */
    bool core = resource->storage && kc_str_starts(kc_cstr(resource->storage), KC_STR("core/"));
    kc_field_errors_to_error(errors, core ? KC_STR("") : kc_cstr(resource->group),
                             kc_cstr(resource->kind), name, &call->error);
    return KC__FAIL;
}

void kc__warn(kc__call *call, kc_str text)
{
    for (size_t i = 0; i < call->warnings.n; i++)
        if (kc_str_eq(call->warnings.items[i], text))
            return;
    kc_vec_push(&call->warnings, kc_arena_str(call->arena, text));
}

kc__verdict kc__fail_terminating(kc__call *call, kc_str name)
{
    const kc__resource *r = call->resource;
    kc__fail(call, KC_FORBIDDEN,
             "%s.%s \"%.*s\" is forbidden: create not allowed while custom resource definition is "
             "terminating",
             r->plural, r->group, KC_ARG(name));
    kc_error_about(&call->error, kc_cstr(r->group), kc_cstr(r->plural), name);
    return KC__FAIL;
}
