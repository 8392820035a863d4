/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client_write.c: creating, updating and patching objects.
 *
 * All of them are one shape: where the object is, a body, parameters that all writes share; what is
 * answered is the object as the server keeps it. A reader the client is bound to hears of it, so
 * that what it reads next shows what it wrote.
 */
#include "client/client_internal.h"
#include "client/list_cutter.h"
#include "kc/kinds.h"
#include "kc/merge_patch.h"

static const kc_str JSON = KC_STR_INIT("application/json");

/* ---- what all writes share ---- */

const kc_kind *kc__kind_of(kc_client *client, const kc_object *object, const kc_kind *said,
                           kc_error *err)
{
    static const kc_kind *const known[] = {
#define KNOWN(name, ...) &kc_kind_##name,
        KC_KINDS_BUILTIN(KNOWN)
#undef KNOWN
    };
    if (said)
        return said;
    const kc_gvk gvk = kc_object_gvk(object);
    if (!gvk.kind.n || !gvk.version.n) {
        kc_error_set(err, KC_BAD_REQUEST, "the object does not say its apiVersion and kind");
        return NULL;
    }
    for (size_t i = 0; i < KC_COUNT(known); i++)
        if (kc_gvk_eq(kc_kind_gvk(known[i]), gvk))
            return known[i];
    return kc_client_kind(client, gvk, err);
}

bool kc__is_dry(const kc_client *client, bool said)
{
    return said || client->bind.dry_run;
}

void kc__tell_reader(kc_client *client, const kc_kind *kind, const kc_object *object, bool deleted)
{
    kc_reader *reader = client->bind.reader;
    if (reader && reader->ops->wrote)
        reader->ops->wrote(reader, kind, object, deleted);
}

static void fill_params(kc__ask *ask, const kc_client *client, const kc_write_opts *opts)
{
    const char *manager = opts->field_manager          ? opts->field_manager
                          : client->bind.field_manager ? client->bind.field_manager
                                                       : client->core->field_manager;
    kc__ask_param(ask, "fieldManager", manager);
    kc__ask_param(ask, "fieldValidation", opts->field_validation);
    if (kc__is_dry(client, opts->dry_run))
        kc__ask_param(ask, "dryRun", "All");
}

/* Answers to a subresource may be of another kind: a Scale, a Status. */
static bool is_of_kind(const kc_object *object, const kc_kind *kind)
{
    return kc_gvk_eq(kc_object_gvk(object), kc_kind_gvk(kind));
}

static kc_object *write_at(kc_client *client, kc__ask *ask, const kc__place *place,
                           const kc_write_opts *opts, kc_error *err)
{
    const bool dry = kc__is_dry(client, opts->dry_run);
    ask->writes = true;
    ask->fenced = !opts->unfenced && !dry;
    kc__ask_for(ask, place);
    fill_params(ask, client, opts);
    if (opts->force)
        kc__ask_param(ask, "force", "true");
    kc_object *answer =
        kc__send_for_object(client, ask, place->subresource ? NULL : place->kind, err);
    if (answer && !dry && is_of_kind(answer, place->kind))
        kc__tell_reader(client, place->kind, answer, false);
    return answer;
}

/* The object's body; with its kind where only the options say it. */
static kc_object *body_of(const kc_object *object, const kc_kind *kind, const kc_write_opts *opts,
                          kc_error *err)
{
    if (opts->subresource || kc_object_kind(object).n || kc_object_api_version(object).n)
        return kc_object_ref(object);
    return kc__object_of_kind(kc_object_json(object), kind, err);
}

/* ---- creating and updating ---- */

static const kc_write_opts defaults;

/* Where an object is written: where it says, in the client's namespace otherwise. */
static int locate(const kc_client *client, const kc_object *object, const kc_kind *kind,
                  const kc_write_opts *opts, kc__place *ret, kc_error *err)
{
    kc_key key = kc_object_key(object);
    if (opts->name)
        key.name = kc_cstr(opts->name);
    if (kc__locate(client, kind, key, ret, err) < 0)
        return -1;
    ret->subresource = opts->subresource;
    return 0;
}

/* A new object has no place of its own yet, only its collection. */
static int locate_new(const kc_client *client, const kc_object *object, const kc_kind *kind,
                      kc__place *ret, kc_error *err)
{
    kc_str ns = kc_object_namespace(object);
    if (kind->namespaced && !ns.n)
        ns = kc_cstr(client->bind.ns);
    if (kind->namespaced && !ns.n)
        return kc_error_set(err, KC_BAD_REQUEST,
                            "%s \"%.*s\": an empty namespace may not be set during creation",
                            kind->kind, KC_ARG(kc_object_name(object)));
    *ret = (kc__place){.kind = kind, .ns = ns};
    return 0;
}

static kc_object *write_object(kc_client *client, const char *method, const kc_object *object,
                               const kc_write_opts *opts, kc_error *err)
{
    opts = opts ? opts : &defaults;
    const kc_kind *kind = kc__kind_of(client, object, opts->kind, err);
    if (!kind)
        return NULL;
    const bool creates = !strcmp(method, "POST") && !opts->subresource;
    kc__place place;
    const int r = creates ? locate_new(client, object, kind, &place, err)
                          : locate(client, object, kind, opts, &place, err);
    kc_auto(kc_object) *body = r < 0 ? NULL : body_of(object, kind, opts, err);
    if (!body)
        return NULL;
    kc_scoped(kc__ask) ask = {.method = method, .type = JSON, .body = kc_object_json(body)};
    return write_at(client, &ask, &place, opts, err);
}

kc_object *kc_client_create(kc_client *client, const kc_object *object, const kc_write_opts *opts,
                            kc_error *err)
{
    return write_object(client, "POST", object, opts, err);
}

kc_object *kc_client_update(kc_client *client, const kc_object *object, const kc_write_opts *opts,
                            kc_error *err)
{
    return write_object(client, "PUT", object, opts, err);
}

/* ---- patches ---- */

static const kc_str patch_types[] = {
    [KC_PATCH_MERGE] = KC_STR_INIT("application/merge-patch+json"),
    [KC_PATCH_JSON] = KC_STR_INIT("application/json-patch+json"),
    [KC_PATCH_STRATEGIC] = KC_STR_INIT("application/strategic-merge-patch+json"),
    [KC_PATCH_APPLY] = KC_STR_INIT("application/apply-patch+yaml"),
};

kc_object *kc_client_patch(kc_client *client, const kc_kind *kind, kc_key key, kc_patch_type type,
                           kc_str patch, const kc_write_opts *opts, kc_error *err)
{
    kc__place place;
    opts = opts ? opts : &defaults;
    if (kc__locate(client, kind, key, &place, err) < 0)
        return NULL;
    place.subresource = opts->subresource;
    kc_scoped(kc__ask) ask = {.method = "PATCH", .type = patch_types[type], .body = patch};
    return write_at(client, &ask, &place, opts, err);
}

/* The patch, or NULL with an error; *ret_empty when there is nothing to do. */
static kc_edit *make_patch(const kc_object *from, const kc_object *to, bool locked, bool *ret_empty,
                           kc_error *err)
{
    kc_auto(kc_view) *before = kc_view_of(from);
    kc_auto(kc_view) *after = kc_view_of(to);
    const kc_merge_patch_opts opts = {.unchanged = KC_UNCHANGED_IDENTITY};
    kc_edit *patch = kc_merge_patch_make(kc_view_root(before), kc_view_root(after), &opts, err);
    if (!patch)
        return NULL;
    *ret_empty = kc_node_len(kc_edit_root(patch)) == 0;
    if (locked) {
        kc_node *metadata = kc_node_need_object(patch, kc_edit_root(patch), KC_STR("metadata"));
        kc_node_set(patch, metadata, KC_STR("resourceVersion"),
                    kc_node_str(patch, kc_object_resource_version(from)));
    }
    return patch;
}

kc_object *kc_client_patch_from(kc_client *client, const kc_object *from, const kc_object *to,
                                bool locked, const kc_write_opts *opts, kc_error *err)
{
    bool empty = false;
    opts = opts ? opts : &defaults;
    const kc_kind *kind = kc__kind_of(client, from, opts->kind, err);
    kc_auto(kc_edit) *patch = kind ? make_patch(from, to, locked, &empty, err) : NULL;
    if (!patch)
        return NULL;
    if (empty)
        return kc_object_ref(from);
    kc_scoped(kc_buf) text = {0};
    kc_node_write(&text, kc_edit_root(patch));
    return kc_client_patch(client, kind, kc_object_key(from), KC_PATCH_MERGE, kc_buf_str(&text),
                           opts, err);
}

kc_object *kc_client_apply(kc_client *client, const kc_object *object, const kc_write_opts *opts,
                           kc_error *err)
{
    kc__place place;
    opts = opts ? opts : &defaults;
    const kc_kind *kind = kc__kind_of(client, object, opts->kind, err);
    if (!kind || locate(client, object, kind, opts, &place, err) < 0)
        return NULL;
    kc_auto(kc_object) *body = body_of(object, kind, opts, err);
    if (!body)
        return NULL;
    kc_scoped(kc__ask) ask = {
        .method = "PATCH", .type = patch_types[KC_PATCH_APPLY], .body = kc_object_json(body)};
    return write_at(client, &ask, &place, opts, err);
}
