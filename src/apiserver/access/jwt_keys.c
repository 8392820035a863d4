/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jwt_keys.c: fetches the public keys of an issuer (OpenID Connect Discovery 1.0):
 *
 *     URL/.well-known/openid-configuration, or discoveryURL ─▶ {"issuer": URL, "jwks_uri": …} ─▶
 * keys
 *
 * The document must name the issuer itself: it may come from another address (discoveryURL), which
 * could belong to another issuer.
 */
#include "apiserver/access/jwt_keys.h"

#include "apiserver/jose/jwk.h"
#include "http/client/http_get.h"
#include "kc/view.h"

kc__jwt_keys *kc__jwt_keys_ref(kc__jwt_keys *keys)
{
    kc_ref_add(&keys->refs);
    return keys;
}

kc__jwt_keys *kc__jwt_keys_unref(kc__jwt_keys *keys)
{
    if (!keys || !kc_ref_drop(&keys->refs))
        return NULL;
    kc__jose_keys_done(&keys->set);
    free(keys);
    return NULL;
}

static char *discovery_url_of(const kc__jwt_issuer_config *issuer)
{
    kc_str url = issuer->url;
    if (issuer->discovery_url.n)
        return kc_str_dup(issuer->discovery_url);
    if (url.n && url.p[url.n - 1] == '/')
        url.n--;
    return kc_asprintf("%.*s/.well-known/openid-configuration", KC_ARG(url));
}

/* The address of the keys; the caller frees it. */
static char *discover_keys(const kc__jwt_issuer_config *issuer, const kc__http_get_opts *opts,
                           kc_error *err)
{
    kc_scoped(kc_buf) text = {0};
    kc_autofree char *url = discovery_url_of(issuer);
    if (kc__http_get(url, opts, &text, err) < 0)
        return NULL;
    kc_auto(kc_view) *view = kc_view_parse(kc_buf_str(&text), NULL, err);
    if (!view)
        return NULL;
    const kc_str named = kc_value_as_str(kc_value_get(kc_view_root(view), "issuer"));
    const kc_str keys = kc_value_as_str(kc_value_get(kc_view_root(view), "jwks_uri"));
    if (!kc_str_eq(named, issuer->url))
        kc_error_set(err, KC_INVALID,
                     "oidc: issuer did not match the issuer returned by provider, expected "
                     "\"%.*s\" got \"%.*s\"",
                     KC_ARG(issuer->url), KC_ARG(named));
    else if (!kc_str_starts(keys, KC_STR("https://")))
        kc_error_set(err, KC_INVALID, "oidc: the provider names no https address of its keys");
    else
        return kc_str_dup(keys);
    return NULL;
}

kc__jwt_keys *kc__jwt_keys_fetch(const kc__jwt_issuer_config *issuer, const _Atomic bool *abort,
                                 kc_error *err)
{
    kc_scoped(kc_buf) text = {0};
    const kc__http_get_opts opts = {
        .ca = issuer->ca, .max_bytes = KC__JWK_MAX_BYTES, .abort = abort};
    kc_autofree char *url = discover_keys(issuer, &opts, err);
    if (!url || kc__http_get(url, &opts, &text, err) < 0)
        return NULL;
    kc_auto(kc__jwt_keys) *keys = kc_new(kc__jwt_keys);
    kc_ref_init(&keys->refs);
    if (kc__jwk_set_parse(kc_buf_str(&text), &keys->set, err) < 0)
        return NULL;
    return kc_take(keys);
}

bool kc__jwt_keys_verify(const kc__jwt_keys *keys, const kc__jws *jws)
{
    size_t tried = 0;
    for (size_t i = 0; i < keys->set.n && tried < KC__JWT_MAX_TRIED_KEYS; i++) {
        const kc__jose_key *key = keys->set.items[i];
        if (jws->key_id.n && !kc_str_eq(kc_cstr(key->id), jws->key_id))
            continue;
        tried++;
        if (kc__jws_verify(jws, key))
            return true;
    }
    return false;
}
