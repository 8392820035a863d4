/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conversion_review.c: writes the request to a conversion webhook, and reads the response around
 * the converted objects.
 *
 * v1 requires kind, apiVersion and uid in the response; v1beta1 ignores them, as it always did.
 */
#include "apiserver/conversion/conversion_review.h"

#include "apiserver/webhook/webhook_error.h"
#include "apiserver/webhook/webhook_response.h"

/* ---- the request ---- */

/* Appends an object without its resourceVersion: Kubernetes converts objects as they are in etcd,
 * where the version is not part of the object. The text is canonical, so the member has no spaces
 * in it. */
static void append_unversioned(kc_buf *out, const kc_object *object)
{
    static const kc_str name = KC_STR_INIT("\"resourceVersion\":\"");
    const kc_str json = kc_object_json(object), version = kc_object_resource_version(object);
    const size_t value = version.n ? (size_t)(version.p - json.p) : 0;
    if (value < name.n || !kc_str_eq(kc_str_sub(json, value - name.n, value), name)) {
        kc_buf_append(out, json);
        return;
    }
    size_t start = value - name.n, end = value + version.n + 1;
    if (json.p[start - 1] == ',')
        start--;
    else
        end += json.p[end] == ',';
    kc_buf_append(out, kc_str_sub(json, 0, start));
    kc_buf_append(out, kc_str_sub(json, end, json.n));
}

void kc__conversion_review_write(kc_buf *out, const kc__conversion_review *review)
{
    kc_buf_printf(out,
                  "{\"kind\":\"ConversionReview\",\"apiVersion\":\"" KC__CONVERSION_GROUP
                  "%s\",\"request\":{\"uid\":\"%.*s\",\"desiredAPIVersion\":\"%s\",\"objects\":[",
                  review->version, KC_ARG(review->uid), review->desired);
    for (size_t i = 0; i < review->n; i++) {
        if (i)
            kc_buf_putc(out, ',');
        append_unversioned(out, review->objects[i]);
    }
    kc_buf_puts(out, "]},\"response\":{\"uid\":\"\",\"convertedObjects\":null,\"result\":"
                     "{\"metadata\":{}}}}\n");
}

/* ---- types of the response ---- */

static const kc__hook_member of_review[] = {
    {"response", KC_JSON_OBJECT, "v1.ConversionResponse"},
    {"kind", KC_JSON_STRING, "string"},
    {"apiVersion", KC_JSON_STRING, "string"},
};
static const kc__hook_member of_response[] = {
    {"uid", KC_JSON_STRING, "types.UID"},
    {"convertedObjects", KC_JSON_ARRAY, "[]runtime.RawExtension"},
    {"result", KC_JSON_OBJECT, "v1.Status"},
};
static const kc__hook_member of_result[] = {
    {"status", KC_JSON_STRING, "string"},
    {"message", KC_JSON_STRING, "string"},
};

static int check_response_types(const kc_value *root, kc_error *err)
{
    const kc_value *response = kc_value_get(root, "response");
    if (kc__hook_check_members(root, "ConversionReview", of_review, KC_COUNT(of_review), err) < 0 ||
        kc__hook_check_members(response, "ConversionResponse.response", of_response,
                               KC_COUNT(of_response), err) < 0)
        return kc_error_result(err);
    return kc__hook_check_members(kc_value_get(response, "result"), "Status.response.result",
                                  of_result, KC_COUNT(of_result), err);
}

/* Absent members are those of the expected review. */
static int check_response_kind(const kc_value *root, const char *version, kc_error *err)
{
    const kc_str api_version = kc_value_as_str(kc_value_get(root, "apiVersion"));
    const kc_str kind = kc_value_as_str(kc_value_get(root, "kind"));
    const bool beta = !strcmp(version, "v1beta1");
    const char *wanted = beta ? KC__CONVERSION_GROUP "v1beta1" : KC__CONVERSION_GROUP "v1";
    const char *other = beta ? KC__CONVERSION_GROUP "v1" : KC__CONVERSION_GROUP "v1beta1";
    const bool review = kc_str_empty(kind) || kc_str_is(kind, "ConversionReview");
    if (review && (kc_str_empty(api_version) || kc_str_is(api_version, wanted)))
        return 0;
    if (review && kc_str_is(api_version, other))
        return kc_error_set(
            err, KC_UNKNOWN,
            "converting (%s.ConversionReview) to (%s.ConversionReview): unknown conversion",
            beta ? "v1" : "v1beta1", version);
    return kc_error_set(err, KC_UNKNOWN,
                        "no kind \"%.*s\" is registered for version \"%.*s\" in scheme "
                        "\"k8s.io/apiserver/pkg/util/webhook/client.go:71\"",
                        KC_ARG(kc_str_empty(kind) ? KC_STR("ConversionReview") : kind),
                        KC_ARG(kc_str_empty(api_version) ? kc_cstr(wanted) : api_version));
}

/* ---- contents of the response ---- */

static int check_result(const kc_value *response, kc_error *err)
{
    const kc_value *result = kc_value_get(response, "result");
    const kc_str status = kc_value_as_str(kc_value_get(result, "status"));
    const kc_str message = kc_value_as_str(kc_value_get(result, "message"));
    if (kc_str_is(status, "Success"))
        return 0;
    if (message.n)
        return kc_error_set(err, KC_UNKNOWN, "%.*s", KC_ARG(message));
    return kc_error_set(err, KC_UNKNOWN, "response.result.status was '%.*s', not 'Success'",
                        KC_ARG(status));
}

static int check_response(const kc_value *root, const kc__conversion_review *review, kc_error *err)
{
    const kc_value *response = kc_value_get(root, "response");
    const bool strict = !strcmp(review->version, "v1");
    if (strict &&
        kc__hook_check_named(root, KC__CONVERSION_GROUP "v1, Kind=ConversionReview", err) < 0)
        return kc_error_result(err);
    if (kc_value_type(response) != KC_JSON_OBJECT)
        return kc_error_set(err, KC_UNKNOWN, "no response provided");
    if (strict && kc__hook_check_uid(response, review->uid, err) < 0)
        return kc_error_result(err);
    return check_result(response, err);
}

/* ---- the whole response ---- */

int kc__conversion_wrap_error(const kc_object *original, kc_error *err)
{
    kc_scoped(kc_buf) kind = {0};
    kc__conversion_write_kind(&kind, original);
    return kc_error_wrap(err, "conversion webhook for %s failed", kc_buf_cstr(&kind));
}

void kc__conversion_write_kind(kc_buf *out, const kc_object *object)
{
    kc_buf_append(out, kc_object_api_version(object));
    kc_buf_puts(out, ", Kind=");
    kc_buf_append(out, kc_object_kind(object));
}

static int report_count(const kc__conversion_review *review, size_t n, kc_error *err)
{
    kc_scoped(kc_buf) kind = {0};
    kc__conversion_write_kind(&kind, review->objects[0]);
    return kc_error_set(err, KC_UNKNOWN,
                        "conversion webhook for %s returned %zu objects, expected %zu",
                        kc_buf_cstr(&kind), n, review->n);
}

static kc__conversion_failure read_conversion_response(kc_str body,
                                                       const kc__conversion_review *review,
                                                       kc_view **ret_view,
                                                       const kc_value **ret_objects, kc_error *err)
{
    kc_scoped(kc_error) why = {0};
    kc_auto(kc_view) *view = kc_view_parse(body, &(kc_json_opts){.max_bytes = SIZE_MAX}, &why);
    const kc_value *root = view ? kc_view_root(view) : NULL;
    if (kc_value_type(root) != KC_JSON_OBJECT) {
        kc__hook_report_no_object(body, root, &why, err);
        return KC__CONVERSION_FAILURE_CALL;
    }
    if (check_response_types(root, err) < 0 || check_response_kind(root, review->version, err) < 0)
        return KC__CONVERSION_FAILURE_CALL;
    if (check_response(root, review, err) < 0)
        return KC__CONVERSION_FAILURE_MALFORMED;
    const kc_value *objects = kc_value_get(kc_value_get(root, "response"), "convertedObjects");
    if (kc_value_len(objects) != review->n) {
        report_count(review, kc_value_len(objects), err);
        return KC__CONVERSION_FAILURE_PARTIAL;
    }
    *ret_objects = objects;
    *ret_view = kc_take(view);
    return KC__CONVERSION_FAILURE_NONE;
}

kc__conversion_failure kc__conversion_review_read(kc_str body, const kc__conversion_review *review,
                                                  kc_view **ret_view, const kc_value **ret_objects,
                                                  kc_error *err)
{
    const kc__conversion_failure failure =
        read_conversion_response(body, review, ret_view, ret_objects, err);
    if (failure) { /* Whatever is wrong, the client has not caused it. */
        err->reason = KC_UNKNOWN;
        err->code = kc_reason_code(KC_UNKNOWN);
    }
    return failure;
}
