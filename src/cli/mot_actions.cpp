// `optiml mot` with llama.cpp.
#include "cli/mot_actions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/file_system.h"
#include "mot/mot_chat_model.h"
#include "mot/mot_generator.h"
#include "report/text_format.h"

namespace optiml {
namespace {

using Json = nlohmann::ordered_json;
using Pairs = std::vector<std::pair<std::string, std::string>>;

constexpr size_t kMostPromptBytes = size_t{64} << 20;

Error BadUse(std::string what) {
  return Error(ErrorCode::kInvalidArgument, std::move(what));
}

// "a=b" -> {a, b}.
Result<Pairs> ParsePairs(const std::vector<std::string>& texts, const char* option) {
  Pairs pairs;
  for (const std::string& text : texts) {
    const size_t equals = text.find('=');
    if (equals == 0 || equals == std::string::npos || equals + 1 == text.size()) {
      return BadUse(fmt::format("{} {}: not of the form NAME=VALUE", option, text));
    }
    pairs.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  return pairs;
}

std::vector<std::string> SplitAtCommas(const std::string& text) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == ',') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

Result<std::map<std::string, std::vector<std::string>>> ParseViews(
    const MotCommandOptions& options) {
  OPTIML_ASSIGN(const Pairs pairs, ParsePairs(options.views, "--view"));
  std::map<std::string, std::vector<std::string>> views;
  for (const auto& [name, parts] : pairs) {
    views[name] = SplitAtCommas(parts);
  }
  return views;
}

// Where each of the bundle's experts is: as named, else the file that the bundle names.
Result<mot::ExpertFiles> FindFiles(const MotCommandOptions& options, const mot::Bundle& bundle,
                                   const CliEnv& env) {
  OPTIML_ASSIGN(const Pairs pairs, ParsePairs(options.experts, "--expert"));
  mot::ExpertFiles files;
  for (const auto& [name, file] : pairs) {
    files[name] = env.Resolve(file);
  }
  const fs::path folder = options.models.empty() ? env.Resolve(options.bundle).parent_path()
                                                 : env.Resolve(options.models);
  for (const mot::BundleExpert& expert : bundle.experts) {
    // A name from a file: it stays within the folder.
    const fs::path name = fs::path(expert.file).filename();
    std::error_code ignored;
    if (files.count(expert.name) == 0 && !name.empty() && fs::exists(folder / name, ignored)) {
      files[expert.name] = folder / name;
    }
  }
  return files;
}

mot::PoolOptions PoolOptionsOf(const MotCommandOptions& options) {
  mot::PoolOptions pool;
  pool.expert.threads = options.threads;
  pool.expert.context_tokens = options.context;
  pool.other_weights = options.other_weights;
  return pool;
}

Json ExpertJson(const mot::BundleExpert& expert) {
  return {{"name", ValidUtf8(expert.name)},
          {"file", ValidUtf8(expert.file)},
          {"architecture", ValidUtf8(expert.architecture)},
          {"layers", expert.layers},
          {"width", expert.width},
          {"boundaries", expert.boundaries},
          {"can_be_primary", expert.can_be_primary},
          {"prompt_format", expert.prompt_format},
          {"view", expert.view},
          {"sha256", expert.weights.Hex()}};
}

void PrintBundle(const mot::Bundle& bundle, bool as_json, CliEnv& env) {
  Json json = {{"shared_width", bundle.shared_width},
               {"heads", bundle.heads},
               {"peers", mot::PeerModeName(bundle.peer_mode)},
               {"training", ValidUtf8(bundle.training)},
               {"parameters", bundle.ParameterCount()},
               {"router", bundle.router.encoder},
               {"top_k", bundle.router.top_k},
               {"experts", Json::array()}};
  std::string text = fmt::format(
      "{} experts, {} boundaries, {} parameters; shared width {}, {} heads; peers {}; router by "
      "{}, "
      "{} take part\ntraining: {}\n",
      bundle.experts.size(), bundle.boundaries.size(), bundle.ParameterCount(), bundle.shared_width,
      bundle.heads, mot::PeerModeName(bundle.peer_mode), bundle.router.encoder, bundle.router.top_k,
      OneLine(bundle.training));
  for (const mot::BundleExpert& expert : bundle.experts) {
    json["experts"].push_back(ExpertJson(expert));
    text += fmt::format("  {:<12} {} ({}, {} layers of {}, boundaries {}; {}; reads {})\n",
                        expert.name, expert.file, expert.architecture, expert.layers, expert.width,
                        fmt::join(expert.boundaries, " "),
                        expert.can_be_primary ? "primary or peer" : "peer",
                        fmt::join(expert.view, ", "));
  }
  *env.out << (as_json ? json.dump(2) + "\n" : text);
}

Result<std::vector<mot::UntrainedExpert>> ReadExperts(const MotCommandOptions& options,
                                                      const CliEnv& env) {
  OPTIML_ASSIGN(const Pairs files, ParsePairs(options.experts, "--expert"));
  OPTIML_ASSIGN(const Pairs format_list, ParsePairs(options.formats, "--format"));
  OPTIML_ASSIGN(auto views, ParseViews(options));
  std::map<std::string, std::string> formats(format_list.begin(), format_list.end());
  std::vector<std::string> named = options.peers;
  for (const auto& [name, format] : formats) {
    named.push_back(name);
  }
  for (const auto& [name, view] : views) {
    named.push_back(name);
  }
  std::vector<mot::UntrainedExpert> experts;
  for (const auto& [name, file] : files) {
    mot::ExpertOptions few;
    few.context_tokens = 64;  // it is only looked at
    OPTIML_ASSIGN(const auto opened, mot::Expert::Open(env.Resolve(file), few));
    mot::UntrainedExpert expert;
    expert.name = name;
    expert.facts = opened->facts();
    const bool own = opened->FormatPrompt("own", {{ChatRole::kUser, "x"}}).has_value();
    expert.prompt_format = formats.count(name) > 0 ? formats[name] : own ? "own" : "raw";
    if (views.count(name) > 0) {
      expert.view = views[name];
    }
    expert.can_be_primary =
        std::find(options.peers.begin(), options.peers.end(), name) == options.peers.end();
    experts.push_back(std::move(expert));
    named.erase(std::remove(named.begin(), named.end(), name), named.end());
  }
  if (!named.empty()) {
    return BadUse(fmt::format("no --expert is called \"{}\"", named.front()));
  }
  return experts;
}

Result<int> Init(const MotCommandOptions& options, CliEnv& env) {
  const fs::path file = env.Resolve(options.bundle);
  std::error_code ignored;
  if (fs::exists(file, ignored)) {
    return BadUse(fmt::format("{}: is there already (choose another name)", options.bundle));
  }
  OPTIML_ASSIGN(const auto experts, ReadExperts(options, env));
  mot::UntrainedOptions untrained;
  untrained.stacks = options.stacks;
  untrained.shared_width = options.shared_width;
  untrained.heads = options.heads;
  untrained.encoder = options.router;
  untrained.top_k = options.top_k > 0 ? options.top_k : 2;
  untrained.seed = options.seed;
  if (options.router == "bert") {
    if (options.encoder.empty()) {
      return BadUse("a bert router needs --encoder FILE");
    }
    OPTIML_ASSIGN(const auto opened, mot::OpenBertEncoder(env.Resolve(options.encoder), 1));
    untrained.bert_width = opened.encoder->width();
    untrained.bert_model = opened.model;
  }
  OPTIML_ASSIGN(const mot::Bundle bundle, mot::MakeUntrainedBundle(experts, untrained));
  OPTIML_TRY(mot::SaveBundle(bundle, file));
  PrintBundle(bundle, options.json, env);
  return kExitDone;
}

Result<int> Check(const MotCommandOptions& options, const mot::Bundle& bundle, CliEnv& env) {
  OPTIML_ASSIGN(const mot::ExpertFiles files, FindFiles(options, bundle, env));
  mot::PoolOptions pool_options = PoolOptionsOf(options);
  pool_options.expert.context_tokens = 64;
  OPTIML_ASSIGN(const auto pool, mot::ExpertPool::Open(bundle, files, pool_options));
  Json json = Json::array();
  std::string text;
  for (size_t m = 0; m < bundle.experts.size(); ++m) {
    std::vector<std::string> devices;
    for (size_t q = 0; q < bundle.boundaries.size(); ++q) {
      devices.push_back(pool->DeviceName(m, q));
    }
    json.push_back({{"name", bundle.experts[m].name}, {"usable", true}, {"devices", devices}});
    text += fmt::format("{}: usable; its boundaries are on {}\n", bundle.experts[m].name,
                        fmt::join(devices, ", "));
  }
  *env.out << (options.json ? json.dump(2) + "\n" : text);
  return kExitDone;
}

Result<mot::PromptViews> ReadRequest(const MotCommandOptions& options, const CliEnv& env) {
  mot::PromptViews views;
  OPTIML_ASSIGN(std::string prompt, ReadFile(env.Resolve(options.prompt), kMostPromptBytes));
  views.messages.push_back({ChatRole::kUser, std::move(prompt)});
  OPTIML_ASSIGN(const Pairs parts, ParsePairs(options.parts, "--part"));
  for (const auto& [name, file] : parts) {
    const auto& known = mot::ViewParts();
    if (name == "prompt" || std::find(known.begin(), known.end(), name) == known.end()) {
      return BadUse(fmt::format("--part {}: unknown part (known: {})", name,
                                fmt::join(known.begin() + 1, known.end(), " ")));
    }
    OPTIML_ASSIGN(views.parts[name], ReadFile(env.Resolve(file), kMostPromptBytes));
  }
  return views;
}

Result<std::unique_ptr<mot::MotGenerator>> OpenGenerator(const MotCommandOptions& options,
                                                         mot::Bundle bundle, const CliEnv& env) {
  mot::MotOptions opened;
  opened.pool = PoolOptionsOf(options);
  opened.mixture = !options.no_mot;
  opened.top_k = options.top_k;
  opened.primary = options.primary;
  opened.depths = options.depths;
  if (!options.peer_mode.empty()) {
    OPTIML_ASSIGN(opened.mode, mot::ParsePeerMode(options.peer_mode));
  }
  OPTIML_ASSIGN(opened.views, ParseViews(options));
  if (!options.encoder.empty()) {
    opened.encoder = env.Resolve(options.encoder);
  }
  OPTIML_ASSIGN(const mot::ExpertFiles files, FindFiles(options, bundle, env));
  return mot::MotGenerator::Open(std::move(bundle), files, opened);
}

Json RouteJson(const mot::Route& route, const mot::Bundle& bundle) {
  Json scores;
  for (size_t m = 0; m < route.scores.size(); ++m) {
    scores[ValidUtf8(bundle.experts[m].name)] = route.scores[m];
  }
  Json peers = Json::array();
  for (const size_t m : route.peers) {
    peers.push_back(ValidUtf8(bundle.experts[m].name));
  }
  return {{"primary", ValidUtf8(bundle.experts[route.primary].name)},
          {"peers", peers},
          {"scores", scores}};
}

Result<int> PrintRoute(const MotCommandOptions& options, mot::Bundle bundle, CliEnv& env) {
  OPTIML_ASSIGN(const mot::PromptViews views, ReadRequest(options, env));
  OPTIML_ASSIGN(const auto generator, OpenGenerator(options, std::move(bundle), env));
  OPTIML_ASSIGN(const mot::Route route, generator->RouteOf(views));
  const mot::Bundle& opened = generator->pool().bundle();
  if (options.json) {
    *env.out << RouteJson(route, opened).dump(2) << "\n";
    return kExitDone;
  }
  for (size_t m = 0; m < route.scores.size(); ++m) {
    const bool is_peer = std::find(route.peers.begin(), route.peers.end(), m) != route.peers.end();
    *env.out << fmt::format("{:<12} {:.3f}{}\n", opened.experts[m].name, route.scores[m],
                            m == route.primary ? "  primary"
                            : is_peer          ? "  peer"
                                               : "");
  }
  return kExitDone;
}

Result<int> Generate(const MotCommandOptions& options, mot::Bundle bundle, CliEnv& env) {
  OPTIML_ASSIGN(const mot::PromptViews views, ReadRequest(options, env));
  mot::GenerateOptions how;
  how.sampling.max_tokens = options.max_tokens;
  how.sampling.temperature = options.temperature;
  how.sampling.seed = options.seed;
  how.stop = env.stop;
  if (!options.grammar.empty()) {
    OPTIML_ASSIGN(how.sampling.grammar, ReadFile(env.Resolve(options.grammar), kMostPromptBytes));
  }
  OPTIML_ASSIGN(const auto generator, OpenGenerator(options, std::move(bundle), env));
  OPTIML_ASSIGN(const mot::Generated generated,
                generator->Generate(views, options.candidates, how));
  if (!options.json) {
    for (size_t i = 0; i < generated.candidates.size(); ++i) {
      *env.out << (generated.candidates.size() > 1 ? fmt::format("--- {}\n", i + 1) : "")
               << generated.candidates[i].text << "\n";
    }
    return kExitDone;
  }
  Json json = RouteJson(generated.route, generator->pool().bundle());
  json["prompt_tokens"] = generated.prompt_tokens;
  json["view_tokens"] = generated.view_tokens;
  json["candidates"] = Json::array();
  for (const mot::Candidate& candidate : generated.candidates) {
    json["candidates"].push_back({{"text", ValidUtf8(candidate.text)},
                                  {"tokens", candidate.tokens},
                                  {"cut", candidate.cut}});
  }
  *env.out << json.dump(2) << "\n";
  return kExitDone;
}

}  // namespace

Result<int> RunMotAction(const MotCommandOptions& options, CliEnv& env) {
  if (options.action == "init") {
    return Init(options, env);
  }
  OPTIML_ASSIGN(mot::Bundle bundle, mot::LoadBundle(env.Resolve(options.bundle)));
  if (options.action == "inspect") {
    PrintBundle(bundle, options.json, env);
    return kExitDone;
  }
  if (options.action == "check") {
    return Check(options, bundle, env);
  }
  return options.action == "route" ? PrintRoute(options, std::move(bundle), env)
                                   : Generate(options, std::move(bundle), env);
}

Result<std::unique_ptr<ChatModel>> OpenMotModel(const std::string& bundle, const CliEnv& env) {
  MotCommandOptions options;
  options.bundle = bundle;
  OPTIML_ASSIGN(mot::Bundle loaded, mot::LoadBundle(env.Resolve(bundle)));
  OPTIML_ASSIGN(auto generator, OpenGenerator(options, std::move(loaded), env));
  return std::unique_ptr<ChatModel>(std::make_unique<mot::MotChatModel>(std::move(generator)));
}

}  // namespace optiml
