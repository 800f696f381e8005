/* plot_data.h - the numbers behind the plots in docs/models.md
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_PLOT_DATA_H
#define TAMIS_PLOT_DATA_H

#include <stdbool.h>

/* Write the data files of scripts/figures.sh, computed by the models, into the folder 'folder'.
 * On failure false, and '*failed' is the name of the file that could not be written. */
bool plot_data_write(const char *folder, const char **failed);

#endif
