/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embed.c: an embedded API server: storage, the server on top of it, and a door for requests
 * without a socket (embed_transport.c).
 *
 * The server may also belong to the caller, who starts and stops it (wrap_server.h): then this file
 * provides only the door.
 *
 * Shutdown: the door closes, which cancels requests in flight and waits until the last one has
 * left, as kc__apiserver_api requires; then the server stops, including the connections to its
 * port.
 */
#include "embed/embed_internal.h"
#include "embed/wrap_server.h"

#include "apiserver/storage/memory/memory_backend.h"
#include "kc/sim.h"

/* Grace period for connections to the port. */
#define GRACE (2 * KC_SECOND)

struct kc_embedded_server {
    kc__embed_door *door;
    kc__authn *authn;
    kc__apiserver *server; /* NULL: the server belongs to the caller. */
    int port;
    kc_mutex mutex; /* Guards rand. A leaf lock. */
    kc_rand rand;   /* Seeds the generators of its clients. */
};

/* ---- storage ---- */

struct kc_embedded_memory {
    kc__storage_memory *memory;
};

kc_embedded_memory *kc_embedded_memory_new(void)
{
    kc_embedded_memory *memory = kc_new(kc_embedded_memory);
    memory->memory = kc__storage_memory_new();
    return memory;
}

kc_embedded_memory *kc_embedded_memory_free(kc_embedded_memory *memory)
{
    if (!memory)
        return NULL;
    kc__storage_memory_free(memory->memory);
    free(memory);
    return NULL;
}

static kc__storage *open_storage(const kc_embedded_server_opts *opts, kc_error *err)
{
    const kc__storage_backend *backend = kc__storage_backend_named(opts->dir ? "file" : "memory");
    const kc__storage_opts how = {.location = opts->dir,
                                  .memory = opts->memory ? opts->memory->memory : NULL,
                                  .clock = opts->clock,
                                  .log = opts->log,
                                  .metrics = opts->metrics};
    kc__storage *storage = NULL;
    return kc__storage_open(backend, &how, &storage, err) < 0 ? NULL : storage;
}

/* ---- starting ---- */

static int embed_start_server(kc_embedded_server *embed, const kc_embedded_server_opts *opts,
                              kc_error *err)
{
    const int threads = opts->threads || !kc_sim_current() ? opts->threads : 1;
    const kc__http_listener plain = {.address = "127.0.0.1", .port = KC_MAX(opts->port, 0)};
    embed->authn = kc__authn_new(
        &(kc__authn_opts){.allow_localhost = opts->port != 0, .refuse_pages = true}, err);
    kc__storage *storage = embed->authn ? open_storage(opts, err) : NULL;
    if (!storage)
        return kc_error_result(err);
    kc__admission_selection accounts = 0;
    kc__admission_selection_parse("ServiceAccount", &accounts, NULL);
    embed->server = kc__apiserver_start(&(kc__apiserver_opts){.storage = storage,
                                                              .disabled_plugins = accounts,
                                                              .listeners = &plain,
                                                              .n_listeners = opts->port != 0,
                                                              .loops = (size_t)threads,
                                                              .authn = embed->authn,
                                                              .log = opts->log,
                                                              .metrics = opts->metrics,
                                                              .clock = opts->clock,
                                                              .rand = opts->rand},
                                        err);
    return embed->server ? 0 : kc_error_result(err);
}

static kc_embedded_server *embed_new(const kc_clock *clock, kc_rand *rand)
{
    kc_embedded_server *embed = kc_new(kc_embedded_server);
    embed->door = kc__embed_door_new(clock ? clock : kc_clock_real());
    kc_mutex_init(&embed->mutex);
    if (rand)
        embed->rand = kc_rand_split(rand);
    else
        kc_rand_seed_os(&embed->rand);
    return embed;
}

static void open_door(kc_embedded_server *embed, kc__apiserver *server)
{
    kc_locked (&embed->door->mutex)
        embed->door->api = kc__apiserver_api(server);
}

kc_embedded_server *kc_embedded_server_start(const kc_embedded_server_opts *opts, kc_error *err)
{
    const kc_embedded_server_opts defaults = {0};
    opts = opts ? opts : &defaults;
    kc_auto(kc_embedded_server) *embed = embed_new(opts->clock, opts->rand);
    if (embed_start_server(embed, opts, err) < 0)
        return NULL;
    embed->port = opts->port ? kc__apiserver_port(embed->server, 0) : 0;
    open_door(embed, embed->server);
    return kc_take(embed);
}

kc_embedded_server *kc__embed_wrap_server(kc__apiserver *server, const kc_clock *clock)
{
    kc_embedded_server *embed = embed_new(clock, NULL);
    open_door(embed, server);
    return embed;
}

kc_embedded_server *kc_embedded_server_stop(kc_embedded_server *embed)
{
    if (!embed)
        return NULL;
    if (embed->server)
        kc__apiserver_drain(embed->server);
    kc__embed_door_close(embed->door);
    kc__apiserver_stop(embed->server, embed->port ? GRACE : 0);
    kc__authn_free(embed->authn);
    kc__embed_door_unref(embed->door);
    kc_mutex_done(&embed->mutex);
    free(embed);
    return NULL;
}

int kc_embedded_server_port(const kc_embedded_server *embed)
{
    return embed->port;
}

kc_transport *kc_embedded_server_transport(kc_embedded_server *embed,
                                           const kc_embedded_server_user *user)
{
    return kc__embed_transport_new(embed->door, user);
}

const kc_clock *kc_embedded_server_clock(const kc_embedded_server *embed)
{
    return embed->door->clock;
}

kc_rand kc__embed_rand(kc_embedded_server *embed)
{
    kc_rand rand;
    kc_locked (&embed->mutex)
        rand = kc_rand_split(&embed->rand);
    return rand;
}
