/* SPDX-License-Identifier: Apache-2.0 */
/*
 * credentials.c: keeps the newest credential and finds the next one.
 *
 * There is one reader at a time, of files and of programs: whoever finds the credential old asks
 * for a round, and everybody who needs one waits for its end. A round that only reads files is run
 * by who asks for it; a program may take a minute, so it is run by a thread of its own, and those
 * who wait can leave at their deadline while it goes on for the others.
 *
 * Files are looked at once a minute. If that fails, or they say what they said before, the
 * credential stays: a token that is being replaced is not there for a moment. A program is run
 * when what it gave has expired, or the server refused it.
 */
#include "client/credentials.h"

#include "kc/file.h"

#include "client/exec_credential.h"
#include "kc/base64.h"

#include <stdio.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define LOOK_AGAIN (KC_MINUTE)

struct kc__credentials {
    const kc_config *config;
    const kc_clock *clock;
    kc_metric *calls; /* Of the program, by how they ended. */
    int stop_fd;      /* Ends the program. */

    kc_mutex mutex; /* Guards what follows. Nothing is locked under it. */
    kc_cond changed;
    kc__credential *current; /* NULL before the first round of a program. */
    int64_t fresh_until;     /* When to look at the files again. */
    uint64_t rounds;         /* That ended. */
    bool busy;               /* A round runs, or is asked for. */
    bool stopping;
    kc_error failure;  /* Of the last round, if it failed. */
    kc_thread *runner; /* Runs the program; NULL where there is none, or not yet. */
};

/* ---- one credential ---- */

kc__credential *kc__credential_ref(kc__credential *credential)
{
    kc_ref_add(&credential->refs);
    return credential;
}

static void forget(char *secret, size_t length)
{
    if (secret)
        explicit_bzero(secret, length);
    free(secret);
}

kc__credential *kc__credential_unref(kc__credential *credential)
{
    if (!credential || !kc_ref_drop(&credential->refs))
        return NULL;
    forget(credential->authorization,
           credential->authorization ? strlen(credential->authorization) : 0);
    forget(credential->key, credential->key_length);
    free(credential->cert);
    free(credential->ca);
    free(credential);
    return NULL;
}

static bool same_text(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

static bool same(const kc__credential *a, const kc__credential *b)
{
    return same_text(a->authorization, b->authorization) && same_text(a->ca, b->ca) &&
           same_text(a->cert, b->cert) && same_text(a->key, b->key) && a->expires == b->expires;
}

/* ---- reading ---- */

/* Data stands for the file beside it. */
static int load_pem(kc_str data, const char *file, char **ret, size_t *ret_length, kc_error *err)
{
    kc_scoped(kc_buf) text = {0};
    if (data.n)
        kc_buf_append(&text, data);
    else if (!file)
        return 0;
    else if (kc_file_read(file, KC_FILE_MAX, &text, err) < 0)
        return -1;
    if (!kc_str_contains(kc_buf_str(&text), KC_STR("-----BEGIN ")))
        return kc_error_set(err, KC_BAD_REQUEST, "%s holds no PEM",
                            data.n || !file ? "a certificate's or key's data" : file);
    *ret_length = text.n;
    *ret = kc_buf_take(&text);
    return 0;
}

static int set_token(kc__credential *c, kc_str token, const char *from, kc_error *err)
{
    token = kc_str_trim(token);
    for (size_t i = 0; i < token.n; i++)
        if (token.p[i] < 0x21 || token.p[i] > 0x7e)
            return kc_error_set(err, KC_BAD_REQUEST, "%s holds no token: byte %zu is not text",
                                from, i);
    forget(c->authorization, c->authorization ? strlen(c->authorization) : 0);
    c->authorization = token.n ? kc_asprintf("Bearer %.*s", KC_ARG(token)) : NULL;
    return 0;
}

static int load_token(kc__credential *c, const kc_config *config, kc_error *err)
{
    kc_scoped(kc_buf) text = {0};
    if (config->token && set_token(c, kc_cstr(config->token), "the configuration", err) < 0)
        return -1;
    if (!config->token_file)
        return 0;
    kc_scoped(kc_error) why = {0};
    if (kc_file_read(config->token_file, KC_FILE_MAX, &text, &why) < 0)
        return c->authorization ? 0 : kc_error_move(err, &why);
    if (kc_str_empty(kc_str_trim(kc_buf_str(&text))))
        return c->authorization
                   ? 0
                   : kc_error_set(err, KC_BAD_REQUEST, "%s is empty", config->token_file);
    return set_token(c, kc_buf_str(&text), config->token_file, err);
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
        return -1;
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
    kc_counter_inc(kc_counter_of(k->calls, kc_cstr(code), kc_cstr(how)));
}

static int load_program(kc__credentials *k, kc__credential *c, kc_error *err)
{
    kc_scoped(kc__exec_credential) answer = {0};
    int status = -1;
    const int result = kc__exec_credential_get(k->config, k->stop_fd, &answer, &status, err);
    count_call(k, result, status);
    if (result < 0)
        return kc_error_wrap(err, "getting credentials");
    if (answer.token && set_token(c, kc_cstr(answer.token), "what the program printed", err) < 0)
        return -1;
    c->cert_length = answer.cert ? strlen(answer.cert) : 0;
    c->key_length = answer.key ? strlen(answer.key) : 0;
    c->cert = kc_take(answer.cert);
    c->key = kc_take(answer.key);
    c->expires = answer.expires;
    return 0;
}

static kc__credential *load(kc__credentials *k, bool with_program, kc_error *err)
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

/* With the mutex held. Takes `next`, NULL after a failure. */
static void publish(kc__credentials *k, kc__credential *next, kc_error *why)
{
    const bool expired = k->current && k->current->expires <= kc_clock_wall(k->clock);
    kc_error_done(&k->failure);
    if (next && k->current && same(next, k->current)) {
        kc__credential_unref(next);
    } else if (next) {
        kc__credential_unref(k->current);
        k->current = next;
    } else if (!k->current || expired) {
        kc_error_move(&k->failure, why);
    }
    k->fresh_until = kc_clock_deadline(k->clock, LOOK_AGAIN);
    k->rounds++;
    k->busy = false;
    kc_cond_broadcast(&k->changed);
}

/* Without the mutex; busy is set. */
static void run_round(kc__credentials *k)
{
    kc_scoped(kc_error) why = {0};
    kc__credential *next = load(k, true, &why);
    kc_locked (&k->mutex)
        publish(k, next, &why);
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

/* ---- asking ---- */

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

/* With the mutex held. */
static bool is_old(const kc__credentials *k, const kc__credential *refused)
{
    if (!k->current || refused == k->current)
        return true;
    if (k->current->expires <= kc_clock_wall(k->clock))
        return true;
    /* A program is not run every minute for the sake of its cluster's files. */
    return !has_program(k) && kc__credentials_may_change(k) &&
           kc_clock_now(k->clock) >= k->fresh_until;
}

typedef struct asker {
    kc_cancel_hook hook;
    kc__credentials *k;
    bool cancelled; /* Guarded by the mutex. */
} asker;

static void wake_asker(kc_cancel_hook *hook)
{
    asker *a = kc_container_of(hook, asker, hook);
    kc_locked (&a->k->mutex) {
        a->cancelled = true;
        kc_cond_broadcast(&a->k->changed);
    }
}

/* With the mutex held. 0 when the round after `seen` is over. */
static int await_end(asker *a, uint64_t seen, int64_t deadline, kc_error *err)
{
    kc__credentials *k = a->k;
    while (k->rounds == seen) {
        if (a->cancelled)
            return kc_error_set(err, KC_TIMEOUT, "cancelled");
        if (!kc_cond_wait_until(&k->changed, &k->mutex, k->clock, deadline))
            return kc_error_set(err, KC_TIMEOUT, "waited too long for credentials");
    }
    return 0;
}

static int copy_failure(const kc__credentials *k, kc_error *err)
{
    return kc_error_set(err, k->failure.reason, "%s", kc_error_text(&k->failure));
}

/* Asks for a round unless one runs. True when the caller is to run it. */
static bool begin_round(kc__credentials *k)
{
    const bool mine = !k->busy && !k->runner;
    k->busy = true;
    kc_cond_broadcast(&k->changed);
    return mine;
}

static int renew(asker *a, const kc__credential *refused, int64_t deadline, kc_error *err)
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
    asker a = {.hook.fire = wake_asker, .k = k};
    kc__credential *got = NULL;
    if (!kc_cancel_hang(cancel, &a.hook)) {
        kc_cancel_check(cancel, err);
        return NULL;
    }
    const int result = renew(&a, refused, deadline, err);
    kc_cancel_unhang(cancel, &a.hook);
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

/* ---- beginning and end ---- */

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

static int start(kc__credentials *k, kc_metrics *metrics, kc_error *err)
{
    kc__credential *first = load(k, false, err);
    if (!first)
        return -1;
    if (!needs_program(first, k->config)) {
        k->current = first;
        k->fresh_until = kc_clock_deadline(k->clock, LOOK_AGAIN);
        return 0;
    }
    kc__credential_unref(first);
    if (metrics && !(k->calls = calls_metric(metrics, err)))
        return -1;
    k->stop_fd = eventfd(0, EFD_CLOEXEC);
    k->runner = kc_thread_start("kc-credentials", run_program_rounds, k, err);
    return k->runner ? 0 : -1;
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
    return start(k, metrics, err) < 0 ? kc__credentials_free(k) : k;
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
