/* SPDX-License-Identifier: Apache-2.0 */
/*
 * custom_ops.c: the operations of custom resources (kinds/resource_ops.h), on top of
 * custom_object.h.
 *
 * Drafts stay in the version of the request until they are stored, and stay bytes: decoding sets
 * the defaults of an object, so most writes have nothing left to edit.
 */
#include "apiserver/crd/custom_ops.h"
#include "apiserver/crd/crd_resource_internal.h"

#include "apiserver/crd/crd_conversion.h"
#include "apiserver/crd/custom_object.h"
#include "kc/metadata_validation.h"

/* ---- decode ---- */

/* Unknown version: report every field as unknown. */
static void report_all_unknown(const kc_object *object, kc_paths *unknown)
{
    kc_auto(kc_view) *view = kc_view_of(object);
    kc_value_each_member (kc_view_root(view), name, value)
        if (value && !kc_str_is(name, "kind") && !kc_str_is(name, "apiVersion") &&
            !kc_str_is(name, "metadata"))
            kc_vec_push(unknown, kc_str_dup(name));
}

static char *unknown_field_error(const char *path)
{
    kc_buf text = {0};
    kc_buf_puts(&text, "unknown field \"");
    kc_buf_puts(&text, path);
    kc_buf_putc(&text, '"');
    return kc_buf_take(&text);
}

/* Replaces *object with the decoded one and reports unknown fields. An object of another version is
 * decoded by the schema of that version, as in Kubernetes, and refused afterwards: the strict
 * decoding errors come first. */
static int decode_version(const kc__resource *r, kc_object **object,
                          const kc__resource_decode_source *source, kc_paths *strict_errors,
                          kc_error *err)
{
    kc_auto(kc_view) *view = NULL;
    kc_scoped(kc_paths) unknown = {0};
    const kc__custom *custom = kc__crd_version(r->custom->crd, kc_object_api_version(*object));
    const bool right = kc__custom_check_kind(r->custom, *object, err) == 0;
    if (!right && (!kc_object_kind(*object).n || !kc_object_api_version(*object).n))
        return kc_error_result(err);
    if (!custom)
        report_all_unknown(*object, &unknown);
    kc_auto(kc_object) *decoded =
        custom ? kc__custom_decode(custom, *object, source->applied,
                                   strict_errors ? &unknown : NULL, &view, right ? err : NULL)
               : kc_object_ref(*object);
    if (!decoded)
        return kc_error_result(err);
    for (size_t i = 0; strict_errors && i < unknown.n; i++)
        kc_vec_push(strict_errors, unknown_field_error(unknown.items[i]));
    kc_object_unref(*object);
    *object = kc_take(decoded);
    if (source->ret_view)
        *source->ret_view = kc_take(view);
    return right ? 0 : kc_error_result(err);
}

/* The JSON reader drops duplicate fields without reporting them, so the body is read again if it is
 * longer than the resulting object. */
static void report_duplicate_fields(const kc_object *input,
                                    const kc__resource_decode_source *source,
                                    kc_paths *strict_errors)
{
    kc_scoped(kc_paths) found = {0};
    const kc_paths *duplicate = source->duplicate;
    if (source->is_json) {
        if (source->text.n != kc_object_json(input).n)
            kc_view_free(kc_view_parse(source->text, &(kc_json_opts){.duplicates = &found}, NULL));
        duplicate = &found;
    }
    for (size_t i = 0; duplicate && i < duplicate->n; i++)
        kc_vec_push(strict_errors, kc_asprintf("duplicate field \"%s\"", duplicate->items[i]));
}

static int decode_custom(const kc__resource *r, kc_object **object,
                         const kc__resource_decode_source *source, kc_paths *strict_errors,
                         kc_error *err)
{
    if (strict_errors && source->report_strict_errors)
        report_duplicate_fields(*object, source, strict_errors);
    return decode_version(r, object, source, strict_errors, err);
}

/* ---- the draft ---- */

/* Decoding has set the defaults. */
static int default_custom(const kc__resource *r, kc__draft *draft, kc_error *err)
{
    (void)r, (void)draft, (void)err;
    return 0;
}

static kc_object *check_custom_type(const kc__resource *r, const kc_object *object, kc_error *err)
{
    return kc__custom_default(r->custom, object, err);
}

static int set_prepared(kc__draft *draft, kc_object *prepared)
{
    if (!prepared)
        return -1;
    kc__draft_give(draft, prepared);
    return 0;
}

/* A new object has no status if that is a subresource. */
static int prepare_new_custom(const kc__resource *r, kc__draft *draft, kc_error *err)
{
    const kc_object *object = kc__draft_freeze(draft, r, err);
    if (!object)
        return kc_error_result(err);
    if (!r->custom->status || !kc_value_get(kc__draft_value(draft), "status"))
        return 0;
    return set_prepared(draft, kc__custom_prepare(r->custom, object, err));
}

static int prepare_changed_custom(const kc__resource *r, kc__draft *draft, const kc_object *old,
                                  const char *part, kc_error *err)
{
    const kc_object *object = kc__draft_freeze(draft, r, err);
    if (!object)
        return kc_error_result(err);
    return set_prepared(draft, kc__custom_prepare_update(r->custom, object, old, part, err));
}

static bool grows_custom_generation(const kc__resource *r, const kc_object *object,
                                    const kc_object *old, const char *part)
{
    (void)r;
    return (!part || strcmp(part, "status") != 0) && kc__custom_differs(object, old);
}

/* ---- validation ---- */

/* Cost of CEL rules on an event loop: less than a millisecond. */
enum { COST_ON_LOOP = 5000 };

/* Custom objects have rules of their own for every write; the rules of all kinds are added for
 * updates. */
static void validate_custom(const kc__resource *r, const kc__resource_change *change,
                            kc_field_errors *errors)
{
    kc_metadata_rules common = {.name = KC_NAME_PATH_SEGMENT, .namespaced = r->namespaced};
    const kc_value *metadata = kc_value_get(change->object, "metadata");
    if (change->old) {
        kc_validate_metadata(errors, metadata, &common);
        kc_validate_metadata_update(errors, metadata, kc_value_get(change->old, "metadata"),
                                    &common);
    }
    kc__custom_rules rules = {.old = change->old,
                              .subresource = change->part,
                              .warnings = change->warnings,
                              .stop_at = change->ret_unfinished ? COST_ON_LOOP : 0};
    bool finished = kc__custom_validate(r->custom, change->object, &rules, errors);
    if (!finished && change->ret_unfinished)
        *change->ret_unfinished = true;
}

static void warn_custom(const kc__resource *r, const kc__resource_change *change,
                        kc_paths *warnings)
{
    (void)r;
    kc__custom_warnings(change->object, change->old, warnings);
}

/* ---- storage ---- */

static kc_object *custom_to_stored(const kc__resource *r, const kc_object *object, kc_error *err)
{
    return kc__custom_to_storage(r->custom, object, err);
}

static kc_object *custom_from_stored(const kc__resource *r, const kc_object *stored, kc_error *err)
{
    return kc__custom_read(r->custom, stored, err);
}

/* ---- field ownership ---- */

static const kc__resource_topology *custom_topology(const kc__resource *resource,
                                                    kc__resource_topology_cache *cache)
{
    (void)cache;
    return kc__crd_topology(resource->custom);
}

static bool custom_topology_is_slow(const kc__resource *resource)
{
    return kc__crd_topology_is_slow(resource->custom->crd);
}

/* Kubernetes compares converted objects as they are: fields that the other version does not have
 * are not pruned, and are an error. */
static kc_object *custom_to_version(const kc__resource *resource, const kc_object *object,
                                    kc_str api_version, kc__resource_topology_cache *cache,
                                    const kc__resource_topology **ret_topology, kc_error *err)
{
    const kc__custom *version = kc__crd_version(resource->custom->crd, api_version);
    (void)cache, (void)err;
    if (!version)
        return NULL;
    *ret_topology = kc__crd_topology(version);
    return kc_object_with_api_version(object, api_version);
}

static bool custom_replicas_path(const kc__resource *resource, kc_str api_version, kc_str *ret_path)
{
    const kc__custom *version = kc__crd_version(resource->custom->crd, api_version);
    if (!version)
        return false;
    *ret_path = version->scale ? kc_cstr(version->scale->spec_replicas_text) : (kc_str){0};
    return true;
}

/* ---- the CRD ---- */

/* A CRD that is being deleted serves its objects without the verb `create`. */
static bool is_custom_terminating(const kc__resource *r)
{
    return !(r->verbs & KC__VERB_CREATE);
}

static struct kc__resource_create_gate *custom_create_gate(const kc__resource *r)
{
    return kc__crd_gate(r->custom->crd);
}

static bool custom_serves_alike(const kc__resource *a, const kc__resource *b)
{
    return kc__crd_serves_alike(a->custom->crd, b->custom->crd);
}

/* ---- scale ---- */

static int custom_read_scale(const kc__resource *resource, const kc_value *object, bool required,
                             kc_buf *text, kc__scale_values *ret, kc_error *err)
{
    (void)text; /* The selector is a string of the object. */
    return kc__custom_scale_read(resource->custom, object, required, ret, err);
}

static int custom_write_scale(const kc__resource *resource, kc_edit *edit, int64_t replicas,
                              kc_error *err)
{
    return kc__custom_scale_write(resource->custom, edit, replicas, err);
}

/* ---- errors ---- */

static void custom_set_verb_error(const kc__resource *resource, const char *verb, kc_error *err)
{
    kc_error_set(err, KC_METHOD_NOT_ALLOWED, "%s is not supported on resources of kind \"%s.%s\"",
                 verb, resource->plural, resource->group);
    kc_error_about(err, kc_cstr(resource->group), kc_cstr(resource->plural), (kc_str){0});
}

static void custom_set_field_error(kc_str field, kc_error *err)
{
    kc_error_set(err, KC_BAD_REQUEST, "field label not supported: %.*s", KC_ARG(field));
}

const kc__resource_ops kc__custom_resource_ops = {
    .edits_served_form = true,
    .decode_checks_kind = true,
    .ignores_empty_owners = true,
    .unknown_patch_error = "the body of the request was in an unknown format - accepted media "
                           "types include: application/json-patch+json, "
                           "application/merge-patch+json, application/apply-patch+yaml",
    .body_scheme = "k8s.io/client-go/scale/util.go:146",
    .body_scheme_is_closed = true,
    .decode = decode_custom,
    .default_ = default_custom,
    .prepare_create = prepare_new_custom,
    .prepare_update = prepare_changed_custom,
    .check_type = check_custom_type,
    .grows_generation = grows_custom_generation,
    .validate = validate_custom,
    .warn = warn_custom,
    .to_stored = custom_to_stored,
    .from_stored = custom_from_stored,
    .transforms_on_read = true,
    .find_merged_metadata = kc__custom_find_merged_metadata,
    .with_merged_metadata = kc__custom_with_merged_metadata,
    .coerce_metadata = kc__custom_coerce_metadata,
    .topology = custom_topology,
    .topology_is_slow = custom_topology_is_slow,
    .to_version = custom_to_version,
    .replicas_path = custom_replicas_path,
    .is_converted_remotely = kc__crd_is_converted_remotely,
    .pin_converted = kc__crd_pin_converted,
    .convert_remotely = kc__crd_convert_remotely,
    .is_converting = kc__crd_is_converting,
    .is_terminating = is_custom_terminating,
    .create_gate = custom_create_gate,
    .serves_alike = custom_serves_alike,
    .read_scale = custom_read_scale,
    .write_scale = custom_write_scale,
    .scale_decode_error =
        "no kind is registered for the type v1.Scale in scheme "
        "\"k8s.io/apiextensions-apiserver/pkg/apiserver/customresource_handler.go:730\"",
    .unknown_path_is_plain_text = true,
    .unknown_subresource_names_object = true,
    .ignores_path_suffix = true,
    .set_verb_error = custom_set_verb_error,
    .list_items_have_kind = true,
    .list_has_empty_continue = true,
    .set_field_error = custom_set_field_error,
    .verb_order = {1, 2, 3, 4, 5, 0, 6, 7},
    .discovery_names_group = true,
};
