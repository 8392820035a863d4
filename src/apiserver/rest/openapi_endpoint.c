/* SPDX-License-Identifier: Apache-2.0 */
/*
 * openapi_endpoint.c: /openapi/v2 and /openapi/v3 and what is under it.
 *
 * The index of version 3 names each group version's document with its hash. Asked for with it, a
 * document may be kept by clients for good; with another one, clients are sent to the right place.
 * Without one it has an ETag, and who has it gets a 304.
 */
#include "apiserver/openapi/openapi.h"
#include "apiserver/rest/endpoints.h"
#include "http/media.h"

#include <time.h>

static const kc__media_offer json[] = {{KC_STR_INIT("application"), KC_STR_INIT("json")}};

static bool accepts(kc__call *call)
{
    kc__accept accept;
    kc__choice choice;
    kc_str header = kc__headers_get(&call->x->request.headers, KC_STR("Accept"));
    return kc__accept_parse(header, call->arena, &accept, NULL) == 0 &&
           (accept.absent || kc__accept_choose(&accept, json, KC_COUNT(json), NULL, NULL, &choice));
}

static void release_document(void *doc)
{
    kc__openapi_document_unref(doc);
}

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

/* Takes over the reference. `hashed`: the client named this very document. */
static kc__verdict answer(kc__call *call, kc__openapi_document *doc, bool hashed)
{
    const kc__request *request = &call->x->request;
    kc_str hash = kc__openapi_hash(doc);
    kc_str etag = kc_cstr(kc_arena_printf(call->arena, "\"%.*s\"", KC_ARG(hash)));
    kc__header headers[] = {{KC_STR("Vary"), KC_STR("Accept")},
                            {KC_STR("ETag"), etag},
                            {KC_STR("Cache-Control"), KC_STR("public, immutable")},
                            {KC_STR("Expires"), hashed ? in_a_year(call) : KC_STR("")}};
    kc_str known = kc__headers_get(&request->headers, KC_STR("If-None-Match"));
    bool same = !kc_str_empty(known) && kc__etag_matches(known, etag);
    return kc__answer_bytes(call, &(kc__answer){.status = same ? 304 : 200,
                                                .type = KC_STR("application/json"),
                                                .headers = headers,
                                                .n_headers = hashed ? KC_COUNT(headers) : 2,
                                                .body = same ? (kc_str){0} : kc__openapi_body(doc),
                                                .owner = doc,
                                                .release = release_document,
                                                .gzip = true});
}

/* To where the document of now is. Takes over the reference. */
static kc__verdict redirect(kc__call *call, kc__openapi_document *doc)
{
    kc_str path = call->x->request.target.path, hash = kc__openapi_hash(doc);
    kc_str place =
        kc_cstr(kc_arena_printf(call->arena, "%.*s?hash=%.*s", KC_ARG(path), KC_ARG(hash)));
    kc_str text = kc_cstr(
        kc_arena_printf(call->arena, "<a href=\"%.*s\">Moved Permanently</a>.\n\n", KC_ARG(place)));
    kc__header headers[] = {{KC_STR("Vary"), KC_STR("Accept")}, {KC_STR("Location"), place}};
    kc__openapi_document_unref(doc);
    return kc__answer_bytes(call, &(kc__answer){.status = 301,
                                                .type = KC_STR("text/html; charset=utf-8"),
                                                .headers = headers,
                                                .n_headers = KC_COUNT(headers),
                                                .body = text});
}

/* /openapi/v3/api/V or /openapi/v3/apis/G/V; NULL: neither. */
static kc__openapi_document *find(kc__call *call, const kc__target *target)
{
    kc_str kind = kc__target_segment(target, 2);
    if (kc_str_is(kind, "api") && target->n_segments == 4)
        return kc__openapi_v3(call->api->openapi, call->api->kinds, KC_STR(""),
                              kc__target_segment(target, 3));
    if (kc_str_is(kind, "apis") && target->n_segments == 5)
        return kc__openapi_v3(call->api->openapi, call->api->kinds, kc__target_segment(target, 3),
                              kc__target_segment(target, 4));
    return NULL;
}

static kc__verdict answer_plain(kc__call *call, int status, const char *text)
{
    return kc__answer_text(call, status, KC_STR("text/plain; charset=utf-8"), kc_cstr(text));
}

kc__verdict kc__endpoint_openapi_v3(kc__call *call)
{
    const kc__target *target = &call->x->request.target;
    if (!accepts(call))
        return answer_plain(call, 406, "");
    if (target->n_segments == 2)
        return answer(call, kc__openapi_index(call->api->openapi, call->api->kinds), false);
    kc__openapi_document *doc = find(call, target);
    if (!doc)
        return answer_plain(call, 404, "404 page not found\n");
    kc_str hash = {0};
    bool hashed = kc__query_get(&call->query, KC_STR("hash"), &hash) && hash.n;
    if (hashed && !kc_str_eq(hash, kc__openapi_hash(doc)))
        return redirect(call, doc);
    return answer(call, doc, hashed);
}

kc__verdict kc__endpoint_openapi_v2(kc__call *call)
{
    if (!accepts(call))
        return answer_plain(call, 406, "");
    return answer(call, kc__openapi_v2(call->api->openapi, call->api->kinds), false);
}
