/* SPDX-License-Identifier: Apache-2.0 */
/*
 * webhook_review.c: AdmissionReviews read and written.
 *
 * Whoever can reach the port can send one, so a member of the wrong type is refused, not taken for
 * absent: a handler must not see a DELETE as something else because the operation was a number. A
 * member that is null is absent, as for an API server. Unknown members are left alone: newer
 * servers send more.
 *
 * To read one more member, add it to a table below, or use kc_admission's `request`.
 */
#include "runtime/webhook_review.h"

#include "kc/base64.h"
#include "object/status.h"

#define V1 "admission.k8s.io/v1"

/* ---- reading ---- */

typedef struct text_field {
    const char *name;
    size_t at; /* A kc_str, in what is filled. */
} text_field;

static const text_field request_fields[] = {
    {"uid", offsetof(kc_admission, uid)},
    {"operation", offsetof(kc_admission, operation)},
    {"subResource", offsetof(kc_admission, subresource)},
    {"name", offsetof(kc_admission, name)},
    {"namespace", offsetof(kc_admission, ns)},
};
static const text_field kind_fields[] = {
    {"group", offsetof(kc_gvk, group)},
    {"version", offsetof(kc_gvk, version)},
    {"kind", offsetof(kc_gvk, kind)},
};
static const text_field resource_fields[] = {
    {"group", offsetof(kc_gvr, group)},
    {"version", offsetof(kc_gvr, version)},
    {"resource", offsetof(kc_gvr, resource)},
};
static const text_field user_fields[] = {
    {"username", offsetof(kc_admission, username)},
    {"uid", offsetof(kc_admission, user_uid)},
};

static bool is_absent(const kc_value *value)
{
    return kc_type_of(value) == KC_ABSENT || kc_type_of(value) == KC_NULL;
}

static int refuse(kc_error *err, const char *where, const char *name, kc_type wanted)
{
    return kc_error_set(err, KC_BAD_REQUEST, "%s.%s is not a JSON %s", where, name,
                        kc_type_name(wanted));
}

/* The member, if it has this type; NULL if it is absent. */
static int get(const kc_value *of, const char *where, const char *name, kc_type wanted,
               const kc_value **ret, kc_error *err)
{
    const kc_value *value = kc_get(of, name);
    if (!is_absent(value) && kc_type_of(value) != wanted)
        return refuse(err, where, name, wanted);
    *ret = is_absent(value) ? NULL : value;
    return 0;
}

static int read_texts(const kc_value *from, const char *where, const text_field *fields, size_t n,
                      void *to, kc_error *err)
{
    for (size_t i = 0; i < n; i++) {
        const kc_value *value = NULL;
        if (get(from, where, fields[i].name, KC_STRING, &value, err) < 0)
            return -1;
        *(kc_str *)((char *)to + fields[i].at) = kc_as_str(value);
    }
    return 0;
}

static int read_group(const kc_value *request, const char *name, const char *where,
                      const text_field *fields, void *to, kc_error *err)
{
    const kc_value *value = NULL;
    if (get(request, "request", name, KC_OBJECT, &value, err) < 0)
        return -1;
    return read_texts(value, where, fields, 3, to, err);
}

static int read_user(const kc_value *request, kc__review *review, kc_error *err)
{
    const kc_value *user = NULL, *groups = NULL;
    kc_admission *r = &review->request;
    if (get(request, "request", "userInfo", KC_OBJECT, &user, err) < 0 ||
        read_texts(user, "request.userInfo", user_fields, KC_COUNT(user_fields), r, err) < 0 ||
        get(user, "request.userInfo", "groups", KC_ARRAY, &groups, err) < 0)
        return -1;
    r->groups = review->groups = kc_calloc(kc_len(groups) + 1, sizeof(kc_str));
    kc_items (groups, group) {
        if (kc_type_of(group) != KC_STRING)
            return refuse(err, "request.userInfo", "groups[]", KC_STRING);
        review->groups[r->n_groups++] = kc_as_str(group);
    }
    return 0;
}

static int read_object(const kc_value *request, const char *name, kc_object **ret, kc_error *err)
{
    kc_scoped(kc_buf) text = {0};
    const kc_value *value = NULL;
    if (get(request, "request", name, KC_OBJECT, &value, err) < 0)
        return -1;
    if (!value)
        return 0;
    kc_json_write(&text, value);
    *ret = kc_object_parse(kc_buf_str(&text), &(kc_json_opts){.max_bytes = KC__REVIEW_MAX}, err);
    return *ret ? 0 : kc_error_wrap(err, "request.%s", name);
}

static int read_request(const kc_value *request, kc__review *review, kc_error *err)
{
    kc_admission *r = &review->request;
    const kc_value *dry_run = NULL;
    if (read_texts(request, "request", request_fields, KC_COUNT(request_fields), r, err) < 0 ||
        read_group(request, "kind", "request.kind", kind_fields, &r->kind, err) < 0 ||
        read_group(request, "resource", "request.resource", resource_fields, &r->resource, err) <
            0 ||
        read_user(request, review, err) < 0 ||
        get(request, "request", "dryRun", KC_BOOL, &dry_run, err) < 0 ||
        read_object(request, "object", &review->object, err) < 0 ||
        read_object(request, "oldObject", &review->old_object, err) < 0)
        return -1;
    r->dry_run = kc_as_bool(dry_run, false);
    r->object = review->object;
    r->old_object = review->old_object;
    r->request = request;
    return 0;
}

/* Without both it is taken for one of version v1. */
static int read_version(const kc_value *root, kc__review *review, kc_error *err)
{
    kc_str version = kc_as_str(kc_get(root, "apiVersion")), kind = kc_as_str(kc_get(root, "kind"));
    if (kc_str_is(kind, "AdmissionReview") &&
        (kc_str_is(version, V1) || kc_str_is(version, V1 "beta1"))) {
        review->api_version = version;
        return 0;
    }
    if (is_absent(kc_get(root, "apiVersion")) && is_absent(kc_get(root, "kind")))
        return 0;
    return kc_error_set(err, KC_BAD_REQUEST, "want an AdmissionReview of " V1 ", not %.*s of %.*s",
                        KC_ARG(kind), KC_ARG(version));
}

int kc__review_read(kc_str body, kc__review *review, kc_error *err)
{
    review->view = kc_view_parse(body, &(kc_json_opts){.max_bytes = KC__REVIEW_MAX}, err);
    if (!review->view)
        return -1;
    const kc_value *root = kc_view_root(review->view), *request = NULL;
    if (kc_type_of(root) != KC_OBJECT)
        return kc_error_set(err, KC_BAD_REQUEST, "an AdmissionReview is a JSON object");
    review->request.uid = kc_as_str(kc_get(kc_get(root, "request"), "uid"));
    if (read_version(root, review, err) < 0 ||
        get(root, "review", "request", KC_OBJECT, &request, err) < 0)
        return -1;
    if (!request)
        return kc_error_set(err, KC_BAD_REQUEST, "the AdmissionReview has no request");
    return read_request(request, review, err);
}

void kc__review_done(kc__review *review)
{
    kc_object_unref(review->object);
    kc_object_unref(review->old_object);
    kc_view_free(review->view);
    free(review->groups);
    *review = (kc__review){0};
}

/* ---- writing ---- */

static void write_denied(kc_buf *out, const kc_error *why)
{
    kc_error said = *why; /* Nothing of it is freed. */
    if (said.reason == KC_OK || said.reason == KC_UNKNOWN) {
        said.reason = KC_FORBIDDEN;
        said.code = kc_reason_code(KC_FORBIDDEN);
    }
    kc__status_write(out, &said, NULL);
}

static void write_patch(kc_buf *out, kc_str patch)
{
    if (kc_str_empty(patch))
        return;
    kc_buf_puts(out, ",\"patch\":\"");
    kc_base64_write(out, patch, KC_BASE64);
    kc_buf_puts(out, "\",\"patchType\":\"JSONPatch\"");
}

static void write_warnings(kc_buf *out, const kc__verdict *verdict)
{
    for (size_t i = 0; i < verdict->n_warnings; i++) {
        kc_buf_puts(out, i ? "," : ",\"warnings\":[");
        kc_json_quote(out, kc_cstr(verdict->warnings[i]));
    }
    if (verdict->n_warnings)
        kc_buf_putc(out, ']');
}

void kc__review_write(kc_buf *out, const kc__review *review, const kc__verdict *verdict)
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
