/* SPDX-License-Identifier: Apache-2.0 */
/*
 * election.c: leader election with a Lease, with the rules of client-go.
 *
 *     acquire ──acquired──▶ lead ──renewed every `retry`──┐
 *        ▲                   │  ◀─────────────────────────┘
 *        └─────run again─────┘ not renewed for `renew`: lost
 *
 * Time. A lease is free when its record has not changed for the lease duration since this process
 * first observed it, on its own clock: wall clocks of machines may differ, so the times in the
 * record decide nothing. For the same reason a renewal counts from the moment before it was sent:
 * other candidates cannot have observed it earlier.
 *
 * Fencing. No other candidate can lead before `duration` after our last renewal; the fence permits
 * writes until `renew` after it, so that writes in flight have the remaining time to arrive or to
 * get lost.
 *
 * Threads: the thread in kc_election_run does everything; `mutex` guards what other threads query.
 */
#include "kc/election.h"

#include "kc/kinds.h"
#include "kc/uid.h"
#include "runtime/manager/lease_record.h"

#include <assert.h>
#include <unistd.h>

static const double JITTER = 1.2;

struct kc_election {
    kc_client *client;
    const kc_clock *clock;
    char *ns, *name, *identity;
    int64_t duration, renew, retry;
    bool release;
    void (*led)(void *user);
    void (*lost)(void *user);
    void (*leader)(kc_str identity, void *user);
    void *user;
    kc_rand rand;
    kc_log *log;
    kc_gauge *status;
    kc_fence fence;

    kc_object *lease; /* As last observed; used only by the running thread, like the next two. */
    int64_t seen_at;  /* When it was first observed in this state. */
    char *reported_leader; /* The identity that `leader` was last called with. */

    kc_mutex mutex; /* Guards the fields below. No other lock is taken under it. */
    kc__lease_record record;
    bool leads;
    int64_t renewed_at; /* When the last successful renewal was sent. */
};

/* ---- queries by other threads ---- */

bool kc_election_is_leader(const kc_election *election)
{
    kc_election *e = (kc_election *)election;
    bool leads = false;
    kc_locked (&e->mutex)
        leads = e->leads;
    return leads;
}

void kc_election_leader(const kc_election *election, kc_buf *out)
{
    kc_election *e = (kc_election *)election;
    kc_locked (&e->mutex)
        kc_buf_puts(out, e->record.holder ? e->record.holder : "");
}

int64_t kc_election_term(const kc_election *election)
{
    kc_election *e = (kc_election *)election;
    int64_t term = 0;
    kc_locked (&e->mutex)
        term = e->record.transitions;
    return term;
}

static int check_fence(kc_fence *fence, int64_t *ret_deadline, kc_error *err)
{
    kc_election *e = kc_container_of(fence, kc_election, fence);
    int64_t until = 0;
    kc_locked (&e->mutex)
        until = e->leads ? e->renewed_at + e->renew : 0;
    if (kc_clock_now(e->clock) >= until)
        return kc_error_set(err, KC_FORBIDDEN, "%s no longer holds the lease %s/%s", e->identity,
                            e->ns, e->name);
    *ret_deadline = until;
    return 0;
}

kc_fence *kc_election_fence(kc_election *election)
{
    return &election->fence;
}

int kc_election_check(const kc_election *election, int64_t tolerance, kc_error *err)
{
    kc_election *e = (kc_election *)election;
    int64_t end = KC_FOREVER;
    kc_locked (&e->mutex)
        if (e->leads)
            end = e->renewed_at + e->duration + tolerance;
    if (kc_clock_now(e->clock) <= end)
        return 0;
    return kc_error_set(err, KC_INTERNAL, "failed election to renew leadership on lease %s",
                        e->name);
}

/* ---- the record ---- */

static bool is_us(const kc_election *e)
{
    return e->record.holder && strcmp(e->record.holder, e->identity) == 0;
}

static void notify_leader(kc_election *e)
{
    if (!e->record.holder[0] ||
        (e->reported_leader && strcmp(e->reported_leader, e->record.holder) == 0))
        return;
    free(e->reported_leader);
    e->reported_leader = kc_strdup(e->record.holder);
    kc_log_info(e->log, "new leader", kc_kv("lease", e->name), kc_kv("leader", e->reported_leader));
    if (e->leader)
        e->leader(kc_cstr(e->reported_leader), e->user);
}

/* Stores the lease as the newest observed one. Only a change resets the observation time. */
static void observe(kc_election *e, kc_object *lease, int64_t at)
{
    bool same = e->lease &&
                kc_str_eq(kc_object_resource_version(e->lease), kc_object_resource_version(lease));
    kc_object_unref(e->lease);
    e->lease = lease;
    if (same)
        return;
    e->seen_at = at;
    kc_locked (&e->mutex) {
        kc__lease_record_done(&e->record);
        e->record = kc__lease_record_of(lease);
    }
    notify_leader(e);
}

static bool election_is_held(const kc_election *e, int64_t now)
{
    return e->record.holder[0] && e->seen_at + e->record.seconds * KC_SECOND > now;
}

/* ---- requests ---- */

static kc_client *bounded(const kc_election *e, kc_cancel *stop)
{
    int64_t timeout = KC_MAX(KC_SECOND, e->renew / 2);
    return kc_client_with(e->client,
                          &(kc_client_overrides){.cancel = stop,
                                                 .deadline = kc_clock_deadline(e->clock, timeout),
                                                 .read_live = true});
}

static int64_t whole_seconds(int64_t ns)
{
    return (ns + KC_SECOND - 1) / KC_SECOND;
}

/* The record to write, derived from the existing one. */
static kc__lease_record our_record(const kc_election *e)
{
    kc_time now = kc_clock_wall(e->clock);
    bool ours = is_us(e);
    return (kc__lease_record){
        .holder = e->identity,
        .seconds = whole_seconds(e->duration),
        .transitions = e->record.transitions + (e->lease && !ours),
        .acquired = ours ? e->record.acquired : now,
        .renewed = now,
    };
}

/* Writes our record over the last observed lease, or creates the lease. */
static int write_record(kc_election *e, const kc__lease_record *record, kc_cancel *stop,
                        kc_error *err)
{
    static const kc_write_opts unfenced = {.kind = &kc_kind_lease, .unfenced = true};
    int64_t sent = kc_clock_now(e->clock);
    kc_auto(kc_client) *client = bounded(e, stop);
    kc_auto(kc_object) *wanted =
        kc__lease_record_apply(e->lease, KC_KEY(e->ns, e->name), record, err);
    if (!wanted)
        return kc_error_result(err);
    kc_object *written = e->lease ? kc_client_update(client, wanted, &unfenced, err)
                                  : kc_client_create(client, wanted, &unfenced, err);
    if (!written)
        return kc_error_result(err);
    observe(e, written, sent);
    kc_locked (&e->mutex)
        e->renewed_at = sent;
    return 0;
}

/* 1: read; 0: it does not exist; negative: error. */
static int read_lease(kc_election *e, kc_cancel *stop, kc_error *err)
{
    kc_scoped(kc_error) failed = {0};
    kc_auto(kc_client) *client = bounded(e, stop);
    kc_object *lease = kc_client_get(client, &kc_kind_lease, KC_KEY(e->ns, e->name), NULL, &failed);
    if (lease) {
        observe(e, lease, kc_clock_now(e->clock));
        return 1;
    }
    if (!kc_is_not_found(&failed))
        return kc_error_move(err, &failed);
    e->lease = kc_object_unref(e->lease);
    return 0;
}

/*
 * One attempt to acquire or renew. The leader first updates what it wrote last, without a read: the
 * usual case costs one request. If that conflicts, or this process does not lead, it reads first.
 */
static bool election_try_once(kc_election *e, kc_cancel *stop)
{
    kc_scoped(kc_error) err = {0};
    kc__lease_record ours = e->lease ? our_record(e) : (kc__lease_record){0};
    if (e->lease && is_us(e) && election_is_held(e, kc_clock_now(e->clock)) &&
        write_record(e, &ours, stop, &err) == 0)
        return true;
    kc_error_done(&err);
    int read = read_lease(e, stop, &err);
    if (read < 0) {
        kc_log_debug(e->log, "cannot read the lease", kc_kv("lease", e->name), kc_kv("err", &err));
        return false;
    }
    if (read && !is_us(e) && election_is_held(e, kc_clock_now(e->clock)))
        return false;
    ours = our_record(e);
    if (write_record(e, &ours, stop, &err) == 0)
        return true;
    kc_log_debug(e->log, "cannot write the lease", kc_kv("lease", e->name), kc_kv("err", &err));
    return false;
}

/* ---- acquire, renew, release ---- */

static void set_leads(kc_election *e, bool leads)
{
    kc_locked (&e->mutex)
        e->leads = leads;
    kc_gauge_set(e->status, leads);
}

/* After `retry` plus jitter, so that candidates do not stay in step; but no later than the expiry
 * of the observed lease. */
static int64_t next_try(kc_election *e)
{
    const int64_t pause = kc_rand_jitter(&e->rand, e->retry, JITTER);
    const int64_t next = kc_clock_deadline(e->clock, pause);
    const int64_t end = e->lease ? e->seen_at + e->record.seconds * KC_SECOND : 0;
    return end > kc_clock_now(e->clock) ? KC_MIN(next, end) : next;
}

static bool stand(kc_election *e, kc_cancel *stop)
{
    while (!kc_cancel_fired(stop)) {
        if (election_try_once(e, stop))
            return true;
        kc_cancel_sleep_until(stop, e->clock, next_try(e));
    }
    return false;
}

/* False if the lease could not be renewed in time (or the election was stopped). */
static bool renew_in_time(kc_election *e, kc_cancel *stop)
{
    int64_t deadline = kc_clock_deadline(e->clock, e->renew);
    while (!election_try_once(e, stop)) {
        int64_t next = kc_clock_deadline(e->clock, e->retry);
        if (next > deadline || !kc_cancel_sleep_until(stop, e->clock, next))
            return false;
    }
    return true;
}

static void lead(kc_election *e, kc_cancel *stop)
{
    while (kc_cancel_sleep_until(stop, e->clock, kc_clock_deadline(e->clock, e->retry)))
        if (!renew_in_time(e, stop))
            return;
}

/* Releases the lease; the record stays valid for one second, as in client-go. */
static void election_return(kc_election *e)
{
    kc_scoped(kc_error) err = {0};
    kc_time now = kc_clock_wall(e->clock);
    if (!is_us(e))
        return;
    char no_holder[] = "";
    kc__lease_record free_record = {.holder = no_holder,
                                    .seconds = 1,
                                    .transitions = e->record.transitions,
                                    .acquired = now,
                                    .renewed = now};
    if (write_record(e, &free_record, NULL, &err) < 0)
        kc_log_warn(e->log, "cannot release the lease", kc_kv("lease", e->name),
                    kc_kv("err", &err));
}

int kc_election_run(kc_election *election, kc_cancel *stop, kc_error *err)
{
    kc_election *e = election;
    if (!stand(e, stop))
        return 0;
    kc_log_info(e->log, "leading", kc_kv("lease", e->name), kc_kv("identity", e->identity));
    set_leads(e, true);
    if (e->led)
        e->led(e->user);
    lead(e, stop);
    bool stopped = kc_cancel_fired(stop);
    set_leads(e, false);
    if (e->lost)
        e->lost(e->user);
    if (stopped && e->release)
        election_return(e);
    return stopped ? 0 : kc_error_set(err, KC_INTERNAL, "leader election lost");
}

/* ---- lifecycle ---- */

static char *default_identity(kc_rand *rand)
{
    char host[256] = "localhost", uid[KC_UID_TEXT];
    uint8_t random[16];
    gethostname(host, sizeof(host) - 1);
    kc_rand_bytes(rand, random, sizeof(random));
    return kc_asprintf("%s_%s", host, kc_uid_of(random, uid).p);
}

static int check_timings(const kc_election *e, kc_error *err)
{
    if (e->duration <= e->renew)
        return kc_error_set(err, KC_BAD_REQUEST,
                            "the duration of a lease must be longer than its renew deadline");
    if (e->renew <= (int64_t)(JITTER * (double)e->retry))
        return kc_error_set(err, KC_BAD_REQUEST,
                            "the renew deadline must be longer than 1.2 times the retry period");
    if (e->retry < 0 || !e->name)
        return kc_error_set(err, KC_BAD_REQUEST,
                            "an election requires a name and positive durations");
    return 0;
}

static void register_status(kc_election *e, kc_metrics *metrics)
{
    if (!metrics)
        return;
    kc_metric *metric =
        kc_metrics_gauge(metrics,
                         &(kc_metric_opts){.name = "leader_election_master_status",
                                           .help = "1 if this process is the leader, 0 otherwise.",
                                           .labels = {{"name", .max_values = 100}}},
                         NULL);
    e->status = kc_metric_gauge(metric, kc_cstr(e->name));
    kc_gauge_set(e->status, 0);
}

kc_election *kc_election_new(const kc_election_opts *opts, kc_error *err)
{
    kc_auto(kc_election) *e = kc_new(kc_election);
    kc_mutex_init(&e->mutex);
    e->client = kc_client_ref(opts->client);
    e->clock = kc_client_clock(opts->client);
    if (opts->rand)
        e->rand = kc_rand_split(opts->rand);
    else
        kc_rand_seed_os(&e->rand);
    e->ns = kc_strdup(opts->ns ? opts->ns : "default");
    e->name = opts->name ? kc_strdup(opts->name) : NULL;
    e->identity = opts->identity ? kc_strdup(opts->identity) : default_identity(&e->rand);
    e->duration = opts->duration ? opts->duration : 15 * KC_SECOND;
    e->renew = opts->renew ? opts->renew : 10 * KC_SECOND;
    e->retry = opts->retry ? opts->retry : 2 * KC_SECOND;
    e->release = opts->release;
    e->led = opts->led;
    e->lost = opts->lost;
    e->leader = opts->leader;
    e->user = opts->user;
    e->log = opts->log;
    e->fence.check = check_fence;
    e->record.holder = kc_strdup("");
    if (check_timings(e, err) < 0)
        return NULL;
    register_status(e, opts->metrics);
    return kc_take(e);
}

kc_election *kc_election_free(kc_election *e)
{
    if (!e)
        return NULL;
    assert(!e->leads);
    kc_client_unref(e->client);
    kc_object_unref(e->lease);
    kc__lease_record_done(&e->record);
    kc_mutex_done(&e->mutex);
    free(e->ns);
    free(e->name);
    free(e->identity);
    free(e->reported_leader);
    free(e);
    return NULL;
}
