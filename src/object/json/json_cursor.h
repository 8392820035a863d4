/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_cursor.h: iterates over canonical JSON text without parsing it.
 *
 * Labels, annotations, owner references and finalizers are read far more often than other parts of
 * an object, and they are small: scanning their bytes is faster than building a tree.
 *
 *     kc__json_cursor at = kc__json_cursor_of(kc_object_labels_json(pod));
 *     kc_str key, value;
 *     while (kc__json_cursor_member(&at, &key, &value))
 *         if (kc__json_raw_text_is(key, KC_STR("app")) &&
 *             kc__json_raw_string_is(value, KC_STR("web")))
 *             …
 *
 * "Raw" means JSON-encoded: a raw key has no quotes but may have escapes, a raw value is its JSON
 * text, with quotes for a string. Slices point into the text.
 *
 * The text must be canonical (json.h): compact, as in every kc_object. The cursor does not read
 * beyond the end of other text, but its results are then meaningless.
 */
#ifndef KC_JSON_CURSOR_H
#define KC_JSON_CURSOR_H

#include "kc/arena.h"
#include "kc/buf.h"

typedef struct kc__json_cursor {
    const char *at, *end;
} kc__json_cursor;

/* A cursor before the first member or element of an object or array; an empty slice has none. */
kc__json_cursor kc__json_cursor_of(kc_str json_object_or_array);

/* The next member of an object, the next element of an array. False at the end, with the outputs
 * untouched. */
bool kc__json_cursor_member(kc__json_cursor *c, kc_str *ret_key_raw, kc_str *ret_value_raw);
bool kc__json_cursor_item(kc__json_cursor *c, kc_str *ret_value_raw);

/* The value of the member `name` (not escaped) of an object; an empty slice when it is absent. */
kc_str kc__json_cursor_find(kc_str json_object, kc_str name);

static inline bool kc__json_raw_is_string(kc_str raw)
{
    return raw.n >= 2 && raw.p[0] == '"';
}

/* Without its quotes; an empty slice when it is not a string. */
static inline kc_str kc__json_raw_inside(kc_str raw)
{
    return kc__json_raw_is_string(raw) ? kc_str_of(raw.p + 1, raw.n - 2) : (kc_str){0};
}

/* True when raw text (a key; a string without quotes) decodes to `text`. */
bool kc__json_raw_text_is(kc_str raw, kc_str text);
/* The same for a raw value: false when it is not a string. */
bool kc__json_raw_string_is(kc_str raw_value_with_quotes, kc_str text);

/* Appends the decoded raw text (without quotes). */
void kc__json_unescape_to(kc_buf *out, kc_str raw);
/* The decoded raw text (without quotes): `raw` itself when it has no escapes, else a copy in the
 * arena, which must have no limit. */
kc_str kc__json_unescape(kc_arena *arena, kc_str raw);

#endif
