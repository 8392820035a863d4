/* SPDX-License-Identifier: Apache-2.0 */
/*
 * enums.c: string types with a fixed set of values.
 *
 * A type that is marked +enum has as its values the constants of that type in its package. OpenAPI
 * lists them, sorted, and describes each in the words of the constant's comment, of which the name
 * of the constant is left out: Kubernetes' generator does so. Two constants of one value are one
 * value, described by the longer comment. A constant may be that of another package.
 */
#include "lexer.h"
#include "model.h"

#include "kc/buf.h"

/* ---- finding ---- */

static int compare_values(const void *a, const void *b)
{
    return kc_str_cmp(((const go_constant *)a)->value, ((const go_constant *)b)->value);
}

void enum_add(enumeration *e, go_constant value)
{
    kc_vec_each (&e->values, known) {
        if (!kc_str_eq(known->value, value.value))
            continue;
        if (known->comment.n < value.comment.n)
            *known = value;
        return;
    }
    kc_vec_push(&e->values, value);
    kc_vec_sort(&e->values, compare_values);
}

static uint16_t add_enum(model *m, const char *full)
{
    enumeration *e = kc_vec_add(&m->enums);
    e->name = full;
    uint16_t *place = kc_arena_new(&m->arena, uint16_t);
    *place = (uint16_t)m->enums.n;
    kc_map_put(&m->enum_places, kc_cstr(full), place);
    return *place;
}

/* The constant with its value, which may be another's. */
static go_constant with_value(model *m, go_constant constant)
{
    if (constant.value.n)
        return constant;
    const package *p = model_package(m, kc_cstr(constant.same_package));
    const kc_str *value = p ? kc_map_get(&p->constants, constant.same_name) : NULL;
    constant.value = value ? *value : (kc_str){0};
    return constant;
}

static void add_published(model *m, enumeration *e, const package *p, kc_str type_name)
{
    kc_vec_each (&p->typed, constant) {
        go_constant known = with_value(m, *constant);
        if (kc_str_eq(constant->type, type_name) && known.value.n)
            enum_add(e, known);
    }
}

static uint16_t find_or_make(model *m, const char *package_name, kc_str type_name, bool needed)
{
    const char *full = kc_arena_printf(&m->arena, "%s.%.*s", package_name, KC_ARG(type_name));
    uint16_t *place = kc_map_get(&m->enum_places, kc_cstr(full));
    if (place)
        return *place;
    package *p = model_package(m, kc_cstr(package_name));
    const go_type *type = p ? kc_map_get(&p->go_types, type_name) : NULL;
    bool published = type && type->is_enum && !kc_map_get(&m->not_enums, kc_cstr(full));
    if (!published && !needed)
        return 0;
    uint16_t added = add_enum(m, full);
    if (published)
        add_published(m, &m->enums.items[added - 1], p, type_name);
    return added;
}

uint16_t enum_find(model *m, const char *package_name, kc_str type_name)
{
    return find_or_make(m, package_name, type_name, false);
}

uint16_t enum_need(model *m, const char *package_name, kc_str type_name)
{
    return find_or_make(m, package_name, type_name, true);
}

/* ---- writing ---- */

void enum_write(kc_buf *out, const enumeration *e)
{
    kc_buf_putc(out, '[');
    kc_vec_each (&e->values, value)
        kc_buf_printf(out, "%s%.*s", value == e->values.items ? "" : ",", KC_ARG(value->value));
    kc_buf_putc(out, ']');
}

/* The words of a comment, one space between two, without slashes. */
static void comment_words(kc_buf *out, kc_str comment)
{
    while (comment.p) {
        kc_str line = kc_str_trim(kc_str_cut(&comment, '\n'));
        if (!kc_str_starts(line, KC_STR("//")))
            continue;
        for (size_t i = 2; i < line.n; i++) {
            bool space = line.p[i] == ' ' || line.p[i] == '\t';
            if (!space || (out->n && out->p[out->n - 1] != ' '))
                kc_buf_putc(out, space ? ' ' : line.p[i]);
        }
        if (out->n && out->p[out->n - 1] != ' ')
            kc_buf_putc(out, ' ');
    }
}

void enum_describe(kc_buf *out, const enumeration *e)
{
    kc_buf_puts(out, "\nPossible enum values:");
    kc_vec_each (&e->values, value) {
        kc_scoped(kc_buf) words = {0};
        comment_words(&words, value->comment);
        kc_str text = kc_str_trim(kc_buf_str(&words));
        if (kc_str_starts(text, value->name))
            text = kc_str_trim(kc_str_sub(text, value->name.n, text.n));
        kc_buf_printf(out, "\n - `%.*s` %.*s", KC_ARG(value->value), KC_ARG(text));
    }
}
