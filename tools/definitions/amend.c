/* SPDX-License-Identifier: Apache-2.0 */
/*
 * amend.c: what Kubernetes has and the packaged definitions do not have yet.
 *
 * A file of amendments (amendments.txt) states facts, one a line. Words stand apart by spaces; '#'
 * begins a comment.
 *
 *     package k8s.io.api.core.v1        the messages below are of this package
 *     message NAME [like FULL] [WORD…]  a message that the packages may lack, described as another
 *                                       one is
 *     kind NAME [like FULL]             the same for one with kind and apiVersion
 *     amend NAME                        a message that the packages have
 *     same NAME…                        fields as the message behind `like` has them, references
 *                                       within its package renamed
 *     field NAME NUMBER TYPE [WORD…]    a field of the message above
 *     set NAME WORD…                    what else holds of a field that is there
 *     enum NAME VALUE…                  values of a string type of the package
 *     plain NAME                        a string type whose values OpenAPI does not list
 *     : TEXT                            the description of what stands above
 *
 * NAME of a field is that in JSON; '-' is an embedded struct, whose fields are the parent's. TYPE
 * is a scalar of protobuf, a message of the same package, or a full name, behind `repeated` or
 * `map` for lists and maps by strings. amend_words.c has the WORDs.
 *
 * The package wins. Where it has a message, a field, a value or a default, the amendment must say
 * the same, and then changes nothing. One that says something else ends the build with its line, so
 * a newer package cannot silently be bent into an older one.
 */
#include "amend_internal.h"
#include "lexer.h"

/* ---- finding ---- */

static message *find_message(const amending *a, kc_str name)
{
    kc_scoped(kc_buf) full = {0};
    if (kc_str_find(name, '.') < 0)
        kc_buf_printf(&full, "%.*s.", KC_ARG(a->package->name));
    kc_buf_append(&full, name);
    return kc_map_get(&a->m->by_name, kc_buf_str(&full));
}

message *amend_message(const amending *a, kc_str name)
{
    message *msg = find_message(a, name);
    if (!msg)
        fail_at(a->path, a->line, "no message is called '%.*s'", KC_ARG(name));
    return msg;
}

/* The place of a field among those of a message; -1: it has none of that name. */
static ptrdiff_t field_place(const message *msg, kc_str name)
{
    for (size_t i = 0; i < msg->fields.n; i++) {
        if (kc_str_eq(msg->fields.items[i].name, name))
            return (ptrdiff_t)i;
    }
    return -1;
}

static ptrdiff_t inline_place(const message *msg, const field *embedded)
{
    for (size_t i = 0; i < msg->fields.n; i++) {
        const field *f = &msg->fields.items[i];
        if (!f->name.n && f->message == embedded->message)
            return (ptrdiff_t)i;
    }
    return -1;
}

static size_t need_field(const amending *a, const message *msg, kc_str name)
{
    ptrdiff_t place = field_place(msg, name);
    if (place < 0)
        fail_at(a->path, a->line, "%.*s has no field '%.*s'", KC_ARG(msg->name), KC_ARG(name));
    return (size_t)place;
}

/* ---- packages and messages ---- */

static void use_package(amending *a, kc_str name)
{
    a->package = model_package(a->m, name);
    a->msg = NULL;
    if (a->package)
        return;
    a->package = kc_arena_new(&a->m->arena, package);
    a->package->folder = a->package->proto_path = a->path;
    a->package->name = name;
    kc_vec_push(&a->m->packages, a->package);
}

/* In the first round, so that fields can refer to messages that stand further down. */
static void declare_message(amending *a, kc_str name)
{
    if (find_message(a, name))
        return;
    message *msg = kc_arena_new(&a->m->arena, message);
    msg->package = a->package;
    msg->proto_name = name;
    msg->line = a->line;
    msg->amended = true;
    register_message(a->m, msg);
    kc_vec_push(&a->package->messages, msg);
    kc_vec_push(&a->m->table, msg);
}

/* "[]v1beta1.Device" to "[]v1.Device". */
static const char *renamed_type(amending *a, const char *type, kc_str from, kc_str to)
{
    kc_scoped(kc_buf) out = {0};
    for (const char *c = type; *c;) {
        bool starts = c == type || strchr("[]*", c[-1]);
        if (starts && kc_str_starts(kc_cstr(c), from) && c[from.n] == '.') {
            kc_buf_append(&out, to);
            c += from.n;
        } else {
            kc_buf_putc(&out, *c++);
        }
    }
    return kc_arena_strndup(&a->m->arena, out.p, out.n);
}

static kc_str last_name(const package *p)
{
    return kc_str_sub(p->name, (size_t)(kc_str_rfind(p->name, '.') + 1), p->name.n);
}

static void copy_field(amending *a, const field *f)
{
    field copy = *f;
    if (f->message && f->message->package == a->like->package)
        copy.message = amend_message(a, f->message->proto_name);
    copy.go_type = renamed_type(a, f->go_type, last_name(a->like->package), last_name(a->package));
    kc_vec_push(&a->msg->fields, copy);
}

static void copy_fields(amending *a, kc_str names)
{
    a->text = NULL;
    for (kc_str name; (name = amend_word(&names)).n;) {
        if (!a->msg->amended) {
            need_field(a, a->msg, name);
            continue;
        }
        if (!a->like)
            fail_at(a->path, a->line, "%.*s is like no other message", KC_ARG(a->msg->name));
        copy_field(a, &a->like->fields.items[need_field(a, a->like, name)]);
    }
}

static void add_type_meta(amending *a)
{
    message *meta = amend_message(a, KC_STR("k8s.io.apimachinery.pkg.apis.meta.v1.TypeMeta"));
    kc_vec_push(&a->msg->fields, (field){.kind = KC__FIELD_MESSAGE,
                                         .marks = KC__INLINE,
                                         .message = meta,
                                         .go_type = "v1.TypeMeta"});
}

/* The second round; words stand behind the name. */
static void fill_message(amending *a, kc_str name, kc_str words, bool is_kind)
{
    field given = {0};
    kc_str rest = words, first = amend_word(&rest);
    a->msg = amend_message(a, name);
    a->like = kc_str_is(first, "like") ? find_message(a, amend_word(&rest)) : NULL;
    amend_read_words(a, &given, kc_str_is(first, "like") ? rest : words);
    a->text = a->msg->amended ? &a->msg->markers : NULL;
    if (!a->msg->amended && given.marks & ~a->msg->marks)
        fail_at(a->path, a->line, "%.*s: the packaged definitions have other markers",
                KC_ARG(a->msg->name));
    if (!a->msg->amended)
        return;
    a->msg->marks = given.marks | (a->like ? a->like->marks : 0);
    a->msg->markers = a->like ? a->like->markers : (kc_str){0};
    if (is_kind)
        add_type_meta(a);
}

/* ---- fields ---- */

/* What makes two fields different; NULL: nothing. */
static const char *difference(const field *a, const field *b)
{
#define SAME_TEXT(x, y) kc_str_eq(kc_cstr(x), kc_cstr(y))
    return a->number != b->number                            ? "number"
           : a->kind != b->kind                              ? "type"
           : a->shape != b->shape                            ? "shape"
           : a->message != b->message                        ? "message"
           : (a->marks ^ b->marks) & ~(unsigned)KC__DISABLED ? "set of markers"
           : a->enumeration != b->enumeration                ? "enumeration"
           : !SAME_TEXT(a->merge_key, b->merge_key)          ? "patchMergeKey"
           : !SAME_TEXT(a->list_keys, b->list_keys)          ? "set of listMapKeys"
           : !SAME_TEXT(a->fallback, b->fallback)            ? "default"
           : !SAME_TEXT(a->go_type, b->go_type)              ? "Go type"
                                                             : NULL;
#undef SAME_TEXT
}

static void insert_field(amending *a, const field *f, kc_str after)
{
    size_t at = a->msg->fields.n;
    if (after.p)
        at = after.n ? need_field(a, a->msg, after) + 1 : 0;
    kc_vec_add(&a->msg->fields);
    field *items = a->msg->fields.items;
    memmove(items + at + 1, items + at, (a->msg->fields.n - 1 - at) * sizeof(*items));
    items[at] = *f;
    a->text = &items[at].markers;
}

static void check_number_is_free(const amending *a, const field *given)
{
    kc_vec_each (&a->msg->fields, f) {
        if (f->number == given->number)
            fail_at(a->path, a->line, "%.*s.%.*s: the number %d is that of the field '%.*s'",
                    KC_ARG(a->msg->name), KC_ARG(given->name), f->number, KC_ARG(f->name));
    }
}

static void add_field(amending *a, kc_str name, kc_str words)
{
    field given = {.name = name, .line = a->line};
    amend_read_type(a, &given, &words);
    kc_str after = amend_read_words(a, &given, words);
    amend_finish_field(a, &given);
    if (kc_str_is(name, "-")) {
        given.name = KC_STR("");
        given.marks |= KC__INLINE;
    }
    ptrdiff_t place = given.name.n ? field_place(a->msg, name) : inline_place(a->msg, &given);
    a->text = NULL;
    if (place < 0) {
        check_number_is_free(a, &given);
        insert_field(a, &given, after);
        return;
    }
    const char *differs = difference(&a->msg->fields.items[place], &given);
    if (differs)
        fail_at(a->path, a->line, "%.*s.%.*s: the packaged definitions have another %s",
                KC_ARG(a->msg->name), KC_ARG(name), differs);
    a->msg->fields.items[place].marks |= given.marks;
}

/* A word of `set` must not contradict a default of the package. */
static void set_field(amending *a, kc_str name, kc_str words)
{
    field *f = &a->msg->fields.items[need_field(a, a->msg, name)];
    const char *fallback = f->fallback;
    amend_read_words(a, f, words);
    if (fallback && f->fallback && strcmp(fallback, f->fallback) != 0)
        fail_at(a->path, a->line, "%.*s.%.*s: the packaged definitions have the default %s",
                KC_ARG(a->msg->name), KC_ARG(name), fallback);
    a->text = a->msg->amended ? &f->markers : NULL;
}

/* ---- enumerations ---- */

static void add_values(amending *a, kc_str name, kc_str words)
{
    char *package_name = kc_arena_strndup(&a->m->arena, a->package->name.p, a->package->name.n);
    uint16_t place = enum_need(a->m, package_name, name);
    a->text = NULL;
    for (kc_str word; (word = amend_word(&words)).n;) {
        char *quoted = kc_arena_printf(&a->m->arena, "\"%.*s\"", KC_ARG(word));
        enum_add(&a->m->enums.items[place - 1], (go_constant){.value = kc_cstr(quoted)});
    }
}

static void forget_values(amending *a, kc_str name)
{
    char *package_name = kc_arena_strndup(&a->m->arena, a->package->name.p, a->package->name.n);
    uint16_t place = enum_find(a->m, package_name, name);
    if (!place)
        return;
    kc_vec_each (&a->m->table, msg) {
        kc_vec_each (&(*msg)->fields, f)
            f->enumeration = f->enumeration == place ? 0 : f->enumeration;
    }
}

/* ---- lines ---- */

/* Lines of a description are joined; the first replaces what `like` brought. */
static void add_text(amending *a, kc_str text)
{
    if (!a->text)
        return;
    kc_str before = a->described == a->text ? *a->text : (kc_str){0};
    *a->text =
        kc_cstr(kc_arena_printf(&a->m->arena, "%.*s// %.*s\n", KC_ARG(before), KC_ARG(text)));
    a->described = a->text;
}

/* A line that belongs to the message above; words stand behind the keyword. */
static void read_inner(amending *a, kc_str keyword, kc_str words)
{
    kc_str rest = words, name = amend_word(&rest);
    if (!a->msg)
        fail_at(a->path, a->line, "'%.*s' stands below no message", KC_ARG(keyword));
    if (kc_str_is(keyword, "field"))
        add_field(a, name, rest);
    else if (kc_str_is(keyword, "set"))
        set_field(a, name, rest);
    else if (kc_str_is(keyword, "same"))
        copy_fields(a, words);
    else
        fail_at(a->path, a->line, "'%.*s' is not known: see amend.c", KC_ARG(keyword));
}

/* A line of a keyword and a name, in the first round (declaring) or the second. */
static void read_statement(amending *a, kc_str keyword, kc_str words, bool declaring)
{
    kc_str rest = words, name = amend_word(&rest);
    bool is_kind = kc_str_is(keyword, "kind"), is_message = kc_str_is(keyword, "message");
    if (!name.n)
        fail_at(a->path, a->line, "'%.*s' needs a name", KC_ARG(keyword));
    if (kc_str_is(keyword, "package"))
        use_package(a, name);
    else if (!a->package)
        fail_at(a->path, a->line, "'%.*s' stands below no package", KC_ARG(keyword));
    else if (declaring && (is_kind || is_message))
        declare_message(a, name);
    else if (declaring)
        return;
    else if (is_kind || is_message)
        fill_message(a, name, rest, is_kind);
    else if (kc_str_is(keyword, "amend"))
        a->msg = amend_message(a, name), a->text = NULL;
    else if (kc_str_is(keyword, "enum"))
        add_values(a, name, rest);
    else if (kc_str_is(keyword, "plain"))
        forget_values(a, name);
    else
        read_inner(a, keyword, words);
}

static void read_line(amending *a, kc_str line, bool declaring)
{
    kc_str rest = line, keyword = amend_word(&rest);
    if (!keyword.n || keyword.p[0] == '#')
        return;
    if (!kc_str_is(keyword, ":")) {
        a->described = NULL;
        read_statement(a, keyword, rest, declaring);
    } else if (!declaring) {
        add_text(a, kc_str_trim(rest));
    }
}

static void read_lines(amending *a, kc_str text, bool declaring)
{
    a->line = 0;
    a->package = NULL;
    a->msg = NULL;
    while (text.p) {
        a->line++;
        read_line(a, kc_str_cut(&text, '\n'), declaring);
    }
}

void amend(model *m, const char *path)
{
    amending a = {.m = m, .path = path};
    kc_str text = model_file(m, path);
    read_lines(&a, text, true);
    read_lines(&a, text, false);
}
