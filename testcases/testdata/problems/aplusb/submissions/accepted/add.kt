fun main() {
    val text = generateSequence(::readLine).joinToString(" ")
    val (a, b) = text.trim().split(Regex("\\s+")).map { it.toLong() }
    println(a + b)
}
