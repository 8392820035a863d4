/* SPDX-License-Identifier: Apache-2.0 */
/*
 * credentials.c: holds the current credential and refreshes it.
 *
 * At most one refresh (round) runs at a time. A caller that finds the credential expired starts a
 * round, and all callers that need a credential wait for its end. A round that only reads files
 * runs on the caller's thread. An exec plugin may take a minute, so a dedicated thread runs it;
 * waiting callers return at their deadlines while the plugin continues for the others.
 *
 * Files are read again once a minute. If reading fails or the content is unchanged, the current
 * credential stays in use, because a token file may be absent for a moment while it is replaced. An
 * exec plugin runs again when its credential has expired or the server rejected it (401).
 */
#include "kubeconfig/credentials.h"

#include "kc/file.h"

#include "kc/base64.h"
#include "kubeconfig/exec_credential.h"

#include <stdio.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define RELOAD_INTERVAL (KC_MINUTE)

struct kc__credentials {
    const kc_config *config;
    const kc_clock *clock;
    kc_metric *calls; /* Runs of the exec plugin, by result. */
    int stop_fd;      /* Terminates the exec plugin. */

    kc_mutex mutex; /* Guards the fields below. No other lock is taken while it is held. */
    kc_cond changed;
    kc__credential *current; /* NULL before the first run of an exec plugin has ended. */
    int64_t fresh_until;     /* When to read the files again. */
    uint64_t rounds;         /* Number of finished rounds. */
    bool busy;               /* A round is running or requested. */
    bool stopping;
    kc_error failure;  /* Error of the last round, if it failed. */
    kc_thread *runner; /* Runs the exec plugin; NULL if there is none or before the first run. */
};

/* ---- one credential ---- */

kc__credential *kc__credential_ref(kc__credential *credential)
{
    kc_ref_add(&credential->refs);
    return credential;
}

static void credentials_forget(char *secret, size_t length)
{
    if (secret)
        explicit_bzero(secret, length);
    free(secret);
}

kc__credential *kc__credential_unref(kc__credential *credential)
{
    if (!credential || !kc_ref_drop(&credential->refs))
        return NULL;
    credentials_forget(credential->authorization,
                       credential->authorization ? strlen(credential->authorization) : 0);
    credentials_forget(credential->key, credential->key_length);
    free(credential->cert);
    free(credential->ca);
    free(credential);
    return NULL;
}

static bool same_text(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

static bool credentials_is_equal(const kc__credential *a, const kc__credential *b)
{
    return same_text(a->authorization, b->authorization) && same_text(a->ca, b->ca) &&
           same_text(a->cert, b->cert) && same_text(a->key, b->key) && a->expires == b->expires;
}

/* ---- reading ---- */

/* Inline data takes precedence over the file. */
static int load_pem(kc_str data, const char *file, char **ret, size_t *ret_length, kc_error *err)
{
    kc_scoped(kc_buf) text = {0};
    if (data.n)
        kc_buf_append(&text, data);
    else if (!file)
        return 0;
    else if (kc_file_read(file, KC_FILE_MAX, &text, err) < 0)
        return kc_error_result(err);
    if (!kc_str_contains(kc_buf_str(&text), KC_STR("-----BEGIN ")))
        return kc_error_set(err, KC_BAD_REQUEST, "%s contains no PEM data",
                            data.n || !file ? "certificate or key data" : file);
    *ret_length = text.n;
    *ret = kc_buf_take(&text);
    return 0;
}

static int set_token(kc__credential *c, kc_str token, const char *from, kc_error *err)
{
    token = kc_str_trim(token);
    for (size_t i = 0; i < token.n; i++)
        if (token.p[i] < 0x21 || token.p[i] > 0x7e)
            return kc_error_set(err, KC_BAD_REQUEST,
                                "%s is not a valid token: byte %zu is not printable ASCII", from,
                                i);
    credentials_forget(c->authorization, c->authorization ? strlen(c->authorization) : 0);
    c->authorization = token.n ? kc_asprintf("Bearer %.*s", KC_ARG(token)) : NULL;
    return 0;
}

static int load_token(kc__credential *c, const kc_config *config, kc_error *err)
{
    kc_scoped(kc_buf) text = {0};
    if (config->token &&
        set_token(c, kc_cstr(config->token), "the token of the configuration", err) < 0)
        return kc_error_result(err);
    if (!config->token_file)
        return 0;
    kc_scoped(kc_error) why = {0};
    if (kc_file_read(config->token_file, KC_FILE_MAX, &text, &why) < 0)
        return c->authorization ? 0 : kc_error_move(err, &why);
    if (kc_str_empty(kc_str_trim(kc_buf_str(&text))))
        return c->authorization
                   ? 0
                   : kc_error_set(err, KC_BAD_REQUEST, "%s is empty", config->token_file);
    const int result = set_token(c, kc_buf_str(&text), config->token_file, err);
    kc_buf_wipe(&text);
    return result;
}

static void load_basic(kc__credential *c, const kc_config *config)
{
    kc_scoped(kc_buf) pair = {0};
    kc_scoped(kc_buf) header = {0};
    if (c->authorization || (!config->username && !config->password))
        return;
    kc_buf_printf(&pair, "%s:%s", config->username ? config->username : "",
                  config->password ? config->password : "");
    kc_buf_puts(&header, "Basic ");
    kc_base64_write(&header, kc_buf_str(&pair), KC_BASE64);
    kc_buf_wipe(&pair);
    c->authorization = kc_buf_take(&header);
}

static bool needs_program(const kc__credential *c, const kc_config *config)
{
    return config->exec && !c->authorization && !c->cert;
}

static int load_files(kc__credential *c, const kc_config *config, kc_error *err)
{
    if (load_pem(config->ca_data, config->ca_file, &c->ca, &c->ca_length, err) < 0 ||
        load_pem(config->cert_data, config->cert_file, &c->cert, &c->cert_length, err) < 0 ||
        load_pem(config->key_data, config->key_file, &c->key, &c->key_length, err) < 0 ||
        load_token(c, config, err) < 0)
        return kc_error_result(err);
    load_basic(c, config);
    return 0;
}

static void count_call(kc__credentials *k, int result, int status)
{
    char code[16];
    snprintf(code, sizeof(code), "%d", status < 0 ? 1 : status);
    const char *how = result == 0   ? "no_error"
                      : status > 0  ? "plugin_execution_error"
                      : status == 0 ? "client_internal_error"
                                    : "plugin_not_found_error";
    kc_counter_inc(kc_metric_counter(k->calls, kc_cstr(code), kc_cstr(how)));
}

static int load_program(kc__credentials *k, kc__credential *c, kc_error *err)
{
    kc_scoped(kc__exec_credential) received = {0};
    int status = -1;
    const int result = kc__exec_credential_get(k->config, k->stop_fd, &received, &status, err);
    count_call(k, result, status);
    if (result < 0)
        return kc_error_wrap(err, "getting credentials");
    if (received.token &&
        set_token(c, kc_cstr(received.token), "the token of the exec plugin", err) < 0)
        return kc_error_result(err);
    c->cert_length = received.cert ? strlen(received.cert) : 0;
    c->key_length = received.key ? strlen(received.key) : 0;
    c->cert = kc_take(received.cert);
    c->key = kc_take(received.key);
    c->expires = received.expires;
    return 0;
}

static kc__credential *credentials_load(kc__credentials *k, bool with_program, kc_error *err)
{
    kc_auto(kc__credential) *c = kc_new(kc__credential);
    kc_ref_init(&c->refs);
    c->expires = KC_FOREVER;
    if (load_files(c, k->config, err) < 0)
        return NULL;
    if (with_program && needs_program(c, k->config) && load_program(k, c, err) < 0)
        return NULL;
    return kc_take(c);
}

/* ---- rounds ---- */

/* Requires the mutex. Takes ownership of `next`, which is NULL after a failure. */
static void credentials_publish(kc__credentials *k, kc__credential *next, kc_error *why)
{
    const bool expired = k->current && k->current->expires <= kc_clock_wall(k->clock);
    kc_error_done(&k->failure);
    if (next && k->current && credentials_is_equal(next, k->current)) {
        kc__credential_unref(next);
    } else if (next) {
        kc__credential_unref(k->current);
        k->current = next;
    } else if (!k->current || expired) {
        kc_error_move(&k->failure, why);
    }
    k->fresh_until = kc_clock_deadline(k->clock, RELOAD_INTERVAL);
    k->rounds++;
    k->busy = false;
    kc_cond_broadcast(&k->changed);
}

/* Called without the mutex, with `busy` set. */
static void run_round(kc__credentials *k)
{
    kc_scoped(kc_error) why = {0};
    kc__credential *next = credentials_load(k, true, &why);
    kc_locked (&k->mutex)
        credentials_publish(k, next, &why);
}

static bool await_round(kc__credentials *k)
{
    bool go = false;
    kc_locked (&k->mutex) {
        while (!k->busy && !k->stopping)
            kc_cond_wait_until(&k->changed, &k->mutex, k->clock, KC_FOREVER);
        go = !k->stopping;
    }
    return go;
}

static void run_program_rounds(void *user)
{
    kc__credentials *k = user;
    while (await_round(k))
        run_round(k);
}

/* ---- requests for a credential ---- */

static bool has_program(const kc__credentials *k)
{
    return k->config->exec && !k->config->token && !k->config->token_file && !k->config->username &&
           !k->config->cert_data.n && !k->config->cert_file;
}

bool kc__credentials_may_change(const kc__credentials *k)
{
    return has_program(k) || k->config->token_file ||
           (!k->config->ca_data.n && k->config->ca_file) ||
           (!k->config->cert_data.n && k->config->cert_file);
}

/* Requires the mutex. */
static bool is_old(const kc__credentials *k, const kc__credential *refused)
{
    if (!k->current || refused == k->current)
        return true;
    if (k->current->expires <= kc_clock_wall(k->clock))
        return true;
    /* Do not run an exec plugin every minute only because the cluster's files may change. */
    return !has_program(k) && kc__credentials_may_change(k) &&
           kc_clock_now(k->clock) >= k->fresh_until;
}

typedef struct credential_waiter {
    kc_cancel_hook hook;
    kc__credentials *k;
    bool cancelled; /* Guarded by the mutex. */
} credential_waiter;

static void wake_waiter(kc_cancel_hook *hook)
{
    credential_waiter *a = kc_container_of(hook, credential_waiter, hook);
    kc_locked (&a->k->mutex) {
        a->cancelled = true;
        kc_cond_broadcast(&a->k->changed);
    }
}

/* Requires the mutex. Returns 0 when the round after `seen` has ended. */
static int await_end(credential_waiter *a, uint64_t seen, int64_t deadline, kc_error *err)
{
    kc__credentials *k = a->k;
    while (k->rounds == seen) {
        if (a->cancelled)
            return kc_error_set(err, KC_TIMEOUT, "cancelled");
        if (!kc_cond_wait_until(&k->changed, &k->mutex, k->clock, deadline))
            return kc_error_set(err, KC_TIMEOUT, "timed out waiting for credentials");
    }
    return 0;
}

static int copy_failure(const kc__credentials *k, kc_error *err)
{
    return kc_error_set(err, k->failure.reason, "%s", kc_error_text(&k->failure));
}

/* Requests a round unless one is running. Returns true if the caller must run it. */
static bool begin_round(kc__credentials *k)
{
    const bool mine = !k->busy && !k->runner;
    k->busy = true;
    kc_cond_broadcast(&k->changed);
    return mine;
}

static int renew(credential_waiter *a, const kc__credential *refused, int64_t deadline,
                 kc_error *err)
{
    kc__credentials *k = a->k;
    bool old = false, mine = false;
    uint64_t seen = 0;
    kc_locked (&k->mutex) {
        seen = k->rounds;
        old = is_old(k, refused);
        mine = old && begin_round(k);
    }
    if (!old)
        return 0;
    if (mine)
        run_round(k);
    int result = 0;
    kc_locked (&k->mutex)
        result = await_end(a, seen, deadline, err);
    return result;
}

kc__credential *kc__credentials_get(kc__credentials *k, const kc__credential *refused,
                                    int64_t deadline, kc_cancel *cancel, kc_error *err)
{
    credential_waiter a = {.hook.fire = wake_waiter, .k = k};
    kc__credential *got = NULL;
    if (!kc_cancel_add_hook(cancel, &a.hook)) {
        kc_cancel_check(cancel, err);
        return NULL;
    }
    const int result = renew(&a, refused, deadline, err);
    kc_cancel_remove_hook(cancel, &a.hook);
    if (result < 0)
        return NULL;
    kc_locked (&k->mutex) {
        if (k->failure.reason)
            copy_failure(k, err);
        else
            got = kc__credential_ref(k->current);
    }
    return got;
}

/* ---- construction and destruction ---- */

static kc_metric *calls_metric(kc_metrics *metrics, kc_error *err)
{
    const kc_metric_opts opts = {
        .name = "rest_client_exec_plugin_call_total",
        .help = "Number of calls to an exec plugin, partitioned by the type of event encountered "
                "(no_error, plugin_execution_error, plugin_not_found_error, "
                "client_internal_error) and an optional exit code.",
        .labels = {{"code", .max_values = 32}, {"call_status", .max_values = 8}},
    };
    return kc_metrics_counter(metrics, &opts, err);
}

static int credentials_start(kc__credentials *k, kc_metrics *metrics, kc_error *err)
{
    kc__credential *first = credentials_load(k, false, err);
    if (!first)
        return kc_error_result(err);
    if (!needs_program(first, k->config)) {
        k->current = first;
        k->fresh_until = kc_clock_deadline(k->clock, RELOAD_INTERVAL);
        return 0;
    }
    kc__credential_unref(first);
    if (metrics && !(k->calls = calls_metric(metrics, err)))
        return kc_error_result(err);
    k->stop_fd = eventfd(0, EFD_CLOEXEC);
    k->runner = kc_thread_start("kc-credentials", run_program_rounds, k, err);
    return k->runner ? 0 : kc_error_result(err);
}

kc__credentials *kc__credentials_new(const kc_config *config, const kc_clock *clock,
                                     kc_metrics *metrics, kc_error *err)
{
    kc__credentials *k = kc_new(kc__credentials);
    k->config = config;
    k->clock = clock;
    k->stop_fd = -1;
    kc_mutex_init(&k->mutex);
    kc_cond_init(&k->changed);
    return credentials_start(k, metrics, err) < 0 ? kc__credentials_free(k) : k;
}

kc__credentials *kc__credentials_free(kc__credentials *k)
{
    if (!k)
        return NULL;
    kc_locked (&k->mutex) {
        k->stopping = true;
        kc_cond_broadcast(&k->changed);
    }
    if (k->stop_fd >= 0)
        eventfd_write(k->stop_fd, 1);
    kc_thread_join(k->runner);
    if (k->stop_fd >= 0)
        close(k->stop_fd);
    kc__credential_unref(k->current);
    kc_error_done(&k->failure);
    kc_cond_done(&k->changed);
    kc_mutex_done(&k->mutex);
    free(k);
    return NULL;
}
