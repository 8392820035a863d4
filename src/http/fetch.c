/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fetch.c: answers of other servers, passed on. libcurl's multi interface on one thread.
 *
 *     curl ──▶ head ──task on the loop──▶ arrived
 *          ──▶ body ──▶ pipe ──▶ the exchange's client
 *
 * When the pipe is full the transfer is paused, and goes on when the pipe has been drained; when
 * nobody reads it any more, the transfer ends. Both are wishes that the loop leaves in the fetch
 * for the thread.
 *
 * A fetch is counted: the thread has one reference until its transfer has ended, the pipe another
 * until it is freed.
 */
#include "http/fetch.h"

#include "kc/ref.h"
#include "kc/vec.h"

#include <curl/curl.h>
#include <limits.h>

#define PATIENCE (30 * KC_SECOND)

enum { MAX_TEXT = 50 << 10, CONNECT_MS = 10000, TURN_MS = 1000 };

typedef struct fetch {
    kc_ref refs;
    kc_link link; /* In the fetcher's list of new ones. */
    kc__fetcher *fetcher;
    kc__exchange *x;
    kc__fetch_arrived *arrived;
    void *user;
    kc__pipe *body;
    kc__task task; /* To tell of the head. */
    CURL *easy;
    char *url, *pin;
    int64_t deadline; /* For the head. */

    /* Written by the thread, then read by the task. */
    int status;
    char *type;
    kc_buf text;
    kc_error error;
    bool told;

    _Atomic bool drained; /* The loop's wish: look at the pipe again. */
    bool paused;
    char why[CURL_ERROR_SIZE];
} fetch;

struct kc__fetcher {
    char *cert_file, *key_file;
    kc_thread *thread;
    CURLM *multi;
    KC_VEC(fetch *) active; /* The thread's own. */

    kc_mutex mutex; /* Guards what follows. */
    kc_list fresh;  /* Of fetch. */
    bool stop;
};

/* ---- a fetch ---- */

static void fetch_unref(void *user)
{
    fetch *f = user;
    if (!kc_ref_drop(&f->refs))
        return;
    kc_buf_done(&f->text);
    kc_error_done(&f->error);
    free(f->type);
    free(f->url);
    free(f->pin);
    free(f);
}

/* On the loop. */
static void tell(kc__task *task)
{
    fetch *f = kc_container_of(task, fetch, task);
    const kc__fetch_head head = {.status = f->status,
                                 .type = kc_cstr(f->type),
                                 .text = kc_buf_str(&f->text),
                                 .error = &f->error};
    kc__pipe *body = f->body;
    f->arrived(&head, body, f->user);
    kc__pipe_unref(body); /* Its writer is the thread, which has one of its own. */
}

static void tell_once(fetch *f)
{
    if (f->told)
        return;
    f->told = true;
    f->task.run = tell;
    kc__pipe_ref(f->body);
    kc__loop_post(f->x->loop, &f->task);
}

static bool succeeded(const fetch *f)
{
    return f->status >= 200 && f->status < 300;
}

/* ---- what curl tells ---- */

static size_t header_came(char *data, size_t size, size_t n, void *user)
{
    fetch *f = user;
    const kc_str line = kc_str_trim(kc_str_of(data, size * n));
    long code = 0;
    if (!kc_str_empty(line))
        return size * n;
    curl_easy_getinfo(f->easy, CURLINFO_RESPONSE_CODE, &code);
    if (code < 200)
        return size * n;
    char *type = NULL;
    curl_easy_getinfo(f->easy, CURLINFO_CONTENT_TYPE, &type);
    f->status = (int)code;
    f->type = kc_strdup(type ? type : "");
    if (succeeded(f))
        tell_once(f);
    return size * n;
}

static size_t body_came(char *data, size_t size, size_t n, void *user)
{
    fetch *f = user;
    const kc_str bytes = kc_str_of(data, size * n);
    if (!succeeded(f)) {
        kc_buf_append(&f->text, kc_str_sub(bytes, 0, KC_MIN(bytes.n, MAX_TEXT - f->text.n)));
        return bytes.n;
    }
    /* A paused transfer gives the same bytes again: they are not in the pipe yet. */
    if (kc__pipe_check(f->body) == KC__PIPE_FULL) {
        f->paused = true;
        return CURL_WRITEFUNC_PAUSE;
    }
    return kc__pipe_put(f->body, bytes) == KC__PIPE_GONE ? 0 : bytes.n;
}

/* ---- on the thread ---- */

static void end(fetch *f, CURLcode code)
{
    if (code != CURLE_OK && !f->told) {
        f->status = 0;
        kc_error_set(&f->error, KC_SERVICE_UNAVAILABLE, "%s",
                     *f->why ? f->why : curl_easy_strerror(code));
    }
    kc__pipe_close(f->body, code != CURLE_OK);
    tell_once(f);
    curl_multi_remove_handle(f->fetcher->multi, f->easy);
    curl_easy_cleanup(f->easy);
    f->easy = NULL;
    kc__pipe_unref(f->body);
    fetch_unref(f);
}

static void forget(kc__fetcher *fetcher, const fetch *f)
{
    for (size_t i = 0; i < fetcher->active.n; i++)
        if (fetcher->active.items[i] == f) {
            kc_vec_remove(&fetcher->active, i);
            return;
        }
}

static void begin(kc__fetcher *fetcher, fetch *f)
{
    CURL *easy = f->easy = curl_easy_init();
    curl_easy_setopt(easy, CURLOPT_URL, f->url);
    curl_easy_setopt(easy, CURLOPT_PRIVATE, f);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, f->why);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_NOPROXY, "*");
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, header_came);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, f);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, body_came);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, f);
    /* Whose key is not said is as good as unknown: its names would prove nothing. */
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 0L);
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 0L);
    if (f->pin)
        curl_easy_setopt(easy, CURLOPT_PINNEDPUBLICKEY, f->pin);
    if (fetcher->cert_file) {
        curl_easy_setopt(easy, CURLOPT_SSLCERT, fetcher->cert_file);
        curl_easy_setopt(easy, CURLOPT_SSLKEY, fetcher->key_file);
    }
    kc_vec_push(&fetcher->active, f);
    curl_multi_add_handle(fetcher->multi, easy);
}

static bool take_fresh(kc__fetcher *fetcher)
{
    kc_list fresh;
    bool stop = false;
    kc_list_init(&fresh);
    kc_locked (&fetcher->mutex) {
        while (!kc_list_empty(&fetcher->fresh))
            kc_list_push(&fresh, kc_list_pop(&fetcher->fresh));
        stop = fetcher->stop;
    }
    while (!kc_list_empty(&fresh))
        begin(fetcher, kc_container_of(kc_list_pop(&fresh), fetch, link));
    return !stop;
}

/* Pipes that were drained, or left. */
static void follow_wishes(kc__fetcher *fetcher)
{
    for (size_t i = fetcher->active.n; i-- > 0;) {
        fetch *f = fetcher->active.items[i];
        if (!atomic_exchange(&f->drained, false))
            continue;
        const kc__pipe_state state = kc__pipe_check(f->body);
        if (state == KC__PIPE_GONE) {
            kc_vec_remove(&fetcher->active, i);
            end(f, CURLE_WRITE_ERROR);
        } else if (state == KC__PIPE_OPEN && f->paused) {
            f->paused = false;
            curl_easy_pause(f->easy, CURLPAUSE_CONT);
        }
    }
}

/* Servers that take a connection and say nothing. */
static void give_up_waiting(kc__fetcher *fetcher)
{
    const int64_t now = kc_clock_now(kc_clock_real());
    for (size_t i = fetcher->active.n; i-- > 0;) {
        fetch *f = fetcher->active.items[i];
        if (f->told || now < f->deadline)
            continue;
        kc_vec_remove(&fetcher->active, i);
        end(f, CURLE_OPERATION_TIMEDOUT);
    }
}

static void take_ended(kc__fetcher *fetcher)
{
    int left;
    for (const CURLMsg *message; (message = curl_multi_info_read(fetcher->multi, &left));) {
        fetch *f = NULL;
        if (message->msg != CURLMSG_DONE)
            continue;
        const CURLcode code = message->data.result;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&f);
        forget(fetcher, f);
        end(f, code);
    }
}

static void move_bytes(void *user)
{
    kc__fetcher *fetcher = user;
    int running;
    while (take_fresh(fetcher)) {
        follow_wishes(fetcher);
        curl_multi_perform(fetcher->multi, &running);
        take_ended(fetcher);
        give_up_waiting(fetcher);
        curl_multi_poll(fetcher->multi, NULL, 0, fetcher->active.n ? TURN_MS : INT_MAX, NULL);
    }
    /* What came with the wish to stop is among them. */
    while (fetcher->active.n)
        end(kc_vec_pop(&fetcher->active), CURLE_ABORTED_BY_CALLBACK);
}

/* ---- on a loop ---- */

static void drained(void *user)
{
    fetch *f = user;
    atomic_store(&f->drained, true);
    curl_multi_wakeup(f->fetcher->multi);
}

/* Under the mutex. The thread starts with the first. */
static int may_start(kc__fetcher *fetcher, kc_error *err)
{
    if (fetcher->stop)
        return kc_error_set(err, KC_SERVICE_UNAVAILABLE, "the server is going down");
    if (fetcher->thread)
        return 0;
    fetcher->multi = curl_multi_init();
    curl_multi_setopt(fetcher->multi, CURLMOPT_MAXCONNECTS, 16L);
    fetcher->thread = kc_thread_start("fetch", move_bytes, fetcher, err);
    return fetcher->thread ? 0 : -1;
}

void kc__fetch_start(kc__fetcher *fetcher, const kc__fetch_request *request, kc__exchange *x,
                     kc__fetch_arrived *arrived, void *user)
{
    fetch *f = kc_new(fetch);
    *f = (fetch){.fetcher = fetcher,
                 .x = x,
                 .arrived = arrived,
                 .user = user,
                 .url = kc_strdup(request->url),
                 .pin = request->pin ? kc_strdup(request->pin) : NULL,
                 .deadline = kc_clock_deadline(kc_clock_real(),
                                               request->patience ? request->patience : PATIENCE),
                 .body = kc__pipe_new(kc__loop_clock(x->loop), KC__PIPE_ROOM)};
    kc_ref_init(&f->refs);
    kc_ref_add(&f->refs);
    kc__pipe_on_drained(f->body, drained, fetch_unref, f);
    bool runs = false;
    kc_locked (&fetcher->mutex) {
        runs = may_start(fetcher, &f->error) == 0;
        if (runs)
            kc_list_push(&fetcher->fresh, &f->link);
    }
    if (runs) {
        curl_multi_wakeup(fetcher->multi);
    } else {
        tell_once(f);
        kc__pipe_unref(f->body);
        fetch_unref(f);
    }
}

/* ---- a fetcher ---- */

kc__fetcher *kc__fetcher_new(const kc__fetcher_opts *opts)
{
    kc__fetcher *fetcher = kc_new(kc__fetcher);
    kc_mutex_init(&fetcher->mutex);
    kc_list_init(&fetcher->fresh);
    if (opts->cert_file) {
        fetcher->cert_file = kc_strdup(opts->cert_file);
        fetcher->key_file = kc_strdup(opts->key_file);
    }
    return fetcher;
}

void kc__fetcher_stop(kc__fetcher *fetcher)
{
    kc_thread *thread = NULL;
    if (!fetcher)
        return;
    kc_locked (&fetcher->mutex) {
        fetcher->stop = true;
        thread = kc_take(fetcher->thread);
    }
    if (thread)
        curl_multi_wakeup(fetcher->multi);
    kc_thread_join(thread);
}

kc__fetcher *kc__fetcher_free(kc__fetcher *fetcher)
{
    if (!fetcher)
        return NULL;
    kc__fetcher_stop(fetcher);
    curl_multi_cleanup(fetcher->multi);
    kc_vec_done(&fetcher->active);
    kc_mutex_done(&fetcher->mutex);
    free(fetcher->cert_file);
    free(fetcher->key_file);
    free(fetcher);
    return NULL;
}
