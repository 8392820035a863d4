/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write.c: the tables as C source.
 *
 * Five arrays hold everything: all fields, message after message; the two orders of each message's
 * fields, as indexes; the messages, sorted by name; pointers to them; and the values of
 * enumerations. The order of everything follows from the input, so the same definitions give the
 * same file, byte for byte.
 */
#include "lexer.h"
#include "model.h"

#include "kc/buf.h"

#include <errno.h>
#include <stdio.h>

static void write_cstr(kc_buf *out, const char *text)
{
    if (!text) {
        kc_buf_puts(out, "NULL");
        return;
    }
    kc_buf_putc(out, '"');
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            kc_buf_putc(out, '\\');
        kc_buf_putc(out, *text);
    }
    kc_buf_putc(out, '"');
}

static void write_field(kc_buf *out, const field *f)
{
    kc_buf_printf(out, "    {KC_STR_INIT(\"%.*s\"), %d, %d, %d, 0x%x, %d, ", KC_ARG(f->name),
                  f->number, f->kind, f->shape, f->marks, f->enumeration);
    if (f->message)
        kc_buf_printf(out, "&messages[%zu]", f->message->index);
    else
        kc_buf_puts(out, "NULL");
    const char *const texts[] = {f->go_type, f->merge_key, f->list_keys, f->fallback};
    for (size_t i = 0; i < KC_COUNT(texts); i++) {
        kc_buf_puts(out, ", ");
        write_cstr(out, texts[i]);
    }
    kc_buf_puts(out, "},\n");
}

static void write_fields(kc_buf *out, const model *m)
{
    kc_buf_puts(out, "static const kc__type_field fields[] = {\n");
    kc_vec_each (&m->table, msg) {
        kc_buf_printf(out, "    /* %.*s */\n", KC_ARG((*msg)->name));
        kc_vec_each (&(*msg)->fields, f)
            write_field(out, f);
    }
    kc_buf_puts(out, "};\n\n");
}

static int compare_names(const void *a, const void *b)
{
    const field *x = *(const field *const *)a, *y = *(const field *const *)b;
    int order = kc_str_cmp(x->name, y->name);
    return order ? order : (x > y) - (x < y);
}

static int compare_numbers(const void *a, const void *b)
{
    const field *x = *(const field *const *)a, *y = *(const field *const *)b;
    return x->number != y->number ? x->number - y->number : (x > y) - (x < y);
}

static void write_order(kc_buf *out, const message *msg, int (*compare)(const void *, const void *))
{
    KC_VEC(const field *) sorted = {0};
    kc_vec_each (&msg->fields, f)
        kc_vec_push(&sorted, f);
    kc_vec_sort(&sorted, compare);
    kc_buf_puts(out, "    ");
    kc_vec_each (&sorted, f)
        kc_buf_printf(out, "%td, ", *f - msg->fields.items);
    kc_buf_putc(out, '\n');
    kc_vec_done(&sorted);
}

/* By name and by number, one after the other. */
static void write_orders(kc_buf *out, const model *m)
{
    kc_buf_puts(out, "static const uint16_t orders[] = {\n");
    kc_vec_each (&m->table, msg) {
        write_order(out, *msg, compare_names);
        write_order(out, *msg, compare_numbers);
    }
    kc_buf_puts(out, "};\n\n");
}

static void write_messages(kc_buf *out, const model *m)
{
    size_t at = 0;
    kc_buf_printf(out, "static const kc__type_message messages[%zu] = {\n", m->table.n);
    kc_vec_each (&m->table, item) {
        const message *msg = *item;
        size_t n = msg->fields.n;
        kc_buf_printf(out,
                      "    {KC_STR_INIT(\"%.*s\"), \"%s\", fields + %zu, %zu, 0x%x, orders + %zu, "
                      "orders + %zu},\n",
                      KC_ARG(msg->name), msg->go_name, at, n, msg->marks, 2 * at, 2 * at + n);
        at += n;
    }
    kc_buf_puts(out, "};\n\nconst kc__type_message *const kc__type_messages[] = {\n");
    for (size_t i = 0; i < m->table.n; i++)
        kc_buf_printf(out, "    &messages[%zu],\n", i);
    kc_buf_printf(out, "};\nconst size_t kc__type_n_messages = %zu;\n", m->table.n);
}

static void write_enums(kc_buf *out, const model *m)
{
    kc_buf_puts(out, "\nconst char *const kc__type_enumerations[] = {\n    NULL,\n");
    kc_vec_each (&m->enums, e) {
        kc_scoped(kc_buf) values = {0};
        enum_write(&values, e);
        kc_buf_puts(out, "    ");
        write_cstr(out, kc_buf_cstr(&values));
        kc_buf_printf(out, ", /* %s */\n", e->name);
    }
    kc_buf_puts(out, "};\n");
}

void write_tables(model *m, const char *path)
{
    kc_scoped(kc_buf) out = {0};
    kc_buf_puts(&out, "/* Written by tools/definitions. */\n"
                      "#include \"apiserver/codec/api_types.h\"\n"
                      "#include \"apiserver/openapi/descriptions.h\"\n\n");
    kc_buf_printf(&out, "static const kc__type_message messages[%zu];\n\n", m->table.n);
    write_fields(&out, m);
    write_orders(&out, m);
    write_messages(&out, m);
    write_enums(&out, m);
    write_descriptions(m, &out);

    FILE *file = fopen(path, "we");
    if (!file || fwrite(out.p, 1, out.n, file) != out.n || fclose(file) != 0)
        fail_at(path, 0, "%s", strerror(errno));
}
