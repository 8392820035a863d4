/* SPDX-License-Identifier: Apache-2.0 */
/*
 * typed_internal.h: declarations shared by the files of the typed decoder.
 *
 * The decoder makes one pass over canonical text. It does not copy unchanged text: the bytes from
 * `copied` to `at` are pending, and are appended to the output when something after them differs.
 * So an object that needs no change costs one pass and no copy.
 *
 *     input   {"kind":"Pod","foo":1,"spec":{}}
 *              ├──── pending ────┤
 *              copied            at           output position = out.n + (at - copied)
 */
#ifndef KC_APISERVER_TYPED_INTERNAL_H
#define KC_APISERVER_TYPED_INTERNAL_H

#include "apiserver/codec/typed.h"
#include "kc/vec.h"

#include <assert.h>

/* The decoder's position: one frame per open struct, linked to the enclosing frame. */
typedef struct kc__typed_frame {
    const struct kc__typed_frame *up;
    const kc__type_message *message;
    const kc__type_field *field; /* The field being read; NULL before the first. */
    enum {
        KC__TYPED_AT_FIELD,
        KC__TYPED_AT_INDEX,
        KC__TYPED_AT_KEY
    } place; /* Position in the field: the field itself, a list element, a map value. */
    size_t index;
    kc_str key; /* As in the text, with escapes. */
} kc__typed_frame;

/* A member that has been written: its output range and its sort key. */
typedef struct kc__typed_chunk {
    uint32_t from, to; /* Output positions: from the quote of the name to after the value. */
    uint32_t n;        /* Struct: the place of the field. Map: the length of `key`. */
    const char *key;   /* Map: the key as in the text, without quotes. */
} kc__typed_chunk;

typedef struct kc__typed {
    const char *at, *copied;
    const char *end; /* End of the text. */
    kc_buf out;
    kc_buf scratch;                 /* Buffer for sorting members. */
    KC_VEC(kc__typed_chunk) chunks; /* Members of all open objects, outermost first. */
    kc_paths *unknown;
    bool keeps_empty; /* Lists and maps without content stay; otherwise they become null. */
    bool escaped;     /* The last string read contains escapes. */
    bool failed;      /* An error is recorded; the output no longer matters. */
    kc_error *err;
} kc__typed;

/* The result of reading a value. */
typedef enum kc__typed_result {
    KC__TYPED_KEPT,  /* The value is in the output. */
    KC__TYPED_EMPTY, /* The value is in the output and empty in Go's sense: the caller may drop it.
                      */
    KC__TYPED_STOPPED, /* Decoding cannot continue. */
} kc__typed_result;

/* ---- typed_text.c: canonical text and pending output ---- */

/* Reads the string at `at`, which moves after it. Returns it without quotes, escapes kept. */
kc_str kc__typed_string(kc__typed *t);
/* Reads a number or a word; `at` moves after it. */
kc_str kc__typed_word(kc__typed *t);
void kc__typed_skip(kc__typed *t);
/* Returns the output position of `at`. */
static inline size_t kc__typed_position(const kc__typed *t)
{
    return t->out.n + (size_t)(t->at - t->copied);
}
/* Appends the pending text before `to` to the output; the input continues at `at`. */
void kc__typed_flush(kc__typed *t, const char *to);
/* Removes the output from a position on; `at` is after the input that is dropped. */
void kc__typed_roll_back(kc__typed *t, size_t position);
/* Replaces the input from `from` to `at` by `text`. Does nothing if they are equal. */
void kc__typed_replace(kc__typed *t, const char *from, kc_str text);

/* ---- typed_value.c: values by kind ---- */

kc__typed_result kc__typed_value(kc__typed *t, kc__typed_frame *frame);
/* typed.c */
kc__typed_result kc__typed_struct(kc__typed *t, const kc__typed_frame *up,
                                  const kc__type_message *message);

/* ---- typed_field.c ---- */

/* Finds a field in JSON, including those of embedded structs; NULL if there is none. *ret_place
 * is its position in Go's order. `after` is the place of the previous field, where the search
 * starts; any value is correct. */
const kc__type_field *kc__typed_find(const kc__type_message *message, kc_str name, uint32_t after,
                                     uint32_t *ret_place);
/* Calls the visitor for each field in JSON order until it returns false. Returns false if it
 * did. */
typedef bool kc__typed_field_visitor(const kc__type_field *field, uint32_t place, void *user);
bool kc__typed_each_field(const kc__type_message *message, kc__typed_field_visitor *visit,
                          void *user);

/* ---- typed_order.c ---- */

/* Whether a field that Go always writes is missing among the members written since chunk
 * `first`, which must be in order. */
bool kc__typed_lacks_fields(const kc__typed *t, const kc__type_message *message, size_t first);

/* Sorts the members written since chunk `first` in struct order, and inserts zero values for
 * missing fields that Go always writes. `at` is after the last member. */
void kc__typed_order_fields(kc__typed *t, const kc__type_message *message, size_t first);
/* Sorts the members of a map by name, if they are not sorted. There must be at least one.
 * `escaped`: some names contain escapes. */
void kc__typed_order_keys(kc__typed *t, size_t first, bool escaped);

/* ---- typed_zero.c: which fields Go omits, and the zero values it writes ---- */

/* True when Go omits the field if it holds its zero value. */
bool kc__typed_omits(const kc__type_field *field);
/* True when the field is written as null if it is absent or null. */
bool kc__typed_zero_is_null(const kc__type_field *field);
/* Appends the zero value of a field; of a list element or map value. */
void kc__typed_zero(kc_buf *out, const kc__type_field *field);
void kc__typed_zero_element(kc_buf *out, const kc__type_field *field);

/* ---- typed_error.c ---- */

void kc__typed_report_unknown(kc__typed *t, const kc__typed_frame *frame, kc_str raw_name);
/* Reports that the value at `at` has the wrong type for the frame's field, or for an item inside
 * it: then `field` is another field, the items of a list type. The first such error is kept
 * unless a final one follows. Skips the value. */
kc__typed_result kc__typed_mismatch(kc__typed *t, const kc__typed_frame *frame,
                                    const kc__type_field *field);
/* The same for types with their own unmarshaler in Go, named by their Go type. This error is
 * final: later ones are ignored. */
kc__typed_result kc__typed_mismatch_final(kc__typed *t, const kc__typed_frame *frame,
                                          const char *type);
/* Reports any other error, from another module. Takes over the contents of `from`. */
kc__typed_result kc__typed_fail(kc__typed *t, kc_error *from);
/* Reports invalid base64. Like a mismatch, it is kept only if it is the first error. */
void kc__typed_refuse_base64(kc__typed *t, size_t position);

/* ---- typed_base64.c ---- */

/* Appends the encoding that Go writes for the bytes it decodes from `text`. False if the text is
 * invalid, with the position that Go reports. */
bool kc__typed_base64_rewrite(kc_buf *out, kc_str text, size_t *ret_bad);
/* True when kc__typed_base64_rewrite would produce the same text. */
bool kc__typed_base64_is_clean(kc_str text);

#endif
