/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fields_set.h: path elements, paths and sets of paths, as metadata.managedFields records them.
 *
 * A path selects a field of an object: .spec.containers[name="web"].image. Its elements are names
 * of members, keys of associative lists, values of sets and indexes. A set of paths is a trie: one
 * sorted array of entries per level.
 *
 *     .spec ─────────▶ .containers ──▶ [name="web"] ● ──▶ .image ●          ● the path is a member
 *     .metadata ─────▶ .labels ● ────▶ .app ●
 *
 * Order, equality and text are those of structured-merge-diff v6, which kube-apiserver v1.34 uses.
 *
 * Sets are immutable. A set lives as long as the arena of its builder, and refers to the memory of
 * its names and values: the text, view or type that it was made from must live as long. NULL is the
 * empty set everywhere. Any number of threads may read a set. Operations take time linear in the
 * sizes of the sets (n log n where a builder sorts), and recurse as deep as the deepest path;
 * inputs have at most KC_JSON_MAX_DEPTH levels.
 */
#ifndef KC_FIELDS_SET_H
#define KC_FIELDS_SET_H

#include "kc/arena.h"
#include "kc/buf.h"
#include "kc/json.h"
#include "kc/vec.h"

/* In the order in which elements of different kinds are sorted. */
typedef enum kc__fields_kind {
    KC__FIELDS_NAME,    /* .name: a member of an object. */
    KC__FIELDS_KEY,     /* [name="web"]: the item of an associative list with these members. */
    KC__FIELDS_VALUE,   /* [="a"]: the item of a set with this value. */
    KC__FIELDS_INDEX,   /* [3]: an item by its position. */
    KC__FIELDS_INVALID, /* The item of an associative list that has no valid key. */
} kc__fields_kind;

typedef struct kc__fields_key_part {
    kc_str name;
    const kc_value *value;
} kc__fields_key_part;

typedef struct kc__fields_element {
    uint64_t order; /* Of a name: its first eight bytes, so that most comparisons are of numbers. Of
                     * an index: the index plus 2^63. */
    union {
        const char *name;
        const kc__fields_key_part *parts; /* Sorted by name. */
        const kc_value *value;
    };
    uint32_t n; /* Bytes of the name; number of parts. */
    uint8_t kind;
} kc__fields_element;

typedef struct kc__fields_set kc__fields_set;

typedef struct kc__fields_entry {
    kc__fields_element element;
    const kc__fields_set *child; /* Paths below; NULL when there are none, never an empty set. */
    bool member;                 /* The path that ends here is in the set. */
} kc__fields_entry;

struct kc__fields_set {
    uint32_t n;
    const kc__fields_entry *entries; /* Sorted, without duplicates; each is a member or has a child.
                                      */
};

/* A path as a chain of stack frames, innermost first; NULL is the root. */
typedef struct kc__fields_path {
    const struct kc__fields_path *parent;
    const kc__fields_element *element;
} kc__fields_path;

/* ---- elements ---- */

/* The first eight bytes of a name as a number that sorts as they do. */
static inline uint64_t kc__fields_name_order(const char *name, size_t n)
{
    uint64_t order = 0;
    uint32_t first, last;
    if (n >= 8) {
        memcpy(&order, name, 8);
    } else if (n >= 4) {
        memcpy(&first, name, 4);
        memcpy(&last, name + n - 4, 4);
        order = first | (uint64_t)last << (8 * (n - 4));
    } else {
        for (size_t i = 0; i < n; i++)
            order |= (uint64_t)(unsigned char)name[i] << (8 * i);
    }
    return __builtin_bswap64(order);
}

static inline kc__fields_element kc__fields_name(kc_str name)
{
    return (kc__fields_element){.order = kc__fields_name_order(name.p, name.n),
                                .name = name.p,
                                .n = (uint32_t)name.n,
                                .kind = KC__FIELDS_NAME};
}

/* The same without its order: to be printed, not compared. */
static inline kc__fields_element kc__fields_unordered_name(kc_str name)
{
    return (kc__fields_element){.name = name.p, .n = (uint32_t)name.n, .kind = KC__FIELDS_NAME};
}

kc__fields_element kc__fields_index(int64_t index);
/* Sorts `parts`, which must live as long as the element. */
kc__fields_element kc__fields_key(kc__fields_key_part *parts, uint32_t n);
kc__fields_element kc__fields_value_element(const kc_value *value);

/* The slow part of the comparison below. */
int kc__fields_element_cmp_slowly(const kc__fields_element *a, const kc__fields_element *b);

/* <0, 0 or >0. */
static inline int kc__fields_element_cmp(const kc__fields_element *a, const kc__fields_element *b)
{
    if (a->kind == b->kind && a->order != b->order)
        return a->order < b->order ? -1 : 1;
    if (a->kind == KC__FIELDS_NAME && b->kind == KC__FIELDS_NAME && a->n == b->n &&
        (a->n <= 8 || a->name == b->name))
        return 0;
    return kc__fields_element_cmp_slowly(a, b);
}

/* True when all elements that equal this one have the same text. Whole numbers beyond 2^53 equal
 * the floating-point numbers nearest to them, which FieldsV1 is read as. */
bool kc__fields_element_is_exact(const kc__fields_element *element);

/* Appends an element or a path as messages show it: .spec, [name="web"], [="a"], [3]. */
void kc__fields_element_print(kc_buf *out, const kc__fields_element *element);
void kc__fields_path_print(kc_buf *out, const kc__fields_path *path);

/* Appends the name of an element in FieldsV1, without JSON quotes and escapes: f:spec,
 * k:{"name":"web"}, v:"a", i:3. */
void kc__fields_element_write(kc_buf *out, const kc__fields_element *element);

typedef enum kc__fields_read {
    KC__FIELDS_READ_OK,
    KC__FIELDS_READ_UNKNOWN, /* A kind of element of a later version: to be ignored. */
    KC__FIELDS_READ_FAILED,
} kc__fields_read;

/* Parses what kc__fields_element_write writes. `text` must live as long as the element; values are
 * allocated in the arena. Numbers become floating point. *ret_canonical is set when the text is
 * what would be written. Sets err only if it fails. */
kc__fields_read kc__fields_element_read(kc_arena *arena, kc_str text, kc__fields_element *ret,
                                        bool *ret_canonical, kc_error *err);

/* ---- construction ---- */

/*
 * Builds sets from the leaves up: open a level, add its entries in any order, close it, and add the
 * result as a child of an entry of the level above. Levels nest as calls do.
 *
 *     kc_scoped(kc__fields_builder) b = {.arena = arena};
 *     size_t level = kc__fields_builder_open(&b);
 *     kc__fields_builder_add(&b, kc__fields_name(KC_STR("spec")), true, NULL);
 *     const kc__fields_set *set = kc__fields_builder_close(&b, level);
 */
typedef struct kc__fields_builder {
    kc_arena *arena; /* Of the sets. */
    KC_VEC(kc__fields_entry) open;
    bool unsorted; /* A level was not added in ascending order. */
} kc__fields_builder;

void kc__fields_builder_done(kc__fields_builder *builder);
static inline size_t kc__fields_builder_open(const kc__fields_builder *builder)
{
    return builder->open.n;
}
/* Adds nothing when the entry is not a member and has no child. Of equal entries of a level, each
 * makes the path a member and the last child replaces earlier ones. */
void kc__fields_builder_add(kc__fields_builder *builder, kc__fields_element element, bool member,
                            const kc__fields_set *child);
/* NULL when the level is empty. */
const kc__fields_set *kc__fields_builder_close(kc__fields_builder *builder, size_t level);

/* A set of one path; for tests and constants. */
const kc__fields_set *kc__fields_set_of_path(kc_arena *arena, const kc__fields_element *elements,
                                             size_t n);

/* ---- queries ---- */

static inline bool kc__fields_set_empty(const kc__fields_set *set)
{
    return !set || !set->n;
}

/* The entry of an element, or NULL. */
const kc__fields_entry *kc__fields_set_find(const kc__fields_set *set,
                                            const kc__fields_element *element);
bool kc__fields_set_has(const kc__fields_set *set, const kc__fields_element *elements, size_t n);
/* For tests. */
bool kc__fields_set_equal(const kc__fields_set *a, const kc__fields_set *b);
/* True when both have the same FieldsV1. May be false for sets that have it, with large numbers. */
bool kc__fields_set_same_text(const kc__fields_set *a, const kc__fields_set *b);
/* True when each path of `a` is in `b`. */
bool kc__fields_set_within(const kc__fields_set *a, const kc__fields_set *b);
/* For tests. */
size_t kc__fields_set_count(const kc__fields_set *set);

/* Calls `visit` for each path: at each level first the members, then the paths below them. Stops
 * when it returns false; returns false then. */
typedef bool kc__fields_visit(const kc__fields_path *path, void *user);
bool kc__fields_set_each(const kc__fields_set *set, kc__fields_visit *visit, void *user);

/* ---- algebra: results share memory with their operands ---- */

const kc__fields_set *kc__fields_set_union(kc_arena *arena, const kc__fields_set *a,
                                           const kc__fields_set *b);
/* The union of n sets; overwrites the array. */
const kc__fields_set *kc__fields_set_union_all(kc_arena *arena, const kc__fields_set **sets,
                                               size_t n);
const kc__fields_set *kc__fields_set_intersection(kc_arena *arena, const kc__fields_set *a,
                                                  const kc__fields_set *b);
/* The paths of `a` that are not in `b`; `a` itself when there is nothing to remove. */
const kc__fields_set *kc__fields_set_difference(kc_arena *arena, const kc__fields_set *a,
                                                const kc__fields_set *b);
/* The same without the paths below those of `b`. */
const kc__fields_set *kc__fields_set_difference_below(kc_arena *arena, const kc__fields_set *a,
                                                      const kc__fields_set *b);
/* Only the paths that have no path of the set below them. */
const kc__fields_set *kc__fields_set_leaves(kc_arena *arena, const kc__fields_set *set);

/*
 * Only the paths at or above one of the patterns, and all paths below them. A pattern is a list of
 * names joined by dots, with * for any element: "spec.containers.*.resources". At most 32; where
 * one has a * another must not have a name.
 */
const kc__fields_set *kc__fields_set_only(kc_arena *arena, const kc__fields_set *set,
                                          const char *const *patterns, size_t n);

/* ---- FieldsV1 ---- */

/*
 * Parses FieldsV1 without a tree. Elements of unknown kinds are ignored, numbers become floating
 * point, as upstream does. Names point into `json`, which must live as long as the set. Fails with
 * KC_BAD_REQUEST for text that is not valid, or is deeper than KC_JSON_MAX_DEPTH. *ret_canonical,
 * which may be NULL, is set when kc__fields_v1_write would write the same text, provided that the
 * text is canonical JSON (json.h). No caller yet.
 */
int kc__fields_v1_read(kc_arena *arena, kc_str json, const kc__fields_set **ret_set,
                       bool *ret_canonical, kc_error *err) KC_MUST_CHECK;
/* Appends the canonical text: sorted, compact. */
void kc__fields_v1_write(kc_buf *out, const kc__fields_set *set);

#endif
