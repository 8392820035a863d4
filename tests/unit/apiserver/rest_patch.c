/* SPDX-License-Identifier: Apache-2.0 */
/* rest_patch.c: PATCH. */
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

static void a_merge_patch_changes_what_it_names(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    make(a);
    const reply *r = api_patch(a, MAPS "/a", "{'metadata':{'labels':{'l':null,'m':'2'}}}");
    assert_code(r, 200);
    assert_at(r, "metadata.labels", "{\"m\":\"2\"}");
    assert_at(r, "data", "{\"k\":\"v\"}");
}

static void a_json_patch_does_its_operations(void **state)
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

static void a_patch_that_changes_nothing_is_not_written(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    const reply *old = make(a);
    assert_string_equal(api_patch(a, MAPS "/a", "{}")->body, old->body);
    assert_string_equal(api_patch(a, MAPS "/a", "{'data':{'k':'v'}}")->body, old->body);
    assert_string_equal(json_patch(a, MAPS "/a", "[]")->body, old->body);
}

static void a_patch_cannot_make_another_object_of_it(void **state)
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

static void what_the_server_fills_in_may_be_patched_away(void **state)
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

static void another_uid_is_an_immutable_field(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    make(a);
    assert_status(api_patch(a, MAPS "/a", "{'metadata':{'uid':'q'}}"), 422, "Invalid",
                  "ConfigMap \"a\" is invalid: metadata.uid: Invalid value: \"q\": field is "
                  "immutable");
}

static void a_version_in_a_patch_is_a_lock(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    const char *version = r_text(make(a), "metadata.resourceVersion");
    assert_code(api_patch(a, MAPS "/a", "{'metadata':{'resourceVersion':'1'}}"), 409);
    const char *patch = text(a, "{'metadata':{'resourceVersion':'%s'},'data':{'n':'1'}}", version);
    assert_code(api_patch(a, MAPS "/a", patch), 200);
    assert_code(api_patch(a, MAPS "/a", patch), 409);
}

static void what_is_no_patch_is_explained(void **state)
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

static void a_patch_that_does_not_apply_is_invalid(void **state)
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

static void a_result_of_the_wrong_type_is_invalid(void **state)
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

static void oddities_of_a_patch_are_warned_of_or_refused(void **state)
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

static void ten_thousand_operations_are_enough(void **state)
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

static void a_patch_has_a_media_type_of_its_own(void **state)
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

static void a_patch_of_nothing_is_not_found(void **state)
{
    (void)state;
    kc_auto(api) *a = api_start(NULL);
    assert_status(api_patch(a, MAPS "/a", "{"), 404, "NotFound", "configmaps \"a\" not found");
}

static const reply *strategic(api *a, const char *target, const char *body)
{
    return SEND(a, "PATCH", target, .body = body, .type = "application/strategic-merge-patch+json");
}

static void a_strategic_patch_that_makes_no_sense_is_explained(void **state)
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

TESTS(a_merge_patch_changes_what_it_names, a_json_patch_does_its_operations,
      a_patch_that_changes_nothing_is_not_written, a_patch_cannot_make_another_object_of_it,
      what_the_server_fills_in_may_be_patched_away, another_uid_is_an_immutable_field,
      a_version_in_a_patch_is_a_lock, what_is_no_patch_is_explained,
      a_patch_that_does_not_apply_is_invalid, a_result_of_the_wrong_type_is_invalid,
      oddities_of_a_patch_are_warned_of_or_refused, ten_thousand_operations_are_enough,
      a_patch_has_a_media_type_of_its_own, a_patch_of_nothing_is_not_found,
      a_strategic_patch_that_makes_no_sense_is_explained)
