/* SPDX-License-Identifier: Apache-2.0 */
/*
 * people_tokens.c: signs the tokens of people, with the issuer, key and audiences of the tokens of
 * service accounts (access/sa_claims.h shows the claims).
 */
#include "apiserver/people/people_internal.h"

#include <openssl/rand.h>

static kc__sa_time seconds_of(kc_time time)
{
    return (kc__sa_time){true, time / KC_SECOND};
}

int kc__people_sign(kc__people *people, kc__people_op *op, const kc__people_user *user,
                    kc_str session, int64_t lifetime)
{
    uint8_t random[16];
    char id[KC_UID_TEXT];
    const kc_time now = kc_clock_wall(people->api->clock);
    const kc__user_audiences audiences = kc__sa_tokens_audiences(people->tokens);
    RAND_bytes(random, sizeof(random));
    const kc_str name = kc_object_name(user->object);
    const kc__sa_claims claims = {.subject = name,
                                  .id = kc_uid_of(random, id),
                                  .audiences = audiences.items,
                                  .n_audiences = audiences.n,
                                  .issued_at = seconds_of(now),
                                  .not_before = seconds_of(now),
                                  .expiry = seconds_of(now + lifetime),
                                  .person = {true, name, kc_object_uid(user->object)},
                                  .generation = user->generation,
                                  .session = session};
    op->token_expires = now + lifetime;
    kc_buf_clear(&op->token);
    return kc__sa_tokens_sign(people->tokens, &claims, &op->token, &op->error);
}
