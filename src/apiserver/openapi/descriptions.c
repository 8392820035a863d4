/* SPDX-License-Identifier: Apache-2.0 */
/*
 * descriptions.c: unpacks the words of the definitions, and finds those of a type or field.
 *
 * They lie in the program as one packed block, a tenth of what they are unpacked, and cost memory
 * only while a document is written. Messages and fields of the tables are arrays, so where an
 * element stands in its array is also where its text stands in the index: no names are compared.
 *
 * Threads: any; what is unpacked is the caller's alone.
 */
#include "apiserver/openapi/descriptions.h"

#include <assert.h>
#include <zlib.h>

struct kc__descriptions {
    size_t n;
    char block[];
};

kc__descriptions *kc__descriptions_open(void)
{
    size_t size = kc__n_descriptions_unpacked;
    kc__descriptions *texts = kc_alloc(sizeof(*texts) + size + 1);
    uLongf n = size;
    if (uncompress((Bytef *)texts->block, &n, kc__descriptions_packed, kc__n_descriptions_packed) !=
        Z_OK) {
        free(texts); /* No memory for zlib. */
        return NULL;
    }
    texts->n = n;
    texts->block[n] = 0;
    return texts;
}

kc__descriptions *kc__descriptions_close(kc__descriptions *texts)
{
    free(texts);
    return NULL;
}

static kc_str text_at(const kc__descriptions *texts, size_t index)
{
    assert(index < kc__n_description_places);
    if (!texts || kc__description_places[index] >= texts->n)
        return (kc_str){0};
    return kc_cstr(texts->block + kc__description_places[index]);
}

/* The number of fields of all messages: those of the last end the array. */
static size_t n_fields(void)
{
    const kc__message *last = kc__definitions[kc__n_definitions - 1];
    return (size_t)(last->fields + last->n_fields - kc__definitions[0]->fields);
}

/* The place of something in an array; `n` of it when it is in none: types that are written here are
 * not described. */
static size_t place_in(const void *array, size_t size, size_t n, const void *item)
{
    uintptr_t first = (uintptr_t)array, at = (uintptr_t)item;
    return at < first || at >= first + n * size ? n : (at - first) / size;
}

kc_str kc__describe_message(const kc__descriptions *texts, const kc__message *message)
{
    size_t place = place_in(kc__definitions[0], sizeof(kc__message), kc__n_definitions, message);
    return place < kc__n_definitions ? text_at(texts, place) : (kc_str){0};
}

kc_str kc__describe_field(const kc__descriptions *texts, const kc__field *field)
{
    size_t n = n_fields();
    size_t place = place_in(kc__definitions[0]->fields, sizeof(kc__field), n, field);
    return place < n ? text_at(texts, kc__n_definitions + place) : (kc_str){0};
}

kc_str kc__describe_special(const kc__descriptions *texts, kc__field_kind kind)
{
    return text_at(texts, kc__n_definitions + n_fields() + (size_t)kind);
}
