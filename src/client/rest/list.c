/* SPDX-License-Identifier: Apache-2.0 */
/*
 * list.c: lists objects page by page, and splits each page into objects while it arrives
 * (list_splitter.h).
 *
 * All pages of a list belong to one revision, which the server keeps for some minutes. After that
 * the remaining pages are expired (410). A list that is collected is then requested once more,
 * unpaged; a list that is streamed ends with KC_EXPIRED, because its objects were already
 * delivered.
 */
#include "client/rest/client_internal.h"
#include "client/stream/list_splitter.h"

enum { CHUNK = 64 << 10 };

void kc_object_list_done(kc_object_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        kc_object_unref(list->items[i]);
    free(list->items);
    free(list->resource_version);
    free(list->continue_token);
    *list = (kc_object_list){0};
}

/* ---- one page ---- */

typedef struct lister {
    kc_client *client;
    const kc_kind *kind;
    const kc_list_opts *opts;
    kc_each_object_fn *each;
    void *user;
    int64_t n_objects; /* Number of objects so far. */
    kc_object_list about;
} lister;

static int client_list_return(kc_object *object, void *user, kc_error *err)
{
    lister *l = user;
    l->n_objects++;
    return l->each(object, l->user, err);
}

static int64_t page_size(const lister *l)
{
    const int64_t page = l->opts->page ? l->opts->page : KC__LIST_PAGE;
    const int64_t left = l->opts->limit > 0 ? l->opts->limit - l->n_objects : 0;
    if (page < 0)
        return left;
    return left ? KC_MIN(page, left) : page;
}

/* The parameters of the first page select the revision; a continue token contains it. */
void kc__client_list_params(kc__client_request *request, const kc_list_opts *opts, int64_t page,
                            const char *token)
{
    kc__client_request_param(request, "labelSelector", opts->labels);
    kc__client_request_param(request, "fieldSelector", opts->fields);
    if (page)
        kc__client_request_param_i64(request, "limit", page);
    kc__client_request_param(request, "continue", token);
    if (!token) {
        kc__client_request_param(request, "resourceVersion", opts->resource_version);
        kc__client_request_param(request, "resourceVersionMatch", opts->resource_version_match);
    }
}

void kc__client_objects_describe(kc_object_list *about, const kc_object *list)
{
    kc_auto(kc_view) *view = kc_view_parse(kc_object_metadata_json(list), NULL, NULL);
    const kc_value *metadata = view ? kc_view_root(view) : NULL;
    const kc_str token = kc_value_as_str(kc_value_get(metadata, "continue"));
    free(about->resource_version);
    free(about->continue_token);
    about->resource_version = kc_str_dup(kc_object_resource_version(list));
    about->continue_token = token.n ? kc_str_dup(token) : NULL;
    about->remaining = kc_value_as_i64_or(kc_value_get(metadata, "remainingItemCount"), 0);
}

static int cut(kc__stream_splitter *cutter, kc_http_response *response, kc_error *err)
{
    char chunk[CHUNK];
    ssize_t n;
    while ((n = kc_http_response_read(response, chunk, sizeof(chunk), err)) > 0) {
        const int r = kc__stream_splitter_feed(cutter, kc_str_of(chunk, (size_t)n), err);
        if (r < 0)
            return r;
    }
    return (int)n;
}

static int list_page(lister *l, kc_error *err)
{
    const kc_list_opts *opts = l->opts;
    kc_scoped(kc__client_request) request = {.accept =
                                                 kc__client_accept(opts->metadata_only, true)};
    const kc__client_location place = {
        .kind = l->kind, .ns = kc__client_list_namespace(l->client, l->kind, opts->ns)};
    kc__client_request_set_target(&request, &place);
    kc__client_list_params(&request, opts, page_size(l), l->about.continue_token);
    kc_auto(kc_http_response) *response = kc__client_send(l->client, &request, err);
    if (!response)
        return kc_error_result(err);
    kc_scoped(kc__stream_splitter) cutter = {
        .kind = opts->metadata_only ? &kc__client_kind_partial_metadata : l->kind,
        .each = client_list_return,
        .user = l};
    if (cut(&cutter, response, err) < 0)
        return kc_error_result(err);
    kc_auto(kc_object) *list = kc__stream_splitter_end(&cutter, err);
    if (!list)
        return kc_error_result(err);
    kc__client_objects_describe(&l->about, list);
    return 0;
}

/* ---- all pages ---- */

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
            return kc_error_result(err);
    } while (l->about.continue_token && (l->opts->limit <= 0 || l->n_objects < l->opts->limit));
    return 0;
}

static bool reads_live(const kc_client *client, const kc_list_opts *opts)
{
    const char *version = opts->resource_version, *token = opts->continue_token;
    return !client->bind.reader || client->bind.read_live || opts->live || (token && *token) ||
           (version && *version && strcmp(version, "0") != 0);
}

/* The namespace that the client is bound to applies to the reader, too. */
static int list_from_reader(const kc_client *client, const kc_kind *kind, const kc_list_opts *opts,
                            kc_object_list *ret, kc_error *err)
{
    kc_reader *reader = client->bind.reader;
    kc_list_opts with = *opts;
    with.ns = kc__client_list_namespace(client, kind, opts->ns).p;
    return reader->ops->list(reader, kind, &with, client->bind.cancel, ret, err);
}

static int each_of_reader(const kc_client *client, const kc_kind *kind, const kc_list_opts *opts,
                          kc_each_object_fn *each, void *user, kc_object_list *ret, kc_error *err)
{
    kc_scoped(kc_object_list) list = {0};
    int r = list_from_reader(client, kind, opts, &list, err);
    size_t i = 0;
    while (i < list.n && r >= 0)
        r = each(list.items[i++], user, err);
    if (i)
        memmove(list.items, list.items + i, (list.n - i) * sizeof(*list.items));
    list.n -= i; /* Ownership of the objects before was passed on. */
    if (r < 0)
        return r;
    if (ret)
        *ret = (kc_object_list){.resource_version = kc_take(list.resource_version),
                                .continue_token = kc_take(list.continue_token),
                                .remaining = list.remaining};
    return 0;
}

int kc_client_list_each(kc_client *client, const kc_kind *kind, const kc_list_opts *opts,
                        kc_each_object_fn *each, void *user, kc_object_list *ret, kc_error *err)
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
        kc_object_list_done(&l.about);
    return r;
}

/* ---- collected lists ---- */

typedef KC_VEC(kc_object *) object_vec;

static int client_list_retain(kc_object *object, void *user, kc_error *err)
{
    object_vec *all = user;
    (void)err;
    kc_vec_push(all, object);
    return 0;
}

static void client_list_forget(object_vec *all)
{
    kc_vec_each (all, object)
        kc_object_unref(*object);
    kc_vec_done(all);
}

int kc_client_list(kc_client *client, const kc_kind *kind, const kc_list_opts *opts,
                   kc_object_list *ret, kc_error *err)
{
    static const kc_list_opts defaults;
    opts = opts ? opts : &defaults;
    if (!reads_live(client, opts))
        return list_from_reader(client, kind, opts, ret, err);
    object_vec all = {0};
    kc_object_list about = {0};
    kc_scoped(kc_error) why = {0};
    int r = kc_client_list_each(client, kind, opts, client_list_retain, &all, &about, &why);
    if (r < 0 && why.code == 410 && all.n && !opts->limit && !opts->continue_token) {
        kc_list_opts unpaged = *opts;
        unpaged.page = -1;
        client_list_forget(&all);
        kc_error_done(&why);
        r = kc_client_list_each(client, kind, &unpaged, client_list_retain, &all, &about, &why);
    }
    if (r < 0) {
        client_list_forget(&all);
        return kc_error_move(err, &why);
    }
    about.items = all.items;
    about.n = all.n;
    *ret = about;
    return 0;
}
