/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client_ca.c: see client_ca.h.
 *
 * Extension servers accept clients with certificates of the CAs in the ConfigMap. A client that may
 * write ConfigMaps could add its own CA there, or delete the object so that such a server does not
 * start. So every second, if any ConfigMap has changed (one load of a counter), the server compares
 * the object with its expected contents, and restores it.
 *
 * The server owns only the members that it publishes; others are not changed. Servers that share a
 * storage publish the union of what they trust, as kube-apiserver does: a server cannot tell the CA
 * of another server from that of a client (trust_merge.c).
 *
 * Everything runs on the first context's loop, with one write at a time; after a failed write or a
 * conflict, the comparison runs again a second later.
 */
#include "apiserver/background/client_ca.h"

#include "kc/arena.h"

#define COMPARE_EVERY KC_SECOND

struct kc__client_ca {
    kc__rest_api *api;
    kc_arena arena; /* Holds the values of `trust`. */
    kc__bootstrap_trust trust;
    bool replaced; /* The next write is no restoration. */
    kc__loop_timer timer;
    kc__watch_cache *cache; /* Of ConfigMaps. */
    uint64_t compared;      /* The cache's change counter before the last comparison. */
    bool due; /* Compare without a change, too: at the start, with new values, after a write. A flag
               * of its own: after a restart the counter is 0 until a ConfigMap changes. */
    kc_counter *comparisons, *restorations;
    bool writing;
    kc__store_write write;
    kc_object *object; /* Of the write. */
};

static void start_timer(kc__client_ca *client_ca)
{
    kc__loop_timer_start(&client_ca->timer,
                         kc_clock_deadline(client_ca->api->clock, COMPARE_EVERY));
}

/* ---- writing ---- */

static void written(kc__store_write *write)
{
    kc__client_ca *client_ca = kc_container_of(write, kc__client_ca, write);
    if (write->outcome == KC__STORAGE_STORED && !client_ca->replaced) {
        kc_counter_inc(client_ca->restorations);
        kc_log_warn(client_ca->api->log,
                    "restored the ConfigMap of client CAs after a change by a client",
                    kc_kv("name", KC__BOOTSTRAP_CLIENT_CA_KEY));
    }
    client_ca->replaced = client_ca->replaced && write->outcome != KC__STORAGE_STORED;
    client_ca->due = true;
    client_ca->writing = false;
    kc_object_unref(write->result);
    kc_error_done(&write->error);
    client_ca->object = kc_object_unref(client_ca->object);
}

static void restore(kc__client_ca *client_ca, kc_object *object,
                    const kc__bootstrap_client_ca_target *place)
{
    client_ca->writing = true;
    client_ca->object = object;
    client_ca->write = (kc__store_write){.cache = place->cache,
                                         .verb = KC__STORAGE_PUT,
                                         .key = KC_STR(KC__BOOTSTRAP_CLIENT_CA_KEY),
                                         .expected = place->expected,
                                         .object = object,
                                         .loop = client_ca->timer.loop,
                                         .done = written};
    kc__store_submit(client_ca->api->store, &client_ca->write);
}

/* ---- comparing ---- */

static void compare_client_ca(kc__client_ca *client_ca)
{
    kc__bootstrap_client_ca_target place;
    const uint64_t changed = client_ca->cache ? kc__watch_cache_changed_at(client_ca->cache) : 0;
    if (client_ca->writing || (!client_ca->due && changed == client_ca->compared))
        return;
    client_ca->due = false;
    client_ca->compared = changed;
    kc_counter_inc(client_ca->comparisons);
    kc_object *object = kc__bootstrap_client_ca_object(client_ca->api, &client_ca->trust, &place);
    client_ca->cache = place.cache;
    if (object)
        restore(client_ca, object, &place);
}

static void client_ca_due(kc__loop_timer *timer)
{
    kc__client_ca *client_ca = kc_container_of(timer, kc__client_ca, timer);
    compare_client_ca(client_ca);
    start_timer(client_ca);
}

/* ---- start and stop ---- */

static void set_trust(kc__client_ca *client_ca, const kc__bootstrap_trust *trust)
{
    kc_arena_done(&client_ca->arena);
    client_ca->arena = (kc_arena){0};
    client_ca->trust = *trust;
    for (size_t i = 0; i < trust->n; i++)
        client_ca->trust.members[i].value =
            kc_arena_str(&client_ca->arena, trust->members[i].value);
}

/* For replace_trust. */
typedef struct trust_replacement {
    kc__client_ca *client_ca;
    const kc__bootstrap_trust *trust;
} trust_replacement;

static void replace_trust(void *user)
{
    const trust_replacement *r = user;
    set_trust(r->client_ca, r->trust);
    r->client_ca->due = true;
    r->client_ca->replaced = true;
}

static void begin_client_ca(void *user)
{
    start_timer(user);
}

static void end_client_ca(void *user)
{
    kc__client_ca *client_ca = user;
    kc__loop_timer_stop(&client_ca->timer);
}

static kc_counter *count_client_ca(kc__rest_api *api, const char *name, const char *help)
{
    return kc_metric_counter(
        kc_metrics_counter(api->metrics, &(kc_metric_opts){.name = name, .help = help}, NULL));
}

kc__client_ca *kc__client_ca_start(kc__rest_api *api, const kc__bootstrap_trust *trust)
{
    kc__client_ca *client_ca = kc_new(kc__client_ca);
    client_ca->api = api;
    client_ca->comparisons =
        count_client_ca(api, "kc_client_ca_comparisons_total",
                        "Comparisons of the ConfigMap of client CAs with its expected contents.");
    client_ca->restorations =
        count_client_ca(api, "kc_client_ca_restorations_total",
                        "Writes that restored the ConfigMap of client CAs after a client changed "
                        "or deleted it.");
    client_ca->due = true;
    set_trust(client_ca, trust);
    client_ca->timer = (kc__loop_timer){.loop = api->contexts[0].loop, .fire = client_ca_due};
    kc__loop_call(client_ca->timer.loop, begin_client_ca, client_ca);
    return client_ca;
}

void kc__client_ca_replace(kc__client_ca *client_ca, const kc__bootstrap_trust *trust)
{
    if (client_ca)
        kc__loop_call(client_ca->timer.loop, replace_trust, &(trust_replacement){client_ca, trust});
}

void kc__client_ca_stop(kc__client_ca *client_ca)
{
    if (client_ca)
        kc__loop_call(client_ca->timer.loop, end_client_ca, client_ca);
}

kc__client_ca *kc__client_ca_free(kc__client_ca *client_ca)
{
    if (!client_ca)
        return NULL;
    kc_arena_done(&client_ca->arena);
    free(client_ca);
    return NULL;
}
