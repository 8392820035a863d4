/* SPDX-License-Identifier: Apache-2.0 */
/* revision.c: reads a resourceVersion, and rejects one that the server has not reached. The
 * messages are those of Kubernetes. */
#include "apiserver/request/revision.h"

#include "kc/json.h"

int kc__rest_parse_revision(kc_str text, uint64_t *ret, kc_error *err)
{
    uint64_t version = 0;
    if (!kc_str_empty(text) && !kc_str_to_u64(text, &version)) {
        kc_scoped(kc_buf) quoted = {0};
        kc_json_quote(&quoted, text);
        return kc_error_set(err, KC_BAD_REQUEST,
                            "resourceVersion: Invalid value: %s: strconv.ParseUint: parsing %s: "
                            "invalid syntax",
                            kc_buf_cstr(&quoted), kc_buf_cstr(&quoted));
    }
    *ret = version;
    return 0;
}

void kc__rest_future_revision_error(kc_error *err, uint64_t wanted, uint64_t is)
{
    kc_error_set(err, KC_TIMEOUT, "Timeout: Too large resource version: %llu, current: %llu",
                 (unsigned long long)wanted, (unsigned long long)is);
    kc_error_add_cause(err, "ResourceVersionTooLarge", (kc_str){0},
                       KC_STR("Too large resource version"));
    err->retry_after_seconds = 1;
}

kc__rest_verdict kc__rest_fail_future_revision(kc__rest_call *call, uint64_t wanted, uint64_t is)
{
    kc__rest_future_revision_error(&call->error, wanted, is);
    return KC__REST_FAIL;
}
