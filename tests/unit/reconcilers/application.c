/* SPDX-License-Identifier: Apache-2.0 */
/* Applications: what they say of their pods. Pods are the test's, and so is whether they are ready.
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
    patch_it(env, &kc_kind_pod, name, patch);
}

static void delete_pod(kc_testenv *env, const char *name, bool now)
{
    kc_scoped(kc_error) err = {0};
    OK(kc_client_delete(kc_testenv_client(env), &kc_kind_pod, KC_KEY("default", name),
                        &(kc_delete_opts){.now = now}, &err),
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
    assert_says(env, &application_kind, name, "status.pods", pods);
    assert_says(env, &application_kind, name, "status.readyPods", ready);
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

/* ---- a story: it is deployed, becomes ready, and a pod of it is given to another ---- */

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
    assert_available(env, "shop", "True", "2 of its pods are ready, 2 are needed");
    assert_says(env, &application_kind, "shop", "status.images", "[\"nginx\"]");
    assert_says(env, &application_kind, "shop", "status.observedGeneration", "1");
    assert_pods(env, "other", "1", "0");
    assert_available(env, "other", "False", "0 of its pods are ready, 1 is needed");
}

static const story moves = {.reconcilers = "application",
                            .before = definition,
                            .event = two_and_three_pods,
                            .outside = one_step_more,
                            .takes = 10 * KC_SECOND,
                            .end = both_are_right};

static void it_ends_with_the_right_numbers(void **state)
{
    (void)state;
    it_ends_well(&moves);
}

static void it_survives_everything(void **state)
{
    (void)state;
    it_survives_a_crash_after_any_write(&moves);
    it_survives_a_stale_cache(&moves);
    it_survives_missed_events(&moves);
    it_survives_a_bad_network(&moves);
}

/* ---- what it says ---- */

static kc_testenv *with_application(const char *spec)
{
    kc_testenv *env = story_begin(&moves, 1);
    make_application(env, "default", "shop", spec);
    return env;
}

static void one_without_pods_says_so(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_application("'description':'nothing yet'");
    wait_and_settle(env);
    assert_pods(env, "shop", "0", "0");
    assert_says(env, &application_kind, "shop", "status.images", "");
    assert_available(env, "shop", "False", "0 of its pods are ready, 1 is needed");
    assert_int_equal(events_told(env, "Unavailable", ""), 0);
}

static void one_that_needs_none_is_available(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_application("'minReady':0");
    wait_and_settle(env);
    assert_available(env, "shop", "True", "0 of its pods are ready, 0 are needed");
}

static void events_tell_when_it_comes_and_goes(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_application("");
    make_pod(env, "web-1", "shop");
    wait_and_settle(env);
    assert_int_equal(events_told(env, "Available", ""), 0);
    patch_status(env, "web-1", READY);
    wait_and_settle(env);
    assert_available(env, "shop", "True", "1 of its pods is ready, 1 is needed");
    assert_int_equal(events_told(env, "Available", "1 of its pods is ready, 1 is needed"), 1);
    patch_status(env, "web-1", NOT_READY);
    wait_and_settle(env);
    assert_available(env, "shop", "False", "0 of its pods are ready, 1 is needed");
    assert_int_equal(events_told(env, "Unavailable", "0 of its pods are ready, 1 is needed"), 1);
}

static void what_it_needs_can_change(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_application("");
    make_pod(env, "web-1", "shop");
    patch_status(env, "web-1", READY);
    wait_and_settle(env);
    assert_available(env, "shop", "True", "1 of its pods is ready, 1 is needed");
    patch_it(env, &application_kind, "shop", "{'spec':{'minReady':2}}");
    wait_and_settle(env);
    assert_available(env, "shop", "False", "1 of its pods is ready, 2 are needed");
    assert_says(env, &application_kind, "shop", "status.observedGeneration", "2");
}

static void images_are_said_once_in_order_and_not_all(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_application("");
    make_pod_in(env, "default", "b", "shop", "redis:7");
    make_pod_in(env, "default", "a", "shop", "nginx:1.27");
    make_pod_in(env, "default", "c", "shop", "redis:7");
    wait_and_settle(env);
    assert_says(env, &application_kind, "shop", "status.images", "[\"nginx:1.27\",\"redis:7\"]");
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

/* ---- which pods ---- */

static void a_pod_that_is_moved_is_counted_anew_by_both(void **state)
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

static void pods_that_end_or_go_are_not_counted(void **state)
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
    patch_it(env, &kc_kind_pod, "web-3", "{'metadata':{'finalizers':['example.io/wait']}}");
    delete_pod(env, "web-3", true);
    wait_and_settle(env);
    kc_auto(kc_object) *going = look_up(env, &kc_kind_pod, "web-3");
    assert_non_null(going);
    assert_pods(env, "shop", "0", "0");
}

static void pods_of_other_namespaces_are_not_its_own(void **state)
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

static void pods_may_be_there_before_it(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = story_begin(&moves, 1);
    make_pod(env, "web-1", "late");
    wait_and_settle(env);
    make_application(env, "default", "late", "");
    wait_and_settle(env);
    assert_pods(env, "late", "1", "0");
}

/* ---- a crowd ---- */

enum { CROWD = 1000 };

static void each_of_the_crowd(kc_testenv *env, void (*act)(kc_testenv *env, const char *name))
{
    for (int i = 0; i < CROWD; i++) {
        kc_autofree char *name = kc_asprintf("web-%d", i);
        act(env, name);
    }
}

static void join(kc_testenv *env, const char *name)
{
    make_pod(env, name, "shop");
}

static void become_ready(kc_testenv *env, const char *name)
{
    patch_status(env, name, READY);
}

static void be_touched(kc_testenv *env, const char *name)
{
    patch_it(env, &kc_kind_pod, name, "{'metadata':{'annotations':{'touched':'yes'}}}");
}

/* Three crowds: the second changes nothing in sum, so nothing of the object may change. The others
 * cost some writes at most: after so many the reconciler would end. */
static void a_crowd_of_changes_costs_no_write_each(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = with_application("");
    wait_and_settle(env);
    kc_testenv_crash_after(env, 10);
    each_of_the_crowd(env, join);
    wait_and_settle(env);
    assert_pods(env, "shop", "1000", "0");

    kc_autofree char *before = text_of(env, &application_kind, "shop", "metadata.resourceVersion");
    each_of_the_crowd(env, be_touched);
    wait_and_settle(env);
    assert_says(env, &application_kind, "shop", "metadata.resourceVersion", before);

    each_of_the_crowd(env, become_ready);
    wait_and_settle(env);
    assert_pods(env, "shop", "1000", "1000");
    assert_false(kc_testenv_crashed(env));
}

TESTS(it_ends_with_the_right_numbers, it_survives_everything, one_without_pods_says_so,
      one_that_needs_none_is_available, events_tell_when_it_comes_and_goes,
      what_it_needs_can_change, images_are_said_once_in_order_and_not_all,
      a_pod_that_is_moved_is_counted_anew_by_both, pods_that_end_or_go_are_not_counted,
      pods_of_other_namespaces_are_not_its_own, pods_may_be_there_before_it,
      a_crowd_of_changes_costs_no_write_each)
