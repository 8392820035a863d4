/* SPDX-License-Identifier: Apache-2.0 */
/*
 * definitions: writes the tables of src/apiserver/codec/api_types.h from the published API
 * definitions, when the server is built.
 *
 *     definitions [--amendments=FILE] ROOT OUT.c FOLDER…
 *
 * FOLDERs are those of packages, relative to ROOT: api/core/v1 …; each holds generated.proto and Go
 * files. The amendments are read last (amend.c). model.h shows the way through the program. To have
 * another package in the tables, name its folder in CMakeLists.txt beside this file.
 */
#include "lexer.h"
#include "model.h"

#include "kc/buf.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>

kc_str model_file(model *m, const char *path)
{
    kc_scoped(kc_buf) text = {0};
    FILE *file = fopen(path, "re");
    if (!file)
        fail_at(path, 0, "%s", strerror(errno));
    while (!feof(file) && !ferror(file)) {
        char *room = kc_buf_reserve(&text, 1 << 16);
        text.n += fread(room, 1, 1 << 16, file);
    }
    if (ferror(file))
        fail_at(path, 0, "%s", strerror(errno));
    fclose(file);
    size_t length = text.n;
    kc_vec_push(&m->files, kc_buf_take(&text));
    return kc_str_of(*kc_vec_last(&m->files), length);
}

package *model_package(const model *m, kc_str name)
{
    kc_vec_each (&m->packages, p) {
        if (kc_str_eq((*p)->name, name))
            return *p;
    }
    return NULL;
}

static void package_done(package *p)
{
    kc_vec_each (&p->messages, msg) {
        kc_vec_done(&(*msg)->read);
        kc_vec_done(&(*msg)->fields);
    }
    kc_map_each (&p->go_types, entry) {
        go_type *type = entry->value;
        kc_vec_done(&type->fields);
    }
    kc_vec_done(&p->messages);
    kc_vec_done(&p->typed);
    kc_map_done(&p->go_types);
    kc_map_done(&p->constants);
}

void model_done(model *m)
{
    kc_vec_each (&m->packages, p)
        package_done(*p);
    kc_vec_each (&m->files, text)
        free(*text);
    kc_vec_done(&m->packages);
    kc_vec_done(&m->files);
    kc_vec_each (&m->enums, e)
        kc_vec_done(&e->values);
    kc_vec_done(&m->enums);
    kc_map_done(&m->enum_places);
    kc_map_done(&m->not_enums);
    kc_vec_done(&m->table);
    kc_map_done(&m->by_name);
    kc_arena_done(&m->arena);
}

/* Hand-written files; those that are generated, and tests, hold nothing about types. */
static int is_source(const struct dirent *entry)
{
    kc_str name = kc_cstr(entry->d_name);
    return kc_str_ends(name, KC_STR(".go")) && !kc_str_ends(name, KC_STR("_test.go")) &&
           !kc_str_contains(name, KC_STR("generated"));
}

static void read_package(model *m, const char *root, const char *folder)
{
    package *p = kc_arena_new(&m->arena, package);
    char *path = kc_arena_printf(&m->arena, "%s/%s", root, folder);
    p->folder = folder;
    p->proto_path = kc_arena_printf(&m->arena, "%s/generated.proto", path);
    kc_vec_push(&m->packages, p);
    read_proto(m, p);

    struct dirent **entries;
    int n = scandir(path, &entries, is_source, alphasort);
    if (n < 0)
        fail_at(path, 0, "%s", strerror(errno));
    for (int i = 0; i < n; i++) {
        read_go(m, p, kc_arena_printf(&m->arena, "%s/%s", path, entries[i]->d_name));
        free(entries[i]);
    }
    free(entries);
}

int main(int argc, char **argv)
{
    static const char option[] = "--amendments=";
    const char *amendments = NULL;
    if (argc > 1 && !strncmp(argv[1], option, sizeof(option) - 1)) {
        amendments = argv[1] + sizeof(option) - 1;
        argv++, argc--;
    }
    if (argc < 4) {
        fprintf(stderr, "usage: definitions [--amendments=FILE] ROOT OUT.c FOLDER...\n");
        return 2;
    }
    kc_scoped(model) m = {0};
    for (int i = 3; i < argc; i++)
        read_package(&m, argv[1], argv[i]);
    resolve(&m);
    if (amendments)
        amend(&m, amendments);
    resolve_order(&m);
    write_tables(&m, argv[2]);
    return 0;
}
