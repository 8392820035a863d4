/* SPDX-License-Identifier: Apache-2.0 */
/*
 * simulate.c: simulated containers. See simulate.h.
 *
 * The state of a container follows from two times, its start and its end, which are known when it
 * is started or stopped: nothing runs. One thread waits for the next such time, in a heap, and
 * signals the change.
 *
 * To add an annotation: a line in simulate.h, and the code that reads it.
 */
#include "pods/simulate.h"

#include "kc/duration.h"
#include "kc/heap.h"
#include "kc/map.h"
#include "kc/thread.h"

#include <stdio.h>

typedef struct pods_simulate_attempt {
    int number; /* -1: none. */
    kc_time begins, ends;
    int exit_code, signal;
    bool ignores_stop;
    int64_t stop_delay;
    kc_heap_node timer;
    kc_time timer_at;
    struct pod *pod;
} pods_simulate_attempt;

/* The last two attempts of a container: even and odd. */
typedef struct container {
    char *name;
    pods_simulate_attempt attempts[2];
    int newest; /* -1: none. */
} container;

typedef struct pod {
    char *uid;
    kc_map containers; /* By name. */
} pod;

typedef struct simulated {
    kc__pods_runtime base;
    const kc_clock *clock;
    int64_t start_delay, stop_delay;
    kc_mutex notify_mutex; /* Held while base.changed is called, and to change it. Taken first. */
    kc_mutex mutex;        /* Guards the rest. No calls are made under it. */
    kc_cond wake;
    kc_map pods; /* By uid. */
    kc_heap timers;
    size_t starts;
    bool stopping;
    kc_thread *thread;
} simulated;

static simulated *self_of(kc__pods_runtime *runtime)
{
    return kc_container_of(runtime, simulated, base);
}

/* ---- annotations ---- */

static bool is_init(const kc_pod *p, const kc_container *c)
{
    for (size_t i = 0; i < p->spec.n_init_containers; i++)
        if (!strcmp(p->spec.init_containers[i].name, c->name))
            return true;
    return false;
}

/* "name.container", or "name" for containers that are not init containers. NULL: not set. */
static const char *annotation_of(const kc_pod *p, const kc_container *c, const char *name)
{
    const kc_string_map *all = &p->metadata.annotations;
    kc_autofree char *own = kc_asprintf(KC__PODS_SIMULATE "%s.%s", name, c->name);
    kc_autofree char *common = kc_asprintf(KC__PODS_SIMULATE "%s", name);
    const bool init = is_init(p, c);
    const char *found = NULL;
    for (size_t i = 0; i < all->n; i++) {
        if (!strcmp(all->items[i].key, own))
            return all->items[i].value;
        if (!init && !strcmp(all->items[i].key, common))
            found = all->items[i].value;
    }
    return found;
}

static int64_t duration_annotation(const kc_pod *p, const kc_container *c, const char *name,
                                   int64_t fallback)
{
    const char *text = annotation_of(p, c, name);
    int64_t ns;
    return text && kc_duration_parse(kc_cstr(text), &ns, NULL) == 0 ? KC_MAX(ns, 0) : fallback;
}

static int int_annotation(const kc_pod *p, const kc_container *c, const char *name, int fallback)
{
    int64_t n;
    const char *text = annotation_of(p, c, name);
    return text && kc_str_to_i64(kc_cstr(text), &n) ? (int)n : fallback;
}

/* ---- pods and containers ---- */

static pod *pod_of(simulated *s, kc_str uid, bool make)
{
    pod *found = kc_map_get(&s->pods, uid);
    if (found || !make)
        return found;
    found = kc_new(pod);
    found->uid = kc_str_dup(uid);
    kc_map_put(&s->pods, kc_cstr(found->uid), found);
    return found;
}

static container *container_of(pod *p, kc_str name, bool make)
{
    container *found = p ? kc_map_get(&p->containers, name) : NULL;
    if (found || !make)
        return found;
    found = kc_new(container);
    found->name = kc_str_dup(name);
    found->newest = found->attempts[0].number = found->attempts[1].number = -1;
    kc_map_put(&p->containers, kc_cstr(found->name), found);
    return found;
}

static pods_simulate_attempt *attempt_of(simulated *s, kc__pod_container_id id)
{
    container *c = container_of(pod_of(s, id.pod_uid, false), id.name, false);
    const int number = c && id.attempt == KC__POD_LATEST_ATTEMPT ? c->newest : id.attempt;
    if (!c || number < 0 || c->attempts[number & 1].number != number)
        return NULL;
    return &c->attempts[number & 1];
}

static void pod_free(simulated *s, pod *p)
{
    kc_map_each (&p->containers, it) {
        container *c = it->value;
        kc_heap_remove(&s->timers, &c->attempts[0].timer);
        kc_heap_remove(&s->timers, &c->attempts[1].timer);
        free(c->name);
        free(c);
    }
    kc_map_done(&p->containers);
    free(p->uid);
    free(p);
}

/* ---- timers ---- */

static bool pods_simulate_earlier(const kc_heap_node *a, const kc_heap_node *b, void *user)
{
    (void)user;
    const pods_simulate_attempt *x = kc_container_of(a, const pods_simulate_attempt, timer);
    const pods_simulate_attempt *y = kc_container_of(b, const pods_simulate_attempt, timer);
    return x->timer_at != y->timer_at ? x->timer_at < y->timer_at
                                      : strcmp(x->pod->uid, y->pod->uid) < 0;
}

/* The time of its next change of state; needs the lock. */
static void set_timer(simulated *s, pods_simulate_attempt *a)
{
    const kc_time now = kc_clock_wall(s->clock);
    kc_heap_remove(&s->timers, &a->timer);
    a->timer_at = a->begins > now ? a->begins : a->ends;
    if (a->timer_at == KC_FOREVER || a->timer_at <= now)
        return;
    kc_heap_push(&s->timers, &a->timer);
    if (kc_heap_peek(&s->timers) == &a->timer)
        kc_cond_signal(&s->wake);
}

/* Waits for the next due change; returns its pod's uid, which the caller frees. NULL: stopping. */
static char *next_due(simulated *s)
{
    char *uid = NULL;
    kc_locked (&s->mutex) {
        while (!s->stopping && !uid) {
            kc_heap_node *first = kc_heap_peek(&s->timers);
            pods_simulate_attempt *a =
                first ? kc_container_of(first, pods_simulate_attempt, timer) : NULL;
            const int64_t left = a ? a->timer_at - kc_clock_wall(s->clock) : KC_FOREVER;
            if (left > 0) {
                kc_cond_wait_until(&s->wake, &s->mutex, s->clock,
                                   kc_clock_deadline(s->clock, left));
                continue;
            }
            uid = kc_strdup(a->pod->uid);
            set_timer(s, a);
        }
    }
    return uid;
}

static void notify_changes(void *user)
{
    simulated *s = user;
    char *uid;
    while ((uid = next_due(s))) {
        kc_locked (&s->notify_mutex)
            if (s->base.changed)
                s->base.changed(kc_cstr(uid), s->base.changed_user);
        free(uid);
    }
}

void kc__pods_simulated_listen(kc__pods_runtime *runtime, void (*changed)(kc_str uid, void *user),
                               void *user)
{
    simulated *s = self_of(runtime);
    kc_locked (&s->notify_mutex) {
        s->base.changed = changed;
        s->base.changed_user = user;
    }
}

/* ---- operations ---- */

static int pods_simulate_prepare(kc__pods_runtime *runtime, const kc_pod *p, kc_error *err)
{
    (void)err;
    simulated *s = self_of(runtime);
    kc_locked (&s->mutex)
        pod_of(s, kc_cstr(p->metadata.uid), true);
    return 0;
}

static int pods_simulate_fill(kc__pods_runtime *runtime, const kc_pod *p, const kc_volume *volume,
                              const kc__pod_volume_file *files, size_t n, kc_error *err)
{
    (void)runtime;
    (void)p;
    (void)volume;
    (void)files;
    (void)n;
    (void)err;
    return 0;
}

static bool ends_by_itself(const kc_pod *p, const kc_container *c)
{
    const bool init = is_init(p, c);
    const bool sidecar = init && c->restart_policy && !strcmp(c->restart_policy, "Always");
    return (init && !sidecar) || annotation_of(p, c, "run-for") || annotation_of(p, c, "exit-code");
}

static pods_simulate_attempt new_attempt(simulated *s, const kc_pod *p, const kc_container *c,
                                         int number, kc_time now)
{
    const char *ignores = annotation_of(p, c, "ignore-stop");
    pods_simulate_attempt a = {
        .number = number,
        .begins = now + duration_annotation(p, c, "start-delay", s->start_delay),
        .ends = KC_FOREVER,
        .exit_code = int_annotation(p, c, "exit-code", 0),
        .stop_delay = duration_annotation(p, c, "stop-delay", s->stop_delay),
        .ignores_stop = ignores && !strcmp(ignores, "true"),
    };
    if (ends_by_itself(p, c))
        a.ends = a.begins + duration_annotation(p, c, "run-for", 0);
    return a;
}

static void put_attempt(simulated *s, const kc_pod *p, const kc_container *c,
                        pods_simulate_attempt a)
{
    kc_locked (&s->mutex) {
        a.pod = pod_of(s, kc_cstr(p->metadata.uid), true);
        container *to = container_of(a.pod, kc_cstr(c->name), true);
        pods_simulate_attempt *slot = &to->attempts[a.number & 1];
        kc_heap_remove(&s->timers, &slot->timer);
        *slot = a;
        to->newest = a.number;
        set_timer(s, slot);
    }
}

static int pods_simulate_start(kc__pods_runtime *runtime, const kc__pod_container_start *what,
                               kc_error *err)
{
    simulated *s = self_of(runtime);
    const kc_time now = kc_clock_wall(s->clock);
    const char *failure = annotation_of(what->pod, what->container, "fail-start");
    if (failure)
        return kc_error_set(err, KC_INVALID, "%s", failure);
    put_attempt(s, what->pod, what->container,
                new_attempt(s, what->pod, what->container, what->attempt, now));
    kc_locked (&s->mutex)
        s->starts++;
    return 0;
}

static void resume(kc__pods_runtime *runtime, const kc_pod *p, const kc_container *c, int number,
                   kc_time started)
{
    simulated *s = self_of(runtime);
    pods_simulate_attempt a = new_attempt(s, p, c, number, started);
    a.begins = started;
    put_attempt(s, p, c, a);
}

static void observe(kc__pods_runtime *runtime, kc__pod_container_id id,
                    kc__pod_container_report *ret)
{
    simulated *s = self_of(runtime);
    const kc_time now = kc_clock_wall(s->clock);
    kc_locked (&s->mutex) {
        const pods_simulate_attempt *a = attempt_of(s, id);
        if (!a)
            break;
        ret->attempt = a->number;
        ret->phase = now < a->begins && a->ends > a->begins ? KC__POD_CONTAINER_NONE
                     : now < a->ends                        ? KC__POD_CONTAINER_RUNNING
                                                            : KC__POD_CONTAINER_ENDED;
        ret->started = a->begins;
        ret->ended = ret->phase == KC__POD_CONTAINER_ENDED ? a->ends : 0;
        ret->exit_code = ret->phase == KC__POD_CONTAINER_ENDED ? a->exit_code : 0;
        ret->signal = ret->phase == KC__POD_CONTAINER_ENDED ? a->signal : 0;
    }
}

static void pods_simulate_stop(kc__pods_runtime *runtime, kc__pod_container_id id, bool force)
{
    simulated *s = self_of(runtime);
    const kc_time now = kc_clock_wall(s->clock);
    kc_locked (&s->mutex) {
        pods_simulate_attempt *a = attempt_of(s, id);
        const kc_time end = now + (a && !force ? a->stop_delay : 0);
        if (!a || a->ends <= end || (a->ignores_stop && !force))
            break;
        a->ends = end;
        a->begins = KC_MIN(a->begins, end);
        a->exit_code = force ? 137 : 0;
        a->signal = force ? 9 : 0;
        set_timer(s, a);
    }
}

static bool fails(const kc_pod *p, const kc_container *c, const kc_probe *probe, kc_time ran)
{
    const char *type = probe == c->startup_probe    ? "startup"
                       : probe == c->liveness_probe ? "liveness"
                                                    : "readiness";
    kc_str rest = kc_cstr(annotation_of(p, c, "fail-probe"));
    while (rest.p)
        if (kc_str_is(kc_str_trim(kc_str_cut(&rest, ',')), type))
            return true;
    return probe == c->readiness_probe && ran < duration_annotation(p, c, "ready-after", 0);
}

static kc__pod_probe_result probe(kc__pods_runtime *runtime, const kc_pod *p, const kc_container *c,
                                  int number, const kc_probe *what, kc_cancel *cancel,
                                  kc_error *err)
{
    (void)cancel;
    kc__pod_container_report report = {.attempt = -1};
    simulated *s = self_of(runtime);
    observe(runtime, (kc__pod_container_id){kc_cstr(p->metadata.uid), kc_cstr(c->name), number},
            &report);
    const bool hook =
        what != c->startup_probe && what != c->liveness_probe && what != c->readiness_probe;
    if (hook || !fails(p, c, what, kc_clock_wall(s->clock) - report.started))
        return KC__POD_PROBE_OK;
    kc_error_set(err, KC_SERVICE_UNAVAILABLE, "simulated failure");
    return KC__POD_PROBE_FAILED;
}

static void remove_pod(kc__pods_runtime *runtime, kc_str uid)
{
    simulated *s = self_of(runtime);
    kc_locked (&s->mutex) {
        pod *p = kc_map_remove(&s->pods, uid);
        if (p)
            pod_free(s, p);
    }
}

static void pods_simulate_each(kc__pods_runtime *runtime, void (*visit)(kc_str uid, void *user),
                               void *user)
{
    simulated *s = self_of(runtime);
    KC_VEC(char *) uids = {0};
    kc_locked (&s->mutex)
        kc_map_each (&s->pods, it)
            kc_vec_push(&uids, kc_str_dup(it->key));
    kc_vec_each (&uids, uid) {
        visit(kc_cstr(*uid), user);
        free(*uid);
    }
    kc_vec_done(&uids);
}

static kc__pods_runtime *pods_simulate_free_all(kc__pods_runtime *runtime)
{
    if (!runtime)
        return NULL;
    simulated *s = self_of(runtime);
    kc_locked (&s->mutex) {
        s->stopping = true;
        kc_cond_broadcast(&s->wake);
    }
    kc_thread_join(s->thread);
    kc_map_each (&s->pods, it)
        pod_free(s, it->value);
    kc_map_done(&s->pods);
    kc_heap_done(&s->timers);
    kc_cond_done(&s->wake);
    kc_mutex_done(&s->mutex);
    kc_mutex_done(&s->notify_mutex);
    free(s);
    return NULL;
}

static const kc__pods_runtime_ops ops = {
    .prepare = pods_simulate_prepare,
    .fill = pods_simulate_fill,
    .start = pods_simulate_start,
    .observe = observe,
    .stop = pods_simulate_stop,
    .probe = probe,
    .resume = resume,
    .remove = remove_pod,
    .each = pods_simulate_each,
    .free = pods_simulate_free_all,
};

kc__pods_runtime *kc__pods_simulated_runtime_new(const kc_pods_opts *opts, const kc_clock *clock,
                                                 kc_error *err)
{
    simulated *s = kc_new(simulated);
    s->base = (kc__pods_runtime){
        .ops = &ops, .name = "simulated", .version = "1.0", .probes_at_once = true};
    s->clock = clock;
    s->start_delay = opts->start_delay;
    s->stop_delay = opts->stop_delay;
    s->timers.less = pods_simulate_earlier;
    kc_mutex_init(&s->notify_mutex);
    kc_mutex_init(&s->mutex);
    kc_cond_init(&s->wake);
    s->thread = kc_thread_start("pods-timers", notify_changes, s, err);
    return s->thread ? &s->base : pods_simulate_free_all(&s->base);
}

size_t kc__pods_simulated_starts(const kc__pods_runtime *runtime)
{
    simulated *s = kc_container_of(runtime, simulated, base);
    size_t n = 0;
    kc_locked (&s->mutex)
        n = s->starts;
    return n;
}
