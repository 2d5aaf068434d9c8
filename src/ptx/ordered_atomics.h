#ifndef OPTIML_PTX_ORDERED_ATOMICS_H_
#define OPTIML_PTX_ORDERED_ATOMICS_H_

// OrderedAtomics: global atomics of launches on several host threads, for programs whose global
// atomics are all reductions whose old value nobody uses, and in which no block can wait for
// another (Program::defers_atomics). Such an atomic is written to its worker's log and takes effect
// later. Workers take blocks by units of a few that follow each other.
//
// In order, where the order of atomics shows in the results (floating-point sums): a unit's atomics
// take effect when all earlier units are done, so that memory sees every atomic in the order of one
// host thread. What else touches an allocation with such atomics waits until all earlier units are
// done, and then sees its own unit's atomics: to that allocation everything happens in the order of
// blocks. Which allocations these are, the first unit says, which runs alone; one that a later unit
// adds is treated so from then on, which shows only where blocks race. A unit never waits for a
// later one, so the earliest that runs always gets on.
//
// In any order elsewhere: a log takes effect when it is long, or when its worker touches the
// allocation by other means. Where that happens often, all go back to the host's own atomics.
//
// Thread safe. Internal to ptx/.

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

namespace optiml::ptx {

struct Allocation;
struct LaunchContext;
struct MemorySite;

struct DeferredAtomic {
  uint8_t* at = nullptr;  // host bytes
  uint64_t value = 0;
};

// The atomics of one unit, in the order in which they were executed. Each worker has one.
class AtomicLog {
 public:
  // Does the operations of entries [begin, end). `shared`: others may change the same words now.
  using Apply = void (*)(const DeferredAtomic* begin, const DeferredAtomic* end, bool shared);

  void Add(Apply apply, DeferredAtomic atomic) {
    if (runs_.empty() || runs_.back().apply != apply) {
      runs_.push_back({apply, entries_.size()});
    }
    entries_.push_back(atomic);
  }
  size_t size() const { return entries_.size(); }
  // The operations take effect; empty afterwards.
  void Execute(bool shared);

 private:
  friend class OrderedAtomics;
  // Of entries from `begin` to the next run's.
  struct Run {
    Apply apply = nullptr;
    size_t begin = 0;
  };
  uint64_t unit_ = 0;     // its place in the order
  uint32_t settled_ = 0;  // how often other accesses made it take effect
  std::vector<DeferredAtomic> entries_;
  std::vector<Run> runs_;
  // Allocations of which no site of the worker's holds the place. In any order: those in the log.
  std::vector<const Allocation*> known_;
};

class OrderedAtomics {
 public:
  OrderedAtomics(const LaunchContext& launch, bool in_order)
      : launch_(launch), in_order_(in_order) {}

  // The worker's next unit starts, and ends; units are numbered in their order, without gaps.
  void Begin(AtomicLog& log, uint64_t unit);
  void End(AtomicLog& log);

  // Before an atomic on the allocation is added to the log. `sites`: the worker's, which must look
  // their objects up again when the allocation is new to it. False: the atomic is not deferred, the
  // host's own is to be used.
  bool Announce(AtomicLog& log, const Allocation* allocation, std::vector<MemorySite>& sites);
  // Before any other access to it: the log's atomics on the allocation (and, in order, those of
  // earlier units) have taken effect. True: the next access must ask again.
  bool Settle(AtomicLog& log, const Allocation* allocation);

  // A block was put aside: the launch will end in a deadlock, since no block waits for another.
  // Nobody waits any more.
  void Abandon();
  // The launch stopped: nobody waits any more.
  void Wake();
  // What is left after the last worker ended, in order.
  void Drain(std::vector<AtomicLog>& logs);

 private:
  bool Sums(const Allocation* allocation) const;
  void SettleLog(AtomicLog& log);
  bool Over() const;

  // More allocations than this all count as ones with sums.
  static constexpr size_t kMostAllocations = 16;

  const LaunchContext& launch_;
  const bool in_order_;
  std::atomic<bool> direct_{false};  // nothing is deferred any more
  std::array<std::atomic<const Allocation*>, kMostAllocations> sums_{};
  std::atomic<size_t> sum_count_{0};
  std::mutex mutex_;  // of everything below
  std::condition_variable changed_;
  uint64_t next_ = 0;      // the unit whose atomics come next
  bool applying_ = false;  // somebody executes that unit's log
  bool abandoned_ = false;
  std::map<uint64_t, AtomicLog> waiting_;  // logs of units that are done
  size_t waiting_entries_ = 0;
  std::vector<AtomicLog> spare_;  // emptied ones, for their room
};

}  // namespace optiml::ptx

#endif  // OPTIML_PTX_ORDERED_ATOMICS_H_
