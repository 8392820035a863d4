/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kubeconfig.c: where a configuration is looked for. A file that was named must be there; of those
 * in $KUBECONFIG, and of ~/.kube/config, some or all may be missing. When all are, a pod's service
 * account is taken. A file that is there and broken is an error: to go on with half of what
 * somebody wrote would talk to another cluster than meant.
 */
#include "kc/kubeconfig.h"
#include "kc/file.h"

#include "client/kubeconfig_internal.h"

#include <libgen.h>
#include <pwd.h>
#include <unistd.h>

static const kc_config_opts no_opts;

/* The folder a file lies in, absolute where that can be found out. */
static char *folder_of(const char *path)
{
    kc_autofree char *copy = kc_strdup(path);
    char *folder = dirname(copy);
    char *absolute = realpath(folder, NULL);
    return absolute ? absolute : kc_strdup(folder);
}

static int add_file(kc__kubeconfig *config, const char *path, kc_error *err)
{
    kc_scoped(kc_buf) text = {0};
    kc_autofree char *folder = folder_of(path);
    if (kc_file_read(path, KC__MAX_KUBECONFIG, &text, err) < 0)
        return kc_error_wrap(err, "kubeconfig %s", path);
    return kc__kubeconfig_add(config, path, folder, kc_buf_str(&text), err);
}

/* A file that may be missing. */
static int add_if_there(kc__kubeconfig *config, const char *path, kc_error *err)
{
    return access(path, F_OK) < 0 ? 0 : add_file(config, path, err);
}

static int add_list(kc__kubeconfig *config, const char *list, kc_error *err)
{
    kc_str rest = kc_cstr(list);
    for (size_t n = 0; rest.p; n++) {
        kc_autofree char *path = kc_str_dup(kc_str_cut(&rest, ':'));
        if (n >= KC__MAX_KUBECONFIGS)
            return kc_error_set(err, KC_TOO_LARGE, "$KUBECONFIG names more than %d files",
                                KC__MAX_KUBECONFIGS);
        if (*path && add_if_there(config, path, err) < 0)
            return -1;
    }
    return 0;
}

/* ~/.kube/config; the caller frees it. */
static char *home_file(void)
{
    const char *home = getenv("HOME");
    struct passwd entry, *found = NULL;
    char buffer[4096];
    if ((!home || !*home) && getpwuid_r(getuid(), &entry, buffer, sizeof(buffer), &found) == 0 &&
        found)
        home = found->pw_dir;
    return kc_asprintf("%s/.kube/config", home ? home : "");
}

static kc_config *load_default(const kc_config_opts *opts, kc_error *err)
{
    kc_scoped(kc__kubeconfig) config = {0};
    const char *list = getenv("KUBECONFIG");
    kc_autofree char *home = home_file();
    if ((list && *list ? add_list(&config, list, err) : add_if_there(&config, home, err)) < 0)
        return NULL;
    if (config.files)
        return kc__kubeconfig_resolve(&config, opts, err);
    if (kc__in_cluster(KC__SERVICE_ACCOUNT_FOLDER))
        return kc__config_in_cluster(KC__SERVICE_ACCOUNT_FOLDER, opts, err);
    if (opts->server) {
        kc__config *c = kc__config_new();
        return kc__config_finish(c, opts, "(none)", err) < 0 ? kc_config_free(&c->config)
                                                             : &c->config;
    }
    kc_error_set(err, KC_NOT_FOUND, "there is no kubeconfig: %s %s is missing, and this is no pod",
                 list && *list ? "all of $KUBECONFIG" : "the file", list && *list ? list : home);
    return NULL;
}

kc_config *kc_config_load(const kc_config_opts *opts, kc_error *err)
{
    kc_scoped(kc__kubeconfig) config = {0};
    opts = opts ? opts : &no_opts;
    if (opts->in_cluster)
        return kc__config_in_cluster(KC__SERVICE_ACCOUNT_FOLDER, opts, err);
    if (!opts->path || !*opts->path)
        return load_default(opts, err);
    if (add_file(&config, opts->path, err) < 0)
        return NULL;
    return kc__kubeconfig_resolve(&config, opts, err);
}

kc_config *kc_config_parse(kc_str yaml, const char *folder, const kc_config_opts *opts,
                           kc_error *err)
{
    kc_scoped(kc__kubeconfig) config = {0};
    if (kc__kubeconfig_add(&config, "(text)", folder, yaml, err) < 0)
        return NULL;
    return kc__kubeconfig_resolve(&config, opts ? opts : &no_opts, err);
}
