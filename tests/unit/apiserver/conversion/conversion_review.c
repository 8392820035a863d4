/* SPDX-License-Identifier: Apache-2.0 */
/* The review that a conversion webhook gets, and every way in which its response can be wrong. */
#include "testing.h"

#include "apiserver/conversion/conversion_review.h"
#include "kc/json.h"

#define ORIGINAL                                                                               \
    "{'apiVersion':'x.io/v1','kind':'Robot','metadata':{'name':'a','namespace':'n','uid':'u'," \
    "'labels':{'l':'1'},'finalizers':['f.io/x'],'resourceVersion':'7'},'spec':{'a':1}}"

static kc__conversion_failure read_body(const char *json, const char *version, size_t n,
                                        kc_error *err)
{
    kc_auto(kc_object) *object = object_of(ORIGINAL);
    kc_object *objects[] = {object, object};
    kc_autofree char *body = strdup(json);
    for (char *c = body; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    kc_auto(kc_view) *view = NULL;
    const kc_value *converted = NULL;
    return kc__conversion_review_read(kc_cstr(body),
                                      &(kc__conversion_review){.version = version,
                                                               .uid = KC_STR("1"),
                                                               .desired = "x.io/v2",
                                                               .objects = objects,
                                                               .n = n},
                                      &view, &converted, err);
}

static void request_has_objects_and_desired_version(void **state)
{
    (void)state;
    kc_auto(kc_object) *object = object_of("{'apiVersion':'x.io/v1','kind':'Robot'}");
    kc_object *objects[] = {object, object};
    kc_scoped(kc_buf) out = {0};
    kc__conversion_review_write(&out, &(kc__conversion_review){.version = "v1beta1",
                                                               .uid = KC_STR("1"),
                                                               .desired = "x.io/v2",
                                                               .objects = objects,
                                                               .n = 2});
    assert_string_equal(
        kc_buf_cstr(&out),
        "{\"kind\":\"ConversionReview\",\"apiVersion\":\"apiextensions.k8s.io/v1beta1\","
        "\"request\":{\"uid\":\"1\",\"desiredAPIVersion\":\"x.io/v2\",\"objects\":["
        "{\"apiVersion\":\"x.io/v1\",\"kind\":\"Robot\"},"
        "{\"apiVersion\":\"x.io/v1\",\"kind\":\"Robot\"}]},"
        "\"response\":{\"uid\":\"\",\"convertedObjects\":null,\"result\":{\"metadata\":{}}}}\n");
}

#define HEAD "{'apiVersion':'apiextensions.k8s.io/v1','kind':'ConversionReview','response':"

static const struct {
    const char *body, *version;
    kc__conversion_failure failure;
    const char *message;
} responses[] = {
    {HEAD "{'uid':'1','convertedObjects':[{}],'result':{'status':'Success'}}}", "v1",
     KC__CONVERSION_FAILURE_NONE, ""},
    {"{'response':{'uid':'x','convertedObjects':[{}],'result':{'status':'Success'}}}", "v1beta1",
     KC__CONVERSION_FAILURE_NONE, ""},
    {HEAD "{'uid':'2','convertedObjects':[{}],'result':{'status':'Success'}}}", "v1",
     KC__CONVERSION_FAILURE_MALFORMED, "expected response.uid=\"1\", got \"2\""},
    {"{'kind':'ConversionReview','response':{}}", "v1", KC__CONVERSION_FAILURE_MALFORMED,
     "expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview, got /, "
     "Kind=ConversionReview"},
    {HEAD "null}", "v1", KC__CONVERSION_FAILURE_MALFORMED, "no response provided"},
    {HEAD "{'uid':'1','result':{'status':'Failure','message':'no'}}}", "v1",
     KC__CONVERSION_FAILURE_MALFORMED, "no"},
    {HEAD "{'uid':'1','result':{'status':'Failure'}}}", "v1", KC__CONVERSION_FAILURE_MALFORMED,
     "response.result.status was 'Failure', not 'Success'"},
    {HEAD "{'uid':'1','convertedObjects':[],'result':{'status':'Success'}}}", "v1",
     KC__CONVERSION_FAILURE_PARTIAL,
     "conversion webhook for x.io/v1, Kind=Robot returned 0 objects, expected 1"},
    {"{'apiVersion':'apiextensions.k8s.io/v1beta1','kind':'ConversionReview'}", "v1",
     KC__CONVERSION_FAILURE_CALL,
     "converting (v1beta1.ConversionReview) to (v1.ConversionReview): unknown conversion"},
    {"{'apiVersion':'v1','kind':'Status'}", "v1", KC__CONVERSION_FAILURE_CALL,
     "no kind \"Status\" is registered for version \"v1\" in scheme "
     "\"k8s.io/apiserver/pkg/util/webhook/client.go:71\""},
    {HEAD "'x'}", "v1", KC__CONVERSION_FAILURE_CALL,
     "json: cannot unmarshal string into Go struct field ConversionReview.response of type "
     "v1.ConversionResponse"},
    {"{'a':", "v1", KC__CONVERSION_FAILURE_CALL,
     "couldn't get version/kind; json parse error: unexpected end of JSON input"},
};

static void wrong_responses_are_reported_as_kubernetes_does(void **state)
{
    (void)state;
    for (size_t i = 0; i < KC_COUNT(responses); i++) {
        kc_scoped(kc_error) err = {0};
        assert_int_equal(read_body(responses[i].body, responses[i].version, 1, &err),
                         responses[i].failure);
        if (responses[i].failure)
            assert_string_equal(kc_error_text(&err), responses[i].message);
    }
}

#define FOR "conversion webhook for x.io/v1, Kind=Robot returned "

static const struct {
    const char *converted, *message;
} objects[] = {
    {"{'apiVersion':'x.io/v3','kind':'Robot'}",
     FOR "invalid object at index 0: invalid groupVersion (expected x.io/v2, received x.io/v3)"},
    {"{'kind':'Robot'}",
     FOR "invalid object at index 0: invalid groupVersion (expected x.io/v2, received )"},
    {"{'apiVersion':'x.io/v2','kind':'R'}",
     FOR "invalid object at index 0: invalid kind (expected Robot, received R)"},
    {"{'apiVersion':'x.io/v2'}", "Object 'Kind' is missing in '{\"apiVersion\":\"x.io/v2\"}'"},
    {"{'apiVersion':'x.io/v2','kind':'Robot','metadata':{'name':'b'}}",
     FOR "invalid object: must have the same name: a != b"},
    {"{'apiVersion':'x.io/v2','kind':'Robot','metadata':{'name':'a'}}",
     FOR "invalid object: must have the same namespace: n != "},
    {"{'apiVersion':'x.io/v2','kind':'Robot','metadata':{'name':'a','namespace':'n','uid':'v'}}",
     FOR "invalid object: must have the same UID: u != v"},
    {"{'apiVersion':'x.io/v2','kind':'Robot','metadata':{'name':'a','namespace':'n','uid':'u',"
     "'labels':[]}}",
     FOR "invalid metadata: invalid metadata.labels of type []interface {} in converted object"},
    {"{'apiVersion':'x.io/v2','kind':'Robot','metadata':{'name':'a','namespace':'n','uid':'u',"
     "'labels':{'a':1}}}",
     FOR "invalid metadata: metadata.labels[a] must be a string, but is int64 in converted object"},
};

static void objects_with_another_identity_are_refused(void **state)
{
    (void)state;
    kc_auto(kc_object) *original = object_of(ORIGINAL);
    for (size_t i = 0; i < KC_COUNT(objects); i++) {
        kc_scoped(kc_error) err = {0};
        kc_auto(kc_view) *view = view_of(objects[i].converted);
        assert_null(kc__conversion_object_read(kc_view_root(view), original, "x.io/v2", &err));
        assert_string_equal(kc_error_text(&err), objects[i].message);
    }
}

static void metadata_is_restored_except_for_labels_and_annotations(void **state)
{
    (void)state;
    kc_auto(kc_object) *original = object_of(ORIGINAL);
    kc_auto(kc_view) *view = view_of(
        "{'apiVersion':'x.io/v2','kind':'Robot','metadata':{'name':'a','namespace':'n','uid':'u',"
        "'annotations':{'x':'y'},'finalizers':[],'resourceVersion':'9'},'spec':{'b':1}}");
    kc_auto(kc_object) *read =
        kc__conversion_object_read(kc_view_root(view), original, "x.io/v2", NULL);
    assert_object_json(
        read, "{\"apiVersion\":\"x.io/v2\",\"kind\":\"Robot\",\"metadata\":{\"name\":\"a\","
              "\"namespace\":\"n\",\"uid\":\"u\",\"finalizers\":[\"f.io/x\"],"
              "\"resourceVersion\":\"7\",\"annotations\":{\"x\":\"y\"}},\"spec\":{\"b\":1}}");
}

TESTS(request_has_objects_and_desired_version, wrong_responses_are_reported_as_kubernetes_does,
      objects_with_another_identity_are_refused,
      metadata_is_restored_except_for_labels_and_annotations)
