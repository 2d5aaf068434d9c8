#include "ptx/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <set>
#include <thread>

#include "ptx/async_state.h"
#include "ptx/global_races.h"
#include "ptx/ordered_atomics.h"
#include "ptx/scheduler.h"

namespace optiml::ptx {
namespace {

// Of grid-wide synchronisation: cooperative groups use the second word as a counter.
constexpr uint64_t kWorkspaceBytes = 256;

LaunchOutcome Refused(std::string message) {
  LaunchOutcome outcome;
  outcome.status = LaunchStatus::kRefused;
  outcome.message = std::move(message);
  return outcome;
}

std::string DimText(const Dim3& dim) {
  return fmt::format("({},{},{})", dim.x, dim.y, dim.z);
}

// The cluster of the launch: what it asks for, or what the kernel requires.
Dim3 ClusterOf(const LaunchRequest& request, const Function& kernel) {
  const uint32_t* required = kernel.required_cluster;
  return request.cluster == Dim3{} && required[0] != 0 ? Dim3{required[0], required[1], required[2]}
                                                       : request.cluster;
}

std::string CheckResidency(const LaunchRequest& request, const Function& kernel) {
  const Dim3 cluster = ClusterOf(request, kernel);
  const Dim3& grid = request.grid;
  const uint32_t* required = kernel.required_cluster;
  if (required[0] != 0 && cluster != Dim3{required[0], required[1], required[2]}) {
    return fmt::format("cluster {} is not the required ({},{},{})", DimText(cluster), required[0],
                       required[1], required[2]);
  }
  if (cluster.Count() == 0 || cluster.Count() > request.limits.cluster_blocks ||
      cluster.Count() > kMaxClusterBlocks) {
    return fmt::format("cluster {} is outside 1 .. {} blocks", DimText(cluster),
                       request.limits.cluster_blocks);
  }
  if (kernel.maximum_cluster != 0 && cluster.Count() > kernel.maximum_cluster) {
    return fmt::format("cluster {} exceeds the kernel's bound of {} blocks", DimText(cluster),
                       kernel.maximum_cluster);
  }
  if (grid.x % cluster.x != 0 || grid.y % cluster.y != 0 || grid.z % cluster.z != 0) {
    return fmt::format("grid {} is no multiple of cluster {}", DimText(grid), DimText(cluster));
  }
  const uint64_t resident = request.limits.resident_blocks;
  if (request.cooperative && resident != 0 && grid.Count() > resident) {
    return fmt::format("a cooperative launch of {} blocks, where {} fit on the device at once",
                       grid.Count(), resident);
  }
  if (request.cooperative && !request.block_sample.empty() &&
      request.block_sample.size() != grid.Count()) {
    return "a cooperative launch cannot be sampled";
  }
  return {};
}

std::string CheckLimits(const LaunchRequest& request, const Function& kernel,
                        const Program& program) {
  const LaunchLimits& limits = request.limits;
  const Dim3& grid = request.grid;
  const Dim3& block = request.block;
  if (grid.x == 0 || grid.y == 0 || grid.z == 0 || grid.x > limits.grid_x ||
      grid.y > limits.grid_y || grid.z > limits.grid_z) {
    return fmt::format("grid ({},{},{}) is outside 1 .. ({},{},{})", grid.x, grid.y, grid.z,
                       limits.grid_x, limits.grid_y, limits.grid_z);
  }
  if (block.x == 0 || block.y == 0 || block.z == 0 || block.x > limits.threads_per_block ||
      block.y > limits.threads_per_block || block.z > 64 ||
      block.Count() > limits.threads_per_block) {
    return fmt::format("block ({},{},{}) is outside 1 .. {} threads", block.x, block.y, block.z,
                       limits.threads_per_block);
  }
  const uint64_t shared = program.static_shared_bytes + request.dynamic_shared_bytes;
  if (shared > limits.shared_bytes_per_block) {
    return fmt::format("{} bytes of shared memory ({} static, {} dynamic) exceed the limit of {}",
                       shared, program.static_shared_bytes, request.dynamic_shared_bytes,
                       limits.shared_bytes_per_block);
  }
  if (request.parameters.size() != kernel.parameter_bytes) {
    return fmt::format("{} bytes of parameters, where {} takes {}", request.parameters.size(),
                       kernel.name, kernel.parameter_bytes);
  }
  const uint32_t* required = kernel.required_threads;
  if (required[0] != 0 &&
      (block.x != required[0] || block.y != required[1] || block.z != required[2])) {
    return fmt::format("block ({},{},{}) is not the required ({},{},{})", block.x, block.y, block.z,
                       required[0], required[1], required[2]);
  }
  const uint32_t* most = kernel.maximum_threads;
  if (most[0] != 0 && block.Count() > uint64_t{most[0]} * most[1] * most[2]) {
    return fmt::format("block of {} threads exceeds the kernel's launch bound of {}", block.Count(),
                       uint64_t{most[0]} * most[1] * most[2]);
  }
  const uint64_t blocks = grid.Count();
  for (const uint64_t id : request.block_sample) {
    if (id >= blocks) {
      return fmt::format("sampled block {} is outside the grid of {}", id, blocks);
    }
  }
  return CheckResidency(request, kernel);
}

// The clusters that hold these blocks, each once, in order.
std::vector<uint64_t> ClustersOf(const std::vector<uint64_t>& blocks, const Dim3& grid,
                                 const Dim3& cluster) {
  std::vector<uint64_t> ids;
  std::set<uint64_t> seen;
  const Dim3 clusters{grid.x / cluster.x, grid.y / cluster.y, grid.z / cluster.z};
  for (const uint64_t block : blocks) {
    const uint64_t x = block % grid.x / cluster.x;
    const uint64_t y = block / grid.x % grid.y / cluster.y;
    const uint64_t z = block / grid.x / grid.y / cluster.z;
    const uint64_t id = (z * clusters.y + y) * clusters.x + x;
    if (seen.insert(id).second) {
      ids.push_back(id);
    }
  }
  return ids;
}

std::string FillConstants(LaunchContext& launch) {
  const Program& program = *launch.program;
  launch.constant_storage.resize(program.constant_storage.size() + 64);
  const auto start =
      (reinterpret_cast<uintptr_t>(launch.constant_storage.data()) + 63) & ~uintptr_t{63};
  auto* constants = reinterpret_cast<uint8_t*>(start);
  std::memcpy(constants, program.constant_storage.data(), program.constant_storage.size());
  launch.constants = constants;
  for (const Program::SymbolUse& use : program.symbols) {
    const auto address = launch.memory->SymbolAddress(*launch.request->module, use.symbol);
    if (!address) {
      return fmt::format("undefined symbol '{}'", use.symbol);
    }
    const uint64_t value = *address + static_cast<uint64_t>(use.addend);
    for (uint32_t l = 0; l < kLanes; ++l) {
      std::memcpy(constants + use.constant + l * use.bytes, &value, use.bytes);
    }
  }
  for (const Program::ParameterUse& use : program.parameters) {
    uint64_t value = 0;
    std::memcpy(&value, launch.request->parameters.data() + use.offset, use.bytes);
    for (uint32_t l = 0; l < kLanes; ++l) {
      std::memcpy(constants + use.constant + l * use.lane_bytes, &value, use.lane_bytes);
    }
  }
  return {};
}

// Adds what the blocks of the program did, times how often each ran.
void CountBlocks(const Program& program, const std::vector<BlockCount>& counts,
                 const std::vector<uint64_t>& predicated, bool all, bool lines, Counters& c) {
  std::map<int32_t, LineCounts> by_line;
  for (size_t b = 0; b < counts.size(); ++b) {
    const BlockFacts& facts = program.blocks[b];
    c.warp_instructions += counts[b].warps * facts.instructions;
    c.thread_instructions += counts[b].threads * facts.instructions;
    if (!all) {
      continue;
    }
    for (const auto& [which, count] : facts.classes) {
      c.thread_by_class[static_cast<size_t>(which)] += counts[b].threads * count;
      c.warp_by_class[static_cast<size_t>(which)] += counts[b].warps * count;
    }
    for (const auto& [which, count] : facts.predicated) {
      c.warp_by_class[static_cast<size_t>(which)] += counts[b].warps * count;
    }
    c.branches += facts.conditional_branch ? counts[b].warps : 0;
    c.global_load_rounds += counts[b].warps * facts.global_load_rounds;
    if (lines && counts[b].warps > 0) {
      for (uint32_t i = 0; i < facts.instructions; ++i) {
        LineCounts& line = by_line[program.instructions[facts.first_instruction + i].source_line];
        line.warp_instructions += counts[b].warps;
        line.thread_instructions += counts[b].threads;
      }
    }
  }
  for (size_t i = 0; all && i < predicated.size(); ++i) {
    c.thread_by_class[i] += predicated[i];
  }
  c.const_load_requests = c.warp_by_class[static_cast<size_t>(InstructionClass::kLoadConst)];
  for (auto& [line, count] : by_line) {
    count.line = line;
    c.lines.push_back(count);
  }
}

std::string LinesText(const Program& program, const std::vector<uint32_t>& instructions) {
  std::map<int32_t, size_t> lines;
  for (const uint32_t i : instructions) {
    ++lines[program.instructions[i].source_line];
  }
  std::string text;
  size_t shown = 0;
  for (const auto& [line, count] : lines) {
    if (++shown > 8) {
      text += ", ...";
      break;
    }
    text += fmt::format("{}line {} ({} warp{})", text.empty() ? "" : ", ", line, count,
                        count == 1 ? "" : "s");
  }
  return text;
}

std::string WaitsText(const std::vector<WorkerResult>& results) {
  constexpr size_t kShown = 4;
  std::string text;
  size_t count = 0;
  for (const WorkerResult& result : results) {
    for (const std::string& wait : result.waits) {
      text += ++count <= kShown ? "; " + wait : count == kShown + 1 ? "; ..." : "";
    }
  }
  return text;
}

}  // namespace

std::string LaunchStatusName(LaunchStatus status) {
  switch (status) {
    case LaunchStatus::kCompleted:
      return "completed";
    case LaunchStatus::kFault:
      return "fault";
    case LaunchStatus::kUnsupported:
      return "unsupported";
    case LaunchStatus::kStepLimit:
      return "step limit";
    case LaunchStatus::kDeadlock:
      return "deadlock";
    case LaunchStatus::kRefused:
      return "refused";
  }
  return "?";
}

LaunchOutcome Launch(const LaunchRequest& request, DeviceMemory& memory) {
  if (request.module == nullptr) {
    return Refused("no module");
  }
  const Function* kernel = request.module->FindKernel(request.kernel);
  if (kernel == nullptr || kernel->is_declaration) {
    std::string known;
    for (const std::string& name : request.module->KernelNames()) {
      known += (known.empty() ? "" : " ") + name;
    }
    return Refused(fmt::format("no kernel '{}' in {} (known: {})", request.kernel,
                               request.module->name, known));
  }
  LaunchContext launch;
  launch.request = &request;
  launch.memory = &memory;
  launch.program = ProgramOf(*request.module, *kernel, request.shadow != nullptr);
  const Program& program = *launch.program;
  if (!program.unsupported.empty()) {
    LaunchOutcome outcome;
    outcome.status = LaunchStatus::kUnsupported;
    outcome.message = program.unsupported.front();
    return outcome;
  }
  if (std::string problem = CheckLimits(request, *kernel, program); !problem.empty()) {
    return Refused(fmt::format("{}: {}", request.kernel, problem));
  }
  if (const auto loaded = memory.LoadModule(*request.module); !loaded) {
    return Refused(loaded.error().message());
  }
  launch.grid = request.grid;
  launch.block = request.block;
  launch.cluster = ClusterOf(request, *kernel);
  launch.cooperative = request.cooperative;
  launch.sample = launch.cluster.Count() > 1
                      ? ClustersOf(request.block_sample, request.grid, launch.cluster)
                      : request.block_sample;
  launch.blocks =
      launch.sample.empty() ? request.grid.Count() / launch.cluster.Count() : launch.sample.size();
  launch.shared_bytes_counted = program.static_shared_bytes + request.dynamic_shared_bytes;
  launch.regions = program.shared;
  launch.shared_bytes = program.dynamic_begin + request.dynamic_shared_bytes;
  if (request.dynamic_shared_bytes > 0) {
    launch.regions.push_back(
        {program.dynamic_name.empty() ? "dynamic shared memory" : program.dynamic_name,
         program.dynamic_begin,
         program.dynamic_begin + static_cast<uint32_t>(request.dynamic_shared_bytes),
         program.dynamic_element_bytes, true});
  }
  if (program.shared.empty() && request.dynamic_shared_bytes == 0) {
    launch.shared_bytes = 0;
  }
  if (std::string problem = FillConstants(launch); !problem.empty()) {
    return Refused(fmt::format("{}: {}", request.kernel, problem));
  }
  const auto place = [](Allocation& allocation, std::string name, uint64_t address,
                        uint64_t bytes) {
    allocation.name = std::move(name);
    allocation.address = address;
    allocation.bytes = bytes;
    allocation.storage = std::make_unique<std::byte[]>(bytes + 1024);
    allocation.host = allocation.storage.get() + 512;
  };
  place(launch.parameters, "parameters of " + request.kernel, kParamWindow,
        request.parameters.size());
  launch.parameters.read_only = true;
  place(launch.workspace, "workspace of the grid's synchronisation", kWorkspaceAddress,
        request.cooperative ? kWorkspaceBytes : 0);
  if (!request.parameters.empty()) {
    std::memcpy(launch.parameters.host, request.parameters.data(), request.parameters.size());
  }
  const bool cache = request.counters && request.cache.enabled;
  const bool grid_of_blocks = launch.cluster.Count() == 1 && !request.cooperative;
  const bool ordered = program.NeedsOneThread(grid_of_blocks) || request.checks.global_races ||
                       request.shadow != nullptr;
  const auto workers = ordered ? size_t{1}
                               : static_cast<size_t>(std::clamp<uint64_t>(
                                     static_cast<uint64_t>(std::max(request.threads, 1)), 1,
                                     std::max<uint64_t>(launch.blocks, 1)));
  launch.workers = static_cast<int>(workers);
  if (cache) {
    launch.l2 = std::make_unique<L2Cache>(request.cache.l2_bytes, request.cache.l2_ways);
    launch.l2->set_shared(workers > 1);
    const auto sms = static_cast<uint32_t>(
        std::min<uint64_t>(std::max(request.cache.sms, 1u), request.grid.Count()));
    for (uint32_t i = 0; i < sms; ++i) {
      launch.l1.push_back(std::make_unique<L1Cache>(request.cache.l1_bytes, request.cache.l1_ways,
                                                    launch.l2.get()));
    }
  }
  if (request.checks.global_races) {
    launch.global_races = std::make_shared<GlobalRaces>(program.global_granule);
  }
  std::vector<AtomicLog> logs(workers);
  if (workers > 1 && program.defers_atomics && grid_of_blocks) {
    launch.ordered_atomics = std::make_shared<OrderedAtomics>(launch, program.block_order_shows);
    constexpr uint64_t kUnitsOfWorker = 64;  // at least, so that all end at about the same time
    constexpr uint64_t kMostBlocks = 32;
    launch.unit_blocks =
        std::clamp<uint64_t>(launch.blocks / (workers * kUnitsOfWorker), 1, kMostBlocks);
  }
  std::vector<std::unique_ptr<Worker>> pool;
  std::vector<WorkerResult> results(workers);
  for (size_t i = 0; i < workers; ++i) {
    auto worker = std::make_unique<Worker>();
    worker->launch = &launch;
    worker->count = request.counters;
    worker->check_init = request.checks.initialisation;
    worker->check_global_races = request.checks.global_races;
    worker->check_races =
        (request.checks.shared_races && launch.shared_bytes > 0) || request.checks.global_races;
    worker->check_warp_races = request.checks.warp_races;
    worker->parallel = workers > 1;
    worker->cache = cache;
    worker->float_shadow = request.shadow;
    worker->cycles_before = request.cycles_before;
    worker->nanoseconds_before = request.nanoseconds_before;
    worker->atomic_log = launch.ordered_atomics != nullptr ? &logs[i] : nullptr;
    worker->blocks.resize(program.blocks.size());
    worker->sites.resize(std::max(program.memory_sites, 1u));
    worker->predicated_threads.resize(kInstructionClasses);
    worker->regions = &launch.regions;
    pool.push_back(std::move(worker));
  }
  if (workers == 1) {
    results[0] = Scheduler(launch, *pool[0]).Run();
  } else {
    std::vector<std::thread> threads;
    for (size_t i = 0; i < workers; ++i) {
      threads.emplace_back([&, i] { results[i] = Scheduler(launch, *pool[i]).Run(); });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
  }
  if (launch.ordered_atomics != nullptr) {
    launch.ordered_atomics->Drain(logs);
  }
  LaunchOutcome outcome;
  outcome.status = LaunchStatus::kCompleted;
  AtomicPlaces places;
  std::vector<uint32_t> where;
  WorkerEnd end = WorkerEnd::kDone;
  for (size_t i = 0; i < workers; ++i) {
    Worker& worker = *pool[i];
    Counters counters;
    if (request.counters) {
      counters = worker.counters;
    } else {
      counters.blocks_run = worker.counters.blocks_run;
    }
    CountBlocks(program, worker.blocks, worker.predicated_threads, request.counters,
                request.counters && request.line_counters, counters);
    outcome.counters += counters;
    places += worker.atomic_places;
    outcome.findings_total += worker.findings_total;
    // A fault goes first: it ended the launch.
    const bool fault = results[i].end == WorkerEnd::kFault;
    if (fault && !worker.findings.empty()) {
      std::rotate(worker.findings.begin(), worker.findings.end() - 1, worker.findings.end());
    }
    outcome.findings.insert(fault ? outcome.findings.begin() : outcome.findings.end(),
                            worker.findings.begin(), worker.findings.end());
    where.insert(where.end(), results[i].instructions.begin(), results[i].instructions.end());
    if (end == WorkerEnd::kDone || fault) {
      end = results[i].end == WorkerEnd::kDone ? end : results[i].end;
    }
  }
  places.Summarise(outcome.counters.global_atomic);
  outcome.counters.blocks_in_grid = request.grid.Count();
  if (cache) {
    outcome.counters.cache_modelled = true;
    outcome.counters.l2_dirty_bytes_at_end = launch.l2->DirtyBytes();
  }
  outcome.printf_output = std::move(launch.printf_output);
  if (launch.global_races != nullptr && !launch.global_races->incomplete().empty()) {
    outcome.notes.push_back("race check incomplete: " + launch.global_races->incomplete());
  }
  switch (end) {
    case WorkerEnd::kDone:
      break;
    case WorkerEnd::kFault: {
      outcome.status = LaunchStatus::kFault;
      const Finding& finding = outcome.findings.front();
      outcome.message =
          fmt::format("{}{}: {}", finding.line > 0 ? fmt::format("line {}: ", finding.line) : "",
                      finding.kind, finding.detail);
      break;
    }
    case WorkerEnd::kStepLimit:
      outcome.status = LaunchStatus::kStepLimit;
      outcome.message = fmt::format("not finished after {} thread-instructions; warps were at {}",
                                    request.step_limit, LinesText(program, where));
      break;
    case WorkerEnd::kDeadlock: {
      outcome.status = LaunchStatus::kDeadlock;
      outcome.message = fmt::format("warps wait for each other for ever at {}{}",
                                    LinesText(program, where), WaitsText(results));
      Finding finding;
      finding.kind = "deadlock";
      finding.kernel = request.kernel;
      finding.detail = outcome.message;
      finding.line = where.empty() ? 0 : program.instructions[where.front()].source_line;
      outcome.findings.push_back(std::move(finding));
      ++outcome.findings_total;
      break;
    }
  }
  return outcome;
}

Result<std::vector<std::byte>> PackParameters(
    const Function& kernel, const std::vector<std::vector<std::byte>>& arguments) {
  if (arguments.size() != kernel.parameters.size()) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("{} takes {} arguments, not {}", kernel.name, kernel.parameters.size(),
                             arguments.size()));
  }
  std::vector<std::byte> block(kernel.parameter_bytes);
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Parameter& parameter = kernel.parameters[i];
    if (arguments[i].size() != parameter.bytes) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("argument {} of {} has {} bytes, not {}", i, kernel.name,
                               arguments[i].size(), parameter.bytes));
    }
    std::copy(arguments[i].begin(), arguments[i].end(),
              block.begin() + static_cast<std::ptrdiff_t>(parameter.offset));
  }
  return block;
}

std::vector<std::string> UnsupportedInstructions(const Module& module, const std::string& kernel) {
  const Function* function = module.FindKernel(kernel);
  if (function == nullptr) {
    return {fmt::format("no kernel '{}'", kernel)};
  }
  return ProgramOf(module, *function)->unsupported;
}

}  // namespace optiml::ptx
