/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis.h: a connection to a Redis server.
 *
 *     kc_auto(redis) *r = redis_open(&(redis_opts){.host = "127.0.0.1", .port = 6379}, err);
 *     resp_value reply;
 *     if (!r || REDIS_CALL(r, &reply, err, KC_STR("DUMP"), key) < 0)
 *         return -1;
 *
 * or many commands at once, whose replies come in the same order:
 *
 *     REDIS_SEND(r, KC_STR("PTTL"), a);
 *     REDIS_SEND(r, KC_STR("PTTL"), b);
 *     redis_read(r, &of_a, err), redis_read(r, &of_b, err);
 *
 * Error reasons tell whether a retry helps (kc_phase_is_fatal): KC_SERVICE_UNAVAILABLE and
 * KC_TIMEOUT are temporary; KC_FORBIDDEN and KC_INVALID are not. After a connection error (not an
 * error reply) the connection is unusable. Blocks; one thread at a time.
 */
#ifndef KC_RECONCILERS_REDIS_H
#define KC_RECONCILERS_REDIS_H

#include "resp.h"

#include "kc/cancel.h"

typedef struct redis redis;

typedef struct redis_opts {
    const char *host;
    uint16_t port;
    const char *user;     /* ACL user. Defaults to the server's default user. */
    const char *password; /* NULL: no AUTH. */
    int db;
    int64_t timeout;   /* For connecting, and for waiting for a reply. Defaults to 10 s. */
    size_t max_reply;  /* Bytes. Defaults to RESP_BYTES_MAX. */
    kc_cancel *cancel; /* May be NULL. */
} redis_opts;

/* Connects, authenticates and selects the database. NULL with the reason, without the password. */
redis *redis_open(const redis_opts *opts, kc_error *err);
/* NULL is allowed; returns NULL. */
redis *redis_close(redis *r);
KC_AUTO_DEFINE(redis, redis_close)

/* Buffers a command, which is sent with the next read or flush. */
void redis_send(redis *r, const kc_str *words, size_t n);
#define REDIS_WORDS(...)   ((const kc_str[]){__VA_ARGS__}), REDIS_COUNT(__VA_ARGS__)
#define REDIS_COUNT(...)   (sizeof((const kc_str[]){__VA_ARGS__}) / sizeof(kc_str))
#define REDIS_SEND(r, ...) redis_send(r, REDIS_WORDS(__VA_ARGS__))
/* Buffered bytes. */
size_t redis_unsent(const redis *r);
int redis_flush(redis *r, kc_error *err);
/* The next reply, valid until the next call; an error reply is a value. */
int redis_read(redis *r, resp_value *ret, kc_error *err);
/* Send, flush and read for one command; an error reply is an error. */
int redis_call(redis *r, resp_value *ret, kc_error *err, const kc_str *words, size_t n);
#define REDIS_CALL(r, ret, err, ...) redis_call(r, ret, err, REDIS_WORDS(__VA_ARGS__))

/* Converts an error reply to an error. Negative. */
int redis_refused(kc_str reply, kc_error *err);
/* KC_INVALID unless the reply has this type. An error reply is an error. */
int redis_expect(const resp_value *value, resp_type type, kc_error *err);

/* Bytes read so far. */
uint64_t redis_bytes(const redis *r);

#endif
