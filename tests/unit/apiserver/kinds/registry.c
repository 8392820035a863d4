/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/kinds/registry.h"
#include "testing.h"

#include <stdio.h>

/* ---- the table ---- */

static const char *api_version_of(const kc__resource *resource, char out[128])
{
    snprintf(out, 128, "%s%s%s", resource->group, resource->group[0] ? "/" : "", resource->version);
    return out;
}

static void every_resource_has_its_names(void **state)
{
    (void)state;
    for (size_t i = 0; i < kc__resource_n_builtins; i++) {
        const kc__resource *r = &kc__resource_builtins[i];
        assert_non_null(r->group);
        assert_true(r->version && r->plural && r->singular && r->kind && r->type_name);
        assert_true(r->verbs != 0 && (r->verbs & ~(unsigned)KC__VERB_ALL) == 0);
        assert_true(kc_str_ends(kc_cstr(r->type_name), kc_cstr(r->kind)));
        assert_true(kc_str_starts(kc_cstr(r->type_name), KC_STR("io.k8s.")));
        assert_int_equal(r->list_kind != NULL, (r->verbs & KC__VERB_LIST) != 0);
    }
}

static void resources_of_a_group_version_are_sorted_by_name(void **state)
{
    (void)state;
    for (size_t i = 1; i < kc__resource_n_builtins; i++) {
        const kc__resource *a = &kc__resource_builtins[i - 1], *b = a + 1;
        if (!strcmp(a->group, b->group) && !strcmp(a->version, b->version))
            assert_true(strcmp(a->plural, b->plural) < 0);
    }
}

static void subresources_are_sorted_by_name(void **state)
{
    (void)state;
    for (size_t i = 0; i < kc__resource_n_builtins; i++) {
        const kc__resource_subresource *sub = kc__resource_builtins[i].subresources;
        for (; sub && sub->name && sub[1].name; sub++)
            assert_true(strcmp(sub->name, sub[1].name) < 0);
    }
}

static void writable_resources_are_stored(void **state)
{
    (void)state;
    for (size_t i = 0; i < kc__resource_n_builtins; i++) {
        const kc__resource *r = &kc__resource_builtins[i];
        assert_int_equal(r->storage != NULL, (r->verbs & KC__VERB_UPDATE) != 0);
        assert_int_equal(r->storage != NULL, r->storage_api_version != NULL);
        assert_int_equal(r->storage != NULL, r->key_prefix != NULL);
        if (r->storage)
            assert_true(kc_str_ends(kc_cstr(r->storage), kc_cstr(r->plural)));
    }
}

static void only_events_and_autoscalers_are_stored_as_another_version(void **state)
{
    (void)state;
    char own[128];
    for (size_t i = 0; i < kc__resource_n_builtins; i++) {
        const kc__resource *r = &kc__resource_builtins[i];
        if (!r->storage)
            continue;
        api_version_of(r, own);
        if (!strcmp(own, "events.k8s.io/v1")) {
            assert_string_equal(r->storage, "core/events");
            assert_string_equal(r->storage_api_version, "v1");
        } else if (!strcmp(own, "apiextensions.k8s.io/v1beta1")) {
            assert_string_equal(r->storage_api_version, "apiextensions.k8s.io/v1");
        } else if (!strcmp(own, "autoscaling/v1")) {
            assert_string_equal(r->storage_api_version, "autoscaling/v2");
        } else {
            assert_string_equal(r->storage_api_version, own);
        }
    }
}

/* ---- a registry ---- */

static const kc__resource *find(const kc__registry *kinds, const char *group, const char *version,
                                const char *plural)
{
    return kc__registry_find(kinds, kc_cstr(group), kc_cstr(version), kc_cstr(plural));
}

static void every_built_in_resource_is_found(void **state)
{
    (void)state;
    kc_auto(kc__registry) *kinds = kc__registry_new(NULL);
    for (size_t i = 0; i < kc__resource_n_builtins; i++) {
        const kc__resource *r = &kc__resource_builtins[i];
        const kc__resource *found = find(kinds, r->group, r->version, r->plural);
        assert_non_null(found);
        assert_ptr_equal(found->plural, r->plural);
        assert_ptr_equal(
            kc__registry_find_kind(kinds, kc_cstr(r->group), kc_cstr(r->version), kc_cstr(r->kind)),
            found);
    }
}

static void resource_has_all_its_properties(void **state)
{
    (void)state;
    kc_auto(kc__registry) *kinds = kc__registry_new(NULL);
    const kc__resource *d = find(kinds, "apps", "v1", "deployments");
    assert_string_equal(d->kind, "Deployment");
    assert_string_equal(d->list_kind, "DeploymentList");
    assert_string_equal(d->singular, "deployment");
    assert_string_equal(d->type_name, "io.k8s.api.apps.v1.Deployment");
    assert_string_equal(d->storage, "apps/deployments");
    assert_string_equal(d->short_names[0], "deploy");
    assert_null(d->short_names[1]);
    assert_string_equal(d->categories[0], "all");
    assert_true(d->namespaced);
    assert_int_equal(d->verbs, KC__VERB_ALL);
    assert_string_equal(find(kinds, "", "v1", "configmaps")->storage, "core/configmaps");
    assert_string_equal(find(kinds, "rbac.authorization.k8s.io", "v1", "roles")->type_name,
                        "io.k8s.api.rbac.v1.Role");
    assert_false(find(kinds, "", "v1", "nodes")->namespaced);
    assert_int_equal(find(kinds, "", "v1", "namespaces")->verbs & KC__VERB_DELETE_COLLECTION, 0);
}

static void unknown_resource_is_not_found(void **state)
{
    (void)state;
    kc_auto(kc__registry) *kinds = kc__registry_new(NULL);
    assert_null(find(kinds, "", "v1", "deployments"));
    assert_null(find(kinds, "apps", "v1beta1", "deployments"));
    assert_null(find(kinds, "core", "v1", "pods"));
    assert_null(find(kinds, "", "v1", "Pods"));
    assert_null(find(kinds, "", "v1", ""));
    assert_null(kc__registry_find_kind(kinds, KC_STR(""), KC_STR("v1"), KC_STR("pod")));
    assert_null(kc__registry_find_group(kinds, KC_STR("extensions")));
    assert_null(kc__registry_find_version(kinds, KC_STR("batch"), KC_STR("v1beta1")));
    assert_null(find(kinds, "resource.k8s.io", "v1beta2", "deviceclasses"));
    assert_null(
        find(kinds, "admissionregistration.k8s.io", "v1beta1", "validatingadmissionpolicies"));
}

static void groups_are_in_discovery_order(void **state)
{
    (void)state;
    kc_auto(kc__registry) *kinds = kc__registry_new(NULL);
    size_t n;
    const kc__registry_group *groups = kc__registry_groups(kinds, &n);
    assert_int_equal(n, 21);
    assert_string_equal(groups[0].name, "");
    assert_string_equal(groups[1].name, "apiregistration.k8s.io");
    assert_string_equal(groups[2].name, "apps");
    assert_string_equal(groups[3].name, "events.k8s.io");
    assert_string_equal(groups[19].name, "resource.k8s.io");
    assert_string_equal(groups[20].name, "flowcontrol.apiserver.k8s.io");
}

static void preferred_version_comes_first(void **state)
{
    (void)state;
    kc_auto(kc__registry) *kinds = kc__registry_new(NULL);
    const kc__registry_group *group = kc__registry_find_group(kinds, KC_STR("autoscaling"));
    assert_int_equal(group->n_versions, 2);
    assert_string_equal(group->versions[0].name, "v2");
    assert_string_equal(group->versions[1].name, "v1");
    assert_string_equal(group->versions[1].group, "autoscaling");
}

static void version_has_all_its_resources(void **state)
{
    (void)state;
    kc_auto(kc__registry) *kinds = kc__registry_new(NULL);
    const kc__registry_version *core = kc__registry_find_version(kinds, KC_STR(""), KC_STR("v1"));
    assert_int_equal(core->n_resources, 17);
    assert_string_equal(core->resources[0].plural, "bindings");
    assert_string_equal(core->resources[16].plural, "services");
    size_t n, total = 0;
    const kc__registry_group *groups = kc__registry_groups(kinds, &n);
    for (size_t i = 0; i < n; i++)
        for (size_t v = 0; v < groups[i].n_versions; v++) {
            assert_true(groups[i].versions[v].n_resources > 0);
            total += groups[i].versions[v].n_resources;
        }
    assert_int_equal(total, kc__resource_n_builtins);
    kc__registry_resources(kinds, &n);
    assert_int_equal(n, total);
}

static void subresources_are_found_by_name(void **state)
{
    (void)state;
    kc_auto(kc__registry) *kinds = kc__registry_new(NULL);
    const kc__resource *pods = find(kinds, "", "v1", "pods");
    const kc__resource_subresource *eviction =
        kc__resource_find_subresource(pods, KC_STR("eviction"));
    assert_string_equal(eviction->group, "policy");
    assert_string_equal(eviction->kind, "Eviction");
    assert_int_equal(eviction->verbs, KC__VERB_CREATE);
    const kc__resource_subresource *status = kc__resource_find_subresource(pods, KC_STR("status"));
    assert_int_equal(status->verbs, KC__VERB_GET | KC__VERB_PATCH | KC__VERB_UPDATE);
    assert_null(status->kind);
    assert_null(kc__resource_find_subresource(pods, KC_STR("scale")));
    assert_null(kc__resource_find_subresource(pods, KC_STR("")));
    assert_null(kc__resource_find_subresource(find(kinds, "", "v1", "secrets"), KC_STR("status")));
}

/* ---- types and strategies ---- */

static const kc__type_message a_type = {.name = KC_STR_INIT("io.k8s.api.core.v1.Pod")};

static const kc__type_message *find_type(kc_str name)
{
    return kc_str_eq(name, a_type.name) ? &a_type : NULL;
}

static const kc__strategy *find_strategy(const kc__resource *resource)
{
    return (const kc__strategy *)resource->plural; /* Any address will do. */
}

static void types_and_strategies_are_filled_in(void **state)
{
    (void)state;
    kc_auto(kc__registry) *kinds = kc__registry_new(
        &(kc__registry_opts){.find_type = find_type, .find_strategy = find_strategy});
    const kc__resource *pods = find(kinds, "", "v1", "pods");
    assert_ptr_equal(pods->type, &a_type);
    assert_ptr_equal(pods->strategy, pods->plural);
    assert_null(find(kinds, "", "v1", "nodes")->type);
}

static void custom_tables_replace_the_built_in_ones(void **state)
{
    (void)state;
    static const char *const versions[] = {"v2", "v1", NULL};
    static const kc__resource_group groups[] = {{"example.com", versions}};
    static const kc__resource resources[] = {
        {.group = "example.com", .version = "v1", .plural = "robots", .kind = "Robot"},
        {.group = "example.com", .version = "v2", .plural = "robots", .kind = "Robot"},
    };
    kc_auto(kc__registry) *kinds = kc__registry_new(&(kc__registry_opts){
        .groups = groups, .n_groups = 1, .resources = resources, .n_resources = 2});
    assert_string_equal(find(kinds, "example.com", "v2", "robots")->version, "v2");
    assert_string_equal(find(kinds, "example.com", "v1", "robots")->version, "v1");
    assert_null(find(kinds, "", "v1", "pods"));
}

static void additions_to_a_built_in_group_are_left_out(void **state)
{
    (void)state;
    static const kc__resource resources[] = {
        {.group = "events.k8s.io", .version = "v9", .plural = "robots", .kind = "Robot"},
        {.group = "x.io", .version = "v9", .plural = "robots", .kind = "Robot"},
    };
    kc__resource_set set = {.resources = resources, .n = 2};
    kc_ref_init(&set.refs);
    const kc__resource_set *sets[] = {&set};
    kc_auto(kc__registry) *kinds =
        kc__registry_new(&(kc__registry_opts){.additions = sets, .n_additions = 1});
    assert_null(find(kinds, "events.k8s.io", "v9", "robots"));
    assert_int_equal(kc__registry_find_group(kinds, KC_STR("events.k8s.io"))->n_versions, 1);
    assert_non_null(find(kinds, "x.io", "v9", "robots"));
}

TESTS(every_resource_has_its_names, resources_of_a_group_version_are_sorted_by_name,
      subresources_are_sorted_by_name, writable_resources_are_stored,
      only_events_and_autoscalers_are_stored_as_another_version, every_built_in_resource_is_found,
      resource_has_all_its_properties, unknown_resource_is_not_found, groups_are_in_discovery_order,
      preferred_version_comes_first, version_has_all_its_resources, subresources_are_found_by_name,
      types_and_strategies_are_filled_in, custom_tables_replace_the_built_in_ones,
      additions_to_a_built_in_group_are_left_out)
