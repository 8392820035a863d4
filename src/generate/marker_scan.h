/* SPDX-License-Identifier: Apache-2.0 */
/* marker_scan.h: words of a marker's value. */
#ifndef KC_GENERATE_MARKER_SCAN_H
#define KC_GENERATE_MARKER_SCAN_H

#include "generate/marker_value.h"

typedef enum kc__marker_token {
    KC__TOKEN_END,
    KC__TOKEN_NAME,
    KC__TOKEN_INT,
    KC__TOKEN_FLOAT,
    KC__TOKEN_STRING, /* "…" */
    KC__TOKEN_RAW,    /* `…` */
    KC__TOKEN_SIGN,   /* Any other single byte. */
    KC__TOKEN_BAD,    /* A string without end, or a number that is none. */
} kc__marker_token;

/* The next word; *ret_text is all of it, quotes included. With `numbers` false, digits are signs.
 */
kc__marker_token kc__marker_scan_token(kc__marker_scan *scan, bool numbers, kc_str *ret_text);

/* Appends what a token of a string stands for. False for an escape there is not. */
bool kc__marker_unquote(kc_str token, kc_buf *out);

/* What a value of no given type looks like. */
typedef struct kc__marker_guess {
    enum {
        KC__GUESS_STRING,
        KC__GUESS_BOOL,
        KC__GUESS_INT,
        KC__GUESS_NUMBER,
        KC__GUESS_MAP,
        KC__GUESS_LIST,
    } kind;
    /* Of a list: how many lists deep it is, and what stands in the innermost one. */
    unsigned depth;
    int item;
} kc__marker_guess;

/* Looks ahead; `legacy` allows for a;b. */
kc__marker_guess kc__marker_guess_type(kc__marker_scan scan, bool legacy);

#endif
