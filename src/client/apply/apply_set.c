/* SPDX-License-Identifier: Apache-2.0 */
/*
 * apply_set.c: the parent of an apply set: its identity, and the scope that its annotations state.
 *
 * The parent is written by server-side apply with a field manager of its own ("kc-applyset", after
 * the name of the tool), as kubectl does. An annotation that another client changed is a conflict;
 * the set then forces its own value, because pruning depends on it.
 */
#include "client/apply/apply_set_internal.h"

#include "kc/base64.h"
#include "kc/json.h"
#include "kc/kinds.h"

#include <openssl/sha.h>

/* ---- sets of strings ---- */

void kc__apply_names_done(kc__apply_names *names)
{
    kc_map_each (&names->map, entry)
        free(entry->value);
    kc_map_done(&names->map);
}

void kc__apply_names_add(kc__apply_names *names, kc_str name)
{
    if (kc_map_get(&names->map, name))
        return;
    char *own = kc_str_dup(name);
    kc_map_put(&names->map, kc_str_of(own, name.n), own);
}

bool kc__apply_names_has(const kc__apply_names *names, kc_str name)
{
    return kc_map_get(&names->map, name) != NULL;
}

static void names_add_all(kc__apply_names *names, const kc__apply_names *more)
{
    kc_map_each (&more->map, entry)
        kc__apply_names_add(names, entry->key);
}

static void names_split(kc__apply_names *names, kc_str list)
{
    while (list.n) {
        const kc_str name = kc_str_cut(&list, ',');
        if (name.n)
            kc__apply_names_add(names, name);
    }
}

static int names_by_byte(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Sorted and joined by commas, without `skip`. */
static void names_join(const kc__apply_names *names, const char *skip, kc_buf *out)
{
    KC_VEC(char *) sorted = {0};
    kc_map_each (&names->map, entry)
        if (!skip || !kc_str_is(entry->key, skip))
            kc_vec_push(&sorted, entry->value);
    kc_vec_sort(&sorted, names_by_byte);
    kc_vec_each (&sorted, name)
        kc_buf_printf(out, "%s%s", out->n ? "," : "", *name);
    kc_vec_done(&sorted);
}

void kc__apply_scope_done(kc__apply_scope *scope)
{
    kc__apply_names_done(&scope->kinds);
    kc__apply_names_done(&scope->namespaces);
}

/* ---- identity ---- */

/* "applyset-<base64url of the SHA-256 of NAME.NAMESPACE.KIND.GROUP>-v1" */
static char *apply_set_id_of(const kc__apply_set_opts *o, const kc_kind *kind)
{
    kc_scoped(kc_buf) text = {0}, hash = {0};
    unsigned char digest[SHA256_DIGEST_LENGTH];
    kc_buf_printf(&text, "%s.%s.%s.%s", o->name, o->ns, kind->kind, kind->group ? kind->group : "");
    SHA256((const unsigned char *)kc_buf_cstr(&text), text.n, digest);
    kc_base64_write(&hash, kc_str_of((const char *)digest, sizeof digest), KC_BASE64_URL);
    return kc_asprintf("applyset-%s-v1", kc_buf_cstr(&hash));
}

kc__apply_set *kc__apply_set_new(const kc__apply_set_opts *opts)
{
    kc__apply_set *set = kc_new(kc__apply_set);
    set->kind = opts->kind ? opts->kind : &kc_kind_config_map;
    set->ns = kc_strdup(opts->ns);
    set->name = kc_strdup(opts->name);
    set->tooling = kc_strdup(opts->tooling);
    set->id = apply_set_id_of(opts, set->kind);
    return set;
}

kc__apply_set *kc__apply_set_free(kc__apply_set *set)
{
    if (!set)
        return NULL;
    kc__apply_scope_done(&set->scope);
    kc_map_done(&set->kinds);
    kc__apply_names_done(&set->kind_names);
    kc_object_unref(set->parent);
    free(set->ns);
    free(set->name);
    free(set->tooling);
    free(set->id);
    free(set);
    return NULL;
}

const char *kc__apply_set_id(const kc__apply_set *set)
{
    return set->id;
}

const kc_object *kc__apply_set_parent(const kc__apply_set *set)
{
    return set->parent;
}

/* ---- reading ---- */

/* The name of the tool: "kc" of "kc/v1.2". */
static kc_str tool_of(kc_str tooling)
{
    const ptrdiff_t slash = kc_str_rfind(tooling, '/');
    return slash < 0 ? tooling : kc_str_sub(tooling, 0, (size_t)slash);
}

static int check_parent(const kc__apply_set *set, const kc_object *parent, kc_error *err)
{
    kc_scoped(kc_arena) arena = {0};
    const kc_str tooling = kc_object_annotation(parent, KC_STR(KC__APPLY_SET_TOOLING), &arena);
    const kc_str tool = tool_of(tooling), own = tool_of(kc_cstr(set->tooling));
    if (!tooling.p)
        return kc_error_set(err, KC_CONFLICT,
                            "the object exists and is not the parent of an apply set: it has no "
                            "annotation " KC__APPLY_SET_TOOLING);
    if (!kc_str_eq(tool, own))
        return kc_error_set(err, KC_CONFLICT,
                            "the apply set is managed by the tool \"%.*s\", not by \"%.*s\"",
                            KC_ARG(tool), KC_ARG(own));
    if (!kc_object_label_is(parent, KC_STR(KC__APPLY_SET_ID), kc_cstr(set->id)))
        return kc_error_set(err, KC_CONFLICT,
                            "the object exists and its label " KC__APPLY_SET_ID " is not %s",
                            set->id);
    return 0;
}

static void read_scope(kc__apply_set *set)
{
    kc_scoped(kc_arena) arena = {0};
    kc__apply_scope_done(&set->scope);
    set->scope = (kc__apply_scope){0};
    if (!set->parent)
        return;
    names_split(&set->scope.kinds,
                kc_object_annotation(set->parent, KC_STR(KC__APPLY_SET_KINDS), &arena));
    names_split(&set->scope.namespaces,
                kc_object_annotation(set->parent, KC_STR(KC__APPLY_SET_NAMESPACES), &arena));
    kc__apply_names_add(&set->scope.namespaces, kc_cstr(set->ns));
}

static int apply_set_wrap(const kc__apply_set *set, kc_error *err)
{
    return kc_error_wrap(err, "apply set %s/%s in namespace %s", set->kind->plural, set->name,
                         set->ns);
}

int kc__apply_set_fetch(kc__apply_set *set, kc_client *client, kc_error *err)
{
    kc_scoped(kc_error) why = {0};
    kc_auto(kc_object) *parent = kc_client_get(client, set->kind, KC_KEY(set->ns, set->name),
                                               &(kc_get_opts){.live = true}, &why);
    if (!parent && !kc_is_not_found(&why)) {
        kc_error_move(err, &why);
        return apply_set_wrap(set, err);
    }
    if (parent && check_parent(set, parent, err) < 0)
        return apply_set_wrap(set, err);
    kc_object_unref(set->parent);
    set->parent = kc_take(parent);
    read_scope(set);
    return 0;
}

/* ---- writing ---- */

static void write_member(kc_buf *out, const char *name, kc_str value)
{
    if (out->n && out->p[out->n - 1] != '{')
        kc_buf_putc(out, ',');
    kc_json_quote(out, kc_cstr(name));
    kc_buf_putc(out, ':');
    kc_json_quote(out, value);
}

/* The parent with the annotations of a scope. */
static kc_object *parent_of(const kc__apply_set *set, const kc__apply_scope *scope, kc_error *err)
{
    kc_scoped(kc_buf) json = {0}, kinds = {0}, namespaces = {0};
    names_join(&scope->kinds, NULL, &kinds);
    names_join(&scope->namespaces, set->ns, &namespaces);
    kc_buf_puts(&json, "{");
    write_member(&json, "apiVersion", kc_cstr(set->kind->version));
    write_member(&json, "kind", kc_cstr(set->kind->kind));
    kc_buf_puts(&json, ",\"metadata\":{");
    write_member(&json, "name", kc_cstr(set->name));
    write_member(&json, "namespace", kc_cstr(set->ns));
    kc_buf_puts(&json, ",\"labels\":{");
    write_member(&json, KC__APPLY_SET_ID, kc_cstr(set->id));
    kc_buf_puts(&json, "},\"annotations\":{");
    write_member(&json, KC__APPLY_SET_TOOLING, kc_cstr(set->tooling));
    write_member(&json, KC__APPLY_SET_KINDS, kc_buf_str(&kinds));
    write_member(&json, KC__APPLY_SET_NAMESPACES, kc_buf_str(&namespaces));
    kc_buf_puts(&json, "}}}");
    return kc_object_parse(kc_buf_str(&json), NULL, err);
}

static bool has_same_annotations(const kc_object *now, const kc_object *wanted)
{
    static const char *const names[] = {KC__APPLY_SET_TOOLING, KC__APPLY_SET_KINDS,
                                        KC__APPLY_SET_NAMESPACES};
    kc_scoped(kc_arena) arena = {0};
    for (size_t i = 0; i < KC_COUNT(names); i++)
        if (!kc_str_eq(kc_object_annotation(now, kc_cstr(names[i]), &arena),
                       kc_object_annotation(wanted, kc_cstr(names[i]), &arena)))
            return false;
    return true;
}

static kc_object *send_parent(const kc__apply_set *set, kc_client *client, const kc_object *wanted,
                              kc_error *err)
{
    kc_autofree char *manager =
        kc_asprintf("%.*s-applyset", KC_ARG(tool_of(kc_cstr(set->tooling))));
    kc_scoped(kc_error) why = {0};
    kc_write_opts opts = {.kind = set->kind, .field_manager = manager};
    kc_object *stored = kc_client_apply(client, wanted, &opts, &why);
    if (!stored && kc_is_conflict(&why)) {
        opts.force = true;
        return kc_client_apply(client, wanted, &opts, err);
    }
    if (!stored)
        kc_error_move(err, &why);
    return stored;
}

static int write_parent(kc__apply_set *set, kc_client *client, const kc__apply_scope *scope,
                        kc_error *err)
{
    kc_auto(kc_object) *wanted = parent_of(set, scope, err);
    if (!wanted)
        return apply_set_wrap(set, err);
    if (set->parent && has_same_annotations(set->parent, wanted))
        return 0;
    kc_object *stored = send_parent(set, client, wanted, err);
    if (!stored)
        return apply_set_wrap(set, err);
    kc_object_unref(set->parent);
    set->parent = stored;
    return 0;
}

int kc__apply_set_widen(kc__apply_set *set, kc_client *client, const kc__apply_scope *more,
                        kc_error *err)
{
    kc_scoped(kc__apply_scope) all = {0};
    names_add_all(&all.kinds, &set->scope.kinds);
    names_add_all(&all.kinds, &more->kinds);
    names_add_all(&all.namespaces, &set->scope.namespaces);
    names_add_all(&all.namespaces, &more->namespaces);
    return write_parent(set, client, &all, err);
}

int kc__apply_set_narrow(kc__apply_set *set, kc_client *client, const kc__apply_scope *scope,
                         kc_error *err)
{
    return write_parent(set, client, scope, err);
}
