/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_objects.c: `kc store check`, `export` and `import`: flags and printing. The work is in
 * src/apiserver/maintenance.
 */
#include "store_location.h"

#include "apiserver/maintenance/check.h"
#include "apiserver/maintenance/export.h"
#include "apiserver/maintenance/import.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- check ---- */

static void print_problem(kc_str key, const char *reason, void *user)
{
    FILE *out = user;
    if (key.n)
        fprintf(out, "problem: %.*s: %s\n", KC_ARG(key), reason);
    else
        fprintf(out, "problem: %s\n", reason);
}

static void print_counts(const kc__maintenance_checked *checked)
{
    uint64_t bytes = 0;
    size_t encrypted = 0;
    printf("%-60s %8s %9s %12s %8s\n", "RESOURCE", "OBJECTS", "ENCRYPTED", "BYTES", "PROBLEMS");
    kc_vec_each (&checked->counts, row) {
        printf("%-60.*s %8zu %9zu %12llu %8zu\n", KC_ARG(row->name), row->objects, row->encrypted,
               (unsigned long long)row->bytes, row->problems);
        bytes += row->bytes;
        encrypted += row->encrypted;
    }
    printf("%-60s %8zu %9zu %12llu %8zu\n", "total", checked->objects, encrypted,
           (unsigned long long)bytes, checked->problems);
    if (checked->records)
        printf("keys of servers that are no objects: %zu\n", checked->records);
}

static void print_revision(const kc__maintenance_checked *checked, bool has_history)
{
    const unsigned long long revision = checked->state.revision;
    if (has_history)
        printf("revision %llu; history since revision %llu: %zu events\n", revision,
               (unsigned long long)checked->state.compacted, checked->events);
    else
        printf("revision %llu; etcd keeps the history, which was not read\n", revision);
}

int kc__cli_store_check(const kc__cli_store_options *o, kc_error *err)
{
    kc_scoped(kc__cli_opened_store) store = {0};
    kc_scoped(kc__maintenance_checked) checked = {0};
    if (kc__cli_store_open(&store, o->operands.items[1], true, o, err) < 0)
        return kc_error_result(err);
    const kc__maintenance_check_opts opts = {
        .encryption = store.encryption, .problem = print_problem, .user = stdout};
    if (kc__maintenance_check(store.storage, &opts, &checked, err) < 0)
        return kc_error_result(err);
    print_counts(&checked);
    print_revision(&checked, !kc__maintenance_location_is_etcd(&store.location));
    return checked.problems ? 1 : 0;
}

/* ---- export ---- */

/* A file that gets its name when it is complete; without a path, standard output. */
typedef struct export_file {
    const char *path;
    char *part;
    FILE *out;
} export_file;

static int export_failed(const export_file *file, kc_error *err)
{
    return kc_error_set(err, KC_SERVICE_UNAVAILABLE, "cannot write %s: %s", file->path,
                        strerror(errno));
}

static int open_export(export_file *file, const char *path, kc_error *err)
{
    struct stat st;
    *file = (export_file){.path = path, .out = stdout};
    if (!path)
        return 0;
    if (lstat(path, &st) == 0 && !S_ISREG(st.st_mode))
        return kc_error_set(err, KC_INVALID, "cannot write %s: it is not a regular file", path);
    file->part = kc_asprintf("%s.part", path);
    (void)unlink(file->part);
    const int fd = open(file->part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    file->out = fd < 0 ? NULL : fdopen(fd, "w");
    return file->out ? 0 : export_failed(file, err);
}

static int finish_export(export_file *file, kc_error *err)
{
    FILE *out = file->out;
    if (!file->path)
        return 0;
    file->out = NULL;
    const bool written = fflush(out) == 0 && fsync(fileno(out)) == 0;
    if (fclose(out) != 0 || !written || rename(file->part, file->path) < 0)
        return export_failed(file, err);
    return 0;
}

static void export_file_done(export_file *file)
{
    if (file->part && file->out)
        fclose(file->out);
    if (file->part)
        (void)unlink(file->part);
    free(file->part);
}

static void print_exported(const kc__maintenance_exported *result)
{
    fprintf(stderr, "exported %zu objects at revision %llu\n", result->objects,
            (unsigned long long)result->revision);
    if (result->secrets)
        fprintf(stderr, "left out %zu Secrets and encrypted objects; --with-secrets exports them\n",
                result->secrets);
    if (result->owned)
        fprintf(stderr, "left out %zu objects that have owners, which create them again\n",
                result->owned);
    if (result->problems)
        fprintf(stderr, "%zu objects cannot be read and are missing\n", result->problems);
}

int kc__cli_store_export(const kc__cli_store_options *o, kc_error *err)
{
    kc_scoped(kc__cli_opened_store) store = {0};
    kc_scoped(export_file) file = {0};
    kc__maintenance_exported result = {0};
    if (kc__cli_store_open(&store, o->operands.items[1], true, o, err) < 0 ||
        open_export(&file, o->output, err) < 0)
        return kc_error_result(err);
    const kc__maintenance_export_opts opts = {.encryption = store.encryption,
                                              .resource = o->resource,
                                              .namespace = o->namespace,
                                              .with_secrets = o->with_secrets,
                                              .for_apply = o->for_apply,
                                              .problem = print_problem,
                                              .user = stderr};
    if (kc__maintenance_export(store.storage, &opts, file.out, &result, err) < 0 ||
        finish_export(&file, err) < 0)
        return kc_error_result(err);
    print_exported(&result);
    return result.problems ? 1 : 0;
}

/* ---- import ---- */

static FILE *open_import(const char *path, kc_error *err)
{
    FILE *in = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");
    if (!in)
        kc_error_set(err, KC_NOT_FOUND, "cannot open %s: %s", path, strerror(errno));
    return in;
}

/* A regular file is read twice: nothing is stored if a line is wrong. */
static int check_import(FILE *in, const kc__maintenance_import_opts *opts, kc__storage *storage,
                        kc_error *err)
{
    struct stat st;
    kc__maintenance_imported result = {0};
    kc__maintenance_import_opts check = *opts;
    if (fstat(fileno(in), &st) < 0 || !S_ISREG(st.st_mode))
        return 0;
    check.check_only = true;
    check.progress = NULL;
    if (kc__maintenance_import(storage, in, &check, &result, err) < 0)
        return kc_error_wrap(err, "nothing was imported");
    rewind(in);
    return 0;
}

static int import_from(FILE *in, const kc__cli_store_options *o, const kc__cli_opened_store *store,
                       kc_error *err)
{
    kc__maintenance_imported result = {0};
    const kc__maintenance_import_opts opts = {.encryption = store->encryption,
                                              .existing = o->overwrite ? KC__MAINTENANCE_OVERWRITE
                                                          : o->skip_existing
                                                              ? KC__MAINTENANCE_SKIP
                                                              : KC__MAINTENANCE_REFUSE,
                                              .event_ttl = o->event_ttl / KC_SECOND,
                                              .progress = kc__cli_store_progress,
                                              .user = (void *)"lines"};
    if (check_import(in, &opts, store->storage, err) < 0)
        return kc_error_result(err);
    const int failed = kc__maintenance_import(store->storage, in, &opts, &result, err);
    kc__cli_store_progress_end();
    if (failed < 0)
        return kc_error_wrap(err,
                             "lines 1 to %zu were imported, and --skip-existing continues after "
                             "them",
                             result.lines);
    printf("imported %zu objects", result.stored);
    if (result.skipped)
        printf("; skipped %zu that exist", result.skipped);
    putchar('\n');
    return 0;
}

int kc__cli_store_import(const kc__cli_store_options *o, kc_error *err)
{
    kc_scoped(kc__cli_opened_store) store = {0};
    FILE *in = open_import(o->file, err);
    if (!in)
        return kc_error_result(err);
    int failed = kc__cli_store_open(&store, o->operands.items[1], false, o, err);
    if (!failed)
        failed = import_from(in, o, &store, err);
    if (in != stdin)
        fclose(in);
    return failed;
}
