// Total: the sum of the numbers in a file.
#include <cstdio>

float total(std::FILE *file) {
    float sum = 0, value;
    while (std::fscanf(file, "%f", &value) == 1)
        sum += value;
    return sum;
}

int main(int count, char **words) {
    if (std::FILE *file = std::fopen("values.txt", "w")) {
        for (int i = 1; i < count; i++)
            std::fprintf(file, "%s\n", words[i]);
        std::fclose(file);
    }
    if (std::FILE *file = std::fopen("values.txt", "r")) {
        std::printf("%g\n", total(file));
        std::fclose(file);
    }
}
