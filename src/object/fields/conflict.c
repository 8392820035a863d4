/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conflict.c: the error of an apply that would take fields from other managers.
 *
 *     Apply failed with 1 conflict: conflict with "kubectl" using apps/v1: .spec.replicas
 *     Apply failed with 2 conflicts: conflicts with "hpa" with subresource "scale" using apps/v1:
 *     - .spec.replicas
 *     - .spec.paused
 *
 * The text is upstream's; tools parse it. Managers are sorted by their identifier, in the causes,
 * too, where upstream's order is random. A path contains keys of any length, and a client chooses
 * how many fields are below one: beyond KC__FIELDS_MAX_CONFLICT_BYTES of text, conflicts are only
 * counted.
 */
#include "object/fields/managed_internal.h"

#include "object/gofmt/go_quote.h"

typedef struct conflict_text {
    kc_error *err;
    kc_buf message;    /* Lines with paths. */
    kc_buf last_path;  /* Of the last conflict. */
    const char *cause; /* "conflict with MANAGER" */
    kc_buf causes;     /* Pairs of path and message, each with a NUL. */
    size_t n;
} conflict_text;

static void print_owner(kc_buf *out, const kc__fields_owner *owner)
{
    kc__go_quote(out, owner->manager);
    if (owner->subresource.n) {
        kc_buf_puts(out, " with subresource ");
        kc__go_quote(out, owner->subresource);
    }
    if (!owner->applied) {
        kc_buf_puts(out, " using ");
        kc_buf_append(out, owner->version);
    }
}

static bool add_conflict(const kc__fields_path *path, void *user)
{
    conflict_text *text = user;
    text->n++;
    if (text->message.n > KC__FIELDS_MAX_CONFLICT_BYTES)
        return true;
    kc_buf_clear(&text->last_path);
    kc__fields_path_print(&text->last_path, path);
    kc_buf_puts(&text->message, "\n- ");
    kc_buf_append(&text->message, kc_buf_str(&text->last_path));
    kc_buf_append(&text->causes, kc_buf_str(&text->last_path));
    kc_buf_putc(&text->causes, '\0');
    kc_buf_puts(&text->causes, text->cause);
    kc_buf_putc(&text->causes, '\0');
    return true;
}

static void add_manager(conflict_text *text, const kc__fields_owner *owner,
                        const kc__fields_set *set)
{
    kc_scoped(kc_buf) cause = {0};
    kc_buf_puts(&text->message, text->n ? "\nconflicts with " : "conflicts with ");
    print_owner(&text->message, owner);
    kc_buf_putc(&text->message, ':');
    kc_buf_puts(&cause, "conflict with ");
    print_owner(&cause, owner);
    text->cause = kc_buf_cstr(&cause);
    kc__fields_set_each(set, add_conflict, text);
    text->cause = NULL;
}

static void add_causes(const conflict_text *text)
{
    kc_str rest = kc_buf_str(&text->causes);
    while (rest.n) {
        kc_str field = kc_str_cut(&rest, '\0'), message = kc_str_cut(&rest, '\0');
        kc_error_add_cause(text->err, "FieldManagerConflict", field, message);
    }
}

static void index_owners(const kc__fields_managed *managed, kc_map *ret)
{
    kc_vec_each (&managed->owners, owner)
        kc_map_put(ret, owner->id, owner);
}

int kc__fields_conflict_error(const kc__fields_managed *managed,
                              const kc__fields_conflict *conflicts, size_t n, kc_error *err)
{
    kc_scoped(kc_map) owners = {0};
    conflict_text text = {.err = err};
    index_owners(managed, &owners);
    for (size_t i = 0; i < n; i++)
        add_manager(&text, kc_map_get(&owners, conflicts[i].manager), conflicts[i].set);
    if (text.n == 1) {
        const char *cause = kc_buf_cstr(&text.causes) + text.last_path.n + 1;
        kc_error_set(err, KC_CONFLICT, "Apply failed with 1 conflict: %s: %s", cause,
                     kc_buf_cstr(&text.last_path));
    } else {
        kc_error_set(err, KC_CONFLICT, "Apply failed with %zu conflicts: %s", text.n,
                     kc_buf_cstr(&text.message));
    }
    if (err)
        add_causes(&text);
    kc_buf_done(&text.message);
    kc_buf_done(&text.last_path);
    kc_buf_done(&text.causes);
    return kc_error_result(err);
}
