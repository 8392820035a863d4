/* SPDX-License-Identifier: Apache-2.0 */
/* alpha.c: `kc alpha generate`: a project anew, from what its PROJECT says. */
#include "scaffolding.h"

typedef struct options {
    kc_flag_operands operands;
    const char *input_dir, *output_dir;
    bool force;
} options;

#define AT(field) offsetof(options, field)

static const kc_flag flags[] = {
    {"input-dir", .argument = "FOLDER", .initial = ".", .parse = kc_flag_text,
     .offset = AT(input_dir), .values = "FOLDER", .help = "the project whose PROJECT is read"},
    {"output-dir", .argument = "FOLDER", .parse = kc_flag_text, .offset = AT(output_dir),
     .values = "FOLDER", .help = "where to write; the project's own folder without it"},
    {"force", .parse = kc_flag_switch, .offset = AT(force),
     .help = "write over a project that is there, also over what was changed in it"},
};

const kc_flag_set kc_alpha_flags = {
    .verb = "alpha",
    .synopsis = "Makes a project anew as this kc would scaffold it today: all that PROJECT says, "
                "with nothing of what was\nwritten since. Compared with the project it shows what "
                "a newer kc does otherwise.",
    .operands = "generate",
    .operands_at = AT(operands),
    .examples = "  kc alpha generate --output-dir /tmp/fresh\n"
                "  diff -r /tmp/fresh .\n",
    KC_FLAGS(flags),
    .size = sizeof(options),
};

static int generate(const options *o, kc_error *err)
{
    const bool named = o->operands.n == 1 && !strcmp(o->operands.items[0], "generate");
    if (!named)
        return kc_error_set(err, KC_INVALID, "name what to do: 'kc alpha generate'");
    kc__scaffold s = kc_scaffold_here(o->force);
    s.folder = o->output_dir ? o->output_dir : o->input_dir;
    if (kc__scaffold_again(&s, o->input_dir, err) < 0)
        return -1;
    printf("\nNext: make -C %s generate\n", s.folder);
    return 0;
}

int kc_verb_alpha(int argc, char **argv)
{
    options o;
    kc_scoped(kc_error) err = {0};
    const int parsed = kc_flags_parse(&kc_alpha_flags, argc, argv, &o, &err);
    if (parsed > 0)
        kc_flags_help(&kc_alpha_flags, stdout);
    if (parsed < 0)
        return kc_called_wrongly("alpha", &err);
    if (parsed == 0 && generate(&o, &err) < 0)
        return kc_scaffold_failed("alpha", &err);
    return 0;
}
