/* SPDX-License-Identifier: Apache-2.0 */
/*
 * aggregated.c: aggregated discovery: one document with all groups, versions, resources and
 * subresources (apidiscovery.k8s.io/v2).
 *
 * A responseKind is always present: older clients dereference it unchecked. Its group and version
 * are empty if they equal those of the enclosing version, except for resources whose operations set
 * `discovery_names_group`.
 */
#include "apiserver/discovery/discovery_internal.h"
#include "apiserver/kinds/resource_ops.h"
#include "kc/json.h"

static void write_response_kind(kc_buf *out, const char *group, const char *version,
                                const char *kind)
{
    kc_buf_puts(out, ",\"responseKind\":{\"group\":");
    kc_json_quote(out, kc_cstr(group));
    kc__discovery_write_text(out, "version", version ? version : "");
    kc__discovery_write_text(out, "kind", kind);
    kc_buf_putc(out, '}');
}

static void write_subresources(kc_buf *out, const kc__resource *resource)
{
    const kc__resource_subresource *sub = resource->subresources;
    if (!sub || !sub->name)
        return;
    kc_buf_puts(out, ",\"subresources\":[");
    for (; sub->name; sub++) {
        kc_buf_puts(out, sub == resource->subresources ? "" : ",");
        kc_buf_puts(out, "{\"subresource\":");
        kc_json_quote(out, kc_cstr(sub->name));
        const char *group = sub->group, *version = sub->version;
        if (resource->ops->discovery_names_group && !sub->kind) {
            group = resource->group;
            version = resource->version;
        }
        write_response_kind(out, group, version, sub->kind ? sub->kind : resource->kind);
        kc__discovery_write_verbs(out, sub->verbs);
        kc_buf_putc(out, '}');
    }
    kc_buf_putc(out, ']');
}

static void write_aggregated_resource(kc_buf *out, const kc__resource *resource)
{
    kc_buf_puts(out, "{\"resource\":");
    kc_json_quote(out, kc_cstr(resource->plural));
    bool named = resource->ops->discovery_names_group;
    write_response_kind(out, named ? resource->group : "", named ? resource->version : "",
                        resource->kind);
    kc__discovery_write_text(out, "scope", resource->namespaced ? "Namespaced" : "Cluster");
    kc__discovery_write_text(out, "singularResource", resource->singular);
    kc__discovery_write_resource_verbs(out, resource);
    kc__discovery_write_names(out, "shortNames", resource->short_names);
    kc__discovery_write_names(out, "categories", resource->categories);
    write_subresources(out, resource);
    kc_buf_putc(out, '}');
}

static void write_version(kc_buf *out, const kc__registry_version *version)
{
    kc_buf_puts(out, "{\"version\":");
    kc_json_quote(out, kc_cstr(version->name));
    for (size_t i = 0; i < version->n_resources; i++) {
        kc_buf_puts(out, i ? "," : ",\"resources\":[");
        write_aggregated_resource(out, &version->resources[i]);
    }
    kc_buf_puts(out, version->n_resources ? "]" : "");
    kc_buf_puts(out, ",\"freshness\":\"Current\"}");
}

static void write_group(kc_buf *out, const kc__registry_group *group)
{
    kc_buf_puts(out, "{\"metadata\":{");
    if (group->name[0]) { /* An empty name is omitted, as in any object. */
        kc_buf_puts(out, "\"name\":");
        kc_json_quote(out, kc_cstr(group->name));
    }
    kc_buf_puts(out, "},\"versions\":[");
    for (size_t i = 0; i < group->n_versions; i++) {
        kc_buf_puts(out, i ? "," : "");
        write_version(out, &group->versions[i]);
    }
    kc_buf_puts(out, "]}");
}

void kc__discovery_write_aggregated(kc_buf *out, const kc__registry *kinds, bool core)
{
    size_t n;
    const kc__registry_group *groups = kc__registry_groups(kinds, &n);
    kc_buf_puts(out,
                "{\"kind\":\"APIGroupDiscoveryList\",\"apiVersion\":\"apidiscovery.k8s.io/v2\","
                "\"metadata\":{},\"items\":[");
    const char *between = "";
    for (size_t i = 0; i < n; i++) {
        if ((groups[i].name[0] == 0) != core)
            continue;
        kc_buf_puts(out, between);
        write_group(out, &groups[i]);
        between = ",";
    }
    kc_buf_puts(out, "]}");
}
