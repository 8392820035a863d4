/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any Secret refuses a bootstrap token, or gives a user with the name of the token, in groups of
 * bootstrap tokens only. The input is the Secret as JSON; text without a Secret is a token.
 */
#include "fuzzing.h"

#include "apiserver/access/authn_internal.h"
#include "kc/view.h"

#define TOKEN "abcdef.0123456789abcdef"

static const char valid[] =
    "{\"type\":\"bootstrap.kubernetes.io/token\",\"data\":{\"token-id\":\"YWJjZGVm\","
    "\"token-secret\":\"MDEyMzQ1Njc4OWFiY2RlZg==\",\"usage-bootstrap-authentication\":\"dHJ1ZQ==\"}"
    "}";

static void check_user(const kc__user *user)
{
    assert(kc_str_is(user->name, "system:bootstrap:abcdef") && user->n_groups >= 2);
    for (size_t i = 0; i < user->n_groups; i++)
        assert(kc_str_is(user->groups[i], "system:authenticated") ||
               kc_str_starts(user->groups[i], KC_STR("system:bootstrappers")));
}

static bool accepts(const kc_value *secret, kc_str token)
{
    kc_scoped(kc_arena) arena = {0};
    kc__user user = {0};
    const bool accepted = kc__authn_bootstrap_user(secret, token, 0, &arena, &user);
    if (accepted)
        check_user(&user);
    return accepted;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const kc_str text = kc_str_of((const char *)data, size);
    kc_auto(kc_view) *secret = kc_view_parse(text, NULL, NULL);
    kc_auto(kc_view) *known = kc_view_parse(kc_cstr(valid), NULL, NULL);
    if (secret)
        accepts(kc_view_root(secret), KC_STR(TOKEN));
    assert(accepts(kc_view_root(known), text) == kc_str_is(text, TOKEN));
    return 0;
}
