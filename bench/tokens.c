/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tokens.c: verification of a service-account token, cached and with its signature, against the
 * signature alone. An RSA signature takes 28 us, so the bound of a cached token, 0.036 of it, is a
 * microsecond. The account is found at once: the look-up of an object in a watch cache
 * (bench/cow_tree.c) comes on top.
 */
#include "bench.h"

#include "apiserver/access/sa_tokens.h"
#include "apiserver/jose/jws.h"
#include "http/tls/certificate.h"
#include "kc/file.h"
#include "kc/object.h"

#include <openssl/rsa.h>
#include <stdio.h>
#include <unistd.h>

#define ACCOUNT                                                                          \
    "{\"kind\":\"ServiceAccount\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"web\"," \
    "\"namespace\":\"default\",\"uid\":\"6f1ed002-ab2a-42f4-90fc-d2d1a5c3a0b7\"}}"

typedef struct token_input {
    kc_clock *clock; /* Virtual: moving it empties the cache. */
    kc__sa_tokens *tokens;
    kc__jose_keys keys; /* The same key, for the signature alone. */
    kc_object *account;
    kc_buf token;
    kc_arena arena;
} token_input;

static kc_object *only_account(kc__sa_kind kind, kc_str ns, kc_str name, void *user)
{
    (void)kind;
    (void)ns;
    (void)name;
    return kc_object_ref(((token_input *)user)->account);
}

static void verify_once(token_input *t)
{
    kc__user_identity identity;
    if (kc__sa_tokens_verify(t->tokens, kc_buf_str(&t->token), NULL, &t->arena, &identity, NULL) !=
        1)
        abort();
    bench_use(identity.user.name.p);
    kc_arena_clear(&t->arena);
}

static void verify_cached(void *input, size_t times)
{
    while (times--)
        verify_once(input);
}

static void verify_uncached(void *input, size_t times)
{
    token_input *t = input;
    while (times--) {
        kc_clock_advance(t->clock, 10 * KC_SECOND);
        verify_once(t);
    }
}

static void signature_alone(void *input, size_t times)
{
    token_input *t = input;
    kc_scoped(kc__jws) jws = {0};
    if (kc__jws_parse(kc_buf_str(&t->token), &jws, NULL) < 0)
        abort();
    while (times--)
        if (!kc__jws_verify(&jws, t->keys.items[0]))
            abort();
}

/* A key in a file, as the server reads it. */
static void write_key(const char *path, bool rsa)
{
    kc_buf pem = {0};
    EVP_PKEY *pkey = rsa ? EVP_RSA_gen(2048) : NULL;
    if ((rsa ? kc__cert_key_write(pkey, &pem, NULL) : kc__jose_key_generate(&pem, NULL)) < 0 ||
        kc_file_put(path, kc_buf_str(&pem), NULL) < 0)
        abort();
    EVP_PKEY_free(pkey);
    kc_buf_wipe(&pem);
}

static void sign_input(token_input *t)
{
    const kc_str audience = KC_STR("https://kubernetes.default.svc");
    const kc__sa_claims claims = {.audiences = &audience,
                                  .n_audiences = 1,
                                  .subject = KC_STR("system:serviceaccount:default:web"),
                                  .id = KC_STR("0cd6b0f1-8ba4-4720-a0b3-fa5c45fcb579"),
                                  .issued_at = {true, 0},
                                  .not_before = {true, 0},
                                  .expiry = {true, (int64_t)1 << 40},
                                  .ns = KC_STR("default"),
                                  .account = {true, KC_STR("web"), kc_object_uid(t->account)}};
    if (kc__sa_tokens_sign(t->tokens, &claims, &t->token, NULL) < 0)
        abort();
}

static void measure_key(const char *title, bool rsa)
{
    const kc_str issuer = KC_STR("https://kubernetes.default.svc");
    char path[64];
    token_input t = {.clock = kc_clock_virtual_new(0)};
    snprintf(path, sizeof(path), "/tmp/kc-bench-tokens-%ld.key", (long)getpid());
    write_key(path, rsa);
    t.account = kc_object_parse(KC_STR(ACCOUNT), NULL, NULL);
    t.tokens = kc__sa_tokens_new(
        &(kc__sa_opts){.issuers = {&issuer, 1}, .signing_key_file = path, .clock = t.clock}, NULL);
    if (!t.tokens || kc__jose_keys_read(path, &t.keys, NULL) < 0)
        abort();
    unlink(path);
    kc__sa_tokens_attach(t.tokens, &(kc__sa_objects){only_account, NULL, &t});
    sign_input(&t);
    contestant all[] = {{"cached", verify_cached},
                        {"not cached", verify_uncached},
                        {"signature alone", signature_alone}};
    bench_run(title, all, KC_COUNT(all), &t);
    bench_at_most("cached token, to its signature alone", all[0].ns / all[2].ns, 0.036);
    bench_at_most("token that is not cached, to its signature alone", all[1].ns / all[2].ns, 1.5);
    kc__sa_tokens_free(t.tokens);
    kc__jose_keys_done(&t.keys);
    kc_object_unref(t.account);
    kc_buf_done(&t.token);
    kc_arena_done(&t.arena);
    kc_clock_free(t.clock);
}

int main(void)
{
    measure_key("token of a service account, ES256", false);
    measure_key("token of a service account, RS256", true);
    return bench_result();
}
