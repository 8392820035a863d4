/* SPDX-License-Identifier: Apache-2.0 */
/*
 * review.c: decodes and encodes AdmissionReviews.
 *
 * Any client that reaches the port can send a review, so a member of the wrong type is rejected and
 * not treated as absent: a handler must not take a DELETE for something else because the operation
 * was a number. A member that is null is absent, as in an API server. Unknown members are ignored:
 * newer servers send more.
 *
 * To read one more member, add it to a table below, or use kc_admission_request's `request`.
 */
#include "runtime/webhook/review.h"

#include "kc/base64.h"
#include "object/model/status.h"

#define V1 "admission.k8s.io/v1"

/* ---- decoding ---- */

typedef struct webhook_review_text_field {
    const char *name;
    size_t at; /* Offset of a kc_str in the struct that is filled. */
} webhook_review_text_field;

static const webhook_review_text_field request_fields[] = {
    {"uid", offsetof(kc_admission_request, uid)},
    {"operation", offsetof(kc_admission_request, operation)},
    {"subResource", offsetof(kc_admission_request, subresource)},
    {"name", offsetof(kc_admission_request, name)},
    {"namespace", offsetof(kc_admission_request, ns)},
};
static const webhook_review_text_field kind_fields[] = {
    {"group", offsetof(kc_gvk, group)},
    {"version", offsetof(kc_gvk, version)},
    {"kind", offsetof(kc_gvk, kind)},
};
static const webhook_review_text_field resource_fields[] = {
    {"group", offsetof(kc_gvr, group)},
    {"version", offsetof(kc_gvr, version)},
    {"resource", offsetof(kc_gvr, resource)},
};
static const webhook_review_text_field user_fields[] = {
    {"username", offsetof(kc_admission_request, username)},
    {"uid", offsetof(kc_admission_request, user_uid)},
};

static bool webhook_review_is_absent(const kc_value *value)
{
    return kc_value_type(value) == KC_JSON_ABSENT || kc_value_type(value) == KC_JSON_NULL;
}

static int webhook_review_reject(kc_error *err, const char *where, const char *name,
                                 kc_json_type wanted)
{
    return kc_error_set(err, KC_BAD_REQUEST, "%s.%s is not a JSON %s", where, name,
                        kc_json_type_name(wanted));
}

/* The member, if it has this type; NULL if it is absent. */
static int webhook_review_get(const kc_value *of, const char *where, const char *name,
                              kc_json_type wanted, const kc_value **ret, kc_error *err)
{
    const kc_value *value = kc_value_get(of, name);
    if (!webhook_review_is_absent(value) && kc_value_type(value) != wanted)
        return webhook_review_reject(err, where, name, wanted);
    *ret = webhook_review_is_absent(value) ? NULL : value;
    return 0;
}

static int read_texts(const kc_value *from, const char *where,
                      const webhook_review_text_field *fields, size_t n, void *to, kc_error *err)
{
    for (size_t i = 0; i < n; i++) {
        const kc_value *value = NULL;
        if (webhook_review_get(from, where, fields[i].name, KC_JSON_STRING, &value, err) < 0)
            return kc_error_result(err);
        *(kc_str *)((char *)to + fields[i].at) = kc_value_as_str(value);
    }
    return 0;
}

static int webhook_review_read_group(const kc_value *request, const char *name, const char *where,
                                     const webhook_review_text_field *fields, void *to,
                                     kc_error *err)
{
    const kc_value *value = NULL;
    if (webhook_review_get(request, "request", name, KC_JSON_OBJECT, &value, err) < 0)
        return kc_error_result(err);
    return read_texts(value, where, fields, 3, to, err);
}

static int read_user(const kc_value *request, kc__webhook_review *review, kc_error *err)
{
    const kc_value *user = NULL, *groups = NULL;
    kc_admission_request *r = &review->request;
    if (webhook_review_get(request, "request", "userInfo", KC_JSON_OBJECT, &user, err) < 0 ||
        read_texts(user, "request.userInfo", user_fields, KC_COUNT(user_fields), r, err) < 0 ||
        webhook_review_get(user, "request.userInfo", "groups", KC_JSON_ARRAY, &groups, err) < 0)
        return kc_error_result(err);
    r->groups = review->groups = kc_calloc(kc_value_len(groups) + 1, sizeof(kc_str));
    kc_value_each_item (groups, group) {
        if (kc_value_type(group) != KC_JSON_STRING)
            return webhook_review_reject(err, "request.userInfo", "groups[]", KC_JSON_STRING);
        review->groups[r->n_groups++] = kc_value_as_str(group);
    }
    return 0;
}

static int read_object(const kc_value *request, const char *name, kc_object **ret, kc_error *err)
{
    kc_scoped(kc_buf) text = {0};
    const kc_value *value = NULL;
    if (webhook_review_get(request, "request", name, KC_JSON_OBJECT, &value, err) < 0)
        return kc_error_result(err);
    if (!value)
        return 0;
    kc_json_write(&text, value);
    *ret = kc_object_parse(kc_buf_str(&text), &(kc_json_opts){.max_bytes = KC__WEBHOOK_REVIEW_MAX},
                           err);
    return *ret ? 0 : kc_error_wrap(err, "request.%s", name);
}

static int read_request(const kc_value *request, kc__webhook_review *review, kc_error *err)
{
    kc_admission_request *r = &review->request;
    const kc_value *dry_run = NULL;
    if (read_texts(request, "request", request_fields, KC_COUNT(request_fields), r, err) < 0 ||
        webhook_review_read_group(request, "kind", "request.kind", kind_fields, &r->kind, err) <
            0 ||
        webhook_review_read_group(request, "resource", "request.resource", resource_fields,
                                  &r->resource, err) < 0 ||
        read_user(request, review, err) < 0 ||
        webhook_review_get(request, "request", "dryRun", KC_JSON_BOOL, &dry_run, err) < 0 ||
        read_object(request, "object", &review->object, err) < 0 ||
        read_object(request, "oldObject", &review->old_object, err) < 0)
        return kc_error_result(err);
    r->dry_run = kc_value_as_bool(dry_run, false);
    r->object = review->object;
    r->old_object = review->old_object;
    r->request = request;
    return 0;
}

/* If apiVersion and kind are both missing the review is taken as v1. */
static int webhook_review_read_version(const kc_value *root, kc__webhook_review *review,
                                       kc_error *err)
{
    kc_str version = kc_value_as_str(kc_value_get(root, "apiVersion")),
           kind = kc_value_as_str(kc_value_get(root, "kind"));
    if (kc_str_is(kind, "AdmissionReview") &&
        (kc_str_is(version, V1) || kc_str_is(version, V1 "beta1"))) {
        review->api_version = version;
        return 0;
    }
    if (webhook_review_is_absent(kc_value_get(root, "apiVersion")) &&
        webhook_review_is_absent(kc_value_get(root, "kind")))
        return 0;
    return kc_error_set(err, KC_BAD_REQUEST,
                        "expected an AdmissionReview of " V1 ", got %.*s of %.*s", KC_ARG(kind),
                        KC_ARG(version));
}

int kc__webhook_review_read(kc_str body, kc__webhook_review *review, kc_error *err)
{
    review->view = kc_view_parse(body, &(kc_json_opts){.max_bytes = KC__WEBHOOK_REVIEW_MAX}, err);
    if (!review->view)
        return kc_error_result(err);
    const kc_value *root = kc_view_root(review->view), *request = NULL;
    if (kc_value_type(root) != KC_JSON_OBJECT)
        return kc_error_set(err, KC_BAD_REQUEST, "an AdmissionReview must be a JSON object");
    review->request.uid = kc_value_as_str(kc_value_get(kc_value_get(root, "request"), "uid"));
    if (webhook_review_read_version(root, review, err) < 0 ||
        webhook_review_get(root, "review", "request", KC_JSON_OBJECT, &request, err) < 0)
        return kc_error_result(err);
    if (!request)
        return kc_error_set(err, KC_BAD_REQUEST, "the AdmissionReview has no request");
    return read_request(request, review, err);
}

void kc__webhook_review_done(kc__webhook_review *review)
{
    kc_object_unref(review->object);
    kc_object_unref(review->old_object);
    kc_view_free(review->view);
    free(review->groups);
    *review = (kc__webhook_review){0};
}

/* ---- encoding ---- */

static void write_denied(kc_buf *out, const kc_error *why)
{
    kc_error denial = *why; /* A shallow copy; nothing of it is freed. */
    if (denial.reason == KC_OK || denial.reason == KC_UNKNOWN) {
        denial.reason = KC_FORBIDDEN;
        denial.code = kc_reason_code(KC_FORBIDDEN);
    }
    kc__status_write(out, &denial, NULL);
}

static void write_patch(kc_buf *out, kc_str patch)
{
    if (kc_str_empty(patch))
        return;
    kc_buf_puts(out, ",\"patch\":\"");
    kc_base64_write(out, patch, KC_BASE64);
    kc_buf_puts(out, "\",\"patchType\":\"JSONPatch\"");
}

static void write_warnings(kc_buf *out, const kc__webhook_response *verdict)
{
    for (size_t i = 0; i < verdict->n_warnings; i++) {
        kc_buf_puts(out, i ? "," : ",\"warnings\":[");
        kc_json_quote(out, kc_cstr(verdict->warnings[i]));
    }
    if (verdict->n_warnings)
        kc_buf_putc(out, ']');
}

void kc__webhook_review_write(kc_buf *out, const kc__webhook_review *review,
                              const kc__webhook_response *verdict)
{
    kc_buf_puts(out, "{\"kind\":\"AdmissionReview\",\"apiVersion\":");
    kc_json_quote(out, kc_str_empty(review->api_version) ? KC_STR(V1) : review->api_version);
    kc_buf_puts(out, ",\"response\":{\"uid\":");
    kc_json_quote(out, review->request.uid);
    if (verdict->denied) {
        kc_buf_puts(out, ",\"allowed\":false,\"status\":");
        write_denied(out, verdict->denied);
    } else {
        kc_buf_puts(out, ",\"allowed\":true,\"status\":{\"metadata\":{},\"code\":200}");
        write_patch(out, verdict->patch);
    }
    write_warnings(out, verdict);
    kc_buf_puts(out, "}}\n");
}
