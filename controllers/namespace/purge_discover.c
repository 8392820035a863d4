/* SPDX-License-Identifier: Apache-2.0 */
/*
 * purge_discover.c: discovers the resources that a namespace can contain: all namespaced resources
 * that can be deleted, custom ones included, each in the preferred version of its group, or in
 * another if that one lacks it. Discovery runs for each purge, because CRDs come and go.
 *
 * A group that cannot be discovered (an aggregated server that is down) does not count as empty:
 * the purge fails, and the namespace stays until discovery succeeds.
 */
#include "namespace/purge.h"

typedef struct purge_discover_explorer {
    kc__purge *purge;
    kc_map seen; /* group/plural to the index in content, plus one. */
} purge_discover_explorer;

static bool has_verb(const kc_api_resource *resource, const char *verb)
{
    for (const char *const *v = resource->verbs; *v; v++)
        if (!strcmp(*v, verb))
            return true;
    return false;
}

/* A group name with a slash would change the request path. */
static bool parses(kc__purge *p, const kc_kind *kind)
{
    if (!strchr(kind->group ? kind->group : "", '/') && !strchr(kind->version, '/'))
        return true;
    p->unparsed = kc_arena_printf(&p->arena, "unexpected GroupVersion string: %s/%s", kind->group,
                                  kind->version);
    return false;
}

static void purge_discover_record(const kc_api_resource *resource, void *user)
{
    purge_discover_explorer *e = user;
    kc__purge *p = e->purge;
    const kc_kind *kind = resource->kind;
    if (!kind->namespaced || !has_verb(resource, "delete") || !parses(p, kind))
        return;
    const kc__purge_content found = {.kind = kind,
                                     .can_list = has_verb(resource, "list"),
                                     .can_delete_all = has_verb(resource, "deletecollection"),
                                     .preferred = resource->preferred};
    const kc_str name =
        kc_cstr(kc_arena_printf(&p->arena, "%s/%s", kind->group ? kind->group : "", kind->plural));
    const uintptr_t at = (uintptr_t)kc_map_get(&e->seen, name);
    if (!at) {
        kc_vec_push(&p->content, found);
        kc_map_put(&e->seen, name, (void *)(uintptr_t)p->content.n);
    } else if (found.preferred && !p->content.items[at - 1].preferred) {
        p->content.items[at - 1] = found;
    }
}

/* The text of client-go for failed group discovery. */
static const char *why_not(kc__purge *p, const kc_error *err)
{
    if (!err->causes.n)
        return kc_arena_printf(&p->arena, "%s", kc_error_text(err));
    kc_scoped(kc_buf) text = {0};
    kc_buf_printf(&text,
                  "Discovery failed for some groups, %zu failing: unable to retrieve the complete "
                  "list of server APIs: ",
                  err->causes.n);
    const char *comma = "";
    kc_vec_each (&err->causes, cause) {
        kc_buf_printf(&text, "%s%s: %s", comma, cause->field, cause->message);
        comma = ", ";
    }
    return kc_arena_printf(&p->arena, "%s", kc_buf_cstr(&text));
}

void kc__purge_discover(kc__purge *purge)
{
    purge_discover_explorer e = {.purge = purge};
    kc_scoped(kc_error) err = {0};
    if (kc_client_discover(purge->client, purge_discover_record, &e, &err) < 0 || err.reason)
        purge->undiscovered = why_not(purge, &err);
    kc_map_done(&e.seen);
}
