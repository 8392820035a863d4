/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_client.c: requests to other servers, on a curl loop (curl_loop.h): the whole response is
 * collected before the callback runs.
 *
 *     kc__http_client_send ──▶ transfer ──▶ task on the loop ──▶ done
 *
 * A request belongs to the curl thread until its task is posted, and to the event loop from then
 * on. Errors have the wording of Go's HTTP client, because users of a Kubernetes API server know
 * those messages.
 */
#include "http/client/http_client.h"

#include "http/client/curl_loop.h"
#include "kc/buf.h"
#include "kc/sim.h"

#include <errno.h>
#include <openssl/crypto.h>
#include <openssl/x509_vfy.h>
#include <stdio.h>

#define DEFAULT_TIMEOUT (10 * KC_SECOND)

enum { KEPT = 64 };

typedef struct client_exchange {
    kc__curl_transfer transfer;
    kc__loop *loop;
    kc__http_client_done_fn *done;
    void *user;
    kc__loop_task task;
    struct curl_slist *headers, *connect_to;
    char *url, *agent, *body, *ca;
    char *server_name, *cert, *key, *authorization; /* NULL: none. */
    size_t body_n, ca_n, cert_n, key_n, max_response;
    int64_t deadline;
    bool http2, get, allow_plain, insecure;

    /* Written by the curl thread, then read by the task. */
    int status;
    char *type;
    kc_buf text, error;
    bool too_long;
} client_exchange;

struct kc__http_client {
    kc__curl_loop *transfers;
    _Atomic int64_t end; /* When all requests end. */
};

static client_exchange *question_of(kc__curl_transfer *transfer)
{
    return kc_container_of(transfer, client_exchange, transfer);
}

/* ---- one request ---- */

/* Keys and tokens do not stay in memory. */
static void free_secret(char *text, size_t n)
{
    if (text)
        OPENSSL_cleanse(text, n);
    free(text);
}

static void question_free(client_exchange *q)
{
    curl_slist_free_all(q->headers);
    curl_slist_free_all(q->connect_to);
    kc_buf_done(&q->text);
    kc_buf_done(&q->error);
    free(q->type);
    free(q->url);
    free(q->agent);
    free(q->ca);
    free(q->server_name);
    free(q->cert);
    free_secret(q->key, q->key_n);
    free_secret(q->authorization, q->authorization ? strlen(q->authorization) : 0);
    free_secret(q->body, q->body_n);
    free(q);
}

/* On the event loop. */
static void deliver_client_response(kc__loop_task *task)
{
    client_exchange *q = kc_container_of(task, client_exchange, task);
    const kc__http_client_response response = {.status = q->status,
                                               .type = kc_cstr(q->type),
                                               .body = kc_buf_str(&q->text),
                                               .error = kc_buf_cstr(&q->error)};
    q->done(&response, q->user);
    question_free(q);
}

static void post(client_exchange *q)
{
    q->task.run = deliver_client_response;
    kc__loop_post(q->loop, &q->task);
}

static size_t on_body(char *data, size_t size, size_t n, void *user)
{
    client_exchange *q = user;
    if (q->text.n + size * n > q->max_response) {
        q->too_long = true;
        return 0;
    }
    kc_buf_append(&q->text, kc_str_of(data, size * n));
    return size * n;
}

/* ---- error messages as in Go ---- */

/* With the port if the URL has one. */
static kc_str client_host_of(const client_exchange *q)
{
    kc_str rest = kc_cstr(q->url);
    kc_str_cut(&rest, ':');
    rest = kc_str_sub(rest, sizeof("//") - 1, rest.n);
    return kc_str_cut(&rest, '/');
}

/* Writes the address of the server, "127.0.0.1:443". */
static void write_address(const client_exchange *q, kc_buf *out)
{
    if (q->connect_to) {
        kc_buf_puts(out, q->connect_to->data + 2);
        return;
    }
    const kc_str host = client_host_of(q);
    const kc_str behind = kc_str_sub(host, (size_t)(kc_str_rfind(host, ']') + 1), host.n);
    kc_buf_append(out, host);
    if (kc_str_find(behind, ':') < 0)
        kc_buf_puts(out, ":443");
}

/* Writes the host name alone. */
static void write_host(const client_exchange *q, kc_buf *out)
{
    const kc_str host = client_host_of(q);
    const kc_str behind = kc_str_sub(host, (size_t)(kc_str_rfind(host, ']') + 1), host.n);
    const size_t port =
        kc_str_find(behind, ':') < 0 ? 0 : behind.n - (size_t)kc_str_find(behind, ':');
    kc_buf_append(out, kc_str_sub(host, 0, host.n - port));
}

static void write_connect_error(const client_exchange *q, kc_buf *out)
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

static void write_trust_error(const client_exchange *q, kc_buf *out)
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

static void write_curl_error(const client_exchange *q, CURLcode code, kc_buf *out)
{
    switch (code) {
    case CURLE_OPERATION_TIMEDOUT: kc_buf_puts(out, "context deadline exceeded"); break;
    case CURLE_COULDNT_CONNECT: write_connect_error(q, out); break;
    case CURLE_PEER_FAILED_VERIFICATION: write_trust_error(q, out); break;
    case CURLE_COULDNT_RESOLVE_HOST:
        kc_buf_puts(out, "dial tcp: lookup ");
        write_host(q, out);
        kc_buf_puts(out, ": no such host");
        break;
    case CURLE_GOT_NOTHING:
    case CURLE_RECV_ERROR:
    case CURLE_PARTIAL_FILE: kc_buf_puts(out, "EOF"); break;
    case CURLE_ABORTED_BY_CALLBACK: kc_buf_puts(out, "the server is shutting down"); break;
    default:
        if (q->too_long)
            kc_buf_printf(out, "the response exceeds %zu bytes", q->max_response);
        else
            kc_buf_puts(out, *q->transfer.why ? q->transfer.why : curl_easy_strerror(code));
    }
}

/* ---- on the curl thread ---- */

static void end_client_transfer(kc__curl_transfer *transfer, CURLcode code)
{
    client_exchange *q = question_of(transfer);
    long status = 0;
    char *type = NULL;
    curl_easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_getinfo(transfer->easy, CURLINFO_CONTENT_TYPE, &type);
    q->type = kc_strdup(type ? type : "");
    if (code == CURLE_OK)
        q->status = (int)status;
    else
        write_curl_error(q, code, &q->error);
    post(q);
}

/* Trusts only the given CA certificates, if any. */
static void set_trust(CURL *easy, const client_exchange *q)
{
    if (!q->ca_n)
        return;
    struct curl_blob blob = {.data = q->ca, .len = q->ca_n, .flags = CURL_BLOB_NOCOPY};
    curl_easy_setopt(easy, CURLOPT_CAINFO_BLOB, &blob);
    curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
}

static void set_blob(CURL *easy, CURLoption option, char *text, size_t n)
{
    struct curl_blob blob = {.data = text, .len = n, .flags = CURL_BLOB_NOCOPY};
    if (n)
        curl_easy_setopt(easy, option, &blob);
}

/* Curl verifies the host of the URL. For another name the URL gets that host, and the connection
 * goes to the address of the first. */
static void set_server_name(CURL *easy, client_exchange *q)
{
    if (!q->server_name || q->connect_to)
        return;
    kc_scoped(kc_buf) url = {0}, to = {0}, host_field = {0};
    const kc_str host = client_host_of(q);
    const char *path = host.p + host.n;
    kc_buf_puts(&to, "::");
    write_address(q, &to);
    kc_buf_printf(&url, "https://%s:443%s", q->server_name, path);
    kc_buf_printf(&host_field, "Host: %.*s", KC_ARG(host));
    q->connect_to = curl_slist_append(NULL, kc_buf_cstr(&to));
    q->headers = curl_slist_append(q->headers, kc_buf_cstr(&host_field));
    curl_easy_setopt(easy, CURLOPT_URL, kc_buf_cstr(&url));
}

static void set_identity(CURL *easy, client_exchange *q)
{
    if (q->insecure) {
        curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 0L);
        curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 0L);
    }
    if (q->authorization) {
        kc_scoped(kc_buf) line = {0};
        kc_buf_printf(&line, "Authorization: %s", q->authorization);
        q->headers = curl_slist_append(q->headers, kc_buf_cstr(&line));
        kc_buf_wipe(&line);
    }
    if (q->cert_n)
        curl_easy_setopt(easy, CURLOPT_SSLCERTTYPE, "PEM");
    set_blob(easy, CURLOPT_SSLCERT_BLOB, q->cert, q->cert_n);
    set_blob(easy, CURLOPT_SSLKEY_BLOB, q->key, q->key_n);
    set_server_name(easy, q);
}

static void set_method(CURL *easy, const client_exchange *q)
{
    if (q->get)
        return;
    curl_easy_setopt(easy, CURLOPT_POST, 1L);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, q->body);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)q->body_n);
}

static void begin_client_transfer(kc__curl_transfer *transfer)
{
    client_exchange *q = question_of(transfer);
    CURL *easy = transfer->easy;
    const int64_t left = q->deadline - kc_clock_now(kc_clock_real());
    if (!q->get)
        q->headers = curl_slist_append(q->headers, "Content-Type: application/json");
    q->headers = curl_slist_append(q->headers, "Accept: application/json, */*");
    q->headers = curl_slist_append(q->headers, "Expect:");
    /* The URL is chosen by users. If it leads to this server, the request must not get loopback
     * trust. */
    q->headers = curl_slist_append(q->headers, "Via: 1.1 kubecontroller");
    curl_easy_setopt(easy, CURLOPT_URL, q->url);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, q->allow_plain ? "http,https" : "https");
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION,
                     q->http2 ? (long)CURL_HTTP_VERSION_2TLS : (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)KC_MAX(left / KC_MILLISECOND, 1));
    set_method(easy, q);
    set_identity(easy, q);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, q->headers);
    curl_easy_setopt(easy, CURLOPT_USERAGENT, q->agent);
    curl_easy_setopt(easy, CURLOPT_CONNECT_TO, q->connect_to);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, q);
    set_trust(easy, q);
}

static bool is_over(const kc__http_client *http_client)
{
    return kc_clock_now(kc_clock_real()) >= atomic_load(&http_client->end);
}

static void on_client_turn(kc__curl_loop *transfers, void *user)
{
    if (!is_over(user))
        return;
    for (size_t i = kc__curl_loop_count(transfers); i-- > 0;)
        kc__curl_loop_end_transfer(transfers, kc__curl_loop_transfer_at(transfers, i),
                                   CURLE_ABORTED_BY_CALLBACK);
}

/* ---- on any thread ---- */

static char *copy(kc_str text)
{
    return text.n ? kc_str_dup(text) : NULL;
}

static void copy_identity(client_exchange *q, const kc__http_client_identity *identity)
{
    if (!identity)
        return;
    q->insecure = identity->insecure;
    q->server_name = copy(kc_cstr(identity->server_name));
    q->authorization = copy(kc_cstr(identity->authorization));
    q->cert = copy(identity->cert);
    q->cert_n = identity->cert.n;
    q->key = copy(identity->key);
    q->key_n = identity->key.n;
}

static client_exchange *question_new(const kc__http_client_request *request)
{
    const int64_t timeout = request->timeout ? request->timeout : DEFAULT_TIMEOUT;
    const size_t most = KC__HTTP_CLIENT_MAX_RESPONSE;
    client_exchange *q = kc_new(client_exchange);
    *q = (client_exchange){.url = kc_strdup(request->url),
                           .agent = copy(kc_cstr(request->agent)),
                           .body = copy(request->body),
                           .body_n = request->body.n,
                           .ca = copy(request->ca),
                           .ca_n = request->ca.n,
                           .http2 = request->http2,
                           .get = request->get,
                           .allow_plain = request->allow_plain,
                           .max_response =
                               request->max_response ? KC_MIN(request->max_response, most) : most,
                           .deadline = kc_clock_deadline(kc_clock_real(), timeout)};
    copy_identity(q, request->identity);
    if (request->connect_to) {
        kc_scoped(kc_buf) line = {0};
        kc_buf_printf(&line, "::%s", request->connect_to);
        q->connect_to = curl_slist_append(NULL, kc_buf_cstr(&line));
    }
    return q;
}

/* In a simulation time stands still while the process waits for an external server, so sending
 * fails. */
static int start_client_request(kc__http_client *http_client, client_exchange *q, kc_error *err)
{
    if (is_over(http_client))
        return kc_error_set(err, KC_SERVICE_UNAVAILABLE, "the server is shutting down");
    if (kc_sim_current())
        return kc_error_set(err, KC_SERVICE_UNAVAILABLE, "a simulation has no network");
    return kc__curl_loop_add(http_client->transfers, &q->transfer, err);
}

void kc__http_client_send(kc__http_client *http_client, const kc__http_client_request *request,
                          kc__loop *loop, kc__http_client_done_fn *done, void *user)
{
    kc_scoped(kc_error) err = {0};
    client_exchange *q = question_new(request);
    q->loop = loop;
    q->done = done;
    q->user = user;
    if (start_client_request(http_client, q, &err) == 0)
        return;
    kc_buf_puts(&q->error, kc_error_text(&err));
    post(q);
}

/* ---- construction and destruction ---- */

kc__http_client *kc__http_client_new(void)
{
    kc__http_client *http_client = kc_new(kc__http_client);
    http_client->transfers = kc__curl_loop_new(&(kc__curl_loop_opts){.name = "http-client",
                                                                     .connections = KEPT,
                                                                     .begin = begin_client_transfer,
                                                                     .end = end_client_transfer,
                                                                     .turn = on_client_turn,
                                                                     .user = http_client});
    http_client->end = KC_FOREVER;
    return http_client;
}

void kc__http_client_end_by(kc__http_client *http_client, int64_t deadline)
{
    atomic_store(&http_client->end, deadline);
    kc__curl_loop_wake(http_client->transfers);
}

void kc__http_client_stop(kc__http_client *http_client)
{
    if (http_client)
        kc__curl_loop_stop(http_client->transfers);
}

kc__http_client *kc__http_client_free(kc__http_client *http_client)
{
    if (!http_client)
        return NULL;
    kc__curl_loop_free(http_client->transfers);
    free(http_client);
    return NULL;
}
