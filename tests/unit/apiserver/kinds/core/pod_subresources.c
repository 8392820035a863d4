/* SPDX-License-Identifier: Apache-2.0 */
/* pod_subresources.c: the subresources ephemeralcontainers and resize of pods. */
#include "api_testing.h"

#define PODS  "/api/v1/namespaces/default/pods"
#define DEBUG PODS "/p/ephemeralcontainers"
#define SIZE  PODS "/p/resize"

static const reply *make(api *a, const char *resources, const char *spec)
{
    return api_post(a, PODS,
                    text(a,
                         "{'metadata':{'name':'p'},'spec':{'containers':[{'name':'c','image':'i',"
                         "'resources':{%s}}]%s}}",
                         resources, spec));
}

static const reply *strategic(api *a, const char *target, const char *body)
{
    return SEND(a, "PATCH", target, .body = body, .type = "application/strategic-merge-patch+json");
}

static const reply *debug(api *a, const char *containers)
{
    return strategic(a, DEBUG, text(a, "{'spec':{'ephemeralContainers':[%s]}}", containers));
}

static const reply *resize(api *a, const char *resources)
{
    return strategic(a, SIZE,
                     text(a, "{'spec':{'containers':[{'name':'c','resources':{%s}}]}}", resources));
}

/* ---- ephemeral containers ---- */

static void ephemeral_container_is_added(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    make(a, "", "");
    const reply *r = debug(a, "{'name':'d','image':'busybox','targetContainerName':'c'}");
    assert_code(r, 200);
    assert_at(r, "kind", "Pod");
    assert_at(r, "spec.ephemeralContainers",
              "[{\"name\":\"d\",\"image\":\"busybox\",\"resources\":{},"
              "\"terminationMessagePath\":\"/dev/termination-log\",\"terminationMessagePolicy\":"
              "\"File\",\"imagePullPolicy\":\"Always\",\"targetContainerName\":\"c\"}]");
    assert_at(r, "metadata.generation", "2");
    assert_string_equal(api_get(a, DEBUG)->body, api_get(a, PODS "/p")->body);
}

static void ephemeralcontainers_update_changes_nothing_else(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    const reply *before = make(a, "", "");
    assert_code(strategic(a, DEBUG,
                          "{'metadata':{'labels':{'n':'o'}},'spec':{'priority':5,'containers':[{"
                          "'name':'c','image':'other'}]},'status':{'phase':'Running'}}"),
                200);
    /* As in Kubernetes the request owns what it sent, though nothing of it was stored. */
    const char *after = api_get(a, PODS "/p")->body;
    assert_null(strstr(after, "\"labels\":{\"n\""));
    assert_string_equal(strstr(after, "\"spec\":{\"containers\""),
                        strstr(before->body, "\"spec\":{\"containers\""));
}

static void existing_ephemeral_container_cannot_be_changed_or_removed(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    make(a, "", "");
    debug(a, "{'name':'d','image':'x'}");
    assert_code(debug(a, "{'name':'e','image':'x'}"), 200);
    assert_code(debug(a, "{'name':'d','image':'y'}"), 422);
    assert_status(api_patch(a, DEBUG, "{'spec':{'ephemeralContainers':null}}"), 422, "Invalid",
                  "Pod \"p\" is invalid: [spec.ephemeralContainers: Forbidden: existing ephemeral "
                  "containers \"e\" may not be removed\n, spec.ephemeralContainers: Forbidden: "
                  "existing ephemeral containers \"d\" may not be removed\n]");
}

static void invalid_ephemeral_containers_are_reported(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    make(a, "", "");
    assert_status(debug(a,
                        "{'name':'c','image':'x'},{'name':'d','targetContainerName':'n'},{'name':"
                        "'e','image':'x','ports':[{'containerPort':1}]}"),
                  422, "Invalid",
                  "Pod \"p\" is invalid: [spec.ephemeralContainers[0].name: Duplicate value: "
                  "\"c\", spec.ephemeralContainers[1].image: Required value, "
                  "spec.ephemeralContainers[1].targetContainerName: Not found: \"n\", "
                  "spec.ephemeralContainers[2].ports: Forbidden: cannot be set for an Ephemeral "
                  "Container]");
}

/* ---- resize ---- */

static void resize_changes_container_resources(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    make(a, "'requests':{'cpu':'100m'}", "");
    const reply *r = resize(a, "'requests':{'cpu':'200m'}");
    assert_code(r, 200);
    assert_at(r, "spec.containers[0].resources", "{\"requests\":{\"cpu\":\"200m\"}}");
    assert_at(r, "metadata.generation", "2");
    assert_at(api_get(a, SIZE), "spec.containers[0].resources.requests.cpu", "200m");
    assert_code(api_patch(a, SIZE, "{'metadata':{'labels':{'n':'o'}}}"), 200);
    assert_at(api_get(a, PODS "/p"), "metadata.labels", "");
}

static void resize_of_other_resources_is_forbidden(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    make(a, "'requests':{'cpu':'100m','memory':'1Mi'},'limits':{'memory':'2Mi'}", "");
    static const char only[] =
        "Pod \"p\" is invalid: spec: Forbidden: only cpu and memory resources "
        "are mutable";
    assert_status(resize(a, "'requests':{'ephemeral-storage':'1Gi'}"), 422, "Invalid", only);
    assert_status(resize(a, "'limits':{'memory':null}"), 422, "Invalid",
                  "Pod \"p\" is invalid: spec.containers[0].resources.limits: Forbidden: resource "
                  "limits cannot be removed");
    assert_status(
        strategic(a, SIZE, "{'spec':{'containers':[{'name':'d','image':'x'}]}}"), 422, "Invalid",
        "Pod \"p\" is invalid: spec.containers: Forbidden: containers may not be added or "
        "removed on resize");
}

static void resize_that_changes_qos_class_is_invalid(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    make(a, "", "");
    assert_status(
        resize(a, "'requests':{'cpu':'1'}"), 422, "Invalid",
        "Pod \"p\" is invalid: spec: Invalid value: \"BestEffort\": Pod QOS Class may not "
        "change as a result of resizing");
}

static void resize_of_init_container_requires_a_sidecar(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    make(a, "'requests':{'cpu':'1'}",
         ",'initContainers':[{'name':'x','image':'i'},{'name':'y','image':'i','restartPolicy':"
         "'Always'}]");
    static const char body[] = "{'spec':{'initContainers':[{'name':'%s','resources':{'requests':{"
                               "'cpu':'2m'}}}]}}";
    assert_status(
        strategic(a, SIZE, text(a, body, "x")), 422, "Invalid",
        "Pod \"p\" is invalid: spec: Forbidden: resources for non-sidecar init containers "
        "are immutable");
    assert_code(resize(a, "'requests':{'cpu':'2'}"), 200);
}

static void resize_of_unsupported_pod_is_refused(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    assert_code(resize(a, ""), 404);
    make(a, "'requests':{'cpu':'1'}", ",'os':{'name':'windows'}");
    assert_status(resize(a, "'requests':{'cpu':'2'}"), 422, "Invalid",
                  "Pod \"p\" is invalid: []: Forbidden: windows pods cannot be resized");
    api_delete(a, PODS "/p", NULL);
    make(a, "'requests':{'cpu':'1'}", ",'nodeName':'n'");
    api_patch(a, PODS "/p/status",
              "{'status':{'containerStatuses':[{'name':'c','ready':true,'restartCount':0,'image':"
              "'i','imageID':'','state':{'running':{'startedAt':'2026-01-01T00:00:00Z'}}}]}}");
    assert_status(resize(a, "'requests':{'cpu':'2'}"), 422, "Invalid",
                  "Pod \"p\" is invalid: spec: Forbidden: Pod running on node without support for "
                  "resize");
}

TESTS(ephemeral_container_is_added, ephemeralcontainers_update_changes_nothing_else,
      existing_ephemeral_container_cannot_be_changed_or_removed,
      invalid_ephemeral_containers_are_reported, resize_changes_container_resources,
      resize_of_other_resources_is_forbidden, resize_that_changes_qos_class_is_invalid,
      resize_of_init_container_requires_a_sidecar, resize_of_unsupported_pod_is_refused)
