/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fields.c: typed access to the fields of a cluster, user or context. Errors name the file, the
 * entry and the field: `kubeconfig a.yaml: user "bob": exec.args is not a list of strings`. Unknown
 * fields are ignored, as in other clients.
 */
#include "kubeconfig/kubeconfig_internal.h"

#include "kc/base64.h"

#include <stdarg.h>

void kc__kubeconfig_fields_fail(kc__kubeconfig_fields *f, const char *fmt, ...)
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

static bool kubeconfig_fields_is_absent(const kc_value *value)
{
    const kc_json_type type = kc_value_type(value);
    return type == KC_JSON_ABSENT || type == KC_JSON_NULL;
}

/* Copies a string value; rejects NUL bytes. */
static const char *kubeconfig_fields_copy_text(kc__kubeconfig_fields *f, const char *name,
                                               const kc_value *value)
{
    const kc_str text = kc_value_as_str(value);
    if (!text.p)
        kc__kubeconfig_fields_fail(f, "%s is not a string", name);
    else if (memchr(text.p, '\0', text.n))
        kc__kubeconfig_fields_fail(f, "%s contains a NUL byte", name);
    return f->failed ? "" : kc_arena_strndup(f->arena, text.p, text.n);
}

const char *kc__kubeconfig_field_text(kc__kubeconfig_fields *f, const char *name)
{
    const kc_value *value = kc_value_get(f->at, name);
    if (f->failed || kubeconfig_fields_is_absent(value))
        return NULL;
    const char *text = kubeconfig_fields_copy_text(f, name, value);
    return *text ? text : NULL;
}

bool kc__kubeconfig_field_bool(kc__kubeconfig_fields *f, const char *name)
{
    const kc_value *value = kc_value_get(f->at, name);
    if (f->failed || kubeconfig_fields_is_absent(value))
        return false;
    if (kc_value_type(value) != KC_JSON_BOOL)
        kc__kubeconfig_fields_fail(f, "%s is neither true nor false", name);
    return kc_value_as_bool(value, false);
}

const char *kc__kubeconfig_field_path(kc__kubeconfig_fields *f, const char *name)
{
    const char *path = kc__kubeconfig_field_text(f, name);
    const char *dir = f->entry->file->dir;
    if (!path || *path == '/' || !dir)
        return path;
    return kc_arena_printf(f->arena, "%s/%s", dir, path);
}

kc_str kc__kubeconfig_field_data(kc__kubeconfig_fields *f, const char *name)
{
    const char *text = kc__kubeconfig_field_text(f, name);
    kc_scoped(kc_buf) flat = {0};
    kc_scoped(kc_buf) bytes = {0};
    /* Base64 text is often wrapped into lines. */
    for (; text && *text; text++)
        if (*text != '\n' && *text != '\r')
            kc_buf_putc(&flat, *text);
    if (!kc_base64_read(&bytes, kc_buf_str(&flat), KC_BASE64))
        kc__kubeconfig_fields_fail(f, "%s is not base64", name);
    return f->failed || !bytes.n ? (kc_str){0} : kc_arena_str(f->arena, kc_buf_str(&bytes));
}

const char *const *kc__kubeconfig_field_texts(kc__kubeconfig_fields *f, const char *name)
{
    const kc_value *list = kc_value_get(f->at, name);
    size_t n = 0;
    if (f->failed || kubeconfig_fields_is_absent(list))
        return NULL;
    if (kc_value_type(list) != KC_JSON_ARRAY) {
        kc__kubeconfig_fields_fail(f, "%s is not a list of strings", name);
        return NULL;
    }
    const char **texts = kc_arena_calloc(f->arena, kc_value_len(list) + 1, sizeof(*texts));
    kc_value_each_item (list, item)
        texts[n++] = f->failed ? NULL : kubeconfig_fields_copy_text(f, name, item);
    return n && !f->failed ? texts : NULL;
}

const kc_value *kc__kubeconfig_field_object(kc__kubeconfig_fields *f, const char *name)
{
    const kc_value *value = kc_value_get(f->at, name);
    if (f->failed || kubeconfig_fields_is_absent(value))
        return NULL;
    if (kc_value_type(value) != KC_JSON_OBJECT)
        kc__kubeconfig_fields_fail(f, "%s is not an object", name);
    return f->failed ? NULL : value;
}
