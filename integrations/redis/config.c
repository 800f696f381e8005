/* config.c - CONFIG SET tamis.*
 *
 * SPDX-License-Identifier: MIT
 */
#include "commands.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#define MAX_BYTES_DEFAULT ((long long)4 << 30)

config settings = {10000, 0.01, false, false};

static long long config_get_capacity(const char *name, void *data) {
    (void)name;
    (void)data;
    return settings.capacity;
}

static int config_set_capacity(const char *name, long long value, void *data,
                               server_string **error) {
    (void)name;
    (void)data;
    (void)error;
    settings.capacity = value;
    return SERVER_OK;
}

static long long config_get_max_bytes(const char *name, void *data) {
    (void)name;
    (void)data;
    return (long long)atomic_load(&set_max_bytes);
}

static int config_set_max_bytes(const char *name, long long value, void *data,
                                server_string **error) {
    (void)name;
    (void)data;
    (void)error;
    atomic_store(&set_max_bytes, (uint64_t)value);
    return SERVER_OK;
}

static int config_get_flag(const char *name, void *data) {
    (void)name;
    return *(const bool *)data;
}

static int config_set_flag(const char *name, int value, void *data, server_string **error) {
    (void)name;
    (void)error;
    *(bool *)data = value != 0;
    return SERVER_OK;
}

/* The server keeps no copy of what is told here: we do, until it asks again. */
static server_string *config_get_fpr(const char *name, void *data) {
    (void)name;
    (void)data;
    static server_string *told;
    char text[32];
    const int n = snprintf(text, sizeof text, "%g", settings.fpr);
    if (told != NULL)
        server.FreeString(NULL, told);
    told = server.CreateString(NULL, text, (size_t)n);
    return told;
}

static int config_set_fpr(const char *name, server_string *value, void *data,
                          server_string **error) {
    (void)name;
    (void)data;
    static const char range[] = "must be an error rate above 0 and below 1";
    if (argument_rate(value, &settings.fpr))
        return SERVER_OK;
    *error = server.CreateString(NULL, range, sizeof range - 1);
    return SERVER_ERR;
}

bool config_register(server_context *ctx) {
    return server.RegisterNumericConfig(ctx, "capacity", 10000, 0, 1, (long long)TAMIS_CAPACITY_MAX,
                                        config_get_capacity, config_set_capacity, NULL,
                                        NULL) == SERVER_OK &&
           server.RegisterStringConfig(ctx, "error-rate", "0.01", 0, config_get_fpr, config_set_fpr,
                                       NULL, NULL) == SERVER_OK &&
           server.RegisterBoolConfig(ctx, "deletes", 0, 0, config_get_flag, config_set_flag, NULL,
                                     &settings.deletes) == SERVER_OK &&
           server.RegisterNumericConfig(ctx, "max-bytes", MAX_BYTES_DEFAULT, SERVER_CONFIG_MEMORY,
                                        1, LLONG_MAX, config_get_max_bytes, config_set_max_bytes,
                                        NULL, NULL) == SERVER_OK &&
           server.RegisterBoolConfig(ctx, "compat", 0, SERVER_CONFIG_IMMUTABLE, config_get_flag,
                                     config_set_flag, NULL, &settings.compat) == SERVER_OK &&
           server.LoadConfigs(ctx) == SERVER_OK;
}
