/* make_plan_curves.c - writes src/plan/quick_tables.h
 *
 *     cc -O2 -Isrc -Iinclude tests/model/make_plan_curves.c build/release/libtamis-model.a -lm -o make_curves
 *     ./make_curves > src/plan/quick_tables.h
 *
 * tests/model/test_plan_quick.c computes some of the rows again.
 *
 * SPDX-License-Identifier: MIT
 */
#include "plan_curves.h"

#include <stdio.h>

static const char head[] = "/* quick_tables.h - curves of keys per block, for quick.c\n"
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

int main(void) {
    printf("%s\n#define TAMIS_I_CURVE_BLOCKED_FIRST %d\n", head, CURVE_FIRST);
    printf("#define TAMIS_I_CURVE_BLOCKED_ROWS  %uu\n", CURVE_ROWS);
    printf("\nstatic const tamis_i_curve_row "
           "tamis_i_curve_blocked[TAMIS_I_CURVE_BLOCKED_ROWS] = {\n");
    for (unsigned i = 0; i < CURVE_ROWS; i++) {
        const tamis_i_curve row = curve_row(i);
        printf("    {%.0f, %.0f, %.4ef, %.0f, %u, %u},\n", 1e6 * row.load, 1e6 * row.gain, row.half,
               1e4 * row.half_gain, row.hashes, row.lanes);
    }
    printf("};\n\n/* clang-format on */\n\n#endif\n");
    return 0;
}
