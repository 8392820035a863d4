/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embed.c: an API server in this process: storage, the server over it, and a door for those who
 * come without a socket (embed_transport.c).
 *
 * The server may also be somebody else's, who starts and stops it (around.h): then there is only
 * the door.
 *
 * Going down: the door closes, which ends what is under way and waits for the last to be out, as
 * kc__apiserver_api demands; then the server stops, and with it those who came by its port.
 */
#include "embed/around.h"
#include "embed/embed_internal.h"

#include "apiserver/storage/storage_file.h"
#include "apiserver/storage/storage_memory.h"
#include "kc/sim.h"

/* How long those who came by the port may take to end. */
#define GRACE (2 * KC_SECOND)

struct kc_embed {
    kc__door *door;
    kc__authn *authn;
    kc_apiserver *server; /* NULL: it is somebody else's. */
    int port;
    kc_mutex mutex; /* Guards rand; taken last. */
    kc_rand rand;   /* Of its clients. */
};

/* ---- what it is kept in ---- */

struct kc_embed_memory {
    kc__memory *memory;
};

kc_embed_memory *kc_embed_memory_new(void)
{
    kc_embed_memory *memory = kc_new(kc_embed_memory);
    memory->memory = kc__memory_new();
    return memory;
}

kc_embed_memory *kc_embed_memory_free(kc_embed_memory *memory)
{
    if (!memory)
        return NULL;
    kc__memory_free(memory->memory);
    free(memory);
    return NULL;
}

static kc_storage *open_storage(const kc_embed_opts *opts, kc_error *err)
{
    const kc_storage_backend *backend = opts->folder ? &kc_storage_file : &kc_storage_memory;
    const kc_storage_opts how = {.location = opts->folder,
                                 .memory = opts->memory ? opts->memory->memory : NULL,
                                 .clock = opts->clock};
    kc_storage *storage = NULL;
    return kc_storage_open(backend, &how, &storage, err) < 0 ? NULL : storage;
}

/* ---- starting ---- */

static int start_server(kc_embed *embed, const kc_embed_opts *opts, kc_error *err)
{
    const int threads = opts->threads || !kc_sim_current() ? opts->threads : 1;
    const kc__listener plain = {.address = "127.0.0.1", .port = KC_MAX(opts->port, 0)};
    embed->authn =
        kc__authn_new(&(kc__authn_opts){.allow_localhost = true, .refuse_pages = true}, err);
    kc_storage *storage = embed->authn ? open_storage(opts, err) : NULL;
    if (!storage)
        return -1;
    embed->server = kc_apiserver_start(&(kc_apiserver_opts){.storage = storage,
                                                            .listeners = &plain,
                                                            .n_listeners = opts->port != 0,
                                                            .loops = (size_t)threads,
                                                            .authn = embed->authn,
                                                            .log = opts->log,
                                                            .metrics = opts->metrics,
                                                            .clock = opts->clock,
                                                            .rand = opts->rand},
                                       err);
    return embed->server ? 0 : -1;
}

static kc_embed *embed_new(const kc_clock *clock, kc_rand *rand)
{
    kc_embed *embed = kc_new(kc_embed);
    embed->door = kc__door_new(clock ? clock : kc_clock_real());
    kc_mutex_init(&embed->mutex);
    if (rand)
        embed->rand = kc_rand_split(rand);
    else
        kc_rand_seed_os(&embed->rand);
    return embed;
}

static void open_door(kc_embed *embed, kc_apiserver *server)
{
    kc_locked (&embed->door->mutex)
        embed->door->api = kc__apiserver_api(server);
}

kc_embed *kc_embed_start(const kc_embed_opts *opts, kc_error *err)
{
    const kc_embed_opts defaults = {0};
    opts = opts ? opts : &defaults;
    kc_auto(kc_embed) *embed = embed_new(opts->clock, opts->rand);
    if (start_server(embed, opts, err) < 0)
        return NULL;
    embed->port = opts->port ? kc_apiserver_port(embed->server, 0) : 0;
    open_door(embed, embed->server);
    return kc_take(embed);
}

kc_embed *kc__embed_around(kc_apiserver *server, const kc_clock *clock)
{
    kc_embed *embed = embed_new(clock, NULL);
    open_door(embed, server);
    return embed;
}

kc_embed *kc_embed_stop(kc_embed *embed)
{
    if (!embed)
        return NULL;
    if (embed->server)
        kc_apiserver_drain(embed->server);
    kc__door_close(embed->door);
    kc_apiserver_stop(embed->server, embed->port ? GRACE : 0);
    kc__authn_free(embed->authn);
    kc__door_unref(embed->door);
    kc_mutex_done(&embed->mutex);
    free(embed);
    return NULL;
}

int kc_embed_port(const kc_embed *embed)
{
    return embed->port;
}

kc_transport *kc_embed_transport(kc_embed *embed, const kc_embed_user *user)
{
    return kc__embed_transport_new(embed->door, user);
}

const kc_clock *kc_embed_clock(const kc_embed *embed)
{
    return embed->door->clock;
}

kc_rand kc__embed_rand(kc_embed *embed)
{
    kc_rand rand;
    kc_locked (&embed->mutex)
        rand = kc_rand_split(&embed->rand);
    return rand;
}
