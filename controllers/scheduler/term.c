/* SPDX-License-Identifier: Apache-2.0 */
/*
 * term.c: see term.h. The text of a term is built from its source in the order written: equivalent
 * selectors written differently give two terms, which costs a little memory and has no other
 * effect.
 */
#include "scheduler/term.h"

#include "kc/buf.h"
#include "scheduler/texts.h"

/* ---- selectors ---- */

static bool operator_of(const char *text, kc_selector_op *ret)
{
    static const struct {
        const char *text;
        kc_selector_op op;
    } rows[] = {
        {"In", KC_SELECT_IN},         {"NotIn", KC_SELECT_NOT_IN},
        {"Exists", KC_SELECT_EXISTS}, {"DoesNotExist", KC_SELECT_DOES_NOT_EXIST},
        {"Gt", KC_SELECT_GREATER},    {"Lt", KC_SELECT_LESS},
    };
    for (size_t i = 0; i < KC_COUNT(rows); i++)
        if (kc__sched_text_is(text, rows[i].text)) {
            *ret = rows[i].op;
            return true;
        }
    return false;
}

typedef KC_VEC(kc_requirement) requirements;

static int add_rule(requirements *to, const kc_selector_requirement *rule, kc_arena *arena,
                    kc_error *err)
{
    kc_requirement r = {.key = kc_cstr(rule->key), .n_values = rule->n_values};
    if (!operator_of(rule->operator, & r.op))
        return kc_error_set(err, KC_INVALID, "\"%s\" is not a valid selector operator",
                            kc__sched_text(rule->operator));
    kc_str *values = kc_arena_calloc(arena, rule->n_values + 1, sizeof(kc_str));
    for (size_t i = 0; i < rule->n_values; i++)
        values[i] = kc_cstr(rule->values[i]);
    r.values = values;
    kc_vec_push(to, r);
    return 0;
}

static void add_exact(requirements *to, const char *key, const char *value, kc_arena *arena)
{
    kc_str *v = kc_arena_new(arena, kc_str);
    *v = kc_cstr(value);
    kc_vec_push(to, (kc_requirement){
                        .key = kc_cstr(key), .op = KC_SELECT_EQUALS, .values = v, .n_values = 1});
}

static kc_selector *sched_term_finish(requirements *all, int result, kc_error *err)
{
    kc_selector *selector = result < 0 ? NULL : kc_selector_new(all->items, all->n, err);
    kc_vec_done(all);
    return selector;
}

kc_selector *kc__sched_selector_of_rules(const kc_selector_requirement *rules, size_t n,
                                         kc_error *err)
{
    kc_scoped(kc_arena) arena = {0};
    requirements all = {0};
    int result = 0;
    for (size_t i = 0; i < n && result == 0; i++)
        result = add_rule(&all, &rules[i], &arena, err);
    return sched_term_finish(&all, result, err);
}

kc_selector *kc__sched_selector_of(const kc_label_selector *from, const kc_requirement *also,
                                   size_t n_also, kc_error *err)
{
    if (!from)
        return kc_selector_of(NULL, err);
    kc_scoped(kc_arena) arena = {0};
    requirements all = {0};
    int result = 0;
    for (size_t i = 0; i < from->match_labels.n; i++)
        add_exact(&all, from->match_labels.items[i].key, from->match_labels.items[i].value, &arena);
    for (size_t i = 0; i < from->n_match_expressions && result == 0; i++)
        result = add_rule(&all, &from->match_expressions[i], &arena, err);
    for (size_t i = 0; i < n_also; i++)
        kc_vec_push(&all, also[i]);
    return sched_term_finish(&all, result, err);
}

/* ---- labels that a term copies from its pod ---- */

typedef struct taken {
    requirements all;
    kc_arena arena;
} taken;

static void taken_done(taken *t)
{
    kc_vec_done(&t->all);
    kc_arena_done(&t->arena);
}

static const char *sched_term_label_of(const kc_pod *pod, const char *key)
{
    for (size_t i = 0; i < pod->metadata.labels.n; i++)
        if (kc__sched_text_is(key, pod->metadata.labels.items[i].key))
            return pod->metadata.labels.items[i].value;
    return NULL;
}

static void take_labels(taken *to, const kc_pod *pod, char **keys, size_t n, kc_selector_op op)
{
    for (size_t i = 0; i < n; i++) {
        const char *value = sched_term_label_of(pod, keys[i]);
        if (!value)
            continue;
        add_exact(&to->all, keys[i], value, &to->arena);
        kc_vec_last(&to->all)->op = op;
    }
}

/* ---- terms ---- */

void kc__sched_terms_done(kc__sched_terms *terms)
{
    kc_map_done(&terms->by_text);
}

kc__sched_term *kc__sched_term_ref(kc__sched_term *term)
{
    term->refs++;
    return term;
}

static void term_free(kc__sched_term *term)
{
    for (size_t i = 0; i < term->n_names; i++)
        free(term->names[i]);
    free(term->names);
    free(term->text);
    free(term->key);
    free(term->owner);
    kc_selector_free(term->namespaces);
    kc_selector_free(term->selector);
    free(term);
}

kc__sched_term *kc__sched_term_unref(kc__sched_term *term)
{
    if (!term || --term->refs)
        return NULL;
    kc_map_remove(&term->table->by_text, kc_cstr(term->text));
    term_free(term);
    return NULL;
}

static kc__sched_term *sched_term_find(kc__sched_terms *terms, kc_buf *text)
{
    kc__sched_term *known = kc_map_get(&terms->by_text, kc_buf_str(text));
    return known ? kc__sched_term_ref(known) : NULL;
}

static kc__sched_term *sched_term_enter(kc__sched_terms *terms, kc__sched_term *term, kc_buf *text,
                                        const char *key)
{
    term->refs = 1;
    term->table = terms;
    term->text = kc_buf_take(text);
    term->key = kc_strdup(kc__sched_text(key));
    kc_map_put(&terms->by_text, kc_cstr(term->text), term);
    return term;
}

static void sched_term_add_name(kc__sched_term *term, kc_str name)
{
    term->names = kc_reallocarray(term->names, term->n_names + 1, sizeof(*term->names));
    term->names[term->n_names++] = kc_str_dup(name);
}

/* The separator occurs in no name, label or JSON. */
static void write_part(kc_buf *out, const char *part)
{
    kc_buf_puts(out, kc__sched_text(part));
    kc_buf_putc(out, '\n');
}

static void write_taken(kc_buf *out, const taken *t)
{
    kc_vec_each (&t->all, r)
        kc_buf_printf(out, "%.*s%s%.*s\n", KC_ARG(r->key),
                      r->op == KC_SELECT_EQUALS ? "=" : "!=", KC_ARG(r->values[0]));
}

static void write_selector(kc_buf *out, const kc_label_selector *selector)
{
    if (selector)
        kc_struct_write(&kc_label_selector_struct, selector, out);
    kc_buf_putc(out, '\n');
}

static void write_affinity(kc_buf *out, const kc_pod *pod, const kc_pod_affinity_term *from,
                           const taken *t)
{
    write_part(out, from->topology_key);
    write_selector(out, from->label_selector);
    write_selector(out, from->namespace_selector);
    for (size_t i = 0; i < from->n_namespaces; i++)
        write_part(out, from->namespaces[i]);
    if (!from->n_namespaces && !from->namespace_selector)
        write_part(out, pod->metadata.ns);
    kc_buf_putc(out, '\n');
    write_taken(out, t);
}

static kc__sched_term *compile_affinity(const kc_pod *pod, const kc_pod_affinity_term *from,
                                        const taken *t, kc_error *err)
{
    kc__sched_term *term = kc_new(kc__sched_term);
    term->selector = kc__sched_selector_of(from->label_selector, t->all.items, t->all.n, err);
    if (from->namespace_selector)
        term->namespaces = kc__sched_selector_of(from->namespace_selector, NULL, 0, err);
    if (!term->selector || (from->namespace_selector && !term->namespaces)) {
        term_free(term);
        return NULL;
    }
    for (size_t i = 0; i < from->n_namespaces; i++)
        sched_term_add_name(term, kc_cstr(from->namespaces[i]));
    if (!from->n_namespaces && !from->namespace_selector)
        sched_term_add_name(term, kc_cstr(pod->metadata.ns));
    return term;
}

kc__sched_term *kc__sched_term_of_affinity(kc__sched_terms *terms, const kc_pod *pod,
                                           const kc_pod_affinity_term *from, kc_error *err)
{
    kc_scoped(taken) t = {0};
    kc_scoped(kc_buf) text = {0};
    take_labels(&t, pod, from->match_label_keys, from->n_match_label_keys, KC_SELECT_EQUALS);
    take_labels(&t, pod, from->mismatch_label_keys, from->n_mismatch_label_keys,
                KC_SELECT_NOT_EQUALS);
    write_affinity(&text, pod, from, &t);
    kc__sched_term *term = sched_term_find(terms, &text);
    if (term)
        return term;
    term = compile_affinity(pod, from, &t, err);
    return term ? sched_term_enter(terms, term, &text, from->topology_key) : NULL;
}

kc__sched_term *kc__sched_term_of_spread(kc__sched_terms *terms, const kc_pod *pod,
                                         const kc_topology_spread *from, kc_error *err)
{
    kc_scoped(taken) t = {0};
    kc_scoped(kc_buf) text = {0};
    take_labels(&t, pod, from->match_label_keys, from->n_match_label_keys, KC_SELECT_EQUALS);
    write_part(&text, "spread");
    write_part(&text, from->topology_key);
    write_part(&text, pod->metadata.ns);
    write_selector(&text, from->label_selector);
    write_taken(&text, &t);
    kc__sched_term *term = sched_term_find(terms, &text);
    if (term)
        return term;
    kc_selector *selector = kc__sched_selector_of(from->label_selector, t.all.items, t.all.n, err);
    if (!selector)
        return NULL;
    term = kc_new(kc__sched_term);
    term->selector = selector;
    term->staying = true;
    sched_term_add_name(term, kc_cstr(pod->metadata.ns));
    return sched_term_enter(terms, term, &text, from->topology_key);
}

kc__sched_term *kc__sched_term_of_owner(kc__sched_terms *terms, kc_str ns, kc_str owner,
                                        const char *key)
{
    kc_scoped(kc_buf) text = {0};
    kc_buf_printf(&text, "owner\n%s\n%.*s\n%.*s", key, KC_ARG(ns), KC_ARG(owner));
    kc__sched_term *term = sched_term_find(terms, &text);
    if (term)
        return term;
    term = kc_new(kc__sched_term);
    term->owner = kc_str_dup(owner);
    term->staying = true;
    sched_term_add_name(term, ns);
    return sched_term_enter(terms, term, &text, key);
}

/* ---- matching ---- */

static bool in_namespace(const kc__sched_term *term, const kc__sched_labelled *pod)
{
    for (size_t i = 0; i < term->n_names; i++)
        if (kc_str_is(kc_object_namespace(pod->pod), term->names[i]))
            return true;
    return term->namespaces && pod->ns && kc_selector_match(term->namespaces, pod->ns);
}

bool kc__sched_term_matches(const kc__sched_term *term, const kc__sched_labelled *pod)
{
    if (term->staying && pod->leaving)
        return false;
    if (!in_namespace(term, pod))
        return false;
    return term->owner ? kc_str_is(pod->owner, term->owner)
                       : kc_selector_match(term->selector, pod->pod);
}

void kc__sched_anchor_of_label(kc_buf *out, kc_str key, kc_str value)
{
    kc_buf_append(out, key);
    kc_buf_putc(out, '=');
    kc_buf_append(out, value);
}

void kc__sched_anchor_of_owner(kc_buf *out, kc_str uid)
{
    kc_buf_putc(out, '=');
    kc_buf_append(out, uid);
}

bool kc__sched_term_anchor(const kc__sched_term *term, kc_buf *ret)
{
    if (term->owner) {
        kc__sched_anchor_of_owner(ret, kc_cstr(term->owner));
        return true;
    }
    size_t n;
    const kc_requirement *rs = kc_selector_requirements(term->selector, &n);
    for (size_t i = 0; i < n; i++)
        if (rs[i].n_values == 1 && (rs[i].op == KC_SELECT_EQUALS || rs[i].op == KC_SELECT_IN ||
                                    rs[i].op == KC_SELECT_DOUBLE_EQUALS)) {
            kc__sched_anchor_of_label(ret, rs[i].key, rs[i].values[0]);
            return true;
        }
    return false;
}
