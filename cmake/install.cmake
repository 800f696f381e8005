# Install rules: libraries, headers, tool, manual, pages, completion, pkg-config file and CMake package.
# Everything installed finds its neighbours by relative paths, so the tree may be moved.
include(CMakePackageConfigHelpers)

install(TARGETS tamis_shared tamis_static tamis_model_shared tamis_model_static EXPORT tamis-targets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/tamis DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")

# The pages with all that they link to, in the folders that they have here.  Headers are elsewhere once
# they are installed, so links to them are made anew.
file(RELATIVE_PATH doc_to_include ${CMAKE_INSTALL_FULL_DOCDIR} ${CMAKE_INSTALL_FULL_INCLUDEDIR})
file(GLOB pages RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS docs/*.md)
foreach(page README.md CHANGELOG.md CONTRIBUTING.md packaging/README.md bindings/python/README.md ${pages})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${page})
  file(READ ${page} text)
  string(REPLACE "](include/" "](${doc_to_include}/" text "${text}")
  string(REPLACE "](../include/" "](../${doc_to_include}/" text "${text}")
  # Only if it is another one: somebody may be installing the page meanwhile, as tests do side by side.
  set(made ${CMAKE_CURRENT_BINARY_DIR}/package/doc/${page})
  set(old "")
  if(EXISTS ${made})
    file(READ ${made} old)
  endif()
  if(NOT text STREQUAL old)
    file(WRITE ${made} "${text}")
  endif()
endforeach()
install(DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/package/doc/ DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs/figures DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs FILES_MATCHING PATTERN "*.svg" PATTERN "*.png")

if(TAMIS_BUILD_CLI)
  install(TARGETS tamis_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  install(FILES cli/completion/tamis.bash RENAME tamis
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(FILES cli/completion/_tamis DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
  install(FILES cli/completion/tamis.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()
foreach(section 1 3 5)
  file(GLOB pages CONFIGURE_DEPENDS docs/man/*.${section})
  install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section})
endforeach()

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/tamis)
install(EXPORT tamis-targets NAMESPACE tamis:: DESTINATION ${package_dir})
configure_package_config_file(cmake/tamisConfig.cmake.in package/tamisConfig.cmake
  INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO)
# While the major version is 0, a minor version may break what an earlier one had.
write_basic_package_version_file(package/tamisConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/package/tamisConfig.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/package/tamisConfigVersion.cmake DESTINATION ${package_dir})

file(RELATIVE_PATH pc_to_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" pc_to_prefix "${pc_to_prefix}")
list(TRANSFORM tamis_threads PREPEND " -l" OUTPUT_VARIABLE pc_threads)
foreach(library tamis tamis-model)
  configure_file(cmake/${library}.pc.in package/${library}.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/package/${library}.pc
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
