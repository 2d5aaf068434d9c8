#include "generate/dtype_holes.h"

#include "task/toml_document.h"

namespace optiml {

std::map<std::string, std::string> DTypeHoles(DType dtype) {
  std::map<std::string, std::string> holes;
  const auto document = ParseToml(EmbeddedDTypes()[0].text, "dtypes.toml");
  const TomlEntry* entry = document ? document->Find(DTypeName(dtype)) : nullptr;
  if (entry != nullptr) {
    for (const TomlEntry& hole : entry->value.entries) {
      holes[hole.key] = hole.value.string;
    }
  }
  holes["dtype"] = DTypeName(dtype);
  return holes;
}

}  // namespace optiml
