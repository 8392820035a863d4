/* SPDX-License-Identifier: Apache-2.0 */
/* write_json.c: values as JSON. */
#include "cel/eval/eval_internal.h"

#include "kc/base64.h"
#include "kc/json.h"

#include <math.h>

static bool write_json(kc__cel_eval *ev, kc_cel_value value, kc_buf *out);

/* Bytes, timestamps and durations are strings in JSON. */
static void write_json_text(kc_cel_value value, kc_buf *out)
{
    kc_scoped(kc_buf) text = {0};
    if (value.kind == KC_CEL_BYTES)
        kc_base64_write(&text, value.text, KC_BASE64);
    else if (value.kind == KC_CEL_TIMESTAMP)
        kc__cel_write_timestamp(value, &text);
    else
        kc__cel_write_duration(value.integer, &text);
    kc_json_quote(out, kc_buf_str(&text));
}

static bool write_json_container(kc__cel_eval *ev, kc_cel_value value, kc_buf *out)
{
    bool list = value.kind == KC_CEL_LIST, first = true;
    kc__cel_iter iter;
    kc_cel_value key, item = {0};
    kc_buf_putc(out, list ? '[' : '{');
    bool iterates = kc__cel_iter_begin(ev, value, &iter);
    while (iterates && kc__cel_iter_next(ev, &iter, &key, list ? NULL : &item)) {
        if (item.kind == KC_CEL_ERROR && value.kind == KC_CEL_OBJECT && !list)
            continue; /* A null field counts as absent. */
        if (!first)
            kc_buf_putc(out, ',');
        first = false;
        if (!list) {
            if (key.kind != KC_CEL_STRING)
                return false;
            kc_json_quote(out, key.text);
            kc_buf_putc(out, ':');
        }
        if (!write_json(ev, list ? key : item, out))
            return false;
    }
    kc_buf_putc(out, list ? ']' : '}');
    return true;
}

static bool write_json_double(double d, kc_buf *out)
{
    if (!isfinite(d))
        return false;
    kc_json_write_double(out, d);
    return true;
}

static bool write_json(kc__cel_eval *ev, kc_cel_value value, kc_buf *out)
{
    switch ((kc_cel_kind)value.kind) {
    case KC_CEL_NULL: kc_buf_puts(out, "null"); return true;
    case KC_CEL_BOOL: kc_buf_puts(out, value.boolean ? "true" : "false"); return true;
    case KC_CEL_INT: kc_buf_printf(out, "%lld", (long long)value.integer); return true;
    case KC_CEL_UINT: kc_buf_printf(out, "%llu", (unsigned long long)value.natural); return true;
    case KC_CEL_DOUBLE: return write_json_double(value.number, out);
    case KC_CEL_STRING: kc_json_quote(out, value.text); return true;
    case KC_CEL_BYTES:
    case KC_CEL_TIMESTAMP:
    case KC_CEL_DURATION: write_json_text(value, out); return true;
    case KC_CEL_LIST:
    case KC_CEL_MAP:
    case KC_CEL_OBJECT: return write_json_container(ev, value, out);
    case KC_CEL_OPTIONAL: return value.inner && write_json(ev, *value.inner, out);
    case KC_CEL_DYN:
        return write_json(ev, kc__cel_read_json(ev, value.json.json, value.json.type), out);
    default: return false;
    }
}

bool kc_cel_write_json(kc_cel_value value, kc_buf *out)
{
    kc_scoped(kc_arena) arena = {0};
    kc__cel_eval ev = {.arena = &arena, .max_bytes = SIZE_MAX, .budget = UINT64_MAX};
    return write_json(&ev, value, out);
}
