#ifndef OPTIML_GENERATE_API_NAMES_H_
#define OPTIML_GENERATE_API_NAMES_H_

// Names of programs become words before the sentence is split: the path of a library is left out
// ("torch.nn.functional.", "cub::"), "DeviceRadixSort" and "index_add_" are split, keyword
// arguments are said ("bias=False" is "without bias", "axis=-1" the last axis), and the letters of
// dimensions say nothing ("(N, C, H, W)"). Private to words.cpp.

#include <map>
#include <set>
#include <string>
#include <string_view>

namespace optiml {

// Data of lexicon.toml.
struct ApiWords {
  std::set<std::string> namespaces;             // "np", "linalg": parts of paths that say nothing
  std::set<std::string> roots;                  // of these, those that stay a word: "torch"
  std::set<std::string> whole;                  // "ReLU": no border of words inside
  std::set<std::string> along;                  // functions whose last argument may be an axis
  std::set<std::string> dimensions;             // names in tuples of extents: "batch", "hidden"
  std::map<std::string, std::string> methods;   // "maximum.accumulate" -> "cummax"
  std::map<std::string, std::string> calls;     // "linear" -> "inputs outputs"
  std::map<std::string, std::string> keywords;  // "training=false" -> "inference"
};

// Case is kept where it does not end a word. Never fails.
std::string SpeakNames(std::string_view sentence, const ApiWords& words);

// "conv2dLayer", "MSELoss" and "softmax_forward" as words with spaces.
std::string SplitIdentifier(std::string_view name, const std::set<std::string>& whole);

}  // namespace optiml

#endif  // OPTIML_GENERATE_API_NAMES_H_
