/* SPDX-License-Identifier: Apache-2.0 */
/* The config file: its keys, their defaults, and the errors of invalid files. */
#include "kc/app_config.h"
#include "kc/clock.h"
#include "testing.h"

#include <stdio.h>
#include <unistd.h>

static kc_app_config *config_of(const char *yaml)
{
    kc_scoped(kc_error) err = {0};
    kc_app_config *config = kc_app_config_parse(kc_cstr(yaml), &err);
    if (!config)
        fail_msg("%s", kc_error_text(&err));
    return config;
}

static void refused(const char *yaml, const char *why)
{
    kc_scoped(kc_error) err = {0};
    assert_null(kc_app_config_parse(kc_cstr(yaml), &err));
    kc__assert_contains(kc_error_text(&err), why, __FILE__, __LINE__);
}

static void assert_defaults(const kc_app_config *c)
{
    assert_string_equal(c->manager.metrics_address, ":18001");
    assert_string_equal(c->manager.health_address, ":18002");
    assert_int_equal(c->manager.concurrence, 1);
    assert_true(c->manager.apiserver_enabled);
    assert_string_equal(c->manager.kubeconfig, "");
    assert_string_equal(c->manager.reconcilers[0], "*");
    assert_null(c->manager.reconcilers[1]);
    assert_false(c->manager.leader_elect);
    assert_int_equal(c->manager.lease_duration, 15 * KC_SECOND);
    assert_int_equal(c->manager.lease_renew, 10 * KC_SECOND);
    assert_int_equal(c->manager.lease_retry, 2 * KC_SECOND);
    assert_string_equal(c->manager.lease_namespace, "default");
    assert_string_equal(c->apiext.mode, "release");
    assert_true(c->apiext.healthz);
    assert_null(c->apiext.middlewares[0]);
    assert_int_equal(c->apiext.max_ping_count, 3);
    assert_string_equal(c->apiext.insecure_address, "127.0.0.1");
    assert_int_equal(c->apiext.insecure_port, 9080);
    assert_int_equal(c->apiext.secure_port, 9443);
    assert_string_equal(c->apiext.cert_file, "");
    assert_string_equal(c->log.level, "info");
    assert_string_equal(c->log.format, "console");
    assert_true(c->log.no_caller);
    assert_string_equal(c->log.output_paths[0], "stderr");
}

static void empty_file_has_the_defaults(void **state)
{
    (void)state;
    kc_auto(kc_app_config) *empty = config_of("");
    assert_defaults(empty);
    kc_auto(kc_app_config) *sections =
        config_of("reconcilermgr:\nlog: {}\napiextmgr: {gin: null}\n");
    assert_defaults(sections);
}

static void duplicate_key_is_refused(void **state)
{
    (void)state;
    refused("log:\n  level: info\n  level: debug\n", "log.level: duplicate key");
}

static void sample_file_has_the_defaults(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_app_config) *config = kc_app_config_load("../configs/kubecontroller.yaml", &err);
    if (!config)
        fail_msg("%s", kc_error_text(&err));
    assert_defaults(config);
}

static void every_key_is_read(void **state)
{
    (void)state;
    kc_auto(kc_app_config) *c = config_of(
        "reconcilermgr:\n"
        "  metrics-bind-address: ''\n"
        "  health-probe-bind-address: 10.0.0.1:1\n"
        "  concurrence: 7\n"
        "  apiserver-enabled: false\n"
        "  kubeconfig: /k\n"
        "  controllers: ['*', -robot]\n"
        "  leader-elect: true\n"
        "  leader-elect-namespace: plane\n"
        "  leader-elect-lease-duration: 1m\n"
        "  leader-elect-renew-deadline: 30s\n"
        "  leader-elect-retry-period: 500ms\n"
        "apiextmgr: {gin: {server: {mode: debug, healthz: false, middlewares: [a, b],\n"
        "  max-ping-count: 0}, insecure: {bind-address: 0.0.0.0, bind-port: 0},\n"
        "  secure: {bind-address: '::1', bind-port: 1, tls: {cert-file: c, private-key-file: k}}}}\n"
        "log: {name: hub, development: true, level: warn, format: json, enable-color: true,\n"
        "  disable-caller: false, disable-stacktrace: false, output-paths: [stdout],\n"
        "  error-output-paths: []}\n");
    assert_string_equal(c->manager.metrics_address, "");
    assert_string_equal(c->manager.health_address, "10.0.0.1:1");
    assert_int_equal(c->manager.concurrence, 7);
    assert_false(c->manager.apiserver_enabled);
    assert_string_equal(c->manager.kubeconfig, "/k");
    assert_string_equal(c->manager.reconcilers[1], "-robot");
    assert_true(c->manager.leader_elect);
    assert_string_equal(c->manager.lease_namespace, "plane");
    assert_int_equal(c->manager.lease_duration, KC_MINUTE);
    assert_int_equal(c->manager.lease_renew, 30 * KC_SECOND);
    assert_int_equal(c->manager.lease_retry, 500 * KC_MILLISECOND);
    assert_string_equal(c->apiext.mode, "debug");
    assert_false(c->apiext.healthz);
    assert_string_equal(c->apiext.middlewares[1], "b");
    assert_int_equal(c->apiext.max_ping_count, 0);
    assert_string_equal(c->apiext.insecure_address, "0.0.0.0");
    assert_int_equal(c->apiext.insecure_port, 0);
    assert_string_equal(c->apiext.secure_address, "::1");
    assert_int_equal(c->apiext.secure_port, 1);
    assert_string_equal(c->apiext.cert_file, "c");
    assert_string_equal(c->apiext.key_file, "k");
    assert_string_equal(c->log.name, "hub");
    assert_true(c->log.development && c->log.colour && !c->log.no_caller && !c->log.no_stacktrace);
    assert_string_equal(c->log.level, "warn");
    assert_string_equal(c->log.format, "json");
    assert_string_equal(c->log.output_paths[0], "stdout");
    assert_null(c->log.error_output_paths[0]);
}

static void unknown_key_is_reported_with_line_and_suggestion(void **state)
{
    (void)state;
    refused("log:\n  name: x\n  leve: info\n",
            "line 3: log.leve: unknown key; did you mean \"level\"?");
    refused("# a comment\nreconcilermg: {}\n",
            "line 2: reconcilermg: unknown key; did you mean \"reconcilermgr\"?");
    refused("apiextmgr: {gin: {server: {mode: debug}, secure: {tls: {\n cert-fil: x}}}}",
            "line 2: apiextmgr.gin.secure.tls.cert-fil: unknown key; did you mean "
            "\"cert-file\"?");
    refused("log: {zzzzzzzzz: 1}", "line 1: log.zzzzzzzzz: unknown key");
}

static void value_of_wrong_type_is_refused(void **state)
{
    (void)state;
    refused("reconcilermgr: {concurrence: many}", "must be a number from 1 to 1000");
    refused("reconcilermgr: {concurrence: 0}", "must be a number from 1 to 1000");
    refused("apiextmgr: {gin: {secure: {bind-port: 65536}}}", "must be a number from 0 to 65535");
    refused("reconcilermgr:\n  apiserver-enabled: 'yes'",
            "line 2: reconcilermgr.apiserver-enabled: "
            "must be true or false");
    refused("log: {level: 3}", "must be a string");
    refused("log: {level: loud}", "\"loud\" is not one of: error warn info debug");
    refused("log: {output-paths: stderr}", "must be a list of strings");
    refused("reconcilermgr: {controllers: ['*', 3]}", "item 2 is not a string");
    refused("reconcilermgr: {leader-elect-lease-duration: 15}",
            "must be a duration from 1 to 3600 seconds, such as 15s");
    refused("reconcilermgr: {leader-elect-lease-duration: 999ms}",
            "must be a duration from 1 to 3600");
    refused("reconcilermgr: {leader-elect-retry-period: 0s}", "must be a duration from 0 to 3600");
    refused("reconcilermgr: {leader-elect-retry-period: soon}",
            "must be a duration from 0 to 3600");
    refused("log: loud", "must contain further keys, not a value");
    refused("[]", "must be a mapping");
    refused("log: [", "line");
}

static void dependent_keys_must_be_set_together(void **state)
{
    (void)state;
    refused("apiextmgr: {gin: {secure: {tls: {cert-file: c}}}}", "must be set together");
    refused("apiextmgr: {gin: {secure: {bind-port: 1}, insecure: {bind-port: 1}}}",
            "conflicts with the port of insecure");
    refused("reconcilermgr:\n  leader-elect-lease-duration: 10s\n",
            "line 2: reconcilermgr.leader-elect-lease-duration: must be greater than "
            "leader-elect-renew-deadline");
    refused("reconcilermgr:\n  leader-elect-retry-period: 9s\n",
            "reconcilermgr.leader-elect-renew-deadline: must be greater than 1.2 times "
            "leader-elect-retry-period");
}

static void missing_file_is_named_in_error(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    assert_null(kc_app_config_load("/no/such/file.yaml", &err));
    assert_error(&err, KC_NOT_FOUND, "cannot open /no/such/file.yaml");
}

static void log_settings_are_applied(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    char path[] = "/tmp/kc-config-XXXXXX";
    close(mkstemp(path));
    kc_autofree char *yaml =
        kc_asprintf("log: {name: hub, format: json, level: warn, output-paths: [%s]}", path);
    kc_auto(kc_app_config) *config = config_of(yaml);
    kc_auto(kc_log) *log = kc_app_config_log(config, -1, &err);
    assert_non_null(log);
    kc_log_info(log, "not wanted");
    kc_log_warn(log, "wanted");
    char text[512] = "";
    FILE *file = fopen(path, "r");
    assert_true(fread(text, 1, sizeof(text) - 1, file) > 0);
    fclose(file);
    unlink(path);
    assert_contains(text, "\"logger\":\"hub\"");
    assert_contains(text, "\"msg\":\"wanted\"");
    assert_null(strstr(text, "not wanted"));
    kc_auto(kc_app_config) *bad = config_of("log: {output-paths: [/no/such/folder/x]}");
    assert_null(kc_app_config_log(bad, -1, &err));
    assert_contains(kc_error_text(&err), "cannot open /no/such/folder/x");
}

TESTS(duplicate_key_is_refused, empty_file_has_the_defaults, sample_file_has_the_defaults,
      every_key_is_read, unknown_key_is_reported_with_line_and_suggestion,
      value_of_wrong_type_is_refused, dependent_keys_must_be_set_together,
      missing_file_is_named_in_error, log_settings_are_applied)
