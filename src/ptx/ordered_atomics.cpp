#include "ptx/ordered_atomics.h"

#include <algorithm>
#include <utility>

#include "ptx/launch_context.h"

namespace optiml::ptx {
namespace {

// Entries of 16 bytes: a unit that has more waits for its turn, and so do units that are done when
// so many wait.
constexpr size_t kMostOfUnit = size_t{1} << 20;
constexpr size_t kMostWaiting = size_t{1} << 22;
// In any order: a log stays in the host's second cache.
constexpr size_t kMostUnordered = size_t{1} << 13;
// More than an honest count at the end of each unit needs.
constexpr uint32_t kMostSettled = 1000;

}  // namespace

void AtomicLog::Execute(bool shared) {
  for (size_t i = 0; i < runs_.size(); ++i) {
    const size_t end = i + 1 < runs_.size() ? runs_[i + 1].begin : entries_.size();
    runs_[i].apply(entries_.data() + runs_[i].begin, entries_.data() + end, shared);
  }
  entries_.clear();
  runs_.clear();
}

bool OrderedAtomics::Over() const {
  return abandoned_ || launch_.stop;
}

bool OrderedAtomics::Sums(const Allocation* allocation) const {
  const size_t count = sum_count_.load(std::memory_order_acquire);
  if (count > kMostAllocations) {
    return true;
  }
  return std::any_of(sums_.begin(), sums_.begin() + static_cast<std::ptrdiff_t>(count),
                     [&](const auto& one) { return one.load() == allocation; });
}

void OrderedAtomics::Begin(AtomicLog& log, uint64_t unit) {
  log.unit_ = unit;
  if (in_order_ && unit > 0) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return next_ > 0 || Over(); });
  }
}

void OrderedAtomics::End(AtomicLog& log) {
  if (!in_order_) {
    if (log.size() >= kMostUnordered) {
      SettleLog(log);
    }
    return;
  }
  std::unique_lock lock(mutex_);
  if (abandoned_) {
    changed_.wait(lock, [&] { return !applying_; });
    log.Execute(false);
    return;
  }
  const uint64_t unit = log.unit_;
  changed_.wait(lock, [&] { return unit == next_ || waiting_entries_ < kMostWaiting || Over(); });
  waiting_entries_ += log.size();
  AtomicLog& kept = waiting_[unit];
  if (!spare_.empty()) {
    kept = std::move(spare_.back());
    spare_.pop_back();
  }
  std::swap(kept.entries_, log.entries_);
  std::swap(kept.runs_, log.runs_);
  // Whoever finds the next log at hand executes it, without keeping the others from handing theirs
  // in.
  while (!applying_ && !waiting_.empty() && waiting_.begin()->first == next_) {
    AtomicLog now = std::move(waiting_.begin()->second);
    waiting_.erase(waiting_.begin());
    waiting_entries_ -= now.size();
    applying_ = true;
    lock.unlock();
    now.Execute(false);
    lock.lock();
    applying_ = false;
    ++next_;
    spare_.push_back(std::move(now));
    changed_.notify_all();
  }
}

bool OrderedAtomics::Announce(AtomicLog& log, const Allocation* allocation,
                              std::vector<MemorySite>& sites) {
  const bool direct = direct_.load(std::memory_order_acquire);
  if (log.size() >= (in_order_ ? kMostOfUnit : kMostUnordered) || (direct && log.size() > 0)) {
    SettleLog(log);
  }
  if (direct) {
    return false;
  }
  if (std::find(log.known_.begin(), log.known_.end(), allocation) != log.known_.end()) {
    return true;
  }
  log.known_.push_back(allocation);
  for (MemorySite& site : sites) {
    site.Forget();
  }
  if (in_order_) {
    const std::lock_guard lock(mutex_);
    if (!Sums(allocation)) {
      const size_t count = sum_count_.load();
      if (count < kMostAllocations) {
        sums_[count] = allocation;
      }
      sum_count_.store(count + 1, std::memory_order_release);
    }
  }
  return true;
}

bool OrderedAtomics::Settle(AtomicLog& log, const Allocation* allocation) {
  if (in_order_) {
    if (Sums(allocation)) {
      SettleLog(log);
      return true;
    }
    return false;
  }
  if (std::find(log.known_.begin(), log.known_.end(), allocation) != log.known_.end()) {
    SettleLog(log);
    if (++log.settled_ > kMostSettled) {
      const std::lock_guard lock(mutex_);
      direct_.store(true, std::memory_order_release);
    }
  }
  return false;
}

void OrderedAtomics::SettleLog(AtomicLog& log) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !applying_ && (!in_order_ || next_ == log.unit_ || Over()); });
  log.Execute(direct_.load());
  if (!in_order_) {
    log.known_.clear();
  }
}

void OrderedAtomics::Abandon() {
  const std::lock_guard lock(mutex_);
  abandoned_ = true;
  changed_.notify_all();
}

void OrderedAtomics::Wake() {
  const std::lock_guard lock(mutex_);
  changed_.notify_all();
}

void OrderedAtomics::Drain(std::vector<AtomicLog>& logs) {
  for (AtomicLog& log : logs) {
    if (log.size() > 0) {
      waiting_[log.unit_] = std::move(log);
    }
  }
  for (auto& [unit, log] : waiting_) {
    log.Execute(false);
  }
  waiting_.clear();
}

}  // namespace optiml::ptx
