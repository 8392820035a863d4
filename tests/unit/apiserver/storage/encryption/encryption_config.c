/* SPDX-License-Identifier: Apache-2.0 */
/* Reading an EncryptionConfiguration: rules, precedence of wildcards, kube-apiserver's errors. */
#include "testing.h"

#include "apiserver/storage/encryption/encryption_config.h"

#define HEAD "apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\n"
#define K16  "MDEyMzQ1Njc4OWFiY2RlZg=="
#define K24  "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3"
#define K32  "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="

static kc__encryption_config *parse_config(const char *text, kc_error *err)
{
    kc_scoped(kc_buf) copy = {0};
    kc_buf_puts(&copy, text);
    kc__encryption_config *config = kc__encryption_config_parse(&copy, "e.yaml", err);
    assert_int_equal(copy.n, 0);
    return config;
}

static kc__encryption_config *must_parse(const char *text)
{
    kc_scoped(kc_error) err = {0};
    kc__encryption_config *config = parse_config(text, &err);
    if (!config)
        fail_msg("%s", kc_error_text(&err));
    return config;
}

static void expect_refused(const char *text, const char *message)
{
    kc_scoped(kc_error) err = {0};
    kc_auto(kc__encryption_config) *config = parse_config(text, &err);
    assert_null(config);
    assert_string_equal(kc_error_text(&err), message);
    assert_null(strstr(kc_error_text(&err), K16));
}

/* The name of the key that encrypts a resource; "identity", or "none" without a rule. */
static const char *writer(const kc__encryption_config *config, const char *group, const char *name)
{
    const kc__encryption_rule *rule = kc__encryption_config_find(
        config, (kc__encryption_resource){kc_cstr(group), kc_cstr(name)});
    if (!rule)
        return "none";
    return rule->providers.items[0]->cipher ? rule->providers.items[0]->keys[0].name.p : "identity";
}

static void most_specific_rule_of_a_resource_applies(void **state)
{
    (void)state;
    kc_auto(kc__encryption_config) *config =
        must_parse(HEAD "resources:\n"
                        "- resources: [events]\n  providers: [{identity: {}}]\n"
                        "- resources: [secrets, pandas.bears.example]\n"
                        "  providers: [{aesgcm: {keys: [{name: a, secret: " K16 "}]}}]\n"
                        "- resources: ['*.apps']\n"
                        "  providers: [{aescbc: {keys: [{name: b, secret: " K32 "}]}}]\n"
                        "- resources: ['*.']\n"
                        "  providers: [{secretbox: {keys: [{name: c, secret: " K32 "}]}}]\n"
                        "- resources: ['*.*']\n"
                        "  providers: [{aescbc: {keys: [{name: d, secret: " K24 "}]}}]\n");
    assert_string_equal(writer(config, "", "events"), "identity");
    assert_memory_equal(writer(config, "", "secrets"), "a:", 2);
    assert_memory_equal(writer(config, "bears.example", "pandas"), "a:", 2);
    assert_memory_equal(writer(config, "apps", "deployments"), "b:", 2);
    assert_memory_equal(writer(config, "", "pods"), "c:", 2);
    assert_memory_equal(writer(config, "bears.example", "teddies"), "d:", 2);
}

static void resource_without_rule_is_not_encrypted(void **state)
{
    (void)state;
    kc_auto(kc__encryption_config) *config =
        must_parse(HEAD "resources:\n- resources: [secrets]\n  providers: [{identity: {}}]\n");
    assert_string_equal(writer(config, "", "configmaps"), "none");
    assert_string_equal(writer(config, "example.com", "secrets"), "none");
}

static void resource_in_two_entries_has_the_providers_of_both(void **state)
{
    (void)state;
    kc_auto(kc__encryption_config) *config =
        must_parse(HEAD "resources:\n"
                        "- resources: [secrets]\n"
                        "  providers: [{aesgcm: {keys: [{name: a, secret: " K16 "}]}}]\n"
                        "- resources: [secrets]\n  providers: [{identity: {}}]\n");
    const kc__encryption_rule *rule =
        kc__encryption_config_find(config, (kc__encryption_resource){.name = KC_STR("secrets")});
    assert_int_equal(rule->providers.n, 2);
    assert_null(rule->providers.items[1]->cipher);
}

static void keys_with_equal_names_are_accepted(void **state)
{
    (void)state;
    kc_auto(kc__encryption_config) *config = must_parse(
        HEAD "resources:\n- resources: [secrets]\n  providers:\n"
             "  - aesgcm: {keys: [{name: a, secret: " K16 "}, {name: a, secret: " K32 "}]}\n");
    assert_int_equal(config->rules.items[0].providers.items[0]->n_keys, 2);
}

#define PARSING "error while parsing file: "
#define ENTRY(resources, providers) \
    HEAD "resources:\n- resources: " resources "\n  providers: " providers "\n"
#define IDENTITY "[{identity: {}}]"

static void invalid_configuration_is_refused_with_the_words_of_kubernetes(void **state)
{
    (void)state;
    expect_refused(HEAD, PARSING "resources: Required value: at least one resources is required");
    expect_refused(ENTRY("[]", IDENTITY), PARSING
                   "resources[0].resources: Required value: at least one resources[0].resources "
                   "is required");
    expect_refused(ENTRY("[secrets]", "[]"), PARSING
                   "resources[0].providers: Required value: at least one resources[0].providers "
                   "is required");
    expect_refused(ENTRY("[secrets]", "[{aesgcm: {keys: []}}]"), PARSING
                   "resources[0].providers[0].aesgcm.keys: Required value: at least one keys is "
                   "required");
    expect_refused(ENTRY("[secrets]", "[{aesgcm: {keys: [{secret: " K16 "}]}}]"), PARSING
                   "resources[0].providers[0].aesgcm.keys[0].name: Required value: name is a "
                   "mandatory field for a key");
    expect_refused(ENTRY("[secrets]", "[{aesgcm: {keys: [{name: a}]}}]"), PARSING
                   "resources[0].providers[0].aesgcm.keys[0].secret: Required value: secret is a "
                   "mandatory field for a key");
    expect_refused(ENTRY("[secrets]", "[{aesgcm: {keys: [{name: a, secret: '~~'}]}}]"), PARSING
                   "resources[0].providers[0].aesgcm.keys[0].secret: Invalid value: \"REDACTED\": "
                   "secrets must be base64 encoded");
    expect_refused(ENTRY("[secrets]", "[{aescbc: {keys: [{name: a, secret: YWJj}]}}]"), PARSING
                   "resources[0].providers[0].aescbc.keys[0].secret: Invalid value: \"REDACTED\": "
                   "secret is not of the expected length, got 3, expected one of [16 24 32]");
    expect_refused(ENTRY("[secrets]", "[{secretbox: {keys: [{name: a, secret: " K16 "}]}}]"),
                   PARSING
                   "resources[0].providers[0].secretbox.keys[0].secret: Invalid value: "
                   "\"REDACTED\": secret is not of the expected length, got 16, expected one of "
                   "[32]");
    expect_refused(ENTRY("[secrets]", "[{}]"), PARSING
                   "resources[0].providers[0]: Invalid value: "
                   "{\"AESGCM\":null,\"AESCBC\":null,\"Secretbox\":null,\"Identity\":null,"
                   "\"KMS\":null}: provider does not contain any of the expected providers: KMS, "
                   "AESGCM, AESCBC, Secretbox, Identity");
}

static void unsuitable_resources_are_refused_with_the_words_of_kubernetes(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"[Secrets]", "resources[0].resources[0]: Invalid value: \"Secrets\": resource name should "
                      "not contain capital letters"},
        {"['*']", "resources[0].resources[0]: Invalid value: \"*\": use '*.' to encrypt all the "
                  "resources from core API group or *.* to encrypt all resources"},
        {"[apiserveripinfo]", "resources[0].resources[0]: Invalid value: \"apiserveripinfo\": "
                              "resources which do not have REST API/s cannot be encrypted"},
        {"[events.events.k8s.io]",
         "resources[0].resources[0]: Invalid value: \"events.events.k8s.io\": '*.events.k8s.io' "
         "objects are stored using the 'events' API group in etcd. Use 'events' instead in the "
         "config file"},
        {"[deployments.extensions]",
         "resources[0].resources[0]: Invalid value: \"deployments.extensions\": 'extensions' group "
         "has been removed and cannot be used for encryption"},
        {"['pods.*']", "resources[0].resources[0]: Invalid value: \"pods.*\": encrypting the same "
                       "resource across groups is not supported"},
        {"[secrets, secrets]",
         "resources[0].resources: Invalid value: [\"secrets\",\"secrets\"]: the same resource "
         "cannot be specified multiple times"},
        {"[secrets, '*.']", "resources[0].resources: Invalid value: [\"secrets\",\"*.\"]: using "
                            "overlapping resources such as 'secrets' and '*.' in the same resource "
                            "list is not allowed as they will be masked"},
    };
    for (size_t i = 0; i < KC_COUNT(cases); i++) {
        kc_autofree char *text = kc_asprintf(
            HEAD "resources:\n- resources: %s\n  providers: " IDENTITY "\n", cases[i][0]);
        kc_autofree char *message = kc_asprintf(PARSING "%s", cases[i][1]);
        expect_refused(text, message);
    }
}

static void provider_kms_is_refused_as_not_supported(void **state)
{
    (void)state;
    expect_refused(
        ENTRY("[secrets]", "[{kms: {name: k, endpoint: 'unix:///x.sock'}}]"), PARSING
        "resources[0].providers[0].kms: Forbidden: the provider kms (v1 and v2) is not supported; "
        "use aesgcm, aescbc or secretbox with keys in this file");
}

static void rule_behind_a_wildcard_is_refused(void **state)
{
    (void)state;
    expect_refused(HEAD "resources:\n- resources: ['*.*']\n  providers: " IDENTITY "\n"
                        "- resources: [secrets]\n  providers: " IDENTITY "\n",
                   "error while building transformers: resource \"secrets\" is masked by earlier "
                   "rule \"*.*\"");
    expect_refused(HEAD "resources:\n- resources: ['*.']\n  providers: " IDENTITY "\n"
                        "- resources: [secrets]\n  providers: " IDENTITY "\n",
                   "error while building transformers: resource \"secrets\" is masked by earlier "
                   "rule \"*.\"");
}

static void undecodable_file_is_refused_by_name(void **state)
{
    (void)state;
    expect_refused("", "encryption provider configuration file \"e.yaml\" is empty");
    expect_refused(HEAD "resources: []\nwhat: 1\n",
                   "error while parsing file: error decoding encryption provider configuration "
                   "file \"e.yaml\": strict decoding error: unknown field \"what\"");
}

static void hash_is_that_of_the_file(void **state)
{
    (void)state;
    kc_auto(kc__encryption_config) *a = must_parse(ENTRY("[secrets]", IDENTITY));
    kc_auto(kc__encryption_config) *b = must_parse(ENTRY("[secrets]", IDENTITY));
    kc_auto(kc__encryption_config) *c = must_parse(ENTRY("[pods]", IDENTITY));
    assert_string_equal(a->hash, b->hash);
    assert_string_not_equal(a->hash, c->hash);
    assert_int_equal(strlen(a->hash), strlen("sha256:") + 64);
}

TESTS(most_specific_rule_of_a_resource_applies, resource_without_rule_is_not_encrypted,
      resource_in_two_entries_has_the_providers_of_both, keys_with_equal_names_are_accepted,
      invalid_configuration_is_refused_with_the_words_of_kubernetes,
      unsuitable_resources_are_refused_with_the_words_of_kubernetes,
      provider_kms_is_refused_as_not_supported, rule_behind_a_wildcard_is_refused,
      undecodable_file_is_refused_by_name, hash_is_that_of_the_file)
