/* SPDX-License-Identifier: Apache-2.0 */
/* Flags of `kc apiserver` set the options of the server. */
#include "apiserver_options.h"
#include "command.h"
#include "testing.h"

static kc__cli_apiserver_options parsed(char *flag)
{
    char verb[] = "apiserver", root[] = "--file-rootpath=/tmp/kc", *argv[] = {verb, root, flag};
    kc__cli_apiserver_options options;
    kc_scoped(kc_error) err = {0};
    if (kc__cli_flags_parse(&kc__cli_apiserver_flags, flag ? 3 : 2, argv, &options, &err) < 0 ||
        kc__cli_apiserver_options_check(&options, &err) < 0)
        fail_msg("%s", kc_error_text(&err));
    return options;
}

static void limits_without_flags_have_their_defaults(void **state)
{
    (void)state;
    const kc__apiserver_opts server = parsed(NULL).server;
    assert_int_equal(server.max_request_bytes, 3 << 20);
    assert_int_equal(server.max_object_bytes, 3 << 19);
    assert_int_equal(server.max_watches_per_user, 20000);
    assert_int_equal(server.max_reading, 400);
    assert_int_equal(server.max_mutating, 200);
    assert_int_equal(server.request_timeout, KC_MINUTE);
    assert_int_equal(server.request_workers, 0);
}

static void flag_sets_the_option_of_the_server(void **state)
{
    (void)state;
    char watches[] = "--max-watches-per-user=7", workers[] = "--request-workers=3";
    char reading[] = "--max-requests-inflight=8", writing[] = "--max-mutating-requests-inflight=9";
    assert_int_equal(parsed(watches).server.max_watches_per_user, 7);
    assert_int_equal(parsed(reading).server.max_reading, 8);
    assert_int_equal(parsed(writing).server.max_mutating, 9);
    assert_int_equal(parsed(workers).server.request_workers, 3);
}

static void check_authz_flags(const char *first, const char *second, const char *expected)
{
    char verb[] = "apiserver", root[] = "--file-rootpath=/tmp/kc";
    kc_autofree char *one = kc_strdup(first), *two = kc_strdup(second);
    char *argv[] = {verb, root, one, two};
    kc__cli_apiserver_options options;
    kc_scoped(kc_error) err = {0};
    assert_int_equal(kc__cli_flags_parse(&kc__cli_apiserver_flags, 4, argv, &options, &err), 0);
    assert_true(kc__cli_apiserver_options_check(&options, &err) < 0);
    assert_error(&err, KC_INVALID, expected);
}

static void authorization_config_excludes_modes_and_webhook_flags(void **state)
{
    (void)state;
    static const char *const flags[] = {
        "--authorization-mode=Node,RBAC", /* Its default. */
        "--authorization-webhook-config-file=/f",
        "--authorization-webhook-version=v1beta1",
        "--authorization-webhook-cache-authorized-ttl=5m",
        "--authorization-webhook-cache-unauthorized-ttl=30s",
    };
    for (size_t i = 0; i < KC_COUNT(flags); i++)
        check_authz_flags("--authorization-config=/f", flags[i],
                          "--authorization-config can not be specified when --authorization-mode "
                          "or --authorization-webhook-* flags are defined");
    char config[] = "--authorization-config=/f";
    assert_string_equal(parsed(config).authz.config_file, "/f");
    assert_false(parsed(config).authz.given);
}

TESTS(limits_without_flags_have_their_defaults, flag_sets_the_option_of_the_server,
      authorization_config_excludes_modes_and_webhook_flags)
