/* SPDX-License-Identifier: Apache-2.0 */
/*
 * custom_object.c: converts the body of a request into an object of its version, and a stored
 * object into an object of the requested version.
 *
 * The order is that of Kubernetes: metadata, prune, drop nulls, embedded resources, defaults. One
 * traversal of a body prunes, drops nulls and sets defaults (object/schema/schema_rewrite.h), and
 * copies nothing if nothing changes. A stored object nearly always needs no change, so it is only
 * checked first.
 *
 * With conversion "None" all versions of a CRD have the same content except for apiVersion, so a
 * conversion replaces apiVersion and then prunes by the schema of the target version. With a
 * conversion webhook, reads return what the converter keeps (crd_conversion.h).
 */
#include "apiserver/crd/custom_object.h"
#include "apiserver/crd/crd_conversion.h"
#include "apiserver/crd/custom_internal.h"
#include "kc/diff.h"
#include "object/fields/fields_managed.h"
#include "object/model/canonical.h"
#include "object/model/edit_value.h"
#include "object/schema/schema_rewrite.h"

/* ---- checking the kind ---- */

enum { SHOWN = 30 };

static int missing(const kc__custom *custom, const kc_object *input, const char *what,
                   kc_error *err)
{
    kc_str text = kc_object_json(input);
    return kc_error_set(err, KC_BAD_REQUEST,
                        "the object provided is unrecognized (must be of type %s): Object '%s' is "
                        "missing in '%.*s' (%.*s%s)",
                        custom->kind, what, KC_ARG(text), KC_ARG(kc_str_sub(text, 0, SHOWN)),
                        text.n > SHOWN ? " ..." : "");
}

int kc__custom_check_kind(const kc__custom *custom, const kc_object *input, kc_error *err)
{
    kc_str version = kc_object_api_version(input);
    if (!kc_object_kind(input).n)
        return missing(custom, input, "Kind", err);
    if (!version.n)
        return missing(custom, input, "apiVersion", err);
    if (kc_str_is(version, custom->api_version))
        return 0;
    return kc_error_set(err, KC_BAD_REQUEST,
                        "the API version in the data (%.*s) does not match the expected API "
                        "version (%s)",
                        KC_ARG(version), custom->api_version);
}

/* ---- rewriting by the schema ---- */

/* Freezes a tree and adds managedFields, if there are some. */
static kc_object *freeze_with_owners(const kc_edit *edit, kc_str owners, kc_error *err)
{
    kc_auto(kc_object) *frozen = kc_edit_freeze(edit, err);
    return frozen && owners.n ? kc_object_with_managed_fields(frozen, owners) : kc_take(frozen);
}

/* The steps that a schema requires. A CRD without a schema is a legacy one, which preserves unknown
 * fields. */
static kc__schema_rewrite_opts steps_of(const kc__custom *custom, bool defaults)
{
    return (kc__schema_rewrite_opts){
        .prunes = !custom->preserve, .drops_nulls = !custom->preserve, .defaults = defaults};
}

static bool would_change(const kc__custom *custom, const kc_value *root,
                         const kc__schema_rewrite_opts *steps)
{
    const kc_schema *schema = custom->schema;
    return (steps->prunes && kc_schema_would_prune(schema, root, NULL)) ||
           (steps->drops_nulls && kc__value_has_null(root) &&
            kc_schema_would_drop_nulls(schema, root)) ||
           (steps->defaults && kc_schema_would_default(schema, root));
}

/* Rewrites an object that is not a body: its managedFields are neither read nor changed. */
static kc_object *rewrite_object(const kc__custom *custom, const kc_object *object,
                                 const kc__schema_rewrite_opts *steps, kc_error *err)
{
    kc_auto(kc_view) *view = kc__fields_view_of(object);
    if (!would_change(custom, kc_view_root(view), steps))
        return kc_object_ref(object);
    const kc_str owners = kc_object_managed_fields_json(object);
    kc_auto(kc_object) *bare =
        owners.n ? kc_object_without_managed_fields(object) : kc_object_ref(object);
    kc_auto(kc_object) *changed = kc__schema_rewrite(custom->schema, bare, &view, steps, err);
    return changed && owners.n ? kc_object_with_managed_fields(changed, owners) : kc_take(changed);
}

/* Explains why a written object cannot be rewritten: if its defaults exceed their budget, the
 * object is invalid. Moves `why`. */
static void explain_rewrite(const kc__custom *custom, const kc_object *object, kc_error *why,
                            kc_error *err)
{
    if (!why->causes.n) {
        kc_error_move(err, why);
        return;
    }
    kc_scoped(kc_field_errors) errors = {0};
    const kc_cause *cause = &why->causes.items[0];
    kc_field_errors_add(&errors, KC_FIELD_TOO_LONG, cause->field, (kc_str){0}, "%s",
                        cause->message);
    kc_field_errors_to_error(&errors, kc_cstr(custom->group), kc_cstr(custom->kind),
                             kc_object_name(object), err);
}

/* The metadata of embedded objects of a stored object, which an apply has stored as merged. An
 * object that is older than its schema may have values of other types there, and keeps them. */
static kc_object *coerce_stored(const kc__custom *custom, const kc_object *object, kc_error *err)
{
    kc_auto(kc_view) *view = kc__fields_view_of(object);
    if (!kc__custom_would_coerce(custom->schema, kc_view_root(view)))
        return kc_object_ref(object);
    kc_auto(kc_edit) *edit = kc_edit_of_value(kc_view_root(view));
    kc__custom_coerce(custom->schema, edit, NULL, NULL);
    return freeze_with_owners(edit, kc_object_managed_fields_json(object), err);
}

/* Rewrites a stored object, and the metadata of its embedded resources before its defaults. */
static kc_object *rewrite_stored(const kc__custom *custom, const kc_object *object, bool defaults,
                                 kc_error *err)
{
    const kc__schema_rewrite_opts steps = steps_of(custom, defaults && !custom->embeds);
    kc_auto(kc_object) *rewritten = rewrite_object(custom, object, &steps, err);
    if (!rewritten || !custom->embeds)
        return kc_take(rewritten);
    kc_auto(kc_object) *coerced = coerce_stored(custom, rewritten, err);
    if (!coerced || !defaults)
        return kc_take(coerced);
    return rewrite_object(custom, coerced, &(kc__schema_rewrite_opts){.defaults = true}, err);
}

/* ---- decoding ---- */

/* The slow path of the function below, for metadata that are no object or have managedFields. */
static kc_object *edit_metadata(const kc_value *metadata, kc_view **view, kc_error *err)
{
    kc_edit *edit = kc_edit_of_value(kc_view_root(*view));
    kc_node_set(edit, kc_edit_root(edit), KC_STR("metadata"), kc_node_from_value(edit, metadata));
    kc_auto(kc_view) *edited = NULL;
    kc_object *object = kc__object_finish_edit(edit, &edited, err);
    if (object) {
        kc_view_free(*view);
        *view = kc_take(edited);
    }
    return object;
}

static kc_object *metadata_refused(const kc__custom *custom, kc_error *err)
{
    kc_error_wrap(err, "%s in version \"%s\" cannot be handled as a %s", custom->kind,
                  custom->version, custom->kind);
    return NULL;
}

/* Metadata that are absent or no object. */
static kc_object *type_other_metadata(const kc__custom *custom, const kc_object *body,
                                      kc_view **view, kc_paths *unknown, kc_error *err)
{
    const kc_value *metadata = kc_value_get(kc_view_root(*view), "metadata");
    if (!metadata)
        return kc_object_ref(body);
    kc_auto(kc_object) *typed = kc__custom_metadata(metadata, "metadata", unknown, err);
    if (!typed)
        return metadata_refused(custom, err);
    kc_auto(kc_view) *with = kc_view_of(typed);
    return edit_metadata(kc_view_root(with), view, err);
}

/* Makes an ObjectMeta of the metadata of a body. Updates the view. */
static kc_object *type_metadata(const kc__custom *custom, const kc_object *body, kc_view **view,
                                kc_paths *unknown, kc_error *err)
{
    const kc_str sent = kc_object_metadata_json(body);
    kc_scoped(kc_buf) out = {0};
    kc_str typed;
    if (!sent.n)
        return type_other_metadata(custom, body, view, unknown, err);
    if (kc__custom_metadata_text(sent, "metadata", unknown, &out, &typed, err) < 0)
        return metadata_refused(custom, err);
    if (typed.p == sent.p)
        return kc_object_ref(body);
    if (kc_object_managed_fields_json(body).n) {
        kc_auto(kc_view) *with = kc_view_parse(typed, NULL, err);
        return with ? edit_metadata(kc_view_root(with), view, err) : NULL;
    }
    kc_object *spliced = kc__object_with_metadata(body, typed, (kc_str){0}, err);
    if (spliced)
        *view = kc__object_view_with_member(*view, "metadata", typed);
    return spliced;
}

/* Rewrites a body. Updates the view. */
static kc_object *rewrite_body(const kc__custom *custom, const kc_object *body, kc_view **view,
                               const kc__schema_rewrite_opts *steps, kc_error *err)
{
    kc_scoped(kc_error) why = {0};
    kc_object *rewritten = kc__schema_rewrite(custom->schema, body, view, steps, &why);
    if (!rewritten)
        explain_rewrite(custom, body, &why, err);
    return rewritten;
}

/* Makes an ObjectMeta of the metadata of each embedded resource, and then sets the defaults.
 * Updates the view. */
static kc_object *coerce_embedded(const kc__custom *custom, kc_view **view, kc_paths *unknown,
                                  kc_error *err)
{
    kc_auto(kc_edit) *edit = kc_edit_of_value(kc_view_root(*view));
    if (kc__custom_coerce(custom->schema, edit, unknown, err) < 0)
        return NULL;
    kc_auto(kc_view) *edited = NULL;
    kc_auto(kc_object) *coerced = kc__object_finish_edit(kc_take(edit), &edited, err);
    if (!coerced)
        return NULL;
    kc_view_free(*view);
    *view = kc_take(edited);
    return rewrite_body(custom, coerced, view, &(kc__schema_rewrite_opts){.defaults = true}, err);
}

kc_object *kc__custom_decode(const kc__custom *custom, const kc_object *input, bool applied,
                             kc_paths *unknown, kc_view **ret_view, kc_error *err)
{
    kc_auto(kc_view) *view = kc_view_of(input);
    kc__schema_rewrite_opts steps = steps_of(custom, !custom->embeds || applied);
    steps.drops_nulls &= !applied;
    steps.unknown = custom->preserve ? NULL : unknown;
    kc_auto(kc_object) *typed = type_metadata(custom, input, &view, unknown, err);
    kc_auto(kc_object) *decoded = typed ? rewrite_body(custom, typed, &view, &steps, err) : NULL;
    if (decoded && custom->embeds && !applied) {
        kc_object_unref(decoded);
        decoded = coerce_embedded(custom, &view, unknown, err);
    }
    if (ret_view && decoded && !kc_object_managed_fields_json(decoded).n)
        *ret_view = kc_take(view);
    return kc_take(decoded);
}

kc_object *kc__custom_default(const kc__custom *custom, const kc_object *object, kc_error *err)
{
    kc_scoped(kc_error) why = {0};
    const kc__schema_rewrite_opts steps = {.defaults = true};
    kc_object *filled = rewrite_object(custom, object, &steps, &why);
    if (!filled)
        explain_rewrite(custom, object, &why, err);
    return filled;
}

/* ---- preparing ---- */

kc_object *kc__custom_prepare(const kc__custom *custom, const kc_object *object, kc_error *err)
{
    kc_auto(kc_view) *view = custom->status ? kc__fields_view_of(object) : NULL;
    if (!kc_value_get(kc_view_root(view), "status"))
        return kc_object_ref(object);
    kc_auto(kc_edit) *edit = kc_edit_of_value(kc_view_root(view));
    kc_node_remove(kc_edit_root(edit), KC_STR("status"));
    return freeze_with_owners(edit, kc_object_managed_fields_json(object), err);
}

/* Replaces a member with that of another object; removes it if the other has none. */
static void take_over(kc_edit *edit, kc_node *object, const kc_value *from, const char *member)
{
    const kc_value *value = kc_value_get(from, member);
    if (value)
        kc_node_set(edit, object, kc_cstr(member), kc_node_from_value(edit, value));
    else
        kc_node_remove(object, kc_cstr(member));
}

kc_object *kc__custom_prepare_update(const kc__custom *custom, const kc_object *object,
                                     const kc_object *old, const char *subresource, kc_error *err)
{
    if (!subresource && !custom->status)
        return kc_object_ref(object);
    bool status = subresource && !strcmp(subresource, "status");
    kc_auto(kc_view) *now = kc__fields_view_of(object), *before = kc__fields_view_of(old);
    kc_auto(kc_edit) *edit = kc_edit_of_value(kc_view_root(status ? before : now));
    take_over(edit, kc_edit_root(edit), kc_view_root(status ? now : before), "status");
    return freeze_with_owners(edit, kc_object_managed_fields_json(object), err);
}

/* Whether a member of `a` differs in `b`, ignoring metadata. An empty list or object is a value. */
static bool has_other_member(const kc_value *a, const kc_value *b)
{
    kc_value_each_member (a, name, value)
        if (!kc_str_is(name, "metadata") && !kc_value_equal(value, kc_value_get_str(b, name), NULL))
            return true;
    return false;
}

/* The same for objects with many members, where a lookup of each would be slow. */
static bool differ_at_length(const kc_value *a, const kc_value *b)
{
    kc_auto(kc_edit) *x = kc_edit_of_value(a), *y = kc_edit_of_value(b);
    kc_node_remove(kc_edit_root(x), KC_STR("metadata"));
    kc_node_remove(kc_edit_root(y), KC_STR("metadata"));
    kc_auto(kc_view) *now = kc_edit_view(x, NULL), *then = kc_edit_view(y, NULL);
    return !kc_value_equal(kc_view_root(now), kc_view_root(then), NULL);
}

bool kc__custom_differs(const kc_object *a, const kc_object *b)
{
    enum { FEW = 64 };
    kc_auto(kc_view) *one = kc__fields_view_of(a), *two = kc__fields_view_of(b);
    const kc_value *x = kc_view_root(one), *y = kc_view_root(two);
    if (kc_value_len(x) > FEW || kc_value_len(y) > FEW)
        return differ_at_length(x, y);
    return has_other_member(x, y) || has_other_member(y, x);
}

/* ---- the store ---- */

/* The same object in another version. */
static kc_object *convert(const kc__custom *to, const kc_object *object, kc_error *err)
{
    kc_auto(kc_object) *spliced =
        kc_str_is(kc_object_api_version(object), to->api_version)
            ? kc_object_ref(object)
            : kc_object_with_api_version(object, kc_cstr(to->api_version));
    return rewrite_stored(to, spliced, false, err);
}

kc_object *kc__custom_to_storage(const kc__custom *custom, const kc_object *object, kc_error *err)
{
    const kc__custom *storage = kc__crd_storage(custom->crd);
    if (storage == custom)
        return kc_object_ref(object);
    if (kc__crd_webhook_of(custom->crd) &&
        !kc_str_is(kc_object_api_version(object), storage->api_version)) {
        kc_error_set(err, KC_UNKNOWN, "only the conversion webhook converts to %s",
                     storage->api_version);
        return NULL;
    }
    return convert(storage, object, err);
}

kc_object *kc__custom_coerce_converted(const kc__custom *custom, const kc_object *converted,
                                       kc_error *err)
{
    return convert(custom, converted, err);
}

/* The version in which an object was stored, which may differ from the current storage version. */
static const kc__custom *stored_version(const kc__custom *custom, const kc_object *stored)
{
    size_t n;
    kc_str api_version = kc_object_api_version(stored);
    const kc__custom *versions = kc__crd_versions(custom->crd, &n);
    if (kc_str_is(api_version, custom->api_version))
        return custom;
    if (kc_str_is(api_version, kc__crd_storage(custom->crd)->api_version))
        return kc__crd_storage(custom->crd);
    for (size_t i = 0; i < n; i++)
        if (kc_str_is(api_version, versions[i].api_version))
            return &versions[i];
    return kc__crd_storage(custom->crd);
}

/* Kubernetes' error message for an unreadable object, and why. */
static int cannot_read(const kc__custom *custom, const kc_object *stored, kc_error *err)
{
    kc_str ns = kc_object_namespace(stored), name = kc_object_name(stored);
    kc_scoped(kc_error) why = {0};
    kc_error_move(&why, err);
    const int result =
        kc_error_set(err, KC_STORE_READ_ERROR,
                     "failed to read %s.%s \"%.*s%s%.*s\" from the storage: %s", custom->kind,
                     custom->group, KC_ARG(ns), ns.n ? "/" : "", KC_ARG(name), kc_error_text(&why));
    kc_error_about(err, kc_cstr(custom->group), kc_cstr(custom->kind), name);
    return result;
}

kc_object *kc__custom_read_stored(const kc__custom *custom, const kc_object *stored, kc_error *err)
{
    const kc__custom *storage = stored_version(custom, stored);
    kc_auto(kc_object) *coerced = kc__custom_coerce_metadata(stored);
    kc_object *defaulted = rewrite_stored(storage, coerced, true, err);
    if (!defaulted && err)
        cannot_read(custom, stored, err);
    return defaulted;
}

kc_object *kc__custom_read(const kc__custom *custom, const kc_object *stored, kc_error *err)
{
    const bool same = kc_str_is(kc_object_api_version(stored), custom->api_version);
    if (!same && kc__crd_webhook_of(custom->crd))
        return kc__crd_kept_conversion(custom, stored, err);
    kc_auto(kc_object) *defaulted = kc__custom_read_stored(custom, stored, err);
    if (!defaulted)
        return NULL;
    return same ? kc_take(defaulted) : convert(custom, defaulted, err);
}
