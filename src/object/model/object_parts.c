/* SPDX-License-Identifier: Apache-2.0 */
/*
 * object_parts.c: stores the positions of an object's parts in few bytes, since every cached object
 * has them.
 *
 *     has 0000001101110111     one bit for each part that exists; the highest: WIDE
 *     [ text │ NUL │ at n │ at n │ … ]     for those, in the order of KC__OBJECT_PARTS
 *
 * Positions and lengths take two bytes each, or four in an object whose text and copies exceed 64
 * KB. A ConfigMap with owners has eight parts: 32 bytes.
 */
#include "object/model/object_internal.h"

enum { WIDE = 1 << 15 };

_Static_assert(KC__N_PARTS < 15, "a bit for each part, and one for WIDE");

typedef struct narrow_span {
    uint16_t at, n;
} narrow_span;

static size_t size_of_span(uint16_t has)
{
    return has & WIDE ? sizeof(kc__object_span) : sizeof(narrow_span);
}

static size_t object_parts_count(unsigned has)
{
    return (size_t)__builtin_popcount(has & (WIDE - 1));
}

static unsigned width(size_t text)
{
    return text + 1 + KC__N_PARTS * sizeof(kc__object_span) > UINT16_MAX ? WIDE : 0;
}

size_t kc__object_parts_most(size_t text)
{
    return KC__N_PARTS * size_of_span((uint16_t)width(text));
}

uint16_t kc__object_parts_shape(const kc__object_span *parts, size_t text)
{
    unsigned has = width(text);
    for (int i = 0; i < KC__N_PARTS; i++)
        if (parts[i].at)
            has |= 1u << i;
    return (uint16_t)has;
}

size_t kc__object_parts_size(uint16_t shape)
{
    return object_parts_count(shape) * size_of_span(shape);
}

void kc__object_parts_pack(kc_object *object, const kc__object_span *parts)
{
    char *out = object->text + object->n + 1;
    for (int i = 0; i < KC__N_PARTS; i++) {
        if (!parts[i].at)
            continue;
        const narrow_span narrow = {(uint16_t)parts[i].at, (uint16_t)parts[i].n};
        memcpy(out, object->has & WIDE ? (const void *)&parts[i] : &narrow,
               size_of_span(object->has));
        out += size_of_span(object->has);
    }
}

static kc__object_span read_span(const kc_object *object, size_t place)
{
    const char *in = object->text + object->n + 1 + place * size_of_span(object->has);
    kc__object_span span;
    narrow_span narrow;
    if (object->has & WIDE) {
        memcpy(&span, in, sizeof(span));
        return span;
    }
    memcpy(&narrow, in, sizeof(narrow));
    return (kc__object_span){narrow.at, narrow.n};
}

kc__object_span kc__object_part(const kc_object *object, int part)
{
    const unsigned bit = 1u << part;
    return object->has & bit ? read_span(object, object_parts_count(object->has & (bit - 1)))
                             : (kc__object_span){0};
}

void kc__object_parts_unpack(const kc_object *object, kc__object_span *ret_parts)
{
    size_t place = 0;
    for (int i = 0; i < KC__N_PARTS; i++)
        ret_parts[i] = object->has & (1u << i) ? read_span(object, place++) : (kc__object_span){0};
}
