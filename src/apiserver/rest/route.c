/* SPDX-License-Identifier: Apache-2.0 */
/*
 * route.c: from what a request is for to who serves it: an endpoint, or a verb on a resource.
 *
 * What is under a group we have answers as a Status; what belongs to nobody is "404 page not found"
 * in plain text. kubectl and client-go tell the two apart.
 */
#include "apiserver/crd/crd_resource.h"
#include "apiserver/printing/table.h"
#include "apiserver/rest/call.h"
#include "apiserver/rest/endpoints.h"
#include "apiserver/rest/scale.h"

static const kc__verb *const verbs[] = {
    &kc__verb_get,    &kc__verb_list,  &kc__verb_watch,  &kc__verb_create,
    &kc__verb_update, &kc__verb_patch, &kc__verb_delete, &kc__verb_delete_collection,
};

static const kc__verb *verb_named(const char *name)
{
    for (size_t i = 0; i < KC_COUNT(verbs); i++)
        if (!strcmp(verbs[i]->name, name))
            return verbs[i];
    return NULL;
}

/* Kubernetes has another server for custom resources, which knows nothing of what it has not. */
static kc__verdict nothing_there(kc__call *call, bool custom)
{
    return custom ? kc__answer_no_page(call) : kc__fail_generic(call, KC_NOT_FOUND);
}

static bool is_custom_group(const kc__kinds_group *group)
{
    return group->versions[0].n_resources && group->versions[0].resources[0].custom;
}

/* Whether the path names the resource in the way its scope asks for; or what to answer. */
static kc__verdict check_scope(kc__call *call)
{
    const kc__request_info *info = &call->info;
    bool has_ns = !kc_str_empty(info->ns);
    if (!call->resource->namespaced) {
        bool own = kc_str_is(info->resource, "namespaces") && info->named;
        return has_ns && !own ? nothing_there(call, call->resource->custom) : KC__NEXT;
    }
    if (has_ns)
        return KC__NEXT;
    bool listed = call->resource->verbs & KC__LIST;
    if (!listed || (info->named && strcmp(info->verb, "watch") != 0))
        return nothing_there(call, call->resource->custom);
    if (strcmp(info->verb, "list") != 0 && strcmp(info->verb, "watch") != 0)
        return kc__fail_generic(call, KC_METHOD_NOT_ALLOWED);
    return KC__NEXT;
}

/* ---- subresources ---- */

/* Those that are served; with a verb of their own, where one is not an object's. */
static const struct {
    const char *name;
    const kc__verb *usual, *own;
} parts[] = {
    {"status"},
    {"finalize"},
    {"scale"},
    {"ephemeralcontainers"},
    {"resize"},
    {"log", &kc__verb_get, &kc__verb_log},
    {"binding", &kc__verb_create, &kc__verb_bind},
    {"eviction", &kc__verb_create, &kc__verb_evict},
};

/* What a subresource speaks: its own kind, with what the resource lends it. */
static const kc__resource *spoken_by(kc__call *call)
{
    const kc__resource *r = call->resource;
    const kc__subresource *sub = call->subresource;
    if (!sub->kind)
        return r;
    kc__resource *spoken = kc_arena_calloc(call->arena, 1, sizeof(*spoken));
    spoken->group = sub->group ? sub->group : r->group;
    spoken->version = sub->version ? sub->version : r->version;
    spoken->plural = r->plural;
    spoken->kind = sub->kind;
    spoken->namespaced = r->namespaced;
    spoken->strategy = r->strategy;
    spoken->columns = kc__is_scale(call) ? kc__scale_columns(r) : NULL;
    const char *api_version = kc_arena_printf(call->arena, "%s%s%s", spoken->group,
                                              *spoken->group ? "/" : "", spoken->version);
    spoken->type = kc__definition_of_kind(kc_cstr(api_version), kc_cstr(sub->kind));
    return spoken;
}

/* Whether the server has what discovery shows; a verb of its own takes the place of the usual. */
static bool serves_part(kc__call *call)
{
    for (size_t i = 0; i < KC_COUNT(parts); i++) {
        if (strcmp(call->subresource->name, parts[i].name) != 0)
            continue;
        if (parts[i].own && call->verb == parts[i].usual)
            call->verb = parts[i].own;
        return true;
    }
    return false;
}

static kc__verdict not_allowed(kc__call *call)
{
    const kc__resource *r = call->resource;
    if (!r->custom)
        return kc__fail_generic(call, KC_METHOD_NOT_ALLOWED);
    kc__fail(call, KC_METHOD_NOT_ALLOWED, "%s is not supported on resources of kind \"%s.%s\"",
             call->verb->name, r->plural, r->group);
    kc_error_about(&call->error, kc_cstr(r->group), kc_cstr(r->plural), (kc_str){0});
    return KC__FAIL;
}

static kc__verdict route_subresource(kc__call *call)
{
    call->subresource = kc__subresource_find(call->resource, call->info.subresource);
    if (!call->subresource && call->resource->custom)
        return kc__fail_not_found(call, call->info.name);
    bool more = !kc_str_empty(call->info.rest) && !call->resource->custom;
    if (!call->subresource || more || call->verb == &kc__verb_watch)
        return kc__fail_generic(call, KC_NOT_FOUND);
    if (!serves_part(call) || !(call->subresource->verbs & call->verb->bit))
        return not_allowed(call);
    call->spoken = spoken_by(call);
    return KC__NEXT;
}

/* Bindings are made, and nothing of them is kept: what is written is the pod. */
static kc__verdict route_bindings(kc__call *call)
{
    size_t n;
    const kc__kinds *kinds = call->snapshot->kinds;
    if (call->info.named)
        return kc__fail_generic(call, KC_NOT_FOUND);
    if (call->verb != &kc__verb_create)
        return kc__fail_generic(call, KC_METHOD_NOT_ALLOWED);
    call->resource = kc__kinds_find(kinds, KC_STR(""), KC_STR("v1"), KC_STR("pods"));
    call->served = &call->snapshot->served[call->resource - kc__kinds_resources(kinds, &n)];
    call->subresource = kc__subresource_find(call->resource, KC_STR("binding"));
    call->verb = &kc__verb_bind;
    return KC__NEXT;
}

static bool is_bindings(const kc__resource *resource)
{
    return !*resource->group && !strcmp(resource->plural, "bindings");
}

/* Those that are only created, to get an answer (reviews), are not kept and have no cache. */
static bool is_stored(const kc__resource *resource)
{
    return resource->custom || (resource->verbs & KC__GET && resource->verbs & KC__CREATE);
}

static void make_key(kc__call *call)
{
    const kc__request_info *info = &call->info;
    if (!call->resource->namespaced)
        call->key = info->named ? info->name : (kc_str){0};
    else if (!kc_str_empty(info->ns))
        call->key = kc_cstr(kc_arena_printf(call->arena, "%.*s/%.*s", KC_ARG(info->ns),
                                            KC_ARG(info->named ? info->name : KC_STR(""))));
}

static kc__verdict route_verb(kc__call *call)
{
    const kc__request_info *info = &call->info;
    call->verb = verb_named(info->verb);
    if (!call->verb || kc_str_is(call->x->request.method, "HEAD"))
        return kc__fail_generic(call, KC_METHOD_NOT_ALLOWED);
    if (!kc_str_empty(info->subresource))
        return route_subresource(call);
    if (is_bindings(call->resource))
        return route_bindings(call);
    bool whole = call->verb == &kc__verb_create || call->verb == &kc__verb_list ||
                 call->verb == &kc__verb_delete_collection;
    bool one = !whole && call->verb != &kc__verb_watch;
    /* While a definition goes, discovery no longer shows how its objects are changed, which they
     * may be; that none may be created is said in words. */
    bool known = call->resource->custom || call->resource->verbs & call->verb->bit;
    if (!known || (whole && info->named) || (one && !info->named) || !is_stored(call->resource))
        return kc__fail_generic(call, KC_METHOD_NOT_ALLOWED);
    return KC__NEXT;
}

/* A name from the path is part of a key. */
static kc__verdict check_path_name(kc__call *call)
{
    const char *why[KC_NAME_MESSAGES];
    if (!call->info.named || !kc_name_check(KC_NAME_PATH_SEGMENT, call->info.name, why))
        return KC__NEXT;
    kc_scoped(kc_buf) quoted = {0};
    kc_json_quote(&quoted, call->info.name);
    return kc__fail(call, KC_BAD_REQUEST, "Name parameter invalid: %s: %s", kc_buf_cstr(&quoted),
                    why[0]);
}

static kc__verdict route_resource(kc__call *call)
{
    const kc__request_info *info = &call->info;
    const kc__kinds *kinds = call->snapshot->kinds;
    call->resource = kc__kinds_find(kinds, info->group, info->version, info->resource);
    if (!call->resource && kc_str_is(info->resource, "watch")) /* The old prefix, and no GET. */
        return kc__fail_generic(call, KC_METHOD_NOT_ALLOWED);
    const kc__kinds_group *group = kc__kinds_find_group(kinds, info->group);
    if (!call->resource)
        return nothing_there(call, !group || is_custom_group(group));
    size_t n;
    call->served = &call->snapshot->served[call->resource - kc__kinds_resources(kinds, &n)];
    call->spoken = call->resource;
    if (call->resource->deprecation)
        kc__warn(call, kc_cstr(call->resource->deprecation));
    kc__verdict verdict = check_scope(call);
    if (verdict == KC__NEXT)
        verdict = route_verb(call);
    if (verdict == KC__NEXT)
        make_key(call);
    return verdict == KC__NEXT ? check_path_name(call) : verdict;
}

/* Whether the path is written in more words than it needs: "//", "." or "..". It means the same
 * path, and Kubernetes finds nothing there. */
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

static kc__verdict route_endpoint(kc__call *call)
{
    call->endpoint = kc__endpoint_find(&call->x->request.target);
    if (call->endpoint && call->endpoint->only_get && !kc_str_is(call->x->request.method, "GET")) {
        call->endpoint = NULL;
        return kc__fail_generic(call, KC_METHOD_NOT_ALLOWED);
    }
    if (call->endpoint)
        return KC__NEXT;
    kc_str first = kc__target_segment(&call->x->request.target, 0);
    kc_str group = kc__target_segment(&call->x->request.target, 1);
    bool below = kc_str_is(first, "api") ||
                 (kc_str_is(first, "apis") && kc__kinds_find_group(call->snapshot->kinds, group));
    return below ? kc__fail_generic(call, KC_NOT_FOUND) : kc__answer_no_page(call);
}

kc__verdict kc__phase_routed(kc__call *call)
{
    const kc__target *target = &call->x->request.target;
    if (is_roundabout(target))
        return kc_str_starts(target->raw_path, KC_STR("/api"))
                   ? kc__fail_generic(call, KC_NOT_FOUND)
                   : kc__answer_no_page(call);
    return call->info.is_resource ? route_resource(call) : route_endpoint(call);
}

kc__verdict kc__phase_negotiated(kc__call *call)
{
    bool foreign = false;
    bool list = call->verb == &kc__verb_list || call->verb == &kc__verb_delete_collection;
    if (call->endpoint || call->verb == &kc__verb_log) /* Text, whatever is asked for. */
        return KC__NEXT;
    bool status = call->verb == &kc__verb_bind || call->verb == &kc__verb_evict;
    kc__negotiation opts = {.kind = list     ? KC__ANSWERS_LIST
                                    : status ? KC__ANSWERS_STATUS
                                             : KC__ANSWERS_OBJECT,
                            .resource = call->spoken};
    if (kc__negotiate(&call->x->request, &call->query, &opts, &call->form, &foreign, &call->error) <
        0)
        return foreign ? kc__fail_not_acceptable(call) : KC__FAIL;
    if (call->verb == &kc__verb_watch && call->form.yaml)
        return kc__fail(call, KC_NOT_ACCEPTABLE,
                        "only the following media types are accepted: " KC__WATCH_TYPES);
    return KC__NEXT;
}
