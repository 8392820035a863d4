/* SPDX-License-Identifier: Apache-2.0 */
/*
 * etcd_lease.c: the leases of keys that expire (Events, the addresses of servers).
 *
 * A lease for each key would cost etcd much, so keys that are written soon after each other share
 * one, as in kube-apiserver: a lease is granted for the time to live and up to a minute more
 * (REUSE_PERCENT of it at most), and is used as long as it outlives the time to live, for at most
 * MAX_KEYS keys. A key therefore lives a little longer than asked for, never shorter. Keys with
 * different times to live have different leases.
 *
 * A submission that needs a new lease waits until it is granted; those that follow wait for the
 * same one.
 *
 * A lease may end earlier than expected: an operator revokes it, etcd is restored from a snapshot,
 * or this machine slept. etcd refuses a transaction with such a lease, without an effect; the lease
 * is forgotten, and the transaction is sent again with a new one.
 */
#include "apiserver/storage/etcd/etcd_internal.h"

enum { REUSE_PERCENT = 5, MAX_REUSE = 60, MAX_KEYS = 1000 };

static int64_t granted_ttl(int64_t ttl)
{
    return ttl + KC_MIN(ttl * REUSE_PERCENT / 100, (int64_t)MAX_REUSE);
}

/* The lease of a time to live. If all have others, the last one is replaced. With the mutex
 * locked. */
static kc__storage_etcd_lease *lease_of(kc__storage_etcd *s, int64_t ttl)
{
    kc__storage_etcd_lease *lease = s->leases.items;
    for (size_t i = 1; i < KC_COUNT(s->leases.items) && lease->ttl && lease->ttl != ttl; i++)
        lease++;
    if (lease->ttl != ttl && !lease->granting)
        *lease = (kc__storage_etcd_lease){.storage = s, .ttl = ttl};
    return lease;
}

/* The id, if the lease can be used; 0: a new one is needed. With the mutex locked. */
static int64_t current_lease(kc__storage_etcd_lease *lease, int64_t ttl, const kc_clock *clock)
{
    const int64_t left = lease->expires - kc_clock_now(clock);
    if (!lease->id || lease->ttl != ttl || lease->n_keys >= MAX_KEYS || left < ttl * KC_SECOND)
        return 0;
    lease->n_keys++;
    return lease->id;
}

/* With the mutex locked. */
static void set_lease(kc__storage_etcd_lease *lease, const kc__etcd_reply *reply, int64_t asked)
{
    const bool granted = reply->code == KC__ETCD_OK;
    lease->id = granted ? reply->lease_grant->id : 0;
    lease->expires = asked + (granted ? reply->lease_grant->ttl * KC_SECOND : 0);
    lease->n_keys = 0;
}

static kc__etcd_request grant_request(int64_t ttl)
{
    return (kc__etcd_request){.method = KC__ETCD_LEASE_GRANT,
                              .lease_grant = {.ttl = granted_ttl(ttl)}};
}

/* A submission that waited uses the lease at once, however long it took to grant it: one of a few
 * seconds would never have the whole time to live left. */
static void send_waiting(kc__storage_etcd *s, kc__storage_submission *submission,
                         const kc__etcd_lease_grant_response *lease)
{
    if (kc__storage_etcd_ttl(submission->ops, submission->n_ops) > lease->ttl)
        kc__storage_etcd_submit(&s->base, submission); /* Another one is granted for it. */
    else
        kc__storage_etcd_send(s, submission, lease->id);
}

static void lease_granted(kc__etcd_reply *arrived, void *user)
{
    kc_auto(kc__etcd_reply) *reply = arrived;
    kc__storage_etcd_lease *lease = user;
    kc__storage_etcd *s = lease->storage;
    kc__storage_submission *waiting = NULL;
    kc_locked (&s->leases.mutex) {
        set_lease(lease, reply, lease->asked);
        lease->granting = false;
        waiting = kc_take(lease->waiting);
    }
    for (kc__storage_submission *next; waiting; waiting = next) {
        next = waiting->next;
        if (reply->code == KC__ETCD_OK) {
            send_waiting(s, waiting, reply->lease_grant);
            continue;
        }
        kc_error_set(&waiting->error, KC_SERVICE_UNAVAILABLE, "etcd: no lease: %s",
                     kc_error_text(&reply->err));
        waiting->done(waiting);
    }
}

void kc__storage_etcd_lease_lost(kc__storage_etcd *s, int64_t id)
{
    kc_locked (&s->leases.mutex)
        for (size_t i = 0; i < KC_COUNT(s->leases.items); i++)
            if (s->leases.items[i].id == id)
                s->leases.items[i].id = 0;
}

int64_t kc__storage_etcd_lease_for(kc__storage_etcd *s, int64_t ttl,
                                   kc__storage_submission *submission)
{
    kc__storage_etcd_leases *l = &s->leases;
    kc__storage_etcd_lease *lease = NULL;
    int64_t id = 0;
    bool grant = false;
    kc_locked (&l->mutex) {
        lease = lease_of(s, ttl);
        id = current_lease(lease, ttl, l->clock);
        if (!id) {
            submission->next = lease->waiting;
            lease->waiting = submission;
            grant = !lease->granting;
            lease->granting = true;
            lease->asked = kc_clock_now(l->clock);
        }
    }
    const kc__etcd_request request = grant_request(ttl);
    if (grant)
        kc__etcd_call_start(s->client, &request, lease_granted, lease);
    return id;
}

int kc__storage_etcd_lease_now(kc__storage_etcd *s, int64_t ttl, int64_t *ret_id, kc_error *err)
{
    kc__storage_etcd_leases *l = &s->leases;
    kc_locked (&l->mutex)
        *ret_id = current_lease(lease_of(s, ttl), ttl, l->clock);
    if (*ret_id)
        return 0;
    const int64_t asked = kc_clock_now(l->clock);
    const kc__etcd_request request = grant_request(ttl);
    kc_auto(kc__etcd_reply) *reply = kc__etcd_call(s->client, &request);
    if (reply->code != KC__ETCD_OK)
        return kc__storage_etcd_error(reply, err);
    kc_locked (&l->mutex)
        set_lease(lease_of(s, ttl), reply, asked);
    *ret_id = reply->lease_grant->id;
    return 0;
}
