/* digests.h - the digests of a column, collected until their number is known
 *
 * Each takes 16 bytes, of which work_mem are held and the rest are in temporary files.  They are told
 * without repetition and in an order that depends on nothing but themselves: whoever collected them, in
 * whatever order, tells the same.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_POSTGRESQL_DIGESTS_H
#define TAMIS_POSTGRESQL_DIGESTS_H

#include <postgres.h>

#include <lib/stringinfo.h>

#include <tamis/tamis.h>

typedef struct digests digests;
typedef struct digests_reader digests_reader;

/* Files, if it comes to that, are closed when the context is reset, also after an error. */
digests *digests_new(MemoryContext context);
void digests_add(digests *all, tamis_digest digest);

/* Read all of them, each once.  The reader, in the current context, is valid until one more is added.  'next'
 * answers how many were stored, 0 at the end. */
digests_reader *digests_read(digests *all);
size_t digests_next(digests_reader *reader, tamis_digest *to, size_t room);
void digests_close(digests_reader *reader);
uint64 digests_count(digests *all);

/* From a worker to its leader.  What is in files goes through a file, and only its name is sent: a
 * message has 1 GB at most.  'receive' adds to 'all' what a message has, whose files it deletes. */
void digests_send(digests *all, StringInfo message);
void digests_receive(digests *all, StringInfo message);

/* Delete the files of messages that nobody has received when a transaction ends. */
void digests_define(void);

#endif
