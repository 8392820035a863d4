/* SPDX-License-Identifier: Apache-2.0 */
/*
 * convert.c: serves ConversionReviews: converts objects of a custom resource from one of its
 * versions to another, all of them or none.
 *
 *     {"request":  {"uid": "1", "desiredAPIVersion": "x.io/v2", "objects": […]}}
 *     {"response": {"uid": "1", "convertedObjects": […], "result": {"status": "Success"}}}
 *
 * The converter's result is checked as the API server will check it, so that an error names the
 * converter's fault: the desired version, and the same kind, name, namespace and uid. An object
 * that already has the desired version is returned unchanged. A body that is no ConversionReview at
 * all is answered with 400.
 */
#include "runtime/webhook/review.h"
#include "runtime/webhook/webhook_handler.h"

typedef struct webhook_convert_conversion {
    const kc__webhook_handler *hook;
    const kc__webhook_converter *with;
    kc_str desired;
    const kc_object *from;
    kc_object *to;
    kc_error err;
} webhook_convert_conversion;

static const kc__webhook_converter *converter_of(const kc__webhook_handler *hook, kc_gvk gvk)
{
    for (const kc__webhook_converter *c = atomic_load(&hook->converters); c; c = c->next)
        if (kc_str_is(gvk.group, c->group) && kc_str_is(gvk.kind, c->kind))
            return c;
    return NULL;
}

static void call_convert(void *user)
{
    webhook_convert_conversion *c = user;
    c->to = c->with->convert(c->from, c->desired, c->with->user, &c->err);
}

/* ---- one object ---- */

static int check_same(webhook_convert_conversion *c, const char *what, kc_str from, kc_str to)
{
    return kc_str_eq(from, to)
               ? 0
               : kc_error_set(&c->err, KC_INTERNAL, "the converter changed %s from %.*s to %.*s",
                              what, KC_ARG(from), KC_ARG(to));
}

static int check_converted(webhook_convert_conversion *c)
{
    if (!kc_str_eq(kc_object_api_version(c->to), c->desired))
        return kc_error_set(&c->err, KC_INTERNAL, "the converter returned %.*s, expected %.*s",
                            KC_ARG(kc_object_api_version(c->to)), KC_ARG(c->desired));
    if (check_same(c, "the kind", kc_object_kind(c->from), kc_object_kind(c->to)) < 0 ||
        check_same(c, "the name", kc_object_name(c->from), kc_object_name(c->to)) < 0 ||
        check_same(c, "the namespace", kc_object_namespace(c->from), kc_object_namespace(c->to)) <
            0)
        return kc_error_result(&c->err);
    return check_same(c, "the uid", kc_object_uid(c->from), kc_object_uid(c->to));
}

static int webhook_convert_convert(webhook_convert_conversion *c, kc__webhook_call *call)
{
    kc_gvk gvk = kc_object_gvk(c->from);
    if (kc_str_eq(kc_object_api_version(c->from), c->desired)) {
        c->to = kc_object_ref(c->from);
        return 0;
    }
    c->with = converter_of(c->hook, gvk);
    if (!c->with)
        return kc_error_set(&c->err, KC_NOT_FOUND, "no converter for %.*s.%.*s", KC_ARG(gvk.kind),
                            KC_ARG(gvk.group));
    if (!kc__webhook_call_guarded(call, call_convert, c, &c->err)) {
        kc_log_error(call->log, "webhook panicked", kc_kv("path", c->hook->path),
                     kc_kv("name", kc_object_name(c->from)), kc_kv("err", &c->err));
        c->to = NULL;
        return kc_error_set(&c->err, KC_INTERNAL, "internal error occurred during conversion");
    }
    if (c->to)
        return check_converted(c);
    return c->err.reason ? kc_error_result(&c->err)
                         : kc_error_set(&c->err, KC_UNKNOWN, "the converter returned no object");
}

static int convert_value(webhook_convert_conversion *c, const kc_value *value,
                         kc__webhook_call *call, kc_buf *out)
{
    kc_scoped(kc_buf) text = {0};
    kc_json_write(&text, value);
    kc_auto(kc_object) *from = kc_object_parse(
        kc_buf_str(&text), &(kc_json_opts){.max_bytes = KC__WEBHOOK_REVIEW_MAX}, &c->err);
    if (!from)
        return -1;
    c->from = from;
    const int failed = webhook_convert_convert(c, call);
    if (!failed)
        kc_buf_append(out, kc_object_json(c->to));
    c->to = kc_object_unref(c->to);
    return failed;
}

/* ---- all objects ---- */

static int convert_all(webhook_convert_conversion *c, const kc_value *objects,
                       kc__webhook_call *call, kc_buf *out)
{
    size_t n = 0;
    if (kc_str_empty(c->desired))
        return kc_error_set(&c->err, KC_BAD_REQUEST, "request.desiredAPIVersion is empty");
    kc_value_each_item (objects, object) {
        if (n++)
            kc_buf_putc(out, ',');
        if (convert_value(c, object, call, out) < 0)
            return kc_error_wrap(&c->err, "object %zu", n - 1);
    }
    return 0;
}

static void write_head(kc_buf *out, const kc_value *root, kc_str uid)
{
    kc_str version = kc_value_as_str(kc_value_get(root, "apiVersion"));
    kc_buf_puts(out, "{\"kind\":\"ConversionReview\",\"apiVersion\":");
    kc_json_quote(out, kc_str_empty(version) ? KC_STR("apiextensions.k8s.io/v1") : version);
    kc_buf_puts(out, ",\"response\":{\"uid\":");
    kc_json_quote(out, uid);
    kc_buf_puts(out, ",\"convertedObjects\":[");
}

static void write_result(kc_buf *out, const kc_error *failure)
{
    kc_buf_puts(out, "],\"result\":{\"metadata\":{},\"status\":");
    if (failure->reason) {
        kc_buf_puts(out, "\"Failure\",\"message\":");
        kc_json_quote(out, kc_cstr(kc_error_text(failure)));
    } else {
        kc_buf_puts(out, "\"Success\"");
    }
    kc_buf_puts(out, "}}}\n");
}

static int webhook_convert_reject(kc__webhook_call *call, const char *why)
{
    kc_log_verbose(call->log, 1, "invalid ConversionReview", kc_kv("reason", why));
    kc_buf_printf(&call->out, "%s\n", why);
    return 400;
}

static void serve_request(const kc__webhook_handler *hook, kc__webhook_call *call,
                          const kc_value *root)
{
    const kc_value *request = kc_value_get(root, "request");
    kc_scoped(kc_buf) objects = {0};
    webhook_convert_conversion c = {
        .hook = hook, .desired = kc_value_as_str(kc_value_get(request, "desiredAPIVersion"))};
    kc_str uid = kc_value_as_str(kc_value_get(request, "uid"));
    if (convert_all(&c, kc_value_get(request, "objects"), call, &objects) < 0) {
        kc_log_error(call->log, "conversion failed", kc_kv("uid", uid), kc_kv("err", &c.err));
        kc_buf_clear(&objects);
    }
    write_head(&call->out, root, uid);
    kc_buf_append(&call->out, kc_buf_str(&objects));
    write_result(&call->out, &c.err);
    kc_error_done(&c.err);
}

int kc__webhook_serve_conversion(const kc__webhook_handler *hook, kc__webhook_call *call)
{
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_view) *view =
        kc_view_parse(call->body, &(kc_json_opts){.max_bytes = KC__WEBHOOK_REVIEW_MAX}, &err);
    if (!view)
        return webhook_convert_reject(call, kc_error_text(&err));
    const kc_value *root = kc_view_root(view);
    if (kc_value_type(kc_value_get(root, "request")) != KC_JSON_OBJECT)
        return webhook_convert_reject(call, "the ConversionReview has no request");
    serve_request(hook, call, root);
    return 200;
}
