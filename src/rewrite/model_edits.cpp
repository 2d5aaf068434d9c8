#include "rewrite/model_edits.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include <nlohmann/json.hpp>

#include "base/content_hash.h"

namespace optiml::rewrite {
namespace {

using Json = nlohmann::json;

Edit MakeEdit(const char* name, std::string text) {
  constexpr size_t kDigits = 8;
  Edit edit;
  edit.origin = EditOrigin::kModel;
  edit.rewrite = name;
  edit.parameters["id"] = std::stoll(ContentHash::Of(text).Hex().substr(0, kDigits), nullptr, 16);
  edit.text = std::move(text);
  return edit;
}

std::optional<std::vector<Hunk>> ParseHunks(const std::string& text) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_array()) {
    return std::nullopt;
  }
  std::vector<Hunk> hunks;
  for (const Json& each : json) {
    if (!each.is_array() || each.size() != 2 || !each[0].is_string() || !each[1].is_string()) {
      return std::nullopt;
    }
    hunks.push_back({each[0].get<std::string>(), each[1].get<std::string>()});
  }
  return hunks;
}

struct Place {
  size_t begin = 0;
  size_t end = 0;
  const Hunk* hunk = nullptr;
};

// The first line of an anchor, for messages.
std::string Shown(const std::string& anchor) {
  constexpr size_t kMost = 60;
  const std::string line = anchor.substr(0, anchor.find('\n'));
  return line.size() <= kMost && line.size() == anchor.size() ? line
                                                              : line.substr(0, kMost) + "...";
}

std::variant<std::vector<Place>, ApplyRefusal> FindPlaces(const std::string& text,
                                                          const std::vector<Hunk>& hunks) {
  std::vector<Place> places;
  for (size_t i = 0; i < hunks.size(); ++i) {
    const std::string& anchor = hunks[i].search;
    if (anchor.empty()) {
      return ApplyRefusal{fmt::format("hunk {}: the text to search for is empty", i + 1)};
    }
    const size_t begin = text.find(anchor);
    if (begin == std::string::npos) {
      return ApplyRefusal{
          fmt::format("hunk {}: \"{}\" is not in the source", i + 1, Shown(anchor))};
    }
    if (text.find(anchor, begin + 1) != std::string::npos) {
      return ApplyRefusal{
          fmt::format("hunk {}: \"{}\" is in the source more than once", i + 1, Shown(anchor))};
    }
    places.push_back({begin, begin + anchor.size(), &hunks[i]});
  }
  std::sort(places.begin(), places.end(),
            [](const Place& a, const Place& b) { return a.begin < b.begin; });
  for (size_t i = 1; i < places.size(); ++i) {
    if (places[i].begin < places[i - 1].end) {
      return ApplyRefusal{
          fmt::format("two hunks change the same text, at \"{}\"", Shown(places[i].hunk->search))};
    }
  }
  return places;
}

std::variant<std::string, ApplyRefusal> ApplyHunks(const std::string& text, const Edit& edit) {
  const std::optional<std::vector<Hunk>> hunks = ParseHunks(edit.text);
  if (!hunks || hunks->empty()) {
    return ApplyRefusal{"it has no hunks"};
  }
  auto places = FindPlaces(text, *hunks);
  if (auto* refusal = std::get_if<ApplyRefusal>(&places)) {
    return *refusal;
  }
  std::string out;
  size_t at = 0;
  for (const Place& place : std::get<std::vector<Place>>(places)) {
    out.append(text, at, place.begin - at).append(place.hunk->replace);
    at = place.end;
  }
  return out.append(text, at);
}

}  // namespace

Edit MakeHunksEdit(const std::vector<Hunk>& hunks) {
  Json json = Json::array();
  for (const Hunk& hunk : hunks) {
    json.push_back({hunk.search, hunk.replace});
  }
  return MakeEdit(kHunksEdit, json.dump(-1, ' ', false, Json::error_handler_t::replace));
}

Edit MakeKernelEdit(std::string source) {
  return MakeEdit(kKernelEdit, std::move(source));
}

ApplyOutcome ApplyModelEdit(const KernelSource& source, const Edit& edit) {
  std::variant<std::string, ApplyRefusal> made =
      edit.rewrite == kHunksEdit ? ApplyHunks(source.text(), edit) : edit.text;
  if (auto* refusal = std::get_if<ApplyRefusal>(&made)) {
    return ApplyRefusal{fmt::format("{}: {}", edit.Label(), refusal->reason)};
  }
  auto& text = std::get<std::string>(made);
  if (text.size() > kMostSourceBytes) {
    return ApplyRefusal{fmt::format("{}: the source would be longer than {} bytes", edit.Label(),
                                    kMostSourceBytes)};
  }
  if (text == source.text()) {
    return ApplyRefusal{fmt::format("{}: it changes nothing", edit.Label())};
  }
  return KernelSource(std::move(text), source.entry(), source.path());
}

}  // namespace optiml::rewrite
