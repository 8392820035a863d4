/* SPDX-License-Identifier: Apache-2.0 */
/* Reviews: parsing, handlers, and responses. */
#include "runtime/webhook/review.h"
#include "kc/base64.h"
#include "kc/json_patch.h"
#include "kc/kinds.h"
#include "runtime/webhook/webhook_handler.h"
#include "testing.h"

#include <ctype.h>

static const kc_kind robot = {
    .group = "robot.io", .version = "v1", .kind = "Robot", .plural = "robots", .namespaced = true};

#define ROBOT                                                                              \
    "{'apiVersion':'robot.io/v1','kind':'Robot','metadata':{'name':'r2','namespace':'d'}," \
    "'spec':{'legs':2,'unknown':'kept'}}"

/* A review as an API server sends it, with this in its request. */
#define REVIEW(request)                                                             \
    "{'kind':'AdmissionReview','apiVersion':'admission.k8s.io/v1','request':{"      \
    "'uid':'705ab4f5','kind':{'group':'robot.io','version':'v1','kind':'Robot'},"   \
    "'resource':{'group':'robot.io','version':'v1','resource':'robots'},"           \
    "'requestKind':{'group':'robot.io','version':'v1','kind':'Robot'},"             \
    "'name':'r2','namespace':'d','userInfo':{'username':'eve','uid':'7','groups':[" \
    "'a','b'],'extra':{'k':['v']}},'dryRun':true,'options':{}," request "}}"
#define CREATE REVIEW("'operation':'CREATE','object':" ROBOT ",'oldObject':null")
#define UPDATE REVIEW("'operation':'UPDATE','object':" ROBOT ",'oldObject':" ROBOT)
#define DELETE REVIEW("'operation':'DELETE','object':null,'oldObject':" ROBOT)

/* ' stands for ". */
static char *json(const char *text)
{
    char *copy = kc_strdup(text);
    for (char *c = copy; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    return copy;
}

/* The answer of a hook to a body, kept until the next. */
static int status_of;
static bool crashed;
static char *response_text;

static const char *send_review_as(const kc__webhook_handler *hook, const char *type,
                                  const char *body)
{
    kc__guard guard;
    kc_autofree char *text = json(body);
    kc__webhook_call call = {.content_type = kc_cstr(type), .body = kc_cstr(text), .guard = &guard};
    kc__guard_begin(&guard);
    guard.recovers = true;
    status_of = hook->serve(hook, &call);
    kc__guard_end(&guard);
    crashed = call.crashed;
    free(response_text);
    return response_text = kc_buf_take(&call.out);
}

static const char *send_review(const kc__webhook_handler *hook, const char *body)
{
    return send_review_as(hook, "application/json", body);
}

static void assert_response_has(const char *answer, const char *wanted)
{
    kc_autofree char *text = json(wanted);
    assert_contains(answer, text);
}

static void free_response(void)
{
    free(kc_take(response_text));
}

/* ---- reading ---- */

static void admission_request_is_read_completely(void **state)
{
    (void)state;
    kc_scoped(kc__webhook_review) review = {0};
    kc_autofree char *text = json(REVIEW(
        "'operation':'UPDATE','subResource':'status','object':" ROBOT ",'oldObject':" ROBOT));
    assert_int_equal(kc__webhook_review_read(kc_cstr(text), &review, NULL), 0);
    const kc_admission_request *r = &review.request;
    assert_str(r->uid, "705ab4f5");
    assert_str(r->operation, "UPDATE");
    assert_str(r->kind.group, "robot.io");
    assert_str(r->kind.kind, "Robot");
    assert_str(r->resource.resource, "robots");
    assert_str(r->subresource, "status");
    assert_str(r->name, "r2");
    assert_str(r->ns, "d");
    assert_str(r->username, "eve");
    assert_str(r->user_uid, "7");
    assert_int_equal(r->n_groups, 2);
    assert_str(r->groups[1], "b");
    assert_true(r->dry_run);
    assert_str(kc_object_name(r->object), "r2");
    assert_non_null(r->old_object);
    assert_value_json(kc_value_get(kc_value_get(r->request, "userInfo"), "extra"),
                      "{\"k\":[\"v\"]}");
}

static void absent_members_are_empty(void **state)
{
    (void)state;
    kc_scoped(kc__webhook_review) review = {0};
    assert_int_equal(kc__webhook_review_read(KC_STR("{\"request\":{}}"), &review, NULL), 0);
    assert_true(kc_str_empty(review.request.uid));
    assert_null(review.request.object);
    assert_int_equal(review.request.n_groups, 0);
    assert_false(review.request.dry_run);
}

static void member_of_wrong_type_is_refused(void **state)
{
    (void)state;
    static const char *const wrong[][2] = {
        {"'operation':7", "request.operation is not a JSON string"},
        {"'object':'x'", "request.object is not a JSON object"},
        {"'oldObject':[]", "request.oldObject is not a JSON object"},
        {"'kind':'x'", "request.kind is not a JSON object"},
        {"'kind':{'kind':1}", "request.kind.kind is not a JSON string"},
        {"'resource':{'group':{}}", "request.resource.group is not a JSON string"},
        {"'userInfo':[]", "request.userInfo is not a JSON object"},
        {"'userInfo':{'groups':[1]}", "request.userInfo.groups[] is not a JSON string"},
        {"'userInfo':{'username':true}", "request.userInfo.username is not a JSON string"},
        {"'dryRun':'yes'", "request.dryRun is not a JSON boolean"},
    };
    for (size_t i = 0; i < KC_COUNT(wrong); i++) {
        kc_scoped(kc__webhook_review) review = {0};
        kc_scoped(kc_error) err = {0};
        kc_autofree char *quoted = kc_asprintf("{'request':{'uid':'u',%s}}", wrong[i][0]);
        kc_autofree char *text = json(quoted);
        assert_true(kc__webhook_review_read(kc_cstr(text), &review, &err) < 0);
        assert_error(&err, KC_BAD_REQUEST, wrong[i][1]);
        assert_str(review.request.uid, "u");
    }
}

static void invalid_review_is_refused(void **state)
{
    (void)state;
    static const char *const wrong[][2] = {
        {"{", "line 1"},
        {"[]", "an AdmissionReview must be a JSON object"},
        {"{}", "has no request"},
        {"{'request':null}", "has no request"},
        {"{'request':7}", "review.request is not a JSON object"},
        {"{'kind':'Pod','apiVersion':'v1','request':{}}", "got Pod of v1"},
        {"{'kind':'AdmissionReview','apiVersion':'admission.k8s.io/v2','request':{}}",
         "got AdmissionReview of admission.k8s.io/v2"},
    };
    for (size_t i = 0; i < KC_COUNT(wrong); i++) {
        kc_scoped(kc__webhook_review) review = {0};
        kc_scoped(kc_error) err = {0};
        kc_autofree char *text = json(wrong[i][0]);
        assert_true(kc__webhook_review_read(kc_cstr(text), &review, &err) < 0);
        assert_error(&err, KC_BAD_REQUEST, wrong[i][1]);
    }
}

/* ---- own webhooks ---- */

static int admit(const kc_admission_request *request, kc_admission_response *ret, void *user,
                 kc_error *err)
{
    static const char *const warnings[] = {"it is \"old\"", NULL};
    const char *how = user;
    if (strcmp(how, "warn") == 0)
        ret->warnings = warnings;
    if (strcmp(how, "patch") == 0)
        kc_buf_puts(&ret->patch, "[{\"op\":\"remove\",\"path\":\"/spec\"}]");
    if (strcmp(how, "nonsense") == 0)
        kc_buf_puts(&ret->patch, "{}");
    if (strcmp(how, "deny") == 0)
        return kc_error_set(err, KC_UNKNOWN, "no %.*s today", KC_ARG(request->name));
    if (strcmp(how, "silent") == 0)
        return -1;
    if (strcmp(how, "conflict") == 0) {
        kc_error_set(err, KC_CONFLICT, "try again");
        kc_error_about(err, KC_STR("robot.io"), KC_STR("Robot"), request->name);
        return -1;
    }
    if (strcmp(how, "crash") == 0)
        kc_reconcile_abort("out of %s", "oil");
    return 0;
}

static kc__webhook_handler admitting(const char *how)
{
    return (kc__webhook_handler){.path = (char *)"/x",
                                 .serve = kc__webhook_serve_admission,
                                 .admit = admit,
                                 .user = (void *)how};
}

static void zero_return_allows(void **state)
{
    (void)state;
    const kc__webhook_handler hook = admitting("");
    assert_response_has(send_review(&hook, CREATE),
                        "{'kind':'AdmissionReview','apiVersion':'admission.k8s.io/v1','response':{"
                        "'uid':'705ab4f5','allowed':true,'status':{'metadata':{},'code':200}}}\n");
    assert_int_equal(status_of, 200);
    free_response();
}

static void response_version_is_that_of_the_request(void **state)
{
    (void)state;
    const kc__webhook_handler hook = admitting("");
    assert_response_has(
        send_review(&hook, "{'kind':'AdmissionReview','apiVersion':'admission.k8s.io/v1beta1',"
                           "'request':{'uid':'1'}}"),
        "'apiVersion':'admission.k8s.io/v1beta1','response':{'uid':'1','allowed':true");
    assert_response_has(send_review(&hook, "{'request':{'uid':'1'}}"),
                        "'apiVersion':'admission.k8s.io/v1',");
    free_response();
}

static void response_has_warnings_and_patch(void **state)
{
    (void)state;
    kc_scoped(kc_buf) encoded = {0};
    kc_base64_write(&encoded, KC_STR("[{\"op\":\"remove\",\"path\":\"/spec\"}]"), KC_BASE64);
    kc__webhook_handler hook = admitting("warn");
    assert_contains(send_review(&hook, CREATE), "\"warnings\":[\"it is \\\"old\\\"\"]}}");
    hook = admitting("patch");
    assert_contains(send_review(&hook, CREATE), kc_buf_cstr(&encoded));
    assert_response_has(response_text, "','patchType':'JSONPatch'}}");
    free_response();
}

static void invalid_patch_is_an_internal_error(void **state)
{
    (void)state;
    const kc__webhook_handler hook = admitting("nonsense");
    assert_response_has(send_review(&hook, CREATE), "'allowed':false,'status':{");
    assert_response_has(response_text, "'code':500}");
    assert_null(strstr(response_text, "\"patch\":"));
    free_response();
}

static void error_without_reason_is_forbidden(void **state)
{
    (void)state;
    kc__webhook_handler hook = admitting("deny");
    assert_response_has(
        send_review(&hook, CREATE),
        "'allowed':false,'status':{'kind':'Status','apiVersion':'v1','metadata':{},"
        "'status':'Failure','message':'no r2 today','reason':'Forbidden','code':403}");
    hook = admitting("silent");
    assert_response_has(send_review(&hook, CREATE), "'reason':'Forbidden','code':403}");
    free_response();
}

static void api_error_is_returned_with_its_status(void **state)
{
    (void)state;
    const kc__webhook_handler hook = admitting("conflict");
    assert_response_has(send_review(&hook, CREATE),
                        "'message':'try again','reason':'Conflict','details':{'name':'r2',"
                        "'group':'robot.io','kind':'Robot'},'code':409}");
    free_response();
}

static void crash_returns_internal_error(void **state)
{
    (void)state;
    const kc__webhook_handler hook = admitting("crash");
    assert_response_has(send_review(&hook, CREATE), "'uid':'705ab4f5','allowed':false");
    assert_response_has(response_text, "'message':'panic: out of oil [recovered]'");
    assert_response_has(response_text, "'code':500}");
    assert_true(crashed);
    free_response();
}

static void invalid_request_returns_a_review(void **state)
{
    (void)state;
    const kc__webhook_handler hook = admitting("");
    assert_response_has(send_review(&hook, ""), "'uid':'','allowed':false");
    assert_response_has(response_text, "'message':'request body is empty'");
    assert_int_equal(status_of, 200);
    assert_response_has(send_review_as(&hook, "text/plain", CREATE),
                        "'message':'contentType=text/plain, expected application/json'");
    assert_response_has(send_review_as(&hook, "application/json; charset=utf-8", CREATE),
                        "'allowed':true");
    assert_response_has(send_review(&hook, "{'request':{'uid':'9','object':1}}"),
                        "'uid':'9','allowed':false");
    assert_response_has(response_text, "'reason':'BadRequest','code':400}");
    free_response();
}

/* ---- defaults ---- */

static int set_defaults(kc_edit *edit, const kc_admission_request *request, void *user,
                        kc_error *err)
{
    int *calls = user;
    (*calls)++;
    kc_node *spec = kc_node_ensure_object(edit, kc_edit_root(edit), KC_STR("spec"));
    if (kc_str_is(request->name, "bad"))
        return kc_error_set(err, KC_INVALID, "no such robot");
    if (kc_str_is(request->name, "crash"))
        kc_reconcile_abort("oops");
    if (!kc_node_get(spec, KC_STR("arms")))
        kc_node_set(edit, spec, KC_STR("arms"), kc_node_i64(edit, 2));
    return 0;
}

static kc__webhook_handler defaulting(int *calls)
{
    return (kc__webhook_handler){.path = (char *)"/x",
                                 .serve = kc__webhook_serve_admission,
                                 .set_defaults = set_defaults,
                                 .kind = &robot,
                                 .user = calls};
}

/* The patch of the last answer; NULL: none. */
static char *response_patch(void)
{
    kc_buf out = {0};
    kc_auto(kc_view) *view = view_of(response_text);
    kc_str text =
        kc_value_as_str(kc_value_get(kc_value_get(kc_view_root(view), "response"), "patch"));
    if (!text.p)
        return NULL;
    assert_true(kc_base64_read(&out, text, KC_BASE64));
    return kc_buf_take(&out);
}

static void changed_object_returns_a_patch(void **state)
{
    (void)state;
    int calls = 0;
    const kc__webhook_handler hook = defaulting(&calls);
    assert_response_has(send_review(&hook, CREATE), "'allowed':true");
    kc_autofree char *patch = response_patch();
    assert_string_equal(patch, "[{\"op\":\"add\",\"path\":\"/spec/arms\",\"value\":2}]");
    free_response();
}

static void unchanged_object_returns_no_patch(void **state)
{
    (void)state;
    int calls = 0;
    const kc__webhook_handler hook = defaulting(&calls);
    send_review(
        &hook,
        REVIEW("'operation':'CREATE','object':{'metadata':{'name':'r2'},'spec':{'arms':4}}"));
    assert_null(response_patch());
    assert_null(strstr(response_text, "patchType"));
    assert_int_equal(calls, 1);
    free_response();
}

static void defaulter_is_not_called_for_delete(void **state)
{
    (void)state;
    int calls = 0;
    const kc__webhook_handler hook = defaulting(&calls);
    assert_response_has(send_review(&hook, DELETE),
                        "'allowed':true,'status':{'metadata':{},'code':200}}}");
    assert_int_equal(calls, 0);
    free_response();
}

static void another_kind_is_refused(void **state)
{
    (void)state;
    int calls = 0;
    const kc__webhook_handler hook = defaulting(&calls);
    assert_response_has(
        send_review(&hook, "{'request':{'uid':'1','operation':'CREATE','kind':{'version':'v1',"
                           "'kind':'Pod'},'object':{}}}"),
        "expected robot.io/v1, Kind=Robot, got /v1, Kind=Pod");
    assert_response_has(send_review(&hook, REVIEW("'operation':'CREATE'")),
                        "there is no content to decode");
    assert_response_has(response_text, "'code':400}");
    assert_int_equal(calls, 0);
    free_response();
}

static void failed_defaulter_denies(void **state)
{
    (void)state;
    int calls = 0;
    const kc__webhook_handler hook = defaulting(&calls);
    assert_response_has(send_review(&hook, REVIEW("'operation':'CREATE','object':{},'name':'bad'")),
                        "'reason':'Invalid','code':422}");
    assert_null(response_patch());
    assert_response_has(
        send_review(&hook, REVIEW("'operation':'CREATE','object':{},'name':'crash'")),
        "panic: oops [recovered]");
    assert_null(response_patch());
    free_response();
}

/* ---- validation ---- */

static int validate(const kc_admission_request *request, kc_warnings *warnings, void *user,
                    kc_error *err)
{
    int *calls = user;
    (*calls)++;
    kc_warnings_add(warnings, "%d calls", *calls);
    kc_warnings_add(warnings, "of %.*s", KC_ARG(request->operation));
    return kc_str_is(request->name, "bad") ? kc_error_set(err, KC_UNKNOWN, "bad") : 0;
}

static kc__webhook_handler validating(int *calls)
{
    return (kc__webhook_handler){.path = (char *)"/x",
                                 .serve = kc__webhook_serve_admission,
                                 .validate = validate,
                                 .kind = &robot,
                                 .user = calls};
}

static void warnings_are_returned_with_either_result(void **state)
{
    (void)state;
    int calls = 0;
    const kc__webhook_handler hook = validating(&calls);
    assert_response_has(send_review(&hook, UPDATE), "'allowed':true");
    assert_response_has(response_text, "'warnings':['1 calls','of UPDATE']}}");
    assert_response_has(
        send_review(&hook, REVIEW("'operation':'DELETE','oldObject':{},'name':'bad'")),
        "'message':'bad','reason':'Forbidden','code':403},'warnings':['2 calls',");
    free_response();
}

static void validator_gets_the_objects_of_its_operation(void **state)
{
    (void)state;
    int calls = 0;
    const kc__webhook_handler hook = validating(&calls);
    assert_response_has(send_review(&hook, REVIEW("'operation':'UPDATE','object':{}")),
                        "no content to decode");
    assert_response_has(send_review(&hook, REVIEW("'operation':'DELETE','object':{}")),
                        "no content to decode");
    assert_response_has(send_review(&hook, REVIEW("'operation':'CREATE'")), "no content to decode");
    assert_response_has(send_review(&hook, REVIEW("'operation':'PAINT'")),
                        "unknown operation \\\"PAINT\\\"");
    assert_int_equal(calls, 0);
    assert_response_has(send_review(&hook, REVIEW("'operation':'CONNECT'")), "'allowed':true");
    assert_int_equal(calls, 0);
    assert_response_has(send_review(&hook, DELETE), "'allowed':true");
    assert_int_equal(calls, 1);
    free_response();
}

/* ---- conversion ---- */

static kc_object *convert(const kc_object *object, kc_str desired, void *user, kc_error *err)
{
    (void)user;
    if (kc_str_is(kc_object_name(object), "bad"))
        return kc_error_set(err, KC_UNKNOWN, "cannot be"), NULL;
    if (kc_str_is(kc_object_name(object), "silent"))
        return NULL;
    if (kc_str_is(kc_object_name(object), "crash"))
        kc_reconcile_abort("oops");
    if (kc_str_is(kc_object_name(object), "renamed"))
        return object_of("{'apiVersion':'robot.io/v2','kind':'Robot','metadata':{'name':'x'}}");
    if (kc_str_is(kc_object_name(object), "wrong"))
        return kc_object_ref(object);
    return kc_object_with_api_version(object, desired);
}

static kc__webhook_converter robots = {
    .group = (char *)"robot.io", .kind = (char *)"Robot", .convert = convert};
static const kc__webhook_handler converting = {
    .path = (char *)"/convert", .serve = kc__webhook_serve_conversion, .converters = &robots};

#define OBJECT(name) "{'apiVersion':'robot.io/v1','kind':'Robot','metadata':{'name':'" name "'}}"
#define CONVERSION(objects)                                              \
    "{'kind':'ConversionReview','apiVersion':'apiextensions.k8s.io/v1'," \
    "'request':{'uid':'42','desiredAPIVersion':'robot.io/v2','objects':[" objects "]}}"

static void all_objects_are_converted(void **state)
{
    (void)state;
    assert_response_has(
        send_review(&converting, CONVERSION(OBJECT("a") "," OBJECT("b"))),
        "{'kind':'ConversionReview','apiVersion':'apiextensions.k8s.io/v1','response':{"
        "'uid':'42','convertedObjects':["
        "{'apiVersion':'robot.io/v2','kind':'Robot','metadata':{'name':'a'}},"
        "{'apiVersion':'robot.io/v2','kind':'Robot','metadata':{'name':'b'}}],"
        "'result':{'metadata':{},'status':'Success'}}}\n");
    assert_int_equal(status_of, 200);
    assert_response_has(send_review(&converting, CONVERSION("")),
                        "'convertedObjects':[],'result':{'metadata':{},"
                        "'status':'Success'}");
    free_response();
}

static void one_failed_object_fails_the_conversion(void **state)
{
    (void)state;
    static const char *const wrong[][2] = {
        {CONVERSION(OBJECT("a") "," OBJECT("bad")), "object 1: cannot be"},
        {CONVERSION(OBJECT("silent")), "object 0: the converter returned no object"},
        {CONVERSION(OBJECT("crash")), "internal error occurred during conversion"},
        {CONVERSION(OBJECT("renamed")), "the converter changed the name from renamed to x"},
        {CONVERSION(OBJECT("wrong")), "the converter returned robot.io/v1, expected robot.io/v2"},
        {CONVERSION("{'apiVersion':'v1','kind':'Pod'}"), "no converter for Pod."},
        {CONVERSION("7"), "object 0: "},
        {"{'request':{'uid':'42','objects':[]}}", "request.desiredAPIVersion is empty"},
    };
    for (size_t i = 0; i < KC_COUNT(wrong); i++) {
        assert_response_has(send_review(&converting, wrong[i][0]),
                            "'uid':'42','convertedObjects':[],'result':{"
                            "'metadata':{},'status':'Failure','message':'");
        assert_contains(response_text, wrong[i][1]);
        assert_int_equal(status_of, 200);
    }
    free_response();
}

static void object_of_desired_version_is_returned_unchanged(void **state)
{
    (void)state;
    assert_response_has(
        send_review(&converting, CONVERSION("{'apiVersion':'robot.io/v2','kind':'Robot',"
                                            "'metadata':{'name':'bad'}}")),
        "[{'apiVersion':'robot.io/v2','kind':'Robot','metadata':{'name':'bad'}}]");
    free_response();
}

static void invalid_conversion_review_returns_bad_request(void **state)
{
    (void)state;
    static const char *const wrong[] = {"", "{", "7", "{}", "{'request':null}", "{'request':[]}"};
    for (size_t i = 0; i < KC_COUNT(wrong); i++) {
        send_review(&converting, wrong[i]);
        assert_int_equal(status_of, 400);
    }
    free_response();
}

TESTS(admission_request_is_read_completely, absent_members_are_empty,
      member_of_wrong_type_is_refused, invalid_review_is_refused, zero_return_allows,
      response_version_is_that_of_the_request, response_has_warnings_and_patch,
      invalid_patch_is_an_internal_error, error_without_reason_is_forbidden,
      api_error_is_returned_with_its_status, crash_returns_internal_error,
      invalid_request_returns_a_review, changed_object_returns_a_patch,
      unchanged_object_returns_no_patch, defaulter_is_not_called_for_delete,
      another_kind_is_refused, failed_defaulter_denies, warnings_are_returned_with_either_result,
      validator_gets_the_objects_of_its_operation, all_objects_are_converted,
      one_failed_object_fails_the_conversion, object_of_desired_version_is_returned_unchanged,
      invalid_conversion_review_returns_bad_request)
