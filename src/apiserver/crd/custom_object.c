/* SPDX-License-Identifier: Apache-2.0 */
/*
 * custom_object.c: what a client sends becomes an object of its version; what is stored becomes an
 * object of another.
 *
 * The order is Kubernetes': prune, drop nulls, metadata, defaults. Each has a question that only
 * looks ("would it?"), so an object that is right as it is costs a walk for each and no copy.
 *
 * All versions of a definition are the same object but for apiVersion (conversion "None"), so a
 * conversion is a splice, and then pruning by the schema of the version it goes to.
 */
#include "apiserver/crd/custom_object.h"
#include "apiserver/crd/custom_internal.h"
#include "kc/diff.h"

/* ---- the right kind ---- */

enum { SHOWN = 30 };

static int missing(const kc__custom *custom, const kc_object *given, const char *what,
                   kc_error *err)
{
    kc_str text = kc_object_json(given);
    return kc_error_set(err, KC_BAD_REQUEST,
                        "the object provided is unrecognized (must be of type %s): Object '%s' is "
                        "missing in '%.*s' (%.*s%s)",
                        custom->kind, what, KC_ARG(text), KC_ARG(kc_str_sub(text, 0, SHOWN)),
                        text.n > SHOWN ? " ..." : "");
}

int kc__custom_check_kind(const kc__custom *custom, const kc_object *given, kc_error *err)
{
    kc_str version = kc_object_api_version(given);
    if (!kc_object_kind(given).n)
        return missing(custom, given, "Kind", err);
    if (!version.n)
        return missing(custom, given, "apiVersion", err);
    if (kc_str_is(version, custom->api_version))
        return 0;
    return kc_error_set(err, KC_BAD_REQUEST,
                        "the API version in the data (%.*s) does not match the expected API "
                        "version (%s)",
                        KC_ARG(version), custom->api_version);
}

/* ---- decoding ---- */

/* A change that is only made if there is one to make. */
typedef struct change {
    const kc_object *object;
    kc_view *view;
    kc_edit *edit; /* NULL: nothing changed yet. */
} change;

static void change_begin(change *c, const kc_object *object)
{
    *c = (change){.object = object, .view = kc_view_of(object)};
}

static void change_done(change *c)
{
    kc_view_free(c->view);
    kc_edit_free(c->edit);
}

static kc_edit *change_edit(change *c)
{
    if (!c->edit)
        c->edit = kc_edit_of_value(kc_view_root(c->view));
    return c->edit;
}

static kc_object *change_end(const change *c, kc_error *err)
{
    return c->edit ? kc_edit_freeze(c->edit, err) : kc_object_ref(c->object);
}

/* `clean`: it is known that nothing is there to be removed. */
static void prune(const kc__custom *custom, change *c, bool clean)
{
    const kc_value *root = kc_view_root(c->view);
    if (custom->preserve)
        return;
    /* Without a schema nothing is known, and so nothing stays; there is none in objects of the old
     * kind only, which preserve. */
    if (!clean && (c->edit || kc_schema_would_prune(custom->schema, root, NULL)))
        kc_schema_prune(custom->schema, change_edit(c), NULL);
    if (custom->schema && (c->edit || kc_schema_would_drop_nulls(custom->schema, root)))
        kc_schema_drop_nulls(custom->schema, change_edit(c));
}

static void fill_in(const kc__custom *custom, change *c)
{
    if (!custom->schema)
        return;
    if (c->edit || kc_schema_would_default(custom->schema, kc_view_root(c->view)))
        kc_schema_default(custom->schema, change_edit(c));
}

/* Metadata of the object itself, then of those in it. */
static int type_metadata(const kc__custom *custom, change *c, kc_paths *unknown, kc_error *err)
{
    const kc_value *metadata = kc_get(kc_view_root(c->view), "metadata");
    if (!metadata)
        return 0;
    kc_auto(kc_object) *typed = kc__custom_metadata(metadata, "metadata", unknown, err);
    if (!typed)
        return kc_error_wrap(err, "%s in version \"%s\" cannot be handled as a %s", custom->kind,
                             custom->version, custom->kind);
    if (kc_str_eq(kc_object_json(typed), kc_object_metadata_json(c->object)))
        return 0;
    kc_auto(kc_view) *view = kc_view_of(typed);
    kc_edit *edit = change_edit(c);
    kc_node_set(edit, kc_edit_root(edit), KC_STR("metadata"),
                kc_node_copy(edit, kc_view_root(view)));
    return 0;
}

kc_object *kc__custom_decode(const kc__custom *custom, const kc_object *given, kc_paths *unknown,
                             kc_error *err)
{
    change c;
    kc_object *decoded = NULL;
    bool clean = false;
    change_begin(&c, given);
    if (type_metadata(custom, &c, unknown, err) < 0)
        goto out;
    if (unknown && !custom->preserve)
        clean = !kc_schema_unknown(custom->schema, kc_view_root(c.view), NULL, unknown);
    prune(custom, &c, clean);
    if (custom->embeds && kc__custom_coerce(custom->schema, change_edit(&c), unknown, err) < 0)
        goto out;
    fill_in(custom, &c);
    decoded = change_end(&c, err);
out:
    change_done(&c);
    return decoded;
}

kc_object *kc__custom_default(const kc__custom *custom, const kc_object *object, kc_error *err)
{
    change c;
    change_begin(&c, object);
    fill_in(custom, &c);
    kc_object *filled = change_end(&c, err);
    change_done(&c);
    return filled;
}

/* ---- preparing ---- */

/* Whether there may be a status, which is rare in what is sent: told without parsing. */
static bool may_have_status(const kc_object *object)
{
    kc_str text = kc_object_json(object);
    return memmem(text.p, text.n, "\"status\"", strlen("\"status\"")) != NULL;
}

kc_object *kc__custom_prepare(const kc__custom *custom, const kc_object *object, kc_error *err)
{
    if (!custom->status || !may_have_status(object))
        return kc_object_ref(object);
    change c;
    change_begin(&c, object);
    if (kc_get(kc_view_root(c.view), "status"))
        kc_node_remove(kc_edit_root(change_edit(&c)), KC_STR("status"));
    kc_object *prepared = change_end(&c, err);
    change_done(&c);
    return prepared;
}

/* Puts a member of another object in the place of one's own, which goes if there is none. */
static void take_over(kc_edit *edit, kc_node *object, const kc_value *from, const char *member)
{
    const kc_value *value = kc_get(from, member);
    if (value)
        kc_node_set(edit, object, kc_cstr(member), kc_node_copy(edit, value));
    else
        kc_node_remove(object, kc_cstr(member));
}

kc_object *kc__custom_prepare_update(const kc__custom *custom, const kc_object *object,
                                     const kc_object *old, const char *subresource, kc_error *err)
{
    if (!subresource && !custom->status)
        return kc_object_ref(object);
    bool status = subresource && !strcmp(subresource, "status");
    kc_auto(kc_view) *now = kc_view_of(object), *before = kc_view_of(old);
    kc_auto(kc_edit) *edit = kc_edit_of(status ? old : object);
    kc_node *root = kc_edit_root(edit);
    take_over(edit, root, kc_view_root(status ? now : before), "status");
    const kc_value *metadata = kc_get(kc_view_root(now), "metadata");
    if (status && kc_get(metadata, "managedFields"))
        take_over(edit, kc_node_need_object(edit, root, KC_STR("metadata")), metadata,
                  "managedFields");
    return kc_edit_freeze(edit, err);
}

static const kc_equal_opts semantically = {.empty_is_absent = true};

/* Whether a member of `a` is another in `b`; metadata does not count. */
static bool has_other_member(const kc_value *a, const kc_value *b)
{
    kc_members (a, name, value)
        if (!kc_str_is(name, "metadata") &&
            !kc_value_equal(value, kc_get_str(b, name), &semantically))
            return true;
    return false;
}

/* The same for objects with many members, where looking each up would take long. */
static bool differ_at_length(const kc_value *a, const kc_value *b)
{
    kc_auto(kc_edit) *x = kc_edit_of_value(a), *y = kc_edit_of_value(b);
    kc_node_remove(kc_edit_root(x), KC_STR("metadata"));
    kc_node_remove(kc_edit_root(y), KC_STR("metadata"));
    kc_auto(kc_view) *now = kc_edit_view(x, NULL), *then = kc_edit_view(y, NULL);
    return !kc_value_equal(kc_view_root(now), kc_view_root(then), &semantically);
}

bool kc__custom_differs(const kc_object *a, const kc_object *b)
{
    enum { FEW = 64 };
    kc_auto(kc_view) *one = kc_view_of(a), *two = kc_view_of(b);
    const kc_value *x = kc_view_root(one), *y = kc_view_root(two);
    if (kc_len(x) > FEW || kc_len(y) > FEW)
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
    change c;
    change_begin(&c, spliced);
    prune(to, &c, false);
    kc_object *converted = change_end(&c, err);
    change_done(&c);
    return converted;
}

kc_object *kc__custom_to_storage(const kc__custom *custom, const kc_object *object, kc_error *err)
{
    const kc__custom *storage = kc__crd_storage(custom->crd);
    if (storage == custom)
        return kc_object_ref(object);
    return convert(storage, object, err);
}

/* The version an object was stored in, which may have been another one than today's. */
static const kc__custom *stored_version(const kc__custom *custom, const kc_object *stored)
{
    size_t n;
    kc_str api_version = kc_object_api_version(stored);
    const kc__custom *versions = kc__crd_versions(custom->crd, &n);
    for (size_t i = 0; i < n; i++)
        if (kc_str_is(api_version, versions[i].api_version))
            return &versions[i];
    return kc__crd_storage(custom->crd);
}

kc_object *kc__custom_read(const kc__custom *custom, const kc_object *stored, kc_error *err)
{
    const kc__custom *storage = stored_version(custom, stored);
    change c;
    change_begin(&c, stored);
    prune(storage, &c, false);
    fill_in(storage, &c);
    kc_auto(kc_object) *whole = change_end(&c, err);
    change_done(&c);
    if (!whole)
        return NULL;
    bool same = storage == custom && kc_str_is(kc_object_api_version(whole), custom->api_version);
    return same ? kc_take(whole) : convert(custom, whole, err);
}
