/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare.c: the fields that differ between two values: added, removed, modified.
 *
 * Both values are walked together, and three builders collect the paths. Where one side has no
 * value, the other value is walked alone, by its type, into one builder: all its fields are added
 * or removed. So the set of a new object costs one walk over it. A value whose sides have different
 * shapes (a scalar became an object) is walked once as each, as upstream does.
 *
 * Items of an associative list that occur twice are compared as one: if their sequence changed, the
 * path is modified; if there is one left or one before, that one is compared with nothing.
 *
 * A new object, which is compared with an empty one, is checked against its type in the same walk.
 */
#include "object/fields/fields_internal.h"
#include "object/fields/fields_typed.h"

enum { ADDED, REMOVED, MODIFIED, N_SETS };

typedef struct comparing {
    kc_arena *arena;
    kc__fields_builder sets[N_SETS];
    kc__fields_errors errors;
    bool checks;  /* The second value may be invalid for its type … */
    bool invalid; /* … and it is. */
} comparing;

/* Which sets the path of a value is in: bits. */
typedef unsigned member_bits;

static member_bits compare_values(comparing *c, const kc__fields_type *type, const kc_value *from,
                                  const kc_value *to, const kc__fields_path *path);

/* An item without a valid key; only a merge or a removal can make one. */
static void compare_invalid(comparing *c, const kc__fields_type *type, const kc__fields_item *item,
                            const kc__fields_path *path)
{
    kc_scoped(kc_buf) text = {0};
    kc__fields_element element;
    c->invalid = true;
    kc_buf_printf(&text, "element %u: ", item->at);
    kc__fields_item_element(c->arena, type, item->value, &element, &text);
    kc__fields_errors_add(&c->errors, path, kc_buf_str(&text));
}

/* ---- a value that the other side lacks ---- */

static void add_fields(comparing *c, int set, const kc__fields_type *type, const kc_value *value,
                       const kc__fields_path *path);

/* Records what a check of an added value has found. */
static inline void check_added(comparing *c, int set, bool valid)
{
    c->invalid |= set == ADDED && !valid;
}

static inline void add_leaf(comparing *c, int set, const kc__fields_type *type,
                            const kc_value *value, const kc__fields_element *element)
{
    if (c->checks)
        check_added(c, set, kc__fields_leaf_fits(type, value));
    kc__fields_builder_add(&c->sets[set], *element, true, NULL);
}

/* Adds a value with all its fields to one set. The last element of the path has its order. Returns
 * the set of the fields below. */
static const kc__fields_set *add_lone(comparing *c, int set, const kc__fields_type *type,
                                      const kc_value *value, const kc__fields_path *path)
{
    kc__fields_builder *builder = &c->sets[set];
    if (!type) {
        check_added(c, set, false);
        return NULL;
    }
    if (!kc__fields_is_container(value)) {
        add_leaf(c, set, type, value, path->element);
        return NULL;
    }
    size_t level = kc__fields_builder_open(builder);
    add_fields(c, set, type, value, path);
    const kc__fields_set *child = kc__fields_builder_close(builder, level);
    kc__fields_builder_add(builder, *path->element, true, child);
    return child;
}

static void add_lone_members(comparing *c, int set, const kc__fields_type *type,
                             const kc_value *object, const kc__fields_path *path)
{
    kc__fields_each_member(object, key)
    {
        const kc_str name = kc__fields_text(key);
        const kc__fields_element element = kc__fields_name(name);
        const kc__fields_type *member = kc__fields_type_member(type, name);
        if (member && !kc__fields_is_container(key + 1))
            add_leaf(c, set, member, key + 1, &element);
        else
            add_lone(c, set, member, key + 1, &(kc__fields_path){path, &element});
    }
}

static bool has_members_of(comparing *c, int set, const kc__fields_type *type,
                           const kc_value *object, const kc_value *other);

static inline bool is_of_same_kind(const kc_value *a, const kc_value *b)
{
    return unsafe_yyjson_get_type((kc_value *)a) == unsafe_yyjson_get_type((kc_value *)b);
}

/* True when a value has the same fields below it as another of its type that was added, and is as
 * valid as that one; false when this takes more than one walk over both. Scalars differ in nothing
 * but their kind. A value that is a leaf, whatever is in it, is checked here. */
static bool has_fields_of(comparing *c, int set, const kc__fields_type *type, const kc_value *value,
                          const kc_value *other)
{
    if (!is_of_same_kind(value, other))
        return false;
    if (!type || !kc__fields_is_container(value))
        return true;
    const kc__fields_shape shape = kc__fields_shape_of(kc__fields_shapes_of(type, value));
    if (shape == KC__FIELDS_SHAPE_OBJECT && type->object_relation != KC__FIELDS_ATOMIC &&
        kc__fields_is_object(value))
        return has_members_of(c, set, type, value, other);
    if (shape == KC__FIELDS_SHAPE_LIST && type->list_relation != KC__FIELDS_ATOMIC &&
        kc__fields_is_list(value))
        return !kc__fields_len(value) && !kc__fields_len(other);
    if (c->checks)
        check_added(c, set, kc__fields_fits(type, value, NULL));
    return true;
}

/* The same for objects: members of the same names in the same order. The type of a scalar does not
 * matter, because it is the same for both. */
static bool has_members_of(comparing *c, int set, const kc__fields_type *type,
                           const kc_value *object, const kc_value *other)
{
    const kc_value *other_key = other + 1;
    if (kc__fields_len(object) != kc__fields_len(other))
        return false;
    kc__fields_each_member(object, key)
    {
        const kc_value *value = key + 1, *other_value = other_key + 1;
        const kc_str name = kc__fields_text(key);
        if (!is_of_same_kind(value, other_value) ||
            !kc__fields_same_text(name, kc__fields_text(other_key)))
            return false;
        if (kc__fields_is_container(value) &&
            !has_fields_of(c, set, kc__fields_type_member(type, name), value, other_value))
            return false;
        other_key = kc__fields_after(other_value);
    }
    return true;
}

/* Adds items that have the same element, or none. */
static void add_lone_group(comparing *c, int set, const kc__fields_type *type,
                           const kc__fields_item *items, size_t n, const kc__fields_path *path)
{
    if (c->checks)
        for (size_t i = 0; i < n; i++)
            check_added(c, set, kc__fields_fits(type->items, items[i].value, NULL));
    if (items->element.kind == KC__FIELDS_INVALID)
        for (size_t i = 0; i < n; i++)
            compare_invalid(c, type, &items[i], path);
    else
        kc__fields_builder_add(&c->sets[set], items->element, true, NULL);
}

/* Items of a list mostly have the same fields: such an item gets the set of the item before it. */
static void add_lone_items(comparing *c, int set, const kc__fields_type *type, const kc_value *list,
                           const kc__fields_path *path)
{
    const kc_value *last = NULL;        /* The last item that was added alone, … */
    const kc__fields_set *below = NULL; /* … and the set of its fields. */
    kc__fields_items items = kc__fields_items_of(c->arena, type, list, NULL);
    for (size_t at = 0, n; at < items.n; at += n) {
        const kc__fields_item *item = &items.sorted[at];
        n = kc__fields_items_group(&items, at);
        if (n > 1 || item->element.kind == KC__FIELDS_INVALID) {
            add_lone_group(c, set, type, item, n, path);
        } else if (last && has_fields_of(c, set, type->items, item->value, last)) {
            kc__fields_builder_add(&c->sets[set], item->element, true, below);
        } else {
            below = add_lone(c, set, type->items, item->value,
                             &(kc__fields_path){path, &item->element});
            last = type->items ? item->value : NULL;
        }
    }
}

/* Adds the fields below a container to the open level. */
static void add_fields(comparing *c, int set, const kc__fields_type *type, const kc_value *value,
                       const kc__fields_path *path)
{
    const kc__fields_shape shape = kc__fields_shape_of(kc__fields_shapes_of(type, value));
    if (shape == KC__FIELDS_SHAPE_OBJECT && type->object_relation != KC__FIELDS_ATOMIC &&
        kc__fields_is_object(value))
        add_lone_members(c, set, type, value, path);
    else if (shape == KC__FIELDS_SHAPE_LIST && type->list_relation != KC__FIELDS_ATOMIC &&
             kc__fields_is_list(value))
        add_lone_items(c, set, type, value, path);
    else if (c->checks) /* It is a leaf, with all that is in it. */
        check_added(c, set, kc__fields_fits(type, value, NULL));
}

/* ---- a path with a value on each side ---- */

/* The same element with its order, for a set. */
static kc__fields_element ordered(const kc__fields_element *element)
{
    return element->kind == KC__FIELDS_NAME ? kc__fields_name(kc_str_of(element->name, element->n))
                                            : *element;
}

/* Adds the differences of two values to the open levels as the entry of the last element. */
static void compare_pair(comparing *c, const kc__fields_type *type, const kc_value *from,
                         const kc_value *to, const kc__fields_path *path)
{
    size_t levels[N_SETS];
    for (int i = 0; i < N_SETS; i++)
        levels[i] = kc__fields_builder_open(&c->sets[i]);
    member_bits members = compare_values(c, type, from, to, path);
    for (int i = 0; i < N_SETS; i++) {
        if (!(members >> i & 1) && c->sets[i].open.n == levels[i])
            continue;
        const kc__fields_set *child = kc__fields_builder_close(&c->sets[i], levels[i]);
        kc__fields_builder_add(&c->sets[i], ordered(path->element), members >> i & 1, child);
    }
}

/* The same for values of which one may be NULL. */
static void compare_entry(comparing *c, const kc__fields_type *type, const kc_value *from,
                          const kc_value *to, const kc__fields_path *path)
{
    if (from && to) {
        const bool checks = c->checks;
        if (checks)
            check_added(c, ADDED, type && kc__fields_fits(type, to, NULL));
        c->checks = false;
        compare_pair(c, type, from, to, path);
        c->checks = checks;
        return;
    }
    kc__fields_element element = ordered(path->element);
    add_lone(c, from ? REMOVED : ADDED, type, from ? from : to,
             &(kc__fields_path){path->parent, &element});
}

static member_bits compare_leaves(const kc_value *from, const kc_value *to)
{
    return kc__fields_equal(from, to) ? 0 : 1u << MODIFIED;
}

/* ---- lists ---- */

static bool repeated_equal(const kc__fields_item *from, size_t n_from, const kc__fields_item *to,
                           size_t n_to)
{
    for (size_t i = 0; i < n_from && i < n_to; i++)
        if (!kc__fields_equal(from[i].value, to[i].value))
            return false;
    return n_from == n_to;
}

/* Adds the element of items that occur several times on a side. */
static void compare_repeated(comparing *c, const kc__fields_item *group, size_t n_from, size_t n_to)
{
    int set = n_from > 1 && n_to > 1 ? MODIFIED : n_from > 1 ? REMOVED : ADDED;
    if (set != MODIFIED || !repeated_equal(group, n_from, group + n_from, n_to))
        kc__fields_builder_add(&c->sets[set], group->element, true, NULL);
}

/* The items with one element: n_from of the first list, then those of the second. */
static void compare_group(comparing *c, const kc__fields_type *type, const kc__fields_item *group,
                          size_t n_from, size_t n_to, const kc__fields_path *parent)
{
    const kc_value *from = n_from == 1 ? group[0].value : NULL;
    const kc_value *to = n_to == 1 ? group[n_from].value : NULL;
    if (n_from > 1 || n_to > 1)
        compare_repeated(c, group, n_from, n_to);
    if (from || to)
        compare_entry(c, type->items, from, to, &(kc__fields_path){parent, &group->element});
}

static member_bits compare_lists(comparing *c, const kc__fields_type *type, const kc_value *from,
                                 const kc_value *to, const kc__fields_path *path)
{
    const kc_value *left = kc__fields_is_list(from) ? from : NULL;
    const kc_value *right = kc__fields_is_list(to) ? to : NULL;
    if (type->list_relation == KC__FIELDS_ATOMIC ||
        (!kc__fields_len(left) && !kc__fields_len(right)))
        return compare_leaves(from, to);
    kc__fields_items items = kc__fields_items_of(c->arena, type, left, right);
    for (size_t at = 0, n; at < items.n; at += n) {
        size_t n_from = 0;
        n = kc__fields_items_group(&items, at);
        while (n_from < n && !items.sorted[at + n_from].right)
            n_from++;
        if (items.sorted[at].element.kind != KC__FIELDS_INVALID)
            compare_group(c, type, &items.sorted[at], n_from, n - n_from, path);
        else
            for (size_t i = 0; i < n; i++)
                compare_invalid(c, type, &items.sorted[at + i], path);
    }
    return 0;
}

/* ---- objects ---- */

static void compare_member(comparing *c, const kc__fields_type *type, kc_str name,
                           const kc_value *from, const kc_value *to, const kc__fields_path *parent)
{
    if (from == to)
        return;
    kc__fields_element element = kc__fields_unordered_name(name);
    kc__fields_path path = {parent, &element};
    compare_entry(c, kc__fields_type_member(type, name), from, to, &path);
}

static void compare_members(comparing *c, const kc__fields_type *type, const kc_value *left,
                            const kc_value *right, const kc__fields_path *path)
{
    kc_scoped(kc__fields_finder) in_right = kc__fields_finder_of(right);
    kc_scoped(kc__fields_finder) in_left = kc__fields_finder_of(left);
    size_t matched = 0;
    if (left)
        kc__fields_each_member(left, key)
        {
            const kc_value *other = kc__fields_find(&in_right, kc__fields_text(key));
            matched += other != NULL;
            compare_member(c, type, kc__fields_text(key), key + 1, other, path);
        }
    if (matched == kc__fields_len(right))
        return;
    kc__fields_each_member(right, key) if (!kc__fields_find(&in_left, kc__fields_text(key)))
        compare_member(c, type, kc__fields_text(key), NULL, key + 1, path);
}

static member_bits compare_objects(comparing *c, const kc__fields_type *type, const kc_value *from,
                                   const kc_value *to, const kc__fields_path *path)
{
    const kc_value *left = kc__fields_is_object(from) ? from : NULL;
    const kc_value *right = kc__fields_is_object(to) ? to : NULL;
    if (type->object_relation == KC__FIELDS_ATOMIC ||
        (!kc__fields_len(left) && !kc__fields_len(right)))
        return compare_leaves(from, to);
    compare_members(c, type, left, right, path);
    return 0;
}

/* ---- values ---- */

static member_bits compare_as(comparing *c, kc__fields_shape shape, const kc__fields_type *type,
                              const kc_value *from, const kc_value *to, const kc__fields_path *path)
{
    switch (shape) {
    case KC__FIELDS_SHAPE_OBJECT: return compare_objects(c, type, from, to, path);
    case KC__FIELDS_SHAPE_LIST: return compare_lists(c, type, from, to, path);
    case KC__FIELDS_SHAPE_SCALAR: return compare_leaves(from, to);
    default: return 0;
    }
}

enum { SMALL_CONTAINER = 4096 };

/* True for a container that a merge copied: its cells are the same. Larger ones are compared part
 * by part, so that a byte is not compared on each level above it. */
static bool is_copied(const kc_value *from, const kc_value *to)
{
    return from->tag == to->tag && (kc__fields_is_object(from) || kc__fields_is_list(from)) &&
           from->uni.ofs == to->uni.ofs && from->uni.ofs <= SMALL_CONTAINER &&
           memcmp(from, to, from->uni.ofs) == 0;
}

static member_bits compare_values(comparing *c, const kc__fields_type *type, const kc_value *from,
                                  const kc_value *to, const kc__fields_path *path)
{
    if (!type || from == to || is_copied(from, to))
        return 0;
    unsigned shapes_from = kc__fields_shapes_of(type, from);
    unsigned shapes_to = kc__fields_shapes_of(type, to);
    member_bits members = 0;
    if (shapes_from != shapes_to)
        members = compare_as(c, kc__fields_shape_of(shapes_from), type, from, to, path);
    return members | compare_as(c, kc__fields_shape_of(shapes_to), type, from, to, path);
}

static int compare_all(comparing *c, const kc__fields_type *type, const kc_value *from,
                       const kc_value *to, kc__fields_comparison *ret, kc_error *err)
{
    const kc__fields_set *sets[N_SETS];
    for (int i = 0; i < N_SETS; i++)
        c->sets[i].arena = c->arena;
    if (from != to)
        compare_values(c, type, from, to, NULL);
    for (int i = 0; i < N_SETS; i++) {
        sets[i] = kc__fields_builder_close(&c->sets[i], 0);
        kc__fields_builder_done(&c->sets[i]);
    }
    int result = kc__fields_errors_result(&c->errors, err);
    if (result == 0)
        *ret = (kc__fields_comparison){sets[ADDED], sets[REMOVED], sets[MODIFIED]};
    return result;
}

int kc__fields_compare(kc_arena *arena, const kc__fields_type *type, const kc_value *from,
                       const kc_value *to, kc__fields_comparison *ret, kc_error *err)
{
    comparing c = {.arena = arena};
    return compare_all(&c, type, from, to, ret, err);
}

int kc__fields_compare_new(kc_arena *arena, const kc__fields_type *type, const kc_value *empty,
                           const kc_value *value, kc__fields_comparison *ret, kc_error *err)
{
    comparing c = {.arena = arena, .checks = true};
    /* The walk does not enter an atomic object. */
    if (type->object_relation == KC__FIELDS_ATOMIC)
        c.invalid = !kc__fields_fits(type, value, NULL);
    const int failed = compare_all(&c, type, empty, value, ret, err);
    const int invalid = c.invalid ? kc__fields_validate(type, value, true, err) : 0;
    return invalid < 0 ? invalid : failed;
}
