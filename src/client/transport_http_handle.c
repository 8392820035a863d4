/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transport_http_handle.c: curl's easy handles, with all options that are the same from request to
 * request: they are set once, and a handle is used again as long as the credential it has
 * certificates of is the newest. Changed certificates so lead to new connections by themselves:
 * curl compares what a connection was made with.
 *
 * A dead peer is noticed by the kernel: keepalive probes where nothing is under way, a limit on
 * unanswered data where something is; both after 45 seconds, as long as other clients wait for the
 * answer to a ping.
 */
#include "client/transport_http_internal.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#define DEAD_AFTER_MS 45000

#define SET(handle, option, value) curl_easy_setopt((handle)->easy, CURLOPT_##option, value)

static int set_socket(void *user, curl_socket_t fd, curlsocktype purpose)
{
    const unsigned timeout = DEAD_AFTER_MS;
    (void)user;
    if (purpose == CURLSOCKTYPE_IPCXN)
        setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &timeout, sizeof(timeout));
    return CURL_SOCKOPT_OK;
}

static void set_connection(kc__handle *h, const kc__http *http)
{
    const kc_config *config = http->config;
    SET(h, CONNECTTIMEOUT_MS, http->connect_timeout_ms);
    SET(h, TCP_KEEPALIVE, 1L);
    SET(h, TCP_KEEPIDLE, 30L);
    SET(h, TCP_KEEPINTVL, 5L);
    SET(h, SOCKOPTFUNCTION, set_socket);
    if (http->connect_to.data)
        SET(h, CONNECT_TO, &http->connect_to);
    if (config->proxy) {
        SET(h, PROXY, config->proxy);
        SET(h, NOPROXY, "");
        SET(h, SUPPRESS_CONNECT_HEADERS, 1L);
    } else if (http->loopback) {
        SET(h, PROXY, "");
    }
}

static void set_version(kc__handle *h, bool http1)
{
    SET(h, HTTP_VERSION, http1 ? CURL_HTTP_VERSION_1_1 : CURL_HTTP_VERSION_2TLS);
    /* Waits for the first connection to say whether it takes several, rather than opening more. */
    SET(h, PIPEWAIT, http1 ? 0L : 1L);
}

static struct curl_blob blob_of(char *pem, size_t length)
{
    return (struct curl_blob){pem, length, CURL_BLOB_NOCOPY};
}

/* Whether curl's own bundle of authorities is there. */
static bool has_bundle(void)
{
    const curl_version_info_data *curl = curl_version_info(CURLVERSION_NOW);
    return curl->cainfo && access(curl->cainfo, R_OK) == 0;
}

static void set_tls(kc__handle *h, const kc__http *http)
{
    const kc__credential *c = h->credential;
    struct curl_blob blob;
    SET(h, SSLVERSION, CURL_SSLVERSION_TLSv1_2);
    SET(h, SSL_VERIFYPEER, http->config->insecure ? 0L : 1L);
    SET(h, SSL_VERIFYHOST, http->config->insecure ? 0L : 2L);
    if (c->ca) {
        blob = blob_of(c->ca, c->ca_length);
        SET(h, CAINFO_BLOB, &blob);
    }
    /* Given authorities and no others: the folder of the system's is not looked at as well. Nor
     * beside the bundle of the same, which curl reads once a day if it is all there is. */
    if (c->ca || has_bundle())
        SET(h, CAPATH, NULL);
    if (c->cert && c->key) {
        blob = blob_of(c->cert, c->cert_length);
        SET(h, SSLCERT_BLOB, &blob);
        blob = blob_of(c->key, c->key_length);
        SET(h, SSLKEY_BLOB, &blob);
    }
}

static void set_transfer(kc__handle *h, const kc__http *http)
{
    SET(h, ERRORBUFFER, h->error);
    SET(h, NOSIGNAL, 1L);
    SET(h, NOPROGRESS, 1L);
    SET(h, PROTOCOLS_STR, "http,https");
    SET(h, FOLLOWLOCATION, 0L);
    SET(h, PATH_AS_IS, 1L);
    SET(h, USERAGENT, http->user_agent);
    SET(h, BUFFERSIZE, 65536L);
    SET(h, HEADERFUNCTION, kc__on_header);
    SET(h, WRITEFUNCTION, kc__on_body);
    SET(h, PREREQFUNCTION, kc__on_sending);
}

kc__handle *kc__handle_new(const kc__http *http, kc__credential *credential, bool http1)
{
    kc__handle *h = kc_new(kc__handle);
    h->easy = curl_easy_init();
    h->credential = kc__credential_ref(credential);
    if (!h->easy)
        return kc__handle_free(h);
    set_transfer(h, http);
    set_connection(h, http);
    set_version(h, http1);
    if (http->tls)
        set_tls(h, http);
    return h;
}

kc__handle *kc__handle_free(kc__handle *h)
{
    if (!h)
        return NULL;
    curl_easy_cleanup(h->easy);
    kc__credential_unref(h->credential);
    free(h);
    return NULL;
}
