/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manager.h: what a program of controllers is made of: one client, one cache, leader election,
 * health, metrics, webhooks, and the order in which all of it starts and stops.
 *
 *     int main(void)
 *     {
 *         kc_scoped(kc_error) err = {0};
 *         kc_auto(kc_manager) *manager = kc_manager_new(NULL, &err);
 *         if (!kc_controller_new(manager, &robot_controller, &err) ||
 *             kc_manager_run(manager, &err) < 0)
 *             return kc_manager_exit(&err);              one line on standard error, and 1
 *         return 0;
 *     }
 *
 * Start: servers (health, metrics), webhooks, caches (until synced), others, then, once elected,
 * what needs to lead: controllers. Stop: the reverse, together within `grace`. SIGINT and SIGTERM
 * stop it, a second one exits with 1.
 */
#ifndef KC_MANAGER_H
#define KC_MANAGER_H

#include "kc/cache.h"
#include "kc/election.h"
#include "kc/recorder.h"

typedef struct kc_manager kc_manager;

typedef struct kc_manager_opts {
    const char *name;  /* Of the program: logs, events, field manager. Defaults to the binary's. */
    kc_client *client; /* Defaults to a new one with `config`. */
    const kc_config *config;   /* Defaults to kc_config_load(NULL). */
    kc_cache_opts cache;       /* Client, clock, rand, log and metrics are the manager's. */
    kc_election_opts election; /* With a name: only the leader runs controllers. */
    bool outlive_leadership;   /* Having lost it, stop what leads and stand for it again, instead of
                                * ending. Writes are fenced either way. */
    const char *metrics_address; /* "127.0.0.1:18001". Defaults to none. */
    const char *health_address;  /* For /healthz, /readyz, /debug/queue. Defaults to none. */
    int64_t grace;               /* For stopping. Defaults to 30 s; -1: for ever. */
    bool leave_signals;          /* SIGINT and SIGTERM are the caller's. */
    kc_log *log;                 /* Defaults to standard error, info. */
    kc_metrics *metrics;         /* Defaults to a registry of its own. */
    const kc_clock *clock;       /* Defaults to the real one. */
    kc_rand *rand;               /* Split from. Defaults to the system's. */
} kc_manager_opts;

/* `opts` may be NULL. NULL on error. */
kc_manager *kc_manager_new(const kc_manager_opts *opts, kc_error *err);
/* Stops it if it runs. NULL is allowed; returns NULL. */
kc_manager *kc_manager_free(kc_manager *manager);
KC_AUTO_DEFINE(kc_manager, kc_manager_free)

/* Runs until a signal, kc_manager_stop, or a failure; 0 when it was asked to stop and all stopped
 * in time. Blocks. */
int kc_manager_run(kc_manager *manager, kc_error *err);
/* Starts it on threads of its own and returns when caches are synced and others run; then
 * kc_manager_wait blocks as kc_manager_run does. For programs that have a main loop, and tests. */
int kc_manager_start(kc_manager *manager, kc_error *err);
int kc_manager_wait(kc_manager *manager, kc_error *err);
/* Any thread; does not block. Not from a signal's handler: the manager has one itself. */
void kc_manager_stop(kc_manager *manager);
/* Prints the error to standard error; returns 1. */
int kc_manager_exit(const kc_error *err);

/* Something else that runs with it. */
typedef enum kc_run_group {
    KC_GROUP_OTHERS, /* After the caches, whether or not we lead. */
    KC_GROUP_SERVERS,
    KC_GROUP_WEBHOOKS,
    KC_GROUP_CACHES,
    KC_GROUP_WARM_UP,
    KC_GROUP_LEADER, /* While we lead. */
} kc_run_group;

typedef struct kc_runnable {
    const char *name;
    kc_run_group group;
    /* On a thread of its own until `stop` fires; returning early without an error is fine, with one
     * it stops the manager. */
    int (*run)(kc_cancel *stop, void *user, kc_error *err);
    /* For groups others wait for (servers, webhooks, caches, warm-up): true once it is ready.
     * Defaults to at once. */
    bool (*ready)(void *user);
    void *user;
} kc_runnable;
/* Before or while it runs. Copied. */
int kc_manager_add(kc_manager *manager, const kc_runnable *runnable, kc_error *err);

/* What its controllers share and nobody else frees: `free_it` is called when the manager is freed,
 * after everything that runs has stopped, the last one given first. Its cache and clients are still
 * there then. */
void kc_manager_keep(kc_manager *manager, void *state, void (*free_it)(void *state));

/* Checks behind /healthz and /readyz: 0, or negative with why. Any thread, must be quick. */
typedef int kc_check_fn(void *user, kc_error *err);
int kc_manager_add_health(kc_manager *manager, const char *name, kc_check_fn *check, void *user,
                          kc_error *err);
int kc_manager_add_ready(kc_manager *manager, const char *name, kc_check_fn *check, void *user,
                         kc_error *err);
/* What /readyz would say: 0, or negative with the first check that fails. */
int kc_manager_check_ready(kc_manager *manager, kc_error *err);
/* A page of one's own on the health server; `write` appends the body. */
int kc_manager_add_page(kc_manager *manager, const char *path, const char *content_type,
                        void (*write)(kc_buf *out, void *user), void *user, kc_error *err);

/* Reads from the cache, writes to the server, fenced while there is an election. */
kc_client *kc_manager_client(kc_manager *manager);
/* Reads from the server too. */
kc_client *kc_manager_live_client(kc_manager *manager);
kc_cache *kc_manager_cache(kc_manager *manager);
kc_recorder *kc_manager_recorder(kc_manager *manager);
kc_log *kc_manager_log(kc_manager *manager);
kc_metrics *kc_manager_metrics(kc_manager *manager);
const kc_clock *kc_manager_clock(kc_manager *manager);
/* A generator of the caller's own, split from the manager's: before it runs, and then in the same
 * order, it gives the same in equal runs. */
kc_rand kc_manager_rand(kc_manager *manager);
/* True while we lead; always without an election. */
bool kc_manager_leads(const kc_manager *manager);
/* The port a server got, for addresses that end with :0. */
int kc_manager_health_port(const kc_manager *manager);
int kc_manager_metrics_port(const kc_manager *manager);

#endif
