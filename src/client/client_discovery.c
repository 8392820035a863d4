/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client_discovery.c: what a server has, as it tells it.
 *
 * Servers since Kubernetes 1.27 tell everything in two documents (/api and /apis, asked for as an
 * APIGroupDiscoveryList); older ones, and some aggregated ones, tell a list of groups there, and
 * the resources of each version in a document of its own. We ask for the first and read what we
 * get.
 */
#include "client/client_internal.h"
#include "kc/json.h"

#define AS(version) "application/json;g=apidiscovery.k8s.io;v=" version ";as=APIGroupDiscoveryList"

static kc_view *ask_view(kc_client *client, kc__ask *ask, kc_error *err)
{
    kc_auto(kc_http_response) *response = kc__send(client, ask, err);
    kc_scoped(kc_buf) body = {.limit = KC_JSON_MAX_BYTES};
    if (!response || kc__read_all(response, &body, err) < 0)
        return NULL;
    kc_view *view = kc_view_parse(kc_buf_str(&body), NULL, err);
    if (!view)
        kc__bad_answer(err, "discovery");
    return view;
}

/* ---- one version: an APIResourceList ---- */

static void give_resource(const kc_value *r, kc_str group, kc_str version, bool preferred,
                          kc__found_fn *each, void *user)
{
    const kc_str name = kc_as_str(kc_get(r, "name"));
    if (!name.n || kc_str_find(name, '/') >= 0)
        return;
    each(&(kc__found){.gvk = {group, version, kc_as_str(kc_get(r, "kind"))},
                      .plural = name,
                      .singular = kc_as_str(kc_get(r, "singularName")),
                      .namespaced = kc_as_bool(kc_get(r, "namespaced"), false),
                      .preferred = preferred,
                      .verbs = kc_get(r, "verbs"),
                      .short_names = kc_get(r, "shortNames"),
                      .categories = kc_get(r, "categories")},
         user);
}

static int discover_version(kc_client *client, kc_str group, kc_str version, bool preferred,
                            kc__found_fn *each, void *user, kc_error *err)
{
    kc_autofree char *g = kc_str_dup(group), *v = kc_str_dup(version);
    const kc_kind where = {.group = g, .version = v};
    kc_scoped(kc__ask) ask = {0};
    kc__ask_for(&ask, &(kc__place){.kind = &where});
    kc_scoped(kc_error) why = {0};
    kc_auto(kc_view) *view = ask_view(client, &ask, &why);
    if (!view)
        return kc_error_move(err, &why);
    kc_items (kc_get(kc_view_root(view), "resources"), r)
        give_resource(r, group, version, preferred, each, user);
    return 0;
}

int kc__discover_version(kc_client *client, kc_str group, kc_str version, kc__found_fn *each,
                         void *user, kc_error *err)
{
    return discover_version(client, group, version, false, each, user, err);
}

/* ---- everything ---- */

typedef struct explorer {
    kc_client *client;
    kc__found_fn *each;
    void *user;
    kc_error *missing;
} explorer;

static void note_missing(explorer *e, kc_str group, kc_str version, const char *why)
{
    kc_scoped(kc_buf) name = {0};
    kc_api_version_write(&name, group, version);
    if (!e->missing->reason)
        kc_error_set(e->missing, KC_SERVICE_UNAVAILABLE, "groups are missing");
    kc_error_add_cause(e->missing, "", kc_buf_str(&name), kc_cstr(why));
}

static void note_stale(explorer *e, kc_str group, kc_str version)
{
    kc_scoped(kc_buf) why = {0};
    kc_buf_puts(&why, "stale GroupVersion discovery: ");
    kc_api_version_write(&why, group, version);
    note_missing(e, group, version, kc_buf_cstr(&why));
}

/* A resource of an APIGroupDiscoveryList. Its kind may be of another group: a Scale. */
static void give_aggregated(explorer *e, const kc_value *r, kc_str group, kc_str version,
                            bool preferred)
{
    const kc_value *kind = kc_get(r, "responseKind");
    if (!kc_as_str(kc_get(kind, "kind")).n)
        return;
    e->each(&(kc__found){.gvk = {group, version, kc_as_str(kc_get(kind, "kind"))},
                         .plural = kc_as_str(kc_get(r, "resource")),
                         .singular = kc_as_str(kc_get(r, "singularResource")),
                         .namespaced = kc_str_is(kc_as_str(kc_get(r, "scope")), "Namespaced"),
                         .preferred = preferred,
                         .verbs = kc_get(r, "verbs"),
                         .short_names = kc_get(r, "shortNames"),
                         .categories = kc_get(r, "categories")},
            e->user);
}

/* The first version of a group is the one it prefers. */
static void read_aggregated(explorer *e, const kc_value *list)
{
    kc_items (kc_get(list, "items"), item) {
        const kc_str group = kc_as_str(kc_get(kc_get(item, "metadata"), "name"));
        bool preferred = true;
        kc_items (kc_get(item, "versions"), v) {
            const kc_str version = kc_as_str(kc_get(v, "version"));
            if (kc_str_is(kc_as_str(kc_get(v, "freshness")), "Stale"))
                note_stale(e, group, version);
            kc_items (kc_get(v, "resources"), r)
                give_aggregated(e, r, group, version, preferred);
            preferred = false;
        }
    }
}

static void ask_version(explorer *e, kc_str group, kc_str version, bool preferred)
{
    kc_scoped(kc_error) why = {0};
    if (discover_version(e->client, group, version, preferred, e->each, e->user, &why) < 0)
        note_missing(e, group, version, kc_error_text(&why));
}

/* An APIGroupList. */
static void read_groups(explorer *e, const kc_value *list)
{
    kc_items (kc_get(list, "groups"), group) {
        const kc_str name = kc_as_str(kc_get(group, "name"));
        const kc_str best = kc_as_str(kc_get(kc_get(group, "preferredVersion"), "version"));
        kc_items (kc_get(group, "versions"), v) {
            const kc_str version = kc_as_str(kc_get(v, "version"));
            ask_version(e, name, version, kc_str_eq(version, best));
        }
    }
}

/* APIVersions, of the core group. */
static void read_core(explorer *e, const kc_value *list)
{
    bool preferred = true;
    kc_items (kc_get(list, "versions"), version) {
        ask_version(e, (kc_str){0}, kc_as_str(version), preferred);
        preferred = false;
    }
}

static int explore(explorer *e, const char *root, void (*otherwise)(explorer *, const kc_value *),
                   kc_error *err)
{
    kc_scoped(kc__ask) ask = {.accept = KC_STR(AS("v2") "," AS("v2beta1") ",application/json")};
    kc_scoped(kc_error) why = {0};
    kc_buf_puts(&ask.target, root);
    kc_auto(kc_view) *view = ask_view(e->client, &ask, &why);
    if (!view)
        return kc_error_move(err, &why);
    const kc_value *list = kc_view_root(view);
    if (kc_str_is(kc_as_str(kc_get(list, "kind")), "APIGroupDiscoveryList"))
        read_aggregated(e, list);
    else
        otherwise(e, list);
    return 0;
}

int kc__discover_all(kc_client *client, kc__found_fn *each, void *user, kc_error *ret_missing,
                     kc_error *err)
{
    explorer e = {client, each, user, ret_missing};
    kc_scoped(kc_error) core = {0}, groups = {0};
    const bool no_core = explore(&e, "/api", read_core, &core) < 0;
    const bool no_groups = explore(&e, "/apis", read_groups, &groups) < 0;
    if (no_core && no_groups)
        return kc_error_move(err, &core);
    if (no_core)
        note_missing(&e, (kc_str){0}, KC_STR("/api"), kc_error_text(&core));
    if (no_groups)
        note_missing(&e, (kc_str){0}, KC_STR("/apis"), kc_error_text(&groups));
    return 0;
}
