/* SPDX-License-Identifier: Apache-2.0 */
/*
 * system_crds.c: CRDs that belong to the server exist from the first request on,
 * follow their manifests at a restart, and cannot be deleted or changed by a client.
 */
#include "api_testing.h"

#include "apiserver/background/system_crds.h"

#define CRDS  "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
#define TOOLS "/apis/own.example.com/v1/tools"
#define NAME  "tools.own.example.com"

#define MANIFEST(field)                                                                      \
    "---\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n"             \
    "metadata: {name: " NAME                                                                 \
    ", annotations: {origin: built-in}}\nspec:\n  group: own.example.com\n"                  \
    "  scope: Cluster\n  names: {plural: tools, kind: Tool}\n  versions:\n"                  \
    "  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object,\n" \
    "     properties: {spec: {type: object, properties: {" field ": {type: string}}}}}}}\n"

static kc__bootstrap_crd definition = {"manifests/tools.yaml", KC_STR_INIT(MANIFEST("size"))};

static api *start_with_definition(void)
{
    return api_start(&(api_opts){.server = {.system_crds = &definition, .n_system_crds = 1}});
}

#define CR(name)                                                                       \
    "{'apiVersion':'own.example.com/v1','kind':'Tool','metadata':{'name':'" name "'}," \
    "'spec':{'size':'small','weight':'heavy'}}"

static void definition_is_served_from_the_first_request_on(void **state)
{
    (void)state;
    kc_auto(api) *a = start_with_definition();
    assert_code(api_post(a, TOOLS, CR("hammer")), 201);
    const reply *r = api_get(a, CRDS "/" NAME);
    assert_string_equal(r_text(r, "spec.names.listKind"), "ToolList");
    assert_string_equal(r_text(r, "metadata.annotations.origin"), "built-in");
}

static void delete_of_a_system_definition_is_forbidden(void **state)
{
    (void)state;
    kc_auto(api) *a = start_with_definition();
    assert_status(
        api_delete(a, CRDS "/" NAME, NULL), 403, "Forbidden",
        "customresourcedefinitions.apiextensions.k8s.io \"" NAME
        "\" is forbidden: this CustomResourceDefinition belongs to the server and cannot be deleted");
    assert_code(api_delete(a, CRDS, NULL), 403);
    assert_code(api_get(a, TOOLS), 200);
}

static void change_of_spec_or_status_is_forbidden(void **state)
{
    (void)state;
    kc_auto(api) *a = start_with_definition();
    assert_code(api_patch(a, CRDS "/" NAME, "{'spec':{'versions':null}}"), 422);
    assert_code(api_patch(a, CRDS "/" NAME, "{'spec':{'names':{'shortNames':['t']}}}"), 403);
    assert_code(
        api_patch(a, CRDS "/" NAME "/status", "{'status':{'acceptedNames':{'kind':'Other'}}}"),
        403);
    assert_code(api_patch(a, CRDS "/" NAME, "{'metadata':{'labels':{'team':'a'}}}"), 200);
}

static void other_crds_can_be_deleted(void **state)
{
    (void)state;
    kc_auto(api) *a = start_with_definition();
    assert_code(api_post(a, CRDS,
                         "{'metadata':{'name':'jobs.other.example.com'},'spec':{'group':"
                         "'other.example.com','scope':'Cluster','names':{'plural':'jobs','kind':"
                         "'Job'},'versions':[{'name':'v1','served':true,'storage':true,'schema':"
                         "{'openAPIV3Schema':{'type':'object'}}}]}}"),
                201);
    assert_code(api_delete(a, CRDS "/jobs.other.example.com", NULL), 200);
}

static void restart_with_another_manifest_updates_the_definition_and_keeps_objects(void **state)
{
    (void)state;
    kc_auto(api) *a = start_with_definition();
    assert_code(api_post(a, TOOLS, CR("hammer")), 201);
    const char *uid = r_text(api_get(a, CRDS "/" NAME), "metadata.uid");
    const char *revision = r_text(api_get(a, CRDS "/" NAME), "metadata.resourceVersion");
    api_restart(a);
    assert_string_equal(r_text(api_get(a, CRDS "/" NAME), "metadata.resourceVersion"), revision);
    definition.yaml = KC_STR(MANIFEST("weight"));
    api_restart(a);
    definition.yaml = KC_STR(MANIFEST("size"));
    const reply *r = api_get(a, CRDS "/" NAME);
    assert_string_equal(r_text(r, "metadata.uid"), uid);
    assert_string_equal(r_text(r, "metadata.generation"), "2");
    assert_non_null(strstr(api_get(a, TOOLS "/hammer")->body, "hammer"));
    assert_code(api_post(a, TOOLS, CR("saw")), 201);
    assert_string_equal(r_text(api_get(a, TOOLS "/saw"), "spec.weight"), "heavy");
}

static void invalid_manifest_names_its_source(void **state)
{
    (void)state;
    const kc__bootstrap_crd bad = {"manifests/bad.yaml", KC_STR_INIT("kind: [")};
    kc_scoped(kc_error) err = {0};
    kc_auto(api) *a = start_with_definition();
    assert_null(kc__bootstrap_crds_load(api_inside(a), &bad, 1, &err));
    assert_non_null(strstr(kc_error_text(&err), "manifests/bad.yaml"));
}

TESTS(definition_is_served_from_the_first_request_on, delete_of_a_system_definition_is_forbidden,
      change_of_spec_or_status_is_forbidden, other_crds_can_be_deleted,
      restart_with_another_manifest_updates_the_definition_and_keeps_objects,
      invalid_manifest_names_its_source)
