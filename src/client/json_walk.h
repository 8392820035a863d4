/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_walk.h: the members of a JSON object, found in bytes that come in pieces.
 *
 *     kc__walk walk = {0};
 *     size_t used;
 *     while (kc__walk_on(&walk, bytes, &used) == KC__WALK_VALUE) {
 *         if (kc_str_is(kc__walk_key(&walk), "items"))
 *             …                                          its value begins at bytes.p[used]
 *         bytes = kc_str_sub(bytes, used, bytes.n);
 *     }
 *
 * It knows where things begin and end, not whether they are well-formed: whoever cuts text out of
 * the bytes parses that. So it needs no memory but a key, and takes one look at each byte.
 */
#ifndef KC_CLIENT_JSON_WALK_H
#define KC_CLIENT_JSON_WALK_H

#include "kc/str.h"

/* One value: from its first byte to its last. A zeroed one is ready. */
typedef struct kc__skip {
    size_t depth; /* Of open brackets. */
    bool in_string, escaped, started, scalar;
} kc__skip;

/* Goes on over a value; gives how many bytes belong to it. *ret_done says whether that was its end;
 * of a number or a word only what follows can tell. */
size_t kc__skip_value(kc__skip *skip, kc_str bytes, bool *ret_done);

/* Longer names are not looked for. */
enum { KC__WALK_KEY = 16 };

typedef struct kc__walk {
    enum {
        KC__WALK_AT_START, /* '{' comes. */
        KC__WALK_AT_FIRST, /* A name or '}'. */
        KC__WALK_AT_KEY,
        KC__WALK_IN_KEY,
        KC__WALK_AT_COLON,
        KC__WALK_AT_VALUE,
        KC__WALK_IN_VALUE,
        KC__WALK_AT_COMMA, /* ',' or '}'. */
        KC__WALK_AT_END,
    } state;
    bool reported; /* The value's beginning. */
    bool escaped, plain;
    char key[KC__WALK_KEY];
    size_t key_n;
    kc__skip skip;
} kc__walk;

typedef enum kc__walk_at {
    KC__WALK_MORE,  /* All bytes are used, and more must come. */
    KC__WALK_VALUE, /* Behind `used` begins the value of kc__walk_key. */
    KC__WALK_END,   /* The object ended; what is behind `used` does not belong to it. */
    KC__WALK_BAD,   /* It is no JSON object. */
} kc__walk_at;

kc__walk_at kc__walk_on(kc__walk *walk, kc_str bytes, size_t *ret_used);
/* The caller has gone over the value itself. */
static inline void kc__walk_skipped(kc__walk *walk)
{
    walk->state = KC__WALK_AT_COMMA;
}

/* The name, as it stands in the text; empty when it has escapes or is longer than any we know. */
static inline kc_str kc__walk_key(const kc__walk *walk)
{
    return walk->plain ? kc_str_of(walk->key, walk->key_n) : (kc_str){0};
}

static inline bool kc__is_json_space(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

#endif
