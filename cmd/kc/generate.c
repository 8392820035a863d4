/* SPDX-License-Identifier: Apache-2.0 */
/*
 * generate.c: `kc generate` writes code, CRDs, RBAC roles, webhook configurations and samples from
 * headers of API types.
 *
 * It parses the headers once into a model (src/generate/model/model.h); each selected generator
 * writes files from the model. A file is replaced only if its content changed, so builds do not
 * rerun. With --check nothing is written: outdated files are reported and the exit code is 1.
 *
 * To add a generator: a value of `command`, rows of `generators` and `commands`, and a function
 * that writes through put_file.
 */
#include "command.h"
#include "comments.h"

#include "generate/crd/write_crd.h"
#include "generate/read/read_headers.h"
#include "generate/sample/write_sample.h"
#include "generate/types/write_types.h"
#include "generate/write/write_code.h"
#include "generate/write/write_rbac.h"
#include "generate/write/write_webhook.h"

#include "kc/file.h"
#include "kc/yaml.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct cli_generate_options {
    kc__cli_flag_operands operands;
    const char *output_dir, *sdk_include, *include, *header_file, *year, *role_name, *from;
    bool check, allow_dangerous_types, embedded_object_meta;
    int max_description; /* See kc__gen_crd_opts. */
} cli_generate_options;

/* One run of one generator. */
typedef struct output {
    const cli_generate_options *options;
    const char *dir; /* "-": standard output. */
    bool keep;       /* Leaves existing files unchanged, */
    bool report;     /* and reports them. */
    size_t n_files, n_stale;
} output;

typedef struct cli_generate_run {
    const cli_generate_options *options;
    const kc__gen_model *model;
    char *header;            /* NULL: none. */
    const char *yaml_header; /* The same as YAML comments. */
} cli_generate_run;

/* ---- files ---- */

static bool has_text(const char *path, kc_str text)
{
    kc_scoped(kc_buf) there = {0};
    return kc_file_read(path, text.n, &there, NULL) == 0 && kc_str_eq(kc_buf_str(&there), text);
}

static int cli_generate_put_file(const char *name, kc_str text, void *user, kc_error *err)
{
    output *out = user;
    /* The path of a file that belongs next to a header is absolute. */
    kc_autofree char *path =
        name[0] == '/' ? kc_strdup(name) : kc_asprintf("%s/%s", out->dir, name);
    out->n_files++;
    if (!strcmp(out->dir, "-"))
        return fwrite(text.p, 1, text.n, stdout) == text.n
                   ? 0
                   : kc_error_set(err, KC_INTERNAL, "write %s: %s", name, strerror(errno));
    if (has_text(path, text))
        return 0;
    if (out->keep && access(path, F_OK) == 0) {
        if (out->report)
            fprintf(stderr, "%s exists; left unchanged\n", path);
        return 0;
    }
    if (out->options->check) {
        out->n_stale++;
        fprintf(stderr, "%s is outdated\n", path);
        return 0;
    }
    kc_autofree char *dir = kc_strndup(path, (size_t)(strrchr(path, '/') - path));
    return kc_dir_create(dir, 0777, err) < 0 ? kc_error_result(err) : kc_file_put(path, text, err);
}

/* ---- generators ---- */

static int generate_crds(const cli_generate_run *r, output *out, kc_error *err)
{
    const kc__gen_crd_opts opts = {.allow_dangerous_types = r->options->allow_dangerous_types,
                                   .embedded_object_meta = r->options->embedded_object_meta,
                                   .max_description = r->options->max_description,
                                   .header = r->yaml_header,
                                   .version = "v" KC_VERSION};
    return kc__gen_write_crds(r->model, &opts, cli_generate_put_file, out, err);
}

static int generate_code(const cli_generate_run *r, output *out, kc_error *err)
{
    return kc__gen_write_code(r->model, r->header, cli_generate_put_file, out, err);
}

static int generate_rbac(const cli_generate_run *r, output *out, kc_error *err)
{
    const kc__gen_rbac_opts opts = {.role_name = r->options->role_name, .header = r->yaml_header};
    return kc__gen_write_rbac(r->model, &opts, cli_generate_put_file, out, err);
}

static int generate_webhooks(const cli_generate_run *r, output *out, kc_error *err)
{
    return kc__gen_write_webhooks(r->model, r->yaml_header, cli_generate_put_file, out, err);
}

static int generate_samples(const cli_generate_run *r, output *out, kc_error *err)
{
    return kc__gen_write_samples(r->model, r->yaml_header, cli_generate_put_file, out, err);
}

enum command { OBJECT, CRD, RBAC, WEBHOOK, SAMPLE, GENERATORS, ALL = GENERATORS, TYPES };

static const struct generator {
    const char *dir;
    int (*run)(const cli_generate_run *r, output *out, kc_error *err);
    bool is_begun;   /* With `all`, existing files stay unchanged. */
    bool of_project; /* Reads markers of any C file; needs no headers of types. */
} generators[GENERATORS] = {
    [OBJECT] = {".", generate_code},
    [CRD] = {"config/crd/bases", generate_crds},
    [RBAC] = {"config/rbac", generate_rbac, .of_project = true},
    [WEBHOOK] = {"config/webhook", generate_webhooks, .of_project = true},
    [SAMPLE] = {"config/samples", generate_samples, .is_begun = true},
};

static const kc__cli_flag_choice commands[] = {
    {"object", OBJECT,
     "typed C functions and apply configurations: zz_generated.h and .c beside the headers"},
    {"crd", CRD, "CustomResourceDefinitions, to config/crd/bases"},
    {"rbac", RBAC, "roles, from +kubebuilder:rbac markers, to config/rbac"},
    {"webhook", WEBHOOK,
     "webhook configurations, from +kubebuilder:webhook markers, to config/webhook"},
    {"sample", SAMPLE, "an object of each kind, to config/samples"},
    {"all", ALL, "all of the above; existing samples stay unchanged (the default)"},
    {"types", TYPES, "the reverse: headers from the CRDs of --from, to api"},
    {NULL},
};

/* The command named `text`; NULL: none. */
static const kc__cli_flag_choice *find_command(const char *text)
{
    for (const kc__cli_flag_choice *row = commands; row->name; row++)
        if (!strcmp(text, row->name))
            return row;
    return NULL;
}

/* ---- flags ---- */

static int parse_length(const char *text, void *ret, kc_error *err)
{
    int64_t length;
    if (!kc_str_to_i64(kc_cstr(text), &length) || length < 0 || length > INT32_MAX)
        return kc__cli_flag_invalid(text, "a number of bytes of 0 or more", err);
    *(int *)ret = length ? (int)length : -1;
    return 0;
}

#define AT(field) offsetof(cli_generate_options, field)

static const kc__cli_flag flags[] = {
    {"output-dir", 'o', "DIR", .parse = kc__cli_flag_text, .offset = AT(output_dir),
     .values = "DIR", .group = "Output",
     .help = "output directory; '-' is standard output; defaults to a directory per generator, "
             "such as config/crd/bases; with 'all' these directories are below DIR"},
    {"check", .parse = kc__cli_flag_switch, .offset = AT(check), .group = "Output",
     .help = "write nothing; report outdated files and exit with 1 if there are any"},
    {"header-file", .argument = "FILE", .parse = kc__cli_flag_text, .offset = AT(header_file),
     .values = "FILE", .group = "Output",
     .help = "file with the C comment to put before each file, such as a license; YAML files get "
             "it as a YAML comment"},
    {"year", .argument = "YEAR", .parse = kc__cli_flag_text, .offset = AT(year), .group = "Output",
     .help = "replacement of ' YEAR' in the header file"},
    {"sdk-include", .argument = "DIR", .parse = kc__cli_flag_text, .offset = AT(sdk_include),
     .values = "DIR", .group = "Headers",
     .help = "directory that contains kc/api.h; defaults to include beside the kc binary or above"},
    {"include", 'I', "DIR", .parse = kc__cli_flag_text, .offset = AT(include), .values = "DIR",
     .group = "Headers", .help = "colon-separated list of further directories for #include"},
    {"allow-dangerous-types", .parse = kc__cli_flag_switch, .offset = AT(allow_dangerous_types),
     .group = "CRDs",
     .help = "allow float and double, whose representation differs between languages"},
    {"generate-embedded-object-meta", .parse = kc__cli_flag_switch,
     .offset = AT(embedded_object_meta), .group = "CRDs",
     .help = "write a schema for embedded ObjectMeta"},
    {"max-desc-len", .argument = "BYTES", .parse = parse_length, .offset = AT(max_description),
     .group = "CRDs",
     .help = "maximum length of descriptions, cut at the end of a sentence; 0 drops them; "
             "unlimited by default"},
    {"from", .argument = "FILE", .parse = kc__cli_flag_text, .offset = AT(from), .values = "FILE",
     .group = "Types", .help = "YAML file with the CRDs for 'kc generate types'",
     .details = "Other objects in the file are skipped. CRDs generated from the headers are "
                "identical, except for what no marker can express; a comment at the top of the "
                "header lists it. Existing headers stay unchanged."},
    {"role-name", .argument = "NAME", .parse = kc__cli_flag_text, .offset = AT(role_name),
     .group = "RBAC", .help = "name of roles whose markers set none; defaults to manager-role"},
};

const kc__cli_flag_set kc__cli_generate_flags = {
    .verb = "generate",
    .synopsis =
        "Generates code, CRDs, RBAC roles, webhook configurations and samples from headers of API "
        "types and from\nmarkers.\n"
        "\n"
        "PATH is a header, or a directory that is searched recursively for groupversion_info.h and "
        "*_types.h;\nit defaults to api.",
    .operands = "[COMMAND] [PATH…]",
    .operands_at = AT(operands),
    .commands = commands,
    .examples = "  kc generate                            # everything, from api/\n"
                "  kc generate crd                        # CRDs to config/crd/bases\n"
                "  kc generate crd api/apps/v1 -o -       # CRDs to standard output\n"
                "  kc generate types --from crd.yaml      # headers to api/\n"
                "  kc generate --check                    # report outdated files\n",
    KC__CLI_FLAGS(flags),
    .size = sizeof(cli_generate_options),
};

/* ---- the verb ---- */

/* Finds include/kc/api.h in the binary's directory or one above it: bin/kc and include/kc when
 * installed, build/NAME/kc and include/kc in the source tree. NULL: not found. */
static char *find_sdk(void)
{
    char path[4096];
    const ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
    path[n > 0 ? n : 0] = 0;
    for (char *slash = strrchr(path, '/'); slash; slash = strrchr(path, '/')) {
        *slash = 0;
        kc_autofree char *header = kc_asprintf("%s/include/kc/api.h", path);
        if (access(header, R_OK) == 0)
            return kc_asprintf("%s/include", path);
    }
    return NULL;
}

static int read_header_file(const cli_generate_options *o, char **ret, kc_error *err)
{
    kc_scoped(kc_buf) text = {0};
    FILE *file = o->header_file ? fopen(o->header_file, "re") : NULL;
    if (!o->header_file)
        return 0;
    if (!file)
        return kc_error_set(err, KC_NOT_FOUND, "--header-file: %s: %s", o->header_file,
                            strerror(errno));
    char line[1024];
    while (fgets(line, sizeof(line), file)) {
        char *year = o->year ? strstr(line, " YEAR") : NULL;
        if (year)
            kc_buf_printf(&text, "%.*s %s%s", (int)(year - line), line, o->year, year + 5);
        else
            kc_buf_puts(&text, line);
    }
    fclose(file);
    *ret = kc_buf_take(&text);
    return 0;
}

/* The first operand is not a command, so it must be a path. */
static int check_path(const char *word, kc_error *err)
{
    const char *names[KC_COUNT(commands)];
    size_t n = 0;
    for (const kc__cli_flag_choice *row = commands; row->name; row++)
        names[n++] = row->name;
    if (access(word, F_OK) == 0 || strchr(word, '/'))
        return 0;
    const char *nearest = kc_str_nearest(kc_cstr(word), names, n);
    return kc_error_set(
        err, KC_NOT_FOUND, "'%s' is neither a file or directory nor a command%s%s%s", word,
        nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
}

static const struct generator *generator_of(const kc__cli_flag_choice *command)
{
    return command && command->value < GENERATORS ? &generators[command->value] : NULL;
}

/* Roles and webhooks come from markers; a new project has no types yet. */
static bool needs_no_types(const kc__cli_flag_choice *command)
{
    const struct generator *only = generator_of(command);
    return (only && only->of_project) || access("PROJECT", F_OK) == 0;
}

/* Headers default to api. Roles and webhooks need none. */
static int find_paths(const kc__cli_flag_choice *command, const char *const **paths,
                      size_t *n_paths, kc_error *err)
{
    static const char *const api[] = {"api"};
    if (*n_paths)
        return 0;
    if (access(api[0], F_OK) == 0) {
        *paths = api;
        *n_paths = 1;
        return 0;
    }
    if (needs_no_types(command))
        return 0;
    return kc_error_set(err, KC_NOT_FOUND,
                        "directory 'api' does not exist; run this in a project ('kc init' creates "
                        "one), or name the directory of the headers: kc generate %s PATH",
                        command ? command->name : "all");
}

static int read_model(const cli_generate_options *o, const struct generator *only,
                      const char *const *paths, size_t n_paths, kc__gen_model *model, kc_error *err)
{
    const char *includes[32];
    size_t n = 0;
    kc_autofree char *found = o->sdk_include ? NULL : find_sdk();
    kc_autofree char *list = kc_strdup(o->include ? o->include : "");
    char *rest = NULL;
    for (char *one = strtok_r(list, ":", &rest); one && n < KC_COUNT(includes);
         one = strtok_r(NULL, ":", &rest))
        includes[n++] = one;
    return kc__gen_read_headers(
        &(kc__gen_read_opts){.paths = paths,
                             .n_paths = n_paths,
                             .sdk_include = o->sdk_include ? o->sdk_include : found,
                             .includes = includes,
                             .n_includes = n,
                             .project = only && !only->of_project ? NULL : "."},
        model, err);
}

static int run_one(const cli_generate_run *r, const struct generator *generator, bool alone,
                   size_t *n_stale, kc_error *err)
{
    const cli_generate_options *o = r->options;
    const bool direct = o->output_dir && (alone || !strcmp(o->output_dir, "-"));
    kc_autofree char *dir = direct          ? kc_strdup(o->output_dir)
                            : o->output_dir ? kc_asprintf("%s/%s", o->output_dir, generator->dir)
                                            : kc_strdup(generator->dir);
    output out = {.options = o, .dir = dir, .keep = generator->is_begun && !alone};
    const int done = generator->run(r, &out, err);
    *n_stale += out.n_stale;
    return done;
}

/* Generates headers from CRDs. */
typedef struct typing {
    output out;
    size_t n_crds;
    kc_error *err;
} typing;

static int type_one(kc_view *view, void *user)
{
    typing *t = user;
    const kc_str kind = kc_value_as_str(kc_value_get(kc_view_root(view), "kind"));
    const bool is_crd = kc_str_is(kind, "CustomResourceDefinition");
    /* Skips other objects of the manifest. */
    const int done =
        is_crd ? kc__gen_write_types(kc_view_root(view), cli_generate_put_file, &t->out, t->err)
               : 0;
    t->n_crds += is_crd;
    kc_view_free(view);
    return done;
}

static int generate_types(const cli_generate_options *o, kc_error *err)
{
    kc_scoped(kc_buf) text = {0};
    typing t = {.out = {.options = o,
                        .dir = o->output_dir ? o->output_dir : "api",
                        .keep = true,
                        .report = true},
                .err = err};
    if (!o->from)
        return kc_error_set(err, KC_BAD_REQUEST,
                            "'kc generate types' needs --from=FILE, the CRDs to read");
    if (kc_file_read(o->from, KC_FILE_MAX, &text, err) < 0 ||
        kc_yaml_each(kc_buf_str(&text), NULL, type_one, &t, err) < 0)
        return kc_error_wrap(err, "%s", o->from);
    if (!t.n_crds)
        return kc_error_set(err, KC_INVALID, "%s: no CustomResourceDefinition found", o->from);
    return 0;
}

static int run_generators(const cli_generate_run *r, const struct generator *only, kc_error *err)
{
    size_t n_stale = 0;
    for (size_t i = 0; i < GENERATORS; i++) {
        const struct generator *one = &generators[i];
        const bool chosen = only ? only == one : !(r->options->check && one->is_begun);
        if (chosen && run_one(r, one, only != NULL, &n_stale, err) < 0)
            return kc_error_result(err);
    }
    if (n_stale)
        return kc_error_set(err, KC_CONFLICT, "run 'kc generate' and commit the result");
    return 0;
}

static int generate(const cli_generate_options *o, kc_error *err)
{
    const kc__cli_flag_operands *given = &o->operands;
    const kc__cli_flag_choice *command = given->n ? find_command(given->items[0]) : NULL;
    const struct generator *only = generator_of(command);
    const char *const *paths = given->items + (command ? 1 : 0);
    size_t n_paths = given->n - (command ? 1 : 0);
    kc_scoped(kc__gen_model) model = {0};
    kc_scoped(kc_buf) yaml_header = {0};
    kc_autofree char *header = NULL;
    if (command && command->value == TYPES)
        return generate_types(o, err);
    if (n_paths && !command && check_path(paths[0], err) < 0)
        return kc_error_result(err);
    if (find_paths(command, &paths, &n_paths, err) < 0 || read_header_file(o, &header, err) < 0 ||
        read_model(o, only, paths, n_paths, &model, err) < 0)
        return kc_error_result(err);
    if (!model.packages.n && n_paths && !needs_no_types(command))
        return kc_error_set(err, KC_NOT_FOUND,
                            "no header of API types below %s: expected *_types.h, and "
                            "groupversion_info.h with the group beside them",
                            paths[0]);
    if (header)
        kc__cli_yaml_comments(kc_cstr(header), &yaml_header);
    return run_generators(&(cli_generate_run){o, &model, header, kc_buf_cstr(&yaml_header)}, only,
                          err);
}

int kc__cli_command_generate(int argc, char **argv)
{
    cli_generate_options o;
    kc_scoped(kc_error) err = {0};
    const int parsed = kc__cli_flags_parse(&kc__cli_generate_flags, argc, argv, &o, &err);
    if (parsed > 0)
        kc__cli_flags_help(&kc__cli_generate_flags, stdout);
    if (parsed < 0)
        return kc__cli_usage_error("generate", &err);
    if (parsed == 0 && generate(&o, &err) < 0) {
        /* Messages with file, line and column have no prefix, like those of a compiler. */
        fprintf(stderr, "%s%s\n",
                kc_error_has_reason(&err, KC_INVALID) ? "" : "kc generate: ", kc_error_text(&err));
        return 1;
    }
    return 0;
}
