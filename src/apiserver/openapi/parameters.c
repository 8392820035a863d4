/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parameters.c: what may stand in a query, and in the braces of a path.
 *
 * Query parameters are the fields of a verb's options among the definitions (ListOptions,
 * PatchOptions, …): names, types and words come from there, so none is listed here but the few that
 * belong to no options. Structs among them (preconditions, times) cannot be in a query.
 *
 * A path has the parameters that all its operations have; each operation has the rest.
 */
#include "apiserver/openapi/openapi_internal.h"

#define OPTIONS(name) "io.k8s.apimachinery.pkg.apis.meta.v1." name

/* The options of verbs. */
static const struct {
    unsigned set;
    const char *options;
} of_sets[] = {
    {KC__PARAMS_LIST, OPTIONS("ListOptions")},     {KC__PARAMS_DELETE_LIST, OPTIONS("ListOptions")},
    {KC__PARAMS_CREATE, OPTIONS("CreateOptions")}, {KC__PARAMS_UPDATE, OPTIONS("UpdateOptions")},
    {KC__PARAMS_PATCH, OPTIONS("PatchOptions")},   {KC__PARAMS_DELETE, OPTIONS("DeleteOptions")},
};

bool kc__parameter_equals(const kc__parameter *a, const kc__parameter *b)
{
    return !strcmp(a->name, b->name) && !strcmp(a->in, b->in) &&
           kc_str_eq(a->description, b->description);
}

/* What a value of this field is in a query; NULL: it cannot be in one. Of a list, an element. */
static const char *query_type(const kc__field *field)
{
    if (field->shape == KC__MAPPED)
        return NULL;
    switch ((kc__field_kind)field->kind) {
    case KC__FIELD_BOOL: return "boolean";
    case KC__FIELD_INT32:
    case KC__FIELD_INT64:
    case KC__FIELD_UINT32:
    case KC__FIELD_UINT64: return "integer";
    case KC__FIELD_STRING: return "string";
    default: return NULL;
    }
}

static bool has(const kc__parameters *params, const kc__parameter *one)
{
    kc_vec_each (params, param) {
        if (!strcmp(param->name, one->name) && !strcmp(param->in, one->in))
            return true;
    }
    return false;
}

static void add(kc__parameters *out, kc__parameter param)
{
    if (!has(out, &param))
        kc_vec_push(out, param);
}

/* A list that is to be deleted is not watched. */
static bool is_of_watches(kc_str name)
{
    return kc_str_is(name, "watch") || kc_str_is(name, "allowWatchBookmarks");
}

static void add_options(kc__openapi_writer *w, const kc__message *options, bool watches,
                        kc__parameters *out)
{
    for (size_t i = 0; options && i < options->n_fields; i++) {
        const kc__field *field = &options->fields[i];
        const char *type = query_type(field);
        if (type && (watches || !is_of_watches(field->name)))
            add(out, (kc__parameter){.name = field->name.p,
                                     .in = "query",
                                     .type = type,
                                     .description = kc__describe_field(w->texts, field)});
    }
}

/* Those that are of no options. */
static void add_words(kc__openapi_writer *w, const kc__parameters_of *of, kc__parameters *out)
{
    const struct {
        unsigned set;
        kc__parameter param;
    } words[] = {
        {KC__PARAMS_NAME,
         {.name = "name",
          .in = "path",
          .description = kc_cstr(kc_arena_printf(w->arena, "name of the %s", of->kind))}},
        {KC__PARAMS_NAMESPACE,
         {.name = "namespace",
          .in = "path",
          .description = KC_STR("object name and auth scope, such as for teams and projects")}},
        {KC__PARAMS_PATH,
         {.name = "path", .in = "path", .description = KC_STR("path to the resource")}},
        {KC__PARAMS_PRETTY,
         {.name = "pretty",
          .in = "query",
          .description =
              KC_STR("If 'true', then the output is pretty printed. Defaults to 'false' unless the "
                     "user-agent indicates a browser or command-line HTTP tool (curl and wget).")}},
    };
    for (size_t i = 0; i < KC_COUNT(words); i++) {
        kc__parameter param = words[i].param;
        param.type = "string";
        param.required = !strcmp(param.in, "path");
        if (of->sets & words[i].set)
            add(out, param);
    }
}

static int compare_parameters(const void *a, const void *b)
{
    const kc__parameter *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order ? order : strcmp(x->in, y->in);
}

void kc__openapi_parameters(kc__openapi_writer *w, const kc__parameters_of *of, kc__parameters *out)
{
    add_words(w, of, out);
    for (size_t i = 0; i < KC_COUNT(of_sets); i++) {
        if (of->sets & of_sets[i].set)
            add_options(w, kc__definition_find(kc_cstr(of_sets[i].options)),
                        of_sets[i].set != KC__PARAMS_DELETE_LIST, out);
    }
    add_options(w, of->options, true, out);
    kc_vec_sort(out, compare_parameters);
}

/* ---- what operations share ---- */

static bool all_have(const kc__openapi_path *path, const kc__parameter *one)
{
    kc_vec_each (&path->operations, operation) {
        bool found = false;
        kc_vec_each (&operation->parameters, param)
            found = found || kc__parameter_equals(param, one);
        if (!found)
            return false;
    }
    return true;
}

static bool is_common(const kc__openapi_path *path, const kc__parameter *one)
{
    kc_vec_each (&path->common, param) {
        if (kc__parameter_equals(param, one))
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
