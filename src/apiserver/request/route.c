/* SPDX-License-Identifier: Apache-2.0 */
/*
 * route.c: finds the endpoint, or the verb and resource, that serves a request.
 *
 * An unknown path below a known group gets a Status; any other unknown path gets "404 page not
 * found" in plain text. kubectl and client-go distinguish the two.
 */
#include "apiserver/kinds/resource_ops.h"
#include "apiserver/printing/table.h"
#include "apiserver/request/routes.h"
#include "apiserver/request/scale.h"

static const kc__rest_verb *verb_named(const char *name)
{
    const kc__rest_routes *routes = &kc__rest_routes_served;
    for (size_t i = 0; i < routes->n_verbs; i++)
        if (!strcmp(routes->verbs[i]->name, name))
            return routes->verbs[i];
    return NULL;
}

static kc__rest_verdict fail_unknown_path(kc__rest_call *call, bool plain_text)
{
    return plain_text ? kc__rest_respond_page_not_found(call)
                      : kc__rest_fail_generic(call, KC_NOT_FOUND);
}

/* For a path below a group that names no resource. All resources of a group have the same
 * operations: CRDs cannot add to a built-in group. */
static kc__rest_verdict fail_unknown_resource(kc__rest_call *call, const kc__registry_group *group)
{
    if (!group)
        return fail_unknown_path(call, true);
    const kc__registry_version *v = &group->versions[0];
    return fail_unknown_path(call,
                             v->n_resources && v->resources[0].ops->unknown_path_is_plain_text);
}

/* Checks that the path fits the resource's scope (namespaced or cluster); fails the request
 * otherwise. */
static kc__rest_verdict check_scope(kc__rest_call *call)
{
    const kc__rest_request_info *info = &call->info;
    bool has_ns = !kc_str_empty(info->ns);
    bool plain_text = call->resource->ops->unknown_path_is_plain_text;
    if (!call->resource->namespaced) {
        bool own = kc_str_is(info->resource, "namespaces") && info->named;
        return has_ns && !own ? fail_unknown_path(call, plain_text) : KC__REST_NEXT;
    }
    if (has_ns)
        return KC__REST_NEXT;
    bool listed = call->resource->verbs & KC__VERB_LIST;
    if (!listed || (info->named && strcmp(info->verb, "watch") != 0))
        return fail_unknown_path(call, plain_text);
    if (strcmp(info->verb, "list") != 0 && strcmp(info->verb, "watch") != 0)
        return kc__rest_fail_generic(call, KC_METHOD_NOT_ALLOWED);
    return KC__REST_NEXT;
}

/* ---- subresources ---- */

/* The resource of the subresource's bodies: its own kind, with fields copied from the resource. */
static const kc__resource *body_resource_of(kc__rest_call *call)
{
    const kc__resource *r = call->resource;
    const kc__resource_subresource *sub = call->subresource;
    if (!sub->kind)
        return r;
    kc__resource *body_resource = kc_arena_calloc(call->arena, 1, sizeof(*body_resource));
    body_resource->group = sub->group ? sub->group : r->group;
    body_resource->version = sub->version ? sub->version : r->version;
    body_resource->plural = r->plural;
    body_resource->kind = sub->kind;
    body_resource->namespaced = r->namespaced;
    body_resource->strategy = r->strategy;
    body_resource->ops = &kc__builtin_resource_ops; /* Subresource kinds are built in. */
    body_resource->columns = kc__rest_is_scale(call) ? kc__print_scale_columns(r) : NULL;
    body_resource->type = kc__type_lookup_kind(kc__resource_api_version(body_resource, call->arena),
                                               kc_cstr(sub->kind));
    return body_resource;
}

/* Whether the server serves the subresource that discovery shows; sets its own verb if it has
 * one. */
static bool serves_part(kc__rest_call *call)
{
    const kc__rest_routes *routes = &kc__rest_routes_served;
    for (size_t i = 0; i < routes->n_parts; i++) {
        const kc__rest_part_route *part = &routes->parts[i];
        if (strcmp(call->subresource->name, part->name) != 0)
            continue;
        if (part->own == &kc__rest_verb_request_token && !call->api->accounts)
            return false;
        if (part->own && call->verb == part->usual)
            call->verb = part->own;
        return true;
    }
    return false;
}

static kc__rest_verdict fail_verb(kc__rest_call *call)
{
    const kc__resource *r = call->resource;
    if (!r->ops->set_verb_error)
        return kc__rest_fail_generic(call, KC_METHOD_NOT_ALLOWED);
    r->ops->set_verb_error(r, call->verb->name, &call->error);
    return KC__REST_FAIL;
}

static kc__rest_verdict route_subresource(kc__rest_call *call)
{
    const kc__resource_ops *ops = call->resource->ops;
    call->subresource = kc__resource_find_subresource(call->resource, call->info.subresource);
    if (!call->subresource && ops->unknown_subresource_names_object)
        return kc__rest_fail_not_found(call, call->info.name);
    bool more = !kc_str_empty(call->info.rest) && !ops->ignores_path_suffix;
    if (!call->subresource || more || call->verb == &kc__rest_verb_watch)
        return kc__rest_fail_generic(call, KC_NOT_FOUND);
    if (!serves_part(call) || !(call->subresource->verbs & call->verb->bit))
        return fail_verb(call);
    call->request_resource = body_resource_of(call);
    return KC__REST_NEXT;
}

/* Bindings are created but not stored: the write changes the pod. */
static kc__rest_verdict route_bindings(kc__rest_call *call)
{
    size_t n;
    const kc__registry *kinds = call->catalog->kinds;
    if (call->info.named)
        return kc__rest_fail_generic(call, KC_NOT_FOUND);
    if (call->verb != &kc__rest_verb_create)
        return kc__rest_fail_generic(call, KC_METHOD_NOT_ALLOWED);
    call->resource = kc__registry_find(kinds, KC_STR(""), KC_STR("v1"), KC_STR("pods"));
    call->served = &call->catalog->served[call->resource - kc__registry_resources(kinds, &n)];
    call->subresource = kc__resource_find_subresource(call->resource, KC_STR("binding"));
    call->verb = &kc__rest_verb_bind;
    return KC__REST_NEXT;
}

static bool is_bindings(const kc__resource *resource)
{
    return !*resource->group && !strcmp(resource->plural, "bindings");
}

static void make_key(kc__rest_call *call)
{
    const kc__rest_request_info *info = &call->info;
    if (!call->resource->namespaced)
        call->key = info->named ? info->name : (kc_str){0};
    else if (!kc_str_empty(info->ns))
        call->key = kc_arena_join(call->arena, info->ns, KC_STR("/"),
                                  info->named ? info->name : (kc_str){0});
}

static kc__rest_verdict route_verb(kc__rest_call *call)
{
    const kc__rest_request_info *info = &call->info;
    call->verb = verb_named(info->verb);
    if (!call->verb || kc_str_is(call->x->request.method, "HEAD"))
        return kc__rest_fail_generic(call, KC_METHOD_NOT_ALLOWED);
    if (!kc_str_empty(info->subresource))
        return route_subresource(call);
    if (is_bindings(call->resource))
        return route_bindings(call);
    bool collection = call->verb == &kc__rest_verb_create || call->verb == &kc__rest_verb_list ||
                      call->verb == &kc__rest_verb_delete_collection;
    bool one = !collection && call->verb != &kc__rest_verb_watch;
    bool known = call->resource->accepted_verbs & call->verb->bit;
    /* Reviews are only created, never stored: there is no path of one and no watch cache. */
    bool stored = call->resource->storage;
    if (!stored && info->named)
        return kc__rest_fail_generic(call, KC_NOT_FOUND);
    if (call->verb == &kc__rest_verb_create && kc__rest_routes_served.is_review(call->resource)) {
        call->verb = &kc__review_verb;
        return KC__REST_NEXT;
    }
    if (!known || (collection && info->named) || (one && !info->named) || !stored)
        return kc__rest_fail_generic(call, KC_METHOD_NOT_ALLOWED);
    return KC__REST_NEXT;
}

/* A name from the path becomes part of a storage key. */
static kc__rest_verdict check_path_name(kc__rest_call *call)
{
    const char *why[KC_NAME_MESSAGES];
    if (!call->info.named || !kc_name_check(KC_NAME_PATH_SEGMENT, call->info.name, why))
        return KC__REST_NEXT;
    kc_scoped(kc_buf) quoted = {0};
    kc_json_quote(&quoted, call->info.name);
    return kc__rest_fail(call, KC_BAD_REQUEST, "Name parameter invalid: %s: %s",
                         kc_buf_cstr(&quoted), why[0]);
}

static kc__rest_verdict route_resource(kc__rest_call *call)
{
    const kc__rest_request_info *info = &call->info;
    const kc__registry *kinds = call->catalog->kinds;
    call->resource = kc__registry_find(kinds, info->group, info->version, info->resource);
    if (!call->resource && kc_str_is(info->resource, "watch")) /* The deprecated prefix, with a
                                                                  method other than GET. */
        return kc__rest_fail_generic(call, KC_METHOD_NOT_ALLOWED);
    const kc__registry_group *group = kc__registry_find_group(kinds, info->group);
    if (!call->resource)
        return fail_unknown_resource(call, group);
    size_t n;
    call->served = &call->catalog->served[call->resource - kc__registry_resources(kinds, &n)];
    call->request_resource = call->resource;
    if (call->resource->deprecation)
        kc__rest_warn(call, kc_cstr(call->resource->deprecation));
    kc__rest_verdict verdict = check_scope(call);
    if (verdict == KC__REST_NEXT)
        verdict = route_verb(call);
    if (verdict == KC__REST_NEXT)
        make_key(call);
    return verdict == KC__REST_NEXT ? check_path_name(call) : verdict;
}

/* Whether the path contains "//", "." or "..". Kubernetes responds 404 to such a path. */
static bool is_roundabout(const kc__target *target)
{
    kc_str rest = kc_str_sub(target->raw_path, 1, target->raw_path.n);
    while (rest.p && rest.n) {
        kc_str part = kc_str_cut(&rest, '/');
        if (kc_str_empty(part) || kc_str_is(part, ".") || kc_str_is(part, ".."))
            return true;
    }
    return false;
}

static kc__rest_verdict route_endpoint(kc__rest_call *call)
{
    call->endpoint = kc__rest_routes_served.find_endpoint(&call->x->request.target);
    if (call->endpoint && call->endpoint->only_get && !kc_str_is(call->x->request.method, "GET")) {
        call->endpoint = NULL;
        return kc__rest_fail_generic(call, KC_METHOD_NOT_ALLOWED);
    }
    if (call->endpoint)
        return KC__REST_NEXT;
    kc_str first = kc__target_segment(&call->x->request.target, 0);
    kc_str group = kc__target_segment(&call->x->request.target, 1);
    bool below = kc_str_is(first, "api") ||
                 (kc_str_is(first, "apis") && kc__registry_find_group(call->catalog->kinds, group));
    return below ? kc__rest_fail_generic(call, KC_NOT_FOUND)
                 : kc__rest_respond_page_not_found(call);
}

kc__rest_verdict kc__rest_phase_routed(kc__rest_call *call)
{
    const kc__target *target = &call->x->request.target;
    if (is_roundabout(target))
        return kc_str_starts(target->raw_path, KC_STR("/api"))
                   ? kc__rest_fail_generic(call, KC_NOT_FOUND)
                   : kc__rest_respond_page_not_found(call);
    return call->info.is_resource ? route_resource(call) : route_endpoint(call);
}

kc__rest_verdict kc__rest_phase_negotiated(kc__rest_call *call)
{
    bool foreign = false;
    bool list = call->verb == &kc__rest_verb_list || call->verb == &kc__rest_verb_delete_collection;
    if (call->endpoint || call->verb == &kc__rest_verb_log) /* Plain text, whatever Accept says. */
        return KC__REST_NEXT;
    bool status = call->verb == &kc__rest_verb_bind || call->verb == &kc__rest_verb_evict;
    kc__rest_negotiation opts = {.kind = list     ? KC__REST_RESPONSE_LIST
                                         : status ? KC__REST_RESPONSE_STATUS
                                                  : KC__REST_RESPONSE_OBJECT,
                                 .resource = call->request_resource};
    if (kc__rest_negotiate(&call->x->request, &call->query, &opts, &call->form, &foreign,
                           &call->error) < 0)
        return foreign ? kc__rest_fail_not_acceptable(call) : KC__REST_FAIL;
    if (call->verb == &kc__rest_verb_watch && call->form.yaml)
        return kc__rest_fail(
            call, KC_NOT_ACCEPTABLE,
            "only the following media types are accepted: " KC__REST_WATCH_MEDIA_TYPES);
    return KC__REST_NEXT;
}
