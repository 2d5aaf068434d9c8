#include "mot/mixture.h"

#include <fmt/format.h>

#include <utility>

namespace optiml::mot {

Mixture::Mixture(ExpertPool& pool, PeerReader& reader, size_t primary,
                 std::vector<MixturePeer> peers, MixtureOptions options)
    : pool_(pool),
      reader_(reader),
      primary_(primary),
      peers_(std::move(peers)),
      options_(std::move(options)) {}

ContentHash Mixture::Key(const std::vector<llama_token>& prompt) const {
  ContentHasher hasher;
  hasher.Add(reader_.KeyOf(primary_, prompt).Hex());
  hasher.Add(PeerModeName(options_.mode));
  for (const size_t q : options_.boundaries) {
    hasher.Add(std::to_string(q));
  }
  for (const MixturePeer& peer : peers_) {
    hasher.Add(reader_.KeyOf(peer.expert, peer.view).Hex());
  }
  return hasher.Finish();
}

Result<void> Mixture::Bind(int64_t prompt_tokens, int64_t answer_tokens) {
  prompt_tokens_ = prompt_tokens;
  answer_tokens_ = answer_tokens;
  read_.clear();
  for (const MixturePeer& peer : peers_) {
    const ContentHash& vocabulary = pool_.expert(peer.expert).facts().vocabulary;
    if (answers_one_at_a_time() && vocabulary != pool_.expert(primary_).facts().vocabulary) {
      return Error(ErrorCode::kInvalidArgument,
                   fmt::format("peers that read the answer need the primary's vocabulary; {} has "
                               "another one",
                               pool_.bundle().experts[peer.expert].name));
    }
    OPTIML_ASSIGN(read_.emplace_back(),
                  reader_.Read(peer.expert, peer.view, answers_one_at_a_time()));
  }
  EvalHook& hook = pool_.expert(primary_).hook();
  hook.Clear();
  rows_seen_.assign(pool_.boundary_count(), 0);
  for (const size_t q : ActiveBoundaries()) {
    OPTIML_ASSIGN(InteractionLayer * layer, pool_.Layer(primary_, q));
    hook.Watch(pool_.bundle().experts[primary_].boundaries[q],
               [this, q, layer](ggml_tensor& hidden) { return Interact(q, *layer, hidden); });
  }
  reads_prompt_ = true;
  return ShowViews();
}

std::vector<size_t> Mixture::ActiveBoundaries() const {
  return peers_.empty() ? std::vector<size_t>() : options_.boundaries;
}

Result<void> Mixture::BeginAnswer() {
  reads_prompt_ = false;
  if (answers_one_at_a_time()) {
    for (const MixturePeer& peer : peers_) {
      pool_.expert(peer.expert).CutSequence(0, static_cast<llama_pos>(peer.view.size()));
    }
    return ShowViews();  // without the rows of the answer before
  }
  return {};
}

Result<void> Mixture::ShowViews() {
  const bool grows = options_.mode == PeerMode::kAttention;
  const int64_t room = grows ? answer_tokens_ * static_cast<int64_t>(peers_.size()) : 0;
  for (const size_t q : ActiveBoundaries()) {
    OPTIML_ASSIGN(InteractionLayer * layer, pool_.Layer(primary_, q));
    Latents all;
    for (const auto& read : read_) {
      all.Append(read->boundaries[q]);
    }
    OPTIML_TRY(layer->SetLatents(all, room));
  }
  return {};
}

Result<void> Mixture::BeforeToken(llama_token token, int64_t place) {
  if (!answers_one_at_a_time() || peers_.empty()) {
    return {};
  }
  std::vector<Latents> rows(pool_.boundary_count());
  for (const MixturePeer& peer : peers_) {
    const auto position = static_cast<llama_pos>(static_cast<int64_t>(peer.view.size()) + place);
    OPTIML_ASSIGN(const std::vector<Latents> more, reader_.ReadOn(peer.expert, token, position));
    for (size_t q = 0; q < rows.size(); ++q) {
      rows[q].Append(more[q]);
    }
  }
  for (const size_t q : options_.boundaries) {
    OPTIML_ASSIGN(InteractionLayer * layer, pool_.Layer(primary_, q));
    if (options_.mode == PeerMode::kAligned) {
      OPTIML_TRY(layer->SetLatents(rows[q]));
    } else {
      layer->AppendLatents(rows[q]);
    }
  }
  return {};
}

Mixture::~Mixture() {
  pool_.expert(primary_).hook().Clear();
}

Result<void> Mixture::Interact(size_t boundary, InteractionLayer& layer, ggml_tensor& hidden) {
  const int64_t first = rows_seen_[boundary];
  rows_seen_[boundary] += hidden.ne[1];
  if (options_.mode == PeerMode::kAligned && reads_prompt_) {
    return layer.Apply(hidden, AlignedRows(first, hidden.ne[1]));
  }
  return layer.Apply(hidden);
}

// Of the prompt's rows: each sees the peers' rows that are as far from the end.
Visibility Mixture::AlignedRows(int64_t first_row, int64_t rows) const {
  Visibility visible;
  for (int64_t row = first_row; row < first_row + rows; ++row) {
    const int64_t place = row - prompt_tokens_;
    for (const MixturePeer& peer : peers_) {
      const auto length = static_cast<int64_t>(peer.view.size());
      for (int64_t j = 0; j < length; ++j) {
        visible.push_back(j - length == place ? 1 : 0);
      }
    }
  }
  return visible;
}

}  // namespace optiml::mot
