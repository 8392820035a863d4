/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_cursor.h: walking over canonical JSON text without parsing it.
 *
 * Labels, annotations, owner references and finalizers are looked at far more often than anything
 * else in an object, and they are small: going over their bytes beats building a tree of them.
 *
 *     kc__cursor at = kc__cursor_of(kc_object_labels_json(pod));
 *     kc_str key, value;
 *     while (kc__cursor_member(&at, &key, &value))
 *         if (kc__raw_text_is(key, KC_STR("app")) && kc__raw_string_is(value, KC_STR("web")))
 *             …
 *
 * "Raw" means as it stands in the text: a raw key has no quotes but may have escapes, a raw value
 * is its JSON text, for a string with the quotes. Slices point into the text.
 *
 * The text must be canonical (json.h): compact, as every kc_object's is. Other text is walked
 * without reading beyond its end, but what comes out of it means nothing.
 */
#ifndef KC_JSON_CURSOR_H
#define KC_JSON_CURSOR_H

#include "kc/arena.h"
#include "kc/buf.h"

typedef struct kc__cursor {
    const char *at, *end;
} kc__cursor;

/* Before the first member or element of an object or array; an empty slice has none. */
kc__cursor kc__cursor_of(kc_str json_object_or_array);

/* The next member of an object, the next element of an array. False at the end, outputs untouched.
 */
bool kc__cursor_member(kc__cursor *c, kc_str *ret_key_raw, kc_str *ret_value_raw);
bool kc__cursor_item(kc__cursor *c, kc_str *ret_value_raw);

/* The value of the member `name` (plain text) of an object; an empty slice when there is none. */
kc_str kc__cursor_find(kc_str json_object, kc_str name);

static inline bool kc__raw_is_string(kc_str raw)
{
    return raw.n >= 2 && raw.p[0] == '"';
}

/* Without its quotes; an empty slice when it is no string. */
static inline kc_str kc__raw_inside(kc_str raw)
{
    return kc__raw_is_string(raw) ? kc_str_of(raw.p + 1, raw.n - 2) : (kc_str){0};
}

/* True when raw text (a key; a string without quotes) stands for `text`. */
bool kc__raw_text_is(kc_str raw, kc_str text);
/* The same for a raw value: false when it is no string. */
bool kc__raw_string_is(kc_str raw_value_with_quotes, kc_str text);

/* Appends what raw text (without quotes) stands for. */
void kc__unescape_to(kc_buf *out, kc_str raw);
/* What raw text (without quotes) stands for: `raw` itself when it has no escapes, else a copy in
 * the arena, which must have no limit. */
kc_str kc__unescape(kc_arena *arena, kc_str raw);

#endif
