/* SPDX-License-Identifier: Apache-2.0 */
/*
 * users.c: reads all users of a kubeconfig. Here, unlike in a configuration of one context, every
 * user is checked: each may be needed later, when no operator is there to read an error.
 */
#include "kubeconfig/users.h"

#include "kubeconfig/kubeconfig_internal.h"

static int add_users(const kc__kubeconfig *config, kc__kubeconfig_users *users, kc_error *err)
{
    kc_map_each (&config->users, entry) {
        kc_config *user = kc__kubeconfig_resolve_user(entry->value, err);
        if (!user)
            return kc_error_result(err);
        kc_vec_push(&users->users, (kc__kubeconfig_user){kc_str_dup(entry->key), user});
    }
    return 0;
}

/* NULL if the file has no current context, or if that names no user. */
static char *user_of_current_context(const kc__kubeconfig *config)
{
    const kc__kubeconfig_entry *context = kc_map_get(&config->contexts, config->current_context);
    const kc_str name = kc_value_as_str(kc_value_get(context ? context->value : NULL, "user"));
    return name.n ? kc_str_dup(name) : NULL;
}

int kc__kubeconfig_users_read(const char *path, kc__kubeconfig_users *ret, kc_error *err)
{
    kc_scoped(kc__kubeconfig) config = {0};
    kc__kubeconfig_users users = {0};
    if (kc__kubeconfig_add_file(&config, path, err) < 0)
        return kc_error_result(err);
    if (add_users(&config, &users, err) < 0) {
        kc__kubeconfig_users_done(&users);
        return kc_error_result(err);
    }
    users.current = user_of_current_context(&config);
    *ret = users;
    return 0;
}

void kc__kubeconfig_users_done(kc__kubeconfig_users *users)
{
    kc_vec_each (&users->users, user) {
        kc_config_free(user->config);
        free(user->name);
    }
    kc_vec_done(&users->users);
    free(users->current);
    *users = (kc__kubeconfig_users){0};
}
