/* SPDX-License-Identifier: Apache-2.0 */
/*
 * template.c: see template.h. The hash is 32-bit FNV-1a; its decimal digits are replaced by letters
 * and digits that are safe in names, as in Kubernetes. The input is the canonical text, not Go's
 * print of a struct, so the names look like those of a Kubernetes controller but differ from them.
 * Templates are matched by comparison, never by hash alone, so that ReplicaSets created by a
 * Kubernetes controller are taken over as they are.
 */
#include "common/template.h"

#include "kc/json.h"
#include "kc/vec.h"

#include <stdio.h>

/* ---- canonical text ---- */

typedef struct common_template_member {
    kc_str name;
    const kc_value *value;
} common_template_member;

static int common_template_by_name(const void *a, const void *b)
{
    return kc_str_cmp(((const common_template_member *)a)->name,
                      ((const common_template_member *)b)->name);
}

static bool common_template_write_value(kc_buf *out, const kc_value *value, const char *without);

static bool common_template_write_object(kc_buf *out, const kc_value *object, const char *without)
{
    KC_VEC(common_template_member) members = {0};
    kc_value_each_member (object, name, value)
        if (!without || !kc_str_is(name, without))
            kc_vec_push(&members, (common_template_member){name, value});
    kc_vec_sort(&members, common_template_by_name);
    bool some = false;
    kc_buf_putc(out, '{');
    kc_vec_each (&members, m) {
        const size_t before = out->n;
        if (some)
            kc_buf_putc(out, ',');
        kc_json_quote(out, m->name);
        kc_buf_putc(out, ':');
        if (common_template_write_value(out, m->value, NULL))
            some = true;
        else
            out->n = before;
    }
    kc_buf_putc(out, '}');
    kc_vec_done(&members);
    return some;
}

static bool common_template_write_array(kc_buf *out, const kc_value *array)
{
    bool some = false;
    kc_buf_putc(out, '[');
    kc_value_each_item (array, item) {
        if (some)
            kc_buf_putc(out, ',');
        common_template_write_value(out, item, NULL);
        some = true;
    }
    kc_buf_putc(out, ']');
    return some;
}

/* Returns false if the value is empty, which counts as absent. Leaves `without` out of an
 * object. */
static bool common_template_write_value(kc_buf *out, const kc_value *value, const char *without)
{
    switch (kc_value_type(value)) {
    case KC_JSON_OBJECT: return common_template_write_object(out, value, without);
    case KC_JSON_ARRAY: return common_template_write_array(out, value);
    default: kc_json_write(out, value); return kc_value_type(value) > KC_JSON_NULL;
    }
}

static void write_part(kc_buf *out, const char *name, const kc_value *part, const char *without)
{
    const size_t before = out->n;
    kc_buf_puts(out, name);
    if (!common_template_write_value(out, part, without))
        out->n = before;
}

char *kc__common_template_text(kc_str json)
{
    kc_scoped(kc_buf) text = {0};
    kc_auto(kc_view) *view = kc_view_parse(json, NULL, NULL);
    const kc_value *root = kc_view_root(view), *metadata = kc_value_get(root, "metadata");
    write_part(&text, "labels", kc_value_get(metadata, "labels"), KC__COMMON_HASH_LABEL);
    write_part(&text, "annotations", kc_value_get(metadata, "annotations"), NULL);
    write_part(&text, "finalizers", kc_value_get(metadata, "finalizers"), NULL);
    write_part(&text, "spec", kc_value_get(root, "spec"), NULL);
    return kc_buf_take(&text);
}

/* ---- hash ---- */

static uint32_t fnv(uint32_t hash, const void *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ ((const uint8_t *)bytes)[i]) * UINT32_C(16777619);
    return hash;
}

kc_str kc__common_template_hash(kc_str text, int64_t collisions, char out[KC__COMMON_HASH_TEXT])
{
    static const char safe[] = "bcdfghjklmnpqrstvwxz2456789";
    uint32_t hash = fnv(UINT32_C(2166136261), text.p, text.n);
    if (collisions >= 0) {
        uint8_t bytes[8] = {0};
        for (int i = 0; i < 4; i++)
            bytes[i] = (uint8_t)(collisions >> (8 * i));
        hash = fnv(hash, bytes, sizeof(bytes));
    }
    int n = snprintf(out, KC__COMMON_HASH_TEXT, "%u", hash);
    for (int i = 0; i < n; i++)
        out[i] = safe[(unsigned char)out[i] % (sizeof(safe) - 1)];
    return kc_str_of(out, (size_t)n);
}
