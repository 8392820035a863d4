/* SPDX-License-Identifier: Apache-2.0 */
/*
 * template.c: see template.h. The hash is FNV-1a of 32 bits, its decimal digits replaced by letters
 * and digits that are safe in names, as Kubernetes does; what is hashed is the canonical text, not
 * Go's print of a struct, so that the names differ from those a Kubernetes controller would choose,
 * but look alike. A template is recognised by comparing, never by its hash alone, so that sets made
 * elsewhere are taken over as they are.
 */
#include "common/template.h"

#include "kc/json.h"
#include "kc/vec.h"

#include <stdio.h>

/* ---- canonical text ---- */

typedef struct member {
    kc_str name;
    const kc_value *value;
} member;

static int by_name(const void *a, const void *b)
{
    return kc_str_cmp(((const member *)a)->name, ((const member *)b)->name);
}

static bool write_value(kc_buf *out, const kc_value *value, const char *without);

static bool write_object(kc_buf *out, const kc_value *object, const char *without)
{
    KC_VEC(member) members = {0};
    kc_members (object, name, value)
        if (!without || !kc_str_is(name, without))
            kc_vec_push(&members, (member){name, value});
    kc_vec_sort(&members, by_name);
    bool some = false;
    kc_buf_putc(out, '{');
    kc_vec_each (&members, m) {
        const size_t before = out->n;
        if (some)
            kc_buf_putc(out, ',');
        kc_json_quote(out, m->name);
        kc_buf_putc(out, ':');
        if (write_value(out, m->value, NULL))
            some = true;
        else
            out->n = before;
    }
    kc_buf_putc(out, '}');
    kc_vec_done(&members);
    return some;
}

static bool write_array(kc_buf *out, const kc_value *array)
{
    bool some = false;
    kc_buf_putc(out, '[');
    kc_items (array, item) {
        if (some)
            kc_buf_putc(out, ',');
        write_value(out, item, NULL);
        some = true;
    }
    kc_buf_putc(out, ']');
    return some;
}

/* False when it is empty, and so as good as absent. `without` is left out of an object. */
static bool write_value(kc_buf *out, const kc_value *value, const char *without)
{
    switch (kc_type_of(value)) {
    case KC_OBJECT: return write_object(out, value, without);
    case KC_ARRAY: return write_array(out, value);
    default: kc_json_write(out, value); return kc_type_of(value) > KC_NULL;
    }
}

static void write_part(kc_buf *out, const char *name, const kc_value *part, const char *without)
{
    const size_t before = out->n;
    kc_buf_puts(out, name);
    if (!write_value(out, part, without))
        out->n = before;
}

char *kc__template_text(kc_str json)
{
    kc_scoped(kc_buf) text = {0};
    kc_auto(kc_view) *view = kc_view_parse(json, NULL, NULL);
    const kc_value *root = kc_view_root(view), *metadata = kc_get(root, "metadata");
    write_part(&text, "labels", kc_get(metadata, "labels"), KC__HASH_LABEL);
    write_part(&text, "annotations", kc_get(metadata, "annotations"), NULL);
    write_part(&text, "finalizers", kc_get(metadata, "finalizers"), NULL);
    write_part(&text, "spec", kc_get(root, "spec"), NULL);
    return kc_buf_take(&text);
}

/* ---- hash ---- */

static uint32_t fnv(uint32_t hash, const void *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ ((const uint8_t *)bytes)[i]) * UINT32_C(16777619);
    return hash;
}

kc_str kc__template_hash(kc_str text, int64_t collisions, char out[KC__HASH_TEXT])
{
    static const char safe[] = "bcdfghjklmnpqrstvwxz2456789";
    uint32_t hash = fnv(UINT32_C(2166136261), text.p, text.n);
    if (collisions >= 0) {
        uint8_t bytes[8] = {0};
        for (int i = 0; i < 4; i++)
            bytes[i] = (uint8_t)(collisions >> (8 * i));
        hash = fnv(hash, bytes, sizeof(bytes));
    }
    int n = snprintf(out, KC__HASH_TEXT, "%u", hash);
    for (int i = 0; i < n; i++)
        out[i] = safe[(unsigned char)out[i] % (sizeof(safe) - 1)];
    return kc_str_of(out, (size_t)n);
}
