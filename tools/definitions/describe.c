/* SPDX-License-Identifier: Apache-2.0 */
/*
 * describe.c: the words of the definitions, for OpenAPI.
 *
 * A comment becomes a description as Kubernetes' own generator makes one, since people compare:
 * lines of a paragraph are joined, an empty line stays, indented lines stand for themselves,
 * markers ("+optional") and lines that begin with TODO are left out, and nothing follows "---".
 *
 * All texts together are a megabyte, so they are written as one block that zlib has packed, and an
 * index of where each begins in it: of messages, of fields, of the kinds that are types of their
 * own, in the order of the tables. Versions of a group repeat each other's words: equal texts are
 * kept once.
 */
#include "lexer.h"
#include "model.h"

#include "kc/buf.h"

#include <zlib.h>

typedef struct texts {
    kc_buf block;           /* Each ends in a NUL; the first is empty. */
    kc_map places;          /* Text to its place, in the arena. */
    KC_VEC(uint32_t) index; /* Where each begins. */
} texts;

/* What was put last, a space or the end of a line, is taken back. */
static void take_back(kc_buf *out)
{
    out->n -= out->n > 0;
}

/* The line of a comment behind its slashes; p == NULL: there is none. */
static kc_str comment_line(kc_str line)
{
    line = kc_str_trim(line);
    if (!kc_str_starts(line, KC_STR("//")))
        return (kc_str){0};
    size_t from = line.n > 2 && line.p[2] == ' ' ? 3 : 2;
    return kc_str_of(line.p + from, line.n - from);
}

static void add_line(kc_buf *out, kc_str line)
{
    kc_str words = kc_str_trim(line);
    if (!line.n) {
        take_back(out);
        kc_buf_puts(out, "\n\n");
    } else if (kc_str_starts(words, KC_STR("TODO")) || words.p[0] == '+') {
        return;
    } else if (line.p[0] == ' ' || line.p[0] == '\t') {
        take_back(out);
        kc_buf_printf(out, "\n%.*s\n", KC_ARG(line));
    } else {
        kc_buf_printf(out, "%.*s ", KC_ARG(line));
    }
}

/* The description in a comment, with the values of an enumeration (NULL: none), in the arena. */
static kc_str description(model *m, kc_str comment, const enumeration *values)
{
    kc_scoped(kc_buf) out = {0};
    while (comment.p) {
        kc_str line = comment_line(kc_str_cut(&comment, '\n'));
        if (!line.p)
            continue;
        if (kc_str_is(line, "---"))
            break;
        add_line(&out, line);
    }
    kc_scoped(kc_buf) lines = {0};
    if (values)
        enum_describe(&lines, values);
    for (kc_str rest = kc_buf_str(&lines); values && rest.p;)
        add_line(&out, kc_str_cut(&rest, '\n'));
    return kc_arena_str(&m->arena, kc_str_trim(kc_buf_str(&out)));
}

static void add_text(model *m, texts *t, kc_str comment, const enumeration *values)
{
    kc_str text = description(m, comment, values);
    uint32_t *place = kc_map_get(&t->places, text);
    if (!place) {
        place = kc_arena_new(&m->arena, uint32_t);
        *place = (uint32_t)t->block.n;
        kc_map_put(&t->places, text, place);
        kc_buf_append(&t->block, text);
        kc_buf_putc(&t->block, 0);
    }
    kc_vec_push(&t->index, *place);
}

/* The comment of the message that is this kind of field; none for kinds that are no types. */
static kc_str special_comment(const model *m, kc__type_field_kind kind)
{
    kc_map_each (&m->by_name, entry) {
        const message *msg = entry->value;
        if (msg->special && msg->kind == kind)
            return msg->markers;
    }
    return (kc_str){0};
}

/* Lists and maps of an enumeration do not describe its values. */
static const enumeration *described_values(const model *m, const field *f)
{
    return f->enumeration && f->shape == KC__SINGLE ? &m->enums.items[f->enumeration - 1] : NULL;
}

static void collect(model *m, texts *t)
{
    add_text(m, t, (kc_str){0}, NULL);
    t->index.n = 0;
    kc_vec_each (&m->table, msg)
        add_text(m, t, (*msg)->markers, NULL);
    kc_vec_each (&m->table, msg) {
        kc_vec_each (&(*msg)->fields, f)
            add_text(m, t, f->markers, described_values(m, f));
    }
    for (int kind = 0; kind <= KC__FIELD_LIST; kind++)
        add_text(m, t, special_comment(m, (kc__type_field_kind)kind), NULL);
}

static void write_packed(kc_buf *out, kc_str block)
{
    uLongf n = compressBound(block.n);
    unsigned char *packed = kc_alloc(n);
    if (compress2(packed, &n, (const Bytef *)block.p, block.n, Z_BEST_COMPRESSION) != Z_OK)
        fail_at("descriptions", 0, "zlib cannot pack them");
    kc_buf_puts(out, "const unsigned char kc__openapi_descriptions_packed[] = {");
    for (size_t i = 0; i < n; i++)
        kc_buf_printf(out, "%s%u,", i % 32 ? "" : "\n    ", packed[i]);
    kc_buf_printf(out,
                  "\n};\nconst size_t kc__openapi_n_descriptions_packed = %lu;\n"
                  "const size_t kc__openapi_n_descriptions_unpacked = %zu;\n",
                  n, block.n);
    free(packed);
}

void write_descriptions(model *m, kc_buf *out)
{
    texts t = {0};
    collect(m, &t);
    kc_buf_puts(out, "\nconst uint32_t kc__openapi_description_offsets[] = {");
    for (size_t i = 0; i < t.index.n; i++)
        kc_buf_printf(out, "%s%u,", i % 16 ? "" : "\n    ", t.index.items[i]);
    kc_buf_printf(out, "\n};\nconst size_t kc__openapi_n_description_offsets = %zu;\n", t.index.n);
    write_packed(out, kc_buf_str(&t.block));
    kc_buf_done(&t.block);
    kc_map_done(&t.places);
    kc_vec_done(&t.index);
}
