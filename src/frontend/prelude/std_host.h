// The host's standard library as far as launchers name it, for parsing only. The interpreter
// refuses what it does not know by name.
#pragma once

namespace std {
template <class A, class B> struct pair {
  A first;
  B second;
};
template <class A, class B> OPTIML_H pair<A, B> make_pair(A, B);

template <class T, size_t N> struct array {
  T values_[N];
  OPTIML_HD constexpr T& operator[](size_t i) { return values_[i]; }
  OPTIML_HD constexpr const T& operator[](size_t i) const { return values_[i]; }
  OPTIML_HD constexpr size_t size() const { return N; }
  OPTIML_HD constexpr T* data() { return values_; }
  OPTIML_HD constexpr const T* data() const { return values_; }
  OPTIML_HD constexpr T* begin() { return values_; }
  OPTIML_HD constexpr T* end() { return values_ + N; }
  OPTIML_HD constexpr const T* begin() const { return values_; }
  OPTIML_HD constexpr const T* end() const { return values_ + N; }
};

class string {
 public:
  OPTIML_H string();
  OPTIML_H string(const char*);
  OPTIML_H string(const string&);
  OPTIML_H ~string();
  OPTIML_H string& operator=(const string&);
  OPTIML_H string& operator+=(const string&);
  OPTIML_H const char* c_str() const;
  OPTIML_H size_t size() const;
  OPTIML_H bool empty() const;
};
OPTIML_H string operator+(const string&, const string&);
OPTIML_H bool operator==(const string&, const string&);
OPTIML_H string to_string(int);
OPTIML_H string to_string(unsigned int);
OPTIML_H string to_string(long);
OPTIML_H string to_string(unsigned long);
OPTIML_H string to_string(double);

template <class T> class vector {
 public:
  typedef T value_type;
  OPTIML_H vector();
  OPTIML_H explicit vector(size_t n);
  OPTIML_H vector(size_t n, const T& value);
  OPTIML_H vector(initializer_list<T> values);
  OPTIML_H vector(const vector&);
  OPTIML_H ~vector();
  OPTIML_H vector& operator=(const vector&);
  OPTIML_H T& operator[](size_t i);
  OPTIML_H const T& operator[](size_t i) const;
  OPTIML_H T* data();
  OPTIML_H const T* data() const;
  OPTIML_H size_t size() const;
  OPTIML_H bool empty() const;
  OPTIML_H void resize(size_t n);
  OPTIML_H void resize(size_t n, const T& value);
  OPTIML_H void reserve(size_t n);
  OPTIML_H void push_back(const T& value);
  OPTIML_H void clear();
  OPTIML_H T& back();
  OPTIML_H T& front();
  OPTIML_H T* begin();
  OPTIML_H T* end();
  OPTIML_H const T* begin() const;
  OPTIML_H const T* end() const;
};

class exception {
 public:
  OPTIML_H virtual ~exception();
  OPTIML_H virtual const char* what() const noexcept;
};
class runtime_error : public exception {
 public:
  OPTIML_H explicit runtime_error(const char*);
  OPTIML_H explicit runtime_error(const string&);
};
class invalid_argument : public exception {
 public:
  OPTIML_H explicit invalid_argument(const char*);
  OPTIML_H explicit invalid_argument(const string&);
};

class ostream {
 public:
  OPTIML_H ostream& operator<<(const char*);
  OPTIML_H ostream& operator<<(char);
  OPTIML_H ostream& operator<<(bool);
  OPTIML_H ostream& operator<<(int);
  OPTIML_H ostream& operator<<(unsigned int);
  OPTIML_H ostream& operator<<(long);
  OPTIML_H ostream& operator<<(unsigned long);
  OPTIML_H ostream& operator<<(long long);
  OPTIML_H ostream& operator<<(unsigned long long);
  OPTIML_H ostream& operator<<(float);
  OPTIML_H ostream& operator<<(double);
  OPTIML_H ostream& operator<<(const void*);
  OPTIML_H ostream& operator<<(const string&);
  OPTIML_H ostream& operator<<(ostream& (*)(ostream&));
};
OPTIML_H ostream& endl(ostream&);
OPTIML_H ostream& flush(ostream&);
extern ostream cout;
extern ostream cerr;
template <class T, class V> OPTIML_H void fill(T* begin, T* end, const V& value);
template <class T, class V> OPTIML_H T accumulate(const V* begin, const V* end, T start);
}  // namespace std
