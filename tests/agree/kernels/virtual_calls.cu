// n: 2048
// Virtual functions of objects that the kernel makes with new, and of ones on its stack.
struct Shape {
  __device__ virtual unsigned Area(unsigned scale) const = 0;
  __device__ virtual ~Shape() {}
};
struct Square : Shape {
  unsigned side;
  __device__ explicit Square(unsigned s) : side(s) {}
  __device__ unsigned Area(unsigned scale) const override { return side * side * scale; }
};
struct Rectangle : Shape {
  unsigned width;
  unsigned height;
  __device__ Rectangle(unsigned w, unsigned h) : width(w), height(h) {}
  __device__ unsigned Area(unsigned scale) const override { return width * height + scale; }
};

__device__ __noinline__ unsigned Measure(const Shape& shape, unsigned scale) {
  return shape.Area(scale);
}

__global__ void Areas(const unsigned* in, unsigned* out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned x = in[i];
  const Square square(x % 97);
  const Rectangle rectangle(x % 31, x % 13);
  const Shape& local = (x & 4) != 0 ? static_cast<const Shape&>(square) : rectangle;
  unsigned sum = Measure(local, x % 5);
  const Shape* made = (x & 1) != 0 ? static_cast<Shape*>(new Square(x % 53))
                                   : static_cast<Shape*>(new Rectangle(x % 7, i));
  sum = sum * 11 + Measure(*made, i);
  delete made;
  out[i] = sum;
}

extern "C" void launch(const unsigned* in, unsigned* out, int n) { Areas<<<n / 128, 128>>>(in, out); }
