/* bench_tasks.h - 'tamis bench --task'
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_CLI_BENCH_TASKS_H
#define TAMIS_CLI_BENCH_TASKS_H

#include "bench/bench.h"

/* Measure the task called 'name' and print it; the exit code.  'kinds' is NULL if none was named. */
int bench_task(const char *command, const char *name, const bench_setup *setup, const char *kinds,
               bool as_json);

#endif
