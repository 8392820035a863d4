/* SPDX-License-Identifier: Apache-2.0 */
/* alpha.c: `kc alpha generate` scaffolds a project again from its PROJECT file. */
#include "scaffolding.h"

typedef struct cli_alpha_options {
    kc__cli_flag_operands operands;
    const char *input_dir, *output_dir;
    bool force;
} cli_alpha_options;

#define AT(field) offsetof(cli_alpha_options, field)

static const kc__cli_flag flags[] = {
    {"input-dir", .argument = "DIR", .initial = ".", .parse = kc__cli_flag_text,
     .offset = AT(input_dir), .values = "DIR", .help = "project whose PROJECT file is read"},
    {"output-dir", .argument = "DIR", .parse = kc__cli_flag_text, .offset = AT(output_dir),
     .values = "DIR",
     .help = "directory to write to; defaults to --input-dir, which requires --force"},
    {"force", .parse = kc__cli_flag_switch, .offset = AT(force),
     .help = "overwrite an existing project, including changed files",
     .details = "Files that are not scaffolded stay."},
};

static const kc__cli_flag_choice commands[] = {
    {"generate", 0, "scaffold the project of --input-dir again"},
    {NULL},
};

const kc__cli_flag_set kc__cli_alpha_flags = {
    .verb = "alpha",
    .synopsis = "Scaffolds a project again from its PROJECT file, as this version of kc would. "
                "Compare the result with\nthe project to see what a newer kc does differently. "
                "The command may change in later versions.",
    .operands = "generate",
    .operands_at = AT(operands),
    .commands = commands,
    .examples = "  kc alpha generate --output-dir /tmp/fresh\n"
                "  diff -r /tmp/fresh .\n",
    KC__CLI_FLAGS(flags),
    .size = sizeof(cli_alpha_options),
};

static int generate(const cli_alpha_options *o, kc_error *err)
{
    if (o->operands.n != 1)
        return kc_error_set(err, KC_INVALID, "expected one command: generate");
    if (!kc__cli_flag_choose(commands, "command", o->operands.items[0], err))
        return kc_error_result(err);
    kc__scaffold s = kc__cli_scaffold_here(o->force);
    s.dir = o->output_dir ? o->output_dir : o->input_dir;
    if (kc__scaffold_regenerate(&s, o->input_dir, err) < 0)
        return kc_error_result(err);
    printf("\nNext: make -C %s generate\n", s.dir);
    return 0;
}

int kc__cli_command_alpha(int argc, char **argv)
{
    cli_alpha_options o;
    kc_scoped(kc_error) err = {0};
    const int parsed = kc__cli_flags_parse(&kc__cli_alpha_flags, argc, argv, &o, &err);
    if (parsed > 0)
        kc__cli_flags_help(&kc__cli_alpha_flags, stdout);
    if (parsed < 0)
        return kc__cli_usage_error("alpha", &err);
    if (parsed == 0 && generate(&o, &err) < 0)
        return kc__cli_scaffold_failed("alpha", &err);
    return 0;
}
