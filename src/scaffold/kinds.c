/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kinds.c: the kinds for which controllers and webhooks can be scaffolded.
 *
 *     of the project    its types are in api/GROUP/VERSION
 *     external          types of another project: a header to include, perhaps of a package
 *     core              built-in kinds (kc/kinds.h), used as objects without structs
 */
#include "scaffold/kinds.h"

#include "scaffold/builtin.h"
#include "scaffold/names.h"
#include "scaffold/plan.h"
#include "scaffold/values.h"

/* ---- checking ---- */

static int check_external(const kc__scaffold_external_opts *external, kc_error *err)
{
    if (external->domain && kc__scaffold_check_domain(external->domain, err) < 0)
        return kc_error_wrap(err, "--external-api-domain");
    if (!external->path && (external->module || external->domain))
        return kc_error_set(err, KC_INVALID,
                            "--external-api-path is required too: the header of the types");
    for (const char *c = external->path; c && *c; c++)
        if (*c == '"' || *c == '<' || *c == '>' || *c == '\n')
            return kc_error_set(err, KC_INVALID,
                                "--external-api-path: '%s' is not a header; example: "
                                "certmanager/v1/zz_generated.h",
                                external->path);
    return 0;
}

int kc__scaffold_check_named(const kc__scaffold_named_kind *named, kc_error *err)
{
    const struct {
        const char *flag, *value;
        int (*check)(const char *text, kc_error *err);
    } names[] = {
        {"group", named->group, kc__scaffold_check_group},
        {"version", named->version, kc__scaffold_check_version},
        {"kind", named->kind, kc__scaffold_check_kind},
    };
    for (size_t i = 0; i < KC_COUNT(names); i++) {
        if (!names[i].value || !*names[i].value)
            return kc_error_set(err, KC_INVALID, "--%s is required", names[i].flag);
        if (names[i].check(names[i].value, err) < 0)
            return kc_error_wrap(err, "--%s", names[i].flag);
    }
    if (named->plural && kc__scaffold_check_plural(named->plural, err) < 0)
        return kc_error_wrap(err, "--plural");
    return check_external(named->external, err);
}

/* ---- finding ---- */

bool kc__scaffold_find_named(const kc__scaffold_project_file *project,
                             const kc__scaffold_named_kind *named, kc__scaffold_resource *ret)
{
    return kc__scaffold_project_find(project, kc_cstr(named->group), kc_cstr(named->version),
                                     kc_cstr(named->kind), ret);
}

int kc__scaffold_check_target(const kc__scaffold_resource *there,
                              const kc__scaffold_named_kind *named, kc_error *err)
{
    const char *path = named->external->path;
    if (!path || (there->external && kc_str_is(there->path, path)))
        return 0;
    if (there->external)
        return kc_error_set(err, KC_ALREADY_EXISTS,
                            "--external-api-path: the types of %s are in %.*s; change PROJECT "
                            "and the sources that include them",
                            named->kind, KC_ARG(there->path));
    return kc_error_set(err, KC_ALREADY_EXISTS,
                        "--external-api-path: the types of %s of %s/%s are in this project",
                        named->kind, named->group, named->version);
}

/* "admissionregistration.k8s.io" is recorded as kubebuilder does: group and domain. */
static void name_builtin(const kc__scaffold_builtin *builtin, kc__scaffold_resource *ret)
{
    kc_str rest = kc_cstr(builtin->group);
    ret->core = true;
    ret->group = rest.n ? kc_str_cut(&rest, '.') : KC_STR("core");
    ret->domain = rest;
    ret->plural = kc_cstr(builtin->plural);
}

int kc__scaffold_make_foreign(const kc__scaffold_named_kind *named, kc__scaffold_resource *ret,
                              kc_error *err)
{
    const kc_str group = kc_cstr(named->group), version = kc_cstr(named->version),
                 kind = kc_cstr(named->kind);
    const kc__scaffold_builtin *builtin = kc__scaffold_builtin_find(group, version, kind);
    const kc__scaffold_external_opts *external = named->external;
    *ret = (kc__scaffold_resource){.group = group, .version = version, .kind = kind};
    if (external->path) {
        ret->external = true;
        ret->domain = kc_cstr(external->domain);
        ret->path = kc_cstr(external->path);
        ret->module = kc_cstr(external->module);
        return 1;
    }
    if (!builtin)
        return 0;
    if (named->plural)
        return kc_error_set(err, KC_INVALID, "--plural does not apply to built-in kinds");
    name_builtin(builtin, ret);
    return 1;
}

int kc__scaffold_kind_not_found(const kc__scaffold_project_file *project,
                                const kc__scaffold_named_kind *named, const char *advice,
                                kc_error *err)
{
    const char *names[64];
    size_t n = 0;
    for (size_t i = 0; i < kc__scaffold_project_count(project) && n < KC_COUNT(names); i++)
        names[n++] = kc_str_dup(kc__scaffold_project_at(project, i).kind);
    const char *nearest = kc_str_nearest(kc_cstr(named->kind), names, n);
    if (nearest && strcmp(nearest, named->kind) != 0)
        kc_error_set(err, KC_NOT_FOUND, "%s of %s/%s not found in this project; did you mean '%s'?",
                     named->kind, named->group, named->version, nearest);
    else
        kc_error_set(err, KC_NOT_FOUND, "%s of %s/%s not found in this project; %s", named->kind,
                     named->group, named->version, advice);
    for (size_t i = 0; i < n; i++)
        free((char *)names[i]);
    return kc_error_result(err);
}

/* ---- parts ---- */

unsigned kc__scaffold_parts_around(const kc__scaffold_project_file *project,
                                   const kc__scaffold_resource *resource)
{
    unsigned parts = 0;
    if (resource->external)
        parts |= resource->module.n ? KC__SCAFFOLD_PART_MODULE : KC__SCAFFOLD_PART_SOURCES;
    const bool has_webhooks = resource->defaulting || resource->validation || resource->conversion;
    if (kc__scaffold_project_namespaced(project) &&
        (kc__scaffold_is_cluster_scoped(resource) || has_webhooks))
        parts |= KC__SCAFFOLD_PART_CLUSTER_BINDING;
    return parts;
}
