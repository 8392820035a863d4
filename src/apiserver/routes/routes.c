/* SPDX-License-Identifier: Apache-2.0 */
/*
 * routes.c: the table of what a request can be routed to (request/routes.h). It is above the
 * folders that it names, and the phases below them, so no folder includes one that includes it. To
 * add a verb or a subresource: a row here.
 */
#include "apiserver/request/routes.h"
#include "apiserver/endpoints/endpoints.h"
#include "apiserver/reviews/review.h"

static const kc__rest_verb *const verbs[] = {
    &kc__rest_verb_get,    &kc__rest_verb_list,
    &kc__rest_verb_watch,  &kc__rest_verb_create,
    &kc__rest_verb_update, &kc__rest_verb_patch,
    &kc__rest_verb_delete, &kc__rest_verb_delete_collection,
};

static const kc__rest_part_route parts[] = {
    {"status"},
    {"finalize"},
    {"scale"},
    {"ephemeralcontainers"},
    {"resize"},
    {"approval"},
    {"log", &kc__rest_verb_get, &kc__rest_verb_log},
    {"binding", &kc__rest_verb_create, &kc__rest_verb_bind},
    {"eviction", &kc__rest_verb_create, &kc__rest_verb_evict},
    {"token", &kc__rest_verb_create, &kc__rest_verb_request_token},
};

static bool has_review(const kc__resource *resource)
{
    return kc__review_of(resource);
}

const kc__rest_routes kc__rest_routes_served = {
    .verbs = verbs,
    .n_verbs = KC_COUNT(verbs),
    .parts = parts,
    .n_parts = KC_COUNT(parts),
    .find_endpoint = kc__rest_endpoint_find,
    .is_review = has_review,
};
