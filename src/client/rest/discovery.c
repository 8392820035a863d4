/* SPDX-License-Identifier: Apache-2.0 */
/*
 * discovery.c: discovers the resources of a server.
 *
 * Servers since Kubernetes 1.27 describe all resources in two documents (/api and /apis, requested
 * as an APIGroupDiscoveryList). Older servers, and some aggregated ones, return a list of groups
 * there, and the resources of each version in a separate document. The client asks for the former
 * and handles either.
 */
#include "client/rest/client_internal.h"
#include "kc/json.h"

#define AS(version) "application/json;g=apidiscovery.k8s.io;v=" version ";as=APIGroupDiscoveryList"

static kc_view *get_view(kc_client *client, kc__client_request *request, kc_error *err)
{
    kc_auto(kc_http_response) *response = kc__client_send(client, request, err);
    kc_scoped(kc_buf) body = {.limit = KC_JSON_MAX_BYTES};
    if (!response || kc__client_read_body(response, &body, err) < 0)
        return NULL;
    kc_view *view = kc_view_parse(kc_buf_str(&body), NULL, err);
    if (!view)
        kc__client_bad_response(err, "discovery");
    return view;
}

/* ---- one version: an APIResourceList ---- */

static void visit_resource(const kc_value *r, kc_str group, kc_str version, bool preferred,
                           kc__client_discovered_fn *each, void *user)
{
    const kc_str name = kc_value_as_str(kc_value_get(r, "name"));
    if (!name.n || kc_str_find(name, '/') >= 0)
        return;
    each(&(kc__client_discovered){.gvk = {group, version, kc_value_as_str(kc_value_get(r, "kind"))},
                                  .plural = name,
                                  .singular = kc_value_as_str(kc_value_get(r, "singularName")),
                                  .namespaced =
                                      kc_value_as_bool(kc_value_get(r, "namespaced"), false),
                                  .preferred = preferred,
                                  .verbs = kc_value_get(r, "verbs"),
                                  .short_names = kc_value_get(r, "shortNames"),
                                  .categories = kc_value_get(r, "categories")},
         user);
}

static int discover_version(kc_client *client, kc_str group, kc_str version, bool preferred,
                            kc__client_discovered_fn *each, void *user, kc_error *err)
{
    kc_autofree char *g = kc_str_dup(group), *v = kc_str_dup(version);
    const kc_kind where = {.group = g, .version = v};
    kc_scoped(kc__client_request) request = {0};
    kc__client_request_set_target(&request, &(kc__client_location){.kind = &where});
    kc_scoped(kc_error) why = {0};
    kc_auto(kc_view) *view = get_view(client, &request, &why);
    if (!view)
        return kc_error_move(err, &why);
    kc_value_each_item (kc_value_get(kc_view_root(view), "resources"), r)
        visit_resource(r, group, version, preferred, each, user);
    return 0;
}

int kc__client_discover_version(kc_client *client, kc_str group, kc_str version,
                                kc__client_discovered_fn *each, void *user, kc_error *err)
{
    return discover_version(client, group, version, false, each, user, err);
}

/* ---- all resources ---- */

typedef struct client_discovery_explorer {
    kc_client *client;
    kc__client_discovered_fn *each;
    void *user;
    kc_error *missing;
} client_discovery_explorer;

static void note_missing(client_discovery_explorer *e, kc_str group, kc_str version,
                         const char *why)
{
    kc_scoped(kc_buf) name = {0};
    kc_api_version_write(&name, group, version);
    if (!e->missing->reason)
        kc_error_set(e->missing, KC_SERVICE_UNAVAILABLE, "groups are missing");
    kc_error_add_cause(e->missing, "", kc_buf_str(&name), kc_cstr(why));
}

static void note_stale(client_discovery_explorer *e, kc_str group, kc_str version)
{
    kc_scoped(kc_buf) why = {0};
    kc_buf_puts(&why, "stale GroupVersion discovery: ");
    kc_api_version_write(&why, group, version);
    note_missing(e, group, version, kc_buf_cstr(&why));
}

/* Reports a resource of an APIGroupDiscoveryList. Its kind may be in another group, as for
 * Scale. */
static void visit_aggregated(client_discovery_explorer *e, const kc_value *r, kc_str group,
                             kc_str version, bool preferred)
{
    const kc_value *kind = kc_value_get(r, "responseKind");
    if (!kc_value_as_str(kc_value_get(kind, "kind")).n)
        return;
    e->each(
        &(kc__client_discovered){
            .gvk = {group, version, kc_value_as_str(kc_value_get(kind, "kind"))},
            .plural = kc_value_as_str(kc_value_get(r, "resource")),
            .singular = kc_value_as_str(kc_value_get(r, "singularResource")),
            .namespaced = kc_str_is(kc_value_as_str(kc_value_get(r, "scope")), "Namespaced"),
            .preferred = preferred,
            .verbs = kc_value_get(r, "verbs"),
            .short_names = kc_value_get(r, "shortNames"),
            .categories = kc_value_get(r, "categories")},
        e->user);
}

/* The first version of a group is the preferred one. */
static void read_aggregated(client_discovery_explorer *e, const kc_value *list)
{
    kc_value_each_item (kc_value_get(list, "items"), item) {
        const kc_str group = kc_value_as_str(kc_value_get(kc_value_get(item, "metadata"), "name"));
        bool preferred = true;
        kc_value_each_item (kc_value_get(item, "versions"), v) {
            const kc_str version = kc_value_as_str(kc_value_get(v, "version"));
            if (kc_str_is(kc_value_as_str(kc_value_get(v, "freshness")), "Stale"))
                note_stale(e, group, version);
            kc_value_each_item (kc_value_get(v, "resources"), r)
                visit_aggregated(e, r, group, version, preferred);
            preferred = false;
        }
    }
}

static void get_version(client_discovery_explorer *e, kc_str group, kc_str version, bool preferred)
{
    kc_scoped(kc_error) why = {0};
    if (discover_version(e->client, group, version, preferred, e->each, e->user, &why) < 0)
        note_missing(e, group, version, kc_error_text(&why));
}

/* Reads an APIGroupList. */
static void read_groups(client_discovery_explorer *e, const kc_value *list)
{
    kc_value_each_item (kc_value_get(list, "groups"), group) {
        const kc_str name = kc_value_as_str(kc_value_get(group, "name"));
        const kc_str best =
            kc_value_as_str(kc_value_get(kc_value_get(group, "preferredVersion"), "version"));
        kc_value_each_item (kc_value_get(group, "versions"), v) {
            const kc_str version = kc_value_as_str(kc_value_get(v, "version"));
            get_version(e, name, version, kc_str_eq(version, best));
        }
    }
}

/* Reads the APIVersions of the core group. */
static void read_core(client_discovery_explorer *e, const kc_value *list)
{
    bool preferred = true;
    kc_value_each_item (kc_value_get(list, "versions"), version) {
        get_version(e, (kc_str){0}, kc_value_as_str(version), preferred);
        preferred = false;
    }
}

static int explore(client_discovery_explorer *e, const char *root,
                   void (*visit_legacy)(client_discovery_explorer *, const kc_value *),
                   kc_error *err)
{
    kc_scoped(kc__client_request) request = {
        .accept = KC_STR(AS("v2") "," AS("v2beta1") ",application/json")};
    kc_scoped(kc_error) why = {0};
    kc_buf_puts(&request.target, root);
    kc_auto(kc_view) *view = get_view(e->client, &request, &why);
    if (!view)
        return kc_error_move(err, &why);
    const kc_value *list = kc_view_root(view);
    if (kc_str_is(kc_value_as_str(kc_value_get(list, "kind")), "APIGroupDiscoveryList"))
        read_aggregated(e, list);
    else
        visit_legacy(e, list);
    return 0;
}

int kc__client_discover_all(kc_client *client, kc__client_discovered_fn *each, void *user,
                            kc_error *ret_missing, kc_error *err)
{
    client_discovery_explorer e = {client, each, user, ret_missing};
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
