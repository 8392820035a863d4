/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proto.c: reads generated.proto, as much of the language as those files use:
 *
 *     syntax, package, import, option            package is kept
 *     message NAME { field* }
 *     field: (optional | repeated | required) TYPE name = NUMBER ;
 *            map<string, TYPE> name = NUMBER ;
 *
 * and the comment before each message and field. Anything else (enum, oneof, nested messages, field
 * options, other keys of maps) ends the build: should a later release use it, somebody must decide
 * what it means in JSON.
 */
#include "lexer.h"
#include "model.h"

kc_str comment_of(kc_str before)
{
    size_t from = 0;
    for (size_t i = 1; i < before.n; i++) {
        if (before.p[i] == '\n' && before.p[i - 1] == '\n')
            from = i;
    }
    return kc_str_sub(before, from, before.n);
}

kc_str marker(kc_str comment, const char *name, size_t *at)
{
    size_t start = at ? *at : 0;
    kc_str rest = kc_str_sub(comment, start, comment.n);
    while (rest.p) {
        kc_str line = kc_str_trim(kc_str_cut(&rest, '\n'));
        if (!kc_str_starts(line, KC_STR("//")))
            continue;
        line = kc_str_trim(kc_str_sub(line, 2, line.n));
        kc_str key = kc_str_cut(&line, '=');
        if (key.n < 2 || key.p[0] != '+' || !kc_str_is(kc_str_sub(key, 1, key.n), name))
            continue;
        if (at)
            *at = rest.p ? (size_t)(rest.p - comment.p) : comment.n;
        return line.p ? kc_str_trim(line) : KC_STR("");
    }
    return (kc_str){0};
}

/* A type: a word, or words joined by dots. */
static kc_str read_type(lexer *lex)
{
    kc_str first = lex->now.text;
    if (!lexer_skip(lex, "."))
        lexer_word(lex);
    while (lex->now.kind == TOKEN_WORD && lex->now.text.p[-1] == '.') {
        kc_str word = lexer_word(lex);
        first.n = (size_t)(word.p + word.n - first.p);
        lexer_skip(lex, ".");
    }
    return first;
}

static uint16_t read_number(lexer *lex)
{
    int line = lex->now.line;
    uint64_t number;
    kc_str word = lexer_word(lex);
    if (!kc_str_to_u64(word, &number) || number == 0 || number > UINT16_MAX)
        fail_at(lex->path, line, "'%.*s' is no field number from 1 to 65535", KC_ARG(word));
    return (uint16_t)number;
}

static void read_map_type(lexer *lex, field *f)
{
    f->shape = KC__MAPPED;
    lexer_expect(lex, "<");
    lexer_expect(lex, "string");
    lexer_expect(lex, ",");
    f->type = read_type(lex);
    lexer_expect(lex, ">");
}

static void read_field(lexer *lex, message *msg)
{
    field *f = kc_vec_add(&msg->read);
    f->line = lex->now.line;
    f->markers = comment_of(lex->now.before);
    if (lexer_skip(lex, "map")) {
        read_map_type(lex, f);
    } else {
        f->shape = lexer_at(lex, "repeated") ? KC__REPEATED : KC__SINGLE;
        if (!lexer_skip(lex, "repeated") && !lexer_skip(lex, "required"))
            lexer_expect(lex, "optional");
        f->type = read_type(lex);
    }
    f->proto_name = lexer_word(lex);
    lexer_expect(lex, "=");
    f->number = read_number(lex);
    lexer_expect(lex, ";");
}

static void read_message(model *m, package *p, lexer *lex)
{
    message *msg = kc_arena_new(&m->arena, message);
    msg->package = p;
    msg->line = lex->now.line;
    msg->markers = comment_of(lex->now.before);
    lexer_expect(lex, "message");
    msg->proto_name = lexer_word(lex);
    lexer_expect(lex, "{");
    while (!lexer_closes(lex, "}"))
        read_field(lex, msg);
    kc_vec_push(&p->messages, msg);
}

/* "k8s.io.api.core.v1" */
static kc_str read_package_name(lexer *lex)
{
    kc_str name = lexer_word(lex);
    while (lexer_skip(lex, ".")) {
        kc_str word = lexer_word(lex);
        name.n = (size_t)(word.p + word.n - name.p);
    }
    lexer_expect(lex, ";");
    return name;
}

void read_proto(model *m, package *p)
{
    lexer lex = lexer_of(p->proto_path, model_file(m, p->proto_path));
    while (lex.now.kind != TOKEN_END) {
        if (lexer_at(&lex, "message")) {
            read_message(m, p, &lex);
        } else if (lexer_skip(&lex, "package")) {
            p->name = read_package_name(&lex);
        } else if (lexer_at(&lex, "syntax") || lexer_at(&lex, "import") ||
                   lexer_at(&lex, "option")) {
            while (!lexer_closes(&lex, ";"))
                lexer_step(&lex);
        } else {
            fail_at(lex.path, lex.now.line, "'%.*s' is not known here: see proto.c",
                    KC_ARG(lex.now.text));
        }
    }
    if (!p->name.n)
        fail_at(p->proto_path, 1, "this file names no package");
}
