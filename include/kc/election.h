/* SPDX-License-Identifier: Apache-2.0 */
/*
 * election.h: leader election among processes, with a Lease.
 *
 *     kc_election *e = kc_election_new(&(kc_election_opts){
 *         .client = client, .ns = "default", .name = "robots.llleon.io",
 *         .led = start, .lost = stop,
 *     }, err);
 *     kc_election_run(e, cancel, err);                      blocks: waits for the lease, then leads
 *
 * The rules are those of client-go. A candidate acquires the lease when it is free, or as soon as
 * its record has not changed for its whole duration on the candidate's own clock (never by the
 * times in the record). The leader renews the lease every `retry` and stops leading when it has not
 * renewed it for `renew`. duration > renew > 1.2 * retry. Candidates check the lease every `retry`,
 * plus up to 120 % jitter: a new leader follows within duration + 2.2 * retry of the last renewal
 * of a leader that died.
 *
 * kc_election_fence rejects writes from the moment at which the lease might have expired. So the
 * old leader cannot write after a new one starts, and losing the lease need not end the process.
 */
#ifndef KC_ELECTION_H
#define KC_ELECTION_H

#include "kc/client.h"

typedef struct kc_election kc_election;

typedef struct kc_election_opts {
    kc_client *client;
    const char *ns;       /* Defaults to the client's, else "default". */
    const char *name;     /* Name of the Lease. */
    const char *identity; /* Defaults to hostname_uuid. */
    int64_t duration;     /* Defaults to 15 s. */
    int64_t renew;        /* Defaults to 10 s. */
    int64_t retry;        /* Defaults to 2 s. */
    bool release;         /* Release the lease when cancelled. */
    /* Called on the election's thread; must not block for long. `led` starts the work; `lost` stops
     * it before it returns. `leader` is called for every new leader, this process included. Each
     * may be NULL. */
    void (*led)(void *user);
    void (*lost)(void *user);
    void (*leader)(kc_str identity, void *user);
    void *user;
    kc_rand *rand; /* Parent generator; split. Defaults to the system's. */
    kc_log *log;
    kc_metrics *metrics; /* leader_election_master_status{name} */
} kc_election_opts;

/* NULL when a timing violates the rules; the error names it. */
kc_election *kc_election_new(const kc_election_opts *opts, kc_error *err);
kc_election *kc_election_free(kc_election *election);
KC_AUTO_DEFINE(kc_election, kc_election_free)

/* Waits for the lease, then leads until the lease is lost or `stop` fires. Returns 0 when stopped,
 * negative when the lease was lost. May be called again. */
int kc_election_run(kc_election *election, kc_cancel *stop, kc_error *err);

bool kc_election_is_leader(const kc_election *election);
/* Appends the identity of the last known leader; nothing if unknown. */
void kc_election_leader(const kc_election *election, kc_buf *out);
/* Number of times the lease has changed hands. */
int64_t kc_election_term(const kc_election *election);
/* For kc_client_with: allows writes while the lease is certainly held, and limits their deadline to
 * its end. */
kc_fence *kc_election_fence(kc_election *election);
/* Returns 0 unless this process considers itself the leader and the lease expired more than
 * `tolerance` ago. */
int kc_election_check(const kc_election *election, int64_t tolerance, kc_error *err);

#endif
