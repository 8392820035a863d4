/* SPDX-License-Identifier: Apache-2.0 */
/*
 * go_text.c: formats values as Go does. Messages about patches contain values in Go's "%v" and "%T"
 * formats, and users search for those messages, so the format is identical here:
 *
 *     {"name":"web","ports":[80]}     map[name:web ports:[80]]
 *
 * Text is truncated after MOST bytes: the value may have megabytes.
 */
#include "object/patch/patch_internal.h"

enum { MOST = 1024 };

static void go_text_put(kc_buf *out, const kc_value *value, size_t end);

static void put_map(kc_buf *out, const kc_value *object, size_t end)
{
    kc__value_named_vec members = {0};
    kc__value_members_sorted(object, &members);
    kc_buf_puts(out, "map[");
    kc_vec_each (&members, m) {
        if (out->n > end)
            break;
        kc_buf_printf(out, "%s%.*s:", m == members.items ? "" : " ", KC_ARG(m->name));
        go_text_put(out, m->value, end);
    }
    kc_buf_putc(out, ']');
    kc_vec_done(&members);
}

static void put_slice(kc_buf *out, const kc_value *array, size_t end)
{
    bool first = true;
    kc_buf_putc(out, '[');
    kc_value_each_item (array, item) {
        if (out->n > end)
            break;
        if (!first)
            kc_buf_putc(out, ' ');
        first = false;
        go_text_put(out, item, end);
    }
    kc_buf_putc(out, ']');
}

static void go_text_put(kc_buf *out, const kc_value *value, size_t end)
{
    switch (kc_value_type(value)) {
    case KC_JSON_ABSENT:
    case KC_JSON_NULL: kc_buf_puts(out, "<nil>"); break;
    case KC_JSON_STRING: kc_buf_append(out, kc_value_as_str(value)); break;
    case KC_JSON_ARRAY: put_slice(out, value, end); break;
    case KC_JSON_OBJECT: put_map(out, value, end); break;
    default: kc_json_write(out, value); break;
    }
}

void kc__go_text(kc_buf *out, const kc_value *value)
{
    size_t start = out->n;
    go_text_put(out, value, start + MOST);
    if (out->n <= start + MOST)
        return;
    out->n = start + MOST;
    /* Do not cut within a character. */
    while (out->n > start && ((unsigned char)out->p[out->n] & 0xC0) == 0x80)
        out->n--;
    kc_buf_puts(out, "...");
}

void kc__go_text_node(kc_buf *out, const kc_node *node)
{
    kc_auto(kc_view) *view = kc__patch_node_view(node);
    kc__go_text(out, kc_view_root(view));
}

const char *kc__go_type(kc_json_type type)
{
    static const char *const names[] = {
        [KC_JSON_ABSENT] = "<nil>",
        [KC_JSON_NULL] = "<nil>",
        [KC_JSON_BOOL] = "bool",
        [KC_JSON_INT] = "int64",
        [KC_JSON_FLOAT] = "float64",
        [KC_JSON_STRING] = "string",
        [KC_JSON_ARRAY] = "[]interface {}",
        [KC_JSON_OBJECT] = "map[string]interface {}",
    };
    return names[type];
}
