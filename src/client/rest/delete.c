/* SPDX-License-Identifier: Apache-2.0 */
/*
 * delete.c: deletes one object, or all objects that match a selector.
 *
 * The response says whether the object is gone: it is a Status, or the object's last state. If
 * finalizers or a grace period keep the object, it is the current state, which is then a change
 * like any other.
 */
#include "client/rest/client_internal.h"
#include "client/stream/list_splitter.h"
#include "kc/edit.h"

enum { CHUNK = 64 << 10 };

static const kc_delete_opts defaults;

/* ---- the request ---- */

static void client_delete_set_text(kc_edit *edit, kc_node *node, kc_str name, const char *text)
{
    if (text && *text)
        kc_node_set(edit, node, name, kc_node_str(edit, kc_cstr(text)));
}

/* Writes a DeleteOptions. */
static void write_body(kc_buf *out, const kc_delete_opts *opts, bool dry)
{
    kc_auto(kc_edit) *edit = kc_edit_new();
    kc_node *root = kc_edit_root(edit);
    client_delete_set_text(edit, root, KC_STR("kind"), "DeleteOptions");
    client_delete_set_text(edit, root, KC_STR("apiVersion"), "v1");
    client_delete_set_text(edit, root, KC_STR("propagationPolicy"), opts->propagation);
    if (opts->immediately || opts->grace)
        kc_node_set(edit, root, KC_STR("gracePeriodSeconds"),
                    kc_node_i64(edit, opts->immediately ? 0 : opts->grace));
    if (opts->uid || opts->resource_version) {
        kc_node *only = kc_node_ensure_object(edit, root, KC_STR("preconditions"));
        client_delete_set_text(edit, only, KC_STR("uid"), opts->uid);
        client_delete_set_text(edit, only, KC_STR("resourceVersion"), opts->resource_version);
    }
    if (dry) {
        kc_node *all = kc_node_array(edit);
        kc_node_append(all, kc_node_str(edit, KC_STR("All")));
        kc_node_set(edit, root, KC_STR("dryRun"), all);
    }
    kc_node_write(out, root);
}

/* ---- the response ---- */

/* Returns whether finalizers or a grace period keep the object. */
static bool is_kept(const kc_object *object)
{
    if (!kc_object_being_deleted(object))
        return false;
    if (kc_object_finalizers_json(object).n > 2)
        return true;
    kc_auto(kc_view) *view = kc_view_of(object);
    const kc_value *metadata = kc_value_get(kc_view_root(view), "metadata");
    return kc_value_as_i64_or(kc_value_get(metadata, "deletionGracePeriodSeconds"), 0) > 0;
}

/* Returns an object with the key, and the uid from a Status. */
static kc_object *last_known(const kc__client_location *place, const kc_object *status)
{
    kc_auto(kc_view) *view = kc_view_of(status);
    const kc_str uid =
        kc_value_as_str(kc_value_get(kc_value_get(kc_view_root(view), "details"), "uid"));
    kc_scoped(kc_buf) text = {0};
    kc__stream_kind_prefix(&text, place->kind);
    kc_buf_puts(&text, ",\"metadata\":{\"name\":");
    kc_json_quote(&text, place->name);
    if (place->ns.n) {
        kc_buf_puts(&text, ",\"namespace\":");
        kc_json_quote(&text, place->ns);
    }
    if (uid.n) {
        kc_buf_puts(&text, ",\"uid\":");
        kc_json_quote(&text, uid);
    }
    kc_buf_puts(&text, "}}");
    return kc_object_parse(kc_buf_str(&text), NULL, NULL);
}

static void client_delete_notify(kc_client *client, const kc__client_location *place,
                                 const kc_object *response)
{
    if (!client->bind.reader)
        return;
    if (kc_gvk_eq(kc_object_gvk(response), kc_kind_gvk(place->kind))) {
        kc__client_notify_reader(client, place->kind, response, !is_kept(response));
        return;
    }
    if (kc_gvk_eq(kc_object_gvk(response), kc_kind_gvk(&kc__client_kind_partial_metadata)) &&
        is_kept(response))
        return; /* A cache has more of the object; its next event says the rest. */
    kc_auto(kc_object) *last = last_known(place, response);
    if (last)
        kc__client_notify_reader(client, place->kind, last, true);
}

int kc_client_delete(kc_client *client, const kc_kind *kind, kc_key key, const kc_delete_opts *opts,
                     kc_error *err)
{
    kc__client_location place;
    opts = opts ? opts : &defaults;
    const bool dry = kc__client_is_dry_run(client, opts->dry_run);
    const int r = kc__client_locate(client, kind, key, &place, err);
    if (r < 0)
        return r;
    kc_scoped(kc_buf) body = {0};
    write_body(&body, opts, dry);
    kc_scoped(kc__client_request) request = {.method = "DELETE",
                                             .type = KC_STR("application/json"),
                                             .accept =
                                                 kc__client_accept(opts->metadata_only, false),
                                             .body = kc_buf_str(&body),
                                             .writes = true,
                                             .fenced = !opts->unfenced && !dry};
    kc__client_request_set_target(&request, &place);
    kc_scoped(kc_error) why = {0};
    kc_auto(kc_object) *response = kc__client_send_for_object(client, &request, NULL, &why);
    if (!response)
        return kc_error_move(err, &why);
    if (!dry)
        client_delete_notify(client, &place, response);
    return 0;
}

/* ---- delete collection ---- */

typedef struct client_delete_deleted {
    kc_client *client;
    const kc_kind *kind;
    const kc_delete_opts *opts;
    bool dry;
} client_delete_deleted;

/* The server lists the deleted objects in their state before the deletion. An object is
 * certainly gone only if nothing keeps it: no finalizer, neither its own nor one of the
 * propagation policy, and no grace period as Pods have. */
static bool is_surely_gone(const client_delete_deleted *d, const kc_object *object)
{
    const char *way = d->opts->propagation;
    const bool waits = way && strcmp(way, "Background") != 0;
    return !waits && kc_object_finalizers_json(object).n <= 2 && strcmp(d->kind->kind, "Pod") != 0;
}

static int observe_deleted(kc_object *object, void *user, kc_error *err)
{
    const client_delete_deleted *d = user;
    (void)err;
    if (!d->dry && is_surely_gone(d, object))
        kc__client_notify_reader(d->client, d->kind, object, true);
    kc_object_unref(object);
    return 0;
}

/* The response is the list of deleted objects; some servers return only a Status. */
static int read_deleted(client_delete_deleted *d, kc_http_response *response, kc_error *err)
{
    kc_scoped(kc__stream_splitter) cutter = {.kind = d->kind, .each = observe_deleted, .user = d};
    char chunk[CHUNK];
    ssize_t n;
    while ((n = kc_http_response_read(response, chunk, sizeof(chunk), err)) > 0) {
        const int r = kc__stream_splitter_feed(&cutter, kc_str_of(chunk, (size_t)n), err);
        if (r < 0)
            return r;
    }
    return (int)n;
}

int kc_client_delete_all(kc_client *client, const kc_kind *kind, const kc_list_opts *which,
                         const kc_delete_opts *opts, kc_error *err)
{
    static const kc_list_opts everything;
    opts = opts ? opts : &defaults;
    which = which ? which : &everything;
    client_delete_deleted d = {client, kind, opts, kc__client_is_dry_run(client, opts->dry_run)};
    kc_scoped(kc_buf) body = {0};
    write_body(&body, opts, d.dry);
    kc_scoped(kc__client_request) request = {.method = "DELETE",
                                             .type = KC_STR("application/json"),
                                             .accept = kc__client_accept(opts->metadata_only, true),
                                             .body = kc_buf_str(&body),
                                             .writes = true,
                                             .fenced = !opts->unfenced && !d.dry};
    kc__client_request_set_target(
        &request, &(kc__client_location){.kind = kind,
                                         .ns = kc__client_list_namespace(client, kind, which->ns)});
    kc__client_request_param(&request, "labelSelector", which->labels);
    kc__client_request_param(&request, "fieldSelector", which->fields);
    kc_scoped(kc_error) why = {0};
    kc_auto(kc_http_response) *response = kc__client_send(client, &request, &why);
    if (!response || read_deleted(&d, response, &why) < 0)
        return kc_error_move(err, &why);
    return 0;
}
