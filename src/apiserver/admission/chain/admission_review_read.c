/* SPDX-License-Identifier: Apache-2.0 */
/*
 * admission_review_read.c: reads the response of a webhook. It is untrusted input: every member is
 * checked before it is used, and errors have Kubernetes' messages.
 */
#include "apiserver/admission/chain/admission_review.h"
#include "apiserver/call/go_json.h"
#include "apiserver/webhook/webhook_error.h"
#include "apiserver/webhook/webhook_response.h"

#include "kc/base64.h"
#include "kc/json.h"

#define GROUP "admission.k8s.io/"

void kc__admission_response_done(kc__admission_response *response)
{
    kc_buf_done(&response->patch);
    kc_buf_done(&response->status);
    kc_paths_done(&response->warnings);
    kc_paths_done(&response->annotations);
    kc_error_done(&response->denial);
}

/* ---- types ---- */

static const kc__hook_member of_response[] = {
    {"uid", KC_JSON_STRING, "types.UID"},
    {"allowed", KC_JSON_BOOL, "bool"},
    {"status", KC_JSON_OBJECT, "v1.Status"},
    {"patch", KC_JSON_STRING, "[]uint8"},
    {"patchType", KC_JSON_STRING, "v1.PatchType"},
    {"auditAnnotations", KC_JSON_OBJECT, "map[string]string"},
    {"warnings", KC_JSON_ARRAY, "[]string"},
};

static const kc__hook_member of_status[] = {
    {"status", KC_JSON_STRING, "string"},
    {"message", KC_JSON_STRING, "string"},
    {"reason", KC_JSON_STRING, "v1.StatusReason"},
    {"details", KC_JSON_OBJECT, "v1.StatusDetails"},
    {"code", KC_JSON_INT, "int32"},
};

/* Checks that the items of a list, or the values of a map, are strings. */
static int check_texts(const kc_value *list, const char *where, kc_error *err)
{
    const kc_value *odd = NULL;
    kc_value_each_item (list, item)
        odd = !odd && kc_value_type(item) != KC_JSON_STRING ? item : odd;
    kc_value_each_member (list, name, value)
        odd = !odd && name.p && kc_value_type(value) != KC_JSON_STRING ? value : odd;
    return odd ? kc_error_set(err, KC_BAD_REQUEST,
                              "json: cannot unmarshal %s into Go struct field %s of type string",
                              kc__rest_go_json_type(odd), where)
               : 0;
}

/* ---- apiVersion, kind and uid ---- */

static int check_review_kind(const kc_value *root, bool beta, kc_error *err)
{
    const kc_str api_version = kc_value_as_str(kc_value_get(root, "apiVersion"));
    const kc_str kind = kc_value_as_str(kc_value_get(root, "kind"));
    const char *wanted = beta ? GROUP "v1beta1" : GROUP "v1";
    if ((kc_str_empty(api_version) || kc_str_is(api_version, wanted)) &&
        (kc_str_empty(kind) || kc_str_is(kind, "AdmissionReview")))
        return 0;
    if (kc_str_is(kind, "AdmissionReview") &&
        kc_str_is(api_version, beta ? GROUP "v1" : GROUP "v1beta1"))
        return kc_error_set(
            err, KC_BAD_REQUEST,
            "converting (%s.AdmissionReview) to (%s.AdmissionReview): unknown conversion",
            beta ? "v1" : "v1beta1", beta ? "v1beta1" : "v1");
    return kc_error_set(err, KC_BAD_REQUEST,
                        "no kind \"%.*s\" is registered for version \"%.*s\" in scheme "
                        "\"k8s.io/apiserver/pkg/util/webhook/client.go:71\"",
                        KC_ARG(kc_str_empty(kind) ? KC_STR("AdmissionReview") : kind),
                        KC_ARG(kc_str_empty(api_version) ? kc_cstr(wanted) : api_version));
}

/* The checks that v1 added. */
static int check_strict(const kc_value *root, const kc__admission_review_origin *from,
                        kc_error *err)
{
    if (from->beta)
        return 0;
    if (kc__hook_check_uid(kc_value_get(root, "response"), from->uid, err) < 0)
        return kc_error_result(err);
    return kc__hook_check_named(root, GROUP "v1, Kind=AdmissionReview", err);
}

/* ---- the patch ---- */

static bool is_base64(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '+' ||
           c == '/';
}

static int decode_patch(const kc_value *response, kc_buf *ret, kc_error *err)
{
    const kc_str text = kc_value_as_str(kc_value_get(response, "patch"));
    size_t at = 0;
    if (kc_base64_read(ret, text, KC_BASE64))
        return 0;
    while (at < text.n && is_base64(text.p[at]))
        at++;
    return kc_error_set(err, KC_BAD_REQUEST, "illegal base64 data at input byte %zu", at);
}

static int read_patch(const kc_value *response, const kc__admission_review_origin *from,
                      kc_buf *ret, kc_error *err)
{
    const kc_value *type = kc_value_get(response, "patchType");
    const bool typed = kc_value_type(type) == KC_JSON_STRING;
    if (from->beta) {
        if (!from->mutates)
            kc_buf_clear(ret);
        return 0;
    }
    if (!from->mutates && ret->n)
        return kc_error_set(err, KC_INVALID, "validating webhook may not return response.patch");
    if (!from->mutates && typed)
        return kc_error_set(err, KC_INVALID,
                            "validating webhook may not return response.patchType");
    if (ret->n && !typed)
        return kc_error_set(err, KC_INVALID,
                            "webhook returned response.patch but not response.patchType");
    if (!ret->n && typed)
        return kc_error_set(err, KC_INVALID,
                            "webhook returned response.patchType but not response.patch");
    if (typed && kc_str_empty(kc_value_as_str(type)))
        return kc_error_set(err, KC_INVALID, "webhook returned invalid response.patchType of \"\"");
    if (typed && kc_value_as_bool(kc_value_get(response, "allowed"), false) &&
        !kc_str_is(kc_value_as_str(type), "JSONPatch"))
        return kc_error_set(err, KC_UNSUPPORTED_MEDIA_TYPE, "unsupported patch type \"%.*s\"",
                            KC_ARG(kc_value_as_str(type)));
    return 0;
}

/* ---- denial ---- */

static void write_status(kc_buf *out, const kc_value *status_value, const kc_error *denial)
{
    const kc_str status = kc_value_as_str(kc_value_get(status_value, "status"));
    const kc_str reason = kc_value_as_str(kc_value_get(status_value, "reason"));
    const kc_value *details = kc_value_get(status_value, "details");
    const bool odd = kc_str_empty(status) || kc_str_is(status, "Success");
    kc_buf_puts(out, "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":");
    kc_json_quote(out, odd ? KC_STR("Failure") : status);
    kc_buf_puts(out, ",\"message\":");
    kc_json_quote(out, kc_cstr(denial->message));
    if (!kc_str_empty(reason)) {
        kc_buf_puts(out, ",\"reason\":");
        kc_json_quote(out, reason);
    }
    if (kc_value_type(details) == KC_JSON_OBJECT) {
        kc_buf_puts(out, ",\"details\":");
        kc_json_write(out, details);
    }
    kc_buf_printf(out, ",\"code\":%d}", denial->code);
}

/* Uses the webhook's code and message, but never a code of success. */
static void read_denial(const kc_value *status_value, const kc__admission_review_origin *from,
                        kc__admission_response *ret)
{
    const kc_str message = kc_value_as_str(kc_value_get(status_value, "message"));
    const kc_str reason = kc_value_as_str(kc_value_get(status_value, "reason"));
    const int64_t code = kc_value_as_i64_or(kc_value_get(status_value, "code"), 0);
    const kc_str why = kc_str_empty(message) ? reason : message;
    kc_error_set(&ret->denial, kc_reason_from(reason),
                 "admission webhook \"%.*s\" denied the request%s%.*s", KC_ARG(from->hook),
                 kc_str_empty(why) ? " without explanation" : ": ", KC_ARG(why));
    ret->denial.code = code < 400 || code > 599 ? 400 : (int)code;
    write_status(&ret->status, status_value, &ret->denial);
}

/* ---- the whole response ---- */

static void read_warnings(const kc_value *response, kc__admission_response *ret)
{
    kc_value_each_item (kc_value_get(response, "warnings"), item)
        kc_vec_push(&ret->warnings, kc_str_dup(kc_value_as_str(item)));
    kc_value_each_member (kc_value_get(response, "auditAnnotations"), name, value) {
        kc_vec_push(&ret->annotations, kc_str_dup(name));
        kc_vec_push(&ret->annotations, kc_str_dup(kc_value_as_str(value)));
    }
    ret->allowed = kc_value_as_bool(kc_value_get(response, "allowed"), false);
}

static int check_contents(const kc_value *response, kc_error *err)
{
    if (kc__hook_check_members(response, "AdmissionResponse.response", of_response,
                               KC_COUNT(of_response), err) < 0 ||
        kc__hook_check_members(kc_value_get(response, "status"), "Status.response.status",
                               of_status, KC_COUNT(of_status), err) < 0)
        return kc_error_result(err);
    if (check_texts(kc_value_get(response, "warnings"), "AdmissionResponse.response.warnings",
                    err) < 0)
        return kc_error_result(err);
    return check_texts(kc_value_get(response, "auditAnnotations"),
                       "AdmissionResponse.response.auditAnnotations", err);
}

static int read_root(const kc_value *root, const kc__admission_review_origin *from,
                     kc__admission_response *ret, kc_error *err)
{
    static const kc__hook_member of_review[] = {
        {"response", KC_JSON_OBJECT, "v1.AdmissionResponse"},
        {"kind", KC_JSON_STRING, "string"},
        {"apiVersion", KC_JSON_STRING, "string"}};
    const kc_value *response = kc_value_get(root, "response");
    if (kc__hook_check_members(root, "AdmissionReview", of_review, KC_COUNT(of_review), err) < 0 ||
        check_review_kind(root, from->beta, err) < 0 || check_contents(response, err) < 0)
        return kc_error_result(err);
    if (kc_value_type(response) != KC_JSON_OBJECT)
        return kc_error_set(err, KC_INVALID, "webhook response was absent");
    if (decode_patch(response, &ret->patch, err) < 0 || check_strict(root, from, err) < 0 ||
        read_patch(response, from, &ret->patch, err) < 0)
        return kc_error_result(err);
    read_warnings(response, ret);
    if (!ret->allowed)
        read_denial(kc_value_get(response, "status"), from, ret);
    return 0;
}

int kc__admission_review_read(kc_str body, const kc__admission_review_origin *from,
                              kc__admission_response *ret, kc_error *err)
{
    kc_scoped(kc_error) why = {0};
    kc__admission_response response = {0};
    kc_auto(kc_view) *view = kc_view_parse(body, NULL, &why);
    if (!view || kc_value_type(kc_view_root(view)) != KC_JSON_OBJECT)
        return kc__hook_report_no_object(body, view ? kc_view_root(view) : NULL, &why, err);
    if (read_root(kc_view_root(view), from, &response, err) < 0) {
        kc__admission_response_done(&response);
        return kc_error_result(err);
    }
    *ret = response;
    return 0;
}
