#include "ptx/module.h"

#include <array>
#include <atomic>

#include "ptx/program.h"

namespace optiml::ptx {
namespace {

struct TypeFacts {
  std::string_view name;
  uint32_t bytes;
};

// In the order of the enumeration.
constexpr std::array<TypeFacts, 28> kTypes{{
    {"", 0},       {"pred", 1},   {"b8", 1},    {"b16", 2},   {"b32", 4},   {"b64", 8},
    {"b128", 16},  {"u8", 1},     {"u16", 2},   {"u32", 4},   {"u64", 8},   {"s8", 1},
    {"s16", 2},    {"s32", 4},    {"s64", 8},   {"f16", 2},   {"f16x2", 4}, {"bf16", 2},
    {"bf16x2", 4}, {"f32", 4},    {"f64", 8},   {"tf32", 4},  {"e4m3", 1},  {"e5m2", 1},
    {"e4m3x2", 2}, {"e5m2x2", 2}, {"u16x2", 4}, {"s16x2", 4},
}};

uint64_t NextModuleId() {
  static std::atomic<uint64_t> next{1};
  return next++;
}

uint64_t SharedBytesOf(const std::vector<Variable>& variables, uint64_t bytes) {
  for (const Variable& variable : variables) {
    if (variable.space == Space::kShared && !variable.is_extern) {
      bytes = (bytes + variable.alignment - 1) / variable.alignment * variable.alignment +
              variable.bytes;
    }
  }
  return bytes;
}

}  // namespace

std::string_view TypeName(Type type) {
  return kTypes[static_cast<size_t>(type)].name;
}

Type ParseType(std::string_view name) {
  for (size_t i = 1; i < kTypes.size(); ++i) {
    if (kTypes[i].name == name) {
      return static_cast<Type>(i);
    }
  }
  return Type::kNone;
}

uint32_t TypeBytes(Type type) {
  return kTypes[static_cast<size_t>(type)].bytes;
}

uint64_t Function::StaticSharedBytes() const {
  return SharedBytesOf(variables, 0);
}

Module::Module() : id_(NextModuleId()), programs_(std::make_shared<ProgramCache>()) {}

const Function* Module::FindFunction(std::string_view function_name) const {
  const Function* declaration = nullptr;
  for (const Function& function : functions) {
    if (function.name == function_name) {
      if (!function.is_declaration) {
        return &function;
      }
      declaration = &function;
    }
  }
  return declaration;
}

const Function* Module::FindKernel(std::string_view kernel_name) const {
  const Function* function = FindFunction(kernel_name);
  return function != nullptr && function->is_entry ? function : nullptr;
}

const Variable* Module::FindVariable(std::string_view variable_name) const {
  for (const Variable& variable : variables) {
    if (variable.name == variable_name) {
      return &variable;
    }
  }
  return nullptr;
}

std::vector<std::string> Module::KernelNames() const {
  std::vector<std::string> names;
  for (const Function& function : functions) {
    if (function.is_entry && !function.is_declaration) {
      names.push_back(function.name);
    }
  }
  return names;
}

uint64_t Module::StaticSharedBytes(std::string_view kernel_name) const {
  const Function* kernel = FindKernel(kernel_name);
  return kernel == nullptr ? 0 : SharedBytesOf(kernel->variables, SharedBytesOf(variables, 0));
}

}  // namespace optiml::ptx
