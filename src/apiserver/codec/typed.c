/* SPDX-License-Identifier: Apache-2.0 */
/*
 * typed.c: decodes objects as structs: members become fields in the order of the type, and unknown
 * members are dropped.
 *
 * The decoder reads the members of each object in text order. It rolls back the output of a member
 * that the type does not have or that Go would omit, and records the others. At the end it sorts
 * them if they are out of order (typed_order.c). null is equivalent to absent: an absent field that
 * Go always writes gets its zero value there.
 *
 * The recursion depth is that of the text (KC_JSON_MAX_DEPTH), and only recursive types reach it:
 * untyped values are skipped without recursion.
 */
#include "apiserver/codec/typed_internal.h"

#include "object/model/canonical.h"

/* Initial capacity: enough for most objects. */
enum { FIRST_CHUNKS = 64 };

/* One struct being decoded. */
typedef struct typed_decoding {
    kc__typed_frame frame;
    size_t first;  /* Index of its first chunk. */
    uint32_t last; /* Place of the previous field. */
    bool unordered;
} typed_decoding;

static void remember(kc__typed *t, typed_decoding *r, size_t from, uint32_t place)
{
    kc_vec_push(&t->chunks,
                (kc__typed_chunk){(uint32_t)from, (uint32_t)kc__typed_position(t), place, NULL});
    r->unordered |= place < r->last;
    r->last = place;
}

/* Skips the comma before a member; drops it if the output has no member before it. */
static void pass_comma(kc__typed *t, bool first)
{
    if (*t->at != ',')
        return;
    t->at++;
    if (first)
        kc__typed_replace(t, t->at - 1, KC_STR(""));
}

static kc__typed_result read_member(kc__typed *t, typed_decoding *r)
{
    size_t before = kc__typed_position(t);
    pass_comma(t, t->chunks.n == r->first);
    size_t from = kc__typed_position(t);
    kc_str name = kc__typed_string(t);
    t->at++;
    uint32_t place;
    const kc__type_field *field = kc__typed_find(r->frame.message, name, r->last, &place);
    if (!field) {
        kc__typed_report_unknown(t, r->frame.up, name);
        kc__typed_skip(t);
        kc__typed_roll_back(t, before);
        return KC__TYPED_KEPT;
    }
    r->frame.field = field;
    r->frame.place = KC__TYPED_AT_FIELD;
    kc__typed_result verdict = kc__typed_value(t, &r->frame);
    bool dropped = field->marks & KC__DISABLED && verdict != KC__TYPED_STOPPED;
    if (dropped || (verdict == KC__TYPED_EMPTY && kc__typed_omits(field)))
        kc__typed_roll_back(t, before);
    else if (verdict != KC__TYPED_STOPPED)
        remember(t, r, from, place);
    return t->out.failed ? KC__TYPED_STOPPED : verdict;
}

kc__typed_result kc__typed_struct(kc__typed *t, const kc__typed_frame *up,
                                  const kc__type_message *message)
{
    typed_decoding r = {.frame = {.up = up, .message = message}, .first = t->chunks.n};
    t->at++;
    while (*t->at != '}')
        if (read_member(t, &r) == KC__TYPED_STOPPED)
            return KC__TYPED_STOPPED;
    if (r.unordered || kc__typed_lacks_fields(t, message, r.first))
        kc__typed_order_fields(t, message, r.first);
    t->at++;
    t->chunks.n = r.first;
    return t->out.failed ? KC__TYPED_STOPPED : KC__TYPED_KEPT;
}

/* Returns the decoded object, or `input` if nothing changed. */
static kc_object *result(kc__typed *t, const kc_object *input, kc_error *err)
{
    if (t->out.failed) {
        kc_error_set(err, KC_TOO_LARGE,
                     "the object with its required fields is larger than %zu bytes",
                     KC_JSON_MAX_BYTES);
        return NULL;
    }
    if (kc_str_eq(kc_buf_str(&t->out), kc_object_json(input)))
        return kc_object_ref(input);
    return kc__object_of_canonical(kc_buf_str(&t->out), err);
}

static kc_object *decode_typed_object(kc__typed *t, const kc__type_message *type,
                                      const kc_object *input, kc_error *err)
{
    kc__typed_result verdict = kc__typed_struct(t, NULL, type);
    if (t->failed)
        return NULL;
    if (verdict != KC__TYPED_STOPPED) {
        if (t->copied == kc_object_json(input).p)
            return kc_object_ref(input);
        kc__typed_flush(t, t->at);
    }
    return result(t, input, err);
}

static kc_object *decode_as(const kc__type_message *type, const kc_object *input, bool keeps_empty,
                            kc_paths *unknown, kc_error *err)
{
    kc_str text = kc_object_json(input);
    kc__typed t = {.at = text.p,
                   .copied = text.p,
                   .end = text.p + text.n,
                   .out = {.limit = KC_JSON_MAX_BYTES},
                   .scratch = {.limit = KC_JSON_MAX_BYTES},
                   .keeps_empty = keeps_empty,
                   .unknown = unknown,
                   .err = err};
    kc_vec_reserve(&t.chunks, FIRST_CHUNKS);
    kc_object *typed = decode_typed_object(&t, type, input, err);
    kc_buf_done(&t.out);
    kc_buf_done(&t.scratch);
    kc_vec_done(&t.chunks);
    return typed;
}

kc_object *kc__typed_decode(const kc__type_message *type, const kc_object *input, kc_paths *unknown,
                            kc_error *err)
{
    return decode_as(type, input, false, unknown, err);
}

kc_object *kc__typed_decode_body(const kc__type_message *type, const kc_object *input,
                                 kc_paths *unknown, kc_error *err)
{
    return decode_as(type, input, true, unknown, err);
}
