/* SPDX-License-Identifier: Apache-2.0 */
/*
 * object_parts.c: where the parts of an object stand in its text, in as few bytes as that takes,
 * since every cached object has them.
 *
 *     has 0000001101110111     one bit for each part that is there; the highest: WIDE
 *     [ text │ NUL │ at n │ at n │ … ]     for those, in the order of KC__PARTS
 *
 * Positions and lengths take two bytes each, or four in an object whose text, with what stands
 * behind it, is beyond 64 KB. A ConfigMap has seven parts: 28 bytes.
 */
#include "object/object_internal.h"

enum { WIDE = 1 << 15 };

_Static_assert(KC__N_PARTS < 15, "a bit for each part, and one for WIDE");

typedef struct narrow_span {
    uint16_t at, n;
} narrow_span;

static size_t size_of_span(uint16_t has)
{
    return has & WIDE ? sizeof(kc__span) : sizeof(narrow_span);
}

static size_t count(unsigned has)
{
    return (size_t)__builtin_popcount(has & (WIDE - 1));
}

static unsigned width(size_t text)
{
    return text + 1 + KC__N_PARTS * sizeof(kc__span) > UINT16_MAX ? WIDE : 0;
}

size_t kc__parts_most(size_t text)
{
    return KC__N_PARTS * size_of_span((uint16_t)width(text));
}

uint16_t kc__parts_shape(const kc__span *parts, size_t text)
{
    unsigned has = width(text);
    for (int i = 0; i < KC__N_PARTS; i++)
        if (parts[i].at)
            has |= 1u << i;
    return (uint16_t)has;
}

size_t kc__parts_size(uint16_t shape)
{
    return count(shape) * size_of_span(shape);
}

void kc__parts_pack(kc_object *object, const kc__span *parts)
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

static kc__span read_span(const kc_object *object, size_t place)
{
    const char *in = object->text + object->n + 1 + place * size_of_span(object->has);
    kc__span span;
    narrow_span narrow;
    if (object->has & WIDE) {
        memcpy(&span, in, sizeof(span));
        return span;
    }
    memcpy(&narrow, in, sizeof(narrow));
    return (kc__span){narrow.at, narrow.n};
}

kc__span kc__part(const kc_object *object, int part)
{
    const unsigned bit = 1u << part;
    return object->has & bit ? read_span(object, count(object->has & (bit - 1))) : (kc__span){0};
}

void kc__parts_unpack(const kc_object *object, kc__span *ret_parts)
{
    size_t place = 0;
    for (int i = 0; i < KC__N_PARTS; i++)
        ret_parts[i] = object->has & (1u << i) ? read_span(object, place++) : (kc__span){0};
}
