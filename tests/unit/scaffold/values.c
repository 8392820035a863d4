/* SPDX-License-Identifier: Apache-2.0 */
#include "scaffold/values.h"
#include "testing.h"

/* An expected value. */
typedef struct expected {
    const char *name, *value;
} expected;

static void assert_values(const char *project_text, const kc__scaffold_resource *resource,
                          const kc__scaffold_values_opts *opts, const expected *wanted, size_t n)
{
    kc_auto(kc__scaffold_project_file) *project =
        kc__scaffold_project_parse(kc_cstr(project_text), NULL);
    assert_non_null(project);
    kc__scaffold_project_put(project, resource);
    kc__scaffold_values values;
    kc__scaffold_values_fill(&values, project, resource,
                             opts ? opts : &(kc__scaffold_values_opts){0});
    for (size_t i = 0; i < n; i++)
        assert_string_equal(kc__scaffold_values_get(&values, wanted[i].name), wanted[i].value);
    kc__scaffold_values_done(&values);
}
#define ASSERT_VALUES(project, resource, opts, ...)                         \
    assert_values(project, resource, opts, (const expected[]){__VA_ARGS__}, \
                  sizeof((const expected[]){__VA_ARGS__}) / sizeof(expected))

#define PROJECT "{domain: example.io, projectName: robots}"

static const kc__scaffold_resource ship = {.group = KC_STR_INIT("apps"),
                                           .version = KC_STR_INIT("v1"),
                                           .kind = KC_STR_INIT("SpaceShip"),
                                           .plural = KC_STR_INIT("spaceships"),
                                           .domain = KC_STR_INIT("example.io"),
                                           .api = true};

static void kind_has_its_names(void **state)
{
    (void)state;
    ASSERT_VALUES(PROJECT, &ship, NULL, {"name", "space_ship"}, {"id", "space_ship"},
                  {"hook", "space_ship"}, {"kind_variable", "space_ship_kind"},
                  {"controller", "spaceship"}, {"types", "api/apps/v1/zz_generated.h"},
                  {"api_group", "apps.example.io"},
                  {"defaulting_path", "/mutate-apps-example-io-v1-spaceship"},
                  {"defaulting_call", "kc_webhook_add_defaulter(hooks, &space_ship_kind,"},
                  {"kind_namespace", ""}, {"kind_role", "ClusterRole"},
                  {"storage", "/// +kubebuilder:storageversion\n"});
}

static void controller_has_its_own_name(void **state)
{
    (void)state;
    ASSERT_VALUES(PROJECT, &ship, &(kc__scaffold_values_opts){.controller = KC_STR("ship-backup")},
                  {"name", "space_ship"}, {"hook", "space_ship"}, {"id", "ship_backup"},
                  {"id_guard", "SHIP_BACKUP"}, {"controller", "ship-backup"});
}

static void namespaced_project_has_namespace_markers(void **state)
{
    (void)state;
    const char *project = "{domain: example.io, projectName: robots, namespaced: true}";
    kc__scaffold_resource wide = ship;
    wide.cluster_scoped = true;
    ASSERT_VALUES(project, &ship, NULL, {"kind_namespace", "namespace=robots-system,"},
                  {"rbac_namespace", "namespace=robots-system,"}, {"kind_role", "Role"},
                  {"kind_role_namespace", "\n  namespace: system"});
    ASSERT_VALUES(project, &wide, NULL, {"kind_namespace", ""}, {"kind_role", "ClusterRole"},
                  {"rbac_namespace", "namespace=robots-system,"});
}

static void external_types_use_the_given_header(void **state)
{
    (void)state;
    kc__scaffold_resource other = {.group = KC_STR("cert-manager"),
                                   .version = KC_STR("v1"),
                                   .kind = KC_STR("Certificate"),
                                   .plural = KC_STR("certificates"),
                                   .domain = KC_STR("io"),
                                   .external = true,
                                   .path = KC_STR("certmanager/v1/"),
                                   .module = KC_STR("certmanager@v1.18.2")};
    ASSERT_VALUES(PROJECT, &other, NULL, {"types", "certmanager/v1/zz_generated.h"},
                  {"types_folder", "certmanager/v1"}, {"api_group", "cert-manager.io"},
                  {"module", "certmanager"}, {"module_version", " 1.18.2"},
                  {"name", "certificate"});
    other.path = KC_STR("cm.h");
    other.module = KC_STR("cm");
    other.domain = KC_STR("");
    ASSERT_VALUES(PROJECT, &other, NULL, {"types", "cm.h"}, {"types_folder", ""},
                  {"api_group", "cert-manager"}, {"module_version", ""});
}

static void kubernetes_kinds_are_known(void **state)
{
    (void)state;
    const kc__scaffold_resource pod = {.group = KC_STR("core"),
                                       .version = KC_STR("v1"),
                                       .kind = KC_STR("Pod"),
                                       .plural = KC_STR("pods"),
                                       .core = true};
    ASSERT_VALUES(PROJECT, &pod, NULL, {"kind_variable", "kc_kind_pod"}, {"types", "kc/kinds.h"},
                  {"api_group", ""}, {"marker_group", "\"\""},
                  {"defaulting_path", "/mutate--v1-pod"});
    kc__scaffold_resource node = pod;
    node.kind = KC_STR("Node");
    assert_true(kc__scaffold_is_cluster_scoped(&node));
    assert_false(kc__scaffold_is_cluster_scoped(&pod));
}

static void custom_webhook_path_is_used(void **state)
{
    (void)state;
    kc__scaffold_resource with = ship;
    with.validation = true;
    with.validation_path = KC_STR("/mine");
    ASSERT_VALUES(
        PROJECT, &with, NULL, {"validation_path", "/mine"},
        {"validation_call", "kc_webhook_add_validator_at(hooks, \"/mine\", &space_ship_kind,"});
    with.validation_path = KC_STR("/a-path-that-makes-the-line-too-long");
    ASSERT_VALUES(PROJECT, &with, NULL,
                  {"validation_call", "kc_webhook_add_validator_at(hooks, "
                                      "\"/a-path-that-makes-the-line-too-long\", "
                                      "&space_ship_kind,\n                               "});
}

static void image_values_are_expanded(void **state)
{
    (void)state;
    kc__scaffold_resource with = ship;
    with.image = (kc__scaffold_image){KC_STR("a:b"), KC_STR("run, -v"), KC_STR("80"), KC_STR("7")};
#define INDENT "                          "
    ASSERT_VALUES(PROJECT, &with, NULL, {"image", "a:b"},
                  {"image_command", INDENT "\"  command: [\\\"run\\\", \\\"-v\\\"]\\n\"\n"},
                  {"image_user", INDENT "\"  runAsUser: 7\\n\"\n"},
                  {"port_default", "    /// +kubebuilder:default=80\n"});
#undef INDENT
    ASSERT_VALUES(PROJECT, &ship, NULL, {"image_command", ""}, {"image_user", ""},
                  {"port_default", ""});
}

static void second_version_of_a_kind_has_a_suffix(void **state)
{
    (void)state;
    ASSERT_VALUES("{domain: example.io, projectName: robots, resources: [{group: apps, version: "
                  "v1beta1, kind: SpaceShip}]}",
                  &ship, NULL, {"name", "space_ship_v1"}, {"controller", "space_ship_v1"},
                  {"storage", ""});
    ASSERT_VALUES("{domain: example.io, projectName: robots, resources: [{group: other-one, "
                  "version: v1, kind: SpaceShip}]}",
                  &ship, NULL, {"name", "apps_space_ship_v1"},
                  {"storage", "/// +kubebuilder:storageversion\n"});
}

TESTS(kind_has_its_names, controller_has_its_own_name, namespaced_project_has_namespace_markers,
      external_types_use_the_given_header, kubernetes_kinds_are_known, custom_webhook_path_is_used,
      image_values_are_expanded, second_version_of_a_kind_has_a_suffix)
