/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scaffold_edit.c: `kc edit`: settings of a project that is there.
 *
 * What was scaffolded and left alone is changed along; what is people's own by now is not: for each
 * file that has to change, a line says how. Later commands follow the new settings, and find files
 * where they are (carry.c), so nothing breaks until all of that is done.
 */
#include "scaffold/carry.h"
#include "scaffold/files.h"
#include "scaffold/kinds.h"
#include "scaffold/license.h"

/* A project whose files are looked at. */
typedef struct editing {
    const kc__scaffold *s;
    kc__project *project;
    bool on; /* The setting's new value. */
} editing;

/* A source of a kind that is there. */
typedef struct source {
    const kc__resource *of;
    const char *sort; /* "controllers" */
    const char *file; /* "application_controller.c" */
    const char *path; /* All of it. */
} source;
typedef void look_fn(const editing *e, const source *at);

static void look_at(const editing *e, const kc__resource *r, const kc__values *values,
                    const char *sort, const char *id, const char *end, look_fn *look)
{
    kc_scoped(kc_buf) text = {0};
    kc_autofree char *file = kc_asprintf("%s%s", kc__values_get(values, id), end);
    kc_autofree char *path = kc_asprintf("%s/%s", kc__values_get(values, sort), file);
    if (kc__folder_read(e->s->folder, path, &text, NULL) > 0)
        look(e, &(source){r, sort, file, path});
}

/* With the sources of one of its controllers, or, without a name, of all that has the kind's. */
static void look_at_kind(const editing *e, const kc__resource *r, kc_str controller, look_fn *look)
{
    static const char *const sources[][3] = {
        {"controllers", "id", "_controller.h"},
        {"controllers", "id", "_controller.c"},
        {"tests", "id", "_test.c"},
        {"webhooks", "hook", "_webhook.h"},
        {"webhooks", "hook", "_webhook.c"},
    };
    kc__values values;
    kc__values_fill(&values, e->project, r, &(kc__values_opts){.controller = controller});
    kc__put_places(e->s, e->project, r, &values);
    for (size_t i = 0; i < (controller.n ? 3 : KC_COUNT(sources)); i++)
        look_at(e, r, &values, sources[i][0], sources[i][1], sources[i][2], look);
    kc__values_done(&values);
}

static void look_at_all(const editing *e, look_fn *look)
{
    for (size_t i = 0; i < kc__project_count(e->project); i++) {
        const kc__resource r = kc__project_at(e->project, i);
        look_at_kind(e, &r, (kc_str){0}, look);
        for (size_t k = 0; k < r.controllers.n; k++)
            look_at_kind(e, &r, r.controllers.items[k], look);
    }
}

/* ---- groups ---- */

static void say_to_move(const editing *e, const source *at)
{
    kc_autofree char *grouped =
        kc_asprintf("%s/%.*s/%s", at->sort, KC_ARG(at->of->group), at->file);
    kc_autofree char *flat = kc_asprintf("%s/%s", at->sort, at->file);
    const char *wanted = e->on ? grouped : flat;
    if (!strcmp(at->path, wanted))
        return;
    const bool header = kc_str_ends(kc_cstr(at->file), KC_STR(".h"));
    kc_autofree char *text = kc_asprintf("it may be moved to %s%s", wanted,
                                         header ? ", with the #include lines that name it" : "");
    kc__say(e->s, KC__SAID_BY_HAND, at->path, text);
}

/* ---- namespaces ---- */

/* Markers of roles, of which some say a namespace and some do not. */
static size_t count_markers(kc_str text, bool with_namespace)
{
    size_t n = 0;
    while (text.n) {
        const kc_str line = kc_str_cut(&text, '\n');
        /* Certificates are the cluster's in any case. */
        const bool cluster = kc_str_contains(line, KC_STR("webhookconfigurations")) ||
                             kc_str_contains(line, KC_STR("customresourcedefinitions"));
        if (kc_str_contains(line, KC_STR("+kubebuilder:rbac:")) && !cluster)
            n += kc_str_contains(line, KC_STR(",namespace=")) == with_namespace;
    }
    return n;
}

static void say_to_mark(const editing *e, const source *at)
{
    kc_scoped(kc_buf) text = {0};
    if (at->of && kc__is_cluster_scoped(at->of))
        return;
    if (kc__folder_read(e->s->folder, at->path, &text, NULL) <= 0 ||
        !count_markers(kc_buf_str(&text), !e->on))
        return;
    kc_autofree char *advice =
        kc_asprintf(e->on ? "add namespace=%.*s-system to its +kubebuilder:rbac markers of what is "
                            "in namespaces, then: make generate"
                          : "remove namespace=%.*s-system from its +kubebuilder:rbac markers, "
                            "then: make generate",
                    KC_ARG(kc__project_name(e->project)));
    kc__say(e->s, KC__SAID_BY_HAND, at->path, advice);
}

static void say_to_unset(const editing *e, const char *path)
{
    kc_scoped(kc_buf) text = {0};
    if (kc__folder_read(e->s->folder, path, &text, NULL) > 0 &&
        kc_str_contains(kc_buf_str(&text), KC_STR("WATCH_NAMESPACE")))
        kc__say(e->s, KC__SAID_BY_HAND, path, "remove WATCH_NAMESPACE");
}

static unsigned namespace_parts(const editing *e)
{
    unsigned parts = e->on ? KC__PART_NAMESPACED : KC__PART_ALL_NAMESPACES;
    for (size_t i = 0; i < kc__project_count(e->project); i++) {
        const kc__resource r = kc__project_at(e->project, i);
        parts |= kc__parts_around(e->project, &r) & KC__PART_CLUSTER_BINDING;
    }
    return parts;
}

static void say_about_namespaces(const editing *e)
{
    say_to_mark(e, &(source){.path = "cmd/main.c"});
    look_at_all(e, say_to_mark);
    if (!e->on)
        say_to_unset(e, "config/manager/manager.yaml");
}

/* ---- the verb ---- */

/* It was asked for: what was there before is not kept. */
static int put_license(const kc__scaffold *s, const kc__license_opts *opts, kc_error *err)
{
    kc__scaffold forced = *s;
    kc_scoped(kc_buf) text = {0};
    forced.force = true;
    if (kc__license_text(opts, &text, err) < 0)
        return -1;
    return kc__put_file(&forced, KC__BOILERPLATE, kc_buf_str(&text), err);
}

int kc__scaffold_edit(const kc__scaffold *s, const kc__edit_opts *opts, kc_error *err)
{
    kc_auto(kc__project) *project = kc__scaffold_project(s, err);
    kc__carrying carrying = {.project = project};
    if (!project || (opts->license && put_license(s, opts->license, err) < 0))
        return -1;
    if (opts->multigroup)
        kc__project_set_multigroup(project, *opts->multigroup);
    if (opts->namespaced) {
        kc__project_set_namespaced(project, *opts->namespaced);
        carrying.parts = namespace_parts(&(editing){s, project, *opts->namespaced});
    }
    if (kc__carry_out(s, &carrying, err) < 0)
        return -1;
    if (opts->multigroup)
        look_at_all(&(editing){s, project, *opts->multigroup}, say_to_move);
    if (opts->namespaced)
        say_about_namespaces(&(editing){s, project, *opts->namespaced});
    return 0;
}
