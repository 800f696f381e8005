# Filters of others, for 'tamis bench': bench/peer_<name>.c is compiled in where its library is found,
# with TAMIS_PEER_<NAME> defined.  Included where the target tamis_cli is made.
function(tamis_peer name header library)
  set(source ${PROJECT_SOURCE_DIR}/bench/peer_${name}.c)
  string(TOUPPER ${name} NAME)
  find_path(${NAME}_INCLUDE_DIR ${header})
  find_library(${NAME}_LIBRARY ${library})
  if(${NAME}_INCLUDE_DIR AND ${NAME}_LIBRARY)
    message(STATUS "peer ${name}: ${${NAME}_LIBRARY}")
    target_sources(tamis_cli PRIVATE ${source})
    target_include_directories(tamis_cli SYSTEM PRIVATE ${${NAME}_INCLUDE_DIR})
    target_link_libraries(tamis_cli PRIVATE ${${NAME}_LIBRARY})
    target_compile_definitions(tamis_cli PRIVATE TAMIS_PEER_${NAME}=1)
  else()
    message(STATUS "peer ${name}: not found")
  endif()
endfunction()

tamis_peer(libbloom bloom.h bloom)
# LevelDB's Bloom filter is not among them yet: its C interface (leveldb/c.h) makes the policy but gives
# no way to ask it, so that the peer must be written in C++.

# For 'tamis table bench --peers'.
tamis_peer(sqlite sqlite3.h sqlite3)
tamis_peer(lmdb lmdb.h lmdb)
