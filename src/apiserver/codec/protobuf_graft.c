/* SPDX-License-Identifier: Apache-2.0 */
/*
 * protobuf_graft.c: keeps fields that this program does not know when it writes an object again.
 *
 * A newer kube-apiserver may store fields that the tables do not have. Decoding drops them, so a
 * value that was encoded from the decoded object lacks them. Grafting walks both values, the new
 * one and the one that it replaces, message by message, and appends to each message the unknown
 * elements of its counterpart:
 *
 *     new     metadata{…}  spec{ containers[ {name: a} {name: c} ] }
 *     older   metadata{…}  spec{ containers[ {name: b, ?77} {name: c, ?99} ]  ?88 }
 *     result  metadata{…}  spec{ containers[ {name: a} {name: c, ?99} ]  ?88 }
 *
 * Counterparts are: the field of the same number; the entry of a map with the same key; the item of
 * a list with the same keys (listMapKey, else patchMergeKey), else at the same position. What the
 * write removed takes its unknown fields with it.
 *
 * Both walks count their elements (KC__PROTOBUF_MAX_ELEMENTS in all), which bounds the search for
 * items that changed their order.
 */
#include "apiserver/codec/protobuf_encode_internal.h"

/* An element of the older message. */
typedef struct older_element {
    uint32_t number;
    kc__protobuf_element value;
    kc_str raw; /* With its tag. */
} older_element;

typedef KC_VEC(older_element) older_elements;

static void older_elements_done(older_elements *all)
{
    kc_vec_done(all);
}

typedef struct grafter {
    kc__protobuf_decoder d; /* For its counters and errors. */
    kc_buf *out;
    unsigned depth;
} grafter;

/* Where the counterpart of the next item is expected. */
typedef struct graft_cursor {
    uint32_t number; /* Of the list. */
    size_t index;    /* Of the item in its list. */
    size_t at;       /* After the last counterpart. */
} graft_cursor;

static int next_element(grafter *g, kc_str *rest, older_element *ret)
{
    const kc_str before = *rest;
    const int r = kc__protobuf_element_next(&g->d, rest, &ret->number, &ret->value);
    ret->raw = kc_str_sub(before, 0, before.n - rest->n);
    return r;
}

static int split_elements(grafter *g, kc_str bytes, older_elements *ret)
{
    while (bytes.n) {
        older_element e = {0};
        const int r = next_element(g, &bytes, &e);
        if (r < 0)
            return r;
        kc_vec_push(ret, e);
    }
    return 0;
}

/* ---- counterparts ---- */

/* The last element with a number. False: none. */
static bool find_element(grafter *g, kc_str message, uint32_t number, kc__protobuf_element *ret)
{
    older_element e = {0};
    bool found = false;
    while (message.n && next_element(g, &message, &e) == 0)
        if (e.number == number) {
            *ret = e.value;
            found = true;
        }
    return found;
}

static bool same_element(grafter *g, kc_str a, kc_str b, uint32_t number)
{
    kc__protobuf_element x = {0}, y = {0};
    const bool in_a = find_element(g, a, number, &x), in_b = find_element(g, b, number, &y);
    if (!in_a || !in_b || x.wire != y.wire)
        return in_a == in_b && !in_a;
    return x.wire == KC__PROTOBUF_DELIMITED ? kc_str_eq(x.bytes, y.bytes) : x.number == y.number;
}

/* Whether two items of a list have the same keys. */
static bool same_keys(grafter *g, const kc__type_field *list, kc_str keys, kc_str a, kc_str b)
{
    while (keys.n) {
        const kc__type_field *key = kc__type_message_field(list->message, kc_str_cut(&keys, ' '));
        if (!key || !same_element(g, a, b, key->number))
            return false;
    }
    return true;
}

static bool is_counterpart(grafter *g, const kc__type_field *field, kc_str fresh,
                           const older_element *older, size_t index, size_t older_index)
{
    const char *keys = field->list_keys ? field->list_keys : field->merge_key;
    if (field->shape == KC__MAPPED)
        return same_element(g, fresh, older->value.bytes, 1);
    if (field->shape == KC__REPEATED && keys)
        return same_keys(g, field, kc_cstr(keys), fresh, older->value.bytes);
    return field->shape == KC__SINGLE || index == older_index;
}

static size_t index_in_list(const older_elements *all, size_t at)
{
    size_t first = at;
    while (first > 0 && all->items[first - 1].number == all->items[at].number)
        first--;
    return at - first;
}

/* NULL: there is none. Searches from the place after the last one, as items usually keep their
 * order. */
static const older_element *find_counterpart(grafter *g, const older_elements *all,
                                             const kc__type_field *field, kc_str fresh,
                                             graft_cursor *cursor)
{
    const bool by_index = field->shape == KC__REPEATED && !field->list_keys && !field->merge_key;
    for (size_t i = 0; i < all->n; i++) {
        const size_t at = (cursor->at + i) % all->n;
        const older_element *older = &all->items[at];
        if (older->number != field->number || older->value.wire != KC__PROTOBUF_DELIMITED ||
            !is_counterpart(g, field, fresh, older, cursor->index,
                            by_index ? index_in_list(all, at) : 0))
            continue;
        cursor->at = at + 1;
        return older;
    }
    return NULL;
}

/* ---- messages ---- */

static int graft_message(grafter *g, const kc__type_message *type, kc_str fresh, kc_str older);

static int append_unknown(grafter *g, const kc__type_message *type, const older_elements *all)
{
    kc_vec_each (all, e)
        if (!kc__type_message_field_by_number(type, e->number))
            kc_buf_append(g->out, e->raw);
    return 0;
}

/* The entry of a map: the key as it is, the value grafted. */
static int graft_entry(grafter *g, const kc__type_field *field, kc_str fresh, kc_str older)
{
    kc__protobuf_element key = {0}, value = {0}, was = {0};
    find_element(g, fresh, 1, &key);
    find_element(g, fresh, 2, &value);
    find_element(g, older, 2, &was);
    kc__protobuf_put_bytes(g->out, 1, key.bytes);
    const size_t start = kc__protobuf_begin(g->out, 2);
    const int r = graft_message(g, field->message, value.bytes, was.bytes);
    kc__protobuf_end(g->out, start);
    return r;
}

static int graft_element(grafter *g, const kc__type_field *field, const older_element *fresh,
                         const older_element *older)
{
    const size_t start = kc__protobuf_begin(g->out, field->number);
    const int r = field->shape == KC__MAPPED
                      ? graft_entry(g, field, fresh->value.bytes, older->value.bytes)
                      : graft_message(g, field->message, fresh->value.bytes, older->value.bytes);
    kc__protobuf_end(g->out, start);
    return r;
}

static void advance_cursor(graft_cursor *cursor, uint32_t number)
{
    cursor->index = cursor->number == number ? cursor->index + 1 : 0;
    cursor->number = number;
}

static int graft_elements(grafter *g, const kc__type_message *type, kc_str fresh,
                          const older_elements *all)
{
    graft_cursor cursor = {0};
    while (fresh.n) {
        older_element e = {0};
        int r = next_element(g, &fresh, &e);
        if (r < 0)
            return r;
        const kc__type_field *field = kc__type_message_field_by_number(type, e.number);
        advance_cursor(&cursor, e.number);
        const older_element *older =
            field && field->kind == KC__FIELD_MESSAGE && e.value.wire == KC__PROTOBUF_DELIMITED
                ? find_counterpart(g, all, field, e.value.bytes, &cursor)
                : NULL;
        if (older)
            r = graft_element(g, field, &e, older);
        else
            kc_buf_append(g->out, e.raw);
        if (r < 0)
            return r;
    }
    return 0;
}

static int graft_message(grafter *g, const kc__type_message *type, kc_str fresh, kc_str older)
{
    kc_scoped(older_elements) all = {0};
    if (g->depth >= KC__PROTOBUF_MAX_DEPTH)
        return kc__protobuf_fail(&g->d, "nested too deeply");
    g->depth++;
    int r = split_elements(g, older, &all);
    if (r == 0)
        r = graft_elements(g, type, fresh, &all);
    if (r == 0)
        r = append_unknown(g, type, &all);
    g->depth--;
    return r;
}

/* ---- the envelope ---- */

static int raw_of(grafter *g, kc_str body, kc_str *ret)
{
    kc__protobuf_element raw = {0};
    if (!kc__protobuf_recognizes(body))
        return kc__protobuf_fail(&g->d, "the value is not protobuf");
    if (!find_element(g, kc_str_sub(body, kc__protobuf_magic().n, body.n), 2, &raw) ||
        raw.wire != KC__PROTOBUF_DELIMITED)
        return kc__protobuf_fail(&g->d, "the envelope is empty");
    *ret = raw.bytes;
    return 0;
}

static int graft_body(grafter *g, const kc__type_message *type, kc_str value, kc_str older)
{
    kc_str fresh_raw = {0}, older_raw = {0};
    if (raw_of(g, value, &fresh_raw) < 0 || raw_of(g, older, &older_raw) < 0)
        return kc_error_result(g->d.err);
    kc_str rest = kc_str_sub(value, kc__protobuf_magic().n, value.n);
    kc_buf_append(g->out, kc__protobuf_magic());
    while (rest.n) {
        older_element e = {0};
        int r = next_element(g, &rest, &e);
        const size_t start = r == 0 && e.number == 2 ? kc__protobuf_begin(g->out, 2) : 0;
        if (start)
            r = graft_message(g, type, fresh_raw, older_raw);
        if (r < 0)
            return r;
        if (start)
            kc__protobuf_end(g->out, start);
        else
            kc_buf_append(g->out, e.raw);
    }
    return g->out->failed
               ? kc_error_set(g->d.err, KC_TOO_LARGE, "protobuf: the object is too large")
               : 0;
}

int kc__protobuf_graft(const kc__type_message *type, kc_str value, kc_str older, kc_buf *out,
                       kc_error *err)
{
    grafter g = {.d = {.err = err, .elements_left = KC__PROTOBUF_MAX_ELEMENTS}, .out = out};
    const size_t before = out->n;
    const int r = graft_body(&g, type, value, older);
    if (r < 0)
        out->n = before;
    return r;
}
