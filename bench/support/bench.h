/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench.h: timing for the benchmarks. A figure is the median over rounds in which the contestants
 * take turns, so that a slow machine slows all of them. Bounds are on ratios within one run, on
 * growth, or on bytes; never on times.
 */
#ifndef KC_BENCH_H
#define KC_BENCH_H

#include "kc/buf.h"

/* Runs one operation of a contestant `times` times. */
typedef void (*bench_fn)(void *input, size_t times);

typedef struct contestant {
    const char *name;
    bench_fn run;
    double ns; /* Of one operation; set by bench_run. */
} contestant;

/* Measures all in turns and prints a line for each. */
void bench_run(const char *title, contestant *contestants, size_t n, void *input);

/* Records a figure and its bound as a row of the result table. */
void bench_at_least(const char *what, double actual, double bound);
void bench_at_most(const char *what, double actual, double bound);
/* Prints the table (figure, bound, pass or FAIL) and appends its rows, separated by tabs, to the
 * file $KC_BENCH_RESULTS, if set. Returns the exit code: 1 if a row failed. */
int bench_result(void);

/* Resident bytes of this process: now, the maximum, and now of mapped files. */
double bench_resident(void);
double bench_most_resident(void);
double bench_resident_of_files(void);

/* Keeps the compiler from removing a computation. */
#define bench_use(value) __asm__ volatile("" : : "r"(value) : "memory")

/* Sample objects as JSON: a ConfigMap of about `bytes`, and a Pod of about 12 KB. */
void sample_config_map(kc_buf *out, size_t bytes);
void sample_pod(kc_buf *out);

#endif
