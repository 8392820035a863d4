/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any text is refused as an AuthorizationConfiguration, or gives authorizers whose webhooks can be
 * asked; it equals itself, and its match conditions give a result for every request.
 */
#include "fuzzing.h"

#include "apiserver/authz/authz_config.h"

static const kc_str groups[] = {KC_STR_INIT("dev"), KC_STR_INIT("system:authenticated")};
static const kc__user user = {.name = KC_STR_INIT("alice"), .groups = groups, .n_groups = 2};
static const kc__authz_attributes requests[] = {
    {.user = &user, .verb = KC_STR_INIT("get"), .path = KC_STR_INIT("/metrics")},
    {.user = &user,
     .verb = KC_STR_INIT("list"),
     .is_resource = true,
     .group = KC_STR_INIT("apps"),
     .resource = KC_STR_INIT("deployments"),
     .ns = KC_STR_INIT("prod")}};

static void check_conditions(const kc__authz_conditions *conditions)
{
    for (size_t i = 0; i < KC_COUNT(requests); i++) {
        kc_scoped(kc_buf) problems = {0};
        const kc__authz_match match =
            kc__authz_conditions_evaluate(conditions, &requests[i], false, &problems);
        assert((match == KC__AUTHZ_FAILED) <= (problems.n > 0));
        assert(!problems.n || problems.p[problems.n - 1] == '\0');
    }
}

static void check_webhook(const kc__authz_webhook_config *w)
{
    assert(w->kubeconfig[0] == '/' && w->timeout > 0 && w->timeout <= 30 * KC_SECOND);
    assert(w->authorized_ttl >= 0 && w->unauthorized_ttl >= 0);
    assert(!strcmp(w->version, "v1") || !strcmp(w->version, "v1beta1"));
    if (w->conditions)
        check_conditions(w->conditions);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    kc_scoped(kc_error) err = {0};
    const kc_str text = kc_str_of((const char *)data, size);
    kc_auto(kc__authz_config) *config = kc__authz_config_parse(text, 0, &err);
    assert(!config == !!err.reason);
    if (!config)
        return 0;
    assert(config->n && kc__authz_config_equal(config, config));
    for (size_t i = 0; i < config->n; i++) {
        assert(config->items[i].name[0] && config->modes >> config->items[i].mode & 1);
        if (config->items[i].mode == KC__AUTHZ_WEBHOOK_MODE)
            check_webhook(&config->items[i].webhook);
    }
    return 0;
}
