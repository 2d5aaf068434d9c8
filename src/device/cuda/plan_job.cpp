#include "device/cuda/plan_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/rng.h"

namespace optiml::cuda {
namespace {

constexpr uint64_t kGuardBytes = 4096;
// As cudaMalloc: large blocks begin at pages of the GPU. Where a buffer lies decides which channels
// of memory its rows meet in.
constexpr uint64_t kAlignment = 512;
constexpr uint64_t kPage = uint64_t{2} << 20;
constexpr uint64_t kLarge = uint64_t{1} << 20;
constexpr uint8_t kGuardPattern = 0xC7;
// Of memory that the launcher allocates itself.
constexpr uint8_t kScratchPoison = 0xA5;

uint64_t Aligned(uint64_t offset, uint64_t alignment) {
  return (offset + alignment - 1) / alignment * alignment;
}

bool IsVariable(const PlanBuffer& buffer) {
  return !buffer.symbol.empty();
}

// Toolkits of a later major version make what an older driver does not know.
Error NotLoaded(const Gpu& gpu, const Job& job, int code) {
  const bool is_version = code == DriverApi::kInvalidImage || code == DriverApi::kNoBinaryForGpu ||
                          code == DriverApi::kInvalidPtx ||
                          code == DriverApi::kUnsupportedPtxVersion;
  const int driver = gpu.facts().driver_version;
  const std::string version = fmt::format("CUDA {}.{}", driver / 1000, driver % 1000 / 10);
  return Error(
      ErrorCode::kInternal,
      fmt::format("the GPU's driver does not load the cubin: {}{}", gpu.api().Describe(code),
                  is_version && driver > 0
                      ? fmt::format("; {} made it and the driver is for {}: update the driver, or "
                                    "name a toolkit of {} or earlier with OPTIML_CUDA_HOME",
                                    job.toolchain, version, version)
                      : ""));
}

}  // namespace

CopyLayout LayOut(const LaunchPlan& plan) {
  CopyLayout layout;
  uint64_t end = 0;  // of the last buffer
  bool any_large = false;
  for (const PlanBuffer& buffer : plan.buffers) {
    if (IsVariable(buffer)) {
      layout.offsets.push_back(0);
      continue;
    }
    const bool is_large = buffer.size_bytes >= kLarge;
    any_large |= is_large;
    const uint64_t begin = Aligned(end + kGuardBytes, is_large ? kPage : kAlignment);
    // The bands lie beside the buffers; what is between two bands is nobody's.
    layout.guards.emplace_back(end, std::min(begin, end + kGuardBytes));
    layout.guards.emplace_back(begin - kGuardBytes, begin);
    layout.offsets.push_back(begin);
    end = begin + buffer.size_bytes;
  }
  layout.bytes = Aligned(end + kGuardBytes, any_large ? kPage : kAlignment);
  layout.guards.emplace_back(end, end + kGuardBytes);
  return layout;
}

Result<std::unique_ptr<PlanJob>> PlanJob::Make(Gpu& gpu, const Job& job) {
  std::unique_ptr<PlanJob> made(new PlanJob(gpu, job));
  OPTIML_TRY(made->Load());
  return made;
}

PlanJob::~PlanJob() {
  if (module_ != nullptr && !gpu_.is_lost()) {  // it waits for the module's kernels
    gpu_.api().module_unload(module_);
  }
}

Result<void> PlanJob::Load() {
  const DriverApi& api = gpu_.api();
  int code = api.module_load(&module_, job_.cubin.data());
  for (const Job::Kernel& kernel : job_.kernels) {
    Handle function = nullptr;
    if (code == DriverApi::kSuccess) {
      code = api.module_function(&function, module_, kernel.lowered_name.c_str());
    }
    functions_.push_back(function);
  }
  if (code != DriverApi::kSuccess) {
    return NotLoaded(gpu_, job_, code);
  }
  for (const PlanBuffer& buffer : job_.plan.buffers) {
    DevicePtr address = 0;
    size_t bytes = 0;
    if (IsVariable(buffer) && buffer.symbol != kNoVariable &&
        api.module_global(&address, &bytes, module_, buffer.symbol.c_str()) !=
            DriverApi::kSuccess) {
      address = 0;
      hidden_variable_ = buffer.symbol;
    }
    variables_.push_back(address);
  }
  return {};
}

bool PlanJob::has_uploads() const {
  return std::any_of(job_.plan.steps.begin(), job_.plan.steps.end(), [](const LaunchStep& step) {
    return std::holds_alternative<UploadStep>(step);
  });
}

bool PlanJob::has_scratch() const {
  return std::any_of(job_.plan.buffers.begin(), job_.plan.buffers.end(),
                     [](const PlanBuffer& buffer) {
                       return buffer.argument < 0 && !IsVariable(buffer) && buffer.size_bytes > 0;
                     });
}

bool PlanJob::IsLost(const DevicePointer& at) const {
  const auto buffer = static_cast<size_t>(std::max(at.buffer, 0));
  return at.buffer >= 0 && IsVariable(job_.plan.buffers[buffer]) && variables_[buffer] == 0;
}

DevicePtr PlanJob::Base(int copy) const {
  return pool_ + layout_.bytes * static_cast<uint64_t>(copy + 1);
}

DevicePtr PlanJob::Address(const DevicePointer& pointer, int copy) const {
  const auto offset = static_cast<uint64_t>(pointer.offset_bytes);
  if (pointer.buffer < 0) {
    return offset;
  }
  const auto buffer = static_cast<size_t>(pointer.buffer);
  if (IsVariable(job_.plan.buffers[buffer])) {
    return variables_[buffer] + offset;
  }
  return Base(copy) + layout_.offsets[buffer] + offset;
}

std::optional<Trouble> PlanJob::Place(DevicePtr pool, int copies) {
  if (!hidden_variable_.empty()) {
    return Trouble{
        RunStatus::kUnsupported,
        fmt::format("the driver does not tell where the module variable {} is", hidden_variable_)};
  }
  pool_ = pool;
  copies_ = copies;
  ready_.assign(static_cast<size_t>(copies), {});
  for (int copy = 0; copy < copies; ++copy) {
    for (const LaunchStep& step : job_.plan.steps) {
      if (const auto* launch = std::get_if<KernelLaunch>(&step)) {
        ReadyLaunch& ready = ready_[static_cast<size_t>(copy)].emplace_back();
        if (auto trouble = Prepare(*launch, copy, ready)) {
          return trouble;
        }
      }
    }
  }
  return std::nullopt;
}

std::optional<Trouble> PlanJob::Prepare(const KernelLaunch& launch, int copy,
                                        ReadyLaunch& ready) const {
  for (size_t i = 0; i < job_.kernels.size(); ++i) {
    if (job_.kernels[i].name_expression == launch.kernel) {
      ready.function = functions_[i];
    }
  }
  if (ready.function == nullptr) {
    return Trouble{RunStatus::kFault,
                   fmt::format("line {}: the module has no kernel {}", launch.line, launch.kernel)};
  }
  const auto take = [](const Dim3& from, uint32_t(&into)[3]) {
    into[0] = from.x;
    into[1] = from.y;
    into[2] = from.z;
  };
  take(launch.grid, ready.config.grid);
  take(launch.block, ready.config.block);
  ready.config.shared_bytes = static_cast<uint32_t>(launch.dynamic_shared_bytes);
  ready.config.stream = gpu_.stream();
  if (launch.cooperative) {
    LaunchAttribute& attribute = ready.attributes.emplace_back();
    attribute.id = LaunchAttribute::kCooperative;
    attribute.value[0] = 1;
  }
  if (launch.cluster.Count() > 1) {
    LaunchAttribute& attribute = ready.attributes.emplace_back();
    attribute.id = LaunchAttribute::kClusterDimension;
    attribute.value[0] = launch.cluster.x;
    attribute.value[1] = launch.cluster.y;
    attribute.value[2] = launch.cluster.z;
  }
  ready.config.attributes = ready.attributes.data();
  ready.config.attribute_count = static_cast<uint32_t>(ready.attributes.size());
  return PrepareArguments(launch, copy, ready);
}

std::optional<Trouble> PlanJob::PrepareArguments(const KernelLaunch& launch, int copy,
                                                 ReadyLaunch& ready) const {
  ready.maps.reserve(launch.arguments.size());  // pointers into it must stay
  ready.values.reserve(launch.arguments.size());
  const auto store = [](DevicePtr address, std::vector<std::byte>& into, uint64_t position) {
    std::memcpy(into.data() + position, &address, sizeof(address));
  };
  for (const KernelArgument& argument : launch.arguments) {
    if (const auto* map = std::get_if<TensorMapArgument>(&argument)) {
      TensorMap& made = ready.maps.emplace_back();
      const DriverApi& api = gpu_.api();
      const int code =
          api.encode_tensor_map == nullptr
              ? -1
              : api.encode_tensor_map(
                    &made, map->data_type, static_cast<uint32_t>(map->dimensions.size()),
                    reinterpret_cast<void*>(Address(map->tensor, copy)), map->dimensions.data(),
                    map->strides_bytes.data(), map->box.data(), map->element_strides.data(),
                    map->interleave, map->swizzle, map->promotion, map->fill);
      if (code != DriverApi::kSuccess) {
        return Trouble{RunStatus::kFault, fmt::format("line {}: the tensor map is refused: {}",
                                                      launch.line, api.Describe(code))};
      }
      ready.pointers.push_back(&made);
      continue;
    }
    std::vector<std::byte>& value = ready.values.emplace_back();
    if (const auto* pointer = std::get_if<DevicePointer>(&argument)) {
      value.resize(sizeof(DevicePtr));
      store(Address(*pointer, copy), value, 0);
    } else if (const auto* fields = std::get_if<StructArgument>(&argument)) {
      value = fields->bytes;
      for (const StructArgument::Pointer& one : fields->pointers) {
        store(Address(one.value, copy), value, one.position);
      }
    } else {
      value = std::get<std::vector<std::byte>>(argument);
    }
    ready.pointers.push_back(value.data());
  }
  return std::nullopt;
}

template <typename Function>
void PlanJob::EachArgument(Function function) const {
  size_t argument = 0;
  for (size_t i = 0; i < job_.plan.buffers.size(); ++i) {
    if (job_.plan.buffers[i].argument >= 0) {
      if (job_.plan.buffers[i].size_bytes > 0) {
        function(i, argument);
      }
      ++argument;
    }
  }
}

int PlanJob::EnqueueContents(const Pass& pass, const std::byte* arena, bool is_first) {
  const DriverApi& api = gpu_.api();
  int code = DriverApi::kSuccess;
  const auto also = [&](int next) { code = code == DriverApi::kSuccess ? next : code; };
  for (int copy = 0; is_first && copy < copies_; ++copy) {
    for (const auto& [from, to] : layout_.guards) {
      also(api.set_bytes(Base(copy) + from, kGuardPattern, to - from, gpu_.stream()));
    }
    for (size_t i = 0; i < job_.plan.buffers.size(); ++i) {
      const PlanBuffer& buffer = job_.plan.buffers[i];
      if (buffer.argument < 0 && !IsVariable(buffer) && buffer.size_bytes > 0) {
        also(api.set_bytes(Base(copy) + layout_.offsets[i], kScratchPoison, buffer.size_bytes,
                           gpu_.stream()));
      }
    }
  }
  EachArgument([&](size_t buffer, size_t argument) {
    const Contents& contents = pass.before[argument];
    const uint64_t bytes = job_.plan.buffers[buffer].size_bytes;
    const DevicePtr pristine = Base(-1) + layout_.offsets[buffer];
    if (contents.arena_offset >= 0) {
      also(api.copy_to_device(pristine, arena + contents.arena_offset, bytes, gpu_.stream()));
    }
    for (int copy = 0; copy < copies_; ++copy) {
      const DevicePtr to = Base(copy) + layout_.offsets[buffer];
      also(contents.arena_offset >= 0 ? api.copy_on_device(to, pristine, bytes, gpu_.stream())
                                      : api.set_bytes(to, contents.poison, bytes, gpu_.stream()));
    }
  });
  return code;
}

int PlanJob::EnqueueRestore(const Pass& pass, int copy) {
  const DriverApi& api = gpu_.api();
  int code = DriverApi::kSuccess;
  EachArgument([&](size_t buffer, size_t argument) {
    const Contents& contents = pass.before[argument];
    if (code != DriverApi::kSuccess || contents.is_read_only) {
      return;
    }
    const DevicePtr to = Base(copy) + layout_.offsets[buffer];
    const uint64_t bytes = job_.plan.buffers[buffer].size_bytes;
    code = contents.arena_offset >= 0
               ? api.copy_on_device(to, Base(-1) + layout_.offsets[buffer], bytes, gpu_.stream())
               : api.set_bytes(to, contents.poison, bytes, gpu_.stream());
  });
  return code;
}

std::optional<Trouble> PlanJob::CheckStep(const DevicePointer& at, uint64_t bytes, const char* what,
                                          int line) const {
  if (at.buffer < 0) {
    return Trouble{RunStatus::kFault, fmt::format("line {}: {} at a null pointer", line, what)};
  }
  const PlanBuffer& buffer = job_.plan.buffers[static_cast<size_t>(at.buffer)];
  if (at.offset_bytes < 0 || static_cast<uint64_t>(at.offset_bytes) > buffer.size_bytes ||
      bytes > buffer.size_bytes - static_cast<uint64_t>(at.offset_bytes)) {
    return Trouble{RunStatus::kFault,
                   fmt::format("line {}: {} of {} bytes from byte {} of {}, which has {}", line,
                               what, bytes, at.offset_bytes, buffer.name, buffer.size_bytes)};
  }
  return std::nullopt;
}

std::optional<Trouble> PlanJob::Refused(int code, const std::string& what, int line) const {
  if (code == DriverApi::kSuccess) {
    return std::nullopt;
  }
  return Trouble{RunStatus::kFault,
                 fmt::format("line {}: {}: {}", line, what, gpu_.api().Describe(code))};
}

std::optional<Trouble> PlanJob::SetAttribute(const AttributeStep& step) const {
  for (size_t i = 0; i < job_.kernels.size(); ++i) {
    if (job_.kernels[i].name_expression != step.kernel) {
      continue;
    }
    for (const auto& [name, number] :
         {std::pair("MaxDynamicSharedMemorySize", DriverApi::kMaxDynamicShared),
          std::pair("PreferredSharedMemoryCarveout", DriverApi::kPreferredCarveout),
          std::pair("NonPortableClusterSizeAllowed", DriverApi::kNonPortableCluster)}) {
      if (step.attribute == name) {
        const auto value = static_cast<int>(step.value);
        return Refused(gpu_.api().function_attribute(functions_[i], number, value), name,
                       step.line);
      }
    }
  }
  return std::nullopt;  // a hint of another kind
}

std::optional<Trouble> PlanJob::EnqueueCopy(const CopyStep& step, int copy) const {
  if (step.size_bytes == 0 || IsLost(step.destination)) {
    return std::nullopt;
  }
  if (IsLost(step.source)) {
    return Trouble{
        RunStatus::kUnsupported,
        fmt::format("line {}: a copy from a module variable that no kernel uses", step.line)};
  }
  for (const DevicePointer& end : {step.destination, step.source}) {
    if (auto trouble = CheckStep(end, step.size_bytes, "copy", step.line)) {
      return trouble;
    }
  }
  return Refused(
      gpu_.api().copy_on_device(Address(step.destination, copy), Address(step.source, copy),
                                step.size_bytes, gpu_.stream()),
      "copy", step.line);
}

std::optional<Trouble> PlanJob::EnqueueStep(const LaunchStep& step, int copy, size_t& next_launch) {
  const DriverApi& api = gpu_.api();
  if (const auto* launch = std::get_if<KernelLaunch>(&step)) {
    ReadyLaunch& ready = ready_[static_cast<size_t>(copy)][next_launch++];
    if (launch->grid.Count() == 0) {
      return std::nullopt;
    }
    return Refused(api.launch(&ready.config, ready.function, ready.pointers.data(), nullptr),
                   launch->kernel, launch->line);
  }
  if (const auto* attribute = std::get_if<AttributeStep>(&step)) {
    return SetAttribute(*attribute);
  }
  if (const auto* set = std::get_if<MemsetStep>(&step)) {
    if (set->size_bytes == 0 || IsLost(set->destination)) {
      return std::nullopt;
    }
    if (auto trouble = CheckStep(set->destination, set->size_bytes, "memset", set->line)) {
      return trouble;
    }
    return Refused(
        api.set_bytes(Address(set->destination, copy), set->value, set->size_bytes, gpu_.stream()),
        "memset", set->line);
  }
  if (const auto* move = std::get_if<CopyStep>(&step)) {
    return EnqueueCopy(*move, copy);
  }
  const auto& upload = std::get<UploadStep>(step);
  if (upload.bytes.empty() || IsLost(upload.destination)) {
    return std::nullopt;
  }
  if (auto trouble = CheckStep(upload.destination, upload.bytes.size(), "upload", upload.line)) {
    return trouble;
  }
  return Refused(api.copy_to_device(Address(upload.destination, copy), upload.bytes.data(),
                                    upload.bytes.size(), gpu_.stream()),
                 "upload", upload.line);
}

std::optional<Trouble> PlanJob::EnqueueRun(int copy) {
  size_t next_launch = 0;
  for (const LaunchStep& step : job_.plan.steps) {
    if (auto trouble = EnqueueStep(step, copy, next_launch)) {
      return trouble;
    }
  }
  return std::nullopt;
}

int PlanJob::EnqueueOutputs(const std::vector<int64_t>& wanted, int copy, std::byte* arena) {
  int code = DriverApi::kSuccess;
  EachArgument([&](size_t buffer, size_t argument) {
    if (code == DriverApi::kSuccess && wanted[argument] >= 0) {
      code = gpu_.api().copy_to_host(arena + wanted[argument], Base(copy) + layout_.offsets[buffer],
                                     job_.plan.buffers[buffer].size_bytes, gpu_.stream());
    }
  });
  return code;
}

int PlanJob::EnqueueGuardCheck(int copy) {
  int code = DriverApi::kSuccess;
  for (const auto& [from, to] : layout_.guards) {
    if (code == DriverApi::kSuccess) {
      code = gpu_.EnqueueCountOther(Base(copy) + from, to - from, kGuardPattern);
    }
  }
  return code;
}

int PlanJob::EnqueueInputCheck(const Pass& pass, int copy) {
  int code = DriverApi::kSuccess;
  EachArgument([&](size_t buffer, size_t argument) {
    const Contents& contents = pass.before[argument];
    if (code == DriverApi::kSuccess && contents.arena_offset >= 0 && contents.is_read_only) {
      code = gpu_.EnqueueDiffer(Base(copy) + layout_.offsets[buffer],
                                Base(-1) + layout_.offsets[buffer],
                                job_.plan.buffers[buffer].size_bytes);
    }
  });
  return code;
}

int PlanJob::EnqueueDigest(const Pass& pass, int copy, const DigestKey& key) {
  int code = DriverApi::kSuccess;
  EachArgument([&](size_t buffer, size_t argument) {
    if (code == DriverApi::kSuccess && pass.after[argument] >= 0) {
      // Each argument has numbers of its own: two that are swapped must not look the same.
      const DigestKey own{RandomAt(key.low, argument), RandomAt(key.high, argument)};
      code = gpu_.EnqueueDigest(Base(copy) + layout_.offsets[buffer],
                                job_.plan.buffers[buffer].size_bytes, own);
    }
  });
  return code;
}

int PlanJob::EnqueueCopyCheck(const Pass& pass, int copy) {
  int code = DriverApi::kSuccess;
  EachArgument([&](size_t buffer, size_t argument) {
    if (code == DriverApi::kSuccess && !pass.before[argument].is_read_only &&
        pass.after[argument] >= 0) {
      code = gpu_.EnqueueDiffer(Base(copy) + layout_.offsets[buffer],
                                Base(0) + layout_.offsets[buffer],
                                job_.plan.buffers[buffer].size_bytes);
    }
  });
  return code;
}

}  // namespace optiml::cuda
