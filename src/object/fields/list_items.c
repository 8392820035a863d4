/* SPDX-License-Identifier: Apache-2.0 */
/*
 * list_items.c: the items of associative lists, identified by their keys or values.
 *
 * To match the items of two lists, both are put into one array that is sorted by element: equal
 * items are then neighbours, those of the first list before those of the second. So matching takes
 * n log n steps, whatever the lists contain.
 */
#include "object/fields/fields_internal.h"

static void print_key_names(kc_buf *out, const kc__fields_type *list)
{
    kc_buf_putc(out, '[');
    for (uint32_t i = 0; i < list->n_keys; i++) {
        kc_buf_puts(out, i ? " " : "");
        kc_json_quote(out, list->keys[i].name);
    }
    kc_buf_putc(out, ']');
}

static bool no_element(kc__fields_element *ret, kc_buf *why, const char *text)
{
    *ret = (kc__fields_element){.kind = KC__FIELDS_INVALID};
    if (why)
        kc_buf_puts(why, text);
    return false;
}

/* The value of a key of an item, which may be its default; NULL for none. */
static const kc_value *key_value(const kc_value *item, const kc__fields_list_key *key)
{
    kc__fields_each_member(item,
                           name) if (kc_str_eq(kc__fields_text(name), key->name)) return name +
        1;
    return key->default_value;
}

static bool keyed_element(kc_arena *arena, const kc__fields_type *list, const kc_value *item,
                          kc__fields_element *ret, kc_buf *why)
{
    if (kc__fields_is_null(item))
        return no_element(ret, why, "associative list with keys may not have a null element");
    if (!kc__fields_is_object(item))
        return no_element(ret, why, "associative list with keys may not have non-map elements");
    kc__fields_key_part *parts = kc_arena_alloc(arena, list->n_keys * sizeof(*parts));
    uint32_t n = 0;
    for (uint32_t i = 0; i < list->n_keys; i++) {
        const kc_value *value = key_value(item, &list->keys[i]);
        if (value)
            parts[n++] = (kc__fields_key_part){list->keys[i].name, value};
        else if (!list->items->has_object) {
            no_element(ret, why, "couldn't find default value for ");
            if (why)
                kc_buf_printf(why, "%.*s: associative list may not have non-map types",
                              KC_ARG(list->keys[i].name));
            return false;
        }
    }
    if (n) {
        *ret = kc__fields_key(parts, n);
        return true;
    }
    no_element(ret, why, "associative list with keys has an element that omits all key fields ");
    if (why) {
        print_key_names(why, list);
        kc_buf_puts(why, " (and doesn't have default values for any key fields)");
    }
    return false;
}

bool kc__fields_item_element(kc_arena *arena, const kc__fields_type *list, const kc_value *item,
                             kc__fields_element *ret, kc_buf *why)
{
    if (list->list_relation != KC__FIELDS_ASSOCIATIVE)
        return no_element(ret, why, "invalid indexing of non-associative list");
    if (list->n_keys)
        return keyed_element(arena, list, item, ret, why);
    if (kc__fields_is_object(item))
        return no_element(ret, why,
                          "associative list without keys has an element that's a map type");
    if (kc__fields_is_list(item))
        return no_element(ret, why, "not supported: associative list with lists as elements");
    if (kc__fields_is_null(item))
        return no_element(ret, why,
                          "associative list without keys has an element that's an explicit null");
    *ret = kc__fields_value_element(item);
    return true;
}

bool kc__fields_item_is_valid(const kc__fields_type *list, const kc_value *item)
{
    bool container = kc__fields_is_object(item) || kc__fields_is_list(item);
    size_t found = 0;
    if (list->list_relation != KC__FIELDS_ASSOCIATIVE || kc__fields_is_null(item))
        return false;
    if (!list->n_keys)
        return !container;
    if (!kc__fields_is_object(item))
        return false;
    for (uint32_t i = 0; i < list->n_keys; i++)
        found += key_value(item, &list->keys[i]) != NULL;
    return found == list->n_keys || (found && list->items->has_object);
}

bool kc__fields_items_match(const kc__fields_type *list, const kc_value *a, const kc_value *b)
{
    if (!list->n_keys)
        return kc__fields_value_cmp(a, b) == 0;
    if (!kc__fields_is_object(a) || !kc__fields_is_object(b))
        return false;
    for (uint32_t i = 0; i < list->n_keys; i++) {
        const kc_value *left = key_value(a, &list->keys[i]), *right = key_value(b, &list->keys[i]);
        if (left != right && (!left || !right || kc__fields_value_cmp(left, right) != 0))
            return false;
    }
    return true;
}

/* Most keys are one string, and differ in its first eight bytes. */
static int elements_cmp(const kc__fields_item *a, const kc__fields_item *b)
{
    if (a->has_first && b->has_first && a->first != b->first)
        return a->first < b->first ? -1 : 1;
    return kc__fields_element_cmp(&a->element, &b->element);
}

static int items_cmp(const void *a, const void *b)
{
    const kc__fields_item *left = a, *right = b;
    int order = elements_cmp(left, right);
    if (order)
        return order;
    if (left->right != right->right)
        return left->right ? 1 : -1;
    return left->at < right->at ? -1 : left->at > right->at;
}

static void sort_items(kc__fields_item *items, size_t n)
{
    if (n > 12) {
        qsort(items, n, sizeof(*items), items_cmp);
        return;
    }
    for (size_t i = 1; i < n; i++) {
        kc__fields_item item = items[i];
        size_t at = i;
        for (; at > 0 && items_cmp(&item, &items[at - 1]) < 0; at--)
            items[at] = items[at - 1];
        items[at] = item;
    }
}

static void note_first(const kc__fields_type *list, kc__fields_item *item)
{
    if (list->n_keys != 1 || item->element.kind != KC__FIELDS_KEY)
        return;
    const kc_value *value = item->element.parts->value;
    if (!kc__fields_is(value, YYJSON_TYPE_STR))
        return;
    const kc_str text = kc__fields_text(value);
    item->first = kc__fields_name_order(text.p, text.n);
    item->has_first = true;
}

static size_t add_items(kc_arena *arena, const kc__fields_type *type, const kc_value *list,
                        kc__fields_item *items, bool right)
{
    uint32_t n = 0;
    if (!list)
        return 0;
    kc__fields_each_item(list, item)
    {
        items[n] = (kc__fields_item){.value = item, .at = n, .right = right};
        kc__fields_item_element(arena, type, item, &items[n].element, NULL);
        note_first(type, &items[n]);
        n++;
    }
    return n;
}

kc__fields_items kc__fields_items_of(kc_arena *arena, const kc__fields_type *type,
                                     const kc_value *left, const kc_value *right)
{
    size_t most = kc__fields_len(left) + kc__fields_len(right);
    kc__fields_items items = {.sorted = kc_arena_alloc(arena, (most + 1) * sizeof(*items.sorted))};
    items.n = add_items(arena, type, left, items.sorted, false);
    items.n += add_items(arena, type, right, items.sorted + items.n, true);
    sort_items(items.sorted, items.n);
    for (size_t i = 1; i < items.n; i++) {
        kc__fields_item *last = &items.sorted[i - 1], *item = &items.sorted[i];
        item->again = elements_cmp(last, item) == 0;
        item->duplicate = item->again && last->right == item->right;
    }
    return items;
}

size_t kc__fields_items_group(const kc__fields_items *items, size_t at)
{
    size_t n = 1;
    while (at + n < items->n && items->sorted[at + n].again)
        n++;
    return n;
}
