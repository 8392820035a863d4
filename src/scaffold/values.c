/* SPDX-License-Identifier: Apache-2.0 */
/*
 * values.c: names in all the ways in which templates need them.
 *
 * For Application of apps/v1alpha1 in a project of example.io:
 *
 *     group apps              api_group apps.example.io      version v1alpha1
 *     kind Application        singular application           plural applications
 *     file application        name application (the struct)  guard APPS_V1ALPHA1_APPLICATION
 *     sample config/samples/apps_v1alpha1_application.yaml
 *
 * The name of a struct is one of the whole program: a kind that is in the project in another group
 * or version already gets the version (and the group, if needed) into its name.
 */
#include "scaffold/values.h"

#include "scaffold/names.h"

#include <assert.h>

void kc__values_done(kc__values *values)
{
    kc_arena_done(&values->arena);
}

/* `value` is copied. */
static const char *put(kc__values *values, const char *name, kc_str value)
{
    const char *copy = kc_arena_strndup(&values->arena, value.n ? value.p : "", value.n);
    assert(values->n < KC__MAX_VALUES);
    values->items[values->n++] = (kc__template_value){name, copy};
    return copy;
}

/* `value` is freed. */
static const char *take(kc__values *values, const char *name, char *value)
{
    kc_autofree char *given = value;
    return put(values, name, kc_cstr(given));
}

/* A name of C: whatever else becomes an underscore. */
static void to_identifier(char *text, bool upper)
{
    for (char *c = text; *c; c++) {
        const bool small = *c >= 'a' && *c <= 'z';
        if (upper && small)
            *c = (char)(*c - 'a' + 'A');
        else if (*c == '.' || *c == '-')
            *c = '_';
    }
}

/* Where a kind is in the project already. */
typedef struct elsewhere {
    bool in_version, in_group;
} elsewhere;

static elsewhere find_elsewhere(const kc__project *project, const kc__resource *of)
{
    elsewhere found = {false, false};
    /* Those before it: what comes later must not change its names. */
    for (size_t i = 0; i < kc__project_count(project); i++) {
        kc__resource has = kc__project_at(project, i);
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

static char *struct_name(elsewhere found, const kc__resource *of)
{
    kc_autofree char *plain = kc__struct_name(of->kind, of->group);
    char *name = found.in_group
                     ? kc_asprintf("%.*s_%s_%.*s", KC_ARG(of->group), plain, KC_ARG(of->version))
                 : found.in_version ? kc_asprintf("%s_%.*s", plain, KC_ARG(of->version))
                                    : kc_strdup(plain);
    to_identifier(name, false);
    return name;
}

static void fill_kind(kc__values *v, const kc__project *project, const kc__resource *r)
{
    const elsewhere found = find_elsewhere(project, r);
    const char *name = take(v, "name", struct_name(found, r));
    const char *file = take(v, "file", kc__snake_case(r->kind));
    const char *singular = take(v, "singular", kc__lower_case(r->kind));
    const bool said = kc__says_kind(name, r->kind);
    put(v, "group", r->group);
    put(v, "version", r->version);
    put(v, "kind", r->kind);
    put(v, "plural", r->plural);
    put(v, "controller", r->controller_name.n ? r->controller_name : kc_cstr(name));
    put(v, "scope", r->cluster_scoped ? KC_STR(",scope=Cluster") : KC_STR(""));
    /* The first version is the stored one, until the markers are moved. */
    put(v, "storage", found.in_version ? KC_STR("") : KC_STR("/// +kubebuilder:storageversion\n"));
    put(v, "test_namespace", r->cluster_scoped ? KC_STR("NULL") : KC_STR("\"default\""));
    take(v, "kind_marker",
         said ? kc_strdup("") : kc_asprintf("/// +kc:kind=%.*s\n", KC_ARG(r->kind)));
    take(v, "api_group", kc_asprintf("%.*s.%.*s", KC_ARG(r->group), KC_ARG(r->domain)));
    char *guard = kc_asprintf("%.*s_%.*s_%s", KC_ARG(r->group), KC_ARG(r->version), file);
    to_identifier(guard, true);
    take(v, "guard", guard);
    const char *sample =
        take(v, "sample_file",
             kc_asprintf("%.*s_%.*s_%s.yaml", KC_ARG(r->group), KC_ARG(r->version), singular));
    take(v, "sample", kc_asprintf("config/samples/%s", sample));
    char *path = kc_asprintf("%.*s-%.*s-%.*s-%s", KC_ARG(r->group), KC_ARG(r->domain),
                             KC_ARG(r->version), singular);
    for (char *c = path; *c; c++)
        *c = *c == '.' ? '-' : *c;
    take(v, "hook_path", path);
}

void kc__values_fill(kc__values *ret, const kc__project *project, const kc__resource *resource,
                     kc_str license)
{
    *ret = (kc__values){0};
    put(ret, "project", kc__project_name(project));
    put(ret, "domain", kc__project_domain(project));
    put(ret, "license", license);
    if (resource)
        fill_kind(ret, project, resource);
}
