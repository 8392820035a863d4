/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench.h: timing for the benchmarks. A figure is the median over rounds in which the contestants
 * take turns, so that a machine that slows down slows all of them, and only ratios are judged.
 */
#ifndef KC_BENCH_H
#define KC_BENCH_H

#include "kc/buf.h"

/* One operation of a contestant, `times` times. */
typedef void (*bench_fn)(void *input, size_t times);

typedef struct contestant {
    const char *name;
    bench_fn run;
    double ns; /* Of one operation; filled by bench_run. */
} contestant;

/* Measures all, in turns, and prints a line each. */
void bench_run(const char *title, contestant *contestants, size_t n, void *input);

/* Prints the promise and whether it is kept; a broken one makes bench_result() 1. */
void bench_at_least(const char *what, double actual, double wanted);
void bench_at_most(const char *what, double actual, double wanted);
int bench_result(void);

/* Bytes of this process that are resident: now, and the most there were; and, of those of now, what
 * the kernel keeps of files that are mapped. */
double bench_resident(void);
double bench_most_resident(void);
double bench_resident_of_files(void);

/* Keeps the compiler from dropping a result. */
#define bench_use(value) __asm__ volatile("" : : "r"(value) : "memory")

/* Sample objects as text: a ConfigMap of about `bytes`, and a Pod as kubectl prints it (about 12
 * KB, managed fields included). */
void sample_config_map(kc_buf *out, size_t bytes);
void sample_pod(kc_buf *out);

#endif
