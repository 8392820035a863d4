/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ask.c: questions to other servers, by a thread of transfers (transfers.h): the whole answer is
 * collected before anybody is told.
 *
 *     kc__ask_start ──▶ transfer ──▶ task on the loop ──▶ done
 *
 * A question belongs to the thread from the moment it is taken until its task is posted, and to the
 * loop from then on. What went wrong is said as Go's HTTP client would say it: clients of a
 * Kubernetes API server know those sentences.
 */
#include "http/ask.h"

#include "http/transfers.h"
#include "kc/buf.h"
#include "kc/sim.h"

#include <errno.h>
#include <openssl/x509_vfy.h>
#include <stdio.h>

#define PATIENCE (10 * KC_SECOND)

enum { KEPT = 64 };

typedef struct question {
    kc__transfer transfer;
    kc__loop *loop;
    kc__ask_done *done;
    void *user;
    kc__task task;
    struct curl_slist *headers, *connect_to;
    char *url, *agent, *body, *ca;
    size_t body_n, ca_n;
    int64_t deadline;
    bool http2;

    /* Written by the thread, then read by the task. */
    int status;
    char *type;
    kc_buf text, error;
    bool too_long;
} question;

struct kc__asker {
    kc__transfers *transfers;
    _Atomic int64_t end; /* When everything ends. */
};

static question *question_of(kc__transfer *transfer)
{
    return kc_container_of(transfer, question, transfer);
}

/* ---- a question ---- */

static void question_free(question *q)
{
    curl_slist_free_all(q->headers);
    curl_slist_free_all(q->connect_to);
    kc_buf_done(&q->text);
    kc_buf_done(&q->error);
    free(q->type);
    free(q->url);
    free(q->agent);
    free(q->body);
    free(q->ca);
    free(q);
}

/* On the loop. */
static void tell(kc__task *task)
{
    question *q = kc_container_of(task, question, task);
    const kc__ask_answer answer = {.status = q->status,
                                   .type = kc_cstr(q->type),
                                   .body = kc_buf_str(&q->text),
                                   .error = kc_buf_cstr(&q->error)};
    q->done(&answer, q->user);
    question_free(q);
}

static void post(question *q)
{
    q->task.run = tell;
    kc__loop_post(q->loop, &q->task);
}

static size_t body_came(char *data, size_t size, size_t n, void *user)
{
    question *q = user;
    if (q->text.n + size * n > KC__ASK_MOST) {
        q->too_long = true;
        return 0;
    }
    kc_buf_append(&q->text, kc_str_of(data, size * n));
    return size * n;
}

/* ---- in Go's words ---- */

/* With its port, where the URL has one. */
static kc_str host_of(const question *q)
{
    kc_str rest = kc_cstr(q->url);
    rest = kc_str_sub(rest, sizeof("https://") - 1, rest.n);
    return kc_str_cut(&rest, '/');
}

/* "127.0.0.1:443": where it is. */
static void write_address(const question *q, kc_buf *out)
{
    if (q->connect_to) {
        kc_buf_puts(out, q->connect_to->data + 2);
        return;
    }
    const kc_str host = host_of(q);
    const kc_str behind = kc_str_sub(host, (size_t)(kc_str_rfind(host, ']') + 1), host.n);
    kc_buf_append(out, host);
    if (kc_str_find(behind, ':') < 0)
        kc_buf_puts(out, ":443");
}

/* The name alone. */
static void write_host(const question *q, kc_buf *out)
{
    const kc_str host = host_of(q);
    const kc_str behind = kc_str_sub(host, (size_t)(kc_str_rfind(host, ']') + 1), host.n);
    const size_t port =
        kc_str_find(behind, ':') < 0 ? 0 : behind.n - (size_t)kc_str_find(behind, ':');
    kc_buf_append(out, kc_str_sub(host, 0, host.n - port));
}

static void say_not_connected(const question *q, kc_buf *out)
{
    long code = 0;
    curl_easy_getinfo(q->transfer.easy, CURLINFO_OS_ERRNO, &code);
    kc_buf_puts(out, "dial tcp ");
    write_address(q, out);
    kc_buf_printf(out, ": connect: %s",
                  code == ECONNREFUSED || !code ? "connection refused"
                  : code == ENETUNREACH         ? "network is unreachable"
                  : code == EHOSTUNREACH        ? "no route to host"
                                                : strerror((int)code));
}

static void say_not_trusted(const question *q, kc_buf *out)
{
    long result = 0;
    curl_easy_getinfo(q->transfer.easy, CURLINFO_SSL_VERIFYRESULT, &result);
    kc_buf_puts(out, "tls: failed to verify certificate: x509: ");
    if (result == X509_V_ERR_CERT_HAS_EXPIRED || result == X509_V_ERR_CERT_NOT_YET_VALID)
        kc_buf_puts(out, "certificate has expired or is not yet valid");
    else if (!strstr(q->transfer.why, "subject name"))
        kc_buf_puts(out, "certificate signed by unknown authority");
    else {
        kc_buf_puts(out, "certificate is not valid for ");
        write_host(q, out);
    }
}

static void say_why(const question *q, CURLcode code, kc_buf *out)
{
    switch (code) {
    case CURLE_OPERATION_TIMEDOUT: kc_buf_puts(out, "context deadline exceeded"); break;
    case CURLE_COULDNT_CONNECT: say_not_connected(q, out); break;
    case CURLE_PEER_FAILED_VERIFICATION: say_not_trusted(q, out); break;
    case CURLE_COULDNT_RESOLVE_HOST:
        kc_buf_puts(out, "dial tcp: lookup ");
        write_host(q, out);
        kc_buf_puts(out, ": no such host");
        break;
    case CURLE_GOT_NOTHING:
    case CURLE_RECV_ERROR:
    case CURLE_PARTIAL_FILE: kc_buf_puts(out, "EOF"); break;
    case CURLE_ABORTED_BY_CALLBACK: kc_buf_puts(out, "the server is going down"); break;
    default:
        if (q->too_long)
            kc_buf_printf(out, "the answer is longer than %d bytes", KC__ASK_MOST);
        else
            kc_buf_puts(out, *q->transfer.why ? q->transfer.why : curl_easy_strerror(code));
    }
}

/* ---- on the thread ---- */

static void end(kc__transfer *transfer, CURLcode code)
{
    question *q = question_of(transfer);
    long status = 0;
    char *type = NULL;
    curl_easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_getinfo(transfer->easy, CURLINFO_CONTENT_TYPE, &type);
    q->type = kc_strdup(type ? type : "");
    if (code == CURLE_OK)
        q->status = (int)status;
    else
        say_why(q, code, &q->error);
    post(q);
}

/* Nobody else's word counts where the authorities are named. */
static void set_trust(CURL *easy, const question *q)
{
    if (!q->ca_n)
        return;
    struct curl_blob blob = {.data = q->ca, .len = q->ca_n, .flags = CURL_BLOB_NOCOPY};
    curl_easy_setopt(easy, CURLOPT_CAINFO_BLOB, &blob);
    curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
}

static void begin(kc__transfer *transfer)
{
    question *q = question_of(transfer);
    CURL *easy = transfer->easy;
    const int64_t left = q->deadline - kc_clock_now(kc_clock_real());
    q->headers = curl_slist_append(NULL, "Content-Type: application/json");
    q->headers = curl_slist_append(q->headers, "Accept: application/json, */*");
    q->headers = curl_slist_append(q->headers, "Expect:");
    curl_easy_setopt(easy, CURLOPT_URL, q->url);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "https");
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION,
                     q->http2 ? (long)CURL_HTTP_VERSION_2TLS : (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)KC_MAX(left / KC_MILLISECOND, 1));
    curl_easy_setopt(easy, CURLOPT_POST, 1L);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, q->body);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)q->body_n);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, q->headers);
    curl_easy_setopt(easy, CURLOPT_USERAGENT, q->agent);
    curl_easy_setopt(easy, CURLOPT_CONNECT_TO, q->connect_to);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, body_came);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, q);
    set_trust(easy, q);
}

static bool is_over(const kc__asker *asker)
{
    return kc_clock_now(kc_clock_real()) >= atomic_load(&asker->end);
}

static void turn(kc__transfers *transfers, void *user)
{
    if (!is_over(user))
        return;
    for (size_t i = kc__transfers_count(transfers); i-- > 0;)
        kc__transfers_end(transfers, kc__transfers_at(transfers, i), CURLE_ABORTED_BY_CALLBACK);
}

/* ---- on any thread ---- */

static char *copy(kc_str text)
{
    return text.n ? kc_str_dup(text) : NULL;
}

static question *question_new(const kc__ask_request *request)
{
    const int64_t patience = request->patience ? request->patience : PATIENCE;
    question *q = kc_new(question);
    *q = (question){.url = kc_strdup(request->url),
                    .agent = copy(kc_cstr(request->agent)),
                    .body = copy(request->body),
                    .body_n = request->body.n,
                    .ca = copy(request->ca),
                    .ca_n = request->ca.n,
                    .http2 = request->http2,
                    .deadline = kc_clock_deadline(kc_clock_real(), patience)};
    if (request->connect_to) {
        kc_scoped(kc_buf) line = {0};
        kc_buf_printf(&line, "::%s", request->connect_to);
        q->connect_to = curl_slist_append(NULL, kc_buf_cstr(&line));
    }
    return q;
}

/* In a simulation time stands still while we wait for anybody outside. */
static int start(kc__asker *asker, question *q, kc_error *err)
{
    if (is_over(asker))
        return kc_error_set(err, KC_SERVICE_UNAVAILABLE, "the server is going down");
    if (kc_sim_current())
        return kc_error_set(err, KC_SERVICE_UNAVAILABLE, "nobody is reached from a simulation");
    return kc__transfers_add(asker->transfers, &q->transfer, err);
}

void kc__ask_start(kc__asker *asker, const kc__ask_request *request, kc__loop *loop,
                   kc__ask_done *done, void *user)
{
    kc_scoped(kc_error) err = {0};
    question *q = question_new(request);
    q->loop = loop;
    q->done = done;
    q->user = user;
    if (start(asker, q, &err) == 0)
        return;
    kc_buf_puts(&q->error, kc_error_text(&err));
    post(q);
}

/* ---- an asker ---- */

kc__asker *kc__asker_new(void)
{
    kc__asker *asker = kc_new(kc__asker);
    asker->transfers = kc__transfers_new(&(kc__transfers_opts){.name = "ask",
                                                               .connections = KEPT,
                                                               .begin = begin,
                                                               .end = end,
                                                               .turn = turn,
                                                               .user = asker});
    asker->end = KC_FOREVER;
    return asker;
}

void kc__asker_end_by(kc__asker *asker, int64_t deadline)
{
    atomic_store(&asker->end, deadline);
    kc__transfers_wake(asker->transfers);
}

void kc__asker_stop(kc__asker *asker)
{
    if (asker)
        kc__transfers_stop(asker->transfers);
}

kc__asker *kc__asker_free(kc__asker *asker)
{
    if (!asker)
        return NULL;
    kc__transfers_free(asker->transfers);
    free(asker);
    return NULL;
}
