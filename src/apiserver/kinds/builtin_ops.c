/* SPDX-License-Identifier: Apache-2.0 */
/*
 * builtin_ops.c: the operations of built-in resources (resource_ops.h). Types come from the
 * published API definitions (typed.h), the special handling of a kind from its strategy
 * (strategy.h), other versions from conversion.h.
 *
 * Drafts have the stored form from defaulting on: defaulting converts the few versions with a form
 * of their own, and all later code handles only one form.
 */
#include "apiserver/codec/typed.h"
#include "apiserver/kinds/builtin_validate.h"
#include "apiserver/kinds/conversion.h"
#include "apiserver/kinds/registry.h"
#include "apiserver/kinds/resource_ops.h"
#include "apiserver/kinds/scale_values.h"
#include "apiserver/kinds/strategy.h"
#include "apiserver/kinds/topology.h"
#include "kc/diff.h"
#include "kc/selector.h"
#include "object/fields/fields_managed.h"
#include "object/model/value_members.h"

/* ---- decode ---- */

/* An error about a body of the wrong type names the kind; an error about a patch result does
 * not. */
static int report_wrong_type(const kc__resource *r, const kc__resource_decode_source *source,
                             kc_error *why, kc_error *err)
{
    if (source->patched)
        return kc_error_move(err, why);
    return kc_error_set(err, why->reason, "%s in version \"%s\" cannot be handled as a %s: %s",
                        r->kind, r->version, r->kind, kc_error_text(why));
}

/* Whether the body may contain a duplicate field. Only if the object is as long as its text,
 * parsing cannot have dropped anything. */
static bool may_have_duplicates(const kc__resource_decode_source *source, const kc_object *input)
{
    return (source->duplicate && source->duplicate->n) ||
           (source->text.p && kc_str_trim(source->text).n != kc_object_json(input).n);
}

/* Reports strict decoding errors of the text that the client sent. */
static void report_text_errors(const kc__resource *r, const kc__resource_decode_source *source,
                               const kc_object *input, kc_paths *strict_errors)
{
    const kc_str text = source->text.p ? source->text : kc_object_json(input);
    for (size_t i = 0; source->duplicate && i < source->duplicate->n; i++)
        kc_vec_push(strict_errors,
                    kc_asprintf("duplicate field \"%s\"", source->duplicate->items[i]));
    kc__typed_strict_errors(r->type, text, strict_errors);
}

static int decode_builtin(const kc__resource *r, kc_object **object,
                          const kc__resource_decode_source *source, kc_paths *strict_errors,
                          kc_error *err)
{
    kc_scoped(kc_error) why = {0};
    kc_scoped(kc_paths) unknown = {0};
    const bool report_strict_errors = strict_errors && source->report_strict_errors;
    kc_object *typed =
        kc__typed_decode_body(r->type, *object, report_strict_errors ? &unknown : NULL, &why);
    if (!typed)
        return report_wrong_type(r, source, &why, err);
    if (report_strict_errors && (unknown.n || may_have_duplicates(source, *object)))
        report_text_errors(r, source, *object, strict_errors);
    kc_object_unref(*object);
    *object = typed;
    return 0;
}

/* ---- the draft ---- */

/* A draft whose create is retried with a new generated name already has the stored form. */
static bool has_stored_form(const kc__resource *r, const kc__draft *draft)
{
    return draft->object && kc__convert_type_of(r, draft->object) != r->type;
}

static int convert_to_stored(const kc__resource *r, kc__draft *draft, kc_error *err)
{
    const kc_object *object = kc__draft_freeze(draft, r, err);
    kc_object *stored = object ? kc__builtin_to_stored(r, object, err) : NULL;
    if (!stored)
        return kc_error_result(err);
    kc__draft_give(draft, stored);
    return 0;
}

static int default_builtin(const kc__resource *r, kc__draft *draft, kc_error *err)
{
    const bool converts = kc__convert_is_needed(r);
    if (converts && has_stored_form(r, draft))
        return 0;
    if (r->strategy->defaults) {
        kc_edit *edit = kc__draft_edit(draft);
        kc__defaults_apply(r->strategy->defaults, edit, kc_edit_root(edit));
    }
    return converts ? convert_to_stored(r, draft, err) : 0;
}

static bool has_status(const kc__resource *r)
{
    return kc__resource_find_subresource(r, KC_STR("status")) != NULL;
}

static int prepare_new_builtin(const kc__resource *r, kc__draft *draft, kc_error *err)
{
    (void)err;
    const kc__strategy *strategy = r->strategy;
    /* Status is what controllers observe: a client cannot set it on create. */
    const bool clears_status = has_status(r) && !strategy->keeps_status;
    if (!clears_status && !strategy->prepare)
        return 0;
    kc_edit *edit = kc__draft_edit(draft);
    if (clears_status)
        kc_node_remove(kc_edit_root(edit), KC_STR("status"));
    if (strategy->prepare)
        strategy->prepare(edit);
    return 0;
}

static void take_member(kc_edit *edit, const kc_value *old, const char *name)
{
    const kc_value *value = kc_value_get(old, name);
    if (value)
        kc_node_set(edit, kc_edit_root(edit), kc_cstr(name), kc_node_from_value(edit, value));
    else
        kc_node_remove(kc_edit_root(edit), kc_cstr(name));
}

/* Takes everything but metadata and the named member from the old object. */
static void take_all_but_member(kc_edit *edit, const kc_value *old, const char *name)
{
    kc_node *kept = kc_node_clone(edit, kc_node_get(kc_edit_root(edit), kc_cstr(name)));
    kc_node *metadata = kc_node_clone(edit, kc_node_get(kc_edit_root(edit), KC_STR("metadata")));
    kc_edit_set_root(edit, kc_node_from_value(edit, old));
    kc_node_set(edit, kc_edit_root(edit), KC_STR("metadata"), metadata);
    if (kept)
        kc_node_set(edit, kc_edit_root(edit), kc_cstr(name), kept);
    else
        kc_node_remove(kc_edit_root(edit), kc_cstr(name));
}

static bool writes_status_part(const kc__strategy *strategy, const char *part)
{
    return part && (!strcmp(part, "status") ||
                    (strategy->status_part && !strcmp(part, strategy->status_part)));
}

static int prepare_changed_builtin(const kc__resource *r, kc__draft *draft,
                                   const kc_object *current, const char *part, kc_error *err)
{
    (void)err;
    const kc__strategy *strategy = r->strategy;
    if (!has_status(r) && !strategy->prepare_update)
        return 0;
    kc_edit *edit = kc__draft_edit(draft);
    /* Without the owners: the draft has those of this write. */
    kc_auto(kc_view) *view = kc__fields_view_of(current);
    const kc_value *old = kc_view_root(view);
    if (writes_status_part(strategy, part))
        take_all_but_member(edit, old, "status");
    else if (has_status(r) && !strategy->writes_status)
        take_member(edit, old, "status");
    if (strategy->prepare_update)
        strategy->prepare_update(edit, old, part);
    return 0;
}

static kc_object *check_builtin_type(const kc__resource *r, const kc_object *object, kc_error *err)
{
    return kc__typed_decode(kc__convert_type_of(r, object), object, NULL, err);
}

/* ---- the generation ---- */

static bool counts_for_generation(kc_str member)
{
    return !kc_str_is(member, "metadata") && !kc_str_is(member, "status");
}

static bool spec_differs(const kc_object *a, const kc_object *b)
{
    bool differs = false;
    kc_auto(kc_view) *one = kc__fields_view_of(a), *two = kc__fields_view_of(b);
    const kc_value *x = kc_view_root(one), *y = kc_view_root(two);
    kc_scoped(kc__value_members) in_x = {.object = x}, in_y = {.object = y};
    kc_value_each_member (x, name, value)
        differs = differs || (counts_for_generation(name) &&
                              !kc_value_equal(value, kc__value_members_find(&in_y, name), NULL));
    kc_value_each_member (y, name, value)
        differs = differs ||
                  (counts_for_generation(name) && value && !kc__value_members_find(&in_x, name));
    return differs;
}

static bool grows_builtin_generation(const kc__resource *r, const kc_object *object,
                                     const kc_object *old, const char *part)
{
    const kc__strategy *strategy = r->strategy;
    if (strategy->stays_first)
        return false;
    if (spec_differs(object, old) ||
        (strategy->labelled &&
         !kc_str_eq(kc_object_labels_json(object), kc_object_labels_json(old))))
        return true;
    return strategy->annotated && (!part || strcmp(part, "status") != 0) &&
           !kc_str_eq(kc_object_annotations_json(object), kc_object_annotations_json(old));
}

/* ---- scale ---- */

/* The selector of a ReplicationController is a map of labels. */
static void write_label_selector(kc_buf *out, const kc_value *labels)
{
    kc_value_each_member (labels, name, value)
        kc_buf_printf(out, "%s%.*s=%.*s", out->n ? "," : "", KC_ARG(name),
                      KC_ARG(kc_value_as_str(value)));
}

static int write_scale_selector(kc_buf *out, const kc__resource *resource, const kc_value *selector,
                                kc_error *err)
{
    if (!strcmp(resource->kind, "ReplicationController")) {
        write_label_selector(out, selector);
        return 0;
    }
    kc_auto(kc_selector) *read = kc_selector_of(selector, err);
    if (!read)
        return kc_error_result(err);
    kc_selector_write(out, read);
    return 0;
}

static int builtin_read_scale(const kc__resource *resource, const kc_value *object, bool required,
                              kc_buf *text, kc__scale_values *ret, kc_error *err)
{
    (void)required; /* Defaulting sets the replicas of every object. */
    const kc_value *spec = kc_value_get(object, "spec");
    if (write_scale_selector(text, resource, kc_value_get(spec, "selector"), err) < 0)
        return kc_error_result(err);
    ret->wanted = kc_value_as_i64_or(kc_value_get(spec, "replicas"), 0);
    ret->there = kc_value_as_i64_or(kc_value_get(kc_value_get(object, "status"), "replicas"), 0);
    ret->selector = kc_buf_str(text);
    return 0;
}

static int builtin_write_scale(const kc__resource *resource, kc_edit *edit, int64_t replicas,
                               kc_error *err)
{
    (void)resource;
    (void)err;
    kc_node *spec = kc_node_ensure_object(edit, kc_edit_root(edit), KC_STR("spec"));
    kc_node_set(edit, spec, KC_STR("replicas"), kc_node_i64(edit, replicas));
    return 0;
}

/* ---- field ownership ---- */

static const kc__resource_topology *builtin_topology(const kc__resource *resource,
                                                     kc__resource_topology_cache *cache)
{
    return kc__resource_topology_cache_get(cache, resource->type);
}

static kc_object *builtin_to_version(const kc__resource *resource, const kc_object *object,
                                     kc_str api_version, kc__resource_topology_cache *cache,
                                     const kc__resource_topology **ret_topology, kc_error *err)
{
    const kc__type_message *type = NULL;
    kc_object *converted = kc__builtin_to_version(resource, object, api_version, &type, err);
    if (converted)
        *ret_topology = kc__resource_topology_cache_get(cache, type);
    return converted;
}

/* Kubernetes also knows the versions that the group had before. */
static bool builtin_replicas_path(const kc__resource *resource, kc_str api_version,
                                  kc_str *ret_path)
{
    static const char *const versions[] = {"v1", "v1beta1", "v1beta2", NULL};
    kc_str group = kc_str_find(api_version, '/') < 0 ? (kc_str){0} : kc_str_cut(&api_version, '/');
    if (!kc_str_is(group, resource->group) || !kc_str_is_any(api_version, versions))
        return false;
    *ret_path = KC_STR(".spec.replicas");
    return true;
}

/* ---- errors ---- */

static void builtin_set_field_error(kc_str field, kc_error *err)
{
    kc_error_set(err, KC_BAD_REQUEST,
                 "\"%.*s\" is not a known field selector: only \"metadata.name\", "
                 "\"metadata.namespace\"",
                 KC_ARG(field));
}

const kc__resource_ops kc__builtin_resource_ops = {
    .stores_empty_as_null = true,
    .has_strategic_patch = true,
    .body_scheme = "pkg/api/legacyscheme/scheme.go:30",
    .decode = decode_builtin,
    .default_ = default_builtin,
    .prepare_create = prepare_new_builtin,
    .prepare_update = prepare_changed_builtin,
    .check_type = check_builtin_type,
    .grows_generation = grows_builtin_generation,
    .validate = kc__builtin_validate,
    .warn = kc__builtin_warn,
    .to_stored = kc__builtin_to_stored,
    .from_stored = kc__builtin_from_stored,
    .topology = builtin_topology,
    .to_version = builtin_to_version,
    .replicas_path = builtin_replicas_path,
    .read_scale = builtin_read_scale,
    .write_scale = builtin_write_scale,
    .validates_scale = true,
    .set_field_error = builtin_set_field_error,
    .verb_order = {0, 1, 2, 3, 4, 5, 6, 7},
};
