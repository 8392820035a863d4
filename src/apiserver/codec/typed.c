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

static int refuse_grown_object(kc_error *err)
{
    return kc_error_set(err, KC_TOO_LARGE,
                        "the object with its required fields is larger than %zu bytes",
                        KC_JSON_MAX_BYTES);
}

/* Sets *ret to the decoded text: the input itself if nothing changed. */
static int decode_struct(kc__typed *t, const kc__type_message *type, kc_str text, kc_str *ret)
{
    const kc__typed_result verdict = kc__typed_struct(t, NULL, type);
    *ret = text;
    if (t->failed)
        return kc_error_result(t->err);
    if (verdict != KC__TYPED_STOPPED) {
        if (t->copied == text.p)
            return 0;
        kc__typed_flush(t, t->at);
    }
    if (t->out.failed)
        return refuse_grown_object(t->err);
    if (!kc_str_eq(kc_buf_str(&t->out), text))
        *ret = kc_buf_str(&t->out);
    return 0;
}

/* The output moves to `out`. */
static int decode_text_as(const kc__type_message *type, kc_str text, bool keeps_empty,
                          kc_paths *unknown, kc_buf *out, kc_str *ret, kc_error *err)
{
    kc__typed t = {.at = text.p,
                   .copied = text.p,
                   .end = text.p + text.n,
                   .out = {.limit = KC_JSON_MAX_BYTES},
                   .scratch = {.limit = KC_JSON_MAX_BYTES},
                   .keeps_empty = keeps_empty,
                   .unknown = unknown,
                   .err = err};
    kc_str typed;
    kc_vec_reserve(&t.chunks, FIRST_CHUNKS);
    const int failed = decode_struct(&t, type, text, &typed);
    kc_buf_done(&t.scratch);
    kc_vec_done(&t.chunks);
    *out = t.out;
    if (failed == 0)
        *ret = typed;
    return failed;
}

int kc__typed_decode_text(const kc__type_message *type, kc_str text, kc_paths *unknown, kc_buf *out,
                          kc_str *ret, kc_error *err)
{
    return decode_text_as(type, text, false, unknown, out, ret, err);
}

static kc_object *decode_as(const kc__type_message *type, const kc_object *input, bool keeps_empty,
                            kc_paths *unknown, kc_error *err)
{
    const kc_str text = kc_object_json(input);
    kc_scoped(kc_buf) out = {0};
    kc_str typed;
    if (decode_text_as(type, text, keeps_empty, unknown, &out, &typed, err) < 0)
        return NULL;
    return typed.p == text.p ? kc_object_ref(input) : kc__object_of_canonical(typed, err);
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
