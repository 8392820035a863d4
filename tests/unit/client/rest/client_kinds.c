/* SPDX-License-Identifier: Apache-2.0 */
#include "client_testing.h"

#define DEPLOYMENT \
    ((kc_gvk){.group = KC_STR("apps"), .version = KC_STR("v1"), .kind = KC_STR("Deployment")})
#define ROBOT \
    ((kc_gvk){.group = KC_STR("llleon.io"), .version = KC_STR("v1"), .kind = KC_STR("Robot")})

static kc_object *robots(void)
{
    return object_of(
        "{'apiVersion':'apiextensions.k8s.io/v1','kind':'CustomResourceDefinition','metadata':{"
        "'name':'robots.llleon.io'},'spec':{'group':'llleon.io','scope':'Namespaced','names':{"
        "'plural':'robots','singular':'robot','kind':'Robot','shortNames':['rb']},'versions':[{"
        "'name':'v1','served':true,'storage':true,'schema':{'openAPIV3Schema':{'type':'object',"
        "'x-kubernetes-preserve-unknown-fields':true}}}]}}");
}

/* Until the server serves it. */
static void install_robots(bench *b)
{
    kc_auto(kc_object) *definition = robots();
    kc_object_unref(created_as(b, definition));
    for (int i = 0; i < 3000; i++) {
        kc_scoped(kc_buf) out = {0};
        if (kc_client_raw(b->client, "GET", KC_STR("/apis/llleon.io/v1"), (kc_str){0}, (kc_str){0},
                          &out, NULL) == 0 &&
            strstr(kc_buf_cstr(&out), "robots"))
            return;
        kc_clock_sleep(kc_clock_real(), 10 * KC_MILLISECOND);
    }
    fail_msg("robots are not served");
}

static void kind_is_found_with_one_request(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    kc_scoped(kc_error) err = {0};
    const kc_kind *kind = kc_client_kind(b->client, DEPLOYMENT, &err);
    assert_non_null(kind);
    assert_string_equal(kind->plural, "deployments");
    assert_string_equal(kind->singular, "deployment");
    assert_true(kind->namespaced);
    assert_ptr_equal(kc_client_kind(b->client, DEPLOYMENT, &err), kind);
    const kc_kind *other = kc_client_kind(
        b->client, (kc_gvk){KC_STR("apps"), KC_STR("v1"), KC_STR("ReplicaSet")}, &err);
    assert_string_equal(other->plural, "replicasets");
    assert_int_equal(bench_count(b), 1);
    assert_string_equal(bench_sent(b, 0), "GET /apis/apps/v1");
}

static void core_group_uses_the_api_path(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    const kc_kind *kind =
        kc_client_kind(b->client, (kc_gvk){{0}, KC_STR("v1"), KC_STR("Node")}, NULL);
    assert_non_null(kind);
    assert_false(kind->namespaced);
    assert_string_equal(bench_sent(b, 0), "GET /api/v1");
}

static void unknown_kind_is_not_found_and_cached(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    for (int i = 0; i < 3; i++) {
        kc_scoped(kc_error) err = {0};
        assert_null(kc_client_kind(b->client, ROBOT, &err));
        assert_error(&err, KC_NOT_FOUND,
                     "no matches for kind \"Robot\" in version \"llleon.io/v1\"");
    }
    assert_int_equal(bench_count(b), 1);
}

static void new_kind_is_found_after_ten_seconds(void **state)
{
    (void)state;
    kc_clock *clock = kc_clock_virtual_new(1763368200 * KC_SECOND);
    kc_auto(bench) *b = bench_start_with((kc_client_opts){.clock = clock});
    assert_null(kc_client_kind(b->client, ROBOT, NULL));
    install_robots(b);
    assert_null(kc_client_kind(b->client, ROBOT, NULL));
    kc_clock_advance(clock, 10 * KC_SECOND);
    const kc_kind *kind = kc_client_kind(b->client, ROBOT, NULL);
    assert_non_null(kind);
    assert_string_equal(kind->plural, "robots");
}

static void failed_discovery_is_retried(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    kc_scoped(kc_error) err = {0};
    bench_script(b, &(scripted){.status = 500});
    assert_null(kc_client_kind(b->client, DEPLOYMENT, &err));
    assert_int_equal(err.reason, KC_INTERNAL);
    assert_non_null(kc_client_kind(b->client, DEPLOYMENT, NULL));
}

static void invalid_group_is_refused_before_any_request(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    kc_scoped(kc_error) err = {0};
    const kc_gvk odd = {KC_STR("../.."), KC_STR("v1"), KC_STR("Pod")};
    assert_null(kc_client_kind(b->client, odd, &err));
    assert_error(&err, KC_BAD_REQUEST, "invalid group");
    assert_int_equal(bench_count(b), 0);
}

static void objects_of_discovered_kinds_are_written(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    install_robots(b);
    bench_forget(b);
    kc_auto(kc_object) *robot = object_of(
        "{'apiVersion':'llleon.io/v1','kind':'Robot','metadata':{'name':'r','namespace':'default'},"
        "'spec':{'arms':2}}");
    kc_auto(kc_object) *now = created_as(b, robot);
    assert_string_equal(bench_sent(b, 0), "GET /apis/llleon.io/v1");
    assert_contains(bench_sent(b, 1), "POST /apis/llleon.io/v1/namespaces/default/robots?");
    kc_auto(kc_object) *again = kc_client_update(b->client, now, NULL, NULL);
    assert_non_null(again);
    assert_int_equal(bench_count(b), 3);
}

/* ---- names ---- */

static const char *plural_of(bench *b, const char *name)
{
    const kc_kind *kind = kc_client_kind_of_resource(b->client, kc_cstr(name), NULL);
    static char text[64];
    snprintf(text, sizeof(text), "%s.%s.%s", kind ? kind->plural : "?", kind ? kind->version : "",
             kind ? kind->group : "");
    return text;
}

static void resource_is_found_by_plural_singular_and_short_name(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    assert_string_equal(plural_of(b, "deployments"), "deployments.v1.apps");
    assert_string_equal(plural_of(b, "deploy"), "deployments.v1.apps");
    assert_string_equal(plural_of(b, "Deployment"), "deployments.v1.apps");
    assert_string_equal(plural_of(b, "deployments.apps"), "deployments.v1.apps");
    assert_string_equal(plural_of(b, "deployments.v1.apps"), "deployments.v1.apps");
    assert_string_equal(plural_of(b, "po"), "pods.v1.");
    assert_string_equal(plural_of(b, "ns"), "namespaces.v1.");
    assert_string_equal(plural_of(b, "events"), "events.v1.");
    assert_string_equal(plural_of(b, "events.events.k8s.io"), "events.v1.events.k8s.io");
    assert_int_equal(bench_count(b), 2);
}

static void names_of_new_custom_resources_are_found_later(void **state)
{
    (void)state;
    kc_clock *clock = kc_clock_virtual_new(1763368200 * KC_SECOND);
    kc_auto(bench) *b = bench_start_with((kc_client_opts){.clock = clock});
    kc_scoped(kc_error) err = {0};
    assert_null(kc_client_kind_of_resource(b->client, KC_STR("robots"), &err));
    assert_error(&err, KC_NOT_FOUND, "the server doesn't have a resource type \"robots\"");
    install_robots(b);
    kc_clock_advance(clock, 10 * KC_SECOND);
    assert_string_equal(plural_of(b, "rb"), "robots.v1.llleon.io");
    assert_string_equal(plural_of(b, "robots.llleon.io"), "robots.v1.llleon.io");
}

/* ---- everything ---- */

typedef struct seen {
    size_t n, subresources, preferred;
    const kc_kind *pods;
    bool pods_can_watch, pods_are_po, pods_are_in_all;
} seen;

static bool has(const char *const *names, const char *name)
{
    for (; *names; names++)
        if (!strcmp(*names, name))
            return true;
    return false;
}

static void see(const kc_api_resource *resource, void *user)
{
    seen *s = user;
    s->n++;
    s->subresources += strchr(resource->kind->plural, '/') != NULL;
    s->preferred += resource->preferred;
    if (strcmp(resource->kind->plural, "pods") != 0)
        return;
    s->pods = resource->kind;
    s->pods_can_watch = has(resource->verbs, "watch");
    s->pods_are_po = has(resource->short_names, "po");
    s->pods_are_in_all = has(resource->categories, "all");
}

static void discovery_reports_verbs_and_names(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    seen s = {0};
    kc_scoped(kc_error) err = {0};
    assert_int_equal(kc_client_discover(b->client, see, &s, &err), 0);
    assert_int_equal(err.reason, KC_OK);
    assert_true(s.n > 20 && s.preferred > 20);
    assert_int_equal(s.subresources, 0);
    assert_true(s.pods_can_watch && s.pods_are_po && s.pods_are_in_all);
    assert_int_equal(bench_count(b), 2);
}

static void legacy_server_is_discovered_per_group(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    seen aggregated = {0}, legacy = {0};
    assert_int_equal(kc_client_discover(b->client, see, &aggregated, NULL), 0);
    bench_forget(b);
    bench_script(b, &(scripted){.accept = "application/json"});
    bench_script(b, &(scripted){0});
    bench_script(b, &(scripted){.accept = "application/json"});
    kc_scoped(kc_error) err = {0};
    assert_int_equal(kc_client_discover(b->client, see, &legacy, &err), 0);
    assert_int_equal(err.reason, KC_OK);
    assert_int_equal(legacy.n, aggregated.n);
    assert_int_equal(legacy.preferred, aggregated.preferred);
    assert_int_equal(legacy.subresources, 0);
    assert_ptr_equal(legacy.pods, aggregated.pods);
    assert_string_equal(bench_sent(b, 0), "GET /api");
    assert_string_equal(bench_sent(b, 1), "GET /api/v1");
    assert_string_equal(bench_sent(b, 2), "GET /apis");
    assert_true(bench_count(b) > 10);
}

static void failed_groups_are_skipped_and_reported(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    seen s = {0};
    kc_scoped(kc_error) err = {0};
    bench_script(b, &(scripted){0});
    bench_script(b,
                 &(scripted){.status = 200,
                             .body = "{'kind':'APIGroupList','groups':[{'name':'gone.example.com',"
                                     "'versions':[{'version':'v7'}],'preferredVersion':{'version':"
                                     "'v7'}}]}"});
    assert_int_equal(kc_client_discover(b->client, see, &s, &err), 0);
    assert_true(s.n > 5);
    assert_error(&err, KC_SERVICE_UNAVAILABLE, "gone.example.com/v7: ");
    bench_script(b,
                 &(scripted){.status = 200,
                             .body = "{'kind':'APIGroupDiscoveryList','items':[{'metadata':{'name':"
                                     "'stale.example.com'},'versions':[{'version':'v1','freshness':"
                                     "'Stale'}]}]}"});
    assert_int_equal(kc_client_discover(b->client, see, &s, &err), 0);
    assert_error(&err, KC_SERVICE_UNAVAILABLE, "stale.example.com/v1: stale GroupVersion");
    assert_int_equal(err.causes.n, 1);
    assert_string_equal(err.causes.items[0].field, "stale.example.com/v1");
    assert_string_equal(err.causes.items[0].message,
                        "stale GroupVersion discovery: stale.example.com/v1");
}

static void failed_discovery_is_an_error(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    seen s = {0};
    kc_scoped(kc_error) err = {0};
    bench_script(b, &(scripted){.status = 401});
    bench_script(b, &(scripted){.status = 401});
    assert_true(kc_client_discover(b->client, see, &s, &err) < 0);
    assert_true(kc_is_unauthorized(&err));
    bench_script(b, &(scripted){.status = 401});
    assert_int_equal(kc_client_discover(b->client, see, &s, &err), 0);
    assert_error(&err, KC_SERVICE_UNAVAILABLE, "/api: ");
}

TESTS(kind_is_found_with_one_request, core_group_uses_the_api_path,
      unknown_kind_is_not_found_and_cached, new_kind_is_found_after_ten_seconds,
      failed_discovery_is_retried, invalid_group_is_refused_before_any_request,
      objects_of_discovered_kinds_are_written, resource_is_found_by_plural_singular_and_short_name,
      names_of_new_custom_resources_are_found_later, discovery_reports_verbs_and_names,
      legacy_server_is_discovered_per_group, failed_groups_are_skipped_and_reported,
      failed_discovery_is_an_error)
