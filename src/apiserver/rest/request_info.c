/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request_info.c: paths of resources.
 *
 *     /api/VERSION/…            the core group
 *     /apis/GROUP/VERSION/…     all others
 *
 *     … RESOURCE[/NAME[/SUBRESOURCE]]
 *     … namespaces/NAMESPACE/RESOURCE[/NAME[/SUBRESOURCE]]
 *     … watch/…                 the old way to say ?watch=1
 *
 * "namespaces/x/status" and "namespaces/x/finalize" are subresources of the namespace, not
 * resources in it. What is shorter is no resource: discovery and the like.
 */
#include "apiserver/rest/request_info.h"

#include "kc/ascii.h"
#include "kc/field_selector.h"
#include "kc/names.h"

typedef struct parts {
    const kc_str *p;
    size_t n;
} parts;

static kc_str part(parts at, size_t i)
{
    return i < at.n ? at.p[i] : (kc_str){0};
}

static parts skip(parts at, size_t n)
{
    return n < at.n ? (parts){at.p + n, at.n - n} : (parts){0};
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

/* Reads the prefix; false when what follows is not a resource. */
static bool read_group_version(parts *at, kc__request_info *ret)
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

static void read_namespace(parts *at, kc__request_info *ret)
{
    if (!kc_str_is(part(*at, 0), "namespaces") || at->n < 2)
        return;
    ret->ns = part(*at, 1);
    kc_str third = part(*at, 2);
    if (at->n > 2 && !kc_str_is(third, "status") && !kc_str_is(third, "finalize"))
        *at = skip(*at, 2);
}

/* A list or watch of one name is authorized as that of the object. */
static void read_selected_name(const kc__query *query, kc_arena *arena, kc__request_info *ret)
{
    kc_str text, name;
    if (!kc__query_get(query, KC_STR("fieldSelector"), &text))
        return;
    kc_auto(kc_field_selector) *selector = kc_field_selector_parse(text, NULL);
    if (selector && kc_field_selector_exact(selector, KC_STR("metadata.name"), &name) &&
        kc_name_valid(KC_NAME_PATH_SEGMENT, name))
        ret->name = kc_arena_str(arena, name);
}

static void read_collection_verb(const kc__query *query, kc_arena *arena, kc__request_info *ret)
{
    if (!strcmp(ret->verb, "get"))
        ret->verb = kc__query_flag(query, KC_STR("watch")) ? "watch" : "list";
    else if (!strcmp(ret->verb, "delete"))
        ret->verb = "deletecollection";
    if (!strcmp(ret->verb, "list") || !strcmp(ret->verb, "watch"))
        read_selected_name(query, arena, ret);
}

void kc__request_info_of(const kc__request *request, const kc__query *query, kc_arena *arena,
                         kc__request_info *ret)
{
    parts at = {request->target.segments, request->target.n_segments};
    *ret = (kc__request_info){.verb = lower_case(request->method, arena)};
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
