# What `make install` puts where: program, libraries, the one header, pkg-config file,
# CMake package, man page, completion, licence.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/krein)

install(FILES include/krein.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
if(TARGET krein)
  install(TARGETS krein RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  install(FILES ${CMAKE_BINARY_DIR}/krein.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 OPTIONAL)
  install(FILES ${CMAKE_BINARY_DIR}/krein.bash
          DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
          RENAME krein OPTIONAL)
endif()

if(TARGET krein_mpi)
  install(TARGETS krein_mpi LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/krein)
endif()

# Two export sets: who uses the shared library needs none of the dependencies.
install(TARGETS krein_shared EXPORT shared LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS krein_static EXPORT static ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT shared NAMESPACE krein:: FILE kreinShared.cmake DESTINATION ${package_dir})
install(EXPORT static NAMESPACE krein:: FILE kreinStatic.cmake DESTINATION ${package_dir})
configure_package_config_file(cmake/kreinConfig.cmake.in
                              ${CMAKE_BINARY_DIR}/cmake/kreinConfig.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/cmake/kreinConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/cmake/kreinConfig.cmake
              ${CMAKE_BINARY_DIR}/cmake/kreinConfigVersion.cmake DESTINATION ${package_dir})

# The .pc file finds its prefix from where it lies, so that DESTDIR and
# `cmake --install --prefix` need no second configuration.
if(IS_ABSOLUTE ${CMAKE_INSTALL_LIBDIR} OR IS_ABSOLUTE ${CMAKE_INSTALL_INCLUDEDIR})
  set(pc_prefix ${CMAKE_INSTALL_PREFIX})
  set(pc_libdir ${CMAKE_INSTALL_FULL_LIBDIR})
  set(pc_includedir ${CMAKE_INSTALL_FULL_INCLUDEDIR})
else()
  file(RELATIVE_PATH up /p/${CMAKE_INSTALL_LIBDIR}/pkgconfig /p)
  string(REGEX REPLACE "/$" "" up "${up}")
  set(pc_prefix "\${pcfiledir}/${up}")
  set(pc_libdir "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
  set(pc_includedir "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
endif()
list(JOIN OPENBLAS_LDFLAGS " " pc_openblas)
list(JOIN XXHASH_LDFLAGS " " pc_xxhash)
string(REGEX REPLACE "(.+)" " -l\\1" pc_dl "${CMAKE_DL_LIBS}")
set(pc_private "${pc_openblas} ${pc_xxhash} -lz ${OpenMP_C_FLAGS}${pc_dl} -lm")
configure_file(cmake/krein.pc.in ${CMAKE_BINARY_DIR}/krein.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/krein.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
