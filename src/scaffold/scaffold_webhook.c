/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scaffold_webhook.c: `kc create webhook`: scaffolds webhooks of a kind.
 *
 * Conversion has a hub, the version of the webhook, and spokes, the others: each is converted to
 * and from the hub, so that n versions need n functions and not n².
 */
#include "scaffold/execute.h"
#include "scaffold/kinds.h"
#include "scaffold/names.h"

/* ---- spokes ---- */

static int check_spoke(const kc__scaffold_project_file *project, const kc__scaffold_resource *hub,
                       kc_str spoke, kc_error *err)
{
    kc__scaffold_resource other;
    if (kc_str_eq(spoke, hub->version))
        return kc_error_set(err, KC_INVALID, "--spoke: %.*s is the hub version itself",
                            KC_ARG(spoke));
    if (kc__scaffold_project_find(project, hub->group, spoke, hub->kind, &other))
        return 0;
    return kc_error_set(err, KC_NOT_FOUND,
                        "--spoke: %.*s of %.*s/%.*s not found in this project; create it with "
                        "'kc create api'",
                        KC_ARG(hub->kind), KC_ARG(hub->group), KC_ARG(spoke));
}

/* "v1alpha1,v1beta1" */
static int read_spokes(const kc__scaffold_project_file *project, const kc__scaffold_resource *hub,
                       const char *text, kc__scaffold_names *ret, kc_error *err)
{
    kc_str rest = kc_cstr(text);
    while (rest.n) {
        const kc_str spoke = kc_str_trim(kc_str_cut(&rest, ','));
        if (check_spoke(project, hub, spoke, err) < 0)
            return kc_error_result(err);
        if (kc__scaffold_names_add(ret, spoke, err) < 0)
            return kc_error_wrap(err, "--spoke");
    }
    return 0;
}

/* ---- requested webhooks ---- */

static int check_opts(const kc__scaffold_webhook_opts *o, kc_error *err)
{
    if (!o->defaulting && !o->validation && !o->conversion)
        return kc_error_set(err, KC_INVALID,
                            "one of --defaulting, --programmatic-validation, --conversion is "
                            "required");
    if (o->defaulting_path && !o->defaulting)
        return kc_error_set(err, KC_INVALID, "--defaulting-path requires --defaulting");
    if (o->validation_path && !o->validation)
        return kc_error_set(err, KC_INVALID,
                            "--validation-path requires --programmatic-validation");
    if (o->spokes && !o->conversion)
        return kc_error_set(err, KC_INVALID, "--spoke requires --conversion");
    if (o->defaulting_path && kc__scaffold_check_hook_path(o->defaulting_path, err) < 0)
        return kc_error_wrap(err, "--defaulting-path");
    if (o->validation_path && kc__scaffold_check_hook_path(o->validation_path, err) < 0)
        return kc_error_wrap(err, "--validation-path");
    return 0;
}

static int scaffold_webhook_find_or_make(const kc__scaffold_project_file *project,
                                         const kc__scaffold_named_kind *named,
                                         kc__scaffold_resource *ret, kc_error *err)
{
    if (kc__scaffold_find_named(project, named, ret))
        return kc__scaffold_check_target(ret, named, err);
    const int foreign = kc__scaffold_make_foreign(named, ret, err);
    return foreign == 0 ? kc__scaffold_kind_not_found(project, named,
                                                      "create it with 'kc create api', or set "
                                                      "--external-api-path to the types of another "
                                                      "project",
                                                      err)
                        : KC_MIN(foreign, 0);
}

/* An existing webhook keeps its path: users edit its source. */
static int check_path_kept(bool there, kc_str path, const char *wanted, const char *flag,
                           kc_error *err)
{
    if (!there || !wanted || kc_str_is(path, wanted))
        return 0;
    return kc_error_set(err, KC_ALREADY_EXISTS,
                        "--%s: the webhook already exists; change its path in the source "
                        "(marker and setup) and in PROJECT",
                        flag);
}

static int check_new(const kc__scaffold_resource *has, const kc__scaffold_webhook_opts *o,
                     const kc__scaffold_names *spokes, bool force, kc_error *err)
{
    bool has_all = (!o->defaulting || has->defaulting) && (!o->validation || has->validation) &&
                   (!o->conversion || has->conversion);
    for (size_t i = 0; i < spokes->n; i++)
        has_all &= kc__scaffold_names_have(&has->spokes, spokes->items[i]);
    if (has_all && !force)
        return kc_error_set(err, KC_ALREADY_EXISTS,
                            "%s of %s/%s already has these webhooks; --force adds what is "
                            "missing",
                            o->kind, o->group, o->version);
    if (check_path_kept(has->defaulting, has->defaulting_path, o->defaulting_path,
                        "defaulting-path", err) < 0)
        return kc_error_result(err);
    return check_path_kept(has->validation, has->validation_path, o->validation_path,
                           "validation-path", err);
}

static void scaffold_webhook_record(kc__scaffold_resource *r, const kc__scaffold_webhook_opts *o)
{
    r->defaulting |= o->defaulting;
    r->validation |= o->validation;
    r->conversion |= o->conversion;
    if (o->defaulting_path)
        r->defaulting_path = kc_cstr(o->defaulting_path);
    if (o->validation_path)
        r->validation_path = kc_cstr(o->validation_path);
}

static unsigned parts_of(const kc__scaffold_resource *r, const kc__scaffold_webhook_opts *o)
{
    const unsigned validation =
        r->core ? KC__SCAFFOLD_PART_VALIDATION_CORE : KC__SCAFFOLD_PART_VALIDATION;
    return KC__SCAFFOLD_PART_WEBHOOK | (o->defaulting ? KC__SCAFFOLD_PART_DEFAULTING : 0) |
           (o->validation ? validation : 0) | (o->conversion ? KC__SCAFFOLD_PART_CONVERSION : 0);
}

int kc__scaffold_webhook(const kc__scaffold *s, const kc__scaffold_webhook_opts *o, kc_error *err)
{
    const kc__scaffold_named_kind named = {o->group, o->version, o->kind, o->plural, &o->external};
    kc_auto(kc__scaffold_project_file) *project = kc__scaffold_project(s, err);
    kc__scaffold_resource resource;
    kc__scaffold_names spokes = {.n = 0};
    if (!project || kc__scaffold_check_named(&named, err) < 0 || check_opts(o, err) < 0 ||
        scaffold_webhook_find_or_make(project, &named, &resource, err) < 0)
        return kc_error_result(err);
    if (o->conversion && !resource.api)
        return kc_error_set(err, KC_INVALID,
                            "--conversion requires a kind of this project: the types of %s are "
                            "elsewhere",
                            o->kind);
    if (read_spokes(project, &resource, o->spokes, &spokes, err) < 0 ||
        check_new(&resource, o, &spokes, s->force, err) < 0)
        return kc_error_result(err);
    kc_autofree char *plural =
        o->plural ? kc_strdup(o->plural) : kc__scaffold_plural_of(kc_cstr(o->kind));
    if (!resource.plural.n)
        resource.plural = kc_cstr(plural);
    scaffold_webhook_record(&resource, o);
    for (size_t i = 0; i < spokes.n; i++)
        if (kc__scaffold_names_add(&resource.spokes, spokes.items[i], err) < 0)
            return kc_error_wrap(err, "--spoke");
    const unsigned parts = parts_of(&resource, o) | kc__scaffold_parts_around(project, &resource);
    const kc__scaffold_execution carrying = {project, &resource, parts, .spokes = spokes};
    return kc__scaffold_execute(s, &carrying, err);
}
