/* SPDX-License-Identifier: Apache-2.0 */
/*
 * create.c: `kc create api` and `kc create webhook`: more for a project.
 *
 * Both have one table of flags, for a verb has one; which of them belong to which stands in their
 * group. Flags of the other one are refused where they would mean something.
 */
#include "scaffolding.h"

typedef struct options {
    kc_flag_operands operands;
    const char *group, *version, *kind, *plural, *controller_name;
    kc_answer resource, controller;
    bool namespaced, make, force;
    bool defaulting, validation, conversion;
} options;

#define AT(field) offsetof(options, field)

static const kc_flag flags[] = {
    {"group", .argument = "GROUP", .parse = kc_flag_text, .offset = AT(group), .group = "Kind",
     .help = "its API group, without the domain"},
    {"version", .argument = "VERSION", .parse = kc_flag_text, .offset = AT(version),
     .group = "Kind", .values = "v1alpha1 v1beta1 v1", .help = "its version, as v1alpha1"},
    {"kind", .argument = "KIND", .parse = kc_flag_text, .offset = AT(kind), .group = "Kind",
     .help = "its name, as RobotArm"},
    {"force", .parse = kc_flag_switch, .offset = AT(force), .group = "Kind",
     .help = "replace files that are there and differ"},
    {"make", .initial = "true", .parse = kc_flag_switch, .offset = AT(make), .group = "Kind",
     .help = "run 'make generate' afterwards"},
    {"plural", .argument = "PLURAL", .parse = kc_flag_text, .offset = AT(plural), .group = "api",
     .help = "its resource, as robotarms; made of the kind without it"},
    {"namespaced", .initial = "true", .parse = kc_flag_switch, .offset = AT(namespaced),
     .group = "api", .help = "its objects are in namespaces"},
    {"resource", .parse = kc_flag_answer, .offset = AT(resource), .group = "api",
     .help = "write its types; asked for, or done, without it"},
    {"controller", .parse = kc_flag_answer, .offset = AT(controller), .group = "api",
     .help = "write a controller for it; asked for, or done, without it"},
    {"controller-name", .argument = "NAME", .parse = kc_flag_text, .offset = AT(controller_name),
     .group = "api", .help = "the controller's name in logs and metrics"},
    {"defaulting", .parse = kc_flag_switch, .offset = AT(defaulting), .group = "webhook",
     .help = "a function that sets defaults"},
    {"programmatic-validation", .parse = kc_flag_switch, .offset = AT(validation),
     .group = "webhook", .help = "a function that refuses objects"},
    {"conversion", .parse = kc_flag_switch, .offset = AT(conversion), .group = "webhook",
     .help = "a function that converts between its versions"},
};

const kc_flag_set kc_create_flags = {
    .verb = "create",
    .synopsis = "Adds to the project of this folder: 'api' a kind with its types, a controller, "
                "a test and a sample;\n'webhook' functions that an API server asks before it "
                "writes objects of a kind.\n"
                "\n"
                "What is there stays: files that were changed are named and left, and files that "
                "all kinds share get\nlines where their markers (+kubebuilder:scaffold:) stand.",
    .operands = "api|webhook",
    .operands_at = AT(operands),
    .examples =
        "  kc create api --group apps --version v1alpha1 --kind Application\n"
        "  kc create api --group apps --version v1 --kind Zone --namespaced=false "
        "--controller=false\n"
        "  kc create webhook --group apps --version v1alpha1 --kind Application --defaulting\n",
    KC_FLAGS(flags),
    .size = sizeof(options),
};

static int create_api(const options *o, kc_error *err)
{
    if (o->defaulting || o->validation || o->conversion)
        return kc_error_set(err, KC_INVALID,
                            "--defaulting, --programmatic-validation and --conversion are for "
                            "'kc create webhook'");
    const kc__scaffold s = kc_scaffold_here(o->force);
    kc_auto(kc__project) *project = kc__scaffold_project(&s, err);
    if (!project)
        return -1; /* Before anything is asked. */
    kc_autofree char *group = kc_text_of(o->group, "Group:");
    kc_autofree char *version = kc_text_of(o->version, "Version:");
    kc_autofree char *kind = kc_text_of(o->kind, "Kind:");
    const kc__api_opts opts = {
        .group = group,
        .version = version,
        .kind = kind,
        .plural = o->plural,
        .controller_name = o->controller_name,
        .cluster_scoped = !o->namespaced,
        .no_resource = !kc_answer_of(o->resource, "Write its types? [Y/n]", true),
        .no_controller = !kc_answer_of(o->controller, "Write a controller? [Y/n]", true),
    };
    return kc__scaffold_api(&s, &opts, err);
}

static int create_webhook(const options *o, kc_error *err)
{
    const kc__scaffold s = kc_scaffold_here(o->force);
    const kc__webhook_opts opts = {.group = o->group,
                                   .version = o->version,
                                   .kind = o->kind,
                                   .defaulting = o->defaulting,
                                   .validation = o->validation,
                                   .conversion = o->conversion};
    return kc__scaffold_webhook(&s, &opts, err);
}

static int create(const options *o, kc_error *err)
{
    static const char *const words[] = {"api", "webhook"};
    const char *what = o->operands.n == 1 ? o->operands.items[0] : NULL;
    if (!what)
        return kc_error_set(err, KC_INVALID, "name what to create: api or webhook");
    if (!strcmp(what, words[0]))
        return create_api(o, err);
    if (!strcmp(what, words[1]))
        return create_webhook(o, err);
    const char *nearest = kc_str_nearest(kc_cstr(what), words, KC_COUNT(words));
    return kc_error_set(err, KC_INVALID, "'%s' cannot be created%s%s%s", what,
                        nearest ? "; did you mean '" : ": it is api or webhook",
                        nearest ? nearest : "", nearest ? "'?" : "");
}

int kc_verb_create(int argc, char **argv)
{
    options o;
    kc_scoped(kc_error) err = {0};
    const int parsed = kc_flags_parse(&kc_create_flags, argc, argv, &o, &err);
    if (parsed > 0)
        kc_flags_help(&kc_create_flags, stdout);
    if (parsed < 0)
        return kc_called_wrongly("create", &err);
    if (parsed == 0 && create(&o, &err) < 0)
        return kc_scaffold_failed("create", &err);
    return parsed == 0 && o.make ? kc_run_make("generate") : 0;
}
