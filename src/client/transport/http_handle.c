/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_handle.c: curl easy handles with the options that are the same for all requests. They are
 * set once, and a handle is reused as long as its credential, whose certificates it holds, is the
 * current one. Changed certificates therefore lead to new connections: curl compares the options
 * with which a connection was made.
 *
 * The kernel detects a dead peer: by keepalive probes on an idle connection, by a limit on
 * unacknowledged data otherwise; both after 45 seconds, the time that other clients wait for the
 * response to a ping.
 */
#include "client/transport/transport_http_internal.h"

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

static void set_connection(kc__client_transport_handle *h, const kc__client_transport_http *http)
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

static void set_version(kc__client_transport_handle *h, bool http1)
{
    SET(h, HTTP_VERSION, http1 ? (long)CURL_HTTP_VERSION_1_1 : (long)CURL_HTTP_VERSION_2TLS);
    /* Wait for the first connection to report whether it multiplexes instead of opening more. */
    SET(h, PIPEWAIT, http1 ? 0L : 1L);
}

static struct curl_blob blob_of(char *pem, size_t length)
{
    return (struct curl_blob){pem, length, CURL_BLOB_NOCOPY};
}

/* Returns whether curl's default CA bundle exists. */
static bool has_bundle(void)
{
    const curl_version_info_data *curl = curl_version_info(CURLVERSION_NOW);
    return curl->cainfo && access(curl->cainfo, R_OK) == 0;
}

static void set_tls(kc__client_transport_handle *h, const kc__client_transport_http *http)
{
    const kc__credential *c = h->credential;
    struct curl_blob blob;
    SET(h, SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    SET(h, SSL_VERIFYPEER, http->config->insecure ? 0L : 1L);
    SET(h, SSL_VERIFYHOST, http->config->insecure ? 0L : 2L);
    if (c->ca) {
        blob = blob_of(c->ca, c->ca_length);
        SET(h, CAINFO_BLOB, &blob);
    }
    /* Trust only the given CA certificates, not also the system's CA directory. Without any
     * given, skip the directory too if the bundle has the same certificates: curl caches the
     * bundle for a day if there is no other source. */
    if (c->ca || has_bundle())
        SET(h, CAPATH, NULL);
    if (c->cert && c->key) {
        blob = blob_of(c->cert, c->cert_length);
        SET(h, SSLCERT_BLOB, &blob);
        blob = blob_of(c->key, c->key_length);
        SET(h, SSLKEY_BLOB, &blob);
    }
}

static void set_transfer(kc__client_transport_handle *h, const kc__client_transport_http *http)
{
    SET(h, ERRORBUFFER, h->error);
    SET(h, NOSIGNAL, 1L);
    SET(h, NOPROGRESS, 1L);
    SET(h, PROTOCOLS_STR, "http,https");
    SET(h, FOLLOWLOCATION, 0L);
    SET(h, PATH_AS_IS, 1L);
    SET(h, USERAGENT, http->user_agent);
    SET(h, BUFFERSIZE, 65536L);
    SET(h, HEADERFUNCTION, kc__client_transport_on_header);
    SET(h, WRITEFUNCTION, kc__client_transport_on_body);
    SET(h, PREREQFUNCTION, kc__client_transport_on_connect);
}

kc__client_transport_handle *kc__client_transport_handle_new(const kc__client_transport_http *http,
                                                             kc__credential *credential, bool http1)
{
    kc__client_transport_handle *h = kc_new(kc__client_transport_handle);
    h->easy = curl_easy_init();
    h->credential = kc__credential_ref(credential);
    if (!h->easy)
        return kc__client_transport_handle_free(h);
    set_transfer(h, http);
    set_connection(h, http);
    set_version(h, http1);
    if (http->tls)
        set_tls(h, http);
    return h;
}

kc__client_transport_handle *kc__client_transport_handle_free(kc__client_transport_handle *h)
{
    if (!h)
        return NULL;
    curl_easy_cleanup(h->easy);
    kc__credential_unref(h->credential);
    free(h);
    return NULL;
}
