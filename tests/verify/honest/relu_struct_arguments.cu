// task: relu
// The shape comes as a struct by value, with a nested struct and an array.
struct Range {
  int begin, end;
};
struct Shape {
  Range range;
  long long strides[2];
  char unused;
  double low;
};
__global__ void k(const float* x, float* y, const Shape shape) {
  int i = shape.range.begin + static_cast<int>(blockIdx.x * shape.strides[0] + threadIdx.x * shape.strides[1]);
  if (i < shape.range.end) y[i] = fmaxf(x[i], static_cast<float>(shape.low));
}
extern "C" void relu(const float* x, float* y, int n) {
  Shape shape = {{0, n}, {256, 1}, 'x', 0.0};
  k<<<(n + 255) / 256, 256>>>(x, y, shape);
}
