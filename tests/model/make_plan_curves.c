/* make_plan_curves.c - writes src/plan/quick_tables.h
 *
 *     cc -O2 -Isrc -Iinclude tests/model/make_plan_curves.c build/release/libtamis-model.a -lm -o make_curves
 *     ./make_curves > src/plan/quick_tables.h
 *
 * It takes some minutes.  tests/model/test_plan_quick.c computes some of the rows again.
 *
 * SPDX-License-Identifier: MIT
 */
#include "plan_curves.h"

#include <stdio.h>

static const char head[] = "/* quick_tables.h - curves of keys per line, for quick.c\n"
                           " *\n"
                           " * Do not edit: tests/model/make_plan_curves.c writes it.\n"
                           " *\n"
                           " * SPDX-License-Identifier: MIT\n"
                           " */\n"
                           "#ifndef TAMIS_PLAN_QUICK_TABLES_H\n"
                           "#define TAMIS_PLAN_QUICK_TABLES_H\n"
                           "\n"
                           "#include \"plan/quick.h\"\n"
                           "\n"
                           "/* clang-format off */\n";

/* Rows are left out at the beginning where there is no shape. */
int main(void) {
    static const char *const upper[CURVE_KINDS] = {"BLOCKED", "LINE", "WAY"};
    printf("%s", head);
    for (unsigned kind = 0; kind < CURVE_KINDS; kind++) {
        printf("\n#define TAMIS_I_CURVE_%s_FIRST %g\n", upper[kind], curves[kind].first);
        printf("#define TAMIS_I_CURVE_%s_ROWS  %uu\n", upper[kind], curves[kind].rows);
        printf("\nstatic const tamis_i_curve_row tamis_i_curve_%s[TAMIS_I_CURVE_%s_ROWS] = {\n",
               curves[kind].name, upper[kind]);
        for (unsigned i = 0; i < curves[kind].rows; i++) {
            tamis_i_curve row;
            if (!curve_row((curve_kind)kind, i, &row)) {
                fprintf(stderr, "%s: no row %u\n", curves[kind].name, i);
                return 1;
            }
            printf("    {%.0f, %.0f, %.4ef, %.0f, %.0f, %.0f, %u, %u, %u},\n", 1e6 * row.load,
                   1e6 * row.gain, row.half, 1e4 * row.half_gain, 1e4 * row.query, 1e4 * row.insert,
                   row.of, row.cap, row.limit);
            fflush(stdout);
        }
        printf("};\n");
    }
    printf("\n/* clang-format on */\n\n#endif\n");
    return 0;
}
