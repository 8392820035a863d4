/* SPDX-License-Identifier: Apache-2.0 */
/*
 * purge_conditions.c: the five conditions of a terminating namespace, with the texts of Kubernetes;
 * `kubectl describe namespace` shows them. True reports a problem in all of them. Lists are sorted,
 * so that equal states give equal texts and an unchanged state causes no write.
 */
#include "namespace/purge.h"

#include "kc/conditions.h"

typedef KC_VEC(const char *) purge_conditions_texts;

static int purge_conditions_by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* "head: a, b, c" */
static void write_sorted(kc_buf *out, purge_conditions_texts *list)
{
    const char *comma = "";
    kc_vec_sort(list, purge_conditions_by_text);
    kc_vec_each (list, text) {
        kc_buf_printf(out, "%s%s", comma, *text);
        comma = ", ";
    }
}

/* ---- messages; each function appends a message if there is a problem ---- */

static void undiscovered(const kc__purge *p, kc_arena *arena, kc_buf *out)
{
    (void)arena;
    kc_buf_puts(out, p->undiscovered ? p->undiscovered : "");
}

static void unparsed(const kc__purge *p, kc_arena *arena, kc_buf *out)
{
    (void)arena;
    kc_buf_puts(out, p->unparsed ? p->unparsed : "");
}

static void failures(const kc__purge *p, kc_arena *arena, kc_buf *out)
{
    (void)arena;
    if (!p->failures.n)
        return;
    purge_conditions_texts list = {0};
    kc_vec_each (&p->failures, text)
        kc_vec_push(&list, *text);
    kc_buf_printf(out, "Failed to delete all resource types, %zu remaining: ", list.n);
    write_sorted(out, &list);
    kc_vec_done(&list);
}

static void remaining(const kc__purge *p, kc_arena *arena, kc_buf *out)
{
    purge_conditions_texts list = {0};
    kc_vec_each (&p->content, c)
        if (c->remaining)
            kc_vec_push(&list,
                        kc_arena_printf(arena, "%s.%s has %zu resource instances", c->kind->plural,
                                        c->kind->group ? c->kind->group : "", c->remaining));
    if (list.n)
        kc_buf_puts(out, "Some resources are remaining: ");
    write_sorted(out, &list);
    kc_vec_done(&list);
}

static void finalizers(const kc__purge *p, kc_arena *arena, kc_buf *out)
{
    purge_conditions_texts list = {0};
    kc_map_each (&p->finalizers, entry)
        kc_vec_push(&list, kc_arena_printf(arena, "%.*s in %zu resource instances",
                                           KC_ARG(entry->key), *(size_t *)entry->value));
    if (list.n)
        kc_buf_puts(out, "Some content in the namespace has finalizers remaining: ");
    write_sorted(out, &list);
    kc_vec_done(&list);
}

/* In the order in which they are first written. */
static const struct purge_conditions_row {
    const char *type, *bad_reason, *good_reason, *good_message;
    void (*write_message)(const kc__purge *p, kc_arena *arena, kc_buf *out);
} rows[] = {
    {"NamespaceDeletionDiscoveryFailure", "DiscoveryFailed", "ResourcesDiscovered",
     "All resources successfully discovered", undiscovered},
    {"NamespaceDeletionGroupVersionParsingFailure", "GroupVersionParsingFailed",
     "ParsedGroupVersions", "All legacy kube types successfully parsed", unparsed},
    {"NamespaceDeletionContentFailure", "ContentDeletionFailed", "ContentDeleted",
     "All content successfully deleted, may be waiting on finalization", failures},
    {"NamespaceContentRemaining", "SomeResourcesRemain", "ContentRemoved",
     "All content successfully removed", remaining},
    {"NamespaceFinalizersRemaining", "SomeFinalizersRemain", "ContentHasNoFinalizers",
     "All content-preserving finalizers finished", finalizers},
};

void kc__purge_conditions(const kc__purge *purge, kc_edit *edit)
{
    kc_scoped(kc_arena) arena = {0};
    for (const struct purge_conditions_row *r = rows; r < rows + KC_COUNT(rows); r++) {
        kc_scoped(kc_buf) bad = {0};
        r->write_message(purge, &arena, &bad);
        kc_condition_set(edit, purge->clock,
                         &(kc_condition){
                             .type = kc_cstr(r->type),
                             .status = bad.n ? KC_STR("True") : KC_STR("False"),
                             .reason = kc_cstr(bad.n ? r->bad_reason : r->good_reason),
                             .message = bad.n ? kc_buf_str(&bad) : kc_cstr(r->good_message),
                         });
    }
}

int kc__purge_error(const kc__purge *purge, kc_error *err)
{
    kc_scoped(kc_arena) arena = {0};
    kc_scoped(kc_buf) text = {0};
    for (const struct purge_conditions_row *r = rows; r < rows + 3; r++) {
        kc_scoped(kc_buf) bad = {0};
        r->write_message(purge, &arena, &bad);
        if (bad.n)
            kc_buf_printf(&text, "%s%s", text.n ? "; " : "", kc_buf_cstr(&bad));
    }
    return kc_error_set(err, KC_CONFLICT, "deletion of namespace %s failed: %s", purge->ns,
                        kc_buf_cstr(&text));
}
