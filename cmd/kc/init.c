/* SPDX-License-Identifier: Apache-2.0 */
/* init.c: `kc init`: a new project in this folder. */
#include "scaffolding.h"

#include "scaffold/names.h"

typedef struct options {
    const char *domain, *project_name, *repo, *license, *license_file, *owner;
    bool multigroup, namespaced, force, fetch_deps;
} options;

#define AT(field) offsetof(options, field)

static const kc_flag flags[] = {
    {"domain", .argument = "DOMAIN", .parse = kc_flag_text, .offset = AT(domain),
     .group = "Project", .help = "what the project's API groups end with, as example.io"},
    {"project-name", .argument = "NAME", .parse = kc_flag_text, .offset = AT(project_name),
     .group = "Project", .help = "its name; the folder's without it"},
    {"repo", .argument = "URL", .parse = kc_flag_text, .offset = AT(repo), .group = "Project",
     .help = "where its source will be; noted in PROJECT"},
    {"multigroup", .parse = kc_flag_switch, .offset = AT(multigroup), .group = "Project",
     .help = "sources of controllers, webhooks and tests go into folders by group, as types always "
             "do"},
    {"namespaced", .parse = kc_flag_switch, .offset = AT(namespaced), .group = "Project",
     .help = "the manager looks after its own namespace (WATCH_NAMESPACE), with a Role instead of "
             "a ClusterRole"},
    {"license", .argument = "LICENSE", .initial = "apache2", .parse = kc_flag_text,
     .offset = AT(license), .values = "apache2 none", .group = "Files",
     .help = "what stands at the top of each source: apache2 or none"},
    {"license-file", .argument = "FILE", .parse = kc_flag_text, .offset = AT(license_file),
     .values = "FILE", .group = "Files",
     .help = "a comment that stands there instead; kept in hack/boilerplate.txt"},
    {"owner", .argument = "NAME", .parse = kc_flag_text, .offset = AT(owner), .group = "Files",
     .help = "whose the copyright is"},
    {"fetch-deps", .initial = "true", .parse = kc_flag_switch, .offset = AT(fetch_deps),
     .group = "Files", .help = "accepted for kubebuilder's sake; there is nothing to fetch"},
    {"force", .parse = kc_flag_switch, .offset = AT(force), .group = "Files",
     .help = "replace files that are there and differ"},
};

const kc_flag_set kc_init_flags = {
    .verb = "init",
    .synopsis = "Makes a project in this folder: a manager without controllers, that builds with "
                "the installed SDK\n(CMake, make), and what it needs to run in a cluster.",
    .examples = "  kc init --domain example.io\n"
                "  kc init --domain example.io --project-name robots --owner 'The Authors'\n"
                "  kc init --domain example.io --multigroup --namespaced\n"
                "  kc init --domain example.io --license-file header.txt\n"
                "  kc create api --group apps --version v1alpha1 --kind Application\n",
    KC_FLAGS(flags),
    .size = sizeof(options),
};

static int init(const options *o, kc_error *err)
{
    kc_autofree char *domain = NULL;
    if (kc_ask_text(o->domain, "Domain of the API groups [my.domain]:", kc__check_domain, &domain,
                    err) < 0)
        return -1;
    const kc__scaffold s = kc_scaffold_here(o->force);
    const kc__init_opts opts = {.domain = domain,
                                .name = o->project_name,
                                .repo = o->repo,
                                .license = {.license = o->license,
                                            .file = o->license_file,
                                            .owner = o->owner,
                                            .year = kc_this_year()},
                                .multigroup = o->multigroup,
                                .namespaced = o->namespaced};
    return kc__scaffold_init(&s, &opts, err);
}

int kc_verb_init(int argc, char **argv)
{
    options o;
    kc_scoped(kc_error) err = {0};
    const int parsed = kc_flags_parse(&kc_init_flags, argc, argv, &o, &err);
    if (parsed > 0)
        kc_flags_help(&kc_init_flags, stdout);
    if (parsed < 0)
        return kc_called_wrongly("init", &err);
    if (parsed == 0 && init(&o, &err) < 0)
        return kc_scaffold_failed("init", &err);
    if (parsed == 0)
        puts("\nNext: kc create api --group apps --version v1alpha1 --kind Application");
    return 0;
}
