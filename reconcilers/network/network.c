/* SPDX-License-Identifier: Apache-2.0 */
/*
 * network.c: for every network object a network at the network service, which is no part of the
 * cluster: made where it is missing, changed where it differs, deleted when the object is gone.
 *
 * Deleting is by key, without a finalizer: of an object that is gone the queue still has the key.
 * One that went while nobody was looking left no key; so once the caches are filled, and now and
 * then, an empty key comes by (after_sync): then the service is asked for what it has in our name,
 * and what no object claims gets its key into the queue like any other. Before anything is deleted,
 * the server is asked whether the object is really gone: the cache may be older than what an
 * earlier run has done.
 *
 * What the service refuses for good (Invalid) waits for the object to change; what others are in
 * the way of (Conflict) is tried again, and every object comes by again each half minute anyway,
 * which also puts right what somebody has done to the service by hand.
 *
 * The definition may have a status or not: it is written where the server takes it.
 */
#include "network/network.h"
#include "api/samplecrd_v1/zz_generated.h"
#include "network/client.h"

#include "kc/names.h"

#define LOOK_FOR_ORPHANS (5 * KC_MINUTE)
#define LOOK_AGAIN       (30 * KC_SECOND)

enum { SERVICE, OWNER };

typedef struct links {
    kc__network_client *service;
    kc_channel *channel;         /* Keys to look at. */
    _Atomic bool without_status; /* The definition has none. */
} links;

static bool same(const char *a, const char *b)
{
    return !strcmp(a ? a : "", b ? b : "");
}

/* ---- telling ---- */

/* Whether its status says so already. */
static bool is_told(const network *n, const char *why_not)
{
    return n->status.observed_generation == n->metadata.generation && n->status.ready == !why_not &&
           same(n->status.message, why_not);
}

/* Of an object whose status the server does not take, that it is there tells it from one that was
 * deleted meanwhile. Neither is an error. */
static int tell(kc_context *ctx, network *n, const char *why_not, kc_error *err)
{
    links *l = ctx->user;
    if (l->without_status || is_told(n, why_not))
        return 0;
    n->status = (network_status){.ready = !why_not,
                                 .message = (char *)why_not,
                                 .observed_generation = n->metadata.generation};
    const kc_key key = kc_object_key(n->metadata.origin);
    if (network_update_status(ctx->client, n, err) == 0)
        return 0;
    if (kc_ignore_not_found(err) < 0)
        return -1;
    kc_auto(kc_object) *still =
        kc_client_get(ctx->client, &network_kind, key, &(kc_get_opts){.live = true}, NULL);
    l->without_status = still;
    return 0;
}

/* Of an object that is gone. */
static void tell_deleted(kc_context *ctx, kc_key key)
{
    kc_auto(kc_edit) *edit = kc_edit_new();
    kc_edit_put(edit, "apiVersion", kc_node_str(edit, KC_STR("samplecrd.k8s.io/v1")));
    kc_edit_put(edit, "kind", kc_node_str(edit, KC_STR("Network")));
    kc_edit_put(edit, "metadata.name", kc_node_str(edit, key.name));
    kc_edit_put(edit, "metadata.namespace", kc_node_str(edit, key.ns));
    kc_auto(kc_object) *about = kc_edit_freeze(edit, NULL);
    kc_event(ctx->recorder, about, KC_NORMAL, "Deleted", "deleted the network");
}

/* ---- what the service refuses ---- */

static bool is_retry(const kc_request *req)
{
    for (size_t i = 0; req->item && i < req->item->n_causes; i++)
        if (req->item->causes[i].why == KC_WHY_RETRY)
            return true;
    return false;
}

/*
 * Two objects that exchange their ranges would wait for each other for ever. So if the one in our
 * way is to leave it, by what its object says, ours goes first: its object does not say it any more
 * either.
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
    if (there.ours && !same(other->spec.cidr, there.cidr))
        kc__network_remove(l->service, key, ctx->cancel, NULL);
}

/* `err` says why. Being unreachable is told once: when it is tried again, it has been said. */
static kc_result refused(kc_context *ctx, const kc_request *req, network *n, kc_error *err)
{
    const kc_object *object = n->metadata.origin;
    if (err->code == 412)
        return kc_retry(err); /* It has changed since we looked. */
    if (!kc__network_was_answered(err)) {
        if (!is_retry(req))
            kc_event(ctx->recorder, object, KC_WARNING, "Unreachable", "%s", kc_error_text(err));
        return kc_retry(err);
    }
    const bool conflict = kc_is_conflict(err);
    if (!is_told(n, kc_error_text(err)))
        kc_event(ctx->recorder, object, KC_WARNING, conflict ? "Conflict" : "Invalid", "%s",
                 kc_error_text(err));
    kc_scoped(kc_error) untold = {0};
    if (tell(ctx, n, kc_error_text(err), &untold) < 0) {
        kc_error_move(err, &untold);
        return kc_retry(err);
    }
    if (conflict)
        make_way(ctx, req->key, err);
    return conflict ? kc_retry(err) : kc_give_up(err);
}

/* ---- one object ---- */

static bool is_as_wanted(const network *n, const kc__network_record *there)
{
    return there->ours && same(n->spec.cidr, there->cidr) && same(n->spec.gateway, there->gateway);
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
        kc_event(ctx->recorder, n->metadata.origin, KC_NORMAL, found ? "Updated" : "Created",
                 "%s the network: %s", found ? "changed" : "made", n->spec.cidr);
    }
    return tell(ctx, n, NULL, err) < 0 ? kc_retry(err) : kc_done();
}

/* No object has this key, as far as the cache knows. */
static kc_result take_away(kc_context *ctx, kc_key key, kc_error *err)
{
    links *l = ctx->user;
    kc_auto(kc_object) *still =
        kc_client_get(ctx->client, &network_kind, key, &(kc_get_opts){.live = true}, err);
    if (still)
        return kc_done(); /* The cache will hear of it, and we of that. */
    if (kc_ignore_not_found(err) < 0)
        return kc_retry(err);
    const int removed = kc__network_remove(l->service, key, ctx->cancel, err);
    if (removed > 0)
        tell_deleted(ctx, key);
    return removed < 0 ? kc_retry(err) : kc_done();
}

/* A definition without a schema lets everything pass: "cidr: 12" is not text. */
static kc_result refuse_type(kc_context *ctx, kc_key key, kc_error *err)
{
    kc_auto(kc_object) *object = kc_client_get(ctx->client, &network_kind, key, NULL, NULL);
    if (!object)
        return kc_retry(err);
    kc_event(ctx->recorder, object, KC_WARNING, "Invalid", "%s", kc_error_text(err));
    return kc_give_up(err);
}

/* ---- all of them ---- */

static int look_at(kc_key key, void *user, kc_error *err)
{
    kc_context *ctx = user;
    links *l = ctx->user;
    kc_auto(kc_object) *claims = kc_client_get(ctx->client, &network_kind, key, NULL, NULL);
    return claims ? 0 : kc_channel_send(l->channel, key, err);
}

/* A service that cannot be reached is no error as long as no object needs it. */
static kc_result look_for_orphans(kc_context *ctx)
{
    links *l = ctx->user;
    kc_scoped(kc_error) err = {0};
    l->without_status = false; /* The definition may be another one now. */
    if (kc__network_each(l->service, ctx->cancel, look_at, ctx, &err) == 0)
        return kc_again_after(LOOK_FOR_ORPHANS);
    kc_log_verbose(ctx->log, 1, "cannot look for networks without objects", kc_kv("err", &err));
    return kc_again_after(LOOK_AGAIN);
}

static kc_result reconcile(kc_context *ctx, const kc_request *req, kc_error *err)
{
    if (!req->key.name.n)
        return look_for_orphans(ctx);
    kc_auto(network) *n = network_get(ctx->client, req->key, err);
    if (n)
        return ensure(ctx, req, n, err);
    if (kc_ignore_not_found(err) < 0)
        return refuse_type(ctx, req->key, err);
    return take_away(ctx, req->key, err);
}

/* ---- the definition ---- */

static void links_free(void *state)
{
    links *l = state;
    kc__network_client_free(l->service);
    free(l);
}

int kc__network_set_up(const kc_setup *setup, kc_transport *transport, void **ret_user,
                       kc_error *err)
{
    const char *owner = setup->settings[OWNER];
    if (!kc_name_valid(KC_NAME_DNS_SUBDOMAIN, kc_cstr(owner))) {
        kc_transport_free(transport);
        return kc_error_set(err, KC_INVALID, "owner: \"%s\" is not a name, such as site-7", owner);
    }
    links *l = kc_new(links);
    l->channel = setup->channel;
    l->service = kc__network_client_new(&(kc__network_client_opts){
        .transport = transport, .owner = owner, .clock = kc_manager_clock(setup->manager)});
    kc_manager_keep(setup->manager, l, links_free);
    *ret_user = l;
    return 0;
}

static int set_up(const kc_setup *setup, void **ret_user, kc_error *err)
{
    kc_auto(kc_config) *config = kc_config_for_url(setup->settings[SERVICE]);
    kc_transport *transport = kc_transport_http_new(
        config, &(kc_transport_http_opts){.clock = kc_manager_clock(setup->manager)}, err);
    return transport ? kc__network_set_up(setup, transport, ret_user, err)
                     : kc_error_wrap(err, "service");
}

static int after_sync(kc_manager *manager, void *user, kc_error *err)
{
    (void)manager;
    return kc_channel_send(((links *)user)->channel, (kc_key){0}, err);
}

KC_RECONCILER(network) = {
    .description = "keeps a network service in step with network objects",
    .kind = &network_kind,
    .reconcile = reconcile,
    .workers = 2,
    .resync = 30 * KC_SECOND,
    .settings = KC_SETTINGS({"service", "http://127.0.0.1:6090", "where the network service is"},
                            {"owner", "kubecontroller",
                             "in whose name networks are made; another one for each cluster that "
                             "shares a service"}),
    .setup = set_up,
    .after_sync = after_sync,
};
