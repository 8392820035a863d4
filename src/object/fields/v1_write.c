/* SPDX-License-Identifier: Apache-2.0 */
/*
 * v1_write.c: writes FieldsV1: sorted, compact, "." first where a path with paths below it is
 * itself a member. Equal sets have equal text.
 */
#include "object/fields/fields_internal.h"
#include "object/json/json_plain.h"

/* The output, and the name of the element that is being written: one buffer for all. */
typedef struct v1_writer {
    kc_buf *out;
    kc_buf name;
} v1_writer;

/* Nearly every element is a name that needs no escapes, and most have nothing below them: such an
 * entry is written with one reservation. */
static void write_plain_name(kc_buf *out, kc_str name, bool comma, bool leaf)
{
    enum { AROUND = sizeof(",\"f:\":{}") - 1 };
    char *to = kc_buf_reserve(out, name.n + AROUND);
    if (!to)
        return;
    const char *start = to;
    *to = ',';
    to += comma;
    memcpy(to, "\"f:", 3);
    memcpy(to + 3, name.p, name.n);
    to += 3 + name.n;
    memcpy(to, "\":{}", 4);
    out->n += (size_t)(to - start) + (leaf ? 4 : 2);
}

/* A string without anything that FieldsV1 or the JSON around it escapes. */
static bool is_plain_string(const kc_value *value)
{
    if (!kc__fields_is(value, YYJSON_TYPE_STR))
        return false;
    const kc_str text = kc__fields_text(value);
    bool html = false;
    for (size_t i = 0; i < text.n; i++)
        html |= text.p[i] == '<' || text.p[i] == '>' || text.p[i] == '&';
    return !html && kc__json_plain_length(text) == text.n;
}

/* Likewise the key of an item, which nearly always is one name and a plain string. */
static bool is_plain_key(const kc__fields_element *element)
{
    return element->kind == KC__FIELDS_KEY && element->n == 1 &&
           kc__json_plain_length(element->parts[0].name) == element->parts[0].name.n &&
           is_plain_string(element->parts[0].value);
}

static char *append_text(char *to, kc_str text)
{
    memcpy(to, text.p, text.n);
    return to + text.n;
}

static void write_plain_key(kc_buf *out, const kc__fields_key_part *part)
{
    static const kc_str before = KC_STR_INIT("\"k:{\\\""), between = KC_STR_INIT("\\\":\\\""),
                        behind = KC_STR_INIT("\\\"}\":");
    const kc_str value = kc__fields_text(part->value);
    const size_t n = before.n + part->name.n + between.n + value.n + behind.n;
    char *to = kc_buf_reserve(out, n);
    if (!to)
        return;
    to = append_text(append_text(to, before), part->name);
    to = append_text(append_text(to, between), value);
    append_text(to, behind);
    out->n += n;
}

/* The name of an element other than a plain name. */
static void write_other_name(v1_writer *w, const kc__fields_element *element)
{
    if (is_plain_key(element)) {
        write_plain_key(w->out, element->parts);
        return;
    }
    kc_buf_clear(&w->name);
    kc__fields_element_write(&w->name, element);
    kc_json_quote(w->out, kc_buf_str(&w->name));
    kc_buf_putc(w->out, ':');
}

/* The text of the set below an entry. */
typedef struct v1_level {
    const kc__fields_set *set; /* NULL: none is written yet. */
    bool self;
    size_t at, n; /* In the output. */
} v1_level;

static void write_level(v1_writer *w, const kc__fields_set *set, bool self);

/* Appends a part of the output to it. */
static void repeat_text(kc_buf *out, size_t at, size_t n)
{
    char *to = kc_buf_reserve(out, n);
    if (!to)
        return;
    memcpy(to, out->p + at, n);
    out->n += n;
}

/* Items of a list often share the set of their fields, whose text is written once and copied. */
static void write_below(v1_writer *w, const kc__fields_entry *entry, v1_level *last)
{
    if (entry->child == last->set && entry->member == last->self) {
        repeat_text(w->out, last->at, last->n);
        return;
    }
    *last = (v1_level){.set = entry->child, .self = entry->member, .at = w->out->n};
    write_level(w, entry->child, entry->member);
    last->n = w->out->n - last->at;
}

/* `last`: the level below the last entry before this one that has one. */
static void write_entry(v1_writer *w, const kc__fields_entry *entry, bool comma, v1_level *last)
{
    const kc__fields_element *element = &entry->element;
    const kc_str name = kc_str_of(element->name, element->n);
    const bool leaf = !entry->child;
    if (element->kind == KC__FIELDS_NAME && kc__json_plain_length(name) == name.n) {
        write_plain_name(w->out, name, comma, leaf);
    } else {
        if (comma)
            kc_buf_putc(w->out, ',');
        write_other_name(w, element);
        if (leaf)
            kc_buf_append(w->out, KC_STR("{}"));
    }
    if (!leaf)
        write_below(w, entry, last);
}

/* The object of a level; `self`: the path above it is a member. */
static void write_level(v1_writer *w, const kc__fields_set *set, bool self)
{
    v1_level last = {0};
    kc_buf_append(w->out, self ? KC_STR("{\".\":{}") : KC_STR("{"));
    for (uint32_t i = 0; i < set->n; i++)
        write_entry(w, &set->entries[i], i || self, &last);
    kc_buf_putc(w->out, '}');
}

void kc__fields_v1_write(kc_buf *out, const kc__fields_set *set)
{
    v1_writer w = {.out = out};
    if (set)
        write_level(&w, set, false);
    else
        kc_buf_append(out, KC_STR("{}"));
    kc_buf_done(&w.name);
}
