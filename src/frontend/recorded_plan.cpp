#include "frontend/recorded_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "frontend/host_value.h"
#include "frontend/launch_rules.h"
#include "frontend/recorder/protocol.h"
#include "frontend/trace_reader.h"

namespace optiml::frontend {

namespace {

// Addresses this near to null mean null plus an offset: no program has memory there.
constexpr int64_t kNearNull = int64_t{1} << 16;

// Which bytes of a value of the type mean something: those between the members of a struct are
// whatever was there before.
void MarkMembers(const ast::Type& type, uint64_t at, std::vector<bool>& marks) {
  if (type.kind == ast::TypeKind::kStruct && !type.fields.empty()) {
    for (const ast::Field& field : type.fields) {
      MarkMembers(*field.type, at + field.offset_bytes, marks);
    }
    return;
  }
  if (type.kind == ast::TypeKind::kArray && type.count > 0 && type.element != nullptr) {
    for (int64_t i = 0; i < type.count && at < marks.size(); ++i) {
      MarkMembers(*type.element, at, marks);
      at += std::max<uint64_t>(type.element->size_bytes, 1);
    }
    return;
  }
  for (uint64_t i = at; i < at + type.size_bytes && i < marks.size(); ++i) {
    marks[i] = true;
  }
}

}  // namespace

uint64_t TraceReader::Word() {
  uint64_t word = 0;
  if (trace_.size() - at_ < sizeof(word)) {
    Garbled();
  }
  std::memcpy(&word, trace_.data() + at_, sizeof(word));
  at_ += sizeof(word);
  return word;
}

std::string TraceReader::Bytes() {
  const uint64_t size = Word();
  if (size > trace_.size() - at_) {
    Garbled();
  }
  const uint64_t padded = size + (8 - size % 8) % 8;
  if (padded > trace_.size() - at_) {
    Garbled();
  }
  std::string bytes = trace_.substr(at_, size);
  at_ += padded;
  return bytes;
}

int TraceReader::SmallLine() {
  const uint64_t line = Word();
  return line <= INT32_MAX ? static_cast<int>(line) : 0;
}

void TraceReader::AddArguments() {
  // The arguments are the first buffers, with numbers of their own.
  const std::vector<LauncherArgument>& first = *calls_.front().arguments;
  for (size_t i = 0; i < first.size(); ++i) {
    const uint64_t address = recording::BufferAddress(i, is_other_);
    if (first[i].is_buffer) {
      AddBuffer(address, {first[i].name, static_cast<int>(i), first[i].size_bytes, 0});
    } else {
      buffers_.push_back({.address = address});
    }
  }
}

void TraceReader::ReadOn() {
  while (at_ < trace_.size()) {
    const uint64_t kind = Word();
    line_ = SmallLine();
    ReadEvent(kind);
  }
}

std::vector<RecordedPlan> TraceReader::Finish() {
  ReadOn();
  if (in_call_ || made_.size() != calls_.size()) {
    line_ = 0;
    Refuse("launcher ends its process");
  }
  return std::move(made_);
}

void TraceReader::ReadEvent(uint64_t kind) {
  switch (kind) {
    case recording::kBegin:
      return BeginCall();
    case recording::kEnd:
      return EndCall();
    case recording::kMalloc:
      return ReadMalloc();
    case recording::kFree:
      return ReadFree();
    case recording::kHeld:
      return ReadHeld();
    case recording::kLaunch:
      return ReadLaunch();
    case recording::kMemset:
      return ReadMemset();
    case recording::kCopy:
      return ReadCopy();
    case recording::kUpload:
      return ReadUpload();
    case recording::kAttribute:
      return ReadAttribute();
    case recording::kSymbol:
      return ReadSymbol();
    case recording::kRead:
      return ReadBackEvent();
    case recording::kReadsBack: {
      throw Stop{.what = "launcher reads device data back", .line = line_, .reads_back = true};
    }
    case recording::kFault: {
      std::string text = Bytes();
      std::replace_if(text.begin(), text.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
      constexpr size_t kMaxText = 300;
      Refuse(text.substr(0, kMaxText));
    }
    default:
      return ReadOrder(kind);
  }
}

void TraceReader::BeginCall() {
  if (in_call_ || made_.size() >= calls_.size()) {
    Garbled();
  }
  in_call_ = true;
  order_.Restart();
  launches_ = 0;
  device_bytes_ = 0;
  reads_.clear();
  read_bytes_ = 0;
  const std::vector<LauncherArgument>& arguments = *calls_[made_.size()].arguments;
  for (PlanBuffer& buffer : plan_.buffers) {
    if (buffer.argument >= 0 && static_cast<size_t>(buffer.argument) < arguments.size()) {
      buffer.size_bytes = arguments[static_cast<size_t>(buffer.argument)].size_bytes;
    }
  }
  if (device_ != nullptr) {
    GoOn(device_->Begin(made_.size()));
  }
}

void TraceReader::GoOn(const Result<bool>& done) {
  if (!done) {
    throw Failed{done.error()};
  }
  if (!*done) {
    throw Stop{"the device does not go on", line_};
  }
}

void TraceReader::EndCall() {
  const uint64_t changed = Word();
  if (!in_call_ || changed > 1) {
    Garbled();
  }
  if (const auto line = order_.Unfinished()) {
    line_ = *line;
    Refuse(kUnfinishedText);
  }
  CheckFreed();
  in_call_ = false;
  plan_.maker = PlanMaker::kRecorder;
  if (device_ != nullptr) {
    GoOn(device_->End(plan_));
  }
  made_.push_back({plan_, std::move(reads_), changed == 1});
  plan_.steps.clear();
}

void TraceReader::AddBuffer(uint64_t address, PlanBuffer buffer) {
  if (address != recording::BufferAddress(buffers_.size(), is_other_)) {
    Garbled();
  }
  owners_.push_back(buffers_.size());
  buffers_.push_back({.address = address, .plan_buffer = static_cast<int>(plan_.buffers.size())});
  plan_.buffers.push_back(std::move(buffer));
}

void TraceReader::ReadMalloc() {
  const uint64_t address = Word();
  const uint64_t size = Word();
  if (size > limits_.allocated_bytes || device_bytes_ + size > limits_.allocated_bytes) {
    Refuse(fmt::format("launcher allocates {} bytes, more than the {} allowed",
                       size > limits_.allocated_bytes ? size : device_bytes_ + size,
                       limits_.allocated_bytes));
  }
  device_bytes_ += size;
  // As the interpreter names what it has no variable's name for.
  const auto is_argument = [&](const std::string& name) {
    const std::vector<LauncherArgument>& arguments = *calls_.front().arguments;
    return std::any_of(arguments.begin(), arguments.end(), [&](const LauncherArgument& argument) {
      return argument.is_buffer && argument.name == name;
    });
  };
  std::string name;
  do {
    ++allocations_;
    name = allocations_ == 1 ? "scratch" : fmt::format("scratch#{}", allocations_);
  } while (is_argument(name));
  AddBuffer(address, {std::move(name), -1, size, line_});
}

void TraceReader::ReadFree() {
  const DevicePointer pointer = Pointer(Word(), "cudaFree");
  if (pointer.buffer < 0 || pointer.offset_bytes != 0 ||
      !plan_.buffers[static_cast<size_t>(pointer.buffer)].symbol.empty()) {
    Fault(kNoAllocationText);
  }
  const PlanBuffer& buffer = plan_.buffers[static_cast<size_t>(pointer.buffer)];
  if (buffer.argument >= 0) {
    Fault(fmt::format("launcher frees its argument \"{}\"", buffer.name));
  }
  Buffer& known = buffers_[owners_[static_cast<size_t>(pointer.buffer)]];
  known.is_alive = false;
  known.freed_line = line_;
  device_bytes_ -= std::min(device_bytes_, buffer.size_bytes);
}

void TraceReader::ReadHeld() {
  const uint64_t address = Word();
  const uint64_t index = recording::NearestBuffer(address, is_other_);
  if (index >= buffers_.size() || buffers_[index].address != address) {
    Garbled();
  }
  buffers_[index].is_held = true;
}

void TraceReader::CheckFreed() {
  for (Buffer& buffer : buffers_) {
    if (buffer.plan_buffer < 0 || !buffer.is_alive) {
      continue;
    }
    const PlanBuffer& of = plan_.buffers[static_cast<size_t>(buffer.plan_buffer)];
    if (MustBeFreed(of) && !buffer.is_held) {
      line_ = of.line;
      Fault(NotFreedText(of));
    }
    buffer.is_held = false;
  }
}

DevicePointer TraceReader::Pointer(uint64_t address, const char* what) const {
  // Null, and small numbers that were added to it or taken from it.
  const auto number = static_cast<int64_t>(address);
  if (number > -kNearNull && number < kNearNull) {
    return {-1, number};
  }
  const uint64_t index = recording::NearestBuffer(address, is_other_);
  const Buffer* buffer =
      index < buffers_.size() && buffers_[index].plan_buffer >= 0 ? &buffers_[index] : nullptr;
  const PlanBuffer* of =
      buffer == nullptr ? nullptr : &plan_.buffers[static_cast<size_t>(buffer->plan_buffer)];
  const auto reach = static_cast<int64_t>(recording::kBufferReach);
  const auto offset =
      buffer == nullptr ? int64_t{0} : static_cast<int64_t>(address - buffer->address);
  if (buffer == nullptr || offset < -reach ||
      offset > reach + static_cast<int64_t>(of->size_bytes)) {
    Refuse(fmt::format("{}: the pointer is to host memory or points nowhere", what));
  }
  if (!buffer->is_alive) {
    Fault(FreedText(*of, buffer->freed_line, what));
  }
  return {buffer->plan_buffer, offset};
}

DevicePointer TraceReader::RangeOf(uint64_t address, uint64_t size, const char* what) const {
  const DevicePointer pointer = Pointer(address, what);
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

const ast::Function& TraceReader::Kernel(uint64_t number) const {
  if (number >= names_.kernels.size()) {
    Garbled();
  }
  return unit_.functions[static_cast<size_t>(names_.kernels[number])];
}

void TraceReader::Issue(uint64_t stream, std::vector<StreamAccess> accesses) {
  if (const auto conflict = order_.Issue(stream, std::move(accesses), line_)) {
    Refuse(ConflictText(plan_, *conflict));
  }
}

KernelArgument TraceReader::Argument(const ast::Type& type, const std::string& bytes) {
  if (type.size_bytes != 0 && type.size_bytes != bytes.size()) {
    Refuse(
        fmt::format("a kernel argument of type {} has {} bytes for this machine, and {} for the "
                    "device",
                    type.text, bytes.size(), type.size_bytes));
  }
  const auto word = [&](uint64_t position) {
    uint64_t value = 0;
    std::memcpy(&value, bytes.data() + position, sizeof(value));
    return value;
  };
  if (type.kind == ast::TypeKind::kPointer) {
    if (bytes.size() != sizeof(uint64_t)) {
      Garbled();
    }
    return Pointer(word(0), "kernel argument");
  }
  std::vector<std::byte> plain(bytes.size());
  std::memcpy(plain.data(), bytes.data(), bytes.size());
  if (type.kind == ast::TypeKind::kStruct && !type.fields.empty()) {
    std::vector<bool> marks(bytes.size());
    MarkMembers(type, 0, marks);
    for (size_t i = 0; i < plain.size(); ++i) {
      plain[i] = marks[i] ? plain[i] : std::byte{0};
    }
  }
  StructArgument with;
  for (const auto& [position, field] : PointerFields(type)) {
    if (position + sizeof(uint64_t) > bytes.size()) {
      Garbled();
    }
    if (const uint64_t address = word(position); address != 0) {
      with.pointers.push_back({position, Pointer(address, "kernel argument")});
      std::memset(plain.data() + position, 0, sizeof(uint64_t));
    }
  }
  if (with.pointers.empty()) {
    return plain;
  }
  with.bytes = std::move(plain);
  return with;
}

void TraceReader::ReadLaunch() {
  if (++launches_ > limits_.launches) {
    Refuse(fmt::format("launcher makes more than {} launches", limits_.launches));
  }
  read_bytes_ = 0;
  const ast::Function& kernel = Kernel(Word());
  KernelLaunch launch;
  launch.kernel = kernel.name_expression;
  launch.line = line_;
  for (Dim3* dim : {&launch.grid, &launch.block, &launch.cluster}) {
    for (uint32_t* part : {&dim->x, &dim->y, &dim->z}) {
      const uint64_t value = Word();
      if (value > UINT32_MAX) {
        Garbled();
      }
      *part = static_cast<uint32_t>(value);
    }
  }
  launch.dynamic_shared_bytes = Word();
  launch.cooperative = Word() != 0;
  const uint64_t stream = Word();
  if (Word() != kernel.parameters.size()) {
    Garbled();
  }
  for (const int parameter : kernel.parameters) {
    const ast::Type& type = *unit_.variables[static_cast<size_t>(parameter)].type;
    launch.arguments.push_back(Argument(type, Bytes()));
  }
  if (const std::string fault = LaunchShapeFault(launch); !fault.empty()) {
    Fault(fault);
  }
  ApplyClusterDims(kernel, launch);
  Issue(stream, LaunchAccesses(unit_, kernel, launch));
  plan_.steps.emplace_back(std::move(launch));
}

void TraceReader::ReadMemset() {
  const uint64_t address = Word();
  const uint64_t value = Word();
  const uint64_t size = Word();
  const uint64_t stream = Word();
  const DevicePointer to = RangeOf(address, size, "memset");
  Issue(stream, {{to, size, true}});
  plan_.steps.emplace_back(MemsetStep{to, static_cast<uint8_t>(value & 0xff), size, line_});
}

void TraceReader::ReadCopy() {
  const uint64_t destination = Word();
  const uint64_t source = Word();
  const uint64_t size = Word();
  const uint64_t stream = Word();
  const DevicePointer to = RangeOf(destination, size, "copy to the device");
  const DevicePointer from = RangeOf(source, size, "copy from the device");
  Issue(stream, {{to, size, true}, {from, size, false}});
  plan_.steps.emplace_back(CopyStep{to, from, size, line_});
}

void TraceReader::ReadUpload() {
  const uint64_t destination = Word();
  const uint64_t stream = Word();
  const std::string bytes = Bytes();
  const DevicePointer to = RangeOf(destination, bytes.size(), "copy to the device");
  Issue(stream, {{to, bytes.size(), true}});
  std::vector<std::byte> values(bytes.size());
  std::memcpy(values.data(), bytes.data(), bytes.size());
  plan_.steps.emplace_back(UploadStep{to, std::move(values), line_});
}

void TraceReader::ReadAttribute() {
  const ast::Function& kernel = Kernel(Word());
  const auto number = static_cast<int64_t>(Word());
  const auto value = static_cast<int64_t>(Word());
  const std::string_view name = FunctionAttributeName(number);
  if (name.empty()) {
    Refuse(fmt::format("cudaFuncSetAttribute with the unknown attribute {}", number));
  }
  plan_.steps.emplace_back(AttributeStep{kernel.name_expression, std::string(name), value, line_});
}

void TraceReader::ReadSymbol() {
  const uint64_t number = Word();
  const uint64_t address = Word();
  if (number >= names_.symbols.size()) {
    Garbled();
  }
  const ast::Variable& variable = unit_.variables[static_cast<size_t>(names_.symbols[number])];
  AddBuffer(address,
            {variable.name, -1, StorageBytes(*variable.type), variable.line, variable.symbol});
}

void TraceReader::ReadBackEvent() {
  const uint64_t source = Word();
  const uint64_t size = Word();
  const uint64_t stream = Word();
  if (device_ == nullptr || !in_call_) {
    Garbled();
  }
  const DevicePointer from = RangeOf(source, size, "copy to the host");
  Issue(stream, {{from, size, false}});
  if (reads_.size() >= static_cast<size_t>(limits_.reads)) {
    Refuse(fmt::format("launcher reads device data back more than {} times", limits_.reads));
  }
  if (size > limits_.read_bytes - read_bytes_) {
    Refuse(
        fmt::format("launcher reads more than {} bytes of device data back between two launches: "
                    "in host mode the host decides, it does not compute",
                    limits_.read_bytes));
  }
  read_bytes_ += size;
  const auto bytes = device_->Read(plan_, from, size);
  GoOn(bytes ? Result<bool>(bytes->has_value()) : Result<bool>(bytes.error()));
  answer_.append(reinterpret_cast<const char*>((*bytes)->data()), size);
  reads_.push_back({plan_.steps.size(), from, size, line_});
}

void TraceReader::ReadOrder(uint64_t kind) {
  switch (kind) {
    case recording::kStream: {
      const uint64_t stream = Word();
      return order_.Create(stream, Word() != 0);
    }
    case recording::kRecord: {
      const uint64_t event = Word();
      return order_.Record(event, Word());
    }
    case recording::kWait: {
      const uint64_t stream = Word();
      return order_.Wait(stream, Word());
    }
    case recording::kSyncStream:
      return order_.HostWaitsForStream(Word());
    case recording::kSyncEvent:
      return order_.HostWaitsForEvent(Word());
    case recording::kSyncAll:
      return order_.HostWaitsForAll();
    default:
      Garbled();
  }
}

Refusal RefusalOf(const Stop& stop, const ast::SourceUnit& unit, const ast::Function& launcher) {
  const int line = stop.line > 0 ? stop.line : launcher.line;
  Refusal refusal{fmt::format("{}:{}: {}", unit.path, line, stop.what), line};
  refusal.is_fault = stop.is_fault;
  refusal.reads_back = stop.reads_back;
  return refusal;
}

std::variant<std::vector<RecordedPlan>, Refusal> PlansFromTrace(
    const ast::SourceUnit& unit, const ast::Function& launcher, const RecordedNames& names,
    const std::vector<RecordedCall>& calls, Surroundings surroundings, const PlanLimits& limits,
    const std::string& trace) {
  try {
    return TraceReader(unit, names, calls, surroundings, limits, trace).Finish();
  } catch (const Stop& stop) {
    return RefusalOf(stop, unit, launcher);
  }
}

}  // namespace optiml::frontend
