/* SPDX-License-Identifier: Apache-2.0 */
/*
 * golang.c: reads from Go files the types that are structs, lists or enumerations, and constants
 * that are strings.
 *
 * Only declarations at the start of a line are looked at ("type X struct {", "const ("), which
 * gofmt guarantees for those of a package; functions are stepped over word by word. Of a struct
 * each field has a name (or is embedded), a type and a tag. Types are printed as Go's reflection
 * prints them, because messages of its JSON decoder show that: named types with their package's
 * last name ("v1.PodSpec"), bytes as uint8.
 */
#include "lexer.h"
#include "model.h"

#include "kc/ascii.h"
#include "kc/buf.h"

typedef struct reader {
    model *m;
    package *p;
    lexer lex;
    kc_map imports; /* Alias to path, in the arena. */
    kc_str comment; /* Before the declaration that is read. */
} reader;

/* "k8s.io/api/core/v1" to "k8s.io.api.core.v1". */
static char *dotted(reader *r, kc_str path)
{
    char *name = kc_arena_strndup(&r->m->arena, path.p, path.n);
    for (char *c = name; *c; c++)
        *c = *c == '/' ? '.' : *c;
    return name;
}

static kc_str last_part(kc_str path)
{
    return kc_str_sub(path, (size_t)(kc_str_rfind(path, '/') + 1), path.n);
}

/* import "path", import alias "path", or several in parentheses. */
static void read_import(reader *r)
{
    kc_str alias = {0};
    if (r->lex.now.kind == TOKEN_WORD || lexer_at(&r->lex, "."))
        alias = lexer_step(&r->lex).text;
    token path = lexer_step(&r->lex);
    if (path.kind != TOKEN_STRING)
        fail_at(r->lex.path, path.line, "expected the path of a package here");
    kc_str *kept = kc_arena_new(&r->m->arena, kc_str);
    *kept = kc_str_sub(path.text, 1, path.text.n - 1);
    kc_map_put(&r->imports, alias.n ? alias : last_part(*kept), kept);
}

static bool is_builtin(kc_str word)
{
    static const char *const names[] = {
        "string",  "bool",  "int", "int32", "int64",  "uint32", "uint64", "uint8",    "float32",
        "float64", "error", "any", "map",   "struct", "func",   "chan",   "interface"};
    for (size_t i = 0; i < KC_COUNT(names); i++) {
        if (kc_str_is(word, names[i]))
            return true;
    }
    return false;
}

/* A word of a type: builtin, of this package, or alias.Name. */
static void read_type_word(reader *r, go_field *f, kc_buf *out)
{
    int line = r->lex.now.line;
    kc_str word = lexer_word(&r->lex);
    if (kc_str_is(word, "byte"))
        word = KC_STR("uint8");
    if (is_builtin(word)) {
        kc_buf_append(out, word);
        return;
    }
    kc_str path = r->p->name;
    kc_str shown = kc_str_sub(path, (size_t)(kc_str_rfind(path, '.') + 1), path.n);
    if (lexer_skip(&r->lex, ".")) {
        kc_str *import = kc_map_get(&r->imports, word);
        if (!import)
            fail_at(r->lex.path, line, "no import is called '%.*s'", KC_ARG(word));
        path = *import;
        shown = last_part(path);
        word = lexer_word(&r->lex);
    }
    f->package = dotted(r, path);
    f->type_name = word;
    kc_buf_printf(out, "%.*s.%.*s", KC_ARG(shown), KC_ARG(word));
}

/* A type up to the end of its line or a tag. */
static void read_type(reader *r, go_field *f)
{
    kc_scoped(kc_buf) out = {0};
    int line = r->lex.now.line;
    f->pointer = lexer_skip(&r->lex, "*");
    while (r->lex.now.line == line && r->lex.now.kind != TOKEN_RAW &&
           r->lex.now.kind != TOKEN_END && !lexer_at(&r->lex, "}")) {
        if (r->lex.now.kind == TOKEN_WORD)
            read_type_word(r, f, &out);
        else
            kc_buf_append(&out, lexer_step(&r->lex).text);
    }
    f->type = kc_arena_strndup(&r->m->arena, kc_buf_cstr(&out), out.n);
}

/* Whether the word at the front is a field's name, not the type of an embedded struct: a type
 * follows it on the line. */
static bool names_a_field(const reader *r)
{
    lexer ahead = r->lex;
    token word = lexer_step(&ahead);
    return word.kind == TOKEN_WORD && ahead.now.line == word.line && ahead.now.kind != TOKEN_RAW &&
           !lexer_at(&ahead, ".");
}

static void read_field(reader *r, go_type *type)
{
    go_field *f = kc_vec_add(&type->fields);
    f->line = r->lex.now.line;
    f->embedded = !names_a_field(r);
    if (!f->embedded)
        f->name = lexer_word(&r->lex);
    read_type(r, f);
    if (f->embedded)
        f->name = f->type_name;
    if (r->lex.now.kind == TOKEN_RAW && r->lex.now.line == f->line)
        f->tag = lexer_step(&r->lex).text;
}

static void read_struct(reader *r, go_type *type)
{
    lexer_expect(&r->lex, "{");
    while (!lexer_closes(&r->lex, "}"))
        read_field(r, type);
}

/* type NAME struct {…}, type NAME []string, type NAME other.Name */
static void read_type_declaration(reader *r)
{
    go_type *type = kc_arena_new(&r->m->arena, go_type);
    type->path = r->lex.path;
    type->name = lexer_word(&r->lex);
    type->is_list = lexer_at(&r->lex, "[");
    bool marked = marker(r->comment, "enum", NULL).p != NULL;
    bool renames = lexer_skip(&r->lex, "=");
    type->is_enum = lexer_at(&r->lex, "string") && marked;
    if (lexer_skip(&r->lex, "struct")) {
        read_struct(r, type);
    } else if (!lexer_at(&r->lex, "interface") && !lexer_at(&r->lex, "func")) {
        go_field as = {0};
        read_type(r, &as);
        type->text = as.type;
        if (!type->is_list) {
            type->same_package = as.package;
            type->same_name = as.type_name;
        }
    }
    if (renames && !marked && type->same_package)
        kc_map_put(&r->m->not_enums,
                   kc_cstr(kc_arena_printf(&r->m->arena, "%s.%.*s", type->same_package,
                                           KC_ARG(type->same_name))),
                   type);
    kc_map_put(&r->p->go_types, type->name, type);
}

static void keep_constant(reader *r, go_constant constant)
{
    if (constant.value.n) {
        kc_str *kept = kc_arena_new(&r->m->arena, kc_str);
        *kept = constant.value;
        kc_map_put(&r->p->constants, constant.name, kept);
    }
    if (constant.type.n)
        kc_vec_push(&r->p->typed, constant);
}

/* "text" or the name of another constant. */
static void read_constant_value(reader *r, go_constant *constant)
{
    go_field as = {0};
    kc_scoped(kc_buf) text = {0};
    if (r->lex.now.kind == TOKEN_STRING) {
        constant->value = lexer_step(&r->lex).text;
    } else if (r->lex.now.kind == TOKEN_WORD && !kc_is_digit(r->lex.now.text.p[0])) {
        read_type_word(r, &as, &text);
        constant->same_package = as.package;
        constant->same_name = as.type_name;
    }
}

/* TYPE( at the front, stepped over. */
static bool skip_conversion(reader *r, go_constant *constant)
{
    lexer ahead = r->lex;
    if (ahead.now.kind != TOKEN_WORD)
        return false;
    kc_str type = lexer_step(&ahead).text;
    if (!lexer_skip(&ahead, "("))
        return false;
    constant->type = type;
    r->lex = ahead;
    return true;
}

/* NAME [TYPE] = VALUE or NAME = TYPE(VALUE), behind NAME. Anything else than strings is left. */
static void read_assignment(reader *r, go_constant *constant)
{
    if (r->lex.now.kind == TOKEN_WORD)
        constant->type = lexer_word(&r->lex);
    if (!lexer_skip(&r->lex, "="))
        return;
    bool converts = !constant->type.n && skip_conversion(r, constant);
    if (constant->type.n || r->lex.now.kind == TOKEN_STRING)
        read_constant_value(r, constant);
    if (converts)
        lexer_skip(&r->lex, ")");
    if (constant->value.n || constant->same_package)
        keep_constant(r, *constant);
}

/* One line of constants, of which several are stepped over. */
static void read_constant(reader *r)
{
    int line = r->lex.now.line;
    go_constant constant = {.comment = r->comment};
    constant.name = lexer_step(&r->lex).text;
    if (r->lex.now.line == line)
        read_assignment(r, &constant);
    for (int open = 0; r->lex.now.line == line && r->lex.now.kind != TOKEN_END;) {
        open += lexer_at(&r->lex, "(") - lexer_at(&r->lex, ")");
        if (open < 0)
            return;
        lexer_step(&r->lex);
    }
}

/* One of something, or several in parentheses. */
static void read_group(reader *r, void (*one)(reader *r))
{
    if (!lexer_skip(&r->lex, "(")) {
        one(r);
        return;
    }
    while (!lexer_closes(&r->lex, ")")) {
        r->comment = comment_of(r->lex.now.before);
        one(r);
    }
}

static bool at_line_start(const reader *r)
{
    kc_str text = r->lex.now.text;
    return text.p == r->lex.text.p || text.p[-1] == '\n';
}

void read_go(model *m, package *p, const char *path)
{
    reader r = {.m = m, .p = p, .lex = lexer_of(path, model_file(m, path))};
    while (r.lex.now.kind != TOKEN_END) {
        bool top = at_line_start(&r);
        r.comment = comment_of(r.lex.now.before);
        if (top && lexer_skip(&r.lex, "import"))
            read_group(&r, read_import);
        else if (top && lexer_skip(&r.lex, "type"))
            read_group(&r, read_type_declaration);
        else if (top && lexer_skip(&r.lex, "const"))
            read_group(&r, read_constant);
        else
            lexer_step(&r.lex);
    }
    kc_map_done(&r.imports);
}
