/* SPDX-License-Identifier: Apache-2.0 */
/*
 * review_read.c: reading what a webhook answers. It comes from outside: nothing in it is believed
 * before it was looked at, and what is wrong with it is said as Kubernetes says it.
 */
#include "apiserver/admission/review.h"
#include "apiserver/rest/go_json.h"

#include "kc/base64.h"
#include "kc/json.h"

#define GROUP "admission.k8s.io/"

void kc__hook_answer_done(kc__hook_answer *answer)
{
    kc_buf_done(&answer->patch);
    kc_buf_done(&answer->status);
    kc_paths_done(&answer->warnings);
    kc_paths_done(&answer->annotations);
    kc_error_done(&answer->denial);
}

/* ---- types ---- */

typedef struct expected {
    const char *name;
    kc_type type;
    const char *go_type;
} expected;

static const expected of_response[] = {
    {"uid", KC_STRING, "types.UID"},          {"allowed", KC_BOOL, "bool"},
    {"status", KC_OBJECT, "v1.Status"},       {"patch", KC_STRING, "[]uint8"},
    {"patchType", KC_STRING, "v1.PatchType"}, {"auditAnnotations", KC_OBJECT, "map[string]string"},
    {"warnings", KC_ARRAY, "[]string"},
};

static const expected of_status[] = {
    {"status", KC_STRING, "string"},
    {"message", KC_STRING, "string"},
    {"reason", KC_STRING, "v1.StatusReason"},
    {"details", KC_OBJECT, "v1.StatusDetails"},
    {"code", KC_INT, "int32"},
};

static int check_types(const kc_value *object, const char *where, const expected *fields, size_t n,
                       kc_error *err)
{
    for (size_t i = 0; i < n; i++) {
        const kc_value *value = kc_get(object, fields[i].name);
        const kc_type type = kc_type_of(value);
        if (type != KC_ABSENT && type != KC_NULL && type != fields[i].type)
            return kc_error_set(err, KC_BAD_REQUEST,
                                "json: cannot unmarshal %s into Go struct field %s.%s of type %s",
                                kc__go_json_type(value), where, fields[i].name, fields[i].go_type);
    }
    return 0;
}

/* Texts, or the same as the values of a map. */
static int check_texts(const kc_value *list, const char *where, kc_error *err)
{
    const kc_value *odd = NULL;
    kc_items (list, item)
        odd = !odd && kc_type_of(item) != KC_STRING ? item : odd;
    kc_members (list, name, value)
        odd = !odd && name.p && kc_type_of(value) != KC_STRING ? value : odd;
    return odd ? kc_error_set(err, KC_BAD_REQUEST,
                              "json: cannot unmarshal %s into Go struct field %s of type string",
                              kc__go_json_type(odd), where)
               : 0;
}

/* ---- what it says it is ---- */

static int check_kind(const kc_value *root, bool beta, kc_error *err)
{
    const kc_str api_version = kc_as_str(kc_get(root, "apiVersion"));
    const kc_str kind = kc_as_str(kc_get(root, "kind"));
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

/* Said in full, and not left to be guessed. */
static int check_named(const kc_value *root, kc_error *err)
{
    kc_str version = kc_as_str(kc_get(root, "apiVersion")), group = {0};
    const kc_str kind = kc_as_str(kc_get(root, "kind"));
    if (!kc_str_empty(kind) && !kc_str_empty(version))
        return 0;
    if (kc_str_find(version, '/') >= 0)
        group = kc_str_cut(&version, '/');
    return kc_error_set(err, KC_INVALID,
                        "expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, "
                        "got %.*s/%.*s, Kind=%.*s",
                        KC_ARG(group), KC_ARG(version), KC_ARG(kind));
}

/* What v1 added. */
static int check_strict(const kc_value *root, const kc__hook_from *from, kc_error *err)
{
    const kc_str uid = kc_as_str(kc_get(kc_get(root, "response"), "uid"));
    if (from->beta)
        return 0;
    if (!kc_str_eq(uid, from->uid)) {
        kc_scoped(kc_buf) quoted = {0};
        kc_json_quote(&quoted, uid);
        return kc_error_set(err, KC_INVALID, "expected response.uid=\"%.*s\", got %s",
                            KC_ARG(from->uid), kc_buf_cstr(&quoted));
    }
    return check_named(root, err);
}

/* ---- the patch ---- */

static bool is_base64(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '+' ||
           c == '/';
}

static int decode_patch(const kc_value *response, kc_buf *ret, kc_error *err)
{
    const kc_str text = kc_as_str(kc_get(response, "patch"));
    size_t at = 0;
    if (kc_base64_read(ret, text, KC_BASE64))
        return 0;
    while (at < text.n && is_base64(text.p[at]))
        at++;
    return kc_error_set(err, KC_BAD_REQUEST, "illegal base64 data at input byte %zu", at);
}

static int read_patch(const kc_value *response, const kc__hook_from *from, kc_buf *ret,
                      kc_error *err)
{
    const kc_value *type = kc_get(response, "patchType");
    const bool typed = kc_type_of(type) == KC_STRING;
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
    if (typed && kc_str_empty(kc_as_str(type)))
        return kc_error_set(err, KC_INVALID, "webhook returned invalid response.patchType of \"\"");
    if (typed && kc_as_bool(kc_get(response, "allowed"), false) &&
        !kc_str_is(kc_as_str(type), "JSONPatch"))
        return kc_error_set(err, KC_UNSUPPORTED_MEDIA_TYPE, "unsupported patch type \"%.*s\"",
                            KC_ARG(kc_as_str(type)));
    return 0;
}

/* ---- the refusal ---- */

static void write_status(kc_buf *out, const kc_value *given, const kc_error *denial)
{
    const kc_str status = kc_as_str(kc_get(given, "status"));
    const kc_str reason = kc_as_str(kc_get(given, "reason"));
    const kc_value *details = kc_get(given, "details");
    const bool odd = kc_str_empty(status) || kc_str_is(status, "Success");
    kc_buf_puts(out, "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":");
    kc_json_quote(out, odd ? KC_STR("Failure") : status);
    kc_buf_puts(out, ",\"message\":");
    kc_json_quote(out, kc_cstr(denial->message));
    if (!kc_str_empty(reason)) {
        kc_buf_puts(out, ",\"reason\":");
        kc_json_quote(out, reason);
    }
    if (kc_type_of(details) == KC_OBJECT) {
        kc_buf_puts(out, ",\"details\":");
        kc_json_write(out, details);
    }
    kc_buf_printf(out, ",\"code\":%d}", denial->code);
}

/* Its own code and words, but never ones of success. */
static void read_denial(const kc_value *given, const kc__hook_from *from, kc__hook_answer *ret)
{
    const kc_str message = kc_as_str(kc_get(given, "message"));
    const kc_str reason = kc_as_str(kc_get(given, "reason"));
    const int64_t code = kc_as_i64_or(kc_get(given, "code"), 0);
    const kc_str why = kc_str_empty(message) ? reason : message;
    kc_error_set(&ret->denial, kc_reason_from(reason),
                 "admission webhook \"%.*s\" denied the request%s%.*s", KC_ARG(from->hook),
                 kc_str_empty(why) ? " without explanation" : ": ", KC_ARG(why));
    ret->denial.code = code < 400 || code > 599 ? 400 : (int)code;
    write_status(&ret->status, given, &ret->denial);
}

/* ---- all of it ---- */

static void read_said(const kc_value *response, kc__hook_answer *ret)
{
    kc_items (kc_get(response, "warnings"), item)
        kc_vec_push(&ret->warnings, kc_str_dup(kc_as_str(item)));
    kc_members (kc_get(response, "auditAnnotations"), name, value) {
        kc_vec_push(&ret->annotations, kc_str_dup(name));
        kc_vec_push(&ret->annotations, kc_str_dup(kc_as_str(value)));
    }
    ret->allowed = kc_as_bool(kc_get(response, "allowed"), false);
}

static int check_contents(const kc_value *response, kc_error *err)
{
    if (check_types(response, "AdmissionResponse.response", of_response, KC_COUNT(of_response),
                    err) < 0 ||
        check_types(kc_get(response, "status"), "Status.response.status", of_status,
                    KC_COUNT(of_status), err) < 0)
        return -KC_BAD_REQUEST;
    if (check_texts(kc_get(response, "warnings"), "AdmissionResponse.response.warnings", err) < 0)
        return -KC_BAD_REQUEST;
    return check_texts(kc_get(response, "auditAnnotations"),
                       "AdmissionResponse.response.auditAnnotations", err);
}

static int read_root(const kc_value *root, const kc__hook_from *from, kc__hook_answer *ret,
                     kc_error *err)
{
    static const expected of_review[] = {{"response", KC_OBJECT, "v1.AdmissionResponse"},
                                         {"kind", KC_STRING, "string"},
                                         {"apiVersion", KC_STRING, "string"}};
    const kc_value *response = kc_get(root, "response");
    if (check_types(root, "AdmissionReview", of_review, KC_COUNT(of_review), err) < 0 ||
        check_kind(root, from->beta, err) < 0 || check_contents(response, err) < 0)
        return -1;
    if (kc_type_of(response) != KC_OBJECT)
        return kc_error_set(err, KC_INVALID, "webhook response was absent");
    if (decode_patch(response, &ret->patch, err) < 0 || check_strict(root, from, err) < 0 ||
        read_patch(response, from, &ret->patch, err) < 0)
        return -1;
    read_said(response, ret);
    if (!ret->allowed)
        read_denial(kc_get(response, "status"), from, ret);
    return 0;
}

static int not_a_review(kc_str body, const kc_value *root, const kc_error *why, kc_error *err)
{
    kc_scoped(kc_buf) text = {0};
    const bool open = body.n && (body.p[0] == '{' || body.p[0] == '[');
    if (root || (body.n && !open)) /* What is no JSON is taken for YAML: some text. */
        kc_buf_printf(&text,
                      "json: cannot unmarshal %s into Go value of type struct { APIVersion string "
                      "\"json:\\\"apiVersion,omitempty\\\"\"; Kind string "
                      "\"json:\\\"kind,omitempty\\\"\" }",
                      root ? kc__go_json_type(root) : "string");
    else if (!kc__go_json_complaint(body, &text))
        kc_buf_puts(&text, kc_error_text(why));
    return kc_error_set(err, KC_BAD_REQUEST, "couldn't get version/kind; json parse error: %s",
                        kc_buf_cstr(&text));
}

int kc__hook_review_read(kc_str body, const kc__hook_from *from, kc__hook_answer *ret,
                         kc_error *err)
{
    kc_scoped(kc_error) why = {0};
    kc__hook_answer answer = {0};
    kc_auto(kc_view) *view = kc_view_parse(body, NULL, &why);
    if (!view || kc_type_of(kc_view_root(view)) != KC_OBJECT)
        return not_a_review(body, view ? kc_view_root(view) : NULL, &why, err);
    if (read_root(kc_view_root(view), from, &answer, err) < 0) {
        kc__hook_answer_done(&answer);
        return err ? -(int)err->reason : -KC_INVALID;
    }
    *ret = answer;
    return 0;
}
