/* SPDX-License-Identifier: Apache-2.0 */
/*
 * typed_error.c: type errors with the messages of Go's decoder.
 *
 *     json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32
 *
 * names the innermost struct and all fields down to the value, without indexes and map keys. The
 * path of an unknown field includes them: spec.containers[0].foo. Both are built only when needed,
 * from the frames of the open structs.
 */
#include "apiserver/codec/typed_internal.h"

#include "object/json/json_cursor.h"

static void write_frame_fields(kc_buf *out, const kc__typed_frame *frame)
{
    if (frame->up) {
        write_frame_fields(out, frame->up);
        kc_buf_putc(out, '.');
    }
    kc_buf_append(out, frame->field->name);
}

static void write_frame_path(kc_buf *out, const kc__typed_frame *frame)
{
    if (!frame)
        return;
    write_frame_path(out, frame->up);
    kc_buf_append(out, frame->field->name);
    if (frame->place == KC__TYPED_AT_INDEX) {
        kc_buf_printf(out, "[%zu]", frame->index);
    } else if (frame->place == KC__TYPED_AT_KEY) {
        kc_buf_putc(out, '.');
        kc__json_unescape_to(out, frame->key);
    }
    kc_buf_putc(out, '.');
}

void kc__typed_report_unknown(kc__typed *t, const kc__typed_frame *frame, kc_str raw_name)
{
    if (!t->unknown || t->unknown->n >= KC__TYPED_MAX_STRICT_ERRORS)
        return;
    kc_scoped(kc_buf) path = {0};
    write_frame_path(&path, frame);
    kc__json_unescape_to(&path, raw_name);
    kc_vec_push(t->unknown, kc_buf_take(&path));
}

/* Returns the type of an element or map value, given the type of the whole: "[]v1.Container". */
static const char *element_type(const kc__type_field *field)
{
    const char *type = field->go_type ? field->go_type : "";
    if (strncmp(type, "[]", strlen("[]")) == 0)
        return type + strlen("[]");
    const char *bracket = strncmp(type, "map[", strlen("map[")) == 0 ? strchr(type, ']') : NULL;
    if (bracket)
        return bracket + 1;
    /* A named type, whose name does not contain its element type. */
    return field->message ? field->message->go_name : "string";
}

static const char *go_type(const kc__typed_frame *frame, const kc__type_field *field)
{
    if (frame->place != KC__TYPED_AT_FIELD || field != frame->field)
        return element_type(field);
    return field->go_type ? field->go_type : "";
}

/* Writes Go's name of the value found: "string", "number". For a number type, includes the
 * number that does not fit. */
static void write_found(kc_buf *out, kc__typed *t, kc_str type)
{
    bool numbers = kc_str_starts(type, KC_STR("int32")) || kc_str_starts(type, KC_STR("int64")) ||
                   kc_str_starts(type, KC_STR("uint")) || kc_str_starts(type, KC_STR("float"));
    switch (*t->at) {
    case '"': kc_buf_puts(out, "string"); break;
    case '{': kc_buf_puts(out, "object"); break;
    case '[': kc_buf_puts(out, "array"); break;
    case 't':
    case 'f': kc_buf_puts(out, "bool"); break;
    default:
        kc_buf_puts(out, numbers ? "number " : "number");
        if (numbers)
            kc_buf_append(out, kc__typed_word(t));
    }
}

static void set_mismatch(kc__typed *t, const kc__typed_frame *frame, const char *type)
{
    kc_scoped(kc_buf) found = {0};
    kc_scoped(kc_buf) fields = {0};
    write_found(&found, t, kc_cstr(type));
    write_frame_fields(&fields, frame);
    const char *name = frame->message->go_name, *dot = strrchr(name, '.');
    kc_error_set(t->err, KC_BAD_REQUEST,
                 "json: cannot unmarshal %s into Go struct field %s.%s of type %s",
                 kc_buf_cstr(&found), dot ? dot + 1 : name, kc_buf_cstr(&fields), type);
}

kc__typed_result kc__typed_mismatch(kc__typed *t, const kc__typed_frame *frame,
                                    const kc__type_field *field)
{
    const char *at = t->at;
    if (!t->failed)
        set_mismatch(t, frame, go_type(frame, field));
    t->failed = true;
    t->at = at;
    kc__typed_skip(t);
    return KC__TYPED_KEPT;
}

kc__typed_result kc__typed_mismatch_final(kc__typed *t, const kc__typed_frame *frame,
                                          const char *type)
{
    set_mismatch(t, frame, type);
    t->failed = true;
    return KC__TYPED_STOPPED;
}

kc__typed_result kc__typed_fail(kc__typed *t, kc_error *from)
{
    kc_error_move(t->err, from);
    t->failed = true;
    return KC__TYPED_STOPPED;
}

void kc__typed_refuse_base64(kc__typed *t, size_t position)
{
    if (!t->failed)
        kc_error_set(t->err, KC_BAD_REQUEST, "illegal base64 data at input byte %zu", position);
    t->failed = true;
}
