/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names.c: members that discovery documents share.
 *
 * Names are escaped as JSON strings although built-in ones need no escapes: those of custom
 * resources come from clients.
 */
#include "apiserver/discovery/discovery_internal.h"
#include "apiserver/kinds/resource_ops.h"
#include "kc/json.h"

#include <openssl/evp.h>

void kc__discovery_write_text(kc_buf *out, const char *name, const char *value)
{
    kc_buf_printf(out, ",\"%s\":", name);
    kc_json_quote(out, kc_cstr(value));
}

void kc__discovery_write_names(kc_buf *out, const char *name, const char *const *values)
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

/* Writes a set of verbs, in `order`: the numbers of their bits. */
static void write_verbs(kc_buf *out, unsigned verbs, const unsigned char order[KC__N_VERBS])
{
    static const char *const names[KC__N_VERBS] = {"create", "delete", "deletecollection", "get",
                                                   "list",   "patch",  "update",           "watch"};
    const char *set[KC__N_VERBS + 1];
    size_t n = 0;
    for (size_t i = 0; i < KC__N_VERBS; i++)
        if (verbs & (1u << order[i]))
            set[n++] = names[order[i]];
    set[n] = NULL;
    if (n)
        kc__discovery_write_names(out, "verbs", set);
    else
        kc_buf_puts(out, ",\"verbs\":[]"); /* Clients treat a document without verbs as broken. */
}

void kc__discovery_write_verbs(kc_buf *out, unsigned verbs)
{
    write_verbs(out, verbs, kc__builtin_resource_ops.verb_order);
}

void kc__discovery_write_resource_verbs(kc_buf *out, const kc__resource *resource)
{
    write_verbs(out, resource->verbs, resource->ops->verb_order);
}

/* The first 8 bytes of the SHA-256 of "group/version/kind" of the storage version. Clients compare
 * it to notice that the storage version has changed. */
void kc__discovery_write_storage_hash(kc_buf *out, const kc__resource *resource)
{
    if (!resource->storage_api_version)
        return;
    bool core = !strchr(resource->storage_api_version, '/');
    kc_scoped(kc_buf) stored = {0};
    kc_buf_printf(&stored, "%s%s/%s", core ? "/" : "", resource->storage_api_version,
                  resource->kind);
    unsigned char digest[EVP_MAX_MD_SIZE], text[16];
    if (!EVP_Digest(stored.p, stored.n, digest, NULL, EVP_sha256(), NULL))
        return; /* No digest library: the member is optional. */
    EVP_EncodeBlock(text, digest, 8);
    kc__discovery_write_text(out, "storageVersionHash", (const char *)text);
}
