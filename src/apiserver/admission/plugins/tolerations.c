/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tolerations.c: merges and compares tolerations as Kubernetes' util/tolerations does. Both compare
 * each toleration with each other one, and stop when the request has used up its CPU time
 * (base/work.h); the pod is then rejected.
 */
#include "apiserver/admission/plugins/tolerations.h"

#include "apiserver/kinds/defaults.h"
#include "base/work.h"

typedef struct toleration {
    kc_node *node;
    kc_str key, operator, value, effect;
    bool has_seconds;
    int64_t seconds;
} toleration;

static toleration read_toleration(kc_node *node)
{
    toleration t = {.node = node,
                    .key = kc__defaults_node_text(node, "key"),
                    .operator= kc__defaults_node_text(node, "operator"),
                    .value = kc__defaults_node_text(node, "value"),
                    .effect = kc__defaults_node_text(node, "effect")};
    t.has_seconds = kc_node_as_i64(kc_node_get(node, KC_STR("tolerationSeconds")), &t.seconds);
    return t;
}

static toleration read_toleration_value(const kc_value *value)
{
    toleration t = {.key = kc_value_as_str(kc_value_get(value, "key")),
                    .operator= kc_value_as_str(kc_value_get(value, "operator")),
                    .value = kc_value_as_str(kc_value_get(value, "value")),
                    .effect = kc_value_as_str(kc_value_get(value, "effect"))};
    t.has_seconds = kc_value_as_i64(kc_value_get(value, "tolerationSeconds"), &t.seconds);
    return t;
}

static bool is_same_toleration(const toleration *a, const toleration *b)
{
    return kc_str_eq(a->key, b->key) && kc_str_eq(a->operator, b->operator) &&
           kc_str_eq(a->value, b->value) && kc_str_eq(a->effect, b->effect) &&
           a->has_seconds == b->has_seconds && (!a->has_seconds || a->seconds == b->seconds);
}

/* Whether `wide` tolerates all taints that `t` tolerates. */
static bool covers(const toleration *wide, const toleration *t)
{
    const bool exists = kc_str_is(wide->operator, "Exists");
    if (is_same_toleration(wide, t))
        return true;
    if (!kc_str_eq(t->key, wide->key) && (wide->key.n || !exists))
        return false;
    if (!kc_str_eq(t->effect, wide->effect) && wide->effect.n)
        return false;
    if (kc_str_is(wide->effect, "NoExecute") && wide->has_seconds &&
        (!t->has_seconds || t->seconds > wide->seconds))
        return false;
    return exists || ((!wide->operator.n || kc_str_is(wide->operator, "Equal")) &&
                      kc_str_is(t->operator, "Equal") && kc_str_eq(t->value, wide->value));
}

typedef KC_VEC(toleration) toleration_list;

/* Whether another toleration makes all[i] redundant: one that is kept, or a later one that is not
 * equal to it. */
static bool is_redundant(const toleration_list *kept, const toleration_list *all, size_t i)
{
    const toleration *t = &all->items[i];
    kc_vec_each (kept, other)
        if (covers(other, t))
            return true;
    for (size_t j = i + 1; j < all->n; j++)
        if (!is_same_toleration(t, &all->items[j]) && covers(&all->items[j], t))
            return true;
    return false;
}

void kc__admission_merge_tolerations(kc_edit *edit, kc_node *spec, const kc_value *more)
{
    toleration_list all = {0}, kept = {0};
    kc_node *merged = kc_node_array(edit);
    kc_node_each_item (kc_node_get(spec, KC_STR("tolerations")), item)
        kc_vec_push(&all, read_toleration(kc_node_clone(edit, item)));
    kc_value_each_item (more, item)
        kc_vec_push(&all, read_toleration(kc_node_from_value(edit, item)));
    for (size_t i = 0; i < all.n && !kc__work_is_over(); i++)
        if (!is_redundant(&kept, &all, i))
            kc_vec_push(&kept, all.items[i]);
    kc_vec_each (&kept, t)
        kc_node_append(merged, t->node);
    kc_vec_done(&all);
    kc_vec_done(&kept);
    kc_node_set(edit, spec, KC_STR("tolerations"), merged);
}

static bool is_covered(const toleration_list *wide, const toleration *t)
{
    kc_vec_each (wide, one)
        if (covers(one, t))
            return true;
    return false;
}

bool kc__admission_covers_tolerations(const kc_value *wide, const kc_value *list)
{
    toleration_list allowed = {0};
    bool covered = true;
    kc_value_each_item (wide, item)
        kc_vec_push(&allowed, read_toleration_value(item));
    kc_value_each_item (list, item) {
        const toleration t = read_toleration_value(item);
        covered = covered && !kc__work_is_over() && is_covered(&allowed, &t);
    }
    kc_vec_done(&allowed);
    return covered;
}
