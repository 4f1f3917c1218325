// About a second of a compiler's work.
#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

int main() {
  std::map<std::string, std::vector<int>> places;
  std::unordered_map<std::string, std::function<int(int)>> deeds;
  std::istringstream text("one two three two one");
  std::mt19937 random(1);
  std::string word;
  while (text >> word) {
    places[word].push_back(std::uniform_int_distribution<int>(1, 9)(random));
    deeds[word] = [n = places.size()](int i) { return i + int(n); };
  }
  for (auto &[name, all] : places) {
    std::sort(all.begin(), all.end(), std::greater<int>());
    std::cout << name << ' ' << deeds[name](all.front()) << '\n';
  }
}
