/* SPDX-License-Identifier: Apache-2.0 */
/* Deleted claims and volumes stay while they are in use. */
#include "scenario_testing.h"

static const kc_kind volume_kind = {.group = "",
                                    .version = "v1",
                                    .kind = "PersistentVolume",
                                    .plural = "persistentvolumes",
                                    .singular = "persistentvolume"};
static const kc_kind class_kind = {.group = "storage.k8s.io",
                                   .version = "v1",
                                   .kind = "VolumeAttributesClass",
                                   .plural = "volumeattributesclasses",
                                   .singular = "volumeattributesclass"};

static void make_claim(kc_testenv *env, const char *name, const char *spec)
{
    kc_autofree char *json =
        kc_asprintf("{'apiVersion':'v1','kind':'PersistentVolumeClaim','metadata':{'name':'%s',"
                    "'namespace':'default'},'spec':{'accessModes':['ReadWriteOnce'],'resources':"
                    "{'requests':{'storage':'1Gi'}}%s}}",
                    name, spec);
    kc_auto(kc_object) *made = make(env, json);
    assert_true(kc_object_has_finalizer(made, KC_STR("kubernetes.io/pvc-protection")));
}

static void make_user(kc_testenv *env, const char *node)
{
    kc_autofree char *json = kc_asprintf(
        "{'apiVersion':'v1','kind':'Pod','metadata':{'name':'user','namespace':'default'},'spec':"
        "{%s'containers':[{'name':'c','image':'i'}],'volumes':[{'name':'v',"
        "'persistentVolumeClaim':{'claimName':'used'}}]}}",
        node);
    kc_auto(kc_object) *made = make(env, json);
}

static void remove_object(kc_testenv *env, const kc_kind *kind, kc_key key)
{
    assert_int_equal(kc_client_delete(kc_testenv_client(env), kind, key,
                                      &(kc_delete_opts){.immediately = true}, NULL),
                     0);
}

static bool object_exists(kc_testenv *env, const kc_kind *kind, kc_key key)
{
    kc_auto(kc_object) *found = kc_client_get(kc_testenv_client(env), kind, key, NULL, NULL);
    return found;
}

#define CLAIM(name) &kc_kind_persistent_volume_claim, KC_KEY("default", name)

static const scenario protection = {
    .controllers = {.names = "storage-protection", .workers = 2},
    .takes = 20 * KC_SECOND,
};

static void deleted_claim_goes_when_its_last_pod_goes(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = plane(1);
    scenario_add(&protection, kc_testenv_manager(env));
    make_claim(env, "used", "");
    make_claim(env, "free", "");
    make_user(env, "'nodeName':'n',");
    settle(env);
    remove_object(env, CLAIM("used"));
    remove_object(env, CLAIM("free"));
    settle(env);
    assert_true(object_exists(env, CLAIM("used")));
    assert_false(object_exists(env, CLAIM("free")));
    remove_object(env, &kc_kind_pod, KC_KEY("default", "user"));
    settle(env);
    assert_false(object_exists(env, CLAIM("used")));
}

static void pod_without_a_node_does_not_use_a_claim(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = plane(1);
    scenario_add(&protection, kc_testenv_manager(env));
    make_claim(env, "used", "");
    make_user(env, "");
    remove_object(env, CLAIM("used"));
    settle(env);
    assert_false(object_exists(env, CLAIM("used")));
}

static void deleted_volume_goes_unless_it_is_bound(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = plane(1);
    scenario_add(&protection, kc_testenv_manager(env));
    kc_auto(kc_object) *made =
        make(env, "{'apiVersion':'v1','kind':'PersistentVolume','metadata':{'name':'v'},'spec':"
                  "{'capacity':{'storage':'1Gi'},'accessModes':['ReadWriteOnce'],'hostPath':{'path'"
                  ":'/x'}}}");
    remove_object(env, &volume_kind, KC_KEY(NULL, "v"));
    settle(env);
    assert_false(object_exists(env, &volume_kind, KC_KEY(NULL, "v")));
}

static void deleted_class_goes_when_no_claim_names_it(void **state)
{
    (void)state;
    kc_auto(kc_testenv) *env = plane(1);
    scenario_add(&protection, kc_testenv_manager(env));
    kc_auto(kc_object) *made =
        make(env, "{'apiVersion':'storage.k8s.io/v1','kind':'VolumeAttributesClass','metadata':"
                  "{'name':'fast'},'driverName':'example.com','parameters':{'a':'b'}}");
    make_claim(env, "used", ",'volumeAttributesClassName':'fast'");
    settle(env);
    remove_object(env, &class_kind, KC_KEY(NULL, "fast"));
    settle(env);
    assert_true(object_exists(env, &class_kind, KC_KEY(NULL, "fast")));
    remove_object(env, CLAIM("used"));
    settle(env);
    assert_false(object_exists(env, &class_kind, KC_KEY(NULL, "fast")));
}

TESTS(deleted_claim_goes_when_its_last_pod_goes, pod_without_a_node_does_not_use_a_claim,
      deleted_volume_goes_unless_it_is_bound, deleted_class_goes_when_no_claim_names_it)
