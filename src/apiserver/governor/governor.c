/* SPDX-License-Identifier: Apache-2.0 */
/*
 * governor.c: the accounts, the readings, the thread that takes them, and the metrics.
 *
 * Freed memory stays with the allocator until it is trimmed, and a reading would still include it.
 * So above the soft limit the thread trims, at most once in TRIM_EVERY, and reads again before it
 * acts.
 *
 * Pace. Memory grows when the server works, so the thread reads every INTERVAL while requests
 * arrive or run, and while the process is near the soft limit. Otherwise it dozes: it reads every
 * IDLE_INTERVAL, and the first request wakes it, so that the next reading follows within INTERVAL.
 *
 *     request ─▶ active = true; dozing? ─▶ signal          thread: reading ─▶ was it active?
 *                                                                      │ yes: sleep INTERVAL
 *                                                                      └ no: doze until active
 *
 * Requests of a busy server only load `active`: the first one after a reading sets it.
 *
 * Threads: readings, `active` and `dozing` are atomics. The thread stores `dozing` before it loads
 * `active`, and a request does the reverse, so no wake-up is lost. The mutex guards `stopping` and
 * the wait.
 */
#include "apiserver/governor/governor.h"

#include "apiserver/governor/memory_available.h"
#include "kc/thread.h"

#define INTERVAL      (250 * KC_MILLISECOND)
#define IDLE_INTERVAL (2 * KC_SECOND)
#define TRIM_EVERY    (2 * KC_SECOND)
#define LOG_EVERY     (10 * KC_SECOND)

enum { RETRY_AFTER_SECONDS = 1 };

typedef struct governor_metrics {
    kc_gauge *categories[KC__N_MEMORY];
    kc_gauge *resident, *soft, *hard, *level;
    kc_counter *refused_light, *refused_heavy;
    kc_metric *cancelled;
} governor_metrics;

struct kc__governor {
    kc__governor_opts opts;
    kc__memory_account *accounts;
    _Atomic size_t resident, counted_at_reading;
    governor_metrics metrics;
    kc_metrics_hook hook;
    bool hook_added;
    kc_thread *thread;
    int64_t trimmed, logged; /* Used by the thread only. */
    _Atomic bool active;     /* A request arrived since the last reading. */
    _Atomic bool dozing;     /* A request must wake the thread. */
    kc_mutex mutex;          /* Guards the next field. */
    bool stopping;
    kc_cond wake;
};

static const char *const labels[KC__N_MEMORY] = {
#define LABEL(name, label) [KC__MEMORY_##name] = (label),
    KC__MEMORY_CATEGORIES(LABEL)
#undef LABEL
};

/* ---- readings ---- */

kc__memory_account *kc__governor_account(kc__governor *governor, size_t i)
{
    return &governor->accounts[i % governor->opts.accounts];
}

int64_t kc__governor_counted(const kc__governor *governor, kc__memory_category category)
{
    int64_t sum = 0;
    for (size_t i = 0; i < governor->opts.accounts; i++)
        sum += atomic_load_explicit(&governor->accounts[i].bytes[category], memory_order_relaxed);
    return KC_MAX(sum, 0);
}

static size_t counted_in_all(const kc__governor *governor)
{
    int64_t sum = 0;
    for (size_t i = 0; i < KC__N_MEMORY; i++)
        sum += kc__governor_counted(governor, (kc__memory_category)i);
    return (size_t)sum;
}

kc__memory_state kc__governor_state(kc__governor *g)
{
    return (kc__memory_state){
        .soft = g->opts.soft,
        .hard = g->opts.hard,
        .resident = atomic_load_explicit(&g->resident, memory_order_relaxed),
        .counted = counted_in_all(g),
        .counted_at_reading = atomic_load_explicit(&g->counted_at_reading, memory_order_relaxed),
    };
}

kc__memory_level kc__governor_level(kc__governor *governor)
{
    kc__memory_state state = kc__governor_state(governor);
    return kc__memory_judge(&state, 0);
}

static void take_reading(kc__governor *g)
{
    size_t resident, counted = counted_in_all(g);
    if (!g->opts.read || !g->opts.read(&resident))
        return;
    atomic_store_explicit(&g->counted_at_reading, counted, memory_order_relaxed);
    atomic_store_explicit(&g->resident, resident, memory_order_relaxed);
}

/* ---- actions ---- */

static void trim_governor_memory(kc__governor *g, int64_t now)
{
    if (g->trimmed && now - g->trimmed < TRIM_EVERY)
        return;
    g->trimmed = now;
    kc_mem_trim(0);
    take_reading(g);
}

static void report(kc__governor *g, kc__memory_level level, int64_t now)
{
    if (g->logged && now - g->logged < LOG_EVERY)
        return;
    g->logged = now;
    kc__memory_state s = kc__governor_state(g);
    kc_log_warn(g->opts.log,
                level == KC__MEMORY_HARD ? "memory above the hard limit; cancelling responses"
                                         : "memory above the soft limit; refusing large requests",
                kc_kv("resident", s.resident), kc_kv("soft", s.soft), kc_kv("hard", s.hard));
}

void kc__governor_tick(kc__governor *g)
{
    take_reading(g);
    if (kc__governor_level(g) == KC__MEMORY_OK)
        return;
    int64_t now = kc_clock_now(g->opts.clock);
    trim_governor_memory(g, now);
    kc__memory_state state = kc__governor_state(g);
    kc__memory_level level = kc__memory_judge(&state, 0);
    if (level == KC__MEMORY_OK)
        return;
    report(g, level, now);
    if (g->opts.evict)
        g->opts.evict(g->opts.user);
    if (level == KC__MEMORY_HARD && g->opts.shed)
        g->opts.shed(kc__memory_excess(&state), g->opts.user);
}

/* ---- the thread ---- */

/* Whether memory may grow beyond a limit before the next idle reading. */
static bool needs_frequent_readings(kc__governor *g, bool was_active)
{
    const kc__memory_state state = kc__governor_state(g);
    return was_active || kc__governor_counted(g, KC__MEMORY_REQUESTS) > 0 ||
           (state.soft && kc__memory_projected(&state, 0) > state.soft / 4 * 3);
}

/* Sleeps for `ns`, or until a request arrives if `until_active`. False: the thread must end. */
static bool sleep_governor(kc__governor *g, int64_t ns, bool until_active)
{
    const int64_t deadline = kc_clock_deadline(g->opts.clock, ns);
    bool stopping = false;
    kc_locked (&g->mutex) {
        atomic_store(&g->dozing, until_active);
        while (!g->stopping && !(until_active && atomic_load(&g->active)) &&
               kc_cond_wait_until(&g->wake, &g->mutex, g->opts.clock, deadline))
            ;
        atomic_store(&g->dozing, false);
        stopping = g->stopping;
    }
    return !stopping;
}

/* False: the thread must end. */
static bool wait_for_next_reading(kc__governor *g, bool was_active)
{
    if (!needs_frequent_readings(g, was_active)) {
        if (!sleep_governor(g, g->opts.idle_interval, true))
            return false;
        if (!atomic_exchange(&g->active, false)) /* The next reading shows what it needed. */
            return true;
    }
    return sleep_governor(g, g->opts.interval, false);
}

static void run_governor(void *user)
{
    kc__governor *g = user;
    bool was_active;
    do {
        was_active = atomic_exchange(&g->active, false);
        kc__governor_tick(g);
    } while (wait_for_next_reading(g, was_active));
}

void kc__governor_note_request(kc__governor *g)
{
    if (atomic_load_explicit(&g->active, memory_order_relaxed) ||
        atomic_exchange(&g->active, true) || !atomic_load(&g->dozing))
        return;
    kc_locked (&g->mutex)
        kc_cond_signal(&g->wake);
}

/* ---- requests ---- */

int kc__governor_admit(kc__governor *g, const kc__governor_request_traits *traits, kc_error *err)
{
    kc__governor_request_class request_class = kc__governor_request_class_of(traits);
    if (request_class == KC__GOVERNOR_CLASS_EXEMPT)
        return 0;
    kc__memory_state state = kc__governor_state(g);
    kc__memory_level level = kc__memory_judge(&state, kc__governor_request_cost(traits->body));
    if (!kc__memory_refuses(level, request_class))
        return 0;
    bool heavy = request_class == KC__GOVERNOR_CLASS_HEAVY;
    kc_counter_inc(heavy ? g->metrics.refused_heavy : g->metrics.refused_light);
    int failed = kc_error_set(
        err, KC_TOO_MANY_REQUESTS, "the server is short of memory and refuses %s; try again later",
        heavy ? "watches, lists without a limit and large writes" : "lists and writes");
    if (err)
        err->retry_after_seconds = RETRY_AFTER_SECONDS;
    return failed;
}

void kc__governor_cancelled(kc__governor *g, kc_str kind, size_t n)
{
    kc_counter_add(kc_metric_counter(g->metrics.cancelled, kind), (double)n);
}

/* ---- metrics ---- */

static void set_gauges(kc_metrics_hook *hook)
{
    kc__governor *g = kc_container_of(hook, kc__governor, hook);
    kc__memory_state s = kc__governor_state(g);
    for (size_t i = 0; i < KC__N_MEMORY; i++)
        kc_gauge_set(g->metrics.categories[i],
                     (double)kc__governor_counted(g, (kc__memory_category)i));
    kc_gauge_set(g->metrics.resident, (double)s.resident);
    kc_gauge_set(g->metrics.soft, (double)s.soft);
    kc_gauge_set(g->metrics.hard, (double)s.hard);
    kc_gauge_set(g->metrics.level, (double)kc__memory_judge(&s, 0));
}

#define PREFIX "kc_memory_"

static int make_gauges(governor_metrics *m, kc_metrics *registry, kc_error *err)
{
    kc_metric *bytes = kc_metrics_gauge(
        registry,
        &(kc_metric_opts){
            .name = PREFIX "bytes",
            .help = "Accounted memory, by category.",
            .labels = {{"category", KC_LABEL_VALUES("requests", "responses", "watches", "snapshots",
                                                    "caches")}}},
        err);
    kc_metric *limits =
        kc_metrics_gauge(registry,
                         &(kc_metric_opts){.name = PREFIX "limit_bytes",
                                           .help = "Limits of the anonymous memory of the process.",
                                           .labels = {{"limit", KC_LABEL_VALUES("soft", "hard")}}},
                         err);
    m->resident = kc_metric_gauge(kc_metrics_gauge(
        registry,
        &(kc_metric_opts){.name = PREFIX "resident_bytes",
                          .help = "Anonymous resident memory at the last reading."},
        err));
    m->level = kc_metric_gauge(kc_metrics_gauge(
        registry,
        &(kc_metric_opts){.name = PREFIX "pressure",
                          .help = "0: below the soft limit, 1: above it, 2: above the hard limit."},
        err));
    for (size_t i = 0; i < KC__N_MEMORY; i++)
        m->categories[i] = kc_metric_gauge(bytes, kc_cstr(labels[i]));
    m->soft = kc_metric_gauge(limits, KC_STR("soft"));
    m->hard = kc_metric_gauge(limits, KC_STR("hard"));
    return bytes && limits && m->resident && m->level ? 0 : kc_error_result(err);
}

static int make_counters(governor_metrics *m, kc_metrics *registry, kc_error *err)
{
    kc_metric *refused = kc_metrics_counter(
        registry,
        &(kc_metric_opts){.name = PREFIX "refused_requests_total",
                          .help = "Requests refused with 429 because memory was short.",
                          .labels = {{"class", KC_LABEL_VALUES("light", "heavy")}}},
        err);
    m->cancelled = kc_metrics_counter(
        registry,
        &(kc_metric_opts){.name = PREFIX "cancelled_responses_total",
                          .help = "Responses cancelled because memory was short.",
                          .labels = {{"kind", KC_LABEL_VALUES("list", "watch", "object")}}},
        err);
    m->refused_light = kc_metric_counter(refused, KC_STR("light"));
    m->refused_heavy = kc_metric_counter(refused, KC_STR("heavy"));
    return refused && m->cancelled ? 0 : kc_error_result(err);
}

static int make_metrics(kc__governor *g, kc_error *err)
{
    kc_metrics *registry = g->opts.metrics;
    if (!registry)
        return 0;
    if (make_gauges(&g->metrics, registry, err) < 0 ||
        make_counters(&g->metrics, registry, err) < 0)
        return kc_error_wrap(err, "memory metrics");
    g->hook.before = set_gauges;
    kc_metrics_add_hook(registry, &g->hook);
    g->hook_added = true;
    return 0;
}

/* ---- start and stop ---- */

static void set_defaults(kc__governor *g, const kc__governor_opts *opts)
{
    kc__governor_opts *o = &g->opts;
    *o = *opts;
    o->clock = o->clock ? o->clock : kc_clock_real();
    o->interval = o->interval ? o->interval : INTERVAL;
    o->idle_interval = o->idle_interval ? o->idle_interval : IDLE_INTERVAL;
    o->accounts = o->accounts ? o->accounts : 1;
    bool real = o->clock == kc_clock_real();
    if (!o->read && real)
        o->read = kc__memory_resident;
    size_t available = o->soft && o->hard ? 0 : kc__memory_available();
    if (!o->hard)
        o->hard = KC_MAX(available / 4 * 3, o->soft);
    if (!o->soft)
        o->soft = KC_MIN(available / 2, o->hard);
}

static kc__governor *governor_new(const kc__governor_opts *opts)
{
    kc__governor *g = kc_new(kc__governor);
    set_defaults(g, opts);
    size_t size = g->opts.accounts * sizeof(kc__memory_account);
    g->accounts = aligned_alloc(_Alignof(kc__memory_account), size);
    if (!g->accounts)
        abort();
    memset(g->accounts, 0, size);
    kc_mutex_init(&g->mutex);
    kc_cond_init(&g->wake);
    return g;
}

kc__governor *kc__governor_start(const kc__governor_opts *opts, kc_error *err)
{
    kc__governor *g = governor_new(opts);
    bool ready = make_metrics(g, err) == 0;
    if (ready && g->opts.clock == kc_clock_real()) {
        g->thread = kc_thread_start("governor", run_governor, g, err);
        ready = g->thread != NULL;
    }
    return ready ? g : kc__governor_free(g);
}

void kc__governor_stop(kc__governor *g)
{
    if (!g)
        return;
    kc_locked (&g->mutex) {
        g->stopping = true;
        kc_cond_signal(&g->wake);
    }
    g->thread = kc_thread_join(g->thread);
}

kc__governor *kc__governor_free(kc__governor *g)
{
    if (!g)
        return NULL;
    kc__governor_stop(g);
    if (g->hook_added)
        kc_metrics_remove_hook(g->opts.metrics, &g->hook);
    kc_cond_done(&g->wake);
    kc_mutex_done(&g->mutex);
    free(g->accounts);
    free(g);
    return NULL;
}
