/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis.c: a connection to a Redis server: a non-blocking socket, and poll with a deadline.
 *
 * Time here is real time, not the clock of reconcilers: the server is external and replies in real
 * time also when a test's clock is virtual (virtual time stands still meanwhile). A server that is
 * silent for the timeout fails the call; a long reply gets the timeout for every 64 KiB, so that a
 * slow server is no error and a dripping one is.
 *
 * The buffer holds received bytes; replies point into it, and bytes before `at` are consumed. It is
 * compacted only when there is no room at the end, so that many small replies cost nothing. Writing
 * never waits for reading: Redis accepts commands while its replies wait, and callers keep few in
 * flight.
 *
 * Passwords: the server's refusal of AUTH is not repeated verbatim, because a server that does not
 * know the command replies with its arguments.
 */
#include "redis.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#define TIMEOUT (10 * KC_SECOND)
#define SLICE   (100 * KC_MILLISECOND) /* Interval at which cancellation is noticed. */
#define CHUNK   ((size_t)64 << 10)

struct redis {
    int fd;
    int64_t timeout;
    kc_cancel *cancel;
    resp_limits limits;
    kc_buf out, in;
    size_t at; /* In `in`: start of the next reply. */
    kc_arena arena;
    uint64_t bytes;
};

/* ---- waiting ---- */

static int64_t redismigration_redis_now(void)
{
    return kc_clock_now(kc_clock_real());
}

static int redismigration_redis_failed(kc_error *err, const char *what)
{
    return kc_error_set(err, KC_SERVICE_UNAVAILABLE, "%s: %s", what, strerror(errno));
}

static int redismigration_redis_wait_for(redis *r, short events, int64_t deadline, kc_error *err)
{
    for (;;) {
        const int64_t left = deadline - redismigration_redis_now();
        struct pollfd ready = {.fd = r->fd, .events = events};
        if (kc_cancel_check(r->cancel, err) < 0)
            return kc_error_result(err);
        if (left <= 0)
            return kc_error_set(err, KC_TIMEOUT, "timed out waiting for a reply");
        const int64_t slice = KC_MIN(left, SLICE) / KC_MILLISECOND + 1;
        const int n = poll(&ready, 1, (int)slice);
        if (n > 0)
            return 0;
        if (n < 0 && errno != EINTR)
            return redismigration_redis_failed(err, "poll");
    }
}

/* ---- connecting ---- */

static int connect_to(redis *r, const struct addrinfo *to, kc_error *err)
{
    int problem = 0, one = 1;
    socklen_t size = sizeof(problem);
    r->fd = socket(to->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (r->fd < 0)
        return redismigration_redis_failed(err, "socket");
    setsockopt(r->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    if (connect(r->fd, to->ai_addr, to->ai_addrlen) == 0)
        return 0;
    if (errno != EINPROGRESS)
        return redismigration_redis_failed(err, "cannot connect");
    if (redismigration_redis_wait_for(r, POLLOUT, redismigration_redis_now() + r->timeout, err) < 0)
        return kc_error_wrap(err, "cannot connect");
    if (getsockopt(r->fd, SOL_SOCKET, SO_ERROR, &problem, &size) < 0 || problem) {
        errno = problem ? problem : errno;
        return redismigration_redis_failed(err, "cannot connect");
    }
    return 0;
}

/* The first address of a name that accepts a connection. Only the system limits the time of the
 * lookup. */
static int connect_any(redis *r, const redis_opts *opts, kc_error *err)
{
    char port[8];
    struct addrinfo *all = NULL;
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
    snprintf(port, sizeof(port), "%u", (unsigned)opts->port);
    const int problem = getaddrinfo(opts->host, port, &hints, &all);
    if (problem)
        return kc_error_set(err, KC_SERVICE_UNAVAILABLE, "cannot resolve %s: %s", opts->host,
                            gai_strerror(problem));
    int result = kc_error_set(err, KC_SERVICE_UNAVAILABLE, "%s has no address", opts->host);
    for (const struct addrinfo *to = all; to && result < 0; to = to->ai_next) {
        result = connect_to(r, to, err);
        if (result < 0 && r->fd >= 0) {
            close(r->fd);
            r->fd = -1;
        }
    }
    freeaddrinfo(all);
    if (result == 0)
        kc_error_done(err);
    return result;
}

/* ---- commands and replies ---- */

void redis_send(redis *r, const kc_str *words, size_t n)
{
    resp_command(&r->out, words, n);
}

size_t redis_unsent(const redis *r)
{
    return r->out.n;
}

uint64_t redis_bytes(const redis *r)
{
    return r->bytes;
}

int redis_flush(redis *r, kc_error *err)
{
    size_t sent = 0;
    int64_t deadline = redismigration_redis_now() + r->timeout;
    while (sent < r->out.n) {
        const ssize_t n = send(r->fd, r->out.p + sent, r->out.n - sent, MSG_NOSIGNAL);
        if (n > 0) {
            sent += (size_t)n;
            deadline = redismigration_redis_now() + r->timeout;
        } else if (errno == EAGAIN) {
            if (redismigration_redis_wait_for(r, POLLOUT, deadline, err) < 0)
                return kc_error_result(err);
        } else if (errno != EINTR) {
            return redismigration_redis_failed(err, "connection lost");
        }
    }
    if (r->out.cap > 16 * CHUNK)
        kc_buf_done(&r->out); /* Shrinks the buffer after a large value. */
    kc_buf_clear(&r->out);
    return 0;
}

/* Makes room for a chunk at the end. */
static char *redismigration_redis_reserve(redis *r, kc_error *err)
{
    if (r->at == r->in.n) {
        kc_buf_clear(&r->in);
        r->at = 0;
    } else if (r->at && r->in.n + CHUNK >= r->in.cap) {
        memmove(r->in.p, r->in.p + r->at, r->in.n - r->at);
        r->in.n -= r->at;
        r->at = 0;
    }
    char *room = kc_buf_reserve(&r->in, CHUNK);
    if (!room)
        kc_error_set(err, KC_SERVICE_UNAVAILABLE, "no memory for the reply");
    return room;
}

/* Reads more bytes; returns their number. */
static ssize_t redismigration_redis_receive(redis *r, int64_t deadline, kc_error *err)
{
    char *room = redismigration_redis_reserve(r, err);
    if (!room)
        return kc_error_result(err);
    for (;;) {
        const ssize_t n = recv(r->fd, room, CHUNK, 0);
        if (n > 0) {
            r->in.n += (size_t)n;
            r->bytes += (uint64_t)n;
            return n;
        }
        if (n == 0)
            return kc_error_set(err, KC_SERVICE_UNAVAILABLE, "server closed the connection");
        if (errno != EAGAIN && errno != EINTR)
            return redismigration_redis_failed(err, "connection lost");
        if (redismigration_redis_wait_for(r, POLLIN, deadline, err) < 0)
            return kc_error_result(err);
    }
}

int redis_read(redis *r, resp_value *ret, kc_error *err)
{
    resp_scan scan = {0};
    size_t fresh = 0;
    int found = 0;
    if (redis_flush(r, err) < 0)
        return kc_error_result(err);
    int64_t deadline = redismigration_redis_now() + r->timeout;
    while (!(found = resp_scan_more(&scan, kc_str_sub(kc_buf_str(&r->in), r->at, r->in.n),
                                    &r->limits, err))) {
        const ssize_t n = redismigration_redis_receive(r, deadline, err);
        if (n < 0)
            return n;
        fresh += (size_t)n;
        if (fresh >= CHUNK) {
            fresh = 0;
            deadline = redismigration_redis_now() + r->timeout;
        }
    }
    if (found < 0)
        return found;
    kc_arena_clear(&r->arena);
    *ret = resp_build(kc_str_of(r->in.p + r->at, scan.at), &r->arena);
    r->at += scan.at;
    return 0;
}

int redis_call(redis *r, resp_value *ret, kc_error *err, const kc_str *words, size_t n)
{
    resp_value value;
    redis_send(r, words, n);
    if (redis_read(r, &value, err) < 0)
        return kc_error_result(err);
    if (value.type == RESP_ERROR)
        return redis_refused(value.str, err);
    *ret = value;
    return 0;
}

/* ---- errors of the server ---- */

static const struct redismigration_redis_meaning {
    const char *begins;
    kc_reason reason;
} meanings[] = {
    {"LOADING ", KC_SERVICE_UNAVAILABLE},
    {"BUSY ", KC_SERVICE_UNAVAILABLE},
    {"MASTERDOWN ", KC_SERVICE_UNAVAILABLE},
    {"TRYAGAIN ", KC_SERVICE_UNAVAILABLE},
    {"CLUSTERDOWN ", KC_SERVICE_UNAVAILABLE},
    {"MISCONF ", KC_SERVICE_UNAVAILABLE}, /* The server cannot save: its disk may have space again
                                           * later. */
    {"ERR max number of clients", KC_SERVICE_UNAVAILABLE},
    {"NOAUTH ", KC_FORBIDDEN},
    {"WRONGPASS ", KC_FORBIDDEN},
    {"NOPERM ", KC_FORBIDDEN},
    {"DENIED ", KC_FORBIDDEN}, /* Protected mode. */
    {"READONLY ", KC_FORBIDDEN},
    {"ERR invalid password", KC_FORBIDDEN}, /* Before Redis 6. */
};

static kc_reason redismigration_redis_reason_of(kc_str reply)
{
    for (size_t i = 0; i < KC_COUNT(meanings); i++)
        if (kc_str_starts(reply, kc_cstr(meanings[i].begins)))
            return meanings[i].reason;
    return KC_INVALID;
}

int redis_refused(kc_str reply, kc_error *err)
{
    reply = kc_str_sub(reply, 0, 300);
    return kc_error_set(err, redismigration_redis_reason_of(reply), "server replied: %.*s",
                        KC_ARG(reply));
}

int redis_expect(const resp_value *value, resp_type type, kc_error *err)
{
    if (value->type == RESP_ERROR)
        return redis_refused(value->str, err);
    if (value->type != type)
        return kc_error_set(err, KC_INVALID, "unexpected reply");
    return 0;
}

/* ---- opening and closing ---- */

static int authenticate(redis *r, const redis_opts *opts, kc_error *err)
{
    resp_value reply;
    if (!opts->password)
        return 0;
    const kc_str words[] = {KC_STR("AUTH"), kc_cstr(opts->user), kc_cstr(opts->password)};
    const kc_str old[] = {words[0], words[2]}; /* Before Redis 6 there are no users. */
    redis_send(r, opts->user ? words : old, opts->user ? KC_COUNT(words) : KC_COUNT(old));
    if (redis_read(r, &reply, err) < 0)
        return kc_error_result(err);
    if (reply.type != RESP_ERROR)
        return 0;
    if (kc_str_contains(reply.str, KC_STR("without any password")))
        return kc_error_set(err, KC_FORBIDDEN,
                            "the server has no password, but one is "
                            "configured");
    const kc_reason reason = redismigration_redis_reason_of(reply.str);
    kc_str code = reply.str;
    code = kc_str_cut(&code, ' ');
    if (reason == KC_FORBIDDEN)
        return kc_error_set(err, reason, "server refused the password (%.*s)",
                            KC_ARG(kc_str_sub(code, 0, 32)));
    return kc_error_set(err, reason, "server refused AUTH (%.*s)", KC_ARG(kc_str_sub(code, 0, 32)));
}

static int select_db(redis *r, int db, kc_error *err)
{
    char text[16];
    resp_value reply;
    snprintf(text, sizeof(text), "%d", db);
    if (db && REDIS_CALL(r, &reply, err, KC_STR("SELECT"), kc_cstr(text)) < 0)
        return kc_error_wrap(err, "database %d", db);
    return 0;
}

redis *redis_open(const redis_opts *opts, kc_error *err)
{
    kc_auto(redis) *r = kc_new(redis);
    r->fd = -1;
    r->timeout = opts->timeout ? opts->timeout : TIMEOUT;
    r->limits.max_bytes = opts->max_reply ? opts->max_reply : RESP_BYTES_MAX;
    r->in.limit = r->limits.max_bytes + RESP_LINE + 4 * CHUNK;
    r->cancel = opts->cancel;
    if (connect_any(r, opts, err) < 0 || authenticate(r, opts, err) < 0 ||
        select_db(r, opts->db, err) < 0)
        return NULL;
    return kc_take(r);
}

redis *redis_close(redis *r)
{
    if (!r)
        return NULL;
    if (r->fd >= 0)
        close(r->fd);
    if (r->out.p)
        explicit_bzero(r->out.p, r->out.cap); /* It contained the password. */
    kc_buf_done(&r->out);
    kc_buf_done(&r->in);
    kc_arena_done(&r->arena);
    free(r);
    return NULL;
}
