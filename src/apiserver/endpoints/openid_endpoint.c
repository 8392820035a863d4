/* SPDX-License-Identifier: Apache-2.0 */
/*
 * openid_endpoint.c: OIDC discovery of the issuer of service-account tokens, and its public keys,
 * so that other systems can verify such tokens. The documents do not change while the server runs;
 * clients may cache them for an hour.
 */
#include "apiserver/access/sa_tokens.h"
#include "apiserver/endpoints/endpoints.h"

static kc__rest_verdict respond_document(kc__rest_call *call, const char *type, kc_str document)
{
    if (!document.n)
        return kc__rest_respond_page_not_found(call);
    return kc__rest_respond_bytes(
        call, &(kc__http_response){.status = 200,
                                   .type = kc_cstr(type),
                                   .headers = &(kc__http_header){KC_STR("Cache-Control"),
                                                                 KC_STR("public, max-age=3600")},
                                   .n_headers = 1,
                                   .body = document});
}

kc__rest_verdict kc__rest_endpoint_openid_configuration(kc__rest_call *call)
{
    const kc__sa_tokens *tokens = call->api->accounts;
    return respond_document(call, "application/json",
                            tokens ? kc__sa_tokens_discovery(tokens) : (kc_str){0});
}

kc__rest_verdict kc__rest_endpoint_openid_keys(kc__rest_call *call)
{
    const kc__sa_tokens *tokens = call->api->accounts;
    return respond_document(call, "application/jwk-set+json",
                            tokens ? kc__sa_tokens_key_set(tokens) : (kc_str){0});
}
