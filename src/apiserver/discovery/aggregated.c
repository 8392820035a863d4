/* SPDX-License-Identifier: Apache-2.0 */
/*
 * aggregated.c: discovery in one document: all groups, their versions, their resources, their
 * subresources (apidiscovery.k8s.io/v2).
 *
 * A responseKind must be there even where it says little: older clients follow it without looking.
 * Its group and version are empty where they are those of the version it stands in.
 */
#include "apiserver/discovery/discovery_internal.h"
#include "kc/json.h"

static void write_response_kind(kc_buf *out, const char *group, const char *version,
                                const char *kind)
{
    kc_buf_puts(out, ",\"responseKind\":{\"group\":");
    kc_json_quote(out, kc_cstr(group));
    kc__write_text(out, "version", version ? version : "");
    kc__write_text(out, "kind", kind);
    kc_buf_putc(out, '}');
}

static void write_subresources(kc_buf *out, const kc__resource *resource)
{
    const kc__subresource *sub = resource->subresources;
    if (!sub || !sub->name)
        return;
    kc_buf_puts(out, ",\"subresources\":[");
    for (; sub->name; sub++) {
        kc_buf_puts(out, sub == resource->subresources ? "" : ",");
        kc_buf_puts(out, "{\"subresource\":");
        kc_json_quote(out, kc_cstr(sub->name));
        const char *group = sub->group, *version = sub->version;
        if (resource->custom && !sub->kind) {
            group = resource->group;
            version = resource->version;
        }
        write_response_kind(out, group, version, sub->kind ? sub->kind : resource->kind);
        kc__write_verbs(out, sub->verbs);
        kc_buf_putc(out, '}');
    }
    kc_buf_putc(out, ']');
}

static void write_resource(kc_buf *out, const kc__resource *resource)
{
    kc_buf_puts(out, "{\"resource\":");
    kc_json_quote(out, kc_cstr(resource->plural));
    /* Of custom resources it says all; of its own Kubernetes leaves out what is known. */
    write_response_kind(out, resource->custom ? resource->group : "",
                        resource->custom ? resource->version : "", resource->kind);
    kc__write_text(out, "scope", resource->namespaced ? "Namespaced" : "Cluster");
    kc__write_text(out, "singularResource", resource->singular);
    kc__write_resource_verbs(out, resource);
    kc__write_names(out, "shortNames", resource->short_names);
    kc__write_names(out, "categories", resource->categories);
    write_subresources(out, resource);
    kc_buf_putc(out, '}');
}

static void write_version(kc_buf *out, const kc__kinds_version *version)
{
    kc_buf_puts(out, "{\"version\":");
    kc_json_quote(out, kc_cstr(version->name));
    for (size_t i = 0; i < version->n_resources; i++) {
        kc_buf_puts(out, i ? "," : ",\"resources\":[");
        write_resource(out, &version->resources[i]);
    }
    kc_buf_puts(out, version->n_resources ? "]" : "");
    kc_buf_puts(out, ",\"freshness\":\"Current\"}");
}

static void write_group(kc_buf *out, const kc__kinds_group *group)
{
    kc_buf_puts(out, "{\"metadata\":{");
    if (group->name[0]) { /* An empty name is left out, as that of any object. */
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

void kc__write_aggregated(kc_buf *out, const kc__kinds *kinds, bool core)
{
    size_t n;
    const kc__kinds_group *groups = kc__kinds_groups(kinds, &n);
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
