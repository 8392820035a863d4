/* SPDX-License-Identifier: Apache-2.0 */
/*
 * election.h: one leader among several processes, by a Lease.
 *
 *     kc_election *e = kc_election_new(&(kc_election_opts){
 *         .client = client, .ns = "default", .name = "robots.llleon.io",
 *         .led = start, .lost = stop,
 *     }, err);
 *     kc_election_run(e, cancel, err);                      blocks: stands, leads, loses
 *
 * The rules of client-go: a lease is taken when it is free, or when its record has not changed for
 * its whole duration by our own clock (never by the times written in it), at that moment if not
 * before; the leader renews it every `retry` and stops leading when it could not for `renew`.
 * duration > renew > 1.2 * retry. Others look at it every `retry` too, up to 1.2 times that later:
 * who dies is followed within duration + 2.2 * retry of its last renewal.
 *
 * What stops earlier than the lease ends cannot be overtaken: kc_election_fence refuses writes once
 * the lease is not surely ours, so losing it need not end the process.
 */
#ifndef KC_ELECTION_H
#define KC_ELECTION_H

#include "kc/client.h"

typedef struct kc_election kc_election;

typedef struct kc_election_opts {
    kc_client *client;
    const char *ns;       /* Defaults to the client's, else "default". */
    const char *name;     /* Of the Lease. */
    const char *identity; /* Defaults to hostname_uuid. */
    int64_t duration;     /* Defaults to 15 s. */
    int64_t renew;        /* Defaults to 10 s. */
    int64_t retry;        /* Defaults to 2 s. */
    bool release;         /* Give the lease back when cancelled. */
    /* On the election's thread; must not block for long. `led` starts work, `lost` has stopped it
     * when it returns. `leader` is told of every new one, us included. Each may be NULL. */
    void (*led)(void *user);
    void (*lost)(void *user);
    void (*leader)(kc_str identity, void *user);
    void *user;
    kc_rand *rand; /* Split from. Defaults to the system's. */
    kc_log *log;
    kc_metrics *metrics; /* leader_election_master_status{name} */
} kc_election_opts;

/* NULL when a timing is against the rules: the error says which. */
kc_election *kc_election_new(const kc_election_opts *opts, kc_error *err);
kc_election *kc_election_free(kc_election *election);
KC_AUTO_DEFINE(kc_election, kc_election_free)

/* Stands until elected, leads until the lease is lost or `stop` fires. 0 when it was stopped,
 * negative when leadership was lost. May be called again. */
int kc_election_run(kc_election *election, kc_cancel *stop, kc_error *err);

bool kc_election_leads(const kc_election *election);
/* Who leads as far as we know; empty if unknown. Appended. */
void kc_election_leader(const kc_election *election, kc_buf *out);
/* How many times the lease has changed hands. */
int64_t kc_election_term(const kc_election *election);
/* For kc_client_with: lets writes pass while we surely lead, and ends them when that is over. */
kc_fence *kc_election_fence(kc_election *election);
/* 0 unless we think we lead, but the lease ran out `tolerance` ago. */
int kc_election_check(const kc_election *election, int64_t tolerance, kc_error *err);

#endif
