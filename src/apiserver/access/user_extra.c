/* SPDX-License-Identifier: Apache-2.0 */
/*
 * user_extra.c: keys of extra fields in header fields. Names of header fields have no case, so a
 * key is in lower case; characters that a name cannot contain are percent-encoded. A key that is
 * not valid percent-encoding is used as it is, as in Kubernetes.
 */
#include "apiserver/access/user_extra.h"

#include "http/message/escape.h"

bool kc__user_extra_has_prefix(kc_str name, kc_str prefix)
{
    return name.n >= prefix.n && kc_str_eq_nocase(kc_str_sub(name, 0, prefix.n), prefix);
}

kc_str kc__user_extra_key(kc_str name, kc_arena *arena)
{
    char *lower = kc_arena_strndup(arena, name.p, name.n);
    char *decoded = kc_arena_alloc(arena, name.n + 1);
    size_t n = 0;
    if (!lower || !decoded)
        return (kc_str){0};
    for (size_t i = 0; i < name.n; i++)
        if (lower[i] >= 'A' && lower[i] <= 'Z')
            lower[i] = (char)(lower[i] - 'A' + 'a');
    const kc_str text = kc_str_of(lower, name.n);
    return kc__http_percent_decode(text, KC__HTTP_PLUS_IS_PLUS, decoded, &n, NULL)
               ? kc_str_of(decoded, n)
               : text;
}

kc__user_extra *kc__user_extra_of_key(kc__user_extra *list, size_t *n, kc_str key)
{
    for (size_t i = 0; i < *n; i++)
        if (kc_str_eq(list[i].key, key))
            return &list[i];
    list[*n].key = key;
    return &list[(*n)++];
}

static int order_of_extra(const void *a, const void *b)
{
    return kc_str_cmp(((const kc__user_extra *)a)->key, ((const kc__user_extra *)b)->key);
}

void kc__user_extra_sort(kc__user_extra *list, size_t n)
{
    if (n)
        qsort(list, n, sizeof(*list), order_of_extra);
}
