/* SPDX-License-Identifier: Apache-2.0 */
/* Reviews: what is read of them, what hooks make of them, what is answered. */
#include "runtime/webhook_review.h"
#include "kc/base64.h"
#include "kc/json_patch.h"
#include "kc/kinds.h"
#include "runtime/webhook_hook.h"
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
static char *said;

static const char *ask_as(const kc__hook *hook, const char *type, const char *body)
{
    kc__guard guard;
    kc_autofree char *text = json(body);
    kc__hook_call call = {.content_type = kc_cstr(type), .body = kc_cstr(text), .guard = &guard};
    kc__guard_begin(&guard);
    status_of = hook->serve(hook, &call);
    kc__guard_end(&guard);
    crashed = call.crashed;
    free(said);
    return said = kc_buf_take(&call.out);
}

static const char *ask(const kc__hook *hook, const char *body)
{
    return ask_as(hook, "application/json", body);
}

static void assert_said(const char *answer, const char *wanted)
{
    kc_autofree char *text = json(wanted);
    assert_contains(answer, text);
}

static void forget(void)
{
    free(kc_take(said));
}

/* ---- reading ---- */

static void a_request_is_read_whole(void **state)
{
    (void)state;
    kc_scoped(kc__review) review = {0};
    kc_autofree char *text = json(REVIEW(
        "'operation':'UPDATE','subResource':'status','object':" ROBOT ",'oldObject':" ROBOT));
    assert_int_equal(kc__review_read(kc_cstr(text), &review, NULL), 0);
    const kc_admission *r = &review.request;
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
    assert_value_json(kc_get(kc_get(r->request, "userInfo"), "extra"), "{\"k\":[\"v\"]}");
}

static void what_is_absent_is_empty(void **state)
{
    (void)state;
    kc_scoped(kc__review) review = {0};
    assert_int_equal(kc__review_read(KC_STR("{\"request\":{}}"), &review, NULL), 0);
    assert_true(kc_str_empty(review.request.uid));
    assert_null(review.request.object);
    assert_int_equal(review.request.n_groups, 0);
    assert_false(review.request.dry_run);
}

static void a_member_of_the_wrong_type_is_refused(void **state)
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
        kc_scoped(kc__review) review = {0};
        kc_scoped(kc_error) err = {0};
        kc_autofree char *quoted = kc_asprintf("{'request':{'uid':'u',%s}}", wrong[i][0]);
        kc_autofree char *text = json(quoted);
        assert_true(kc__review_read(kc_cstr(text), &review, &err) < 0);
        assert_error(&err, KC_BAD_REQUEST, wrong[i][1]);
        assert_str(review.request.uid, "u");
    }
}

static void what_is_no_review_is_refused(void **state)
{
    (void)state;
    static const char *const wrong[][2] = {
        {"{", "line 1"},
        {"[]", "an AdmissionReview is a JSON object"},
        {"{}", "has no request"},
        {"{'request':null}", "has no request"},
        {"{'request':7}", "review.request is not a JSON object"},
        {"{'kind':'Pod','apiVersion':'v1','request':{}}", "not Pod of v1"},
        {"{'kind':'AdmissionReview','apiVersion':'admission.k8s.io/v2','request':{}}",
         "not AdmissionReview of admission.k8s.io/v2"},
    };
    for (size_t i = 0; i < KC_COUNT(wrong); i++) {
        kc_scoped(kc__review) review = {0};
        kc_scoped(kc_error) err = {0};
        kc_autofree char *text = json(wrong[i][0]);
        assert_true(kc__review_read(kc_cstr(text), &review, &err) < 0);
        assert_error(&err, KC_BAD_REQUEST, wrong[i][1]);
    }
}

/* ---- hooks of their own ---- */

static int admit(const kc_admission *request, kc_admission_answer *ret, void *user, kc_error *err)
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

static kc__hook admitting(const char *how)
{
    return (kc__hook){
        .path = (char *)"/x", .serve = kc__serve_admission, .admit = admit, .user = (void *)how};
}

static void zero_allows(void **state)
{
    (void)state;
    const kc__hook hook = admitting("");
    assert_said(ask(&hook, CREATE),
                "{'kind':'AdmissionReview','apiVersion':'admission.k8s.io/v1','response':{"
                "'uid':'705ab4f5','allowed':true,'status':{'metadata':{},'code':200}}}\n");
    assert_int_equal(status_of, 200);
    forget();
}

static void the_version_is_that_of_the_request(void **state)
{
    (void)state;
    const kc__hook hook = admitting("");
    assert_said(ask(&hook, "{'kind':'AdmissionReview','apiVersion':'admission.k8s.io/v1beta1',"
                           "'request':{'uid':'1'}}"),
                "'apiVersion':'admission.k8s.io/v1beta1','response':{'uid':'1','allowed':true");
    assert_said(ask(&hook, "{'request':{'uid':'1'}}"), "'apiVersion':'admission.k8s.io/v1',");
    forget();
}

static void warnings_and_patches_go_along(void **state)
{
    (void)state;
    kc_scoped(kc_buf) encoded = {0};
    kc_base64_write(&encoded, KC_STR("[{\"op\":\"remove\",\"path\":\"/spec\"}]"), KC_BASE64);
    kc__hook hook = admitting("warn");
    assert_contains(ask(&hook, CREATE), "\"warnings\":[\"it is \\\"old\\\"\"]}}");
    hook = admitting("patch");
    assert_contains(ask(&hook, CREATE), kc_buf_cstr(&encoded));
    assert_said(said, "','patchType':'JSONPatch'}}");
    forget();
}

static void a_patch_that_is_none_is_our_error(void **state)
{
    (void)state;
    const kc__hook hook = admitting("nonsense");
    assert_said(ask(&hook, CREATE), "'allowed':false,'status':{");
    assert_said(said, "'code':500}");
    assert_null(strstr(said, "\"patch\":"));
    forget();
}

static void an_error_without_reason_is_forbidden(void **state)
{
    (void)state;
    kc__hook hook = admitting("deny");
    assert_said(ask(&hook, CREATE),
                "'allowed':false,'status':{'kind':'Status','apiVersion':'v1','metadata':{},"
                "'status':'Failure','message':'no r2 today','reason':'Forbidden','code':403}");
    hook = admitting("silent");
    assert_said(ask(&hook, CREATE), "'reason':'Forbidden','code':403}");
    forget();
}

static void an_error_of_the_api_is_given_as_it_is(void **state)
{
    (void)state;
    const kc__hook hook = admitting("conflict");
    assert_said(ask(&hook, CREATE),
                "'message':'try again','reason':'Conflict','details':{'name':'r2',"
                "'group':'robot.io','kind':'Robot'},'code':409}");
    forget();
}

static void a_crash_is_a_failed_answer(void **state)
{
    (void)state;
    const kc__hook hook = admitting("crash");
    assert_said(ask(&hook, CREATE), "'uid':'705ab4f5','allowed':false");
    assert_said(said, "'message':'panic: out of oil [recovered]'");
    assert_said(said, "'code':500}");
    assert_true(crashed);
    forget();
}

static void bad_calls_are_answered_with_a_review(void **state)
{
    (void)state;
    const kc__hook hook = admitting("");
    assert_said(ask(&hook, ""), "'uid':'','allowed':false");
    assert_said(said, "'message':'request body is empty'");
    assert_int_equal(status_of, 200);
    assert_said(ask_as(&hook, "text/plain", CREATE),
                "'message':'contentType=text/plain, expected application/json'");
    assert_said(ask_as(&hook, "application/json; charset=utf-8", CREATE), "'allowed':true");
    assert_said(ask(&hook, "{'request':{'uid':'9','object':1}}"), "'uid':'9','allowed':false");
    assert_said(said, "'reason':'BadRequest','code':400}");
    forget();
}

/* ---- defaults ---- */

static int set_defaults(kc_edit *edit, const kc_admission *request, void *user, kc_error *err)
{
    int *calls = user;
    (*calls)++;
    kc_node *spec = kc_node_need_object(edit, kc_edit_root(edit), KC_STR("spec"));
    if (kc_str_is(request->name, "bad"))
        return kc_error_set(err, KC_INVALID, "no such robot");
    if (kc_str_is(request->name, "crash"))
        kc_reconcile_abort("oops");
    if (!kc_node_get(spec, KC_STR("arms")))
        kc_node_set(edit, spec, KC_STR("arms"), kc_node_i64(edit, 2));
    return 0;
}

static kc__hook defaulting(int *calls)
{
    return (kc__hook){.path = (char *)"/x",
                      .serve = kc__serve_admission,
                      .set_defaults = set_defaults,
                      .kind = &robot,
                      .user = calls};
}

/* The patch of the last answer; NULL: none. */
static char *patch_said(void)
{
    kc_buf out = {0};
    kc_auto(kc_view) *view = view_of(said);
    kc_str text = kc_as_str(kc_get(kc_get(kc_view_root(view), "response"), "patch"));
    if (!text.p)
        return NULL;
    assert_true(kc_base64_read(&out, text, KC_BASE64));
    return kc_buf_take(&out);
}

static void the_difference_is_the_patch(void **state)
{
    (void)state;
    int calls = 0;
    const kc__hook hook = defaulting(&calls);
    assert_said(ask(&hook, CREATE), "'allowed':true");
    kc_autofree char *patch = patch_said();
    assert_string_equal(patch, "[{\"op\":\"add\",\"path\":\"/spec/arms\",\"value\":2}]");
    forget();
}

static void no_difference_is_no_patch(void **state)
{
    (void)state;
    int calls = 0;
    const kc__hook hook = defaulting(&calls);
    ask(&hook,
        REVIEW("'operation':'CREATE','object':{'metadata':{'name':'r2'},'spec':{'arms':4}}"));
    assert_null(patch_said());
    assert_null(strstr(said, "patchType"));
    assert_int_equal(calls, 1);
    forget();
}

static void defaults_are_not_asked_for_a_deletion(void **state)
{
    (void)state;
    int calls = 0;
    const kc__hook hook = defaulting(&calls);
    assert_said(ask(&hook, DELETE), "'allowed':true,'status':{'metadata':{},'code':200}}}");
    assert_int_equal(calls, 0);
    forget();
}

static void another_kind_is_refused(void **state)
{
    (void)state;
    int calls = 0;
    const kc__hook hook = defaulting(&calls);
    assert_said(ask(&hook, "{'request':{'uid':'1','operation':'CREATE','kind':{'version':'v1',"
                           "'kind':'Pod'},'object':{}}}"),
                "want robot.io/v1, Kind=Robot, not /v1, Kind=Pod");
    assert_said(ask(&hook, REVIEW("'operation':'CREATE'")), "there is no content to decode");
    assert_said(said, "'code':400}");
    assert_int_equal(calls, 0);
    forget();
}

static void failing_defaults_deny(void **state)
{
    (void)state;
    int calls = 0;
    const kc__hook hook = defaulting(&calls);
    assert_said(ask(&hook, REVIEW("'operation':'CREATE','object':{},'name':'bad'")),
                "'reason':'Invalid','code':422}");
    assert_null(patch_said());
    assert_said(ask(&hook, REVIEW("'operation':'CREATE','object':{},'name':'crash'")),
                "panic: oops [recovered]");
    assert_null(patch_said());
    forget();
}

/* ---- validation ---- */

static int validate(const kc_admission *request, kc_warnings *warnings, void *user, kc_error *err)
{
    int *calls = user;
    (*calls)++;
    kc_warn(warnings, "%d calls", *calls);
    kc_warn(warnings, "of %.*s", KC_ARG(request->operation));
    return kc_str_is(request->name, "bad") ? kc_error_set(err, KC_UNKNOWN, "bad") : 0;
}

static kc__hook validating(int *calls)
{
    return (kc__hook){.path = (char *)"/x",
                      .serve = kc__serve_admission,
                      .validate = validate,
                      .kind = &robot,
                      .user = calls};
}

static void warnings_go_with_either_result(void **state)
{
    (void)state;
    int calls = 0;
    const kc__hook hook = validating(&calls);
    assert_said(ask(&hook, UPDATE), "'allowed':true");
    assert_said(said, "'warnings':['1 calls','of UPDATE']}}");
    assert_said(ask(&hook, REVIEW("'operation':'DELETE','oldObject':{},'name':'bad'")),
                "'message':'bad','reason':'Forbidden','code':403},'warnings':['2 calls',");
    forget();
}

static void a_validation_has_the_objects_its_operation_has(void **state)
{
    (void)state;
    int calls = 0;
    const kc__hook hook = validating(&calls);
    assert_said(ask(&hook, REVIEW("'operation':'UPDATE','object':{}")), "no content to decode");
    assert_said(ask(&hook, REVIEW("'operation':'DELETE','object':{}")), "no content to decode");
    assert_said(ask(&hook, REVIEW("'operation':'CREATE'")), "no content to decode");
    assert_said(ask(&hook, REVIEW("'operation':'PAINT'")), "unknown operation \\\"PAINT\\\"");
    assert_int_equal(calls, 0);
    assert_said(ask(&hook, REVIEW("'operation':'CONNECT'")), "'allowed':true");
    assert_int_equal(calls, 0);
    assert_said(ask(&hook, DELETE), "'allowed':true");
    assert_int_equal(calls, 1);
    forget();
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

static kc__converter robots = {
    .group = (char *)"robot.io", .kind = (char *)"Robot", .convert = convert};
static const kc__hook converting = {
    .path = (char *)"/convert", .serve = kc__serve_conversion, .converters = &robots};

#define OBJECT(name) "{'apiVersion':'robot.io/v1','kind':'Robot','metadata':{'name':'" name "'}}"
#define CONVERSION(objects)                                              \
    "{'kind':'ConversionReview','apiVersion':'apiextensions.k8s.io/v1'," \
    "'request':{'uid':'42','desiredAPIVersion':'robot.io/v2','objects':[" objects "]}}"

static void all_objects_are_converted(void **state)
{
    (void)state;
    assert_said(ask(&converting, CONVERSION(OBJECT("a") "," OBJECT("b"))),
                "{'kind':'ConversionReview','apiVersion':'apiextensions.k8s.io/v1','response':{"
                "'uid':'42','convertedObjects':["
                "{'apiVersion':'robot.io/v2','kind':'Robot','metadata':{'name':'a'}},"
                "{'apiVersion':'robot.io/v2','kind':'Robot','metadata':{'name':'b'}}],"
                "'result':{'metadata':{},'status':'Success'}}}\n");
    assert_int_equal(status_of, 200);
    assert_said(ask(&converting, CONVERSION("")), "'convertedObjects':[],'result':{'metadata':{},"
                                                  "'status':'Success'}");
    forget();
}

static void one_that_fails_fails_all(void **state)
{
    (void)state;
    static const char *const wrong[][2] = {
        {CONVERSION(OBJECT("a") "," OBJECT("bad")), "object 1: cannot be"},
        {CONVERSION(OBJECT("silent")), "object 0: the converter gave nothing"},
        {CONVERSION(OBJECT("crash")), "internal error occurred during conversion"},
        {CONVERSION(OBJECT("renamed")), "the converter changed the name from renamed to x"},
        {CONVERSION(OBJECT("wrong")), "the converter gave robot.io/v1, not robot.io/v2"},
        {CONVERSION("{'apiVersion':'v1','kind':'Pod'}"), "there is no converter of Pod."},
        {CONVERSION("7"), "object 0: "},
        {"{'request':{'uid':'42','objects':[]}}", "request.desiredAPIVersion is empty"},
    };
    for (size_t i = 0; i < KC_COUNT(wrong); i++) {
        assert_said(ask(&converting, wrong[i][0]), "'uid':'42','convertedObjects':[],'result':{"
                                                   "'metadata':{},'status':'Failure','message':'");
        assert_contains(said, wrong[i][1]);
        assert_int_equal(status_of, 200);
    }
    forget();
}

static void an_object_of_that_version_is_given_back(void **state)
{
    (void)state;
    assert_said(ask(&converting, CONVERSION("{'apiVersion':'robot.io/v2','kind':'Robot',"
                                            "'metadata':{'name':'bad'}}")),
                "[{'apiVersion':'robot.io/v2','kind':'Robot','metadata':{'name':'bad'}}]");
    forget();
}

static void what_is_no_conversion_review_is_a_bad_request(void **state)
{
    (void)state;
    static const char *const wrong[] = {"", "{", "7", "{}", "{'request':null}", "{'request':[]}"};
    for (size_t i = 0; i < KC_COUNT(wrong); i++) {
        ask(&converting, wrong[i]);
        assert_int_equal(status_of, 400);
    }
    forget();
}

TESTS(a_request_is_read_whole, what_is_absent_is_empty, a_member_of_the_wrong_type_is_refused,
      what_is_no_review_is_refused, zero_allows, the_version_is_that_of_the_request,
      warnings_and_patches_go_along, a_patch_that_is_none_is_our_error,
      an_error_without_reason_is_forbidden, an_error_of_the_api_is_given_as_it_is,
      a_crash_is_a_failed_answer, bad_calls_are_answered_with_a_review, the_difference_is_the_patch,
      no_difference_is_no_patch, defaults_are_not_asked_for_a_deletion, another_kind_is_refused,
      failing_defaults_deny, warnings_go_with_either_result,
      a_validation_has_the_objects_its_operation_has, all_objects_are_converted,
      one_that_fails_fails_all, an_object_of_that_version_is_given_back,
      what_is_no_conversion_review_is_a_bad_request)
