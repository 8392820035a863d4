/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ask.c: questions to other servers. libcurl's multi interface on one thread, as fetch.c has it;
 * here the whole answer is collected before anybody is told.
 *
 *     kc__ask_start ──▶ fresh ──▶ curl ──▶ task on the loop ──▶ done
 *
 * A question belongs to the thread from the moment it is taken until its task is posted, and to the
 * loop from then on. What went wrong is said as Go's HTTP client would say it: clients of a
 * Kubernetes API server know those sentences.
 */
#include "http/ask.h"

#include "kc/buf.h"
#include "kc/sim.h"
#include "kc/thread.h"
#include "kc/vec.h"

#include <curl/curl.h>
#include <errno.h>
#include <limits.h>
#include <openssl/x509_vfy.h>
#include <stdio.h>

#define PATIENCE (10 * KC_SECOND)

enum { TURN_MS = 1000, IDLE_CONNECTIONS = 64 };

typedef struct question {
    kc_link link; /* In the asker's list of fresh ones. */
    kc__asker *asker;
    kc__loop *loop;
    kc__ask_done *done;
    void *user;
    kc__task task;
    CURL *easy;
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
    char why[CURL_ERROR_SIZE];
} question;

struct kc__asker {
    kc_thread *thread;
    CURLM *multi;
    KC_VEC(question *) active; /* The thread's own. */

    kc_mutex mutex; /* Guards what follows. */
    kc_list fresh;  /* Of question. */
    int64_t end;    /* When everything ends. */
    bool stop;
};

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
    curl_easy_getinfo(q->easy, CURLINFO_OS_ERRNO, &code);
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
    curl_easy_getinfo(q->easy, CURLINFO_SSL_VERIFYRESULT, &result);
    kc_buf_puts(out, "tls: failed to verify certificate: x509: ");
    if (result == X509_V_ERR_CERT_HAS_EXPIRED || result == X509_V_ERR_CERT_NOT_YET_VALID)
        kc_buf_puts(out, "certificate has expired or is not yet valid");
    else if (!strstr(q->why, "subject name"))
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
            kc_buf_puts(out, *q->why ? q->why : curl_easy_strerror(code));
    }
}

/* ---- on the thread ---- */

static void end(question *q, CURLcode code)
{
    long status = 0;
    char *type = NULL;
    curl_easy_getinfo(q->easy, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_getinfo(q->easy, CURLINFO_CONTENT_TYPE, &type);
    q->type = kc_strdup(type ? type : "");
    if (code == CURLE_OK)
        q->status = (int)status;
    else
        say_why(q, code, &q->error);
    curl_multi_remove_handle(q->asker->multi, q->easy);
    curl_easy_cleanup(q->easy);
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

static void set_up(CURL *easy, question *q)
{
    const int64_t left = q->deadline - kc_clock_now(kc_clock_real());
    curl_easy_setopt(easy, CURLOPT_URL, q->url);
    curl_easy_setopt(easy, CURLOPT_PRIVATE, q);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, q->why);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_NOPROXY, "*");
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "https");
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION,
                     q->http2 ? (long)CURL_HTTP_VERSION_2TLS : (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)KC_MAX(left / KC_MILLISECOND, 1));
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
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

static void begin(kc__asker *asker, question *q)
{
    q->easy = curl_easy_init();
    q->headers = curl_slist_append(NULL, "Content-Type: application/json");
    q->headers = curl_slist_append(q->headers, "Accept: application/json, */*");
    q->headers = curl_slist_append(q->headers, "Expect:");
    set_up(q->easy, q);
    kc_vec_push(&asker->active, q);
    curl_multi_add_handle(asker->multi, q->easy);
}

static bool take_fresh(kc__asker *asker)
{
    kc_list fresh;
    bool stop = false;
    kc_list_init(&fresh);
    kc_locked (&asker->mutex) {
        while (!kc_list_empty(&asker->fresh))
            kc_list_push(&fresh, kc_list_pop(&asker->fresh));
        stop = asker->stop;
    }
    while (!kc_list_empty(&fresh))
        begin(asker, kc_container_of(kc_list_pop(&fresh), question, link));
    return !stop;
}

static void forget(kc__asker *asker, const question *q)
{
    for (size_t i = 0; i < asker->active.n; i++)
        if (asker->active.items[i] == q) {
            asker->active.items[i] = kc_vec_pop(&asker->active);
            return;
        }
}

static void take_ended(kc__asker *asker)
{
    int left;
    for (const CURLMsg *message; (message = curl_multi_info_read(asker->multi, &left));) {
        question *q = NULL;
        if (message->msg != CURLMSG_DONE)
            continue;
        const CURLcode code = message->data.result;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&q);
        forget(asker, q);
        end(q, code);
    }
}

static void end_all(kc__asker *asker)
{
    while (asker->active.n)
        end(kc_vec_pop(&asker->active), CURLE_ABORTED_BY_CALLBACK);
}

static bool is_over(kc__asker *asker)
{
    int64_t deadline = 0;
    kc_locked (&asker->mutex)
        deadline = asker->end;
    return kc_clock_now(kc_clock_real()) >= deadline;
}

static void move_bytes(void *user)
{
    kc__asker *asker = user;
    int running;
    while (take_fresh(asker)) {
        curl_multi_perform(asker->multi, &running);
        take_ended(asker);
        if (is_over(asker))
            end_all(asker);
        curl_multi_poll(asker->multi, NULL, 0, asker->active.n ? TURN_MS : INT_MAX, NULL);
    }
    end_all(asker);
}

/* ---- on any thread ---- */

/* Under the mutex. The thread starts with the first. */
static int may_start(kc__asker *asker, kc_error *err)
{
    if (asker->stop || kc_clock_now(kc_clock_real()) >= asker->end)
        return kc_error_set(err, KC_SERVICE_UNAVAILABLE, "the server is going down");
    if (asker->thread)
        return 0;
    if (kc_sim_current()) /* Its time stands still while we wait for anybody outside. */
        return kc_error_set(err, KC_SERVICE_UNAVAILABLE, "nobody is reached from a simulation");
    asker->multi = curl_multi_init();
    curl_multi_setopt(asker->multi, CURLMOPT_MAXCONNECTS, (long)IDLE_CONNECTIONS);
    asker->thread = kc_thread_start("ask", move_bytes, asker, err);
    return asker->thread ? 0 : -1;
}

static char *copy(kc_str text)
{
    return text.n ? kc_str_dup(text) : NULL;
}

static question *question_new(kc__asker *asker, const kc__ask_request *request)
{
    const int64_t patience = request->patience ? request->patience : PATIENCE;
    question *q = kc_new(question);
    *q = (question){.asker = asker,
                    .url = kc_strdup(request->url),
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

void kc__ask_start(kc__asker *asker, const kc__ask_request *request, kc__loop *loop,
                   kc__ask_done *done, void *user)
{
    kc_scoped(kc_error) err = {0};
    question *q = question_new(asker, request);
    q->loop = loop;
    q->done = done;
    q->user = user;
    bool runs = false;
    kc_locked (&asker->mutex) {
        runs = may_start(asker, &err) == 0;
        if (runs)
            kc_list_push(&asker->fresh, &q->link);
    }
    if (runs) {
        curl_multi_wakeup(asker->multi);
        return;
    }
    kc_buf_puts(&q->error, kc_error_text(&err));
    post(q);
}

/* ---- an asker ---- */

kc__asker *kc__asker_new(void)
{
    kc__asker *asker = kc_new(kc__asker);
    kc_mutex_init(&asker->mutex);
    kc_list_init(&asker->fresh);
    asker->end = KC_FOREVER;
    return asker;
}

void kc__asker_end_by(kc__asker *asker, int64_t deadline)
{
    bool runs = false;
    kc_locked (&asker->mutex) {
        asker->end = deadline;
        runs = asker->thread;
    }
    if (runs)
        curl_multi_wakeup(asker->multi);
}

void kc__asker_stop(kc__asker *asker)
{
    kc_thread *thread = NULL;
    if (!asker)
        return;
    kc_locked (&asker->mutex) {
        asker->stop = true;
        thread = kc_take(asker->thread);
    }
    if (thread)
        curl_multi_wakeup(asker->multi);
    kc_thread_join(thread);
}

kc__asker *kc__asker_free(kc__asker *asker)
{
    if (!asker)
        return NULL;
    kc__asker_stop(asker);
    curl_multi_cleanup(asker->multi);
    kc_vec_done(&asker->active);
    kc_mutex_done(&asker->mutex);
    free(asker);
    return NULL;
}
