/* SPDX-License-Identifier: Apache-2.0 */
/* scale.c: the subresource scale of workloads; that of custom objects is in custom_resource.c. */
#include "api_testing.h"

#define APPS "/apis/apps/v1/namespaces/default/"
#define WEB  APPS "deployments/web"
#define TEMPLATE \
    "'template':{'metadata':{'labels':{'app':'web'}},'spec':{'containers':[{'name':'c','image':'i'}]}}"
#define SCALE \
    "{'apiVersion':'autoscaling/v1','kind':'Scale','metadata':{'name':'web'%s},'spec':{%s}}"

static const reply *make(api *a)
{
    return api_post(a, APPS "deployments",
                    "{'metadata':{'name':'web','labels':{'x':'y'}},'spec':{'replicas':2,'selector':"
                    "{'matchLabels':{'app':'web'},'matchExpressions':[{'key':'b','operator':"
                    "'NotIn','values':['z','y']},{'key':'a','operator':'DoesNotExist'}]}," TEMPLATE
                    "}}");
}

static const reply *put(api *a, const char *metadata, const char *spec)
{
    return api_put(a, WEB "/scale", text(a, SCALE, metadata, spec));
}

static void scale_has_replicas_and_selector_of_its_object(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    const reply *web = make(a);
    api_patch(a, WEB "/status", "{'status':{'replicas':1}}");
    const reply *r = api_get(a, WEB "/scale");
    assert_code(r, 200);
    assert_at(r, "apiVersion", "autoscaling/v1");
    assert_at(r, "kind", "Scale");
    assert_at(r, "metadata.uid", r_text(web, "metadata.uid"));
    assert_at(r, "metadata.creationTimestamp", r_text(web, "metadata.creationTimestamp"));
    assert_at(r, "metadata.labels", "");
    assert_at(r, "spec", "{\"replicas\":2}");
    assert_at(r, "status", "{\"replicas\":1,\"selector\":\"!a,app=web,b notin (y,z)\"}");
}

static void every_workload_has_a_scale(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    static const struct {
        const char *collection, *selector;
    } kinds[] = {
        {APPS "replicasets", "{'matchLabels':{'app':'web'}}"},
        {APPS "statefulsets", "{'matchLabels':{'app':'web'}}"},
        {"/api/v1/namespaces/default/replicationcontrollers", "{'app':'web'}"},
    };
    for (size_t i = 0; i < KC_COUNT(kinds); i++) {
        const char *scale = text(a, "%s/web/scale", kinds[i].collection);
        assert_code(api_post(a, kinds[i].collection,
                             text(a,
                                  "{'metadata':{'name':'web'},'spec':{'selector':%s,"
                                  "'serviceName':'s'," TEMPLATE "}}",
                                  kinds[i].selector)),
                    201);
        assert_at(api_get(a, scale), "status.selector", "app=web");
        assert_at(api_put(a, scale, text(a, SCALE, "", "'replicas':7")), "spec.replicas", "7");
        assert_at(api_get(a, text(a, "%s/web", kinds[i].collection)), "spec.replicas", "7");
    }
}

static void scale_update_changes_replicas_only(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    make(a);
    assert_at(put(a, ",'labels':{'n':'o'}", "'replicas':5"), "metadata.labels", "");
    const reply *web = api_get(a, WEB);
    assert_at(web, "spec.replicas", "5");
    assert_at(web, "metadata.generation", "2");
    assert_at(web, "metadata.labels", "{\"x\":\"y\"}");
    assert_at(put(a, "", ""), "spec", "{}");
    assert_at(api_get(a, WEB), "spec.replicas", "0");
}

static void every_patch_type_applies_to_scale(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    make(a);
    assert_at(api_patch(a, WEB "/scale", "{'spec':{'replicas':3}}"), "spec.replicas", "3");
    assert_at(SEND(a, "PATCH", WEB "/scale",
                   .body = "[{'op':'replace','path':'/spec/replicas','value':4}]",
                   .type = "application/json-patch+json"),
              "spec.replicas", "4");
    assert_at(SEND(a, "PATCH", WEB "/scale", .body = "{'spec':{'replicas':5}}",
                   .type = "application/strategic-merge-patch+json"),
              "spec.replicas", "5");
    assert_code(api_patch(a, WEB "/scale", "{'spec':{'replicas':'x'}}"), 422);
    assert_at(api_get(a, WEB), "spec.replicas", "5");
}

static void scale_update_with_stale_version_or_uid_returns_conflict(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    const reply *web = make(a);
    const char *version = r_text(web, "metadata.resourceVersion");
    const char *named = text(a, ",'resourceVersion':'%s'", version);
    assert_code(put(a, named, "'replicas':3"), 200);
    assert_status(put(a, named, "'replicas':4"), 409, "Conflict",
                  "Operation cannot be fulfilled on deployments.apps \"web\": the object has been "
                  "modified; please apply your changes to the latest version and try again");
    assert_code(put(a, ",'uid':'x'", "'replicas':4"), 409);
    const reply *r = api_patch(a, WEB "/scale", "{'metadata':{'uid':'x'}}");
    assert_status(r, 409, "Conflict",
                  text(a,
                       "Operation cannot be fulfilled on deployments/scale.apps \"web\": "
                       "Precondition failed: UID in precondition: x, UID in object meta: %s",
                       r_text(web, "metadata.uid")));
    assert_at(r, "details", "{\"name\":\"web\",\"group\":\"apps\",\"kind\":\"deployments/scale\"}");
}

static void invalid_scale_is_reported_as_scale(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    make(a);
    const reply *r = put(a, "", "'replicas':-1");
    assert_status(r, 422, "Invalid",
                  "Scale.autoscaling \"web\" is invalid: spec.replicas: Invalid value: -1: must be "
                  "greater than or equal to 0");
    assert_at(r, "details.kind", "Scale");
    assert_code(put(a, ",'labels':{'a b':'c'}", ""), 422);
    assert_status(api_put(a, WEB "/scale", text(a, SCALE, ",'namespace':'other'", "")), 400,
                  "BadRequest",
                  "the namespace of the provided object does not match the namespace sent on the "
                  "request");
}

static void body_of_another_kind_is_refused(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    make(a);
    assert_code(api_put(a, WEB "/scale", "{'metadata':{'name':'web'},'spec':{'replicas':3}}"), 200);
    assert_status(api_put(a, WEB "/scale", "{'kind':'Deployment','apiVersion':'apps/v1'}"), 400,
                  "BadRequest",
                  "Deployment in version \"v1\" cannot be handled as a Scale: converting "
                  "(v1.Deployment) to (autoscaling.Scale): unknown conversion");
    assert_status(api_put(a, WEB "/scale", "{'kind':'Scale','apiVersion':'apps/v1beta1'}"), 400,
                  "BadRequest",
                  "the API version in the data (apps/v1beta1) does not match the expected API "
                  "version (autoscaling/v1)");
    const reply *r = put(a, "", "'replicas':3,'what':1");
    assert_string_equal(r_header(r, "Warning"), "299 - \"unknown field \\\"spec.what\\\"\"");
    assert_code(
        SEND(a, "PUT", WEB "/scale?fieldValidation=Strict", .body = text(a, SCALE, "", "'what':1")),
        400);
}

static void dry_run_does_not_scale(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    make(a);
    assert_at(SEND(a, "PUT", WEB "/scale?dryRun=All", .body = text(a, SCALE, "", "'replicas':9")),
              "spec.replicas", "9");
    assert_at(api_get(a, WEB), "spec.replicas", "2");
}

static void scale_is_served_as_table_and_metadata(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    make(a);
    const reply *table = SEND(a, "GET", WEB "/scale?includeObject=Object",
                              .accept = "application/json;as=Table;v=v1;g=meta.k8s.io");
    assert_at(table, "rows[0].cells[1]", "2");
    assert_at(table, "rows[0].object.kind", "Scale");
    assert_at(SEND(a, "GET", WEB "/scale",
                   .accept = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"),
              "metadata.name", "web");
}

static void scale_of_missing_object_returns_404(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    static const char none[] = "deployments.apps \"web\" not found";
    assert_status(api_get(a, WEB "/scale"), 404, "NotFound", none);
    assert_status(put(a, "", "'replicas':1"), 404, "NotFound", none);
    assert_status(api_patch(a, WEB "/scale", "{}"), 404, "NotFound", none);
    assert_code(api_get(a, APPS "daemonsets/x/scale"), 404);
    make(a);
    assert_code(api_delete(a, WEB "/scale", NULL), 405);
    assert_code(api_post(a, WEB "/scale", "{}"), 405);
    assert_code(api_get(a, WEB "/scale/more"), 404);
}

TESTS(scale_has_replicas_and_selector_of_its_object, every_workload_has_a_scale,
      scale_update_changes_replicas_only, every_patch_type_applies_to_scale,
      scale_update_with_stale_version_or_uid_returns_conflict, invalid_scale_is_reported_as_scale,
      body_of_another_kind_is_refused, dry_run_does_not_scale,
      scale_is_served_as_table_and_metadata, scale_of_missing_object_returns_404)
