/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Deployments under random changes: they are scaled, get other templates and are paused; their pods
 * get ready, fail or are deleted. After every write to a pod the test checks the limits: never more
 * pods than replicas plus surge, never fewer available than replicas minus maxUnavailable. At the
 * end all replicas are available.
 *
 * One change is made at a time, then the controllers run until they are idle. So the limits are
 * checked per change: where one is violated at the beginning (the deployment was just scaled, a pod
 * has failed) it must not get worse.
 */
#include "workload_testing.h"

#include "kc/map.h"

#define DEPLOYMENT &kc_kind_deployment
#define SET        &kc_kind_replica_set
#define POD        &kc_kind_pod
#define BOTH       "deployment,replicaset"

enum { TURNS = 40, SEEDS = SEEDS_OF(25) };

/* What is known of a pod. */
typedef struct pod {
    char *name;
    bool active, available;
} pod;

typedef struct model {
    kc_testenv *env;
    kc_rand rand;
    int wanted, surge, missing; /* The promise. */
    bool paused;
    int image;
    kc_map pods; /* Of pod, by name. */
    int active, available;
    char *seen; /* The resourceVersion up to which pods are known. */
    /* Of the turn: */
    int most, least;
} model;

/* ---- history of pods by write ---- */

static void see(model *m, const kc_object *object, bool gone)
{
    pod *p = kc_map_get(&m->pods, kc_object_name(object));
    if (!p) {
        p = kc_new(pod);
        p->name = kc_str_dup(kc_object_name(object));
        kc_map_put(&m->pods, kc_cstr(p->name), p);
    }
    kc_autofree char *phase = text_at(object, "status.phase");
    kc_autofree char *ready = condition_of(object, "Ready");
    m->active -= p->active;
    m->available -= p->available;
    p->active = !gone && !kc_object_being_deleted(object) && strcmp(phase, "Failed") != 0;
    p->available = p->active && strcmp(ready, "True ") == 0;
    m->active += p->active;
    m->available += p->available;
    free(m->seen);
    m->seen = kc_str_dup(kc_object_resource_version(object));
}

static void check(const model *m, uint64_t seed, int turn)
{
    if (m->active > m->most)
        fail_msg("seed %d, turn %d: %d pods, at most %d are allowed", (int)seed, turn, m->active,
                 m->most);
    if (m->available < m->least)
        fail_msg("seed %d, turn %d: %d pods are available, at least %d must be", (int)seed, turn,
                 m->available, m->least);
}

/* All that happened since the last time. */
static void check_history(model *m, uint64_t seed, int turn)
{
    kc_auto(kc_watch) *watch = kc_client_watch(kc_testenv_client(m->env), POD,
                                               &(kc_watch_opts){.resource_version = m->seen}, NULL);
    assert_non_null(watch);
    for (;;) {
        kc_scoped(kc_watch_event) event = {0};
        const int64_t soon = kc_clock_deadline(kc_testenv_clock(m->env), KC_MILLISECOND);
        if (kc_watch_next(watch, soon, &event, NULL) <= 0)
            return;
        see(m, event.object, event.type == KC_WATCH_DELETED);
        check(m, seed, turn);
    }
}

/* ---- random events ---- */

static size_t choose(model *m, size_t n)
{
    return (size_t)kc_rand_below(&m->rand, n);
}

static size_t sets_with_pods(model *m)
{
    kc_scoped(kc_object_list) sets = all_of(m->env, SET);
    size_t n = 0;
    for (size_t i = 0; i < sets.n; i++)
        n += number_at(sets.items[i], "spec.replicas") > 0;
    return n;
}

/* In the middle of a roll-out all sets are scaled in proportion, whatever of them is available:
 * then nothing is promised of that. While it is paused, that is done for other limits, too. */
static void scale(model *m)
{
    if (sets_with_pods(m) > 1)
        m->least = 0;
    m->wanted = (int)choose(m, 13);
    scale_to(m->env, DEPLOYMENT, "web", m->wanted);
}

static void change_template(model *m)
{
    m->image = (int)choose(m, 4);
    kc_autofree char *image = kc_asprintf("web:%d", m->image);
    set_image(m->env, "web", image);
}

static void pause(model *m)
{
    m->paused = !m->paused;
    if (m->paused && sets_with_pods(m) > 1)
        m->least = 0;
    patch_with(m->env, DEPLOYMENT, KC_STR("web"), NULL,
               m->paused ? "{'spec':{'paused':true}}" : "{'spec':{'paused':false}}");
}

static void change_limits(model *m)
{
    if (m->paused && sets_with_pods(m) > 1)
        m->least = 0;
    m->surge = (int)choose(m, 4);
    m->missing = m->surge ? (int)choose(m, 4) : 1 + (int)choose(m, 3);
    kc_autofree char *json =
        kc_asprintf("{'spec':{'strategy':{'rollingUpdate':{'maxSurge':%d,'maxUnavailable':%d}}}}",
                    m->surge, m->missing);
    patch_with(m->env, DEPLOYMENT, KC_STR("web"), NULL, json);
}

static void make_some_pods_ready(model *m)
{
    run_some_pods(m->env, 1 + choose(m, 4));
}

/* An active pod, or NULL. */
static const pod *choose_pod(model *m)
{
    size_t n = m->active ? choose(m, (size_t)m->active) : 0;
    kc_map_each (&m->pods, entry) {
        const pod *p = entry->value;
        if (p->active && n-- == 0)
            return p;
    }
    return NULL;
}

static void fail_one_pod(model *m)
{
    const pod *p = choose_pod(m);
    if (!p)
        return;
    m->least -= p->available;
    set_pod(m->env, kc_cstr(p->name), "Failed", false);
}

static void delete_one_pod(model *m)
{
    const pod *p = choose_pod(m);
    if (!p)
        return;
    m->least -= p->available;
    kc_client_delete(kc_testenv_client(m->env), POD, KC_KEY("default", p->name), NULL, NULL);
}

static void make_one_pod_unready(model *m)
{
    const pod *p = choose_pod(m);
    if (!p)
        return;
    m->least -= p->available;
    set_pod(m->env, kc_cstr(p->name), "Running", false);
}

typedef void happening(model *m);
static happening *const happenings[] = {
    scale,
    change_template,
    pause,
    change_limits,
    make_some_pods_ready,
    make_some_pods_ready,
    make_some_pods_ready,
    make_some_pods_ready,
    fail_one_pod,
    delete_one_pod,
    make_some_pods_ready,
    change_template,
    make_one_pod_unready,
};

/* ---- scenario ---- */

static void take_turn(model *m, uint64_t seed, int turn)
{
    m->least = m->available;
    happenings[choose(m, KC_COUNT(happenings))](m);
    const int promised = m->wanted - KC_MIN(m->missing, m->wanted);
    m->least = KC_MIN(m->least, promised);
    m->most = KC_MAX(m->active, m->wanted + m->surge);
    settle(m->env);
    check_history(m, seed, turn);
}

/* All that can get ready does, also what was and is no more. */
static void assert_converges(model *m)
{
    if (m->paused)
        pause(m);
    for (int i = 0; i < 200; i++) {
        settle(m->env);
        kc_scoped(kc_object_list) pods = all_of(m->env, POD);
        size_t changed = 0;
        for (size_t k = 0; k < pods.n; k++) {
            kc_autofree char *phase = text_at(pods.items[k], "status.phase");
            kc_autofree char *ready = condition_of(pods.items[k], "Ready");
            if (strcmp(phase, "Failed") == 0 || strcmp(ready, "True ") == 0)
                continue;
            set_pod(m->env, kc_object_name(pods.items[k]), "Running", true);
            changed++;
        }
        if (!changed)
            break;
    }
    settle(m->env);
    assert_int_equal(number_of(m->env, DEPLOYMENT, "web", "status.availableReplicas"), m->wanted);
    assert_int_equal(number_of(m->env, DEPLOYMENT, "web", "status.updatedReplicas"), m->wanted);
    assert_int_equal(number_of(m->env, DEPLOYMENT, "web", "status.replicas"), m->wanted);
    kc_auto(kc_object) *d = look_up(m->env, DEPLOYMENT, "web");
    kc_autofree char *progress = condition_of(d, "Progressing");
    assert_string_equal(progress, "True NewReplicaSetAvailable");
}

static void model_done(model *m)
{
    kc_map_each (&m->pods, entry) {
        free(((pod *)entry->value)->name);
        free(entry->value);
    }
    kc_map_done(&m->pods);
    free(m->seen);
    kc_testenv_stop(m->env);
}

static void run_model(uint64_t seed, const kc_fault_opts *fault)
{
    kc_scoped(model) m = {.env = workloads(seed, BOTH),
                          .wanted = 6,
                          .surge = 2,
                          .missing = 1,
                          .seen = kc_strdup("1")};
    kc_rand_seed(&m.rand, seed);
    if (fault)
        kc_testenv_fault(m.env, fault);
    make_deployment_with(m.env, "web", 6,
                         "'strategy':{'rollingUpdate':{'maxSurge':2,'maxUnavailable':1}}");
    m.most = 8;
    run_to_end(m.env);
    check_history(&m, seed, -1);
    for (int turn = 0; turn < TURNS; turn++)
        take_turn(&m, seed, turn);
    kc_testenv_clear_faults(m.env);
    assert_converges(&m);
}

static void rollout_respects_surge_and_unavailable(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++)
        run_model(seed, NULL);
}

static void rollout_with_stale_cache_respects_limits(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS_OF(5); seed++)
        run_model(seed, &(kc_fault_opts){.fault = KC_FAULT_STALE_READ, .chance = 1});
}

static void rollout_with_lost_responses_respects_limits(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS_OF(5); seed++)
        run_model(seed, &(kc_fault_opts){.fault = KC_FAULT_LOST_RESPONSE, .chance = 0.2});
}

TESTS(rollout_respects_surge_and_unavailable, rollout_with_stale_cache_respects_limits,
      rollout_with_lost_responses_respects_limits)
