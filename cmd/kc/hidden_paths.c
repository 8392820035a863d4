/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hidden_paths.c: the files and directories that hold credentials or objects of the control plane.
 * The pod runtime hides them from pods or refuses to run (kc_pods_opts.hidden).
 *
 * To hide the file of another flag: a row in secret_files.c.
 */
#include "hidden_paths.h"

#include "kc/str.h"
#include "kubeconfig/users.h"

#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#define IN_CLUSTER "/var/run/secrets/kubernetes.io/serviceaccount"

void kc__cli_hidden_paths_add(kc__cli_hidden_paths *paths, const char *path)
{
    char here[PATH_MAX];
    if (!path || !*path)
        return;
    if (*path == '/')
        kc_vec_push(paths, kc_strdup(path));
    else if (getcwd(here, sizeof(here)))
        kc_vec_push(paths, kc_asprintf("%s/%s", here, path));
}

void kc__cli_hidden_paths_add_usual(kc__cli_hidden_paths *paths)
{
    const char *home = getenv("HOME");
    for (kc_str rest = kc_cstr(getenv("KUBECONFIG")); rest.p;) {
        kc_autofree char *path = kc_str_dup(kc_str_cut(&rest, ':'));
        kc__cli_hidden_paths_add(paths, path);
    }
    if (home && *home) {
        kc_autofree char *kube = kc_asprintf("%s/.kube", home);
        kc__cli_hidden_paths_add(paths, kube);
    }
    kc__cli_hidden_paths_add(paths, IN_CLUSTER);
}

/* A file that is no kubeconfig is hidden alone: where it is read, it is refused. */
void kc__cli_hidden_paths_add_kubeconfig(kc__cli_hidden_paths *paths, const char *path)
{
    kc__kubeconfig_users file = {0};
    kc__cli_hidden_paths_add(paths, path);
    if (!path || kc__kubeconfig_users_read(path, &file, NULL) < 0)
        return;
    kc_vec_each (&file.users, user) {
        kc__cli_hidden_paths_add(paths, user->config->key_file);
        kc__cli_hidden_paths_add(paths, user->config->token_file);
    }
    kc__kubeconfig_users_done(&file);
}

void kc__cli_hidden_paths_add_files(kc__cli_hidden_paths *paths, const kc__cli_secret_files *files,
                                    const void *options)
{
    for (size_t i = 0; i < files->n; i++) {
        const char *path = kc__cli_secret_path(&files->items[i], options);
        if (files->items[i].kind == KC__CLI_SECRET_KUBECONFIG)
            kc__cli_hidden_paths_add_kubeconfig(paths, path);
        else
            kc__cli_hidden_paths_add(paths, path);
    }
}

void kc__cli_hidden_paths_add_server(kc__cli_hidden_paths *paths,
                                     const kc__cli_apiserver_options *o)
{
    kc__cli_hidden_paths_add(paths, o->root);
    kc__cli_hidden_paths_add(paths, o->cert_dir);
    kc__cli_hidden_paths_add_files(paths, &kc__cli_apiserver_secrets, o);
    if (o->audit.log_path && strcmp(o->audit.log_path, "-") != 0)
        kc__cli_hidden_paths_add(paths, o->audit.log_path);
    for (size_t i = 0; i < o->accounts.key_files.n; i++) /* They may be private, too. */
        kc__cli_hidden_paths_add(paths, o->accounts.key_files.items[i].p);
}

void kc__cli_hidden_paths_add_client(kc__cli_hidden_paths *paths, const kc_config *config)
{
    const char *const all[] = {config->key_file, config->cert_file, config->token_file};
    for (size_t i = 0; i < KC_COUNT(all); i++)
        kc__cli_hidden_paths_add(paths, all[i]);
}

const char *const *kc__cli_hidden_paths_end(kc__cli_hidden_paths *paths)
{
    kc_vec_push(paths, NULL);
    return (const char *const *)paths->items;
}

void kc__cli_hidden_paths_done(kc__cli_hidden_paths *paths)
{
    kc_vec_each (paths, path)
        free(*path);
    kc_vec_done(paths);
}
