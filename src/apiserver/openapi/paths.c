/* SPDX-License-Identifier: Apache-2.0 */
/*
 * paths.c: makes paths and operations from resources and their verbs.
 *
 *     /api/v1/                                          discovery
 *     /api/v1/pods                                      of all namespaces: list
 *     /api/v1/namespaces/{namespace}/pods               list, create, deletecollection
 *     /api/v1/namespaces/{namespace}/pods/{name}        get, update, patch, delete
 *     /api/v1/namespaces/{namespace}/pods/{name}/status a subresource
 *     /api/v1/watch/…                                   the deprecated watch paths
 *
 * Each verb is a row of `actions`: its method, description, parameters, responses. A verb in the
 * table of resources yields its operation; no single resource is named here, except subresources
 * that are not objects (`connections`, logs).
 *
 * Generated clients name their functions after operationId, so it is that of Kubernetes for the
 * same path: verb, group, version, "Namespaced", kind, subresource.
 */
#include "apiserver/kinds/strategy.h"
#include "apiserver/openapi/openapi_internal.h"
#include "kc/ascii.h"

#define META(name) KC_STR("io.k8s.apimachinery.pkg.apis.meta.v1." name)

/* Shared by all paths of a group version. */
typedef struct path_maker {
    kc__openapi_writer *w;
    const kc__registry_version *version;
    const char *root; /* "/apis/apps/v1" */
    const char *name; /* "AppsV1" */
    const char *tag;  /* "apps_v1" */
    kc__openapi_path_fn *write;
} path_maker;

/* The resource and scope of a path. */
typedef struct path_scope {
    const kc__resource *resource;
    const kc__resource_subresource *sub; /* NULL: the resource itself. */
    bool in_namespace;                   /* Has {namespace}. */
    bool all_namespaces;                 /* A namespaced resource, without {namespace}. */
    bool named;                          /* Has {name}. */
    bool with_path;                      /* Has {path}. */
} path_scope;

/* The response of an operation. */
typedef enum path_response { OBJECT, LIST, STATUS, EVENT } path_response;

typedef struct action {
    unsigned verb; /* Bit in the table of resources. */
    const char *method, *name, *prefix;
    const char *text, *sub_text; /* Description: %k is the kind, %r the subresource. */
    unsigned parameters;
    unsigned codes;
    path_response answers;
    bool body, body_required;
} action;

#define LATER_THAN_LIST "deprecated: use the 'watch' parameter with a list operation instead"
enum {
    OK = KC__OPENAPI_CODE_OK,
    CREATED = KC__OPENAPI_CODE_CREATED,
    ACCEPTED = KC__OPENAPI_CODE_ACCEPTED
};

/* clang-format off */
static const action on_collection[] = {
    {KC__VERB_LIST, "get", "list", "list", "list or watch objects of kind %k", NULL,
     KC__OPENAPI_PARAMS_LIST, OK, LIST, false, false},
    {KC__VERB_CREATE, "post", "post", "create", "create%k", "create %r of%k",
     KC__OPENAPI_PARAMS_CREATE, OK | CREATED | ACCEPTED, OBJECT, true, true},
    {KC__VERB_DELETE_COLLECTION, "delete", "deletecollection", "delete", "delete collection of %k", NULL,
     KC__OPENAPI_PARAMS_DELETE | KC__OPENAPI_PARAMS_DELETE_LIST, OK, STATUS, true, false},
};
static const action on_item[] = {
    {KC__VERB_GET, "get", "get", "read", "read the specified %k", "read %r of the specified %k",
     0, OK, OBJECT, false, false},
    {KC__VERB_UPDATE, "put", "put", "replace", "replace the specified %k",
     "replace %r of the specified %k", KC__OPENAPI_PARAMS_UPDATE, OK | CREATED, OBJECT, true, true},
    {KC__VERB_CREATE, "post", "post", "create", NULL, "create %r of%k",
     KC__OPENAPI_PARAMS_CREATE, OK | CREATED | ACCEPTED, OBJECT, true, true},
    {KC__VERB_DELETE, "delete", "delete", "delete", "delete%k", "delete %r of%k",
     KC__OPENAPI_PARAMS_DELETE, OK | ACCEPTED, STATUS, true, false},
    {KC__VERB_PATCH, "patch", "patch", "patch", "partially update the specified %k",
     "partially update %r of the specified %k", KC__OPENAPI_PARAMS_PATCH, OK | CREATED, OBJECT, true,
     true},
};
static const action watch_list = {
    KC__VERB_WATCH, "get", "watchlist", "watch",
    "watch individual changes to a list of %k. " LATER_THAN_LIST ".", NULL,
    KC__OPENAPI_PARAMS_LIST, OK, EVENT, false, false};
static const action watch_item = {
    KC__VERB_WATCH, "get", "watch", "watch",
    "watch changes to an object of kind %k. " LATER_THAN_LIST
    ", filtered to a single item with the 'fieldSelector' parameter.", NULL,
    KC__OPENAPI_PARAMS_LIST, OK, EVENT, false, false};
/* clang-format on */

/* ---- names ---- */

/* "RbacAuthorization" for "rbac.authorization.k8s.io", "Core" for "". */
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

/* Changes the case of the first letter. */
static const char *first_letter(kc_arena *arena, const char *text, bool upper)
{
    char *copy = kc_arena_strndup(arena, text, strlen(text));
    if (kc_is_alnum(*copy) && (*copy > '9'))
        *copy = (char)(upper ? *copy & ~0x20 : *copy | 0x20);
    return copy;
}

/* " a Pod", " an Ingress", " Endpoints": plurals have no article. */
static const char *with_article(kc_arena *arena, const char *noun)
{
    size_t n = strlen(noun);
    bool plural = n > 1 && noun[n - 1] == 's' && noun[n - 2] != 's';
    const char *article = plural ? "" : strchr("AEIOUaeiou", noun[0]) ? "an " : "a ";
    return kc_arena_printf(arena, " %s%s", article, noun);
}

/* The part of an operationId after verb, group and version. */
static const char *subject(path_maker *m, const path_scope *p, const action *what)
{
    kc_arena *arena = m->w->arena;
    bool watches_list = what == &watch_list;
    return kc_arena_printf(
        arena, "%s%s%s%s%s%s", what->verb == KC__VERB_DELETE_COLLECTION ? "Collection" : "",
        p->in_namespace ? "Namespaced" : "", p->resource->kind,
        p->sub ? first_letter(arena, p->sub->name, true) : "", watches_list ? "List" : "",
        p->all_namespaces ? "ForAllNamespaces"
        : p->with_path    ? "WithPath"
                          : "");
}

/* Replaces %k with the kind and %r with the subresource. */
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

static const char *describe(path_maker *m, const path_scope *p, const action *what)
{
    const char *kind = p->resource->kind;
    const char *text = p->sub && what->sub_text ? what->sub_text : what->text;
    if (what->verb == KC__VERB_LIST && !(p->resource->verbs & KC__VERB_WATCH))
        text = "list objects of kind %k";
    if (what->verb == KC__VERB_CREATE || what->verb == KC__VERB_DELETE)
        kind = with_article(m->w->arena, kind);
    return fill_in(m->w->arena, text, kind, p->sub ? p->sub->name : "");
}

/* ---- operations ---- */

/* The message of a subresource that has a kind of its own. */
static const kc__type_message *sub_message(kc_arena *arena, const path_scope *p)
{
    const kc__resource_subresource *sub = p->sub;
    const char *group = sub->group ? sub->group : p->resource->group;
    const char *api_version = kc_arena_printf(arena, "%s%s%s", group, *group ? "/" : "",
                                              sub->version ? sub->version : p->resource->version);
    return kc__type_lookup_kind(kc_cstr(api_version), kc_cstr(sub->kind));
}

static const char *object_schema(path_maker *m, const path_scope *p)
{
    const kc__type_message *own = p->sub && p->sub->kind ? sub_message(m->w->arena, p) : NULL;
    return own ? kc__openapi_require_schema(m->w, own) : kc__openapi_schema_of(m->w, p->resource);
}

static const char *meta_schema(path_maker *m, kc_str name)
{
    return kc__openapi_require_schema(m->w, kc__type_lookup(name));
}

static bool shows_deleted(const kc__resource *resource)
{
    return resource->strategy && resource->strategy->shows_deleted;
}

static const char *answer_schema(path_maker *m, const path_scope *p, const action *what)
{
    switch (what->answers) {
    case LIST: return kc__openapi_list_schema_of(m->w, p->resource);
    case STATUS:
        if (what->verb != KC__VERB_DELETE || !shows_deleted(p->resource))
            return meta_schema(m, META("Status"));
        break;
    case EVENT: return meta_schema(m, META("WatchEvent"));
    case OBJECT: break;
    }
    return object_schema(m, p);
}

static unsigned place_parameters(const path_scope *p)
{
    return (p->named ? KC__OPENAPI_PARAMS_NAME : 0) |
           (p->in_namespace ? KC__OPENAPI_PARAMS_NAMESPACE : 0) |
           (p->with_path ? KC__OPENAPI_PARAMS_PATH : 0);
}

/* Sets the kind of an operation, with its group and version. */
static void set_kind(kc__openapi_operation *operation, const path_scope *p)
{
    const kc__resource_subresource *sub = p->sub;
    bool other = sub && sub->group;
    operation->group = other ? sub->group : p->resource->group;
    operation->version = other ? sub->version : p->resource->version;
    operation->kind = sub && sub->kind ? sub->kind : p->resource->kind;
}

static void set_body(path_maker *m, kc__openapi_operation *operation, const path_scope *p,
                     const action *what)
{
    operation->body_required = what->body_required;
    operation->patches = what->verb == KC__VERB_PATCH;
    operation->strategic = p->resource->type != NULL;
    if (!what->body)
        return;
    if (what->verb == KC__VERB_PATCH)
        operation->body = meta_schema(m, META("Patch"));
    else if (what->answers == STATUS)
        operation->body = meta_schema(m, META("DeleteOptions"));
    else
        operation->body = object_schema(m, p);
}

static void add_operation(path_maker *m, kc__openapi_path *path, const path_scope *p,
                          const action *what)
{
    kc__openapi_operation *operation = kc_vec_add(&path->operations);
    operation->method = what->method;
    operation->action = what->name;
    operation->description = describe(m, p, what);
    operation->id =
        kc_arena_printf(m->w->arena, "%s%s%s", what->prefix, m->name, subject(m, p, what));
    set_kind(operation, p);
    kc__openapi_parameters(m->w,
                           &(kc__openapi_parameter_sets){.sets = what->parameters |
                                                                 place_parameters(p) |
                                                                 KC__OPENAPI_PARAMS_PRETTY,
                                                         .kind = operation->kind},
                           &operation->parameters);
    set_body(m, operation, p, what);
    operation->codes = what->codes;
    operation->response = answer_schema(m, p, what);
    operation->answers = what->answers == LIST || what->answers == EVENT
                             ? KC__OPENAPI_RESPONSE_STREAMS
                             : KC__OPENAPI_RESPONSE_OBJECTS;
}

static void finish_openapi_path(path_maker *m, kc__openapi_path *path)
{
    if (path->operations.n)
        m->write(m->w, path, m->tag);
    kc_vec_each (&path->operations, operation)
        kc_vec_done(&operation->parameters);
    kc_vec_done(&path->operations);
    kc_vec_done(&path->common);
}

/* ---- paths ---- */

static const char *path_of(path_maker *m, const path_scope *p, const char *prefix)
{
    return kc_arena_printf(m->w->arena, "%s%s%s/%s%s%s%s%s", m->root, prefix,
                           p->in_namespace ? "/namespaces/{namespace}" : "", p->resource->plural,
                           p->named ? "/{name}" : "", p->sub ? "/" : "", p->sub ? p->sub->name : "",
                           p->with_path ? "/{path}" : "");
}

/* Makes a path with the `actions` whose verbs are in the set. */
static void make(path_maker *m, const path_scope *p, const action *actions, size_t n,
                 unsigned verbs)
{
    kc__openapi_path path = {.path = path_of(m, p, "")};
    for (size_t i = 0; i < n; i++) {
        if (verbs & actions[i].verb)
            add_operation(m, &path, p, &actions[i]);
    }
    finish_openapi_path(m, &path);
}

/* The options of logs: PodLogOptions; empty: not found. */
static const kc__type_message *options_message(kc_arena *arena, const path_scope *p,
                                               const char *kind)
{
    kc_str type = kc_cstr(p->resource->type_name);
    kc_str package = kc_str_sub(type, 0, (size_t)(kc_str_rfind(type, '.') + 1));
    return kc__type_lookup(kc_cstr(kc_arena_printf(arena, "%.*s%s", KC_ARG(package), kind)));
}

/* Adds a method that upgrades the connection or reads text, without objects. */
static void add_raw(path_maker *m, kc__openapi_path *path, const path_scope *p, const action *what,
                    const char *options)
{
    bool text = what->verb == KC__VERB_GET;
    kc__openapi_operation *operation = kc_vec_add(&path->operations);
    *operation = (kc__openapi_operation){.method = what->method,
                                         .action = what->name,
                                         .codes = OK,
                                         .answers = text ? KC__OPENAPI_RESPONSE_TEXT
                                                         : KC__OPENAPI_RESPONSE_ANYTHING,
                                         .description = describe(m, p, what)};
    operation->id = kc_arena_printf(m->w->arena, "%s%s%s%s", what->prefix, m->name,
                                    text ? "" : first_letter(m->w->arena, what->method, true),
                                    subject(m, p, what));
    set_kind(operation, p);
    kc__openapi_parameters(m->w,
                           &(kc__openapi_parameter_sets){
                               .sets = place_parameters(p) | (text ? KC__OPENAPI_PARAMS_PRETTY : 0),
                               .kind = operation->kind,
                               .options = options_message(m->w->arena, p, options)},
                           &operation->parameters);
}

static void make_connection(path_maker *m, const path_scope *p)
{
    static const struct {
        const char *method, *text;
        bool always; /* Not only for proxies. */
    } methods[] = {
        {"get", "connect GET requests to %r of %k", true},
        {"put", "connect PUT requests to %r of %k", false},
        {"post", "connect POST requests to %r of %k", true},
        {"delete", "connect DELETE requests to %r of %k", false},
        {"options", "connect OPTIONS requests to %r of %k", false},
        {"head", "connect HEAD requests to %r of %k", false},
        {"patch", "connect PATCH requests to %r of %k", false},
    };
    bool proxy = p->sub->verbs & KC__VERB_DELETE;
    kc__openapi_path path = {.path = path_of(m, p, "")};
    for (size_t i = 0; i < KC_COUNT(methods); i++) {
        action what = {.method = methods[i].method,
                       .name = "connect",
                       .prefix = "connect",
                       .text = methods[i].text};
        if (proxy || methods[i].always)
            add_raw(m, &path, p, &what, p->sub->kind);
    }
    finish_openapi_path(m, &path);
    if (proxy && !p->with_path) {
        path_scope deeper = *p;
        deeper.with_path = true;
        make_connection(m, &deeper);
    }
}

static void make_log(path_maker *m, const path_scope *p)
{
    const action read = {.verb = KC__VERB_GET,
                         .method = "get",
                         .name = "get",
                         .prefix = "read",
                         .text = "read %r of the specified %k"};
    kc__openapi_path path = {.path = path_of(m, p, "")};
    add_raw(m, &path, p, &read, "PodLogOptions");
    finish_openapi_path(m, &path);
}

static void make_subresource(path_maker *m, const path_scope *p)
{
    if (p->sub->kind && kc_str_ends(kc_cstr(p->sub->kind), KC_STR("Options")))
        make_connection(m, p);
    else if (p->resource->type && !strcmp(p->sub->name, "log"))
        make_log(m, p);
    else
        make(m, p, on_item, KC_COUNT(on_item), p->sub->verbs);
}

static void make_watch(path_maker *m, const path_scope *p)
{
    kc__openapi_path path = {.path = path_of(m, p, "/watch")};
    if ((p->resource->verbs & KC__VERB_WATCH) && (p->resource->verbs & KC__VERB_LIST))
        add_operation(m, &path, p, p->named ? &watch_item : &watch_list);
    finish_openapi_path(m, &path);
}

static void make_resource(path_maker *m, const kc__resource *resource)
{
    path_scope everywhere = {.resource = resource, .all_namespaces = true};
    path_scope collection = {.resource = resource, .in_namespace = resource->namespaced};
    path_scope item = collection;
    item.named = true;
    if (resource->namespaced) {
        make(m, &everywhere, on_collection, 1, resource->verbs);
        make_watch(m, &everywhere);
    }
    make(m, &collection, on_collection, KC_COUNT(on_collection), resource->verbs);
    make(m, &item, on_item, KC_COUNT(on_item), resource->verbs & ~(unsigned)KC__VERB_CREATE);
    for (const kc__resource_subresource *sub = resource->subresources; sub && sub->name; sub++) {
        path_scope below = item;
        below.sub = sub;
        make_subresource(m, &below);
    }
    make_watch(m, &collection);
    make_watch(m, &item);
}

/* /apis/apps/v1/: the list of resources. */
static void make_root(path_maker *m)
{
    kc__openapi_path path = {.path = kc_arena_printf(m->w->arena, "%s/", m->root)};
    kc__openapi_operation *operation = kc_vec_add(&path.operations);
    operation->method = "get";
    operation->description = "get available resources";
    operation->id = kc_arena_printf(m->w->arena, "get%sAPIResources", m->name);
    operation->codes = OK;
    operation->response = meta_schema(m, META("APIResourceList"));
    finish_openapi_path(m, &path);
}

void kc__openapi_paths(kc__openapi_writer *w, const kc__registry_version *version,
                       kc__openapi_path_fn *write)
{
    const char *group = camel_group(w->arena, kc_cstr(version->group));
    path_maker m = {.w = w, .version = version, .write = write};
    m.root = version->group[0]
                 ? kc_arena_printf(w->arena, "/apis/%s/%s", version->group, version->name)
                 : kc_arena_printf(w->arena, "/api/%s", version->name);
    m.name = kc_arena_printf(w->arena, "%s%s", group, first_letter(w->arena, version->name, true));
    m.tag = kc_arena_printf(w->arena, "%s_%s", first_letter(w->arena, group, false), version->name);
    make_root(&m);
    for (size_t i = 0; i < version->n_resources; i++)
        make_resource(&m, &version->resources[i]);
}
