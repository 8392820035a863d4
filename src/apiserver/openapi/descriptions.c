/* SPDX-License-Identifier: Apache-2.0 */
/*
 * descriptions.c: decompresses the descriptions of the API definitions, and finds that of a type or
 * field.
 *
 * The binary contains the descriptions as one compressed block, a tenth of their size; they take
 * memory only while a document is written. Messages and fields of the type tables are arrays, and
 * the index of an element in its array is also its index in the table of offsets: no names are
 * compared.
 *
 * Threads: any; the decompressed descriptions belong to the caller.
 */
#include "apiserver/openapi/descriptions.h"

#include <assert.h>
#include <zlib.h>

struct kc__openapi_descriptions {
    size_t n;
    char block[];
};

kc__openapi_descriptions *kc__openapi_descriptions_open(void)
{
    size_t size = kc__openapi_n_descriptions_unpacked;
    kc__openapi_descriptions *texts = kc_alloc(sizeof(*texts) + size + 1);
    uLongf n = size;
    if (uncompress((Bytef *)texts->block, &n, kc__openapi_descriptions_packed,
                   kc__openapi_n_descriptions_packed) != Z_OK) {
        free(texts); /* zlib is out of memory. */
        return NULL;
    }
    texts->n = n;
    texts->block[n] = 0;
    return texts;
}

kc__openapi_descriptions *kc__openapi_descriptions_close(kc__openapi_descriptions *texts)
{
    free(texts);
    return NULL;
}

static kc_str text_at(const kc__openapi_descriptions *texts, size_t index)
{
    assert(index < kc__openapi_n_description_offsets);
    if (!texts || kc__openapi_description_offsets[index] >= texts->n)
        return (kc_str){0};
    return kc_cstr(texts->block + kc__openapi_description_offsets[index]);
}

/* The number of fields of all messages: the last message's fields end the array. */
static size_t n_fields(void)
{
    const kc__type_message *last = kc__type_messages[kc__type_n_messages - 1];
    return (size_t)(last->fields + last->n_fields - kc__type_messages[0]->fields);
}

/* The index of an item in an array; `n` if it is not in the array: types that are defined here have
 * no description. */
static size_t place_in(const void *array, size_t size, size_t n, const void *item)
{
    uintptr_t first = (uintptr_t)array, at = (uintptr_t)item;
    return at < first || at >= first + n * size ? n : (at - first) / size;
}

kc_str kc__openapi_describe_message(const kc__openapi_descriptions *texts,
                                    const kc__type_message *message)
{
    size_t place =
        place_in(kc__type_messages[0], sizeof(kc__type_message), kc__type_n_messages, message);
    return place < kc__type_n_messages ? text_at(texts, place) : (kc_str){0};
}

kc_str kc__openapi_describe_field(const kc__openapi_descriptions *texts,
                                  const kc__type_field *field)
{
    size_t n = n_fields();
    size_t place = place_in(kc__type_messages[0]->fields, sizeof(kc__type_field), n, field);
    return place < n ? text_at(texts, kc__type_n_messages + place) : (kc_str){0};
}

kc_str kc__openapi_describe_special(const kc__openapi_descriptions *texts, kc__type_field_kind kind)
{
    return text_at(texts, kc__type_n_messages + n_fields() + (size_t)kind);
}
