/* SPDX-License-Identifier: Apache-2.0 */
/*
 * impersonation.c: reads the header fields Impersonate-User, Impersonate-Group, Impersonate-Uid and
 * Impersonate-Extra-KEY, and makes a user of them.
 *
 * Of Impersonate-User and Impersonate-Uid the first field counts; each Impersonate-Group is one
 * group. A key of Impersonate-Extra is in lower case and may be percent-encoded. A user whose name
 * is that of a service account has the groups of service accounts, unless the request names groups.
 */
#include "apiserver/access/impersonation.h"

#include "apiserver/access/account_name.h"
#include "apiserver/access/user_extra.h"

/* ---- reading ---- */

/* One field whose name begins with "Impersonate-". */
static void read_field(const kc__http_header *field, kc_arena *arena, kc__impersonation *as,
                       kc_str *groups, kc__impersonation_extra *extra)
{
    static const kc_str extras = KC_STR_INIT("Impersonate-Extra-");
    if (kc_str_eq_nocase(field->name, KC_STR("Impersonate-User"))) {
        if (kc_str_empty(as->user))
            as->user = field->value;
    } else if (kc_str_eq_nocase(field->name, KC_STR("Impersonate-Uid"))) {
        if (kc_str_empty(as->uid))
            as->uid = field->value;
    } else if (kc_str_eq_nocase(field->name, KC_STR("Impersonate-Group"))) {
        groups[as->n_groups++] = field->value;
    } else if (kc__user_extra_has_prefix(field->name, extras)) {
        const kc_str key = kc_str_sub(field->name, extras.n, field->name.n);
        extra[as->n_extra++] =
            (kc__impersonation_extra){kc__user_extra_key(key, arena), field->value};
    }
}

/* The parts as Go prints them: a list of object references. */
static int refuse_without_user(const kc__impersonation *as, kc_error *err)
{
    kc_scoped(kc_buf) text = {0};
    for (size_t i = 0; i < as->n_groups; i++)
        kc_buf_printf(&text, " {Group  %.*s    }", KC_ARG(as->groups[i]));
    for (size_t i = 0; i < as->n_extra; i++)
        kc_buf_printf(&text, " {UserExtra  %.*s  authentication.k8s.io/v1  %.*s}",
                      KC_ARG(as->extra[i].value), KC_ARG(as->extra[i].key));
    if (!kc_str_empty(as->uid))
        kc_buf_printf(&text, " {UID  %.*s  authentication.k8s.io/v1  }", KC_ARG(as->uid));
    return kc_error_set(err, KC_UNKNOWN, "requested [%s] without impersonating a user",
                        kc_buf_cstr(&text) + 1);
}

int kc__impersonation_read(const kc__http_headers *headers, kc_arena *arena, kc__impersonation *ret,
                           kc_error *err)
{
    kc__impersonation as = {0};
    kc_str *groups = NULL;
    kc__impersonation_extra *extra = NULL;
    kc_vec_each (&headers->list, field) {
        if (!kc__user_extra_has_prefix(field->name, KC_STR("Impersonate-")))
            continue;
        if (!groups) {
            groups = kc_arena_calloc(arena, headers->list.n, sizeof(*groups));
            extra = kc_arena_calloc(arena, headers->list.n, sizeof(*extra));
        }
        read_field(field, arena, &as, groups, extra);
    }
    as.groups = groups;
    as.extra = extra;
    as.requested = !kc_str_empty(as.user);
    if (!as.requested && (as.n_groups || as.n_extra || !kc_str_empty(as.uid)))
        return refuse_without_user(&as, err);
    kc__user_account_split(as.user, &as.account_ns, &as.account);
    *ret = as;
    return 0;
}

void kc__impersonation_strip(kc__http_headers *headers)
{
    size_t kept = 0;
    for (size_t i = 0; i < headers->list.n; i++) {
        const kc__http_header field = headers->list.items[i];
        if (!kc__user_extra_has_prefix(field.name, KC_STR("Impersonate-")))
            headers->list.items[kept++] = field;
    }
    headers->list.n = kept;
}

/* ---- the user ---- */

static bool has_group(const kc__user *user, const char *group)
{
    for (size_t i = 0; i < user->n_groups; i++)
        if (kc_str_is(user->groups[i], group))
            return true;
    return false;
}

static void add_groups(const kc__impersonation *as, kc_arena *arena, kc__user *user)
{
    kc_str *groups = kc_arena_calloc(arena, as->n_groups + 3, sizeof(*groups));
    const bool anonymous = kc_str_is(user->name, KC__USER_ANONYMOUS);
    user->groups = groups;
    for (size_t i = 0; i < as->n_groups; i++)
        groups[user->n_groups++] = as->groups[i];
    if (!as->n_groups && !kc_str_empty(as->account)) {
        groups[user->n_groups++] = KC_STR(KC__USER_GROUP_ACCOUNTS);
        groups[user->n_groups++] = kc__user_account_group(arena, as->account_ns);
    }
    if (anonymous && !has_group(user, KC__USER_GROUP_UNAUTHENTICATED))
        groups[user->n_groups++] = KC_STR(KC__USER_GROUP_UNAUTHENTICATED);
    kc__user_authenticated(user, groups);
}

/* Values of the same key become one list. */
static void add_extra(const kc__impersonation *as, kc_arena *arena, kc__user *user)
{
    kc__user_extra *list = kc_arena_calloc(arena, as->n_extra, sizeof(*list));
    for (size_t i = 0; i < as->n_extra; i++) {
        kc__user_extra *extra = kc__user_extra_of_key(list, &user->n_extra, as->extra[i].key);
        kc_str *values = (kc_str *)extra->values;
        if (!values)
            values = kc_arena_calloc(arena, as->n_extra, sizeof(*values));
        values[extra->n_values++] = as->extra[i].value;
        extra->values = values;
    }
    user->extra = list;
}

void kc__impersonation_user(const kc__impersonation *as, kc_arena *arena, kc__user *ret)
{
    kc__user user = {.name = as->user, .uid = as->uid};
    add_groups(as, arena, &user);
    if (as->n_extra)
        add_extra(as, arena, &user);
    *ret = user;
}
