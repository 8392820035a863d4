/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attributes.c: what webhooks and policies see of a request.
 *
 * Mutating admission sees a new object as the client sent it: uid and generated name are set later,
 * in `prepared`. Validating admission sees it as it will be stored.
 */
#include "apiserver/admission/chain/attributes.h"

#include "apiserver/call/metadata.h"
#include "apiserver/kinds/conversion.h"
#include "apiserver/kinds/remote_conversion.h"
#include "apiserver/kinds/resource_ops.h"
#include "apiserver/kinds/scale_values.h"

/* ---- options ---- */

static void append_options_text(kc_buf *out, const char *name, kc_str text)
{
    if (kc_str_empty(text))
        return;
    kc_buf_printf(out, ",\"%s\":", name);
    kc_json_quote(out, text);
}

static void write_delete_options(kc_buf *out, const kc__rest_options *o)
{
    static const char *const propagations[] = {[KC__REST_PROPAGATE_BACKGROUND] = "Background",
                                               [KC__REST_PROPAGATE_FOREGROUND] = "Foreground",
                                               [KC__REST_PROPAGATE_ORPHAN] = "Orphan"};
    if (o->has_grace)
        kc_buf_printf(out, ",\"gracePeriodSeconds\":%lld", (long long)o->grace_seconds);
    if (o->uid.p || o->precondition_version.p) {
        kc_scoped(kc_buf) inner = {0};
        append_options_text(&inner, "uid", o->uid);
        append_options_text(&inner, "resourceVersion", o->precondition_version);
        kc_buf_puts(out, ",\"preconditions\":{");
        kc_buf_append(out, kc_str_sub(kc_buf_str(&inner), 1, inner.n));
        kc_buf_putc(out, '}');
    }
    if (o->orphan_dependents != KC__REST_UNSET)
        kc_buf_printf(out, ",\"orphanDependents\":%s",
                      o->orphan_dependents == KC__REST_YES ? "true" : "false");
    append_options_text(out, "propagationPolicy", kc_cstr(propagations[o->propagation]));
}

/* The options of the operation, in their kind (CreateOptions, …). */
static kc_str options_of(kc__rest_call *call, const char *operation)
{
    const kc__rest_options *o = &call->options;
    const bool deletes = !strcmp(operation, "DELETE"), creates = !strcmp(operation, "CREATE");
    kc_scoped(kc_buf) out = {0};
    kc_buf_printf(&out, "{\"kind\":\"%sOptions\",\"apiVersion\":\"meta.k8s.io/v1\"",
                  deletes   ? "Delete"
                  : creates ? "Create"
                            : "Update");
    if (deletes)
        write_delete_options(&out, o);
    if (o->dry_run)
        kc_buf_puts(&out, ",\"dryRun\":[\"All\"]");
    if (!deletes) {
        kc_str validation = {0};
        kc__query_get(&call->query, KC_STR("fieldValidation"), &validation);
        append_options_text(&out, "fieldManager", o->field_manager);
        append_options_text(&out, "fieldValidation", validation);
    }
    kc_buf_putc(&out, '}');
    return kc_arena_str(call->arena, kc_buf_str(&out));
}

/* ---- attributes ---- */

static const char *operation_of(const kc__rest_call *call)
{
    if (call->verb->bit & (KC__VERB_DELETE | KC__VERB_DELETE_COLLECTION))
        return "DELETE";
    return call->verb->bit == KC__VERB_CREATE || !call->current ? "CREATE" : "UPDATE";
}

static bool is_stored_alike(const kc__resource *a, const kc__resource *b)
{
    return a != b && a->storage && b->storage && !strcmp(a->storage, b->storage);
}

/* Finds the other versions of the resource. */
static void find_equivalents(kc__rest_call *call, kc__admission_attributes *about)
{
    size_t n, found = 0;
    const kc__resource *all = kc__registry_resources(call->catalog->kinds, &n);
    const kc__resource **list = NULL;
    for (size_t i = 0; i < n; i++) {
        if (!is_stored_alike(&all[i], call->resource))
            continue;
        if (!list)
            list = kc_arena_calloc(call->arena, n, sizeof(const kc__resource *));
        list[found++] = &all[i];
    }
    about->equivalents = list;
    about->n_equivalents = found;
}

static kc_str namespace_of(const kc__rest_call *call, const kc__admission_attributes *about)
{
    const bool own = !*call->resource->group && !strcmp(call->resource->plural, "namespaces");
    return own && kc_str_empty(call->info.ns) ? about->name : call->info.ns;
}

static kc_str name_of(kc__rest_call *call, const kc_object *object)
{
    if (call->info.named)
        return call->info.name;
    return object ? kc_arena_str(call->arena, kc_object_name(object)) : (kc_str){0};
}

kc__admission_attributes kc__admission_attributes_of(kc__rest_call *call, const kc_object *object,
                                                     const kc_object *old)
{
    kc__admission_attributes about = {
        .operation = operation_of(call),
        .resource = call->resource,
        .subresource = call->subresource,
        .name = name_of(call, object),
        .object = object,
        .old = old,
        .user = &call->user,
        .dry_run = call->options.dry_run,
    };
    about.ns = namespace_of(call, &about);
    about.options = options_of(call, about.operation);
    find_equivalents(call, &about);
    about.space =
        kc_str_empty(about.ns) ? NULL : kc__watch_cache_get(call->api->namespaces, about.ns);
    return about;
}

void kc__admission_attributes_rename(kc__rest_call *call, kc__admission_attributes *about)
{
    about->name = name_of(call, about->object);
}

bool kc__admission_is_exempt(const kc__rest_call *call)
{
    static const char *const kinds[] = {"ValidatingWebhookConfiguration",
                                        "MutatingWebhookConfiguration",
                                        "ValidatingAdmissionPolicy",
                                        "ValidatingAdmissionPolicyBinding",
                                        "MutatingAdmissionPolicy",
                                        "MutatingAdmissionPolicyBinding",
                                        NULL};
    return !strcmp(call->resource->group, "admissionregistration.k8s.io") &&
           kc_str_is_any(kc_cstr(call->resource->kind), kinds);
}

/* ---- objects ---- */

bool kc__admission_deletes(const kc__rest_call *call)
{
    return call->verb->bit & (KC__VERB_DELETE | KC__VERB_DELETE_COLLECTION);
}

/* The object in the version of the request, or its Scale. */
kc_object *kc__admission_shown(kc__rest_call *call, const kc_object *object)
{
    const kc__resource *r = call->resource;
    const bool served = r->ops->edits_served_form && !kc__admission_deletes(call);
    kc_auto(kc_object) *own = served ? kc_object_ref(object) : r->ops->from_stored(r, object, NULL);
    /* An object that cannot be served can be deleted: admission sees the stored form. */
    if (!own)
        own = kc_object_ref(object);
    if (!own || !kc__rest_is_scale(call))
        return kc_take(own);
    return kc__scale_of(r, own, false, &call->error);
}

/* Clears metadata that a client cannot set, and sets the namespace of the path. */
static int wipe_draft(kc__rest_call *call)
{
    kc__rest_metadata m;
    kc__rest_metadata_of_draft(&call->draft, call->arena, &m);
    kc__rest_check_namespace(call, &m);
    if (!call->current) {
        m.uid = m.created = m.deleted = (kc_str){0};
        m.has_grace = false;
    }
    return kc__rest_metadata_to_draft(&call->draft, &m, &call->error);
}

/* Frozen, in the version of the request. */
kc_object *kc__admission_shown_draft(kc__rest_call *call)
{
    if (wipe_draft(call) < 0)
        return NULL;
    const kc__resource *type = kc__rest_is_scale(call) ? call->request_resource : call->resource;
    const kc_object *object = kc__draft_freeze(&call->draft, type, &call->error);
    if (!object)
        return NULL;
    return kc__rest_is_scale(call) ? kc_object_ref(object) : kc__admission_shown(call, object);
}

/* The prepared object in the form for validating admission: without the placeholder of its
 * revision. */
kc_object *kc__admission_shown_proposed(kc__rest_call *call)
{
    if (call->current)
        return kc__admission_shown(call, call->proposed);
    kc__rest_metadata m;
    kc__rest_metadata_of(call->proposed, call->arena, &m);
    m.resource_version = (kc_str){0};
    kc_auto(kc_object) *plain = kc__rest_metadata_apply(call->proposed, &m, &call->error);
    return plain ? kc__admission_shown(call, plain) : NULL;
}

/* The body without metadata that a client cannot set. The uid of a Binding is that of the pod, and
 * stays. */
kc_object *kc__admission_shown_body(kc__rest_call *call)
{
    kc__rest_metadata m;
    kc__rest_metadata_of(call->subresource_body, call->arena, &m);
    kc__rest_check_namespace(call, &m);
    if (call->eviction)
        m.uid = m.created = m.deleted = (kc_str){0};
    return kc__rest_metadata_apply(call->subresource_body, &m, &call->error);
}

/* ---- versions ---- */

bool kc__admission_has_own_kind(const kc__admission_attributes *about)
{
    return about->subresource && about->subresource->kind;
}

bool kc__admission_is_remote(const kc__admission_attributes *about, const kc_object *object,
                             const kc__resource *as)
{
    return object && !kc__admission_has_own_kind(about) && kc__remote_is_needed(as, object);
}

int kc__admission_convert(const kc__admission_attributes *about, const kc_object *object,
                          const kc__resource *as, kc_object **ret, kc_error *err)
{
    const kc__resource *own = about->resource;
    if (!object || as == own || kc__admission_has_own_kind(about) || kc__remote_may_be_needed(as)) {
        *ret = object ? kc_object_ref(object) : NULL;
        return 0;
    }
    kc_auto(kc_object) *stored = kc__convert_to_stored(own, object, err);
    *ret = stored ? kc__convert_from_stored(as, stored, err) : NULL;
    return *ret ? 0 : kc_error_result(err);
}

/* ---- the object that mutating admission changes ---- */

static bool has_strict_errors(const kc_paths *errors, kc_error *err)
{
    kc_scoped(kc_buf) text = {0};
    for (size_t i = 0; i < errors->n; i++)
        kc_buf_printf(&text, "%s%s", i ? ", " : "", errors->items[i]);
    if (text.n)
        kc_error_set(err, KC_BAD_REQUEST, "strict decoding error: %s", kc_buf_cstr(&text));
    return text.n > 0;
}

kc_object *kc__admission_decode_patched(const kc__admission_attributes *about,
                                        const kc__resource *type, const kc__resource *as,
                                        kc_object *patched, bool strict, kc_error *err)
{
    const kc__resource *shown = kc__admission_has_own_kind(about) ? type : as;
    kc_auto(kc_object) *object = kc_object_ref(patched);
    kc_scoped(kc_paths) errors = {0};
    const kc__resource_decode_source source = {.patched = true, .report_strict_errors = strict};
    if (shown->ops->decode(shown, &object, &source, &errors, err) < 0 ||
        (strict && has_strict_errors(&errors, err)))
        return NULL;
    return kc_take(object);
}

int kc__admission_default_patched(const kc__admission_attributes *about, const kc__resource *as,
                                  const kc_object *decoded, kc__draft *ret, kc_error *err)
{
    kc__draft_set(ret, decoded);
    if (kc__admission_has_own_kind(about))
        return 0;
    if (as->ops->default_(as, ret, err) < 0)
        return kc_error_result(err);
    if (!as->ops->edits_served_form || as == about->resource)
        return 0;
    const kc_object *patched_draft = kc__draft_freeze(ret, as, err);
    kc_auto(kc_object) *stored = patched_draft ? as->ops->to_stored(as, patched_draft, err) : NULL;
    kc_object *own =
        stored ? about->resource->ops->from_stored(about->resource, stored, err) : NULL;
    if (!own)
        return kc_error_result(err);
    kc__draft_give(ret, own);
    return 0;
}

kc_object *kc__admission_show_target(const kc__admission_attributes *about, const kc_object *target,
                                     kc_error *err)
{
    const kc__resource *r = about->resource;
    return kc__admission_has_own_kind(about) || r->ops->edits_served_form
               ? kc_object_ref(target)
               : r->ops->from_stored(r, target, err);
}

const char *kc__admission_patch_error(const kc_error *err)
{
    kc_str text = kc_cstr(kc_error_text(err)), rest = text;
    if (!kc_str_starts(text, KC_STR("operation ")))
        return text.p;
    kc_str_cut(&rest, ':');
    return rest.p ? kc_str_trim(rest).p : text.p;
}
