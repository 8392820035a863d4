/* SPDX-License-Identifier: Apache-2.0 */
/*
 * path.c: builds the target of a request.
 *
 *     /api/v1/namespaces/default/pods/web/status?fieldManager=robots
 *     /apis/apps/v1/deployments?limit=500&labelSelector=app%3Dweb
 *
 * The parts of a target are untrusted input: a name comes from an object, a namespace from an
 * argument. Each must be a single path segment (no '/', no '%', not ".."), and all but unreserved
 * characters are escaped. An invalid part is recorded in the request and reported when it is sent,
 * so that callers need no error handling while they build the target.
 */
#include "client/rest/client_internal.h"
#include "kc/ascii.h"
#include "kc/names.h"

void kc__client_request_done(kc__client_request *request)
{
    kc_buf_done(&request->target);
    kc_error_done(&request->why);
}

static void client_path_escape(kc_buf *out, kc_str text)
{
    for (size_t i = 0; i < text.n; i++) {
        const char c = text.p[i];
        if (kc_is_alnum(c) || c == '-' || c == '.' || c == '_' || c == '~')
            kc_buf_putc(out, c);
        else
            kc_buf_printf(out, "%%%02X", (unsigned char)c);
    }
}

static void break_off(kc__client_request *request, const char *what, kc_str text,
                      const char *problem)
{
    if (!request->broken)
        kc_error_set(&request->why, KC_BAD_REQUEST, "invalid %s \"%.*s\": %s", what, KC_ARG(text),
                     problem);
    request->broken = true;
}

static void add_segment(kc__client_request *request, const char *what, kc_str text)
{
    const char *problems[KC_NAME_MESSAGES];
    if (kc_name_check(KC_NAME_PATH_SEGMENT, text, problems) > 0)
        break_off(request, what, text, problems[0]);
    else if (!text.n)
        break_off(request, what, text, "may not be empty");
    kc_buf_putc(&request->target, '/');
    client_path_escape(&request->target, text);
}

void kc__client_request_set_target(kc__client_request *request, const kc__client_location *place)
{
    const kc_kind *kind = place->kind;
    const bool core = !kind->group || !*kind->group;
    kc_buf_puts(&request->target, core ? "/api" : "/apis");
    if (!core)
        add_segment(request, "group", kc_cstr(kind->group));
    add_segment(request, "version", kc_cstr(kind->version));
    if (kind->namespaced && place->ns.n) {
        kc_buf_puts(&request->target, "/namespaces");
        add_segment(request, "namespace", place->ns);
    }
    if (kind->plural)
        add_segment(request, "resource", kc_cstr(kind->plural));
    if (place->name.p)
        add_segment(request, "name", place->name);
    if (place->subresource)
        add_segment(request, "subresource", kc_cstr(place->subresource));
}

void kc__client_request_param(kc__client_request *request, const char *name, const char *value)
{
    if (!value)
        return;
    kc_buf_putc(&request->target, kc_str_find(kc_buf_str(&request->target), '?') < 0 ? '?' : '&');
    kc_buf_puts(&request->target, name);
    kc_buf_putc(&request->target, '=');
    client_path_escape(&request->target, kc_cstr(value));
}

void kc__client_request_param_i64(kc__client_request *request, const char *name, int64_t value)
{
    kc_autofree char *text = kc_asprintf("%lld", (long long)value);
    kc__client_request_param(request, name, text);
}

kc_str kc__client_list_namespace(const kc_client *client, const kc_kind *kind, const char *ns)
{
    if (!kind->namespaced)
        return (kc_str){0};
    return kc_cstr(ns && *ns ? ns : client->bind.ns);
}

int kc__client_locate(const kc_client *client, const kc_kind *kind, kc_key key,
                      kc__client_location *ret, kc_error *err)
{
    kc_str ns = key.ns;
    if (kind->namespaced && !ns.n)
        ns = kc_cstr(client->bind.ns);
    if (!key.name.n)
        return kc_error_set(err, KC_BAD_REQUEST, "%s: resource name may not be empty", kind->kind);
    if (kind->namespaced && !ns.n)
        return kc_error_set(err, KC_BAD_REQUEST,
                            "%s \"%.*s\": an empty namespace may not be set when a resource name "
                            "is provided",
                            kind->kind, KC_ARG(key.name));
    if (!kind->namespaced && ns.n)
        return kc_error_set(err, KC_BAD_REQUEST,
                            "%s \"%.*s\" is cluster-scoped, but namespace \"%.*s\" was set",
                            kind->kind, KC_ARG(key.name), KC_ARG(ns));
    *ret = (kc__client_location){.kind = kind, .ns = ns, .name = key.name};
    return 0;
}

const kc_kind kc__client_kind_partial_metadata = {
    .group = "meta.k8s.io", .version = "v1", .kind = "PartialObjectMetadata"};

#define AS(kind) "application/json;as=" kind ";g=meta.k8s.io;v=v1,application/json"

kc_str kc__client_accept(bool metadata_only, bool list)
{
    if (!metadata_only)
        return (kc_str){0};
    return list ? KC_STR(AS("PartialObjectMetadataList")) : KC_STR(AS("PartialObjectMetadata"));
}
