/* SPDX-License-Identifier: Apache-2.0 */
/*
 * openapi_endpoint.c: /openapi/v2 and /openapi/v3 and what is under it.
 *
 * The index of version 3 names each group version's document with its hash. Asked for with it, a
 * document may be kept by clients for good; with another one, clients are sent to the right place.
 * The hash is the ETag too: who has the document gets a 304, for which it need not be made.
 */
#include "apiserver/openapi/openapi.h"
#include "apiserver/rest/endpoints.h"
#include "http/media.h"

#include <time.h>

#define PROTOBUF "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"

/* As which form each is answered; version 3 is JSON only. Clients before v1.28 write "v2@v1.0". */
static const kc__media_offer offers[] = {
    {KC_STR_INIT("application"), KC_STR_INIT("json")},
    {KC_STR_INIT("application"), KC_STR_INIT("com.github.proto-openapi.spec.v2.v1.0+protobuf")},
    {KC_STR_INIT("application"), KC_STR_INIT("com.github.proto-openapi.spec.v2@v1.0+protobuf")},
};

/* False: none of the first `n` suits the client. */
static bool negotiate(kc__call *call, size_t n, kc__openapi_form *ret)
{
    kc__accept accept;
    kc__choice choice = {0};
    kc_str header = kc__headers_get(&call->x->request.headers, KC_STR("Accept"));
    if (kc__accept_parse(header, call->arena, &accept, NULL) < 0 ||
        (!accept.absent && !kc__accept_choose(&accept, offers, n, NULL, NULL, &choice)))
        return false;
    *ret = choice.offer ? KC__OPENAPI_PROTOBUF : KC__OPENAPI_JSON;
    return true;
}

static kc__verdict answer_plain(kc__call *call, int status, const char *text)
{
    return kc__answer_text(call, status, KC_STR("text/plain; charset=utf-8"), kc_cstr(text));
}

static kc__verdict not_acceptable(kc__call *call)
{
    return answer_plain(call, 406, "");
}

/* ---- answers ---- */

/* A year from now, as headers have it. */
static kc_str in_a_year(kc__call *call)
{
    char text[64];
    struct tm parts;
    time_t then = (time_t)(kc_clock_wall(call->api->clock) / 1000000000) + (time_t)365 * 86400;
    gmtime_r(&then, &parts);
    strftime(text, sizeof(text), "%a, %d %b %Y %H:%M:%S GMT", &parts);
    return kc_arena_str(call->arena, kc_cstr(text));
}

static kc_str etag_of(kc__call *call, kc_str hash)
{
    return kc_cstr(kc_arena_printf(call->arena, "\"%.*s\"", KC_ARG(hash)));
}

/* Whether the client says that it has the document of this hash. */
static bool has_it(kc__call *call, kc_str hash)
{
    kc_str known = kc__headers_get(&call->x->request.headers, KC_STR("If-None-Match"));
    return !kc_str_empty(known) && kc__etag_matches(known, etag_of(call, hash));
}

/* With the headers that a document has; one the client named by its hash never changes. */
static kc__verdict send(kc__call *call, kc__answer *answer, kc_str hash, bool named)
{
    kc__header headers[] = {{KC_STR("Vary"), KC_STR("Accept")},
                            {KC_STR("ETag"), etag_of(call, hash)},
                            {KC_STR("Cache-Control"), KC_STR("public, immutable")},
                            {KC_STR("Expires"), named ? in_a_year(call) : KC_STR("")}};
    answer->headers = headers;
    answer->n_headers = named ? KC_COUNT(headers) : 2;
    return kc__answer_bytes(call, answer);
}

static kc__verdict send_not_modified(kc__call *call, kc_str hash, bool named)
{
    return send(call, &(kc__answer){.status = 304}, hash, named);
}

static void release_document(void *doc)
{
    kc__openapi_document_unref(doc);
}

/* Takes over the reference. */
static kc__verdict send_document(kc__call *call, kc__openapi_document *doc, const char *type,
                                 bool named)
{
    kc_str hash = kc__openapi_hash(doc);
    if (has_it(call, hash)) {
        hash = kc_arena_str(call->arena, hash);
        kc__openapi_document_unref(doc);
        return send_not_modified(call, hash, named);
    }
    return send(call,
                &(kc__answer){.status = 200,
                              .type = kc_cstr(type),
                              .body = kc__openapi_body(doc),
                              .owner = doc,
                              .release = release_document,
                              .gzip = true},
                hash, named);
}

/* To where the document of now is. */
static kc__verdict redirect(kc__call *call, kc_str hash)
{
    kc_str path = call->x->request.target.path;
    kc_str place =
        kc_cstr(kc_arena_printf(call->arena, "%.*s?hash=%.*s", KC_ARG(path), KC_ARG(hash)));
    kc_str text = kc_cstr(
        kc_arena_printf(call->arena, "<a href=\"%.*s\">Moved Permanently</a>.\n\n", KC_ARG(place)));
    kc__header headers[] = {{KC_STR("Vary"), KC_STR("Accept")}, {KC_STR("Location"), place}};
    return kc__answer_bytes(call, &(kc__answer){.status = 301,
                                                .type = KC_STR("text/html; charset=utf-8"),
                                                .headers = headers,
                                                .n_headers = KC_COUNT(headers),
                                                .body = text});
}

/* ---- version 3 ---- */

/* /openapi/v3/api/V or /openapi/v3/apis/G/V. */
static const kc__kinds_version *find_version(kc__call *call)
{
    const kc__target *target = &call->x->request.target;
    kc_str kind = kc__target_segment(target, 2);
    kc_str third = kc__target_segment(target, 3), fourth = kc__target_segment(target, 4);
    if (kc_str_is(kind, "api") && target->n_segments == 4)
        return kc__kinds_find_version(call->snapshot->kinds, KC_STR(""), third);
    if (kc_str_is(kind, "apis") && target->n_segments == 5)
        return kc__kinds_find_version(call->snapshot->kinds, third, fourth);
    return NULL;
}

static kc__verdict answer_version(kc__call *call, const kc__kinds_version *version)
{
    char now[KC__OPENAPI_HASH];
    kc_str group = kc_cstr(version->group), name = kc_cstr(version->name), asked = {0};
    kc__openapi *openapi = call->api->openapi;
    kc_auto(kc__openapi_document) *doc = NULL;
    if (!kc__openapi_v3_hash(openapi, call->snapshot->kinds, group, name, now)) {
        doc = kc__openapi_v3(openapi, call->snapshot->kinds, group, name);
        memcpy(now, kc__openapi_hash(doc).p, sizeof(now));
    }
    bool named = kc__query_get(&call->query, KC_STR("hash"), &asked) && asked.n;
    if (named && !kc_str_is(asked, now))
        return redirect(call, kc_cstr(now));
    if (has_it(call, kc_cstr(now)))
        return send_not_modified(call, kc_cstr(now), named);
    if (!doc)
        doc = kc__openapi_v3(openapi, call->snapshot->kinds, group, name);
    return send_document(call, kc_take(doc), "application/json", named);
}

kc__verdict kc__endpoint_openapi_v3(kc__call *call)
{
    kc__openapi_form form;
    if (!negotiate(call, 1, &form))
        return not_acceptable(call);
    if (call->x->request.target.n_segments == 2)
        return send_document(call, kc__openapi_index(call->api->openapi, call->snapshot->kinds),
                             "application/json", false);
    const kc__kinds_version *version = find_version(call);
    return version ? answer_version(call, version)
                   : answer_plain(call, 404, "404 page not found\n");
}

/* ---- version 2 ---- */

kc__verdict kc__endpoint_openapi_v2(kc__call *call)
{
    char now[KC__OPENAPI_HASH];
    kc__openapi_form form;
    if (!negotiate(call, KC_COUNT(offers), &form))
        return not_acceptable(call);
    if (kc__openapi_v2_hash(call->api->openapi, call->snapshot->kinds, now) &&
        has_it(call, kc_cstr(now)))
        return send_not_modified(call, kc_cstr(now), false);
    return send_document(call, kc__openapi_v2(call->api->openapi, call->snapshot->kinds, form),
                         form == KC__OPENAPI_PROTOBUF ? PROTOBUF : "application/json", false);
}
