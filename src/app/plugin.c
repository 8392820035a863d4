/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plugin.c: loads reconcilers from shared objects.
 *
 * A shared object exports a function, which app.h defines in everything compiled with it, that
 * returns its section of definitions. It is never unloaded: its code may be running, and its
 * definitions are referenced. It resolves the SDK's functions from the program that loads it (which
 * exports them), or from the libkc it is linked with.
 *
 * A plugin runs with all privileges of the process. So a plugin that other users can change or
 * replace is refused: its file and every parent directory must belong to root or to this user and
 * be writable by no other. A crash of its reconcile ends the process, unless the program opted in
 * to recovery (kc_app_opts.plugin_crash_recovery).
 */
#include "app/app_internal.h"

#include "kc/file.h"

#include <dlfcn.h>

int kc_app_add_plugin(kc_app *app, const char *path, kc_error *err)
{
    /* dlopen searches a bare name in system directories; the current directory is meant. */
    kc_autofree char *name = strchr(path, '/') ? kc_strdup(path) : kc_asprintf("./%s", path);
    if (kc_file_check_trusted(name, err) < 0)
        return kc_error_wrap(err, "cannot load %s", path);
    void *object = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!object)
        return kc_error_set(err, KC_INVALID, "cannot load %s: %s", path, dlerror());
    const kc__app_registration *const *begin = NULL, *const *end = NULL;
    kc__app_plugin_fn *ask = NULL;
    *(void **)&ask = dlsym(object, KC__APP_PLUGIN_FUNCTION); /* The cast that POSIX recommends. */
    if (ask)
        ask(&begin, &end);
    const int added = begin == end ? kc_error_set(err, KC_INVALID,
                                                  "no reconciler found: KC_RECONCILER is missing")
                                   : kc__app_add_plugin_section(app, begin, end, err);
    dlclose(object);
    return added < 0 ? kc_error_wrap(err, "%s", path) : 0;
}
