/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any text is refused as a token, or has the parts that it is made of: its signed text and the
 * base64url of its signature give the same text again. No fuzzed token is signed by a key. A
 * payload is refused as claims, or gives the same claims when they are written and parsed again.
 * The same bytes are parsed as a key set and as a key file.
 */
#include "fuzzing.h"

#include "apiserver/access/sa_claims.h"
#include "apiserver/jose/jwk.h"
#include "apiserver/jose/jws.h"
#include "kc/base64.h"

static const char public_key[] =
    "-----BEGIN PUBLIC KEY-----\n"
    "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEGdUIocak4ERnbiol3u0OJrw2Xvs2\n"
    "l8GkTX/x3Rlx11bnYsh+BbJhGx2m5F4L5t/PoWLkiFY4x3DJfALL2T/3bA==\n"
    "-----END PUBLIC KEY-----\n";

static void check_claims_again(kc_str payload)
{
    kc_scoped(kc_buf) text = {0}, twice = {0};
    kc_auto(kc__sa_claims) *claims = kc__sa_claims_parse(payload, NULL);
    if (!claims)
        return;
    kc__sa_claims_write(claims, &text);
    kc_auto(kc__sa_claims) *again = kc__sa_claims_parse(kc_buf_str(&text), NULL);
    assert(again && again->legacy == claims->legacy);
    kc__sa_claims_write(again, &twice);
    assert(kc_str_eq(kc_buf_str(&text), kc_buf_str(&twice)));
}

static void check_token(kc_str token)
{
    kc_scoped(kc__jws) jws = {0};
    kc_scoped(kc_error) err = {0};
    kc_scoped(kc_buf) again = {0};
    kc_scoped(kc__jose_keys) keys = {0};
    if (kc__jws_parse(token, &jws, &err) < 0) {
        assert(err.reason == KC_INVALID || err.reason == KC_TOO_LARGE);
        return;
    }
    kc_buf_append(&again, jws.signed_text);
    kc_buf_putc(&again, '.');
    kc_base64_write(&again, jws.signature, KC_BASE64_URL);
    assert(kc_str_eq(kc_buf_str(&again), token));
    assert(kc__jose_keys_parse(kc_cstr(public_key), &keys, NULL) == 0);
    assert(!kc__jws_verify(&jws, keys.items[0]));
    check_claims_again(jws.payload);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const kc_str text = {size ? (const char *)data : "", size};
    kc_scoped(kc__jose_keys) set = {0}, file = {0};
    kc_scoped(kc_buf) json = {0};
    check_token(text);
    check_claims_again(text);
    if (kc__jwk_set_parse(text, &set, NULL) == 0)
        assert(kc__jwk_set_write(&set, &json, NULL) == 0);
    kc__jose_keys_parse(text, &file, NULL);
    assert(set.n <= KC__JOSE_MAX_KEYS && file.n <= KC__JOSE_MAX_KEYS);
    return 0;
}
