/* SPDX-License-Identifier: Apache-2.0 */
/*
 * account_tokens.c: connects the controller of token Secrets with the key of service-account
 * tokens. Controllers use public headers only, and the key belongs to the API server, so the
 * command brings the two together: `kc up` with the key of its server, `kc controllers` with a key
 * file.
 */
#include "account_tokens.h"

#include "apiserver/access/account_name.h"

int kc__cli_sign_account_token(const kc_account_token *about, kc_buf *out, void *user,
                               kc_error *err)
{
    kc_scoped(kc_arena) arena = {0};
    const kc__sa_claims claims = {.legacy = true,
                                  .subject =
                                      kc__user_account_name(&arena, about->ns, about->account),
                                  .ns = about->ns,
                                  .secret = {true, about->secret, {0}},
                                  .account = {true, about->account, about->account_uid}};
    return kc__sa_tokens_sign(user, &claims, out, err);
}

kc__sa_tokens *kc__cli_account_tokens_read(const char *key_file, kc_error *err)
{
    static const kc_str issuer = KC_STR_INIT(KC__SA_LEGACY_ISSUER);
    return kc__sa_tokens_new(&(kc__sa_opts){.issuers = {&issuer, 1}, .signing_key_file = key_file},
                             err);
}
