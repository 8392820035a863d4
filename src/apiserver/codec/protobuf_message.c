/* SPDX-License-Identifier: Apache-2.0 */
/*
 * protobuf_message.c: decodes a message to a JSON object, with its lists and maps.
 *
 * Protobuf fields come in any order and any number of times; JSON has each field once, in Go's
 * order. So the decoder reads a whole message first, appends each element to the chain of its
 * field, and then writes field by field. The chains implement the rules of proto2: for a scalar the
 * last element wins, a list consists of all elements, and an embedded message is the concatenated
 * bytes of all elements, which is the definition of merging. Unknown fields are skipped.
 *
 * Whether a field is omitted is decided after its value has been written: Go omits "", 0, false,
 * null and [], unless the field is a struct or a non-nil pointer. The decoder then removes the text
 * again.
 */
#include "apiserver/codec/protobuf_internal.h"

/* A message that was read: its position in the decoder's stacks. */
typedef struct message_frame {
    const kc__type_message *message;
    size_t elements, heads;
} message_frame;

/* ---- the path ---- */

static int enter_protobuf_message(kc__protobuf_decoder *d, const kc__type_field *field)
{
    if (d->depth >= KC__PROTOBUF_MAX_DEPTH)
        return kc__protobuf_fail(d, "nested too deeply");
    d->path[d->depth++] = (kc__protobuf_step){field, SIZE_MAX};
    return 0;
}

static void leave_protobuf_message(kc__protobuf_decoder *d)
{
    d->depth--;
}

static int check_room(kc__protobuf_decoder *d)
{
    if (d->out.failed)
        return kc_error_set(d->err, KC_TOO_LARGE, "protobuf: the object is too large");
    return 0;
}

/* ---- reading ---- */

static bool is_scalar(const kc__type_field *field)
{
    return field->kind < KC__FIELD_MESSAGE;
}

/* The numbers of a list may be packed into one element. */
static bool is_packed(const kc__type_field *field, const kc__protobuf_element *e)
{
    return field->shape == KC__REPEATED && is_scalar(field) && e->wire == KC__PROTOBUF_DELIMITED &&
           kc__protobuf_scalar_wire(field->kind) != KC__PROTOBUF_DELIMITED;
}

static int check_wire(kc__protobuf_decoder *d, const kc__type_field *field,
                      const kc__protobuf_element *e)
{
    bool plain = is_scalar(field) && field->shape != KC__MAPPED;
    if (is_packed(field, e))
        return 0;
    int r = enter_protobuf_message(d, field);
    if (r == 0)
        r = kc__protobuf_element_expect(
            d, e, plain ? kc__protobuf_scalar_wire(field->kind) : KC__PROTOBUF_DELIMITED);
    if (r == 0)
        leave_protobuf_message(d);
    return r;
}

/* Appends an element to the chain of its field. */
static void chain(kc__protobuf_decoder *d, const message_frame *f, const kc__type_field *field,
                  kc__protobuf_element e)
{
    size_t slot = f->heads + 2 * (size_t)(field - f->message->fields);
    kc_vec_push(&d->elements, e);
    uint32_t place = (uint32_t)d->elements.n;
    uint32_t last = d->heads.items[slot + 1];
    if (last)
        d->elements.items[last - 1].next = place;
    else
        d->heads.items[slot] = place;
    d->heads.items[slot + 1] = place;
}

static int read_run(kc__protobuf_decoder *d, const message_frame *f, kc_str rest)
{
    while (rest.n) {
        uint32_t number;
        kc__protobuf_element e;
        int r = kc__protobuf_element_next(d, &rest, &number, &e);
        if (r < 0)
            return r;
        const kc__type_field *field = kc__type_message_field_by_number(f->message, number);
        if (!field) {
            d->has_unknown = true;
            continue;
        }
        if ((r = check_wire(d, field, &e)) < 0)
            return r;
        chain(d, f, field, e);
    }
    return 0;
}

static int open_frame(kc__protobuf_decoder *d, const kc__type_message *message,
                      kc__protobuf_input in, message_frame *ret)
{
    message_frame f = {message, d->elements.n, d->heads.n};
    for (size_t i = 0; i < 2u * message->n_fields; i++)
        kc_vec_push(&d->heads, 0);
    int r = in.chain ? 0 : read_run(d, &f, in.bytes);
    for (uint32_t at = in.chain; r == 0 && at; at = d->elements.items[at - 1].next)
        r = read_run(d, &f, d->elements.items[at - 1].bytes);
    if (r == 0)
        *ret = f;
    return r;
}

static void close_frame(kc__protobuf_decoder *d, const message_frame *f)
{
    d->elements.n = f->elements;
    d->heads.n = f->heads;
}

static uint32_t first_element_of(const kc__protobuf_decoder *d, const message_frame *f,
                                 const kc__type_field *field)
{
    return d->heads.items[f->heads + 2 * (size_t)(field - f->message->fields)];
}

static uint32_t last_of(const kc__protobuf_decoder *d, const message_frame *f,
                        const kc__type_field *field)
{
    return d->heads.items[f->heads + 2 * (size_t)(field - f->message->fields) + 1];
}

/* ---- values ---- */

static int write_protobuf_list(kc__protobuf_decoder *d, const kc__type_field *field,
                               uint32_t first);
static int write_scalar_member(kc__protobuf_decoder *d, const message_frame *f,
                               const kc__type_field *field);

/* Writes a message that is a list. The message is present, so an empty one is [], not null. */
static int write_list_message(kc__protobuf_decoder *d, const kc__type_message *message,
                              kc__protobuf_input in)
{
    message_frame f;
    int r = open_frame(d, message, in, &f);
    if (r < 0)
        return r;
    uint32_t first = first_element_of(d, &f, &message->fields[0]);
    if (first)
        r = write_protobuf_list(d, &message->fields[0], first);
    else
        kc_buf_puts(&d->out, "[]");
    close_frame(d, &f);
    return r;
}

/* Writes a schema, or a value allowed in its place: a list of schemas (items), a boolean
 * (additionalProperties), a list of names (dependencies). The messages differ in their second
 * member; a boolean is member 1 and the schema member 2. */
static int write_either(kc__protobuf_decoder *d, const kc__type_field *field, kc__protobuf_input in)
{
    bool boolean = kc_str_ends(kc_cstr(field->go_type), KC_STR("OrBool"));
    bool names = field->shape == KC__MAPPED;
    const kc__type_field parts[] = {
        {.name = field->name,
         .number = boolean ? 2 : 1,
         .kind = KC__FIELD_MESSAGE,
         .message = field->message},
        {.name = field->name,
         .number = boolean ? 1 : 2,
         .kind = boolean ? KC__FIELD_BOOL
                 : names ? KC__FIELD_STRING
                         : KC__FIELD_MESSAGE,
         .shape = boolean ? KC__SINGLE : KC__REPEATED,
         .message = field->message},
    };
    const uint16_t by_number[] = {boolean, !boolean};
    const kc__type_message either = {.fields = parts, .n_fields = 2, .by_number = by_number};
    message_frame f;
    int r = open_frame(d, &either, in, &f);
    if (r < 0)
        return r;
    uint32_t schema = first_element_of(d, &f, &parts[0]),
             other = first_element_of(d, &f, &parts[1]);
    if (other && !boolean)
        r = write_protobuf_list(d, &parts[1], other);
    else if (schema)
        r = kc__protobuf_write_message(d, field->message, (kc__protobuf_input){.chain = schema},
                                       NULL);
    else if (boolean)
        r = write_scalar_member(d, &f, &parts[1]);
    else
        kc_buf_puts(&d->out, "null");
    close_frame(d, &f);
    return r;
}

/* Writes a value that is present: a single field, a list item or a map value. */
static int write_value(kc__protobuf_decoder *d, const kc__type_field *field, kc__protobuf_input in)
{
    if (field->kind == KC__FIELD_MESSAGE)
        return kc__protobuf_write_message(d, field->message, in, NULL);
    if (field->kind == KC__FIELD_LIST)
        return write_list_message(d, field->message, in);
    if (field->kind == KC__FIELD_EITHER)
        return write_either(d, field, in);
    return kc__protobuf_write_special(d, field->kind, in);
}

static int write_element(kc__protobuf_decoder *d, const kc__type_field *field,
                         const kc__protobuf_element *e)
{
    if (is_scalar(field))
        return kc__protobuf_write_scalar(d, field->kind, e);
    return write_value(d, field, (kc__protobuf_input){.bytes = e->bytes});
}

static void begin_item(kc__protobuf_decoder *d, size_t *n)
{
    if (*n)
        kc_buf_putc(&d->out, ',');
    d->path[d->depth - 1].index = (*n)++;
}

static int write_packed(kc__protobuf_decoder *d, const kc__type_field *field, kc_str rest,
                        size_t *n)
{
    kc__protobuf_wire wire = kc__protobuf_scalar_wire(field->kind);
    while (rest.n) {
        kc__protobuf_element e = {.wire = wire};
        int r = kc__protobuf_packed_next(d, &rest, &e);
        if (r < 0)
            return r;
        begin_item(d, n);
        if ((r = kc__protobuf_write_scalar(d, field->kind, &e)) < 0 || (r = check_room(d)) < 0)
            return r;
    }
    return 0;
}

static int write_item(kc__protobuf_decoder *d, const kc__type_field *field, kc__protobuf_element e,
                      size_t *n)
{
    if (is_packed(field, &e))
        return write_packed(d, field, e.bytes, n);
    begin_item(d, n);
    int r = write_element(d, field, &e);
    return r < 0 ? r : check_room(d);
}

static int write_protobuf_list(kc__protobuf_decoder *d, const kc__type_field *field, uint32_t first)
{
    size_t n = 0, start = d->out.n;
    kc_buf_putc(&d->out, '[');
    for (uint32_t at = first; at; at = d->elements.items[at - 1].next) {
        int r = write_item(d, field, d->elements.items[at - 1], &n);
        if (r < 0)
            return r;
    }
    d->path[d->depth - 1].index = SIZE_MAX;
    kc_buf_putc(&d->out, ']');
    if (!n) {
        d->out.n = start; /* An empty packed list is nil in Go. */
        kc_buf_puts(&d->out, "null");
    }
    return 0;
}

/* ---- maps ---- */

typedef struct map_entry {
    kc_str key;
    kc__protobuf_element value;
    size_t order;
} map_entry;

typedef KC_VEC(map_entry) map_entries;

static void map_entries_done(map_entries *all)
{
    kc_vec_done(all);
}

static int compare_entries(const void *a, const void *b)
{
    const map_entry *x = a, *y = b;
    int order = kc_str_cmp(x->key, y->key);
    return order ? order : (x->order > y->order) - (x->order < y->order);
}

static int read_entries(kc__protobuf_decoder *d, const kc__type_field *field, uint32_t first,
                        map_entries *all)
{
    const kc__protobuf_wire wires[] = {KC__PROTOBUF_DELIMITED,
                                       kc__protobuf_scalar_wire(field->kind)};
    for (uint32_t at = first; at; at = d->elements.items[at - 1].next) {
        kc__protobuf_element e[2] = {0};
        kc__protobuf_input in = {.bytes = d->elements.items[at - 1].bytes};
        int r = kc__protobuf_elements_read(d, in, wires, 2, e);
        if (r < 0)
            return r;
        kc_vec_push(all, (map_entry){e[0].bytes, e[1], all->n});
    }
    kc_vec_sort(all, compare_entries);
    return 0;
}

static int write_entry(kc__protobuf_decoder *d, const kc__type_field *field, const map_entry *e,
                       bool comma)
{
    if (comma)
        kc_buf_putc(&d->out, ',');
    int r = kc__protobuf_write_string(d, e->key);
    if (r < 0)
        return r;
    kc_buf_putc(&d->out, ':');
    r = write_element(d, field, &e->value);
    return r < 0 ? r : check_room(d);
}

/* Writes a map sorted by key, as Go does; of duplicate keys the last one wins. */
static int write_map(kc__protobuf_decoder *d, const kc__type_field *field, uint32_t first)
{
    kc_scoped(map_entries) all = {0};
    bool comma = false;
    int r = read_entries(d, field, first, &all);
    if (r < 0)
        return r;
    kc_buf_putc(&d->out, '{');
    for (size_t i = 0; i < all.n; i++) {
        if (i + 1 < all.n && kc_str_eq(all.items[i].key, all.items[i + 1].key))
            continue;
        if ((r = write_entry(d, field, &all.items[i], comma)) < 0)
            return r;
        comma = true;
    }
    kc_buf_putc(&d->out, '}');
    return 0;
}

/* ---- members ---- */

/* Kinds that are structs in Go: their zero value is written, not omitted. */
static bool is_struct(const kc__type_field *field)
{
    return field->shape == KC__SINGLE &&
           (field->kind == KC__FIELD_MESSAGE || kc__protobuf_is_special(field->kind));
}

static int write_scalar_member(kc__protobuf_decoder *d, const message_frame *f,
                               const kc__type_field *field)
{
    static const kc__protobuf_element zero = {0};
    uint32_t last = last_of(d, f, field);
    kc__protobuf_element e = last ? d->elements.items[last - 1] : zero;
    return kc__protobuf_write_scalar(d, field->kind, &e);
}

static int write_member_value(kc__protobuf_decoder *d, const message_frame *f,
                              const kc__type_field *field)
{
    uint32_t first = first_element_of(d, f, field);
    bool null_when_absent = (field->marks & KC__POINTER) || field->shape != KC__SINGLE ||
                            field->kind == KC__FIELD_BYTES || field->kind == KC__FIELD_LIST;
    if (!first && null_when_absent) {
        kc_buf_puts(&d->out, "null");
        return 0;
    }
    if (field->shape == KC__REPEATED)
        return write_protobuf_list(d, field, first);
    if (field->shape == KC__MAPPED)
        return write_map(d, field, first);
    if (is_scalar(field))
        return write_scalar_member(d, f, field);
    return write_value(d, field, (kc__protobuf_input){.chain = first});
}

static bool is_empty_text(kc_str text)
{
    static const char *const empty[] = {"null", "\"\"", "0", "false", "[]"};
    if (text.n > strlen("false"))
        return false;
    for (size_t i = 0; i < KC_COUNT(empty); i++) {
        if (kc_str_is(text, empty[i]))
            return true;
    }
    return false;
}

static bool is_left_out(const kc__type_field *field, bool present, kc_str text)
{
    if (field->marks & KC__POINTER)
        return !present && (field->marks & KC__OMIT_EMPTY);
    if (is_struct(field))
        return (field->marks & KC__OMIT_ZERO) && kc_str_is(text, "null");
    return (field->marks & KC__OMIT_EMPTY) && is_empty_text(text);
}

/* The common case, decided without writing the value. */
static bool is_absent(const kc__protobuf_decoder *d, const message_frame *f,
                      const kc__type_field *field)
{
    return (field->marks & KC__OMIT_EMPTY) && !first_element_of(d, f, field) &&
           ((field->marks & KC__POINTER) || !is_struct(field));
}

/* Writes `"name":`, after a comma unless the object is still empty. */
static void write_name(kc__protobuf_decoder *d, kc_str name)
{
    char *to = kc_buf_reserve(&d->out, name.n + 4);
    if (!to)
        return;
    char *start = to;
    if (d->out.n && to[-1] != '{')
        *to++ = ',';
    *to++ = '"';
    memcpy(to, name.p, name.n);
    to += name.n;
    *to++ = '"';
    *to++ = ':';
    d->out.n += (size_t)(to - start);
}

static int write_protobuf_member(kc__protobuf_decoder *d, const message_frame *f,
                                 const kc__type_field *field)
{
    size_t start = d->out.n;
    if (is_absent(d, f, field))
        return 0;
    write_name(d, field->name);
    size_t value = d->out.n;
    int r = write_member_value(d, f, field);
    if (r < 0 || (r = check_room(d)) < 0)
        return r;
    kc_str text = kc_str_sub(kc_buf_str(&d->out), value, d->out.n);
    if (is_left_out(field, first_element_of(d, f, field) != 0, text))
        d->out.n = start;
    return 0;
}

static int write_protobuf_members(kc__protobuf_decoder *d, const message_frame *f);

/* Writes the members of an embedded struct among those of its parent. */
static int write_inline(kc__protobuf_decoder *d, const message_frame *f,
                        const kc__type_field *field)
{
    uint32_t first = first_element_of(d, f, field);
    message_frame inner;
    if (field->number == 0 || (!first && (field->marks & KC__POINTER)))
        return 0; /* A TypeMeta, which only the envelope sets. */
    int r = open_frame(d, field->message, (kc__protobuf_input){.chain = first}, &inner);
    if (r < 0)
        return r;
    r = write_protobuf_members(d, &inner);
    close_frame(d, &inner);
    return r;
}

static int write_protobuf_members(kc__protobuf_decoder *d, const message_frame *f)
{
    for (size_t i = 0; i < f->message->n_fields; i++) {
        const kc__type_field *field = &f->message->fields[i];
        int r = enter_protobuf_message(d, field);
        if (r == 0)
            r = field->marks & KC__INLINE ? write_inline(d, f, field)
                                          : write_protobuf_member(d, f, field);
        if (r < 0)
            return r;
        leave_protobuf_message(d);
    }
    return 0;
}

static int write_root(kc__protobuf_decoder *d, const kc__protobuf_root *root)
{
    kc_buf_puts(&d->out, "\"kind\":");
    int r = kc__protobuf_write_string(d, root->kind);
    if (r < 0)
        return r;
    kc_buf_puts(&d->out, ",\"apiVersion\":");
    return kc__protobuf_write_string(d, root->api_version);
}

int kc__protobuf_write_message(kc__protobuf_decoder *d, const kc__type_message *message,
                               kc__protobuf_input in, const kc__protobuf_root *root)
{
    message_frame f;
    int r = open_frame(d, message, in, &f);
    if (r < 0)
        return r;
    kc_buf_putc(&d->out, '{');
    if (root)
        r = write_root(d, root);
    if (r == 0)
        r = write_protobuf_members(d, &f);
    kc_buf_putc(&d->out, '}');
    close_frame(d, &f);
    return r;
}
