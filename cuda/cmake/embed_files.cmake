# Writes OUTPUT, a source file that holds FILES (paths below ROOT) as text, so that a runner that was
# carried somewhere brings its headers and kernels along.
#   cmake -DOUTPUT=... -DROOT=... -DFILES=a.h,b/c.h -P embed_files.cmake
string(REPLACE "," ";" FILES "${FILES}")
set(text "// Written by embed_files.cmake.\n#include \"cuda/embedded_files.h\"\n\n")
string(APPEND text "namespace kernelindex::runner {\n\nstd::span<const EmbeddedFile> embedded_files() {\n")
string(APPEND text "  static constexpr EmbeddedFile kFiles[] = {\n")
foreach(file IN LISTS FILES)
  file(READ ${ROOT}/${file} content HEX)
  string(REGEX REPLACE "(..)" "\\\\x\\1" content "${content}")
  string(LENGTH "${content}" length)
  # Literals of at most 8192 bytes: compilers need not take longer ones.
  set(at 0)
  set(literals "")
  while(at LESS length)
    string(SUBSTRING "${content}" ${at} 32768 piece)
    string(APPEND literals "\n       \"${piece}\"")
    math(EXPR at "${at} + 32768")
  endwhile()
  math(EXPR bytes "${length} / 4")
  string(APPEND text "      {\"${file}\", {${literals},\n        ${bytes}}},\n")
endforeach()
string(APPEND text "  };\n  return kFiles;\n}\n\n}  // namespace kernelindex::runner\n")
file(WRITE ${OUTPUT} "${text}")
