/* SPDX-License-Identifier: Apache-2.0 */
/* init.c: `kc init` creates a project in the current directory. */
#include "scaffolding.h"

#include "scaffold/names.h"

typedef struct cli_init_options {
    const char *domain, *project_name, *repo, *license, *license_file, *owner;
    bool multigroup, namespaced, force, fetch_deps;
} cli_init_options;

#define AT(field) offsetof(cli_init_options, field)

static const kc__cli_flag flags[] = {
    {"domain", .argument = "DOMAIN", .parse = kc__cli_flag_text, .offset = AT(domain),
     .group = "Project",
     .help = "domain suffix of the project's API groups, such as example.io; defaults to "
             "my.domain"},
    {"project-name", .argument = "NAME", .parse = kc__cli_flag_text, .offset = AT(project_name),
     .group = "Project",
     .help = "project name, part of the names of deployed objects; defaults to the directory's "
             "name"},
    {"repo", .argument = "URL", .parse = kc__cli_flag_text, .offset = AT(repo), .group = "Project",
     .help = "URL of the source repository; recorded in PROJECT"},
    {"multigroup", .parse = kc__cli_flag_switch, .offset = AT(multigroup), .group = "Project",
     .help = "put sources of controllers, webhooks and tests into a directory per API group, as "
             "types are"},
    {"namespaced", .parse = kc__cli_flag_switch, .offset = AT(namespaced), .group = "Project",
     .help = "restrict the manager to the namespaces in WATCH_NAMESPACE, with a Role instead of a "
             "ClusterRole",
     .details = "WATCH_NAMESPACE is a comma-separated list; a deployed manager defaults to its own "
                "namespace. Webhooks still receive requests of all namespaces, unless their "
                "configurations have a selector."},
    {"license", .argument = "LICENSE", .initial = "apache2", .parse = kc__cli_flag_text,
     .offset = AT(license), .choices = kc__cli_scaffold_licenses, .group = "Files",
     .help = "license header of each source",
     .details = "The header is in hack/boilerplate.txt, which may be edited. Generated YAML files "
                "have it as a comment."},
    {"license-file", .argument = "FILE", .parse = kc__cli_flag_text, .offset = AT(license_file),
     .values = "FILE", .group = "Files",
     .help = "file with a C comment to use as the header instead; copied to "
             "hack/boilerplate.txt"},
    {"owner", .argument = "NAME", .parse = kc__cli_flag_text, .offset = AT(owner), .group = "Files",
     .help = "copyright owner in the header"},
    {"fetch-deps", .initial = "true", .parse = kc__cli_flag_switch, .offset = AT(fetch_deps),
     .group = "Files", .help = "no effect; accepted for compatibility with kubebuilder"},
    {"force", .parse = kc__cli_flag_switch, .offset = AT(force), .group = "Files",
     .help = "overwrite existing files that differ"},
};

const kc__cli_flag_set kc__cli_init_flags = {
    .verb = "init",
    .synopsis = "Creates a project in the current directory: a manager without controllers that "
                "builds with the installed\nSDK (CMake, make), and the manifests to deploy it to a "
                "cluster.",
    .examples = "  kc init --domain example.io\n"
                "  kc init --domain example.io --project-name robots --owner 'The Authors'\n"
                "  kc init --domain example.io --multigroup --namespaced\n"
                "  kc init --domain example.io --license-file header.txt\n"
                "  kc create api --group apps --version v1alpha1 --kind Application\n",
    KC__CLI_FLAGS(flags),
    .size = sizeof(cli_init_options),
};

static int init(const cli_init_options *o, kc_error *err)
{
    kc_autofree char *domain = NULL;
    if (kc__cli_prompt_text(o->domain, "Domain of the API groups [my.domain]:",
                            kc__scaffold_check_domain, &domain, err) < 0)
        return kc_error_result(err);
    const kc__scaffold s = kc__cli_scaffold_here(o->force);
    const kc__scaffold_init_opts opts = {.domain = domain,
                                         .name = o->project_name,
                                         .repo = o->repo,
                                         .license = {.license = o->license,
                                                     .file = o->license_file,
                                                     .owner = o->owner,
                                                     .year = kc__cli_current_year()},
                                         .multigroup = o->multigroup,
                                         .namespaced = o->namespaced};
    return kc__scaffold_init(&s, &opts, err);
}

int kc__cli_command_init(int argc, char **argv)
{
    cli_init_options o;
    kc_scoped(kc_error) err = {0};
    const int parsed = kc__cli_flags_parse(&kc__cli_init_flags, argc, argv, &o, &err);
    if (parsed > 0)
        kc__cli_flags_help(&kc__cli_init_flags, stdout);
    if (parsed < 0)
        return kc__cli_usage_error("init", &err);
    if (parsed == 0 && init(&o, &err) < 0)
        return kc__cli_scaffold_failed("init", &err);
    if (parsed == 0)
        puts("\nNext: kc create api --group apps --version v1alpha1 --kind Application");
    return 0;
}
