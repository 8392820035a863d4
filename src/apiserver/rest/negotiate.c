/* SPDX-License-Identifier: Apache-2.0 */
/*
 * negotiate.c: reading Accept, pretty and includeObject.
 *
 * Clauses are tried in the client's order of preference. One that asks for protobuf is passed over:
 * answers are JSON or YAML, and every client that sends it names JSON too. One whose "as" we cannot
 * give is passed over as well, so kubectl's "Table; else JSON" works for what has no table.
 */
#include "apiserver/rest/negotiate.h"

#include "http/media.h"

static const kc__media_offer offers[] = {
    {KC_STR_INIT("application"), KC_STR_INIT("json")},
    {KC_STR_INIT("application"), KC_STR_INIT("yaml")},
};

typedef struct wish {
    bool list;
    bool seen; /* Some clause named one of our media types. */
    kc__form form;
} wish;

static kc_str param(const kc__media_type *clause, const char *name)
{
    kc_str value = {0};
    kc__media_param_get(clause, kc_cstr(name), &value);
    return value;
}

/* Whether the clause's "as" can be given; notes what it asks for. */
static bool allows(const kc__media_type *clause, const kc__media_offer *offer, void *user)
{
    wish *w = user;
    kc_str as = param(clause, "as");
    w->seen = true;
    w->form = (kc__form){.yaml = offer == &offers[1]};
    if (kc_str_empty(as))
        return true;
    if (!kc_str_is(param(clause, "g"), "meta.k8s.io") ||
        !kc__meta_version_parse(param(clause, "v"), &w->form.version))
        return false;
    w->form.as = kc_str_is(as, "Table") ? KC__AS_TABLE : KC__AS_PARTIAL;
    return w->form.as == KC__AS_TABLE ||
           kc_str_is(as, w->list ? "PartialObjectMetadataList" : "PartialObjectMetadata");
}

/* Indented for those who read it with their own eyes. */
static bool is_pretty(const kc__request *request, const kc__query *query)
{
    static const char *const people[] = {"curl", "Wget", "Mozilla/5.0"};
    kc_str agent = kc__headers_get(&request->headers, KC_STR("User-Agent"));
    if (kc__query_has(query, KC_STR("pretty")))
        return kc__query_flag(query, KC_STR("pretty"));
    for (size_t i = 0; i < KC_COUNT(people); i++)
        if (kc_str_starts(agent, kc_cstr(people[i])))
            return true;
    return false;
}

static int read_include(const kc__query *query, kc__form *ret, kc_error *err)
{
    kc_str value = {0};
    kc__query_get(query, KC_STR("includeObject"), &value);
    return kc__include_parse(value, &ret->include, err);
}

/* No Accept at all, or the one nearly every client sends. */
static bool is_plain(kc_str accept)
{
    return kc_str_empty(accept) || kc_str_is(accept, "application/json") ||
           kc_str_is(accept, "*/*");
}

int kc__negotiate(const kc__request *request, const kc__query *query, bool list, kc__form *ret,
                  bool *ret_foreign, kc_error *err)
{
    wish w = {.list = list};
    kc_str header = kc__headers_get(&request->headers, KC_STR("Accept"));
    if (!is_plain(header)) {
        kc__accept accept;
        kc__choice choice;
        if (kc__accept_parse(header, request->arena, &accept, err) < 0)
            return -KC_BAD_REQUEST;
        if (!kc__accept_choose(&accept, offers, KC_COUNT(offers), allows, &w, &choice)) {
            *ret_foreign = !w.seen;
            return kc_error_set(err, KC_NOT_ACCEPTABLE,
                                "only the following media types are accepted: " KC__ACCEPTED);
        }
    }
    w.form.pretty = is_pretty(request, query);
    if (w.form.as == KC__AS_TABLE && read_include(query, &w.form, err) < 0)
        return -KC_BAD_REQUEST;
    *ret = w.form;
    return 0;
}
