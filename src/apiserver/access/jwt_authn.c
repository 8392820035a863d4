/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jwt_authn.c: verifies tokens of other issuers.
 *
 *     verification ─▶ job ─▶ issuer, audience, time ─▶ signature ─▶ claims ─▶ user
 *                                                   └─(no such key)─▶ wait for new keys ─▶ once
 * more
 *
 * Signatures and expressions may take longer than an I/O loop allows, so two threads verify; two
 * others fetch keys. A token whose key is unknown waits with its issuer while the keys are fetched;
 * it holds no thread. Keys are fetched once in ten seconds at most: tokens with invented key ids
 * are rejected at once in between (before the first response of an issuer: once in a second). An
 * issuer that does not respond delays only such tokens.
 *
 * A change of the configuration creates a new set of issuers; a job has a reference to its set.
 */
#include "apiserver/access/jwt_authn.h"

#include "apiserver/access/jwt_claims.h"
#include "apiserver/access/jwt_keys.h"
#include "apiserver/access/sa_claims.h"
#include "kc/json.h"
#include "kc/thread_pool.h"

typedef struct jwt_set jwt_set;

typedef struct jwt_issuer {
    const kc__jwt_issuer_config *config;
    jwt_set *set;
    kc_job fetch;       /* In the pool while `fetching`. */
    kc_mutex mutex;     /* Guards what follows. */
    kc__jwt_keys *keys; /* NULL: not fetched yet. */
    bool fetching;
    int64_t next_fetch; /* Monotonic: not before. */
    kc_dlist waiting;   /* Of jwt_job. */
} jwt_issuer;

struct jwt_set {
    kc_ref refs;
    kc__jwt_authn *jwt;
    kc__jwt_config *config;
    jwt_issuer issuers[KC__JWT_MAX_ISSUERS];
    size_t n;
};

/* One token. */
typedef struct jwt_job {
    kc_job job;
    kc__authn_verification *verification;
    jwt_set *set;
    jwt_issuer *issuer;
    bool refetched;     /* The keys were fetched for it. */
    kc_dlist_link link; /* In `waiting`. */
} jwt_job;

struct kc__jwt_authn {
    const kc_clock *clock;
    kc_log *log;
    kc_arena arena; /* Holds the audiences. */
    kc__user_audiences audiences;
    kc_thread_pool *verifiers, *fetchers; /* NULL after the stop. */
    _Atomic bool aborting;                /* No keys are fetched any more. */
    _Atomic bool stopping;                /* No tokens are verified any more. */
    kc_latch jobs; /* Counts the jobs: one may move between the pools until it ends. */
    kc_counter *fetched, *failed;
    kc_mutex mutex; /* Guards the pointer. */
    jwt_set *current;
};

/* ---- sets of issuers ---- */

static jwt_set *jwt_set_ref(jwt_set *set)
{
    kc_ref_add(&set->refs);
    return set;
}

static void jwt_set_unref(jwt_set *set)
{
    if (!set || !kc_ref_drop(&set->refs))
        return;
    for (size_t i = 0; i < set->n; i++) {
        kc__jwt_keys_unref(set->issuers[i].keys);
        kc_mutex_done(&set->issuers[i].mutex);
    }
    kc__jwt_config_unref(set->config);
    free(set);
}

static void run_fetch(kc_job *job, void *local);

static jwt_set *jwt_set_new(kc__jwt_authn *jwt, kc__jwt_config *config)
{
    jwt_set *set = kc_new(jwt_set);
    kc_ref_init(&set->refs);
    set->jwt = jwt;
    set->config = kc__jwt_config_ref(config);
    for (; set->n < config->n_issuers; set->n++) {
        jwt_issuer *issuer = &set->issuers[set->n];
        issuer->config = &config->issuers[set->n];
        issuer->set = set;
        issuer->fetch.run = run_fetch;
        kc_mutex_init(&issuer->mutex);
        kc_dlist_init(&issuer->waiting);
    }
    return set;
}

static jwt_set *current_set(kc__jwt_authn *jwt)
{
    jwt_set *set = NULL;
    kc_locked (&jwt->mutex)
        set = jwt_set_ref(jwt->current);
    return set;
}

static jwt_issuer *issuer_of_url(jwt_set *set, kc_str url)
{
    for (size_t i = 0; i < set->n; i++) {
        const kc_str own = set->issuers[i].config->url;
        if (kc_str_eq(own, url) || (kc_str_is(own, "https://accounts.google.com") &&
                                    kc_str_is(url, "accounts.google.com")))
            return &set->issuers[i];
    }
    return NULL;
}

/* The issuer that a token names; NULL: none of the set. */
static jwt_issuer *issuer_of_token(jwt_set *set, kc_str token)
{
    kc_scoped(kc__jws) jws = {0};
    kc_scoped(kc_buf) url = {0};
    if (kc__jws_parse(token, &jws, NULL) < 0 || !kc__sa_claims_peek_issuer(jws.payload, &url))
        return NULL;
    return issuer_of_url(set, kc_buf_str(&url));
}

/* ---- the end of a job ---- */

static void end_job(jwt_job *job, kc__authn_result *result)
{
    kc__jwt_authn *jwt = job->set->jwt;
    kc__authn_verification_end(job->verification, result);
    jwt_set_unref(job->set);
    free(job);
    kc_latch_count_down(&jwt->jobs);
}

static void refuse_job(jwt_job *job, const kc_error *why)
{
    end_job(job, kc__authn_result_error("%s", kc_error_text(why)));
}

/* ---- keys ---- */

static void add_verification(jwt_job *job)
{
    kc__jwt_authn *jwt = job->set->jwt;
    if (!kc_thread_pool_add(jwt->verifiers, &job->job))
        end_job(job, kc__authn_result_error("oidc: the server is shutting down"));
}

/* Lets the tokens that wait be verified with the new keys. */
static void end_fetch(jwt_issuer *issuer, kc__jwt_keys *keys)
{
    kc_dlist waiting;
    kc__jwt_keys *old = NULL;
    kc_dlist_init(&waiting);
    kc_locked (&issuer->mutex) {
        issuer->fetching = false;
        issuer->next_fetch = kc_clock_deadline(issuer->set->jwt->clock,
                                               keys || issuer->keys ? KC__JWT_FETCH_INTERVAL
                                                                    : KC__JWT_FIRST_FETCH_INTERVAL);
        if (keys) {
            old = issuer->keys;
            issuer->keys = keys;
        }
        for (kc_dlist_link *first; (first = kc_dlist_first(&issuer->waiting));) {
            kc_dlist_remove(first);
            kc_dlist_push(&waiting, first);
        }
    }
    kc__jwt_keys_unref(old);
    for (kc_dlist_link *first; (first = kc_dlist_first(&waiting));) {
        kc_dlist_remove(first);
        add_verification(kc_container_of(first, jwt_job, link));
    }
}

static void run_fetch(kc_job *job, void *local)
{
    jwt_issuer *issuer = kc_container_of(job, jwt_issuer, fetch);
    jwt_set *set = issuer->set;
    kc__jwt_authn *jwt = set->jwt;
    kc_scoped(kc_error) err = {0};
    (void)local;
    kc__jwt_keys *keys = kc__jwt_keys_fetch(issuer->config, &jwt->aborting, &err);
    kc_counter_inc(keys ? jwt->fetched : jwt->failed);
    if (!keys)
        kc_log_error(jwt->log, "cannot fetch the keys of a token issuer",
                     kc_kv("issuer", issuer->config->url), kc_kv("err", &err));
    end_fetch(issuer, keys);
    jwt_set_unref(set);
}

/* Begins a fetch, unless one is in progress; the mutex of the issuer is locked. */
static bool begin_fetch(jwt_issuer *issuer)
{
    kc__jwt_authn *jwt = issuer->set->jwt;
    if (issuer->fetching)
        return true;
    if (kc_clock_now(jwt->clock) < issuer->next_fetch)
        return false;
    jwt_set_ref(issuer->set);
    issuer->fetching = kc_thread_pool_add(jwt->fetchers, &issuer->fetch);
    if (!issuer->fetching)
        jwt_set_unref(issuer->set);
    return issuer->fetching;
}

/* False: the keys were fetched a moment ago. True: the job belongs to the issuer now. */
static bool wait_for_keys(jwt_job *job)
{
    jwt_issuer *issuer = job->issuer;
    if (job->refetched)
        return false;
    job->refetched = true;
    kc_locked (&issuer->mutex) {
        if (!begin_fetch(issuer))
            return false;
        kc_dlist_push(&issuer->waiting, &job->link);
    }
    return true;
}

static kc__jwt_keys *current_keys(jwt_issuer *issuer)
{
    kc__jwt_keys *keys = NULL;
    kc_locked (&issuer->mutex)
        keys = issuer->keys ? kc__jwt_keys_ref(issuer->keys) : NULL;
    return keys;
}

/* ---- verification ---- */

static int check_jwt_algorithm(const jwt_job *job, const kc__jws *jws, kc_error *err)
{
    if (job->set->config->algorithms >> jws->algorithm & 1)
        return 0;
    return kc_error_set(err, KC_UNAUTHORIZED,
                        "oidc: verify token: oidc: id token signed with unsupported algorithm, got "
                        "\"%s\"",
                        kc__jose_algorithm_name(jws->algorithm));
}

/* The audiences of this server that are wanted: the token is for this server. */
static bool jwt_audiences(const jwt_job *job, kc__authn_result *result)
{
    const kc__user_audiences own = job->set->jwt->audiences;
    const kc__user_audiences wanted = kc__authn_verification_wanted(job->verification);
    kc_str *both = kc_arena_calloc(&result->arena, wanted.n + 1, sizeof(*both));
    size_t n = 0;
    for (size_t i = 0; i < wanted.n; i++)
        for (size_t j = 0; j < own.n; j++)
            if (kc_str_eq(wanted.items[i], own.items[j])) {
                both[n++] = kc_arena_str(&result->arena, wanted.items[i]);
                break;
            }
    result->identity.audiences = (kc__user_audiences){both, n};
    return n || !wanted.n;
}

static void identify_job(jwt_job *job, const kc_value *claims, int64_t expiry)
{
    kc_scoped(kc_error) err = {0};
    kc__authn_result *result = kc__authn_result_new(1);
    result->valid_until = expiry * KC_SECOND;
    if (kc__jwt_user_of_claims(job->set->config, job->issuer->config, claims, &result->arena,
                               &result->identity.user, &err) < 0) {
        kc__authn_result_unref(result);
        refuse_job(job, &err);
        return;
    }
    if (!jwt_audiences(job, result))
        result->found = 0;
    end_job(job, result);
}

static kc_view *parse_jwt_claims(kc_str payload, kc_error *err)
{
    kc_scoped(kc_paths) duplicates = {0};
    kc_auto(kc_view) *view = kc_view_parse(
        payload, &(kc_json_opts){.max_depth = KC__JWS_MAX_DEPTH, .duplicates = &duplicates}, NULL);
    if (view && !duplicates.n && kc_value_type(kc_view_root(view)) == KC_JSON_OBJECT)
        return kc_take(view);
    kc_error_set(err, KC_UNAUTHORIZED, "oidc: verify token: oidc: malformed jwt");
    return NULL;
}

static void run_verification(kc_job *base, void *local)
{
    jwt_job *job = kc_container_of(base, jwt_job, job);
    kc_scoped(kc__jws) jws = {0};
    kc_scoped(kc_error) err = {0};
    int64_t expiry = 0;
    const int64_t now = kc_clock_wall(job->set->jwt->clock) / KC_SECOND;
    (void)local;
    kc_auto(kc_view) *claims =
        kc__jws_parse(kc__authn_verification_token(job->verification), &jws, &err) == 0
            ? parse_jwt_claims(jws.payload, &err)
            : NULL;
    if (!claims ||
        kc__jwt_check_claims(job->issuer->config, kc_view_root(claims), now, &expiry, &err) < 0 ||
        check_jwt_algorithm(job, &jws, &err) < 0) {
        refuse_job(job, &err);
        return;
    }
    kc_auto(kc__jwt_keys) *keys = current_keys(job->issuer);
    if (keys && kc__jwt_keys_verify(keys, &jws)) {
        identify_job(job, kc_view_root(claims), expiry);
        return;
    }
    if (wait_for_keys(job))
        return;
    kc_error_set(&err, KC_UNAUTHORIZED, "%s",
                 keys ? "oidc: verify token: failed to verify signature: failed to verify id token "
                        "signature"
                      : "oidc: authenticator not initialized");
    refuse_job(job, &err);
}

/* ---- the authenticator ---- */

static bool jwt_accepts(void *self, kc_str token)
{
    jwt_set *set = current_set(self);
    const bool found = issuer_of_token(set, token) != NULL;
    jwt_set_unref(set);
    return found;
}

static void jwt_verify_token(void *self, kc__authn_verification *verification, kc__loop *loop)
{
    kc__jwt_authn *jwt = self;
    jwt_job *job = kc_new(jwt_job);
    (void)loop;
    *job = (jwt_job){
        .job.run = run_verification, .verification = verification, .set = current_set(jwt)};
    kc_latch_add(&jwt->jobs, 1);
    job->issuer = issuer_of_token(job->set, kc__authn_verification_token(verification));
    if (!job->issuer)
        end_job(job, kc__authn_result_new(0));
    else if (atomic_load(&jwt->stopping))
        end_job(job, kc__authn_result_error("oidc: the server is shutting down"));
    else
        add_verification(job);
}

/* The server shuts down: tokens that wait for keys are refused within a second. */
static void jwt_end_by(void *self, int64_t deadline)
{
    kc__jwt_authn *jwt = self;
    (void)deadline;
    atomic_store(&jwt->aborting, true);
}

/* The pools stop when no job is left that could be added to one of them. */
static void jwt_stop(void *self)
{
    kc__jwt_authn *jwt = self;
    atomic_store(&jwt->aborting, true);
    atomic_store(&jwt->stopping, true);
    kc_latch_wait(&jwt->jobs);
    jwt->fetchers = kc_thread_pool_stop(jwt->fetchers, NULL);
    jwt->verifiers = kc_thread_pool_stop(jwt->verifiers, NULL);
}

static void jwt_free(void *self)
{
    kc__jwt_authn *jwt = self;
    jwt_stop(jwt);
    jwt_set_unref(jwt->current);
    kc_mutex_done(&jwt->mutex);
    kc_latch_done(&jwt->jobs);
    kc_arena_done(&jwt->arena);
    free(jwt);
}

const kc__authn_remote_ops kc__jwt_authn_ops = {.name = "jwt",
                                                .accepts = jwt_accepts,
                                                .verify = jwt_verify_token,
                                                .end_by = jwt_end_by,
                                                .stop = jwt_stop,
                                                .free = jwt_free};

static void make_jwt_metrics(kc__jwt_authn *jwt, kc_metrics *metrics)
{
    if (!metrics)
        return;
    kc_metric *total = kc_metrics_counter(
        metrics,
        &(kc_metric_opts){.name = "kc_jwt_key_fetches_total",
                          .help = "Fetches of the keys of token issuers, by result.",
                          .labels = {{"result", KC_LABEL_VALUES("success", "failure")}}},
        NULL);
    jwt->fetched = kc_metric_counter(total, KC_STR("success"));
    jwt->failed = kc_metric_counter(total, KC_STR("failure"));
}

kc__jwt_authn *kc__jwt_authn_new(const kc__jwt_authn_opts *opts)
{
    kc__jwt_authn *jwt = kc_new(kc__jwt_authn);
    kc_str *audiences = kc_arena_calloc(&jwt->arena, opts->audiences.n + 1, sizeof(*audiences));
    for (size_t i = 0; i < opts->audiences.n; i++)
        audiences[i] = kc_arena_str(&jwt->arena, opts->audiences.items[i]);
    jwt->audiences = (kc__user_audiences){audiences, opts->audiences.n};
    jwt->clock = opts->clock ? opts->clock : kc_clock_real();
    jwt->log = opts->log;
    kc_mutex_init(&jwt->mutex);
    kc_latch_init(&jwt->jobs);
    make_jwt_metrics(jwt, opts->metrics);
    jwt->verifiers =
        kc_thread_pool_new(&(kc_thread_pool_opts){.name = "jwt", .threads = KC__JWT_THREADS});
    jwt->fetchers =
        kc_thread_pool_new(&(kc_thread_pool_opts){.name = "jwt-keys", .threads = KC__JWT_THREADS});
    jwt->current = jwt_set_new(jwt, opts->config);
    for (size_t i = 0; i < jwt->current->n; i++)
        kc_locked (&jwt->current->issuers[i].mutex)
            begin_fetch(&jwt->current->issuers[i]);
    return jwt;
}

int kc__jwt_authn_replace(kc__jwt_authn *jwt, kc__jwt_config *config, kc_error *err)
{
    jwt_set *fresh = jwt_set_new(jwt, config), *old = NULL;
    for (size_t i = 0; i < fresh->n; i++) {
        jwt_issuer *issuer = &fresh->issuers[i];
        issuer->keys = kc__jwt_keys_fetch(issuer->config, &jwt->aborting, err);
        kc_counter_inc(issuer->keys ? jwt->fetched : jwt->failed);
        if (!issuer->keys) {
            jwt_set_unref(fresh);
            return kc_error_wrap(err, "oidc: authenticator for issuer \"%.*s\" is not healthy",
                                 KC_ARG(config->issuers[i].url));
        }
    }
    kc_locked (&jwt->mutex) {
        old = jwt->current;
        jwt->current = fresh;
    }
    jwt_set_unref(old);
    return 0;
}
