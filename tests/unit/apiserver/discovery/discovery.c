/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/discovery/discovery.h"
#include "kc/thread.h"
#include "testing.h"

/* Two groups of which a whole document can be written down. */
static const kc__resource_group few_groups[] = {
    {"", (const char *const[]){"v1", NULL}},
    {"example.com", (const char *const[]){"v2", "v1", NULL}},
};
static const kc__resource few_resources[] = {
    {.group = "",
     .version = "v1",
     .plural = "configmaps",
     .singular = "configmap",
     .kind = "ConfigMap",
     .namespaced = true,
     .verbs = KC__VERB_ALL,
     .short_names = (const char *const[]){"cm", NULL},
     .storage = "core/configmaps",
     .storage_api_version = "v1"},
    {.group = "example.com",
     .version = "v2",
     .plural = "robots",
     .singular = "robot",
     .kind = "Robot",
     .verbs = KC__VERB_GET | KC__VERB_LIST,
     .categories = (const char *const[]){"all", "toys", NULL},
     .subresources =
         (const kc__resource_subresource[]){{.name = "scale",
                                             .verbs = KC__VERB_GET,
                                             .group = "autoscaling",
                                             .version = "v1",
                                             .kind = "Scale"},
                                            {.name = "status", .verbs = KC__VERB_UPDATE},
                                            {.name = NULL}}},
};

static kc__discovery *few(void)
{
    kc_auto(kc__registry) *kinds =
        kc__registry_new(&(kc__registry_opts){.groups = few_groups,
                                              .n_groups = KC_COUNT(few_groups),
                                              .resources = few_resources,
                                              .n_resources = KC_COUNT(few_resources)});
    return kc__discovery_new(kinds, &(kc__discovery_opts){.server_address = "10.0.0.1:6443"});
}

static kc__discovery *builtin(void)
{
    kc_auto(kc__registry) *kinds = kc__registry_new(NULL);
    return kc__discovery_new(kinds, NULL);
}

/* ---- legacy ---- */

static void core_group_is_served_as_api_versions(void **state)
{
    (void)state;
    kc_auto(kc__discovery) *discovery = few();
    const kc__discovery_document *doc = kc__discovery_api_versions(discovery);
    assert_str(doc->body, "{\"kind\":\"APIVersions\",\"versions\":[\"v1\"],"
                          "\"serverAddressByClientCIDRs\":[{\"clientCIDR\":\"0.0.0.0/0\","
                          "\"serverAddress\":\"10.0.0.1:6443\"}]}");
    assert_str(doc->type, "application/json");
    assert_str(doc->etag, "");
}

static void unset_server_address_gives_empty_list(void **state)
{
    (void)state;
    kc_auto(kc__discovery) *discovery = builtin();
    assert_str(kc__discovery_api_versions(discovery)->body,
               "{\"kind\":\"APIVersions\",\"versions\":[\"v1\"],"
               "\"serverAddressByClientCIDRs\":[]}");
}

#define EXAMPLE_GROUP                                            \
    "\"name\":\"example.com\",\"versions\":["                    \
    "{\"groupVersion\":\"example.com/v2\",\"version\":\"v2\"},"  \
    "{\"groupVersion\":\"example.com/v1\",\"version\":\"v1\"}]," \
    "\"preferredVersion\":{\"groupVersion\":\"example.com/v2\",\"version\":\"v2\"}}"

static void named_groups_are_in_api_group_list(void **state)
{
    (void)state;
    kc_auto(kc__discovery) *discovery = few();
    assert_str(kc__discovery_groups(discovery)->body,
               "{\"kind\":\"APIGroupList\",\"apiVersion\":\"v1\",\"groups\":[{" EXAMPLE_GROUP "]}");
}

static void named_group_has_its_own_document(void **state)
{
    (void)state;
    kc_auto(kc__discovery) *discovery = few();
    assert_str(kc__discovery_group(discovery, KC_STR("example.com"))->body,
               "{\"kind\":\"APIGroup\",\"apiVersion\":\"v1\"," EXAMPLE_GROUP);
    assert_null(kc__discovery_group(discovery, KC_STR("")));
    assert_null(kc__discovery_group(discovery, KC_STR("apps")));
}

static void core_resource_list_has_no_api_version(void **state)
{
    (void)state;
    kc_auto(kc__discovery) *discovery = few();
    assert_str(kc__discovery_resources(discovery, KC_STR(""), KC_STR("v1"))->body,
               "{\"kind\":\"APIResourceList\",\"groupVersion\":\"v1\",\"resources\":["
               "{\"name\":\"configmaps\",\"singularName\":\"configmap\",\"namespaced\":true,"
               "\"kind\":\"ConfigMap\",\"verbs\":[\"create\",\"delete\",\"deletecollection\","
               "\"get\",\"list\",\"patch\",\"update\",\"watch\"],\"shortNames\":[\"cm\"],"
               "\"storageVersionHash\":\"qFsyl6wFWjQ=\"}]}");
}

static void subresources_follow_their_resource(void **state)
{
    (void)state;
    kc_auto(kc__discovery) *discovery = few();
    assert_str(kc__discovery_resources(discovery, KC_STR("example.com"), KC_STR("v2"))->body,
               "{\"kind\":\"APIResourceList\",\"apiVersion\":\"v1\","
               "\"groupVersion\":\"example.com/v2\",\"resources\":["
               "{\"name\":\"robots\",\"singularName\":\"robot\",\"namespaced\":false,"
               "\"kind\":\"Robot\",\"verbs\":[\"get\",\"list\"],\"categories\":[\"all\",\"toys\"]},"
               "{\"name\":\"robots/scale\",\"singularName\":\"\",\"namespaced\":false,"
               "\"group\":\"autoscaling\",\"version\":\"v1\",\"kind\":\"Scale\","
               "\"verbs\":[\"get\"]},"
               "{\"name\":\"robots/status\",\"singularName\":\"\",\"namespaced\":false,"
               "\"kind\":\"Robot\",\"verbs\":[\"update\"]}]}");
}

static void version_without_resources_has_empty_list(void **state)
{
    (void)state;
    kc_auto(kc__discovery) *discovery = few();
    assert_str(kc__discovery_resources(discovery, KC_STR("example.com"), KC_STR("v1"))->body,
               "{\"kind\":\"APIResourceList\",\"apiVersion\":\"v1\","
               "\"groupVersion\":\"example.com/v1\",\"resources\":[]}");
}

static void unknown_group_version_has_no_document(void **state)
{
    (void)state;
    kc_auto(kc__discovery) *discovery = few();
    assert_null(kc__discovery_resources(discovery, KC_STR("example.com"), KC_STR("v3")));
    assert_null(kc__discovery_resources(discovery, KC_STR("nobody"), KC_STR("v1")));
    assert_null(kc__discovery_resources(discovery, KC_STR(""), KC_STR("")));
}

/* ---- aggregated ---- */

#define AGGREGATED                                                                   \
    "{\"kind\":\"APIGroupDiscoveryList\",\"apiVersion\":\"apidiscovery.k8s.io/v2\"," \
    "\"metadata\":{},\"items\":["

static void aggregated_core_group_has_no_name(void **state)
{
    (void)state;
    kc_auto(kc__discovery) *discovery = few();
    assert_str(kc__discovery_aggregated_core(discovery)->body,
               AGGREGATED "{\"metadata\":{},\"versions\":[{\"version\":\"v1\",\"resources\":["
                          "{\"resource\":\"configmaps\",\"responseKind\":{\"group\":\"\","
                          "\"version\":\"\",\"kind\":\"ConfigMap\"},\"scope\":\"Namespaced\","
                          "\"singularResource\":\"configmap\",\"verbs\":[\"create\",\"delete\","
                          "\"deletecollection\",\"get\",\"list\",\"patch\",\"update\",\"watch\"],"
                          "\"shortNames\":[\"cm\"]}],\"freshness\":\"Current\"}]}]}");
}

static void aggregated_groups_list_all_resources(void **state)
{
    (void)state;
    kc_auto(kc__discovery) *discovery = few();
    assert_str(kc__discovery_aggregated_groups(discovery)->body, AGGREGATED
               "{\"metadata\":{\"name\":\"example.com\"},\"versions\":[{\"version\":\"v2\","
               "\"resources\":[{\"resource\":\"robots\",\"responseKind\":{\"group\":\"\","
               "\"version\":\"\",\"kind\":\"Robot\"},\"scope\":\"Cluster\","
               "\"singularResource\":\"robot\",\"verbs\":[\"get\",\"list\"],"
               "\"categories\":[\"all\",\"toys\"],\"subresources\":["
               "{\"subresource\":\"scale\",\"responseKind\":{\"group\":\"autoscaling\","
               "\"version\":\"v1\",\"kind\":\"Scale\"},\"verbs\":[\"get\"]},"
               "{\"subresource\":\"status\",\"responseKind\":{\"group\":\"\",\"version\":\"\","
               "\"kind\":\"Robot\"},\"verbs\":[\"update\"]}]}],\"freshness\":\"Current\"},"
               "{\"version\":\"v1\",\"freshness\":\"Current\"}]}]}");
}

static void aggregated_documents_have_media_type_and_etag(void **state)
{
    (void)state;
    kc_auto(kc__discovery) *discovery = few();
    const kc__discovery_document *core = kc__discovery_aggregated_core(discovery);
    const kc__discovery_document *groups = kc__discovery_aggregated_groups(discovery);
    assert_str(core->type, "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");
    assert_int_equal(core->etag.n, 130);
    assert_true(core->etag.p[0] == '"' && core->etag.p[129] == '"');
    for (size_t i = 1; i < 129; i++)
        assert_non_null(strchr("0123456789ABCDEF", core->etag.p[i]));
    assert_false(kc_str_eq(core->etag, groups->etag));
}

static void equal_registries_have_equal_etags(void **state)
{
    (void)state;
    kc_auto(kc__discovery) *one = builtin(), *other = builtin(), *different = few();
    kc_str tag = kc__discovery_aggregated_groups(one)->etag;
    assert_true(kc_str_eq(tag, kc__discovery_aggregated_groups(other)->etag));
    assert_false(kc_str_eq(tag, kc__discovery_aggregated_groups(different)->etag));
}

/* ---- the built-in kinds ---- */

static void storage_version_hash_is_that_of_the_stored_version(void **state)
{
    (void)state;
    static const struct {
        const char *group, *version, *part;
    } known[] = {
        {"apps", "v1", "\"categories\":[\"all\"],\"storageVersionHash\":\"8aSe+NMegvE=\""},
        {"", "v1", "\"shortNames\":[\"ev\"],\"storageVersionHash\":\"r2yiGXH7wu8=\""},
        {"events.k8s.io", "v1", "\"storageVersionHash\":\"r2yiGXH7wu8=\""},
        {"autoscaling", "v2", "\"storageVersionHash\":\"qwQve8ut294=\""},
        {"autoscaling", "v1", "\"storageVersionHash\":\"qwQve8ut294=\""},
        {"coordination.k8s.io", "v1", "\"storageVersionHash\":\"gqkMMb/YqFM=\""},
    };
    kc_auto(kc__discovery) *discovery = builtin();
    for (size_t i = 0; i < KC_COUNT(known); i++)
        assert_contains(
            kc__discovery_resources(discovery, kc_cstr(known[i].group), kc_cstr(known[i].version))
                ->body.p,
            known[i].part);
}

static void resource_without_storage_has_no_hash(void **state)
{
    (void)state;
    kc_auto(kc__discovery) *discovery = builtin();
    assert_str(
        kc__discovery_resources(discovery, KC_STR("authentication.k8s.io"), KC_STR("v1"))->body,
        "{\"kind\":\"APIResourceList\",\"apiVersion\":\"v1\","
        "\"groupVersion\":\"authentication.k8s.io/v1\",\"resources\":["
        "{\"name\":\"selfsubjectreviews\",\"singularName\":\"selfsubjectreview\","
        "\"namespaced\":false,\"kind\":\"SelfSubjectReview\",\"verbs\":[\"create\"]},"
        "{\"name\":\"tokenreviews\",\"singularName\":\"tokenreview\",\"namespaced\":false,"
        "\"kind\":\"TokenReview\",\"verbs\":[\"create\"]}]}");
}

static void subresource_of_another_group_names_its_group(void **state)
{
    (void)state;
    kc_auto(kc__discovery) *discovery = builtin();
    const char *core = kc__discovery_resources(discovery, KC_STR(""), KC_STR("v1"))->body.p;
    assert_contains(core, "{\"name\":\"pods/eviction\",\"singularName\":\"\",\"namespaced\":true,"
                          "\"group\":\"policy\",\"version\":\"v1\",\"kind\":\"Eviction\","
                          "\"verbs\":[\"create\"]}");
    assert_contains(core, "{\"name\":\"pods/binding\",\"singularName\":\"\",\"namespaced\":true,"
                          "\"kind\":\"Binding\",\"verbs\":[\"create\"]}");
    assert_contains(core, "{\"name\":\"serviceaccounts/token\",\"singularName\":\"\","
                          "\"namespaced\":true,\"group\":\"authentication.k8s.io\","
                          "\"version\":\"v1\",\"kind\":\"TokenRequest\",\"verbs\":[\"create\"]}");
}

static void every_document_is_valid_json(void **state)
{
    (void)state;
    kc_auto(kc__registry) *kinds = kc__registry_new(NULL);
    kc_auto(kc__discovery) *discovery = kc__discovery_new(kinds, NULL);
    size_t n;
    const kc__registry_version *versions = kc__registry_versions(kinds, &n);
    for (size_t i = 0; i < n; i++) {
        const kc__discovery_document *doc = kc__discovery_resources(
            discovery, kc_cstr(versions[i].group), kc_cstr(versions[i].name));
        kc_auto(kc_view) *view = kc_view_parse(doc->body, NULL, NULL);
        assert_non_null(view);
        assert_true(kc_value_len(kc_value_get(kc_view_root(view), "resources")) >=
                    versions[i].n_resources);
    }
    kc_auto(kc_view) *groups =
        kc_view_parse(kc__discovery_aggregated_groups(discovery)->body, NULL, NULL);
    assert_int_equal(kc_value_len(kc_value_get(kc_view_root(groups), "items")), 20);
}

static void names_are_escaped(void **state)
{
    (void)state;
    static const kc__resource odd[] = {{.group = "example.com",
                                        .version = "v2",
                                        .plural = "a\"b",
                                        .singular = "a\\b",
                                        .kind = "K",
                                        .verbs = KC__VERB_GET}};
    kc_auto(kc__registry) *kinds = kc__registry_new(&(kc__registry_opts){
        .groups = few_groups, .n_groups = 2, .resources = odd, .n_resources = 1});
    kc_auto(kc__discovery) *discovery = kc__discovery_new(kinds, NULL);
    assert_contains(kc__discovery_resources(discovery, KC_STR("example.com"), KC_STR("v2"))->body.p,
                    "{\"name\":\"a\\\"b\",\"singularName\":\"a\\\\b\",");
}

typedef struct reader {
    const kc__discovery *discovery;
    const kc__discovery_document *found;
} reader;

static void read_document(void *user)
{
    reader *self = user;
    self->found = kc__discovery_aggregated_groups(self->discovery);
}

static void concurrent_readers_get_the_same_document(void **state)
{
    (void)state;
    enum { READERS = 4 };
    kc_auto(kc__discovery) *discovery = few();
    reader readers[READERS];
    kc_thread *threads[READERS];
    for (int i = 0; i < READERS; i++) {
        readers[i] = (reader){.discovery = discovery};
        threads[i] = kc_thread_start("reader", read_document, &readers[i], NULL);
    }
    for (int i = 0; i < READERS; i++) {
        kc_thread_join(threads[i]);
        assert_ptr_equal(readers[i].found, kc__discovery_aggregated_groups(discovery));
    }
}

TESTS(core_group_is_served_as_api_versions, unset_server_address_gives_empty_list,
      named_groups_are_in_api_group_list, named_group_has_its_own_document,
      core_resource_list_has_no_api_version, subresources_follow_their_resource,
      version_without_resources_has_empty_list, unknown_group_version_has_no_document,
      aggregated_core_group_has_no_name, aggregated_groups_list_all_resources,
      aggregated_documents_have_media_type_and_etag, equal_registries_have_equal_etags,
      storage_version_hash_is_that_of_the_stored_version, resource_without_storage_has_no_hash,
      subresource_of_another_group_names_its_group, every_document_is_valid_json, names_are_escaped,
      concurrent_readers_get_the_same_document)
