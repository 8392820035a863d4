/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The splitter finds the same items whatever pieces a list arrives in (the first byte selects their
 * sizes); and what a parser accepts as a list of objects, the splitter accepts with the same items.
 */
#include "client/stream/list_splitter.h"
#include "fuzzing.h"
#include "kc/kinds.h"
#include "kc/view.h"

static int gather(kc_object *object, void *user, kc_error *err)
{
    (void)err;
    kc_buf_append(user, kc_object_json(object));
    kc_buf_putc(user, '\n');
    kc_object_unref(object);
    return 0;
}

/* Items, then the list; false when it was refused. */
static bool cut(kc_str text, size_t piece, const kc_kind *kind, kc_buf *out)
{
    kc_scoped(kc__stream_splitter) c = {
        .kind = kind, .each = gather, .user = out, .max_item = 1 << 16};
    for (kc_str rest = text; rest.n; rest = kc_str_sub(rest, piece, rest.n))
        if (kc__stream_splitter_feed(&c, kc_str_sub(rest, 0, piece), NULL) < 0)
            return false;
    kc_auto(kc_object) *list = kc__stream_splitter_end(&c, NULL);
    if (list)
        kc_buf_append(out, kc_object_json(list));
    return list != NULL;
}

static size_t count(const kc_value *object, const char *name)
{
    size_t n = 0;
    kc_value_each_member (object, key, value)
        n += kc_str_is(key, name);
    return n;
}

/* Whether a parser, too, sees a list of objects, and only one. */
static void compare(kc_str text, bool taken, kc_buf *out)
{
    kc_paths twice = {0};
    const kc_json_opts opts = {.duplicates = &twice};
    kc_auto(kc_view) *view = kc_view_parse(text, &opts, NULL);
    const kc_value *root = view ? kc_view_root(view) : NULL;
    const kc_value *items = kc_value_get(root, "items");
    bool objects = kc_value_type(root) == KC_JSON_OBJECT && text.n < (1 << 16) && !twice.n &&
                   (kc_value_type(items) == KC_JSON_ARRAY || count(root, "items") == 0);
    /* Names with escapes are not recognised. */
    objects = objects && !memchr(text.p, '\\', text.n);
    kc_value_each_item (items, item)
        objects = objects && kc_value_type(item) == KC_JSON_OBJECT;
    kc_paths_done(&twice);
    if (!objects)
        return;
    assert(taken);
    kc_scoped(kc_buf) expected = {0};
    kc_value_each_item (items, item) {
        kc_json_write(&expected, item);
        kc_buf_putc(&expected, '\n');
    }
    assert(kc_str_starts(kc_buf_str(out), kc_buf_str(&expected)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    const kc_str text = kc_str_of((const char *)data + 1, size - 1);
    const size_t piece = 1 + data[0] % 37;
    kc_scoped(kc_buf) whole = {0}, pieces = {0}, kinded = {0};
    const bool taken = cut(text, size, NULL, &whole);
    assert(cut(text, piece, NULL, &pieces) == taken);
    if (taken)
        assert(kc_str_eq(kc_buf_str(&whole), kc_buf_str(&pieces)));
    assert(cut(text, piece, &kc_kind_deployment, &kinded) == taken);
    compare(text, taken, &whole);
    return 0;
}
