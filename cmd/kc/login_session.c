/* SPDX-License-Identifier: Apache-2.0 */
/*
 * login_session.c: see login_session.h.
 *
 * The kubeconfig is read, changed as a tree and written as YAML, as kubectl does; comments in it
 * are lost. The session file holds the key of the session, so it never goes into the kubeconfig,
 * which people copy and send around.
 */
#include "login_session.h"

#include "kc/base64.h"
#include "kc/edit.h"
#include "kc/file.h"
#include "kc/json.h"
#include "kc/yaml.h"

#include <openssl/sha.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MODE = 0600, DIR_MODE = 0700, NAME_BYTES = 12 };

/* ---- paths ---- */

char *kc__cli_kubeconfig_path(const char *given, kc_error *err)
{
    const char *list = getenv("KUBECONFIG"), *home = getenv("HOME");
    if (given)
        return kc_strdup(given);
    kc_str rest = kc_cstr(list && *list ? list : NULL);
    while (rest.p) {
        const kc_str one = kc_str_cut(&rest, ':');
        if (one.n)
            return kc_str_dup(one);
    }
    if (home && *home)
        return kc_asprintf("%s/.kube/config", home);
    kc_error_set(err, KC_INVALID, "no kubeconfig: set --kubeconfig, KUBECONFIG or HOME");
    return NULL;
}

static char *directory_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        return kc_strdup(".");
    return slash == path ? kc_strdup("/") : kc_str_dup(kc_str_of(path, (size_t)(slash - path)));
}

char *kc__cli_session_path(const char *kubeconfig, const char *server, const char *username)
{
    unsigned char digest[SHA256_DIGEST_LENGTH];
    kc_scoped(kc_buf) identity = {0}, name = {0};
    kc_autofree char *dir = directory_of(kubeconfig), *full = realpath(dir, NULL);
    kc_buf_printf(&identity, "%s\n%s", server, username);
    SHA256((const unsigned char *)kc_buf_cstr(&identity), identity.n, digest);
    for (size_t i = 0; i < NAME_BYTES; i++)
        kc_buf_printf(&name, "%02x", digest[i]);
    return kc_asprintf("%s/kc-sessions/%s.json", full ? full : dir, kc_buf_cstr(&name));
}

static int create_directory_of(const char *path, kc_error *err)
{
    kc_autofree char *dir = directory_of(path);
    return kc_dir_create(dir, DIR_MODE, err);
}

/* ---- clusters ---- */

static void put_text_member(kc_buf *out, const char *name, const char *text)
{
    if (!text)
        return;
    kc_buf_printf(out, "%s\"%s\":", out->n > 1 ? "," : "", name);
    kc_json_quote(out, kc_cstr(text));
}

int kc__cli_session_cluster(const kc_config *config, kc_buf *out, kc_error *err)
{
    kc_scoped(kc_buf) pem = {0}, encoded = {0};
    if (kc_config_authority(config, &pem, err) < 0)
        return kc_error_result(err);
    kc_base64_write(&encoded, kc_buf_str(&pem), KC_BASE64);
    kc_buf_putc(out, '{');
    put_text_member(out, "server", config->server);
    put_text_member(out, "tls-server-name", config->tls_server_name);
    put_text_member(out, "proxy-url", config->proxy);
    if (pem.n)
        put_text_member(out, "certificate-authority-data", kc_buf_cstr(&encoded));
    if (config->insecure)
        kc_buf_puts(out, ",\"insecure-skip-tls-verify\":true");
    kc_buf_putc(out, '}');
    return 0;
}

kc_config *kc__cli_session_config(kc_str cluster, kc_error *err)
{
    kc_scoped(kc_buf) json = {0};
    kc_buf_printf(&json,
                  "{\"apiVersion\":\"v1\",\"kind\":\"Config\",\"current-context\":\"c\","
                  "\"contexts\":[{\"name\":\"c\",\"context\":{\"cluster\":\"c\",\"user\":\"u\"}}],"
                  "\"users\":[{\"name\":\"u\",\"user\":{}}],"
                  "\"clusters\":[{\"name\":\"c\",\"cluster\":%.*s}]}",
                  KC_ARG(cluster));
    return kc_config_parse(kc_buf_str(&json), NULL, NULL, err);
}

/* ---- session files ---- */

static void put_answer_member(kc_buf *out, const kc_value *answer, const char *name)
{
    const kc_str text = kc_value_as_str(kc_value_get(answer, name));
    kc_buf_printf(out, ",\"%s\":", name);
    kc_json_quote(out, text);
}

int kc__cli_session_write(const char *path, kc_str cluster, const char *username, kc_str session,
                          const kc_value *answer, kc_error *err)
{
    kc_buf json = {0};
    if (create_directory_of(path, err) < 0)
        return kc_error_result(err);
    kc_buf_printf(&json, "{\"" KC__CLI_SESSION_CLUSTER "\":%.*s,\"" KC__CLI_SESSION_USER "\":",
                  KC_ARG(cluster));
    kc_json_quote(&json, kc_cstr(username));
    kc_buf_puts(&json, ",\"" KC__CLI_SESSION_KEY "\":");
    kc_json_quote(&json, session);
    put_answer_member(&json, answer, KC__CLI_SESSION_TOKEN);
    put_answer_member(&json, answer, KC__CLI_SESSION_EXPIRES);
    kc_buf_puts(&json, "}\n");
    const int status = kc_file_write(path, MODE, kc_buf_str(&json), err);
    kc_buf_wipe(&json);
    return status;
}

kc_view *kc__cli_session_read(const char *path, kc_error *err)
{
    kc_buf text = {0};
    kc_view *view = NULL;
    if (access(path, F_OK) < 0)
        kc_error_set(err, KC_NOT_FOUND, "not logged in; run: kc login");
    else if (kc_file_read(path, KC_FILE_MAX, &text, err) == 0)
        view = kc_view_parse(kc_buf_str(&text), NULL, err);
    kc_buf_wipe(&text);
    return view;
}

/* ---- kubeconfig ---- */

static kc_view *read_kubeconfig(const char *path, kc_error *err)
{
    kc_scoped(kc_buf) text = {0};
    if (access(path, F_OK) < 0)
        kc_buf_puts(&text, "apiVersion: v1\nkind: Config\n");
    else if (kc_file_read(path, KC_FILE_MAX, &text, err) < 0)
        return NULL;
    kc_auto(kc_view) *view = kc_yaml_parse(kc_buf_str(&text), NULL, err);
    if (view && kc_value_type(kc_view_root(view)) != KC_JSON_OBJECT) {
        kc_error_set(err, KC_INVALID, "%s is not a kubeconfig", path);
        return NULL;
    }
    return kc_take(view);
}

static kc_node *kubeconfig_list(kc_edit *edit, const char *name)
{
    kc_node *root = kc_edit_root(edit);
    kc_node *list = kc_node_get(root, kc_cstr(name));
    if (kc_node_type(list) == KC_JSON_ARRAY)
        return list;
    list = kc_node_array(edit);
    kc_node_set(edit, root, kc_cstr(name), list);
    return list;
}

/* Replaces the entry of this name, or appends it. */
static void put_entry(kc_edit *edit, const char *list_name, const char *name, const char *member,
                      kc_node *content)
{
    kc_node *list = kubeconfig_list(edit, list_name), *entry = kc_node_object(edit);
    kc_node_set(edit, entry, KC_STR("name"), kc_node_str(edit, kc_cstr(name)));
    kc_node_set(edit, entry, kc_cstr(member), content);
    for (size_t i = 0; i < kc_node_len(list); i++) {
        const kc_node *item = kc_node_at(list, i);
        if (kc_str_is(kc_node_as_str(kc_node_get(item, KC_STR("name"))), name)) {
            kc_node_replace_at(list, i, entry);
            return;
        }
    }
    kc_node_append(list, entry);
}

/* This program, by its path: kubectl may run in another directory with another PATH. */
static void own_program(char path[4096])
{
    const ssize_t n = readlink("/proc/self/exe", path, 4095);
    if (n <= 0)
        strcpy(path, "kc");
    else
        path[n] = 0;
}

static kc_node *exec_user(kc_edit *edit, const char *session_file)
{
    char program[4096];
    const char *const args[] = {"login", "--exec-credential", session_file};
    kc_node *user = kc_node_object(edit), *exec = kc_node_object(edit), *list = kc_node_array(edit);
    own_program(program);
    for (size_t i = 0; i < KC_COUNT(args); i++)
        kc_node_append(list, kc_node_str(edit, kc_cstr(args[i])));
    kc_node_set(edit, exec, KC_STR("apiVersion"),
                kc_node_str(edit, KC_STR("client.authentication.k8s.io/v1")));
    kc_node_set(edit, exec, KC_STR("command"), kc_node_str(edit, kc_cstr(program)));
    kc_node_set(edit, exec, KC_STR("args"), list);
    kc_node_set(edit, exec, KC_STR("interactiveMode"), kc_node_str(edit, KC_STR("Never")));
    kc_node_set(edit, user, KC_STR("exec"), exec);
    return user;
}

static void put_context(kc_edit *edit, const char *name, const char *cluster, const char *user)
{
    kc_node *context = kc_node_object(edit);
    kc_node_set(edit, context, KC_STR("cluster"), kc_node_str(edit, kc_cstr(cluster)));
    kc_node_set(edit, context, KC_STR("user"), kc_node_str(edit, kc_cstr(user)));
    put_entry(edit, "contexts", name, "context", context);
    kc_node_set(edit, kc_edit_root(edit), KC_STR("current-context"),
                kc_node_str(edit, kc_cstr(name)));
}

static int write_kubeconfig_tree(const char *path, kc_edit *edit, kc_error *err)
{
    kc_buf text = {0};
    kc_auto(kc_view) *view = kc_edit_view(edit, err);
    if (!view || create_directory_of(path, err) < 0)
        return kc_error_result(err);
    kc_yaml_write(&text, kc_view_root(view));
    const int status = kc_file_write(path, MODE, kc_buf_str(&text), err);
    kc_buf_wipe(&text);
    return status;
}

int kc__cli_session_add_to_kubeconfig(const char *kubeconfig, kc_str cluster, const char *server,
                                      const char *username, const char *session_file, kc_error *err)
{
    const char *scheme = strstr(server, "://"), *host = scheme ? scheme + 3 : server;
    kc_autofree char *user = kc_asprintf("kc:%s@%s", username, host),
                     *context = kc_asprintf("%s@%s", username, host);
    kc_auto(kc_view) *before = read_kubeconfig(kubeconfig, err);
    kc_auto(kc_view) *content = before ? kc_view_parse(cluster, NULL, err) : NULL;
    if (!content)
        return kc_error_result(err);
    kc_auto(kc_edit) *edit = kc_edit_of_value(kc_view_root(before));
    put_entry(edit, "clusters", host, "cluster", kc_node_from_value(edit, kc_view_root(content)));
    put_entry(edit, "users", user, "user", exec_user(edit, session_file));
    put_context(edit, context, host, user);
    return write_kubeconfig_tree(kubeconfig, edit, err);
}

static const kc_value *kubeconfig_entry(const kc_value *root, const char *list, kc_str name,
                                        const char *member)
{
    kc_value_each_item (kc_value_get(root, list), entry)
        if (kc_str_eq(kc_value_as_str(kc_value_get(entry, "name")), name))
            return kc_value_get(entry, member);
    return NULL;
}

char *kc__cli_session_of_kubeconfig(const char *kubeconfig, const char *context, kc_error *err)
{
    kc_auto(kc_view) *view = read_kubeconfig(kubeconfig, err);
    if (!view)
        return NULL;
    const kc_value *root = kc_view_root(view);
    const kc_str name =
        context ? kc_cstr(context) : kc_value_as_str(kc_value_get(root, "current-context"));
    const kc_value *chosen = kubeconfig_entry(root, "contexts", name, "context");
    const kc_value *user =
        kubeconfig_entry(root, "users", kc_value_as_str(kc_value_get(chosen, "user")), "user");
    const kc_value *args = kc_value_nested(user, "exec.args");
    if (kc_value_len(args) == 3 &&
        kc_str_is(kc_value_as_str(kc_value_at(args, 1)), "--exec-credential"))
        return kc_str_dup(kc_value_as_str(kc_value_at(args, 2)));
    kc_error_set(err, KC_NOT_FOUND, "the context \"%.*s\" of %s has no session of kc login",
                 KC_ARG(name), kubeconfig);
    return NULL;
}
