/* SPDX-License-Identifier: Apache-2.0 */
/* edit.c: `kc edit`: changes what PROJECT says of the whole project. */
#include "scaffolding.h"

typedef struct options {
    kc_answer multigroup, namespaced;
} options;

#define AT(field) offsetof(options, field)

static const kc_flag flags[] = {
    {"multigroup", .parse = kc_flag_answer, .offset = AT(multigroup),
     .help = "note that it has several groups; folders are by group in any case"},
    {"namespaced", .parse = kc_flag_answer, .offset = AT(namespaced),
     .help = "note that the manager looks after one namespace"},
};

const kc_flag_set kc_edit_flags = {
    .verb = "edit",
    .synopsis = "Changes the settings of the project of this folder.",
    .examples = "  kc edit --multigroup\n"
                "  kc edit --namespaced=false\n",
    KC_FLAGS(flags),
    .size = sizeof(options),
};

static int edit(const options *o, kc_error *err)
{
    const bool multigroup = o->multigroup == KC_YES, namespaced = o->namespaced == KC_YES;
    const kc__scaffold s = kc_scaffold_here(false);
    const kc__edit_opts opts = {.multigroup = o->multigroup ? &multigroup : NULL,
                                .namespaced = o->namespaced ? &namespaced : NULL};
    if (!o->multigroup && !o->namespaced)
        return kc_error_set(err, KC_INVALID, "say what to change: --multigroup or --namespaced");
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
