#include "mot/bundle.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <numbers>
#include <set>

#include "base/rng.h"

namespace optiml::mot {
namespace {

constexpr int kMostStacks = 64;

Error Wrong(std::string what) {
  return Error(ErrorCode::kParse, std::move(what));
}

Result<void> CheckNumbers(const std::vector<float>& values, int64_t count, const std::string& of) {
  if (static_cast<int64_t>(values.size()) != count) {
    return Wrong(fmt::format("{} has {} numbers, not {}", of, values.size(), count));
  }
  for (size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) {
      return Wrong(
          fmt::format("{} holds {} at {}", of, std::isnan(values[i]) ? "NaN" : "infinity", i));
    }
  }
  return {};
}

Result<void> CheckExpert(const BundleExpert& expert, size_t boundaries) {
  const bool named = !expert.name.empty() &&
                     std::all_of(expert.name.begin(), expert.name.end(), [](unsigned char c) {
                       return std::isalnum(c) != 0 || c == '.' || c == '_' || c == '-';
                     });
  if (!named) {
    return Wrong(
        fmt::format("\"{}\" is no name of an expert (letters, digits, . _ -)", expert.name));
  }
  if (expert.width <= 0 || expert.layers < 1) {
    return Wrong(fmt::format("expert {} has no layers or no width", expert.name));
  }
  if (expert.boundaries.size() != boundaries) {
    return Wrong(fmt::format("expert {} has {} boundaries, not {}", expert.name,
                             expert.boundaries.size(), boundaries));
  }
  int before = 0;
  for (const int layer : expert.boundaries) {
    if (layer < 1 || layer > expert.layers - 2 || layer <= before) {
      return Wrong(fmt::format("expert {}: boundary {} (allowed: ascending, 1 to {})", expert.name,
                               layer, expert.layers - 2));
    }
    before = layer;
  }
  for (const std::string& part : expert.view) {
    const auto& known = ViewParts();
    if (std::find(known.begin(), known.end(), part) == known.end()) {
      return Wrong(fmt::format("expert {}: unknown part \"{}\" of a view (known: {})", expert.name,
                               part, fmt::join(known, " ")));
    }
  }
  if (!IsPromptFormat(expert.prompt_format)) {
    return Wrong(
        fmt::format("expert {}: unknown prompt format \"{}\"", expert.name, expert.prompt_format));
  }
  return {};
}

Result<void> CheckBoundary(const Bundle& bundle, size_t index) {
  const BoundaryWeights& weights = bundle.boundaries[index];
  const int64_t s = bundle.shared_width;
  const std::string at = fmt::format("boundary {}: ", index + 1);
  const size_t experts = bundle.experts.size();
  if (weights.in.size() != experts || weights.kind.size() != experts ||
      weights.down.size() != experts || weights.up.size() != experts) {
    return Wrong(at + "not one matrix an expert");
  }
  OPTIML_TRY(CheckNumbers(weights.query, s * s, at + "wq"));
  OPTIML_TRY(CheckNumbers(weights.key, s * s, at + "wk"));
  OPTIML_TRY(CheckNumbers(weights.value, s * s, at + "wv"));
  OPTIML_TRY(CheckNumbers(weights.output, s * s, at + "wo"));
  OPTIML_TRY(CheckNumbers(weights.null_key, s, at + "null_k"));
  for (size_t m = 0; m < experts; ++m) {
    const BundleExpert& expert = bundle.experts[m];
    const int64_t side = expert.can_be_primary ? s * expert.width : 0;
    OPTIML_TRY(CheckNumbers(weights.in[m], s * expert.width, at + "in of " + expert.name));
    OPTIML_TRY(CheckNumbers(weights.kind[m], s, at + "type of " + expert.name));
    OPTIML_TRY(CheckNumbers(weights.down[m], side, at + "down of " + expert.name));
    OPTIML_TRY(CheckNumbers(weights.up[m], side, at + "up of " + expert.name));
  }
  return {};
}

Result<void> CheckRouter(const Bundle& bundle) {
  const RouterWeights& router = bundle.router;
  const auto experts = static_cast<int64_t>(bundle.experts.size());
  if (router.encoder != "hidden-mean" && router.encoder != "ngrams" && router.encoder != "bert") {
    return Wrong(
        fmt::format("unknown encoder \"{}\" (known: hidden-mean ngrams bert)", router.encoder));
  }
  if (router.encoder == "hidden-mean" &&
      router.code_width != bundle.experts[SmallestExpert(bundle)].width) {
    return Wrong("the router's code is not as wide as the smallest expert");
  }
  if (router.code_width < 1 || router.hidden_width < 1) {
    return Wrong("the router has no width");
  }
  if (router.top_k < 1 || router.top_k > experts) {
    return Wrong(fmt::format("top_k is {} (allowed: 1 to {})", router.top_k, experts));
  }
  const int64_t hidden = router.hidden_width;
  OPTIML_TRY(CheckNumbers(router.hidden, hidden * router.code_width, "router w1"));
  OPTIML_TRY(CheckNumbers(router.hidden_bias, hidden, "router b1"));
  OPTIML_TRY(CheckNumbers(router.output, experts * hidden, "router w2"));
  OPTIML_TRY(CheckNumbers(router.output_bias, experts, "router b2"));
  return {};
}

std::vector<float> Random(Rng& rng, int64_t count, double deviation) {
  std::vector<float> values(static_cast<size_t>(count));
  for (float& value : values) {
    const double radius = std::sqrt(-2 * std::log(1 - rng.NextUnit()));
    value =
        static_cast<float>(deviation * radius * std::cos(2 * std::numbers::pi * rng.NextUnit()));
  }
  return values;
}

BoundaryWeights UntrainedBoundary(const Bundle& bundle, Rng& rng) {
  const int64_t s = bundle.shared_width;
  const double shared = 1 / std::sqrt(static_cast<double>(s));
  BoundaryWeights weights;
  for (const BundleExpert& expert : bundle.experts) {
    const double own = 1 / std::sqrt(static_cast<double>(expert.width));
    weights.in.push_back(Random(rng, s * expert.width, own));
    weights.kind.push_back(Random(rng, s, 0.02));
    const bool primary = expert.can_be_primary;
    weights.down.push_back(primary ? Random(rng, s * expert.width, own) : std::vector<float>());
    weights.up.emplace_back(static_cast<size_t>(primary ? s * expert.width : 0), 0.0F);
  }
  weights.query = Random(rng, s * s, shared);
  weights.key = Random(rng, s * s, shared);
  weights.value = Random(rng, s * s, shared);
  weights.output = Random(rng, s * s, shared);
  weights.null_key = Random(rng, s, shared);
  return weights;
}

RouterWeights UntrainedRouter(const Bundle& bundle, const UntrainedOptions& options, Rng& rng) {
  RouterWeights router;
  router.encoder = options.encoder;
  if (options.encoder == "ngrams") {
    router.code_width = options.ngram_width;
  } else if (options.encoder == "bert") {
    router.code_width = options.bert_width;
    router.encoder_model = options.bert_model;
  } else {
    router.code_width = bundle.experts[SmallestExpert(bundle)].width;
  }
  router.hidden_width = options.router_hidden_width;
  router.top_k = std::min(options.top_k, static_cast<int>(bundle.experts.size()));
  router.hidden =
      Random(rng, router.hidden_width * router.code_width,
             1 / std::sqrt(static_cast<double>(std::max<int64_t>(1, router.code_width))));
  router.hidden_bias.resize(static_cast<size_t>(router.hidden_width));
  router.output.resize(bundle.experts.size() * static_cast<size_t>(router.hidden_width));
  router.output_bias.resize(bundle.experts.size());
  return router;
}

}  // namespace

std::string PeerModeName(PeerMode mode) {
  switch (mode) {
    case PeerMode::kStatic:
      return "static";
    case PeerMode::kAligned:
      return "aligned";
    case PeerMode::kAttention:
      break;
  }
  return "attention";
}

Result<PeerMode> ParsePeerMode(const std::string& name) {
  for (const PeerMode mode : {PeerMode::kStatic, PeerMode::kAligned, PeerMode::kAttention}) {
    if (PeerModeName(mode) == name) {
      return mode;
    }
  }
  return Error(ErrorCode::kParse,
               fmt::format("unknown peer mode \"{}\" (known: static aligned attention)", name));
}

const std::vector<std::string>& ViewParts() {
  static const std::vector<std::string> parts = {"prompt",  "source",    "ptx",
                                                 "profile", "retrieved", "attempts"};
  return parts;
}

int64_t Bundle::ParameterCount() const {
  size_t count = router.hidden.size() + router.hidden_bias.size() + router.output.size() +
                 router.output_bias.size();
  for (const BoundaryWeights& weights : boundaries) {
    count += weights.query.size() + weights.key.size() + weights.value.size() +
             weights.output.size() + weights.null_key.size();
    for (size_t m = 0; m < experts.size(); ++m) {
      count += weights.in[m].size() + weights.kind[m].size() + weights.down[m].size() +
               weights.up[m].size();
    }
  }
  return static_cast<int64_t>(count);
}

Result<size_t> Bundle::FindExpert(const std::string& name) const {
  std::vector<std::string> names;
  for (size_t m = 0; m < experts.size(); ++m) {
    if (experts[m].name == name) {
      return m;
    }
    names.push_back(experts[m].name);
  }
  return Error(ErrorCode::kNotFound, fmt::format("the bundle has no expert \"{}\" (it has: {})",
                                                 name, fmt::join(names, " ")));
}

size_t SmallestExpert(const Bundle& bundle) {
  const auto smallest =
      std::min_element(bundle.experts.begin(), bundle.experts.end(),
                       [](const auto& a, const auto& b) { return a.width < b.width; });
  return static_cast<size_t>(smallest - bundle.experts.begin());
}

Result<void> CheckBundle(const Bundle& bundle) {
  if (bundle.shared_width < 1 || bundle.heads < 1 || bundle.shared_width % bundle.heads != 0) {
    return Wrong(fmt::format("{} heads do not divide a shared width of {}", bundle.heads,
                             bundle.shared_width));
  }
  if (!std::isfinite(bundle.norm_epsilon) || bundle.norm_epsilon <= 0) {
    return Wrong("norm_eps is not a positive number");
  }
  if (bundle.experts.empty() || bundle.boundaries.empty()) {
    return Wrong("no expert or no boundary");
  }
  std::set<std::string> names;
  bool has_primary = false;
  for (const BundleExpert& expert : bundle.experts) {
    OPTIML_TRY(CheckExpert(expert, bundle.boundaries.size()));
    if (!names.insert(expert.name).second) {
      return Wrong(fmt::format("two experts are called {}", expert.name));
    }
    has_primary = has_primary || expert.can_be_primary;
  }
  if (!has_primary) {
    return Wrong("no expert can be the primary");
  }
  for (size_t q = 0; q < bundle.boundaries.size(); ++q) {
    OPTIML_TRY(CheckBoundary(bundle, q));
  }
  return CheckRouter(bundle);
}

ContentHash HashOfBundle(const Bundle& bundle) {
  ContentHasher hasher;
  const auto add = [&](const std::vector<float>& values) {
    hasher.Add({reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)});
  };
  hasher.Add(fmt::format("{} {} {} {}", bundle.shared_width, bundle.heads, bundle.norm_epsilon,
                         PeerModeName(bundle.peer_mode)));
  for (const BundleExpert& expert : bundle.experts) {
    hasher.Add(expert.name);
    hasher.Add(fmt::format("{} {} {}", expert.weights.Hex(), expert.can_be_primary,
                           fmt::join(expert.boundaries, " ")));
  }
  for (const BoundaryWeights& weights : bundle.boundaries) {
    for (const auto* values :
         {&weights.query, &weights.key, &weights.value, &weights.output, &weights.null_key}) {
      add(*values);
    }
    for (const auto* matrices : {&weights.in, &weights.kind, &weights.down, &weights.up}) {
      for (const std::vector<float>& values : *matrices) {
        add(values);
      }
    }
  }
  return hasher.Finish();
}

Result<std::vector<int>> BoundariesOf(int layers, int stacks) {
  if (stacks < 2 || stacks > kMostStacks) {
    return Error(ErrorCode::kInvalidArgument,
                 fmt::format("{} stacks are not allowed (2 to {})", stacks, kMostStacks));
  }
  // Rounded up where there is room, as in the paper.
  for (const int size : {(layers + stacks - 1) / stacks, layers / stacks}) {
    if (size >= 2 && (stacks - 1) * size - 1 <= layers - 2) {
      std::vector<int> boundaries;
      for (int q = 1; q < stacks; ++q) {
        boundaries.push_back(q * size - 1);
      }
      return boundaries;
    }
  }
  return Error(ErrorCode::kInvalidArgument,
               fmt::format("{} layers are too few for {} stacks", layers, stacks));
}

Result<Bundle> MakeUntrainedBundle(const std::vector<UntrainedExpert>& experts,
                                   const UntrainedOptions& options) {
  if (experts.empty()) {
    return Error(ErrorCode::kInvalidArgument, "a bundle needs at least one expert");
  }
  Bundle bundle;
  bundle.shared_width = options.shared_width;
  bundle.heads = options.heads;
  bundle.training = "untrained";
  for (const UntrainedExpert& each : experts) {
    BundleExpert expert;
    expert.name = each.name;
    expert.file = each.facts.file;
    expert.architecture = each.facts.architecture;
    expert.layers = each.facts.layers;
    expert.width = each.facts.width;
    expert.weights = each.facts.weights;
    expert.vocabulary = each.facts.vocabulary;
    expert.prompt_format = each.prompt_format;
    expert.view = each.view;
    expert.can_be_primary = each.can_be_primary;
    auto boundaries = BoundariesOf(expert.layers, options.stacks);
    if (!boundaries) {
      return std::move(boundaries).error().WithContext(each.name);
    }
    expert.boundaries = *std::move(boundaries);
    bundle.experts.push_back(std::move(expert));
  }
  Rng rng(options.seed);
  for (int q = 1; q < options.stacks; ++q) {
    bundle.boundaries.push_back(UntrainedBoundary(bundle, rng));
  }
  bundle.router = UntrainedRouter(bundle, options, rng);
  if (auto right = CheckBundle(bundle); !right) {
    return Error(ErrorCode::kInvalidArgument, right.error().message());
  }
  return bundle;
}

Result<void> MatchExpert(const BundleExpert& expert, const ExpertFacts& facts, bool other_weights) {
  const auto mismatch = [&](const std::string& what) {
    return Error(ErrorCode::kInvalidArgument, fmt::format("{} is not the bundle's expert {}: {}",
                                                          facts.file, expert.name, what));
  };
  if (facts.architecture != expert.architecture || facts.layers != expert.layers ||
      facts.width != expert.width) {
    return mismatch(fmt::format("{}, {} layers of {}, where the bundle has {}, {} layers of {}",
                                facts.architecture, facts.layers, facts.width, expert.architecture,
                                expert.layers, expert.width));
  }
  if (facts.vocabulary != expert.vocabulary) {
    return mismatch("another vocabulary");
  }
  if (facts.weights != expert.weights && !other_weights) {
    return mismatch(fmt::format("other weights (sha256 {}..., not {}...)",
                                facts.weights.Hex().substr(0, 12),
                                expert.weights.Hex().substr(0, 12)));
  }
  return {};
}

}  // namespace optiml::mot
