/* SPDX-License-Identifier: Apache-2.0 */
/* Emptying a namespace with incomplete or unusual discovery. */
#include "client_testing.h"

#include "namespace/purge.h"

#define GROUP(name, version, resources)                                   \
    "{'kind':'APIGroupDiscoveryList','items':[{'metadata':{'name':'" name \
    "'},'versions':[{'version':'" version "'," resources "}]}]}"
#define CONFIG_MAPS(verbs)                                                               \
    "'resources':[{'resource':'configmaps','responseKind':{'kind':'ConfigMap'},'scope':" \
    "'Namespaced','verbs':" verbs "}]"
#define NO_GROUPS "{'kind':'APIGroupDiscoveryList','items':[]}"

static void answer(bench *b, const char *body)
{
    bench_script(b, &(scripted){.status = 200, .body = body});
}

static kc__purge purge_of(bench *b)
{
    return (kc__purge){.client = b->client, .clock = kc_clock_real(), .ns = "default"};
}

static const char *message_of(kc_edit *edit, const kc__purge *purge, size_t i)
{
    kc__purge_conditions(purge, edit);
    const kc_node *status = kc_node_get(kc_edit_root(edit), KC_STR("status"));
    const kc_node *c = kc_node_at(kc_node_get(status, KC_STR("conditions")), i);
    return kc_node_as_str(kc_node_get(c, KC_STR("message"))).p;
}

static void stale_discovery_group_is_a_failure(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    kc_auto(kc_edit) *edit = kc_edit_new();
    bench_script(b, &(scripted){0});
    answer(b, GROUP("gone.example.com", "v1", "'freshness':'Stale'"));
    kc_scoped(kc__purge) p = purge_of(b);
    assert_false(kc__purge_run(&p));
    assert_string_equal(message_of(edit, &p, 0),
                        "Discovery failed for some groups, 1 failing: unable to retrieve the "
                        "complete list of server APIs: gone.example.com/v1: stale GroupVersion "
                        "discovery: gone.example.com/v1");
    kc_scoped(kc_error) err = {0};
    assert_true(kc__purge_error(&p, &err) < 0);
    assert_contains(kc_error_text(&err), "deletion of namespace default failed: Discovery failed");
}

static void failed_discovery_is_a_failure(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    bench_script(b, &(scripted){.status = 403});
    bench_script(b, &(scripted){.status = 403});
    kc_scoped(kc__purge) p = purge_of(b);
    assert_false(kc__purge_run(&p));
    assert_contains(p.undiscovered, "forbidden");
}

static void invalid_group_version_is_a_failure(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    kc_auto(kc_edit) *edit = kc_edit_new();
    answer(b, NO_GROUPS);
    answer(b, GROUP("odd/group", "v1", CONFIG_MAPS("['delete','list']")));
    kc_scoped(kc__purge) p = purge_of(b);
    assert_false(kc__purge_run(&p));
    assert_string_equal(message_of(edit, &p, 1), "unexpected GroupVersion string: odd/group/v1");
}

static size_t count_sent(bench *b, const char *start)
{
    size_t n = 0;
    for (size_t i = 0; i < bench_count(b); i++)
        n += !strncmp(bench_sent(b, i), start, strlen(start));
    return n;
}

static void objects_are_deleted_singly_without_deletecollection(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    kc_auto(kc_object) *one = created(b, "one"), *two = created(b, "two");
    bench_forget(b);
    answer(b, GROUP("", "v1", CONFIG_MAPS("['delete','list']")));
    answer(b, NO_GROUPS);
    kc_scoped(kc__purge) p = purge_of(b);
    assert_true(kc__purge_run(&p));
    assert_int_equal(p.estimate, 0);
    assert_int_equal(count_sent(b, "DELETE /api/v1/namespaces/default/configmaps/"), 2);
    assert_int_equal(count_sent(b, "DELETE /api/v1/namespaces/default/configmaps "), 0);
}

static void objects_are_deleted_with_deletecollection(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    kc_auto(kc_object) *one = created(b, "one"), *two = created(b, "two");
    bench_forget(b);
    answer(b, GROUP("", "v1", CONFIG_MAPS("['delete','deletecollection','list']")));
    answer(b, NO_GROUPS);
    kc_scoped(kc__purge) p = purge_of(b);
    assert_true(kc__purge_run(&p));
    assert_int_equal(count_sent(b, "DELETE /api/v1/namespaces/default/configmaps "), 1);
    assert_int_equal(count_sent(b, "DELETE "), 1);
}

static void deletecollection_with_405_falls_back_to_single_deletes(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    kc_auto(kc_object) *one = created(b, "one");
    answer(b, GROUP("", "v1", CONFIG_MAPS("['delete','deletecollection','list']")));
    answer(b, NO_GROUPS);
    bench_script(b, &(scripted){.status = 405});
    bench_forget(b);
    kc_scoped(kc__purge) p = purge_of(b);
    assert_true(kc__purge_run(&p));
    assert_int_equal(count_sent(b, "DELETE /api/v1/namespaces/default/configmaps/one"), 1);
}

static void each_resource_is_deleted_in_one_version(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    kc_scoped(kc__purge) p = purge_of(b);
    kc__purge_discover(&p);
    size_t autoscalers = 0;
    kc_vec_each (&p.content, c) {
        assert_true(c->kind->namespaced);
        autoscalers += !strcmp(c->kind->plural, "horizontalpodautoscalers");
    }
    assert_null(p.undiscovered);
    assert_int_equal(autoscalers, 1);
}

static void failed_resource_does_not_block_the_others(void **state)
{
    (void)state;
    kc_auto(bench) *b = bench_start();
    kc_auto(kc_edit) *edit = kc_edit_new();
    kc_auto(kc_object) *one = created(b, "one");
    answer(
        b,
        "{'kind':'APIGroupDiscoveryList','items':[{'metadata':{'name':''},'versions':[{'version':"
        "'v1','resources':[{'resource':'secrets','responseKind':{'kind':'Secret'},'scope':"
        "'Namespaced','verbs':['delete','deletecollection','list']},{'resource':'configmaps',"
        "'responseKind':{'kind':'ConfigMap'},'scope':'Namespaced','verbs':['delete',"
        "'deletecollection','list']}]}]}]}");
    answer(b, NO_GROUPS);
    bench_script(b, &(scripted){.status = 403});
    bench_forget(b);
    kc_scoped(kc__purge) p = purge_of(b);
    assert_false(kc__purge_run(&p));
    assert_string_equal(message_of(edit, &p, 2),
                        "Failed to delete all resource types, 1 remaining: forbidden (403)");
    assert_int_equal(count_sent(b, "DELETE /api/v1/namespaces/default/configmaps "), 1);
}

TESTS(stale_discovery_group_is_a_failure, failed_discovery_is_a_failure,
      invalid_group_version_is_a_failure, objects_are_deleted_singly_without_deletecollection,
      objects_are_deleted_with_deletecollection,
      deletecollection_with_405_falls_back_to_single_deletes,
      each_resource_is_deleted_in_one_version, failed_resource_does_not_block_the_others)
