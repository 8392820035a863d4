/* SPDX-License-Identifier: Apache-2.0 */
/*
 * people.c: starts and stops the part of the server that knows people, and removes what earlier
 * processes left: sessions that have ended, and those of users that no longer exist.
 *
 *     people_run.c         operations: hashing threads, writes, retries
 *     people_operations.c  what each operation does
 *     people_objects.c     Users, Secrets of credentials and sessions
 *     people_identity.c    the user of a token
 *     people_tokens.c      signing
 *     password_hash.c      scrypt
 *     login_limits.c       how often passwords may be tried
 */
#include "apiserver/people/people_internal.h"

#include "apiserver/kinds/key_layout.h"

#include <sys/resource.h>

static kc__watch_cache *custom_cache(kc__rest_api *api, const char *plural)
{
    kc_scoped(kc_buf) prefix = {0};
    kc__resource_key_custom_prefix(&prefix, KC_STR(KC__PEOPLE_GROUP), kc_cstr(plural));
    return kc__store_watch_cache(api->store, kc_buf_str(&prefix));
}

/* Hashes use whole processors: the threads that compute them yield to event loops and workers. */
static void run_at_low_priority(kc_thread_pool_work *work, void *arg, void *user)
{
    (void)user;
    setpriority(PRIO_PROCESS, 0, 10); /* Of this thread, on Linux. */
    work(arg, NULL);
}

static int make_people_metrics(kc__people *people, kc_error *err)
{
    people->operations = kc_metrics_counter(
        people->api->metrics,
        &(kc_metric_opts){.name = "kc_people_operations_total",
                          .help = "Logins and other operations on the credentials of people, by "
                                  "result",
                          .labels = {{"action", .max_values = 8}, {"code", .max_values = 16}}},
        err);
    return people->operations ? 0 : kc_error_result(err);
}

kc__people *kc__people_start(kc__rest_api *api, const kc__people_opts *opts, kc_error *err)
{
    kc__people *people = kc_new(kc__people);
    people->api = api;
    people->tokens = opts->tokens;
    people->cost = opts->cost;
    people->session_lifetime =
        opts->session_lifetime ? opts->session_lifetime : KC__PEOPLE_SESSION_LIFETIME;
    people->users = custom_cache(api, "users");
    people->teams = custom_cache(api, "teams");
    people->secrets =
        kc__store_watch_cache(api->store, kc__resource_key_builtin_prefix("", "secrets"));
    people->namespaces = api->namespaces;
    people->limits = kc__people_limits_new(api->clock);
    people->pool = kc_thread_pool_new(&(kc_thread_pool_opts){
        .name = "passwords", .threads = KC__PEOPLE_HASHES, .around = run_at_low_priority});
    if (make_people_metrics(people, err) < 0)
        return kc__people_free(people);
    kc__people_sweep(people);
    kc__sa_tokens_attach_people(people->tokens, &(kc__sa_people){kc__people_identify, people});
    return people;
}

void kc__people_stop(kc__people *people)
{
    if (people)
        people->pool = kc_thread_pool_stop(people->pool, NULL);
}

kc__people *kc__people_free(kc__people *people)
{
    if (!people)
        return NULL;
    kc__sa_tokens_attach_people(people->tokens, NULL);
    kc_thread_pool_stop(people->pool, NULL);
    kc__people_limits_free(people->limits);
    free(people);
    return NULL;
}
