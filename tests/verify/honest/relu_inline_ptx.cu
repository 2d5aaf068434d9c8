// task: relu
// Loads, stores and a predicated branch written as PTX.
__global__ void k(const float* x, float* y, int n) {
  int i = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
  if (i + 3 < n && (reinterpret_cast<unsigned long long>(x) & 15) == 0 &&
      (reinterpret_cast<unsigned long long>(y) & 15) == 0) {
    float a, b, c, d;
    asm volatile("ld.global.nc.L1::no_allocate.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(a), "=f"(b), "=f"(c), "=f"(d)
                 : "l"(x + i));
    asm("max.f32 %0, %0, 0f00000000;\n\tmax.f32 %1, %1, 0f00000000;" : "+f"(a), "+f"(b));
    asm("{\n\t.reg .pred p;\n\tsetp.lt.f32 p, %0, 0f00000000;\n\t@p mov.f32 %0, 0f00000000;\n\t}" : "+f"(c));
    asm("{\n\t.reg .pred p;\n\tsetp.ge.f32 p, %1, 0f00000000;\n\tselp.f32 %0, %1, 0f00000000, p;\n\t}"
        : "=f"(d)
        : "f"(d));
    asm volatile("st.global.cs.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(y + i), "f"(a), "f"(b), "f"(c), "f"(d)
                 : "memory");
  } else {
    for (int j = i; j < n && j < i + 4; ++j) {
      float v;
      asm volatile(
          "{\n\t.reg .pred p;\n\tld.global.f32 %0, [%1];\n\tsetp.ge.f32 p, %0, 0f00000000;\n\t"
          "@p bra done_%=;\n\tmov.f32 %0, 0f00000000;\ndone_%=:\n\t}"
          : "=f"(v)
          : "l"(x + j));
      y[j] = v;
    }
  }
}
extern "C" void relu(const float* x, float* y, int n) {
  k<<<(n + 1023) / 1024, 256>>>(x, y, n);
}
