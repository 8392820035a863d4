/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request_info.c: parses the paths of resources.
 *
 *     /api/VERSION/…            the core group
 *     /apis/GROUP/VERSION/…     all others
 *
 *     … RESOURCE[/NAME[/SUBRESOURCE]]
 *     … namespaces/NAMESPACE/RESOURCE[/NAME[/SUBRESOURCE]]
 *     … watch/…                 the deprecated form of ?watch=1
 *
 * "namespaces/x/status" and "namespaces/x/finalize" are subresources of the namespace, not
 * resources in it. A shorter path is not a resource: discovery and other endpoints.
 */
#include "apiserver/call/request_info.h"

#include "kc/ascii.h"
#include "kc/field_selector.h"
#include "kc/names.h"

typedef struct path_parts {
    const kc_str *p;
    size_t n;
} path_parts;

static kc_str part(path_parts at, size_t i)
{
    return i < at.n ? at.p[i] : (kc_str){0};
}

static path_parts skip(path_parts at, size_t n)
{
    return n < at.n ? (path_parts){at.p + n, at.n - n} : (path_parts){0};
}

static const char *verb_of(kc_str method)
{
    static const struct {
        const char *method, *verb;
    } verbs[] = {{"GET", "get"},    {"HEAD", "get"},    {"POST", "create"},
                 {"PUT", "update"}, {"PATCH", "patch"}, {"DELETE", "delete"}};
    for (size_t i = 0; i < KC_COUNT(verbs); i++)
        if (kc_str_is(method, verbs[i].method))
            return verbs[i].verb;
    return "";
}

static const char *lower_case(kc_str text, kc_arena *arena)
{
    char *copy = kc_arena_strndup(arena, text.p, text.n);
    for (char *c = copy; *c; c++)
        *c = kc_lower(*c);
    return copy;
}

/* Reads the prefix; false if the path names no resource. */
static bool read_group_version(path_parts *at, kc__rest_request_info *ret)
{
    bool core = kc_str_is(part(*at, 0), "api");
    if (at->n < 3 || !(core || kc_str_is(part(*at, 0), "apis")))
        return false;
    *at = skip(*at, 1);
    if (!core) {
        if (at->n < 3)
            return false;
        ret->group = part(*at, 0);
        *at = skip(*at, 1);
    }
    ret->version = part(*at, 0);
    *at = skip(*at, 1);
    return true;
}

static void read_namespace(path_parts *at, kc__rest_request_info *ret)
{
    if (!kc_str_is(part(*at, 0), "namespaces") || at->n < 2)
        return;
    ret->ns = part(*at, 1);
    kc_str third = part(*at, 2);
    if (at->n > 2 && !kc_str_is(third, "status") && !kc_str_is(third, "finalize"))
        *at = skip(*at, 2);
}

/* A list or watch whose selector names one object is authorized as a request for that object. */
static void read_selected_name(kc_arena *arena, kc__rest_request_info *ret)
{
    kc_str name;
    if (kc_str_empty(ret->field_selector))
        return;
    kc_auto(kc_field_selector) *selector = kc_field_selector_parse(ret->field_selector, NULL);
    if (selector && kc_field_selector_exact(selector, KC_STR("metadata.name"), &name) &&
        kc_name_valid(KC_NAME_PATH_SEGMENT, name))
        ret->name = kc_arena_str(arena, name);
}

static void read_collection_verb(const kc__query *query, kc_arena *arena,
                                 kc__rest_request_info *ret)
{
    if (!strcmp(ret->verb, "get"))
        ret->verb = kc__query_flag(query, KC_STR("watch")) ? "watch" : "list";
    else if (!strcmp(ret->verb, "delete"))
        ret->verb = "deletecollection";
    const bool reads = !strcmp(ret->verb, "list") || !strcmp(ret->verb, "watch");
    if (!reads && strcmp(ret->verb, "deletecollection") != 0)
        return;
    kc__query_get(query, KC_STR("fieldSelector"), &ret->field_selector);
    kc__query_get(query, KC_STR("labelSelector"), &ret->label_selector);
    if (reads)
        read_selected_name(arena, ret);
}

void kc__rest_request_info_of(const kc__http_request *request, const kc__query *query,
                              kc_arena *arena, kc__rest_request_info *ret)
{
    path_parts at = {request->target.segments, request->target.n_segments};
    *ret = (kc__rest_request_info){.verb = lower_case(request->method, arena)};
    if (!read_group_version(&at, ret)) {
        ret->group = ret->version = (kc_str){0};
        return;
    }
    ret->is_resource = true;
    ret->verb = verb_of(request->method);
    bool old_watch = kc_str_is(part(at, 0), "watch") && at.n > 1 && !strcmp(ret->verb, "get");
    if (old_watch)
        at = skip(at, 1);
    read_namespace(&at, ret);
    ret->resource = part(at, 0);
    ret->name = part(at, 1);
    ret->named = at.n > 1;
    ret->subresource = part(at, 2);
    ret->rest = part(at, 3);
    if (old_watch)
        ret->verb = "watch";
    else if (!ret->named)
        read_collection_verb(query, arena, ret);
}
