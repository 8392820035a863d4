/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_patch_target.c: finds and changes the target of a JSON patch operation.
 *
 * A pointer leads to a target: a container, and the pointer's last token, which names a member or a
 * position in it.
 *
 *     /spec/ports/0        container: the node at /spec/ports, token: 0
 *
 * Long containers that are visited often get an index (node_fields.c, node_elements.c), kept in
 * `visited` by the address of their node, which stays the same when the node is moved. So ten
 * thousand operations on one long array do not scan it ten thousand times.
 */
#include "object/patch/json_patch_internal.h"
#include "object/patch/patch_internal.h"

/* A long container that was visited. */
typedef struct visit {
    kc_node *node;
    kc__node_fields fields;      /* If it is an object, */
    kc__patch_elements elements; /* if it is an array. */
} visit;

static visit *visit_of(kc__patch_applier *a, kc_node *node)
{
    bool is_long = kc_node_len(node) > KC__NODE_SHORT_OBJECT;
    if (!is_long && !a->visited.n)
        return NULL;
    visit *known = kc_map_get(&a->visited, kc_str_of((const char *)&node, sizeof(node)));
    if (known || !is_long)
        return known;
    visit *new = kc_arena_new(&a->arena, visit);
    new->node = node;
    new->fields = kc__node_fields_of(a->edit, node);
    new->elements = kc__patch_elements_of(node);
    kc_map_put(&a->visited, kc_str_of((const char *)&new->node, sizeof(new->node)), new);
    return new;
}

static kc_node *member_of(kc__patch_applier *a, kc_node *object, kc_str name)
{
    visit *v = visit_of(a, object);
    return v ? kc__node_fields_get(&v->fields, name) : kc_node_get(object, name);
}

static kc_node *element_of(kc__patch_applier *a, kc_node *array, size_t at)
{
    visit *v = visit_of(a, array);
    return v ? kc__patch_elements_at(&v->elements, at) : kc_node_at(array, at);
}

/* ---- pointers ---- */

/* "~1" is '/', "~0" is '~'; any other text is unchanged. */
static kc_str json_patch_place_unescape(kc_buf *buf, kc_str token)
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
 * Parses a token as Go's strconv.Atoi does: a sign is allowed. Sets an error when it is not a
 * number.
 */
static int read_index(kc__patch_applier *a, kc_str token, int64_t *ret)
{
    kc_str digits = kc_str_sub(token, token.n && token.p[0] == '+', token.n);
    bool signs = digits.n < token.n && digits.n && digits.p[0] == '-';
    if (!signs && kc_str_to_i64(digits, ret))
        return 0;
    return kc_error_set(a->err, KC_INVALID, "strconv.Atoi: parsing \"%.*s\": invalid syntax",
                        KC_ARG(kc__patch_shown_pointer(token)));
}

/* Parses a token as a position below `n`; negative ones count from the end. */
static int read_position(kc__patch_applier *a, kc_str token, size_t n, size_t *ret)
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

/* One step down; NULL when it does not exist. */
static kc_node *json_patch_place_step(kc__patch_applier *a, kc_node *from, kc_str token)
{
    size_t at;
    if (kc_node_type(from) == KC_JSON_OBJECT)
        return member_of(a, from, token);
    if (kc_node_type(from) == KC_JSON_ARRAY && read_position(a, token, kc_node_len(from), &at) == 0)
        return element_of(a, from, at);
    return NULL;
}

/* False when there is no container at that pointer. */
bool kc__patch_find_target(kc__patch_applier *a, kc_str pointer, kc__patch_target *ret)
{
    kc_node *node = kc_edit_root(a->edit);
    *ret = (kc__patch_target){0};
    if (!pointer.n)
        return true;
    kc_str rest = kc_str_sub(pointer, 1, pointer.n);
    for (;;) {
        kc_str token = json_patch_place_unescape(&a->token, kc_str_cut(&rest, '/'));
        ret->depth++;
        if (!rest.p) {
            ret->container = node;
            ret->token = token;
            return kc_node_type(node) == KC_JSON_OBJECT || kc_node_type(node) == KC_JSON_ARRAY;
        }
        node = json_patch_place_step(a, node, token);
        if (!node)
            return false;
    }
}

/* ---- operations on a target ---- */

/* The value at the target. A missing member is NULL; a missing element is an error. */
int kc__patch_get_at(kc__patch_applier *a, const kc__patch_target *p, kc_node **ret)
{
    size_t at;
    if (!p->container) {
        *ret = kc_edit_root(a->edit);
        return 0;
    }
    if (kc_node_type(p->container) == KC_JSON_OBJECT) {
        *ret = member_of(a, p->container, p->token);
        return 0;
    }
    int failed = read_position(a, p->token, kc_node_len(p->container), &at);
    if (failed == 0)
        *ret = element_of(a, p->container, at);
    return failed;
}

static void set_member(kc__patch_applier *a, const kc__patch_target *p, kc_node *value)
{
    visit *v = visit_of(a, p->container);
    if (v)
        kc__node_fields_set(&v->fields, p->token, value);
    else
        kc_node_set(a->edit, p->container, p->token, value);
}

static int insert_element(kc__patch_applier *a, const kc__patch_target *p, kc_node *value)
{
    size_t at = kc_node_len(p->container);
    if (!kc_str_is(p->token, "-")) {
        int64_t index;
        if (read_index(a, p->token, &index) < 0)
            return kc_error_wrap(a->err, "value was not a proper array index: '%.*s'",
                                 KC_ARG(kc__patch_shown_pointer(p->token)));
        int failed = read_position(a, p->token, at + 1, &at);
        if (failed < 0)
            return failed;
    }
    visit *v = visit_of(a, p->container);
    if (v)
        kc__patch_elements_insert(&v->elements, at, value);
    else
        kc_node_insert(p->container, at, value);
    return 0;
}

int kc__patch_add_at(kc__patch_applier *a, const kc__patch_target *p, kc_node *value)
{
    if (p->container && kc_node_type(p->container) == KC_JSON_ARRAY)
        return insert_element(a, p, value);
    if (p->container)
        set_member(a, p, value);
    else
        kc_edit_set_root(a->edit, value);
    return 0;
}

int kc__patch_replace_at(kc__patch_applier *a, const kc__patch_target *p, kc_node *value)
{
    size_t at;
    if (!p->container || kc_node_type(p->container) == KC_JSON_OBJECT)
        return kc__patch_add_at(a, p, value);
    int failed = read_position(a, p->token, kc_node_len(p->container), &at);
    if (failed < 0)
        return failed;
    visit *v = visit_of(a, p->container);
    if (v)
        kc__patch_elements_replace(&v->elements, at, value);
    else
        kc_node_replace_at(p->container, at, value);
    return 0;
}

int kc__patch_remove_at(kc__patch_applier *a, const kc__patch_target *p)
{
    visit *v = visit_of(a, p->container);
    if (kc_node_type(p->container) == KC_JSON_OBJECT) {
        bool was_there = v ? kc__node_fields_remove(&v->fields, p->token)
                           : kc_node_remove(p->container, p->token);
        return was_there ? 0
                         : kc_error_set(a->err, KC_INVALID,
                                        "Unable to remove nonexistent key: %.*s: missing value",
                                        KC_ARG(kc__patch_shown_pointer(p->token)));
    }
    size_t at;
    int failed = read_position(a, p->token, kc_node_len(p->container), &at);
    if (failed < 0)
        return failed;
    if (v)
        kc__patch_elements_remove(&v->elements, at);
    else
        kc_node_remove_at(p->container, at);
    return 0;
}

void kc__patch_applier_done(kc__patch_applier *a)
{
    for (size_t i = 0; i < a->visited.used; i++) {
        visit *v = a->visited.entries[i].value;
        kc__node_fields_done(&v->fields);
        kc__patch_elements_done(&v->elements);
    }
    kc_map_done(&a->visited);
    kc_arena_done(&a->arena);
    kc_buf_done(&a->token);
}
