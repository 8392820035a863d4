/* SPDX-License-Identifier: Apache-2.0 */
/* edit.c: `kc edit`: changes settings of the whole project. */
#include "scaffolding.h"

typedef struct options {
    kc_answer multigroup, namespaced;
    const char *license, *license_file, *owner;
    bool force;
} options;

#define AT(field) offsetof(options, field)

static const kc_flag flags[] = {
    {"multigroup", .parse = kc_flag_answer, .offset = AT(multigroup), .group = "Project",
     .help = "sources of controllers, webhooks and tests go into folders by group, as types always "
             "do; those that are there stay, and are found where they are"},
    {"namespaced", .parse = kc_flag_answer, .offset = AT(namespaced), .group = "Project",
     .help = "the manager looks after its own namespace (WATCH_NAMESPACE), with a Role instead of "
             "a ClusterRole; says what of it is to be done by hand"},
    {"license", .argument = "LICENSE", .parse = kc_flag_text, .offset = AT(license),
     .values = "apache2 none", .group = "Files",
     .help = "what stands at the top of sources from now on: apache2 or none"},
    {"license-file", .argument = "FILE", .parse = kc_flag_text, .offset = AT(license_file),
     .values = "FILE", .group = "Files",
     .help = "a comment that stands there instead; kept in hack/boilerplate.txt"},
    {"owner", .argument = "NAME", .parse = kc_flag_text, .offset = AT(owner), .group = "Files",
     .help = "whose the copyright is"},
    {"force", .parse = kc_flag_switch, .offset = AT(force), .group = "Files",
     .help = "replace files that have to change and were changed by hand"},
};

const kc_flag_set kc_edit_flags = {
    .verb = "edit",
    .synopsis = "Changes the settings of the project of this folder. What was scaffolded and left "
                "alone is changed along;\nfor what is your own by now, it says what to do.",
    .examples = "  kc edit --multigroup\n"
                "  kc edit --namespaced=false\n"
                "  kc edit --license apache2 --owner 'The Authors'\n",
    KC_FLAGS(flags),
    .size = sizeof(options),
};

static int edit(const options *o, kc_error *err)
{
    const bool multigroup = o->multigroup == KC_YES, namespaced = o->namespaced == KC_YES;
    const bool has_license = o->license || o->license_file || o->owner;
    const kc__license_opts license = {
        .license = o->license, .file = o->license_file, .owner = o->owner, .year = kc_this_year()};
    const kc__scaffold s = kc_scaffold_here(o->force);
    const kc__edit_opts opts = {.multigroup = o->multigroup ? &multigroup : NULL,
                                .namespaced = o->namespaced ? &namespaced : NULL,
                                .license = has_license ? &license : NULL};
    if (!o->multigroup && !o->namespaced && !has_license)
        return kc_error_set(err, KC_INVALID,
                            "say what to change: --multigroup, --namespaced, --license, "
                            "--license-file or --owner");
    return kc__scaffold_edit(&s, &opts, err);
}

int kc_verb_edit(int argc, char **argv)
{
    options o;
    kc_scoped(kc_error) err = {0};
    const int parsed = kc_flags_parse(&kc_edit_flags, argc, argv, &o, &err);
    if (parsed > 0)
        kc_flags_help(&kc_edit_flags, stdout);
    if (parsed < 0)
        return kc_called_wrongly("edit", &err);
    if (parsed == 0 && edit(&o, &err) < 0)
        return kc_scaffold_failed("edit", &err);
    return 0;
}
