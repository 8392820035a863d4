/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fetch.c: answers of other servers, passed on, by a thread of transfers (transfers.h).
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

#include "http/transfers.h"
#include "kc/ref.h"

#define PATIENCE (30 * KC_SECOND)

enum { MAX_TEXT = 50 << 10, CONNECT_MS = 10000, KEPT = 16 };

typedef struct fetch {
    kc_ref refs;
    kc__transfer transfer;
    kc__fetcher *fetcher;
    kc__exchange *x;
    kc__fetch_arrived *arrived;
    void *user;
    kc__pipe *body;
    kc__task task; /* To tell of the head. */
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
} fetch;

struct kc__fetcher {
    char *cert_file, *key_file;
    kc__transfers *transfers;
};

static fetch *fetch_of(kc__transfer *transfer)
{
    return kc_container_of(transfer, fetch, transfer);
}

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
    curl_easy_getinfo(f->transfer.easy, CURLINFO_RESPONSE_CODE, &code);
    if (code < 200)
        return size * n;
    char *type = NULL;
    curl_easy_getinfo(f->transfer.easy, CURLINFO_CONTENT_TYPE, &type);
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

static void end(kc__transfer *transfer, CURLcode code)
{
    fetch *f = fetch_of(transfer);
    if (code != CURLE_OK && !f->told) {
        f->status = 0;
        kc_error_set(&f->error, KC_SERVICE_UNAVAILABLE, "%s",
                     *transfer->why ? transfer->why : curl_easy_strerror(code));
    }
    kc__pipe_close(f->body, code != CURLE_OK);
    tell_once(f);
    kc__pipe_unref(f->body);
    fetch_unref(f);
}

static void begin(kc__transfer *transfer)
{
    fetch *f = fetch_of(transfer);
    const kc__fetcher *fetcher = f->fetcher;
    CURL *easy = transfer->easy;
    curl_easy_setopt(easy, CURLOPT_URL, f->url);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
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
}

/* Its pipe was drained, or left. */
static void follow_wish(kc__transfers *transfers, fetch *f)
{
    const kc__pipe_state state = kc__pipe_check(f->body);
    if (state == KC__PIPE_GONE) {
        kc__transfers_end(transfers, &f->transfer, CURLE_WRITE_ERROR);
    } else if (state == KC__PIPE_OPEN && f->paused) {
        f->paused = false;
        curl_easy_pause(f->transfer.easy, CURLPAUSE_CONT);
    }
}

/* Also gives servers up that take a connection and say nothing. */
static void turn(kc__transfers *transfers, void *user)
{
    const int64_t now = kc_clock_now(kc_clock_real());
    (void)user;
    for (size_t i = kc__transfers_count(transfers); i-- > 0;) {
        fetch *f = fetch_of(kc__transfers_at(transfers, i));
        if (!f->told && now >= f->deadline)
            kc__transfers_end(transfers, &f->transfer, CURLE_OPERATION_TIMEDOUT);
        else if (atomic_exchange(&f->drained, false))
            follow_wish(transfers, f);
    }
}

/* ---- on a loop ---- */

static void drained(void *user)
{
    fetch *f = user;
    atomic_store(&f->drained, true);
    kc__transfers_wake(f->fetcher->transfers);
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
    if (kc__transfers_add(fetcher->transfers, &f->transfer, &f->error) == 0)
        return;
    tell_once(f);
    kc__pipe_unref(f->body);
    fetch_unref(f);
}

/* ---- a fetcher ---- */

kc__fetcher *kc__fetcher_new(const kc__fetcher_opts *opts)
{
    kc__fetcher *fetcher = kc_new(kc__fetcher);
    fetcher->transfers = kc__transfers_new(&(kc__transfers_opts){
        .name = "fetch", .connections = KEPT, .begin = begin, .end = end, .turn = turn});
    if (opts->cert_file) {
        fetcher->cert_file = kc_strdup(opts->cert_file);
        fetcher->key_file = kc_strdup(opts->key_file);
    }
    return fetcher;
}

void kc__fetcher_stop(kc__fetcher *fetcher)
{
    if (fetcher)
        kc__transfers_stop(fetcher->transfers);
}

kc__fetcher *kc__fetcher_free(kc__fetcher *fetcher)
{
    if (!fetcher)
        return NULL;
    kc__transfers_free(fetcher->transfers);
    free(fetcher->cert_file);
    free(fetcher->key_file);
    free(fetcher);
    return NULL;
}
