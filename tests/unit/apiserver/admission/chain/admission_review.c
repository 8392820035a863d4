/* SPDX-License-Identifier: Apache-2.0 */
/* AdmissionReviews: the bytes of requests, and how responses are read. */
#include "testing.h"

#include "apiserver/admission/chain/admission_review.h"

static const kc__resource deployments = {
    .group = "apps", .version = "v1", .plural = "deployments", .kind = "Deployment"};
static const kc__resource older = {
    .group = "apps", .version = "v1beta1", .plural = "deployments", .kind = "Deployment"};
static const kc__resource_subresource scale = {
    .name = "scale", .group = "autoscaling", .version = "v1", .kind = "Scale"};
static const kc__resource_subresource binding = {.name = "binding", .kind = "Binding"};

/* ---- requests ---- */

static void assert_review(const kc__admission_review *review, const char *expected)
{
    kc_scoped(kc_buf) out = {0};
    kc_autofree char *text = kc_strdup(expected);
    for (char *c = text; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    kc__admission_review_write(&out, review);
    assert_string_equal(kc_buf_cstr(&out), text);
    kc_auto(kc_view) *view = kc_view_parse(kc_buf_str(&out), NULL, NULL);
    assert_non_null(view);
}

static void review_of_update_has_all_fields(void **state)
{
    (void)state;
    kc_auto(kc_object) *object = object_of("{'kind':'Deployment','a':1}");
    kc_auto(kc_object) *old = object_of("{'kind':'Deployment'}");
    const kc_str groups[] = {KC_STR("dev"), KC_STR("system:authenticated")};
    const kc_str values[] = {KC_STR("one"), KC_STR("t\"wo")};
    const kc__user_extra extra = {KC_STR("scopes"), values, 2};
    const kc__user user = {.name = KC_STR("ann"),
                           .uid = KC_STR("7"),
                           .groups = groups,
                           .n_groups = 2,
                           .extra = &extra,
                           .n_extra = 1};
    const kc__admission_attributes about = {.operation = "UPDATE",
                                            .resource = &deployments,
                                            .name = KC_STR("web"),
                                            .ns = KC_STR("default"),
                                            .user = &user,
                                            .dry_run = true,
                                            .options = KC_STR("{\"kind\":\"UpdateOptions\"}")};
    assert_review(
        &(kc__admission_review){
            .about = &about, .as = &older, .object = object, .old = old, .uid = KC_STR("u")},
        "{'kind':'AdmissionReview','apiVersion':'admission.k8s.io/v1','request':{'uid':'u',"
        "'kind':{'group':'apps','version':'v1beta1','kind':'Deployment'},"
        "'resource':{'group':'apps','version':'v1beta1','resource':'deployments'},"
        "'requestKind':{'group':'apps','version':'v1','kind':'Deployment'},"
        "'requestResource':{'group':'apps','version':'v1','resource':'deployments'},"
        "'name':'web','namespace':'default','operation':'UPDATE',"
        "'userInfo':{'username':'ann','uid':'7','groups':['dev','system:authenticated'],"
        "'extra':{'scopes':['one','t\\'wo']}},"
        "'object':{'kind':'Deployment','a':1},'oldObject':{'kind':'Deployment'},"
        "'dryRun':true,'options':{'kind':'UpdateOptions'}}}\n");
}

static void absent_fields_are_omitted_or_null(void **state)
{
    (void)state;
    const kc__user user = {.name = KC_STR("ann")};
    const kc__admission_attributes about = {
        .operation = "DELETE", .resource = &deployments, .subresource = &scale, .user = &user};
    assert_review(
        &(kc__admission_review){
            .about = &about, .as = &deployments, .uid = KC_STR("u"), .beta = true},
        "{'kind':'AdmissionReview','apiVersion':'admission.k8s.io/v1beta1','request':{'uid':'u',"
        "'kind':{'group':'autoscaling','version':'v1','kind':'Scale'},"
        "'resource':{'group':'apps','version':'v1','resource':'deployments'},"
        "'subResource':'scale',"
        "'requestKind':{'group':'autoscaling','version':'v1','kind':'Scale'},"
        "'requestResource':{'group':'apps','version':'v1','resource':'deployments'},"
        "'requestSubResource':'scale','operation':'DELETE','userInfo':{'username':'ann'},"
        "'object':null,'oldObject':null,'dryRun':false,'options':null}}\n");
}

static void subresource_kind_without_group_uses_group_of_its_resource(void **state)
{
    (void)state;
    kc_scoped(kc_buf) out = {0};
    const kc__user user = {.name = KC_STR("ann")};
    const kc__admission_attributes about = {
        .operation = "CREATE", .resource = &deployments, .subresource = &binding, .user = &user};
    kc__admission_review_write(&out, &(kc__admission_review){.about = &about, .as = &deployments});
    assert_contains(kc_buf_cstr(&out),
                    "\"kind\":{\"group\":\"apps\",\"version\":\"v1\",\"kind\":\"Binding\"}");
}

/* ---- responses ---- */

static int read(const char *response, bool mutates, bool beta, kc__admission_response *ret,
                kc_error *err)
{
    kc_autofree char *text = kc_strdup(response);
    for (char *c = text; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    return kc__admission_review_read(
        kc_cstr(text),
        &(kc__admission_review_origin){
            .hook = KC_STR("a.x.io"), .uid = KC_STR("u"), .mutates = mutates, .beta = beta},
        ret, err);
}

#define V1            "{'kind':'AdmissionReview','apiVersion':'admission.k8s.io/v1','response':"
#define BETA          "{'kind':'AdmissionReview','apiVersion':'admission.k8s.io/v1beta1','response':"
#define ALLOWED(more) V1 "{'uid':'u','allowed':true" more "}}"

static void response_may_allow_warn_and_patch(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    kc__admission_response answer = {0};
    assert_int_equal(read(ALLOWED(",'patchType':'JSONPatch','patch':'W10=','warnings':['one','two'"
                                  "],'auditAnnotations':{'k':'v'}"),
                          true, false, &answer, &err),
                     0);
    assert_true(answer.allowed);
    assert_string_equal(kc_buf_cstr(&answer.patch), "[]");
    assert_int_equal(answer.warnings.n, 2);
    assert_string_equal(answer.warnings.items[1], "two");
    assert_string_equal(answer.annotations.items[0], "k");
    assert_string_equal(answer.annotations.items[1], "v");
    kc__admission_response_done(&answer);
}

typedef struct bad {
    const char *response;
    bool mutates, beta;
    kc_reason reason;
    const char *part;
} bad;

#define PARSE "couldn't get version/kind; json parse error: "

static const bad bads[] = {
    {"hello", true, false, KC_BAD_REQUEST, PARSE "json: cannot unmarshal string into Go value"},
    {"{", true, false, KC_BAD_REQUEST, PARSE "unexpected end of JSON input"},
    {"", true, false, KC_BAD_REQUEST, PARSE},
    {"[]", true, false, KC_BAD_REQUEST, PARSE "json: cannot unmarshal array into Go value"},
    {"{}", true, false, KC_INVALID, "webhook response was absent"},
    {"{'kind':'Pod','apiVersion':'v1'}", true, false, KC_BAD_REQUEST,
     "no kind \"Pod\" is registered for version \"v1\" in scheme"},
    {BETA "{'uid':'u','allowed':true}}", true, false, KC_BAD_REQUEST,
     "converting (v1beta1.AdmissionReview) to (v1.AdmissionReview): unknown conversion"},
    {V1 "null}", true, false, KC_INVALID, "webhook response was absent"},
    {V1 "[]}", true, false, KC_BAD_REQUEST,
     "json: cannot unmarshal array into Go struct field AdmissionReview.response of type "
     "v1.AdmissionResponse"},
    {V1 "{'uid':'v','allowed':true}}", true, false, KC_INVALID,
     "expected response.uid=\"u\", got \"v\""},
    {V1 "{'allowed':true}}", true, false, KC_INVALID, "expected response.uid=\"u\", got \"\""},
    {"{'response':{'uid':'u'}}", true, false, KC_INVALID,
     "expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got /, Kind="},
    {V1 "{'uid':'u','allowed':'yes'}}", true, false, KC_BAD_REQUEST,
     "json: cannot unmarshal string into Go struct field AdmissionResponse.response.allowed of "
     "type bool"},
    {V1 "{'uid':'u','status':{'code':'x'}}}", true, false, KC_BAD_REQUEST,
     "Status.response.status.code of type int32"},
    {V1 "{'uid':'u','warnings':[1]}}", true, false, KC_BAD_REQUEST, "of type string"},
    {V1 "{'uid':'u','auditAnnotations':{'a':1}}}", true, false, KC_BAD_REQUEST, "of type string"},
    {ALLOWED(",'patch':'W1$0'"), true, false, KC_BAD_REQUEST,
     "illegal base64 data at input byte 2"},
    {ALLOWED(",'patch':'W10='"), true, false, KC_INVALID,
     "webhook returned response.patch but not response.patchType"},
    {ALLOWED(",'patchType':'JSONPatch'"), true, false, KC_INVALID,
     "webhook returned response.patchType but not response.patch"},
    {ALLOWED(",'patch':'W10=','patchType':''"), true, false, KC_INVALID,
     "webhook returned invalid response.patchType of \"\""},
    {ALLOWED(",'patch':'W10=','patchType':'Merge'"), true, false, KC_UNSUPPORTED_MEDIA_TYPE,
     "unsupported patch type \"Merge\""},
    {ALLOWED(",'patch':'W10=','patchType':'JSONPatch'"), false, false, KC_INVALID,
     "validating webhook may not return response.patch"},
    {ALLOWED(",'patchType':'JSONPatch'"), false, false, KC_INVALID,
     "validating webhook may not return response.patchType"},
    {V1 "{'uid':'u'}}", true, true, KC_BAD_REQUEST,
     "converting (v1.AdmissionReview) to (v1beta1.AdmissionReview): unknown conversion"},
};

static void invalid_response_is_refused_with_kubernetes_message(void **state)
{
    (void)state;
    for (size_t i = 0; i < KC_COUNT(bads); i++) {
        const bad *b = &bads[i];
        kc_scoped(kc_error) err = {0};
        kc__admission_response answer = {0};
        if (read(b->response, b->mutates, b->beta, &answer, &err) == 0)
            fail_msg("accepted: %s", b->response);
        if (err.reason != b->reason || !strstr(kc_error_text(&err), b->part))
            fail_msg("%s: %s", b->response, kc_error_text(&err));
        assert_int_equal(read(b->response, b->mutates, b->beta, &answer, NULL) < 0, true);
    }
}

static void v1beta1_response_is_validated_less_strictly(void **state)
{
    (void)state;
    kc__admission_response answer = {0};
    assert_int_equal(read(BETA "{'allowed':true,'patch':'W10='}}", true, true, &answer, NULL), 0);
    assert_string_equal(kc_buf_cstr(&answer.patch), "[]");
    kc__admission_response_done(&answer);
    answer = (kc__admission_response){0};
    assert_int_equal(
        read("{'response':{'allowed':true,'patch':'W10='}}", false, true, &answer, NULL), 0);
    assert_int_equal(answer.patch.n, 0);
    kc__admission_response_done(&answer);
}

typedef struct refusal {
    const char *status;
    int code;
    const char *message, *shown;
} refusal;

#define DENIED "admission webhook \"a.x.io\" denied the request"
#define STATUS "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\","

static const refusal refusals[] = {
    {"", 400, DENIED " without explanation", "\"code\":400}"},
    {",'status':null", 400, DENIED " without explanation", STATUS},
    {",'status':{'message':'no'}", 400, DENIED ": no", "\"code\":400}"},
    {",'status':{'reason':'Forbidden'}", 400, DENIED ": Forbidden", "\"reason\":\"Forbidden\""},
    {",'status':{'reason':'Mine','message':'no','code':403}", 403, DENIED ": no",
     "\"reason\":\"Mine\",\"code\":403}"},
    {",'status':{'code':200,'status':'Success'}", 400, DENIED " without explanation", STATUS},
    {",'status':{'code':399}", 400, DENIED " without explanation", "\"code\":400}"},
    {",'status':{'code':500,'details':{'name':'x'}}", 500, DENIED " without explanation",
     "\"details\":{\"name\":\"x\"},\"code\":500}"},
};

static void denial_carries_the_status_of_the_webhook(void **state)
{
    (void)state;
    for (size_t i = 0; i < KC_COUNT(refusals); i++) {
        kc__admission_response answer = {0};
        kc_scoped(kc_error) err = {0};
        kc_autofree char *response =
            kc_asprintf(V1 "{'uid':'u','allowed':false%s}}", refusals[i].status);
        assert_int_equal(read(response, i % 2, false, &answer, &err), 0);
        assert_false(answer.allowed);
        assert_int_equal(answer.denial.code, refusals[i].code);
        assert_string_equal(kc_error_text(&answer.denial), refusals[i].message);
        assert_contains(kc_buf_cstr(&answer.status), refusals[i].shown);
        kc__admission_response_done(&answer);
    }
}

TESTS(review_of_update_has_all_fields, absent_fields_are_omitted_or_null,
      subresource_kind_without_group_uses_group_of_its_resource, response_may_allow_warn_and_patch,
      invalid_response_is_refused_with_kubernetes_message,
      v1beta1_response_is_validated_less_strictly, denial_carries_the_status_of_the_webhook)
