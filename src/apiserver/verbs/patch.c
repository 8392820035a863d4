/* SPDX-License-Identifier: Apache-2.0 */
/*
 * patch.c: PATCH: JSON patches, merge patches, strategic merge patches and server-side apply. The
 * patch is applied to the stored object, again after each conflict. The result is an update: it is
 * decoded like a request body and becomes the draft. An apply creates an object that does not exist
 * (request/own_apply.c).
 *
 * metadata.managedFields is often as long as the rest of an object, and hardly any patch is about
 * it. So the tree that a patch edits has it only if the patch can read or change it; otherwise its
 * text goes from the stored object to the patched one.
 *
 * To add a patch type: a function that applies the body to a target, and its row in the table.
 */
#include "apiserver/call/go_json.h"
#include "apiserver/kinds/patch_schema.h"
#include "apiserver/kinds/resource_ops.h"
#include "apiserver/request/decode.h"
#include "apiserver/request/own.h"
#include "apiserver/request/scale.h"
#include "apiserver/request/write.h"
#include "apiserver/verbs/patch_errors.h"
#include "kc/json_patch.h"
#include "kc/merge_patch.h"
#include "object/fields/fields_managed.h"
#include "object/gofmt/go_quote.h"

/* The object that a patch is applied to. */
typedef struct patch_target {
    const kc_object *object;
    kc_edit *edit;   /* Its tree; NULL until the patch is known to be well-formed. */
    bool has_owners; /* The tree has metadata.managedFields. */
} patch_target;

/* Applies the body to the tree of the target, which it opens (open_target). Strict decoding errors
 * of the patch itself go to `strict_errors`. Errors are KC_BAD_REQUEST for a malformed patch,
 * KC_INVALID for one that does not apply to this object. */
typedef int apply_fn(kc__rest_call *call, patch_target *target, kc_paths *strict_errors,
                     kc_error *err);

typedef struct patch_type {
    const char *media_type;
    apply_fn *apply;          /* NULL: the body is the configuration of a server-side apply. */
    kc__rest_patch_kind kind; /* A strategic one needs a kind that supports it. */
} patch_type;

static bool is_strategic(const patch_type *type)
{
    return type->apply && type->kind == KC__REST_STRATEGIC_PATCH;
}

/* ---- the target ---- */

static kc_edit *open_target(patch_target *target, bool with_owners)
{
    kc_auto(kc_view) *view =
        with_owners ? kc_view_of(target->object) : kc__fields_view_of(target->object);
    target->has_owners = with_owners;
    target->edit = kc_edit_of_value(kc_view_root(view));
    return target->edit;
}

/* The patched object; NULL on error. */
static kc_object *close_target(const patch_target *target, kc_error *err)
{
    const kc_str owners =
        target->has_owners ? (kc_str){0} : kc_object_managed_fields_json(target->object);
    kc_auto(kc_object) *patched = kc_edit_freeze(target->edit, err);
    return patched && owners.n ? kc_object_with_managed_fields(patched, owners) : kc_take(patched);
}

/* ---- patch types ---- */

/* "json: cannot unmarshal string into Go value of type map[string]interface {}" */
static int report_json_type(const kc_value *value, const char *go_type, kc_error *err)
{
    return kc_error_set(err, KC_BAD_REQUEST,
                        "error decoding patch: json: cannot unmarshal %s into Go value of type %s",
                        kc__rest_go_json_type(value), go_type);
}

static int report_no_json(kc_str body, const kc_error *why, kc_error *err)
{
    kc_scoped(kc_buf) text = {0};
    if (!kc__rest_go_json_error(body, &text))
        kc_buf_puts(&text, kc_error_text(why));
    return kc_error_set(err, KC_BAD_REQUEST, "error decoding patch: %s", kc_buf_cstr(&text));
}

static void add_strict_errors(kc_paths *to, const char *what, const kc_paths *paths)
{
    for (size_t i = 0; i < paths->n; i++)
        kc_vec_push(to, kc_asprintf("%s \"%s\"", what, paths->items[i]));
}

/* Checks that the patch is a list of operations, each an object. */
static int check_operations(const kc_value *list, kc_error *err)
{
    if (kc_value_type(list) != KC_JSON_ARRAY && kc_value_type(list) != KC_JSON_NULL)
        return report_json_type(list, "[]handlers.jsonPatchOp", err);
    kc_value_each_item (list, item)
        if (kc_value_type(item) != KC_JSON_OBJECT)
            return report_json_type(item, "handlers.jsonPatchOp", err);
    return 0;
}

/* The maximum size of the object while it is patched. An object that is already larger may stay
 * so. */
static size_t max_patched_bytes(const kc__rest_call *call)
{
    const size_t most = call->api->max_patched_bytes, was = kc_object_json(call->current).n;
    return was > most ? was + KC__REST_OVERSIZE_GROWTH : most;
}

static int check_patched_size(kc__rest_call *call, const kc_object *patched, kc_error *err)
{
    const size_t most = max_patched_bytes(call), n = kc_object_json(patched).n;
    if (n <= most)
        return 0;
    return kc_error_set(err, KC_TOO_LARGE,
                        "Request entity too large: the patched object has %zu bytes, limit is %zu",
                        n, most);
}

static apply_fn apply_json_patch, apply_merge_patch, apply_strategic_patch;

/* Whether a path leads to managedFields, into them, or to something that contains them. */
static bool leads_to_owners(kc_str path)
{
    return !path.n || kc_str_is(path, "/metadata") ||
           kc_str_starts(path, KC_STR("/metadata/managedFields"));
}

static bool operations_concern_owners(const kc_value *list)
{
    kc_value_each_item (list, item) {
        const kc_value *from = kc_value_get(item, "from");
        if (leads_to_owners(kc_value_as_str(kc_value_get(item, "path"))) ||
            (from && leads_to_owners(kc_value_as_str(from))))
            return true;
    }
    return false;
}

static int apply_json_patch(kc__rest_call *call, patch_target *target, kc_paths *strict_errors,
                            kc_error *err)
{
    kc_scoped(kc_error) why = {0};
    kc_scoped(kc_paths) twice = {0}, unknown = {0};
    kc_auto(kc_view) *view =
        kc_view_parse(call->x->request.body, &(kc_json_opts){.duplicates = &twice}, &why);
    if (!view)
        return report_no_json(call->x->request.body, &why, err);
    if (check_operations(kc_view_root(view), err) < 0)
        return kc_error_result(err);
    kc_auto(kc_json_patch) *patch = kc_json_patch_of(
        kc_view_root(view),
        &(kc_json_patch_opts){.unknown = &unknown, .max_result_bytes = max_patched_bytes(call)},
        err);
    if (!patch)
        return kc_error_has_reason(err, KC_TOO_LARGE)
                   ? kc_error_wrap(err, "Request entity too large")
                   : kc_error_result(err);
    add_strict_errors(strict_errors, "json patch unknown field", &unknown);
    add_strict_errors(strict_errors, "json patch duplicate field", &twice);
    return kc_json_patch_apply(
        patch, open_target(target, operations_concern_owners(kc_view_root(view))), err);
}

/* Reads a patch that is an object; NULL on error. */
static kc_view *read_patch_object(kc__rest_call *call, kc_paths *strict_errors, kc_error *err)
{
    kc_scoped(kc_error) why = {0};
    kc_scoped(kc_paths) twice = {0};
    kc_auto(kc_view) *patch =
        kc_view_parse(call->x->request.body, &(kc_json_opts){.duplicates = &twice}, &why);
    if (!patch) {
        report_no_json(call->x->request.body, &why, err);
        return NULL;
    }
    kc_json_type type = kc_value_type(kc_view_root(patch));
    if (type == KC_JSON_NULL)
        kc_error_set(err, KC_BAD_REQUEST, "Invalid JSON Patch");
    else if (type != KC_JSON_OBJECT)
        report_json_type(kc_view_root(patch), "map[string]interface {}", err);
    if (type != KC_JSON_OBJECT)
        return NULL;
    add_strict_errors(strict_errors, "duplicate field", &twice);
    return kc_take(patch);
}

static bool has_directive(const kc_value *object)
{
    kc_value_each_member (object, name, value)
        if (value && kc_str_starts(name, KC_STR("$")))
            return true;
    return false;
}

/* Metadata that are no object replace all metadata; a directive ($patch, $retainKeys) may. */
static bool object_concerns_owners(const kc_value *patch, bool strategic)
{
    const kc_value *metadata = kc_value_get(patch, "metadata");
    if (strategic && (has_directive(patch) || has_directive(metadata)))
        return true;
    return metadata &&
           (kc_value_type(metadata) != KC_JSON_OBJECT || kc_value_get(metadata, "managedFields"));
}

static int apply_merge_patch(kc__rest_call *call, patch_target *target, kc_paths *strict_errors,
                             kc_error *err)
{
    kc_auto(kc_view) *patch = read_patch_object(call, strict_errors, err);
    if (!patch)
        return kc_error_result(err);
    const kc_value *root = kc_view_root(patch);
    kc_merge_patch_apply(open_target(target, object_concerns_owners(root, false)), root);
    return 0;
}

static int apply_strategic_patch(kc__rest_call *call, patch_target *target, kc_paths *strict_errors,
                                 kc_error *err)
{
    kc_scoped(kc_error) why = {0};
    kc_auto(kc_view) *patch = read_patch_object(call, strict_errors, err);
    kc_patch_schema schema = kc__strategy_patch_schema_of(call->request_resource->type);
    if (!patch)
        return kc_error_result(err);
    const kc_value *root = kc_view_root(patch);
    kc_edit *edit = open_target(target, object_concerns_owners(root, true));
    if (kc_strategic_patch_apply(edit, root, &schema, &why) == 0)
        return 0;
    /* Kubernetes returns some of its own errors unchanged, and the others as internal errors. */
    bool own = why.reason != KC_BAD_REQUEST ||
               kc_str_starts(kc_cstr(kc_error_text(&why)), KC_STR("invalid patch format of"));
    return own ? kc_error_move(err, &why)
               : kc_error_set(err, KC_UNKNOWN, "%s", kc_error_text(&why));
}

static const patch_type types[] = {
    {"application/json-patch+json", apply_json_patch, KC__REST_JSON_PATCH},
    {"application/merge-patch+json", apply_merge_patch, KC__REST_MERGE_PATCH},
    {"application/strategic-merge-patch+json", apply_strategic_patch, KC__REST_STRATEGIC_PATCH},
    {"application/apply-patch+yaml", .apply = NULL},
};

/* ---- reading the request ---- */

/* Compared exactly, as Kubernetes does: in lower case, without a space before the semicolon;
 * parameters are ignored. */
static const patch_type *type_of(kc__rest_call *call)
{
    kc_str header = kc__http_headers_get(&call->x->request.headers, KC_STR("Content-Type"));
    kc_str name = kc_str_cut(&header, ';');
    for (size_t i = 0; i < KC_COUNT(types); i++)
        if (kc_str_is(name, types[i].media_type))
            return &types[i];
    return NULL;
}

/* Kubernetes' router accepts a type with spaces around it, which the handler then refuses. */
static bool has_known_type(kc__rest_call *call)
{
    kc_str header = kc__http_headers_get(&call->x->request.headers, KC_STR("Content-Type"));
    kc_str name = kc_str_trim(kc_str_cut(&header, ';'));
    for (size_t i = 0; i < KC_COUNT(types); i++)
        if (kc_str_is(name, types[i].media_type))
            return true;
    return false;
}

static kc__rest_verdict refuse_type(kc__rest_call *call)
{
    static const char known[] =
        "the body of the request was in an unknown format - accepted media types include: "
        "application/json-patch+json, application/merge-patch+json, "
        "application/strategic-merge-patch+json, application/apply-patch+yaml";
    const char *error = call->resource->ops->unknown_patch_error;
    if (!error && has_known_type(call))
        error = known;
    return error ? kc__rest_fail(call, KC_UNSUPPORTED_MEDIA_TYPE, "%s", error)
                 : kc__rest_fail_generic(call, KC_UNSUPPORTED_MEDIA_TYPE);
}

static kc__rest_verdict decode_patch(kc__rest_call *call)
{
    const patch_type *type = type_of(call);
    if (!type || (is_strategic(type) && !call->resource->ops->has_strategic_patch))
        return refuse_type(call);
    call->patch = type;
    return kc__rest_options_read_patch(&call->query, !type->apply, &call->options, &call->error) < 0
               ? KC__REST_FAIL
               : KC__REST_NEXT;
}

/* ---- the patched object ---- */

/* A patch that does not apply to this object is well-formed but unprocessable. */
static kc__rest_verdict refuse_patch(kc__rest_call *call, kc_error *err)
{
    if (err->reason == KC_INVALID) {
        call->bare_details = true;
        return kc__rest_fail(call, KC_INVALID,
                             "the server rejected our request due to an error in our request");
    }
    kc_error_move(&call->error, err);
    return KC__REST_FAIL;
}

/* The patched object is not a valid object of this kind. */
static kc__rest_verdict refuse_result(kc__rest_call *call, const kc_object *patched,
                                      const char *why)
{
    const patch_type *type = call->patch;
    const kc__rest_patch_result result = {.patched = patched,
                                          .patch = call->x->request.body,
                                          .kind = type->kind,
                                          .is_map = call->request_resource->ops->edits_served_form};
    kc_scoped(kc_field_errors) errors = {0};
    kc_scoped(kc_buf) text = {0}, quoted = {0};
    kc__rest_patch_result_text(&text, &result);
    kc__go_quote(&quoted, kc_buf_str(&text));
    kc_field_errors_add(&errors, KC_FIELD_INVALID, "patch", kc_buf_str(&quoted), "%s",
                        kc__rest_patch_result_error(call->arena, &result, why));
    kc_field_errors_to_error(&errors, (kc_str){0}, (kc_str){0}, (kc_str){0}, &call->error);
    return KC__REST_FAIL;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Turns strict decoding errors into warnings, or under strict validation into an error. Those from
 * index `first` on are about the patched object. */
static kc__rest_verdict handle_strict_errors(kc__rest_call *call, const kc_object *patched,
                                             kc_paths *strict_errors, size_t first)
{
    const patch_type *type = call->patch;
    if (call->options.validation == KC__REST_VALIDATE_IGNORE)
        return KC__REST_NEXT;
    /* Kubernetes decodes the result of a strategic patch from a map, and sorts the errors. */
    if (is_strategic(type) && strict_errors->n > first)
        qsort(strict_errors->items + first, strict_errors->n - first, sizeof(*strict_errors->items),
              by_text);
    if (strict_errors->n && call->options.validation == KC__REST_VALIDATE_STRICT)
        return refuse_result(call, patched,
                             kc__rest_join_strict_errors(strict_errors, call->arena));
    for (size_t i = 0; i < strict_errors->n; i++)
        kc__rest_warn(call, kc_cstr(strict_errors->items[i]));
    return KC__REST_NEXT;
}

/* Decodes the patched object into call->body. */
static kc__rest_verdict take_result(kc__rest_call *call, kc_object *patched,
                                    kc_paths *strict_errors)
{
    kc_scoped(kc_error) err = {0};
    const size_t first = strict_errors->n;
    kc_auto(kc_object) *typed = kc_object_ref(patched);
    const kc__resource_decode_source source = {.text = kc_object_json(patched),
                                               .patched = true,
                                               .report_strict_errors = call->options.validation !=
                                                                       KC__REST_VALIDATE_IGNORE};
    call->resets_owners = kc__rest_resets_owners(call, patched);
    if (kc__rest_decode_object(call, &typed, &source, strict_errors, &err) < 0)
        return refuse_result(call, patched, kc_error_text(&err));
    kc_object_unref(call->body);
    call->body = kc_take(typed);
    return handle_strict_errors(call, patched, strict_errors, first);
}

/* Applies the body to an object, which becomes call->body. */
static kc__rest_verdict patch_object(kc__rest_call *call, patch_target *target)
{
    const patch_type *type = call->patch;
    kc_scoped(kc_error) err = {0};
    kc_scoped(kc_paths) strict_errors = {0};
    if (type->apply(call, target, &strict_errors, &err) < 0)
        return refuse_patch(call, &err);
    kc_auto(kc_object) *patched = close_target(target, &err);
    if (!patched || check_patched_size(call, patched, &err) < 0)
        return refuse_patch(call, &err);
    return take_result(call, patched, &strict_errors);
}

/* Stands for the replicas of a custom object that has none while its Scale is patched, as in
 * Kubernetes. */
#define NO_REPLICAS INT32_MIN

/* The Scale that a patch is applied to; NULL on error. */
static kc_object *scale_to_patch(kc__rest_call *call, kc_error *err)
{
    kc_auto(kc_object) *scale = kc__rest_scale_of_current(call, false, err);
    if (!scale || !call->resource->ops->edits_served_form)
        return kc_take(scale);
    kc_auto(kc_edit) *edit = kc_edit_of(scale);
    kc_node *spec = kc_node_ensure_object(edit, kc_edit_root(edit), KC_STR("spec"));
    if (kc_node_get(spec, KC_STR("replicas")))
        return kc_take(scale);
    kc_node_set(edit, spec, KC_STR("replicas"), kc_node_i64(edit, NO_REPLICAS));
    return kc_edit_freeze(edit, err);
}

/* A patch of the Scale of a custom object without replicas must set them. */
static kc__rest_verdict check_patched_replicas(kc__rest_call *call)
{
    const kc__resource *r = call->resource;
    kc_auto(kc_view) *view = kc_view_of(call->body);
    const kc_value *replicas = kc_value_nested(kc_view_root(view), "spec.replicas");
    kc_str path = {0};
    if (!r->ops->edits_served_form || kc_value_as_i64_or(replicas, 0) != NO_REPLICAS)
        return KC__REST_NEXT;
    r->ops->replicas_path(r, kc__resource_api_version(r, call->arena), &path);
    return kc__rest_fail(call, KC_BAD_REQUEST, "the spec replicas field \"%.*s\" cannot be empty",
                         KC_ARG(path));
}

static kc__rest_verdict apply_patch(kc__rest_call *call)
{
    kc_scoped(kc_error) err = {0};
    const kc__resource *r = call->resource;
    const bool is_scale = kc__rest_is_scale(call);
    kc_auto(kc_object) *shown =
        is_scale ? scale_to_patch(call, &err) : r->ops->from_stored(r, call->current, &err);
    if (!shown)
        return refuse_patch(call, &err);
    patch_target target = {.object = shown};
    kc__rest_verdict verdict = patch_object(call, &target);
    kc_edit_free(target.edit);
    return verdict == KC__REST_NEXT && is_scale ? check_patched_replicas(call) : verdict;
}

static kc__rest_verdict propose_patch(kc__rest_call *call)
{
    kc__rest_verdict verdict = kc__rest_await_current(call);
    if (verdict != KC__REST_NEXT)
        return verdict;
    if (!kc__rest_load_current(call) && call->error.reason)
        return KC__REST_FAIL;
    const bool applies = !((const patch_type *)call->patch)->apply;
    if (!call->current && (!applies || call->subresource))
        return kc__rest_fail_not_found(call, call->info.name);
    verdict = applies ? kc__rest_own_apply(call) : apply_patch(call);
    if (verdict == KC__REST_NEXT)
        verdict = kc__rest_check_identity(call);
    if (verdict != KC__REST_NEXT)
        return verdict;
    kc__draft_set(&call->draft, call->body);
    return KC__REST_NEXT;
}

static kc__rest_verdict prepare_patch(kc__rest_call *call)
{
    if (!call->current) {
        call->status = 201;
        return kc__rest_prepare_create(call);
    }
    call->status = 200;
    kc__rest_verdict verdict = kc__rest_prepare_update(call);
    /* The patched object has the stored resourceVersion; a patch that changed it failed above. */
    call->conditional = false;
    return verdict;
}

static kc__rest_verdict answer_patch(kc__rest_call *call)
{
    if (kc__rest_is_scale(call))
        return kc__rest_scale_respond(call);
    return kc__rest_respond_object(call, call->status, call->current);
}

const kc__rest_verb kc__rest_verb_patch = {
    .name = "patch",
    .bit = KC__VERB_PATCH,
    .mutates = true,
    .decode = decode_patch,
    .propose = propose_patch,
    .prepare = prepare_patch,
    .respond = answer_patch,
};
