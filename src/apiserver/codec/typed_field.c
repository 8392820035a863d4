/* SPDX-License-Identifier: Apache-2.0 */
/*
 * typed_field.c: the fields of a struct in JSON: its own and those of its embedded structs.
 *
 * An embedded struct is a field without a name at its position; in JSON its fields appear at that
 * position. So the place of a field among all fields is a path of indexes. As there are few fields
 * and few levels, the path is packed into one number, one byte per level, outermost first:
 * comparing places gives the order of the fields.
 *
 *     struct Volume { Name; VolumeSource { HostPath; EmptyDir; … } }
 *                     0x000000            0x010000    0x010100
 */
#include "apiserver/codec/typed_internal.h"

enum { MOST_FIELDS = 256, TOP = 16, LEVEL = 8 };

static const kc__type_field *own_field(const kc__type_message *message, kc_str name)
{
    size_t low = 0, high = message->n_fields;
    while (low < high) {
        size_t middle = (low + high) / 2;
        const kc__type_field *field = &message->fields[message->by_name[middle]];
        int order = kc_str_cmp(name, field->name);
        if (!order)
            return field;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

static uint32_t place_in(uint32_t base, size_t index, unsigned shift)
{
    return base | (uint32_t)index << shift;
}

static const kc__type_field *find_typed_field(const kc__type_message *message, kc_str name,
                                              uint32_t base, unsigned shift, uint32_t *ret_place)
{
    assert(message->n_fields <= MOST_FIELDS);
    const kc__type_field *field = own_field(message, name);
    if (field) {
        *ret_place = place_in(base, (size_t)(field - message->fields), shift);
        return field;
    }
    /* Embedded structs have no name, so they sort first. */
    for (size_t i = 0; i < message->n_fields && shift; i++) {
        size_t index = message->by_name[i];
        const kc__type_field *embedded = &message->fields[index];
        if (!(embedded->marks & KC__INLINE))
            return NULL;
        field = find_typed_field(embedded->message, name, place_in(base, index, shift),
                                 shift - LEVEL, ret_place);
        if (field)
            return field;
    }
    return NULL;
}

const kc__type_field *kc__typed_find(const kc__type_message *message, kc_str name, uint32_t after,
                                     uint32_t *ret_place)
{
    if (!name.n)
        return NULL;
    size_t next = after >> TOP;
    for (size_t i = next; i < KC_MIN(next + 2, (size_t)message->n_fields); i++) {
        if (kc_str_eq(message->fields[i].name, name)) {
            *ret_place = place_in(0, i, TOP);
            return &message->fields[i];
        }
    }
    return find_typed_field(message, name, 0, TOP, ret_place);
}

static bool each(const kc__type_message *message, uint32_t base, unsigned shift,
                 kc__typed_field_visitor *visit, void *user)
{
    for (size_t i = 0; i < message->n_fields; i++) {
        const kc__type_field *field = &message->fields[i];
        uint32_t place = place_in(base, i, shift);
        bool go_on = field->marks & KC__INLINE
                         ? !shift || each(field->message, place, shift - LEVEL, visit, user)
                         : visit(field, place, user);
        if (!go_on)
            return false;
    }
    return true;
}

bool kc__typed_each_field(const kc__type_message *message, kc__typed_field_visitor *visit,
                          void *user)
{
    return each(message, 0, TOP, visit, user);
}
