/* module.c - the entry point: a server loads the module
 *
 * SPDX-License-Identifier: MIT
 */
#include "commands.h"

#define MODULE_NAME "tamis"
#define MODULE_VERSION                                                                             \
    (TAMIS_VERSION_MAJOR * 10000 + TAMIS_VERSION_MINOR * 100 + TAMIS_VERSION_PATCH)

/* The name is the server's; it is the only symbol that the module shows. */
TAMIS_API int RedisModule_OnLoad(server_context *ctx, server_string **argv, int argc);

int RedisModule_OnLoad(server_context *ctx, server_string **argv, int argc) {
    (void)argv;
    const char *const missing = server_connect(ctx);
    if (missing != NULL) {
        if (server.Log != NULL)
            server.Log(ctx, "warning", "tamis needs Redis 7.0 or Valkey: %s is missing", missing);
        return SERVER_ERR;
    }
    if (server.IsModuleNameBusy(MODULE_NAME))
        return SERVER_ERR;
    server.SetModuleAttribs(ctx, MODULE_NAME, MODULE_VERSION, 1);
    if (argc > 0) {
        server.Log(ctx, "warning",
                   "tamis takes no arguments: use CONFIG, as in 'tamis.compat yes'");
        return SERVER_ERR;
    }
    server.SetModuleOptions(ctx, SERVER_HANDLE_IO_ERRORS | SERVER_NO_IMPLICIT_SIGNAL);
    set_type = server.CreateDataType(ctx, SET_TYPE_NAME, SET_TYPE_VERSION, &set_methods);
    if (set_type == NULL || !config_register(ctx) || !commands_register(ctx, settings.compat) ||
        server.RegisterInfoFunc(ctx, report_totals) != SERVER_OK)
        return SERVER_ERR;
    return SERVER_OK;
}
