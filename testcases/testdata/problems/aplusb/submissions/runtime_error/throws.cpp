#include <vector>

int main() {
    std::vector<int> none;
    return none.at(7);
}
