#include "device/cuda/counted_file.h"

#include <fmt/format.h>

#include <chrono>
#include <cstring>
#include <memory>

#include "base/file_system.h"
#include "device/cuda/gpu.h"
#include "device/cuda/plan_job.h"

namespace optiml::cuda {
namespace {

constexpr char kMark[] = "optiml counted 1\n";
constexpr uint8_t kCleared = 0xA5;
constexpr std::chrono::seconds kLimit{60};

struct Counted {
  CountMessage message;
  std::vector<std::byte> arena;
};

Result<Counted> Load(const std::filesystem::path& file) {
  OPTIML_ASSIGN(const std::string text, ReadFile(file));
  const auto broken = [&] {
    return Error(ErrorCode::kParse, file.string() + ": not a plan that was counted");
  };
  const size_t mark = sizeof(kMark) - 1;
  uint64_t size = 0;
  if (!text.starts_with(kMark) || text.size() < mark + sizeof(size)) {
    return broken();
  }
  std::memcpy(&size, text.data() + mark, sizeof(size));
  const size_t begin = mark + sizeof(size);
  if (size > text.size() - begin) {
    return broken();
  }
  const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
  Counted counted;
  OPTIML_ASSIGN(counted.message, DecodeCountMessage({bytes + begin, bytes + begin + size}));
  counted.arena.assign(bytes + begin + size, bytes + text.size());
  return counted;
}

Result<void> Execute(Gpu& gpu, const Counted& counted) {
  const auto failed = [&](int code) {
    return Error(ErrorCode::kUnavailable, gpu.api().Describe(code));
  };
  const auto wait = [&]() -> Result<void> {
    switch (gpu.Wait(SteadyClock::now() + kLimit)) {
      case Waited::kDone:
        return {};
      case Waited::kFault:
        return failed(gpu.last_error());
      case Waited::kTimedOut:
        break;
    }
    return Error(ErrorCode::kUnavailable, "it did not end");
  };
  OPTIML_ASSIGN(const std::unique_ptr<PlanJob> job, PlanJob::Make(gpu, counted.message.job));
  OPTIML_ASSIGN(const DevicePtr pool, gpu.Reserve(job->BytesFor(1)));
  int code = gpu.EnqueueClear(kCleared);
  if (const auto trouble = job->Place(pool, 1)) {
    return Error(ErrorCode::kUnavailable, trouble->reason);
  }
  if (code == DriverApi::kSuccess) {
    code = job->EnqueueContents(counted.message.pass, counted.arena.data(), true);
  }
  if (code == DriverApi::kSuccess) {
    code = gpu.EnqueueFlush(counted.message.flush_bytes);
  }
  if (code != DriverApi::kSuccess) {
    return failed(code);
  }
  OPTIML_TRY(wait());
  if (const auto trouble = job->EnqueueRun(0)) {
    return Error(ErrorCode::kUnavailable, trouble->reason);
  }
  return wait();
}

}  // namespace

Result<void> KeepCounted(const std::filesystem::path& file, const CountMessage& message,
                         const std::byte* arena, uint64_t arena_bytes) {
  const std::vector<std::byte> bytes = Encode(message);
  const auto size = static_cast<uint64_t>(bytes.size());
  std::string text = kMark;
  text.append(reinterpret_cast<const char*>(&size), sizeof(size));
  text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  text.append(reinterpret_cast<const char*>(arena), arena_bytes);
  return WriteFileAtomically(file, text);
}

Result<void> RunCounted(const std::vector<std::filesystem::path>& files,
                        const std::string& driver_library, int ordinal) {
  OPTIML_ASSIGN(const DriverApi api, OpenDriver(driver_library));
  OPTIML_ASSIGN(const std::unique_ptr<Gpu> gpu, Gpu::Open(api, ordinal));
  for (const std::filesystem::path& file : files) {
    OPTIML_ASSIGN(const Counted counted, Load(file));
    if (const Result<void> done = Execute(*gpu, counted); !done) {
      return Error(done.error().code(),
                   fmt::format("{}: {}", file.string(), done.error().message()));
    }
  }
  return {};
}

}  // namespace optiml::cuda
