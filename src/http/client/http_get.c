/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_get.c: fetches a small document. For threads that may block: everything that belongs to an
 * event loop uses http_client.h.
 */
#include "http/client/http_get.h"

#include "kc/clock.h"

#include <curl/curl.h>

#define DEFAULT_TIMEOUT (30 * KC_SECOND)
#define DEFAULT_BYTES   ((size_t)1 << 20)

typedef struct document_fetch {
    kc_buf *out;
    size_t left;
    const _Atomic bool *abort;
} document_fetch;

static size_t take_document_bytes(char *data, size_t size, size_t n, void *user)
{
    document_fetch *fetch = user;
    if (size * n > fetch->left)
        return 0;
    fetch->left -= size * n;
    kc_buf_append(fetch->out, kc_str_of(data, size * n));
    return size * n;
}

static int check_document_abort(void *user, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
    const document_fetch *fetch = user;
    (void)a, (void)b, (void)c, (void)d;
    return fetch->abort && atomic_load(fetch->abort);
}

static void set_document_options(CURL *easy, const char *url, const kc__http_get_opts *opts,
                                 document_fetch *fetch)
{
    const int64_t timeout = opts->timeout ? opts->timeout : DEFAULT_TIMEOUT;
    struct curl_blob ca = {.data = (void *)opts->ca.p, .len = opts->ca.n, .flags = CURL_BLOB_COPY};
    curl_easy_setopt(easy, CURLOPT_URL, url);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "https");
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)(timeout / KC_MILLISECOND));
    curl_easy_setopt(easy, CURLOPT_USERAGENT, "kube-apiserver");
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_document_bytes);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, fetch);
    curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, check_document_abort);
    curl_easy_setopt(easy, CURLOPT_XFERINFODATA, fetch);
    if (!opts->ca.n)
        return;
    curl_easy_setopt(easy, CURLOPT_CAINFO_BLOB, &ca);
    curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
}

int kc__http_get(const char *url, const kc__http_get_opts *opts, kc_buf *out, kc_error *err)
{
    char why[CURL_ERROR_SIZE] = "";
    long status = 0;
    document_fetch fetch = {out, opts->max_bytes ? opts->max_bytes : DEFAULT_BYTES, opts->abort};
    CURL *easy = curl_easy_init();
    if (!easy)
        return kc_error_set(err, KC_SERVICE_UNAVAILABLE, "Get \"%s\": out of memory", url);
    /* The URL may lead back to this server: the request must not get loopback trust. */
    struct curl_slist *headers = curl_slist_append(NULL, "Via: 1.1 kubecontroller");
    set_document_options(easy, url, opts, &fetch);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, why);
    const CURLcode code = curl_easy_perform(easy);
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_cleanup(easy);
    curl_slist_free_all(headers);
    if (code != CURLE_OK)
        return kc_error_set(err, KC_SERVICE_UNAVAILABLE, "Get \"%s\": %s", url,
                            *why ? why : curl_easy_strerror(code));
    if (status != 200)
        return kc_error_set(err, KC_SERVICE_UNAVAILABLE, "Get \"%s\": status %ld", url, status);
    return 0;
}
