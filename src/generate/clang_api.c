/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clang_api.c: finds libclang and its functions.
 *
 * Generating needs a C parser; serving and reconciling do not. So libclang, which is large, is no
 * dependency of kc but something `kc generate` looks for: the version this was written with first,
 * then whatever the machine has. Types and enumerators of the headers it was compiled with stay the
 * same in all of these; a function that an older one lacks is found out here, not by a crash.
 */
#include "generate/clang_api.h"

#include <dlfcn.h>

static const char *const names[] = {
    "libclang-19.so.1", "libclang-19.so.19", "libclang.so.1",    "libclang.so",
    "libclang-20.so.1", "libclang-21.so.1",  "libclang-18.so.1", "libclang-17.so.1",
    "libclang-16.so.1", "libclang-15.so.1",  "libclang-14.so.1", "libclang-13.so.1",
};

static void *open_any(void)
{
    for (size_t i = 0; i < KC_COUNT(names); i++) {
        void *library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
        if (library)
            return library;
    }
    return NULL;
}

int kc__clang_load(kc__clang *ret, kc_error *err)
{
    kc__clang clang = {0};
    const char *missing = NULL;
    void *library = open_any();
    if (!library)
        return kc_error_set(err, KC_NOT_FOUND,
                            "libclang, which reads headers, is not installed; on Debian: apt-get "
                            "install libclang1-19 libclang-common-19-dev");
#define LOAD(name)                               \
    clang.name = dlsym(library, "clang_" #name); \
    if (!clang.name)                             \
        missing = "clang_" #name;
    KC__CLANG_FUNCTIONS(LOAD)
#undef LOAD
    if (missing)
        return kc_error_set(err, KC_NOT_FOUND,
                            "the libclang of this machine is too old (it has no %s); on Debian: "
                            "apt-get install libclang1-19 libclang-common-19-dev",
                            missing);
    *ret = clang;
    return 0;
}
