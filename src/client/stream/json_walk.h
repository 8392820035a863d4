/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_walk.h: finds the members of a JSON object in bytes that arrive in pieces.
 *
 *     kc__stream_walk walk = {0};
 *     size_t used;
 *     while (kc__stream_walk_next(&walk, bytes, &used) == KC__STREAM_WALK_VALUE) {
 *         if (kc_str_is(kc__stream_walk_key(&walk), "items"))
 *             …                                          its value begins at bytes.p[used]
 *         bytes = kc_str_sub(bytes, used, bytes.n);
 *     }
 *
 * It finds where members begin and end and does not check that they are well-formed; the caller
 * parses the text it cuts out. So it needs no memory except for a key, and reads each byte once.
 */
#ifndef KC_CLIENT_JSON_WALK_H
#define KC_CLIENT_JSON_WALK_H

#include "kc/str.h"

/* State within one value, from its first byte to its last. Ready when zero-initialized. */
typedef struct kc__stream_skip {
    size_t depth; /* Number of open brackets. */
    bool in_string, escaped, started, scalar;
} kc__stream_skip;

/* Continues through a value and returns how many bytes belong to it. *ret_done is set at its
 * end; the end of a number or a literal is known only from the byte after it. */
size_t kc__stream_skip_value(kc__stream_skip *skip, kc_str bytes, bool *ret_done);

/* Longer names are not recorded. */
enum { KC__STREAM_WALK_KEY = 16 };

typedef struct kc__stream_walk {
    enum {
        KC__STREAM_WALK_AT_START, /* Expects '{'. */
        KC__STREAM_WALK_AT_FIRST, /* Expects a name or '}'. */
        KC__STREAM_WALK_AT_KEY,
        KC__STREAM_WALK_IN_KEY,
        KC__STREAM_WALK_AT_COLON,
        KC__STREAM_WALK_AT_VALUE,
        KC__STREAM_WALK_IN_VALUE,
        KC__STREAM_WALK_AT_COMMA, /* Expects ',' or '}'. */
        KC__STREAM_WALK_AT_END,
    } state;
    bool reported; /* The beginning of the value. */
    bool escaped, plain;
    char key[KC__STREAM_WALK_KEY];
    size_t key_n;
    kc__stream_skip skip;
} kc__stream_walk;

typedef enum kc__stream_walk_at {
    KC__STREAM_WALK_MORE,  /* All bytes are used; more input is needed. */
    KC__STREAM_WALK_VALUE, /* The value of kc__stream_walk_key begins at `used`. */
    KC__STREAM_WALK_END,   /* The object ended; bytes after `used` do not belong to it. */
    KC__STREAM_WALK_BAD,   /* Not a JSON object. */
} kc__stream_walk_at;

kc__stream_walk_at kc__stream_walk_next(kc__stream_walk *walk, kc_str bytes, size_t *ret_used);
/* The caller has skipped the value itself. */
static inline void kc__stream_walk_skipped(kc__stream_walk *walk)
{
    walk->state = KC__STREAM_WALK_AT_COMMA;
}

/* Returns the name as it is in the text; empty if it contains escapes or is longer than
 * KC__STREAM_WALK_KEY. */
static inline kc_str kc__stream_walk_key(const kc__stream_walk *walk)
{
    return walk->plain ? kc_str_of(walk->key, walk->key_n) : (kc_str){0};
}

static inline bool kc__stream_is_json_space(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

#endif
