/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plane.h: the fixture of cache tests, all in this process: a server, a transport that can inject
 * faults, a client, a cache, and a client that reads from the cache.
 *
 *     plane *p = plane_started(&(kc_cache_opts){.resync = KC_SECOND});
 *     create(p->client, "default", "one", "'app':'web'", "value");
 *     eventually(has(p, "default", "one"));
 *     plane_free(p);
 */
#ifndef KC_PLANE_H
#define KC_PLANE_H

#include "faulty.h"
#include "testing.h"

#include "kc/cache.h"
#include "kc/embedded_server.h"
#include "kc/kinds.h"

typedef struct plane {
    kc_clock *clock; /* Virtual, or NULL. */
    kc_embedded_server *server;
    faulty *faults;
    kc_client *client;
    kc_cache *cache;
    kc_client *cached;
} plane;

/* opts may be NULL; its client and clock are set here. */
plane *plane_new(const kc_cache_opts *opts);
plane *plane_started(const kc_cache_opts *opts);
/* Likewise in virtual time, which `eventually` advances. */
plane *plane_virtual(const kc_cache_opts *opts);
void plane_free(plane *p);

/* A ConfigMap; labels as in 'app':'web'. */
kc_object *config_map(const char *ns, const char *name, const char *labels, const char *value);
/* Returns the revision. Each function fails the test if the server returns an error. */
uint64_t create(kc_client *client, const char *ns, const char *name, const char *labels,
                const char *value);
uint64_t update(kc_client *client, const char *ns, const char *name, const char *value);
void erase(kc_client *client, const char *ns, const char *name);

/* The ConfigMaps in the cache. */
bool has(plane *p, const char *ns, const char *name);
uint64_t revision_of(plane *p, const char *ns, const char *name); /* 0: not in the cache. */
size_t count(plane *p, const kc_list_opts *opts);

/* Advances virtual time by 100 ms as soon as all threads wait, so that it does not matter how fast
 * they are. Without virtual time: waits a millisecond. */
void plane_wait(plane *p);

/* Waits until it holds, for a minute at least; needs a `plane *p`. */
#define eventually(condition)                                       \
    do {                                                            \
        int tries_ = 0;                                             \
        while (!(condition)) {                                      \
            if (++tries_ > 60000)                                   \
                fail_msg("not within the timeout: %s", #condition); \
            plane_wait(p);                                          \
        }                                                           \
    } while (0)

#endif
