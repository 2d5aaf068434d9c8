#include "report/line_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <unordered_map>

#include "base/check.h"

namespace optiml {
namespace {

std::vector<std::string_view> SplitLines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

bool LacksFinalNewline(std::string_view text) {
  return !text.empty() && text.back() != '\n';
}

// Marks the removed lines of `old_ids_` and the added lines of `new_ids_`.
class Myers {
 public:
  Myers(std::vector<int> old_ids, std::vector<int> new_ids)
      : old_ids_(std::move(old_ids)),
        new_ids_(std::move(new_ids)),
        removed_(old_ids_.size()),
        added_(new_ids_.size()),
        offset_(static_cast<ptrdiff_t>((old_ids_.size() + new_ids_.size() + 1) / 2 + 1)),
        forward_(static_cast<size_t>(2 * offset_ + 1)),
        backward_(forward_.size()) {
    Compare(0, Size(old_ids_), 0, Size(new_ids_));
  }

  const std::vector<bool>& removed() const { return removed_; }
  const std::vector<bool>& added() const { return added_; }

 private:
  struct Point {
    ptrdiff_t x;
    ptrdiff_t y;
  };
  struct Snake {
    Point begin;
    Point end;
  };

  static ptrdiff_t Size(const std::vector<int>& ids) { return static_cast<ptrdiff_t>(ids.size()); }
  bool Equal(ptrdiff_t x, ptrdiff_t y) const {
    return old_ids_[static_cast<size_t>(x)] == new_ids_[static_cast<size_t>(y)];
  }
  ptrdiff_t& At(std::vector<ptrdiff_t>& furthest, ptrdiff_t k) const {
    return furthest[static_cast<size_t>(k + offset_)];
  }

  // Compares old [a, b) with new [c, d). Each half of a split needs half of the edits, so the depth
  // is the logarithm of their number.
  void Compare(ptrdiff_t a, ptrdiff_t b, ptrdiff_t c, ptrdiff_t d) {
    while (a < b && c < d && Equal(a, c)) {
      ++a;
      ++c;
    }
    while (a < b && c < d && Equal(b - 1, d - 1)) {
      --b;
      --d;
    }
    if (a == b || c == d) {
      std::fill(removed_.begin() + a, removed_.begin() + b, true);
      std::fill(added_.begin() + c, added_.begin() + d, true);
      return;
    }
    const Snake snake = MiddleSnake(a, b, c, d);
    Compare(a, snake.begin.x, c, snake.begin.y);
    Compare(snake.end.x, b, snake.end.y, d);
  }

  // The furthest x on diagonal k after one more edit, or -1 when the diagonal cannot be reached
  // inside an n by m grid.
  ptrdiff_t Step(std::vector<ptrdiff_t>& furthest, ptrdiff_t k, ptrdiff_t edits, ptrdiff_t n,
                 ptrdiff_t m) const {
    if (edits == 0) {
      return 0;
    }
    const ptrdiff_t from_above = k < edits ? At(furthest, k + 1) : -1;
    const ptrdiff_t from_left = k > -edits ? At(furthest, k - 1) : -1;
    ptrdiff_t x = -1;
    if (from_above >= 0 && from_above - k <= m) {
      x = from_above;
    }
    if (from_left >= 0 && from_left + 1 <= n) {
      x = std::max(x, from_left + 1);
    }
    return x;
  }

  Snake MiddleSnake(ptrdiff_t a, ptrdiff_t b, ptrdiff_t c, ptrdiff_t d) {
    const ptrdiff_t n = b - a;
    const ptrdiff_t m = d - c;
    const ptrdiff_t delta = n - m;
    const bool odd = delta % 2 != 0;
    for (ptrdiff_t edits = 0; edits <= (n + m + 1) / 2; ++edits) {
      for (ptrdiff_t k = -edits; k <= edits; k += 2) {
        ptrdiff_t x = Step(forward_, k, edits, n, m);
        const Point begin{a + x, c + x - k};
        while (x >= 0 && x < n && x - k < m && Equal(a + x, c + x - k)) {
          ++x;
        }
        At(forward_, k) = x;
        const ptrdiff_t mirror = delta - k;
        if (odd && x >= 0 && std::abs(mirror) < edits && At(backward_, mirror) >= 0 &&
            x + At(backward_, mirror) >= n) {
          return {begin, {a + x, c + x - k}};
        }
      }
      for (ptrdiff_t k = -edits; k <= edits; k += 2) {
        ptrdiff_t x = Step(backward_, k, edits, n, m);
        const Point end{b - x, d - (x - k)};
        while (x >= 0 && x < n && x - k < m && Equal(b - 1 - x, d - 1 - (x - k))) {
          ++x;
        }
        At(backward_, k) = x;
        const ptrdiff_t mirror = delta - k;
        if (!odd && x >= 0 && std::abs(mirror) <= edits && At(forward_, mirror) >= 0 &&
            x + At(forward_, mirror) >= n) {
          return {{b - x, d - (x - k)}, end};
        }
      }
    }
    OPTIML_CHECK(false, "two texts always have a middle snake");
  }

  std::vector<int> old_ids_;
  std::vector<int> new_ids_;
  std::vector<bool> removed_;
  std::vector<bool> added_;
  ptrdiff_t offset_;
  std::vector<ptrdiff_t> forward_;   // by diagonal + offset_: furthest x from the beginning
  std::vector<ptrdiff_t> backward_;  // furthest x from the end, counted backwards
};

}  // namespace

std::vector<DiffLine> DiffLines(std::string_view old_text, std::string_view new_text) {
  const std::vector<std::string_view> old_lines = SplitLines(old_text);
  const std::vector<std::string_view> new_lines = SplitLines(new_text);
  // A last line without newline differs from the same line with one.
  std::unordered_map<std::string, int> ids;
  const auto identify = [&](const std::vector<std::string_view>& lines, bool lacks_newline) {
    std::vector<int> result;
    for (size_t i = 0; i < lines.size(); ++i) {
      std::string key(lines[i]);
      if (lacks_newline && i + 1 == lines.size()) {
        key += '\n';
      }
      result.push_back(ids.emplace(std::move(key), static_cast<int>(ids.size())).first->second);
    }
    return result;
  };
  std::vector<int> old_ids = identify(old_lines, LacksFinalNewline(old_text));
  std::vector<int> new_ids = identify(new_lines, LacksFinalNewline(new_text));
  const Myers myers(std::move(old_ids), std::move(new_ids));

  std::vector<DiffLine> lines;
  size_t x = 0;
  size_t y = 0;
  while (x < old_lines.size() || y < new_lines.size()) {
    if (x < old_lines.size() && myers.removed()[x]) {
      lines.push_back({DiffKind::kRemoved, static_cast<int>(x + 1), 0, old_lines[x]});
      ++x;
    } else if (y < new_lines.size() && myers.added()[y]) {
      lines.push_back({DiffKind::kAdded, 0, static_cast<int>(y + 1), new_lines[y]});
      ++y;
    } else {
      lines.push_back(
          {DiffKind::kSame, static_cast<int>(x + 1), static_cast<int>(y + 1), new_lines[y]});
      ++x;
      ++y;
    }
  }
  return lines;
}

std::vector<DiffHunk> DiffHunks(std::string_view old_text, std::string_view new_text, int context) {
  const std::vector<DiffLine> lines = DiffLines(old_text, new_text);
  const auto reach = static_cast<size_t>(context);
  std::vector<DiffHunk> hunks;
  size_t hunk_end = 0;  // of the last hunk, in `lines`
  for (size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].kind == DiffKind::kSame) {
      continue;
    }
    const size_t begin = i >= reach ? i - reach : 0;
    if (hunks.empty() || begin > hunk_end) {
      hunks.emplace_back();
    }
    const size_t end = std::min(i + reach + 1, lines.size());
    for (size_t j = std::max(begin, hunk_end); j < end; ++j) {
      hunks.back().lines.push_back(lines[j]);
    }
    hunk_end = end;
  }
  return hunks;
}

std::string UnifiedDiff(std::string_view old_name, std::string_view new_name,
                        std::string_view old_text, std::string_view new_text, int context) {
  if (old_text == new_text) {
    return "";
  }
  const size_t old_count = SplitLines(old_text).size();
  const size_t new_count = SplitLines(new_text).size();
  std::string patch = fmt::format("--- {}\n+++ {}\n", old_name, new_name);
  for (const DiffHunk& hunk : DiffHunks(old_text, new_text, context)) {
    int old_length = 0;
    int new_length = 0;
    int old_first = 0;  // stays 0 when that text is empty: the hunk has context otherwise
    int new_first = 0;
    for (const DiffLine& line : hunk.lines) {
      old_length += line.old_line != 0 ? 1 : 0;
      new_length += line.new_line != 0 ? 1 : 0;
      old_first = old_first == 0 ? line.old_line : old_first;
      new_first = new_first == 0 ? line.new_line : new_first;
    }
    patch += fmt::format("@@ -{},{} +{},{} @@\n", old_first, old_length, new_first, new_length);
    for (const DiffLine& line : hunk.lines) {
      const char mark = line.kind == DiffKind::kSame      ? ' '
                        : line.kind == DiffKind::kRemoved ? '-'
                                                          : '+';
      patch += fmt::format("{}{}\n", mark, line.text);
      const bool last_old = static_cast<size_t>(line.old_line) == old_count;
      const bool last_new = static_cast<size_t>(line.new_line) == new_count;
      const bool unended =
          (line.kind != DiffKind::kAdded && last_old)
              ? LacksFinalNewline(old_text)
              : (line.kind == DiffKind::kAdded && last_new && LacksFinalNewline(new_text));
      if (unended) {
        patch += "\\ No newline at end of file\n";
      }
    }
  }
  return patch;
}

}  // namespace optiml
