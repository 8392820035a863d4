/* SPDX-License-Identifier: Apache-2.0 */
/*
 * list_cutter.c: two walks (json_walk.h), one over the members of the list, one over those of the
 * item it is in.
 *
 *     {"kind":"PodList",…,"items":[ {"metadata":…} , {"metadata":…} ],…}
 *     └─ rest ───────────────────┘└─ item ──────┘   └─ item ──────┘└─ rest
 *
 * The walk over an item notes whether it says its kind. If not, {"kind":…,"apiVersion":… stands
 * in the room that was left before the item's bytes, and its brace becomes a comma: nothing is
 * moved and the text is parsed once.
 *
 * What is cut out is parsed by kc_object_parse, which finds whatever is wrong inside; here only
 * what stands between items is looked at.
 */
#include "client/list_cutter.h"

#include "client/client_internal.h"

void kc__cutter_done(kc__cutter *c)
{
    kc_buf_done(&c->rest);
    kc_buf_done(&c->item);
    kc_buf_done(&c->prefix);
}

static int not_a_list(kc_error *err)
{
    return kc_error_set(err, KC_INTERNAL, "the server's answer is not a list in JSON");
}

void kc__kind_prefix(kc_buf *out, const kc_kind *kind)
{
    kc_scoped(kc_buf) version = {0};
    kc_api_version_write(&version, kc_cstr(kind->group), kc_cstr(kind->version));
    kc_buf_puts(out, "{\"kind\":");
    kc_json_quote(out, kc_cstr(kind->kind));
    kc_buf_puts(out, ",\"apiVersion\":");
    kc_json_quote(out, kc_buf_str(&version));
}

/* ---- items ---- */

static size_t max_item(const kc__cutter *c)
{
    return c->max_item ? c->max_item : KC_JSON_MAX_BYTES;
}

static void begin_item(kc__cutter *c)
{
    if (c->kind && !c->prefix.n)
        kc__kind_prefix(&c->prefix, c->kind);
    c->walk = (kc__walk){0};
    c->has_kind = c->has_api_version = false;
    kc_buf_clear(&c->item);
    c->item.limit = max_item(c) + c->prefix.n;
    kc_buf_append(&c->item, kc_buf_str(&c->prefix));
    c->state = KC__CUTTER_IN_ITEM;
}

/* The item's text; with its kind before it where it says none. */
static kc_str item_text(kc__cutter *c)
{
    const size_t room = c->prefix.n;
    const kc_str plain = kc_str_of(c->item.p + room, c->item.n - room);
    if (c->has_kind || c->has_api_version || !room)
        return plain;
    /* An item without members has nothing to stand behind the comma. */
    if (plain.n >= 2 && kc_str_trim(kc_str_sub(plain, 1, plain.n)).p[0] == '}')
        return plain;
    c->item.p[room] = ','; /* Its brace. */
    return kc_buf_str(&c->item);
}

static int give_item(kc__cutter *c, kc_error *err)
{
    kc_object *object = kc_object_parse(item_text(c), NULL, err);
    if (!object)
        return kc__bad_answer(err, "an item of the server's list");
    c->state = KC__CUTTER_AT_COMMA;
    c->first = false;
    return c->each(object, c->user, err);
}

static void note_key(kc__cutter *c)
{
    const kc_str key = kc__walk_key(&c->walk);
    c->has_kind |= kc_str_is(key, "kind");
    c->has_api_version |= kc_str_is(key, "apiVersion");
}

/* Bytes of the item that is open. */
static ssize_t feed_item(kc__cutter *c, kc_str bytes, kc_error *err)
{
    size_t n = 0, used;
    kc__walk_at at;
    while ((at = kc__walk_on(&c->walk, kc_str_sub(bytes, n, bytes.n), &used)) == KC__WALK_VALUE) {
        n += used;
        note_key(c);
    }
    n += used;
    if (at == KC__WALK_BAD)
        return not_a_list(err);
    kc_buf_append(&c->item, kc_str_sub(bytes, 0, n));
    if (c->item.failed)
        return kc_error_set(err, KC_TOO_LARGE, "an item of the list is larger than %zu bytes",
                            max_item(c));
    const int given = at == KC__WALK_END ? give_item(c, err) : 0;
    return given < 0 ? given : (ssize_t)n;
}

/* ---- the list ---- */

static int keep_rest(kc__cutter *c, kc_str bytes, kc_error *err)
{
    c->rest.limit = KC__CUTTER_MAX_REST;
    kc_buf_append(&c->rest, bytes);
    return c->rest.failed ? kc_error_set(err, KC_TOO_LARGE,
                                         "a list without its items is larger than %zu bytes",
                                         KC__CUTTER_MAX_REST)
                          : 0;
}

/* Between items. */
static ssize_t feed_between(kc__cutter *c, kc_str bytes, kc_error *err)
{
    const char ch = bytes.p[0];
    if (kc__is_json_space(ch))
        return 1;
    if (ch == ']' && (c->state == KC__CUTTER_AT_COMMA || c->first)) {
        c->state = KC__CUTTER_REST;
        kc__walk_skipped(&c->list);
        return keep_rest(c, KC_STR("]"), err) < 0 ? -1 : 1;
    }
    if (ch == ',' && c->state == KC__CUTTER_AT_COMMA) {
        c->state = KC__CUTTER_AT_ITEM;
        return 1;
    }
    if (ch != '{' || c->state != KC__CUTTER_AT_ITEM)
        return not_a_list(err);
    begin_item(c);
    return 0;
}

static ssize_t feed_rest(kc__cutter *c, kc_str bytes, kc_error *err)
{
    size_t n;
    const kc__walk_at at = kc__walk_on(&c->list, bytes, &n);
    /* Behind the list only white space may come, and the parser will say so. */
    n = at == KC__WALK_END ? bytes.n : n;
    const bool items =
        at == KC__WALK_VALUE && kc_str_is(kc__walk_key(&c->list), "items") && bytes.p[n] == '[';
    if (at == KC__WALK_BAD)
        return not_a_list(err);
    if (items) {
        n++;
        c->first = true;
        c->state = KC__CUTTER_AT_ITEM;
    }
    return keep_rest(c, kc_str_sub(bytes, 0, n), err) < 0 ? -1 : (ssize_t)n;
}

int kc__cutter_feed(kc__cutter *c, kc_str bytes, kc_error *err)
{
    while (bytes.n) {
        const ssize_t n = c->state == KC__CUTTER_REST      ? feed_rest(c, bytes, err)
                          : c->state == KC__CUTTER_IN_ITEM ? feed_item(c, bytes, err)
                                                           : feed_between(c, bytes, err);
        if (n < 0)
            return (int)n;
        bytes = kc_str_sub(bytes, (size_t)n, bytes.n);
    }
    return 0;
}

kc_object *kc__cutter_end(kc__cutter *c, kc_error *err)
{
    if (c->list.state != KC__WALK_AT_END) {
        kc_error_set(err, KC_SERVICE_UNAVAILABLE, "the server's list ended in the middle");
        return NULL;
    }
    kc_object *list = kc_object_parse(kc_buf_str(&c->rest), NULL, err);
    if (!list)
        kc__bad_answer(err, "the server's list");
    return list;
}

/* ---- one object ---- */

kc_object *kc__object_of_kind(kc_str json, const kc_kind *kind, kc_error *err)
{
    kc_auto(kc_object) *object = kc_object_parse(json, NULL, err);
    if (!object || kc_object_kind(object).n || kc_object_api_version(object).n)
        return kc_take(object);
    kc_scoped(kc_buf) text = {0};
    kc__kind_prefix(&text, kind);
    const kc_str canonical = kc_object_json(object);
    kc_buf_puts(&text, canonical.n > 2 ? "," : "");
    kc_buf_append(&text, kc_str_sub(canonical, 1, canonical.n));
    return kc_object_parse(kc_buf_str(&text), NULL, err);
}
