/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema_path.c: the text of a path inside a value. Traversals keep only a chain of frames on their
 * stacks; the text is built when an error is reported.
 */
#include "object/schema/schema_internal.h"

static void write_step(kc_buf *out, const kc__schema_path_frame *frame, kc__schema_path_style style,
                       size_t start)
{
    kc_str name = kc_str_of(frame->name, frame->n);
    if (frame->step == KC__SCHEMA_STEP_INDEX) {
        kc_buf_printf(out, "[%zu]", frame->n);
        return;
    }
    if (frame->step == KC__SCHEMA_STEP_ADDITIONAL && style == KC__SCHEMA_PATH_FIELD) {
        kc_buf_putc(out, '[');
        kc_buf_append(out, name);
        kc_buf_putc(out, ']');
        return;
    }
    if (out->n > start ||
        (frame->step == KC__SCHEMA_STEP_ADDITIONAL && style == KC__SCHEMA_PATH_BODY))
        kc_buf_putc(out, '.');
    kc_buf_append(out, name);
}

/* Recursion is as deep as the value, which is bounded. */
static void write_from(kc_buf *out, const kc__schema_path_frame *frame, kc__schema_path_style style,
                       size_t start)
{
    if (frame->parent)
        write_from(out, frame->parent, style, start);
    write_step(out, frame, style, start);
}

void kc__schema_path_write(kc_buf *out, const kc__schema_path_frame *frame,
                           kc__schema_path_style style)
{
    if (frame)
        write_from(out, frame, style, out->n);
}
