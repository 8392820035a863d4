/* SPDX-License-Identifier: Apache-2.0 */
/*
 * typed_internal.h: what the files of the typed decoder share.
 *
 * The decoder goes once over canonical text. What stays as it is, is not copied on the way: the
 * bytes from `copied` to `at` are pending, and become output when something differs behind them. So
 * an object that needs no change costs a walk and nothing else.
 *
 *     input   {"kind":"Pod","foo":1,"spec":{}}
 *              ├──── pending ────┤
 *              copied            at           output position = out.n + (at - copied)
 */
#ifndef KC_APISERVER_TYPED_INTERNAL_H
#define KC_APISERVER_TYPED_INTERNAL_H

#include "apiserver/kinds/typed.h"
#include "kc/vec.h"

#include <assert.h>

/* Where the decoder is: one for each open struct, linked to the one around it. */
typedef struct kc__frame {
    const struct kc__frame *up;
    const kc__message *message;
    const kc__field *field; /* The one being read; NULL before the first. */
    enum { KC__AT_FIELD, KC__AT_INDEX, KC__AT_KEY } place; /* In it: itself, an element, a value. */
    size_t index;
    kc_str key; /* Raw. */
} kc__frame;

/* A member that has been written: where, and what decides its place. */
typedef struct kc__chunk {
    uint32_t from, to; /* Output positions: from the quote of the name to behind the value. */
    uint32_t n;        /* Of a struct: the place of its field. Of a map: the length of `key`. */
    const char *key;   /* Of a map: raw, without quotes. */
} kc__chunk;

typedef struct kc__typed {
    const char *at, *copied;
    const char *end; /* Of the text. */
    kc_buf out;
    kc_buf scratch;           /* Where members are put in order. */
    KC_VEC(kc__chunk) chunks; /* Of all open objects, outermost first. */
    kc_paths *unknown;
    bool escaped; /* The string read last has escapes in it. */
    bool failed;  /* An error is known; what is written no longer matters. */
    kc_error *err;
} kc__typed;

/* What became of a value. */
typedef enum kc__verdict {
    KC__KEPT,    /* It stands in the output. */
    KC__EMPTY,   /* It stands there, and Go calls it empty: the caller may drop it. */
    KC__STOPPED, /* No use in going on. */
} kc__verdict;

/* ---- typed_text.c: canonical text and pending output ---- */

/* A string at `at`, which moves behind it. Without quotes, raw. */
kc_str kc__typed_string(kc__typed *t);
/* A number or a word; `at` moves behind it. */
kc_str kc__typed_word(kc__typed *t);
void kc__typed_skip(kc__typed *t);
/* The position of `at` in the output. */
static inline size_t kc__typed_position(const kc__typed *t)
{
    return t->out.n + (size_t)(t->at - t->copied);
}
/* Makes what is pending before `to` output; the rest of the input goes on at `at`. */
void kc__typed_flush(kc__typed *t, const char *to);
/* Takes back what was written from an output position on, `at` being behind what goes. */
void kc__typed_roll_back(kc__typed *t, size_t position);
/* Puts `text` in the place of the input from `from` to `at`. Nothing happens when it is the same.
 */
void kc__typed_replace(kc__typed *t, const char *from, kc_str text);

/* ---- typed_value.c: values by kind ---- */

kc__verdict kc__typed_value(kc__typed *t, kc__frame *frame);
/* typed.c */
kc__verdict kc__typed_struct(kc__typed *t, const kc__frame *up, const kc__message *message);

/* ---- typed_field.c ---- */

/* A field in JSON, those of embedded structs included; NULL when there is none. Its place says
 * where among the others Go writes it. `after` is the place of the field before, where it is looked
 * for first; any will do. */
const kc__field *kc__typed_find(const kc__message *message, kc_str name, uint32_t after,
                                uint32_t *ret_place);
/* Calls it for each field in the order of JSON, until it says false. False if it did. */
typedef bool kc__field_visitor(const kc__field *field, uint32_t place, void *user);
bool kc__typed_each_field(const kc__message *message, kc__field_visitor *visit, void *user);

/* ---- typed_order.c ---- */

/* Whether the members written since chunk `first`, which must be in order, lack a field that Go
 * always writes. */
bool kc__typed_lacks_fields(const kc__typed *t, const kc__message *message, size_t first);

/* Puts the members written since chunk `first` in the order of the struct, and zeros where fields
 * are missing that Go always writes. `at` is behind the last of them. */
void kc__typed_order_fields(kc__typed *t, const kc__message *message, size_t first);
/* Sorts the members of a map by their names, if they are not sorted. There must be some. `escaped`:
 * there are names with escapes. */
void kc__typed_order_keys(kc__typed *t, size_t first, bool escaped);

/* ---- typed_zero.c: what Go leaves out and what it writes for nothing ---- */

/* True when Go leaves a field out that holds its zero value. */
bool kc__typed_omits(const kc__field *field);
/* True when an absent field, or null, is written as null. */
bool kc__typed_zero_is_null(const kc__field *field);
/* Appends the zero value of a field, of an element or of a map's value. */
void kc__typed_zero(kc_buf *out, const kc__field *field);
void kc__typed_zero_element(kc_buf *out, const kc__field *field);

/* ---- typed_error.c ---- */

void kc__typed_report_unknown(kc__typed *t, const kc__frame *frame, kc_str raw_name);
/* What stands at `at` has the wrong type for the frame's field, or for what is in it: `field` is
 * then another, the items of a list type. The first such error counts, unless a final one follows.
 * The value is skipped. */
kc__verdict kc__typed_mismatch(kc__typed *t, const kc__frame *frame, const kc__field *field);
/* The same of types that read themselves, as a Go type: nothing that follows counts. */
kc__verdict kc__typed_mismatch_final(kc__typed *t, const kc__frame *frame, const char *type);
/* Any other error, from another module's words; `from` is then empty. */
kc__verdict kc__typed_fail(kc__typed *t, kc_error *from);
/* Counts, as a mismatch, when it is the first error. */
void kc__typed_refuse_base64(kc__typed *t, size_t position);

/* ---- typed_base64.c ---- */

/* Appends what Go writes for bytes it has read from `text`. False, with the position Go names, when
 * it cannot read them. */
bool kc__base64_rewrite(kc_buf *out, kc_str text, size_t *ret_bad);
/* True when it would be the same text. */
bool kc__base64_is_clean(kc_str text);

#endif
