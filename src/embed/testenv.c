/* SPDX-License-Identifier: Apache-2.0 */
/*
 * testenv.c: a server, a manager and a clock for one test.
 *
 *     the test's client ─────────────────────────┐
 *     manager: client, cache, controllers ─ faults ┴─▶ embedded server ─▶ memory or a directory
 *
 * With a seed everything runs in a simulation, which the thread that starts the environment enters
 * and the thread that stops it leaves; both must be the same. Random generators are split off in a
 * fixed order: server, manager, clients, faults.
 *
 * testenv_settle.c detects when no work is left; faults.c injects faults.
 */
#include "embed/testenv_internal.h"

#include "kc/kinds.h"

#include <assert.h>
#include <ftw.h>
#include <stdio.h>
#include <unistd.h>

#define DEFAULT_START (INT64_C(1767323045) * KC_SECOND) /* 2026-01-02T03:04:05Z */

/* ---- the server ---- */

static int testenv_start_server(kc_testenv *env, kc_error *err)
{
    env->server = kc_embedded_server_start(&(kc_embedded_server_opts){.dir = env->dir,
                                                                      .memory = env->memory,
                                                                      .clock = env->clock,
                                                                      .rand = &env->server_rand,
                                                                      .metrics = env->metrics,
                                                                      .log = env->log},
                                           err);
    return env->server ? 0 : kc_error_result(err);
}

static int make_dir(kc_testenv *env, const kc_testenv_opts *opts, kc_error *err)
{
    if (opts->dir) {
        env->dir = kc_strdup(opts->dir);
        return 0;
    }
    if (!opts->temporary) {
        env->memory = kc_embedded_memory_new();
        return 0;
    }
    const char *tmp = getenv("TMPDIR");
    env->dir = kc_asprintf("%s/kc-testenv-XXXXXX", tmp ? tmp : "/tmp");
    env->temporary = true;
    return mkdtemp(env->dir) ? 0 : kc_error_set(err, KC_INTERNAL, "cannot create %s", env->dir);
}

static int remove_one(const char *path, const struct stat *about, int type, struct FTW *where)
{
    (void)about;
    (void)type;
    (void)where;
    return remove(path);
}

/* ---- clients and the manager ---- */

/* Creates a client that sends through a set of faults, or directly. */
static kc_client *new_client(kc_testenv *env, kc__faults *faults, kc_error *err)
{
    kc__faults_connect(faults, kc_embedded_server_transport(env->server, NULL));
    return kc_client_new(&(kc_client_opts){.transport = kc__faults_transport(faults),
                                           .user_agent = "testenv",
                                           .field_manager = "testenv",
                                           .clock = env->clock,
                                           .rand = &env->client_rand,
                                           .log = env->log},
                         err);
}

static int testenv_make_manager(kc_testenv *env, kc_error *err)
{
    kc_manager_opts opts = env->manager_opts;
    env->faults = kc__faults_new(env->clock, kc_rand_split(&env->fault_rand));
    env->manager_client = new_client(env, env->faults, err);
    if (!env->manager_client)
        return kc_error_result(err);
    opts.name = opts.name ? opts.name : "testenv";
    opts.client = env->manager_client;
    opts.clock = env->clock;
    opts.rand = &env->manager_rand;
    opts.log = env->log;
    opts.no_signal_handlers = true;
    opts.election.identity = opts.election.identity ? opts.election.identity : "testenv";
    env->manager = kc_manager_new(&opts, err);
    return env->manager ? 0 : kc_error_result(err);
}

static void drop_manager(kc_testenv *env)
{
    env->manager = kc_manager_free(env->manager);
    env->manager_client = kc_client_unref(env->manager_client);
    env->faults = kc__faults_free(env->faults);
    env->running = false;
}

/* ---- starting and stopping ---- */

static void choose_time(kc_testenv *env, const kc_testenv_opts *opts)
{
    kc_rand root;
    if (opts->seed) {
        env->sim = kc_sim_new(opts->seed, opts->start ? opts->start : DEFAULT_START);
        kc_sim_enter(env->sim);
        env->clock = kc_sim_clock(env->sim);
        root = kc_sim_rand(env->sim);
    } else {
        env->clock = kc_clock_real();
        kc_rand_seed_os(&root);
    }
    env->server_rand = kc_rand_split(&root);
    env->manager_rand = kc_rand_split(&root);
    env->client_rand = kc_rand_split(&root);
    env->fault_rand = kc_rand_split(&root);
}

static int start_all(kc_testenv *env, const kc_testenv_opts *opts, kc_error *err)
{
    if (make_dir(env, opts, err) < 0 || testenv_start_server(env, err) < 0)
        return kc_error_result(err);
    env->no_faults = kc__faults_new(env->clock, kc_rand_split(&env->fault_rand));
    env->client = new_client(env, env->no_faults, err);
    if (!env->client || testenv_make_manager(env, err) < 0)
        return kc_error_result(err);
    for (const char *const *file = opts->apply; file && *file; file++)
        if (kc_testenv_apply_file(env, *file, err) < 0)
            return kc_error_result(err);
    return 0;
}

static void discard_line(kc_str line, void *user)
{
    (void)line;
    (void)user;
}

_Noreturn static void end_process(const char *what, const kc_error *err)
{
    fprintf(stderr, "testenv: %s: %s\n", what, kc_error_text(err));
    abort();
}

kc_testenv *kc_testenv_start(const kc_testenv_opts *opts, kc_error *err)
{
    static const kc_testenv_opts defaults;
    kc_scoped(kc_error) failed = {0};
    opts = opts ? opts : &defaults;
    kc_testenv *env = kc_new(kc_testenv);
    env->silence = opts->log ? NULL : kc_log_new(&(kc_log_opts){.write = discard_line});
    env->log = opts->log ? opts->log : env->silence;
    env->metrics = opts->metrics;
    env->manager_opts = opts->manager;
    choose_time(env, opts);
    if (start_all(env, opts, &failed) == 0)
        return env;
    if (!err)
        end_process("cannot start", &failed);
    kc_error_move(err, &failed);
    return kc_testenv_stop(env);
}

kc_testenv *kc_testenv_stop(kc_testenv *env)
{
    if (!env)
        return NULL;
    drop_manager(env);
    kc_client_unref(env->client);
    kc__faults_free(env->no_faults);
    kc_embedded_server_stop(env->server);
    kc_embedded_memory_free(env->memory);
    if (env->temporary)
        nftw(env->dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    if (env->sim) {
        kc_sim_leave(env->sim);
        kc_sim_free(env->sim);
    }
    kc_log_free(env->silence);
    free(env->dir);
    free(env);
    return NULL;
}

int kc_testenv_run(kc_testenv *env, kc_error *err)
{
    if (env->running)
        return 0;
    env->running = true;
    return kc_manager_start(env->manager, err);
}

void kc_testenv_advance(kc_testenv *env, int64_t ns)
{
    if (env->sim)
        kc_sim_run_for(env->sim, ns);
    else
        kc_clock_sleep(env->clock, ns);
}

/* ---- restarting ---- */

kc_manager *kc_testenv_restart(kc_testenv *env, kc_error *err)
{
    drop_manager(env);
    return testenv_make_manager(env, err) < 0 ? NULL : env->manager;
}

int kc_testenv_restart_server(kc_testenv *env, kc_error *err)
{
    env->server = kc_embedded_server_stop(env->server);
    if (testenv_start_server(env, err) < 0)
        return kc_error_result(err);
    kc__faults_connect(env->no_faults, kc_embedded_server_transport(env->server, NULL));
    kc__faults_connect(env->faults, kc_embedded_server_transport(env->server, NULL));
    return 0;
}

int kc_testenv_steal_lease(kc_testenv *env, kc_error *err)
{
    const kc_election_opts *election = &env->manager_opts.election;
    kc_autofree char *patch = kc_asprintf("{\"spec\":{\"holderIdentity\":\"thief\"}}");
    kc_auto(kc_object) *lease = kc_client_patch(
        env->client, &kc_kind_lease,
        KC_KEY(election->ns ? election->ns : "default", election->name ? election->name : ""),
        KC_PATCH_MERGE, kc_cstr(patch), NULL, err);
    return lease ? 0 : kc_error_result(err);
}

/* ---- accessors ---- */

kc_client *kc_testenv_client(kc_testenv *env)
{
    return env->client;
}

kc_manager *kc_testenv_manager(kc_testenv *env)
{
    return env->manager;
}

kc_embedded_server *kc_testenv_server(kc_testenv *env)
{
    return env->server;
}

const kc_clock *kc_testenv_clock(kc_testenv *env)
{
    return env->clock;
}

void kc_testenv_fault(kc_testenv *env, const kc_fault_opts *fault)
{
    kc__faults_add(env->faults, fault);
}

void kc_testenv_clear_faults(kc_testenv *env)
{
    kc__faults_clear(env->faults);
}

size_t kc_testenv_faults(const kc_testenv *env, kc_fault fault)
{
    return kc__faults_count(env->faults, fault);
}

void kc_testenv_crash_after(kc_testenv *env, size_t writes)
{
    kc__faults_crash_after(env->faults, writes);
}

bool kc_testenv_crashed(const kc_testenv *env)
{
    return kc__faults_crashed(env->faults);
}

uint64_t kc_testenv_fingerprint(kc_testenv *env)
{
    return kc__faults_hash(env->faults) ^ (kc__faults_hash(env->no_faults) << 1);
}
