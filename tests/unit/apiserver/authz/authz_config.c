/* SPDX-License-Identifier: Apache-2.0 */
/* Files of --authorization-config: what is read, and the errors of invalid ones. The errors are
 * those of kube-apiserver v1.34.1 for the same files. */
#include "apiserver/authz/authz_config.h"
#include "kc/file.h"
#include "testing.h"

#include <stdio.h>
#include <unistd.h>

#define HEAD    "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthorizationConfiguration\n"
#define CONNECT "connectionInfo: {type: KubeConfigFile, kubeConfigFile: /dev/../etc/passwd}"
#define BASE    "timeout: 3s, subjectAccessReviewVersion: v1, failurePolicy: Deny"
/* An authorizer of the type Webhook with further members of the webhook. */
#define HOOK(members) "{type: Webhook, name: hook, webhook: {" BASE ", " CONNECT ", " members "}}"

static kc__authz_config *parse_valid(const char *text)
{
    kc_scoped(kc_error) err = {0};
    kc__authz_config *config = kc__authz_config_parse(kc_cstr(text), 0, &err);
    if (!config)
        fail_msg("%s", kc_error_text(&err));
    return config;
}

static void check_refused(const char *text, unsigned required, const char *expected, int line)
{
    kc_scoped(kc_error) err = {0};
    kc_auto(kc__authz_config) *config = kc__authz_config_parse(kc_cstr(text), required, &err);
    if (config)
        fail_msg("line %d: no error", line);
    if (strcmp(kc_error_text(&err), expected) != 0)
        fail_msg("line %d: %s", line, kc_error_text(&err));
}
#define assert_refused(text, expected) check_refused(text, 0, expected, __LINE__)

/* Of one authorizer after HEAD. */
#define assert_authorizer_refused(authorizer, expected) \
    assert_refused(HEAD "authorizers: [" authorizer "]\n", expected)

static void authorizers_are_read_in_order(void **state)
{
    (void)state;
    kc_auto(kc__authz_config) *config =
        parse_valid(HEAD "authorizers:\n"
                         "- {type: Node, name: node}\n"
                         "- type: Webhook\n"
                         "  name: a.example.com\n"
                         "  webhook:\n"
                         "    timeout: 3s\n"
                         "    authorizedTTL: 1m\n"
                         "    unauthorizedTTL: 10s\n"
                         "    cacheUnauthorizedRequests: false\n"
                         "    subjectAccessReviewVersion: v1beta1\n"
                         "    matchConditionSubjectAccessReviewVersion: v1\n"
                         "    failurePolicy: Deny\n"
                         "    " CONNECT "\n"
                         "    matchConditions: [{expression: has(request.resourceAttributes)}]\n"
                         "- {type: RBAC, name: rbac}\n");
    assert_int_equal(config->n, 3);
    assert_int_equal(config->modes,
                     1 << KC__AUTHZ_NODE_MODE | 1 << KC__AUTHZ_RBAC | 1 << KC__AUTHZ_WEBHOOK_MODE);
    assert_int_equal(config->items[0].mode, KC__AUTHZ_NODE_MODE);
    assert_string_equal(config->items[1].name, "a.example.com");
    const kc__authz_webhook_config *w = &config->items[1].webhook;
    assert_string_equal(w->kubeconfig, "/dev/../etc/passwd");
    assert_string_equal(w->version, "v1beta1");
    assert_int_equal(w->timeout, 3 * KC_SECOND);
    assert_int_equal(w->authorized_ttl, KC_MINUTE);
    assert_int_equal(w->unauthorized_ttl, 0);
    assert_true(w->denies_on_error);
    assert_non_null(w->conditions);
}

static void omitted_members_have_their_defaults(void **state)
{
    (void)state;
    kc_auto(kc__authz_config) *config =
        parse_valid(HEAD "authorizers: [{type: Webhook, name: w, webhook: {timeout: 30s, "
                         "subjectAccessReviewVersion: v1, failurePolicy: NoOpinion, authorizedTTL: "
                         "null, " CONNECT "}}]\n");
    const kc__authz_webhook_config *w = &config->items[0].webhook;
    assert_int_equal(w->authorized_ttl, 5 * KC_MINUTE);
    assert_int_equal(w->unauthorized_ttl, 30 * KC_SECOND);
    assert_false(w->denies_on_error);
    assert_null(w->conditions);
}

static void older_versions_are_read(void **state)
{
    (void)state;
    static const char *const versions[] = {"v1beta1", "v1alpha1"};
    for (size_t i = 0; i < KC_COUNT(versions); i++) {
        kc_autofree char *text =
            kc_asprintf("{\"apiVersion\":\"apiserver.config.k8s.io/%s\",\"kind\":"
                        "\"AuthorizationConfiguration\",\"authorizers\":[{\"type\":\"RBAC\","
                        "\"name\":\"rbac\"}]}",
                        versions[i]);
        kc_auto(kc__authz_config) *config = parse_valid(text);
        assert_int_equal(config->n, 1);
    }
}

static void file_without_authorizers_is_refused(void **state)
{
    (void)state;
    const char *expected = "authorizers: Required value: at least one authorization mode must be "
                           "defined";
    assert_refused("", expected);
    assert_refused(HEAD, expected);
    assert_refused(HEAD "authorizers: []\n", expected);
    assert_refused(HEAD "authorizers: null\n", expected);
}

#define LOAD "failed to load AuthorizationConfiguration from file: "

static void file_of_another_kind_or_with_unknown_fields_is_refused(void **state)
{
    (void)state;
    assert_refused("apiVersion: apiserver.config.k8s.io/v2\nkind: AuthorizationConfiguration\n",
                   LOAD "no kind \"AuthorizationConfiguration\" is registered for version "
                        "\"apiserver.config.k8s.io/v2\"");
    assert_refused(HEAD "modes: [RBAC]\nauthorizers: [{type: RBAC, name: rbac, webhok: {}}]\n",
                   LOAD "strict decoding error: unknown field \"authorizers[0].webhok\", "
                        "unknown field \"modes\"");
    assert_authorizer_refused("{type: Webhook, name: w, webhook: {timeout: 3x}}",
                              LOAD "time: unknown unit \"x\" in duration \"3x\"");
}

static void names_and_types_are_checked(void **state)
{
    (void)state;
    assert_authorizer_refused("{name: a}", "authorizers[0].type: Required value");
    assert_authorizer_refused("{type: Foo, name: a}",
                              "authorizers[0].type: Unsupported value: \"Foo\": supported values: "
                              "\"AlwaysAllow\", \"AlwaysDeny\", \"Node\", \"RBAC\", \"Webhook\"");
    assert_authorizer_refused("{type: RBAC, name: rbac}, {type: RBAC, name: other}",
                              "authorizers[1].type: Duplicate value: \"RBAC\"");
    assert_authorizer_refused("{type: RBAC}", "authorizers[0].name: Required value");
    assert_authorizer_refused(
        "{type: RBAC, name: A}",
        "authorizers[0].name: Invalid value: \"A\": authorizer name is invalid: a lowercase RFC "
        "1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must "
        "start and end with an alphanumeric character (e.g. 'example.com', regex used for "
        "validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')");
    assert_authorizer_refused("{type: RBAC, name: roles}, {type: Node, name: nodes}",
                              "[expected name rbac for authorizer RBAC instead of roles, expected "
                              "name node for authorizer Node instead of nodes]");
    assert_authorizer_refused(HOOK("cacheAuthorizedRequests: true") ", " HOOK("authorizedTTL: 1s"),
                              "authorizers[1].name: Duplicate value: \"hook\"");
    assert_authorizer_refused("{type: RBAC, name: rbac, webhook: {}}",
                              "authorizers[0].webhook: Invalid value: \"non-null\": may only be "
                              "specified when type=Webhook");
    assert_authorizer_refused("{type: Webhook, name: w}",
                              "authorizers[0].webhook: Required value: required when type=Webhook");
}

static void members_of_a_webhook_are_checked_together(void **state)
{
    (void)state;
    assert_authorizer_refused(
        "{type: Webhook, name: w, webhook: {}}",
        "[authorizers[0].timeout: Required value, authorizers[0].subjectAccessReviewVersion: "
        "Required value, authorizers[0].failurePolicy: Required value, "
        "authorizers[0].connectionInfo.type: Required value]");
    assert_authorizer_refused(
        "{type: Webhook, name: w, webhook: {timeout: 31s, authorizedTTL: -1s, unauthorizedTTL: "
        "-1h, subjectAccessReviewVersion: v2, matchConditionSubjectAccessReviewVersion: v1beta1, "
        "failurePolicy: Allow, connectionInfo: {type: Url}}}",
        "[authorizers[0].timeout: Invalid value: \"31s\": must be > 0s and <= 30s, "
        "authorizers[0].authorizedTTL: Invalid value: \"-1s\": must be > 0s, "
        "authorizers[0].unauthorizedTTL: Invalid value: \"-1h0m0s\": must be > 0s, "
        "authorizers[0].subjectAccessReviewVersion: Unsupported value: \"v2\": supported values: "
        "\"v1\", \"v1beta1\", authorizers[0].matchConditionSubjectAccessReviewVersion: Unsupported "
        "value: \"v1beta1\": supported values: \"v1\", authorizers[0].failurePolicy: Unsupported "
        "value: \"Allow\": supported values: \"NoOpinion\", \"Deny\", "
        "authorizers[0].connectionInfo.type: Unsupported value: "
        "{\"Type\":\"Url\",\"KubeConfigFile\":null}: supported values: \"InClusterConfig\", \"KubeConfigFile\"]");
}

#define CONNECTION(info) "{type: Webhook, name: w, webhook: {" BASE ", connectionInfo: {" info "}}}"
#define AT               "authorizers[0].connectionInfo.kubeConfigFile: "

static void connection_needs_an_existing_regular_file(void **state)
{
    (void)state;
    assert_authorizer_refused(CONNECTION("type: KubeConfigFile"), AT "Required value");
    assert_authorizer_refused(CONNECTION("type: KubeConfigFile, kubeConfigFile: a/b"),
                              AT "Invalid value: \"a/b\": must be an absolute path");
    assert_authorizer_refused(CONNECTION("type: KubeConfigFile, kubeConfigFile: /no/such"),
                              AT "Invalid value: \"/no/such\": error loading file: stat "
                                 "/no/such: no such file or directory");
    assert_authorizer_refused(CONNECTION("type: KubeConfigFile, kubeConfigFile: /tmp"),
                              AT "Invalid value: \"/tmp\": must be a regular file");
    assert_authorizer_refused(CONNECTION("type: InClusterConfig, kubeConfigFile: /etc/passwd"),
                              AT "Invalid value: \"/etc/passwd\": can only be set when "
                                 "type=KubeConfigFile");
    assert_authorizer_refused(CONNECTION("type: InClusterConfig"),
                              "authorizers[0].connectionInfo.type: Invalid value: "
                              "\"InClusterConfig\": not allowed for the API server; use "
                              "KubeConfigFile");
}

#define MATCH(list) \
    HOOK("matchConditionSubjectAccessReviewVersion: v1, matchConditions: [" list "]")
#define CONDITION "authorizers[0].matchConditions"

static void match_conditions_are_compiled(void **state)
{
    (void)state;
    assert_authorizer_refused(
        HOOK("matchConditions: [{expression: 'true'}]"),
        "authorizers[0].matchConditionSubjectAccessReviewVersion: Required value: required if "
        "match conditions are specified");
    assert_authorizer_refused(MATCH("{expression: ' '}"), CONDITION "[0].expression: Required "
                                                                    "value");
    assert_authorizer_refused(MATCH("{expression: 'true'}, {expression: 'true'}"),
                              CONDITION "[1].expression: Duplicate value: \"true\"");
    assert_authorizer_refused(MATCH("{expression: request.user}"),
                              CONDITION "[0].expression: Invalid value: \"request.user\": must "
                                        "evaluate to bool but got string");
    assert_authorizer_refused(
        MATCH("{expression: request.name == 'a'}"),
        CONDITION "[0].expression: Invalid value: \"request.name == 'a'\": compilation failed: "
                  "ERROR: <input>:1:8: undefined field 'name'\n"
                  " | request.name == 'a'\n"
                  " | .......^");
}

static void more_than_64_match_conditions_are_refused(void **state)
{
    (void)state;
    kc_scoped(kc_buf) text = {0};
    kc_buf_puts(&text, HEAD "authorizers: [{type: Webhook, name: w, webhook: {" BASE ", " CONNECT
                            ", matchConditionSubjectAccessReviewVersion: v1, matchConditions: [");
    for (int i = 0; i < 65; i++)
        kc_buf_printf(&text, "{expression: '%d > 0'}, ", i);
    kc_buf_puts(&text, "]}}]\n");
    assert_refused(kc_buf_cstr(&text),
                   "authorizers[0].matchConditions: Too many: 65: must have at most 64 items");
}

static void required_types_must_stay(void **state)
{
    (void)state;
    check_refused(HEAD "authorizers: [{type: AlwaysDeny, name: deny}]\n",
                  1 << KC__AUTHZ_RBAC | 1 << KC__AUTHZ_NODE_MODE,
                  "[expected name alwaysdeny for authorizer AlwaysDeny instead of deny, missing "
                  "required types: [Node RBAC]]",
                  __LINE__);
}

static void files_that_configure_the_same_are_equal(void **state)
{
    (void)state;
    kc_auto(kc__authz_config) *a =
        parse_valid(HEAD "authorizers: [" HOOK("authorizedTTL: 5m") "]\n");
    kc_auto(kc__authz_config) *b =
        parse_valid(HEAD "# the same\nauthorizers: [" HOOK("cacheAuthorizedRequests: true") "]\n");
    kc_auto(kc__authz_config) *c =
        parse_valid(HEAD "authorizers: [" MATCH("{expression: 'true'}") "]\n");
    kc_auto(kc__authz_config) *d =
        parse_valid(HEAD "authorizers: [" MATCH("{expression: '1 > 0'}") "]\n");
    assert_true(kc__authz_config_equal(a, b));
    assert_false(kc__authz_config_equal(a, c));
    assert_false(kc__authz_config_equal(c, d));
}

TESTS(authorizers_are_read_in_order, omitted_members_have_their_defaults, older_versions_are_read,
      file_without_authorizers_is_refused, file_of_another_kind_or_with_unknown_fields_is_refused,
      names_and_types_are_checked, members_of_a_webhook_are_checked_together,
      connection_needs_an_existing_regular_file, match_conditions_are_compiled,
      more_than_64_match_conditions_are_refused, required_types_must_stay,
      files_that_configure_the_same_are_equal)
