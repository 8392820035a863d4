/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff.h: whether two values mean the same, and where they differ.
 *
 *     if (!kc_object_equal(old, now, NULL))
 *         …
 *     kc_scoped(kc_diff) diff = {0};
 *     kc_diff_values(kc_view_root(a), kc_view_root(b), NULL, &diff);
 *     kc_diff_write(&text, &diff, NULL);
 *
 *         - spec.replicas: 2
 *         + spec.replicas: 3
 *
 * Numbers are compared by value (1 equals 1.0), members in any order, items of arrays in order.
 * The cost is linear in the size of both, however long their objects are. Any number of threads may
 * compare the same values.
 */
#ifndef KC_DIFF_H
#define KC_DIFF_H

#include "kc/arena.h"
#include "kc/object.h"
#include "kc/vec.h"

typedef struct kc_equal_opts {
    /* A member that is null, [] or {} (or an object of only such) equals one that is absent, as in
     * Kubernetes' semantic equality. Defaults to null and absent being different. */
    bool empty_is_absent;
    /* What the first value leaves out is not compared: members that are absent, null, "", [] or {},
     * and items beyond its arrays' ends. For "does the object still have what I want". */
    bool derived;
} kc_equal_opts;

/* opts may be NULL. NULL values are absent, and equal to each other. */
bool kc_value_equal(const kc_value *a, const kc_value *b, const kc_equal_opts *opts);
bool kc_object_equal(const kc_object *a, const kc_object *b, const kc_equal_opts *opts);

/* One place where they differ. The values are the compared ones; NULL where it is absent. */
typedef struct kc_difference {
    kc_str path; /* As kc_path_text writes it; empty for the value itself. An item that was found by
                    its key is written containers[name="web"]. */
    const kc_value *before, *after;
} kc_difference;

/* A zeroed one is ready. */
typedef struct kc_diff {
    KC_VEC(kc_difference) changes;
    bool more; /* There are changes that were left out. */
    kc_arena arena;
} kc_diff;

typedef struct kc_diff_opts {
    bool empty_is_absent; /* As above. */
    /* Arrays of objects that all have a different string at this member ("name") are compared by
     * it, unless the items both have stand in another order. Defaults to comparing by position. */
    const char *list_key;
    size_t max_changes; /* Further ones are left out. Defaults to 1000. */
} kc_diff_opts;

void kc_diff_done(kc_diff *diff);
/* Fills an empty diff: members in the order of `before`, then those that are new. Both must outlive
 * it. opts may be NULL. True when there is no change. */
bool kc_diff_values(const kc_value *before, const kc_value *after, const kc_diff_opts *opts,
                    kc_diff *ret);

typedef struct kc_diff_write_opts {
    bool colour; /* Red and green, as terminals understand it. */
} kc_diff_write_opts;

/* Appends a line for each value that went and each that came. opts may be NULL. */
void kc_diff_write(kc_buf *out, const kc_diff *diff, const kc_diff_write_opts *opts);

#endif
