/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model.c: queries on a model, and errors that point into the source.
 *
 * An error of the generator may have several lines: readers continue after a mistake and add the
 * next one, so that a user sees all mistakes at once. After MAX_LINES it stops: the rest are most
 * likely consequences.
 */
#include "generate/model/model.h"

#include <stdarg.h>

enum { MAX_LINES = 20 };

void kc__gen_model_done(kc__gen_model *model)
{
    kc_vec_done(&model->packages);
    kc_arena_done(&model->arena);
}

const kc__gen_marker *kc__gen_marker_find(const kc__gen_markers *markers, const char *name)
{
    for (size_t i = markers->n; i > 0; i--)
        if (kc_str_is(markers->items[i - 1].name, name))
            return &markers->items[i - 1];
    return NULL;
}

static const kc__gen_arg *find_arg(const kc__gen_marker *marker, const char *name)
{
    for (size_t i = 0; marker && i < marker->n_args; i++)
        if (kc_str_is(marker->args[i].name, name))
            return &marker->args[i];
    return NULL;
}

kc_str kc__gen_marker_arg(const kc__gen_marker *marker, const char *name)
{
    const kc__gen_arg *arg = find_arg(marker, name);
    return arg ? arg->value : (kc_str){0};
}

kc_str kc__gen_marker_json(const kc__gen_marker *marker, const char *name)
{
    const kc__gen_arg *arg = find_arg(marker, name);
    return arg ? arg->json : (kc_str){0};
}

kc__gen_field kc__gen_flat(const kc__gen_field *field, kc_arena *arena)
{
    kc__gen_field flat = *field;
    const kc__gen_field *inner = field->inner;
    if (field->base != KC__GEN_INNER || field->shape != KC__GEN_VALUE)
        return flat;
    flat.shape = inner->shape;
    flat.pointers = inner->pointers;
    flat.base = inner->base;
    flat.type = inner->type;
    flat.inner = inner->inner;
    if (inner->shape == KC__GEN_LIST)
        flat.count = kc_cstr(kc_arena_printf(arena, "%.*s.n", KC_ARG(field->c_name)));
    return flat;
}

static size_t lines_of(const char *text)
{
    size_t n = 1;
    for (; *text; text++)
        n += *text == '\n';
    return n;
}

int kc__gen_error(kc_error *err, kc__gen_at at, const char *fmt, ...)
{
    kc_scoped(kc_buf) text = {0};
    const bool more = kc_error_has_reason(err, KC_INVALID);
    if (more && lines_of(kc_error_text(err)) >= MAX_LINES)
        return kc_error_result(err);
    if (more)
        kc_buf_printf(&text, "%s\n", kc_error_text(err));
    if (at.file)
        kc_buf_printf(&text, "%s:%u:%u: ", at.file, at.line, at.column);
    va_list args;
    va_start(args, fmt);
    kc_buf_vprintf(&text, fmt, args);
    va_end(args);
    return kc_error_set(err, KC_INVALID, "%s", kc_buf_cstr(&text));
}
