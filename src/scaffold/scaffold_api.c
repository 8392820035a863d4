/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scaffold_api.c: `kc create api`: a kind, a controller for it, or both. A kind may have several
 * controllers, each with a name of its own.
 */
#include "scaffold/carry.h"
#include "scaffold/kinds.h"
#include "scaffold/names.h"

static bool is_external(const kc__external_opts *external)
{
    return external->path || external->domain || external->module;
}

static int check_image(const kc__api_opts *o, kc_error *err)
{
    const struct {
        const char *flag, *value;
        int (*check)(const char *text, kc_error *err);
    } texts[] = {
        {"image", o->image.image, kc__check_image},
        {"image-container-command", o->image.command, kc__check_image_command},
        {"image-container-port", o->image.port, kc__check_image_port},
        {"run-as-user", o->image.user, kc__check_image_user},
    };
    for (size_t i = 0; i < KC_COUNT(texts); i++) {
        if (texts[i].value && !o->image.image)
            return kc_error_set(err, KC_INVALID, "--%s goes with --image", texts[i].flag);
        if (texts[i].value && texts[i].check(texts[i].value, err) < 0)
            return kc_error_wrap(err, "--%s", texts[i].flag);
    }
    if (o->image.image && (o->no_resource || o->ssa))
        return kc_error_set(err, KC_INVALID,
                            "--image makes a kind and the controller that runs it: not with "
                            "--resource=false or --ssa");
    return 0;
}

static int check_opts(const kc__api_opts *o, kc_error *err)
{
    if (check_image(o, err) < 0)
        return -1;
    if (is_external(&o->external) && !o->no_resource)
        return kc_error_set(err, KC_INVALID,
                            "a kind whose types are elsewhere (--external-api-path) has none "
                            "here: say --resource=false");
    if (o->ssa && o->no_resource)
        return kc_error_set(err, KC_INVALID,
                            "--ssa is for a kind of this project: not with --resource=false");
    if (o->no_resource && o->no_controller)
        return kc_error_set(err, KC_INVALID,
                            "neither types nor a controller: then there is nothing to write");
    if (o->controller_name && o->no_controller)
        return kc_error_set(err, KC_INVALID,
                            "--controller-name names a controller; leave --controller=false out");
    if (o->controller_name && kc__check_controller(o->controller_name, err) < 0)
        return kc_error_wrap(err, "--controller-name");
    return 0;
}

/* What was there of it, or what is to be. */
static int find_or_make(const kc__project *project, const kc__named_kind *named,
                        const kc__api_opts *o, bool force, kc__resource *ret, kc_error *err)
{
    const bool there = kc__find_named(project, named, ret);
    if (there && !o->no_resource && ret->api && !force)
        return kc_error_set(err, KC_ALREADY_EXISTS,
                            "there is %s of %s/%s in this project already; --force writes its "
                            "files again, over what has been changed in them",
                            o->kind, o->group, o->version);
    if (there)
        return kc__check_place(ret, named, err);
    const int foreign = o->no_resource ? kc__make_foreign(named, ret, err) : 0;
    if (foreign == 0 && o->no_resource)
        return kc__no_such_kind(project, named,
                                "without --resource=false it is made, and --external-api-path "
                                "says where another project has it",
                                err);
    if (foreign == 0)
        *ret = (kc__resource){.group = kc_cstr(o->group),
                              .version = kc_cstr(o->version),
                              .kind = kc_cstr(o->kind),
                              .domain = kc__project_domain(project)};
    return foreign < 0 ? foreign : 0;
}

/* ---- its controller ---- */

/* True if a controller of that kind is called so in C. */
static bool has_controller(const kc__resource *r, const char *id)
{
    kc_autofree char *usual = kc__snake_case(r->kind);
    bool has = r->controller && !strcmp(usual, id);
    for (size_t i = 0; !has && i < r->controllers.n; i++) {
        kc_autofree char *other = kc__identifier(r->controllers.items[i]);
        has = !strcmp(other, id);
    }
    return has;
}

/* Two of one name would be two functions of one name. */
static int check_free(const kc__project *project, const kc__resource *of, kc_str name,
                      kc_error *err)
{
    kc_autofree char *id = kc__identifier(name);
    for (size_t i = 0; i < kc__project_count(project); i++) {
        kc__resource has = kc__project_at(project, i);
        const bool itself = kc_str_eq(has.group, of->group) &&
                            kc_str_eq(has.version, of->version) && kc_str_eq(has.kind, of->kind);
        if (itself && kc__names_have(&has.controllers, name))
            continue;
        if (has_controller(&has, id))
            return kc_error_set(err, KC_ALREADY_EXISTS,
                                "--controller-name: %.*s has a controller that is called so",
                                KC_ARG(has.kind));
    }
    return 0;
}

static int note_controller(const kc__project *project, kc__resource *r, kc_str name, kc_error *err)
{
    r->controller |= !name.n;
    if (!name.n)
        return 0;
    return check_free(project, r, name, err) < 0 ? -1 : kc__names_add(&r->controllers, name, err);
}

static kc__image image_of(const kc__image_opts *o)
{
    return (kc__image){kc_cstr(o->image), kc_cstr(o->command), kc_cstr(o->port), kc_cstr(o->user)};
}

static unsigned controller_parts(const kc__resource *r)
{
    return KC__PART_CONTROLLER | (r->core            ? KC__PART_CONTROLLER_CORE
                                  : r->external      ? KC__PART_CONTROLLER_OTHER
                                  : r->image.image.n ? KC__PART_CONTROLLER_IMAGE
                                  : r->ssa           ? KC__PART_CONTROLLER_SSA
                                                     : KC__PART_CONTROLLER_OWN);
}

int kc__scaffold_api(const kc__scaffold *s, const kc__api_opts *o, kc_error *err)
{
    const kc__named_kind named = {o->group, o->version, o->kind, o->plural, &o->external};
    kc_auto(kc__project) *project = kc__scaffold_project(s, err);
    kc__resource resource;
    if (!project || kc__check_named(&named, err) < 0 || check_opts(o, err) < 0 ||
        find_or_make(project, &named, o, s->force, &resource, err) < 0)
        return -1;
    kc_autofree char *plural = o->plural ? kc_strdup(o->plural) : kc__plural_of(kc_cstr(o->kind));
    unsigned parts = 0;
    if (!resource.plural.n || o->plural)
        resource.plural = kc_cstr(plural);
    if (!o->no_resource) {
        resource.api = true;
        resource.ssa |= o->ssa; /* It cannot be taken back: the files are there. */
        resource.cluster_scoped = o->cluster_scoped;
        if (o->image.image)
            resource.image = image_of(&o->image);
        parts |= KC__PART_API | (resource.image.image.n ? KC__PART_TYPES_IMAGE : KC__PART_TYPES);
    }
    const kc_str controller = kc_cstr(o->controller_name);
    if (!o->no_controller) {
        if (note_controller(project, &resource, controller, err) < 0)
            return -1;
        parts |= controller_parts(&resource);
    }
    parts |= kc__parts_around(project, &resource);
    const kc__carrying carrying = {project, &resource, parts, .controller = controller};
    return kc__carry_out(s, &carrying, err);
}
