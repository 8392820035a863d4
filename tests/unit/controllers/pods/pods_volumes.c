/* SPDX-License-Identifier: Apache-2.0 */
/* Volumes of running pods follow their sources. */
#include "pods_testing.h"

#include <stdio.h>

/* A simulated runtime that remembers what volumes were filled with. */
typedef struct watched {
    kc__pods_runtime *runtime;
    const kc__pods_runtime_ops *real;
    kc__pods_runtime_ops ops;
    int fills;
    char last[256];
} watched;

static watched *shared; /* Of the test that runs: operations have no place for it. */

static int fill(kc__pods_runtime *runtime, const kc_pod *pod, const kc_volume *volume,
                const kc__pod_volume_file *files, size_t n, kc_error *err)
{
    kc_scoped(kc_buf) text = {0};
    kc_buf_printf(&text, "%s/%s", pod->metadata.name, volume->name);
    for (size_t i = 0; i < n; i++)
        kc_buf_printf(&text, " %s=%.*s", files[i].path, KC_ARG(files[i].bytes));
    snprintf(shared->last, sizeof(shared->last), "%s", kc_buf_cstr(&text));
    shared->fills++;
    return shared->real->fill(runtime, pod, volume, files, n, err);
}

static kc_testenv *begin(watched *w)
{
    kc_scoped(kc_error) err = {0};
    kc_testenv *env = plane(1);
    *w = (watched){0};
    shared = w;
    w->runtime = kc__pods_simulated_runtime_new(&(kc_pods_opts){0}, kc_testenv_clock(env), NULL);
    w->real = w->runtime->ops;
    w->ops = *w->real;
    w->ops.fill = fill;
    w->runtime->ops = &w->ops;
    add_nodes(env, NULL, w->runtime);
    OK(kc_testenv_run(env, &err), &err);
    kc_testenv_advance(env, 100 * KC_MILLISECOND);
    return env;
}

static void end(watched *w, kc_testenv *env)
{
    kc_scoped(kc_error) err = {0};
    OK(kc_testenv_restart(env, &err) ? 0 : -1, &err);
    w->real->free(w->runtime);
    kc_testenv_stop(env);
}

static void change(kc_testenv *env, const kc_kind *kind, const char *name, const char *patch)
{
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_object) *now = kc_client_patch(kc_testenv_client(env), kind, KC_KEY("default", name),
                                              KC_PATCH_MERGE, kc_cstr(patch), NULL, &err);
    OK(now ? 0 : -1, &err);
    settle(env);
}

static void changed_config_map_updates_the_volume(void **state)
{
    (void)state;
    watched w;
    kc_testenv *env = begin(&w);
    kc_auto(kc_object) *map = make(env, CONFIG_MAP("m"));
    kc_auto(kc_object) *other = make(env, CONFIG_MAP("other"));
    kc_auto(kc_object) *a =
        make(env, POD("a", "", ",'volumes':[{'name':'v','configMap':{'name':'m'}}]"));
    kc_auto(kc_object) *b = make(env, POD("b", "", ""));
    settle(env);
    assert_string_equal(w.last, "a/v");
    assert_int_equal(w.fills, 1);
    change(env, &kc_kind_config_map, "m", "{\"data\":{\"k\":\"1\"}}");
    assert_string_equal(w.last, "a/v k=1");
    change(env, &kc_kind_config_map, "other", "{\"data\":{\"k\":\"1\"}}");
    change(env, &kc_kind_config_map, "m", "{\"metadata\":{\"labels\":{\"x\":\"y\"}}}");
    assert_int_equal(w.fills, 2);
    assert_pod(env, "a", "status.containerStatuses.0.restartCount", "0");
    end(&w, env);
}

static void changed_pod_metadata_updates_the_downward_api_volume(void **state)
{
    (void)state;
    watched w;
    kc_testenv *env = begin(&w);
    kc_auto(kc_object) *a =
        make(env, POD("a", ",'labels':{'app':'web'}",
                      ",'volumes':[{'name':'v','downwardAPI':{'items':[{'path':'labels',"
                      "'fieldRef':{'fieldPath':'metadata.labels'}}]}}]"));
    settle(env);
    assert_string_equal(w.last, "a/v labels=app=\"web\"");
    change(env, &kc_kind_pod, "a", "{\"metadata\":{\"labels\":{\"app\":\"db\"}}}");
    assert_string_equal(w.last, "a/v labels=app=\"db\"");
    end(&w, env);
}

static void running_pod_keeps_files_after_source_is_deleted(void **state)
{
    (void)state;
    watched w;
    kc_scoped(kc_error) err = {0};
    kc_testenv *env = begin(&w);
    kc_auto(kc_object) *map = make(env, CONFIG_MAP("m"));
    kc_auto(kc_object) *a =
        make(env, POD("a", "", ",'volumes':[{'name':'v','configMap':{'name':'m'}}]"));
    settle(env);
    OK(kc_client_delete(kc_testenv_client(env), &kc_kind_config_map, KC_KEY("default", "m"), NULL,
                        &err),
       &err);
    settle(env);
    assert_int_equal(w.fills, 1);
    assert_pod(env, "a", "status.phase", "Running");
    assert_condition(env, "a", "Ready", "True");
    assert_true(has_recorded_event(env, "a", "FailedMount", "configmap \"m\" not found"));
    end(&w, env);
}

TESTS(changed_config_map_updates_the_volume, changed_pod_metadata_updates_the_downward_api_volume,
      running_pod_keeps_files_after_source_is_deleted)
