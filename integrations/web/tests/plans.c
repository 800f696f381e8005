/* plans.c ROWS SEED - needs drawn at random, and their plans, as numbers
 *
 * web.c, compiled for this machine, makes the plans.  Each need is a line "need" with its numbers and the
 * threads; then a line "plans" with the answer, and a line per plan.  test_plans.js gives the same needs to
 * the module.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

double *web_numbers(void);
int web_plan(int all);
int web_plan_shared(unsigned threads);

#define NEEDS 18 /* numbers of a need, as in web.c */
#define PLAN  39 /* numbers of a plan */

static uint64_t state;

/* SplitMix64: Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014. */
static uint64_t draw(void) {
    uint64_t z = (state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static double draw_real(double least, double most) {
    return least + (most - least) * (double)(draw() >> 11) * 0x1p-53;
}

static int one_in(unsigned n) {
    return draw() % n == 0;
}

/* A need as people have them: keys and a rate; one in sixteen gives bytes, which takes a search of
 * searches. */
static unsigned draw_need(double *need) {
    memset(need, 0, NEEDS * sizeof *need);
    const double n = floor(exp2(draw_real(0, 36)));
    const double fpr = exp2(-draw_real(1, 24));
    const unsigned question = (unsigned)(draw() % 32);
    need[0] = question == 0 ? 0 : n;
    need[1] = question == 1 ? 0 : fpr;
    need[9] = question <= 1 ? floor(n * draw_real(0.8, 4)) + 256 : 0;
    need[2] = one_in(8) ? (double)(1 + draw() % 14) : 0;
    need[3] = one_in(3);
    need[4] = one_in(6);
    need[5] = one_in(6);
    need[6] = one_in(6) ? (double)(2 + draw() % 30) : 0;
    need[7] = one_in(12) ? (double)(1 + draw() % 8) : 0;
    need[8] = one_in(4) ? (double)(draw() % 5) : 0;
    need[10] = one_in(8) ? draw_real(0, 1) : 0;
    need[11] = one_in(8) ? draw_real(1, 4) : 0;
    need[12] = one_in(8) ? exp2(-draw_real(1, 60)) : 0;
    need[13] = need[8] == 4 && one_in(2) ? draw_real(0.1, 4) : 0;
    need[14] = need[3] != 0 && one_in(2) ? (double)(1 + draw() % 100) : 0;
    need[15] = one_in(8);
    need[17] = one_in(16) ? (double)(1 + draw() % 60) : 0;
    return one_in(10) ? (unsigned)(1 + draw() % 64) : 0;
}

int main(int argc, char **argv) {
    if (argc != 3)
        return 2;
    const long rows = strtol(argv[1], NULL, 10);
    state = strtoull(argv[2], NULL, 10);
    double *const numbers = web_numbers();
    for (long made = 0; made < rows;) {
        const unsigned threads = draw_need(numbers);
        printf("need");
        for (int i = 0; i < NEEDS; i++)
            printf(" %.17g", numbers[i]);
        printf(" %u\n", threads);
        const int n = threads > 0 ? web_plan_shared(threads) : web_plan(1);
        printf("plans %d\n", n);
        for (int i = 0; i < n; i++) {
            for (int k = 0; k < PLAN; k++)
                printf("%.17g ", numbers[i * PLAN + k]);
            putchar('\n');
        }
        made += n > 0 ? n : 1;
    }
    return 0;
}
