/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plugin.c: reconcilers in shared objects.
 *
 * A shared object is asked for its section of definitions by a function that app.h gives to
 * everything compiled with it. It is never unloaded: its code may be running, and what it defines
 * is pointed to. It finds the functions of the SDK in the program that loads it (which exports
 * them), or in the libkc it is linked with.
 */
#include "app/app_internal.h"

#include <dlfcn.h>

int kc_app_with_plugin(kc_app *app, const char *path, kc_error *err)
{
    /* dlopen looks for a bare name in the system's folders; people mean this one. */
    kc_autofree char *name = strchr(path, '/') ? kc_strdup(path) : kc_asprintf("./%s", path);
    void *object = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!object)
        return kc_error_set(err, KC_INVALID, "cannot load %s: %s", path, dlerror());
    const kc__registered *const *begin = NULL, *const *end = NULL;
    kc__plugin_fn *ask = NULL;
    *(void **)&ask = dlsym(object, KC__PLUGIN_FUNCTION); /* As POSIX wants it said. */
    if (ask)
        ask(&begin, &end);
    const int added = begin == end ? kc_error_set(err, KC_INVALID,
                                                  "there is no reconciler in it: nothing "
                                                  "says KC_RECONCILER")
                                   : kc__app_with_section(app, begin, end, err);
    dlclose(object);
    return added < 0 ? kc_error_wrap(err, "%s", path) : 0;
}
