# A 32-bit machine.  An x86-64 machine runs its programs as they are; they are linked statically, so that
# it needs no 32-bit libraries.  Doubles are those of SSE2, as on every other machine: the x87 unit would keep
# more bits than a double has.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR i686)
set(CMAKE_C_COMPILER i686-linux-gnu-gcc)
set(CMAKE_C_FLAGS_INIT "-msse2 -mfpmath=sse")
set(CMAKE_EXE_LINKER_FLAGS_INIT -static)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
