/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis.h: a connection to a Redis server.
 *
 *     kc_auto(redis) *r = redis_open(&(redis_opts){.host = "127.0.0.1", .port = 6379}, err);
 *     resp_value reply;
 *     if (!r || REDIS_ASK(r, &reply, err, KC_STR("DUMP"), key) < 0)
 *         return -1;
 *
 * or many commands at once, whose answers come in the same order:
 *
 *     REDIS_SEND(r, KC_STR("PTTL"), a);
 *     REDIS_SEND(r, KC_STR("PTTL"), b);
 *     redis_read(r, &of_a, err), redis_read(r, &of_b, err);
 *
 * Errors say what may be done about them (kc_phase_is_fatal): KC_SERVICE_UNAVAILABLE and KC_TIMEOUT
 * may pass; KC_FORBIDDEN and KC_INVALID will not. After one of the connection (not one that the
 * server answers) it is of no further use. Blocks; one thread at a time.
 */
#ifndef KC_RECONCILERS_REDIS_H
#define KC_RECONCILERS_REDIS_H

#include "resp.h"

#include "kc/cancel.h"

typedef struct redis redis;

typedef struct redis_opts {
    const char *host;
    uint16_t port;
    const char *user;     /* Of Redis' lists of users. Defaults to the server's default one. */
    const char *password; /* NULL: none is said. */
    int db;
    int64_t timeout;   /* Of connecting, and of waiting for a reply. Defaults to 10 s. */
    size_t max_reply;  /* Bytes. Defaults to RESP_BYTES_MAX. */
    kc_cancel *cancel; /* May be NULL. */
} redis_opts;

/* Connected, authenticated, its database selected. NULL with why not, without the password. */
redis *redis_open(const redis_opts *opts, kc_error *err);
/* NULL is allowed; returns NULL. */
redis *redis_close(redis *r);
KC_AUTO_DEFINE(redis, redis_close)

/* Keeps a command to be sent with the next read or flush. */
void redis_send(redis *r, const kc_str *words, size_t n);
#define REDIS_WORDS(...)   ((const kc_str[]){__VA_ARGS__}), REDIS_COUNT(__VA_ARGS__)
#define REDIS_COUNT(...)   (sizeof((const kc_str[]){__VA_ARGS__}) / sizeof(kc_str))
#define REDIS_SEND(r, ...) redis_send(r, REDIS_WORDS(__VA_ARGS__))
/* Bytes kept and not sent yet. */
size_t redis_unsent(const redis *r);
int redis_flush(redis *r, kc_error *err);
/* The next answer, which lives until the next call; an error answered by the server is a value. */
int redis_read(redis *r, resp_value *ret, kc_error *err);
/* All three, of one command; an error that the server answers is one. */
int redis_ask(redis *r, resp_value *ret, kc_error *err, const kc_str *words, size_t n);
#define REDIS_ASK(r, ret, err, ...) redis_ask(r, ret, err, REDIS_WORDS(__VA_ARGS__))

/* What an error that the server answered means to us. Negative. */
int redis_refused(kc_str answer, kc_error *err);
/* KC_INVALID unless it is of this type. An error is one. */
int redis_expect(const resp_value *value, resp_type type, kc_error *err);

/* Bytes read so far. */
uint64_t redis_bytes(const redis *r);

#endif
