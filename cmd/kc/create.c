/* SPDX-License-Identifier: Apache-2.0 */
/*
 * create.c: `kc create api` and `kc create webhook`: more for a project.
 *
 * Both have one table of flags, for a verb has one; which of them belong to which stands in their
 * group. Flags of the other one are refused where they would mean something.
 */
#include "scaffolding.h"

#include "scaffold/names.h"

typedef struct options {
    kc_flag_operands operands;
    const char *group, *version, *kind, *plural, *controller_name;
    kc__external_opts external;
    kc__image_opts image;
    kc_answer resource, controller, namespaced;
    bool make, force, ssa;
    bool defaulting, validation, conversion;
    const char *defaulting_path, *validation_path, *spokes;
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
    {"plural", .argument = "PLURAL", .parse = kc_flag_text, .offset = AT(plural), .group = "Kind",
     .help = "its resource, as robotarms; made of the kind without it"},
    {"external-api-path", .argument = "HEADER", .parse = kc_flag_text, .offset = AT(external.path),
     .values = "FILE", .group = "Kind",
     .help = "a kind whose types are another project's: the header to include, or its folder (then "
             "zz_generated.h in it)"},
    {"external-api-domain", .argument = "DOMAIN", .parse = kc_flag_text,
     .offset = AT(external.domain), .group = "Kind",
     .help = "what the group of such a kind ends with, as io for cert-manager.io"},
    {"external-api-module", .argument = "PACKAGE", .parse = kc_flag_text,
     .offset = AT(external.module), .group = "Kind",
     .help =
         "the CMake package that has the header, as certmanager@1.18; without it sources beside "
         "the header are built along"},
    {"namespaced", .parse = kc_flag_answer, .offset = AT(namespaced), .group = "api",
     .help = "its objects are in namespaces; so they are without it"},
    {"resource", .parse = kc_flag_answer, .offset = AT(resource), .group = "api",
     .help = "write its types; asked for, or done, without it"},
    {"controller", .parse = kc_flag_answer, .offset = AT(controller), .group = "api",
     .help = "write a controller for it; asked for, or done, without it"},
    {"controller-name", .argument = "NAME", .parse = kc_flag_text, .offset = AT(controller_name),
     .group = "api",
     .help = "the controller's name, in files, logs and metrics; with another name a kind has "
             "another controller"},
    {"ssa", .parse = kc_flag_switch, .offset = AT(ssa), .group = "api",
     .help = "the controller writes what it owns by server-side apply"},
    {"image", .argument = "IMAGE", .parse = kc_flag_text, .offset = AT(image.image), .group = "api",
     .help = "the controller runs this image, in a Deployment for each object"},
    {"image-container-command", .argument = "WORDS", .parse = kc_flag_text,
     .offset = AT(image.command), .group = "api",
     .help = "the command to run in it, its words with commas between them"},
    {"image-container-port", .argument = "PORT", .parse = kc_flag_text, .offset = AT(image.port),
     .group = "api", .help = "the port it listens at, which objects may change"},
    {"run-as-user", .argument = "UID", .parse = kc_flag_text, .offset = AT(image.user),
     .group = "api", .help = "the user it runs as, a number"},
    {"defaulting", .parse = kc_flag_switch, .offset = AT(defaulting), .group = "webhook",
     .help = "a function that sets defaults"},
    {"programmatic-validation", .parse = kc_flag_switch, .offset = AT(validation),
     .group = "webhook", .help = "a function that refuses objects"},
    {"conversion", .parse = kc_flag_switch, .offset = AT(conversion), .group = "webhook",
     .help = "a function that converts between its versions; VERSION is the hub"},
    {"spoke", .argument = "VERSIONS", .parse = kc_flag_text, .offset = AT(spokes),
     .group = "webhook",
     .help = "versions that are converted to the hub and from it, with commas between them"},
    {"defaulting-path", .argument = "PATH", .parse = kc_flag_text, .offset = AT(defaulting_path),
     .group = "webhook", .help = "where it is served; /mutate-GROUP-VERSION-KIND without it"},
    {"validation-path", .argument = "PATH", .parse = kc_flag_text, .offset = AT(validation_path),
     .group = "webhook", .help = "where it is served; /validate-GROUP-VERSION-KIND without it"},
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
        "  kc create api --group apps --version v1 --kind Deployment --resource=false\n"
        "  kc create api --group apps --version v1 --kind Memcached --image=memcached:1.6 "
        "--image-container-port=11211\n"
        "  kc create webhook --group apps --version v1alpha1 --kind Application --defaulting\n"
        "  kc create webhook --group apps --version v1 --kind Application --conversion "
        "--spoke v1alpha1\n",
    KC_FLAGS(flags),
    .size = sizeof(options),
};

/* A kind, as it was said or answered. */
typedef struct asked {
    char *group, *version, *kind;
} asked;

static void asked_done(asked *a)
{
    free(a->group);
    free(a->version);
    free(a->kind);
}

static int ask_kind(const options *o, asked *ret, kc_error *err)
{
    const kc__scaffold s = kc_scaffold_here(o->force);
    kc_auto(kc__project) *project = kc__scaffold_project(&s, err);
    if (!project) /* Before anything is asked. */
        return -1;
    if (kc_ask_text(o->group, "Group:", kc__check_group, &ret->group, err) < 0 ||
        kc_ask_text(o->version, "Version:", kc__check_version, &ret->version, err) < 0)
        return -1;
    return kc_ask_text(o->kind, "Kind:", kc__check_kind, &ret->kind, err);
}

static int create_api(const options *o, kc_error *err)
{
    kc_scoped(asked) named = {0};
    bool resource, controller;
    if (o->defaulting || o->validation || o->conversion || o->spokes || o->defaulting_path ||
        o->validation_path)
        return kc_error_set(err, KC_INVALID,
                            "--defaulting, --programmatic-validation and --conversion, and what "
                            "goes with them, are for 'kc create webhook'");
    if (ask_kind(o, &named, err) < 0 ||
        kc_ask_answer(o->resource, "Write its types? [Y/n]", true, &resource, err) < 0 ||
        kc_ask_answer(o->controller, "Write a controller? [Y/n]", true, &controller, err) < 0)
        return -1;
    const kc__scaffold s = kc_scaffold_here(o->force);
    const kc__api_opts opts = {.group = named.group,
                               .version = named.version,
                               .kind = named.kind,
                               .plural = o->plural,
                               .controller_name = o->controller_name,
                               .external = o->external,
                               .image = o->image,
                               .cluster_scoped = o->namespaced == KC_NO,
                               .no_resource = !resource,
                               .no_controller = !controller,
                               .ssa = o->ssa};
    return kc__scaffold_api(&s, &opts, err);
}

/* If none was said, all are asked for. */
static int ask_webhooks(const options *o, kc__webhook_opts *ret, kc_error *err)
{
    const bool said = o->defaulting || o->validation || o->conversion;
    const kc_answer unsaid = said ? KC_NO : KC_UNSAID;
    if (kc_ask_answer(o->defaulting ? KC_YES : unsaid, "Set defaults? [y/N]", false,
                      &ret->defaulting, err) < 0 ||
        kc_ask_answer(o->validation ? KC_YES : unsaid, "Validate? [y/N]", false, &ret->validation,
                      err) < 0)
        return -1;
    return kc_ask_answer(o->conversion ? KC_YES : unsaid, "Convert between versions? [y/N]", false,
                         &ret->conversion, err);
}

static int create_webhook(const options *o, kc_error *err)
{
    kc_scoped(asked) named = {0};
    kc__webhook_opts opts = {.plural = o->plural,
                             .external = o->external,
                             .defaulting_path = o->defaulting_path,
                             .validation_path = o->validation_path,
                             .spokes = o->spokes};
    if (o->resource || o->controller || o->namespaced || o->controller_name || o->ssa ||
        o->image.image)
        return kc_error_set(err, KC_INVALID,
                            "--resource, --controller, --controller-name, --namespaced, --ssa and "
                            "--image are for 'kc create api'");
    if (ask_kind(o, &named, err) < 0 || ask_webhooks(o, &opts, err) < 0)
        return -1;
    const kc__scaffold s = kc_scaffold_here(o->force);
    opts.group = named.group;
    opts.version = named.version;
    opts.kind = named.kind;
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
