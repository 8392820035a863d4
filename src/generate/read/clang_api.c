/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clang_api.c: loads libclang and its functions.
 *
 * Only code generation needs a C parser. So libclang, which is large, is not a dependency of kc;
 * `kc generate` loads it: the version this was written with first, then any other. The types and
 * enumerators of its headers are the same in all of these versions; a function that an older one
 * lacks is an error here, not a crash.
 */
#include "generate/read/clang_api.h"

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

/* Destination of each function's address. */
static const struct {
    const char *name;
    size_t at;
} functions[] = {
#define FUNCTION(name) {"clang_" #name, offsetof(kc__gen_clang, name)},
    KC__GEN_CLANG_FUNCTIONS(FUNCTION)
#undef FUNCTION
};

int kc__gen_clang_load(kc__gen_clang *ret, kc_error *err)
{
    kc__gen_clang clang = {0};
    void *library = open_any();
    if (!library)
        return kc_error_set(err, KC_NOT_FOUND,
                            "libclang is required to read headers; on Debian: apt-get install "
                            "libclang1-19 libclang-common-19-dev");
    for (size_t i = 0; i < KC_COUNT(functions); i++) {
        void *address = dlsym(library, functions[i].name);
        if (!address)
            return kc_error_set(err, KC_NOT_FOUND,
                                "libclang is too old (%s is missing); on Debian: apt-get "
                                "install libclang1-19 libclang-common-19-dev",
                                functions[i].name);
        memcpy((char *)&clang + functions[i].at, &address, sizeof(address));
    }
    *ret = clang;
    return 0;
}
