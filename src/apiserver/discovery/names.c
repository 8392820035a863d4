/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names.c: members that the documents of discovery share.
 *
 * Names are quoted as JSON strings although the built-in ones need no escapes: those of custom
 * resources come from clients.
 */
#include "apiserver/discovery/discovery_internal.h"
#include "kc/json.h"

#include <openssl/evp.h>

void kc__write_text(kc_buf *out, const char *name, const char *value)
{
    kc_buf_printf(out, ",\"%s\":", name);
    kc_json_quote(out, kc_cstr(value));
}

void kc__write_names(kc_buf *out, const char *name, const char *const *values)
{
    if (!values || !values[0])
        return;
    kc_buf_printf(out, ",\"%s\":", name);
    for (size_t i = 0; values[i]; i++) {
        kc_buf_putc(out, i ? ',' : '[');
        kc_json_quote(out, kc_cstr(values[i]));
    }
    kc_buf_putc(out, ']');
}

void kc__write_verbs(kc_buf *out, unsigned verbs)
{
    static const char *const names[] = {"create", "delete", "deletecollection", "get",
                                        "list",   "patch",  "update",           "watch"};
    const char *set[KC_COUNT(names) + 1];
    size_t n = 0;
    for (size_t i = 0; i < KC_COUNT(names); i++)
        if (verbs & (1u << i))
            set[n++] = names[i];
    set[n] = NULL;
    if (n)
        kc__write_names(out, "verbs", set);
    else
        kc_buf_puts(out, ",\"verbs\":[]"); /* Clients take a missing one for a broken document. */
}

/* The first 8 bytes of the SHA-256 of "group/version/kind", the stored one. Clients compare it, and
 * notice that objects are stored in another version than before. */
void kc__write_storage_hash(kc_buf *out, const kc__resource *resource)
{
    if (!resource->storage_api_version)
        return;
    bool core = !strchr(resource->storage_api_version, '/');
    kc_scoped(kc_buf) stored = {0};
    kc_buf_printf(&stored, "%s%s/%s", core ? "/" : "", resource->storage_api_version,
                  resource->kind);
    unsigned char digest[EVP_MAX_MD_SIZE], text[16];
    if (!EVP_Digest(stored.p, stored.n, digest, NULL, EVP_sha256(), NULL))
        return; /* No library of digests: the member is optional. */
    EVP_EncodeBlock(text, digest, 8);
    kc__write_text(out, "storageVersionHash", (const char *)text);
}
