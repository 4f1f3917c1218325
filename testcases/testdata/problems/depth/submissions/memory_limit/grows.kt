fun main() {
    val kept = ArrayList<IntArray>()
    while (true) kept.add(IntArray(100000))
}
