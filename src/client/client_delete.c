/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client_delete.c: deleting one object, or all that a selector names.
 *
 * What a server answers says whether the object is gone: a Status, or its last state; or, where
 * finalizers or a grace period keep it, its present state, which is then a change like any other.
 */
#include "client/client_internal.h"
#include "client/list_cutter.h"
#include "kc/edit.h"

enum { CHUNK = 64 << 10 };

static const kc_delete_opts defaults;

/* ---- the request ---- */

static void set_text(kc_edit *edit, kc_node *node, kc_str name, const char *text)
{
    if (text && *text)
        kc_node_set(edit, node, name, kc_node_str(edit, kc_cstr(text)));
}

/* A DeleteOptions. */
static void write_body(kc_buf *out, const kc_delete_opts *opts, bool dry)
{
    kc_auto(kc_edit) *edit = kc_edit_new();
    kc_node *root = kc_edit_root(edit);
    set_text(edit, root, KC_STR("kind"), "DeleteOptions");
    set_text(edit, root, KC_STR("apiVersion"), "v1");
    set_text(edit, root, KC_STR("propagationPolicy"), opts->propagation);
    if (opts->now || opts->grace)
        kc_node_set(edit, root, KC_STR("gracePeriodSeconds"),
                    kc_node_i64(edit, opts->now ? 0 : opts->grace));
    if (opts->uid || opts->resource_version) {
        kc_node *only = kc_node_need_object(edit, root, KC_STR("preconditions"));
        set_text(edit, only, KC_STR("uid"), opts->uid);
        set_text(edit, only, KC_STR("resourceVersion"), opts->resource_version);
    }
    if (dry) {
        kc_node *all = kc_node_array(edit);
        kc_node_append(all, kc_node_str(edit, KC_STR("All")));
        kc_node_set(edit, root, KC_STR("dryRun"), all);
    }
    kc_node_write(out, root);
}

/* ---- the answer ---- */

/* Finalizers, or a grace period, keep it for a while. */
static bool is_kept(const kc_object *object)
{
    if (!kc_object_being_deleted(object))
        return false;
    if (kc_object_finalizers_json(object).n > 2)
        return true;
    kc_auto(kc_view) *view = kc_view_of(object);
    const kc_value *metadata = kc_get(kc_view_root(view), "metadata");
    return kc_as_i64_or(kc_get(metadata, "deletionGracePeriodSeconds"), 0) > 0;
}

/* The key, and the uid that a Status tells. */
static kc_object *last_known(const kc__place *place, const kc_object *status)
{
    kc_auto(kc_view) *view = kc_view_of(status);
    const kc_str uid = kc_as_str(kc_get(kc_get(kc_view_root(view), "details"), "uid"));
    kc_scoped(kc_buf) text = {0};
    kc__kind_prefix(&text, place->kind);
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

static void tell(kc_client *client, const kc__place *place, const kc_object *answer)
{
    if (!client->bind.reader)
        return;
    if (kc_gvk_eq(kc_object_gvk(answer), kc_kind_gvk(place->kind))) {
        kc__tell_reader(client, place->kind, answer, !is_kept(answer));
        return;
    }
    kc_auto(kc_object) *last = last_known(place, answer);
    if (last)
        kc__tell_reader(client, place->kind, last, true);
}

int kc_client_delete(kc_client *client, const kc_kind *kind, kc_key key, const kc_delete_opts *opts,
                     kc_error *err)
{
    kc__place place;
    opts = opts ? opts : &defaults;
    const bool dry = kc__is_dry(client, opts->dry_run);
    const int r = kc__locate(client, kind, key, &place, err);
    if (r < 0)
        return r;
    kc_scoped(kc_buf) body = {0};
    write_body(&body, opts, dry);
    kc_scoped(kc__ask) ask = {.method = "DELETE",
                              .type = KC_STR("application/json"),
                              .body = kc_buf_str(&body),
                              .writes = true,
                              .fenced = !opts->unfenced && !dry};
    kc__ask_for(&ask, &place);
    kc_scoped(kc_error) why = {0};
    kc_auto(kc_object) *answer = kc__send_for_object(client, &ask, NULL, &why);
    if (!answer)
        return kc_error_move(err, &why);
    if (!dry)
        tell(client, &place, answer);
    return 0;
}

/* ---- all of them ---- */

typedef struct deleted {
    kc_client *client;
    const kc_kind *kind;
    const kc_delete_opts *opts;
    bool dry;
} deleted;

/* A server lists what it was about to delete as it was before. Nothing may keep it: a finalizer,
 * its own or of this way to delete, nor the grace that Pods have. */
static bool is_surely_gone(const deleted *d, const kc_object *object)
{
    const char *way = d->opts->propagation;
    const bool waits = way && strcmp(way, "Background") != 0;
    return !waits && kc_object_finalizers_json(object).n <= 2 && strcmp(d->kind->kind, "Pod") != 0;
}

static int tell_each(kc_object *object, void *user, kc_error *err)
{
    const deleted *d = user;
    (void)err;
    if (!d->dry && is_surely_gone(d, object))
        kc__tell_reader(d->client, d->kind, object, true);
    kc_object_unref(object);
    return 0;
}

/* The answer is the list of what was deleted; of some servers only a Status. */
static int read_deleted(deleted *d, kc_http_response *response, kc_error *err)
{
    kc_scoped(kc__cutter) cutter = {.kind = d->kind, .each = tell_each, .user = d};
    char chunk[CHUNK];
    ssize_t n;
    while ((n = kc_http_read(response, chunk, sizeof(chunk), err)) > 0) {
        const int r = kc__cutter_feed(&cutter, kc_str_of(chunk, (size_t)n), err);
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
    deleted d = {client, kind, opts, kc__is_dry(client, opts->dry_run)};
    kc_scoped(kc_buf) body = {0};
    write_body(&body, opts, d.dry);
    kc_scoped(kc__ask) ask = {.method = "DELETE",
                              .type = KC_STR("application/json"),
                              .body = kc_buf_str(&body),
                              .writes = true,
                              .fenced = !opts->unfenced && !d.dry};
    kc__ask_for(&ask,
                &(kc__place){.kind = kind, .ns = kc__list_namespace(client, kind, which->ns)});
    kc__ask_param(&ask, "labelSelector", which->labels);
    kc__ask_param(&ask, "fieldSelector", which->fields);
    kc_scoped(kc_error) why = {0};
    kc_auto(kc_http_response) *response = kc__send(client, &ask, &why);
    if (!response || read_deleted(&d, response, &why) < 0)
        return kc_error_move(err, &why);
    return 0;
}
