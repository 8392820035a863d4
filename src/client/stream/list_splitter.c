/* SPDX-License-Identifier: Apache-2.0 */
/*
 * list_splitter.c: two walks (json_walk.h), one over the members of the list, one over those of the
 * current item.
 *
 *     {"kind":"PodList",…,"items":[ {"metadata":…} , {"metadata":…} ],…}
 *     └─ rest ───────────────────┘└─ item ──────┘   └─ item ──────┘└─ rest
 *
 * The walk over an item records whether the item states its kind. If not, {"kind":…,"apiVersion":…
 * is written into the space reserved before the item's bytes, and the item's brace becomes a comma:
 * nothing is moved and the text is parsed once.
 *
 * kc_object_parse parses the items and finds all errors inside them; this file checks only the text
 * between items.
 */
#include "client/stream/list_splitter.h"

#include "client/rest/client_internal.h"

void kc__stream_splitter_done(kc__stream_splitter *c)
{
    kc_buf_done(&c->rest);
    kc_buf_done(&c->item);
    kc_buf_done(&c->prefix);
}

static int not_a_list(kc_error *err)
{
    return kc_error_set(err, KC_INTERNAL, "the response is not a JSON list");
}

void kc__stream_kind_prefix(kc_buf *out, const kc_kind *kind)
{
    kc_scoped(kc_buf) version = {0};
    kc_api_version_write(&version, kc_cstr(kind->group), kc_cstr(kind->version));
    kc_buf_puts(out, "{\"kind\":");
    kc_json_quote(out, kc_cstr(kind->kind));
    kc_buf_puts(out, ",\"apiVersion\":");
    kc_json_quote(out, kc_buf_str(&version));
}

/* ---- items ---- */

static size_t max_item(const kc__stream_splitter *c)
{
    return c->max_item ? c->max_item : KC_JSON_MAX_BYTES;
}

static void begin_item(kc__stream_splitter *c)
{
    if (c->kind && !c->prefix.n)
        kc__stream_kind_prefix(&c->prefix, c->kind);
    c->walk = (kc__stream_walk){0};
    c->has_kind = c->has_api_version = false;
    kc_buf_clear(&c->item);
    c->item.limit = max_item(c) + c->prefix.n;
    kc_buf_append(&c->item, kc_buf_str(&c->prefix));
    c->state = KC__STREAM_SPLITTER_IN_ITEM;
}

/* Returns the item's text, with its kind prepended if the item states none. */
static kc_str item_text(kc__stream_splitter *c)
{
    const size_t room = c->prefix.n;
    const kc_str plain = kc_str_of(c->item.p + room, c->item.n - room);
    if (c->has_kind || c->has_api_version || !room)
        return plain;
    /* An item without members must not be preceded by a comma. */
    if (plain.n >= 2 && kc_str_trim(kc_str_sub(plain, 1, plain.n)).p[0] == '}')
        return plain;
    c->item.p[room] = ','; /* Replaces its brace. */
    return kc_buf_str(&c->item);
}

static int return_item(kc__stream_splitter *c, kc_error *err)
{
    kc_object *object = kc_object_parse(item_text(c), NULL, err);
    if (!object)
        return kc__client_bad_response(err, "list item");
    c->state = KC__STREAM_SPLITTER_AT_COMMA;
    c->first = false;
    return c->each(object, c->user, err);
}

static void note_key(kc__stream_splitter *c)
{
    const kc_str key = kc__stream_walk_key(&c->walk);
    c->has_kind |= kc_str_is(key, "kind");
    c->has_api_version |= kc_str_is(key, "apiVersion");
}

/* Consumes bytes of the current item. */
static ssize_t feed_item(kc__stream_splitter *c, kc_str bytes, kc_error *err)
{
    size_t n = 0, used;
    kc__stream_walk_at at;
    while ((at = kc__stream_walk_next(&c->walk, kc_str_sub(bytes, n, bytes.n), &used)) ==
           KC__STREAM_WALK_VALUE) {
        n += used;
        note_key(c);
    }
    n += used;
    if (at == KC__STREAM_WALK_BAD)
        return not_a_list(err);
    kc_buf_append(&c->item, kc_str_sub(bytes, 0, n));
    if (c->item.failed)
        return kc_error_set(err, KC_TOO_LARGE, "a list item exceeds %zu bytes", max_item(c));
    const int result = at == KC__STREAM_WALK_END ? return_item(c, err) : 0;
    return result < 0 ? result : (ssize_t)n;
}

/* ---- the list ---- */

static int keep_rest(kc__stream_splitter *c, kc_str bytes, kc_error *err)
{
    c->rest.limit = KC__STREAM_SPLITTER_MAX_REST;
    kc_buf_append(&c->rest, bytes);
    return c->rest.failed
               ? kc_error_set(err, KC_TOO_LARGE, "a list without its items exceeds %zu bytes",
                              KC__STREAM_SPLITTER_MAX_REST)
               : 0;
}

/* Consumes bytes between items. */
static ssize_t feed_between(kc__stream_splitter *c, kc_str bytes, kc_error *err)
{
    const char ch = bytes.p[0];
    if (kc__stream_is_json_space(ch))
        return 1;
    if (ch == ']' && (c->state == KC__STREAM_SPLITTER_AT_COMMA || c->first)) {
        c->state = KC__STREAM_SPLITTER_REST;
        kc__stream_walk_skipped(&c->list);
        return keep_rest(c, KC_STR("]"), err) < 0 ? kc_error_result(err) : 1;
    }
    if (ch == ',' && c->state == KC__STREAM_SPLITTER_AT_COMMA) {
        c->state = KC__STREAM_SPLITTER_AT_ITEM;
        return 1;
    }
    if (ch != '{' || c->state != KC__STREAM_SPLITTER_AT_ITEM)
        return not_a_list(err);
    begin_item(c);
    return 0;
}

static ssize_t feed_rest(kc__stream_splitter *c, kc_str bytes, kc_error *err)
{
    size_t n;
    const kc__stream_walk_at at = kc__stream_walk_next(&c->list, bytes, &n);
    /* Only white space may follow the list; the parser reports anything else. */
    n = at == KC__STREAM_WALK_END ? bytes.n : n;
    const bool items = at == KC__STREAM_WALK_VALUE &&
                       kc_str_is(kc__stream_walk_key(&c->list), "items") && bytes.p[n] == '[';
    if (at == KC__STREAM_WALK_BAD)
        return not_a_list(err);
    if (items) {
        n++;
        c->first = true;
        c->state = KC__STREAM_SPLITTER_AT_ITEM;
    }
    return keep_rest(c, kc_str_sub(bytes, 0, n), err) < 0 ? kc_error_result(err) : (ssize_t)n;
}

int kc__stream_splitter_feed(kc__stream_splitter *c, kc_str bytes, kc_error *err)
{
    while (bytes.n) {
        const ssize_t n = c->state == KC__STREAM_SPLITTER_REST      ? feed_rest(c, bytes, err)
                          : c->state == KC__STREAM_SPLITTER_IN_ITEM ? feed_item(c, bytes, err)
                                                                    : feed_between(c, bytes, err);
        if (n < 0)
            return (int)n;
        bytes = kc_str_sub(bytes, (size_t)n, bytes.n);
    }
    return 0;
}

kc_object *kc__stream_splitter_end(kc__stream_splitter *c, kc_error *err)
{
    if (c->list.state != KC__STREAM_WALK_AT_END) {
        kc_error_set(err, KC_SERVICE_UNAVAILABLE, "the list response ended early");
        return NULL;
    }
    kc_object *list = kc_object_parse(kc_buf_str(&c->rest), NULL, err);
    if (!list)
        kc__client_bad_response(err, "list response");
    return list;
}

/* ---- one object ---- */

kc_object *kc__stream_object_of_kind(kc_str json, const kc_kind *kind, kc_error *err)
{
    kc_auto(kc_object) *object = kc_object_parse(json, NULL, err);
    if (!object || kc_object_kind(object).n || kc_object_api_version(object).n)
        return kc_take(object);
    kc_scoped(kc_buf) text = {0};
    kc__stream_kind_prefix(&text, kind);
    const kc_str canonical = kc_object_json(object);
    kc_buf_puts(&text, canonical.n > 2 ? "," : "");
    kc_buf_append(&text, kc_str_sub(canonical, 1, canonical.n));
    return kc_object_parse(kc_buf_str(&text), NULL, err);
}
