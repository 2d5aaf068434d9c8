#include "work_json.h"

#include <utility>

namespace optiml {
namespace {

using Json = nlohmann::json;

constexpr std::pair<const char*, uint64_t ptx::Counters::*> kCounts[] = {
    {"blocks_in_grid", &ptx::Counters::blocks_in_grid},
    {"blocks_run", &ptx::Counters::blocks_run},
    {"warps_run", &ptx::Counters::warps_run},
    {"threads_run", &ptx::Counters::threads_run},
    {"warp_instructions", &ptx::Counters::warp_instructions},
    {"thread_instructions", &ptx::Counters::thread_instructions},
    {"branches", &ptx::Counters::branches},
    {"divergent_branches", &ptx::Counters::divergent_branches},
    {"barriers", &ptx::Counters::barriers},
    {"const_load_requests", &ptx::Counters::const_load_requests},
    {"l1_load_sectors", &ptx::Counters::l1_load_sectors},
    {"l1_load_hits", &ptx::Counters::l1_load_hits},
    {"l2_sectors", &ptx::Counters::l2_sectors},
    {"l2_hits", &ptx::Counters::l2_hits},
    {"l2_read_sectors", &ptx::Counters::l2_read_sectors},
    {"l2_write_sectors", &ptx::Counters::l2_write_sectors},
    {"dram_read_bytes", &ptx::Counters::dram_read_bytes},
    {"dram_write_bytes", &ptx::Counters::dram_write_bytes},
    {"l2_dirty_bytes_at_end", &ptx::Counters::l2_dirty_bytes_at_end},
    {"load_requests_from_l2", &ptx::Counters::load_requests_from_l2},
    {"load_requests_from_dram", &ptx::Counters::load_requests_from_dram},
    {"global_load_rounds", &ptx::Counters::global_load_rounds},
    {"longest_warp_work", &ptx::Counters::longest_warp_work},
    {"longest_block_work", &ptx::Counters::longest_block_work}};
constexpr std::pair<const char*, ptx::RequestCounts ptx::Counters::*> kRequests[] = {
    {"global_load", &ptx::Counters::global_load},
    {"global_store", &ptx::Counters::global_store},
    {"local_load", &ptx::Counters::local_load},
    {"local_store", &ptx::Counters::local_store}};
constexpr std::pair<const char*, ptx::SharedCounts ptx::Counters::*> kShared[] = {
    {"shared_load", &ptx::Counters::shared_load}, {"shared_store", &ptx::Counters::shared_store}};
constexpr std::pair<const char*, ptx::AtomicCounts ptx::Counters::*> kAtomics[] = {
    {"global_atomic", &ptx::Counters::global_atomic},
    {"shared_atomic", &ptx::Counters::shared_atomic}};

Json CountersToJson(const ptx::Counters& c) {
  Json json;
  for (const auto& [name, member] : kCounts) {
    json[name] = c.*member;
  }
  for (const auto& [name, member] : kRequests) {
    const ptx::RequestCounts& r = c.*member;
    json[name] = {r.requests, r.sectors, r.lane_bytes, r.lines, r.wavefronts};
  }
  for (const auto& [name, member] : kShared) {
    const ptx::SharedCounts& s = c.*member;
    json[name] = {s.requests, s.wavefronts, s.conflicts};
  }
  for (const auto& [name, member] : kAtomics) {
    const ptx::AtomicCounts& a = c.*member;
    json[name] = {a.requests,
                  a.sectors,
                  a.lanes,
                  a.serialised,
                  a.returning,
                  a.rounds,
                  a.busiest_float_sector_rounds,
                  a.busiest_piece_rounds,
                  a.pieces};
  }
  json["cache_modelled"] = c.cache_modelled;
  json["thread_by_class"] = c.thread_by_class;
  json["warp_by_class"] = c.warp_by_class;
  return json;
}

ptx::Counters CountersFromJson(const Json& json) {
  ptx::Counters c;
  const auto number = [](const Json& list, size_t i) { return list.at(i).get<uint64_t>(); };
  for (const auto& [name, member] : kCounts) {
    c.*member = json.at(name).get<uint64_t>();
  }
  for (const auto& [name, member] : kRequests) {
    const Json& r = json.at(name);
    c.*member = {number(r, 0), number(r, 1), number(r, 2), number(r, 3), number(r, 4)};
  }
  for (const auto& [name, member] : kShared) {
    const Json& s = json.at(name);
    c.*member = {number(s, 0), number(s, 1), number(s, 2)};
  }
  for (const auto& [name, member] : kAtomics) {
    const Json& a = json.at(name);
    c.*member = {number(a, 0), number(a, 1), number(a, 2), number(a, 3), number(a, 4),
                 number(a, 5), number(a, 6), number(a, 7), number(a, 8)};
  }
  c.cache_modelled = json.at("cache_modelled").get<bool>();
  json.at("thread_by_class").get_to(c.thread_by_class);
  json.at("warp_by_class").get_to(c.warp_by_class);
  return c;
}

}  // namespace

Json ToJson(const PlanWork& work) {
  Json steps = Json::array();
  for (const StepWork& step : work) {
    if (!step.launch.has_value()) {
      steps.push_back({{"transfer_bytes", step.transfer_bytes}});
      continue;
    }
    const LaunchWork& launch = *step.launch;
    steps.push_back({{"counters", CountersToJson(launch.counters)},
                     {"threads", launch.block.threads},
                     {"registers", launch.block.registers_per_thread},
                     {"shared_bytes", launch.block.shared_bytes},
                     {"blocks", launch.blocks},
                     {"blocks_run", launch.blocks_run}});
  }
  return steps;
}

PlanWork WorkFromJson(const Json& json) {
  PlanWork work;
  for (const Json& step : json) {
    StepWork made;
    if (step.contains("transfer_bytes")) {
      made.transfer_bytes = step.at("transfer_bytes").get<uint64_t>();
    } else {
      LaunchWork launch;
      launch.counters = CountersFromJson(step.at("counters"));
      launch.block.threads = step.at("threads").get<uint32_t>();
      launch.block.registers_per_thread = step.at("registers").get<int>();
      launch.block.shared_bytes = step.at("shared_bytes").get<uint64_t>();
      launch.blocks = step.at("blocks").get<uint64_t>();
      launch.blocks_run = step.at("blocks_run").get<uint64_t>();
      made.launch = launch;
    }
    work.push_back(std::move(made));
  }
  return work;
}

}  // namespace optiml
