/* SPDX-License-Identifier: Apache-2.0 */
/*
 * path.c: evaluates and writes a compiled path. path_parse.c parses one.
 *
 * A path is one allocation: the header, the steps, then the bytes of names and of the canonical
 * text, which the steps point into.
 *
 * Each step costs one lookup, and a lookup in an object scans its members. Setting checks the whole
 * path before it changes anything, so that a failure leaves the tree unchanged: first it follows
 * the existing steps, then it builds the missing part separately and attaches it last.
 */
#include "object/path/path_internal.h"

struct kc_path {
    size_t n;
    kc_str text;
    kc_path_step steps[];
};

/* A bare name may contain more than this, but these characters need no quoting in any shell or
 * file. */
static bool path_is_plain(kc_str name)
{
    for (size_t i = 0; i < name.n; i++) {
        char c = name.p[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        bool digit = c >= '0' && c <= '9';
        if (!letter && !digit && c != '_' && c != '-' && c != '$')
            return false;
    }
    return name.n > 0;
}

static void write_quoted(kc_buf *text, kc_str name)
{
    kc_buf_puts(text, "['");
    for (size_t i = 0; i < name.n; i++) {
        unsigned char c = (unsigned char)name.p[i];
        if (c < ' ' || c == 0x7f) {
            kc_buf_printf(text, "\\u%04x", c);
            continue;
        }
        if (c == '\'' || c == '\\')
            kc_buf_putc(text, '\\');
        kc_buf_putc(text, (char)c);
    }
    kc_buf_puts(text, "']");
}

void kc_path_write_name(kc_buf *text, kc_str name)
{
    if (!path_is_plain(name)) {
        write_quoted(text, name);
        return;
    }
    if (text->n)
        kc_buf_putc(text, '.');
    kc_buf_append(text, name);
}

void kc_path_write_index(kc_buf *text, size_t index)
{
    kc_buf_printf(text, "[%zu]", index);
}

static void write_step(kc_buf *text, const kc_path_step *step)
{
    if (step->name.p)
        kc_path_write_name(text, step->name);
    else
        kc_path_write_index(text, step->index);
}

static kc_path *path_make(const kc_path_step *steps, size_t n)
{
    kc_scoped(kc_buf) text = {0};
    size_t names = 0;
    for (size_t i = 0; i < n; i++) {
        write_step(&text, &steps[i]);
        names += steps[i].name.n;
    }
    kc_path *path = kc_alloc(sizeof(*path) + n * sizeof(*steps) + names + text.n + 1);
    char *bytes = (char *)&path->steps[n];
    path->n = n;
    for (size_t i = 0; i < n; i++) {
        path->steps[i] = steps[i];
        if (!steps[i].name.p)
            continue;
        memcpy(bytes, steps[i].name.p, steps[i].name.n);
        path->steps[i].name.p = bytes;
        bytes += steps[i].name.n;
    }
    memcpy(bytes, kc_buf_cstr(&text), text.n + 1);
    path->text = kc_str_of(bytes, text.n);
    return path;
}

kc_path *kc_path_of(const kc_path_step *steps, size_t n, kc_error *err)
{
    if (n <= KC_PATH_MAX_STEPS)
        return path_make(steps, n);
    kc_error_set(err, KC_BAD_REQUEST, "a path may have at most %zu steps", KC_PATH_MAX_STEPS);
    return NULL;
}

kc_path *kc_path_parse(kc_str text, kc_error *err)
{
    kc_scoped(kc__path_parser) parser = {.text = text};
    if (kc__path_parse(&parser, err) < 0) {
        kc_error_wrap(err, "path '%.*s'", KC_ARG(kc_str_sub(text, 0, 200)));
        return NULL;
    }
    return path_make(parser.steps.items, parser.steps.n);
}

kc_path *kc_path_free(kc_path *path)
{
    free(path);
    return NULL;
}

kc_str kc_path_text(const kc_path *path)
{
    return path->text;
}

const kc_path_step *kc_path_steps(const kc_path *path, size_t *ret_n)
{
    *ret_n = path->n;
    return path->steps;
}

const kc_value *kc_path_get(const kc_path *path, const kc_value *value)
{
    for (size_t i = 0; i < path->n && value; i++) {
        const kc_path_step *step = &path->steps[i];
        value =
            step->name.p ? kc_value_get_str(value, step->name) : kc_value_at(value, step->index);
    }
    return value;
}

static kc_node *child(const kc_node *node, const kc_path_step *step)
{
    return step->name.p ? kc_node_get(node, step->name) : kc_node_at(node, step->index);
}

/* Follows the first `n` steps. */
static kc_node *path_follow(const kc_path *path, size_t n, const kc_node *node)
{
    for (size_t i = 0; i < n && node; i++)
        node = child(node, &path->steps[i]);
    return (kc_node *)node;
}

kc_node *kc_path_find(const kc_path *path, const kc_node *node)
{
    return path_follow(path, path->n, node);
}

static kc_json_type holder_type(const kc_path_step *step)
{
    return step->name.p ? KC_JSON_OBJECT : KC_JSON_ARRAY;
}

static void path_put(kc_edit *edit, kc_node *holder, const kc_path_step *step, kc_node *value)
{
    if (step->name.p)
        kc_node_set(edit, holder, step->name, value);
    else if (step->index == kc_node_len(holder))
        kc_node_append(holder, value);
    else
        kc_node_replace_at(holder, step->index, value);
}

/* "spec.containers" for the first `n` steps, or "the value" for none. */
static void name_place(kc_buf *text, const kc_path *path, size_t n)
{
    for (size_t i = 0; i < n; i++)
        write_step(text, &path->steps[i]);
    if (!n)
        kc_buf_puts(text, "the value");
}

static int fail_at(const kc_path *path, size_t n, const char *why, kc_error *err)
{
    kc_scoped(kc_buf) place = {0};
    name_place(&place, path, n);
    return kc_error_set(err, KC_BAD_REQUEST, "cannot set %.*s: %s %s", KC_ARG(path->text),
                        kc_buf_cstr(&place), why);
}

static int fail_type(const kc_path *path, size_t n, kc_json_type type, kc_error *err)
{
    char why[64];
    snprintf(why, sizeof(why), "is of type %s, not %s", kc_json_type_name(type),
             kc_json_type_name(holder_type(&path->steps[n])));
    return fail_at(path, n, why, err);
}

/* Checks that step `at` may be set in `holder`, which may be absent or null if it will be created.
 */
static int check_step(const kc_path *path, size_t at, const kc_node *holder, bool create,
                      kc_error *err)
{
    const kc_path_step *step = &path->steps[at];
    kc_json_type type = kc_node_type(holder);
    bool missing = type == KC_JSON_ABSENT || (create && type == KC_JSON_NULL);
    if (missing && !create)
        return fail_at(path, at, "does not exist", err);
    if (!missing && type != holder_type(step))
        return fail_type(path, at, type, err);
    if (!step->name.p && step->index > kc_node_len(holder))
        return fail_at(path, at, "has too few items", err);
    return 0;
}

/* The value wrapped in the containers for steps from..n-1. */
static kc_node *wrapped(const kc_path *path, size_t from, kc_edit *edit, kc_node *value)
{
    for (size_t i = path->n; i > from; i--) {
        const kc_path_step *step = &path->steps[i - 1];
        kc_node *holder = step->name.p ? kc_node_object(edit) : kc_node_array(edit);
        path_put(edit, holder, step, value);
        value = holder;
    }
    return value;
}

int kc_path_set(const kc_path *path, kc_edit *edit, kc_node *value, const kc_path_set_opts *opts,
                kc_error *err)
{
    bool create = opts && opts->create;
    kc_node *node = kc_edit_root(edit), *last = NULL; /* last: the deepest existing container. */
    size_t last_at = 0;
    for (size_t i = 0; i < path->n; i++) {
        int failed = check_step(path, i, node, create, err);
        if (failed)
            return failed;
        if (kc_node_type(node) == holder_type(&path->steps[i])) {
            last = node;
            last_at = i;
        }
        node = child(node, &path->steps[i]);
    }
    if (!last)
        kc_edit_set_root(edit, wrapped(path, 0, edit, value));
    else
        path_put(edit, last, &path->steps[last_at], wrapped(path, last_at + 1, edit, value));
    return 0;
}

bool kc_path_remove(const kc_path *path, kc_edit *edit)
{
    kc_node *root = kc_edit_root(edit);
    if (!path->n) {
        kc_edit_set_root(edit, NULL);
        return root != NULL;
    }
    const kc_path_step *step = &path->steps[path->n - 1];
    kc_node *holder = path_follow(path, path->n - 1, root);
    if (!child(holder, step))
        return false;
    if (step->name.p)
        kc_node_remove(holder, step->name);
    else
        kc_node_remove_at(holder, step->index);
    return true;
}
