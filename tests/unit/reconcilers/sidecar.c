/* SPDX-License-Identifier: Apache-2.0 */
/* Sidecars of pods that are there already. What a deployment's controller would make stands here by
 * hand: a replica set and a pod. */
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
    patch_it(env, &kc_kind_config_map, "envoy-initializer", NEWER);
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
    kc_items (kc_dig(kc_view_root(view), path), c)
        kc_buf_printf(&out, "%s:%s ", kc_as_cstr(kc_get(c, "name"), ""),
                      kc_as_cstr(kc_get(c, "image"), ""));
    return kc_buf_take(&out);
}

#define CONTAINERS "spec.template.spec.containers"
#define assert_containers(env, kind, name, path, text)                 \
    do {                                                               \
        kc_autofree char *has_ = containers_of(env, kind, name, path); \
        assert_string_equal(has_, text);                               \
    } while (0)

static void its_template_has_them(kc_testenv *env)
{
    assert_containers(env, &kc_kind_deployment, "meshed", CONTAINERS, "web:w envoy:busybox ");
    assert_containers(env, &kc_kind_deployment, "meshed", "spec.template.spec.volumes",
                      "envoy-conf: ");
    assert_containers(env, &kc_kind_replica_set, "meshed-1", CONTAINERS, "web:w ");
    kc_auto(kc_object) *top = look_up(env, &kc_kind_deployment, "meshed");
    assert_int_equal(kc_object_generation(top), 2); /* Changed once. */
}

static void its_template_has_the_newer(kc_testenv *env)
{
    assert_containers(env, &kc_kind_deployment, "meshed", CONTAINERS, "web:w proxy:p envoy:newer ");
    assert_says(env, &kc_kind_deployment, "meshed", "spec.template.spec.volumes", "");
}

#define NO_HOOK "reconcilers: {sidecar: {hook: \"\"}}"

static const story gets = {.reconcilers = "sidecar",
                           .config = NO_HOOK,
                           .before = config,
                           .event = deployment,
                           .takes = 20 * KC_SECOND,
                           .end = its_template_has_them};

static const story follows = {.reconcilers = "sidecar",
                              .config = NO_HOOK,
                              .before = config_and_deployment,
                              .event = newer_config,
                              .takes = 20 * KC_SECOND,
                              .end = its_template_has_the_newer};

static kc_testenv *begin(void (*before)(kc_testenv *env))
{
    story s = gets;
    s.before = before;
    kc_testenv *env = story_begin(&s, 1);
    settle(env);
    return env;
}

/* ---- templates ---- */

static void the_topmost_template_gets_them(void **state)
{
    (void)state;
    it_ends_well(&gets);
}

static void templates_follow_the_map(void **state)
{
    (void)state;
    it_ends_well(&follows);
}

static void a_map_that_comes_later_concerns_those_that_are_there(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = begin(deployment);
    assert_containers(env, &kc_kind_deployment, "meshed", CONTAINERS, "web:w ");
    config(env);
    settle(env);
    its_template_has_them(env);
    assert_int_equal(events_told(env, "SidecarsChanged", "its pods are made anew"), 1);
}

static void the_map_of_its_own_namespace_goes_first(void **state)
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

static void other_workloads_get_them_too(void **state)
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

static void who_opts_out_is_rid_of_them(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = begin(config_and_deployment);
    its_template_has_them(env);
    patch_it(env, &kc_kind_deployment, "meshed",
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

static void what_others_own_is_theirs(void **state)
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
    assert_int_equal(events_told(env, "SidecarsMissing", "it has to be made anew"), 1);
}

/* ---- what cannot be changed ---- */

static void a_pod_alone_gets_an_event_once(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = begin(config);
    kc_auto(kc_object) *pod = make_pod(env, "alone", LABELS);
    settle(env);
    assert_int_equal(events_told(env, "SidecarsMissing", "it has to be made anew"), 1);
    patch_it(env, &kc_kind_pod, "alone", "{'metadata':{'annotations':{'a':'b'}}}");
    newer_config(env);
    settle(env);
    kc_testenv_advance(env, KC_MINUTE);
    kc_scoped(kc_error) err = {0};
    kc_manager *next = kc_testenv_restart(env, &err);
    story_add(&gets, next);
    settle(env);
    assert_int_equal(events_told(env, "SidecarsMissing", ""), 1);
    assert_containers(env, &kc_kind_pod, "alone", "spec.containers", "web:w ");
}

static void pods_that_are_not_chosen_are_let_be(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = begin(config);
    kc_object_unref(make_pod(env, "plain", "'labels':{'app':'meshed'}"));
    kc_object_unref(make_pod(env, "no",
                             LABELS ",'annotations':{"
                                    "'sidecar.kubecontroller.io/inject':'false'}"));
    settle(env);
    assert_int_equal(events_told(env, "SidecarsMissing", ""), 0);
    kc_object_unref(
        make_pod(env, "yes", "'annotations':{'initializer.kubernetes.io/envoy':'true'}"));
    settle(env);
    assert_int_equal(events_told(env, "SidecarsMissing", ""), 1);
}

static void a_map_without_sense_is_told_and_changes_nothing(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = begin(config_and_deployment);
    patch_it(env, &kc_kind_config_map, "envoy-initializer", "{'data':{'config':'containers: 5'}}");
    settle(env);
    its_template_has_them(env);
    assert_true(events_told(env, "BadSidecars", "containers: it is to be a list") > 0);
    newer_config(env);
    settle(env);
    its_template_has_the_newer(env);
}

/* A mount of a volume that nobody has: the server says no, and trying again would not help. */
static void what_the_server_refuses_is_told(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = begin(config_and_deployment);
    patch_it(env, &kc_kind_config_map, "envoy-initializer",
             "{'data':{'config':'containers: [{name: e, image: e, volumeMounts: [{name: nowhere, "
             "mountPath: /x}]}]'}}");
    settle(env);
    its_template_has_them(env);
    assert_true(events_told(env, "SidecarsRefused", "nowhere") > 0);
}

static void a_map_that_is_gone_changes_nothing(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = begin(config_and_deployment);
    kc_client_delete(kc_testenv_client(env), &kc_kind_config_map,
                     KC_KEY("default", "envoy-initializer"), NULL, NULL);
    settle(env);
    its_template_has_them(env);
}

/* ---- settings ---- */

static void settings_without_sense_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *config, *says;
    } cases[] = {
        {"{config: envoy}", "config: \"envoy\" is not namespace/name"},
        {"{selector: \"a in\"}", "selector: "},
        {"{hook: \":9444\"}", "hook-url: it has to say how :9444 is reached"},
        {"{hook-url: \"http://x\"}", "hook-url: http://x begins with neither https nor service"},
        {"{hook-url: \"service://x\"}", "is not service://namespace/name:port"},
        {"{hok: \"\"}", "did you mean \"hook\"?"},
    };
    for (size_t i = 0; i < KC_COUNT(cases); i++) {
        kc_scoped(kc_error) err = {0};
        kc_autofree char *text = kc_asprintf("reconcilers: {sidecar: %s}", cases[i].config);
        kc_auto(kc_testenv) *env = plane(1);
        kc_auto(kc_app_config) *file = kc_app_config_parse(kc_cstr(text), &err);
        kc_auto(kc_app) *app = kc_app_new(&(kc_app_opts){.config = file, .names = "sidecar"});
        const bool bad = !file || kc_app_with_linked(app, &err) < 0 ||
                         kc_app_setup(app, kc_testenv_manager(env), &err) < 0;
        assert_true(bad);
        assert_contains(kc_error_text(&err), cases[i].says);
    }
}

static void it_survives_everything(void **state)
{
    (void)state;
    it_survives_a_crash_after_any_write(&gets);
    it_survives_a_stale_cache(&gets);
    it_survives_missed_events(&gets);
    it_survives_a_bad_network(&gets);
}

static void it_survives_everything_while_the_map_changes(void **state)
{
    (void)state;
    it_survives_a_crash_after_any_write(&follows);
    it_survives_a_stale_cache(&follows);
    it_survives_missed_events(&follows);
    it_survives_a_bad_network(&follows);
}

TESTS(the_topmost_template_gets_them, templates_follow_the_map,
      a_map_that_comes_later_concerns_those_that_are_there, the_map_of_its_own_namespace_goes_first,
      other_workloads_get_them_too, who_opts_out_is_rid_of_them, what_others_own_is_theirs,
      a_pod_alone_gets_an_event_once, pods_that_are_not_chosen_are_let_be,
      a_map_without_sense_is_told_and_changes_nothing, what_the_server_refuses_is_told,
      a_map_that_is_gone_changes_nothing, settings_without_sense_are_refused,
      it_survives_everything, it_survives_everything_while_the_map_changes)
