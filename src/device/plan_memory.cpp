#include "device/plan_memory.h"

#include <fmt/format.h>

#include <utility>

#include "base/check.h"
#include "device/symbol_names.h"

namespace optiml {
namespace {

// Of buffers that the launcher allocates itself; those of arguments say theirs.
constexpr uint8_t kScratchPoison = 0xA5;

Finding OutOfBounds(const char* what, int line, const std::string& detail) {
  Finding finding;
  finding.kind = "out of bounds";
  finding.detail = fmt::format("{}: {}", what, detail);
  finding.line = line;
  return finding;
}

}  // namespace

Result<PlanMemory> PlanMemory::Make(const RunRequest& request, const ptx::Module& module,
                                    ptx::DeviceMemory memory) {
  PlanMemory made;
  made.memory_ = std::move(memory);
  size_t next = 0;
  for (size_t i = 0; i < request.plan->buffers.size(); ++i) {
    const PlanBuffer& buffer = request.plan->buffers[i];
    const BufferContents* contents = nullptr;
    if (buffer.argument >= 0) {
      if (next >= request.buffers.size()) {
        return Error(ErrorCode::kInvalidArgument,
                     fmt::format("the plan has more argument buffers than the {} that were given",
                                 request.buffers.size()));
      }
      contents = &request.buffers[next++];
      made.arguments_.push_back(i);
    }
    // A variable that no kernel uses is not in the module: what is copied there is lost.
    const auto variable = buffer.symbol.empty() ? std::nullopt
                                                : made.memory_.SymbolAddress(
                                                      module, VariableName(module, buffer.symbol));
    made.is_variable_.push_back(variable.has_value());
    if (variable) {
      made.addresses_.push_back(*variable);
      continue;
    }
    const uint32_t element_bytes = contents == nullptr ? 1 : contents->element_bytes;
    auto address = made.memory_.TryAllocate(buffer.name, buffer.size_bytes, element_bytes);
    if (!address.has_value()) {
      return std::move(address).error();
    }
    made.addresses_.push_back(*address);
    made.total_bytes_ += buffer.size_bytes;
    OPTIML_TRY(made.FillOne(i, buffer, contents));
    if (buffer.size_bytes == 0) {
      continue;  // nothing to protect: every access is out of bounds
    }
    if (contents != nullptr && contents->read_only) {
      made.memory_.SetReadOnly(*address, true);
    } else {
      made.writable_bytes_ += buffer.size_bytes;
    }
  }
  if (next != request.buffers.size()) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("{} buffers were given, the plan has {} argument buffers",
                             request.buffers.size(), next));
  }
  return made;
}

Result<void> PlanMemory::FillOne(size_t buffer, const PlanBuffer& of,
                                 const BufferContents* contents) {
  const uint64_t address = addresses_[buffer];
  if (of.size_bytes == 0) {
    return {};
  }
  if (contents != nullptr && !contents->bytes.empty()) {
    if (contents->bytes.size() != of.size_bytes) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("buffer {} has {} bytes, the plan says {}", of.name,
                               contents->bytes.size(), of.size_bytes));
    }
    return memory_.Write(address, contents->bytes);
  }
  OPTIML_TRY(memory_.Fill(address, of.size_bytes,
                          contents == nullptr ? kScratchPoison : contents->poison));
  memory_.MarkUninitialised(address);
  return {};
}

Result<void> PlanMemory::Refill(const LaunchPlan& plan,
                                const std::vector<BufferContents>& buffers) {
  if (buffers.size() != arguments_.size()) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("{} buffers were given for a further pass, the plan has {} argument "
                             "buffers",
                             buffers.size(), arguments_.size()));
  }
  for (size_t i = 0; i < arguments_.size(); ++i) {
    OPTIML_TRY(FillOne(arguments_[i], plan.buffers[arguments_[i]], &buffers[i]));
  }
  for (size_t i = 0; i < plan.buffers.size(); ++i) {
    if (plan.buffers[i].argument < 0 && plan.buffers[i].symbol.empty() &&
        plan.buffers[i].size_bytes > 0) {
      memory_.MarkUninitialised(addresses_[i]);
    }
  }
  return {};
}

uint64_t PlanMemory::Address(const DevicePointer& pointer) const {
  if (pointer.buffer < 0) {
    return static_cast<uint64_t>(pointer.offset_bytes);
  }
  OPTIML_CHECK(static_cast<size_t>(pointer.buffer) < addresses_.size(),
               "a plan's pointers are in it");
  return addresses_[static_cast<size_t>(pointer.buffer)] +
         static_cast<uint64_t>(pointer.offset_bytes);
}

std::optional<Finding> PlanMemory::CheckWrite(const DevicePointer& to, const char* what,
                                              int line) const {
  // Constant memory is read only for kernels alone.
  const bool is_variable = to.buffer >= 0 && is_variable_[static_cast<size_t>(to.buffer)];
  const ptx::Allocation* allocation = memory_.Find(Address(to));
  if (allocation != nullptr && allocation->read_only && !is_variable) {
    Finding finding;
    finding.kind = "read-only violation";
    finding.detail = fmt::format("{} writes {}, an input", what, allocation->name);
    finding.line = line;
    return finding;
  }
  return std::nullopt;
}

std::optional<Finding> PlanMemory::Apply(const MemsetStep& step) {
  const uint64_t address = Address(step.destination);
  if (auto finding = CheckWrite(step.destination, "memset", step.line)) {
    return finding;
  }
  if (step.size_bytes == 0) {
    return std::nullopt;
  }
  if (const auto done = memory_.Fill(address, step.size_bytes, step.value); !done.has_value()) {
    return OutOfBounds("memset", step.line, done.error().message());
  }
  return std::nullopt;
}

std::optional<Finding> PlanMemory::Apply(const CopyStep& step) {
  const uint64_t address = Address(step.destination);
  if (auto finding = CheckWrite(step.destination, "copy", step.line)) {
    return finding;
  }
  // The size comes from the candidate: look before anything is allocated for it.
  const uint64_t source = Address(step.source);
  const ptx::Allocation* from = memory_.Find(source);
  if (step.size_bytes == 0) {
    return std::nullopt;
  }
  if (from == nullptr || step.size_bytes > from->address + from->bytes - source) {
    return OutOfBounds("copy", step.line,
                       fmt::format("{} bytes from {}", step.size_bytes, memory_.NameOf(source)));
  }
  std::vector<std::byte> bytes(step.size_bytes);
  if (const auto done = memory_.Read(source, bytes); !done.has_value()) {
    return OutOfBounds("copy", step.line, done.error().message());
  }
  if (const auto done = memory_.Write(address, bytes); !done.has_value()) {
    return OutOfBounds("copy", step.line, done.error().message());
  }
  return std::nullopt;
}

std::optional<Finding> PlanMemory::Apply(const UploadStep& step) {
  const uint64_t address = Address(step.destination);
  if (auto finding = CheckWrite(step.destination, "upload", step.line)) {
    return finding;
  }
  if (step.bytes.empty()) {
    return std::nullopt;
  }
  if (const auto done = memory_.Write(address, step.bytes); !done.has_value()) {
    return OutOfBounds("upload", step.line, done.error().message());
  }
  return std::nullopt;
}

std::vector<uint64_t> PlanMemory::ArgumentAddresses() const {
  std::vector<uint64_t> addresses;
  for (const size_t i : arguments_) {
    addresses.push_back(addresses_[i]);
  }
  return addresses;
}

std::vector<std::vector<std::byte>> PlanMemory::ArgumentContents() const {
  std::vector<std::vector<std::byte>> contents;
  for (const size_t i : arguments_) {
    const auto bytes = memory_.Bytes(addresses_[i]);
    contents.emplace_back(bytes.begin(), bytes.end());
  }
  return contents;
}

}  // namespace optiml
