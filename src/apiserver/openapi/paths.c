/* SPDX-License-Identifier: Apache-2.0 */
/*
 * paths.c: from resources and their verbs to paths and operations.
 *
 *     /api/v1/                                          what there is
 *     /api/v1/pods                                      of all namespaces: list
 *     /api/v1/namespaces/{namespace}/pods               list, create, deletecollection
 *     /api/v1/namespaces/{namespace}/pods/{name}        get, update, patch, delete
 *     /api/v1/namespaces/{namespace}/pods/{name}/status a subresource
 *     /api/v1/watch/…                                   the old way to watch
 *
 * Each verb is a line of `actions`: its method, words, parameters, answers. Where a verb stands in
 * the table of resources, its operation follows; nothing about a single resource is said here,
 * apart from subresources that are no objects (`connections`, logs).
 *
 * Generated clients name their functions after operationId, so it is what Kubernetes makes of the
 * same path: verb, group, version, "Namespaced", kind, subresource.
 */
#include "apiserver/kinds/strategy.h"
#include "apiserver/openapi/openapi_internal.h"
#include "kc/ascii.h"

#define META(name) KC_STR("io.k8s.apimachinery.pkg.apis.meta.v1." name)

/* What all paths of a group version have in common. */
typedef struct maker {
    kc__openapi_writer *w;
    const kc__kinds_version *version;
    const char *root; /* "/apis/apps/v1" */
    const char *name; /* "AppsV1" */
    const char *tag;  /* "apps_v1" */
    kc__openapi_path_fn *write;
} maker;

/* What a path is about. */
typedef struct place {
    const kc__resource *resource;
    const kc__subresource *sub; /* NULL: the resource itself. */
    bool in_namespace;          /* Has {namespace}. */
    bool all_namespaces;        /* Of a namespaced resource, without it. */
    bool named;                 /* Has {name}. */
    bool with_path;             /* Has {path}. */
} place;

/* What an operation answers with. */
typedef enum answer { OBJECT, LIST, STATUS, EVENT } answer;

typedef struct action {
    unsigned verb; /* Of the table of resources. */
    const char *method, *name, *prefix;
    const char *text, *sub_text; /* Description: %k is the kind, %r the subresource. */
    unsigned parameters;
    unsigned codes;
    answer answers;
    bool body, body_required;
} action;

#define LATER_THAN_LIST "deprecated: use the 'watch' parameter with a list operation instead"
enum { OK = KC__CODE_OK, CREATED = KC__CODE_CREATED, ACCEPTED = KC__CODE_ACCEPTED };

/* clang-format off */
static const action on_collection[] = {
    {KC__LIST, "get", "list", "list", "list or watch objects of kind %k", NULL,
     KC__PARAMS_LIST, OK, LIST, false, false},
    {KC__CREATE, "post", "post", "create", "create%k", "create %r of%k",
     KC__PARAMS_CREATE, OK | CREATED | ACCEPTED, OBJECT, true, true},
    {KC__DELETE_COLLECTION, "delete", "deletecollection", "delete", "delete collection of %k", NULL,
     KC__PARAMS_DELETE | KC__PARAMS_DELETE_LIST, OK, STATUS, true, false},
};
static const action on_item[] = {
    {KC__GET, "get", "get", "read", "read the specified %k", "read %r of the specified %k",
     0, OK, OBJECT, false, false},
    {KC__UPDATE, "put", "put", "replace", "replace the specified %k",
     "replace %r of the specified %k", KC__PARAMS_UPDATE, OK | CREATED, OBJECT, true, true},
    {KC__CREATE, "post", "post", "create", NULL, "create %r of%k",
     KC__PARAMS_CREATE, OK | CREATED | ACCEPTED, OBJECT, true, true},
    {KC__DELETE, "delete", "delete", "delete", "delete%k", "delete %r of%k",
     KC__PARAMS_DELETE, OK | ACCEPTED, STATUS, true, false},
    {KC__PATCH, "patch", "patch", "patch", "partially update the specified %k",
     "partially update %r of the specified %k", KC__PARAMS_PATCH, OK | CREATED, OBJECT, true,
     true},
};
static const action watch_list = {
    KC__WATCH, "get", "watchlist", "watch",
    "watch individual changes to a list of %k. " LATER_THAN_LIST ".", NULL,
    KC__PARAMS_LIST, OK, EVENT, false, false};
static const action watch_item = {
    KC__WATCH, "get", "watch", "watch",
    "watch changes to an object of kind %k. " LATER_THAN_LIST
    ", filtered to a single item with the 'fieldSelector' parameter.", NULL,
    KC__PARAMS_LIST, OK, EVENT, false, false};
/* clang-format on */

/* ---- names ---- */

/* "RbacAuthorization" of "rbac.authorization.k8s.io", "Core" of "". */
static const char *camel_group(kc_arena *arena, kc_str group)
{
    kc_scoped(kc_buf) out = {0};
    if (!group.n)
        return "Core";
    if (kc_str_ends(group, KC_STR(".k8s.io")))
        group.n -= strlen(".k8s.io");
    for (bool starts = true; group.n; group = kc_str_sub(group, 1, group.n)) {
        char c = group.p[0];
        if (kc_is_alnum(c))
            kc_buf_putc(&out, starts && c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c);
        starts = !kc_is_alnum(c);
    }
    return kc_arena_strndup(arena, kc_buf_cstr(&out), out.n);
}

/* With another case of its first letter. */
static const char *first_letter(kc_arena *arena, const char *text, bool upper)
{
    char *copy = kc_arena_strndup(arena, text, strlen(text));
    if (kc_is_alnum(*copy) && (*copy > '9'))
        *copy = (char)(upper ? *copy & ~0x20 : *copy | 0x20);
    return copy;
}

/* " a Pod", " an Ingress", " Endpoints": those in the plural have no article. */
static const char *with_article(kc_arena *arena, const char *noun)
{
    size_t n = strlen(noun);
    bool plural = n > 1 && noun[n - 1] == 's' && noun[n - 2] != 's';
    const char *article = plural ? "" : strchr("AEIOUaeiou", noun[0]) ? "an " : "a ";
    return kc_arena_printf(arena, " %s%s", article, noun);
}

/* The part of an operationId behind verb, group and version. */
static const char *subject(maker *m, const place *p, const action *what)
{
    kc_arena *arena = m->w->arena;
    bool watches_list = what == &watch_list;
    return kc_arena_printf(
        arena, "%s%s%s%s%s%s", what->verb == KC__DELETE_COLLECTION ? "Collection" : "",
        p->in_namespace ? "Namespaced" : "", p->resource->kind,
        p->sub ? first_letter(arena, p->sub->name, true) : "", watches_list ? "List" : "",
        p->all_namespaces ? "ForAllNamespaces"
        : p->with_path    ? "WithPath"
                          : "");
}

/* Puts the kind in the place of %k, and the subresource in that of %r. */
static const char *fill_in(kc_arena *arena, const char *text, const char *kind, const char *sub)
{
    kc_scoped(kc_buf) out = {0};
    for (; *text; text++) {
        if (*text != '%')
            kc_buf_putc(&out, *text);
        else
            kc_buf_puts(&out, *++text == 'k' ? kind : sub);
    }
    return kc_arena_strndup(arena, kc_buf_cstr(&out), out.n);
}

static const char *describe(maker *m, const place *p, const action *what)
{
    const char *kind = p->resource->kind;
    const char *text = p->sub && what->sub_text ? what->sub_text : what->text;
    if (what->verb == KC__LIST && !(p->resource->verbs & KC__WATCH))
        text = "list objects of kind %k";
    if (what->verb == KC__CREATE || what->verb == KC__DELETE)
        kind = with_article(m->w->arena, kind);
    return fill_in(m->w->arena, text, kind, p->sub ? p->sub->name : "");
}

/* ---- operations ---- */

/* What a subresource speaks where that is a kind of its own. */
static const kc__message *sub_message(kc_arena *arena, const place *p)
{
    const kc__subresource *sub = p->sub;
    const char *group = sub->group ? sub->group : p->resource->group;
    const char *api_version = kc_arena_printf(arena, "%s%s%s", group, *group ? "/" : "",
                                              sub->version ? sub->version : p->resource->version);
    return kc__definition_of_kind(kc_cstr(api_version), kc_cstr(sub->kind));
}

static const char *object_schema(maker *m, const place *p)
{
    const kc__message *own = p->sub && p->sub->kind ? sub_message(m->w->arena, p) : NULL;
    return own ? kc__openapi_want(m->w, own) : kc__openapi_schema_of(m->w, p->resource);
}

static const char *meta_schema(maker *m, kc_str name)
{
    return kc__openapi_want(m->w, kc__definition_find(name));
}

static bool shows_deleted(const kc__resource *resource)
{
    return resource->strategy && resource->strategy->shows_deleted;
}

static const char *answer_schema(maker *m, const place *p, const action *what)
{
    switch (what->answers) {
    case LIST: return kc__openapi_list_schema_of(m->w, p->resource);
    case STATUS:
        if (what->verb != KC__DELETE || !shows_deleted(p->resource))
            return meta_schema(m, META("Status"));
        break;
    case EVENT: return meta_schema(m, META("WatchEvent"));
    case OBJECT: break;
    }
    return object_schema(m, p);
}

static unsigned place_parameters(const place *p)
{
    return (p->named ? KC__PARAMS_NAME : 0) | (p->in_namespace ? KC__PARAMS_NAMESPACE : 0) |
           (p->with_path ? KC__PARAMS_PATH : 0);
}

/* Which kind it is about, with the group and version that has it. */
static void set_kind(kc__operation *operation, const place *p)
{
    const kc__subresource *sub = p->sub;
    bool other = sub && sub->group;
    operation->group = other ? sub->group : p->resource->group;
    operation->version = other ? sub->version : p->resource->version;
    operation->kind = sub && sub->kind ? sub->kind : p->resource->kind;
}

static void set_body(maker *m, kc__operation *operation, const place *p, const action *what)
{
    operation->body_required = what->body_required;
    operation->patches = what->verb == KC__PATCH;
    operation->strategic = p->resource->type != NULL;
    if (!what->body)
        return;
    if (what->verb == KC__PATCH)
        operation->body = meta_schema(m, META("Patch"));
    else if (what->answers == STATUS)
        operation->body = meta_schema(m, META("DeleteOptions"));
    else
        operation->body = object_schema(m, p);
}

static void add_operation(maker *m, kc__openapi_path *path, const place *p, const action *what)
{
    kc__operation *operation = kc_vec_add(&path->operations);
    operation->method = what->method;
    operation->action = what->name;
    operation->description = describe(m, p, what);
    operation->id =
        kc_arena_printf(m->w->arena, "%s%s%s", what->prefix, m->name, subject(m, p, what));
    set_kind(operation, p);
    kc__openapi_parameters(
        m->w,
        &(kc__parameters_of){.sets = what->parameters | place_parameters(p) | KC__PARAMS_PRETTY,
                             .kind = operation->kind},
        &operation->parameters);
    set_body(m, operation, p, what);
    operation->codes = what->codes;
    operation->answer = answer_schema(m, p, what);
    operation->answers =
        what->answers == LIST || what->answers == EVENT ? KC__ANSWERS_STREAMS : KC__ANSWERS_OBJECTS;
}

static void finish(maker *m, kc__openapi_path *path)
{
    if (path->operations.n)
        m->write(m->w, path, m->tag);
    kc_vec_each (&path->operations, operation)
        kc_vec_done(&operation->parameters);
    kc_vec_done(&path->operations);
    kc_vec_done(&path->common);
}

/* ---- paths ---- */

static const char *path_of(maker *m, const place *p, const char *prefix)
{
    return kc_arena_printf(m->w->arena, "%s%s%s/%s%s%s%s%s", m->root, prefix,
                           p->in_namespace ? "/namespaces/{namespace}" : "", p->resource->plural,
                           p->named ? "/{name}" : "", p->sub ? "/" : "", p->sub ? p->sub->name : "",
                           p->with_path ? "/{path}" : "");
}

/* A path with those of `actions` that are among the verbs. */
static void make(maker *m, const place *p, const action *actions, size_t n, unsigned verbs)
{
    kc__openapi_path path = {.path = path_of(m, p, "")};
    for (size_t i = 0; i < n; i++) {
        if (verbs & actions[i].verb)
            add_operation(m, &path, p, &actions[i]);
    }
    finish(m, &path);
}

/* PodLogOptions; empty: not found. */
static const kc__message *options_message(kc_arena *arena, const place *p, const char *kind)
{
    kc_str type = kc_cstr(p->resource->type_name);
    kc_str package = kc_str_sub(type, 0, (size_t)(kc_str_rfind(type, '.') + 1));
    return kc__definition_find(kc_cstr(kc_arena_printf(arena, "%.*s%s", KC_ARG(package), kind)));
}

/* A method that hands the connection over, or reads text: no objects. */
static void add_raw(maker *m, kc__openapi_path *path, const place *p, const action *what,
                    const char *options)
{
    bool text = what->verb == KC__GET;
    kc__operation *operation = kc_vec_add(&path->operations);
    *operation = (kc__operation){.method = what->method,
                                 .action = what->name,
                                 .codes = OK,
                                 .answers = text ? KC__ANSWERS_TEXT : KC__ANSWERS_ANYTHING,
                                 .description = describe(m, p, what)};
    operation->id = kc_arena_printf(m->w->arena, "%s%s%s%s", what->prefix, m->name,
                                    text ? "" : first_letter(m->w->arena, what->method, true),
                                    subject(m, p, what));
    set_kind(operation, p);
    kc__openapi_parameters(
        m->w,
        &(kc__parameters_of){.sets = place_parameters(p) | (text ? KC__PARAMS_PRETTY : 0),
                             .kind = operation->kind,
                             .options = options_message(m->w->arena, p, options)},
        &operation->parameters);
}

static void make_connection(maker *m, const place *p)
{
    static const struct {
        const char *method, *text;
        bool always; /* Not only of proxies. */
    } methods[] = {
        {"get", "connect GET requests to %r of %k", true},
        {"put", "connect PUT requests to %r of %k", false},
        {"post", "connect POST requests to %r of %k", true},
        {"delete", "connect DELETE requests to %r of %k", false},
        {"options", "connect OPTIONS requests to %r of %k", false},
        {"head", "connect HEAD requests to %r of %k", false},
        {"patch", "connect PATCH requests to %r of %k", false},
    };
    bool proxy = p->sub->verbs & KC__DELETE;
    kc__openapi_path path = {.path = path_of(m, p, "")};
    for (size_t i = 0; i < KC_COUNT(methods); i++) {
        action what = {.method = methods[i].method,
                       .name = "connect",
                       .prefix = "connect",
                       .text = methods[i].text};
        if (proxy || methods[i].always)
            add_raw(m, &path, p, &what, p->sub->kind);
    }
    finish(m, &path);
    if (proxy && !p->with_path) {
        place deeper = *p;
        deeper.with_path = true;
        make_connection(m, &deeper);
    }
}

static void make_log(maker *m, const place *p)
{
    const action read = {.verb = KC__GET,
                         .method = "get",
                         .name = "get",
                         .prefix = "read",
                         .text = "read %r of the specified %k"};
    kc__openapi_path path = {.path = path_of(m, p, "")};
    add_raw(m, &path, p, &read, "PodLogOptions");
    finish(m, &path);
}

static void make_subresource(maker *m, const place *p)
{
    if (p->sub->kind && kc_str_ends(kc_cstr(p->sub->kind), KC_STR("Options")))
        make_connection(m, p);
    else if (p->resource->type && !strcmp(p->sub->name, "log"))
        make_log(m, p);
    else
        make(m, p, on_item, KC_COUNT(on_item), p->sub->verbs);
}

static void make_watch(maker *m, const place *p)
{
    kc__openapi_path path = {.path = path_of(m, p, "/watch")};
    if ((p->resource->verbs & KC__WATCH) && (p->resource->verbs & KC__LIST))
        add_operation(m, &path, p, p->named ? &watch_item : &watch_list);
    finish(m, &path);
}

static void make_resource(maker *m, const kc__resource *resource)
{
    place everywhere = {.resource = resource, .all_namespaces = true};
    place collection = {.resource = resource, .in_namespace = resource->namespaced};
    place item = collection;
    item.named = true;
    if (resource->namespaced) {
        make(m, &everywhere, on_collection, 1, resource->verbs);
        make_watch(m, &everywhere);
    }
    make(m, &collection, on_collection, KC_COUNT(on_collection), resource->verbs);
    make(m, &item, on_item, KC_COUNT(on_item), resource->verbs & ~(unsigned)KC__CREATE);
    for (const kc__subresource *sub = resource->subresources; sub && sub->name; sub++) {
        place below = item;
        below.sub = sub;
        make_subresource(m, &below);
    }
    make_watch(m, &collection);
    make_watch(m, &item);
}

/* /apis/apps/v1/: the resources there are. */
static void make_root(maker *m)
{
    kc__openapi_path path = {.path = kc_arena_printf(m->w->arena, "%s/", m->root)};
    kc__operation *operation = kc_vec_add(&path.operations);
    operation->method = "get";
    operation->description = "get available resources";
    operation->id = kc_arena_printf(m->w->arena, "get%sAPIResources", m->name);
    operation->codes = OK;
    operation->answer = meta_schema(m, META("APIResourceList"));
    finish(m, &path);
}

void kc__openapi_paths(kc__openapi_writer *w, const kc__kinds_version *version,
                       kc__openapi_path_fn *write)
{
    const char *group = camel_group(w->arena, kc_cstr(version->group));
    maker m = {.w = w, .version = version, .write = write};
    m.root = version->group[0]
                 ? kc_arena_printf(w->arena, "/apis/%s/%s", version->group, version->name)
                 : kc_arena_printf(w->arena, "/api/%s", version->name);
    m.name = kc_arena_printf(w->arena, "%s%s", group, first_letter(w->arena, version->name, true));
    m.tag = kc_arena_printf(w->arena, "%s_%s", first_letter(w->arena, group, false), version->name);
    make_root(&m);
    for (size_t i = 0; i < version->n_resources; i++)
        make_resource(&m, &version->resources[i]);
}
