#ifndef OPTIML_BASE_PARALLEL_H_
#define OPTIML_BASE_PARALLEL_H_

// Loops over large arrays on all processors of the host. The pieces are the same on every machine,
// so what is computed by piece and put together in order has the same bits everywhere.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <future>
#include <thread>
#include <vector>

namespace optiml {

// Elements of a piece: much more work than the start of a thread.
inline constexpr int64_t kPiece = int64_t{1} << 19;

inline int64_t PieceCount(int64_t count, int64_t piece = kPiece) {
  return (count + piece - 1) / piece;
}

// work(index of the piece, begin, end) for each piece of [0, count), in any order and several at a
// time. An exception of `work` is thrown again here.
template <typename Work>
void ForEachPiece(int64_t count, const Work& work, int64_t piece = kPiece) {
  const int64_t pieces = PieceCount(count, piece);
  std::atomic<int64_t> next{0};
  const auto take = [&] {
    for (int64_t i = next++; i < pieces; i = next++) {
      work(i, i * piece, std::min(count, (i + 1) * piece));
    }
  };
  const int64_t threads =
      std::min<int64_t>(pieces, std::max(1U, std::thread::hardware_concurrency()));
  std::vector<std::future<void>> others;
  for (int64_t i = 1; i < threads; ++i) {
    others.push_back(std::async(std::launch::async, take));
  }
  take();
  for (std::future<void>& other : others) {
    other.get();
  }
}

// memcpy of what is large.
void CopyBytes(std::byte* to, const std::byte* from, size_t bytes);

}  // namespace optiml

#endif  // OPTIML_BASE_PARALLEL_H_
