void main() {
    int[][] kept;
    while (true) {
        auto part = new int[100_000];
        part[] = 1;
        kept ~= part;
    }
}
