/* SPDX-License-Identifier: Apache-2.0 */
/* kubectl_policy.c: kubectl is refused, or limited to temporary tokens; other clients are not. */
#include "people_testing.h"

#define KUBECTL "kubectl/v1.34.1 (linux/amd64) kubernetes/abcdef0"
#define PODS    "/api/v1/namespaces/default/pods"

static const reply *kubectl_get(town *t, const char *token, const char *agent)
{
    return SEND(t->a, "GET", PODS, .agent = agent,
                .headers = {text(t->a, "Authorization: Bearer %s", token)});
}

static const char *issue(town *t, const char *name, int seconds)
{
    const reply *r =
        town_admin(t, "POST", "/people/token",
                   text(t->a, "{'username':'%s','expirationSeconds':%d}", name, seconds));
    assert_code(r, 200);
    return r_text(r, "token");
}

static void disabled_kubectl_gets_403_with_hint(void **state)
{
    (void)state;
    kc_auto(town) *t = town_start_with((api_opts){.server = {.kubectl = {.disabled = true}}});
    assert_status(kubectl_get(t, "admin", KUBECTL), 403, "Forbidden",
                  "kubectl is disabled on this server; use the console or another client of the "
                  "API, or ask an administrator");
    assert_code(kubectl_get(t, "admin", "curl/8"), 200);
    assert_code(kubectl_get(t, "admin", "my-kubectl"), 200);
    assert_code(kubectl_get(t, "admin", NULL), 200);
}

static void kubectl_may_use_temporary_tokens_only(void **state)
{
    (void)state;
    kc_auto(town) *t = town_start_with(
        (api_opts){.server = {.kubectl = {.ephemeral = true, .duration = 30 * KC_MINUTE}}});
    assert_code(town_admin(t, "POST", USERS, user_body(t, "ann", "")), 201);
    assert_status(kubectl_get(t, "admin", KUBECTL), 403, "Forbidden",
                  "this server accepts only temporary tokens from kubectl; log in with \"kc "
                  "login\", or ask an administrator for \"kc token\"");
    assert_code(kubectl_get(t, "admin", "curl/8"), 200);
    /* Forbidden by the roles, not by the policy. */
    const reply *short_lived = kubectl_get(t, issue(t, "ann", 600), KUBECTL);
    assert_code(short_lived, 403);
    assert_non_null(strstr(short_lived->body, "cannot list resource"));
    const reply *long_lived = kubectl_get(t, issue(t, "ann", 7200), KUBECTL);
    assert_code(long_lived, 403);
    assert_non_null(strstr(long_lived->body, "expire within 1800 seconds"));
    assert_null(strstr(kubectl_get(t, issue(t, "ann", 7200), "curl/8")->body, "expire within"));
}

static void impersonation_does_not_hide_a_static_token(void **state)
{
    (void)state;
    kc_auto(town) *t = town_start_with((api_opts){.server = {.kubectl = {.ephemeral = true}}});
    const reply *r = SEND(t->a, "GET", PODS, .agent = KUBECTL,
                          .headers = {"Authorization: Bearer admin", "Impersonate-User: ann",
                                      "Impersonate-Group: system:masters"});
    assert_code(r, 403);
    assert_non_null(strstr(r->body, "only temporary tokens"));
}

TESTS(disabled_kubectl_gets_403_with_hint, kubectl_may_use_temporary_tokens_only,
      impersonation_does_not_hide_a_static_token)
