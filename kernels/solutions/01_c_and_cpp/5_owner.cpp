// Owner: a block of the heap that lives as long as its owner, not longer.
#include <cstdio>
#include <cstdlib>
#include <type_traits>

class Block {
public:
    explicit Block(int n) : values_(new float[n]()) {}
    ~Block() { delete[] values_; }
    Block(const Block &) = delete;
    Block &operator=(const Block &) = delete;  // forbids a = b
    float &operator[](int i) { return values_[i]; }

private:
    float *values_;
};

int main(int, char **words) {
    Block block(std::atoi(words[1]));
    if (block[0] != 0)
        return 1;  // nobody calls delete here, and nobody has to
    bool copied = std::is_copy_constructible_v<Block>;
    std::printf("a copy is %s\n", copied ? "allowed" : "refused");
}
