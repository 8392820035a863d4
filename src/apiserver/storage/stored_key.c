/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stored_key.c: finds where the prefix of a stored key ends.
 *
 * A prefix has one segment below the root, or two: a segment with a dot is an API group, followed
 * by the plural of the resource. "services" is the only segment without a dot that another one
 * follows: Kubernetes stores Services under services/specs and Endpoints under services/endpoints.
 *
 * Built-in prefixes contain no dot, except those of the groups that are stored with their name; no
 * CRD may be in such a group (kinds/key_layout.h). So no prefix of a custom resource equals,
 * contains or is part of a built-in one.
 */
#include "apiserver/storage/stored_key.h"

/* The end of the segment that begins at `at`, behind its slash; 0 if no slash follows. */
static size_t end_of_segment(kc_str key, size_t at)
{
    const ptrdiff_t slash = kc_str_find(kc_str_sub(key, at, key.n), '/');
    return slash <= 0 ? 0 : at + (size_t)slash + 1;
}

static bool has_second_segment(kc_str first)
{
    return kc_str_is(first, "services") || kc_str_find(first, '.') >= 0;
}

kc_str kc__storage_key_prefix(kc_str key)
{
    const size_t root = strlen(KC__STORAGE_KEY_ROOT);
    if (!kc_str_starts(key, KC_STR(KC__STORAGE_KEY_ROOT)))
        return (kc_str){0};
    size_t end = end_of_segment(key, root);
    if (end && has_second_segment(kc_str_sub(key, root, end - 1)))
        end = end_of_segment(key, end);
    return kc_str_sub(key, 0, end);
}
