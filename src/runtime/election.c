/* SPDX-License-Identifier: Apache-2.0 */
/*
 * election.c: leadership by a Lease, by the rules of client-go.
 *
 *     stand ──taken──▶ lead ──renewed every `retry`──┐
 *       ▲               │  ◀─────────────────────────┘
 *       └──run again────┘ not renewed for `renew`: lost
 *
 * Time. A lease is free when its record has not changed for its duration since we first saw it so,
 * by our own clock: machines' wall clocks may differ, so the times in the record decide nothing.
 * For the same reason a renewal counts from the moment before it was sent: others can have seen it
 * no earlier.
 *
 * The fence. Nobody else can lead before `duration` after our last renewal; writes are let pass
 * until `renew` after it, so that what is under way has the rest of the time to arrive or to be
 * lost.
 *
 * Threads: the thread in kc_election_run does everything; `mutex` guards what others ask for.
 */
#include "kc/election.h"

#include "kc/kinds.h"
#include "kc/uid.h"
#include "runtime/lease_record.h"

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

    kc_object *lease; /* As last seen; with the next two the runner's alone. */
    int64_t seen_at;  /* When it was first seen so. */
    char *told;       /* Whom `leader` was last called with. */

    kc_mutex mutex; /* Guards what follows. No other lock is taken under it. */
    kc__lease_record record;
    bool leads;
    int64_t renewed_at; /* When the last renewal that succeeded was sent. */
};

/* ---- what others ask for ---- */

bool kc_election_leads(const kc_election *election)
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
        return kc_error_set(err, KC_FORBIDDEN, "%s does not lead %s/%s any more", e->identity,
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

static void tell_leader(kc_election *e)
{
    if (!e->record.holder[0] || (e->told && strcmp(e->told, e->record.holder) == 0))
        return;
    free(e->told);
    e->told = kc_strdup(e->record.holder);
    kc_log_info(e->log, "new leader", kc_kv("lease", e->name), kc_kv("leader", e->told));
    if (e->leader)
        e->leader(kc_cstr(e->told), e->user);
}

/* Takes the lease over as the newest seen. Only a change counts as news. */
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
    tell_leader(e);
}

static bool is_held(const kc_election *e, int64_t now)
{
    return e->record.holder[0] && e->seen_at + e->record.seconds * KC_SECOND > now;
}

/* ---- reading and writing the lease ---- */

static kc_client *bounded(const kc_election *e, kc_cancel *stop)
{
    int64_t timeout = KC_MAX(KC_SECOND, e->renew / 2);
    return kc_client_with(e->client,
                          &(kc_client_bind){.cancel = stop,
                                            .deadline = kc_clock_deadline(e->clock, timeout),
                                            .read_live = true});
}

static int64_t whole_seconds(int64_t ns)
{
    return (ns + KC_SECOND - 1) / KC_SECOND;
}

/* The record we want to write, going on from the one that is there. */
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

/* Writes our record over the lease last seen, or creates it. */
static int write_record(kc_election *e, const kc__lease_record *record, kc_cancel *stop,
                        kc_error *err)
{
    static const kc_write_opts unfenced = {.kind = &kc_kind_lease, .unfenced = true};
    int64_t sent = kc_clock_now(e->clock);
    kc_auto(kc_client) *client = bounded(e, stop);
    kc_auto(kc_object) *wanted =
        kc__lease_with_record(e->lease, KC_KEY(e->ns, e->name), record, err);
    if (!wanted)
        return -1;
    kc_object *written = e->lease ? kc_client_update(client, wanted, &unfenced, err)
                                  : kc_client_create(client, wanted, &unfenced, err);
    if (!written)
        return -1;
    observe(e, written, sent);
    kc_locked (&e->mutex)
        e->renewed_at = sent;
    return 0;
}

/* 1: read; 0: there is none; negative: an error. */
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
 * One try to become or to stay leader. The leader first writes over what it wrote last, without
 * reading: the usual case costs one request. When that conflicts, or we do not lead, it is read
 * first.
 */
static bool try_once(kc_election *e, kc_cancel *stop)
{
    kc_scoped(kc_error) err = {0};
    kc__lease_record ours = e->lease ? our_record(e) : (kc__lease_record){0};
    if (e->lease && is_us(e) && is_held(e, kc_clock_now(e->clock)) &&
        write_record(e, &ours, stop, &err) == 0)
        return true;
    kc_error_done(&err);
    int read = read_lease(e, stop, &err);
    if (read < 0) {
        kc_log_debug(e->log, "cannot read the lease", kc_kv("lease", e->name),
                     kc_kv("error", &err));
        return false;
    }
    if (read && !is_us(e) && is_held(e, kc_clock_now(e->clock)))
        return false;
    ours = our_record(e);
    if (write_record(e, &ours, stop, &err) == 0)
        return true;
    kc_log_debug(e->log, "cannot write the lease", kc_kv("lease", e->name), kc_kv("error", &err));
    return false;
}

/* ---- standing, leading, leaving ---- */

static void set_leads(kc_election *e, bool leads)
{
    kc_locked (&e->mutex)
        e->leads = leads;
    kc_gauge_set(e->status, leads);
}

/* After `retry` or a little later, so that candidates do not keep step; but when the lease that was
 * seen runs out before, then. */
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
        if (try_once(e, stop))
            return true;
        kc_cancel_sleep_until(stop, e->clock, next_try(e));
    }
    return false;
}

/* False when the lease could not be renewed in time (or we were stopped meanwhile). */
static bool renew_in_time(kc_election *e, kc_cancel *stop)
{
    int64_t deadline = kc_clock_deadline(e->clock, e->renew);
    while (!try_once(e, stop)) {
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

/* Nobody leads from now on; the record stays valid for a second, as client-go writes it. */
static void give_back(kc_election *e)
{
    kc_scoped(kc_error) err = {0};
    kc_time now = kc_clock_wall(e->clock);
    if (!is_us(e))
        return;
    char nobody[] = "";
    kc__lease_record free_record = {.holder = nobody,
                                    .seconds = 1,
                                    .transitions = e->record.transitions,
                                    .acquired = now,
                                    .renewed = now};
    if (write_record(e, &free_record, NULL, &err) < 0)
        kc_log_warn(e->log, "cannot release the lease", kc_kv("lease", e->name),
                    kc_kv("error", &err));
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
        give_back(e);
    return stopped ? 0 : kc_error_set(err, KC_INTERNAL, "leader election lost");
}

/* ---- life ---- */

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
        return kc_error_set(err, KC_BAD_REQUEST, "an election needs a name and positive times");
    return 0;
}

static void register_status(kc_election *e, kc_metrics *metrics)
{
    if (!metrics)
        return;
    kc_metric *metric =
        kc_metrics_gauge(metrics,
                         &(kc_metric_opts){.name = "leader_election_master_status",
                                           .help = "1 if this process leads, 0 if it stands by.",
                                           .labels = {{"name", .max_values = 100}}},
                         NULL);
    e->status = kc_gauge_of(metric, kc_cstr(e->name));
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
    free(e->told);
    free(e);
    return NULL;
}
