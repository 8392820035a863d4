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
    const kc__negotiation *opts;
    bool seen; /* Some clause named one of our media types. */
    kc__form form;
    kc_str other; /* What a clause asked for that the answer cannot be seen as. */
} wish;

static kc_str param(const kc__media_type *clause, const char *name)
{
    kc_str value = {0};
    kc__media_param_get(clause, kc_cstr(name), &value);
    return value;
}

/* Whether an answer of that kind has metadata of its own under this name. */
static bool allows_partial(wish *w, kc_str as)
{
    bool list = kc_str_is(as, "PartialObjectMetadataList");
    if (!list && !kc_str_is(as, "PartialObjectMetadata"))
        return false;
    w->form.as = KC__AS_PARTIAL;
    if (list != (w->opts->kind == KC__ANSWERS_LIST))
        w->other = as; /* It is chosen, and then it does not fit. */
    return true;
}

/* Whether the clause's "as" can be given; notes what it asks for. */
static bool allows(const kc__media_type *clause, const kc__media_offer *offer, void *user)
{
    wish *w = user;
    kc_str as = param(clause, "as");
    /* "application/" with a star is none that Kubernetes' router understands. */
    if (w->opts->kind != KC__ANSWERS_STATUS && kc_str_is(clause->subtype, "*") &&
        !kc_str_is(clause->type, "*"))
        return false;
    w->seen = true;
    w->other = (kc_str){0};
    w->form =
        (kc__form){.yaml = offer == &offers[1], .pretty = kc_str_is(param(clause, "pretty"), "1")};
    if (kc_str_empty(as))
        return true;
    if (w->opts->kind == KC__ANSWERS_STATUS || !kc_str_is(param(clause, "g"), "meta.k8s.io") ||
        !kc__meta_version_parse(param(clause, "v"), &w->form.version))
        return false;
    if (!kc_str_is(as, "Table"))
        return allows_partial(w, as);
    w->form.as = KC__AS_TABLE;
    return true;
}

/* Indented for those who read it with their own eyes. */
static bool is_pretty(const kc__request *request, const kc__query *query)
{
    static const char *const people[] = {"curl", "Wget", "Mozilla/5.0"};
    kc_str agent = kc__headers_get(&request->headers, KC_STR("User-Agent"));
    bool asked = false;
    if (kc__query_has(query, KC_STR("pretty")))
        return kc__query_bool(query, KC_STR("pretty"), false, &asked, NULL) == 0 && asked;
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

/* With the type Kubernetes' own code has for it: *core.ConfigMapList. */
static int wrong_shape(const wish *w, kc_error *err)
{
    const kc__resource *r = w->opts->resource;
    bool list = w->opts->kind == KC__ANSWERS_LIST;
    kc_str group = *r->group ? kc_cstr(r->group) : KC_STR("core");
    kc_str package = kc_str_cut(&group, '.');
    return kc_error_set(err, KC_NOT_ACCEPTABLE,
                        "you requested %.*s, but the requested object is %s (*%.*s.%s)",
                        KC_ARG(w->other), list ? "a list" : "not a list", KC_ARG(package),
                        list ? r->list_kind : r->kind);
}

static int refuse(const wish *w, kc_error *err)
{
    if (!kc_str_empty(w->other))
        return wrong_shape(w, err);
    return kc_error_set(err, KC_NOT_ACCEPTABLE,
                        "only the following media types are accepted: " KC__ACCEPTED);
}

static int choose(kc_str header, kc_arena *arena, wish *w, kc_error *err)
{
    kc__accept accept;
    kc__choice choice;
    if (is_plain(header))
        return 0;
    if (kc__accept_parse(header, arena, &accept, NULL) < 0 ||
        !kc__accept_choose(&accept, offers, KC_COUNT(offers), allows, w, &choice) ||
        !kc_str_empty(w->other))
        return refuse(w, err);
    return 0;
}

int kc__negotiate(const kc__request *request, const kc__query *query, const kc__negotiation *opts,
                  kc__form *ret, bool *ret_foreign, kc_error *err)
{
    wish w = {.opts = opts};
    kc_str header = kc__headers_get(&request->headers, KC_STR("Accept"));
    if (choose(header, request->arena, &w, err) < 0) {
        *ret_foreign = !w.seen;
        return -KC_NOT_ACCEPTABLE;
    }
    w.form.pretty = w.form.pretty || is_pretty(request, query);
    if (w.form.as == KC__AS_TABLE && read_include(query, &w.form, err) < 0)
        return -KC_BAD_REQUEST;
    *ret = w.form;
    return 0;
}

kc__form kc__negotiate_status(const kc__request *request, const kc__query *query)
{
    kc__form form;
    bool foreign;
    if (kc__negotiate(request, query, &(kc__negotiation){.kind = KC__ANSWERS_STATUS}, &form,
                      &foreign, NULL) < 0)
        return (kc__form){.pretty = true};
    return form;
}
