/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Applications: their status follows their pods. The test creates the pods and sets their
 * readiness.
 */
#include "reconciler_testing.h"

#include "api/apps_v1alpha1/zz_generated.h"

#include "kc/conditions.h"
#include "kc/kinds.h"

#define READY \
    "{\"status\":{\"phase\":\"Running\",\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}}"
#define NOT_READY \
    "{\"status\":{\"phase\":\"Running\",\"conditions\":[{\"type\":\"Ready\",\"status\":\"False\"}]}}"

static void definition(kc_testenv *env)
{
    apply_file(env, "../manifests/application/apps.example.io_applications.yaml");
}

static void make_application(kc_testenv *env, const char *ns, const char *name, const char *spec)
{
    kc_autofree char *json =
        kc_asprintf("{'apiVersion':'apps.example.io/v1alpha1','kind':'Application','metadata':{"
                    "'name':'%s','namespace':'%s'},'spec':{%s}}",
                    name, ns, spec);
    kc_auto(kc_object) *made = make(env, json);
}

static void make_pod_in(kc_testenv *env, const char *ns, const char *name, const char *of,
                        const char *image)
{
    kc_autofree char *json =
        kc_asprintf("{'apiVersion':'v1','kind':'Pod','metadata':{'name':'%s','namespace':'%s',"
                    "'labels':{'apps.example.io/application':'%s'}},'spec':{'containers':[{'name':"
                    "'c','image':'%s'}]}}",
                    name, ns, of, image);
    kc_auto(kc_object) *made = make(env, json);
}

static void make_pod(kc_testenv *env, const char *name, const char *of)
{
    make_pod_in(env, "default", name, of, "nginx");
}

static void patch_status(kc_testenv *env, const char *name, const char *status)
{
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_object) *now = kc_client_patch(
        kc_testenv_client(env), &kc_kind_pod, KC_KEY("default", name), KC_PATCH_MERGE,
        kc_cstr(status), &(kc_write_opts){.subresource = "status"}, &err);
    OK(now ? 0 : -1, &err);
}

static void move_pod(kc_testenv *env, const char *name, const char *to)
{
    kc_autofree char *patch =
        kc_asprintf("{'metadata':{'labels':{'apps.example.io/application':%s}}}", to);
    patch_object(env, &kc_kind_pod, name, patch);
}

static void delete_pod(kc_testenv *env, const char *name, bool now)
{
    kc_scoped(kc_error) err = {0};
    OK(kc_client_delete(kc_testenv_client(env), &kc_kind_pod, KC_KEY("default", name),
                        &(kc_delete_opts){.immediately = now}, &err),
       &err);
}

/* Longer than keys wait for the end of a crowd. */
static void wait_and_settle(kc_testenv *env)
{
    kc_testenv_advance(env, KC_SECOND);
    settle(env);
}

static void assert_pods(kc_testenv *env, const char *name, const char *pods, const char *ready)
{
    assert_field_is(env, &application_kind, name, "status.pods", pods);
    assert_field_is(env, &application_kind, name, "status.readyPods", ready);
}

/* Whether it is available, and why. */
static void assert_available(kc_testenv *env, const char *name, const char *is, const char *message)
{
    kc_scoped(kc_arena) arena = {0};
    kc_condition found = {0};
    kc_auto(kc_object) *object = look_up(env, &application_kind, name);
    assert_true(kc_condition_get(object, KC_STR("Available"), &arena, &found));
    assert_str(found.status, is);
    assert_str(found.message, message);
    assert_str(found.reason, !strcmp(is, "True") ? "EnoughPodsReady" : "TooFewPodsReady");
    assert_int_equal(found.observed_generation, kc_object_generation(object));
}

/* ---- scenario: deployed, ready, and a pod moved to another application ---- */

static void two_and_three_pods(kc_testenv *env)
{
    apply_file(env, "../manifests/application/cr.yaml");
    make_application(env, "default", "other", "");
    make_pod(env, "web-1", "shop");
    make_pod(env, "web-2", "shop");
    make_pod(env, "web-3", "shop");
}

static bool is_ready(kc_testenv *env, const char *pod)
{
    kc_autofree char *phase = text_of(env, &kc_kind_pod, pod, "status.phase");
    return !strcmp(phase, "Running");
}

static void one_step_more(kc_testenv *env)
{
    kc_auto(kc_object) *last = look_up(env, &kc_kind_pod, "web-3");
    if (!last)
        return;
    if (!is_ready(env, "web-1"))
        patch_status(env, "web-1", READY);
    else if (!is_ready(env, "web-2"))
        patch_status(env, "web-2", READY);
    else
        move_pod(env, "web-3", "'other'");
}

static void both_are_right(kc_testenv *env)
{
    assert_pods(env, "shop", "2", "2");
    assert_available(env, "shop", "True", "2 of its pods are ready, 2 are required");
    assert_field_is(env, &application_kind, "shop", "status.images", "[\"nginx\"]");
    assert_field_is(env, &application_kind, "shop", "status.observedGeneration", "1");
    assert_pods(env, "other", "1", "0");
    assert_available(env, "other", "False", "0 of its pods are ready, 1 is required");
}

static const scenario moves = {.reconcilers = "application",
                               .before = definition,
                               .event = two_and_three_pods,
                               .outside = one_step_more,
                               .takes = 10 * KC_SECOND,
                               .end = both_are_right};

static void final_status_has_correct_counts(void **state)
{
    (void)state;
    scenario_converges(&moves);
}

static void converges_under_faults(void **state)
{
    (void)state;
    scenario_converges_after_crashes(&moves);
    scenario_converges_with_stale_cache(&moves);
    scenario_converges_with_missed_events(&moves);
    scenario_converges_with_bad_network(&moves);
}

/* ---- reports ---- */

static kc_testenv *with_application(const char *spec)
{
    kc_testenv *env = scenario_begin(&moves, 1);
    make_application(env, "default", "shop", spec);
    return env;
}

static void application_without_pods_is_unavailable(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_application("'description':'nothing yet'");
    wait_and_settle(env);
    assert_pods(env, "shop", "0", "0");
    assert_field_is(env, &application_kind, "shop", "status.images", "");
    assert_available(env, "shop", "False", "0 of its pods are ready, 1 is required");
    assert_int_equal(count_recorded_events(env, "Unavailable", ""), 0);
}

static void application_requiring_no_pods_is_available(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_application("'minReady':0");
    wait_and_settle(env);
    assert_available(env, "shop", "True", "0 of its pods are ready, 0 are required");
}

static void availability_changes_record_events(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_application("");
    make_pod(env, "web-1", "shop");
    wait_and_settle(env);
    assert_int_equal(count_recorded_events(env, "Available", ""), 0);
    patch_status(env, "web-1", READY);
    wait_and_settle(env);
    assert_available(env, "shop", "True", "1 of its pods is ready, 1 is required");
    assert_int_equal(
        count_recorded_events(env, "Available", "1 of its pods is ready, 1 is required"), 1);
    patch_status(env, "web-1", NOT_READY);
    wait_and_settle(env);
    assert_available(env, "shop", "False", "0 of its pods are ready, 1 is required");
    assert_int_equal(
        count_recorded_events(env, "Unavailable", "0 of its pods are ready, 1 is required"), 1);
}

static void changed_min_ready_changes_availability(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_application("");
    make_pod(env, "web-1", "shop");
    patch_status(env, "web-1", READY);
    wait_and_settle(env);
    assert_available(env, "shop", "True", "1 of its pods is ready, 1 is required");
    patch_object(env, &application_kind, "shop", "{'spec':{'minReady':2}}");
    wait_and_settle(env);
    assert_available(env, "shop", "False", "1 of its pods is ready, 2 are required");
    assert_field_is(env, &application_kind, "shop", "status.observedGeneration", "2");
}

static void images_are_unique_sorted_and_limited(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_application("");
    make_pod_in(env, "default", "b", "shop", "redis:7");
    make_pod_in(env, "default", "a", "shop", "nginx:1.27");
    make_pod_in(env, "default", "c", "shop", "redis:7");
    wait_and_settle(env);
    assert_field_is(env, &application_kind, "shop", "status.images",
                    "[\"nginx:1.27\",\"redis:7\"]");
    for (int i = 0; i < 40; i++) {
        kc_autofree char *name = kc_asprintf("many-%d", i), *image = kc_asprintf("image:%02d", i);
        make_pod_in(env, "default", name, "shop", image);
    }
    wait_and_settle(env);
    assert_pods(env, "shop", "43", "0");
    kc_auto(application) *shop =
        application_get(kc_testenv_client(env), KC_KEY("default", "shop"), NULL);
    assert_int_equal(shop->status.n_images, 32);
    assert_string_equal(shop->status.images[31], "image:31");
}

/* ---- selected pods ---- */

static void moved_pod_is_counted_by_both_applications(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_application("");
    make_application(env, "default", "other", "");
    make_pod(env, "web-1", "shop");
    wait_and_settle(env);
    assert_pods(env, "shop", "1", "0");
    assert_pods(env, "other", "0", "0");
    move_pod(env, "web-1", "'other'");
    wait_and_settle(env);
    assert_pods(env, "shop", "0", "0");
    assert_pods(env, "other", "1", "0");
    move_pod(env, "web-1", "null");
    wait_and_settle(env);
    assert_pods(env, "other", "0", "0");
}

static void terminated_and_terminating_pods_are_not_counted(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_application("");
    make_pod(env, "web-1", "shop");
    make_pod(env, "web-2", "shop");
    make_pod(env, "web-3", "shop");
    patch_status(env, "web-1", READY);
    wait_and_settle(env);
    assert_pods(env, "shop", "3", "1");
    patch_status(env, "web-1", "{\"status\":{\"phase\":\"Succeeded\"}}");
    wait_and_settle(env);
    assert_pods(env, "shop", "2", "0");
    delete_pod(env, "web-2", true);
    wait_and_settle(env);
    assert_pods(env, "shop", "1", "0");
    /* One on a node is there until that has stopped it. */
    patch_object(env, &kc_kind_pod, "web-3", "{'metadata':{'finalizers':['example.io/wait']}}");
    delete_pod(env, "web-3", true);
    wait_and_settle(env);
    kc_auto(kc_object) *going = look_up(env, &kc_kind_pod, "web-3");
    assert_non_null(going);
    assert_pods(env, "shop", "0", "0");
}

static void pods_of_other_namespaces_are_not_counted(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_application("");
    kc_auto(kc_object) *ns =
        make(env, "{'apiVersion':'v1','kind':'Namespace','metadata':{'name':'far'}}");
    make_pod_in(env, "far", "web-1", "shop", "nginx");
    make_pod_in(env, "far", "web-2", "shop", "nginx");
    make_pod(env, "web-1", "shop");
    wait_and_settle(env);
    assert_pods(env, "shop", "1", "0");
    make_application(env, "far", "shop", "");
    wait_and_settle(env);
    kc_auto(application) *far =
        application_get(kc_testenv_client(env), KC_KEY("far", "shop"), NULL);
    assert_int_equal(far->status.pods, 2);
}

static void existing_pods_are_counted_by_new_application(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = scenario_begin(&moves, 1);
    make_pod(env, "web-1", "late");
    wait_and_settle(env);
    make_application(env, "default", "late", "");
    wait_and_settle(env);
    assert_pods(env, "late", "1", "0");
}

/* ---- many pods ---- */

enum { CROWD = 1000 };

static void for_each_of_many_pods(kc_testenv *env, void (*act)(kc_testenv *env, const char *name))
{
    for (int i = 0; i < CROWD; i++) {
        kc_autofree char *name = kc_asprintf("web-%d", i);
        act(env, name);
    }
}

static void create_member_pod(kc_testenv *env, const char *name)
{
    make_pod(env, name, "shop");
}

static void make_pod_ready(kc_testenv *env, const char *name)
{
    patch_status(env, name, READY);
}

static void touch_pod(kc_testenv *env, const char *name)
{
    patch_object(env, &kc_kind_pod, name, "{'metadata':{'annotations':{'touched':'yes'}}}");
}

/* Three crowds: the second changes nothing in sum, so nothing of the object may change. The others
 * cost some writes at most: after so many the reconciler would end. */
static void burst_of_changes_is_coalesced(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_application("");
    wait_and_settle(env);
    kc_testenv_crash_after(env, 10);
    for_each_of_many_pods(env, create_member_pod);
    wait_and_settle(env);
    assert_pods(env, "shop", "1000", "0");

    kc_autofree char *before = text_of(env, &application_kind, "shop", "metadata.resourceVersion");
    for_each_of_many_pods(env, touch_pod);
    wait_and_settle(env);
    assert_field_is(env, &application_kind, "shop", "metadata.resourceVersion", before);

    for_each_of_many_pods(env, make_pod_ready);
    wait_and_settle(env);
    assert_pods(env, "shop", "1000", "1000");
    assert_false(kc_testenv_crashed(env));
}

TESTS(final_status_has_correct_counts, converges_under_faults,
      application_without_pods_is_unavailable, application_requiring_no_pods_is_available,
      availability_changes_record_events, changed_min_ready_changes_availability,
      images_are_unique_sorted_and_limited, moved_pod_is_counted_by_both_applications,
      terminated_and_terminating_pods_are_not_counted, pods_of_other_namespaces_are_not_counted,
      existing_pods_are_counted_by_new_application, burst_of_changes_is_coalesced)
