/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/discovery/discovery.h"
#include "kc/thread.h"
#include "testing.h"

/* Two groups of which a whole document can be written down. */
static const kc__group few_groups[] = {
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
     .verbs = KC__ALL_VERBS,
     .short_names = (const char *const[]){"cm", NULL},
     .storage = "core/configmaps",
     .storage_api_version = "v1"},
    {.group = "example.com",
     .version = "v2",
     .plural = "robots",
     .singular = "robot",
     .kind = "Robot",
     .verbs = KC__GET | KC__LIST,
     .categories = (const char *const[]){"all", "toys", NULL},
     .subresources = (const kc__subresource[]){{.name = "scale",
                                                .verbs = KC__GET,
                                                .group = "autoscaling",
                                                .version = "v1",
                                                .kind = "Scale"},
                                               {.name = "status", .verbs = KC__UPDATE},
                                               {.name = NULL}}},
};

static kc__discovery *few(void)
{
    kc_auto(kc__kinds) *kinds =
        kc__kinds_new(&(kc__kinds_opts){.groups = few_groups,
                                        .n_groups = KC_COUNT(few_groups),
                                        .resources = few_resources,
                                        .n_resources = KC_COUNT(few_resources)});
    return kc__discovery_new(kinds, &(kc__discovery_opts){.server_address = "10.0.0.1:6443"});
}

static kc__discovery *builtin(void)
{
    kc_auto(kc__kinds) *kinds = kc__kinds_new(NULL);
    return kc__discovery_new(kinds, NULL);
}

/* ---- legacy ---- */

static void the_core_group_is_served_as_versions(void **state)
{
    (void)state;
    kc_auto(kc__discovery) *discovery = few();
    const kc__document *doc = kc__discovery_api_versions(discovery);
    assert_str(doc->body, "{\"kind\":\"APIVersions\",\"versions\":[\"v1\"],"
                          "\"serverAddressByClientCIDRs\":[{\"clientCIDR\":\"0.0.0.0/0\","
                          "\"serverAddress\":\"10.0.0.1:6443\"}]}");
    assert_str(doc->type, "application/json");
    assert_str(doc->etag, "");
}

static void without_an_address_there_is_none(void **state)
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

static void other_groups_stand_in_a_list(void **state)
{
    (void)state;
    kc_auto(kc__discovery) *discovery = few();
    assert_str(kc__discovery_groups(discovery)->body,
               "{\"kind\":\"APIGroupList\",\"apiVersion\":\"v1\",\"groups\":[{" EXAMPLE_GROUP "]}");
}

static void a_group_has_a_document_of_its_own(void **state)
{
    (void)state;
    kc_auto(kc__discovery) *discovery = few();
    assert_str(kc__discovery_group(discovery, KC_STR("example.com"))->body,
               "{\"kind\":\"APIGroup\",\"apiVersion\":\"v1\"," EXAMPLE_GROUP);
    assert_null(kc__discovery_group(discovery, KC_STR("")));
    assert_null(kc__discovery_group(discovery, KC_STR("apps")));
}

static void core_resources_come_without_an_api_version(void **state)
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

static void a_version_may_be_empty(void **state)
{
    (void)state;
    kc_auto(kc__discovery) *discovery = few();
    assert_str(kc__discovery_resources(discovery, KC_STR("example.com"), KC_STR("v1"))->body,
               "{\"kind\":\"APIResourceList\",\"apiVersion\":\"v1\","
               "\"groupVersion\":\"example.com/v1\",\"resources\":[]}");
}

static void unknown_group_versions_have_no_document(void **state)
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

static void aggregated_the_core_group_has_no_name(void **state)
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

static void aggregated_groups_hold_everything(void **state)
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

static void aggregated_documents_have_their_type_and_tag(void **state)
{
    (void)state;
    kc_auto(kc__discovery) *discovery = few();
    const kc__document *core = kc__discovery_aggregated_core(discovery);
    const kc__document *groups = kc__discovery_aggregated_groups(discovery);
    assert_str(core->type, "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");
    assert_int_equal(core->etag.n, 130);
    assert_true(core->etag.p[0] == '"' && core->etag.p[129] == '"');
    for (size_t i = 1; i < 129; i++)
        assert_non_null(strchr("0123456789ABCDEF", core->etag.p[i]));
    assert_false(kc_str_eq(core->etag, groups->etag));
}

static void the_same_kinds_have_the_same_tag(void **state)
{
    (void)state;
    kc_auto(kc__discovery) *one = builtin(), *other = builtin(), *different = few();
    kc_str tag = kc__discovery_aggregated_groups(one)->etag;
    assert_true(kc_str_eq(tag, kc__discovery_aggregated_groups(other)->etag));
    assert_false(kc_str_eq(tag, kc__discovery_aggregated_groups(different)->etag));
}

/* ---- the built-in kinds ---- */

static void storage_hashes_are_those_of_the_stored_version(void **state)
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

static void what_is_not_stored_has_no_storage_hash(void **state)
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

static void subresources_of_other_groups_say_so(void **state)
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

static void every_document_is_json(void **state)
{
    (void)state;
    kc_auto(kc__discovery) *discovery = builtin();
    size_t n;
    const kc__kinds_version *versions = kc__kinds_versions(kc__discovery_kinds(discovery), &n);
    for (size_t i = 0; i < n; i++) {
        const kc__document *doc = kc__discovery_resources(discovery, kc_cstr(versions[i].group),
                                                          kc_cstr(versions[i].name));
        kc_auto(kc_view) *view = kc_view_parse(doc->body, NULL, NULL);
        assert_non_null(view);
        assert_true(kc_len(kc_get(kc_view_root(view), "resources")) >= versions[i].n_resources);
    }
    kc_auto(kc_view) *groups =
        kc_view_parse(kc__discovery_aggregated_groups(discovery)->body, NULL, NULL);
    assert_int_equal(kc_len(kc_get(kc_view_root(groups), "items")), 18);
}

static void names_from_clients_are_quoted(void **state)
{
    (void)state;
    static const kc__resource odd[] = {{.group = "example.com",
                                        .version = "v2",
                                        .plural = "a\"b",
                                        .singular = "a\\b",
                                        .kind = "K",
                                        .verbs = KC__GET}};
    kc_auto(kc__kinds) *kinds = kc__kinds_new(
        &(kc__kinds_opts){.groups = few_groups, .n_groups = 2, .resources = odd, .n_resources = 1});
    kc_auto(kc__discovery) *discovery = kc__discovery_new(kinds, NULL);
    assert_contains(kc__discovery_resources(discovery, KC_STR("example.com"), KC_STR("v2"))->body.p,
                    "{\"name\":\"a\\\"b\",\"singularName\":\"a\\\\b\",");
}

static void a_document_lives_as_long_as_a_reference(void **state)
{
    (void)state;
    kc__discovery *discovery = few();
    kc_auto(kc__discovery) *kept = kc__discovery_ref(discovery);
    const kc__document *doc = kc__discovery_groups(discovery);
    assert_null(kc__discovery_unref(discovery));
    assert_contains(doc->body.p, "example.com");
    assert_null(kc__discovery_unref(NULL));
}

typedef struct asker {
    const kc__discovery *discovery;
    const kc__document *found;
} asker;

static void ask(void *user)
{
    asker *self = user;
    self->found = kc__discovery_aggregated_groups(self->discovery);
}

static void all_who_ask_at_once_get_the_same_document(void **state)
{
    (void)state;
    enum { ASKERS = 4 };
    kc_auto(kc__discovery) *discovery = few();
    asker askers[ASKERS];
    kc_thread *threads[ASKERS];
    for (int i = 0; i < ASKERS; i++) {
        askers[i] = (asker){.discovery = discovery};
        threads[i] = kc_thread_start("asker", ask, &askers[i], NULL);
    }
    for (int i = 0; i < ASKERS; i++) {
        kc_thread_join(threads[i]);
        assert_ptr_equal(askers[i].found, kc__discovery_aggregated_groups(discovery));
    }
}

TESTS(the_core_group_is_served_as_versions, without_an_address_there_is_none,
      other_groups_stand_in_a_list, a_group_has_a_document_of_its_own,
      core_resources_come_without_an_api_version, subresources_follow_their_resource,
      a_version_may_be_empty, unknown_group_versions_have_no_document,
      aggregated_the_core_group_has_no_name, aggregated_groups_hold_everything,
      aggregated_documents_have_their_type_and_tag, the_same_kinds_have_the_same_tag,
      storage_hashes_are_those_of_the_stored_version, what_is_not_stored_has_no_storage_hash,
      subresources_of_other_groups_say_so, every_document_is_json, names_from_clients_are_quoted,
      a_document_lives_as_long_as_a_reference, all_who_ask_at_once_get_the_same_document)
