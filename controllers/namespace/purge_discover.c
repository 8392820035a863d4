/* SPDX-License-Identifier: Apache-2.0 */
/*
 * purge_discover.c: which resources a namespace can have objects of: all that are namespaced and
 * can be deleted, custom ones too, each in the version its group prefers, or in another where that
 * one lacks it. Asked anew each time: definitions come and go.
 *
 * What cannot be asked (a server behind the server that is down) is not taken for empty: it is a
 * failure, and the namespace stays until it could be.
 */
#include "namespace/purge.h"

typedef struct explorer {
    kc__purge *purge;
    kc_map seen; /* Of group/plural, to the index in content, plus one. */
} explorer;

static bool has_verb(const kc_api_resource *resource, const char *verb)
{
    for (const char *const *v = resource->verbs; *v; v++)
        if (!strcmp(*v, verb))
            return true;
    return false;
}

/* A group with a slash in its name would be asked for in another place than it says. */
static bool parses(kc__purge *p, const kc_kind *kind)
{
    if (!strchr(kind->group ? kind->group : "", '/') && !strchr(kind->version, '/'))
        return true;
    p->unparsed = kc_arena_printf(&p->arena, "unexpected GroupVersion string: %s/%s", kind->group,
                                  kind->version);
    return false;
}

static void note(const kc_api_resource *resource, void *user)
{
    explorer *e = user;
    kc__purge *p = e->purge;
    const kc_kind *kind = resource->kind;
    if (!kind->namespaced || !has_verb(resource, "delete") || !parses(p, kind))
        return;
    const kc__content found = {.kind = kind,
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

/* In the words of client-go, where groups are what failed. */
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
    explorer e = {.purge = purge};
    kc_scoped(kc_error) err = {0};
    if (kc_client_discover(purge->client, note, &e, &err) < 0 || err.reason)
        purge->undiscovered = why_not(purge, &err);
    kc_map_done(&e.seen);
}
