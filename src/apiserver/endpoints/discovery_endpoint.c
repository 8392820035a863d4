/* SPDX-License-Identifier: Apache-2.0 */
/*
 * discovery_endpoint.c: /api, /apis and the paths below them: selects the prebuilt discovery
 * document (discovery.h) that a client asks for. Aggregated documents have an ETag: a client that
 * has the current one gets a 304.
 */
#include "apiserver/discovery/discovery.h"
#include "apiserver/endpoints/endpoints.h"
#include "http/message/media.h"

static const kc__media_offer json[] = {{KC_STR_INIT("application"), KC_STR_INIT("json")}};

static bool is(const kc__media_type *clause, const char *name, const char *value)
{
    kc_str got = {0};
    kc__media_param_get(clause, kc_cstr(name), &got);
    return kc_str_is(got, value);
}

/* Plain JSON, or the aggregated form in the supported version; v2beta1 is skipped. */
static bool allows(const kc__media_type *clause, const kc__media_offer *offer, void *user)
{
    (void)offer;
    bool *aggregated = user;
    *aggregated = is(clause, "g", "apidiscovery.k8s.io") && is(clause, "v", "v2") &&
                  is(clause, "as", "APIGroupDiscoveryList");
    return *aggregated || is(clause, "as", "");
}

static bool wants_aggregated(kc__rest_call *call)
{
    kc__media_accept accept;
    kc__media_choice choice;
    bool aggregated = false;
    kc_str header = kc__http_headers_get(&call->x->request.headers, KC_STR("Accept"));
    return kc__media_accept_parse(header, call->arena, &accept, NULL) == 0 && !accept.absent &&
           kc__media_accept_choose(&accept, json, KC_COUNT(json), allows, &aggregated, &choice) &&
           aggregated;
}

static const kc__discovery_document *find_discovery_document(kc__rest_call *call,
                                                             const kc__target *target)
{
    const kc__discovery *d = call->catalog->discovery;
    bool core = kc_str_is(kc__target_segment(target, 0), "api");
    kc_str second = kc__target_segment(target, 1), third = kc__target_segment(target, 2);
    switch (target->n_segments) {
    case 1:
        if (wants_aggregated(call))
            return core ? kc__discovery_aggregated_core(d) : kc__discovery_aggregated_groups(d);
        return core ? kc__discovery_api_versions(d) : kc__discovery_groups(d);
    case 2:
        return core ? kc__discovery_resources(d, KC_STR(""), second)
                    : kc__discovery_group(d, second);
    default: return kc__discovery_resources(d, second, third);
    }
}

static kc__rest_verdict not_found(kc__rest_call *call, const kc__target *target)
{
    kc_str group = kc__target_segment(target, 1);
    if (kc_str_is(kc__target_segment(target, 0), "api") ||
        kc__registry_find_group(call->catalog->kinds, group))
        return kc__rest_fail_generic(call, KC_NOT_FOUND);
    return kc__rest_respond_page_not_found(call);
}

static void release_catalog(void *catalog)
{
    kc__rest_catalog_unref(catalog);
}

/* The aggregated document, or 304 if the client has it. */
static kc__rest_verdict answer_aggregated(kc__rest_call *call, const kc__discovery_document *doc)
{
    kc__http_header headers[] = {{KC_STR("Vary"), KC_STR("Accept")},
                                 {KC_STR("ETag"), doc->etag},
                                 {KC_STR("Cache-Control"), KC_STR("public")}};
    kc_str known = kc__http_headers_get(&call->x->request.headers, KC_STR("If-None-Match"));
    bool same = !kc_str_empty(known) && kc__http_etag_matches(known, doc->etag);
    return kc__rest_respond_bytes(call,
                                  &(kc__http_response){.status = same ? 304 : 200,
                                                       .type = doc->type,
                                                       .headers = headers,
                                                       .n_headers = KC_COUNT(headers),
                                                       .body = same ? (kc_str){0} : doc->body,
                                                       .owner = kc__rest_catalog_ref(call->catalog),
                                                       .release = release_catalog,
                                                       .gzip = true});
}

/* The other documents, in the form that the client asked for. */
static kc__rest_verdict respond_discovery_plain(kc__rest_call *call,
                                                const kc__discovery_document *doc)
{
    bool foreign = false;
    kc__rest_negotiation opts = {.kind = KC__REST_RESPONSE_STATUS};
    if (kc__rest_negotiate(&call->x->request, &call->query, &opts, &call->form, &foreign,
                           &call->error) < 0)
        return foreign ? kc__rest_fail_not_acceptable(call) : KC__REST_FAIL;
    if (call->form.yaml || call->form.pretty)
        return kc__rest_respond_json(call, 200, doc->body);
    return kc__rest_respond_bytes(call,
                                  &(kc__http_response){.status = 200,
                                                       .type = doc->type,
                                                       .body = doc->body,
                                                       .owner = kc__rest_catalog_ref(call->catalog),
                                                       .release = release_catalog,
                                                       .gzip = true});
}

kc__rest_verdict kc__rest_endpoint_discovery(kc__rest_call *call)
{
    const kc__target *target = &call->x->request.target;
    const kc__discovery_document *doc = find_discovery_document(call, target);
    if (!doc)
        return not_found(call, target);
    return kc_str_empty(doc->etag) ? respond_discovery_plain(call, doc)
                                   : answer_aggregated(call, doc);
}
