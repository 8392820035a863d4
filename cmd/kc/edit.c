/* SPDX-License-Identifier: Apache-2.0 */
/* edit.c: `kc edit` changes the settings of a project. */
#include "scaffolding.h"

typedef struct cli_edit_options {
    kc__cli_answer multigroup, namespaced;
    const char *license, *license_file, *owner;
    bool force;
} cli_edit_options;

#define AT(field) offsetof(cli_edit_options, field)

static const kc__cli_flag flags[] = {
    {"multigroup", .parse = kc__cli_flag_answer, .offset = AT(multigroup), .group = "Project",
     .help = "put sources of controllers, webhooks and tests into a directory per API group, as "
             "types are; existing files stay where they are",
     .details = "Later commands find existing files where they are."},
    {"namespaced", .parse = kc__cli_flag_answer, .offset = AT(namespaced), .group = "Project",
     .help = "restrict the manager to the namespaces in WATCH_NAMESPACE, with a Role instead of a "
             "ClusterRole; prints the remaining manual steps",
     .details = "WATCH_NAMESPACE is a comma-separated list; a deployed manager defaults to its own "
                "namespace. Webhooks still receive requests of all namespaces, unless their "
                "configurations have a selector."},
    {"license", .argument = "LICENSE", .parse = kc__cli_flag_text, .offset = AT(license),
     .choices = kc__cli_scaffold_licenses, .group = "Files",
     .help = "license header of sources written from now on"},
    {"license-file", .argument = "FILE", .parse = kc__cli_flag_text, .offset = AT(license_file),
     .values = "FILE", .group = "Files",
     .help = "file with a C comment to use as the header instead; copied to "
             "hack/boilerplate.txt"},
    {"owner", .argument = "NAME", .parse = kc__cli_flag_text, .offset = AT(owner), .group = "Files",
     .help = "copyright owner in the header"},
    {"force", .parse = kc__cli_flag_switch, .offset = AT(force), .group = "Files",
     .help = "overwrite files that must change and were edited"},
};

const kc__cli_flag_set kc__cli_edit_flags = {
    .verb = "edit",
    .synopsis = "Changes the settings of the project in the current directory. Scaffolded files "
                "that were not edited are\nupdated; for edited files the command prints what to "
                "change.",
    .examples = "  kc edit --multigroup\n"
                "  kc edit --namespaced=false\n"
                "  kc edit --license apache2 --owner 'The Authors'\n",
    KC__CLI_FLAGS(flags),
    .size = sizeof(cli_edit_options),
};

static int edit(const cli_edit_options *o, kc_error *err)
{
    const bool multigroup = o->multigroup == KC__CLI_YES, namespaced = o->namespaced == KC__CLI_YES;
    const bool has_license = o->license || o->license_file || o->owner;
    const kc__scaffold_license_opts license = {.license = o->license,
                                               .file = o->license_file,
                                               .owner = o->owner,
                                               .year = kc__cli_current_year()};
    const kc__scaffold s = kc__cli_scaffold_here(o->force);
    const kc__scaffold_edit_opts opts = {.multigroup = o->multigroup ? &multigroup : NULL,
                                         .namespaced = o->namespaced ? &namespaced : NULL,
                                         .license = has_license ? &license : NULL};
    if (!o->multigroup && !o->namespaced && !has_license)
        return kc_error_set(err, KC_INVALID,
                            "expected one of --multigroup, --namespaced, --license, "
                            "--license-file, --owner");
    return kc__scaffold_edit(&s, &opts, err);
}

int kc__cli_command_edit(int argc, char **argv)
{
    cli_edit_options o;
    kc_scoped(kc_error) err = {0};
    const int parsed = kc__cli_flags_parse(&kc__cli_edit_flags, argc, argv, &o, &err);
    if (parsed > 0)
        kc__cli_flags_help(&kc__cli_edit_flags, stdout);
    if (parsed < 0)
        return kc__cli_usage_error("edit", &err);
    if (parsed == 0 && edit(&o, &err) < 0)
        return kc__cli_scaffold_failed("edit", &err);
    return 0;
}
