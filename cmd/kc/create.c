/* SPDX-License-Identifier: Apache-2.0 */
/*
 * create.c: `kc create api` and `kc create webhook` add to a project.
 *
 * A verb has one table of flags, so both commands share it; the group of a flag names its command.
 * A command refuses the flags of the other.
 */
#include "scaffolding.h"

#include "scaffold/names.h"

typedef struct cli_create_options {
    kc__cli_flag_operands operands;
    const char *group, *version, *kind, *plural, *controller_name;
    kc__scaffold_external_opts external;
    kc__scaffold_image_opts image;
    kc__cli_answer resource, controller, namespaced;
    bool make, force, ssa;
    bool defaulting, validation, conversion;
    const char *defaulting_path, *validation_path, *spokes;
} cli_create_options;

#define AT(field) offsetof(cli_create_options, field)

static const kc__cli_flag flags[] = {
    {"group", .argument = "GROUP", .parse = kc__cli_flag_text, .offset = AT(group), .group = "Kind",
     .help = "API group, without the domain"},
    {"version", .argument = "VERSION", .parse = kc__cli_flag_text, .offset = AT(version),
     .group = "Kind", .values = "v1alpha1 v1beta1 v1", .help = "API version, such as v1alpha1"},
    {"kind", .argument = "KIND", .parse = kc__cli_flag_text, .offset = AT(kind), .group = "Kind",
     .help = "kind, such as RobotArm"},
    {"force", .parse = kc__cli_flag_switch, .offset = AT(force), .group = "Kind",
     .help = "overwrite existing files that differ"},
    {"make", .initial = "true", .parse = kc__cli_flag_switch, .offset = AT(make), .group = "Kind",
     .help = "run 'make generate' afterwards"},
    {"plural", .argument = "PLURAL", .parse = kc__cli_flag_text, .offset = AT(plural),
     .group = "Kind",
     .help = "resource name, such as robotarms; defaults to the plural of the kind"},
    {"external-api-path", .argument = "HEADER", .parse = kc__cli_flag_text,
     .offset = AT(external.path), .values = "FILE", .group = "Kind",
     .help = "header of a kind whose types belong to another project, or the directory of its "
             "zz_generated.h; requires --resource=false"},
    {"external-api-domain", .argument = "DOMAIN", .parse = kc__cli_flag_text,
     .offset = AT(external.domain), .group = "Kind",
     .help = "domain suffix of the external kind's group, such as io for cert-manager.io"},
    {"external-api-module", .argument = "PACKAGE", .parse = kc__cli_flag_text,
     .offset = AT(external.module), .group = "Kind",
     .help = "CMake package that provides the header, such as certmanager@1.18; without it the "
             "sources beside the header are built",
     .details = "The command adds find_package(package version) and package::package to "
                "CMakeLists.txt."},
    {"namespaced", .parse = kc__cli_flag_answer, .offset = AT(namespaced), .group = "api",
     .help = "namespaced objects; defaults to true"},
    {"resource", .parse = kc__cli_flag_answer, .offset = AT(resource), .group = "api",
     .help = "write the types; prompts on a terminal, otherwise defaults to true"},
    {"controller", .parse = kc__cli_flag_answer, .offset = AT(controller), .group = "api",
     .help = "write a controller; prompts on a terminal, otherwise defaults to true"},
    {"controller-name", .argument = "NAME", .parse = kc__cli_flag_text,
     .offset = AT(controller_name), .group = "api",
     .help = "name of the controller in files, logs and metrics; another name adds another "
             "controller to a kind"},
    {"ssa", .parse = kc__cli_flag_switch, .offset = AT(ssa), .group = "api",
     .help = "write owned objects, and the status, by server-side apply",
     .details = "PROJECT records the choice."},
    {"image", .argument = "IMAGE", .parse = kc__cli_flag_text, .offset = AT(image.image),
     .group = "api", .help = "image that the controller runs in a Deployment per object",
     .details = "The object sets the number of replicas. The environment variable KIND_IMAGE of "
                "the manager overrides the image."},
    {"image-container-command", .argument = "WORDS", .parse = kc__cli_flag_text,
     .offset = AT(image.command), .group = "api",
     .help = "comma-separated words of the container's command"},
    {"image-container-port", .argument = "PORT", .parse = kc__cli_flag_text,
     .offset = AT(image.port), .group = "api", .help = "container port; objects may override it"},
    {"run-as-user", .argument = "UID", .parse = kc__cli_flag_text, .offset = AT(image.user),
     .group = "api", .help = "uid of the container"},
    {"defaulting", .parse = kc__cli_flag_switch, .offset = AT(defaulting), .group = "webhook",
     .help = "write a defaulting webhook"},
    {"programmatic-validation", .parse = kc__cli_flag_switch, .offset = AT(validation),
     .group = "webhook", .help = "write a validating webhook"},
    {"conversion", .parse = kc__cli_flag_switch, .offset = AT(conversion), .group = "webhook",
     .help = "write a conversion webhook; --version is the hub"},
    {"spoke", .argument = "VERSIONS", .parse = kc__cli_flag_text, .offset = AT(spokes),
     .group = "webhook", .help = "comma-separated list of versions to convert to and from the hub"},
    {"defaulting-path", .argument = "PATH", .parse = kc__cli_flag_text,
     .offset = AT(defaulting_path), .group = "webhook",
     .help = "URL path of the defaulting webhook; defaults to /mutate-GROUP-VERSION-KIND"},
    {"validation-path", .argument = "PATH", .parse = kc__cli_flag_text,
     .offset = AT(validation_path), .group = "webhook",
     .help = "URL path of the validating webhook; defaults to /validate-GROUP-VERSION-KIND"},
};

static const kc__cli_flag_choice commands[] = {
    {"api", 0, "add a kind: its types, a controller, a test, a sample and roles"},
    {"webhook", 1, "add admission or conversion webhooks for a kind"},
    {NULL},
};

const kc__cli_flag_set kc__cli_create_flags = {
    .verb = "create",
    .synopsis = "Adds to the project in the current directory.\n"
                "\n"
                "Edited files are left unchanged and reported. Files that all kinds share get "
                "lines at their markers\n(+kubebuilder:scaffold:).",
    .operands = "api|webhook",
    .operands_at = AT(operands),
    .commands = commands,
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
    KC__CLI_FLAGS(flags),
    .size = sizeof(cli_create_options),
};

/* A kind, from flags or prompts. */
typedef struct prompted {
    char *group, *version, *kind;
} prompted;

static void prompted_done(prompted *a)
{
    free(a->group);
    free(a->version);
    free(a->kind);
}

static int prompt_kind(const cli_create_options *o, prompted *ret, kc_error *err)
{
    const kc__scaffold s = kc__cli_scaffold_here(o->force);
    kc_auto(kc__scaffold_project_file) *project = kc__scaffold_project(&s, err);
    if (!project) /* Fails before the first prompt. */
        return kc_error_result(err);
    if (kc__cli_prompt_text(o->group, "Group:", kc__scaffold_check_group, &ret->group, err) < 0 ||
        kc__cli_prompt_text(o->version, "Version:", kc__scaffold_check_version, &ret->version,
                            err) < 0)
        return kc_error_result(err);
    return kc__cli_prompt_text(o->kind, "Kind:", kc__scaffold_check_kind, &ret->kind, err);
}

static int create_api(const cli_create_options *o, kc_error *err)
{
    kc_scoped(prompted) named = {0};
    bool resource, controller;
    if (o->defaulting || o->validation || o->conversion || o->spokes || o->defaulting_path ||
        o->validation_path)
        return kc_error_set(
            err, KC_INVALID,
            "--defaulting, --programmatic-validation, --conversion and their cli_create_options "
            "are flags of 'kc create webhook'");
    if (prompt_kind(o, &named, err) < 0 ||
        kc__cli_prompt_yes_no(o->resource, "Write its types? [Y/n]", true, &resource, err) < 0 ||
        kc__cli_prompt_yes_no(o->controller, "Write a controller? [Y/n]", true, &controller, err) <
            0)
        return kc_error_result(err);
    const kc__scaffold s = kc__cli_scaffold_here(o->force);
    const kc__scaffold_api_opts opts = {.group = named.group,
                                        .version = named.version,
                                        .kind = named.kind,
                                        .plural = o->plural,
                                        .controller_name = o->controller_name,
                                        .external = o->external,
                                        .image = o->image,
                                        .cluster_scoped = o->namespaced == KC__CLI_NO,
                                        .no_resource = !resource,
                                        .no_controller = !controller,
                                        .ssa = o->ssa};
    return kc__scaffold_api(&s, &opts, err);
}

/* Prompts for all of them if no flag names one. */
static int prompt_webhooks(const cli_create_options *o, kc__scaffold_webhook_opts *ret,
                           kc_error *err)
{
    const bool any_set = o->defaulting || o->validation || o->conversion;
    const kc__cli_answer unset_answer = any_set ? KC__CLI_NO : KC__CLI_UNSET;
    if (kc__cli_prompt_yes_no(o->defaulting ? KC__CLI_YES : unset_answer, "Set defaults? [y/N]",
                              false, &ret->defaulting, err) < 0 ||
        kc__cli_prompt_yes_no(o->validation ? KC__CLI_YES : unset_answer, "Validate? [y/N]", false,
                              &ret->validation, err) < 0)
        return kc_error_result(err);
    return kc__cli_prompt_yes_no(o->conversion ? KC__CLI_YES : unset_answer,
                                 "Convert between versions? [y/N]", false, &ret->conversion, err);
}

static int create_webhook(const cli_create_options *o, kc_error *err)
{
    kc_scoped(prompted) named = {0};
    kc__scaffold_webhook_opts opts = {.plural = o->plural,
                                      .external = o->external,
                                      .defaulting_path = o->defaulting_path,
                                      .validation_path = o->validation_path,
                                      .spokes = o->spokes};
    if (o->resource || o->controller || o->namespaced || o->controller_name || o->ssa ||
        o->image.image)
        return kc_error_set(err, KC_INVALID,
                            "--resource, --controller, --controller-name, --namespaced, --ssa and "
                            "--image are flags of 'kc create api'");
    if (prompt_kind(o, &named, err) < 0 || prompt_webhooks(o, &opts, err) < 0)
        return kc_error_result(err);
    const kc__scaffold s = kc__cli_scaffold_here(o->force);
    opts.group = named.group;
    opts.version = named.version;
    opts.kind = named.kind;
    return kc__scaffold_webhook(&s, &opts, err);
}

static int cli_create_create(const cli_create_options *o, kc_error *err)
{
    if (o->operands.n != 1)
        return kc_error_set(err, KC_INVALID, "expected one command: api or webhook");
    const kc__cli_flag_choice *command =
        kc__cli_flag_choose(commands, "command", o->operands.items[0], err);
    if (!command)
        return kc_error_result(err);
    return command->value ? create_webhook(o, err) : create_api(o, err);
}

int kc__cli_command_create(int argc, char **argv)
{
    cli_create_options o;
    kc_scoped(kc_error) err = {0};
    const int parsed = kc__cli_flags_parse(&kc__cli_create_flags, argc, argv, &o, &err);
    if (parsed > 0)
        kc__cli_flags_help(&kc__cli_create_flags, stdout);
    if (parsed < 0)
        return kc__cli_usage_error("create", &err);
    if (parsed == 0 && cli_create_create(&o, &err) < 0)
        return kc__cli_scaffold_failed("create", &err);
    return parsed == 0 && o.make ? kc__cli_run_make("generate") : 0;
}
