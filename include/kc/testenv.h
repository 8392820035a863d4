/* SPDX-License-Identifier: Apache-2.0 */
/*
 * testenv.h: tests controllers against the real API server, in the test's process.
 *
 *     static void robot_creates_its_deployment(void **state)
 *     {
 *         kc_auto(kc_testenv) *env = kc_testenv_start(&(kc_testenv_opts){.seed = 7}, NULL);
 *         kc_controller_new(kc_testenv_manager(env), &robot_controller, NULL);
 *         kc_testenv_apply(env, KC_STR("{kind: Robot, …}"), NULL);
 *         kc_testenv_settle(env, NULL);                       until no work is left
 *         kc_auto(kc_object) *d = kc_client_get(kc_testenv_client(env), &kc_kind_deployment,
 *                                               KC_KEY("default", "one"), NULL, NULL);
 *         assert_non_null(d);
 *     }
 *
 * With a seed everything (server, caches, controllers, clock) is a simulation (sim.h): virtual
 * time, one thread at a time, byte for byte the same in every run. Without one it runs as in
 * production, in real time. It starts in milliseconds, so each test can have its own.
 *
 * Faults: a test declares which faults occur and how often. The environment injects them at the
 * transport, so that everything above is production code.
 */
#ifndef KC_TESTENV_H
#define KC_TESTENV_H

#include "kc/controller.h"
#include "kc/embedded_server.h"
#include "kc/manager.h"

typedef struct kc_testenv kc_testenv;

typedef struct kc_testenv_opts {
    uint64_t seed;            /* 0: real time and threads. */
    const char *dir;          /* The server's data directory. Defaults to memory. */
    bool temporary;           /* Use a temporary directory that is removed at the end. */
    int64_t start;            /* Virtual wall time. Defaults to 2026-01-02T03:04:05Z. */
    const char *const *apply; /* YAML files to apply at the start: CRDs. End with NULL. */
    kc_manager_opts manager;  /* Client, clock, rand and log are the environment's. */
    kc_metrics *metrics;      /* Of the server. Defaults to none. */
    kc_log *log;              /* Defaults to silence. */
} kc_testenv_opts;

/* Ready to use on return; the manager starts with the first settle, wait or kc_testenv_run. If err
 * is NULL and the start fails, prints the error and exits. */
kc_testenv *kc_testenv_start(const kc_testenv_opts *opts, kc_error *err);
/* Stops everything. NULL is allowed; returns NULL. */
kc_testenv *kc_testenv_stop(kc_testenv *env);
KC_AUTO_DEFINE(kc_testenv, kc_testenv_stop)

/* The test's own client: reads from the server, without faults. */
kc_client *kc_testenv_client(kc_testenv *env);
kc_manager *kc_testenv_manager(kc_testenv *env);
kc_embedded_server *kc_testenv_server(kc_testenv *env);
const kc_clock *kc_testenv_clock(kc_testenv *env);

/* Creates or updates the objects of a YAML text with one or more documents, as kubectl apply. */
int kc_testenv_apply(kc_testenv *env, kc_str yaml, kc_error *err);
int kc_testenv_apply_file(kc_testenv *env, const char *path, kc_error *err);

/*
 * Runs until no work is left: caches have received all writes, queues are empty, no request is
 * running, no key waits for a retry. Time passes as needed, up to `limit` (0: a minute). Keys that
 * are requeued with a delay do not count. An error names what has not settled.
 */
int kc_testenv_settle_within(kc_testenv *env, int64_t limit, kc_error *err);
static inline int kc_testenv_settle(kc_testenv *env, kc_error *err)
{
    return kc_testenv_settle_within(env, 0, err);
}
/* Advances the time; sleeps in an environment without a seed. */
void kc_testenv_advance(kc_testenv *env, int64_t ns);
/* Starts the manager now. */
int kc_testenv_run(kc_testenv *env, kc_error *err);

/* ---- faults of the manager's client ---- */

typedef enum kc_fault {
    KC_FAULT_NONE,
    KC_FAULT_UNAVAILABLE,   /* A request fails before it reaches the server. */
    KC_FAULT_LOST_RESPONSE, /* The server executes it, but the response is lost. */
    KC_FAULT_CONFLICT,      /* A write fails with 409 without being executed. */
    KC_FAULT_TOO_MANY,      /* 429 with Retry-After. */
    KC_FAULT_SLOW,          /* The response is delayed by up to a second. */
    KC_FAULT_DROP_WATCH,    /* A watch's connection breaks. */
    KC_FAULT_EXPIRE_WATCH,  /* A watch fails with 410. */
    KC_FAULT_STALL_WATCH,   /* A watch goes silent. */
    KC_FAULT_STALE_READ,    /* Caches fall behind: watch events are delayed. */
    KC_FAULTS
} kc_fault;

typedef struct kc_fault_opts {
    kc_fault fault;
    double chance;       /* Probability for each matching request, 0 to 1. */
    int times;           /* Maximum number of times. 0: no limit. */
    const kc_kind *kind; /* Only this kind. */
    const char *method;  /* Only this: "PUT". */
} kc_fault_opts;

/* Adds a fault from now on; several add up. */
void kc_testenv_fault(kc_testenv *env, const kc_fault_opts *fault);
void kc_testenv_clear_faults(kc_testenv *env);
/* How often the fault has occurred. */
size_t kc_testenv_faults(const kc_testenv *env, kc_fault fault);

/* Crashes the manager between two writes: after the n-th write from now (1: the next) none of its
 * requests reaches the server. kc_testenv_restart creates a new manager, to which controllers must
 * be added again. */
void kc_testenv_crash_after(kc_testenv *env, size_t writes);
bool kc_testenv_crashed(const kc_testenv *env);
kc_manager *kc_testenv_restart(kc_testenv *env, kc_error *err);
/* Another identity takes the manager's lease. */
int kc_testenv_steal_lease(kc_testenv *env, kc_error *err);
/* Restarts the server on its data directory (or memory). */
int kc_testenv_restart_server(kc_testenv *env, kc_error *err);

/* A hash of the run so far: all writes of the server, in order, with their times. Equal in equal
 * runs. */
uint64_t kc_testenv_fingerprint(kc_testenv *env);

#endif
