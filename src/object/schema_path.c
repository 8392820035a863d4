/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema_path.c: the text of a place in a value. Walks keep only a chain of frames on their stacks;
 * text is made when there is something to say.
 */
#include "object/schema_internal.h"

static void write_step(kc_buf *out, const kc__frame *frame, kc__path_style style, size_t start)
{
    kc_str name = kc_str_of(frame->name, frame->n);
    if (frame->step == KC__STEP_INDEX) {
        kc_buf_printf(out, "[%zu]", frame->n);
        return;
    }
    if (frame->step == KC__STEP_ADDITIONAL && style == KC__PATH_FIELD) {
        kc_buf_putc(out, '[');
        kc_buf_append(out, name);
        kc_buf_putc(out, ']');
        return;
    }
    if (out->n > start || (frame->step == KC__STEP_ADDITIONAL && style == KC__PATH_BODY))
        kc_buf_putc(out, '.');
    kc_buf_append(out, name);
}

/* As deep as the value is, which is bounded. */
static void write_from(kc_buf *out, const kc__frame *frame, kc__path_style style, size_t start)
{
    if (frame->parent)
        write_from(out, frame->parent, style, start);
    write_step(out, frame, style, start);
}

void kc__path_write(kc_buf *out, const kc__frame *frame, kc__path_style style)
{
    if (frame)
        write_from(out, frame, style, out->n);
}
