/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ledger.c: see ledger.h.
 *
 *     by_key    "default/a" ──▶ net                      lookup by key
 *     in_order  10.0.0.0/8, 192.168.0.0/16, fd00::/64    networks never overlap, so they have an
 *                                        order, and an overlap is found by a look at the
 *                                        neighbours
 *
 * A change is applied in memory, then the whole file is written (it is small), and undone if that
 * fails. So memory never lacks a change that is on disk and was acknowledged, and never has one
 * that is not on disk.
 */
#include "network/service/ledger.h"
#include "network/service/file.h"

#include "kc/json.h"
#include "kc/names.h"

#include <assert.h>
#include <stdio.h>

enum { FILE_MAX = 8 << 20, FORMAT = 1 };

struct kc__network_ledger {
    kc__network_whole_file *file; /* NULL: in memory only. */
    kc_map by_key;                /* To kc__network_net, which own the keys. */
    KC_VEC(kc__network_net *) in_order;
    uint64_t generation;
};

/* ---- one network ---- */

static kc__network_net *net_free(kc__network_net *net)
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

KC_AUTO_DEFINE(kc__network_net, net_free)

static char *network_ledger_key_of(kc_str ns, kc_str name)
{
    return kc_asprintf("%.*s/%.*s", KC_ARG(ns), KC_ARG(name));
}

static int network_ledger_check_name(kc_name_rule rule, const char *what, kc_str text,
                                     kc_error *err)
{
    const char *messages[KC_NAME_MESSAGES];
    if (!kc_name_check(rule, text, messages))
        return 0;
    return kc_error_set(err, KC_INVALID, "%s \"%.*s\": %s", what,
                        KC_ARG(kc_str_sub(text, 0, KC__NETWORK_OWNER_TEXT)), messages[0]);
}

/* NULL if it is not a network. */
static kc__network_net *net_of(const kc__network_net_request *net_request, kc_error *err)
{
    kc__network_range range;
    if (network_ledger_check_name(KC_NAME_DNS_LABEL, "namespace", net_request->ns, err) < 0 ||
        network_ledger_check_name(KC_NAME_DNS_SUBDOMAIN, "name", net_request->name, err) < 0 ||
        (net_request->owner.n &&
         network_ledger_check_name(KC_NAME_DNS_SUBDOMAIN, "owner", net_request->owner, err) < 0) ||
        kc__network_range_parse(net_request->cidr, &range, err) < 0 ||
        (net_request->gateway.n &&
         kc__network_range_check_gateway(&range, net_request->gateway, err) < 0))
        return NULL;
    kc__network_net *made = kc_new(kc__network_net);
    made->key = network_ledger_key_of(net_request->ns, net_request->name);
    made->cidr = kc_str_dup(net_request->cidr);
    made->gateway = kc_str_dup(net_request->gateway);
    made->owner = kc_str_dup(net_request->owner);
    made->range = range;
    return made;
}

static bool network_ledger_is_same(const kc__network_net *a, const kc__network_net *b)
{
    return !strcmp(a->cidr, b->cidr) && !strcmp(a->gateway, b->gateway) &&
           !strcmp(a->owner, b->owner);
}

static void network_ledger_write_member(kc_buf *out, const char *name, kc_str text)
{
    kc_buf_printf(out, "\"%s\":", name);
    kc_json_quote(out, text);
    kc_buf_putc(out, ',');
}

void kc__network_net_write(kc_buf *out, const kc__network_net *net)
{
    kc_str name = kc_cstr(net->key);
    const kc_str ns = kc_str_cut(&name, '/');
    kc_buf_putc(out, '{');
    network_ledger_write_member(out, "namespace", ns);
    network_ledger_write_member(out, "name", name);
    network_ledger_write_member(out, "cidr", kc_cstr(net->cidr));
    network_ledger_write_member(out, "gateway", kc_cstr(net->gateway));
    network_ledger_write_member(out, "owner", kc_cstr(net->owner));
    kc_buf_printf(out, "\"generation\":%llu}", (unsigned long long)net->generation);
}

/* ---- index ---- */

/* Index of the first network that is not wholly before the range. */
static size_t network_ledger_position_of(const kc__network_ledger *ledger,
                                         const kc__network_range *range)
{
    size_t low = 0, high = ledger->in_order.n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (kc__network_range_cmp(&ledger->in_order.items[middle]->range, range) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* An overlapping network other than `but`; NULL: none. Skipping `but` costs at most one step. */
static const kc__network_net *overlapping(const kc__network_ledger *ledger,
                                          const kc__network_range *range,
                                          const kc__network_net *but)
{
    for (size_t i = network_ledger_position_of(ledger, range); i < ledger->in_order.n; i++) {
        const kc__network_net *net = ledger->in_order.items[i];
        if (kc__network_range_cmp(&net->range, range) != 0)
            return NULL;
        if (net != but)
            return net;
    }
    return NULL;
}

static void network_ledger_take_out(kc__network_ledger *ledger, kc__network_net *net)
{
    const size_t at = network_ledger_position_of(ledger, &net->range);
    assert(ledger->in_order.items[at] == net);
    kc_vec_remove(&ledger->in_order, at);
    kc_map_remove(&ledger->by_key, kc_cstr(net->key));
}

static void put_in(kc__network_ledger *ledger, kc__network_net *net)
{
    const size_t at = network_ledger_position_of(ledger, &net->range);
    kc_vec_push(&ledger->in_order, net);
    kc__network_net **items = ledger->in_order.items;
    memmove(&items[at + 1], &items[at], (ledger->in_order.n - 1 - at) * sizeof(kc__network_net *));
    items[at] = net;
    kc_map_put(&ledger->by_key, kc_cstr(net->key), net);
}

/* Either may be NULL. */
static void exchange(kc__network_ledger *ledger, kc__network_net *old, kc__network_net *fresh)
{
    if (old)
        network_ledger_take_out(ledger, old);
    if (fresh)
        put_in(ledger, fresh);
}

static kc__network_net *network_ledger_find(const kc__network_ledger *ledger, kc_str ns,
                                            kc_str name)
{
    kc_autofree char *key = network_ledger_key_of(ns, name);
    return kc_map_get(&ledger->by_key, kc_cstr(key));
}

const kc__network_net *kc__network_ledger_get(const kc__network_ledger *ledger, kc_str ns,
                                              kc_str name)
{
    return network_ledger_find(ledger, ns, name);
}

const kc__network_net *kc__network_ledger_at(const kc__network_ledger *ledger, size_t i)
{
    return i < ledger->in_order.n ? ledger->in_order.items[i] : NULL;
}

uint64_t kc__network_ledger_generation(const kc__network_ledger *ledger)
{
    return ledger->generation;
}

/* ---- the file ---- */

static int save(const kc__network_ledger *ledger, kc_error *err)
{
    kc_scoped(kc_buf) out = {0};
    if (!ledger->file)
        return 0;
    kc_buf_printf(&out, "{\"format\":%d,\"generation\":%llu,\"networks\":[", FORMAT,
                  (unsigned long long)ledger->generation);
    kc_vec_each (&ledger->in_order, net) {
        kc_buf_puts(&out, net == ledger->in_order.items ? "\n" : ",\n");
        kc__network_net_write(&out, *net);
    }
    kc_buf_puts(&out, "\n]}\n");
    return kc__network_whole_file_write(ledger->file, kc_buf_str(&out), err);
}

static int read_net(kc__network_ledger *ledger, const kc_value *value, kc_error *err)
{
    const kc__network_net_request net_request = {
        .ns = kc_value_as_str(kc_value_get(value, "namespace")),
        .name = kc_value_as_str(kc_value_get(value, "name")),
        .cidr = kc_value_as_str(kc_value_get(value, "cidr")),
        .gateway = kc_value_as_str(kc_value_get(value, "gateway")),
        .owner = kc_value_as_str(kc_value_get(value, "owner"))};
    kc_auto(kc__network_net) *one = net_of(&net_request, err);
    if (!one)
        return kc_error_result(err);
    if (!kc_value_as_u64(kc_value_get(value, "generation"), &one->generation) ||
        one->generation > ledger->generation)
        return kc_error_set(err, KC_INVALID, "%s has no generation", one->key);
    if (network_ledger_find(ledger, net_request.ns, net_request.name) ||
        overlapping(ledger, &one->range, NULL))
        return kc_error_set(err, KC_INVALID, "%s is a duplicate or overlaps", one->key);
    put_in(ledger, kc_take(one));
    return 0;
}

static int network_ledger_load(kc__network_ledger *ledger, kc_error *err)
{
    kc_scoped(kc_buf) text = {0};
    if (kc__network_whole_file_read(ledger->file, FILE_MAX, &text, err) < 0)
        return kc_error_result(err);
    if (!text.n)
        return 0;
    kc_auto(kc_view) *view = kc_view_parse(kc_buf_str(&text), NULL, err);
    const kc_value *root = view ? kc_view_root(view) : NULL;
    if (!view)
        return kc_error_result(err);
    if (kc_value_as_i64_or(kc_value_get(root, "format"), 0) != FORMAT ||
        !kc_value_as_u64(kc_value_get(root, "generation"), &ledger->generation))
        return kc_error_set(err, KC_INVALID, "not a file of networks");
    kc_value_each_item (kc_value_get(root, "networks"), value)
        if (read_net(ledger, value, err) < 0)
            return kc_error_result(err);
    return 0;
}

kc__network_ledger *kc__network_ledger_open(const char *file, kc_error *err)
{
    kc_auto(kc__network_ledger) *ledger = kc_new(kc__network_ledger);
    if (!file)
        return kc_take(ledger);
    ledger->file = kc__network_whole_file_open(file, err);
    if (!ledger->file)
        return NULL;
    if (network_ledger_load(ledger, err) < 0) {
        kc_error_wrap(err, "%s", file);
        return NULL;
    }
    return kc_take(ledger);
}

kc__network_ledger *kc__network_ledger_close(kc__network_ledger *ledger)
{
    if (!ledger)
        return NULL;
    kc_vec_each (&ledger->in_order, net)
        net_free(*net);
    kc_vec_done(&ledger->in_order);
    kc_map_done(&ledger->by_key);
    kc__network_whole_file_close(ledger->file);
    free(ledger);
    return NULL;
}

/* ---- changes ---- */

/* Takes ownership of both: one ends up in the ledger, the other is freed. */
static int commit(kc__network_ledger *ledger, kc__network_net *old, kc__network_net *fresh,
                  kc_error *err)
{
    exchange(ledger, old, fresh);
    ledger->generation++;
    if (fresh)
        fresh->generation = ledger->generation;
    if (save(ledger, err) == 0) {
        net_free(old);
        return 0;
    }
    /* The generation is not reused: it may be on disk after all. */
    exchange(ledger, fresh, old);
    net_free(fresh);
    return kc_error_result(err);
}

static int with_code(kc_error *err, int code, int result)
{
    if (err)
        err->code = code;
    return result;
}

static int check_terms(const kc__network_net *net, const kc__network_net_terms *terms,
                       kc_error *err)
{
    if (terms && terms->absent && net)
        return with_code(err, 412, kc_error_set(err, KC_CONFLICT, "%s already exists", net->key));
    if (terms && terms->generation && (!net || net->generation != terms->generation))
        return with_code(err, 412,
                         kc_error_set(err, KC_CONFLICT, "generation %llu does not match",
                                      (unsigned long long)terms->generation));
    return 0;
}

static int network_ledger_check_owner(const kc__network_net *net, kc_str owner, kc_error *err)
{
    if (!net || kc_str_is(owner, net->owner))
        return 0;
    if (!*net->owner)
        return kc_error_set(err, KC_CONFLICT, "%s has no owner", net->key);
    return kc_error_set(err, KC_CONFLICT, "%s belongs to %s", net->key, net->owner);
}

static int check_room(const kc__network_ledger *ledger, const kc__network_net *old,
                      const kc__network_net *fresh, kc_error *err)
{
    const kc__network_net *other = overlapping(ledger, &fresh->range, old);
    if (other) {
        const int result = kc_error_set(err, KC_CONFLICT, "%s overlaps with %s of %s", fresh->cidr,
                                        other->cidr, other->key);
        kc_error_add_cause(err, "Overlap", KC_STR("cidr"), kc_cstr(other->key));
        return result;
    }
    if (!old && ledger->in_order.n >= KC__NETWORK_NETS)
        return with_code(err, 507,
                         kc_error_set(err, KC_SERVICE_UNAVAILABLE, "limit of %d networks reached",
                                      KC__NETWORK_NETS));
    return 0;
}

int kc__network_ledger_put(kc__network_ledger *ledger, const kc__network_net_request *net_request,
                           const kc__network_net_terms *terms, const kc__network_net **ret,
                           kc_error *err)
{
    kc_auto(kc__network_net) *fresh = net_of(net_request, err);
    if (!fresh)
        return kc_error_result(err);
    kc__network_net *old = network_ledger_find(ledger, net_request->ns, net_request->name);
    if (check_terms(old, terms, err) < 0 ||
        network_ledger_check_owner(old, net_request->owner, err) < 0 ||
        check_room(ledger, old, fresh, err) < 0)
        return kc_error_result(err);
    const bool is_new = !old;
    if (old && network_ledger_is_same(old, fresh)) {
        *ret = old;
        return KC__NETWORK_NET_SAME;
    }
    kc__network_net *given = kc_take(fresh);
    if (commit(ledger, old, given, err) < 0)
        return kc_error_result(err);
    *ret = given;
    return is_new ? KC__NETWORK_NET_MADE : KC__NETWORK_NET_CHANGED;
}

int kc__network_ledger_remove(kc__network_ledger *ledger, kc_str ns, kc_str name,
                              const kc__network_net_terms *terms, kc_error *err)
{
    kc__network_net *net = network_ledger_find(ledger, ns, name);
    if (!net)
        return kc_error_set(err, KC_NOT_FOUND, "network %.*s/%.*s not found", KC_ARG(ns),
                            KC_ARG(name));
    if (check_terms(net, terms, err) < 0 ||
        (terms && terms->owner.n && network_ledger_check_owner(net, terms->owner, err) < 0))
        return kc_error_result(err);
    return commit(ledger, net, NULL, err);
}
