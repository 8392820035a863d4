/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parameters.c: the query and path parameters.
 *
 * Query parameters are the fields of a verb's options type (ListOptions, PatchOptions, …): names,
 * types and descriptions come from the API definitions, so this file lists only the few that belong
 * to no options type. Fields that are structs (preconditions, times) cannot be in a query.
 *
 * A path has the parameters that all its operations share; each operation has the rest.
 */
#include "apiserver/openapi/openapi_internal.h"

#define OPTIONS(name) "io.k8s.apimachinery.pkg.apis.meta.v1." name

/* The options types of verbs. */
static const struct {
    unsigned set;
    const char *options;
} of_sets[] = {
    {KC__OPENAPI_PARAMS_LIST, OPTIONS("ListOptions")},
    {KC__OPENAPI_PARAMS_DELETE_LIST, OPTIONS("ListOptions")},
    {KC__OPENAPI_PARAMS_CREATE, OPTIONS("CreateOptions")},
    {KC__OPENAPI_PARAMS_UPDATE, OPTIONS("UpdateOptions")},
    {KC__OPENAPI_PARAMS_PATCH, OPTIONS("PatchOptions")},
    {KC__OPENAPI_PARAMS_DELETE, OPTIONS("DeleteOptions")},
};

bool kc__openapi_parameter_equals(const kc__openapi_parameter *a, const kc__openapi_parameter *b)
{
    return !strcmp(a->name, b->name) && !strcmp(a->in, b->in) &&
           kc_str_eq(a->description, b->description);
}

/* The type of a field's value in a query; NULL: it cannot be in one. For a list: of an element. */
static const char *query_type(const kc__type_field *field)
{
    if (field->shape == KC__MAPPED)
        return NULL;
    switch ((kc__type_field_kind)field->kind) {
    case KC__FIELD_BOOL: return "boolean";
    case KC__FIELD_INT32:
    case KC__FIELD_INT64:
    case KC__FIELD_UINT32:
    case KC__FIELD_UINT64: return "integer";
    case KC__FIELD_STRING: return "string";
    default: return NULL;
    }
}

static bool has(const kc__openapi_parameter_list *params, const kc__openapi_parameter *one)
{
    kc_vec_each (params, param) {
        if (!strcmp(param->name, one->name) && !strcmp(param->in, one->in))
            return true;
    }
    return false;
}

static void add_openapi_parameter(kc__openapi_parameter_list *out, kc__openapi_parameter param)
{
    if (!has(out, &param))
        kc_vec_push(out, param);
}

/* A deletecollection does not watch. */
static bool is_of_watches(kc_str name)
{
    return kc_str_is(name, "watch") || kc_str_is(name, "allowWatchBookmarks");
}

static void add_options(kc__openapi_writer *w, const kc__type_message *options, bool watches,
                        kc__openapi_parameter_list *out)
{
    for (size_t i = 0; options && i < options->n_fields; i++) {
        const kc__type_field *field = &options->fields[i];
        const char *type = query_type(field);
        if (type && (watches || !is_of_watches(field->name)))
            add_openapi_parameter(out,
                                  (kc__openapi_parameter){
                                      .name = field->name.p,
                                      .in = "query",
                                      .type = type,
                                      .description = kc__openapi_describe_field(w->texts, field)});
    }
}

/* Adds the parameters that belong to no options type. */
static void add_words(kc__openapi_writer *w, const kc__openapi_parameter_sets *of,
                      kc__openapi_parameter_list *out)
{
    const struct {
        unsigned set;
        kc__openapi_parameter param;
    } words[] = {
        {KC__OPENAPI_PARAMS_NAME,
         {.name = "name",
          .in = "path",
          .description = kc_cstr(kc_arena_printf(w->arena, "name of the %s", of->kind))}},
        {KC__OPENAPI_PARAMS_NAMESPACE,
         {.name = "namespace",
          .in = "path",
          .description = KC_STR("object name and auth scope, such as for teams and projects")}},
        {KC__OPENAPI_PARAMS_PATH,
         {.name = "path", .in = "path", .description = KC_STR("path to the resource")}},
        {KC__OPENAPI_PARAMS_PRETTY,
         {.name = "pretty",
          .in = "query",
          .description =
              KC_STR("If 'true', then the output is pretty printed. Defaults to 'false' unless the "
                     "user-agent indicates a browser or command-line HTTP tool (curl and wget).")}},
    };
    for (size_t i = 0; i < KC_COUNT(words); i++) {
        kc__openapi_parameter param = words[i].param;
        param.type = "string";
        param.required = !strcmp(param.in, "path");
        if (of->sets & words[i].set)
            add_openapi_parameter(out, param);
    }
}

static int compare_parameters(const void *a, const void *b)
{
    const kc__openapi_parameter *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order ? order : strcmp(x->in, y->in);
}

void kc__openapi_parameters(kc__openapi_writer *w, const kc__openapi_parameter_sets *of,
                            kc__openapi_parameter_list *out)
{
    add_words(w, of, out);
    for (size_t i = 0; i < KC_COUNT(of_sets); i++) {
        if (of->sets & of_sets[i].set)
            add_options(w, kc__type_lookup(kc_cstr(of_sets[i].options)),
                        of_sets[i].set != KC__OPENAPI_PARAMS_DELETE_LIST, out);
    }
    add_options(w, of->options, true, out);
    kc_vec_sort(out, compare_parameters);
}

/* ---- shared parameters ---- */

static bool all_have(const kc__openapi_path *path, const kc__openapi_parameter *one)
{
    kc_vec_each (&path->operations, operation) {
        bool found = false;
        kc_vec_each (&operation->parameters, param)
            found = found || kc__openapi_parameter_equals(param, one);
        if (!found)
            return false;
    }
    return true;
}

static bool is_common(const kc__openapi_path *path, const kc__openapi_parameter *one)
{
    kc_vec_each (&path->common, param) {
        if (kc__openapi_parameter_equals(param, one))
            return true;
    }
    return false;
}

void kc__openapi_share_parameters(kc__openapi_path *path)
{
    if (!path->operations.n)
        return;
    kc_vec_each (&path->operations.items[0].parameters, param) {
        if (all_have(path, param))
            kc_vec_push(&path->common, *param);
    }
    kc_vec_each (&path->operations, operation) {
        size_t kept = 0;
        kc_vec_each (&operation->parameters, param) {
            if (!is_common(path, param))
                operation->parameters.items[kept++] = *param;
        }
        operation->parameters.n = kept;
    }
}
