/* SPDX-License-Identifier: Apache-2.0 */
/* taints.c: see taints.h. */
#include "common/taints.h"

static bool is_empty(const char *text)
{
    return !text || !*text;
}

static bool is_same(const char *a, const char *b)
{
    return !strcmp(a ? a : "", b ? b : "");
}

static bool tolerates(const kc_toleration *t, const kc_taint *taint)
{
    if (!is_empty(t->effect) && !is_same(t->effect, taint->effect))
        return false;
    if (!is_empty(t->key) && !is_same(t->key, taint->key))
        return false;
    if (is_same(t->operator, "Exists"))
        return true;
    return (is_empty(t->operator) || is_same(t->operator, "Equal")) &&
           is_same(t->value, taint->value);
}

const kc_toleration *kc__find_toleration(const kc_pod *pod, const kc_taint *taint)
{
    for (size_t i = 0; i < pod->spec.n_tolerations; i++)
        if (tolerates(&pod->spec.tolerations[i], taint))
            return &pod->spec.tolerations[i];
    return NULL;
}
