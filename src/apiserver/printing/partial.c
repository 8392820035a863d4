/* SPDX-License-Identifier: Apache-2.0 */
/*
 * partial.c: writes the metadata of one object and of lists.
 *
 * An empty list has "items":null, as in Kubernetes for this list type only.
 */
#include "apiserver/printing/partial.h"

#include <inttypes.h>

/* ---- versions ---- */

static const struct {
    kc_str name;
    const char *api_version;
} versions[] = {
    [KC__PRINT_META_V1] = {KC_STR_INIT("v1"), "meta.k8s.io/v1"},
    [KC__PRINT_META_V1BETA1] = {KC_STR_INIT("v1beta1"), "meta.k8s.io/v1beta1"},
};

bool kc__print_meta_version_parse(kc_str text, kc__print_meta_version *ret)
{
    for (size_t i = 0; i < KC_COUNT(versions); i++) {
        if (!kc_str_eq(text, versions[i].name))
            continue;
        *ret = (kc__print_meta_version)i;
        return true;
    }
    return false;
}

const char *kc__print_meta_api_version(kc__print_meta_version version)
{
    return versions[version].api_version;
}

/* ---- one object ---- */

void kc__print_partial_write(kc_buf *out, const kc_object *object, kc__print_meta_version version)
{
    kc_str metadata = kc_object_metadata_json(object);
    kc_buf_puts(out, "{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"");
    kc_buf_puts(out, kc__print_meta_api_version(version));
    kc_buf_puts(out, "\",\"metadata\":");
    kc_buf_append(out, kc_str_empty(metadata) ? KC_STR("{}") : metadata);
    kc_buf_putc(out, '}');
}

/* ---- lists ---- */

void kc__print_list_meta_write(kc_buf *out, const kc__print_list_meta *meta)
{
    const kc__print_list_meta nothing = {0};
    const char *between = "";
    meta = meta ? meta : &nothing;
    kc_buf_putc(out, '{');
    if (meta->revision) {
        kc_buf_printf(out, "\"resourceVersion\":\"%" PRIu64 "\"", meta->revision);
        between = ",";
    }
    if (!kc_str_empty(meta->continue_token)) {
        kc_buf_printf(out, "%s\"continue\":", between);
        kc_json_quote(out, meta->continue_token);
        between = ",";
    }
    if (meta->remaining)
        kc_buf_printf(out, "%s\"remainingItemCount\":%" PRIu64, between, meta->remaining);
    kc_buf_putc(out, '}');
}

void kc__print_partial_list_begin(kc__print_partial_list *list, kc_buf *out,
                                  const kc__print_list_meta *meta)
{
    list->started = false;
    kc_buf_printf(out,
                  "{\"kind\":\"PartialObjectMetadataList\",\"apiVersion\":\"%s\",\"metadata\":",
                  kc__print_meta_api_version(list->version));
    kc__print_list_meta_write(out, meta);
    kc_buf_puts(out, ",\"items\":");
}

void kc__print_partial_list_item(kc__print_partial_list *list, kc_buf *out, const kc_object *object)
{
    kc_buf_putc(out, list->started ? ',' : '[');
    kc__print_partial_write(out, object, list->version);
    list->started = true;
}

void kc__print_partial_list_end(kc__print_partial_list *list, kc_buf *out)
{
    kc_buf_puts(out, list->started ? "]}" : "null}");
}
