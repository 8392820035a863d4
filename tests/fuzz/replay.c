/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay.c: runs the function of a fuzzer over every file of a corpus directory, as an ordinary
 * test. An empty or missing directory is a failure: a lost corpus must not pass.
 */
#include "fuzzing.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

static int run_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return 1;
    fseek(file, 0, SEEK_END);
    long end = ftell(file);
    rewind(file);
    size_t size = end > 0 ? (size_t)end : 0;
    uint8_t *data = malloc(size ? size : 1);
    int failed = !data || fread(data, 1, size, file) != size;
    if (!failed)
        LLVMFuzzerTestOneInput(data, size);
    free(data);
    fclose(file);
    return failed;
}

int main(int argc, char **argv)
{
    DIR *folder = argc == 2 ? opendir(argv[1]) : NULL;
    int ran = 0, failed = 0;
    if (!folder) {
        fprintf(stderr, "no corpus at %s\n", argc == 2 ? argv[1] : "(no folder was given)");
        return 1;
    }
    for (struct dirent *entry; (entry = readdir(folder));) {
        char path[4096];
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof(path), "%s/%s", argv[1], entry->d_name);
        failed += run_file(path);
        ran++;
    }
    closedir(folder);
    printf("%d inputs\n", ran);
    return failed || !ran;
}
