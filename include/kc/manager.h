/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manager.h: the frame of a controller program: one client, one cache, leader election, health,
 * metrics, webhooks, and their order of start and stop.
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
 * Start order: servers (health, metrics), webhooks, caches (until synced), others, and then, once
 * elected, what needs the lease: controllers. Stop is the reverse, all together within `grace`.
 * SIGINT and SIGTERM stop the manager; a second one exits with 1.
 */
#ifndef KC_MANAGER_H
#define KC_MANAGER_H

#include "kc/cache.h"
#include "kc/crash_journal.h"
#include "kc/election.h"
#include "kc/recorder.h"

typedef struct kc_manager kc_manager;

typedef struct kc_manager_opts {
    /* Of the program: for logs, events, the field manager. Defaults to the binary's. */
    const char *name;
    kc_client *client;       /* Defaults to a new one with `config`. */
    const kc_config *config; /* Defaults to kc_config_load(NULL). */
    /* The user of all requests but those of the cache, which are the client's own: see
     * kc_http_request. Must outlive the manager. Defaults to the client's own. */
    const kc_client_user *act_as;
    kc_cache_opts cache;         /* Client, clock, rand, log and metrics are the manager's. */
    kc_election_opts election;   /* If it has a name, only the leader runs controllers. */
    bool restart_on_lost_lease;  /* After losing the lease, stop the controllers and re-enter the
                                  * election instead of ending. Writes are fenced either way. */
    const char *metrics_address; /* "127.0.0.1:18001". Defaults to none. */
    const char *health_address;  /* For /healthz, /readyz, /debug/queue. Defaults to none. */
    /* Pages other than /healthz and /readyz are only for loopback clients of root and of this
     * process's user, and for bearer tokens that the API server accepts (TokenReview,
     * SubjectAccessReview). With this option loopback clients need a token, too. */
    bool no_local_trust;
    int64_t grace;           /* For stopping. Defaults to 30 s; -1: no limit. */
    bool no_signal_handlers; /* The caller handles SIGINT and SIGTERM. */
    /* Keeps the quarantine of crashed keys across restarts. Borrowed; one manager at a time.
     * Defaults to none: in memory. */
    kc_crash_journal *crash_journal;
    kc_log *log;           /* Defaults to standard error, info. */
    kc_metrics *metrics;   /* Defaults to a new registry. */
    const kc_clock *clock; /* Defaults to the real one. */
    kc_rand *rand;         /* Parent generator; split. Defaults to the system's. */
} kc_manager_opts;

/* `opts` may be NULL. NULL on error. */
kc_manager *kc_manager_new(const kc_manager_opts *opts, kc_error *err);
/* Stops the manager if it runs. NULL is allowed; returns NULL. */
kc_manager *kc_manager_free(kc_manager *manager);
KC_AUTO_DEFINE(kc_manager, kc_manager_free)

/* Runs until a signal, kc_manager_stop, or a failure. Returns 0 after a requested stop if
 * everything stopped in time. Blocks. */
int kc_manager_run(kc_manager *manager, kc_error *err);
/* Starts the manager on its own threads and returns when the caches have synced and the other
 * runnables run; kc_manager_wait then blocks as kc_manager_run does. For programs with a main loop,
 * and for tests. */
int kc_manager_start(kc_manager *manager, kc_error *err);
int kc_manager_wait(kc_manager *manager, kc_error *err);
/* Any thread; does not block. Not for signal handlers: the manager has its own. */
void kc_manager_stop(kc_manager *manager);
/* Prints the error to standard error; returns 1. */
int kc_manager_exit(const kc_error *err);

/* Other work that the manager starts and stops. */
typedef enum kc_runnable_group {
    KC_RUNNABLE_OTHERS, /* After the caches, with or without the lease. */
    KC_RUNNABLE_SERVERS,
    KC_RUNNABLE_WEBHOOKS,
    KC_RUNNABLE_CACHES,
    KC_RUNNABLE_WARM_UP,
    KC_RUNNABLE_LEADER, /* While the lease is held. */
} kc_runnable_group;

enum { KC_RUN_PARKED = 1 };

typedef struct kc_runnable {
    const char *name;
    kc_runnable_group group;
    /* On a thread of its own until `stop` fires. It may return early: 0 when it is done, negative
     * with an error to stop the manager, KC_RUN_PARKED when it goes on without this thread. */
    int (*run)(kc_cancel *stop, void *user, kc_error *err);
    /* Ends what was parked, after `stop` has fired: blocks until all of it has ended. On any
     * thread. NULL: it is never parked. */
    void (*end)(void *user);
    /* For groups others wait for (servers, webhooks, caches, warm-up): true once it is ready.
     * Defaults to at once. */
    bool (*ready)(void *user);
    void *user;
} kc_runnable;
/* Adds a runnable, before or while the manager runs. Copies it. */
int kc_manager_add(kc_manager *manager, const kc_runnable *runnable, kc_error *err);

/* Registers state that the controllers share: kc_manager_free calls `free_it` after all runnables
 * have stopped, in reverse order of registration. The manager's cache and clients still exist then.
 */
void kc_manager_defer(kc_manager *manager, void *state, void (*free_it)(void *state));

/* Checks of /healthz and /readyz: 0, or negative with the reason. Any thread; must be fast. */
typedef int kc_health_check_fn(void *user, kc_error *err);
int kc_manager_add_healthz_check(kc_manager *manager, const char *name, kc_health_check_fn *check,
                                 void *user, kc_error *err);
int kc_manager_add_readyz_check(kc_manager *manager, const char *name, kc_health_check_fn *check,
                                void *user, kc_error *err);
/* The result of /readyz: 0, or negative with the first check that fails. */
int kc_manager_check_ready(kc_manager *manager, kc_error *err);
/* Adds a page to the debug server; `write` appends the body. */
int kc_manager_add_page(kc_manager *manager, const char *path, const char *content_type,
                        void (*write)(kc_buf *out, void *user), void *user, kc_error *err);

/* Reads from the cache, writes to the server; writes are fenced if there is an election. */
kc_client *kc_manager_client(kc_manager *manager);
/* Reads from the server, too. */
kc_client *kc_manager_live_client(kc_manager *manager);
kc_cache *kc_manager_cache(kc_manager *manager);
kc_recorder *kc_manager_recorder(kc_manager *manager);
kc_log *kc_manager_log(kc_manager *manager);
kc_metrics *kc_manager_metrics(kc_manager *manager);
const kc_clock *kc_manager_clock(kc_manager *manager);
/* A new generator, split from the manager's. Calls before the manager runs, in the same order,
 * yield the same generators in equal runs. */
kc_rand kc_manager_rand(kc_manager *manager);
/* True while the lease is held; always true without an election. */
bool kc_manager_is_leader(const kc_manager *manager);
/* The bound port, for addresses that end with :0. */
int kc_manager_health_port(const kc_manager *manager);
int kc_manager_metrics_port(const kc_manager *manager);

#endif
