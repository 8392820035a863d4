/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kubeconfig.c: where a configuration is looked for. A file named explicitly must exist. Files in
 * $KUBECONFIG and ~/.kube/config may be missing; if all are, the service account of the pod is
 * used. A file that exists but is invalid is an error: continuing with partial content could
 * address the wrong cluster.
 */
#include "kc/kubeconfig.h"
#include "kc/file.h"

#include "kubeconfig/kubeconfig_internal.h"

#include <libgen.h>
#include <pwd.h>
#include <unistd.h>

static const kc_config_opts no_opts;

/* Returns the directory of a file, as an absolute path where possible. */
static char *kubeconfig_dir_of(const char *path)
{
    kc_autofree char *copy = kc_strdup(path);
    char *dir = dirname(copy);
    char *absolute = realpath(dir, NULL);
    return absolute ? absolute : kc_strdup(dir);
}

int kc__kubeconfig_add_file(kc__kubeconfig *config, const char *path, kc_error *err)
{
    kc_scoped(kc_buf) text = {0};
    kc_autofree char *dir = kubeconfig_dir_of(path);
    if (kc_file_read(path, KC__KUBECONFIG_MAX_BYTES, &text, err) < 0)
        return kc_error_wrap(err, "kubeconfig %s", path);
    const int result = kc__kubeconfig_add(config, path, dir, kc_buf_str(&text), err);
    kc_buf_wipe(&text);
    return result;
}

/* Adds a file if it exists. */
static int add_if_there(kc__kubeconfig *config, const char *path, kc_error *err)
{
    return access(path, F_OK) < 0 ? 0 : kc__kubeconfig_add_file(config, path, err);
}

static int add_list(kc__kubeconfig *config, const char *list, kc_error *err)
{
    kc_str rest = kc_cstr(list);
    for (size_t n = 0; rest.p; n++) {
        kc_autofree char *path = kc_str_dup(kc_str_cut(&rest, ':'));
        if (n >= KC__KUBECONFIG_MAX_FILES)
            return kc_error_set(err, KC_TOO_LARGE, "$KUBECONFIG names more than %d files",
                                KC__KUBECONFIG_MAX_FILES);
        if (*path && add_if_there(config, path, err) < 0)
            return kc_error_result(err);
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
    if (kc__kubeconfig_in_cluster(KC__KUBECONFIG_SERVICE_ACCOUNT_DIR))
        return kc__kubeconfig_config_in_cluster(KC__KUBECONFIG_SERVICE_ACCOUNT_DIR, opts, err);
    if (opts->server) {
        kc__kubeconfig_config *c = kc__kubeconfig_config_new();
        return kc__kubeconfig_config_finish(c, opts, "(none)", err) < 0 ? kc_config_free(&c->config)
                                                                        : &c->config;
    }
    kc_error_set(err, KC_NOT_FOUND,
                 "no kubeconfig found: %s %s does not exist, and this process is not in a pod",
                 list && *list ? "all of $KUBECONFIG" : "the file", list && *list ? list : home);
    return NULL;
}

kc_config *kc_config_load(const kc_config_opts *opts, kc_error *err)
{
    kc_scoped(kc__kubeconfig) config = {0};
    opts = opts ? opts : &no_opts;
    if (opts->in_cluster)
        return kc__kubeconfig_config_in_cluster(KC__KUBECONFIG_SERVICE_ACCOUNT_DIR, opts, err);
    if (!opts->path || !*opts->path)
        return load_default(opts, err);
    if (kc__kubeconfig_add_file(&config, opts->path, err) < 0)
        return NULL;
    return kc__kubeconfig_resolve(&config, opts, err);
}

kc_config *kc_config_parse(kc_str yaml, const char *dir, const kc_config_opts *opts, kc_error *err)
{
    kc_scoped(kc__kubeconfig) config = {0};
    if (kc__kubeconfig_add(&config, "(text)", dir, yaml, err) < 0)
        return NULL;
    return kc__kubeconfig_resolve(&config, opts ? opts : &no_opts, err);
}
