/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scaffold_webhook.c: `kc create webhook`: what an API server asks about a kind.
 *
 * Conversion has a hub, the version the webhook is made for, and spokes, the others: each is
 * converted to the hub and from it, so that n versions need n functions and not n².
 */
#include "scaffold/carry.h"
#include "scaffold/kinds.h"
#include "scaffold/names.h"

/* ---- spokes ---- */

static int check_spoke(const kc__project *project, const kc__resource *hub, kc_str spoke,
                       kc_error *err)
{
    kc__resource other;
    if (kc_str_eq(spoke, hub->version))
        return kc_error_set(err, KC_INVALID,
                            "--spoke: %.*s is the version that the others are converted to",
                            KC_ARG(spoke));
    if (kc__project_find(project, hub->group, spoke, hub->kind, &other))
        return 0;
    return kc_error_set(err, KC_NOT_FOUND,
                        "--spoke: there is no %.*s of %.*s/%.*s in this project; 'kc create api' "
                        "makes it",
                        KC_ARG(hub->kind), KC_ARG(hub->group), KC_ARG(spoke));
}

/* "v1alpha1,v1beta1" */
static int read_spokes(const kc__project *project, const kc__resource *hub, const char *text,
                       kc__names *ret, kc_error *err)
{
    kc_str rest = kc_cstr(text);
    while (rest.n) {
        const kc_str spoke = kc_str_trim(kc_str_cut(&rest, ','));
        if (check_spoke(project, hub, spoke, err) < 0)
            return -1;
        if (kc__names_add(ret, spoke, err) < 0)
            return kc_error_wrap(err, "--spoke");
    }
    return 0;
}

/* ---- what is asked for ---- */

static int check_opts(const kc__webhook_opts *o, kc_error *err)
{
    if (!o->defaulting && !o->validation && !o->conversion)
        return kc_error_set(err, KC_INVALID,
                            "say what for: --defaulting, --programmatic-validation or "
                            "--conversion");
    if (o->defaulting_path && !o->defaulting)
        return kc_error_set(err, KC_INVALID, "--defaulting-path goes with --defaulting");
    if (o->validation_path && !o->validation)
        return kc_error_set(err, KC_INVALID,
                            "--validation-path goes with --programmatic-validation");
    if (o->spokes && !o->conversion)
        return kc_error_set(err, KC_INVALID, "--spoke goes with --conversion");
    if (o->defaulting_path && kc__check_hook_path(o->defaulting_path, err) < 0)
        return kc_error_wrap(err, "--defaulting-path");
    if (o->validation_path && kc__check_hook_path(o->validation_path, err) < 0)
        return kc_error_wrap(err, "--validation-path");
    return 0;
}

static int find_or_make(const kc__project *project, const kc__named_kind *named, kc__resource *ret,
                        kc_error *err)
{
    if (kc__find_named(project, named, ret))
        return kc__check_place(ret, named, err);
    const int foreign = kc__make_foreign(named, ret, err);
    return foreign == 0 ? kc__no_such_kind(project, named,
                                           "'kc create api' makes it, and --external-api-path "
                                           "says where another project has it",
                                           err)
                        : KC_MIN(foreign, 0);
}

/* A webhook that is there keeps its path: it stands in a source that people work at. */
static int check_path_kept(bool there, kc_str path, const char *wanted, const char *flag,
                           kc_error *err)
{
    if (!there || !wanted || kc_str_is(path, wanted))
        return 0;
    return kc_error_set(err, KC_ALREADY_EXISTS,
                        "--%s: the webhook is there already; change its path in its source, in "
                        "the marker and where it is set up, and in PROJECT",
                        flag);
}

static int check_new(const kc__resource *has, const kc__webhook_opts *o, const kc__names *spokes,
                     bool force, kc_error *err)
{
    bool has_all = (!o->defaulting || has->defaulting) && (!o->validation || has->validation) &&
                   (!o->conversion || has->conversion);
    for (size_t i = 0; i < spokes->n; i++)
        has_all &= kc__names_have(&has->spokes, spokes->items[i]);
    if (has_all && !force)
        return kc_error_set(err, KC_ALREADY_EXISTS,
                            "%s of %s/%s has these webhooks already; --force adds what is missing "
                            "of them",
                            o->kind, o->group, o->version);
    if (check_path_kept(has->defaulting, has->defaulting_path, o->defaulting_path,
                        "defaulting-path", err) < 0)
        return -1;
    return check_path_kept(has->validation, has->validation_path, o->validation_path,
                           "validation-path", err);
}

static void note(kc__resource *r, const kc__webhook_opts *o)
{
    r->defaulting |= o->defaulting;
    r->validation |= o->validation;
    r->conversion |= o->conversion;
    if (o->defaulting_path)
        r->defaulting_path = kc_cstr(o->defaulting_path);
    if (o->validation_path)
        r->validation_path = kc_cstr(o->validation_path);
}

static unsigned parts_of(const kc__resource *r, const kc__webhook_opts *o)
{
    const unsigned validation = r->core ? KC__PART_VALIDATION_CORE : KC__PART_VALIDATION;
    return KC__PART_WEBHOOK | (o->defaulting ? KC__PART_DEFAULTING : 0) |
           (o->validation ? validation : 0) | (o->conversion ? KC__PART_CONVERSION : 0);
}

int kc__scaffold_webhook(const kc__scaffold *s, const kc__webhook_opts *o, kc_error *err)
{
    const kc__named_kind named = {o->group, o->version, o->kind, o->plural, &o->external};
    kc_auto(kc__project) *project = kc__scaffold_project(s, err);
    kc__resource resource;
    kc__names spokes = {.n = 0};
    if (!project || kc__check_named(&named, err) < 0 || check_opts(o, err) < 0 ||
        find_or_make(project, &named, &resource, err) < 0)
        return -1;
    if (o->conversion && !resource.api)
        return kc_error_set(err, KC_INVALID,
                            "--conversion is for a kind of this project: %s has its types "
                            "elsewhere",
                            o->kind);
    if (read_spokes(project, &resource, o->spokes, &spokes, err) < 0 ||
        check_new(&resource, o, &spokes, s->force, err) < 0)
        return -1;
    kc_autofree char *plural = o->plural ? kc_strdup(o->plural) : kc__plural_of(kc_cstr(o->kind));
    if (!resource.plural.n)
        resource.plural = kc_cstr(plural);
    note(&resource, o);
    for (size_t i = 0; i < spokes.n; i++)
        if (kc__names_add(&resource.spokes, spokes.items[i], err) < 0)
            return kc_error_wrap(err, "--spoke");
    const unsigned parts = parts_of(&resource, o) | kc__parts_around(project, &resource);
    const kc__carrying carrying = {project, &resource, parts, .spokes = spokes};
    return kc__carry_out(s, &carrying, err);
}
