/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crd_validate_names.c: validates the requested and accepted names of a CRD; also the functions
 * with which all parts of CRD validation report errors.
 */
#include "apiserver/kinds/apiextensions/crd_validate_internal.h"
#include "kc/ascii.h"
#include "object/gofmt/go_quote.h"

#include <stdarg.h>

size_t kc__crd_enter(kc__crd_check *c, const char *fmt, ...)
{
    size_t before = c->path.n;
    va_list args;
    va_start(args, fmt);
    kc_buf_vprintf(&c->path, fmt, args);
    va_end(args);
    return before;
}

void kc__crd_leave(kc__crd_check *c, size_t before)
{
    c->path.n = before;
}

static void add_crd_error(kc__crd_check *c, kc_field_error_type type, const char *member,
                          kc_str value, const char *detail)
{
    size_t before = kc__crd_enter(c, "%s%s", *member ? "." : "", member);
    kc_field_errors_add(c->errors, type, kc_buf_cstr(&c->path), value, "%s", detail);
    kc__crd_leave(c, before);
}

void kc__crd_required(kc__crd_check *c, const char *member, const char *detail)
{
    add_crd_error(c, KC_FIELD_REQUIRED, member, (kc_str){0}, detail);
}

void kc__crd_forbidden(kc__crd_check *c, const char *member, const char *detail)
{
    add_crd_error(c, KC_FIELD_FORBIDDEN, member, (kc_str){0}, detail);
}

void kc__crd_invalid(kc__crd_check *c, const char *member, kc_str text, const char *detail)
{
    kc_scoped(kc_buf) quoted = {0};
    kc__go_quote(&quoted, text);
    add_crd_error(c, KC_FIELD_INVALID, member, kc_buf_str(&quoted), detail);
}

void kc__crd_check_name(kc__crd_check *c, const char *member, kc_name_rule rule, kc_str text,
                        kc_str shown, const char *prefix)
{
    const char *messages[KC_NAME_MESSAGES];
    size_t n = kc_name_check(rule, text, messages);
    if (!n)
        return;
    kc_scoped(kc_buf) all = {0};
    kc_buf_puts(&all, prefix);
    for (size_t i = 0; i < n; i++)
        kc_buf_printf(&all, "%s%s", i ? "," : "", messages[i]);
    kc__crd_invalid(c, member, shown, kc_buf_cstr(&all));
}

void kc__crd_check_word(kc__crd_check *c, const char *member, kc_str text, const char *const *words)
{
    if (!text.n) {
        kc__crd_required(c, member, "");
        return;
    }
    kc_scoped(kc_buf) all = {0}, shown = {0};
    kc_buf_puts(&all, "supported values: ");
    for (size_t i = 0; words[i]; i++) {
        if (kc_str_is(text, words[i]))
            return;
        kc_buf_printf(&all, "%s\"%s\"", i ? ", " : "", words[i]);
    }
    kc__go_quote(&shown, text);
    add_crd_error(c, KC_FIELD_NOT_SUPPORTED, member, kc_buf_str(&shown), kc_buf_cstr(&all));
}

/* ---- names ---- */

#define MIXED_CASE "may have mixed case, but should otherwise match: "

static void check_crd_label(kc__crd_check *c, const kc_value *names, const char *member)
{
    kc_str name = kc_value_as_str(kc_value_get(names, member));
    if (name.n)
        kc__crd_check_name(c, member, KC_NAME_DNS_1035_LABEL, name, name, "");
}

static void check_crd_kind_name(kc__crd_check *c, const kc_value *names, const char *member)
{
    kc_str kind = kc_value_as_str(kc_value_get(names, member));
    kc_scoped(kc_buf) lower = {0};
    for (size_t i = 0; i < kind.n; i++)
        kc_buf_putc(&lower, kc_lower(kind.p[i]));
    if (kind.n)
        kc__crd_check_name(c, member, KC_NAME_DNS_1035_LABEL, kc_buf_str(&lower), kind, MIXED_CASE);
}

static void check_list(kc__crd_check *c, const kc_value *names, const char *member)
{
    size_t i = 0;
    kc_value_each_item (kc_value_get(names, member), item) {
        size_t before = kc__crd_enter(c, ".%s[%zu]", member, i++);
        kc__crd_check_name(c, "", KC_NAME_DNS_1035_LABEL, kc_value_as_str(item),
                           kc_value_as_str(item), "");
        kc__crd_leave(c, before);
    }
}

void kc__crd_check_names(kc__crd_check *c, const kc_value *names)
{
    kc_str kind = kc_value_as_str(kc_value_get(names, "kind"));
    check_crd_label(c, names, "plural");
    check_crd_label(c, names, "singular");
    check_crd_kind_name(c, names, "kind");
    check_crd_kind_name(c, names, "listKind");
    check_list(c, names, "shortNames");
    if (kind.n && kc_str_eq(kind, kc_value_as_str(kc_value_get(names, "listKind"))))
        kc__crd_invalid(c, "listKind", kind, "kind and listKind may not be the same");
    check_list(c, names, "categories");
}
