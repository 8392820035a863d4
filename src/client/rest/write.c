/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write.c: creates, updates and patches objects.
 *
 * All writes have the same shape: a location, a body and common parameters; the response is the
 * object as stored by the server. The reader that the client is bound to is notified, so that later
 * reads of this client see the write.
 */
#include "client/rest/client_internal.h"
#include "client/stream/list_splitter.h"
#include "kc/kinds.h"
#include "kc/merge_patch.h"

static const kc_str JSON = KC_STR_INIT("application/json");

/* ---- common to all writes ---- */

const kc_kind *kc__client_kind_of_object(kc_client *client, const kc_object *object,
                                         const kc_kind *requested, kc_error *err)
{
    static const kc_kind *const known[] = {
#define KNOWN(name, ...) &kc_kind_##name,
        KC_KINDS_BUILTIN(KNOWN)
#undef KNOWN
    };
    if (requested)
        return requested;
    const kc_gvk gvk = kc_object_gvk(object);
    if (!gvk.kind.n || !gvk.version.n) {
        kc_error_set(err, KC_BAD_REQUEST, "the object has no apiVersion or no kind");
        return NULL;
    }
    for (size_t i = 0; i < KC_COUNT(known); i++)
        if (kc_gvk_eq(kc_kind_gvk(known[i]), gvk))
            return known[i];
    return kc_client_kind(client, gvk, err);
}

bool kc__client_is_dry_run(const kc_client *client, bool requested)
{
    return requested || client->bind.dry_run;
}

void kc__client_notify_reader(kc_client *client, const kc_kind *kind, const kc_object *object,
                              bool deleted)
{
    kc_reader *reader = client->bind.reader;
    if (reader && reader->ops->wrote)
        reader->ops->wrote(reader, kind, object, deleted);
}

static void client_write_fill_params(kc__client_request *request, const kc_client *client,
                                     const kc_write_opts *opts)
{
    const char *manager = opts->field_manager          ? opts->field_manager
                          : client->bind.field_manager ? client->bind.field_manager
                                                       : client->core->field_manager;
    kc__client_request_param(request, "fieldManager", manager);
    kc__client_request_param(request, "fieldValidation", opts->field_validation);
    if (kc__client_is_dry_run(client, opts->dry_run))
        kc__client_request_param(request, "dryRun", "All");
}

/* The response of a subresource may be of another kind: a Scale, a Status. */
static bool is_of_kind(const kc_object *object, const kc_kind *kind)
{
    return kc_gvk_eq(kc_object_gvk(object), kc_kind_gvk(kind));
}

static kc_object *client_write_at(kc_client *client, kc__client_request *request,
                                  const kc__client_location *place, const kc_write_opts *opts,
                                  kc_error *err)
{
    const bool dry = kc__client_is_dry_run(client, opts->dry_run);
    request->writes = true;
    request->fenced = !opts->unfenced && !dry;
    kc__client_request_set_target(request, place);
    client_write_fill_params(request, client, opts);
    if (opts->force)
        kc__client_request_param(request, "force", "true");
    kc_object *response =
        kc__client_send_for_object(client, request, place->subresource ? NULL : place->kind, err);
    if (response && !dry && is_of_kind(response, place->kind))
        kc__client_notify_reader(client, place->kind, response, false);
    return response;
}

/* Other subresources have bodies of other kinds. */
static bool body_has_kind_of_resource(const kc_write_opts *opts)
{
    return !opts->subresource || !strcmp(opts->subresource, "status");
}

/* Returns the body of the object; adds its kind if only the options state it. */
static kc_object *body_of(const kc_object *object, const kc_kind *kind, const kc_write_opts *opts,
                          kc_error *err)
{
    if (!body_has_kind_of_resource(opts) || kc_object_kind(object).n ||
        kc_object_api_version(object).n)
        return kc_object_ref(object);
    return kc__stream_object_of_kind(kc_object_json(object), kind, err);
}

/* ---- creating and updating ---- */

static const kc_write_opts defaults;

/* Returns where an object is written: its own namespace, otherwise the client's. */
static int client_write_locate(const kc_client *client, const kc_object *object,
                               const kc_kind *kind, const kc_write_opts *opts,
                               kc__client_location *ret, kc_error *err)
{
    kc_key key = kc_object_key(object);
    if (opts->name)
        key.name = kc_cstr(opts->name);
    if (kc__client_locate(client, kind, key, ret, err) < 0)
        return kc_error_result(err);
    ret->subresource = opts->subresource;
    return 0;
}

/* A new object has no URL yet; it is posted to its collection. */
static int locate_new(const kc_client *client, const kc_object *object, const kc_kind *kind,
                      kc__client_location *ret, kc_error *err)
{
    kc_str ns = kc_object_namespace(object);
    if (kind->namespaced && !ns.n)
        ns = kc_cstr(client->bind.ns);
    if (kind->namespaced && !ns.n)
        return kc_error_set(err, KC_BAD_REQUEST,
                            "%s \"%.*s\": an empty namespace may not be set during creation",
                            kind->kind, KC_ARG(kc_object_name(object)));
    *ret = (kc__client_location){.kind = kind, .ns = ns};
    return 0;
}

static kc_object *client_write_object(kc_client *client, const char *method,
                                      const kc_object *object, const kc_write_opts *opts,
                                      kc_error *err)
{
    opts = opts ? opts : &defaults;
    const kc_kind *kind = kc__client_kind_of_object(client, object, opts->kind, err);
    if (!kind)
        return NULL;
    const bool creates = !strcmp(method, "POST") && !opts->subresource;
    kc__client_location place;
    const int r = creates ? locate_new(client, object, kind, &place, err)
                          : client_write_locate(client, object, kind, opts, &place, err);
    kc_auto(kc_object) *body = r < 0 ? NULL : body_of(object, kind, opts, err);
    if (!body)
        return NULL;
    kc_scoped(kc__client_request) request = {
        .method = method, .type = JSON, .body = kc_object_json(body)};
    return client_write_at(client, &request, &place, opts, err);
}

kc_object *kc_client_create(kc_client *client, const kc_object *object, const kc_write_opts *opts,
                            kc_error *err)
{
    return client_write_object(client, "POST", object, opts, err);
}

kc_object *kc_client_update(kc_client *client, const kc_object *object, const kc_write_opts *opts,
                            kc_error *err)
{
    return client_write_object(client, "PUT", object, opts, err);
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
    kc__client_location place;
    opts = opts ? opts : &defaults;
    if (kc__client_locate(client, kind, key, &place, err) < 0)
        return NULL;
    place.subresource = opts->subresource;
    kc_scoped(kc__client_request) request = {
        .method = "PATCH", .type = patch_types[type], .body = patch};
    return client_write_at(client, &request, &place, opts, err);
}

/* Returns the patch, or NULL with an error; *ret_empty if there is no difference. */
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
        kc_node *metadata = kc_node_ensure_object(patch, kc_edit_root(patch), KC_STR("metadata"));
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
    const kc_kind *kind = kc__client_kind_of_object(client, from, opts->kind, err);
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
    kc__client_location place;
    opts = opts ? opts : &defaults;
    const kc_kind *kind = kc__client_kind_of_object(client, object, opts->kind, err);
    if (!kind || client_write_locate(client, object, kind, opts, &place, err) < 0)
        return NULL;
    kc_auto(kc_object) *body = body_of(object, kind, opts, err);
    if (!body)
        return NULL;
    kc_scoped(kc__client_request) request = {
        .method = "PATCH", .type = patch_types[KC_PATCH_APPLY], .body = kc_object_json(body)};
    return client_write_at(client, &request, &place, opts, err);
}

kc_object *kc_client_apply_status(kc_client *client, const kc_object *object,
                                  const kc_write_opts *opts, kc_error *err)
{
    kc_write_opts status = opts ? *opts : defaults;
    status.subresource = "status";
    return kc_client_apply(client, object, &status, err);
}
