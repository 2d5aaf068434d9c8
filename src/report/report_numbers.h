#ifndef OPTIML_REPORT_REPORT_NUMBERS_H_
#define OPTIML_REPORT_REPORT_NUMBERS_H_

// The arithmetic of a report: gains with intervals, metric changes, claims, roofline points, shares
// of time.

#include <string>
#include <vector>

#include "report/report_model.h"

namespace optiml {

// Pairs the timed shapes of two evaluations by their text, in the order of `before`.
std::vector<ShapeRow> MatchShapes(const Evaluation& before, const Evaluation& after,
                                  double prediction_error_factor);

// Geometric mean over the shapes. The interval is the mean of the shapes' bounds when measured, and
// the stated error around the value when predicted. Absent when there are no shapes.
std::optional<GainEstimate> GainOverShapes(const std::vector<ShapeRow>& shapes, bool measured,
                                           double prediction_error_factor);

// Every metric that either side has, in the order of the metric table, unknown ones last by name.
// A null side has none.
std::vector<MetricChange> AllChanges(const Profile* before, const Profile* after);

// Those that both sides have and that changed by 1 % or more, largest relative change first.
std::vector<MetricChange> NotableChanges(const Profile* before, const Profile* after);

std::vector<ClaimCheck> CheckClaims(const std::vector<MetricClaim>& claims, const Profile* before,
                                    const Profile* after);

// Fills model.roofline, or model.no_roofline.
void MakeRoofline(ReportModel& model);

// Fills model.floor.
void MakeFloor(ReportModel& model);

// The share of `wall_s` in which a device had nothing to do, 0 .. 1.
double IdleShare(const DeviceUse& use, double wall_s);

// How fast the search was, then a sentence for each device that counted its time. Empty where none
// did.
std::vector<std::string> DeviceLines(const RunRecord& run);

// Fills model.stage_shares and model.total_seconds from all nodes.
void MakeStageShares(ReportModel& model);

}  // namespace optiml

#endif  // OPTIML_REPORT_REPORT_NUMBERS_H_
