/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A list is cut the same whatever pieces it comes in (the first byte says which); and what a parser
 * takes as a list of objects, the cutter takes too, with the same items.
 */
#include "client/list_cutter.h"
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
    kc_scoped(kc__cutter) c = {.kind = kind, .each = gather, .user = out, .max_item = 1 << 16};
    for (kc_str rest = text; rest.n; rest = kc_str_sub(rest, piece, rest.n))
        if (kc__cutter_feed(&c, kc_str_sub(rest, 0, piece), NULL) < 0)
            return false;
    kc_auto(kc_object) *list = kc__cutter_end(&c, NULL);
    if (list)
        kc_buf_append(out, kc_object_json(list));
    return list != NULL;
}

static size_t count(const kc_value *object, const char *name)
{
    size_t n = 0;
    kc_members (object, key, value)
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
    const kc_value *items = kc_get(root, "items");
    bool objects = kc_type_of(root) == KC_OBJECT && text.n < (1 << 16) && !twice.n &&
                   (kc_type_of(items) == KC_ARRAY || count(root, "items") == 0);
    /* Names with escapes are not recognised. */
    objects = objects && !memchr(text.p, '\\', text.n);
    kc_items (items, item)
        objects = objects && kc_type_of(item) == KC_OBJECT;
    kc_paths_done(&twice);
    if (!objects)
        return;
    assert(taken);
    kc_scoped(kc_buf) expected = {0};
    kc_items (items, item) {
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
