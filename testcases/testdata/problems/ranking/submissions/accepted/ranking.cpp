#include <algorithm>
#include <iostream>
#include <string>
#include <vector>

int main() {
    std::vector<std::pair<int, std::string>> rows;
    std::string name;
    for (int points; std::cin >> name >> points;) rows.push_back({-points, name});
    std::sort(rows.begin(), rows.end());
    size_t place = 0;
    for (size_t i = 0; i < rows.size(); i++) {
        if (i == 0 || rows[i].first != rows[i - 1].first) place = i + 1;
        std::cout << place << ". " << rows[i].second << ' ' << -rows[i].first << '\n';
    }
}
