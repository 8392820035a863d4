/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quarantine_identity.c: the versions of an object and of the code, as one number each. One of them
 * must change before a key that crashed is retried.
 */
#include "runtime/crash/quarantine.h"

#include "kc/json.h"
#include "kc/object.h"
#include "kc/view.h"

#include <dlfcn.h>
#include <sys/stat.h>

/* FNV-1a: the result is stored on disk, so the function must not change. */
static uint64_t quarantine_identity_hash_of(kc_str bytes)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < bytes.n; i++)
        hash = (hash ^ (unsigned char)bytes.p[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static bool quarantine_identity_is_omitted(kc_str name)
{
    return kc_str_is(name, "resourceVersion") || kc_str_is(name, "managedFields") ||
           kc_str_is(name, "generation");
}

static void quarantine_identity_write_metadata(kc_buf *out, const kc_value *metadata)
{
    kc_value_each_member (metadata, name, value) {
        if (quarantine_identity_is_omitted(name))
            continue;
        kc_buf_append(out, name);
        kc_json_write(out, value);
    }
}

uint64_t kc__quarantine_version(const kc_object *object)
{
    if (!object)
        return KC__QUARANTINE_ABSENT;
    kc_scoped(kc_buf) text = {0};
    kc_auto(kc_view) *view = kc_view_of(object);
    kc_value_each_member (kc_view_root(view), name, value) {
        if (kc_str_is(name, "status"))
            continue;
        kc_buf_append(&text, name);
        if (kc_str_is(name, "metadata"))
            quarantine_identity_write_metadata(&text, value);
        else
            kc_json_write(&text, value);
    }
    const uint64_t hash = quarantine_identity_hash_of(kc_buf_str(&text));
    return hash > 1 ? hash : 2;
}

uint64_t kc__quarantine_code(const void *address)
{
    Dl_info info;
    struct stat file;
    if (!address || !dladdr(address, &info) || !info.dli_fname)
        return 0;
    if (stat(info.dli_fname, &file) < 0 && stat("/proc/self/exe", &file) < 0)
        return 0;
    const uint64_t parts[] = {(uint64_t)file.st_ino, (uint64_t)file.st_size,
                              (uint64_t)file.st_mtim.tv_sec, (uint64_t)file.st_mtim.tv_nsec};
    const uint64_t hash =
        quarantine_identity_hash_of(kc_str_of((const char *)parts, sizeof(parts)));
    return hash ? hash : 1;
}
