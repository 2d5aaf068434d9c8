#include "generate/api_names.h"

#include <algorithm>
#include <sstream>
#include <vector>

#include "generate/characters.h"
#include "generate/tokens.h"

namespace optiml {
namespace {

// Longer calls and tuples are no notation of sizes.
constexpr size_t kMostArguments = 200;

bool StartsName(char c) {
  return IsUpper(c) || IsLower(c);
}
bool IsOfName(char c) {
  return StartsName(c) || IsDigit(c) || c == '_';
}

// Of an argument, without spaces and quotes.
std::string Unquoted(std::string_view text) {
  const size_t first = text.find_first_not_of(" '\"");
  return first == std::string_view::npos
             ? ""
             : std::string(text.substr(first, text.find_last_not_of(" '\"") - first + 1));
}

bool IsInteger(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), IsDigit);
}

std::vector<std::string> Arguments(std::string_view text) {
  std::vector<std::string> arguments;
  while (true) {
    const size_t comma = text.find(',');
    arguments.push_back(Unquoted(text.substr(0, comma)));
    if (comma == std::string_view::npos) {
      return arguments;
    }
    text.remove_prefix(comma + 1);
  }
}

// "HxW", "NxNxN".
bool IsLettersOfShape(std::string_view name) {
  if (name.size() < 3 || name.size() % 2 == 0) {
    return false;
  }
  for (size_t i = 0; i < name.size(); ++i) {
    const bool is_dimension =
        IsUpper(name[i]) || std::string_view("mnkhwdc").find(name[i]) != std::string_view::npos;
    if (i % 2 == 1 ? name[i] != 'x' : !is_dimension) {
      return false;
    }
  }
  return true;
}

class Speaker {
 public:
  Speaker(std::string_view text, const ApiWords& words) : text_(text), words_(words) {}

  std::string Speak() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      const bool begins = at_ == 0 || !(IsOfName(text_[at_ - 1]) || text_[at_ - 1] == '?');
      if (StartsName(c) && begins) {
        Name();
      } else if (c == '[' && text_.substr(at_, 3) == "[~,") {
        spoken_ += " index ";  // the second result of MATLAB's max and min
        at_ = std::min(text_.size(), text_.find(']', at_));
      } else if (c == '(' && !Tuple()) {
        spoken_ += c;
        ++at_;
      } else if (c != '(') {
        spoken_ += c;
        ++at_;
      }
    }
    return std::move(spoken_);
  }

 private:
  char At(size_t i) const { return i < text_.size() ? text_[i] : ' '; }

  // Calls and tuples that are longer say no sizes.
  size_t FindClose(size_t from) const {
    return text_.substr(0, from + kMostArguments).find(')', from);
  }

  size_t EndOfName(size_t i) const {
    while (IsOfName(At(i))) {
      ++i;
    }
    return i;
  }

  // Parts of a path that say nothing are left out, and with them the point between; a known root
  // stays a word ("torch.where").
  void Name() {
    const bool is_method = at_ > 0 && text_[at_ - 1] == '.';
    bool has_path = false;
    while (true) {
      const size_t end = EndOfName(at_);
      const bool colons = At(end) == ':' && At(end + 1) == ':' && StartsName(At(end + 2));
      const bool point = At(end) == '.' && StartsName(At(end + 1));
      if (!(colons || point) || !words_.namespaces.contains(Lower(text_.substr(at_, end - at_)))) {
        break;
      }
      const std::string root = Lower(text_.substr(at_, end - at_));
      at_ = end + (colons ? 2 : 1);
      spoken_ += !has_path && words_.roots.contains(root) ? root + " " : "";
      has_path = true;
    }
    if (Method()) {
      return;
    }
    const size_t end = EndOfName(at_);
    const std::string_view name = text_.substr(at_, end - at_);
    at_ = end;
    if (Keyword(name)) {
      return;
    }
    if (IsLettersOfShape(name)) {
      spoken_ += ' ';
      return;
    }
    if (name == "O" && At(at_) == '(' && FindClose(at_) != std::string_view::npos) {
      at_ = FindClose(at_) + 1;  // "O(n^2)"
      return;
    }
    spoken_ += SplitIdentifier(name, words_.whole);
    SizesOfCall(Lower(name));
    Along(Lower(name), is_method, has_path);
  }

  bool Method() {
    for (const auto& [method, words] : words_.methods) {
      if (text_.substr(at_, method.size()) == method && !IsOfName(At(at_ + method.size()))) {
        Say(words);
        at_ += method.size();
        return true;
      }
    }
    return false;
  }

  // "Conv2d(64, 128, 3, padding=1)": what the numbers are.
  void SizesOfCall(const std::string& name) {
    const auto call = words_.calls.find(name);
    if (call == words_.calls.end() || At(at_) != '(') {
      return;
    }
    const size_t close = text_.substr(0, at_ + kMostArguments).find_first_of("()", at_ + 1);
    if (close == std::string_view::npos || text_[close] != ')') {
      return;
    }
    std::istringstream names(call->second);
    std::string said;
    for (const std::string& argument : Arguments(text_.substr(at_ + 1, close - at_ - 1))) {
      std::string size;
      names >> size;
      if (argument.find('=') != std::string::npos) {
        said += " " + SpeakNames(argument, words_) + " ";
      } else if (IsInteger(argument) && !size.empty() && size != "-") {
        said += " , " + size + " = " + argument + " , ";
      } else if (!IsInteger(argument)) {
        said += " " + argument + " ";
      }
    }
    spoken_ += said;
    at_ = close + 1;
  }

  // "reduction='mean'", "axis=-1". Numbers stay for the sizes.
  bool Keyword(std::string_view name) {
    if (At(at_) != '=' || At(at_ + 1) == '=' || At(at_ + 1) == ' ') {
      return false;
    }
    size_t end = at_ + 1;
    const char quote = At(end);
    if (quote == '(') {
      end = FindClose(end);
      end = end == std::string_view::npos ? text_.size() : end + 1;
    } else {
      end += quote == '-' || quote == '\'' || quote == '"' ? 1 : 0;
      end = EndOfName(end);
      end += At(end) == quote && end > at_ + 2 ? 1 : 0;
    }
    const std::string value = Lower(Unquoted(text_.substr(at_ + 1, end - at_ - 1)));
    const std::string key = Lower(name);
    const auto known = words_.keywords.find(key + "=" + value);
    const auto any = words_.keywords.find(key + "=*");
    if (known != words_.keywords.end()) {
      Say(known->second);
    } else if (any != words_.keywords.end()) {
      Say(any->second);
    } else if (value == "true") {
      Say(SplitIdentifier(name, words_.whole));
    } else if (value == "false" || value == "none") {
      Say("without " + SplitIdentifier(name, words_.whole));
    } else if (quote == '\'' || quote == '"') {
      Say(SplitIdentifier(name, words_.whole) + " " + value);
    } else {
      return false;
    }
    at_ = end;
    return true;
  }

  void Say(const std::string& words) { spoken_ += " " + words + " "; }

  // "x.sum(0)", "np.mean(A, 1)", "sum(A, 2)", "min(D, [], 2)": the last argument is an axis.
  // "max(x, 0)" has none, nor has a "mean(A, 1)" that names no library (its axes begin at one).
  void Along(const std::string& name, bool is_method, bool has_path) {
    if (At(at_) != '(' || !words_.along.contains(name)) {
      return;
    }
    const size_t close = FindClose(at_);
    if (close == std::string_view::npos || close - at_ > kMostArguments) {
      return;
    }
    const std::string_view inside = text_.substr(at_ + 1, close - at_ - 1);
    const std::vector<std::string> arguments = Arguments(inside);
    const std::string& last = arguments.back();
    const bool picks = name == "max" || name == "min";
    const bool is_only = is_method && !has_path && arguments.size() == 1;
    const bool is_second = arguments.size() == 2 && (!picks || has_path);
    const bool is_third = arguments.size() == 3 && arguments[1] == "[]";
    if (inside.find('(') != std::string_view::npos || !(is_only || is_second || is_third)) {
      return;
    }
    const bool from_one = is_third || (is_second && !has_path && !is_method);
    std::string axis;
    if (last == "-1" || last == (from_one ? "2" : "1")) {
      axis = " last axis ";
    } else if (last == (from_one ? "1" : "0")) {
      axis = " first axis ";
    } else {
      return;
    }
    spoken_ += is_only ? " " : " " + arguments.front() + " ";
    spoken_ += axis;
    at_ = close + 1;
  }

  // "(64, 128, 128)" is a shape; "(N, C, H, W)" says nothing.
  bool Tuple() {
    if (at_ > 0 && (IsOfName(text_[at_ - 1]) || text_[at_ - 1] == ')')) {
      return Call();
    }
    const size_t close = FindClose(at_);
    if (close == std::string_view::npos || close - at_ > kMostArguments) {
      return false;
    }
    std::vector<std::string> items = Arguments(text_.substr(at_ + 1, close - at_ - 1));
    const bool one_and_comma = items.size() == 2 && items.back().empty();
    if (items.size() < 2) {
      return false;
    }
    if (one_and_comma) {
      items.pop_back();
    }
    std::string numbers;
    bool all_numbers = true;
    for (const std::string& item : items) {
      if (!IsDimension(item)) {
        return false;
      }
      all_numbers = all_numbers && IsInteger(item);
      numbers += (numbers.empty() ? "" : " x ") + item;
    }
    spoken_ += all_numbers ? " " + numbers + " " + kListEnd + " " : std::string(" ");
    at_ = close + 1;
    return true;
  }

  // "Linear(4096, 11008)".
  bool Call() {
    const size_t close = FindClose(at_);
    if (close == std::string_view::npos || close - at_ > kMostArguments) {
      return false;
    }
    const std::vector<std::string> items = Arguments(text_.substr(at_ + 1, close - at_ - 1));
    if (items.size() != 2 || !std::all_of(items.begin(), items.end(), IsInteger)) {
      return false;
    }
    spoken_ += " " + items[0] + " x " + items[1] + " ";
    at_ = close + 1;
    return true;
  }

  // "N", "B*T", "4C", "Cin", "hidden", "1000".
  bool IsDimension(const std::string& item) const {
    if (item.empty() || item.size() > 12) {
      return false;
    }
    std::string name;
    for (size_t i = 0; i <= item.size(); ++i) {
      const char c = i < item.size() ? item[i] : '*';
      if (IsOfName(c)) {
        name += c;
        continue;
      }
      if (name.empty() || (c != '*' && c != '/')) {
        return false;
      }
      while (name.size() > 1 && IsDigit(name[0]) && !IsInteger(name)) {
        name.erase(0, 1);
      }
      const bool is_letters = name.size() == 1 || (IsUpper(name[0]) && name.size() <= 4) ||
                              IsInteger(name) || words_.dimensions.contains(Lower(name));
      if (!is_letters) {
        return false;
      }
      name.clear();
    }
    return true;
  }

  std::string_view text_;
  const ApiWords& words_;
  size_t at_ = 0;
  std::string spoken_;
};

}  // namespace

std::string SplitIdentifier(std::string_view name, const std::set<std::string>& whole) {
  std::string words;
  for (size_t i = 0; i < name.size();) {
    const auto kept = std::find_if(whole.begin(), whole.end(), [&](const std::string& one) {
      return name.substr(i, one.size()) == one &&
             !IsLower(i + one.size() < name.size() ? name[i + one.size()] : ' ');
    });
    if (kept != whole.end() && (i == 0 || !IsUpper(name[i - 1]))) {
      words += (i > 0 && words.back() != ' ' ? " " : "") + Lower(*kept);
      i += kept->size();
      if (i < name.size()) {
        words += ' ';
      }
      continue;
    }
    const char c = name[i];
    const char before = i > 0 ? name[i - 1] : '_';
    const char after = i + 1 < name.size() ? name[i + 1] : '_';
    // "GPUs" is one word.
    const bool is_plural = after == 's' && i + 2 == name.size();
    const bool begins = IsUpper(c) && ((IsLower(before)) || (IsDigit(before) && IsLower(after)) ||
                                       (IsUpper(before) && IsLower(after) && !is_plural));
    if (begins && !words.empty() && words.back() != ' ') {
      words += ' ';
    }
    words += c == '_' ? ' ' : c;
    ++i;
  }
  return words;
}

std::string SpeakNames(std::string_view sentence, const ApiWords& words) {
  return Speaker(sentence, words).Speak();
}

}  // namespace optiml
