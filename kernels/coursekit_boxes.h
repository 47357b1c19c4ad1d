// Show variables of a running C++ program, for ck.memory_boxes.
//
// What     SHOW(x) tells the name, type, address, bytes and value of a variable.
//          SHOW_BLOCK(p, n) tells the n elements that a pointer points to.
// Run      In a program of ck.program or %%cpp; elsewhere it prints a line each.
// Limits   C++ alone. Of a struct it shows the bytes; SHOW its members besides.

#ifndef COURSEKIT_BOXES_H
#define COURSEKIT_BOXES_H

#ifndef __cplusplus
#error "coursekit_boxes.h needs C++: give the program a name that ends in .cpp"
#endif

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <type_traits>
#include <unistd.h>

#define SHOW(variable) coursekit::show(#variable, __LINE__, variable)
#define SHOW_BLOCK(pointer, count)                                        \
    coursekit::show_block("*" #pointer, __LINE__, pointer, count)

namespace coursekit {

constexpr long MOST = 16;  // elements, and bytes, that are written

template <class T>
std::string type_name()
{
    std::string text = __PRETTY_FUNCTION__;  // "... [with T = int; ...]"
    std::string::size_type start = text.find("T = ") + 4;
    std::string::size_type end = text.find(';', start);
    return text.substr(start, (end < text.size() ? end : text.rfind(']')) - start);
}

template <class T>
std::string value_of(const T &value)
{
    std::ostringstream text;
    if constexpr (std::is_pointer_v<T>)
        text << "0x" << std::hex << reinterpret_cast<std::uintptr_t>(value);
    else if constexpr (std::is_enum_v<T>)
        text << static_cast<long long>(value);
    else if constexpr (std::is_same_v<T, bool>)
        text << (value ? "true" : "false");
    else if constexpr (std::is_arithmetic_v<T>)
        text << +value;
    return text.str();
}

inline std::string quoted(const std::string &text)
{
    std::string result = "\"";
    for (char each : text) {
        if (each == '"' || each == '\\')
            result += '\\';
        result += each;
    }
    return result + '"';
}

template <class T>
std::string list_of(const T *elements, long count)
{
    std::string text = "[";
    for (long i = 0; i < count && i < MOST; i++)
        text += (i ? "," : "") + quoted(value_of(elements[i]));
    return text + "]";
}

inline void tell(const std::string &line, const std::string &readable)
{
    const char *number = std::getenv("COURSEKIT_BOXES");
    if (number == nullptr)
        std::printf("%s\n", readable.c_str());
    else if (write(std::atoi(number), line.c_str(), line.size()) < 0)
        std::perror("coursekit_boxes.h");
}

template <class T>
void report(const char *name, int line, const T *first, long count,
            const std::string &type, bool block)
{
    std::ostringstream text;
    text << "{\"name\":" << quoted(name) << ",\"line\":" << line
         << ",\"type\":" << quoted(type) << ",\"address\":"
         << reinterpret_cast<std::uintptr_t>(first)
         << ",\"bytes\":" << count * sizeof(T) << ",\"count\":" << count
         << ",\"pointer\":" << (std::is_pointer_v<T> ? "true" : "false")
         << ",\"block\":" << (block ? "true" : "false")
         << ",\"values\":" << list_of(first, count) << ",\"hex\":\"";
    const unsigned char *bytes = reinterpret_cast<const unsigned char *>(first);
    for (unsigned long i = 0; i < count * sizeof(T) && i < MOST; i++) {
        char digits[4];
        std::snprintf(digits, sizeof digits, i ? " %02x" : "%02x", bytes[i]);
        text << digits;
    }
    text << "\"}\n";
    tell(text.str(), std::string(name) + " of type " + type + ": " +
                         list_of(first, count));
}

template <class T>
void show(const char *name, int line, const T &variable)
{
    if constexpr (std::is_array_v<T>) {
        report(name, line, variable, long(std::extent_v<T>), type_name<T>(), false);
    } else {
        report(name, line, &variable, 1, type_name<T>(), false);
    }
}

template <class T>
void show_block(const char *name, int line, const T *first, long count)
{
    report(name, line, first, count, type_name<T>(), true);
}

}  // namespace coursekit

#endif
