/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plane.h: a server, a way to it on which things can go wrong, a client, a cache over it, and a
 * client that reads from the cache: what tests of the cache work with. All in this process.
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
#include "kc/embed.h"
#include "kc/kinds.h"

typedef struct plane {
    kc_clock *clock; /* Virtual, or NULL. */
    kc_embed *server;
    faulty *way;
    kc_client *client;
    kc_cache *cache;
    kc_client *cached;
} plane;

/* opts may be NULL; client and clock in it are set here. */
plane *plane_new(const kc_cache_opts *opts);
plane *plane_started(const kc_cache_opts *opts);
/* The same in virtual time, which `eventually` lets pass. */
plane *plane_virtual(const kc_cache_opts *opts);
void plane_free(plane *p);

/* A ConfigMap; labels as in 'app':'web'. */
kc_object *config_map(const char *ns, const char *name, const char *labels, const char *value);
/* Its revision. Each fails the test when the server does. */
uint64_t create(kc_client *client, const char *ns, const char *name, const char *labels,
                const char *value);
uint64_t update(kc_client *client, const char *ns, const char *name, const char *value);
void erase(kc_client *client, const char *ns, const char *name);

/* What the cache has of ConfigMaps. */
bool has(plane *p, const char *ns, const char *name);
uint64_t revision_of(plane *p, const char *ns, const char *name); /* 0: it has none. */
size_t count(plane *p, const kc_list_opts *opts);

/* Lets a millisecond pass, and 100 of virtual time. */
void plane_wait(plane *p);

/* Waits until it holds; needs a `plane *p`. */
#define eventually(condition)                      \
    do {                                           \
        int tries_ = 0;                            \
        while (!(condition)) {                     \
            if (++tries_ > 20000)                  \
                fail_msg("never: %s", #condition); \
            plane_wait(p);                         \
        }                                          \
    } while (0)

#endif
