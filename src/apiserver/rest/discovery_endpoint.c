/* SPDX-License-Identifier: Apache-2.0 */
/*
 * discovery_endpoint.c: /api and /apis and what is under them: finished documents (discovery.h),
 * and which of them a client means. Aggregated ones have an ETag: a client that has them gets a
 * 304.
 */
#include "apiserver/discovery/discovery.h"
#include "apiserver/rest/endpoints.h"
#include "http/media.h"

static const kc__media_offer json[] = {{KC_STR_INIT("application"), KC_STR_INIT("json")}};

static bool is(const kc__media_type *clause, const char *name, const char *value)
{
    kc_str got = {0};
    kc__media_param_get(clause, kc_cstr(name), &got);
    return kc_str_is(got, value);
}

/* Plain JSON, or the aggregated form in the version there is; v2beta1 is passed over. */
static bool allows(const kc__media_type *clause, const kc__media_offer *offer, void *user)
{
    (void)offer;
    bool *aggregated = user;
    *aggregated = is(clause, "g", "apidiscovery.k8s.io") && is(clause, "v", "v2") &&
                  is(clause, "as", "APIGroupDiscoveryList");
    return *aggregated || is(clause, "as", "");
}

static bool wants_aggregated(kc__call *call)
{
    kc__accept accept;
    kc__choice choice;
    bool aggregated = false;
    kc_str header = kc__headers_get(&call->x->request.headers, KC_STR("Accept"));
    return kc__accept_parse(header, call->arena, &accept, NULL) == 0 && !accept.absent &&
           kc__accept_choose(&accept, json, KC_COUNT(json), allows, &aggregated, &choice) &&
           aggregated;
}

static const kc__document *find(kc__call *call, const kc__target *target)
{
    const kc__discovery *d = call->snapshot->discovery;
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

static kc__verdict not_found(kc__call *call, const kc__target *target)
{
    kc_str group = kc__target_segment(target, 1);
    if (kc_str_is(kc__target_segment(target, 0), "api") ||
        kc__kinds_find_group(call->snapshot->kinds, group))
        return kc__fail_generic(call, KC_NOT_FOUND);
    return kc__answer_no_page(call);
}

static void release_snapshot(void *snapshot)
{
    kc__snapshot_unref(snapshot);
}

/* The aggregated form, unless the client has it already. */
static kc__verdict answer_aggregated(kc__call *call, const kc__document *doc)
{
    kc__header headers[] = {{KC_STR("Vary"), KC_STR("Accept")},
                            {KC_STR("ETag"), doc->etag},
                            {KC_STR("Cache-Control"), KC_STR("public")}};
    kc_str known = kc__headers_get(&call->x->request.headers, KC_STR("If-None-Match"));
    bool same = !kc_str_empty(known) && kc__etag_matches(known, doc->etag);
    return kc__answer_bytes(call, &(kc__answer){.status = same ? 304 : 200,
                                                .type = doc->type,
                                                .headers = headers,
                                                .n_headers = KC_COUNT(headers),
                                                .body = same ? (kc_str){0} : doc->body,
                                                .owner = kc__snapshot_ref(call->snapshot),
                                                .release = release_snapshot,
                                                .gzip = true});
}

/* The others, as the client wants to read them. */
static kc__verdict answer_plain(kc__call *call, const kc__document *doc)
{
    bool foreign = false;
    kc__negotiation opts = {.kind = KC__ANSWERS_STATUS};
    if (kc__negotiate(&call->x->request, &call->query, &opts, &call->form, &foreign, &call->error) <
        0)
        return foreign ? kc__fail_not_acceptable(call) : KC__FAIL;
    if (call->form.yaml || call->form.pretty)
        return kc__answer_json(call, 200, doc->body);
    return kc__answer_bytes(call, &(kc__answer){.status = 200,
                                                .type = doc->type,
                                                .body = doc->body,
                                                .owner = kc__snapshot_ref(call->snapshot),
                                                .release = release_snapshot,
                                                .gzip = true});
}

kc__verdict kc__endpoint_discovery(kc__call *call)
{
    const kc__target *target = &call->x->request.target;
    const kc__document *doc = find(call, target);
    if (!doc)
        return not_found(call, target);
    return kc_str_empty(doc->etag) ? answer_plain(call, doc) : answer_aggregated(call, doc);
}
