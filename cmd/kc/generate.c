/* SPDX-License-Identifier: Apache-2.0 */
/*
 * generate.c: `kc generate`: from headers of API types, everything that follows from them.
 *
 * Headers are read once, into a model (src/generate/model.h); each generator named writes files
 * from it. A file is replaced as a whole, and only if it has changed, so that builds see no change
 * where there is none. With --check nothing is written: files that are not current are named, and
 * the exit code is 1.
 *
 * To add a generator: a row of `generators`, a function that writes through put_file.
 */
#include "comments.h"
#include "verb.h"

#include "generate/read_headers.h"
#include "generate/write_code.h"
#include "generate/write_crd.h"
#include "generate/write_rbac.h"
#include "generate/write_sample.h"
#include "generate/write_types.h"
#include "generate/write_webhook.h"

#include "kc/file.h"
#include "kc/yaml.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct options {
    kc_flag_operands operands;
    const char *output_dir, *sdk_include, *include, *header_file, *year, *role_name, *from;
    bool check, allow_dangerous_types, embedded_object_meta;
    int max_description; /* As kc__crd_opts has it. */
} options;

/* One run of one generator. */
typedef struct output {
    const options *options;
    const char *folder; /* "-": standard output. */
    bool keep;          /* Files that are there are left alone, */
    bool tell;          /* which is told. */
    size_t n_files, n_stale;
} output;

typedef struct run {
    const options *options;
    const kc__gen_model *model;
    char *header;            /* NULL: none. */
    const char *yaml_header; /* The same as comments of YAML. */
} run;

/* ---- files ---- */

static bool has_text(const char *path, kc_str text)
{
    kc_scoped(kc_buf) there = {0};
    return kc_file_read(path, text.n, &there, NULL) == 0 && kc_str_eq(kc_buf_str(&there), text);
}

static int put_file(const char *name, kc_str text, void *user, kc_error *err)
{
    output *out = user;
    /* What belongs beside a header says where that is. */
    kc_autofree char *path =
        name[0] == '/' ? kc_strdup(name) : kc_asprintf("%s/%s", out->folder, name);
    out->n_files++;
    if (!strcmp(out->folder, "-"))
        return fwrite(text.p, 1, text.n, stdout) == text.n ? 0 : -1;
    if (has_text(path, text))
        return 0;
    if (out->keep && access(path, F_OK) == 0) {
        if (out->tell)
            fprintf(stderr, "%s is there already, and was left alone\n", path);
        return 0;
    }
    if (out->options->check) {
        out->n_stale++;
        fprintf(stderr, "%s is not current\n", path);
        return 0;
    }
    kc_autofree char *folder = kc_strndup(path, (size_t)(strrchr(path, '/') - path));
    return kc_folder_make(folder, 0777, err) < 0 ? -1 : kc_file_put(path, text, err);
}

/* ---- generators ---- */

static int generate_crds(const run *r, output *out, kc_error *err)
{
    const kc__crd_opts opts = {.allow_dangerous_types = r->options->allow_dangerous_types,
                               .embedded_object_meta = r->options->embedded_object_meta,
                               .max_description = r->options->max_description,
                               .header = r->yaml_header,
                               .version = "v" KC_VERSION};
    return kc__write_crds(r->model, &opts, put_file, out, err);
}

static int generate_code(const run *r, output *out, kc_error *err)
{
    return kc__write_code(r->model, r->header, put_file, out, err);
}

static int generate_rbac(const run *r, output *out, kc_error *err)
{
    const kc__rbac_opts opts = {.role_name = r->options->role_name, .header = r->yaml_header};
    return kc__write_rbac(r->model, &opts, put_file, out, err);
}

static int generate_webhooks(const run *r, output *out, kc_error *err)
{
    return kc__write_webhooks(r->model, r->yaml_header, put_file, out, err);
}

static int generate_samples(const run *r, output *out, kc_error *err)
{
    return kc__write_samples(r->model, r->yaml_header, put_file, out, err);
}

static const struct generator {
    const char *name, *folder;
    int (*run)(const run *r, output *out, kc_error *err);
    bool is_begun;   /* Files to begin with: with all the others, what is there is left alone. */
    bool of_project; /* Comes of markers of any C file; headers of types need not be there. */
} generators[] = {
    {"object", ".", generate_code},
    {"crd", "config/crd/bases", generate_crds},
    {"rbac", "config/rbac", generate_rbac, .of_project = true},
    {"webhook", "config/webhook", generate_webhooks, .of_project = true},
    {"sample", "config/samples", generate_samples, .is_begun = true},
};

/* What is named; NULL: all of them. */
static const struct generator *named(const char *name)
{
    for (size_t i = 0; i < KC_COUNT(generators); i++)
        if (!strcmp(name, generators[i].name))
            return &generators[i];
    return NULL;
}

/* ---- flags ---- */

static int parse_length(const char *text, void *ret, kc_error *err)
{
    int64_t length;
    if (!kc_str_to_i64(kc_cstr(text), &length) || length < 0 || length > INT32_MAX)
        return kc_error_set(err, KC_INVALID, "'%s' is no number of bytes", text);
    *(int *)ret = length ? (int)length : -1;
    return 0;
}

#define AT(field) offsetof(options, field)

static const kc_flag flags[] = {
    {"output-dir", 'o', "FOLDER", .parse = kc_flag_text, .offset = AT(output_dir),
     .values = "FOLDER", .group = "Output",
     .help = "where files go; '-' is standard output; without it, or with 'all' below it, each "
             "generator has a folder of its own (crd: config/crd/bases)"},
    {"check", .parse = kc_flag_switch, .offset = AT(check), .group = "Output",
     .help =
         "write nothing; name the files that are not current, and exit with 1 if there are any"},
    {"header-file", .argument = "FILE", .parse = kc_flag_text, .offset = AT(header_file),
     .values = "FILE", .group = "Output",
     .help = "text to put before each file, such as a license, in comments of C; in YAML they are "
             "comments of YAML"},
    {"year", .argument = "YEAR", .parse = kc_flag_text, .offset = AT(year), .group = "Output",
     .help = "what ' YEAR' in the header file becomes"},
    {"sdk-include", .argument = "FOLDER", .parse = kc_flag_text, .offset = AT(sdk_include),
     .values = "FOLDER", .group = "Headers",
     .help = "the folder in which kc/api.h is; found beside this binary without it"},
    {"include", 'I', "FOLDER", .parse = kc_flag_text, .offset = AT(include), .values = "FOLDER",
     .group = "Headers", .help = "a further folder for #include; several with ':' between them"},
    {"allow-dangerous-types", .parse = kc_flag_switch, .offset = AT(allow_dangerous_types),
     .group = "CRDs", .help = "allow float and double, which differ between languages"},
    {"generate-embedded-object-meta", .parse = kc_flag_switch, .offset = AT(embedded_object_meta),
     .group = "CRDs", .help = "write a schema for metadata inside of objects"},
    {"max-desc-len", .argument = "BYTES", .parse = parse_length, .offset = AT(max_description),
     .group = "CRDs",
     .help = "cut descriptions to this length, at the end of a sentence; 0 drops them"},
    {"from", .argument = "FILE", .parse = kc_flag_text, .offset = AT(from), .values = "FILE",
     .group = "Types", .help = "types: the CRDs to write headers from, as YAML"},
    {"role-name", .argument = "NAME", .parse = kc_flag_text, .offset = AT(role_name),
     .group = "RBAC", .help = "name of the roles whose markers name none; manager-role without it"},
};

const kc_flag_set kc_generate_flags = {
    .verb = "generate",
    .synopsis =
        "Writes what follows from headers of API types: typed functions in C (zz_generated.h and .c "
        "beside\nthe headers), CustomResourceDefinitions; and from markers beside controllers, "
        "roles and webhook\nconfigurations; and an object of each kind to begin with, unless there is one.\n"
        "\n"
        "With types it goes the other way: headers from CRDs, where there are none.\n"
        "\n"
        "PATH is a folder, searched with all below it for groupversion_info.h and *_types.h, "
        "or a header;\nwithout one it is api.",
    .operands = "[object|crd|rbac|webhook|sample|all|types] [PATH…]",
    .operands_at = AT(operands),
    .examples = "  kc generate                            everything, of api/\n"
                "  kc generate crd                        CRDs to config/crd/bases\n"
                "  kc generate crd api/apps/v1 -o -       look at them\n"
                "  kc generate types --from crd.yaml      headers to api/, to go on with\n"
                "  kc generate --check                    are they current?\n",
    KC_FLAGS(flags),
    .size = sizeof(options),
};

/* ---- the verb ---- */

/* The folder that has include/kc/api.h, beside the binary or above it: installed, bin/kc and
 * include/kc; built, build/NAME/kc and include/kc. NULL: there is none. */
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

static int read_header_file(const options *o, char **ret, kc_error *err)
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

/* What was to be a generator and is none, unless it is a path. */
static int check_word(const char *word, kc_error *err)
{
    static const char *const others[] = {"all", "types"};
    const char *names[KC_COUNT(generators) + KC_COUNT(others)];
    for (size_t i = 0; i < KC_COUNT(names); i++)
        names[i] = i < KC_COUNT(generators) ? generators[i].name : others[i - KC_COUNT(generators)];
    if (access(word, F_OK) == 0 || strchr(word, '/'))
        return 0;
    const char *nearest = kc_str_nearest(kc_cstr(word), names, KC_COUNT(names));
    return kc_error_set(
        err, KC_NOT_FOUND, "'%s' is neither a file or folder here nor a generator%s%s%s", word,
        nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
}

/* Headers are in api unless somebody says otherwise. Roles and webhooks need none. */
static int find_paths(const struct generator *only, const char *const **paths, size_t *n_paths,
                      kc_error *err)
{
    static const char *const api[] = {"api"};
    if (*n_paths)
        return 0;
    if (access(api[0], F_OK) == 0) {
        *paths = api;
        *n_paths = 1;
        return 0;
    }
    if ((only && only->of_project) || access("PROJECT", F_OK) == 0)
        return 0;
    return kc_error_set(err, KC_NOT_FOUND,
                        "there is no folder 'api' here; run this where a project is ('kc init' "
                        "begins one), or name the folder of the headers: kc generate %s PATH",
                        only ? only->name : "all");
}

static int read_model(const options *o, const struct generator *only, const char *const *paths,
                      size_t n_paths, kc__gen_model *model, kc_error *err)
{
    const char *includes[32];
    size_t n = 0;
    kc_autofree char *found = o->sdk_include ? NULL : find_sdk();
    kc_autofree char *list = kc_strdup(o->include ? o->include : "");
    char *rest = NULL;
    for (char *one = strtok_r(list, ":", &rest); one && n < KC_COUNT(includes);
         one = strtok_r(NULL, ":", &rest))
        includes[n++] = one;
    return kc__read_headers(&(kc__read_opts){.paths = paths,
                                             .n_paths = n_paths,
                                             .sdk_include = o->sdk_include ? o->sdk_include : found,
                                             .includes = includes,
                                             .n_includes = n,
                                             .project = only && !only->of_project ? NULL : "."},
                            model, err);
}

static int run_one(const run *r, const struct generator *generator, bool alone, size_t *n_stale,
                   kc_error *err)
{
    const options *o = r->options;
    const bool direct = o->output_dir && (alone || !strcmp(o->output_dir, "-"));
    kc_autofree char *folder = direct ? kc_strdup(o->output_dir)
                               : o->output_dir
                                   ? kc_asprintf("%s/%s", o->output_dir, generator->folder)
                                   : kc_strdup(generator->folder);
    output out = {.options = o, .folder = folder, .keep = generator->is_begun && !alone};
    const int done = generator->run(r, &out, err);
    *n_stale += out.n_stale;
    return done;
}

/* Headers from CRDs. */
typedef struct typing {
    output out;
    size_t n_crds;
    kc_error *err;
} typing;

static int type_one(kc_view *view, void *user)
{
    typing *t = user;
    const kc_str kind = kc_as_str(kc_get(kc_view_root(view), "kind"));
    const bool is_crd = kc_str_is(kind, "CustomResourceDefinition");
    /* A manifest may have all sorts of things beside them. */
    const int done = is_crd ? kc__write_types(kc_view_root(view), put_file, &t->out, t->err) : 0;
    t->n_crds += is_crd;
    kc_view_free(view);
    return done;
}

static int generate_types(const options *o, kc_error *err)
{
    kc_scoped(kc_buf) text = {0};
    typing t = {.out = {.options = o,
                        .folder = o->output_dir ? o->output_dir : "api",
                        .keep = true,
                        .tell = true},
                .err = err};
    if (!o->from)
        return kc_error_set(err, KC_BAD_REQUEST, "types: which CRD? Name its file: --from FILE");
    if (kc_file_read(o->from, KC_FILE_MAX, &text, err) < 0 ||
        kc_yaml_each(kc_buf_str(&text), NULL, type_one, &t, err) < 0)
        return kc_error_wrap(err, "%s", o->from);
    if (!t.n_crds)
        return kc_error_set(err, KC_INVALID, "%s: there is no CustomResourceDefinition in it",
                            o->from);
    return 0;
}

static int generate(const options *o, kc_error *err)
{
    if (o->operands.n && !strcmp(o->operands.items[0], "types"))
        return generate_types(o, err);
    const kc_flag_operands *given = &o->operands;
    const struct generator *only = given->n ? named(given->items[0]) : NULL;
    const size_t words = only || (given->n && !strcmp(given->items[0], "all")) ? 1 : 0;
    const char *const *paths = given->items + words;
    size_t n_paths = given->n - words, n_stale = 0;
    kc_scoped(kc__gen_model) model = {0};
    kc_autofree char *header = NULL;
    int done = n_paths && !words ? check_word(paths[0], err) : 0;
    if (done == 0)
        done = find_paths(only, &paths, &n_paths, err);
    if (done == 0)
        done = read_header_file(o, &header, err);
    if (done == 0)
        done = read_model(o, only, paths, n_paths, &model, err);
    const bool may_be_without = (only && only->of_project) || access("PROJECT", F_OK) == 0;
    if (done == 0 && !model.packages.n && n_paths && !may_be_without)
        return kc_error_set(err, KC_NOT_FOUND,
                            "no header of API types is below %s: they are called *_types.h, and "
                            "groupversion_info.h beside them says their group",
                            paths[0]);
    kc_scoped(kc_buf) yaml_header = {0};
    if (header)
        kc_yaml_comments(kc_cstr(header), &yaml_header);
    const run r = {o, &model, header, kc_buf_cstr(&yaml_header)};
    for (size_t i = 0; done == 0 && i < KC_COUNT(generators); i++)
        if (only ? only == &generators[i] : !(o->check && generators[i].is_begun))
            done = run_one(&r, &generators[i], only != NULL, &n_stale, err);
    if (done == 0 && n_stale)
        return kc_error_set(err, KC_CONFLICT, "run 'kc generate' and commit what it writes");
    return done;
}

int kc_verb_generate(int argc, char **argv)
{
    options o;
    kc_scoped(kc_error) err = {0};
    const int parsed = kc_flags_parse(&kc_generate_flags, argc, argv, &o, &err);
    if (parsed > 0)
        kc_flags_help(&kc_generate_flags, stdout);
    if (parsed < 0)
        return kc_called_wrongly("generate", &err);
    if (parsed == 0 && generate(&o, &err) < 0) {
        /* Lines that point into files stand alone, as a compiler's. */
        fprintf(stderr, "%s%s\n",
                kc_failed_with(&err, KC_INVALID) ? "" : "kc generate: ", kc_error_text(&err));
        return 1;
    }
    return 0;
}
