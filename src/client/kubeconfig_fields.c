/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kubeconfig_fields.c: the fields of a cluster, a user or a context, with their types. Errors name
 * the file, the entry and the field: `kubeconfig a.yaml: user "bob": exec.args is not a list of
 * strings`. Unknown fields are ignored, as they are by others who read the same file.
 */
#include "client/kubeconfig_internal.h"

#include "kc/base64.h"

#include <stdarg.h>

void kc__fields_fail(kc__fields *f, const char *fmt, ...)
{
    va_list args;
    if (f->failed)
        return;
    f->failed = true;
    kc_scoped(kc_buf) text = {0};
    va_start(args, fmt);
    kc_buf_vprintf(&text, fmt, args);
    va_end(args);
    kc_error_set(f->err, KC_BAD_REQUEST, "kubeconfig %s: %s \"%.*s\": %s%s", f->entry->file->name,
                 f->entry->what, KC_ARG(f->entry->name), f->in, kc_buf_cstr(&text));
}

static bool is_absent(const kc_value *value)
{
    const kc_type type = kc_type_of(value);
    return type == KC_ABSENT || type == KC_NULL;
}

/* Of a value that is text without NUL bytes. */
static const char *copy_text(kc__fields *f, const char *name, const kc_value *value)
{
    const kc_str text = kc_as_str(value);
    if (!text.p)
        kc__fields_fail(f, "%s is not a string", name);
    else if (memchr(text.p, '\0', text.n))
        kc__fields_fail(f, "%s holds a NUL byte", name);
    return f->failed ? "" : kc_arena_strndup(f->arena, text.p, text.n);
}

const char *kc__field_text(kc__fields *f, const char *name)
{
    const kc_value *value = kc_get(f->at, name);
    if (f->failed || is_absent(value))
        return NULL;
    const char *text = copy_text(f, name, value);
    return *text ? text : NULL;
}

bool kc__field_flag(kc__fields *f, const char *name)
{
    const kc_value *value = kc_get(f->at, name);
    if (f->failed || is_absent(value))
        return false;
    if (kc_type_of(value) != KC_BOOL)
        kc__fields_fail(f, "%s is neither true nor false", name);
    return kc_as_bool(value, false);
}

const char *kc__field_path(kc__fields *f, const char *name)
{
    const char *path = kc__field_text(f, name);
    const char *folder = f->entry->file->folder;
    if (!path || *path == '/' || !folder)
        return path;
    return kc_arena_printf(f->arena, "%s/%s", folder, path);
}

kc_str kc__field_data(kc__fields *f, const char *name)
{
    const char *text = kc__field_text(f, name);
    kc_scoped(kc_buf) flat = {0};
    kc_scoped(kc_buf) bytes = {0};
    /* Long text is often written in lines. */
    for (; text && *text; text++)
        if (*text != '\n' && *text != '\r')
            kc_buf_putc(&flat, *text);
    if (!kc_base64_read(&bytes, kc_buf_str(&flat), KC_BASE64))
        kc__fields_fail(f, "%s is not base64", name);
    return f->failed || !bytes.n ? (kc_str){0} : kc_arena_str(f->arena, kc_buf_str(&bytes));
}

const char *const *kc__field_texts(kc__fields *f, const char *name)
{
    const kc_value *list = kc_get(f->at, name);
    size_t n = 0;
    if (f->failed || is_absent(list))
        return NULL;
    if (kc_type_of(list) != KC_ARRAY) {
        kc__fields_fail(f, "%s is not a list of strings", name);
        return NULL;
    }
    const char **texts = kc_arena_calloc(f->arena, kc_len(list) + 1, sizeof(*texts));
    kc_items (list, item)
        texts[n++] = f->failed ? NULL : copy_text(f, name, item);
    return n && !f->failed ? texts : NULL;
}

const kc_value *kc__field_object(kc__fields *f, const char *name)
{
    const kc_value *value = kc_get(f->at, name);
    if (f->failed || is_absent(value))
        return NULL;
    if (kc_type_of(value) != KC_OBJECT)
        kc__fields_fail(f, "%s is not an object", name);
    return f->failed ? NULL : value;
}
