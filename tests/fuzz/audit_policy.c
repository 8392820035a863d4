/* SPDX-License-Identifier: Apache-2.0 */
/* Any text is refused as an audit policy, or decides every request with a level and known stages.
 */
#include "fuzzing.h"

#include "apiserver/audit/audit_policy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const kc_str groups[] = {KC_STR_INIT("dev")};
    static const kc__user user = {.name = KC_STR_INIT("alice"), .groups = groups, .n_groups = 1};
    static const kc__audit_attributes requests[] = {
        {.user = &user, .verb = KC_STR_INIT("get"), .path = KC_STR_INIT("/healthz/x")},
        {.user = &user,
         .verb = KC_STR_INIT("list"),
         .is_resource = true,
         .resource = KC_STR_INIT("pods"),
         .subresource = KC_STR_INIT("log"),
         .ns = KC_STR_INIT("default"),
         .name = KC_STR_INIT("web")}};
    kc_scoped(kc_error) err = {0};
    kc_auto(kc__audit_policy) *policy =
        kc__audit_policy_parse(kc_str_of((const char *)data, size), NULL, &err);
    assert(!policy == !!err.reason);
    for (size_t i = 0; policy && i < KC_COUNT(requests); i++) {
        const kc__audit_decision decision = kc__audit_policy_decide(policy, &requests[i]);
        assert(decision.level < KC__AUDIT_LEVELS);
        assert(decision.omit_stages < 1u << KC__AUDIT_STAGES);
    }
    return 0;
}
