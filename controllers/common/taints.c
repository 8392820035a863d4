/* SPDX-License-Identifier: Apache-2.0 */
/* taints.c: see taints.h. */
#include "common/taints.h"

static bool common_taints_is_empty(const char *text)
{
    return !text || !*text;
}

static bool common_taints_is_same(const char *a, const char *b)
{
    return !strcmp(a ? a : "", b ? b : "");
}

static bool tolerates(const kc_toleration *t, const kc_taint *taint)
{
    if (!common_taints_is_empty(t->effect) && !common_taints_is_same(t->effect, taint->effect))
        return false;
    if (!common_taints_is_empty(t->key) && !common_taints_is_same(t->key, taint->key))
        return false;
    if (common_taints_is_same(t->operator, "Exists"))
        return true;
    return (common_taints_is_empty(t->operator) || common_taints_is_same(t->operator, "Equal")) &&
           common_taints_is_same(t->value, taint->value);
}

const kc_toleration *kc__common_find_toleration(const kc_pod *pod, const kc_taint *taint)
{
    for (size_t i = 0; i < pod->spec.n_tolerations; i++)
        if (tolerates(&pod->spec.tolerations[i], taint))
            return &pod->spec.tolerations[i];
    return NULL;
}
