/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scaffold_again.c: `kc alpha generate`: a project made anew from what its PROJECT says, by the
 * commands it was made with: init, then each kind with its controllers, then webhooks, which need
 * all versions of theirs. With a newer kc it shows what that would scaffold today: to compare, or
 * to merge.
 *
 * PROJECT itself is copied: what other programs noted in it stays.
 */
#include "scaffold/carry.h"
#include "scaffold/files.h"

/* The texts of a resource, as commands take them. */
typedef struct texts {
    kc_arena arena;
    const char *group, *version, *kind, *plural;
    kc__external_opts external;
} texts;

static const char *text(texts *t, kc_str of)
{
    return of.n ? kc_arena_strndup(&t->arena, of.p, of.n) : NULL;
}

static texts texts_of(const kc__resource *r)
{
    texts t = {0};
    t.group = text(&t, r->group);
    t.version = text(&t, r->version);
    t.kind = text(&t, r->kind);
    t.plural = r->core ? NULL : text(&t, r->plural);
    if (r->external)
        t.external = (kc__external_opts){.path = text(&t, r->path),
                                         .domain = text(&t, r->domain),
                                         .module = text(&t, r->module)};
    return t;
}

/* ---- kinds ---- */

static int make_api(const kc__scaffold *s, const kc__resource *r, texts *t, kc_error *err)
{
    kc__api_opts opts = {.group = t->group,
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
        return -1;
    opts.no_resource = true;
    opts.no_controller = opts.ssa = false;
    opts.image = (kc__image_opts){0};
    for (size_t i = 0; i < r->controllers.n; i++) {
        opts.controller_name = text(t, r->controllers.items[i]);
        if (kc__scaffold_api(s, &opts, err) < 0)
            return -1;
    }
    return 0;
}

static int make_webhooks(const kc__scaffold *s, const kc__resource *r, texts *t, kc_error *err)
{
    kc_scoped(kc_buf) spokes = {0};
    for (size_t i = 0; i < r->spokes.n; i++)
        kc_buf_printf(&spokes, "%s%.*s", i ? "," : "", KC_ARG(r->spokes.items[i]));
    const kc__webhook_opts opts = {.group = t->group,
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

typedef int make_fn(const kc__scaffold *s, const kc__resource *r, texts *t, kc_error *err);

static int make_all(const kc__scaffold *s, const kc__project *project, make_fn *make, kc_error *err)
{
    for (size_t i = 0; i < kc__project_count(project); i++) {
        const kc__resource r = kc__project_at(project, i);
        texts t = texts_of(&r);
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

static int make_project(const kc__scaffold *s, const kc__project *project, const char *from,
                        kc_error *err)
{
    kc_scoped(kc_buf) license = {0};
    kc_autofree char *name = kc_str_dup(kc__project_name(project));
    kc_autofree char *domain = kc_str_dup(kc__project_domain(project));
    kc_autofree char *repo = kc_str_dup(kc__project_repo(project));
    kc_autofree char *boilerplate = kc_asprintf("%s/%s", from, KC__BOILERPLATE);
    const int has_license = kc__folder_read(from, KC__BOILERPLATE, &license, err);
    const kc__init_opts opts = {
        .domain = domain,
        .name = name,
        .repo = repo,
        .license = {.license = "none", .file = has_license ? boilerplate : NULL},
        .multigroup = kc__project_multigroup(project),
        .namespaced = kc__project_namespaced(project)};
    return has_license < 0 ? has_license : kc__scaffold_init(s, &opts, err);
}

int kc__scaffold_again(const kc__scaffold *s, const char *from, kc_error *err)
{
    kc_scoped(kc_buf) noted = {0}, there = {0};
    kc_auto(kc__project) *project = kc__scaffold_project(&(kc__scaffold){.folder = from}, err);
    if (!project || kc__folder_read(from, "PROJECT", &noted, err) < 0)
        return -1;
    if (kc__folder_read(s->folder, "PROJECT", &there, err) != 0 && !s->force)
        return kc_error_set(err, KC_ALREADY_EXISTS,
                            "%s is a project already; name an empty folder (--output-dir), or say "
                            "--force to write over this one",
                            s->folder);
    if (make_project(s, project, from, err) < 0 || make_all(s, project, make_api, err) < 0 ||
        make_all(s, project, make_webhooks, err) < 0)
        return -1;
    return kc__folder_write(s->folder, "PROJECT", kc_buf_str(&noted), err);
}
