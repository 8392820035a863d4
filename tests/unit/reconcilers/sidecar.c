/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sidecars of existing pods. The test creates the ReplicaSet and the pod, as the controllers of a
 * deployment would.
 */
#include "reconciler_testing.h"

#include "sidecar/inject.h"

static void config(kc_testenv *env)
{
    apply_file(env, "../manifests/sidecar/envoy-initializer.yaml");
}

#define NEWER \
    "{'data':{'config':'containers: [{name: proxy, image: p}, {name: envoy, image: newer}]\\n'}}"

static void newer_config(kc_testenv *env)
{
    patch_object(env, &kc_kind_config_map, "envoy-initializer", NEWER);
}

#define LABELS "'labels':{'app':'meshed','sidecar.kubecontroller.io/inject':'true'}"
#define SPEC   "'spec':{'containers':[{'name':'web','image':'w'}]}"

/* Owned by an object of this kind, which is there. */
static char *owner_of(const kc_object *owner)
{
    return kc_asprintf("'ownerReferences':[{'apiVersion':'%.*s','kind':'%.*s','name':'%.*s',"
                       "'uid':'%.*s','controller':true}]",
                       KC_ARG(kc_object_api_version(owner)), KC_ARG(kc_object_kind(owner)),
                       KC_ARG(kc_object_name(owner)), KC_ARG(kc_object_uid(owner)));
}

static kc_object *make_pod(kc_testenv *env, const char *name, const char *metadata)
{
    kc_autofree char *json =
        kc_asprintf("{'apiVersion':'v1','kind':'Pod','metadata':{'name':'%s','namespace':'default',"
                    "%s}," SPEC "}",
                    name, metadata);
    return make(env, json);
}

static void pod_of(kc_testenv *env, const kc_object *owner, const char *name)
{
    kc_autofree char *reference = owner_of(owner);
    kc_autofree char *metadata = kc_asprintf("%s," LABELS, reference);
    kc_object_unref(make_pod(env, name, metadata));
}

static kc_object *make_workload(kc_testenv *env, const char *kind, const char *name,
                                const char *metadata)
{
    kc_autofree char *json = kc_asprintf(
        "{'apiVersion':'apps/v1','kind':'%s','metadata':{'name':'%s','namespace':'default'%s},"
        "'spec':{'selector':{'matchLabels':{'app':'meshed'}},'template':{'metadata':{" LABELS
        "}," SPEC "}%s}}",
        kind, name, metadata, strcmp(kind, "StatefulSet") ? "" : ",'serviceName':'s'");
    return make(env, json);
}

static void deployment(kc_testenv *env)
{
    kc_auto(kc_object) *top = make_workload(env, "Deployment", "meshed", "");
    kc_autofree char *reference = owner_of(top);
    kc_autofree char *metadata = kc_asprintf(",%s", reference);
    kc_auto(kc_object) *set = make_workload(env, "ReplicaSet", "meshed-1", metadata);
    pod_of(env, set, "meshed-1-a");
    pod_of(env, set, "meshed-1-b");
}

static void config_and_deployment(kc_testenv *env)
{
    config(env);
    deployment(env);
}

/* "web:w envoy:busybox ": what a template has at a path. */
static char *containers_of(kc_testenv *env, const kc_kind *kind, const char *name, const char *path)
{
    kc_auto(kc_object) *object = look_up(env, kind, name);
    assert_non_null(object);
    kc_auto(kc_view) *view = kc_view_of(object);
    kc_buf out = {0};
    kc_value_each_item (kc_value_nested(kc_view_root(view), path), c)
        kc_buf_printf(&out, "%s:%s ", kc_value_as_cstr(kc_value_get(c, "name"), ""),
                      kc_value_as_cstr(kc_value_get(c, "image"), ""));
    return kc_buf_take(&out);
}

#define CONTAINERS "spec.template.spec.containers"
#define assert_containers(env, kind, name, path, text)                 \
    do {                                                               \
        kc_autofree char *has_ = containers_of(env, kind, name, path); \
        assert_string_equal(has_, text);                               \
    } while (0)

static void assert_template_has_sidecars(kc_testenv *env)
{
    assert_containers(env, &kc_kind_deployment, "meshed", CONTAINERS, "web:w envoy:busybox ");
    assert_containers(env, &kc_kind_deployment, "meshed", "spec.template.spec.volumes",
                      "envoy-conf: ");
    assert_containers(env, &kc_kind_replica_set, "meshed-1", CONTAINERS, "web:w ");
    kc_auto(kc_object) *top = look_up(env, &kc_kind_deployment, "meshed");
    assert_int_equal(kc_object_generation(top), 2); /* Changed once. */
}

static void assert_template_has_newer_sidecars(kc_testenv *env)
{
    assert_containers(env, &kc_kind_deployment, "meshed", CONTAINERS, "web:w proxy:p envoy:newer ");
    assert_field_is(env, &kc_kind_deployment, "meshed", "spec.template.spec.volumes", "");
}

#define NO_HOOK "reconcilers: {sidecar: {hook: \"\"}}"

static const scenario gets = {.reconcilers = "sidecar",
                              .config = NO_HOOK,
                              .before = config,
                              .event = deployment,
                              .takes = 20 * KC_SECOND,
                              .end = assert_template_has_sidecars};

static const scenario follows = {.reconcilers = "sidecar",
                                 .config = NO_HOOK,
                                 .before = config_and_deployment,
                                 .event = newer_config,
                                 .takes = 20 * KC_SECOND,
                                 .end = assert_template_has_newer_sidecars};

static kc_testenv *begin(void (*before)(kc_testenv *env))
{
    scenario s = gets;
    s.before = before;
    kc_testenv *env = scenario_begin(&s, 1);
    settle(env);
    return env;
}

/* ---- templates ---- */

static void top_level_template_gets_the_sidecars(void **state)
{
    (void)state;
    scenario_converges(&gets);
}

static void changed_config_map_updates_templates(void **state)
{
    (void)state;
    scenario_converges(&follows);
}

static void later_config_map_updates_existing_workloads(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = begin(deployment);
    assert_containers(env, &kc_kind_deployment, "meshed", CONTAINERS, "web:w ");
    config(env);
    settle(env);
    assert_template_has_sidecars(env);
    assert_int_equal(count_recorded_events(env, "SidecarsChanged", "its pods are replaced"), 1);
}

static void config_map_of_own_namespace_takes_precedence(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = begin(config);
    kc_auto(kc_object) *ns =
        make(env, "{'apiVersion':'v1','kind':'Namespace','metadata':{'name':'other'}}");
    kc_auto(kc_object) *own =
        make(env, "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'envoy-initializer',"
                  "'namespace':'other'},'data':{'config':'containers: [{name: own, image: o}]'}}");
    kc_auto(kc_object) *set =
        make(env, "{'apiVersion':'apps/v1','kind':'DaemonSet','metadata':{'name':'d','namespace':"
                  "'other'},'spec':{'selector':{'matchLabels':{'app':'meshed'}},'template':{"
                  "'metadata':{" LABELS "}," SPEC "}}}");
    kc_autofree char *reference = owner_of(set);
    kc_autofree char *json = kc_asprintf("{'apiVersion':'v1','kind':'Pod','metadata':{'name':'p',"
                                         "'namespace':'other',%s," LABELS "}," SPEC "}",
                                         reference);
    kc_auto(kc_object) *pod = make(env, json);
    settle(env);
    kc_auto(kc_object) *now = kc_client_get(kc_testenv_client(env), &kc_kind_daemon_set,
                                            KC_KEY("other", "d"), NULL, NULL);
    assert_contains(kc_object_json(now).p, "\"image\":\"o\"");
    assert_false(strstr(kc_object_json(now).p, "envoy-conf"));
}

static void other_workload_kinds_get_the_sidecars(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = begin(config);
    kc_auto(kc_object) *s = make_workload(env, "StatefulSet", "stateful", ""),
                       *d = make_workload(env, "DaemonSet", "daemon", ""),
                       *r = make_workload(env, "ReplicaSet", "replicas", "");
    pod_of(env, s, "stateful-0");
    pod_of(env, d, "daemon-a");
    pod_of(env, r, "replicas-a");
    settle(env);
    assert_containers(env, &kc_kind_stateful_set, "stateful", CONTAINERS, "web:w envoy:busybox ");
    assert_containers(env, &kc_kind_daemon_set, "daemon", CONTAINERS, "web:w envoy:busybox ");
    assert_containers(env, &kc_kind_replica_set, "replicas", CONTAINERS, "web:w envoy:busybox ");
}

static void opted_out_template_loses_sidecars(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = begin(config_and_deployment);
    assert_template_has_sidecars(env);
    patch_object(env, &kc_kind_deployment, "meshed",
                 "{'spec':{'template':{'metadata':{'annotations':{"
                 "'sidecar.kubecontroller.io/inject':'false'}}}}}");
    kc_autofree char *status =
        text_of(env, &kc_kind_deployment, "meshed", "spec.template.metadata.annotations");
    assert_contains(status, SIDECARS_STATUS);
    /* As the roll-out would make it. */
    kc_auto(kc_object) *set = look_up(env, &kc_kind_replica_set, "meshed-1");
    kc_autofree char *reference = owner_of(set);
    kc_autofree char *metadata = kc_asprintf(
        "%s," LABELS ",'annotations':{'sidecar.kubecontroller.io/inject':'false','" SIDECARS_STATUS
        "':'{\\\"containers\\\":[\\\"web\\\"]}'}",
        reference);
    kc_object_unref(make_pod(env, "meshed-2-a", metadata));
    settle(env);
    assert_containers(env, &kc_kind_deployment, "meshed", CONTAINERS, "web:w ");
}

static void template_of_foreign_owner_is_unchanged(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = begin(config);
    kc_auto(kc_object) *foreign = make(env, CONFIG_MAP("owner"));
    kc_autofree char *reference = owner_of(foreign);
    kc_autofree char *metadata = kc_asprintf(",%s", reference);
    kc_auto(kc_object) *top = make_workload(env, "Deployment", "meshed", metadata);
    pod_of(env, top, "meshed-a");
    settle(env);
    assert_containers(env, &kc_kind_deployment, "meshed", CONTAINERS, "web:w ");
    assert_int_equal(count_recorded_events(env, "SidecarsMissing", "recreate it"), 1);
}

/* ---- immutable fields ---- */

static void standalone_pod_records_one_event(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = begin(config);
    kc_auto(kc_object) *pod = make_pod(env, "alone", LABELS);
    settle(env);
    assert_int_equal(count_recorded_events(env, "SidecarsMissing", "recreate it"), 1);
    patch_object(env, &kc_kind_pod, "alone", "{'metadata':{'annotations':{'a':'b'}}}");
    newer_config(env);
    settle(env);
    kc_testenv_advance(env, KC_MINUTE);
    kc_scoped(kc_error) err = {0};
    kc_manager *next = kc_testenv_restart(env, &err);
    scenario_add(&gets, next);
    settle(env);
    assert_int_equal(count_recorded_events(env, "SidecarsMissing", ""), 1);
    assert_containers(env, &kc_kind_pod, "alone", "spec.containers", "web:w ");
}

static void unselected_pods_are_unchanged(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = begin(config);
    kc_object_unref(make_pod(env, "plain", "'labels':{'app':'meshed'}"));
    kc_object_unref(make_pod(env, "no",
                             LABELS ",'annotations':{"
                                    "'sidecar.kubecontroller.io/inject':'false'}"));
    settle(env);
    assert_int_equal(count_recorded_events(env, "SidecarsMissing", ""), 0);
    kc_object_unref(
        make_pod(env, "yes", "'annotations':{'initializer.kubernetes.io/envoy':'true'}"));
    settle(env);
    assert_int_equal(count_recorded_events(env, "SidecarsMissing", ""), 1);
}

static void invalid_config_map_is_reported_and_changes_nothing(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = begin(config_and_deployment);
    patch_object(env, &kc_kind_config_map, "envoy-initializer",
                 "{'data':{'config':'containers: 5'}}");
    settle(env);
    assert_template_has_sidecars(env);
    assert_true(count_recorded_events(env, "BadSidecars", "containers: must be a list") > 0);
    newer_config(env);
    settle(env);
    assert_template_has_newer_sidecars(env);
}

/* A mount of a missing volume: the server refuses it, and a retry would not help. */
static void template_refused_by_the_server_is_reported(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = begin(config_and_deployment);
    patch_object(
        env, &kc_kind_config_map, "envoy-initializer",
        "{'data':{'config':'containers: [{name: e, image: e, volumeMounts: [{name: nowhere, "
        "mountPath: /x}]}]'}}");
    settle(env);
    assert_template_has_sidecars(env);
    assert_true(count_recorded_events(env, "SidecarsRefused", "nowhere") > 0);
}

static void deleted_config_map_changes_nothing(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = begin(config_and_deployment);
    kc_client_delete(kc_testenv_client(env), &kc_kind_config_map,
                     KC_KEY("default", "envoy-initializer"), NULL, NULL);
    settle(env);
    assert_template_has_sidecars(env);
}

/* ---- settings ---- */

static void invalid_settings_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *config, *message;
    } cases[] = {
        {"{config: envoy}", "config: \"envoy\" is not namespace/name"},
        {"{selector: \"a in\"}", "selector: "},
        {"{hook: \":9444\"}",
         "hook-url is required: the API server cannot derive how to reach :9444"},
        {"{hook-url: \"http://x\"}", "hook-url: http://x must start with https:// or service://"},
        {"{hook-url: \"service://x\"}", "is not service://namespace/name:port"},
        {"{hok: \"\"}", "did you mean \"hook\"?"},
    };
    for (size_t i = 0; i < KC_COUNT(cases); i++) {
        kc_scoped(kc_error) err = {0};
        kc_autofree char *text = kc_asprintf("reconcilers: {sidecar: %s}", cases[i].config);
        kc_auto(kc_testenv) *env = plane(1);
        kc_auto(kc_app_config) *file = kc_app_config_parse(kc_cstr(text), &err);
        kc_auto(kc_app) *app = kc_app_new(&(kc_app_opts){.config = file, .names = "sidecar"});
        const bool bad = !file || kc_app_add_linked(app, &err) < 0 ||
                         kc_app_setup(app, kc_testenv_manager(env), &err) < 0;
        assert_true(bad);
        assert_contains(kc_error_text(&err), cases[i].message);
    }
}

static void converges_under_faults(void **state)
{
    (void)state;
    scenario_converges_after_crashes(&gets);
    scenario_converges_with_stale_cache(&gets);
    scenario_converges_with_missed_events(&gets);
    scenario_converges_with_bad_network(&gets);
}

static void converges_under_faults_while_the_config_map_changes(void **state)
{
    (void)state;
    scenario_converges_after_crashes(&follows);
    scenario_converges_with_stale_cache(&follows);
    scenario_converges_with_missed_events(&follows);
    scenario_converges_with_bad_network(&follows);
}

TESTS(top_level_template_gets_the_sidecars, changed_config_map_updates_templates,
      later_config_map_updates_existing_workloads, config_map_of_own_namespace_takes_precedence,
      other_workload_kinds_get_the_sidecars, opted_out_template_loses_sidecars,
      template_of_foreign_owner_is_unchanged, standalone_pod_records_one_event,
      unselected_pods_are_unchanged, invalid_config_map_is_reported_and_changes_nothing,
      template_refused_by_the_server_is_reported, deleted_config_map_changes_nothing,
      invalid_settings_are_refused, converges_under_faults,
      converges_under_faults_while_the_config_map_changes)
