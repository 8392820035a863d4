/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as the body of a request to each type of webhook. An admission request always gets a
 * review with its uid; an allowed patch applies to the object and gives the object that the webhook
 * returned. A conversion returns all objects or none.
 */
#include "fuzzing.h"

#include "kc/base64.h"
#include "kc/diff.h"
#include "kc/json_patch.h"
#include "runtime/webhook/review.h"
#include "runtime/webhook/webhook_handler.h"

static const kc_kind robot = {
    .group = "robot.io", .version = "v1", .kind = "Robot", .plural = "robots"};

/* ---- hooks ---- */

static int admit(const kc_admission_request *request, kc_admission_response *ret, void *user,
                 kc_error *err)
{
    static const char *const warnings[] = {"one", "two", NULL};
    (void)user;
    if (request->n_groups)
        ret->warnings = warnings;
    return request->dry_run ? kc_error_set(err, KC_UNKNOWN, "%.*s", KC_ARG(request->username)) : 0;
}

/* Changes something of every kind: adds, removes, replaces. */
static int set_defaults(kc_edit *edit, const kc_admission_request *request, void *user,
                        kc_error *err)
{
    kc_object **ret = user;
    kc_node *root = kc_edit_root(edit);
    kc_node *spec = kc_node_ensure_object(edit, root, KC_STR("spec"));
    kc_node_remove(root, KC_STR("status"));
    kc_node_set(edit, spec, KC_STR("name"), kc_node_str(edit, request->name));
    kc_node_set(edit, root, KC_STR("a/b~c"), kc_node_clone(edit, spec));
    *ret = kc_edit_freeze(edit, err);
    return *ret ? 0 : -1;
}

static int validate(const kc_admission_request *request, kc_warnings *warnings, void *user,
                    kc_error *err)
{
    (void)user;
    kc_warnings_add(warnings, "%.*s", KC_ARG(request->ns));
    return kc_str_empty(request->name) ? kc_error_set(err, KC_INVALID, "it has no name") : 0;
}

static kc_object *convert(const kc_object *object, kc_str desired, void *user, kc_error *err)
{
    (void)user;
    if (kc_object_generation(object) == 13)
        return kc_error_set(err, KC_UNKNOWN, "thirteen"), NULL;
    return kc_object_with_api_version(object, desired);
}

/* ---- responses ---- */

static kc_view *answer_of(const kc__webhook_handler *hook, kc_str body, int *ret_status)
{
    kc__webhook_call call = {.content_type = KC_STR("application/json"), .body = body};
    *ret_status = hook->serve(hook, &call);
    kc_view *view = *ret_status == 200
                        ? kc_view_parse(kc_buf_str(&call.out),
                                        &(kc_json_opts){.max_bytes = (size_t)1 << 30}, NULL)
                        : NULL;
    assert(view || *ret_status != 200);
    kc_buf_done(&call.out);
    return view;
}

static const kc_value *response_of(const kc_view *view)
{
    const kc_value *response = kc_value_get(kc_view_root(view), "response");
    assert(kc_value_type(kc_value_get(response, "uid")) == KC_JSON_STRING);
    return response;
}

static void check_patch(const kc_value *response, kc_str body, const kc_object *made)
{
    kc_scoped(kc_buf) text = {0};
    kc_scoped(kc__webhook_review) review = {0};
    const kc_value *patch = kc_value_get(response, "patch");
    if (!patch)
        return;
    assert(kc_base64_read(&text, kc_value_as_str(patch), KC_BASE64));
    assert(kc__webhook_review_read(body, &review, NULL) == 0);
    kc_auto(kc_json_patch) *read = kc_json_patch_parse(
        kc_buf_str(&text), &(kc_json_patch_opts){.max_operations = SIZE_MAX}, NULL);
    kc_auto(kc_edit) *edit = kc_edit_of(review.request.object);
    assert(read && kc_json_patch_apply(read, edit, NULL) == 0);
    kc_auto(kc_object) *patched = kc_edit_freeze(edit, NULL);
    assert(patched && kc_object_equal(patched, made, NULL));
}

static void ask_admission(const kc__webhook_handler *hook, kc_str body, kc_object **made)
{
    int status = 0;
    kc_auto(kc_view) *view = answer_of(hook, body, &status);
    assert(status == 200);
    const kc_value *response = response_of(view);
    assert(kc_value_type(kc_value_get(response, "allowed")) == KC_JSON_BOOL);
    if (!kc_value_as_bool(kc_value_get(response, "allowed"), true))
        assert(kc_value_as_i64_or(kc_value_get(kc_value_get(response, "status"), "code"), 0) >=
               400);
    check_patch(response, body, *made);
    *made = kc_object_unref(*made);
}

static void ask_conversion(const kc__webhook_handler *hook, kc_str body)
{
    int status = 0;
    kc_auto(kc_view) *view = answer_of(hook, body, &status);
    assert(status == 200 || status == 400);
    if (status == 400)
        return;
    kc_auto(kc_view) *asked =
        kc_view_parse(body, &(kc_json_opts){.max_bytes = KC__WEBHOOK_REVIEW_MAX}, NULL);
    const kc_value *response = response_of(view);
    const size_t n = kc_value_len(kc_value_get(response, "convertedObjects"));
    const kc_value *objects = kc_value_get(kc_value_get(kc_view_root(asked), "request"), "objects");
    kc_str result = kc_value_as_str(kc_value_get(kc_value_get(response, "result"), "status"));
    if (kc_str_is(result, "Success"))
        assert(n == (kc_value_type(objects) == KC_JSON_ARRAY ? kc_value_len(objects) : 0));
    else
        assert(n == 0 && kc_str_is(result, "Failure"));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    kc_object *made = NULL;
    kc_str body = kc_str_of((const char *)data, size);
    kc__webhook_converter converter = {
        .group = (char *)"robot.io", .kind = (char *)"Robot", .convert = convert};
    const kc__webhook_handler admission = {
        .path = (char *)"/a", .serve = kc__webhook_serve_admission, .admit = admit};
    const kc__webhook_handler defaults = {.path = (char *)"/d",
                                          .serve = kc__webhook_serve_admission,
                                          .set_defaults = set_defaults,
                                          .kind = &robot,
                                          .user = &made};
    const kc__webhook_handler validation = {.path = (char *)"/v",
                                            .serve = kc__webhook_serve_admission,
                                            .validate = validate,
                                            .kind = &robot};
    const kc__webhook_handler conversion = {
        .path = (char *)"/c", .serve = kc__webhook_serve_conversion, .converters = &converter};
    ask_admission(&admission, body, &made);
    ask_admission(&defaults, body, &made);
    ask_admission(&validation, body, &made);
    ask_conversion(&conversion, body);
    return 0;
}
