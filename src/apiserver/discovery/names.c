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

enum { N_VERBS = 8 };

/* The verbs of a set in the order of their numbers `order`. */
static void write_verbs(kc_buf *out, unsigned verbs, const unsigned char order[N_VERBS])
{
    static const char *const names[N_VERBS] = {"create", "delete", "deletecollection", "get",
                                               "list",   "patch",  "update",           "watch"};
    const char *set[N_VERBS + 1];
    size_t n = 0;
    for (size_t i = 0; i < N_VERBS; i++)
        if (verbs & (1u << order[i]))
            set[n++] = names[order[i]];
    set[n] = NULL;
    if (n)
        kc__write_names(out, "verbs", set);
    else
        kc_buf_puts(out, ",\"verbs\":[]"); /* Clients take a missing one for a broken document. */
}

void kc__write_verbs(kc_buf *out, unsigned verbs)
{
    write_verbs(out, verbs, (const unsigned char[N_VERBS]){0, 1, 2, 3, 4, 5, 6, 7});
}

void kc__write_resource_verbs(kc_buf *out, const kc__resource *resource)
{
    static const unsigned char custom[N_VERBS] = {1, 2, 3, 4, 5, 0, 6, 7};
    if (resource->custom)
        write_verbs(out, resource->verbs, custom);
    else
        kc__write_verbs(out, resource->verbs);
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
