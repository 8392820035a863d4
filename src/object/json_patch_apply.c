/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_patch_apply.c: carrying out the operations of a JSON patch.
 *
 * Every operation first finds a place: the container that its pointer leads to, and the last token
 * of the pointer, which names a member or a position in it.
 *
 *     /spec/ports/0        container: the node at /spec/ports, token: 0
 *
 * What can be done at a place (get, add, replace, remove) is the same for all operations; a row of
 * `kinds` says which of it an operation does.
 *
 * Time is bounded. Long containers that are visited often get an index (fields.c, elements.c), kept
 * in `visited` by the address of their node, which stays the same however the node is moved about.
 * Copies are bounded in bytes. Depth must be bounded too, because copying and writing recurse and a
 * few operations can nest a document in itself; so what is copied or moved is measured first, and
 * measuring is bounded by `steps_left`.
 */
#include "object/json_patch_internal.h"
#include "object/patch_internal.h"

/* Nodes that may be looked at for measuring, all operations together. */
enum { MOST_STEPS = 20 * 1000 * 1000 };

/* A long container that was visited. */
typedef struct visit {
    kc_node *node;
    kc__fields fields;     /* When it is an object, */
    kc__elements elements; /* when it is an array. */
} visit;

typedef struct applier {
    kc_edit *edit;
    const kc__json_op *op;
    kc_map visited; /* By the bytes of visit.node. */
    kc_arena arena; /* Of visits. */
    kc_buf token;   /* The unescaped token of the place that was found last. */
    size_t copied, max_copy_bytes;
    size_t steps_left;
    kc_error *err;
} applier;

/* Where an operation works. */
typedef struct place {
    kc_node *container; /* NULL: the whole document. */
    kc_str token;
    size_t depth; /* Tokens of the pointer. */
} place;

static visit *visit_of(applier *a, kc_node *node)
{
    bool is_long = kc_node_len(node) > KC__SHORT;
    if (!is_long && !a->visited.n)
        return NULL;
    visit *known = kc_map_get(&a->visited, kc_str_of((const char *)&node, sizeof(node)));
    if (known || !is_long)
        return known;
    visit *new = kc_arena_new(&a->arena, visit);
    new->node = node;
    new->fields = kc__fields_of(a->edit, node);
    new->elements = kc__elements_of(node);
    kc_map_put(&a->visited, kc_str_of((const char *)&new->node, sizeof(new->node)), new);
    return new;
}

static kc_node *member_of(applier *a, kc_node *object, kc_str name)
{
    visit *v = visit_of(a, object);
    return v ? kc__fields_get(&v->fields, name) : kc_node_get(object, name);
}

static kc_node *element_of(applier *a, kc_node *array, size_t at)
{
    visit *v = visit_of(a, array);
    return v ? kc__elements_at(&v->elements, at) : kc_node_at(array, at);
}

/* Pointers. */

/* "~1" is '/', "~0" is '~'; anything else stands for itself. */
static kc_str unescape(kc_buf *buf, kc_str token)
{
    if (kc_str_find(token, '~') < 0)
        return token;
    kc_buf_clear(buf);
    for (size_t i = 0; i < token.n; i++) {
        char next = i + 1 < token.n ? token.p[i + 1] : '\0';
        bool escape = token.p[i] == '~' && (next == '0' || next == '1');
        kc_buf_putc(buf, !escape ? token.p[i] : next == '0' ? '~' : '/');
        i += escape;
    }
    return kc_buf_str(buf);
}

/*
 * A token as a number, as Go's strconv.Atoi reads it: a sign is allowed. Sets an error when it is
 * none.
 */
static int read_index(applier *a, kc_str token, int64_t *ret)
{
    kc_str digits = kc_str_sub(token, token.n && token.p[0] == '+', token.n);
    bool signs = digits.n < token.n && digits.n && digits.p[0] == '-';
    if (!signs && kc_str_to_i64(digits, ret))
        return 0;
    return kc_error_set(a->err, KC_INVALID, "strconv.Atoi: parsing \"%.*s\": invalid syntax",
                        KC_ARG(kc__shown(token)));
}

/* A token as a position below `n`; negative ones count from the end. */
static int read_position(applier *a, kc_str token, size_t n, size_t *ret)
{
    int64_t index, length = (int64_t)n;
    int failed = read_index(a, token, &index);
    if (failed < 0)
        return failed;
    if (index >= length || index < -length)
        return kc_error_set(a->err, KC_INVALID,
                            "Unable to access invalid index: %lld: invalid index referenced",
                            (long long)index);
    *ret = (size_t)(index < 0 ? index + length : index);
    return 0;
}

/* One step down; NULL when there is nothing. */
static kc_node *step(applier *a, kc_node *from, kc_str token)
{
    size_t at;
    if (kc_node_type(from) == KC_OBJECT)
        return member_of(a, from, token);
    if (kc_node_type(from) == KC_ARRAY && read_position(a, token, kc_node_len(from), &at) == 0)
        return element_of(a, from, at);
    return NULL;
}

/* False when there is no container at that pointer. */
static bool find(applier *a, kc_str pointer, place *ret)
{
    kc_node *node = kc_edit_root(a->edit);
    *ret = (place){0};
    if (!pointer.n)
        return true;
    kc_str rest = kc_str_sub(pointer, 1, pointer.n);
    for (;;) {
        kc_str token = unescape(&a->token, kc_str_cut(&rest, '/'));
        ret->depth++;
        if (!rest.p) {
            ret->container = node;
            ret->token = token;
            return kc_node_type(node) == KC_OBJECT || kc_node_type(node) == KC_ARRAY;
        }
        node = step(a, node, token);
        if (!node)
            return false;
    }
}

/* What can be done at a place. */

/* The value there. A member that is not there is NULL; an element must be there. */
static int get_at(applier *a, const place *p, kc_node **ret)
{
    size_t at;
    if (!p->container) {
        *ret = kc_edit_root(a->edit);
        return 0;
    }
    if (kc_node_type(p->container) == KC_OBJECT) {
        *ret = member_of(a, p->container, p->token);
        return 0;
    }
    int failed = read_position(a, p->token, kc_node_len(p->container), &at);
    if (failed == 0)
        *ret = element_of(a, p->container, at);
    return failed;
}

static void set_member(applier *a, const place *p, kc_node *value)
{
    visit *v = visit_of(a, p->container);
    if (v)
        kc__fields_set(&v->fields, p->token, value);
    else
        kc_node_set(a->edit, p->container, p->token, value);
}

static int insert_element(applier *a, const place *p, kc_node *value)
{
    size_t at = kc_node_len(p->container);
    if (!kc_str_is(p->token, "-")) {
        int64_t index;
        if (read_index(a, p->token, &index) < 0)
            return kc_error_wrap(a->err, "value was not a proper array index: '%.*s'",
                                 KC_ARG(kc__shown(p->token)));
        int failed = read_position(a, p->token, at + 1, &at);
        if (failed < 0)
            return failed;
    }
    visit *v = visit_of(a, p->container);
    if (v)
        kc__elements_insert(&v->elements, at, value);
    else
        kc_node_insert(p->container, at, value);
    return 0;
}

static int add_at(applier *a, const place *p, kc_node *value)
{
    if (p->container && kc_node_type(p->container) == KC_ARRAY)
        return insert_element(a, p, value);
    if (p->container)
        set_member(a, p, value);
    else
        kc_edit_set_root(a->edit, value);
    return 0;
}

static int replace_at(applier *a, const place *p, kc_node *value)
{
    size_t at;
    if (!p->container || kc_node_type(p->container) == KC_OBJECT)
        return add_at(a, p, value);
    int failed = read_position(a, p->token, kc_node_len(p->container), &at);
    if (failed < 0)
        return failed;
    visit *v = visit_of(a, p->container);
    if (v)
        kc__elements_replace(&v->elements, at, value);
    else
        kc_node_replace_at(p->container, at, value);
    return 0;
}

static int remove_at(applier *a, const place *p)
{
    visit *v = visit_of(a, p->container);
    if (kc_node_type(p->container) == KC_OBJECT) {
        bool was_there =
            v ? kc__fields_remove(&v->fields, p->token) : kc_node_remove(p->container, p->token);
        return was_there ? 0
                         : kc_error_set(a->err, KC_INVALID,
                                        "Unable to remove nonexistent key: %.*s: missing value",
                                        KC_ARG(kc__shown(p->token)));
    }
    size_t at;
    int failed = read_position(a, p->token, kc_node_len(p->container), &at);
    if (failed < 0)
        return failed;
    if (v)
        kc__elements_remove(&v->elements, at);
    else
        kc_node_remove_at(p->container, at);
    return 0;
}

/* Limits. */

/* Adds about the bytes of a node's text to *bytes. False when it is deeper than `levels` or has
 * more nodes than may still be looked at. */
static bool measure(applier *a, const kc_node *node, size_t levels, size_t *bytes)
{
    kc_type type = kc_node_type(node);
    if (!a->steps_left)
        return false;
    a->steps_left--;
    *bytes += type == KC_STRING ? kc_node_as_str(node).n + 3 : 2;
    if (type != KC_ARRAY && type != KC_OBJECT)
        return true;
    if (!levels)
        return false;
    kc_node_items(node, item) if (!measure(a, item, levels - 1, bytes)) return false;
    kc_node_members(node, name, value)
    {
        *bytes += name.n + 3;
        if (!measure(a, value, levels - 1, bytes))
            return false;
    }
    return true;
}

/* Whether a node may be put `depth` levels down; *ret_bytes is about its size. */
static int check_fits(applier *a, const kc_node *node, size_t depth, size_t *ret_bytes)
{
    size_t levels = depth < KC_JSON_MAX_DEPTH ? KC_JSON_MAX_DEPTH - depth : 0;
    *ret_bytes = 0;
    if (measure(a, node, levels, ret_bytes))
        return 0;
    return kc_error_set(a->err, KC_INVALID, "%s",
                        a->steps_left ? "objects and arrays are nested too deeply"
                                      : "the patch copies and moves too much");
}

static int check_copy(applier *a, const kc_node *node, size_t depth)
{
    size_t bytes;
    int failed = check_fits(a, node, depth, &bytes);
    if (failed < 0)
        return failed;
    a->copied += bytes;
    if (a->copied <= a->max_copy_bytes)
        return 0;
    return kc_error_set(a->err, KC_INVALID,
                        "Unable to complete the copy, the accumulated size increase of copy is "
                        "%zu, exceeding the limit %zu",
                        a->copied, a->max_copy_bytes);
}

/* The operation's value, as a node for a place that deep. */
static int value_node(applier *a, size_t depth, kc_node **ret)
{
    size_t bytes;
    kc_node *node = a->op->value ? kc_node_copy(a->edit, a->op->value) : kc_node_null(a->edit);
    int failed = check_fits(a, node, depth, &bytes);
    if (failed == 0)
        *ret = node;
    return failed;
}

/* The operations. */

static int apply_add(applier *a)
{
    place p;
    kc_node *value;
    if (!find(a, a->op->path, &p))
        return kc_error_set(
            a->err, KC_INVALID,
            "add operation does not apply: doc is missing path: \"%.*s\": missing value",
            KC_ARG(kc__shown(a->op->path)));
    int failed = value_node(a, p.depth, &value);
    if (failed == 0)
        failed = add_at(a, &p, value);
    return failed < 0 ? kc_error_wrap(a->err, "error in add for path: '%.*s'",
                                      KC_ARG(kc__shown(a->op->path)))
                      : 0;
}

static int apply_remove(applier *a)
{
    place p;
    if (!find(a, a->op->path, &p) || !p.container)
        return kc_error_set(
            a->err, KC_INVALID,
            "remove operation does not apply: doc is missing path: \"%.*s\": missing value",
            KC_ARG(kc__shown(a->op->path)));
    if (remove_at(a, &p) < 0)
        return kc_error_wrap(a->err, "error in remove for path: '%.*s'",
                             KC_ARG(kc__shown(a->op->path)));
    return 0;
}

static int apply_replace(applier *a)
{
    place p;
    kc_node *value;
    if (!find(a, a->op->path, &p))
        return kc_error_set(
            a->err, KC_INVALID,
            "replace operation does not apply: doc is missing path: %.*s: missing value",
            KC_ARG(kc__shown(a->op->path)));
    int failed = value_node(a, p.depth, &value);
    if (failed < 0)
        return kc_error_wrap(a->err, "error in replace for path: '%.*s'",
                             KC_ARG(kc__shown(a->op->path)));
    if (replace_at(a, &p, value) < 0)
        return kc_error_set(
            a->err, KC_INVALID,
            "replace operation does not apply: doc is missing key: %.*s: missing value",
            KC_ARG(kc__shown(a->op->path)));
    return 0;
}

/* Takes the value at `from` out of the tree. */
static int take_from(applier *a, kc_node **ret)
{
    place p;
    if (!find(a, a->op->from, &p) || !p.container)
        return kc_error_set(
            a->err, KC_INVALID,
            "move operation does not apply: doc is missing from path: %.*s: missing value",
            KC_ARG(kc__shown(a->op->from)));
    if (get_at(a, &p, ret) < 0 || remove_at(a, &p) < 0)
        return kc_error_wrap(a->err, "error in move for path: '%.*s'",
                             KC_ARG(kc__shown(a->op->from)));
    return 0;
}

static int apply_move(applier *a)
{
    place p;
    kc_node *value = NULL;
    size_t bytes;
    int failed = take_from(a, &value);
    if (failed < 0)
        return failed;
    if (!find(a, a->op->path, &p))
        return kc_error_set(
            a->err, KC_INVALID,
            "move operation does not apply: doc is missing destination path: %.*s: missing value",
            KC_ARG(kc__shown(a->op->path)));
    failed = check_fits(a, value, p.depth, &bytes);
    if (failed == 0)
        failed = add_at(a, &p, value);
    return failed < 0 ? kc_error_wrap(a->err, "error in move for path: '%.*s'",
                                      KC_ARG(kc__shown(a->op->path)))
                      : 0;
}

static int apply_copy(applier *a)
{
    place p;
    kc_node *value = NULL;
    if (!find(a, a->op->from, &p))
        return kc_error_set(
            a->err, KC_INVALID,
            "copy operation does not apply: doc is missing from path: %.*s: missing value",
            KC_ARG(kc__shown(a->op->from)));
    if (get_at(a, &p, &value) < 0)
        return kc_error_wrap(a->err, "error in copy for from: '%.*s'",
                             KC_ARG(kc__shown(a->op->from)));
    if (!find(a, a->op->path, &p))
        return kc_error_set(
            a->err, KC_INVALID,
            "copy operation does not apply: doc is missing destination path: %.*s: missing value",
            KC_ARG(kc__shown(a->op->path)));
    int failed = check_copy(a, value, p.depth);
    if (failed < 0)
        return failed;
    failed = add_at(a, &p, value ? kc_node_clone(a->edit, value) : kc_node_null(a->edit));
    return failed < 0 ? kc_error_wrap(a->err, "error while adding value during copy") : 0;
}

static int apply_test(applier *a)
{
    place p;
    kc_node *value = NULL;
    if (!find(a, a->op->path, &p))
        return kc_error_set(a->err, KC_INVALID,
                            "test operation does not apply: is missing path: %.*s: missing value",
                            KC_ARG(kc__shown(a->op->path)));
    if (get_at(a, &p, &value) < 0)
        return kc_error_wrap(a->err, "error in test for path: '%.*s'",
                             KC_ARG(kc__shown(a->op->path)));
    bool wants_null = kc_type_of(a->op->value) <= KC_NULL, is_null = kc_node_type(value) <= KC_NULL;
    if (wants_null ? is_null : !is_null && kc__same_node(value, a->op->value))
        return 0;
    return kc_error_set(a->err, KC_INVALID, "testing value %.*s failed: test failed",
                        KC_ARG(kc__shown(a->op->path)));
}

static int (*const kinds[])(applier *a) = {
    [KC__OP_ADD] = apply_add,   [KC__OP_REMOVE] = apply_remove, [KC__OP_REPLACE] = apply_replace,
    [KC__OP_MOVE] = apply_move, [KC__OP_COPY] = apply_copy,     [KC__OP_TEST] = apply_test,
};

static void applier_done(applier *a)
{
    for (size_t i = 0; i < a->visited.used; i++) {
        visit *v = a->visited.entries[i].value;
        kc__fields_done(&v->fields);
        kc__elements_done(&v->elements);
    }
    kc_map_done(&a->visited);
    kc_arena_done(&a->arena);
    kc_buf_done(&a->token);
}

int kc_json_patch_apply(const kc_json_patch *patch, kc_edit *edit, kc_error *err)
{
    applier a = {.edit = edit,
                 .max_copy_bytes = patch->max_copy_bytes,
                 .steps_left = MOST_STEPS,
                 .err = err};
    int failed = 0;
    for (size_t i = 0; i < patch->ops.n && failed == 0; i++) {
        a.op = &patch->ops.items[i];
        failed = kinds[a.op->kind](&a);
        if (failed < 0)
            kc_error_wrap(err, "operation %zu", i);
    }
    applier_done(&a);
    return failed < 0 ? -(int)KC_INVALID : 0;
}
