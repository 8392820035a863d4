/* SPDX-License-Identifier: Apache-2.0 */
/*
 * debug_access.c: see debug_access.h.
 *
 *     loop: check ──▶ cached? ──▶ decided
 *                └──▶ queue ──▶ thread: kc__debug_review ──▶ loop: cache, decided
 *
 * Reviews are blocking requests to the API server. One thread, started with the first token, sends
 * them one after the other. At most MAX_WAITING requests wait for it; further ones get 429. A
 * decision is cached under a hash of token and path: for one minute if allowed, for ten seconds if
 * denied. The cache has CACHED entries; the one that expires first is evicted.
 *
 * Threads: the cache belongs to the loop; the mutex guards what the thread shares with the loop.
 */
#include "runtime/debug/debug_access.h"

#include "http/trust/local_trust.h"
#include "kc/thread.h"
#include "runtime/debug/debug_review.h"

#include <openssl/sha.h>

enum { CACHED = 64, MAX_WAITING = 16, MAX_TOKEN = 16 << 10 };

#define REVIEW_TIMEOUT (10 * KC_SECOND)
#define KEEP_ALLOWED   KC_MINUTE
#define KEEP_REFUSED   (10 * KC_SECOND)

typedef struct decision {
    uint8_t hash[SHA256_DIGEST_LENGTH];
    int64_t ends; /* Monotonic; 0: the entry is empty. */
    int status;
} decision;

/* A request that waits for its review. */
typedef struct review {
    kc__debug_access *access;
    kc__exchange *x;
    kc__debug_access_decided *decided;
    void *user;
    kc_dlist_link link;
    kc__loop_task task;
    kc__debug_review_request request; /* Its strings are in the exchange's arena. */
    uint8_t hash[SHA256_DIGEST_LENGTH];
    int status;
    char *text;
} review;

struct kc__debug_access {
    kc_client *client;
    kc__local_trust *local; /* NULL: loopback clients need a token. */
    const kc_clock *clock;
    kc_log *log;
    kc_cancel *cancel;
    decision cache[CACHED]; /* Used only on the loop. */

    kc_mutex mutex; /* Guards the fields below. */
    kc_cond changed;
    kc_thread *thread; /* NULL: no token has arrived yet. */
    kc_dlist waiting;  /* Of review. */
    size_t n_waiting;
    bool stopping;
};

static const char *debug_access_text_of(int status)
{
    switch (status) {
    case 401: return "Unauthorized\n";
    case 403: return "Forbidden\n";
    case 429: return "Too many requests, please try again later.\n";
    default: return "access review failed: the API server is unavailable\n";
    }
}

/* ---- the cache ---- */

static void debug_access_hash_of(const kc__debug_review_request *q,
                                 uint8_t ret[SHA256_DIGEST_LENGTH])
{
    kc_scoped(kc_buf) text = {0};
    kc_buf_printf(&text, "%.*s %.*s ", KC_ARG(q->verb), KC_ARG(q->path));
    kc_buf_append(&text, q->token);
    SHA256((const unsigned char *)kc_buf_cstr(&text), text.n, ret);
    kc_buf_wipe(&text);
}

static int cached(const kc__debug_access *a, const uint8_t *hash)
{
    const int64_t now = kc_clock_now(a->clock);
    for (size_t i = 0; i < CACHED; i++)
        if (a->cache[i].ends > now && memcmp(a->cache[i].hash, hash, sizeof(a->cache[i].hash)) == 0)
            return a->cache[i].status;
    return 0;
}

static void debug_access_retain(kc__debug_access *a, const uint8_t *hash, int status)
{
    decision *oldest = &a->cache[0];
    if (status != 200 && status != 401 && status != 403)
        return;
    for (size_t i = 1; i < CACHED; i++)
        if (a->cache[i].ends < oldest->ends)
            oldest = &a->cache[i];
    memcpy(oldest->hash, hash, sizeof(oldest->hash));
    oldest->status = status;
    oldest->ends = kc_clock_deadline(a->clock, status == 200 ? KEEP_ALLOWED : KEEP_REFUSED);
}

/* ---- reviews ---- */

static void finished(kc__loop_task *task)
{
    review *r = kc_container_of(task, review, task);
    debug_access_retain(r->access, r->hash, r->status);
    r->decided(r->x, r->status, r->text ? r->text : debug_access_text_of(r->status), r->user);
    free(r->text);
    free(r);
}

static void do_review(kc__debug_access *a, review *r)
{
    kc_scoped(kc_error) err = {0};
    const int64_t deadline = kc_clock_deadline(kc_client_clock(a->client), REVIEW_TIMEOUT);
    kc_auto(kc_client) *client = kc_client_with(
        a->client, &(kc_client_overrides){.cancel = a->cancel, .deadline = deadline});
    kc__debug_review_result verdict = {.status = 500};
    if (kc__debug_review(client, &r->request, &verdict, &err) < 0)
        kc_log_warn(a->log, "access review of a page failed", kc_kv("path", r->request.path),
                    kc_kv("err", &err));
    r->status = verdict.status;
    r->text = verdict.text;
}

/* NULL: the thread must end. */
static review *next_review(kc__debug_access *a)
{
    review *r = NULL;
    kc_locked (&a->mutex) {
        while (!a->stopping && kc_dlist_empty(&a->waiting))
            kc_cond_wait(&a->changed, &a->mutex);
        if (kc_dlist_empty(&a->waiting))
            break;
        r = kc_container_of(kc_dlist_pop(&a->waiting), review, link);
        a->n_waiting--;
    }
    return r;
}

static void debug_access_run(void *user)
{
    kc__debug_access *a = user;
    for (review *r; (r = next_review(a));) {
        do_review(a, r);
        r->task.run = finished;
        kc__loop_post(r->x->loop, &r->task);
    }
}

static bool has_thread(kc__debug_access *a)
{
    if (!a->thread)
        a->thread = kc_thread_start("page-review", debug_access_run, a, NULL);
    return a->thread;
}

/* 0, or the HTTP status of the rejection. */
static int debug_access_enter(kc__debug_access *a, review *r)
{
    int status = 0;
    kc_locked (&a->mutex) {
        if (a->stopping || !has_thread(a)) {
            status = 500;
            break;
        }
        if (a->n_waiting == MAX_WAITING) {
            status = 429;
            break;
        }
        a->n_waiting++;
        kc_dlist_push(&a->waiting, &r->link);
        kc_cond_signal(&a->changed);
    }
    return status;
}

/* ---- requests ---- */

/* The token of "Bearer TOKEN"; empty if the header has another form. */
static kc_str token_of(kc_str authorization)
{
    kc_str rest = kc_str_trim(authorization);
    const kc_str scheme = kc_str_cut(&rest, ' ');
    if (!kc_str_eq_nocase(scheme, KC_STR("Bearer")) || !rest.p || rest.n > MAX_TOKEN)
        return (kc_str){0};
    return kc_str_trim(rest);
}

static kc_str verb_of(kc__exchange *x)
{
    return kc_str_is(x->request.method, "HEAD") ? KC_STR("head") : KC_STR("get");
}

static void debug_access_request(kc__debug_access *a, kc__exchange *x, kc_str token,
                                 kc__debug_access_decided *decided, void *user)
{
    review *r = kc_new(review);
    *r = (review){.access = a,
                  .x = x,
                  .decided = decided,
                  .user = user,
                  .request = {token, x->request.target.path, verb_of(x)}};
    debug_access_hash_of(&r->request, r->hash);
    int status = cached(a, r->hash);
    if (!status && (status = debug_access_enter(a, r)) == 0)
        return;
    free(r);
    decided(x, status, debug_access_text_of(status), user);
}

void kc__debug_access_check(kc__debug_access *a, kc__exchange *x, kc__debug_access_decided *decided,
                            void *user)
{
    kc_str authorization, token = {0};
    size_t at = 0;
    const bool shown =
        kc__http_headers_next(&x->request.headers, KC_STR("Authorization"), &at, &authorization);
    if (shown)
        token = token_of(authorization);
    if (a->client && !kc_str_empty(token))
        debug_access_request(a, x, token, decided, user);
    else if (!shown && kc__local_trust_accepts(a->local, &x->request))
        decided(x, 200, "", user);
    else
        decided(x, 401, debug_access_text_of(401), user);
}

/* ---- lifecycle ---- */

kc__debug_access *kc__debug_access_new(const kc__debug_access_opts *opts)
{
    kc_scoped(kc_error) err = {0};
    kc__debug_access *a = kc_new(kc__debug_access);
    a->client = opts->client;
    a->clock = opts->clock;
    a->log = opts->log;
    a->cancel = kc_cancel_new(NULL);
    kc_mutex_init(&a->mutex);
    kc_cond_init(&a->changed);
    kc_dlist_init(&a->waiting);
    if (!opts->no_local)
        a->local = kc__local_trust_new(&(kc__local_trust_opts){.log = opts->log}, &err);
    if (!opts->no_local && !a->local)
        kc_log_warn(a->log, "loopback clients need a bearer token for pages", kc_kv("err", &err));
    return a;
}

void kc__debug_access_stop(kc__debug_access *a)
{
    if (!a)
        return;
    kc_thread *thread = NULL;
    kc_locked (&a->mutex) {
        a->stopping = true;
        thread = a->thread;
        a->thread = NULL;
        kc_cond_broadcast(&a->changed);
    }
    kc_cancel_fire(a->cancel);
    kc_thread_join(thread);
}

kc__debug_access *kc__debug_access_free(kc__debug_access *a)
{
    if (!a)
        return NULL;
    kc__debug_access_stop(a);
    kc__local_trust_free(a->local);
    kc_cancel_unref(a->cancel);
    kc_cond_done(&a->changed);
    kc_mutex_done(&a->mutex);
    free(a);
    return NULL;
}
