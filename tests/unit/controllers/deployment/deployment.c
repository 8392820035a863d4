/* SPDX-License-Identifier: Apache-2.0 */
/* Deployments: ReplicaSets of each template, revisions, complete rollouts. */
#include "workload_testing.h"

#define DEPLOYMENT &kc_kind_deployment
#define SET        &kc_kind_replica_set
#define POD        &kc_kind_pod
#define BOTH       "deployment,replicaset"

static kc_testenv *with_deployment(uint64_t seed, int replicas, const char *more)
{
    kc_testenv *env = workloads(seed, BOTH);
    make_deployment_with(env, "web", replicas, more);
    run_to_end(env);
    return env;
}

static int64_t status_of(kc_testenv *env, const char *counter)
{
    kc_autofree char *path = kc_asprintf("status.%s", counter);
    return number_of(env, DEPLOYMENT, "web", path);
}

static char *condition_text(kc_testenv *env, const char *type)
{
    kc_auto(kc_object) *d = look_up(env, DEPLOYMENT, "web");
    return condition_of(d, type);
}

#define assert_condition(env, type, what)                         \
    do {                                                          \
        kc_autofree char *condition_ = condition_text(env, type); \
        assert_string_equal(condition_, what);                    \
    } while (0)

static char *annotation_of(const kc_object *object, const char *name)
{
    kc_scoped(kc_arena) arena = {0};
    kc_str value = kc_object_annotation(object, kc_cstr(name), &arena);
    return kc_str_dup(value);
}

/* The set whose pods have this image; NULL when there is none. */
static kc_object *set_of(kc_testenv *env, const char *image)
{
    kc_scoped(kc_object_list) sets = all_of(env, SET);
    kc_autofree char *part = kc_asprintf("\"image\":\"%s\"", image);
    for (size_t i = 0; i < sets.n; i++)
        if (strstr(kc_object_json(sets.items[i]).p, part))
            return kc_object_ref(sets.items[i]);
    return NULL;
}

static int64_t size_of(kc_testenv *env, const char *image)
{
    kc_auto(kc_object) *set = set_of(env, image);
    return set ? number_at(set, "spec.replicas") : -1;
}

static void assert_annotation(const kc_object *object, const char *name, const char *value)
{
    kc_autofree char *is = annotation_of(object, name);
    assert_string_equal(is, value);
}

/* ---- sets ---- */

static void new_deployment_gets_a_replica_set_and_pods(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_deployment(1, 3, "");
    kc_scoped(kc_object_list) sets = all_of(env, SET);
    assert_int_equal(sets.n, 1);
    assert_int_equal(count_of(env, POD), 3);
    kc_auto(kc_object) *d = look_up(env, DEPLOYMENT, "web");
    assert_true(kc_object_controlled_by(sets.items[0], kc_object_uid(d)));
    assert_annotation(sets.items[0], "deployment.kubernetes.io/revision", "1");
    assert_annotation(sets.items[0], "deployment.kubernetes.io/desired-replicas", "3");
    assert_annotation(sets.items[0], "deployment.kubernetes.io/max-replicas", "4");
    assert_annotation(d, "deployment.kubernetes.io/revision", "1");
    assert_int_equal(number_at(d, "status.replicas"), 3);
    assert_int_equal(number_at(d, "status.updatedReplicas"), 3);
    assert_int_equal(number_at(d, "status.readyReplicas"), 3);
    assert_int_equal(number_at(d, "status.availableReplicas"), 3);
    assert_int_equal(number_at(d, "status.unavailableReplicas"), 0);
    assert_int_equal(number_at(d, "status.observedGeneration"), kc_object_generation(d));
    assert_condition(env, "Available", "True MinimumReplicasAvailable");
    assert_condition(env, "Progressing", "True NewReplicaSetAvailable");
}

static void replica_set_is_named_and_labelled_by_template_hash(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_deployment(1, 1, "");
    kc_scoped(kc_object_list) sets = all_of(env, SET), pods = all_of(env, POD);
    kc_scoped(kc_arena) arena = {0};
    kc_str hash = kc_object_label(sets.items[0], KC_STR("pod-template-hash"), &arena);
    assert_in_range(hash.n, 5, 10);
    kc_autofree char *name = kc_asprintf("web-%.*s", KC_ARG(hash));
    assert_str(kc_object_name(sets.items[0]), name);
    assert_true(kc_object_label_is(pods.items[0], KC_STR("pod-template-hash"), hash));
    assert_true(kc_object_label_is(pods.items[0], KC_STR("app"), KC_STR("web")));
    kc_autofree char *selected =
        text_at(sets.items[0], "spec.selector.matchLabels.pod-template-hash");
    assert_str(hash, selected);
}

static void scaling_records_events(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_deployment(1, 3, "");
    kc_scoped(kc_object_list) sets = all_of(env, SET);
    kc_str name = kc_object_name(sets.items[0]);
    kc_autofree char *up = kc_asprintf("Scaled up replica set %.*s from 0 to 3", KC_ARG(name));
    kc_autofree char *down = kc_asprintf("Scaled down replica set %.*s from 3 to 1", KC_ARG(name));
    scale_to(env, DEPLOYMENT, "web", 1);
    run_to_end(env);
    assert_int_equal(events_of(env, "ScalingReplicaSet", up), 1);
    assert_int_equal(events_of(env, "ScalingReplicaSet", down), 1);
    assert_int_equal(count_of(env, POD), 1);
}

static void annotations_are_copied_to_the_current_replica_set(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_deployment(1, 1, "");
    patch_with(env, DEPLOYMENT, KC_STR("web"), NULL,
               "{'metadata':{'annotations':{'kubernetes.io/change-cause':'because',"
               "'kubectl.kubernetes.io/last-applied-configuration':'{}'}}}");
    settle(env);
    kc_scoped(kc_object_list) sets = all_of(env, SET);
    assert_annotation(sets.items[0], "kubernetes.io/change-cause", "because");
    assert_annotation(sets.items[0], "kubectl.kubernetes.io/last-applied-configuration", "");
}

static void matching_replica_set_is_adopted_with_its_pods(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = workloads(2, BOTH);
    kc_object_unref(make(
        env, "{'apiVersion':'apps/v1','kind':'ReplicaSet','metadata':{'name':'early','namespace':"
             "'default','labels':{'app':'web'}},'spec':{'replicas':2,'selector':{'matchLabels':{"
             "'app':'web'}},'template':" POD_TEMPLATE("web:1") "}}"));
    run_to_end(env);
    make_deployment(env, "web", 2);
    run_to_end(env);
    assert_int_equal(count_of(env, SET), 1);
    assert_int_equal(count_of(env, POD), 2);
    kc_auto(kc_object) *set = look_up(env, SET, "early"), *d = look_up(env, DEPLOYMENT, "web");
    assert_true(kc_object_controlled_by(set, kc_object_uid(d)));
    assert_annotation(set, "deployment.kubernetes.io/revision", "1");
    assert_condition(env, "Progressing", "True NewReplicaSetAvailable");
}

static void replica_set_that_stops_matching_is_released(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_deployment(3, 2, "");
    kc_scoped(kc_object_list) sets = all_of(env, SET);
    kc_autofree char *name = kc_str_dup(kc_object_name(sets.items[0]));
    patch_with(env, SET, kc_cstr(name), NULL, "{'metadata':{'labels':{'app':null}}}");
    run_to_end(env);
    kc_auto(kc_object) *released = look_up(env, SET, name);
    assert_int_equal(kc_object_owners_json(released).n, 0);
}

static void name_of_foreign_replica_set_is_a_collision(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_deployment(4, 1, "");
    kc_scoped(kc_object_list) sets = all_of(env, SET);
    kc_autofree char *taken = kc_str_dup(kc_object_name(sets.items[0]));
    kc_client *client = kc_testenv_client(env);
    kc_client_delete(client, DEPLOYMENT, KC_KEY("default", "web"),
                     &(kc_delete_opts){.propagation = "Background"}, NULL);
    kc_client_delete(client, SET, KC_KEY("default", taken), NULL, NULL);
    settle(env);
    kc_autofree char *json = kc_asprintf(
        "{'apiVersion':'apps/v1','kind':'ReplicaSet','metadata':{'name':'%s','namespace':'default'}"
        ",'spec':{'replicas':0,'selector':{'matchLabels':{'app':'other'}},'template':{'metadata':{"
        "'labels':{'app':'other'}},'spec':{'containers':[{'name':'c','image':'i'}]}}}}",
        taken);
    kc_object_unref(make(env, json));
    kc_object_unref(
        make(env, "{'apiVersion':'apps/v1','kind':'Deployment','metadata':{'name':'web','namespace'"
                  ":'default'},'spec':{'replicas':1,'selector':{'matchLabels':{'app':'web'}},"
                  "'template':" POD_TEMPLATE("web:1") "}}"));
    run_to_end(env);
    assert_int_equal(status_of(env, "collisionCount"), 1);
    assert_int_equal(count_of(env, SET), 2);
    assert_int_equal(status_of(env, "availableReplicas"), 1);
}

static void deployments_with_equal_templates_do_not_mix(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_deployment(5, 2, "");
    make_deployment(env, "twin", 3);
    run_to_end(env);
    assert_int_equal(count_of(env, SET), 2);
    assert_int_equal(count_of(env, POD), 5);
    assert_int_equal(number_of(env, DEPLOYMENT, "twin", "status.availableReplicas"), 3);
    assert_int_equal(status_of(env, "availableReplicas"), 2);
}

static void terminating_deployment_creates_nothing(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_deployment(6, 2, "");
    kc_client_delete(kc_testenv_client(env), DEPLOYMENT, KC_KEY("default", "web"),
                     &(kc_delete_opts){.propagation = "Foreground"}, NULL);
    set_image(env, "web", "web:2");
    run_to_end(env);
    assert_int_equal(count_of(env, SET), 1);
    assert_int_equal(size_of(env, "web:1"), 2);
}

/* ---- revisions ---- */

static void new_template_gets_a_replica_set_and_a_revision(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_deployment(7, 4, "");
    set_image(env, "web", "web:2");
    run_to_end(env);
    assert_int_equal(count_of(env, SET), 2);
    assert_int_equal(size_of(env, "web:1"), 0);
    assert_int_equal(size_of(env, "web:2"), 4);
    kc_auto(kc_object) *d = look_up(env, DEPLOYMENT, "web"), *set = set_of(env, "web:2");
    assert_annotation(d, "deployment.kubernetes.io/revision", "2");
    assert_annotation(set, "deployment.kubernetes.io/revision", "2");
    assert_condition(env, "Progressing", "True NewReplicaSetAvailable");
    assert_int_equal(status_of(env, "updatedReplicas"), 4);
    assert_int_equal(status_of(env, "observedGeneration"), kc_object_generation(d));
}

static void restored_template_reuses_its_replica_set_with_a_new_revision(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_deployment(8, 2, "");
    set_image(env, "web", "web:2");
    run_to_end(env);
    set_image(env, "web", "web:1");
    run_to_end(env);
    assert_int_equal(count_of(env, SET), 2);
    assert_int_equal(size_of(env, "web:1"), 2);
    assert_int_equal(size_of(env, "web:2"), 0);
    kc_auto(kc_object) *set = set_of(env, "web:1"), *d = look_up(env, DEPLOYMENT, "web");
    assert_annotation(set, "deployment.kubernetes.io/revision", "3");
    assert_annotation(set, "deployment.kubernetes.io/revision-history", "1");
    assert_annotation(d, "deployment.kubernetes.io/revision", "3");
    set_image(env, "web", "web:2");
    run_to_end(env);
    set_image(env, "web", "web:1");
    run_to_end(env);
    kc_auto(kc_object) *again = set_of(env, "web:1");
    assert_annotation(again, "deployment.kubernetes.io/revision", "5");
    assert_annotation(again, "deployment.kubernetes.io/revision-history", "1,3");
}

static void rollback_annotation_restores_the_revision(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_deployment(9, 2, "");
    set_image(env, "web", "web:2");
    run_to_end(env);
    patch_with(env, DEPLOYMENT, KC_STR("web"), NULL,
               "{'metadata':{'annotations':{'deprecated.deployment.rollback.to':'1'}}}");
    run_to_end(env);
    assert_int_equal(size_of(env, "web:1"), 2);
    assert_int_equal(
        events_of(env, "DeploymentRollback", "Rolled back deployment \"web\" to revision 1"), 1);
    patch_with(env, DEPLOYMENT, KC_STR("web"), NULL,
               "{'metadata':{'annotations':{'deprecated.deployment.rollback.to':'0'}}}");
    run_to_end(env);
    assert_int_equal(size_of(env, "web:2"), 2);
    patch_with(env, DEPLOYMENT, KC_STR("web"), NULL,
               "{'metadata':{'annotations':{'deprecated.deployment.rollback.to':'77'}}}");
    run_to_end(env);
    assert_int_equal(events_of(env, "DeploymentRollbackRevisionNotFound",
                               "Unable to find the revision to rollback to."),
                     1);
    kc_auto(kc_object) *d = look_up(env, DEPLOYMENT, "web");
    assert_annotation(d, "deprecated.deployment.rollback.to", "");
}

static void old_replica_sets_are_kept_up_to_the_limit(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_deployment(10, 1, "'revisionHistoryLimit':2");
    const char *const images[] = {"web:2", "web:3", "web:4", "web:5"};
    for (size_t i = 0; i < KC_COUNT(images); i++) {
        set_image(env, "web", images[i]);
        run_to_end(env);
    }
    assert_int_equal(count_of(env, SET), 3);
    assert_int_equal(size_of(env, "web:5"), 1);
    assert_int_equal(size_of(env, "web:4"), 0);
    assert_int_equal(size_of(env, "web:3"), 0);
    assert_int_equal(size_of(env, "web:2"), -1);
}

/* ---- pausing ---- */

static void paused_deployment_scales_without_rollout(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_deployment(11, 2, "");
    patch_with(env, DEPLOYMENT, KC_STR("web"), NULL, "{'spec':{'paused':true}}");
    settle(env);
    assert_condition(env, "Progressing", "Unknown DeploymentPaused");
    set_image(env, "web", "web:2");
    scale_to(env, DEPLOYMENT, "web", 5);
    run_to_end(env);
    assert_int_equal(count_of(env, SET), 1);
    assert_int_equal(size_of(env, "web:1"), 5);
    assert_int_equal(status_of(env, "updatedReplicas"), 0);
    kc_auto(kc_object) *d = look_up(env, DEPLOYMENT, "web");
    assert_int_equal(status_of(env, "observedGeneration"), kc_object_generation(d));
    patch_with(env, DEPLOYMENT, KC_STR("web"), NULL, "{'spec':{'paused':null}}");
    settle(env);
    run_to_end(env);
    assert_int_equal(size_of(env, "web:2"), 5);
    assert_condition(env, "Progressing", "True NewReplicaSetAvailable");
}

static void paused_rollout_keeps_its_state(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env =
        with_deployment(12, 4, "'strategy':{'rollingUpdate':{'maxSurge':1,'maxUnavailable':0}}");
    set_image(env, "web", "web:2");
    settle(env);
    run_pods(env);
    settle(env);
    patch_with(env, DEPLOYMENT, KC_STR("web"), NULL, "{'spec':{'paused':true}}");
    const int64_t size = size_of(env, "web:2");
    run_to_end(env);
    assert_in_range(size_of(env, "web:2"), size, size + 1);
    assert_true(size_of(env, "web:1") > 0);
    patch_with(env, DEPLOYMENT, KC_STR("web"), NULL, "{'spec':{'paused':false}}");
    run_to_end(env);
    assert_int_equal(size_of(env, "web:2"), 4);
}

/* ---- deadlines ---- */

static void stuck_rollout_exceeds_its_progress_deadline(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_deployment(13, 2, "'progressDeadlineSeconds':30");
    set_image(env, "web", "web:broken");
    settle(env);
    assert_condition(env, "Progressing", "True ReplicaSetUpdated");
    kc_testenv_advance(env, 20 * KC_SECOND);
    assert_condition(env, "Progressing", "True ReplicaSetUpdated");
    kc_testenv_advance(env, 13 * KC_SECOND);
    assert_condition(env, "Progressing", "False ProgressDeadlineExceeded");
    assert_condition(env, "Available", "True MinimumReplicasAvailable");
    run_to_end(env);
    assert_condition(env, "Progressing", "True NewReplicaSetAvailable");
}

static void pause_does_not_count_towards_the_progress_deadline(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_deployment(14, 2, "'progressDeadlineSeconds':30");
    set_image(env, "web", "web:2");
    settle(env);
    patch_with(env, DEPLOYMENT, KC_STR("web"), NULL, "{'spec':{'paused':true}}");
    settle(env);
    kc_testenv_advance(env, 5 * KC_MINUTE);
    assert_condition(env, "Progressing", "Unknown DeploymentPaused");
    patch_with(env, DEPLOYMENT, KC_STR("web"), NULL, "{'spec':{'paused':false}}");
    settle(env);
    kc_testenv_advance(env, 20 * KC_SECOND);
    assert_condition(env, "Progressing", "Unknown DeploymentResumed");
    kc_testenv_advance(env, 15 * KC_SECOND);
    assert_condition(env, "Progressing", "False ProgressDeadlineExceeded");
}

static void progress_is_not_reported_without_a_deadline(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_deployment(15, 1, "'progressDeadlineSeconds':2147483647");
    assert_condition(env, "Progressing", "");
    assert_condition(env, "Available", "True MinimumReplicasAvailable");
}

static void replica_set_failures_are_reported(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = workloads(16, BOTH);
    kc_testenv_fault(
        env, &(kc_fault_opts){
                 .fault = KC_FAULT_UNAVAILABLE, .chance = 1, .kind = POD, .method = "POST"});
    make_deployment(env, "web", 2);
    kc_testenv_run(env, NULL);
    kc_testenv_advance(env, 10 * KC_SECOND);
    assert_condition(env, "ReplicaFailure", "True FailedCreate");
    assert_condition(env, "Available", "False MinimumReplicasUnavailable");
    kc_testenv_clear_faults(env);
    run_to_end(env);
    assert_condition(env, "ReplicaFailure", "");
    assert_condition(env, "Progressing", "True NewReplicaSetAvailable");
}

TESTS(new_deployment_gets_a_replica_set_and_pods,
      replica_set_is_named_and_labelled_by_template_hash, scaling_records_events,
      annotations_are_copied_to_the_current_replica_set,
      matching_replica_set_is_adopted_with_its_pods, replica_set_that_stops_matching_is_released,
      name_of_foreign_replica_set_is_a_collision, deployments_with_equal_templates_do_not_mix,
      terminating_deployment_creates_nothing, new_template_gets_a_replica_set_and_a_revision,
      restored_template_reuses_its_replica_set_with_a_new_revision,
      rollback_annotation_restores_the_revision, old_replica_sets_are_kept_up_to_the_limit,
      paused_deployment_scales_without_rollout, paused_rollout_keeps_its_state,
      stuck_rollout_exceeds_its_progress_deadline,
      pause_does_not_count_towards_the_progress_deadline,
      progress_is_not_reported_without_a_deadline, replica_set_failures_are_reported)
