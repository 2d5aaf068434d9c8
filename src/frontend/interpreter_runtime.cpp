// The CUDA runtime as a launcher sees it: every call succeeds; memory, copies and attributes become
// steps of the plan. Answers about the device are those of an H200 (launch_rules.h), whatever
// runs the plan, so that a plan is the same everywhere.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "frontend/interpreter.h"
#include "frontend/launch_rules.h"

namespace optiml::frontend {

namespace {

// Calls that change nothing in a plan: errors, preferences, hints. Those that wait for something
// are in interpreter_streams.cpp.
constexpr std::array<std::string_view, 13> kNoEffect = {"cudaGetLastError",
                                                        "cudaPeekAtLastError",
                                                        "cudaStreamDestroy",
                                                        "cudaEventDestroy",
                                                        "cudaFuncSetCacheConfig",
                                                        "cudaDeviceSetCacheConfig",
                                                        "cudaDeviceSetSharedMemConfig",
                                                        "cudaFuncSetSharedMemConfig",
                                                        "cudaMemPrefetchAsync",
                                                        "cudaProfilerStart",
                                                        "cudaProfilerStop",
                                                        "cudaMemAdvise",
                                                        "cudaInitDevice"};

// Limits that concern this kernel's own stack, heap and output; others change the device for
// everybody, and for later measurements (CUDA Runtime API 13.0, cudaLimit).
constexpr int64_t kLastOwnLimit = 4;

constexpr int64_t kHostToDevice = 1;
constexpr int64_t kDeviceToHost = 2;
constexpr int64_t kDeviceToDevice = 3;

// The name of the variable behind "&p", "(void**)&p" or "p".
std::string TargetName(const ast::Expr& expr) {
  if (expr.kind == ast::ExprKind::kVariable || expr.kind == ast::ExprKind::kMember) {
    return expr.name;
  }
  return expr.operands.empty() ? "scratch" : TargetName(*expr.operands[0]);
}

}  // namespace

void Interpreter::StoreThrough(const ast::Expr& pointer, int64_t value) {
  const auto address = static_cast<uint64_t>(Evaluate(pointer).integer);
  if (pointer.type->element == nullptr || KindOf(*pointer.type->element) != ValueKind::kInteger) {
    CannotFollow(fmt::format("launcher passes {} where a pointer to an integer belongs",
                             pointer.type->text));
  }
  Store(address, Convert(IntegerValue(value, pointer.type->element), pointer.type->element));
}

void Interpreter::Malloc(const ast::Expr& target, uint64_t size) {
  if (size > limits_.allocated_bytes || device_bytes_ + size > limits_.allocated_bytes) {
    Refuse(fmt::format("launcher allocates {} bytes, more than the {} allowed",
                       device_bytes_ + size, limits_.allocated_bytes));
  }
  std::string name = FreeBufferName(plan_, TargetName(target));
  const auto slot = static_cast<uint64_t>(Evaluate(target).integer);
  const int index = static_cast<int>(plan_.buffers.size());
  plan_.buffers.push_back({std::move(name), -1, size, line_});
  buffers_.emplace_back();
  device_bytes_ += size;
  StorePointer(slot, memory_.DeviceAddress(index));
}

namespace {

constexpr uint64_t kLegacyStream = 1;  // cudaStreamLegacy; 0 is the default stream, the same one

}  // namespace

uint64_t Interpreter::SymbolAddress(const ast::Expr& expr) {
  const ast::Expr* named = &expr;
  while (named->kind == ast::ExprKind::kCast && named->operands.size() == 1) {
    named = named->operands[0].get();
  }
  const ast::Variable* variable = named->kind == ast::ExprKind::kVariable && named->variable >= 0
                                      ? &unit_.variables[static_cast<size_t>(named->variable)]
                                      : nullptr;
  if (variable == nullptr || variable->symbol.empty()) {
    CannotFollow("a __device__ or __constant__ variable is expected here");
  }
  const auto same = [&](const PlanBuffer& buffer) { return buffer.symbol == variable->symbol; };
  const auto found = std::find_if(plan_.buffers.begin(), plan_.buffers.end(), same);
  const int index = static_cast<int>(found - plan_.buffers.begin());
  if (found == plan_.buffers.end()) {
    plan_.buffers.push_back(
        {variable->name, -1, StorageBytes(*variable->type), variable->line, variable->symbol});
    buffers_.emplace_back();
  }
  return memory_.DeviceAddress(index);
}

bool Interpreter::CallOnSymbol(const ast::Expr& expr, const std::string& name) {
  const auto integer = [&](size_t i) { return EvaluateInteger(*expr.operands[i]); };
  const size_t count = expr.operands.size();
  if (name == "cudaGetSymbolAddress" && count >= 2) {
    StorePointer(static_cast<uint64_t>(integer(0)), SymbolAddress(*expr.operands[1]));
    return true;
  }
  if ((name != "cudaMemcpyToSymbol" && name != "cudaMemcpyToSymbolAsync") || count < 3) {
    return false;
  }
  // Kernels use the variable without naming it in their launch, so that only the order of one
  // stream is known to hold.
  const bool has_stream = name.ends_with("Async") && count > 5;
  if (has_stream && static_cast<uint64_t>(integer(5)) > kLegacyStream) {
    Refuse("launcher copies to a module variable on a stream of its own, which cannot be traced");
  }
  stream_ = StreamOrder::kDefault;
  const uint64_t offset = count > 3 ? static_cast<uint64_t>(integer(3)) : 0;
  const int64_t kind = count > 4 ? integer(4) : kHostToDevice;
  const auto source = static_cast<uint64_t>(integer(1));
  const auto size = static_cast<uint64_t>(integer(2));
  Copy(SymbolAddress(*expr.operands[0]) + offset, source, size, kind);
  return true;
}

void Interpreter::StorePointer(uint64_t slot, uint64_t address) {
  auto pointer = std::make_shared<ast::Type>();
  pointer->kind = ast::TypeKind::kPointer;
  pointer->size_bytes = 8;
  pointer->element = VoidType();
  pointer->text = "void *";
  Store(slot, IntegerValue(static_cast<int64_t>(address), pointer));
}

void Interpreter::FreeDevice(uint64_t address) {
  if (address == 0) {
    return;
  }
  const DevicePointer pointer = CheckedPointer(address, "cudaFree");
  if (pointer.buffer < 0 || pointer.offset_bytes != 0) {
    Fault(kNoAllocationText);
  }
  const PlanBuffer& buffer = plan_.buffers[static_cast<size_t>(pointer.buffer)];
  if (buffer.argument >= 0) {
    Fault(fmt::format("launcher frees its argument \"{}\"", buffer.name));
  }
  if (!buffer.symbol.empty()) {
    Fault(kNoAllocationText);
  }
  buffers_[static_cast<size_t>(pointer.buffer)] = {false, line_};
  // It may be of an earlier call.
  device_bytes_ -= std::min(device_bytes_, buffer.size_bytes);
}

Interpreter::Held Interpreter::FindHeld() const {
  std::vector<bool> held(buffers_.size());
  std::vector<bool> seen(memory_.size());
  std::vector<size_t> open;
  const auto visit = [&](uint64_t address) {
    const size_t index = HostMemory::IndexOf(address);
    if (HostMemory::IsHost(address) && memory_.At(index) != nullptr && !seen[index]) {
      seen[index] = true;
      open.push_back(index);
    }
  };
  for (const auto& [id, address] : globals_) {
    visit(address);
  }
  while (!open.empty()) {
    const HostObject& object = *memory_.At(open.back());
    open.pop_back();
    for (size_t at = 0; at + sizeof(uint64_t) <= object.bytes.size(); at += sizeof(uint64_t)) {
      uint64_t word = 0;
      std::memcpy(&word, object.bytes.data() + at, sizeof(word));
      visit(word);
      const auto pointer = memory_.AsDevice(word);
      if (pointer && pointer->buffer >= 0 && static_cast<size_t>(pointer->buffer) < held.size()) {
        const auto buffer = static_cast<size_t>(pointer->buffer);
        held[buffer] = held[buffer] || (pointer->offset_bytes >= 0 &&
                                        static_cast<uint64_t>(pointer->offset_bytes) <=
                                            plan_.buffers[buffer].size_bytes);
      }
    }
  }
  return {std::move(held), std::move(seen)};
}

void Interpreter::CheckFreed() {
  const Held held = FindHeld();
  CheckPinnedFreed(held.objects);
  for (size_t i = 0; i < buffers_.size(); ++i) {
    if (buffers_[i].is_alive && !held.buffers[i] && MustBeFreed(plan_.buffers[i])) {
      line_ = plan_.buffers[i].line;
      Fault(NotFreedText(plan_.buffers[i]));
    }
  }
}

void Interpreter::CheckAlive(const DevicePointer& pointer, const char* what) const {
  if (pointer.buffer < 0) {
    return;
  }
  const Buffer& buffer = buffers_[static_cast<size_t>(pointer.buffer)];
  if (!buffer.is_alive) {
    Fault(FreedText(plan_.buffers[static_cast<size_t>(pointer.buffer)], buffer.freed_line, what));
  }
}

DevicePointer Interpreter::CheckedPointer(uint64_t address, const char* what) {
  const auto pointer = memory_.AsDevice(address);
  if (!pointer.has_value()) {
    Refuse(fmt::format("{}: the pointer is to host memory", what));
  }
  if (pointer->buffer >= static_cast<int>(buffers_.size())) {
    Refuse(fmt::format("{}: the pointer points nowhere", what));
  }
  CheckAlive(*pointer, what);
  return *pointer;
}

DevicePointer Interpreter::CheckedRange(uint64_t address, uint64_t size, const char* what) {
  const DevicePointer pointer = CheckedPointer(address, what);
  if (pointer.buffer < 0) {
    Fault(fmt::format("{}: the device pointer is null", what));
  }
  const PlanBuffer& buffer = plan_.buffers[static_cast<size_t>(pointer.buffer)];
  if (pointer.offset_bytes < 0 || static_cast<uint64_t>(pointer.offset_bytes) > buffer.size_bytes ||
      size > buffer.size_bytes - static_cast<uint64_t>(pointer.offset_bytes)) {
    Fault(LeavesBufferText(buffer, pointer, size, what));
  }
  return pointer;
}

void Interpreter::Copy(uint64_t destination, uint64_t source, uint64_t size, int64_t kind) {
  if (size == 0) {
    return;
  }
  const bool to_host = HostMemory::IsHost(destination);
  const bool from_host = HostMemory::IsHost(source);
  // With two device pointers the kind does not matter, as measured on an H200 (bench/logs/
  // 2026-11-30-h200-device.txt): memory has one address space. Between host and device it does.
  if ((kind == kDeviceToHost && from_host) || (to_host && !from_host)) {
    ReadsBack("launcher reads device data back");
  }
  if (kind == kDeviceToDevice && (from_host || to_host)) {
    Fault("a copy's kind does not fit its pointers");
  }
  if (!from_host) {
    const DevicePointer to = CheckedRange(destination, size, "copy to the device");
    const DevicePointer from = CheckedRange(source, size, "copy from the device");
    Issue(stream_, {{to, size, true}, {from, size, false}});
    plan_.steps.emplace_back(CopyStep{to, from, size, line_});
    return;
  }
  const HostObject* object = memory_.Find(source, size);
  if (object == nullptr) {
    Fault(fmt::format("a copy of {} bytes leaves its host variable", size));
  }
  const auto offset = static_cast<std::ptrdiff_t>(HostMemory::OffsetOf(source));
  const std::vector<std::byte> bytes(
      object->bytes.begin() + offset,
      object->bytes.begin() + offset + static_cast<std::ptrdiff_t>(size));
  const std::vector<ByteState> states(
      object->states.begin() + offset,
      object->states.begin() + offset + static_cast<std::ptrdiff_t>(size));
  if (to_host) {
    HostObject* target = memory_.Find(destination, size);
    if (target == nullptr) {
      Fault(fmt::format("a copy of {} bytes leaves its host variable", size));
    }
    const auto at = static_cast<std::ptrdiff_t>(HostMemory::OffsetOf(destination));
    std::copy(bytes.begin(), bytes.end(), target->bytes.begin() + at);
    std::copy(states.begin(), states.end(), target->states.begin() + at);
    return;
  }
  const DevicePointer to = CheckedRange(destination, size, "copy to the device");
  if (std::find(states.begin(), states.end(), ByteState::kPointer) != states.end()) {
    Refuse("launcher copies pointers to the device");
  }
  if (std::find(states.begin(), states.end(), ByteState::kUnwritten) != states.end()) {
    Refuse("launcher copies host memory to the device before it was set");
  }
  Issue(stream_, {{to, size, true}});
  NoteUpload(source, bytes);
  plan_.steps.emplace_back(UploadStep{to, bytes, line_});
}

void Interpreter::Memset(uint64_t destination, int64_t value, uint64_t size) {
  if (size == 0) {
    return;
  }
  const DevicePointer to = CheckedRange(destination, size, "memset");
  Issue(stream_, {{to, size, true}});
  plan_.steps.emplace_back(MemsetStep{to, static_cast<uint8_t>(value & 0xff), size, line_});
}

void Interpreter::SetAttribute(const ast::Expr& expr) {
  const int function = FunctionOperand(*expr.operands[0]);
  const int64_t number = EvaluateInteger(*expr.operands[1]);
  const int64_t value = EvaluateInteger(*expr.operands[2]);
  const std::string_view known = FunctionAttributeName(number);
  if (known.empty()) {
    Refuse(fmt::format("cudaFuncSetAttribute with the unknown attribute {}", number));
  }
  AttributeStep step;
  step.kernel = unit_.functions[static_cast<size_t>(function)].name_expression;
  step.attribute = std::string(known);
  step.value = value;
  step.line = line_;
  plan_.steps.emplace_back(std::move(step));
}

int64_t Interpreter::DeviceAttribute(int64_t attribute) {
  if (const auto value = DeviceAttributeValue(attribute, surroundings_)) {
    return *value;
  }
  Refuse(fmt::format("launcher asks for device attribute {}, which is not known here", attribute));
}

void Interpreter::FillDeviceProperties(const ast::Expr& target) {
  const auto address = static_cast<uint64_t>(Evaluate(target).integer);
  const ast::TypePtr type = target.type->element;
  if (type == nullptr || type->fields.empty()) {
    CannotFollow("launcher asks for device properties into an unknown type");
  }
  // Members that are not listed stay unset: to read one is refused.
  for (const ast::Field& field : type->fields) {
    if (KindOf(*field.type) == ValueKind::kInteger) {
      const auto fact =
          std::find_if(kDeviceFacts.begin(), kDeviceFacts.end(),
                       [&](const DeviceFact& known) { return known.property == field.name; });
      int64_t value = 0;
      if (fact != kDeviceFacts.end()) {
        value = fact->value;
      } else if (field.name == "totalGlobalMem") {
        value = kDeviceBytes;
      } else {
        continue;
      }
      Store(address + field.offset_bytes, IntegerValue(value, field.type));
    } else if (field.name == "maxThreadsDim" || field.name == "maxGridSize") {
      const int first = field.name == "maxThreadsDim" ? 2 : 5;
      for (int i = 0; i < 3; ++i) {
        Store(address + field.offset_bytes + static_cast<uint64_t>(i) * 4,
              IntegerValue(DeviceAttribute(first + i), IntType()));
      }
    }
  }
}

// An upper bound: registers are only known after the kernel was compiled.
int64_t Interpreter::OccupancyBlocks(int function, int64_t threads, uint64_t dynamic_shared_bytes) {
  if (threads <= 0 || threads > DeviceAttribute(1)) {
    return 0;
  }
  const uint64_t shared = dynamic_shared_bytes + static_cast<uint64_t>(DeviceAttribute(111)) +
                          StaticSharedBytes(unit_, unit_.functions[static_cast<size_t>(function)]);
  const int64_t warps = (threads + 31) / 32;
  const int64_t by_threads = DeviceAttribute(39) / (warps * 32);
  const int64_t by_shared = DeviceAttribute(81) / static_cast<int64_t>(shared);
  return std::min({by_threads, by_shared, DeviceAttribute(106)});
}

bool Interpreter::CallRuntime(const ast::Expr& expr, const std::string& name, HostValue& result) {
  if (name == "cuTensorMapEncodeTiled" && expr.operands.size() == 12) {
    EncodeTensorMap(expr);
    result = IntegerValue(0, expr.type);
    return true;
  }
  if (!name.starts_with("cuda")) {
    return false;
  }
  const auto operand = [&](size_t i) -> const ast::Expr& { return *expr.operands[i]; };
  const auto integer = [&](size_t i) { return EvaluateInteger(operand(i)); };
  const auto address = [&](size_t i) { return static_cast<uint64_t>(integer(i)); };
  const size_t count = expr.operands.size();
  result.type = expr.type;
  is_async_ = name.ends_with("Async");
  if (std::find(kNoEffect.begin(), kNoEffect.end(), name) != kNoEffect.end()) {
    for (const ast::ExprPtr& argument : expr.operands) {
      if (argument->type->kind != ast::TypeKind::kOther &&
          argument->kind != ast::ExprKind::kFunction && name != "cudaFuncSetCacheConfig") {
        Evaluate(*argument);
      }
    }
    return true;
  }
  if ((name == "cudaMalloc" || name == "cudaMallocAsync" || name == "cudaMallocManaged") &&
      count >= 2) {
    Malloc(operand(0), address(1));
    return true;
  }
  if ((name == "cudaMallocHost" || name == "cudaHostAlloc") && count >= 2) {
    const uint64_t block = AllocatePinned(address(1));
    StorePointer(address(0), block);
    return true;
  }
  if (name == "cudaFreeHost" && count >= 1) {
    FreePinned(address(0));
    return true;
  }
  if (name == "cudaHostRegister" && count >= 2) {
    const uint64_t block = address(0);
    Register(block, address(1), true);
    return true;
  }
  if (name == "cudaHostUnregister" && count >= 1) {
    Register(address(0), 0, false);
    return true;
  }
  if (CallOnSymbol(expr, name)) {
    return true;
  }
  if (name == "cudaFree" || name == "cudaFreeAsync") {
    FreeDevice(address(0));
    return true;
  }
  // The stream of what is copied or set; calls without one use the default stream.
  const auto take_stream = [&](size_t i) {
    stream_ = name.ends_with("Async") && count > i ? address(i) : StreamOrder::kDefault;
    is_async_ = name.ends_with("Async");
  };
  if ((name == "cudaMemcpy" || name == "cudaMemcpyAsync") && count >= 4) {
    take_stream(4);
    const uint64_t destination = address(0);
    const uint64_t source = address(1);
    const uint64_t size = address(2);
    Copy(destination, source, size, integer(3));
    return true;
  }
  if ((name == "cudaMemset" || name == "cudaMemsetAsync") && count >= 3) {
    take_stream(3);
    const uint64_t destination = address(0);
    const int64_t value = integer(1);
    Memset(destination, value, address(2));
    return true;
  }
  if (name == "cudaMemset2D" || name == "cudaMemset2DAsync") {
    take_stream(5);
    const uint64_t destination = address(0);
    const uint64_t pitch = address(1);
    const int64_t value = integer(2);
    const uint64_t width = address(3);
    const uint64_t height = address(4);
    for (uint64_t row = 0; row < height; ++row) {
      Step();
      Memset(destination + row * pitch, value, width);
    }
    return true;
  }
  if (name == "cudaMemcpy2D" || name == "cudaMemcpy2DAsync") {
    take_stream(7);
    const uint64_t destination = address(0);
    const uint64_t destination_pitch = address(1);
    const uint64_t source = address(2);
    const uint64_t source_pitch = address(3);
    const uint64_t width = address(4);
    const uint64_t height = address(5);
    for (uint64_t row = 0; row < height; ++row) {
      Step();
      Copy(destination + row * destination_pitch, source + row * source_pitch, width, integer(6));
    }
    return true;
  }
  if (name == "cudaFuncSetAttribute" && count == 3) {
    SetAttribute(expr);
    return true;
  }
  if (CallOrdering(expr, name, result)) {
    return true;
  }
  if (name == "cudaSetDevice") {
    if (integer(0) != 0) {
      Refuse(fmt::format("launcher switches to device {}", integer(0)));
    }
    return true;
  }
  if (name == "cudaDeviceSetLimit") {
    if (integer(0) > kLastOwnLimit) {
      Refuse("launcher changes a limit of the device's caches, which outlives it");
    }
    return true;
  }
  if (name == "cudaGetDevice") {
    StoreThrough(operand(0), 0);
    return true;
  }
  if (name == "cudaGetDeviceCount") {
    StoreThrough(operand(0), 1);
    return true;
  }
  if (name == "cudaDeviceGetAttribute") {
    StoreThrough(operand(0), DeviceAttribute(integer(1)));
    return true;
  }
  if (name.starts_with("cudaGetDeviceProperties")) {
    FillDeviceProperties(operand(0));
    return true;
  }
  if (name == "cudaMemGetInfo") {
    StoreThrough(operand(0), FreeDeviceBytes(surroundings_));
    StoreThrough(operand(1), kDeviceBytes);
    return true;
  }
  if (name == "cudaDriverGetVersion" || name == "cudaRuntimeGetVersion") {
    StoreThrough(operand(0), DriverVersion(surroundings_));
    return true;
  }
  if (name.starts_with("cudaOccupancyMaxActiveBlocksPerMultiprocessor") && count >= 4) {
    const int function = FunctionOperand(operand(1));
    StoreThrough(operand(0), OccupancyBlocks(function, integer(2), address(3)));
    return true;
  }
  if (name == "cudaOccupancyMaxPotentialBlockSize" && count >= 3) {
    const int function = FunctionOperand(operand(2));
    const auto bound = unit_.functions[static_cast<size_t>(function)].launch_bounds_threads;
    int64_t threads = bound.has_value() ? *bound : DeviceAttribute(1);
    if (count >= 5 && integer(4) > 0) {
      threads = std::min(threads, integer(4));
    }
    const uint64_t shared = count >= 4 ? address(3) : 0;
    StoreThrough(operand(0), DeviceAttribute(16) * OccupancyBlocks(function, threads, shared));
    StoreThrough(operand(1), threads);
    return true;
  }
  if (name == "cudaGetErrorString" || name == "cudaGetErrorName") {
    auto text = std::make_shared<ast::Type>();
    text->kind = ast::TypeKind::kArray;
    text->element = IntType();
    ast::Expr literal;
    literal.kind = ast::ExprKind::kStringLiteral;
    literal.text = "no error";
    literal.type = text;
    result = IntegerValue(static_cast<int64_t>(Address(literal)), expr.type);
    return true;
  }
  if (name == "cudaLaunchKernel" || name == "cudaLaunchCooperativeKernel") {
    LaunchThroughArray(expr, name == "cudaLaunchCooperativeKernel");
    return true;
  }
  if (name == "cudaLaunchKernelEx") {
    LaunchWithConfig(expr);
    return true;
  }
  return false;
}

}  // namespace optiml::frontend
