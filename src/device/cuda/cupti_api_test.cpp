// Our declarations of CUPTI's structs against NVIDIA's own headers, where these are on the machine
// that compiles the tests.
#include "device/cuda/cupti_api.h"

#include <gtest/gtest.h>

#include "device/launch_metrics.h"

#ifdef OPTIML_HAS_CUPTI_HEADERS
#include <cupti.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>
#endif

namespace optiml::cuda {
namespace {

#ifdef OPTIML_HAS_CUPTI_HEADERS

// Same size of the whole, same place of every field that we set or read.
#define SAME_SIZE(Ours, Theirs) \
  static_assert(Ours{}.size == Theirs##_STRUCT_SIZE && sizeof(Ours) == sizeof(Theirs))
#define SAME(Ours, field, Theirs, other)                            \
  static_assert(offsetof(Ours, field) == offsetof(Theirs, other) && \
                sizeof(Ours::field) == sizeof(Theirs::other))

SAME_SIZE(CuptiInitialize, CUpti_Profiler_Initialize_Params);
SAME_SIZE(CuptiChipName, CUpti_Device_GetChipName_Params);
SAME(CuptiChipName, device, CUpti_Device_GetChipName_Params, deviceIndex);
SAME(CuptiChipName, chip, CUpti_Device_GetChipName_Params, pChipName);
SAME_SIZE(CuptiAvailability, CUpti_Profiler_GetCounterAvailability_Params);
SAME(CuptiAvailability, context, CUpti_Profiler_GetCounterAvailability_Params, ctx);
SAME(CuptiAvailability, image_bytes, CUpti_Profiler_GetCounterAvailability_Params,
     counterAvailabilityImageSize);
SAME(CuptiAvailability, image, CUpti_Profiler_GetCounterAvailability_Params,
     pCounterAvailabilityImage);
SAME_SIZE(CuptiHostInitialize, CUpti_Profiler_Host_Initialize_Params);
SAME(CuptiHostInitialize, kind, CUpti_Profiler_Host_Initialize_Params, profilerType);
SAME(CuptiHostInitialize, chip, CUpti_Profiler_Host_Initialize_Params, pChipName);
SAME(CuptiHostInitialize, availability, CUpti_Profiler_Host_Initialize_Params,
     pCounterAvailabilityImage);
SAME(CuptiHostInitialize, host, CUpti_Profiler_Host_Initialize_Params, pHostObject);
SAME_SIZE(CuptiHostEnd, CUpti_Profiler_Host_Deinitialize_Params);
SAME(CuptiHostEnd, host, CUpti_Profiler_Host_Deinitialize_Params, pHostObject);
SAME_SIZE(CuptiHostAddMetrics, CUpti_Profiler_Host_ConfigAddMetrics_Params);
SAME(CuptiHostAddMetrics, host, CUpti_Profiler_Host_ConfigAddMetrics_Params, pHostObject);
SAME(CuptiHostAddMetrics, names, CUpti_Profiler_Host_ConfigAddMetrics_Params, ppMetricNames);
SAME(CuptiHostAddMetrics, count, CUpti_Profiler_Host_ConfigAddMetrics_Params, numMetrics);
SAME_SIZE(CuptiHostConfigSize, CUpti_Profiler_Host_GetConfigImageSize_Params);
SAME(CuptiHostConfigSize, bytes, CUpti_Profiler_Host_GetConfigImageSize_Params, configImageSize);
SAME_SIZE(CuptiHostConfig, CUpti_Profiler_Host_GetConfigImage_Params);
SAME(CuptiHostConfig, bytes, CUpti_Profiler_Host_GetConfigImage_Params, configImageSize);
SAME(CuptiHostConfig, image, CUpti_Profiler_Host_GetConfigImage_Params, pConfigImage);
SAME_SIZE(CuptiHostPasses, CUpti_Profiler_Host_GetNumOfPasses_Params);
SAME(CuptiHostPasses, bytes, CUpti_Profiler_Host_GetNumOfPasses_Params, configImageSize);
SAME(CuptiHostPasses, image, CUpti_Profiler_Host_GetNumOfPasses_Params, pConfigImage);
SAME(CuptiHostPasses, passes, CUpti_Profiler_Host_GetNumOfPasses_Params, numOfPasses);
SAME_SIZE(CuptiHostEvaluate, CUpti_Profiler_Host_EvaluateToGpuValues_Params);
SAME(CuptiHostEvaluate, data, CUpti_Profiler_Host_EvaluateToGpuValues_Params, pCounterDataImage);
SAME(CuptiHostEvaluate, data_bytes, CUpti_Profiler_Host_EvaluateToGpuValues_Params,
     counterDataImageSize);
SAME(CuptiHostEvaluate, range, CUpti_Profiler_Host_EvaluateToGpuValues_Params, rangeIndex);
SAME(CuptiHostEvaluate, names, CUpti_Profiler_Host_EvaluateToGpuValues_Params, ppMetricNames);
SAME(CuptiHostEvaluate, count, CUpti_Profiler_Host_EvaluateToGpuValues_Params, numMetrics);
SAME(CuptiHostEvaluate, values, CUpti_Profiler_Host_EvaluateToGpuValues_Params, pMetricValues);
SAME_SIZE(CuptiEnable, CUpti_RangeProfiler_Enable_Params);
SAME(CuptiEnable, context, CUpti_RangeProfiler_Enable_Params, ctx);
SAME(CuptiEnable, profiler, CUpti_RangeProfiler_Enable_Params, pRangeProfilerObject);
SAME_SIZE(CuptiProfiler, CUpti_RangeProfiler_Disable_Params);
SAME(CuptiProfiler, profiler, CUpti_RangeProfiler_Disable_Params, pRangeProfilerObject);
SAME_SIZE(CuptiProfiler, CUpti_RangeProfiler_Start_Params);
SAME(CuptiProfiler, profiler, CUpti_RangeProfiler_Start_Params, pRangeProfilerObject);
SAME_SIZE(CuptiProfiler, CUpti_RangeProfiler_PopRange_Params);
SAME(CuptiProfiler, profiler, CUpti_RangeProfiler_PopRange_Params, pRangeProfilerObject);
SAME_SIZE(CuptiDataSize, CUpti_RangeProfiler_GetCounterDataSize_Params);
SAME(CuptiDataSize, names, CUpti_RangeProfiler_GetCounterDataSize_Params, pMetricNames);
SAME(CuptiDataSize, count, CUpti_RangeProfiler_GetCounterDataSize_Params, numMetrics);
SAME(CuptiDataSize, most_ranges, CUpti_RangeProfiler_GetCounterDataSize_Params, maxNumOfRanges);
SAME(CuptiDataSize, most_nodes, CUpti_RangeProfiler_GetCounterDataSize_Params,
     maxNumRangeTreeNodes);
SAME(CuptiDataSize, bytes, CUpti_RangeProfiler_GetCounterDataSize_Params, counterDataSize);
SAME_SIZE(CuptiDataInitialize, CUpti_RangeProfiler_CounterDataImage_Initialize_Params);
SAME(CuptiDataInitialize, bytes, CUpti_RangeProfiler_CounterDataImage_Initialize_Params,
     counterDataSize);
SAME(CuptiDataInitialize, data, CUpti_RangeProfiler_CounterDataImage_Initialize_Params,
     pCounterData);
SAME_SIZE(CuptiSetConfig, CUpti_RangeProfiler_SetConfig_Params);
SAME(CuptiSetConfig, config_bytes, CUpti_RangeProfiler_SetConfig_Params, configSize);
SAME(CuptiSetConfig, config, CUpti_RangeProfiler_SetConfig_Params, pConfig);
SAME(CuptiSetConfig, data_bytes, CUpti_RangeProfiler_SetConfig_Params, counterDataImageSize);
SAME(CuptiSetConfig, data, CUpti_RangeProfiler_SetConfig_Params, pCounterDataImage);
SAME(CuptiSetConfig, range, CUpti_RangeProfiler_SetConfig_Params, range);
SAME(CuptiSetConfig, replay, CUpti_RangeProfiler_SetConfig_Params, replayMode);
SAME(CuptiSetConfig, most_ranges, CUpti_RangeProfiler_SetConfig_Params, maxRangesPerPass);
SAME(CuptiSetConfig, nesting_levels, CUpti_RangeProfiler_SetConfig_Params, numNestingLevels);
SAME(CuptiSetConfig, least_nesting_level, CUpti_RangeProfiler_SetConfig_Params, minNestingLevel);
SAME(CuptiSetConfig, pass, CUpti_RangeProfiler_SetConfig_Params, passIndex);
SAME(CuptiSetConfig, nesting_level, CUpti_RangeProfiler_SetConfig_Params, targetNestingLevel);
SAME_SIZE(CuptiPush, CUpti_RangeProfiler_PushRange_Params);
SAME(CuptiPush, name, CUpti_RangeProfiler_PushRange_Params, pRangeName);
SAME_SIZE(CuptiStop, CUpti_RangeProfiler_Stop_Params);
SAME(CuptiStop, pass, CUpti_RangeProfiler_Stop_Params, passIndex);
SAME(CuptiStop, nesting_level, CUpti_RangeProfiler_Stop_Params, targetNestingLevel);
SAME(CuptiStop, is_last_pass, CUpti_RangeProfiler_Stop_Params, isAllPassSubmitted);
SAME_SIZE(CuptiDecode, CUpti_RangeProfiler_DecodeData_Params);
SAME(CuptiDecode, dropped_ranges, CUpti_RangeProfiler_DecodeData_Params, numOfRangeDropped);
SAME_SIZE(CuptiDataInfo, CUpti_RangeProfiler_GetCounterDataInfo_Params);
SAME(CuptiDataInfo, data, CUpti_RangeProfiler_GetCounterDataInfo_Params, pCounterDataImage);
SAME(CuptiDataInfo, data_bytes, CUpti_RangeProfiler_GetCounterDataInfo_Params,
     counterDataImageSize);
SAME(CuptiDataInfo, ranges, CUpti_RangeProfiler_GetCounterDataInfo_Params, numTotalRanges);
static_assert(CuptiSetConfig::kAutoRange == CUPTI_AutoRange);
static_assert(CuptiSetConfig::kUserRange == CUPTI_UserRange);
static_assert(CuptiSetConfig::kUserReplay == CUPTI_UserReplay);
static_assert(CuptiHostInitialize::kRangeProfiler == CUPTI_PROFILER_TYPE_RANGE_PROFILER);
static_assert(CuptiApi::kBusy == CUPTI_ERROR_HARDWARE_BUSY);
static_assert(CuptiApi::kNotPermitted == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
static_assert(CuptiApi::kVirtualNotPermitted ==
              CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES);

#endif

// With the real library, where the machine has one: it needs no GPU to say how many passes the
// metrics take on a chip.
TEST(CuptiApi, NeedsAFewPassesForAllMetricsOfAnH200) {
#ifndef OPTIML_HAS_CUPTI_HEADERS
  GTEST_SKIP() << "no CUDA toolkit on this machine";
#else
  const Result<CuptiApi> api = OpenCupti({OPTIML_CUPTI_LIBRARY});
  if (!api) {
    GTEST_SKIP() << api.error().message();
  }
  CuptiInitialize initialize;
  api->initialize(&initialize);  // it wants a driver; the host's part works without
  const std::vector<std::string> wanted = CheapLaunchCounters();
  std::vector<const char*> names;
  for (const std::string& name : wanted) {
    names.push_back(name.c_str());
  }
  CuptiHostInitialize host;
  host.chip = "GH100";
  ASSERT_EQ(api->host_initialize(&host), CuptiApi::kSuccess);
  CuptiHostAddMetrics add;
  add.host = host.host;
  add.names = names.data();
  add.count = names.size();
  ASSERT_EQ(api->host_add_metrics(&add), CuptiApi::kSuccess) << "a metric is not known";
  CuptiHostConfigSize size;
  size.host = host.host;
  ASSERT_EQ(api->host_config_size(&size), CuptiApi::kSuccess);
  std::vector<uint8_t> image(size.bytes);
  CuptiHostConfig config;
  config.host = host.host;
  config.bytes = image.size();
  config.image = image.data();
  ASSERT_EQ(api->host_config(&config), CuptiApi::kSuccess);
  CuptiHostPasses passes;
  passes.bytes = image.size();
  passes.image = image.data();
  ASSERT_EQ(api->host_passes(&passes), CuptiApi::kSuccess);
  EXPECT_GT(passes.passes, 0U);
  EXPECT_LE(passes.passes, 8U);
  CuptiHostEnd end;
  end.host = host.host;
  EXPECT_EQ(api->host_end(&end), CuptiApi::kSuccess);
#endif
}

TEST(CuptiApi, SaysWhatIsMissing) {
  const Result<CuptiApi> none = OpenCupti({"/no/such/file.so", "libc.so.6"});
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().message().find("libc.so.6 has no cuptiGetResultString"),
            std::string::npos);
  EXPECT_FALSE(OpenCupti({}));
}

}  // namespace
}  // namespace optiml::cuda
