// n: 16384
// Integer intrinsics: dot products, funnel shifts, permutations, bit fields, carries over 256 bits.
__global__ void Tricks(const unsigned* in, unsigned* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n / 16) {
    return;
  }
  const unsigned x = in[3 * i];
  const unsigned y = in[3 * i + 1] * 0x9e3779b1u;
  const unsigned z = in[3 * i + 2] * 0x85ebca6bu;
  unsigned* o = out + 16 * i;
  o[0] = static_cast<unsigned>(__dp4a(static_cast<int>(x), static_cast<int>(y), static_cast<int>(z)));
  o[1] = __dp2a_hi(x, y, z);
  o[2] = __funnelshift_l(x, y, z);
  o[3] = __funnelshift_rc(x, y, z);
  o[4] = __byte_perm(x, y, z);
  o[5] = __brev(x) ^ static_cast<unsigned>(__clz(static_cast<int>(y >> (z % 32)))) << 8;
  o[6] = static_cast<unsigned>(__ffsll(static_cast<long long>(x) << 16 | y)) + static_cast<unsigned>(__popcll(z));
  o[7] = __umulhi(x, y) ^ static_cast<unsigned>(__mulhi(static_cast<int>(y), static_cast<int>(z)));
  o[8] = __usad(x, y, z) ^ static_cast<unsigned>(__sad(static_cast<int>(x), static_cast<int>(y), 3));
  unsigned field;
  asm("bfe.u32 %0, %1, %2, %3;" : "=r"(field) : "r"(x), "r"(y % 40), "r"(z % 40));
  unsigned inserted;
  asm("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(inserted) : "r"(x), "r"(z), "r"(y % 40), "r"(z % 40));
  o[9] = field ^ inserted * 5;
  unsigned logic;
  asm("lop3.b32 %0, %1, %2, %3, 0x6a;" : "=r"(logic) : "r"(x), "r"(y), "r"(z));
  o[10] = logic;
  // (x, y, z, ~x) * y + (z, x, ...): a row of a long multiplication.
  unsigned r0, r1, r2, r3, r4;
  asm("{\nmad.lo.cc.u32 %0, %5, %6, %7;\nmadc.lo.cc.u32 %1, %8, %6, %5;\nmadc.lo.cc.u32 %2, %7, %6, %8;\n"
      "madc.lo.cc.u32 %3, %6, %6, %7;\naddc.u32 %4, 0, 0;\n"
      "mad.hi.cc.u32 %1, %5, %6, %1;\nmadc.hi.cc.u32 %2, %8, %6, %2;\nmadc.hi.cc.u32 %3, %7, %6, %3;\n"
      "madc.hi.u32 %4, %6, %6, %4;\n}"
      : "=&r"(r0), "=&r"(r1), "=&r"(r2), "=&r"(r3), "=&r"(r4)
      : "r"(x), "r"(y), "r"(z), "r"(~x));
  o[11] = r0 ^ r1;
  o[12] = r2;
  o[13] = r3 ^ r4;
  const unsigned long long wide = static_cast<unsigned long long>(x) << 32 | y;
  const long long difference = static_cast<long long>(wide) - static_cast<long long>(static_cast<unsigned long long>(z) << 31);
  o[14] = static_cast<unsigned>(difference >> 32) ^ static_cast<unsigned>(wide / (z | 1));
  o[15] = static_cast<unsigned>(difference % static_cast<long long>(y | 1)) + static_cast<int>(x) / static_cast<int>(y | 1);
}

extern "C" void launch(const unsigned* in, unsigned* out, int n) {
  cudaMemset(out, 0, n * sizeof(unsigned));
  Tricks<<<(n / 16 + 127) / 128, 128>>>(in, out, n);
}
