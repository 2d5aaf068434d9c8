#ifndef OPTIML_MOT_EXPERT_POOL_H_
#define OPTIML_MOT_EXPERT_POOL_H_

// ExpertPool: a bundle with the models that it was made for, loaded and checked, and both sides of
// every boundary on the devices of their models.

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/content_hash.h"
#include "base/result.h"
#include "mot/bundle.h"
#include "mot/expert.h"
#include "mot/interaction_layer.h"

namespace optiml::mot {

// Where the experts' files are, by the bundle's names for them.
using ExpertFiles = std::map<std::string, std::filesystem::path>;

struct PoolOptions {
  ExpertOptions expert;
  bool other_weights = false;  // see MatchExpert
};

class ExpertPool {
 public:
  // Fails when an expert is missing (kNotFound), is not the one of the bundle, or when the self
  // check fails.
  static Result<std::unique_ptr<ExpertPool>> Open(Bundle bundle, const ExpertFiles& files,
                                                  const PoolOptions& options);

  const Bundle& bundle() const { return bundle_; }
  const ContentHash& bundle_hash() const { return bundle_hash_; }
  Expert& expert(size_t index) { return *members_[index].expert; }
  size_t boundary_count() const { return bundle_.boundaries.size(); }
  // The name of the device that the expert's rows lie on at `boundary`.
  std::string DeviceName(size_t expert, size_t boundary) const;

  // Made when they are first asked for.
  Result<PeerProjection*> Projection(size_t expert, size_t boundary);
  Result<InteractionLayer*> Layer(size_t primary, size_t boundary);

  // What the expert's sequence 0 begins with; zero when nothing that can be used again.
  ContentHash& prompt_key(size_t index) { return members_[index].prompt_key; }

 private:
  struct Member {
    std::unique_ptr<Expert> expert;
    std::vector<std::shared_ptr<DeviceBackend>> backends;  // by boundary
    ContentHash prompt_key;
  };

  explicit ExpertPool(Bundle bundle);
  Result<void> AddMember(const BundleExpert& expert, const std::filesystem::path& file,
                         const PoolOptions& options);
  Result<std::shared_ptr<DeviceBackend>> BackendFor(ggml_backend_dev_t device, int threads);

  Bundle bundle_;
  ContentHash bundle_hash_;
  std::vector<Member> members_;
  std::map<ggml_backend_dev_t, std::shared_ptr<DeviceBackend>> backends_;
  std::map<std::pair<size_t, size_t>, std::unique_ptr<PeerProjection>> projections_;
  std::map<std::pair<size_t, size_t>, std::unique_ptr<InteractionLayer>> layers_;
};

}  // namespace optiml::mot

#endif  // OPTIML_MOT_EXPERT_POOL_H_
