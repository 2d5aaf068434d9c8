// Launches: kernel<<<...>>>(...), cudaLaunchKernel, cudaLaunchCooperativeKernel,
// cudaLaunchKernelEx.

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "frontend/interpreter.h"
#include "frontend/launch_rules.h"

namespace optiml::frontend {

namespace {

constexpr int64_t kAttributeCooperative = 2;  // cudaLaunchAttributeID
constexpr int64_t kAttributeCluster = 4;

// The bytes of a CUtensorMap in an interpreted launcher: a mark and the number of the map.
constexpr std::string_view kTensorMapType = "CUtensorMap_st";
constexpr size_t kTensorMapBytes = 128;
constexpr uint64_t kTensorMapMark = 0x50414d524f534e54;
constexpr uint64_t kMaxTensorRank = 5;

}  // namespace

Dim3 Interpreter::ReadDim3(const HostValue& value) const {
  uint32_t parts[3] = {1, 1, 1};
  if (value.bytes.size() < sizeof(parts)) {
    CannotFollow("a launch shape is no dim3");
  }
  std::memcpy(parts, value.bytes.data(), sizeof(parts));
  return {parts[0], parts[1], parts[2]};
}

KernelArgument Interpreter::MakeKernelArgument(const HostValue& value) {
  if (value.type->kind == ast::TypeKind::kPointer) {
    return CheckedPointer(static_cast<uint64_t>(value.integer), "kernel argument");
  }
  if (IsClosure(*value.type)) {
    CannotFollow(
        "a kernel argument is a lambda of the launcher: device code is compiled without the "
        "launcher; a struct with operator() does the same");
  }
  if (value.type->kind == ast::TypeKind::kOther && value.type->bits == 0) {
    CannotFollow(fmt::format("a kernel argument of type {} cannot be traced", value.type->text));
  }
  std::vector<std::byte> bytes = EncodeValue(value);
  if (value.type->text.find(kTensorMapType) != std::string::npos &&
      bytes.size() == kTensorMapBytes) {
    uint64_t words[2] = {0, 0};
    std::memcpy(words, bytes.data(), sizeof(words));
    if (words[0] != kTensorMapMark || words[1] >= tensor_maps_.size()) {
      Refuse("a kernel argument is a CUtensorMap that cuTensorMapEncodeTiled did not fill");
    }
    CheckAlive(tensor_maps_[words[1]].tensor, "tensor map as a kernel argument");
    return tensor_maps_[words[1]];
  }
  if (KindOf(*value.type) != ValueKind::kBytes) {
    return bytes;
  }
  StructArgument argument;
  for (const auto& [position, type] : PointerFields(*value.type)) {
    uint64_t address = 0;
    std::memcpy(&address, bytes.data() + position, sizeof(address));
    if (address != 0) {
      argument.pointers.push_back({position, CheckedPointer(address, "kernel argument")});
      std::memset(bytes.data() + position, 0, sizeof(address));
    }
  }
  if (argument.pointers.empty()) {
    return bytes;
  }
  argument.bytes = std::move(bytes);
  return argument;
}

void Interpreter::EncodeTensorMap(const ast::Expr& expr) {
  const auto operand = [&](size_t i) -> const ast::Expr& { return *expr.operands[i]; };
  const auto address = static_cast<uint64_t>(EvaluateInteger(operand(0)));
  TensorMapArgument map;
  map.data_type = static_cast<int>(EvaluateInteger(operand(1)));
  const auto rank = static_cast<uint64_t>(EvaluateInteger(operand(2)));
  if (rank < 1 || rank > kMaxTensorRank) {
    Refuse(fmt::format("cuTensorMapEncodeTiled of rank {} (1 to {} are possible)",
                       static_cast<int64_t>(rank), kMaxTensorRank));
  }
  map.tensor = CheckedPointer(static_cast<uint64_t>(EvaluateInteger(operand(3))),
                              "tensor of cuTensorMapEncodeTiled");
  const auto numbers = [&](size_t i, uint64_t count, auto& into) {
    const HostValue array = Evaluate(operand(i));
    const ast::TypePtr& element = array.type->element;
    for (uint64_t k = 0; k < count; ++k) {
      const int64_t value =
          Load(static_cast<uint64_t>(array.integer) + k * element->size_bytes, element).integer;
      into.push_back(static_cast<typename std::decay_t<decltype(into)>::value_type>(value));
    }
  };
  numbers(4, rank, map.dimensions);
  numbers(5, rank - 1, map.strides_bytes);
  numbers(6, rank, map.box);
  numbers(7, rank, map.element_strides);
  map.interleave = static_cast<int>(EvaluateInteger(operand(8)));
  map.swizzle = static_cast<int>(EvaluateInteger(operand(9)));
  map.promotion = static_cast<int>(EvaluateInteger(operand(10)));
  map.fill = static_cast<int>(EvaluateInteger(operand(11)));
  HostObject* object = memory_.Find(address, kTensorMapBytes);
  if (object == nullptr) {
    Refuse("cuTensorMapEncodeTiled writes through an invalid host pointer");
  }
  const uint64_t offset = HostMemory::OffsetOf(address);
  const uint64_t words[2] = {kTensorMapMark, tensor_maps_.size()};
  std::memset(object->bytes.data() + offset, 0, kTensorMapBytes);
  std::memcpy(object->bytes.data() + offset, words, sizeof(words));
  std::fill_n(object->states.begin() + static_cast<std::ptrdiff_t>(offset), kTensorMapBytes,
              ByteState::kPlain);
  tensor_maps_.push_back(std::move(map));
}

int Interpreter::FunctionOperand(const ast::Expr& expr) {
  const auto function = HostMemory::AsFunction(static_cast<uint64_t>(Evaluate(expr).integer));
  if (!function.has_value() || !unit_.functions[static_cast<size_t>(*function)].is_kernel) {
    CannotFollow("a kernel is expected here");
  }
  return *function;
}

std::string Interpreter::OverflowNote() const {
  return overflow_.empty() ? "" : fmt::format(" ({})", overflow_);
}

void Interpreter::AddLaunch(KernelLaunch launch, int function, uint64_t stream) {
  if (++launches_ > limits_.launches) {
    Refuse(fmt::format("launcher makes more than {} launches", limits_.launches));
  }
  if (const std::string fault = LaunchShapeFault(launch); !fault.empty()) {
    Fault(fault + OverflowNote());
  }
  const ast::Function& kernel = unit_.functions[static_cast<size_t>(function)];
  if (kernel.body == nullptr) {
    Refuse(fmt::format("launcher launches {}, which the file declares and does not define",
                       kernel.name));
  }
  ApplyClusterDims(kernel, launch);
  launch.line = line_;
  Issue(stream, LaunchAccesses(unit_, kernel, launch));
  plan_.steps.emplace_back(std::move(launch));
}

void Interpreter::Launch(const ast::Expr& expr) {
  int function = expr.function;
  if (function < 0 && expr.variable >= 0) {
    const HostValue callee =
        Load(VariableAddress(expr), unit_.variables[static_cast<size_t>(expr.variable)].type);
    function = HostMemory::AsFunction(static_cast<uint64_t>(callee.integer)).value_or(-1);
  }
  if (function < 0) {
    CannotFollow(
        fmt::format("launcher launches \"{}\", which is no kernel of the file", expr.name));
  }
  const ast::Function& kernel = unit_.functions[static_cast<size_t>(function)];
  KernelLaunch launch;
  launch.kernel = kernel.name_expression;
  const int line = line_;
  launch.grid = ReadDim3(Evaluate(*expr.operands[0]));
  launch.block = ReadDim3(Evaluate(*expr.operands[1]));
  launch.dynamic_shared_bytes = static_cast<uint64_t>(EvaluateInteger(*expr.operands[2]));
  const auto stream = static_cast<uint64_t>(EvaluateInteger(*expr.operands[3]));
  for (size_t i = 4; i < expr.operands.size(); ++i) {
    HostValue value = Evaluate(*expr.operands[i]);
    if (i - 4 < kernel.parameters.size()) {
      const ast::TypePtr& type =
          unit_.variables[static_cast<size_t>(kernel.parameters[i - 4])].type;
      value = Convert(value, type);
    }
    launch.arguments.push_back(MakeKernelArgument(value));
  }
  line_ = line;
  AddLaunch(std::move(launch), function, stream);
}

void Interpreter::LaunchThroughArray(const ast::Expr& expr, bool is_cooperative) {
  const int function = FunctionOperand(*expr.operands[0]);
  const ast::Function& kernel = unit_.functions[static_cast<size_t>(function)];
  KernelLaunch launch;
  launch.kernel = kernel.name_expression;
  launch.cooperative = is_cooperative;
  launch.grid = ReadDim3(Evaluate(*expr.operands[1]));
  launch.block = ReadDim3(Evaluate(*expr.operands[2]));
  const HostValue array = Evaluate(*expr.operands[3]);
  if (expr.operands.size() > 4) {
    launch.dynamic_shared_bytes = static_cast<uint64_t>(EvaluateInteger(*expr.operands[4]));
  }
  for (size_t i = 0; i < kernel.parameters.size(); ++i) {
    const ast::TypePtr& type = unit_.variables[static_cast<size_t>(kernel.parameters[i])].type;
    const HostValue slot = Load(static_cast<uint64_t>(array.integer) + i * 8, array.type);
    launch.arguments.push_back(MakeKernelArgument(Load(static_cast<uint64_t>(slot.integer), type)));
  }
  const uint64_t stream = expr.operands.size() > 5
                              ? static_cast<uint64_t>(EvaluateInteger(*expr.operands[5]))
                              : StreamOrder::kDefault;
  AddLaunch(std::move(launch), function, stream);
}

void Interpreter::LaunchWithConfig(const ast::Expr& expr) {
  const auto address = static_cast<uint64_t>(Evaluate(*expr.operands[0]).integer);
  const ast::TypePtr type = expr.operands[0]->type->element;
  const int function = FunctionOperand(*expr.operands[1]);
  const ast::Function& kernel = unit_.functions[static_cast<size_t>(function)];
  const auto field = [&](const char* name) {
    const ast::Field& found = FindField(*type, name);
    return Load(address + found.offset_bytes, found.type);
  };
  KernelLaunch launch;
  launch.kernel = kernel.name_expression;
  launch.grid = ReadDim3(field("gridDim"));
  launch.block = ReadDim3(field("blockDim"));
  launch.dynamic_shared_bytes = static_cast<uint64_t>(field("dynamicSmemBytes").integer);
  const int64_t count = field("numAttrs").integer;
  if (count > 0) {
    const HostValue attributes = field("attrs");
    const ast::Type& entry = *attributes.type->element;
    for (int64_t i = 0; i < count; ++i) {
      const uint64_t at =
          static_cast<uint64_t>(attributes.integer) + static_cast<uint64_t>(i) * entry.size_bytes;
      const ast::Field& id = FindField(entry, "id");
      const ast::Field& value = FindField(entry, "val");
      const int64_t number = Load(at + id.offset_bytes, id.type).integer;
      if (number == kAttributeCooperative) {
        launch.cooperative = Load(at + value.offset_bytes, IntType()).integer != 0;
      } else if (number == kAttributeCluster) {
        const uint64_t dims = at + value.offset_bytes;
        launch.cluster = {static_cast<uint32_t>(Load(dims, IntType()).integer),
                          static_cast<uint32_t>(Load(dims + 4, IntType()).integer),
                          static_cast<uint32_t>(Load(dims + 8, IntType()).integer)};
      } else {
        Refuse(fmt::format("cudaLaunchKernelEx with attribute {}, which cannot be traced", number));
      }
    }
  }
  for (size_t i = 2; i < expr.operands.size(); ++i) {
    HostValue value = Evaluate(*expr.operands[i]);
    if (i - 2 < kernel.parameters.size()) {
      value = Convert(value, unit_.variables[static_cast<size_t>(kernel.parameters[i - 2])].type);
    }
    launch.arguments.push_back(MakeKernelArgument(value));
  }
  AddLaunch(std::move(launch), function, static_cast<uint64_t>(field("stream").integer));
}

}  // namespace optiml::frontend
