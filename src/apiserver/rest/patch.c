/* SPDX-License-Identifier: Apache-2.0 */
/*
 * patch.c: PATCH: JSON patches, merge patches and strategic ones. The patch is read once; it is
 * applied to whatever is stored, again if somebody else was faster, and the result takes the way of
 * an update.
 *
 * To add a kind of patch: a line in the table.
 */
#include "apiserver/kinds/conversion.h"
#include "apiserver/kinds/patch_schema.h"
#include "apiserver/kinds/typed.h"
#include "apiserver/rest/decode.h"
#include "apiserver/rest/go_json.h"
#include "apiserver/rest/scale.h"
#include "apiserver/rest/write.h"
#include "kc/json_patch.h"
#include "kc/merge_patch.h"

/* Applies the body to `edit`. What is odd about the patch itself goes to `complaints`. Errors are
 * KC_BAD_REQUEST for what is no patch, KC_INVALID for one that does not apply to this object. */
typedef int apply_fn(kc__call *call, kc_edit *edit, kc_paths *complaints, kc_error *err);

typedef struct patch_type {
    const char *media_type;
    apply_fn *apply; /* NULL: Kubernetes has it and this server does not. */
} patch_type;

/* ---- the kinds of patches ---- */

/* "json: cannot unmarshal string into Go value of type map[string]interface {}" */
static int wrong_type(const kc_value *value, const char *go_type, kc_error *err)
{
    return kc_error_set(err, KC_BAD_REQUEST,
                        "error decoding patch: json: cannot unmarshal %s into Go value of type %s",
                        kc__go_json_type(value), go_type);
}

static int not_json(kc_str body, const kc_error *why, kc_error *err)
{
    kc_scoped(kc_buf) text = {0};
    if (!kc__go_json_complaint(body, &text))
        kc_buf_puts(&text, kc_error_text(why));
    return kc_error_set(err, KC_BAD_REQUEST, "error decoding patch: %s", kc_buf_cstr(&text));
}

static void add_complaints(kc_paths *to, const char *what, const kc_paths *paths)
{
    for (size_t i = 0; i < paths->n; i++)
        kc_vec_push(to, kc_asprintf("%s \"%s\"", what, paths->items[i]));
}

/* A list of operations, each an object. */
static int check_operations(const kc_value *list, kc_error *err)
{
    if (kc_type_of(list) != KC_ARRAY && kc_type_of(list) != KC_NULL)
        return wrong_type(list, "[]handlers.jsonPatchOp", err);
    kc_items (list, item)
        if (kc_type_of(item) != KC_OBJECT)
            return wrong_type(item, "handlers.jsonPatchOp", err);
    return 0;
}

static apply_fn apply_json_patch, apply_merge_patch, apply_strategic_patch;

static int apply_json_patch(kc__call *call, kc_edit *edit, kc_paths *complaints, kc_error *err)
{
    kc_scoped(kc_error) why = {0};
    kc_scoped(kc_paths) twice = {0}, unknown = {0};
    kc_auto(kc_view) *view =
        kc_view_parse(call->x->request.body, &(kc_json_opts){.duplicates = &twice}, &why);
    if (!view)
        return not_json(call->x->request.body, &why, err);
    if (check_operations(kc_view_root(view), err) < 0)
        return -KC_BAD_REQUEST;
    kc_auto(kc_json_patch) *patch =
        kc_json_patch_of(kc_view_root(view), &(kc_json_patch_opts){.unknown = &unknown}, err);
    if (!patch)
        return kc_failed_with(err, KC_TOO_LARGE) ? kc_error_wrap(err, "Request entity too large")
                                                 : -1;
    add_complaints(complaints, "json patch unknown field", &unknown);
    add_complaints(complaints, "json patch duplicate field", &twice);
    return kc_json_patch_apply(patch, edit, err);
}

/* A patch that is an object itself; NULL on error. */
static kc_view *read_object(kc__call *call, kc_paths *complaints, kc_error *err)
{
    kc_scoped(kc_error) why = {0};
    kc_scoped(kc_paths) twice = {0};
    kc_auto(kc_view) *patch =
        kc_view_parse(call->x->request.body, &(kc_json_opts){.duplicates = &twice}, &why);
    if (!patch) {
        not_json(call->x->request.body, &why, err);
        return NULL;
    }
    kc_type type = kc_type_of(kc_view_root(patch));
    if (type == KC_NULL)
        kc_error_set(err, KC_BAD_REQUEST, "Invalid JSON Patch");
    else if (type != KC_OBJECT)
        wrong_type(kc_view_root(patch), "map[string]interface {}", err);
    if (type != KC_OBJECT)
        return NULL;
    add_complaints(complaints, "duplicate field", &twice);
    return kc_take(patch);
}

static int apply_merge_patch(kc__call *call, kc_edit *edit, kc_paths *complaints, kc_error *err)
{
    kc_auto(kc_view) *patch = read_object(call, complaints, err);
    if (!patch)
        return -KC_BAD_REQUEST;
    kc_merge_patch_apply(edit, kc_view_root(patch));
    return 0;
}

static int apply_strategic_patch(kc__call *call, kc_edit *edit, kc_paths *complaints, kc_error *err)
{
    kc_scoped(kc_error) why = {0};
    kc_auto(kc_view) *patch = read_object(call, complaints, err);
    kc_patch_schema schema = kc__patch_schema_of(call->spoken->type);
    if (!patch)
        return -KC_BAD_REQUEST;
    if (kc_strategic_patch_apply(edit, kc_view_root(patch), &schema, &why) == 0)
        return 0;
    /* Kubernetes knows some of its own errors again, and takes the rest for the server's fault. */
    bool own = why.reason != KC_BAD_REQUEST ||
               kc_str_starts(kc_cstr(kc_error_text(&why)), KC_STR("invalid patch format of"));
    return own ? kc_error_move(err, &why)
               : kc_error_set(err, KC_UNKNOWN, "%s", kc_error_text(&why));
}

static const patch_type types[] = {
    {"application/json-patch+json", apply_json_patch},
    {"application/merge-patch+json", apply_merge_patch},
    {"application/strategic-merge-patch+json", apply_strategic_patch},
    {"application/apply-patch+yaml", NULL},
};

/* ---- reading the request ---- */

/* To the letter, as Kubernetes compares it; parameters do not count. */
static const patch_type *type_of(kc__call *call)
{
    kc_str header = kc__headers_get(&call->x->request.headers, KC_STR("Content-Type"));
    kc_str name = kc_str_trim(kc_str_cut(&header, ';'));
    for (size_t i = 0; i < KC_COUNT(types); i++)
        if (kc_str_is(name, types[i].media_type))
            return &types[i];
    return NULL;
}

static kc__verdict decode(kc__call *call)
{
    const patch_type *type = type_of(call);
    if (!type && !call->resource->custom)
        return kc__fail_generic(call, KC_UNSUPPORTED_MEDIA_TYPE);
    if (!type || (call->resource->custom && type->apply == apply_strategic_patch))
        return kc__fail(call, KC_UNSUPPORTED_MEDIA_TYPE,
                        "the body of the request was in an unknown format - accepted media types "
                        "include: application/json-patch+json, application/merge-patch+json, "
                        "application/apply-patch+yaml");
    if (!type->apply)
        return kc__fail(call, KC_UNSUPPORTED_MEDIA_TYPE,
                        "the body of the request was in an unknown format - accepted media types "
                        "include: application/json-patch+json, application/merge-patch+json, "
                        "application/strategic-merge-patch+json");
    call->patch = type;
    return kc__options_read_write(&call->query, "PatchOptions", &call->options, &call->error) < 0
               ? KC__FAIL
               : KC__NEXT;
}

/* ---- the patched object ---- */

/* A patch that cannot be applied to this object is a well-formed request that makes no sense. */
static kc__verdict refuse(kc__call *call, kc_error *err)
{
    if (err->reason == KC_INVALID) {
        call->bare_details = true;
        return kc__fail(call, KC_INVALID,
                        "the server rejected our request due to an error in our request");
    }
    kc_error_move(&call->error, err);
    return KC__FAIL;
}

/* The object that came of the patch is none of this kind. */
static kc__verdict bad_result(kc__call *call, const kc_object *patched, const char *why)
{
    kc_scoped(kc_field_errors) errors = {0};
    kc_scoped(kc_buf) quoted = {0};
    kc_json_quote(&quoted, kc_object_json(patched));
    kc_field_errors_add(&errors, KC_FIELD_INVALID, "patch", kc_buf_str(&quoted), "%s", why);
    kc_field_errors_to_error(&errors, (kc_str){0}, (kc_str){0}, (kc_str){0}, &call->error);
    return KC__FAIL;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static kc__verdict complain(kc__call *call, const kc_object *patched, kc_paths *complaints)
{
    const patch_type *type = call->patch;
    size_t before = complaints->n;
    if (call->options.validation == KC__VALIDATE_IGNORE)
        return KC__NEXT;
    if (!call->spoken->custom)
        kc__typed_complaints(call->spoken->type, kc_object_json(patched), complaints);
    /* Kubernetes goes from a map to the object here, not from text, and sorts what it finds. */
    if (type->apply == apply_strategic_patch && complaints->n > before)
        qsort(complaints->items + before, complaints->n - before, sizeof(*complaints->items),
              by_text);
    if (complaints->n && call->options.validation == KC__VALIDATE_STRICT)
        return bad_result(call, patched, kc__complaints_join(complaints, call->arena));
    for (size_t i = 0; i < complaints->n; i++)
        kc__warn(call, kc_cstr(complaints->items[i]));
    return KC__NEXT;
}

static kc_object *typed_of(kc__call *call, kc_object *patched, kc_paths *complaints, kc_error *err)
{
    kc_auto(kc_object) *named = kc_object_ref(patched);
    if (call->spoken->custom)
        return kc__decode_custom(call, &named, complaints, err) < 0 ? NULL : kc_take(named);
    if (kc__decode_kind(call, &named, err) < 0)
        return NULL;
    return kc__typed_decode(call->spoken->type, named, NULL, err);
}

/* Of the right kind, and typed: call->given. */
static kc__verdict take_result(kc__call *call, kc_object *patched, kc_paths *complaints)
{
    kc_scoped(kc_error) err = {0};
    kc_object *typed = typed_of(call, patched, complaints, &err);
    if (!typed)
        return bad_result(call, patched, kc_error_text(&err));
    kc_object_unref(call->given);
    call->given = typed;
    kc__verdict verdict = complain(call, patched, complaints);
    return verdict == KC__NEXT ? kc__fill_in(call, &call->given) : verdict;
}

static kc__verdict apply(kc__call *call)
{
    const patch_type *type = call->patch;
    kc_scoped(kc_error) err = {0};
    kc_scoped(kc_paths) complaints = {0};
    kc_auto(kc_object) *shown = kc__is_scale(call)
                                    ? kc__scale_of_current(call, false, &err)
                                    : kc__from_stored(call->resource, call->current, &err);
    if (!shown)
        return refuse(call, &err);
    kc_auto(kc_edit) *edit = kc_edit_of(shown);
    if (type->apply(call, edit, &complaints, &err) < 0)
        return refuse(call, &err);
    kc_auto(kc_object) *patched = kc_edit_freeze(edit, &err);
    if (!patched)
        return refuse(call, &err);
    return take_result(call, patched, &complaints);
}

static kc__verdict propose(kc__call *call)
{
    if (!kc__load_current(call) && call->error.reason)
        return KC__FAIL;
    if (!call->current)
        return kc__fail_not_found(call, call->info.name);
    kc__verdict verdict = apply(call);
    if (verdict == KC__NEXT)
        verdict = kc__check_identity(call);
    if (verdict != KC__NEXT)
        return verdict;
    kc_object_unref(call->proposed);
    call->proposed = kc_object_ref(call->given);
    return KC__NEXT;
}

static kc__verdict prepare(kc__call *call)
{
    kc__verdict verdict = kc__prepare_update(call);
    /* The version stood in the patched object anyway: only a changed one is the client's. */
    call->conditional = false;
    return verdict;
}

static kc__verdict answer(kc__call *call)
{
    if (kc__is_scale(call))
        return kc__scale_answer(call);
    return kc__answer_object(call, 200, call->current);
}

const kc__verb kc__verb_patch = {
    .name = "patch",
    .bit = KC__PATCH,
    .mutates = true,
    .decode = decode,
    .propose = propose,
    .prepare = prepare,
    .answer = answer,
};
