/* SPDX-License-Identifier: Apache-2.0 */
/*
 * legacy.c: unaggregated discovery: a document for the root, for each group, for each version.
 *
 * Peculiarities kept for old clients: documents of the core group (APIVersions and the resources of
 * v1) have no apiVersion; subresources are in the list of resources as "pods/status", with an empty
 * singular name; they name a group and version only if those differ from the list's.
 */
#include "apiserver/discovery/discovery_internal.h"
#include "kc/json.h"

/* ---- versions and groups ---- */

void kc__discovery_write_api_versions(kc_buf *out, const kc__registry_group *core,
                                      const char *server_address)
{
    kc_buf_puts(out, "{\"kind\":\"APIVersions\",\"versions\":[");
    for (size_t i = 0; core && i < core->n_versions; i++) {
        kc_buf_puts(out, i ? "," : "");
        kc_json_quote(out, kc_cstr(core->versions[i].name));
    }
    kc_buf_puts(out, "],\"serverAddressByClientCIDRs\":[");
    if (server_address) {
        kc_buf_puts(out, "{\"clientCIDR\":\"0.0.0.0/0\"");
        kc__discovery_write_text(out, "serverAddress", server_address);
        kc_buf_putc(out, '}');
    }
    kc_buf_puts(out, "]}");
}

/* GroupVersionForDiscovery */
static void write_version(kc_buf *out, const kc__registry_version *version)
{
    kc_scoped(kc_buf) both = {0};
    kc_buf_printf(&both, "%s/%s", version->group, version->name);
    kc_buf_puts(out, "{\"groupVersion\":");
    kc_json_quote(out, kc_buf_str(&both));
    kc__discovery_write_text(out, "version", version->name);
    kc_buf_putc(out, '}');
}

/* The members of an APIGroup, alone or in the list; `out` is inside an object. */
static void write_group_members(kc_buf *out, const kc__registry_group *group)
{
    kc_buf_puts(out, "\"name\":");
    kc_json_quote(out, kc_cstr(group->name));
    kc_buf_puts(out, ",\"versions\":[");
    for (size_t i = 0; i < group->n_versions; i++) {
        kc_buf_puts(out, i ? "," : "");
        write_version(out, &group->versions[i]);
    }
    kc_buf_puts(out, "],\"preferredVersion\":");
    write_version(out, &group->versions[0]);
}

void kc__discovery_write_group(kc_buf *out, const kc__registry_group *group)
{
    kc_buf_puts(out, "{\"kind\":\"APIGroup\",\"apiVersion\":\"v1\",");
    write_group_members(out, group);
    kc_buf_putc(out, '}');
}

void kc__discovery_write_group_list(kc_buf *out, const kc__registry *kinds)
{
    size_t n;
    const kc__registry_group *groups = kc__registry_groups(kinds, &n);
    kc_buf_puts(out, "{\"kind\":\"APIGroupList\",\"apiVersion\":\"v1\",\"groups\":[");
    const char *between = "{";
    for (size_t i = 0; i < n; i++) {
        if (!groups[i].name[0])
            continue; /* The core group is served under /api. */
        kc_buf_puts(out, between);
        write_group_members(out, &groups[i]);
        kc_buf_putc(out, '}');
        between = ",{";
    }
    kc_buf_puts(out, "]}");
}

/* ---- resources ---- */

static void write_legacy_resource(kc_buf *out, const kc__resource *resource)
{
    kc_buf_puts(out, "{\"name\":");
    kc_json_quote(out, kc_cstr(resource->plural));
    kc__discovery_write_text(out, "singularName", resource->singular);
    kc_buf_printf(out, ",\"namespaced\":%s", resource->namespaced ? "true" : "false");
    kc__discovery_write_text(out, "kind", resource->kind);
    kc__discovery_write_resource_verbs(out, resource);
    kc__discovery_write_names(out, "shortNames", resource->short_names);
    kc__discovery_write_names(out, "categories", resource->categories);
    kc__discovery_write_storage_hash(out, resource);
    kc_buf_putc(out, '}');
}

static void write_subresource(kc_buf *out, const kc__resource *resource,
                              const kc__resource_subresource *sub)
{
    kc_scoped(kc_buf) path = {0};
    kc_buf_printf(&path, "%s/%s", resource->plural, sub->name);
    kc_buf_puts(out, ",{\"name\":");
    kc_json_quote(out, kc_buf_str(&path));
    kc_buf_printf(out, ",\"singularName\":\"\",\"namespaced\":%s",
                  resource->namespaced ? "true" : "false");
    if (sub->group)
        kc__discovery_write_text(out, "group", sub->group);
    if (sub->version)
        kc__discovery_write_text(out, "version", sub->version);
    kc__discovery_write_text(out, "kind", sub->kind ? sub->kind : resource->kind);
    kc__discovery_write_verbs(out, sub->verbs);
    kc_buf_putc(out, '}');
}

void kc__discovery_write_resource_list(kc_buf *out, const kc__registry_version *version)
{
    bool core = !version->group[0];
    kc_scoped(kc_buf) both = {0};
    kc_buf_printf(&both, "%s%s%s", version->group, core ? "" : "/", version->name);
    kc_buf_puts(out, core
                         ? "{\"kind\":\"APIResourceList\",\"groupVersion\":"
                         : "{\"kind\":\"APIResourceList\",\"apiVersion\":\"v1\",\"groupVersion\":");
    kc_json_quote(out, kc_buf_str(&both));
    kc_buf_puts(out, ",\"resources\":[");
    for (size_t i = 0; i < version->n_resources; i++) {
        const kc__resource *resource = &version->resources[i];
        kc_buf_puts(out, i ? "," : "");
        write_legacy_resource(out, resource);
        const kc__resource_subresource *sub = resource->subresources;
        for (; sub && sub->name; sub++)
            write_subresource(out, resource, sub);
    }
    kc_buf_puts(out, "]}");
}
