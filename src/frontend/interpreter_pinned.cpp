// Pinned host memory as a launcher sees it: allocated, freed or kept, and read by asynchronous
// uploads later than the call that asks for them. Until the host has waited, what it writes there
// may or may not arrive.

#include <fmt/format.h>

#include <algorithm>

#include "frontend/interpreter.h"
#include "frontend/launch_rules.h"

namespace optiml::frontend {

uint64_t Interpreter::AllocatePinned(uint64_t size) {
  const uint64_t block = Allocate(size);
  pinned_[block] = {size, line_, true};
  return block;
}

void Interpreter::FreePinned(uint64_t address) {
  if (address == 0) {
    return;
  }
  CheckUploads(true);  // it waits for the device
  const auto found = pinned_.find(address);
  if (found == pinned_.end() || !found->second.is_own) {
    Fault("cudaFreeHost of a pointer that cudaMallocHost did not return, or that was freed");
  }
  pinned_.erase(found);
  memory_.Free(address);
}

void Interpreter::Register(uint64_t address, uint64_t size, bool is_pinned) {
  CheckUploads(!is_pinned);
  if (is_pinned) {
    pinned_[address] = {size, line_, false};
  } else if (const auto found = pinned_.find(address); found != pinned_.end()) {
    pinned_.erase(found);
  }
}

void Interpreter::NoteUpload(uint64_t source, const std::vector<std::byte>& bytes) {
  auto above = pinned_.upper_bound(source);
  if (!is_async_ || above == pinned_.begin()) {
    return;
  }
  --above;
  if (source - above->first < above->second.bytes) {
    uploads_.push_back({source, bytes, order_.Last(stream_), line_});
  }
}

void Interpreter::CheckUploads(bool all) {
  std::erase_if(uploads_, [&](const Upload& upload) {
    const HostObject* object = memory_.Find(upload.source, upload.bytes.size());
    const auto at = static_cast<std::ptrdiff_t>(HostMemory::OffsetOf(upload.source));
    if (object == nullptr ||
        !std::equal(upload.bytes.begin(), upload.bytes.end(), object->bytes.begin() + at)) {
      line_ = upload.line;
      Fault(kUploadChangedText);
    }
    return all || order_.HostHasSeen(upload.ticket);
  });
}

void Interpreter::CheckPinnedFreed(const std::vector<bool>& held_objects) {
  for (const auto& [address, block] : pinned_) {
    if (block.is_own && block.bytes > 0 && !held_objects[HostMemory::IndexOf(address)]) {
      line_ = block.line;
      Fault(fmt::format(kPinnedNotFreedText, block.bytes));
    }
  }
}

}  // namespace optiml::frontend
