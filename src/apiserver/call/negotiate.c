/* SPDX-License-Identifier: Apache-2.0 */
/*
 * negotiate.c: reads Accept, pretty and includeObject.
 *
 * Clauses are tried in the client's order of preference. A clause for protobuf is skipped:
 * responses are JSON or YAML, and every client that asks for protobuf accepts JSON too. A clause
 * whose "as" the response does not support is skipped as well, so kubectl's "Table; else JSON"
 * works for responses that have no table.
 */
#include "apiserver/call/negotiate.h"

#include "http/message/media.h"

static const kc__media_offer offers[] = {
    {KC_STR_INIT("application"), KC_STR_INIT("json")},
    {KC_STR_INIT("application"), KC_STR_INIT("yaml")},
};

typedef struct accept_preference {
    const kc__rest_negotiation *opts;
    bool seen; /* Some clause named a supported media type. */
    kc__rest_format form;
    kc_str other; /* The "as" of a clause that the response does not support. */
} accept_preference;

static kc_str param(const kc__media_type *clause, const char *name)
{
    kc_str value = {0};
    kc__media_param_get(clause, kc_cstr(name), &value);
    return value;
}

/* Whether `as` is PartialObjectMetadata or its list; the one that does not fit the response fails
 * later. */
static bool allows_partial(accept_preference *w, kc_str as)
{
    bool list = kc_str_is(as, "PartialObjectMetadataList");
    if (!list && !kc_str_is(as, "PartialObjectMetadata"))
        return false;
    w->form.as = KC__REST_AS_PARTIAL;
    if (list != (w->opts->kind == KC__REST_RESPONSE_LIST))
        w->other = as; /* The clause is chosen, and then fails. */
    return true;
}

/* Whether the clause's "as" is supported; records its representation. */
static bool allows(const kc__media_type *clause, const kc__media_offer *offer, void *user)
{
    accept_preference *w = user;
    kc_str as = param(clause, "as");
    /* Kubernetes' router does not support "application/" with a star. */
    if (w->opts->kind != KC__REST_RESPONSE_STATUS && kc_str_is(clause->subtype, "*") &&
        !kc_str_is(clause->type, "*"))
        return false;
    w->seen = true;
    w->other = (kc_str){0};
    w->form = (kc__rest_format){.yaml = offer == &offers[1],
                                .pretty = kc_str_is(param(clause, "pretty"), "1")};
    if (kc_str_empty(as))
        return true;
    if (w->opts->kind == KC__REST_RESPONSE_STATUS ||
        !kc_str_is(param(clause, "g"), "meta.k8s.io") ||
        !kc__print_meta_version_parse(param(clause, "v"), &w->form.version))
        return false;
    if (!kc_str_is(as, "Table"))
        return allows_partial(w, as);
    w->form.as = KC__REST_AS_TABLE;
    return true;
}

/* Indented if the client asks for it with `pretty`, or is a tool whose output users read. */
static bool is_pretty(const kc__http_request *request, const kc__query *query)
{
    static const char *const interactive_agents[] = {"curl", "Wget", "Mozilla/5.0"};
    kc_str agent = kc__http_headers_get(&request->headers, KC_STR("User-Agent"));
    bool requested = false;
    if (kc__query_has(query, KC_STR("pretty")))
        return kc__query_bool(query, KC_STR("pretty"), false, &requested, NULL) == 0 && requested;
    for (size_t i = 0; i < KC_COUNT(interactive_agents); i++)
        if (kc_str_starts(agent, kc_cstr(interactive_agents[i])))
            return true;
    return false;
}

static int read_include(const kc__query *query, kc__rest_format *ret, kc_error *err)
{
    kc_str value = {0};
    kc__query_get(query, KC_STR("includeObject"), &value);
    return kc__print_include_parse(value, &ret->include, err);
}

/* No Accept header, or the most common one. */
static bool is_plain(kc_str accept)
{
    return kc_str_empty(accept) || kc_str_is(accept, "application/json") ||
           kc_str_is(accept, "*/*");
}

/* The message names the Go type of Kubernetes: *core.ConfigMapList. */
static int wrong_shape(const accept_preference *w, kc_error *err)
{
    const kc__resource *r = w->opts->resource;
    bool list = w->opts->kind == KC__REST_RESPONSE_LIST;
    kc_str group = *r->group ? kc_cstr(r->group) : KC_STR("core");
    kc_str package = kc_str_cut(&group, '.');
    return kc_error_set(err, KC_NOT_ACCEPTABLE,
                        "you requested %.*s, but the requested object is %s (*%.*s.%s)",
                        KC_ARG(w->other), list ? "a list" : "not a list", KC_ARG(package),
                        list ? r->list_kind : r->kind);
}

static int refuse_accept(const accept_preference *w, kc_error *err)
{
    if (!kc_str_empty(w->other))
        return wrong_shape(w, err);
    return kc_error_set(err, KC_NOT_ACCEPTABLE,
                        "only the following media types are accepted: " KC__REST_MEDIA_TYPES);
}

static int choose_format(kc_str header, kc_arena *arena, accept_preference *w, kc_error *err)
{
    kc__media_accept accept;
    kc__media_choice choice;
    if (is_plain(header))
        return 0;
    if (kc__media_accept_parse(header, arena, &accept, NULL) < 0 ||
        !kc__media_accept_choose(&accept, offers, KC_COUNT(offers), allows, w, &choice) ||
        !kc_str_empty(w->other))
        return refuse_accept(w, err);
    return 0;
}

int kc__rest_negotiate(const kc__http_request *request, const kc__query *query,
                       const kc__rest_negotiation *opts, kc__rest_format *ret, bool *ret_foreign,
                       kc_error *err)
{
    accept_preference w = {.opts = opts};
    kc_str header = kc__http_headers_get(&request->headers, KC_STR("Accept"));
    if (choose_format(header, request->arena, &w, err) < 0) {
        *ret_foreign = !w.seen;
        return kc_error_result(err);
    }
    w.form.pretty = w.form.pretty || is_pretty(request, query);
    if (w.form.as == KC__REST_AS_TABLE && read_include(query, &w.form, err) < 0)
        return kc_error_result(err);
    *ret = w.form;
    return 0;
}

kc__rest_format kc__rest_negotiate_status(const kc__http_request *request, const kc__query *query)
{
    kc__rest_format form;
    bool foreign;
    if (kc__rest_negotiate(request, query,
                           &(kc__rest_negotiation){.kind = KC__REST_RESPONSE_STATUS}, &form,
                           &foreign, NULL) < 0)
        return (kc__rest_format){.pretty = true};
    return form;
}
