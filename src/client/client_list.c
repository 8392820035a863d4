/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client_list.c: lists: page by page, and each page cut into objects while it comes
 * (list_cutter.h).
 *
 * All pages of a list show the same moment, which the server keeps for some minutes. When that has
 * passed, the pages that are missing cannot be had: a list that is kept is then asked for once
 * more, whole; one that is streamed ends with KC_EXPIRED, for its objects were given away already.
 */
#include "client/client_internal.h"
#include "client/list_cutter.h"

enum { PAGE = 500, CHUNK = 64 << 10 };

void kc_objects_done(kc_objects *list)
{
    for (size_t i = 0; i < list->n; i++)
        kc_object_unref(list->items[i]);
    free(list->items);
    free(list->resource_version);
    free(list->continue_token);
    *list = (kc_objects){0};
}

/* ---- one page ---- */

typedef struct lister {
    kc_client *client;
    const kc_kind *kind;
    const kc_list_opts *opts;
    kc_each_object *each;
    void *user;
    int64_t given; /* Objects so far. */
    kc_objects about;
} lister;

static int give(kc_object *object, void *user, kc_error *err)
{
    lister *l = user;
    l->given++;
    return l->each(object, l->user, err);
}

static int64_t page_size(const lister *l)
{
    const int64_t page = l->opts->page ? l->opts->page : PAGE;
    const int64_t left = l->opts->limit > 0 ? l->opts->limit - l->given : 0;
    if (page < 0)
        return left;
    return left ? KC_MIN(page, left) : page;
}

/* The first page's parameters say which moment; a token has it in it. */
static void fill_params(kc__ask *ask, const lister *l)
{
    const kc_list_opts *opts = l->opts;
    const char *token = l->about.continue_token;
    kc__ask_param(ask, "labelSelector", opts->labels);
    kc__ask_param(ask, "fieldSelector", opts->fields);
    if (page_size(l))
        kc__ask_param_i64(ask, "limit", page_size(l));
    kc__ask_param(ask, "continue", token);
    if (!token) {
        kc__ask_param(ask, "resourceVersion", opts->resource_version);
        kc__ask_param(ask, "resourceVersionMatch", opts->resource_version_match);
    }
}

/* What the list says of itself. */
static void note_metadata(lister *l, const kc_object *list)
{
    kc_auto(kc_view) *view = kc_view_parse(kc_object_metadata_json(list), NULL, NULL);
    const kc_value *metadata = view ? kc_view_root(view) : NULL;
    const kc_str token = kc_as_str(kc_get(metadata, "continue"));
    free(l->about.resource_version);
    free(l->about.continue_token);
    l->about.resource_version = kc_str_dup(kc_object_resource_version(list));
    l->about.continue_token = token.n ? kc_str_dup(token) : NULL;
    l->about.remaining = kc_as_i64_or(kc_get(metadata, "remainingItemCount"), 0);
}

static int cut(kc__cutter *cutter, kc_http_response *response, kc_error *err)
{
    char chunk[CHUNK];
    ssize_t n;
    while ((n = kc_http_read(response, chunk, sizeof(chunk), err)) > 0) {
        const int r = kc__cutter_feed(cutter, kc_str_of(chunk, (size_t)n), err);
        if (r < 0)
            return r;
    }
    return (int)n;
}

static int list_page(lister *l, kc_error *err)
{
    const kc_list_opts *opts = l->opts;
    kc_scoped(kc__ask) ask = {.accept = kc__accept(opts->metadata_only, true)};
    const kc__place place = {.kind = l->kind,
                             .ns = kc__list_namespace(l->client, l->kind, opts->ns)};
    kc__ask_for(&ask, &place);
    fill_params(&ask, l);
    kc_auto(kc_http_response) *response = kc__send(l->client, &ask, err);
    if (!response)
        return -1;
    kc_scoped(kc__cutter) cutter = {
        .kind = opts->metadata_only ? &kc__kind_metadata : l->kind, .each = give, .user = l};
    if (cut(&cutter, response, err) < 0)
        return -1;
    kc_auto(kc_object) *list = kc__cutter_end(&cutter, err);
    if (!list)
        return -1;
    note_metadata(l, list);
    return 0;
}

/* ---- all of them ---- */

static int list_pages(lister *l, kc_error *err)
{
    if (l->opts->index)
        return kc_error_set(err, KC_BAD_REQUEST,
                            "%s: only a cache has indexes, and this client reads from the server",
                            l->kind->kind);
    if (l->opts->continue_token && *l->opts->continue_token)
        l->about.continue_token = kc_strdup(l->opts->continue_token);
    do {
        if (list_page(l, err) < 0)
            return err ? -(int)err->reason : -1;
    } while (l->about.continue_token && (l->opts->limit <= 0 || l->given < l->opts->limit));
    return 0;
}

static bool reads_live(const kc_client *client, const kc_list_opts *opts)
{
    const char *version = opts->resource_version, *token = opts->continue_token;
    return !client->bind.reader || client->bind.read_live || opts->live || (token && *token) ||
           (version && *version && strcmp(version, "0") != 0);
}

/* The namespace the client is bound to is the reader's to know, too. */
static int list_from_reader(const kc_client *client, const kc_kind *kind, const kc_list_opts *opts,
                            kc_objects *ret, kc_error *err)
{
    kc_reader *reader = client->bind.reader;
    kc_list_opts with = *opts;
    with.ns = kc__list_namespace(client, kind, opts->ns).p;
    return reader->ops->list(reader, kind, &with, client->bind.cancel, ret, err);
}

static int each_of_reader(const kc_client *client, const kc_kind *kind, const kc_list_opts *opts,
                          kc_each_object *each, void *user, kc_objects *ret, kc_error *err)
{
    kc_scoped(kc_objects) list = {0};
    int r = list_from_reader(client, kind, opts, &list, err);
    size_t i = 0;
    while (i < list.n && r >= 0)
        r = each(list.items[i++], user, err);
    if (i)
        memmove(list.items, list.items + i, (list.n - i) * sizeof(*list.items));
    list.n -= i; /* Those before were given away. */
    if (r < 0)
        return r;
    if (ret)
        *ret = (kc_objects){.resource_version = kc_take(list.resource_version),
                            .continue_token = kc_take(list.continue_token),
                            .remaining = list.remaining};
    return 0;
}

int kc_client_list_each(kc_client *client, const kc_kind *kind, const kc_list_opts *opts,
                        kc_each_object *each, void *user, kc_objects *ret, kc_error *err)
{
    static const kc_list_opts defaults;
    opts = opts ? opts : &defaults;
    if (!reads_live(client, opts))
        return each_of_reader(client, kind, opts, each, user, ret, err);
    lister l = {.client = client, .kind = kind, .opts = opts, .each = each, .user = user};
    const int r = list_pages(&l, err);
    if (r >= 0 && ret)
        *ret = l.about;
    else
        kc_objects_done(&l.about);
    return r;
}

/* ---- kept ---- */

typedef KC_VEC(kc_object *) object_vec;

static int keep(kc_object *object, void *user, kc_error *err)
{
    object_vec *all = user;
    (void)err;
    kc_vec_push(all, object);
    return 0;
}

static void forget(object_vec *all)
{
    kc_vec_each (all, object)
        kc_object_unref(*object);
    kc_vec_done(all);
}

int kc_client_list(kc_client *client, const kc_kind *kind, const kc_list_opts *opts,
                   kc_objects *ret, kc_error *err)
{
    static const kc_list_opts defaults;
    opts = opts ? opts : &defaults;
    if (!reads_live(client, opts))
        return list_from_reader(client, kind, opts, ret, err);
    object_vec all = {0};
    kc_objects about = {0};
    kc_scoped(kc_error) why = {0};
    int r = kc_client_list_each(client, kind, opts, keep, &all, &about, &why);
    if (r < 0 && why.code == 410 && all.n && !opts->limit && !opts->continue_token) {
        kc_list_opts whole = *opts;
        whole.page = -1;
        forget(&all);
        kc_error_done(&why);
        r = kc_client_list_each(client, kind, &whole, keep, &all, &about, &why);
    }
    if (r < 0) {
        forget(&all);
        return kc_error_move(err, &why);
    }
    about.items = all.items;
    about.n = all.n;
    *ret = about;
    return 0;
}
