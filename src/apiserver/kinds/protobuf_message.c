/* SPDX-License-Identifier: Apache-2.0 */
/*
 * protobuf_message.c: a message to a JSON object, its lists and maps.
 *
 * Fields come in any order and any number of times; JSON has Go's order, each once. So a message is
 * first read whole, each element put behind those of its field, and then written field by field.
 * The rules of proto2 fall out of the chains: of a scalar the last element counts, a list is all of
 * them, and an embedded message is the bytes of all of them one after the other, which is what
 * merging means. Unknown fields are stepped over.
 *
 * What is left out of JSON is decided on the text of a value once it is written: Go leaves out
 * what is "", 0, false, null or [], unless it is a struct or a pointer to something. Then the text
 * is taken back.
 */
#include "apiserver/kinds/protobuf_internal.h"

/* A message that was read: its place in the decoder's stacks. */
typedef struct frame {
    const kc__message *message;
    size_t elements, heads;
} frame;

/* ---- where we are ---- */

static int enter(kc__decoder *d, const kc__field *field)
{
    if (d->depth >= KC__PROTOBUF_MAX_DEPTH)
        return kc__protobuf_fail(d, "it is nested too deeply");
    d->path[d->depth++] = (kc__step){field, SIZE_MAX};
    return 0;
}

static void leave(kc__decoder *d)
{
    d->depth--;
}

static int check_room(kc__decoder *d)
{
    if (d->out.failed)
        return kc_error_set(d->err, KC_TOO_LARGE, "protobuf: the object is too large");
    return 0;
}

/* ---- reading ---- */

static bool is_scalar(const kc__field *field)
{
    return field->kind < KC__FIELD_MESSAGE;
}

/* Numbers of a list may stand in one run of bytes. */
static bool is_packed(const kc__field *field, const kc__element *e)
{
    return field->shape == KC__REPEATED && is_scalar(field) && e->wire == KC__DELIMITED &&
           kc__scalar_wire(field->kind) != KC__DELIMITED;
}

static int check_wire(kc__decoder *d, const kc__field *field, const kc__element *e)
{
    bool plain = is_scalar(field) && field->shape != KC__MAPPED;
    if (is_packed(field, e))
        return 0;
    int r = enter(d, field);
    if (r == 0)
        r = kc__element_expect(d, e, plain ? kc__scalar_wire(field->kind) : KC__DELIMITED);
    if (r == 0)
        leave(d);
    return r;
}

/* Puts an element behind those of its field. */
static void chain(kc__decoder *d, const frame *f, const kc__field *field, kc__element e)
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

static int read_run(kc__decoder *d, const frame *f, kc_str rest)
{
    while (rest.n) {
        uint32_t number;
        kc__element e;
        int r = kc__element_next(d, &rest, &number, &e);
        if (r < 0)
            return r;
        const kc__field *field = kc__message_numbered(f->message, number);
        if (!field)
            continue;
        if ((r = check_wire(d, field, &e)) < 0)
            return r;
        chain(d, f, field, e);
    }
    return 0;
}

static int open_frame(kc__decoder *d, const kc__message *message, kc__input in, frame *ret)
{
    frame f = {message, d->elements.n, d->heads.n};
    for (size_t i = 0; i < 2u * message->n_fields; i++)
        kc_vec_push(&d->heads, 0);
    int r = in.chain ? 0 : read_run(d, &f, in.bytes);
    for (uint32_t at = in.chain; r == 0 && at; at = d->elements.items[at - 1].next)
        r = read_run(d, &f, d->elements.items[at - 1].bytes);
    if (r == 0)
        *ret = f;
    return r;
}

static void close_frame(kc__decoder *d, const frame *f)
{
    d->elements.n = f->elements;
    d->heads.n = f->heads;
}

static uint32_t first_of(const kc__decoder *d, const frame *f, const kc__field *field)
{
    return d->heads.items[f->heads + 2 * (size_t)(field - f->message->fields)];
}

static uint32_t last_of(const kc__decoder *d, const frame *f, const kc__field *field)
{
    return d->heads.items[f->heads + 2 * (size_t)(field - f->message->fields) + 1];
}

/* ---- values ---- */

static int write_list(kc__decoder *d, const kc__field *field, uint32_t first);
static int write_scalar_member(kc__decoder *d, const frame *f, const kc__field *field);

/* A message that is a list: there, if perhaps empty. */
static int write_list_message(kc__decoder *d, const kc__message *message, kc__input in)
{
    frame f;
    int r = open_frame(d, message, in, &f);
    if (r < 0)
        return r;
    uint32_t first = first_of(d, &f, &message->fields[0]);
    if (first)
        r = write_list(d, &message->fields[0], first);
    else
        kc_buf_puts(&d->out, "[]");
    close_frame(d, &f);
    return r;
}

/* A schema, or what may stand in its place: a list of schemas (items), a boolean
 * (additionalProperties), a list of names (dependencies). The messages differ in their second
 * member, and a boolean comes first. */
static int write_either(kc__decoder *d, const kc__field *field, kc__input in)
{
    bool boolean = kc_str_ends(kc_cstr(field->go_type), KC_STR("OrBool"));
    bool names = field->shape == KC__MAPPED;
    const kc__field parts[] = {
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
    const kc__message either = {.fields = parts, .n_fields = 2, .by_number = by_number};
    frame f;
    int r = open_frame(d, &either, in, &f);
    if (r < 0)
        return r;
    uint32_t schema = first_of(d, &f, &parts[0]), other = first_of(d, &f, &parts[1]);
    if (other && !boolean)
        r = write_list(d, &parts[1], other);
    else if (schema)
        r = kc__message_write(d, field->message, (kc__input){.chain = schema}, NULL);
    else if (boolean)
        r = write_scalar_member(d, &f, &parts[1]);
    else
        kc_buf_puts(&d->out, "null");
    close_frame(d, &f);
    return r;
}

/* A value that is there: of a single field, an item or a map. */
static int write_value(kc__decoder *d, const kc__field *field, kc__input in)
{
    if (field->kind == KC__FIELD_MESSAGE)
        return kc__message_write(d, field->message, in, NULL);
    if (field->kind == KC__FIELD_LIST)
        return write_list_message(d, field->message, in);
    if (field->kind == KC__FIELD_EITHER)
        return write_either(d, field, in);
    return kc__special_write(d, field->kind, in);
}

static int write_element(kc__decoder *d, const kc__field *field, const kc__element *e)
{
    if (is_scalar(field))
        return kc__scalar_write(d, field->kind, e);
    return write_value(d, field, (kc__input){.bytes = e->bytes});
}

static void begin_item(kc__decoder *d, size_t *n)
{
    if (*n)
        kc_buf_putc(&d->out, ',');
    d->path[d->depth - 1].index = (*n)++;
}

static int write_packed(kc__decoder *d, const kc__field *field, kc_str rest, size_t *n)
{
    kc__wire wire = kc__scalar_wire(field->kind);
    while (rest.n) {
        kc__element e = {.wire = wire};
        int r = kc__packed_next(d, &rest, &e);
        if (r < 0)
            return r;
        begin_item(d, n);
        if ((r = kc__scalar_write(d, field->kind, &e)) < 0 || (r = check_room(d)) < 0)
            return r;
    }
    return 0;
}

static int write_item(kc__decoder *d, const kc__field *field, kc__element e, size_t *n)
{
    if (is_packed(field, &e))
        return write_packed(d, field, e.bytes, n);
    begin_item(d, n);
    int r = write_element(d, field, &e);
    return r < 0 ? r : check_room(d);
}

static int write_list(kc__decoder *d, const kc__field *field, uint32_t first)
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
        d->out.n = start; /* No packed numbers are no list in Go. */
        kc_buf_puts(&d->out, "null");
    }
    return 0;
}

/* ---- maps ---- */

typedef struct entry {
    kc_str key;
    kc__element value;
    size_t order;
} entry;

typedef KC_VEC(entry) entries;

static void entries_done(entries *all)
{
    kc_vec_done(all);
}

static int compare_entries(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    int order = kc_str_cmp(x->key, y->key);
    return order ? order : (x->order > y->order) - (x->order < y->order);
}

static int read_entries(kc__decoder *d, const kc__field *field, uint32_t first, entries *all)
{
    const kc__wire wires[] = {KC__DELIMITED, kc__scalar_wire(field->kind)};
    for (uint32_t at = first; at; at = d->elements.items[at - 1].next) {
        kc__element e[2] = {0};
        kc__input in = {.bytes = d->elements.items[at - 1].bytes};
        int r = kc__elements_read(d, in, wires, 2, e);
        if (r < 0)
            return r;
        kc_vec_push(all, (entry){e[0].bytes, e[1], all->n});
    }
    kc_vec_sort(all, compare_entries);
    return 0;
}

static int write_entry(kc__decoder *d, const kc__field *field, const entry *e, bool comma)
{
    if (comma)
        kc_buf_putc(&d->out, ',');
    int r = kc__string_write(d, e->key);
    if (r < 0)
        return r;
    kc_buf_putc(&d->out, ':');
    r = write_element(d, field, &e->value);
    return r < 0 ? r : check_room(d);
}

/* Sorted by key, as Go writes maps; of the same key the last counts. */
static int write_map(kc__decoder *d, const kc__field *field, uint32_t first)
{
    kc_scoped(entries) all = {0};
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

/* Kinds that are structs in Go: they have a zero, but none that is left out. */
static bool is_struct(const kc__field *field)
{
    return field->shape == KC__SINGLE &&
           (field->kind == KC__FIELD_MESSAGE || kc__is_special(field->kind));
}

static int write_scalar_member(kc__decoder *d, const frame *f, const kc__field *field)
{
    static const kc__element zero = {0};
    uint32_t last = last_of(d, f, field);
    kc__element e = last ? d->elements.items[last - 1] : zero;
    return kc__scalar_write(d, field->kind, &e);
}

static int write_member_value(kc__decoder *d, const frame *f, const kc__field *field)
{
    uint32_t first = first_of(d, f, field);
    bool null_when_absent = (field->marks & KC__POINTER) || field->shape != KC__SINGLE ||
                            field->kind == KC__FIELD_BYTES || field->kind == KC__FIELD_LIST;
    if (!first && null_when_absent) {
        kc_buf_puts(&d->out, "null");
        return 0;
    }
    if (field->shape == KC__REPEATED)
        return write_list(d, field, first);
    if (field->shape == KC__MAPPED)
        return write_map(d, field, first);
    if (is_scalar(field))
        return write_scalar_member(d, f, field);
    return write_value(d, field, (kc__input){.chain = first});
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

static bool is_left_out(const kc__field *field, bool present, kc_str text)
{
    if (field->marks & KC__POINTER)
        return !present && (field->marks & KC__OMIT_EMPTY);
    if (is_struct(field))
        return (field->marks & KC__OMIT_ZERO) && kc_str_is(text, "null");
    return (field->marks & KC__OMIT_EMPTY) && is_empty_text(text);
}

/* The common case, which needs no text to decide. */
static bool is_absent(const kc__decoder *d, const frame *f, const kc__field *field)
{
    return (field->marks & KC__OMIT_EMPTY) && !first_of(d, f, field) &&
           ((field->marks & KC__POINTER) || !is_struct(field));
}

/* `"name":`, after a comma unless the object is empty yet. */
static void write_name(kc__decoder *d, kc_str name)
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

static int write_member(kc__decoder *d, const frame *f, const kc__field *field)
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
    if (is_left_out(field, first_of(d, f, field) != 0, text))
        d->out.n = start;
    return 0;
}

static int write_members(kc__decoder *d, const frame *f);

/* The members of an embedded struct, among those of its parent. */
static int write_inline(kc__decoder *d, const frame *f, const kc__field *field)
{
    uint32_t first = first_of(d, f, field);
    frame inner;
    if (field->number == 0 || (!first && (field->marks & KC__POINTER)))
        return 0; /* A TypeMeta, which only the envelope fills. */
    int r = open_frame(d, field->message, (kc__input){.chain = first}, &inner);
    if (r < 0)
        return r;
    r = write_members(d, &inner);
    close_frame(d, &inner);
    return r;
}

static int write_members(kc__decoder *d, const frame *f)
{
    for (size_t i = 0; i < f->message->n_fields; i++) {
        const kc__field *field = &f->message->fields[i];
        int r = enter(d, field);
        if (r == 0)
            r = field->marks & KC__INLINE ? write_inline(d, f, field) : write_member(d, f, field);
        if (r < 0)
            return r;
        leave(d);
    }
    return 0;
}

static int write_root(kc__decoder *d, const kc__root *root)
{
    kc_buf_puts(&d->out, "\"kind\":");
    int r = kc__string_write(d, root->kind);
    if (r < 0)
        return r;
    kc_buf_puts(&d->out, ",\"apiVersion\":");
    return kc__string_write(d, root->api_version);
}

int kc__message_write(kc__decoder *d, const kc__message *message, kc__input in,
                      const kc__root *root)
{
    frame f;
    int r = open_frame(d, message, in, &f);
    if (r < 0)
        return r;
    kc_buf_putc(&d->out, '{');
    if (root)
        r = write_root(d, root);
    if (r == 0)
        r = write_members(d, &f);
    kc_buf_putc(&d->out, '}');
    close_frame(d, &f);
    return r;
}
