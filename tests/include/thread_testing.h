/* SPDX-License-Identifier: Apache-2.0 */
/* thread_testing.h: the threads of the test's own process. */
#ifndef THREAD_TESTING_H
#define THREAD_TESTING_H

#include "testing.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

/* Number of threads with a name. */
static inline size_t threads_named(const char *name)
{
    size_t found = 0;
    DIR *dir = opendir("/proc/self/task");
    assert_non_null(dir);
    for (const struct dirent *task; (task = readdir(dir));) {
        char path[300], line[32] = "";
        snprintf(path, sizeof(path), "/proc/self/task/%s/comm", task->d_name);
        FILE *file = fopen(path, "r");
        if (!file)
            continue; /* "." and "..", or the thread has ended. */
        if (fgets(line, sizeof(line), file))
            line[strcspn(line, "\n")] = '\0';
        fclose(file);
        found += !strcmp(line, name);
    }
    closedir(dir);
    return found;
}

#endif
