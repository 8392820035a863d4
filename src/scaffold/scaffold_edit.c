/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scaffold_edit.c: `kc edit`: changes settings of an existing project.
 *
 * Unchanged scaffolded files are updated; files that users have edited are not: a line for each
 * file says what to change. Later commands follow the new settings and find files where they are
 * (execute.c), so nothing breaks in between.
 */
#include "scaffold/execute.h"
#include "scaffold/files.h"
#include "scaffold/kinds.h"
#include "scaffold/license.h"

/* A project whose files are checked. */
typedef struct editing {
    const kc__scaffold *s;
    kc__scaffold_project_file *project;
    bool on; /* The new value of the setting. */
} editing;

/* A source file of an existing kind. */
typedef struct scaffold_edit_source {
    const kc__scaffold_resource *of;
    const char *sort; /* "controllers" */
    const char *file; /* "application_controller.c" */
    const char *path; /* The whole path. */
} scaffold_edit_source;
typedef void visit_fn(const editing *e, const scaffold_edit_source *at);

static void scaffold_edit_inspect(const editing *e, const kc__scaffold_resource *r,
                                  const kc__scaffold_values *values, const char *sort,
                                  const char *id, const char *end, visit_fn *visit)
{
    kc_scoped(kc_buf) text = {0};
    kc_autofree char *file = kc_asprintf("%s%s", kc__scaffold_values_get(values, id), end);
    kc_autofree char *path = kc_asprintf("%s/%s", kc__scaffold_values_get(values, sort), file);
    if (kc__scaffold_dir_read(e->s->dir, path, &text, NULL) > 0)
        visit(e, &(scaffold_edit_source){r, sort, file, path});
}

/* The sources of one of its controllers, or, without a name, of the controller with the kind's
 * name. */
static void visit_kind(const editing *e, const kc__scaffold_resource *r, kc_str controller,
                       visit_fn *visit)
{
    static const char *const sources[][3] = {
        {"controllers", "id", "_controller.h"},
        {"controllers", "id", "_controller.c"},
        {"tests", "id", "_test.c"},
        {"webhooks", "hook", "_webhook.h"},
        {"webhooks", "hook", "_webhook.c"},
    };
    kc__scaffold_values values;
    kc__scaffold_values_fill(&values, e->project, r,
                             &(kc__scaffold_values_opts){.controller = controller});
    kc__scaffold_write_targets(e->s, e->project, r, &values);
    for (size_t i = 0; i < (controller.n ? 3 : KC_COUNT(sources)); i++)
        scaffold_edit_inspect(e, r, &values, sources[i][0], sources[i][1], sources[i][2], visit);
    kc__scaffold_values_done(&values);
}

static void visit_all(const editing *e, visit_fn *visit)
{
    for (size_t i = 0; i < kc__scaffold_project_count(e->project); i++) {
        const kc__scaffold_resource r = kc__scaffold_project_at(e->project, i);
        visit_kind(e, &r, (kc_str){0}, visit);
        for (size_t k = 0; k < r.controllers.n; k++)
            visit_kind(e, &r, r.controllers.items[k], visit);
    }
}

/* ---- groups ---- */

static void report_move(const editing *e, const scaffold_edit_source *at)
{
    kc_autofree char *grouped =
        kc_asprintf("%s/%.*s/%s", at->sort, KC_ARG(at->of->group), at->file);
    kc_autofree char *flat = kc_asprintf("%s/%s", at->sort, at->file);
    const char *wanted = e->on ? grouped : flat;
    if (!strcmp(at->path, wanted))
        return;
    const bool header = kc_str_ends(kc_cstr(at->file), KC_STR(".h"));
    kc_autofree char *text = kc_asprintf("can be moved to %s%s", wanted,
                                         header ? ", with the #include lines that name it" : "");
    kc__scaffold_report(e->s, KC__SCAFFOLD_REPORT_BY_HAND, at->path, text);
}

/* ---- namespaces ---- */

/* RBAC markers, some with a namespace and some without. */
static size_t count_markers(kc_str text, bool with_namespace)
{
    size_t n = 0;
    while (text.n) {
        const kc_str line = kc_str_cut(&text, '\n');
        /* Certificates are cluster-scoped in any case. */
        const bool cluster = kc_str_contains(line, KC_STR("webhookconfigurations")) ||
                             kc_str_contains(line, KC_STR("customresourcedefinitions"));
        if (kc_str_contains(line, KC_STR("+kubebuilder:rbac:")) && !cluster)
            n += kc_str_contains(line, KC_STR(",namespace=")) == with_namespace;
    }
    return n;
}

static void report_mark(const editing *e, const scaffold_edit_source *at)
{
    kc_scoped(kc_buf) text = {0};
    if (at->of && kc__scaffold_is_cluster_scoped(at->of))
        return;
    if (kc__scaffold_dir_read(e->s->dir, at->path, &text, NULL) <= 0 ||
        !count_markers(kc_buf_str(&text), !e->on))
        return;
    kc_autofree char *advice =
        kc_asprintf(e->on ? "add namespace=%.*s-system to its +kubebuilder:rbac markers of "
                            "namespaced resources, then: make generate"
                          : "remove namespace=%.*s-system from its +kubebuilder:rbac markers, "
                            "then: make generate",
                    KC_ARG(kc__scaffold_project_name(e->project)));
    kc__scaffold_report(e->s, KC__SCAFFOLD_REPORT_BY_HAND, at->path, advice);
}

static void report_unset(const editing *e, const char *path)
{
    kc_scoped(kc_buf) text = {0};
    if (kc__scaffold_dir_read(e->s->dir, path, &text, NULL) > 0 &&
        kc_str_contains(kc_buf_str(&text), KC_STR("WATCH_NAMESPACE")))
        kc__scaffold_report(e->s, KC__SCAFFOLD_REPORT_BY_HAND, path, "remove WATCH_NAMESPACE");
}

static unsigned namespace_parts(const editing *e)
{
    unsigned parts = e->on ? KC__SCAFFOLD_PART_NAMESPACED : KC__SCAFFOLD_PART_ALL_NAMESPACES;
    for (size_t i = 0; i < kc__scaffold_project_count(e->project); i++) {
        const kc__scaffold_resource r = kc__scaffold_project_at(e->project, i);
        parts |= kc__scaffold_parts_around(e->project, &r) & KC__SCAFFOLD_PART_CLUSTER_BINDING;
    }
    return parts;
}

static void report_namespaces(const editing *e)
{
    report_mark(e, &(scaffold_edit_source){.path = "cmd/main.c"});
    visit_all(e, report_mark);
    if (!e->on)
        report_unset(e, "config/manager/manager.yaml");
}

/* ---- command ---- */

/* Requested: earlier content is not kept. */
static int put_license(const kc__scaffold *s, const kc__scaffold_license_opts *opts, kc_error *err)
{
    kc__scaffold forced = *s;
    kc_scoped(kc_buf) text = {0};
    forced.force = true;
    if (kc__scaffold_license_text(opts, &text, err) < 0)
        return kc_error_result(err);
    return kc__scaffold_write_file(&forced, KC__SCAFFOLD_BOILERPLATE, kc_buf_str(&text), err);
}

int kc__scaffold_edit(const kc__scaffold *s, const kc__scaffold_edit_opts *opts, kc_error *err)
{
    kc_auto(kc__scaffold_project_file) *project = kc__scaffold_project(s, err);
    kc__scaffold_execution carrying = {.project = project};
    if (!project || (opts->license && put_license(s, opts->license, err) < 0))
        return kc_error_result(err);
    if (opts->multigroup)
        kc__scaffold_project_set_multigroup(project, *opts->multigroup);
    if (opts->namespaced) {
        kc__scaffold_project_set_namespaced(project, *opts->namespaced);
        carrying.parts = namespace_parts(&(editing){s, project, *opts->namespaced});
    }
    if (kc__scaffold_execute(s, &carrying, err) < 0)
        return kc_error_result(err);
    if (opts->multigroup)
        visit_all(&(editing){s, project, *opts->multigroup}, report_move);
    if (opts->namespaced)
        report_namespaces(&(editing){s, project, *opts->namespaced});
    return 0;
}
