/* SPDX-License-Identifier: Apache-2.0 */
/*
 * values.c: the values of templates: names in all required forms.
 *
 * For Application of apps/v1alpha1 in a project of example.io:
 *
 *     group apps              api_group apps.example.io      version v1alpha1
 *     kind Application        singular application           plural applications
 *     file application        guard APPS_V1ALPHA1_APPLICATION
 *     name application        the struct; kind_variable application_kind; types: their header
 *     hook application        prefix of its webhooks' files and functions,
 *     id application          and of a controller's, unless that has a name of its own
 *     sample config/samples/apps_v1alpha1_application.yaml
 *
 * Struct names are global: a kind that exists in another group or version of the project gets the
 * version (and the group, if needed) in its name. Structs of other projects (external) keep their
 * names; only files and functions avoid conflicts.
 */
#include "scaffold/values.h"

#include "scaffold/builtin.h"
#include "scaffold/names.h"

#include <assert.h>

/* Indentation of lines that continue a C string of a template. */
#define INDENT "                          "

void kc__scaffold_values_done(kc__scaffold_values *values)
{
    kc_arena_done(&values->arena);
}

const char *kc__scaffold_values_put(kc__scaffold_values *values, const char *name, kc_str value)
{
    const char *copy = kc_arena_strndup(&values->arena, value.n ? value.p : "", value.n);
    assert(values->n < KC__SCAFFOLD_MAX_VALUES);
    values->items[values->n++] = (kc__scaffold_template_value){name, copy};
    return copy;
}

const char *kc__scaffold_values_get(const kc__scaffold_values *values, const char *name)
{
    for (size_t i = 0; i < values->n; i++)
        if (!strcmp(values->items[i].name, name))
            return values->items[i].value;
    assert(!"a value that is there");
    return "";
}

static void scaffold_values_put(kc__scaffold_values *values, const char *name, const char *value)
{
    kc__scaffold_values_put(values, name, kc_cstr(value));
}

/* Frees `value`. */
static const char *scaffold_values_take(kc__scaffold_values *values, const char *name, char *value)
{
    kc_autofree char *given = value;
    return kc__scaffold_values_put(values, name, kc_cstr(given));
}

/* ---- forms of a text ---- */

static char *upper_of(const char *text)
{
    char *out = kc__scaffold_identifier(kc_cstr(text));
    for (char *c = out; *c; c++)
        if (*c >= 'a' && *c <= 'z')
            *c = (char)(*c - 'a' + 'A');
    return out;
}

/* ---- conflicts with other kinds ---- */

/* Position of a kind in the project. */
typedef struct elsewhere {
    bool in_version, in_group;
} elsewhere;

static elsewhere find_elsewhere(const kc__scaffold_project_file *project,
                                const kc__scaffold_resource *of)
{
    elsewhere found = {false, false};
    /* Only earlier kinds count: later ones must not change its names. */
    for (size_t i = 0; i < kc__scaffold_project_count(project); i++) {
        kc__scaffold_resource has = kc__scaffold_project_at(project, i);
        const bool same_group = kc_str_eq(has.group, of->group);
        if (!kc_str_eq(has.kind, of->kind))
            continue;
        if (same_group && kc_str_eq(has.version, of->version))
            break;
        found.in_version |= same_group;
        found.in_group |= !same_group;
    }
    return found;
}

static char *unique_name(elsewhere found, const kc__scaffold_resource *of)
{
    kc_autofree char *plain = kc__scaffold_struct_name(of->kind, of->group);
    kc_autofree char *name =
        found.in_group ? kc_asprintf("%.*s_%s_%.*s", KC_ARG(of->group), plain, KC_ARG(of->version))
        : found.in_version ? kc_asprintf("%s_%.*s", plain, KC_ARG(of->version))
                           : kc_strdup(plain);
    return kc__scaffold_identifier(kc_cstr(name));
}

static const kc__scaffold_builtin *builtin_of(const kc__scaffold_resource *r)
{
    return r->core ? kc__scaffold_builtin_find(r->group, r->version, r->kind) : NULL;
}

bool kc__scaffold_is_cluster_scoped(const kc__scaffold_resource *resource)
{
    const kc__scaffold_builtin *builtin = builtin_of(resource);
    return builtin ? !builtin->namespaced : resource->cluster_scoped;
}

static char *api_group(const kc__scaffold_resource *r)
{
    const kc__scaffold_builtin *builtin = builtin_of(r);
    if (builtin)
        return kc_strdup(builtin->group);
    return r->domain.n ? kc_asprintf("%.*s.%.*s", KC_ARG(r->group), KC_ARG(r->domain))
                       : kc_str_dup(r->group);
}

/* ---- its types ---- */

/* The include of --external-api-path: a header, or a directory with one. */
static char *external_header(kc_str path)
{
    if (kc_str_ends(path, KC_STR(".h")))
        return kc_str_dup(path);
    while (path.n && path.p[path.n - 1] == '/')
        path.n--;
    return kc_asprintf("%.*s/zz_generated.h", KC_ARG(path));
}

/* "certmanager@1.18": a package for find_package, and its version. */
static void fill_module(kc__scaffold_values *v, kc_str module)
{
    kc_str version = module;
    kc_str package = kc_str_cut(&version, '@');
    while (version.n && version.p[0] == 'v')
        version = kc_str_sub(version, 1, version.n);
    kc__scaffold_values_put(v, "module", package);
    scaffold_values_take(v, "module_version",
                         version.n ? kc_asprintf(" %.*s", KC_ARG(version)) : kc_strdup(""));
}

static void fill_types(kc__scaffold_values *v, const kc__scaffold_resource *r, elsewhere found)
{
    const kc__scaffold_builtin *builtin = builtin_of(r);
    kc_autofree char *plain = kc__scaffold_struct_name(r->kind, r->group);
    kc_autofree char *unique = unique_name(found, r);
    const char *name = r->external ? plain : unique;
    scaffold_values_put(v, "name", name);
    scaffold_values_put(v, "hook", unique);
    scaffold_values_take(v, "hook_guard", upper_of(unique));
    scaffold_values_take(v, "kind_variable",
                         builtin ? kc_strdup(builtin->variable) : kc_asprintf("%s_kind", name));
    const char *types =
        scaffold_values_take(v, "types",
                             r->core       ? kc_strdup("kc/kinds.h")
                             : r->external ? external_header(r->path)
                                           : kc_asprintf("api/%.*s/%.*s/zz_generated.h",
                                                         KC_ARG(r->group), KC_ARG(r->version)));
    const char *slash = strrchr(types, '/');
    kc__scaffold_values_put(v, "types_folder",
                            kc_str_of(types, slash ? (size_t)(slash - types) : 0));
    scaffold_values_take(v, "kind_marker",
                         kc__scaffold_names_kind(name, r->kind)
                             ? kc_strdup("")
                             : kc_asprintf("/// +kc:kind=%.*s\n", KC_ARG(r->kind)));
    /* The first version is the stored one, until the markers are moved. */
    scaffold_values_put(v, "storage", found.in_version ? "" : "/// +kubebuilder:storageversion\n");
    fill_module(v, r->module);
}

/* ---- the kind ---- */

static void fill_names(kc__scaffold_values *v, const kc__scaffold_resource *r)
{
    const char *file = scaffold_values_take(v, "file", kc__scaffold_snake_case(r->kind));
    const char *singular = scaffold_values_take(v, "singular", kc__scaffold_lower_case(r->kind));
    const char *group = scaffold_values_take(v, "api_group", api_group(r));
    kc__scaffold_values_put(v, "group", r->group);
    kc__scaffold_values_put(v, "version", r->version);
    kc__scaffold_values_put(v, "kind", r->kind);
    kc__scaffold_values_put(v, "plural", r->plural);
    scaffold_values_put(v, "marker_group", *group ? group : "\"\"");
    kc_autofree char *guard =
        kc_asprintf("%.*s_%.*s_%s", KC_ARG(r->group), KC_ARG(r->version), file);
    scaffold_values_take(v, "guard", upper_of(guard));
    const char *sample = scaffold_values_take(
        v, "sample_file",
        kc_asprintf("%.*s_%.*s_%s.yaml", KC_ARG(r->group), KC_ARG(r->version), singular));
    scaffold_values_take(v, "sample", kc_asprintf("config/samples/%s", sample));
}

/* Without a name it has the kind's, if that is unique in the project. */
static void fill_controller(kc__scaffold_values *v, kc_str name, bool is_alone)
{
    const char *hook = kc__scaffold_values_get(v, "hook");
    const char *id =
        scaffold_values_take(v, "id", name.n ? kc__scaffold_identifier(name) : kc_strdup(hook));
    scaffold_values_take(v, "id_guard", upper_of(id));
    const char *usual = is_alone ? kc__scaffold_values_get(v, "singular") : hook;
    kc__scaffold_values_put(v, "controller", name.n ? name : kc_cstr(usual));
}

/* The call that adds a webhook: at its default path, or at one of its own; the function's name,
 * `fn`, and the rest of the line follow, on the next one if it would be longer than 100 bytes. */
static void fill_call(kc__scaffold_values *v, const char *name, const char *verb, const char *fn,
                      kc_str path)
{
    const char *kind = kc__scaffold_values_get(v, "kind_variable");
    kc_autofree char *call =
        path.n ? kc_asprintf("kc_webhook_add_%s_at(hooks, \"%.*s\", &%s,", verb, KC_ARG(path), kind)
               : kc_asprintf("kc_webhook_add_%s(hooks, &%s,", verb, kind);
    const size_t whole =
        strlen("    if (") + strlen(call) + 1 + strlen(fn) + strlen(", NULL, err) < 0)");
    const int indent = (int)strlen("if (") + (int)strcspn(call, "(");
    scaffold_values_take(v, name,
                         whole <= 100 ? kc_strdup(call) : kc_asprintf("%s\n%*s", call, indent, ""));
}

static void fill_webhook(kc__scaffold_values *v, const kc__scaffold_resource *r)
{
    const char *group = kc__scaffold_values_get(v, "api_group");
    kc_autofree char *usual = kc_asprintf("%s-%.*s-%s", group, KC_ARG(r->version),
                                          kc__scaffold_values_get(v, "singular"));
    for (char *c = usual; *c; c++)
        *c = *c == '.' ? '-' : *c;
    scaffold_values_take(v, "defaulting_path",
                         r->defaulting_path.n ? kc_str_dup(r->defaulting_path)
                                              : kc_asprintf("/mutate-%s", usual));
    scaffold_values_take(v, "validation_path",
                         r->validation_path.n ? kc_str_dup(r->validation_path)
                                              : kc_asprintf("/validate-%s", usual));
    fill_call(v, "defaulting_call", "defaulter", "set_defaults", r->defaulting_path);
    fill_call(v, "validation_call", "validator", "validate", r->validation_path);
}

/* Scope of its objects, and RBAC for them. */
static void fill_scope(kc__scaffold_values *v, const kc__scaffold_project_file *project,
                       const kc__scaffold_resource *r)
{
    const bool cluster = kc__scaffold_is_cluster_scoped(r);
    const bool in_namespace = kc__scaffold_project_namespaced(project) && !cluster;
    scaffold_values_put(v, "scope", cluster ? ",scope=Cluster" : "");
    scaffold_values_put(v, "test_namespace", cluster ? "NULL" : "\"default\"");
    /* Objects owned by a cluster-scoped object need a namespace. */
    scaffold_values_put(v, "child_namespace", cluster ? "\"default\"" : "self->metadata.ns");
    scaffold_values_put(v, "kind_role", in_namespace ? "Role" : "ClusterRole");
    scaffold_values_put(v, "kind_role_namespace", in_namespace ? "\n  namespace: system" : "");
    scaffold_values_take(
        v, "kind_namespace",
        in_namespace ? kc_asprintf("namespace=%s-system,", kc__scaffold_values_get(v, "project"))
                     : kc_strdup(""));
}

/* Comma-separated words as a list: [\"a\", \"b\"], within a C string. */
static char *command_of(kc_str words)
{
    kc_buf out = {0};
    kc_buf_puts(&out, INDENT "\"  command: [");
    for (bool first = true; words.n; first = false) {
        const kc_str word = kc_str_trim(kc_str_cut(&words, ','));
        kc_buf_printf(&out, "%s\\\"%.*s\\\"", first ? "" : ", ", KC_ARG(word));
    }
    kc_buf_puts(&out, "]\\n\"\n");
    return kc_buf_take(&out);
}

static void fill_image(kc__scaffold_values *v, const kc__scaffold_image *image)
{
    kc__scaffold_values_put(v, "image", image->image);
    scaffold_values_take(v, "image_command",
                         image->command.n ? command_of(image->command) : kc_strdup(""));
    scaffold_values_take(v, "image_user",
                         image->user.n
                             ? kc_asprintf(INDENT "\"  runAsUser: %.*s\\n\"\n", KC_ARG(image->user))
                             : kc_strdup(""));
    scaffold_values_take(
        v, "port_default",
        image->port.n ? kc_asprintf("    /// +kubebuilder:default=%.*s\n", KC_ARG(image->port))
                      : kc_strdup(""));
}

static void fill_project(kc__scaffold_values *v, const kc__scaffold_project_file *project)
{
    const bool in_namespace = kc__scaffold_project_namespaced(project);
    const char *name = kc__scaffold_values_put(v, "project", kc__scaffold_project_name(project));
    kc__scaffold_values_put(v, "domain", kc__scaffold_project_domain(project));
    scaffold_values_put(v, "role", in_namespace ? "Role" : "ClusterRole");
    scaffold_values_put(v, "role_namespace", in_namespace ? "\n  namespace: system" : "");
    scaffold_values_take(v, "rbac_namespace",
                         in_namespace ? kc_asprintf("namespace=%s-system,", name) : kc_strdup(""));
}

void kc__scaffold_values_fill(kc__scaffold_values *ret, const kc__scaffold_project_file *project,
                              const kc__scaffold_resource *resource,
                              const kc__scaffold_values_opts *opts)
{
    *ret = (kc__scaffold_values){0};
    fill_project(ret, project);
    kc__scaffold_values_put(ret, "license", opts->license);
    kc__scaffold_values_put(ret, "spoke", opts->spoke);
    if (!resource)
        return;
    fill_names(ret, resource);
    const elsewhere found = find_elsewhere(project, resource);
    fill_types(ret, resource, found);
    fill_controller(ret, opts->controller, !found.in_version && !found.in_group);
    fill_webhook(ret, resource);
    fill_image(ret, &resource->image);
    fill_scope(ret, project, resource);
}
