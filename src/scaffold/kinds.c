/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kinds.c: the kinds that controllers and webhooks can be made for.
 *
 *     of the project    its types are here, in api/GROUP/VERSION
 *     external          another project's: a header to include, perhaps of a package
 *     core              Kubernetes' own (kc/kinds.h), whose objects are worked on without structs
 */
#include "scaffold/kinds.h"

#include "scaffold/builtin.h"
#include "scaffold/names.h"
#include "scaffold/plan.h"
#include "scaffold/values.h"

/* ---- checking ---- */

static int check_external(const kc__external_opts *external, kc_error *err)
{
    if (external->domain && kc__check_domain(external->domain, err) < 0)
        return kc_error_wrap(err, "--external-api-domain");
    if (!external->path && (external->module || external->domain))
        return kc_error_set(err, KC_INVALID,
                            "--external-api-path is needed too: the header that has the types");
    for (const char *c = external->path; c && *c; c++)
        if (*c == '"' || *c == '<' || *c == '>' || *c == '\n')
            return kc_error_set(err, KC_INVALID,
                                "--external-api-path: '%s' is no header: it is as "
                                "certmanager/v1/zz_generated.h",
                                external->path);
    return 0;
}

int kc__check_named(const kc__named_kind *named, kc_error *err)
{
    const struct {
        const char *flag, *value;
        int (*check)(const char *text, kc_error *err);
    } names[] = {
        {"group", named->group, kc__check_group},
        {"version", named->version, kc__check_version},
        {"kind", named->kind, kc__check_kind},
    };
    for (size_t i = 0; i < KC_COUNT(names); i++) {
        if (!names[i].value || !*names[i].value)
            return kc_error_set(err, KC_INVALID, "--%s is needed", names[i].flag);
        if (names[i].check(names[i].value, err) < 0)
            return kc_error_wrap(err, "--%s", names[i].flag);
    }
    if (named->plural && kc__check_plural(named->plural, err) < 0)
        return kc_error_wrap(err, "--plural");
    return check_external(named->external, err);
}

/* ---- finding ---- */

bool kc__find_named(const kc__project *project, const kc__named_kind *named, kc__resource *ret)
{
    return kc__project_find(project, kc_cstr(named->group), kc_cstr(named->version),
                            kc_cstr(named->kind), ret);
}

int kc__check_place(const kc__resource *there, const kc__named_kind *named, kc_error *err)
{
    const char *path = named->external->path;
    if (!path || (there->external && kc_str_is(there->path, path)))
        return 0;
    if (there->external)
        return kc_error_set(err, KC_ALREADY_EXISTS,
                            "--external-api-path: %s has its types in %.*s; PROJECT and the "
                            "sources that include them say so",
                            named->kind, KC_ARG(there->path));
    return kc_error_set(err, KC_ALREADY_EXISTS,
                        "--external-api-path: %s of %s/%s has its types in this project",
                        named->kind, named->group, named->version);
}

/* "admissionregistration.k8s.io" is noted as kubebuilder does: group, and what follows it. */
static void name_builtin(const kc__builtin *builtin, kc__resource *ret)
{
    kc_str rest = kc_cstr(builtin->group);
    ret->core = true;
    ret->group = rest.n ? kc_str_cut(&rest, '.') : KC_STR("core");
    ret->domain = rest;
    ret->plural = kc_cstr(builtin->plural);
}

int kc__make_foreign(const kc__named_kind *named, kc__resource *ret, kc_error *err)
{
    const kc_str group = kc_cstr(named->group), version = kc_cstr(named->version),
                 kind = kc_cstr(named->kind);
    const kc__builtin *builtin = kc__builtin_find(group, version, kind);
    const kc__external_opts *external = named->external;
    *ret = (kc__resource){.group = group, .version = version, .kind = kind};
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
        return kc_error_set(err, KC_INVALID, "--plural: those of Kubernetes' kinds are known");
    name_builtin(builtin, ret);
    return 1;
}

int kc__no_such_kind(const kc__project *project, const kc__named_kind *named, const char *advice,
                     kc_error *err)
{
    const char *names[64];
    size_t n = 0;
    for (size_t i = 0; i < kc__project_count(project) && n < KC_COUNT(names); i++)
        names[n++] = kc_str_dup(kc__project_at(project, i).kind);
    const char *nearest = kc_str_nearest(kc_cstr(named->kind), names, n);
    if (nearest && strcmp(nearest, named->kind) != 0)
        kc_error_set(err, KC_NOT_FOUND,
                     "there is no %s of %s/%s in this project; did you mean '%s'?", named->kind,
                     named->group, named->version, nearest);
    else
        kc_error_set(err, KC_NOT_FOUND, "there is no %s of %s/%s in this project; %s", named->kind,
                     named->group, named->version, advice);
    for (size_t i = 0; i < n; i++)
        free((char *)names[i]);
    return -1;
}

/* ---- parts ---- */

unsigned kc__parts_around(const kc__project *project, const kc__resource *resource)
{
    unsigned parts = 0;
    if (resource->external)
        parts |= resource->module.n ? KC__PART_MODULE : KC__PART_SOURCES;
    const bool has_webhooks = resource->defaulting || resource->validation || resource->conversion;
    if (kc__project_namespaced(project) && (kc__is_cluster_scoped(resource) || has_webhooks))
        parts |= KC__PART_CLUSTER_BINDING;
    return parts;
}
