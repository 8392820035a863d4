/* SPDX-License-Identifier: Apache-2.0 */
/*
 * webhook_target.c: reads the clientConfig of a webhook. Admission webhooks and the conversion
 * webhooks of CRDs have the same one. It was validated and defaulted when it was stored; members
 * that are missing nevertheless get their default here, too.
 */
#include "apiserver/kinds/admissionregistration/webhook_target.h"

#include "kc/base64.h"
#include "kc/buf.h"

enum { HTTPS_PORT = 443 };

void kc__hook_target_read(kc_arena *arena, const kc_value *client, kc__hook_target *ret)
{
    const kc_value *service = kc_value_get(client, "service");
    kc_scoped(kc_buf) pem = {0};
    *ret = (kc__hook_target){
        .url = kc_value_as_cstr(kc_value_get(client, "url"), NULL),
        .service = kc_value_as_str(kc_value_get(service, "name")),
        .service_ns = kc_value_as_str(kc_value_get(service, "namespace")),
        .path = kc_value_as_str(kc_value_get(service, "path")),
        .port = kc_value_as_i64_or(kc_value_get(service, "port"), HTTPS_PORT),
    };
    /* A bundle of white space is empty. */
    if (kc_base64_read(&pem, kc_value_as_str(kc_value_get(client, "caBundle")), KC_BASE64) &&
        kc_str_trim(kc_buf_str(&pem)).n)
        ret->ca = kc_arena_str(arena, kc_buf_str(&pem));
}
