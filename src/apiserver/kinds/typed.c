/* SPDX-License-Identifier: Apache-2.0 */
/*
 * typed.c: objects as structs: members are fields, in the order of the type, and the rest goes.
 *
 * For each object the members are read in the order they stand in. One that the type does not have,
 * or that Go would leave out, is taken back from the output; the others are remembered. In the end
 * they are put in order if they were not (typed_order.c). null is as good as absent: an absent
 * field that is always written gets its zero value there.
 *
 * Depth is that of the text (KC_JSON_MAX_DEPTH), and only types that contain themselves go as deep:
 * what has no type is stepped over without recursion.
 */
#include "apiserver/kinds/typed_internal.h"

/* Room from the start: enough for most objects. */
enum { FIRST_CHUNKS = 64 };

/* One struct being read. */
typedef struct reading {
    kc__frame frame;
    size_t first;  /* Of its chunks. */
    uint32_t last; /* The place of the field before. */
    bool unordered;
} reading;

static void remember(kc__typed *t, reading *r, size_t from, uint32_t place)
{
    kc_vec_push(&t->chunks,
                (kc__chunk){(uint32_t)from, (uint32_t)kc__typed_position(t), place, NULL});
    r->unordered |= place < r->last;
    r->last = place;
}

/* Passes the comma before a member, which goes when no member is before it in the output. */
static void pass_comma(kc__typed *t, bool first)
{
    if (*t->at != ',')
        return;
    t->at++;
    if (first)
        kc__typed_replace(t, t->at - 1, KC_STR(""));
}

static kc__verdict read_member(kc__typed *t, reading *r)
{
    size_t before = kc__typed_position(t);
    pass_comma(t, t->chunks.n == r->first);
    size_t from = kc__typed_position(t);
    kc_str name = kc__typed_string(t);
    t->at++;
    uint32_t place;
    const kc__field *field = kc__typed_find(r->frame.message, name, r->last, &place);
    if (!field) {
        kc__typed_report_unknown(t, r->frame.up, name);
        kc__typed_skip(t);
        kc__typed_roll_back(t, before);
        return KC__KEPT;
    }
    r->frame.field = field;
    r->frame.place = KC__AT_FIELD;
    kc__verdict verdict = kc__typed_value(t, &r->frame);
    if (verdict == KC__EMPTY && kc__typed_omits(field))
        kc__typed_roll_back(t, before);
    else if (verdict != KC__STOPPED)
        remember(t, r, from, place);
    return t->out.failed ? KC__STOPPED : verdict;
}

kc__verdict kc__typed_struct(kc__typed *t, const kc__frame *up, const kc__message *message)
{
    reading r = {.frame = {.up = up, .message = message}, .first = t->chunks.n};
    t->at++;
    while (*t->at != '}')
        if (read_member(t, &r) == KC__STOPPED)
            return KC__STOPPED;
    if (r.unordered || kc__typed_lacks_fields(t, message, r.first))
        kc__typed_order_fields(t, message, r.first);
    t->at++;
    t->chunks.n = r.first;
    return t->out.failed ? KC__STOPPED : KC__KEPT;
}

/* The object from what the decoder left, if it is another one. */
static kc_object *result(kc__typed *t, const kc_object *given, kc_error *err)
{
    if (t->out.failed) {
        kc_error_set(err, KC_TOO_LARGE,
                     "the object with its required fields is larger than %zu bytes",
                     KC_JSON_MAX_BYTES);
        return NULL;
    }
    if (kc_str_eq(kc_buf_str(&t->out), kc_object_json(given)))
        return kc_object_ref(given);
    return kc_object_parse(kc_buf_str(&t->out), NULL, err);
}

static kc_object *decode(kc__typed *t, const kc__message *type, const kc_object *given,
                         kc_error *err)
{
    kc__verdict verdict = kc__typed_struct(t, NULL, type);
    if (t->failed)
        return NULL;
    if (verdict != KC__STOPPED) {
        if (t->copied == kc_object_json(given).p)
            return kc_object_ref(given);
        kc__typed_flush(t, t->at);
    }
    return result(t, given, err);
}

kc_object *kc__typed_decode(const kc__message *type, const kc_object *given, kc_paths *unknown,
                            kc_error *err)
{
    kc_str text = kc_object_json(given);
    kc__typed t = {.at = text.p,
                   .copied = text.p,
                   .end = text.p + text.n,
                   .out = {.limit = KC_JSON_MAX_BYTES},
                   .scratch = {.limit = KC_JSON_MAX_BYTES},
                   .unknown = unknown,
                   .err = err};
    kc_vec_reserve(&t.chunks, FIRST_CHUNKS);
    kc_object *typed = decode(&t, type, given, err);
    kc_buf_done(&t.out);
    kc_buf_done(&t.scratch);
    kc_vec_done(&t.chunks);
    return typed;
}
