# What `cmake --install` puts where: the program with its completions and manual page, the JSON
# Schemas under share/kernelindex/schemas, the libraries with their headers under
# include/kernelindex, and the package for find_package(kernelindex).
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/kernelindex)
set(header_dir ${CMAKE_INSTALL_INCLUDEDIR}/kernelindex)

set(libraries "")
foreach(library schema log evidence ledger ingest audit verify)
  if(TARGET kernelindex_${library})
    set_target_properties(kernelindex_${library} PROPERTIES EXPORT_NAME ${library})
    list(APPEND libraries kernelindex_${library})
  endif()
endforeach()
install(TARGETS ${libraries}
  EXPORT kernelindexTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  FILE_SET HEADERS DESTINATION ${header_dir}
  INCLUDES DESTINATION ${header_dir})
install(EXPORT kernelindexTargets NAMESPACE kernelindex:: DESTINATION ${package_dir})

configure_package_config_file(
  ${CMAKE_CURRENT_LIST_DIR}/kernelindexConfig.cmake.in
  ${PROJECT_BINARY_DIR}/kernelindexConfig.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/kernelindexConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/kernelindexConfig.cmake
  ${PROJECT_BINARY_DIR}/kernelindexConfigVersion.cmake
  DESTINATION ${package_dir})

install(TARGETS kernelindex kernelindex-runner RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(FILES ${PROJECT_BINARY_DIR}/tools/kernelindex.bash
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME kernelindex)
install(FILES ${PROJECT_BINARY_DIR}/tools/_kernelindex
  DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${PROJECT_BINARY_DIR}/tools/kernelindex.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(DIRECTORY ${PROJECT_BINARY_DIR}/share/kernelindex/schemas
  DESTINATION ${CMAKE_INSTALL_DATADIR}/kernelindex)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/README.md
  DESTINATION ${CMAKE_INSTALL_DOCDIR})
