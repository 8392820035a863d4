/* SPDX-License-Identifier: Apache-2.0 */
/* Caches in the server's process hold the server's objects, not copies. */
#include "plane.h"

#include <unistd.h>

/* A cache with a client of its own. */
typedef struct cached_client {
    kc_client *client;
    kc_cache *cache;
} cached_client;

static cached_client cached_client_new(kc_embedded_server *server)
{
    cached_client c = {.client = kc_embedded_server_client(server, NULL)};
    assert_non_null(c.client);
    c.cache = kc_cache_new(&(kc_cache_opts){.client = c.client});
    assert_int_equal(kc_cache_start(c.cache, NULL), 0);
    return c;
}

static void cached_client_done(cached_client *c)
{
    kc_cache_free(c->cache);
    kc_client_unref(c->client);
}

/* The object of this revision, once the cache has it. */
static kc_object *await_object(cached_client *c, const char *name, uint64_t revision)
{
    for (int i = 0; i < 5000; i++) {
        kc_object *object =
            kc_cache_get(c->cache, &kc_kind_config_map, KC_KEY("default", name), NULL);
        if (object && kc_object_revision(object) == revision)
            return object;
        kc_object_unref(object);
        usleep(2000);
    }
    fail_msg("%s was not delivered", name);
    return NULL;
}

static void assert_same_object(cached_client *a, cached_client *b, const char *name,
                               uint64_t revision)
{
    kc_auto(kc_object) *one = await_object(a, name, revision);
    kc_auto(kc_object) *other = await_object(b, name, revision);
    assert_ptr_equal(one, other);
}

static void caches_in_one_process_share_the_objects_of_the_server(void **state)
{
    (void)state;
    kc_embedded_server *server =
        kc_embedded_server_start(&(kc_embedded_server_opts){.threads = 2}, NULL);
    kc_client *writer = kc_embedded_server_client(server, NULL);
    const uint64_t first = create(writer, "default", "listed", "'l':'x'", "1");
    cached_client a = cached_client_new(server), b = cached_client_new(server);
    assert_same_object(&a, &b, "listed", first);
    assert_same_object(&a, &b, "watched", create(writer, "default", "watched", "'l':'x'", "1"));
    assert_same_object(&a, &b, "listed", update(writer, "default", "listed", "2"));
    cached_client_done(&a);
    cached_client_done(&b);
    kc_client_unref(writer);
    kc_embedded_server_stop(server);
}

TESTS(caches_in_one_process_share_the_objects_of_the_server)
