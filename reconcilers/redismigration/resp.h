/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resp.h: RESP2, the protocol of Redis, on buffers, without sockets.
 *
 *     resp_scan scan = {0};
 *     while ((found = resp_scan_more(&scan, what_has_come, &limits, err)) == 0)
 *         … append more bytes …
 *     resp_value reply = resp_build(kc_str_of(bytes, scan.at), &arena);
 *
 * There are two passes: the scan for the end of a reply keeps its position, so that a reply in
 * small pieces is not scanned again from the start; only a complete one is built.
 */
#ifndef KC_RECONCILERS_RESP_H
#define KC_RECONCILERS_RESP_H

#include "kc/arena.h"
#include "kc/buf.h"
#include "kc/error.h"

enum {
    RESP_DEPTH = 6,            /* Depth of nested arrays: enough for the commands used here. */
    RESP_LINE = 64 << 10,      /* Length of a line: a simple string or error. */
    RESP_ITEMS = 1 << 17,      /* Elements of all arrays of a reply. */
    RESP_BYTES_MAX = 64 << 20, /* Default size of a reply. */
};

typedef struct resp_limits {
    size_t max_bytes; /* Size of one reply. Defaults to RESP_BYTES_MAX. */
    size_t max_items; /* Defaults to RESP_ITEMS. */
} resp_limits;

/* State of the scan. Zeroed: at the start of a reply. */
typedef struct resp_scan {
    size_t at;   /* Scanned up to here; at the end, the length of the reply. */
    size_t seen; /* No line ends before it. */
    bool in_body;
    size_t body_end;
    size_t items;
    unsigned depth;
    uint64_t left[RESP_DEPTH]; /* Missing elements of each open array. */
} resp_scan;

/* `bytes` starts with the reply, as far as received. 1: it ends at scan->at; 0: more is needed;
 * KC_INVALID: not a reply, or too long. limits may be NULL. */
int resp_scan_more(resp_scan *scan, kc_str bytes, const resp_limits *limits, kc_error *err);

typedef enum resp_type {
    RESP_NIL,
    RESP_TEXT, /* Simple string: OK. */
    RESP_ERROR,
    RESP_NUMBER,
    RESP_BYTES,
    RESP_ARRAY,
} resp_type;

typedef struct resp_value {
    resp_type type;
    kc_str str; /* Strings and errors: a slice of the input. */
    int64_t number;
    struct resp_value *items;
    size_t n;
} resp_value;

/* Builds a complete reply, as found by a scan. Arrays are allocated from the arena; bytes point
 * into `reply`. */
resp_value resp_build(kc_str reply, kc_arena *arena);

bool resp_equal(const resp_value *a, const resp_value *b);

/* Appends a command: name and arguments, any bytes. */
void resp_command(kc_buf *out, const kc_str *words, size_t n);

#endif
