/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sa_documents.c: the OIDC discovery document of the issuer and its key set, made once. Other
 * systems verify tokens of service accounts with them.
 *
 * OIDC requires an issuer that is an https URL without query and fragment. With any other issuer
 * the server does not serve the documents, as kube-apiserver.
 */
#include "apiserver/access/sa_internal.h"

#include "apiserver/jose/jwk.h"
#include "kc/json.h"

static bool is_oidc_issuer(kc_str issuer)
{
    return kc_str_starts(issuer, KC_STR("https://")) && kc_str_find(issuer, '?') < 0 &&
           kc_str_find(issuer, '#') < 0;
}

static void write_algorithms(const kc__jose_keys *keys, kc_buf *out)
{
    /* In alphabetical order. */
    static const kc__jose_algorithm order[] = {KC__JOSE_ES256, KC__JOSE_ES384, KC__JOSE_ES512,
                                               KC__JOSE_RS256};
    const char *separator = "";
    for (size_t i = 0; i < KC_COUNT(order); i++)
        for (size_t j = 0; j < keys->n; j++)
            if (keys->items[j]->algorithm == order[i]) {
                kc_buf_printf(out, "%s\"%s\"", separator, kc__jose_algorithm_name(order[i]));
                separator = ",";
                break;
            }
}

static void write_discovery(const kc__sa_tokens *tokens, const char *jwks_uri, kc_buf *out)
{
    kc_buf_puts(out, "{\"issuer\":");
    kc_json_quote(out, tokens->issuers.items[0]);
    kc_buf_puts(out, ",\"jwks_uri\":");
    kc_json_quote(out, kc_cstr(jwks_uri));
    kc_buf_puts(out, ",\"response_types_supported\":[\"id_token\"],\"subject_types_supported\":"
                     "[\"public\"],\"id_token_signing_alg_values_supported\":[");
    write_algorithms(&tokens->keys, out);
    kc_buf_puts(out, "]}");
}

int kc__sa_make_documents(kc__sa_tokens *tokens, const char *jwks_uri, kc_error *err)
{
    kc_scoped(kc_buf) discovery = {0}, key_set = {0};
    if (!jwks_uri || !is_oidc_issuer(tokens->issuers.items[0]))
        return 0;
    write_discovery(tokens, jwks_uri, &discovery);
    if (kc__jwk_set_write(&tokens->keys, &key_set, err) < 0)
        return kc_error_result(err);
    tokens->discovery = kc_arena_str(&tokens->arena, kc_buf_str(&discovery));
    tokens->key_set = kc_arena_str(&tokens->arena, kc_buf_str(&key_set));
    return 0;
}
