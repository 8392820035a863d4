/* SPDX-License-Identifier: Apache-2.0 */
/* crd_beta.c: CRDs of apiextensions.k8s.io/v1beta1, as in old manifests. */
#include "api_testing.h"

#include <unistd.h>

#define OLD      "/apis/apiextensions.k8s.io/v1beta1/customresourcedefinitions"
#define NEW      "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
#define NETWORKS "/apis/samplecrd.example.com/v1/namespaces/default/networks"

static const reply *wait_for(api *a, const char *target, const char *path, const char *expected)
{
    const reply *r = NULL;
    for (int i = 0; i < 5000; i++) {
        r = api_get(a, target);
        if (!strcmp(r_text(r, path), expected))
            return r;
        usleep(2000);
    }
    fail_msg("%s of %s is not %s", path, target, expected);
    return r;
}

/* One version, no schema, no scope: all that the first definitions had. `more` is JSON. */
static const reply *define_networks(api *a, const char *more)
{
    const reply *r = api_post(
        a, OLD,
        text(a,
             "{'apiVersion':'apiextensions.k8s.io/v1beta1','kind':'CustomResourceDefinition',"
             "'metadata':{'name':'networks.samplecrd.example.com'},'spec':{'group':"
             "'samplecrd.example.com','version':'v1','names':{'kind':'Network','plural':"
             "'networks'}%s}}",
             more));
    if (r->status == 201)
        wait_for(a, NEW "/networks.samplecrd.example.com", "status.conditions[1].status", "True");
    return r;
}

static const char *network_body(api *a, const char *spec)
{
    return text(a,
                "{'apiVersion':'samplecrd.example.com/v1','kind':'Network','metadata':"
                "{'name':'one'},'spec':%s}",
                spec);
}

static const reply *make_network(api *a, const char *spec)
{
    return api_post(a, NETWORKS, network_body(a, spec));
}

/* A changed schema is served a moment after its definition was written. */
static void wait_until_refused(api *a, const char *spec)
{
    for (int i = 0; i < 5000; i++) {
        const reply *r = api_post(a, NETWORKS "?dryRun=All", network_body(a, spec));
        if (r->status == 422)
            return;
        usleep(2000);
    }
    fail_msg("%s is still accepted", spec);
}

static void v1beta1_crd_without_schema_preserves_unknown_fields(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    const reply *r = define_networks(a, ",'scope':'Namespaced'");
    assert_code(r, 201);
    assert_at(r, "apiVersion", "apiextensions.k8s.io/v1beta1");
    assert_at(r, "spec.version", "v1");
    assert_at(r, "spec.preserveUnknownFields", "true");
    r = make_network(a, "{'cidr':'192.168.0.0/16','nested':{'deep':[1,{'x':null}]}}");
    assert_code(r, 201);
    assert_at(r, "spec.cidr", "192.168.0.0/16");
    assert_null(r_header(r, "Warning"));
    assert_at(api_get(a, NETWORKS "/one"), "spec.nested.deep", "[1,{\"x\":null}]");
}

static void v1beta1_request_returns_deprecation_warning(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    assert_string_equal(
        r_header(api_get(a, OLD), "Warning"),
        "299 - \"apiextensions.k8s.io/v1beta1 CustomResourceDefinition is deprecated in v1.16+, "
        "unavailable in v1.22+; use apiextensions.k8s.io/v1 CustomResourceDefinition\"");
    assert_null(r_header(api_get(a, NEW), "Warning"));
}

static void both_versions_return_the_same_crd(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    define_networks(a, ",'additionalPrinterColumns':[{'name':'CIDR','type':'string','JSONPath':"
                       "'.spec.cidr'}],'subresources':{'status':{}}");
    const reply *r = api_get(a, NEW "/networks.samplecrd.example.com");
    assert_at(r, "apiVersion", "apiextensions.k8s.io/v1");
    assert_at(r, "spec.version", "");
    assert_at(r, "spec.scope", "Namespaced");
    assert_at(r, "spec.versions[0].name", "v1");
    assert_at(r, "spec.versions[0].additionalPrinterColumns[0].jsonPath", ".spec.cidr");
    assert_at(r, "spec.versions[0].subresources.status", "{}");
    r = api_get(a, OLD);
    assert_at(r, "kind", "CustomResourceDefinitionList");
    assert_at(r, "apiVersion", "apiextensions.k8s.io/v1beta1");
    assert_at(r, "items[0].spec.additionalPrinterColumns[0].JSONPath", ".spec.cidr");
    assert_at(r, "items[0].spec.versions[0].name", "v1");
    assert_at(r, "items[0].spec.versions[0].subresources", "");
    assert_at(r, "items[0].status.storedVersions[0]", "v1");
}

static void v1_crd_read_as_v1beta1_does_not_preserve_unknown_fields(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    assert_code(
        api_post(a, NEW,
                 "{'apiVersion':'apiextensions.k8s.io/v1','kind':'CustomResourceDefinition',"
                 "'metadata':{'name':'as.b.example.com'},'spec':{'group':'b.example.com','scope':"
                 "'Cluster','names':{'plural':'as','kind':'A'},'versions':[{'name':'v1','served':"
                 "true,'storage':true,'schema':{'openAPIV3Schema':{'type':'object'}}}]}}"),
        201);
    const reply *r = api_get(a, OLD "/as.b.example.com");
    assert_at(r, "spec.preserveUnknownFields", "false");
    assert_at(r, "spec.validation.openAPIV3Schema.type", "object");
    r = api_patch(a, OLD "/as.b.example.com", "{'spec':{'names':{'shortNames':['aa']}}}");
    assert_code(r, 200);
    assert_at(r, "spec.preserveUnknownFields", "false");
    r = api_get(a, NEW "/as.b.example.com");
    assert_at(r, "spec.preserveUnknownFields", "");
    assert_at(r, "spec.names.shortNames[0]", "aa");
    assert_at(r, "metadata.generation", "2");
}

static void put_of_unchanged_v1beta1_crd_is_not_written(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    define_networks(a, "");
    const reply *before = api_get(a, OLD "/networks.samplecrd.example.com");
    const reply *r = api_send(a, &(api_request){.method = "PUT",
                                                .target = OLD "/networks.samplecrd.example.com",
                                                .type = "application/json",
                                                .raw = kc_str_of(before->body, before->length)});
    assert_code(r, 200);
    assert_string_equal(r->body, before->body);
}

static void patch_applies_to_the_requested_version(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    define_networks(a, "");
    const reply *r = SEND(
        a, "PATCH", OLD "/networks.samplecrd.example.com", .type = "application/json-patch+json",
        .body = "[{'op':'test','path':'/spec/version','value':'v1'},{'op':'add','path':"
                "'/spec/validation','value':{'openAPIV3Schema':{'properties':{'spec':{'required':"
                "['cidr']}}}}}]");
    assert_code(r, 200);
    r = SEND(a, "PATCH", OLD "/networks.samplecrd.example.com",
             .type = "application/strategic-merge-patch+json",
             .body = "{'metadata':{'labels':{'a':'b'}}}");
    assert_code(r, 200);
    assert_at(r, "spec.validation.openAPIV3Schema.properties.spec.required[0]", "cidr");
    assert_at(api_get(a, NEW "/networks.samplecrd.example.com"), "metadata.labels.a", "b");
    wait_until_refused(a, "{'gateway':'192.168.0.1'}");
    assert_code(make_network(a, "{'gateway':'192.168.0.1'}"), 422);
    assert_code(make_network(a, "{'cidr':'192.168.0.0/16','gateway':'192.168.0.1'}"), 201);
}

static void v1_client_can_update_crd_created_in_v1beta1(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    define_networks(a, "");
    const char *name = NEW "/networks.samplecrd.example.com";
    assert_code(api_patch(a, name, "{'metadata':{'labels':{'a':'b'}}}"), 200);
    assert_code(api_patch(a, name, "{'spec':{'names':{'shortNames':['net']}}}"), 200);
    const reply *r = api_patch(a, name, "{'spec':{'preserveUnknownFields':false}}");
    assert_code(r, 422);
    assert_at(r, "details.causes[0].field", "spec.versions[0].schema.openAPIV3Schema");
}

static void status_can_be_read_and_written_in_both_versions(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    define_networks(a, "");
    const reply *r = api_get(a, OLD "/networks.samplecrd.example.com/status");
    assert_at(r, "apiVersion", "apiextensions.k8s.io/v1beta1");
    assert_at(r, "status.acceptedNames.kind", "Network");
    r = api_patch(a, OLD "/networks.samplecrd.example.com/status",
                  "{'spec':{'version':'v2'},'status':{'storedVersions':['v1']}}");
    assert_code(r, 200);
    assert_at(r, "spec.version", "v1");
}

static void unknown_field_warning_uses_field_names_of_the_version(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    const reply *r =
        define_networks(a, ",'additionalPrinterColumns':[{'name':'C','type':'string','JSONPath':"
                           "'.spec.a','jsonPath':'.spec.b'}]");
    assert_code(r, 201);
    assert_string_equal(
        r_header_at(r, "Warning", 1),
        "299 - \"unknown field \\\"spec.additionalPrinterColumns[0].jsonPath\\\"\"");
}

static void watch_sends_crd_in_its_version(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    watch *old = WATCH(a, OLD "?watch=1"), *new = WATCH(a, NEW "?watch=1");
    define_networks(a, "");
    const char *line = assert_event(old, "ADDED", "networks.samplecrd.example.com");
    assert_string_equal(line_text(old, line, "object.spec.version"), "v1");
    line = assert_event(new, "ADDED", "networks.samplecrd.example.com");
    assert_string_equal(line_text(new, line, "object.spec.versions[0].name"), "v1");
    assert_string_equal(line_text(new, line, "object.apiVersion"), "apiextensions.k8s.io/v1");
}

static void deleted_v1beta1_crd_deletes_its_objects(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    define_networks(a, "");
    make_network(a, "{}");
    const reply *r = api_delete(a, OLD "/networks.samplecrd.example.com", NULL);
    assert_code(r, 200);
    assert_at(r, "apiVersion", "apiextensions.k8s.io/v1beta1");
    wait_for(a, NEW "/networks.samplecrd.example.com", "code", "404");
    assert_code(api_get(a, NETWORKS), 404);
}

static void discovery_prefers_v1(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    const reply *r = api_get(a, "/apis/apiextensions.k8s.io");
    assert_at(r, "preferredVersion.version", "v1");
    assert_at(r, "versions[0].version", "v1");
    assert_at(r, "versions[1].version", "v1beta1");
    r = api_get(a, "/apis/apiextensions.k8s.io/v1beta1");
    assert_at(r, "resources[0].name", "customresourcedefinitions");
    assert_at(r, "resources[1].name", "customresourcedefinitions/status");
    r = api_get(a, "/openapi/v3/apis/apiextensions.k8s.io/v1beta1");
    assert_code(r, 200);
    assert_non_null(strstr(r->body, "v1beta1.CustomResourceDefinitionSpec\""));
    assert_non_null(strstr(r->body, "\"preserveUnknownFields\""));
}

TESTS(v1beta1_crd_without_schema_preserves_unknown_fields,
      v1beta1_request_returns_deprecation_warning, both_versions_return_the_same_crd,
      v1_crd_read_as_v1beta1_does_not_preserve_unknown_fields,
      put_of_unchanged_v1beta1_crd_is_not_written, patch_applies_to_the_requested_version,
      v1_client_can_update_crd_created_in_v1beta1, status_can_be_read_and_written_in_both_versions,
      unknown_field_warning_uses_field_names_of_the_version, watch_sends_crd_in_its_version,
      deleted_v1beta1_crd_deletes_its_objects, discovery_prefers_v1)
