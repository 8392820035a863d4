/* SPDX-License-Identifier: Apache-2.0 */
/*
 * accounts_testing.h: tokens of service accounts with a key of the test, in a temporary file.
 *
 *     kc_auto(kc__sa_tokens) *tokens = tokens_with("P-256", (kc__sa_opts){.clock = clock});
 *
 * The issuer, and so the audience, is ISSUER.
 */
#ifndef KC_ACCOUNTS_TESTING_H
#define KC_ACCOUNTS_TESTING_H

#include "jose_testing.h"

#include "apiserver/access/sa_tokens.h"

#include <unistd.h>

#define ISSUER "https://kubernetes.default.svc"

/* Writes a key to a new file; the path replaces the X's. */
KC_UNUSED static void write_test_key(char *path, EVP_PKEY *pkey, bool is_private)
{
    kc_autofree char *pem = pem_of(pkey, is_private);
    const int fd = mkstemp(path);
    assert_true(write(fd, pem, strlen(pem)) == (ssize_t)strlen(pem));
    close(fd);
}

/* Tokens that sign with this key; the caller keeps it. */
KC_UNUSED static kc__sa_tokens *tokens_of_key(EVP_PKEY *pkey, kc__sa_opts opts)
{
    static const kc_str issuer = KC_STR_INIT(ISSUER);
    char path[] = "/tmp/kc-accounts-XXXXXX";
    kc_scoped(kc_error) err = {0};
    write_test_key(path, pkey, true);
    opts.signing_key_file = path;
    opts.jwks_uri = "https://127.0.0.1:6443/openid/v1/jwks";
    if (!opts.issuers.n)
        opts.issuers = (kc__user_audiences){&issuer, 1};
    kc__sa_tokens *tokens = kc__sa_tokens_new(&opts, &err);
    unlink(path);
    if (!tokens)
        fail_msg("%s", kc_error_text(&err));
    return tokens;
}

KC_UNUSED static kc__sa_tokens *tokens_with(const char *type, kc__sa_opts opts)
{
    EVP_PKEY *pkey = new_test_key(type);
    kc__sa_tokens *tokens = tokens_of_key(pkey, opts);
    EVP_PKEY_free(pkey);
    return tokens;
}

#endif
