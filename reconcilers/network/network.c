/* SPDX-License-Identifier: Apache-2.0 */
/*
 * network.c: keeps a network in an external network service for every network object: creates it if
 * missing, updates it if it differs, deletes it after the object.
 *
 * Deletion is by key and without a finalizer: the queue still has the key of a deleted object. An
 * object that was deleted while no controller ran left no key; so after the caches have synced, and
 * periodically, an empty key is queued (after_sync): then all networks of our owner are listed from
 * the service, and those without an object are queued. Before a deletion the reconciler
 * reads the object from the server: the cache may be stale.
 *
 * A permanent refusal of the service (Invalid) waits for a change of the object; a Conflict is
 * retried. A resync every half minute queues every object anyway, which also repairs manual changes
 * in the service.
 *
 * The CRD may have a status subresource or not: the status is written if the server accepts it.
 */
#include "network/network.h"
#include "api/samplecrd_v1/zz_generated.h"
#include "network/client.h"

#include "kc/names.h"

#define ORPHAN_CLEANUP_INTERVAL (5 * KC_MINUTE)
#define CLEANUP_RETRY           (30 * KC_SECOND)

enum { SERVICE, OWNER, TOKEN_FILE };

typedef struct links {
    kc__network_client *service;
    kc_channel *channel;         /* Keys to queue. */
    _Atomic bool without_status; /* The CRD has no status subresource. */
} links;

static bool network_is_equal(const char *a, const char *b)
{
    return !strcmp(a ? a : "", b ? b : "");
}

/* ---- events and status ---- */

/* Whether its status is up to date. */
static bool is_reported(const network *n, const char *why_not)
{
    return n->status.observed_generation == n->metadata.generation && n->status.ready == !why_not &&
           network_is_equal(n->status.message, why_not);
}

/* Without a status subresource, a get tells an existing object from a deleted one. Neither is an
 * error. */
static int network_notify(kc_context *ctx, network *n, const char *why_not, kc_error *err)
{
    links *l = ctx->user;
    if (l->without_status || is_reported(n, why_not))
        return 0;
    n->status = (network_status){.ready = !why_not,
                                 .message = (char *)why_not,
                                 .observed_generation = n->metadata.generation};
    const kc_key key = kc_object_key(n->metadata.origin);
    if (network_update_status(ctx->client, n, err) == 0)
        return 0;
    if (kc_ignore_not_found(err) < 0)
        return kc_error_result(err);
    kc_auto(kc_object) *still =
        kc_client_get(ctx->client, &network_kind, key, &(kc_get_opts){.live = true}, NULL);
    l->without_status = still;
    return 0;
}

/* For an object that is gone. */
static void record_deletion(kc_context *ctx, kc_key key)
{
    kc_auto(kc_edit) *edit = kc_edit_new();
    kc_edit_set_nested(edit, "apiVersion", kc_node_str(edit, KC_STR("samplecrd.k8s.io/v1")));
    kc_edit_set_nested(edit, "kind", kc_node_str(edit, KC_STR("Network")));
    kc_edit_set_nested(edit, "metadata.name", kc_node_str(edit, key.name));
    kc_edit_set_nested(edit, "metadata.namespace", kc_node_str(edit, key.ns));
    kc_auto(kc_object) *about = kc_edit_freeze(edit, NULL);
    kc_recorder_event(ctx->recorder, about, KC_EVENT_TYPE_NORMAL, "Deleted", "deleted the network");
}

/* ---- refusals of the service ---- */

static bool is_retry(const kc_request *req)
{
    for (size_t i = 0; req->item && i < req->item->n_causes; i++)
        if (req->item->causes[i].reason == KC_QUEUE_REASON_RETRY)
            return true;
    return false;
}

/*
 * Two objects that exchange their ranges would wait for each other forever. So if the object of the
 * overlapping network no longer requests that range, our network is deleted first: no object
 * requests it either.
 */
static void make_way(kc_context *ctx, kc_key key, const kc_error *why)
{
    links *l = ctx->user;
    kc_scoped(kc__network_record) there = {0};
    kc_key in_way;
    if (!why->causes.n || strcmp(why->causes.items[0].reason, "Overlap") != 0 ||
        kc_key_parse(kc_cstr(why->causes.items[0].message), &in_way, NULL) < 0)
        return;
    kc_auto(network) *other = network_get(ctx->client, in_way, NULL);
    if (!other || kc__network_get(l->service, in_way, ctx->cancel, &there, NULL) != 1)
        return;
    if (there.ours && !network_is_equal(other->spec.cidr, there.cidr))
        kc__network_remove(l->service, key, ctx->cancel, NULL);
}

/* `err` is the reason. An unreachable service is reported once, not on every retry. */
static kc_result refused(kc_context *ctx, const kc_request *req, network *n, kc_error *err)
{
    const kc_object *object = n->metadata.origin;
    if (err->code == 412)
        return kc_retry(err); /* The network has changed since it was read. */
    if (!kc__network_got_response(err)) {
        if (!is_retry(req))
            kc_recorder_event(ctx->recorder, object, KC_EVENT_TYPE_WARNING,
                              err->code == 401 ? "Unauthorized" : "Unreachable", "%s",
                              kc_error_text(err));
        return kc_retry(err);
    }
    const bool conflict = kc_is_conflict(err);
    if (!is_reported(n, kc_error_text(err)))
        kc_recorder_event(ctx->recorder, object, KC_EVENT_TYPE_WARNING,
                          conflict ? "Conflict" : "Invalid", "%s", kc_error_text(err));
    kc_scoped(kc_error) status_error = {0};
    if (network_notify(ctx, n, kc_error_text(err), &status_error) < 0) {
        kc_error_move(err, &status_error);
        return kc_retry(err);
    }
    if (conflict)
        make_way(ctx, req->key, err);
    return conflict ? kc_retry(err) : kc_terminal(err);
}

/* ---- one object ---- */

static bool is_as_wanted(const network *n, const kc__network_record *there)
{
    return there->ours && network_is_equal(n->spec.cidr, there->cidr) &&
           network_is_equal(n->spec.gateway, there->gateway);
}

static kc_result ensure(kc_context *ctx, const kc_request *req, network *n, kc_error *err)
{
    links *l = ctx->user;
    kc_scoped(kc__network_record) there = {0};
    const int found = kc__network_get(l->service, req->key, ctx->cancel, &there, err);
    if (found < 0)
        return refused(ctx, req, n, err);
    if (!found || !is_as_wanted(n, &there)) {
        if (kc__network_put(l->service, req->key, n->spec.cidr, n->spec.gateway,
                            found ? &there : NULL, ctx->cancel, err) < 0)
            return refused(ctx, req, n, err);
        kc_recorder_event(ctx->recorder, n->metadata.origin, KC_EVENT_TYPE_NORMAL,
                          found ? "Updated" : "Created", "%s the network: %s",
                          found ? "changed" : "made", n->spec.cidr);
    }
    return network_notify(ctx, n, NULL, err) < 0 ? kc_retry(err) : kc_done();
}

/* The cache has no object with this key. */
static kc_result take_away(kc_context *ctx, kc_key key, kc_error *err)
{
    links *l = ctx->user;
    kc_auto(kc_object) *still =
        kc_client_get(ctx->client, &network_kind, key, &(kc_get_opts){.live = true}, err);
    if (still)
        return kc_done(); /* The watch will deliver it and queue the key. */
    if (kc_ignore_not_found(err) < 0)
        return kc_retry(err);
    const int removed = kc__network_remove(l->service, key, ctx->cancel, err);
    if (removed > 0)
        record_deletion(ctx, key);
    return removed < 0 ? kc_retry(err) : kc_done();
}

/* A CRD without a schema accepts everything: "cidr: 12" is not a string. */
static kc_result refuse_type(kc_context *ctx, kc_key key, kc_error *err)
{
    kc_auto(kc_object) *object = kc_client_get(ctx->client, &network_kind, key, NULL, NULL);
    if (!object)
        return kc_retry(err);
    kc_recorder_event(ctx->recorder, object, KC_EVENT_TYPE_WARNING, "Invalid", "%s",
                      kc_error_text(err));
    return kc_terminal(err);
}

/* ---- orphan cleanup ---- */

static int network_inspect(kc_key key, void *user, kc_error *err)
{
    kc_context *ctx = user;
    links *l = ctx->user;
    kc_auto(kc_object) *claims = kc_client_get(ctx->client, &network_kind, key, NULL, NULL);
    return claims ? 0 : kc_channel_send(l->channel, key, err);
}

/* An unreachable service is not an error while no object needs it. */
static kc_result clean_up_orphans(kc_context *ctx)
{
    links *l = ctx->user;
    kc_scoped(kc_error) err = {0};
    l->without_status = false; /* The CRD may have changed. */
    if (kc__network_each(l->service, ctx->cancel, network_inspect, ctx, &err) == 0)
        return kc_requeue_after(ORPHAN_CLEANUP_INTERVAL);
    kc_log_verbose(ctx->log, 1, "failed to list networks for orphan cleanup", kc_kv("err", &err));
    return kc_requeue_after(CLEANUP_RETRY);
}

static kc_result network_reconcile(kc_context *ctx, const kc_request *req, kc_error *err)
{
    if (!req->key.name.n)
        return clean_up_orphans(ctx);
    kc_auto(network) *n = network_get(ctx->client, req->key, err);
    if (n)
        return ensure(ctx, req, n, err);
    if (kc_ignore_not_found(err) < 0)
        return refuse_type(ctx, req->key, err);
    return take_away(ctx, req->key, err);
}

/* ---- setup ---- */

static void links_free(void *state)
{
    links *l = state;
    kc__network_client_free(l->service);
    free(l);
}

int kc__network_set_up(const kc_reconciler_setup *setup, kc_transport *transport, void **ret_user,
                       kc_error *err)
{
    const char *owner = setup->settings[OWNER];
    if (!kc_name_valid(KC_NAME_DNS_SUBDOMAIN, kc_cstr(owner))) {
        kc_transport_free(transport);
        return kc_error_set(err, KC_INVALID, "owner: \"%s\" is not a valid name; example: site-7",
                            owner);
    }
    links *l = kc_new(links);
    l->channel = setup->channel;
    l->service = kc__network_client_new(&(kc__network_client_opts){
        .transport = transport, .owner = owner, .clock = kc_manager_clock(setup->manager)});
    kc_manager_defer(setup->manager, l, links_free);
    *ret_user = l;
    return 0;
}

static int network_setup(const kc_reconciler_setup *setup, void **ret_user, kc_error *err)
{
    const char *token_file = setup->settings[TOKEN_FILE];
    kc_auto(kc_config) *server = kc_config_for_url(setup->settings[SERVICE]);
    kc_config config = *server;
    config.token_file = *token_file ? token_file : NULL;
    kc_transport *transport = kc_transport_http_new(
        &config, &(kc_transport_http_opts){.clock = kc_manager_clock(setup->manager)}, err);
    return transport ? kc__network_set_up(setup, transport, ret_user, err)
                     : kc_error_wrap(err, "service");
}

static int after_sync(kc_manager *manager, void *user, kc_error *err)
{
    (void)manager;
    return kc_channel_send(((links *)user)->channel, (kc_key){0}, err);
}

KC_RECONCILER(network) = {
    .description = "syncs network objects to a network service",
    .kind = &network_kind,
    .reconcile = network_reconcile,
    .workers = 2,
    .resync = 30 * KC_SECOND,
    .settings = KC_SETTINGS({"service", "http://127.0.0.1:6090", "address of the network service"},
                            {"owner", "kubecontroller",
                             "owner name of the networks; must be unique among clusters that "
                             "share a service"},
                            {"token-file", "",
                             "file with the bearer token of the service; \"\" sends none"}),
    .setup = network_setup,
    .after_sync = after_sync,
};
