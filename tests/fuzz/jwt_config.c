/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any text is refused as an AuthenticationConfiguration, or gives issuers that can be asked for
 * their keys and whose tokens have a user name.
 */
#include "fuzzing.h"

#include "apiserver/access/jwt_config.h"

static void check_rules(const kc__jwt_rule *rules, size_t n)
{
    for (size_t i = 0; i < n; i++)
        assert(!rules[i].claim.n == !!rules[i].expression.program);
}

static void check_issuer(const kc__jwt_issuer_config *issuer)
{
    const kc__jwt_mapping *name = &issuer->username;
    assert(kc_str_starts(issuer->url, KC_STR("https:")) && issuer->audiences.n);
    assert(!name->claim.n == !!name->expression.program);
    check_rules(issuer->claim_rules, issuer->n_claim_rules);
    check_rules(issuer->user_rules, issuer->n_user_rules);
    assert(issuer->n_claim_rules <= KC__JWT_MAX_RULES && issuer->n_extra <= KC__JWT_MAX_RULES);
    for (size_t i = 0; i < issuer->n_extra; i++)
        assert(issuer->extra[i].key.n && issuer->extra[i].program);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const kc_str own = KC_STR_INIT("https://kubernetes.default.svc");
    kc_scoped(kc_error) err = {0};
    kc_auto(kc__jwt_config) *config = kc__jwt_config_parse(kc_str_of((const char *)data, size),
                                                           (kc__user_audiences){&own, 1}, &err);
    assert(!config == !!err.reason);
    for (size_t i = 0; config && i < config->n_issuers; i++) {
        assert(!kc_str_eq(config->issuers[i].url, own));
        check_issuer(&config->issuers[i]);
    }
    assert(!config || config->anonymous || !config->anonymous_paths.n);
    return 0;
}
