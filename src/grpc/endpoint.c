/* SPDX-License-Identifier: Apache-2.0 */
/*
 * endpoint.c: one server of a channel: its URL, and the connection to it.
 *
 * An endpoint always has a connection, or a timer that opens the next one. Failed attempts are
 * repeated after 50 ms, 100 ms, 200 ms, … up to max_backoff, each up to a fifth longer by chance,
 * so that many clients of a restarted server do not come at once. A connection that was ready for
 * a while is replaced at once and ends the backoff.
 */
#include "grpc/grpc_internal.h"

#define FIRST_BACKOFF (50 * KC_MILLISECOND)

/* ---- URL ---- */

/* "host", "host:port", "[address]:port", split. False if the host is empty or the port invalid. */
static bool split_host_port(kc_str text, kc_str *ret_host, kc_str *ret_port)
{
    const ptrdiff_t bracket = kc_str_rfind(text, ']'), colon = kc_str_rfind(text, ':');
    const bool has_port = colon > bracket;
    kc_str host = has_port ? kc_str_sub(text, 0, (size_t)colon) : text;
    if (has_port)
        *ret_port = kc_str_sub(text, (size_t)colon + 1, text.n);
    if (bracket >= 0) {
        if (host.p[0] != '[' || (size_t)bracket != host.n - 1)
            return false;
        host = kc_str_sub(host, 1, host.n - 1);
    } else if (kc_str_find(host, ':') >= 0 || kc_str_find(host, '[') >= 0) {
        return false; /* An IPv6 address needs brackets. */
    }
    uint64_t number = 0;
    *ret_host = host;
    return host.n && kc_str_to_u64(*ret_port, &number) && number > 0 && number < 65536;
}

static bool cut_prefix(kc_str *text, kc_str prefix)
{
    if (!kc_str_starts(*text, prefix))
        return false;
    *text = kc_str_sub(*text, prefix.n, text->n);
    return true;
}

int kc__grpc_endpoint_parse(kc__grpc_endpoint *e, const char *url, kc_error *err)
{
    kc_str rest = kc_cstr(url), host = {0}, port;
    const bool tls = cut_prefix(&rest, KC_STR("https://"));
    const bool known = tls || cut_prefix(&rest, KC_STR("http://"));
    port = tls ? KC_STR("443") : KC_STR("80");
    if (kc_str_ends(rest, KC_STR("/")))
        rest = kc_str_sub(rest, 0, rest.n - 1);
    const bool plain =
        kc_str_find(rest, '/') < 0 && kc_str_find(rest, '@') < 0 && kc_str_find(rest, ' ') < 0;
    if (!known || !plain || !split_host_port(rest, &host, &port))
        return kc_error_set(err, KC_INVALID,
                            "endpoint \"%s\" is not of the form http[s]://host[:port]", url);
    e->url = kc_strdup(url);
    e->tls = tls;
    e->host = kc_str_dup(host);
    e->port = kc_str_dup(port);
    e->authority = kc_str_dup(rest);
    return 0;
}

void kc__grpc_endpoint_done(kc__grpc_endpoint *e)
{
    free(e->url);
    free(e->host);
    free(e->port);
    free(e->authority);
    kc_buf_done(&e->last_error);
}

/* ---- connection ---- */

static void count_endpoint(kc__grpc_endpoint *e, bool ready)
{
    if (e->counted == ready)
        return;
    e->counted = ready;
    if (ready)
        atomic_fetch_add(&e->channel->connected, 1);
    else
        atomic_fetch_sub(&e->channel->connected, 1);
    if (e->channel->ready_endpoints)
        kc_gauge_add(e->channel->ready_endpoints, ready ? 1 : -1);
}

bool kc__grpc_endpoint_is_ready(const kc__grpc_endpoint *e)
{
    return e->connection && kc__grpc_connection_is_ready(e->connection);
}

bool kc__grpc_endpoint_responds(const kc__grpc_endpoint *e)
{
    return !kc__grpc_connection_is_silent(e->connection);
}

static void on_backoff_over(kc__loop_timer *timer)
{
    kc__grpc_endpoint_connect(kc_container_of(timer, kc__grpc_endpoint, retry));
}

void kc__grpc_endpoint_connect(kc__grpc_endpoint *e)
{
    e->retry = (kc__loop_timer){.loop = e->channel->loop, .fire = on_backoff_over};
    e->connection = kc__grpc_connection_open(e);
}

void kc__grpc_endpoint_ready(kc__grpc_endpoint *e)
{
    kc_log_debug(e->channel->log, "connected", kc_kv("endpoint", e->url));
    kc_counter_inc(e->channel->connects);
    count_endpoint(e, true);
    kc__grpc_channel_changed(e->channel);
}

static void back_off(kc__grpc_endpoint *e)
{
    kc__grpc_channel *channel = e->channel;
    const int64_t next = e->backoff ? 2 * e->backoff : FIRST_BACKOFF;
    e->backoff = KC_MIN(next, channel->max_backoff);
    const int64_t wait = kc_rand_jitter(&channel->rand, e->backoff, 0.2);
    kc__loop_timer_start(&e->retry, kc_clock_deadline(channel->clock, wait));
}

void kc__grpc_endpoint_lost(kc__grpc_endpoint *e, bool was_useful, const char *reason)
{
    kc_log_debug(e->channel->log, "disconnected", kc_kv("endpoint", e->url),
                 kc_kv("reason", reason));
    kc_counter_inc(e->channel->disconnects);
    count_endpoint(e, false);
    kc_buf_clear(&e->last_error);
    kc_buf_puts(&e->last_error, reason);
    e->connection = NULL;
    if (was_useful) {
        e->backoff = 0;
        kc__grpc_endpoint_connect(e);
    } else {
        back_off(e);
    }
    kc__grpc_channel_changed(e->channel);
}

void kc__grpc_endpoint_stop(kc__grpc_endpoint *e)
{
    kc__loop_timer_stop(&e->retry);
    count_endpoint(e, false);
    e->connection = NULL;
}
