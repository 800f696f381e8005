/* cli.h - what the subcommands share
 *
 * One file per subcommand: cmd_<name>.c defines cmd_<name>().  Each returns the exit code: 0 yes,
 * 1 no, 2 trouble.  Data goes to stdout, messages to stderr.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_CLI_H
#define TAMIS_CLI_H

enum { EXIT_YES = 0, EXIT_NO = 1, EXIT_TROUBLE = 2 };

int cmd_plan(int argc, char **argv);
int cmd_build(int argc, char **argv);
int cmd_query(int argc, char **argv);
int cmd_add(int argc, char **argv);
int cmd_remove(int argc, char **argv);
int cmd_info(int argc, char **argv);
int cmd_verify(int argc, char **argv);
int cmd_merge(int argc, char **argv);
int cmd_bench(int argc, char **argv);
int cmd_reproduce(int argc, char **argv);

#endif
