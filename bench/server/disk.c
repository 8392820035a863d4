/* SPDX-License-Identifier: Apache-2.0 */
/*
 * disk.c: what the disk under a folder can do, so that figures of durable writes can be judged on
 * another machine. Prints the median time in microseconds of writing 4 KB and waiting until they
 * are on the disk: over bytes that were there before, and at the end of a file, which then also has
 * to record its new length.
 *
 *     server_disk FOLDER
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { TIMES = 301, BYTES = 4096 };

static double now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median of writing at `step` bytes after the one before; 0 means over the same ones. */
static double median_of_writes(int fd, off_t step)
{
    static char block[BYTES];
    double took[TIMES];
    for (int i = 0; i < TIMES; i++) {
        double start = now_us();
        block[0] = (char)i;
        if (pwrite(fd, block, sizeof(block), i * step) != BYTES || fdatasync(fd) < 0) {
            perror("server_disk: write");
            exit(1);
        }
        took[i] = now_us() - start;
    }
    qsort(took, TIMES, sizeof(took[0]), by_value);
    return took[TIMES / 2];
}

int main(int argc, char **argv)
{
    char path[4096];
    if (argc != 2 || snprintf(path, sizeof(path), "%s/disk", argv[1]) >= (int)sizeof(path)) {
        fprintf(stderr, "usage: server_disk FOLDER\n");
        return 2;
    }
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0) {
        perror(path);
        return 1;
    }
    double appended = median_of_writes(fd, BYTES);
    double overwritten = median_of_writes(fd, 0);
    unlink(path);
    printf("overwrite=%.0f append=%.0f\n", overwritten, appended);
    return 0;
}
