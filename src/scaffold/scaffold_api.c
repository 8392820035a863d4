/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scaffold_api.c: `kc create api`: scaffolds a kind, a controller for it, or both. A kind may have
 * several controllers, each with a name of its own.
 */
#include "scaffold/execute.h"
#include "scaffold/kinds.h"
#include "scaffold/names.h"

static bool is_external(const kc__scaffold_external_opts *external)
{
    return external->path || external->domain || external->module;
}

static int check_image(const kc__scaffold_api_opts *o, kc_error *err)
{
    const struct {
        const char *flag, *value;
        int (*check)(const char *text, kc_error *err);
    } texts[] = {
        {"image", o->image.image, kc__scaffold_check_image},
        {"image-container-command", o->image.command, kc__scaffold_check_image_command},
        {"image-container-port", o->image.port, kc__scaffold_check_image_port},
        {"run-as-user", o->image.user, kc__scaffold_check_image_user},
    };
    for (size_t i = 0; i < KC_COUNT(texts); i++) {
        if (texts[i].value && !o->image.image)
            return kc_error_set(err, KC_INVALID, "--%s requires --image", texts[i].flag);
        if (texts[i].value && texts[i].check(texts[i].value, err) < 0)
            return kc_error_wrap(err, "--%s", texts[i].flag);
    }
    if (o->image.image && (o->no_resource || o->ssa))
        return kc_error_set(err, KC_INVALID,
                            "--image creates a kind and its controller: not valid with "
                            "--resource=false or --ssa");
    return 0;
}

static int check_opts(const kc__scaffold_api_opts *o, kc_error *err)
{
    if (check_image(o, err) < 0)
        return kc_error_result(err);
    if (is_external(&o->external) && !o->no_resource)
        return kc_error_set(err, KC_INVALID,
                            "a kind with --external-api-path has no types here: add "
                            "--resource=false");
    if (o->ssa && o->no_resource)
        return kc_error_set(err, KC_INVALID,
                            "--ssa requires a kind of this project: not valid with "
                            "--resource=false");
    if (o->no_resource && o->no_controller)
        return kc_error_set(err, KC_INVALID,
                            "nothing to write: both types and controller are disabled");
    if (o->controller_name && o->no_controller)
        return kc_error_set(err, KC_INVALID,
                            "--controller-name requires a controller; remove --controller=false");
    if (o->controller_name && kc__scaffold_check_controller(o->controller_name, err) < 0)
        return kc_error_wrap(err, "--controller-name");
    return 0;
}

/* The recorded kind, or the one to be created. */
static int scaffold_api_find_or_make(const kc__scaffold_project_file *project,
                                     const kc__scaffold_named_kind *named,
                                     const kc__scaffold_api_opts *o, bool force,
                                     kc__scaffold_resource *ret, kc_error *err)
{
    const bool there = kc__scaffold_find_named(project, named, ret);
    if (there && !o->no_resource && ret->api && !force)
        return kc_error_set(err, KC_ALREADY_EXISTS,
                            "%s of %s/%s already exists in this project; --force overwrites its "
                            "files",
                            o->kind, o->group, o->version);
    if (there)
        return kc__scaffold_check_target(ret, named, err);
    const int foreign = o->no_resource ? kc__scaffold_make_foreign(named, ret, err) : 0;
    if (foreign == 0 && o->no_resource)
        return kc__scaffold_kind_not_found(
            project, named,
            "remove --resource=false to create it, or set --external-api-path to the types of "
            "another project",
            err);
    if (foreign == 0)
        *ret = (kc__scaffold_resource){.group = kc_cstr(o->group),
                                       .version = kc_cstr(o->version),
                                       .kind = kc_cstr(o->kind),
                                       .domain = kc__scaffold_project_domain(project)};
    return foreign < 0 ? foreign : 0;
}

/* ---- its controller ---- */

/* True if a controller of that kind has this C name. */
static bool has_controller(const kc__scaffold_resource *r, const char *id)
{
    kc_autofree char *usual = kc__scaffold_snake_case(r->kind);
    bool has = r->controller && !strcmp(usual, id);
    for (size_t i = 0; !has && i < r->controllers.n; i++) {
        kc_autofree char *other = kc__scaffold_identifier(r->controllers.items[i]);
        has = !strcmp(other, id);
    }
    return has;
}

/* Equal names would define the same function twice. */
static int scaffold_api_check_free(const kc__scaffold_project_file *project,
                                   const kc__scaffold_resource *of, kc_str name, kc_error *err)
{
    kc_autofree char *id = kc__scaffold_identifier(name);
    for (size_t i = 0; i < kc__scaffold_project_count(project); i++) {
        kc__scaffold_resource has = kc__scaffold_project_at(project, i);
        const bool itself = kc_str_eq(has.group, of->group) &&
                            kc_str_eq(has.version, of->version) && kc_str_eq(has.kind, of->kind);
        if (itself && kc__scaffold_names_have(&has.controllers, name))
            continue;
        if (has_controller(&has, id))
            return kc_error_set(err, KC_ALREADY_EXISTS,
                                "--controller-name: %.*s already has a controller of that name",
                                KC_ARG(has.kind));
    }
    return 0;
}

static int note_controller(const kc__scaffold_project_file *project, kc__scaffold_resource *r,
                           kc_str name, kc_error *err)
{
    r->controller |= !name.n;
    if (!name.n)
        return 0;
    return scaffold_api_check_free(project, r, name, err) < 0
               ? kc_error_result(err)
               : kc__scaffold_names_add(&r->controllers, name, err);
}

static kc__scaffold_image image_of(const kc__scaffold_image_opts *o)
{
    return (kc__scaffold_image){kc_cstr(o->image), kc_cstr(o->command), kc_cstr(o->port),
                                kc_cstr(o->user)};
}

static unsigned controller_parts(const kc__scaffold_resource *r)
{
    return KC__SCAFFOLD_PART_CONTROLLER | (r->core            ? KC__SCAFFOLD_PART_CONTROLLER_CORE
                                           : r->external      ? KC__SCAFFOLD_PART_CONTROLLER_OTHER
                                           : r->image.image.n ? KC__SCAFFOLD_PART_CONTROLLER_IMAGE
                                           : r->ssa           ? KC__SCAFFOLD_PART_CONTROLLER_SSA
                                                              : KC__SCAFFOLD_PART_CONTROLLER_OWN);
}

int kc__scaffold_api(const kc__scaffold *s, const kc__scaffold_api_opts *o, kc_error *err)
{
    const kc__scaffold_named_kind named = {o->group, o->version, o->kind, o->plural, &o->external};
    kc_auto(kc__scaffold_project_file) *project = kc__scaffold_project(s, err);
    kc__scaffold_resource resource;
    if (!project || kc__scaffold_check_named(&named, err) < 0 || check_opts(o, err) < 0 ||
        scaffold_api_find_or_make(project, &named, o, s->force, &resource, err) < 0)
        return kc_error_result(err);
    kc_autofree char *plural =
        o->plural ? kc_strdup(o->plural) : kc__scaffold_plural_of(kc_cstr(o->kind));
    unsigned parts = 0;
    if (!resource.plural.n || o->plural)
        resource.plural = kc_cstr(plural);
    if (!o->no_resource) {
        resource.api = true;
        resource.ssa |= o->ssa; /* It cannot be undone: the files exist. */
        resource.cluster_scoped = o->cluster_scoped;
        if (o->image.image)
            resource.image = image_of(&o->image);
        parts |= KC__SCAFFOLD_PART_API |
                 (resource.image.image.n ? KC__SCAFFOLD_PART_TYPES_IMAGE : KC__SCAFFOLD_PART_TYPES);
    }
    const kc_str controller = kc_cstr(o->controller_name);
    if (!o->no_controller) {
        if (note_controller(project, &resource, controller, err) < 0)
            return kc_error_result(err);
        parts |= controller_parts(&resource);
    }
    parts |= kc__scaffold_parts_around(project, &resource);
    const kc__scaffold_execution carrying = {project, &resource, parts, .controller = controller};
    return kc__scaffold_execute(s, &carrying, err);
}
