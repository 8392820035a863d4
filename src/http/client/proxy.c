/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proxy.c: streams responses of other servers to clients, on a curl loop (curl_loop.h).
 *
 *     curl ──▶ head ──task on the loop──▶ arrived
 *          ──▶ body ──▶ pipe ──▶ the exchange's client
 *
 * A full pipe pauses the transfer, which continues when the pipe has drained; if the reader is
 * gone, the transfer ends. In both cases the event loop sets a flag in the fetch, which the curl
 * thread checks.
 *
 * A fetch is reference-counted: the curl thread holds one reference until the transfer has ended,
 * the pipe another until it is freed.
 */
#include "http/client/proxy.h"

#include "http/client/curl_loop.h"
#include "kc/ref.h"

#define DEFAULT_TIMEOUT (30 * KC_SECOND)

enum { MAX_TEXT = 50 << 10, CONNECT_MS = 10000, KEPT = 16 };

typedef struct fetch {
    kc_ref refs;
    kc__curl_transfer transfer;
    kc__http_proxy *http_proxy;
    kc__exchange *x;
    kc__http_proxy_head_fn *arrived;
    void *user;
    kc__pipe *body;
    kc__loop_task task; /* Delivers the head. */
    char *url, *pin;
    int64_t deadline; /* For the head. */

    /* Written by the curl thread, then read by the task. */
    int status;
    char *type;
    kc_buf text;
    kc_error error;
    bool head_reported;

    _Atomic bool drained; /* Set by the event loop: check the pipe again. */
    bool paused;
} fetch;

struct kc__http_proxy {
    char *cert_file, *key_file;
    kc__curl_loop *transfers;
};

static fetch *fetch_of(kc__curl_transfer *transfer)
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

/* On the event loop. */
static void deliver_proxy_head(kc__loop_task *task)
{
    fetch *f = kc_container_of(task, fetch, task);
    const kc__http_proxy_head head = {.status = f->status,
                                      .type = kc_cstr(f->type),
                                      .text = kc_buf_str(&f->text),
                                      .error = &f->error};
    kc__pipe *body = f->body;
    f->arrived(&head, body, f->user);
    kc__pipe_unref(body); /* The writer, the curl thread, holds its own reference. */
}

static void report_head_once(fetch *f)
{
    if (f->head_reported)
        return;
    f->head_reported = true;
    f->task.run = deliver_proxy_head;
    kc__pipe_ref(f->body);
    kc__loop_post(f->x->loop, &f->task);
}

static bool succeeded(const fetch *f)
{
    return f->status >= 200 && f->status < 300;
}

/* ---- curl's callbacks ---- */

static size_t on_header(char *data, size_t size, size_t n, void *user)
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
        report_head_once(f);
    return size * n;
}

static size_t on_body(char *data, size_t size, size_t n, void *user)
{
    fetch *f = user;
    const kc_str bytes = kc_str_of(data, size * n);
    if (!succeeded(f)) {
        kc_buf_append(&f->text, kc_str_sub(bytes, 0, KC_MIN(bytes.n, MAX_TEXT - f->text.n)));
        return bytes.n;
    }
    /* A paused transfer delivers the same bytes again: they are not in the pipe yet. */
    if (kc__pipe_check(f->body) == KC__PIPE_FULL) {
        f->paused = true;
        return CURL_WRITEFUNC_PAUSE;
    }
    return kc__pipe_put(f->body, bytes) == KC__PIPE_GONE ? 0 : bytes.n;
}

/* ---- on the curl thread ---- */

static void end_proxy_transfer(kc__curl_transfer *transfer, CURLcode code)
{
    fetch *f = fetch_of(transfer);
    if (code != CURLE_OK && !f->head_reported) {
        f->status = 0;
        kc_error_set(&f->error, KC_SERVICE_UNAVAILABLE, "%s",
                     *transfer->why ? transfer->why : curl_easy_strerror(code));
    }
    kc__pipe_close(f->body, code != CURLE_OK);
    report_head_once(f);
    kc__pipe_unref(f->body);
    fetch_unref(f);
}

static void begin_proxy_transfer(kc__curl_transfer *transfer)
{
    fetch *f = fetch_of(transfer);
    const kc__http_proxy *http_proxy = f->http_proxy;
    CURL *easy = transfer->easy;
    curl_easy_setopt(easy, CURLOPT_URL, f->url);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, f);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, f);
    /* The CA and the host name are not verified; the pinned key, if set, identifies the server.
     * Without a pin the server is unverified, and its names would prove nothing. */
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 0L);
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 0L);
    if (f->pin)
        curl_easy_setopt(easy, CURLOPT_PINNEDPUBLICKEY, f->pin);
    if (http_proxy->cert_file) {
        curl_easy_setopt(easy, CURLOPT_SSLCERT, http_proxy->cert_file);
        curl_easy_setopt(easy, CURLOPT_SSLKEY, http_proxy->key_file);
    }
}

/* The pipe has drained, or its reader is gone. */
static void check_pipe(kc__curl_loop *transfers, fetch *f)
{
    const kc__pipe_state state = kc__pipe_check(f->body);
    if (state == KC__PIPE_GONE) {
        kc__curl_loop_end_transfer(transfers, &f->transfer, CURLE_WRITE_ERROR);
    } else if (state == KC__PIPE_OPEN && f->paused) {
        f->paused = false;
        curl_easy_pause(f->transfer.easy, CURLPAUSE_CONT);
    }
}

/* Also ends transfers whose server accepts the connection and sends no head in time. */
static void on_proxy_turn(kc__curl_loop *transfers, void *user)
{
    const int64_t now = kc_clock_now(kc_clock_real());
    (void)user;
    for (size_t i = kc__curl_loop_count(transfers); i-- > 0;) {
        fetch *f = fetch_of(kc__curl_loop_transfer_at(transfers, i));
        if (!f->head_reported && now >= f->deadline)
            kc__curl_loop_end_transfer(transfers, &f->transfer, CURLE_OPERATION_TIMEDOUT);
        else if (atomic_exchange(&f->drained, false))
            check_pipe(transfers, f);
    }
}

/* ---- on an event loop ---- */

static void drained(void *user)
{
    fetch *f = user;
    atomic_store(&f->drained, true);
    kc__curl_loop_wake(f->http_proxy->transfers);
}

void kc__http_proxy_start(kc__http_proxy *http_proxy, const kc__http_proxy_request *request,
                          kc__exchange *x, kc__http_proxy_head_fn *arrived, void *user)
{
    fetch *f = kc_new(fetch);
    *f = (fetch){.http_proxy = http_proxy,
                 .x = x,
                 .arrived = arrived,
                 .user = user,
                 .url = kc_strdup(request->url),
                 .pin = request->pin ? kc_strdup(request->pin) : NULL,
                 .deadline = kc_clock_deadline(kc_clock_real(), request->timeout ? request->timeout
                                                                                 : DEFAULT_TIMEOUT),
                 .body = kc__pipe_new(kc__loop_clock(x->loop), KC__PIPE_ROOM)};
    kc_ref_init(&f->refs);
    kc_ref_add(&f->refs);
    kc__pipe_on_drained(f->body, drained, fetch_unref, f);
    if (kc__curl_loop_add(http_proxy->transfers, &f->transfer, &f->error) == 0)
        return;
    report_head_once(f);
    kc__pipe_unref(f->body);
    fetch_unref(f);
}

/* ---- construction and destruction ---- */

kc__http_proxy *kc__http_proxy_new(const kc__http_proxy_opts *opts)
{
    kc__http_proxy *http_proxy = kc_new(kc__http_proxy);
    http_proxy->transfers = kc__curl_loop_new(&(kc__curl_loop_opts){.name = "http-proxy",
                                                                    .connections = KEPT,
                                                                    .begin = begin_proxy_transfer,
                                                                    .end = end_proxy_transfer,
                                                                    .turn = on_proxy_turn});
    if (opts->cert_file) {
        http_proxy->cert_file = kc_strdup(opts->cert_file);
        http_proxy->key_file = kc_strdup(opts->key_file);
    }
    return http_proxy;
}

void kc__http_proxy_stop(kc__http_proxy *http_proxy)
{
    if (http_proxy)
        kc__curl_loop_stop(http_proxy->transfers);
}

kc__http_proxy *kc__http_proxy_free(kc__http_proxy *http_proxy)
{
    if (!http_proxy)
        return NULL;
    kc__curl_loop_free(http_proxy->transfers);
    free(http_proxy->cert_file);
    free(http_proxy->key_file);
    free(http_proxy);
    return NULL;
}
