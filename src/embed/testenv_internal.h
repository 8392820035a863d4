/* SPDX-License-Identifier: Apache-2.0 */
/* testenv_internal.h: the internals of a test environment. */
#ifndef KC_EMBED_TESTENV_INTERNAL_H
#define KC_EMBED_TESTENV_INTERNAL_H

#include "embed/faults.h"
#include "kc/sim.h"

struct kc_testenv {
    kc_sim *sim; /* NULL: real time. */
    const kc_clock *clock;
    kc_log *log;
    kc_log *silence; /* The log, if the test did not pass one. */
    kc_rand server_rand, manager_rand, client_rand, fault_rand;

    char *dir; /* NULL: in memory. */
    bool temporary;
    kc_embedded_memory *memory;
    kc_embedded_server *server;
    kc_metrics *metrics; /* The server's. May be NULL. */

    kc__faults *no_faults; /* Of the test's client: injects nothing; only its hash is used. */
    kc_client *client;

    kc_manager_opts manager_opts;
    kc__faults *faults;
    kc_client *manager_client;
    kc_manager *manager;
    bool running;
};

#endif
