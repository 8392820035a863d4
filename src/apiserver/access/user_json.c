/* SPDX-License-Identifier: Apache-2.0 */
/*
 * user_json.c: a user as JSON, in the form of authentication.k8s.io/v1 UserInfo: members that are
 * empty are absent, keys of the extra are in order.
 */
#include "apiserver/access/authn.h"

#include "kc/json.h"

static void begin_member(kc_buf *out, const char *name)
{
    kc_buf_puts(out, out->p[out->n - 1] == '{' ? "\"" : ",\"");
    kc_buf_puts(out, name);
    kc_buf_puts(out, "\":");
}

static int compare_extra(const void *a, const void *b)
{
    const kc__user_extra *const *x = a, *const *y = b;
    return kc_str_cmp((*x)->key, (*y)->key);
}

static void write_user_extra(kc_buf *out, const kc__user *user)
{
    kc_autofree const kc__user_extra **sorted = kc_calloc(user->n_extra, sizeof(*sorted));
    for (size_t i = 0; i < user->n_extra; i++)
        sorted[i] = &user->extra[i];
    qsort(sorted, user->n_extra, sizeof(*sorted), compare_extra);
    begin_member(out, "extra");
    kc_buf_putc(out, '{');
    for (size_t i = 0; i < user->n_extra; i++) {
        kc_buf_puts(out, i ? "," : "");
        kc_json_quote(out, sorted[i]->key);
        kc_buf_putc(out, ':');
        kc_json_quote_all(out, sorted[i]->values, sorted[i]->n_values);
    }
    kc_buf_putc(out, '}');
}

void kc__user_write(kc_buf *out, const kc__user *user)
{
    kc_buf_putc(out, '{');
    if (!kc_str_empty(user->name)) {
        begin_member(out, "username");
        kc_json_quote(out, user->name);
    }
    if (!kc_str_empty(user->uid)) {
        begin_member(out, "uid");
        kc_json_quote(out, user->uid);
    }
    if (user->n_groups) {
        begin_member(out, "groups");
        kc_json_quote_all(out, user->groups, user->n_groups);
    }
    if (user->n_extra)
        write_user_extra(out, user);
    kc_buf_putc(out, '}');
}
