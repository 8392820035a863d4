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

typedef struct member {
    kc_str name;
    const kc_value *value;
} member;

static int by_name(const void *a, const void *b)
{
    return kc_str_cmp(((const member *)a)->name, ((const member *)b)->name);
}

static void put(kc_buf *out, const kc_value *value, size_t end);

static void put_map(kc_buf *out, const kc_value *object, size_t end)
{
    KC_VEC(member) members = {0};
    kc_members (object, name, value)
        kc_vec_push(&members, (member){name, value});
    kc_vec_sort(&members, by_name);
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
        [KC_ABSENT] = "%!s(<nil>)",
        [KC_NULL] = "%!s(<nil>)",
        [KC_BOOL] = "bool",
        [KC_INT] = "int64",
        [KC_FLOAT] = "float64",
        [KC_STRING] = "string",
        [KC_ARRAY] = "[]interface {}",
        [KC_OBJECT] = "map[string]interface {}",
    };
    return names[type];
}

/* The node at a path of names joined by dots, or NULL. */
static const kc_node *node_at(const kc_node *node, kc_str path)
{
    while (node && path.p) {
        kc_str name = kc_str_cut(&path, '.');
        node = kc_node_get(node, name);
    }
    return node;
}

int kc__check_unchanged(const kc_node *patch, const char *const *unchanged, kc_error *err)
{
    for (; unchanged && *unchanged; unchanged++) {
        if (!node_at(patch, kc_cstr(*unchanged)))
            continue;
        kc_scoped(kc_buf) text = {0};
        kc__go_text_node(&text, patch);
        return kc_error_set(err, KC_INVALID, "precondition failed for: %s", kc_buf_cstr(&text));
    }
    return 0;
}
