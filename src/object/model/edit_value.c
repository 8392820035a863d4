/* SPDX-License-Identifier: Apache-2.0 */
/*
 * edit_value.c: turns the tree of an edit into a value, and finishes an edit.
 *
 * Cells of a tree and of a value differ in the links between them only: a tree has rings, a value
 * has its cells one after the other, with the distance to the next value in a container's cell. So
 * the copy is one walk, and shares the strings.
 *
 * An edit that is finished becomes a value first; the value is written as canonical text, member by
 * member, so that the positions of the object's parts are known. Only the metadata are scanned.
 */
#include "object/model/edit_value.h"

#include "object/json/json_plain.h"
#include "object/model/canonical.h"
#include "object/model/object_internal.h"

#include <math.h>

/* ---- trees as values ---- */

/* The node before the first one in the ring of a container, and the number of nodes in the ring. */
static const kc_node *ring_of(const kc_node *container, size_t *ret_n)
{
    const bool object = unsafe_yyjson_get_type((kc_node *)container) == YYJSON_TYPE_OBJ;
    const kc_node *last = container->uni.ptr; /* Of an object: the last key. */
    *ret_n = unsafe_yyjson_get_len((kc_node *)container) * (object ? 2 : 1);
    return *ret_n && object ? last->next : last;
}

static void measure_node(const kc_node *node, unsigned depth, kc__node_extent *extent)
{
    extent->cells++;
    if (!unsafe_yyjson_is_ctn((kc_node *)node))
        return;
    size_t n;
    const kc_node *at = ring_of(node, &n);
    extent->depth = KC_MAX(extent->depth, depth + 1);
    for (; n; n--) {
        at = at->next;
        measure_node(at, depth + 1, extent);
    }
}

kc__node_extent kc__node_measure(const kc_node *node)
{
    kc__node_extent extent = {0};
    measure_node(node, 0, &extent);
    return extent;
}

void kc__value_settle_number(kc_value *cell)
{
    if (unsafe_yyjson_get_tag(cell) != (YYJSON_TYPE_NUM | YYJSON_SUBTYPE_REAL))
        return;
    const double number = cell->uni.f64;
    if (number != trunc(number) || fabs(number) >= 1e18)
        return;
    cell->tag = YYJSON_TYPE_NUM | (number < 0 ? YYJSON_SUBTYPE_SINT : YYJSON_SUBTYPE_UINT);
    cell->uni.i64 = (int64_t)number;
}

/* Returns the end. */
static kc_value *copy_node(kc_value *to, const kc_node *node, const kc_node *skipped)
{
    kc_value *cell = to++;
    *cell = (kc_value){.tag = node->tag, .uni = node->uni};
    kc__value_settle_number(cell);
    if (!unsafe_yyjson_is_ctn((kc_node *)node))
        return to;
    size_t n;
    const kc_node *at = ring_of(node, &n);
    for (; n; n--) {
        at = at->next;
        if (at != skipped) {
            to = copy_node(to, at, skipped);
            continue;
        }
        at = at->next;
        n--;
        cell->tag -= UINT64_C(1) << YYJSON_TAG_BIT;
    }
    cell->uni.ofs = (size_t)(to - cell) * sizeof(*cell);
    return to;
}

void kc__node_copy(kc_value *cells, const kc_node *node, const kc_node *skipped)
{
    copy_node(cells, node, skipped);
}

/* ---- finishing ---- */

typedef struct written_object {
    kc_buf text;
    kc__object_span parts[KC__N_PARTS];
    bool unusual; /* The scanner has to find the parts. */
} written_object;

static int root_part_named(kc_str name)
{
    return kc_str_is(name, "apiVersion") ? KC__OBJECT_PART_API_VERSION
           : kc_str_is(name, "kind")     ? KC__OBJECT_PART_KIND
           : kc_str_is(name, "metadata") ? KC__OBJECT_PART_METADATA
                                         : -1;
}

/* Records the part of the root that was written from `at` on. */
static void note_root_part(written_object *w, int part, const kc_value *value, size_t at)
{
    const bool metadata = part == KC__OBJECT_PART_METADATA;
    const kc_str text = kc_value_as_str(value);
    if (kc_value_type(value) != (metadata ? KC_JSON_OBJECT : KC_JSON_STRING))
        w->unusual = true;
    else if (metadata)
        w->parts[part] = (kc__object_span){(uint32_t)at, (uint32_t)(w->text.n - at)};
    else if (kc__json_plain_length(text) == text.n)
        w->parts[part] = (kc__object_span){(uint32_t)at + 1, (uint32_t)text.n};
    else
        w->unusual = true;
}

/* True when yyjson writes a value as kc_json_write does. It writes large and small numbers in
 * another form, and so it does with control characters, which the caller finds by a backslash. */
static bool has_common_numbers(const kc_value *value)
{
    const size_t n = kc_value_count(value);
    for (size_t i = 0; i < n; i++) {
        if (unsafe_yyjson_get_tag((kc_value *)&value[i]) != (YYJSON_TYPE_NUM | YYJSON_SUBTYPE_REAL))
            continue;
        const double size = fabs(value[i].uni.f64);
        if (!(size >= 1e-3 && size < 1e15))
            return false;
    }
    return true;
}

/* Writes canonical text; nearly all values are written by yyjson, which is fast. */
static void write_canonical(kc_buf *out, const kc_value *value)
{
    size_t n = 0;
    kc_autofree char *text = has_common_numbers(value)
                                 ? yyjson_val_write_opts(value, YYJSON_WRITE_NOFLAG, NULL, &n, NULL)
                                 : NULL;
    if (text && !memchr(text, '\\', n))
        kc_buf_append(out, kc_str_of(text, n));
    else
        kc_json_write(out, value);
}

static void write_root(written_object *w, const kc_value *root)
{
    kc_buf_putc(&w->text, '{');
    kc_value_each_member (root, name, value) {
        if (w->text.n > 1)
            kc_buf_putc(&w->text, ',');
        kc_json_quote(&w->text, name);
        kc_buf_putc(&w->text, ':');
        const size_t at = w->text.n;
        const int part = root_part_named(name);
        write_canonical(&w->text, value);
        if (part >= 0)
            note_root_part(w, part, value, at);
    }
    kc_buf_putc(&w->text, '}');
}

static bool find_metadata_parts(written_object *w)
{
    const kc__object_span metadata = w->parts[KC__OBJECT_PART_METADATA];
    return !metadata.at || kc__object_metadata_parts(kc_str_of(w->text.p + metadata.at, metadata.n),
                                                     metadata.at, w->parts);
}

static kc_object *object_of_value(const kc_value *root, kc_error *err)
{
    written_object w = {.text = {.limit = KC_JSON_MAX_BYTES}};
    kc_object *object = NULL;
    write_root(&w, root);
    if (w.text.failed)
        kc_error_set(err, KC_TOO_LARGE, "the object has more than %zu bytes", w.text.limit);
    else if (w.unusual || !find_metadata_parts(&w))
        object = kc__object_of_canonical(kc_buf_str(&w.text), err);
    else
        object = kc__object_of_parts(kc_buf_str(&w.text), w.parts);
    kc_buf_done(&w.text);
    return object;
}

static kc_view *view_of_edit(kc_edit *edit, size_t cells)
{
    kc_view *view = kc_new(kc_view);
    view->root = kc_alloc(cells * sizeof(*view->root));
    view->edit = edit;
    kc__node_copy(view->root, kc_edit_root(edit), NULL);
    return view;
}

kc_object *kc__object_finish_edit(kc_edit *edit, kc_view **ret_view, kc_error *err)
{
    const kc__node_extent extent = kc__node_measure(kc_edit_root(edit));
    if (extent.depth > KC_JSON_MAX_DEPTH) {
        kc_object *none = kc_edit_freeze(edit, err); /* With the error of the parser. */
        kc_edit_free(edit);
        return none;
    }
    kc_auto(kc_view) *view = view_of_edit(edit, extent.cells);
    kc_object *object = object_of_value(kc_view_root(view), err);
    if (object)
        *ret_view = kc_take(view);
    return object;
}
