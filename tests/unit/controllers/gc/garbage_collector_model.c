/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The garbage collector compared with a model of ten lines: objects are created, get and lose
 * owners, and are deleted with each policy, at random; whenever the controller is idle, the server
 * has the objects and references of the model.
 *
 *     KC_GC_SEED=… KC_GC_STEPS=… test_controllers_garbage_collector_model     for longer runs
 */
#include "garbage_testing.h"

#include <stdlib.h>

enum { OBJECTS = 400, MAX_OWNERS = 3, ALIVE = 30 };

/* Objects by number; their names say it. */
typedef struct thing {
    kc_object *object; /* NULL: gone. */
    int owners[MAX_OWNERS];
    int n_owners;
} thing;

typedef struct gc_model {
    kc_testenv *env;
    kc_rand rand;
    thing things[OBJECTS];
    int n;
    bool batch; /* Several steps between two looks: only such whose order does not matter. */
} gc_model;

static void gc_model_done(gc_model *w)
{
    for (int i = 0; i < w->n; i++)
        kc_object_unref(w->things[i].object);
    kc_testenv_stop(w->env);
}

/* ---- the model ---- */

static bool is_alive(const gc_model *w, int i)
{
    return w->things[i].object;
}

static int drop_dead_owners(gc_model *w, thing *t)
{
    int n = 0;
    for (int i = 0; i < t->n_owners; i++)
        if (is_alive(w, t->owners[i]))
            t->owners[n++] = t->owners[i];
    const int dropped = t->n_owners - n;
    t->n_owners = n;
    return dropped;
}

/* What has had owners, and none of them is left, goes. */
static void collect(gc_model *w)
{
    bool more = true;
    while (more) {
        more = false;
        for (int i = 0; i < w->n; i++) {
            thing *t = &w->things[i];
            if (!t->object || !drop_dead_owners(w, t) || t->n_owners)
                continue;
            t->object = kc_object_unref(t->object);
            more = true;
        }
    }
}

static void forget(gc_model *w, int owner)
{
    for (int i = 0; i < w->n; i++) {
        thing *t = &w->things[i];
        int n = 0;
        for (int j = 0; j < t->n_owners; j++)
            if (t->owners[j] != owner)
                t->owners[n++] = t->owners[j];
        t->n_owners = n;
    }
}

/* ---- steps ---- */

static int choose_alive(gc_model *w)
{
    int candidates[OBJECTS], n = 0;
    for (int i = 0; i < w->n; i++)
        if (is_alive(w, i))
            candidates[n++] = i;
    return n ? candidates[kc_rand_below(&w->rand, (uint64_t)n)] : -1;
}

static bool has_owner(const thing *t, int owner)
{
    for (int i = 0; i < t->n_owners; i++)
        if (t->owners[i] == owner)
            return true;
    return false;
}

/* Living ones, and now and then one that was. */
static void choose_owners(gc_model *w, thing *t)
{
    t->n_owners = 0;
    for (int n = (int)kc_rand_below(&w->rand, MAX_OWNERS + 1); n > 0; n--) {
        int owner = choose_alive(w);
        if (owner >= 0 && !has_owner(t, owner))
            t->owners[t->n_owners++] = owner;
    }
}

static void list_owners(const gc_model *w, const thing *t, const kc_object *ret[MAX_OWNERS + 1])
{
    for (int i = 0; i < t->n_owners; i++)
        ret[i] = w->things[t->owners[i]].object;
    ret[t->n_owners] = NULL;
}

static void create(gc_model *w)
{
    const int i = w->n;
    thing *t = &w->things[i];
    const kc_object *owners[MAX_OWNERS + 1];
    kc_autofree char *name = kc_asprintf("thing-%d", i);
    static const char *const kinds[] = {"v1 ConfigMap", "v1 Secret"};
    choose_owners(w, t);
    list_owners(w, t, owners);
    const bool blocks = kc_rand_below(&w->rand, 3);
    t->object = make_owned(w->env, kinds[i % 2], "default", name, owners, blocks);
    w->n++;
}

static const kc_kind *kind_of(int i)
{
    return i % 2 ? &kc_kind_secret : &kc_kind_config_map;
}

static void change_owners(gc_model *w, int i)
{
    thing *t = &w->things[i];
    const kc_object *owners[MAX_OWNERS + 1];
    kc_scoped(kc_error) err = {0};
    choose_owners(w, t);
    list_owners(w, t, owners);
    kc_scoped(kc_buf) patch = {0};
    kc_buf_puts(&patch, "{\"metadata\":{\"ownerReferences\":[");
    write_owners(&patch, owners, kc_rand_below(&w->rand, 2));
    kc_buf_puts(&patch, "]}}");
    kc_auto(kc_object) *after =
        kc_client_patch(kc_testenv_client(w->env), kind_of(i), kc_object_key(t->object),
                        KC_PATCH_MERGE, kc_buf_str(&patch), NULL, &err);
    if (!after)
        fail_msg("%s", kc_error_text(&err));
}

static void remove_thing(gc_model *w, int i, const char *propagation)
{
    kc_scoped(kc_error) err = {0};
    const int result =
        kc_client_delete(kc_testenv_client(w->env), kind_of(i), kc_object_key(w->things[i].object),
                         &(kc_delete_opts){.propagation = propagation}, &err);
    if (!w->batch || !kc_is_not_found(&err)) /* In a batch it may have been collected. */
        OK(result, &err);
    w->things[i].object = kc_object_unref(w->things[i].object);
    w->things[i].n_owners = 0;
    if (!strcmp(propagation, "Orphan"))
        forget(w, i);
}

static void step(gc_model *w)
{
    static const char *const ways[] = {"Background", "Foreground", "Orphan"};
    const int one = choose_alive(w);
    int alive = 0;
    for (int i = 0; i < w->n; i++)
        alive += is_alive(w, i);
    if (one < 0 || (w->n < OBJECTS && alive < ALIVE && kc_rand_below(&w->rand, 2)))
        create(w);
    else if (w->batch)
        remove_thing(w, one, "Background");
    else if (kc_rand_below(&w->rand, 3))
        change_owners(w, one);
    else
        remove_thing(w, one, ways[kc_rand_below(&w->rand, KC_COUNT(ways))]);
    if (!w->batch)
        collect(w);
}

/* ---- reads ---- */

static void assert_same(gc_model *w, int i, int at)
{
    const thing *t = &w->things[i];
    kc_autofree char *name = kc_asprintf("thing-%d", i);
    kc_auto(kc_object) *is = look_up(w->env, kind_of(i), name);
    kc_scoped(kc_arena) arena = {0};
    kc_owner owner;
    int n = 0;
    if (!is != !t->object)
        fail_msg("step %d: %s is %s", at, name, is ? "there" : "gone");
    if (!is)
        return;
    kc_meta_iter owners = kc_object_owners(is, &arena);
    while (kc_meta_next_owner(&owners, &owner)) {
        if (n >= t->n_owners ||
            !kc_str_eq(owner.uid, kc_object_uid(w->things[t->owners[n]].object)))
            fail_msg("step %d: %s has the owner %.*s", at, name, KC_ARG(owner.name));
        n++;
    }
    if (n != t->n_owners)
        fail_msg("step %d: %s has %d owners, not %d", at, name, n, t->n_owners);
}

static void assert_all_same(gc_model *w, int at)
{
    for (int i = 0; i < w->n; i++)
        assert_same(w, i, at);
}

static int from_environment(const char *name, int otherwise)
{
    const char *text = getenv(name);
    return text ? atoi(text) : otherwise;
}

static void play(uint64_t seed, int steps)
{
    kc_scoped(gc_model) w = {.env = collected(seed)};
    kc_rand_seed(&w.rand, seed);
    for (int i = 0; i < steps && w.n < OBJECTS; i++) {
        step(&w);
        settle(w.env);
        assert_all_same(&w, i);
    }
}

static void single_steps_match_the_model(void **state)
{
    (void)state;
    const int only = from_environment("KC_GC_SEED", 0);
    const int steps = from_environment("KC_GC_STEPS", 60);
    if (only) {
        play((uint64_t)only, steps);
        return;
    }
    for (uint64_t seed = 1; seed <= SEEDS_OF(12); seed++)
        play(seed, steps);
}

static void settle_in_time(gc_model *w)
{
    kc_scoped(kc_error) err = {0};
    OK(kc_testenv_settle_within(w->env, 10 * KC_MINUTE, &err), &err);
}

/* The collector checks an owner that no informer has observed yet again after 1, 2, 4… seconds. A
 * watch that was dropped may never show it; settling does not wait for such a check. */
#define NEXT_CHECKS (30 * KC_SECOND)

/* Several of them before the collector has seen the first. A new one may get owners that have gone
 * meanwhile as far as the model knows them: it follows them. */
static void play_batches(uint64_t seed, const kc_fault_opts *fault)
{
    kc_scoped(gc_model) w = {.env = collected(seed), .batch = true};
    kc_rand_seed(&w.rand, seed);
    if (fault)
        kc_testenv_fault(w.env, fault);
    for (int i = 0; i < 12; i++) {
        for (int j = (int)kc_rand_below(&w.rand, 20); j > 0; j--)
            step(&w);
        collect(&w);
        settle_in_time(&w);
        if (fault) {
            kc_testenv_advance(w.env, NEXT_CHECKS);
            settle_in_time(&w);
        }
        assert_all_same(&w, i);
    }
}

static void batched_steps_match_the_model(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS_OF(12); seed++)
        play_batches(seed, NULL);
}

static void batched_steps_with_watch_faults_match_the_model(void **state)
{
    (void)state;
    const kc_fault_opts late = {.fault = KC_FAULT_STALE_READ, .chance = 0.5};
    const kc_fault_opts broken = {.fault = KC_FAULT_DROP_WATCH, .chance = 0.2};
    const kc_fault_opts lost = {.fault = KC_FAULT_LOST_RESPONSE, .chance = 0.2};
    for (uint64_t seed = 1; seed <= SEEDS_OF(4); seed++) {
        play_batches(seed, &late);
        play_batches(seed, &broken);
        play_batches(seed, &lost);
    }
}

static void threads_match_the_model(void **state)
{
    (void)state;
    kc_scoped(gc_model) w = {.env = collected(0)};
    kc_rand_seed(&w.rand, 99);
    for (int i = 0; i < 40; i++) {
        step(&w);
        settle(w.env);
    }
    assert_all_same(&w, 40);
    w.batch = true;
    for (int i = 0; i < 60; i++)
        step(&w);
    collect(&w);
    settle(w.env);
    assert_all_same(&w, 100);
}

TESTS(single_steps_match_the_model, batched_steps_match_the_model,
      batched_steps_with_watch_faults_match_the_model, threads_match_the_model)
