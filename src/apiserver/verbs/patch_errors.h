/* SPDX-License-Identifier: Apache-2.0 */
/*
 * patch_errors.h: how Kubernetes reports that the result of a patch is not an object of its kind.
 * Messages contain the result, or the patch, as Go's libraries print them.
 */
#ifndef KC_APISERVER_PATCH_ERRORS_H
#define KC_APISERVER_PATCH_ERRORS_H

#include "kc/arena.h"
#include "kc/object.h"

typedef enum kc__rest_patch_kind {
    KC__REST_JSON_PATCH,
    KC__REST_MERGE_PATCH,
    KC__REST_STRATEGIC_PATCH,
} kc__rest_patch_kind;

typedef struct kc__rest_patch_result {
    const kc_object *patched;
    kc_str patch; /* The body, which is valid. */
    kc__rest_patch_kind kind;
    bool is_map; /* Go holds objects of the kind as maps, and prints all of their names sorted. */
} kc__rest_patch_result;

/* Appends the invalid value: the result, or a strategic merge patch. */
void kc__rest_patch_result_text(kc_buf *out, const kc__rest_patch_result *result);
/* The error. `why` is that of the decoder. Kubernetes does not decode the result of a strategic
 * merge patch, but converts it from a map, which has other messages. */
const char *kc__rest_patch_result_error(kc_arena *arena, const kc__rest_patch_result *result,
                                        const char *why);

#endif
