/* SPDX-License-Identifier: Apache-2.0 */
/*
 * owners.c: an owner that stands twice in an object's references stands there once, and the client
 * is warned. Two references are the same when all of their fields are; those of one uid that differ
 * are for the validation.
 */
#include "apiserver/rest/write.h"
#include "kc/map.h"

static void add(kc_buf *list, const char *separator, const char *open, kc_str item)
{
    kc_buf_puts(list, list->n ? separator : open);
    kc_buf_append(list, item);
}

static void warn(kc__call *call, const char *uids)
{
    bool patched = call->verb == &kc__verb_patch;
    kc__warn(call,
             kc_cstr(kc_arena_printf(
                 call->arena,
                 ".metadata.ownerReferences contains duplicate entries%s; API server dedups owner "
                 "references in 1.20+, and may reject such requests as early as 1.24; please fix "
                 "your requests; duplicate UID(s) observed: %s",
                 patched ? " after mutating admission happens" : "", uids)));
}

void kc__dedup_owners(kc__call *call, kc__metadata *metadata)
{
    if (kc_str_empty(metadata->owners))
        return;
    kc_auto(kc_view) *view = kc_view_parse(metadata->owners, NULL, NULL);
    kc_scoped(kc_map) seen = {0};
    kc_scoped(kc_buf) kept = {0}, uids = {0};
    kc_items (kc_view_root(view), owner) {
        kc_scoped(kc_buf) json = {0};
        kc_json_write(&json, owner);
        kc_str text = kc_arena_str(call->arena, kc_buf_str(&json));
        if (kc_map_put(&seen, text, call)) {
            add(&uids, ", ", "", kc_as_str(kc_get(owner, "uid")));
            continue;
        }
        add(&kept, ",", "[", text);
    }
    if (!uids.n)
        return;
    kc_buf_putc(&kept, ']');
    metadata->owners = kc_arena_str(call->arena, kc_buf_str(&kept));
    warn(call, kc_buf_cstr(&uids));
}
