#ifndef OPTIML_STORE_ENUM_NAMES_H_
#define OPTIML_STORE_ENUM_NAMES_H_

// The words that the store's JSON has for enumerators: Rows(E{}) for each of them but stages.

#include <array>

#include "store/run_record.h"

namespace optiml {

template <typename E>
struct EnumRow {
  E value;
  const char* name;
};

inline constexpr std::array<EnumRow<Bound>, 5> kBounds = {{{Bound::kUnknown, "unknown"},
                                                           {Bound::kMemory, "memory"},
                                                           {Bound::kCompute, "compute"},
                                                           {Bound::kLatency, "latency"},
                                                           {Bound::kOccupancy, "occupancy"}}};
inline constexpr std::array<EnumRow<EditOrigin>, 3> kOrigins = {{{EditOrigin::kRewrite, "rewrite"},
                                                                 {EditOrigin::kTextRewrite, "text"},
                                                                 {EditOrigin::kModel, "model"}}};
inline constexpr std::array<EnumRow<Direction>, 2> kDirections = {
    {{Direction::kDown, "down"}, {Direction::kUp, "up"}}};
inline constexpr std::array<EnumRow<TimingKind>, 2> kTimingKinds = {
    {{TimingKind::kMeasured, "measured"}, {TimingKind::kPredicted, "predicted"}}};
inline constexpr std::array<EnumRow<ProfileSource>, 4> kSources = {
    {{ProfileSource::kEmulator, "emulator"},
     {ProfileSource::kCupti, "cupti"},
     {ProfileSource::kNcu, "ncu"},
     {ProfileSource::kStatic, "static"}}};
inline constexpr std::array<EnumRow<Verdict>, 3> kVerdicts = {{{Verdict::kSupported, "supported"},
                                                               {Verdict::kRefuted, "refuted"},
                                                               {Verdict::kUnclear, "unclear"}}};
inline constexpr std::array<EnumRow<EditMark>, 3> kMarks = {
    {{EditMark::kKeep, "KEEP"}, {EditMark::kBridge, "BRIDGE"}, {EditMark::kDropped, "DROPPED"}}};
inline constexpr std::array<EnumRow<RunState>, 4> kStates = {
    {{RunState::kRunning, "running"},
     {RunState::kInterrupted, "interrupted"},
     {RunState::kFinished, "finished"},
     {RunState::kFailed, "failed"}}};

inline const auto& Rows(Bound) {
  return kBounds;
}
inline const auto& Rows(EditOrigin) {
  return kOrigins;
}
inline const auto& Rows(Direction) {
  return kDirections;
}
inline const auto& Rows(TimingKind) {
  return kTimingKinds;
}
inline const auto& Rows(ProfileSource) {
  return kSources;
}
inline const auto& Rows(Verdict) {
  return kVerdicts;
}
inline const auto& Rows(EditMark) {
  return kMarks;
}
inline const auto& Rows(RunState) {
  return kStates;
}

}  // namespace optiml

#endif  // OPTIML_STORE_ENUM_NAMES_H_
