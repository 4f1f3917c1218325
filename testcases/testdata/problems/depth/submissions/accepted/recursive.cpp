#include <algorithm>
#include <cstdio>
#include <vector>

std::vector<std::vector<int>> children;

// The frame is large on purpose: 20000 of them need about 100 MiB of stack.
int depth(int node) {
    volatile char frame[5000];
    frame[node % 5000] = 1;
    int deepest = 0;
    for (int child : children[node]) deepest = std::max(deepest, depth(child));
    return deepest + frame[node % 5000];
}

int main() {
    int n, parent;
    if (std::scanf("%d", &n) != 1) return 1;
    children.resize(n + 1);
    for (int i = 2; i <= n; i++) {
        if (std::scanf("%d", &parent) != 1) return 1;
        children[parent].push_back(i);
    }
    std::printf("%d\n", depth(1));
}
