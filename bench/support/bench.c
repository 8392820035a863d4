/* SPDX-License-Identifier: Apache-2.0 */
/* bench.c: timing, bounds and sample objects of the benchmarks. */
#include "bench.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 15, MAX_ROWS = 32 };
static const double ROUND_SECONDS = 0.02;

/* A bound and what was measured. */
typedef struct bench_row {
    char what[96];
    double actual, bound;
    const char *relation; /* "<=" or ">=" */
    bool passed;
} bench_row;

static bench_row rows[MAX_ROWS];
static size_t n_rows;

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static double time_of(const contestant *c, void *input, size_t times)
{
    double start = seconds();
    c->run(input, times);
    return seconds() - start;
}

/* The number of operations that fill a round. */
static size_t calibrate(const contestant *c, void *input)
{
    size_t times = 1;
    while (time_of(c, input, times) < ROUND_SECONDS / 4)
        times *= 2;
    return times * 4;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void bench_run(const char *title, contestant *contestants, size_t n, void *input)
{
    double took[16][ROUNDS];
    size_t times[16];
    printf("%s\n", title);
    for (size_t i = 0; i < n; i++)
        times[i] = calibrate(&contestants[i], input);
    for (int round = 0; round < ROUNDS; round++)
        for (size_t i = 0; i < n; i++)
            took[i][round] = time_of(&contestants[i], input, times[i]) / (double)times[i];
    for (size_t i = 0; i < n; i++) {
        qsort(took[i], ROUNDS, sizeof(double), by_value);
        contestants[i].ns = took[i][ROUNDS / 2] * 1e9;
        printf("  %-34s %10.1f ns\n", contestants[i].name, contestants[i].ns);
    }
}

static void add_row(const char *what, double actual, const char *relation, double bound,
                    bool passed)
{
    if (n_rows == MAX_ROWS)
        abort();
    bench_row *row = &rows[n_rows++];
    *row = (bench_row){.actual = actual, .bound = bound, .relation = relation, .passed = passed};
    snprintf(row->what, sizeof(row->what), "%s", what);
}

void bench_at_least(const char *what, double actual, double bound)
{
    add_row(what, actual, ">=", bound, actual >= bound);
}

void bench_at_most(const char *what, double actual, double bound)
{
    add_row(what, actual, "<=", bound, actual <= bound);
}

static void print_row(const bench_row *row)
{
    const bool colour = isatty(STDOUT_FILENO) && !getenv("NO_COLOR");
    const char *on = !colour ? "" : row->passed ? "\033[32m" : "\033[31m";
    printf("  %-72s %9.2f  %s %7.2f  %s%s%s\n", row->what, row->actual, row->relation, row->bound,
           on, row->passed ? "pass" : "FAIL", colour ? "\033[0m" : "");
}

/* As bench/server/lib writes them: what, measured, unit, relation, bound, verdict. */
static void save_row(FILE *file, const bench_row *row)
{
    fprintf(file, "%s: %s\t%.2f\t\t%s\t%.2f\t%s\n", program_invocation_short_name, row->what,
            row->actual, row->relation, row->bound, row->passed ? "pass" : "FAIL");
}

int bench_result(void)
{
    const char *path = getenv("KC_BENCH_RESULTS");
    FILE *file = path && *path ? fopen(path, "ae") : NULL;
    int failed = 0;
    printf("  %-72s %9s  %10s\n", "", "measured", "bound");
    for (size_t i = 0; i < n_rows; i++) {
        print_row(&rows[i]);
        if (file)
            save_row(file, &rows[i]);
        failed = failed || !rows[i].passed;
    }
    if (file)
        fclose(file);
    return failed;
}

double bench_resident(void)
{
    long pages = 0, all = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%ld %ld", &all, &pages) != 2)
        abort();
    fclose(f);
    return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

/* A row of the kernel's page about this process, in bytes. */
static double status_row(const char *format)
{
    char line[256];
    double kilobytes = 0;
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof(line), f))
        sscanf(line, format, &kilobytes);
    if (f)
        fclose(f);
    return kilobytes * 1024;
}

double bench_most_resident(void)
{
    return status_row("VmHWM: %lf");
}

double bench_resident_of_files(void)
{
    return status_row("RssFile: %lf");
}

void sample_config_map(kc_buf *out, size_t bytes)
{
    kc_buf_puts(out,
                "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"settings\","
                "\"namespace\":\"default\",\"uid\":\"0b6a5c0e-6a1f-4b51-9c9e-6f3c1d2e4f50\","
                "\"resourceVersion\":\"123456\",\"creationTimestamp\":\"2026-01-02T03:04:05Z\","
                "\"labels\":{\"app\":\"web\",\"tier\":\"frontend\"}},\"data\":{");
    for (int i = 0; out->n + 90 < bytes; i++)
        kc_buf_printf(
            out, "%s\"setting-%d\":\"listen 0.0.0.0:%d; log_level=info;\\nretries=3 backoff=%dms\"",
            i ? "," : "", i, 8000 + i, 10 * i);
    kc_buf_puts(out, "}}");
}

static void sample_container(kc_buf *out, int i)
{
    kc_buf_printf(
        out,
        "%s{\"name\":\"container-%d\",\"image\":\"registry.example.io/team/service-%d:1.%d.0\","
        "\"command\":[\"/bin/service\",\"--listen=:80%02d\",\"--verbose\"],"
        "\"ports\":[{\"name\":\"http\",\"containerPort\":80%02d,\"protocol\":\"TCP\"}],\"env\":[",
        i ? "," : "", i, i, i, i, i);
    for (int e = 0; e < 8; e++)
        kc_buf_printf(out, "%s{\"name\":\"VARIABLE_%d\",\"value\":\"some value of variable %d\"}",
                      e ? "," : "", e, e);
    kc_buf_puts(
        out,
        "],\"resources\":{\"limits\":{\"cpu\":\"500m\",\"memory\":\"256Mi\"},\"requests\":{\"cpu\":"
        "\"100m\","
        "\"memory\":\"64Mi\"}},\"volumeMounts\":[{\"name\":\"config\",\"mountPath\":\"/etc/"
        "config\"},"
        "{\"name\":\"kube-api-access\",\"readOnly\":true,\"mountPath\":\"/var/run/secrets/"
        "token\"}],"
        "\"livenessProbe\":{\"httpGet\":{\"path\":\"/healthz\",\"port\":8080,\"scheme\":\"HTTP\"},"
        "\"initialDelaySeconds\":5,\"timeoutSeconds\":1,\"periodSeconds\":10,\"successThreshold\":"
        "1,"
        "\"failureThreshold\":3},\"terminationMessagePath\":\"/dev/termination-log\","
        "\"imagePullPolicy\":\"IfNotPresent\",\"securityContext\":{\"runAsNonRoot\":true,"
        "\"allowPrivilegeEscalation\":false}}");
}

void sample_pod(kc_buf *out)
{
    kc_buf_puts(
        out,
        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"web-6d4cf56db6-abcde\","
        "\"generateName\":\"web-6d4cf56db6-\",\"namespace\":\"production\","
        "\"uid\":\"7d7c4a3e-5b0d-4a25-8f3e-0c9f7b1d2a11\",\"resourceVersion\":\"987654\","
        "\"creationTimestamp\":\"2026-01-02T03:04:05Z\",\"labels\":{\"app\":\"web\","
        "\"pod-template-hash\":\"6d4cf56db6\",\"tier\":\"frontend\"},\"ownerReferences\":[{"
        "\"apiVersion\":\"apps/v1\",\"kind\":\"ReplicaSet\",\"name\":\"web-6d4cf56db6\","
        "\"uid\":\"11111111-2222-3333-4444-555555555555\",\"controller\":true,"
        "\"blockOwnerDeletion\":true}]},\"spec\":{\"containers\":[");
    for (int i = 0; i < 8; i++)
        sample_container(out, i);
    kc_buf_puts(out, "],\"restartPolicy\":\"Always\",\"terminationGracePeriodSeconds\":30,"
                     "\"dnsPolicy\":\"ClusterFirst\","
                     "\"serviceAccountName\":\"default\",\"nodeName\":\"node-17\"},\"status\":{"
                     "\"phase\":\"Running\","
                     "\"conditions\":[");
    for (int i = 0; i < 5; i++)
        kc_buf_printf(out,
                      "%s{\"type\":\"Condition%d\",\"status\":\"True\",\"lastProbeTime\":null,"
                      "\"lastTransitionTime\":\"2026-01-02T03:04:0%dZ\"}",
                      i ? "," : "", i, i);
    kc_buf_puts(out, "],\"hostIP\":\"192.0.2.7\",\"podIP\":\"192.0.2.99\",\"startTime\":\"2026-01-"
                     "02T03:04:05Z\","
                     "\"qosClass\":\"Burstable\"}}");
}
