/* SPDX-License-Identifier: Apache-2.0 */
/*
 * webhook_kubeconfig.c: reads the kubeconfigs of webhooks with the reader of all kubeconfigs, as
 * kube-apiserver does.
 *
 * The files are read once. The server has no user at hand and keeps one credential, so plugins
 * (exec) are refused, and so are proxies and impersonation, which the HTTP client of webhooks does
 * not have: a webhook that is called in another way than the file says could decide wrongly.
 */
#include "apiserver/webhook/webhook_kubeconfig.h"

#include "kubeconfig/credentials.h"
#include "kubeconfig/users.h"

static int check_webhook_support(const kc_config *config, kc_error *err)
{
    if (config->exec)
        return kc_error_set(err, KC_INVALID, "credential plugins (exec) are not supported here");
    if (config->proxy)
        return kc_error_set(err, KC_INVALID, "proxy-url is not supported here");
    if (config->impersonate_user)
        return kc_error_set(err, KC_INVALID, "impersonation (as) is not supported here");
    return 0;
}

/* NULL if the server cannot use the credentials, or if a file cannot be read. */
static kc__credential *read_credential(const kc_config *config, kc_error *err)
{
    if (check_webhook_support(config, err) < 0)
        return NULL;
    kc__credentials *credentials = kc__credentials_new(config, kc_clock_real(), NULL, err);
    kc__credential *credential =
        credentials ? kc__credentials_get(credentials, NULL, KC_FOREVER, NULL, err) : NULL;
    kc__credentials_free(credentials);
    return credential;
}

/* Borrows from both. */
static kc__http_client_identity identity_of(const kc_config *config, const kc__credential *c)
{
    return (kc__http_client_identity){.insecure = config->insecure,
                                      .server_name = config->tls_server_name,
                                      .cert = kc_str_of(c->cert, c->cert_length),
                                      .key = kc_str_of(c->key, c->key_length),
                                      .authorization = c->authorization};
}

/* ---- the current context ---- */

int kc__webhook_kubeconfig_read(const char *path, kc__webhook_kubeconfig *ret, kc_error *err)
{
    kc_auto(kc_config) *config = kc_config_load(&(kc_config_opts){.path = path}, err);
    if (!config)
        return kc_error_result(err);
    kc__credential *credential = read_credential(config, err);
    if (!credential)
        return kc_error_wrap(err, "kubeconfig %s", path);
    ret->target = (kc__http_target){.url = config->server,
                                    .ca = kc_str_of(credential->ca, credential->ca_length),
                                    .identity = identity_of(config, credential)};
    ret->config = kc_take(config);
    ret->credential = credential;
    return 0;
}

void kc__webhook_kubeconfig_done(kc__webhook_kubeconfig *webhook)
{
    kc__credential_unref(webhook->credential);
    kc_config_free(webhook->config);
    *webhook = (kc__webhook_kubeconfig){0};
}

/* ---- credentials by server ---- */

/* A user of the file. */
typedef struct server_user {
    kc_str name; /* Borrowed, as what the identity refers to. */
    kc__credential *credential;
    kc__http_client_identity identity;
} server_user;

struct kc__webhook_kubeconfig_users {
    kc__kubeconfig_users file;
    KC_VEC(server_user) users;
};

kc__webhook_kubeconfig_users *kc__webhook_kubeconfig_users_free(kc__webhook_kubeconfig_users *users)
{
    if (!users)
        return NULL;
    kc_vec_each (&users->users, user)
        kc__credential_unref(user->credential);
    kc_vec_done(&users->users);
    kc__kubeconfig_users_done(&users->file);
    free(users);
    return NULL;
}

kc__webhook_kubeconfig_users *kc__webhook_kubeconfig_users_read(const char *path, kc_error *err)
{
    kc_auto(kc__webhook_kubeconfig_users) *users = kc_new(kc__webhook_kubeconfig_users);
    if (kc__kubeconfig_users_read(path, &users->file, err) < 0)
        return NULL;
    kc_vec_each (&users->file.users, user) {
        kc__credential *credential = read_credential(user->config, err);
        if (!credential) {
            kc_error_wrap(err, "kubeconfig %s: user %s", path, user->name);
            return NULL;
        }
        kc_vec_push(&users->users, (server_user){kc_cstr(user->name), credential,
                                                 identity_of(user->config, credential)});
    }
    return kc_take(users);
}

static const kc__http_client_identity *user_named(const kc__webhook_kubeconfig_users *users,
                                                  kc_str prefix, kc_str name)
{
    kc_vec_each (&users->users, user)
        if (user->name.n == prefix.n + name.n && kc_str_starts(user->name, prefix) &&
            kc_str_ends(user->name, name))
            return &user->identity;
    return NULL;
}

/* The user of this name, or of "*." and a domain that the name is in. */
static const kc__http_client_identity *user_for_name(const kc__webhook_kubeconfig_users *users,
                                                     kc_str name)
{
    const kc__http_client_identity *found = user_named(users, KC_STR(""), name);
    kc_str domain = name;
    while (!found && kc_str_find(domain, '.') >= 0) {
        kc_str_cut(&domain, '.');
        found = user_named(users, KC_STR("*."), domain);
    }
    return found;
}

const kc__http_client_identity *kc__webhook_kubeconfig_users_for(
    const kc__webhook_kubeconfig_users *users, kc_str host_port)
{
    if (!users)
        return NULL;
    const kc__http_client_identity *found = user_for_name(users, host_port);
    if (!found && kc_str_ends(host_port, KC_STR(":443")))
        found = user_for_name(users, kc_str_sub(host_port, 0, host_port.n - strlen(":443")));
    if (!found)
        found = user_named(users, KC_STR(""), KC_STR("*"));
    if (!found && users->file.current)
        found = user_named(users, KC_STR(""), kc_cstr(users->file.current));
    return found;
}
