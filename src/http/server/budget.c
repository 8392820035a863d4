/* SPDX-License-Identifier: Apache-2.0 */
/*
 * budget.c: counts the buffered bytes of requests over all connections of a server.
 *
 *     unauthenticated   incomplete heads, requests of unauthenticated clients
 *     in_flight         all other requests; at most per_user of it for each user
 *
 * A request that does not fit is refused at once (429 with Retry-After) and releases its charge.
 * Waiting for room instead would let half-read requests block each other: each holds what the other
 * needs.
 *
 * A share exists while any request of its user holds a part of it, so memory is bounded by the
 * number of requests. Requests without a body and with a small head are never charged.
 *
 * Threads: one mutex guards everything; no other lock is taken while it is held.
 */
#include "http/server/budget.h"

#include "kc/map.h"
#include "kc/thread.h"

#define UNAUTHENTICATED ((size_t)16 << 20)
#define IN_FLIGHT       ((size_t)256 << 20)

enum { SHARES = 4 }; /* Number of users that together can use all of in_flight. */

struct kc__http_budget_share {
    char *user; /* "": all requests of a server without authentication. */
    size_t bytes;
    size_t charges; /* Number of charges that it pays. */
};

struct kc__http_budget {
    kc_mutex mutex; /* Guards the fields below. */
    size_t max_unauthenticated, max_in_flight, max_per_user;
    size_t unauthenticated, in_flight;
    kc_map shares; /* By user. */

    kc_gauge *unauthenticated_bytes, *in_flight_bytes;
    kc_counter *refused_unauthenticated, *refused_in_flight, *refused_user;
};

static void register_metrics(kc__http_budget *budget, kc_metrics *metrics)
{
    if (!metrics)
        return;
    kc_metric *bytes = kc_metrics_gauge(
        metrics,
        &(kc_metric_opts){.name = "http_server_request_bytes",
                          .help = "Bytes of buffered requests, by budget.",
                          .labels = {{"budget", KC_LABEL_VALUES("unauthenticated", "in_flight")}}},
        NULL);
    kc_metric *refused = kc_metrics_counter(
        metrics,
        &(kc_metric_opts){
            .name = "http_server_budget_refused_total",
            .help = "Requests refused with 429 because a budget was exhausted.",
            .labels = {{"budget", KC_LABEL_VALUES("unauthenticated", "in_flight", "user")}}},
        NULL);
    budget->unauthenticated_bytes = kc_metric_gauge(bytes, KC_STR("unauthenticated"));
    budget->in_flight_bytes = kc_metric_gauge(bytes, KC_STR("in_flight"));
    budget->refused_unauthenticated = kc_metric_counter(refused, KC_STR("unauthenticated"));
    budget->refused_in_flight = kc_metric_counter(refused, KC_STR("in_flight"));
    budget->refused_user = kc_metric_counter(refused, KC_STR("user"));
}

kc__http_budget *kc__http_budget_new(const kc__http_budget_opts *opts, kc_metrics *metrics)
{
    kc__http_budget *budget = kc_new(kc__http_budget);
    kc_mutex_init(&budget->mutex);
    budget->max_unauthenticated = opts->unauthenticated ? opts->unauthenticated : UNAUTHENTICATED;
    budget->max_in_flight = opts->in_flight ? opts->in_flight : IN_FLIGHT;
    budget->max_per_user = opts->per_user ? opts->per_user : budget->max_in_flight / SHARES;
    register_metrics(budget, metrics);
    return budget;
}

kc__http_budget *kc__http_budget_free(kc__http_budget *budget)
{
    if (!budget)
        return NULL;
    kc_map_done(&budget->shares);
    kc_mutex_done(&budget->mutex);
    free(budget);
    return NULL;
}

/* ---- shares; require the mutex ---- */

static kc__http_budget_share *share_of(kc__http_budget *budget, kc_str user)
{
    kc__http_budget_share *share = kc_map_get(&budget->shares, user);
    if (!share) {
        share = kc_new(kc__http_budget_share);
        share->user = kc_str_dup(user);
        kc_map_put(&budget->shares, kc_cstr(share->user), share);
    }
    share->charges++;
    return share;
}

static void leave_share(kc__http_budget *budget, kc__http_budget_share *share)
{
    if (!share || --share->charges)
        return;
    kc_map_remove(&budget->shares, kc_cstr(share->user));
    free(share->user);
    free(share);
}

/* ---- counting; requires the mutex ---- */

static bool budget_charge_fits(size_t used, size_t more, size_t max)
{
    return more <= max && used <= max - more;
}

/* Returns NULL if there is room, otherwise the counter of the exhausted budget. */
static kc_counter **exhausted(kc__http_budget *budget, const kc__http_budget_share *user_share,
                              size_t more)
{
    if (!user_share)
        return budget_charge_fits(budget->unauthenticated, more, budget->max_unauthenticated)
                   ? NULL
                   : &budget->refused_unauthenticated;
    if (!budget_charge_fits(budget->in_flight, more, budget->max_in_flight))
        return &budget->refused_in_flight;
    if (*user_share->user && !budget_charge_fits(user_share->bytes, more, budget->max_per_user))
        return &budget->refused_user;
    return NULL;
}

static void add_budget_charge(kc__http_budget *budget, kc__http_budget_share *user_share,
                              size_t bytes)
{
    size_t *total = user_share ? &budget->in_flight : &budget->unauthenticated;
    *total += bytes;
    if (user_share)
        user_share->bytes += bytes;
    kc_gauge_add(user_share ? budget->in_flight_bytes : budget->unauthenticated_bytes,
                 (double)bytes);
}

static void subtract(kc__http_budget *budget, kc__http_budget_share *user_share, size_t bytes)
{
    size_t *total = user_share ? &budget->in_flight : &budget->unauthenticated;
    *total -= bytes;
    if (user_share)
        user_share->bytes -= bytes;
    kc_gauge_add(user_share ? budget->in_flight_bytes : budget->unauthenticated_bytes,
                 -(double)bytes);
}

/* Returns false, with nothing changed, if there is no room. */
static bool take_budget(kc__http_budget *budget, kc__http_charge *charge, size_t more)
{
    kc_counter **refused = exhausted(budget, charge->user_share, more);
    if (refused) {
        kc_counter_inc(*refused);
        return false;
    }
    add_budget_charge(budget, charge->user_share, more);
    charge->bytes += more;
    return true;
}

static void return_charge(kc__http_budget *budget, kc__http_charge *charge, size_t less)
{
    subtract(budget, charge->user_share, less);
    charge->bytes -= less;
}

/* ---- charges ---- */

bool kc__http_charge_set(kc__http_budget *budget, kc__http_charge *charge, size_t bytes)
{
    bool ok = true;
    if (!budget || bytes == charge->bytes)
        return true;
    kc_locked (&budget->mutex) {
        if (bytes > charge->bytes)
            ok = take_budget(budget, charge, bytes - charge->bytes);
        else
            return_charge(budget, charge, charge->bytes - bytes);
    }
    return ok;
}

bool kc__http_charge_to_user(kc__http_budget *budget, kc__http_charge *charge, kc_str user)
{
    bool ok = true;
    if (!budget)
        return true;
    kc_locked (&budget->mutex) {
        size_t bytes = charge->bytes;
        return_charge(budget, charge, bytes);
        leave_share(budget, charge->user_share);
        charge->user_share = share_of(budget, user);
        ok = take_budget(budget, charge, bytes);
    }
    return ok;
}

void kc__http_charge_end(kc__http_budget *budget, kc__http_charge *charge)
{
    if (!budget || (!charge->bytes && !charge->user_share))
        return;
    kc_locked (&budget->mutex) {
        return_charge(budget, charge, charge->bytes);
        leave_share(budget, charge->user_share);
        charge->user_share = NULL;
    }
}
