// Runs the cases of a folder that `agree write` made on the GPU of this machine and writes
// outputs.bin there. Not part of the build: the script compiles it where a GPU and the CUDA driver
// are.
//
//   g++ -std=c++17 -I $CUDA/include run_on_gpu.cpp -lcuda -o run_on_gpu && ./run_on_gpu FOLDER
//
// A case that the driver refuses costs that case: it is named on standard error, its byte in
// outputs.bin is 0.

#include <cuda.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

void Check(CUresult result, const char* what) {
  if (result != CUDA_SUCCESS) {
    const char* text = nullptr;
    cuGetErrorString(result, &text);
    throw std::runtime_error(std::string(what) + ": " + (text != nullptr ? text : "?"));
  }
}

std::string ReadAll(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    throw std::runtime_error("cannot read " + path);
  }
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

struct Texture {
  bool surface = false;
  std::string kind, format, address;
  unsigned dimensions = 1, channels = 1, width = 1, height = 1, depth = 1;
  int linear = 0, normalised = 0, as_float = 0;
  size_t offset = 0, bytes = 0;
};

struct Step {
  bool out = false;
  size_t offset = 0, bytes = 0;
};

struct Case {
  std::string name, module;
  unsigned grid = 1, block = 1;
  std::vector<Step> buffers;
  std::vector<Texture> textures;
};

CUarray_format FormatOf(const std::string& name) {
  return name == "u8"    ? CU_AD_FORMAT_UNSIGNED_INT8
         : name == "s8"  ? CU_AD_FORMAT_SIGNED_INT8
         : name == "u16" ? CU_AD_FORMAT_UNSIGNED_INT16
         : name == "s16" ? CU_AD_FORMAT_SIGNED_INT16
         : name == "u32" ? CU_AD_FORMAT_UNSIGNED_INT32
         : name == "s32" ? CU_AD_FORMAT_SIGNED_INT32
         : name == "f16" ? CU_AD_FORMAT_HALF
                         : CU_AD_FORMAT_FLOAT;
}

CUaddress_mode AddressOf(const std::string& name) {
  return name == "wrap"     ? CU_TR_ADDRESS_MODE_WRAP
         : name == "mirror" ? CU_TR_ADDRESS_MODE_MIRROR
         : name == "border" ? CU_TR_ADDRESS_MODE_BORDER
                            : CU_TR_ADDRESS_MODE_CLAMP;
}

// The device objects of one case; they go when the case ends.
struct Live {
  CUmodule module = nullptr;
  std::vector<CUdeviceptr> memory;
  std::vector<CUarray> arrays;
  std::vector<CUtexObject> textures;
  std::vector<CUsurfObject> surfaces;
  ~Live() {
    for (auto t : textures) {
      cuTexObjectDestroy(t);
    }
    for (auto s : surfaces) {
      cuSurfObjectDestroy(s);
    }
    for (auto a : arrays) {
      cuArrayDestroy(a);
    }
    for (auto m : memory) {
      cuMemFree(m);
    }
    if (module != nullptr) {
      cuModuleUnload(module);
    }
  }
  CUdeviceptr Allocate(size_t bytes) {
    CUdeviceptr p = 0;
    Check(cuMemAlloc(&p, bytes < 16 ? 16 : bytes), "cuMemAlloc");
    memory.push_back(p);
    return p;
  }
};

void CopyArray(CUarray array, const Texture& t, void* host, bool to_device) {
  CUDA_MEMCPY3D copy{};
  const size_t row = t.bytes / t.height / t.depth;
  copy.WidthInBytes = row;
  copy.Height = t.height;
  copy.Depth = t.depth;
  if (to_device) {
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = host;
    copy.srcPitch = row;
    copy.srcHeight = t.height;
    copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.dstArray = array;
  } else {
    copy.dstMemoryType = CU_MEMORYTYPE_HOST;
    copy.dstHost = host;
    copy.dstPitch = row;
    copy.dstHeight = t.height;
    copy.srcMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.srcArray = array;
  }
  Check(cuMemcpy3D(&copy), "cuMemcpy3D");
}

unsigned long long MakeTexture(Live& live, const Texture& t, const std::string& inputs) {
  std::string texels = inputs.substr(t.offset, t.bytes);
  CUDA_RESOURCE_DESC resource{};
  if (t.kind == "array") {
    CUDA_ARRAY3D_DESCRIPTOR descriptor{};
    descriptor.Width = t.width;
    descriptor.Height = t.dimensions >= 2 ? t.height : 0;
    descriptor.Depth = t.dimensions >= 3 ? t.depth : 0;
    descriptor.Format = FormatOf(t.format);
    descriptor.NumChannels = t.channels;
    descriptor.Flags = t.surface ? CUDA_ARRAY3D_SURFACE_LDST : 0;
    CUarray array = nullptr;
    Check(cuArray3DCreate(&array, &descriptor), "cuArray3DCreate");
    live.arrays.push_back(array);
    CopyArray(array, t, texels.data(), true);
    resource.resType = CU_RESOURCE_TYPE_ARRAY;
    resource.res.array.hArray = array;
  } else {
    const CUdeviceptr memory = live.Allocate(t.bytes);
    Check(cuMemcpyHtoD(memory, texels.data(), t.bytes), "cuMemcpyHtoD");
    if (t.kind == "linear") {
      resource.resType = CU_RESOURCE_TYPE_LINEAR;
      resource.res.linear.devPtr = memory;
      resource.res.linear.format = FormatOf(t.format);
      resource.res.linear.numChannels = t.channels;
      resource.res.linear.sizeInBytes = t.bytes;
    } else {
      resource.resType = CU_RESOURCE_TYPE_PITCH2D;
      resource.res.pitch2D.devPtr = memory;
      resource.res.pitch2D.format = FormatOf(t.format);
      resource.res.pitch2D.numChannels = t.channels;
      resource.res.pitch2D.width = t.width;
      resource.res.pitch2D.height = t.height;
      resource.res.pitch2D.pitchInBytes = t.bytes / t.height;
    }
  }
  if (t.surface) {
    CUsurfObject surface = 0;
    Check(cuSurfObjectCreate(&surface, &resource), "cuSurfObjectCreate");
    live.surfaces.push_back(surface);
    return surface;
  }
  CUDA_TEXTURE_DESC texture{};
  for (auto& mode : texture.addressMode) {
    mode = AddressOf(t.address);
  }
  texture.filterMode = t.linear != 0 ? CU_TR_FILTER_MODE_LINEAR : CU_TR_FILTER_MODE_POINT;
  texture.flags = (t.normalised != 0 ? CU_TRSF_NORMALIZED_COORDINATES : 0) |
                  (t.as_float == 0 && t.format[0] != 'f' ? CU_TRSF_READ_AS_INTEGER : 0);
  CUtexObject object = 0;
  Check(cuTexObjectCreate(&object, &resource, &texture, nullptr), "cuTexObjectCreate");
  live.textures.push_back(object);
  return object;
}

std::string Run(const Case& c, const std::string& folder, const std::string& inputs) {
  Live live;
  // What ptxas made of the text beforehand, or the text itself.
  const std::string path = folder + "/" + c.module;
  const std::string cubin = path.substr(0, path.rfind('.')) + ".cubin";
  const std::string ptx = ReadAll(std::ifstream(cubin) ? cubin : path);
  char log[4096] = {};
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, reinterpret_cast<void*>(uintptr_t{sizeof(log)})};
  const CUresult loaded = cuModuleLoadDataEx(&live.module, ptx.data(), 2, options, values);
  if (loaded != CUDA_SUCCESS) {
    throw std::runtime_error(std::string("the driver does not compile it: ") + log);
  }
  CUfunction kernel = nullptr;
  Check(cuModuleGetFunction(&kernel, live.module, "k"), "cuModuleGetFunction");
  std::vector<unsigned long long> arguments;
  std::vector<std::pair<CUdeviceptr, size_t>> results;
  for (const Step& step : c.buffers) {
    const CUdeviceptr memory = live.Allocate(step.bytes);
    if (step.out) {
      Check(cuMemsetD8(memory, 0, step.bytes), "cuMemsetD8");
      results.emplace_back(memory, step.bytes);
    } else {
      Check(cuMemcpyHtoD(memory, inputs.data() + step.offset, step.bytes), "cuMemcpyHtoD");
    }
    arguments.push_back(memory);
  }
  for (const Texture& texture : c.textures) {
    arguments.push_back(MakeTexture(live, texture, inputs));
  }
  std::vector<void*> pointers;
  for (auto& argument : arguments) {
    pointers.push_back(&argument);
  }
  Check(cuLaunchKernel(kernel, c.grid, 1, 1, c.block, 1, 1, 0, nullptr, pointers.data(), nullptr),
        "cuLaunchKernel");
  Check(cuCtxSynchronize(), "the kernel");
  std::string outputs;
  for (const auto& [memory, bytes] : results) {
    std::string host(bytes, '\0');
    Check(cuMemcpyDtoH(host.data(), memory, bytes), "cuMemcpyDtoH");
    outputs += host;
  }
  for (size_t i = 0, array = 0; i < c.textures.size(); ++i) {
    const Texture& t = c.textures[i];
    if (t.surface) {
      std::string host(t.bytes, '\0');
      CopyArray(live.arrays[array], t, host.data(), false);
      outputs += host;
    }
    array += t.kind == "array" ? 1 : 0;
  }
  return outputs;
}

std::vector<Case> ReadCases(const std::string& path) {
  std::ifstream in(path);
  std::vector<Case> cases;
  std::string line;
  while (std::getline(in, line)) {
    std::istringstream words(line);
    std::string word;
    words >> word;
    if (word == "case") {
      cases.emplace_back();
      cases.back().name = line.substr(5);
      continue;
    }
    if (cases.empty()) {
      continue;
    }
    Case& c = cases.back();
    if (word == "module") {
      words >> c.module;
    } else if (word == "grid") {
      words >> c.grid;
    } else if (word == "block") {
      words >> c.block;
    } else if (word == "in") {
      Step step;
      words >> step.offset >> step.bytes;
      c.buffers.push_back(step);
    } else if (word == "out") {
      Step step;
      step.out = true;
      words >> step.bytes;
      c.buffers.push_back(step);
    } else if (word == "texture" || word == "surface") {
      Texture t;
      t.surface = word == "surface";
      words >> t.kind >> t.dimensions >> t.format >> t.channels >> t.width >> t.height >> t.depth >>
          t.address >> t.linear >> t.normalised >> t.as_float >> t.offset >> t.bytes;
      c.textures.push_back(t);
    }
  }
  return cases;
}

// Runs the cases from `begin` on and appends what they gave. Returns the number of the first case
// that was not tried: a kernel that faults takes the process's context with it, the caller goes on
// in a fresh one.
size_t RunFrom(size_t begin, const std::vector<Case>& cases, const std::string& folder,
               const std::string& inputs) {
  Check(cuInit(0), "cuInit");
  CUdevice device = 0;
  Check(cuDeviceGet(&device, 0), "cuDeviceGet");
  CUcontext context = nullptr;
  Check(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
  Check(cuCtxSetCurrent(context), "cuCtxSetCurrent");
  if (begin == 0) {
    char name[128] = {};
    int driver = 0;
    cuDeviceGetName(name, sizeof(name), device);
    cuDriverGetVersion(&driver);
    std::printf("%s, driver for CUDA %d.%d\n", name, driver / 1000, driver % 1000 / 10);
    std::fflush(stdout);
  }
  std::ofstream out(folder + "/outputs.bin",
                    std::ios::binary | (begin == 0 ? std::ios::trunc : std::ios::app));
  for (size_t i = begin; i < cases.size(); ++i) {
    try {
      const std::string outputs = Run(cases[i], folder, inputs);
      out.put(1);
      out.write(outputs.data(), static_cast<std::streamsize>(outputs.size()));
    } catch (const std::exception& error) {
      out.put(0);
      std::fprintf(stderr, "%s: %s\n", cases[i].name.c_str(), error.what());
      if (cuCtxSynchronize() != CUDA_SUCCESS) {
        return i + 1;
      }
    }
  }
  return cases.size();
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 2) {
    std::fprintf(stderr, "usage: run_on_gpu FOLDER\n");
    return 2;
  }
  const std::string folder = argv[1];
  const std::string inputs = ReadAll(folder + "/inputs.bin");
  const auto cases = ReadCases(folder + "/cases.txt");
  for (size_t next = 0; next < cases.size();) {
    int ends[2];
    if (pipe(ends) != 0) {
      throw std::runtime_error("pipe");
    }
    const pid_t child = fork();
    if (child == 0) {
      size_t done = cases.size();
      try {
        done = RunFrom(next, cases, folder, inputs);
      } catch (const std::exception& error) {
        std::fprintf(stderr, "run_on_gpu: %s\n", error.what());
      }
      const bool told = write(ends[1], &done, sizeof(done)) == sizeof(done);
      _exit(told ? 0 : 1);
    }
    close(ends[1]);
    size_t done = cases.size();
    if (read(ends[0], &done, sizeof(done)) != sizeof(done)) {
      done = cases.size();
    }
    close(ends[0]);
    waitpid(child, nullptr, 0);
    next = done;
  }
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "run_on_gpu: %s\n", error.what());
  return 1;
}
