/* SPDX-License-Identifier: Apache-2.0 */
/*
 * testenv.h: testing controllers against the real API server, in the test's own process.
 *
 *     static void robot_gets_its_deployment(void **state)
 *     {
 *         kc_auto(kc_testenv) *env = kc_testenv_start(&(kc_testenv_opts){.seed = 7}, NULL);
 *         kc_controller_new(kc_testenv_manager(env), &robot_controller, NULL);
 *         kc_testenv_apply(env, KC_STR("{kind: Robot, …}"), NULL);
 *         kc_testenv_settle(env, NULL);                       until nothing is left to do
 *         kc_auto(kc_object) *d = kc_client_get(kc_testenv_client(env), &kc_kind_deployment, …);
 *         assert_non_null(d);
 *     }
 *
 * With a seed the whole of it (server, caches, controllers, clock) is a simulation (sim.h): virtual
 * time, one thread at a time, the same to the byte in every run. Without one it runs as in
 * production, in real time. It starts in milliseconds, so that each test has its own.
 *
 * Faults: a test says what goes wrong and how often, and the environment does it: at the transport,
 * so that everything above is what runs in production.
 */
#ifndef KC_TESTENV_H
#define KC_TESTENV_H

#include "kc/controller.h"
#include "kc/embed.h"
#include "kc/manager.h"

typedef struct kc_testenv kc_testenv;

typedef struct kc_testenv_opts {
    uint64_t seed;            /* 0: real time and threads. */
    const char *folder;       /* Of the server. Defaults to memory. */
    bool temporary;           /* Instead: a temporary folder, removed at the end. */
    int64_t start;            /* Virtual wall time. Defaults to 2026-01-02T03:04:05Z. */
    const char *const *apply; /* YAML files applied at the start: CRDs. End with NULL. */
    kc_manager_opts manager;  /* Client, clock, rand, log are the environment's. */
    kc_metrics *metrics;      /* The server's: what it was asked. Defaults to none. */
    kc_log *log;              /* Defaults to silence. */
} kc_testenv_opts;

/* Ready to use; the manager starts with the first settle, wait or kc_testenv_run. Fails the process
 * with a sentence if err is NULL and it cannot start. */
kc_testenv *kc_testenv_start(const kc_testenv_opts *opts, kc_error *err);
/* Stops everything. NULL is allowed; returns NULL. */
kc_testenv *kc_testenv_stop(kc_testenv *env);
KC_AUTO_DEFINE(kc_testenv, kc_testenv_stop)

/* The test's own client: reads from the server, no faults. */
kc_client *kc_testenv_client(kc_testenv *env);
kc_manager *kc_testenv_manager(kc_testenv *env);
kc_embed *kc_testenv_server(kc_testenv *env);
const kc_clock *kc_testenv_clock(kc_testenv *env);

/* Creates or updates what a YAML text of one or more documents says, as kubectl apply. */
int kc_testenv_apply(kc_testenv *env, kc_str yaml, kc_error *err);
int kc_testenv_apply_file(kc_testenv *env, const char *path, kc_error *err);

/*
 * Until nothing is left to do: caches have seen everything written, queues are empty, no call is
 * under way, nothing waits to be tried again after a failure. Time passes as needed, up to `limit`
 * (0: a minute). Keys that asked to come again later do not count. An error names what is still not
 * settled.
 */
int kc_testenv_settle_within(kc_testenv *env, int64_t limit, kc_error *err);
static inline int kc_testenv_settle(kc_testenv *env, kc_error *err)
{
    return kc_testenv_settle_within(env, 0, err);
}
/* Lets time pass; real time in an environment without a seed. */
void kc_testenv_advance(kc_testenv *env, int64_t ns);
/* Starts the manager now. */
int kc_testenv_run(kc_testenv *env, kc_error *err);

/* ---- faults, of the manager's client ---- */

typedef enum kc_fault {
    KC_FAULT_NONE,
    KC_FAULT_UNAVAILABLE,  /* A request fails before it reaches the server. */
    KC_FAULT_LOST_ANSWER,  /* It is carried out, but the answer is lost. */
    KC_FAULT_CONFLICT,     /* A write is answered 409 though it was not tried. */
    KC_FAULT_TOO_MANY,     /* 429 with Retry-After. */
    KC_FAULT_SLOW,         /* The answer comes late: by up to a second. */
    KC_FAULT_DROP_WATCH,   /* A watch's connection breaks. */
    KC_FAULT_EXPIRE_WATCH, /* A watch is answered 410. */
    KC_FAULT_STALL_WATCH,  /* A watch goes silent. */
    KC_FAULT_STALE_READ,   /* Caches fall behind: a watch's events come late. */
    KC_FAULTS
} kc_fault;

typedef struct kc_fault_opts {
    kc_fault fault;
    double chance;       /* Of each request it can happen to: 0 to 1. 1: every one. */
    int times;           /* At most so often. 0: no limit. */
    const kc_kind *kind; /* Only this kind. */
    const char *method;  /* Only this: "PUT". */
} kc_fault_opts;

/* From now on; several add up. */
void kc_testenv_fault(kc_testenv *env, const kc_fault_opts *fault);
void kc_testenv_clear_faults(kc_testenv *env);
/* How often it has happened. */
size_t kc_testenv_faults(const kc_testenv *env, kc_fault fault);

/* Ends the manager where it stands, between two writes of whatever it does: after the n-th write
 * from now (1: the next) nothing of it reaches the server any more. kc_testenv_restart makes a new
 * one, to which controllers are added again. */
void kc_testenv_crash_after(kc_testenv *env, size_t writes);
bool kc_testenv_crashed(const kc_testenv *env);
kc_manager *kc_testenv_restart(kc_testenv *env, kc_error *err);
/* Somebody else takes the manager's lease. */
int kc_testenv_steal_lease(kc_testenv *env, kc_error *err);
/* Stops the server, and starts it again over its folder (or memory). */
int kc_testenv_restart_server(kc_testenv *env, kc_error *err);

/* What happened so far, as a hash: all writes the server has made, in order, with their times.
 * Equal in equal runs. */
uint64_t kc_testenv_fingerprint(kc_testenv *env);

#endif
