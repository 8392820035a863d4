/* SPDX-License-Identifier: Apache-2.0 */
/* Kubeconfigs of webhooks: where they are, and the credentials for them. */
#include "apiserver/webhook/webhook_kubeconfig.h"

#include "kc/base64.h"
#include "kc/file.h"
#include "testing.h"

#include <stdio.h>
#include <unistd.h>

typedef struct stage {
    char dir[32], path[64], token[64];
    kc__webhook_kubeconfig webhook;
} stage;

static stage *stage_new(void)
{
    stage *s = kc_new(stage);
    snprintf(s->dir, sizeof(s->dir), "/tmp/kc-hooks-XXXXXX");
    assert_non_null(mkdtemp(s->dir));
    snprintf(s->path, sizeof(s->path), "%s/config", s->dir);
    snprintf(s->token, sizeof(s->token), "%s/token", s->dir);
    return s;
}

static void stage_free(stage *s)
{
    kc__webhook_kubeconfig_done(&s->webhook);
    unlink(s->path);
    unlink(s->token);
    rmdir(s->dir);
    free(s);
}
KC_AUTO_DEFINE(stage, stage_free)

static int read_text(stage *s, const char *cluster, const char *user, kc_error *err)
{
    kc_autofree char *text = kc_asprintf("clusters: [{name: c, cluster: %s}]\n"
                                         "users: [{name: u, user: %s}]\n"
                                         "contexts: [{name: x, context: {cluster: c, user: u}}]\n"
                                         "current-context: x\n",
                                         cluster, user);
    assert_int_equal(kc_file_put(s->path, kc_cstr(text), NULL), 0);
    return kc__webhook_kubeconfig_read(s->path, &s->webhook, err);
}

#define PEM(name) "-----BEGIN " name "-----\nAAAA\n-----END " name "-----\n"

static void server_and_credentials_are_read(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    kc_scoped(kc_buf) ca = {0}, cert = {0}, key = {0};
    kc_base64_write(&ca, KC_STR(PEM("CA")), KC_BASE64);
    kc_base64_write(&cert, KC_STR(PEM("CERTIFICATE")), KC_BASE64);
    kc_base64_write(&key, KC_STR(PEM("KEY")), KC_BASE64);
    kc_autofree char *cluster =
        kc_asprintf("{server: 'https://hook:1/x', certificate-authority-data: %s, tls-server-name: "
                    "other}",
                    kc_buf_cstr(&ca));
    kc_autofree char *user =
        kc_asprintf("{client-certificate-data: %s, client-key-data: %s, token: t}",
                    kc_buf_cstr(&cert), kc_buf_cstr(&key));
    assert_int_equal(read_text(s, cluster, user, NULL), 0);
    const kc__http_target *target = &s->webhook.target;
    assert_string_equal(target->url, "https://hook:1/x");
    assert_str(target->ca, PEM("CA"));
    assert_str(target->identity.cert, PEM("CERTIFICATE"));
    assert_str(target->identity.key, PEM("KEY"));
    assert_string_equal(target->identity.server_name, "other");
    assert_string_equal(target->identity.authorization, "Bearer t");
}

static void password_becomes_basic_authorization(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    assert_int_equal(read_text(s, "{server: 'https://h'}", "{username: u, password: p}", NULL), 0);
    assert_string_equal(s->webhook.target.identity.authorization, "Basic dTpw");
    assert_false(s->webhook.target.identity.insecure);
}

static void credentials_are_not_sent_without_tls(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    assert_int_equal(read_text(s, "{server: 'http://h/x'}", "{token: t}", NULL), 0);
    assert_string_equal(s->webhook.target.url, "http://h/x");
    assert_null(s->webhook.target.identity.authorization);
}

static void token_file_is_relative_to_the_kubeconfig(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    assert_int_equal(kc_file_put(s->token, KC_STR("secret\n"), NULL), 0);
    assert_int_equal(read_text(s, "{server: 'https://h'}", "{tokenFile: token}", NULL), 0);
    assert_string_equal(s->webhook.target.identity.authorization, "Bearer secret");
}

static void assert_unusable(stage *s, const char *cluster, const char *user, const char *expected)
{
    kc_scoped(kc_error) err = {0};
    assert_true(read_text(s, cluster, user, &err) < 0);
    assert_contains(kc_error_text(&err), expected);
    assert_null(s->webhook.target.url);
}

static void unusable_files_are_refused(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    kc_scoped(kc_error) err = {0};
    assert_true(kc__webhook_kubeconfig_read("/nowhere/at/all", &s->webhook, &err) < 0);
    assert_unusable(s, "{server: 'ftp://h'}", "{}", "is not of the form https://host:port");
    assert_unusable(s, "{server: 'https://h'}",
                    "{exec: {command: x, apiVersion: client.authentication.k8s.io/v1, "
                    "interactiveMode: Never}}",
                    "credential plugins (exec) are not supported here");
    assert_unusable(s, "{server: 'https://h', proxy-url: 'http://p'}", "{}",
                    "proxy-url is not supported here");
    assert_unusable(s, "{server: 'https://h'}", "{as: bob}",
                    "impersonation (as) is not supported here");
    assert_unusable(s, "{server: 'https://h', certificate-authority-data: '*'}", "{}",
                    "certificate-authority-data is not base64");
    assert_unusable(s, "{server: 'https://h'}", "{client-certificate-data: YQ==}",
                    "client-certificate requires client-key");
    assert_unusable(s, "{server: 'https://h'}", "{tokenFile: missing}", "missing");
    assert_int_equal(kc_file_put(s->path, KC_STR("current-context: other\n"), NULL), 0);
    assert_true(kc__webhook_kubeconfig_read(s->path, &s->webhook, &err) < 0);
    assert_contains(kc_error_text(&err), "no context \"other\"");
}

/* ---- credentials by server ---- */

static kc__webhook_kubeconfig_users *read_users(stage *s, const char *users, const char *more,
                                                kc_error *err)
{
    kc_autofree char *text = kc_asprintf("users: [%s]\n%s", users, more);
    assert_int_equal(kc_file_put(s->path, kc_cstr(text), NULL), 0);
    return kc__webhook_kubeconfig_users_read(s->path, err);
}

static const char *token_for(const kc__webhook_kubeconfig_users *users, const char *server)
{
    const kc__http_client_identity *identity =
        kc__webhook_kubeconfig_users_for(users, kc_cstr(server));
    return identity ? identity->authorization : "none";
}

static void most_exact_name_of_a_server_has_its_credentials(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    kc_auto(kc__webhook_kubeconfig_users) *users = read_users(
        s,
        "{name: 'a.ns.svc:8443', user: {token: port}}, {name: a.ns.svc, user: {token: host}}, "
        "{name: '*.ns.svc', user: {token: ns}}, {name: '*.svc:444', user: {token: p444}}, "
        "{name: '*', user: {username: u, password: p}}",
        "", NULL);
    assert_non_null(users);
    assert_string_equal(token_for(users, "a.ns.svc:8443"), "Bearer port");
    assert_string_equal(token_for(users, "a.ns.svc:443"), "Bearer host");
    assert_string_equal(token_for(users, "b.ns.svc:443"), "Bearer ns");
    assert_string_equal(token_for(users, "b.ns.svc:444"), "Bearer p444");
    assert_string_equal(token_for(users, "b.ns.svc:445"), "Basic dTpw");
    assert_string_equal(token_for(users, "example.com:443"), "Basic dTpw");
    assert_string_equal(token_for(NULL, "example.com:443"), "none");
}

static void other_servers_get_the_credentials_of_the_current_context(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    kc_auto(kc__webhook_kubeconfig_users) *with =
        read_users(s, "{name: me, user: {token: t}}",
                   "contexts: [{name: x, context: {user: me}}]\ncurrent-context: x\n", NULL);
    kc_auto(kc__webhook_kubeconfig_users) *without =
        read_users(s, "{name: me, user: {token: t}}", "", NULL);
    assert_string_equal(token_for(with, "example.com:443"), "Bearer t");
    assert_string_equal(token_for(without, "example.com:443"), "none");
}

static void users_with_credential_plugins_are_rejected(void **state)
{
    (void)state;
    kc_auto(stage) *s = stage_new();
    kc_scoped(kc_error) err = {0};
    assert_null(read_users(s,
                           "{name: me, user: {exec: {command: x, apiVersion: "
                           "client.authentication.k8s.io/v1, interactiveMode: Never}}}",
                           "", &err));
    assert_contains(kc_error_text(&err), "user me: credential plugins");
}

TESTS(server_and_credentials_are_read, password_becomes_basic_authorization,
      credentials_are_not_sent_without_tls, token_file_is_relative_to_the_kubeconfig,
      unusable_files_are_refused, most_exact_name_of_a_server_has_its_credentials,
      other_servers_get_the_credentials_of_the_current_context,
      users_with_credential_plugins_are_rejected)
