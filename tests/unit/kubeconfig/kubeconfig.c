/* SPDX-License-Identifier: Apache-2.0 */
/* kubeconfig.h: contexts, users and clusters of one text, of several files, and of a pod. */
#include "testing.h"

#include "kubeconfig/kubeconfig_internal.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

/* ---- texts ---- */

#define CONTEXT(cluster, user)                                                                   \
    "apiVersion: v1\nkind: Config\ncurrent-context: one\ncontexts:\n- name: one\n  context: "    \
    "{cluster: c, user: u, namespace: shop}\n- name: edge-7\n  context: {cluster: c, user: u}\n" \
    "clusters:\n- name: c\n  cluster: " cluster "\nusers:\n- name: u\n  user: " user "\n"

static kc_config *parse(const char *yaml, kc_error *err)
{
    return kc_config_parse(kc_cstr(yaml), "/etc/kc", NULL, err);
}

static kc_config *parse_user(const char *user, kc_error *err)
{
    kc_autofree char *yaml = kc_asprintf(CONTEXT("{server: 'https://h:6443'}", "%s"), user);
    return parse(yaml, err);
}

static kc_config *parse_cluster(const char *cluster, kc_error *err)
{
    kc_autofree char *yaml = kc_asprintf(CONTEXT("%s", "{token: t}"), cluster);
    return parse(yaml, err);
}

#define assert_refused(call, the_reason, part) \
    do {                                       \
        kc_scoped(kc_error) err = {0};         \
        kc_auto(kc_config) *refused = call;    \
        assert_null(refused);                  \
        assert_error(&err, the_reason, part);  \
    } while (0)

static void current_context_selects_cluster_and_user(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_config) *config = parse_user("{token: secret}", &err);
    assert_non_null(config);
    assert_string_equal(config->server, "https://h:6443");
    assert_string_equal(config->token, "secret");
    assert_string_equal(config->ns, "shop");
    assert_null(config->ca_file);
    assert_null(config->exec);
}

static void cluster_fields_are_read(void **state)
{
    (void)state;
    kc_auto(kc_config) *config = parse_cluster(
        "{server: 'https://h/prefix/', tls-server-name: other, proxy-url: 'socks5://p:1', "
        "certificate-authority: ca.crt, disable-compression: true}",
        NULL);
    assert_string_equal(config->server, "https://h/prefix");
    assert_string_equal(config->tls_server_name, "other");
    assert_string_equal(config->proxy, "socks5://p:1");
    assert_string_equal(config->ca_file, "/etc/kc/ca.crt");
    assert_true(config->no_gzip);
    kc_auto(kc_config) *insecure =
        parse_cluster("{server: 'https://h', insecure-skip-tls-verify: true}", NULL);
    assert_true(insecure->insecure);
}

static void multi_line_base64_data_is_decoded(void **state)
{
    (void)state;
    kc_auto(kc_config) *config = parse_user(
        "{client-certificate-data: \"Y2Vy\\ndA==\\n\", client-key-data: a2V5, client-key: /k}",
        NULL);
    assert_str(config->cert_data, "cert");
    assert_str(config->key_data, "key");
    assert_string_equal(config->key_file, "/k");
    assert_refused(parse_user("{client-key-data: '*'}", &err), KC_BAD_REQUEST,
                   "kubeconfig (text): user \"u\": client-key-data is not base64");
}

static void relative_files_are_resolved_against_the_kubeconfig(void **state)
{
    (void)state;
    kc_auto(kc_config) *config =
        parse_user("{client-certificate: a/c.pem, client-key: /abs/k.pem, tokenFile: token}", NULL);
    assert_string_equal(config->cert_file, "/etc/kc/a/c.pem");
    assert_string_equal(config->key_file, "/abs/k.pem");
    assert_string_equal(config->token_file, "/etc/kc/token");
}

static void exec_plugin_fields_are_read(void **state)
{
    (void)state;
    kc_scoped(kc_error) err = {0};
    kc_auto(kc_config) *config = parse(
        CONTEXT("{server: 'https://h', extensions: [{name: client.authentication.k8s.io/exec, "
                "extension: {audience: x}}]}",
                "{exec: {apiVersion: client.authentication.k8s.io/v1, command: bin/login, args: "
                "[get, token], env: [{name: A, value: b}, {name: E}], provideClusterInfo: true, "
                "interactiveMode: Never, installHint: \"get \\e[1mit\"}}"),
        &err);
    assert_non_null(config);
    const kc_exec_config *exec = config->exec;
    assert_string_equal(exec->command, "/etc/kc/bin/login");
    assert_string_equal(exec->api_version, "client.authentication.k8s.io/v1");
    assert_string_equal(exec->args[0], "get");
    assert_string_equal(exec->args[1], "token");
    assert_null(exec->args[2]);
    assert_string_equal(exec->env[0], "A=b");
    assert_string_equal(exec->env[1], "E=");
    assert_null(exec->env[2]);
    assert_true(exec->provide_cluster_info);
    assert_string_equal(exec->cluster_config, "{\"audience\":\"x\"}");
    assert_string_equal(exec->install_hint, "get U+001B[1mit");
    assert_int_equal(exec->interactive, KC_EXEC_NEVER);
}

static void v1beta1_exec_plugin_may_omit_interactive_mode(void **state)
{
    (void)state;
    kc_auto(kc_config) *config = parse_user(
        "{exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: login}}", NULL);
    assert_int_equal(config->exec->interactive, KC_EXEC_IF_AVAILABLE);
    assert_string_equal(config->exec->command, "login");
}

static void incomplete_exec_plugin_is_refused(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"{exec: 3}", "user \"u\": exec is not an object"},
        {"{exec: {apiVersion: client.authentication.k8s.io/v1}}", "exec.command is missing"},
        {"{exec: {command: x}}", "exec.apiVersion is required"},
        {"{exec: {command: x, apiVersion: client.authentication.k8s.io/v1alpha1}}",
         "is not supported"},
        {"{exec: {command: x, apiVersion: client.authentication.k8s.io/v1}}",
         "exec.interactiveMode is required"},
        {"{exec: {command: x, apiVersion: client.authentication.k8s.io/v1, interactiveMode: No}}",
         "exec.interactiveMode is not a string"},
        {"{exec: {command: x, apiVersion: client.authentication.k8s.io/v1, interactiveMode: "
         "Maybe}}",
         "interactiveMode Maybe is not"},
        {"{exec: {command: x, apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, "
         "args: [1]}}",
         "exec.args is not a string"},
        {"{exec: {command: x, apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, "
         "env: [{value: v}]}}",
         "exec.env: a variable requires a name"},
        {"{exec: {command: x, apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, "
         "env: {}}}",
         "exec.env is not a list"},
    };
    for (size_t i = 0; i < KC_COUNT(cases); i++)
        assert_refused(parse_user(cases[i][0], &err), KC_BAD_REQUEST, cases[i][1]);
}

static void impersonation_is_read(void **state)
{
    (void)state;
    kc_auto(kc_config) *config = parse_user(
        "{as: alice, as-uid: '42', as-groups: [a, b], as-user-extra: {scopes: [x, z]}}", NULL);
    assert_string_equal(config->impersonate_user, "alice");
    assert_string_equal(config->impersonate_uid, "42");
    assert_string_equal(config->impersonate_groups[1], "b");
    assert_null(config->impersonate_groups[2]);
    assert_string_equal(config->impersonate_extra[0], "scopes");
    assert_string_equal(config->impersonate_extra[3], "z");
    assert_null(config->impersonate_extra[4]);
    assert_refused(parse_user("{as-groups: [a]}", &err), KC_BAD_REQUEST, "require \"as\"");
}

static void credentials_are_dropped_for_plain_http(void **state)
{
    (void)state;
    kc_auto(kc_config) *config =
        parse(CONTEXT("{server: 'http://h'}", "{token: t, as: alice}"), NULL);
    assert_null(config->token);
    assert_string_equal(config->impersonate_user, "alice");
}

static void conflicting_fields_are_refused(void **state)
{
    (void)state;
    assert_refused(parse_user("{token: a, username: b}", &err), KC_BAD_REQUEST,
                   "are mutually exclusive");
    assert_refused(parse_user("{client-certificate: c}", &err), KC_BAD_REQUEST,
                   "client-certificate requires client-key");
    assert_refused(parse_cluster("{server: 'https://h', insecure-skip-tls-verify: true, "
                                 "certificate-authority: x}",
                                 &err),
                   KC_BAD_REQUEST,
                   "cluster \"c\": certificate-authority and insecure-skip-tls-verify are");
}

static void auth_provider_is_refused(void **state)
{
    (void)state;
    assert_refused(parse_user("{auth-provider: {name: gcp}}", &err), KC_BAD_REQUEST,
                   "auth-provider \"gcp\"");
}

static void mistyped_fields_are_named_in_error(void **state)
{
    (void)state;
    assert_refused(parse_user("{token: 3}", &err), KC_BAD_REQUEST,
                   "user \"u\": token is not a string");
    assert_refused(parse_user("{token: \"a\\0b\"}", &err), KC_BAD_REQUEST, "NUL");
    assert_refused(parse_cluster("{server: 'https://h', insecure-skip-tls-verify: 'true'}", &err),
                   KC_BAD_REQUEST, "insecure-skip-tls-verify is neither");
    assert_refused(parse_cluster("{}", &err), KC_BAD_REQUEST, "cluster \"c\": server is missing");
    assert_refused(parse_cluster("7", &err), KC_BAD_REQUEST, "cluster \"c\" is not an object");
}

static void server_must_be_an_http_url(void **state)
{
    (void)state;
    static const char *const bad[] = {"'ftp://h'",       "'https://'",    "'https://user@h'",
                                      "'https://h?x=1'", "'https://a b'", "'https:///x'"};
    for (size_t i = 0; i < KC_COUNT(bad); i++) {
        kc_autofree char *cluster = kc_asprintf("{server: %s}", bad[i]);
        assert_refused(parse_cluster(cluster, &err), KC_BAD_REQUEST, "https://host:port");
    }
}

static void server_without_scheme_gets_one_from_its_settings(void **state)
{
    (void)state;
    kc_auto(kc_config) *plain = parse_cluster("{server: 'h:80'}", NULL);
    kc_auto(kc_config) *tls = parse_cluster("{server: 'h:80', certificate-authority: x}", NULL);
    kc_auto(kc_config) *url = kc_config_for_url("127.0.0.1:6080/");
    assert_string_equal(plain->server, "http://h:80");
    assert_string_equal(tls->server, "https://h:80");
    assert_string_equal(url->server, "http://127.0.0.1:6080");
    assert_string_equal(url->ns, "default");
}

static void options_override_the_kubeconfig(void **state)
{
    (void)state;
    const char *yaml = CONTEXT("{server: 'https://h', certificate-authority: x}",
                               "{exec: {command: x, apiVersion: client.authentication.k8s.io/v1, "
                               "interactiveMode: Never}}") "- name: v\n  user: {token: of-v}\n";
    kc_auto(kc_config) *a = kc_config_parse(
        kc_cstr(yaml), NULL,
        &(kc_config_opts){.ns = "n", .token = "mine", .server = "https://other:1"}, NULL);
    assert_string_equal(a->ns, "n");
    assert_string_equal(a->token, "mine");
    assert_string_equal(a->server, "https://other:1");
    assert_string_equal(a->ca_file, "x");
    assert_null(a->exec);
    kc_auto(kc_config) *b = kc_config_parse(
        kc_cstr(yaml), NULL, &(kc_config_opts){.user = "v", .context = "edge-7"}, NULL);
    assert_string_equal(b->token, "of-v");
    assert_string_equal(b->ns, "default");
}

static void unknown_context_is_refused_with_suggestion(void **state)
{
    (void)state;
    const kc_str yaml = kc_cstr(CONTEXT("{server: 'https://h'}", "{}"));
    assert_refused(kc_config_parse(yaml, NULL, &(kc_config_opts){.context = "edge7"}, &err),
                   KC_NOT_FOUND,
                   "kubeconfig (text): no context \"edge7\"; did you mean \"edge-7\"?");
    assert_refused(kc_config_parse(yaml, NULL, &(kc_config_opts){.cluster = "zebra"}, &err),
                   KC_NOT_FOUND, "no cluster \"zebra\"");
    assert_refused(kc_config_parse(yaml, NULL, &(kc_config_opts){.user = "zebra"}, &err),
                   KC_NOT_FOUND, "no user \"zebra\"");
}

static void text_that_is_no_kubeconfig_is_refused(void **state)
{
    (void)state;
    assert_refused(parse("kind: Pod", &err), KC_BAD_REQUEST, "kind is not \"Config\"");
    assert_refused(parse("apiVersion: v2", &err), KC_BAD_REQUEST, "apiVersion is not \"v1\"");
    assert_refused(parse("[1]", &err), KC_BAD_REQUEST, "array");
    assert_refused(parse("clusters: 3", &err), KC_BAD_REQUEST, "clusters is not a list");
    assert_refused(parse("users: [{}]", &err), KC_BAD_REQUEST, "users[0] has no name");
    assert_refused(parse("users: [{name: a}, {name: a}]", &err), KC_BAD_REQUEST,
                   "two users have the name \"a\"");
    assert_refused(parse("a: b: c", &err), KC_BAD_REQUEST, "kubeconfig (text): ");
    assert_refused(parse("current-context: 1", &err), KC_BAD_REQUEST, "current-context");
    assert_refused(parse("", &err), KC_BAD_REQUEST, "no current-context");
    assert_refused(parse("contexts: [{name: a, context: {}}]\ncurrent-context: a", &err),
                   KC_BAD_REQUEST, "context \"a\" names no cluster");
}

/* ---- files ---- */

typedef struct folder {
    char path[64];
    kc_arena arena;
} folder;

static void folder_new(folder *f)
{
    *f = (folder){0};
    snprintf(f->path, sizeof(f->path), "/tmp/kc-kubeconfig-XXXXXX");
    assert_non_null(mkdtemp(f->path));
}

static void folder_done(folder *f)
{
    kc_autofree char *command = kc_asprintf("rm -r '%s'", f->path);
    assert_int_equal(system(command), 0);
    kc_arena_done(&f->arena);
    unsetenv("KUBECONFIG");
}

static const char *put(folder *f, const char *name, const char *text)
{
    const char *path = kc_arena_printf(&f->arena, "%s/%s", f->path, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    return path;
}

static void first_file_with_an_entry_wins(void **state)
{
    (void)state;
    kc_scoped(folder) f;
    folder_new(&f);
    const char *a = put(&f, "a",
                        "users: [{name: u, user: {tokenFile: here}}]\n"
                        "contexts: [{name: x, context: {cluster: c, user: u}}]\n");
    const char *b = put(&f, "b",
                        "current-context: x\n"
                        "users: [{name: u, user: {token: b, as: bob}}]\n"
                        "clusters: [{name: c, cluster: {server: 'https://b'}}]\n"
                        "contexts: [{name: z, context: {cluster: c, user: u}}]\n");
    setenv("KUBECONFIG", kc_arena_printf(&f.arena, "%s::/nowhere/at/all:%s", a, b), 1);
    kc_auto(kc_config) *config = kc_config_load(NULL, NULL);
    assert_string_equal(config->server, "https://b");
    assert_string_equal(config->token_file, kc_arena_printf(&f.arena, "%s/here", f.path));
    assert_null(config->token);
    assert_null(config->impersonate_user);
    kc_auto(kc_config) *z = kc_config_load(&(kc_config_opts){.context = "z"}, NULL);
    assert_non_null(z);
}

static void missing_named_file_is_an_error(void **state)
{
    (void)state;
    assert_refused(kc_config_load(&(kc_config_opts){.path = "/nowhere/at/all"}, &err), KC_NOT_FOUND,
                   "kubeconfig /nowhere/at/all: cannot open");
}

static void invalid_file_among_several_is_an_error(void **state)
{
    (void)state;
    kc_scoped(folder) f;
    folder_new(&f);
    const char *a = put(&f, "a", CONTEXT("{server: 'https://h'}", "{}"));
    const char *b = put(&f, "b", "a:\n  - b\n c");
    setenv("KUBECONFIG", kc_arena_printf(&f.arena, "%s:%s", a, b), 1);
    assert_refused(kc_config_load(NULL, &err), KC_BAD_REQUEST, "/b: line ");
}

static void file_beyond_the_limit_is_refused(void **state)
{
    (void)state;
    assert_refused(kc_config_load(&(kc_config_opts){.path = "/dev/zero"}, &err), KC_TOO_LARGE,
                   "more than 4194304 bytes");
}

static void home_directory_is_the_default_location(void **state)
{
    (void)state;
    kc_scoped(folder) f;
    folder_new(&f);
    kc_autofree char *home = kc_strdup(getenv("HOME") ? getenv("HOME") : "/");
    kc_autofree char *kube = kc_asprintf("mkdir '%s/.kube'", f.path);
    assert_int_equal(system(kube), 0);
    unsetenv("KUBECONFIG");
    setenv("HOME", f.path, 1);
    assert_refused(kc_config_load(NULL, &err), KC_NOT_FOUND, "no kubeconfig found: the file ");
    put(&f, ".kube/config", CONTEXT("{server: 'https://home'}", "{}"));
    kc_auto(kc_config) *config = kc_config_load(NULL, NULL);
    setenv("HOME", home, 1);
    assert_string_equal(config->server, "https://home");
}

static void ca_is_read_from_data_or_file(void **state)
{
    (void)state;
    kc_scoped(folder) f;
    folder_new(&f);
    put(&f, "ca.pem", "of the file");
    kc_autofree char *path = kc_asprintf("%s/ca.pem", f.path);
    kc_scoped(kc_buf) data = {0}, file = {0}, none = {0};
    kc_config config = {.ca_data = KC_STR("of the data"), .ca_file = path};
    assert_int_equal(kc_config_authority(&config, &data, NULL), 0);
    assert_str(kc_buf_str(&data), "of the data");
    config.ca_data = (kc_str){0};
    assert_int_equal(kc_config_authority(&config, &file, NULL), 0);
    assert_str(kc_buf_str(&file), "of the file");
    config.ca_file = "/no/such/file";
    kc_scoped(kc_error) err = {0};
    assert_true(kc_config_authority(&config, &none, &err) < 0);
    assert_error(&err, KC_NOT_FOUND, "/no/such/file");
    config.ca_file = NULL;
    assert_int_equal(kc_config_authority(&config, &none, NULL), 0);
    assert_int_equal(none.n, 0);
}

/* ---- pods ---- */

static void in_cluster_config_uses_the_service_account(void **state)
{
    (void)state;
    kc_scoped(folder) f;
    folder_new(&f);
    const kc_config_opts opts = {0};
    unsetenv("KUBERNETES_SERVICE_HOST");
    assert_false(kc__kubeconfig_in_cluster(f.path));
    assert_refused(kc__kubeconfig_config_in_cluster(f.path, &opts, &err), KC_NOT_FOUND,
                   "not in a pod");
    setenv("KUBERNETES_SERVICE_HOST", "fd00::1", 1);
    setenv("KUBERNETES_SERVICE_PORT", "443", 1);
    assert_refused(kc__kubeconfig_config_in_cluster(f.path, &opts, &err), KC_NOT_FOUND, "/token");
    put(&f, "token", "secret");
    put(&f, "namespace", "shop\n");
    assert_true(kc__kubeconfig_in_cluster(f.path));
    kc_auto(kc_config) *config = kc__kubeconfig_config_in_cluster(f.path, &opts, NULL);
    assert_string_equal(config->server, "https://[fd00::1]:443");
    assert_string_equal(config->ns, "shop");
    assert_null(config->ca_file);
    assert_null(config->token);
    assert_contains(config->token_file, "/token");
    put(&f, "ca.crt", "");
    kc_auto(kc_config) *with_ca = kc__kubeconfig_config_in_cluster(f.path, &opts, NULL);
    assert_contains(with_ca->ca_file, "/ca.crt");
    unsetenv("KUBERNETES_SERVICE_HOST");
    unsetenv("KUBERNETES_SERVICE_PORT");
}

TESTS(current_context_selects_cluster_and_user, cluster_fields_are_read,
      multi_line_base64_data_is_decoded, relative_files_are_resolved_against_the_kubeconfig,
      exec_plugin_fields_are_read, v1beta1_exec_plugin_may_omit_interactive_mode,
      incomplete_exec_plugin_is_refused, impersonation_is_read,
      credentials_are_dropped_for_plain_http, conflicting_fields_are_refused,
      auth_provider_is_refused, mistyped_fields_are_named_in_error, server_must_be_an_http_url,
      server_without_scheme_gets_one_from_its_settings, options_override_the_kubeconfig,
      unknown_context_is_refused_with_suggestion, text_that_is_no_kubeconfig_is_refused,
      first_file_with_an_entry_wins, missing_named_file_is_an_error,
      invalid_file_among_several_is_an_error, file_beyond_the_limit_is_refused,
      home_directory_is_the_default_location, ca_is_read_from_data_or_file,
      in_cluster_config_uses_the_service_account)
