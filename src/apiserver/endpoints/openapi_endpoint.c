/* SPDX-License-Identifier: Apache-2.0 */
/*
 * openapi_endpoint.c: /openapi/v2, /openapi/v3 and the paths below it.
 *
 * The index of version 3 has a URL with a hash for the document of each group version. A document
 * that was requested with its current hash may be cached forever; a request with another hash is
 * redirected. The hash is also the ETag: a client that has the document gets a 304, and the
 * document is not built.
 */
#include "apiserver/endpoints/endpoints.h"
#include "apiserver/openapi/openapi.h"
#include "http/message/media.h"

#include <time.h>

#define PROTOBUF "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"

/* The media type of each form; version 3 is JSON only. Clients before v1.28 write "v2@v1.0". */
static const kc__media_offer offers[] = {
    {KC_STR_INIT("application"), KC_STR_INIT("json")},
    {KC_STR_INIT("application"), KC_STR_INIT("com.github.proto-openapi.spec.v2.v1.0+protobuf")},
    {KC_STR_INIT("application"), KC_STR_INIT("com.github.proto-openapi.spec.v2@v1.0+protobuf")},
};

/* False: the client accepts none of the first `n` forms. */
static bool negotiate(kc__rest_call *call, size_t n, kc__openapi_form *ret)
{
    kc__media_accept accept;
    kc__media_choice choice = {0};
    kc_str header = kc__http_headers_get(&call->x->request.headers, KC_STR("Accept"));
    if (kc__media_accept_parse(header, call->arena, &accept, NULL) < 0 ||
        (!accept.absent && !kc__media_accept_choose(&accept, offers, n, NULL, NULL, &choice)))
        return false;
    *ret = choice.offer ? KC__OPENAPI_PROTOBUF : KC__OPENAPI_JSON;
    return true;
}

static kc__rest_verdict respond_openapi_plain(kc__rest_call *call, int status, const char *text)
{
    return kc__rest_respond_text(call, status, KC_STR("text/plain; charset=utf-8"), kc_cstr(text));
}

static kc__rest_verdict not_acceptable(kc__rest_call *call)
{
    return respond_openapi_plain(call, 406, "");
}

/* ---- responses ---- */

/* One year from now, as an HTTP date. */
static kc_str in_a_year(kc__rest_call *call)
{
    char text[64];
    struct tm parts;
    time_t then = (time_t)(kc_clock_wall(call->api->clock) / 1000000000) + (time_t)365 * 86400;
    gmtime_r(&then, &parts);
    strftime(text, sizeof(text), "%a, %d %b %Y %H:%M:%S GMT", &parts);
    return kc_arena_str(call->arena, kc_cstr(text));
}

static kc_str etag_of(kc__rest_call *call, kc_str hash)
{
    return kc_cstr(kc_arena_printf(call->arena, "\"%.*s\"", KC_ARG(hash)));
}

/* Whether the client has the document with this hash (If-None-Match). */
static bool has_it(kc__rest_call *call, kc_str hash)
{
    kc_str known = kc__http_headers_get(&call->x->request.headers, KC_STR("If-None-Match"));
    return !kc_str_empty(known) && kc__http_etag_matches(known, etag_of(call, hash));
}

/* Adds the headers of a document; a document that was requested by its hash never changes. */
static kc__rest_verdict send(kc__rest_call *call, kc__http_response *response, kc_str hash,
                             bool named)
{
    kc__http_header headers[] = {{KC_STR("Vary"), KC_STR("Accept")},
                                 {KC_STR("ETag"), etag_of(call, hash)},
                                 {KC_STR("Cache-Control"), KC_STR("public, immutable")},
                                 {KC_STR("Expires"), named ? in_a_year(call) : KC_STR("")}};
    response->headers = headers;
    response->n_headers = named ? KC_COUNT(headers) : 2;
    return kc__rest_respond_bytes(call, response);
}

static kc__rest_verdict send_not_modified(kc__rest_call *call, kc_str hash, bool named)
{
    return send(call, &(kc__http_response){.status = 304}, hash, named);
}

static void release_document(void *doc)
{
    kc__openapi_document_unref(doc);
}

/* Takes over the reference. */
static kc__rest_verdict send_document(kc__rest_call *call, kc__openapi_document *doc,
                                      const char *type, bool named)
{
    kc_str hash = kc__openapi_hash(doc);
    if (has_it(call, hash)) {
        hash = kc_arena_str(call->arena, hash);
        kc__openapi_document_unref(doc);
        return send_not_modified(call, hash, named);
    }
    return send(call,
                &(kc__http_response){.status = 200,
                                     .type = kc_cstr(type),
                                     .body = kc__openapi_body(doc),
                                     .owner = doc,
                                     .release = release_document,
                                     .gzip = true},
                hash, named);
}

/* Redirects to the current document. */
static kc__rest_verdict redirect(kc__rest_call *call, kc_str hash)
{
    kc_str path = call->x->request.target.path;
    kc_str place =
        kc_cstr(kc_arena_printf(call->arena, "%.*s?hash=%.*s", KC_ARG(path), KC_ARG(hash)));
    kc_str text = kc_cstr(
        kc_arena_printf(call->arena, "<a href=\"%.*s\">Moved Permanently</a>.\n\n", KC_ARG(place)));
    kc__http_header headers[] = {{KC_STR("Vary"), KC_STR("Accept")}, {KC_STR("Location"), place}};
    return kc__rest_respond_bytes(call,
                                  &(kc__http_response){.status = 301,
                                                       .type = KC_STR("text/html; charset=utf-8"),
                                                       .headers = headers,
                                                       .n_headers = KC_COUNT(headers),
                                                       .body = text});
}

/* ---- version 3 ---- */

/* /openapi/v3/api/V or /openapi/v3/apis/G/V. */
static const kc__registry_version *find_version(kc__rest_call *call)
{
    const kc__target *target = &call->x->request.target;
    kc_str kind = kc__target_segment(target, 2);
    kc_str third = kc__target_segment(target, 3), fourth = kc__target_segment(target, 4);
    if (kc_str_is(kind, "api") && target->n_segments == 4)
        return kc__registry_find_version(call->catalog->kinds, KC_STR(""), third);
    if (kc_str_is(kind, "apis") && target->n_segments == 5)
        return kc__registry_find_version(call->catalog->kinds, third, fourth);
    return NULL;
}

static kc__rest_verdict answer_version(kc__rest_call *call, const kc__registry_version *version)
{
    char now[KC__OPENAPI_HASH];
    kc_str group = kc_cstr(version->group), name = kc_cstr(version->name), requested = {0};
    kc__openapi *openapi = call->api->openapi;
    kc_auto(kc__openapi_document) *doc = NULL;
    if (!kc__openapi_v3_hash(openapi, call->catalog->kinds, group, name, now)) {
        doc = kc__openapi_v3(openapi, call->catalog->kinds, group, name);
        memcpy(now, kc__openapi_hash(doc).p, sizeof(now));
    }
    bool named = kc__query_get(&call->query, KC_STR("hash"), &requested) && requested.n;
    if (named && !kc_str_is(requested, now))
        return redirect(call, kc_cstr(now));
    if (has_it(call, kc_cstr(now)))
        return send_not_modified(call, kc_cstr(now), named);
    if (!doc)
        doc = kc__openapi_v3(openapi, call->catalog->kinds, group, name);
    return send_document(call, kc_take(doc), "application/json", named);
}

kc__rest_verdict kc__rest_endpoint_openapi_v3(kc__rest_call *call)
{
    kc__openapi_form form;
    if (!negotiate(call, 1, &form))
        return not_acceptable(call);
    if (call->x->request.target.n_segments == 2)
        return send_document(call, kc__openapi_index(call->api->openapi, call->catalog->kinds),
                             "application/json", false);
    const kc__registry_version *version = find_version(call);
    return version ? answer_version(call, version)
                   : respond_openapi_plain(call, 404, "404 page not found\n");
}

/* ---- version 2 ---- */

kc__rest_verdict kc__rest_endpoint_openapi_v2(kc__rest_call *call)
{
    char now[KC__OPENAPI_HASH];
    kc__openapi_form form;
    if (!negotiate(call, KC_COUNT(offers), &form))
        return not_acceptable(call);
    if (kc__openapi_v2_hash(call->api->openapi, call->catalog->kinds, now) &&
        has_it(call, kc_cstr(now)))
        return send_not_modified(call, kc_cstr(now), false);
    return send_document(call, kc__openapi_v2(call->api->openapi, call->catalog->kinds, form),
                         form == KC__OPENAPI_PROTOBUF ? PROTOBUF : "application/json", false);
}
