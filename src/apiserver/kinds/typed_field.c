/* SPDX-License-Identifier: Apache-2.0 */
/*
 * typed_field.c: the fields a struct has in JSON: its own and those of the structs embedded in it.
 *
 * An embedded struct is a field without a name at its place, and its fields stand there in JSON. So
 * a field's place among all is a path of indexes. As there are few fields and few levels, the path
 * is packed into one number, a byte a level, outermost first: places compare as the fields stand.
 *
 *     struct Volume { Name; VolumeSource { HostPath; EmptyDir; … } }
 *                     0x000000            0x010000    0x010100
 */
#include "apiserver/kinds/typed_internal.h"

enum { MOST_FIELDS = 256, TOP = 16, LEVEL = 8 };

static const kc__field *own_field(const kc__message *message, kc_str name)
{
    size_t low = 0, high = message->n_fields;
    while (low < high) {
        size_t middle = (low + high) / 2;
        const kc__field *field = &message->fields[message->by_name[middle]];
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

static const kc__field *find(const kc__message *message, kc_str name, uint32_t base, unsigned shift,
                             uint32_t *ret_place)
{
    assert(message->n_fields <= MOST_FIELDS);
    const kc__field *field = own_field(message, name);
    if (field) {
        *ret_place = place_in(base, (size_t)(field - message->fields), shift);
        return field;
    }
    /* Embedded structs have no name, so they come first. */
    for (size_t i = 0; i < message->n_fields && shift; i++) {
        size_t index = message->by_name[i];
        const kc__field *embedded = &message->fields[index];
        if (!(embedded->marks & KC__INLINE))
            return NULL;
        field =
            find(embedded->message, name, place_in(base, index, shift), shift - LEVEL, ret_place);
        if (field)
            return field;
    }
    return NULL;
}

const kc__field *kc__typed_find(const kc__message *message, kc_str name, uint32_t after,
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
    return find(message, name, 0, TOP, ret_place);
}

static bool each(const kc__message *message, uint32_t base, unsigned shift,
                 kc__field_visitor *visit, void *user)
{
    for (size_t i = 0; i < message->n_fields; i++) {
        const kc__field *field = &message->fields[i];
        uint32_t place = place_in(base, i, shift);
        bool go_on = field->marks & KC__INLINE
                         ? !shift || each(field->message, place, shift - LEVEL, visit, user)
                         : visit(field, place, user);
        if (!go_on)
            return false;
    }
    return true;
}

bool kc__typed_each_field(const kc__message *message, kc__field_visitor *visit, void *user)
{
    return each(message, 0, TOP, visit, user);
}
