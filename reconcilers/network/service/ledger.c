/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ledger.c: see ledger.h.
 *
 *     by_key    "default/a" ──▶ net      to find one
 *     in_order  10.0.0.0/8, 192.168.0.0/16, fd00::/64       since they never overlap, they have an
 *                                        order, and what overlaps with another one is found by
 *                                        looking at its neighbours
 *
 * A change is made in memory, then written (all of it: there are few), and undone if that fails; so
 * memory is never behind the disk with what it has told somebody, and never ahead of it.
 */
#include "network/service/ledger.h"
#include "network/service/file.h"

#include "kc/json.h"
#include "kc/names.h"

#include <assert.h>
#include <stdio.h>

enum { FILE_MAX = 8 << 20, FORMAT = 1 };

struct kc__ledger {
    kc__whole_file *file; /* NULL: in memory only. */
    kc_map by_key;        /* Of kc__net; keys are theirs. */
    KC_VEC(kc__net *) in_order;
    uint64_t generation;
};

/* ---- one network ---- */

static kc__net *net_free(kc__net *net)
{
    if (!net)
        return NULL;
    free(net->key);
    free(net->cidr);
    free(net->gateway);
    free(net->owner);
    free(net);
    return NULL;
}

KC_AUTO_DEFINE(kc__net, net_free)

static char *key_of(kc_str ns, kc_str name)
{
    return kc_asprintf("%.*s/%.*s", KC_ARG(ns), KC_ARG(name));
}

static int check_name(kc_name_rule rule, const char *what, kc_str text, kc_error *err)
{
    const char *messages[KC_NAME_MESSAGES];
    if (!kc_name_check(rule, text, messages))
        return 0;
    return kc_error_set(err, KC_INVALID, "%s \"%.*s\": %s", what,
                        KC_ARG(kc_str_sub(text, 0, KC__OWNER_TEXT)), messages[0]);
}

/* NULL when that is no network. */
static kc__net *net_of(const kc__net_wish *wish, kc_error *err)
{
    kc__range range;
    if (check_name(KC_NAME_DNS_LABEL, "namespace", wish->ns, err) < 0 ||
        check_name(KC_NAME_DNS_SUBDOMAIN, "name", wish->name, err) < 0 ||
        (wish->owner.n && check_name(KC_NAME_DNS_SUBDOMAIN, "owner", wish->owner, err) < 0) ||
        kc__range_parse(wish->cidr, &range, err) < 0 ||
        (wish->gateway.n && kc__range_check_gateway(&range, wish->gateway, err) < 0))
        return NULL;
    kc__net *made = kc_new(kc__net);
    made->key = key_of(wish->ns, wish->name);
    made->cidr = kc_str_dup(wish->cidr);
    made->gateway = kc_str_dup(wish->gateway);
    made->owner = kc_str_dup(wish->owner);
    made->range = range;
    return made;
}

static bool is_same(const kc__net *a, const kc__net *b)
{
    return !strcmp(a->cidr, b->cidr) && !strcmp(a->gateway, b->gateway) &&
           !strcmp(a->owner, b->owner);
}

static void write_member(kc_buf *out, const char *name, kc_str text)
{
    kc_buf_printf(out, "\"%s\":", name);
    kc_json_quote(out, text);
    kc_buf_putc(out, ',');
}

void kc__net_write(kc_buf *out, const kc__net *net)
{
    kc_str name = kc_cstr(net->key);
    const kc_str ns = kc_str_cut(&name, '/');
    kc_buf_putc(out, '{');
    write_member(out, "namespace", ns);
    write_member(out, "name", name);
    write_member(out, "cidr", kc_cstr(net->cidr));
    write_member(out, "gateway", kc_cstr(net->gateway));
    write_member(out, "owner", kc_cstr(net->owner));
    kc_buf_printf(out, "\"generation\":%llu}", (unsigned long long)net->generation);
}

/* ---- all of them ---- */

/* Where the first one is that does not stand wholly before the range. */
static size_t place_of(const kc__ledger *ledger, const kc__range *range)
{
    size_t low = 0, high = ledger->in_order.n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (kc__range_cmp(&ledger->in_order.items[middle]->range, range) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* One that overlaps, and is not `but`; NULL: none. What `but` leaves is at most one step away. */
static const kc__net *overlapping(const kc__ledger *ledger, const kc__range *range,
                                  const kc__net *but)
{
    for (size_t i = place_of(ledger, range); i < ledger->in_order.n; i++) {
        const kc__net *net = ledger->in_order.items[i];
        if (kc__range_cmp(&net->range, range) != 0)
            return NULL;
        if (net != but)
            return net;
    }
    return NULL;
}

static void take_out(kc__ledger *ledger, kc__net *net)
{
    const size_t at = place_of(ledger, &net->range);
    assert(ledger->in_order.items[at] == net);
    kc_vec_remove(&ledger->in_order, at);
    kc_map_remove(&ledger->by_key, kc_cstr(net->key));
}

static void put_in(kc__ledger *ledger, kc__net *net)
{
    const size_t at = place_of(ledger, &net->range);
    kc_vec_push(&ledger->in_order, net);
    kc__net **items = ledger->in_order.items;
    memmove(&items[at + 1], &items[at], (ledger->in_order.n - 1 - at) * sizeof(kc__net *));
    items[at] = net;
    kc_map_put(&ledger->by_key, kc_cstr(net->key), net);
}

/* Either may be NULL. */
static void exchange(kc__ledger *ledger, kc__net *old, kc__net *fresh)
{
    if (old)
        take_out(ledger, old);
    if (fresh)
        put_in(ledger, fresh);
}

static kc__net *find(const kc__ledger *ledger, kc_str ns, kc_str name)
{
    kc_autofree char *key = key_of(ns, name);
    return kc_map_get(&ledger->by_key, kc_cstr(key));
}

const kc__net *kc__ledger_get(const kc__ledger *ledger, kc_str ns, kc_str name)
{
    return find(ledger, ns, name);
}

const kc__net *kc__ledger_at(const kc__ledger *ledger, size_t i)
{
    return i < ledger->in_order.n ? ledger->in_order.items[i] : NULL;
}

uint64_t kc__ledger_generation(const kc__ledger *ledger)
{
    return ledger->generation;
}

/* ---- the file ---- */

static int save(const kc__ledger *ledger, kc_error *err)
{
    kc_scoped(kc_buf) out = {0};
    if (!ledger->file)
        return 0;
    kc_buf_printf(&out, "{\"format\":%d,\"generation\":%llu,\"networks\":[", FORMAT,
                  (unsigned long long)ledger->generation);
    kc_vec_each (&ledger->in_order, net) {
        kc_buf_puts(&out, net == ledger->in_order.items ? "\n" : ",\n");
        kc__net_write(&out, *net);
    }
    kc_buf_puts(&out, "\n]}\n");
    return kc__whole_file_write(ledger->file, kc_buf_str(&out), err);
}

static int read_net(kc__ledger *ledger, const kc_value *value, kc_error *err)
{
    const kc__net_wish wish = {.ns = kc_as_str(kc_get(value, "namespace")),
                               .name = kc_as_str(kc_get(value, "name")),
                               .cidr = kc_as_str(kc_get(value, "cidr")),
                               .gateway = kc_as_str(kc_get(value, "gateway")),
                               .owner = kc_as_str(kc_get(value, "owner"))};
    kc_auto(kc__net) *one = net_of(&wish, err);
    if (!one)
        return -1;
    if (!kc_as_u64(kc_get(value, "generation"), &one->generation) ||
        one->generation > ledger->generation)
        return kc_error_set(err, KC_INVALID, "%s has no generation", one->key);
    if (find(ledger, wish.ns, wish.name) || overlapping(ledger, &one->range, NULL))
        return kc_error_set(err, KC_INVALID, "%s is there twice, or overlaps", one->key);
    put_in(ledger, kc_take(one));
    return 0;
}

static int load(kc__ledger *ledger, kc_error *err)
{
    kc_scoped(kc_buf) text = {0};
    if (kc__whole_file_read(ledger->file, FILE_MAX, &text, err) < 0)
        return -1;
    if (!text.n)
        return 0;
    kc_auto(kc_view) *view = kc_view_parse(kc_buf_str(&text), NULL, err);
    const kc_value *root = view ? kc_view_root(view) : NULL;
    if (!view)
        return -1;
    if (kc_as_i64_or(kc_get(root, "format"), 0) != FORMAT ||
        !kc_as_u64(kc_get(root, "generation"), &ledger->generation))
        return kc_error_set(err, KC_INVALID, "it is not a file of networks");
    kc_items (kc_get(root, "networks"), value)
        if (read_net(ledger, value, err) < 0)
            return -1;
    return 0;
}

kc__ledger *kc__ledger_open(const char *file, kc_error *err)
{
    kc_auto(kc__ledger) *ledger = kc_new(kc__ledger);
    if (!file)
        return kc_take(ledger);
    ledger->file = kc__whole_file_open(file, err);
    if (!ledger->file)
        return NULL;
    if (load(ledger, err) < 0) {
        kc_error_wrap(err, "%s", file);
        return NULL;
    }
    return kc_take(ledger);
}

kc__ledger *kc__ledger_close(kc__ledger *ledger)
{
    if (!ledger)
        return NULL;
    kc_vec_each (&ledger->in_order, net)
        net_free(*net);
    kc_vec_done(&ledger->in_order);
    kc_map_done(&ledger->by_key);
    kc__whole_file_close(ledger->file);
    free(ledger);
    return NULL;
}

/* ---- changes ---- */

/* Takes both over: one is in the ledger in the end, the other one is freed. */
static int commit(kc__ledger *ledger, kc__net *old, kc__net *fresh, kc_error *err)
{
    exchange(ledger, old, fresh);
    ledger->generation++;
    if (fresh)
        fresh->generation = ledger->generation;
    if (save(ledger, err) == 0) {
        net_free(old);
        return 0;
    }
    /* The generation is not given again: the disk may have it after all. */
    exchange(ledger, fresh, old);
    net_free(fresh);
    return -1;
}

static int with_code(kc_error *err, int code, int result)
{
    if (err)
        err->code = code;
    return result;
}

static int check_terms(const kc__net *net, const kc__net_terms *terms, kc_error *err)
{
    if (terms && terms->absent && net)
        return with_code(err, 412, kc_error_set(err, KC_CONFLICT, "%s is there already", net->key));
    if (terms && terms->generation && (!net || net->generation != terms->generation))
        return with_code(err, 412,
                         kc_error_set(err, KC_CONFLICT, "it is not there at generation %llu",
                                      (unsigned long long)terms->generation));
    return 0;
}

static int check_owner(const kc__net *net, kc_str owner, kc_error *err)
{
    if (!net || kc_str_is(owner, net->owner))
        return 0;
    if (!*net->owner)
        return kc_error_set(err, KC_CONFLICT, "%s was made without an owner", net->key);
    return kc_error_set(err, KC_CONFLICT, "%s belongs to %s", net->key, net->owner);
}

static int check_room(const kc__ledger *ledger, const kc__net *old, const kc__net *fresh,
                      kc_error *err)
{
    const kc__net *other = overlapping(ledger, &fresh->range, old);
    if (other) {
        kc_error_set(err, KC_CONFLICT, "%s overlaps with %s of %s", fresh->cidr, other->cidr,
                     other->key);
        kc_error_add_cause(err, "Overlap", KC_STR("cidr"), kc_cstr(other->key));
        return -KC_CONFLICT;
    }
    if (!old && ledger->in_order.n >= KC__NETS)
        return with_code(err, 507,
                         kc_error_set(err, KC_SERVICE_UNAVAILABLE,
                                      "there are %d networks already, and there may be no more",
                                      KC__NETS));
    return 0;
}

int kc__ledger_put(kc__ledger *ledger, const kc__net_wish *wish, const kc__net_terms *terms,
                   const kc__net **ret, kc_error *err)
{
    kc_auto(kc__net) *fresh = net_of(wish, err);
    if (!fresh)
        return -1;
    kc__net *old = find(ledger, wish->ns, wish->name);
    if (check_terms(old, terms, err) < 0 || check_owner(old, wish->owner, err) < 0 ||
        check_room(ledger, old, fresh, err) < 0)
        return -1;
    const bool is_new = !old;
    if (old && is_same(old, fresh)) {
        *ret = old;
        return KC__NET_SAME;
    }
    kc__net *given = kc_take(fresh);
    if (commit(ledger, old, given, err) < 0)
        return -1;
    *ret = given;
    return is_new ? KC__NET_MADE : KC__NET_CHANGED;
}

int kc__ledger_remove(kc__ledger *ledger, kc_str ns, kc_str name, const kc__net_terms *terms,
                      kc_error *err)
{
    kc__net *net = find(ledger, ns, name);
    if (!net)
        return kc_error_set(err, KC_NOT_FOUND, "there is no network %.*s/%.*s", KC_ARG(ns),
                            KC_ARG(name));
    if (check_terms(net, terms, err) < 0 ||
        (terms && terms->owner.n && check_owner(net, terms->owner, err) < 0))
        return -1;
    return commit(ledger, net, NULL, err);
}
