/* SPDX-License-Identifier: Apache-2.0 */
/* own_apply.c: server-side apply. */
#include "api_testing.h"

#include <unistd.h>

#define MAPS            "/api/v1/namespaces/default/configmaps"
#define DEPLOYMENTS     "/apis/apps/v1/namespaces/default/deployments"
#define CRDS            "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
#define ROBOTS(version) "/apis/example.com/" version "/namespaces/default/robots"
#define LAST_APPLIED    "kubectl.kubernetes.io/last-applied-configuration"
#define NOW             "2026-01-02T03:04:05Z"
#define MAP(rest)       "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'a'}" rest "}"

static api *start(void)
{
    return api_start(&(api_opts){.virtual_time = true});
}

static const reply *apply(api *a, const char *target, const char *body)
{
    return SEND(a, "PATCH", target, body, .type = "application/apply-patch+yaml");
}

static const reply *apply_map(api *a, const char *query, const char *body)
{
    return apply(a, text(a, MAPS "/a?%s", query), body);
}

static const char *manager_fields(api *a, const reply *r, const char *manager)
{
    for (size_t i = 0; i < r_count(r, "metadata.managedFields"); i++)
        if (!strcmp(r_text(r, text(a, "metadata.managedFields[%zu].manager", i)), manager))
            return r_text(r, text(a, "metadata.managedFields[%zu].fieldsV1", i));
    return "";
}

static void apply_creates_object_that_does_not_exist(void **state)
{
    (void)state;
    kc_auto(api) *a = start();
    const reply *r = apply_map(a, "fieldManager=one", MAP(",'data':{'k':'v'}"));
    assert_code(r, 201);
    assert_at(r, "data", "{\"k\":\"v\"}");
    assert_at(r, "metadata.managedFields",
              "[{\"manager\":\"one\",\"operation\":\"Apply\",\"apiVersion\":\"v1\",\"time\":\"" NOW
              "\",\"fieldsType\":\"FieldsV1\",\"fieldsV1\":{\"f:data\":{\"f:k\":{}}}}]");
}

static void yaml_body_is_applied(void **state)
{
    (void)state;
    kc_auto(api) *a = start();
    const reply *r = apply_map(a, "fieldManager=one",
                               "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n"
                               "  k: v\n---\nignored: true\n");
    assert_code(r, 201);
    assert_at(r, "data.k", "v");
}

static void second_apply_moves_neither_version_nor_time(void **state)
{
    (void)state;
    kc_auto(api) *a = start();
    const reply *old = apply_map(a, "fieldManager=one", MAP(",'data':{'k':'v'}"));
    api_advance(a, KC_MINUTE);
    const reply *r = apply_map(a, "fieldManager=one", MAP(",'data':{'k':'v'}"));
    assert_code(r, 200);
    assert_string_equal(r->body, old->body);
}

static void managers_that_apply_the_same_value_share_it(void **state)
{
    (void)state;
    kc_auto(api) *a = start();
    apply_map(a, "fieldManager=one", MAP(",'data':{'k':'v'}"));
    const reply *r = apply_map(a, "fieldManager=two", MAP(",'data':{'k':'v'}"));
    assert_string_equal(manager_fields(a, r, "one"), "{\"f:data\":{\"f:k\":{}}}");
    assert_string_equal(manager_fields(a, r, "two"), "{\"f:data\":{\"f:k\":{}}}");
    /* The field stays as long as it has an owner. */
    r = apply_map(a, "fieldManager=one", MAP(""));
    assert_at(r, "data.k", "v");
    assert_at(apply_map(a, "fieldManager=two", MAP("")), "data", "");
}

static void value_of_another_manager_is_a_conflict(void **state)
{
    (void)state;
    kc_auto(api) *a = start();
    apply_map(a, "fieldManager=one", MAP(",'data':{'k':'v'}"));
    const reply *r = apply_map(a, "fieldManager=two", MAP(",'data':{'k':'w'}"));
    assert_status(r, 409, "Conflict",
                  "Apply failed with 1 conflict: conflict with \"one\": .data.k");
    assert_at(r, "details.causes[0].reason", "FieldManagerConflict");
    assert_at(r, "details.causes[0].field", ".data.k");
    r = apply_map(a, "fieldManager=two&force=true", MAP(",'data':{'k':'w'}"));
    assert_at(r, "data.k", "w");
    assert_string_equal(manager_fields(a, r, "one"), "");
}

static void object_without_owners_belongs_to_before_first_apply(void **state)
{
    (void)state;
    kc_auto(api) *a = start();
    api_post(a, MAPS, "{'metadata':{'name':'a'},'data':{'k':'v','l':'w'}}");
    api_patch(a, MAPS "/a", "{'metadata':{'managedFields':[]}}");
    const reply *r = apply_map(a, "fieldManager=one", MAP(",'data':{'k':'v'}"));
    assert_string_equal(manager_fields(a, r, "before-first-apply"),
                        "{\"f:data\":{\".\":{},\"f:k\":{},\"f:l\":{}}}");
    r = apply_map(a, "fieldManager=one", MAP(",'data':{'k':'x'}"));
    assert_status(r, 409, "Conflict",
                  "Apply failed with 1 conflict: conflict with \"before-first-apply\" using v1: "
                  ".data.k");
}

static void dry_run_stores_nothing(void **state)
{
    (void)state;
    kc_auto(api) *a = start();
    assert_code(apply_map(a, "fieldManager=one&dryRun=All", MAP(",'data':{'k':'v'}")), 201);
    assert_code(api_get(a, MAPS "/a"), 404);
}

static void options_of_apply_are_validated(void **state)
{
    (void)state;
    kc_auto(api) *a = start();
    assert_status(apply_map(a, "", MAP("")), 422, "Invalid",
                  "PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Required value: is "
                  "required for apply patch");
    assert_status(
        SEND(a, "PATCH", MAPS "/a?force=true", "{}", .type = "application/merge-patch+json"), 422,
        "Invalid",
        "PatchOptions.meta.k8s.io \"\" is invalid: force: Forbidden: may not be "
        "specified for non-apply patch");
    assert_code(
        SEND(a, "PATCH", MAPS "/a?fieldManager=x", "{}", .type = "application/apply-patch+cbor"),
        415);
}

static void configuration_of_other_kind_name_or_uid_is_refused(void **state)
{
    (void)state;
    kc_auto(api) *a = start();
    assert_status(apply_map(a, "fieldManager=x", "{'apiVersion':'v1','kind':'Secret'}"), 400,
                  "BadRequest", "invalid object type: /v1, Kind=Secret");
    assert_status(apply_map(a, "fieldManager=x", "{'apiVersion':'apps/v2','kind':'ConfigMap'}"),
                  400, "BadRequest", "invalid object type: apps/v2, Kind=ConfigMap");
    assert_status(apply_map(a, "fieldManager=x", ""), 400, "BadRequest",
                  "invalid object type: /, Kind=");
    assert_status(apply_map(a, "fieldManager=x",
                            "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'b'}}"),
                  400, "BadRequest",
                  "the name of the object (b) does not match the name on the URL (a)");
    assert_code(apply_map(a, "fieldManager=x",
                          "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'a',"
                          "'namespace':'kube-system'}}"),
                400);
    assert_status(apply_map(a, "fieldManager=x",
                            "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'a','uid':"
                            "'u'}}"),
                  409, "Conflict",
                  "Operation cannot be fulfilled on configmaps \"a\": uid mismatch: the provided "
                  "object specified uid u, and no existing object was found");
    assert_status(apply_map(a, "fieldManager=x",
                            "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'a',"
                            "'managedFields':[]}}"),
                  400, "BadRequest", "metadata.managedFields must be nil");
    assert_code(apply_map(a, "fieldManager=x", "[1]"), 400);
    assert_code(apply_map(a, "fieldManager=x", "a: b: c"), 400);
}

static void stale_resource_version_is_a_conflict(void **state)
{
    (void)state;
    kc_auto(api) *a = start();
    apply_map(a, "fieldManager=one", MAP(",'data':{'k':'v'}"));
    static const char body[] = "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'a',"
                               "'resourceVersion':'%s'},'data':{'k':'w'}}";
    assert_code(apply_map(a, "fieldManager=one", text(a, body, "1")), 409);
    const char *version = r_text(api_get(a, MAPS "/a"), "metadata.resourceVersion");
    assert_code(apply_map(a, "fieldManager=one", text(a, body, version)), 200);
}

static void value_that_the_type_does_not_allow_is_refused(void **state)
{
    (void)state;
    kc_auto(api) *a = start();
    assert_status(apply_map(a, "fieldManager=x", MAP(",'dota':{}")), 500, "",
                  "failed to create typed patch object (/a; /v1, Kind=ConfigMap): .dota: field not "
                  "declared in schema");
    const reply *r = apply(a, "/api/v1/namespaces/default/services/s?fieldManager=x",
                           "{'apiVersion':'v1','kind':'Service','metadata':{'name':'s'},'spec':{"
                           "'ports':[{'port':80},{'port':80}]}}");
    assert_code(r, 500);
    assert_non_null(strstr(r_text(r, "message"), "duplicate entries for key"));
}

static void duplicate_keys_are_warnings_or_refused(void **state)
{
    (void)state;
    kc_auto(api) *a = start();
    static const char body[] = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n"
                               "  k: v\n  k: w\n";
    assert_status(apply_map(a, "fieldManager=x&fieldValidation=Strict", body), 400, "BadRequest",
                  "error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal "
                  "errors:\n  line 7: key \"k\" already set in map");
    const reply *r = apply_map(a, "fieldManager=x", body);
    assert_code(r, 201);
    assert_string_equal(r_header(r, "Warning"),
                        "299 - \"line 7: key \\\"k\\\" already set in map\"");
    assert_null(r_header(apply_map(a, "fieldManager=x&fieldValidation=Ignore", body), "Warning"));
}

#define DEPLOYMENT(spec)                                                                        \
    "{'apiVersion':'apps/v1','kind':'Deployment','metadata':{'name':'w'},'spec':{" spec         \
    "'selector':{'matchLabels':{'a':'b'}},'template':{'metadata':{'labels':{'a':'b'}},'spec':{" \
    "'containers':[{'name':'c','image':'i'}]}}}}"

static void items_of_associative_list_have_owners(void **state)
{
    (void)state;
    kc_auto(api) *a = start();
    assert_code(apply(a, DEPLOYMENTS "/w?fieldManager=one", DEPLOYMENT("")), 201);
    const reply *r =
        apply(a, DEPLOYMENTS "/w?fieldManager=two",
              "{'apiVersion':'apps/v1','kind':'Deployment','metadata':{'name':'w'},'spec':{"
              "'template':{'spec':{'containers':[{'name':'s','image':'j'}]}}}}");
    assert_int_equal(r_count(r, "spec.template.spec.containers"), 2);
    assert_at(r, "metadata.generation", "2");
    r = apply(a, DEPLOYMENTS "/w?fieldManager=two",
              "{'apiVersion':'apps/v1','kind':'Deployment','metadata':{'name':'w'}}");
    assert_int_equal(r_count(r, "spec.template.spec.containers"), 1);
    assert_string_equal(manager_fields(a, r, "two"), "");
}

static void scale_and_status_are_applied(void **state)
{
    (void)state;
    kc_auto(api) *a = start();
    apply(a, DEPLOYMENTS "/w?fieldManager=one", DEPLOYMENT("'replicas':1,"));
    const reply *r = apply(a, DEPLOYMENTS "/w/scale?fieldManager=two",
                           "{'apiVersion':'autoscaling/v1','kind':'Scale','metadata':{'name':'w'},"
                           "'spec':{'replicas':4}}");
    assert_status(r, 409, "Conflict",
                  "Apply failed with 1 conflict: conflict with \"one\": .spec.replicas");
    r = apply(a, DEPLOYMENTS "/w/scale?fieldManager=two&force=true",
              "{'apiVersion':'autoscaling/v1','kind':'Scale','metadata':{'name':'w'},'spec':{"
              "'replicas':4}}");
    assert_at(r, "spec.replicas", "4");
    r = apply(a, DEPLOYMENTS "/w/status?fieldManager=three",
              "{'apiVersion':'apps/v1','kind':'Deployment','metadata':{'name':'w'},'status':{"
              "'replicas':2}}");
    assert_code(r, 200);
    assert_at(r, "status.replicas", "2");
    assert_string_equal(manager_fields(a, r, "three"), "{\"f:status\":{\"f:replicas\":{}}}");
    assert_string_equal(manager_fields(a, r, "two"), "{\"f:spec\":{\"f:replicas\":{}}}");
    assert_null(strstr(manager_fields(a, r, "one"), "f:replicas"));
    assert_code(apply(a, DEPLOYMENTS "/none/status?fieldManager=three", DEPLOYMENT("")), 404);
}

static void kubectl_takes_over_client_side_apply(void **state)
{
    (void)state;
    kc_auto(api) *a = start();
    SEND(a, "POST", MAPS "?fieldManager=kubectl-client-side-apply",
         "{'metadata':{'name':'a','annotations':{'" LAST_APPLIED
         "':'{\\'apiVersion\\':\\'v1\\',\\'kind\\':\\'ConfigMap\\',\\'metadata\\':{\\'name\\':"
         "\\'a\\'},\\'data\\':{\\'k\\':\\'v\\'}}'}},'data':{'k':'v','l':'w'}}");
    assert_code(apply_map(a, "fieldManager=other", MAP(",'data':{'k':'x'}")), 409);
    assert_code(apply_map(a, "fieldManager=kubectl", MAP(",'data':{'l':'x'}")), 409);
    const reply *r = apply_map(a, "fieldManager=kubectl", MAP(",'data':{'k':'x'}"));
    assert_code(r, 200);
    assert_at(r, "data.k", "x");
    assert_non_null(strstr(r->body, "\\\"data\\\":{\\\"k\\\":\\\"x\\\"}"));
}

static const reply *wait_for_version(api *a, const char *target)
{
    const reply *r = NULL;
    for (int i = 0; i < 5000; i++, usleep(2000)) {
        r = api_get(a, target);
        if (r->status == 200)
            return r;
    }
    fail_msg("%s is not served", target);
    return r;
}

/* Two versions; `list` is the list type of spec.parts. */
static const char *robots_definition(api *a, const char *list)
{
    return text(a,
                "{'apiVersion':'apiextensions.k8s.io/v1','kind':'CustomResourceDefinition',"
                "'metadata':{'name':'robots.example.com'},'spec':{'group':'example.com','scope':"
                "'Namespaced','names':{'plural':'robots','kind':'Robot'},'versions':["
                "{'name':'v1','served':true,'storage':true,'schema':{'openAPIV3Schema':%s}},"
                "{'name':'v2','served':true,'storage':false,'schema':{'openAPIV3Schema':%s}}]}}",
                list, list);
}

#define ROBOT_SCHEMA(more)                                                                   \
    "{'type':'object','properties':{'spec':{'type':'object','properties':{'size':{'type':"   \
    "'integer'},'parts':{'type':'array'," more "'items':{'type':'object','required':['id']," \
    "'properties':{'id':{'type':'string'},'n':{'type':'integer'}}}}}}}}"
#define ROBOT(version, spec)                                                                       \
    "{'apiVersion':'example.com/" version "','kind':'Robot','metadata':{'name':'r'},'spec':{" spec \
    "}}"

static void custom_objects_are_applied_in_any_version(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    const char *maps = ROBOT_SCHEMA("'x-kubernetes-list-type':'map','x-kubernetes-list-map-keys':"
                                    "['id'],");
    assert_code(api_post(a, CRDS, robots_definition(a, maps)), 201);
    wait_for_version(a, ROBOTS("v1"));
    const reply *r = apply(a, ROBOTS("v1") "/r?fieldManager=one",
                           ROBOT("v1", "'size':1,'parts':[{'id':'x','n':1}]"));
    assert_code(r, 201);
    r = apply(a, ROBOTS("v2") "/r?fieldManager=two", ROBOT("v2", "'parts':[{'id':'y','n':2}]"));
    assert_code(r, 200);
    assert_int_equal(r_count(r, "spec.parts"), 2);
    r = apply(a, ROBOTS("v2") "/r?fieldManager=two", ROBOT("v2", "'size':2"));
    assert_status(r, 409, "Conflict",
                  "Apply failed with 1 conflict: conflict with \"one\": .spec.size");
    r = apply(a, ROBOTS("v2") "/r?fieldManager=two",
              ROBOT("v2", "'parts':[{'id':'y'},{'id':'y'}]"));
    assert_code(r, 500);
    r = apply(a, ROBOTS("v2") "/r?fieldManager=two", ROBOT("v2", ""));
    assert_int_equal(r_count(r, "spec.parts"), 1);
}

static void list_that_becomes_atomic_keeps_its_owners(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    const char *maps = ROBOT_SCHEMA("'x-kubernetes-list-type':'map','x-kubernetes-list-map-keys':"
                                    "['id'],");
    assert_code(api_post(a, CRDS, robots_definition(a, maps)), 201);
    wait_for_version(a, ROBOTS("v1"));
    apply(a, ROBOTS("v1") "/r?fieldManager=one", ROBOT("v1", "'parts':[{'id':'x','n':1}]"));
    assert_code(SEND(a, "PATCH", CRDS "/robots.example.com",
                     text(a, "{'spec':%s",
                          strstr(robots_definition(a, ROBOT_SCHEMA("'x-kubernetes-list-type':"
                                                                   "'atomic',")),
                                 "{'group'")),
                     .type = "application/merge-patch+json"),
                200);
    const reply *r = NULL;
    for (int i = 0; i < 5000; i++, usleep(2000)) {
        r = apply(a, ROBOTS("v1") "/r?fieldManager=two&force=true",
                  ROBOT("v1", "'parts':[{'id':'y'}]"));
        if (r_count(r, "spec.parts") == 1)
            break;
    }
    assert_at(r, "spec.parts", "[{\"id\":\"y\"}]");
    assert_string_equal(manager_fields(a, r, "two"), "{\"f:spec\":{\"f:parts\":{}}}");
}

/* ---- metadata that is stored as merged ---- */

#define EMPTY_LABELS                                                                     \
    "{'apiVersion':'example.com/v1','kind':'Robot','metadata':{'name':'r','labels':{}}," \
    "'spec':{'size':1}}"

static api *start_with_robots(void)
{
    api *a = api_start(NULL);
    assert_code(api_post(a, CRDS, robots_definition(a, ROBOT_SCHEMA(""))), 201);
    wait_for_version(a, ROBOTS("v1"));
    return a;
}

static const char *version_of(const reply *r)
{
    return r_text(r, "metadata.resourceVersion");
}

static void apply_of_empty_labels_moves_the_version_of_a_custom_object_each_time(void **state)
{
    (void)state;
    kc_auto(api) *a = start_with_robots();
    const reply *first = apply(a, ROBOTS("v1") "/r?fieldManager=one", EMPTY_LABELS);
    assert_code(first, 201);
    assert_at(first, "metadata.labels", "");
    const reply *second = apply(a, ROBOTS("v1") "/r?fieldManager=one", EMPTY_LABELS);
    assert_code(second, 200);
    assert_string_not_equal(version_of(second), version_of(first));
    assert_at(second, "metadata.labels", "");
    assert_at(api_get(a, ROBOTS("v1") "/r"), "metadata.labels", "");
}

static void empty_labels_are_dropped_by_the_next_write_even_after_a_restart(void **state)
{
    (void)state;
    kc_auto(api) *a = start_with_robots();
    const reply *applied = apply(a, ROBOTS("v1") "/r?fieldManager=one", EMPTY_LABELS);
    api_restart(a);
    wait_for_version(a, ROBOTS("v1"));
    const reply *patched = api_patch(a, ROBOTS("v1") "/r", "{}");
    assert_code(patched, 200);
    assert_string_not_equal(version_of(patched), version_of(applied));
    assert_at(patched, "metadata.managedFields[0].time",
              r_text(applied, "metadata.managedFields[0].time"));
    const reply *again = api_patch(a, ROBOTS("v1") "/r", "{}");
    assert_string_equal(again->body, patched->body);
}

static void metadata_without_the_object_omits_empty_labels(void **state)
{
    (void)state;
    kc_auto(api) *a = start_with_robots();
    apply(a, ROBOTS("v1") "/r?fieldManager=one", EMPTY_LABELS);
    const reply *r = SEND(a, "GET", ROBOTS("v1"), NULL,
                          .accept = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;"
                                    "v=v1");
    assert_code(r, 200);
    assert_at(r, "items[0].metadata.name", "r");
    assert_at(r, "items[0].metadata.labels", "");
}

static void apply_of_empty_labels_in_another_version_moves_nothing(void **state)
{
    (void)state;
    kc_auto(api) *a = start_with_robots();
    const char *body = "{'apiVersion':'example.com/v2','kind':'Robot','metadata':{'name':'r',"
                       "'labels':{}},'spec':{'size':1}}";
    const reply *first = apply(a, ROBOTS("v2") "/r?fieldManager=one", body);
    assert_code(first, 201);
    const reply *second = apply(a, ROBOTS("v2") "/r?fieldManager=one", body);
    assert_string_equal(version_of(second), version_of(first));
    const reply *third = api_patch(a, ROBOTS("v1") "/r", "{}");
    assert_string_equal(version_of(third), version_of(first));
}

static void label_of_an_update_replaces_empty_labels(void **state)
{
    (void)state;
    kc_auto(api) *a = start_with_robots();
    apply(a, ROBOTS("v1") "/r?fieldManager=one", EMPTY_LABELS);
    api_patch(a, ROBOTS("v1") "/r", "{'metadata':{'labels':{'a':'b'}}}");
    const reply *r = apply(a, ROBOTS("v1") "/r?fieldManager=one", EMPTY_LABELS);
    assert_at(r, "metadata.labels.a", "b");
    const reply *again = apply(a, ROBOTS("v1") "/r?fieldManager=one", EMPTY_LABELS);
    assert_string_equal(again->body, r->body);
}

static void write_without_a_change_stores_new_defaults_of_the_definition(void **state)
{
    (void)state;
    kc_auto(api) *a = start_with_robots();
    const reply *r = apply(a, ROBOTS("v1") "/r?fieldManager=one", ROBOT("v1", "'size':1"));
    const char *before = version_of(r);
    assert_code(SEND(a, "PATCH", CRDS "/robots.example.com",
                     "[{'op':'add','path':'/spec/versions/0/schema/openAPIV3Schema/properties/spec/"
                     "properties/mode','value':{'type':'string','default':'x'}}]",
                     .type = "application/json-patch+json"),
                200);
    for (int i = 0; i < 5000 && !*r_text(r, "spec.mode"); i++, usleep(2000))
        r = api_get(a, ROBOTS("v1") "/r");
    assert_at(r, "spec.mode", "x");
    assert_string_equal(version_of(r), before);
    const reply *patched = api_patch(a, ROBOTS("v1") "/r", "{}");
    assert_string_not_equal(version_of(patched), before);
    assert_string_equal(version_of(api_patch(a, ROBOTS("v1") "/r", "{}")), version_of(patched));
}

TESTS(apply_creates_object_that_does_not_exist, yaml_body_is_applied,
      second_apply_moves_neither_version_nor_time, managers_that_apply_the_same_value_share_it,
      value_of_another_manager_is_a_conflict, object_without_owners_belongs_to_before_first_apply,
      dry_run_stores_nothing, options_of_apply_are_validated,
      configuration_of_other_kind_name_or_uid_is_refused, stale_resource_version_is_a_conflict,
      value_that_the_type_does_not_allow_is_refused, duplicate_keys_are_warnings_or_refused,
      items_of_associative_list_have_owners, scale_and_status_are_applied,
      kubectl_takes_over_client_side_apply, custom_objects_are_applied_in_any_version,
      list_that_becomes_atomic_keeps_its_owners,
      apply_of_empty_labels_moves_the_version_of_a_custom_object_each_time,
      empty_labels_are_dropped_by_the_next_write_even_after_a_restart,
      metadata_without_the_object_omits_empty_labels,
      apply_of_empty_labels_in_another_version_moves_nothing,
      label_of_an_update_replaces_empty_labels,
      write_without_a_change_stores_new_defaults_of_the_definition)
