# Filters of others, for 'tamis bench': bench/peer_<name>.c or .cc is compiled in where its library is
# found, with TAMIS_PEER_<NAME> defined.  Included where the target tamis_cli is made.
function(tamis_peer name source header libraries)
  string(TOUPPER ${name} NAME)
  find_path(${NAME}_INCLUDE_DIR ${header} PATH_SUFFIXES ${name})
  set(found TRUE)
  set(files "")
  foreach(library ${libraries})
    find_library(${NAME}_${library}_LIBRARY ${library})
    if(NOT ${NAME}_${library}_LIBRARY)
      set(found FALSE)
    endif()
    list(APPEND files ${${NAME}_${library}_LIBRARY})
  endforeach()
  if(${NAME}_INCLUDE_DIR AND found)
    message(STATUS "peer ${name}: ${files}")
    target_sources(tamis_cli PRIVATE ${PROJECT_SOURCE_DIR}/bench/${source})
    target_include_directories(tamis_cli SYSTEM PRIVATE ${${NAME}_INCLUDE_DIR})
    target_link_libraries(tamis_cli PRIVATE ${files})
    target_compile_definitions(tamis_cli PRIVATE TAMIS_PEER_${NAME}=1)
  else()
    message(STATUS "peer ${name}: not found")
  endif()
endfunction()

tamis_peer(libbloom peer_libbloom.c bloom.h bloom)

# DPDK's headers lie in two folders; what depends on the machine in that of the machine.
tamis_peer(dpdk peer_dpdk.c rte_member.h "rte_member;rte_eal")
find_path(DPDK_MACHINE_INCLUDE_DIR rte_config.h PATH_SUFFIXES dpdk)
if(DPDK_MACHINE_INCLUDE_DIR)
  target_include_directories(tamis_cli SYSTEM PRIVATE ${DPDK_MACHINE_INCLUDE_DIR})
endif()

# LevelDB is C++, which nothing else here needs.
include(CheckLanguage)
check_language(CXX)
if(CMAKE_CXX_COMPILER)
  enable_language(CXX)
  tamis_peer(leveldb peer_leveldb.cc leveldb/filter_policy.h leveldb)
  tamis_peer(leveldb_table peer_leveldb_table.c leveldb/c.h leveldb)
endif()

# For 'tamis table bench --peers'.
tamis_peer(sqlite peer_sqlite.c sqlite3.h sqlite3)
tamis_peer(lmdb peer_lmdb.c lmdb.h lmdb)
