/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resolve.c: marries what generated.proto and Go say of a message, field by field.
 *
 * Both describe the same struct: Go's tag `protobuf:"bytes,2,opt,name=spec"` has the number that
 * generated.proto gives the field, so numbers, not names, decide which belong together. Go has the
 * order, the name in JSON and whether something is left out; generated.proto has the type and, in
 * its comments, the markers. A field that only one of the two knows ends the build, except an
 * embedded struct without a number (TypeMeta), which exists in JSON alone.
 *
 * A message whose JSON is no object becomes a kind of field: a line of `specials`.
 */
#include "lexer.h"
#include "model.h"

#include "kc/buf.h"

static const struct {
    const char *name;
    kc__type_field_kind kind;
} specials[] = {
    {"k8s.io.apimachinery.pkg.apis.meta.v1.Time", KC__FIELD_TIME},
    {"k8s.io.apimachinery.pkg.apis.meta.v1.MicroTime", KC__FIELD_MICRO_TIME},
    {"k8s.io.apimachinery.pkg.apis.meta.v1.Duration", KC__FIELD_DURATION},
    {"k8s.io.apimachinery.pkg.apis.meta.v1.FieldsV1", KC__FIELD_FIELDS_V1},
    {"k8s.io.apimachinery.pkg.api.resource.Quantity", KC__FIELD_QUANTITY},
    {"k8s.io.apimachinery.pkg.api.resource.QuantityValue", KC__FIELD_QUANTITY},
    {"k8s.io.apimachinery.pkg.util.intstr.IntOrString", KC__FIELD_INT_OR_STRING},
    {"k8s.io.apimachinery.pkg.runtime.RawExtension", KC__FIELD_RAW},
};

static const struct {
    const char *name;
    kc__type_field_kind kind;
} scalars[] = {
    {"bool", KC__FIELD_BOOL},     {"int32", KC__FIELD_INT32},   {"int64", KC__FIELD_INT64},
    {"uint32", KC__FIELD_UINT32}, {"uint64", KC__FIELD_UINT64}, {"float", KC__FIELD_FLOAT},
    {"double", KC__FIELD_DOUBLE}, {"string", KC__FIELD_STRING}, {"bytes", KC__FIELD_BYTES},
};

static const struct {
    const char *marker, *value;
    unsigned marks;
} marked[] = {
    {"listType", "set", KC__LIST_IS_SET},
    {"listType", "map", KC__LIST_IS_MAP},
    {"listType", "atomic", KC__LIST_IS_ATOMIC},
    {"mapType", "atomic", KC__MAP_IS_ATOMIC},
    {"mapType", "granular", KC__MAP_IS_GRANULAR},
    {"structType", "atomic", KC__MAP_IS_ATOMIC},
    {"structType", "granular", KC__MAP_IS_GRANULAR},
};

/* ---- tags: `json:"name,omitempty" protobuf:"bytes,1,opt,name=name"` ---- */

static kc_str tag_value(kc_str tag, const char *key)
{
    while (tag.n) {
        tag = kc_str_trim(tag);
        kc_str name = kc_str_cut(&tag, ':');
        if (!tag.n || tag.p[0] != '"')
            return (kc_str){0};
        tag = kc_str_sub(tag, 1, tag.n);
        kc_str value = kc_str_cut(&tag, '"');
        if (kc_str_is(name, key))
            return value;
    }
    return (kc_str){0};
}

/* Whether `word` stands in a list with commas. */
static bool lists(kc_str list, const char *word)
{
    while (list.p) {
        if (kc_str_is(kc_str_cut(&list, ','), word))
            return true;
    }
    return false;
}

/* The number in a protobuf tag; 0 when there is no tag. */
static uint16_t tag_number(const go_type *type, const go_field *go)
{
    kc_str tag = tag_value(go->tag, "protobuf");
    uint64_t number = 0;
    kc_str_cut(&tag, ',');
    if (!tag.p)
        return 0;
    if (!kc_str_to_u64(kc_str_cut(&tag, ','), &number) || number > UINT16_MAX)
        fail_at(type->path, go->line, "the protobuf tag of %.*s has no number", KC_ARG(go->name));
    return (uint16_t)number;
}

/* ---- markers ---- */

unsigned mark_named(kc_str name, kc_str value)
{
    for (size_t i = 0; i < KC_COUNT(marked); i++) {
        if (kc_str_is(name, marked[i].marker) && kc_str_is(value, marked[i].value))
            return marked[i].marks;
    }
    return 0;
}

static unsigned mark_of(const message *msg, const char *name, kc_str value, int line)
{
    unsigned mark = mark_named(kc_cstr(name), value);
    if (!mark)
        fail_at(msg->package->proto_path, line, "+%s=%.*s is not known", name, KC_ARG(value));
    return mark;
}

/* How lists and maps are merged, which comments of messages and of fields say. */
static unsigned marks_of(const message *msg, kc_str comment, int line)
{
    static const char *const names[] = {"listType", "mapType", "structType"};
    unsigned marks = 0;
    for (size_t i = 0; i < KC_COUNT(names); i++) {
        kc_str value = marker(comment, names[i], NULL);
        if (value.p)
            marks |= mark_of(msg, names[i], value, line);
    }
    return marks;
}

unsigned patch_marks_named(kc_str strategies)
{
    unsigned marks = 0;
    while (strategies.p) {
        kc_str strategy = kc_str_cut(&strategies, ',');
        if (kc_str_is(strategy, "merge"))
            marks |= KC__PATCH_MERGES;
        else if (kc_str_is(strategy, "retainKeys"))
            marks |= KC__PATCH_RETAINS;
        else if (kc_str_is(strategy, "replace"))
            marks |= KC__PATCH_REPLACES;
        else
            return 0;
    }
    return marks;
}

static unsigned patch_marks(const go_type *type, const go_field *go)
{
    kc_str strategies = tag_value(go->tag, "patchStrategy");
    unsigned marks = patch_marks_named(strategies);
    if (strategies.p && !marks)
        fail_at(type->path, go->line, "patchStrategy '%.*s' is not known", KC_ARG(strategies));
    return marks;
}

/* As OpenAPI decides it: what a marker says, else whether JSON may leave it out. */
static bool is_required(kc_str markers, kc_str json)
{
    if (marker(markers, "required", NULL).p)
        return true;
    return !marker(markers, "optional", NULL).p && !lists(json, "omitempty");
}

static const char *list_keys(model *m, kc_str markers)
{
    kc_scoped(kc_buf) keys = {0};
    size_t at = 0;
    for (kc_str key; (key = marker(markers, "listMapKey", &at)).p;)
        kc_buf_printf(&keys, "%s%.*s", keys.n ? " " : "", KC_ARG(key));
    return keys.n ? kc_arena_strndup(&m->arena, keys.p, keys.n) : NULL;
}

/* The value of +default=, in which ref(NAME) stands for a constant of the package. */
static const char *fallback_of(model *m, const message *msg, const field *f)
{
    kc_str value = marker(f->markers, "default", NULL);
    if (!value.p)
        return NULL;
    if (kc_str_starts(value, KC_STR("ref("))) {
        kc_str name = kc_str_sub(value, 4, value.n - 1);
        kc_str *constant = kc_map_get(&msg->package->constants, name);
        if (!constant)
            fail_at(msg->package->proto_path, f->line, "no constant is called '%.*s'",
                    KC_ARG(name));
        value = *constant;
    }
    return kc_arena_strndup(&m->arena, value.p, value.n);
}

/* ---- types ---- */

static message *find_message(const model *m, const message *in, kc_str type, int line)
{
    kc_scoped(kc_buf) name = {0};
    if (type.p[0] != '.')
        kc_buf_printf(&name, "%.*s.", KC_ARG(in->package->name));
    kc_buf_append(&name, type.p[0] == '.' ? kc_str_sub(type, 1, type.n) : type);
    message *found = kc_map_get(&m->by_name, kc_buf_str(&name));
    if (!found)
        fail_at(in->package->proto_path, line,
                "%.*s refers to the type %.*s, which none of the packages read defines",
                KC_ARG(in->proto_name), KC_ARG(kc_buf_str(&name)));
    return found;
}

bool scalar_kind(kc_str type, kc__type_field_kind *ret)
{
    for (size_t i = 0; i < KC_COUNT(scalars); i++) {
        if (kc_str_is(type, scalars[i].name)) {
            *ret = scalars[i].kind;
            return true;
        }
    }
    return false;
}

static void resolve_type(const model *m, const message *in, field *f)
{
    if (scalar_kind(f->type, &f->kind))
        return;
    message *msg = find_message(m, in, f->type, f->line);
    f->kind = msg->kind;
    f->message = msg->special ? NULL : msg;
}

static field *read_numbered(message *msg, uint16_t number)
{
    kc_vec_each (&msg->read, f) {
        if (f->number == number)
            return f;
    }
    return NULL;
}

/* What generated.proto says of a field of Go, or what stands for it where Go embeds a struct that
 * protobuf leaves out. */
static field proto_of(model *m, message *msg, const go_type *type, const go_field *go)
{
    uint16_t number = tag_number(type, go);
    field *read = read_numbered(msg, number);
    if (read)
        return *read;
    if (number || !go->embedded || !go->package)
        fail_at(type->path, go->line, "%.*s.%.*s is not in %s", KC_ARG(msg->proto_name),
                KC_ARG(go->name), msg->package->proto_path);
    char *full = kc_arena_printf(&m->arena, ".%s.%.*s", go->package, KC_ARG(go->type_name));
    return (field){.type = kc_cstr(full), .line = msg->line};
}

static void resolve_field(model *m, message *msg, const go_type *type, const go_field *go)
{
    kc_str json = tag_value(go->tag, "json"), options = json;
    kc_str name = kc_str_cut(&options, ',');
    if (kc_str_is(json, "-"))
        return;
    field f = proto_of(m, msg, type, go);
    bool is_inline = go->embedded && !name.n;
    resolve_type(m, msg, &f);
    if (is_inline && !f.message)
        fail_at(type->path, go->line, "%.*s is inline but no struct", KC_ARG(go->name));
    f.name = is_inline ? KC_STR("") : name.n ? name : go->name;
    f.marks = marks_of(msg, f.markers, f.line) | patch_marks(type, go);
    f.marks |= marker(f.markers, "unionDiscriminator", NULL).p ? KC__DISCRIMINATOR : 0;
    f.marks |= lists(options, "omitempty") ? KC__OMIT_EMPTY : 0;
    f.marks |= lists(options, "omitzero") ? KC__OMIT_ZERO : 0;
    f.marks |= go->pointer ? KC__POINTER : 0;
    f.marks |= is_inline ? KC__INLINE : is_required(f.markers, json) ? KC__REQUIRED : 0;
    kc_str merge_key = tag_value(go->tag, "patchMergeKey");
    f.merge_key = merge_key.n ? kc_arena_strndup(&m->arena, merge_key.p, merge_key.n) : NULL;
    f.list_keys = list_keys(m, f.markers);
    f.fallback = fallback_of(m, msg, &f);
    f.go_type = go->type;
    if (f.kind == KC__FIELD_STRING && go->package)
        f.enumeration = enum_find(m, go->package, go->type_name);
    kc_vec_push(&msg->fields, f);
}

/* ---- messages ---- */

/* The Go type of a message, behind other names it may have. */
static const go_type *go_type_of(const model *m, const message *msg)
{
    const package *p = msg->package;
    const go_type *type = kc_map_get(&p->go_types, msg->proto_name);
    for (int hops = 0; type && type->same_package && hops < 4; hops++) {
        p = model_package(m, kc_cstr(type->same_package));
        type = p ? kc_map_get(&p->go_types, type->same_name) : NULL;
    }
    if (!type)
        fail_at(msg->package->proto_path, msg->line, "no Go file of %s declares the type %.*s",
                msg->package->folder, KC_ARG(msg->proto_name));
    return type;
}

/* Whether some field of Go has the number, be it in JSON or not. */
static bool go_has(const go_type *type, uint16_t number)
{
    kc_vec_each (&type->fields, go) {
        if (tag_number(type, go) == number)
            return true;
    }
    return false;
}

static void resolve_struct(model *m, message *msg, const go_type *type)
{
    kc_vec_each (&type->fields, go)
        resolve_field(m, msg, type, go);
    kc_vec_each (&msg->read, f) {
        if (!go_has(type, f->number))
            fail_at(msg->package->proto_path, f->line,
                    "no field of the Go struct has the number %d", f->number);
    }
}

/* A list in Go is in protobuf a message with the list as its only field. */
static void resolve_list(model *m, message *msg, const go_type *type)
{
    if (msg->read.n != 1 || msg->read.items[0].shape != KC__REPEATED)
        fail_at(msg->package->proto_path, msg->line, "%.*s is a list in Go but no message of one",
                KC_ARG(msg->proto_name));
    field f = msg->read.items[0];
    f.name = f.proto_name;
    f.go_type = type->text;
    resolve_type(m, msg, &f);
    kc_vec_push(&msg->fields, f);
}

static void name_message(model *m, message *msg)
{
    kc_str full = msg->package->name;
    if (!kc_str_starts(full, KC_STR("k8s.io.")))
        fail_at(msg->package->proto_path, 1, "the package is not one of k8s.io");
    kc_str rest = kc_str_sub(full, 7, full.n);
    kc_str last = kc_str_sub(full, (size_t)(kc_str_rfind(full, '.') + 1), full.n);
    msg->name = kc_cstr(
        kc_arena_printf(&m->arena, "io.k8s.%.*s.%.*s", KC_ARG(rest), KC_ARG(msg->proto_name)));
    msg->go_name = kc_arena_printf(&m->arena, "%.*s.%.*s", KC_ARG(last), KC_ARG(msg->proto_name));
    msg->marks = marks_of(msg, msg->markers, msg->line) & KC__MAP_IS_ATOMIC;
}

void register_message(model *m, message *msg)
{
    char *full = kc_arena_printf(&m->arena, "%.*s.%.*s", KC_ARG(msg->package->name),
                                 KC_ARG(msg->proto_name));
    if (kc_map_put(&m->by_name, kc_cstr(full), msg))
        fail_at(msg->package->proto_path, msg->line, "%s is defined twice", full);
    msg->kind = KC__FIELD_MESSAGE;
    for (size_t i = 0; i < KC_COUNT(specials); i++) {
        if (strcmp(full, specials[i].name) == 0) {
            msg->special = true;
            msg->kind = specials[i].kind;
        }
    }
    if (!msg->special && !msg->amended && go_type_of(m, msg)->is_list)
        msg->kind = KC__FIELD_LIST;
    name_message(m, msg);
}

static int compare_messages(const void *a, const void *b)
{
    return kc_str_cmp((*(message *const *)a)->name, (*(message *const *)b)->name);
}

void resolve(model *m)
{
    kc_vec_each (&m->packages, p) {
        kc_vec_each (&(*p)->messages, msg)
            register_message(m, *msg);
    }
    kc_map_each (&m->by_name, entry) {
        message *msg = entry->value;
        if (msg->special)
            continue;
        if (msg->kind == KC__FIELD_LIST)
            resolve_list(m, msg, go_type_of(m, msg));
        else
            resolve_struct(m, msg, go_type_of(m, msg));
        kc_vec_push(&m->table, msg);
    }
}

void resolve_order(model *m)
{
    kc_vec_sort(&m->table, compare_messages);
    for (size_t i = 0; i < m->table.n; i++)
        m->table.items[i]->index = i;
}
