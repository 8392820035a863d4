/* SPDX-License-Identifier: Apache-2.0 */
/*
 * go_text.c: values as Go prints them. Messages about patches quote values with Go's "%v" and "%T",
 * people search for those messages, and so they are written the same way here:
 *
 *     {"name":"web","ports":[80]}     map[name:web ports:[80]]
 *
 * Text is cut after MOST bytes: a message is for people, and the value may have megabytes.
 */
#include "object/patch_internal.h"

enum { MOST = 1024 };

static void put(kc_buf *out, const kc_value *value, size_t end);

static void put_map(kc_buf *out, const kc_value *object, size_t end)
{
    kc__member_list members = {0};
    kc__members_sorted(object, &members);
    kc_buf_puts(out, "map[");
    kc_vec_each (&members, m) {
        if (out->n > end)
            break;
        kc_buf_printf(out, "%s%.*s:", m == members.items ? "" : " ", KC_ARG(m->name));
        put(out, m->value, end);
    }
    kc_buf_putc(out, ']');
    kc_vec_done(&members);
}

static void put_slice(kc_buf *out, const kc_value *array, size_t end)
{
    bool first = true;
    kc_buf_putc(out, '[');
    kc_items (array, item) {
        if (out->n > end)
            break;
        if (!first)
            kc_buf_putc(out, ' ');
        first = false;
        put(out, item, end);
    }
    kc_buf_putc(out, ']');
}

static void put(kc_buf *out, const kc_value *value, size_t end)
{
    switch (kc_type_of(value)) {
    case KC_ABSENT:
    case KC_NULL: kc_buf_puts(out, "<nil>"); break;
    case KC_STRING: kc_buf_append(out, kc_as_str(value)); break;
    case KC_ARRAY: put_slice(out, value, end); break;
    case KC_OBJECT: put_map(out, value, end); break;
    default: kc_json_write(out, value); break;
    }
}

void kc__go_text(kc_buf *out, const kc_value *value)
{
    size_t start = out->n;
    put(out, value, start + MOST);
    if (out->n <= start + MOST)
        return;
    out->n = start + MOST;
    /* Not in the middle of a character. */
    while (out->n > start && ((unsigned char)out->p[out->n] & 0xC0) == 0x80)
        out->n--;
    kc_buf_puts(out, "...");
}

void kc__go_text_node(kc_buf *out, const kc_node *node)
{
    kc_auto(kc_view) *view = kc__view_of_node(node);
    kc__go_text(out, kc_view_root(view));
}

const char *kc__go_type(kc_type type)
{
    static const char *const names[] = {
        [KC_ABSENT] = "<nil>",
        [KC_NULL] = "<nil>",
        [KC_BOOL] = "bool",
        [KC_INT] = "int64",
        [KC_FLOAT] = "float64",
        [KC_STRING] = "string",
        [KC_ARRAY] = "[]interface {}",
        [KC_OBJECT] = "map[string]interface {}",
    };
    return names[type];
}
