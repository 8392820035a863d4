/* SPDX-License-Identifier: Apache-2.0 */
/*
 * access_spec.c: writes the attributes of a request as the spec of a SubjectAccessReview.
 *
 *     {"resourceAttributes":{"verb":"get","resource":"pods"},"user":"jane","groups":["dev"]}
 *
 * Equal attributes have equal text: the text is the key of cached results. Requirements with
 * operators that a review does not have (">" and "<") are left out: requirements are combined by
 * "and", so the review is about more objects, never about fewer.
 */
#include "apiserver/authz/access_spec.h"

#include "kc/json.h"

/* The object that is being written. */
typedef struct spec_writer {
    kc_buf *out;
    kc__authz_spec_form form;
    bool first; /* The next member needs no comma. */
} spec_writer;

static bool is_complete(const spec_writer *w)
{
    return w->form == KC__AUTHZ_SPEC_COMPLETE;
}

/* Appends a member; an empty one in the complete form only. */
static void write_member(spec_writer *w, const char *name, kc_str text)
{
    if (kc_str_empty(text) && !is_complete(w))
        return;
    kc_buf_printf(w->out, "%s\"%s\":", w->first ? "" : ",", name);
    kc_json_quote(w->out, text);
    w->first = false;
}

/* ---- selectors ---- */

static void write_requirement(const spec_writer *w, kc_buf *out, kc_str key, const char *op,
                              const kc_str *values, size_t n)
{
    kc_buf_puts(out, out->n && out->p[out->n - 1] == '}' ? ",{\"key\":" : "{\"key\":");
    kc_json_quote(out, key);
    kc_buf_printf(out, ",\"operator\":\"%s\"", op);
    if (n || is_complete(w)) {
        kc_buf_puts(out, ",\"values\":");
        kc_json_quote_all(out, values, n);
    }
    kc_buf_putc(out, '}');
}

static void write_field_selector(const spec_writer *w, const kc__authz_attributes *a)
{
    if (!a->n_fields)
        return;
    kc_buf_puts(w->out, ",\"fieldSelector\":{\"requirements\":[");
    for (size_t i = 0; i < a->n_fields; i++)
        write_requirement(w, w->out, a->fields[i].field, a->fields[i].negated ? "NotIn" : "In",
                          &a->fields[i].value, 1);
    kc_buf_puts(w->out, "]}");
}

/* NULL: a review has no such operator. */
static const char *review_operator(kc_selector_op op)
{
    switch (op) {
    case KC_SELECT_EQUALS:
    case KC_SELECT_DOUBLE_EQUALS:
    case KC_SELECT_IN: return "In";
    case KC_SELECT_NOT_EQUALS:
    case KC_SELECT_NOT_IN: return "NotIn";
    case KC_SELECT_EXISTS: return "Exists";
    case KC_SELECT_DOES_NOT_EXIST: return "DoesNotExist";
    default: return NULL;
    }
}

static void write_label_selector(const spec_writer *w, const kc__authz_attributes *a)
{
    kc_scoped(kc_buf) list = {0};
    for (size_t i = 0; i < a->n_labels; i++) {
        const char *op = review_operator(a->labels[i].op);
        if (op)
            write_requirement(w, &list, a->labels[i].key, op, a->labels[i].values,
                              a->labels[i].n_values);
    }
    if (list.n)
        kc_buf_printf(w->out, ",\"labelSelector\":{\"requirements\":[%s]}", kc_buf_cstr(&list));
}

/* ---- attributes ---- */

static void write_resource_attributes(spec_writer *w, const kc__authz_attributes *a)
{
    w->first = true;
    kc_buf_puts(w->out, "\"resourceAttributes\":{");
    write_member(w, "namespace", a->ns);
    write_member(w, "verb", a->verb);
    write_member(w, "group", a->group);
    write_member(w, "version", a->version);
    write_member(w, "resource", a->resource);
    write_member(w, "subresource", a->subresource);
    write_member(w, "name", a->name);
    write_field_selector(w, a);
    write_label_selector(w, a);
    kc_buf_putc(w->out, '}');
}

static void write_url_attributes(spec_writer *w, const kc__authz_attributes *a)
{
    w->first = true;
    kc_buf_puts(w->out, "\"nonResourceAttributes\":{");
    write_member(w, "path", a->path);
    write_member(w, "verb", a->verb);
    kc_buf_putc(w->out, '}');
}

/* ---- the user ---- */

static int compare_extra(const void *a, const void *b)
{
    return kc_str_cmp(((const kc__user_extra *)a)->key, ((const kc__user_extra *)b)->key);
}

static void write_groups(const spec_writer *w, const kc__user *user)
{
    if (!user->n_groups && !is_complete(w))
        return;
    kc_buf_puts(w->out, w->form == KC__AUTHZ_SPEC_V1BETA1 ? ",\"group\":" : ",\"groups\":");
    kc_json_quote_all(w->out, user->groups, user->n_groups);
}

/* Go writes the members of a map in order. */
static void write_extra(const spec_writer *w, const kc__user *user)
{
    if (!user->n_extra && !is_complete(w))
        return;
    kc__user_extra *sorted = kc_calloc(user->n_extra + 1, sizeof(*sorted));
    for (size_t i = 0; i < user->n_extra; i++)
        sorted[i] = user->extra[i];
    qsort(sorted, user->n_extra, sizeof(*sorted), compare_extra);
    kc_buf_puts(w->out, ",\"extra\":{");
    for (size_t i = 0; i < user->n_extra; i++) {
        kc_buf_puts(w->out, i ? "," : "");
        kc_json_quote(w->out, sorted[i].key);
        kc_buf_putc(w->out, ':');
        kc_json_quote_all(w->out, sorted[i].values, sorted[i].n_values);
    }
    kc_buf_putc(w->out, '}');
    free(sorted);
}

void kc__authz_spec_write(kc_buf *out, const kc__authz_attributes *a, kc__authz_spec_form form)
{
    spec_writer w = {.out = out, .form = form};
    kc_buf_putc(out, '{');
    if (a->is_resource)
        write_resource_attributes(&w, a);
    else
        write_url_attributes(&w, a);
    w.first = false;
    write_member(&w, "user", a->user->name);
    write_groups(&w, a->user);
    write_extra(&w, a->user);
    write_member(&w, "uid", a->user->uid);
    kc_buf_putc(out, '}');
}
