/* target.h - the sets of instructions that code is compiled for on 64-bit ARM, as hash/x86/target.h
 *
 * TAMIS_I_AES_ARM: the compiler has the AES instructions.  gcc has them for functions that ask; clang, of the
 * versions that we know, for whole files only.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TAMIS_HASH_ARM_TARGET_H
#define TAMIS_HASH_ARM_TARGET_H

#if defined(__aarch64__) && defined(__ARM_NEON) && !defined(__AARCH64EB__) && defined(__GNUC__)
#if !defined(__clang__)
#define TAMIS_I_AES_ARM    1
#define TAMIS_I_TARGET_AES __attribute__((target("+crypto"))) /* AES */
#elif defined(__ARM_FEATURE_AES) || defined(__ARM_FEATURE_CRYPTO)
#define TAMIS_I_AES_ARM 1
#define TAMIS_I_TARGET_AES
#endif
#endif

#endif
