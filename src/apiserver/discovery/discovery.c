/* SPDX-License-Identifier: Apache-2.0 */
/*
 * discovery.c: the documents of discovery, made once, found by group and version.
 *
 * All are made at the start, some hundred kilobytes for all built-in kinds: simpler than making
 * them when they are first asked for, which would need a lock, and clients ask for nearly all of
 * them.
 *
 * Threads: nothing changes after kc__discovery_new has returned.
 */
#include "apiserver/discovery/discovery.h"
#include "apiserver/discovery/discovery_internal.h"
#include "kc/ref.h"

#include <openssl/evp.h>

struct kc__discovery {
    kc_ref refs;
    kc__kinds *kinds;
    kc__document api_versions, groups, aggregated_core, aggregated_groups;
    kc__document *of_group;   /* By the group's index; that of the core group is empty. */
    kc__document *of_version; /* By the version's index. */
    size_t n_groups, n_versions;
};

/* ---- documents ---- */

/* Takes the buffer's text. */
static kc__document plain(kc_buf *body)
{
    size_t n = body->n;
    return (kc__document){.type = KC_STR("application/json"),
                          .body = kc_str_of(kc_buf_take(body), n)};
}

/* Capital hexadecimal digits of the SHA-512, in quotes. */
static kc_str etag_of(kc_str body)
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned int n = 0;
    if (!EVP_Digest(body.p, body.n, digest, &n, EVP_sha512(), NULL))
        return (kc_str){0}; /* No library of digests: the answer is sent in full each time. */
    kc_scoped(kc_buf) text = {0};
    kc_buf_putc(&text, '"');
    for (unsigned int i = 0; i < n; i++)
        kc_buf_printf(&text, "%02X", digest[i]);
    kc_buf_putc(&text, '"');
    size_t length = text.n;
    return kc_str_of(kc_buf_take(&text), length);
}

static kc__document aggregated(const kc__kinds *kinds, bool core)
{
    kc_buf body = {0};
    kc__write_aggregated(&body, kinds, core);
    kc__document document = plain(&body);
    document.type = KC_STR("application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");
    document.etag = etag_of(document.body);
    return document;
}

static void free_document(kc__document *document)
{
    free((char *)document->body.p);
    free((char *)document->etag.p);
}

/* ---- making and counting ---- */

static void add_roots(kc__discovery *discovery, const char *server_address)
{
    kc_buf body = {0};
    kc__write_api_versions(&body, kc__kinds_find_group(discovery->kinds, KC_STR("")),
                           server_address);
    discovery->api_versions = plain(&body);
    kc__write_group_list(&body, discovery->kinds);
    discovery->groups = plain(&body);
    discovery->aggregated_core = aggregated(discovery->kinds, true);
    discovery->aggregated_groups = aggregated(discovery->kinds, false);
}

static void add_groups(kc__discovery *discovery)
{
    const kc__kinds_group *groups = kc__kinds_groups(discovery->kinds, &discovery->n_groups);
    discovery->of_group = kc_calloc(discovery->n_groups, sizeof(kc__document));
    for (size_t i = 0; i < discovery->n_groups; i++) {
        if (!groups[i].name[0])
            continue;
        kc_buf body = {0};
        kc__write_group(&body, &groups[i]);
        discovery->of_group[i] = plain(&body);
    }
}

static void add_versions(kc__discovery *discovery)
{
    const kc__kinds_version *versions =
        kc__kinds_versions(discovery->kinds, &discovery->n_versions);
    discovery->of_version = kc_calloc(discovery->n_versions, sizeof(kc__document));
    for (size_t i = 0; i < discovery->n_versions; i++) {
        kc_buf body = {0};
        kc__write_resource_list(&body, &versions[i]);
        discovery->of_version[i] = plain(&body);
    }
}

kc__discovery *kc__discovery_new(const kc__kinds *kinds, const kc__discovery_opts *opts)
{
    kc__discovery *discovery = kc_new(kc__discovery);
    kc_ref_init(&discovery->refs);
    discovery->kinds = kc__kinds_ref(kinds);
    add_roots(discovery, opts ? opts->server_address : NULL);
    add_groups(discovery);
    add_versions(discovery);
    return discovery;
}

kc__discovery *kc__discovery_ref(const kc__discovery *discovery)
{
    kc__discovery *counted = (kc__discovery *)discovery;
    kc_ref_add(&counted->refs);
    return counted;
}

static void free_all(kc__discovery *discovery)
{
    free_document(&discovery->api_versions);
    free_document(&discovery->groups);
    free_document(&discovery->aggregated_core);
    free_document(&discovery->aggregated_groups);
    for (size_t i = 0; i < discovery->n_groups; i++)
        free_document(&discovery->of_group[i]);
    for (size_t i = 0; i < discovery->n_versions; i++)
        free_document(&discovery->of_version[i]);
    free(discovery->of_group);
    free(discovery->of_version);
    kc__kinds_unref(discovery->kinds);
    free(discovery);
}

kc__discovery *kc__discovery_unref(const kc__discovery *discovery)
{
    kc__discovery *counted = (kc__discovery *)discovery;
    if (counted && kc_ref_drop(&counted->refs))
        free_all(counted);
    return NULL;
}

/* ---- asking ---- */

const kc__kinds *kc__discovery_kinds(const kc__discovery *discovery)
{
    return discovery->kinds;
}

const kc__document *kc__discovery_api_versions(const kc__discovery *discovery)
{
    return &discovery->api_versions;
}

const kc__document *kc__discovery_groups(const kc__discovery *discovery)
{
    return &discovery->groups;
}

const kc__document *kc__discovery_group(const kc__discovery *discovery, kc_str group)
{
    const kc__kinds_group *found = kc__kinds_find_group(discovery->kinds, group);
    return found && found->name[0] ? &discovery->of_group[found->index] : NULL;
}

const kc__document *kc__discovery_resources(const kc__discovery *discovery, kc_str group,
                                            kc_str version)
{
    const kc__kinds_version *found = kc__kinds_find_version(discovery->kinds, group, version);
    return found ? &discovery->of_version[found->index] : NULL;
}

const kc__document *kc__discovery_aggregated_core(const kc__discovery *discovery)
{
    return &discovery->aggregated_core;
}

const kc__document *kc__discovery_aggregated_groups(const kc__discovery *discovery)
{
    return &discovery->aggregated_groups;
}
