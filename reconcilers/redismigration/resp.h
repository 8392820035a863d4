/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resp.h: the words of Redis: RESP2, bytes in and out, no sockets.
 *
 *     resp_scan scan = {0};
 *     while ((found = resp_scan_more(&scan, what_has_come, &limits, err)) == 0)
 *         … more bytes behind the same ones …
 *     resp_value reply = resp_build(kc_str_of(bytes, scan.at), &arena);
 *
 * Two passes: looking for the end of a reply remembers where it was, so that one that comes in
 * small pieces is not read again from its beginning with each; only a whole one is made a tree.
 */
#ifndef KC_RECONCILERS_RESP_H
#define KC_RECONCILERS_RESP_H

#include "kc/arena.h"
#include "kc/buf.h"
#include "kc/error.h"

enum {
    RESP_DEPTH = 6,            /* Of arrays in arrays: what the commands used here can answer. */
    RESP_LINE = 64 << 10,      /* Of a line: a text, an error. */
    RESP_ITEMS = 1 << 17,      /* Of all arrays of a reply. */
    RESP_BYTES_MAX = 64 << 20, /* Of a reply, where nothing else is said. */
};

typedef struct resp_limits {
    size_t max_bytes; /* Of one reply. Defaults to RESP_BYTES_MAX. */
    size_t max_items; /* Defaults to RESP_ITEMS. */
} resp_limits;

/* How far the search for the end has come. Zeroed: at the beginning of a reply. */
typedef struct resp_scan {
    size_t at;   /* All before it is looked at; at the end, the length of the reply. */
    size_t seen; /* No line ends before it. */
    bool in_body;
    size_t body_end;
    size_t items;
    unsigned depth;
    uint64_t left[RESP_DEPTH]; /* Of each array that is open. */
} resp_scan;

/* `bytes` begins with the reply, as much as has come. 1: it ends at scan->at; 0: more is needed;
 * KC_INVALID: this is no reply, or too long. limits may be NULL. */
int resp_scan_more(resp_scan *scan, kc_str bytes, const resp_limits *limits, kc_error *err);

typedef enum resp_type {
    RESP_NIL,
    RESP_TEXT, /* A line: OK. */
    RESP_ERROR,
    RESP_NUMBER,
    RESP_BYTES,
    RESP_ARRAY,
} resp_type;

typedef struct resp_value {
    resp_type type;
    kc_str str; /* Of text, error and bytes: a part of what was read. */
    int64_t number;
    struct resp_value *items;
    size_t n;
} resp_value;

/* The tree of a whole reply, as the scan found it. Its arrays are the arena's, its bytes those of
 * `reply`. */
resp_value resp_build(kc_str reply, kc_arena *arena);

bool resp_equal(const resp_value *a, const resp_value *b);

/* Appends a command: its name and arguments, any bytes. */
void resp_command(kc_buf *out, const kc_str *words, size_t n);

#endif
