/* SPDX-License-Identifier: Apache-2.0 */
/*
 * owners.c: drops duplicate owner references from an object, and warns the client. Two references
 * are duplicates if all their fields are equal; validation rejects references that have the same
 * uid and differ.
 */
#include "apiserver/request/write.h"
#include "kc/map.h"

static void append_item(kc_buf *list, const char *separator, const char *open, kc_str item)
{
    kc_buf_puts(list, list->n ? separator : open);
    kc_buf_append(list, item);
}

static void warn_of_duplicate_owners(kc__rest_call *call, const char *uids)
{
    bool patched = call->verb == &kc__rest_verb_patch;
    kc__rest_warn(
        call, kc_cstr(kc_arena_printf(
                  call->arena,
                  ".metadata.ownerReferences contains duplicate entries%s; API server dedups owner "
                  "references in 1.20+, and may reject such requests as early as 1.24; please fix "
                  "your requests; duplicate UID(s) observed: %s",
                  patched ? " after mutating admission happens" : "", uids)));
}

void kc__rest_dedup_owners(kc__rest_call *call, kc__rest_metadata *metadata)
{
    if (kc_str_empty(metadata->owners))
        return;
    kc_auto(kc_view) *view = kc_view_parse(metadata->owners, NULL, NULL);
    kc_scoped(kc_map) seen = {0};
    kc_scoped(kc_buf) kept = {0}, uids = {0};
    kc_value_each_item (kc_view_root(view), owner) {
        kc_scoped(kc_buf) json = {0};
        kc_json_write(&json, owner);
        kc_str text = kc_arena_str(call->arena, kc_buf_str(&json));
        if (kc_map_put(&seen, text, call)) {
            append_item(&uids, ", ", "", kc_value_as_str(kc_value_get(owner, "uid")));
            continue;
        }
        append_item(&kept, ",", "[", text);
    }
    if (!uids.n)
        return;
    kc_buf_putc(&kept, ']');
    metadata->owners = kc_arena_str(call->arena, kc_buf_str(&kept));
    metadata->owners_changed = true;
    warn_of_duplicate_owners(call, kc_buf_cstr(&uids));
}
