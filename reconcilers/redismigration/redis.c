/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis.c: a connection to a Redis server: a socket that does not block, and poll with a deadline.
 *
 * Time here is the machine's, not the clock that reconcilers are given: the server is outside, and
 * answers in real time also when a test's clock is virtual (the simulated thread just takes long,
 * while virtual time stands still). A server that is silent for the timeout is given up; a long
 * answer has the timeout for every 64 KiB, so that slow is no error and dripping is.
 *
 * The buffer holds what has come; answers point into it, and what lies before `at` was given out.
 * It is moved together only when there is no room behind, so that many small answers cost nothing.
 * Writing never waits for us to read: Redis takes commands in while its answers wait, and callers
 * keep few under way.
 *
 * Passwords: AUTH's refusal is not repeated word by word, because a server that does not know the
 * command answers with its arguments.
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
#define SLICE   (100 * KC_MILLISECOND) /* How soon it sees that it was cancelled. */
#define CHUNK   ((size_t)64 << 10)

struct redis {
    int fd;
    int64_t timeout;
    kc_cancel *cancel;
    resp_limits limits;
    kc_buf out, in;
    size_t at; /* In `in`: where the next answer begins. */
    kc_arena arena;
    uint64_t bytes;
};

/* ---- waiting ---- */

static int64_t now(void)
{
    return kc_clock_now(kc_clock_real());
}

static int failed(kc_error *err, const char *what)
{
    return kc_error_set(err, KC_SERVICE_UNAVAILABLE, "%s: %s", what, strerror(errno));
}

static int wait_for(redis *r, short events, int64_t deadline, kc_error *err)
{
    for (;;) {
        const int64_t left = deadline - now();
        struct pollfd ready = {.fd = r->fd, .events = events};
        if (kc_cancel_check(r->cancel, err) < 0)
            return -1;
        if (left <= 0)
            return kc_error_set(err, KC_TIMEOUT, "no answer in time");
        const int64_t slice = KC_MIN(left, SLICE) / KC_MILLISECOND + 1;
        const int n = poll(&ready, 1, (int)slice);
        if (n > 0)
            return 0;
        if (n < 0 && errno != EINTR)
            return failed(err, "poll");
    }
}

/* ---- connecting ---- */

static int connect_to(redis *r, const struct addrinfo *to, kc_error *err)
{
    int problem = 0, one = 1;
    socklen_t size = sizeof(problem);
    r->fd = socket(to->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (r->fd < 0)
        return failed(err, "socket");
    setsockopt(r->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    if (connect(r->fd, to->ai_addr, to->ai_addrlen) == 0)
        return 0;
    if (errno != EINPROGRESS)
        return failed(err, "cannot connect");
    if (wait_for(r, POLLOUT, now() + r->timeout, err) < 0)
        return kc_error_wrap(err, "cannot connect");
    if (getsockopt(r->fd, SOL_SOCKET, SO_ERROR, &problem, &size) < 0 || problem) {
        errno = problem ? problem : errno;
        return failed(err, "cannot connect");
    }
    return 0;
}

/* Of the addresses a name has, the first that answers. The search for them has no deadline but
 * the system's own. */
static int connect_any(redis *r, const redis_opts *opts, kc_error *err)
{
    char port[8];
    struct addrinfo *all = NULL;
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
    snprintf(port, sizeof(port), "%u", (unsigned)opts->port);
    const int problem = getaddrinfo(opts->host, port, &hints, &all);
    if (problem)
        return kc_error_set(err, KC_SERVICE_UNAVAILABLE, "cannot find %s: %s", opts->host,
                            gai_strerror(problem));
    int result = -1;
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

/* ---- commands and answers ---- */

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
    int64_t deadline = now() + r->timeout;
    while (sent < r->out.n) {
        const ssize_t n = send(r->fd, r->out.p + sent, r->out.n - sent, MSG_NOSIGNAL);
        if (n > 0) {
            sent += (size_t)n;
            deadline = now() + r->timeout;
        } else if (errno == EAGAIN) {
            if (wait_for(r, POLLOUT, deadline, err) < 0)
                return -1;
        } else if (errno != EINTR) {
            return failed(err, "the connection broke");
        }
    }
    if (r->out.cap > 16 * CHUNK)
        kc_buf_done(&r->out); /* After a big key: not for ever. */
    kc_buf_clear(&r->out);
    return 0;
}

/* Room for a chunk behind what is there. */
static char *make_room(redis *r, kc_error *err)
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
        kc_error_set(err, KC_SERVICE_UNAVAILABLE, "no memory for its answer");
    return room;
}

/* More bytes: how many. */
static ssize_t receive(redis *r, int64_t deadline, kc_error *err)
{
    char *room = make_room(r, err);
    if (!room)
        return -1;
    for (;;) {
        const ssize_t n = recv(r->fd, room, CHUNK, 0);
        if (n > 0) {
            r->in.n += (size_t)n;
            r->bytes += (uint64_t)n;
            return n;
        }
        if (n == 0)
            return kc_error_set(err, KC_SERVICE_UNAVAILABLE, "it closed the connection");
        if (errno != EAGAIN && errno != EINTR)
            return failed(err, "the connection broke");
        if (wait_for(r, POLLIN, deadline, err) < 0)
            return -1;
    }
}

int redis_read(redis *r, resp_value *ret, kc_error *err)
{
    resp_scan scan = {0};
    size_t fresh = 0;
    int found = 0;
    if (redis_flush(r, err) < 0)
        return -1;
    int64_t deadline = now() + r->timeout;
    while (!(found = resp_scan_more(&scan, kc_str_sub(kc_buf_str(&r->in), r->at, r->in.n),
                                    &r->limits, err))) {
        const ssize_t n = receive(r, deadline, err);
        if (n < 0)
            return -1;
        fresh += (size_t)n;
        if (fresh >= CHUNK) {
            fresh = 0;
            deadline = now() + r->timeout;
        }
    }
    if (found < 0)
        return -1;
    kc_arena_clear(&r->arena);
    *ret = resp_build(kc_str_of(r->in.p + r->at, scan.at), &r->arena);
    r->at += scan.at;
    return 0;
}

int redis_ask(redis *r, resp_value *ret, kc_error *err, const kc_str *words, size_t n)
{
    resp_value value;
    redis_send(r, words, n);
    if (redis_read(r, &value, err) < 0)
        return -1;
    if (value.type == RESP_ERROR)
        return redis_refused(value.str, err);
    *ret = value;
    return 0;
}

/* ---- what its errors mean ---- */

static const struct meaning {
    const char *begins;
    kc_reason reason;
} meanings[] = {
    {"LOADING ", KC_SERVICE_UNAVAILABLE},
    {"BUSY ", KC_SERVICE_UNAVAILABLE},
    {"MASTERDOWN ", KC_SERVICE_UNAVAILABLE},
    {"TRYAGAIN ", KC_SERVICE_UNAVAILABLE},
    {"CLUSTERDOWN ", KC_SERVICE_UNAVAILABLE},
    {"MISCONF ", KC_SERVICE_UNAVAILABLE}, /* It cannot save: its disk may have room again. */
    {"ERR max number of clients", KC_SERVICE_UNAVAILABLE},
    {"NOAUTH ", KC_FORBIDDEN},
    {"WRONGPASS ", KC_FORBIDDEN},
    {"NOPERM ", KC_FORBIDDEN},
    {"DENIED ", KC_FORBIDDEN}, /* Its protected mode. */
    {"READONLY ", KC_FORBIDDEN},
    {"ERR invalid password", KC_FORBIDDEN}, /* Before 6. */
};

static kc_reason reason_of(kc_str answer)
{
    for (size_t i = 0; i < KC_COUNT(meanings); i++)
        if (kc_str_starts(answer, kc_cstr(meanings[i].begins)))
            return meanings[i].reason;
    return KC_INVALID;
}

int redis_refused(kc_str answer, kc_error *err)
{
    answer = kc_str_sub(answer, 0, 300);
    return kc_error_set(err, reason_of(answer), "it answers: %.*s", KC_ARG(answer));
}

int redis_expect(const resp_value *value, resp_type type, kc_error *err)
{
    if (value->type == RESP_ERROR)
        return redis_refused(value->str, err);
    if (value->type != type)
        return kc_error_set(err, KC_INVALID, "it answers something else than was asked for");
    return 0;
}

/* ---- opening and closing ---- */

static int authenticate(redis *r, const redis_opts *opts, kc_error *err)
{
    resp_value answer;
    if (!opts->password)
        return 0;
    const kc_str words[] = {KC_STR("AUTH"), kc_cstr(opts->user), kc_cstr(opts->password)};
    const kc_str old[] = {words[0], words[2]}; /* Before 6 there are no users. */
    redis_send(r, opts->user ? words : old, opts->user ? KC_COUNT(words) : KC_COUNT(old));
    if (redis_read(r, &answer, err) < 0)
        return -1;
    if (answer.type != RESP_ERROR)
        return 0;
    if (kc_str_contains(answer.str, KC_STR("without any password")))
        return kc_error_set(err, KC_FORBIDDEN, "it has no password, and one is given");
    const kc_reason reason = reason_of(answer.str);
    kc_str code = answer.str;
    code = kc_str_cut(&code, ' ');
    if (reason == KC_FORBIDDEN)
        return kc_error_set(err, reason, "it refuses the password (%.*s)",
                            KC_ARG(kc_str_sub(code, 0, 32)));
    return kc_error_set(err, reason, "it refuses AUTH (%.*s)", KC_ARG(kc_str_sub(code, 0, 32)));
}

static int select_db(redis *r, int db, kc_error *err)
{
    char text[16];
    resp_value answer;
    snprintf(text, sizeof(text), "%d", db);
    if (db && REDIS_ASK(r, &answer, err, KC_STR("SELECT"), kc_cstr(text)) < 0)
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
        explicit_bzero(r->out.p, r->out.cap); /* The password was in it. */
    kc_buf_done(&r->out);
    kc_buf_done(&r->in);
    kc_arena_done(&r->arena);
    free(r);
    return NULL;
}
