/* SPDX-License-Identifier: Apache-2.0 */
/* Files of --authentication-config: what is read, and the errors of invalid ones. */
#include "apiserver/access/jwt_config.h"

#include "testing.h"

#define HEAD     "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\n"
#define ISSUER   "issuer: {url: 'https://a', audiences: [x]}"
#define USERNAME "claimMappings: {username: {claim: sub, prefix: ''}}"

static kc__jwt_config *parse(const char *text, kc_error *err)
{
    static const kc_str own = KC_STR_INIT("https://kubernetes.default.svc");
    return kc__jwt_config_parse(kc_cstr(text), (kc__user_audiences){&own, 1}, err);
}

static void check_error(const char *text, const char *expected, int line)
{
    kc_scoped(kc_error) err = {0};
    kc_auto(kc__jwt_config) *config = parse(text, &err);
    if (config)
        fail_msg("line %d: no error", line);
    if (!strstr(kc_error_text(&err), expected))
        fail_msg("line %d: %s", line, kc_error_text(&err));
}
#define assert_refused(text, expected) check_error(text, expected, __LINE__)

static void valid_file_is_read(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    kc_auto(kc__jwt_config) *config =
        parse(HEAD "jwt:\n- " ISSUER "\n  claimMappings:\n"
                   "    username: {expression: 'claims.sub'}\n"
                   "    groups: {claim: g, prefix: 'p:'}\n"
                   "    extra: [{key: acme.io/a, valueExpression: 'claims.a'}]\n"
                   "anonymous: {enabled: true, conditions: [{path: /livez}]}\n",
              &err);
    if (!config)
        fail_msg("%s", kc_error_text(&err));
    assert_int_equal(config->n_issuers, 1);
    assert_non_null(config->issuers[0].username.expression.program);
    assert_str(config->issuers[0].groups.prefix, "p:");
    assert_str(config->issuers[0].extra[0].key, "acme.io/a");
    assert_true(config->has_anonymous && config->anonymous);
    assert_str(config->anonymous_paths.items[0], "/livez");
}

static void file_of_another_kind_is_refused(void **state)
{
    (void)state;
    assert_refused("", "empty config data");
    assert_refused("kind: AuthenticationConfiguration\n", "'apiVersion' is missing");
    assert_refused("apiVersion: v1\nkind: Pod\n", "no kind \"Pod\" is registered");
    assert_refused(HEAD "jwt: [{issuer: {url: 5}}]\n", "jwt[0].issuer.url: expected a string");
    assert_refused(HEAD "anonymous: {enabled: 'true'}\n", "anonymous.enabled: expected a boolean");
    assert_refused(HEAD "jwts: []\n", "strict decoding error: unknown field \"jwts\"");
    assert_refused(HEAD "jwt: [{" ISSUER ", rules: []}]\n", "unknown field \"jwt[0].rules\"");
}

static void invalid_issuers_are_refused(void **state)
{
    (void)state;
    const char *const cases[][2] = {
        {"{}", "jwt[0].issuer.url: Required value"},
        {"{url: 'https://a?x', audiences: [x]}", "URL must not contain a query"},
        {"{url: 'https://a#x', audiences: [x]}", "URL must not contain a fragment"},
        {"{url: 'https://u:p@a', audiences: [x]}", "URL must not contain a username or password"},
        {"{url: 'https://a', discoveryURL: 'https://a/', audiences: [x]}",
         "discoveryURL must be different from URL"},
        {"{url: 'https://a', audiences: ['', x, x]}",
         "jwt[0].issuer.audiences[2]: Duplicate value"},
        {"{url: 'https://a', audiences: [x, z]}", "must be MatchAny for multiple audiences"},
        {"{url: 'https://a', audiences: [x], certificateAuthority: nonsense}",
         "data does not contain any valid RSA or ECDSA certificates"},
        {"{url: 'https://a', audiences: [x], egressSelectorType: etcd}",
         "egress selector must be either controlplane or cluster"},
    };
    for (size_t i = 0; i < KC_COUNT(cases); i++) {
        kc_autofree char *text =
            kc_asprintf(HEAD "jwt: [{issuer: %s, " USERNAME "}]\n", cases[i][0]);
        assert_refused(text, cases[i][1]);
    }
    assert_refused(HEAD "jwt: [{" ISSUER ", " USERNAME "}, {" ISSUER ", " USERNAME "}]\n",
                   "jwt[1].issuer.url: Duplicate value: \"https://a\"");
}

static void invalid_rules_are_refused(void **state)
{
    (void)state;
    const char *const cases[][2] = {
        {"claimValidationRules: [{}]", "claim or expression is required"},
        {"claimValidationRules: [{claim: a, expression: 'true'}]", "can't both be set"},
        {"claimValidationRules: [{claim: a, message: m}]",
         "may not be specified when claim is set"},
        {"claimValidationRules: [{claim: a}, {claim: a}]", "[1].claim: Duplicate value: \"a\""},
        {"claimValidationRules: [{expression: '1'}]", "must evaluate to bool"},
        {"claimValidationRules: [{expression: 'user.uid == \"\"'}]", "compilation failed: ERROR"},
        {"userValidationRules: [{expression: 'user.nothing == \"\"'}]",
         "undefined field 'nothing'"},
        {"userValidationRules: [{}]", "jwt[0].userValidationRules[0].expression: Required value"},
    };
    for (size_t i = 0; i < KC_COUNT(cases); i++) {
        kc_autofree char *text =
            kc_asprintf(HEAD "jwt: [{" ISSUER ", " USERNAME ", %s}]\n", cases[i][0]);
        assert_refused(text, cases[i][1]);
    }
}

static void invalid_mappings_are_refused(void **state)
{
    (void)state;
    const char *const cases[][2] = {
        {"{}", "jwt[0].claimMappings.username: Required value: claim or expression is required"},
        {"{username: {claim: a}}", "username.prefix: Required value"},
        {"{username: {expression: 'claims.a', prefix: x}}", "may not be specified when expression"},
        {"{username: {expression: 'claims.email'}}", "claims.email_verified must be used"},
        {"{username: {expression: 'claims.?email.orValue(\"\")'}}", "claims.email_verified must"},
        {"{username: {claim: a, prefix: ''}, extra: [{key: a, valueExpression: 'claims.a'}]}",
         "must be a domain-prefixed path (such as \"acme.io/foo\")"},
        {"{username: {claim: a, prefix: ''}, extra: [{key: a.io/A, valueExpression: 'claims.a'}]}",
         "must be lowercase"},
        {"{username: {claim: a, prefix: ''}, extra: [{key: x.k8s.io/a, valueExpression: 'claims.a'}]}",
         "are reserved for Kubernetes use"},
        {"{username: {claim: a, prefix: ''}, extra: [{key: a.io/a}]}", "valueExpression: Required"},
    };
    for (size_t i = 0; i < KC_COUNT(cases); i++) {
        kc_autofree char *text =
            kc_asprintf(HEAD "jwt: [{" ISSUER ", claimMappings: %s}]\n", cases[i][0]);
        assert_refused(text, cases[i][1]);
    }
    kc_auto(kc__jwt_config) *verified =
        parse(HEAD "jwt: [{" ISSUER ", claimMappings: {username: {expression: "
                   "'claims.email_verified ? claims.email : \"\"'}}}]\n",
              NULL);
    assert_non_null(verified);
}

static void selections_of_an_expression_are_found(void **state)
{
    (void)state;
    const struct {
        const char *text;
        bool found;
    } cases[] = {{"claims.email", true},
                 {"claims . email", true},
                 {"claims.?email", true},
                 {"has(claims.email)", true},
                 {"claims.email2", false},
                 {"x.claims.email", false},
                 {"'claims.email'", false},
                 {"\"a\\\"\" + claims.email", true},
                 {"claims[\"email\"]", false},
                 {"myclaims.email", false},
                 {"claims", false},
                 {"claims.", false}};
    for (size_t i = 0; i < KC_COUNT(cases); i++)
        assert_int_equal(
            kc__jwt_expression_selects(kc_cstr(cases[i].text), KC_STR("claims"), KC_STR("email")),
            cases[i].found);
}

TESTS(valid_file_is_read, file_of_another_kind_is_refused, invalid_issuers_are_refused,
      invalid_rules_are_refused, invalid_mappings_are_refused,
      selections_of_an_expression_are_found)
