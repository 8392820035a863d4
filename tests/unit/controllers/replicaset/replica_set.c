/* SPDX-License-Identifier: Apache-2.0 */
/* ReplicaSets: number of pods, ownership, status and events. */
#include "workload_testing.h"

#define SET &kc_kind_replica_set
#define POD &kc_kind_pod

static kc_testenv *with_set(uint64_t seed, int replicas)
{
    kc_testenv *env = workloads(seed, "replicaset");
    make_set(env, "web", replicas);
    settle(env);
    return env;
}

static void make_pod(kc_testenv *env, const char *name, const char *app)
{
    kc_autofree char *json = kc_asprintf(
        "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'%s','namespace':'default','labels':{"
        "'app':'%s'}},'spec':{'containers':[{'name':'c','image':'i'}]}}",
        name, app);
    kc_object_unref(make(env, json));
}

static bool controlled_by(kc_testenv *env, const char *pod, const char *set)
{
    kc_auto(kc_object) *p = look_up(env, POD, pod), *s = look_up(env, SET, set);
    return kc_object_controlled_by(p, kc_object_uid(s));
}

/* ---- pods ---- */

static void new_replica_set_creates_its_pods(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_set(1, 3);
    assert_int_equal(count_of(env, POD), 3);
    kc_scoped(kc_object_list) pods = all_of(env, POD);
    kc_auto(kc_object) *set = look_up(env, SET, "web");
    for (size_t i = 0; i < pods.n; i++) {
        assert_true(kc_object_controlled_by(pods.items[i], kc_object_uid(set)));
        assert_true(kc_object_label_is(pods.items[i], KC_STR("app"), KC_STR("web")));
        assert_true(kc_str_starts(kc_object_name(pods.items[i]), KC_STR("web-")));
        assert_contains(kc_object_owners_json(pods.items[i]).p, "\"blockOwnerDeletion\":true");
    }
    assert_int_equal(number_at(set, "status.replicas"), 3);
    assert_int_equal(number_at(set, "status.fullyLabeledReplicas"), 3);
    assert_int_equal(number_at(set, "status.readyReplicas"), 0);
    assert_int_equal(number_at(set, "status.observedGeneration"), 1);
}

static void scaling_records_events_of_the_controller(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_set(1, 1);
    kc_scoped(kc_object_list) pods = all_of(env, POD);
    kc_autofree char *made =
        kc_asprintf("Created pod: %.*s", KC_ARG(kc_object_name(pods.items[0])));
    kc_autofree char *gone =
        kc_asprintf("Deleted pod: %.*s", KC_ARG(kc_object_name(pods.items[0])));
    scale_to(env, SET, "web", 0);
    settle(env);
    assert_int_equal(events_of(env, "SuccessfulCreate", made), 1);
    assert_int_equal(events_of(env, "SuccessfulDelete", gone), 1);
    kc_scoped(kc_object_list) events = all_of(env, &kc_kind_event);
    for (size_t i = 0; i < events.n; i++) {
        kc_autofree char *who = text_at(events.items[i], "source.component");
        assert_string_equal(who, "replicaset-controller");
    }
}

static void pod_has_all_fields_of_the_template(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = workloads(1, "replicaset");
    kc_object_unref(make(
        env, "{'apiVersion':'apps/v1','kind':'ReplicaSet','metadata':{'name':'web','namespace':"
             "'default'},'spec':{'selector':{'matchLabels':{'app':'web'}},'template':{'metadata':{"
             "'labels':{'app':'web','tier':'front'},'annotations':{'note':'kept'},'finalizers':["
             "'example.com/keep']},'spec':{'hostname':'h','containers':[{'name':'c','image':'i',"
             "'args':['a','b']}]}}}}"));
    settle(env);
    kc_scoped(kc_object_list) pods = all_of(env, POD);
    assert_int_equal(pods.n, 1);
    const kc_object *pod = pods.items[0];
    assert_true(kc_object_label_is(pod, KC_STR("tier"), KC_STR("front")));
    assert_true(kc_object_annotation_is(pod, KC_STR("note"), KC_STR("kept")));
    assert_true(kc_object_has_finalizer(pod, KC_STR("example.com/keep")));
    assert_contains(kc_object_json(pod).p, "\"args\":[\"a\",\"b\"]");
    assert_contains(kc_object_json(pod).p, "\"generateName\":\"web-\"");
}

static void deleted_pod_is_replaced(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_set(2, 3);
    kc_scoped(kc_object_list) pods = all_of(env, POD);
    kc_client_delete(kc_testenv_client(env), POD, kc_object_key(pods.items[0]), NULL, NULL);
    settle(env);
    assert_int_equal(count_of(env, POD), 3);
    assert_null(
        kc_client_get(kc_testenv_client(env), POD, kc_object_key(pods.items[0]), NULL, NULL));
}

static void terminated_pod_is_replaced_and_kept(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_set(3, 2);
    kc_scoped(kc_object_list) pods = all_of(env, POD);
    set_pod(env, kc_object_name(pods.items[0]), "Failed", false);
    set_pod(env, kc_object_name(pods.items[1]), "Succeeded", false);
    settle(env);
    assert_int_equal(count_of(env, POD), 4);
    assert_int_equal(number_of(env, SET, "web", "status.replicas"), 2);
}

static void terminating_pod_does_not_count(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_set(4, 1);
    kc_scoped(kc_object_list) pods = all_of(env, POD);
    bind_pod(env, kc_object_name(pods.items[0]), "a-node");
    set_pod(env, kc_object_name(pods.items[0]), "Running", true);
    kc_client_delete(kc_testenv_client(env), POD, kc_object_key(pods.items[0]), NULL, NULL);
    settle(env);
    assert_int_equal(count_of(env, POD), 2);
    assert_int_equal(number_of(env, SET, "web", "status.replicas"), 1);
    assert_int_equal(number_of(env, SET, "web", "status.readyReplicas"), 0);
}

static void changed_replicas_scales_up_and_down(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_set(5, 3);
    scale_to(env, SET, "web", 20);
    settle(env);
    assert_int_equal(count_of(env, POD), 20);
    assert_int_equal(number_of(env, SET, "web", "status.replicas"), 20);
    scale_to(env, SET, "web", 7);
    settle(env);
    assert_int_equal(count_of(env, POD), 7);
    assert_int_equal(number_of(env, SET, "web", "status.replicas"), 7);
    scale_to(env, SET, "web", 0);
    settle(env);
    assert_int_equal(count_of(env, POD), 0);
    assert_int_equal(number_of(env, SET, "web", "status.observedGeneration"), 4);
}

static void more_pods_than_a_burst_take_several_reconciles(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_set(6, 1100);
    assert_int_equal(count_of(env, POD), 1100);
    scale_to(env, SET, "web", 2);
    settle(env);
    assert_int_equal(count_of(env, POD), 2);
}

static void terminating_replica_set_creates_no_pods(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_set(7, 2);
    kc_client_delete(kc_testenv_client(env), SET, KC_KEY("default", "web"),
                     &(kc_delete_opts){.propagation = "Foreground"}, NULL);
    settle(
        env); /* Watches of two kinds have no common order: the deletion of a pod may overtake. */
    kc_scoped(kc_object_list) pods = all_of(env, POD);
    kc_client_delete(kc_testenv_client(env), POD, kc_object_key(pods.items[0]), NULL, NULL);
    make_pod(env, "orphan", "web");
    settle(env);
    assert_int_equal(count_of(env, POD), 2);
    assert_false(controlled_by(env, "orphan", "web"));
    assert_int_equal(number_of(env, SET, "web", "status.replicas"), 1);
}

/* ---- ownership ---- */

static void matching_orphans_are_adopted(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = workloads(8, "replicaset");
    make_pod(env, "early", "web");
    make_pod(env, "other", "db");
    make_set(env, "web", 2);
    settle(env);
    assert_true(controlled_by(env, "early", "web"));
    assert_false(controlled_by(env, "other", "web"));
    assert_int_equal(count_of(env, POD), 3);
}

static void later_matching_orphan_replaces_a_pod(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_set(9, 2);
    assert_int_equal(run_pods(env), 2);
    settle(env);
    make_pod(env, "late", "web");
    settle(env);
    assert_int_equal(count_of(env, POD), 2);
    assert_null(look_up(env, POD, "late")); /* Adopted, and the first to go: it was not ready. */
}

static void pod_that_stops_matching_is_released_and_replaced(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_set(10, 2);
    kc_scoped(kc_object_list) pods = all_of(env, POD);
    patch_with(env, POD, kc_object_name(pods.items[0]), NULL,
               "{'metadata':{'labels':{'app':'debug'}}}");
    settle(env);
    assert_int_equal(count_of(env, POD), 3);
    kc_autofree char *name = kc_str_dup(kc_object_name(pods.items[0]));
    kc_auto(kc_object) *released = look_up(env, POD, name);
    assert_int_equal(kc_object_owners_json(released).n, 0);
    patch_with(env, POD, kc_object_name(released), NULL, "{'metadata':{'labels':{'app':'web'}}}");
    settle(env);
    assert_int_equal(count_of(env, POD), 2);
}

static void pods_of_other_owners_are_unchanged(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_set(11, 2);
    kc_scoped(kc_object_list) first = all_of(env, POD);
    make_set(env, "twin", 3); /* The same selector. */
    settle(env);
    assert_int_equal(count_of(env, POD), 5);
    for (size_t i = 0; i < first.n; i++) {
        kc_autofree char *name = kc_str_dup(kc_object_name(first.items[i]));
        assert_true(controlled_by(env, name, "web"));
    }
}

static void recreated_replica_set_does_not_adopt_pods_of_the_old_one(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_set(12, 2);
    kc_client_delete(kc_testenv_client(env), SET, KC_KEY("default", "web"),
                     &(kc_delete_opts){.propagation = "Background"}, NULL);
    make_set(env, "web", 2);
    settle(env);
    assert_int_equal(count_of(env, POD), 4); /* No garbage collector runs here. */
}

/* ---- status ---- */

static void ready_replicas_counts_ready_pods(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_set(13, 3);
    assert_int_equal(run_some_pods(env, 2), 2);
    settle(env);
    assert_int_equal(number_of(env, SET, "web", "status.readyReplicas"), 2);
    assert_int_equal(number_of(env, SET, "web", "status.availableReplicas"), 2);
    assert_int_equal(number_of(env, SET, "web", "status.terminatingReplicas"), 0);
}

static void fully_labeled_replicas_counts_all_template_labels(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = workloads(14, "replicaset");
    make_pod(env, "bare", "web");
    kc_object_unref(make(
        env, "{'apiVersion':'apps/v1','kind':'ReplicaSet','metadata':{'name':'web','namespace':"
             "'default'},'spec':{'replicas':2,'selector':{'matchLabels':{'app':'web'}},'template':{"
             "'metadata':{'labels':{'app':'web','tier':'front'}},'spec':{'containers':[{'name':'c',"
             "'image':'i'}]}}}}"));
    settle(env);
    assert_int_equal(number_of(env, SET, "web", "status.replicas"), 2);
    assert_int_equal(number_of(env, SET, "web", "status.fullyLabeledReplicas"), 1);
}

static void pod_is_available_after_min_ready_seconds(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = workloads(15, "replicaset");
    make_set_with(env, "web", 2, "'minReadySeconds':10");
    settle(env);
    run_some_pods(env, 1);
    settle(env);
    kc_testenv_advance(env, 4 * KC_SECOND);
    run_some_pods(env, 1);
    settle(env);
    assert_int_equal(number_of(env, SET, "web", "status.readyReplicas"), 2);
    assert_int_equal(number_of(env, SET, "web", "status.availableReplicas"), 0);
    kc_testenv_advance(env, 7 * KC_SECOND);
    assert_int_equal(number_of(env, SET, "web", "status.availableReplicas"), 1);
    kc_testenv_advance(env, 4 * KC_SECOND);
    assert_int_equal(number_of(env, SET, "web", "status.availableReplicas"), 2);
}

static void replica_failure_condition_is_set_until_creation_succeeds(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = workloads(16, "replicaset");
    kc_testenv_fault(
        env, &(kc_fault_opts){
                 .fault = KC_FAULT_UNAVAILABLE, .chance = 1, .kind = POD, .method = "POST"});
    make_set(env, "web", 10);
    kc_testenv_run(env, NULL);
    kc_testenv_advance(env, 10 * KC_SECOND);
    kc_auto(kc_object) *set = look_up(env, SET, "web");
    kc_autofree char *failure_condition = condition_of(set, "ReplicaFailure");
    assert_string_equal(failure_condition, "True FailedCreate");
    assert_true(events_of(env, "FailedCreate", NULL) > 0);
    kc_testenv_clear_faults(env);
    settle(env);
    kc_auto(kc_object) *then = look_up(env, SET, "web");
    kc_autofree char *after = condition_of(then, "ReplicaFailure");
    assert_string_equal(after, "");
    assert_int_equal(number_at(then, "status.replicas"), 10);
}

static void refused_creation_is_not_repeated_for_every_pod(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = workloads(17, "replicaset");
    kc_object_unref(make(
        env, "{'apiVersion':'apps/v1','kind':'ReplicaSet','metadata':{'name':'web','namespace':"
             "'default'},'spec':{'replicas':200,'selector':{'matchLabels':{'app':'web'}},"
             "'template':{'metadata':{'labels':{'app':'web'}},'spec':{'serviceAccountName':'none',"
             "'containers':[{'name':'c','image':'i'}]}}}}"));
    kc_testenv_fault(
        env,
        &(kc_fault_opts){.fault = KC_FAULT_TOO_MANY, .chance = 1, .kind = POD, .method = "POST"});
    kc_testenv_run(env, NULL);
    kc_testenv_advance(env, KC_MINUTE);
    assert_true(kc_testenv_faults(env, KC_FAULT_TOO_MANY) < 100);
}

static void terminating_namespace_gets_no_pods(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = workloads(18, "replicaset");
    kc_object_unref(make(env, "{'apiVersion':'v1','kind':'Namespace','metadata':{'name':'end'}}"));
    kc_object_unref(make(
        env, "{'apiVersion':'apps/v1','kind':'ReplicaSet','metadata':{'name':'web','namespace':"
             "'end'},'spec':{'replicas':0,'selector':{'matchLabels':{'app':'web'}},"
             "'template':" POD_TEMPLATE("i") "}}"));
    settle(env);
    kc_client_delete(kc_testenv_client(env), &kc_kind_namespace, KC_KEY("", "end"), NULL, NULL);
    kc_object_unref(kc_client_patch(kc_testenv_client(env), SET, KC_KEY("end", "web"),
                                    KC_PATCH_MERGE, KC_STR("{\"spec\":{\"replicas\":3}}"), NULL,
                                    NULL));
    settle(env);
    assert_int_equal(events_of(env, "FailedCreate", NULL), 0);
    kc_auto(kc_object) *set =
        kc_client_get(kc_testenv_client(env), SET, KC_KEY("end", "web"), NULL, NULL);
    kc_autofree char *failure_condition = condition_of(set, "ReplicaFailure");
    assert_string_equal(failure_condition, "");
    assert_int_equal(number_at(set, "status.observedGeneration"), 2);
}

TESTS(new_replica_set_creates_its_pods, scaling_records_events_of_the_controller,
      pod_has_all_fields_of_the_template, deleted_pod_is_replaced,
      terminated_pod_is_replaced_and_kept, terminating_pod_does_not_count,
      changed_replicas_scales_up_and_down, more_pods_than_a_burst_take_several_reconciles,
      terminating_replica_set_creates_no_pods, matching_orphans_are_adopted,
      later_matching_orphan_replaces_a_pod, pod_that_stops_matching_is_released_and_replaced,
      pods_of_other_owners_are_unchanged, recreated_replica_set_does_not_adopt_pods_of_the_old_one,
      ready_replicas_counts_ready_pods, fully_labeled_replicas_counts_all_template_labels,
      pod_is_available_after_min_ready_seconds,
      replica_failure_condition_is_set_until_creation_succeeds,
      refused_creation_is_not_repeated_for_every_pod, terminating_namespace_gets_no_pods)
