/* SPDX-License-Identifier: Apache-2.0 */
/* scan.h: tokens of a marker's value. */
#ifndef KC_GENERATE_MARKERS_SCAN_H
#define KC_GENERATE_MARKERS_SCAN_H

#include "generate/markers/marker_value.h"

typedef enum kc__gen_marker_token {
    KC__GEN_TOKEN_END,
    KC__GEN_TOKEN_NAME,
    KC__GEN_TOKEN_INT,
    KC__GEN_TOKEN_FLOAT,
    KC__GEN_TOKEN_STRING, /* "…" */
    KC__GEN_TOKEN_RAW,    /* `…` */
    KC__GEN_TOKEN_SIGN,   /* Any other single byte. */
    KC__GEN_TOKEN_BAD,    /* An unterminated string or an invalid number. */
} kc__gen_marker_token;

/* The next token; *ret_text is all of it, quotes included. Without `numbers`, digits are single
 * tokens. */
kc__gen_marker_token kc__gen_marker_scan_token(kc__gen_marker_scan *scan, bool numbers,
                                               kc_str *ret_text);

/* Appends the unescaped content of a string token. False for an unknown escape. */
bool kc__gen_marker_unquote(kc_str token, kc_buf *out);

/* The guessed type of an untyped value. */
typedef struct kc__gen_marker_guess {
    enum {
        KC__GEN_GUESS_STRING,
        KC__GEN_GUESS_BOOL,
        KC__GEN_GUESS_INT,
        KC__GEN_GUESS_NUMBER,
        KC__GEN_GUESS_MAP,
        KC__GEN_GUESS_LIST,
    } kind;
    /* For a list: its nesting depth and the type of the innermost items. */
    unsigned depth;
    int item;
} kc__gen_marker_guess;

/* Guesses by lookahead; `legacy` allows a;b. */
kc__gen_marker_guess kc__gen_marker_guess_type(kc__gen_marker_scan scan, bool legacy);

#endif
