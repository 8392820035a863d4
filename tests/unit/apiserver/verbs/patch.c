/* SPDX-License-Identifier: Apache-2.0 */
/* patch.c: PATCH. */
#include "api_testing.h"

#define MAPS "/api/v1/namespaces/default/configmaps"

static const reply *make(api *a)
{
    return api_post(a, MAPS, "{'metadata':{'name':'a','labels':{'l':'1'}},'data':{'k':'v'}}");
}

static const reply *json_patch(api *a, const char *target, const char *body)
{
    return SEND(a, "PATCH", target, body, .type = "application/json-patch+json");
}

static void merge_patch_changes_given_fields(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    make(a);
    const reply *r = api_patch(a, MAPS "/a", "{'metadata':{'labels':{'l':null,'m':'2'}}}");
    assert_code(r, 200);
    assert_at(r, "metadata.labels", "{\"m\":\"2\"}");
    assert_at(r, "data", "{\"k\":\"v\"}");
}

static void json_patch_applies_its_operations(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    make(a);
    const reply *r = json_patch(a, MAPS "/a",
                                "[{'op':'test','path':'/data/k','value':'v'},"
                                "{'op':'add','path':'/data/x','value':'y'}]");
    assert_code(r, 200);
    assert_at(r, "data", "{\"k\":\"v\",\"x\":\"y\"}");
}

static void patch_without_changes_is_not_written(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    const reply *old = make(a);
    assert_string_equal(api_patch(a, MAPS "/a", "{}")->body, old->body);
    assert_string_equal(api_patch(a, MAPS "/a", "{'data':{'k':'v'}}")->body, old->body);
    assert_string_equal(json_patch(a, MAPS "/a", "[]")->body, old->body);
}

static void patch_of_kind_or_name_is_refused(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    const reply *old = make(a);
    static const char *const patches[] = {
        "{'kind':'Secret'}",         "{'kind':'Foo'}",
        "{'apiVersion':'v2'}",       "{'apiVersion':'apps/v1'}",
        "{'metadata':{'name':'b'}}", "{'metadata':{'name':null}}",
        "{'metadata':null}",         "{'metadata':{'namespace':'b'}}",
        "{'metadata':{'uid':'b'}}",
    };
    for (size_t i = 0; i < KC_COUNT(patches); i++) {
        int status = api_patch(a, MAPS "/a", patches[i])->status;
        assert_true(status == 422 || status == 400);
    }
    assert_string_equal(api_get(a, MAPS "/a")->body, old->body);
}

static void server_set_fields_are_restored_when_patched_away(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    const reply *old = make(a);
    static const char *const patches[] = {
        "{'kind':null,'apiVersion':null}",
        "{'metadata':{'namespace':null}}",
        "{'metadata':{'uid':null,'creationTimestamp':null,'resourceVersion':null}}",
    };
    for (size_t i = 0; i < KC_COUNT(patches); i++)
        assert_string_equal(api_patch(a, MAPS "/a", patches[i])->body, old->body);
}

static void patch_of_uid_is_invalid(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    make(a);
    assert_status(api_patch(a, MAPS "/a", "{'metadata':{'uid':'q'}}"), 422, "Invalid",
                  "ConfigMap \"a\" is invalid: metadata.uid: Invalid value: \"q\": field is "
                  "immutable");
}

static void patch_with_stale_resource_version_returns_conflict(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    const char *version = r_text(make(a), "metadata.resourceVersion");
    assert_code(api_patch(a, MAPS "/a", "{'metadata':{'resourceVersion':'1'}}"), 409);
    const char *patch = text(a, "{'metadata':{'resourceVersion':'%s'},'data':{'n':'1'}}", version);
    assert_code(api_patch(a, MAPS "/a", patch), 200);
    assert_code(api_patch(a, MAPS "/a", patch), 409);
}

static void malformed_patch_returns_bad_request(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    make(a);
    static const struct {
        bool json;
        const char *body, *message;
    } wrong[] = {
        {false, "", "error decoding patch: unexpected end of JSON input"},
        {false, "null", "Invalid JSON Patch"},
        {false, "x", "error decoding patch: invalid character 'x' looking for beginning of value"},
        {false, "1",
         "error decoding patch: json: cannot unmarshal number into Go value of type "
         "map[string]interface {}"},
        {true, "", "error decoding patch: unexpected end of JSON input"},
        {true, "{}",
         "error decoding patch: json: cannot unmarshal object into Go value of type "
         "[]handlers.jsonPatchOp"},
        {true, "['x']",
         "error decoding patch: json: cannot unmarshal string into Go value of type "
         "handlers.jsonPatchOp"},
    };
    for (size_t i = 0; i < KC_COUNT(wrong); i++)
        assert_status((wrong[i].json ? json_patch : api_patch)(a, MAPS "/a", wrong[i].body), 400,
                      "BadRequest", wrong[i].message);
}

static void json_patch_that_does_not_apply_is_invalid(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    make(a);
    static const char *const wrong[] = {
        "[{'op':'test','path':'/data/k','value':'x'}]",
        "[{'op':'remove','path':'/data/x'}]",
        "[{'op':'add','path':'/x/y/z','value':1}]",
        "[{'op':'fly','path':'/data'}]",
        "[{'op':'remove','path':''}]",
    };
    for (size_t i = 0; i < KC_COUNT(wrong); i++) {
        const reply *r = json_patch(a, MAPS "/a", wrong[i]);
        assert_status(r, 422, "Invalid",
                      "the server rejected our request due to an error in our request");
        assert_at(r, "details", "{}");
    }
}

static void patch_result_of_wrong_type_is_invalid(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    make(a);
    const reply *r = api_patch(a, MAPS "/a", "{'data':'x'}");
    assert_code(r, 422);
    assert_at(r, "details.causes[0].field", "patch");
    assert_contains(r_text(r, "message"), "json: cannot unmarshal string into Go struct field "
                                          "ConfigMap.data of type map[string]string");
}

static const reply *patch_as(api *a, const char *type, const char *body)
{
    return SEND(a, "PATCH", MAPS "/a", body, .type = text(a, "application/%s", type));
}

static void invalid_result_is_shown_with_names_sorted_along_the_paths_of_the_patch(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    api_post(a, MAPS, "{'metadata':{'name':'a','annotations':{'l':'<'}},'data':{'z':'1'}}");
    const reply *r = patch_as(a, "merge-patch+json", "{'data':{'b':{'y':1,'x':2}}}");
    assert_code(r, 422);
    const char *message = r_text(r, "message");
    assert_contains(message, "{\\\"apiVersion\\\":\\\"v1\\\",\\\"data\\\":{\\\"b\\\":{\\\"x"
                             "\\\":2,\\\"y\\\":1},\\\"z\\\":\\\"1\\\"},\\\"kind\\\":\\\"ConfigMap"
                             "\\\",\\\"metadata\\\":{\\\"name\\\":\\\"a\\\",\\\"namespace\\\"");
    assert_contains(message, "{\\\"l\\\":\\\"\\\\u003c\\\"}");
    r = json_patch(a, MAPS "/a",
                   "[{'op':'add','path':'/metadata/annotations/m','value':{'y':1,'x':2}}]");
    assert_contains(r_text(r, "message"), "\\\"metadata\\\":{\\\"annotations\\\":{\\\"l\\\"");
    assert_contains(r_text(r, "message"), "},\\\"creationTimestamp\\\":\\\"");
    assert_contains(r_text(r, "message"), "\\\"m\\\":{\\\"y\\\":1,\\\"x\\\":2}}");
}

/* A strategic merge patch, and its error. */
typedef struct wrong_type {
    const char *patch, *error;
} wrong_type;

static void wrong_types_in_a_strategic_patch_have_the_words_of_the_converter(void **state)
{
    (void)state;
    static const wrong_type wrong[] = {
        {"{'data':'x'}", "\"map[data:x]\": cannot restore map from string"},
        {"{'data':7}", "\"map[data:7]\": cannot restore map from int64"},
        {"{'data':1.5}", "\"map[data:1.5]\": cannot restore map from float64"},
        {"{'data':{'a':0}}", "\"map[data:map[a:0]]\": cannot convert int64 to string"},
        {"{'data':{'a':true}}", "\"map[data:map[a:true]]\": unrecognized type: string"},
        {"{'immutable':'x'}", "\"map[immutable:x]\": unrecognized type: bool"},
        {"{'metadata':{'finalizers':'x'}}",
         "\"map[metadata:map[finalizers:x]]\": cannot restore slice from string"},
        {"{'metadata':{'generation':'x'}}",
         "\"map[metadata:map[generation:x]]\": unrecognized type: int64"},
        {"{'metadata':['x']}", "\"map[metadata:[x]]\": cannot restore struct from: slice"},
    };
    kc_auto(api) *a = api_start(NULL);
    make(a);
    for (size_t i = 0; i < KC_COUNT(wrong); i++) {
        const reply *r = patch_as(a, "strategic-merge-patch+json", wrong[i].patch);
        assert_code(r, 422);
        assert_contains(r_text(r, "message"), wrong[i].error);
    }
}

static void unknown_fields_of_a_patch_return_warnings_or_are_refused(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    make(a);
    const reply *r = api_patch(a, MAPS "/a", "{'foo':1,'data':{'x':'1','x':'2'}}");
    assert_string_equal(r_header_at(r, "Warning", 0), "299 - \"duplicate field \\\"data.x\\\"\"");
    assert_string_equal(r_header_at(r, "Warning", 1), "299 - \"unknown field \\\"foo\\\"\"");
    static const char op[] = "[{'op':'add','path':'/data/x','value':'3','extra':1}]";
    r = json_patch(a, MAPS "/a", op);
    assert_string_equal(r_header(r, "Warning"),
                        "299 - \"json patch unknown field \\\"[0].extra\\\"\"");
    r = json_patch(a, MAPS "/a?fieldValidation=Strict", op);
    assert_code(r, 422);
    assert_contains(r_text(r, "message"),
                    "strict decoding error: json patch unknown field \"[0].extra\"");
}

static void json_patch_with_more_than_10000_operations_is_refused(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    make(a);
    kc_scoped(kc_buf) body = {0};
    for (int i = 0; i < 10001; i++)
        kc_buf_puts(&body, i ? ",{'op':'test','path':'/data/k','value':'v'}"
                             : "[{'op':'test','path':'/data/k','value':'v'}");
    kc_buf_putc(&body, ']');
    assert_status(json_patch(a, MAPS "/a", kc_buf_cstr(&body)), 413, "RequestEntityTooLarge",
                  "Request entity too large: The allowed maximum operations in a JSON patch is "
                  "10000, got 10001");
}

static void unsupported_patch_media_type_returns_415(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    make(a);
    static const char *const types[] = {"application/json", "Application/Merge-Patch+JSON", "x"};
    for (size_t i = 0; i < KC_COUNT(types); i++)
        assert_status(SEND(a, "PATCH", MAPS "/a", "{}", .type = types[i]), 415,
                      "UnsupportedMediaType", "415: Unsupported Media Type");
    assert_code(
        SEND(a, "PATCH", MAPS "/a", "{}", .type = "application/merge-patch+json; charset=utf-8"),
        200);
}

static void patch_of_missing_object_returns_404(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    assert_status(api_patch(a, MAPS "/a", "{"), 404, "NotFound", "configmaps \"a\" not found");
}

static const reply *strategic(api *a, const char *target, const char *body)
{
    return SEND(a, "PATCH", target, .body = body, .type = "application/strategic-merge-patch+json");
}

static void invalid_strategic_merge_patch_is_refused(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    api_post(a, "/api/v1/namespaces/default/pods",
             "{'metadata':{'name':'p'},'spec':{'containers':[{'name':'c','image':'i'}]}}");
    static const char pod[] = "/api/v1/namespaces/default/pods/p";
    assert_status(strategic(a, pod, "{'spec':{'containers':[{'name':'c','$patch':'what'}]}}"), 500,
                  "", "unknown patch type: what in map: map[$patch:what name:c]");
    assert_status(strategic(a, pod, "{'spec':{'containers':[{'image':'x'}]}}"), 500, "",
                  "map: map[image:x] does not contain declared merge key: name");
    assert_status(strategic(a, pod, "{'spec':{'$retainKeys':'x'}}"), 400, "BadRequest",
                  "invalid patch format of retainKeys");
}

TESTS(merge_patch_changes_given_fields, json_patch_applies_its_operations,
      patch_without_changes_is_not_written, patch_of_kind_or_name_is_refused,
      server_set_fields_are_restored_when_patched_away, patch_of_uid_is_invalid,
      patch_with_stale_resource_version_returns_conflict, malformed_patch_returns_bad_request,
      json_patch_that_does_not_apply_is_invalid, patch_result_of_wrong_type_is_invalid,
      invalid_result_is_shown_with_names_sorted_along_the_paths_of_the_patch,
      wrong_types_in_a_strategic_patch_have_the_words_of_the_converter,
      unknown_fields_of_a_patch_return_warnings_or_are_refused,
      json_patch_with_more_than_10000_operations_is_refused,
      unsupported_patch_media_type_returns_415, patch_of_missing_object_returns_404,
      invalid_strategic_merge_patch_is_refused)
