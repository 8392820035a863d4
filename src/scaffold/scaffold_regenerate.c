/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scaffold_regenerate.c: `kc alpha generate`: creates a project again from its PROJECT file, with
 * the original commands: init, then each kind with its controllers, then webhooks, which need all
 * versions of their kind. With a newer kc it shows what that version scaffolds: to compare, or to
 * merge.
 *
 * PROJECT itself is copied: entries of other programs stay.
 */
#include "scaffold/execute.h"
#include "scaffold/files.h"

/* The texts of a resource, as arguments of commands. */
typedef struct scaffold_regenerate_texts {
    kc_arena arena;
    const char *group, *version, *kind, *plural;
    kc__scaffold_external_opts external;
} scaffold_regenerate_texts;

static const char *text(scaffold_regenerate_texts *t, kc_str of)
{
    return of.n ? kc_arena_strndup(&t->arena, of.p, of.n) : NULL;
}

static scaffold_regenerate_texts texts_of(const kc__scaffold_resource *r)
{
    scaffold_regenerate_texts t = {0};
    t.group = text(&t, r->group);
    t.version = text(&t, r->version);
    t.kind = text(&t, r->kind);
    t.plural = r->core ? NULL : text(&t, r->plural);
    if (r->external)
        t.external = (kc__scaffold_external_opts){.path = text(&t, r->path),
                                                  .domain = text(&t, r->domain),
                                                  .module = text(&t, r->module)};
    return t;
}

/* ---- kinds ---- */

static int make_api(const kc__scaffold *s, const kc__scaffold_resource *r,
                    scaffold_regenerate_texts *t, kc_error *err)
{
    kc__scaffold_api_opts opts = {.group = t->group,
                                  .version = t->version,
                                  .kind = t->kind,
                                  .plural = t->plural,
                                  .external = t->external,
                                  .image = {.image = text(t, r->image.image),
                                            .command = text(t, r->image.command),
                                            .port = text(t, r->image.port),
                                            .user = text(t, r->image.user)},
                                  .cluster_scoped = r->cluster_scoped,
                                  .ssa = r->ssa,
                                  .no_resource = !r->api,
                                  .no_controller = !r->controller};
    if ((r->api || r->controller) && kc__scaffold_api(s, &opts, err) < 0)
        return kc_error_result(err);
    opts.no_resource = true;
    opts.no_controller = opts.ssa = false;
    opts.image = (kc__scaffold_image_opts){0};
    for (size_t i = 0; i < r->controllers.n; i++) {
        opts.controller_name = text(t, r->controllers.items[i]);
        if (kc__scaffold_api(s, &opts, err) < 0)
            return kc_error_result(err);
    }
    return 0;
}

static int make_webhooks(const kc__scaffold *s, const kc__scaffold_resource *r,
                         scaffold_regenerate_texts *t, kc_error *err)
{
    kc_scoped(kc_buf) spokes = {0};
    for (size_t i = 0; i < r->spokes.n; i++)
        kc_buf_printf(&spokes, "%s%.*s", i ? "," : "", KC_ARG(r->spokes.items[i]));
    const kc__scaffold_webhook_opts opts = {.group = t->group,
                                            .version = t->version,
                                            .kind = t->kind,
                                            .plural = t->plural,
                                            .external = t->external,
                                            .defaulting = r->defaulting,
                                            .validation = r->validation,
                                            .conversion = r->conversion,
                                            .defaulting_path = text(t, r->defaulting_path),
                                            .validation_path = text(t, r->validation_path),
                                            .spokes = r->spokes.n ? kc_buf_cstr(&spokes) : NULL};
    if (!r->defaulting && !r->validation && !r->conversion)
        return 0;
    return kc__scaffold_webhook(s, &opts, err);
}

typedef int make_fn(const kc__scaffold *s, const kc__scaffold_resource *r,
                    scaffold_regenerate_texts *t, kc_error *err);

static int make_all(const kc__scaffold *s, const kc__scaffold_project_file *project, make_fn *make,
                    kc_error *err)
{
    for (size_t i = 0; i < kc__scaffold_project_count(project); i++) {
        const kc__scaffold_resource r = kc__scaffold_project_at(project, i);
        scaffold_regenerate_texts t = texts_of(&r);
        const int done = make(s, &r, &t, err);
        if (done < 0)
            kc_error_wrap(err, "%s of %s/%s", t.kind ? t.kind : "", t.group ? t.group : "",
                          t.version ? t.version : "");
        kc_arena_done(&t.arena);
        if (done < 0)
            return done;
    }
    return 0;
}

/* ---- the project ---- */

static int make_project(const kc__scaffold *s, const kc__scaffold_project_file *project,
                        const char *from, kc_error *err)
{
    kc_scoped(kc_buf) license = {0};
    kc_autofree char *name = kc_str_dup(kc__scaffold_project_name(project));
    kc_autofree char *domain = kc_str_dup(kc__scaffold_project_domain(project));
    kc_autofree char *repo = kc_str_dup(kc__scaffold_project_repo(project));
    kc_autofree char *boilerplate = kc_asprintf("%s/%s", from, KC__SCAFFOLD_BOILERPLATE);
    const int has_license = kc__scaffold_dir_read(from, KC__SCAFFOLD_BOILERPLATE, &license, err);
    const kc__scaffold_init_opts opts = {
        .domain = domain,
        .name = name,
        .repo = repo,
        .license = {.license = "none", .file = has_license ? boilerplate : NULL},
        .multigroup = kc__scaffold_project_multigroup(project),
        .namespaced = kc__scaffold_project_namespaced(project)};
    return has_license < 0 ? has_license : kc__scaffold_init(s, &opts, err);
}

int kc__scaffold_regenerate(const kc__scaffold *s, const char *from, kc_error *err)
{
    kc_scoped(kc_buf) noted = {0}, there = {0};
    kc_auto(kc__scaffold_project_file) *project =
        kc__scaffold_project(&(kc__scaffold){.dir = from}, err);
    if (!project || kc__scaffold_dir_read(from, "PROJECT", &noted, err) < 0)
        return kc_error_result(err);
    if (kc__scaffold_dir_read(s->dir, "PROJECT", &there, err) != 0 && !s->force)
        return kc_error_set(err, KC_ALREADY_EXISTS,
                            "%s already contains a project; choose an empty directory "
                            "(--output-dir), or overwrite it with --force",
                            s->dir);
    if (make_project(s, project, from, err) < 0 || make_all(s, project, make_api, err) < 0 ||
        make_all(s, project, make_webhooks, err) < 0)
        return kc_error_result(err);
    return kc__scaffold_dir_write(s->dir, "PROJECT", kc_buf_str(&noted), err);
}
